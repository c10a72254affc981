/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of sandboxes in this process: finds the runtime, counts the running calls. The structs of
 * calls are kept for reuse.
 */
#include "fn/worker/http_invoker.h"
#include "fn/worker/worker_impl.h"

#include <errno.h>

struct worker_invoker_call { /* a struct invocation, to callers */
    struct worker *w;
    struct invoker *to;
    struct invocation *x;
    const struct invoke_ops *ops;
    void *arg;
    struct worker_invoker_call *next_spare;
};

static struct worker_invoker_call *of(struct invocation *x)
{
    return (struct worker_invoker_call *)x;
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct worker_invoker_call *c = arg;
    c->ops->on_head(c->arg, status, headers);
}

static void on_data(void *arg, struct str chunk)
{
    struct worker_invoker_call *c = arg;
    c->ops->on_data(c->arg, chunk);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct worker_invoker_call *c = arg;
    if (c->ops->on_trailers)
        c->ops->on_trailers(c->arg, trailers);
}

static void on_writable(void *arg)
{
    struct worker_invoker_call *c = arg;
    if (c->ops->on_writable)
        c->ops->on_writable(c->arg);
}

static void on_end(void *arg, int r, const char *reason, const struct err *err)
{
    struct worker_invoker_call *c = arg;
    c->w->n_running--;
    c->ops->on_end(c->arg, r, reason, err);
    c->next_spare = c->w->spare_calls;
    c->w->spare_calls = c;
}

static const struct invoke_ops inner_ops = { .on_head = on_head,
                                             .on_data = on_data,
                                             .on_trailers = on_trailers,
                                             .on_writable = on_writable,
                                             .on_end = on_end };

static struct worker_invoker_call *take_call(struct worker *w)
{
    struct worker_invoker_call *c = w->spare_calls;
    if (!c)
        return xnew(struct worker_invoker_call);
    w->spare_calls = c->next_spare;
    return c;
}

/* NULL: it cannot be called here. */
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

static int start(struct invoker *v, const struct invoke_request *req, const struct invoke_ops *ops,
                 void *arg, struct invocation **ret, struct err *err)
{
    struct worker *w = container_of(v, struct worker, invoker);
    struct sandbox *s = worker_sandbox(w, req->sandbox);
    struct invoker *to = invoker_of(w, s, err);
    if (!to)
        return err_set(err, -ECONNREFUSED, "there is no sandbox %llu that can be called here",
                       (unsigned long long)req->sandbox);
    struct worker_invoker_call *c = take_call(w);
    *c = (struct worker_invoker_call){ .w = w, .to = to, .ops = ops, .arg = arg };
    int r = invoke_start(c->to, req, &inner_ops, c, &c->x, err);
    if (r < 0) {
        c->next_spare = w->spare_calls;
        w->spare_calls = c;
        return r;
    }
    w->n_running++;
    *ret = (struct invocation *)c;
    return 0;
}

static bool write_body(struct invoker *v, struct invocation *x, struct str chunk)
{
    return invoke_write(of(x)->to, of(x)->x, chunk);
}

static void end_body(struct invoker *v, struct invocation *x, const struct headers *trailers)
{
    invoke_end_body(of(x)->to, of(x)->x, trailers);
}

static void pause_answer(struct invoker *v, struct invocation *x)
{
    invoke_pause(of(x)->to, of(x)->x);
}

static void resume_answer(struct invoker *v, struct invocation *x)
{
    invoke_resume(of(x)->to, of(x)->x);
}

static void cancel(struct invoker *v, struct invocation *x)
{
    invoke_cancel(of(x)->to, of(x)->x);
}

static const struct invoker_ops invoker_ops = { .start = start,
                                                .write = write_body,
                                                .end_body = end_body,
                                                .pause = pause_answer,
                                                .resume = resume_answer,
                                                .cancel = cancel };

struct invoker *worker_invoker(struct worker *w)
{
    return &w->invoker;
}

void worker_invoker_init(struct worker *w)
{
    w->invoker.ops = &invoker_ops;
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
