/* SPDX-License-Identifier: Apache-2.0 */
/* Memory is returned once the loop is idle, and not before. */
#include "io/idle_trim.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "test.h"

#include <fcntl.h>

static struct loop loop;
static struct idle_trim trim;
static struct defer work;
static unsigned n_left;

static void on_work(struct defer *d)
{
    if (n_left && --n_left)
        defer_start(&loop, d, on_work);
}

/* Turns of the loop with something to do in each. */
static void run_turns(unsigned n)
{
    n_left = n;
    defer_start(&loop, &work, on_work);
    while (n_left)
        (void)loop_turn(&loop, false);
}

/* The timer is due and has run. */
static void pass_quiet_time(void)
{
    CHECK(timer_is_armed(&trim.timer));
    loop_skip(&loop, IDLE_TRIM_QUIET_MS);
    uint64_t due_ms = trim.timer.due_ms;
    unsigned n_trims = trim.n_trims;
    while (trim.n_trims == n_trims && trim.timer.due_ms == due_ms)
        (void)loop_turn(&loop, true);
}

static void setup(void)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    idle_trim_start(&loop, &trim);
}

static void teardown(void)
{
    idle_trim_close(&trim);
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
}

TEST(an_idle_loop_is_trimmed_and_again_after_work)
{
    setup();
    pass_quiet_time(); /* after the start */
    CHECK_INT(trim.n_trims, 1);
    run_turns(1);
    pass_quiet_time();
    CHECK_INT(trim.n_trims, 2);
    teardown();
}

TEST(a_loop_with_work_is_not_trimmed)
{
    setup();
    run_turns(8);
    pass_quiet_time();
    CHECK_INT(trim.n_trims, 0);
    pass_quiet_time();
    CHECK_INT(trim.n_trims, 1);
    teardown();
}

TEST(a_process_that_computes_is_not_trimmed)
{
    setup();
    run_turns(1);
    uint64_t began_ms = clock_cpu_ms();
    while (clock_cpu_ms() - began_ms <= IDLE_TRIM_CPU_MS)
        ;
    pass_quiet_time();
    CHECK_INT(trim.n_trims, 0);
    teardown();
}

TEST(scratch_memory_is_freed)
{
    setup();
    (void)loop_scratch(&loop);
    run_turns(1);
    pass_quiet_time();
    CHECK(!loop.scratch);
    memset(loop_scratch(&loop), 1, LOOP_SCRATCH_BYTES);
    teardown();
}

/* KiB of files that are mapped in this process. */
static uint64_t mapped_kib(void)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 10);
    struct err err = { 0 };
    CHECK_OK(sys_read_file(AT_FDCWD, "/proc/self/status", &b, &err));
    const char *line = strstr(b.p, "RssFile:");
    CHECK(line);
    uint64_t kib = 0;
    for (line += strlen("RssFile:"); *line && *line != 'k'; line++)
        if (*line >= '0' && *line <= '9')
            kib = kib * 10 + (uint64_t)(*line - '0');
    return kib;
}

TEST(the_program_is_unmapped_and_runs_on)
{
    uint64_t before = mapped_kib();
    idle_trim_unmap_program();
    uint64_t after = mapped_kib();
    CHECK(after < before);
}

TEST_MAIN
