/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request to a Wasm function costs, from the invoker's start to its end, without HTTP.
 *
 *   TEST_GUESTS_DIR=build/test/guests bench_pristine [seconds [runners [cold]]]
 *
 * With "cold" nothing else is measured.
 * Closed loop: so many requests are always under way. Prints the common result form: direct_rps
 * [abi, request, concurrency], and for the same labels direct_us, latency; runner_cpu_us and
 * main_cpu_us for each request; cold_direct_us [abi], from prepare() of a revision that rests to
 * the end of its first request, in a runner that serves others; warm_function_kib, PSS of a runner
 * for each function with a sandbox that was called once, and runner_kib with one. Requests: hello
 * dirties 3 pages or so, poke/3 six, peek reads all.
 */
#include "wasm_fn_rig.h"

#include "../histogram.h"

#include <time.h>

enum { CONCURRENCY_MAX = 64 };

struct slot {
    struct fn_under_test *f;
    const char *path;
    struct exchange *x;
    uint64_t begun_ns;
    uint64_t *left; /* requests that may still begin */
    unsigned *n_running;
    struct defer again;
};

static struct histogram histogram;
static uint64_t n_done;

static void start(struct slot *s);

static void on_head(void *arg, int status, const struct headers *headers)
{
    CHECK_INT(status, 200);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct slot *s = arg;
    if (r < 0)
        TEST_FAIL("%s: %s", exchange_reason(s->x), err_text(err));
    histogram_add(&histogram, clock_mono_ns() - s->begun_ns);
    n_done++;
    (*s->n_running)--;
    start(s);
}

static void start(struct slot *s)
{
    static const struct exchange_events events = { .on_head = on_head, .on_end = on_end };
    if (clock_mono_ns() > *s->left)
        return;
    struct invoke_request q = fn_request(s->f, s->path);
    (*s->n_running)++;
    s->begun_ns = clock_mono_ns();
    CHECK_OK(invoke_start(s->f->rig->runtime->invoker, &q, &events, s, &s->x, NULL));
}

static uint64_t cpu_ns(const struct fn_rig *rig, bool of_runners)
{
    struct timespec t = { 0 };
    uint64_t ns = 0;
    int pids[16];
    size_t n = of_runners ? wasm_runtime_pids(rig->runtime, pids, ARRAY_LEN(pids)) : 1;
    for (size_t i = 0; i < MIN(n, ARRAY_LEN(pids)); i++) {
        clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
        if (of_runners)
            CHECK(clock_getcpuclockid(pids[i], &clock) == 0);
        CHECK_OK(clock_gettime(clock, &t));
        ns += (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    }
    return ns;
}

static bool is_first = true;

static void print(const char *metric, const char *labels, const char *unit, double value)
{
    (void)printf("%s\n  {\"metric\": \"%s\", \"labels\": {%s}, \"unit\": \"%s\", \"value\": %.2f}",
                 is_first ? "" : ",", metric, labels, unit, value);
    is_first = false;
}

static void load(struct fn_under_test *f, const char *path, unsigned concurrency, uint64_t ms)
{
    struct slot slots[CONCURRENCY_MAX];
    unsigned n_running = 0;
    uint64_t until = clock_mono_ns() + ms * 1000000;
    for (unsigned i = 0; i < concurrency; i++) {
        slots[i] = (struct slot){ .f = f, .path = path, .left = &until, .n_running = &n_running };
        start(&slots[i]);
    }
    while (n_running)
        (void)loop_turn(&f->rig->loop, true);
}

static void measure(struct fn_under_test *f, const char *abi, const char *path,
                    unsigned concurrency, uint64_t ms)
{
    char labels[128];
    load(f, path, concurrency, 200);
    histogram = (struct histogram){ 0 };
    n_done = 0;
    uint64_t begun = clock_mono_ns(), runners = cpu_ns(f->rig, true), ours = cpu_ns(f->rig, false);
    load(f, path, concurrency, ms);
    double seconds = (double)(clock_mono_ns() - begun) / 1e9, n = (double)n_done;
    (void)snprintf(labels, sizeof labels,
                   "\"abi\": \"%s\", \"request\": \"%s\", \"concurrency\": \"%u\"", abi, path,
                   concurrency);
    print("direct_rps", labels, "1/s", n / seconds);
    print("runner_cpu_us", labels, "us", (double)(cpu_ns(f->rig, true) - runners) / 1e3 / n);
    print("main_cpu_us", labels, "us", (double)(cpu_ns(f->rig, false) - ours) / 1e3 / n);
    (void)printf(
        ",\n  {\"metric\": \"direct_us\", \"labels\": {%s}, \"unit\": \"us\", \"p50\": %.1f, "
        "\"p90\": %.1f, \"p99\": %.1f, \"n\": %llu}",
        labels, (double)histogram_percentile(&histogram, 50) / 1e3,
        (double)histogram_percentile(&histogram, 90) / 1e3,
        (double)histogram_percentile(&histogram, 99) / 1e3, (unsigned long long)histogram.n);
    (void)fflush(stdout);
}

/* One after the other; another revision keeps the runner. */
static void measure_cold(const char *abi, const char *file)
{
    enum { ROUNDS = 1000 };
    struct fn_rig rig = { 0 };
    struct fn_under_test other = { 0 }, f = { 0 };
    struct fn_call c = { 0 };
    fn_rig_open(&rig, 1);
    fn_open(&rig, &other, "fn-reactor.wasm");
    histogram = (struct histogram){ 0 };
    for (int i = 0; i < ROUNDS + 50; i++) {
        uint64_t begun = clock_mono_ns();
        fn_open(&rig, &f, file);
        fn_do(&f, &c, "/hello", NULL);
        if (i >= 50)
            histogram_add(&histogram, clock_mono_ns() - begun);
        fn_close(&f);
    }
    (void)printf("%s\n  {\"metric\": \"cold_direct_us\", \"labels\": {\"abi\": \"%s\"}, \"unit\": "
                 "\"us\", \"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"n\": %llu}",
                 is_first ? "" : ",", abi, (double)histogram_percentile(&histogram, 50) / 1e3,
                 (double)histogram_percentile(&histogram, 90) / 1e3,
                 (double)histogram_percentile(&histogram, 99) / 1e3,
                 (unsigned long long)histogram.n);
    is_first = false;
    fn_call_fini(&c);
    fn_close(&other);
    fn_rig_close(&rig);
}

static double pss_kib(const struct fn_rig *rig)
{
    int pids[8];
    uint64_t kib = 0;
    size_t n = wasm_runtime_pids(rig->runtime, pids, ARRAY_LEN(pids));
    for (size_t i = 0; i < MIN(n, ARRAY_LEN(pids)); i++) {
        char path[64], line[256];
        (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pids[i]);
        FILE *f = fopen(path, "r");
        CHECK(f);
        while (fgets(line, sizeof line, f)) {
            struct str number = str_trim(str_slice(str_of(line), 4, strlen(line)));
            uint64_t pss;
            if (strncmp(line, "Pss:", 4) == 0 && number.n > 3 &&
                parse_u64(str_trim(str_slice(number, 0, number.n - 2)), 0, 1u << 30, &pss) == 0)
                kib += pss;
        }
        (void)fclose(f);
    }
    return (double)kib;
}

/* Functions with a sandbox, each called once: template, instance, seat. */
static void measure_memory(const char *abi, const char *file)
{
    enum { N = 500 };
    static struct fn_under_test f[N];
    struct fn_rig rig = { 0 };
    struct fn_call c = { 0 };
    char labels[64];
    fn_rig_open(&rig, 1);
    double before = 0;
    for (int i = 0; i < N; i++) {
        f[i] = (struct fn_under_test){ 0 };
        fn_open(&rig, &f[i], file);
        fn_do(&f[i], &c, "/hello", NULL);
        if (i == 0)
            before = pss_kib(&rig);
    }
    (void)snprintf(labels, sizeof labels, "\"abi\": \"%s\"", abi);
    print("warm_function_kib", labels, "KiB", (pss_kib(&rig) - before) / (N - 1));
    print("runner_kib", labels, "KiB", before);
    fn_call_fini(&c);
    for (int i = 0; i < N; i++)
        fn_close(&f[i]);
    fn_rig_close(&rig);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *abi, *file, *path;
        bool reuse;
    } rows[] = {
        { "reactor", "fn-reactor.wasm", "/hello", false },
        { "reactor", "fn-reactor.wasm", "/poke/3", false },
        { "init", "fn-init.wasm", "/hello", false },
        { "reuse", "fn-reactor.wasm", "/hello", true },
        { "command", "fn-command.wasm", "/hello", false },
    };
    static const unsigned concurrencies[] = { 1, 8, 64 };
    uint64_t seconds = 2, runners = 0;
    if (argc > 1)
        CHECK_OK(parse_u64(str_of(argv[1]), 1, 60, &seconds));
    if (argc > 2)
        CHECK_OK(parse_u64(str_of(argv[2]), 0, 8, &runners));
    (void)printf("{\"bench\": \"pristine\", \"results\": [");
    for (size_t i = 0; i < ARRAY_LEN(rows) && argc < 4; i++) {
        struct fn_rig rig = { 0 };
        fn_rig_open(&rig, (unsigned)runners);
        struct fn_under_test f = { .t.reuse = rows[i].reuse };
        fn_open(&rig, &f, rows[i].file);
        for (size_t k = 0; k < ARRAY_LEN(concurrencies); k++)
            measure(&f, rows[i].abi, rows[i].path, concurrencies[k], seconds * 1000);
        fn_close(&f);
        fn_rig_close(&rig);
    }
    measure_cold("reactor", "fn-reactor.wasm");
    measure_cold("init", "fn-init.wasm");
    measure_cold("command", "fn-command.wasm");
    measure_memory("reactor", "fn-reactor.wasm");
    measure_memory("init", "fn-init.wasm");
    (void)printf("\n]}\n");
    return 0;
}
