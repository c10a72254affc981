/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plugin about volumes with a cache of its own, an API that records what it is asked, and a
 * clock that stands still. Objects are JSON with ' for ".
 */
#pragma once

#include "sched/framework/framework.h"
#include "sched/framework/profile.h"
#include "sched/object/csi_capacity.h"
#include "sched/object/csi_node.h"
#include "sched/object/pv.h"
#include "sched/object/pvc.h"
#include "sched/object/storage_class.h"
#include "test.h"

enum { KIT_CALLS_MAX = 64, KIT_TIMERS_MAX = 8 };

struct kit_call {
    char method[8];
    char *target, *body, *patch_type;
    sched_api_done done;
    void *arg;
};
struct kit_timer {
    uint64_t at;
    void (*run)(void *arg);
    void *arg;
};
struct kit {
    struct sched_framework f;
    struct sched_api api;
    struct sched_plugin *plugin;
    uint64_t now_ms, random;
    struct kit_call calls[KIT_CALLS_MAX];
    size_t n_calls, n_answered;
    struct kit_timer timers[KIT_TIMERS_MAX];
    size_t n_timers;
    uint64_t rv;
};
/* One attempt to place a pod. */
struct
try {
    struct kit *k;
    struct arena arena;
    struct sched_cycle cycle;
    void *state[1];
    struct sched_object *pod;
    const struct sched_status *pre;
    struct sched_step step;
    bool has_result;
    struct str result; /* of pre_bind; "" success */
};

/* Copies with " for '. */
static char *kit_quote(const char *text)
{
    char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return copy;
}

static struct sched_object *kit_read(struct intern_table *w, enum sched_kind kind, const char *text)
{
    scoped(free_scoped) char *json_text = kit_quote(text);
    struct arena a = { 0 };
    struct json *json;
    struct err err = { 0 };
    struct sched_object *o;
    if (json_parse(&a, str_of(json_text), NULL, &json, &err) < 0)
        TEST_FAIL("%s: %s", json_text, err_text(&err));
    if (sched_object_read(w, kind, json, false, &o, &err) < 0)
        TEST_FAIL("%s: %s", json_text, err_text(&err));
    arena_fini(&a);
    return o;
}

static enum sched_resource kit_resource(enum sched_kind kind)
{
    switch ((int)kind) {
    case SCHED_PV:
        return SCHED_ON_PERSISTENT_VOLUME;
    case SCHED_PVC:
        return SCHED_ON_PERSISTENT_VOLUME_CLAIM;
    case SCHED_NODE:
        return SCHED_ON_NODE;
    case SCHED_CSI_NODE:
        return SCHED_ON_CSI_NODE;
    case SCHED_CSI_DRIVER:
        return SCHED_ON_CSI_DRIVER;
    case SCHED_CSI_CAPACITY:
        return SCHED_ON_CSI_STORAGE_CAPACITY;
    case SCHED_STORAGE_CLASS:
        return SCHED_ON_STORAGE_CLASS;
    case SCHED_VOLUME_ATTACHMENT:
        return SCHED_ON_VOLUME_ATTACHMENT;
    default:
        return SCHED_ON_POD;
    }
}

static void kit_tell(struct kit *k, enum sched_kind kind, unsigned actions,
                     const struct sched_object *before, const struct sched_object *after)
{
    struct sched_event event = { kit_resource(kind), actions, before, after };
    if (k->plugin && k->plugin->ops->changed)
        k->plugin->ops->changed(k->plugin, &event);
}

static void kit_put_object(struct kit *k, struct sched_object *o)
{
    struct sched_object *old = NULL;
    CHECK_OK(sched_cache_put(k->f.cache, o, &old, NULL));
    kit_tell(k, o->kind, old ? SCHED_UPDATE : SCHED_ADD, old, o);
    sched_object_unref(k->f.words, old);
    sched_object_unref(k->f.words, o);
}

/* By printf, so that rows share their shape. */
static void kit_put(struct kit *k, enum sched_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void kit_put(struct kit *k, enum sched_kind kind, const char *fmt, ...)
{
    struct buf text = BUF_INIT(1 << 20);
    va_list ap;
    va_start(ap, fmt);
    CHECK_OK(buf_vprintf(&text, fmt, ap));
    va_end(ap);
    kit_put_object(k, kit_read(k->f.words, kind, buf_cstr(&text)));
    buf_fini(&text);
}

static void kit_del(struct kit *k, enum sched_kind kind, const char *ns, const char *name)
{
    struct sched_object *old = NULL;
    sched_cache_del(k->f.cache, kind, str_of(ns), str_of(name), &old);
    CHECK(old);
    kit_tell(k, kind, SCHED_DELETE, old, NULL);
    sched_object_unref(k->f.words, old);
}

static uint64_t kit_now(void *arg)
{
    return ((struct kit *)arg)->now_ms;
}
static uint64_t kit_random(void *arg)
{
    return ((struct kit *)arg)->random++;
}
static void kit_after(void *arg, uint64_t ms, void (*run)(void *run_arg), void *run_arg)
{
    struct kit *k = arg;
    CHECK(k->n_timers < KIT_TIMERS_MAX);
    k->timers[k->n_timers++] = (struct kit_timer){ k->now_ms + ms, run, run_arg };
}
static void kit_cancel_after(void *arg, void (*run)(void *run_arg), void *run_arg)
{
    struct kit *k = arg;
    for (size_t i = 0; i < k->n_timers; i++) {
        if (k->timers[i].run == run && k->timers[i].arg == run_arg)
            k->timers[i--] = k->timers[--k->n_timers];
    }
}
static void kit_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                     void *arg)
{
    struct kit *k = container_of(api, struct kit, api);
    CHECK(k->n_calls < KIT_CALLS_MAX);
    struct kit_call *c = &k->calls[k->n_calls++];
    *c = (struct kit_call){ .target = str_dup(rq->target),
                            .body = str_dup(rq->body),
                            .patch_type = xstrdup(rq->patch_type ? rq->patch_type : ""),
                            .done = done,
                            .arg = arg };
    (void)snprintf(c->method, sizeof(c->method), "%s", rq->method);
}
/* Answers the oldest call that waits. */
static void kit_answer(struct kit *k, int status, const char *body)
{
    CHECK(k->n_answered < k->n_calls);
    struct kit_call *c = &k->calls[k->n_answered++];
    scoped(free_scoped) char *text = kit_quote(body);
    c->done(c->arg, 0, status, str_of(text), NULL);
}
static void kit_run_timers(struct kit *k, uint64_t ms)
{
    k->now_ms += ms;
    for (size_t i = 0; i < k->n_timers;) {
        struct kit_timer t = k->timers[i];
        if (t.at > k->now_ms) {
            i++;
            continue;
        }
        k->timers[i] = k->timers[--k->n_timers];
        t.run(t.arg);
        i = 0;
    }
}

static void kit_init(struct kit *k, const char *plugin, const char *args)
{
    *k = (struct kit){ .api = { kit_call }, .random = 1 };
    k->f = (struct sched_framework){
        .words = intern_table_new(),
        .api = &k->api,
        .now_ms = kit_now,
        .random = kit_random,
        .after = kit_after,
        .cancel_after = kit_cancel_after,
        .arg = k,
    };
    k->f.cache = sched_cache_new(k->f.words);
    const struct sched_plugin_ops *ops = sched_native_plugin(str_of(plugin));
    CHECK(ops);
    struct arena a = { 0 };
    struct json *json = NULL;
    scoped(free_scoped) char *text = kit_quote(args ? args : "{}");
    CHECK_OK(json_parse(&a, str_of(text), NULL, &json, NULL));
    struct sched_plugin_env env = { .framework = &k->f, .args = json, .ops = ops };
    if (ops->create)
        CHECK_OK(ops->create(&env, &k->plugin, NULL));
    else
        k->plugin = xnew(struct sched_plugin);
    k->plugin->ops = ops;
    k->plugin->framework = &k->f;
    arena_fini(&a);
}

static void kit_fini(struct kit *k)
{
    if (k->plugin->ops->destroy)
        k->plugin->ops->destroy(k->plugin);
    else
        free(k->plugin);
    CHECK_INT(k->n_timers, 0);
    for (size_t i = 0; i < k->n_calls; i++) {
        free(k->calls[i].target);
        free(k->calls[i].body);
        free(k->calls[i].patch_type);
    }
    sched_cache_free(k->f.cache);
    intern_table_free(k->f.words);
}

/* ---- attempts ---- */

/* A pod with these volumes ("{...},{...}"). */
static struct sched_object *kit_pod(struct kit *k, const char *name, const char *volumes)
{
    struct buf text = BUF_INIT(1 << 20);
    CHECK_OK(buf_printf(&text,
                        "{'metadata':{'namespace':'ns','name':'%s','uid':'%s-uid'},'spec':{"
                        "'containers':[{'name':'c','image':'i'}],'volumes':[%s]}}",
                        name, name, volumes));
    struct sched_object *pod = kit_read(k->f.words, SCHED_POD, buf_cstr(&text));
    buf_fini(&text);
    return pod;
}

static void try_init(struct try *t, struct kit *k, const char *name, const char *volumes)
{
    *t = (struct try){ .k = k, .pod = kit_pod(k, name, volumes) };
    t->cycle = (struct sched_cycle){
        .arena = &t->arena, .pod = sched_pod_of(t->pod), .framework = &k->f, .states = t->state
    };
    struct sched_node_set set = { .all = true };
    t->pre = k->plugin->ops->pre_filter(k->plugin, &t->cycle, &set);
    CHECK(set.all);
}

static void try_fini(struct try *t)
{
    if (t->k->plugin->ops->end)
        t->k->plugin->ops->end(t->k->plugin, &t->cycle);
    sched_object_unref(t->k->f.words, t->pod);
    arena_fini(&t->arena);
}

static const struct sched_node_info *kit_node(struct kit *k, const char *name)
{
    struct intern *word = intern_find(k->f.words, str_of(name));
    const struct sched_node_info *n = word ? sched_cache_node(k->f.cache, word) : NULL;
    CHECK(n && n->node);
    return n;
}

/* What Filter says of a node; "" fits. PreFilter's refusal counts for every node. */
static struct str try_filter(struct try *t, const char *node)
{
    const struct sched_status *s = t->pre;
    if (!s)
        s = t->k->plugin->ops->filter(t->k->plugin, &t->cycle, kit_node(t->k, node));
    return s && s->code != SCHED_SKIP ? sched_status_message(&t->arena, s) : STR("");
}

/* The same for a pod that is only asked about. */
static void kit_check(struct kit *k, const char *volumes, const char *node, const char *want)
{
    struct try t;
    try_init(&t, k, "p", volumes);
    struct str got = try_filter(&t, node);
    if (!str_is(got, want))
        TEST_FAIL("volumes %s on %s: '" STR_FMT "', expected '%s'", volumes, node, STR_ARG(got),
                  want);
    try_fini(&t);
}
