/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include <string.h>

#define DAY_S          86400u
#define DURATION_MAX_S (100ull * 365 * DAY_S)
#define SEARCH_DAYS    (8u * 366) /* the 29th of February comes at least that often */

/* ---- durations ---- */

static uint32_t unit_of(char c)
{
    switch (c) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return DAY_S;
    case 'w':
        return 7 * DAY_S;
    default:
        return 0;
    }
}

/* Digits at the front of *s, at most 9 of them. */
static bool take_number(struct dm_str *s, uint32_t *ret)
{
    size_t n = 0;
    uint32_t v = 0;
    for (; n < s->n && n < 9 && s->p[n] >= '0' && s->p[n] <= '9'; n++)
        v = 10 * v + (uint32_t)(s->p[n] - '0');
    *s = (struct dm_str){ s->p + n, s->n - n };
    *ret = v;
    return n > 0;
}

static bool take_char(struct dm_str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = (struct dm_str){ s->p + 1, s->n - 1 };
    return true;
}

bool duration_parse(struct dm_str text, uint64_t *ret_s)
{
    uint64_t sum = 0;
    if (!text.n)
        return false;
    while (text.n) {
        uint32_t v;
        if (!take_number(&text, &v) || !text.n || !unit_of(text.p[0]))
            return false;
        sum += (uint64_t)v * unit_of(text.p[0]);
        (void)take_char(&text, text.p[0]);
        if (sum > DURATION_MAX_S)
            return false;
    }
    *ret_s = sum;
    return true;
}

/* ---- cron ---- */

struct field {
    const char *what;
    uint32_t min, max;
    const char *names; /* three letters each, beginning with the value `min` */
};

static const struct field fields[] = {
    { "the minute is not 0 to 59", 0, 59, "" },
    { "the hour is not 0 to 23", 0, 23, "" },
    { "the day is not 1 to 31", 1, 31, "" },
    { "the month is not 1 to 12 or jan to dec", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec" },
    { "the weekday is not 0 to 7 or sun to sat", 0, 7, "sunmontuewedthufrisat" },
};

static bool take_value(struct dm_str *s, const struct field *f, uint32_t *ret)
{
    for (uint32_t i = 0; s->n >= 3 && f->names[3 * i]; i++) {
        char lower[3];
        for (int k = 0; k < 3; k++)
            lower[k] = (char)(s->p[k] | 0x20);
        if (memcmp(lower, f->names + 3 * i, 3) == 0) {
            *s = (struct dm_str){ s->p + 3, s->n - 3 };
            *ret = f->min + i;
            return true;
        }
    }
    return take_number(s, ret) && *ret >= f->min && *ret <= f->max;
}

/* "*", "5", "1-5", each with "/2" behind it. */
static bool take_range(struct dm_str *s, const struct field *f, uint64_t *bits)
{
    uint32_t from = f->min, to = f->max, step = 1;
    bool star = take_char(s, '*'), open = star;
    if (!star) {
        if (!take_value(s, f, &from))
            return false;
        to = from;
        if (take_char(s, '-') && (!take_value(s, f, &to) || to < from))
            return false;
        open = to == from;
    }
    if (take_char(s, '/')) {
        if (!take_number(s, &step) || !step)
            return false;
        to = open ? f->max : to; /* "5/10": from 5 on */
    }
    for (uint32_t v = from; v <= to; v += step)
        *bits |= 1ull << v;
    return true;
}

static bool take_field(struct dm_str *s, const struct field *f, uint64_t *ret)
{
    uint64_t bits = 0;
    do
        if (!take_range(s, f, &bits))
            return false;
    while (take_char(s, ','));
    *ret = bits;
    return !s->n || s->p[0] == ' ';
}

static void skip_spaces(struct dm_str *s)
{
    while (take_char(s, ' '))
        ;
}

static struct dm_str without_macro(struct dm_str text)
{
    static const struct {
        const char *name, *cron;
    } rows[] = {
        { "@hourly", "0 * * * *" },   { "@daily", "0 0 * * *" },   { "@midnight", "0 0 * * *" },
        { "@weekly", "0 0 * * 0" },   { "@monthly", "0 0 1 * *" }, { "@yearly", "0 0 1 1 *" },
        { "@annually", "0 0 1 1 *" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (dm_str_is(text, rows[i].name))
            return dm_str(rows[i].cron);
    return text;
}

static bool parse_every(struct dm_str text, struct schedule *ret, const char **ret_why)
{
    uint64_t s;
    *ret_why = "what follows '@every' is no duration of a minute or more, such as 10m";
    skip_spaces(&text);
    if (!duration_parse(text, &s) || s < 60 || s > UINT32_MAX)
        return false;
    *ret = (struct schedule){ .every_s = (uint32_t)s };
    return true;
}

bool schedule_parse(struct dm_str text, struct schedule *ret, const char **ret_why)
{
    static const char every[] = "@every";
    uint64_t bits[5];
    bool star[5];
    if (text.n >= sizeof(every) - 1 && memcmp(text.p, every, sizeof(every) - 1) == 0)
        return parse_every(
            (struct dm_str){ text.p + sizeof(every) - 1, text.n - sizeof(every) + 1 }, ret,
            ret_why);
    text = without_macro(text);
    for (size_t i = 0; i < 5; i++) {
        skip_spaces(&text);
        star[i] = text.n && text.p[0] == '*';
        *ret_why =
            text.n ? fields[i].what : "a schedule has five fields: minute hour day month weekday";
        if (!take_field(&text, &fields[i], &bits[i]))
            return false;
    }
    skip_spaces(&text);
    *ret_why = "something follows the fifth field";
    if (text.n)
        return false;
    *ret = (struct schedule){
        .minutes = bits[0],
        .hours = (uint32_t)bits[1],
        .days = (uint32_t)bits[2],
        .months = (uint32_t)bits[3],
        .weekdays = (uint32_t)((bits[4] | bits[4] >> 7) & 0x7f), /* 7 is Sunday too */
        .any_day = star[2],
        .any_weekday = star[4],
    };
    return true;
}

static bool is_day(const struct schedule *s, uint64_t days)
{
    uint32_t year, month, day, weekday = (uint32_t)((days + 4) % 7); /* 1970 began on a Thursday */
    dm_civil_date(days, &year, &month, &day);
    bool on_day = s->days >> day & 1, on_weekday = s->weekdays >> weekday & 1;
    if (!(s->months >> month & 1))
        return false;
    return s->any_day || s->any_weekday ? on_day && on_weekday : on_day || on_weekday;
}

/* The first minute of the day from `from` on; 1440: none. */
static uint32_t minute_of_day(const struct schedule *s, uint32_t from)
{
    for (uint32_t m = from; m < 1440; m++)
        if (s->hours >> (m / 60) & 1 && s->minutes >> (m % 60) & 1)
            return m;
    return 1440;
}

uint64_t schedule_next(const struct schedule *s, uint64_t after_s)
{
    if (s->every_s)
        return after_s + s->every_s;
    uint64_t minute = after_s / 60 + 1, day = minute / 1440;
    uint32_t from = (uint32_t)(minute % 1440);
    for (unsigned i = 0; i < SEARCH_DAYS; i++, day++, from = 0) {
        uint32_t m = is_day(s, day) ? minute_of_day(s, from) : 1440;
        if (m < 1440)
            return day * DAY_S + m * 60ull;
    }
    return 0;
}
