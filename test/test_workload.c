/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the workload controllers, and the plans of ReplicaSets. */
#include "test.h"
#include "workload/frame/view.h"
#include "workload/replicas/plan.h"

/* ---------------------------------------------------------------- tables */

static char told[512]; /* "+a" appears, "~a" changes, "-a" leaves, "." after it: not visible */

static void on_change(void *arg, const struct workload_object *o, enum workload_change change,
                      bool is_visible)
{
    size_t n = strlen(told);
    (void)snprintf(told + n, sizeof told - n, "%c" STR_FMT "%s",
                   change == WORKLOAD_APPEARS   ? '+'
                   : change == WORKLOAD_CHANGES ? '~'
                                                : '-',
                   STR_ARG(workload_object_name(o)), is_visible ? " " : ". ");
}

static void on_synced(void *arg)
{
    *(bool *)arg = true;
}

static struct workload_view view;
static struct workload_table *pods;
static bool is_synced;

static void open_view(void)
{
    told[0] = 0;
    is_synced = false;
    workload_view_init(&view, &(struct workload_view_opts){ .on_change = on_change,
                                                            .on_synced = on_synced,
                                                            .arg = &is_synced });
    workload_view_add(&view, &workload_pods);
    pods = workload_view_table(&view, &workload_pods);
    workload_table_list_begins(pods);
    workload_table_list_ends(pods, 10);
    CHECK(is_synced);
}

#define TOLD(want)                                                                                 \
    do {                                                                                           \
        CHECK_STR(str_of(told), want);                                                             \
        told[0] = 0;                                                                               \
    } while (0)

enum from { SEEN, WROTE };

static const char *namespace = "d"; /* of what is put */

static void put(enum from from, uint64_t rv, const char *name, const char *uid, const char *owner,
                const char *phase)
{
    struct arena a = { 0 };
    struct json *v = NULL;
    char *refs = owner
                     ? arena_printf(&a,
                                    ",\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"s\","
                                    "\"uid\":\"%s\",\"controller\":true}]",
                                    owner)
                     : arena_printf(&a, "%s", "");
    char *text = arena_printf(
        &a,
        "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":"
        "\"%llu\",\"labels\":{\"a\":\"b\"}%s},\"status\":{\"phase\":\"%s\"}}",
        namespace, name, uid, (unsigned long long)rv, refs, phase);
    CHECK_OK(json_parse(&a, str_of(text), NULL, &v, NULL));
    (from == SEEN ? workload_table_seen : workload_table_wrote)(pods, v);
    arena_fini(&a);
}

static size_t n_owned(const char *uid)
{
    const struct workload_group *g = workload_table_owned(pods, STR("d"), str_of(uid));
    return g ? g->n : 0;
}

TEST(the_answer_to_a_write_is_known_before_its_event)
{
    open_view();
    put(WROTE, 11, "a", "1", "s1", "Pending");
    TOLD("+a ");
    CHECK_INT(n_owned("s1"), 1);
    put(SEEN, 11, "a", "1", "s1", "Pending");
    TOLD("");
    put(SEEN, 12, "a", "1", "s1", "Running");
    TOLD("~a ");
    put(SEEN, 13, "a", "1", "s1", "Running");
    TOLD("~a. ");
    workload_view_fini(&view);
}

TEST(an_answer_that_is_older_than_the_events_changes_nothing)
{
    open_view();
    put(SEEN, 11, "a", "1", "s1", "Pending");
    workload_table_removed(pods, STR("d"), STR("a"), 12);
    put(SEEN, 13, "b", "2", "s1", "Pending");
    TOLD("+a -a +b ");
    put(WROTE, 11, "a", "1", "s1", "Pending");
    TOLD("");
    CHECK_INT(n_owned("s1"), 1);
    workload_view_fini(&view);
}

TEST(what_was_removed_does_not_come_back_with_a_late_answer)
{
    open_view();
    put(SEEN, 11, "a", "1", "s1", "Pending");
    workload_table_removed(pods, STR("d"), STR("a"), 12);
    put(WROTE, 12, "a", "1", "s1", "Pending"); /* the patch that took the last finalizer */
    TOLD("+a -a ");
    workload_view_fini(&view);
}

TEST(a_late_removal_leaves_the_next_object_of_the_name)
{
    open_view();
    put(SEEN, 11, "a", "1", "s1", "Pending");
    put(WROTE, 13, "a", "2", "s1", "Pending");
    workload_table_removed(pods, STR("d"), STR("a"), 12);
    TOLD("+a -a +a ");
    CHECK_INT(n_owned("s1"), 1);
    workload_view_fini(&view);
}

TEST(a_list_keeps_what_was_made_after_it)
{
    open_view();
    put(SEEN, 11, "old", "1", "s1", "Pending");
    put(WROTE, 15, "new", "2", "s1", "Pending");
    told[0] = 0;
    workload_table_list_begins(pods);
    workload_table_list_ends(pods, 14);
    TOLD("-old ");
    CHECK_INT(n_owned("s1"), 1);
    workload_view_fini(&view);
}

/* Whoever may make pods in one namespace must not count for owners in another one. */
TEST(an_owner_is_of_the_same_namespace)
{
    open_view();
    put(SEEN, 11, "a", "1", "s1", "Pending");
    namespace = "e";
    put(SEEN, 12, "b", "2", "s1", "Pending");
    namespace = "d";
    CHECK_INT(n_owned("s1"), 1);
    const struct workload_group *g = workload_table_owned(pods, STR("e"), STR("s1"));
    CHECK(g && g->n == 1);
    workload_view_fini(&view);
}

/* Its objects come by name: the version of one says nothing about the others. */
TEST(an_answer_during_a_list_counts)
{
    open_view();
    put(SEEN, 11, "a", "1", "s1", "Pending");
    workload_table_list_begins(pods);
    put(SEEN, 19, "a", "1", "s1", "Running");
    put(WROTE, 15, "b", "2", "s1", "Pending");
    CHECK_INT(n_owned("s1"), 2);
    workload_table_list_ends(pods, 14);
    CHECK_INT(n_owned("s1"), 2);
    workload_view_fini(&view);
}

TEST(an_accepted_deletion_is_not_undone_by_an_older_event)
{
    open_view();
    put(SEEN, 11, "a", "1", "s1", "Pending");
    workload_table_deleted(pods, STR("d"), STR("a"), STR("1"));
    TOLD("+a ~a ");
    put(SEEN, 12, "a", "1", "s1", "Running");
    CHECK(workload_table_find(pods, STR("d"), STR("a"))->is_deleting);
    workload_table_deleted(pods, STR("d"), STR("a"), STR("2"));
    workload_view_fini(&view);
}

TEST(an_object_of_the_same_name_is_another_one)
{
    open_view();
    put(SEEN, 11, "a", "1", "s1", "Pending");
    put(SEEN, 13, "a", "2", "s2", "Pending");
    TOLD("+a -a +a ");
    CHECK_INT(n_owned("s1"), 0);
    CHECK_INT(n_owned("s2"), 1);
    put(WROTE, 12, "a", "1", "s1", "Pending");
    TOLD("");
    workload_view_fini(&view);
}

TEST(an_object_that_changes_its_controller_leaves_and_appears)
{
    open_view();
    put(SEEN, 11, "a", "1", NULL, "Pending");
    CHECK_INT(workload_table_orphans(pods, STR("d"))->n, 1);
    put(SEEN, 12, "a", "1", "s1", "Pending");
    TOLD("+a -a +a ");
    CHECK(!workload_table_orphans(pods, STR("d")));
    CHECK_INT(n_owned("s1"), 1);
    workload_view_fini(&view);
}

/* ---------------------------------------------------------------- ranks */

enum { NOW_S = 1000000000 };
enum { P = WORKLOAD_PENDING, U = WORKLOAD_UNKNOWN, R = WORKLOAD_RUNNING };

static struct workload_claim claim_of(struct arena *a, const char *name, struct workload_pod pod)
{
    struct workload_pod *facts = arena_new(a, struct workload_pod);
    *facts = pod;
    return (struct workload_claim){ .name = str_of(name), .uid = str_of(name), .facts = facts };
}

/* The order of deletion, as letters. */
static const char *order_of(struct arena *a, struct workload_claim *pods_in, size_t n,
                            const struct workload_claims *related)
{
    char *text = arena_alloc(a, n + 1);
    replicas_rank(a, pods_in, n, n - 1, related, (int64_t)NOW_S * 1000);
    for (size_t i = 0; i < n; i++)
        text[i] = pods_in[i].name.p[0];
    return text;
}

/* Upstream's TestSortingActivePodsWithRanks and TestSortingActivePods. */
TEST(pods_are_deleted_in_upstreams_order)
{
    struct arena a = { 0 };
    const struct workload_pod rows[] = {
        { .phase = P, .created_s = 0 },                                       /* unassigned */
        { .node = 1, .phase = P },                                            /* pending */
        { .node = 1, .phase = U },                                            /* unknown */
        { .node = 1, .phase = R, .created_s = 1000 },                         /* not ready */
        { .node = 1, .phase = R, .is_ready = 1, .deletion_cost = -10 },       /* cheap */
        { .node = 2, .phase = R, .is_ready = 1, .ready_since_s = 0 },         /* beside another */
        { .node = 1, .phase = R, .is_ready = 1, .ready_since_s = 0 },         /* ready: unknown */
        { .node = 1, .phase = R, .is_ready = 1, .ready_since_s = NOW_S - 9 }, /* ready a little */
        { .node = 1, .phase = R, .is_ready = 1, .ready_since_s = 1000, .n_restarts = 7 },
        { .node = 1, .phase = R, .is_ready = 1, .ready_since_s = 1000, .created_s = NOW_S - 9 },
        { .node = 1, .phase = R, .is_ready = 1, .ready_since_s = 1000, .created_s = 1000 },
        { .node = 1, .phase = R, .is_ready = 1, .deletion_cost = 10 },
    };
    static const char *const names[] = {
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"
    };
    enum { N = ARRAY_LEN(rows) };
    struct workload_claim beside[] = { claim_of(&a, "x", (struct workload_pod){ .node = 2 }),
                                       claim_of(&a, "y", (struct workload_pod){ .node = 2 }) };
    for (unsigned shift = 0; shift < N; shift++) {
        struct workload_claim list[N];
        for (unsigned i = 0; i < N; i++)
            list[i] = claim_of(&a, names[(i * 5 + shift) % N], rows[(i * 5 + shift) % N]);
        const struct workload_claims related = { beside, 2 };
        CHECK_STR(str_of(order_of(&a, list, N, &related)), "abcdefghijkl");
    }
    arena_fini(&a);
}

TEST(among_pods_of_about_the_same_age_the_uid_decides)
{
    struct arena a = { 0 };
    const struct workload_claims none = { 0 };
    struct workload_claim list[] = {
        claim_of(&a, "b", (struct workload_pod){ .phase = R, .created_s = NOW_S - 100 }),
        claim_of(&a, "a", (struct workload_pod){ .phase = R, .created_s = NOW_S - 120 }),
        claim_of(&a, "c", (struct workload_pod){ .phase = R, .created_s = NOW_S - 10 }),
    };
    CHECK_STR(str_of(order_of(&a, list, 3, &none)), "cab");
    arena_fini(&a);
}

/* ---------------------------------------------------------------- counts */

TEST(a_set_makes_or_deletes_what_is_missing_or_too_many)
{
    CHECK_INT(replicas_need(3, 1).n_create, 2);
    CHECK_INT(replicas_need(3, 1).n_delete, 0);
    CHECK_INT(replicas_need(1, 3).n_delete, 2);
    CHECK_INT(replicas_need(2, 2).n_create + replicas_need(2, 2).n_delete, 0);
    CHECK_INT(replicas_need(100000, 0).n_create, REPLICAS_BURST);
    CHECK_INT(replicas_need(0, 100000).n_delete, REPLICAS_BURST);
}

TEST(a_pod_is_available_after_it_was_ready_for_long_enough)
{
    struct arena a = { 0 };
    struct workload_claim list[] = {
        claim_of(&a, "a", (struct workload_pod){ .is_ready = 1, .ready_since_s = NOW_S - 10 }),
        claim_of(&a, "b", (struct workload_pod){ .is_ready = 1, .ready_since_s = NOW_S - 3 }),
        claim_of(&a, "c", (struct workload_pod){ .is_ready = 1, .ready_since_s = NOW_S - 1 }),
        claim_of(&a, "d", (struct workload_pod){ .is_ready = 0 }),
        claim_of(&a, "e", (struct workload_pod){ .is_ready = 1, .phase = WORKLOAD_FAILED }),
        claim_of(&a, "f", (struct workload_pod){ .is_ready = 1 }),
    };
    struct json *labels = json_new_object(&a);
    json_set_str(&a, labels, "a", STR("b"));
    list[0].labels = labels;
    list[5].is_deleting = true;
    const struct workload_claims all = { list, ARRAY_LEN(list) };
    struct replicas_counts c = replicas_count(&all, labels, 5, (int64_t)NOW_S * 1000);
    CHECK_INT(c.replicas, 4);
    CHECK_INT(c.fully_labeled, 1);
    CHECK_INT(c.ready, 3);
    CHECK_INT(c.available, 1);
    CHECK_INT(c.terminating, 1);
    CHECK_INT(c.again_ms, 2000);
    c = replicas_count(&all, NULL, 0, (int64_t)NOW_S * 1000);
    CHECK_INT(c.available, 3);
    CHECK_INT(c.again_ms, 0);
    arena_fini(&a);
}

TEST(a_failure_is_a_condition_until_pods_can_be_made)
{
    struct arena a = { 0 };
    struct json *rs = NULL;
    const struct replicas_counts none = { 0 };
    CHECK_OK(json_parse(&a, STR("{\"kind\":\"ReplicaSet\",\"metadata\":{\"generation\":4}}"), NULL,
                        &rs, NULL));
    struct json *status = replicas_status(&a, rs, &none, "FailedCreate", STR("no quota"), 1000);
    const struct json *c = json_first(json_getc(status, "conditions"));
    CHECK_STR(json_get_str(c, "type"), "ReplicaFailure");
    CHECK_STR(json_get_str(c, "reason"), "FailedCreate");
    CHECK_STR(json_get_str(c, "message"), "no quota");
    CHECK_STR(json_get_str(c, "lastTransitionTime"), "1970-01-01T00:00:01Z");
    CHECK_INT(json_int_or(json_getc(status, "observedGeneration"), 0), 4);
    json_setc(&a, rs, "status", status);
    CHECK(json_equal(replicas_status(&a, rs, &none, "FailedCreate", STR("still"), 9000), status));
    status = replicas_status(&a, rs, &none, "", STR(""), 9000);
    CHECK(!json_getc(status, "conditions"));
    CHECK_INT(json_int_or(json_getc(status, "replicas"), -1), 0);
    arena_fini(&a);
}

TEST_MAIN
