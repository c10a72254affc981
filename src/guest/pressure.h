/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pressure as the kernel reports it. Three sources, each used where it exists:
 *
 *   PSI             a task had to wait for memory: in our control group, else on the machine
 *   cgroup v2       memory.events of the group whose limit (memory.high, memory.max) applies to us
 *   cgroup v1       a threshold below memory.limit_in_bytes, by eventfd
 *
 * The kernel wakes us; until then this costs nothing. In addition pressure_times() returns the
 * price of memory, computed from the group's usage and limit.
 *
 * Loop thread only.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

enum {
    PRESSURE_STALL_MS = 100,   /* tasks waited for this long */
    PRESSURE_WINDOW_MS = 2000, /* within this time; unprivileged users must pass multiples of 2 s */
    PRESSURE_LOOK_MS = 250,    /* least time between two reads of the usage */
    PRESSURE_TIGHT_PERCENT = 70, /* of the limit: memory costs 4 times as much */
    PRESSURE_SHORT_PERCENT = 85, /* 16 times as much; also the threshold of v1 */
    PRESSURE_GROUP_DEPTH_MAX = 32
};

/* The control group whose limit applies to us. */
struct pressure_group {
    int dir_fd; /* -1: none */
    bool is_v2;
    uint64_t limit_bytes;
};

struct pressure_source {
    struct pressure *owner;
    uv_poll_t poll;
    int fd; /* -1: there is none */
};

struct pressure {
    struct pressure_source stall, limit;
    struct pressure_group group;
    int threshold_fd; /* v1: keeps the threshold registered */
    struct loop *loop;
    unsigned n_open;
    struct defer closing; /* for pressure_close() without an open source */
    uint64_t looked_ms;
    uint32_t times;
    void (*on_pressure)(void *arg);
    void (*on_closed)(void *arg);
    void *arg;
};

/* Start watching. Without any source on_pressure never runs; that is not an error. */
void pressure_start(struct pressure *p, struct loop *loop, void (*on_pressure)(void *arg),
                    void *arg);
/*
 * `cb` runs once, from the loop, when the struct may be freed; never before pressure_close() has
 * returned.
 */
void pressure_close(struct pressure *p, void (*cb)(void *arg));
/* The price of memory as a factor: 1, 4 or 16. */
uint32_t pressure_times(struct pressure *p);

/*
 * Find a path in the text of /proc/self/cgroup: the one after "0::" (unified hierarchy), or after a
 * list of controllers that contains `memory`; "" without one.
 */
struct str pressure_own_path(struct str proc, bool is_v2);

/* ---- for tests, and memory_group.h ---- */

/*
 * Find the group, ours or an ancestor, with the lowest limit. proc: text of /proc/self/cgroup;
 * root: mount point of the control groups. dir_fd is -1 when no limit applies. ret: given,
 * pressure_group_fini().
 */
void pressure_group_find(const char *root, struct str proc, struct pressure_group *ret);
void pressure_group_fini(struct pressure_group *g);
/* Memory that cannot be reclaimed at once, in percent of the limit; 0 without a limit. */
unsigned pressure_group_percent(const struct pressure_group *g);
