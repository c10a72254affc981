/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quick code: compiles in a tenth of a second per MiB of Wasm, runs two to four times slower.
 *
 * The engine's baseline compiler (Winch) makes it. Modules that Winch does not support (tail calls;
 * vectors on a machine without AVX; other architectures) are compiled by Cranelift without
 * optimizing.
 *
 * The two have different calling conventions, which matters where modules of both call each other,
 * so the loader refuses the baseline compiler's code where its own configuration is Cranelift's.
 * Guests call only the host, through entries in their own code. So the code is labelled as
 * Cranelift's, which is correct because a store holds one module.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct quick;
struct wasm_engine_t;

/* To be called before any untrusted input is read. ret: lives as long as the process. */
int quick_new(bool threads, struct quick **ret, struct err *err);
/* The engine that is tried first. */
struct wasm_engine_t *quick_engine(const struct quick *q);
/* Write the code to `fd`. Errors: E_INVALID: the module is refused; -EIO. */
int quick_compile(const struct quick *q, struct str wasm, int fd, struct err *err);
