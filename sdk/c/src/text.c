/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/text.h"

#include "dm/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 120u

struct dm_str dm_str(const char *s)
{
    return (struct dm_str){ s, s ? strlen(s) : 0 };
}

bool dm_str_eq(struct dm_str a, struct dm_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool dm_str_is(struct dm_str a, const char *s)
{
    return dm_str_eq(a, dm_str(s));
}

/* Not memchr(): libc's is unrolled into a kilobyte of machine code, which every module carries. */
size_t dm_find_char(struct dm_str s, char c)
{
    size_t i = 0;
    while (i < s.n && s.p[i] != c)
        i++;
    return i;
}

uint64_t dm_hash(const void *p, size_t n, uint64_t seed)
{
    uint64_t h = 14695981039346656037u ^ seed;
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211u;
    return h;
}

void dm_text_fini(struct dm_text *t)
{
    dm_free(t->p);
    *t = (struct dm_text){ 0 };
}

static void reserve(struct dm_text *t, size_t more)
{
    if (more > DM_TEXT_MAX || t->n + more > DM_TEXT_MAX)
        abort();
    size_t need = t->n + more + 1;
    if (need <= t->cap)
        return;
    size_t cap = t->cap ? t->cap : FIRST_CAP;
    while (cap < need)
        cap *= 2;
    t->p = dm_realloc(t->p, cap);
    t->cap = cap;
}

void dm_text_put(struct dm_text *t, const void *p, size_t n)
{
    reserve(t, n);
    if (n)
        memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}

void dm_text_str(struct dm_text *t, struct dm_str s)
{
    dm_text_put(t, s.p, s.n);
}

void dm_text_char(struct dm_text *t, char c)
{
    dm_text_put(t, &c, 1);
}

void dm_text_le(struct dm_text *t, uint64_t v, unsigned n_bytes)
{
    reserve(t, n_bytes);
    for (unsigned i = 0; i < n_bytes; i++)
        dm_text_char(t, (char)(unsigned char)(v >> (8 * i)));
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void dm_text_uri(struct dm_text *t, struct dm_str s)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (is_unreserved(s.p[i])) {
            dm_text_char(t, s.p[i]);
            continue;
        }
        dm_text_char(t, '%');
        dm_text_char(t, hex[c >> 4]);
        dm_text_char(t, hex[c & 15]);
    }
}

struct dm_str dm_text_view(const struct dm_text *t)
{
    return (struct dm_str){ t->p ? t->p : "", t->n };
}

static void put_number(struct dm_text *t, uint64_t v, unsigned radix, bool negative)
{
    char digits[24];
    size_t i = sizeof(digits);
    do {
        digits[--i] = "0123456789abcdef"[v % radix];
        v /= radix;
    } while (v);
    if (negative)
        digits[--i] = '-';
    dm_text_put(t, digits + i, sizeof(digits) - i);
}

/* One conversion of a format: where it is and what its arguments are. */
struct conversion {
    va_list ap;
    const char *at;
    size_t size;   /* of an integer argument */
    int precision; /* of a string; -1: up to its NUL */
};

static void read_modifiers(struct conversion *c)
{
    c->size = sizeof(int);
    c->precision = -1;
    if (c->at[0] == '.' && c->at[1] == '*') {
        c->precision = va_arg(c->ap, int);
        c->at += 2;
    }
    for (;; c->at++) {
        if (c->at[0] == 'l' && c->at[1] == 'l')
            c->size = sizeof(long long);
        else if (c->at[0] == 'l' && c->size < sizeof(long))
            c->size = sizeof(long);
        else if (c->at[0] == 'z' || c->at[0] == 't')
            c->size = sizeof(size_t);
        else if (c->at[0] == 'j')
            c->size = sizeof(intmax_t);
        else if (c->at[0] != 'h' && c->at[0] != 'l')
            return;
    }
}

static int64_t take_signed(struct conversion *c)
{
    return c->size == sizeof(int64_t) ? va_arg(c->ap, int64_t) : va_arg(c->ap, int);
}

static uint64_t take_unsigned(struct conversion *c)
{
    return c->size == sizeof(uint64_t) ? va_arg(c->ap, uint64_t) : va_arg(c->ap, unsigned);
}

static void put_string(struct dm_text *t, const char *s, int precision)
{
    if (!s)
        s = "(null)";
    dm_text_put(
        t, s, precision < 0 ? strlen(s) : dm_find_char((struct dm_str){ s, (size_t)precision }, 0));
}

/* c->at is behind the '%'; afterwards on the conversion's last character. */
static void put_conversion(struct dm_text *t, struct conversion *c)
{
    const char *percent = c->at - 1;
    int64_t v;
    read_modifiers(c);
    switch (*c->at) {
    case 's':
        put_string(t, va_arg(c->ap, const char *), c->precision);
        return;
    case 'c':
        dm_text_char(t, (char)va_arg(c->ap, int));
        return;
    case 'd':
    case 'i':
        v = take_signed(c);
        put_number(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, v < 0);
        return;
    case 'u':
    case 'x':
        put_number(t, take_unsigned(c), *c->at == 'x' ? 16 : 10, false);
        return;
    case '%':
        dm_text_char(t, '%');
        return;
    default:
        dm_text_put(t, percent, (size_t)(c->at - percent) + (*c->at ? 1 : 0));
    }
}

void dm_vtextf(struct dm_text *t, const char *fmt, va_list ap)
{
    struct conversion c = { .at = fmt };
    va_copy(c.ap, ap);
    reserve(t, 0);
    while (*c.at) {
        const char *plain = c.at;
        while (*c.at && *c.at != '%')
            c.at++;
        dm_text_put(t, plain, (size_t)(c.at - plain));
        if (!*c.at++)
            break;
        put_conversion(t, &c);
        c.at += *c.at ? 1 : 0;
    }
    va_end(c.ap);
}

void dm_textf(struct dm_text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    dm_vtextf(t, fmt, ap);
    va_end(ap);
}

static void put_padded(struct dm_text *t, uint32_t v, unsigned digits)
{
    char s[8];
    for (unsigned i = digits; i-- > 0; v /= 10)
        s[i] = (char)('0' + v % 10);
    dm_text_put(t, s, digits);
}

/* Days since 1970-01-01 to a date, counting years from March so that leap days come last. */
static void civil_date(uint64_t days, uint32_t *year, uint32_t *month, uint32_t *day)
{
    uint64_t z = days + 719468;
    uint32_t era_day = (uint32_t)(z % 146097);
    uint32_t era_year = (era_day - era_day / 1460 + era_day / 36524 - era_day / 146096) / 365;
    uint32_t year_day = era_day - (365 * era_year + era_year / 4 - era_year / 100);
    uint32_t m = (5 * year_day + 2) / 153;
    *day = year_day - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = (uint32_t)(z / 146097) * 400 + era_year + (*month <= 2 ? 1 : 0);
}

void dm_text_time(struct dm_text *t, uint64_t wall_us, bool micros)
{
    uint64_t s = wall_us / 1000000;
    uint32_t year, month, day, in_day = (uint32_t)(s % 86400);
    civil_date(s / 86400, &year, &month, &day);
    put_padded(t, year, 4);
    dm_text_char(t, '-');
    put_padded(t, month, 2);
    dm_text_char(t, '-');
    put_padded(t, day, 2);
    dm_text_char(t, 'T');
    put_padded(t, in_day / 3600, 2);
    dm_text_char(t, ':');
    put_padded(t, in_day / 60 % 60, 2);
    dm_text_char(t, ':');
    put_padded(t, in_day % 60, 2);
    if (micros) {
        dm_text_char(t, '.');
        put_padded(t, (uint32_t)(wall_us % 1000000), 6);
    }
    dm_text_char(t, 'Z');
}

bool dm_parse_i64(struct dm_str s, int64_t *ret)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    uint64_t v = 0, max = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    size_t i = negative ? 1 : 0;
    if (i == s.n)
        return false;
    for (; i < s.n; i++) {
        unsigned d = (unsigned)(unsigned char)s.p[i] - '0';
        if (d > 9 || v > (max - d) / 10)
            return false;
        v = 10 * v + d;
    }
    *ret = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}
