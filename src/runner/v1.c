/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host functions of ABI v1 (docs/guest-abi.md). A range outside the guest's memory, a call in a
 * wrong phase, and posts beyond the limits end the guest. Other mistakes in a parked call give an
 * error code with a text.
 */
#include "runner/worker.h"

#include <errno.h>

#define V1(name) ENGINE_FUNC(v1_##name)
#define U32(i)   ENGINE_U32(i)

static wasm_trap_t *outside(struct instance *in, const char *name, const char *where)
{
    return instance_fail(in, "%s: R-outside: called %s", name, where);
}

/* ---- calls that park ---- */

static int64_t refuse(struct instance *in, enum guest_error code, const char *name,
                      const char *what, size_t max)
{
    struct err *e = &in->worker->answer;
    *e = (struct err){ 0 };
    (void)err_set(e, -EMSGSIZE, "%s: the %s is larger than %zu bytes", name, what, max);
    in->result = str_of(e->text);
    return code;
}

/* *ret is set only if there is no trap. */
static wasm_trap_t *park(struct instance *in, const char *name, const struct proto_call *call,
                         int64_t *ret)
{
    if (worker_call(in, call, ret) < 0)
        return instance_fail(in, "%s: its operator was removed or replaced", name);
    return NULL;
}

/* Keep the declaration for the record of the first suspend. The guest has not run meanwhile. */
static void keep_declaration(struct instance *in, uint32_t at, size_t n)
{
    const char *p = n ? wasi_range(&in->wasi, at, n) : "";
    in->declaration = p ? mem_try(n + 1) : NULL;
    in->declaration_n = (uint32_t)n;
    if (in->declaration)
        memcpy(in->declaration, p, n);
}

V1(declare)
{
    struct instance *in = instance_of(caller);
    struct proto_call call = { .kind = GUEST_CALL_DECLARE };
    int64_t result;
    uint32_t at = U32(0);
    if (in->phase != INSTANCE_SETUP)
        return outside(in, "declare", "outside of setup");
    if (in->declared != V1_UNDECLARED)
        return instance_fail(in, "declare: R-declare: a second declaration");
    wasm_trap_t *trap = instance_bytes(in, "declare", v, 0, &call.head);
    if (trap)
        return trap;
    if (call.head.n > GUEST_V1_DECLARATION_MAX) {
        v[0].i32 = (int32_t)refuse(in, GUEST_E_TOO_LARGE, "declare", "declaration",
                                   GUEST_V1_DECLARATION_MAX);
        return NULL;
    }
    in->declared = V1_REFUSED;
    trap = park(in, "declare", &call, &result);
    if (trap)
        return trap;
    if (result == 0)
        in->declared = V1_DECLARED;
    if (result == 0 && in->worker->run.flags & RUN_RECORD)
        keep_declaration(in, at, call.head.n);
    v[0].i32 = (int32_t)result;
    return NULL;
}

V1(api_request)
{
    struct instance *in = instance_of(caller);
    struct proto_call call = { .kind = GUEST_CALL_API_REQUEST };
    if (in->phase != INSTANCE_ACTIVATION)
        return outside(in, "api_request", "outside of an activation");
    wasm_trap_t *trap = instance_bytes(in, "api_request", v, 0, &call.head);
    if (!trap)
        trap = instance_bytes(in, "api_request", v, 2, &call.body);
    if (trap)
        return trap;
    if (call.head.n > GUEST_V1_HEAD_MAX)
        v[0].i64 = refuse(in, GUEST_E_TOO_LARGE, "api_request", "head", GUEST_V1_HEAD_MAX);
    else if (call.body.n > GUEST_V1_BODY_MAX)
        v[0].i64 = refuse(in, GUEST_E_TOO_LARGE, "api_request", "body", GUEST_V1_BODY_MAX);
    else
        return park(in, "api_request", &call, &v[0].i64);
    return NULL;
}

static wasm_trap_t *read_call(struct instance *in, enum guest_call_kind kind, const char *name,
                              wasmtime_val_raw_t *v)
{
    struct proto_call call = { .kind = kind };
    if (in->phase != INSTANCE_ACTIVATION)
        return outside(in, name, "outside of an activation");
    wasm_trap_t *trap = instance_bytes(in, name, v, 0, &call.head);
    if (trap)
        return trap;
    if (call.head.n <= GUEST_V1_QUERY_MAX)
        return park(in, name, &call, &v[0].i64);
    v[0].i64 = refuse(in, GUEST_E_TOO_LARGE, name, "query", GUEST_V1_QUERY_MAX);
    return NULL;
}

V1(cache_get)
{
    return read_call(instance_of(caller), GUEST_CALL_CACHE_GET, "cache_get", v);
}

V1(cache_list)
{
    return read_call(instance_of(caller), GUEST_CALL_CACHE_LIST, "cache_list", v);
}

V1(config_get)
{
    return read_call(instance_of(caller), GUEST_CALL_CONFIG_GET, "config_get", v);
}

/* ---- calls that return at once ---- */

V1(result_size)
{
    v[0].i32 = (int32_t)instance_of(caller)->result.n;
    return NULL;
}

V1(result_read)
{
    struct instance *in = instance_of(caller);
    struct str to;
    wasm_trap_t *trap = instance_bytes(in, "result_read", v, 0, &to);
    if (trap)
        return trap;
    size_t count = wasi_copy_out(to, in->result);
    in->result = str_slice(in->result, count, in->result.n);
    v[0].i32 = (int32_t)count;
    return NULL;
}

V1(fail_message)
{
    struct instance *in = instance_of(caller);
    struct runner_worker *w = in->worker;
    struct str text;
    wasm_trap_t *trap = instance_bytes(in, "fail_message", v, 0, &text);
    if (trap)
        return trap;
    w->message_n = (uint32_t)MIN(text.n, sizeof w->message);
    if (w->message_n)
        memcpy(w->message, text.p, w->message_n);
    return NULL;
}

/* ---- posted ---- */

static wasm_trap_t *post(struct instance *in, const char *name, struct proto_note *note)
{
    if (in->n_posts >= GUEST_V1_POSTS_MAX)
        return instance_fail(in, "%s: R-posted: more than %d posted calls in one activation", name,
                             (int)GUEST_V1_POSTS_MAX);
    note->token = in->token;
    if (!instance_note(in, note))
        return instance_fail(in, "%s: R-posted: too much at once", name);
    in->n_posts++;
    return NULL;
}

static wasm_trap_t *post_object(struct instance *in, const char *name, enum guest_post_kind kind,
                                const wasmtime_val_raw_t *v, size_t max)
{
    struct proto_note note = { .kind = kind };
    if (in->phase != INSTANCE_ACTIVATION)
        return outside(in, name, "outside of an activation");
    wasm_trap_t *trap = instance_bytes(in, name, v, 0, &note.head);
    if (trap)
        return trap;
    if (note.head.n > max)
        return instance_fail(in, "%s: R-posted: %zu bytes, of at most %zu", name, note.head.n, max);
    return post(in, name, &note);
}

V1(enqueue)
{
    return post_object(instance_of(caller), "enqueue", GUEST_POST_ENQUEUE, v, GUEST_V1_ENQUEUE_MAX);
}

V1(event)
{
    return post_object(instance_of(caller), "event", GUEST_POST_EVENT, v, GUEST_V1_EVENT_MAX);
}

V1(metric)
{
    struct instance *in = instance_of(caller);
    struct proto_note note = { .kind = GUEST_POST_METRIC, .number = U32(0), .value = v[3].i64 };
    if (in->declared != V1_DECLARED)
        return outside(in, "metric", "before declare");
    wasm_trap_t *trap = instance_bytes(in, "metric", v, 1, &note.head);
    if (trap)
        return trap;
    if (note.head.n > GUEST_V1_LABELS_MAX)
        return instance_fail(in, "metric: R-posted: labels of %zu bytes, of at most %d",
                             note.head.n, (int)GUEST_V1_LABELS_MAX);
    return post(in, "metric", &note);
}

/* Text and key-values share the limit; key-values are never cut, because they would not be JSON any
 * more. */
V1(log)
{
    struct instance *in = instance_of(caller);
    struct proto_note note = { .kind = GUEST_POST_LOG, .number = U32(0) };
    wasm_trap_t *trap = instance_bytes(in, "log", v, 1, &note.head);
    if (!trap)
        trap = instance_bytes(in, "log", v, 3, &note.body);
    if (trap)
        return trap;
    if (note.number > 3)
        return instance_fail(in, "log: R-posted: level %u", note.number);
    if (note.number == 0 && !in->log_debug)
        return NULL;
    if (in->n_posted_logs >= GUEST_V1_POSTED_LOGS_MAX) {
        in->worker->outcome.logs_left_out++;
        return NULL;
    }
    if (note.body.n > GUEST_V1_LOG_MAX)
        note.body = STR_NULL;
    note.head = str_slice(note.head, 0, GUEST_V1_LOG_MAX - note.body.n);
    in->n_posted_logs++;
    return post(in, "log", &note);
}

int v1_define(wasmtime_linker_t *linker, struct err *err)
{
    static const struct engine_func rows[] = {
#define ROW(name, sig) { V1_MODULE, #name, sig, v1_##name },
        V1_IMPORTS(ROW)
#undef ROW
    };
    return engine_define(linker, rows, ARRAY_LEN(rows), err);
}
