/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See sha256_pair.h. The state is kept here, in the order of FIPS 180-4, because libcrypto hides
 * its own; the x86 instructions need it as two vectors, ABEF and CDGH.
 */
#include "codec/sha256_pair.h"

#include <assert.h>

enum { BLOCK_BYTES = 64, LENGTH_AT = 56 };

struct sha256_pair_state {
    uint32_t h[8];
    uint64_t n_bytes;
    uint8_t block[BLOCK_BYTES]; /* n_bytes % BLOCK_BYTES of them */
};

struct sha256_pair {
    struct sha256_pair_state state[2];
    struct sha256 *plain[2]; /* instead of the states; NULL: the processor has the instructions */
};

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define HAS_INSTRUCTIONS 1
#define TARGET           __attribute__((target("sha,sse4.1,ssse3")))

static const uint32_t K[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static bool has_instructions(void)
{
    enum { SSSE3 = 1 << 9, SSE41 = 1 << 19, SHA = 1 << 29 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & SSSE3) || !(c & SSE41))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & SHA);
}

struct vectors {
    __m128i abef, cdgh;
};

TARGET static struct vectors load(const uint32_t h[8])
{
    __m128i dcba = _mm_loadu_si128((const __m128i *)h);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(h + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    return (struct vectors){ _mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0) };
}

TARGET static void store(struct vectors v, uint32_t h[8])
{
    __m128i feba = _mm_shuffle_epi32(v.abef, 0x1b), dchg = _mm_shuffle_epi32(v.cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Words 4 * i to 4 * i + 3 of the message schedule from the 16 before: w[i % 4] is replaced. */
TARGET static inline __m128i schedule(const __m128i w[4], int i)
{
    __m128i oldest = w[i % 4], next = w[(i + 1) % 4], middle = w[(i + 2) % 4],
            last = w[(i + 3) % 4];
    __m128i sum =
        _mm_add_epi32(_mm_sha256msg1_epu32(oldest, next), _mm_alignr_epi8(last, middle, 4));
    return _mm_sha256msg2_epu32(sum, last);
}

TARGET static inline struct vectors four_rounds(struct vectors v, __m128i words)
{
    v.cdgh = _mm_sha256rnds2_epu32(v.cdgh, v.abef, words);
    v.abef = _mm_sha256rnds2_epu32(v.abef, v.cdgh, _mm_shuffle_epi32(words, 0x0e));
    return v;
}

TARGET static inline struct vectors sum(struct vectors a, struct vectors b)
{
    return (struct vectors){ _mm_add_epi32(a.abef, b.abef), _mm_add_epi32(a.cdgh, b.cdgh) };
}

/* The same whole blocks into one state or, if b is not NULL, into two. */
TARGET static inline __attribute__((always_inline)) void compress(uint32_t *a, uint32_t *b,
                                                                  const uint8_t *p, size_t n_blocks)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    struct vectors first = load(a), second = b ? load(b) : first;
    for (; n_blocks; n_blocks--, p += BLOCK_BYTES) {
        struct vectors x = first, y = second;
        __m128i w[4];
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            w[i % 4] = i < 4 ? _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p + i), big_endian)
                             : schedule(w, i);
            __m128i words = _mm_add_epi32(w[i % 4], _mm_load_si128((const __m128i *)K + i));
            x = four_rounds(x, words);
            if (b)
                y = four_rounds(y, words);
        }
        first = sum(first, x);
        second = sum(second, y);
    }
    store(first, a);
    if (b)
        store(second, b);
}

TARGET static void compress_one(uint32_t *a, const uint8_t *p, size_t n_blocks)
{
    compress(a, NULL, p, n_blocks);
}

TARGET static void compress_both(uint32_t *a, uint32_t *b, const uint8_t *p, size_t n_blocks)
{
    compress(a, b, p, n_blocks);
}

#else

static bool has_instructions(void)
{
    return false;
}

static void compress_one(uint32_t *a, const uint8_t *p, size_t n_blocks)
{
    (void)a, (void)p, (void)n_blocks;
    assert(false);
}

static void compress_both(uint32_t *a, uint32_t *b, const uint8_t *p, size_t n_blocks)
{
    (void)b;
    compress_one(a, p, n_blocks);
}

#endif

/* ---- streams ---- */

static void begin(struct sha256_pair_state *s)
{
    static const struct sha256_pair_state none = { .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                                          0xa54ff53a, 0x510e527f, 0x9b05688c,
                                                          0x1f83d9ab, 0x5be0cd19 } };
    *s = none;
}

/* Add bytes to the incomplete block; compress it when it is full. Returns the number of bytes
 * used. */
static size_t fill(struct sha256_pair_state *s, const uint8_t *p, size_t n)
{
    size_t at = s->n_bytes % BLOCK_BYTES;
    n = MIN(n, BLOCK_BYTES - at);
    memcpy(s->block + at, p, n);
    s->n_bytes += n;
    if (at + n == BLOCK_BYTES)
        compress_one(s->h, s->block, 1);
    return n;
}

static void add(struct sha256_pair_state *s, const uint8_t *p, size_t n)
{
    size_t part = s->n_bytes % BLOCK_BYTES ? fill(s, p, n) : 0;
    p += part;
    n -= part;
    size_t n_blocks = n / BLOCK_BYTES;
    if (n_blocks)
        compress_one(s->h, p, n_blocks);
    s->n_bytes += n_blocks * BLOCK_BYTES;
    if (n % BLOCK_BYTES)
        (void)fill(s, p + n_blocks * BLOCK_BYTES, n % BLOCK_BYTES);
}

static void end(struct sha256_pair_state *s, uint8_t ret[SHA256_BYTES])
{
    static const uint8_t padding[BLOCK_BYTES] = { 0x80 };
    uint8_t length[8];
    uint64_t n_bits = s->n_bytes * 8;
    size_t at = s->n_bytes % BLOCK_BYTES;
    for (size_t i = 0; i < sizeof length; i++)
        length[i] = (uint8_t)(n_bits >> (56 - 8 * i));
    add(s, padding, (at < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK_BYTES) - at);
    add(s, length, sizeof length);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        ret[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    begin(s);
}

/* ---- the pair ---- */

struct sha256_pair *sha256_pair_new_plain(void)
{
    struct sha256_pair *h = xnew(struct sha256_pair);
    h->plain[SHA256_FIRST] = sha256_new();
    h->plain[SHA256_SECOND] = sha256_new();
    return h;
}

struct sha256_pair *sha256_pair_new(void)
{
    if (!has_instructions())
        return sha256_pair_new_plain();
    struct sha256_pair *h = xnew(struct sha256_pair);
    begin(&h->state[SHA256_FIRST]);
    begin(&h->state[SHA256_SECOND]);
    return h;
}

void sha256_pair_free(struct sha256_pair *h)
{
    if (!h)
        return;
    sha256_free(h->plain[SHA256_FIRST]);
    sha256_free(h->plain[SHA256_SECOND]);
    free(h);
}

void sha256_pair_add(struct sha256_pair *h, enum sha256_of_pair which, const void *p, size_t n)
{
    if (h->plain[which])
        sha256_add(h->plain[which], p, n);
    else
        add(&h->state[which], p, n);
}

void sha256_pair_add_both(struct sha256_pair *h, const void *p, size_t n)
{
    struct sha256_pair_state *a = &h->state[SHA256_FIRST], *b = &h->state[SHA256_SECOND];
    const uint8_t *from = p;
    size_t n_blocks = 0, at = a->n_bytes % BLOCK_BYTES;
    if (!h->plain[SHA256_FIRST] && at == b->n_bytes % BLOCK_BYTES) {
        size_t part = at ? MIN(n, BLOCK_BYTES - at) : 0;
        sha256_pair_add(h, SHA256_FIRST, from, part);
        sha256_pair_add(h, SHA256_SECOND, from, part);
        from += part;
        n -= part;
        n_blocks = n / BLOCK_BYTES;
        if (n_blocks)
            compress_both(a->h, b->h, from, n_blocks);
        a->n_bytes += n_blocks * BLOCK_BYTES;
        b->n_bytes += n_blocks * BLOCK_BYTES;
    }
    sha256_pair_add(h, SHA256_FIRST, from + n_blocks * BLOCK_BYTES, n - n_blocks * BLOCK_BYTES);
    sha256_pair_add(h, SHA256_SECOND, from + n_blocks * BLOCK_BYTES, n - n_blocks * BLOCK_BYTES);
}

void sha256_pair_end(struct sha256_pair *h, enum sha256_of_pair which, uint8_t ret[SHA256_BYTES])
{
    if (h->plain[which])
        sha256_end(h->plain[which], ret);
    else
        end(&h->state[which], ret);
}
