/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules; see cron.h. */
#include "base/cron.h"

#include "base/mem.h"

enum { DAY_S = 86400, COUNT_MAX = 100000, EVERY_MAX_S = 366 * 86400 };

struct cron_set {
    const char *what;
    unsigned min, max;
    const char *const *names; /* of min, min + 1, ... */
    size_t n_names;
};

static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun",
                                           "jul", "aug", "sep", "oct", "nov", "dec" };
static const char *const day_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const struct cron_set fields[N_FIELDS] = {
    [MINUTE] = { "minute", 0, 59, NULL, 0 },
    [HOUR] = { "hour", 0, 23, NULL, 0 },
    [DAY] = { "day of month", 1, 31, NULL, 0 },
    [MONTH] = { "month", 1, 12, month_names, ARRAY_LEN(month_names) },
    [WEEKDAY] = { "day of week", 0, 7, day_names, ARRAY_LEN(day_names) },
};

/* ------------------------------------------------------------------ reading */

static int bad(const struct cron_set *f, struct str text, struct err *err)
{
    return err_set(err, E_INVALID, "schedule: '" STR_FMT "' is not a valid %s (%u-%u)",
                   STR_ARG(text), f->what, f->min, f->max);
}

static bool parse_value(const struct cron_set *f, struct str s, unsigned *ret)
{
    uint64_t v;
    for (size_t i = 0; i < f->n_names; i++)
        if (str_ieq(s, str_of(f->names[i]))) {
            *ret = f->min + (unsigned)i;
            return true;
        }
    if (parse_u64(s, f->min, f->max, &v) < 0)
        return false;
    *ret = (unsigned)v;
    return true;
}

/* One of the parts between commas. *star: it is "*" without a step. */
static int parse_part(const struct cron_set *f, struct str s, uint64_t *bits, bool *star,
                      struct err *err)
{
    struct str range, step_text, first_text, last_text;
    unsigned first = f->min, last = f->max;
    uint64_t step = 1;
    bool has_step = str_cut(s, '/', &range, &step_text);
    if (has_step && parse_u64(step_text, 1, f->max, &step) < 0)
        return bad(f, s, err);
    if (str_is(range, "*") || str_is(range, "?")) {
        *star = *star || step == 1;
        if (f == &fields[WEEKDAY])
            last = 6;
    } else {
        bool is_range = str_cut(range, '-', &first_text, &last_text);
        if (!parse_value(f, first_text, &first))
            return bad(f, s, err);
        last = !has_step ? first : f == &fields[WEEKDAY] ? MAX(first, 6u) : f->max;
        if (is_range && (!parse_value(f, last_text, &last) || last < first))
            return bad(f, s, err);
    }
    for (uint64_t v = first; v <= last; v += step)
        *bits |= UINT64_C(1) << v;
    return 0;
}

static int parse_field(const struct cron_set *f, struct str s, uint64_t *bits, bool *star,
                       struct err *err)
{
    struct str part, rest = s;
    bool more = true;
    *bits = 0;
    *star = false;
    while (more) {
        more = str_cut(rest, ',', &part, &rest);
        int r = parse_part(f, part, bits, star, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool next_word(struct str *s, struct str *ret)
{
    size_t from = 0, to;
    while (from < s->n && is_blank(s->p[from]))
        from++;
    for (to = from; to < s->n && !is_blank(s->p[to]);)
        to++;
    *ret = str_slice(*s, from, to);
    *s = str_slice(*s, to, s->n);
    return ret->n > 0;
}

/* "1h30m", whole seconds. */
static bool parse_every(struct str s, uint64_t *ret)
{
    static const struct {
        char unit;
        uint64_t s;
    } units[] = { { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
    uint64_t sum = 0;
    if (s.n == 0)
        return false;
    while (s.n) {
        size_t n = 0, u = 0;
        uint64_t v;
        while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
            n++;
        if (n == s.n || parse_u64(str_n(s.p, n), 0, EVERY_MAX_S, &v) < 0)
            return false;
        while (u < ARRAY_LEN(units) && units[u].unit != s.p[n])
            u++;
        if (u == ARRAY_LEN(units))
            return false;
        sum += v * units[u].s;
        if (sum > EVERY_MAX_S)
            return false;
        s = str_slice(s, n + 1, s.n);
    }
    *ret = sum;
    return sum > 0;
}

static int parse_macro(struct str text, struct cron *ret, struct err *err)
{
    static const struct {
        const char *name, *means;
    } macros[] = { { "@yearly", "0 0 1 1 *" },  { "@annually", "0 0 1 1 *" },
                   { "@monthly", "0 0 1 * *" }, { "@weekly", "0 0 * * 0" },
                   { "@daily", "0 0 * * *" },   { "@midnight", "0 0 * * *" },
                   { "@hourly", "0 * * * *" } };
    struct str word, rest = text, every;
    (void)next_word(&rest, &word);
    if (str_is(word, "@every") && next_word(&rest, &every) && str_trim(rest).n == 0) {
        struct cron c = { 0 };
        if (!parse_every(every, &c.every_s))
            return err_set(err, E_INVALID, "schedule: '" STR_FMT "' is not a duration",
                           STR_ARG(every));
        *ret = c;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(macros); i++)
        if (str_is(text, macros[i].name))
            return cron_parse(str_of(macros[i].means), ret, err);
    return err_set(err, E_INVALID, "schedule: '" STR_FMT "' is not known", STR_ARG(text));
}

int cron_parse(struct str text, struct cron *ret, struct err *err)
{
    struct str rest = str_trim(text), word;
    uint64_t bits[N_FIELDS];
    bool star[N_FIELDS];
    if (rest.n == 0 || rest.n > CRON_TEXT_MAX)
        return err_set(err, E_INVALID, "schedule of %zu characters", rest.n);
    if (rest.p[0] == '@')
        return parse_macro(rest, ret, err);
    for (int i = 0; i < N_FIELDS; i++) {
        if (!next_word(&rest, &word))
            return err_set(err, E_INVALID, "schedule has %d fields, not %d", i, N_FIELDS);
        int r = parse_field(&fields[i], word, &bits[i], &star[i], err);
        if (r < 0)
            return r;
    }
    if (next_word(&rest, &word))
        return err_set(err, E_INVALID, "schedule has more than %d fields", N_FIELDS);
    *ret = (struct cron){ .minutes = bits[MINUTE],
                          .hours = (uint32_t)bits[HOUR],
                          .days = (uint32_t)bits[DAY],
                          .months = (uint32_t)bits[MONTH],
                          .weekdays = (uint32_t)((bits[WEEKDAY] & 0x7f) | bits[WEEKDAY] >> 7),
                          .any_day = star[DAY],
                          .any_weekday = star[WEEKDAY] };
    return 0;
}

/* ------------------------------------------------------------------ times */

static bool day_matches(const struct cron *c, const struct civil *t)
{
    bool day = c->days >> t->day & 1, weekday = c->weekdays >> t->weekday & 1;
    if (!(c->months >> t->month & 1))
        return false;
    return c->any_day || c->any_weekday ? day && weekday : day || weekday;
}

/*
 * The beginning of the next local day: 24 hours later, then adjusted to midnight if the clock was
 * changed in between. If that day has no midnight, its first moment.
 */
static int64_t next_day(const struct zone *z, int64_t s, const struct civil *t)
{
    int64_t passed = t->hour * 3600 + t->minute * 60 + t->second;
    int64_t at = s + DAY_S - passed;
    struct civil c = zone_civil_of(at + zone_offset(z, at));
    int64_t off = c.hour * 3600 + c.minute * 60 + c.second;
    if (off == 0)
        return at;
    if (c.day == t->day) /* the day had 25 hours */
        return at + DAY_S - off;
    int64_t back = at - off;
    struct civil b = zone_civil_of(back + zone_offset(z, back));
    return b.day == c.day ? back : at;
}

int64_t cron_next(const struct cron *c, const struct zone *z, int64_t after_s)
{
    if (c->every_s)
        return (after_s / (int64_t)c->every_s + 1) * (int64_t)c->every_s;
    int64_t limit = after_s + (int64_t)CRON_HORIZON_YEARS * 366 * DAY_S, s = after_s + 1;
    for (;;) {
        struct civil t = zone_civil_of(s + zone_offset(z, s));
        if (s > limit)
            return 0;
        if (!day_matches(c, &t))
            s = MAX(next_day(z, s, &t), s + 1);
        else if (!(c->hours >> t.hour & 1))
            s += 3600 - t.minute * 60 - t.second;
        else if (t.second)
            s += 60 - t.second;
        else if (!(c->minutes >> t.minute & 1))
            s += 60;
        else
            return s;
    }
}

/* The last time up to until_s, of which there is one, without walking over all before it. */
static int64_t last_before(const struct cron *c, const struct zone *z, int64_t until_s)
{
    int64_t last = 0, s = 0;
    for (int64_t window_s = 60; (s == 0 || s > until_s) && window_s < until_s; window_s *= 2)
        s = cron_next(c, z, until_s - window_s);
    for (; s != 0 && s <= until_s; s = cron_next(c, z, s))
        last = s;
    return last;
}

int64_t cron_last(const struct cron *c, const struct zone *z, int64_t after_s, int64_t until_s,
                  uint64_t *ret_n)
{
    int64_t last = 0;
    uint64_t n = 0;
    if (c->every_s && until_s > after_s) {
        int64_t every = (int64_t)c->every_s;
        n = (uint64_t)(until_s / every - after_s / every);
        last = n ? until_s / every * every : 0;
    } else if (!c->every_s) {
        for (int64_t s = after_s; n < COUNT_MAX && (s = cron_next(c, z, s)) != 0 && s <= until_s;
             n++)
            last = s;
        if (n == COUNT_MAX)
            last = MAX(last, last_before(c, z, until_s));
    }
    *ret_n = n;
    return last;
}
