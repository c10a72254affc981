/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for certificates, and what certificates say; see tls.h. */
#include "io/tls.h"

#include "base/mem.h"
#include "codec/digest.h"
#include "io/tls_int.h"

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <time.h>

enum { ADDRESS_CHARS = INET6_ADDRSTRLEN };

/* ---------------------------------------------------------------- making */

static bool add_entry(X509_NAME *name, const char *field, struct str value)
{
    return value.n < INT_MAX &&
           X509_NAME_add_entry_by_txt(name, field, V_ASN1_UTF8STRING,
                                      (const unsigned char *)value.p, (int)value.n, -1, 0) == 1;
}

static bool add_user(X509_NAME *name, const struct x509_user *user)
{
    for (size_t i = 0; i < user->n_groups; i++)
        if (!add_entry(name, "O", user->groups[i]))
            return false;
    return add_entry(name, "CN", user->name);
}

static bool push_name(GENERAL_NAMES *all, const char *text)
{
    GENERAL_NAME *one = GENERAL_NAME_new();
    ASN1_OCTET_STRING *ip = a2i_IPADDRESS(text);
    ASN1_IA5STRING *dns = ip ? NULL : ASN1_IA5STRING_new();
    bool ok = one && (ip || (dns && ASN1_STRING_set(dns, text, -1) == 1));
    ERR_clear_error(); /* of a name that is no address */
    if (ok && ip)
        GENERAL_NAME_set0_value(one, GEN_IPADD, ip);
    else if (ok)
        GENERAL_NAME_set0_value(one, GEN_DNS, dns);
    if (ok && sk_GENERAL_NAME_push(all, one) > 0)
        return true;
    GENERAL_NAME_free(one);
    return false;
}

static bool add_names(X509_REQ *req, const char *const *names, size_t n)
{
    STACK_OF(X509_EXTENSION) *list = NULL;
    GENERAL_NAMES *all = GENERAL_NAMES_new();
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = push_name(all, names[i]);
    ok = ok && X509V3_add1_i2d(&list, NID_subject_alt_name, all, 0, X509V3_ADD_APPEND) == 1 &&
         X509_REQ_add_extensions(req, list) == 1;
    sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
    GENERAL_NAMES_free(all);
    return ok;
}

static bool to_buf(BIO *bio, struct buf *b)
{
    char *p;
    long n = BIO_get_mem_data(bio, &p);
    return n > 0 && buf_add(b, p, (size_t)n) == 0;
}

static bool write_request(X509_REQ *req, EVP_PKEY *key, struct buf *ret_request_pem,
                          struct buf *ret_key_pem)
{
    BIO *text = BIO_new(BIO_s_mem());
    BIO *secret = BIO_new(BIO_s_secmem());
    bool ok = text && secret && PEM_write_bio_X509_REQ(text, req) == 1 &&
              PEM_write_bio_PKCS8PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL) == 1 &&
              to_buf(text, ret_request_pem) && to_buf(secret, ret_key_pem);
    BIO_free(text);
    BIO_free(secret);
    return ok;
}

int x509_make_request(const struct x509_user *user, const char *const *names, size_t n_names,
                      struct buf *ret_request_pem, struct buf *ret_key_pem, struct err *err)
{
    ERR_clear_error();
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_REQ *req = X509_REQ_new();
    bool ok = key && req && X509_REQ_set_version(req, X509_REQ_VERSION_1) == 1 &&
              add_user(X509_REQ_get_subject_name(req), user) &&
              X509_REQ_set_pubkey(req, key) == 1 &&
              (n_names == 0 || add_names(req, names, n_names)) &&
              X509_REQ_sign(req, key, EVP_sha256()) > 0 &&
              write_request(req, key, ret_request_pem, ret_key_pem);
    X509_REQ_free(req);
    EVP_PKEY_free(key);
    return ok ? 0 : err_ctx(err, tls_error(NULL, err), "make a certificate request");
}

/* ---------------------------------------------------------------- alternative names */

/* A DNS name or an address as text; "": another kind. `space` holds an address. */
static struct str text_of(const GENERAL_NAME *name, char space[ADDRESS_CHARS])
{
    int type;
    const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);
    const unsigned char *bytes = value ? ASN1_STRING_get0_data(value) : NULL;
    int n = value ? ASN1_STRING_length(value) : 0;
    if (type == GEN_DNS && n > 0)
        return str_n(bytes, (size_t)n);
    if (type != GEN_IPADD || (n != 4 && n != 16) ||
        !inet_ntop(n == 4 ? AF_INET : AF_INET6, bytes, space, ADDRESS_CHARS))
        return STR("");
    return str_of(space);
}

static bool is_among(struct str text, const struct str *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text.n && str_ieq(text, names[i]))
            return true;
    return false;
}

static bool all_are_among(const GENERAL_NAMES *all, const struct str *names, size_t n)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(all); i++) {
        char space[ADDRESS_CHARS];
        if (!is_among(text_of(sk_GENERAL_NAME_value(all, i), space), names, n))
            return false;
    }
    return true;
}

bool x509_request_names_are(struct str request_pem, const struct str *names, size_t n_names)
{
    BIO *bio = request_pem.n < INT_MAX
                   ? BIO_new_mem_buf(request_pem.n ? request_pem.p : "", (int)request_pem.n)
                   : NULL;
    X509_REQ *req = bio ? PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL) : NULL;
    STACK_OF(X509_EXTENSION) *exts = req ? X509_REQ_get_extensions(req) : NULL;
    int critical;
    GENERAL_NAMES *all = exts ? X509V3_get_d2i(exts, NID_subject_alt_name, &critical, NULL) : NULL;
    bool ok = all && all_are_among(all, names, n_names);
    GENERAL_NAMES_free(all);
    sk_X509_EXTENSION_pop_free(exts, X509_EXTENSION_free);
    X509_REQ_free(req);
    BIO_free(bio);
    ERR_clear_error();
    return ok;
}

/* ---------------------------------------------------------------- certificates */

/* The first certificate of the text; NULL: there is none. */
static X509 *first_cert(struct str pem)
{
    BIO *bio = pem.n < INT_MAX ? BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n) : NULL;
    X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    ERR_clear_error();
    return cert;
}

static bool time_of(const ASN1_TIME *t, int64_t *ret)
{
    struct tm tm;
    if (ASN1_TIME_to_tm(t, &tm) != 1)
        return false;
    *ret = timegm(&tm);
    return true;
}

int x509_validity(struct str cert_pem, int64_t *ret_from_s, int64_t *ret_until_s, struct err *err)
{
    int64_t from_s, until_s;
    X509 *cert = first_cert(cert_pem);
    bool ok = cert && time_of(X509_get0_notBefore(cert), &from_s) &&
              time_of(X509_get0_notAfter(cert), &until_s);
    X509_free(cert);
    if (!ok)
        return err_set(err, E_TLS, "the certificate cannot be read");
    *ret_from_s = from_s;
    *ret_until_s = until_s;
    return 0;
}

static bool has_common_name(X509 *cert, struct str wanted)
{
    struct arena a = { 0 };
    struct x509_subject who = tls_subject_of(X509_get_subject_name(cert), &a);
    bool ok = str_eq(who.common_name, wanted);
    arena_fini(&a);
    return ok;
}

bool x509_is_for(struct str cert_pem, struct str common_name, const char *const *names,
                 size_t n_names)
{
    struct arena a = { 0 };
    X509 *cert = first_cert(cert_pem);
    struct str *texts = arena_new_n(&a, struct str, n_names + 1);
    for (size_t i = 0; i < n_names; i++)
        texts[i] = str_of(names[i]);
    GENERAL_NAMES *all = cert ? X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL) : NULL;
    bool ok = cert && has_common_name(cert, common_name) &&
              (size_t)MAX(sk_GENERAL_NAME_num(all), 0) == n_names &&
              all_are_among(all, texts, n_names);
    GENERAL_NAMES_free(all);
    X509_free(cert);
    arena_fini(&a);
    return ok;
}

static bool hash_key(X509 *cert, uint8_t ret[SHA256_BYTES])
{
    unsigned char *der = NULL;
    int n = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), &der);
    if (n <= 0)
        return false;
    sha256_of(str_n(der, (size_t)n), ret);
    OPENSSL_free(der);
    return true;
}

bool x509_key_hash(struct str cert_pem, uint8_t ret_sha256[SHA256_BYTES])
{
    X509 *cert = first_cert(cert_pem);
    bool ok = cert && hash_key(cert, ret_sha256);
    X509_free(cert);
    return ok;
}

bool x509_keys_have_hash(struct str certs_pem, const uint8_t sha256[SHA256_BYTES])
{
    size_t n = 0;
    bool ok = true;
    BIO *bio = certs_pem.n < INT_MAX
                   ? BIO_new_mem_buf(certs_pem.n ? certs_pem.p : "", (int)certs_pem.n)
                   : NULL;
    for (X509 *cert; ok && bio && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)); n++) {
        uint8_t hash[SHA256_BYTES];
        ok = hash_key(cert, hash) && memcmp(hash, sha256, sizeof hash) == 0;
        X509_free(cert);
    }
    BIO_free(bio);
    ERR_clear_error();
    return ok && n > 0;
}
