/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instance of a plugin: creating it, calling it, and explaining a failure with upstream's text.
 */
#include "sched/wasm/internal.h"

#include "wasm/engine_config.h"

#include <stdarg.h>
#include <stdio.h>

enum { FAILED_MAX_BYTES = 16 << 10, SEED = 42 };

wasm_trap_t *winstance_fail(struct winstance *in, const void *row, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_reset(&in->failed);
    (void)buf_vprintf(&in->failed, fmt, ap);
    va_end(ap);
    in->failed_in = row;
    in->outcome = WINSTANCE_REFUSED;
    return engine_trap();
}

static unsigned call_limit_ms(const struct winstance *in)
{
    unsigned own = in->input ? in->input->call_ms : 0;
    return own ? MIN(own, in->plugin->config.call_ms) : in->plugin->config.call_ms;
}

/* ---- WASI: arguments, output, clocks, randomness; no environment, no input ---- */

#define DETERMINISTIC_EPOCH_MS UINT64_C(1640995200000) /* 2022-01-01T00:00:00Z */

static struct winstance *winstance_of_wasi(struct wasi_ctx *c)
{
    return container_of(c, struct winstance, wasi);
}

static wasm_trap_t *wasi_fail(struct wasi_ctx *c, const struct engine_func *row, const char *text)
{
    return winstance_fail(winstance_of_wasi(c), row, "%s", text);
}

/* Keeps the first bytes; a guest that prints more does not notice. */
static int64_t wasi_write(struct wasi_ctx *c, uint32_t fd, struct str bytes, uint64_t before,
                          wasm_trap_t **trap)
{
    struct buf *output = &winstance_of_wasi(c)->output;
    (void)buf_add_str(output, str_slice(bytes, 0, WPLUGIN_OUTPUT_MAX_BYTES - output->n));
    return (int64_t)bytes.n;
}

/*
 * Clocks advance by one millisecond with each reading, from the start of 2022 (realtime) and from
 * zero.
 */
static uint64_t wasi_steady_clock(struct wasi_ctx *c, uint32_t id)
{
    uint64_t ms = winstance_of_wasi(c)->clock_ms++;
    if (id == WASI_CLOCK_REALTIME)
        ms += DETERMINISTIC_EPOCH_MS;
    return ms * 1000000 + c->clock_offset_ns;
}

/* The same sequence in each instance. */
static void wasi_steady_random(struct wasi_ctx *c, uint8_t *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = (uint8_t)rng_next(&winstance_of_wasi(c)->rng);
}

static const struct wasi_grants wasi_of_plugins = { .fail = wasi_fail,
                                                    .clock_resolution_ns = 1,
                                                    .write = wasi_write };
static const struct wasi_grants wasi_of_deterministic_plugins = { .fail = wasi_fail,
                                                                  .clock = wasi_steady_clock,
                                                                  .clock_resolution_ns = 1000000,
                                                                  .random = wasi_steady_random,
                                                                  .write = wasi_write };

/* ---- failures ---- */

static void add_error(struct winstance *in, const wasmtime_error_t *e, struct buf *to)
{
    wasm_frame_vec_t frames;
    if (in->outcome == WINSTANCE_REFUSED && !in->wasi.has_exited) {
        (void)buf_add_str(to, buf_str(&in->failed));
        (void)buf_add_cstr(to, " (recovered by wazero)");
        wasmtime_error_wasm_trace(e, &frames);
        symbols_add_frames(in->plugin->symbols, to, in->failed_in, &frames);
    } else {
        wasm_name_t message;
        wasmtime_error_message(e, &message);
        (void)buf_add(to, message.data, message.size);
        wasm_byte_vec_delete(&message);
    }
}

static void add_trap(struct winstance *in, const wasm_trap_t *trap, struct buf *to)
{
    wasm_frame_vec_t frames;
    wasmtime_trap_code_t code;
    if (!wasmtime_trap_code(trap, &code))
        code = WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED;
    wasm_trap_trace(trap, &frames); /* which point into the trap */
    if (in->outcome != WINSTANCE_REFUSED)
        in->outcome = code == WASMTIME_TRAP_CODE_INTERRUPT ? WINSTANCE_LATE : WINSTANCE_TRAPPED;
    if (in->outcome == WINSTANCE_REFUSED)
        (void)buf_printf(to, "%s (recovered by wazero)", buf_cstr(&in->failed));
    else if (in->outcome == WINSTANCE_LATE)
        (void)buf_printf(to, "the call took longer than %u ms", call_limit_ms(in));
    else
        (void)buf_printf(to, "wasm error: %s", engine_trap_name(code, ENGINE_TRAP_WAZERO));
    if (code == WASMTIME_TRAP_CODE_STACK_OVERFLOW)
        wasm_frame_vec_delete(&frames);
    else
        symbols_add_frames(in->plugin->symbols, to, in->failed_in, &frames);
}

/* f: taken. Returns whether the guest did not fail. */
static bool add_failure(struct winstance *in, struct engine_failure *f, struct buf *to)
{
    if (!engine_has_failed(f))
        return true;
    if (in->outcome == WINSTANCE_RETURNED)
        in->outcome = WINSTANCE_TRAPPED;
    if (in->wasi.has_exited)
        (void)buf_printf(to, "module closed with exit_code(%u)", (unsigned)in->wasi.exit_code);
    else if (f->error)
        add_error(in, f->error, to);
    else
        add_trap(in, f->trap, to);
    engine_failure_fini(f);
    return false;
}

bool winstance_call(struct winstance *in, const wasmtime_func_t *f, wasmtime_val_raw_t *v,
                    struct buf *error)
{
    in->outcome = WINSTANCE_RETURNED;
    in->wasi.has_exited = false;
    in->failed_in = NULL;
    in->is_used = true;
    whost_enter(in->plugin->host);
    unsigned limit_ms = call_limit_ms(in);
    bool runs = !in->plugin->host->is_interrupted;
    struct engine_failure failure =
        engine_call(in->wasi.cx, f, v, 1, runs ? 2 + limit_ms / HOST_TICK_MS : 0);
    whost_leave(in->plugin->host);
    return add_failure(in, &failure, error);
}

/* ---- life ---- */

static bool get_export(struct winstance *in, const char *name, wasmtime_extern_kind_t kind,
                       wasmtime_extern_t *ret)
{
    return engine_export(in->wasi.cx, &in->handle, name, kind, ret);
}

static void find_exports(struct winstance *in)
{
    wasmtime_extern_t e = { 0 };
    bool ok = get_export(in, "memory", WASMTIME_EXTERN_MEMORY, &e);
    assert(ok); /* the module declares it */
    in->wasi.memory = e.of.memory;
    for (enum wplugin_hook hook = 0; hook < WPLUGIN_HOOK_COUNT; hook++) {
        if (!wplugin_exports(in->plugin, hook))
            continue;
        ok = get_export(in, wplugin_hook_name(hook), WASMTIME_EXTERN_FUNC, &e);
        assert(ok);
        in->hooks[hook] = e.of.func;
    }
}

/* An exit with status 0 means "initialised". */
static bool run_once(struct winstance *in, const char *name, struct buf *error)
{
    wasmtime_val_raw_t v[1];
    wasmtime_extern_t e;
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(FAILED_MAX_BYTES + WPLUGIN_OUTPUT_MAX_BYTES);
    if (!get_export(in, name, WASMTIME_EXTERN_FUNC, &e) ||
        winstance_call(in, &e.of.func, v, &why) || (in->wasi.has_exited && in->wasi.exit_code == 0))
        return true;
    (void)buf_add_str(error, buf_str(&in->output));
    if (in->output.n)
        (void)buf_add_char(error, '\n');
    if (in->wasi.has_exited)
        (void)buf_add_str(error, buf_str(&why));
    else
        (void)buf_printf(error, "module[%u] function[%s] failed: %s", in->number,
                         str_is(str_of(name), "__dm_start") ? "start" : name, buf_cstr(&why));
    return false;
}

static bool initialise(struct winstance *in, struct buf *error)
{
    const struct module_info *info = in->plugin->module->info;
    if (info->has_start && !run_once(in, "__dm_start", error))
        return false;
    if (module_info_has_func(info, "_start", ":"))
        return run_once(in, "_start", error);
    return !module_info_has_func(info, "_initialize", ":") || run_once(in, "_initialize", error);
}

static bool instantiate(struct winstance *in, struct buf *error)
{
    struct engine_failure failure =
        engine_instantiate(in->wasi.cx, in->plugin->pre, UINT32_MAX, &in->handle);
    return add_failure(in, &failure, error);
}

int winstance_new(struct wplugin *p, const struct wstate *image, struct winstance **ret,
                  struct buf *error)
{
    struct err err = { 0 };
    scoped(winstance_free_scoped) struct winstance *in = xnew(struct winstance);
    in->plugin = p;
    in->wasi.grants = p->config.deterministic ? &wasi_of_deterministic_plugins : &wasi_of_plugins;
    in->wasi.args = p->args;
    in->number = __atomic_add_fetch(&p->n_created, 1, __ATOMIC_RELAXED);
    in->output = BUF_INIT(WPLUGIN_OUTPUT_MAX_BYTES);
    in->failed = BUF_INIT(FAILED_MAX_BYTES);
    in->rng.state = SEED;
    in->store = wasmtime_store_new(p->host->engine, in, NULL);
    in->wasi.cx = wasmtime_store_context(in->store);
    (void)engine_limit_store(in->store, &in->limits, p->config.memory_max_bytes,
                             !p->module->info->is_dissolvable);
    if (!instantiate(in, error))
        return E_LIMIT;
    find_exports(in);
    if (!image && !initialise(in, error))
        return E_TRAP;
    if (image && wstate_apply(image, in, &err) < 0) {
        (void)buf_add_cstr(error, err_text(&err));
        return err.code;
    }
    buf_reset(&in->output);
    in->is_used = false;
    *ret = take_ptr(&in);
    return 0;
}

void winstance_free(struct winstance *in)
{
    if (!in)
        return;
    if (in->store)
        wasmtime_store_delete(in->store);
    list_remove(&in->node);
    buf_fini(&in->output);
    buf_fini(&in->failed);
    free(in->key);
    free(in);
}

/* ---- globals ---- */

static bool set_global(struct winstance *in, const struct wplugin_node_code *at)
{
    wasmtime_extern_t e;
    wasmtime_val_t now = { 0 }, value = { .kind = WASMTIME_I32, .of.i32 = at->code };
    if (!wasmtime_instance_export_get(in->wasi.cx, &in->handle, at->node.p, at->node.n, &e) ||
        e.kind != WASMTIME_EXTERN_GLOBAL)
        return false;
    const struct module_extern *x = NULL;
    const struct module_info *info = in->plugin->module->info;
    for (size_t i = 0; i < info->n_exports && !x; i++)
        if (info->exports[i].kind == MODULE_GLOBAL && str_eq(info->exports[i].name, at->node))
            x = &info->exports[i];
    if (!x || !str_is(x->sig, "im"))
        return false;
    wasmtime_global_get(in->wasi.cx, &e.of.global, &now);
    wasmtime_error_t *error = wasmtime_global_set(in->wasi.cx, &e.of.global, &value);
    if (error)
        wasmtime_error_delete(error);
    return !error;
}

bool winstance_set_globals(struct winstance *in, const struct wplugin_input *input,
                           struct buf *error)
{
    for (size_t i = 0; i < input->n_globals; i++) {
        if (set_global(in, &input->globals[i]))
            continue;
        (void)buf_printf(error, "the guest exports no mutable i32 global '" STR_FMT "'",
                         STR_ARG(input->globals[i].node));
        return false;
    }
    return true;
}
