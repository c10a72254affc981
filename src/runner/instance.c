/* SPDX-License-Identifier: Apache-2.0 */
/* Making, calling and ending instances; see instance.h. */
#include "runner/instance.h"

#include "runner/function.h"
#include "runner/sandbox.h"
#include "runner/worker.h"

#include "wasm/engine_config.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { MEMORY_NEARLY = 1 << 20 }; /* the usual step of allocators */

struct entry_row {
    enum guest_abi abi;
    enum abi_entry entry;
    const char *name, *sig;
};

static const struct entry_row entry_rows[] = {
#define ROW(abi, entry, name, sig) { abi, entry, name, sig },
    ABI_EXPORTS(ROW)
#undef ROW
};

wasm_trap_t *instance_fail(struct instance *in, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(in->failed, sizeof in->failed, fmt, ap);
    va_end(ap);
    return engine_trap();
}

wasm_trap_t *instance_bytes(struct instance *in, const char *name, const wasmtime_val_raw_t *v,
                            unsigned i, struct str *ret)
{
    if (wasi_bytes(&in->wasi, v, i, ret))
        return NULL;
    const char *rule = in->abi == GUEST_ABI_V1 ? "R-memory: " : "";
    return instance_fail(in, "%s: %s[%u, %u + %u) is not in its memory", name, rule, ENGINE_U32(i),
                         ENGINE_U32(i), ENGINE_U32(i + 1));
}

/* ---- WASI ---- */

enum {
    OUTPUT_MAX = 1 << 20
}; /* bytes of log that one call accepts; the guest sees a short write */

static struct instance *instance_of_wasi(struct wasi_ctx *c)
{
    return container_of(c, struct instance, wasi);
}

static wasm_trap_t *wasi_fail(struct wasi_ctx *c, const struct engine_func *row, const char *text)
{
    return instance_fail(instance_of_wasi(c), "%s", text);
}

static void log_line_part(struct instance *in, uint32_t fd, struct str part)
{
    assert(fd == 1 || fd == 2);
    struct buf *line = &in->lines[fd - 1];
    assert(line->n <= PROTO_LOG_LINE_MAX);
    size_t room = PROTO_LOG_LINE_MAX - line->n;
    (void)buf_add_str(line, str_slice(part, 0, room)); /* a long line is cut */
}

static int64_t wasi_write_log(struct wasi_ctx *c, uint32_t fd, struct str bytes, uint64_t before,
                              wasm_trap_t **trap)
{
    struct instance *in = instance_of_wasi(c);
    struct str line, rest, text = str_slice(bytes, 0, OUTPUT_MAX - MIN(before, OUTPUT_MAX));
    int64_t taken = (int64_t)text.n;
    while (str_cut(text, '\n', &line, &rest)) {
        if (in->lines[fd - 1].n == 0 && line.n <= PROTO_LOG_LINE_MAX) {
            instance_log(in, fd, line);
        } else {
            log_line_part(in, fd, line);
            instance_log(in, fd, buf_str(&in->lines[fd - 1]));
            buf_reset(&in->lines[fd - 1]);
        }
        text = rest;
    }
    log_line_part(in, fd, text);
    return taken;
}

/* The standard output of a command is its response, standard error its log. */
static int64_t wasi_write_answer(struct wasi_ctx *c, uint32_t fd, struct str bytes, uint64_t before,
                                 wasm_trap_t **trap)
{
    if (fd != 1)
        return wasi_write_log(c, fd, bytes, before, trap);
    int32_t e = function_write(instance_of_wasi(c), bytes, trap);
    if (e < 0)
        return e == GUEST_E_TOO_LARGE ? -WASI_FBIG : -WASI_PIPE;
    return (int64_t)bytes.n;
}

static int64_t wasi_read_body(struct wasi_ctx *c, char *to, uint32_t n, bool may_wait,
                              wasm_trap_t **trap)
{
    int32_t got = function_read(instance_of_wasi(c), to, n, may_wait, trap);
    return got < 0 ? -WASI_IO : got;
}

static const struct wasi_grants wasi_of_guests = {
    .fail = wasi_fail, .pointers_trap = true, .clock_resolution_ns = 1, .write = wasi_write_log
};
/* A command that handles a request. */
static const struct wasi_grants wasi_of_commands = { .fail = wasi_fail,
                                                     .pointers_trap = true,
                                                     .clock_resolution_ns = 1,
                                                     .write = wasi_write_answer,
                                                     .read = wasi_read_body };

/* ---- failures ---- */

/* Set err to the reason of the guest's failure, which is taken. */
static int explain(struct instance *in, struct engine_failure *f, const char *what, struct err *err)
{
    assert(engine_has_failed(f));
    if (in->failed[0]) {
        if (in->abi == GUEST_ABI_V1) /* CALL: RULE: what is wrong */
            (void)err_set(err, E_TRAP, "%s", in->failed);
        else
            (void)err_set(err, E_TRAP, "%s: %s", what, in->failed);
        engine_failure_fini(f);
        return E_TRAP;
    }
    if (f->error)
        return engine_err(err, E_TRAP, f->error, what);
    wasmtime_trap_code_t code;
    bool has_code = wasmtime_trap_code(f->trap, &code);
    engine_failure_fini(f);
    /* Lack of memory shows in many ways; report that the memory was nearly full or its growth
     * refused. */
    uint64_t used = in->has_memory ? wasmtime_memory_data_size(in->wasi.cx, &in->wasi.memory) : 0;
    const char *name = has_code ? engine_trap_name(code, ENGINE_TRAP_OURS) : "trap";
    if (used && used + MIN((uint64_t)MEMORY_NEARLY, in->memory_max / 4) > in->memory_max)
        return err_set(err, E_TRAP, "%s: %s, with %llu of %llu KiB of memory in use", what, name,
                       (unsigned long long)used >> 10, (unsigned long long)in->memory_max >> 10);
    if (in->limits.refused_bytes)
        return err_set(err, E_TRAP, "%s: %s, after %llu of at most %llu KiB of memory were refused",
                       what, name, (unsigned long long)in->limits.refused_bytes >> 10,
                       (unsigned long long)in->memory_max >> 10);
    return err_set(err, E_TRAP, "%s: %s", what, name);
}

uint64_t instance_time_left(const struct instance *in)
{
    uint64_t now = runner_ticks();
    assert(in->deadline > 0); /* a call has begun */
    return in->deadline > now ? in->deadline - now : 1;
}

/* Guests that may be parked run in time slices. */
static bool has_slices(enum guest_abi abi)
{
    return abi == GUEST_ABI_V1 || abi_is_function(abi);
}

static uint64_t slice(const struct instance *in, uint64_t left)
{
    return has_slices(in->abi) ? MIN(left, (uint64_t)RUNNER_SLICE_TICKS) : left;
}

/* A slice is over: end the guest if its time is used up, else yield if a message waits. */
static wasmtime_error_t *on_epoch(wasmtime_context_t *cx, void *data, uint64_t *delta,
                                  wasmtime_update_deadline_kind_t *kind)
{
    struct instance *in = data;
    const char *what = in->phase == INSTANCE_ACTIVATION ? "activate" : "setup";
    assert(has_slices(in->abi) && !in->is_parked);
    in->is_late = runner_ticks() >= in->deadline;
    if (in->is_late && abi_is_function(in->abi))
        (void)snprintf(in->failed, sizeof in->failed, "used more CPU time than it may");
    else if (in->is_late)
        (void)snprintf(in->failed, sizeof in->failed, "%s: ran longer than an activation may",
                       what);
    else if (in->worker && worker_slice(in) < 0)
        (void)snprintf(in->failed, sizeof in->failed, "%s: it was ended", what);
    if (in->failed[0])
        return wasmtime_error_new(in->failed);
    *delta = slice(in, instance_time_left(in));
    *kind = WASMTIME_UPDATE_DEADLINE_CONTINUE;
    return NULL;
}

void instance_go_on(struct instance *in, uint64_t left)
{
    in->deadline = runner_ticks() + left;
    wasmtime_context_set_epoch_deadline(in->wasi.cx, slice(in, left));
}

/* The time of a call begins. Returns the epochs of its first slice. */
static uint64_t begin_time(struct instance *in)
{
    uint64_t ticks = 1 + in->activation_ms / RUNNER_TICK_MS;
    in->deadline = runner_ticks() + ticks;
    return slice(in, ticks);
}

static int call(struct instance *in, const wasmtime_func_t *f, wasmtime_val_raw_t *args, size_t n,
                const char *what, struct err *err)
{
    in->limits.refused_bytes = 0; /* a refusal in an earlier call is not the reason now */
    struct engine_failure failure = engine_call(in->wasi.cx, f, args, n, begin_time(in));
    return engine_has_failed(&failure) ? explain(in, &failure, what, err) : 0;
}

/* ---- lookup; unchecked calls need verified types ---- */

static bool is_type(const wasm_valtype_vec_t *types, struct str letters)
{
    if (types->size != letters.n)
        return false;
    for (size_t i = 0; i < letters.n; i++) {
        wasm_valkind_t kind = wasm_valtype_kind(types->data[i]);
        if (!(kind == WASM_I32 && letters.p[i] == 'i') &&
            !(kind == WASM_I64 && letters.p[i] == 'I'))
            return false;
    }
    return true;
}

static bool has_sig(const struct instance *in, const wasmtime_func_t *f, const char *sig)
{
    struct str params, results;
    (void)str_cut(str_of(sig), ':', &params, &results);
    wasm_functype_t *type = wasmtime_func_type(in->wasi.cx, f);
    bool ok = is_type(wasm_functype_params(type), params) &&
              is_type(wasm_functype_results(type), results);
    wasm_functype_delete(type);
    return ok;
}

static bool get_export(struct instance *in, const char *name, wasmtime_extern_kind_t kind,
                       wasmtime_extern_t *ret)
{
    return engine_export(in->wasi.cx, &in->handle, name, kind, ret);
}

/* check: also verify the types; needed once per module and ABI, since they cannot change. */
static int find_entries(struct instance *in, bool check, struct err *err)
{
    wasmtime_extern_t e;
    if (!get_export(in, "__dm_mem", WASMTIME_EXTERN_MEMORY, &e))
        return err_set(err, E_UNSUPPORTED, "the module has no memory");
    in->wasi.memory = e.of.memory;
    in->has_memory = true;
    in->is_reactor = get_export(in, ABI_INITIALIZE, WASMTIME_EXTERN_FUNC, &e);
    for (size_t i = 0; i < ARRAY_LEN(entry_rows); i++) {
        const struct entry_row *row = &entry_rows[i];
        if (row->abi != in->abi)
            continue;
        if (in->is_reactor && abi_is_optional(in->abi, row->entry))
            continue;
        if (!get_export(in, row->name, WASMTIME_EXTERN_FUNC, &e) ||
            (check && !has_sig(in, &e.of.func, row->sig)))
            return err_set(err, E_UNSUPPORTED, "the module exports no function '%s' of type %s",
                           row->name, row->sig);
        in->entries[row->entry] = e.of.func;
    }
    return 0;
}

/* ---- life ---- */

static int prepare(struct runner *r, struct run_module *m, enum guest_abi abi, struct err *err)
{
    if (m->status < 0) {
        *err = m->err;
        return m->status;
    }
    if (m->pre[abi])
        return 0;
    if (!r->linkers[abi]) {
        r->linkers[abi] = wasmtime_linker_new(r->engine);
        int status = abi_define(r->linkers[abi], abi, err);
        if (status < 0)
            return status;
    }
    wasmtime_error_t *e = wasmtime_linker_instantiate_pre(r->linkers[abi], m->module, &m->pre[abi]);
    return e ? engine_err(err, E_UNSUPPORTED, e, "link the module") : 0;
}

int instance_set_environment(struct instance *in, struct str setup)
{
    struct proto_setup s = { 0 };
    int status = setup.n ? proto_get_setup(setup, &s) : 0;
    if (status < 0)
        return status;
    in->wasi.args = (struct wasi_strings){ s.n_args, s.args };
    in->wasi.env = (struct wasi_strings){ s.n_env, s.env };
    return 0;
}

static int copy_setup(struct instance *in, struct str setup, struct err *err)
{
    in->setup_bytes = mem_try(setup.n);
    if (!in->setup_bytes)
        return err_sys(err, -ENOMEM, "copy the environment");
    memcpy(in->setup_bytes, setup.p, setup.n);
    if (!setup.n || instance_set_environment(in, str_n(in->setup_bytes, setup.n)) < 0)
        return err_set(err, E_PARSE, "malformed environment");
    return 0;
}

int instance_new(struct runner *r, const struct proto_run *run, struct instance **ret,
                 struct err *err)
{
    struct run_module *m = run->module < r->n_modules ? r->modules[run->module] : NULL;
    if (!m)
        return err_set(err, E_INVALID, "unknown module");
    bool is_first_of_abi = !m->pre[run->abi];
    int status = prepare(r, m, run->abi, err);
    if (status < 0)
        return status;
    scoped(instance_free_scoped) struct instance *in = xnew(struct instance);
    in->runner = r;
    in->module = m;
    in->wasi.grants = &wasi_of_guests;
    m->n_instances++;
    in->abi = run->abi;
    in->guest = run->guest;
    in->incarnation = run->incarnation;
    in->activation_ms = run->activation_ms;
    in->wasi.clock_offset_ns = run->clock_offset_ns;
    in->swap_fd = -1;
    buf_init(&in->lines[0], PROTO_LOG_LINE_MAX);
    buf_init(&in->lines[1], PROTO_LOG_LINE_MAX);
    status = copy_setup(in, run->setup, err);
    if (status < 0)
        return status;
    in->limit_bytes = run->memory_max_bytes;
    r->guest_bytes += in->limit_bytes;
    sandbox_allow_memory(r);
    in->store = wasmtime_store_new(r->engine, in, NULL);
    in->wasi.cx = wasmtime_store_context(in->store);
    in->memory_max =
        engine_limit_store(in->store, &in->limits, run->memory_max_bytes, !m->is_dissolvable);
    if (has_slices(in->abi))
        wasmtime_store_epoch_deadline_callback(in->store, on_epoch, in, NULL);
    struct engine_failure failure =
        engine_instantiate(in->wasi.cx, m->pre[run->abi], begin_time(in), &in->handle);
    if (engine_has_failed(&failure))
        return explain(in, &failure, "instantiate", err);
    status = find_entries(in, is_first_of_abi, err);
    if (status < 0)
        return status;
    *ret = take_ptr(&in);
    return 0;
}

void instance_free(struct instance *in)
{
    if (!in)
        return;
    assert(!in->is_parked && in->phase == INSTANCE_IDLE);
    assert(!list_is_linked(&in->kept) && !list_is_linked(&in->kept_all));
    assert(in->module->n_instances > 0 && in->runner->guest_bytes >= in->limit_bytes);
    if (in->store)
        wasmtime_store_delete(in->store);
    if (in->swap_fd >= 0)
        (void)close(in->swap_fd);
    in->runner->guest_bytes -= in->limit_bytes;
    sandbox_allow_memory(in->runner);
    in->module->n_instances--;
    buf_fini(&in->lines[0]);
    buf_fini(&in->lines[1]);
    free(in->setup_bytes);
    free(in->declaration);
    free(in->kept_result);
    free(in->request.kept_body);
    free(in->globals);
    free(in);
}

/* ---- calls ---- */

/* An exit with status 0 inside the entry point means "initialised"; any other exit is a failure. */
static int start_result(struct instance *in, int status, struct err *err)
{
    if (!in->wasi.has_exited)
        return status;
    in->wasi.has_exited = false;
    in->failed[0] = 0;
    if (in->wasi.exit_code == 0)
        return 0;
    return err_set(err, E_TRAP, "the guest exited with status %d", in->wasi.exit_code);
}

/* Call a function without parameters and results, which is looked up here because it is called
 * once. */
static int call_once(struct instance *in, const char *name, struct err *err)
{
    wasmtime_val_raw_t none[1];
    wasmtime_extern_t e;
    if (!get_export(in, name, WASMTIME_EXTERN_FUNC, &e) || !has_sig(in, &e.of.func, ":"))
        return err_set(err, E_UNSUPPORTED, "the module has no function '%s'", name);
    return call(in, &e.of.func, none, 0, name, err);
}

/* ---- V1 ---- */

static void set_phase(struct instance *in, enum runner_phase phase)
{
    assert((in->phase == INSTANCE_IDLE) != (phase == INSTANCE_IDLE) && !in->is_parked);
    in->phase = phase;
    in->wasi.grants = function_has_body(in) ? &wasi_of_commands : &wasi_of_guests;
}

static void begin_phase(struct instance *in, enum runner_phase phase, uint64_t token,
                        struct str result)
{
    assert(in->worker && in->token == 0);
    set_phase(in, phase);
    in->token = token;
    in->n_posts = in->n_posted_logs = in->worker->message_n = 0;
    in->result = result;
}

static int end_phase(struct instance *in, int status, struct err *err)
{
    set_phase(in, INSTANCE_IDLE);
    in->token = 0;
    in->result = STR_NULL;
    if (in->wasi.has_exited)
        return err_set(err, E_TRAP, "the guest exited with status %d", in->wasi.exit_code);
    return status;
}

static int v1_setup(struct instance *in, struct err *err)
{
    wasmtime_val_raw_t v[1];
    begin_phase(in, INSTANCE_SETUP, 0, STR_NULL);
    int status = end_phase(in, call(in, &in->entries[ENTRY_START], v, 0, "setup", err), err);
    if (status < 0)
        return status;
    if (v[0].i32 != 0 && in->worker->message_n)
        return err_set(err, E_TRAP, "setup: %.*s", (int)in->worker->message_n, in->worker->message);
    if (v[0].i32 != 0)
        return err_set(err, E_TRAP, "setup returned %d", v[0].i32);
    if (in->declared != V1_DECLARED)
        return err_set(err, E_TRAP, "setup: R-declare: %s",
                       in->declared == V1_REFUSED ? "the declaration was refused"
                                                  : "nothing was declared");
    return 0;
}

static int v1_activate(struct instance *in, const struct proto_delivery *d, struct err *err)
{
    wasmtime_val_raw_t v[1] = { { .i32 = (int32_t)d->payload.n } };
    begin_phase(in, INSTANCE_ACTIVATION, d->id, d->payload);
    int status = end_phase(in, call(in, &in->entries[ENTRY_WAKEUP], v, 1, "activate", err), err);
    if (status < 0)
        return status;
    int64_t result = v[0].i64;
    if (result < -2 || result > INT64_C(1) << GUEST_V1_REQUEUE_MS_BITS)
        return err_set(err, E_TRAP, "activate: R-result: %lld", (long long)result);
    (void)instance_note(
        in, &(struct proto_note){ .kind = NOTE_RESULT,
                                  .token = d->id,
                                  .value = result,
                                  .head = str_n(in->worker->message, in->worker->message_n) });
    return worker_flush(in, err);
}

/* ---- functions ---- */

static int reactor_init(struct instance *in, struct err *err)
{
    wasmtime_val_raw_t v[1];
    wasmtime_extern_t e;
    int status = in->is_reactor ? call_once(in, ABI_INITIALIZE, err) : 0;
    if (status < 0 || !get_export(in, FN_INIT, WASMTIME_EXTERN_FUNC, &e))
        return status;
    if (!has_sig(in, &e.of.func, ":i"))
        return err_set(err, E_UNSUPPORTED, "'%s' is of another type than :i", FN_INIT);
    status = call(in, &e.of.func, v, 0, "init", err);
    if (status == 0 && v[0].i32 != 0)
        return err_set(err, E_TRAP, "init returned %d", v[0].i32);
    return status;
}

int instance_init(struct instance *in, struct err *err)
{
    wasmtime_extern_t e;
    begin_phase(in, INSTANCE_SETUP, 0, STR_NULL);
    int status = in->module->has_start ? call_once(in, "__dm_start", err) : 0;
    if (status == 0 && in->abi == GUEST_ABI_HTTP)
        status = reactor_init(in, err);
    else if (status == 0 && get_export(in, FN_COMMAND_INIT, WASMTIME_EXTERN_FUNC, &e))
        status = call_once(in, FN_COMMAND_INIT, err);
    return end_phase(in, status, err);
}

int instance_handle(struct instance *in, uint64_t token, int32_t *ret, struct err *err)
{
    wasmtime_val_raw_t v[1] = { { .i32 = 0 } };
    const char *what = in->abi == GUEST_ABI_HTTP ? "handle" : "_start";
    begin_phase(in, INSTANCE_ACTIVATION, token, STR_NULL);
    int status = call(in, &in->entries[ENTRY_WAKEUP], v, 0, what, err);
    set_phase(in, INSTANCE_IDLE);
    *ret = in->abi == GUEST_ABI_HTTP ? v[0].i32 : 0;
    return status;
}

int instance_start(struct instance *in, struct err *err)
{
    wasmtime_val_raw_t none[1];
    int status = in->module->has_start ? call_once(in, "__dm_start", err) : 0;
    if (status == 0 && in->is_reactor)
        status = start_result(in, call_once(in, ABI_INITIALIZE, err), err);
    if (status == 0 && in->abi == GUEST_ABI_V1)
        return v1_setup(in, err);
    if (status == 0 && !(in->is_reactor && abi_is_optional(in->abi, ENTRY_START)))
        status = start_result(in, call(in, &in->entries[ENTRY_START], none, 0, "start", err), err);
    return status;
}

/* Copy a payload into the guest, for operators of G1 and G2. A null pointer means no value; an
 * empty value has a pointer that the guest allocated. */
static int hand_over(struct instance *in, struct str payload, uint32_t *ret_at, struct err *err)
{
    wasmtime_val_raw_t v[1] = { { .i32 = (int32_t)payload.n } };
    int status = call(in, &in->entries[ENTRY_ALLOCATE], v, 1, "allocate", err);
    if (status < 0)
        return status;
    uint32_t at = (uint32_t)v[0].i32;
    if (payload.n) {
        void *to = wasi_range(&in->wasi, at,
                              payload.n); /* the guest's allocation may have grown the memory */
        if (!to || at == 0)
            return err_set(err, E_TRAP, "allocate(%zu) gave %u, which is not in the guest's memory",
                           payload.n, at);
        memcpy(to, payload.p, payload.n);
    }
    *ret_at = at;
    return 0;
}

int instance_deliver(struct instance *in, const struct proto_delivery *d, struct err *err)
{
    uint32_t at = 0;
    int status = 0;
    if (in->abi == GUEST_ABI_V1)
        return v1_activate(in, d, err);
    if (!(d->flags & DELIVERY_NULL))
        status = hand_over(in, d->payload, &at, err);
    if (status < 0)
        return status;
    int32_t n = d->flags & DELIVERY_NULL ? 0 : (int32_t)d->payload.n;
    wasmtime_val_raw_t v[4] = { { .i64 = (int64_t)d->id } };
    switch (in->abi) {
    case GUEST_ABI_G1:
        v[1].i32 = (int32_t)at;
        v[2].i32 = n;
        status =
            call(in, &in->entries[d->flags & DELIVERY_STREAM ? ENTRY_WAKEUP_STREAM : ENTRY_WAKEUP],
                 v, 3, "wakeup", err);
        break;
    case GUEST_ABI_G2:
        v[1].i32 = d->flags & DELIVERY_FINISHED ? 1 : 0;
        v[2].i32 = (int32_t)at;
        v[3].i32 = n;
        status = call(in, &in->entries[ENTRY_WAKEUP], v, 4, "wakeup", err);
        break;
    case GUEST_ABI_V1:
    case GUEST_ABI_COMMAND:
    case GUEST_ABI_HTTP:
        break;
    }
    if (in->wasi.has_exited)
        return err_set(err, E_TRAP, "the guest exited with status %d", in->wasi.exit_code);
    return status;
}

/* ---- output ---- */

bool instance_note(struct instance *in, const struct proto_note *note)
{
    struct runner_outcome *o = &in->worker->outcome;
    assert(o->n_notes <= PROTO_NOTES_MAX);
    if (o->n_notes >= PROTO_NOTES_MAX ||
        o->notes.n + note->head.n + note->body.n + 64 > PROTO_NOTES_BYTES_MAX)
        return false;
    proto_add_note(&o->notes, note);
    o->n_notes++;
    return true;
}

void instance_log(struct instance *in, uint32_t fd, struct str line)
{
    struct runner_outcome *o = &in->worker->outcome;
    if (has_slices(in->abi)) {
        struct proto_note note = {
            .kind = NOTE_LINE, .number = fd, .token = in->token, .head = line
        };
        if (o->n_lines >= PROTO_LOGS_MAX || !instance_note(in, &note))
            o->logs_left_out++;
        else
            o->n_lines++;
        return;
    }
    if (o->n_logs >= PROTO_LOGS_MAX || o->logs.n + line.n + 8 > PROTO_LOGS_BYTES_MAX) {
        o->logs_left_out++;
        return;
    }
    proto_add_log(&o->logs, &(struct proto_log){ .fd = fd, .line = line });
    o->n_logs++;
}

void instance_flush_lines(struct instance *in)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (in->lines[i].n)
            instance_log(in, i + 1, buf_str(&in->lines[i]));
        buf_reset(&in->lines[i]);
    }
}
