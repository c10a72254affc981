/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and RFC 3339; see clock.h. */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

static _Atomic uint64_t skipped_ms;

void clock_skip(uint64_t ms)
{
    skipped_ms += ms;
}

uint64_t clock_skipped_ms(void)
{
    return skipped_ms;
}

static int64_t now_ns(clockid_t id)
{
    struct timespec ts;
    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec + (int64_t)skipped_ms * 1000000;
}

uint64_t clock_mono_ns(void)
{
    return (uint64_t)now_ns(CLOCK_MONOTONIC);
}

uint64_t clock_mono_ms(void)
{
    return clock_mono_ns() / 1000000;
}

uint64_t clock_cpu_ms(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

struct timespec clock_mono_in(uint64_t ms)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    uint64_t ns = (uint64_t)ts.tv_nsec + ms % 1000 * 1000000;
    ts.tv_sec += (time_t)(ms / 1000 + ns / 1000000000);
    ts.tv_nsec = (long)(ns % 1000000000);
    return ts;
}

int64_t clock_wall_us(void)
{
    return now_ns(CLOCK_REALTIME) / 1000;
}

int64_t clock_wall_ms(void)
{
    return now_ns(CLOCK_REALTIME) / 1000000;
}

struct clock_civil {
    int64_t year;
    int month, day;
};

/* Days since 1970-01-01 to the proleptic Gregorian calendar, by 400-year eras. */
static struct clock_civil civil_of_days(int64_t days)
{
    days += 719468; /* shift to 0000-03-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    struct clock_civil c = { .day = (int)(doy - (153 * mp + 2) / 5 + 1),
                             .month = (int)(mp < 10 ? mp + 3 : mp - 9) };
    c.year = yoe + era * 400 + (c.month <= 2);
    return c;
}

static int64_t days_of_civil(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void format(int64_t wall_s, int64_t us, char out[RFC3339_MAX])
{
    int64_t days = floor_div(wall_s, 86400), rest = wall_s - days * 86400;
    struct clock_civil c = civil_of_days(days);
    int n = snprintf(out, RFC3339_MAX, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)c.year,
                     c.month, c.day, (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
    if (us >= 0)
        (void)snprintf(out + n, RFC3339_MAX - (size_t)n, ".%06dZ", (int)us);
    else
        (void)snprintf(out + n, RFC3339_MAX - (size_t)n, "Z");
}

void rfc3339_format(int64_t wall_s, char out[RFC3339_MAX])
{
    format(wall_s, -1, out);
}

void rfc3339_format_us(int64_t wall_us, char out[RFC3339_MAX])
{
    int64_t s = floor_div(wall_us, 1000000);
    format(s, wall_us - s * 1000000, out);
}

static int digits(struct str *s, size_t n, int64_t min, int64_t max, int64_t *ret)
{
    int r = parse_i64(str_slice(*s, 0, n), min, max, ret);
    if (r < 0 || s->n < n)
        return -EINVAL;
    *s = str_slice(*s, n, s->n);
    return 0;
}

static int literal(struct str *s, char a, char b)
{
    if (s->n == 0 || (s->p[0] != a && s->p[0] != b))
        return -EINVAL;
    *s = str_slice(*s, 1, s->n);
    return 0;
}

static int fraction(struct str *s, int64_t *ret_us)
{
    *ret_us = 0;
    if (s->n == 0 || s->p[0] != '.')
        return 0;
    *s = str_slice(*s, 1, s->n);
    int64_t us = 0, scale = 100000;
    size_t n = 0;
    for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++, scale /= 10)
        us += (s->p[n] - '0') * scale;
    if (n == 0)
        return -EINVAL;
    *s = str_slice(*s, n, s->n);
    *ret_us = us;
    return 0;
}

static int offset(struct str *s, int64_t *ret_s)
{
    int64_t h, m;
    *ret_s = 0;
    if (literal(s, 'Z', 'z') == 0)
        return 0;
    bool neg = s->n && s->p[0] == '-';
    if (literal(s, '+', '-') < 0 || digits(s, 2, 0, 23, &h) < 0 || literal(s, ':', ':') < 0 ||
        digits(s, 2, 0, 59, &m) < 0)
        return -EINVAL;
    *ret_s = (h * 60 + m) * (neg ? -60 : 60);
    return 0;
}

int rfc3339_parse(struct str s, int64_t *ret_wall_us)
{
    static const uint8_t month_days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int64_t y, mo, d, h, mi, sec, us, off;
    if (digits(&s, 4, 0, 9999, &y) < 0 || literal(&s, '-', '-') < 0 ||
        digits(&s, 2, 1, 12, &mo) < 0 || literal(&s, '-', '-') < 0 ||
        digits(&s, 2, 1, month_days[mo - 1], &d) < 0 || literal(&s, 'T', 't') < 0 ||
        digits(&s, 2, 0, 23, &h) < 0 || literal(&s, ':', ':') < 0 ||
        digits(&s, 2, 0, 59, &mi) < 0 || literal(&s, ':', ':') < 0 ||
        digits(&s, 2, 0, 60, &sec) < 0 || fraction(&s, &us) < 0 || offset(&s, &off) < 0 || s.n)
        return -EINVAL;
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    if (mo == 2 && d == 29 && !leap)
        return -EINVAL;
    int64_t wall_s = days_of_civil(y, mo, d) * 86400 + h * 3600 + mi * 60 + sec - off;
    *ret_wall_us = wall_s * 1000000 + us;
    return 0;
}
