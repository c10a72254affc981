/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups of containers: which kind the machine has, and what crun does not do for us.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum oci_cgroups { OCI_CGROUPS_NONE, OCI_CGROUPS_V1, OCI_CGROUPS_V2 };

#define OCI_CGROUP "/dormouse-fn" /* parent of all */

/*
 * What can be used here. Errors: E_UNSUPPORTED with what is missing.
 */
int oci_cgroups_find(enum oci_cgroups *ret, struct err *err);
/*
 * Both hierarchies with controllers are there ("hybrid"), which crun refuses: it must run where
 * this mount is not seen.
 */
bool oci_cgroups_are_hybrid(void);
/* Whether memory and swap together can be limited. */
bool oci_cgroups_count_swap(enum oci_cgroups kind);
/* At most so many thousandths of a core from now on. */
void oci_cgroup_limit_cpu(enum oci_cgroups kind, const char *name, uint64_t cpu_milli);
/* Whether the kernel has killed something in it for want of memory. */
bool oci_cgroup_ran_out(enum oci_cgroups kind, const char *name);
/*
 * What crun has left of it: it was killed while it made a container. Ends what runs there. -EBUSY:
 * something has not ended yet.
 */
int oci_cgroup_remove(enum oci_cgroups kind, const char *name);
