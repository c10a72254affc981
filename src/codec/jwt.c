/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Web Tokens; see jwt.h. */
#include "codec/jwt.h"

#include "codec/base64.h"
#include "codec/digest.h"

#include <errno.h>
#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

enum { P256_BYTES = 32, RSA_MIN_BITS = 2048, ID_BYTES = 44 };

struct jwt_key {
    EVP_PKEY *pkey;
    bool is_private, is_ec;
    char id[ID_BYTES]; /* base64url of 32 bytes */
};

static int fail(struct err *err, int code, const char *what)
{
    unsigned long reason = ERR_peek_error();
    const char *text = reason ? ERR_reason_error_string(reason) : NULL;
    ERR_clear_error();
    return err_set(err, code, "%s%s%s", what, text ? ": " : "", text ? text : "");
}

/* ------------------------------------------------------------------ keys */

void jwt_key_free(struct jwt_key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->pkey);
    free(k);
}

static int set_id(struct jwt_key *k, struct err *err)
{
    unsigned char *der = NULL;
    uint8_t hash[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64);
    int n = i2d_PUBKEY(k->pkey, &der);
    if (n <= 0)
        return fail(err, E_INVALID, "read public key");
    sha256_of(str_n(der, (size_t)n), hash);
    OPENSSL_free(der);
    (void)base64_encode(&text, str_n(hash, sizeof hash), BASE64_URL);
    memcpy(k->id, buf_cstr(&text), MIN(text.n + 1, sizeof k->id));
    return 0;
}

/* Takes pkey. */
static int key_of(EVP_PKEY *pkey, bool is_private, struct jwt_key **ret, struct err *err)
{
    char curve[32] = "";
    scoped(jwt_key_free_scoped) struct jwt_key *k = xnew(struct jwt_key);
    *k = (struct jwt_key){ .pkey = pkey,
                           .is_private = is_private,
                           .is_ec = EVP_PKEY_is_a(pkey, "EC") == 1 };
    if (k->is_ec) {
        if (EVP_PKEY_get_group_name(pkey, curve, sizeof curve, NULL) != 1 ||
            strcmp(curve, "prime256v1") != 0)
            return fail(err, E_INVALID, "the key is on another curve than P-256");
    } else if (EVP_PKEY_is_a(pkey, "RSA") != 1 || EVP_PKEY_get_bits(pkey) < RSA_MIN_BITS) {
        return fail(err, E_INVALID, "the key is neither P-256 nor RSA of at least 2048 bits");
    }
    int r = set_id(k, err);
    if (r >= 0)
        *ret = take_ptr(&k);
    return r;
}

int jwt_key_make(struct jwt_key **ret, struct err *err)
{
    ERR_clear_error();
    EVP_PKEY *pkey = EVP_EC_gen("P-256");
    return pkey ? key_of(pkey, true, ret, err) : fail(err, -ENOMEM, "make a key");
}

int jwt_key_read(struct str pem, struct jwt_key **ret, struct err *err)
{
    if (pem.n == 0 || pem.n > INT_MAX)
        return err_set(err, E_INVALID, "no key");
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    EVP_PKEY *pkey = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    bool is_private = pkey != NULL;
    BIO_free(bio);
    if (!pkey) {
        ERR_clear_error();
        bio = BIO_new_mem_buf(pem.p, (int)pem.n);
        pkey = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
        BIO_free(bio);
    }
    return pkey ? key_of(pkey, is_private, ret, err) : fail(err, E_INVALID, "read key");
}

int jwt_key_write(const struct jwt_key *k, struct buf *to, struct err *err)
{
    if (!k->is_private)
        return err_set(err, E_UNSUPPORTED, "the key is a public one");
    ERR_clear_error();
    BIO *bio = BIO_new(BIO_s_secmem());
    char *p;
    bool ok = bio && PEM_write_bio_PKCS8PrivateKey(bio, k->pkey, NULL, NULL, 0, NULL, NULL) == 1;
    long n = ok ? BIO_get_mem_data(bio, &p) : 0;
    int r = n > 0 ? buf_add(to, p, (size_t)n) : fail(err, -ENOMEM, "write key");
    BIO_free(bio);
    return r;
}

struct str jwt_key_id(const struct jwt_key *k)
{
    return str_of(k->id);
}

const char *jwt_key_alg(const struct jwt_key *k)
{
    return k->is_ec ? "ES256" : "RS256";
}

/* A number of the public key, unsigned and big-endian, at least `min` bytes. */
static void set_number(struct arena *a, struct json *v, const char *member, const EVP_PKEY *pkey,
                       const char *param, int min)
{
    BIGNUM *n = NULL;
    scoped(buf_fini_scoped) struct buf raw = BUF_INIT(4096), text = BUF_INIT(8192);
    char *p;
    if (EVP_PKEY_get_bn_param(pkey, param, &n) == 1) {
        int bytes = MAX(BN_num_bytes(n), min);
        if (buf_reserve(&raw, (size_t)bytes, &p) == 0 &&
            BN_bn2binpad(n, (unsigned char *)p, bytes) == bytes)
            buf_advance(&raw, (size_t)bytes);
    }
    BN_free(n);
    (void)base64_encode(&text, buf_str(&raw), BASE64_URL);
    json_set_str(a, v, member, buf_str(&text));
}

struct json *jwt_key_jwk(struct arena *a, const struct jwt_key *k)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "use", STR("sig"));
    json_set_str(a, v, "kty", k->is_ec ? STR("EC") : STR("RSA"));
    json_set_str(a, v, "kid", jwt_key_id(k));
    if (k->is_ec)
        json_set_str(a, v, "crv", STR("P-256"));
    json_set_str(a, v, "alg", str_of(jwt_key_alg(k)));
    if (k->is_ec) {
        set_number(a, v, "x", k->pkey, OSSL_PKEY_PARAM_EC_PUB_X, P256_BYTES);
        set_number(a, v, "y", k->pkey, OSSL_PKEY_PARAM_EC_PUB_Y, P256_BYTES);
    } else {
        set_number(a, v, "n", k->pkey, OSSL_PKEY_PARAM_RSA_N, 1);
        set_number(a, v, "e", k->pkey, OSSL_PKEY_PARAM_RSA_E, 1);
    }
    return v;
}

/* ------------------------------------------------------------------ signatures */

/* OpenSSL writes ECDSA signatures in DER; a token holds the two numbers one after the other. */
static bool der_to_raw(const unsigned char *der, size_t n, uint8_t raw[2 * P256_BYTES])
{
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
    bool ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, P256_BYTES) == P256_BYTES &&
              BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + P256_BYTES, P256_BYTES) == P256_BYTES;
    ECDSA_SIG_free(sig);
    return ok;
}

/* Given, OPENSSL_free(); NULL if raw is not two numbers. */
static unsigned char *raw_to_der(struct str raw, int *ret_n)
{
    unsigned char *der = NULL;
    const unsigned char *p = (const unsigned char *)raw.p;
    if (raw.n != (size_t)2 * P256_BYTES)
        return NULL;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(p, P256_BYTES, NULL), *s = BN_bin2bn(p + P256_BYTES, P256_BYTES, NULL);
    if (sig && r && s && ECDSA_SIG_set0(sig, r, s) == 1) {
        *ret_n = i2d_ECDSA_SIG(sig, &der);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(sig);
    return der;
}

static int add_base64_json(struct buf *to, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(JWT_MAX_BYTES);
    int r = json_write(&text, v);
    return r < 0 ? r : base64_encode(to, buf_str(&text), BASE64_URL);
}

static bool digest_sign(EVP_PKEY *pkey, struct str what, unsigned char *sig, size_t *n)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, pkey) == 1 &&
              EVP_DigestSign(ctx, sig, n, (const unsigned char *)what.p, what.n) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}

int jwt_sign(const struct jwt_key *k, const struct json *claims, struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    unsigned char sig[JWT_SIGNATURE_MAX_BYTES];
    uint8_t raw[2 * P256_BYTES];
    size_t n = sizeof sig, at = to->n;
    if (!k->is_private)
        return err_set(err, E_UNSUPPORTED, "the key is a public one");
    struct json *header = json_new_object(&a);
    json_set_str(&a, header, "alg", str_of(jwt_key_alg(k)));
    json_set_str(&a, header, "kid", jwt_key_id(k));
    (void)add_base64_json(to, header);
    arena_fini(&a);
    (void)buf_add_char(to, '.');
    int r = add_base64_json(to, claims);
    if (r < 0 || !buf_ok(to))
        return err_set(err, -EMSGSIZE, "the token is too large");
    ERR_clear_error();
    if (!digest_sign(k->pkey, str_slice(buf_str(to), at, to->n), sig, &n) ||
        (k->is_ec && !der_to_raw(sig, n, raw)))
        return fail(err, E_INVALID, "sign a token");
    (void)buf_add_char(to, '.');
    return base64_encode(to, k->is_ec ? str_n(raw, sizeof raw) : str_n(sig, n), BASE64_URL);
}

static int parse_part(struct arena *a, struct str part, struct json **ret, struct err *err)
{
    static const struct json_parse_opts opts = { .max_depth = JWT_MAX_DEPTH };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(JWT_MAX_BYTES);
    if (base64_decode(&text, part, BASE64_URL) < 0)
        return err_set(err, E_PARSE, "not base64url");
    int r = json_parse(a, str_copy_arena(a, buf_str(&text)), &opts, ret, err);
    if (r >= 0 && !json_is(*ret, JSON_OBJECT))
        return err_set(err, E_PARSE, "not an object");
    return r;
}

int jwt_parse(struct arena *a, struct str token, struct jwt *ret, struct err *err)
{
    struct str header, claims, signature, rest;
    struct jwt t;
    scoped(buf_fini_scoped) struct buf raw = BUF_INIT(JWT_SIGNATURE_MAX_BYTES);
    if (token.n > JWT_MAX_BYTES)
        return err_set(err, E_LIMIT, "the token is larger than %d bytes", JWT_MAX_BYTES);
    if (!str_cut(token, '.', &header, &rest) || !str_cut(rest, '.', &claims, &signature) ||
        str_find_char(signature, '.') >= 0)
        return err_set(err, E_PARSE, "a token has three parts");
    int r = parse_part(a, header, &t.header, err);
    if (r < 0)
        return err_ctx(err, r, "header of the token");
    r = parse_part(a, claims, &t.claims, err);
    if (r < 0)
        return err_ctx(err, r, "claims of the token");
    if (base64_decode(&raw, signature, BASE64_URL) < 0)
        return err_set(err, E_PARSE, "the signature is not base64url");
    t.signature = str_copy_arena(a, buf_str(&raw));
    t.signed_part = str_slice(token, 0, header.n + 1 + claims.n);
    *ret = t;
    return 0;
}

bool jwt_verify(const struct jwt_key *k, const struct jwt *t)
{
    if (!str_is(json_get_str(t->header, "alg"), jwt_key_alg(k)) || json_getc(t->header, "crit") ||
        t->signature.n == 0)
        return false;
    int n = (int)t->signature.n;
    unsigned char *der = k->is_ec ? raw_to_der(t->signature, &n) : NULL;
    if (k->is_ec && (!der || n <= 0))
        return false;
    const unsigned char *sig = der ? der : (const unsigned char *)t->signature.p;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, k->pkey) == 1 &&
              EVP_DigestVerify(ctx, sig, (size_t)n, (const unsigned char *)t->signed_part.p,
                               t->signed_part.n) == 1;
    EVP_MD_CTX_free(ctx);
    OPENSSL_free(der);
    ERR_clear_error();
    return ok;
}
