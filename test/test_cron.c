/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules and time zones. */
#include "test.h"

#include "base/clock.h"
#include "base/cron.h"
#include "base/mem.h"

static const char zoneinfo[] = "/usr/share/zoneinfo";

static int64_t at(const char *text)
{
    int64_t us;
    CHECK_OK(rfc3339_parse(str_of(text), &us));
    return us / 1000000;
}

static struct zone *zone(const char *name)
{
    struct zone *z;
    struct err err = { 0 };
    if (zone_load(zoneinfo, str_of(name), &z, &err) < 0)
        TEST_FAIL("%s", err.text);
    return z;
}

TEST(the_next_time_of_a_schedule)
{
    static const struct {
        const char *schedule, *zone, *after, *next; /* next NULL: none */
    } cases[] = {
        { "* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z" },
        { "* * * * *", "", "2026-01-01T00:00:59Z", "2026-01-01T00:01:00Z" },
        { "*/15 * * * *", "", "2026-01-01T00:16:00Z", "2026-01-01T00:30:00Z" },
        { "20-35/15 * * * *", "", "2026-01-01T00:20:00Z", "2026-01-01T00:35:00Z" },
        { "5/20 * * * *", "", "2026-01-01T00:45:00Z", "2026-01-01T01:05:00Z" },
        { "0 0 * Feb Mon", "", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z" },
        { "0 0 1 * *", "", "2026-01-31T12:00:00Z", "2026-02-01T00:00:00Z" },
        { "0 0 31 * *", "", "2026-01-31T12:00:00Z", "2026-03-31T00:00:00Z" },
        { "0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z" },
        { "0 0 29 2 *", "", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z" },
        { "0 0 30 2 *", "", "2026-01-01T00:00:00Z", NULL },
        { "0 12 * * 7", "", "2026-01-01T00:00:00Z", "2026-01-04T12:00:00Z" },
        { "0 12 * * 5-7", "", "2026-01-03T13:00:00Z", "2026-01-04T12:00:00Z" },
        { "0 12 * * 1/2", "", "2026-01-02T13:00:00Z", "2026-01-05T12:00:00Z" }, /* no Sunday */
        /* both days restricted: either is enough; with a star, both */
        { "0 0 13 * fri", "", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z" },
        { "0 0 13 * *", "", "2026-01-01T00:00:00Z", "2026-01-13T00:00:00Z" },
        { "0 0 */10 * sun", "", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z" },
        { "@hourly", "", "2026-12-31T23:10:00Z", "2027-01-01T00:00:00Z" },
        { "@daily", "", "2026-12-31T23:10:00Z", "2027-01-01T00:00:00Z" },
        { "@weekly", "", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z" },
        { "@monthly", "", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z" },
        { "@yearly", "", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z" },
        { "@every 1h30m", "", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00Z" },
        { "@every 10s", "", "2026-01-01T00:00:01Z", "2026-01-01T00:00:10Z" },
        /* zones */
        { "30 9 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", "2026-01-01T04:00:00Z" },
        { "0 0 1 1 *", "Pacific/Apia", "2026-06-01T00:00:00Z", "2026-12-31T11:00:00Z" },
        /* the clock is put forward at 2:00: what would be between 2:00 and 3:00 does not fire */
        { "0 * * * *", "America/New_York", "2012-03-11T06:00:00Z", "2012-03-11T07:00:00Z" },
        { "30 2 11 3 *", "America/New_York", "2012-03-11T05:00:00Z", "2013-03-11T06:30:00Z" },
        { "30 2 * * *", "America/New_York", "2012-03-11T05:00:00Z", "2012-03-12T06:30:00Z" },
        { "0 3 * * *", "America/New_York", "2012-03-11T05:00:00Z", "2012-03-11T07:00:00Z" },
        /* and put back at 2:00: between 1:00 and 2:00 all is twice */
        { "30 1 4 11 *", "America/New_York", "2012-11-04T04:00:00Z", "2012-11-04T05:30:00Z" },
        { "30 1 4 11 *", "America/New_York", "2012-11-04T05:45:00Z", "2012-11-04T06:30:00Z" },
        { "30 2 4 11 *", "America/New_York", "2012-11-04T04:00:00Z", "2012-11-04T07:30:00Z" },
        { "0 0 * * *", "America/New_York", "2012-11-04T05:00:00Z", "2012-11-05T05:00:00Z" },
        { "0 0 * * *", "America/New_York", "2012-03-11T05:00:00Z", "2012-03-12T04:00:00Z" },
        /* there was no midnight that day: the clock went from 0:00 to 1:00 */
        { "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-05T02:00:00Z" },
        { "0 1 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z" },
        /* half an hour of summer time, and a day that a whole country left out */
        { "*/10 2 * * *", "Australia/Lord_Howe", "2026-10-03T15:25:00Z", "2026-10-03T15:30:00Z" },
        { "0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2012-12-29T22:00:00Z" },
        /* by the rule in the footer, long after the last transition in the file */
        { "0 12 1 7 *", "Europe/Berlin", "2090-01-01T00:00:00Z", "2090-07-01T10:00:00Z" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cron c;
        struct err err = { 0 };
        if (cron_parse(str_of(cases[i].schedule), &c, &err) < 0)
            TEST_FAIL("'%s': %s", cases[i].schedule, err.text);
        struct zone *z = zone(cases[i].zone);
        int64_t next = cron_next(&c, z, at(cases[i].after));
        int64_t want = cases[i].next ? at(cases[i].next) : 0;
        if (next != want) {
            char text[RFC3339_MAX];
            rfc3339_format(next, text);
            TEST_FAIL("'%s' %s after %s: %s", cases[i].schedule, cases[i].zone, cases[i].after,
                      text);
        }
        zone_free(z);
    }
}

TEST(what_is_no_schedule)
{
    static const char *const texts[] = {
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * foo *",
        "* * * * 8",
        "5-3 * * * *",
        "*/0 * * * *",
        "1,,2 * * * *",
        "-1 * * * *",
        "a * * * *",
        "@never",
        "@every",
        "@every 0s",
        "@every 5",
        "@every 1x",
        "@every 99999999999h",
        "TZ=UTC * * * * *",
        "1-2-3 * * * *",
        "*/61 * * * *",
        "1/ * * * *",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct cron c;
        if (cron_parse(str_of(texts[i]), &c, NULL) != E_INVALID)
            TEST_FAIL("'%s' is taken", texts[i]);
    }
}

/* What libc makes of the same files: rules of the future change with each release of the database.
 */
static int32_t libc_offset(const char *name, int64_t at)
{
    time_t t = (time_t)at;
    struct tm tm;
    setenv("TZ", name, 1);
    tzset();
    localtime_r(&t, &tm);
    return (int32_t)tm.tm_gmtoff;
}

TEST(offsets_are_those_of_the_database)
{
    static const char *const zones[] = { "America/New_York",  "Europe/Berlin",
                                         "Asia/Kolkata",      "Australia/Lord_Howe",
                                         "America/Sao_Paulo", "Africa/Casablanca",
                                         "Pacific/Apia",      "Asia/Tehran",
                                         "Europe/Dublin",     "America/Nuuk" };
    const int64_t first = -1500000000, last = 4000000000; /* 1922 to 2096 */
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        struct zone *z = zone(zones[i]);
        for (int k = 0; k < 500; k++) {
            int64_t at = first + (int64_t)test_random_below((uint64_t)(last - first));
            int32_t expected = libc_offset(zones[i], at);
            if (zone_offset(z, at) != expected)
                TEST_FAIL("%s at %lld: %d, expected %d", zones[i], (long long)at,
                          zone_offset(z, at), expected);
        }
        zone_free(z);
    }
}

TEST(offsets_of_the_past_are_known)
{
    static const struct {
        const char *zone;
        int64_t at;
        int32_t offset;
    } cases[] = {
        { "America/New_York", 1295742288, -18000 }, { "America/New_York", 801595691, -14400 },
        { "Europe/Berlin", 323296038, 3600 },       { "Europe/Berlin", 203729684, 3600 },
        { "Asia/Kolkata", 1244112455, 19800 },      { "Australia/Lord_Howe", 446412080, 41400 },
        { "America/Sao_Paulo", 967131055, -10800 }, { "America/Sao_Paulo", 755701793, -7200 },
        { "Africa/Casablanca", 1369965264, 3600 },  { "Africa/Casablanca", 1486270863, 0 },
        { "Pacific/Apia", 1352512026, 50400 },      { "Asia/Tehran", 482966162, 12600 },
        { "Europe/Dublin", 429245186, 3600 },       { "America/Nuuk", 932417041, -7200 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct zone *z = zone(cases[i].zone);
        if (zone_offset(z, cases[i].at) != cases[i].offset)
            TEST_FAIL("%s at %lld: %d, expected %d", cases[i].zone, (long long)cases[i].at,
                      zone_offset(z, cases[i].at), cases[i].offset);
        zone_free(z);
    }
}

TEST(names_of_zones_stay_within_their_directory)
{
    static const char *const names[] = { "../../../etc/passwd", "/etc/passwd", "Europe",
                                         "Nowhere/City",        "a//b",        "Local" };
    struct zone *z = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        CHECK_ERR(zone_load(zoneinfo, str_of(names[i]), &z, NULL), E_INVALID);
    CHECK_OK(zone_load(zoneinfo, STR(""), &z, NULL));
    CHECK(!z && zone_offset(z, 0) == 0);
}

TEST(calendars_agree)
{
    for (int i = 0; i < 20000; i++) {
        int64_t s = (int64_t)test_random_below(UINT64_C(1) << 37) - (INT64_C(1) << 35);
        struct civil c = zone_civil_of(s);
        CHECK_INT(zone_civil_days(c.year, c.month, c.day) * 86400 + c.hour * 3600 + c.minute * 60 +
                      c.second,
                  s);
    }
    CHECK_INT(zone_civil_of(0).weekday, 4);
}

/* Minute by minute says the same, over changes of the clock too. */
TEST(the_next_time_is_the_first_that_matches)
{
    static const char *const zones[] = { "America/New_York", "Europe/Berlin", "America/Sao_Paulo",
                                         "Australia/Lord_Howe", "" };
    for (int round = 0; round < 150; round++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%u,%u %u-%u/%u * * %u", (unsigned)test_random_below(60),
                       (unsigned)test_random_below(60), (unsigned)test_random_below(4),
                       4 + (unsigned)test_random_below(20), 1 + (unsigned)test_random_below(3),
                       (unsigned)test_random_below(7));
        struct cron c;
        CHECK_OK(cron_parse(str_of(text), &c, NULL));
        struct zone *z = zone(zones[test_random_below(ARRAY_LEN(zones))]);
        int64_t s = 1500000000 + (int64_t)test_random_below(300000000);
        int64_t next = cron_next(&c, z, s);
        for (int64_t t = s / 60 * 60 + 60; t <= next; t += 60) {
            struct civil l = zone_civil_of(t + zone_offset(z, t));
            bool fires = (c.minutes >> l.minute & 1) && (c.hours >> l.hour & 1) &&
                         (c.weekdays >> l.weekday & 1);
            if (fires != (t == next))
                TEST_FAIL("'%s' at %lld", text, (long long)t);
        }
        zone_free(z);
    }
}

TEST(missed_times_are_counted)
{
    struct cron c;
    uint64_t n;
    CHECK_OK(cron_parse(STR("*/5 * * * *"), &c, NULL));
    CHECK_INT(cron_last(&c, NULL, at("2026-01-01T00:00:00Z"), at("2026-01-01T01:01:00Z"), &n),
              at("2026-01-01T01:00:00Z"));
    CHECK_INT(n, 12);
    CHECK_INT(cron_last(&c, NULL, at("2026-01-01T00:00:00Z"), at("2026-01-01T00:04:00Z"), &n), 0);
    CHECK_INT(n, 0);
    /* A year of minutes is more than are counted. */
    CHECK_OK(cron_parse(STR("* * * * *"), &c, NULL));
    CHECK_INT(cron_last(&c, NULL, at("2025-01-01T00:00:00Z"), at("2026-01-01T00:00:30Z"), &n),
              at("2026-01-01T00:00:00Z"));
    CHECK_OK(cron_parse(STR("0 12 * * 1-5"), &c, NULL));
    CHECK_INT(cron_last(&c, NULL, at("1400-01-01T00:00:00Z"), at("2026-01-04T00:00:00Z"), &n),
              at("2026-01-02T12:00:00Z"));
    CHECK_OK(cron_parse(STR("@every 10s"), &c, NULL));
    CHECK_INT(cron_last(&c, NULL, 1000, 1101, &n), 1100);
    CHECK_INT(n, 10);
}

TEST_MAIN
