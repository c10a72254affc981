/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cursor over JSON text (RFC 8259), for reading values from it without a tree.
 *
 * For text that json_write() wrote. Reading other text is safe, but not every error in it is
 * detected. All functions skip leading blanks; false: the text has something else at this position,
 * and the cursor must not be used any more. Any thread.
 */
#pragma once

#include "codec/json.h"
#include "codec/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct json_scan {
    const char *p, *end;
};

static inline struct json_scan json_scan_init(struct str text)
{
    return (struct json_scan){ text.p, text.p + text.n };
}

/* Bytes up to the next quote, backslash, control character or byte that is not ASCII. */
static inline const char *json_scan_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t match = swar_json_special(swar_load(p));
        if (match)
            return p + swar_first(match);
        p += 8;
    }
    while (p < end && (uint8_t)*p >= 0x20 && (uint8_t)*p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* Bytes up to the next quote, backslash or control character. */
static inline const char *json_scan_text(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                  control = _mm_set1_epi8(0x1f);
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i match = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash));
        match = _mm_or_si128(match, _mm_cmpeq_epi8(_mm_min_epu8(x, control), x));
        unsigned found = (unsigned)_mm_movemask_epi8(match);
        if (found)
            return p + __builtin_ctz(found);
    }
#endif
    while (p < end && (uint8_t)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* The next non-blank byte, without consuming it; 0 at the end. */
static inline char json_scan_peek(struct json_scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
    return s->p < s->end ? *s->p : 0;
}

/* Consume this byte. */
static inline bool json_scan_take(struct json_scan *s, char c)
{
    if (json_scan_peek(s) != c)
        return false;
    s->p++;
    return true;
}

/*
 * To be called before each member of an object or element of an array, after the opening byte: true
 * if another one follows. first: none was read yet. At the closing byte, which is consumed, the
 * result is false and *ret_ok is true.
 */
bool json_scan_next(struct json_scan *s, char close, bool first, bool *ret_ok);
/* Read a string. ret: the bytes between its quotes, escapes not decoded; borrowed from the text. */
bool json_scan_string(struct json_scan *s, struct str *ret, bool *ret_escaped);
/* Skip any value. ret: its text, borrowed. */
bool json_scan_value(struct json_scan *s, struct str *ret);
/*
 * Read a null, bool, number or string into `v`, whose key and next are cleared. A string with
 * escapes is decoded into the arena; everything else is borrowed.
 */
bool json_scan_scalar(struct json_scan *s, struct arena *a, struct json *v);
