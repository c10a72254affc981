/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filter of processes that read foreign bytes and write results to inherited
 * descriptors: dormouse-compile and the reader of image layers. It allows non-executable memory,
 * reading, writing, aborting and exiting; no path, process or socket. The runner, which executes
 * code and starts threads, has its own list.
 *
 * Compiled by each program that uses it, since only these link libseccomp.
 */
#pragma once

#include "base/err.h"

#include <stddef.h>

struct confine_calls {
    const int *allowed; /* beside those above */
    size_t n_allowed;
    const int *refused; /* fail with EPERM; any other call ends the process */
    size_t n_refused;
};

/*
 * Load the filter for all threads, permanently. Requires confine_enter() (wasm/confine.h) or
 * PR_SET_NO_NEW_PRIVS before. Errors: -ENOMEM, those of the kernel.
 */
int confine_filter(const struct confine_calls *calls, struct err *err);
