/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups of containers: the kind of the machine, and what crun does not do. All groups of
 * one owner are below one parent group, which has no processes of its own. Any thread; blocks, but
 * only on the kernel.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "container/resources.h"

#include <stdbool.h>
#include <stdint.h>

enum container_cgroup_kind {
    CONTAINER_CGROUPS_NONE, /* nothing is limited */
    CONTAINER_CGROUPS_V1,
    CONTAINER_CGROUPS_V2
};

enum {
    CONTAINER_CGROUP_PERIOD_US = 100000,
    CONTAINER_CGROUP_PARENT_MAX = 48,
    CONTAINER_CGROUP_NAME_MAX = 224
};

struct container_cgroups { /* zeroed: NONE */
    enum container_cgroup_kind kind;
    char parent[CONTAINER_CGROUP_PARENT_MAX]; /* "/dormouse-fn" */
};

/*
 * What can be used here; makes the parent group. Errors: E_UNSUPPORTED with what is missing.
 */
int container_cgroups_find(const char *parent, struct container_cgroups *ret, struct err *err);
/*
 * Both hierarchies with controllers are there ("hybrid"), which crun refuses: it must run where
 * this mount is not seen.
 */
bool container_cgroups_are_hybrid(void);
/* Whether memory and swap together can be limited. */
bool container_cgroups_count_swap(const struct container_cgroups *g);

/* ---- one group, by its name below the parent, which may have a '/'; "": the parent itself ---- */

/*
 * Make it and the groups above it; fine if it exists. Groups below it can be limited. Errors:
 * E_UNSUPPORTED.
 */
int container_cgroup_make(const struct container_cgroups *g, const char *name, struct err *err);
/* Make it in all hierarchies, as far as that is possible. Their directories with ' ' between them,
 * "" for version 2. Given, free(). */
char *container_cgroup_make_everywhere(const struct container_cgroups *g, const char *name);
/*
 * The first move of a process after some milliseconds waits in the kernel until each processor has
 * passed a quiescent state (10 to 20 ms); further ones soon after it do not. This call is such a
 * move, which changes nothing: of this process to where it is. Version 1 only. Any thread; blocks.
 */
void container_cgroup_prepare_moves(const struct container_cgroups *g);
/* The same, and move a process there. Blocks for up to tens of milliseconds: the kernel waits until
 * no processor forks. */
void container_cgroup_join(const struct container_cgroups *g, const char *name, int pid);
/*
 * Change all its limits; one that is zero is removed. Errors: -EBUSY: it uses more memory; those of
 * the system calls: -EINVAL: more CPU than a group above it may use.
 */
int container_cgroup_limit(const struct container_cgroups *g, const char *name,
                           const struct container_limits *limits, struct err *err);
/* The kernel's weight of CPU in version 1, as `cpu.shares` of a config.json. */
uint64_t container_cgroup_shares(uint64_t cpu_milli);
/* Microseconds in CONTAINER_CGROUP_PERIOD_US, at least what the kernel accepts. */
uint64_t container_cgroup_quota_us(uint64_t cpu_milli);
/* Zero without control groups. -ENOENT: there is no such group. */
int container_cgroup_usage(const struct container_cgroups *g, const char *name,
                           struct container_usage *ret);
/* The groups directly below it, in any order. */
void container_cgroup_each(const struct container_cgroups *g, const char *name,
                           void (*each)(void *arg, const char *name), void *arg);

/* At most so many thousandths of a core from now on. */
void container_cgroup_limit_cpu(const struct container_cgroups *g, const char *name,
                                uint64_t cpu_milli);
/* Whether the kernel has killed a process in it because memory ran out. */
bool container_cgroup_ran_out(const struct container_cgroups *g, const char *name);
/*
 * With the groups below it. Ends what runs there: crun was killed while it made a container, or a
 * program has made groups itself. -EBUSY: something has not ended yet.
 */
int container_cgroup_remove(const struct container_cgroups *g, const char *name);
/* The same, but ends nothing. -EBUSY: a process is in it, or below; empty groups beside it may be
 * gone. */
int container_cgroup_remove_empty(const struct container_cgroups *g, const char *name);

/* ---- for cgroup.c and usage.c ---- */

enum { CONTAINER_CGROUP_PATH_MAX = CONTAINER_CGROUP_PARENT_MAX + CONTAINER_CGROUP_NAME_MAX + 64 };

/* A file of a group: v1 has it in the hierarchy of a controller, v2 under another name. */
void container_cgroup_path(const struct container_cgroups *g, const char *name,
                           const char *controller, const char *v1, const char *v2,
                           char to[CONTAINER_CGROUP_PATH_MAX]);
