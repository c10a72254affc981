/* SPDX-License-Identifier: Apache-2.0 */
/* Guests of ABI v1 in real runners: activations, calls that park, posted calls, broken rules. */
#include "guest_rig.h"

#include "guest/runner_pool.h"

static const struct guest_host_opts awake = { .sleep_never = true };
static const struct guest_host_opts manual = { .idle_ms = 600000 };

static void open_v1(struct rig *r, struct actor *a, struct module **m, struct guest_host_opts opts)
{
    rig_open(r, opts);
    *m = rig_module(r, "v1");
    actor_open(a, r, (struct guest_spec){ .module = *m, .abi = GUEST_ABI_V1 });
    WAIT(r, actor_is_idle(a));
}

static void close_v1(struct rig *r, struct actor *a, struct module *m)
{
    actor_close(a);
    module_unref(m);
    rig_close(r);
}

TEST(a_guest_declares_and_then_does_what_its_activations_say)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, awake);
    CHECK_STR(buf_str(&a.reported), "post log 0 1 setting up|\ncall declare 0 {\"abi\":1}|\n");
    buf_reset(&a.reported);
    actor_do(&a, 7, "get:web value result fail:! return:5");
    CHECK_STR(buf_str(&a.reported), "call get 7 web|\ndone 7 5 3web!\n");
    buf_reset(&a.reported);
    actor_do(&a, 8, "api:GET_/x config:c list:q value size return:-2");
    CHECK_STR(buf_str(&a.reported),
              "call api 8 GET_/x|body\ncall config 8 c|\ncall list 8 q|\ndone 8 -2 11\n");
    struct guest_stats s = actor_stats(&a);
    CHECK_INT(s.activations, 3);
    CHECK_INT(s.incarnation, 0);
    close_v1(&r, &a, m);
}

TEST(posted_calls_and_output_come_in_their_order_and_before_what_follows)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, awake);
    buf_reset(&a.reported);
    actor_do(&a, 1, "log:one event:{} get:x enqueue:{} metric:[] debug:no print:out");
    CHECK_STR(buf_str(&a.reported),
              "post log 1 1 one|{\"k\":1}\npost event 1 0 {}|\ncall get 1 x|\n"
              "post enqueue 1 0 {}|\npost metric 1 3 []|2.500\ndone 1 0 \n");
    CHECK(actor_logged(&a, "1 out\n"));
    guest_set_log_debug(a.guest, true);
    actor_do(&a, 2, "debug:yes");
    CHECK(actor_reported(&a, "post log 2 0 yes|\n"));
    close_v1(&r, &a, m);
}

TEST(activations_are_carried_out_one_after_the_other)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, awake);
    buf_reset(&a.reported);
    for (uint64_t i = 1; i <= 100; i++)
        actor_activate(&a, i, "get:k fail:m");
    WAIT(&r, a.dones == 100);
    struct buf expected = BUF_INIT(1 << 20);
    for (unsigned i = 1; i <= 100; i++)
        (void)buf_printf(&expected, "call get %u k|\ndone %u 0 m\n", i, i);
    CHECK(str_eq(buf_str(&a.reported), buf_str(&expected)));
    buf_fini(&expected);
    close_v1(&r, &a, m);
}

TEST(activations_wait_for_a_guest_that_has_not_started)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "v1");
    CHECK_OK(actor_try_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1 }, NULL));
    actor_activate(&a, 1, "fail:x");
    for (unsigned i = 0; i < 5; i++)
        (void)loop_turn(&r.loop, false);
    CHECK_INT(a.dones, 0);
    CHECK_OK(guest_start(a.guest, NULL));
    WAIT(&r, a.dones == 1);
    CHECK(actor_reported(&a, "declare 0 {\"abi\":1}|\ndone 1 0 x\n"));
    close_v1(&r, &a, m);
}

TEST(a_full_queue_of_activations_refuses_and_says_when_there_is_room)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, awake);
    for (unsigned i = 0; i < GUEST_QUEUE_MAX_EVENTS; i++)
        actor_activate(&a, 1 + i, "fail:x");
    CHECK_ERR(guest_activate(a.guest, 9999, STR(""), NULL), -EBUSY);
    WAIT(&r, a.rooms == 1);
    CHECK_ERR(guest_activate(a.guest, 9999, str_n("", (size_t)GUEST_PAYLOAD_MAX_BYTES + 1), NULL),
              -EMSGSIZE);
    WAIT(&r, a.dones == GUEST_QUEUE_MAX_EVENTS);
    close_v1(&r, &a, m);
}

TEST(large_payloads_and_answers_arrive_whole)
{
    struct rig r;
    struct actor a = { .holds_calls = true };
    struct module *m;
    open_v1(&r, &a, &m, manual);
    size_t n = 3 << 20;
    char *big = xalloc(n + 1);
    memset(big, 'x', n);
    memcpy(big, "get:q size fail:, size result ", 30);
    CHECK_OK(guest_activate(a.guest, 1, str_n(big, n), NULL));
    WAIT(&r, a.calls == 2);
    CHECK_ERR(guest_reply(a.guest, a.call.id, 0, 1, str_n(big, (size_t)GUEST_PAYLOAD_MAX_BYTES + 1),
                          NULL),
              -EMSGSIZE);
    CHECK_OK(guest_reply(a.guest, a.call.id, 0, 1, str_n(big, n), NULL));
    WAIT(&r, a.dones == 1);
    CHECK(actor_reported(&a, "done 1 0 3145728,3145728get:q"));
    free(big);
    close_v1(&r, &a, m);
}

/* ---- parking ---- */

TEST(others_run_while_a_guest_is_parked)
{
    enum { N = 70 }; /* more than one runner has threads for */
    struct rig r;
    struct actor *a = xnew_n(struct actor, N), quick = { 0 };
    struct guest_host_opts opts = awake;
    opts.max_runners = 1;
    rig_open(&r, opts);
    struct module *m = rig_module(&r, "v1"), *twin = rig_module(&r, "twin-g2");
    struct guest_spec spec = { .module = m, .abi = GUEST_ABI_V1 };
    actor_open(&quick, &r, (struct guest_spec){ .module = twin, .abi = GUEST_ABI_G2 });
    for (unsigned i = 0; i < N; i++) {
        a[i].holds_calls = true;
        actor_open(&a[i], &r, spec);
        WAIT(&r, actor_is_idle(&a[i]));
    }
    for (unsigned i = 0; i < N; i++)
        actor_activate(&a[i], 1 + i, "get:k get:l value result");
    unsigned parked = 0;
    while (parked < RUNNER_PARKED_MAX) {
        (void)loop_turn(&r.loop, true);
        parked = 0;
        for (unsigned i = 0; i < N; i++)
            parked += actor_stats(&a[i]).is_parked;
    }
    CHECK_INT(parked, RUNNER_PARKED_MAX);
    WAIT(&r, quick.ops.n == 1); /* a guest that cannot park has its turns */
    actor_complete(&quick, 0, 0);
    WAIT(&r, quick.ops.n == 2);
    /* Answered in another order than asked, and the rest gets its turn. */
    for (unsigned done = 0; done < N;) {
        done = 0;
        for (unsigned i = N; i-- > 0;) {
            if (actor_stats(&a[i]).is_parked && test_random_below(3) == 0)
                CHECK_OK(guest_reply(a[i].guest, a[i].call.id, 0, (int64_t)i, STR("res"), NULL));
            done += a[i].dones;
        }
        if (done < N)
            (void)loop_turn(&r.loop, false);
    }
    for (unsigned i = 0; i < N; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "done %u 0 %ures\n", 1 + i, i);
        CHECK(actor_reported(&a[i], text));
        CHECK_INT(a[i].states[GUEST_FAILED], 0);
    }
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_losses, 0);
    for (unsigned i = 0; i < N; i++)
        actor_close(&a[i]);
    actor_close(&quick);
    free(a);
    module_unref(twin);
    close_v1(&r, &(struct actor){ 0 }, m);
}

TEST(time_spent_parked_is_not_the_guests)
{
    struct rig r;
    struct actor waits = { .holds_calls = true }, spins = { 0 };
    struct guest_host_opts opts = awake;
    opts.max_runners = 1;
    rig_open(&r, opts);
    struct module *m = rig_module(&r, "v1");
    struct guest_spec spec = { .module = m, .abi = GUEST_ABI_V1, .activation_ms = 100 };
    actor_open(&waits, &r, spec);
    actor_open(&spins, &r, spec);
    WAIT(&r, actor_is_idle(&waits) && actor_is_idle(&spins));
    actor_activate(&waits, 1, "get:k spin:1000 value");
    WAIT(&r, actor_stats(&waits).is_parked);
    actor_activate(&spins, 1, "spin");
    WAIT(&r, actor_state(&spins) == GUEST_FAILED);
    CHECK(str_find(str_of(spins.why.text), STR("ran longer")) >= 0);
    CHECK_OK(guest_reply(waits.guest, waits.call.id, 0, 42, STR(""), NULL));
    WAIT(&r, waits.dones == 1);
    CHECK(actor_reported(&waits, "done 1 0 42"));
    /* What it burns before and after a call is one account. */
    waits.holds_calls = false;
    actor_activate(&waits, 2, "get:k spin");
    WAIT(&r, actor_state(&waits) == GUEST_FAILED);
    actor_close(&spins);
    close_v1(&r, &waits, m);
}

TEST(a_parked_guest_neither_sleeps_nor_answers_twice)
{
    struct rig r;
    struct actor a = { .holds_calls = true };
    struct module *m;
    open_v1(&r, &a, &m, manual);
    actor_activate(&a, 1, "get:k");
    WAIT(&r, actor_stats(&a).is_parked);
    CHECK_INT(guest_sleep(a.guest), -EBUSY);
    CHECK_INT(guest_host_relieve(r.host), 0);
    CHECK_ERR(guest_reply(a.guest, a.call.id + 1, 0, 0, STR(""), NULL), -ESTALE);
    CHECK_ERR(guest_reply(a.guest, a.call.id, 1, 0, STR(""), NULL), -ESTALE);
    CHECK_OK(guest_reply(a.guest, a.call.id, 0, 0, STR(""), NULL));
    CHECK_ERR(guest_reply(a.guest, a.call.id, 0, 0, STR(""), NULL), -ESTALE);
    WAIT(&r, a.dones == 1);
    close_v1(&r, &a, m);
}

/* The service has deadlines of its own; these are for one that forgets. */
TEST(a_call_that_nobody_answers_ends_and_so_does_an_activation_of_such_calls)
{
    struct rig r;
    struct actor a = { .holds_calls = true };
    struct module *m;
    open_v1(&r, &a, &m, awake);
    actor_activate(&a, 1, "get:k value result");
    WAIT(&r, actor_stats(&a).is_parked);
    loop_skip(&r.loop, GUEST_CALL_MS_MAX + 1);
    WAIT(&r, a.dones == 1);
    CHECK(actor_reported(&a, "done 1 0 -7no answer within the time"));
    CHECK_ERR(guest_reply(a.guest, a.call.id, 0, 0, STR(""), NULL), -ESTALE);
    actor_activate(&a, 2, "get:k get:k get:k");
    WAIT(&r, a.calls == 3 && actor_stats(&a).is_parked);
    loop_skip(&r.loop, GUEST_CALL_MS_MAX + 1);
    WAIT(&r, a.calls == 4 && actor_stats(&a).is_parked);
    CHECK_INT(a.states[GUEST_FAILED], 0);
    loop_skip(&r.loop, GUEST_ACTIVATION_WALL_MS_MAX - GUEST_CALL_MS_MAX + 1);
    WAIT(&r, actor_state(&a) == GUEST_FAILED);
    CHECK(str_find(str_of(a.why.text), STR("longer than 10 minutes")) >= 0);
    CHECK_INT(a.dones, 1);
    close_v1(&r, &a, m);
}

TEST(a_parked_guest_can_be_ended_at_any_moment)
{
    struct rig r;
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "v1");
    for (unsigned turns = 0; turns < 60; turns++) {
        struct actor a = { .holds_calls = true }, b = { .holds_calls = true };
        struct guest_spec spec = { .module = m, .abi = GUEST_ABI_V1 };
        actor_open(&a, &r, spec);
        actor_open(&b, &r, spec);
        actor_activate(&a, 1, "get:k get:l");
        actor_activate(&b, 1, "get:k get:l value");
        WAIT(&r, actor_stats(&b).is_parked);
        if (turns % 2) {
            WAIT(&r, actor_stats(&a).is_parked);
            CHECK_OK(guest_reply(a.guest, a.call.id, 0, 0, STR(""), NULL));
        }
        for (unsigned i = 0; i < turns / 2 % 8; i++)
            (void)loop_turn(&r.loop, false);
        actor_close(&a);
        CHECK_OK(guest_reply(b.guest, b.call.id, 0, 1, STR(""), NULL));
        WAIT(&r, actor_stats(&b).is_parked);
        CHECK_OK(guest_reply(b.guest, b.call.id, 0, 2, STR(""), NULL));
        WAIT(&r, b.dones == 1);
        CHECK(actor_reported(&b, "done 1 0 2\n"));
        actor_close(&b);
    }
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_losses, 0);
    CHECK_INT(s.runner_starts, 1);
    close_v1(&r, &(struct actor){ 0 }, m);
}

TEST(a_lost_runner_takes_parked_guests_with_it_and_nobody_else)
{
    struct rig r;
    struct actor parked = { .holds_calls = true }, asleep = { 0 }, busy = { 0 };
    int pid;
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "v1");
    struct guest_spec spec = { .module = m, .abi = GUEST_ABI_V1, .activation_ms = 60000 };
    actor_open(&parked, &r, spec);
    actor_open(&asleep, &r, spec);
    actor_open(&busy, &r, spec);
    actor_sleep(&asleep);
    WAIT(&r, actor_is_idle(&parked) && actor_is_idle(&busy));
    actor_activate(&parked, 1, "get:k");
    WAIT(&r, actor_stats(&parked).is_parked);
    actor_activate(&busy, 1, "spin");
    WAIT(&r, actor_state(&busy) == GUEST_RUNNING);
    actor_activate(&asleep, 1, "fail:here");
    WAIT(&r, actor_state(&asleep) == GUEST_RUNNING);
    CHECK_INT(guest_host_pids(r.host, &pid, 1), 1);
    CHECK_OK(kill(pid, SIGKILL));
    WAIT(&r, actor_state(&busy) == GUEST_FAILED && asleep.dones == 1);
    CHECK(actor_reported(&asleep, "done 1 0 here"));
    CHECK_INT(actor_stats(&asleep).incarnation, 0);
    /* Its call is dead, its activation not repeated; it starts anew at once. */
    CHECK_INT(actor_stats(&parked).incarnation, 1);
    CHECK_INT(parked.states[GUEST_FAILED], 0);
    CHECK_ERR(guest_reply(parked.guest, parked.call.id, 0, 0, STR(""), NULL), -ESTALE);
    WAIT(&r, parked.calls == 3 && actor_is_idle(&parked)); /* two declarations */
    CHECK_INT(parked.dones, 0);
    actor_close(&busy);
    actor_close(&asleep);
    close_v1(&r, &parked, m);
}

/* ---- sleep ---- */

TEST(a_guest_that_slept_goes_on_where_it_was)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, manual);
    actor_do(&a, 1, "touch:100 get:k");
    actor_sleep(&a);
    CHECK_INT(actor_stats(&a).resident_bytes, 0);
    actor_do(&a, 2, "value result");
    CHECK(actor_reported(&a, "done 2 0 1\n"));
    CHECK_INT(a.calls, 2); /* no second declaration */
    CHECK_INT(actor_stats(&a).wakes, 1);
    CHECK_INT(actor_stats(&a).incarnation, 0);
    actor_do(&a, 3, "get:k get:kk value");
    CHECK(actor_reported(&a, "done 3 0 2\n"));
    close_v1(&r, &a, m);
}

TEST(hibernation_after_every_activation_loses_nothing)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, (struct guest_host_opts){ .sleep_always = true });
    for (uint64_t i = 1; i <= 50; i++)
        actor_do(&a, i, i % 2 ? "get:kkk touch:3" : "value log:x print:y");
    CHECK_INT(a.calls, 26);
    CHECK_INT(a.dones, 50);
    struct guest_stats s = actor_stats(&a);
    CHECK(s.suspends >= 50 && s.incarnation == 0);
    close_v1(&r, &a, m);
}

TEST(a_stateless_guest_is_dropped_and_started_again)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, manual);
    guest_set_stateless(a.guest, true);
    actor_do(&a, 1, "get:kkkk");
    actor_sleep(&a);
    struct guest_stats s = actor_stats(&a);
    CHECK(s.swap_bytes == 0 && s.memory_bytes == 0);
    actor_do(&a, 2, "value get:k");
    CHECK(actor_reported(&a, "done 2 0 0\n"));
    CHECK_INT(a.calls, 4); /* two declarations */
    CHECK_INT(actor_stats(&a).incarnation, 0);
    actor_sleep(&a);
    /* A second start may fail, and takes what waited with it. */
    a.declare_value = GUEST_E_INVALID;
    actor_activate(&a, 3, "value");
    WAIT(&r, actor_state(&a) == GUEST_FAILED);
    CHECK_INT(a.dones, 2);
    close_v1(&r, &a, m);
}

static void on_time(struct timer *timer)
{
}

static void wait_ms(struct rig *r, uint64_t ms)
{
    struct timer timer = { 0 };
    timer_start(&r->loop, &timer, ms, on_time);
    WAIT(r, !timer_is_armed(&timer));
}

/* However slow the machine is: times are multiples of what was measured. */
TEST(a_guest_that_wakes_slowly_is_woken_ahead_of_known_work)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    uint64_t began = clock_mono_ms(), slowest_us = 0;
    open_v1(&r, &a, &m, (struct guest_host_opts){ .idle_ms = 60000 });
    for (uint64_t i = 1; i <= 8; i++) { /* its first event takes milliseconds */
        actor_sleep(&a);
        actor_do(&a, i, "touch:400 spin:3000000");
        slowest_us = MAX(slowest_us, actor_stats(&a).wake_us_last);
    }
    CHECK(slowest_us >= 1000);
    CHECK_INT(actor_stats(&a).wakes_ahead, 0);
    actor_sleep(&a);
    wait_ms(&r, clock_mono_ms() - began); /* what looked like a rhythm is over */
    guest_expect(a.guest, clock_mono_ms() + 300 + 2 * slowest_us / 1000);
    WAIT(&r, actor_state(&a) == GUEST_AWAKE);
    CHECK_INT(actor_stats(&a).wakes_ahead, 1);
    CHECK_INT(actor_stats(&a).activations, 9);
    actor_do(&a, 9, "value");
    /* Nothing comes for what it was woken: it sleeps again, and is left alone. */
    actor_sleep(&a);
    wait_ms(&r, clock_mono_ms() - began);
    guest_expect(a.guest, clock_mono_ms() + 300 + 2 * slowest_us / 1000);
    WAIT(&r, actor_stats(&a).wakes_ahead == 2);
    WAIT(&r, actor_state(&a) == GUEST_ASLEEP);
    CHECK_INT(a.states[GUEST_FAILED], 0);
    close_v1(&r, &a, m);
}

/* ---- broken rules ---- */

TEST(a_start_that_fails_says_why)
{
    static const struct {
        const char *setup;
        int64_t answer;
        const char *why;
    } cases[] = {
        { "none", 0, "setup: R-declare: nothing" },
        { "twice", 0, "declare: R-declare: a second" },
        { "refuse", GUEST_E_INVALID, "setup: R-declare: the declaration was refused" },
        { "early", 0, "api_request: R-outside: " },
        { "wildmetric", 0, "metric: R-outside: " },
        { "fail", 0, "setup: declared: {\"abi\":1}" },
        { "", GUEST_E_INVALID, "setup: declared: {\"abi\":1}" },
        { "code", 0, "setup returned 77" },
        { "exit", 0, "the guest exited with status 4" },
    };
    struct rig r;
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "v1");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct actor a = { .declare_value = cases[i].answer };
        const struct guest_env env = { STR("SETUP"), str_of(cases[i].setup) };
        actor_open(
            &a, &r,
            (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1, .env = &env, .n_env = 1 });
        WAIT(&r, actor_state(&a) == GUEST_FAILED);
        if (str_find(str_of(a.why.text), str_of(cases[i].why)) != 0)
            TEST_FAIL("%s: %s", cases[i].setup, a.why.text);
        actor_close(&a);
    }
    close_v1(&r, &(struct actor){ 0 }, m);
}

TEST(a_broken_rule_ends_the_guest_and_names_call_and_rule)
{
    static const struct {
        const char *words, *why; /* NULL: it lives on, and this is told: */
        const char *reported;
    } cases[] = {
        { "wild:get", "cache_get: R-memory: ", NULL },
        { "wild:api_head", "api_request: R-memory: ", NULL },
        { "wild:api_body", "api_request: R-memory: ", NULL },
        { "wild:read", "result_read: R-memory: ", NULL },
        { "wild:message", "fail_message: R-memory: ", NULL },
        { "wild:log", "log: R-memory: ", NULL },
        { "wild:kv", "log: R-memory: ", NULL },
        { "wild:level", "log: R-posted: level 4", NULL },
        { "wild:event", "event: R-memory: ", NULL },
        { "wild:metric", "metric: R-memory: ", NULL },
        { "wild:empty value", NULL, "done 1 0 0\n" },
        { "wild:large_head value result", NULL, "done 1 0 -5api_request: the head is larger" },
        { "wild:large_query value result", NULL, "done 1 0 -5config_get: the query is larger" },
        { "declare", "declare: R-outside: ", NULL },
        { "posts:1024", NULL, "done 1 0 \n" },
        { "posts:1025", "event: R-posted: more than 1024", NULL },
        { "posts:1000 get:k posts:100", "event: R-posted: more than 1024", NULL },
        { "logs:300", NULL, "done 1 0 \n" },
        { "big:8192", NULL, "done 1 0 \n" },
        { "big:8193", "event: R-posted: 8193 bytes", NULL },
        { "return:-3", "activate: R-result: -3", NULL },
        { "return:1099511627776", NULL, "done 1 1099511627776 \n" },
        { "return:1099511627777", "activate: R-result: ", NULL },
        { "event:kept trap", "activate: unreachable", "post event 1 0 kept|\n" },
        { "exit", "the guest exited with status 3", NULL },
    };
    struct rig r;
    struct actor bystander = { .holds_calls = true };
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "v1");
    struct guest_spec spec = { .module = m, .abi = GUEST_ABI_V1, .activation_ms = 500 };
    actor_open(&bystander, &r, spec);
    actor_activate(&bystander, 1, "get:k value");
    WAIT(&r, actor_stats(&bystander).is_parked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct actor a = { 0 };
        actor_open(&a, &r, spec);
        WAIT(&r, actor_is_idle(&a));
        actor_activate(&a, 1, cases[i].words);
        actor_activate(&a, 2, "");
        if (cases[i].why) {
            WAIT(&r, actor_state(&a) == GUEST_FAILED);
            if (str_find(str_of(a.why.text), str_of(cases[i].why)) != 0)
                TEST_FAIL("%s: %s", cases[i].words, a.why.text);
            CHECK_INT(a.dones, 0); /* the second one is dead as well */
            CHECK_INT(actor_stats(&a).incarnation, 1);
        } else {
            WAIT(&r, a.dones == 2);
        }
        if (cases[i].reported && !actor_reported(&a, cases[i].reported))
            TEST_FAIL("%s: %s", cases[i].words, buf_cstr(&a.reported));
        actor_close(&a);
    }
    CHECK_OK(guest_reply(bystander.guest, bystander.call.id, 0, 9, STR(""), NULL));
    WAIT(&r, bystander.dones == 1);
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_starts, 1);
    CHECK_INT(s.runner_losses, 0);
    close_v1(&r, &bystander, m);
}

/* A new guest does what `words` or its environment says; why: how it fails, NULL: it lives on. */
static void check_liar(struct rig *r, struct module *m, const struct guest_env *env,
                       const char *words, const char *why)
{
    struct actor a = { 0 };
    actor_open(&a, r,
               (struct guest_spec){ .module = m,
                                    .abi = GUEST_ABI_V1,
                                    .env = env,
                                    .n_env = env ? 1 : 0,
                                    .memory_max_bytes = 8 << 20,
                                    .activation_ms = 2000 });
    if (!env || !why)
        WAIT(r, actor_is_idle(&a) || actor_state(&a) == GUEST_FAILED);
    if (!env && actor_state(&a) != GUEST_FAILED)
        actor_activate(&a, 1, words);
    if (why)
        WAIT(r, actor_state(&a) == GUEST_FAILED || a.dones == 1);
    else
        WAIT(r, actor_is_idle(&a) || actor_state(&a) == GUEST_FAILED);
    if ((actor_state(&a) == GUEST_FAILED) != (why != NULL) ||
        (why && str_find(str_of(a.why.text), str_of(why)) != 0))
        TEST_FAIL("%s: '%s' instead of '%s'", words, a.why.text, why ? why : "");
    CHECK(actor_stats(&a).memory_bytes <= 8 << 20);
    actor_close(&a);
}

TEST(guests_that_lie_in_every_call_fail_alone)
{
    static const struct {
        const char *name, *call;
    } calls[] = {
        { "get", "cache_get" },        { "list", "cache_list" },  { "config", "config_get" },
        { "head", "api_request" },     { "body", "api_request" }, { "read", "result_read" },
        { "message", "fail_message" }, { "log", "log" },          { "pairs", "log" },
        { "event", "event" },          { "enqueue", "enqueue" },  { "metric", "metric" },
    };
    static const char *const wrong[] = { "over", "behind", "wrap", "round", "all", "minus" };
    static const struct {
        const char *variable, *word, *why;
    } cases[] = {
        { NULL, "recursion", "activate: stack overflow" },
        { NULL, "million", NULL },
        { NULL, "newlines", NULL },
        { NULL, "regrow:query", NULL },
        { NULL, "hog", NULL },
        { NULL, "calls", "activate: ran longer" },
        { NULL, "polls", "activate: ran longer" },
        { NULL, "return:-9223372036854775807", "activate: R-result: " },
        { NULL, "return:9223372036854775807", "activate: R-result: " },
        { "SETUP", "range:declare/over", "declare: R-memory: " },
        { "SETUP", "range:declare/wrap", "declare: R-memory: " },
        { "SETUP", "range:declare/minus", "declare: R-memory: " },
        { "SETUP", "recursion", "setup: stack overflow" },
        { "SETUP", "calls", "setup: ran longer" },
        { "SETUP", "polls", "setup: ran longer" },
        { "SETUP", "trap", "setup: unreachable" },
        { "SETUP", "get:x", "cache_get: R-outside: " },
        { "SETUP", "list:x", "cache_list: R-outside: " },
        { "SETUP", "config:x", "config_get: R-outside: " },
        { "SETUP", "event:x", "event: R-outside: " },
        { "SETUP", "enqueue:x", "enqueue: R-outside: " },
        { "SETUP", "newlines", NULL },
        { "INIT", "recursion", "_initialize: stack overflow" },
        { "INIT", "spin", "setup: ran longer" },
        { "INIT", "trap", "_initialize: unreachable" },
        { "INIT", "calls", "setup: ran longer" },
        { "INIT", "declare", "declare: R-outside: " },
        { "INIT", "api:x", "api_request: R-outside: " },
        { "INIT", "metric:x", "metric: R-outside: " },
        { "INIT", "range:log/over", "log: R-memory: " },
    };
    struct rig r;
    struct actor bystander = { .holds_calls = true };
    char words[64], why[64];
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "v1");
    actor_open(&bystander, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1 });
    actor_activate(&bystander, 1, "get:k value");
    WAIT(&r, actor_stats(&bystander).is_parked);
    for (size_t c = 0; c < ARRAY_LEN(calls); c++) {
        for (size_t k = 0; k < ARRAY_LEN(wrong); k++) {
            (void)snprintf(words, sizeof words, "range:%s/%s", calls[c].name, wrong[k]);
            (void)snprintf(why, sizeof why, "%s: R-memory: ", calls[c].call);
            check_liar(&r, m, NULL, words, why);
        }
        (void)snprintf(words, sizeof words, "range:%s/last", calls[c].name);
        check_liar(&r, m, NULL, words, NULL);
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct guest_env env = { str_of(cases[i].variable ? cases[i].variable : ""),
                                       str_of(cases[i].word) };
        check_liar(&r, m, cases[i].variable ? &env : NULL, cases[i].word, cases[i].why);
    }
    CHECK_OK(guest_reply(bystander.guest, bystander.call.id, 0, 9, STR(""), NULL));
    WAIT(&r, bystander.dones == 1);
    CHECK(actor_reported(&bystander, "done 1 0 9\n"));
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_losses, 0);
    close_v1(&r, &bystander, m);
}

TEST(log_lines_beyond_the_limit_are_left_out_and_counted)
{
    struct rig r;
    struct actor a = { 0 };
    struct module *m;
    open_v1(&r, &a, &m, awake);
    a.posts = 0;
    actor_do(&a, 1, "logs:300");
    CHECK_INT(a.posts, GUEST_V1_POSTED_LOGS_MAX);
    CHECK(actor_logged(&a, "(44 lines left out)"));
    close_v1(&r, &a, m);
}

/* Nothing that a runner says of such a guest is believed without need. */
TEST(runners_that_lie_about_guests_are_ended)
{
    static const char *const tricks[] = {
        "v1id", "v1kind", "v1twice", "v1result", "v1note", "v1op"
    };
    const char *fake = getenv("TEST_FAKE_RUNNER");
    if (!fake)
        SKIP("TEST_FAKE_RUNNER is not set");
    for (size_t i = 0; i < ARRAY_LEN(tricks); i++) {
        char path[512];
        struct rig r;
        struct actor a = { 0 };
        struct guest_host_stats s = { 0 };
        (void)snprintf(path, sizeof path, "%s-%s", fake, tricks[i]);
        (void)unlink(path);
        CHECK_OK(symlink(fake, path));
        rig_runner = path;
        rig_open(&r, awake);
        struct module *m = rig_module(&r, "v1");
        a.holds_declare = true;
        actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1 });
        while (s.runner_losses == 0) {
            (void)loop_turn(&r.loop, true);
            guest_host_get_stats(r.host, &s);
        }
        CHECK_INT(a.calls, strcmp(tricks[i], "v1twice") == 0 ? 1 : 0);
        CHECK(a.posts == 0 && a.dones == 0 && a.ops.n == 0);
        CHECK_INT(a.states[GUEST_AWAKE], 0);
        close_v1(&r, &a, m);
        (void)unlink(path);
    }
}

TEST(modules_that_do_not_fit_the_abi_are_refused_by_name)
{
    struct rig r;
    struct actor a = { 0 };
    struct err err = { 0 };
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "twin-g2"), *v1 = rig_module(&r, "v1");
    CHECK_ERR(actor_try_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1 }, &err),
              E_UNSUPPORTED);
    CHECK(str_find(str_of(err.text), STR("'dormouse_v1_setup' of type :i")) >= 0);
    CHECK_ERR(
        actor_try_open(&a, &r, (struct guest_spec){ .module = v1, .abi = GUEST_ABI_G2 }, &err),
        E_UNSUPPORTED);
    buf_fini(&a.log);
    buf_fini(&a.reported);
    module_unref(v1);
    close_v1(&r, &(struct actor){ 0 }, m);
}

TEST_MAIN
