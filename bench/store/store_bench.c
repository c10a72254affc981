/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store costs: durable transactions per second with 1, 16 and 64 outstanding, next to what
 * the disk itself can do (fdatasync of one page, over and over); opening, listing and memory with
 * many objects; watchers.
 *
 * Usage: store-bench DIR [--quick] [--machine TEXT] [--revision TEXT]; writes JSON to stdout.
 * Objects are 1,500 bytes. Memory is the PSS of this process less what it was before opening.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VALUE_BYTES = 1500, SYNC_BYTES = 8192, MAX_OUTSTANDING = 64, IDLE_WAIT_MS = 3000 };

static struct loop loop;
static struct store *store;
static char store_path[256];
static bool first_result = true;

static void fail(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "store-bench: %s: %s\n", what, err_text(err));
    exit(1);
}

static void result(const char *metric, const char *labels, const char *unit, double value)
{
    (void)printf("%s\n  {\"metric\": \"%s\", \"labels\": {%s}, \"unit\": \"%s\", \"value\": %.3f}",
                 first_result ? "" : ",", metric, labels, unit, value);
    first_result = false;
    (void)fflush(stdout);
}

static double seconds_since(uint64_t start_ns)
{
    return (double)(clock_mono_ns() - start_ns) / 1e9;
}

/* ------------------------------------------------------------------ the disk */

/* Into blocks that are there already, as a write-ahead log that has gone round once. */
static void bench_disk(const char *dir, int n)
{
    scoped(free_scoped) char *path = xasprintf("%s/sync-test", dir);
    static char bytes[SYNC_BYTES];
    int fd = sys_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < n; i++)
        (void)sys_pwrite_all(fd, bytes, sizeof bytes, (uint64_t)i * sizeof bytes);
    (void)sys_fsync(fd);
    uint64_t start = clock_mono_ns();
    for (int i = 0; i < n; i++) {
        (void)sys_pwrite_all(fd, bytes, sizeof bytes, (uint64_t)i * sizeof bytes);
        (void)fdatasync(fd);
    }
    result("fdatasync_per_second", "", "1/s", n / seconds_since(start));
    (void)close(fd);
    (void)unlink(path);
}

/* ------------------------------------------------------------------ opening and closing */

static void open_store(void)
{
    struct err err = { 0 };
    struct store_opts opts = { .path = store_path };
    if (store_open(&loop, &opts, &store, &err) < 0)
        fail("open", &err);
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void close_store(void)
{
    bool done = false;
    store_close(store, on_closed, &done);
    while (!done)
        (void)loop_turn(&loop, true);
}

static void remove_store(void)
{
    (void)unlink(store_path);
}

static double pss_mib(void)
{
    struct buf text = BUF_INIT(1 << 16);
    double kib = 0;
    if (sys_read_file(AT_FDCWD, "/proc/self/smaps_rollup", &text, NULL) >= 0) {
        struct str rest = buf_str(&text), line;
        while (kib == 0 && rest.n) {
            (void)str_cut(rest, '\n', &line, &rest);
            uint64_t v;
            if (!str_has_prefix(line, STR("Pss:")))
                continue;
            line = str_trim(str_slice(line, 4, line.n - 2));
            if (parse_u64(line, 0, UINT64_MAX, &v) == 0)
                kib = (double)v;
        }
    }
    buf_fini(&text);
    return kib / 1024;
}

/* ------------------------------------------------------------------ transactions */

static struct {
    uint64_t submitted, done, wanted;
    uint64_t start_ns[MAX_OUTSTANDING];
    uint32_t *latency_us;
    bool update;
} run;

static char value[VALUE_BYTES];

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err);

static void submit(size_t lane)
{
    char key[64];
    /* Kubernetes names are random: neighbours in time are not neighbours in the tree. */
    uint64_t n = run.submitted++;
    int len = snprintf(key, sizeof key, "/registry/configmaps/default/object-%010llu",
                       (unsigned long long)(n * 2654435761U % 10000000000ULL));
    struct store_op op = { .kind = STORE_PUT,
                           .key = str_n(key, (size_t)len),
                           .value = str_n(value, sizeof value),
                           .cmp = STORE_ABSENT };
    if (run.update) {
        op.key = STR("/registry/configmaps/default/one");
        op.cmp = STORE_ANY;
    }
    struct err err = { 0 };
    run.start_ns[lane] = clock_mono_ns();
    if (store_txn(store, &op, 1, on_txn, (void *)(uintptr_t)lane, &err) < 0)
        fail("write", &err);
}

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    size_t lane = (size_t)(uintptr_t)arg;
    if (res->r < 0)
        fail("write", err);
    run.latency_us[run.done++] = (uint32_t)((clock_mono_ns() - run.start_ns[lane]) / 1000);
    if (run.submitted < run.wanted)
        submit(lane);
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns transactions per second. */
static double run_txns(uint64_t n, size_t outstanding)
{
    run.submitted = run.done = 0;
    run.wanted = n;
    run.latency_us = xnew_n(uint32_t, n);
    uint64_t start = clock_mono_ns();
    for (size_t lane = 0; lane < outstanding && run.submitted < n; lane++)
        submit(lane);
    while (run.done < n)
        (void)loop_turn(&loop, true);
    double rate = (double)n / seconds_since(start);
    qsort(run.latency_us, n, sizeof *run.latency_us, compare_u32);
    return rate;
}

static void bench_txns(uint64_t n, size_t outstanding, bool update)
{
    char labels[96];
    (void)snprintf(labels, sizeof labels, "\"outstanding\": %zu, \"kind\": \"%s\"", outstanding,
                   update ? "update" : "create");
    open_store();
    run.update = update;
    double rate = run_txns(n, outstanding);
    struct store_stats stats;
    store_stats(store, &stats);
    result("txns_per_second", labels, "1/s", rate);
    result("txn_us_p50", labels, "us", run.latency_us[n / 2]);
    result("txn_us_p99", labels, "us", run.latency_us[n * 99 / 100]);
    result("txns_per_fsync", labels, "1", (double)n / (double)stats.fsyncs);
    free(run.latency_us);
    close_store();
    remove_store();
    run.update = false;
}

/* ------------------------------------------------------------------ many objects */

static struct {
    bool done, more;
    char last[STORE_KEY_MAX_BYTES];
    size_t n_last, rows;
    uint64_t rev;
} list;

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    if (r < 0)
        fail("list", err);
    list.done = true;
    list.more = page->more;
    list.rows += page->n;
    list.rev = page->rev;
    if (page->n) {
        struct str last = page->kv[page->n - 1].key;
        memcpy(list.last, last.p, last.n);
        list.n_last = last.n;
    }
}

static void list_all(bool count_left)
{
    struct err err = { 0 };
    list.n_last = list.rows = 0;
    list.rev = 0;
    do {
        struct store_range range = { .prefix = STR("/registry/configmaps/"),
                                     .after = str_n(list.last, list.n_last),
                                     .at_rev = list.rev,
                                     .count_left = count_left };
        list.done = false;
        if (store_range(store, &range, on_page, NULL, &err) < 0)
            fail("list", &err);
        while (!list.done)
            (void)loop_turn(&loop, true);
    } while (list.more);
}

static void on_timer(struct timer *t)
{
}

static void wait_ms(uint64_t ms)
{
    struct timer t = { 0 };
    timer_start(&loop, &t, ms, on_timer);
    while (timer_is_armed(&t))
        (void)loop_turn(&loop, true);
}

static void bench_objects(uint64_t n)
{
    char labels[64];
    (void)snprintf(labels, sizeof labels, "\"objects\": %llu", (unsigned long long)n);
    open_store();
    (void)run_txns(n, MAX_OUTSTANDING);
    free(run.latency_us);
    close_store();
    double before = pss_mib();
    uint64_t start = clock_mono_ns();
    open_store();
    result("open_ms", labels, "ms", seconds_since(start) * 1e3);
    result("open_pss_mib", labels, "MiB", pss_mib() - before);
    start = clock_mono_ns();
    list_all(false);
    result("list_ms", labels, "ms", seconds_since(start) * 1e3);
    start = clock_mono_ns();
    list_all(true);
    result("list_counting_ms", labels, "ms", seconds_since(start) * 1e3);
    if (list.rows != n)
        fail("list", &(struct err){ .text = "objects are missing" });
    run.update = true;
    (void)run_txns(2000, 1);
    free(run.latency_us);
    run.update = false;
    result("busy_pss_mib", labels, "MiB", pss_mib() - before);
    wait_ms(IDLE_WAIT_MS);
    result("idle_pss_mib", labels, "MiB", pss_mib() - before);
    struct store_stats stats;
    store_stats(store, &stats);
    result("disk_mib", labels, "MiB", (double)stats.bytes_on_disk / (1 << 20));
    close_store();
    remove_store();
}

/* ------------------------------------------------------------------ watchers */

static uint64_t events_seen;

static void on_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress)
{
    events_seen += n;
}

static void on_end(void *arg, int r, const struct err *err)
{
}

static void bench_watchers(int watchers, uint64_t n)
{
    static const struct store_watch_ops ops = { on_events, on_end };
    char labels[64];
    struct err err = { 0 };
    (void)snprintf(labels, sizeof labels, "\"watchers\": %d, \"outstanding\": 64", watchers);
    open_store();
    events_seen = 0;
    for (int i = 0; i < watchers; i++) {
        struct store_watch *w;
        if (store_watch_start(store, STR("/registry/"), 0, &ops, NULL, &w, &err) < 0)
            fail("watch", &err);
    }
    double rate = run_txns(n, MAX_OUTSTANDING);
    free(run.latency_us);
    result("watched_txns_per_second", labels, "1/s", rate);
    if (events_seen != n * (uint64_t)watchers)
        fail("watch", &(struct err){ .text = "events are missing" });
    close_store();
    remove_store();
}

/* ------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    const char *dir = NULL, *machine = "", *revision = "";
    bool quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--machine") == 0 && i + 1 < argc)
            machine = argv[++i];
        else if (strcmp(argv[i], "--revision") == 0 && i + 1 < argc)
            revision = argv[++i];
        else
            dir = argv[i];
    }
    if (!dir) {
        (void)fprintf(stderr,
                      "usage: store-bench DIR [--quick] [--machine TEXT] [--revision TEXT]\n");
        return 2;
    }
    struct err err = { 0 };
    if (loop_init(&loop, &err) < 0)
        fail("start", &err);
    (void)snprintf(store_path, sizeof store_path, "%s/bench.db", dir);
    memset(value, 'v', sizeof value);
    uint64_t scale = quick ? 1 : 10;
    (void)printf("{\"bench\": \"store\", \"machine\": \"%s\", \"revision\": \"%s\", \"results\": [",
                 machine, revision);
    bench_disk(dir, quick ? 300 : 2000);
    static const size_t outstanding[] = { 1, 16, MAX_OUTSTANDING };
    for (size_t i = 0; i < ARRAY_LEN(outstanding); i++)
        bench_txns(500 * scale * (i + 1), outstanding[i], false);
    bench_txns(500 * scale, 1, true);
    bench_objects(10000);
    if (!quick)
        bench_objects(100000);
    bench_watchers(100, 500 * scale);
    bench_watchers(1000, 500 * scale);
    (void)printf("\n]}\n");
    loop_fini(&loop);
    return 0;
}
