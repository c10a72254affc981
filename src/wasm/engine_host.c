/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of programs that run guests; see engine_host.h. */
#include "wasm/engine_host.h"

#include "base/str.h"
#include "wasm/engine_config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void add_types(wasm_valtype_vec_t *to, struct str letters)
{
    wasm_valtype_vec_new_uninitialized(to, letters.n);
    for (size_t i = 0; i < letters.n; i++)
        to->data[i] = wasm_valtype_new(letters.p[i] == 'I' ? WASM_I64 : WASM_I32);
}

static int define_one(wasmtime_linker_t *linker, const struct engine_func *row, struct err *err)
{
    struct str letters[2];
    wasm_valtype_vec_t params, results;
    (void)str_cut(str_of(row->sig), ':', &letters[0], &letters[1]);
    add_types(&params, letters[0]);
    add_types(&results, letters[1]);
    wasm_functype_t *type = wasm_functype_new(&params, &results);
    wasmtime_error_t *e =
        wasmtime_linker_define_func_unchecked(linker, row->module, strlen(row->module), row->name,
                                              strlen(row->name), type, row->fn, (void *)row, NULL);
    wasm_functype_delete(type);
    return e ? engine_err(err, E_INVALID, e, row->name) : 0;
}

int engine_define(wasmtime_linker_t *linker, const struct engine_func *rows, size_t n,
                  struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = define_one(linker, &rows[i], err);
    return r;
}

bool engine_export(wasmtime_context_t *cx, const wasmtime_instance_t *in, const char *name,
                   wasmtime_extern_kind_t kind, wasmtime_extern_t *ret)
{
    return wasmtime_instance_export_get(cx, in, name, strlen(name), ret) && ret->kind == kind;
}

bool engine_global(wasmtime_context_t *cx, const wasmtime_instance_t *in, size_t i,
                   wasmtime_global_t *ret)
{
    char name[24];
    wasmtime_extern_t e;
    (void)snprintf(name, sizeof name, "__dm_g%zu", i);
    if (!engine_export(cx, in, name, WASMTIME_EXTERN_GLOBAL, &e))
        return false;
    *ret = e.of.global;
    return true;
}

/* ---- calls and failures ---- */

void engine_failure_fini(struct engine_failure *f)
{
    if (f->error)
        wasmtime_error_delete(f->error);
    if (f->trap)
        wasm_trap_delete(f->trap);
    *f = (struct engine_failure){ 0 };
}

struct engine_failure engine_call(wasmtime_context_t *cx, const wasmtime_func_t *f,
                                  wasmtime_val_raw_t *v, size_t n, uint64_t epochs)
{
    struct engine_failure failure = { 0 };
    wasmtime_context_set_epoch_deadline(cx, epochs);
    failure.error = wasmtime_func_call_unchecked(cx, f, v, n, &failure.trap);
    assert(!failure.error || !failure.trap);
    return failure;
}

struct engine_failure engine_instantiate(wasmtime_context_t *cx, const wasmtime_instance_pre_t *pre,
                                         uint64_t epochs, wasmtime_instance_t *ret)
{
    struct engine_failure failure = { 0 };
    wasmtime_context_set_epoch_deadline(cx, epochs);
    failure.error = wasmtime_instance_pre_instantiate(pre, cx, ret, &failure.trap);
    assert(!failure.error || !failure.trap);
    return failure;
}

wasm_trap_t *engine_trap(void)
{
    return wasmtime_trap_new_code(WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED);
}

/* code, our wording, wazero's */
#define TRAPS(X)                                                                                   \
    X(STACK_OVERFLOW, "stack overflow", "stack overflow")                                          \
    X(MEMORY_OUT_OF_BOUNDS, "access outside of its memory", "out of bounds memory access")         \
    X(TABLE_OUT_OF_BOUNDS, "access outside of a table", "invalid table access")                    \
    X(INDIRECT_CALL_TO_NULL, "call of a null function", "invalid table access")                    \
    X(BAD_SIGNATURE, "indirect call of the wrong type", "indirect call type mismatch")             \
    X(INTEGER_OVERFLOW, "integer overflow", "integer overflow")                                    \
    X(INTEGER_DIVISION_BY_ZERO, "integer division by zero", "integer divide by zero")              \
    X(BAD_CONVERSION_TO_INTEGER, "conversion of a number that is not an integer",                  \
      "invalid conversion to integer")                                                             \
    X(UNREACHABLE_CODE_REACHED, "unreachable code reached", "unreachable")                         \
    X(INTERRUPT, "ran longer than an activation may", "unreachable")

const char *engine_trap_name(wasmtime_trap_code_t code, enum engine_trap_words words)
{
    static const struct {
        int code;
        const char *name[2];
    } traps[] = {
#define ROW(code, ours, wazero) { WASMTIME_TRAP_CODE_##code, { ours, wazero } },
        TRAPS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++)
        if (traps[i].code == code)
            return traps[i].name[words];
    return words == ENGINE_TRAP_OURS ? "trap" : "unreachable";
}
