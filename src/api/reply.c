/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to requests; see reply.h. */
#include "api/reply.h"

#include "api/compress.h"
#include "api/core.h"
#include "api/encode.h"
#include "api/monitor.h"
#include "api/negotiate.h"
#include "base/log.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>

/* The request's ID for the client and for logs: chosen by the client, or a new one. */
static struct str audit_id(struct request *rq)
{
    char uid[37];
    if (rq->audit_id.n)
        return rq->audit_id;
    sys_uuid(uid);
    rq->audit_id = str_copy_arena(&rq->arena, str_of(uid));
    return rq->audit_id;
}

enum { WARNINGS_MAX_RUNES = 4096, WARNING_CUT_RUNES = 256 };

static size_t count_runes(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static struct str cut_runes(struct str s, size_t max)
{
    size_t i = 0;
    for (size_t n = 0; i < s.n; i++) {
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
        if (n > max)
            break;
    }
    return str_slice(s, 0, i);
}

void reply_warn(struct request *rq, struct str text)
{
    if (text.n == 0 || rq->warning_runes >= WARNINGS_MAX_RUNES)
        return;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0x20 || c == 0x7f)
            return; /* as upstream: drop a text that is not valid in a header field */
    }
    for (const struct warning *w = rq->warnings; w; w = w->next)
        if (str_eq(w->text, text))
            return;
    struct warning *w = arena_new(&rq->arena, struct warning);
    w->text = str_copy_arena(&rq->arena, text);
    if (rq->last_warning)
        rq->last_warning->next = w;
    else
        rq->warnings = w;
    rq->last_warning = w;
    rq->warning_runes += MIN(count_runes(text), (size_t)WARNING_CUT_RUNES);
}

static void add_warning(struct headers *to, struct str text)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&b, "299 - \"");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            (void)buf_add_char(&b, '\\');
        (void)buf_add_char(&b, text.p[i]);
    }
    (void)buf_add_char(&b, '"');
    (void)headers_add(to, STR("warning"), buf_str(&b));
}

static void add_warnings(const struct request *rq, struct headers *to)
{
    size_t all = 0, written = 0;
    for (const struct warning *w = rq->warnings; w; w = w->next)
        all += count_runes(w->text);
    size_t max = all > WARNINGS_MAX_RUNES ? WARNING_CUT_RUNES : all;
    for (const struct warning *w = rq->warnings; w && written < WARNINGS_MAX_RUNES; w = w->next) {
        struct str text = cut_runes(w->text, max);
        add_warning(to, text);
        written += count_runes(text);
    }
}

void reply_head(struct request *rq, int status, const char *content_type, uint64_t body_n)
{
    assert(status >= 200 && status < 600);
    if (rq->gone || request_is_answered(rq))
        return;
    struct headers h = { 0 };
    if (content_type)
        (void)headers_addc(&h, "content-type", content_type);
    if (!rq->in_process)
        (void)headers_add(&h, STR("audit-id"), audit_id(rq));
    if (!headers_get(&rq->extra, "cache-control").p)
        (void)headers_addc(&h, "cache-control", "no-cache, private");
    for (size_t i = 0; i < rq->extra.n; i++)
        (void)headers_add(&h, headers_name(&rq->extra, i), headers_value(&rq->extra, i));
    add_warnings(rq, &h);
    request_move(rq, REQUEST_ANSWER);
    rq->status = status;
    monitor_request(rq);
    const struct sink_ops *sink = rq->sink;
    compress_begin(rq, &h, body_n, &body_n);
    sink->head(rq, status, &h, body_n);
    headers_fini(&h);
}

void reply_upgrade(struct request *rq, const struct headers *headers)
{
    assert(rq->protocol && rq->sink->upgrade && !rq->gone && !request_is_answered(rq));
    request_move(rq, REQUEST_ANSWER);
    rq->status = 101;
    monitor_request(rq);
    rq->sink->upgrade(rq, headers);
}

void reply_bytes(struct request *rq, int status, const char *content_type, struct str body)
{
    if (rq->gone || request_is_answered(rq))
        return;
    reply_head(rq, status, content_type, body.n);
    if (body.n)
        (void)rq->sink->write(rq, body);
    request_end(rq);
    request_settled(rq);
    rq->sink->end(rq);
}

/* If-None-Match: a list of tags, or "*". */
static bool has_tag(struct str list, struct str tag)
{
    while (list.n) {
        struct str item;
        (void)str_cut(list, ',', &item, &list);
        item = str_trim(item);
        if (str_has_prefix(item, STR("W/")))
            item = str_slice(item, 2, item.n);
        if (str_is(item, "*") || str_eq(item, tag))
            return true;
    }
    return false;
}

bool reply_unchanged(struct request *rq, const char *tag)
{
    const char *quoted = arena_printf(&rq->arena, "\"%s\"", tag);
    (void)headers_addc(&rq->extra, "etag", quoted);
    if (!has_tag(rq->if_none_match, str_of(quoted)))
        return false;
    reply_bytes(rq, 304, NULL, STR(""));
    return true;
}

static void reply_tree(struct request *rq, const struct rep *rep, int status, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    int r = encode_tree(&rq->arena, rep, v, &b);
    if (r < 0) {
        log_error("answer does not fit", "path=" STR_FMT " error=%s", STR_ARG(rq->route.path),
                  err_name(r));
        reply_bytes(rq, 500, "text/plain", STR("answer too large"));
        return;
    }
    reply_bytes(rq, status, negotiate_content_type(rep, false), buf_str(&b));
}

void reply_json(struct request *rq, int status, const struct json *v)
{
    reply_tree(rq, &rq->rep, status, v);
}

/* A refusal is written in a format that the client accepts, never as a Table; otherwise in JSON. */
void reply_status(struct request *rq, const struct json *status)
{
    if (budget_is_over(&rq->budget)) /* later conclusions are not based on all data */
        status = status_too_much_work(&rq->arena);
    int code = status_code(status);
    struct rep rep = { .pretty = true };
    if (code == 404 && rq->no_page) {
        (void)headers_addc(&rq->extra, "x-content-type-options", "nosniff");
        reply_bytes(rq, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
        return;
    }
    if (negotiate_accept(rq->accept, ALLOW_PLAIN | ALLOW_PROTOBUF, &rep))
        rep.pretty = rep.pretty || negotiate_wants_pretty(rq->route.url, rq->user_agent);
    int64_t retry_s = json_int_or(json_path(status, "details", "retryAfterSeconds", NULL), 0);
    if (retry_s > 0)
        (void)headers_addc(&rq->extra, "retry-after",
                           arena_printf(&rq->arena, "%lld", (long long)retry_s));
    if (code == 401)
        (void)headers_addc(&rq->extra, "www-authenticate", "Bearer realm=\"kubernetes\"");
    reply_tree(rq, &rep, code, status);
}

enum { REPEAT_LOG_MS = 60000 };

/* A damaged object may be read by many clients, and a full disk fails every write. */
static bool is_repeated(struct api *api, int r, uint64_t *ret_skipped)
{
    struct log_rate *rate = r == E_DIGEST ? &api->damage_log : r == -ENOSPC ? &api->full_log : NULL;
    return rate && !log_rate_ok(rate, REPEAT_LOG_MS, ret_skipped);
}

struct json *api_error(struct request *rq, int r, const struct err *err)
{
    struct json *status = status_from_err(&rq->arena, r, err);
    uint64_t skipped = 0;
    if (status_code(status) >= 500 && !is_repeated(rq->api, r, &skipped))
        log_error("request failed", "method=" STR_FMT " path=" STR_FMT " error=\"%s\" skipped=%llu",
                  STR_ARG(rq->method), STR_ARG(rq->route.path),
                  err ? err_text(err) : err_strerror(r), (unsigned long long)skipped);
    return status;
}

void reply_err(struct request *rq, int r, const struct err *err)
{
    reply_status(rq, api_error(rq, r, err));
}

void reply_store_err(struct request *rq, int r, uint64_t wanted_rev, const struct err *err)
{
    struct arena *a = &rq->arena;
    struct store *s = rq->api->store;
    if (r == E_EXPIRED)
        reply_status(
            rq, status_expired(a, str_of(arena_printf(a, "too old resource version: %llu (%llu)",
                                                      (unsigned long long)wanted_rev,
                                                      (unsigned long long)store_compacted(s)))));
    else if (r == E_FUTURE)
        reply_status(rq, status_future(a, wanted_rev, store_revision(s)));
    else
        reply_err(rq, r, err);
}

struct json *reply_not_found(struct request *rq)
{
    return status_not_found(&rq->arena, rq->route.group, rq->route.resource, rq->route.name);
}
