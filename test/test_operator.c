/* SPDX-License-Identifier: Apache-2.0 */
/* operator/operator: specs made into guests, replaced, paused and removed, beside a guest host
 * played by hand. */
#include "operator/host/operator.h"

#include "fake_guests.h"
#include "fake_transport.h"
#include "operator/discovery.h"

#include <limits.h>

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct calls_env env;
    struct module_sources *sources;
    struct operators *os;
    unsigned changes;
    bool closed;
};

static void on_change(struct operator* o, void *arg)
{
    struct rig *r = arg;
    r->changes++;
}

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void rig_init(struct rig *r)
{
    struct err err = { 0 };
    *r = (struct rig){ 0 };
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    struct watch_hub_opts hub = { .transport = &r->fake.base, .widen_at = UINT_MAX };
    CHECK_OK(watch_hub_new(&r->loop, &hub, &r->hub, &err));
    r->env = (struct calls_env){ .loop = &r->loop,
                                 .transport = &r->fake.base,
                                 .hub = r->hub,
                                 .discovery = discovery_new(&r->loop, &r->fake.base) };
    struct module_sources_opts sources = {
        .loop = &r->loop, .transport = &r->fake.base, .hub = r->hub, .dir = "/tmp"
    };
    CHECK_OK(module_sources_new(&sources, &r->sources, &err));
    struct operators_opts opts = {
        .loop = &r->loop, .env = &r->env, .sources = r->sources, .on_change = on_change, .arg = r
    };
    CHECK_OK(operators_new(&opts, &r->os, &err));
}

static void on_closed(void *arg)
{
    struct rig *r = arg;
    r->closed = true;
}

static void rig_fini(struct rig *r)
{
    operators_close(r->os, on_closed, r);
    fake_gets_settle();
    turn(r);
    CHECK(r->closed);
    module_sources_close(r->sources);
    discovery_free(r->env.discovery);
    watch_hub_close(r->hub, NULL, NULL);
    turn(r);
    fake_settle(&r->fake);
    turn(r);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
    fake_guests_fini();
}

static struct operator_spec spec_of(uint64_t generation)
{
    return (struct operator_spec){ .namespace = "ns",
                                   .name = "a",
                                   .uid = "u-1",
                                   .generation = generation,
                                   .origin.path = "/proc/self/exe" };
}

static void apply(struct rig *r, uint64_t generation)
{
    struct operator_spec spec = spec_of(generation);
    struct err err = { 0 };
    CHECK_OK(operators_apply(r->os, &spec, &err));
}

static struct operator_view view(struct rig *r)
{
    struct operator_view v;
    struct operator* o = operators_find(r->os, "ns", "a");
    CHECK(o);
    operator_view(o, &v);
    return v;
}

static void check_phase(struct rig *r, enum operator_phase phase, const char *reason,
                        const char *message)
{
    struct operator_view v = view(r);
    CHECK_STR(str_of(operator_phase_name(v.phase)), operator_phase_name(phase));
    CHECK_STR(str_of(v.reason), reason);
    if (message[0])
        CHECK(strstr(v.message, message));
    else
        CHECK_STR(str_of(v.message), "");
}

/* Generation 1 runs, as fake_guests.at[0]. */
static void start_first(struct rig *r)
{
    apply(r, 1);
    fake_compile(&fake_gets.at[0], &fake_g2);
    CHECK_INT(fake_guests.n, 1);
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
}

TEST(a_spec_becomes_a_running_guest)
{
    struct rig r;
    rig_init(&r);
    struct guest_env env[] = { { STR("A"), STR("1") } };
    struct str args[] = { STR("x"), STR("y") };
    struct operator_spec spec = spec_of(7);
    spec.env = env;
    spec.n_env = 1;
    spec.args = args;
    spec.n_args = 2;
    spec.memory_max_bytes = 1 << 20;
    CHECK_OK(operators_apply(r.os, &spec, NULL));
    check_phase(&r, OPERATOR_PREPARING, "Compiling", "");
    CHECK_INT(view(&r).running_generation, 0);
    fake_compile(&fake_gets.at[0], &fake_g2);
    struct guest *g = fake_guests.at[0];
    CHECK(g->started && g->abi == GUEST_ABI_G2 && g->generation == 7 && g->n_env == 1 &&
          g->n_args == 2);
    CHECK_STR(str_of(g->uid), "u-1");
    CHECK_INT(g->memory_max_bytes, 1 << 20);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    CHECK_INT(view(&r).running_generation, 7);
    CHECK_INT(r.changes, 0); /* told on a later turn, */
    turn(&r);
    CHECK_INT(r.changes, 1); /* once */
    rig_fini(&r);
}

TEST(sleeping_and_waking_change_nothing_that_status_shows)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    turn(&r);
    unsigned before = r.changes;
    for (int i = 0; i < 5; i++) {
        fake_state(fake_guests.at[0], GUEST_ASLEEP, NULL);
        fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
        fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    }
    turn(&r);
    CHECK_INT(r.changes, before);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- which ABI */

static const struct module_extern no_wakeup[] = { FAKE_FUNC("_start", ":"), FAKE_MEMORY };
static const struct module_extern nothing[] = { FAKE_FUNC("main", ":i"), FAKE_MEMORY };
static const struct module_extern no_allocate[] = { FAKE_FUNC("_start", ":"),
                                                    FAKE_FUNC("wakeup", "Iiii:"), FAKE_MEMORY };
static const struct module_extern no_memory[] = { FAKE_FUNC("_start", ":"),
                                                  FAKE_FUNC("wakeup", "Iiii:"),
                                                  FAKE_FUNC("allocate", "i:i") };
static const struct module_extern wrong_type[] = { FAKE_FUNC("_start", ":"),
                                                   FAKE_FUNC("wakeup", "iiii:"),
                                                   FAKE_FUNC("allocate", "i:i"), FAKE_MEMORY };
static const struct module_extern both[] = { FAKE_FUNC("_start", ":"),
                                             FAKE_FUNC("wakeup", "Iiii:"),
                                             FAKE_FUNC("allocate", "i:i"),
                                             FAKE_FUNC("run", ":"),
                                             FAKE_FUNC("wakeup_future", "Iii:"),
                                             FAKE_FUNC("wakeup_stream", "Iii:"),
                                             FAKE_MEMORY };
static const struct module_extern g0_imports[] = { { .kind = MODULE_FUNC,
                                                     .module = { "http-proxy-abi", 14 },
                                                     .name = { "request", 7 },
                                                     .sig = { "iii:I", 5 } } };
static const struct module_extern g0_exports[] = { FAKE_FUNC("run", ":"),
                                                   FAKE_FUNC("allocate", "i:i"), FAKE_MEMORY };

/* Why is not NULL: the module is refused with this text. */
static void check_abi(const struct module_info *info, int wanted, enum guest_abi want,
                      const char *why)
{
    struct rig r;
    struct module module = { .info = info };
    rig_init(&r);
    struct operator_spec spec = spec_of(1);
    spec.abi = wanted;
    CHECK_OK(operators_apply(r.os, &spec, NULL));
    fake_compile(&fake_gets.at[0], &module);
    if (why) {
        check_phase(&r, OPERATOR_REFUSED, "ModuleUnsupported", why);
        CHECK_INT(fake_guests.n, 0);
    } else {
        check_phase(&r, OPERATOR_RUNNING, "Running", "");
        CHECK_INT(fake_guests.at[0]->abi, want);
    }
    rig_fini(&r);
}

TEST(the_abi_is_told_from_the_exports)
{
    check_abi(&fake_g1_info, OPERATOR_ABI_AUTO, GUEST_ABI_G1, NULL);
    check_abi(&fake_g2_info, OPERATOR_ABI_AUTO, GUEST_ABI_G2, NULL);
    check_abi(&fake_g1_info, OPERATOR_ABI_G1, GUEST_ABI_G1, NULL);
    check_abi(&fake_g2_info, OPERATOR_ABI_G2, GUEST_ABI_G2, NULL);
}

TEST(a_module_of_both_abis_needs_to_be_told_which)
{
    static const struct module_info info = FAKE_INFO(both);
    check_abi(&info, OPERATOR_ABI_AUTO, 0, "both ABIs g1 and g2; name one in 'abi'");
    check_abi(&info, OPERATOR_ABI_G1, GUEST_ABI_G1, NULL);
    check_abi(&info, OPERATOR_ABI_G2, GUEST_ABI_G2, NULL);
}

TEST(a_module_that_is_no_operator_is_refused_saying_what_it_is)
{
    static const struct module_info wasi = FAKE_INFO(no_wakeup), none = FAKE_INFO(nothing),
                                    deaf = FAKE_INFO(no_allocate), hidden = FAKE_INFO(no_memory),
                                    odd = FAKE_INFO(wrong_type);
    static const struct module_info g0 = { .has_memory = true,
                                           .n_exports = ARRAY_LEN(g0_exports),
                                           .exports = g0_exports,
                                           .n_imports = ARRAY_LEN(g0_imports),
                                           .imports = g0_imports };
    check_abi(&wasi, OPERATOR_ABI_AUTO, 0, "plain WASI command");
    check_abi(&odd, OPERATOR_ABI_AUTO, 0, "plain WASI command");
    check_abi(&none, OPERATOR_ABI_AUTO, 0, "none of the wake-up functions");
    check_abi(&deaf, OPERATOR_ABI_AUTO, 0, "does not export 'allocate (i32) -> i32'");
    check_abi(&hidden, OPERATOR_ABI_AUTO, 0, "does not export its memory as 'memory'");
    check_abi(&g0, OPERATOR_ABI_AUTO, 0, "synchronous ABI of 2020");
    check_abi(&fake_g1_info, OPERATOR_ABI_G2, 0, "is of ABI g1, not of the one that was asked for");
    check_abi(&fake_g2_info, OPERATOR_ABI_G1, 0, "is of ABI g2, not of the one that was asked for");
}

/* ---------------------------------------------------------------- replacing */

TEST(a_replacement_compiles_while_the_old_one_runs_and_takes_over_after_its_activation)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
    apply(&r, 2);
    CHECK_INT(view(&r).running_generation, 1);
    fake_compile(&fake_gets.at[1], &fake_g2);
    turn(&r);
    CHECK_INT(fake_guests.n, 1); /* in the middle of an activation */
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    CHECK(!fake_guests.at[0]->freed); /* never inside its own callback */
    turn(&r);
    CHECK_INT(fake_guests.n, 2);
    CHECK(fake_guests.at[0]->freed && fake_guests.at[1]->started);
    CHECK_INT(view(&r).running_generation, 2);
    rig_fini(&r);
}

TEST(an_idle_guest_is_replaced_at_once)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    fake_state(fake_guests.at[0], GUEST_ASLEEP, NULL);
    apply(&r, 2);
    fake_compile(&fake_gets.at[1], &fake_g2);
    CHECK(fake_guests.at[0]->freed);
    CHECK_INT(view(&r).running_generation, 2);
    rig_fini(&r);
}

TEST(a_guest_that_runs_again_before_its_replacement_came_to_it_keeps_its_turn)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
    apply(&r, 2);
    fake_compile(&fake_gets.at[1], &fake_g2);
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
    turn(&r);
    CHECK_INT(fake_guests.n, 1);
    fake_state(fake_guests.at[0], GUEST_ASLEEP, NULL);
    turn(&r);
    CHECK_INT(view(&r).running_generation, 2);
    rig_fini(&r);
}

TEST(a_replacement_that_does_not_compile_keeps_the_old_one_running_and_stays_reported)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    apply(&r, 2);
    fake_compile_fails(&fake_gets.at[1], E_PARSE, "bad magic");
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    CHECK_STR(str_of(view(&r).refused_reason), "ModuleInvalid");
    CHECK(strstr(view(&r).refused_message, "bad magic"));
    CHECK_INT(view(&r).running_generation, 1);
    CHECK_INT(view(&r).generation, 2);
    CHECK(!fake_guests.at[0]->freed);
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    fake_state(fake_guests.at[0], GUEST_FAILED, "trapped");
    check_phase(&r, OPERATOR_RUNNING, "GuestFailed", "trapped");
    CHECK(view(&r).refused_reason); /* both are told */
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    CHECK(view(&r).refused_reason);
    apply(&r, 3);
    CHECK(!view(&r).refused_reason);
    fake_compile(&fake_gets.at[2], &fake_g1);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    CHECK(fake_guests.at[0]->freed);
    CHECK_INT(fake_guests.at[1]->abi, GUEST_ABI_G1);
    rig_fini(&r);
}

TEST(a_replacement_that_the_guest_host_refuses_keeps_the_old_one_running)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    apply(&r, 2);
    fake_guests.refuse = E_LIMIT;
    fake_compile(&fake_gets.at[1], &fake_g2);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    CHECK_STR(str_of(view(&r).refused_reason), "GuestRefused");
    CHECK(strstr(view(&r).refused_message, "the fake refuses"));
    CHECK(!fake_guests.at[0]->freed);
    CHECK_INT(view(&r).running_generation, 1);
    rig_fini(&r);
}

TEST(a_guest_that_does_not_start_is_refused)
{
    struct rig r;
    rig_init(&r);
    apply(&r, 1);
    fake_guests.refuse_start = -ESHUTDOWN;
    fake_compile(&fake_gets.at[0], &fake_g2);
    check_phase(&r, OPERATOR_REFUSED, "GuestRefused", "does not start");
    CHECK(!view(&r).guest && fake_guests.at[0]->freed);
    rig_fini(&r);
}

TEST(a_newer_spec_while_compiling_starts_over_and_only_the_newest_runs)
{
    struct rig r;
    rig_init(&r);
    apply(&r, 1);
    apply(&r, 2);
    apply(&r, 3);
    CHECK_INT(fake_gets.n, 1);
    CHECK(fake_gets.at[0].cancelled);
    fake_compile(&fake_gets.at[0], &fake_g2); /* the result was already there */
    CHECK_INT(fake_guests.n, 0);
    CHECK_INT(fake_gets.n, 2);
    fake_compile(&fake_gets.at[1], &fake_g2);
    CHECK_INT(view(&r).running_generation, 3);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- removing, pausing */

TEST(removed_while_compiling_it_is_gone_at_once_and_never_starts)
{
    struct rig r;
    rig_init(&r);
    apply(&r, 1);
    operators_remove(r.os, "ns", "a");
    operators_remove(r.os, "ns", "a");
    CHECK(!operators_find(r.os, "ns", "a"));
    apply(&r, 1); /* another one of that name */
    fake_gets_settle();
    fake_compile(&fake_gets.at[1], &fake_g2);
    CHECK_INT(fake_guests.n, 1);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    operators_remove(r.os, "ns", "a");
    CHECK(fake_guests.at[0]->freed);
    CHECK_INT(operators_count(r.os), 0);
    rig_fini(&r);
}

TEST(removed_with_a_replacement_waiting_for_its_turn)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL);
    apply(&r, 2);
    fake_compile(&fake_gets.at[1], &fake_g2);
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    operators_remove(r.os, "ns", "a");
    turn(&r);
    CHECK_INT(fake_guests.n, 1);
    rig_fini(&r);
}

TEST(a_paused_operator_has_no_guest_and_comes_back)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    struct operator_spec spec = spec_of(2);
    spec.paused = true;
    CHECK_OK(operators_apply(r.os, &spec, NULL));
    check_phase(&r, OPERATOR_PAUSED, "Paused", "");
    CHECK(fake_guests.at[0]->freed && !view(&r).guest);
    CHECK_INT(view(&r).running_generation, 0);
    apply(&r, 3);
    fake_compile(&fake_gets.at[1], &fake_g2);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    rig_fini(&r);
}

TEST(paused_while_its_replacement_compiles)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    apply(&r, 2);
    struct operator_spec spec = spec_of(3);
    spec.paused = true;
    CHECK_OK(operators_apply(r.os, &spec, NULL));
    fake_gets_settle();
    check_phase(&r, OPERATOR_PAUSED, "Paused", "");
    CHECK(fake_guests.at[0]->freed);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- failures */

TEST(a_failed_guest_is_reported_until_it_survives_an_activation)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    fake_state(fake_guests.at[0], GUEST_FAILED, "unreachable");
    check_phase(&r, OPERATOR_RUNNING, "GuestFailed", "unreachable");
    turn(&r);
    unsigned before = r.changes;
    fake_state(fake_guests.at[0], GUEST_COLD, NULL);
    fake_state(fake_guests.at[0], GUEST_RUNNING, NULL); /* it may fail again: no flapping */
    turn(&r);
    CHECK_INT(r.changes, before);
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    rig_fini(&r);
}

TEST(compiled_code_that_is_gone_is_made_again)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    size_t asked = fake_gets.n;
    fake_g2.is_lost = true; /* as module_open() leaves it */
    fake_state(fake_guests.at[0], GUEST_FAILED, "the compiled module is no longer there");
    CHECK_INT(fake_gets.n, asked + 1);
    fake_g2.is_lost = false;
    fake_compile(&fake_gets.at[asked], &fake_g2);
    turn(&r);
    CHECK_INT(fake_guests.n, 1); /* the same guest, which tries again by itself */
    fake_state(fake_guests.at[0], GUEST_AWAKE, NULL);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    rig_fini(&r);
}

TEST(a_missing_module_or_compiler_is_named)
{
    struct rig r;
    rig_init(&r);
    struct operator_spec spec = spec_of(1);
    spec.origin.path = "/nonexistent/ring.wasm";
    CHECK_OK(operators_apply(r.os, &spec, NULL));
    check_phase(&r, OPERATOR_REFUSED, "ModuleNotFound", "'/nonexistent/ring.wasm': No such file");
    apply(&r, 2);
    fake_compile_fails(&fake_gets.at[0], -ENOENT, "no dormouse-compile");
    check_phase(&r, OPERATOR_REFUSED, "CompilerMissing", "no dormouse-compile");
    rig_fini(&r);
}

TEST(what_the_cache_does_not_take_at_once_waits_for_room)
{
    struct rig r;
    rig_init(&r);
    apply(&r, 1);
    struct operator_spec other = spec_of(1);
    other.name = "b";
    fake_gets.full = true;
    CHECK_OK(operators_apply(r.os, &other, NULL));
    other.generation = 2; /* a newer spec of one that waits */
    CHECK_OK(operators_apply(r.os, &other, NULL));
    fake_gets.full = false;
    CHECK_INT(fake_gets.n, 1);
    fake_compile(&fake_gets.at[0], &fake_g2);
    turn(&r);
    CHECK_INT(fake_gets.n, 2);
    fake_compile(&fake_gets.at[1], &fake_g2);
    CHECK_INT(fake_guests.n, 2);
    CHECK_INT(fake_guests.at[1]->generation, 2);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- limits */

/* Generation 1 ran well, generation 2 has taken over as fake_guests.at[1]. */
static struct guest *start_second(struct rig *r, struct module *m)
{
    start_first(r);
    apply(r, 2);
    fake_compile(&fake_gets.at[1], m);
    CHECK_INT(fake_guests.n, 2);
    CHECK_INT(view(r).running_generation, 2);
    return fake_guests.at[1];
}

static void crash(struct guest *g, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        fake_state(g, GUEST_RUNNING, NULL);
        fake_state(g, GUEST_FAILED, "unreachable code reached");
        fake_state(g, GUEST_COLD, NULL);
    }
}

TEST(a_new_generation_that_crashes_again_and_again_is_returned_from)
{
    struct rig r;
    rig_init(&r);
    struct guest *second = start_second(&r, &fake_g1);
    crash(second, OPERATOR_CRASHES_MAX - 1);
    turn(&r);
    CHECK_INT(view(&r).running_generation, 2);
    crash(second, 1);
    turn(&r);
    CHECK(second->freed);
    CHECK_INT(fake_guests.n, 3);
    CHECK(fake_guests.at[2]->generation == 1 && fake_guests.at[2]->abi == GUEST_ABI_G2);
    struct operator_view v = view(&r);
    CHECK_INT(v.generation, 2);
    CHECK_INT(v.running_generation, 1);
    CHECK(strstr(v.returned, "generation 2 with module") && strstr(v.returned, "unreachable code"));
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    crash(fake_guests.at[2], 5); /* there is nothing to return to any more */
    turn(&r);
    CHECK_INT(fake_guests.n, 3);
    CHECK(view(&r).returned);
    apply(&r, 3); /* until the spec changes */
    CHECK(!view(&r).returned);
    rig_fini(&r);
}

TEST(what_works_between_its_failures_is_not_returned_from)
{
    struct rig r;
    rig_init(&r);
    struct guest *second = start_second(&r, &fake_g1);
    for (unsigned i = 0; i < 4; i++) {
        crash(second, OPERATOR_CRASHES_MAX - 1);
        fake_stats.activations += 3; /* its start, and events that it handled */
        fake_state(second, GUEST_AWAKE, NULL);
    }
    turn(&r);
    CHECK_INT(fake_guests.n, 2);
    crash(second, OPERATOR_CRASHES_MAX - 1);
    fake_stats.activations += 1; /* that it starts is no success */
    fake_state(second, GUEST_AWAKE, NULL);
    crash(second, 1);
    turn(&r);
    CHECK_INT(fake_guests.n, 3);
    fake_stats.activations = 0;
    rig_fini(&r);
}

TEST(nobody_returns_to_what_never_ran_well)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    crash(fake_guests.at[0], 1);
    apply(&r, 2);
    fake_compile(&fake_gets.at[1], &fake_g1);
    crash(fake_guests.at[1], OPERATOR_CRASHES_MAX);
    turn(&r);
    CHECK_INT(fake_guests.n, 2);
    rig_fini(&r);
}

TEST(in_standby_everything_is_ready_and_nothing_runs)
{
    struct rig r;
    rig_init(&r);
    operators_set_standby(r.os, true);
    apply(&r, 1);
    fake_compile(&fake_gets.at[0], &fake_g2);
    CHECK_INT(fake_guests.n, 0);
    check_phase(&r, OPERATOR_PREPARING, "Standby", "another host leads");
    operators_set_standby(r.os, false);
    turn(&r);
    CHECK_INT(fake_guests.n, 1);
    check_phase(&r, OPERATOR_RUNNING, "Running", "");
    operators_set_standby(r.os, true); /* deposed */
    CHECK(fake_guests.at[0]->freed);
    operators_set_standby(r.os, false);
    turn(&r);
    CHECK_INT(fake_guests.n, 2);
    CHECK_INT(fake_gets.n, 1); /* what was compiled is kept */
    rig_fini(&r);
}

TEST(specs_over_the_limits_are_errors_and_change_nothing)
{
    struct rig r;
    rig_init(&r);
    start_first(&r);
    static struct guest_env env[OPERATOR_ENV_MAX + 1];
    static struct str args[OPERATOR_ARGS_MAX + 1];
    static char big[OPERATOR_ENV_MAX_BYTES + 1];
    char name[700];
    for (size_t i = 0; i < ARRAY_LEN(env); i++)
        env[i] = (struct guest_env){ STR("N"), STR("v") };
    for (size_t i = 0; i < ARRAY_LEN(args); i++)
        args[i] = STR("a");
    memset(big, 'x', sizeof big);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    struct err err = { 0 };
    struct operator_spec spec = spec_of(2);
    spec.env = env;
    spec.n_env = OPERATOR_ENV_MAX;
    CHECK_OK(operator_spec_check(&spec, &err));
    spec.n_env++;
    CHECK_ERR(operators_apply(r.os, &spec, &err), E_LIMIT);
    CHECK(strstr(err.text, "more than 128 environment variables"));
    spec.n_env = 1;
    env[0].name = STR("A=B");
    CHECK_ERR(operators_apply(r.os, &spec, &err), E_INVALID);
    CHECK(strstr(err.text, "'A=B'"));
    env[0] = (struct guest_env){ STR("A"), str_n(big, sizeof big) };
    CHECK_ERR(operators_apply(r.os, &spec, &err), E_LIMIT);
    CHECK(strstr(err.text, "larger than 65536 bytes"));
    spec.n_env = 0;
    spec.args = args;
    spec.n_args = ARRAY_LEN(args);
    CHECK_ERR(operators_apply(r.os, &spec, &err), E_LIMIT);
    spec.n_args = 0;
    spec.name = name;
    CHECK_ERR(operators_apply(r.os, &spec, &err), E_LIMIT);
    CHECK_INT(view(&r).generation, 1);
    CHECK_INT(operators_count(r.os), 1);
    rig_fini(&r);
}

TEST(more_operators_than_the_limit_are_refused_by_name)
{
    struct rig r;
    rig_init(&r);
    fake_gets.full = true;
    struct err err = { 0 };
    char name[32];
    struct operator_spec spec = spec_of(1);
    spec.name = name;
    for (int i = 0; i < OPERATORS_MAX; i++) {
        (void)snprintf(name, sizeof name, "o-%d", i);
        CHECK_OK(operators_apply(r.os, &spec, &err));
    }
    (void)snprintf(name, sizeof name, "one-more");
    CHECK_ERR(operators_apply(r.os, &spec, &err), E_LIMIT);
    CHECK(strstr(err.text, "more than 20000 operators"));
    rig_fini(&r);
}

TEST_MAIN
