/* SPDX-License-Identifier: Apache-2.0 */
#include "client/event_recorder.h"

#include "base/clock.h"
#include "base/map.h"
#include "client/ask.h"

#include <inttypes.h>

enum { AGAIN_MS = 10 * 60 * 1000 };

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

struct event_recorder {
    struct event_recorder_opts opts;
    struct map known; /* uid, part, reason and note -> struct known_event */
    struct list queue;
    size_t n_queue;
    uint64_t n_made;
    struct client_ask *ask;
};

static void send_next(struct event_recorder *r);

static void free_waiting(struct waiting_event *w)
{
    free(w->target);
    free(w->body);
    free(w);
}

static void free_known(struct known_event *k)
{
    if (k)
        free(k->name);
    free(k);
}

/* All are forgotten at once when there are too many: a repetition is a new Event then. */
static void forget(struct event_recorder *r)
{
    map_each (k, &r->known)
        free_known(k->value);
    map_fini(&r->known);
}

static void on_answer(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct event_recorder *r = arg;
    r->ask = NULL;
    if (status < 200 || status >= 300) /* it is not there: a repetition is a new one */
        forget(r);
    send_next(r);
}

static void send_next(struct event_recorder *r)
{
    struct err err = { 0 };
    while (!r->ask && !list_is_empty(&r->queue)) {
        struct waiting_event *w = list_entry(list_pop_front(&r->queue), struct waiting_event, node);
        const struct ask_request rq = { .method = w->is_patch ? "PATCH" : "POST",
                                        .target = str_of(w->target),
                                        .content_type = w->is_patch ? "application/merge-patch+json"
                                                                    : "application/json",
                                        .body = str_of(w->body) };
        r->n_queue--;
        (void)ask_start(r->opts.transport, r->opts.identity, &rq, on_answer, r, &r->ask, &err);
        free_waiting(w);
    }
}

struct event_recorder *event_recorder_new(const struct event_recorder_opts *opts)
{
    struct event_recorder *r = xnew(struct event_recorder);
    r->opts = *opts;
    list_init(&r->queue);
    return r;
}

void event_recorder_free(struct event_recorder *r)
{
    if (!r)
        return;
    ask_cancel(r->ask);
    list_each_safe (node, &r->queue)
        free_waiting(list_entry(node, struct waiting_event, node));
    forget(r);
    free(r);
}

static void set_time(struct arena *a, struct json *o, const char *key, int64_t unix_s)
{
    char text[RFC3339_MAX];
    rfc3339_format(unix_s, text);
    json_setc(a, o, key, json_new_cstr(a, text));
}

static struct str space_of(const struct event_about *about)
{
    return about->namespace.n ? about->namespace : STR("default");
}

static void add_involved(struct arena *a, struct json *o, const struct event_about *about)
{
    struct json *ref = json_obj(a, o, "involvedObject");
    json_set_str(a, ref, "kind", about->kind);
    json_set_str(a, ref, "apiVersion", about->api_version);
    if (about->namespace.n)
        json_set_str(a, ref, "namespace", about->namespace);
    json_set_str(a, ref, "name", about->name);
    json_set_str(a, ref, "uid", about->uid);
    json_set_str(a, ref, "resourceVersion", about->resource_version);
    if (about->field_path.n)
        json_set_str(a, ref, "fieldPath", about->field_path);
}

static struct json *make_event(const struct event_recorder *r, struct arena *a,
                               const struct event_about *about, const struct known_event *k,
                               const char *type, const char *reason, const char *note)
{
    struct json *o = json_new_object(a), *meta, *source;
    json_set_str(a, o, "kind", STR("Event"));
    json_set_str(a, o, "apiVersion", STR("v1"));
    meta = json_obj(a, o, "metadata");
    json_set_str(a, meta, "name", str_of(k->name));
    json_set_str(a, meta, "namespace", space_of(about));
    add_involved(a, o, about);
    json_set_str(a, o, "reason", str_of(reason));
    json_set_str(a, o, "message", str_of(note));
    json_set_str(a, o, "type", str_of(type));
    set_time(a, o, "firstTimestamp", k->first_s);
    set_time(a, o, "lastTimestamp", clock_wall_ms() / 1000);
    json_set_int(a, o, "count", k->count);
    source = json_obj(a, o, "source");
    json_set_str(a, source, "component", str_of(r->opts.component));
    json_set_str(a, o, "reportingComponent", str_of(r->opts.component));
    if (r->opts.host) {
        json_set_str(a, source, "host", str_of(r->opts.host));
        json_set_str(a, o, "reportingInstance", str_of(r->opts.host));
    }
    return o;
}

static void enqueue(struct event_recorder *r, char *target, const struct json *body, bool is_patch)
{
    struct buf text = BUF_INIT(64 << 10);
    struct waiting_event *w;
    size_t n;
    if (r->n_queue >= EVENT_RECORDER_QUEUE || json_write(&text, body) < 0) {
        free(target);
        buf_fini(&text);
        forget(r); /* it will not be there: a repetition is a new one */
        return;
    }
    w = xnew(struct waiting_event);
    w->target = target;
    w->body = buf_take(&text, &n);
    w->is_patch = is_patch;
    list_push_back(&r->queue, &w->node);
    r->n_queue++;
    send_next(r);
}

static char *target_of(const struct event_about *about, const char *name)
{
    return xasprintf("/api/v1/namespaces/" STR_FMT "/events%s%s", STR_ARG(space_of(about)),
                     name ? "/" : "", name ? name : "");
}

static void count_again(struct event_recorder *r, struct arena *a, const struct event_about *about,
                        struct known_event *k)
{
    struct json *o = json_new_object(a);
    k->count++;
    k->last_ms = loop_now_ms(r->opts.loop);
    json_set_int(a, o, "count", k->count);
    set_time(a, o, "lastTimestamp", clock_wall_ms() / 1000);
    enqueue(r, target_of(about, k->name), o, true);
}

void event_recorder_write(struct event_recorder *r, const struct event_about *about,
                          bool is_warning, const char *reason, const char *note)
{
    struct arena a = { 0 };
    char *cut = arena_strndup(&a, note, strnlen(note, EVENT_RECORDER_NOTE_MAX_BYTES));
    char *key = arena_printf(&a, STR_FMT " " STR_FMT " %s %s", STR_ARG(about->uid),
                             STR_ARG(about->field_path), reason, cut);
    struct known_event *k = map_get(&r->known, str_of(key));
    if (k && loop_now_ms(r->opts.loop) - k->last_ms < AGAIN_MS) {
        count_again(r, &a, about, k);
        arena_fini(&a);
        return;
    }
    if (r->known.n >= EVENT_RECORDER_KNOWN)
        forget(r);
    k = xnew(struct known_event);
    *k = (struct known_event){ .first_s = clock_wall_ms() / 1000,
                               .last_ms = loop_now_ms(r->opts.loop),
                               .count = 1,
                               .name = xasprintf(STR_FMT ".%" PRIx64, STR_ARG(about->name),
                                                 (uint64_t)clock_wall_us() * 1000 + r->n_made++) };
    free_known(map_put(&r->known, str_of(key), k));
    enqueue(r, target_of(about, NULL),
            make_event(r, &a, about, k, is_warning ? "Warning" : "Normal", reason, cut), false);
    arena_fini(&a);
}
