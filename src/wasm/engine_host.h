/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers of all programs that run guests: defining host functions, looking up exports, names of
 * traps, little-endian fields in a guest's memory.
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

/* A host function. sig: "ii:i" as in module_info.h. */
struct engine_func {
    const char *module, *name, *sig;
    wasmtime_func_unchecked_callback_t fn; /* its env is the row */
};

/* Define one function in a linker. row: kept until the linker is deleted. Errors: E_INVALID. */
int engine_define(wasmtime_linker_t *linker, const struct engine_func *row, struct err *err);

/* false: the instance has no such export of this kind. */
bool engine_export(wasmtime_context_t *cx, const wasmtime_instance_t *in, const char *name,
                   wasmtime_extern_kind_t kind, wasmtime_extern_t *ret);
/* Mutable global i, by the export name that instrument() gave it; false: there is none. */
bool engine_global(wasmtime_context_t *cx, const wasmtime_instance_t *in, size_t i,
                   wasmtime_global_t *ret);

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
