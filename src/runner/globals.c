/* SPDX-License-Identifier: Apache-2.0 */
/* The mutable globals of a guest; see globals.h. */
#include "runner/globals.h"

#include "wasm/engine_config.h"

static size_t global_bytes(char letter)
{
    return letter == 'v' ? 16 : 8;
}

/* Instances of functions are reset often, so they look their globals up by name only once. */
static bool find_global(struct instance *in, size_t i, wasmtime_global_t *ret)
{
    if (in->globals && i < in->n_globals) {
        *ret = in->globals[i];
        return true;
    }
    return engine_global(in->wasi.cx, &in->handle, i, ret);
}

static wasmtime_valkind_t kind_of(char letter)
{
    switch (letter) {
    case 'i':
        return WASMTIME_I32;
    case 'I':
        return WASMTIME_I64;
    case 'f':
        return WASMTIME_F32;
    case 'F':
        return WASMTIME_F64;
    default:
        return WASMTIME_V128;
    }
}

int globals_save(struct instance *in, char *to, size_t *ret_n, struct err *err)
{
    size_t at = 0;
    for (size_t i = 0; in->module->globals[i]; i++) {
        wasmtime_global_t global;
        wasmtime_val_t value = { 0 };
        if (!find_global(in, i, &global))
            return err_set(err, E_UNSUPPORTED, "global %zu is not exported", i);
        wasmtime_global_get(in->wasi.cx, &global, &value);
        size_t n = global_bytes(in->module->globals[i]);
        if (value.kind != kind_of(in->module->globals[i]))
            return err_set(err, E_UNSUPPORTED, "global %zu has another type", i);
        memcpy(to + at, &value.of, n);
        at += n;
    }
    *ret_n = at;
    return 0;
}

int globals_restore(struct instance *in, struct str saved, struct err *err)
{
    struct rd r = rd_init(saved.p, saved.n);
    for (size_t i = 0; in->module->globals[i]; i++) {
        wasmtime_global_t global;
        struct str bytes = rd_str(&r, global_bytes(in->module->globals[i]));
        wasmtime_val_t value = { .kind = kind_of(in->module->globals[i]) };
        if (!rd_ok(&r) || !find_global(in, i, &global))
            return err_set(err, E_CORRUPT, "the saved globals are not those of the module");
        memcpy(&value.of, bytes.p, bytes.n);
        wasmtime_error_t *e = wasmtime_global_set(in->wasi.cx, &global, &value);
        if (e)
            return engine_err(err, E_CORRUPT, e, "restore a global");
    }
    return r.n ? err_set(err, E_CORRUPT, "the saved globals are not those of the module") : 0;
}

int globals_find_all(struct instance *in, struct err *err)
{
    size_t n = strlen(in->module->globals);
    in->n_globals = 0;
    in->globals = xnew_n(wasmtime_global_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!find_global(in, i, &in->globals[i]))
            return err_set(err, E_UNSUPPORTED, "global %zu is not exported", i);
        in->n_globals = i + 1;
    }
    return 0;
}
