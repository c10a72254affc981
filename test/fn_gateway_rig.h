/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What surrounds a gateway under test: a control plane that says what the test says, an invoker
 * whose sandboxes do what the test says, and HTTP clients. One loop, waits for events only.
 */
#pragma once

#include "fn/fn.pb-c.h"
#include "fn/gateway/gateway.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/vec.h"
#include "test.h"

#include <errno.h>

static struct loop loop;
static struct timer rig_guard;

static __attribute__((unused)) void rig_on_guard(struct timer *t)
{
    TEST_FAIL("waited in vain");
}

#define WAIT_FOR(cond)                                                                             \
    do {                                                                                           \
        timer_start(&loop, &rig_guard, 60000, rig_on_guard);                                       \
        while (!(cond))                                                                            \
            (void)loop_turn(&loop, true);                                                          \
        timer_stop(&loop, &rig_guard);                                                             \
    } while (0)

/* What is ready now, and what that makes ready. */
static void turns(int n)
{
    for (int i = 0; i < n; i++)
        (void)loop_turn(&loop, false);
}

/* Virtual time passes; timers that are due by then run. */
static __attribute__((unused)) void pass(uint64_t ms)
{
    timer_stop(&loop, &rig_guard);
    loop_skip(&loop, ms);
    turns(4);
}

/* ---------------------------------------------------------------- the control plane */

typedef Dormouse__Fn__V1__GatewayReport gw_report;
typedef Dormouse__Fn__V1__GatewayOrder gw_order;

struct plane { /* as one gateway sees it */
    struct fn_dialer dialer;
    struct fn_stream *stream; /* our end; NULL: there is none */
    unsigned dials, hellos, reports;
    uint64_t last_seq, hello_term;
    char address[64]; /* of the last dial */
    char hello_address[64];
    bool refuse;
    /* as told by the last load of each function */
    struct {
        uint32_t running, queued, arrived, finished, idle;
        uint64_t concurrency_us;
        unsigned reported;
    } load[16];
    bool was_all;
    VEC(uint64_t) broken;
    VEC(uint64_t) drained;
    uint64_t endpoints_version;
    bool is_leaving;
};

static void plane_on_message(void *arg, const ProtobufCMessage *m)
{
    struct plane *p = arg;
    const gw_report *r = (const gw_report *)m;
    p->reports++;
    CHECK_INT(r->seq, p->last_seq + 1);
    p->last_seq = r->seq;
    if (r->hello) {
        p->hellos++;
        p->hello_term = r->hello->highest_term;
        (void)snprintf(p->hello_address, sizeof p->hello_address, "%s", r->hello->address);
    }
    p->was_all = p->was_all || r->loads_are_all;
    for (size_t i = 0; i < r->n_loads; i++) {
        const Dormouse__Fn__V1__FunctionLoad *l = r->loads[i];
        if (l->function >= 16)
            continue;
        p->load[l->function].running = l->running;
        p->load[l->function].queued = l->queued;
        p->load[l->function].arrived += l->arrived;
        p->load[l->function].finished += l->finished;
        p->load[l->function].concurrency_us += l->concurrency_us;
        p->load[l->function].idle = (uint32_t)l->n_idle;
        p->load[l->function].reported++;
    }
    for (size_t i = 0; i < r->n_broken; i++)
        vec_push(&p->broken, r->broken[i]);
    for (size_t i = 0; i < r->n_drained; i++)
        vec_push(&p->drained, r->drained[i]);
    p->endpoints_version = r->endpoints_version;
    p->is_leaving = r->is_leaving;
}

static void plane_hang_up(struct plane *p)
{
    fn_stream_close(p->stream);
    p->stream = NULL;
}

static void plane_on_end(void *arg, int r, const struct err *err)
{
    plane_hang_up(arg);
}

static const struct fn_stream_ops plane_stream_ops = { .on_message = plane_on_message,
                                                       .on_end = plane_on_end };

static struct fn_stream *plane_dial(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                                    const char *address)
{
    struct plane *p = container_of(d, struct plane, dialer);
    struct fn_stream *theirs, *ours;
    p->dials++;
    (void)snprintf(p->address, sizeof p->address, "%s", address);
    fn_stream_pair(&loop, in, &dormouse__fn__v1__gateway_report__descriptor, &theirs, &ours);
    if (p->refuse) {
        fn_stream_close(ours);
        return theirs;
    }
    plane_hang_up(p);
    p->stream = ours;
    p->last_seq = 0;
    fn_stream_set(ours, &plane_stream_ops, p);
    return theirs;
}

static const struct fn_dialer_ops plane_dialer_ops = { .dial = plane_dial };

static __attribute__((unused)) void plane_fini(struct plane *p)
{
    plane_hang_up(p);
    vec_fini(&p->broken);
    vec_fini(&p->drained);
}

/* An order under construction; what is in it is borrowed until it is sent. */
struct order {
    gw_order o;
    Dormouse__Fn__V1__Welcome welcome;
    Dormouse__Fn__V1__EndpointUpdate endpoints;
    Dormouse__Fn__V1__Members members;
    struct {
        Dormouse__Fn__V1__Function f;
        Dormouse__Fn__V1__Revision r[2];
        Dormouse__Fn__V1__Revision *rs[2];
        char spec[1024];
    } functions[8];
    Dormouse__Fn__V1__Function *fs[8];
    Dormouse__Fn__V1__Endpoint endpoint[64];
    Dormouse__Fn__V1__Endpoint *es[64];
    Dormouse__Fn__V1__Member member[4];
    Dormouse__Fn__V1__Member *ms[4];
    uint64_t ids[64];
};

static struct order *order_new(void)
{
    struct order *o = xnew(struct order);
    dormouse__fn__v1__gateway_order__init(&o->o);
    return o;
}

static void order_welcome(struct order *o, uint64_t term)
{
    dormouse__fn__v1__welcome__init(&o->welcome);
    o->welcome.term = term;
    o->welcome.leader = (char *)"cp";
    o->o.welcome = &o->welcome;
    o->o.functions_are_all = true;
}

/* spec: members of the spec beside the runtime. */
static void order_function_in(struct order *o, uint32_t number, const char *namespace,
                              const char *name, const char *spec)
{
    size_t i = o->o.n_functions++;
    Dormouse__Fn__V1__Function *f = &o->functions[i].f;
    dormouse__fn__v1__function__init(f);
    (void)snprintf(o->functions[i].spec, sizeof o->functions[i].spec, "{\"fake\":{}%s%s}",
                   *spec ? "," : "", spec);
    f->function = number;
    f->uid = (char *)"u";
    f->namespace_ = (char *)namespace;
    f->name = (char *)name;
    f->spec =
        (ProtobufCBinaryData){ strlen(o->functions[i].spec), (uint8_t *)o->functions[i].spec };
    for (uint32_t r = 0; r < 2; r++) {
        dormouse__fn__v1__revision__init(&o->functions[i].r[r]);
        o->functions[i].r[r].revision = r + 1;
        o->functions[i].rs[r] = &o->functions[i].r[r];
    }
    f->n_revisions = 2;
    f->revisions = o->functions[i].rs;
    f->latest = 1;
    o->fs[i] = f;
    o->o.functions = o->fs;
}

static void order_function(struct order *o, uint32_t number, const char *name, const char *spec)
{
    order_function_in(o, number, "default", name, spec);
}

static void order_endpoints(struct order *o, uint64_t from, uint64_t to, bool is_all)
{
    dormouse__fn__v1__endpoint_update__init(&o->endpoints);
    o->endpoints.from_version = from;
    o->endpoints.version = to;
    o->endpoints.is_all = is_all;
    o->endpoints.adds = o->es;
    o->o.endpoints = &o->endpoints;
}

/* address NULL: in this process, through the local invoker. */
static void order_add_revision(struct order *o, uint64_t sandbox, uint32_t function,
                               uint32_t revision, const char *address)
{
    size_t i = o->endpoints.n_adds++;
    Dormouse__Fn__V1__Endpoint *e = &o->endpoint[i];
    dormouse__fn__v1__endpoint__init(e);
    e->sandbox = sandbox;
    e->function = function;
    e->revision = revision;
    e->worker = (char *)"w";
    e->by_worker = !address;
    e->address = (char *)(address ? address : "127.0.0.1:1");
    o->es[i] = e;
}

static void order_add(struct order *o, uint64_t sandbox, uint32_t function, const char *address)
{
    order_add_revision(o, sandbox, function, 1, address);
}

static __attribute__((unused)) void order_member(struct order *o, const char *name,
                                                 const char *address)
{
    if (!o->o.members) {
        dormouse__fn__v1__members__init(&o->members);
        o->members.gateways = o->ms;
        o->members.secret = (ProtobufCBinaryData){ 6, (uint8_t *)"secret" };
        o->members.epoch = 1;
        o->o.members = &o->members;
    }
    size_t i = o->members.n_gateways++;
    dormouse__fn__v1__member__init(&o->member[i]);
    o->member[i].name = (char *)name;
    o->member[i].address = (char *)address;
    o->ms[i] = &o->member[i];
}

static __attribute__((unused)) void order_send(struct order *o, struct plane *p)
{
    CHECK(p->stream);
    fn_stream_send(p->stream, &o->o.base);
    free(o);
    turns(3);
}

/* ---------------------------------------------------------------- sandboxes in this process */

struct invocation {
    struct exchange x;
    uint64_t sandbox;
    char *method, *target, *call_id, *script_name;
    struct headers headers;
    struct buf body;
    bool body_ended, canceled, paused, has_body;
    unsigned n_trailers;
    struct defer later;
    bool full;  /* say so to writes */
    bool begun; /* the head has left */
};

static struct rig_invoker {
    struct invoker invoker;
    VEC(struct invocation *) running;
    unsigned starts, cancels;
    bool answers; /* 200 at once, with the sandbox's number as body */
    int fails;    /* with this code, on a later turn */
    const char *reason;
} sandboxes;

static void invocation_free(struct invocation *x)
{
    for (size_t i = 0; i < sandboxes.running.n; i++)
        if (sandboxes.running.p[i] == x) {
            vec_remove(&sandboxes.running, i);
            break;
        }
    defer_cancel(&x->later);
    headers_fini(&x->headers);
    buf_fini(&x->body);
    free(x->method);
    free(x->target);
    free(x->call_id);
    free(x->script_name);
    free(x);
}

static void end(struct invocation *x, int r, const char *reason)
{
    struct err err = { 0 };
    err_set(&err, r < 0 ? r : -1, "as the test said");
    x->x.reason = reason;
    exchange_report_end(&x->x, r, &err);
    invocation_free(x);
}

static void head(struct invocation *x, int status, const char *name, const char *value)
{
    struct headers h = { 0 };
    if (name)
        CHECK_OK(headers_addc(&h, name, value));
    x->begun = true;
    exchange_report_head(&x->x, status, &h);
    headers_fini(&h);
}

static __attribute__((unused)) void answer(struct invocation *x, int status, const char *body)
{
    char n[24];
    (void)snprintf(n, sizeof n, "%zu", strlen(body));
    head(x, status, "content-length", n);
    if (*body)
        exchange_report_data(&x->x, str_of(body));
    end(x, 0, NULL);
}

static void rig_on_later(struct defer *d)
{
    struct invocation *x = container_of(d, struct invocation, later);
    char text[32];
    if (x->canceled) {
        end(x, -ECANCELED, NULL);
    } else if (sandboxes.fails) {
        end(x, sandboxes.fails, sandboxes.reason);
    } else {
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)x->sandbox);
        answer(x, 200, text);
    }
}

static struct invocation *invocation_of(struct exchange *e)
{
    return container_of(e, struct invocation, x);
}

static bool rig_write(struct exchange *e, struct str chunk)
{
    struct invocation *x = invocation_of(e);
    CHECK_OK(buf_add_str(&x->body, chunk));
    return !x->full;
}

static void rig_end_body(struct exchange *e, const struct headers *trailers)
{
    struct invocation *x = invocation_of(e);
    x->body_ended = true;
    x->n_trailers = trailers ? (unsigned)trailers->n : 0;
}

static void rig_pause(struct exchange *e)
{
    struct invocation *x = invocation_of(e);
    x->paused = true;
}

static void rig_resume(struct exchange *e)
{
    struct invocation *x = invocation_of(e);
    x->paused = false;
}

static void rig_cancel(struct exchange *e)
{
    struct invocation *x = invocation_of(e);
    x->canceled = true;
    sandboxes.cancels++;
    defer_start(&loop, &x->later, rig_on_later);
}

static const struct exchange_ops rig_ops = { .write = rig_write,
                                             .end_body = rig_end_body,
                                             .pause = rig_pause,
                                             .resume = rig_resume,
                                             .cancel = rig_cancel };

static __attribute__((unused)) int rig_start(struct invoker *v, const struct invoke_request *req,
                                             const struct exchange_events *events, void *arg,
                                             struct exchange **ret, struct err *err)
{
    struct invocation *x = xnew(struct invocation);
    *x = (struct invocation){ .x = { &rig_ops, events, arg, NULL },
                              .sandbox = req->sandbox,
                              .method = str_dup(req->method),
                              .target = str_dup(req->target),
                              .call_id = str_dup(req->call_id),
                              .script_name = str_dup(req->script_name),
                              .body = BUF_INIT(64 << 20),
                              .has_body = req->has_body,
                              .body_ended = req->body_is_whole };
    CHECK_OK(headers_copy(&x->headers, req->headers));
    CHECK_OK(buf_add_str(&x->body, req->body));
    vec_push(&sandboxes.running, x);
    sandboxes.starts++;
    if (sandboxes.answers || sandboxes.fails)
        defer_start(&loop, &x->later, rig_on_later);
    *ret = &x->x;
    return 0;
}

/* The i-th that runs. */
static __attribute__((unused)) struct invocation *running(size_t i)
{
    CHECK(i < sandboxes.running.n);
    return sandboxes.running.p[i];
}

/* ---------------------------------------------------------------- clients */

struct answer {
    struct exchange *call;
    int status, r;
    struct headers headers, trailers;
    struct buf body;
    unsigned ends, writables;
};

static void client_on_head(void *arg, int status, const struct headers *h)
{
    struct answer *a = arg;
    a->status = status;
    CHECK_OK(headers_copy(&a->headers, h));
}

static void client_on_data(void *arg, struct str chunk)
{
    struct answer *a = arg;
    CHECK_OK(buf_add_str(&a->body, chunk));
}

static void client_on_trailers(void *arg, const struct headers *h)
{
    struct answer *a = arg;
    CHECK_OK(headers_copy(&a->trailers, h));
}

static void client_on_writable(void *arg)
{
    ((struct answer *)arg)->writables++;
}

static void client_on_end(void *arg, int r, const struct err *err)
{
    struct answer *a = arg;
    a->ends++;
    a->r = r;
    a->call = NULL;
}

static const struct exchange_events client_events = { .on_head = client_on_head,
                                                      .on_data = client_on_data,
                                                      .on_trailers = client_on_trailers,
                                                      .on_writable = client_on_writable,
                                                      .on_end = client_on_end };

static void answer_reset(struct answer *a)
{
    headers_fini(&a->headers);
    headers_fini(&a->trailers);
    buf_fini(&a->body);
    *a = (struct answer){ .body = BUF_INIT(64 << 20) };
}

/* fields: "name", "value", ..., NULL */
static __attribute__((unused)) void request(struct http_client *client, struct answer *a,
                                            struct http_call_opts opts, const char *const *fields)
{
    struct headers h = { 0 };
    struct err err = { 0 };
    answer_reset(a);
    for (; fields && *fields; fields += 2)
        CHECK_OK(headers_addc(&h, fields[0], fields[1]));
    opts.headers = &h;
    opts.events = &client_events;
    opts.arg = a;
    if (!opts.method.p)
        opts.method = STR("GET");
    if (!opts.target.p)
        opts.target = STR("/");
    CHECK_OK(http_call_start(client, &opts, &a->call, &err));
    headers_fini(&h);
}

#define FIELDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static __attribute__((unused)) void check_refused(const struct answer *a, int status,
                                                  const char *reason)
{
    CHECK_INT(a->ends, 1);
    CHECK_INT(a->r, 0);
    CHECK_INT(a->status, status);
    CHECK_STR(headers_get(&a->headers, "x-dormouse-reason"), reason);
}
