/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bad neighbours cost: healthy operators get keys at a fixed rate (open loop, exponential
 * gaps, intended times), each reconcile makes one call that is answered at once. Latency is from
 * the intended time of the key until its result. Beside them nobody, or a guest that loops, one
 * that fills its memory to the limit at each key, one that traps, or all three; these have keys
 * waiting at all times.
 *
 *     isolation-bench [--quick] [--realtime]     TEST_GUESTS_DIR says where the guests are
 *
 * --realtime: main and the runner of the healthy at real-time priority, so that what else runs on
 * the machine is not in the figures (root). The runner for the slow stays behind everybody.
 *
 * The phases alternate with undisturbed ones, so that the machine's own noise is in both.
 */
#include "dispatch_rig.h"

#include <math.h>
#include <sched.h>
#include <sys/timerfd.h>

enum { HEALTHY = 20, RATE = 1000, BAD_KEYS = 3 };

struct bench {
    struct rig rig;
    struct dispatch *d;
    struct crew healthy[HEALTHY], bad[3];
    bool is_bad[3], is_realtime;
    uint64_t next_ns, end_ns; /* of the next key; of the phase */
    uint64_t serial;
    int timer_fd;
    uv_poll_t timer;
    VEC(double) us;
    unsigned n_open;
    struct phase {
        const char *name;
        bool loops, hogs, traps;
        VEC(double) us;
        unsigned n_bad_results;
    } phases[8];
    struct phase *phase;
};

static struct bench b;

static double uniform(void)
{
    return (double)(test_random() >> 11) / (double)(UINT64_C(1) << 53);
}

static void set_timer(void)
{
    struct itimerspec at = { .it_value = { (time_t)(b.next_ns / 1000000000),
                                           (long)(b.next_ns % 1000000000) } };
    CHECK_OK(timerfd_settime(b.timer_fd, TFD_TIMER_ABSTIME, &at, NULL));
}

static void hurry_threads(int pid)
{
    const struct sched_param param = { .sched_priority = 1 };
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir = opendir(path); /* NULL: it has ended */
    for (struct dirent *e; dir && (e = readdir(dir));) {
        uint64_t tid;
        if (parse_u64(str_of(e->d_name), 1, INT32_MAX, &tid) == 0)
            (void)sched_setscheduler((pid_t)tid, SCHED_RR, &param);
    }
    if (dir)
        (void)closedir(dir);
}

/* By its last argument. */
static bool is_for_slow(int pid)
{
    char path[32];
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(4096);
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    if (sys_read_file(AT_FDCWD, path, &line, NULL) < 0 || line.n < 5)
        return true;
    return memcmp(line.p + line.n - 5, "slow", 5) == 0;
}

static void hurry(void)
{
    int pids[8];
    size_t n = guest_host_pids(b.rig.host, pids, ARRAY_LEN(pids));
    hurry_threads(getpid());
    for (size_t i = 0; i < n; i++) {
        if (!is_for_slow(pids[i]))
            hurry_threads(pids[i]);
    }
}

/* The key's name says when it was to come. */
static void on_due(uv_poll_t *p, int status, int events)
{
    uint64_t expirations, now = clock_mono_ns();
    (void)!read(b.timer_fd, &expirations, sizeof expirations);
    while (b.next_ns <= now && b.next_ns < b.end_ns) {
        char name[64];
        (void)snprintf(name, sizeof name, "api:%llu", (unsigned long long)b.next_ns);
        crew_add(&b.healthy[b.serial++ % HEALTHY], name);
        b.n_open++;
        b.next_ns += (uint64_t)(-log(1 - uniform()) * 1e9 / RATE) + 1;
    }
    if (b.is_realtime && b.serial % 64 == 0)
        hurry();
    if (b.next_ns < b.end_ns)
        set_timer();
}

static void on_healthy(struct crew *c, const struct dispatch_result *result)
{
    uint64_t due_ns;
    CHECK_INT(result->end, WORK_DONE);
    CHECK_OK(parse_u64(str_of(c->last_name + 4), 0, UINT64_MAX, &due_ns));
    vec_push(&b.phase->us, (double)(clock_mono_ns() - due_ns) / 1000);
    b.n_open--;
}

static void feed_bad(unsigned i)
{
    static const char *const what[] = { "spin", "hog", "trap" };
    char name[64];
    (void)snprintf(name, sizeof name, "%s+x:%llu", what[i], (unsigned long long)b.serial++);
    crew_add(&b.bad[i], name);
}

static void on_bad(struct crew *c, const struct dispatch_result *result)
{
    unsigned i = (unsigned)(c - b.bad);
    b.phase->n_bad_results++;
    if (b.is_bad[i])
        feed_bad(i);
}

static void set_bad(unsigned i, bool is_bad)
{
    b.is_bad[i] = is_bad;
    for (unsigned k = 0; is_bad && k < BAD_KEYS; k++)
        feed_bad(i);
}

static void run_phase(struct phase *p, double seconds)
{
    const bool bad[] = { p->loops, p->hogs, p->traps };
    b.phase = p;
    for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
        if (!bad[i])
            continue;
        b.bad[i] =
            (struct crew){ .name = "test/bad", .module = b.healthy[0].module, .on_result = on_bad };
        crew_open(&b.bad[i], &b.rig, b.d, 1);
        set_bad(i, true);
    }
    b.next_ns = clock_mono_ns();
    b.end_ns = b.next_ns + (uint64_t)(seconds * 1e9);
    set_timer();
    WAIT(&b.rig, clock_mono_ns() >= b.end_ns && b.n_open == 0);
    for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
        if (!bad[i])
            continue;
        b.is_bad[i] = false;
        crew_close(&b.bad[i]);
    }
}

static int compare(const void *x, const void *y)
{
    double d = *(const double *)x - *(const double *)y;
    return (d > 0) - (d < 0);
}

static void print(struct phase *p, bool is_last)
{
    size_t n = p->us.n;
    qsort(p->us.p, n, sizeof *p->us.p, compare);
    printf("  {\"metric\": \"reconcile_latency_ms\", \"labels\": {\"beside\": \"%s\"}, \"unit\": "
           "\"ms\", \"p50\": %.3f, \"p90\": %.3f, \"p99\": %.3f, \"p999\": %.3f, \"n\": %zu}%s\n",
           p->name, p->us.p[n / 2] / 1e3, p->us.p[n * 9 / 10] / 1e3, p->us.p[n * 99 / 100] / 1e3,
           p->us.p[n * 999 / 1000] / 1e3, n, is_last ? "" : ",");
    (void)fprintf(stderr,
                  "%-12s p50 %8.3f ms  p99 %8.3f ms  p99.9 %8.3f ms  max %8.3f ms  n %zu  bad %u\n",
                  p->name, p->us.p[n / 2] / 1e3, p->us.p[n * 99 / 100] / 1e3,
                  p->us.p[n * 999 / 1000] / 1e3, p->us.p[n - 1] / 1e3, n, p->n_bad_results);
}

int main(int argc, char **argv)
{
    bool is_quick = false;
    for (int i = 1; i < argc; i++) {
        is_quick |= strcmp(argv[i], "--quick") == 0;
        b.is_realtime |= strcmp(argv[i], "--realtime") == 0;
    }
    double seconds = is_quick ? 2 : 30;
    static const struct phase kinds[] = {
        { .name = "nobody" },
        { .name = "loop", .loops = true },
        { .name = "memory", .hogs = true },
        { .name = "trap", .traps = true },
        { .name = "all", .loops = true, .hogs = true, .traps = true }
    };
    test_seed_state = 1; /* the same keys at the same times in each run */
    rig_open(&b.rig, (struct guest_host_opts){ .idle_ms = 0 });
    b.d = dispatch_new(&b.rig.loop, &(struct dispatch_opts){ 0 });
    b.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    CHECK_OK(b.timer_fd);
    CHECK_OK(uv_poll_init(&b.rig.loop.uv, &b.timer, b.timer_fd));
    CHECK_OK(uv_poll_start(&b.timer, UV_READABLE, on_due));
    struct module *m = rig_module(&b.rig, "v1");
    for (unsigned i = 0; i < HEALTHY; i++) {
        b.healthy[i] = (struct crew){ .name = "test/good", .module = m, .on_result = on_healthy };
        crew_open(&b.healthy[i], &b.rig, b.d, 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        b.phases[i] = kinds[i];
    run_phase(&b.phases[7], 1); /* to warm up */
    for (size_t i = 1; i < ARRAY_LEN(kinds); i++) {
        run_phase(&b.phases[0], seconds / 3);
        run_phase(&b.phases[i], seconds);
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        print(&b.phases[i], i + 1 == ARRAY_LEN(kinds));
    for (unsigned i = 0; i < HEALTHY; i++)
        crew_close(&b.healthy[i]);
    dispatch_free(b.d);
    module_unref(m);
    uv_close((uv_handle_t *)&b.timer, NULL);
    rig_close(&b.rig);
    (void)close(b.timer_fd);
    return 0;
}
