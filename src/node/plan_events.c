/* SPDX-License-Identifier: Apache-2.0 */
#include "node/plan_events.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "client/ask.h"
#include "codec/json.h"

#include <stdlib.h>

struct plan_events {
    struct transport *transport;
    const struct kube_identity *identity;
    struct list calls;
    size_t n;
};

struct plan_event_call {
    struct list node;
    struct plan_events *of;
    struct client_ask *ask;
};

static void drop(struct plan_event_call *c)
{
    list_remove(&c->node);
    c->of->n--;
    free(c);
}

static void on_written(void *arg, int status, struct str body, const struct json *json,
                       const struct err *err)
{
    char why[LOG_QUOTE_MAX];
    (void)body;
    (void)json;
    drop(arg);
    if (status != 201)
        log_debug("an Event of a pod is not written", "status=%d reason=\"%s\"", status,
                  log_quote(why, str_of(err_text(err))));
}

static struct json *event_json(struct arena *a, const struct plan_event_about *about,
                               const char *type, const char *reason, struct str note)
{
    char now[RFC3339_MAX];
    struct json *v = json_new_object(a), *meta = json_obj(a, v, "metadata");
    rfc3339_format(clock_wall_ms() / 1000, now);
    json_set_str(a, v, "apiVersion", STR("v1"));
    json_set_str(a, v, "kind", STR("Event"));
    json_set_str(a, meta, "namespace", about->namespace);
    json_set_str(a, meta, "generateName",
                 str_of(arena_printf(a, STR_FMT ".", STR_ARG(about->pod))));
    struct json *of = json_obj(a, v, "involvedObject");
    json_set_str(a, of, "apiVersion", STR("v1"));
    json_set_str(a, of, "kind", STR("Pod"));
    json_set_str(a, of, "namespace", about->namespace);
    json_set_str(a, of, "name", about->pod);
    json_set_str(a, of, "uid", about->uid);
    json_set_str(a, v, "type", str_of(type));
    json_set_str(a, v, "reason", str_of(reason));
    json_set_str(a, v, "message", str_slice(note, 0, PLAN_EVENTS_NOTE_BYTES));
    json_set_str(a, v, "firstTimestamp", str_copy_arena(a, str_of(now)));
    json_set_str(a, v, "lastTimestamp", str_copy_arena(a, str_of(now)));
    json_set_int(a, v, "count", 1);
    json_set_str(a, json_obj(a, v, "source"), "component", STR("dormouse-orchestrator"));
    return v;
}

void plan_events_write(struct plan_events *e, const struct plan_event_about *about,
                       const char *type, const char *reason, struct str note)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(16 << 10);
    if (e->n >= PLAN_EVENTS_MAX)
        return;
    scoped(free_scoped) char *target =
        xasprintf("/api/v1/namespaces/" STR_FMT "/events", STR_ARG(about->namespace));
    (void)json_write(&text, event_json(&a, about, type, reason, note));
    const struct ask_request rq = { .method = "POST",
                                    .target = str_of(target),
                                    .content_type = "application/json",
                                    .body = buf_str(&text) };
    struct plan_event_call *c = xnew(struct plan_event_call);
    c->of = e;
    list_push_back(&e->calls, &c->node);
    e->n++;
    if (ask_start(e->transport, e->identity, &rq, on_written, c, &c->ask, NULL) < 0)
        drop(c);
    arena_fini(&a);
}

struct plan_events *plan_events_new(struct transport *transport,
                                    const struct kube_identity *identity)
{
    struct plan_events *e = xnew(struct plan_events);
    e->transport = transport;
    e->identity = identity;
    list_init(&e->calls);
    return e;
}

void plan_events_free(struct plan_events *e)
{
    if (!e)
        return;
    list_each_safe (node, &e->calls) {
        struct plan_event_call *c = list_entry(node, struct plan_event_call, node);
        ask_cancel(c->ask);
        drop(c);
    }
    free(e);
}
