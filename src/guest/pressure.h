/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pressure as the kernel sees it. Three sources, each where it exists:
 *
 *   PSI             somebody had to wait for memory: of our control group, else of the machine
 *   cgroup v2       memory.events of the group whose limit (memory.high, memory.max) binds us
 *   cgroup v1       a threshold below memory.limit_in_bytes, by eventfd
 *
 * The kernel wakes us; until then this costs nothing. Beside that pressure_times() says how dear
 * memory is, from what the group uses of its limit.
 *
 * Loop thread only.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

enum {
    PRESSURE_STALL_MS = 100, /* somebody waited for so long, */
    PRESSURE_WINDOW_MS =
        2000, /* within this time; the kernel wants multiples of 2 s from ordinary users */
    PRESSURE_LOOK_MS = 250,      /* usage is read this often at most */
    PRESSURE_TIGHT_PERCENT = 70, /* of the limit: memory is 4 times as dear, */
    PRESSURE_SHORT_PERCENT = 85, /* 16 times, and the threshold of v1 */
    PRESSURE_GROUP_DEPTH_MAX = 32
};

/* The control group that binds us. */
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
    struct defer closing; /* pressure_close() with no source open */
    uint64_t looked_ms;
    uint32_t times;
    void (*on_pressure)(void *arg);
    void (*on_closed)(void *arg);
    void *arg;
};

/* Without any source nothing is ever called; that is no error. */
void pressure_start(struct pressure *p, struct loop *loop, void (*on_pressure)(void *arg),
                    void *arg);
/* `cb` runs once, from the loop, when the struct may be freed; never before pressure_close() has
 * returned. */
void pressure_close(struct pressure *p, void (*cb)(void *arg));
/* How dear memory is: 1, 4 or 16. */
uint32_t pressure_times(struct pressure *p);

/* In text of /proc/self/cgroup: the path behind "0::" (unified hierarchy), or behind a list of
 * controllers that has `memory`; "" without one. */
struct str pressure_own_path(struct str proc, bool is_v2);

/* ---- for tests, and memory_group.h ---- */

/*
 * The group of ours, or of those above it, with the least limit. proc: text of /proc/self/cgroup;
 * root: where control groups are mounted. dir_fd -1 when no limit binds us. ret: given,
 * pressure_group_fini().
 */
void pressure_group_find(const char *root, struct str proc, struct pressure_group *ret);
void pressure_group_fini(struct pressure_group *g);
/* What cannot be reclaimed at once, in percent of the limit; 0 without a limit. */
unsigned pressure_group_percent(const struct pressure_group *g);
