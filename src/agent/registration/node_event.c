/* SPDX-License-Identifier: Apache-2.0 */
/* Events about a Node; see node_event.h. */
#include "agent/registration/node_event.h"

#include "base/clock.h"

#define EVENTS "/api/v1/namespaces/default/events"

static void send_next(struct node_events *e);

static void on_recorded(void *arg, int status, struct str body, const struct json *json,
                        const struct err *err)
{
    struct node_events *e = arg;
    e->call = NULL;
    send_next(e);
}

/* The oldest body that waits; given. NULL: none does. */
static char *take_body(struct node_events *e)
{
    if (e->n_waiting == 0)
        return NULL;
    char *body = take_ptr(&e->waiting[e->first]);
    e->first = (e->first + 1) % NODE_EVENT_WAITING_MAX;
    e->n_waiting--;
    return body;
}

static void send_next(struct node_events *e)
{
    for (char *body; !e->call && (body = take_body(e));) {
        const struct ask_request rq = { .method = "POST",
                                        .target = STR(EVENTS),
                                        .content_type = "application/json",
                                        .body = str_of(body) };
        (void)ask_start(e->transport, e->identity, &rq, on_recorded, e, &e->call, NULL);
        free(body);
    }
}

void node_events_init(struct node_events *e, struct transport *transport,
                      const struct kube_identity *identity, const char *node_name)
{
    *e = (struct node_events){ .transport = transport,
                               .identity = identity,
                               .node_name = node_name };
}

void node_events_fini(struct node_events *e)
{
    ask_cancel(take_ptr(&e->call));
    for (char *body; (body = take_body(e));)
        free(body);
}

/* As kubelet, the uid of the Node in an Event is its name. */
static char *event_body(struct node_events *e, bool is_warning, const char *reason,
                        const char *message)
{
    struct arena a = { 0 };
    char now[RFC3339_MAX];
    size_t n;
    struct buf text = BUF_INIT(64 << 10);
    struct json *ev = json_new_object(&a), *meta = json_obj(&a, ev, "metadata"),
                *about = json_obj(&a, ev, "involvedObject"), *from = json_obj(&a, ev, "source");
    rfc3339_format(clock_wall_ms() / 1000, now);
    json_set_str(
        &a, meta, "name",
        str_of(arena_printf(&a, "%s.%llx%02llx", e->node_name, (unsigned long long)clock_wall_us(),
                            (unsigned long long)(e->n_made++ & 0xff))));
    json_set_str(&a, meta, "namespace", STR("default"));
    json_set_str(&a, about, "kind", STR("Node"));
    json_set_str(&a, about, "name", str_of(e->node_name));
    json_set_str(&a, about, "uid", str_of(e->node_name));
    json_set_str(&a, ev, "reason", str_of(reason));
    json_set_str(&a, ev, "message", str_of(message));
    json_set_str(&a, ev, "type", is_warning ? STR("Warning") : STR("Normal"));
    json_set_str(&a, from, "component", STR("kubelet"));
    json_set_str(&a, from, "host", str_of(e->node_name));
    json_set_str(&a, ev, "firstTimestamp", str_of(now));
    json_set_str(&a, ev, "lastTimestamp", str_of(now));
    json_set_int(&a, ev, "count", 1);
    json_set_str(&a, ev, "reportingComponent", STR("kubelet"));
    json_set_str(&a, ev, "reportingInstance", str_of(e->node_name));
    (void)json_write(&text, ev);
    arena_fini(&a);
    return buf_take(&text, &n);
}

void node_event_record(struct node_events *e, bool is_warning, const char *reason,
                       const char *message)
{
    if (e->n_waiting == NODE_EVENT_WAITING_MAX)
        return;
    e->waiting[(e->first + e->n_waiting++) % NODE_EVENT_WAITING_MAX] =
        event_body(e, is_warning, reason, message);
    send_next(e);
}
