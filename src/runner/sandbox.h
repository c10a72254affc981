/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines the process before it runs guests: it has no privileges, no access to files, networks or
 * other processes (wasm/confine.h), and a short allow-list of system calls, none of which names a
 * file, opens a socket or starts a process; any other call kills it.
 */
#pragma once

#include "runner/runner.h"

enum {
    SANDBOX_MEMORY_BYTES = 1 << 30, /* beside guests: messages, stacks, the engine */
    SANDBOX_MEMORY_STEP = 256 << 20
};

/* Call before the engine exists: no new privileges, no huge pages, resource limits. */
int sandbox_prepare(struct runner *r, struct err *err);
/* Enter the sandbox, permanently. Everything that must be opened is open by then. */
int sandbox_enter(struct runner *r, struct err *err);
/* Move into the memory cgroup that main has passed. Guests already run meanwhile: a separate thread
 * waits for the kernel. */
void sandbox_join_group(struct runner *r);
/*
 * Limit the private memory of the process to r->guest_bytes and SANDBOX_MEMORY_BYTES. Above that
 * allocations fail: the growth of a guest is refused, any other failure ends the process.
 */
void sandbox_allow_memory(struct runner *r);
