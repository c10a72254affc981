/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a sleeping guest takes to wake up and handle an event, through main, a runner and back.
 *
 *   bench_wake [rounds]
 *
 * Prints the common result form with wake_us [dirty_kib, mode] from main's decision to deliver
 * until it has read the answer. Modes: wake (suspended by a command of its own), cycle (wake, event
 * and suspend in one exchange), awake (event only), and busy for 100 guests in turn. For ABI v1
 * [calls]: an activation that makes so many calls which main answers at once.
 */
#include "guest_rig.h"

#include <sys/utsname.h>

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool first = true;

static void print(const char *kib, const char *mode, const char *more, uint64_t *us, size_t n)
{
    qsort(us, n, sizeof *us, compare);
    (void)printf(
        "%s\n  {\"metric\": \"wake_us\", \"labels\": {\"dirty_kib\": \"%s\", \"mode\": \"%s\"%s}, "
        "\"unit\": \"us\", \"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"n\": %zu}",
        first ? "" : ",", kib, mode, more, (double)us[n / 2] / 1e3, (double)us[n * 9 / 10] / 1e3,
        (double)us[n * 99 / 100] / 1e3, n);
    first = false;
}

static uint64_t one_event(struct actor *a)
{
    uint64_t before = actor_stats(a).activations, start = clock_mono_ns();
    struct guest_delivery d = { .id = 0, .payload = STR("{\"type\":\"MODIFIED\"}") };
    CHECK_OK(guest_deliver(a->guest, &d, NULL));
    WAIT(a->rig, actor_stats(a).activations != before);
    return clock_mono_ns() - start;
}

static void run(const char *kib, const char *mode, size_t rounds, unsigned n_guests)
{
    struct rig r;
    char name[32];
    bool cycle = strcmp(mode, "cycle") == 0 || strcmp(mode, "busy") == 0;
    (void)snprintf(name, sizeof name, "wake-%s", kib);
    rig_open(&r, (struct guest_host_opts){ .sleep_always = cycle, .idle_ms = 600000 });
    struct module *m = rig_module(&r, name);
    struct actor *a = xnew_n(struct actor, n_guests);
    for (unsigned i = 0; i < n_guests; i++) {
        actor_open(&a[i], &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_G2 });
        WAIT(&r, a[i].ops.n == 1);
    }
    uint64_t *us = xnew_n(uint64_t, rounds);
    for (size_t i = 0; i < rounds + 100; i++) {
        struct actor *one = &a[i % n_guests];
        if (strcmp(mode, "wake") == 0)
            actor_sleep(one);
        uint64_t took = one_event(one);
        if (i >= 100)
            us[i - 100] = took;
    }
    print(kib, mode, "", us, rounds);
    free(us);
    for (unsigned i = 0; i < n_guests; i++)
        actor_close(&a[i]);
    free(a);
    module_unref(m);
    rig_close(&r);
}

static void run_v1(const char *kib, const char *mode, const char *calls, size_t rounds)
{
    struct rig r;
    struct actor a = { 0 };
    char name[32], more[48];
    bool cycle = strcmp(mode, "cycle") == 0;
    (void)snprintf(name, sizeof name, "wake-v1-%s", kib);
    (void)snprintf(more, sizeof more, ", \"abi\": \"v1\", \"calls\": \"%s\"", calls);
    rig_open(&r, (struct guest_host_opts){ .sleep_always = cycle, .idle_ms = 600000 });
    struct module *m = rig_module(&r, name);
    actor_open(&a, &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1 });
    WAIT(&r, actor_is_idle(&a));
    uint64_t *us = xnew_n(uint64_t, rounds);
    for (size_t i = 0; i < rounds + 100; i++) {
        if (strcmp(mode, "awake") != 0)
            actor_sleep(&a);
        buf_reset(&a.reported);
        unsigned dones = a.dones;
        uint64_t start = clock_mono_ns();
        actor_activate(&a, i + 1, calls);
        WAIT(&r, a.dones != dones && (!cycle || actor_state(&a) == GUEST_ASLEEP));
        if (i >= 100)
            us[i - 100] = clock_mono_ns() - start;
    }
    print(kib, mode, more, us, rounds);
    free(us);
    actor_close(&a);
    module_unref(m);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    static const char *const sizes[] = { "16", "200", "1024" }, *const calls[] = { "0", "1", "5" };
    uint64_t rounds = 2000;
    struct utsname u;
    if (argc > 1)
        CHECK_OK(parse_u64(str_of(argv[1]), 1, 1000000, &rounds));
    CHECK_OK(uname(&u));
    (void)printf(
        "{\"bench\": \"wake\", \"machine\": \"%s %s %s\", \"revision\": \"%s\", \"results\": [",
        u.sysname, u.release, u.machine, DORMOUSE_VERSION);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        run(sizes[i], "awake", rounds, 1);
        run(sizes[i], "wake", rounds, 1);
        run(sizes[i], "cycle", rounds, 1);
        run(sizes[i], "busy", rounds, 100);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t c = 0; c < ARRAY_LEN(calls); c++) {
            run_v1(sizes[i], "awake", calls[c], rounds);
            run_v1(sizes[i], "wake", calls[c], rounds);
            run_v1(sizes[i], "cycle", calls[c], rounds);
        }
    (void)printf("\n]}\n");
    return 0;
}
