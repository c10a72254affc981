/* SPDX-License-Identifier: Apache-2.0 */
/* TLS contexts on OpenSSL 3; see tls.h. The connections are in stream.c, certificates in x509.c. */
#include "io/tls.h"

#include "base/mem.h"
#include "io/tls_int.h"

#include <assert.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

struct tls_ctx {
    SSL_CTX *ssl;
    bool is_server;
    bool verifies;
    bool offers_h2;
    char *ca; /* kept for tls_ctx_set_server_cert() */
};

DEFINE_SCOPED(tls_ctx, tls_ctx_free)

int tls_error(SSL *ssl, struct err *err)
{
    unsigned long code = ERR_peek_error();
    ERR_clear_error();
    if (!code)
        return err_set(err, E_TLS, "TLS: connection broke off");
    if (ssl && ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        return err_set(err, E_TLS, "TLS: certificate refused: %s",
                       X509_verify_cert_error_string(SSL_get_verify_result(ssl)));
    const char *reason = ERR_reason_error_string(code);
    return err_set(err, E_TLS, "TLS: %s", reason ? reason : "unknown error");
}

static BIO *bio_of(struct str pem)
{
    return pem.n && pem.n < INT_MAX ? BIO_new_mem_buf(pem.p, (int)pem.n) : NULL;
}

/* OpenSSL reports the end of a PEM text as an error. */
static bool at_end_of_pem(void)
{
    unsigned long code = ERR_peek_last_error();
    bool end = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
    if (end)
        ERR_clear_error();
    return end;
}

static int use_cert(SSL_CTX *ssl, struct str pem, struct err *err)
{
    BIO *bio = bio_of(pem);
    X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    bool ok = cert && SSL_CTX_use_certificate(ssl, cert) == 1;
    X509_free(cert);
    while (ok && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        ok = SSL_CTX_add0_chain_cert(ssl, cert) == 1;
        if (!ok)
            X509_free(cert);
    }
    ok = ok && at_end_of_pem();
    BIO_free(bio);
    return ok ? 0 : err_ctx(err, tls_error(NULL, err), "read certificate");
}

static int use_key(SSL_CTX *ssl, struct str pem, struct err *err)
{
    BIO *bio = bio_of(pem);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    bool ok = key && SSL_CTX_use_PrivateKey(ssl, key) == 1;
    EVP_PKEY_free(key);
    return ok ? 0 : err_ctx(err, tls_error(NULL, err), "read private key");
}

static int use_cert_and_key(SSL_CTX *ssl, struct str cert, struct str key, struct err *err)
{
    ERR_clear_error();
    int r = use_cert(ssl, cert, err);
    return r < 0 ? r : use_key(ssl, key, err); /* also checks that they belong together */
}

/* For a server also set the list of CA names in its certificate request. */
static int trust(SSL_CTX *ssl, struct str pem, bool is_server, struct err *err)
{
    ERR_clear_error();
    BIO *bio = bio_of(pem);
    X509_STORE *store = SSL_CTX_get_cert_store(ssl);
    X509 *cert;
    bool ok = bio != NULL;
    unsigned n = 0;
    for (; ok && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)); n++) {
        ok = X509_STORE_add_cert(store, cert) == 1;
        ok = ok && (!is_server || SSL_CTX_add_client_CA(ssl, cert) == 1);
        X509_free(cert);
    }
    ok = ok && n && at_end_of_pem();
    BIO_free(bio);
    return ok ? 0 : err_ctx(err, tls_error(NULL, err), "read CA certificates");
}

/* Without the first three bytes: HTTP/1.1 alone. */
static const unsigned char alpn_h2[] = "\x02h2\x08http/1.1";
static const unsigned char *const alpn = alpn_h2 + 3;
enum { ALPN_H2_BYTES = sizeof alpn_h2 - 1, ALPN_BYTES = ALPN_H2_BYTES - 3 };

static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_n,
                   const unsigned char *in, unsigned in_n, void *arg)
{
    const struct tls_ctx *ctx = arg;
    const unsigned char *ours = ctx->offers_h2 ? alpn_h2 : alpn;
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, out_n, ours, ctx->offers_h2 ? ALPN_H2_BYTES : ALPN_BYTES, in,
                              in_n) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *new_ssl_ctx(bool is_server)
{
    ERR_clear_error();
    SSL_CTX *ssl = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (!ssl || SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) != 1)
        abort(); /* out of memory, or a broken installation of OpenSSL */
    (void)SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* An idle connection keeps no record buffers: 34 KiB each way otherwise. */
    (void)SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
    (void)SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF); /* tickets need no memory here */
    (void)SSL_CTX_set_num_tickets(ssl, 1);
    (void)SSL_CTX_set_session_id_context(ssl, (const unsigned char *)"dormouse", 8);
    return ssl;
}

/* Continue the handshake in any case: the request's handler answers with a 401 that clients
 * understand. */
static int on_client_cert(int ok, X509_STORE_CTX *ctx)
{
    (void)ok;
    (void)ctx;
    return 1;
}

static int make_server(struct tls_ctx *ctx, struct str cert, struct str key, struct str ca,
                       SSL_CTX **ret, struct err *err)
{
    SSL_CTX *ssl = new_ssl_ctx(true);
    SSL_CTX_set_alpn_select_cb(ssl, on_alpn, ctx);
    int r = use_cert_and_key(ssl, cert, key, err);
    if (r >= 0 && ca.n) {
        SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, on_client_cert);
        r = trust(ssl, ca, true, err);
    }
    if (r < 0) {
        SSL_CTX_free(ssl);
        return r;
    }
    *ret = ssl;
    return 0;
}

int tls_ctx_new_server(struct str cert_pem, struct str key_pem, struct str ca_pem,
                       struct tls_ctx **ret, struct err *err)
{
    scoped(tls_ctx_free_scoped) struct tls_ctx *ctx = xnew(struct tls_ctx);
    int r = make_server(ctx, cert_pem, key_pem, ca_pem, &ctx->ssl, err);
    if (r < 0)
        return r;
    ctx->is_server = true;
    ctx->ca = str_dup(ca_pem);
    *ret = take_ptr(&ctx);
    return 0;
}

int tls_ctx_set_server(struct tls_ctx *ctx, struct str cert_pem, struct str key_pem,
                       struct str ca_pem, struct err *err)
{
    assert(ctx->is_server);
    SSL_CTX *fresh;
    int r = make_server(ctx, cert_pem, key_pem, ca_pem, &fresh, err);
    if (r < 0)
        return r;
    SSL_CTX_free(ctx->ssl); /* connections hold their own reference */
    ctx->ssl = fresh;
    char *ca = str_dup(ca_pem); /* may be ours */
    free(ctx->ca);
    ctx->ca = ca;
    return 0;
}

int tls_ctx_set_server_cert(struct tls_ctx *ctx, struct str cert_pem, struct str key_pem,
                            struct err *err)
{
    return tls_ctx_set_server(ctx, cert_pem, key_pem, str_of(ctx->ca), err);
}

int tls_ctx_new_client(struct str ca_pem, struct str cert_pem, struct str key_pem, bool insecure,
                       struct tls_ctx **ret, struct err *err)
{
    scoped(tls_ctx_free_scoped) struct tls_ctx *ctx = xnew(struct tls_ctx);
    ctx->ssl = new_ssl_ctx(false);
    ctx->verifies = !insecure;
    if (SSL_CTX_set_alpn_protos(ctx->ssl, alpn, ALPN_BYTES) != 0)
        return tls_error(NULL, err);
    int r = 0;
    if (!insecure) {
        SSL_CTX_set_verify(ctx->ssl, SSL_VERIFY_PEER, NULL);
        if (ca_pem.n)
            r = trust(ctx->ssl, ca_pem, false, err);
        else if (SSL_CTX_set_default_verify_paths(ctx->ssl) != 1)
            r = tls_error(NULL, err);
    }
    if (r >= 0 && cert_pem.n)
        r = use_cert_and_key(ctx->ssl, cert_pem, key_pem, err);
    if (r < 0)
        return r;
    *ret = take_ptr(&ctx);
    return 0;
}

void tls_ctx_trust_system(struct tls_ctx *ctx)
{
    assert(!ctx->is_server);
    (void)SSL_CTX_set_default_verify_paths(ctx->ssl); /* on failure only its own CA is trusted */
    ERR_clear_error();
}

void tls_ssl_offer_h2(SSL *ssl)
{
    if (SSL_set_alpn_protos(ssl, alpn_h2, ALPN_H2_BYTES) != 0)
        abort(); /* out of memory */
}

void tls_ctx_offer_h2(struct tls_ctx *ctx)
{
    assert(ctx->is_server);
    ctx->offers_h2 = true;
}

void tls_ctx_free(struct tls_ctx *ctx)
{
    if (!ctx)
        return;
    SSL_CTX_free(ctx->ssl);
    free(ctx->ca);
    free(ctx);
}

static bool set_name(SSL *ssl, const char *name, bool verifies)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    ASN1_OCTET_STRING *addr = a2i_IPADDRESS(name);
    bool is_ip = addr != NULL;
    ASN1_OCTET_STRING_free(addr);
    ERR_clear_error();
    if (is_ip)
        return !verifies || X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
    if (SSL_set_tlsext_host_name(ssl, name) != 1)
        return false;
    return !verifies || SSL_set1_host(ssl, name) == 1;
}

int tls_ctx_ssl(struct tls_ctx *ctx, const char *name, SSL **ret, struct err *err)
{
    ERR_clear_error();
    SSL *ssl = SSL_new(ctx->ssl);
    if (!ssl || (name && !set_name(ssl, name, ctx->verifies))) {
        SSL_free(ssl);
        return tls_error(NULL, err);
    }
    *ret = ssl;
    return 0;
}

/* ------------------------------------------------------------------ the peer's identity */

/* UTF-8, or "" for values that cannot be a name: bytes that are not text, or with a NUL. */
static struct str entry_text(struct arena *a, const X509_NAME_ENTRY *entry)
{
    unsigned char *p = NULL;
    int n = ASN1_STRING_to_UTF8(&p, X509_NAME_ENTRY_get_data(entry));
    struct str s = n > 0 ? str_n(p, (size_t)n) : STR("");
    if (!str_is_utf8(s) || str_find_char(s, '\0') >= 0)
        s = STR("");
    s = str_copy_arena(a, s);
    OPENSSL_free(p);
    ERR_clear_error();
    return s;
}

struct x509_subject tls_subject_of(const X509_NAME *name, struct arena *a)
{
    struct x509_subject ret = { .common_name = STR("") };
    int n = X509_NAME_entry_count(name);
    struct str *orgs = arena_new_n(a, struct str, TLS_PEER_ORGS_MAX);
    for (int i = 0; i < n; i++) {
        const X509_NAME_ENTRY *entry = X509_NAME_get_entry(name, i);
        int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
        if (nid == NID_commonName)
            ret.common_name = entry_text(a, entry);
        else if (nid == NID_organizationName && ret.n_orgs < TLS_PEER_ORGS_MAX)
            orgs[ret.n_orgs++] = entry_text(a, entry);
    }
    ret.orgs = orgs;
    return ret;
}

/* Checked again, because a connection or a resumed session may outlive the certificate. */
static bool is_in_time(const X509 *cert)
{
    return X509_cmp_current_time(X509_get0_notBefore(cert)) < 0 &&
           X509_cmp_current_time(X509_get0_notAfter(cert)) > 0;
}

bool tls_peer_of(SSL *ssl, struct arena *a, struct tls_peer *ret)
{
    const X509 *cert = SSL_get0_peer_certificate(ssl);
    unsigned n = sizeof ret->sha256;
    if (!cert)
        return false;
    long verdict = SSL_get_verify_result(ssl);
    *ret = (struct tls_peer){ .common_name = STR("") };
    if (verdict != X509_V_OK)
        ret->why = X509_verify_cert_error_string(verdict);
    else if (!is_in_time(cert))
        ret->why = "certificate has expired or is not yet valid";
    struct x509_subject who = tls_subject_of(X509_get_subject_name(cert), a);
    ret->common_name = who.common_name;
    ret->orgs = who.orgs;
    ret->n_orgs = who.n_orgs;
    if (X509_digest(cert, EVP_sha256(), ret->sha256, &n) != 1)
        ret->why = "certificate cannot be read";
    ERR_clear_error();
    return true;
}
