/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/events/NAMESPACE: delivers CloudEvents to every function of the namespace with a
 * matching trigger. 202 once all calls are on disk. A repeated post makes no second call, since
 * source and id of an event are the key of its calls.
 */
#include "fn/trigger/trigger_int.h"

#include "codec/digest.h"
#include "fn/async/async_int.h"
#include "fn/trigger/cloudevent.h"

#include <errno.h>

struct trigger_events_delivery {
    const struct cloudevent *ev;
    struct str name, path, trigger; /* in the arena */
};

struct post_events {
    struct triggers *t;
    struct http_exchange *x; /* NULL: the client has left; its events are delivered anyway */
    async_published_cb cb; /* for an event from inside the process; NULL after it has been called */
    void *cb_arg;
    struct headers own_headers;
    struct defer turn;
    char namespace[FN_NAME_MAX + 1];
    const struct headers *headers; /* the exchange's */
    struct buf body;
    size_t counted; /* in triggers.posts_bytes */
    bool refused, delivers;
    struct arena arena;
    struct cloudevent *evs;
    size_t n_evs;
    VEC(struct trigger_events_delivery) calls;
    size_t at, in_flight, n_repeats;
    int r; /* the first failure */
};

static void post_free(struct post_events *p)
{
    struct triggers *t = p->t;
    t->posts_bytes -= p->counted;
    buf_fini(&p->body);
    headers_fini(&p->own_headers);
    arena_fini(&p->arena);
    vec_fini(&p->calls);
    free(p);
    triggers_release(t);
}

static void reply(struct post_events *p)
{
    struct headers h = { 0 };
    char body[128];
    if (p->r < 0) {
        p->t->stats.events_refused++;
        async_refuse(p->x, 503, p->r == -ENOSPC ? "DiskFull" : "TooManyCalls",
                     "not all calls could be stored; post the events again", 5);
        return;
    }
    int n = snprintf(body, sizeof body, "{\"events\":%zu,\"calls\":%zu,\"repeated\":%zu}\n",
                     p->n_evs, p->calls.n, p->n_repeats);
    (void)headers_addc(&h, "content-type", "application/json");
    http_reply(p->x, 202, &h, str_n(body, (size_t)n));
    headers_fini(&h);
}

/* ------------------------------------------------------------------ delivery */

static void deliver(struct post_events *p);

static void on_submitted(void *arg, int r, const char id[ASYNC_ID_TEXT], bool is_repeat,
                         const struct err *err)
{
    struct post_events *p = arg;
    p->in_flight--;
    p->n_repeats += is_repeat;
    if (r < 0 && p->r >= 0)
        p->r = r;
    deliver(p);
}

/* Source and id identify an event (section 3.1); either may be long. */
static void key_of(const struct trigger_events_delivery *d, char ret[ASYNC_KEY_MAX_BYTES])
{
    struct sha256 *h = sha256_new();
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    sha256_add(h, d->ev->source.p, d->ev->source.n);
    sha256_add(h, "", 1);
    sha256_add(h, d->ev->id.p, d->ev->id.n);
    sha256_end(h, hash);
    sha256_free(h);
    hex_format(hash, sizeof hash, hex);
    (void)snprintf(ret, ASYNC_KEY_MAX_BYTES, "event/" STR_FMT "/%s", STR_ARG(d->trigger), hex);
}

static int submit(struct post_events *p, const struct trigger_events_delivery *d)
{
    struct headers h = { 0 };
    char key[ASYNC_KEY_MAX_BYTES];
    key_of(d, key);
    int r = cloudevent_fields(d->ev, &h, NULL);
    struct str hops = headers_get(p->headers, ASYNC_HOPS_FIELD);
    if (r >= 0 && hops.p)
        r = headers_add(&h, STR(ASYNC_HOPS_FIELD), hops);
    struct async_call call = { .namespace = str_of(p->namespace),
                               .name = d->name,
                               .method = STR("POST"),
                               .target = d->path,
                               .headers = &h,
                               .body = d->ev->data,
                               .key = str_of(key),
                               .publishes = true };
    if (r >= 0)
        r = async_submit(p->t->async, &call, on_submitted, p, NULL);
    headers_fini(&h);
    return r;
}

/* Submit as many as may be in progress; reply after the last. */
static void deliver(struct post_events *p)
{
    while (p->r >= 0 && p->at < p->calls.n && p->in_flight < TRIGGER_EVENTS_INFLIGHT_MAX) {
        int r = submit(p, &p->calls.p[p->at++]);
        if (r < 0)
            p->r = r;
        else
            p->in_flight++;
    }
    if (p->in_flight > 0)
        return;
    p->delivers = false;
    if (p->r >= 0)
        p->t->stats.events += p->n_evs;
    if (p->x) {
        reply(p);
        return;
    }
    if (p->cb)
        p->cb(p->cb_arg, p->r, NULL);
    post_free(p);
}

static int match(struct post_events *p, struct err *err)
{
    const struct list *triggers = map_get(&p->t->by_namespace, str_of(p->namespace));
    for (size_t i = 0; triggers && i < p->n_evs; i++) {
        const struct cloudevent *ev = &p->evs[i];
        list_each (node, triggers) {
            const struct trigger *tr = list_entry(node, struct trigger, by_kind);
            if (!cloudevent_matches(tr->spec.type, ev->type) ||
                !cloudevent_matches(tr->spec.source, ev->source))
                continue;
            if (p->calls.n == TRIGGER_CALLS_MAX)
                return err_set(err, E_LIMIT, "the events make more than %d calls",
                               TRIGGER_CALLS_MAX);
            struct trigger_events_delivery d = { .ev = ev,
                                                 .name = str_copy_arena(&p->arena, tr->name),
                                                 .path = str_copy_arena(&p->arena, tr->spec.path),
                                                 .trigger =
                                                     str_copy_arena(&p->arena, tr->spec.name) };
            vec_push(&p->calls, d);
        }
    }
    return 0;
}

/* ------------------------------------------------------------------ the exchange */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct post_events *p = http_exchange_data(x);
    if (p->refused)
        return;
    if (p->t->posts_bytes + chunk.n > TRIGGER_POSTS_MAX_BYTES) {
        p->refused = true;
        p->t->stats.events_refused++;
        async_refuse(x, 503, "TooManyEvents", "too many events are in progress", 1);
        return;
    }
    p->counted += chunk.n;
    p->t->posts_bytes += chunk.n;
    (void)buf_add_str(&p->body, chunk);
}

static int read_and_match(struct post_events *p, struct err *err)
{
    int r = cloudevents_read(&p->arena, p->headers, buf_str(&p->body), TRIGGER_BATCH_MAX, &p->evs,
                             &p->n_evs, err);
    return r < 0 ? r : match(p, err);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct post_events *p = http_exchange_data(x);
    struct err err = { 0 };
    if (p->refused || (r < 0 && r != -EMSGSIZE))
        return;
    if (r < 0) {
        p->t->stats.events_refused++;
        async_refuse(x, 413, "BodyTooLarge", "more than 4 MiB of events", 0);
        return;
    }
    r = read_and_match(p, &err);
    if (r < 0) {
        p->t->stats.events_refused++;
        async_refuse(x, r == E_LIMIT ? 503 : 400, r == E_LIMIT ? "TooManyCalls" : "InvalidEvent",
                     err.text, 0);
        return;
    }
    p->delivers = true;
    deliver(p);
}

static void on_writable(struct http_exchange *x)
{
}

static void on_gone(struct http_exchange *x, int r)
{
    struct post_events *p = http_exchange_data(x);
    p->x = NULL;
    if (!p->delivers)
        post_free(p);
}

static const struct http_exchange_ops post_ops = {
    .on_body = on_body, .on_body_end = on_body_end, .on_writable = on_writable, .on_gone = on_gone
};

static struct post_events *post_new(struct triggers *t, struct str namespace)
{
    struct post_events *p = xnew(struct post_events);
    p->t = t;
    memcpy(p->namespace, namespace.p, namespace.n);
    buf_init(&p->body, TRIGGER_EVENTS_MAX_BYTES);
    p->arena.max_bytes = 8 * (size_t)TRIGGER_EVENTS_MAX_BYTES;
    t->busy++;
    return p;
}

bool events_serve(void *arg, struct http_exchange *x, const struct http_request *req)
{
    struct triggers *t = arg;
    struct str prefix = STR("/v1/events/"), path, query, namespace;
    (void)str_cut(req->target, '?', &path, &query);
    namespace = str_slice(path, prefix.n, path.n);
    if (namespace.n == 0 || namespace.n > FN_NAME_MAX || str_find_char(namespace, '/') >= 0) {
        async_refuse(x, 404, "UnknownNamespace", "events are posted to /v1/events/NAMESPACE", 0);
        return true;
    }
    if (!str_is(req->method, "POST")) {
        struct headers h = { 0 };
        (void)headers_addc(&h, "allow", "POST");
        http_reply(x, 405, &h, STR(""));
        headers_fini(&h);
        return true;
    }
    int refusal = t->functions.ops->admits(t->functions.arg, namespace, req->headers);
    if (refusal) {
        t->stats.events_refused++;
        async_refuse(x, refusal, refusal == 401 ? "TokenRequired" : "RateLimited",
                     "the namespace's policy", refusal == 401 ? 0 : 1);
        return true;
    }
    struct post_events *p = post_new(t, namespace);
    p->x = x;
    p->headers = req->headers;
    http_exchange_set(x, &post_ops, p);
    http_read_body(x, TRIGGER_EVENTS_MAX_BYTES);
    return true;
}

static void on_publish_turn(struct defer *d)
{
    deliver(container_of(d, struct post_events, turn));
}

int events_publish(void *arg, struct str namespace, const struct headers *headers, struct str body,
                   async_published_cb cb, void *cb_arg, struct err *err)
{
    struct triggers *t = arg;
    if (namespace.n == 0 || namespace.n > FN_NAME_MAX)
        return err_set(err, E_INVALID, "no namespace");
    struct post_events *p = post_new(t, namespace);
    p->headers = &p->own_headers;
    int r = headers_copy(&p->own_headers, headers);
    if (r >= 0)
        r = buf_add_str(&p->body, body);
    r = r < 0 ? err_set(err, E_INVALID, "the event is too large") : read_and_match(p, err);
    if (r < 0) {
        t->stats.events_refused++;
        post_free(p);
        return r;
    }
    p->cb = cb;
    p->cb_arg = cb_arg;
    p->delivers = true;
    defer_start(t->loop, &p->turn, on_publish_turn); /* cb must not run inside this call */
    return 0;
}
