/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to functions; see function.h. */
#include "runner/function.h"

#include "runner/orders.h"
#include "runner/template.h"

#include <assert.h>
#include <errno.h>

static bool is_handling(const struct instance *in)
{
    return in->phase == INSTANCE_ACTIVATION;
}

/* ---- the response ---- */

/* Turn the gathered bytes into a note. */
static void note_data(struct instance *in)
{
    struct buf *data = &in->worker->outcome.data;
    assert(data->n <= FUNCTION_GATHER);
    if (data->n == 0)
        return;
    (void)instance_note(in, &(struct proto_note){
                                .kind = NOTE_FN_DATA, .token = in->token, .head = buf_str(data) });
    in->request.credit -= (int64_t)data->n;
    buf_reset(data);
}

static void send_answer(struct instance *in)
{
    note_data(in);
    if (in->worker->outcome.n_notes)
        worker_send_notes(in);
}

/* Make a call that parks; the gathered bytes are sent with it. */
static int64_t ask(struct instance *in, enum guest_fn_call kind, struct str head,
                   wasm_trap_t **trap)
{
    int64_t answer = 0;
    assert(in->phase != INSTANCE_IDLE);
    note_data(in);
    if (worker_call(in, &(struct proto_call){ .kind = kind, .head = head }, &answer) < 0)
        *trap = instance_fail(in, "its request was given up");
    return answer;
}

/* Wait for credit if there is none. */
static int32_t need_credit(struct instance *in, wasm_trap_t **trap)
{
    struct runner_instance_request *q = &in->request;
    assert(is_handling(in));
    if (q->credit > 0)
        return 0;
    int64_t more = ask(in, GUEST_CALL_FN_CREDIT, STR_NULL, trap);
    if (*trap || more < 0)
        return (int32_t)more;
    q->credit = more;
    return 0;
}

int32_t function_write(struct instance *in, struct str bytes, wasm_trap_t **trap)
{
    struct runner_instance_request *q = &in->request;
    int32_t r = need_credit(in, trap); /* bytes sent by flushes count as well */
    if (*trap || r < 0)
        return r;
    if (bytes.n > q->left) {
        q->is_too_large = true;
        return GUEST_E_TOO_LARGE;
    }
    q->left -= bytes.n;
    while (bytes.n) {
        struct buf *data = &in->worker->outcome.data;
        size_t n = MIN(bytes.n, (size_t)FUNCTION_GATHER - data->n);
        if (buf_add_str(data, str_slice(bytes, 0, n)) < 0) {
            *trap = instance_fail(in, "no memory for its answer");
            return 0;
        }
        bytes = str_slice(bytes, n, bytes.n);
        if (data->n < FUNCTION_GATHER)
            continue;
        send_answer(in);
        r = need_credit(in, trap);
        if (*trap || r < 0)
            return r;
    }
    return 0;
}

/* ---- the body ---- */

/* Main's bytes lie in a message whose buffer the next message reuses: copy them. */
static void keep_body(struct runner_instance_request *q, struct str piece)
{
    free(q->kept_body);
    q->kept_body = piece.n ? xstrndup(piece.p, piece.n) : NULL;
    q->body = str_n(q->kept_body, piece.n);
}

int32_t function_read(struct instance *in, char *to, uint32_t n, bool may_wait, wasm_trap_t **trap)
{
    struct runner_instance_request *q = &in->request;
    while (n && may_wait && q->body.n == 0 && !q->body_ended) {
        int64_t more = ask(in, GUEST_CALL_FN_BODY, STR_NULL, trap);
        if (*trap || more < 0)
            return (int32_t)more;
        keep_body(q, in->result);
        in->result = STR_NULL;
        q->body_ended = more == 0;
    }
    size_t count = MIN((size_t)n, q->body.n);
    assert(is_handling(in));
    if (count)
        memcpy(to, q->body.p, count);
    q->body = str_slice(q->body, count, q->body.n);
    return (int32_t)count;
}

/* ---- one request ---- */

static int begin(struct instance *in, const struct proto_run *run, struct err *err)
{
    struct runner_instance_request *q = &in->request;
    const struct proto_delivery *d = run->deliveries;
    if (run->n_deliveries != 2 || !(d[0].flags & DELIVERY_ACTIVATE))
        return err_set(err, E_INVALID, "RUN of a function without a request");
    free(q->kept_body);
    *q = (struct runner_instance_request){ .head = d[0].payload,
                                           .body = d[1].payload,
                                           .body_ended = (d[1].flags & DELIVERY_FINISHED) != 0,
                                           .credit = run->credit,
                                           .left =
                                               run->response_max ? run->response_max : UINT64_MAX };
    buf_reset(&in->worker->outcome.data);
    in->next_id = run->next_id;
    in->log_debug = (run->flags & RUN_LOG_DEBUG) != 0;
    in->activation_ms = run->activation_ms;
    in->wasi.has_exited = in->is_late = false;
    in->failed[0] = 0;
    if (in->abi == GUEST_ABI_COMMAND &&
        (!run->setup.n || instance_set_environment(in, run->setup) < 0))
        return err_set(err, E_PARSE, "malformed environment");
    return 0;
}

static enum guest_fn_end end_of(const struct instance *in, int status, int32_t value)
{
    if (in->request.is_too_large)
        return GUEST_FN_TOO_LARGE;
    if (in->is_late)
        return GUEST_FN_LATE;
    if (in->wasi.has_exited)
        return in->abi == GUEST_ABI_COMMAND && in->wasi.exit_code == 0 ? GUEST_FN_DONE
                                                                       : GUEST_FN_EXITED;
    if (status < 0)
        return GUEST_FN_TRAPPED;
    return value ? GUEST_FN_EXITED : GUEST_FN_DONE;
}

static void note_end(struct instance *in, enum guest_fn_end end, int32_t value,
                     const struct err *why)
{
    instance_flush_lines(in);
    note_data(in);
    (void)instance_note(
        in, &(struct proto_note){ .kind = NOTE_FN_END,
                                  .number = end,
                                  .token = in->token,
                                  .value = in->wasi.has_exited ? in->wasi.exit_code : value,
                                  .head = str_of(end == GUEST_FN_TRAPPED ? why->text : "") });
}

/* *ret_ok: the instance may serve another request. Errors concern the connection to main. */
static int serve(struct runner_worker *w, struct instance *in, bool *ret_ok, struct err *err)
{
    struct err why = { 0 };
    int32_t value = 0;
    int status = begin(in, &w->run, err);
    if (status < 0)
        return status;
    status = instance_handle(in, w->run.deliveries[0].id, &value, &why);
    enum guest_fn_end end = end_of(in, status, value);
    note_end(in, end, value, &why);
    if (in->abi == GUEST_ABI_COMMAND)
        (void)instance_set_environment(in, STR_NULL); /* it points into the order */
    in->token = 0;
    *ret_ok = end == GUEST_FN_DONE;
    return 0;
}

static void note_no_instance(struct runner_worker *w, const struct err *why)
{
    struct runner_outcome *o = &w->outcome;
    proto_add_note(&o->notes, &(struct proto_note){ .kind = NOTE_FN_END,
                                                    .number = GUEST_FN_TRAPPED,
                                                    .token = w->run.deliveries[0].id,
                                                    .head = str_of(why->text) });
    o->n_notes++;
}

static int order_request(struct runner_worker *w, struct proto_answer *a, struct err *err)
{
    struct runner *r = w->runner;
    const struct proto_run *run = &w->run;
    struct instance *in = r->slots.p[run->slot];
    struct err why = { 0 };
    bool is_ok = false;
    int status = 0;
    if (!in) {
        if (run->template_slot >= r->templates.n || !r->templates.p[run->template_slot])
            return err_set(err, E_INVALID, "RUN of a function without its template");
        status = template_take(w, r->templates.p[run->template_slot], &why);
        in = r->slots.p[run->slot];
    }
    if (status < 0) {
        note_no_instance(w, &why);
    } else {
        in->worker = w;
        status = serve(w, in, &is_ok, err);
        if (status < 0)
            return status;
    }
    a->flags = is_ok ? ANSWER_DONE : ANSWER_TRAPPED;
    a->code = is_ok ? 0 : E_TRAP;
    a->next_id = in ? in->next_id : run->next_id;
    status = order_answer(w, a, &why, err);
    if (!in || (is_ok && (run->flags & RUN_KEEP)))
        return status;
    assert(r->slots.p[run->slot] == in && in->template);
    r->slots.p[run->slot] = NULL;
    template_give(in, is_ok);
    return status;
}

static int order_template(struct runner_worker *w, struct proto_answer *a, struct err *err)
{
    struct err why = { 0 };
    int status = template_new(w, &why);
    a->flags = status < 0 ? ANSWER_TRAPPED : ANSWER_DONE;
    a->code = status < 0 ? status : 0;
    a->activations = status == 0;
    return order_answer(w, a, &why, err);
}

int function_order(struct runner_worker *w, struct err *err)
{
    const struct proto_run *run = &w->run;
    assert(abi_is_function(run->abi) && run->slot < w->runner->slots.n);
    struct proto_answer a = { .slot = run->slot,
                              .incarnation = run->incarnation,
                              .guest = run->guest,
                              .seq = run->seq,
                              .next_id = run->next_id };
    return run->flags & RUN_TEMPLATE ? order_template(w, &a, err) : order_request(w, &a, err);
}

/* ---- the host functions of reactors ---- */

#define FN(name)  ENGINE_FUNC(fn_##name)
#define U32(i)    ENGINE_U32(i)
#define RETURN(e) return v[0].i32 = (int32_t)(e), NULL

/* Whether each line is "name: value" and LF. Main parses the text again and checks the names. */
static bool are_fields(struct str text)
{
    struct str line, rest;
    while (text.n) {
        if (!str_cut(text, '\n', &line, &rest) || str_find_char(line, ':') <= 0)
            return false;
        for (size_t i = 0; i < line.n; i++)
            if (line.p[i] == '\r' || line.p[i] == '\0')
                return false;
        text = rest;
    }
    return true;
}

FN(request_head)
{
    struct instance *in = instance_of(caller);
    struct str to;
    wasm_trap_t *trap = instance_bytes(in, "request_head", v, 0, &to);
    if (trap)
        return trap;
    if (!is_handling(in))
        RETURN(GUEST_E_INVALID);
    (void)wasi_copy_out(to, in->request.head);
    RETURN(in->request.head.n);
}

FN(body_read)
{
    struct instance *in = instance_of(caller);
    struct str to;
    wasm_trap_t *trap = instance_bytes(in, "body_read", v, 0, &to);
    if (trap)
        return trap;
    if (!is_handling(in))
        RETURN(GUEST_E_INVALID);
    int32_t count = function_read(in, (char *)to.p, (uint32_t)to.n, true, &trap);
    v[0].i32 = count;
    return trap;
}

FN(respond)
{
    struct instance *in = instance_of(caller);
    struct str fields;
    uint32_t status = U32(0);
    wasm_trap_t *trap = instance_bytes(in, "respond", v, 1, &fields);
    if (trap)
        return trap;
    if (fields.n > GUEST_FN_HEAD_MAX)
        RETURN(GUEST_E_TOO_LARGE);
    if (!is_handling(in) || in->request.response != RESPONSE_AWAITED || status < 200 ||
        status > 599 || !are_fields(fields))
        RETURN(GUEST_E_INVALID);
    if (!instance_note(
            in, &(struct proto_note){
                    .kind = NOTE_FN_HEAD, .number = status, .token = in->token, .head = fields }))
        return instance_fail(in, "respond: too much at once");
    in->request.response = RESPONSE_BEGUN;
    RETURN(0);
}

FN(body_write)
{
    struct instance *in = instance_of(caller);
    struct str bytes;
    wasm_trap_t *trap = instance_bytes(in, "body_write", v, 0, &bytes);
    if (trap)
        return trap;
    if (!is_handling(in) || in->request.response != RESPONSE_BEGUN)
        RETURN(GUEST_E_INVALID);
    v[0].i32 = function_write(in, bytes, &trap);
    return trap;
}

FN(flush)
{
    struct instance *in = instance_of(caller);
    if (!is_handling(in))
        RETURN(GUEST_E_INVALID);
    send_answer(in);
    RETURN(0);
}

FN(trailers)
{
    struct instance *in = instance_of(caller);
    struct str fields;
    wasm_trap_t *trap = instance_bytes(in, "trailers", v, 0, &fields);
    if (trap)
        return trap;
    if (fields.n > GUEST_FN_HEAD_MAX)
        RETURN(GUEST_E_TOO_LARGE);
    if (!is_handling(in) || in->request.response != RESPONSE_BEGUN || !are_fields(fields))
        RETURN(GUEST_E_INVALID);
    note_data(in);
    if (!instance_note(in, &(struct proto_note){
                               .kind = NOTE_FN_TRAILERS, .token = in->token, .head = fields }))
        return instance_fail(in, "trailers: too much at once");
    in->request.response = RESPONSE_ENDED;
    RETURN(0);
}

FN(secret_get)
{
    struct instance *in = instance_of(caller);
    struct str name, to;
    wasm_trap_t *trap = instance_bytes(in, "secret_get", v, 0, &name);
    if (!trap)
        trap = instance_bytes(in, "secret_get", v, 2, &to);
    if (trap)
        return trap;
    if (name.n > GUEST_FN_SECRET_NAME_MAX)
        RETURN(GUEST_E_NOT_FOUND);
    int64_t value = ask(in, GUEST_CALL_FN_SECRET, name, &trap);
    if (trap)
        return trap;
    if (value < 0)
        RETURN(value);
    struct str secret = in->result;
    in->result = STR_NULL;
    (void)wasi_copy_out(to, secret);
    RETURN(secret.n);
}

FN(log)
{
    struct instance *in = instance_of(caller);
    struct proto_note note = { .kind = GUEST_POST_LOG, .number = MIN(U32(0), 3u) };
    wasm_trap_t *trap = instance_bytes(in, "log", v, 1, &note.head);
    if (trap)
        return trap;
    struct runner_outcome *o = &in->worker->outcome;
    note.token = in->token;
    note.head = str_slice(note.head, 0, GUEST_FN_LOG_MAX);
    if (o->n_lines >= GUEST_FN_LOGS_MAX || !instance_note(in, &note))
        o->logs_left_out++;
    else
        o->n_lines++;
    return NULL;
}

int runner_define_function(wasmtime_linker_t *linker, struct err *err)
{
    static const struct engine_func rows[] = {
#define ROW(name, sig) { FN_MODULE, #name, sig, fn_##name },
        FN_IMPORTS(ROW)
#undef ROW
    };
    return engine_define(linker, rows, ARRAY_LEN(rows), err);
}
