/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/objects.h"

#include "base/map.h"
#include "client/ask.h"

#include <stdio.h>

enum { GET_AGAIN_MS = 1000, GET_AGAIN_MAX_MS = 30000 };

struct agent_objects {
    struct agent_objects_opts opts;
    struct map by_key; /* "KIND NAMESPACE/NAME" -> struct agent_object */
};

struct agent_object {
    struct agent_objects *s;
    enum agent_object_kind kind;
    char *namespace, *name;
    char *key;
    unsigned refs;
    bool is_known;
    bool is_stale; /* another pod uses it, and the server has not answered since */
    char *text;    /* as JSON; NULL: it does not exist */
    size_t n;
    struct reflector *watch; /* ConfigMaps and Secrets; the others by requests: */
    struct client_ask *ask;
    struct timer again;
    uint64_t again_ms;
};

static const char *const plurals[] = { [AGENT_CONFIG_MAP] = "configmaps",
                                       [AGENT_SECRET] = "secrets",
                                       [AGENT_CLAIM] = "persistentvolumeclaims",
                                       [AGENT_VOLUME] = "persistentvolumes",
                                       [AGENT_RUNTIME_CLASS] = "runtimeclasses" };

static char *key_of(enum agent_object_kind kind, struct str namespace, struct str name)
{
    return xasprintf("%s " STR_FMT "/" STR_FMT, plurals[kind], STR_ARG(namespace), STR_ARG(name));
}

static void set_text(struct agent_object *o, char *text, size_t n)
{
    free(o->text);
    o->text = text;
    o->n = n;
    if (o->is_known)
        o->s->opts.on_change(o->s->opts.arg, o);
}

static void on_object(void *arg, const struct json *object)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    size_t n;
    if (json_write(&text, object) < 0)
        return;
    char *p = buf_take(&text, &n);
    set_text(arg, p, n);
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    set_text(arg, NULL, 0);
}

static void on_synced(void *arg)
{
    struct agent_object *o = arg;
    o->is_known = true;
    o->s->opts.on_change(o->s->opts.arg, o);
}

static const struct reflector_ops watch_ops = {
    .on_object = on_object,
    .on_deleted = on_deleted,
    .on_synced = on_synced,
};

struct agent_objects *agent_objects_new(const struct agent_objects_opts *opts)
{
    struct agent_objects *s = xnew(struct agent_objects);
    s->opts = *opts;
    return s;
}

void agent_objects_free(struct agent_objects *s)
{
    assert(s->by_key.n == 0);
    map_fini(&s->by_key);
    free(s);
}

/* ---------------------------------------------------------------- claims, volumes, classes
 *
 * The Node authorizer gives a node claims and volumes by GET only. All are asked for until they are
 * there, claims until they are bound.
 */

static void get(struct agent_object *o);

static void on_again(struct timer *t)
{
    get(container_of(t, struct agent_object, again));
}

static bool is_settled(const struct agent_object *o, const struct json *object)
{
    return object && (o->kind != AGENT_CLAIM ||
                      str_is(json_get_str(json_getc(object, "status"), "phase"), "Bound"));
}

static void on_got(void *arg, int status, struct str body, const struct json *json,
                   const struct err *err)
{
    struct agent_object *o = arg;
    const struct json *object = status == 200 ? json : NULL;
    o->ask = NULL;
    if (!is_settled(o, object)) {
        o->again_ms = MIN(MAX(2 * o->again_ms, (uint64_t)GET_AGAIN_MS), (uint64_t)GET_AGAIN_MAX_MS);
        timer_start(o->s->opts.loop, &o->again, o->again_ms, on_again);
    }
    if (!object && status != 404)
        return; /* not known yet */
    o->is_known = true;
    o->is_stale = false;
    set_text(o, object ? xstrndup(body.p, body.n) : NULL, object ? body.n : 0);
}

static void get(struct agent_object *o)
{
    struct err err = { 0 };
    scoped(free_scoped) char *target =
        o->kind == AGENT_RUNTIME_CLASS
            ? xasprintf("/apis/node.k8s.io/v1/%s/%s", plurals[o->kind], o->name)
        : o->kind == AGENT_VOLUME
            ? xasprintf("/api/v1/%s/%s", plurals[o->kind], o->name)
            : xasprintf("/api/v1/namespaces/%s/%s/%s", o->namespace, plurals[o->kind], o->name);
    const struct ask_request rq = { .method = "GET", .target = str_of(target) };
    if (ask_start(o->s->opts.transport, o->s->opts.identity, &rq, on_got, o, &o->ask, &err) < 0)
        timer_start(o->s->opts.loop, &o->again, GET_AGAIN_MAX_MS, on_again);
}

/* What was read for another pod may be of an object that was deleted since, and made again. */
static void get_anew(struct agent_object *o)
{
    o->is_stale = true;
    o->again_ms = 0;
    ask_cancel(take_ptr(&o->ask));
    timer_stop(o->s->opts.loop, &o->again);
    get(o);
}

/* ---------------------------------------------------------------- ConfigMaps and Secrets */

static bool is_watched(const struct agent_object *o)
{
    return o->kind == AGENT_CONFIG_MAP || o->kind == AGENT_SECRET;
}

static int follow(struct agent_object *o, struct err *err)
{
    if (!is_watched(o)) {
        get(o);
        return 0;
    }
    char selector[280];
    (void)snprintf(selector, sizeof selector, "metadata.name=%s", o->name);
    const struct reflector_opts opts = {
        .loop = o->s->opts.loop,
        .transport = o->s->opts.transport,
        .hub = o->s->opts.hub,
        .identity = o->s->opts.identity,
        .key = { .group_version = STR("v1"),
                 .plural = str_of(plurals[o->kind]),
                 .namespace = str_of(o->namespace),
                 .field_selector = str_of(selector),
                 .identity = o->s->opts.identity },
        .streams = true,
        .ops = &watch_ops,
        .arg = o,
    };
    return reflector_start(&opts, &o->watch, err);
}

static void free_object(struct agent_object *o)
{
    if (o->watch)
        reflector_close(o->watch);
    ask_cancel(o->ask);
    timer_stop(o->s->opts.loop, &o->again);
    (void)map_del(&o->s->by_key, str_of(o->key));
    free(o->namespace);
    free(o->name);
    free(o->key);
    free(o->text);
    free(o);
}

struct agent_object *agent_objects_find(struct agent_objects *s, enum agent_object_kind kind,
                                        struct str namespace, struct str name)
{
    scoped(free_scoped) char *key = key_of(kind, namespace, name);
    return map_get(&s->by_key, str_of(key));
}

int agent_objects_get(struct agent_objects *s, enum agent_object_kind kind, struct str namespace,
                      struct str name, struct agent_object **ret, struct err *err)
{
    scoped(free_scoped) char *key = key_of(kind, namespace, name);
    struct agent_object *o = map_get(&s->by_key, str_of(key));
    if (o) {
        o->refs++;
        if (!is_watched(o))
            get_anew(o);
        *ret = o;
        return 0;
    }
    o = xnew(struct agent_object);
    *o = (struct agent_object){ .s = s,
                                .kind = kind,
                                .namespace = str_dup(namespace),
                                .name = str_dup(name),
                                .key = take_ptr(&key),
                                .refs = 1 };
    (void)map_put(&s->by_key, str_of(o->key), o);
    int r = follow(o, err);
    if (r < 0) {
        free_object(o);
        return r;
    }
    *ret = o;
    return 0;
}

void agent_object_put(struct agent_object *o)
{
    assert(o->refs > 0);
    if (--o->refs == 0)
        free_object(o);
}

bool agent_object_is(const struct agent_object *o, enum agent_object_kind kind,
                     struct str namespace, struct str name)
{
    return o->kind == kind && str_is(name, o->name) && str_is(namespace, o->namespace);
}

bool agent_object_is_known(const struct agent_object *o)
{
    return o->is_known;
}

bool agent_object_is_fresh(const struct agent_object *o)
{
    return o->is_known && !o->is_stale;
}

struct json *agent_object_read(const struct agent_object *o, struct arena *a)
{
    struct json *v = NULL;
    if (!o->text || json_parse(a, str_n(o->text, o->n), NULL, &v, NULL) < 0)
        return NULL;
    return v;
}
