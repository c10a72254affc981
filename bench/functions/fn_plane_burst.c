/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many sandboxes a second the control plane places: one process with the plane, N simulated
 * workers whose sandboxes take no time, and a gateway that says that one request of each of M
 * functions waits. Streams are pairs, so everything is encoded and decoded, but no socket is used.
 *
 *     fn-plane-burst WORKERS FUNCTIONS [ROUNDS]      prints one JSON object a round
 */
#include "base/clock.h"
#include "base/log.h"
#include "codec/json.h"
#include "fn/control/plane.h"
#include "fn/worker/simulate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

struct bench {
    struct loop loop;
    struct plane *plane;
    struct fn_simulation *simulation;
    struct fn_dialer dialer;
    struct fn_stream *gateway;
    uint32_t *numbers, n_functions;
    uint64_t endpoints;
    bool synced, stopped;
};

static struct fn_stream *dial(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                              const char *address)
{
    struct bench *b = container_of(d, struct bench, dialer);
    struct fn_stream *theirs, *ours;
    fn_stream_pair(&b->loop, in, &dormouse__fn__v1__worker_report__descriptor, &theirs, &ours);
    plane_accept_worker(b->plane, ours, true);
    return theirs;
}

static const struct fn_dialer_ops dialer_ops = { .dial = dial };

static void ignore_change(void *arg, uint32_t function)
{
}

static void ignore_resolve(void *arg, uint32_t function, uint32_t revision)
{
}

static void ignore_deposed(void *arg)
{
}

static void ignore_created(void *arg, const struct plane_created *c)
{
}

static const struct plane_ops plane_ops = { .on_change = ignore_change,
                                            .on_resolve = ignore_resolve,
                                            .on_deposed = ignore_deposed,
                                            .on_created = ignore_created };

static void on_order(void *arg, const ProtobufCMessage *message)
{
    struct bench *b = arg;
    const Dormouse__Fn__V1__GatewayOrder *m = (const Dormouse__Fn__V1__GatewayOrder *)message;
    if (m->endpoints)
        b->endpoints += m->endpoints->n_adds;
}

static void on_end(void *arg, int r, const struct err *err)
{
    abort();
}

static const struct fn_stream_ops gateway_ops = { .on_message = on_order, .on_end = on_end };

static void on_synced(void *arg)
{
    ((struct bench *)arg)->synced = true;
}

static void on_stopped(void *arg)
{
    ((struct bench *)arg)->stopped = true;
}

static void add_functions(struct bench *b)
{
    struct arena a = { 0 };
    struct json *json;
    struct fn_spec spec;
    struct str text = STR("{\"fake\":{}}");
    int r = json_parse(&a, text, NULL, &json, NULL);
    assert(r >= 0 && fn_spec_read(&a, json, &spec, NULL) >= 0);
    struct plane_revision one = { 1, text, false };
    b->numbers = xnew_n(uint32_t, b->n_functions);
    for (uint32_t i = 0; i < b->n_functions; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "f%u", i);
        struct plane_function f = { .uid = str_of(name),
                                    .namespace = STR("default"),
                                    .name = str_of(name),
                                    .generation = 1,
                                    .spec = &spec,
                                    .spec_json = text,
                                    .revisions = &one,
                                    .n_revisions = 1 };
        r = plane_set_function(b->plane, &f, NULL);
        assert(r > 0);
        b->numbers[i] = (uint32_t)r;
    }
    arena_fini(&a);
}

static void dial_gateway(struct bench *b)
{
    Dormouse__Fn__V1__GatewayReport m = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__GatewayHello hello = DORMOUSE__FN__V1__GATEWAY_HELLO__INIT;
    struct fn_stream *ours;
    fn_stream_pair(&b->loop, &dormouse__fn__v1__gateway_order__descriptor,
                   &dormouse__fn__v1__gateway_report__descriptor, &b->gateway, &ours);
    plane_accept_gateway(b->plane, ours, true);
    fn_stream_set(b->gateway, &gateway_ops, b);
    hello.name = (char *)"g";
    hello.address = (char *)"127.0.0.1:80";
    m.hello = &hello;
    fn_stream_send(b->gateway, &m.base);
}

/* One more request of every function waits. */
static void send_loads(struct bench *b, uint32_t waiting)
{
    Dormouse__Fn__V1__GatewayReport m = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__FunctionLoad *loads = xnew_n(Dormouse__Fn__V1__FunctionLoad, b->n_functions);
    m.loads = xnew_n(Dormouse__Fn__V1__FunctionLoad *, b->n_functions);
    for (uint32_t i = 0; i < b->n_functions; i++) {
        dormouse__fn__v1__function_load__init(&loads[i]);
        loads[i].function = b->numbers[i];
        loads[i].revision = 1;
        loads[i].queued = waiting;
        loads[i].arrived = waiting;
        m.loads[m.n_loads++] = &loads[i];
    }
    fn_stream_send(b->gateway, &m.base);
    free(m.loads);
    free(loads);
}

static double cpu_s(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void drop_functions(struct bench *b)
{
    struct plane_counts n;
    for (uint32_t i = 0; i < b->n_functions; i++)
        plane_drop_function(b->plane, b->numbers[i]);
    do {
        (void)loop_turn(&b->loop, false);
        plane_count(b->plane, &n);
    } while (n.ready + n.creating + n.draining);
    free(b->numbers);
}

int main(int argc, char **argv)
{
    uint64_t workers = 1000, functions = 10000, rounds = 3;
    struct bench b = { .dialer = { &dialer_ops } };
    if (argc < 3 || parse_u64(str_of(argv[1]), 1, SIMULATION_WORKERS_MAX, &workers) < 0 ||
        parse_u64(str_of(argv[2]), 1, PLANE_FUNCTIONS_MAX / 2, &functions) < 0 ||
        (argc > 3 && parse_u64(str_of(argv[3]), 1, 100, &rounds) < 0)) {
        (void)fprintf(stderr, "usage: fn-plane-burst WORKERS FUNCTIONS [ROUNDS]\n");
        return 2;
    }
    log_setup(LOG_ERROR, LOG_TEXT);
    if (loop_init(&b.loop, NULL) < 0)
        return 1;
    struct plane_opts plane = { .loop = &b.loop, .name = "bench", .ops = &plane_ops, .arg = &b };
    b.plane = plane_new(&plane);
    plane_lead(b.plane, 1);
    b.n_functions = (uint32_t)functions;
    struct fn_simulation_opts sim = { .loop = &b.loop,
                                      .dialer = &b.dialer,
                                      .n_workers = (uint32_t)workers,
                                      .prefix = "w",
                                      .incarnation = 1,
                                      .address = "127.0.0.1:7000",
                                      .cpu_milli = 1000000,
                                      .memory_bytes = UINT64_C(1) << 40,
                                      .on_synced = on_synced,
                                      .arg = &b };
    if (simulate_start(&sim, &b.simulation, NULL) < 0)
        return 1;
    dial_gateway(&b);
    while (!b.synced)
        (void)loop_turn(&b.loop, true);
    for (uint64_t i = 0; i < rounds; i++) {
        add_functions(&b);
        (void)loop_turn(&b.loop, false);
        b.endpoints = 0;
        uint64_t began = clock_mono_ns();
        double cpu = cpu_s();
        send_loads(&b, 1);
        while (b.endpoints < functions)
            (void)loop_turn(&b.loop, true);
        double took = (double)(clock_mono_ns() - began) / 1e9;
        cpu = cpu_s() - cpu;
        (void)printf("{\"workers\":%" PRIu64 ",\"functions\":%" PRIu64
                     ",\"seconds\":%.4f,\"per_second\":%.0f,\"cpu_us\":%.2f}\n",
                     workers, functions, took, (double)functions / took,
                     cpu * 1e6 / (double)functions);
        drop_functions(&b);
    }
    simulate_stop(b.simulation, on_stopped, &b);
    while (!b.stopped)
        (void)loop_turn(&b.loop, true);
    plane_free(b.plane);
    fn_stream_close(b.gateway);
    while (loop_turn(&b.loop, false))
        ;
    loop_fini(&b.loop);
    return 0;
}
