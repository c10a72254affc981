/* SPDX-License-Identifier: Apache-2.0 */
/* One run of dormouse-compile as a child process. Loop thread only. */
#pragma once

#include "io/loop.h"

struct module_compile;

/*
 * Runs exactly once. status: 0, an error code of wasm/compile_exit.h, -ETIMEDOUT, -ECANCELED after
 * module_compile_kill(), or, when a signal ended the child, E_LIMIT, -ENOMEM or E_INVALID.
 */
typedef void (*module_compile_cb)(int status, const struct err *err, void *arg);

struct module_compile_opts {
    const char *path;              /* the program */
    int wasm_fd, code_fd, info_fd; /* inherited; the caller may close them at once */
    bool keep_names;
    bool is_quick;         /* fast compilation, slower code */
    bool is_background;    /* no request waits for it */
    bool shares_processes; /* no PID namespace, as where the kernel refuses one */
    uint64_t timeout_ms;
};

/*
 * opts:   copied.
 * ret:    borrowed until `cb` has returned.
 * Errors: of starting the child (-ENOENT, -EACCES); then `cb` never runs.
 */
int module_compile_start(struct loop *loop, const struct module_compile_opts *opts,
                         module_compile_cb cb, void *arg, struct module_compile **ret,
                         struct err *err);
void module_compile_kill(struct module_compile *c);
/* Stop the child and its time limit, until the next call with pause = false. */
void module_compile_pause(struct module_compile *c, bool pause);
/*
 * For `cb`: the child gave no verdict. It was ended by a signal, by its limits, or by what looks
 * like a bug of the compiler.
 */
bool module_compile_has_crashed(const struct module_compile *c);
