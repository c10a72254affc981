/* SPDX-License-Identifier: Apache-2.0 */
/* Watches of a declaration, and the keys that their events make; see interests.h. */
#include "operator/v1/interests.h"

#include "base/buf.h"
#include "base/slab.h"
#include "operator/v1/mapping.h"

#include <errno.h>

/* A watch in one namespace, or in all. */
struct interests_feed {
    struct interests_watch *watch;
    struct object_sub *sub;
    bool synced;
    int error; /* of the last on_error; 0: none since on_synced */
};

struct interests_watch {
    struct interests *cs;
    const struct declaration_watch *declared;
    enum watch_state state;
    bool was_synced, namespaced;
    struct kind_query *query; /* while FINDING or WAITING */
    struct interests_feed *feeds;
    size_t n_feeds;
    char *why;
};

/* A walk over the primaries, and its position. */
struct interests_walk {
    enum work_reason reason;
    bool is_for_all;            /* ignore the predicate */
    struct object_order *order; /* of feeds[feed]; NULL: not begun */
    size_t feed, at;            /* of the next key */
};

struct controller {
    struct interests *cs;
    const struct declaration_controller *declared;
    struct timer resync;
    struct interests_walk *walk; /* NULL: none is running */
    bool held;
};

struct interests {
    const struct interests_env *env;
    const struct declaration *declaration;
    struct dispatch_operator *dispatch;
    int (*who)(void *arg, struct identity_who *space, const struct kube_identity **ret,
               struct err *err);
    int (*may)(void *arg, struct str path, struct err *err);
    void (*on_change)(void *arg);
    void *arg;
    struct defer notify;
    struct controller *controllers;
    struct interests_watch watches[];
};

static void find_later(struct interests_watch *w, enum watch_state state, const char *why);

const char *v1_watch_state_name(enum watch_state state)
{
    static const char *const names[] = { "Finding",   "WaitingForKind", "Syncing",    "Synced",
                                         "Forbidden", "LimitReached",   "Unavailable" };
    return names[state];
}

/* ---------------------------------------------------------------- states */

static void on_notify(struct defer *d)
{
    struct interests *cs = container_of(d, struct interests, notify);
    cs->on_change(cs->arg); /* may free cs: nothing after this line */
}

/* Whether the controller can work while the watch is in this state. */
static bool is_usable(const struct interests_watch *w)
{
    switch (w->state) {
    case WATCH_SYNCED:
        return true;
    case WATCH_FINDING:
    case WATCH_WAITING:
    case WATCH_SYNCING:
    case WATCH_UNAVAILABLE:
        return w->was_synced;
    case WATCH_FORBIDDEN:
    case WATCH_LIMITED:
        return false;
    }
    return false;
}

static const struct interests_watch *watch_of(const struct controller *c, uint32_t i)
{
    return &c->cs->watches[c->declared->first_watch + i];
}

static bool can_work(const struct controller *c)
{
    for (uint32_t i = 0; i < c->declared->n_watches; i++)
        if (!is_usable(watch_of(c, i)))
            return false;
    return true;
}

static unsigned number_of(const struct controller *c)
{
    return (unsigned)(c - c->cs->controllers);
}

static void on_resync(struct timer *t);

static void update_hold(struct controller *c)
{
    bool held = !can_work(c);
    if (held != c->held)
        dispatch_hold_controller(c->cs->dispatch, number_of(c), held);
    c->held = held;
    if (!held && c->declared->resync_ms && !timer_is_armed(&c->resync))
        timer_start(c->cs->env->loop, &c->resync, c->declared->resync_ms, on_resync);
}

static void move(struct interests_watch *w, enum watch_state state, const char *why)
{
    struct interests *cs = w->cs;
    if (w->state == state && !strcmp(w->why ? w->why : "", why))
        return;
    w->state = state;
    w->was_synced |= state == WATCH_SYNCED;
    free(w->why);
    w->why = why[0] ? xstrdup(why) : NULL;
    if (w->declared->role != WATCH_CACHE)
        update_hold(&cs->controllers[w->declared->controller]);
    defer_start(cs->env->loop, &cs->notify, on_notify);
}

/* ---------------------------------------------------------------- walks */

static void free_walk(struct interests_walk *walk)
{
    if (!walk)
        return;
    object_order_free(walk->order);
    free(walk);
}

/* Start from the beginning, even if a walk is running: its reason was weaker or the same. */
static void begin_walk(struct controller *c, enum work_reason reason, bool is_for_all)
{
    is_for_all |= c->walk && c->walk->is_for_all;
    free_walk(c->walk);
    c->walk = xnew(struct interests_walk);
    c->walk->reason = reason;
    c->walk->is_for_all = is_for_all;
    dispatch_refill(c->cs->dispatch, number_of(c));
}

static void on_resync(struct timer *t)
{
    struct controller *c = container_of(t, struct controller, resync);
    begin_walk(c, WORK_RESYNC, false);
    timer_start(c->cs->env->loop, &c->resync, c->declared->resync_ms, on_resync);
}

/* Restart from the beginning when the walk continues. */
static void rewind_walk(struct interests_walk *walk)
{
    object_order_free(take_ptr(&walk->order));
    walk->feed = walk->at = 0;
}

/* Look up the next key of an order; returns whether the walk adds it. */
static bool is_wanted(const struct interests_walk *walk, const struct predicate *predicate,
                      const struct object_sub *sub, struct work_key key)
{
    struct change as_if_made = { .type = OBJECT_ADDED };
    as_if_made.now = object_sub_find(sub, key.namespace, key.name);
    return as_if_made.now && (walk->is_for_all || predicate_passes(predicate, &as_if_made));
}

/* Walk the primaries of one namespace, or of all, as far as there is room. */
static void walk_feed(struct controller *c, const struct interests_watch *primary,
                      const struct object_sub *sub, size_t *room)
{
    struct interests_walk *walk = c->walk;
    if (!walk->order)
        walk->order = object_sub_order(sub);
    while (*room > 0 && walk->at < object_order_n(walk->order)) {
        struct work_key key;
        object_order_get(walk->order, walk->at++, &key.namespace, &key.name);
        if (!is_wanted(walk, primary->declared->predicate, sub, key))
            continue;
        (void)dispatch_add(c->cs->dispatch, number_of(c), key, walk->reason, WORK_LOW, NULL);
        --*room;
    }
}

bool interests_refill(struct interests *cs, unsigned controller, bool is_new, size_t room)
{
    assert(controller < cs->declaration->n_controllers);
    struct controller *c = &cs->controllers[controller];
    const struct interests_watch *primary = watch_of(c, 0);
    room = MIN(room, (size_t)DISPATCH_REFILL);
    if (room == 0)
        return true;
    if (!c->walk) { /* the queue was full and has dropped keys */
        c->walk = xnew(struct interests_walk);
        c->walk->reason = WORK_RESYNC;
        c->walk->is_for_all = true; /* these include keys of mapped objects */
    }
    struct interests_walk *walk = c->walk;
    if (is_new)
        rewind_walk(walk);
    for (; walk->feed < primary->n_feeds; walk->feed++) {
        const struct object_sub *sub = primary->feeds[walk->feed].sub;
        if (sub)
            walk_feed(c, primary, sub, &room);
        if (walk->order && walk->at < object_order_n(walk->order))
            return true;
        object_order_free(take_ptr(&walk->order));
        walk->at = 0;
    }
    free_walk(take_ptr(&c->walk));
    return false;
}

void interests_reconcile_all(struct interests *cs, enum work_reason reason)
{
    for (size_t i = 0; i < cs->declaration->n_controllers; i++)
        begin_walk(&cs->controllers[i], reason, true);
}

struct interests_adding {
    struct controller *controller;
    enum work_reason reason;
    enum work_priority priority;
};

static void add_key(void *arg, struct work_key key)
{
    struct interests_adding *a = arg;
    /* A key that the queue refuses (no name, too long) cannot be an object's. */
    (void)dispatch_add(a->controller->cs->dispatch, number_of(a->controller), key, a->reason,
                       a->priority, NULL);
}

static bool add_object(void *arg, const struct cached_object *o)
{
    add_key(arg, (struct work_key){ cached_object_namespace(o), cached_object_name(o) });
    return true;
}

/* Queue all known keys of a primary. */
static void queue_feed(const struct interests_feed *f)
{
    struct interests_adding a = { &f->watch->cs->controllers[f->watch->declared->controller],
                                  WORK_RESYNC, WORK_LOW };
    if (f->sub)
        object_sub_each(f->sub, STR(""), add_object, &a);
}

void interests_queue_all(struct interests *cs)
{
    for (size_t i = 0; i < cs->declaration->n_controllers; i++) {
        const struct interests_watch *primary = watch_of(&cs->controllers[i], 0);
        for (size_t at = 0; at < primary->n_feeds; at++)
            queue_feed(&primary->feeds[at]);
    }
}

/* ---------------------------------------------------------------- events */

static enum work_reason reason_of(enum watch_role role, enum object_event type, bool initial)
{
    if (initial)
        return WORK_INITIAL;
    if (role == WATCH_OWNS)
        return WORK_OWNED;
    if (role == WATCH_MAPPED)
        return WORK_MAPPED;
    return type == OBJECT_ADDED ? WORK_CREATE : type == OBJECT_UPDATED ? WORK_UPDATE : WORK_DELETE;
}

static void on_event(void *arg, enum object_event type, const struct cached_object *now,
                     const struct cached_object *before, bool initial)
{
    struct interests_feed *f = arg;
    struct interests_watch *w = f->watch;
    struct change change = { type, now, before };
    const struct declaration_watch *declared = w->declared;
    if (declared->role == WATCH_CACHE || !predicate_passes(declared->predicate, &change))
        return;
    /*
     * A walk follows the first list of primaries. A watch with a constant mapping needs no event
     * for each object of its own first list.
     */
    if (initial && (declared->role == WATCH_FOR || mapping_is_constant(declared)))
        return;
    struct controller *c = &w->cs->controllers[declared->controller];
    const struct interests_watch *primary = watch_of(c, 0);
    struct object_sub *subs[DECLARATION_MAX_NAMESPACES];
    struct mapping m = { .watch = declared,
                         .primary = primary->declared,
                         .primary_namespaced = primary->namespaced,
                         .sub = f->sub,
                         .primary_subs = subs };
    for (size_t i = 0; i < primary->n_feeds; i++)
        if (primary->feeds[i].sub)
            subs[m.n_primary_subs++] = primary->feeds[i].sub;
    struct interests_adding adding = { .controller = c,
                                       .reason = reason_of(declared->role, type, initial),
                                       .priority = initial ? WORK_LOW : WORK_NORMAL };
    if (before)
        mapping_keys(&m, before, add_key, &adding);
    if (now)
        mapping_keys(&m, now, add_key, &adding);
}

/* The first lists of all feeds have arrived. */
static void finish_sync(struct interests_watch *w)
{
    for (size_t i = 0; i < w->n_feeds; i++)
        if (!w->feeds[i].synced || w->feeds[i].error)
            return;
    const struct declaration_watch *declared = w->declared;
    bool again = w->was_synced;
    assert(w->n_feeds > 0 && !w->query);
    move(w, WATCH_SYNCED, "");
    if (declared->role == WATCH_FOR)
        begin_walk(&w->cs->controllers[declared->controller], WORK_INITIAL, false);
    else if (again && declared->role != WATCH_CACHE) /* missed deletions are unknown */
        begin_walk(&w->cs->controllers[declared->controller], WORK_RESYNC, false);
    if (declared->role == WATCH_MAPPED && mapping_is_constant(declared)) {
        struct controller *c = &w->cs->controllers[declared->controller];
        if (declared->map->kind == MAP_ALL) {
            begin_walk(c, WORK_INITIAL, true);
        } else {
            struct work_key key = { watch_of(c, 0)->namespaced ? declared->map->namespace : STR(""),
                                    declared->map->name };
            (void)dispatch_add(w->cs->dispatch, number_of(c), key, WORK_INITIAL, WORK_LOW, NULL);
        }
    }
}

static void on_synced(void *arg, uint64_t rv)
{
    struct interests_feed *f = arg;
    f->synced = true;
    f->error = 0;
    finish_sync(f->watch);
}

static void on_error(void *arg, int r, const struct err *err)
{
    struct interests_feed *f = arg;
    struct interests_watch *w = f->watch;
    bool stands = r != E_DENIED && r != -ENOENT && r != E_LIMIT;
    if (stands && f->synced)
        return; /* the cache continues when the API is available again; nothing is lost */
    /*
     * Deletions are not reported while the objects are not visible: queue the keys, which wait
     * until then.
     */
    if (f->synced && w->declared->role == WATCH_FOR)
        queue_feed(f);
    f->synced = false;
    f->error = r;
    if (r == -ENOENT)
        find_later(w, WATCH_WAITING, "the kind is not served any more");
    else
        move(w,
             r == E_DENIED  ? WATCH_FORBIDDEN
             : r == E_LIMIT ? WATCH_LIMITED
                            : WATCH_UNAVAILABLE,
             err_text(err));
}

/* ---------------------------------------------------------------- subscriptions */

static void unsubscribe(struct interests_watch *w)
{
    for (size_t i = 0; i < w->n_feeds; i++)
        object_sub_cancel(w->feeds[i].sub);
    slab_free(take_ptr(&w->feeds));
    w->n_feeds = 0;
}

/* An operator's allow list also applies to what the host reads on its behalf. */
static int check_path(const struct interests_watch *w, const struct discovery_kind *kind,
                      struct str namespace, struct err *err)
{
    struct str gv = w->declared->api_version;
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(4096);
    (void)buf_printf(&path, "/%s/" STR_FMT, str_find_char(gv, '/') < 0 ? "api" : "apis",
                     STR_ARG(gv));
    if (namespace.n)
        (void)buf_printf(&path, "/namespaces/" STR_FMT, STR_ARG(namespace));
    (void)buf_printf(&path, "/" STR_FMT, STR_ARG(kind->plural));
    return w->cs->may(w->cs->arg, buf_str(&path), err);
}

static int subscribe_one(struct interests_watch *w, struct interests_feed *f,
                         const struct discovery_kind *kind, const struct kube_identity *who,
                         struct str namespace, struct err *err)
{
    static const struct object_sub_ops ops = { .on_event = on_event,
                                               .on_synced = on_synced,
                                               .on_error = on_error };
    const struct declaration_watch *d = w->declared;
    struct object_field fields[MAPPING_FIELDS_MAX];
    struct object_sub_opts opts = { .group_version = d->api_version,
                                    .plural = kind->plural,
                                    .namespace = kind->namespaced ? namespace : STR(""),
                                    .name = d->name,
                                    .label_selector = d->label_selector,
                                    .field_selector = d->field_selector,
                                    .identity = who,
                                    .metadata_only = d->metadata_only,
                                    .strip = d->strip,
                                    .n_strip = d->n_strip,
                                    .fields = fields,
                                    .n_fields = mapping_fields(d, fields),
                                    .ops = &ops,
                                    .arg = f };
    f->watch = w;
    return object_cache_subscribe(w->cs->env->cache, &opts, &f->sub, err);
}

static int subscribe(struct interests_watch *w, const struct discovery_kind *kind, struct err *err)
{
    const struct declaration_watch *d = w->declared;
    struct identity_who space;
    const struct kube_identity *who = NULL;
    int r = w->cs->who(w->cs->arg, &space, &who, err);
    if (r < 0)
        return r;
    size_t n = kind->namespaced && d->n_namespaces ? d->n_namespaces : 1;
    assert(!w->feeds && w->n_feeds == 0 && !w->query);
    w->feeds = slab_alloc(n * sizeof *w->feeds);
    w->n_feeds = n;
    w->namespaced = kind->namespaced;
    for (size_t i = 0; i < n; i++) {
        struct str namespace = d->n_namespaces && kind->namespaced ? d->namespaces[i] : STR("");
        r = check_path(w, kind, namespace, err);
        if (r >= 0)
            r = subscribe_one(w, &w->feeds[i], kind, who, namespace, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void on_found(struct kind_query *q, const struct discovery_kind *kind);
static void on_missing(struct kind_query *q, const struct err *err);

struct watch_query {
    struct kind_query base;
    struct interests_watch *watch;
};

static struct kind_query *new_query(struct interests_watch *w)
{
    struct watch_query *q = xnew(struct watch_query);
    assert(!w->query);
    q->watch = w;
    q->base.group_version = w->declared->api_version;
    q->base.kind = w->declared->kind;
    q->base.on_found = on_found;
    q->base.on_missing = on_missing;
    w->query = &q->base;
    return w->query;
}

/*
 * Unsubscribe, and start over when the cause may have been resolved. Readers are notified; their
 * reaction may free the watch.
 */
static void find_later(struct interests_watch *w, enum watch_state state, const char *why)
{
    struct interests_feed *feeds = take_ptr(&w->feeds);
    size_t n = w->n_feeds;
    struct err err = { 0 };
    (void)err_set(&err, -EAGAIN, "%s", why);
    w->n_feeds = 0;
    move(w, state, why);
    kinds_ask_later(w->cs->env->kinds, new_query(w));
    for (size_t i = 0; i < n; i++) {
        if (feeds[i].sub)
            object_sub_end_reads(feeds[i].sub, -EAGAIN, &err);
        object_sub_cancel(feeds[i].sub);
    }
    slab_free(feeds);
}

static void on_missing(struct kind_query *q, const struct err *err)
{
    struct interests_watch *w = container_of(q, struct watch_query, base)->watch;
    assert(w->query == q && w->n_feeds == 0);
    move(w, WATCH_WAITING, err_text(err));
}

static void on_found(struct kind_query *q, const struct discovery_kind *kind)
{
    struct interests_watch *w = container_of(q, struct watch_query, base)->watch;
    struct err err = { 0 };
    assert(w->query == q);
    w->query = NULL;
    int r = subscribe(w, kind, &err);
    if (r >= 0) {
        move(w, WATCH_SYNCING, "");
    } else if (r == E_DENIED) { /* until another spec is applied */
        move(w, WATCH_FORBIDDEN, err_text(&err));
        unsubscribe(w);
    } else if (r != E_INVALID) {
        find_later(w, r == E_LIMIT ? WATCH_LIMITED : WATCH_UNAVAILABLE, err_text(&err));
    } else { /* an error of the declaration that only the cache could detect */
        move(w, WATCH_UNAVAILABLE, err_text(&err));
        unsubscribe(w);
    }
    free(container_of(q, struct watch_query, base));
}

/* ---------------------------------------------------------------- public */

int interests_start(const struct interests_opts *opts, struct interests **ret, struct err *err)
{
    const struct declaration *d = opts->declaration;
    struct interests *cs = slab_alloc(sizeof *cs + d->n_watches * sizeof cs->watches[0]);
    cs->env = opts->env;
    cs->declaration = d;
    cs->dispatch = opts->dispatch;
    cs->on_change = opts->on_change;
    cs->arg = opts->arg;
    cs->who = opts->who;
    cs->may = opts->may;
    cs->controllers = slab_alloc(d->n_controllers * sizeof *cs->controllers);
    for (size_t i = 0; i < d->n_controllers; i++) {
        struct controller *c = &cs->controllers[i];
        c->cs = cs;
        c->declared = &d->controllers[i];
        c->held = true;
        dispatch_hold_controller(cs->dispatch, (unsigned)i, true);
    }
    for (size_t i = 0; i < d->n_watches; i++) {
        cs->watches[i].cs = cs;
        cs->watches[i].declared = &d->watches[i];
        kinds_ask(cs->env->kinds, new_query(&cs->watches[i]));
    }
    *ret = cs;
    return 0;
}

void interests_free(struct interests *cs)
{
    if (!cs)
        return;
    for (size_t i = 0; i < cs->declaration->n_watches; i++) {
        struct interests_watch *w = &cs->watches[i];
        unsubscribe(w);
        if (w->query) {
            kinds_cancel(cs->env->kinds, w->query);
            free(container_of(w->query, struct watch_query, base));
        }
        free(w->why);
    }
    for (size_t i = 0; i < cs->declaration->n_controllers; i++) {
        timer_stop(cs->env->loop, &cs->controllers[i].resync);
        free_walk(cs->controllers[i].walk);
    }
    defer_cancel(&cs->notify);
    slab_free(cs->controllers);
    slab_free(cs);
}

void interests_watch_view(const struct interests *cs, size_t i, struct watch_view *ret)
{
    const struct interests_watch *w = &cs->watches[i];
    *ret = (struct watch_view){ .state = w->state,
                                .was_synced = w->was_synced,
                                .why = w->why ? w->why : "" };
}

bool interests_caches_settled(const struct interests *cs)
{
    for (size_t i = 0; i < cs->declaration->n_watches; i++) {
        const struct interests_watch *w = &cs->watches[i];
        if (w->declared->role == WATCH_CACHE &&
            (w->state == WATCH_FINDING || w->state == WATCH_SYNCING))
            return false;
    }
    return true;
}

bool interests_synced(const struct interests *cs)
{
    for (size_t i = 0; i < cs->declaration->n_controllers; i++)
        if (cs->controllers[i].held)
            return false;
    return true;
}

size_t interests_subs(const struct interests *cs, size_t watch, struct object_sub **ret, size_t max)
{
    const struct interests_watch *w = &cs->watches[watch];
    size_t n = 0;
    for (size_t i = 0; i < w->n_feeds && n < max; i++)
        if (w->feeds[i].sub)
            ret[n++] = w->feeds[i].sub;
    return n;
}

struct object_sub *interests_sub(const struct interests *cs, size_t watch, struct str namespace)
{
    const struct interests_watch *w = &cs->watches[watch];
    const struct declaration_watch *d = w->declared;
    if (w->n_feeds == 0)
        return NULL;
    if (w->n_feeds == 1 && !(d->n_namespaces && w->namespaced))
        return w->feeds[0].sub;
    for (size_t i = 0; i < w->n_feeds; i++)
        if (str_eq(d->namespaces[i], namespace))
            return w->feeds[i].sub;
    return NULL;
}
