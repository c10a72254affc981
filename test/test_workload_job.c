/* SPDX-License-Identifier: Apache-2.0 */
/* What a Job decides about its pods, and how it counts them. */
#include "test.h"
#include "workload/frame/condition.h"
#include "workload/job/policy.h"
#include "workload/job/status.h"

enum { NOW_S = 1000000 };
enum { P = WORKLOAD_PENDING, R = WORKLOAD_RUNNING, S = WORKLOAD_SUCCEEDED, F = WORKLOAD_FAILED };

static struct json *parse(struct arena *a, const char *text)
{
    struct json *v = NULL;
    CHECK_OK(json_parse(a, str_of(text), NULL, &v, NULL));
    return v;
}

/* ---------------------------------------------------------------- indexes */

TEST(indexes_are_written_as_they_are_read)
{
    static const char *const rows[][2] = {
        { "", "" },         { "0", "0" },         { "1,2", "1,2" }, { "1-3", "1-3" },
        { "1,2,3", "1-3" }, { "0,2,4", "0,2,4" }, { "5,1", "1,5" }, { "0-2,3-5", "0-5" },
        { "8-20", "8,9" },  { "x,1,-", "1" },     { "3-1", "" },    { "12", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct job_indexes s = { .arena = &a };
        struct buf text = BUF_INIT(100);
        job_indexes_parse(&s, str_of(rows[i][0]), 10);
        job_indexes_write(&s, &text);
        CHECK_STR(buf_str(&text), rows[i][1]);
        buf_fini(&text);
        arena_fini(&a);
    }
}

TEST(sets_of_indexes_are_like_arrays_of_bits)
{
    struct arena a = { 0 };
    struct job_indexes s = { .arena = &a };
    bool bits[64] = { 0 };
    for (unsigned round = 0; round < 200; round++) {
        int32_t index = (int32_t)((round * 37 + round / 7) % 64);
        int64_t n = 0;
        bits[index] = true;
        job_indexes_add(&s, index);
        for (int32_t i = 0; i < 64; i++) {
            CHECK(job_indexes_has(&s, i) == bits[i]);
            n += bits[i];
        }
        CHECK_INT(job_indexes_count(&s), n);
        for (size_t i = 1; i < s.n; i++)
            CHECK(s.p[i].first > s.p[i - 1].last + 1);
    }
    arena_fini(&a);
}

/* ---------------------------------------------------------------- decisions */

enum { PODS_MAX = 8 };

struct rig {
    struct arena a;
    struct workload_pod facts[PODS_MAX];
    struct workload_claim at[PODS_MAX];
    struct workload_claims pods;
    struct job_plan *j;
};

static void rig_pod(struct rig *r, struct workload_pod facts)
{
    static const char *const names[PODS_MAX] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7" };
    size_t i = r->pods.n++;
    facts.node = 1;
    r->facts[i] = facts;
    r->at[i] = (struct workload_claim){ .name = str_of(names[i]),
                                        .uid = str_of(names[i]),
                                        .facts = &r->facts[i] };
    r->pods.at = r->at;
}

static struct job_plan *decide(struct rig *r, const char *object)
{
    r->j = job_read(&r->a, parse(&r->a, object), &r->pods, NULL, (int64_t)NOW_S * 1000);
    job_decide(&r->a, r->j);
    return r->j;
}

static size_t n_removed(const struct job_plan *j)
{
    size_t n = 0;
    for (size_t i = 0; i < j->n; i++)
        n += j->pods[i].is_removed;
    return n;
}

struct decision {
    const char *object;
    struct {
        size_t active, succeeded, failed; /* pods; those that ended are not counted yet */
    } pods;
    size_t want_create, want_remove;
    const char *want_finish; /* reason; "": it goes on */
};

#define SPEC(members) "{\"spec\":{" members "}}"

/* Cases like those of upstream's TestControllerSyncJob. */
TEST(a_job_makes_deletes_and_ends)
{
    static const struct decision rows[] = {
        { SPEC("\"parallelism\":2,\"completions\":5"), { 0, 0, 0 }, 2, 0, "" },
        { SPEC("\"parallelism\":2,\"completions\":5"), { 2, 0, 0 }, 0, 0, "" },
        { SPEC("\"parallelism\":2,\"completions\":5"), { 1, 1, 0 }, 1, 0, "" },
        { SPEC("\"parallelism\":2,\"completions\":5"), { 3, 0, 0 }, 0, 1, "" },
        { SPEC("\"parallelism\":2,\"completions\":5"), { 1, 4, 0 }, 0, 0, "" },
        { SPEC("\"parallelism\":2,\"completions\":5"), { 0, 5, 0 }, 0, 0, "CompletionsReached" },
        { SPEC("\"parallelism\":2,\"completions\":5"), { 1, 5, 0 }, 0, 1, "CompletionsReached" },
        { SPEC("\"parallelism\":2,\"completions\":0"), { 0, 0, 0 }, 0, 0, "CompletionsReached" },
        { SPEC("\"parallelism\":2"), { 0, 0, 0 }, 2, 0, "" }, /* a work queue */
        { SPEC("\"parallelism\":2"), { 1, 1, 0 }, 0, 0, "" },
        { SPEC("\"parallelism\":2"), { 0, 1, 0 }, 0, 0, "CompletionsReached" },
        { SPEC("\"parallelism\":0"), { 2, 0, 0 }, 0, 2, "" },
        { SPEC("\"parallelism\":2,\"completions\":5,\"suspend\":true"), { 2, 0, 0 }, 0, 2, "" },
        { SPEC("\"completions\":1,\"backoffLimit\":0"), { 0, 0, 1 }, 0, 0, "BackoffLimitExceeded" },
        { SPEC("\"completions\":1,\"backoffLimit\":1"), { 0, 0, 1 }, 1, 0, "" },
        { SPEC("\"completions\":2,\"parallelism\":2,\"backoffLimit\":1"),
          { 1, 0, 2 },
          0,
          1,
          "BackoffLimitExceeded" },
        { "{\"spec\":{\"completions\":2,\"activeDeadlineSeconds\":9},\"status\":{\"startTime\":"
          "\"1970-01-01T00:00:01Z\"}}",
          { 1, 0, 0 },
          0,
          1,
          "DeadlineExceeded" },
        { "{\"spec\":{\"completions\":2},\"status\":{\"succeeded\":1}}", { 0, 0, 0 }, 1, 0, "" },
        { "{\"spec\":{\"completions\":2},\"status\":{\"succeeded\":1,\"uncountedTerminatedPods\":{"
          "\"succeeded\":[\"gone\"]}}}",
          { 0, 0, 0 },
          0,
          0,
          "CompletionsReached" },
        { "{\"spec\":{\"completions\":2},\"status\":{\"conditions\":[{\"type\":\"FailureTarget\","
          "\"status\":\"True\",\"reason\":\"Before\"}]}}",
          { 1, 0, 0 },
          0,
          1,
          "Before" },
        { "{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{"
          "\"completions\":2}}",
          { 0, 0, 0 },
          0,
          0,
          "" },
    };
    for (const struct decision *row = rows; row < rows + ARRAY_LEN(rows); row++) {
        struct rig r = { 0 };
        for (size_t i = 0; i < row->pods.active; i++)
            rig_pod(&r, (struct workload_pod){ .phase = R, .is_tracked = 1, .index = -1 });
        for (size_t i = 0; i < row->pods.succeeded; i++)
            rig_pod(&r, (struct workload_pod){ .phase = S, .is_tracked = 1, .index = -1 });
        for (size_t i = 0; i < row->pods.failed; i++)
            rig_pod(&r, (struct workload_pod){ .phase = F, .is_tracked = 1, .index = -1 });
        const struct job_plan *j = decide(&r, row->object);
        CHECK_INT(j->n_create, row->want_create);
        CHECK_INT(n_removed(j), row->want_remove);
        CHECK_STR(j->finish.reason, row->want_finish);
        arena_fini(&r.a);
    }
}

TEST(after_failures_the_next_pod_waits_longer_each_time)
{
    static const struct {
        size_t failures;
        uint64_t want_ms;
    } rows[] = { { 1, 10000 }, { 2, 20000 }, { 3, 40000 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = { 0 };
        rig_pod(&r, (struct workload_pod){ .phase = S, .finished_s = NOW_S - 50, .index = -1 });
        rig_pod(&r, (struct workload_pod){ .phase = F, .finished_s = NOW_S - 90, .index = -1 });
        for (size_t k = 0; k < rows[i].failures; k++)
            rig_pod(&r, (struct workload_pod){ .phase = F, .finished_s = NOW_S, .index = -1 });
        const struct job_plan *j = decide(&r, SPEC("\"completions\":9"));
        CHECK_INT(j->n_create, 0);
        CHECK_INT(j->again_ms, rows[i].want_ms);
        arena_fini(&r.a);
    }
}

#define INDEXED(more)                                                                              \
    SPEC("\"completionMode\":\"Indexed\",\"completions\":5,\"parallelism\":3" more)

TEST(an_index_has_one_pod_at_a_time)
{
    struct rig r = { 0 };
    rig_pod(&r, (struct workload_pod){ .phase = R, .index = 1 });
    rig_pod(&r, (struct workload_pod){ .phase = S, .index = 0, .is_tracked = 1 });
    struct job_plan *j = decide(&r, INDEXED(""));
    CHECK_INT(j->n_create, 2);
    CHECK_INT(j->create_index[0], 2);
    CHECK_INT(j->create_index[1], 3);
    arena_fini(&r.a);

    r = (struct rig){ 0 };
    rig_pod(&r, (struct workload_pod){ .phase = R, .index = 1 });
    rig_pod(&r, (struct workload_pod){ .phase = R, .index = 1 });
    rig_pod(&r, (struct workload_pod){ .phase = R, .index = 7 });
    rig_pod(&r, (struct workload_pod){ .phase = R, .index = 0 });
    rig_pod(&r, (struct workload_pod){ .phase = S, .index = 0, .is_tracked = 1 });
    j = decide(&r, INDEXED(""));
    CHECK_INT(n_removed(j), 3); /* a second one, one that does not exist, one that is done */
    CHECK(!j->pods[0].is_removed);
    arena_fini(&r.a);
}

TEST(an_index_that_failed_too_often_is_left_out)
{
    struct rig r = { 0 };
    rig_pod(&r,
            (struct workload_pod){ .phase = F, .index = 0, .is_tracked = 1, .index_failures = 1 });
    rig_pod(&r, (struct workload_pod){ .phase = F, .index = 1, .is_tracked = 1 });
    struct job_plan *j = decide(&r, INDEXED(",\"backoffLimitPerIndex\":1,\"backoffLimit\":99"));
    CHECK(job_indexes_has(&j->failed, 0) && !job_indexes_has(&j->failed, 1));
    CHECK_INT(j->n_create, 3);
    CHECK_INT(j->create_index[0], 1);
    CHECK_INT(j->create_failures[0], 1);
    CHECK_INT(j->create_index[1], 2);
    j = decide(&r,
               INDEXED(",\"backoffLimitPerIndex\":0,\"maxFailedIndexes\":1,\"backoffLimit\":99"));
    CHECK_STR(j->finish.reason, "MaxFailedIndexesExceeded");
    arena_fini(&r.a);
}

TEST(a_success_policy_asks_for_indexes_or_a_number)
{
    static const struct {
        const char *rules;
        bool want;
    } rows[] = {
        { "[{\"succeededIndexes\":\"0,2\"}]", true },
        { "[{\"succeededIndexes\":\"0,3\"}]", false },
        { "[{\"succeededIndexes\":\"0,3-4\",\"succeededCount\":1}]", true },
        { "[{\"succeededCount\":3},{\"succeededCount\":2}]", true },
        { "[{\"succeededCount\":3}]", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = { 0 };
        rig_pod(&r, (struct workload_pod){ .phase = S, .index = 0, .is_tracked = 1 });
        rig_pod(&r, (struct workload_pod){ .phase = S, .index = 2, .is_tracked = 1 });
        const struct job_plan *j = decide(
            &r, arena_printf(&r.a, INDEXED(",\"successPolicy\":{\"rules\":%s}"), rows[i].rules));
        CHECK(str_is(j->finish.reason, "SuccessPolicy") == rows[i].want);
        arena_fini(&r.a);
    }
}

TEST(the_first_rule_that_matches_a_failed_pod_counts)
{
    static const char pod[] =
        "{\"metadata\":{\"namespace\":\"d\",\"name\":\"p\"},\"status\":{\"conditions\":[{\"type\":"
        "\"DisruptionTarget\",\"status\":\"True\"}],\"containerStatuses\":[{\"name\":\"ok\","
        "\"state\":{\"terminated\":{\"exitCode\":0}}},{\"name\":\"a\",\"state\":{\"terminated\":{"
        "\"exitCode\":5}}}]}}";
    static const struct {
        const char *rule;
        enum job_pod_action want;
    } rows[] = {
        { "{\"action\":\"FailJob\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[4,5]}}",
          JOB_FAIL },
        { "{\"action\":\"FailJob\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[4]}}",
          JOB_COUNT },
        { "{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"NotIn\",\"values\":[4]}}",
          JOB_IGNORE },
        { "{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"NotIn\",\"values\":[5]}}",
          JOB_COUNT },
        { "{\"action\":\"FailIndex\",\"onExitCodes\":{\"containerName\":\"ok\",\"operator\":"
          "\"NotIn\",\"values\":[4]}}",
          JOB_COUNT },
        { "{\"action\":\"Ignore\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\",\"status\":"
          "\"True\"}]}",
          JOB_IGNORE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct str why = STR("");
        const struct json *job = parse(
            &a, arena_printf(&a, SPEC("\"podFailurePolicy\":{\"rules\":[%s]}"), rows[i].rule));
        CHECK_INT(job_policy_action(&a, job, parse(&a, pod), &why), rows[i].want);
        if (rows[i].want == JOB_FAIL)
            CHECK_STR(why, "Container a for pod d/p failed with exit code 5 matching FailJob rule "
                           "at index 0");
        arena_fini(&a);
    }
}

/* ---------------------------------------------------------------- status */

static bool is_p0(void *arg, struct str uid)
{
    return str_is(uid, "p0");
}

TEST(a_pod_is_listed_then_counted_and_then_the_job_ends)
{
    struct rig r = { 0 };
    int suspended;
    struct json *status = json_new_object(&r.a);
    rig_pod(&r, (struct workload_pod){ .phase = S, .is_tracked = 1, .index = -1 });
    rig_pod(&r, (struct workload_pod){ .phase = F, .is_tracked = 1, .index = -1 });
    const struct job_plan *j = decide(&r, SPEC("\"completions\":1"));
    job_status_begin(&r.a, j, status, &suspended);
    const struct json *lists = json_getc(status, "uncountedTerminatedPods");
    CHECK_STR(json_str(json_first(json_getc(lists, "succeeded"))), "p0");
    CHECK_STR(json_str(json_first(json_getc(lists, "failed"))), "p1");
    CHECK(workload_condition_find(status, "SuccessCriteriaMet"));
    job_status_count(&r.a, status, is_p0, NULL);
    CHECK_INT(json_int_or(json_getc(status, "failed"), 0), 1);
    CHECK(!json_getc(status, "succeeded") && !job_status_end(&r.a, j, status));
    r.at[0].uid = STR("other");
    struct json *list = json_getc(lists, "succeeded");
    json_add(list, json_new_cstr(&r.a, "p9"));
    (void)json_remove(list, json_first(list));
    job_status_count(&r.a, status, is_p0, NULL);
    CHECK_INT(json_int_or(json_getc(status, "succeeded"), 0), 1);
    CHECK_STR(str_of(job_status_end(&r.a, j, status)), "Complete");
    CHECK(json_getc(status, "completionTime"));
    arena_fini(&r.a);
}

#define TTL_TEXT                                                                                   \
    "{\"spec\":{\"ttlSecondsAfterFinished\":30},\"status\":{\"conditions\":[{\"type\":\"%s\","     \
    "\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T00:00:10Z\"}]}}"

TEST(a_ttl_begins_with_the_end)
{
    struct arena a = { 0 };
    CHECK_INT(job_ttl_ms(parse(&a, arena_printf(&a, TTL_TEXT, "Failed")), 15000), 25000);
    CHECK_INT(job_ttl_ms(parse(&a, arena_printf(&a, TTL_TEXT, "Complete")), 99000), 0);
    CHECK_INT(job_ttl_ms(parse(&a, arena_printf(&a, TTL_TEXT, "FailureTarget")), 99000), -1);
    CHECK_INT(job_ttl_ms(parse(&a, "{\"spec\":{}}"), 0), -1);
    arena_fini(&a);
}

TEST_MAIN
