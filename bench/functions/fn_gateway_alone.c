/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fn-gateway-alone: a gateway and nothing else, to see what proxying a request and holding a
 * function costs. `fn-gateway-alone FUNCTIONS ADDRESS...`: functions f0, f1, ... of the namespace
 * default; the first has sandboxes at these addresses (host:port), each without a limit of
 * requests. Prints "ready port=N pss_kib=N" and serves until it is told to end; the control plane
 * is a stream in the same process that says this much and listens.
 */
#include "fn/fn.pb-c.h"
#include "fn/gateway/gateway.h"

#include "base/mem.h"

#include <signal.h>
#include <stdio.h>

static struct loop loop;
static struct gateway *gateway;
static struct fn_stream *ours;
static unsigned n_functions;
static char **addresses;
static size_t n_addresses;

static unsigned long long pss_kib(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    while (f && fgets(line, sizeof line, f))
        if (str_has_prefix(str_of(line), STR("Pss:")))
            (void)parse_u64(str_trim(str_slice(str_of(line), 4, strcspn(line, "k"))), 0, UINT64_MAX,
                            (uint64_t *)&kib);
    if (f)
        (void)fclose(f);
    return kib;
}

static void say_functions(unsigned from, unsigned to, Dormouse__Fn__V1__GatewayOrder *o)
{
    static const char spec[] = "{\"fake\":{},\"concurrency\":{\"limit\":0}}";
    struct arena a = { 0 };
    o->functions = arena_new_n(&a, Dormouse__Fn__V1__Function *, to - from + 1);
    for (unsigned i = from; i < to; i++) {
        Dormouse__Fn__V1__Function *f = arena_new(&a, Dormouse__Fn__V1__Function);
        Dormouse__Fn__V1__Revision *r = arena_new(&a, Dormouse__Fn__V1__Revision);
        dormouse__fn__v1__function__init(f);
        dormouse__fn__v1__revision__init(r);
        r->revision = 1;
        f->function = i + 1;
        f->uid = (char *)"u";
        f->namespace_ = (char *)"default";
        f->name = arena_printf(&a, "f%u", i);
        f->spec = (ProtobufCBinaryData){ sizeof spec - 1, (uint8_t *)spec };
        f->revisions = arena_new(&a, Dormouse__Fn__V1__Revision *);
        f->revisions[f->n_revisions++] = r;
        o->functions[o->n_functions++] = f;
    }
    o->more = to < n_functions;
    fn_stream_send(ours, &o->base);
    arena_fini(&a);
}

static void on_message(void *arg, const ProtobufCMessage *m)
{
    if (!((const Dormouse__Fn__V1__GatewayReport *)m)->hello)
        return;
    Dormouse__Fn__V1__Welcome w = DORMOUSE__FN__V1__WELCOME__INIT;
    w.term = 1;
    for (unsigned from = 0; from < n_functions; from += 1000) {
        Dormouse__Fn__V1__GatewayOrder o = DORMOUSE__FN__V1__GATEWAY_ORDER__INIT;
        o.welcome = from ? NULL : &w;
        o.functions_are_all = from == 0;
        say_functions(from, MIN(from + 1000, n_functions), &o);
    }
    Dormouse__Fn__V1__GatewayOrder o = DORMOUSE__FN__V1__GATEWAY_ORDER__INIT;
    Dormouse__Fn__V1__EndpointUpdate u = DORMOUSE__FN__V1__ENDPOINT_UPDATE__INIT;
    struct arena a = { 0 };
    u.adds = arena_new_n(&a, Dormouse__Fn__V1__Endpoint *, n_addresses + 1);
    for (size_t i = 0; i < n_addresses; i++) {
        Dormouse__Fn__V1__Endpoint *e = arena_new(&a, Dormouse__Fn__V1__Endpoint);
        dormouse__fn__v1__endpoint__init(e);
        e->sandbox = i + 1;
        e->function = e->revision = 1;
        e->address = addresses[i];
        u.adds[u.n_adds++] = e;
    }
    u.is_all = true;
    u.version = 1;
    o.endpoints = &u;
    fn_stream_send(ours, &o.base);
    arena_fini(&a);
}

static void on_end(void *arg, int r, const struct err *err)
{
    fn_stream_close(ours);
}

static const struct fn_stream_ops ops = { .on_message = on_message, .on_end = on_end };

static struct fn_stream *dial(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                              const char *address)
{
    struct fn_stream *theirs;
    fn_stream_pair(&loop, in, &dormouse__fn__v1__gateway_report__descriptor, &theirs, &ours);
    fn_stream_set(ours, &ops, NULL);
    return theirs;
}

static void on_rest(struct timer *t)
{
    (void)printf("ready port=%u pss_kib=%llu\n", gateway_port(gateway), pss_kib());
    (void)fflush(stdout);
}

static void on_synced(void *arg)
{
    static struct timer rest;
    timer_start(&loop, &rest, 500, on_rest);
}

static void on_stopped(void *arg)
{
    loop_stop(&loop);
}

static void on_term(struct sig_watch *w, int signum)
{
    gateway_stop(gateway, 100, on_stopped, NULL);
}

int main(int argc, char **argv)
{
    static const struct fn_dialer_ops dialer_ops = { .dial = dial };
    struct fn_dialer dialer = { &dialer_ops };
    struct sig_watch term;
    struct err err = { 0 };
    uint64_t n;
    if (argc < 2 || parse_u64(str_of(argv[1]), 1, 100000, &n) < 0) {
        (void)fprintf(stderr, "usage: %s FUNCTIONS ADDRESS...\n", argv[0]);
        return 2;
    }
    n_functions = (unsigned)n;
    addresses = argv + 2;
    n_addresses = (size_t)argc - 2;
    const struct gateway_opts opts = {
        .loop = &loop, .name = "g1", .dialer = &dialer, .on_synced = on_synced
    };
    if (loop_init(&loop, &err) < 0 || gateway_start(&opts, &gateway, &err) < 0 ||
        sig_watch_start(&loop, &term, SIGTERM, true, on_term, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err_text(&err));
        return 1;
    }
    loop_run(&loop);
    return 0;
}
