/* SPDX-License-Identifier: Apache-2.0 */
/* A response without end that streams the steps of activations; see trace_page.h. */
#include "node/trace_page.h"

#include "base/mem.h"
#include "io/http.h"

struct trace_page {
    struct tracer tracer;
    struct http_exchange *x;
    uint64_t left; /* activations; 0: without end */
    bool listens;
};

static void stop_listening(struct trace_page *p)
{
    if (p->listens)
        trace_unlisten(&p->tracer);
    p->listens = false;
}

static void on_step(struct tracer *t, struct str json, bool is_end)
{
    struct trace_page *p = container_of(t, struct trace_page, tracer);
    bool is_last = is_end && p->left == 1;
    if (is_end && p->left)
        p->left--;
    (void)http_write(p->x, json);
    if (is_last) {
        stop_listening(p);
        http_end(p->x);
    } else if (http_write_pending(p->x) > TRACE_PAGE_BEHIND_MAX) {
        stop_listening(p);
        http_abort(p->x);
    }
}

static void on_operator_gone(struct tracer *t)
{
    struct trace_page *p = container_of(t, struct trace_page, tracer);
    p->listens = false;
    http_end(p->x);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct trace_page *p = http_exchange_data(x);
    stop_listening(p);
    free(p);
}

void trace_page_start(struct http_exchange *x, struct v1_trace *trace, uint64_t count)
{
    static const struct http_exchange_ops ops = { .on_gone = on_gone };
    struct headers h = { 0 };
    struct trace_page *p = xnew(struct trace_page);
    p->tracer.on_step = on_step;
    p->tracer.on_gone = on_operator_gone;
    p->x = x;
    p->left = count;
    p->listens = true;
    http_exchange_set(x, &ops, p);
    (void)headers_addc(&h, "content-type", "application/x-ndjson");
    http_respond(x, 200, &h, HTTP_CHUNKED);
    headers_fini(&h);
    trace_listen(trace, &p->tracer);
}
