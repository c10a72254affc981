/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of runners about requests; see wasm_impl.h.
 *
 * A message is checked as a whole before any of it takes effect: nothing of a message that makes no
 * sense reaches a caller, and its runner is ended.
 */
#include "fn/worker/wasm_impl.h"

#include "fn/worker/wasm_http.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* NULL: the seat is of a template. */
static struct invocation *invocation_of(const struct guest_seat *seat)
{
    return seat->job ? wasm_invocation_of(seat->job) : NULL;
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

static bool is_known(const struct proto_call *call, bool is_request)
{
    return call->kind == GUEST_CALL_FN_SECRET ||
           (is_request && (call->kind == GUEST_CALL_FN_BODY || call->kind == GUEST_CALL_FN_CREDIT));
}

/* is_end: the last note, and no other, is the end of the request. */
static int check(const struct guest_seat *seat, uint32_t n, struct rd notes, bool is_end,
                 const struct proto_call *call, struct err *err)
{
    const struct invocation *x = invocation_of(seat);
    bool has_head = x && x->answer == WASM_ANSWER_BEGUN, ended = false;
    for (uint32_t i = 0; i < n; i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        bool is_log = note.kind == NOTE_LINE || note.kind == GUEST_POST_LOG;
        if (ended || (x ? note.token != x->token : !is_log) ||
            !is_allowed(wasm_revision_of(seat->program), &note, has_head))
            return err_set(err, E_INVALID, "a note that its request cannot have");
        has_head |= note.kind == NOTE_FN_HEAD;
        ended = note.kind == NOTE_FN_END;
    }
    if (x && ended != is_end)
        return err_set(err, E_INVALID, "a request without its end, or beyond it");
    if (call && !is_known(call, x != NULL))
        return err_set(err, E_INVALID, "a call that its request cannot make");
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

/*
 * Add the length of an answer that is here as a whole, so that it need not be sent in chunks.
 * `more`: bytes of its body in the note being read.
 */
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
    wasm_answer_move(x, WASM_ANSWER_BEGUN);
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
    if (x->answer == WASM_ANSWER_AWAITED) {
        r = wasm_read_cgi_head(&x->text, text, &status, &h, &rest);
        if (r < 0)
            bad_head(x, r);
        else if (r > 0)
            take_head(x, status, &h, rest.n);
    }
    headers_fini(&h);
    if (r > 0 && !wasm_is_over(x))
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
        if (x->answer == WASM_ANSWER_AWAITED && x->rev->abi == GUEST_ABI_COMMAND) {
            bad_head(x, E_PARSE);
            return;
        }
        if (x->answer == WASM_ANSWER_AWAITED)
            take_head(x, 204, &none, 0);
        if (wasm_is_over(x))
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

/* Callbacks may end it. */
static void take_notes(struct invocation *x, uint32_t n, struct rd notes)
{
    for (uint32_t i = 0; i < n && !wasm_is_over(x); i++) {
        struct proto_note note;
        proto_next_note(&notes, &note);
        bool is_log = note.kind == NOTE_LINE || note.kind == GUEST_POST_LOG;
        if (x->answer == WASM_ANSWER_VOID && !is_log && note.kind != NOTE_FN_END)
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

/* In the last message, when no head was handed out before: find out how the answer ends. */
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
    if (!is_whole)
        wasm_answer_move(x, WASM_ANSWER_VOID);
    else if (!has_trailers)
        x->still_here = bytes;
}

static bool on_notes(struct guest_seat *seat, uint32_t n, struct rd notes, uint32_t left_out)
{
    struct invocation *x = invocation_of(seat);
    wasm_log_left_out(wasm_revision_of(seat->program), left_out);
    if (!x) {
        take_template_notes(wasm_revision_of(seat->program), n, notes);
        return true;
    }
    wasm_body_begun(x);
    take_notes(x, n, notes);
    if (!wasm_is_over(x))
        return true;
    wasm_deliver(x);
    return false;
}

static void on_answer(struct guest_job *j, const struct proto_answer *a)
{
    struct invocation *x = wasm_invocation_of(j);
    wasm_log_left_out(x->rev, a->logs_left_out);
    wasm_body_begun(x);
    if (x->answer == WASM_ANSWER_AWAITED)
        look_ahead(x, a->n_notes, a->notes);
    take_notes(x, a->n_notes, a->notes);
    assert(wasm_is_over(x)); /* check() has seen its end */
    wasm_deliver(x);
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

static void reply_secret(struct guest_seat *seat, const struct proto_call *c)
{
    struct str secret = find_secret(wasm_revision_of(seat->program), c->head);
    if (!secret.p)
        guest_seat_reply(seat, GUEST_E_NOT_FOUND, STR(""));
    else if (secret.n > GUEST_FN_SECRET_MAX)
        guest_seat_reply(seat, GUEST_E_TOO_LARGE, STR(""));
    else
        guest_seat_reply(seat, (int64_t)secret.n, secret);
}

static void on_call(struct guest_seat *seat, const struct proto_call *c)
{
    struct invocation *x = invocation_of(seat);
    if (c && c->kind == GUEST_CALL_FN_SECRET) {
        reply_secret(seat, c);
    } else if (x) {
        x->wants = !c                              ? WASM_WANTS_NOTHING
                   : c->kind == GUEST_CALL_FN_BODY ? WASM_WANTS_BODY
                                                   : WASM_WANTS_CREDIT;
        wasm_deliver(x);
    }
}

static void on_lost(struct guest_job *j, const struct err *why)
{
    struct invocation *x = wasm_invocation_of(j);
    char text[200];
    (void)snprintf(text, sizeof text, "its runner ended: %s", err_text(why));
    trapped(x, "GuestTrapped", text);
    wasm_deliver(x);
}

const struct guest_template_ops wasm_template_ops = { .fill_template = wasm_fill_template,
                                                      .fill_job = wasm_fill_job,
                                                      .check = check,
                                                      .on_notes = on_notes,
                                                      .on_call = on_call,
                                                      .on_answer = on_answer,
                                                      .on_lost = on_lost,
                                                      .on_ready = wasm_on_ready,
                                                      .on_failed = wasm_on_failed,
                                                      .on_code_lost = wasm_on_code_lost };
