/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's core against an API that is slow, fails, loses answers, and outlives it: random
 * histories of pods and nodes that come and go, requests that are answered late or never, watches
 * that lag behind, plugins that wait, schedulers that are killed and start again or take another
 * configuration.
 *
 * At all times: no node has more than it can hold. In the end, when everything works: every pod is
 * bound that fits anywhere, nothing is assumed or under way, and the scheduler knows what the API
 * knows.
 */
#include "test.h"

#include "base/list.h"
#include "base/random.h"
#include "base/vec.h"
#include "sched/core/scheduler.h"

enum { PODS_MAX = 400, NODES_MAX = 24, NODE_CPU = 8, STEPS = 4000 };

struct model_pod {
    bool exists;
    unsigned generation; /* of this name: its uid */
    int cpu, node;       /* -1: none */
};
struct model_node {
    bool exists;
};
struct watch_event {
    struct list node;
    enum sched_kind kind;
    bool is_delete;
    char *name, *json;
};
struct request {
    struct list node;
    char *target, *body;
    bool is_get;
    sched_api_done done;
    void *arg;
};
struct waiting_step {
    struct sched_step *step;
    const struct sched_cycle *cycle;
};

struct model {
    struct sched_api api;
    struct arena arena;
    struct sched_config config;
    struct sched *s;
    struct rng rng;
    uint64_t now;
    unsigned rv;
    struct model_pod pods[PODS_MAX];
    struct model_node nodes[NODES_MAX];
    struct list events, requests;
    bool healthy;
    unsigned bound, restarts, lost, refused;
};

static VEC(struct waiting_step) steps;
static struct model *now_running;

static bool chance(struct model *m, unsigned percent)
{
    return rng_below(&m->rng, 100) < percent;
}

/* ---- the API ---- */

static char *pod_json(struct model *m, unsigned i)
{
    const struct model_pod *p = &m->pods[i];
    char node[64] = "";
    if (p->node >= 0)
        (void)snprintf(node, sizeof node, ",\"nodeName\":\"n%d\"", p->node);
    return xasprintf(
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p%u\",\"uid\":\"p%u-%u\","
        "\"resourceVersion\":\"%u\"},\"spec\":{\"schedulerName\":\"default-scheduler\""
        ",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%d\"}}"
        "}]%s},\"status\":{\"phase\":\"Pending\"}}",
        i, i, p->generation, ++m->rv, p->cpu, node);
}

static char *node_json(struct model *m, unsigned i)
{
    return xasprintf("{\"metadata\":{\"name\":\"n%u\",\"uid\":\"n%u\",\"resourceVersion\":\"%u\"},"
                     "\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"%d\",\"memory\":\"64Gi\","
                     "\"pods\":\"110\"}}}",
                     i, i, ++m->rv, NODE_CPU);
}

static void tell(struct model *m, enum sched_kind kind, unsigned i, bool is_delete)
{
    struct watch_event *e = xnew(struct watch_event);
    e->kind = kind;
    e->is_delete = is_delete;
    e->name = xasprintf("%c%u", kind == SCHED_POD ? 'p' : 'n', i);
    if (!is_delete)
        e->json = kind == SCHED_POD ? pod_json(m, i) : node_json(m, i);
    list_push_back(&m->events, &e->node);
}

static void event_free(struct watch_event *e)
{
    list_remove(&e->node);
    free(e->name);
    free(e->json);
    free(e);
}

static void put(struct model *m, enum sched_kind kind, const char *text)
{
    struct arena a = { 0 };
    struct json *json;
    struct err err = { 0 };
    CHECK_OK(json_parse(&a, str_of(text), NULL, &json, NULL));
    if (sched_put(m->s, kind, json, m->now, &err) < 0)
        TEST_FAIL("%s", err.text);
    arena_fini(&a);
}

static void deliver(struct model *m)
{
    struct watch_event *e = list_first(&m->events, struct watch_event, node);
    if (e->is_delete)
        sched_del(m->s, e->kind, e->kind == SCHED_POD ? STR("default") : STR(""), str_of(e->name),
                  m->now);
    else
        put(m, e->kind, e->json);
    event_free(e);
}

static void check_room(struct model *m)
{
    int used[NODES_MAX] = { 0 };
    for (unsigned i = 0; i < PODS_MAX; i++)
        if (m->pods[i].exists && m->pods[i].node >= 0)
            used[m->pods[i].node] += m->pods[i].cpu;
    for (unsigned i = 0; i < NODES_MAX; i++)
        if (used[i] > NODE_CPU)
            TEST_FAIL("node n%u holds %d", i, used[i]);
}

static uint64_t number_behind(const char *text, const char *prefix)
{
    ptrdiff_t at = str_find(str_of(text), str_of(prefix));
    CHECK(at >= 0);
    const char *p = text + at + strlen(prefix);
    size_t n = strspn(p, "0123456789");
    uint64_t v;
    CHECK_OK(parse_u64(str_n(p, n), 0, UINT32_MAX, &v));
    return v;
}

/* What the API answers to a binding. */
static int bind_pod(struct model *m, const struct request *r)
{
    unsigned i = (unsigned)number_behind(r->target, "/pods/p");
    struct model_pod *p = &m->pods[i];
    char uid[64];
    (void)snprintf(uid, sizeof uid, "\"uid\":\"p%u-%u\"", i, p->generation);
    if (!p->exists)
        return 404;
    if (str_find(str_of(r->body), str_of(uid)) < 0 || p->node >= 0) {
        m->refused++;
        return 409;
    }
    p->node = (int)number_behind(r->body, "\"name\":\"n");
    m->bound++;
    tell(m, SCHED_POD, i, false);
    check_room(m);
    return 201;
}

static int apply(struct model *m, const struct request *r)
{
    if (str_has_suffix(str_of(r->target), STR("/binding")))
        return bind_pod(m, r);
    if (!str_has_suffix(str_of(r->target), STR("/status")))
        return 201; /* an Event */
    unsigned i = (unsigned)number_behind(r->target, "/pods/p");
    if (!m->pods[i].exists)
        return 404;
    tell(m, SCHED_POD, i, false);
    return 200;
}

static void request_free(struct request *r)
{
    list_remove(&r->node);
    free(r->target);
    free(r->body);
    free(r);
}

/* Somebody looks at a pod. */
static void answer_get(struct model *m, struct request *r)
{
    unsigned i = (unsigned)number_behind(r->target, "/pods/p");
    char *text = m->pods[i].exists ? pod_json(m, i) : xstrdup("{}");
    sched_api_done done = r->done;
    void *arg = r->arg;
    int status = m->pods[i].exists ? 200 : 404;
    request_free(r);
    if (!m->healthy && chance(m, 40))
        done(arg, -ECONNREFUSED, 0, STR(""), NULL);
    else
        done(arg, 0, status, str_of(text), NULL);
    free(text);
}

static void answer(struct model *m, struct request *r)
{
    if (r->is_get) {
        answer_get(m, r);
        return;
    }
    unsigned fate = m->healthy ? 100 : rng_below(&m->rng, 100);
    int status = fate < 8 ? 500 : 0;
    bool is_lost = fate >= 8 && fate < 24;
    if (fate >= 16)
        status = apply(m, r); /* 16..23: it arrived, and its answer is lost */
    m->lost += is_lost;
    sched_api_done done = r->done;
    void *arg = r->arg;
    request_free(r);
    struct err err = { 0 };
    (void)err_set(&err, -ECONNRESET, "connection reset");
    done(arg, is_lost ? -ECONNRESET : 0, status, STR("{\"message\":\"no\"}"),
         is_lost ? &err : NULL);
}

static void on_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                    void *arg)
{
    struct model *m = container_of(api, struct model, api);
    struct request *r = xnew(struct request);
    r->target = str_dup(rq->target);
    r->body = str_dup(rq->body);
    r->is_get = strcmp(rq->method, "GET") == 0;
    r->done = done;
    r->arg = arg;
    list_push_back(&m->requests, &r->node);
}

/* ---- a plugin that waits ---- */

SCHED_STATUS_CONST(not_now, SCHED_UNSCHEDULABLE, "not now");
SCHED_STATUS_CONST(wait, SCHED_WAIT, "");
SCHED_STATUS_CONST(broken, SCHED_ERROR, "broken");

static const struct sched_status *slow_permit(struct sched_plugin *p, struct sched_cycle *cycle,
                                              const struct sched_node_info *node,
                                              uint64_t *ret_timeout_ms)
{
    struct model *m = now_running;
    CHECK(node != NULL);
    *ret_timeout_ms = rng_below(&m->rng, 3000);
    if (m->healthy)
        return NULL;
    unsigned fate = rng_below(&m->rng, 10);
    return fate == 0 ? &not_now : fate < 3 ? &wait : NULL;
}

static const struct sched_status *slow_pre_bind(struct sched_plugin *p, struct sched_cycle *cycle,
                                                struct sched_step *step)
{
    struct model *m = now_running;
    if (m->healthy || chance(m, 60))
        return NULL;
    if (chance(m, 20))
        return &broken;
    struct waiting_step w = { step, cycle };
    vec_push(&steps, w);
    return SCHED_LATER;
}

static void slow_end(struct sched_plugin *p, struct sched_cycle *cycle)
{
    for (size_t i = steps.n; i-- > 0;)
        if (steps.p[i].cycle == cycle)
            vec_remove(&steps, i);
}

static void end_step(struct model *m)
{
    size_t i = rng_below(&m->rng, (uint32_t)steps.n);
    struct sched_step *step = steps.p[i].step;
    vec_remove(&steps, i);
    sched_step_done(step, !m->healthy && chance(m, 20) ? &broken : NULL);
}

static const struct sched_event_reg *slow_events(struct sched_plugin *p, size_t *ret_n)
{
    static const struct sched_event_reg regs[] = {
        { SCHED_ON_ASSIGNED_POD, SCHED_ADD | SCHED_DELETE, NULL },
        { SCHED_ON_NODE, SCHED_ADD, NULL },
    };
    *ret_n = ARRAY_LEN(regs);
    return regs;
}

static const struct sched_plugin_ops slow_ops = {
    .name = "Slow",
    .events = slow_events,
    .permit = slow_permit,
    .pre_bind = slow_pre_bind,
    .end = slow_end,
};
static const struct sched_plugin_ops *find_slow(void *arg, size_t profile, struct str name)
{
    return str_is(name, "Slow") ? &slow_ops : NULL;
}
static const struct sched_foreign foreign = { .find = find_slow };

static const char config_text[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- plugins:\n"
    "    multiPoint:\n"
    "      disabled: [{name: '*'}]\n"
    "      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: Slow},\n"
    "        {name: DefaultBinder}]\n";

/* ---- the scheduler, and its end ---- */

static void start(struct model *m)
{
    struct sched_opts opts = {
        .config = &m->config, .api = &m->api, .foreign = &foreign, .seed = rng_next(&m->rng)
    };
    CHECK_OK(sched_new(&opts, &m->s, NULL));
    for (unsigned i = 0; i < NODES_MAX; i++)
        if (m->nodes[i].exists) {
            char *text = node_json(m, i);
            put(m, SCHED_NODE, text);
            free(text);
        }
    for (unsigned i = 0; i < PODS_MAX; i++)
        if (m->pods[i].exists) {
            char *text = pod_json(m, i);
            put(m, SCHED_POD, text);
            free(text);
        }
    sched_synced(m->s);
}

/* What it asked for arrives or not, but not after its successor has looked. */
static void kill_and_start(struct model *m)
{
    m->restarts++;
    sched_free(m->s);
    while (!list_is_empty(&m->requests)) {
        struct request *r = list_first(&m->requests, struct request, node);
        int status = !r->is_get && chance(m, 50) ? apply(m, r) : 500;
        sched_api_done done = r->done;
        void *arg = r->arg;
        request_free(r);
        done(arg, 0, status, STR("{}"), NULL);
    }
    while (!list_is_empty(&m->events))
        event_free(list_first(&m->events, struct watch_event, node));
    CHECK_INT(steps.n, 0);
    start(m);
}

/* ---- what happens ---- */

static void change_a_pod(struct model *m)
{
    unsigned i = rng_below(&m->rng, PODS_MAX);
    struct model_pod *p = &m->pods[i];
    if (!p->exists && chance(m, 60)) {
        *p = (struct model_pod){ true, p->generation + 1, 1 + (int)rng_below(&m->rng, 4), -1 };
        tell(m, SCHED_POD, i, false);
    } else if (p->exists && chance(m, 25)) {
        p->exists = false;
        tell(m, SCHED_POD, i, true);
    }
}

static void change_a_node(struct model *m)
{
    unsigned i = rng_below(&m->rng, NODES_MAX);
    for (unsigned k = 0; k < PODS_MAX; k++)
        if (m->pods[k].exists && m->pods[k].node == (int)i && !m->nodes[i].exists)
            return; /* pods of its predecessor */
    m->nodes[i].exists = !m->nodes[i].exists;
    tell(m, SCHED_NODE, i, !m->nodes[i].exists);
}

static void turn(struct model *m)
{
    unsigned what = rng_below(&m->rng, 100);
    if (what < 25)
        change_a_pod(m);
    else if (what < 27)
        change_a_node(m);
    else if (what < 55 && !list_is_empty(&m->events))
        deliver(m);
    else if (what < 80 && !list_is_empty(&m->requests))
        answer(m, list_first(&m->requests, struct request, node));
    else if (what < 85 && steps.n > 0)
        end_step(m);
    else if (what < 99)
        (void)sched_step(m->s, m->now);
    else if (chance(m, 15))
        kill_and_start(m);
    else if (chance(m, 20))
        CHECK_OK(sched_reload(m->s, &m->config, &foreign, false, NULL));
    m->now += rng_below(&m->rng, 200);
    (void)sched_tick(m->s, m->now);
}

static void settle_down(struct model *m)
{
    m->healthy = true;
    for (unsigned i = 0; i < 1000; i++) {
        while (steps.n > 0)
            end_step(m);
        while (!list_is_empty(&m->requests))
            answer(m, list_first(&m->requests, struct request, node));
        while (!list_is_empty(&m->events))
            deliver(m);
        m->now += 1000;
        (void)sched_tick(m->s, m->now);
        while (sched_step(m->s, m->now))
            ;
    }
}

static void check_end(struct model *m)
{
    int room[NODES_MAX], largest = 0;
    size_t bound = 0, pods = 0;
    for (unsigned i = 0; i < NODES_MAX; i++)
        room[i] = m->nodes[i].exists ? NODE_CPU : 0;
    for (unsigned i = 0; i < PODS_MAX; i++) {
        const struct model_pod *p = &m->pods[i];
        pods += p->exists;
        bound += p->exists && p->node >= 0;
        if (p->exists && p->node >= 0)
            room[p->node] -= p->cpu;
    }
    for (unsigned i = 0; i < NODES_MAX; i++)
        largest = MAX(largest, m->nodes[i].exists ? room[i] : 0);
    for (unsigned i = 0; i < PODS_MAX; i++)
        if (m->pods[i].exists && m->pods[i].node < 0 && m->pods[i].cpu <= largest)
            TEST_FAIL("p%u wants %d and was forgotten, a node has %d", i, m->pods[i].cpu, largest);
    struct sched_stats st;
    sched_stats(m->s, &st);
    CHECK_INT(st.assumed, 0);
    CHECK_INT(st.binding, 0);
    CHECK_INT(st.waiting, 0);
    CHECK_INT(st.pods, bound);
    CHECK_INT(st.queue.active + st.queue.backoff + st.queue.unschedulable, pods - bound);
    CHECK_INT(st.queue.in_flight, 0);
}

static void run_history(uint64_t seed)
{
    struct model m = { .api.call = on_call, .rng.state = seed, .now = 1 };
    struct buf warnings = BUF_INIT(65536);
    now_running = &m;
    list_init(&m.events);
    list_init(&m.requests);
    CHECK_OK(sched_config_read(&m.arena, str_of(config_text), &m.config, &warnings, NULL));
    buf_fini(&warnings);
    for (unsigned i = 0; i < NODES_MAX / 2; i++)
        m.nodes[i].exists = true;
    start(&m);
    for (unsigned i = 0; i < STEPS; i++)
        turn(&m);
    settle_down(&m);
    check_room(&m);
    check_end(&m);
    printf("# %u bindings, %u answers lost, %u refused, %u restarts\n", m.bound, m.lost, m.refused,
           m.restarts);
    sched_free(m.s);
    while (!list_is_empty(&m.requests))
        answer(&m, list_first(&m.requests, struct request, node));
    while (!list_is_empty(&m.events))
        event_free(list_first(&m.events, struct watch_event, node));
    arena_fini(&m.arena);
    vec_fini(&steps);
}

TEST(whatever_fails_nothing_is_bound_twice_or_forgotten)
{
    for (unsigned i = 0; i < 6; i++)
        run_history(test_random());
}

TEST_MAIN
