/* SPDX-License-Identifier: Apache-2.0 */
/* Time zones; see zone.h. */
#include "base/zone.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { DAY_S = 86400, TYPES_MAX = 256, TRANSITIONS_MAX = 20000 };

/* When a POSIX TZ string changes between standard and summer time. */
struct zone_change {
    enum { CHANGE_MONTH, CHANGE_JULIAN, CHANGE_DAY } kind; /* Mm.w.d, Jn (no 29 February), n */
    int month, week, day;
    int32_t time_s; /* of the local day; may be negative or beyond it */
};
struct zone_rule {
    bool has_rule, has_summer;
    int32_t standard_s, summer_s; /* ahead of UTC */
    struct zone_change to_summer, to_standard;
};

struct zone {
    size_t n;
    int64_t *at;           /* transitions, ascending; [n] */
    int32_t *offset;       /* from at[i] on */
    int32_t first_s;       /* before the first */
    struct zone_rule rule; /* after the last */
};

/* ------------------------------------------------------------------ calendar */

/* Counts years from March, so that leap days come last (Howard Hinnant's days_from_civil). */
int64_t zone_civil_days(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (int64_t)(month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct civil zone_civil_of(int64_t s)
{
    int64_t days = s / DAY_S, left = s % DAY_S;
    if (left < 0) {
        left += DAY_S;
        days--;
    }
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t mp = (5 * of_year + 2) / 153;
    struct civil c = { .day = (unsigned)(of_year - (153 * mp + 2) / 5 + 1),
                       .month = (unsigned)(mp < 10 ? mp + 3 : mp - 9) };
    c.year = year_of_era + era * 400 + (c.month <= 2);
    int64_t weekday = (days + 4) % 7;
    c.weekday = (unsigned)(weekday < 0 ? weekday + 7 : weekday);
    c.hour = (unsigned)(left / 3600);
    c.minute = (unsigned)(left / 60 % 60);
    c.second = (unsigned)(left % 60);
    return c;
}

static bool is_leap(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

/* ------------------------------------------------------------------ rules */

static bool take_number(struct str *s, int max, int *ret)
{
    int v = 0;
    size_t n = 0;
    while (n < s->n && n < 4 && s->p[n] >= '0' && s->p[n] <= '9')
        v = v * 10 + (s->p[n++] - '0');
    if (n == 0 || v > max)
        return false;
    *s = str_slice(*s, n, s->n);
    *ret = v;
    return true;
}

static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_slice(*s, 1, s->n);
    return true;
}

/* "[+-]hh[:mm[:ss]]" */
static bool take_time(struct str *s, int max_hours, int32_t *ret)
{
    int h, m = 0, sec = 0;
    bool minus = take_char(s, '-');
    if (!minus)
        (void)take_char(s, '+');
    if (!take_number(s, max_hours, &h))
        return false;
    if (take_char(s, ':') &&
        (!take_number(s, 59, &m) || (take_char(s, ':') && !take_number(s, 59, &sec))))
        return false;
    *ret = (minus ? -1 : 1) * (h * 3600 + m * 60 + sec);
    return true;
}

/* "EST" or "<+03>" */
static bool take_name(struct str *s)
{
    size_t n = 0;
    if (take_char(s, '<')) {
        while (n < s->n && s->p[n] != '>')
            n++;
        *s = str_slice(*s, n, s->n);
        return take_char(s, '>');
    }
    while (n < s->n && ((s->p[n] >= 'A' && s->p[n] <= 'Z') || (s->p[n] >= 'a' && s->p[n] <= 'z')))
        n++;
    *s = str_slice(*s, n, s->n);
    return n >= 3;
}

static bool take_change(struct str *s, struct zone_change *c)
{
    *c = (struct zone_change){ .kind = CHANGE_DAY, .time_s = 7200 };
    bool ok;
    if (take_char(s, 'M')) {
        c->kind = CHANGE_MONTH;
        ok = take_number(s, 12, &c->month) && c->month > 0 && take_char(s, '.') &&
             take_number(s, 5, &c->week) && c->week > 0 && take_char(s, '.') &&
             take_number(s, 6, &c->day);
    } else if (take_char(s, 'J')) {
        c->kind = CHANGE_JULIAN;
        ok = take_number(s, 365, &c->day) && c->day > 0;
    } else {
        ok = take_number(s, 365, &c->day);
    }
    return ok && (!take_char(s, '/') || take_time(s, 167, &c->time_s));
}

static bool parse_rule(struct str s, struct zone_rule *r)
{
    *r = (struct zone_rule){ .has_rule = true };
    int32_t west;
    if (!take_name(&s) || !take_time(&s, 24, &west))
        return false;
    r->standard_s = -west;
    if (s.n == 0)
        return true;
    if (!take_name(&s))
        return false;
    r->has_summer = true;
    r->summer_s = r->standard_s + 3600;
    if (s.n && s.p[0] != ',') {
        if (!take_time(&s, 24, &west))
            return false;
        r->summer_s = -west;
    }
    return take_char(&s, ',') && take_change(&s, &r->to_summer) && take_char(&s, ',') &&
           take_change(&s, &r->to_standard) && s.n == 0;
}

/* The local time of a change in a year, in seconds without a zone. */
static int64_t change_in(const struct zone_change *c, int64_t year)
{
    int64_t day = 0;
    switch (c->kind) {
    case CHANGE_MONTH: {
        int64_t first = zone_civil_days(year, (unsigned)c->month, 1);
        int64_t weekday = ((first + 4) % 7 + 7) % 7;
        day = first + (c->day - weekday + 7) % 7 + (c->week - 1) * 7;
        int64_t next = c->month == 12 ? zone_civil_days(year + 1, 1, 1)
                                      : zone_civil_days(year, (unsigned)c->month + 1, 1);
        while (day >= next)
            day -= 7;
        break;
    }
    case CHANGE_JULIAN:
        day = zone_civil_days(year, 1, 1) + c->day - 1 + (is_leap(year) && c->day >= 60);
        break;
    case CHANGE_DAY:
        day = zone_civil_days(year, 1, 1) + c->day;
        break;
    }
    return day * DAY_S + c->time_s;
}

static int32_t rule_offset(const struct zone_rule *r, int64_t utc_s)
{
    if (!r->has_summer)
        return r->standard_s;
    int64_t year = zone_civil_of(utc_s + r->standard_s).year;
    int64_t summer = change_in(&r->to_summer, year) - r->standard_s;
    int64_t standard = change_in(&r->to_standard, year) - r->summer_s;
    bool is_summer = summer < standard ? utc_s >= summer && utc_s < standard
                                       : utc_s >= summer || utc_s < standard;
    return is_summer ? r->summer_s : r->standard_s;
}

/* ------------------------------------------------------------------ files */

struct zone_counts {
    uint32_t isut, isstd, leap, time, type, character;
};

static bool read_head(struct rd *in, uint8_t *ret_version, struct zone_counts *c)
{
    struct str magic = rd_str(in, 4);
    *ret_version = rd_u8(in);
    (void)rd_str(in, 15);
    c->isut = rd_be32(in);
    c->isstd = rd_be32(in);
    c->leap = rd_be32(in);
    c->time = rd_be32(in);
    c->type = rd_be32(in);
    c->character = rd_be32(in);
    return rd_ok(in) && str_is(magic, "TZif") && c->time <= TRANSITIONS_MAX && c->type > 0 &&
           c->type <= TYPES_MAX && c->leap <= TRANSITIONS_MAX && c->isut <= TYPES_MAX &&
           c->isstd <= TYPES_MAX && c->character <= 65536;
}

static int64_t read_be64(struct rd *in)
{
    uint64_t high = rd_be32(in), low = rd_be32(in);
    return (int64_t)(high << 32 | low);
}

static bool read_data(struct rd *in, const struct zone_counts *c, unsigned wide, struct zone *z)
{
    struct rd times = rd_init(rd_str(in, (uint64_t)c->time * wide).p, (size_t)c->time * wide);
    struct str types = rd_str(in, c->time);
    int32_t offsets[TYPES_MAX];
    for (uint32_t i = 0; i < c->type; i++) {
        offsets[i] = (int32_t)rd_be32(in);
        (void)rd_str(in, 2);
        if (offsets[i] < -2 * DAY_S || offsets[i] > 2 * DAY_S)
            return false;
    }
    (void)rd_str(in, (uint64_t)c->character + (uint64_t)c->leap * (wide + 4) + c->isstd + c->isut);
    if (!rd_ok(in))
        return false;
    z->n = c->time;
    z->at = xnew_n(int64_t, c->time + 1);
    z->offset = xnew_n(int32_t, c->time + 1);
    z->first_s = offsets[0];
    for (uint32_t i = 0; i < c->time; i++) {
        uint8_t type = (uint8_t)types.p[i];
        z->at[i] = wide == 8 ? read_be64(&times) : (int32_t)rd_be32(&times);
        if (type >= c->type || (i > 0 && z->at[i] <= z->at[i - 1]))
            return false;
        z->offset[i] = offsets[type];
    }
    return true;
}

void zone_free(struct zone *z)
{
    if (!z)
        return;
    free(z->at);
    free(z->offset);
    free(z);
}
DEFINE_SCOPED(zone, zone_free)

int zone_parse(struct str bytes, struct zone **ret, struct err *err)
{
    struct rd in = rd_init(bytes.p, bytes.n);
    scoped(zone_free_scoped) struct zone *z = xnew(struct zone);
    struct zone_counts c;
    uint8_t version;
    bool ok = read_head(&in, &version, &c);
    if (ok && version >= '2') { /* the first block has 32 bits, for old readers */
        (void)rd_str(&in, (uint64_t)c.time * 5 + (uint64_t)c.type * 6 + c.character +
                              (uint64_t)c.leap * 8 + c.isstd + c.isut);
        ok = read_head(&in, &version, &c) && read_data(&in, &c, 8, z);
        struct str footer = rd_str(&in, rd_left(&in)), rule, rest;
        if (ok && footer.n > 1 && footer.p[0] == '\n') {
            (void)str_cut(str_slice(footer, 1, footer.n), '\n', &rule, &rest);
            ok = rule.n == 0 || parse_rule(rule, &z->rule);
        }
    } else if (ok) {
        ok = read_data(&in, &c, 4, z);
    }
    if (!ok)
        return err_set(err, E_PARSE, "no time zone file");
    *ret = take_ptr(&z);
    return 0;
}

static bool is_zone_name(struct str s)
{
    if (s.n == 0 || s.n > ZONE_NAME_MAX || s.p[0] == '/' || str_find(s, STR("..")) >= 0 ||
        str_find(s, STR("//")) >= 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '+' || c == '/'))
            return false;
    }
    return true;
}

int zone_load(const char *dir, struct str name, struct zone **ret, struct err *err)
{
    if (name.n == 0 || str_is(name, "UTC") || str_is(name, "Etc/UTC")) {
        *ret = NULL;
        return 0;
    }
    if (!is_zone_name(name))
        return err_set(err, E_INVALID, "no time zone '" STR_FMT "'", STR_ARG(name));
    scoped(free_scoped) char *path = xasprintf("%s/" STR_FMT, dir, STR_ARG(name));
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
    if (fd < 0)
        return err_set(err, E_INVALID, "no time zone '" STR_FMT "'", STR_ARG(name));
    scoped(free_scoped) char *bytes = xalloc(ZONE_FILE_MAX_BYTES);
    ssize_t n = sys_pread_full(fd, bytes, ZONE_FILE_MAX_BYTES, 0);
    if (n < 0 || n == ZONE_FILE_MAX_BYTES || zone_parse(str_n(bytes, (size_t)n), ret, NULL) < 0)
        return err_set(err, E_INVALID, "time zone '" STR_FMT "' does not read", STR_ARG(name));
    return 0;
}

int32_t zone_offset(const struct zone *z, int64_t utc_s)
{
    if (!z)
        return 0;
    if (z->rule.has_rule && (z->n == 0 || utc_s >= z->at[z->n - 1]))
        return rule_offset(&z->rule, utc_s);
    size_t low = 0, high = z->n; /* how many transitions are at or before it */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (z->at[mid] <= utc_s)
            low = mid + 1;
        else
            high = mid;
    }
    return low == 0 ? z->first_s : z->offset[low - 1];
}
