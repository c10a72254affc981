/* SPDX-License-Identifier: Apache-2.0 */
/* One run of dormouse-compile as a child process. Loop thread only. */
#pragma once

#include "io/loop.h"

struct module_compile;

/* Runs exactly once. status 0, or: an error code of wasm/compile_exit.h, -ETIMEDOUT, -ECANCELED
 * after module_compile_kill(), E_LIMIT or E_INVALID when the child was ended by a signal. */
typedef void (*module_compile_cb)(int status, const struct err *err, void *arg);

/*
 * path:   the program.
 * *_fd:   inherited; the caller may close them at once.
 * ret:    borrowed until `cb` runs.
 * Errors: what starting it returned (-ENOENT, -EACCES); then `cb` never runs.
 */
int module_compile_start(struct loop *loop, const char *path, int wasm_fd, int code_fd, int info_fd,
                         bool keep_names, uint64_t timeout_ms, module_compile_cb cb, void *arg,
                         struct module_compile **ret, struct err *err);
void module_compile_kill(struct module_compile *c);
