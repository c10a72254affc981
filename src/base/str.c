/* SPDX-License-Identifier: Apache-2.0 */
/* String views, number parsers, bounded reader; see str.h. */
#include "base/str.h"

#include "base/mem.h"

#include <endian.h>
#include <errno.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_ieq(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = MIN(a.n, b.n);
    int r = n ? memcmp(a.p, b.p, n) : 0;
    if (r)
        return r;
    return a.n < b.n ? -1 : a.n > b.n;
}

bool str_has_prefix(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_has_suffix(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

ptrdiff_t str_find_char(struct str s, char c)
{
    const char *p = s.n ? memchr(s.p, c, s.n) : NULL;
    return p ? p - s.p : -1;
}

ptrdiff_t str_find(struct str s, struct str needle)
{
    if (needle.n == 0)
        return 0;
    const char *p = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
    return p ? p - s.p : -1;
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.n)
        to = s.n;
    if (from >= to)
        return (struct str){ s.p ? s.p + MIN(from, s.n) : s.p, 0 };
    return (struct str){ s.p + from, to - from };
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.n && is_blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_cut(struct str s, char sep, struct str *head, struct str *tail)
{
    ptrdiff_t at = str_find_char(s, sep);
    if (at < 0) {
        *head = s;
        *tail = (struct str){ s.p ? s.p + s.n : NULL, 0 };
        return false;
    }
    *head = str_slice(s, 0, (size_t)at);
    *tail = str_slice(s, (size_t)at + 1, s.n);
    return true;
}

char *str_dup(struct str s)
{
    return xstrndup(s.p, s.n);
}

char *str_dup_arena(struct arena *a, struct str s)
{
    return arena_strndup(a, s.p, s.n);
}

struct str str_copy_arena(struct arena *a, struct str s)
{
    return (struct str){ arena_strndup(a, s.p, s.n), s.n };
}

struct str str_lower_arena(struct arena *a, struct str s)
{
    char *p = str_dup_arena(a, s);
    for (size_t i = 0; i < s.n; i++)
        p[i] = lower(p[i]);
    return str_n(p, s.n);
}

/* Length of the well-formed sequence at p, 0 if there is none (RFC 3629 section 4). */
static size_t utf8_len(const uint8_t *p, size_t n)
{
    static const uint8_t lowest[5] = { 0, 0, 0x80, 0xa0, 0x90 };
    uint8_t c = p[0];
    if (c < 0x80)
        return 1;
    size_t len = c >= 0xc2 && c <= 0xdf   ? 2
                 : (c & 0xf0) == 0xe0     ? 3
                 : c >= 0xf0 && c <= 0xf4 ? 4
                                          : 0;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && p[1] < lowest[3]) || (c == 0xed && p[1] > 0x9f) ||
        (c == 0xf0 && p[1] < lowest[4]) || (c == 0xf4 && p[1] > 0x8f))
        return 0;
    return len;
}

bool str_is_utf8(struct str s)
{
    const uint8_t *p = (const uint8_t *)s.p;
    size_t n = s.n;
    while (n) {
        size_t len = utf8_len(p, n);
        if (len == 0)
            return false;
        p += len;
        n -= len;
    }
    return true;
}

bool str_is_secret(struct str shown, const char *secret)
{
    size_t n = strlen(secret);
    unsigned differs = shown.n != n;
    for (size_t i = 0; i < n; i++)
        differs |=
            (unsigned)(unsigned char)secret[i] ^ (i < shown.n ? (unsigned char)shown.p[i] : 0u);
    return differs == 0;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ULL;
    h ^= h >> 33;
    return h;
}

uint64_t str_hash(struct str s, uint64_t seed)
{
    uint64_t h = seed ^ (s.n * 0x9e3779b97f4a7c15ULL);
    const char *p = s.p;
    size_t n = s.n;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = mix(h ^ w) + seed;
    }
    uint64_t tail = 0;
    if (n)
        memcpy(&tail, p, n);
    return mix(h ^ tail ^ ((uint64_t)n << 56));
}

int parse_u64(struct str s, uint64_t min, uint64_t max, uint64_t *ret)
{
    uint64_t v = 0;
    bool over = false;
    if (s.n == 0)
        return -EINVAL;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -EINVAL;
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            over = true;
    }
    if (over || v < min || v > max)
        return -ERANGE;
    *ret = v;
    return 0;
}

int parse_i64(struct str s, int64_t min, int64_t max, int64_t *ret)
{
    bool neg = s.n && s.p[0] == '-';
    uint64_t v;
    int r = parse_u64(neg ? str_slice(s, 1, s.n) : s, 0,
                      neg ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, &v);
    if (r < 0)
        return r;
    int64_t i = neg ? (int64_t)(0 - v) : (int64_t)v;
    if (i < min || i > max)
        return -ERANGE;
    *ret = i;
    return 0;
}

static bool rd_take(struct rd *r, void *to, size_t n)
{
    if (r->failed || r->n < n) {
        r->failed = true;
        memset(to, 0, n);
        return false;
    }
    memcpy(to, r->p, n);
    r->p += n;
    r->n -= n;
    return true;
}

uint8_t rd_u8(struct rd *r)
{
    uint8_t v;
    (void)rd_take(r, &v, sizeof v);
    return v;
}

uint16_t rd_le16(struct rd *r)
{
    uint16_t v;
    (void)rd_take(r, &v, sizeof v);
    return le16toh(v);
}

uint32_t rd_le32(struct rd *r)
{
    uint32_t v;
    (void)rd_take(r, &v, sizeof v);
    return le32toh(v);
}

uint64_t rd_le64(struct rd *r)
{
    uint64_t v;
    (void)rd_take(r, &v, sizeof v);
    return le64toh(v);
}

uint32_t rd_be32(struct rd *r)
{
    uint32_t v;
    (void)rd_take(r, &v, sizeof v);
    return be32toh(v);
}

struct str rd_str(struct rd *r, uint64_t n)
{
    if (r->failed || r->n < n) {
        r->failed = true;
        return STR("");
    }
    struct str s = str_n(r->p, (size_t)n);
    r->p += n;
    r->n -= (size_t)n;
    return s;
}
