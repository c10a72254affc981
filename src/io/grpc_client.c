/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client side of gRPC calls; see grpc.h. How to read it: bytes go on_data() -> take() -> the
 * caller. The status comes with the trailers or is derived from the failure. on_end() runs once the
 * HTTP call has ended and no message is held any more.
 */
#include "base/sm.h"
#include "io/grpc_int.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>

/*
 *     OPEN --the status has arrived, or the HTTP call has ended--> STATUS
 *     OPEN or STATUS --this side fails or cancels the call--> OVER
 *
 * on_end() runs when the HTTP call has ended, in STATUS after the last message.
 */
enum grpc_call_at {
    GRPC_CALL_OPEN,
    GRPC_CALL_STATUS, /* `code` and `text` are known; messages may still be held */
    GRPC_CALL_OVER    /* likewise; only on_end() may still run */
} __attribute__((packed));

struct grpc_call {
    struct exchange *http; /* NULL once it has ended */
    struct loop *loop;
    const struct grpc_call_ops *ops;
    void *arg;
    struct grpc_reader reader;
    struct defer again; /* for held messages and the end after them */
    struct timer deadline;
    enum grpc_call_at at;
    bool paused;     /* by the caller */
    bool was_sent;   /* the result */
    int http_status; /* not 200: the peer does not speak gRPC */
    int code, r;     /* the result */
    struct buf text;
    struct headers trailers;
};

static const struct sm_state call_table[] = {
    [GRPC_CALL_OPEN] = { "open", EDGE(GRPC_CALL_STATUS) | EDGE(GRPC_CALL_OVER) },
    [GRPC_CALL_STATUS] = { "status", EDGE(GRPC_CALL_OVER) },
    [GRPC_CALL_OVER] = { "over", 0 },
};

static void move(struct grpc_call *call, enum grpc_call_at to)
{
    assert(sm_is_edge(call_table, call->at, to));
    call->at = to;
}

/* ------------------------------------------------------------------ status */

static void write_status(struct grpc_call *call, int code, int r, const char *text)
{
    assert(code != GRPC_OK && r < 0); /* only the server can say OK */
    call->code = code;
    call->r = r;
    buf_reset(&call->text);
    (void)buf_add_cstr(&call->text, text);
}

/* The call has failed without a status of the server. A status that exists remains. */
static void set_status(struct grpc_call *call, int code, int r, const char *text)
{
    if (call->at != GRPC_CALL_OPEN)
        return;
    move(call, GRPC_CALL_STATUS);
    write_status(call, code, r, text);
}

/*
 * Fail the call with a local error; on_end() runs later. A status that has arrived already is
 * ignored, because messages before it are not delivered.
 */
static void fail(struct grpc_call *call, int code, int r, const char *text)
{
    if (call->at == GRPC_CALL_OVER)
        return;
    move(call, GRPC_CALL_OVER);
    write_status(call, code, r, text);
    if (call->http)
        exchange_cancel(call->http);
}

static void read_status(struct grpc_call *call, const struct headers *h)
{
    struct str number = headers_get(h, "grpc-status");
    uint64_t code;
    if (!number.p || call->at != GRPC_CALL_OPEN)
        return;
    if (parse_u64(number, 0, INT32_MAX, &code) < 0)
        code = GRPC_UNKNOWN;
    move(call, GRPC_CALL_STATUS);
    call->code = (int)code;
    grpc_read_text(&call->text, headers_get(h, "grpc-message"));
}

static int code_of_http(int status)
{
    switch (status) {
    case 400:
        return GRPC_INTERNAL;
    case 401:
        return GRPC_UNAUTHENTICATED;
    case 403:
        return GRPC_PERMISSION_DENIED;
    case 404:
        return GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return GRPC_UNAVAILABLE;
    default:
        return GRPC_UNKNOWN;
    }
}

static int code_of_reset(int64_t reset)
{
    switch (reset) {
    case NGHTTP2_REFUSED_STREAM:
        return GRPC_UNAVAILABLE;
    case NGHTTP2_CANCEL:
        return GRPC_CANCELLED;
    case NGHTTP2_ENHANCE_YOUR_CALM:
        return GRPC_RESOURCE_EXHAUSTED;
    case NGHTTP2_INADEQUATE_SECURITY:
        return GRPC_PERMISSION_DENIED;
    default:
        return GRPC_INTERNAL;
    }
}

/* The code of a call whose HTTP call failed before any status. */
static int code_of_failure(int r, int64_t reset)
{
    if (reset >= 0)
        return code_of_reset(reset);
    return r == E_PARSE   ? GRPC_INTERNAL
           : r == E_LIMIT ? GRPC_RESOURCE_EXHAUSTED
           : r == -ECANCELED
               ? GRPC_CANCELLED
               : GRPC_UNAVAILABLE; /* also for a time-out, which is the connection's */
}

/* ------------------------------------------------------------------ messages in */

static void call_free(struct grpc_call *call)
{
    grpc_reader_fini(&call->reader);
    buf_fini(&call->text);
    headers_fini(&call->trailers);
    free(call);
}

static void finish(struct grpc_call *call)
{
    bool is_cut = !grpc_reader_is_between(&call->reader) && call->code == GRPC_OK;
    assert(!call->http);
    assert(call->at == GRPC_CALL_OVER || !(call->paused || call->reader.held.n));
    if (is_cut && call->at != GRPC_CALL_OPEN)
        write_status(call, GRPC_INTERNAL, E_EOF, grpc_reader_text(E_EOF));
    set_status(call, GRPC_INTERNAL, E_PARSE, "the server sent no status");
    const struct grpc_result result = {
        .code = call->code,
        .text = buf_str(&call->text),
        .trailers = call->trailers.n ? &call->trailers : NULL,
        .r = call->r,
        .was_sent = call->was_sent,
    };
    timer_stop(call->loop, &call->deadline);
    defer_cancel(&call->again);
    call->ops->on_end(call->arg, &result);
    call_free(call);
}

static void take(struct grpc_call *call, struct str in)
{
    struct str message;
    int r = 0;
    while (!call->paused && call->at != GRPC_CALL_OVER &&
           (r = grpc_reader_next(&call->reader, &in, &message)) > 0)
        if (call->ops->on_message)
            call->ops->on_message(call->arg, message);
    if (r < 0)
        fail(call, grpc_reader_code(r), r, grpc_reader_text(r));
    else if (in.n && call->at != GRPC_CALL_OVER)
        (void)buf_add_str(&call->reader.held, in);
}

static void on_again(struct defer *d)
{
    struct grpc_call *call = container_of(d, struct grpc_call, again);
    struct buf held = call->reader.held;
    call->reader.held = BUF_INIT(held.max);
    take(call, buf_str(&held));
    buf_fini(&held);
    if (!call->http && (call->at == GRPC_CALL_OVER || !(call->paused || call->reader.held.n)))
        finish(call);
}

/* ------------------------------------------------------------------ from HTTP */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct grpc_call *call = arg;
    if (status != 200) {
        call->http_status = status;
        return;
    }
    if (!grpc_is_content_type(headers_get(headers, "content-type"))) {
        fail(call, GRPC_UNKNOWN, E_PARSE, "the answer is not gRPC");
        return;
    }
    if (headers_get(headers, "grpc-status").p) { /* head and trailers in one */
        read_status(call, headers);
        (void)headers_copy(&call->trailers, headers);
        return;
    }
    if (call->ops->on_head)
        call->ops->on_head(call->arg, headers);
}

static void on_data(void *arg, struct str chunk)
{
    struct grpc_call *call = arg;
    if (call->http_status || call->at == GRPC_CALL_OVER)
        return;
    if (call->reader.held.n)
        (void)buf_add_str(&call->reader.held, chunk);
    else
        take(call, chunk);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct grpc_call *call = arg;
    read_status(call, trailers);
    (void)headers_copy(&call->trailers, trailers);
}

static void on_http_end(void *arg, int r, const struct err *err)
{
    struct grpc_call *call = arg;
    call->was_sent = http_call_was_sent(call->http);
    if (r < 0)
        set_status(call, code_of_failure(r, http_call_reset_code(call->http)), r, err->text);
    else if (call->http_status) {
        char text[32];
        (void)snprintf(text, sizeof text, "HTTP status %d", call->http_status);
        set_status(call, code_of_http(call->http_status), E_PARSE, text);
    }
    call->http = NULL;
    if (call->at == GRPC_CALL_OVER || !(call->paused || call->reader.held.n))
        finish(call);
    /* else the rest follows after grpc_call_resume() */
}

static void on_http_writable(void *arg)
{
    struct grpc_call *call = arg;
    if (call->ops->on_writable && call->at != GRPC_CALL_OVER)
        call->ops->on_writable(call->arg);
}

static void on_deadline(struct timer *t)
{
    struct grpc_call *call = container_of(t, struct grpc_call, deadline);
    fail(call, GRPC_DEADLINE_EXCEEDED, -ETIMEDOUT, "the call's deadline is over");
    if (!call->http) /* only held messages were left */
        finish(call);
}

/* ------------------------------------------------------------------ interface */

static int make_headers(struct headers *h, const struct grpc_call_opts *opts)
{
    char timeout[16];
    int r = opts->metadata ? headers_copy(h, opts->metadata) : 0;
    if (r >= 0)
        r = headers_addc(h, "content-type", "application/grpc");
    if (r >= 0)
        r = headers_addc(h, "te", "trailers");
    grpc_format_timeout(timeout, opts->timeout_ms);
    return r < 0 || !opts->timeout_ms ? r : headers_addc(h, "grpc-timeout", timeout);
}

static int start(struct http_client *c, struct grpc_call *call, const struct grpc_call_opts *opts,
                 const struct headers *headers, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_http_end,
                                                   .on_trailers = on_trailers,
                                                   .on_writable = on_http_writable };
    struct http_call_opts http = { .method = STR("POST"),
                                   .target = str_of(opts->path),
                                   .headers = headers,
                                   .events = &events,
                                   .arg = call,
                                   .streams = !opts->only,
                                   .body_n = HTTP_CHUNKED };
    if (!opts->only)
        return http_call_start(c, &http, &call->http, err);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    char prefix[GRPC_PREFIX_BYTES];
    grpc_prefix(prefix, opts->only->n);
    (void)buf_add(&b, prefix, sizeof prefix);
    if (buf_add_str(&b, *opts->only) < 0)
        return err_set(err, -EMSGSIZE, "message too large");
    http.body = buf_str(&b);
    return http_call_start(c, &http, &call->http, err);
}

int grpc_call_start(struct http_client *c, const struct grpc_call_opts *opts,
                    struct grpc_call **ret, struct err *err)
{
    assert(opts->ops->on_end);
    struct headers h = { 0 };
    struct grpc_call *call = xnew(struct grpc_call);
    *call = (struct grpc_call){ .loop = http_client_loop(c),
                                .ops = opts->ops,
                                .arg = opts->arg,
                                .text = BUF_INIT(2 * GRPC_TEXT_MAX_BYTES) };
    grpc_reader_init(&call->reader, opts->max_bytes);
    int r = make_headers(&h, opts);
    r = r < 0 ? err_sys(err, r, "metadata of a call") : start(c, call, opts, &h, err);
    headers_fini(&h);
    if (r < 0) {
        call_free(call);
        return r;
    }
    if (opts->timeout_ms)
        timer_start(call->loop, &call->deadline, opts->timeout_ms, on_deadline);
    *ret = call;
    return 0;
}

bool grpc_call_send(struct grpc_call *call, struct str message)
{
    char prefix[GRPC_PREFIX_BYTES];
    if (!call->http || call->at == GRPC_CALL_OVER)
        return true;
    grpc_prefix(prefix, message.n);
    bool more = exchange_write(call->http, str_n(prefix, sizeof prefix));
    return message.n ? exchange_write(call->http, message) : more;
}

size_t grpc_call_pending(const struct grpc_call *call)
{
    return call->http ? http_call_pending(call->http) : 0;
}

void grpc_call_half_close(struct grpc_call *call)
{
    if (call->http && call->at != GRPC_CALL_OVER)
        exchange_end_body(call->http, NULL);
}

void grpc_call_pause(struct grpc_call *call)
{
    call->paused = true;
    if (call->http)
        exchange_pause(call->http);
}

void grpc_call_resume(struct grpc_call *call)
{
    if (!call->paused)
        return;
    call->paused = false;
    if (call->http)
        exchange_resume(call->http);
    if (call->reader.held.n || !call->http)
        defer_start(call->loop, &call->again, on_again);
}

void grpc_call_cancel(struct grpc_call *call)
{
    fail(call, GRPC_CANCELLED, -ECANCELED, "cancelled");
    if (!call->http)
        defer_start(call->loop, &call->again, on_again);
}
