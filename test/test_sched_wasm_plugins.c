/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wasm plugins in a scheduler: loaded from a configuration, in cycles, in dry runs of preemption,
 * as queueing hints; what fails in them, and what a reload changes. The API is played by the test.
 */
#include "test.h"

#include "sched/core/scheduler.h"
#include "sched/wasm/plugins.h"
#include "wasm/module.h"

#include <sys/resource.h>
#include <sys/stat.h>

enum { ANSWERS_MAX = 64 };

struct answer {
    sched_api_done done;
    void *arg;
    char *text; /* METHOD TARGET BODY */
};

struct rig {
    struct loop loop;
    struct module_cache *cache;
    struct wplugin_host *host;
    struct wplugins *plugins;
    struct err load_err;
    bool is_loaded, is_over;
    char dir[64];
    struct arena arena;
    struct sched_config config;
    struct sched_api api;
    struct answer asked[ANSWERS_MAX];
    unsigned n_asked;
    struct sched *sched;
    uint64_t now_ms;
    struct buf decisions; /* "pod=node," or "pod:reasons," */
};

/* ---- the API ---- */

static void on_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                    void *arg)
{
    struct rig *r = container_of(api, struct rig, api);
    CHECK(r->n_asked < ANSWERS_MAX);
    r->asked[r->n_asked++] = (struct answer){ done, arg,
                                              xasprintf("%s " STR_FMT " " STR_FMT, rq->method,
                                                        STR_ARG(rq->target), STR_ARG(rq->body)) };
}

/* Everything succeeds. How many requests had `what` in them. */
static unsigned answer_all(struct rig *r, const char *what)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->n_asked; i++) {
        struct answer a = r->asked[i];
        n += strstr(a.text, what) != NULL;
        free(a.text);
        if (a.done)
            a.done(a.arg, 0, 201, STR("{}"), NULL);
    }
    r->n_asked = 0;
    return n;
}

/* ---- the scheduler ---- */

static void on_decided(void *arg, const struct sched_pod *pod, const struct word *node,
                       const struct sched_status *status)
{
    struct rig *r = arg;
    struct arena a = { 0 };
    if (node)
        (void)buf_printf(&r->decisions, STR_FMT "=%s,", STR_ARG(pod->o.name), node->text);
    else
        (void)buf_printf(&r->decisions, STR_FMT ":" STR_FMT ",", STR_ARG(pod->o.name),
                         STR_ARG(sched_status_message(&a, status)));
    arena_fini(&a);
}

static const struct sched_observer observer = { .decided = on_decided };

static int64_t wall_ms(void *arg)
{
    (void)arg;
    return 1000000;
}

static void on_loaded(struct wplugins *ret, const struct err *err, void *arg)
{
    struct rig *r = arg;
    r->plugins = ret;
    r->is_loaded = true;
    if (!ret)
        r->load_err = *err;
}

static void load(struct rig *r, const char *plugin_config)
{
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf warnings = BUF_INIT(10000);
    const char *text = arena_printf(&r->arena,
                                    "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                    "kind: KubeSchedulerConfiguration\n"
                                    "profiles:\n"
                                    "- plugins: {multiPoint: {enabled: [{name: guest}]}}\n"
                                    "  pluginConfig: [{name: guest, args: {%s}}]\n",
                                    plugin_config);
    CHECK_OK(sched_config_read(&r->arena, str_of(text), &r->config, &warnings, &err));
    r->is_loaded = false;
    wplugins_load(r->host, &r->loop, &r->config, true, on_loaded, r);
    CHECK(!r->is_loaded);
    while (!r->is_loaded)
        (void)loop_turn(&r->loop, true);
}

static void setup(struct rig *r, const char *plugin_config)
{
    struct err err = { 0 };
    *r = (struct rig){ .api.call = on_call, .now_ms = 1, .decisions = BUF_INIT(100000) };
    (void)snprintf(r->dir, sizeof r->dir, "/tmp/dormouse-test-XXXXXX");
    CHECK(mkdtemp(r->dir));
    CHECK_OK(loop_init(&r->loop, &err));
    const struct module_cache_config cache = { .dir = r->dir };
    CHECK_OK(module_cache_new(&r->loop, &cache, &r->cache, &err));
    r->host = wplugin_host_new(&r->loop, r->cache);
    load(r, plugin_config);
}

static void begin(struct rig *r)
{
    struct err err = { 0 };
    if (!r->plugins)
        TEST_FAIL("%s", err_text(&r->load_err));
    const struct sched_opts opts = { .config = &r->config,
                                     .api = &r->api,
                                     .foreign = wplugins_foreign(r->plugins),
                                     .seed = 1,
                                     .keeps_json = true,
                                     .wall_ms = wall_ms,
                                     .observer = &observer,
                                     .observer_arg = r };
    CHECK_OK(sched_new(&opts, &r->sched, &err));
    sched_synced(r->sched);
}

static void on_closed(void *arg)
{
    ((struct rig *)arg)->is_over = true;
}

static void teardown(struct rig *r)
{
    sched_free(r->sched);
    wplugins_release(r->plugins);
    (void)answer_all(r, ""); /* nobody hears it */
    while (loop_turn(&r->loop, false))
        ;
    wplugin_host_free(r->host);
    module_cache_close(r->cache, on_closed, r);
    while (!r->is_over)
        (void)loop_turn(&r->loop, true);
    while (loop_turn(&r->loop, false))
        ;
    loop_fini(&r->loop);
    arena_fini(&r->arena);
    buf_fini(&r->decisions);
    scoped(free_scoped) char *rm = xasprintf("rm -rf %s", r->dir);
    CHECK_INT(system(rm), 0);
}

static void put(struct rig *r, enum sched_kind kind, const char *text)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *json;
    CHECK_OK(json_parse(&a, str_of(text), NULL, &json, &err));
    CHECK_OK(sched_put(r->sched, kind, json, r->now_ms, &err));
    arena_fini(&a);
}

static void put_node(struct rig *r, const char *name, const char *labels)
{
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"5\","
                  "\"labels\":{%s}},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\","
                  "\"pods\":\"10\"}}}",
                  name, name, labels);
    put(r, SCHED_NODE, text);
}

static void put_pod(struct rig *r, const char *name, const char *node, int priority)
{
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"u-%s\","
                  "\"resourceVersion\":\"%d\"},\"spec\":{\"schedulerName\":\"default-scheduler\","
                  "\"priority\":%d,%s%s%s\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
                  name, name, *node ? 8 : 7, priority, *node ? "\"nodeName\":\"" : "", node,
                  *node ? "\"," : "");
    put(r, SCHED_POD, text);
}

/* What was decided until nothing is left to do. Borrowed until the next call. */
static struct str decided(struct rig *r)
{
    buf_reset(&r->decisions);
    (void)sched_tick(r->sched, r->now_ms);
    while (sched_step(r->sched, r->now_ms))
        ;
    return buf_str(&r->decisions);
}

static const char *slot(struct rig *r, const char *more)
{
    (void)r;
    static char text[512];
    (void)snprintf(text, sizeof text, "guestURL: \"file://%s/sched_slot.wasm\"%s",
                   getenv("TEST_WASM_DIR"), more);
    return text;
}

TEST(a_guest_filters_and_a_pod_is_bound_where_it_says)
{
    struct rig r;
    setup(&r, slot(&r, ""));
    CHECK_INT(wplugins_count(r.plugins), 1);
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "a", "", 0);
    CHECK_STR(decided(&r), "a=n1,");
    CHECK_INT(answer_all(&r, "POST /api/v1/namespaces/d/pods/a/binding"), 1);
    /* Assumed, not yet told by a watch: the guest sees it on the node. */
    put_pod(&r, "b", "", 0);
    CHECK(str_find(decided(&r), STR("b:0/1 nodes are available: 1 the slot is taken.")) == 0);
    teardown(&r);
}

TEST(preemption_asks_forks_of_the_guest)
{
    struct rig r;
    setup(&r, slot(&r, ""));
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "low", "n1", 0);
    put_pod(&r, "high", "", 1000);
    CHECK(str_find(decided(&r), STR("the slot is taken")) > 0);
    /* Without the lower one it fits; with that put back it would not, so that one has to go. */
    unsigned n_deleted = 0;
    for (int i = 0; i < 8 && !n_deleted; i++)
        n_deleted += answer_all(&r, "DELETE /api/v1/namespaces/d/pods/low");
    CHECK_INT(n_deleted, 1);
    sched_del(r.sched, SCHED_POD, STR("d"), STR("low"), r.now_ms);
    (void)answer_all(&r, "");
    r.now_ms += 60000;
    CHECK_STR(decided(&r), "high=n1,");
    teardown(&r);
}

TEST(preemption_asks_a_guest_that_no_node_came_to)
{
    struct rig r;
    scoped(free_scoped) char *guest =
        xasprintf("guestURL: \"file://%s/sched_filter.wasm\"", getenv("TEST_WASM_DIR"));
    setup(&r, guest);
    begin(&r);
    put_node(&r, "n1", "");
    put(&r, SCHED_POD,
        "{\"metadata\":{\"name\":\"low\",\"namespace\":\"d\",\"uid\":\"l\"},\"spec\":{"
        "\"schedulerName\":\"default-scheduler\",\"nodeName\":\"n1\",\"containers\":[{\"name\":"
        "\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}");
    /* NodeResourcesFit refuses the node before the guest is asked: it has no instance for it. */
    put(&r, SCHED_POD,
        "{\"metadata\":{\"name\":\"high\",\"namespace\":\"d\",\"uid\":\"h\"},\"spec\":{"
        "\"schedulerName\":\"default-scheduler\",\"priority\":1000,\"containers\":[{\"name\":"
        "\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}");
    CHECK(str_find(decided(&r), STR("1 Insufficient cpu")) > 0);
    unsigned n_deleted = 0;
    for (int i = 0; i < 8 && !n_deleted; i++)
        n_deleted += answer_all(&r, "DELETE /api/v1/namespaces/d/pods/low");
    CHECK_INT(n_deleted, 1);
    teardown(&r);
}

TEST(a_cycle_keeps_little_of_what_a_guest_says_and_asks_for)
{
    struct rig r;
    scoped(free_scoped) char *guest = xasprintf(
        "guestURL: \"file://%s/sched_filter.wasm\", guestConfig: long", getenv("TEST_WASM_DIR"));
    setup(&r, guest);
    begin(&r);
    for (int i = 1; i <= 40; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        put_node(&r, name, "");
    }
    put_pod(&r, "there", "n1", 0);
    put_pod(&r, "a", "", 0);
    struct rusage before, after;
    CHECK_INT(getrusage(RUSAGE_SELF, &before), 0);
    struct str text = decided(&r);
    CHECK_INT(getrusage(RUSAGE_SELF, &after), 0);
    CHECK(str_find(text, STR("a:0/40 nodes are available: 40 xxxxx")) == 0);
    CHECK(text.n < 10000);
    /* 16 MB said of each of 40 nodes, and as much asked for. */
    CHECK(after.ru_maxrss - before.ru_maxrss < (300 << 10));
    teardown(&r);
}

TEST(hints_of_a_guest_decide_when_a_pod_is_tried_again)
{
    struct rig r;
    setup(&r, slot(&r, ""));
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "first", "n1", 2000);
    put_pod(&r, "second", "", 0);
    CHECK(str_find(decided(&r), STR("second:")) == 0);
    r.now_ms += 60000;
    put_node(&r, "n1", "\"more\":\"labels\""); /* an event that the guest does not care for */
    (void)answer_all(&r, "");
    CHECK_STR(decided(&r), "");
    sched_del(r.sched, SCHED_POD, STR("d"), STR("first"), r.now_ms);
    r.now_ms += 60000;
    CHECK_STR(decided(&r), "second=n1,");
    teardown(&r);
}

TEST(a_guest_that_traps_fails_the_attempt_and_nothing_else)
{
    struct rig r;
    setup(&r, slot(&r, ", guestConfig: trap"));
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "a", "", 0);
    struct str text = decided(&r);
    CHECK(str_find(text, STR("wasm: filter error: wasm error: unreachable")) > 0);
    CHECK(str_find(text, STR("wasm stack trace:")) > 0);
    r.now_ms += 60000;
    (void)answer_all(&r, "");
    CHECK(str_find(decided(&r), STR("unreachable")) > 0); /* tried again, in a new instance */
    struct wplugins *broken = r.plugins;
    load(&r, slot(&r, ""));
    struct err err = { 0 };
    CHECK_OK(sched_reload(r.sched, &r.config, wplugins_foreign(r.plugins), true, &err));
    wplugins_release(broken);
    r.now_ms += 600000;
    CHECK_STR(decided(&r), "a=n1,");
    teardown(&r);
}

TEST(a_guest_has_so_much_time_for_a_pod)
{
    struct rig r;
    setup(&r, slot(&r, ", guestConfig: spin!"));
    wplugins_limit_attempts(r.plugins, 1);
    begin(&r);
    put_node(&r, "n1", "");
    put_node(&r, "n2", ""); /* the one that is looked at second comes too late */
    put_pod(&r, "a", "", 0);
    CHECK(str_find(decided(&r), STR("wasm: the calls for this pod took longer than 1 ms")) > 0);
    r.now_ms += 60000;
    (void)answer_all(&r, "");
    /* The plugin rests: it is not called for a while, and the attempt takes no time. */
    CHECK(str_find(decided(&r), STR("wasm: the plugin took too long, it is called again in")) > 0);
    r.now_ms += 60000;
    (void)answer_all(&r, "");
    wplugins_limit_attempts(r.plugins, 60000); /* each attempt has its own */
    CHECK(str_find(decided(&r), STR("a=n")) == 0);
    teardown(&r);
}

TEST(what_cannot_be_loaded_says_why_in_upstreams_words)
{
    struct rig r;
    setup(&r, "guestURL: \"file:///does/not/exist.wasm\"");
    CHECK(!r.plugins);
    CHECK(strstr(err_text(&r.load_err), "initializing plugin \"guest\": "));
    CHECK(strstr(err_text(&r.load_err), "no such file or directory"));
    load(&r, "guestURL: 3");
    CHECK(!r.plugins);
    CHECK(strstr(err_text(&r.load_err), "failed to decode into guest PluginConfig: "));
    teardown(&r);
}

TEST_MAIN
