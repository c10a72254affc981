/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups of containers: the kind of the machine, and what crun does not do. All groups of
 * one owner are below one parent group, which has no processes of its own. Any thread; blocks, but
 * only on the kernel.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum container_cgroup_kind {
    CONTAINER_CGROUPS_NONE, /* nothing is limited */
    CONTAINER_CGROUPS_V1,
    CONTAINER_CGROUPS_V2
};

enum { CONTAINER_CGROUP_PARENT_MAX = 48, CONTAINER_CGROUP_NAME_MAX = 96 };

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

/* ---- one group, by its name below the parent ---- */

/* At most so many thousandths of a core from now on. */
void container_cgroup_limit_cpu(const struct container_cgroups *g, const char *name,
                                uint64_t cpu_milli);
/* Whether the kernel has killed a process in it because memory ran out. */
bool container_cgroup_ran_out(const struct container_cgroups *g, const char *name);
/*
 * What crun has left of it: it was killed while it made a container. Ends what runs there. -EBUSY:
 * something has not ended yet.
 */
int container_cgroup_remove(const struct container_cgroups *g, const char *name);
