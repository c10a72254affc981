/* SPDX-License-Identifier: Apache-2.0 */
/* The admission chain: order, waiting, refusals, transactions that lose. */
#include "api_fixture.h"

#include "api/admission.h"
#include "base/mem.h"

/* ------------------------------------------------------------------ a chain without a server */

struct bench {
    struct api api;
    struct admission_chain chain;
    struct request rq;
    struct kube_resource res;
    struct admission ad;
    struct buf trace; /* "read:a apply:b " */
    unsigned n_done;
    struct json *no; /* that done() got */
};

/* One stage of the table below. */
struct probe {
    struct bench *b;
    const char *name;
    bool is_unwanted, waits_in_read, waits_in_apply, waits_in_lost, refuses;
};

struct probe_state {
    unsigned calls; /* of this attempt */
};

static void note(const struct probe *p, const char *what)
{
    CHECK_OK(buf_printf(&p->b->trace, "%s:%s ", what, p->name));
}

static bool probe_wanted(void *self, const struct admission *ad)
{
    const struct probe *p = self;
    CHECK(ad == &p->b->ad);
    return !p->is_unwanted;
}

static struct json *probe_read(void *self, struct admission *ad, void *state)
{
    const struct probe *p = self;
    struct probe_state *s = state;
    note(p, "read");
    CHECK_INT(s->calls, 0);
    s->calls++;
    if (p->waits_in_read)
        admission_wait(ad);
    return NULL;
}

static struct json *probe_apply(void *self, struct admission *ad, void *state)
{
    const struct probe *p = self;
    const struct probe_state *s = state;
    note(p, "apply");
    CHECK_INT(s->calls, 1);
    if (p->waits_in_apply)
        admission_wait(ad);
    return p->refuses ? status_forbidden(&ad->rq->arena, STR(""), STR("x"), STR("y"), STR("no"))
                      : NULL;
}

static int probe_writes(void *self, struct admission *ad, void *state, struct store_op *ops,
                        size_t *n, struct err *err)
{
    const struct probe *p = self;
    (void)ad;
    (void)state;
    (void)err;
    note(p, "writes");
    ops[(*n)++] = (struct store_op){ .kind = STORE_CHECK, .key = str_of(p->name) };
    ops[(*n)++] = (struct store_op){ .kind = STORE_CHECK, .key = str_of(p->name) };
    return 0;
}

static struct json *probe_lost(void *self, struct admission *ad, void *state, size_t failed_op)
{
    const struct probe *p = self;
    (void)state;
    note(p, failed_op == 0 ? "lost0" : "lost1");
    if (p->waits_in_lost)
        admission_wait(ad);
    return ad->attempt < 3
               ? NULL
               : status_forbidden(&ad->rq->arena, STR(""), STR("x"), STR("y"), STR("lost"));
}

#define PROBE_STAGE(at, first)                                                                     \
    {                                                                                              \
        .name = "probe", .point = (at), .ops = ADMISSION_ON(ADMISSION_CREATE),                     \
        .state_bytes = sizeof(struct probe_state), .wanted = probe_wanted, .read = probe_read,     \
        .apply = probe_apply, .writes = probe_writes, .lost = probe_lost, .writes_first = (first)  \
    }
static const struct admission_stage taken = PROBE_STAGE(ADMISSION_TAKEN, false),
                                    shaped = PROBE_STAGE(ADMISSION_SHAPED, false),
                                    early = PROBE_STAGE(ADMISSION_VALIDATED, true);

static void on_bench_done(struct admission *ad, struct json *no)
{
    struct bench *b = container_of(ad, struct bench, ad);
    b->n_done++;
    b->no = no;
}

static void bench_init(struct bench *b)
{
    *b = (struct bench){ .trace = BUF_INIT(BUF_MAX_DEFAULT) };
    b->api.chain = &b->chain;
    b->rq.api = &b->api;
    b->rq.res = &b->res;
    b->ad = (struct admission){ .rq = &b->rq, .op = ADMISSION_CREATE, .done = on_bench_done };
}

static void bench_fini(struct bench *b)
{
    arena_fini(&b->rq.arena);
    buf_fini(&b->trace);
}

TEST(stages_run_by_point_then_in_the_order_of_registration)
{
    struct bench b;
    bench_init(&b);
    struct probe late = { .b = &b, .name = "late" }, one = { .b = &b, .name = "one" },
                 two = { .b = &b, .name = "two" },
                 none = { .b = &b, .name = "none", .is_unwanted = true };
    struct json *no;
    admission_register(&b.chain, &shaped, &late);
    admission_register(&b.chain, &taken, &one);
    admission_register(&b.chain, &taken, &none);
    admission_register(&b.chain, &taken, &two);
    admission_begin(&b.ad);
    CHECK(admission_run(&b.ad, ADMISSION_READ, &no) && !no);
    CHECK_STR(buf_str(&b.trace), "read:one read:two read:late ");
    buf_reset(&b.trace);
    CHECK(admission_run(&b.ad, ADMISSION_PREPARED, &no) && !no);
    CHECK_STR(buf_str(&b.trace), "apply:one apply:two ");
    CHECK(admission_run(&b.ad, ADMISSION_SHAPED, &no) && !no);
    CHECK_STR(buf_str(&b.trace), "apply:one apply:two apply:late ");
    buf_reset(&b.trace);
    b.ad.op = ADMISSION_DELETE; /* that nobody is registered for */
    admission_begin(&b.ad);
    CHECK(admission_run(&b.ad, ADMISSION_SHAPED, &no) && !no);
    CHECK_STR(buf_str(&b.trace), "");
    CHECK_INT(b.n_done, 0);
    bench_fini(&b);
}

TEST(a_refusal_ends_the_chain)
{
    struct bench b;
    bench_init(&b);
    struct probe one = { .b = &b, .name = "one", .refuses = true },
                 two = { .b = &b, .name = "two" };
    struct json *no;
    admission_register(&b.chain, &taken, &one);
    admission_register(&b.chain, &taken, &two);
    admission_begin(&b.ad);
    CHECK(admission_run(&b.ad, ADMISSION_SHAPED, &no));
    CHECK_INT(status_code(no), 403);
    CHECK_STR(buf_str(&b.trace), "read:one read:two apply:one ");
    CHECK_INT(b.n_done, 0);
    bench_fini(&b);
}

TEST(a_stage_may_wait_wherever_it_runs)
{
    struct bench b;
    bench_init(&b);
    struct probe one = { .b = &b, .name = "one", .waits_in_read = true, .waits_in_apply = true },
                 two = { .b = &b, .name = "two", .waits_in_apply = true };
    struct json *no;
    admission_register(&b.chain, &taken, &one);
    admission_register(&b.chain, &taken, &two);
    admission_begin(&b.ad);
    CHECK(!admission_run(&b.ad, ADMISSION_TAKEN, &no) && !no);
    CHECK_STR(buf_str(&b.trace), "read:one ");
    admission_continue(&b.ad, NULL);
    CHECK_STR(buf_str(&b.trace), "read:one read:two apply:one ");
    CHECK_INT(b.n_done, 0);
    admission_continue(&b.ad, NULL);
    CHECK_STR(buf_str(&b.trace), "read:one read:two apply:one apply:two ");
    CHECK_INT(b.n_done, 0);
    admission_continue(&b.ad, NULL);
    CHECK_INT(b.n_done, 1);
    CHECK(!b.no);
    CHECK(admission_run(&b.ad, ADMISSION_SHAPED, &no) && !no);
    CHECK_INT(b.n_done, 1);
    bench_fini(&b);
}

TEST(a_waiting_stage_may_refuse)
{
    struct bench b;
    bench_init(&b);
    struct probe one = { .b = &b, .name = "one", .waits_in_apply = true },
                 two = { .b = &b, .name = "two" };
    struct json *no;
    admission_register(&b.chain, &taken, &one);
    admission_register(&b.chain, &taken, &two);
    admission_begin(&b.ad);
    CHECK(!admission_run(&b.ad, ADMISSION_SHAPED, &no));
    admission_continue(&b.ad, status_unavailable(&b.rq.arena, STR("no answer")));
    CHECK_INT(b.n_done, 1);
    CHECK_INT(status_code(b.no), 503);
    CHECK_STR(buf_str(&b.trace), "read:one read:two apply:one ");
    bench_fini(&b);
}

TEST(a_lost_comparison_is_asked_of_its_stage)
{
    struct bench b;
    bench_init(&b);
    struct probe first = { .b = &b, .name = "first" },
                 last = { .b = &b, .name = "last", .waits_in_lost = true };
    struct json *no;
    struct store_op ops[STORE_TXN_MAX_OPS];
    size_t n = 0;
    admission_register(&b.chain, &taken, &last);
    admission_register(&b.chain, &early, &first);
    for (b.ad.attempt = 0; b.ad.attempt < 3;) {
        n = 0;
        admission_begin(&b.ad);
        CHECK(admission_run(&b.ad, ADMISSION_SHAPED, &no) && !no);
        buf_reset(&b.trace);
        CHECK_OK(admission_writes(&b.ad, true, ops, &n, NULL));
        ops[n++] = (struct store_op){ .kind = STORE_PUT, .key = STR("object") };
        CHECK_OK(admission_writes(&b.ad, false, ops, &n, NULL));
        CHECK_STR(buf_str(&b.trace), "writes:first writes:last ");
        CHECK_INT(n, 5);
        CHECK_STR(ops[1].key, "first");
        CHECK_STR(ops[3].key, "last");
        CHECK(admission_owns(&b.ad, 1) && !admission_owns(&b.ad, 2) && admission_owns(&b.ad, 4));
        CHECK(!admission_owns(&b.ad, 5));
        b.ad.attempt++;
        buf_reset(&b.trace);
        CHECK(admission_lost(&b.ad, 1, &no));
        CHECK(b.ad.attempt < 3 ? !no : status_code(no) == 403);
        CHECK_STR(buf_str(&b.trace), "lost1:first ");
    }
    b.ad.attempt = 0;
    CHECK(!admission_lost(&b.ad, 3, &no));
    CHECK_INT(b.n_done, 0);
    admission_continue(&b.ad, NULL); /* asks nobody else */
    CHECK_INT(b.n_done, 1);
    CHECK(!b.no);
    bench_fini(&b);
}

/* ------------------------------------------------------------------ a stage of a real server */

/* As a webhook: it answers later, changes the object, and may refuse it. */
struct hook {
    struct fixture *f;
    unsigned n_calls, n_waiting, n_left;
    bool refuses;
    bool holds; /* the test starts its timer */
    struct hook_call *held;
};

struct hook_call {
    struct hook *hook;
    struct timer timer;
    struct admission *ad;
};

static void on_answered(struct timer *t)
{
    struct hook_call *c = container_of(t, struct hook_call, timer);
    struct hook *h = c->hook;
    struct admission *ad = c->ad;
    struct arena *a = &ad->rq->arena;
    free(c);
    h->n_waiting--;
    if (request_idle(ad->rq)) {
        h->n_left++;
        return;
    }
    if (ad->obj && ad->op == ADMISSION_CREATE)
        json_set_str(a, json_obj(a, json_obj(a, ad->obj, "metadata"), "labels"), "hooked",
                     STR("yes"));
    admission_continue(ad, h->refuses ? admission_forbid(ad, "the hook said no") : NULL);
}

static bool is_map(void *self, const struct admission *ad)
{
    (void)self;
    return admission_is_core(ad, "configmaps") && !str_is(ad->name, "kube-root-ca.crt");
}

static struct json *call_hook(void *self, struct admission *ad, void *state)
{
    struct hook *h = self;
    (void)state;
    struct hook_call *c = xnew(struct hook_call);
    *c = (struct hook_call){ .hook = h, .ad = ad };
    h->n_calls++;
    h->n_waiting++;
    request_busy(ad->rq);
    admission_wait(ad);
    if (h->holds)
        h->held = c;
    else
        timer_start(&h->f->loop, &c->timer, 1, on_answered);
    return NULL;
}

static const struct admission_stage mutating = { .name = "hook",
                                                 .point = ADMISSION_TAKEN,
                                                 .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                        ADMISSION_ON(ADMISSION_UPDATE) |
                                                        ADMISSION_ON(ADMISSION_DELETE),
                                                 .wanted = is_map,
                                                 .apply = call_hook };

TEST(an_asynchronous_stage_changes_what_is_written)
{
    struct fixture f;
    fixture_init(&f);
    struct hook h = { .f = &f };
    admission_register(f.api->chain, &mutating, &h);
    struct json *made = make_map(&f, "a", "b");
    CHECK_STR(json_str(json_path(made, "metadata", "labels", "hooked", NULL)), "yes");
    CHECK_INT(h.n_calls, 1);
    struct answer a = ask(&f, "PATCH", MAPS "/a", "application/merge-patch+json", NULL,
                          "{\"data\":{\"c\":\"d\"}}");
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    CHECK_INT(h.n_calls, 2);

    h.refuses = true;
    struct json *no = want(&f, 403, "DELETE", MAPS "/a", NULL);
    CHECK(str_find(json_get_str(no, "message"), STR("the hook said no")) > 0);
    want(&f, 403, "POST", MAPS, "{\"metadata\":{\"name\":\"e\"}}");
    want(&f, 404, "GET", MAPS "/e", NULL);
    CHECK_INT(h.n_calls, 4);

    h.refuses = false;
    make_map(&f, "b", "b");
    want(&f, 200, "DELETE", MAPS, NULL); /* asks about each object */
    CHECK_INT(h.n_calls, 7);
    fixture_fini(&f);
}

static void on_left_end(void *arg, int r, const struct err *err)
{
    (void)arg;
    (void)r;
    (void)err;
}

static const struct exchange_events left_events = { .on_end = on_left_end };

TEST(a_client_that_goes_while_a_stage_waits_writes_nothing)
{
    struct fixture f;
    fixture_init(&f);
    struct hook h = { .f = &f, .holds = true };
    struct exchange *call;
    struct headers headers = { 0 };
    admission_register(f.api->chain, &mutating, &h);
    (void)headers_addc(&headers, "content-type", "application/json");
    const struct kube_request req = { .method = STR("POST"),
                                      .target = STR(MAPS),
                                      .headers = &headers,
                                      .body = STR("{\"metadata\":{\"name\":\"gone\"}}") };
    CHECK_OK(transport_start(api_transport(f.api), &req, &left_events, NULL, &call, NULL));
    while (!h.n_waiting)
        loop_turn(&f.loop, true);
    exchange_cancel(call);
    loop_turn(&f.loop, false);
    timer_start(&f.loop, &h.held->timer, 0, on_answered);
    while (h.n_waiting)
        loop_turn(&f.loop, true);
    CHECK_INT(h.n_left, 1);
    headers_fini(&headers);
    want(&f, 404, "GET", MAPS "/gone", NULL);
    fixture_fini(&f);
}

TEST_MAIN
