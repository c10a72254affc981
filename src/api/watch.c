/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.
 *
 * All watchers of a kind share one hub, which has one watch of the store: each event is parsed at
 * most once and encoded once for each representation, however many watchers there are. A watcher
 * that is not at the hub's revision (it starts from an older one, or its client did not read for a
 * while) uses its own watch of the store until it has caught up:
 *
 *     initial ----> behind <----> joined          any -> ended
 *     (list)        (own watch)   (hub)
 *                      |  ^
 *                      v  |
 *                     stalled  (the client's buffer is full; nothing is read for it)
 *
 * Nothing is queued for a slow client beyond the sink's own buffer: events that it misses stay in
 * the store. A watcher that stays stalled is disconnected.
 *
 * Beside this, whether the watcher may be sent more (enum api_watch_sink):
 *
 *     open <----> full         open, full -> over budget
 */
#include "api/filter.h"
#include "api/list_options.h"
#include "api/negotiate.h"
#include "api/permission.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "base/sys.h"
#include "base/vec.h"
#include "client/watch_event.h"
#include "io/http.h"

#include <assert.h>
#include <errno.h>

enum {
    WATCH_STALL_MAX_MS = 60000, /* then a client that does not read is disconnected */
    WATCH_BOOKMARK_MS = 60000,  /* longest delay between a write and the bookmark */
    WATCH_TIMEOUT_MAX_S = 86400,
    WATCH_REAUTHORIZE_MS = 250,    /* after a change, so that a burst of changes causes one pass */
    WATCH_REVOKED_MAX_KEYS = 4096, /* beyond, the pass runs at once */
    EVENT_MAX_BYTES = 16 << 20,
    WATCH_EVENT_MAX_STEPS = BUDGET_MAX_STEPS / 4, /* of one event for one watcher */
    /*
     * Each event of a kind is matched with the selectors of all its watchers, so their requirements
     * are counted over all watches: about 5 ms per event. 429 beyond; short selectors are always
     * accepted.
     */
    WATCH_REQUIREMENTS_MAX = 50000,
    WATCH_FREE_REQUIREMENTS = 16
};

enum api_watch_at { WATCH_INITIAL, WATCH_BEHIND, WATCH_STALLED, WATCH_JOINED, WATCH_ENDED };

static const struct sm_state watch_table[] = {
    [WATCH_INITIAL] = { "initial", EDGE(WATCH_BEHIND) | EDGE(WATCH_ENDED) },
    [WATCH_BEHIND] = { "behind", EDGE(WATCH_JOINED) | EDGE(WATCH_STALLED) | EDGE(WATCH_ENDED) },
    [WATCH_STALLED] = { "stalled", EDGE(WATCH_BEHIND) | EDGE(WATCH_ENDED) },
    [WATCH_JOINED] = { "joined", EDGE(WATCH_STALLED) | EDGE(WATCH_ENDED) },
    [WATCH_ENDED] = { "ended", 0 },
};

enum api_watch_sink {
    WATCH_SINK_OPEN,
    WATCH_SINK_FULL,       /* the sink takes no more until on_writable() */
    WATCH_SINK_OVER_BUDGET /* an event exceeded its budget: the watch is about to end */
};

static const struct sm_state sink_table[] = {
    [WATCH_SINK_OPEN] = { "open", EDGE(WATCH_SINK_FULL) | EDGE(WATCH_SINK_OVER_BUDGET) },
    [WATCH_SINK_FULL] = { "full", EDGE(WATCH_SINK_OPEN) | EDGE(WATCH_SINK_OVER_BUDGET) },
    [WATCH_SINK_OVER_BUDGET] = { "over budget", 0 },
};

struct hub {
    struct api *api;
    char *name; /* storage name */
    struct store_watch *watch;
    uint64_t last_event;  /* revision of the last event seen, or where the watch began */
    struct list watchers; /* those in state joined */
};

struct watcher {
    struct request *rq;
    struct sm sm;              /* enum api_watch_at; changed by move() */
    enum api_watch_sink takes; /* changed by move_sink() */
    struct list node;          /* hub->watchers while joined */
    struct hub *hub;           /* while joined */
    struct filter filter;
    struct str range_prefix, storage_name;
    struct store_watch *own; /* while behind */
    uint64_t seen;           /* all events up to this revision have been sent, or did not match */
    uint64_t sent_rev;       /* the newest revision that the client knows */
    uint64_t min_rev;        /* the client has everything up to here */
    uint64_t at_rev;         /* of the initial list */
    struct buf after;
    bool announce_initial, bookmarks; /* requested by the client */
    bool columns_sent;                /* of a Table: only the first event has them */
    size_t requirements;              /* of its selectors, in api->watch_requirements */
    struct timer timeout, stall;
    struct arena scratch;
};

static struct watcher *watcher_of(const struct request *rq)
{
    return rq->work;
}

/* The only place that changes the state: call it when `hub`, `node` and `own` are those of `to`. */
static void move(struct watcher *w, enum api_watch_at to)
{
    assert((to == WATCH_JOINED) == (w->hub != NULL) && !w->own);
    assert(list_is_linked(&w->node) == (w->hub != NULL));
    assert(!timer_is_armed(&w->stall)); /* stall() arms it afterwards */
    sm_move(&w->sm, to);
}

/* The only place that changes whether the sink takes more; no effect if nothing changes. */
static void move_sink(struct watcher *w, enum api_watch_sink to)
{
    if (w->takes == to)
        return;
    assert(sm_is_edge(sink_table, w->takes, to));
    w->takes = to;
}

/* ------------------------------------------------------------------ one event, many watchers */

struct encoded {
    const struct kube_resource *res;
    struct rep rep;
    const char *type;
    bool columns;
    struct buf bytes;
};

/* An event with values computed from it so far. */
struct api_watch_event {
    const struct store_event *ev;
    struct api *api;
    struct arena *scratch;
    const struct kube_resource *parsed_as;
    struct json *now, *before;
    VEC(struct encoded) encoded;
};

static void event_fini(struct api_watch_event *e)
{
    vec_each (c, &e->encoded)
        buf_fini(&c->bytes);
    vec_fini(&e->encoded);
    arena_reset(e->scratch);
}

static void event_parse(struct api_watch_event *e, const struct kube_resource *res)
{
    if (e->parsed_as == res)
        return;
    e->parsed_as = res;
    e->now = e->before = NULL;
    if (e->ev->kind == STORE_EV_PUT)
        (void)encode_read_stored(e->scratch, res, filter_stored(e->api, res, &e->ev->kv), &e->now,
                                 NULL);
    if (e->ev->has_prev)
        (void)encode_read_stored(e->scratch, res, filter_stored(e->api, res, &e->ev->prev),
                                 &e->before, NULL);
}

/* The type of the event for this watcher; NULL: not visible. */
static const char *event_type(struct api_watch_event *e, const struct filter *f)
{
    if (!filter_matches_key(f, e->ev->kv.key))
        return NULL;
    bool is = e->ev->kind == STORE_EV_PUT, was = e->ev->has_prev;
    if (!f->by_key_only) {
        event_parse(e, f->res);
        is = is && e->now && filter_matches_object(f, e->scratch, e->now);
        was = was && e->before && filter_matches_object(f, e->scratch, e->before);
    }
    if (is)
        return was ? "MODIFIED" : "ADDED";
    return was ? "DELETED" : NULL;
}

/* A deleted object is shown in its last state, with the revision of the deletion. */
static struct encode_stored event_object(const struct api_watch_event *e,
                                         const struct kube_resource *res, const char *type)
{
    if (strcmp(type, "DELETED") != 0)
        return filter_stored(e->api, res, &e->ev->kv);
    struct encode_stored st = filter_stored(e->api, res, &e->ev->prev);
    st.rev = e->ev->kv.mod_rev;
    return st;
}

static bool same_rep(const struct rep *a, const struct rep *b)
{
    return a->kind == b->kind && a->format == b->format && a->v1beta1 == b->v1beta1 &&
           a->include == b->include;
}

static struct str event_bytes(struct api_watch_event *e, const struct watcher *w, const char *type)
{
    const struct request *rq = w->rq;
    bool columns = rq->rep.kind == REP_TABLE && !w->columns_sent;
    vec_each (c, &e->encoded) {
        if (c->res == rq->res && c->type == type && c->columns == columns &&
            same_rep(&c->rep, &rq->rep))
            return buf_str(&c->bytes);
    }
    struct encoded c = { .res = rq->res,
                         .rep = rq->rep,
                         .type = type,
                         .columns = columns,
                         .bytes = BUF_INIT(EVENT_MAX_BYTES) };
    struct err err = { 0 };
    int r = encode_event(e->scratch, rq->res, &rq->rep, type, event_object(e, rq->res, type),
                         columns, clock_wall_ms() / 1000, &c.bytes, &err);
    if (r < 0) {
        log_error("event not sent", "key=" STR_FMT " error=\"%s\"", STR_ARG(e->ev->kv.key),
                  err_text(&err));
        buf_reset(&c.bytes);
    }
    vec_push(&e->encoded, c);
    return buf_str(&c.bytes);
}

static void put(struct watcher *w, struct str bytes)
{
    if (bytes.n && !w->rq->sink->write(w->rq, bytes))
        move_sink(w, WATCH_SINK_FULL);
}

/*
 * Send the bytes of one event. An in-process sink gets the decoded head with them, so that it need
 * not parse them. key: of the object in the store; "" for a bookmark.
 */
static void put_event(struct watcher *w, struct str bytes, struct str key, struct watch_event ev)
{
    static const struct str object = { "\"object\":", 9 }; /* only the type precedes it */
    const struct request *rq = w->rq;
    if (!bytes.n || !rq->sink->event || rq->rep.format != FORMAT_JSON ||
        rq->rep.kind == REP_TABLE) {
        put(w, bytes);
        return;
    }
    if (key.n)
        key_split(rq->res, w->filter.prefix, key, &ev.namespace, &ev.name);
    ev.line = str_slice(bytes, 0, bytes.n - 1);
    size_t at = (size_t)str_find(ev.line, object) + object.n;
    ev.object = str_slice(ev.line, at, ev.line.n - 1);
    assert(ev.object.n && ev.object.p[0] == '{' && bytes.p[bytes.n - 1] == '\n');
    if (!rq->sink->event(w->rq, &ev))
        move_sink(w, WATCH_SINK_FULL);
}

static enum watch_event_type event_type_of(const char *word)
{
    return word[0] == 'A'   ? WATCH_EVENT_ADDED
           : word[0] == 'M' ? WATCH_EVENT_MODIFIED
                            : WATCH_EVENT_DELETED;
}

/*
 * The cost of this watcher's selectors and columns is limited for each event; beyond, the watch
 * ends, because it can no longer tell what the client should see.
 */
static void send_event(struct watcher *w, struct api_watch_event *e)
{
    struct budget budget = { .max_steps = WATCH_EVENT_MAX_STEPS };
    e->scratch->budget = &budget;
    const char *type = event_type(e, &w->filter);
    struct str bytes = type ? event_bytes(e, w, type) : STR("");
    e->scratch->budget = NULL;
    if (budget_is_over(&budget))
        move_sink(w, WATCH_SINK_OVER_BUDGET);
    if (!type || w->takes == WATCH_SINK_OVER_BUDGET)
        return;
    put_event(w, bytes, e->ev->kv.key,
              (struct watch_event){ .type = event_type_of(type), .rv = e->ev->kv.mod_rev });
    w->columns_sent = true;
    w->sent_rev = e->ev->kv.mod_rev;
    w->rq->api->metrics.watch_events++;
}

/* ------------------------------------------------------------------ the end */

static void hub_leave(struct watcher *w);
static void hub_drop_if_empty(struct hub *h);

static void release(struct watcher *w)
{
    struct loop *loop = w->rq->api->loop;
    struct hub *h = w->hub;
    hub_leave(w);
    if (h)
        hub_drop_if_empty(h);
    if (w->own)
        store_watch_cancel(w->own);
    w->own = NULL;
    assert(!w->hub && !list_is_linked(&w->node));
    timer_stop(loop, &w->timeout);
    timer_stop(loop, &w->stall);
}

static void end_watch(struct watcher *w)
{
    if (w->sm.at == WATCH_ENDED)
        return;
    release(w);
    move(w, WATCH_ENDED);
    request_end(w->rq);
    if (!w->rq->gone)
        w->rq->sink->end(w->rq);
}

static void end_with_error(struct watcher *w, const struct json *status)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(EVENT_MAX_BYTES);
    encode_error_event(&w->scratch, &w->rq->rep, status, &b);
    if (w->sm.at != WATCH_ENDED && !w->rq->gone)
        (void)w->rq->sink->write(w->rq, buf_str(&b));
    end_watch(w);
}

static void end_for(struct watcher *w, int r)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    if (r == -ECANCELED || rq->gone)
        end_watch(w);
    else if (r == E_EXPIRED || r == E_DIGEST) /* damaged history counts as expired: list again */
        end_with_error(w, status_too_old(a, w->seen, store_compacted(rq->api->store)));
    else
        end_with_error(w, status_internal(a, STR("the watch cannot go on")));
}

static void on_gone(struct request *rq)
{
    struct watcher *w = watcher_of(rq);
    release(w);
    assert(rq->api->metrics.watchers > 0 && rq->api->watch_requirements >= w->requirements);
    rq->api->metrics.watchers--;
    rq->api->watch_requirements -= w->requirements;
    buf_fini(&w->after);
    arena_fini(&w->scratch);
}

static void send_bookmark(struct watcher *w)
{
    uint64_t progress = store_watch_progress(w->hub->watch);
    if (w->takes != WATCH_SINK_OPEN || w->sent_rev >= progress)
        return;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(EVENT_MAX_BYTES);
    w->seen = MAX(w->seen, progress);
    w->sent_rev = progress;
    arena_reset(&w->scratch);
    encode_bookmark(&w->scratch, w->rq->res, &w->rq->rep, progress, false, !w->columns_sent, &b);
    w->columns_sent = true;
    put_event(w, buf_str(&b), STR(""),
              (struct watch_event){ .type = WATCH_EVENT_BOOKMARK, .rv = progress });
}

/* A client that watches again resumes at the end of this watch. */
static void on_timeout(struct timer *t)
{
    struct watcher *w = container_of(t, struct watcher, timeout);
    if (w->sm.at == WATCH_JOINED && w->bookmarks)
        send_bookmark(w);
    end_watch(w);
}

static void on_stall(struct timer *t)
{
    struct watcher *w = container_of(t, struct watcher, stall);
    assert(w->sm.at == WATCH_STALLED && !w->hub && !w->own);
    log_warn("watcher does not read, closing", "peer=" STR_FMT " path=" STR_FMT,
             STR_ARG(w->rq->peer), STR_ARG(w->rq->route.path));
    release(w);
    move(w, WATCH_ENDED);
    request_end(w->rq);
    w->rq->sink->abort(w->rq);
}

/* ------------------------------------------------------------------ the hub */

static void hub_free(struct hub *h)
{
    assert(list_is_empty(&h->watchers));
    const struct hub *was = map_del(&h->api->hubs, str_of(h->name));
    assert(was == h);
    if (h->watch)
        store_watch_cancel(h->watch);
    free(h->name);
    free(h);
}

static void hub_leave(struct watcher *w)
{
    list_remove(&w->node);
    w->hub = NULL;
}

static void hub_drop_if_empty(struct hub *h)
{
    if (list_is_empty(&h->watchers))
        hub_free(h);
}

/* The caller frees the hub if this leaves it empty. */
static void stall(struct watcher *w)
{
    assert(w->takes == WATCH_SINK_FULL);
    hub_leave(w);
    if (w->own)
        store_watch_cancel(w->own);
    w->own = NULL;
    move(w, WATCH_STALLED);
    timer_start(w->rq->api->loop, &w->stall, WATCH_STALL_MAX_MS, on_stall);
}

static void end_too_much(struct watcher *w)
{
    log_warn("watch ended", "path=" STR_FMT " reason=\"%s\"", STR_ARG(w->rq->route.path),
             "an event took more work than it may");
    end_with_error(w, status_too_much_work(&w->rq->arena));
}

/* A watcher may pause only between revisions: `seen` is a whole revision. */
static bool may_send(const struct watcher *w, const struct store_event *ev)
{
    return ev->kv.mod_rev > w->min_rev &&
           (w->takes == WATCH_SINK_OPEN ||
            (w->takes == WATCH_SINK_FULL && ev->kv.mod_rev <= w->seen));
}

static void hub_send(struct hub *h, const struct store_event *ev, struct arena *scratch)
{
    struct api_watch_event e = { .ev = ev, .api = h->api, .scratch = scratch };
    list_each (node, &h->watchers) {
        struct watcher *w = list_entry(node, struct watcher, node);
        assert(w->hub == h && !w->own);
        if (!may_send(w, ev))
            continue;
        send_event(w, &e);
        w->seen = MAX(w->seen, ev->kv.mod_rev);
    }
    event_fini(&e);
}

static void on_hub_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev)
{
    struct hub *h = arg;
    struct arena scratch = { 0 };
    for (size_t i = 0; i < n; i++)
        hub_send(h, &ev[i], &scratch);
    arena_fini(&scratch);
    h->last_event = n ? ev[n - 1].kv.mod_rev : h->last_event;
    struct list ended;
    list_init(&ended);
    list_each_safe (node, &h->watchers) {
        struct watcher *w = list_entry(node, struct watcher, node);
        switch (w->takes) {
        case WATCH_SINK_OVER_BUDGET:
            hub_leave(w);
            list_push_back(&ended, &w->node);
            break;
        case WATCH_SINK_FULL:
            stall(w);
            break;
        case WATCH_SINK_OPEN:
            w->seen = MAX(w->seen, progress_rev);
            break;
        }
    }
    hub_drop_if_empty(h);
    while (!list_is_empty(&ended))
        end_too_much(list_entry(list_pop_front(&ended), struct watcher, node));
}

/* Damage or an I/O error; other reasons concern only the watcher. */
static void log_end(struct str resource, int r, const struct err *err)
{
    if (r != -ECANCELED && r != E_EXPIRED && r != -EMSGSIZE)
        log_error("watch cut off", "resource=" STR_FMT " error=\"%s\"", STR_ARG(resource),
                  err_text(err));
}

static void on_hub_end(void *arg, int r, const struct err *err)
{
    struct hub *h = arg;
    log_end(str_of(h->name), r, err);
    h->watch = NULL; /* freed by the store */
    struct list watchers;
    list_move_all(&h->watchers, &watchers);
    while (!list_is_empty(&watchers)) {
        struct watcher *w = list_first(&watchers, struct watcher, node);
        hub_leave(w);
        end_for(w, r);
    }
    hub_free(h);
}

static const struct store_watch_ops hub_ops = { .on_events = on_hub_events, .on_end = on_hub_end };

static int hub_new(struct watcher *w, struct hub **ret, struct err *err)
{
    struct api *api = w->rq->api;
    struct hub *h = xnew(struct hub);
    uint64_t newest = store_revision(api->store);
    assert(!map_has(&api->hubs, w->storage_name));
    h->api = api;
    h->last_event = MIN(w->seen, newest);
    list_init(&h->watchers);
    int r = store_watch_start(api->store, w->filter.prefix, h->last_event + 1, &hub_ops, h,
                              &h->watch, err);
    if (r < 0) {
        free(h);
        return r;
    }
    h->name = str_dup(w->storage_name);
    (void)map_put(&api->hubs, w->storage_name, h);
    *ret = h;
    return 0;
}

static void join(struct watcher *w, struct hub *h)
{
    assert(!w->hub && w->seen >= h->last_event); /* it misses no event */
    if (w->own)
        store_watch_cancel(w->own);
    w->own = NULL;
    w->hub = h;
    w->min_rev = MAX(w->min_rev, w->seen);
    list_push_back(&h->watchers, &w->node);
    move(w, WATCH_JOINED);
}

/* ------------------------------------------------------------------ a watch of its own */

static bool try_join(struct watcher *w)
{
    struct hub *h = map_get(&w->rq->api->hubs, w->storage_name);
    if (!h || w->seen < h->last_event)
        return false;
    join(w, h);
    return true;
}

static void on_own_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev)
{
    struct watcher *w = arg;
    assert(w->sm.at == WATCH_BEHIND && w->own && !w->hub);
    for (size_t i = 0; i < n && w->takes == WATCH_SINK_OPEN;) {
        uint64_t rev = ev[i].kv.mod_rev;
        for (; i < n && ev[i].kv.mod_rev == rev; i++) {
            struct api_watch_event e = { .ev = &ev[i], .api = w->rq->api, .scratch = &w->scratch };
            if (rev > w->min_rev)
                send_event(w, &e);
            event_fini(&e);
        }
        w->seen = rev;
    }
    switch (w->takes) {
    case WATCH_SINK_OVER_BUDGET:
        end_too_much(w);
        return;
    case WATCH_SINK_FULL:
        stall(w);
        return;
    case WATCH_SINK_OPEN:
        w->seen = MAX(w->seen, progress_rev);
        (void)try_join(w);
        return;
    }
}

static void on_own_end(void *arg, int r, const struct err *err)
{
    struct watcher *w = arg;
    assert(w->sm.at == WATCH_BEHIND && !w->hub);
    log_end(w->storage_name, r, err);
    w->own = NULL;
    end_for(w, r);
}

static const struct store_watch_ops own_ops = { .on_events = on_own_events, .on_end = on_own_end };

/* Deliver from w->seen on: join the hub at once if no event is missed. */
static void go_live(struct watcher *w)
{
    struct api *api = w->rq->api;
    struct err err = { 0 };
    struct hub *h;
    request_settled(w->rq);
    assert(w->takes == WATCH_SINK_OPEN && !w->hub && !w->own);
    move(w, WATCH_BEHIND);
    if (try_join(w))
        return;
    int r = 0;
    if (map_has(&api->hubs, w->storage_name))
        r = store_watch_start(api->store, w->filter.prefix, w->seen + 1, &own_ops, w, &w->own,
                              &err);
    else if ((r = hub_new(w, &h, &err)) >= 0)
        join(w, h);
    if (r < 0)
        end_for(w, r);
}

/* ------------------------------------------------------------------ initial events */

static void initial_next(struct watcher *w);

static void initial_done(struct watcher *w)
{
    w->seen = MAX(w->at_rev, w->min_rev);
    if (w->announce_initial) {
        w->sent_rev = w->at_rev;
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(EVENT_MAX_BYTES);
        encode_bookmark(&w->scratch, w->rq->res, &w->rq->rep, w->at_rev, true, !w->columns_sent,
                        &b);
        w->columns_sent = true;
        arena_reset(&w->scratch);
        put_event(w, buf_str(&b), STR(""),
                  (struct watch_event){
                      .type = WATCH_EVENT_BOOKMARK, .rv = w->at_rev, .ends_initial = true });
    }
    move_sink(w, WATCH_SINK_OPEN); /* if it is full, on_writable resumes the watcher */
    go_live(w);
}

static void send_initial(struct watcher *w, const struct store_kv *kv)
{
    struct request *rq = w->rq;
    struct encode_stored st = filter_stored(rq->api, rq->res, kv);
    arena_reset(&w->scratch);
    w->scratch.budget = &rq->budget;
    if (!filter_matches_key(&w->filter, kv->key) ||
        !filter_matches_value(&w->filter, &w->scratch, st))
        return;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(EVENT_MAX_BYTES);
    struct err err = { 0 };
    if (encode_event(&w->scratch, rq->res, &rq->rep, "ADDED", st,
                     rq->rep.kind == REP_TABLE && !w->columns_sent, clock_wall_ms() / 1000, &b,
                     &err) < 0) {
        log_error("event not sent", "key=" STR_FMT " error=\"%s\"", STR_ARG(kv->key),
                  err_text(&err));
        return;
    }
    w->columns_sent = true;
    if (budget_is_over(&rq->budget))
        return;
    put_event(w, buf_str(&b), kv->key,
              (struct watch_event){ .type = WATCH_EVENT_ADDED, .rv = kv->mod_rev });
    rq->api->metrics.watch_events++;
}

static void on_initial_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct watcher *w = arg;
    (void)err;
    if (request_idle(w->rq) || w->sm.at == WATCH_ENDED)
        return;
    assert(w->sm.at == WATCH_INITIAL);
    if (r < 0) {
        end_for(w, r);
        return;
    }
    if (w->min_rev > page->rev) {
        end_with_error(w, status_future(&w->rq->arena, w->min_rev, page->rev));
        return;
    }
    w->at_rev = page->rev;
    request_allow_page(w->rq, page);
    for (size_t i = 0; i < page->n && !budget_is_over(&w->rq->budget); i++)
        send_initial(w, &page->kv[i]);
    arena_fini(&w->scratch); /* an object's tree is large, and a watch may stay open for long */
    if (budget_is_over(&w->rq->budget)) {
        end_with_error(w, status_too_much_work(&w->rq->arena));
        return;
    }
    if (!page->more) {
        w->min_rev = page->rev;
        initial_done(w);
        return;
    }
    buf_reset(&w->after);
    (void)buf_add_str(&w->after, page->kv[page->n - 1].key);
    if (w->takes == WATCH_SINK_OPEN)
        initial_next(w);
}

static void initial_next(struct watcher *w)
{
    struct store_range range = { .prefix = w->range_prefix,
                                 .after = buf_str(&w->after),
                                 .at_rev = w->at_rev };
    struct err err = { 0 };
    filter_narrow(&w->filter, w->rq, &range);
    request_busy(w->rq);
    int r = store_range(w->rq->api->store, &range, on_initial_page, w, &err);
    if (r < 0 && !request_idle(w->rq))
        end_for(w, r);
}

static void on_writable(struct request *rq)
{
    struct watcher *w = watcher_of(rq);
    if (w->takes == WATCH_SINK_FULL)
        move_sink(w, WATCH_SINK_OPEN);
    switch ((enum api_watch_at)w->sm.at) {
    case WATCH_INITIAL:
        if (rq->busy == 0)
            initial_next(w);
        return;
    case WATCH_STALLED:
        timer_stop(rq->api->loop, &w->stall);
        go_live(w);
        return;
    case WATCH_BEHIND:
    case WATCH_JOINED:
    case WATCH_ENDED:
        return;
    }
}

/* ------------------------------------------------------------------ begin */

static struct json *parse_watch(struct watcher *w, struct list_options *ret)
{
    struct request *rq = w->rq;
    struct json *no = list_options_parse(rq, true, ret);
    if (!no)
        no = filter_parse(rq, &w->filter);
    if (no)
        return no;
    w->bookmarks = ret->bookmarks;
    w->announce_initial = ret->sends_initial && w->bookmarks;
    w->min_rev = ret->rev;
    w->seen = ret->rev ? ret->rev : store_revision(rq->api->store);
    w->range_prefix = key_prefix_ns(&rq->arena, rq->res, w->filter.ns);
    w->storage_name = kube_storage_name(&rq->arena, rq->res);
    return NULL;
}

void watch_begin(struct request *rq)
{
    struct watcher *w = arena_new(&rq->arena, struct watcher);
    struct api *api = rq->api;
    struct list_options o;
    w->rq = rq;
    w->after = BUF_INIT(STORE_KEY_MAX_BYTES);
    sm_init(&w->sm, watch_table, WATCH_INITIAL);
    const struct json *no = parse_watch(w, &o);
    size_t requirements = w->filter.labels.n + w->filter.fields.n;
    if (!no && requirements > WATCH_FREE_REQUIREMENTS &&
        api->watch_requirements + requirements > WATCH_REQUIREMENTS_MAX)
        no = status_too_many_requests(&rq->arena, 1);
    if (no) {
        reply_status(rq, no);
        return;
    }
    if (requirements > WATCH_FREE_REQUIREMENTS)
        w->requirements = requirements;
    api->watch_requirements += w->requirements;
    rq->work = w;
    rq->on_gone = on_gone;
    rq->on_writable = on_writable;
    api->metrics.watchers++;
    uint64_t timeout_ms = MIN(o.timeout_s, (uint64_t)WATCH_TIMEOUT_MAX_S) * 1000;
    /* An in-process watch needs no default timeout: it has no connection or token that ages, and
     * is_allowed_still() checks its rights after each change. An idle one thus costs no timer. The
     * timeout of other watches is random, so that clients do not all reconnect at once. */
    if (!timeout_ms && !rq->in_process)
        timeout_ms = api->watch_min_ms + sys_random_u64() % api->watch_min_ms;
    if (timeout_ms)
        timer_start(api->loop, &w->timeout, timeout_ms, on_timeout);
    reply_head(rq, 200, negotiate_content_type(&rq->rep, true), HTTP_CHUNKED);
    if (o.sends_initial)
        initial_next(w);
    else
        go_live(w);
}

/* ------------------------------------------------------------------ interface */

static bool is_watch(const struct request *rq)
{
    return rq->on_gone == on_gone;
}

/* Repeats the check that allowed the request; about two microseconds. */
static bool is_allowed_still(const struct api *api, struct request *rq)
{
    for (size_t i = 0; api->revoked.n && i < rq->n_token_keys; i++)
        if (map_has(&api->revoked, rq->token_keys[i]))
            return false;
    const struct api_attributes at = permission_attributes(rq);
    return !api->authorize || api->authorize(api->authorize_arg, &at, NULL);
}

static void reauthorize(struct api *api)
{
    list_each_safe (node, &api->requests) {
        struct request *rq = list_entry(node, struct request, node);
        if (is_watch(rq) && rq->at != REQUEST_ENDED && !is_allowed_still(api, rq))
            end_watch(watcher_of(rq));
    }
    map_fini(&api->revoked);
}

static void on_reauthorize(struct timer *t)
{
    reauthorize(container_of(t, struct api, reauthorize_timer));
}

void watch_reauthorize(struct api *api)
{
    if (!api->closing && api->metrics.watchers && !timer_is_armed(&api->reauthorize_timer))
        timer_start(api->loop, &api->reauthorize_timer, WATCH_REAUTHORIZE_MS, on_reauthorize);
}

void watch_revoke(struct api *api, struct str key)
{
    if (api->closing || api->metrics.watchers == 0)
        return;
    (void)map_put(&api->revoked, key, api);
    watch_reauthorize(api);
    if (api->revoked.n == WATCH_REVOKED_MAX_KEYS) {
        timer_stop(api->loop, &api->reauthorize_timer);
        timer_start(api->loop, &api->reauthorize_timer, 0, on_reauthorize);
    }
}

void watch_close_all(struct api *api)
{
    timer_stop(api->loop, &api->bookmark_timer);
    timer_stop(api->loop, &api->reauthorize_timer);
    list_each_safe (node, &api->requests) {
        struct request *rq = list_entry(node, struct request, node);
        if (is_watch(rq))
            end_watch(watcher_of(rq));
    }
}

bool watch_is_followed(const struct api *api, const struct kube_resource *res)
{
    struct arena a = { 0 };
    const struct hub *h = map_get(&api->hubs, kube_storage_name(&a, res));
    bool is_followed = false;
    arena_fini(&a);
    if (h)
        list_each (node, &h->watchers) {
            const struct watcher *w = list_entry(node, struct watcher, node);
            is_followed |=
                w->filter.ns.n == 0 && !str_is(w->rq->identity.user, "system:kube-scheduler");
        }
    return is_followed;
}

void watch_close_resource(struct api *api, struct str storage_name)
{
    list_each_safe (node, &api->requests) {
        struct request *rq = list_entry(node, struct request, node);
        if (is_watch(rq) && str_eq(watcher_of(rq)->storage_name, storage_name))
            end_watch(watcher_of(rq));
    }
}

void api_on_policy(struct api *api, void (*fn)(void *arg), void *arg)
{
    api->on_policy = fn;
    api->on_policy_arg = arg;
}

void api_tell_progress(struct api *api)
{
    list_each (node, &api->requests) {
        struct request *rq = list_entry(node, struct request, node);
        if (is_watch(rq) && watcher_of(rq)->sm.at == WATCH_JOINED && watcher_of(rq)->bookmarks)
            send_bookmark(watcher_of(rq));
    }
}

static void on_bookmark_timer(struct timer *t)
{
    api_tell_progress(container_of(t, struct api, bookmark_timer));
}

void watch_note_write(struct api *api)
{
    if (api->closing || api->metrics.watchers == 0 || timer_is_armed(&api->bookmark_timer))
        return;
    timer_start(api->loop, &api->bookmark_timer, WATCH_BOOKMARK_MS, on_bookmark_timer);
}
