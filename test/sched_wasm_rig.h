/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduler with Wasm plugins whose API is played by the test. */
#pragma once

#include "test.h"

#include "guest/module.h"
#include "sched/core/scheduler.h"
#include "sched/wasm/plugins.h"

#include <sys/stat.h>

enum { ANSWERS_MAX = 4096 };

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
    struct buf decisions;            /* "pod=node," or "pod:reasons," */
    const struct sched_lanes *lanes; /* NULL: none */
};

/* ---- the API ---- */

static inline void on_call(struct sched_api *api, const struct sched_api_request *rq,
                           sched_api_done done, void *arg)
{
    struct rig *r = container_of(api, struct rig, api);
    CHECK(r->n_asked < ANSWERS_MAX);
    r->asked[r->n_asked++] = (struct answer){ done, arg,
                                              xasprintf("%s " STR_FMT " " STR_FMT, rq->method,
                                                        STR_ARG(rq->target), STR_ARG(rq->body)) };
}

/* Everything succeeds. How many requests had `what` in them. */
static inline unsigned answer_all(struct rig *r, const char *what)
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

static inline void on_decided(void *arg, const struct sched_pod *pod, const struct intern *node,
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

static inline void on_loaded(struct wplugins *ret, const struct err *err, void *arg)
{
    struct rig *r = arg;
    r->plugins = ret;
    r->is_loaded = true;
    if (!ret)
        r->load_err = *err;
}

static inline void load_profiles(struct rig *r, const char *profiles)
{
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf warnings = BUF_INIT(10000);
    const char *text = arena_printf(&r->arena,
                                    "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                    "kind: KubeSchedulerConfiguration\n"
                                    "profiles:\n%s",
                                    profiles);
    CHECK_OK(sched_config_read(&r->arena, str_of(text), &r->config, &warnings, &err));
    r->is_loaded = false;
    wplugins_load(r->host, &r->loop, &r->config, true, on_loaded, r);
    CHECK(!r->is_loaded);
}

static inline void wait_loaded(struct rig *r)
{
    while (!r->is_loaded)
        (void)loop_turn(&r->loop, true);
}

static inline void load(struct rig *r, const char *plugin_config)
{
    load_profiles(r, arena_printf(&r->arena,
                                  "- plugins: {multiPoint: {enabled: [{name: guest}]}}\n"
                                  "  pluginConfig: [{name: guest, args: {%s}}]\n",
                                  plugin_config));
    wait_loaded(r);
}

static inline void setup_empty(struct rig *r)
{
    struct err err = { 0 };
    *r = (struct rig){ .api.call = on_call, .now_ms = 1, .decisions = BUF_INIT(100000) };
    (void)snprintf(r->dir, sizeof r->dir, "/tmp/dormouse-test-XXXXXX");
    CHECK(mkdtemp(r->dir));
    CHECK_OK(loop_init(&r->loop, &err));
    const struct module_cache_config cache = { .dir = r->dir };
    CHECK_OK(module_cache_new(&r->loop, &cache, &r->cache, &err));
    r->host = wplugin_host_new(&r->loop, r->cache, NULL);
}

static inline void setup(struct rig *r, const char *plugin_config)
{
    setup_empty(r);
    load(r, plugin_config);
}

static inline void begin(struct rig *r)
{
    struct err err = { 0 };
    if (!r->plugins)
        TEST_FAIL("%s", err_text(&r->load_err));
    const struct sched_opts opts = { .config = &r->config,
                                     .api = &r->api,
                                     .foreign = wplugins_foreign(r->plugins),
                                     .seed = 1,
                                     .wall_ms = wall_ms,
                                     .observer = &observer,
                                     .observer_arg = r,
                                     .lanes = r->lanes,
                                     .lanes_arg = r };
    CHECK_OK(sched_new(&opts, &r->sched, &err));
    sched_synced(r->sched);
}

static inline void on_closed(void *arg)
{
    ((struct rig *)arg)->is_over = true;
}

static inline void teardown(struct rig *r)
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

static inline void put(struct rig *r, enum sched_kind kind, const char *text)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *json;
    CHECK_OK(json_parse(&a, str_of(text), NULL, &json, &err));
    CHECK_OK(sched_put(r->sched, kind, json, r->now_ms, &err));
    arena_fini(&a);
}

static inline void put_node(struct rig *r, const char *name, const char *labels)
{
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"5\","
                  "\"labels\":{%s}},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\","
                  "\"pods\":\"10\"}}}",
                  name, name, labels);
    put(r, SCHED_NODE, text);
}

static inline void put_pod_of(struct rig *r, const char *scheduler, const char *name,
                              const char *node, int priority)
{
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"u-%s\","
                  "\"resourceVersion\":\"%d\"},\"spec\":{\"schedulerName\":\"%s\","
                  "\"priority\":%d,%s%s%s\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
                  name, name, *node ? 8 : 7, scheduler, priority, *node ? "\"nodeName\":\"" : "",
                  node, *node ? "\"," : "");
    put(r, SCHED_POD, text);
}

static inline void put_pod(struct rig *r, const char *name, const char *node, int priority)
{
    put_pod_of(r, "default-scheduler", name, node, priority);
}

/* What was decided until nothing is left to do. Borrowed until the next call. */
static inline struct str decided(struct rig *r)
{
    buf_reset(&r->decisions);
    (void)sched_tick(r->sched, r->now_ms);
    while (sched_step(r->sched, r->now_ms))
        ;
    return buf_str(&r->decisions);
}

static inline const char *slot(struct rig *r, const char *more)
{
    (void)r;
    static char text[512];
    (void)snprintf(text, sizeof text, "guestURL: \"file://%s/sched_slot.wasm\"%s",
                   getenv("TEST_WASM_DIR"), more);
    return text;
}
