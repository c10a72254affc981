/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What guests cost: memory of main and of its runner with N guests awake and with N asleep.
 *
 *   bench_asleep [guests]
 *
 * Prints the common result form: pss_kib [n, state, process], swap_kib [n], start_us and suspend_us
 * per guest. The empty state is before the first guest. Then 64 guests of ABI v1 that wait in a
 * call at once, each on a thread of its own, and the same when they have their answers.
 */
#include "guest_rig.h"

#include <malloc.h>
#include <sys/utsname.h>

static unsigned long field(const char *text, const char *name)
{
    struct str s = str_of(text);
    ptrdiff_t at = str_find(s, str_of(name));
    uint64_t v = 0;
    struct str rest = at < 0 ? STR_NULL : str_slice(s, (size_t)at + strlen(name), s.n), digits;
    (void)str_cut(rest, 'k', &digits, &rest);
    (void)parse_u64(str_trim(digits), 0, UINT64_MAX, &v);
    return (unsigned long)v;
}

static unsigned long pss_kib(int pid)
{
    char path[64];
    struct buf b = BUF_INIT(1 << 16);
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &b, NULL));
    unsigned long kib = field(buf_cstr(&b), "\nPss:");
    buf_fini(&b);
    return kib;
}

static bool first = true;

static void print(const char *metric, unsigned n, const char *state, const char *process,
                  const char *unit, double value)
{
    (void)printf(
        "%s\n  {\"metric\": \"%s\", \"labels\": {\"n\": \"%u\", \"state\": \"%s\", \"process\": "
        "\"%s\"}, \"unit\": \"%s\", \"value\": %.1f}",
        first ? "" : ",", metric, n, state, process, unit, value);
    first = false;
}

static void print_memory(struct rig *r, unsigned n, const char *state)
{
    int pids[4];
    (void)malloc_trim(0); /* what the test itself used */
    print("pss_kib", n, state, "main", "KiB", (double)pss_kib(getpid()));
    size_t n_pids = guest_host_pids(r->host, pids, 4);
    for (size_t i = 0; i < n_pids; i++)
        print("pss_kib", n, state, "runner", "KiB", (double)pss_kib(pids[i]));
}

static unsigned count(struct rig *r, enum guest_state state)
{
    struct guest_host_stats s;
    guest_host_get_stats(r->host, &s);
    return state == GUEST_ASLEEP ? s.asleep : s.awake;
}

static void on_op(struct guest *g, const struct guest_op *op, void *arg)
{
}

static void run(unsigned n)
{
    static const struct guest_ops quiet = { .on_op = on_op };
    struct rig r;
    rig_open(&r, (struct guest_host_opts){ .idle_ms = 600000, .swap_quota_bytes = UINT64_MAX / 2 });
    struct module *m = rig_module(&r, "wake-16");
    struct guest **g = xnew_n(struct guest *, n);
    print_memory(&r, n, "empty");
    uint64_t start = clock_mono_ns();
    for (unsigned i = 0; i < n; i++) {
        char uid[32];
        (void)snprintf(uid, sizeof uid, "uid-%u", i);
        struct guest_spec spec = {
            .namespace = "bench", .name = uid, .uid = uid, .module = m, .abi = GUEST_ABI_G2
        };
        CHECK_OK(guest_new(r.host, &spec, &quiet, NULL, &g[i], NULL));
        CHECK_OK(guest_start(g[i], NULL));
        while (guest_state(g[i]) != GUEST_AWAKE)
            (void)loop_turn(&r.loop, true);
        if (i % 1000 == 999 || i == n - 1) { /* not all fit awake */
            if (i < 1000)
                print_memory(&r, i + 1, "awake");
            for (unsigned k = i - i % 1000; k <= i; k++)
                (void)guest_sleep(g[k]);
            WAIT(&r, count(&r, GUEST_ASLEEP) == i + 1);
        }
    }
    print("cycle_us", n, "asleep", "all", "us", (double)(clock_mono_ns() - start) / 1e3 / n);
    uint64_t swap = 0;
    for (unsigned i = 0; i < n; i++) {
        struct guest_stats s;
        guest_get_stats(g[i], &s);
        swap += s.swap_bytes;
    }
    print("swap_kib", n, "asleep", "disk", "KiB", (double)swap / 1024);
    print_memory(&r, n, "asleep");
    int pid;
    WAIT(&r, guest_host_pids(r.host, &pid, 1) == 0);
    print_memory(&r, n, "asleep, runner gone");
    for (unsigned i = 0; i < n; i++)
        guest_free(g[i]);
    free(g);
    module_unref(m);
    rig_close(&r);
}

static void run_parked(void)
{
    enum { N = 64 };
    struct rig r;
    rig_open(&r, (struct guest_host_opts){ .sleep_never = true, .max_runners = 1 });
    struct module *m = rig_module(&r, "wake-v1-16");
    struct actor *a = xnew_n(struct actor, N);
    for (unsigned i = 0; i < N; i++) {
        a[i].holds_calls = true;
        actor_open(&a[i], &r, (struct guest_spec){ .module = m, .abi = GUEST_ABI_V1 });
        WAIT(&r, actor_is_idle(&a[i]));
    }
    print_memory(&r, N, "v1 awake");
    for (unsigned i = 0; i < N; i++) {
        actor_activate(&a[i], 1, "1");
        WAIT(&r, actor_stats(&a[i]).is_parked);
    }
    print_memory(&r, N, "v1 parked");
    for (unsigned i = 0; i < N; i++) {
        CHECK_OK(guest_reply(a[i].guest, a[i].call.id, 0, 0, STR("{}"), NULL));
        WAIT(&r, a[i].dones == 1);
    }
    print_memory(&r, N, "v1 answered");
    for (unsigned i = 0; i < N; i++)
        actor_close(&a[i]);
    free(a);
    module_unref(m);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    uint64_t n = 10000;
    struct utsname u;
    CHECK_OK(uname(&u));
    if (argc > 1)
        CHECK_OK(parse_u64(str_of(argv[1]), 1, 100000, &n));
    (void)printf(
        "{\"bench\": \"asleep\", \"machine\": \"%s %s %s\", \"revision\": \"%s\", \"results\": [",
        u.sysname, u.release, u.machine, DORMOUSE_VERSION);
    run((unsigned)n);
    run_parked();
    (void)printf("\n]}\n");
    return 0;
}
