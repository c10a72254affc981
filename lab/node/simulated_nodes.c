/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated nodes; see simulated_nodes.h.
 *
 * Each pending write is a struct simulated_nodes_work in one of two queues, with a limit on
 * concurrent requests. Leases and nodes have priority over pods, so that a burst of pods does not
 * make the nodes look dead. One timer runs once a second and renews the Leases that are due.
 */
#include "lab/node/simulated_nodes.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "client/reflector.h"

#include <inttypes.h>

enum { BEAT_MS = 1000, REASON_MAX_BYTES = 4096 };

enum simulated_nodes_work_kind {
    CREATE_NODE,
    REPORT_NODE,
    UNTAINT_NODE,
    CREATE_LEASE,
    RENEW_LEASE,
    CREATE_NAMESPACE,
    RUN_POD,
    END_POD,
    REMOVE_NODE,
    REMOVE_LEASE,
};

struct pod;
struct simulated_nodes_work {
    struct list link; /* in a queue; zeroed: on none */
    struct simulated_nodes *s;
    enum simulated_nodes_work_kind kind;
    uint32_t node;
    struct pod *pod;
    unsigned taint;   /* UNTAINT_NODE: index of the taint */
    bool was_retried; /* so an earlier attempt may have taken effect */
    int status;
    struct buf answer; /* the beginning of the response */
};

/* A pod with a pending write. */
struct pod {
    struct simulated_nodes_work work;
    struct simulated_pod *facts;
    struct list link; /* delayed */
    uint64_t due_ms;
    bool is_asked;   /* a request is running */
    bool ends_later; /* and the pod is to end after it */
};

struct node {
    char *name, *uid; /* uid NULL: the Node does not exist */
    uint32_t next_ip;
    bool has_lease, lease_is_asked, report_is_asked, untaint_is_asked, was_there;
};

struct simulated_nodes {
    struct simulated_nodes_opts opts;
    struct watch_hub *hub;
    struct reflector *node_watch, *pod_watch;
    struct node *nodes;
    struct map by_name; /* struct node */
    struct map pods;    /* by uid: struct pod */
    struct list urgent, normal, retry;
    struct list starting, ending; /* struct pod.link, by due_ms */
    struct timer beat, delay, again, deadline;
    size_t n_asked;
    size_t lease_at, report_at;       /* index of the next node */
    uint64_t lease_owed, report_owed; /* in nodes times milliseconds */
    uint64_t beat_ms;
    bool is_ready, is_stopping, is_failed, gave_up, namespace_is_asked;
    size_t n_there, n_leases;
    struct simulated_counts counts;
    struct defer end;
    void (*done)(void *arg);
    void *done_arg;
};

static void pump(struct simulated_nodes *s);
static void check_stopped(struct simulated_nodes *s);

static void now_text(char out[RFC3339_MAX])
{
    rfc3339_format(clock_wall_ms() / 1000, out);
}

static void now_text_us(char out[RFC3339_MAX])
{
    rfc3339_format_us(clock_wall_us(), out);
}

static struct node *node_named(const struct simulated_nodes *s, struct str name)
{
    return map_get(&s->by_name, name);
}

static uint32_t index_of(const struct simulated_nodes *s, const struct node *n)
{
    return (uint32_t)(n - s->nodes);
}

/* ---- requests ---- */

struct simulated_request {
    const char *method, *type;
    struct buf target, body;
};

static void lease_target(const struct node *n, struct buf *to)
{
    (void)buf_printf(to, "/apis/coordination.k8s.io/v1/namespaces/" SIMULATED_LEASES "/leases%s%s",
                     n ? "/" : "", n ? n->name : "");
}

static void pod_target(const struct simulated_pod *p, const char *below, struct buf *to)
{
    (void)buf_printf(to, "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT "%s", STR_ARG(p->namespace),
                     STR_ARG(p->name), below);
}

static void make_request(struct simulated_nodes *s, const struct simulated_nodes_work *w,
                         struct simulated_request *rq)
{
    static const char strategic[] = "application/strategic-merge-patch+json",
                      merge[] = "application/merge-patch+json", json[] = "application/json";
    struct node *n = &s->nodes[w->node];
    const struct simulated_pod *pod = w->pod ? w->pod->facts : NULL;
    char now[RFC3339_MAX];
    now_text(now);
    rq->type = json;
    switch (w->kind) {
    case CREATE_NODE:
        rq->method = "POST";
        (void)buf_add_cstr(&rq->target, "/api/v1/nodes");
        simulated_node(s->opts.spec, w->node, now, &rq->body);
        break;
    case REPORT_NODE:
        rq->method = "PATCH";
        rq->type = strategic;
        (void)buf_printf(&rq->target, "/api/v1/nodes/%s/status", n->name);
        simulated_node_ready(now, &rq->body);
        break;
    case UNTAINT_NODE:
        rq->method = "PATCH";
        rq->type = "application/json-patch+json";
        (void)buf_printf(&rq->target, "/api/v1/nodes/%s", n->name);
        simulated_node_untaint(w->taint, &rq->body);
        break;
    case CREATE_LEASE:
        rq->method = "POST";
        now_text_us(now);
        lease_target(NULL, &rq->target);
        simulated_lease(str_of(n->name), str_of(n->uid ? n->uid : ""), now, &rq->body);
        break;
    case RENEW_LEASE:
        rq->method = "PATCH";
        rq->type = merge;
        now_text_us(now);
        lease_target(n, &rq->target);
        simulated_lease_renewal(str_of(n->name), now, &rq->body);
        break;
    case CREATE_NAMESPACE:
        rq->method = "POST";
        (void)buf_add_cstr(&rq->target, "/api/v1/namespaces");
        (void)buf_add_cstr(&rq->body, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                                      "\"metadata\":{\"name\":\"" SIMULATED_LEASES "\"}}");
        break;
    case RUN_POD:
        rq->method = "PATCH";
        rq->type = strategic;
        pod_target(pod, "/status", &rq->target);
        simulated_pod_running(pod, w->node, n->next_ip++, now, &rq->body);
        break;
    case END_POD:
        rq->method = "DELETE";
        pod_target(pod, "", &rq->target);
        (void)buf_printf(&rq->body,
                         "{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"" STR_FMT "\"}}",
                         STR_ARG(pod->uid));
        break;
    case REMOVE_NODE:
        rq->method = "DELETE";
        (void)buf_printf(&rq->target, "/api/v1/nodes/%s", n->name);
        break;
    case REMOVE_LEASE:
        rq->method = "DELETE";
        lease_target(n, &rq->target);
        break;
    }
}

/* ---- work ---- */

static bool is_urgent(enum simulated_nodes_work_kind kind)
{
    return kind != RUN_POD && kind != END_POD;
}

static void queue_work(struct simulated_nodes *s, struct simulated_nodes_work *w)
{
    list_push_back(is_urgent(w->kind) ? &s->urgent : &s->normal, &w->link);
    pump(s);
}

static struct simulated_nodes_work *make_work(struct simulated_nodes *s,
                                              enum simulated_nodes_work_kind kind,
                                              const struct node *n)
{
    struct simulated_nodes_work *w = xnew(struct simulated_nodes_work);
    w->s = s;
    w->kind = kind;
    w->node = n ? index_of(s, n) : 0;
    return w;
}

static void ask(struct simulated_nodes *s, enum simulated_nodes_work_kind kind,
                const struct node *n)
{
    queue_work(s, make_work(s, kind, n));
}

static void free_work(struct simulated_nodes_work *w)
{
    buf_fini(&w->answer);
    if (!w->pod)
        free(w);
}

static void forget_pod(struct simulated_nodes *s, struct pod *p)
{
    (void)map_del(&s->pods, p->facts->uid);
    list_remove(&p->link);
    list_remove(&p->work.link);
    buf_fini(&p->work.answer);
    free(p->facts);
    free(p);
}

static void fail(struct simulated_nodes *s, const struct err *err)
{
    if (s->is_ready || s->is_failed || s->is_stopping)
        return;
    s->is_failed = true;
    s->opts.on_ready(s->opts.arg, err->code, err);
}

static void check_ready(struct simulated_nodes *s)
{
    bool leases = s->opts.lease_ms == 0 || s->n_leases >= s->opts.spec->n;
    if (s->is_ready || s->is_failed || s->is_stopping || s->n_there < s->opts.spec->n || !leases)
        return;
    s->is_ready = true;
    s->opts.on_ready(s->opts.arg, 0, NULL);
}

static void answer_message(const struct simulated_nodes_work *w, struct err *err)
{
    struct arena a = { 0 };
    struct json *body = NULL;
    (void)json_parse(&a, buf_str(&w->answer), NULL, &body, NULL);
    struct str message = json_get_str(body, "message");
    if (message.n)
        (void)err_set(err, E_INVALID, STR_FMT, STR_ARG(message));
    else
        (void)err_set(err, E_INVALID, "the API answered %d", w->status);
    arena_fini(&a);
}

/* The API is unavailable or overloaded: send the request again. */
static bool is_to_retry(int r, int status)
{
    return r < 0 || status == 429 || status >= 500;
}

static void on_again(struct timer *t)
{
    struct simulated_nodes *s = container_of(t, struct simulated_nodes, again);
    struct list list;
    list_move_all(&s->retry, &list);
    for (struct list *link; (link = list_pop_front(&list));) {
        struct simulated_nodes_work *w = list_entry(link, struct simulated_nodes_work, link);
        list_push_back(is_urgent(w->kind) ? &s->urgent : &s->normal, link);
    }
    pump(s);
}

static void retry(struct simulated_nodes *s, struct simulated_nodes_work *w)
{
    s->counts.retries++;
    w->was_retried = true;
    buf_fini(&w->answer);
    w->answer = (struct buf){ 0 };
    list_push_back(&s->retry, &w->link);
    if (!timer_is_armed(&s->again))
        timer_start(s->opts.loop, &s->again, SIMULATED_RETRY_MS, on_again);
}

static void node_was_asked(struct simulated_nodes *s, struct simulated_nodes_work *w)
{
    struct err err = { 0 };
    bool is_ours = s->nodes[w->node].uid || w->was_retried;
    if (w->status < 300 || (w->status == 409 && is_ours))
        return; /* the watch will report it */
    answer_message(w, &err);
    (void)err_ctx(&err, err.code, "node '%s'", s->nodes[w->node].name);
    fail(s, &err);
}

static void lease_is_there(struct simulated_nodes *s, struct node *n)
{
    if (!n->has_lease) {
        n->has_lease = true;
        s->n_leases++;
        check_ready(s);
    }
}

static void lease_was_asked(struct simulated_nodes *s, struct simulated_nodes_work *w)
{
    struct node *n = &s->nodes[w->node];
    n->lease_is_asked = false;
    if (w->kind == CREATE_LEASE && w->status == 404) {
        if (!s->namespace_is_asked)
            ask(s, CREATE_NAMESPACE, NULL);
        s->namespace_is_asked = true;
        n->lease_is_asked = true;
        retry(s, make_work(s, CREATE_LEASE, n));
    } else if (w->kind == RENEW_LEASE && w->status == 404 && n->uid) {
        n->lease_is_asked = true;
        ask(s, CREATE_LEASE, n);
    } else if (w->status < 300 || w->status == 409) {
        s->counts.renewals++;
        lease_is_there(s, n);
    } else {
        s->counts.refused++;
        struct err err = { 0 };
        answer_message(w, &err);
        (void)err_ctx(&err, err.code, "lease of node '%s'", n->name);
        fail(s, &err);
    }
}

static void begin_end(struct simulated_nodes *s, struct pod *p);

/* 404 and 409: the pod was deleted, or another pod has its name. */
static void pod_was_asked(struct simulated_nodes *s, struct simulated_nodes_work *w)
{
    struct pod *p = w->pod;
    p->is_asked = false;
    bool is_done = w->status < 300;
    if (w->kind == RUN_POD)
        s->counts.started += is_done;
    else
        s->counts.ended += is_done;
    if (!is_done && w->status != 404 && w->status != 409) {
        struct err err = { 0 };
        answer_message(w, &err);
        s->counts.refused++;
        log_warn("pod's status was refused", "pod=" STR_FMT "/" STR_FMT " reason=\"%s\"",
                 STR_ARG(p->facts->namespace), STR_ARG(p->facts->name), err_text(&err));
    }
    if (p->ends_later && w->kind == RUN_POD)
        begin_end(s, p);
    else
        forget_pod(s, p);
}

static void take_answer(struct simulated_nodes *s, struct simulated_nodes_work *w)
{
    switch (w->kind) {
    case CREATE_NODE:
        node_was_asked(s, w);
        break;
    case REPORT_NODE:
        s->nodes[w->node].report_is_asked = false;
        break;
    case UNTAINT_NODE: /* if another client was faster, the watch reports it */
        s->nodes[w->node].untaint_is_asked = false;
        break;
    case CREATE_LEASE:
    case RENEW_LEASE:
        lease_was_asked(s, w);
        break;
    case CREATE_NAMESPACE:
        s->namespace_is_asked = false;
        break;
    case RUN_POD:
    case END_POD:
        pod_was_asked(s, w);
        return; /* it belonged to the pod, which may be freed */
    case REMOVE_NODE:
        s->n_there -= w->status < 300 || w->status == 404;
        break;
    case REMOVE_LEASE:
        break;
    }
    free_work(w);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct simulated_nodes_work *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct simulated_nodes_work *w = arg;
    if (w->status >= 300 && w->answer.n + chunk.n <= REASON_MAX_BYTES)
        (void)buf_add_str(&w->answer, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct simulated_nodes_work *w = arg;
    struct simulated_nodes *s = w->s;
    s->n_asked--;
    bool is_last = w->kind == REMOVE_NODE || w->kind == REMOVE_LEASE;
    if (s->is_stopping && (!is_last || r == -ECANCELED || s->gave_up)) {
        free_work(w);
    } else if (is_to_retry(r, w->status)) {
        retry(s, w);
    } else {
        take_answer(s, w);
    }
    pump(s);
    check_stopped(s);
}

static void start(struct simulated_nodes *s, struct simulated_nodes_work *w)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct simulated_request rq = { .target = BUF_INIT(8192), .body = BUF_INIT(BUF_MAX_DEFAULT) };
    struct headers headers = { 0 };
    struct exchange *call;
    struct err err = { 0 };
    make_request(s, w, &rq);
    if (rq.body.n)
        (void)headers_add(&headers, STR("content-type"), str_of(rq.type));
    const struct kube_request request = { .method = str_of(rq.method),
                                          .target = buf_str(&rq.target),
                                          .headers = &headers,
                                          .body = buf_str(&rq.body) };
    w->status = 0;
    w->answer = BUF_INIT(REASON_MAX_BYTES);
    if (w->pod)
        w->pod->is_asked = true;
    if (transport_start(s->opts.transport, &request, &events, w, &call, &err) < 0)
        retry(s, w);
    else
        s->n_asked++;
    headers_fini(&headers);
    buf_fini(&rq.target);
    buf_fini(&rq.body);
}

static void pump(struct simulated_nodes *s)
{
    while (s->n_asked < s->opts.concurrency) {
        struct list *link = list_pop_front(&s->urgent);
        if (!link)
            link = list_pop_front(&s->normal);
        if (!link)
            break;
        start(s, list_entry(link, struct simulated_nodes_work, link));
    }
}

/* ---- nodes ---- */

static bool is_ready(const struct json *node)
{
    json_each (c, json_path(node, "status", "conditions", NULL))
        if (str_is(json_get_str(c, "type"), "Ready"))
            return str_is(json_get_str(c, "status"), "True");
    return false;
}

static void report(struct simulated_nodes *s, struct node *n)
{
    if (n->report_is_asked || !n->uid)
        return;
    n->report_is_asked = true;
    ask(s, REPORT_NODE, n);
}

/* Remove the taint, for clusters without a controller that does so. */
static void untaint(struct simulated_nodes *s, struct node *n, const struct json *object)
{
    unsigned at = 0;
    json_each (taint, json_path(object, "spec", "taints", NULL)) {
        if (str_is(json_get_str(taint, "key"), SIMULATED_NOT_READY) && !n->untaint_is_asked) {
            struct simulated_nodes_work *w = make_work(s, UNTAINT_NODE, n);
            w->taint = at;
            n->untaint_is_asked = true;
            queue_work(s, w);
        }
        at++;
    }
}

static void on_node(void *arg, const struct json *object)
{
    struct simulated_nodes *s = arg;
    struct node *n = node_named(s, json_str(json_path(object, "metadata", "name", NULL)));
    struct str uid = json_str(json_path(object, "metadata", "uid", NULL));
    if (!n || s->is_stopping)
        return;
    if (!n->uid || !str_is(uid, n->uid)) {
        s->n_there += !n->uid;
        free(n->uid);
        n->uid = str_dup(uid);
        n->was_there = true;
        if (s->opts.lease_ms && !n->lease_is_asked) {
            n->lease_is_asked = true;
            ask(s, CREATE_LEASE, n);
        }
        check_ready(s);
    }
    if (!is_ready(object))
        report(s, n);
    else if (s->opts.untaints)
        untaint(s, n, object);
}

static void on_node_deleted(void *arg, struct str namespace, struct str name)
{
    struct simulated_nodes *s = arg;
    struct node *n = node_named(s, name);
    if (!n || !n->uid)
        return;
    free(n->uid);
    n->uid = NULL;
    s->n_there--;
    if (!s->is_stopping)
        log_info("a simulated node was deleted", "node=%s", n->name);
}

static void on_nodes_synced(void *arg)
{
    struct simulated_nodes *s = arg;
    if (s->is_stopping)
        return;
    for (size_t i = 0; i < s->opts.spec->n; i++)
        if (!s->nodes[i].was_there)
            ask(s, CREATE_NODE, &s->nodes[i]);
    check_ready(s);
}

/* How many of n nodes are due after `ms` if each is due once every every_ms. */
static size_t share(uint64_t *owed, size_t n, uint64_t ms, uint64_t every_ms)
{
    *owed += n * ms;
    size_t due = (size_t)(*owed / every_ms);
    *owed %= every_ms;
    return MIN(due, n);
}

static void renew(struct simulated_nodes *s, struct node *n)
{
    if (!n->uid || !n->has_lease || n->lease_is_asked)
        return;
    n->lease_is_asked = true;
    ask(s, RENEW_LEASE, n);
}

static void on_beat(struct timer *t)
{
    struct simulated_nodes *s = container_of(t, struct simulated_nodes, beat);
    uint64_t now = loop_now_ms(s->opts.loop), ms = now - s->beat_ms;
    size_t n = s->opts.spec->n;
    s->beat_ms = now;
    for (size_t due = s->opts.lease_ms ? share(&s->lease_owed, n, ms, s->opts.lease_ms) : 0;
         due > 0; due--)
        renew(s, &s->nodes[s->lease_at++ % n]);
    for (size_t due = share(&s->report_owed, n, ms, SIMULATED_HEARTBEAT_MS); due > 0; due--)
        report(s, &s->nodes[s->report_at++ % n]);
    timer_start(s->opts.loop, t, BEAT_MS, on_beat);
}

/* ---- pods ---- */

static void arm_delay(struct simulated_nodes *s);

static void queue_due(struct simulated_nodes *s, struct list *list, uint64_t now)
{
    while (!list_is_empty(list)) {
        struct pod *p = list_first(list, struct pod, link);
        if (p->due_ms > now)
            break;
        list_remove(&p->link);
        queue_work(s, &p->work);
    }
}

static void on_delay(struct timer *t)
{
    struct simulated_nodes *s = container_of(t, struct simulated_nodes, delay);
    uint64_t now = loop_now_ms(s->opts.loop);
    queue_due(s, &s->starting, now);
    queue_due(s, &s->ending, now);
    arm_delay(s);
}

static void arm_delay(struct simulated_nodes *s)
{
    uint64_t due = UINT64_MAX, now = loop_now_ms(s->opts.loop);
    if (!list_is_empty(&s->starting))
        due = list_first(&s->starting, struct pod, link)->due_ms;
    if (!list_is_empty(&s->ending))
        due = MIN(due, list_first(&s->ending, struct pod, link)->due_ms);
    if (due != UINT64_MAX)
        timer_start(s->opts.loop, &s->delay, due > now ? due - now : 0, on_delay);
}

static void delay(struct simulated_nodes *s, struct pod *p, enum simulated_nodes_work_kind kind,
                  uint64_t ms)
{
    p->work.kind = kind;
    if (ms == 0) {
        queue_work(s, &p->work);
        return;
    }
    p->due_ms = loop_now_ms(s->opts.loop) + ms;
    list_push_back(kind == RUN_POD ? &s->starting : &s->ending, &p->link);
    if (!timer_is_armed(&s->delay) || p->due_ms < s->delay.due_ms)
        arm_delay(s);
}

static void begin_end(struct simulated_nodes *s, struct pod *p)
{
    list_remove(&p->link);
    list_remove(&p->work.link);
    p->ends_later = true;
    delay(s, p, END_POD, s->opts.stop_ms);
}

static struct pod *add_pod(struct simulated_nodes *s, const struct node *n,
                           const struct json *object)
{
    struct pod *p = xnew(struct pod);
    p->facts = simulated_pod_new(object);
    p->work.s = s;
    p->work.pod = p;
    p->work.node = index_of(s, n);
    (void)map_put(&s->pods, p->facts->uid, p);
    return p;
}

static void on_pod(void *arg, const struct json *object)
{
    struct simulated_nodes *s = arg;
    const struct json *meta = json_getc(object, "metadata");
    struct node *n = node_named(s, json_str(json_path(object, "spec", "nodeName", NULL)));
    if (!n || s->is_stopping)
        return;
    struct str phase = json_str(json_path(object, "status", "phase", NULL));
    struct pod *p = map_get(&s->pods, json_get_str(meta, "uid"));
    if (json_getc(meta, "deletionTimestamp")) {
        if (p && (p->ends_later || p->is_asked))
            p->ends_later = true;
        else
            begin_end(s, p ? p : add_pod(s, n, object));
    } else if (!p && (phase.n == 0 || str_is(phase, "Pending"))) {
        delay(s, add_pod(s, n, object), RUN_POD, s->opts.start_ms);
    }
}

/* If a write is pending, its request gets a 404, and the pod is freed then. */
static void on_pod_deleted(void *arg, struct str namespace, struct str name)
{
}

/* ---- start and stop ---- */

static int watch(struct simulated_nodes *s, struct err *err)
{
    static const struct reflector_ops node_ops = { .on_object = on_node,
                                                   .on_deleted = on_node_deleted,
                                                   .on_synced = on_nodes_synced };
    static const struct reflector_ops pod_ops = { .on_object = on_pod,
                                                  .on_deleted = on_pod_deleted };
    struct watch_hub_opts hub = { .transport = s->opts.transport };
    int r = watch_hub_new(s->opts.loop, &hub, &s->hub, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *ours = xasprintf(SIMULATED_LABEL "=%s", s->opts.spec->prefix);
    struct reflector_opts opts = { .loop = s->opts.loop,
                                   .transport = s->opts.transport,
                                   .hub = s->hub,
                                   .key = { .group_version = STR("v1"),
                                            .plural = STR("nodes"),
                                            .label_selector = str_of(ours) },
                                   .streams = true,
                                   .ops = &node_ops,
                                   .arg = s };
    r = reflector_start(&opts, &s->node_watch, err);
    if (r < 0)
        return r;
    opts.key = (struct watch_key){ .group_version = STR("v1"),
                                   .plural = STR("pods"),
                                   .field_selector = STR("spec.nodeName!=") };
    opts.ops = &pod_ops;
    return reflector_start(&opts, &s->pod_watch, err);
}

static void release(struct simulated_nodes *s)
{
    map_each (e, &s->pods) {
        struct pod *p = e->value;
        buf_fini(&p->work.answer);
        free(p->facts);
        free(p);
    }
    map_fini(&s->pods);
    map_fini(&s->by_name);
    for (size_t i = 0; i < s->opts.spec->n; i++) {
        free(s->nodes[i].name);
        free(s->nodes[i].uid);
    }
    free(s->nodes);
    free(s);
}

static int name_nodes(struct simulated_nodes *s, struct err *err)
{
    for (size_t i = 0; i < s->opts.spec->n; i++) {
        scoped(buf_fini_scoped) struct buf name = BUF_INIT(512);
        simulated_node_name(s->opts.spec, i, &name);
        s->nodes[i].name = str_dup(buf_str(&name));
        if (map_put(&s->by_name, buf_str(&name), &s->nodes[i]))
            return err_set(err, E_INVALID, "two Nodes are called '%s'", s->nodes[i].name);
    }
    return 0;
}

int simulated_nodes_start(const struct simulated_nodes_opts *opts, struct simulated_nodes **ret,
                          struct err *err)
{
    struct simulated_nodes *s = xnew(struct simulated_nodes);
    s->opts = *opts;
    s->nodes = xnew_n(struct node, opts->spec->n);
    list_init(&s->urgent);
    list_init(&s->normal);
    list_init(&s->retry);
    list_init(&s->starting);
    list_init(&s->ending);
    int r = name_nodes(s, err);
    if (r >= 0)
        r = watch(s, err);
    if (r < 0) {
        if (s->node_watch)
            reflector_close(s->node_watch);
        if (s->hub)
            watch_hub_close(s->hub, NULL, NULL);
        release(s);
        return r;
    }
    s->beat_ms = loop_now_ms(opts->loop);
    timer_start(opts->loop, &s->beat, BEAT_MS, on_beat);
    *ret = s;
    return 0;
}

static void drop_list(struct list *list)
{
    for (struct list *link; (link = list_pop_front(list));)
        free_work(list_entry(link, struct simulated_nodes_work, link));
}

static void on_hub_closed(void *arg)
{
    struct simulated_nodes *s = arg;
    void (*done)(void *) = s->done;
    void *done_arg = s->done_arg;
    release(s);
    done(done_arg);
}

static void finish(struct defer *d)
{
    struct simulated_nodes *s = container_of(d, struct simulated_nodes, end);
    timer_stop(s->opts.loop, &s->again);
    timer_stop(s->opts.loop, &s->deadline);
    watch_hub_close(s->hub, on_hub_closed, s);
}

static void check_stopped(struct simulated_nodes *s)
{
    if (s->is_stopping && s->n_asked == 0 && list_is_empty(&s->urgent) &&
        list_is_empty(&s->normal) && list_is_empty(&s->retry))
        defer_start(s->opts.loop, &s->end, finish);
}

/* Running requests end on their own. */
static void on_deadline(struct timer *t)
{
    struct simulated_nodes *s = container_of(t, struct simulated_nodes, deadline);
    log_warn("not all simulated nodes could be removed", "left=%zu", s->n_there);
    s->gave_up = true;
    drop_list(&s->urgent);
    drop_list(&s->retry);
    check_stopped(s);
}

void simulated_nodes_stop(struct simulated_nodes *s, void (*done)(void *arg), void *arg)
{
    s->is_stopping = true;
    s->done = done;
    s->done_arg = arg;
    timer_stop(s->opts.loop, &s->beat);
    timer_stop(s->opts.loop, &s->delay);
    timer_stop(s->opts.loop, &s->again);
    reflector_close(s->node_watch);
    reflector_close(s->pod_watch);
    drop_list(&s->urgent);
    drop_list(&s->normal);
    drop_list(&s->retry);
    for (size_t i = 0; s->opts.removes && i < s->opts.spec->n; i++)
        if (s->nodes[i].uid) {
            ask(s, REMOVE_NODE, &s->nodes[i]);
            if (s->nodes[i].has_lease)
                ask(s, REMOVE_LEASE, &s->nodes[i]);
        }
    timer_start(s->opts.loop, &s->deadline, SIMULATED_REMOVE_MS, on_deadline);
    check_stopped(s);
}

void simulated_nodes_count(const struct simulated_nodes *s, struct simulated_counts *ret)
{
    *ret = s->counts;
    ret->nodes = s->n_there;
    ret->waiting = s->pods.n;
}
