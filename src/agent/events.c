/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of pods (core/v1). One that repeats within ten minutes is counted in the Event that
 * exists, as client-go's recorder does. At most EVENTS_QUEUE wait; further ones are dropped.
 */
#include "agent/agent_impl.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    EVENTS_QUEUE = 256,
    EVENTS_KNOWN = 1024,
    EVENT_AGAIN_MS = 10 * 60 * 1000,
    EVENT_NOTE_MAX = 1024
};

struct known_event {
    char *name; /* of the Event */
    int64_t first_s;
    uint64_t last_ms;
    uint32_t count;
};

struct waiting_event {
    struct list node;
    char *target, *body;
    bool is_patch;
};

struct agent_events {
    struct agent *a;
    struct map known; /* pod, container, reason and note -> struct known_event */
    struct list queue;
    size_t n_queue;
    uint64_t n_made;
    struct client_ask *ask;
};

static void send_next(struct agent_events *e);

static void free_waiting(struct waiting_event *w)
{
    free(w->target);
    free(w->body);
    free(w);
}

static void on_answer(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct agent_events *e = arg;
    e->ask = NULL;
    send_next(e);
}

static void send_next(struct agent_events *e)
{
    struct err err = { 0 };
    while (!e->ask && !list_is_empty(&e->queue)) {
        struct waiting_event *w = list_entry(list_pop_front(&e->queue), struct waiting_event, node);
        const struct ask_request rq = { .method = w->is_patch ? "PATCH" : "POST",
                                        .target = str_of(w->target),
                                        .content_type = w->is_patch ? "application/merge-patch+json"
                                                                    : "application/json",
                                        .body = str_of(w->body) };
        e->n_queue--;
        (void)ask_start(e->a->transport, e->a->identity, &rq, on_answer, e, &e->ask, &err);
        free_waiting(w);
    }
}

struct agent_events *agent_events_new(struct agent *a)
{
    struct agent_events *e = xnew(struct agent_events);
    e->a = a;
    list_init(&e->queue);
    return e;
}

static void free_known(struct known_event *k)
{
    if (k)
        free(k->name);
    free(k);
}

void agent_events_free(struct agent_events *e)
{
    ask_cancel(e->ask);
    list_each_safe (node, &e->queue)
        free_waiting(list_entry(node, struct waiting_event, node));
    map_each (k, &e->known)
        free_known(k->value);
    map_fini(&e->known);
    free(e);
}

static void set_time(struct arena *a, struct json *o, const char *key, int64_t unix_s)
{
    char text[RFC3339_MAX];
    rfc3339_format(unix_s, text);
    json_setc(a, o, key, json_new_cstr(a, text));
}

static void add_involved(struct arena *a, struct json *o, const struct agent_pod *p,
                         const char *container)
{
    struct json *ref = json_obj(a, o, "involvedObject");
    json_set_str(a, ref, "kind", STR("Pod"));
    json_set_str(a, ref, "apiVersion", STR("v1"));
    json_set_str(a, ref, "namespace", str_of(p->namespace));
    json_set_str(a, ref, "name", str_of(p->name));
    json_set_str(a, ref, "uid", str_of(p->uid));
    json_set_str(a, ref, "resourceVersion", p->spec->resource_version);
    if (container)
        json_setc(a, ref, "fieldPath",
                  json_new_cstr(a, arena_printf(a, "spec.containers{%s}", container)));
}

static struct json *make_event(struct arena *a, const struct agent_pod *p,
                               const struct known_event *k, const char *container, const char *type,
                               const char *reason, const char *note)
{
    struct json *o = json_new_object(a), *meta, *source;
    json_set_str(a, o, "kind", STR("Event"));
    json_set_str(a, o, "apiVersion", STR("v1"));
    meta = json_obj(a, o, "metadata");
    json_set_str(a, meta, "name", str_of(k->name));
    json_set_str(a, meta, "namespace", str_of(p->namespace));
    add_involved(a, o, p, container);
    json_setc(a, o, "reason", json_new_cstr(a, reason));
    json_setc(a, o, "message", json_new_cstr(a, note));
    json_setc(a, o, "type", json_new_cstr(a, type));
    set_time(a, o, "firstTimestamp", k->first_s);
    set_time(a, o, "lastTimestamp", clock_wall_ms() / 1000);
    json_set_int(a, o, "count", k->count);
    source = json_obj(a, o, "source");
    json_set_str(a, source, "component", STR("kubelet"));
    json_set_str(a, source, "host", str_of(p->agent->node_name));
    json_set_str(a, o, "reportingComponent", STR("kubelet"));
    json_set_str(a, o, "reportingInstance", str_of(p->agent->node_name));
    return o;
}

static void enqueue(struct agent_events *e, char *target, const struct json *body, bool is_patch)
{
    struct buf text = BUF_INIT(64 << 10);
    struct waiting_event *w;
    size_t n;
    if (e->n_queue >= EVENTS_QUEUE || json_write(&text, body) < 0) {
        free(target);
        buf_fini(&text);
        return;
    }
    w = xnew(struct waiting_event);
    w->target = target;
    w->body = buf_take(&text, &n);
    w->is_patch = is_patch;
    list_push_back(&e->queue, &w->node);
    e->n_queue++;
    send_next(e);
}

static void count_again(struct agent_events *e, const struct agent_pod *p, struct known_event *k)
{
    struct arena a = { 0 };
    struct json *o = json_new_object(&a);
    k->count++;
    k->last_ms = loop_now_ms(e->a->loop);
    json_set_int(&a, o, "count", k->count);
    set_time(&a, o, "lastTimestamp", clock_wall_ms() / 1000);
    enqueue(e, xasprintf("/api/v1/namespaces/%s/events/%s", p->namespace, k->name), o, true);
    arena_fini(&a);
}

/* All are forgotten at once when there are too many: a repetition is a new Event then. */
static void forget(struct agent_events *e)
{
    map_each (k, &e->known)
        free_known(k->value);
    map_fini(&e->known);
}

void agent_event(struct agent_pod *p, const char *container, bool is_warning, const char *reason,
                 const char *fmt, ...)
{
    struct agent_events *e = p->agent->events;
    char note[EVENT_NOTE_MAX];
    struct arena a = { 0 };
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(note, sizeof note, fmt, ap);
    va_end(ap);
    char *key = arena_printf(&a, "%s %s %s %s", p->uid, container ? container : "", reason, note);
    struct known_event *k = map_get(&e->known, str_of(key));
    if (k && loop_now_ms(e->a->loop) - k->last_ms < EVENT_AGAIN_MS) {
        count_again(e, p, k);
        arena_fini(&a);
        return;
    }
    if (e->known.n >= EVENTS_KNOWN)
        forget(e);
    k = xnew(struct known_event);
    *k = (struct known_event){ .first_s = clock_wall_ms() / 1000,
                               .last_ms = loop_now_ms(e->a->loop),
                               .count = 1,
                               .name = xasprintf("%s.%" PRIx64, p->name,
                                                 (uint64_t)clock_wall_us() * 1000 + e->n_made++) };
    free_known(map_put(&e->known, str_of(key), k));
    enqueue(e, xasprintf("/api/v1/namespaces/%s/events", p->namespace),
            make_event(&a, p, k, container, is_warning ? "Warning" : "Normal", reason, note),
            false);
    arena_fini(&a);
}
