/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities and devices of containers as a user asks for them. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { CONTAINER_CAPABILITIES_MAX = 64 }; /* with the NULL at the end */

struct container_capabilities {
    const char *names[CONTAINER_CAPABILITIES_MAX]; /* for container_process.capabilities */
};

/*
 * The default set of container runtimes, with those of `add` and then without those of `drop`
 * (Kubernetes: securityContext.capabilities). Names with or without "CAP_", in any case. "ALL" in
 * `add` begins with all, in `drop` with none instead of the default. is_privileged: all; the lists
 * are ignored. Those that this process does not have are left out. Reads /proc; any thread. Errors:
 * E_INVALID (no such capability).
 */
int container_capabilities_make(const struct str *add, size_t n_add, const struct str *drop,
                                size_t n_drop, bool is_privileged,
                                struct container_capabilities *ret, struct err *err);
