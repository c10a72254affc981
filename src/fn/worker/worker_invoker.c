/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of sandboxes in this process: finds the runtime, counts the running calls. The caller
 * holds the exchange of the runtime. The structs of calls are kept for reuse.
 */
#include "fn/worker/http_invoker.h"
#include "fn/worker/worker_impl.h"

#include <errno.h>

struct worker_invoker_call {
    struct exchange_forward forward;
    struct worker *w;
    struct worker_invoker_call *next_spare;
};

static void put_call(struct worker_invoker_call *c)
{
    c->next_spare = c->w->spare_calls;
    c->w->spare_calls = c;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct worker_invoker_call *c = container_of(arg, struct worker_invoker_call, forward);
    c->w->n_running--;
    exchange_forward_end(arg, r, err);
    put_call(c);
}

static const struct exchange_events inner_events = { .on_head = exchange_forward_head,
                                                     .on_data = exchange_forward_data,
                                                     .on_trailers = exchange_forward_trailers,
                                                     .on_writable = exchange_forward_writable,
                                                     .on_end = on_end };

static struct worker_invoker_call *take_call(struct worker *w)
{
    struct worker_invoker_call *c = w->spare_calls;
    if (!c)
        return xnew(struct worker_invoker_call);
    w->spare_calls = c->next_spare;
    return c;
}

/* NULL: the sandbox cannot be called here. */
static struct invoker *invoker_of(struct worker *w, struct sandbox *s, struct err *err)
{
    if (!s || s->sm.at == SANDBOX_CREATING)
        return NULL;
    if (s->rt->invoker || !s->direct)
        return s->rt->invoker;
    bool h2c = s->revision && s->revision->pub.t->protocol != FN_HTTP1;
    if (!s->proxy && http_invoker_new(w->loop, s->direct, h2c, &s->proxy, err) < 0)
        return NULL;
    return http_invoker_get(s->proxy);
}

static int start(struct invoker *v, const struct invoke_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    struct worker *w = container_of(v, struct worker, invoker);
    struct sandbox *s = worker_sandbox(w, req->sandbox);
    struct invoker *to = invoker_of(w, s, err);
    if (!to)
        return err_set(err, -ECONNREFUSED, "there is no sandbox %llu that can be called here",
                       (unsigned long long)req->sandbox);
    struct worker_invoker_call *c = take_call(w);
    exchange_forward_init(&c->forward, NULL, events, arg);
    c->w = w;
    int r = invoke_start(to, req, &inner_events, &c->forward, &c->forward.under, err);
    if (r < 0) {
        put_call(c);
        return r;
    }
    w->n_running++;
    *ret = c->forward.under;
    return 0;
}

struct invoker *worker_invoker(struct worker *w)
{
    return &w->invoker;
}

void worker_invoker_init(struct worker *w)
{
    w->invoker.start = start;
}

void worker_invoker_fini(struct worker *w)
{
    assert(w->n_running == 0); /* the runtimes have ended their calls */
    while (w->spare_calls) {
        struct worker_invoker_call *c = w->spare_calls;
        w->spare_calls = c->next_spare;
        free(c);
    }
}
