/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

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

static void read_modifiers(struct dm_conversion *c)
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

static int64_t take_signed(struct dm_conversion *c)
{
    return c->size == sizeof(int64_t) ? va_arg(c->ap, int64_t) : va_arg(c->ap, int);
}

static uint64_t take_unsigned(struct dm_conversion *c)
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
static void put_conversion(struct dm_text *t, struct dm_conversion *c)
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

void dm_conversion_init(struct dm_conversion *c, const char *fmt, va_list ap)
{
    c->at = fmt;
    va_copy(c->ap, ap);
}

void dm_conversion_fini(struct dm_conversion *c)
{
    va_end(c->ap);
}

void dm_text_convert_one(struct dm_text *t, struct dm_conversion *c)
{
    if (*c->at++ != '%') {
        dm_text_char(t, c->at[-1]);
        return;
    }
    put_conversion(t, c);
    c->at += *c->at ? 1 : 0;
}

void dm_text_convert(struct dm_text *t, struct dm_conversion *c, char until)
{
    while (*c->at && *c->at != until)
        dm_text_convert_one(t, c);
}

void dm_vtextf(struct dm_text *t, const char *fmt, va_list ap)
{
    struct dm_conversion c;
    dm_conversion_init(&c, fmt, ap);
    reserve(t, 0);
    dm_text_convert(t, &c, 0);
    dm_conversion_fini(&c);
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

/* Years are counted from March so that leap days come last. */
void dm_civil_date(uint64_t days, uint32_t *year, uint32_t *month, uint32_t *day)
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
    dm_civil_date(s / 86400, &year, &month, &day);
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

/* ---- reading ---- */

static bool read_digits(struct dm_str *s, unsigned n, uint32_t min, uint32_t max, uint32_t *ret)
{
    uint32_t v = 0;
    if (s->n < n)
        return false;
    for (unsigned i = 0; i < n; i++) {
        unsigned d = (unsigned)(unsigned char)s->p[i] - '0';
        if (d > 9)
            return false;
        v = 10 * v + d;
    }
    *s = (struct dm_str){ s->p + n, s->n - n };
    *ret = v;
    return v >= min && v <= max;
}

static bool read_char(struct dm_str *s, const char *any_of)
{
    if (!s->n || !strchr(any_of, s->p[0]) || !s->p[0])
        return false;
    *s = (struct dm_str){ s->p + 1, s->n - 1 };
    return true;
}

/* The reverse of dm_civil_date(). */
static uint64_t days_of(uint32_t year, uint32_t month, uint32_t day)
{
    uint32_t y = month <= 2 ? year - 1 : year, m = month > 2 ? month - 3 : month + 9;
    uint32_t era = y / 400, era_year = y % 400;
    uint32_t year_day = (153 * m + 2) / 5 + day - 1;
    return (uint64_t)era * 146097 + era_year * 365 + era_year / 4 - era_year / 100 + year_day -
           719468;
}

/* ".123456789": digits after the sixth are dropped. */
static bool read_micros(struct dm_str *s, uint32_t *ret)
{
    uint32_t scale = 100000, v = 0, digit;
    *ret = 0;
    if (!read_char(s, "."))
        return true;
    if (!read_digits(s, 1, 0, 9, &v))
        return false;
    for (*ret = v * scale; read_digits(s, 1, 0, 9, &digit); *ret += digit * scale)
        scale /= 10;
    return true;
}

static bool read_zone(struct dm_str *s, int64_t *ret_s)
{
    uint32_t h, m;
    *ret_s = 0;
    if (read_char(s, "Zz"))
        return true;
    bool west = s->n && s->p[0] == '-';
    if (!read_char(s, "+-") || !read_digits(s, 2, 0, 23, &h) || !read_char(s, ":") ||
        !read_digits(s, 2, 0, 59, &m))
        return false;
    *ret_s = (west ? -60 : 60) * (int64_t)(60 * h + m);
    return true;
}

bool dm_parse_time(struct dm_str s, uint64_t *ret_wall_us)
{
    uint32_t year, month, day, hour, minute, second, micros;
    int64_t zone_s;
    if (!read_digits(&s, 4, 1970, 9999, &year) || !read_char(&s, "-") ||
        !read_digits(&s, 2, 1, 12, &month) || !read_char(&s, "-") ||
        !read_digits(&s, 2, 1, 31, &day) || !read_char(&s, "Tt ") ||
        !read_digits(&s, 2, 0, 23, &hour) || !read_char(&s, ":") ||
        !read_digits(&s, 2, 0, 59, &minute) || !read_char(&s, ":") ||
        !read_digits(&s, 2, 0, 60, &second) || !read_micros(&s, &micros) ||
        !read_zone(&s, &zone_s) || s.n)
        return false;
    int64_t at = (int64_t)days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    if (at < zone_s)
        return false;
    *ret_wall_us = (uint64_t)(at - zone_s) * 1000000 + micros;
    return true;
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
