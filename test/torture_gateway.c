/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateway when a call fails: its listener, a route, a warm request to a sandbox over HTTP, a
 * request that waits in the queue for the first sandbox, an asynchronous call on disk, and the
 * stop. The client, the sandbox and the control plane are in the same process, so their calls fail
 * too.
 *
 * What must hold: each request ends once, with the answer of the sandbox or with an error; after
 * the failure the same gateway serves again; the stop ends; an asynchronous call that was
 * acknowledged is on disk and ends in the next process.
 */
#include "fn_gateway_rig.h"
#include "temp_dir.h"
#include "torture.h"

#include "fn/async/async.h"

enum {
    SKIPS_FAILING = 200, /* of virtual time; after that calls work again */
    SKIPS_MAX = 100000,
    TURNS_QUIET = 30, /* without an event before time is skipped: no peer has anything to do */
    BODY_BYTES = 40000,
    WARM = 1, /* numbers of the functions, and of their sandboxes */
    COLD = 2
};

struct reply {
    struct exchange *call;
    int status, r;
    bool is_over;
    char call_id[64], state[24];
    struct buf body;
};

static struct state {
    char dir[TEMP_DIR_BYTES], path[128];
    struct plane plane;
    unsigned n_welcomes;
    bool has_cold_sandbox;
    struct gateway *gateway;
    struct async *async;
    struct http_client *client;
    bool is_stopped, is_closed;
    unsigned skips;
    struct http_server *sandbox;
    char address[32];
    bool is_sandbox_gone;
    char accepted[64]; /* the id of the asynchronous call; "": it was not acknowledged */
} * st;

/* ------------------------------------------------------------------ the sandbox: it echoes */

static void served_on_body(struct http_exchange *x, struct str chunk)
{
    torture_own(true);
    CHECK_OK(buf_add_str(http_exchange_data(x), chunk));
    torture_own(false);
}

static void served_on_body_end(struct http_exchange *x, int r)
{
    struct buf *body = http_exchange_data(x);
    if (r == 0)
        http_reply(x, 200, NULL, buf_str(body));
}

static void served_on_gone(struct http_exchange *x, int r)
{
    struct buf *body = http_exchange_data(x);
    buf_fini(body);
    free(body);
}

static const struct http_exchange_ops served_ops = { .on_body = served_on_body,
                                                     .on_body_end = served_on_body_end,
                                                     .on_gone = served_on_gone };

static void on_serve(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct buf *body = xnew(struct buf);
    buf_init(body, 1 << 20);
    http_exchange_set(x, &served_ops, body);
    http_read_body(x, 1 << 20);
}

static void open_sandbox(void)
{
    const struct http_server_opts opts = { .on_request = on_serve };
    CHECK_OK(http_server_start(&loop, &opts, &st->sandbox, NULL));
    (void)snprintf(st->address, sizeof st->address, "127.0.0.1:%u", http_server_port(st->sandbox));
}

static void on_sandbox_gone(void *arg)
{
    st->is_sandbox_gone = true;
}

/* ------------------------------------------------------------------ turns */

/* Everything that is known, as a leader sends it to a gateway that it does not know. */
static void send_welcome(void)
{
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, WARM, "warm", "");
    order_function(o, COLD, "cold", "");
    order_endpoints(o, 0, ++st->n_welcomes, true);
    order_add(o, WARM, WARM, st->address);
    if (st->has_cold_sandbox)
        order_add(o, COLD, COLD, st->address);
    fn_stream_send(st->plane.stream, &o->o.base);
    free(o);
}

/*
 * One turn. Where no peer has anything to do virtual time passes to the next timer: a back-off, a
 * deadline. After many of these calls work again.
 */
static void turn(unsigned *quiet)
{
    static unsigned hellos;
    if (st->plane.hellos == 0)
        hellos = 0;
    if (st->plane.stream && st->plane.hellos > hellos) {
        hellos = st->plane.hellos;
        send_welcome();
    }
    if (!loop_is_idle(&loop)) {
        *quiet = 0;
        (void)loop_turn(&loop, true);
        return;
    }
    (void)loop_turn(&loop, false);
    if (++*quiet < TURNS_QUIET)
        return;
    *quiet = 0;
    uint64_t due_ms = loop_next_timer_ms(&loop), now_ms = loop_now_ms(&loop);
    if (due_ms == UINT64_MAX)
        return;
    if (++st->skips == SKIPS_FAILING)
        torture_off();
    CHECK(st->skips < SKIPS_MAX);
    if (due_ms > now_ms)
        loop_skip(&loop, due_ms - now_ms);
}

#define UNTIL(cond)                                                                                \
    do {                                                                                           \
        for (unsigned quiet_ = 0; !(cond);)                                                        \
            turn(&quiet_);                                                                         \
    } while (0)

/* ------------------------------------------------------------------ requests */

static void keep_field(char *to, size_t n, const struct headers *h, const char *name)
{
    (void)snprintf(to, n, STR_FMT, STR_ARG(headers_get(h, name)));
}

static void reply_on_head(void *arg, int status, const struct headers *h)
{
    struct reply *a = arg;
    CHECK(a->status == 0 && !a->is_over);
    a->status = status;
    keep_field(a->call_id, sizeof a->call_id, h, "x-dormouse-call-id");
    keep_field(a->state, sizeof a->state, h, "x-faas-call-state");
}

static void reply_on_data(void *arg, struct str chunk)
{
    struct reply *a = arg;
    torture_own(true);
    CHECK_OK(buf_add_str(&a->body, chunk));
    torture_own(false);
}

static void reply_on_end(void *arg, int r, const struct err *err)
{
    struct reply *a = arg;
    CHECK(!a->is_over);
    a->is_over = true;
    a->r = r;
}

static const struct exchange_events reply_events = { .on_head = reply_on_head,
                                                     .on_data = reply_on_data,
                                                     .on_end = reply_on_end };

static void begin(struct reply *a, const char *method, const char *target, struct str body,
                  bool is_async)
{
    struct headers h = { 0 };
    *a = (struct reply){ .body = BUF_INIT(1 << 20) };
    torture_own(true);
    CHECK_OK(headers_addc(&h, "host", "g"));
    if (is_async)
        CHECK_OK(headers_addc(&h, "prefer", "respond-async"));
    torture_own(false);
    const struct http_call_opts opts = { .method = str_of(method),
                                         .target = str_of(target),
                                         .headers = &h,
                                         .body = body,
                                         .body_n = body.n,
                                         .events = &reply_events,
                                         .arg = a };
    a->r = http_call_start(st->client, &opts, &a->call, NULL);
    a->is_over = a->r < 0;
    headers_fini(&h);
}

/* The request has ended: as it should, or with an error after a call has failed. */
static bool check_end(struct reply *a, int status, struct str body, bool must)
{
    bool is_good = a->r >= 0 && a->status == status && (!body.p || str_eq(buf_str(&a->body), body));
    bool is_answer = a->r >= 0 && a->status >= 200 && a->status < 300;
    if (!is_good && (must || is_answer || !torture_failed()))
        TEST_FAIL("%s: status %d, %s", err_name(a->r), a->status, buf_cstr(&a->body));
    if (!is_good && a->r >= 0) /* the client made no mistake, but a limit may be memory */
        CHECK(a->status >= 500 || (torture_error() == ENOMEM && a->status >= 400));
    buf_fini(&a->body);
    return is_good;
}

static struct str body_of(void)
{
    static char text[BODY_BYTES];
    memset(text, 'b', sizeof text);
    return str_n(text, sizeof text);
}

static void ask_warm(struct str body, bool must)
{
    struct reply a;
    begin(&a, "POST", "/fn/default/warm", body, false);
    UNTIL(a.is_over);
    (void)check_end(&a, 200, body, must);
}

/* Waits in the queue until the control plane has heard of it and sends the first sandbox. */
static void ask_cold(void)
{
    struct reply a;
    begin(&a, "GET", "/fn/default/cold", STR(""), false);
    UNTIL(a.is_over || (st->plane.stream && st->plane.load[COLD].queued == 1));
    st->has_cold_sandbox = true;
    if (st->plane.stream)
        send_welcome();
    UNTIL(a.is_over);
    (void)check_end(&a, 200, STR(""), false);
}

static void call_later(void)
{
    struct reply a;
    begin(&a, "POST", "/fn/default/warm", STR("later"), true);
    UNTIL(a.is_over);
    bool is_accepted = a.status == 202 && a.r >= 0;
    if (is_accepted)
        memcpy(st->accepted, a.call_id, sizeof st->accepted);
    (void)check_end(&a, 202, STR_NULL, false);
}

/* What was acknowledged has a result, now or after a while. */
static void check_accepted(void)
{
    char target[96];
    struct reply a;
    if (!st->accepted[0])
        return;
    (void)snprintf(target, sizeof target, "/v1/async/%s", st->accepted);
    for (bool is_pending = true; is_pending;) {
        begin(&a, "GET", target, STR(""), false);
        UNTIL(a.is_over);
        CHECK_OK(a.r);
        is_pending = a.status == 202;
        if (!is_pending && strcmp(a.state, "succeeded") == 0)
            CHECK_STR(buf_str(&a.body), "later");
        else if (!is_pending)
            CHECK(strcmp(a.state, "failed") == 0 && torture_failed());
        buf_fini(&a.body);
    }
}

/* ------------------------------------------------------------------ the gateway */

static void on_synced(void *arg)
{
    if (st->async)
        async_start(st->async, async_over_gateway(st->gateway));
}

static void on_closed(void *arg)
{
    st->is_closed = true;
}

static bool open_gateway(bool must)
{
    struct err err = { 0 };
    const struct async_opts async = { .loop = &loop, .name = "g", .path = st->path };
    st->plane = (struct plane){ .dialer = { &plane_dialer_ops } };
    int r = async_open(&async, &st->async, &err);
    if (r >= 0) {
        const struct gateway_opts opts = { .loop = &loop,
                                           .name = "g",
                                           .incarnation = 1,
                                           .dialer = &st->plane.dialer,
                                           .async = async_hooks(st->async),
                                           .on_synced = on_synced };
        r = gateway_start(&opts, &st->gateway, &err);
        if (r < 0) {
            st->is_closed = false;
            async_close(take_ptr(&st->async), on_closed, NULL);
            UNTIL(st->is_closed);
        }
    }
    if (r < 0 && (must || !torture_failed()))
        TEST_FAIL("%s", err_text(&err));
    if (r < 0) {
        CHECK(err.code == r && err.text[0]);
        return false;
    }
    torture_own(true);
    const struct http_client_opts client = { .host = "127.0.0.1",
                                             .port = gateway_port(st->gateway) };
    CHECK_OK(http_client_new(&loop, &client, &st->client, &err));
    torture_own(false);
    return true;
}

static void on_stopped(void *arg)
{
    st->is_stopped = true;
}

static void close_gateway(void)
{
    st->is_stopped = st->is_closed = false;
    http_client_close(st->client);
    async_drain(st->async);
    gateway_stop(st->gateway, 1000, on_stopped, NULL);
    UNTIL(st->is_stopped);
    async_close(take_ptr(&st->async), on_closed, NULL);
    UNTIL(st->is_closed);
    plane_fini(&st->plane);
}

/* ------------------------------------------------------------------ the scenario */

static void work(void)
{
    ask_warm(STR("small"), false); /* read before it takes a sandbox */
    ask_warm(body_of(), false);    /* streamed */
    ask_cold();
    call_later();
}

/* The gateway reported the sandboxes that it took out; they are there, so they are named again. */
static void check_recovered(void)
{
    UNTIL(st->plane.stream);
    send_welcome();
    ask_warm(STR("works"), true);
    ask_warm(body_of(), true);
    check_accepted();
}

static void gateway_scenario(void)
{
    st = xnew(struct state);
    CHECK(temp_dir_make("torture-gateway", st->dir));
    (void)snprintf(st->path, sizeof st->path, "%s/async.db", st->dir);
    CHECK_OK(loop_init(&loop, NULL));
    open_sandbox();
    torture_on();
    if (open_gateway(false)) {
        work();
        torture_off();
        check_recovered();
        torture_on();
        close_gateway();
    }
    torture_off();
    (void)open_gateway(true); /* the next process */
    check_recovered();
    close_gateway();
    http_server_close(st->sandbox, 0, on_sandbox_gone, NULL);
    UNTIL(st->is_sandbox_gone);
    loop_run(&loop);
    loop_fini(&loop);
    temp_dir_remove(st->dir);
    free(st);
}

TEST(each_request_ends_and_the_gateway_serves_again_after_each_failing_call)
{
    torture_run("the gateway", gateway_scenario);
}

TEST_MAIN
