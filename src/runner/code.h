/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled code in memory. It is mapped from the module cache's files, and the kernel maps 16 pages
 * around each that is touched, so that soon all code of every guest that is awake counts as this
 * process's, most of it for guests that do nothing for the moment. The code of the modules used
 * last stays mapped, up to a bound; what lies beyond is unmapped and comes back from the page cache
 * by faults, one for 64 KiB, when its guest has its next turn: 40 us for 336 KiB, measured. The
 * page cache is the kernel's: it takes the pages when it needs them, with nobody to ask.
 *
 * Whoever has the baton.
 */
#pragma once

#include "runner/runner.h"

/* After loading, which has looked at more than will be run. */
void code_loaded(struct run_module *m);
/* One of its guests has a turn. */
void code_used(struct runner *r, struct run_module *m);
/* Before it goes. */
void code_forget(struct runner *r, struct run_module *m);
