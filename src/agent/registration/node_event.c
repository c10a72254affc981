/* SPDX-License-Identifier: Apache-2.0 */
/* Events about a Node; see node_event.h. */
#include "agent/registration/node_event.h"

#include "base/clock.h"

#define EVENTS "/api/v1/namespaces/default/events"

struct node_event {
    struct list node;
    char *body;
};

static void send_next(struct node_events *e);

static void event_free(struct node_event *v)
{
    free(v->body);
    free(v);
}

static void on_recorded(void *arg, int status, struct str body, const struct json *json,
                        const struct err *err)
{
    struct node_events *e = arg;
    e->call = NULL;
    send_next(e);
}

static void send_next(struct node_events *e)
{
    while (!e->call && !list_is_empty(&e->waiting)) {
        struct node_event *v = list_entry(list_pop_front(&e->waiting), struct node_event, node);
        const struct ask_request rq = { .method = "POST",
                                        .target = STR(EVENTS),
                                        .content_type = "application/json",
                                        .body = str_of(v->body) };
        e->n_waiting--;
        (void)ask_start(e->transport, e->identity, &rq, on_recorded, e, &e->call, NULL);
        event_free(v);
    }
}

void node_events_init(struct node_events *e, struct transport *transport,
                      const struct kube_identity *identity, const char *node_name)
{
    *e = (struct node_events){ .transport = transport,
                               .identity = identity,
                               .node_name = node_name };
    list_init(&e->waiting);
}

void node_events_fini(struct node_events *e)
{
    ask_cancel(take_ptr(&e->call));
    while (!list_is_empty(&e->waiting))
        event_free(list_entry(list_pop_front(&e->waiting), struct node_event, node));
    e->n_waiting = 0;
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
    struct node_event *v = xnew(struct node_event);
    v->body = event_body(e, is_warning, reason, message);
    list_push_back(&e->waiting, &v->node);
    e->n_waiting++;
    send_next(e);
}
