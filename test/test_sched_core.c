/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's core by hand: objects are told, an API of this test keeps the requests and
 * answers when it is told to, time is a number.
 */
#include "test.h"

#include "base/list.h"
#include "sched/core/scheduler.h"

/* ---- an API that answers by hand ---- */

struct request {
    struct list node;
    char *method, *target, *body;
    sched_api_done done;
    void *arg;
};

struct world {
    struct sched_api api;
    struct sched_config config;
    struct arena arena;
    struct list requests;
    struct sched *s;
    uint64_t now;
    unsigned rv;
    const struct sched_foreign *foreign;
    bool finds_layers;
    /* answers bindings and patches at once, in w_run() */
    bool answers;
};

static void on_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                    void *arg)
{
    struct world *w = container_of(api, struct world, api);
    struct request *r = xnew(struct request);
    r->method = xstrdup(rq->is_image ? "IMAGE" : rq->method);
    r->target = str_dup(rq->target);
    r->body = str_dup(rq->body);
    r->done = done;
    r->arg = arg;
    list_push_back(&w->requests, &r->node);
}

static void request_free(struct request *r)
{
    list_remove(&r->node);
    free(r->method);
    free(r->target);
    free(r->body);
    free(r);
}

/* The first that waits whose target ends so; NULL: there is none. */
static struct request *w_request(struct world *w, const char *suffix)
{
    list_each (node, &w->requests) {
        struct request *r = list_entry(node, struct request, node);
        if (str_has_suffix(str_of(r->target), str_of(suffix)))
            return r;
    }
    return NULL;
}

static void w_answer(struct request *r, int status, const char *body)
{
    sched_api_done done = r->done;
    void *arg = r->arg;
    request_free(r);
    struct err err = { 0 };
    done(arg, status ? 0 : -ECONNREFUSED, status, str_of(body),
         status ? NULL : (err_sys(&err, -ECONNREFUSED, "connect"), &err));
}

static int64_t w_wall(void *arg)
{
    const struct world *w = arg;
    return 1700000000000 + (int64_t)w->now;
}

static const char plain_config[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- schedulerName: default-scheduler\n"
    "  plugins:\n"
    "    multiPoint:\n"
    "      disabled: [{name: '*'}]\n"
    "      enabled: [{name: PrioritySort}, {name: SchedulingGates}, {name: NodeUnschedulable},\n"
    "        {name: TaintToleration}, {name: NodeAffinity}, {name: NodeResourcesFit},\n"
    "        {name: NodeResourcesBalancedAllocation}, {name: DefaultBinder}]\n";

static uint64_t w_seed = 7;

static void w_start(struct world *w)
{
    struct sched_opts opts = { .config = &w->config,
                               .api = &w->api,
                               .foreign = w->foreign,
                               .finds_layers = w->finds_layers,
                               .seed = w_seed,
                               .wall_ms = w_wall,
                               .arg = w };
    CHECK_OK(sched_new(&opts, &w->s, NULL));
    sched_synced(w->s);
}

static void w_init(struct world *w, const char *config, const struct sched_foreign *foreign)
{
    struct err err = { 0 };
    struct buf warnings = BUF_INIT(65536);
    *w = (struct world){ .api.call = on_call, .now = 1000, .rv = 1, .foreign = foreign };
    list_init(&w->requests);
    if (sched_config_read(&w->arena, str_of(config), &w->config, &warnings, &err) < 0)
        TEST_FAIL("%s", err.text);
    buf_fini(&warnings);
    w_start(w);
}

static void w_init_seed(struct world *w, uint64_t seed)
{
    w_seed = seed;
    w_init(w, plain_config, NULL);
    w_seed = 7;
}

static void w_fini(struct world *w)
{
    sched_free(w->s);
    while (!list_is_empty(&w->requests))
        w_answer(list_first(&w->requests, struct request, node), 200, "{}");
    arena_fini(&w->arena);
}

static void w_put(struct world *w, enum sched_kind kind, const char *text)
{
    struct err err = { 0 };
    struct arena a = { 0 };
    struct json *json;
    if (json_parse(&a, str_of(text), NULL, &json, &err) < 0 ||
        sched_put(w->s, kind, json, w->now, &err) < 0)
        TEST_FAIL("%s: %s", text, err.text);
    arena_fini(&a);
}

static void w_node(struct world *w, const char *name, const char *cpu, const char *spec)
{
    char text[1024];
    (void)snprintf(text, sizeof(text),
                   "{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"%u\"},"
                   "\"spec\":%s,\"status\":{\"allocatable\":{\"cpu\":\"%s\",\"memory\":\"64Gi\","
                   "\"pods\":\"110\"}}}",
                   name, name, w->rv++, spec, cpu);
    w_put(w, SCHED_NODE, text);
}

/* meta, spec, status: further members, each with a comma in front */
static void w_pod(struct world *w, const char *name, const char *cpu, const char *meta,
                  const char *spec, const char *status)
{
    char text[2048];
    (void)snprintf(text, sizeof(text),
                   "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"u-%s\","
                   "\"generation\":1,\"resourceVersion\":\"%u\"%s},\"spec\":{\"schedulerName\":"
                   "\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                   "\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]%s},\"status\":{\"phase\":"
                   "\"Pending\"%s}}",
                   name, name, w->rv++, meta, cpu, spec, status);
    w_put(w, SCHED_POD, text);
}

/* The watch tells that it is bound. */
static void w_bound(struct world *w, const char *name, const char *cpu, const char *node)
{
    char spec[128];
    (void)snprintf(spec, sizeof(spec), ",\"nodeName\":\"%s\"", node);
    w_pod(w, name, cpu, "", spec, "");
}

static void w_run(struct world *w)
{
    while (sched_step(w->s, w->now))
        ;
    (void)sched_tick(w->s, w->now);
}

static void w_after(struct world *w, uint64_t ms)
{
    w->now += ms;
    (void)sched_tick(w->s, w->now);
    w_run(w);
}

static struct sched_stats w_stats(const struct world *w)
{
    struct sched_stats s;
    sched_stats(w->s, &s);
    return s;
}

/* The node of the binding that waits for its answer. */
static void check_binding(struct world *w, const char *pod, const char *node)
{
    char target[256], text[256];
    (void)snprintf(target, sizeof(target), "/api/v1/namespaces/default/pods/%s/binding", pod);
    struct request *r = w_request(w, target);
    if (!r)
        TEST_FAIL("no binding of %s", pod);
    (void)snprintf(text, sizeof(text), "\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}", node);
    if (str_find(str_of(r->body), str_of(text)) < 0)
        TEST_FAIL("%s is not bound to %s: %s", pod, node, r->body);
}

static void answer(struct world *w, const char *suffix, int status, const char *body)
{
    struct request *r = w_request(w, suffix);
    if (!r)
        TEST_FAIL("no request to %s", suffix);
    w_answer(r, status, body);
    (void)sched_tick(w->s, w->now);
}

static void check_has(const char *text, const char *part)
{
    if (str_find(str_of(text), str_of(part)) < 0)
        TEST_FAIL("'%s' is not in '%s'", part, text);
}

static size_t count_requests(struct world *w, const char *suffix)
{
    size_t n = 0;
    list_each (node, &w->requests)
        n += str_has_suffix(str_of(list_entry(node, struct request, node)->target), str_of(suffix));
    return n;
}

/* ---- placing ---- */

TEST(a_pod_goes_to_the_node_with_room)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "small", "1", "{}");
    w_node(&w, "large", "8", "{}");
    w_pod(&w, "p", "2", "", "", "");
    w_run(&w);
    check_binding(&w, "p", "large");
    CHECK_INT(w_stats(&w).assumed, 1);
    answer(&w, "/binding", 201, "{}");
    CHECK_INT(w_stats(&w).scheduled, 1);
    struct request *e = w_request(&w, "/events");
    CHECK(e != NULL);
    CHECK_STR(str_of(e->target), "/apis/events.k8s.io/v1/namespaces/default/events");
    check_has(e->body, "\"note\":\"Successfully assigned default/p to large\"");
    check_has(e->body, "\"reason\":\"Scheduled\"");
    check_has(e->body, "\"action\":\"Binding\"");
    check_has(e->body, "\"reportingController\":\"default-scheduler\"");
    w_bound(&w, "p", "2", "large");
    CHECK_INT(w_stats(&w).assumed, 0);
    CHECK_INT(w_stats(&w).pods, 1);
    w_fini(&w);
}

TEST(what_is_assumed_counts_before_the_api_has_answered)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    for (int i = 0; i < 3; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "p%d", i);
        w_pod(&w, name, "2", "", "", "");
    }
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 2);
    struct request *r = w_request(&w, "/pods/p2/status");
    CHECK(r != NULL);
    check_has(r->body, "\"message\":\"0/1 nodes are available: 1 Insufficient cpu.");
    w_fini(&w);
}

TEST(priority_decides_who_is_first)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_pod(&w, "low", "3", "", ",\"priority\":1", "");
    w_pod(&w, "high", "3", "", ",\"priority\":9", "");
    w_node(&w, "a", "4", "{}");
    w_run(&w);
    check_binding(&w, "high", "a");
    CHECK_INT(count_requests(&w, "/binding"), 1);
    w_fini(&w);
}

TEST(others_pods_and_gated_ones_are_left_alone)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "gated", "1", "", ",\"schedulingGates\":[{\"name\":\"g\"}]", "");
    w_put(
        &w, SCHED_POD,
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"other\",\"uid\":\"o\","
        "\"resourceVersion\":\"99\"},\"spec\":{\"schedulerName\":\"somebody\",\"containers\":[]}}");
    w_run(&w);
    CHECK(list_is_empty(&w.requests));
    CHECK_INT(w_stats(&w).queue.gated, 1);
    w_pod(&w, "gated", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "gated", "a");
    w_fini(&w);
}

/* ---- no room ---- */

TEST(the_text_counts_the_reasons_of_all_nodes)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "1", "{}");
    w_node(&w, "b", "1", "{}");
    w_node(&w, "c", "8", "{\"unschedulable\":true}");
    w_node(&w, "d", "8",
           "{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}");
    w_pod(&w, "p", "2", "", "", "");
    w_run(&w);
    struct request *r = w_request(&w, "/pods/p/status");
    CHECK(r != NULL);
    CHECK_STR(str_of(r->method), "PATCH");
    check_has(r->body, "\"message\":\"0/4 nodes are available: 1 node(s) had untolerated taint(s), "
                       "1 node(s) were unschedulable, 2 Insufficient cpu.");
    check_has(r->body, "\"reason\":\"Unschedulable\"");
    check_has(r->body, "\"type\":\"PodScheduled\",\"status\":\"False\"");
    check_has(r->body, "\"observedGeneration\":1");
    struct request *e = w_request(&w, "/events");
    CHECK(e != NULL);
    check_has(e->body, "\"type\":\"Warning\"");
    check_has(e->body, "\"reason\":\"FailedScheduling\"");
    check_has(e->body, "\"action\":\"Scheduling\"");
    w_fini(&w);
}

TEST(a_condition_that_is_there_already_is_not_written_again)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "1", "{}");
    w_pod(&w, "p", "2", "", "", "");
    w_run(&w);
    answer(&w, "/pods/p/status", 200, "{}");
    answer(&w, "/events", 201, "{}");
    w_pod(&w, "p", "2", "", "",
          ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
          "\"Unschedulable\",\"message\":\"0/1 nodes are available: 1 Insufficient cpu.\"}]");
    w_node(&w, "a", "1500m", "{}");
    w_after(&w, 20000);
    CHECK_INT(w_stats(&w).attempts, 1); /* a hint says that this does not help */
    w_after(&w, 400000);                /* time says that it may */
    CHECK_INT(w_stats(&w).attempts, 2);
    CHECK_INT(count_requests(&w, "/pods/p/status"), 0);
    /* Another object, as its resourceVersion is another: an Event of its own, and then a series. */
    CHECK_INT(count_requests(&w, "/events"), 1);
    answer(&w, "/events", 201, "{}");
    w_after(&w, 330000);
    CHECK_INT(w_stats(&w).attempts, 3);
    struct request *r = list_first(&w.requests, struct request, node);
    CHECK_STR(str_of(r->method), "PATCH");
    check_has(r->body, "{\"series\":{\"count\":2,\"lastObservedTime\":\"");
    CHECK(str_has_prefix(str_of(r->target),
                         STR("/apis/events.k8s.io/v1/namespaces/default/events/p.")));
    /* Gone meanwhile: then it is made again, with its series. */
    w_answer(r, 404, "{}");
    r = list_first(&w.requests, struct request, node);
    CHECK_STR(str_of(r->method), "POST");
    check_has(r->body, "\"series\":{\"count\":2,");
    check_has(r->body, "\"reason\":\"FailedScheduling\"");
    w_answer(r, 201, "{}");
    w_after(&w, 330000);
    CHECK_INT(w_stats(&w).attempts, 4);
    CHECK(list_is_empty(&w.requests)); /* counted, and told when it is over */
    sched_del(w.s, SCHED_POD, STR("default"), STR("p"), w.now);
    w_after(&w, 400000);
    w_after(&w, 400000);
    r = list_first(&w.requests, struct request, node);
    check_has(r->body, "{\"series\":{\"count\":3,");
    w_answer(r, 200, "{}");
    CHECK_INT(sched_tick(w.s, w.now), UINT64_MAX); /* nothing is remembered, no timer runs */
    w_fini(&w);
}

TEST(a_condition_that_is_written_late_is_not_written_over_a_newer_one)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_pod(&w, "p", "2", "", "", "");
    w_run(&w);
    check_has(w_request(&w, "/pods/p/status")->body, "no nodes available");
    answer(&w, "/pods/p/status", 503, "{}");
    w_node(&w, "a", "1", "{}"); /* which is tried before the first one is written again */
    w_after(&w, 700);
    CHECK_INT(w_stats(&w).attempts, 2);
    check_has(w_request(&w, "/pods/p/status")->body, "Insufficient cpu");
    answer(&w, "/pods/p/status", 200, "{}");
    w_after(&w, 300);
    CHECK_INT(count_requests(&w, "/pods/p/status"), 0);
    w_fini(&w);
}

TEST(a_pod_waits_for_a_node_that_helps)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_pod(&w, "p", "2", "", "", "");
    w_run(&w);
    struct request *r = w_request(&w, "/pods/p/status");
    CHECK(r != NULL);
    check_has(r->body, "no nodes available to schedule pods");
    /* Nothing is to be done before a node comes, however long that takes; no timer runs once the
     * Event is forgotten. */
    w_after(&w, 1000000);
    CHECK_INT(w_stats(&w).attempts, 1);
    CHECK_INT(sched_tick(w.s, w.now), UINT64_MAX);
    w_node(&w, "small", "1", "{}");
    w_after(&w, 11000);
    CHECK_INT(w_stats(&w).attempts, 2);
    w_node(&w, "small", "1500m", "{}");
    w_after(&w, 11000);
    CHECK_INT(w_stats(&w).attempts, 2);
    w_node(&w, "large", "4", "{}");
    w_after(&w, 11000);
    check_binding(&w, "p", "large");
    w_fini(&w);
}

TEST(a_pod_with_resource_claims_is_never_placed)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", ",\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimName\":\"c\"}]",
          "");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    check_has(w_request(&w, "/pods/p/status")->body,
              "dynamic resource allocation is not supported");
    w_node(&w, "b", "4", "{}"); /* nothing helps, so nobody tries again and again */
    w_after(&w, 60000);
    CHECK_INT(w_stats(&w).attempts, 1);
    w_fini(&w);
}

TEST(a_terminating_pod_is_not_placed)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "", "");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    check_has(w_request(&w, "/events")->body, "skip schedule deleting pod: default/p");
    w_fini(&w);
}

/* ---- how many nodes are looked at ---- */

TEST(a_large_cluster_is_looked_at_in_turns)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    char name[16];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "n%03d", i);
        w_node(&w, name, "1", "{}");
    }
    /* 48 % of 300 nodes are scored; each pod fills its node, so the search goes on behind them. */
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "p%03d", i);
        w_pod(&w, name, "1", "", "", "");
    }
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 300);
    CHECK_INT(w_stats(&w).assumed, 300);
    w_fini(&w);
}

/* ---- bindings that fail ---- */

TEST(a_binding_that_fails_is_tried_again_after_its_back_off)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    answer(&w, "/binding", 500, "{\"kind\":\"Status\",\"message\":\"disk is full\"}");
    CHECK_INT(w_stats(&w).assumed, 0);
    CHECK_INT(w_stats(&w).errors, 1);
    struct request *r = w_request(&w, "/pods/p/status");
    CHECK(r != NULL);
    check_has(r->body, "\"reason\":\"SchedulerError\"");
    check_has(r->body, "running Bind plugin \\\"DefaultBinder\\\": disk is full");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    w_after(&w, 3000);
    check_binding(&w, "p", "a");
    answer(&w, "/binding", 0, "");
    answer(&w, "/pods/p", 200, "{\"metadata\":{\"uid\":\"u-p\"},\"spec\":{}}"); /* it was not */
    w_after(&w, 5000);
    check_binding(&w, "p", "a");
    answer(&w, "/binding", 201, "{}");
    CHECK_INT(w_stats(&w).scheduled, 1);
    w_fini(&w);
}

/* What goes to stderr from here on; into `text` by log_caught(). */
static int log_catch(FILE *to)
{
    int was = dup(2);
    CHECK(was >= 0 && dup2(fileno(to), 2) >= 0);
    return was;
}
static void log_caught(int was, FILE *to, char *text, size_t room)
{
    CHECK(dup2(was, 2) >= 0);
    (void)close(was);
    rewind(to);
    text[fread(text, 1, room - 1, to)] = '\0';
    (void)fclose(to);
}

TEST(bindings_that_fail_are_told_in_the_log_once_in_a_while)
{
    char text[4096];
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", "", "");
    w_pod(&w, "q", "1", "", "", "");
    FILE *to = tmpfile();
    CHECK(to != NULL);
    int was = log_catch(to);
    w_run(&w);
    for (unsigned i = 0; i < 2; i++)
        answer(&w, "/binding", 403, "{\"kind\":\"Status\",\"message\":\"not allowed to\"}");
    log_caught(was, to, text, sizeof(text));
    CHECK_INT(w_stats(&w).errors, 2);
    check_has(text, "pod could not be scheduled");
    check_has(text, "pod=default/p");
    check_has(text, "not allowed to");
    CHECK(str_find(str_of(text), STR("default/q")) < 0);
    w_fini(&w);
}

TEST(what_changed_while_it_was_bound_counts_in_the_next_attempt)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    w_pod(&w, "p", "1", "", ",\"tolerations\":[{\"operator\":\"Exists\"}]", "");
    w_node(&w, "a", "4", "{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}");
    answer(&w, "/binding", 500, "{\"kind\":\"Status\",\"message\":\"disk is full\"}");
    w_after(&w, 3000);
    check_binding(&w, "p", "a");
    w_fini(&w);
}

TEST(a_binding_whose_answer_is_lost_is_asked_for)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "3", "", "", "");
    w_run(&w);
    answer(&w, "/binding", 0, "");
    w_pod(&w, "q", "3", "", "", "");
    w_run(&w);
    answer(&w, "/pods/p", 0, ""); /* the API is still away, and p keeps its place */
    w_after(&w, 200);
    CHECK_INT(count_requests(&w, "/pods/p"), 0);
    w_after(&w, 100);
    CHECK_INT(w_stats(&w).assumed, 1);
    answer(&w, "/pods/p", 200, "{\"metadata\":{\"uid\":\"u-p\"},\"spec\":{\"nodeName\":\"a\"}}");
    CHECK_INT(w_stats(&w).scheduled, 1);
    CHECK_INT(w_stats(&w).errors, 0);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    w_fini(&w);
}

TEST(a_pod_that_the_watch_shows_bound_is_never_bound_again)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_node(&w, "b", "1", "{}");
    w_pod(&w, "p", "2", "", "", "");
    w_run(&w);
    /* The binding arrived, its answer did not; the watch is faster. */
    w_bound(&w, "p", "2", "a");
    answer(&w, "/binding", 409, "{\"message\":\"pod p is already assigned to node a\"}");
    answer(&w, "/pods/p", 200, "{\"metadata\":{\"uid\":\"u-p\"},\"spec\":{\"nodeName\":\"a\"}}");
    w_after(&w, 30000);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    CHECK_INT(count_requests(&w, "/pods/p/status"), 0);
    CHECK_INT(w_stats(&w).pods, 1);
    CHECK_INT(w_stats(&w).assumed, 0);
    /* An older message about it changes nothing. */
    w_pod(&w, "p", "2", "", "", "");
    w_after(&w, 30000);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    w_fini(&w);
}

TEST(a_pod_that_goes_while_it_is_bound_frees_its_place)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "3", "", "", "");
    w_run(&w);
    w_pod(&w, "q", "3", "", "", "");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 1);
    sched_del(w.s, SCHED_POD, STR("default"), STR("p"), w.now);
    CHECK_INT(w_stats(&w).assumed, 0);
    w_after(&w, 3000);
    check_binding(&w, "q", "a");
    answer(&w, "/pods/p/binding", 404, "{\"message\":\"pods \\\"p\\\" not found\"}");
    w_after(&w, 30000);
    CHECK_INT(count_requests(&w, "/pods/p/status"), 0);
    CHECK_INT(w_stats(&w).assumed, 1);
    w_fini(&w);
}

TEST(a_pod_of_the_same_name_is_another_pod)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    w_put(&w, SCHED_POD,
          "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"second\","
          "\"resourceVersion\":\"500\"},\"spec\":{\"schedulerName\":\"default-scheduler\","
          "\"containers\":[]}}");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 2);
    answer(&w, "/binding", 409, "{\"message\":\"the UID in the precondition\"}");
    CHECK_INT(w_stats(&w).assumed, 1);
    check_has(w_request(&w, "/binding")->body, "\"uid\":\"second\"");
    w_fini(&w);
}

TEST(after_a_crash_it_goes_on_from_what_the_api_says)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    for (int round = 0; round < 2; round++) {
        w_node(&w, "a", "4", "{}");
        if (round == 0)
            w_pod(&w, "p", "3", "", "", "");
        else
            w_bound(&w, "p", "3", "a"); /* the request had arrived */
        w_pod(&w, "q", "3", "", "", "");
        w_run(&w);
        CHECK_INT(count_requests(&w, "/pods/p/binding"), round == 0);
        CHECK_INT(count_requests(&w, "/pods/q/binding"), 0);
        if (round == 0) {
            sched_free(w.s);
            while (!list_is_empty(&w.requests))
                w_answer(list_first(&w.requests, struct request, node), 201, "{}");
            w_start(&w);
        }
    }
    w_fini(&w);
}

TEST(a_node_that_lies_is_believed_until_it_tells_the_truth)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "liar", "1000", "{}");
    w_pod(&w, "p", "100", "", "", "");
    w_run(&w);
    check_binding(&w, "p", "liar");
    w_node(&w, "liar", "-3", "{}");
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 1);
    w_fini(&w);
}

TEST(who_does_not_lead_places_nothing)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    sched_lead(w.s, false);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    CHECK(list_is_empty(&w.requests));
    sched_lead(w.s, true);
    w_run(&w);
    check_binding(&w, "p", "a");
    w_fini(&w);
}

/* ---- a plugin of this test: Permit, Reserve, PreBind ---- */

static struct {
    enum sched_code reserve, permit, pre_bind;
    uint64_t wait_ms;
    unsigned reserved, unreserved, ended, post_bound;
    bool pre_bind_waits, ends_by_event;
    struct sched_step *step;
    struct sched_framework *framework;
} probe;

SCHED_STATUS_CONST(probe_no, SCHED_UNSCHEDULABLE, "not today");
SCHED_STATUS_CONST(probe_wait, SCHED_WAIT, "");
SCHED_STATUS_CONST(probe_error, SCHED_ERROR, "broken");

static const struct sched_status *probe_status(enum sched_code code)
{
    switch (code) {
    case SCHED_UNSCHEDULABLE:
        return &probe_no;
    case SCHED_WAIT:
        return &probe_wait;
    case SCHED_ERROR:
        return &probe_error;
    default:
        return NULL;
    }
}

static int probe_create(const struct sched_plugin_env *env, struct sched_plugin **ret,
                        struct err *err)
{
    *ret = xnew(struct sched_plugin);
    probe.framework = env->framework;
    return 0;
}
static void probe_destroy(struct sched_plugin *p)
{
    free(p);
}
static const struct sched_status *probe_reserve(struct sched_plugin *p, struct sched_cycle *cycle,
                                                const struct sched_node_info *node)
{
    probe.reserved++;
    return probe_status(probe.reserve);
}
static void probe_unreserve(struct sched_plugin *p, struct sched_cycle *cycle)
{
    probe.unreserved++;
}
static const struct sched_status *probe_permit(struct sched_plugin *p, struct sched_cycle *cycle,
                                               const struct sched_node_info *node,
                                               uint64_t *ret_timeout_ms)
{
    *ret_timeout_ms = probe.wait_ms;
    return probe_status(probe.permit);
}
static const struct sched_status *probe_pre_bind(struct sched_plugin *p, struct sched_cycle *cycle,
                                                 struct sched_step *step)
{
    probe.step = step;
    return probe.pre_bind_waits ? SCHED_LATER : probe_status(probe.pre_bind);
}
static void probe_changed(struct sched_plugin *p, const struct sched_event *event)
{
    struct sched_step *step = probe.step;
    if (!probe.ends_by_event || event->resource != SCHED_ON_PERSISTENT_VOLUME || !step)
        return;
    probe.step = NULL;
    sched_step_done(step, probe_status(probe.pre_bind));
}
static void probe_post_bind(struct sched_plugin *p, struct sched_cycle *cycle)
{
    probe.post_bound++;
}
static void probe_end(struct sched_plugin *p, struct sched_cycle *cycle)
{
    probe.ended++;
}

static const struct sched_event_reg probe_regs[] = {
    { SCHED_ON_NODE, SCHED_ADD, NULL },
    { SCHED_ON_ASSIGNED_POD, SCHED_DELETE, NULL },
};
static const struct sched_event_reg *probe_events(struct sched_plugin *p, size_t *ret_n)
{
    *ret_n = ARRAY_LEN(probe_regs);
    return probe_regs;
}

static const struct sched_plugin_ops probe_ops = {
    .name = "Probe",
    .create = probe_create,
    .destroy = probe_destroy,
    .changed = probe_changed,
    .events = probe_events,
    .reserve = probe_reserve,
    .unreserve = probe_unreserve,
    .permit = probe_permit,
    .pre_bind = probe_pre_bind,
    .post_bind = probe_post_bind,
    .end = probe_end,
};

/* Another one that has a say in Permit. */
static const struct sched_plugin_ops second_ops = {
    .name = "Second",
    .create = probe_create,
    .destroy = probe_destroy,
    .permit = probe_permit,
};

static const struct sched_plugin_ops *probe_find(void *arg, size_t profile, struct str name)
{
    return str_is(name, "Probe") ? &probe_ops : str_is(name, "Second") ? &second_ops : NULL;
}
static const struct sched_foreign probe_foreign = { .find = probe_find };

static const char probe_config[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- plugins:\n"
    "    multiPoint:\n"
    "      disabled: [{name: '*'}]\n"
    "      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: Probe},\n"
    "        {name: DefaultBinder}]\n";

static void w_probe(struct world *w)
{
    memset(&probe, 0, sizeof(probe));
    w_init(w, probe_config, &probe_foreign);
    w_node(w, "a", "4", "{}");
}

TEST(a_pod_that_permit_lets_through_is_bound)
{
    struct world w;
    w_probe(&w);
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    answer(&w, "/binding", 201, "{}");
    CHECK_INT(probe.reserved, 1);
    CHECK_INT(probe.unreserved, 0);
    CHECK_INT(probe.post_bound, 1);
    CHECK_INT(probe.ended, 1);
    w_fini(&w);
}

TEST(a_pod_that_permit_refuses_goes_back_and_frees_its_place)
{
    struct world w;
    w_probe(&w);
    probe.permit = SCHED_UNSCHEDULABLE;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    check_has(w_request(&w, "/pods/p/status")->body, "0/1 nodes are available: 1 not today.");
    CHECK_INT(w_stats(&w).assumed, 0);
    CHECK_INT(probe.unreserved, 1);
    CHECK_INT(probe.ended, 1);
    w_after(&w, 60000);
    CHECK_INT(w_stats(&w).attempts, 1); /* it waits for what its plugin registered */
    probe.permit = SCHED_SUCCESS;
    w_node(&w, "b", "4", "{}");
    w_after(&w, 11000);
    CHECK_INT(count_requests(&w, "/binding"), 1);
    w_fini(&w);
}

TEST(a_pod_waits_in_permit_until_it_is_allowed)
{
    struct world w;
    w_probe(&w);
    probe.permit = SCHED_WAIT;
    probe.wait_ms = 90000;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    CHECK_INT(w_stats(&w).waiting, 1);
    check_has(w_request(&w, "/pods/p/status")->body, "\"nominatedNodeName\":\"a\"");
    struct sched_framework *f = probe.framework;
    CHECK(f->waiting_pod(f, STR("u-p")) != NULL);
    CHECK(!f->allow_waiting_pod(f, STR("u-q"), STR("Probe")));
    CHECK(f->allow_waiting_pod(f, STR("u-p"), STR("Probe")));
    CHECK(f->waiting_pod(f, STR("u-p")) == NULL);
    w_run(&w);
    check_binding(&w, "p", "a");
    answer(&w, "/binding", 201, "{}");
    CHECK_INT(w_stats(&w).waiting, 0);
    w_fini(&w);
}

TEST(a_wait_in_permit_ends_with_its_time)
{
    struct world w;
    w_probe(&w);
    probe.permit = SCHED_WAIT;
    probe.wait_ms = 90000;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    answer(&w, "/pods/p/status", 200, "{}");
    w_after(&w, 89999);
    CHECK_INT(w_stats(&w).waiting, 1);
    w_after(&w, 1);
    CHECK_INT(w_stats(&w).waiting, 0);
    CHECK_INT(w_stats(&w).assumed, 0);
    CHECK_INT(probe.unreserved, 1);
    const char *body = w_request(&w, "/pods/p/status")->body;
    check_has(body, "1 rejected due to timeout after waiting 1m30s at plugin Probe.");
    check_has(body, "\"nominatedNodeName\":null"); /* though no watch has told of it yet */
    w_fini(&w);
}

TEST(a_pod_that_goes_while_it_waits_in_permit_ends_there)
{
    struct world w;
    w_probe(&w);
    probe.permit = SCHED_WAIT;
    probe.wait_ms = 90000;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    sched_del(w.s, SCHED_POD, STR("default"), STR("p"), w.now);
    w_run(&w);
    CHECK_INT(w_stats(&w).waiting, 0);
    CHECK_INT(w_stats(&w).assumed, 0);
    CHECK_INT(w_stats(&w).binding, 0);
    CHECK_INT(probe.ended, 1);
    w_fini(&w);
}

TEST(reserve_that_fails_is_undone)
{
    struct world w;
    w_probe(&w);
    probe.reserve = SCHED_ERROR;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    CHECK_INT(probe.unreserved, 1);
    check_has(w_request(&w, "/pods/p/status")->body,
              "running Reserve plugin \\\"Probe\\\": broken");
    CHECK_INT(w_stats(&w).assumed, 0);
    w_fini(&w);
}

TEST(a_step_before_binding_may_take_its_time)
{
    struct world w;
    w_probe(&w);
    probe.pre_bind_waits = true;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    struct sched_step *step = probe.step;
    CHECK(step != NULL);
    check_has(w_request(&w, "/pods/p/status")->body, "\"nominatedNodeName\":\"a\"");
    answer(&w, "/pods/p/status", 200, "{}");
    /* Meanwhile others go on. */
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    CHECK(probe.step != step);
    sched_step_done(probe.step, NULL);
    check_binding(&w, "q", "a");
    sched_step_done(step, &probe_error);
    CHECK_INT(count_requests(&w, "/pods/p/binding"), 0);
    check_has(w_request(&w, "/pods/p/status")->body,
              "running PreBind plugin \\\"Probe\\\": broken");
    w_fini(&w);
}

TEST(a_pod_that_somebody_else_binds_meanwhile_is_not_bound)
{
    struct world w;
    w_probe(&w);
    probe.pre_bind_waits = true;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    w_bound(&w, "p", "1", "elsewhere");
    sched_step_done(probe.step, NULL);
    w_after(&w, 30000);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    CHECK_INT(probe.unreserved, 1);
    CHECK_INT(w_stats(&w).binding, 0);
    w_fini(&w);
}

TEST(who_leads_no_more_ends_what_waits)
{
    struct world w;
    w_probe(&w);
    probe.permit = SCHED_WAIT;
    probe.wait_ms = 90000;
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    sched_lead(w.s, false);
    CHECK_INT(w_stats(&w).waiting, 0);
    CHECK_INT(w_stats(&w).assumed, 0);
    CHECK_INT(probe.unreserved, 1);
    w_fini(&w);
}

TEST(other_plugins_take_over_and_bindings_end_with_the_old_ones)
{
    struct world w;
    w_probe(&w);
    probe.pre_bind_waits = true;
    w_pod(&w, "p", "1", "", "", "");
    w_pod(&w, "big", "100", "", "", "");
    w_run(&w);
    struct sched_config next;
    struct buf warnings = BUF_INIT(65536);
    CHECK_OK(sched_config_read(&w.arena, str_of(plain_config), &next, &warnings, NULL));
    buf_fini(&warnings);
    CHECK_OK(sched_reload(w.s, &next, NULL, false, NULL));
    w_run(&w);
    CHECK_INT(w_stats(&w).attempts, 3); /* the one that waited is tried again */
    sched_step_done(probe.step, NULL);
    check_binding(&w, "p", "a");
    answer(&w, "/binding", 201, "{}");
    CHECK_INT(probe.post_bound, 1);
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    CHECK_INT(probe.reserved, 1);
    check_binding(&w, "q", "a");
    w_fini(&w);
}

TEST(a_reload_brings_its_back_off_along)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    struct sched_config next = w.config;
    next.backoff_first_ms = next.backoff_max_ms = 60000;
    CHECK_OK(sched_reload(w.s, &next, NULL, false, NULL));
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    answer(&w, "/binding", 403, "{}");
    w_after(&w, 30000);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    w_after(&w, 32000);
    CHECK_INT(count_requests(&w, "/binding"), 1);
    w_fini(&w);
}

TEST(a_binding_of_before_a_reload_hears_what_it_waits_for)
{
    for (unsigned i = 0; i < 2; i++) {
        struct world w;
        w_probe(&w);
        probe.pre_bind_waits = probe.ends_by_event = true;
        probe.pre_bind = i == 0 ? SCHED_SUCCESS : SCHED_ERROR;
        w_pod(&w, "p", "1", "", "", "");
        w_run(&w);
        struct sched_config next;
        struct buf warnings = BUF_INIT(65536);
        CHECK_OK(sched_config_read(&w.arena, str_of(plain_config), &next, &warnings, NULL));
        buf_fini(&warnings);
        CHECK_OK(sched_reload(w.s, &next, NULL, false, NULL));
        /* A failed binding takes the last reference to the old plugins along. */
        w_put(&w, SCHED_PV, "{\"metadata\":{\"name\":\"v\"}}");
        CHECK(!probe.step);
        CHECK_INT(probe.ended, 1 - (i == 0));
        if (i == 0)
            check_binding(&w, "p", "a");
        w_fini(&w);
    }
}

/* ---- plugins of this test: sets of nodes, counts of calls, PostFilter ---- */

static struct {
    const char *sets[2];      /* "a b"; NULL: Skip, "" none */
    enum sched_code set_code; /* of the first, instead */
    const char *post_filter;  /* what it says; NULL: nothing */
    const char *nominate;
    unsigned filtered;
} odd;

static struct sched_node_set words_of(struct arena *a, const char *text)
{
    struct sched_node_set set = { .names = arena_new_n(a, struct str, 8) };
    struct str head, rest = str_of(text);
    while (rest.n > 0) {
        (void)str_cut(rest, ' ', &head, &rest);
        set.names[set.n++] = head;
    }
    return set;
}

static const struct sched_status *set_pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                                 struct sched_node_set *ret)
{
    unsigned which = str_is(p->name, "SetB");
    if (which == 0 && odd.set_code != SCHED_SUCCESS)
        return sched_status(cycle->arena, odd.set_code, "no set today");
    if (!odd.sets[which])
        return sched_status(cycle->arena, SCHED_SKIP, "%s", "");
    *ret = words_of(cycle->arena, odd.sets[which]);
    return NULL;
}

static const struct sched_status *count_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                               const struct sched_node_info *node)
{
    odd.filtered++;
    return NULL;
}

static const struct sched_status *odd_post_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                                  struct sched_post_filter *ret)
{
    if (odd.nominate) {
        ret->nominated = str_of(odd.nominate);
        ret->overrides = true;
        ret->n_victims = 1;
        return NULL;
    }
    return sched_status(cycle->arena, SCHED_UNSCHEDULABLE, "%s", odd.post_filter);
}

static const struct sched_plugin_ops set_a_ops = { .name = "SetA", .pre_filter = set_pre_filter },
                                     set_b_ops = { .name = "SetB", .pre_filter = set_pre_filter },
                                     count_ops = { .name = "Count", .filter = count_filter },
                                     post_ops = { .name = "Post", .post_filter = odd_post_filter };

static const struct sched_plugin_ops *odd_find(void *arg, size_t profile, struct str name)
{
    static const struct sched_plugin_ops *const all[] = { &set_a_ops, &set_b_ops, &count_ops,
                                                          &post_ops };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (str_is(name, all[i]->name))
            return all[i];
    return NULL;
}
static const struct sched_foreign odd_foreign = { .find = odd_find };

#define ODD_CONFIG(plugins, more)                                                                  \
    "apiVersion: kubescheduler.config.k8s.io/v1\n"                                                 \
    "kind: KubeSchedulerConfiguration\n" more "profiles:\n"                                        \
    "- plugins:\n"                                                                                 \
    "    multiPoint:\n"                                                                            \
    "      disabled: [{name: '*'}]\n"                                                              \
    "      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, " plugins                     \
    "{name: DefaultBinder}]\n"

static void check_message(struct world *w, const char *pod, const char *message)
{
    char suffix[64], text[512];
    (void)snprintf(suffix, sizeof(suffix), "/pods/%s/status", pod);
    (void)snprintf(text, sizeof(text), "\"message\":\"%s\"", message);
    struct request *r = w_request(w, suffix);
    if (!r)
        TEST_FAIL("nothing is said about %s", pod);
    check_has(r->body, text);
}

static void w_odd(struct world *w)
{
    memset(&odd, 0, sizeof(odd));
    w_init(w, ODD_CONFIG("{name: SetA}, {name: SetB}, ", ""), &odd_foreign);
    w_node(w, "a", "4", "{}");
    w_node(w, "b", "4", "{}");
    w_node(w, "c", "4", "{}");
}

TEST(of_sets_of_nodes_those_in_all_are_left)
{
    struct world w;
    w_odd(&w);
    odd.sets[0] = "a b nowhere";
    odd.sets[1] = "c b";
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "p", "b");
    w_fini(&w);
}

TEST(sets_of_nodes_that_leave_none_are_named)
{
    static const struct {
        const char *sets[2];
        enum sched_code code;
        const char *cpu, *message;
    } cases[] = {
        { { "a", "b" },
          SCHED_SUCCESS,
          "1",
          "0/3 nodes are available: node(s) didn't satisfy plugin(s) [SetA SetB] simultaneously." },
        { { NULL, "" },
          SCHED_SUCCESS,
          "1",
          "0/3 nodes are available: node(s) didn't satisfy plugin SetB." },
        { { "a", "a b" },
          SCHED_SUCCESS,
          "9",
          "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) "
          "[SetA SetB]." },
        { { NULL, "nowhere" },
          SCHED_SUCCESS,
          "1",
          "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [SetB]." },
        { { NULL, NULL }, SCHED_UNRESOLVABLE, "1", "0/3 nodes are available: no set today." },
        { { NULL, NULL }, SCHED_UNSCHEDULABLE, "1", "0/3 nodes are available: no set today." },
        { { NULL, NULL }, SCHED_ERROR, "1", "running PreFilter plugin \\\"SetA\\\": no set today" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        w_odd(&w);
        odd.sets[0] = cases[i].sets[0];
        odd.sets[1] = cases[i].sets[1];
        odd.set_code = cases[i].code;
        w_pod(&w, "p", cases[i].cpu, "", "", "");
        w_run(&w);
        check_message(&w, "p", cases[i].message);
        w_fini(&w);
    }
}

TEST(what_post_filter_says_stands_at_the_end)
{
    struct world w;
    memset(&odd, 0, sizeof(odd));
    odd.post_filter = "preemption: not today.";
    w_init(&w, ODD_CONFIG("{name: Post}, ", ""), &odd_foreign);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "9", "", "", "");
    w_run(&w);
    check_message(&w, "p", "0/1 nodes are available: 1 Insufficient cpu. preemption: not today.");
    w_fini(&w);
}

TEST(a_nominated_pod_tries_its_node_first_and_others_leave_it_room)
{
    struct world w;
    memset(&odd, 0, sizeof(odd));
    odd.nominate = "a";
    w_init(&w, ODD_CONFIG("{name: Post}, ", ""), &odd_foreign);
    w_node(&w, "a", "4", "{}");
    w_node(&w, "b", "4", "{}");
    w_bound(&w, "x", "4", "a");
    w_bound(&w, "y", "4", "b");
    w_pod(&w, "p", "4", "", ",\"priority\":5", "");
    w_run(&w);
    check_has(w_request(&w, "/pods/p/status")->body, "\"nominatedNodeName\":\"a\"");
    CHECK_INT(w_stats(&w).preemptions, 1);
    CHECK_INT(w_stats(&w).victims, 1);
    odd.nominate = NULL;
    odd.post_filter = "";
    /* Its place is free now, and not for one that is not above it. */
    w_pod(&w, "q", "4", "", ",\"priority\":5", "");
    sched_del(w.s, SCHED_POD, STR("default"), STR("x"), w.now);
    CHECK(sched_step(w.s, w.now));
    CHECK(sched_step(w.s, w.now));
    CHECK_INT(count_requests(&w, "/pods/q/binding"), 0);
    w_after(&w, 3000);
    check_binding(&w, "p", "a");
    sched_del(w.s, SCHED_POD, STR("default"), STR("y"), w.now);
    w_after(&w, 11000);
    check_binding(&w, "q", "b");
    w_fini(&w);
}

/* Upstream's numFeasibleNodesToFind. */
TEST(large_clusters_are_sampled)
{
    static const struct {
        unsigned nodes;
        const char *config;
        unsigned looked_at;
    } cases[] = {
        { 60, ODD_CONFIG("{name: Count}, ", ""), 60 },
        { 150, ODD_CONFIG("{name: Count}, ", ""), 100 },
        { 1000, ODD_CONFIG("{name: Count}, ", ""), 420 },
        { 6000, ODD_CONFIG("{name: Count}, ", ""), 300 },
        { 1000, ODD_CONFIG("{name: Count}, ", "percentageOfNodesToScore: 40\n"), 400 },
        { 1000, ODD_CONFIG("{name: Count}, ", "percentageOfNodesToScore: 100\n"), 1000 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        char name[16];
        memset(&odd, 0, sizeof(odd));
        w_init(&w, cases[i].config, &odd_foreign);
        for (unsigned k = 0; k < cases[i].nodes; k++) {
            (void)snprintf(name, sizeof(name), "n%u", k);
            w_node(&w, name, "4", "{}");
        }
        w_pod(&w, "p", "1", "", "", "");
        w_run(&w);
        CHECK_INT(odd.filtered, cases[i].looked_at);
        w_fini(&w);
    }
}

TEST(of_equal_nodes_each_is_as_likely)
{
    unsigned on[3] = { 0 };
    for (unsigned i = 0; i < 300; i++) {
        struct world w;
        w_init_seed(&w, i);
        w_node(&w, "0", "4", "{}");
        w_node(&w, "1", "4", "{}");
        w_node(&w, "2", "4", "{}");
        w_pod(&w, "p", "1", "", "", "");
        w_run(&w);
        struct request *r = w_request(&w, "/binding");
        ptrdiff_t at = str_find(str_of(r->body), STR("\"Node\",\"name\":\""));
        on[r->body[at + 15] - '0']++;
        w_fini(&w);
    }
    for (unsigned i = 0; i < 3; i++)
        CHECK(on[i] > 60 && on[i] < 140);
}

/* ---- what a configuration may be wrong with ---- */

static void check_refused(const char *plugins, const char *text)
{
    struct world w = { .api.call = on_call };
    struct err err = { 0 };
    struct buf warnings = BUF_INIT(65536);
    char *config = xasprintf("apiVersion: kubescheduler.config.k8s.io/v1\n"
                             "kind: KubeSchedulerConfiguration\n"
                             "profiles:\n"
                             "- plugins:\n%s",
                             plugins);
    CHECK_OK(sched_config_read(&w.arena, str_of(config), &w.config, &warnings, &err));
    struct sched_opts opts = { .config = &w.config, .api = &w.api, .foreign = &probe_foreign };
    struct sched *s;
    CHECK(sched_new(&opts, &s, &err) == E_INVALID);
    check_has(err.text, text);
    buf_fini(&warnings);
    free(config);
    arena_fini(&w.arena);
}

TEST(upstreams_texts_say_what_is_wrong_with_a_profile)
{
    check_refused("    multiPoint:\n"
                  "      disabled: [{name: '*'}]\n"
                  "      enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: Nobody}]\n",
                  "initializing profiles: creating profile for scheduler name default-scheduler: "
                  "PreFilterPlugin \"Nobody\" does not exist");
    check_refused("    multiPoint:\n"
                  "      disabled: [{name: '*'}]\n"
                  "      enabled: [{name: PrioritySort}]\n",
                  "at least one bind plugin is needed for profile with scheduler name "
                  "\"default-scheduler\"");
    check_refused("    multiPoint:\n"
                  "      disabled: [{name: '*'}]\n"
                  "      enabled: [{name: DefaultBinder}]\n",
                  "only one queue sort plugin required for profile with scheduler name "
                  "\"default-scheduler\", but got 0");
    check_refused("    multiPoint:\n"
                  "      disabled: [{name: '*'}]\n"
                  "      enabled: [{name: PrioritySort}, {name: DefaultBinder}]\n"
                  "    score:\n"
                  "      enabled: [{name: Probe}]\n",
                  "plugin \"Probe\" does not extend ScorePlugin plugin");
}

/* ---- explain, figures ---- */

struct heard {
    unsigned refused, scored, decided;
    char node[64], reason[256];
};
static void on_refused(void *arg, const struct sched_pod *pod, const struct sched_node_info *node,
                       const struct sched_status *status)
{
    struct heard *h = arg;
    h->refused++;
    CHECK(str_is(status->plugin, "NodeResourcesFit"));
}
static void on_scored(void *arg, const struct sched_pod *pod, struct str plugin,
                      const struct sched_node_info *const *nodes, size_t n, const int64_t *scores)
{
    struct heard *h = arg;
    h->scored++;
    CHECK_INT(n, 2);
}
static void on_decided(void *arg, const struct sched_pod *pod, const struct intern *node,
                       const struct sched_status *status)
{
    struct heard *h = arg;
    h->decided++;
    (void)snprintf(h->node, sizeof(h->node), STR_FMT, STR_ARG(intern_str(node)));
    if (status)
        (void)snprintf(h->reason, sizeof(h->reason), STR_FMT, STR_ARG(status->reasons[0]));
}

TEST(explain_changes_nothing)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "1", "{}");
    w_node(&w, "b", "4", "{}");
    w_node(&w, "c", "4", "{}");
    w_pod(&w, "p", "2", "", "", "");
    static const struct sched_observer observer = { .refused = on_refused,
                                                    .scored = on_scored,
                                                    .decided = on_decided };
    struct heard h = { 0 };
    CHECK_OK(sched_explain(w.s, STR("default"), STR("p"), w.now, &observer, &h, NULL));
    CHECK_INT(h.refused, 1);
    CHECK(h.scored > 0);
    CHECK_INT(h.decided, 1);
    CHECK(strcmp(h.node, "b") == 0 || strcmp(h.node, "c") == 0);
    CHECK(list_is_empty(&w.requests));
    CHECK_INT(w_stats(&w).attempts, 0);
    CHECK_INT(w_stats(&w).queue.active, 1);
    CHECK(sched_explain(w.s, STR("default"), STR("q"), w.now, &observer, &h, NULL) == -ENOENT);
    w_run(&w);
    check_binding(&w, "p", h.node);
    w_fini(&w);
}

static void on_waits(void *arg, const struct sched_pod *pod, const struct intern *node,
                     struct str plugin, struct str what)
{
    struct heard *h = arg;
    (void)snprintf(h->reason, sizeof(h->reason), STR_FMT, STR_ARG(plugin));
}

TEST(explain_names_the_permit_plugin_that_is_still_waited_for)
{
    static const struct sched_observer observer = { .waits = on_waits };
    struct world w;
    struct heard h = { 0 };
    memset(&probe, 0, sizeof(probe));
    probe.permit = SCHED_WAIT;
    probe.wait_ms = 90000;
    w_init(&w,
           "apiVersion: kubescheduler.config.k8s.io/v1\n"
           "kind: KubeSchedulerConfiguration\n"
           "profiles:\n"
           "- plugins:\n"
           "    multiPoint:\n"
           "      disabled: [{name: '*'}]\n"
           "      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: Probe},\n"
           "        {name: Second}, {name: DefaultBinder}]\n",
           &probe_foreign);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    CHECK_OK(sched_explain(w.s, STR("default"), STR("p"), w.now, &observer, &h, NULL));
    CHECK_STR(str_of(h.reason), "Probe");
    CHECK(probe.framework->allow_waiting_pod(probe.framework, STR("u-p"), STR("Probe")));
    CHECK_OK(sched_explain(w.s, STR("default"), STR("p"), w.now, &observer, &h, NULL));
    CHECK_STR(str_of(h.reason), "Second");
    w_fini(&w);
}

TEST(events_that_the_api_cannot_take_are_dropped_and_counted)
{
    enum { PODS = 4300, IN_FLIGHT = 32, QUEUED = 4096 };
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "1", "{}");
    char name[16], figure[64];
    for (int i = 0; i < PODS; i++) {
        (void)snprintf(name, sizeof(name), "p%d", i);
        w_pod(&w, name, "2", "", "", "");
    }
    w_run(&w);
    CHECK_INT(w_stats(&w).unschedulable, PODS);
    CHECK_INT(count_requests(&w, "/events"), IN_FLIGHT);
    struct buf out = BUF_INIT(1 << 20);
    sched_metrics(w.s, &out);
    (void)snprintf(figure, sizeof(figure), "scheduler_dropped_events_total %d\n",
                   PODS - IN_FLIGHT - QUEUED);
    check_has(buf_cstr(&out), figure);
    buf_fini(&out);
    for (int i = 0; i < PODS; i++) /* the rest goes out as the others are answered */
        if (w_request(&w, "/events"))
            answer(&w, "/events", 201, "{}");
    CHECK_INT(count_requests(&w, "/events"), 0);
    w_fini(&w);
}

TEST(figures_have_upstreams_names)
{
    struct world w;
    w_init(&w, plain_config, NULL);
    w_node(&w, "a", "4", "{}");
    w_pod(&w, "p", "2", "", "", "");
    w_pod(&w, "q", "200", "", "", "");
    w_run(&w);
    answer(&w, "/binding", 201, "{}");
    struct buf out = BUF_INIT(1 << 20);
    sched_metrics(w.s, &out);
    const char *text = buf_cstr(&out);
    check_has(text, "scheduler_schedule_attempts_total{profile=\"default-scheduler\","
                    "result=\"scheduled\"} 1");
    check_has(text, "scheduler_schedule_attempts_total{profile=\"default-scheduler\","
                    "result=\"unschedulable\"} 1");
    check_has(text, "scheduler_pending_pods{queue=\"unschedulable\"} 1");
    check_has(text, "scheduler_scheduling_attempt_duration_seconds_bucket{profile=\"default-"
                    "scheduler\",result=\"scheduled\",le=\"0.001\"}");
    check_has(text, "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"1\"} 1");
    check_has(text, "scheduler_framework_extension_point_duration_seconds_count{extension_point="
                    "\"Filter\",profile=\"default-scheduler\",status=\"Success\"} 2");
    check_has(text, "scheduler_preemption_attempts_total 0");
    buf_fini(&out);
    w_fini(&w);
}

/* ---- what images are made of ---- */

#define IMAGE_ASKED "\ni:latest\n" /* the question about the image of w_pod() */
#define LAYERS      "sha256:000000000001=900,sha256:000000000002=100"

static const char break_config[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- schedulerName: default-scheduler\n"
    "  plugins:\n"
    "    multiPoint:\n"
    "      disabled: [{name: '*'}]\n"
    "      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: DefaultBinder},\n"
    "        {name: BreakLayerLocality}, {name: BreakDeployTime}]\n"
    "    score:\n"
    "      disabled: [{name: NodeResourcesFit}, {name: BreakDeployTime}]\n"
    "  pluginConfig:\n"
    "  - {name: BreakLayerLocality, args: {%s}}\n"
    "  - {name: BreakDeployTime, args: {%s}}\n";

/* Nodes a, b and c, and what they hold: c the large layer, b the small one. */
static void w_init_images(struct world *w, const char *args)
{
    char config[2048];
    struct err err = { 0 };
    struct buf warnings = BUF_INIT(65536);
    (void)snprintf(config, sizeof config, break_config, args, args);
    *w = (struct world){ .api.call = on_call, .now = 1000, .rv = 1, .finds_layers = true };
    list_init(&w->requests);
    struct str kept = str_copy_arena(&w->arena, str_of(config));
    if (sched_config_read(&w->arena, kept, &w->config, &warnings, &err) < 0)
        TEST_FAIL("%s", err.text);
    buf_fini(&warnings);
    w_start(w);
    static const char *const prefixes[] = { "", "AAAAAAAC", "AAAAAAAB" };
    for (int i = 0; i < 3; i++) {
        char name[2] = { (char)('a' + i), '\0' }, text[512];
        w_node(w, name, "64", "{}");
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"%s\",\"uid\":\"s%s\",\"resourceVersion\":\"%u\"},"
                       "\"spec\":{\"reportedAt\":\"2023-11-14T22:13:20Z\",\"layers\":"
                       "{\"generation\":1,\"prefixes\":\"%s\"}}}",
                       name, name, w->rv++, prefixes[i]);
        w_put(w, SCHED_NODE_IMAGE_STATE, text);
    }
}

TEST(a_pod_waits_for_the_layers_of_a_new_image_and_goes_where_they_are)
{
    struct world w;
    w_init_images(&w, "");
    w_pod(&w, "p", "1", "", "", "");
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    CHECK_INT(w_stats(&w).queue.gated, 2);
    CHECK_INT(count_requests(&w, IMAGE_ASKED), 1); /* one question for both */
    answer(&w, IMAGE_ASKED, 200, LAYERS);
    w_run(&w);
    check_binding(&w, "p", "c");
    check_binding(&w, "q", "c");
    CHECK_INT(w_stats(&w).attempts, 2); /* waiting is no attempt */
    w_pod(&w, "r", "1", "", "", "");    /* the image is known */
    w_run(&w);
    check_binding(&w, "r", "c");
    CHECK_INT(count_requests(&w, IMAGE_ASKED), 0);
    w_fini(&w);
}

TEST(a_pod_waits_two_seconds_for_a_silent_registry_and_later_pods_do_not)
{
    struct world w;
    w_init_images(&w, "");
    w_pod(&w, "p", "1", "", "", "");
    w_after(&w, 1999);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    w_after(&w, 1);
    check_binding(&w, "p", "a"); /* nothing is known: the lower name */
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "q", "a");
    answer(&w, IMAGE_ASKED, 200, LAYERS); /* late, and good for the next */
    w_pod(&w, "r", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "r", "c");
    w_fini(&w);
}

TEST(an_image_that_cannot_be_asked_for_delays_nothing_for_a_minute)
{
    struct world w;
    w_init_images(&w, "");
    w_pod(&w, "p", "1", "", "", "");
    answer(&w, IMAGE_ASKED, 0, "");
    w_run(&w);
    check_binding(&w, "p", "a");
    w_after(&w, 59999);
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "q", "a");
    CHECK_INT(count_requests(&w, IMAGE_ASKED), 0);
    w_after(&w, 1);
    w_pod(&w, "r", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "r", "a"); /* it is asked for again, and no pod waits for that */
    CHECK_INT(count_requests(&w, IMAGE_ASKED), 1);
    answer(&w, IMAGE_ASKED, 200, LAYERS);
    w_pod(&w, "s", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "s", "c");
    w_fini(&w);
}

TEST(a_tag_is_asked_for_again_and_what_it_stood_for_counts_meanwhile)
{
    struct world w;
    w_init_images(&w, "");
    w_pod(&w, "p", "1", "", "", "");
    answer(&w, IMAGE_ASKED, 200, LAYERS);
    w_after(&w, 60000);
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "q", "c");
    answer(&w, IMAGE_ASKED, 200, "sha256:000000000002=100"); /* the tag has moved */
    w_pod(&w, "r", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "r", "b");
    w_after(&w, 60000);
    w_pod(&w, "s", "1", "", "", "");
    w_run(&w);
    answer(&w, IMAGE_ASKED, 0, ""); /* what was known stays */
    w_pod(&w, "t", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "t", "b");
    w_fini(&w);
}

TEST(pull_secrets_are_named_and_an_image_is_asked_for_with_each_set_of_them)
{
    static const char secrets[] = ",\"imagePullSecrets\":[{\"name\":\"one\"},{\"name\":\"two\"}]";
    struct world w;
    w_init_images(&w, "");
    w_pod(&w, "p", "1", "", secrets, "");
    w_pod(&w, "q", "1", "", "", "");
    CHECK_INT(w_stats(&w).queue.gated, 2);
    CHECK(w_request(&w, "default\ni:latest\none\ntwo\n"));
    answer(&w, "default\ni:latest\none\ntwo\n", 200, LAYERS);
    w_run(&w);
    check_binding(&w, "p", "c");
    CHECK_INT(w_stats(&w).queue.gated, 1); /* what others may see is not for this one */
    answer(&w, IMAGE_ASKED, 0, "");
    w_run(&w);
    check_binding(&w, "q", "a");
    w_fini(&w);
}

TEST(nothing_is_asked_for_a_pod_with_the_annotation_or_where_it_is_switched_off)
{
    struct world w;
    w_init_images(&w, "");
    w_pod(&w, "p", "1", ",\"annotations\":{\"image.dormouse.dev/layers\":\"" LAYERS "\"}", "", "");
    w_run(&w);
    check_binding(&w, "p", "c");
    CHECK_INT(count_requests(&w, IMAGE_ASKED), 0);
    w_fini(&w);
    w_init_images(&w, "layers: annotation");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "p", "a");
    CHECK_INT(count_requests(&w, IMAGE_ASKED), 0);
    w_fini(&w);
    w_init_images(&w, "waitMilliseconds: 0");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "p", "a");
    answer(&w, IMAGE_ASKED, 200, LAYERS);
    w_pod(&w, "q", "1", "", "", "");
    w_run(&w);
    check_binding(&w, "q", "c");
    w_fini(&w);
}

TEST(a_pod_that_waits_may_go_and_a_scheduler_that_waits_may_end)
{
    struct world w;
    w_init_images(&w, "");
    w_pod(&w, "p", "1", "", "", "");
    w_run(&w);
    sched_del(w.s, SCHED_POD, STR("default"), STR("p"), w.now);
    answer(&w, IMAGE_ASKED, 200, LAYERS);
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 0);
    w_pod(&w, "q", "1", "", ",\"imagePullSecrets\":[{\"name\":\"one\"}]", "");
    w_run(&w);
    CHECK_INT(w_stats(&w).queue.gated, 1);
    w_fini(&w);
}

TEST(no_more_than_so_many_images_are_asked_for_at_a_time)
{
    enum { ASKED_MAX = 512 };
    struct world w;
    w_init_images(&w, "");
    for (int i = 0; i < ASKED_MAX + 1; i++) {
        char name[16], secrets[80];
        (void)snprintf(name, sizeof name, "p%d", i);
        (void)snprintf(secrets, sizeof secrets, ",\"imagePullSecrets\":[{\"name\":\"s%d\"}]", i);
        w_pod(&w, name, "0", "", secrets, "");
    }
    CHECK_INT(w_stats(&w).queue.gated, ASKED_MAX);
    w_run(&w);
    CHECK_INT(count_requests(&w, "/binding"), 1); /* the last one goes without */
    w_fini(&w);
}

TEST_MAIN
