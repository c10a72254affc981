/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a program: bytes to its stdin, all of its stdout, the end of its stderr, a deadline.
 * Loop thread only.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

struct pod_exec;

struct pod_exec_opts {
    const char *const *argv; /* argv[0] is a path; NULL at the end; borrowed, as env and input */
    const char *const *env;
    struct str input;
    uint64_t timeout_ms;
    size_t out_max, err_max; /* bytes of stdout: E_LIMIT beyond; of stderr: the first ones */
    /*
     * Exactly once, on a later turn, when the program has ended. r: 0; -ETIMEDOUT or E_LIMIT: it
     * was killed. status: as in io/process.h. Texts are borrowed.
     */
    void (*done)(void *arg, int r, int status, struct str out, struct str err_out);
    void *arg;
};

/* Errors of the start: -ENOENT and others that execve(2) has. */
int pod_exec_start(struct loop *loop, const struct pod_exec_opts *opts, struct pod_exec **ret,
                   struct err *err);
