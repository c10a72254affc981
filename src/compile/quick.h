/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that is there soon: a tenth of a second for each MiB of Wasm, and two to four times slower.
 *
 * The engine's baseline compiler (Winch) makes it. What that does not support (tail calls; vectors
 * on a machine without AVX; other architectures) Cranelift makes without optimizing.
 *
 * The two have different calling conventions, which matters where modules of both call each other,
 * so the loader refuses the baseline compiler's code where its own configuration is Cranelift's.
 * Guests call the host alone, through entries that their own code brings with it. So the code is
 * given the label of Cranelift's, and one module per store is what makes that right.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct quick;
struct wasm_engine_t;

/* Before anything hostile is looked at. ret: lives as long as the process. */
int quick_new(bool threads, struct quick **ret, struct err *err);
/* The one that compiles first. */
struct wasm_engine_t *quick_engine(const struct quick *q);
/* Writes the code to `fd`. Errors: E_INVALID the module is refused, -EIO. */
int quick_compile(const struct quick *q, struct str wasm, int fd, struct err *err);
