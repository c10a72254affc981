/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One collection: objects from lists and the watch are put into a table, and differences become
 * events; see object_cache_impl.h.
 *
 *     (list) --> listing --> (watching) --> ready --> list again when history is gone ...
 *                   ^                          |
 *                   `-- lost: forbidden, no such resource, too large --'
 *
 * While a list after a gap runs, the informer stays ready with the objects it has. Each object in
 * the list that differs from the table's is an event, and at the end so is each object that the
 * list did not contain.
 */
#include "client/object_cache_impl.h"

#include "base/log.h"
#include "base/slab.h"
#include "kube/model/jsonpath.h"
#include "kube/model/selector.h"

#include <inttypes.h>

const char CACHE_ALL_TOPIC[] = "\1";

/* ---------------------------------------------------------------- notifying subscribers */

static void tell_topic(struct cache_informer *f, struct str name, struct cached_object *before,
                       struct cached_object *now)
{
    struct cache_topic *t = map_get(&f->topics, name);
    if (!t)
        return;
    list_each (node, &t->subs) {
        struct object_sub *sub = list_entry(node, struct object_sub, node);
        if (!sub->dead && sub->at != OBJECT_SUB_OUTSIDE)
            object_sub_take(sub, before, now);
    }
}

/* The caller holds references to before and now. */
static void tell_event(struct cache_informer *f, struct cached_object *before,
                       struct cached_object *now)
{
    assert(before || now);
    f->seq++;
    f->cache->stats.events++;
    cache_enter(f->cache);
    tell_topic(f, STR("\1"), before, now);
    struct str namespace = cached_object_namespace(now ? now : before);
    if (namespace.n)
        tell_topic(f, namespace, before, now);
    cache_leave(f->cache);
}

/* fn may detach the subscription. */
static void each_sub(struct cache_informer *f, void (*fn)(struct object_sub *sub, void *arg),
                     void *arg)
{
    cache_enter(f->cache);
    struct object_sub **subs = xnew_n(struct object_sub *, f->n_subs);
    size_t n = 0;
    map_each (e, &f->topics) {
        struct cache_topic *t = e->value;
        list_each (node, &t->subs) {
            struct object_sub *sub = list_entry(node, struct object_sub, node);
            if (sub->dead)
                continue;
            assert(sub->informer == f && n < f->n_subs);
            subs[n++] = sub;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (!subs[i]->dead)
            fn(subs[i], arg);
    free(subs);
    cache_leave(f->cache);
}

static void wake(struct object_sub *sub, void *arg)
{
    object_sub_schedule(sub);
}

/* ---------------------------------------------------------------- the table */

static void account(struct cache_informer *f, const struct cached_object *o, bool add)
{
    struct object_cache_stats *s = &f->cache->stats;
    size_t sign = add ? 1 : (size_t)-1;
    assert(add || (s->objects > 0 && s->body_bytes >= o->body_n && s->plain_bytes >= o->plain_n));
    s->objects += sign;
    s->fact_bytes += sign * (cached_object_bytes(o) - o->body_n);
    s->body_bytes += sign * o->body_n;
    s->plain_bytes += sign * o->plain_n;
}

static void unref_object(void *arg, struct cached_object *o)
{
    struct cache_informer *f = arg;
    account(f, o, false);
    cached_object_unref(&f->cache->interner, o);
}

static void drop_objects(struct cache_informer *f)
{
    cache_recent_forget(f->cache, f);
    object_table_reset(&f->table, unref_object, f);
    defer_cancel(&f->repack);
    assert(f->table.n == 0);
    f->ready = f->listing = false;
    f->rv = 0;
    f->seq++;
}

/* Same facts, another body: subscribers are not notified. */
static void replace_quietly(struct cache_informer *f, uint32_t slot, struct cached_object *o)
{
    account(f, o, true);
    unref_object(f, f->table.slots[slot].o);
    f->table.slots[slot].o = o;
}

/* ---------------------------------------------------------------- recent bodies */

static void strip_recent(const struct cache_recent *r)
{
    const struct object_table *t = &r->informer->table;
    const struct cached_object *o = r->slot <= t->n_slots ? object_table_at(t, r->slot) : NULL;
    if (o && o->rv == r->rv && o->body_n)
        replace_quietly(r->informer, r->slot, cached_object_facts(o));
}

static void forget_oldest(struct object_cache *c)
{
    struct cache_recent *r = &c->recent[c->recent_first];
    assert(c->n_recent > 0 && c->recent_bytes >= r->bytes);
    if (r->informer)
        strip_recent(r);
    c->recent_bytes -= r->bytes;
    c->recent_first = (c->recent_first + 1) % RECENT_MAX;
    c->n_recent--;
}

void cache_recent_forget(struct object_cache *c, const struct cache_informer *f)
{
    for (unsigned i = 0; f && i < c->n_recent; i++) {
        struct cache_recent *r = &c->recent[(c->recent_first + i) % RECENT_MAX];
        if (r->informer == f)
            r->informer = NULL;
    }
    while (!f && c->n_recent)
        forget_oldest(c);
}

static void on_recent_over(struct timer *t)
{
    struct object_cache *c = container_of(t, struct object_cache, recent_timer);
    cache_recent_forget(c, NULL);
    free(take_ptr(&c->recent));
}

static void remember(struct cache_informer *f, const struct cached_object *o)
{
    struct object_cache *c = f->cache;
    uint32_t slot = object_table_find(&f->table, cached_object_namespace(o), cached_object_name(o));
    assert(slot && c->n_recent <= RECENT_MAX);
    if (!c->recent)
        c->recent = xnew_n(struct cache_recent, RECENT_MAX);
    while (c->n_recent &&
           (c->n_recent == RECENT_MAX || c->recent_bytes + o->body_n > RECENT_MAX_BYTES))
        forget_oldest(c);
    c->recent[(c->recent_first + c->n_recent++) % RECENT_MAX] =
        (struct cache_recent){ .informer = f, .slot = slot, .rv = o->rv, .bytes = o->body_n };
    c->recent_bytes += o->body_n;
    timer_start(c->opts.loop, &c->recent_timer, RECENT_MS, on_recent_over);
}

/* ---------------------------------------------------------------- errors */

struct loss {
    int code;
    const struct err *err;
};

static void lose(struct object_sub *sub, void *arg)
{
    const struct loss *l = arg;
    object_sub_lose(sub, l->code, l->err);
}

static void tell_error(struct object_sub *sub, void *arg)
{
    const struct loss *l = arg;
    object_sub_report(sub, l->code, l->err);
}

/*
 * The denial may concern a choice of the cache. If the informer is wider than the subscription
 * asked for, move the subscription to an informer of exactly what it asked for; if the cache's
 * identity was denied, move it to an informer that is watched as its own user.
 */
static void move_elsewhere(struct object_sub *sub, void *arg)
{
    struct cache_informer *f = arg;
    bool narrower =
        (sub->n_namespace && f->scope.namespace.n == 0) || (sub->n_name && f->scope.name.n == 0);
    if (!narrower && (!sub->verdict || sub->as_user))
        return;
    struct err err = { 0 };
    object_sub_detach(sub);
    if (object_sub_attach(sub, &err) >= 0)
        return;
    log_warn("cache: no narrower watch", "resource=" STR_FMT " reason=\"%s\"",
             STR_ARG(f->scope.plural), err_text(&err));
    int r = object_sub_link(sub, f, &err); /* back to this informer; lose_all() notifies it */
    assert(r >= 0);                        /* its fields are declared already */
    (void)r;
}

static void lose_all(struct cache_informer *f, int code, const struct err *err)
{
    struct loss loss = { code, err };
    if (f->trouble == code && !f->ready && f->table.n == 0)
        return; /* the subscribers know already */
    assert(code < 0);
    f->trouble = code;
    f->trouble_err = *err;
    drop_objects(f);
    if (code == E_DENIED)
        each_sub(f, move_elsewhere, f);
    each_sub(f, lose, &loss);
}

static void on_trouble(void *arg, int status, const struct err *cause)
{
    struct cache_informer *f = arg;
    struct err err = { 0 };
    f->listing = false;
    switch (status) {
    case 200: /* a watch that has ended: history is gone */
    case 410:
        return;
    case 401:
    case 403:
        (void)err_set(&err, E_DENIED, "list and watch of '" STR_FMT "' are forbidden",
                      STR_ARG(f->scope.plural));
        f->cache->stats.denied++;
        lose_all(f, E_DENIED, &err);
        return;
    case 404:
    case 405:
        (void)err_set(&err, -ENOENT, "there is no resource '" STR_FMT "' in '" STR_FMT "'",
                      STR_ARG(f->scope.plural), STR_ARG(f->scope.group_version));
        lose_all(f, -ENOENT, &err);
        return;
    default:
        break;
    }
    if (f->trouble)
        return;
    f->trouble = -EIO;
    f->trouble_err = *cause;
    f->trouble_err.code = -EIO;
    struct loss loss = { -EIO, &f->trouble_err };
    each_sub(f, tell_error, &loss);
}

static void start_reflector(struct cache_informer *f);

static void on_try_again(struct timer *t)
{
    struct cache_informer *f = container_of(t, struct cache_informer, timer);
    if (f->n_subs == 0)
        cache_informer_free(f);
    else
        start_reflector(f);
}

/* More than the cache may hold: drop all objects, and list again later. */
static void overflow(struct cache_informer *f, const char *what, size_t limit)
{
    struct err err = { 0 };
    int r = err_set(&err, E_LIMIT, "'" STR_FMT "' has more than %zu %s, which is the cache's limit",
                    STR_ARG(f->scope.plural), limit, what);
    log_warn("cache: too large", "resource=" STR_FMT " limit=%zu of=\"%s\"",
             STR_ARG(f->scope.plural), limit, what);
    reflector_close(take_ptr(&f->reflector));
    timer_start(f->cache->opts.loop, &f->timer, LIMIT_RETRY_MS, on_try_again);
    lose_all(f, r, &err);
}

static bool is_full(struct cache_informer *f)
{
    const struct object_cache *c = f->cache;
    if (f->table.n > c->opts.max_objects) {
        overflow(f, "objects", c->opts.max_objects);
        return true;
    }
    if (c->stats.fact_bytes + c->stats.body_bytes > c->opts.max_bytes) {
        overflow(f, "bytes together with what else is cached", c->opts.max_bytes);
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- callbacks of the reflector */

static void put_object(struct cache_informer *f, struct cached_object *o)
{
    struct object_cache *c = f->cache;
    assert(o->round == f->round);
    account(f, o, true);
    (void)cached_object_ref(o); /* callbacks may drop the table's reference */
    struct cached_object *before = object_table_put(&f->table, o);
    if (f->maker.drops_bodies && o->body_n)
        remember(f, o);
    if (before)
        account(f, before, false);
    tell_event(f, before, o);
    cached_object_unref(&c->interner, before);
    cached_object_unref(&c->interner, o);
    (void)is_full(f);
}

static void learn_kind(struct cache_informer *f, const struct json *object)
{
    struct str kind = json_get_str(object, "kind");
    if (f->scope.metadata_only)
        kind = STR("PartialObjectMetadata");
    if (!str_eq(kind, f->kind))
        f->kind = str_copy_arena(&f->strings, kind);
}

static void on_object(void *arg, const struct json *object)
{
    struct cache_informer *f = arg;
    if (!f->reflector)
        return;
    const struct json *meta = json_getc(object, "metadata");
    uint64_t rv = 0;
    (void)parse_u64(json_get_str(meta, "resourceVersion"), 0, UINT64_MAX, &rv);
    uint32_t slot =
        object_table_find(&f->table, json_get_str(meta, "namespace"), json_get_str(meta, "name"));
    struct cached_object *known = slot ? object_table_at(&f->table, slot) : NULL;
    bool same = known && rv && known->rv == rv;
    if (known)
        known->round = f->round;
    if (same && !f->remakes)
        return;
    learn_kind(f, object);
    struct cached_object *o;
    struct err err = { 0 };
    f->maker.keeps_this_one = f->maker.drops_bodies && !f->listing && !same;
    if (cached_object_make(&f->maker, object, &o, &err) < 0) {
        log_warn("cache: object cannot be held", "resource=" STR_FMT " reason=\"%s\"",
                 STR_ARG(f->scope.plural), err_text(&err));
        return;
    }
    o->round = f->round;
    if (!same) {
        put_object(f, o);
        return;
    }
    account(f, o, true); /* unchanged, but made with more fields */
    unref_object(f, object_table_put(&f->table, o));
}

static void remove_object(struct cache_informer *f, uint32_t slot)
{
    struct cached_object *o = object_table_remove(&f->table, slot);
    account(f, o, false);
    tell_event(f, o, NULL);
    cached_object_unref(&f->cache->interner, o);
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    struct cache_informer *f = arg;
    uint32_t slot = object_table_find(&f->table, namespace, name);
    if (slot)
        remove_object(f, slot);
}

static void on_list_begin(void *arg)
{
    struct cache_informer *f = arg;
    assert(f->reflector);
    f->round++;
    f->listing = true;
    f->remakes = f->wants_remake;
    f->wants_remake = false;
    f->cache->stats.lists++;
    if (f->ready)
        f->cache->stats.relists++;
}

static void recovered(struct object_sub *sub, void *arg)
{
    if (sub->reported && sub->at == OBJECT_SUB_LIVE) {
        sub->reported = 0;
        sub->ops->on_synced(sub->arg, sub->informer->rv);
    }
}

static void on_list_end(void *arg, uint64_t rv)
{
    struct cache_informer *f = arg;
    if (!f->reflector)
        return; /* the informer was too large and has dropped its objects */
    assert(f->listing);
    f->listing = false;
    for (uint32_t slot = object_table_next(&f->table, 0); slot;
         slot = object_table_next(&f->table, slot))
        if (f->table.slots[slot].o->round != f->round)
            remove_object(f, slot);
    f->rv = rv; /* lower than before when the server was restored to an older state */
    f->remakes = false;
    f->n_lists++;
    if (f->maker.codec)
        cache_body_codec_settle(f->maker.codec);
}

static void on_watching(void *arg)
{
    struct cache_informer *f = arg;
    if (!f->reflector)
        return;
    f->ready = true;
    if (f->wants_remake)
        reflector_relist(f->reflector);
    if (f->trouble) {
        f->trouble = 0;
        each_sub(f, recovered, NULL);
    }
    each_sub(f, wake, NULL);
}

static void wake_readers(struct object_sub *sub, void *arg)
{
    if (!list_is_empty(&sub->reads))
        object_sub_schedule(sub);
}

static void on_progress(void *arg, uint64_t rv)
{
    struct cache_informer *f = arg;
    if (!f->reflector || rv <= f->rv)
        return;
    f->rv = rv;
    if (f->cache->stats.reads)
        each_sub(f, wake_readers, NULL);
}

static const struct reflector_ops reflector_ops = { .on_object = on_object,
                                                    .on_deleted = on_deleted,
                                                    .on_list_begin = on_list_begin,
                                                    .on_list_end = on_list_end,
                                                    .on_watching = on_watching,
                                                    .on_progress = on_progress,
                                                    .on_trouble = on_trouble };

/* ---------------------------------------------------------------- bodies */

int cache_informer_write(struct cache_informer *f, const struct cached_object *o,
                         bool metadata_only, struct buf *to, struct err *err)
{
    struct str plain;
    enum cache_body_form form = !(o->flags & OBJECT_BODY_PACKED) ? BODY_PLAIN
                                : o->flags & OBJECT_BODY_DICT    ? BODY_PACKED_WITH_DICT
                                                                 : BODY_PACKED;
    int r = cache_body_unpack(f->maker.codec, cached_object_body(o), form, o->plain_n, &plain, err);
    if (r < 0)
        return r;
    metadata_only = metadata_only && !f->scope.metadata_only;
    cached_object_write(o, plain,
                        metadata_only || f->scope.metadata_only ? STR("meta.k8s.io/v1")
                                                                : f->scope.group_version,
                        metadata_only ? STR("PartialObjectMetadata") : f->kind, metadata_only, to);
    return 0;
}

static void on_repack(struct defer *d);

static void repack_object(struct cache_informer *f, uint32_t slot)
{
    struct cached_object *o = f->table.slots[slot].o;
    struct str plain;
    if (o->flags & OBJECT_BODY_DICT || o->plain_n < BODY_MIN_BYTES)
        return;
    enum cache_body_form form = o->flags & OBJECT_BODY_PACKED ? BODY_PACKED : BODY_PLAIN;
    if (cache_body_unpack(f->maker.codec, cached_object_body(o), form, o->plain_n, &plain, NULL) <
        0)
        return;
    struct buf *copy =
        &f->maker.scratch; /* cache_body_unpack() and cache_body_pack() share one buffer */
    buf_reset(copy);
    if (buf_add_str(copy, plain) < 0)
        return;
    struct str packed = cache_body_pack(f->maker.codec, buf_str(copy), &form);
    if (form != BODY_PACKED_WITH_DICT || packed.n >= o->body_n)
        return;
    replace_quietly(f, slot,
                    cached_object_repack(o, packed, OBJECT_BODY_PACKED | OBJECT_BODY_DICT));
}

static void on_repack(struct defer *d)
{
    struct cache_informer *f = container_of(d, struct cache_informer, repack);
    for (unsigned n = 0; n < REPACK_PER_TURN; n++) {
        f->repack_slot = object_table_next(&f->table, f->repack_slot);
        if (f->repack_slot == 0)
            return;
        repack_object(f, f->repack_slot);
    }
    defer_start(f->cache->opts.loop, &f->repack, on_repack);
}

static void on_dictionary(void *arg)
{
    struct cache_informer *f = arg;
    f->repack_slot = 0;
    defer_start(f->cache->opts.loop, &f->repack, on_repack);
}

/* ---------------------------------------------------------------- snapshots */

static struct object_cache_snapshot *new_snapshot(struct cache_informer *f, uint32_t n)
{
    struct object_cache_snapshot *s = xalloc(sizeof *s + n * sizeof *s->o);
    *s = (struct object_cache_snapshot){ .informer = f, .refs = 1, .seq = f->seq, .rv = f->rv };
    return s;
}

struct object_cache_snapshot *cache_informer_snapshot(struct cache_informer *f,
                                                      const struct object_sub *sub)
{
    const struct object_table *t = &f->table;
    struct str namespace = object_sub_namespace(sub), name = object_sub_name(sub);
    /* A name without a namespace belongs to a cluster-scoped object, or to one in any namespace. */
    uint32_t slot = name.n ? object_table_find(t, namespace, name) : 0;
    if (slot || (name.n && namespace.n)) {
        struct object_cache_snapshot *s = new_snapshot(f, 1);
        if (slot)
            s->o[s->n++] = cached_object_ref(object_table_at(t, slot));
        return s;
    }
    if (namespace.n) {
        struct object_cache_snapshot *s =
            new_snapshot(f, (uint32_t)object_table_ns_count(t, namespace));
        for (slot = object_table_ns_first(t, namespace); slot; slot = object_table_ns_next(t, slot))
            s->o[s->n++] = cached_object_ref(object_table_at(t, slot));
        return s;
    }
    if (f->snapshot && f->snapshot->seq == f->seq) {
        f->snapshot->refs++;
        return f->snapshot;
    }
    struct object_cache_snapshot *s = new_snapshot(f, t->n);
    for (slot = object_table_next(t, 0); slot; slot = object_table_next(t, slot))
        s->o[s->n++] = cached_object_ref(object_table_at(t, slot));
    f->snapshot = s;
    return s;
}

/* ---------------------------------------------------------------- orders */

static int by_key(const void *x, const void *y)
{
    const struct cached_object *const *a = x, *const *b = y;
    int d = (*a)->namespace == (*b)->namespace
                ? 0
                : str_cmp(cached_object_namespace(*a), cached_object_namespace(*b));
    return d ? d : str_cmp(cached_object_name(*a), cached_object_name(*b));
}

/* The informer no longer hands out this order. */
static void retire_order(struct cache_informer *f)
{
    struct object_order *o = take_ptr(&f->order);
    assert(!o || o->informer == f);
    if (o)
        o->informer = NULL;
}

struct object_order *cache_informer_order(struct cache_informer *f, struct str namespace)
{
    const struct object_table *t = &f->table;
    if (!namespace.n && f->order && f->order->seq == f->seq) {
        f->order->refs++;
        return f->order;
    }
    size_t n = namespace.n ? object_table_ns_count(t, namespace) : t->n;
    struct object_order *o = xalloc(sizeof *o + n * sizeof *o->o);
    *o = (struct object_order){ .cache = f->cache, .refs = 1, .seq = f->seq };
    uint32_t slot = namespace.n ? object_table_ns_first(t, namespace) : object_table_next(t, 0);
    while (slot) {
        o->o[o->n++] = cached_object_ref(object_table_at(t, slot));
        slot = namespace.n ? object_table_ns_next(t, slot) : object_table_next(t, slot);
    }
    qsort(o->o, o->n, sizeof *o->o, by_key);
    if (!namespace.n) {
        retire_order(f);
        o->informer = f;
        f->order = o;
    }
    return o;
}

void object_order_free(struct object_order *o)
{
    if (!o)
        return;
    assert(o->refs > 0 && (!o->informer || o->informer->order == o));
    if (--o->refs > 0)
        return;
    if (o->informer)
        o->informer->order = NULL;
    for (uint32_t i = 0; i < o->n; i++)
        cached_object_unref(&o->cache->interner, o->o[i]);
    free(o);
}

size_t object_order_n(const struct object_order *o)
{
    return o->n;
}

void object_order_get(const struct object_order *o, size_t i, struct str *ret_namespace,
                      struct str *ret_name)
{
    assert(i < o->n);
    *ret_namespace = cached_object_namespace(o->o[i]);
    *ret_name = cached_object_name(o->o[i]);
}

/* ---------------------------------------------------------------- opening and closing */

static bool serves(struct str has, struct str wanted)
{
    return has.n == 0 || str_eq(has, wanted);
}

bool cache_informer_serves(const struct cache_informer *f, const struct object_cache_scope *want)
{
    const struct object_cache_scope *has = &f->scope;
    if (!str_eq(has->plural, want->plural) || !str_eq(has->group_version, want->group_version) ||
        !serves(has->namespace, want->namespace) || !serves(has->name, want->name) ||
        !serves(has->label_selector, want->label_selector) || !str_eq(has->as, want->as) ||
        !str_eq(has->field_selector, want->field_selector) || !serves(has->strip, want->strip) ||
        (has->metadata_only && !want->metadata_only))
        return false;
    bool wider = !str_eq(has->namespace, want->namespace) || !str_eq(has->name, want->name);
    return !wider || f->trouble != E_DENIED;
}

static struct str copy(struct cache_informer *f, struct str s)
{
    return str_copy_arena(&f->strings, s);
}

static void copy_scope(struct cache_informer *f, const struct object_cache_scope *s)
{
    f->scope = (struct object_cache_scope){ .group_version = copy(f, s->group_version),
                                            .plural = copy(f, s->plural),
                                            .namespace = copy(f, s->namespace),
                                            .name = copy(f, s->name),
                                            .label_selector = copy(f, s->label_selector),
                                            .field_selector = copy(f, s->field_selector),
                                            .strip = copy(f, s->strip),
                                            .as = copy(f, s->as),
                                            .metadata_only = s->metadata_only };
}

static void parse_strip(struct cache_informer *f)
{
    struct str rest = f->scope.strip, path;
    size_t n = 0;
    for (size_t i = 0; i < rest.n; i++)
        n += rest.p[i] == '\n';
    struct cache_strip_path *paths = arena_new_n(&f->strings, struct cache_strip_path, n + 1);
    while (rest.n) {
        (void)str_cut(rest, '\n', &path, &rest);
        int r = cache_strip_path_parse(&f->strings, path, &paths[f->maker.n_strip++], NULL);
        assert(r >= 0); /* the subscription has parsed it before */
        (void)r;
    }
    f->maker.strip = paths;
}

static void start_reflector(struct cache_informer *f)
{
    struct object_cache *c = f->cache;
    const struct object_cache_scope *s = &f->scope;
    assert(!f->reflector && f->table.n == 0);
    struct arena a = { 0 };
    struct str fields = s->field_selector;
    if (s->name.n)
        fields = str_of(arena_printf(&a, "metadata.name=" STR_FMT "%s" STR_FMT, STR_ARG(s->name),
                                     fields.n ? "," : "", STR_ARG(fields)));
    struct reflector_opts opts = { .loop = c->opts.loop,
                                   .transport = c->opts.transport,
                                   .hub = c->opts.hub,
                                   .identity = f->identity,
                                   .key = { .group_version = s->group_version,
                                            .plural = s->plural,
                                            .namespace = s->namespace,
                                            .label_selector = s->label_selector,
                                            .field_selector = fields,
                                            .metadata_only = s->metadata_only,
                                            .identity = s->as.n ? f->identity : NULL },
                                   .streams = true,
                                   .ops = &reflector_ops,
                                   .arg = f };
    int r = reflector_start(&opts, &f->reflector, NULL);
    assert(r >= 0);
    (void)r;
    arena_fini(&a);
}

struct cache_informer *cache_informer_open(struct object_cache *c,
                                           const struct object_cache_scope *scope,
                                           const struct kube_identity *identity)
{
    if (c->stats.informers >= c->opts.max_informers)
        return NULL;
    struct cache_informer *f = xnew(struct cache_informer);
    f->cache = c;
    copy_scope(f, scope);
    f->identity = scope->as.n ? kube_identity_copy(&f->strings, identity) : c->opts.identity;
    f->maker = (struct cache_object_maker){ .interner = &c->interner,
                                            .seed = c->seed,
                                            .fields = f->fields,
                                            .metadata_only = scope->metadata_only,
                                            .drops_bodies = c->opts.embedded };
    buf_init(&f->maker.scratch, WATCH_LINE_MAX_BYTES);
    if (!c->opts.embedded)
        f->maker.codec = cache_body_codec_new(c->packer, on_dictionary, f);
    parse_strip(f);
    object_table_init(&f->table, &f->maker);
    f->topics.borrows_keys = true;
    list_push_back(&c->informers, &f->node);
    c->stats.informers++;
    start_reflector(f);
    return f;
}

void cache_informer_free(struct cache_informer *f)
{
    assert(f->n_subs == 0 && list_is_linked(&f->node));
    struct object_cache *c = f->cache;
    timer_stop(c->opts.loop, &f->timer);
    reflector_close(take_ptr(&f->reflector));
    drop_objects(f);
    object_table_fini(&f->table);
    retire_order(f);
    cache_body_codec_close(f->maker.codec);
    buf_fini(&f->maker.scratch);
    map_each (e, &f->topics)
        slab_free(e->value);
    map_fini(&f->topics); /* its keys lie in the topics */
    list_remove(&f->node);
    assert(c->stats.informers > 0);
    c->stats.informers--;
    arena_fini(&f->strings);
    free(f);
}

static void on_grace_over(struct timer *t)
{
    struct cache_informer *f = container_of(t, struct cache_informer, timer);
    if (f->n_subs == 0)
        cache_informer_free(f);
}

void cache_informer_left(struct cache_informer *f)
{
    if (f->n_subs == 0 && f->reflector)
        timer_start(f->cache->opts.loop, &f->timer, f->cache->opts.grace_ms, on_grace_over);
}

static bool same_field(const struct object_field *a, const struct object_field *b)
{
    return a->kind == b->kind && str_eq(a->text, b->text);
}

static bool comes_from_body(const struct object_field *f)
{
    return f->kind == OBJECT_FIELD_PATH || f->kind == OBJECT_FIELD_ANNOTATION;
}

int cache_informer_declare(struct cache_informer *f, const struct object_field *field,
                           uint64_t *ret_lists, struct err *err)
{
    size_t i = 0;
    while (i < f->maker.n_fields && !same_field(&f->fields[i].field, field))
        i++;
    if (i == OBJECT_CACHE_FIELDS_MAX)
        return err_set(err, E_LIMIT, "more than %d fields are declared of '" STR_FMT "'",
                       OBJECT_CACHE_FIELDS_MAX, STR_ARG(f->scope.plural));
    struct cache_field *spec = &f->fields[i];
    if (i == f->maker.n_fields) {
        struct jsonpath *path = NULL;
        struct str text = copy(f, field->text);
        int r =
            field->kind == OBJECT_FIELD_PATH ? jsonpath_parse(&f->strings, text, &path, err) : 0;
        if (r < 0)
            return err_ctx(err, r, "field '" STR_FMT "'", STR_ARG(text));
        *spec = (struct cache_field){ .field = *field, .path = path };
        spec->field.text = text;
        spec->field.indexed = false;
        f->maker.n_fields++;
        if (comes_from_body(field) && (f->listing || f->table.n)) {
            spec->filled_by = f->n_lists + (f->listing ? 2 : 1);
            f->wants_remake = true;
            if (f->reflector && !f->listing)
                reflector_relist(f->reflector);
        }
    }
    if (field->indexed)
        object_table_index(&f->table, i);
    *ret_lists = MAX(*ret_lists, spec->filled_by);
    return (int)i;
}
