/* SPDX-License-Identifier: Apache-2.0 */
/* From queues to real guests in real runners and back. */
#include "dispatch_rig.h"

static const struct guest_host_opts awake = { .sleep_never = true };

struct stage {
    struct rig rig;
    struct dispatch *d;
    struct module *module;
};

static void open_stage(struct stage *s, struct guest_host_opts opts)
{
    rig_open(&s->rig, opts);
    s->d = dispatch_new(&s->rig.loop, &(struct dispatch_opts){ 0 });
    s->module = rig_module(&s->rig, "v1");
}

static void close_stage(struct stage *s)
{
    dispatch_free(s->d);
    module_unref(s->module);
    rig_close(&s->rig);
}

static void open_crew(struct crew *c, struct stage *s, unsigned instances)
{
    c->name = "test/crew";
    c->module = s->module;
    crew_open(c, &s->rig, s->d, instances);
}

TEST(a_guest_is_told_of_a_key_and_says_what_becomes_of_it)
{
    struct stage s;
    struct crew c = { 0 };
    open_stage(&s, awake);
    open_crew(&c, &s, 1);
    crew_add(&c, "fail:because+return:-2");
    WAIT(&s.rig, c.n_results == 1);
    CHECK_INT(c.last.end, WORK_REFUSED);
    CHECK_STR(str_of(c.last_message), "because");
    crew_add(&c, "api:GET_/x+return:7");
    WAIT(&s.rig, c.n_results == 3); /* comes again after 7 ms by itself */
    CHECK_INT(c.n_calls, 2);
    CHECK_INT(c.last.task.reasons, 1u << WORK_REQUEUE);
    crew_close(&c);
    close_stage(&s);
}

TEST(a_sleeping_guest_is_woken_by_what_its_key_waits_for)
{
    struct stage s;
    struct crew c = { 0 };
    open_stage(&s, (struct guest_host_opts){ .sleep_always = true });
    open_crew(&c, &s, 1);
    crew_add(&c, "touch:20+return:20");
    WAIT(&s.rig, c.n_results == 1);
    WAIT(&s.rig, guest_state(c.hands[0].guest) == GUEST_ASLEEP);
    CHECK(dispatch_next_due_ms(c.o) <= loop_now_ms(&s.rig.loop) + 21);
    WAIT(&s.rig, c.n_results == 4);
    struct guest_stats stats;
    guest_get_stats(c.hands[0].guest, &stats);
    CHECK(stats.wakes >= 3);
    crew_close(&c);
    close_stage(&s);
}

TEST(a_key_that_makes_its_guest_trap_comes_again_and_others_go_on)
{
    struct stage s;
    struct crew bad = { 0 }, good = { 0 };
    open_stage(&s, awake);
    open_crew(&bad, &s, 1);
    open_crew(&good, &s, 1);
    crew_add(&bad, "trap");
    crew_add(&bad, "return:-2");
    crew_add(&good, "return:1");
    WAIT(&s.rig, bad.n_trapped == 2);
    CHECK_INT(bad.last.end, WORK_FAILED);
    CHECK_INT(bad.last.task.attempt, 1);
    CHECK_INT(bad.n_results, 3); /* the other key was worked on in between */
    CHECK(good.n_results > 20);
    CHECK_INT(good.n_trapped, 0);
    crew_close(&bad);
    crew_close(&good);
    close_stage(&s);
}

TEST(instances_work_on_different_keys_at_the_same_time)
{
    struct stage s;
    struct crew c = { .holds_calls = true };
    open_stage(&s, awake);
    open_crew(&c, &s, 3);
    for (int i = 0; i < 5; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "api:%d+return:-2", i);
        crew_add(&c, name);
    }
    WAIT(&s.rig, c.n_calls == 3);
    CHECK_INT(c.n_started, 3);
    CHECK_INT(c.most_active, 3);
    crew_add(&c, "api:0+return:-2"); /* is being worked on: afterwards */
    while (c.n_results < 6) {
        for (unsigned i = 0; i < 3; i++) {
            struct guest_stats stats;
            guest_get_stats(c.hands[i].guest, &stats);
            if (stats.is_parked)
                crew_reply(&c.hands[i]);
        }
        (void)loop_turn(&s.rig.loop, true);
    }
    CHECK_INT(c.n_calls, 6);
    CHECK_INT(c.most_active, 3);
    crew_close(&c);
    close_stage(&s);
}

static void on_drained(void *arg)
{
    *(bool *)arg = true;
}

TEST(a_guest_is_replaced_between_two_activations_and_no_key_is_lost)
{
    enum { KEYS = 300 };
    struct stage s;
    struct crew c = { 0 };
    open_stage(&s, awake);
    open_crew(&c, &s, 1);
    for (int i = 0; i < KEYS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "fail:%d", i);
        crew_add(&c, name);
    }
    WAIT(&s.rig, c.n_results > KEYS / 3);
    bool is_drained = false;
    dispatch_hold(c.o, DISPATCH_HOLD_REPLACE);
    dispatch_on_drained(c.o, on_drained, &is_drained);
    WAIT(&s.rig, is_drained);
    unsigned before = c.n_results;
    CHECK(before < KEYS);
    guest_free(c.hands[0].guest);
    dispatch_instance_gone(c.o, 0, NULL);
    const struct dispatch_controller_opts opts = { .name = "c" };
    CHECK_OK(dispatch_declare(c.o, &opts, 1, 1, NULL));
    CHECK_OK(crew_start(&c, 0, NULL));
    dispatch_release(c.o, DISPATCH_HOLD_REPLACE);
    WAIT(&s.rig, c.n_results == KEYS);
    CHECK_INT(c.n_trapped, 0);
    crew_close(&c);
    close_stage(&s);
}

TEST(keys_in_flight_come_again_when_their_runner_is_killed)
{
    struct stage s;
    struct crew c = { .holds_calls = true };
    open_stage(&s, awake);
    open_crew(&c, &s, 1);
    crew_add(&c, "api:x+return:-2");
    crew_add(&c, "return:-2");
    WAIT(&s.rig, c.n_calls == 1);
    int pid;
    CHECK_INT(guest_host_pids(s.rig.host, &pid, 1), 1);
    CHECK_INT(kill(pid, SIGKILL), 0);
    WAIT(&s.rig, c.n_calls == 2); /* the same key, tried again by a new guest */
    CHECK_INT(c.n_trapped, 1);
    crew_reply(&c.hands[0]);
    WAIT(&s.rig, c.n_results == 3);
    crew_close(&c);
    close_stage(&s);
}

static bool is_slow(const struct crew *c)
{
    struct guest_stats stats;
    guest_get_stats(c->hands[0].guest, &stats);
    return stats.is_slow;
}

TEST(a_guest_that_loops_holds_up_nobody)
{
    struct stage s;
    struct crew bad = { .spec.activation_ms = 2000 }, good = { 0 };
    open_stage(&s, (struct guest_host_opts){ .max_runners = 1 });
    open_crew(&bad, &s, 1);
    open_crew(&good, &s, 1);
    crew_add(&good, "return:1");
    crew_add(&bad, "get:unread+spin");
    WAIT(&s.rig, bad.n_results == 1);
    CHECK(strstr(bad.last_message, "moved to a runner for slow guests"));
    CHECK(good.n_results >= 1); /* between its slices, in the same runner */
    CHECK(is_slow(&bad));
    unsigned before = good.n_results;
    WAIT(&s.rig, bad.n_results == 2);
    CHECK(strstr(bad.last_message, "activate: ran longer than an activation may"));
    CHECK(good.n_results > before + 20);
    CHECK(!is_slow(&good));
    crew_close(&bad);
    crew_close(&good);
    close_stage(&s);
}

TEST(a_guest_that_loops_while_it_starts_holds_up_nobody)
{
    struct stage s;
    struct guest_env env = { STR("SETUP"), STR("spin") };
    struct crew bad = { .spec = { .activation_ms = 2000, .env = &env, .n_env = 1 } }, good = { 0 };
    open_stage(&s, (struct guest_host_opts){ .max_runners = 1 });
    open_crew(&good, &s, 1);
    crew_add(&good, "return:1");
    WAIT(&s.rig, good.n_results >= 1);
    open_crew(&bad, &s, 1);
    unsigned before = good.n_results;
    WAIT(&s.rig, guest_state(bad.hands[0].guest) == GUEST_FAILED);
    CHECK(good.n_results > before + 20); /* between its slices */
    CHECK(is_slow(&bad));                /* and elsewhere when it starts again */
    crew_close(&bad);
    crew_close(&good);
    close_stage(&s);
}

TEST(a_guest_whose_activations_take_long_goes_to_others_like_it_and_comes_back)
{
    struct stage s;
    struct crew c = { 0 };
    struct guest_host_stats host;
    open_stage(&s, (struct guest_host_opts){ .max_runners = 1, .idle_ms = 50 });
    open_crew(&c, &s, 1);
    for (unsigned i = 0; i < 3; i++) {
        crew_add(&c, "spin:30000000");
        WAIT(&s.rig, c.n_results == i + 1);
    }
    CHECK(is_slow(&c));
    WAIT(&s.rig, guest_state(c.hands[0].guest) == GUEST_ASLEEP); /* to be moved, not lost */
    crew_add(&c, "spin:30000000");
    WAIT(&s.rig, c.n_results == 4);
    guest_host_get_stats(s.rig.host, &host);
    CHECK_INT(host.runner_starts, 2);
    CHECK_INT(c.n_trapped, 0);
    for (unsigned i = 4; is_slow(&c); i++) {
        crew_add(&c, "fail:x");
        WAIT(&s.rig, c.n_results == i + 1);
        CHECK(i < 200);
    }
    crew_close(&c);
    close_stage(&s);
}

/*
 * Its activations are short, and one follows the other. Where the machine has no half of a core for
 * it, it is not busy, and stays.
 */
TEST(a_guest_that_is_busy_without_end_leaves_the_runner_to_the_others)
{
    enum { PATIENCE_MS = 10000 };
    struct stage s;
    struct crew busy = { 0 }, good = { 0 };
    struct guest_host_stats host = { 0 };
    open_stage(&s, (struct guest_host_opts){ .max_runners = 1, .idle_ms = 1000 });
    open_crew(&busy, &s, 1);
    open_crew(&good, &s, 1);
    crew_add(&good, "fail:x");
    WAIT(&s.rig, good.n_results == 1);
    uint64_t began_ms = clock_mono_ms(), passed_ms = 0;
    for (unsigned i = 1; host.runner_starts < 2 && passed_ms < PATIENCE_MS; i++) {
        crew_add(&busy, "spin:1000000"); /* about a millisecond */
        WAIT(&s.rig, busy.n_results == i);
        guest_host_get_stats(s.rig.host, &host);
        passed_ms = clock_mono_ms() - began_ms;
    }
    if (host.runner_starts < 2)
        CHECK(guest_cpu_us(busy.hands[0].guest) / 1000 < passed_ms * 60 / 100);
    CHECK_INT(busy.n_trapped, 0);
    CHECK(!is_slow(&good));
    crew_close(&busy);
    crew_close(&good);
    close_stage(&s);
}

TEST_MAIN
