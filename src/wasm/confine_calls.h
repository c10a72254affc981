/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of system calls of processes that read foreign bytes and answer through descriptors
 * they were given: dormouse-compile and the reader of image layers. Memory that is not executable,
 * reading, writing, aborting and exiting are allowed; no path, process or socket. The runner, which
 * executes code and starts threads, has a list of its own.
 *
 * Compiled by each program that uses it, since only these link libseccomp.
 */
#pragma once

#include "base/err.h"

#include <stddef.h>

struct confine_calls {
    const int *allowed; /* beside those above */
    size_t n_allowed;
    const int *refused; /* answered with EPERM; every other call ends the process */
    size_t n_refused;
};

/*
 * Load the filter for all threads, permanently. Call confine_enter() (wasm/confine.h) or set
 * PR_SET_NO_NEW_PRIVS before. Errors: -ENOMEM, what the kernel answers.
 */
int confine_filter(const struct confine_calls *calls, struct err *err);
