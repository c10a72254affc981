/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by libcrypto, which uses the processor's SHA instructions. */
#include "codec/digest.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

/* libcrypto fails here only without memory or with a broken installation; xalloc() would abort too.
 */
static void must(int ok)
{
    if (ok != 1)
        abort();
}

struct sha256 *sha256_new(void)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    must(ctx != NULL);
    must(EVP_DigestInit_ex(ctx, EVP_sha256(), NULL));
    return (struct sha256 *)ctx;
}

void sha256_free(struct sha256 *h)
{
    EVP_MD_CTX_free((EVP_MD_CTX *)h);
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
    must(EVP_DigestUpdate((EVP_MD_CTX *)h, p, n));
}

void sha256_end(struct sha256 *h, uint8_t ret[SHA256_BYTES])
{
    must(EVP_DigestFinal_ex((EVP_MD_CTX *)h, ret, NULL));
    must(EVP_DigestInit_ex((EVP_MD_CTX *)h, NULL, NULL));
}

void sha256_hmac(struct str key, struct str text, uint8_t ret[SHA256_BYTES])
{
    unsigned n = 0;
    assert(key.n <= INT32_MAX);
    if (!HMAC(EVP_sha256(), key.n ? key.p : "", (int)key.n, (const unsigned char *)text.p, text.n,
              ret, &n) ||
        n != SHA256_BYTES)
        abort();
}

void sha1_of(struct str s, uint8_t ret[SHA1_BYTES])
{
    must(EVP_Digest(s.p, s.n, ret, NULL, EVP_sha1(), NULL));
}

void sha256_of(struct str s, uint8_t ret[SHA256_BYTES])
{
    must(EVP_Digest(s.p ? s.p : "", s.n, ret, NULL, EVP_sha256(), NULL));
}

void hex_format(const uint8_t *p, size_t n, char *ret)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *ret++ = digits[p[i] >> 4];
        *ret++ = digits[p[i] & 15];
    }
    *ret = 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool hex_parse(struct str s, uint8_t *ret, size_t n)
{
    if (s.n != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        int hi = hex_digit(s.p[2 * i]), lo = hex_digit(s.p[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return false;
        ret[i] = (uint8_t)(hi << 4 | lo);
    }
    return true;
}
