/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to a function: reads its body and writes its response, in pieces if they are large.
 * docs/function-abi.md describes the guest's view.
 *
 * A response is gathered and sent with the next message of any kind, or once it has FUNCTION_GATHER
 * bytes. Main gives credit; when it is used up, the guest is parked until it gets more.
 */
#pragma once

#include "runner/worker.h"

enum { FUNCTION_GATHER = 32 << 10 };

/* Carry out the RUN in w->run, which is of a function. May change the contents of its slot. */
int function_order(struct runner_worker *w, struct err *err);

/* ---- for host functions; *trap: set when the guest must return at once ---- */

/* true: a command that handles a request; its input and output are the bodies. */
static inline bool function_has_body(const struct instance *in)
{
    return in->abi == GUEST_ABI_COMMAND && in->phase == INSTANCE_ACTIVATION;
}
/* Read up to n bytes of the body; 0: the end, or none is available and may_wait is false. Else a
 * guest_error. */
int32_t function_read(struct instance *in, char *to, uint32_t n, bool may_wait, wasm_trap_t **trap);
/* Write all bytes to the response. 0 or a guest_error. */
int32_t function_write(struct instance *in, struct str bytes, wasm_trap_t **trap);
