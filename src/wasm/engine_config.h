/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine configuration, shared by the compiler and all programs that run its code: the loader
 * refuses code that was compiled under another configuration.
 *
 * engine_config.c needs the engine's headers, and is compiled once for each of the two engine
 * builds; this header needs none, so that the module cache can put ENGINE_CONFIG_ID into its keys.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Guests run on the calling thread's stack; threads that run guests need at least twice this. */
#define ENGINE_WASM_STACK_BYTES 524288

/*
 * setter, value. Every setting is explicit, since upstream's defaults change. may_move off: the
 * base of a memory is constant while its instance lives. gc off: externref is refused at compile
 * time. address_map and debug_symbols off: smaller code files; backtraces lose offsets, not
 * functions.
 */
#define ENGINE_CONFIG(X)                                                                           \
    X(wasmtime_config_epoch_interruption_set, true)                                                \
    X(wasmtime_config_consume_fuel_set, false)                                                     \
    X(wasmtime_config_max_wasm_stack_set, ENGINE_WASM_STACK_BYTES)                                 \
    X(wasmtime_config_native_unwind_info_set, false)                                               \
    X(wasmtime_config_debug_info_set, false)                                                       \
    X(wasmtime_config_memory_reservation_set, 4294967296)                                          \
    X(wasmtime_config_memory_guard_size_set, 33554432)                                             \
    X(wasmtime_config_memory_reservation_for_growth_set, 0)                                        \
    X(wasmtime_config_memory_may_move_set, false)                                                  \
    X(wasmtime_config_memory_init_cow_set, true)                                                   \
    X(wasmtime_config_signals_based_traps_set, true)                                               \
    X(wasmtime_config_wasm_simd_set, true)                                                         \
    X(wasmtime_config_wasm_relaxed_simd_set, false)                                                \
    X(wasmtime_config_wasm_bulk_memory_set, true)                                                  \
    X(wasmtime_config_wasm_multi_value_set, true)                                                  \
    X(wasmtime_config_wasm_tail_call_set, true)                                                    \
    X(wasmtime_config_wasm_multi_memory_set, false)                                                \
    X(wasmtime_config_wasm_memory64_set, false)                                                    \
    X(wasmtime_config_shared_memory_set, false)                                                    \
    X(wasmtime_config_gc_support_set, false)                                                       \
    X(dm_config_address_map_set, false)                                                            \
    X(dm_config_debug_symbols_set, false)                                                          \
    X(dm_config_backtrace_max_frames_set, 30)

#define ENGINE_CONFIG_TEXT_(setter, value) #setter "=" #value ";"
#define ENGINE_CONFIG_TEXT(setter, value)  ENGINE_CONFIG_TEXT_(setter, value)
/* The configuration as text. */
#define ENGINE_CONFIG_ID ENGINE_CONFIG(ENGINE_CONFIG_TEXT) "opt=speed;quick=winch"

/* The compiler that makes the machine code; the loader treats all code alike. */
enum engine_tier {
    ENGINE_BEST,     /* Cranelift, optimizing */
    ENGINE_SKETCH,   /* Cranelift, as fast as it compiles */
    ENGINE_BASELINE, /* Winch: one pass over each function; not on every architecture */
};

/*
 * Limits of a guest's tables: their number, and an eighth of its memory limit for all of them, at
 * 8 bytes an element. In a module without instructions that change tables, the tables keep their
 * declared size, and only the pages that calls read are ever touched. So each of its tables may
 * take the whole eighth: a Go program has an element for each of its functions.
 */
enum { ENGINE_TABLES_MAX = 8, ENGINE_TABLE_SHARE = 8, ENGINE_TABLE_ELEMENTS_MIN = 1024 };

struct wasm_engine_t;
struct wasmtime_error;
struct wasmtime_store;

/*
 * An engine with this configuration. version: the label in compiled code; NULL: DM_ENGINE_VERSION.
 * One engine per process. Errors: E_INVALID. ret: given, wasm_engine_delete().
 */
int engine_new(const char *version, struct wasm_engine_t **ret, struct err *err);
/* The same with a compiler, in dormouse-compile only. threads: compile functions in parallel. */
int engine_new_compiler(enum engine_tier tier, bool threads, struct wasm_engine_t **ret,
                        struct err *err);

/* Set err to `what` and the text of `e`, on one line. e is taken and must not be NULL. Returns
 * `code`. */
int engine_err(struct err *err, int code, struct wasmtime_error *e, const char *what);

struct dm_store_limits;
/*
 * Limit the memory and tables of a store's single instance, before it is made, to max_bytes.
 * may_change_tables: false only if the module is known to have no instruction that changes tables;
 * if true its tables count towards max_bytes. limits: initialised here, kept until the store is
 * deleted; its refused_bytes is what the guest requested beyond its memory limit (dm_engine.h).
 * Returns the limit of its memory.
 */
uint64_t engine_limit_store(struct wasmtime_store *store, struct dm_store_limits *limits,
                            uint64_t max_bytes, bool may_change_tables);
