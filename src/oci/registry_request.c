/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its repetitions. The callbacks of the HTTP client record results; only settle()
 * decides the next step.
 */
#include "oci/registry_int.h"

#include "base/backoff.h"
#include "base/version.h"
#include "codec/json.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum {
    PROGRESS_BYTES = 64 << 10, /* since the last attempt; with fewer bytes it is a short one */
    PATH_MAX_BYTES = 120,      /* of a path in a message */
    WORDS_MAX = 100,           /* bytes of the registry's error message in a message */
    BODY_PIECE_BYTES = 64 << 10,
};

static const struct sm_state request_table[] = {
    [REGISTRY_REQUEST_READY] = { "ready",
                                 EDGE(REGISTRY_REQUEST_CALLING) | EDGE(REGISTRY_REQUEST_ENDING) },
    [REGISTRY_REQUEST_CALLING] = { "calling", EDGE(REGISTRY_REQUEST_READY) |
                                                  EDGE(REGISTRY_REQUEST_TOKEN) |
                                                  EDGE(REGISTRY_REQUEST_WAITING) |
                                                  EDGE(REGISTRY_REQUEST_ENDING) },
    [REGISTRY_REQUEST_TOKEN] = { "token",
                                 EDGE(REGISTRY_REQUEST_READY) | EDGE(REGISTRY_REQUEST_ENDING) },
    [REGISTRY_REQUEST_WAITING] = { "waiting",
                                   EDGE(REGISTRY_REQUEST_READY) | EDGE(REGISTRY_REQUEST_ENDING) },
    [REGISTRY_REQUEST_ENDING] = { "ending", 0 },
};

static void send_request(struct oci_request *q);

/* ---- the end ---- */

static void free_request(struct oci_request *q)
{
    struct oci_registry *reg = q->reg;
    timer_stop(reg->opts.loop, &q->timer);
    list_remove(&q->node);
    fetch_url_fini(&q->first);
    fetch_url_fini(&q->url);
    headers_fini(&q->headers);
    headers_fini(&q->answer);
    buf_fini(&q->gathered);
    buf_fini(&q->token_body);
    free(q->method);
    free(q->scope);
    free(q->token_scope);
    free(q);
    if (reg->closing && list_is_empty(&reg->requests))
        registry_free(reg);
}

static void on_ended(struct defer *d)
{
    struct oci_request *q = container_of(d, struct oci_request, turn);
    struct oci_answer answer = { q->status, &q->answer, buf_str(&q->gathered) };
    int r = q->cancelled ? -ECANCELED : q->err.code;
    q->cb(q->arg, r, &answer, &q->err);
    free_request(q);
}

void registry_request_end(struct oci_request *q, int r)
{
    assert(!q->call && !q->token_request);
    sm_move(&q->sm, REGISTRY_REQUEST_ENDING);
    q->err.code = r;
    timer_stop(q->reg->opts.loop, &q->timer);
    defer_start(q->reg->opts.loop, &q->turn, on_ended);
}

void oci_request_cancel(struct oci_request *q)
{
    if (q->cancelled)
        return;
    q->cancelled = true;
    if (q->call)
        exchange_cancel(q->call);
    else if (q->token_request)
        oci_request_cancel(q->token_request);
    else if (q->sm.at == REGISTRY_REQUEST_WAITING) /* else on_again() or on_ended() follows */
        registry_request_end(q, -ECANCELED);
}

/* ---- answers that end it ---- */

/* The query of a URL may contain credentials: it is never logged. */
int registry_path_n(const char *path)
{
    return (int)MIN(strcspn(path, "?"), (size_t)PATH_MAX_BYTES);
}

static void add_message_words(struct buf *to, struct str s)
{
    s = str_slice(s, 0, WORDS_MAX);
    for (size_t i = 0; i < s.n; i++)
        (void)buf_add_char(to, s.p[i] >= ' ' && s.p[i] < 0x7f ? s.p[i] : '?');
}

/* {"errors":[{"code":"DENIED","message":"..."}]} (distribution-spec, "Error Codes") */
static void add_explanation(const struct oci_request *q, struct buf *to)
{
    struct arena a = { .max_bytes = 1 << 20 };
    struct json *doc;
    if (json_parse(&a, buf_str(&q->gathered), NULL, &doc, NULL) >= 0) {
        const struct json *first = json_first(json_getc(doc, "errors"));
        struct str words = json_get_str(first, "message");
        if (words.n == 0)
            words = json_get_str(first, "code");
        if (words.n == 0)
            words = json_get_str(doc, "details");
        if (words.n)
            (void)buf_add_cstr(to, ": ");
        add_message_words(to, words);
    }
    arena_fini(&a);
}

static int code_of(int status)
{
    switch (status) {
    case 401:
    case 403:
        return E_DENIED;
    case 404:
        return -ENOENT;
    case 405:
    case 501:
        return E_UNSUPPORTED;
    case 408:
    case 429:
        return -EAGAIN;
    default:
        return status >= 500 ? -EAGAIN : -EPROTO;
    }
}

static bool passes(const struct oci_request *q)
{
    for (size_t i = 0; i < ARRAY_LEN(q->passes); i++)
        if (q->passes[i] && q->passes[i] == q->status)
            return true;
    return q->status >= 200 && q->status < 400;
}

static void end_with_status(struct oci_request *q)
{
    struct buf words = BUF_INIT(sizeof q->err.text);
    if (passes(q)) {
        registry_request_end(q, 0);
        return;
    }
    if (q->status == 407 && q->is_by_proxy) { /* as a proxy that refuses CONNECT */
        registry_request_end(q, err_set(&q->err, -ECONNREFUSED,
                                        "the proxy answers 407: it wants a login, "
                                        "http://USER:PASSWORD@HOST:PORT"));
        return;
    }
    add_explanation(q, &words);
    registry_request_end(q, err_set(&q->err, code_of(q->status), "%s answers %d to %s %.*s%s",
                                    REGISTRY_HOST(&q->url), q->status, q->method,
                                    registry_path_n(q->url.path), q->url.path, buf_cstr(&words)));
    buf_fini(&words);
}

/* ---- repetitions ---- */

static void on_backoff(struct timer *t)
{
    registry_request_again(container_of(t, struct oci_request, timer));
}

/* 0: not stated, or as a date. */
static uint64_t retry_after_s(const struct oci_request *q)
{
    uint64_t s;
    struct str text = headers_get(&q->answer, "retry-after");
    return parse_u64(str_trim(text), 0, UINT32_MAX, &s) == 0 ? s : 0;
}

bool oci_request_is_put_off(const struct oci_request *q, uint64_t *ret_ms)
{
    uint64_t s = retry_after_s(q);
    if (q->status != 429 && !(q->status == 503 && s))
        return false;
    *ret_ms = s * 1000;
    return true;
}

static uint64_t backoff_ms(struct oci_request *q)
{
    const struct oci_registry_opts *o = &q->reg->opts;
    uint64_t ms = backoff_wait(o->backoff_ms, OCI_REGISTRY_BACKOFF_MAX_MS, q->attempt);
    return backoff_jitter(&q->reg->rng, ms / 2, ms / 2 + ms);
}

static void note(struct oci_request *q, const char *why, uint64_t ms)
{
    if (!q->reg->opts.note)
        return;
    scoped(free_scoped) char *text = xasprintf(
        "%s; again in %llu.%llu s (attempt %u of %u)", why, (unsigned long long)(ms / 1000),
        (unsigned long long)(ms % 1000 / 100), q->attempt + 1, q->reg->opts.attempts);
    q->reg->opts.note(q->reg->opts.arg, text);
}

/* Progress resets the count: always after many bytes, and a limited number of times after a few
 * bytes that came quickly, so that one byte per attempt does not continue for ever. */
static void count_attempt(struct oci_request *q, int r)
{
    const unsigned short_max = OCI_REGISTRY_SHORT_ATTEMPTS * q->reg->opts.attempts;
    uint64_t got = q->sink && q->at > q->at_attempt ? q->at - q->at_attempt : 0;
    bool is_short = got > 0 && got < PROGRESS_BYTES && r != -ETIMEDOUT;
    if (got >= PROGRESS_BYTES || (is_short && q->n_short < short_max))
        q->attempt = 0;
    q->n_short += is_short;
    q->attempt++;
    q->n_attempts++;
}

/* q->err has the reason. */
static void try_later(struct oci_request *q, int r)
{
    uint64_t asked_s = q->status ? retry_after_s(q) : 0;
    count_attempt(q, r);
    if (q->attempt >= q->reg->opts.attempts) {
        registry_request_end(q, err_ctx(&q->err, r, "after %u attempts", q->n_attempts));
        return;
    }
    if (asked_s > OCI_REGISTRY_RETRY_AFTER_MAX_S) {
        registry_request_end(q, err_ctx(&q->err, r, "the registry says to try again in %llu s",
                                        (unsigned long long)asked_s));
        return;
    }
    uint64_t ms = MAX(backoff_ms(q), asked_s * 1000);
    note(q, q->err.text, ms);
    sm_move(&q->sm, REGISTRY_REQUEST_WAITING);
    timer_start(q->reg->opts.loop, &q->timer, ms, on_backoff);
}

static bool is_transient(int status)
{
    return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

/* A body that the server may have processed is not sent again, unless the server says that it was
 * rejected. */
static bool may_repeat(const struct oci_request *q)
{
    return !q->once || q->status == 429 || q->status == 503 || (!q->status && !q->was_sent);
}

static void on_again(struct defer *d)
{
    struct oci_request *q = container_of(d, struct oci_request, turn);
    if (q->cancelled)
        registry_request_end(q, -ECANCELED);
    else
        send_request(q);
}

/* Go to another URL of the same request. */
static void follow(struct oci_request *q, struct str location)
{
    struct fetch_url to;
    scoped(free_scoped) char *text = str_dup(location);
    if (++q->redirects > OCI_REGISTRY_REDIRECTS_MAX) {
        registry_request_end(q, err_set(&q->err, E_LIMIT, "%s: more than %d redirects",
                                        REGISTRY_HOST(&q->first), OCI_REGISTRY_REDIRECTS_MAX));
        return;
    }
    int r = fetch_url_parse(text, &q->url, &to, &q->err);
    if (r >= 0 && q->url.tls && !to.tls) {
        fetch_url_fini(&to);
        r = err_set(&q->err, E_DENIED, "%s redirects from https to http", REGISTRY_HOST(&q->url));
    }
    if (r >= 0 && q->has_secret && !registry_same_origin(&q->first, &to)) {
        r = err_set(&q->err, E_DENIED, "%s redirects credentials to %.120s", REGISTRY_HOST(&q->url),
                    REGISTRY_HOST(&to));
        fetch_url_fini(&to);
    }
    if (r < 0) {
        registry_request_end(q, r);
        return;
    }
    fetch_url_fini(&q->url);
    q->url = to;
    sm_move(&q->sm, REGISTRY_REQUEST_READY);
    defer_start(q->reg->opts.loop, &q->turn, on_again);
}

static bool is_redirect(const struct oci_request *q)
{
    bool keeps_method = q->status == 307 || q->status == 308;
    bool only_reads = strcmp(q->method, "GET") == 0 || strcmp(q->method, "HEAD") == 0;
    bool reads_on = only_reads && q->status >= 301 && q->status <= 303;
    return (keeps_method || reads_on) && headers_get(&q->answer, "location").n;
}

static void reset_url(struct oci_request *q)
{
    fetch_url_fini(&q->url);
    q->url = (struct fetch_url){ q->first.tls, xstrdup(q->first.host), xstrdup(q->first.path),
                                 q->first.port };
}

void registry_request_again(struct oci_request *q)
{
    assert(!q->call && !q->token_request);
    if (q->sm.at != REGISTRY_REQUEST_READY) /* it was just made */
        sm_move(&q->sm, REGISTRY_REQUEST_READY);
    reset_url(q);
    q->redirects = 0;
    defer_start(q->reg->opts.loop, &q->turn, on_again);
}

/* The answer for the sink has ended; check that it is complete. */
static void settle_sink(struct oci_request *q)
{
    if (q->at == q->size || q->is_at_most) {
        registry_request_end(q, 0);
        return;
    }
    try_later(q,
              err_set(&q->err, E_DIGEST, "%s sent %llu of %llu bytes of %.*s",
                      REGISTRY_HOST(&q->url), (unsigned long long)q->at,
                      (unsigned long long)q->size, registry_path_n(q->first.path), q->first.path));
}

static void settle_transport(struct oci_request *q, int r)
{
    const char *why = q->reg->opts.no_address;
    bool is_ours = registry_same_origin(&q->url, &q->reg->base);
    if (r == -EACCES && is_ours)
        (void)err_ctx(&q->err, r, "the registry is at no address that the options allow%s%s%s",
                      why ? " (" : "", why ? why : "", why ? ")" : "");
    else if (r == -EACCES)
        (void)err_ctx(&q->err, r,
                      "%s is public and sends us to a private address (--allow-private)",
                      REGISTRY_HOST(&q->reg->base));
    bool was_never_there = (r == -ECONNREFUSED || r == -EHOSTUNREACH) && !q->reg->has_answered;
    bool is_final = was_never_there || r == E_TLS || r == -EACCES || r == E_PARSE || r == E_LIMIT;
    if (is_final || !may_repeat(q))
        registry_request_end(q, r);
    else
        try_later(q, r);
}

/* The call has ended: r is the result of the HTTP client. */
static void settle(struct oci_request *q, int r)
{
    bool is_ours = registry_same_origin(&q->url, &q->reg->base);
    if (q->cancelled)
        registry_request_end(q, -ECANCELED);
    else if (q->err.code)
        registry_request_end(q, q->err.code);
    else if (r < 0)
        settle_transport(q, r);
    else if (is_redirect(q))
        follow(q, headers_get(&q->answer, "location"));
    else if (q->status == 401 && q->scope && is_ours)
        registry_auth_demand(q);
    else if (is_transient(q->status) && may_repeat(q))
        try_later(q, err_set(&q->err, -EAGAIN, "%s answers %d", REGISTRY_HOST(&q->url), q->status));
    else if (q->sink && (q->status == 200 || q->status == 206))
        settle_sink(q);
    else if (q->sink && q->status == 416)
        registry_request_end(q, err_set(&q->err, E_DIGEST, "%s has fewer than %llu bytes of %.*s",
                                        REGISTRY_HOST(&q->url), (unsigned long long)q->size,
                                        registry_path_n(q->first.path), q->first.path));
    else
        end_with_status(q);
}

/* ---- the call ---- */

static void on_silence(struct timer *t)
{
    struct oci_request *q = container_of(t, struct oci_request, timer);
    exchange_cancel(q->call); /* on_end() detects this by the timer, which is not armed */
}

static void watch_silence(struct oci_request *q)
{
    timer_start(q->reg->opts.loop, &q->timer, q->reg->opts.stall_ms, on_silence);
}

/* Detects a server that sends a byte now and then, which on_silence() does not. false: the call was
 * ended. */
static bool keeps_pace(struct oci_request *q, size_t n)
{
    uint64_t now = loop_now_ms(q->reg->opts.loop);
    if (q->paced_ms == 0)
        q->paced_ms = now;
    q->n_paced += n;
    if (now - q->paced_ms < OCI_REGISTRY_SLOW_MS)
        return true;
    if (q->n_paced < OCI_REGISTRY_SLOW_BYTES) {
        q->is_slow = true;
        exchange_cancel(q->call);
        return false;
    }
    q->paced_ms = now;
    q->n_paced = 0;
    return true;
}

/* "bytes 5-9/10" (RFC 9110 section 14.4): 5. false: it is not that. */
static bool range_start(struct str text, uint64_t *ret)
{
    struct str unit, rest, first;
    return str_cut(str_trim(text), ' ', &unit, &rest) && str_ieq(unit, STR("bytes")) &&
           str_cut(rest, '-', &first, &rest) && parse_u64(first, 0, UINT64_MAX, ret) == 0;
}

static void fail_call(struct oci_request *q, int r)
{
    q->err.code = r;
    exchange_cancel(q->call);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct oci_request *q = arg;
    uint64_t from;
    q->status = status;
    q->reg->has_answered = true;
    q->skip = 0;
    q->paced_ms = q->n_paced = 0;
    headers_reset(&q->answer);
    (void)headers_copy(&q->answer, headers);
    watch_silence(q);
    if (!q->sink)
        return;
    if (status == 206 && q->on_ranges) {
        int r = q->on_ranges(q->sink_arg, headers, &q->err);
        if (r < 0)
            fail_call(q, r);
        return;
    }
    if (status == 200 && (q->is_part || q->on_ranges))
        fail_call(q, err_set(&q->err, E_UNSUPPORTED, "%s knows no ranges", REGISTRY_HOST(&q->url)));
    else if (status == 200)
        q->skip = q->at; /* the server has no ranges */
    else if (status == 206 &&
             (!range_start(headers_get(headers, "content-range"), &from) || from != q->at))
        fail_call(q, err_set(&q->err, -EPROTO, "%s sent another range than was asked for",
                             REGISTRY_HOST(&q->url)));
}

static void to_sink(struct oci_request *q, struct str bytes)
{
    uint64_t skip = MIN(q->skip, (uint64_t)bytes.n);
    q->skip -= skip;
    bytes = str_slice(bytes, (size_t)skip, bytes.n);
    if (bytes.n > q->size - q->at) {
        fail_call(q, err_set(&q->err, E_DIGEST, "%s sends more than %llu bytes of %.*s",
                             REGISTRY_HOST(&q->url), (unsigned long long)q->size,
                             registry_path_n(q->first.path), q->first.path));
        return;
    }
    uint64_t before_ms = loop_now_ms(q->reg->opts.loop);
    int r = bytes.n ? q->sink(q->sink_arg, bytes, &q->err) : 0;
    if (r < 0) {
        fail_call(q, r);
        return;
    }
    q->at += bytes.n;
    loop_update_now(q->reg->opts.loop); /* sinks may block, which is not the peer's fault */
    q->paced_ms += loop_now_ms(q->reg->opts.loop) - before_ms;
}

static void on_data(void *arg, struct str bytes)
{
    struct oci_request *q = arg;
    if (q->err.code || q->cancelled || q->is_slow || !keeps_pace(q, bytes.n))
        return;
    if (q->sink && (q->status == 200 || q->status == 206))
        to_sink(q, bytes);
    else if (buf_add_str(&q->gathered, bytes) < 0)
        fail_call(q, err_set(&q->err, E_LIMIT, "the answer of %s has more than %d bytes",
                             REGISTRY_HOST(&q->url), OCI_DOCUMENT_MAX));
    if (!q->err.code)
        watch_silence(q);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct oci_request *q = arg;
    bool was_watched = q->status != 0;
    q->was_sent = http_call_was_sent(q->call);
    q->call = NULL;
    if (r == -ECANCELED && q->is_slow && !q->cancelled)
        r = err_set(&q->err, -ETIMEDOUT, "%s sends fewer than %d KiB in %d s",
                    REGISTRY_HOST(&q->url), OCI_REGISTRY_SLOW_BYTES >> 10,
                    OCI_REGISTRY_SLOW_MS / 1000);
    else if (r == -ECANCELED && was_watched && !q->err.code && !timer_is_armed(&q->timer))
        r = err_set(&q->err, -ETIMEDOUT, "%s sent no byte for %llu ms", REGISTRY_HOST(&q->url),
                    (unsigned long long)q->reg->opts.stall_ms);
    else if (r < 0 && !q->err.code && err)
        (void)err_set(&q->err, r, "%s: %s", REGISTRY_HOST(&q->url), err_text(err));
    timer_stop(q->reg->opts.loop, &q->timer);
    if (r < 0 && r != -ECANCELED) {
        q->status = 0; /* an incomplete answer is ignored */
        q->err.code = 0;
    }
    settle(q, r);
}

static void on_writable(void *arg)
{
    struct oci_request *q = arg;
    while (q->body_sent < q->body.n) {
        struct str piece = str_slice(q->body, q->body_sent, q->body_sent + BODY_PIECE_BYTES);
        q->body_sent += piece.n;
        if (!exchange_write(q->call, piece))
            return;
    }
}

static const struct exchange_events call_events = {
    .on_head = on_head, .on_data = on_data, .on_end = on_end, .on_writable = on_writable
};

static void add_headers(struct oci_request *q, struct headers *to)
{
    bool is_first = registry_same_origin(&q->url, &q->first);
    for (size_t i = 0; i < q->headers.n; i++)
        if (is_first || !str_is(headers_name(&q->headers, i), "authorization"))
            (void)headers_add(to, headers_name(&q->headers, i), headers_value(&q->headers, i));
    (void)headers_addc(to, "user-agent", version_product());
    if (q->scope && registry_same_origin(&q->url, &q->reg->base))
        registry_auth_add(q, to);
    if (q->sink && !q->on_ranges && (q->at || q->is_part)) {
        char last[24] = "";
        if (q->is_part)
            (void)snprintf(last, sizeof last, "%llu", (unsigned long long)(q->size - 1));
        scoped(free_scoped) char *range =
            xasprintf("bytes=%llu-%s", (unsigned long long)q->at, last);
        (void)headers_addc(to, "range", range);
    }
}

static int start_call(struct oci_request *q)
{
    struct registry_origin *origin;
    struct headers h = { 0 };
    int r = registry_origin_find(q->reg, &q->url, &origin, &q->err);
    if (r < 0)
        return r;
    q->is_by_proxy = origin->by_proxy;
    bool is_v6 = strchr(q->url.host, ':') != NULL;
    scoped(free_scoped) char *host = xasprintf("%s%s%s:%u", is_v6 ? "[" : "", q->url.host,
                                               is_v6 ? "]" : "", (unsigned)q->url.port);
    scoped(free_scoped) char *target = xasprintf("%s%s%s", origin->by_proxy ? "http://" : "",
                                                 origin->by_proxy ? host : "", q->url.path);
    if (origin->by_proxy)
        (void)headers_addc(&h, "host", host);
    if (origin->proxy_authorization)
        (void)headers_addc(&h, "proxy-authorization", origin->proxy_authorization);
    add_headers(q, &h);
    struct http_call_opts opts = { .method = str_of(q->method),
                                   .target = str_of(target),
                                   .headers = &h,
                                   .head_timeout_ms = q->reg->opts.stall_ms,
                                   .events = &call_events,
                                   .arg = q,
                                   .streams = q->body.n > 0,
                                   .body_n = q->body.n };
    r = http_call_start(origin->client, &opts, &q->call, &q->err);
    headers_fini(&h);
    return r;
}

static void send_request(struct oci_request *q)
{
    sm_move(&q->sm, REGISTRY_REQUEST_CALLING);
    q->status = 0;
    q->is_slow = false;
    q->err = (struct err){ 0 };
    q->at_attempt = q->at;
    q->body_sent = 0;
    buf_reset(&q->gathered);
    headers_reset(&q->answer);
    int r = start_call(q);
    if (r < 0)
        registry_request_end(q, r);
    else
        on_writable(q);
}

int oci_request_start(struct oci_registry *reg, const struct oci_request_opts *opts,
                      struct oci_request **ret, struct err *err)
{
    assert(!opts->sink || opts->from <= opts->size);
    assert(!opts->is_part || opts->from < opts->size);
    assert(!opts->on_ranges || (opts->from == 0 && opts->is_at_most && opts->once));
    struct fetch_url first;
    int r = fetch_url_parse(opts->target, &reg->base, &first, err);
    if (r < 0)
        return r;
    if (reg->base.tls && !first.tls) {
        fetch_url_fini(&first);
        return err_set(err, E_DENIED, "%s sends us from https to http", REGISTRY_HOST(&reg->base));
    }
    struct oci_request *q = xnew(struct oci_request);
    *q = (struct oci_request){
        .reg = reg,
        .cb = opts->cb,
        .arg = opts->arg,
        .method = xstrdup(opts->method),
        .scope = opts->scope ? xstrdup(opts->scope) : NULL,
        .first = first,
        .body = opts->body,
        .once = opts->once,
        .has_secret = opts->has_secret,
        .is_part = opts->is_part,
        .is_at_most = opts->is_at_most,
        .sink = opts->sink,
        .on_ranges = opts->on_ranges,
        .sink_arg = opts->sink_arg,
        .at = opts->from,
        .size = opts->size,
        .gathered = BUF_INIT(OCI_DOCUMENT_MAX),
        .token_body = BUF_INIT(OCI_CREDENTIAL_MAX * 4),
    };
    sm_init(&q->sm, request_table, REGISTRY_REQUEST_READY);
    memcpy(q->passes, opts->passes, sizeof q->passes);
    if (opts->headers)
        (void)headers_copy(&q->headers, opts->headers);
    list_push_back(&reg->requests, &q->node);
    registry_request_again(q);
    *ret = q;
    return 0;
}
