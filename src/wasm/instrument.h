/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a core Wasm module and rewrites it for hibernation, before it is compiled.
 *
 * No toolchain exports the globals in which guests keep their stack pointers, and the engine offers
 * no other way to save them. So the memory is exported as __dm_mem, and each mutable number or
 * vector global that the module defines as __dm_g0, __dm_g1 ... The start function becomes the
 * export __dm_start, because it must run at the first instantiation only. Custom sections are
 * removed. No index changes, and code is copied byte for byte.
 *
 * The same pass decodes every instruction and decides whether an instance can be dissolved: all of
 * its state must be memory and exported globals. The compiler validates the module; this code must
 * only be safe with any bytes. Pure, no I/O.
 */
#pragma once

#include "wasm/module_info.h"

enum instrument_flags {
    INSTRUMENT_KEEP_NAMES = 1 << 0, /* keep the name section, for backtraces with function names */
};

/* The new module is longer than the old one by at most this much. */
#define INSTRUMENT_GROWTH_MAX 4096u

/*
 * wasm: the module.
 * out:  an empty buf, gets the rewritten module; unspecified on error.
 * ret:  given, module_info_free().
 * Errors: E_PARSE malformed, E_UNSUPPORTED a component or a disabled feature, E_LIMIT,
 *         -ENOMEM, -EMSGSIZE `out` is too small.
 */
int instrument(struct str wasm, unsigned flags, struct buf *out, struct module_info **ret,
               struct err *err);
