/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get and list.
 *
 * A list without limit that does not fit one page of the store is streamed page by page from one
 * revision, waiting for the client in between, so its memory does not depend on its length. With a
 * limit the answer is complete before its head is sent, because the head contains the continue
 * token.
 *
 * A protobuf list has a length prefix, so the list is measured before its first byte is sent.
 * Measuring keeps the encoded items, up to API_LISTS_KEPT_MAX_BYTES; only the rest is read a second
 * time, from the same revision.
 */
#include "api/core.h"
#include "api/filter.h"
#include "api/list_options.h"
#include "api/negotiate.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/http.h"

#include <assert.h>
#include <errno.h>

/* ------------------------------------------------------------------ get */

struct get {
    struct request *rq;
    uint64_t min_rev; /* the read must not be older */
};

static void on_get(void *arg, int r, const struct store_kv *kv, uint64_t rev, const struct err *err)
{
    struct get *g = arg;
    struct request *rq = g->rq;
    if (request_idle(rq))
        return;
    if (r >= 0 && g->min_rev > rev)
        r = E_FUTURE;
    if (r < 0) {
        reply_store_err(rq, r, g->min_rev, err);
        return;
    }
    if (!kv) {
        reply_status(rq, reply_not_found(rq));
        return;
    }
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    struct err why = { 0 };
    r = encode_answer(rq, filter_stored(rq->api, rq->res, kv), &out, &why);
    if (budget_is_over(&rq->budget))
        reply_status(rq, status_too_much_work(&rq->arena));
    else if (r < 0)
        reply_err(rq, r, &why);
    else
        reply_bytes(rq, 200, negotiate_content_type(&rq->rep, false), buf_str(&out));
}

void read_get(struct request *rq)
{
    struct get *g = arena_new(&rq->arena, struct get);
    g->rq = rq;
    const struct json *no = list_options_rev(rq, &g->min_rev);
    if (no) {
        reply_status(rq, no);
        return;
    }
    struct err err = { 0 };
    struct str key = key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name);
    request_busy(rq);
    int r = store_get(rq->api->store, key, 0, on_get, g, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

/* ------------------------------------------------------------------ list: options */

enum {
    LIST_WHOLE_MAX_BYTES = 1 << 20,   /* a protobuf list of up to this size is sent in one piece */
    LIST_SLICE_MAX_BYTES = 256 << 10, /* a longer one is sent in slices of this size */
};

struct api_read_listing {
    struct request *rq;
    struct filter filter;
    struct str range_prefix;
    struct str first;    /* start after this key */
    struct str after;    /* continue after this key */
    uint64_t limit;      /* 0: no limit */
    uint64_t at_rev;     /* 0: newest, until the first page sets it */
    uint64_t min_rev;    /* the read must not be older */
    uint64_t n;          /* items written */
    struct buf last_key; /* last key looked at */
    struct buf out;
    struct arena scratch;
    struct proto_transcoder transcoder;
    int64_t now_s;
    bool streaming, from_token;

    /* protobuf only */
    bool measuring;        /* the first pass */
    bool keeping;          /* all items so far were kept */
    uint64_t items_bytes;  /* of all items, once measured */
    uint64_t sent_bytes;   /* of items_bytes */
    size_t kept_n;         /* bytes at the start of `out` that the first pass has kept */
    size_t kept_charged;   /* of kept_n, bytes that count towards API_LISTS_KEPT_MAX_BYTES */
    struct buf kept_after; /* key of the last kept item */
};

static void write_token(struct buf *to, const struct api_read_listing *l, struct str last,
                        int64_t rev)
{
    list_token_write(to, str_slice(last, l->filter.prefix.n, last.n), rev);
}

/* The start in a token is always taken as a place within the collection. */
static struct json *use_token(struct api_read_listing *l, const struct list_options *o)
{
    struct request *rq = l->rq;
    struct str start = STR("");
    int64_t rev = 0;
    if (o->rev)
        return status_bad_request(
            &rq->arena, STR("specifying resource version is not allowed when using continue"));
    struct json *no = list_token_read(rq, o->token, &start, &rev);
    if (no)
        return no;
    l->after = str_of(
        arena_printf(&rq->arena, STR_FMT STR_FMT, STR_ARG(l->filter.prefix), STR_ARG(start)));
    if (!str_has_prefix(l->after, l->range_prefix))
        return status_bad_request(&rq->arena,
                                  STR("invalid continue token: continue key is not valid"));
    l->from_token = true;
    l->at_rev = rev < 0 ? 0 : (uint64_t)rev;
    return NULL;
}

static void use_rev(struct api_read_listing *l, const struct list_options *o)
{
    bool exact = o->match == MATCH_EXACT || (o->match == MATCH_UNSET && l->limit && o->rev);
    l->at_rev = exact ? o->rev : 0;
    l->min_rev = exact ? 0 : o->rev;
}

static struct json *parse_list(struct api_read_listing *l)
{
    struct request *rq = l->rq;
    struct list_options o;
    struct json *no = list_options_parse(rq, false, &o);
    if (!no)
        no = filter_parse(rq, &l->filter);
    if (no)
        return no;
    l->range_prefix = key_prefix_ns(&rq->arena, rq->res, l->filter.ns);
    if (l->filter.name.n && (l->filter.ns.n || !rq->res->namespaced))
        l->range_prefix = key_object(&rq->arena, rq->res, l->filter.ns, l->filter.name);
    bool any_version = o.has_rev && o.rev == 0; /* upstream's cache ignores the limit */
    l->limit = any_version && o.token.n == 0 ? 0 : o.limit;
    if (o.token.n)
        return use_token(l, &o);
    use_rev(l, &o);
    return NULL;
}

/* ------------------------------------------------------------------ list: pages */

static void list_next(struct api_read_listing *l);

static void list_fail(struct api_read_listing *l, int r, const struct err *err)
{
    struct request *rq = l->rq;
    if (l->streaming) {
        log_warn("list cut off", "path=" STR_FMT " error=\"%s\"", STR_ARG(rq->route.path),
                 err && err->code ? err_text(err) : err_strerror(r));
        request_end(rq);
        rq->sink->abort(rq);
        return;
    }
    if (r == E_EXPIRED && l->from_token) {
        scoped(buf_fini_scoped) struct buf token = BUF_INIT(STORE_KEY_MAX_BYTES * 16);
        write_token(&token, l, l->after, -1);
        struct json *no = status_expired(
            &rq->arena,
            STR("The provided continue parameter is too old to display a consistent list result. "
                "You can "
                "start a new list without the continue parameter, or use the continue token in "
                "this "
                "response to retrieve the remainder of the results. Continuing with the provided "
                "token "
                "results in an inconsistent list - objects that were created, modified, or deleted "
                "between "
                "the time the first chunk was returned and now may show up in the list."));
        json_set_str(&rq->arena, json_obj(&rq->arena, no, "metadata"), "continue", buf_str(&token));
        reply_status(rq, no);
        return;
    }
    if (r == E_EXPIRED)
        reply_status(rq, status_expired(&rq->arena, STR("The resourceVersion for the provided list "
                                                        "is too old.")));
    else
        reply_store_err(rq, r, MAX(l->min_rev, l->at_rev), err);
}

/* Write the matching objects; *ret_full: the limit is reached. */
static int add_page(struct api_read_listing *l, const struct store_page *page, bool *ret_full,
                    struct err *err)
{
    struct request *rq = l->rq;
    request_allow_page(rq, page);
    for (size_t i = 0; i < page->n; i++) {
        const struct store_kv *kv = &page->kv[i];
        if (l->limit && l->n == l->limit) {
            *ret_full = true;
            return 0;
        }
        buf_reset(&l->last_key);
        (void)buf_add_str(&l->last_key, kv->key);
        struct encode_stored st = filter_stored(rq->api, rq->res, kv);
        arena_reset(&l->scratch);
        bool is_listed = filter_matches_key(&l->filter, kv->key) &&
                         filter_matches_value(&l->filter, &l->scratch, st);
        if (is_listed && !budget_is_over(&rq->budget)) {
            int r = encode_list_item(&l->scratch, &l->transcoder, rq->res, &rq->rep, st, l->now_s,
                                     l->n == 0, &l->out, err);
            if (r < 0)
                return r;
            l->n++;
        }
        if (budget_is_over(&rq->budget))
            return err_set(err, E_LIMIT, "%s takes too much time", rq->budget.over);
    }
    *ret_full = l->limit && l->n == l->limit;
    return 0;
}

/* Write the end of a stream. A stream whose length differs from the announced one is aborted. */
static void stream_finish(struct api_read_listing *l)
{
    struct request *rq = l->rq;
    l->sent_bytes += l->out.n;
    encode_list_end(&rq->rep, l->n == 0, &l->out);
    request_end(rq);
    if (rq->rep.format == FORMAT_PROTOBUF && l->sent_bytes != l->items_bytes) {
        log_error("list changed while it was sent", "path=" STR_FMT, STR_ARG(rq->route.path));
        rq->sink->abort(rq);
        return;
    }
    (void)rq->sink->write(rq, buf_str(&l->out));
    rq->sink->end(rq);
}

/* The whole list is in l->out. more: objects remain after the limit. */
static void list_finish(struct api_read_listing *l, bool more, uint64_t left)
{
    struct request *rq = l->rq;
    if (l->streaming) {
        stream_finish(l);
        return;
    }
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(BUF_MAX_DEFAULT);
    scoped(buf_fini_scoped) struct buf token = BUF_INIT(STORE_KEY_MAX_BYTES * 16);
    struct list_meta meta = { .rev = l->at_rev };
    if (more) {
        write_token(&token, l, buf_str(&l->last_key), (int64_t)l->at_rev);
        meta.continue_token = buf_str(&token);
        meta.has_left = l->filter.by_key_only && l->filter.name.n == 0;
        meta.left = left;
    }
    arena_reset(&l->scratch);
    int r = l->out.failed;
    if (r >= 0)
        r = encode_list(&l->scratch, rq->res, &rq->rep, &meta, buf_str(&l->out), &whole);
    buf_fini(&l->out); /* the client may read the answer late */
    arena_fini(&l->scratch);
    if (r < 0)
        reply_status(
            rq, status_internal(&rq->arena, STR("the list does not fit; use limit and continue")));
    else
        reply_bytes(rq, 200, negotiate_content_type(&rq->rep, false), buf_str(&whole));
}

static void stream_begin(struct api_read_listing *l)
{
    struct request *rq = l->rq;
    scoped(buf_fini_scoped) struct buf head = BUF_INIT(BUF_MAX_DEFAULT);
    const struct list_meta meta = { .rev = l->at_rev, .items_bytes = l->items_bytes };
    l->streaming = true;
    arena_reset(&l->scratch);
    encode_list_begin(&l->scratch, rq->res, &rq->rep, &meta, &head);
    reply_head(rq, 200, negotiate_content_type(&rq->rep, false), HTTP_CHUNKED);
    (void)rq->sink->write(rq, buf_str(&head));
}

/* Send the buffered part of an unlimited list; false: wait for on_writable. */
static bool list_flush(struct api_read_listing *l)
{
    struct request *rq = l->rq;
    if (!l->streaming)
        stream_begin(l);
    bool room = rq->sink->write(rq, buf_str(&l->out));
    l->sent_bytes += l->out.n;
    if (room) {
        buf_reset(&l->out);
    } else { /* the client may leave the answer unread for long, as may many others */
        buf_fini(&l->out);
        arena_fini(&l->scratch);
        proto_transcoder_fini(&l->transcoder);
    }
    return room;
}

static bool can_stream(const struct api_read_listing *l)
{
    return l->limit == 0;
}

/* ------------------------------------------------------------------ list: measuring */

/* Keep the page that was added to `out`, if it fits. */
static bool keep_page(struct api_read_listing *l)
{
    size_t n = l->out.n, *all = &l->rq->api->lists_kept_bytes;
    size_t charge = n > LIST_WHOLE_MAX_BYTES ? n - LIST_WHOLE_MAX_BYTES - l->kept_charged : 0;
    assert(*all <= API_LISTS_KEPT_MAX_BYTES && *all >= l->kept_charged);
    if (!l->keeping || charge > API_LISTS_KEPT_MAX_BYTES - *all)
        return false;
    *all += charge;
    l->kept_charged += charge;
    l->kept_n = n;
    buf_reset(&l->kept_after);
    (void)buf_add_str(&l->kept_after, buf_str(&l->last_key));
    return true;
}

static void drop_kept(struct api_read_listing *l)
{
    assert(l->rq->api->lists_kept_bytes >= l->kept_charged);
    l->rq->api->lists_kept_bytes -= l->kept_charged;
    l->kept_charged = l->kept_n = 0;
    buf_fini(&l->out);
    l->out = BUF_INIT(BUF_MAX_DEFAULT);
}

/* A page of the first pass was added to `out`. */
static void list_measure(struct api_read_listing *l, bool more)
{
    l->items_bytes += l->out.n - l->kept_n;
    l->keeping = keep_page(l);
    l->out.n = l->kept_n;
    if (more) {
        l->after = buf_str(&l->last_key);
        list_next(l);
        return;
    }
    l->measuring = false;
    if (l->items_bytes <= LIST_WHOLE_MAX_BYTES) {
        list_finish(l, false, 0);
        return;
    }
    l->after = l->kept_n ? buf_str(&l->kept_after) : l->first;
    stream_begin(l);
    list_next(l);
}

/* False: wait for on_writable. */
static bool send_kept(struct api_read_listing *l)
{
    struct request *rq = l->rq;
    while (l->sent_bytes < l->kept_n) {
        size_t n = MIN(l->kept_n - l->sent_bytes, (size_t)LIST_SLICE_MAX_BYTES);
        bool room = rq->sink->write(rq, str_n(l->out.p + l->sent_bytes, n));
        l->sent_bytes += n;
        if (!room) {
            proto_transcoder_fini(&l->transcoder);
            return false;
        }
    }
    drop_kept(l);
    return true;
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct api_read_listing *l = arg;
    struct request *rq = l->rq;
    if (request_idle(rq))
        return;
    struct err why = { 0 };
    bool full = false;
    if (r >= 0 && l->min_rev > page->rev) {
        list_fail(l, E_FUTURE, NULL);
        return;
    }
    if (r >= 0) {
        l->at_rev = page->rev;
        r = add_page(l, page, &full, &why);
        err = &why;
    }
    if (r < 0) {
        list_fail(l, r, err);
        return;
    }
    bool more = page->more ||
                (full && page->n && !str_eq(buf_str(&l->last_key), page->kv[page->n - 1].key));
    if (l->measuring) {
        list_measure(l, more);
        return;
    }
    if (full || !more) {
        list_finish(l, more, page->left);
        return;
    }
    l->after = buf_str(&l->last_key);
    if (!can_stream(l) || list_flush(l))
        list_next(l);
}

static void list_next(struct api_read_listing *l)
{
    struct request *rq = l->rq;
    if (!l->measuring && l->kept_n && !send_kept(l))
        return;
    if (l->streaming && l->keeping) { /* all pages were kept */
        stream_finish(l);
        return;
    }
    struct store_range range = { .prefix = l->range_prefix,
                                 .after = l->after,
                                 .at_rev = l->at_rev };
    struct err err = { 0 };
    assert(l->limit == 0 || l->n < l->limit);
    if (l->limit && l->filter.by_key_only) {
        range.limit = MIN(l->limit - l->n, (uint64_t)STORE_PAGE_MAX_ROWS);
        range.count_left = true;
    }
    filter_narrow(&l->filter, rq, &range);
    request_busy(rq);
    int r = store_range(rq->api->store, &range, on_page, l, &err);
    if (r < 0 && !request_idle(rq))
        list_fail(l, r, &err);
}

static void on_writable(struct request *rq)
{
    if (rq->at != REQUEST_ENDED && rq->busy == 0)
        list_next(rq->work);
}

static void on_gone(struct request *rq)
{
    struct api_read_listing *l = rq->work;
    drop_kept(l);
    buf_fini(&l->last_key);
    buf_fini(&l->kept_after);
    arena_fini(&l->scratch);
    proto_transcoder_fini(&l->transcoder);
}

void read_list(struct request *rq)
{
    struct api_read_listing *l = arena_new(&rq->arena, struct api_read_listing);
    *l = (struct api_read_listing){ .rq = rq,
                                    .now_s = clock_wall_ms() / 1000,
                                    .out = BUF_INIT(BUF_MAX_DEFAULT),
                                    .last_key = BUF_INIT(STORE_KEY_MAX_BYTES),
                                    .kept_after = BUF_INIT(STORE_KEY_MAX_BYTES),
                                    .transcoder = PROTO_TRANSCODER_INIT,
                                    .scratch = { .max_bytes = API_ARENA_MAX_BYTES,
                                                 .budget = &rq->budget } };
    rq->work = l;
    rq->on_gone = on_gone;
    rq->on_writable = on_writable;
    const struct json *no = parse_list(l);
    l->first = l->after;
    l->transcoder.remembers = true;
    l->measuring = l->keeping = can_stream(l) && rq->rep.format == FORMAT_PROTOBUF;
    if (no)
        reply_status(rq, no);
    else
        list_next(l);
}
