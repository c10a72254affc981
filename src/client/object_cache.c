/* SPDX-License-Identifier: Apache-2.0 */
/* The cache and its subscriptions; see object_cache.h, and object_cache_impl.h for their states. */
#include "client/object_cache_impl.h"

#include "base/backoff.h"
#include "base/log.h"
#include "base/slab.h"
#include "base/sys.h"
#include "codec/url.h"
#include "kube/model/jsonpath.h"

enum {
    WIDEN_AT = 8,
    WIDEN_LABELS_AT = 16 /* selectors of a resource, with an embedded API */
};

/* A change that has not been delivered: the state of the object before the oldest such change. */
struct object_cache_pending {
    struct list node;
    struct cached_object *before; /* facts only; NULL: the object did not exist */
    struct str namespace, name;   /* point into the map's key */
};

/* ---------------------------------------------------------------- callbacks and deferred frees */

static void free_sub(struct object_sub *sub);

void cache_enter(struct object_cache *c)
{
    c->depth++;
}

void cache_leave(struct object_cache *c)
{
    assert(c->depth > 0);
    if (c->depth > 1 || list_is_empty(&c->graves)) {
        c->depth--;
        return;
    }
    struct list *node;
    while ((node = list_pop_front(&c->graves)))
        free_sub(list_entry(node, struct object_sub, pump_node));
    c->depth--;
}

void cache_unref_object(void *cache, struct cached_object *o)
{
    struct object_cache *c = cache;
    cached_object_unref(&c->interner, o);
}

static void on_pump(struct defer *d);

void object_sub_schedule(struct object_sub *sub)
{
    struct object_cache *c = sub->cache;
    if (sub->dead)
        return;
    if (!list_is_linked(&sub->pump_node))
        list_push_back(&c->pump, &sub->pump_node);
    defer_start(c->opts.loop, &c->pump_defer, on_pump);
}

/* ---------------------------------------------------------------- what a subscription sees */

struct str object_sub_namespace(const struct object_sub *sub)
{
    return str_n(sub->tail + sub->shape->n_fields, sub->n_namespace);
}

struct str object_sub_name(const struct object_sub *sub)
{
    return str_n(sub->tail + sub->shape->n_fields + sub->n_namespace, sub->n_name);
}

const struct kube_identity *object_sub_identity(const struct object_sub *sub, struct arena *a)
{
    return sub->verdict ? cache_verdict_identity(sub->verdict, a) : NULL;
}

/* The informer scope that the subscription needs, in the arena, with the user that it is watched
 * as. */
static struct object_cache_scope scope_of(const struct object_sub *sub, struct arena *a)
{
    struct object_cache_scope s = sub->shape->scope;
    s.namespace = object_sub_namespace(sub);
    s.name = object_sub_name(sub);
    if (sub->as_user)
        s.as = object_sub_identity(sub, a)->user;
    return s;
}

bool object_sub_covers_name(const struct object_sub *sub, struct str namespace, struct str name)
{
    return (sub->n_namespace == 0 || str_eq(object_sub_namespace(sub), namespace)) &&
           (sub->n_name == 0 || str_eq(object_sub_name(sub), name));
}

bool object_sub_sees(const struct object_sub *sub, const struct cached_object *o)
{
    return object_sub_covers_name(sub, cached_object_namespace(o), cached_object_name(o)) &&
           cached_object_has_labels(o, &sub->shape->labels);
}

bool object_sub_is_ready(const struct object_sub *sub)
{
    return sub->informer->ready && sub->informer->n_lists >= sub->needs_lists;
}

/* ---------------------------------------------------------------- delivering events */

static void call(struct object_sub *sub, enum object_event type, const struct cached_object *now,
                 const struct cached_object *before, bool initial)
{
    if (sub->dead)
        return;
    assert(sub->cache->depth > 0 && (now || before));
    sub->cache->stats.delivered++;
    sub->ops->on_event(sub->arg, type, now, before, initial);
}

/*
 * Deliver a change as the subscription sees it: an object that leaves its selector is deleted, one
 * that enters it is new.
 */
static void deliver(struct object_sub *sub, const struct cached_object *before,
                    const struct cached_object *now, bool initial)
{
    if (before && !object_sub_sees(sub, before))
        before = NULL;
    if (now && !object_sub_sees(sub, now))
        now = NULL;
    if (before && now && cached_object_same_uid(before, now)) {
        call(sub, OBJECT_UPDATED, now, before, initial);
        return;
    }
    if (before)
        call(sub, OBJECT_DELETED, NULL, before, initial);
    if (now)
        call(sub, OBJECT_ADDED, now, NULL, initial);
}

/* Removes one entry, and frees the backlog after the last. */
static void drop_pending(struct object_sub *sub, struct object_cache_pending *p)
{
    char key[1024];
    struct cache_backlog *b = sub->backlog;
    assert(b && b->map.n > 0 && list_is_linked(&p->node));
    list_remove(&p->node);
    cached_object_unref(&sub->cache->interner, p->before);
    size_t n = p->namespace.n + 1 + p->name.n;
    if (n <= sizeof key) { /* a copy: map_del() frees the map's own key */
        memcpy(key, p->namespace.p, n);
        (void)map_del(&b->map, str_n(key, n));
    } else {
        scoped(free_scoped) char *copy = xstrndup(p->namespace.p, n);
        (void)map_del(&b->map, str_n(copy, n));
    }
    free(p);
    if (!list_is_empty(&b->list))
        return;
    assert(b->map.n == 0);
    map_fini(&b->map);
    free(take_ptr(&sub->backlog));
}

/* `before`: reference held by the caller. */
static void add_pending(struct object_sub *sub, const struct cached_object *before,
                        const struct cached_object *now)
{
    const struct cached_object *o = now ? now : before;
    bool concerns = (before && object_sub_sees(sub, before)) || (now && object_sub_sees(sub, now));
    struct str namespace = cached_object_namespace(o), name = cached_object_name(o);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_str(&key, namespace);
    (void)buf_add_char(&key, '/');
    (void)buf_add_str(&key, name);
    if (!concerns || (sub->backlog && map_has(&sub->backlog->map, buf_str(&key))))
        return; /* merged: the object's new state is looked up at delivery */
    if (!sub->backlog) {
        sub->backlog = xnew(struct cache_backlog);
        list_init(&sub->backlog->list);
    }
    struct object_cache_pending *p = xnew(struct object_cache_pending);
    (void)map_put(&sub->backlog->map, buf_str(&key), p);
    struct str held = map_find(&sub->backlog->map, buf_str(&key))->key;
    p->namespace = str_slice(held, 0, namespace.n);
    p->name = str_slice(held, namespace.n + 1, held.n);
    if (before)
        p->before = cached_object_facts(before);
    list_push_back(&sub->backlog->list, &p->node);
}

static bool may_deliver(const struct object_sub *sub)
{
    return !sub->verdict || cache_verdict_allows(sub->verdict);
}

void object_sub_take(struct object_sub *sub, struct cached_object *before,
                     struct cached_object *now)
{
    assert(!sub->dead && sub->at != OBJECT_SUB_OUTSIDE && sub->cache->depth > 0);
    if (sub->at == OBJECT_SUB_LIVE && !sub->paused && !sub->backlog && may_deliver(sub)) {
        deliver(sub, before, now, false);
        return;
    }
    add_pending(sub, before, now);
    if (!sub->paused)
        object_sub_schedule(sub);
}

/* ---------------------------------------------------------------- losing the informer */

void object_cache_snapshot_unref(struct object_cache *c, struct object_cache_snapshot *s)
{
    if (!s)
        return;
    assert(s->refs > 0);
    if (--s->refs > 0)
        return;
    if (s->informer->snapshot == s)
        s->informer->snapshot = NULL;
    for (uint32_t i = 0; i < s->n; i++)
        cached_object_unref(&c->interner, s->o[i]);
    free(s);
}

static void go_outside(struct object_sub *sub)
{
    sub->at = OBJECT_SUB_OUTSIDE;
    object_cache_snapshot_unref(sub->cache, take_ptr(&sub->snapshot));
    while (sub->backlog)
        drop_pending(sub, list_first(&sub->backlog->list, struct object_cache_pending, node));
}

void object_sub_report(struct object_sub *sub, int code, const struct err *err)
{
    assert(code < 0);
    if (sub->reported == code || sub->dead)
        return;
    sub->reported = code;
    cache_enter(sub->cache);
    sub->ops->on_error(sub->arg, code, err);
    cache_leave(sub->cache);
}

void object_sub_lose(struct object_sub *sub, int code, const struct err *err)
{
    cache_enter(sub->cache);
    go_outside(sub);
    cache_reads_fail(sub, code, err);
    object_sub_report(sub, code, err);
    cache_leave(sub->cache);
}

static void on_denied_retry(struct timer *t)
{
    object_sub_schedule(container_of(t, struct cache_denial, retry)->sub);
}

static void forget_denial(struct object_sub *sub)
{
    if (!sub->denial)
        return;
    timer_stop(sub->cache->opts.loop, &sub->denial->retry);
    list_remove(&sub->denial->node);
    assert(sub->cache->n_denials > 0);
    sub->cache->n_denials--;
    free(take_ptr(&sub->denial));
}

static bool was_denied_just_now(const struct object_sub *sub)
{
    return sub->denial && timer_is_armed(&sub->denial->retry);
}

static void deny(struct object_sub *sub)
{
    struct err err = *cache_verdict_err(sub->verdict);
    assert(!sub->dead && !was_denied_just_now(sub));
    if (!sub->denial) {
        sub->denial = xnew(struct cache_denial);
        sub->denial->sub = sub;
        list_push_back(&sub->cache->denials, &sub->denial->node);
        sub->cache->n_denials++;
    }
    struct cache_denial *d = sub->denial;
    struct rng rng = { sys_random_u64() };
    uint64_t wait = backoff_wait(sub->cache->opts.denied_ms, DENIED_MAX_MS, d->failures++);
    if (!timer_is_armed(&d->retry))
        timer_start(sub->cache->opts.loop, &d->retry, backoff_jitter(&rng, wait, wait + wait / 4),
                    on_denied_retry);
    sub->cache->stats.denied++;
    object_sub_lose(sub, E_DENIED, &err);
}

static void on_ask_again(struct timer *t)
{
    struct object_cache *c = container_of(t, struct object_cache, ask_timer);
    unsigned n = MIN(MIN(c->n_to_ask, c->n_denials), (unsigned)OBJECT_CACHE_ASK_MAX);
    c->n_to_ask -= MIN(c->n_to_ask, (unsigned)OBJECT_CACHE_ASK_MAX);
    for (; n > 0; n--) {
        struct cache_denial *d = list_entry(list_pop_front(&c->denials), struct cache_denial, node);
        list_push_back(&c->denials, &d->node);
        d->failures = 0;
        timer_stop(c->opts.loop, &d->retry);
        cache_verdict_forget_denial(d->sub->verdict);
        object_sub_schedule(d->sub);
    }
    if (c->n_to_ask)
        timer_start(c->opts.loop, &c->ask_timer, OBJECT_CACHE_ASK_MS, on_ask_again);
}

void object_cache_ask_again(struct object_cache *c)
{
    c->n_to_ask = c->n_denials;
    if (c->n_to_ask && !c->closing && !timer_is_armed(&c->ask_timer))
        timer_start(c->opts.loop, &c->ask_timer, OBJECT_CACHE_ASK_MS, on_ask_again);
}

/* ---------------------------------------------------------------- state changes */

static bool has_work(const struct object_sub *sub)
{
    return sub->at != OBJECT_SUB_LIVE || sub->backlog || !list_is_empty(&sub->reads);
}

static void run_snapshot(struct object_sub *sub)
{
    struct object_cache_snapshot *s = sub->snapshot;
    assert(sub->at == OBJECT_SUB_SNAPSHOT && s && s->informer == sub->informer &&
           sub->snapshot_at <= s->n);
    for (unsigned n = 0; n < PUMP_PER_TURN && sub->snapshot_at < s->n; n++) {
        sub->cache->pumped++;
        deliver(sub, NULL, s->o[sub->snapshot_at++], true);
        if (sub->dead || sub->paused || sub->snapshot != s)
            return;
    }
    if (sub->snapshot_at < s->n)
        return;
    uint64_t rv = s->rv;
    sub->at = OBJECT_SUB_LIVE;
    object_cache_snapshot_unref(sub->cache, take_ptr(&sub->snapshot));
    sub->reported = 0;
    forget_denial(sub);
    sub->ops->on_synced(sub->arg, rv);
}

static void run_pending(struct object_sub *sub)
{
    assert(sub->at == OBJECT_SUB_LIVE && !sub->snapshot);
    for (unsigned n = 0; n < PUMP_PER_TURN && sub->backlog; n++) {
        sub->cache->pumped++;
        struct object_cache_pending *p =
            list_first(&sub->backlog->list, struct object_cache_pending, node);
        const struct object_table *t = &sub->informer->table;
        uint32_t slot = object_table_find(t, p->namespace, p->name);
        struct cached_object *now = slot ? cached_object_ref(object_table_at(t, slot)) : NULL;
        struct cached_object *before = take_ptr(&p->before);
        drop_pending(sub, p);
        if (!before || !now || before->rv != now->rv)
            deliver(sub, before, now, false);
        cached_object_unref(&sub->cache->interner, before);
        cached_object_unref(&sub->cache->interner, now);
        if (sub->dead || sub->paused || sub->at != OBJECT_SUB_LIVE)
            return;
    }
}

/* Its informer is not ready: reads fail, and the error is reported. */
static void run_without_informer(struct object_sub *sub)
{
    const struct cache_informer *f = sub->informer;
    struct err err = { 0 };
    if (f->trouble && f->trouble != -EIO) {
        err = f->trouble_err;
        object_sub_lose(sub, f->trouble, &err);
        return;
    }
    (void)err_set(&err, -EAGAIN, "the first list of '" STR_FMT "' is not there yet",
                  STR_ARG(f->scope.plural));
    cache_reads_fail(sub, -EAGAIN, &err);
    if (f->trouble)
        object_sub_report(sub, f->trouble, &f->trouble_err);
}

/* The only place that changes the state of a subscription. */
static void sub_run(struct object_sub *sub)
{
    if (sub->dead || !has_work(sub))
        return;
    if (was_denied_just_now(sub)) {
        cache_reads_fail(sub, E_DENIED, cache_verdict_err(sub->verdict));
        return;
    }
    if (!object_sub_is_ready(sub)) {
        run_without_informer(sub);
        return;
    }
    int may = sub->verdict ? cache_verdict_check(sub->verdict, sub) : 1;
    if (may < 0)
        deny(sub);
    if (may <= 0)
        return;
    cache_reads_run(sub);
    if (sub->paused || sub->dead)
        return;
    if (sub->at == OBJECT_SUB_OUTSIDE) {
        assert(!sub->snapshot && !sub->backlog);
        sub->snapshot = cache_informer_snapshot(sub->informer, sub);
        sub->snapshot_at = 0;
        sub->at = OBJECT_SUB_SNAPSHOT;
    }
    if (sub->at == OBJECT_SUB_SNAPSHOT)
        run_snapshot(sub);
    else
        run_pending(sub);
    if (!sub->dead && !sub->paused && (sub->at == OBJECT_SUB_SNAPSHOT || sub->backlog))
        object_sub_schedule(sub);
}

static void on_pump(struct defer *d)
{
    struct object_cache *c = container_of(d, struct object_cache, pump_defer);
    struct list round;
    assert(c->depth == 0 && !c->closing);
    list_move_all(&c->pump, &round);
    cache_enter(c);
    struct list *node;
    c->pumped = 0;
    while (c->pumped < PUMP_ALL_PER_TURN && (node = list_pop_front(&round)))
        sub_run(list_entry(node, struct object_sub, pump_node));
    cache_leave(c);
    if (list_is_empty(&round))
        return;
    /* Put the remaining subscriptions before those that were scheduled in this turn. */
    struct list behind;
    list_move_all(&c->pump, &behind);
    list_move_all(&round, &c->pump);
    while ((node = list_pop_front(&behind)))
        list_push_back(&c->pump, node);
    defer_start(c->opts.loop, &c->pump_defer, on_pump);
}

/* ---------------------------------------------------------------- choosing an informer */

static bool same_but_place(const struct object_cache_scope *a, const struct object_cache_scope *b)
{
    return str_eq(a->plural, b->plural) && str_eq(a->group_version, b->group_version) &&
           str_eq(a->label_selector, b->label_selector) &&
           str_eq(a->field_selector, b->field_selector) && str_eq(a->strip, b->strip) &&
           str_eq(a->as, b->as) && a->metadata_only == b->metadata_only;
}

/* The best existing informer for the scope, or NULL. */
static struct cache_informer *find_informer(const struct object_cache *c,
                                            const struct object_cache_scope *want)
{
    struct cache_informer *found = NULL;
    list_each (node, &c->informers) {
        struct cache_informer *f = list_entry(node, struct cache_informer, node);
        if (!cache_informer_serves(f, want))
            continue;
        if (str_eq(f->scope.namespace, want->namespace) && str_eq(f->scope.name, want->name) &&
            same_but_place(&f->scope, want))
            return f;
        if (!found || (f->ready && !found->ready))
            found = f;
    }
    return found;
}

/* The scope of a new informer: what was asked for, or a wider one where that serves many. */
static struct object_cache_scope widen(const struct object_cache *c,
                                       const struct object_cache_scope *want)
{
    struct object_cache_scope wide = *want;
    if (want->as.n)
        return wide; /* this user's rights to more are unknown */
    unsigned narrow = 0, selectors = 0;
    bool forbidden = false;
    list_each (node, &c->informers) {
        const struct cache_informer *f = list_entry(node, struct cache_informer, node);
        bool same_resource = str_eq(f->scope.plural, want->plural) &&
                             str_eq(f->scope.group_version, want->group_version) &&
                             f->scope.as.n == 0;
        bool is_wide = f->scope.namespace.n == 0 && f->scope.name.n == 0;
        forbidden = forbidden || (same_resource && is_wide && f->trouble == E_DENIED);
        selectors += same_resource && f->scope.label_selector.n;
        narrow += same_but_place(&f->scope, want) && f->scope.namespace.n && !f->scope.name.n;
    }
    if (forbidden)
        return wide;
    if (c->opts.embedded) {
        wide.name = wide.namespace = STR("");
        if (selectors >= WIDEN_LABELS_AT)
            wide.label_selector = STR("");
    } else if (!want->name.n && narrow >= c->opts.widen_at) {
        wide.namespace = STR("");
    }
    return wide;
}

static struct cache_topic *find_topic(struct cache_informer *f, struct str namespace)
{
    struct str name = namespace.n ? namespace : STR("\1");
    struct cache_topic *t = map_get(&f->topics, name);
    if (!t) {
        t = slab_alloc(sizeof *t + name.n);
        memcpy(t->name, name.p, name.n);
        list_init(&t->subs);
        (void)map_put(&f->topics, str_n(t->name, name.n), t);
    }
    return t;
}

static int declare_fields(struct object_sub *sub, struct cache_informer *f, struct err *err)
{
    uint64_t lists = 0;
    for (size_t i = 0; i < sub->shape->n_fields; i++) {
        int r = cache_informer_declare(f, &sub->shape->declared[i], &lists, err);
        if (r < 0)
            return r;
        sub->tail[i] = (uint8_t)r;
    }
    sub->needs_lists = lists;
    return 0;
}

static struct cache_informer *find_or_open(struct object_sub *sub, struct arena *a)
{
    struct object_cache *c = sub->cache;
    struct object_cache_scope want = scope_of(sub, a);
    struct cache_informer *f = find_informer(c, &want);
    if (f && f->trouble == E_DENIED && sub->verdict && !sub->as_user) {
        sub->as_user = true;
        want = scope_of(sub, a);
        f = find_informer(c, &want);
    }
    if (f)
        return f;
    want = widen(c, &want);
    return cache_informer_open(c, &want, want.as.n ? object_sub_identity(sub, a) : NULL);
}

int object_sub_attach(struct object_sub *sub, struct err *err)
{
    struct arena a = { 0 };
    struct cache_informer *f = find_or_open(sub, &a);
    arena_fini(&a);
    if (!f)
        return err_set(err, E_LIMIT, "more than %zu collections are cached",
                       sub->cache->opts.max_informers);
    return object_sub_link(sub, f, err);
}

int object_sub_link(struct object_sub *sub, struct cache_informer *f, struct err *err)
{
    int r = declare_fields(sub, f, err);
    if (r < 0) {
        cache_informer_left(f);
        return r;
    }
    if (f->reflector)
        timer_stop(sub->cache->opts.loop, &f->timer);
    assert(!sub->informer && !sub->topic && sub->at == OBJECT_SUB_OUTSIDE &&
           f->cache == sub->cache);
    sub->informer = f;
    f->n_subs++;
    sub->topic = find_topic(f, object_sub_namespace(sub));
    list_push_back(&sub->topic->subs, &sub->node);
    object_sub_schedule(sub);
    return 0;
}

void object_sub_detach(struct object_sub *sub)
{
    struct cache_informer *f = take_ptr(&sub->informer);
    if (!f)
        return;
    assert(f->n_subs > 0 && list_is_linked(&sub->node));
    go_outside(sub);
    list_remove(&sub->node);
    sub->topic = NULL;
    f->n_subs--;
    cache_informer_left(f);
}

/* ---------------------------------------------------------------- shapes */

/* metadata.name=x and metadata.namespace=x become the place, the rest stays a selector. */
static int take_field_selector(struct object_cache_shape *shape, struct str text, struct err *err)
{
    struct arena *a = &shape->strings;
    struct selector s;
    int r = selector_parse_fields(a, text, &s, err);
    if (r < 0)
        return err_ctx(err, r, "field selector");
    struct str *places[] = { &shape->scope.name, &shape->scope.namespace };
    static const char *const keys[] = { "metadata.name", "metadata.namespace" };
    size_t kept = 0;
    for (size_t i = 0; i < s.n; i++) {
        const struct selector_req *q = &s.reqs[i];
        size_t place = 0;
        while (place < ARRAY_LEN(keys) && !str_is(q->key, keys[place]))
            place++;
        if (place == ARRAY_LEN(keys) || q->op == SELECTOR_NOT_EQUALS || q->n_values != 1) {
            s.reqs[kept++] = *q;
            continue;
        }
        if (places[place]->n && !str_eq(*places[place], q->values[0]))
            return err_set(err, E_INVALID, "field selector contradicts itself");
        *places[place] = q->values[0];
    }
    s.n = kept;
    shape->scope.field_selector = selector_text(a, &s);
    return 0;
}

static int take_strip(struct object_cache_shape *shape, const struct object_sub_opts *opts,
                      struct err *err)
{
    struct arena *a = &shape->strings;
    struct str *texts = arena_new_n(a, struct str, opts->n_strip + 1);
    shape->strip = arena_new_n(a, struct cache_strip_path, opts->n_strip + 1);
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(64 << 10);
    for (size_t i = 0; i < opts->n_strip; i++) {
        int r = cache_strip_path_parse(a, opts->strip[i], &shape->strip[i], err);
        if (r < 0)
            return err_ctx(err, r, "strip");
        texts[i] = opts->strip[i];
        if (str_find_char(texts[i], '\n') >= 0)
            return err_set(err, E_INVALID, "strip: a path with a newline");
    }
    /* Sort the few paths, so that equal sets have equal keys. */
    for (size_t i = 1; i < opts->n_strip; i++)
        for (size_t k = i; k > 0 && str_cmp(texts[k - 1], texts[k]) > 0; k--) {
            struct str other = texts[k];
            texts[k] = texts[k - 1];
            texts[k - 1] = other;
        }
    for (size_t i = 0; i < opts->n_strip; i++) {
        (void)buf_add_str(&all, texts[i]);
        (void)buf_add_char(&all, '\n');
    }
    if (!buf_ok(&all))
        return err_set(err, E_INVALID, "strip: more than %zu bytes of paths", all.max);
    shape->n_strip = opts->n_strip;
    shape->scope.strip = str_copy_arena(a, buf_str(&all));
    return 0;
}

static int take_fields(struct object_cache_shape *shape, const struct object_sub_opts *opts,
                       struct err *err)
{
    struct arena *a = &shape->strings;
    if (opts->n_fields > OBJECT_CACHE_FIELDS_MAX)
        return err_set(err, E_LIMIT, "more than %d fields", OBJECT_CACHE_FIELDS_MAX);
    shape->declared = arena_new_n(a, struct object_field, opts->n_fields + 1);
    for (size_t i = 0; i < opts->n_fields; i++) {
        struct jsonpath *path;
        struct object_field *field = &shape->declared[i];
        *field = opts->fields[i];
        field->text = str_copy_arena(a, opts->fields[i].text);
        int r = field->kind == OBJECT_FIELD_PATH ? jsonpath_parse(a, field->text, &path, err) : 0;
        if (r < 0)
            return err_ctx(err, r, "field '" STR_FMT "'", STR_ARG(field->text));
    }
    shape->n_fields = opts->n_fields;
    return 0;
}

static int fill_shape(struct object_cache_shape *shape, const struct object_sub_opts *o,
                      struct err *err)
{
    struct arena *a = &shape->strings;
    if (o->group_version.n == 0 || o->plural.n == 0)
        return err_set(err, E_INVALID, "a subscription without a resource");
    if (o->label_selector.n + o->field_selector.n > SELECTORS_MAX_BYTES)
        return err_set(err, E_INVALID, "selectors of more than %d bytes", SELECTORS_MAX_BYTES);
    shape->scope =
        (struct object_cache_scope){ .group_version = str_copy_arena(a, o->group_version),
                                     .plural = str_copy_arena(a, o->plural),
                                     .metadata_only = o->metadata_only };
    int r = selector_parse_labels(a, o->label_selector, &shape->labels, err);
    if (r < 0)
        return err_ctx(err, r, "label selector");
    shape->scope.label_selector = selector_text(a, &shape->labels);
    r = take_field_selector(shape, o->field_selector, err);
    if (r >= 0)
        r = take_strip(shape, o, err);
    if (r >= 0)
        r = take_fields(shape, o, err);
    return r;
}

static void add_part(struct buf *to, struct str s)
{
    (void)buf_add_le32(to, (uint32_t)s.n);
    (void)buf_add_str(to, s);
}

/* Key of the shape: all options as given, except place and identity. */
static void write_shape_key(const struct object_sub_opts *o, struct buf *to)
{
    const struct str parts[] = { o->group_version, o->plural, o->label_selector,
                                 o->field_selector };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        add_part(to, parts[i]);
    (void)buf_add_u8(to, o->metadata_only);
    (void)buf_add_le32(to, (uint32_t)o->n_strip);
    for (size_t i = 0; i < o->n_strip; i++)
        add_part(to, o->strip[i]);
    for (size_t i = 0; i < o->n_fields; i++) {
        (void)buf_add_u8(to, (uint8_t)o->fields[i].kind);
        (void)buf_add_u8(to, o->fields[i].indexed);
        add_part(to, o->fields[i].text);
    }
}

static void shape_unref(struct object_cache *c, struct object_cache_shape *shape)
{
    assert(shape->refs > 0);
    if (--shape->refs > 0)
        return;
    (void)map_del(&c->shapes, shape->key);
    arena_fini(&shape->strings);
    free(shape);
}

/* Counted. Errors: E_INVALID, E_LIMIT. */
static int shape_of(struct object_cache *c, const struct object_sub_opts *opts,
                    struct object_cache_shape **ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(BUF_MAX_DEFAULT);
    write_shape_key(opts, &key);
    struct object_cache_shape *shape = map_get(&c->shapes, buf_str(&key));
    if (shape) {
        shape->refs++;
        *ret = shape;
        return 0;
    }
    shape = xnew(struct object_cache_shape);
    int r = fill_shape(shape, opts, err);
    if (r < 0) {
        arena_fini(&shape->strings);
        free(shape);
        return r;
    }
    shape->refs = 1;
    shape->key = str_copy_arena(&shape->strings, buf_str(&key));
    (void)map_put(&c->shapes, shape->key, shape);
    *ret = shape;
    return 0;
}

/* ---------------------------------------------------------------- subscribing */

/* When both name a place, the two must be equal. */
static int merge_place(struct str asked, struct str selected, struct str *ret, struct err *err)
{
    if (asked.n && selected.n && !str_eq(asked, selected))
        return err_set(err, E_INVALID, "field selector contradicts the name or namespace");
    *ret = asked.n ? asked : selected;
    return 0;
}

static void free_sub(struct object_sub *sub)
{
    struct object_cache *c = sub->cache;
    assert(list_is_empty(&sub->reads) && !list_is_linked(&sub->pump_node));
    assert(c->stats.subscriptions > 0 && !list_is_linked(&sub->verdict_node));
    object_sub_detach(sub);
    cache_verdict_unref(sub->verdict);
    forget_denial(sub);
    shape_unref(c, sub->shape);
    c->stats.subscriptions--;
    slab_free(sub);
}

/* The shape is taken. */
static struct object_sub *new_sub(struct object_cache *c, const struct object_sub_opts *opts,
                                  struct object_cache_shape *shape, struct str namespace,
                                  struct str name)
{
    struct object_sub *sub = slab_alloc(sizeof *sub + shape->n_fields + namespace.n + name.n);
    sub->cache = c;
    sub->ops = opts->ops;
    sub->arg = opts->arg;
    sub->shape = shape;
    sub->n_namespace = (uint32_t) namespace.n;
    sub->n_name = (uint32_t)name.n;
    uint8_t *text = sub->tail + shape->n_fields;
    if (namespace.n)
        memcpy(text, namespace.p, namespace.n);
    if (name.n)
        memcpy(text + namespace.n, name.p, name.n);
    list_init(&sub->reads);
    c->stats.subscriptions++;
    return sub;
}

int object_cache_subscribe(struct object_cache *c, const struct object_sub_opts *opts,
                           struct object_sub **ret, struct err *err)
{
    assert(!c->closing);
    struct object_cache_shape *shape;
    struct str namespace, name;
    if (c->stats.subscriptions >= OBJECT_CACHE_SUBS_MAX)
        return err_set(err, E_LIMIT, "more than %d subscriptions", OBJECT_CACHE_SUBS_MAX);
    int r = shape_of(c, opts, &shape, err);
    if (r < 0)
        return r;
    r = merge_place(opts->namespace, shape->scope.namespace, &namespace, err);
    if (r >= 0)
        r = merge_place(opts->name, shape->scope.name, &name, err);
    if (r < 0) {
        shape_unref(c, shape);
        return r;
    }
    struct object_sub *sub = new_sub(c, opts, shape, namespace, name);
    struct object_cache_scope scope = scope_of(sub, NULL);
    if (opts->identity)
        sub->verdict = cache_verdict_ref(c, opts->identity, &scope);
    r = object_sub_attach(sub, err);
    if (r < 0) {
        free_sub(sub);
        return r;
    }
    *ret = sub;
    return 0;
}

void object_sub_cancel(struct object_sub *sub)
{
    if (!sub || sub->dead)
        return;
    struct object_cache *c = sub->cache;
    cache_reads_drop(sub);
    sub->dead = true;
    forget_denial(sub);
    list_remove(&sub->pump_node);
    list_remove(&sub->verdict_node);
    list_push_back(&c->graves, &sub->pump_node);
    cache_enter(c);
    cache_leave(c);
}

void object_sub_pause(struct object_sub *sub)
{
    sub->paused = true;
}

void object_sub_resume(struct object_sub *sub)
{
    sub->paused = false;
    object_sub_schedule(sub);
}

bool object_sub_is_synced(const struct object_sub *sub)
{
    return sub->at == OBJECT_SUB_LIVE;
}

uint64_t object_sub_rv(const struct object_sub *sub)
{
    return sub->informer->rv;
}

/* ---------------------------------------------------------------- facts at once */

const struct cached_object *object_sub_find(const struct object_sub *sub, struct str namespace,
                                            struct str name)
{
    const struct object_table *t = &sub->informer->table;
    uint32_t slot = object_sub_is_ready(sub) ? object_table_find(t, namespace, name) : 0;
    const struct cached_object *o = slot ? object_table_at(t, slot) : NULL;
    return o && object_sub_sees(sub, o) ? o : NULL;
}

size_t object_sub_field(const struct object_sub *sub, const struct cached_object *o, size_t field,
                        struct str *ret, size_t max)
{
    assert(field < sub->shape->n_fields);
    return cached_object_values(&sub->informer->maker, o, sub->tail[field], ret, max);
}

struct object_order *object_sub_order(const struct object_sub *sub)
{
    return cache_informer_order(sub->informer, object_sub_namespace(sub));
}

void object_sub_each(const struct object_sub *sub, struct str namespace, object_each_fn each,
                     void *arg)
{
    const struct object_table *t = &sub->informer->table;
    if (!object_sub_is_ready(sub))
        return;
    if (namespace.n == 0)
    namespace = object_sub_namespace(sub);
    uint32_t slot = namespace.n ? object_table_ns_first(t, namespace) : object_table_next(t, 0);
    while (slot) {
        const struct cached_object *o = object_table_at(t, slot);
        if (object_sub_sees(sub, o) && !each(arg, o))
            return;
        slot = namespace.n ? object_table_ns_next(t, slot) : object_table_next(t, slot);
    }
}

void object_sub_find_by(const struct object_sub *sub, size_t field, struct str value,
                        struct str namespace, object_each_fn each, void *arg)
{
    assert(field < sub->shape->n_fields);
    const struct object_table *t = &sub->informer->table;
    size_t i = sub->tail[field];
    if (!object_sub_is_ready(sub))
        return;
    for (uint32_t node = object_table_lookup(t, i, value, 0); node;
         node = object_table_lookup(t, i, value, node)) {
        const struct cached_object *o = object_table_node(t, i, node);
        bool here = namespace.n == 0 || str_eq(namespace, cached_object_namespace(o));
        if (here && object_sub_sees(sub, o) && !each(arg, o))
            return;
    }
}

/* ---------------------------------------------------------------- the cache */

void object_cache_write_path(const struct object_cache_scope *s, struct str namespace,
                             struct buf *to)
{
    bool core = str_find_char(s->group_version, '/') < 0;
    buf_printf(to, "/%s/" STR_FMT, core ? "api" : "apis", STR_ARG(s->group_version));
    if (namespace.n) {
        (void)buf_add_cstr(to, "/namespaces/");
        (void)url_encode(to, namespace);
    }
    buf_printf(to, "/" STR_FMT, STR_ARG(s->plural));
}

int object_cache_new(const struct object_cache_opts *opts, struct object_cache **ret,
                     struct err *err)
{
    struct object_cache *c = xnew(struct object_cache);
    c->opts = *opts;
    struct object_cache_opts *o = &c->opts;
    o->max_objects = o->max_objects ? o->max_objects : (size_t)OBJECT_CACHE_OBJECTS_MAX;
    o->max_bytes = o->max_bytes ? o->max_bytes : (size_t)OBJECT_CACHE_BYTES_MAX;
    o->max_informers = o->max_informers ? o->max_informers : (size_t)OBJECT_CACHE_FEEDS_MAX;
    o->grace_ms = o->grace_ms ? o->grace_ms : (uint64_t)OBJECT_CACHE_GRACE_MS;
    o->verdict_ms = o->verdict_ms ? o->verdict_ms : (uint64_t)OBJECT_CACHE_VERDICT_MS;
    o->denied_ms = o->denied_ms ? o->denied_ms : (uint64_t)DENIED_FIRST_MS;
    o->widen_at = o->widen_at ? o->widen_at : (unsigned)WIDEN_AT;
    c->seed = sys_random_u64();
    c->interner.seed = c->seed;
    c->packer = cache_body_packer_new(o->loop);
    list_init(&c->informers);
    list_init(&c->pump);
    list_init(&c->denials);
    list_init(&c->graves);
    c->verdicts.borrows_keys = c->shapes.borrows_keys = true;
    *ret = c;
    return 0;
}

static void finish_close(void *arg)
{
    struct object_cache *c = arg;
    assert(c->closing && c->calls == 0 && c->stats.informers == 0 && c->stats.objects == 0);
    assert(c->verdicts.n == 0 && c->shapes.n == 0 && c->n_denials == 0);
    void (*closed)(void *) = c->closed;
    void *closed_arg = c->closed_arg;
    cache_interner_fini(&c->interner);
    map_fini(&c->verdicts);
    map_fini(&c->shapes);
    free(c->recent);
    free(c);
    if (closed)
        closed(closed_arg);
}

static void on_close(struct defer *d)
{
    struct object_cache *c = container_of(d, struct object_cache, close_defer);
    cache_body_packer_close(c->packer, finish_close, c);
}

void cache_call_ended(struct object_cache *c)
{
    assert(c->calls > 0);
    c->calls--;
    if (c->closing && c->calls == 0)
        defer_start(c->opts.loop, &c->close_defer, on_close);
}

void object_cache_close(struct object_cache *c, void (*done)(void *arg), void *arg)
{
    assert(c->depth == 0 && c->stats.subscriptions == 0 && !c->closing);
    c->closing = true;
    c->closed = done;
    c->closed_arg = arg;
    defer_cancel(&c->pump_defer);
    timer_stop(c->opts.loop, &c->recent_timer);
    timer_stop(c->opts.loop, &c->ask_timer);
    while (!list_is_empty(&c->informers))
        cache_informer_free(list_first(&c->informers, struct cache_informer, node));
    if (c->calls == 0)
        defer_start(c->opts.loop, &c->close_defer, on_close);
}

void object_cache_get_stats(const struct object_cache *c, struct object_cache_stats *ret)
{
    *ret = c->stats;
    ret->fact_bytes += c->interner.bytes;
    list_each (node, &c->informers) {
        const struct cache_informer *f = list_entry(node, struct cache_informer, node);
        ret->fact_bytes += sizeof *f + object_table_bytes(&f->table);
        if (f->maker.codec)
            ret->body_bytes += cache_body_codec_bytes(f->maker.codec);
    }
}
