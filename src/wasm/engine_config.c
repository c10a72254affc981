/* SPDX-License-Identifier: Apache-2.0 */
/* Making the engine; see engine_config.h. Compiled once for each engine build. */
#include "wasm/engine_config.h"

#include "base/mem.h"
#include "base/str.h"

#include <dm_engine.h>

#include <ctype.h>
#include <stdio.h>

/* The engine's messages have several lines; collapse white space. */
static void one_line(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (!isspace((unsigned char)*from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    if (to > text && to[-1] == ' ')
        to--;
    *to = 0;
}

int engine_err(struct err *err, int code, wasmtime_error_t *e, const char *what)
{
    wasm_name_t message;
    wasmtime_error_message(e, &message);
    char text[sizeof err->text];
    (void)snprintf(text, sizeof text, "%.*s", (int)message.size, message.data);
    one_line(text);
    wasm_byte_vec_delete(&message);
    wasmtime_error_delete(e);
    return err_set(err, code, "%s: %s", what, text);
}

static wasm_config_t *config_new(void)
{
    wasm_config_t *c = wasm_config_new();
#define ENGINE_SET(setter, value) setter(c, value);
    ENGINE_CONFIG(ENGINE_SET)
#undef ENGINE_SET
    dm_config_backtrace_details_off(c);
    return c;
}

/* Takes `c`. */
static int make(wasm_config_t *c, const char *version, wasm_engine_t **ret, struct err *err)
{
    wasmtime_error_t *e = dm_config_module_version(c, version ? version : DM_ENGINE_VERSION);
    if (e) {
        wasm_config_delete(c);
        return engine_err(err, E_INVALID, e, "engine version");
    }
    e = dm_engine_new(c, ret);
    return e ? engine_err(err, E_INVALID, e, "create the engine") : 0;
}

uint64_t engine_limit_store(wasmtime_store_t *store, struct dm_store_limits *limits,
                            uint64_t max_bytes, bool may_change_tables)
{
    uint64_t share = max_bytes / ENGINE_TABLE_SHARE;
    uint64_t memory = may_change_tables ? max_bytes - share : max_bytes;
    uint64_t elements = share / sizeof(void *) / (may_change_tables ? ENGINE_TABLES_MAX : 1);
    elements = MAX(elements, (uint64_t)ENGINE_TABLE_ELEMENTS_MIN);
    *limits = (struct dm_store_limits){ .memory_bytes = memory,
                                        .table_elements = elements,
                                        .tables = ENGINE_TABLES_MAX };
    dm_store_limit(store, limits);
    return memory;
}

int engine_new(const char *version, wasm_engine_t **ret, struct err *err)
{
    return make(config_new(), version, ret, err);
}

#ifdef WASMTIME_FEATURE_CRANELIFT
int engine_new_compiler(enum engine_tier tier, bool threads, wasm_engine_t **ret, struct err *err)
{
    wasm_config_t *c = config_new();
    wasmtime_config_parallel_compilation_set(c, threads);
    if (tier == ENGINE_BEST) {
        wasmtime_config_cranelift_opt_level_set(c, WASMTIME_OPT_LEVEL_SPEED);
        return make(c, NULL, ret, err);
    }
    /* For the baseline compiler too: Cranelift compiles its entries from the host. */
    wasmtime_config_cranelift_opt_level_set(c, WASMTIME_OPT_LEVEL_NONE);
    wasmtime_config_cranelift_regalloc_algorithm_set(c, WASMTIME_REGALLOC_SINGLE_PASS);
    wasmtime_config_cranelift_flag_set(c, "enable_verifier", "false");
    if (tier == ENGINE_BASELINE) {
        wasmtime_config_strategy_set(c, WASMTIME_STRATEGY_WINCH);
        wasmtime_config_wasm_tail_call_set(c, false); /* not supported: such modules are refused */
    }
    return make(c, NULL, ret, err);
}
#endif
