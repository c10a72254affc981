/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gateways and workers may say to the control plane, in any order: nothing of it breaks the
 * books. Input: steps of a byte that says what happens, a byte that says how many bytes belong to
 * it, and these.
 */
#include "fuzz.h"

#include "codec/json.h"
#include "fn/control/plane.h"
#include "fn/stream_impl.h"

#include <stdio.h>

enum { PEERS = 2, FUNCTIONS = 4, STEPS_MAX = 200 };

struct peer {
    struct fn_stream *s;
    bool is_worker;
};

static struct {
    struct loop loop;
    struct plane *plane;
    struct peer peers[PEERS * 2]; /* workers, then gateways */
    uint32_t numbers[FUNCTIONS];
} f;

static void on_change(void *arg, uint32_t function)
{
}

static void on_resolve(void *arg, uint32_t function, uint32_t revision)
{
}

static void on_deposed(void *arg)
{
}

static void on_created(void *arg, const struct plane_created *c)
{
}

static const struct plane_ops plane_ops = { .on_change = on_change,
                                            .on_resolve = on_resolve,
                                            .on_deposed = on_deposed,
                                            .on_created = on_created };

/* A worker makes at once what it is told to make. */
static void on_order(void *arg, const ProtobufCMessage *message)
{
    struct peer *peer = arg;
    const Dormouse__Fn__V1__WorkerOrder *m = (const Dormouse__Fn__V1__WorkerOrder *)message;
    for (size_t i = 0; peer->is_worker && i < m->n_creates; i++) {
        Dormouse__Fn__V1__WorkerReport r = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
        Dormouse__Fn__V1__Created c = DORMOUSE__FN__V1__CREATED__INIT, *at = &c;
        c.sandbox = m->creates[i]->sandbox;
        c.address = (char *)"127.0.0.1:1";
        r.created = &at;
        r.n_created = 1;
        if (c.sandbox % 3)
            fn_stream_send(peer->s, &r.base);
    }
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct peer *peer = arg;
    fn_stream_close(take_ptr(&peer->s));
}

static const struct fn_stream_ops ops = { .on_message = on_order, .on_end = on_end };

static const ProtobufCMessageDescriptor *report_of(const struct peer *peer)
{
    return peer->is_worker ? &dormouse__fn__v1__worker_report__descriptor
                           : &dormouse__fn__v1__gateway_report__descriptor;
}

static void dial(struct peer *peer)
{
    struct fn_stream *theirs;
    fn_stream_close(take_ptr(&peer->s));
    fn_stream_pair(&f.loop,
                   peer->is_worker ? &dormouse__fn__v1__worker_order__descriptor
                                   : &dormouse__fn__v1__gateway_order__descriptor,
                   report_of(peer), &peer->s, &theirs);
    fn_stream_set(peer->s, &ops, peer);
    (void)snprintf(theirs->from, sizeof theirs->from, "127.0.0.1");
    if (peer->is_worker)
        plane_accept_worker(f.plane, theirs, false);
    else
        plane_accept_gateway(f.plane, theirs, false);
}

static void say(struct peer *peer, struct str bytes)
{
    ProtobufCMessage *m =
        protobuf_c_message_unpack(report_of(peer), NULL, bytes.n, (const uint8_t *)bytes.p);
    if (m && peer->s)
        fn_stream_send(peer->s, m);
    if (m)
        protobuf_c_message_free_unpacked(m, NULL);
}

static void set_function(uint8_t which, uint8_t how)
{
    static const char *const specs[] = {
        "{\"fake\":{}}", "{\"fake\":{},\"scale\":{\"min\":2,\"initial\":1}}",
        ("{\"fake\":{\"createMilliseconds\":3},\"traffic\":[{\"revision\":1,\"percent\":50},"
         "{\"percent\":50}]}"),
        "{\"fake\":{},\"concurrency\":{\"limit\":4},\"scale\":{\"max\":3}}"
    };
    static const char *const templates[] = { "{\"fake\":{}}",
                                             "{\"fake\":{\"createMilliseconds\":3}}" };
    struct arena a = { 0 };
    struct json *json;
    struct fn_spec spec;
    char name[8];
    (void)snprintf(name, sizeof name, "f%u", which % FUNCTIONS);
    FUZZ_CHECK(json_parse(&a, str_of(specs[how % 4]), NULL, &json, NULL) >= 0);
    FUZZ_CHECK(fn_spec_read(&a, json, &spec, NULL) >= 0);
    struct plane_revision revisions[] = {
        { 1, str_of(templates[0]), how & 8 },
        { 2, str_of(templates[1]), how & 16 },
    };
    struct plane_function in = { .uid = str_of(name),
                                 .namespace = how & 32 ? STR("a") : STR("b"),
                                 .name = str_of(name),
                                 .generation = how,
                                 .spec = &spec,
                                 .spec_json = str_of(specs[how % 4]),
                                 .revisions = revisions,
                                 .n_revisions = how & 64 ? 2 : 1 };
    int r = plane_set_function(f.plane, &in, NULL);
    if (r > 0)
        f.numbers[which % FUNCTIONS] = (uint32_t)r;
    arena_fini(&a);
}

static void set_policy(uint8_t how)
{
    struct plane_policy policy = { .sandboxes = how % 5, .memory = UINT64_MAX };
    plane_set_policy(f.plane, how & 128 ? STR("a") : STR("b"), how & 64 ? NULL : &policy);
}

static void step(uint8_t what, struct str bytes)
{
    uint8_t first = bytes.n ? (uint8_t)bytes.p[0] : 0;
    if (what < 128)
        say(&f.peers[what % 4], bytes);
    else if (what < 160)
        dial(&f.peers[what % 4]);
    else if (what < 190)
        set_function(what, first);
    else if (what < 200)
        plane_drop_function(f.plane, f.numbers[what % FUNCTIONS]);
    else if (what < 210)
        fn_stream_close(take_ptr(&f.peers[what % 4].s));
    else if (what < 220)
        set_policy(first);
    else if (what == 220)
        plane_follow(f.plane, "10.0.0.1:1");
    else if (what == 221)
        plane_lead(f.plane, plane_term(f.plane) + 1);
    else if (what == 222)
        plane_expect(f.plane);
    else if (what < 240)
        loop_skip(&f.loop, first * 20);
    else
        loop_skip(&f.loop, 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct rd r = rd_init(data, n);
    FUZZ_CHECK(loop_init(&f.loop, NULL) >= 0);
    struct plane_opts opts = { .loop = &f.loop, .name = "p", .ops = &plane_ops };
    f.plane = plane_new(&opts);
    plane_lead(f.plane, 1);
    for (size_t i = 0; i < PEERS * 2; i++)
        f.peers[i].is_worker = i < PEERS;
    for (int steps = 0; rd_left(&r) && steps < STEPS_MAX; steps++) {
        uint8_t what = rd_u8(&r), size = rd_u8(&r);
        step(what, rd_str(&r, MIN(size, rd_left(&r))));
        for (int turns = 0; turns < 4; turns++)
            (void)loop_turn(&f.loop, false);
        plane_check(f.plane);
    }
    plane_free(f.plane);
    for (size_t i = 0; i < PEERS * 2; i++)
        fn_stream_close(take_ptr(&f.peers[i].s));
    while (loop_turn(&f.loop, false))
        ;
    loop_fini(&f.loop);
    memset(f.numbers, 0, sizeof f.numbers);
    return 0;
}
