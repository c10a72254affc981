/* SPDX-License-Identifier: Apache-2.0 */
/* The certificates that a cluster makes for itself; see tls.h. */
#include "io/tls.h"

#include "base/mem.h"
#include "base/sys.h"
#include "io/tls_int.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

enum {
    CA_DAYS = 3650,
    DAY_S = 86400,
    BACKDATE_S = 300,            /* other machines' clocks may be behind */
    LASTING_EPOCH_S = 1767225600 /* 2026-01-01: no release is older */
};

/* A certificate that is being made. */
struct x509_making {
    X509 *cert;
    EVP_PKEY *key;
    X509 *ca; /* NULL: signs itself */
    EVP_PKEY *ca_key;
};

static void making_fini(struct x509_making *m)
{
    X509_free(m->cert);
    EVP_PKEY_free(m->key);
    X509_free(m->ca);
    EVP_PKEY_free(m->ca_key);
}

static int read_cert(struct str pem, X509 **ret, struct err *err)
{
    ERR_clear_error();
    BIO *bio = pem.n < INT_MAX ? BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n) : NULL;
    X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    if (!cert)
        return err_ctx(err, tls_error(NULL, err), "read certificate");
    *ret = cert;
    return 0;
}

static int read_key(struct str pem, EVP_PKEY **ret, struct err *err)
{
    ERR_clear_error();
    BIO *bio = pem.n < INT_MAX ? BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n) : NULL;
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    if (!key)
        return err_ctx(err, tls_error(NULL, err), "read private key");
    *ret = key;
    return 0;
}

static bool set_serial(X509 *cert)
{
    unsigned char bytes[16];
    sys_random(bytes, sizeof bytes);
    bytes[0] &= 0x7f; /* positive */
    bytes[0] |= 0x01;
    BIGNUM *n = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    return ok;
}

static bool set_name(X509 *cert, const char *common_name)
{
    X509_NAME *name = X509_get_subject_name(cert);
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name,
                                      -1, -1, 0) == 1;
}

static bool add_ext(struct x509_making *m, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, m->ca ? m->ca : m->cert, m->cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = ext && X509_add_ext(m->cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return ok;
}

/* Built as objects, not through OpenSSL's configuration syntax, in which a crafted name could add
 * settings. */
static bool add_alt_names(struct x509_making *m, const char *const *names, size_t n)
{
    GENERAL_NAMES *all = GENERAL_NAMES_new();
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        GENERAL_NAME *one = GENERAL_NAME_new();
        ASN1_OCTET_STRING *ip = a2i_IPADDRESS(names[i]);
        ASN1_IA5STRING *dns = ip ? NULL : ASN1_IA5STRING_new();
        ok = one && (ip || (dns && ASN1_STRING_set(dns, names[i], -1) == 1));
        if (ok && ip)
            GENERAL_NAME_set0_value(one, GEN_IPADD, ip);
        else if (ok)
            GENERAL_NAME_set0_value(one, GEN_DNS, dns);
        ok = ok && sk_GENERAL_NAME_push(all, one) > 0;
        if (!ok)
            GENERAL_NAME_free(one);
    }
    ERR_clear_error(); /* of names that are not addresses */
    ok = ok && X509_add1_ext_i2d(m->cert, NID_subject_alt_name, all, 0, 0) == 1;
    GENERAL_NAMES_free(all);
    return ok;
}

/*
 * The cluster's CA must stay valid when the clock is set forward or back: a machine without a
 * battery makes its CA in 1970. So both ends of the validity are computed from a time that has
 * passed on every machine with a correct clock.
 */
static bool set_lasting(X509 *cert, uint64_t valid_s)
{
    time_t epoch = LASTING_EPOCH_S, now = time(NULL), from = now > epoch ? now : epoch;
    return X509_time_adj_ex(X509_getm_notBefore(cert), 0, 0, &epoch) &&
           X509_time_adj_ex(X509_getm_notAfter(cert), (int)(valid_s / DAY_S),
                            (long)(valid_s % DAY_S), &from);
}

static bool begin(struct x509_making *m, const char *common_name, uint64_t valid_s)
{
    ERR_clear_error();
    if (!m->key)
        m->key = EVP_EC_gen("P-256");
    m->cert = X509_new();
    return m->key && m->cert && X509_set_version(m->cert, X509_VERSION_3) == 1 &&
           set_serial(m->cert) && (!common_name || set_name(m->cert, common_name)) &&
           X509_gmtime_adj(X509_getm_notBefore(m->cert), -BACKDATE_S) &&
           X509_time_adj_ex(X509_getm_notAfter(m->cert), (int)(valid_s / DAY_S),
                            (long)(valid_s % DAY_S), NULL) &&
           X509_set_pubkey(m->cert, m->key) == 1 &&
           X509_set_issuer_name(m->cert, X509_get_subject_name(m->ca ? m->ca : m->cert)) == 1 &&
           add_ext(m, NID_subject_key_identifier, "hash");
}

static bool to_buf(BIO *bio, struct buf *b)
{
    char *p;
    long n = BIO_get_mem_data(bio, &p);
    return n > 0 && buf_add(b, p, (size_t)n) == 0;
}

static int finish(struct x509_making *m, struct buf *ret_cert_pem, struct buf *ret_key_pem,
                  struct err *err)
{
    BIO *cert = BIO_new(BIO_s_mem());
    BIO *key = BIO_new(BIO_s_secmem());
    bool ok = cert && key && X509_sign(m->cert, m->ca_key ? m->ca_key : m->key, EVP_sha256()) > 0 &&
              PEM_write_bio_X509(cert, m->cert) == 1 &&
              PEM_write_bio_PKCS8PrivateKey(key, m->key, NULL, NULL, 0, NULL, NULL) == 1 &&
              to_buf(cert, ret_cert_pem) && to_buf(key, ret_key_pem);
    BIO_free(cert);
    BIO_free(key);
    return ok ? 0 : tls_error(NULL, err);
}

static int make_ca(struct x509_making *m, const char *common_name, struct buf *ret_cert_pem,
                   struct buf *ret_key_pem, struct err *err)
{
    if (!begin(m, common_name, (uint64_t)CA_DAYS * DAY_S) ||
        !set_lasting(m->cert, (uint64_t)CA_DAYS * DAY_S) ||
        !add_ext(m, NID_basic_constraints, "critical,CA:TRUE") ||
        !add_ext(m, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"))
        return err_ctx(err, tls_error(NULL, err), "make a CA");
    return finish(m, ret_cert_pem, ret_key_pem, err);
}

int x509_make_ca(const char *common_name, struct buf *ret_cert_pem, struct buf *ret_key_pem,
                 struct err *err)
{
    scoped(making_fini) struct x509_making m = { 0 };
    return make_ca(&m, common_name, ret_cert_pem, ret_key_pem, err);
}

int x509_remake_ca(const char *common_name, struct str key_pem, struct buf *ret_cert_pem,
                   struct err *err)
{
    scoped(making_fini) struct x509_making m = { 0 };
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(BUF_MAX_DEFAULT);
    int r = read_key(key_pem, &m.key, err);
    return r < 0 ? r : make_ca(&m, common_name, ret_cert_pem, &key, err);
}

static int load_pair(struct x509_making *m, struct str cert_pem, struct str key_pem,
                     struct err *err)
{
    int r = read_cert(cert_pem, &m->ca, err);
    if (r >= 0)
        r = read_key(key_pem, &m->ca_key, err);
    if (r >= 0 && X509_check_private_key(m->ca, m->ca_key) != 1)
        r = err_set(err, E_TLS, "certificate and key do not belong together");
    ERR_clear_error();
    return r;
}

static int load_ca(struct x509_making *m, struct str cert_pem, struct str key_pem, struct err *err)
{
    int r = load_pair(m, cert_pem, key_pem, err);
    return r < 0 ? err_ctx(err, r, "load the CA") : 0;
}

int x509_check_pair(struct str cert_pem, struct str key_pem, struct err *err)
{
    scoped(making_fini) struct x509_making m = { 0 };
    return load_pair(&m, cert_pem, key_pem, err);
}

int x509_make_server(struct str ca_cert_pem, struct str ca_key_pem, const char *common_name,
                     const char *const *names, size_t n_names, unsigned days,
                     struct buf *ret_cert_pem, struct buf *ret_key_pem, struct err *err)
{
    scoped(making_fini) struct x509_making m = { 0 };
    int r = load_ca(&m, ca_cert_pem, ca_key_pem, err);
    if (r < 0)
        return r;
    if (!begin(&m, common_name, (uint64_t)days * DAY_S) ||
        !set_lasting(m.cert, (uint64_t)days * DAY_S) ||
        !add_ext(&m, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_ext(&m, NID_key_usage, "critical,digitalSignature") ||
        !add_ext(&m, NID_ext_key_usage, "serverAuth") ||
        !add_ext(&m, NID_authority_key_identifier, "keyid") || !add_alt_names(&m, names, n_names))
        return err_ctx(err, tls_error(NULL, err), "make a server certificate");
    return finish(&m, ret_cert_pem, ret_key_pem, err);
}

/* Does not use MBSTRING, which limits the length: user names have no limit. */
static bool add_entry(X509 *cert, const char *field, struct str value)
{
    return value.n < INT_MAX &&
           X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), field, V_ASN1_UTF8STRING,
                                      (const unsigned char *)value.p, (int)value.n, -1, 0) == 1;
}

static bool add_user(X509 *cert, const struct x509_user *user)
{
    for (size_t i = 0; i < user->n_groups; i++)
        if (!add_entry(cert, "O", user->groups[i]))
            return false;
    return add_entry(cert, "CN", user->name);
}

int x509_make_client(struct str ca_cert_pem, struct str ca_key_pem, const struct x509_user *user,
                     uint64_t valid_s, struct buf *ret_cert_pem, struct buf *ret_key_pem,
                     struct err *err)
{
    scoped(making_fini) struct x509_making m = { 0 };
    int r = load_ca(&m, ca_cert_pem, ca_key_pem, err);
    if (r < 0)
        return r;
    if (!begin(&m, NULL, valid_s) || !add_user(m.cert, user) ||
        !add_ext(&m, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_ext(&m, NID_key_usage, "critical,digitalSignature") ||
        !add_ext(&m, NID_ext_key_usage, "clientAuth") ||
        !add_ext(&m, NID_authority_key_identifier, "keyid"))
        return err_ctx(err, tls_error(NULL, err), "make a client certificate");
    return finish(&m, ret_cert_pem, ret_key_pem, err);
}

static int read_request(struct str pem, X509_REQ **ret, struct err *err)
{
    ERR_clear_error();
    BIO *bio = pem.n < INT_MAX ? BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n) : NULL;
    X509_REQ *req = bio ? PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    EVP_PKEY *key = req ? X509_REQ_get0_pubkey(req) : NULL;
    if (!key || X509_REQ_verify(req, key) != 1) {
        X509_REQ_free(req);
        return err_ctx(err, tls_error(NULL, err), "read certificate request");
    }
    *ret = req;
    return 0;
}

/* false: the extension cannot be read. */
static bool count_alt_names(X509_REQ *req, struct x509_subject *to)
{
    STACK_OF(X509_EXTENSION) *all = X509_REQ_get_extensions(req);
    int critical;
    GENERAL_NAMES *names = X509V3_get_d2i(all, NID_subject_alt_name, &critical, NULL);
    bool ok = names || critical == -1; /* -1: there is none */
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = sk_GENERAL_NAME_value(names, i)->type;
        *(type == GEN_DNS || type == GEN_IPADD ? &to->n_host_names : &to->n_other_names) += 1;
    }
    GENERAL_NAMES_free(names);
    sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
    return ok;
}

int x509_read_request(struct str request_pem, struct arena *a, struct x509_subject *ret,
                      struct err *err)
{
    X509_REQ *req = NULL;
    int r = read_request(request_pem, &req, err);
    if (r < 0)
        return r;
    *ret = tls_subject_of(X509_REQ_get_subject_name(req), a);
    if (!count_alt_names(req, ret))
        r = err_set(err, E_TLS, "the alternative names of the request cannot be read");
    X509_REQ_free(req);
    return r;
}

/* Copy subjectAltName, if the request has one. */
static bool copy_alt_names(X509 *cert, X509_REQ *req)
{
    STACK_OF(X509_EXTENSION) *all = X509_REQ_get_extensions(req);
    int at = all ? X509v3_get_ext_by_NID(all, NID_subject_alt_name, -1) : -1;
    bool ok = at < 0 || X509_add_ext(cert, X509v3_get_ext(all, at), -1) == 1;
    sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
    return ok;
}

static bool make_requested(struct x509_making *m, X509_REQ *req, enum x509_use use,
                           uint64_t valid_s)
{
    ERR_clear_error();
    m->cert = X509_new();
    return m->cert && X509_set_version(m->cert, X509_VERSION_3) == 1 && set_serial(m->cert) &&
           X509_set_subject_name(m->cert, X509_REQ_get_subject_name(req)) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(m->cert), -BACKDATE_S) &&
           X509_time_adj_ex(X509_getm_notAfter(m->cert), (int)(valid_s / DAY_S),
                            (long)(valid_s % DAY_S), NULL) &&
           X509_set_pubkey(m->cert, X509_REQ_get0_pubkey(req)) == 1 &&
           X509_set_issuer_name(m->cert, X509_get_subject_name(m->ca)) == 1 &&
           add_ext(m, NID_basic_constraints, "critical,CA:FALSE") &&
           add_ext(m, NID_key_usage, "critical,digitalSignature,keyEncipherment") &&
           add_ext(m, NID_ext_key_usage, use == X509_USE_SERVER ? "serverAuth" : "clientAuth") &&
           add_ext(m, NID_authority_key_identifier, "keyid") && copy_alt_names(m->cert, req) &&
           X509_sign(m->cert, m->ca_key, EVP_sha256()) > 0;
}

int x509_sign_request(struct str ca_cert_pem, struct str ca_key_pem, struct str request_pem,
                      enum x509_use use, uint64_t valid_s, struct buf *ret_cert_pem,
                      struct err *err)
{
    scoped(making_fini) struct x509_making m = { 0 };
    X509_REQ *req = NULL;
    int r = load_ca(&m, ca_cert_pem, ca_key_pem, err);
    if (r >= 0)
        r = read_request(request_pem, &req, err);
    if (r < 0)
        return r;
    BIO *out = BIO_new(BIO_s_mem());
    bool ok = out && make_requested(&m, req, use, valid_s) &&
              PEM_write_bio_X509(out, m.cert) == 1 && to_buf(out, ret_cert_pem);
    BIO_free(out);
    X509_REQ_free(req);
    return ok ? 0 : err_ctx(err, tls_error(NULL, err), "sign a certificate request");
}

int x509_seconds_left(struct str cert_pem, int64_t *ret, struct err *err)
{
    X509 *cert = NULL;
    int r = read_cert(cert_pem, &cert, err);
    if (r < 0)
        return r;
    int days, seconds;
    bool ok = ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(cert)) == 1;
    X509_free(cert);
    if (!ok)
        return tls_error(NULL, err);
    *ret = (int64_t)days * 86400 + seconds;
    return 0;
}
