/* SPDX-License-Identifier: Apache-2.0 */
/* The cleaner, the example operator in C: its schedules, and its runs against a host that plays the
 * API. */
#include "fake_host_v1.h"
#include "schedule.h"

/* ---- schedules ---- */

static struct schedule schedule(const char *text)
{
    struct schedule s;
    const char *why;
    if (!schedule_parse(dm_str(text), &s, &why))
        TEST_FAIL("'%s': %s", text, why);
    return s;
}

TEST(schedules_find_their_next_time)
{
    static const struct {
        const char *schedule, *after, *next;
    } rows[] = {
        { "* * * * *", "2023-11-14T22:13:20Z", "2023-11-14T22:14:00Z" },
        { "*/15 * * * *", "2023-11-14T22:45:00Z", "2023-11-14T23:00:00Z" },
        { "5/20 8-17/3 * * *", "2023-11-14T17:45:00Z", "2023-11-15T08:05:00Z" },
        { "0 0 1 jan *", "2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z" },
        { "30 4 * * mon-fri", "2023-11-17T05:00:00Z", "2023-11-20T04:30:00Z" },
        { "0 12 * * 7", "2023-11-14T00:00:00Z", "2023-11-19T12:00:00Z" },
        { "0 12 13 * fri", "2023-11-14T00:00:00Z", "2023-11-17T12:00:00Z" }, /* either day */
        { "0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z" },
        { "1,3,50-52 0 * * *", "2023-11-14T00:04:00Z", "2023-11-14T00:50:00Z" },
        { "@hourly", "2023-11-14T22:00:00Z", "2023-11-14T23:00:00Z" },
        { "@monthly", "2023-12-01T00:00:00Z", "2024-01-01T00:00:00Z" },
        { "@every 90m", "2023-11-14T22:00:10Z", "2023-11-14T23:30:10Z" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct schedule s = schedule(rows[i].schedule);
        uint64_t after_us, next_us;
        CHECK(dm_parse_time(dm_str(rows[i].after), &after_us));
        CHECK(dm_parse_time(dm_str(rows[i].next), &next_us));
        if (schedule_next(&s, after_us / 1000000) != next_us / 1000000)
            TEST_FAIL("'%s' after %s", rows[i].schedule, rows[i].after);
    }
    struct schedule never = schedule("0 0 30 feb *");
    CHECK_INT(schedule_next(&never, 1700000000), 0);
}

TEST(schedules_that_are_none_are_refused)
{
    static const char *const bad[] = {
        "",           "* * * *",     "60 * * * *",  "* 24 * * *",  "* * 0 * *",
        "* * * 13 *", "* * * * 8",   "*/0 * * * *", "5-1 * * * *", "1, * * * *",
        "x * * * *",  "* * * foo *", "* * * * * *", "@often",      "@every 5",
        "@every 30s", "*x * * * *"
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct schedule s;
        const char *why = NULL;
        if (schedule_parse(dm_str(bad[i]), &s, &why))
            TEST_FAIL("accepted: '%s'", bad[i]);
        CHECK(why != NULL);
    }
}

/* Every minute by brute force against the search by days. */
TEST(schedules_agree_with_a_naive_twin)
{
    static const char *const some[] = { "7 3 * * *", "*/13 */5 1-7 * *", "0 0 * 2,4 1",
                                        "59 23 31 * 5" };
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        struct schedule s = schedule(some[i]);
        uint64_t at = 1700000000 + test_random_below(100000000), next = schedule_next(&s, at);
        for (uint64_t m = at / 60 + 1; m < next / 60; m++) {
            uint32_t year, month, day, weekday = (uint32_t)((m / 1440 + 4) % 7);
            dm_civil_date(m / 1440, &year, &month, &day);
            bool on_day = s.days >> day & 1, on_weekday = s.weekdays >> weekday & 1;
            bool both = s.any_day || s.any_weekday;
            CHECK(!(s.minutes >> (m % 60) & 1 && s.hours >> (m / 60 % 24) & 1 &&
                    s.months >> month & 1 && (both ? on_day && on_weekday : on_day || on_weekday)));
        }
    }
}

TEST(durations_are_read)
{
    uint64_t s = 5;
    CHECK(duration_parse(DM_STR("1h30m"), &s) && s == 5400);
    CHECK(duration_parse(DM_STR("2w1d"), &s) && s == 15 * 86400);
    CHECK(duration_parse(DM_STR("0s"), &s) && s == 0);
    static const char *const bad[] = { "",      "5",   "h",           "1x",    "1h ",
                                       "never", "-1h", "9999999999s", "99999w" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (duration_parse(dm_str(bad[i]), &s))
            TEST_FAIL("accepted: '%s'", bad[i]);
}

/* ---- runs; the clock shows 2023-11-14T22:13:20Z ---- */

#define CLEANUP(spec, status)                                                                      \
    "{\"type\":\"reconcile\",\"controller\":\"cleanups\",\"namespace\":\"a\",\"name\":\"c\","      \
    "\"object\":{\"metadata\":{\"name\":\"c\",\"namespace\":\"a\",\"resourceVersion\":\"9\","      \
    "\"generation\":2,\"creationTimestamp\":\"2023-11-14T20:00:00Z\"},\"spec\":{" spec             \
    "},\"status\":{" status "}}}"
#define TARGETS                                                                                    \
    "\"targets\":[{\"apiVersion\":\"batch/"                                                        \
    "v1\",\"kind\":\"Job\",\"labelSelector\":\"x\",\"ttl\":\"1h\"}]"
#define JOBS                                                                                       \
    "{\"resources\":[{\"name\":\"jobs/status\",\"kind\":\"Job\",\"namespaced\":true},"             \
    "{\"name\":\"jobs\",\"kind\":\"Job\",\"namespaced\":true}]}"
#define OBJECT(name, created, more)                                                                \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"3\","       \
    "\"creationTimestamp\":\"2023-11-14T" created "Z\"" more "}}"
#define TTL(text) ",\"annotations\":{\"cleaner.dormouse.dev/ttl\":\"" text "\"}"

static const char *body_of_last_call(void)
{
    for (size_t i = host.n_calls; i-- > 0;)
        if (strcmp(host.calls[i].what, "api") == 0)
            return host.calls[i].body;
    return "";
}

static struct dm_json status_written(void)
{
    const char *body = body_of_last_call();
    return dm_json_member(dm_json_parse(body, strlen(body)), "status");
}

static int64_t count_in_status(const char *key)
{
    return dm_json_int(dm_json_member(status_written(), key), -1);
}

static bool is_ready_as(const char *status, const char *reason)
{
    struct dm_json_iter it = dm_json_iter(dm_json_member(status_written(), "conditions"));
    CHECK(dm_json_next(&it));
    return dm_json_is(dm_json_member(it.value, "status"), status) &&
           dm_json_is(dm_json_member(it.value, "reason"), reason);
}

TEST(a_run_that_is_not_due_waits)
{
    fresh();
    will_answer(200, "{}");
    CHECK_INT(activate(CLEANUP("\"schedule\":\"0 * * * *\"," TARGETS,
                               "\"lastRunTime\":\"2023-11-14T22:00:00Z\"")),
              (46 * 60 + 40) * 1000 - 123);
    CHECK(dm_json_is(dm_json_member(status_written(), "nextRunTime"), "2023-11-14T23:00:00Z"));
    CHECK(is_ready_as("True", "Scheduled"));
}

TEST(what_is_over_goes_and_nothing_else)
{
    fresh();
    will_answer(200, JOBS);
    will_answer(
        200,
        "{\"items\":[" OBJECT("old", "21:13:20", "") "," OBJECT("young", "21:13:21", "") "," OBJECT(
            "short", "22:13:00",
            TTL("20s")) "," OBJECT("kept", "00:00:00",
                                   TTL("never")) "," OBJECT("odd", "00:00:00",
                                                            TTL("soon")) "," OBJECT("going",
                                                                                    "00:00:00",
                                                                                    ",\"deletionTim"
                                                                                    "estamp\":"
                                                                                    "\"x\"") "]}");
    will_answer(200, "{}");
    will_answer(409, "{\"reason\":\"Conflict\",\"message\":\"it was touched\"}");
    will_answer(200, "{}");
    CHECK_INT(activate(CLEANUP("\"schedule\":\"@every 10m\"," TARGETS, "")), 600000 - 123);
    CHECK_STR(str_of(host.calls[0].head), "GET /apis/batch/v1\n");
    CHECK(strstr(host.calls[1].head,
                 "/apis/batch/v1/namespaces/a/jobs?limit=500&labelSelector=x\n") != NULL);
    CHECK(strstr(host.calls[1].head, "PartialObjectMetadataList") != NULL);
    CHECK(strncmp(host.calls[2].head, "DELETE /apis/batch/v1/namespaces/a/jobs/old\n", 44) == 0);
    CHECK(strstr(host.calls[2].body, "{\"uid\":\"u-old\",\"resourceVersion\":\"3\"}") != NULL);
    CHECK_INT(count_in_status("matched"), 6);
    CHECK_INT(count_in_status("expired"), 2);
    CHECK_INT(count_in_status("deleted"), 1);
    CHECK_INT(count_in_status("failed"), 0);
    CHECK(is_ready_as("True", "Cleaned"));
    CHECK(dm_json_is(dm_json_member(status_written(), "lastRunTime"), "2023-11-14T22:13:20Z"));
}

TEST(a_dry_run_only_counts)
{
    fresh();
    will_answer(200, JOBS);
    will_answer(200, "{\"items\":[" OBJECT("old", "01:00:00", "") "]}");
    will_answer(200, "{}");
    CHECK(activate(CLEANUP("\"dryRun\":true,\"schedule\":\"@hourly\"," TARGETS, "")) > 0);
    CHECK_INT(host.n_answered, 3);
    CHECK_INT(count_in_status("expired"), 1);
    CHECK_INT(count_in_status("deleted"), 0);
    CHECK(strstr(body_of_last_call(), "dry run: 1 of 1 objects would be deleted") != NULL);
}

TEST(a_run_has_a_limit)
{
    fresh();
    will_answer(200, JOBS);
    will_answer(200,
                "{\"items\":[" OBJECT("a", "01:00:00", "") "," OBJECT("b", "01:00:00", "") "]}");
    will_answer(200, "{}");
    will_answer(200, "{}");
    CHECK(activate(CLEANUP("\"maxDeletions\":1,\"schedule\":\"@hourly\"," TARGETS, "")) > 0);
    CHECK_INT(count_in_status("expired"), 2);
    CHECK_INT(count_in_status("deleted"), 1);
    CHECK(strstr(body_of_last_call(), "more next time") != NULL);
}

TEST(targets_that_cannot_be_cleaned_are_told_and_others_go_on)
{
#define THREE                                                                                      \
    "\"targets\":[{\"apiVersion\":\"v1\",\"kind\":\"Nothing\",\"ttl\":\"1h\"},"                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"ttl\":\"soon\"},"                                   \
    "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"ttl\":\"1h\"}]"
    fresh();
    will_answer(200, "{\"resources\":[]}");
    will_answer(200, JOBS);
    will_answer(200, "{\"items\":[" OBJECT("old", "01:00:00", "") "]}");
    will_answer(403, "{\"reason\":\"Forbidden\",\"message\":\"not you\"}");
    will_answer(200, "{}");
    CHECK(activate(CLEANUP("\"schedule\":\"@hourly\"," THREE, "")) > 0);
    CHECK_INT(count_in_status("failed"), 3);
    CHECK(is_ready_as("False", "Failures"));
    CHECK(strstr(body_of_last_call(), "the API has no such kind") != NULL);
    CHECK(strstr(body_of_last_call(), "ttl is no duration") != NULL);
    CHECK(strstr(body_of_last_call(), "Forbidden: not you") != NULL);
}

TEST(an_api_that_is_away_makes_the_run_fail)
{
    fresh();
    will_answer(200, JOBS);
    will_answer(200, "{\"items\":[" OBJECT("old", "01:00:00", "") "]}");
    will_answer(503, "{\"reason\":\"ServiceUnavailable\",\"message\":\"not now\"}");
    CHECK_INT(activate(CLEANUP("\"schedule\":\"@hourly\"," TARGETS, "")), -1);
    CHECK_STR(str_of(host.failed), "clean Job: ServiceUnavailable: not now");
}

TEST(a_schedule_that_is_none_is_refused_until_it_changes)
{
    fresh();
    will_answer(200, "{}");
    CHECK_INT(activate(CLEANUP("\"schedule\":\"61 * * * *\"," TARGETS, "")), -2);
    CHECK(is_ready_as("False", "InvalidSchedule"));
    CHECK_STR(str_of(host.failed), "the schedule: the minute is not 0 to 59");
    fresh();
    will_answer(200, "{}");
    CHECK_INT(activate(CLEANUP("\"suspend\":true,\"schedule\":\"@hourly\"," TARGETS, "")), 0);
    CHECK(is_ready_as("True", "Suspended"));
}

TEST_MAIN
