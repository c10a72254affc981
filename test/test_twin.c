/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twins: the same history in one instance that is dissolved and resumed between all events and in
 * one that is not put to sleep. Every line they print, checksums over all of their state among
 * them, must be equal.
 */
#include "guest_rig.h"

enum { EVENTS = 60, LARGE = 200 << 10 };

struct pair {
    struct actor sleeper, waker;
};

/* The same completion for both; the payload is what the test's randomness made. */
static void deliver_both(struct pair *p, struct guest_delivery d)
{
    struct actor *both[] = { &p->sleeper, &p->waker };
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(guest_deliver(both[i]->guest, &d, NULL));
    for (size_t i = 0; i < 2; i++)
        WAIT(both[i]->rig, actor_is_idle(both[i]));
}

static void random_event(struct pair *p, size_t large)
{
    static char payload[LARGE];
    struct rig_op *op = NULL;
    vec_each (candidate, &p->sleeper.ops)
        if (!candidate->is_completed)
            op = candidate;
    CHECK(op);
    struct guest_delivery d = { .id = op->op.id };
    if (test_random_below(3) == 0) {
        d.null = d.finished = d.last = true;
        op->is_completed = true;
    } else {
        size_t n = test_random_below(20) == 0 ? large : test_random_below(300);
        for (size_t i = 0; i < n; i++)
            payload[i] = (char)test_random();
        d.payload = str_n(payload, n);
    }
    deliver_both(p, d);
}

static void random_activation(struct pair *p, uint64_t token, size_t large)
{
    static char payload[LARGE];
    size_t n = test_random_below(20) == 0 ? large : test_random_below(300);
    for (size_t i = 0; i < n; i++)
        payload[i] = (char)test_random();
    struct actor *both[] = { &p->sleeper, &p->waker };
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(guest_activate(both[i]->guest, token, str_n(payload, n), NULL));
    for (size_t i = 0; i < 2; i++)
        WAIT(both[i]->rig, both[i]->dones == token && actor_is_idle(both[i]));
    CHECK(str_eq(buf_str(&p->sleeper.reported), buf_str(&p->waker.reported)));
}

static void check_equal(const struct pair *p, unsigned event)
{
    if (!str_eq(buf_str(&p->sleeper.log), buf_str(&p->waker.log)))
        TEST_FAIL("after %u events:\n%s---\n%s", event, buf_cstr(&p->sleeper.log),
                  buf_cstr(&p->waker.log));
    CHECK_INT(p->sleeper.ops.n, p->waker.ops.n);
    CHECK_INT(p->sleeper.states[GUEST_FAILED], 0);
    CHECK_INT(actor_stats(&p->sleeper).memory_bytes, actor_stats(&p->waker).memory_bytes);
}

static void run_twins(const char *name, enum guest_abi abi, bool force_pagemap)
{
    bool is_small = strcmp(name, "table-g2") == 0; /* has one page */
    struct rig r;
    struct pair p = { 0 };
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000, .force_pagemap = force_pagemap });
    struct module *m = rig_module(&r, name);
    struct guest_spec spec = { .module = m, .abi = abi };
    actor_open(&p.sleeper, &r, spec);
    actor_open(&p.waker, &r, spec);
    WAIT(&r, actor_is_idle(&p.sleeper) && actor_is_idle(&p.waker));
    for (unsigned i = 0; i < EVENTS; i++) {
        actor_sleep(&p.sleeper);
        if (abi == GUEST_ABI_V1)
            random_activation(&p, 1 + i, LARGE);
        else
            random_event(&p, is_small ? 300 : LARGE);
        check_equal(&p, i);
    }
    CHECK_INT(actor_stats(&p.sleeper).suspends, EVENTS);
    /* Not 0: memory pressure, and leaving a runner as a slow guest, put it to sleep, too. */
    CHECK(actor_stats(&p.waker).suspends <= EVENTS / 20);
    CHECK(p.sleeper.lines >= EVENTS);
    actor_close(&p.sleeper);
    actor_close(&p.waker);
    module_unref(m);
    rig_close(&r);
}

static void run_both_methods(const char *name, enum guest_abi abi)
{
    run_twins(name, abi, false);
    run_twins(name, abi, true);
}

TEST(twins_in_c_with_abi_g1)
{
    run_both_methods("twin-g1", GUEST_ABI_G1);
}

TEST(twins_in_c_with_abi_g2)
{
    run_both_methods("twin-g2", GUEST_ABI_G2);
}

/* Each of its events makes a call that parks it. */
TEST(twins_in_c_with_abi_v1)
{
    run_both_methods("twin-v1", GUEST_ABI_V1);
}

TEST(twins_in_rust)
{
    if (!rig_has_module("rust-g2"))
        SKIP("no rust-g2.wasm");
    run_both_methods("rust-g2", GUEST_ABI_G2);
}

TEST(twins_in_go)
{
    if (!rig_has_module("go-g2"))
        SKIP("no go-g2.wasm");
    run_both_methods("go-g2", GUEST_ABI_G2);
}

/* Its memory is paged out under a living instance. */
TEST(twins_that_cannot_be_dissolved)
{
    if (!rig_has_module("table-g2"))
        SKIP("no table-g2.wasm");
    run_both_methods("table-g2", GUEST_ABI_G2);
}

TEST_MAIN
