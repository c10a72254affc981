/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the resident memory of compiled code. Code is mapped from the module cache's files, and
 * the kernel maps 16 pages around each page that is touched, so that soon all code of every awake
 * guest counts as this process's memory, most of it for guests that are idle. The code of the
 * modules used last stays mapped, up to a limit. Code beyond the limit is unmapped and returns from
 * the page cache by faults, one per 64 KiB, when its guest has its next turn: 40 us for 336 KiB,
 * measured. The kernel can reclaim the page cache at any time.
 *
 * Called only by the thread that has the baton (worker.h).
 */
#pragma once

#include "runner/runner.h"

/* Call after loading a module, which touches more code than will run. */
void code_loaded(struct run_module *m);
/* A guest of the module has a turn. */
void code_used(struct runner *r, struct run_module *m);
/* Call before the module is freed. */
void code_forget(struct runner *r, struct run_module *m);
