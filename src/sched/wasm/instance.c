/* SPDX-License-Identifier: Apache-2.0 */
/* One instance of a plugin: making it, calling it, and saying in upstream's words why it failed. */
#include "sched/wasm/internal.h"

#include "wasm/engine_config.h"

#include <stdarg.h>
#include <stdio.h>

enum { FAILED_MAX_BYTES = 16 << 10, SEED = 42 };

uint8_t *winstance_range(struct winstance *in, uint32_t at, uint64_t n)
{
    uint64_t size = wasmtime_memory_data_size(in->cx, &in->memory);
    if (n > size || at > size - n)
        return NULL;
    return wasmtime_memory_data(in->cx, &in->memory) + at;
}

wasm_trap_t *winstance_fail(struct winstance *in, const void *row, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_reset(&in->failed);
    (void)buf_vprintf(&in->failed, fmt, ap);
    va_end(ap);
    in->failed_in = row;
    in->has_failed = true;
    return wasmtime_trap_new_code(WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED);
}

static unsigned call_limit_ms(const struct winstance *in)
{
    unsigned own = in->input ? in->input->call_ms : 0;
    return own ? MIN(own, in->plugin->config.call_ms) : in->plugin->config.call_ms;
}

/* ---- failures ---- */

static const char *trap_name(wasmtime_trap_code_t code)
{
    switch (code) {
    case WASMTIME_TRAP_CODE_STACK_OVERFLOW:
        return "stack overflow";
    case WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS:
        return "out of bounds memory access";
    case WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS:
    case WASMTIME_TRAP_CODE_INDIRECT_CALL_TO_NULL:
        return "invalid table access";
    case WASMTIME_TRAP_CODE_BAD_SIGNATURE:
        return "indirect call type mismatch";
    case WASMTIME_TRAP_CODE_INTEGER_OVERFLOW:
        return "integer overflow";
    case WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO:
        return "integer divide by zero";
    case WASMTIME_TRAP_CODE_BAD_CONVERSION_TO_INTEGER:
        return "invalid conversion to integer";
    default:
        return "unreachable";
    }
}

static void add_error(struct winstance *in, wasmtime_error_t *e, struct buf *to)
{
    wasm_frame_vec_t frames;
    if (in->has_failed && !in->has_exited) {
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
    wasmtime_error_delete(e);
}

static void add_trap(struct winstance *in, wasm_trap_t *trap, struct buf *to)
{
    wasm_frame_vec_t frames;
    wasmtime_trap_code_t code;
    if (!wasmtime_trap_code(trap, &code))
        code = WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED;
    wasm_trap_trace(trap, &frames); /* which lie in the trap */
    if (in->has_failed)
        (void)buf_printf(to, "%s (recovered by wazero)", buf_cstr(&in->failed));
    else if ((in->is_late = code == WASMTIME_TRAP_CODE_INTERRUPT))
        (void)buf_printf(to, "the call took longer than %u ms", call_limit_ms(in));
    else
        (void)buf_printf(to, "wasm error: %s", trap_name(code));
    if (code == WASMTIME_TRAP_CODE_STACK_OVERFLOW)
        wasm_frame_vec_delete(&frames);
    else
        symbols_add_frames(in->plugin->symbols, to, in->failed_in, &frames);
    wasm_trap_delete(trap);
}

/* Consumes e and trap, of which one is set. */
static void add_failure(struct winstance *in, wasmtime_error_t *e, wasm_trap_t *trap,
                        struct buf *to)
{
    if (in->has_exited) {
        (void)buf_printf(to, "module closed with exit_code(%u)", (unsigned)in->exit_code);
        if (e)
            wasmtime_error_delete(e);
        if (trap)
            wasm_trap_delete(trap);
    } else if (e) {
        add_error(in, e, to);
    } else {
        add_trap(in, trap, to);
    }
}

bool winstance_call(struct winstance *in, const wasmtime_func_t *f, wasmtime_val_raw_t *v,
                    struct buf *error)
{
    wasm_trap_t *trap = NULL;
    in->has_failed = in->has_exited = in->is_late = false;
    in->failed_in = NULL;
    in->is_used = true;
    whost_enter(in->plugin->host);
    unsigned limit_ms = call_limit_ms(in);
    bool runs = !in->plugin->host->is_interrupted;
    wasmtime_context_set_epoch_deadline(in->cx, runs ? 2 + limit_ms / HOST_TICK_MS : 0);
    wasmtime_error_t *e = wasmtime_func_call_unchecked(in->cx, f, v, 1, &trap);
    whost_leave(in->plugin->host);
    if (e || trap)
        add_failure(in, e, trap, error);
    return !e && !trap;
}

/* ---- life ---- */

static bool get_export(struct winstance *in, const char *name, wasmtime_extern_kind_t kind,
                       wasmtime_extern_t *ret)
{
    return wasmtime_instance_export_get(in->cx, &in->handle, name, strlen(name), ret) &&
           ret->kind == kind;
}

static void find_exports(struct winstance *in)
{
    wasmtime_extern_t e = { 0 };
    bool ok = get_export(in, "memory", WASMTIME_EXTERN_MEMORY, &e);
    assert(ok); /* the module says so */
    in->memory = e.of.memory;
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
        winstance_call(in, &e.of.func, v, &why) || (in->has_exited && in->exit_code == 0))
        return true;
    (void)buf_add_str(error, buf_str(&in->output));
    if (in->output.n)
        (void)buf_add_char(error, '\n');
    if (in->has_exited)
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
    wasm_trap_t *trap = NULL;
    wasmtime_context_set_epoch_deadline(in->cx, UINT32_MAX);
    wasmtime_error_t *e =
        wasmtime_instance_pre_instantiate(in->plugin->pre, in->cx, &in->handle, &trap);
    if (e || trap)
        add_failure(in, e, trap, error);
    return !e && !trap;
}

int winstance_new(struct wplugin *p, const struct wstate *image, struct winstance **ret,
                  struct buf *error)
{
    struct err err = { 0 };
    scoped(winstance_free_scoped) struct winstance *in = xnew(struct winstance);
    in->plugin = p;
    in->number = __atomic_add_fetch(&p->n_created, 1, __ATOMIC_RELAXED);
    in->output = BUF_INIT(WPLUGIN_OUTPUT_MAX_BYTES);
    in->failed = BUF_INIT(FAILED_MAX_BYTES);
    in->rng.state = SEED;
    in->store = wasmtime_store_new(p->host->engine, in, NULL);
    in->cx = wasmtime_store_context(in->store);
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
    if (!wasmtime_instance_export_get(in->cx, &in->handle, at->node.p, at->node.n, &e) ||
        e.kind != WASMTIME_EXTERN_GLOBAL)
        return false;
    const struct module_extern *x = NULL;
    const struct module_info *info = in->plugin->module->info;
    for (size_t i = 0; i < info->n_exports && !x; i++)
        if (info->exports[i].kind == MODULE_GLOBAL && str_eq(info->exports[i].name, at->node))
            x = &info->exports[i];
    if (!x || !str_is(x->sig, "im"))
        return false;
    wasmtime_global_get(in->cx, &e.of.global, &now);
    wasmtime_error_t *error = wasmtime_global_set(in->cx, &e.of.global, &value);
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
