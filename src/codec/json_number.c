/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers; see json_number.h.
 *
 * The C library's conversions are used only on texts without a decimal point ("12345e-3"), because
 * the point depends on the locale.
 */
#include "codec/json_number.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum {
    EXACT_DIGITS = 780,        /* more digits than any boundary between two doubles has (767) */
    EXPONENT_CAP = 1000000000, /* larger exponents are treated as this */
    SHORT_MAX = 19             /* decimal digits that always fit an uint64_t */
};

/*
 * A decomposed number: value = sign 0.d1d2d3... * 10^point, d1 and the last digit not 0. The digits
 * are those of `text` from `first` on, without the point.
 */
struct decimal {
    const char *first, *end; /* end: after the last significant digit */
    size_t n;                /* significant digits; 0 for zero */
    int64_t point;
    bool negative;
};

static bool is_digit(char c)
{
    return (uint8_t)(c - '0') < 10;
}

static int64_t read_exponent(const char *p, const char *end)
{
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    int64_t v = 0;
    for (; p < end && v < EXPONENT_CAP; p++)
        v = v * 10 + (*p - '0');
    v = MIN(v, (int64_t)EXPONENT_CAP);
    return negative ? -v : v;
}

static struct decimal take_apart(struct str text)
{
    struct decimal d = { 0 };
    const char *p = text.p, *end = text.p + text.n;
    if (p < end && *p == '-') {
        d.negative = true;
        p++;
    }
    int64_t before_point = 0; /* digits before the point, from the first significant one */
    size_t pending = 0;       /* zeros that count only if another digit follows */
    bool past_point = false;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            past_point = true;
            continue;
        }
        if (d.n == 0 && *p == '0') {
            before_point -= past_point;
            continue;
        }
        before_point += !past_point;
        if (*p == '0') {
            pending++;
            continue;
        }
        if (d.n == 0)
            d.first = p;
        d.n += pending + 1;
        pending = 0;
        d.end = p + 1;
    }
    if (d.n == 0)
        return (struct decimal){ 0 };
    d.point = before_point + (p < end ? read_exponent(p + 1, end) : 0);
    return d;
}

/* The digit at *p, skipping the decimal point; advances *p. */
static char next_digit(const char **p)
{
    if (**p == '.')
        ++*p;
    return *(*p)++;
}

bool json_number_equal(struct str a, struct str b)
{
    if (str_eq(a, b))
        return true;
    struct decimal x = take_apart(a), y = take_apart(b);
    if (x.n != y.n || x.point != y.point || x.negative != y.negative)
        return false;
    const char *p = x.first, *q = y.first;
    for (size_t i = 0; i < x.n; i++)
        if (next_digit(&p) != next_digit(&q))
            return false;
    return true;
}

int json_number_to_int(struct str text, int64_t *ret)
{
    int r = parse_i64(text, INT64_MIN, INT64_MAX, ret);
    if (r == 0)
        return 0;
    struct decimal d = take_apart(text);
    if (d.n == 0) {
        *ret = 0;
        return 0;
    }
    if (d.point < (int64_t)d.n || d.point > SHORT_MAX)
        return -EINVAL;
    uint64_t v = 0;
    const char *p = d.first;
    for (int64_t i = 0; i < d.point; i++)
        v = v * 10 + (i < (int64_t)d.n ? (uint64_t)(next_digit(&p) - '0') : 0);
    if (v > (uint64_t)INT64_MAX + d.negative)
        return -EINVAL;
    *ret = (int64_t)(d.negative ? -v : v);
    return 0;
}

/* mantissa * 10^exponent where both the mantissa and the power are exact doubles. */
static bool exact_product(uint64_t mantissa, int64_t exponent, double *ret)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    if (mantissa > UINT64_C(1) << 53 || exponent < -22 || exponent > 22)
        return false;
    *ret =
        exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
    return true;
}

/* Of the digits beyond EXACT_DIGITS only their presence can change the result. */
static double long_to_float(const struct decimal *d)
{
    char text[EXACT_DIGITS + 32];
    size_t n = MIN(d->n, (size_t)EXACT_DIGITS);
    const char *p = d->first;
    for (size_t i = 0; i < n; i++)
        text[i] = next_digit(&p);
    if (n < d->n)
        text[n - 1] = '1';
    (void)snprintf(text + n, sizeof text - n, "e%lld", (long long)(d->point - (int64_t)n));
    return strtod(text, NULL);
}

int json_number_to_float(struct str text, double *ret)
{
    struct decimal d = take_apart(text);
    double v = 0;
    uint64_t mantissa = 0;
    const char *p = d.first;
    if (d.n <= SHORT_MAX)
        for (size_t i = 0; i < d.n; i++)
            mantissa = mantissa * 10 + (uint64_t)(next_digit(&p) - '0');
    if (d.n > SHORT_MAX || !exact_product(mantissa, d.point - (int64_t)d.n, &v))
        v = long_to_float(&d);
    if (!isfinite(v))
        return -EINVAL;
    bool negative = text.n && text.p[0] == '-'; /* -0 keeps its sign */
    *ret = negative ? -v : v;
    return 0;
}

/* ---- double -> shortest text ---- */

/* value = d1d2...dn * 10^(exponent - n + 1), that is d1.d2...dn * 10^exponent */
struct digits {
    char d[20];
    int n;
    int exponent;
};

static void round_to(double v, int n, struct digits *ret)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.*e", n - 1, v);
    const char *p = text;
    ret->n = 0;
    for (; *p && *p != 'e'; p++)
        if (is_digit(*p))
            ret->d[ret->n++] = *p;
    ret->exponent = (int)read_exponent(p + 1, text + strlen(text));
    assert(ret->n == n);
}

static bool reads_back(const struct digits *g, double v)
{
    char text[48];
    (void)snprintf(text, sizeof text, "%.*se%d", g->n, g->d, g->exponent - g->n + 1);
    return strtod(text, NULL) == v;
}

/* The next larger number with the same number of digits; false: that needs another digit. */
static bool step_up(struct digits *g)
{
    int i = g->n - 1;
    while (i >= 0 && g->d[i] == '9')
        g->d[i--] = '0';
    if (i < 0)
        return false;
    g->d[i]++;
    return true;
}

/*
 * The nearest number with n digits is the right one, except just above a power of two, where the
 * doubles below are closer together than those above: there its upper neighbour may be the right
 * one.
 */
static void shortest(double v, struct digits *ret)
{
    int exponent;
    bool power_of_two = frexp(v, &exponent) == 0.5;
    for (int n = 1; n < 17; n++) {
        round_to(v, n, ret);
        if (reads_back(ret, v))
            return;
        if (power_of_two && step_up(ret) && reads_back(ret, v))
            return;
    }
    round_to(v, 17, ret);
}

static size_t put_exponential(char *out, const struct digits *g)
{
    char *p = out;
    *p++ = g->d[0];
    if (g->n > 1) {
        *p++ = '.';
        memcpy(p, g->d + 1, (size_t)g->n - 1);
        p += g->n - 1;
    }
    p += snprintf(p, 8, "e%+d", g->exponent);
    return (size_t)(p - out);
}

static size_t put_plain(char *out, const struct digits *g)
{
    char *p = out;
    int i = 0;
    if (g->exponent < 0)
        *p++ = '0';
    for (; i <= g->exponent; i++)
        *p++ = i < g->n ? g->d[i] : '0';
    if (i < g->n || g->exponent < 0)
        *p++ = '.';
    for (int zero = g->exponent + 1; zero < 0; zero++)
        *p++ = '0';
    for (; i < g->n; i++)
        *p++ = g->d[i];
    return (size_t)(p - out);
}

size_t json_number_from_float(double v, char out[NUMBER_FLOAT_MAX])
{
    assert(isfinite(v));
    char *p = out;
    if (signbit(v))
        *p++ = '-';
    v = fabs(v);
    if (v < 9007199254740992.0 && v == (double)(uint64_t)v)
        return (size_t)(p - out) + (size_t)snprintf(p, 24, "%llu", (unsigned long long)v);
    struct digits g;
    shortest(v, &g);
    p += v < 1e-6 || v >= 1e21 ? put_exponential(p, &g) : put_plain(p, &g);
    return (size_t)(p - out);
}
