/* SPDX-License-Identifier: Apache-2.0 */
/* What a CronJob does at a moment. */
#include "base/clock.h"
#include "test.h"
#include "workload/cronjob/plan.h"

enum { JOBS_MAX = 6, NOW_S = 1767225600 + 90 }; /* 2026-01-01T00:01:30Z */

struct rig {
    struct arena a;
    struct workload_claim at[JOBS_MAX];
    struct workload_claims jobs;
    struct cronjob_plan *p;
};

static struct json *parse(struct arena *a, const char *text)
{
    struct json *v = NULL;
    CHECK_OK(json_parse(a, str_of(text), NULL, &v, NULL));
    return v;
}

/* condition: "Complete", "Failed"; "": it runs. */
static void rig_job(struct rig *r, const char *name, const char *condition, const char *start)
{
    struct workload_claim *c = &r->at[r->jobs.n++];
    char *text = arena_printf(
        &r->a,
        "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\"},\"status\":{\"startTime\":\"%s\","
        "\"completionTime\":\"%s\",\"conditions\":[{\"type\":\"%s\",\"status\":\"True\"}]}}",
        name, name, start, start, condition);
    *c = (struct workload_claim){ .name = str_of(name),
                                  .uid = str_of(name),
                                  .body = parse(&r->a, text) };
    r->jobs.at = r->at;
}

#define CREATED "\"metadata\":{\"name\":\"c\",\"creationTimestamp\":\"2026-01-01T00:00:30Z\"}"
#define CRON(spec, status)                                                                         \
    "{" CREATED                                                                                    \
    ",\"spec\":{\"schedule\":\"* * * * *\",\"jobTemplate\":{\"metadata\":{\"labels\":{"            \
    "\"a\":\"b\"}},\"spec\":{\"x\":1}}" spec "},\"status\":{" status "}}"

static struct cronjob_plan *decide(struct rig *r, const char *object)
{
    r->p = cronjob_decide(&r->a, parse(&r->a, object), &r->jobs, NULL, "", (int64_t)NOW_S * 1000);
    return r->p;
}

static bool says(const struct cronjob_plan *p, const char *reason)
{
    for (size_t i = 0; i < p->n_events; i++)
        if (strcmp(p->events[i].reason, reason) == 0)
            return true;
    return false;
}

TEST(the_latest_time_that_has_come_starts_a_job)
{
    struct rig r = { 0 };
    const struct cronjob_plan *p = decide(&r, CRON("", ""));
    CHECK_INT(p->scheduled_s, NOW_S - 30);
    CHECK_INT(p->again_ms, 30000 + CRONJOB_SLACK_MS);
    CHECK_STR(json_str(json_path(p->create, "metadata", "name", NULL)),
              arena_printf(&r.a, "c-%d", (NOW_S - 30) / 60));
    CHECK_STR(json_str(json_path(p->create, "metadata", "labels", "a", NULL)), "b");
    CHECK_STR(json_str(json_path(p->create, "metadata", "annotations",
                                 "batch.kubernetes.io/cronjob-scheduled-timestamp", NULL)),
              "2026-01-01T00:01:00Z");
    CHECK_INT(json_int_or(json_path(p->create, "spec", "x", NULL), 0), 1);
    cronjob_started(&r.a, p->status, parse(&r.a, "{\"metadata\":{\"name\":\"n\",\"uid\":\"u\"}}"),
                    p->scheduled_s);
    CHECK_STR(json_get_str(p->status, "lastScheduleTime"), "2026-01-01T00:01:00Z");
    CHECK_STR(json_get_str(json_first(json_getc(p->status, "active")), "name"), "n");
    arena_fini(&r.a);
}

TEST(a_time_starts_one_job_and_a_pause_none)
{
    static const struct {
        const char *object;
        bool want, wakes;
    } rows[] = {
        { CRON("", "\"lastScheduleTime\":\"2026-01-01T00:01:00Z\""), false, true },
        { CRON("", "\"lastScheduleTime\":\"2026-01-01T00:00:00Z\""), true, true },
        { CRON(",\"suspend\":true", ""), false, false },
        { CRON(",\"startingDeadlineSeconds\":10", ""), false, true },
        { CRON(",\"startingDeadlineSeconds\":40", ""), true, true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = { 0 };
        const struct cronjob_plan *p = decide(&r, rows[i].object);
        CHECK((p->create != NULL) == rows[i].want);
        CHECK((p->again_ms != 0) == rows[i].wakes);
        arena_fini(&r.a);
    }
}

TEST(many_missed_times_are_reported)
{
    struct rig r = { 0 };
    const struct cronjob_plan *p =
        decide(&r, CRON("", "\"lastScheduleTime\":\"2025-12-31T00:00:00Z\""));
    CHECK(p->create && says(p, "TooManyMissedTimes"));
    CHECK_INT(p->scheduled_s, NOW_S - 30);
    arena_fini(&r.a);
}

#define ACTIVE "\"active\":[{\"name\":\"j\",\"uid\":\"j\"}]"

TEST(the_policy_decides_about_a_job_that_still_runs)
{
    static const struct {
        const char *policy;
        bool want_create, want_removed;
    } rows[] = { { "Allow", true, false }, { "Forbid", false, false }, { "Replace", true, true } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = { 0 };
        rig_job(&r, "j", "", "2026-01-01T00:00:40Z");
        const struct cronjob_plan *p = decide(
            &r, arena_printf(&r.a, CRON(",\"concurrencyPolicy\":\"%s\"", ACTIVE), rows[i].policy));
        CHECK((p->create != NULL) == rows[i].want_create);
        CHECK(p->jobs[0].is_removed == rows[i].want_removed);
        CHECK(says(p, "JobAlreadyActive") == (strcmp(rows[i].policy, "Forbid") == 0));
        CHECK((json_getc(p->status, "active") != NULL) == !rows[i].want_removed);
        arena_fini(&r.a);
    }
}

TEST(the_list_of_active_jobs_follows_the_jobs)
{
    struct rig r = { 0 };
    rig_job(&r, "j", "Complete", "2026-01-01T00:01:10Z");
    rig_job(&r, "k", "", "2026-01-01T00:01:10Z");
    const struct cronjob_plan *p = decide(
        &r,
        CRON("", "\"active\":[{\"name\":\"j\",\"uid\":\"j\"},{\"name\":\"gone\",\"uid\":\"g\"}]"));
    CHECK(!json_getc(p->status, "active"));
    CHECK_STR(json_get_str(p->status, "lastSuccessfulTime"), "2026-01-01T00:01:10Z");
    CHECK(says(p, "SawCompletedJob") && says(p, "MissingJob") && says(p, "UnexpectedJob"));
    arena_fini(&r.a);
}

TEST(the_oldest_finished_jobs_go_beyond_the_limits)
{
    struct rig r = { 0 };
    rig_job(&r, "c", "Complete", "2026-01-01T00:00:03Z");
    rig_job(&r, "a", "Complete", "2026-01-01T00:00:01Z");
    rig_job(&r, "b", "Complete", "2026-01-01T00:00:02Z");
    rig_job(&r, "f", "Failed", "2026-01-01T00:00:01Z");
    const struct cronjob_plan *p =
        decide(&r, CRON(",\"successfulJobsHistoryLimit\":1,\"failedJobsHistoryLimit\":1", ""));
    CHECK(!p->jobs[0].is_removed && p->jobs[1].is_removed && p->jobs[2].is_removed);
    CHECK(!p->jobs[3].is_removed);
    arena_fini(&r.a);
}

TEST(what_cannot_be_read_is_reported_and_nothing_starts)
{
    struct rig r = { 0 };
    const struct cronjob_plan *p = decide(&r, "{" CREATED ",\"spec\":{\"schedule\":\"x\"}}");
    CHECK(!p->create && !p->again_ms && says(p, "UnparseableCronJobSchedule"));
    p = cronjob_decide(&r.a, parse(&r.a, CRON("", "")), &r.jobs, NULL, "no such zone",
                       (int64_t)NOW_S * 1000);
    CHECK(!p->create && says(p, "UnknownTimeZone"));
    arena_fini(&r.a);
}

TEST_MAIN
