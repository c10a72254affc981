/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the machine runs short of memory, disk or processes: thresholds as kubelet's hard
 * eviction ones, and conditions that last five minutes longer than the shortage. Pure, except
 * shortage_read(); any thread.
 */
#pragma once

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum shortage_signal {
    SHORTAGE_MEMORY,
    SHORTAGE_NODEFS,
    SHORTAGE_NODEFS_INODES,
    SHORTAGE_IMAGEFS,
    SHORTAGE_IMAGEFS_INODES,
    SHORTAGE_PID,
    SHORTAGE_SIGNALS
};

enum {
    SHORTAGE_MEMORY_MIN_BYTES = 100 << 20,
    SHORTAGE_NODEFS_MIN_PERCENT = 10,
    SHORTAGE_IMAGEFS_MIN_PERCENT = 15,
    SHORTAGE_INODES_MIN_PERCENT = 5,
    SHORTAGE_PID_MIN_PERCENT = 1,          /* kubelet has no threshold for processes by default */
    SHORTAGE_LASTS_MS = 300000,            /* evictionPressureTransitionPeriod */
    SHORTAGE_LOOK_MS = 10000,              /* the least time between two looks at a disk */
    SHORTAGE_FILL_BYTES_PER_MS = 500 << 10 /* pods write at most so fast: 500 MiB a second */
};

struct shortage_value {
    bool is_known;
    uint64_t available, capacity;
};
struct shortage_values {
    struct shortage_value of[SHORTAGE_SIGNALS];
};

/* What is short, and since when it is not any more. Zeroed: nothing. */
struct shortage {
    struct shortage_values last;
    bool is_short[SHORTAGE_SIGNALS];
    bool is_set[SHORTAGE_SIGNALS]; /* short, or within SHORTAGE_LASTS_MS after it */
    uint64_t seen_ms[SHORTAGE_SIGNALS];
};

/* data_dir: nodefs; image_dir: imagefs. root: where /proc is. */
void shortage_read(const char *root, const char *data_dir, const char *image_dir,
                   struct shortage_values *ret);
/* "memory.available", "nodefs.inodesFree" */
const char *shortage_name(enum shortage_signal s);
/* What has to be available. */
uint64_t shortage_minimum(enum shortage_signal s, const struct shortage_value *v);
/* Take new values. Whether is_set has changed, or something is short now. */
bool shortage_step(struct shortage *s, const struct shortage_values *now, uint64_t now_ms);
/* When to look again at the latest; UINT64_MAX: no need. has_pods: something may fill the disk. */
uint64_t shortage_next_ms(const struct shortage *s, bool has_pods, uint64_t now_ms);
