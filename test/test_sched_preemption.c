/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DefaultPreemption, with native filters around it: whom it would evict where, which place it
 * takes, what it says, and what it asks of the API, in which order.
 */
#include "base/buf.h"
#include "sched/plugins/preemption.h"
#include "sched/queue/queue.h"
#include "test.h"

/* Rows say what differs. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* ---- a scheduler's surroundings ---- */

enum { WALL_S = 1767225600 }; /* 2026-01-01T00:00:00Z */

struct asked {
    char *text; /* "METHOD target body" */
    sched_api_done done;
    void *arg;
};
struct timed {
    uint64_t ms;
    void (*run)(void *arg);
    void *arg;
};
struct rig {
    struct sched_api api; /* first */
    struct intern_table *words;
    struct sched_cache *cache;
    struct sched_queue *queue;
    struct sched_profile profile;
    struct sched_plugin *plugin;
    VEC(struct asked) asked;
    VEC(struct timed) timed;
    struct buf log; /* Events, rejections */
    const char *waiting;
    uint64_t now_ms, random;
};

static void rig_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                     void *arg)
{
    struct rig *r = (struct rig *)api;
    struct asked a = { .text = xasprintf("%s " STR_FMT " " STR_FMT, rq->method, STR_ARG(rq->target),
                                         STR_ARG(rq->body)),
                       .done = done,
                       .arg = arg };
    CHECK(!rq->patch_type || strcmp(rq->patch_type, "application/strategic-merge-patch+json") == 0);
    vec_push(&r->asked, a);
}
static uint64_t rig_now(void *arg)
{
    return ((struct rig *)arg)->now_ms;
}
static int64_t rig_wall(void *arg)
{
    return (int64_t)WALL_S * 1000;
}
static uint64_t rig_random(void *arg)
{
    return ((struct rig *)arg)->random;
}
static void rig_after(void *arg, uint64_t ms, void (*run)(void *run_arg), void *run_arg)
{
    struct rig *r = arg;
    struct timed t = { ms, run, run_arg };
    vec_push(&r->timed, t);
}
static void rig_cancel_after(void *arg, void (*run)(void *run_arg), void *run_arg)
{
    struct rig *r = arg;
    for (size_t i = r->timed.n; i-- > 0;)
        if (r->timed.p[i].run == run && r->timed.p[i].arg == run_arg)
            vec_remove(&r->timed, i);
}
static void rig_record(struct sched_framework *f, const struct sched_reference *regarding,
                       const struct sched_reference *related, struct str type, struct str reason,
                       struct str action, struct str note)
{
    struct rig *r = f->arg;
    buf_printf(&r->log,
               STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " by " STR_FMT ": " STR_FMT "\n",
               STR_ARG(type), STR_ARG(reason), STR_ARG(action), STR_ARG(regarding->name),
               STR_ARG(related->name), STR_ARG(note));
}
static const struct sched_pod *rig_waiting(struct sched_framework *f, struct str uid)
{
    static const struct sched_pod some;
    const struct rig *r = f->arg;
    return r->waiting && str_is(uid, r->waiting) ? &some : NULL;
}
static bool rig_reject(struct sched_framework *f, struct str uid, struct str plugin,
                       struct str message)
{
    struct rig *r = f->arg;
    buf_printf(&r->log, "reject " STR_FMT ": " STR_FMT ": " STR_FMT "\n", STR_ARG(uid),
               STR_ARG(plugin), STR_ARG(message));
    return true;
}
static const struct sched_profile *rig_profile(void *arg, struct str scheduler_name)
{
    return &((struct rig *)arg)->profile;
}

/* The points of the plugins, by the order of the points. */
static void rig_config(struct sched_config_profile *c, const struct json *args)
{
    static const struct sched_config_plugin names[] = {
        { STR("PrioritySort"), 1 },     { STR("NodeUnschedulable"), 1 },
        { STR("NodeName"), 1 },         { STR("TaintToleration"), 1 },
        { STR("NodeAffinity"), 1 },     { STR("NodePorts"), 1 },
        { STR("NodeResourcesFit"), 1 }, { STR("DefaultPreemption"), 1 },
        { STR("DefaultBinder"), 1 },
    };
    static struct sched_config_args all[1];
    all[0] = (struct sched_config_args){ STR("DefaultPreemption"), args };
    *c = (struct sched_config_profile){ .scheduler_name = STR("default-scheduler"),
                                        .multi_point = { names, ARRAY_LEN(names) },
                                        .args = all,
                                        .n_args = args ? 1 : 0 };
    for (size_t i = 0; i < SCHED_CONFIG_POINTS; i++)
        c->at[i] = c->multi_point;
}

static int rig_start_with(struct rig *r, const char *args, struct err *err)
{
    struct arena a = { 0 };
    struct json *json = NULL;
    struct sched_config_profile config;
    *r = (struct rig){ .api = { rig_call }, .now_ms = 1000, .log = BUF_INIT(1 << 20) };
    r->words = intern_table_new();
    r->cache = sched_cache_new(r->words);
    struct sched_queue_opts opts = { .words = r->words, .profile = rig_profile, .arg = r };
    r->queue = sched_queue_new(&opts);
    r->profile.framework = (struct sched_framework){
        .words = r->words,
        .cache = r->cache,
        .nominator = sched_queue_nominator(r->queue),
        .queue = r->queue,
        .api = &r->api,
        .now_ms = rig_now,
        .wall_ms = rig_wall,
        .after = rig_after,
        .cancel_after = rig_cancel_after,
        .random = rig_random,
        .arg = r,
        .record_about = rig_record,
        .waiting_pod = rig_waiting,
        .reject_waiting_pod = rig_reject,
    };
    if (args)
        CHECK_OK(json_parse(&a, str_of(args), NULL, &json, NULL));
    rig_config(&config, json);
    int res = sched_profile_init(&r->profile, &config, 0, NULL, err);
    if (res >= 0)
        r->plugin = r->profile.at[SCHED_AT_POST_FILTER][0];
    arena_fini(&a);
    return res;
}

static void rig_start(struct rig *r)
{
    CHECK_OK(rig_start_with(r, NULL, NULL));
}

static void rig_stop(struct rig *r)
{
    sched_profile_fini(&r->profile);
    /* What is on its way is answered, as by a scheduler that ends. */
    for (size_t i = 0; i < r->asked.n; i++) {
        if (r->asked.p[i].done)
            r->asked.p[i].done(r->asked.p[i].arg, -ECANCELED, 0, STR(""), NULL);
        free(r->asked.p[i].text);
    }
    CHECK_INT(r->timed.n, 0);
    vec_fini(&r->asked);
    vec_fini(&r->timed);
    buf_fini(&r->log);
    sched_queue_free(r->queue);
    sched_cache_free(r->cache);
    intern_table_free(r->words);
}

/* ---- objects ---- */

static struct sched_object *read_object(struct rig *r, enum sched_kind kind, const char *text)
{
    struct arena a = { 0 };
    struct json *json;
    struct sched_object *o;
    struct err err = { 0 };
    CHECK_OK(json_parse(&a, str_of(text), NULL, &json, NULL));
    if (sched_object_read(r->words, kind, json, false, &o, &err) < 0)
        TEST_FAIL("%s: %s", text, err.text);
    arena_fini(&a);
    return o;
}

static void put(struct rig *r, enum sched_kind kind, const char *text)
{
    struct sched_object *o = read_object(r, kind, text);
    CHECK_OK(sched_cache_put(r->cache, o, NULL, NULL));
    sched_object_unref(r->words, o);
}

static void put_node(struct rig *r, const char *name, int cpu)
{
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"name\":\"%s\"},\"status\":{\"allocatable\":{\"cpu\":\"%dm\","
                  "\"memory\":\"1Gi\",\"pods\":\"32\"}}}",
                  name, cpu);
    put(r, SCHED_NODE, text);
}

struct pod {
    const char *name, *node;
    int priority, cpu, started_s; /* after WALL_S - 3600; 0: not yet */
    const char *labels;           /* `"app":"a"` */
    const char *more;             /* ",\"deletionTimestamp\":..." of metadata */
    const char *spec, *status;    /* `,"preemptionPolicy":"Never"` */
};

static struct sched_object *read_pod(struct rig *r, const struct pod *p)
{
    scoped(free_scoped) char *node = p->node ? xasprintf("\"nodeName\":\"%s\",", p->node) : NULL;
    scoped(free_scoped) char *started =
        p->started_s ? xasprintf(",\"startTime\":\"2025-12-31T23:%02d:%02dZ\"", p->started_s / 60,
                                 p->started_s % 60)
                     : NULL;
    scoped(free_scoped) char *text = xasprintf(
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"%s-uid\","
        "\"generation\":"
        "1,\"labels\":{%s}%s},\"spec\":{%s\"schedulerName\":\"default-scheduler\",\"priority\":%d,"
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%dm\"}}}]%s},"
        "\"status\":{\"phase\":\"Running\"%s%s}}",
        p->name, p->name, p->labels ? p->labels : "", p->more ? p->more : "", node ? node : "",
        p->priority, p->cpu, p->spec ? p->spec : "", started ? started : "",
        p->status ? p->status : "");
    return read_object(r, SCHED_POD, text);
}

static void put_pod(struct rig *r, const struct pod *p)
{
    struct sched_object *o = read_pod(r, p);
    CHECK_OK(sched_cache_put(r->cache, o, NULL, NULL));
    sched_object_unref(r->words, o);
}

/* ---- an attempt: PreFilter, Filter, PostFilter ---- */

struct attempt {
    struct arena arena;
    struct sched_cycle cycle;
    struct sched_post_filter pf;
    struct sched_object *pod;
    const struct sched_status *status;
};

static void attempt_filter(struct rig *r, struct attempt *a)
{
    const struct sched_profile *profile = &r->profile;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_FILTER]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_PRE_FILTER][i];
        struct sched_node_set set = { .all = true };
        const struct sched_status *s = p->ops->pre_filter(p, &a->cycle, &set);
        if (sched_code(s) == SCHED_SKIP)
            a->cycle.skip_filter |= UINT64_C(1) << p->position;
        else
            CHECK_INT(sched_code(s), SCHED_SUCCESS);
    }
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(r->cache, &n);
    struct sched_node_status *statuses = arena_new_n(&a->arena, struct sched_node_status, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct sched_status *s = sched_run_filters_nominated(&a->cycle, nodes[i]);
        if (sched_code(s) != SCHED_SUCCESS)
            statuses[a->pf.n_statuses++] = (struct sched_node_status){ nodes[i], s };
    }
    a->pf.statuses = statuses;
}

/* a: zeroed, may have is_dry_run. */
static void attempt_run(struct rig *r, struct attempt *a, const struct pod *p)
{
    a->pod = read_pod(r, p);
    a->cycle.arena = &a->arena;
    a->cycle.pod = sched_pod_of(a->pod);
    a->cycle.framework = &r->profile.framework;
    a->cycle.states = arena_new_n(&a->arena, void *, r->profile.n_plugins);
    attempt_filter(r, a);
    a->status = r->plugin->ops->post_filter(r->plugin, &a->cycle, &a->pf);
}

static void attempt_end(struct rig *r, struct attempt *a)
{
    for (unsigned i = 0; i < r->profile.n_plugins; i++)
        if (r->profile.plugins[i]->ops->end)
            r->profile.plugins[i]->ops->end(r->profile.plugins[i], &a->cycle);
    sched_object_unref(r->words, a->pod);
    arena_fini(&a->arena);
}

/* What is asked of the API after an attempt: victims in order, by name. */
static void check_preempts(struct rig *r, const struct pod *preemptor, const char *node,
                           const char *message)
{
    struct attempt a = { 0 };
    attempt_run(r, &a, preemptor);
    CHECK_STR(sched_status_message(&a.arena, a.status), message);
    CHECK_INT(sched_code(a.status), node[0] ? SCHED_SUCCESS : SCHED_UNSCHEDULABLE);
    CHECK_STR(a.pf.nominated, node);
    attempt_end(r, &a);
}

/* ---- whom, where ---- */

/* "node: victim victim !violations; ..." */
static void print_result(const struct preemption_result *found, struct buf *to)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct sched_candidate *c = &found->p[i];
        buf_printf(to, "%s" STR_FMT ":", i ? "; " : "", STR_ARG(intern_str(c->node->node->name)));
        for (uint32_t k = 0; k < c->n_victims; k++)
            buf_printf(to, " " STR_FMT, STR_ARG(c->victims[k]->o.name));
        if (c->n_violations > 0)
            buf_printf(to, " !%u", c->n_violations);
    }
}

static void check_search(struct rig *r, const struct pod *preemptor, size_t offset, size_t wanted,
                         const char *want)
{
    struct attempt a = { 0 };
    a.pod = read_pod(r, preemptor);
    a.cycle = (struct sched_cycle){ .arena = &a.arena,
                                    .pod = sched_pod_of(a.pod),
                                    .framework = &r->profile.framework };
    a.cycle.states = arena_new_n(&a.arena, void *, r->profile.n_plugins);
    attempt_filter(r, &a);
    const struct sched_node_info **nodes =
        arena_new_n(&a.arena, const struct sched_node_info *, a.pf.n_statuses + 1);
    for (size_t i = 0; i < a.pf.n_statuses; i++)
        nodes[i] = a.pf.statuses[i].node;
    struct preemption_search search = { .framework = &r->profile.framework };
    struct preemption_result found = { 0 };
    struct buf text = BUF_INIT(1 << 16);
    preemption_find(&search, &a.cycle, nodes, a.pf.n_statuses, offset, wanted, &found);
    print_result(&found, &text);
    CHECK_STR(buf_str(&text), want);
    buf_fini(&text);
    preemption_result_fini(&found);
    preemption_search_fini(&search);
    attempt_end(r, &a);
}

enum { LOW = 0, MID = 100, HIGH = 1000, HIGHEST = 10000 };

TEST(victims_are_those_of_lower_priority_that_must_go)
{
    static const struct {
        const char *what;
        struct pod pods[8];
        struct pod preemptor;
        const char *want;
    } rows[] = {
        { "no pod of lower priority",
          { { "a", "n1", HIGH, 600 }, { "b", "n2", MID, 600 } },
          { .name = "p", .priority = MID, .cpu = 600 },
          "" },
        { "too large for any node",
          { { "a", "n1", LOW, 600 }, { "b", "n2", LOW, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 2000 },
          "" },
        { "both nodes",
          { { "a", "n1", MID, 600 }, { "b", "n2", MID, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 600 },
          "n1: a; n2: b" },
        { "one node: the other's pod is more important",
          { { "a", "n1", MID, 600 }, { "b", "n2", HIGHEST, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 600 },
          "n1: a" },
        { "who fits beside stays",
          { { "a.1", "n1", LOW, 300 }, { "a.2", "n1", MID, 600 }, { "b", "n2", HIGHEST, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 600 },
          "n1: a.2" },
        { "the more important stays where either could go",
          { { "a.1", "n1", MID, 300 }, { "a.2", "n1", LOW, 300 }, { "b", "n2", HIGHEST, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 600 },
          "n1: a.2" },
        { "several go, the most important first",
          { { "a.1", "n1", LOW, 250 },
            { "a.2", "n1", LOW, 250 },
            { "a.3", "n1", MID, 250 },
            { "a.4", "n1", HIGHEST, 250 },
            { "b", "n2", HIGHEST, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 600 },
          "n1: a.3 a.1 a.2" },
        { "of equals who started last goes",
          { { "a.1", "n1", LOW, 300, 500 },
            { "a.2", "n1", LOW, 300, 400 },
            { "a.3", "n1", LOW, 300, 600 },
            { "b", "n2", HIGHEST, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 400 },
          "n1: a.3" },
        { "who has not started goes before who has",
          { { "a.1", "n1", LOW, 500 },
            { "a.2", "n1", LOW, 500, 3599 },
            { "b", "n2", HIGHEST, 600 } },
          { .name = "p", .priority = HIGH, .cpu = 500 },
          "n1: a.1" },
        { "negative priorities",
          { { "a", "n1", -10, 600 }, { "b", "n2", -5, 600 } },
          { .name = "p", .priority = -5, .cpu = 600 },
          "n1: a" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_start(&r);
        put_node(&r, "n1", 1000);
        put_node(&r, "n2", 1000);
        for (size_t k = 0; k < ARRAY_LEN(rows[i].pods) && rows[i].pods[k].name; k++)
            put_pod(&r, &rows[i].pods[k]);
        printf("# %s\n", rows[i].what);
        check_search(&r, &rows[i].preemptor, 0, 100, rows[i].want);
        rig_stop(&r);
    }
}

static void put_budget(struct rig *r, const char *name, const char *namespace, const char *selector,
                       int allowed, const char *disrupted)
{
    scoped(free_scoped) char *text = xasprintf(
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%s\"},\"spec\":{%s},"
        "\"status\":{\"disruptionsAllowed\":%d,\"disruptedPods\":{%s}}}",
        name, namespace, name, selector, allowed, disrupted);
    put(r, SCHED_PDB, text);
}
#define SELECTS_A "\"selector\":{\"matchLabels\":{\"app\":\"a\"}}"
#define DISRUPTED "\"2026-01-01T00:00:00Z\""

TEST(budgets_decide_who_is_put_back_first)
{
    static const struct {
        const char *what, *namespace, *selector;
        int allowed;
        const char *disrupted, *want;
    } rows[] = {
        /* Of three pods of 300 one has to go. a.1 is the most important, a.3 the least. */
        { "nothing allowed: all violate, as if there was no budget", "default", SELECTS_A, 0, "",
          "n1: a.3 !1; n2: b.3" },
        { "one allowed: it is the first's, the others are put back before", "default", SELECTS_A, 1,
          "", "n1: a.1; n2: b.3" },
        { "two allowed", "default", SELECTS_A, 2, "", "n1: a.2; n2: b.3" },
        { "three allowed", "default", SELECTS_A, 3, "", "n1: a.3; n2: b.3" },
        { "of another namespace", "other", SELECTS_A, 0, "", "n1: a.3; n2: b.3" },
        { "no selector", "default", "\"maxUnavailable\":1", 0, "", "n1: a.3; n2: b.3" },
        { "an empty selector", "default", "\"selector\":{}", 0, "", "n1: a.3; n2: b.3" },
        { "evictions that are counted already", "default", SELECTS_A, 0,
          "\"a.1\":" DISRUPTED ",\"a.2\":" DISRUPTED ",\"a.3\":" DISRUPTED, "n1: a.3; n2: b.3" },
        { "one of them is counted already", "default", SELECTS_A, 0, "\"a.3\":" DISRUPTED,
          "n1: a.3; n2: b.3" },
    };
    static const struct pod preemptor = { .name = "p", .priority = HIGH, .cpu = 400 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_start(&r);
        put_node(&r, "n1", 1000);
        put_node(&r, "n2", 1000);
        static const struct pod pods[] = {
            { "a.1", "n1", MID, 300, 1, "\"app\":\"a\"" },
            { "a.2", "n1", MID, 300, 2, "\"app\":\"a\"" },
            { "a.3", "n1", LOW, 300, 3, "\"app\":\"a\"" },
            { "b.1", "n2", MID, 300, 1, "\"app\":\"b\"" },
            { "b.2", "n2", MID, 300, 2, "" },
            { "b.3", "n2", LOW, 300, 3, "" },
        };
        for (size_t k = 0; k < ARRAY_LEN(pods); k++)
            put_pod(&r, &pods[k]);
        put_budget(&r, "budget", rows[i].namespace, rows[i].selector, rows[i].allowed,
                   rows[i].disrupted);
        printf("# %s\n", rows[i].what);
        /* Those without violations stand first. */
        const char *want = strstr(rows[i].want, "!") ? "n2: b.3; n1: a.3 !1" : rows[i].want;
        check_search(&r, &preemptor, 0, 100, want);
        rig_stop(&r);
    }
}

TEST(two_budgets_count_each_pod_in_both)
{
    struct rig r;
    rig_start(&r);
    put_node(&r, "n1", 1000);
    put_pod(&r, &(struct pod){ "a.1", "n1", MID, 500, 1, "\"app\":\"a\",\"tier\":\"x\"" });
    put_pod(&r, &(struct pod){ "a.2", "n1", LOW, 500, 1, "\"app\":\"a\"" });
    put_budget(&r, "one", "default", SELECTS_A, 2, "");
    struct pod all = { .name = "p", .priority = HIGH, .cpu = 1000 };
    check_search(&r, &all, 0, 100, "n1: a.1 a.2");
    put_budget(&r, "two", "default", "\"selector\":{\"matchLabels\":{\"tier\":\"x\"}}", 0, "");
    check_search(&r, &all, 0, 100, "n1: a.1 a.2 !1");
    /* a.1 violates and is put back first, though both violate nothing without the second one. */
    struct pod half = { .name = "p", .priority = HIGH, .cpu = 500 };
    check_search(&r, &half, 0, 100, "n1: a.2");
    rig_stop(&r);
}

TEST(a_search_ends_with_enough_candidates)
{
    struct rig r;
    rig_start(&r);
    for (int i = 1; i <= 5; i++) {
        char node[8], pod[8];
        snprintf(node, sizeof node, "n%d", i);
        snprintf(pod, sizeof pod, "a.%d", i);
        put_node(&r, node, 1000);
        put_pod(&r, &(struct pod){ pod, node, LOW, 600, 1, i < 3 ? "\"app\":\"a\"" : "" });
    }
    struct pod p = { .name = "p", .priority = HIGH, .cpu = 600 };
    check_search(&r, &p, 0, 2, "n1: a.1; n2: a.2");
    check_search(&r, &p, 3, 2, "n4: a.4; n5: a.5");
    check_search(&r, &p, 4, 3, "n5: a.5; n1: a.1; n2: a.2");
    /* Until there is one that violates nothing, which then stands first. */
    put_budget(&r, "budget", "default", SELECTS_A, 0, "");
    check_search(&r, &p, 0, 1, "n3: a.3; n1: a.1 !1");
    check_search(&r, &p, 0, 2, "n3: a.3; n1: a.1 !1; n2: a.2 !1");
    check_search(&r, &p, 2, 1, "n3: a.3");
    rig_stop(&r);
}

TEST(how_many_candidates_are_looked_for)
{
    /* Five nodes; the best is the last: its victim is the least important. */
    static const struct {
        const char *args, *node;
    } rows[] = {
        { "{\"minCandidateNodesPercentage\":10,\"minCandidateNodesAbsolute\":1}", "n1" },
        { "{\"minCandidateNodesPercentage\":40,\"minCandidateNodesAbsolute\":1}", "n2" },
        { "{\"minCandidateNodesPercentage\":0,\"minCandidateNodesAbsolute\":3}", "n3" },
        { "{\"minCandidateNodesPercentage\":100,\"minCandidateNodesAbsolute\":0}", "n5" },
        { "{}", "n5" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        CHECK_OK(rig_start_with(&r, rows[i].args, NULL));
        for (int k = 1; k <= 5; k++) {
            char node[8], pod[8];
            snprintf(node, sizeof node, "n%d", k);
            snprintf(pod, sizeof pod, "a.%d", k);
            put_node(&r, node, 1000);
            put_pod(&r, &(struct pod){ pod, node, 50 - k, 600, 1 });
        }
        check_preempts(&r, &(struct pod){ .name = "p", .priority = HIGH, .cpu = 600 }, rows[i].node,
                       "");
        rig_stop(&r);
    }
}

TEST(arguments_out_of_range_are_refused)
{
    static const struct {
        const char *args, *text;
    } rows[] = {
        { "{\"minCandidateNodesPercentage\":101}",
          "minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]" },
        { "{\"minCandidateNodesAbsolute\":-1}",
          "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)" },
        { "{\"minCandidateNodesPercentage\":0,\"minCandidateNodesAbsolute\":0}",
          "cannot be zero at the same time as minCandidateNodesPercentage]" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        struct err err = { 0 };
        CHECK_ERR(rig_start_with(&r, rows[i].args, &err), E_INVALID);
        if (!strstr(err.text, rows[i].text))
            TEST_FAIL("%s: %s", rows[i].args, err.text);
        rig_stop(&r);
    }
}

/* ---- which ---- */

TEST(the_best_candidate)
{
    static const struct {
        const char *what;
        struct {
            uint32_t violations;
            struct {
                int priority, started_s;
            } victims[4]; /* started_s 0: the end; -1: not started */
        } nodes[3];
        size_t best;
    } rows[] = {
        { "fewest violations",
          { { 2, { { 1, 1 } } }, { 1, { { 100, 1 } } }, { 2, { { 1, 1 } } } },
          1 },
        { "least important top victim",
          { { 0, { { 100, 1 } } }, { 0, { { 90, 1 }, { 90, 1 } } }, { 0, { { 101, 1 } } } },
          1 },
        { "smallest sum",
          { { 0, { { 100, 1 }, { 90, 1 } } },
            { 0, { { 100, 1 }, { 80, 1 } } },
            { 0, { { 100, 1 }, { 81, 1 } } } },
          1 },
        { "negative ones: fewer are a smaller sum",
          { { 0, { { -10, 1 }, { -10, 1 } } }, { 0, { { -10, 1 } } }, { 0, { { -9, 1 } } } },
          1 },
        { "the top victims that started last",
          { { 0, { { 10, 5 }, { 10, 7 } } },
            { 0, { { 10, 9 }, { 10, 3 } } },
            { 0, { { 10, 6 }, { 10, 6 } } } },
          2 },
        { "one that has not started began now",
          { { 0, { { 10, 5 } } }, { 0, { { 10, -1 } } }, { 0, { { 10, 9 } } } },
          1 },
        { "the start of less important ones does not count",
          { { 0, { { 10, 5 }, { 1, 9 } } }, { 0, { { 10, 6 }, { 1, 1 } } }, { 0, { { 11, 9 } } } },
          1 },
        { "the first of equals",
          { { 0, { { 10, 5 } } }, { 0, { { 10, 5 } } }, { 0, { { 10, 5 } } } },
          0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sched_pod pods[3][4] = { 0 };
        const struct sched_pod *victims[3][4];
        struct sched_candidate c[3] = { 0 };
        for (size_t n = 0; n < 3; n++) {
            c[n].n_violations = rows[i].nodes[n].violations;
            c[n].victims = victims[n];
            while (c[n].n_victims < 4 && rows[i].nodes[n].victims[c[n].n_victims].started_s) {
                struct sched_pod *pod = &pods[n][c[n].n_victims];
                int started = rows[i].nodes[n].victims[c[n].n_victims].started_s;
                pod->priority = rows[i].nodes[n].victims[c[n].n_victims].priority;
                pod->started_ms = started > 0 ? started * 1000 : 0;
                victims[n][c[n].n_victims++] = pod;
            }
        }
        printf("# %s\n", rows[i].what);
        CHECK_INT(preemption_choose(c, 3, (int64_t)WALL_S * 1000), rows[i].best);
    }
}

/* ---- who may, and what is said ---- */

#define ENDING ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""
#define VICTIM                                                                                     \
    ",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"              \
    "\"PreemptionByScheduler\"}]"
#define EVICTED                                                                                    \
    ",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"              \
    "\"EvictionByEvictionAPI\"}]"

TEST(a_pod_whose_victims_are_ending_waits_for_them)
{
    static const char waits[] =
        "preemption: not eligible due to a terminating pod on the nominated node.";
    static const struct {
        const char *what;
        struct pod victim;
        const char *nominated, *spec;
        const char *node, *message;
    } rows[] = {
        { "it never preempts",
          { "a", "n1", LOW, 600 },
          "",
          ",\"preemptionPolicy\":\"Never\"",
          "",
          "preemption: not eligible due to preemptionPolicy=Never." },
        { "it may", { "a", "n1", LOW, 600 }, "", "", "n1", "" },
        { "its victim is ending",
          { "a", "n1", LOW, 600, 1, "", ENDING, "", VICTIM },
          "n1",
          "",
          "",
          waits },
        { "a pod is ending that nobody preempted",
          { "a", "n1", LOW, 600, 1, "", ENDING },
          "n1",
          "",
          "n1",
          "" },
        { "...or that was evicted otherwise",
          { "a", "n1", LOW, 600, 1, "", ENDING, "", EVICTED },
          "n1",
          "",
          "n1",
          "" },
        { "its victim is not ending yet",
          { "a", "n1", LOW, 600, 1, "", "", "", VICTIM },
          "n1",
          "",
          "n1",
          "" },
        { "the victim is as important",
          { "a", "n1", HIGH, 600, 1, "", ENDING, "", VICTIM },
          "n1",
          "",
          "",
          "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
          "1 Preemption is not helpful for scheduling." },
        { "the nominated node has become impossible",
          { "a", "n1", LOW, 600, 1, "", ENDING, "", VICTIM },
          "n2",
          "",
          "n1",
          "" },
        { "the nominated node has gone",
          { "a", "n1", LOW, 600, 1, "", ENDING, "", VICTIM },
          "n9",
          "",
          "n1",
          "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_start(&r);
        put_node(&r, "n1", 1000);
        /* Preemption is no help on the other one. */
        put(&r, SCHED_NODE,
            "{\"metadata\":{\"name\":\"n2\"},\"spec\":{\"unschedulable\":true},\"status\":{"
            "\"allocatable\":{\"cpu\":\"1\",\"memory\":\"1Gi\",\"pods\":\"32\"}}}");
        put_pod(&r, &rows[i].victim);
        printf("# %s\n", rows[i].what);
        scoped(free_scoped) char *status =
            rows[i].nominated[0] ? xasprintf(",\"nominatedNodeName\":\"%s\"", rows[i].nominated)
                                 : NULL;
        struct pod p = {
            .name = "p", .priority = HIGH, .cpu = 600, .spec = rows[i].spec, .status = status
        };
        check_preempts(&r, &p, rows[i].node, rows[i].message);
        rig_stop(&r);
    }
}

TEST(what_is_said_where_preemption_does_not_help)
{
    struct rig r;
    rig_start(&r);
    put_node(&r, "n1", 1000);
    put_node(&r, "n2", 1000);
    put_node(&r, "n3", 300);
    put_node(&r, "n4", 1000);
    put(&r, SCHED_NODE,
        "{\"metadata\":{\"name\":\"n5\"},\"spec\":{\"unschedulable\":true},\"status\":{"
        "\"allocatable\":{\"cpu\":\"1\",\"memory\":\"1Gi\",\"pods\":\"32\"}}}");
    put_pod(&r, &(struct pod){ "a", "n1", HIGH, 900 });
    put_pod(&r, &(struct pod){ "b", "n2", HIGH, 900 });
    put_pod(&r, &(struct pod){ "c", "n3", LOW, 200 });
    put_pod(&r, &(struct pod){ "d", "n4", LOW, 100 });
    put_pod(&r, &(struct pod){ "e", "n4", HIGH, 700 });
    /* n3 is impossible from the start: it asks for more than there is. */
    struct pod p = { .name = "p", .priority = MID, .cpu = 500 };
    check_preempts(&r, &p, "",
                   "preemption: 0/5 nodes are available: 1 Insufficient cpu, 2 No preemption "
                   "victims found for incoming pod, 2 Preemption is not helpful for scheduling.");
    rig_stop(&r);
}

TEST(a_nomination_is_withdrawn_where_nothing_helps)
{
    struct rig r;
    rig_start(&r);
    put_node(&r, "n1", 1000);
    put_pod(&r, &(struct pod){ "a", "n1", HIGH, 900 });
    struct attempt a = { 0 };
    attempt_run(
        &r, &a,
        &(struct pod){
            .name = "p", .priority = MID, .cpu = 500, .status = ",\"nominatedNodeName\":\"n1\"" });
    CHECK(a.pf.overrides && a.pf.nominated.n == 0);
    attempt_end(&r, &a);
    rig_stop(&r);
}

/* ---- acts ---- */

#define PODS "/api/v1/namespaces/default/pods/"
static char *patch_of(const char *name)
{
    return xasprintf(
        "PATCH " PODS "%s/status {\"metadata\":{\"uid\":\"%s-uid\"},\"status\":{"
        "\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
        "\"PreemptionByScheduler\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\","
        "\"message\":\"default-scheduler: preempting to accommodate a higher priority "
        "pod\",\"observedGeneration\":1}]}}",
        name, name);
}
static char *delete_of(const char *name)
{
    return xasprintf("DELETE " PODS "%s {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                     "\"preconditions\":{\"uid\":\"%s-uid\"}}",
                     name, name);
}

/* The oldest request that is not answered is this one; NULL: there is none. Answers it. */
static void check_asked(struct rig *r, char *want, int answer)
{
    size_t i = 0;
    while (i < r->asked.n && !r->asked.p[i].done)
        i++;
    if (!want) {
        if (i < r->asked.n)
            TEST_FAIL("nothing expected, but %s", r->asked.p[i].text);
        return;
    }
    CHECK(i < r->asked.n);
    CHECK_STR(str_of(r->asked.p[i].text), want);
    free(want);
    sched_api_done done = r->asked.p[i].done;
    r->asked.p[i].done = NULL;
    if (answer < 0)
        done(r->asked.p[i].arg, answer, 0, STR(""), NULL);
    else
        done(r->asked.p[i].arg, 0, answer, STR("{}"), NULL);
}

static bool is_held(struct rig *r, const struct pod *p)
{
    struct arena a = { 0 };
    struct sched_object *pod = read_pod(r, p);
    const struct sched_status *s = r->plugin->ops->pre_enqueue(r->plugin, &a, sched_pod_of(pod));
    if (s)
        CHECK_STR(sched_status_message(&a, s),
                  "waiting for the preemption for this pod to be finished");
    sched_object_unref(r->words, pod);
    arena_fini(&a);
    return s != NULL;
}

static void check_log(struct rig *r, const char *want)
{
    CHECK_STR(buf_str(&r->log), want);
    buf_reset(&r->log);
}

static const struct pod preemptor = { .name = "p", .priority = HIGH, .cpu = 900 };

/* One node, victims a and b of 300, c of 300 that goes already. */
static void start_three(struct rig *r)
{
    rig_start(r);
    put_node(r, "n1", 1000);
    put_pod(r, &(struct pod){ "a", "n1", LOW, 300, 3 });
    put_pod(r, &(struct pod){ "b", "n1", LOW, 300, 2 });
    put_pod(r, &(struct pod){ "c", "n1", MID, 300, 1, "", ENDING });
}

TEST(victims_are_evicted_and_the_last_one_alone)
{
    struct rig r;
    start_three(&r);
    put_pod(&r, &(struct pod){ "d", "n1", LOW, 50, 4 });
    CHECK(!is_held(&r, &preemptor));
    check_preempts(&r, &preemptor, "n1", "");
    CHECK(is_held(&r, &preemptor));
    /* By importance: c, which goes already, b, a, d, of which d fits beside (none has 100 left). */
    CHECK_INT(r.asked.n, 1);
    check_asked(&r, patch_of("b"), 200);
    check_log(&r, "");
    check_asked(&r, delete_of("b"), 200);
    check_log(&r, "Normal Preempted Preempting b by p: Preempted by pod p-uid on node n1\n");
    CHECK(is_held(&r, &preemptor));
    check_asked(&r, patch_of("a"), 200);
    CHECK(is_held(&r, &preemptor));
    /* The last victim's end may be seen before the answer. */
    put_pod(&r, &(struct pod){ "a", "n1", LOW, 300, 3, "", ENDING });
    CHECK(!is_held(&r, &preemptor));
    check_asked(&r, delete_of("a"), 200);
    check_log(&r, "Normal Preempted Preempting a by p: Preempted by pod p-uid on node n1\n");
    CHECK(!is_held(&r, &preemptor));
    check_asked(&r, NULL, 0);
    rig_stop(&r);
}

TEST(victims_that_all_go_already_are_left_alone)
{
    struct rig r;
    rig_start(&r);
    put_node(&r, "n1", 1000);
    put_pod(&r, &(struct pod){ "a", "n1", LOW, 900, 1, "", ENDING });
    check_preempts(&r, &preemptor, "n1", "");
    check_asked(&r, NULL, 0);
    CHECK(!is_held(&r, &preemptor));
    rig_stop(&r);
}

TEST(a_dry_run_evicts_nobody)
{
    struct rig r;
    start_three(&r);
    struct attempt a = { .cycle = { .is_dry_run = true } };
    attempt_run(&r, &a, &preemptor);
    CHECK(sched_code(a.status) == SCHED_SUCCESS && str_is(a.pf.nominated, "n1"));
    attempt_end(&r, &a);
    check_asked(&r, NULL, 0);
    rig_stop(&r);
}

/* Somebody else was faster: that is as good. */
TEST(victims_that_are_gone_are_no_failure)
{
    struct rig r;
    start_three(&r);
    check_preempts(&r, &preemptor, "n1", "");
    check_asked(&r, patch_of("b"), 404);
    check_asked(&r, patch_of("a"), 200);
    check_asked(&r, delete_of("a"), 409); /* another pod of that name */
    check_log(&r, "");
    CHECK(!is_held(&r, &preemptor));
    check_asked(&r, NULL, 0);
    rig_stop(&r);
}

static void queue_refused(struct rig *r, const struct pod *p)
{
    struct sched_object *pod = read_pod(r, p);
    CHECK_OK(sched_queue_put(r->queue, sched_pod_of(pod), r->now_ms, NULL));
    CHECK(sched_queue_pop(r->queue, r->now_ms) != NULL);
    sched_queue_back(r->queue, pod->uid, 1, 0, r->now_ms);
    sched_object_unref(r->words, pod);
}

TEST(a_failed_eviction_brings_the_pod_back_at_once)
{
    struct rig r;
    start_three(&r);
    queue_refused(&r, &preemptor);
    struct sched_queue_count count;
    check_preempts(&r, &preemptor, "n1", "");
    check_asked(&r, patch_of("b"), 200);
    check_asked(&r, delete_of("b"), 403);
    /* The last victim is spared. */
    check_asked(&r, NULL, 0);
    check_log(&r, "");
    CHECK(!is_held(&r, &preemptor));
    sched_queue_count(r.queue, &count);
    CHECK_INT(count.active, 1);
    rig_stop(&r);
}

TEST(conditions_are_tried_again)
{
    struct rig r;
    start_three(&r);
    check_preempts(&r, &preemptor, "n1", "");
    static const uint64_t pauses[] = { 10, 50, 250 };
    static const int answers[] = { 503, 500, -ECONNREFUSED };
    for (size_t i = 0; i < ARRAY_LEN(pauses); i++) {
        check_asked(&r, patch_of("b"), answers[i]);
        check_asked(&r, NULL, 0);
        CHECK(r.timed.n == 1 && r.timed.p[0].ms == pauses[i]);
        struct timed t = r.timed.p[0];
        r.timed.n = 0;
        t.run(t.arg);
    }
    check_asked(&r, patch_of("b"), 500);
    CHECK_INT(r.timed.n, 0);
    check_asked(&r, NULL, 0);
    CHECK(!is_held(&r, &preemptor));
    rig_stop(&r);
}

TEST(a_pod_that_waits_in_permit_is_rejected_and_not_deleted)
{
    struct rig r;
    start_three(&r);
    r.waiting = "b-uid";
    check_preempts(&r, &preemptor, "n1", "");
    check_log(&r, "reject b-uid: DefaultPreemption: preempted\n"
                  "Normal Preempted Preempting b by p: Preempted by pod p-uid on node n1 (in "
                  "kube-scheduler memory).\n");
    check_asked(&r, patch_of("a"), 200);
    check_asked(&r, delete_of("a"), 200);
    check_asked(&r, NULL, 0);
    rig_stop(&r);
}

TEST(nominations_of_lower_priority_are_withdrawn)
{
    struct rig r;
    start_three(&r);
    static const struct pod waiting[] = {
        { .name = "low", .priority = MID, .cpu = 10, .status = ",\"nominatedNodeName\":\"n1\"" },
        { .name = "unsaid", .priority = MID, .cpu = 10 },
        { .name = "high",
          .priority = HIGHEST,
          .cpu = 10,
          .status = ",\"nominatedNodeName\":\"n1\"" },
        { .name = "far", .priority = MID, .cpu = 10, .status = ",\"nominatedNodeName\":\"n2\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(waiting); i++) {
        struct sched_object *pod = read_pod(&r, &waiting[i]);
        CHECK_OK(sched_queue_put(r.queue, sched_pod_of(pod), r.now_ms, NULL));
        sched_queue_nominate(r.queue, sched_pod_of(pod), i == 3 ? STR("n2") : STR("n1"));
        sched_object_unref(r.words, pod);
    }
    check_preempts(&r, &preemptor, "n1", "");
    CHECK_STR(sched_nominator_node(sched_queue_nominator(r.queue), STR("low-uid")), "");
    CHECK_STR(sched_nominator_node(sched_queue_nominator(r.queue), STR("unsaid-uid")), "");
    CHECK_STR(sched_nominator_node(sched_queue_nominator(r.queue), STR("high-uid")), "n1");
    CHECK_STR(sched_nominator_node(sched_queue_nominator(r.queue), STR("far-uid")), "n2");
    check_asked(&r,
                xstrdup("PATCH " PODS "low/status {\"metadata\":{\"uid\":\"low-uid\"},\"status\":{"
                        "\"nominatedNodeName\":null}}"),
                500);
    /* That it failed does not spare the victims. */
    check_asked(&r, patch_of("b"), 200);
    check_asked(&r, delete_of("b"), 200);
    check_asked(&r, patch_of("a"), 200);
    check_asked(&r, delete_of("a"), 200);
    check_asked(&r, NULL, 0);
    rig_stop(&r);
}

/* A victim that was told before why it goes is only deleted. */
TEST(a_condition_that_is_there_is_not_written_again)
{
    struct rig r;
    rig_start(&r);
    put_node(&r, "n1", 1000);
    put_pod(&r, &(struct pod){ "a", "n1", LOW, 900, 1, "", "", "", VICTIM });
    check_preempts(&r, &preemptor, "n1", "");
    check_asked(&r, delete_of("a"), 200);
    check_asked(&r, NULL, 0);
    rig_stop(&r);
}

/* At every step: the plugin goes, what is under way is answered or not. */
TEST(what_was_begun_ends_without_its_plugin)
{
    for (int steps = 0; steps < 5; steps++)
        for (int answer = 0; answer < 2; answer++) {
            struct rig r;
            start_three(&r);
            check_preempts(&r, &preemptor, "n1", "");
            for (int i = 0; i < steps && i < 4; i++) {
                char *want = i % 2 ? delete_of(i < 2 ? "b" : "a") : patch_of(i < 2 ? "b" : "a");
                check_asked(&r, want, steps == 4 && i == 2 ? 503 : 200);
                if (steps == 4 && i == 2)
                    break; /* it waits to be tried again */
            }
            sched_profile_fini(&r.profile);
            for (size_t i = 0; answer && i < r.asked.n; i++)
                if (r.asked.p[i].done) {
                    sched_api_done done = r.asked.p[i].done;
                    r.asked.p[i].done = NULL;
                    done(r.asked.p[i].arg, 0, 200, STR("{}"), NULL);
                }
            rig_stop(&r);
        }
}

/* Who is nominated counts on its node, for those below it. */
TEST(two_preemptors_take_two_nodes)
{
    struct rig r;
    rig_start(&r);
    put_node(&r, "n1", 1000);
    put_node(&r, "n2", 1000);
    put_pod(&r, &(struct pod){ "a", "n1", LOW, 900, 2 });
    put_pod(&r, &(struct pod){ "b", "n2", LOW, 900, 1 });
    queue_refused(&r, &preemptor);
    check_preempts(&r, &preemptor, "n1", "");
    struct sched_object *first = read_pod(&r, &preemptor);
    sched_queue_nominate(r.queue, sched_pod_of(first), STR("n1"));
    sched_object_unref(r.words, first);
    put_pod(&r, &(struct pod){ "a", "n1", LOW, 900, 2, "", ENDING, "", VICTIM });
    struct pod second = { .name = "q", .priority = HIGH, .cpu = 900 };
    queue_refused(&r, &second);
    check_preempts(&r, &second, "n2", "");
    /* A third one finds no room: both nodes are promised to as important ones. */
    struct sched_object *o = read_pod(&r, &second);
    sched_queue_nominate(r.queue, sched_pod_of(o), STR("n2"));
    sched_object_unref(r.words, o);
    check_preempts(&r, &(struct pod){ .name = "s", .priority = HIGH, .cpu = 900 }, "",
                   "preemption: 0/2 nodes are available: 2 Insufficient cpu.");
    rig_stop(&r);
}

TEST_MAIN
