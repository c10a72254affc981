/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that our engine library has beyond Wasmtime's C API. Every returned
 * wasmtime_error_t is the caller's (wasmtime_error_delete), NULL means success, and out parameters
 * are written on success only. One engine per process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wasmtime.h>

#include "dm_engine_id.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Consumes `config`, also on failure. wasm_engine_new_with_config aborts where this returns an
 * error: use this one. */
wasmtime_error_t *dm_engine_new(wasm_config_t *config, wasm_engine_t **ret);

/* Loads a compiled module from an open file. `fd` stays the caller's and may be closed afterwards.
 * The contents are trusted: they must have been verified and must never change while loaded. */
wasmtime_error_t *dm_engine_module_from_fd(const wasm_engine_t *engine, int fd,
                                           wasmtime_module_t **ret);

#ifdef WASMTIME_FEATURE_CRANELIFT
/* Compiles `wasm`; calls `sink` once, before returning, with bytes that live during that call. */
wasmtime_error_t *dm_engine_precompile(const wasm_engine_t *engine, const uint8_t *wasm, size_t len,
                                       void (*sink)(void *env, const uint8_t *bytes, size_t len),
                                       void *env);
#endif

void dm_config_address_map_set(wasm_config_t *config, bool enable);
void dm_config_backtrace_details_off(wasm_config_t *config);
void dm_config_debug_symbols_set(wasm_config_t *config, bool enable);
void dm_config_backtrace_max_frames_set(wasm_config_t *config, size_t frames);

/* What compiled files carry and must match when loaded; at most 255 bytes. */
wasmtime_error_t *dm_config_module_version(wasm_config_t *config, const char *version);

/* What the one instance of a store may take. A grow beyond fails, as the specification says. */
struct dm_store_limits {
    uint64_t memory_bytes;   /* of its one memory */
    uint64_t table_elements; /* of each table */
    uint32_t tables;
    uint64_t refused_bytes; /* the largest memory that was refused for memory_bytes; 0: none */
};
/* Before the instance is made. `limits` is kept until the store is deleted; the store writes
 * refused_bytes while its guest runs, the caller may set it to 0 in between. */
void dm_store_limit(wasmtime_store_t *store, struct dm_store_limits *limits);

#ifdef __cplusplus
}
#endif
