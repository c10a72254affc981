/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums; see sum.h. Two lanes of 16 bytes; a 64 x 64 -> 128 bit multiplication folds each, so
 * every bit of the input affects the result. Numbers are little endian.
 */
#include "base/sum.h"

#include <endian.h>
#include <string.h>

#define K0 UINT64_C(0x9e3779b97f4a7c15)
#define K1 UINT64_C(0xd1b54a32d192ed03)
#define K2 UINT64_C(0x8cb92ba72f3d8dd7)

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t get64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

uint64_t sum64_u64(uint64_t sum, uint64_t v)
{
    return fold(sum ^ K0, v ^ K1) ^ K2;
}

uint64_t sum64(struct str s, uint64_t seed)
{
    const char *p = s.p;
    size_t n = s.n;
    uint64_t a = seed ^ K1, b = seed ^ K2;
    for (; n >= 32; p += 32, n -= 32) {
        a = fold(get64(p) ^ K0, get64(p + 8) ^ a);
        b = fold(get64(p + 16) ^ K1, get64(p + 24) ^ b);
    }
    char tail[32] = { 0 };
    if (n)
        memcpy(tail, p, n);
    a = fold(get64(tail) ^ K0, get64(tail + 8) ^ a);
    b = fold(get64(tail + 16) ^ K1, get64(tail + 24) ^ b);
    return fold(a ^ K2 ^ s.n, b ^ K0);
}
