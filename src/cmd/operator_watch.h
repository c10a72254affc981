/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse operator run --watch: build the project, and again whenever its source changes. The
 * server notices the new module by itself and swaps it in between two activations; what does not
 * compile changes nothing.
 */
#pragma once

#include "base/err.h"

enum {
    OPERATOR_WATCH_DIRS_MAX = 1024, /* directories of a project that are watched */
    OPERATOR_WATCH_SETTLE_MS = 150  /* without a change, before it is built */
};

/*
 * Build `dir`, then fork: returns 0 in the child, which is to serve and ends with its parent. In
 * the parent returns when the child has ended, 1 + its exit status; SIGINT and SIGTERM go to the
 * child. Before threads are started. Errors: as project_build() for what is no project;
 * the system's.
 */
int operator_watch(const char *dir, const char *sdk, struct err *err);
