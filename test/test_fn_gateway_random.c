/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gateway under random events: clients that come, wait, send, stop reading and leave; sandboxes
 * that answer, break, refuse and hang; a control plane that changes, drains and removes, goes and
 * comes with another term; time that passes. Always: no sandbox has more requests than it may have,
 * no request gets more than one answer, and at the end every request has ended.
 */
#include "fn_gateway_rig.h"

enum { CLIENTS = 40, FUNCTIONS = 3, SANDBOXES = 12, STEPS = 4000, LIMIT = 2 };

static struct gateway *gateway;
static struct plane plane;
static struct http_client *http[2];
static struct answer answers[CLIENTS];
static bool is_open[CLIENTS]; /* its body has not ended */
static struct exchange *inner[4];
static unsigned inner_ends[4], inner_starts[4];
static bool stopped;
static uint64_t term, version;
static bool known[FUNCTIONS + 1];
static struct {
    uint64_t id; /* 0: none */
    uint32_t function;
} boxes[SANDBOXES];
static uint64_t next_id;

static void on_stopped(void *arg)
{
    stopped = true;
}

static unsigned random_below(unsigned n)
{
    return (unsigned)test_random_below(n);
}

/* ---------------------------------------------------------------- the control plane's side */

static void add_function(struct order *o, uint32_t f)
{
    static const char *const names[] = { "", "f", "g", "h" };
    static const char *const specs[] = {
        "\"concurrency\":{\"limit\":2},\"queue\":{\"max\":5}",
        "\"concurrency\":{\"limit\":2},\"balance\":\"round-robin\"",
        "\"concurrency\":{\"limit\":2},\"balance\":\"p2c\",\"limits\":{\"bodyBytes\":50000}",
        ("\"concurrency\":{\"limit\":1},\"timeouts\":{\"requestMilliseconds\":700,"
         "\"queueMilliseconds\":900,\"idleMilliseconds\":300}"),
    };
    order_function(o, f, names[f], specs[random_below(ARRAY_LEN(specs))]);
    known[f] = true;
}

static void welcome(void)
{
    struct order *o = order_new();
    order_welcome(o, term);
    for (uint32_t f = 1; f <= FUNCTIONS; f++)
        if (known[f] || random_below(2))
            add_function(o, f);
    order_endpoints(o, 0, ++version, true);
    for (int i = 0; i < SANDBOXES; i++)
        if (boxes[i].id && known[boxes[i].function] && random_below(4))
            order_add(o, boxes[i].id, boxes[i].function, NULL);
        else
            boxes[i].id = 0;
    order_send(o, &plane);
}

static void change_endpoints(void)
{
    struct order *o = order_new();
    size_t n = 0;
    order_endpoints(o, version, version + 1, false);
    version++;
    int i = (int)random_below(SANDBOXES);
    if (!boxes[i].id) {
        boxes[i].id = ++next_id;
        boxes[i].function = 1 + random_below(FUNCTIONS);
        order_add(o, boxes[i].id, boxes[i].function, NULL);
    } else {
        o->ids[n++] = boxes[i].id;
        boxes[i].id = 0;
        bool drain = random_below(2);
        o->endpoints.drains = o->endpoints.removes = o->ids;
        *(drain ? &o->endpoints.n_drains : &o->endpoints.n_removes) = n;
    }
    order_send(o, &plane);
}

static void change_functions(void)
{
    struct order *o = order_new();
    static uint32_t gone;
    gone = 1 + random_below(FUNCTIONS);
    if (known[gone] && random_below(3) == 0) {
        o->o.functions_gone = &gone;
        o->o.n_functions_gone = 1;
        known[gone] = false;
    } else {
        add_function(o, gone);
    }
    order_send(o, &plane);
}

static void act_as_plane(void)
{
    if (!plane.stream || plane.last_seq == 0)
        return;
    static unsigned welcomed_hello;
    if (welcomed_hello != plane.hellos) {
        welcomed_hello = plane.hellos;
        term += random_below(2);
        welcome();
        return;
    }
    switch (random_below(12)) {
    case 0:
        plane_hang_up(&plane);
        break;
    case 1:
    case 2:
        change_functions();
        break;
    default:
        change_endpoints();
    }
}

/* ---------------------------------------------------------------- sandboxes */

static void check_limits(void)
{
    for (size_t i = 0; i < sandboxes.running.n; i++) {
        unsigned n = 0;
        for (size_t k = 0; k < sandboxes.running.n; k++)
            n += running(k)->sandbox == running(i)->sandbox;
        CHECK(n <= LIMIT);
    }
}

static void act_as_sandbox(void)
{
    static const int codes[] = { -ECONNREFUSED, -ECONNRESET, -EBUSY, E_TRAP, E_PARSE, -ETIMEDOUT };
    static char block[70000];
    if (!sandboxes.running.n)
        return;
    struct invocation *x = running(random_below((unsigned)sandboxes.running.n));
    if (x->canceled)
        return;
    bool begun = x->begun;
    switch (random_below(7)) {
    case 0:
        end(x, codes[random_below(ARRAY_LEN(codes))], "Broke");
        break;
    case 1:
        if (begun) {
            end(x, 0, NULL);
            break;
        }
        answer(x, 200, "all at once");
        break;
    case 2:
        if (!begun)
            head(x, 200, NULL, NULL);
        break;
    case 3:
        if (begun && !x->paused)
            exchange_report_data(&x->x, str_n(block, random_below(sizeof block)));
        break;
    case 4:
        x->full = !x->full;
        if (!x->full)
            exchange_report_writable(&x->x);
        break;
    default:
        if (begun)
            end(x, 0, NULL);
        else
            answer(x, 200 + (int)random_below(300), "");
    }
}

/* ---------------------------------------------------------------- clients */

static void start_request(struct answer *at)
{
    static const char *const hosts[] = { "f", "g", "h", "nobody" };
    static const char *const methods[] = { "GET", "POST", "PUT", "HEAD" };
    static char body[100000];
    const char *method = methods[random_below(4)];
    struct http_call_opts opts = { .method = str_of(method) };
    bool has_body = method[0] == 'P';
    if (has_body && random_below(2)) {
        opts.streams = true;
        opts.body_n = HTTP_CHUNKED;
    } else if (has_body) {
        opts.body = str_n(body, random_below(2) ? random_below(1000) : random_below(sizeof body));
    }
    is_open[at - answers] = opts.streams;
    request(http[random_below(2)], at, opts, FIELDS("host", hosts[random_below(4)]));
}

static void act_as_client(void)
{
    static char block[40000];
    struct answer *at = &answers[random_below(CLIENTS)];
    CHECK(at->ends <= 1);
    if (!at->call) {
        start_request(at);
        return;
    }
    switch (random_below(6)) {
    case 0:
        exchange_cancel(at->call);
        break;
    case 1:
        exchange_pause(at->call);
        break;
    case 2:
        exchange_resume(at->call);
        break;
    case 3:
        if (is_open[at - answers])
            exchange_end_body(at->call, NULL);
        is_open[at - answers] = false;
        break;
    default:
        if (is_open[at - answers])
            (void)exchange_write(at->call, str_n(block, random_below(sizeof block)));
    }
}

static void inner_on_end(void *arg, int r, const struct err *err)
{
    size_t i = (size_t)(uintptr_t)arg;
    inner[i] = NULL;
    inner_ends[i]++;
}

static const struct exchange_events inner_events = { .on_end = inner_on_end };

static void act_inside(void)
{
    size_t i = random_below(4);
    struct err err = { 0 };
    if (inner[i]) {
        exchange_cancel(inner[i]);
        return;
    }
    const struct invoke_request req = { .method = STR("POST"),
                                        .target = STR("/"),
                                        .has_body = true,
                                        .body = STR("x"),
                                        .body_bytes = 1,
                                        .body_is_whole = true };
    if (gateway_submit(gateway, STR("default"), STR("f"), &req, &inner_events, (void *)(uintptr_t)i,
                       &inner[i], &err) == 0)
        inner_starts[i]++;
    else
        inner[i] = NULL;
}

static void step(void)
{
    switch (random_below(16)) {
    case 0:
    case 1:
        act_as_plane();
        break;
    case 2:
        pass(random_below(400));
        break;
    case 3:
        act_inside();
        break;
    case 4 ... 8:
        act_as_client();
        break;
    default:
        act_as_sandbox();
    }
    check_limits();
    turns(1 + (int)random_below(3));
    check_limits();
}

TEST(every_request_ends_and_no_limit_is_passed)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    plane = (struct plane){ .dialer = { &plane_dialer_ops } };
    sandboxes = (struct rig_invoker){ .invoker = { rig_start } };
    const struct gateway_opts opts = { .loop = &loop,
                                       .name = "g1",
                                       .dialer = &plane.dialer,
                                       .local = &sandboxes.invoker,
                                       .local_worker = "w" };
    CHECK_OK(gateway_start(&opts, &gateway, &err));
    for (int i = 0; i < 2; i++) {
        const struct http_client_opts c = {
            .host = "127.0.0.1", .port = gateway_port(gateway), .max_connections = 100, .http2 = i
        };
        CHECK_OK(http_client_new(&loop, &c, &http[i], &err));
    }
    term = 1;
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < CLIENTS; i++)
        if (answers[i].call) {
            exchange_resume(answers[i].call);
            if (is_open[i])
                exchange_end_body(answers[i].call, NULL);
        }
    gateway_stop(gateway, 2000, on_stopped, NULL);
    timer_start(&loop, &rig_guard, 60000, rig_on_guard);
    while (!stopped) {
        while (sandboxes.running.n && !running(0)->canceled)
            end(running(0), -ECONNRESET, NULL);
        (void)loop_turn(&loop, true);
    }
    timer_stop(&loop, &rig_guard);
    for (int i = 0; i < CLIENTS; i++) {
        WAIT_FOR(!answers[i].call);
        CHECK(answers[i].ends <= 1);
        answer_reset(&answers[i]);
    }
    for (int i = 0; i < 4; i++)
        CHECK_INT(inner_ends[i], inner_starts[i]);
    http_client_close(http[0]);
    http_client_close(http[1]);
    plane_fini(&plane);
    loop_run(&loop);
    CHECK_INT(sandboxes.running.n, 0);
    vec_fini(&sandboxes.running);
    loop_fini(&loop);
}

TEST_MAIN
