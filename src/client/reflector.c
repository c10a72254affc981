/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List, watch, list again; see reflector.h. At the end of a list, the names known before it are
 * compared with those in it: an object that is missing was deleted meanwhile.
 *
 *     BEGINNING --on the next turn--> STREAMING --complete--> STREAM_DONE --> WATCHING
 *         |                               |  '--malformed--> STREAM_BROKEN        |
 *         |                        refused|                       |refused        |
 *         |                               v                       v               |
 *         '----no streams-------------> LISTING ---------------------------> WATCHING
 *
 * A failure leads from each of them, and the end of the watch from WATCHING, to WAITING and then to
 * the next list. reflector_relist() leads from WATCHING, and at the end of a list, to BEGINNING;
 * reflector_close() from everywhere to CLOSED.
 */
#include "client/reflector.h"

#include "base/backoff.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sm.h"
#include "base/sys.h"
#include "codec/url.h"
#include "kube/model/meta.h"

#include <inttypes.h>
#include <stdio.h>

enum reflector_at {
    REFLECTOR_BEGINNING,
    REFLECTOR_LISTING, /* in pages */
    REFLECTOR_STREAMING,
    REFLECTOR_STREAM_DONE,   /* the list is complete; the end of the call follows */
    REFLECTOR_STREAM_BROKEN, /* likewise, but the stream was malformed */
    REFLECTOR_WATCHING,
    REFLECTOR_WAITING, /* for the next try */
    REFLECTOR_CLOSED
};

static const struct sm_state reflector_table[] = {
    [REFLECTOR_BEGINNING] = { "beginning", EDGE(REFLECTOR_LISTING) | EDGE(REFLECTOR_STREAMING) |
                                               EDGE(REFLECTOR_CLOSED) },
    [REFLECTOR_LISTING] = { "listing", EDGE(REFLECTOR_WATCHING) | EDGE(REFLECTOR_WAITING) |
                                           EDGE(REFLECTOR_BEGINNING) | EDGE(REFLECTOR_CLOSED) },
    [REFLECTOR_STREAMING] = { "streaming", EDGE(REFLECTOR_STREAM_DONE) |
                                               EDGE(REFLECTOR_STREAM_BROKEN) |
                                               EDGE(REFLECTOR_LISTING) | EDGE(REFLECTOR_WAITING) |
                                               EDGE(REFLECTOR_CLOSED) },
    [REFLECTOR_STREAM_DONE] = { "stream done", EDGE(REFLECTOR_WATCHING) | EDGE(REFLECTOR_WAITING) |
                                                   EDGE(REFLECTOR_BEGINNING) |
                                                   EDGE(REFLECTOR_CLOSED) },
    [REFLECTOR_STREAM_BROKEN] = { "stream broken", EDGE(REFLECTOR_LISTING) |
                                                       EDGE(REFLECTOR_WAITING) |
                                                       EDGE(REFLECTOR_CLOSED) },
    [REFLECTOR_WATCHING] = { "watching", EDGE(REFLECTOR_WAITING) | EDGE(REFLECTOR_BEGINNING) |
                                             EDGE(REFLECTOR_CLOSED) },
    [REFLECTOR_WAITING] = { "waiting", EDGE(REFLECTOR_LISTING) | EDGE(REFLECTOR_STREAMING) |
                                           EDGE(REFLECTOR_CLOSED) },
    [REFLECTOR_CLOSED] = { "closed", 0 },
};

struct reflector {
    struct sm sm;
    struct reflector_opts opts;
    struct arena strings; /* of the key */
    struct exchange *call;
    struct buf page;
    struct watch_lines lines; /* of a streamed list */
    int status;               /* of the list or the watch */
    char *continue_token;
    uint64_t rv;      /* of the list */
    uint64_t round;   /* counts lists; a name with an older mark at the end of a list was deleted */
    struct map known; /* "namespace/name" -> round, as pointer; unless the user stores objects */
    bool no_streams;  /* the server does not support them */
    struct timer quiet;
    struct watch_sub *sub;
    struct timer retry;
    struct defer begin;
    unsigned failures;
    bool synced, logged; /* on_synced() has run; the failure was logged */
    bool unanswered;     /* the last list failed without an answer, which the transport logs */
    bool busy;           /* inside a callback: closing leaves the free to leave() */
    bool wants_relist;   /* the user asked at the end of a list: the next one begins after it */
};

static void start_list(struct reflector *r);
static void on_retry(struct timer *t);
static void on_begin(struct defer *d);

static bool is_closed(const struct reflector *r)
{
    return r->sm.at == REFLECTOR_CLOSED;
}

/* The running list is a stream, or was until its end or a fault in it. */
static bool has_stream(const struct reflector *r)
{
    return r->sm.at == REFLECTOR_STREAMING || r->sm.at == REFLECTOR_STREAM_DONE ||
           r->sm.at == REFLECTOR_STREAM_BROKEN;
}

static void free_reflector(struct reflector *r)
{
    assert(is_closed(r) && !r->busy && !r->call && !r->sub);
    assert(!timer_is_armed(&r->retry) && !timer_is_armed(&r->quiet));
    assert(!list_is_linked(&r->begin.node));
    map_fini(&r->known);
    watch_lines_reset(&r->lines);
    buf_fini(&r->page);
    arena_fini(&r->strings);
    free(r->continue_token);
    free(r);
}

/* Brackets every call of the user, who may close the reflector there. */
static void enter(struct reflector *r)
{
    assert(!r->busy);
    r->busy = true;
}

static void leave(struct reflector *r)
{
    assert(r->busy);
    r->busy = false;
    if (is_closed(r) && !r->call)
        free_reflector(r);
}

static void retry(struct reflector *r, const char *why)
{
    assert(!r->call && !r->sub && !timer_is_armed(&r->retry));
    sm_move(&r->sm, REFLECTOR_WAITING);
    if (r->opts.ops->on_trouble) {
        struct err err = { 0 };
        (void)err_set(&err, E_UNSUPPORTED, "%s", why);
        r->opts.ops->on_trouble(r->opts.arg, r->status, &err);
        if (is_closed(r))
            return;
    }
    struct rng rng = { sys_random_u64() };
    uint64_t wait = backoff_wait(REFLECTOR_RETRY_FIRST_MS, REFLECTOR_RETRY_MAX_MS, r->failures++);
    if (r->failures >= 3 && !r->logged && !r->unanswered) {
        r->logged = true;
        log_warn("list or watch fails, retrying", "resource=" STR_FMT " reason=\"%s\"",
                 STR_ARG(r->opts.key.plural), why);
    }
    timer_start(r->opts.loop, &r->retry, backoff_upper_half(&rng, wait), on_retry);
}

static struct str object_key(struct arena *a, struct str namespace, struct str name)
{
    return str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name)));
}

static void take_object(struct reflector *r, struct str namespace, struct str name,
                        const struct json *object)
{
    if (!r->opts.ops->on_list_end) {
        struct arena a = { 0 };
        (void)map_put(&r->known, object_key(&a, namespace, name), (void *)(uintptr_t)r->round);
        arena_fini(&a);
    }
    r->opts.ops->on_object(r->opts.arg, object);
}

/* ---------------------------------------------------------------- watch */

/*
 * Reset the back-off only when the watch is established: a user who may list but not watch would
 * otherwise list again and again without a pause.
 */
static void on_open(void *arg, int status, struct str body)
{
    struct reflector *r = arg;
    r->status = status;
    if (status != 200)
        return; /* on_watch_end() follows */
    if (r->logged)
        log_info("list and watch work again", "resource=" STR_FMT, STR_ARG(r->opts.key.plural));
    r->failures = 0;
    r->logged = false;
    enter(r);
    if (r->opts.ops->on_watching)
        r->opts.ops->on_watching(r->opts.arg);
    leave(r);
}

static void tell_progress(struct reflector *r, uint64_t rv)
{
    if (rv > r->rv)
        r->rv = rv;
    if (r->opts.ops->on_progress && rv && !is_closed(r))
        r->opts.ops->on_progress(r->opts.arg, rv);
}

static void take_deleted(struct reflector *r, const struct watch_event *ev)
{
    if (!r->opts.ops->on_list_end) {
        struct arena a = { 0 };
        (void)map_del(&r->known, object_key(&a, ev->namespace, ev->name));
        arena_fini(&a);
    }
    if (r->opts.ops->on_removed)
        r->opts.ops->on_removed(r->opts.arg, ev->namespace, ev->name, ev->rv);
    else
        r->opts.ops->on_deleted(r->opts.arg, ev->namespace, ev->name);
}

/* An event cannot be read, so the known state is stale: list again. */
static void distrust_watch(struct reflector *r)
{
    watch_sub_cancel(take_ptr(&r->sub));
    retry(r, "an event of the watch does not parse");
}

static void on_event(void *arg, const struct watch_event *ev)
{
    struct reflector *r = arg;
    if (ev->type == WATCH_EVENT_ERROR)
        return; /* on_watch_end() follows */
    assert(r->sm.at == REFLECTOR_WATCHING && r->sub);
    enter(r);
    const struct json *object = NULL;
    if (ev->type == WATCH_EVENT_BOOKMARK) {
        tell_progress(r, ev->rv);
    } else if (r->opts.ops->on_text) {
        r->opts.ops->on_text(r->opts.arg, false, ev->line);
        tell_progress(r, ev->rv);
    } else if (ev->type == WATCH_EVENT_DELETED) {
        take_deleted(r, ev);
        tell_progress(r, ev->rv);
    } else if ((object = watch_event_object(ev))) {
        take_object(r, ev->namespace, ev->name, object);
        tell_progress(r, ev->rv);
    } else {
        distrust_watch(r);
    }
    leave(r);
}

static void on_watch_end(void *arg)
{
    struct reflector *r = arg;
    char why[64];
    assert(r->sm.at == REFLECTOR_WATCHING && r->sub);
    r->sub = NULL;
    (void)snprintf(why, sizeof why, "watch ended, status %d", r->status);
    enter(r);
    retry(r, why);
    leave(r);
}

static const struct watch_sub_ops watch_ops = {
    .on_open = on_open, .on_event = on_event, .on_end = on_watch_end, .needs_no_history = true
};

static void start_watch(struct reflector *r)
{
    struct err err = { 0 };
    bool bookmarks = r->opts.ops->on_progress != NULL;
    assert(!r->sub && !r->call);
    r->status = 0;
    if (watch_hub_subscribe(r->opts.hub, &r->opts.key, r->rv, bookmarks, &watch_ops, r, &r->sub,
                            &err) < 0)
        retry(r, err_text(&err));
    else
        sm_move(&r->sm, REFLECTOR_WATCHING);
}

/* ---------------------------------------------------------------- list */

/* Objects that this list did not contain were deleted. */
static void drop_unseen(struct reflector *r)
{
    struct arena a = { 0 };
    size_t n = 0;
    struct str *gone = arena_new_n(&a, struct str, r->known.n);
    map_each (e, &r->known)
        if ((uintptr_t)e->value != r->round)
            gone[n++] = str_copy_arena(&a, e->key);
    for (size_t i = 0; i < n && !is_closed(r); i++) {
        struct str namespace, name;
        (void)map_del(&r->known, gone[i]);
        (void)str_cut(gone[i], '/', &namespace, &name);
        r->opts.ops->on_deleted(r->opts.arg, namespace, name);
    }
    arena_fini(&a);
}

static void begin_later(struct reflector *r)
{
    assert(!r->call && !r->sub);
    sm_move(&r->sm, REFLECTOR_BEGINNING);
    defer_start(r->opts.loop, &r->begin, on_begin);
}

/* The list is complete. */
static void finish_list(struct reflector *r)
{
    if (r->opts.ops->on_list_end)
        r->opts.ops->on_list_end(r->opts.arg, r->rv);
    else
        drop_unseen(r);
    if (is_closed(r))
        return;
    if (r->wants_relist)
        begin_later(r);
    else
        start_watch(r);
    if (!r->synced && !is_closed(r)) {
        r->synced = true;
        if (r->opts.ops->on_synced)
            r->opts.ops->on_synced(r->opts.arg);
    }
}

static void take_items(struct reflector *r, struct arena *a, const struct json *list)
{
    json_each (item, json_getc(list, "items")) {
        meta_name_item(a, list, item);
        const struct json *meta = json_getc(item, "metadata");
        take_object(r, json_get_str(meta, "namespace"), json_get_str(meta, "name"), item);
        if (is_closed(r))
            break;
    }
}

/*
 * Returns 0 at the end of the list, 1 when another page follows, or a negative code. With on_text()
 * the page is not parsed.
 */
static int read_page(struct reflector *r)
{
    struct arena a = { .max_bytes = (size_t)REFLECTOR_PAGE_MAX_BYTES * 16 };
    struct json *list = NULL;
    struct watch_page page;
    int code = watch_page_scan(&a, buf_str(&r->page), &page, NULL);
    if (code >= 0 && !r->opts.ops->on_text)
        code = json_parse(&a, buf_str(&r->page), NULL, &list, NULL);
    if (code >= 0) {
        r->rv = page.rv;
        free(r->continue_token);
        r->continue_token = page.continue_token.n ? str_dup(page.continue_token) : NULL;
        if (r->opts.ops->on_text)
            r->opts.ops->on_text(r->opts.arg, true, buf_str(&r->page));
        else
            take_items(r, &a, list);
        code = r->continue_token ? 1 : 0;
    }
    arena_fini(&a);
    return code;
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct reflector *r = arg;
    r->status = status;
}

/* ---------------------------------------------------------------- list as a stream */

static void on_quiet(struct timer *t)
{
    struct reflector *r = container_of(t, struct reflector, quiet);
    assert(has_stream(r));
    r->no_streams = true;
    if (r->call)
        exchange_cancel(r->call);
}

/* Ignores the rest of the stream. */
static void end_stream(struct reflector *r, bool done)
{
    sm_move(&r->sm, done ? REFLECTOR_STREAM_DONE : REFLECTOR_STREAM_BROKEN);
    exchange_cancel(r->call);
}

/* `from`: an event with its head known (in process) or scanned (HTTP). */
static void take_streamed(struct reflector *r, const struct watch_event *from)
{
    struct watch_tree tree = { 0 };
    struct watch_event ev = *from;
    const struct json *object = NULL;
    ev.tree = &tree;
    switch (ev.type) {
    case WATCH_EVENT_ADDED:
    case WATCH_EVENT_MODIFIED:
        object = watch_event_object(&ev);
        if (object)
            take_object(r, ev.namespace, ev.name, object);
        else
            end_stream(r, false);
        break;
    case WATCH_EVENT_BOOKMARK:
        if (ev.ends_initial && ev.rv) {
            r->rv = ev.rv;
            end_stream(r, true);
        }
        break;
    case WATCH_EVENT_DELETED: /* not part of a state at one version */
    case WATCH_EVENT_ERROR:
        end_stream(r, false);
        break;
    }
    watch_tree_fini(&tree);
}

/* The rest of the stream is ignored. */
static bool is_over(const struct reflector *r)
{
    return r->sm.at != REFLECTOR_STREAMING;
}

static void take_lines(struct reflector *r, struct str rest)
{
    struct str line;
    int code = 0;
    while (!is_over(r) && (code = watch_lines_next(&r->lines, &rest, &line)) > 0) {
        struct arena a = { .max_bytes = WATCH_LINE_MAX_BYTES };
        struct watch_event ev;
        if (watch_event_scan(&a, line, &ev, NULL) >= 0)
            take_streamed(r, &ev);
        else
            end_stream(r, false);
        arena_fini(&a);
    }
    if (!is_over(r) && code < 0)
        end_stream(r, false);
}

static void on_stream_event(void *arg, const struct watch_event *ev)
{
    struct reflector *r = arg;
    if (is_over(r))
        return;
    timer_start(r->opts.loop, &r->quiet, REFLECTOR_STREAM_QUIET_MS, on_quiet);
    enter(r);
    take_streamed(r, ev);
    leave(r);
}

/* ---------------------------------------------------------------- list in pages */

static void on_data(void *arg, struct str chunk)
{
    struct reflector *r = arg;
    if (is_closed(r))
        return;
    if (!has_stream(r) || r->status != 200) {
        (void)buf_add_str(&r->page, chunk);
        return;
    }
    timer_start(r->opts.loop, &r->quiet, REFLECTOR_STREAM_QUIET_MS, on_quiet);
    enter(r);
    take_lines(r, chunk);
    leave(r);
}

/*
 * 400, 404, 405, 406, 422: the server does not support such a watch. A missing resource or right
 * shows in the paged list.
 */
static bool refuses_streams(const struct reflector *r)
{
    return r->no_streams || (r->status >= 400 && r->status < 500 && r->status != 429);
}

static void end_streamed(struct reflector *r, int code, const struct err *err)
{
    timer_stop(r->opts.loop, &r->quiet);
    watch_lines_reset(&r->lines);
    buf_fini(&r->page);
    if (r->sm.at == REFLECTOR_STREAM_DONE) {
        finish_list(r);
    } else if (refuses_streams(r)) {
        r->no_streams = true;
        start_list(r);
    } else {
        retry(r, code < 0 && err && err->text[0] ? err->text : "the streamed list ended early");
    }
}

static void end_page(struct reflector *r, int code, const struct err *err)
{
    assert(r->sm.at == REFLECTOR_LISTING);
    if (code >= 0 && r->status == 200 && buf_ok(&r->page))
        code = read_page(r);
    else if (code >= 0)
        code = E_UNSUPPORTED;
    if (is_closed(r))
        return;
    buf_fini(&r->page);
    if (code == 1) {
        start_list(r);
    } else if (code == 0) {
        finish_list(r);
    } else {
        if (r->status == 403 || r->status == 404)
            r->no_streams = false;          /* the refusal was not about streaming */
        free(take_ptr(&r->continue_token)); /* also a continue token that has expired (410) */
        char why[64];
        (void)snprintf(why, sizeof why, "status %d, %s", r->status, err_strerror(code));
        retry(r, err && err->text[0] ? err->text : why);
    }
}

static void on_end(void *arg, int code, const struct err *err)
{
    struct reflector *r = arg;
    r->call = NULL;
    r->unanswered = code < 0 && r->status == 0;
    enter(r);
    if (is_closed(r))
        ; /* leave() frees */
    else if (has_stream(r))
        end_streamed(r, code, err);
    else
        end_page(r, code, err);
    leave(r);
}

static const struct exchange_events list_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void write_target(struct reflector *r, struct buf *target)
{
    const struct watch_key *k = &r->opts.key;
    bool core = str_find_char(k->group_version, '/') < 0;
    buf_printf(target, "/%s/" STR_FMT "/", core ? "api" : "apis", STR_ARG(k->group_version));
    if (k->namespace.n)
        buf_printf(target, "namespaces/" STR_FMT "/", STR_ARG(k->namespace));
    buf_add_str(target, k->plural);
    if (has_stream(r))
        buf_add_cstr(target, "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
                             "&resourceVersionMatch=NotOlderThan");
    else
        buf_printf(target, "?limit=%d", REFLECTOR_PAGE);
    const struct url_pair pairs[] = { { STR("labelSelector"), k->label_selector },
                                      { STR("fieldSelector"), k->field_selector },
                                      { STR("continue"), str_of(r->continue_token) } };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (pairs[i].value.n == 0)
            continue;
        buf_printf(target, "&" STR_FMT "=", STR_ARG(pairs[i].name));
        (void)url_encode(target, pairs[i].value);
    }
}

static const char *media_type(const struct reflector *r)
{
    if (!r->opts.key.metadata_only)
        return "application/json";
    return has_stream(r) ? WATCH_METADATA_ACCEPT
                         : "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
}

/* Requests the next page, or the streamed list. */
static void start_list(struct reflector *r)
{
    if (!r->continue_token) {
        r->round++;
        if (r->opts.ops->on_list_begin)
            r->opts.ops->on_list_begin(r->opts.arg);
        if (is_closed(r))
            return;
        r->wants_relist = false;
    }
    bool streams = r->opts.streams && !r->no_streams;
    assert(!r->call && !r->sub && !(streams && r->continue_token));
    if (r->sm.at != REFLECTOR_LISTING) /* else this is the next page */
        sm_move(&r->sm, streams ? REFLECTOR_STREAMING : REFLECTOR_LISTING);
    buf_init(&r->page, REFLECTOR_PAGE_MAX_BYTES);
    watch_lines_init(&r->lines);
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(64 << 10);
    write_target(r, &target);
    r->status = 0;
    struct headers h = { 0 };
    (void)headers_addc(&h, "accept", media_type(r));
    struct kube_request req = { .identity = r->opts.identity,
                                .method = STR("GET"),
                                .target = buf_str(&target),
                                .headers = &h,
                                .on_event = on_stream_event,
                                .event_arg = r };
    struct err err = { 0 };
    r->unanswered = false;
    int code = transport_start(r->opts.transport, &req, &list_events, r, &r->call, &err);
    headers_fini(&h);
    if (code < 0) {
        free(take_ptr(&r->continue_token)); /* the next list begins at its first page */
        retry(r, err_text(&err));
    } else if (streams) {
        timer_start(r->opts.loop, &r->quiet, REFLECTOR_STREAM_QUIET_MS, on_quiet);
    }
}

static void begin_list(struct reflector *r)
{
    enter(r);
    start_list(r);
    leave(r);
}

static void on_retry(struct timer *t)
{
    begin_list(container_of(t, struct reflector, retry));
}

static void on_begin(struct defer *d)
{
    begin_list(container_of(d, struct reflector, begin));
}

int reflector_start(const struct reflector_opts *opts, struct reflector **ret, struct err *err)
{
    struct reflector *r = xnew(struct reflector);
    r->opts = *opts;
    sm_init(&r->sm, reflector_table, REFLECTOR_BEGINNING);
    struct watch_key *k = &r->opts.key;
    struct str *copied[] = { &k->group_version, &k->plural, &k->namespace, &k->label_selector,
                             &k->field_selector };
    for (size_t i = 0; i < ARRAY_LEN(copied); i++)
        *copied[i] = str_copy_arena(&r->strings, *copied[i]);
    assert(!opts->ops->on_list_begin == !opts->ops->on_list_end);
    assert(!opts->ops->on_text || (opts->ops->on_list_begin && !opts->streams));
    defer_start(opts->loop, &r->begin, on_begin);
    *ret = r;
    return 0;
}

void reflector_relist(struct reflector *r)
{
    switch ((enum reflector_at)r->sm.at) {
    case REFLECTOR_WATCHING:
        watch_sub_cancel(take_ptr(&r->sub));
        begin_later(r);
        break;
    case REFLECTOR_LISTING:
    case REFLECTOR_STREAMING:
    case REFLECTOR_STREAM_DONE:
    case REFLECTOR_STREAM_BROKEN:
        if (!r->call) /* the list has ended, and its objects are being delivered */
            r->wants_relist = true;
        break;
    case REFLECTOR_BEGINNING:
    case REFLECTOR_WAITING:
    case REFLECTOR_CLOSED:
        break;
    }
}

void reflector_close(struct reflector *r)
{
    if (!r)
        return;
    sm_move(&r->sm, REFLECTOR_CLOSED);
    timer_stop(r->opts.loop, &r->retry);
    timer_stop(r->opts.loop, &r->quiet);
    defer_cancel(&r->begin);
    if (r->sub)
        watch_sub_cancel(take_ptr(&r->sub));
    if (r->call)
        exchange_cancel(r->call);
    else if (!r->busy)
        free_reflector(r);
}
