/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to a function: its body in, its answer out, in pieces where they are large. What the
 * guest sees is docs/function-abi.md.
 *
 * An answer gathers and leaves with the next message of any kind, or when FUNCTION_GATHER bytes are
 * there. Main gives credit; once that is used up, the guest is parked until it gets more.
 */
#pragma once

#include "runner/worker.h"

enum { FUNCTION_GATHER = 32 << 10 };

/* The RUN in w->run, which is of a function. May change what lies in its slot. */
int function_order(struct runner_worker *w, struct err *err);

/* ---- for host functions; `trap`: set when the guest has to return at once ---- */

/* A command that handles a request: its input and output are the bodies. */
static inline bool function_has_body(const struct instance *in)
{
    return in->abi == GUEST_ABI_COMMAND && in->phase == V1_ACTIVATION;
}
/* Up to n bytes of the body; 0: the end, or nothing is there and may_wait is false. Else a
 * guest_error. */
int32_t function_read(struct instance *in, char *to, uint32_t n, bool may_wait, wasm_trap_t **trap);
/* 0 or a guest_error; all of it is taken. */
int32_t function_write(struct instance *in, struct str bytes, wasm_trap_t **trap);
