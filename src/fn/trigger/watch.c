/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of objects:
 *
 *     NOTE -> RESOLVE -> BEGIN -> LIVE           BEGIN: read the present version; first time only
 *               ^  \______________^  |
 *               |                    v
 *               +---- WAIT <---- any failure     GAP: a list, after history was lost (410)
 *
 * A note holds the version up to which calls are on disk, with the time; it is written in the
 * transaction of each call. A start resumes the watch from there, so no change is lost or fired
 * twice while the API still has that history. Otherwise objects with a later version fire as added
 * (created after the note) or modified; objects deleted in the gap are missed.
 *
 * In the function's own namespace the process's rights apply, as they do for its secrets; elsewhere
 * those of the service account "default" of its namespace.
 */
#include "fn/trigger/trigger_int.h"

#include "base/backoff.h"
#include "base/log.h"
#include "base/sm.h"
#include "client/transport.h"
#include "client/watch_hub.h"
#include "codec/url.h"

#include <errno.h>

enum {
    FETCH_MAX_BYTES = 32 << 20,
    PAGE = 500,
    RETRY_FIRST_MS = 1000,
    RETRY_MAX_MS = 60000,
    NOTE_EVERY_MS = 600000 /* versions that bring no change are noted so often */
};

enum trigger_watch_at { WATCH_NOTE, WATCH_RESOLVE, WATCH_BEGIN, WATCH_GAP, WATCH_LIVE, WATCH_WAIT };

static const struct sm_state trigger_watch_table[] = {
    [WATCH_NOTE] = { "note", EDGE(WATCH_RESOLVE) | EDGE(WATCH_WAIT) },
    [WATCH_RESOLVE] = { "resolve", EDGE(WATCH_BEGIN) | EDGE(WATCH_LIVE) | EDGE(WATCH_WAIT) },
    [WATCH_BEGIN] = { "begin", EDGE(WATCH_LIVE) | EDGE(WATCH_WAIT) },
    [WATCH_GAP] = { "gap", EDGE(WATCH_LIVE) | EDGE(WATCH_WAIT) },
    [WATCH_LIVE] = { "live", EDGE(WATCH_GAP) | EDGE(WATCH_WAIT) },
    [WATCH_WAIT] = { "wait", EDGE(WATCH_NOTE) | EDGE(WATCH_RESOLVE) | EDGE(WATCH_WAIT) },
};

struct trigger_watch {
    struct trigger *tr;
    struct sm sm; /* enum trigger_watch_at */
    bool ended;   /* watch_stop() was called: freed after the last pending callback */
    unsigned owed;
    uint64_t rv; /* fired up to here; 0: not known */
    int64_t wall_noted_ms;
    char *plural;
    bool namespaced;
    struct arena identity_arena;
    struct kube_identity *identity; /* NULL: the process's own */

    struct exchange *call; /* a GET */
    int status;
    struct buf body;
    struct buf next;  /* continue */
    uint64_t list_rv; /* of the last page */

    struct watch_sub *sub;
    size_t in_flight;
    bool paused, failed, list_waits;
    /* Of calls that could not be stored: the version before the first, and its time. */
    uint64_t before_failed;
    int64_t wall_before_failed_ms;
    struct timer retry;
    uint64_t retry_ms;
    struct defer turn; /* for a failure that was found inside a call */
};

static void on_retry(struct timer *t);
static void run(struct trigger_watch *w);
static void note_at(struct trigger_watch *w, uint64_t rv, int64_t wall_ms);

/* Continue from before the first change that could not be stored, if there is one. */
static void go_back(struct trigger_watch *w)
{
    if (w->before_failed && (w->rv == 0 || w->before_failed < w->rv)) {
        w->rv = w->before_failed;
        note_at(w, w->rv, w->wall_before_failed_ms);
    }
    w->before_failed = 0;
}

static void release(struct trigger_watch *w)
{
    if (!w->ended || w->owed > 0)
        return;
    assert(!w->call && !w->sub && w->in_flight == 0);
    struct trigger *tr = w->tr;
    timer_stop(tr->t->loop, &w->retry);
    defer_cancel(&w->turn);
    free(w->plural);
    buf_fini(&w->body);
    buf_fini(&w->next);
    arena_fini(&w->identity_arena);
    free(w);
    trigger_release(tr);
}

static void on_retry(struct timer *t)
{
    struct trigger_watch *w = container_of(t, struct trigger_watch, retry);
    assert(w->sm.at == WATCH_WAIT && !w->sub);
    if (w->call) { /* canceled, and not ended yet */
        timer_start(w->tr->t->loop, &w->retry, w->retry_ms, on_retry);
        return;
    }
    go_back(w); /* calls that were on their way to the disk may have failed meanwhile */
    sm_move(&w->sm, w->rv ? WATCH_RESOLVE : WATCH_NOTE);
    run(w);
}

static void drop_sub(struct trigger_watch *w)
{
    if (w->sub)
        watch_sub_cancel(take_ptr(&w->sub));
    w->paused = false;
}

/* ------------------------------------------------------------------ notes */

static void note_format(uint64_t rv, int64_t wall_ms, char ret[48])
{
    (void)snprintf(ret, 48, "%llu %lld", (unsigned long long)rv, (long long)wall_ms);
}

static void note_at(struct trigger_watch *w, uint64_t rv, int64_t wall_ms)
{
    char note[48];
    note_format(rv, wall_ms, note);
    w->wall_noted_ms = wall_ms;
    (void)async_note_put(w->tr->t->async, w->tr->note, str_of(note), NULL, NULL, NULL);
}

/*
 * Begin again from the note, after a while. Calls that are being stored are then recognised by
 * their keys.
 */
static void wait_and_retry(struct trigger_watch *w, const char *what, const struct err *err)
{
    struct trigger *tr = w->tr;
    drop_sub(w);
    if (w->call) /* of a list that began while calls were still on their way to the disk */
        exchange_cancel(w->call);
    tr->t->stats.failures++;
    log_warn("objects cannot be watched for a function, trying again",
             "function=" STR_FMT "/" STR_FMT " trigger=" STR_FMT " what=%s err=\"%s\"",
             STR_ARG(tr->namespace), STR_ARG(tr->name), STR_ARG(tr->spec.name), what,
             err_text(err));
    w->retry_ms = backoff_next(w->retry_ms, RETRY_FIRST_MS, RETRY_MAX_MS);
    sm_move(&w->sm, WATCH_WAIT);
    w->list_waits = false;
    buf_reset(&w->next); /* a list begins again: earlier pages may be missing */
    w->rv = 0;           /* read the note, unless a change failed */
    go_back(w);
    timer_start(tr->t->loop, &w->retry, w->retry_ms, on_retry);
}

/* ------------------------------------------------------------------ start */

static void on_note(void *arg, int r, struct str value, const struct err *err)
{
    struct trigger_watch *w = arg;
    struct str rv, time;
    w->owed--;
    if (w->ended) {
        release(w);
        return;
    }
    if (w->sm.at != WATCH_NOTE) /* a call failed since */
        return;
    if (r < 0) {
        wait_and_retry(w, "note", err);
        return;
    }
    w->rv = 0;
    w->wall_noted_ms = 0;
    if (value.p && str_cut(value, ' ', &rv, &time) &&
        parse_i64(time, 0, INT64_MAX, &w->wall_noted_ms) >= 0)
        (void)parse_u64(rv, 1, UINT64_MAX, &w->rv);
    sm_move(&w->sm, WATCH_RESOLVE);
    run(w);
}

/* ------------------------------------------------------------------ GET */

static void on_fetched(struct trigger_watch *w, int r, const struct err *err);

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct trigger_watch *w = arg;
    w->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct trigger_watch *w = arg;
    (void)buf_add_str(&w->body, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct trigger_watch *w = arg;
    w->call = NULL;
    w->owed--;
    if (w->ended)
        release(w);
    else if (w->sm.at != WATCH_WAIT)
        on_fetched(w, r < 0 ? r : w->body.failed, err);
}

static const struct exchange_events fetch_events = { .on_head = on_head,
                                                     .on_data = on_data,
                                                     .on_end = on_end };

static void fetch(struct trigger_watch *w, struct str target)
{
    struct err err = { 0 };
    struct kube_request req = { .identity = w->identity, .method = STR("GET"), .target = target };
    buf_reset(&w->body);
    w->status = 0;
    int r = transport_start(w->tr->t->transport, &req, &fetch_events, w, &w->call, &err);
    if (r < 0)
        wait_and_retry(w, "get", &err);
    else
        w->owed++;
}

static void add_group_version(struct buf *to, const struct trigger_watch *w)
{
    struct str gv = w->tr->spec.api_version;
    (void)buf_printf(to, "%s" STR_FMT, str_find_char(gv, '/') < 0 ? "/api/" : "/apis/",
                     STR_ARG(gv));
}

static struct str watched_namespace(const struct trigger_watch *w)
{
    struct str ns = w->tr->spec.namespace;
    if (!w->namespaced || str_is(ns, "*"))
        return STR("");
    return ns.n ? ns : w->tr->namespace;
}

static void fetch_list(struct trigger_watch *w, unsigned limit)
{
    struct buf target;
    struct str ns = watched_namespace(w);
    buf_init(&target, 16 << 10);
    add_group_version(&target, w);
    if (ns.n)
        (void)buf_printf(&target, "/namespaces/" STR_FMT, STR_ARG(ns));
    (void)buf_printf(&target, "/%s?limit=%u", w->plural, limit);
    if (w->tr->spec.label_selector.n) {
        (void)buf_add_cstr(&target, "&labelSelector=");
        (void)url_encode(&target, w->tr->spec.label_selector);
    }
    if (w->next.n) {
        (void)buf_add_cstr(&target, "&continue=");
        (void)url_encode(&target, buf_str(&w->next));
    }
    fetch(w, buf_str(&target));
    buf_fini(&target);
}

static void fetch_resources(struct trigger_watch *w)
{
    struct buf target;
    buf_init(&target, 1024);
    add_group_version(&target, w);
    fetch(w, buf_str(&target));
    buf_fini(&target);
}

/* ------------------------------------------------------------------ calls */

static void on_failed_turn(struct defer *d)
{
    struct trigger_watch *w = container_of(d, struct trigger_watch, turn);
    struct err err = { 0 };
    (void)err_set(&err, -EBUSY, "a call could not be stored");
    w->failed = false;
    wait_and_retry(w, "call", &err);
}

static void fail_later(struct trigger_watch *w)
{
    if (w->failed || w->ended || w->sm.at == WATCH_WAIT)
        return;
    w->failed = true;
    defer_start(w->tr->t->loop, &w->turn, on_failed_turn);
}

/* A call on its way to the disk. */
struct trigger_watch_change {
    struct trigger_watch *w;
    uint64_t before; /* the version that had been fired before */
    int64_t wall_before_ms;
};

static void on_list_stored(struct trigger_watch *w);

static void note_failure(struct trigger_watch *w, uint64_t before, int64_t wall_before_ms)
{
    if (w->before_failed == 0 || before < w->before_failed) {
        w->before_failed = before;
        w->wall_before_failed_ms = wall_before_ms;
    }
    fail_later(w);
}

static void on_submitted(void *arg, int r, const char id[ASYNC_ID_TEXT], bool is_repeat,
                         const struct err *err)
{
    struct trigger_watch_change *c = arg;
    struct trigger_watch *w = c->w;
    const struct trigger_watch_change was = *c;
    free(c);
    assert(w->owed > 0 && w->in_flight > 0);
    w->owed--;
    w->in_flight--;
    if (w->ended) {
        release(w);
        return;
    }
    if (r < 0) {
        note_failure(w, was.before, was.wall_before_ms);
        return;
    }
    w->retry_ms = 0;
    w->tr->t->stats.changes += !is_repeat;
    if (w->paused && w->sub && w->in_flight < TRIGGER_WATCH_INFLIGHT_MAX / 2) {
        w->paused = false;
        watch_sub_resume(w->sub);
    }
    if (w->list_waits && w->in_flight == 0 && !w->failed)
        on_list_stored(w);
}

static bool wants(const struct fn_trigger *s, const char *type)
{
    switch (type[0]) {
    case 'a':
        return s->on_added;
    case 'm':
        return s->on_modified;
    default:
        return s->on_deleted;
    }
}

/* type: "added", "modified", "deleted". noted: the version in the note once the call is stored. */
static void fire(struct trigger_watch *w, const char *type, const struct json *object, uint64_t rv,
                 uint64_t noted)
{
    struct trigger *tr = w->tr;
    struct json *meta = json_getc(object, "metadata");
    struct str uid = json_get_str(meta, "uid"), ns = json_get_str(meta, "namespace");
    struct str name = json_get_str(meta, "name");
    struct headers h = { 0 };
    struct buf text, body;
    char key[ASYNC_KEY_MAX_BYTES], note[48], time[RFC3339_MAX];
    if (!wants(&tr->spec, type))
        return;
    buf_init(&text, 2048);
    buf_init(&body, FETCH_MAX_BYTES);
    (void)headers_addc(&h, "ce-specversion", "1.0");
    (void)buf_printf(&text, "dev.dormouse.object.%s", type);
    (void)headers_add(&h, STR("ce-type"), buf_str(&text));
    buf_reset(&text);
    add_group_version(&text, w);
    if (ns.n)
        (void)buf_printf(&text, "/namespaces/" STR_FMT, STR_ARG(ns));
    (void)buf_printf(&text, "/%s", w->plural);
    (void)headers_add(&h, STR("ce-source"), buf_str(&text));
    (void)headers_add(&h, STR("ce-subject"), name);
    buf_reset(&text);
    (void)buf_printf(&text, STR_FMT "-%llu-%s", STR_ARG(uid), (unsigned long long)rv, type);
    (void)headers_add(&h, STR("ce-id"), buf_str(&text));
    rfc3339_format(trigger_now_s(), time);
    (void)headers_addc(&h, "ce-time", time);
    (void)headers_addc(&h, "content-type", "application/json");
    (void)snprintf(key, sizeof key, "watch/" STR_FMT "/" STR_FMT, STR_ARG(tr->spec.name),
                   STR_ARG(str_slice(buf_str(&text), 0, 160)));
    (void)json_write(&body, object);
    /* The time belongs to the version: during a list both keep the values from before it. */
    int64_t wall_ms = noted > w->rv ? clock_wall_ms() : w->wall_noted_ms;
    note_format(noted, wall_ms, note);
    struct async_call call = { .namespace = tr->namespace,
                               .name = tr->name,
                               .method = STR("POST"),
                               .target = tr->spec.path,
                               .headers = &h,
                               .body = buf_str(&body),
                               .key = str_of(key),
                               .publishes = true,
                               .note = tr->note,
                               .note_value = str_of(note) };
    struct trigger_watch_change *c = xnew(struct trigger_watch_change);
    *c = (struct trigger_watch_change){ w, w->rv, w->wall_noted_ms };
    if (async_submit(tr->t->async, &call, on_submitted, c, NULL) >= 0) {
        w->owed++;
        w->in_flight++;
        w->wall_noted_ms = wall_ms;
        w->rv = MAX(w->rv, noted);
    } else {
        free(c);
        note_failure(w, w->rv, w->wall_noted_ms);
    }
    buf_fini(&text);
    buf_fini(&body);
    headers_fini(&h);
}

/* ------------------------------------------------------------------ lists */

static bool take_plural(struct trigger_watch *w, const struct json *tree)
{
    json_each (res, json_getc(tree, "resources")) {
        struct str name = json_get_str(res, "name");
        if (!str_eq(json_get_str(res, "kind"), w->tr->spec.kind_name) ||
            str_find_char(name, '/') >= 0 || name.n == 0 || name.n > 253)
            continue;
        free(w->plural);
        w->plural = str_dup(name);
        w->namespaced = json_bool(json_getc(res, "namespaced"));
        return true;
    }
    return false;
}

static uint64_t version_of(const struct json *object)
{
    uint64_t rv = 0;
    (void)parse_u64(json_get_str(json_getc(object, "metadata"), "resourceVersion"), 1, UINT64_MAX,
                    &rv);
    return rv;
}

/* After a gap: fire for objects with a later version than the last one. */
static void fire_newer(struct trigger_watch *w, const struct json *list, uint64_t since)
{
    struct arena a = { 0 };
    json_each (item, json_getc(list, "items")) {
        int64_t us = 0;
        uint64_t rv = version_of(item);
        if (rv <= since)
            continue;
        (void)rfc3339_parse(json_get_str(json_getc(item, "metadata"), "creationTimestamp"), &us);
        bool is_new = us / 1000 >= w->wall_noted_ms / 1000 * 1000;
        struct json *whole = json_clone(&a, item);
        json_set_str(&a, whole, "apiVersion", w->tr->spec.api_version);
        json_set_str(&a, whole, "kind", w->tr->spec.kind_name);
        /*
         * A list is not ordered by version: the note keeps its version until the end of the list.
         */
        fire(w, is_new ? "added" : "modified", whole, rv, since);
    }
    arena_fini(&a);
}

/* All of the page is on disk: the next one, or the watch. */
static void on_list_stored(struct trigger_watch *w)
{
    w->list_waits = false;
    if (w->next.n) {
        fetch_list(w, PAGE);
        return;
    }
    w->rv = w->list_rv;
    note_at(w, w->rv, clock_wall_ms());
    sm_move(&w->sm, WATCH_LIVE);
    run(w);
}

static void on_listed(struct trigger_watch *w, const struct json *tree)
{
    struct str next = json_get_str(json_getc(tree, "metadata"), "continue");
    w->list_rv = MAX(version_of(tree), UINT64_C(1));
    buf_reset(&w->next);
    if (w->sm.at == WATCH_GAP) {
        fire_newer(w, tree, w->rv);
        (void)buf_add_str(&w->next, next);
    }
    w->list_waits = true;
    if (w->in_flight == 0 && !w->failed)
        on_list_stored(w);
}

static void on_fetched(struct trigger_watch *w, int r, const struct err *err)
{
    struct arena a = { .max_bytes = 16 * (size_t)FETCH_MAX_BYTES };
    struct json *tree = NULL;
    struct err text = { 0 };
    if (r >= 0 && w->status != 200)
        r = err_set(&text, w->status == 403 ? E_DENIED : -EPROTO, "the API answers %d", w->status);
    else if (r < 0)
        (void)err_set(&text, r, "%s", err_text(err));
    if (r >= 0)
        r = json_parse(&a, buf_str(&w->body), NULL, &tree, &text);
    buf_reset(&w->body);
    if (r >= 0 && w->sm.at == WATCH_RESOLVE && !take_plural(w, tree))
        r = err_set(&text, -ENOENT, "there is no kind '" STR_FMT "'",
                    STR_ARG(w->tr->spec.kind_name));
    if (r < 0) {
        buf_reset(&w->next);
        wait_and_retry(w, w->sm.at == WATCH_RESOLVE ? "kind" : "list", &text);
    } else if (w->sm.at == WATCH_RESOLVE) {
        sm_move(&w->sm, w->rv ? WATCH_LIVE : WATCH_BEGIN);
        run(w);
    } else {
        on_listed(w, tree);
    }
    arena_fini(&a);
}

/* ------------------------------------------------------------------ watch */

static void on_open(void *arg, int status, struct str body)
{
    struct trigger_watch *w = arg;
    w->status = status;
    if (status == 200)
        w->retry_ms = 0;
}

static void on_event(void *arg, const struct watch_event *ev)
{
    static const char *const words[] = { [WATCH_EVENT_ADDED] = "added",
                                         [WATCH_EVENT_MODIFIED] = "modified",
                                         [WATCH_EVENT_DELETED] = "deleted" };
    struct trigger_watch *w = arg;
    if (ev->type == WATCH_EVENT_ERROR) {
        w->status = 410; /* on_sub_end() follows */
        return;
    }
    if (ev->type == WATCH_EVENT_BOOKMARK) {
        if (w->in_flight == 0 && ev->rv > w->rv &&
            clock_wall_ms() - w->wall_noted_ms > NOTE_EVERY_MS) {
            w->rv = ev->rv;
            note_at(w, ev->rv, clock_wall_ms());
        }
        return;
    }
    const struct json *object = watch_event_object(ev);
    if (object)
        fire(w, words[ev->type], object, ev->rv, ev->rv);
    if (w->in_flight >= TRIGGER_WATCH_INFLIGHT_MAX && !w->paused) {
        w->paused = true;
        watch_sub_pause(w->sub);
    }
}

static void on_sub_end(void *arg)
{
    struct trigger_watch *w = arg;
    struct err err = { 0 };
    w->sub = NULL;
    w->paused = false;
    if (w->status == 410) {
        sm_move(&w->sm, WATCH_GAP);
        run(w);
        return;
    }
    (void)err_set(&err, -EPROTO, "the API answers %d", w->status);
    wait_and_retry(w, "watch", &err);
}

static const struct watch_sub_ops sub_ops = { .on_open = on_open,
                                              .on_event = on_event,
                                              .on_end = on_sub_end };

static void subscribe(struct trigger_watch *w)
{
    struct err err = { 0 };
    struct watch_key key = { .group_version = w->tr->spec.api_version,
                             .plural = str_of(w->plural),
                             .namespace = watched_namespace(w),
                             .label_selector = w->tr->spec.label_selector,
                             .identity = w->identity };
    w->status = 0;
    if (watch_hub_subscribe(w->tr->t->hub, &key, w->rv, true, &sub_ops, w, &w->sub, &err) < 0)
        wait_and_retry(w, "watch", &err);
}

/* Start the operation of the present state. */
static void run(struct trigger_watch *w)
{
    struct err err = { 0 };
    switch ((enum trigger_watch_at)w->sm.at) {
    case WATCH_NOTE:
        w->owed++;
        if (async_note_get(w->tr->t->async, w->tr->note, on_note, w, &err) < 0) {
            w->owed--;
            wait_and_retry(w, "note", &err);
        }
        break;
    case WATCH_RESOLVE:
        fetch_resources(w);
        break;
    case WATCH_BEGIN:
        fetch_list(w, 1);
        break;
    case WATCH_GAP:
        fetch_list(w, PAGE);
        break;
    case WATCH_LIVE:
        subscribe(w);
        break;
    case WATCH_WAIT:
        break;
    }
}

/* ------------------------------------------------------------------ interface */

static void make_identity(struct trigger_watch *w)
{
    const struct trigger *tr = w->tr;
    struct str ns = tr->spec.namespace;
    if (ns.n == 0 || str_eq(ns, tr->namespace))
        return;
    struct arena *a = &w->identity_arena;
    struct str *groups = arena_new_n(a, struct str, 3);
    groups[0] = STR("system:serviceaccounts");
    groups[1] = str_of(arena_printf(a, "system:serviceaccounts:" STR_FMT, STR_ARG(tr->namespace)));
    groups[2] = STR("system:authenticated");
    w->identity = arena_new(a, struct kube_identity);
    *w->identity = (struct kube_identity){
        .user = str_of(
            arena_printf(a, "system:serviceaccount:" STR_FMT ":default", STR_ARG(tr->namespace))),
        .groups = groups,
        .n_groups = 3,
    };
}

void watch_check(struct trigger *tr)
{
    struct triggers *t = tr->t;
    bool owns = t->functions.ops->owns(t->functions.arg, tr->namespace, tr->name);
    if (!owns)
        watch_stop(tr);
    if (!owns || tr->watch)
        return;
    struct trigger_watch *w = xnew(struct trigger_watch);
    w->tr = tr;
    sm_init(&w->sm, trigger_watch_table, WATCH_NOTE);
    buf_init(&w->body, FETCH_MAX_BYTES);
    buf_init(&w->next, 8192);
    tr->watch = w;
    trigger_hold(tr);
    make_identity(w);
    run(w);
}

void watch_stop(struct trigger *tr)
{
    struct trigger_watch *w = take_ptr(&tr->watch);
    if (!w)
        return;
    w->ended = true;
    timer_stop(tr->t->loop, &w->retry);
    defer_cancel(&w->turn);
    drop_sub(w);
    if (w->call)
        exchange_cancel(w->call);
    release(w);
}
