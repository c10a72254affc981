/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets and lists through a subscription; see object_cache.h.
 *
 * A read is answered from the informer's table. Where bodies are not held (the API is in this
 * process), or when the cache does not become fresh in time, the API answers it, asked as the
 * cache's identity: the check that the reader may see the object has passed before.
 *
 *     START -+-> table --------------------------------------------> done
 *            +-> PROBE (version of the API now) -> FRESH (wait) -----> table
 *            |                                        `-(too long)--.
 *            +-> GET one --------------------------------------------+--> done
 *            +-> LIST a page <--------------------------------------'
 *            `-> KEYS from the table, GET each ------------------------> done
 */
#include "client/object_cache_impl.h"

#include "base/heap.h"
#include "codec/url.h"
#include "kube/model/meta.h"
#include "kube/model/object.h"

#include <inttypes.h>

enum {
    LIST_LIMIT = 500,
    LIST_LIMIT_MAX = 10000,
    TOKEN_MAX_BYTES = 8192,
    BODY_MAX_BYTES = REFLECTOR_PAGE_MAX_BYTES,
    ITEM_ROOM = 64 << 10 /* beyond a full page: its last item */
};

enum read_at { READ_START, READ_PROBE, READ_FRESH, READ_GET, READ_LIST, READ_KEYS };

struct read_item {
    size_t at, n; /* in out */
};

struct object_read {
    struct object_sub *sub; /* NULL: cancelled, a call has not ended yet */
    struct object_cache *cache;
    struct list node; /* of sub->reads */
    uint32_t round;   /* of cache_reads_run(), in which it was last visited */
    enum read_at at;
    struct arena strings;
    struct object_query q;
    struct selector labels, fields;
    bool is_list, from_table;
    uint64_t wanted_rv; /* FRESH: version to wait for */
    struct timer late;
    struct exchange *call;
    int status;
    struct buf body; /* of the API's answer */
    struct buf out;  /* items */
    VEC(struct read_item) items;
    VEC(const struct cached_object *) found; /* KEYS: counted, unread from next_found on */
    size_t next_found;
    size_t n_total; /* items of the list after the token; found.n of them are on this page */
    object_done_fn done;
    void *arg;
    struct str token; /* of the next page, in strings */
    uint64_t rv, n_left;
};

static void run_read(struct object_read *rd);

/* ---------------------------------------------------------------- end */

static void free_read(struct object_read *rd)
{
    assert(!rd->call && !list_is_linked(&rd->node) && !timer_is_armed(&rd->late));
    for (; rd->next_found < rd->found.n; rd->next_found++)
        cache_unref_object(rd->cache,
                           (struct cached_object *)(uintptr_t)rd->found.p[rd->next_found]);
    vec_fini(&rd->found);
    buf_fini(&rd->body);
    buf_fini(&rd->out);
    vec_fini(&rd->items);
    arena_fini(&rd->strings);
    free(rd);
}

/* Take the read off its subscription; free it now, or when its call has ended. */
static void leave_read(struct object_read *rd)
{
    assert(rd->sub && list_is_linked(&rd->node) && rd->cache->stats.reads > 0);
    list_remove(&rd->node);
    timer_stop(rd->cache->opts.loop, &rd->late);
    rd->sub = NULL;
    rd->cache->stats.reads--;
}

static void drop_read(struct object_read *rd)
{
    leave_read(rd);
    if (rd->call)
        exchange_cancel(rd->call);
    else
        free_read(rd);
}

/* rd is invalid after this call. */
static void finish(struct object_read *rd, int r, const struct err *err)
{
    struct object_cache *c = rd->cache;
    assert(!rd->call);
    leave_read(rd);
    struct str *items = r < 0 ? NULL : arena_new_n(&rd->strings, struct str, rd->items.n + 1);
    for (size_t i = 0; items && i < rd->items.n; i++)
        items[i] = str_n(rd->out.p + rd->items.p[i].at, rd->items.p[i].n);
    struct object_result res = { .items = items,
                                 .n = items ? rd->items.n : 0,
                                 .rv = rd->rv,
                                 .continue_from = rd->token,
                                 .n_left = rd->n_left };
    cache_enter(c);
    rd->done(rd->arg, r, r < 0 ? NULL : &res, err);
    cache_leave(c);
    free_read(rd);
}

static void fail(struct object_read *rd, int r, const char *what)
{
    struct err err = { 0 };
    (void)err_set(&err, r, "%s", what);
    finish(rd, r, &err);
}

static void no_such(struct object_read *rd)
{
    struct err err = { 0 };
    int r = err_set(&err, -ENOENT, STR_FMT " '" STR_FMT "%s" STR_FMT "' is not there",
                    STR_ARG(rd->sub->shape->scope.plural), STR_ARG(rd->q.namespace),
                    rd->q.namespace.n ? "/" : "", STR_ARG(rd->q.name));
    finish(rd, r, &err);
}

void object_read_cancel(struct object_read *rd)
{
    if (rd && rd->sub)
        drop_read(rd);
}

void cache_reads_drop(struct object_sub *sub)
{
    while (!list_is_empty(&sub->reads))
        drop_read(list_first(&sub->reads, struct object_read, node));
}

/*
 * Returns the next read that was not visited in this round, and marks it; NULL: all were visited.
 * Reads stay on the subscription's list meanwhile, so an action of a callback on that list reaches
 * all of them.
 */
static struct object_read *next_of_round(struct object_sub *sub, uint32_t round)
{
    if (list_is_empty(&sub->reads))
        return NULL;
    struct object_read *rd = list_first(&sub->reads, struct object_read, node);
    if (rd->round == round)
        return NULL; /* reads started since are after it */
    rd->round = round;
    list_remove(&rd->node);
    list_push_back(&sub->reads, &rd->node);
    return rd;
}

void cache_reads_fail(struct object_sub *sub, int code, const struct err *err)
{
    uint32_t round = ++sub->cache->read_round;
    struct object_read *rd;
    while ((rd = next_of_round(sub, round)))
        if (!rd->call) /* else the API answers the read in any case */
            finish(rd, code, err);
}

/* ---------------------------------------------------------------- items */

static bool is_page_full(const struct object_read *rd)
{
    return rd->out.n >= OBJECT_CACHE_PAGE_MAX_BYTES || rd->items.n >= rd->q.limit;
}

static int end_item(struct object_read *rd, size_t at, struct err *err)
{
    assert(at <= rd->out.n || !buf_ok(&rd->out));
    if (!buf_ok(&rd->out) || rd->out.n - at > OBJECT_CACHE_PAGE_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "an object of more than %d bytes",
                       OBJECT_CACHE_PAGE_MAX_BYTES);
    struct read_item it = { .at = at, .n = rd->out.n - at };
    vec_push(&rd->items, it);
    return 0;
}

/* Writes the item as requested: stripped, or metadata only. Changes `v`. */
static void write_item(struct object_read *rd, struct arena *a, struct json *v)
{
    const struct object_sub *sub = rd->sub;
    (void)json_del(json_getc(v, "metadata"), STR("managedFields"));
    for (size_t i = 0; i < sub->shape->n_strip; i++)
        cache_strip_path_apply(&sub->shape->strip[i], v);
    bool partial =
        rd->q.view == OBJECT_METADATA && !str_is(json_get_str(v, "kind"), "PartialObjectMetadata");
    (void)json_write(&rd->out, partial ? object_partial_metadata(a, v) : v);
}

static int put_parsed(struct object_read *rd, struct arena *a, struct json *v, struct err *err)
{
    size_t at = rd->out.n;
    write_item(rd, a, v);
    return end_item(rd, at, err);
}

static void put_key(struct object_read *rd, const struct cached_object *o)
{
    size_t at = rd->out.n;
    (void)buf_add_cstr(&rd->out, "{\"namespace\":");
    (void)json_write_str(&rd->out, cached_object_namespace(o));
    (void)buf_add_cstr(&rd->out, ",\"name\":");
    (void)json_write_str(&rd->out, cached_object_name(o));
    buf_printf(&rd->out, ",\"resourceVersion\":\"%" PRIu64 "\"}", o->rv);
    (void)end_item(rd, at, NULL);
}

/* Writes an object of the table with its body. Returns 1: it does not match the field selector. */
static int put_object(struct object_read *rd, const struct cached_object *o, struct err *err)
{
    struct cache_informer *f = rd->sub->informer;
    size_t at = rd->out.n;
    bool informer_strips = str_eq(f->scope.strip, rd->sub->shape->scope.strip);
    bool parse = rd->fields.n || (!informer_strips && rd->q.view == OBJECT_FULL);
    int r = cache_informer_write(f, o, rd->q.view == OBJECT_METADATA && !parse, &rd->out, err);
    if (r < 0)
        return r;
    if (!parse)
        return end_item(rd, at, err);
    struct arena a = { 0 };
    struct json *v;
    scoped(free_scoped) char *text = xstrndup(rd->out.p + at, rd->out.n - at);
    r = json_parse(&a, str_n(text, rd->out.n - at), NULL, &v, err);
    rd->out.n = at;
    if (r >= 0) {
        bool match = selector_matches_fields(&a, &rd->fields, NULL, v);
        r = match ? put_parsed(rd, &a, v, err) : 1;
    }
    arena_fini(&a);
    return r;
}

/* ---------------------------------------------------------------- from the table */

static int by_place(const void *x, const void *y)
{
    const struct cached_object *const *a = x, *const *b = y;
    int d = (*a)->namespace == (*b)->namespace
                ? 0
                : str_cmp(cached_object_namespace(*a), cached_object_namespace(*b));
    return d ? d : str_cmp(cached_object_name(*a), cached_object_name(*b));
}

/* After the place where the page before ended. */
static bool is_after(const struct cached_object *o, struct str token)
{
    if (token.n == 0)
        return true;
    struct str namespace, name;
    (void)str_cut(token, '/', &namespace, &name);
    int d = str_cmp(cached_object_namespace(o), namespace);
    return d > 0 || (d == 0 && str_cmp(cached_object_name(o), name) > 0);
}

/*
 * Selects a page from many: the candidates are a heap with the last one on top, and an object that
 * sorts before the top replaces it. So 50,000 objects cost a comparison each and not a sort.
 */
static bool is_further(const void *a, const void *b, const void *arg)
{
    return by_place(a, b) > 0;
}

static const struct heap_kind furthest_first = { sizeof(const struct cached_object *), is_further,
                                                 NULL };

static bool gather(void *arg, const struct cached_object *o)
{
    struct object_read *rd = arg;
    struct str token = str_slice(rd->q.continue_from, 1, rd->q.continue_from.n);
    if (!cached_object_has_labels(o, &rd->labels) || !is_after(o, token) ||
        (rd->q.namespace.n && !str_eq(cached_object_namespace(o), rd->q.namespace)) ||
        (rd->q.name.n && !str_eq(cached_object_name(o), rd->q.name)))
        return true;
    rd->n_total++;
    if (rd->fields.n == 0)
        heap_offer(&furthest_first, NULL, &rd->found, o, rd->q.limit);
    else
        vec_push(&rd->found, o);
    return true;
}

/* Finds the objects of the page, in order; counted. */
static void gather_all(struct object_read *rd)
{
    struct object_sub *sub = rd->sub;
    if (rd->q.by_field)
        object_sub_find_by(sub, rd->q.field, rd->q.value, rd->q.namespace, gather, rd);
    else
        object_sub_each(sub, rd->q.namespace, gather, rd);
    if (rd->found.n)
        qsort(rd->found.p, rd->found.n, sizeof *rd->found.p, by_place);
    for (size_t i = 0; i < rd->found.n; i++)
        (void)cached_object_ref((struct cached_object *)(uintptr_t)rd->found.p[i]);
    rd->rv = sub->informer->rv;
}

static void unref_found(struct object_read *rd)
{
    assert(rd->next_found < rd->found.n);
    cache_unref_object(rd->cache, (struct cached_object *)(uintptr_t)rd->found.p[rd->next_found]);
    rd->next_found++;
}

/* The page ends after `o`, which is still counted. */
static void end_page(struct object_read *rd, const struct cached_object *o)
{
    assert(rd->next_found < rd->n_total);
    rd->n_left = rd->fields.n ? 0 : rd->n_total - rd->next_found - 1;
    if (rd->next_found + 1 == rd->n_total)
        return;
    rd->token =
        str_of(arena_printf(&rd->strings, "k" STR_FMT "/" STR_FMT,
                            STR_ARG(cached_object_namespace(o)), STR_ARG(cached_object_name(o))));
}

static void list_table(struct object_read *rd)
{
    struct err err = { 0 };
    int r = 0;
    assert(!rd->call && rd->found.n == 0 && rd->next_found == 0);
    gather_all(rd);
    while (rd->next_found < rd->found.n && r >= 0) {
        const struct cached_object *o = rd->found.p[rd->next_found];
        if (rd->q.view == OBJECT_KEYS && rd->fields.n == 0)
            put_key(rd, o);
        else
            r = put_object(rd, o, &err);
        if (is_page_full(rd))
            end_page(rd, o);
        unref_found(rd);
        if (is_page_full(rd))
            break;
    }
    finish(rd, MIN(r, 0), &err);
}

static void get_table(struct object_read *rd)
{
    struct err err = { 0 };
    const struct cached_object *o = object_sub_find(rd->sub, rd->q.namespace, rd->q.name);
    rd->rv = rd->sub->informer->rv;
    if (!o) {
        no_such(rd);
        return;
    }
    int r = 0;
    if (rd->q.view == OBJECT_KEYS)
        put_key(rd, o);
    else
        r = put_object(rd, o, &err);
    finish(rd, MIN(r, 0), &err);
}

/* ---------------------------------------------------------------- from the API */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct object_read *rd = arg;
    rd->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct object_read *rd = arg;
    if (rd->sub)
        (void)buf_add_str(&rd->body, chunk);
}

static void take_answer(struct object_read *rd, int r, const struct err *err);

static void on_end(void *arg, int r, const struct err *err)
{
    struct object_read *rd = arg;
    struct object_cache *c = rd->cache;
    assert(rd->call && c->calls > 0);
    rd->call = NULL;
    if (rd->sub)
        take_answer(rd, r, err);
    else
        free_read(rd);
    cache_call_ended(c);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void add_pair(struct buf *to, const char *name, struct str first, struct str second)
{
    if (first.n + second.n == 0)
        return;
    buf_printf(to, "%s%s=", str_find_char(buf_str(to), '?') < 0 ? "?" : "&", name);
    (void)url_encode(to, first);
    if (first.n && second.n)
        (void)buf_add_cstr(to, "%2C");
    (void)url_encode(to, second);
}

static void start_call(struct object_read *rd, enum read_at at, const struct buf *target,
                       const char *accept)
{
    struct object_cache *c = rd->cache;
    struct headers h = { 0 };
    struct err err = { 0 };
    (void)headers_addc(&h, "accept", accept);
    struct kube_request req = { .identity = rd->sub->informer->identity,
                                .method = STR("GET"),
                                .target = buf_str(target),
                                .headers = &h };
    rd->at = at;
    rd->status = 0;
    buf_reset(&rd->body);
    int r = transport_start(c->opts.transport, &req, &call_events, rd, &rd->call, &err);
    headers_fini(&h);
    if (r < 0)
        finish(rd, r, &err);
    else
        c->calls++;
}

static struct str place_of(const struct object_read *rd)
{
    return rd->q.namespace.n ? rd->q.namespace : object_sub_namespace(rd->sub);
}

static void ask_one(struct object_read *rd, enum read_at at, struct str namespace, struct str name)
{
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(64 << 10);
    object_cache_write_path(&rd->sub->shape->scope, namespace, &target);
    (void)buf_add_char(&target, '/');
    (void)url_encode(&target, name);
    start_call(rd, at, &target,
               rd->q.view == OBJECT_FULL
                   ? "application/json"
                   : "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
}

/* Asks for a page of the list; limit 1 only reads the version. */
static void ask_list(struct object_read *rd, enum read_at at, size_t limit)
{
    const struct object_cache_scope *s = &rd->sub->shape->scope;
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(256 << 10);
    struct arena a = { 0 };
    object_cache_write_path(s, place_of(rd), &target);
    buf_printf(&target, "?limit=%zu", limit);
    if (at == READ_LIST) {
        struct str name = rd->q.name.n ? rd->q.name : object_sub_name(rd->sub),
                   fields = selector_text(&a, &rd->fields);
        if (name.n)
            fields = str_of(arena_printf(&a, "metadata.name=" STR_FMT "%s" STR_FMT, STR_ARG(name),
                                         fields.n ? "," : "", STR_ARG(fields)));
        add_pair(&target, "labelSelector", s->label_selector, selector_text(&a, &rd->labels));
        add_pair(&target, "fieldSelector", s->field_selector, fields);
        if (rd->q.continue_from.n)
            add_pair(&target, "continue", str_slice(rd->q.continue_from, 1, rd->q.continue_from.n),
                     STR(""));
    }
    arena_fini(&a);
    start_call(rd, at, &target,
               rd->q.view == OBJECT_FULL && at == READ_LIST
                   ? "application/json"
                   : "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
}

/* Ends the read for a status other than 200. */
static void refuse(struct object_read *rd)
{
    switch (rd->status) {
    case 401:
    case 403:
        fail(rd, E_DENIED, "the API forbids it");
        return;
    case 404:
        if (rd->is_list)
            fail(rd, -ENOENT, "there is no such resource");
        else
            no_such(rd);
        return;
    case 410:
        fail(rd, E_EXPIRED, "the page's version is too old");
        return;
    default:
        break;
    }
    char what[48];
    (void)snprintf(what, sizeof what, "the API answers with status %d", rd->status);
    fail(rd, -EIO, what);
}

static uint64_t version_of(const struct json *v)
{
    uint64_t rv = 0;
    (void)parse_u64(json_get_str(json_getc(v, "metadata"), "resourceVersion"), 0, UINT64_MAX, &rv);
    return rv;
}

/* A GET of one object does not apply the subscription's selectors, so apply them here. */
static bool sub_sees_json(const struct object_sub *sub, struct arena *a, const struct json *v)
{
    struct selector fields;
    return selector_matches_labels(&sub->shape->labels, json_path(v, "metadata", "labels", NULL)) &&
           selector_parse_fields(a, sub->shape->scope.field_selector, &fields, NULL) >= 0 &&
           selector_matches_fields(a, &fields, NULL, v);
}

static void read_next_key(struct object_read *rd);

static int put_answer(struct object_read *rd, struct arena *a, struct json *v, struct err *err)
{
    if (rd->q.view != OBJECT_KEYS)
        return put_parsed(rd, a, v, err);
    size_t at = rd->out.n;
    (void)buf_add_cstr(&rd->out, "{\"namespace\":");
    (void)json_write_str(&rd->out, meta_namespace(v));
    (void)buf_add_cstr(&rd->out, ",\"name\":");
    (void)json_write_str(&rd->out, meta_name(v));
    buf_printf(&rd->out, ",\"resourceVersion\":\"%" PRIu64 "\"}", version_of(v));
    return end_item(rd, at, err);
}

static int take_list(struct object_read *rd, struct arena *a, struct json *list, struct err *err)
{
    const struct json *meta = json_getc(list, "metadata");
    int r = 0;
    rd->rv = version_of(list);
    rd->n_left = (uint64_t)MAX(json_int_or(json_getc(meta, "remainingItemCount"), 0), 0);
    json_each (item, json_getc(list, "items")) {
        meta_name_item(a, list, item);
        if (r >= 0)
            r = put_answer(rd, a, item, err);
    }
    struct str token = json_get_str(meta, "continue");
    if (token.n)
        rd->token = str_of(arena_printf(&rd->strings, "a" STR_FMT, STR_ARG(token)));
    return r;
}

static void on_late(struct timer *t)
{
    struct object_read *rd = container_of(t, struct object_read, late);
    if (rd->q.by_field || rd->q.continue_from.n)
        fail(rd, -ETIMEDOUT, "the cache has not caught up with the API in time");
    else
        ask_list(rd, READ_LIST, rd->q.limit);
}

static void wait_fresh(struct object_read *rd, uint64_t rv)
{
    struct object_cache *c = rd->cache;
    rd->at = READ_FRESH;
    rd->wanted_rv = rv;
    timer_start(c->opts.loop, &rd->late, OBJECT_CACHE_FRESH_MS, on_late);
    object_sub_schedule(rd->sub);
    if (c->opts.request_progress && rd->sub->informer->rv < rv)
        c->opts.request_progress(c->opts.arg);
}

static void take_json(struct object_read *rd, struct arena *a, struct json *v)
{
    struct err err = { 0 };
    int r = 0;
    switch (rd->at) {
    case READ_START:
    case READ_FRESH:
        assert(false);
        return;
    case READ_PROBE:
        wait_fresh(rd, version_of(v));
        return;
    case READ_GET:
        if (!sub_sees_json(rd->sub, a, v)) {
            no_such(rd);
            return;
        }
        rd->rv = version_of(v);
        r = put_answer(rd, a, v, &err);
        break;
    case READ_LIST:
        r = take_list(rd, a, v, &err);
        break;
    case READ_KEYS:
        if (sub_sees_json(rd->sub, a, v))
            r = put_answer(rd, a, v, &err);
        if (r < 0)
            break;
        read_next_key(rd);
        return;
    }
    finish(rd, r, &err);
}

static void take_answer(struct object_read *rd, int r, const struct err *err)
{
    if (r < 0) {
        finish(rd, r, err);
        return;
    }
    if (rd->at == READ_KEYS && rd->status == 404) {
        read_next_key(rd); /* deleted meanwhile */
        return;
    }
    if (rd->status != 200) {
        refuse(rd);
        return;
    }
    struct arena a = { .max_bytes = (size_t)BODY_MAX_BYTES * 16 };
    struct json *v;
    size_t n;
    scoped(free_scoped) char *text = buf_ok(&rd->body) ? buf_take(&rd->body, &n) : NULL;
    if (!text || json_parse(&a, str_n(text, n), NULL, &v, NULL) < 0)
        fail(rd, E_PARSE, "the API's answer is too large or does not parse");
    else
        take_json(rd, &a, v);
    arena_fini(&a);
}

/* GETs the objects that the table found, one after the other. */
static void read_next_key(struct object_read *rd)
{
    if (rd->at == READ_KEYS) {
        if (is_page_full(rd))
            end_page(rd, rd->found.p[rd->next_found]);
        unref_found(rd);
    }
    if (rd->next_found == rd->found.n || is_page_full(rd)) {
        struct err err = { 0 };
        finish(rd, 0, &err);
        return;
    }
    const struct cached_object *o = rd->found.p[rd->next_found];
    ask_one(rd, READ_KEYS, cached_object_namespace(o), cached_object_name(o));
}

/* ---------------------------------------------------------------- choosing the path */

/* The cache is as fresh as required: answer from the table. */
static void answer(struct object_read *rd)
{
    bool has_bodies = !rd->cache->opts.embedded;
    bool keys = rd->q.view == OBJECT_KEYS && rd->fields.n == 0;
    if (!rd->is_list) {
        get_table(rd);
    } else if (has_bodies || keys) {
        list_table(rd);
    } else {
        gather_all(rd);
        read_next_key(rd);
    }
}

/* The body must be read from the API: it is not held, except briefly after an event. */
static bool is_in_store(const struct object_read *rd)
{
    if (!rd->cache->opts.embedded || rd->q.view == OBJECT_KEYS)
        return false;
    if (rd->is_list)
        return true;
    const struct cached_object *o = object_sub_find(rd->sub, rd->q.namespace, rd->q.name);
    return !o || o->body_n == 0;
}

static void start_read(struct object_read *rd)
{
    bool from_store = is_in_store(rd);
    bool continues_api = rd->q.continue_from.n && rd->q.continue_from.p[0] == 'a';
    if (!rd->is_list && !object_sub_covers_name(rd->sub, rd->q.namespace, rd->q.name))
        no_such(rd);
    else if (rd->is_list && rd->q.namespace.n && rd->sub->n_namespace &&
             !str_eq(rd->q.namespace, object_sub_namespace(rd->sub)))
        finish(rd, 0, NULL);
    else if (!rd->is_list && (from_store || rd->q.consistent))
        ask_one(rd, READ_GET, rd->q.namespace, rd->q.name);
    else if (rd->is_list && !rd->q.by_field && (from_store || continues_api))
        ask_list(rd, READ_LIST, rd->q.limit);
    else if (rd->q.consistent && rd->q.continue_from.n == 0)
        ask_list(rd, READ_PROBE, 1);
    else
        answer(rd);
}

static void run_read(struct object_read *rd)
{
    if (rd->at == READ_START) {
        start_read(rd);
    } else if (rd->at == READ_FRESH && !rd->call && rd->sub->informer->rv >= rd->wanted_rv) {
        timer_stop(rd->cache->opts.loop, &rd->late);
        answer(rd);
    }
}

void cache_reads_run(struct object_sub *sub)
{
    uint32_t round = ++sub->cache->read_round;
    struct object_read *rd;
    while ((rd = next_of_round(sub, round)))
        run_read(rd);
}

/* ---------------------------------------------------------------- public */

static int take_query(struct object_read *rd, const struct object_query *q, struct err *err)
{
    struct arena *a = &rd->strings;
    rd->q = *q;
    struct str *texts[] = { &rd->q.namespace, &rd->q.name, &rd->q.value, &rd->q.continue_from };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = str_copy_arena(a, *texts[i]);
    rd->q.limit = q->limit == 0 ? LIST_LIMIT : MIN(q->limit, (size_t)LIST_LIMIT_MAX);
    if (rd->sub->shape->scope.metadata_only && q->view == OBJECT_FULL)
        rd->q.view = OBJECT_METADATA;
    struct str token = q->continue_from;
    if (token.n && (token.n > TOKEN_MAX_BYTES || (token.p[0] != 'k' && token.p[0] != 'a') ||
                    (token.p[0] == 'k' && str_find_char(token, '/') < 0)))
        return err_set(err, E_INVALID, "not a token that continues a list");
    if (q->by_field &&
        (q->field >= rd->sub->shape->n_fields || !rd->sub->shape->declared[q->field].indexed))
        return err_set(err, E_INVALID, "field %zu is not indexed", q->field);
    if (q->label_selector.n + q->field_selector.n > SELECTORS_MAX_BYTES)
        return err_set(err, E_INVALID, "selectors of more than %d bytes", SELECTORS_MAX_BYTES);
    int r = selector_parse_labels(a, q->label_selector, &rd->labels, err);
    if (r >= 0)
        r = selector_parse_fields(a, q->field_selector, &rd->fields, err);
    return r;
}

static int begin_read(struct object_sub *sub, const struct object_query *q, bool is_list,
                      object_done_fn done, void *arg, struct object_read **ret, struct err *err)
{
    struct object_cache *c = sub->cache;
    if (c->stats.reads >= OBJECT_CACHE_READS_MAX)
        return err_set(err, -EBUSY, "more than %d reads at a time", OBJECT_CACHE_READS_MAX);
    struct object_read *rd = xnew(struct object_read);
    *rd = (struct object_read){
        .sub = sub, .cache = c, .is_list = is_list, .done = done, .arg = arg
    };
    buf_init(&rd->body, BODY_MAX_BYTES);
    buf_init(&rd->out, 2 * OBJECT_CACHE_PAGE_MAX_BYTES + ITEM_ROOM);
    int r = take_query(rd, q, err);
    if (r >= 0 && !is_list && q->name.n == 0)
        r = err_set(err, E_INVALID, "a get without a name");
    if (r < 0) {
        free_read(rd);
        return r;
    }
    c->stats.reads++;
    list_push_back(&sub->reads, &rd->node);
    object_sub_schedule(sub);
    *ret = rd;
    return 0;
}

int object_sub_get(struct object_sub *sub, const struct object_query *query, object_done_fn done,
                   void *arg, struct object_read **ret, struct err *err)
{
    return begin_read(sub, query, false, done, arg, ret, err);
}

int object_sub_write(struct object_sub *sub, struct str namespace, struct str name, struct buf *to)
{
    const struct object_cache *c = sub->cache;
    struct cache_informer *f = sub->informer;
    if (sub->at != OBJECT_SUB_LIVE || !object_sub_is_ready(sub) ||
        (sub->verdict && !cache_verdict_allows(sub->verdict)))
        return -EAGAIN;
    const struct cached_object *o = object_sub_find(sub, namespace, name);
    if (!o)
        return -ENOENT;
    if ((c->opts.embedded && o->body_n == 0) || !str_eq(f->scope.strip, sub->shape->scope.strip))
        return -EAGAIN;
    size_t before = to->n;
    int r = cache_informer_write(f, o, sub->shape->scope.metadata_only, to, NULL);
    if (r >= 0 && !buf_ok(to))
        r = to->failed;
    if (r < 0)
        to->n = before;
    return r;
}

int object_sub_list(struct object_sub *sub, const struct object_query *query, object_done_fn done,
                    void *arg, struct object_read **ret, struct err *err)
{
    return begin_read(sub, query, true, done, arg, ret, err);
}

void object_sub_end_reads(struct object_sub *sub, int code, const struct err *err)
{
    struct object_cache *c = sub->cache;
    uint32_t round = ++c->read_round;
    struct object_read *rd;
    cache_enter(c);
    while ((rd = next_of_round(sub, round))) {
        object_done_fn done = rd->done;
        void *arg = rd->arg;
        drop_read(rd);
        done(arg, code, NULL, err);
    }
    cache_leave(c);
}
