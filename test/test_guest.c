/* SPDX-License-Identifier: Apache-2.0 */
/* Guests in real runners: life, sleep, failure, and what happens when a runner goes away. */
#include "guest_rig.h"
#include "process_status.h"

#include "base/sanitizer.h"
#include "wasm/confine.h"

#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define ENV(...)                                                                                   \
    .env = (struct guest_env[]){ __VA_ARGS__ },                                                    \
    .n_env = sizeof((struct guest_env[]){ __VA_ARGS__ }) / sizeof(struct guest_env)
#define VAR(name, value)                                                                           \
    {                                                                                              \
        { name, sizeof(name) - 1 },                                                                \
        {                                                                                          \
            value, sizeof(value) - 1                                                               \
        }                                                                                          \
    }

static const struct {
    enum guest_abi abi;
    const char *suffix;
} abis[] = { { GUEST_ABI_G1, "-g1" }, { GUEST_ABI_G2, "-g2" } };

static struct module *module_for(struct rig *r, const char *name, unsigned abi)
{
    char full[64];
    (void)snprintf(full, sizeof full, "%s%s", name, abis[abi].suffix);
    return rig_module(r, full);
}

static const struct guest_host_opts awake = { .sleep_never = true };
static const struct guest_host_opts manual = { .idle_ms = 600000 };

TEST(a_guest_starts_works_sleeps_and_wakes_up_again)
{
    for (unsigned i = 0; i < ARRAY_LEN(abis); i++) {
        struct rig r;
        struct actor a = { 0 };
        rig_open(&r, manual);
        struct module *m = module_for(&r, "twin", i);
        actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = abis[i].abi });
        CHECK_INT(actor_state(&a), GUEST_COLD);
        WAIT(&r, actor_state(&a) == GUEST_AWAKE);
        CHECK_INT(a.ops.n, 1);
        CHECK_INT(a.ops.p[0].op.kind, GUEST_OP_DELAY);
        CHECK_INT(a.ops.p[0].op.id, 0);
        CHECK(actor_logged(&a, "1 probe sum 1 "));

        actor_sleep(&a);
        struct guest_stats s = actor_stats(&a);
        CHECK_INT(s.resident_bytes, 0);
        CHECK(s.swap_bytes > 0 && s.dissolvable);
        CHECK_INT(s.suspends, 1);

        actor_complete(&a, 0, 0);
        WAIT(&r, a.ops.n == 2);
        CHECK(actor_logged(&a, "1 probe sum 2 "));
        CHECK_INT(actor_state(&a), GUEST_AWAKE);
        s = actor_stats(&a);
        CHECK_INT(s.wakes, 1);
        CHECK_INT(s.activations, 2);
        CHECK(s.wake_us_last > 0 && s.wake_us_p50 > 0);
        CHECK(s.resident_bytes > 0);
        actor_close(&a);
        module_unref(m);
        rig_close(&r);
    }
}

TEST(an_idle_guest_falls_asleep_by_itself_and_then_its_runner_ends)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 20 });
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, actor_state(&a) == GUEST_ASLEEP);
    struct guest_host_stats s;
    int pid;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runners, 1);
    CHECK_INT(guest_host_pids(r.host, &pid, 1), 1);
    WAIT(&r, guest_host_pids(r.host, &pid, 1) == 0);
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_losses, 0);
    /* Nothing is armed any more, and work brings a runner back. */
    actor_complete(&a, 0, 0);
    WAIT(&r, a.ops.n == 2);
    CHECK_INT(actor_stats(&a).incarnation, 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(under_pressure_all_idle_guests_fall_asleep)
{
    enum { N = 5 };
    struct rig r;
    struct actor a[N];
    memset(a, 0, sizeof a);
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "twin-g2");
    for (unsigned i = 0; i < N; i++) {
        actor_open(&a[i], &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
        WAIT(&r, actor_is_idle(&a[i]));
    }
    CHECK_INT(guest_host_relieve(r.host), N);
    CHECK_INT(guest_host_relieve(r.host), 0);
    for (unsigned i = 0; i < N; i++) {
        WAIT(&r, actor_state(&a[i]) == GUEST_ASLEEP);
        actor_close(&a[i]);
    }
    module_unref(m);
    rig_close(&r);
}

TEST(hibernation_after_every_activation_loses_nothing)
{
    struct rig r;
    struct actor a = { .auto_delay = true };
    rig_open(&r, (struct guest_host_opts){ .sleep_always = true });
    struct module *m = rig_module(&r, "twin-g1");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G1 });
    WAIT(&r, a.ops.n == 200);
    struct guest_stats s = actor_stats(&a);
    CHECK(s.wakes >= 199 && s.suspends >= 199);
    CHECK_INT(s.incarnation, 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(completions_come_after_the_import_returned_and_in_fair_order)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "order-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 4);
    /* A head and a body for each of four requests, all of one id first. */
    static const char head[62] =
        "\xc8\x00\x01\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0content-type\x01\0\0\0\0\0\0"
        "\0\x10\0\0\0\0\0\0\0application/json";
    for (uint64_t id = 0; id < 4; id++) {
        struct guest_delivery d = { .id = id, .payload = str_n(head, sizeof head) };
        CHECK_OK(guest_deliver(a.guest, &d, NULL));
        d.payload = STR("{}");
        d.finished = d.last = true;
        CHECK_OK(guest_deliver(a.guest, &d, NULL));
        CHECK_ERR(guest_deliver(a.guest, &d, NULL), -ESTALE);
    }
    WAIT(&r, actor_stats(&a).activations == 9);
    if (!actor_logged(&a, "probe order 0h 1h 2h 3h 0b 1b 2b 3b"))
        TEST_FAIL("%s", buf_cstr(&a.log));
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(a_full_queue_refuses_and_says_when_there_is_room)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "twin-g1");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G1 });
    WAIT(&r, a.ops.n == 1);
    struct guest_delivery d = { .id = 0, .payload = STR("x") };
    for (unsigned i = 0; i < GUEST_QUEUE_MAX_EVENTS; i++)
        CHECK_OK(guest_deliver(a.guest, &d, NULL));
    CHECK_ERR(guest_deliver(a.guest, &d, NULL), -EBUSY);
    WAIT(&r, a.rooms == 1);
    CHECK_OK(guest_deliver(a.guest, &d, NULL));
    WAIT(&r, actor_stats(&a).queued == 0);
    d.payload.n = GUEST_PAYLOAD_MAX_BYTES + 1;
    CHECK_ERR(guest_deliver(a.guest, &d, NULL), -EMSGSIZE);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(a_full_queue_says_when_there_is_room_even_if_the_guest_falls_asleep_at_once)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, (struct guest_host_opts){ .sleep_always = true });
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1 && actor_state(&a) == GUEST_ASLEEP);
    size_t n = GUEST_QUEUE_MAX_BYTES / 2 + 1;
    char *big = xalloc(n);
    memset(big, 'x', n);
    struct guest_delivery d = { .id = 0, .payload = { big, n } };
    CHECK_OK(guest_deliver(a.guest, &d, NULL));
    CHECK_ERR(guest_deliver(a.guest, &d, NULL), -EBUSY);
    WAIT(&r, actor_is_idle(&a) && actor_state(&a) == GUEST_ASLEEP);
    CHECK_INT(a.rooms, 1);
    free(big);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(large_payloads_arrive_whole_in_both_directions)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1);
    size_t n = 3 << 20;
    char *big = xalloc(n);
    memset(big, 'x', n);
    CHECK_OK(
        guest_deliver(a.guest, &(struct guest_delivery){ .id = 0, .payload = { big, n } }, NULL));
    WAIT(&r, actor_logged(&a, "probe sum 2 "));
    CHECK(actor_stats(&a).memory_bytes >= n);
    actor_sleep(&a);
    CHECK_OK(
        guest_deliver(a.guest, &(struct guest_delivery){ .id = 0, .payload = { big, n } }, NULL));
    WAIT(&r, actor_logged(&a, "probe sum 3 "));
    free(big);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

/* ---- hostile guests ---- */

struct hostile_case {
    const char *mode, *extra_name, *extra;
    const char *fails; /* part of the reason; NULL: it lives on */
    const char *prints;
};

static const struct hostile_case hostile_cases[] = {
    { "loop", NULL, NULL, "ran longer", NULL },
    { "memory", NULL, NULL, "ran longer", NULL },
    { "grow", NULL, NULL, NULL, "probe pages" },
    { "recursion", NULL, NULL, "stack overflow", NULL },
    { "trap", NULL, NULL, "unreachable", NULL },
    { "exit", "EXIT_CODE", "3", "status 3", NULL },
    { "garbage", NULL, NULL, "malformed", NULL },
    { "flood", "BYTES", "1048576", NULL, "lines left out" },
    { "partial", "BYTES", "1048576", NULL, "probe printed" },
    { "newlines", NULL, NULL, NULL, "lines left out" },
    { "timers", NULL, NULL, "too many operations", NULL },
    { "requests", NULL, NULL, "too many operations", NULL },
    { "ids", NULL, NULL, NULL, "probe id 3" },
    { "wild", "FN", "request", "not in its memory", NULL },
    { "wild", "FN", "request_length", "too large", NULL },
    { "wild", "FN", "fd_write_buffer", "outside of its memory", NULL },
    { "wild", "FN", "fd_write_vector", "outside of its memory", NULL },
    { "wild", "FN", "fd_write_count", NULL, "probe survived 28" },
    { "wild", "FN", "fd_write_result", "outside of its memory", NULL },
    { "wild", "FN", "clock_time_get", "outside of its memory", NULL },
    { "wild", "FN", "random_get", "outside of its memory", NULL },
    { "wild", "FN", "random_get_length", "outside of its memory", NULL },
    { "wild", "FN", "environ_get", "outside of its memory", NULL },
    { "wild", "FN", "environ_sizes_get", "outside of its memory", NULL },
    { "wild", "FN", "poll_oneoff", "outside of its memory", NULL },
    { "wild", "FN", "fd_prestat_dir_name", NULL, "probe survived 8" },
    { "wild", "FN", "path_open", "outside of its memory", NULL }, /* in its own strlen() */
};

static void run_hostile(struct rig *r, struct module *m, enum guest_abi abi,
                        const struct hostile_case *c, const char *at)
{
    struct guest_env env[3] = { { STR("MODE"), str_of(c->mode) }, { STR("AT"), str_of(at) } };
    size_t n_env = 2;
    if (c->extra)
        env[n_env++] = (struct guest_env){ str_of(c->extra_name), str_of(c->extra) };
    struct actor a = { .auto_delay = strcmp(at, "wake") == 0 };
    bool is_endless = c->fails && strcmp(c->fails, "ran longer") == 0;
    actor_open(&a, r,
               (struct guest_spec){ .module = m,
                                    .abi = abi,
                                    .env = env,
                                    .n_env = n_env,
                                    .memory_max_bytes = 2 << 20,
                                    .activation_ms = is_endless ? 50 : 10000 });
    if (c->fails) {
        WAIT(r, actor_state(&a) == GUEST_FAILED);
        if (str_find(str_of(a.why.text), str_of(c->fails)) < 0)
            TEST_FAIL("%s %s: %s", c->mode, c->extra ? c->extra : "", a.why.text);
    } else {
        WAIT(r, actor_is_idle(&a) && actor_logged(&a, c->prints));
        CHECK_INT(a.states[GUEST_FAILED], 0);
    }
    CHECK(actor_stats(&a).memory_bytes <= 2 << 20);
    actor_close(&a);
}

TEST(hostile_guests_fail_alone)
{
    for (unsigned i = 0; i < ARRAY_LEN(abis); i++) {
        struct rig r;
        struct actor bystander = { 0 };
        rig_open(&r, awake);
        struct module *m = module_for(&r, "hostile", i), *twin = module_for(&r, "twin", i);
        actor_open(&bystander, &r, (struct guest_spec){ .module = twin, .abi = abis[i].abi });
        for (size_t c = 0; c < ARRAY_LEN(hostile_cases); c++) {
            run_hostile(&r, m, abis[i].abi, &hostile_cases[c], "start");
            run_hostile(&r, m, abis[i].abi, &hostile_cases[c], "wake");
        }
        actor_complete(&bystander, 0, 0);
        WAIT(&r, bystander.ops.n == 2);
        struct guest_host_stats s;
        guest_host_get_stats(r.host, &s);
        CHECK_INT(s.runner_losses, 0);
        CHECK_INT(s.runner_starts, 1);
        actor_close(&bystander);
        module_unref(m);
        module_unref(twin);
        rig_close(&r);
    }
}

TEST(allocators_that_lie_fail_alone)
{
    static const struct {
        const char *fn, *why; /* NULL: it lives on */
    } cases[] = {
        { "null", "which is not in the guest's memory" },
        { "beyond", "which is not in the guest's memory" },
        { "end", "which is not in the guest's memory" },
        { "over", "which is not in the guest's memory" },
        { "last", NULL },
        { "same", NULL },
        { "grow", NULL },
        { "loop", "ran longer" },
        { "recursion", "stack overflow" },
        { "exit", "exit with status 0" },
        { "requests", "too many operations" },
        { "trap", "unreachable" },
    };
    for (unsigned i = 0; i < ARRAY_LEN(abis); i++) {
        struct rig r;
        struct actor bystander = { 0 };
        rig_open(&r, awake);
        struct module *m = module_for(&r, "hostile", i), *twin = module_for(&r, "twin", i);
        actor_open(&bystander, &r, (struct guest_spec){ .module = twin, .abi = abis[i].abi });
        for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
            const struct guest_env env[] = { { STR("MODE"), STR("allocate") },
                                             { STR("FN"), str_of(cases[c].fn) } };
            bool is_endless = strcmp(cases[c].fn, "loop") == 0;
            struct actor a = { 0 };
            actor_open(&a, &r,
                       (struct guest_spec){ .module = m,
                                            .abi = abis[i].abi,
                                            .env = env,
                                            .n_env = ARRAY_LEN(env),
                                            .memory_max_bytes = 2 << 20,
                                            .activation_ms = is_endless ? 50 : 10000 });
            WAIT(&r, a.ops.n == 1 && actor_is_idle(&a));
            CHECK_OK(guest_deliver(
                a.guest,
                &(struct guest_delivery){ .id = 0, .finished = true, .payload = STR("value") },
                NULL));
            if (cases[c].why) {
                WAIT(&r, actor_state(&a) == GUEST_FAILED);
                if (str_find(str_of(a.why.text), str_of(cases[c].why)) < 0)
                    TEST_FAIL("%s: %s", cases[c].fn, a.why.text);
            } else {
                WAIT(&r, actor_logged(&a, "probe woken 0"));
                CHECK_INT(a.states[GUEST_FAILED], 0);
            }
            actor_close(&a);
        }
        actor_complete(&bystander, 0, 0);
        WAIT(&r, bystander.ops.n == 2);
        struct guest_host_stats s;
        guest_host_get_stats(r.host, &s);
        CHECK_INT(s.runner_losses, 0);
        actor_close(&bystander);
        module_unref(m);
        module_unref(twin);
        rig_close(&r);
    }
}

TEST(an_exit_with_0_in_the_entry_point_means_initialised)
{
    for (unsigned i = 0; i < ARRAY_LEN(abis); i++) {
        struct rig r;
        struct actor a = { 0 };
        rig_open(&r, manual);
        struct module *m = module_for(&r, "hostile", i);
        actor_open(
            &a, &r,
            (struct guest_spec){ .module = m, .abi = abis[i].abi, ENV(VAR("MODE", "exit")) });
        WAIT(&r, actor_state(&a) == GUEST_AWAKE);
        actor_sleep(&a);
        actor_complete(&a, 0, 0);
        WAIT(&r, actor_logged(&a, "probe woken 0"));
        actor_close(&a);
        module_unref(m);
        rig_close(&r);
    }
}

TEST(a_failed_guest_starts_again_after_a_while)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "hostile-g2");
    actor_open(&a, &r,
               (struct guest_spec){
                   .module = m, .abi = GUEST_ABI_G2, ENV(VAR("MODE", "trap"), VAR("AT", "wake")) });
    WAIT(&r, a.ops.n == 1);
    actor_complete(&a, 0, 0);
    WAIT(&r, actor_state(&a) == GUEST_FAILED);
    CHECK_ERR(guest_deliver(a.guest, &(struct guest_delivery){ .id = 0, .last = true }, NULL),
              -ESTALE);
    CHECK_INT(actor_stats(&a).incarnation, 1);
    WAIT(&r, a.ops.n == 2);
    CHECK_INT(a.ops.p[1].op.id, 0);
    CHECK_INT(a.ops.p[1].op.incarnation, 1);
    CHECK_INT(actor_stats(&a).restarts, 1);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(the_service_can_end_an_incarnation)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1);
    actor_sleep(&a);
    struct err why = { 0 };
    (void)err_set(&why, E_PARSE, "not an HttpRequest");
    guest_fail(a.guest, &why);
    CHECK_INT(actor_state(&a), GUEST_ASLEEP); /* callbacks come from the loop */
    WAIT(&r, actor_state(&a) == GUEST_FAILED);
    CHECK(str_find(str_of(a.why.text), STR("not an HttpRequest")) >= 0);
    CHECK_INT(actor_stats(&a).swap_bytes, 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

TEST(unfit_modules_are_refused_before_anything_runs)
{
    struct rig r;
    struct actor a = { 0 };
    struct err err = { 0 };
    rig_open(&r, awake);
    struct module *m = rig_module(&r, "import-g2");
    CHECK_ERR(actor_try_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 }, &err),
              E_UNSUPPORTED);
    CHECK(str_find(str_of(err.text), STR("surprise-abi.open")) >= 0);
    module_unref(m);
    m = rig_module(&r, "twin-g2");
    CHECK_ERR(actor_try_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G1 }, &err),
              E_UNSUPPORTED);
    CHECK_ERR(actor_try_open(&a, &r,
                             (struct guest_spec){
                                 .module = m, .abi = GUEST_ABI_G2, .memory_max_bytes = 65536 },
                             &err),
              E_LIMIT);
    module_unref(m);
    buf_fini(&a.log);
    rig_close(&r);
}

TEST(a_module_that_changes_its_table_sleeps_in_its_runner)
{
    struct rig r;
    struct actor a = { 0 };
    if (!rig_has_module("table-g2"))
        SKIP("no table-g2.wasm");
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "table-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n >= 1);
    for (unsigned i = 0; i < 5; i++) {
        size_t before = a.ops.n;
        uint64_t id = a.ops.p[before - 1].op.id;
        actor_sleep(&a);
        struct guest_stats s = actor_stats(&a);
        CHECK(!s.dissolvable);
        CHECK_INT(s.suspends, i + 1);
        actor_complete(&a, id, 0);
        WAIT(&r, actor_stats(&a).activations == i + 2 && actor_is_idle(&a));
        if (a.ops.n == before)
            break;
    }
    int pid;
    CHECK_INT(guest_host_pids(r.host, &pid, 1), 1);
    CHECK_INT(a.states[GUEST_FAILED], 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

/* ---- runners that go away ---- */

static int only_pid(struct rig *r)
{
    int pids[2];
    CHECK_INT(guest_host_pids(r->host, pids, 2), 1);
    return pids[0];
}

TEST(a_killed_runner_costs_its_awake_guests_their_state_and_sleeping_ones_nothing)
{
    struct rig r;
    struct actor busy = { 0 }, idle = { 0 }, asleep = { 0 };
    rig_open(&r, manual);
    struct module *hostile = rig_module(&r, "hostile-g2"), *twin = rig_module(&r, "twin-g2");
    actor_open(&asleep, &r, (struct guest_spec){ .module = twin, .abi = GUEST_ABI_G2 });
    actor_open(&idle, &r, (struct guest_spec){ .module = twin, .abi = GUEST_ABI_G2 });
    actor_open(&busy, &r,
               (struct guest_spec){ .module = hostile,
                                    .abi = GUEST_ABI_G2,
                                    .activation_ms = 60000,
                                    ENV(VAR("MODE", "loop"), VAR("AT", "wake")) });
    WAIT(&r, asleep.ops.n && idle.ops.n && busy.ops.n);
    actor_sleep(&asleep);
    int pid = only_pid(&r);
    actor_complete(&busy, 0, 0);
    WAIT(&r, actor_state(&busy) == GUEST_RUNNING);
    /* Behind the one that never ends: their commands have not begun. */
    actor_complete(&asleep, 0, 0);
    WAIT(&r, actor_state(&asleep) == GUEST_RUNNING);
    CHECK_OK(kill(pid, SIGKILL));
    WAIT(&r, actor_state(&busy) == GUEST_FAILED);
    WAIT(&r, asleep.ops.n == 2 && idle.ops.n == 2);
    CHECK_INT(actor_stats(&asleep).incarnation, 0); /* its event was not lost, nor its state */
    CHECK(actor_logged(&asleep, "probe sum 2 "));
    CHECK_INT(actor_stats(&idle).incarnation, 1);
    CHECK_INT(idle.states[GUEST_FAILED], 0);
    CHECK_INT(idle.ops.p[1].op.id, 0);
    CHECK(only_pid(&r) != pid);
    /* The guest that ran starts again, alone. */
    WAIT(&r, busy.ops.n == 2);
    int pids[2];
    CHECK_INT(guest_host_pids(r.host, pids, 2), 2);
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_losses, 1);
    actor_close(&busy);
    actor_close(&idle);
    actor_close(&asleep);
    module_unref(hostile);
    module_unref(twin);
    rig_close(&r);
}

TEST(a_second_runner_starts_when_commands_queue)
{
    enum { N = 48 }; /* more than one runner takes at once */
    struct rig r;
    struct actor a[N];
    struct guest_host_stats s;
    memset(a, 0, sizeof a);
    rig_open(&r, (struct guest_host_opts){ .sleep_never = true, .max_runners = 2 });
    struct module *m = rig_module(&r, "hostile-g2");
    for (unsigned i = 0; i < N; i++)
        actor_open(
            &a[i], &r,
            (struct guest_spec){
                .module = m, .abi = GUEST_ABI_G2, .activation_ms = 10, ENV(VAR("MODE", "loop")) });
    for (unsigned i = 0; i < N; i++)
        WAIT(&r, a[i].states[GUEST_FAILED] > 0);
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_starts, 2);
    CHECK_INT(s.runner_losses, 0);
    for (unsigned i = 0; i < N; i++)
        actor_close(&a[i]);
    module_unref(m);
    rig_close(&r);
}

TEST(runners_that_talk_nonsense_are_ended)
{
    static const char *const tricks[] = { "hello",  "garbage",     "truncated", "order",
                                          "ids",    "incarnation", "slot",      "silent-exit",
                                          "memory", "more",        "fd",        "call" };
    const char *fake = getenv("TEST_FAKE_RUNNER");
    if (!fake)
        SKIP("TEST_FAKE_RUNNER is not set");
    for (size_t i = 0; i < ARRAY_LEN(tricks); i++) {
        char path[512];
        struct rig r;
        struct actor a = { 0 };
        (void)snprintf(path, sizeof path, "%s-%s", fake, tricks[i]);
        (void)unlink(path);
        CHECK_OK(symlink(fake, path));
        rig_runner = path;
        rig_open(&r, awake);
        struct module *m = rig_module(&r, "twin-g2");
        actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
        struct guest_host_stats s = { 0 };
        while (s.runner_losses == 0) {
            (void)loop_turn(&r.loop, true);
            guest_host_get_stats(r.host, &s);
        }
        WAIT(&r, a.states[GUEST_FAILED] > 0);
        CHECK_INT(a.ops.n, 0);
        CHECK_INT(a.lines, 0);
        actor_close(&a);
        module_unref(m);
        rig_close(&r);
        (void)unlink(path);
    }
}

/* A host is a class of the pool; functions are another one. */
TEST(classes_of_a_pool_share_no_runner_and_end_apart)
{
    struct rig r;
    struct actor a = { 0 }, b = { 0 };
    struct guest_host_stats s;
    bool closed = false;
    int of_a, of_b, now, more[2];
    rig_open(&r, awake);
    struct guest_host *first = r.host, *second;
    scoped(free_scoped) char *swap = xasprintf("%s/swap2", r.dir);
    struct guest_host_opts opts = awake;
    opts.swap_dir = swap;
    opts.runners = r.runners;
    CHECK_OK(guest_host_new(&r.loop, &opts, &second, NULL));
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    r.host = second;
    actor_open(&b, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, actor_is_idle(&a) && actor_is_idle(&b));
    CHECK_INT(guest_host_pids(first, &of_a, 1), 1);
    CHECK_INT(guest_host_pids(second, &of_b, 1), 1);
    CHECK(of_a != of_b);

    /* A crash in one class: the other's guest stays where it is, in its incarnation. */
    CHECK_OK(kill(of_a, SIGKILL));
    WAIT(&r, actor_stats(&a).incarnation == 1 && actor_is_idle(&a));
    guest_host_get_stats(second, &s);
    CHECK_INT(s.runner_losses, 0);
    CHECK_INT(s.runner_starts, 1);
    CHECK_INT(guest_host_pids(second, &now, 1), 1);
    CHECK_INT(now, of_b);
    CHECK_INT(actor_stats(&b).incarnation, 0);
    guest_host_get_stats(first, &s);
    CHECK_INT(s.runner_losses, 1);
    CHECK_INT(s.runner_starts, 2);

    /* The end of one class: the other works on. */
    actor_close(&a);
    guest_host_close(first, rig_on_closed, &closed);
    WAIT(&r, closed);
    actor_complete(&b, 0, 0);
    WAIT(&r, b.ops.n == 2 && actor_is_idle(&b));
    CHECK_INT(guest_host_pids(second, more, 2), 1);
    CHECK_INT(more[0], of_b);
    actor_close(&b);
    module_unref(m);
    rig_close(&r);
}

TEST(a_missing_runner_fails_the_guest_and_says_so)
{
    struct rig r;
    struct actor a = { 0 };
    rig_runner = "/nonexistent/runner";
    rig_open(&r, (struct guest_host_opts){ 0 });
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, actor_state(&a) == GUEST_FAILED);
    CHECK(str_find(str_of(a.why.text), STR("/nonexistent/runner")) >= 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

/* ---- disk ---- */

TEST(without_disk_quota_guests_stay_awake_and_work)
{
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000, .swap_quota_bytes = 4096 });
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1);
    CHECK_OK(guest_sleep(a.guest));
    actor_complete(&a, 0, 0);
    WAIT(&r, a.ops.n == 2);
    CHECK_INT(actor_stats(&a).suspends, 0);
    CHECK_INT(actor_stats(&a).incarnation, 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

/* Whether both are in the same namespace of this kind. */
static bool shares(int pid, const char *kind)
{
    char path[64], own[64];
    struct stat a, b;
    (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
    (void)snprintf(own, sizeof own, "/proc/self/ns/%s", kind);
    CHECK_OK(stat(path, &a));
    CHECK_OK(stat(own, &b));
    return a.st_ino == b.st_ino;
}

/* That a child may make namespaces. */
static bool has_namespaces(void)
{
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) < 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return status == 0;
}

TEST(a_runner_has_no_privileges_and_sees_nothing)
{
#if HAS_SANITIZER
    SKIP("the sanitizer needs what runners give up");
#endif
    struct rig r;
    struct actor a = { 0 };
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1);
    int pid = only_pid(&r);
    char uid[16], path[64];
    (void)snprintf(uid, sizeof uid, "%d", geteuid() == 0 ? (int)CONFINE_ID : (int)geteuid());
    CHECK(has_field(pid, "Uid", uid));
    CHECK(has_field(pid, "CapEff", "0000000000000000"));
    CHECK(has_field(pid, "CapPrm", "0000000000000000"));
    CHECK(has_field(pid, "CapAmb", "0000000000000000"));
    CHECK(has_field(pid, "NoNewPrivs", "1"));
    CHECK(has_field(pid, "Seccomp", "2"));
    if (geteuid() == 0) { /* others may not look */
        CHECK(has_field(pid, "Gid", uid));
        CHECK(has_field(pid, "Groups", ""));
        CHECK(has_field(pid, "CapBnd", "0000000000000000"));
        if (has_namespaces()) {
            CHECK(!shares(pid, "net"));
            CHECK(!shares(pid, "ipc"));
            CHECK(!shares(pid, "mnt"));
            (void)snprintf(path, sizeof path, "/proc/%d/root", pid);
            DIR *dir = opendir(path);
            CHECK(dir);
            for (struct dirent *e; (e = readdir(dir));)
                CHECK(e->d_name[0] == '.');
            (void)closedir(dir);
        }
    }
    /* What hibernation does works without them, old way and new. */
    actor_sleep(&a);
    actor_complete(&a, 0, 0);
    WAIT(&r, a.ops.n == 2);
    CHECK_INT(actor_stats(&a).wakes, 1);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000, .force_pagemap = true });
    m = rig_module(&r, "twin-g2");
    a = (struct actor){ 0 };
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1);
    actor_sleep(&a);
    actor_complete(&a, 0, 0);
    WAIT(&r, a.ops.n == 2);
    CHECK_INT(actor_stats(&a).wakes, 1);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

/* Of the files of sleeping guests. */
static uint64_t swap_on_disk(const struct rig *r)
{
    char path[600];
    struct stat st;
    uint64_t bytes = 0;
    (void)snprintf(path, sizeof path, "%s/swap", r->dir);
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.' && fstatat(dirfd(dir), e->d_name, &st, 0) == 0 &&
            S_ISREG(st.st_mode))
            bytes += (uint64_t)st.st_blocks * 512;
    (void)closedir(dir);
    return bytes;
}

/* Each takes all the memory that it gets and writes to every page of it. */
TEST(swap_stays_within_its_quota_whatever_guests_dirty)
{
    enum { N = 5, LIMIT = 2 << 20, QUOTA = 5 << 20 };
    struct guest_host_stats s;
    struct rig r;
    struct actor a[N] = { 0 };
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000, .swap_quota_bytes = QUOTA });
    struct module *m = rig_module(&r, "hostile-g2");
    for (int i = 0; i < N; i++) {
        actor_open(&a[i], &r,
                   (struct guest_spec){ .module = m,
                                        .abi = GUEST_ABI_G2,
                                        .memory_max_bytes = LIMIT,
                                        ENV(VAR("MODE", "grow"), VAR("AT", "start")) });
        WAIT(&r, actor_is_idle(&a[i]) && actor_logged(&a[i], "probe pages"));
    }
    for (int i = 0; i < N; i++) {
        CHECK_OK(guest_sleep(a[i].guest));
        do {
            (void)loop_turn(&r.loop, false);
            guest_host_get_stats(r.host, &s);
        } while (s.commands);
        CHECK(swap_on_disk(&r) <= QUOTA);
    }
    CHECK(s.asleep >= 1 && s.asleep <= QUOTA / (LIMIT / 2));
    CHECK(s.awake >= 1);
    CHECK_INT(s.failed, 0);
    for (int i = 0; i < N; i++) { /* those that could not sleep work as well */
        uint64_t before = actor_stats(&a[i]).activations;
        actor_complete(&a[i], 0, 0);
        WAIT(&r, actor_stats(&a[i]).activations > before && actor_is_idle(&a[i]));
        CHECK(swap_on_disk(&r) <= QUOTA);
        actor_close(&a[i]);
    }
    CHECK_INT(swap_on_disk(&r), 0);
    module_unref(m);
    rig_close(&r);
}

/* Guests that each dirty more than half of their limit, under a quota for two of them. */
enum { GREEDY = 5, GREEDY_LIMIT = 2 << 20, GREEDY_QUOTA = 3 << 20 };

static struct module *open_greedy(struct rig *r, struct actor a[GREEDY])
{
    rig_open(r, (struct guest_host_opts){ .idle_ms = 600000, .swap_quota_bytes = GREEDY_QUOTA });
    struct module *m = rig_module(r, "hostile-g2");
    for (int i = 0; i < GREEDY; i++) {
        a[i] = (struct actor){ 0 };
        actor_open(&a[i], r,
                   (struct guest_spec){ .module = m,
                                        .abi = GUEST_ABI_G2,
                                        .memory_max_bytes = GREEDY_LIMIT,
                                        ENV(VAR("MODE", "grow"), VAR("FN", "again")) });
        WAIT(r, actor_is_idle(&a[i]) && actor_logged(&a[i], "probe pages"));
    }
    return m;
}

static struct guest_host_stats wait_quiet(struct rig *r)
{
    enum { TURNS = 8 }; /* without a command: what follows from an answer is sent by then */
    struct guest_host_stats s;
    for (int quiet = 0; quiet < TURNS; quiet = s.commands ? 0 : quiet + 1) {
        (void)loop_turn(&r->loop, false);
        guest_host_get_stats(r->host, &s);
        CHECK(swap_on_disk(r) <= GREEDY_QUOTA);
    }
    return s;
}

static void close_greedy(struct rig *r, struct actor a[GREEDY], struct module *m)
{
    for (int i = 0; i < GREEDY; i++)
        if (a[i].guest)
            actor_close(&a[i]);
    CHECK_INT(swap_on_disk(r), 0);
    module_unref(m);
    rig_close(r);
}

/* What suspends in flight will write is taken into account. */
TEST(swap_stays_within_its_quota_when_all_fall_asleep_at_once)
{
    struct rig r;
    struct actor a[GREEDY];
    struct module *m = open_greedy(&r, a);
    CHECK_INT(guest_host_relieve(r.host), GREEDY);
    struct guest_host_stats s = wait_quiet(&r);
    CHECK_INT(s.asleep, 2);
    CHECK_INT(s.awake, GREEDY - 2);
    for (int i = 0; i < GREEDY; i++)
        CHECK_INT(a[i].kept_awake, actor_state(&a[i]) == GUEST_ASLEEP ? 0 : E_LIMIT);
    close_greedy(&r, a, m);
}

/* A file that a guest has is its own: what it writes over takes no more of the quota. */
TEST(woken_guests_sleep_again_when_the_quota_is_used_up)
{
    struct rig r;
    struct actor a[GREEDY];
    struct module *m = open_greedy(&r, a);
    (void)guest_host_relieve(r.host);
    CHECK_INT(wait_quiet(&r).asleep, 2);
    for (int i = 0; i < GREEDY; i++) {
        if (actor_state(&a[i]) != GUEST_ASLEEP)
            continue;
        actor_complete(&a[i], 0, 0); /* it writes to all its memory */
        WAIT(&r, actor_logged(&a[i], "probe woken") && actor_is_idle(&a[i]));
        CHECK_INT(actor_state(&a[i]), GUEST_AWAKE);
        CHECK_OK(guest_sleep(a[i].guest));
        (void)wait_quiet(&r);
        CHECK_INT(actor_state(&a[i]), GUEST_ASLEEP);
    }
    close_greedy(&r, a, m);
}

TEST(guests_fall_asleep_by_themselves_when_there_is_room_again)
{
    struct rig r;
    struct actor a[GREEDY];
    struct module *m = open_greedy(&r, a);
    (void)guest_host_relieve(r.host);
    CHECK_INT(wait_quiet(&r).asleep, 2);
    for (int left = GREEDY; left > 2;) { /* those that sleep die, and others take their room */
        for (int i = 0; i < GREEDY; i++)
            if (a[i].guest && actor_state(&a[i]) == GUEST_ASLEEP) {
                actor_close(&a[i]);
                left--;
                break;
            }
        struct guest_host_stats s = { 0 };
        while (s.asleep < 2) {
            (void)loop_turn(&r.loop, true);
            guest_host_get_stats(r.host, &s);
        }
        (void)wait_quiet(&r);
    }
    for (int i = 0; i < GREEDY; i++)
        CHECK_INT(a[i].kept_awake, 0);
    close_greedy(&r, a, m);
}

static void remove_swap_files(const struct rig *r)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/swap", r->dir);
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (strchr(e->d_name, '-'))
            CHECK_OK(unlinkat(dirfd(dir), e->d_name, 0));
    (void)closedir(dir);
}

/* Its next life begins with a file of its own: nothing is known to be in it. */
TEST(a_guest_whose_swap_file_is_gone_loses_its_life_and_nothing_of_the_next)
{
    struct rig r;
    struct actor a = { 0 }, twin = { 0 };
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "twin-g2");
    struct guest_spec spec = { .module = m, .abi = GUEST_ABI_G2 };
    actor_open(&a, &r, spec);
    actor_open(&twin, &r, spec);
    WAIT(&r, a.ops.n == 1 && twin.ops.n == 1);
    actor_sleep(&a);
    remove_swap_files(&r);
    actor_complete(&a, 0, 0);
    WAIT(&r, actor_state(&a) == GUEST_FAILED);
    CHECK_INT(actor_stats(&a).swap_bytes, 0);
    buf_reset(&a.log);
    WAIT(&r, a.ops.n == 2);
    for (unsigned i = 0; i < 6; i++) {
        actor_sleep(&a);
        actor_complete(&a, i, 1);
        actor_complete(&twin, i, 0);
        WAIT(&r, a.ops.n == i + 3 && twin.ops.n == i + 2);
    }
    CHECK(str_eq(buf_str(&a.log), buf_str(&twin.log)));
    CHECK_INT(actor_stats(&a).incarnation, 1);
    actor_close(&a);
    actor_close(&twin);
    module_unref(m);
    rig_close(&r);
}

/* What the runner may write to a file from now on. A child does this with the runner's identity,
 * since root may lack the capability. */
static void limit_files(struct rig *r, rlim_t bytes)
{
    const struct rlimit limit = { bytes, (rlim_t)4 << 30 };
    char text[32];
    uint64_t uid;
    int status, runner = only_pid(r);
    status_of(runner, "Uid", text);
    CHECK_OK(parse_u64(str_of(text), 0, UINT32_MAX, &uid));
    int pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const unsigned id = (unsigned)uid; /* of the group as well */
        if (id != geteuid() && (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0))
            _exit(2);
        _exit(prlimit(runner, RLIMIT_FSIZE, &limit, NULL) < 0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
}

TEST(a_failed_suspend_leaves_the_guest_as_it_was)
{
    struct rig r;
    struct actor a = { 0 }, twin = { 0 };
    rig_open(&r, manual);
    struct module *m = rig_module(&r, "twin-g2");
    struct guest_spec spec = { .module = m, .abi = GUEST_ABI_G2 };
    actor_open(&a, &r, spec);
    actor_open(&twin, &r, spec);
    for (unsigned i = 0; i < 12; i++) {
        WAIT(&r, a.ops.n == i + 1 && twin.ops.n == i + 1);
        WAIT(&r, actor_is_idle(&a) && actor_is_idle(&twin));
        if (i % 3 == 0) { /* also in the middle of the first save and of later ones */
            limit_files(&r, (rlim_t)(600 - 40 * i) << 10);
            CHECK_OK(guest_sleep(a.guest));
            CHECK_ERR(guest_sleep(a.guest), 0); /* twice is once */
            (void)loop_turn(&r.loop, true);
            WAIT(&r, guest_sleep(a.guest) == 0); /* the attempt has failed, the next one begins */
            WAIT(&r, guest_sleep(a.guest) == 0);
            WAIT(&r, a.kept_awake == -EFBIG && actor_is_idle(&a));
            limit_files(&r, (rlim_t)4 << 30);
        }
        if (i % 3 == 2)
            actor_sleep(&a);
        actor_complete(&a, i, 0);
        actor_complete(&twin, i, 0);
    }
    WAIT(&r, a.ops.n == 13 && twin.ops.n == 13);
    CHECK(str_eq(buf_str(&a.log), buf_str(&twin.log)));
    CHECK(actor_stats(&a).wakes >= 4);
    CHECK(a.kept_awake == 0 && twin.kept_awake == 0);
    CHECK_INT(actor_stats(&a).incarnation, 0);
    actor_close(&a);
    actor_close(&twin);
    module_unref(m);
    rig_close(&r);
}

/* Large enough, by a custom section of zeros, to be compiled quickly first. */
static struct module *quick_module(struct rig *r, const char *name)
{
    enum { PADDING = 64 << 10 };
    static const char header[] = { 0, (char)0x82, (char)0x80, 4, 1, 'x' }; /* 64 KiB + 2 */
    char path[512];
    struct rig_get get = { 0 };
    scoped(buf_fini_scoped) struct buf wasm = BUF_INIT(1 << 20);
    (void)snprintf(path, sizeof path, "%s/%s.wasm", getenv("TEST_GUESTS_DIR"), name);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &wasm, NULL));
    CHECK_OK(buf_add(&wasm, header, sizeof header));
    for (unsigned i = 0; i < PADDING; i++)
        CHECK_OK(buf_add_u8(&wasm, 0));
    CHECK_OK(module_get_bytes(r->cache, buf_str(&wasm), NULL, rig_on_module, &get, NULL, NULL));
    WAIT(r, get.done);
    return get.module;
}

/* Whether the only runner has mapped a file whose name ends so; -1: that cannot be seen. */
static int has_mapped(struct rig *r, const char *suffix)
{
    char path[64];
    scoped(buf_fini_scoped) struct buf maps = BUF_INIT(1 << 20);
    (void)snprintf(path, sizeof path, "/proc/%d/maps", only_pid(r));
    if (sys_read_file(AT_FDCWD, path, &maps, NULL) < 0)
        return -1;
    struct str rest = buf_str(&maps), line;
    while (rest.n > 0) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (str_has_suffix(line, str_of(suffix)))
            return 1;
    }
    return 0;
}

TEST(guests_move_to_optimized_code)
{
    struct rig r;
    struct actor a = { 0 }, twin = { 0 };
    rig_open(&r, manual);
    struct module *m = quick_module(&r, "twin-g2");
    CHECK(m->is_quick);
    struct guest_spec spec = { .module = m, .abi = GUEST_ABI_G2 };
    actor_open(&a, &r, spec);
    actor_open(&twin, &r, spec);
    for (unsigned i = 0; i < 8; i++) {
        WAIT(&r, a.ops.n == i + 1 && twin.ops.n == i + 1);
        WAIT(&r, actor_is_idle(&a) && actor_is_idle(&twin));
        actor_sleep(&a);
        if (i == 0)
            CHECK(has_mapped(&r, ".q.code") != 0);
        if (i == 1)
            WAIT(&r, !m->is_quick);
        actor_complete(&a, i, 0);
        actor_complete(&twin, i, 0);
    }
    WAIT(&r, a.ops.n == 9 && twin.ops.n == 9);
    CHECK(str_eq(buf_str(&a.log), buf_str(&twin.log)));
    CHECK_INT(actor_stats(&a).incarnation, 0);
    CHECK_INT(actor_stats(&a).wakes, 8);
    /* The other one was put to sleep once, because there was better code. */
    CHECK_INT(actor_stats(&twin).wakes, 1);
    CHECK(has_mapped(&r, ".q.code") <= 0);
    CHECK(has_mapped(&r, ".code") != 0);
    actor_close(&a);
    actor_close(&twin);
    module_unref(m);
    rig_close(&r);
}

TEST(without_a_swap_directory_guests_stay_awake_and_work)
{
    struct rig r;
    struct actor a = { 0 };
    char swap[96];
    rig_open(&r, manual);
    (void)snprintf(swap, sizeof swap, "%s/swap", r.dir);
    struct module *m = rig_module(&r, "twin-g2");
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
    WAIT(&r, a.ops.n == 1);
    rig_remove_dir(swap);
    CHECK_OK(guest_sleep(a.guest));
    actor_complete(&a, 0, 0);
    WAIT(&r, a.ops.n == 2 && actor_is_idle(&a));
    CHECK_INT(actor_state(&a), GUEST_AWAKE);
    CHECK_INT(actor_stats(&a).incarnation, 0);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

static unsigned count_fds(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir);
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n;
}

TEST(a_thousand_sleeping_guests_hold_no_descriptor_and_little_memory)
{
    enum { N = 1000 };
    struct rig r;
    rig_open(&r, (struct guest_host_opts){ .sleep_always = true });
    struct module *m = rig_module(&r, "order-g2");
    struct actor *a = xnew_n(struct actor, N);
    static const struct guest_env env[] = { { STR("MODE"), STR("timers") } };
    unsigned fds = 0;
    size_t used = 0;
    for (unsigned i = 0; i < N; i++) {
        if (i == 10) {
            fds = count_fds();
            used = mallinfo2().uordblks;
        }
        actor_open(&a[i], &r,
                   (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2, .env = env, .n_env = 1 });
        WAIT(&r, a[i].ops.n == 4 && actor_state(&a[i]) == GUEST_ASLEEP);
        vec_each (op, &a[i].ops) /* ours, not the host's */
            free(op->payload);
        vec_fini(&a[i].ops);
        buf_fini(&a[i].log);
    }
    CHECK_INT(count_fds(), fds);
    size_t each = (mallinfo2().uordblks - used) / (N - 10);
    (void)printf("# %zu bytes for each sleeping guest with 4 outstanding operations\n", each);
    CHECK(each < 768);
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.asleep, N);
    for (unsigned i = 0; i < N; i++)
        guest_free(a[i].guest);
    free(a);
    module_unref(m);
    rig_close(&r);
}

TEST(guests_can_be_freed_at_any_moment)
{
    struct rig r;
    rig_open(&r, (struct guest_host_opts){ .sleep_always = true });
    struct module *m = rig_module(&r, "twin-g2");
    for (unsigned turns = 0; turns < 40; turns++) {
        struct actor a = { .auto_delay = true }, b = { .auto_delay = true };
        actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
        actor_open(&b, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
        for (unsigned i = 0; i < turns; i++)
            (void)loop_turn(&r.loop, false);
        actor_close(&a);
        WAIT(&r, b.ops.n >= 3);
        actor_close(&b);
    }
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_losses, 0);
    CHECK_INT(s.guests, 0);
    CHECK_INT(s.awake, 0);
    module_unref(m);
    rig_close(&r);
}

/* ---- many modules ---- */

/* The same code with another hash: a custom section at the end, which compiling drops. */
static struct module *variant(struct rig *r, struct str wasm, unsigned number)
{
    struct rig_get get = { 0 };
    struct buf b = BUF_INIT(1 << 20);
    const unsigned char section[] = {
        0, 4, 1, 'v', (unsigned char)number, (unsigned char)(number >> 8)
    };
    (void)buf_add_str(&b, wasm);
    (void)buf_add(&b, section, sizeof section);
    CHECK_OK(module_get_bytes(r->cache, buf_str(&b), NULL, rig_on_module, &get, NULL, NULL));
    WAIT(r, get.done);
    buf_fini(&b);
    return get.module;
}

TEST(a_runner_forgets_modules_and_gets_them_again)
{
    enum { N = 140 }; /* more than a runner keeps without tenants */
    struct rig r;
    struct buf wasm = BUF_INIT(1 << 20);
    char path[512];
    static const struct guest_env env[] = { { STR("MODE"), STR("timers") } };
    struct actor *a = xnew_n(struct actor, N);
    rig_open(&r, (struct guest_host_opts){ .sleep_always = true });
    (void)snprintf(path, sizeof path, "%s/order-g2.wasm", getenv("TEST_GUESTS_DIR"));
    CHECK_OK(sys_read_file(AT_FDCWD, path, &wasm, NULL));
    for (unsigned i = 0; i < N; i++) {
        struct module *m = variant(&r, buf_str(&wasm), i);
        actor_open(&a[i], &r,
                   (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2, .env = env, .n_env = 1 });
        WAIT(&r, a[i].ops.n == 4 && actor_state(&a[i]) == GUEST_ASLEEP);
        module_unref(m);
    }
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < N; i++) {
            actor_complete(&a[i], round, 0);
            WAIT(&r, actor_stats(&a[i]).activations == round + 2);
        }
    struct guest_host_stats s;
    guest_host_get_stats(r.host, &s);
    CHECK_INT(s.runner_losses, 0);
    CHECK_INT(s.failed, 0);
    for (unsigned i = 0; i < N; i++)
        actor_close(&a[i]);
    free(a);
    buf_fini(&wasm);
    rig_close(&r);
}

/* ---- everything at once ---- */

struct crowd {
    struct rig rig;
    struct module *twin, *hostile;
    struct actor actors[12];
};

static void crowd_open(struct crowd *c, struct actor *a)
{
    static const struct guest_env traps[] = { { STR("MODE"), STR("trap") },
                                              { STR("AT"), STR("wake") } };
    bool is_hostile = test_random_below(6) == 0;
    a->auto_delay = true;
    actor_open(a, &c->rig,
               (struct guest_spec){ .module = is_hostile ? c->hostile : c->twin,
                                    .abi = GUEST_ABI_G2,
                                    .env = is_hostile ? traps : NULL,
                                    .n_env = is_hostile ? 2 : 0 });
}

static void crowd_step(struct crowd *c)
{
    struct actor *a = &c->actors[test_random_below(ARRAY_LEN(c->actors))];
    struct err why = { 0 };
    int pids[4];
    switch (test_random_below(40)) {
    case 0:
        if (guest_host_pids(c->rig.host, pids, 4) > 0)
            CHECK_OK(kill(pids[0], SIGKILL));
        break;
    case 1:
        actor_close(a);
        crowd_open(c, a);
        break;
    case 2:
        (void)err_set(&why, E_INVALID, "random");
        guest_fail(a->guest, &why);
        break;
    case 3:
        (void)guest_host_relieve(c->rig.host);
        break;
    default:
        (void)guest_sleep(a->guest);
        break;
    }
}

TEST(whatever_happens_guests_go_on)
{
    static struct crowd c;
    rig_open(&c.rig, (struct guest_host_opts){ .idle_ms = 5 });
    c.twin = rig_module(&c.rig, "twin-g2");
    c.hostile = rig_module(&c.rig, "hostile-g2");
    for (size_t i = 0; i < ARRAY_LEN(c.actors); i++)
        crowd_open(&c, &c.actors[i]);
    for (unsigned step = 0; step < 600; step++) {
        crowd_step(&c);
        for (uint64_t turns = test_random_below(20); turns; turns--)
            (void)loop_turn(&c.rig.loop, false);
    }
    /* Those that behave come back after whatever hit them, and all numbers add up. */
    struct guest_host_stats s;
    unsigned n_awake = 0, n_asleep = 0, n_failed = 0;
    for (size_t i = 0; i < ARRAY_LEN(c.actors); i++) {
        struct actor *a = &c.actors[i];
        if (actor_state(a) == GUEST_FAILED)
            continue;
        uint64_t before = actor_stats(a).activations;
        WAIT(&c.rig, actor_stats(a).activations > before || actor_state(a) == GUEST_FAILED);
    }
    guest_host_get_stats(c.rig.host, &s);
    for (size_t i = 0; i < ARRAY_LEN(c.actors); i++) {
        enum guest_state state = actor_state(&c.actors[i]);
        n_awake += state == GUEST_AWAKE || state == GUEST_RUNNING;
        n_asleep += state == GUEST_ASLEEP;
        n_failed += state == GUEST_FAILED;
    }
    CHECK_INT(s.awake, n_awake);
    CHECK_INT(s.asleep, n_asleep);
    CHECK_INT(s.failed, n_failed);
    CHECK_INT(s.guests, ARRAY_LEN(c.actors));
    for (size_t i = 0; i < ARRAY_LEN(c.actors); i++)
        actor_close(&c.actors[i]);
    module_unref(c.twin);
    module_unref(c.hostile);
    rig_close(&c.rig);
}

TEST_MAIN
