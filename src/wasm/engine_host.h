/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers of all programs that run guests: defining host functions, looking up exports, calls into
 * guests and how they fail, names of traps, little-endian fields in a guest's memory. Ranges of a
 * guest's memory are in wasi.h.
 *
 * Needs the engine's headers; engine_host.c is compiled by each program against the engine build
 * that it links.
 */
#pragma once

#include "base/err.h"

#include <dm_engine.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The head of a host function, and its i-th argument as an unsigned number. */
#define ENGINE_FUNC(name)                                                                          \
    static wasm_trap_t *name(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n)
#define ENGINE_U32(i) ((uint32_t)v[i].i32)

/* A host function. sig: "ii:i" as in module_info.h. */
struct engine_func {
    const char *module, *name, *sig;
    wasmtime_func_unchecked_callback_t fn; /* its env is the row */
};

/* Define functions in a linker. rows: kept until the linker is deleted. Errors: E_INVALID. */
int engine_define(wasmtime_linker_t *linker, const struct engine_func *rows, size_t n,
                  struct err *err);

/* false: the instance has no such export of this kind. */
bool engine_export(wasmtime_context_t *cx, const wasmtime_instance_t *in, const char *name,
                   wasmtime_extern_kind_t kind, wasmtime_extern_t *ret);
/* Mutable global i, by the export name that instrument() gave it; false: there is none. */
bool engine_global(wasmtime_context_t *cx, const wasmtime_instance_t *in, size_t i,
                   wasmtime_global_t *ret);

/* How the engine reports that a guest failed: one of the two is set. Both NULL: it did not fail. */
struct engine_failure {
    wasmtime_error_t *error;
    wasm_trap_t *trap;
};
static inline bool engine_has_failed(const struct engine_failure *f)
{
    return f->error || f->trap;
}
void engine_failure_fini(struct engine_failure *f);
/*
 * Call a function whose type the caller has verified. v: the arguments, then the results. n: room
 * in v. epochs: after so many the guest is interrupted.
 */
struct engine_failure engine_call(wasmtime_context_t *cx, const wasmtime_func_t *f,
                                  wasmtime_val_raw_t *v, size_t n, uint64_t epochs);
/* The same for a new instance, which runs the start function of its module. */
struct engine_failure engine_instantiate(wasmtime_context_t *cx, const wasmtime_instance_pre_t *pre,
                                         uint64_t epochs, wasmtime_instance_t *ret);
/* The trap that a host function returns to end its guest. */
wasm_trap_t *engine_trap(void);

/* The wording of a trap's name. */
enum engine_trap_words {
    ENGINE_TRAP_OURS,
    ENGINE_TRAP_WAZERO /* wording of the scheduler for which plugins were written */
};
const char *engine_trap_name(wasmtime_trap_code_t code, enum engine_trap_words words);

/* bytes: 1 to 8. */
static inline void engine_put_le(uint8_t *p, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t engine_get_le(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}
