/* SPDX-License-Identifier: Apache-2.0 */
/* See json_scan.h. */
#include "codec/json_scan.h"

#include <string.h>

bool json_scan_next(struct json_scan *s, char close, bool first, bool *ret_ok)
{
    char c = json_scan_peek(s);
    *ret_ok = c == close || (c != 0 && first) || c == ',';
    if (c == close || !*ret_ok) {
        s->p += c == close;
        return false;
    }
    s->p += !first;
    return true;
}

bool json_scan_string(struct json_scan *s, struct str *ret, bool *ret_escaped)
{
    if (!json_scan_take(s, '"'))
        return false;
    const char *from = s->p, *p = from;
    *ret_escaped = false;
    for (;;) {
        p = json_scan_text(p, s->end);
        if (p == s->end || (uint8_t)*p < 0x20)
            return false;
        if (*p == '"')
            break;
        *ret_escaped = true;
        if (s->end - p < 2)
            return false;
        p += 2;
    }
    *ret = (struct str){ from, (size_t)(p - from) };
    s->p = p + 1;
    return true;
}

/* Whether c can be part of a number or a word. */
static bool is_scalar_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
           c == 'E';
}

#ifdef __SSE2__

/* Classes of 64 bytes, one bit for each byte. */
struct json_scan_block {
    uint64_t quotes, slashes, opening, closing;
};

static struct json_scan_block read_block(const char *p)
{
    struct json_scan_block b = { 0 };
    for (unsigned i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(p + 16 * i));
        __m128i folded = _mm_or_si128(x, _mm_set1_epi8(0x20)); /* [ as {, ] as } */
        b.quotes |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('"'))) << 16 * i;
        b.slashes |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\'))) << 16 * i;
        b.opening |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')))
                     << 16 * i;
        b.closing |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')))
                     << 16 * i;
    }
    return b;
}

/* The bytes after a backslash that is not itself escaped. *carry: the block ends in such a
 * backslash. */
static uint64_t escaped_bytes(uint64_t slashes, uint64_t *carry)
{
    uint64_t escaped = *carry;
    *carry = 0;
    slashes &= ~escaped;
    while (slashes) {
        uint64_t first = slashes & -slashes;
        escaped |= first << 1;
        *carry = first >> 63;
        slashes &= ~(first | first << 1);
    }
    return escaped;
}

/* Bit i: whether an odd number of the bits 0..i is set. */
static uint64_t parities(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* The bit of the bracket that brings the depth to 0; 64: none. */
static unsigned closing_bit(const struct json_scan_block *b, size_t *depth)
{
    size_t n_closing = (size_t)__builtin_popcountll(b->closing);
    if (n_closing < *depth) {
        *depth += (size_t)__builtin_popcountll(b->opening) - n_closing;
        return 64;
    }
    for (uint64_t braces = b->opening | b->closing; braces; braces &= braces - 1) {
        *depth += b->opening & braces & -braces ? 1 : (size_t)-1;
        if (*depth == 0)
            return (unsigned)__builtin_ctzll(braces);
    }
    return 64;
}

/* Skip the object or array that begins here, by counting the brackets outside strings. */
static bool skip_container(struct json_scan *s)
{
    uint64_t in_string = 0, carry = 0; /* of the previous block: all bits or none; the lowest */
    size_t depth = 0;
    for (size_t left; (left = (size_t)(s->end - s->p)) > 0; s->p += MIN(left, 64)) {
        char last[64];
        if (left < sizeof last) {
            memset(last, 0, sizeof last);
            memcpy(last, s->p, left);
        }
        struct json_scan_block b = read_block(left < sizeof last ? last : s->p);
        if (b.slashes | carry)
            b.quotes &= ~escaped_bytes(b.slashes, &carry);
        uint64_t strings = parities(b.quotes) ^ in_string;
        in_string = (uint64_t)((int64_t)strings >> 63);
        b.opening &= ~strings;
        b.closing &= ~strings;
        unsigned at = closing_bit(&b, &depth);
        if (at < 64) {
            s->p += at + 1;
            return true;
        }
    }
    return false;
}

#else

static bool skip_container(struct json_scan *s)
{
    struct str skipped;
    bool escaped;
    size_t depth = 0;
    do {
        switch (json_scan_peek(s)) {
        case 0:
            return false;
        case '"':
            if (!json_scan_string(s, &skipped, &escaped))
                return false;
            continue;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            depth--;
            break;
        default:
            break;
        }
        s->p++;
    } while (depth);
    return true;
}

#endif

bool json_scan_value(struct json_scan *s, struct str *ret)
{
    struct str text;
    bool escaped;
    char c = json_scan_peek(s);
    const char *from = s->p;
    if (c == '"') {
        if (!json_scan_string(s, &text, &escaped))
            return false;
    } else if (c == '{' || c == '[') {
        if (!skip_container(s))
            return false;
    } else {
        while (s->p < s->end && is_scalar_byte(*s->p))
            s->p++;
    }
    *ret = (struct str){ from, (size_t)(s->p - from) };
    return ret->n > 0;
}

static bool decode(struct arena *a, struct str quoted, struct json *v)
{
    struct json *parsed;
    if (json_parse(a, quoted, NULL, &parsed, NULL) < 0)
        return false;
    *v = *parsed;
    return true;
}

bool json_scan_scalar(struct json_scan *s, struct arena *a, struct json *v)
{
    struct str text;
    bool escaped;
    char c = json_scan_peek(s);
    *v = (struct json){ .type = JSON_STRING };
    if (c == '"') {
        const char *from = s->p;
        if (!json_scan_string(s, &v->s, &escaped))
            return false;
        return !escaped || decode(a, str_n(from, (size_t)(s->p - from)), v);
    }
    if (c == '{' || c == '[' || !json_scan_value(s, &text))
        return false;
    v->s = text;
    v->type = JSON_NUMBER;
    if (c == '-' || (c >= '0' && c <= '9'))
        return true;
    v->s = STR("");
    v->type = c == 't' ? JSON_TRUE : c == 'f' ? JSON_FALSE : JSON_NULL;
    return str_is(text, c == 't' ? "true" : c == 'f' ? "false" : "null");
}
