/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest in a real runner when a call of the main process fails: start the runner, load the guest,
 * call it, let it sleep, wake it, end it. Calls in the child before its program begins fail too.
 *
 * What must hold: an activation ends, or its incarnation does and says why; a guest that is still
 * in its incarnation has its memory; after the failure the same guest works again, by its back-off
 * if it must; no process stays behind.
 */
#include "guest_rig.h"
#include "torture.h"

enum {
    ATTEMPTS_FAILING = 3,
    ATTEMPTS_MAX = 8,
    SKIPS_FAILING = 20,
    SKIPS_MAX = 100000,
    BIG_BYTES = 200 << 10
};

static struct actor who;

/* What was acknowledged: the incarnation in which the guest was made to keep a number, and that. */
static struct {
    bool is_set;
    uint32_t incarnation;
} kept;

static unsigned skips; /* of time, since the scenario has begun */

/*
 * Wait for a runner where one has something to do; else virtual time passes to the next timer.
 * After some of these calls work again.
 */
static void turn(void)
{
    struct loop *loop = &who.rig->loop;
    struct guest_host_stats stats;
    guest_host_get_stats(who.rig->host, &stats);
    uint64_t due_ms = loop_next_timer_ms(loop), now_ms = loop_now_ms(loop);
    bool is_stuck = stats.commands == 0 && loop_is_idle(loop) && due_ms != UINT64_MAX;
    if (is_stuck) {
        if (++skips == SKIPS_FAILING)
            torture_off();
        CHECK(skips < SKIPS_MAX);
    }
    if (is_stuck && due_ms > now_ms)
        loop_skip(loop, due_ms - now_ms);
    (void)loop_turn(loop, !is_stuck);
}

static bool is_settled(void)
{
    enum guest_state s = actor_state(&who);
    return s == GUEST_FAILED || actor_is_idle(&who);
}

/* Virtual time passes until it is tried again; after some attempts calls work again. */
static void pass_back_off(unsigned *attempts)
{
    if (++*attempts == ATTEMPTS_FAILING)
        torture_off();
    CHECK(*attempts < ATTEMPTS_MAX);
    loop_skip(&who.rig->loop, GUEST_BACKOFF_MAX_MS + 1);
    while (actor_state(&who) == GUEST_FAILED)
        turn();
}

/* An activation that was accepted is carried out, unless it ends with its incarnation. */
static bool did_activate(uint64_t token, struct str words)
{
    unsigned dones = who.dones, attempts = 0;
    uint32_t incarnation = actor_stats(&who).incarnation;
    struct err err = { 0 };
    int r = guest_activate(who.guest, token, words, &err);
    CHECK(r >= 0 || torture_failed());
    while (r >= 0 && who.dones == dones && actor_stats(&who).incarnation == incarnation) {
        if (actor_state(&who) == GUEST_FAILED)
            pass_back_off(&attempts);
        else
            turn();
    }
    bool is_done = r >= 0 && who.dones > dones;
    if (!is_done) {
        CHECK(torture_failed());
        if (r >= 0)
            CHECK(who.why.code < 0 && who.why.text[0]);
    }
    return is_done;
}

/* A parked call whose answer is as long as the number that the guest keeps from then on. */
static void keep_number(void)
{
    if (did_activate(1, STR("get:12345 fail:kept")))
        kept = (__typeof__(kept)){ true, actor_stats(&who).incarnation };
}

static void check_number(void)
{
    buf_reset(&who.reported);
    if (!did_activate(2, STR("value")))
        return;
    bool is_same = kept.is_set && actor_stats(&who).incarnation == kept.incarnation;
    CHECK(actor_reported(&who, is_same ? "done 2 0 5\n" : "done 2 0 0\n"));
}

/* must: nothing fails any more. Else a guest that cannot sleep says so, once for each reason. */
static void sleep_now(bool must)
{
    while (!is_settled())
        turn();
    if (actor_state(&who) != GUEST_AWAKE)
        return;
    CHECK_OK(guest_sleep(who.guest));
    while (actor_state(&who) == GUEST_AWAKE && (must || !who.kept_awake))
        turn();
    for (int i = 0; i < 3;
         i++) /* kept awake for the same reason as before, which it does not repeat */
        (void)loop_turn(&who.rig->loop, false);
    while (actor_state(&who) == GUEST_RUNNING)
        turn();
    CHECK(actor_state(&who) == GUEST_ASLEEP || (!must && torture_failed()));
}

static void send_big(void)
{
    char *words = xalloc(BIG_BYTES + 1);
    memset(words, ' ', BIG_BYTES);
    memcpy(words, "fail:big", 8);
    (void)did_activate(3, str_n(words, BIG_BYTES));
    free(words);
}

static void check_recovered(void)
{
    unsigned attempts = 0;
    while (!did_activate(4, STR("fail:works")))
        CHECK(++attempts < ATTEMPTS_MAX);
    check_number();
    sleep_now(true);
    check_number();
}

static void guest_scenario(void)
{
    struct rig r;
    struct err err = { 0 };
    kept.is_set = false;
    skips = 0;
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000 });
    struct module *m = rig_module(&r, "v1");
    CHECK_OK(
        actor_try_open(&who, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1 }, &err));
    torture_on();
    CHECK_OK(guest_start(who.guest, &err));
    keep_number();
    sleep_now(false);
    check_number();
    send_big();
    sleep_now(false);
    check_number();
    torture_off();
    check_recovered();
    torture_on();
    actor_close(&who);
    torture_off();
    module_unref(m);
    rig_close(&r);
}

TEST(a_guest_survives_each_failing_call_of_its_host)
{
    if (!rig_has_module("v1"))
        SKIP("no C compiler for Wasm here");
    torture_run("a guest", guest_scenario);
}

TEST_MAIN
