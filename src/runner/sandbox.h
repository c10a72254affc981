/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process may still do once it runs guests: it has no privileges, sees no files, networks
 * or processes (wasm/confine.h), and its allow-list of system calls is short, names no file, opens
 * no socket and starts nothing; anything else kills it.
 */
#pragma once

#include "runner/runner.h"

enum {
    SANDBOX_MEMORY_BYTES = 1 << 30, /* beside guests: messages, stacks, what the engine keeps */
    SANDBOX_MEMORY_STEP = 256 << 20
};

/* Before the engine exists: no new privileges, no huge pages, resource limits. */
int sandbox_prepare(struct runner *r, struct err *err);
/* For good. Everything that must be opened is open. */
int sandbox_enter(struct err *err);
/*
 * Let the process have as much private memory as its guests may have, r->guest_bytes, and
 * SANDBOX_MEMORY_BYTES. Beyond, allocations fail: a guest's growth is refused, the process ends.
 */
void sandbox_allow_memory(struct runner *r);
