/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returning memory to the system when a process is idle.
 *
 * When the loop has had nothing to do and the process has used almost no CPU for
 * IDLE_TRIM_QUIET_MS, the heap is trimmed and the pages of the program and its libraries are
 * unmapped. Most of the program runs only while it starts or works; the kernel keeps its pages in
 * the page cache as long as it has room, and maps one again when an instruction on it runs. Mapping
 * all that one request needs takes less than a millisecond.
 *
 * The start counts as work. After a trim no timer is armed until the loop has work again. A process
 * with several loops has one of these, on its main loop. Loop thread only.
 */
#pragma once

#include "io/loop.h"

enum {
    IDLE_TRIM_QUIET_MS = 2000,
    IDLE_TRIM_CPU_MS = 10 /* a process that uses more than this in that time is not idle */
};

struct idle_trim {
    uv_check_t check; /* runs once in each turn of the loop */
    struct loop *loop;
    struct timer timer;
    uint64_t cpu_ms;  /* of the process, when the timer was armed */
    unsigned n_turns; /* since then */
    unsigned n_trims; /* for tests */
};

/* t is kept until the loop has run the turn after idle_trim_close(). While its timer is armed,
 * loop_run() keeps running. */
void idle_trim_start(struct loop *loop, struct idle_trim *t);
void idle_trim_close(struct idle_trim *t);

/* Unmap the pages of the program and its libraries that cannot have been written to. Any thread may
 * be running. */
void idle_trim_unmap_program(void);
