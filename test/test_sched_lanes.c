/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles with a thread of their own: a plugin that never returns delays the pods of its own
 * profile alone, whichever hook it is in; what changes while one is called is neither lost nor
 * overlooked. The order of events is forced: by whose turn it is, and by a gate at the end of
 * calls.
 */
#include "sched_wasm_rig.h"

#include "base/random.h"
#include "sched/driver/turn.h"

#include <pthread.h>
#include <sched.h>

#define APART       "apart"
#define MANY_VISITS 1000u /* questions: only a guest that never returns asks so many */

struct lanes_rig {
    struct rig r;
    struct turn turn;
    pthread_t thread;
    struct sched_lane *lane;
    atomic_uint n_enters;
    /* The lane stops at the end of this call (counted by enter()), until it is let through. */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned gate_at; /* 0: none */
    bool is_at_gate, is_open;
};

static struct lanes_rig *rig_of(void *arg)
{
    return container_of((struct rig *)arg, struct lanes_rig, r);
}

static void leave(void *arg)
{
    turn_lend(&rig_of(arg)->turn);
}

static bool enter(void *arg)
{
    struct lanes_rig *x = rig_of(arg);
    if (atomic_fetch_add(&x->n_enters, 1) + 1 == x->gate_at) {
        (void)pthread_mutex_lock(&x->lock);
        x->is_at_gate = true;
        (void)pthread_cond_broadcast(&x->moved);
        while (!x->is_open)
            (void)pthread_cond_wait(&x->moved, &x->lock);
        (void)pthread_mutex_unlock(&x->lock);
    }
    return turn_reclaim(&x->turn);
}

static uint64_t lane_now_ms(void *arg)
{
    return ((struct rig *)arg)->now_ms;
}

static const struct sched_lanes lanes = { .leave = leave, .enter = enter, .now_ms = lane_now_ms };

static const char *profiles(struct rig *r, const char *more, const char *config)
{
    return arena_printf(&r->arena,
                        "- schedulerName: default-scheduler\n"
                        "- schedulerName: " APART "\n"
                        "  plugins: {multiPoint: {enabled: [{name: guest}]}%s}\n"
                        "  pluginConfig: [{name: guest, args: {guestURL: \"file://%s/%s\"}}]\n",
                        more, getenv("TEST_WASM_DIR"), config);
}

/* hook: that never returns; 0: none. */
static const char *stuck_in(struct rig *r, unsigned hook, bool binds)
{
    char config[128];
    (void)snprintf(config, sizeof config, "sched_stuck.wasm\", guestConfig: \"%.*s", (int)hook,
                   "xxxxxxxxxxxxxxxxxxxx");
    return profiles(r, binds ? ", bind: {disabled: [{name: DefaultBinder}]}" : "", config);
}

/* The turn is the test's from here on. */
static void lanes_setup(struct lanes_rig *x, unsigned hook, bool binds)
{
    *x = (struct lanes_rig){ 0 };
    turn_init(&x->turn);
    (void)pthread_mutex_init(&x->lock, NULL);
    (void)pthread_cond_init(&x->moved, NULL);
    setup_empty(&x->r);
    x->r.lanes = &lanes;
    load_profiles(&x->r, stuck_in(&x->r, hook, binds));
    wait_loaded(&x->r);
    begin(&x->r);
    turn_take(&x->turn);
}

static void lanes_teardown(struct lanes_rig *x)
{
    turn_give(&x->turn);
    teardown(&x->r);
    turn_fini(&x->turn);
    (void)pthread_mutex_destroy(&x->lock);
    (void)pthread_cond_destroy(&x->moved);
}

static void *run_lane(void *arg)
{
    struct lanes_rig *x = arg;
    turn_take(&x->turn);
    while (sched_lane_run(x->lane)) {
        turn_give(&x->turn);
        turn_take(&x->turn);
    }
    turn_give(&x->turn);
    return NULL;
}

static void lane_starts(struct lanes_rig *x)
{
    x->lane = sched_lane_next(x->r.sched);
    CHECK(x->lane);
    CHECK(!sched_lane_next(x->r.sched));
    CHECK_INT(pthread_create(&x->thread, NULL, run_lane, x), 0);
}

static void take_turn(struct lanes_rig *x)
{
    turn_take(&x->turn);
    sched_resume(x->r.sched);
}

/* The turn is the test's before and after. */
static void lane_ends(struct lanes_rig *x)
{
    turn_give(&x->turn);
    CHECK_INT(pthread_join(x->thread, NULL), 0);
    take_turn(x);
}

/* All that lanes have to do, without a call that takes long. */
static void lanes_run(struct lanes_rig *x)
{
    struct sched_lane *l;
    while ((l = sched_lane_next(x->r.sched)))
        while (sched_lane_run(l))
            ;
    sched_resume(x->r.sched);
}

/* ---- hooks that never return ---- */

TEST(a_hook_that_never_returns_delays_its_own_profile_alone)
{
    /* As in sched_stuck.wat. */
    static const char *const hooks[] = { "prefilter",      "filter",   "prescore",  "score",
                                         "normalizescore", "reserve",  "permit",    "prebind",
                                         "bind",           "postbind", "unreserve", "postfilter",
                                         "removepod",      "addpod" };
    for (unsigned i = 0; i < ARRAY_LEN(hooks); i++) {
        struct lanes_rig x;
        struct rig *r = &x.r;
        struct sched_stats stats;
        lanes_setup(&x, i + 1, true);
        put_node(r, "n1", "");
        put_node(r, "n2", "");
        put_pod(r, "low1", "n1", 0);
        put_pod(r, "low2", "n2", 0);
        put_pod_of(r, APART, "stuck", "", 1000);
        CHECK_STR(decided(r), ""); /* it is not for this thread */
        lane_starts(&x);
        turn_give(&x.turn);
        while (atomic_load(&x.n_enters) < MANY_VISITS)
            (void)sched_yield();
        take_turn(&x);
        sched_stats(r->sched, &stats);
        CHECK_INT(stats.binding, 1);
        (void)answer_all(r, "");
        put_pod(r, "free", "", 0);
        if (str_find(decided(r), STR("free=n")) != 0)
            TEST_FAIL("%s: " STR_FMT, hooks[i], STR_ARG(buf_str(&r->decisions)));
        CHECK_INT(answer_all(r, "pods/free/binding"), 1);
        put_node(r, "n3", "");
        put_pod(r, "free", "n2", 0);
        put_pod(r, "more", "", 0);
        CHECK(str_find(decided(r), STR("more=n")) == 0);
        CHECK_INT(answer_all(r, "pods/more/binding"), 1);
        sched_stats(r->sched, &stats);
        CHECK_INT(stats.binding, 1);
        wplugin_host_interrupt(r->host);
        lane_ends(&x);
        sched_stats(r->sched, &stats);
        CHECK_INT(stats.binding, 0);
        scoped(free_scoped) char *why = xasprintf("wasm: %s error: ", hooks[i]);
        bool is_reported = strcmp(hooks[i], "postbind") && strcmp(hooks[i], "unreserve");
        if (is_reported && answer_all(r, why) == 0)
            TEST_FAIL("%s was not interrupted", hooks[i]);
        lanes_teardown(&x);
    }
}

struct tick {
    struct lanes_rig *x;
    struct timer timer;
    bool has_run;
};

static void on_tick(struct timer *t)
{
    struct tick *tick = container_of(t, struct tick, timer);
    tick->has_run = !tick->x->r.is_loaded;
    wplugin_host_interrupt(tick->x->r.host);
}

TEST(a_plugin_that_does_not_start_does_not_hold_up_the_loop)
{
    static const char *const texts[] = { "wasm: enqueue error: ", "function[_start] failed: " };
    for (unsigned i = 0; i < ARRAY_LEN(texts); i++) {
        struct lanes_rig x = { 0 };
        struct rig *r = &x.r;
        struct tick tick = { .x = &x };
        setup_empty(r);
        /* Compiled before, so that what is waited for is the start alone. */
        load_profiles(r, stuck_in(r, 0, true));
        wait_loaded(r);
        wplugins_release(r->plugins);
        load_profiles(r, stuck_in(r, 15 + i, true));
        timer_start(&r->loop, &tick.timer, 300, on_tick);
        wait_loaded(r);
        CHECK(tick.has_run);
        CHECK(!r->plugins);
        if (!strstr(err_text(&r->load_err), texts[i]))
            TEST_FAIL("%s", err_text(&r->load_err));
        teardown(r);
    }
}

TEST(a_hint_that_never_returns_is_not_waited_for_again)
{
    struct lanes_rig x;
    struct rig *r = &x.r;
    lanes_setup(&x, 17, true);
    put_node(r, "n1", "");
    put_pod_of(r, APART, "stuck", "", 0);
    lanes_run(&x);
    for (unsigned i = 0; i < 20; i++) { /* else each of them would take its time */
        r->now_ms += 60000;
        char name[16];
        (void)snprintf(name, sizeof name, "more%u", i);
        put_node(r, name, "");
        (void)decided(r);
        lanes_run(&x);
        CHECK(str_find(buf_str(&r->decisions), STR("stuck:")) == 0);
        (void)answer_all(r, "");
    }
    lanes_teardown(&x);
}

/* ---- what changes during a call ---- */

/* The lane stands at the end of its second call, a filter; the turn is the test's. */
static void stop_in_filter(struct lanes_rig *x, bool binds)
{
    lanes_setup(x, 0, binds);
    put(&x->r, SCHED_NODE,
        "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u-n1\",\"resourceVersion\":\"5\"},"
        "\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"1\"}}}");
    put_pod_of(&x->r, APART, "late", "", 0);
    x->gate_at = 2;
    lane_starts(x);
    turn_give(&x->turn);
    (void)pthread_mutex_lock(&x->lock);
    while (!x->is_at_gate)
        (void)pthread_cond_wait(&x->moved, &x->lock);
    (void)pthread_mutex_unlock(&x->lock);
    take_turn(x);
    buf_reset(&x->r.decisions);
}

/* What was decided in the rest of its attempt; borrowed. */
static struct str let_through(struct lanes_rig *x)
{
    (void)pthread_mutex_lock(&x->lock);
    x->is_open = true;
    (void)pthread_cond_broadcast(&x->moved);
    (void)pthread_mutex_unlock(&x->lock);
    buf_reset(&x->r.decisions);
    lane_ends(x);
    return buf_str(&x->r.decisions);
}

TEST(a_place_that_was_taken_during_a_call_is_not_taken_twice)
{
    struct lanes_rig x;
    struct rig *r = &x.r;
    stop_in_filter(&x, true);
    put_pod(r, "free", "", 0);
    CHECK_STR(decided(r), "free=n1,");
    CHECK_STR(let_through(&x), "late:node n1 changed while plugins were called: Too many pods,");
    CHECK_INT(answer_all(r, "pods/free/binding"), 1);
    sched_del(r->sched, SCHED_POD, STR("d"), STR("free"), r->now_ms);
    r->now_ms += 60000;
    CHECK_STR(decided(r), "");
    lanes_run(&x);
    CHECK_STR(buf_str(&r->decisions), "late=n1,");
    lanes_teardown(&x);
}

TEST(what_does_not_concern_the_pod_does_not_stop_it)
{
    struct lanes_rig x;
    stop_in_filter(&x, true);
    put_node(&x.r, "n2", "");
    put_pod(&x.r, "free", "n2", 0);
    CHECK_STR(let_through(&x), "late=n1,");
    lanes_teardown(&x);
}

TEST(a_node_that_went_during_a_call_is_not_chosen)
{
    struct lanes_rig x;
    stop_in_filter(&x, true);
    sched_del(x.r.sched, SCHED_NODE, STR(""), STR("n1"), x.r.now_ms);
    CHECK_STR(let_through(&x), "late:node n1 changed while plugins were called: it was removed,");
    lanes_teardown(&x);
}

TEST(a_pod_that_went_during_a_call_takes_no_place)
{
    struct lanes_rig x;
    struct sched_stats stats;
    stop_in_filter(&x, true);
    sched_del(x.r.sched, SCHED_POD, STR("d"), STR("late"), x.r.now_ms);
    CHECK_STR(let_through(&x), "late:pod was deleted or bound by another client,");
    sched_stats(x.r.sched, &stats);
    CHECK_INT(stats.assumed + stats.binding, 0);
    lanes_teardown(&x);
}

TEST(who_does_not_lead_any_more_after_a_call_places_nothing)
{
    struct lanes_rig x;
    struct sched_stats stats;
    stop_in_filter(&x, true);
    sched_lead(x.r.sched, false);
    CHECK(str_find(let_through(&x), STR("late:another scheduler leads now")) == 0);
    sched_stats(x.r.sched, &stats);
    CHECK_INT(stats.assumed + stats.binding, 0);
    lanes_teardown(&x);
}

TEST(another_configuration_during_a_call_lets_the_attempt_end)
{
    struct lanes_rig x;
    struct rig *r = &x.r;
    struct err err = { 0 };
    stop_in_filter(&x, true);
    put_pod_of(r, APART, "next", "", 0);
    struct wplugins *old = r->plugins;
    load_profiles(r, stuck_in(r, 0, true));
    wait_loaded(r);
    CHECK_OK(sched_reload(r->sched, &r->config, wplugins_foreign(r->plugins), true, &err));
    wplugins_release(old);
    CHECK_STR(let_through(&x), "late=n1,");
    CHECK_STR(decided(r), "");
    lanes_run(&x);
    CHECK(str_find(buf_str(&r->decisions), STR("next:0/1 nodes are available: 1 Too many pods")) ==
          0);
    lanes_teardown(&x);
}

TEST(an_answer_that_comes_during_a_call_is_heard_after_it)
{
    struct lanes_rig x;
    struct rig *r = &x.r;
    struct sched_stats stats;
    lanes_setup(&x, 0, false); /* DefaultBinder binds */
    put_node(r, "n1", "");
    put_pod_of(r, APART, "early", "", 0);
    lanes_run(&x);
    put_pod_of(r, APART, "late", "", 0);
    x.gate_at = atomic_load(&x.n_enters) + 2;
    lane_starts(&x);
    turn_give(&x.turn);
    (void)pthread_mutex_lock(&x.lock);
    while (!x.is_at_gate)
        (void)pthread_cond_wait(&x.moved, &x.lock);
    (void)pthread_mutex_unlock(&x.lock);
    take_turn(&x);
    CHECK_INT(answer_all(r, "pods/early/binding"), 1);
    sched_stats(r->sched, &stats);
    CHECK_INT(stats.scheduled, 0);
    (void)let_through(&x);
    sched_stats(r->sched, &stats);
    CHECK_INT(stats.scheduled, 1);
    CHECK_INT(answer_all(r, "pods/late/binding"), 1);
    lanes_run(&x);
    sched_stats(r->sched, &stats);
    CHECK_INT(stats.scheduled, 2);
    lanes_teardown(&x);
}

TEST(what_changes_during_a_call_is_bounded)
{
    struct lanes_rig x;
    char labels[32];
    stop_in_filter(&x, true);
    unsigned n = 0;
    for (; n < 1000000 && !sched_lane_is_full(x.r.sched); n++) {
        (void)snprintf(labels, sizeof labels, "\"a\":\"%u\"", n);
        put_node(&x.r, "n2", labels);
    }
    CHECK(n > 10000 && n < 1000000);
    CHECK_STR(let_through(&x), "late=n1,");
    CHECK(!sched_lane_is_full(x.r.sched));
    lanes_teardown(&x);
}

/* ---- explanations ---- */

struct asking {
    struct sched_asked asked;
    struct rig *r;
    int code;
    bool has_run;
};

static void on_asked(struct sched_asked *asked)
{
    struct asking *a = container_of(asked, struct asking, asked);
    struct err err = { 0 };
    a->code = sched_explain(a->r->sched, STR("d"), STR("p"), a->r->now_ms, &observer, a->r, &err);
    a->has_run = true;
}

TEST(a_pod_is_explained_by_the_thread_of_its_profile)
{
    struct lanes_rig x;
    struct rig *r = &x.r;
    struct err err = { 0 };
    struct asking a = { .asked.run = on_asked, .r = r };
    lanes_setup(&x, 0, true);
    put_node(r, "n1", "");
    put_pod_of(r, APART, "p", "n1", 0);
    CHECK_INT(sched_explain(r->sched, STR("d"), STR("p"), r->now_ms, &observer, r, &err), -EAGAIN);
    CHECK_INT(sched_ask(r->sched, STR("d"), STR("absent"), &a.asked), SCHED_ASK_NOW);
    CHECK_INT(sched_ask(r->sched, STR("d"), STR("p"), &a.asked), SCHED_ASK_LATER);
    CHECK(!a.has_run);
    lanes_run(&x);
    CHECK(a.has_run);
    CHECK_INT(a.code, 0);
    CHECK_STR(buf_str(&r->decisions), "p=n1,");
    a.has_run = false;
    CHECK_INT(sched_ask(r->sched, STR("d"), STR("p"), &a.asked), SCHED_ASK_LATER);
    CHECK(!a.has_run);
    sched_free(r->sched);
    r->sched = NULL;
    CHECK(a.has_run);
    CHECK_INT(a.code, -ECANCELED);
    lanes_teardown(&x);
}

/* ---- the same decisions ---- */

static void play(struct lanes_rig *x, uint64_t seed)
{
    struct rig *r = &x->r;
    struct rng rng = { .state = seed };
    char name[16], node[16];
    buf_reset(&r->decisions);
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(1 << 20);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "p%u", i);
        (void)snprintf(node, sizeof node, "n%u", (unsigned)rng_below(&rng, 9));
        switch (rng_below(&rng, 6)) {
        case 0:
            put_node(r, node, rng_below(&rng, 2) ? "\"a\":\"b\"" : "");
            break;
        case 1:
            if (rng_below(&rng, 4) == 0)
                sched_del(r->sched, SCHED_NODE, STR(""), str_of(node), r->now_ms);
            break;
        case 2:
            put_pod_of(r, APART, name, node, (int)rng_below(&rng, 3));
            break;
        default:
            put_pod_of(r, APART, name, "", (int)rng_below(&rng, 3));
        }
        r->now_ms += rng_below(&rng, 3000);
        (void)decided(r);
        lanes_run(x);
        (void)buf_add_str(&all, buf_str(&r->decisions));
        (void)answer_all(r, "");
        lanes_run(x);
    }
    buf_reset(&r->decisions);
    (void)buf_add_str(&r->decisions, buf_str(&all));
}

TEST(a_profile_decides_alike_with_and_without_a_thread)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct lanes_rig with, without;
        lanes_setup(&with, 0, false);
        play(&with, seed);
        lanes_setup(&without, 0, false);
        sched_free(without.r.sched);
        without.r.lanes = NULL;
        begin(&without.r);
        play(&without, seed);
        if (!str_eq(buf_str(&with.r.decisions), buf_str(&without.r.decisions)))
            TEST_FAIL("seed %llu:\n" STR_FMT "\n" STR_FMT, (unsigned long long)seed,
                      STR_ARG(buf_str(&with.r.decisions)), STR_ARG(buf_str(&without.r.decisions)));
        CHECK(with.r.decisions.n > 1000);
        lanes_teardown(&with);
        lanes_teardown(&without);
    }
}

TEST_MAIN
