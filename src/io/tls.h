/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS by OpenSSL 3, TLS 1.2 and newer, as a filter between a byte stream and HTTP. ALPN "http/1.1",
 * and "h2" where HTTP/2 is served. Also the certificate operations that a cluster needs.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct arena;
struct tls_ctx;

/*
 * PEM texts. ca_pem, if not empty: request a certificate from clients. One that this CA has not
 * issued, or that is not valid now, does not end the handshake; tls_peer.why says what is wrong
 * with it.
 */
int tls_ctx_new_server(struct str cert_pem, struct str key_pem, struct str ca_pem,
                       struct tls_ctx **ret, struct err *err);
/* ca_pem empty: system roots. cert/key empty: no client certificate. insecure: no verification. */
int tls_ctx_new_client(struct str ca_pem, struct str cert_pem, struct str key_pem, bool insecure,
                       struct tls_ctx **ret, struct err *err);
/* A client context with a CA of its own: trust the system's roots as well. */
void tls_ctx_trust_system(struct tls_ctx *ctx);
void tls_ctx_free(struct tls_ctx *ctx);
/* Replace certificate and key for new connections (renewal). */
int tls_ctx_set_server_cert(struct tls_ctx *ctx, struct str cert_pem, struct str key_pem,
                            struct err *err);
/* The same, and the CA of clients (renewal of all three). */
int tls_ctx_set_server(struct tls_ctx *ctx, struct str cert_pem, struct str key_pem,
                       struct str ca_pem, struct err *err);

/* A server context: prefer "h2" from now on where a client offers it. */
void tls_ctx_offer_h2(struct tls_ctx *ctx);

/* The contents of a client's certificate; strings live in the arena that the caller passed. */
enum { TLS_PEER_ORGS_MAX = 64 }; /* further ones are left out */
struct tls_peer {
    const char *why;        /* NULL: issued by our CA, for clients, valid now */
    struct str common_name; /* the last CN; "" when there is none */
    const struct str *orgs; /* every O, in order */
    size_t n_orgs;
    uint8_t sha256[32]; /* of the whole certificate */
};

/* A CA made at first start: ECDSA P-256, 10 years. */
int x509_make_ca(const char *common_name, struct buf *ret_cert_pem, struct buf *ret_key_pem,
                 struct err *err);
/*
 * Make a new certificate for the key of a CA whose certificate is lost. A client that trusts the
 * lost one, with the same name, accepts all that the key has signed and will sign. E_TLS: not a
 * private key.
 */
int x509_remake_ca(const char *common_name, struct str key_pem, struct buf *ret_cert_pem,
                   struct err *err);
/* Check that both are valid PEM and belong together. E_TLS. */
int x509_check_pair(struct str cert_pem, struct str key_pem, struct err *err);
/* A server certificate: names is a list of DNS names and IP addresses; days of validity. */
int x509_make_server(struct str ca_cert_pem, struct str ca_key_pem, const char *common_name,
                     const char *const *names, size_t n_names, unsigned days,
                     struct buf *ret_cert_pem, struct buf *ret_key_pem, struct err *err);
/* A client certificate: the user as CN, its groups as O, as Kubernetes reads them. */
struct x509_user {
    struct str name;
    const struct str *groups;
    size_t n_groups;
};
int x509_make_client(struct str ca_cert_pem, struct str ca_key_pem, const struct x509_user *user,
                     uint64_t valid_s, struct buf *ret_cert_pem, struct buf *ret_key_pem,
                     struct err *err);
/* The subject of a certificate request (PKCS #10). E_TLS: also if the request is not signed with
 * the key that it contains, or an extension cannot be read. */
struct x509_subject {
    struct str common_name;
    const struct str *orgs;
    size_t n_orgs;
    /* Alternative names by kind: DNS names and IP addresses; e-mail addresses, URIs and others. */
    size_t n_host_names, n_other_names;
};
int x509_read_request(struct str request_pem, struct arena *a, struct x509_subject *ret,
                      struct err *err);
/* A certificate for the request's subject and key, for clients or for servers; alternative names
 * are copied, other extensions are not. */
enum x509_use { X509_USE_CLIENT, X509_USE_SERVER };
int x509_sign_request(struct str ca_cert_pem, struct str ca_key_pem, struct str request_pem,
                      enum x509_use use, uint64_t valid_s, struct buf *ret_cert_pem,
                      struct err *err);
/*
 * A new P-256 key, and a certificate request (PKCS #10) for the user by that key. names: DNS names
 * and IP addresses, for a server; none for a client.
 */
int x509_make_request(const struct x509_user *user, const char *const *names, size_t n_names,
                      struct buf *ret_request_pem, struct buf *ret_key_pem, struct err *err);
/* Whether the alternative names of a request are all among `names`, as text. */
bool x509_request_names_are(struct str request_pem, const struct str *names, size_t n_names);
/* From when and until when the first certificate is valid, in seconds since 1970. */
int x509_validity(struct str cert_pem, int64_t *ret_from_s, int64_t *ret_until_s, struct err *err);
/* Whether the first certificate has this subject, and exactly these alternative names, as text. */
bool x509_is_for(struct str cert_pem, struct str common_name, const char *const *names,
                 size_t n_names);
/* SHA-256 of the SubjectPublicKeyInfo of the first certificate. false: it cannot be read. */
bool x509_key_hash(struct str cert_pem, uint8_t ret_sha256[32]);
/*
 * Whether the key of every certificate in the text has this SHA-256, of its SubjectPublicKeyInfo:
 * kubeadm's --discovery-token-ca-cert-hash. false: there is no certificate.
 */
bool x509_keys_have_hash(struct str certs_pem, const uint8_t sha256[32]);
/* Seconds until notAfter of the first certificate; negative when past. */
int x509_seconds_left(struct str cert_pem, int64_t *ret, struct err *err);
