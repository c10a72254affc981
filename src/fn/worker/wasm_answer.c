/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runners say about requests; see wasm_impl.h.
 *
 * A message is checked as a whole before anything is done with it: nothing of one that makes no
 * sense reaches a caller, and its runner is ended.
 */
#include "fn/worker/wasm_impl.h"

#include "fn/worker/wasm_http.h"

#include <errno.h>
#include <stdio.h>

static struct wasm_seat *seat_of(struct tenant *t)
{
    return container_of(t, struct wasm_seat, tenant);
}

/* ---- checks ---- */

static bool is_allowed(const struct wasm_revision *rev, const struct proto_note *note,
                       bool has_head)
{
    switch (note->kind) {
    case NOTE_LINE:
    case GUEST_POST_LOG:
        return note->number <= 3;
    case NOTE_FN_HEAD:
        return rev->abi == GUEST_ABI_HTTP && !has_head && note->number >= 200 &&
               note->number <= 599;
    case NOTE_FN_DATA:
        return has_head || rev->abi == GUEST_ABI_COMMAND;
    case NOTE_FN_TRAILERS:
        return has_head && rev->abi == GUEST_ABI_HTTP;
    case NOTE_FN_END:
        return note->number < (uint32_t)GUEST_FN_ENDS;
    default:
        return false;
    }
}

/* is_end: the last one, and no other, says how it ended. */
static int check_notes(const struct wasm_seat *seat, uint32_t n, struct rd notes, bool is_end,
                       struct err *err)
{
    const struct invocation *x = seat->x;
    bool has_head = x && x->has_head, ended = false;
    for (uint32_t i = 0; i < n; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        bool is_log = note.kind == NOTE_LINE || note.kind == GUEST_POST_LOG;
        if (ended || (x ? note.token != x->token : !is_log) ||
            !is_allowed(seat->base->rev, &note, has_head))
            return err_set(err, E_INVALID, "a note that its request cannot have");
        has_head |= note.kind == NOTE_FN_HEAD;
        ended = note.kind == NOTE_FN_END;
    }
    if (x && ended != is_end)
        return err_set(err, E_INVALID, "a request without its end, or beyond it");
    return 0;
}

/* ---- the answer ---- */

static void trapped(struct invocation *x, const char *reason, const char *text)
{
    char line[320];
    x->rt->traps++;
    (void)snprintf(line, sizeof line, "%s: %s", reason, text);
    wasm_log(x->rev, x, "host", LOG_ERROR, str_of(line));
    wasm_over(x, E_TRAP, reason, text);
}

static void take_data(struct invocation *x, struct str data)
{
    if (x->has_no_body)
        return;
    x->got += data.n;
    if (x->length != UINT64_MAX && x->got > x->length) {
        trapped(x, "WrongLength", "its answer is longer than its content-length");
        return;
    }
    if (data.n == 0)
        return;
    if (!x->is_paused && x->out.n == 0) {
        exchange_report_data(&x->exchange, data);
        return;
    }
    if (buf_add_str(&x->out, data) < 0)
        wasm_over(x, -ENOMEM, "ResponseTooLarge", "no memory for the answer");
}

/* An answer that is here as a whole has its length told, so that it need not be sent in chunks.
 * `more`: of its body, in the note being read. */
static void add_length(struct invocation *x, struct headers *h, size_t more)
{
    char text[24];
    if (x->still_here == UINT64_MAX || x->has_no_body || headers_get(h, "content-length").p)
        return;
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)x->still_here + more);
    (void)headers_addc(h, "content-length", text); /* without room for it, chunks do */
}

/* The caller may cancel inside. `more`: as above. */
static void take_head(struct invocation *x, int status, struct headers *h, size_t more)
{
    x->has_no_body |= status == 204 || status == 304;
    add_length(x, h, more);
    if (wasm_content_length(h, &x->length) < 0) {
        trapped(x, "MalformedHead", "its content-length is no number");
        return;
    }
    if (x->length != UINT64_MAX && x->still_here != UINT64_MAX && !x->has_no_body &&
        x->length != x->still_here + more) {
        trapped(x, "WrongLength", "its answer is not as long as its content-length says");
        return;
    }
    x->has_head = true;
    exchange_report_head(&x->exchange, status, h);
}

static void bad_head(struct invocation *x, int r)
{
    if (r == -EMSGSIZE)
        trapped(x, "HeadTooLarge", "the head of its answer is over 64 KiB or 200 fields");
    else
        trapped(x, "MalformedHead", "what it answers does not begin with a head");
}

static void note_head(struct invocation *x, const struct proto_note *note)
{
    struct headers h = { 0 };
    int r = wasm_read_fields(note->head, &h);
    if (r < 0)
        bad_head(x, r);
    else
        take_head(x, (int)note->number, &h, 0);
    headers_fini(&h);
}

static void note_output(struct invocation *x, struct str text)
{
    struct headers h = { 0 };
    struct str rest = text;
    int status, r = 1;
    if (!x->has_head) {
        r = wasm_read_cgi_head(&x->text, text, &status, &h, &rest);
        if (r < 0)
            bad_head(x, r);
        else if (r > 0)
            take_head(x, status, &h, rest.n);
    }
    headers_fini(&h);
    if (r > 0 && !x->is_over)
        take_data(x, rest);
}

static void note_trailers(struct invocation *x, const struct proto_note *note)
{
    headers_reset(&x->trailers);
    int r = wasm_read_fields(note->head, &x->trailers);
    if (r < 0)
        bad_head(x, r);
    x->has_trailers = r == 0;
}

static void note_end(struct invocation *x, const struct proto_note *note)
{
    struct headers none = { 0 };
    char text[256];
    switch ((enum guest_fn_end)note->number) {
    case GUEST_FN_DONE:
        if (!x->has_head && x->rev->abi == GUEST_ABI_COMMAND) {
            bad_head(x, E_PARSE);
            return;
        }
        if (!x->has_head)
            take_head(x, 204, &none, 0);
        if (x->is_over)
            return;
        if (x->length != UINT64_MAX && x->got < x->length && !x->has_no_body)
            trapped(x, "WrongLength", "its answer is shorter than its content-length");
        else
            wasm_over(x, 0, "", "");
        return;
    case GUEST_FN_EXITED:
        (void)snprintf(text, sizeof text, "it ended with %lld", (long long)note->value);
        trapped(x, "GuestExited", text);
        return;
    case GUEST_FN_TRAPPED:
        (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(note->head));
        trapped(x, "GuestTrapped", text);
        return;
    case GUEST_FN_LATE:
        wasm_log(x->rev, x, "host", LOG_ERROR,
                 STR("RequestTimeout: it used more CPU time than it may"));
        x->rt->traps++;
        wasm_over(x, -ETIMEDOUT, "RequestTimeout", "it used more CPU time than it may");
        return;
    case GUEST_FN_TOO_LARGE:
        trapped(x, "ResponseTooLarge", "its answer is larger than it may be");
        return;
    }
}

static void note_line(struct wasm_revision *rev, const struct invocation *x,
                      const struct proto_note *note)
{
    static const enum log_level levels[] = { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
    if (note->kind == GUEST_POST_LOG)
        wasm_log(rev, x, "log", levels[note->number], note->head);
    else
        wasm_log_output(rev, x, note->number == 1 ? "stdout" : "stderr", note->head);
}

static void take_template_notes(struct wasm_revision *rev, uint32_t n, struct rd notes)
{
    for (uint32_t i = 0; i < n; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        note_line(rev, NULL, &note);
    }
}

/* Callbacks may end it, and with it seat and revision. */
static void take_notes(struct invocation *x, uint32_t n, struct rd notes)
{
    for (uint32_t i = 0; i < n && !x->is_over; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        bool is_log = note.kind == NOTE_LINE || note.kind == GUEST_POST_LOG;
        if (x->is_void && !is_log && note.kind != NOTE_FN_END)
            continue;
        switch (note.kind) {
        case NOTE_FN_HEAD:
            note_head(x, &note);
            break;
        case NOTE_FN_DATA:
            if (x->still_here != UINT64_MAX)
                x->still_here -= note.head.n;
            if (x->rev->abi == GUEST_ABI_COMMAND)
                note_output(x, note.head);
            else
                take_data(x, note.head);
            break;
        case NOTE_FN_TRAILERS:
            note_trailers(x, &note);
            break;
        case NOTE_FN_END:
            note_end(x, &note);
            break;
        default:
            note_line(x->rev, x, &note);
            break;
        }
    }
}

/* ---- messages ---- */

/* The last message about it, and none of its answer was there before: what will become of it? */
static void look_ahead(struct invocation *x, uint32_t n, struct rd notes)
{
    uint64_t bytes = 0;
    bool is_whole = false, has_trailers = false;
    for (uint32_t i = 0; i < n; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        if (note.kind == NOTE_FN_DATA)
            bytes += note.head.n;
        has_trailers |= note.kind == NOTE_FN_TRAILERS;
        is_whole = note.kind == NOTE_FN_END && note.number == GUEST_FN_DONE;
    }
    x->is_void = !is_whole;
    if (is_whole && !has_trailers)
        x->still_here = bytes;
}

/* Something of it was done: it cannot be done again. */
static void note_begun(struct invocation *x)
{
    if (x->has_begun)
        return;
    x->has_begun = true;
    buf_consume(&x->body, x->in_run);
    x->in_run = 0;
}

static int on_answer(struct tenant *t, const struct proto_answer *a, struct err *err)
{
    struct wasm_seat *seat = seat_of(t);
    struct wasm_revision *rev = seat->base->rev;
    struct invocation *x = seat->x;
    int r = check_notes(seat, a->n_notes, a->notes, true, err);
    if (r < 0 || a->n_ops || a->n_logs || (a->flags != ANSWER_DONE && a->flags != ANSWER_TRAPPED))
        return r < 0 ? r : err_set(err, E_INVALID, "an answer that no function gives");
    wasm_log_left_out(rev, a->logs_left_out);
    if (!x) {
        take_template_notes(rev, a->n_notes, a->notes);
        return wasm_template_answer(seat, a, err);
    }
    note_begun(x);
    x->cpu_us += a->cpu_us;
    rev->rt->cpu_us += x->cpu_us;
    x->seat = NULL;
    rev->rt->n_running--;
    wasm_seat_put(seat);
    wasm_note_cost(rev, x->cpu_us);
    if (!x->has_head)
        look_ahead(x, a->n_notes, a->notes);
    take_notes(x, a->n_notes, a->notes);
    wasm_deliver(x);
    return 0;
}

static struct str find_secret(const struct wasm_revision *rev, struct str name)
{
    for (size_t i = 0; rev->r && i < rev->r->n_secrets; i++) {
        const Dormouse__Fn__V1__SecretFile *f = rev->r->secrets[i];
        if (str_is(name, f->path))
            return str_n(f->content.data ? (const char *)f->content.data : "", f->content.len);
    }
    return STR_NULL;
}

static void reply_secret(struct wasm_seat *seat, const struct proto_call *c)
{
    struct str secret = find_secret(seat->base->rev, c->head);
    if (!secret.p)
        pool_reply(&seat->tenant, c->id, GUEST_E_NOT_FOUND, STR(""));
    else if (secret.n > GUEST_FN_SECRET_MAX)
        pool_reply(&seat->tenant, c->id, GUEST_E_TOO_LARGE, STR(""));
    else
        pool_reply(&seat->tenant, c->id, (int64_t)secret.n, secret);
}

static int on_call(struct tenant *t, const struct proto_call *c, bool is_call, struct err *err)
{
    struct wasm_seat *seat = seat_of(t);
    struct wasm_revision *rev = seat->base->rev;
    struct invocation *x = seat->x;
    int r = check_notes(seat, c->n_notes, c->notes, false, err);
    if (r < 0)
        return r;
    bool is_known = c->kind == (uint32_t)PROTO_CALL_SLICE || c->kind == GUEST_CALL_FN_SECRET ||
                    (x && (c->kind == GUEST_CALL_FN_BODY || c->kind == GUEST_CALL_FN_CREDIT));
    if (is_call && (!is_known || c->id != seat->next_id))
        return err_set(err, E_INVALID, "a call that its request cannot make");
    wasm_log_left_out(rev, c->logs_left_out);
    if (is_call)
        seat->next_id++;
    if (x) {
        note_begun(x);
        x->cpu_us += c->cpu_us;
        x->call = c->id;
        x->wants_body = is_call && c->kind == GUEST_CALL_FN_BODY;
        x->wants_credit = is_call && c->kind == GUEST_CALL_FN_CREDIT;
    }
    if (x)
        take_notes(x, c->n_notes, c->notes);
    else
        take_template_notes(rev, c->n_notes, c->notes);
    if (x && x->is_over) { /* its seat is gone with it, and so is its guest */
        wasm_deliver(x);
        return 0;
    }
    bool is_slice = is_call && c->kind == (uint32_t)PROTO_CALL_SLICE;
    if (is_call && !is_slice)
        wasm_slice_over(seat);
    if (is_slice && x) {
        wasm_slice(seat);
        wasm_note_slice(rev, x->cpu_us);
    } else if (is_slice)
        pool_reply(t, c->id, 0, STR(""));
    else if (is_call && c->kind == GUEST_CALL_FN_SECRET)
        reply_secret(seat, c);
    else if (x)
        wasm_deliver(x);
    return 0;
}

static void on_lost(struct tenant *t, enum tenant_lost how, const struct err *why)
{
    struct wasm_seat *seat = seat_of(t);
    struct invocation *x = seat->x;
    if (wasm_is_template(seat)) {
        wasm_template_lost(seat, how, why);
        return;
    }
    bool again = x && !x->has_begun && (how == LOST_WAITING || how == LOST_AT_START);
    if (x && again) {
        wasm_again(x);
    } else if (x) {
        char text[200];
        (void)snprintf(text, sizeof text, "its runner ended: %s", err_text(why));
        x->seat = NULL;
        x->rt->n_running--;
        trapped(x, "GuestTrapped", text);
    }
    wasm_seat_lost(seat);
    if (x && !again)
        wasm_deliver(x);
}

const struct runner_class_ops wasm_class_ops = {
    .on_answer = on_answer, .on_call = on_call, .on_lost = on_lost, .on_room = wasm_on_room
};
