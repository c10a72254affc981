/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629) one sequence at a time, for the text formats in this directory. */
#pragma once

#include "base/str.h"

/*
 * The length of the well-formed sequence at p, with n >= 1 bytes left; 0 when it is malformed or
 * truncated. ret_cp may be NULL.
 */
size_t utf8_decode(const char *p, size_t n, uint32_t *ret_cp);
/* Write a scalar value (not a surrogate, at most 0x10ffff); the number of bytes, 1 to 4. */
size_t utf8_encode(char *out, uint32_t cp);

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* ---- eight bytes at a time ---- */

#define SWAR_ONES  UINT64_C(0x0101010101010101)
#define SWAR_HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t swar_load(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}
/*
 * Bit 7 of each byte that is '"', '\\', a control character or not ASCII. A byte above the first
 * that matches may be a false alarm (borrows propagate upwards), so only the lowest bit counts.
 */
static inline uint64_t swar_json_special(uint64_t w)
{
    uint64_t quote = w ^ (SWAR_ONES * '"'), slash = w ^ (SWAR_ONES * '\\');
    return (w | (w - SWAR_ONES * 0x20) | (quote - SWAR_ONES) | (slash - SWAR_ONES)) & SWAR_HIGHS;
}
/* How many bytes lie before the first match; the machine is little endian. */
static inline size_t swar_first(uint64_t match)
{
    return (size_t)__builtin_ctzll(match) / 8;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "swar_first() counts from the low byte");
