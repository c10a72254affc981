/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List and watch.
 *
 *   LIST ---- complete ----> WATCH ---- ended ----> WATCH from the last version seen
 *    ^  ^                      |
 *    |  '------ 410 Gone ------'        after a failure either is started again with back-off
 *    '--- next page (same list)
 *
 * There is no periodic list. In G2 a watch is a streamed request of 290 s, which a host may renew
 * by itself without ending it here.
 */
#include "dm/frames.h"
#include "dm/host.h"
#include "kube.h"
#include "map.h"

#include <string.h>

#define WATCH_SECONDS  290u /* hosts of this ABI give up on a silent connection after 295 s */
#define BACKOFF_MIN_MS 800u
#define BACKOFF_MAX_MS 30000u
#define HEALTHY_MS     120000u /* a watch that lived this long makes earlier failures forgotten */
#define HASTY_MS       1000u   /* one that ended sooner without an event counts as failed */

struct entry {
    struct dm_map_node node; /* key "ns\0name\0" */
    struct dm_object obj;
    uint32_t seen; /* number of the list that last showed the object */
    char text[];
};

/* One watch at the host. It outlives its cache's interest: the host may go on long after a 410. */
struct stream {
    struct dm_op op;
    struct dm_cache *cache; /* NULL: nobody listens any more */
    struct dm_frames frames;
    uint64_t started_ms;
    bool had_events;
    bool failed;
    bool gone; /* 410: the version it started from is too old */
};

struct dm_cache {
    struct dm_watch w;
    struct dm_map entries;
    struct stream *stream;
    struct dm_timer retry;
    struct dm_text version;   /* resume from here */
    struct dm_text continued; /* token of the next page */
    uint32_t n_lists;
    uint32_t list_failures, watch_failures; /* in a row */
    bool synced;
    bool must_list;
};

static void list_start(struct dm_cache *c);
static void watch_start(struct dm_cache *c);

/* ---- entries ---- */

static struct entry *entry_find(const struct dm_cache *c, const char *ns, const char *name)
{
    struct dm_text key = { 0 };
    dm_text_put(&key, ns, strlen(ns) + 1);
    dm_text_put(&key, name, strlen(name) + 1);
    struct entry *e = (struct entry *)dm_map_find(&c->entries, key.p, key.n);
    dm_text_fini(&key);
    return e;
}

static struct entry *entry_new(const char *ns, const char *name)
{
    size_t ns_n = strlen(ns) + 1, name_n = strlen(name) + 1;
    struct entry *e = dm_zalloc(sizeof(*e) + ns_n + name_n);
    memcpy(e->text, ns, ns_n);
    memcpy(e->text + ns_n, name, name_n);
    e->obj.ns = e->text;
    e->obj.name = e->text + ns_n;
    e->node.key = e->text;
    e->node.n = (uint32_t)(ns_n + name_n);
    return e;
}

static void entry_keep(struct entry *e, struct dm_str kept)
{
    if (e->obj.kept.n != kept.n) {
        dm_free((char *)(uintptr_t)e->obj.kept.p);
        e->obj.kept = (struct dm_str){ kept.n ? dm_alloc(kept.n) : NULL, kept.n };
    }
    if (kept.n)
        memcpy((char *)(uintptr_t)e->obj.kept.p, kept.p, kept.n);
}

static void report(struct dm_cache *c, enum dm_change change, const struct entry *e)
{
    if (c->w.changed)
        c->w.changed(c->w.arg, change, e->obj.ns, e->obj.name);
}

static void entry_delete(struct dm_cache *c, struct entry *e)
{
    report(c, DM_DELETED, e);
    dm_map_remove(&c->entries, &e->node);
    dm_free((char *)(uintptr_t)e->obj.kept.p);
    dm_free(e);
}

static void note_object(struct dm_cache *c, struct dm_json obj, bool gone)
{
    struct dm_arena a = { 0 };
    struct dm_json meta = dm_json_member(obj, "metadata");
    const char *ns = dm_json_string(dm_json_member(meta, "namespace"), &a);
    const char *name = dm_json_string(dm_json_member(meta, "name"), &a);
    struct entry *e = entry_find(c, ns, name);
    if (gone) {
        if (e)
            entry_delete(c, e);
        dm_arena_fini(&a);
        return;
    }
    enum dm_change change = e ? DM_MODIFIED : DM_ADDED;
    if (!e) {
        e = entry_new(ns, name);
        dm_map_insert(&c->entries, &e->node);
    }
    dm_arena_fini(&a);
    struct dm_text kept = { 0 };
    if (c->w.keep)
        c->w.keep(obj, &kept);
    bool differs = change == DM_ADDED || !c->w.keep || !dm_str_eq(dm_text_view(&kept), e->obj.kept);
    entry_keep(e, dm_text_view(&kept));
    dm_text_fini(&kept);
    e->seen = c->n_lists;
    if (differs)
        report(c, change, e);
}

static void note_version(struct dm_cache *c, struct dm_json meta)
{
    struct dm_json v = dm_json_member(meta, "resourceVersion");
    if (!dm_json_plain(v).n)
        return;
    c->version.n = 0;
    dm_json_decode(v, &c->version);
}

/* ---- failures ---- */

static void on_retry(void *arg)
{
    struct dm_cache *c = arg;
    if (c->must_list)
        list_start(c);
    else
        watch_start(c);
}

/* The first failure in a row is worth a warning, the ones after it are not. */
static void retry_later(struct dm_cache *c, uint32_t *failures, const char *what, int status)
{
    uint64_t limit = BACKOFF_MIN_MS;
    for (uint32_t i = 0; i < *failures && limit < BACKOFF_MAX_MS; i++)
        limit *= 2;
    if (limit > BACKOFF_MAX_MS)
        limit = BACKOFF_MAX_MS;
    dm_log(*failures ? DM_DEBUG : DM_WARN, "%s failed, retrying resource=%s namespace=%s status=%d",
           what, c->w.res->plural, c->w.ns ? c->w.ns : "", status);
    ++*failures;
    dm_timer_set(&c->retry, 1 + dm_random() % limit, on_retry, c);
}

static void recovered(struct dm_cache *c, uint32_t *failures, const char *what)
{
    if (*failures)
        dm_log(DM_INFO, "%s works again resource=%s failures=%u", what, c->w.res->plural,
               *failures);
    *failures = 0;
}

/* ---- list ---- */

static void put_selectors(struct dm_text *path, const struct dm_watch *w)
{
    if (w->label_selector) {
        dm_textf(path, "&labelSelector=");
        dm_text_uri(path, dm_str(w->label_selector));
    }
    if (w->field_selector) {
        dm_textf(path, "&fieldSelector=");
        dm_text_uri(path, dm_str(w->field_selector));
    }
}

static void forget_unseen(struct dm_cache *c)
{
    struct dm_map_node *next, *i = dm_map_next(&c->entries, NULL);
    for (; i; i = next) {
        next = dm_map_next(&c->entries, i);
        if (((struct entry *)i)->seen != c->n_lists)
            entry_delete(c, (struct entry *)i);
    }
}

static void request_page(struct dm_cache *c);

static void on_page(void *arg, int status, const char *body, size_t n)
{
    struct dm_cache *c = arg;
    struct dm_json list = status == 200 ? dm_json_parse(body, n) : (struct dm_json){ 0 };
    if (status == 410 && c->continued.n) {
        list_start(c); /* the token expired: the pages so far count for nothing */
        return;
    }
    if (!dm_json_has(dm_json_member(list, "metadata"))) {
        retry_later(c, &c->list_failures, "list", status);
        return;
    }
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(list, "items")); dm_json_next(&it);)
        note_object(c, it.value, false);
    c->continued.n = 0;
    dm_json_decode(dm_json_at(list, "metadata.continue"), &c->continued);
    note_version(c, dm_json_member(list, "metadata"));
    if (c->continued.n) {
        request_page(c);
        return;
    }
    dm_text_fini(&c->continued);
    forget_unseen(c);
    recovered(c, &c->list_failures, "list");
    c->synced = true;
    c->must_list = false;
    watch_start(c);
}

static void request_page(struct dm_cache *c)
{
    struct dm_text path = { 0 };
    dm_kube_path(&path, c->w.res, c->w.ns, NULL, NULL);
    dm_textf(&path, "?limit=%d", DM_LIST_PAGE);
    put_selectors(&path, &c->w);
    if (c->continued.n) {
        dm_textf(&path, "&continue=");
        dm_text_uri(&path, dm_text_view(&c->continued));
    }
    dm_http(&(struct dm_request){ .method = "GET", .path = path.p }, on_page, c);
    dm_text_fini(&path);
}

static void list_start(struct dm_cache *c)
{
    c->must_list = true;
    c->n_lists++;
    c->continued.n = 0;
    request_page(c);
}

/* ---- watch ---- */

static void abandon(struct dm_cache *c)
{
    c->stream->cache = NULL;
    c->stream = NULL;
}

static void on_error_event(struct stream *s, struct dm_json status)
{
    int64_t code = dm_json_int(dm_json_member(status, "code"), 0);
    if (code == 410) {
        dm_log(DM_DEBUG, "version is too old, listing again resource=%s", s->cache->w.res->plural);
        s->cache->must_list = true;
        s->gone = true;
    }
    s->failed = true;
}

static void on_event(void *arg, const char *p, size_t n)
{
    struct stream *s = arg;
    struct dm_cache *c = s->cache;
    if (s->failed)
        return;
    struct dm_json event = dm_json_parse(p, n);
    struct dm_json type = dm_json_member(event, "type"), obj = dm_json_member(event, "object");
    if (dm_json_is(type, "ERROR")) {
        on_error_event(s, obj);
        return;
    }
    if (dm_json_kind(obj) != DM_JSON_OBJECT) {
        s->failed = true;
        return;
    }
    s->had_events = true;
    note_version(c, dm_json_member(obj, "metadata"));
    if (!dm_json_is(type, "BOOKMARK"))
        note_object(c, obj, dm_json_is(type, "DELETED"));
}

/*
 * Start over after a stream that is of no use any more, whether or not the host has ended it.
 * At once, unless it failed or brought nothing in no time.
 */
static void watch_over(struct stream *s)
{
    struct dm_cache *c = s->cache;
    uint64_t lived_ms = dm_now_ms() - s->started_ms;
    int status = s->op.status;
    abandon(c);
    if (status >= 400) {
        c->must_list = true; /* which tells why */
        s->failed = true;
    }
    if (s->had_events || lived_ms > HEALTHY_MS)
        recovered(c, &c->watch_failures, "watch");
    bool hasty = !s->had_events && lived_ms < HASTY_MS;
    if (hasty || (s->failed && !s->gone))
        retry_later(c, &c->watch_failures, "watch", status);
    else
        on_retry(c);
}

static void on_stream(struct dm_op *op, enum dm_op_event ev, const char *p, size_t n)
{
    struct stream *s = (struct stream *)op;
    bool usable = s->cache && op->status < 400;
    if (usable && p && n && !dm_frames_feed(&s->frames, p, n, on_event, s))
        s->failed = true;
    if (s->cache && (s->failed || ev == DM_OP_END))
        watch_over(s);
    if (ev == DM_OP_END) {
        dm_frames_reset(&s->frames);
        dm_free(s);
    }
}

static void watch_start(struct dm_cache *c)
{
    struct stream *s = dm_zalloc(sizeof(*s));
    s->op.fn = on_stream;
    s->cache = c;
    s->started_ms = dm_now_ms();
    c->stream = s;
    dm_text_put(&c->version, "", 0);
    if (dm_host_can_watch()) {
        dm_op_add(&s->op, dm_host_watch(&(struct dm_watch_request){
                              .res = c->w.res,
                              .ns = c->w.ns,
                              .resource_version = c->version.p,
                              .label_selector = c->w.label_selector,
                              .field_selector = c->w.field_selector,
                          }));
        return;
    }
    struct dm_text path = { 0 };
    dm_kube_path(&path, c->w.res, c->w.ns, NULL, NULL);
    dm_textf(&path, "?watch=true&resourceVersion=%s&timeoutSeconds=%u", c->version.p,
             WATCH_SECONDS);
    put_selectors(&path, &c->w);
    dm_op_add(&s->op,
              dm_host_request(&(struct dm_request){ .method = "GET", .path = path.p }, true));
    dm_text_fini(&path);
}

/* ---- public ---- */

struct dm_cache *dm_cache_start(const struct dm_watch *w)
{
    struct dm_cache *c = dm_zalloc(sizeof(*c));
    c->w = *w;
    list_start(c);
    return c;
}

bool dm_cache_synced(const struct dm_cache *c)
{
    return c->synced;
}

const struct dm_object *dm_cache_get(const struct dm_cache *c, const char *ns, const char *name)
{
    const struct entry *e = entry_find(c, ns ? ns : "", name);
    return e ? &e->obj : NULL;
}

const struct dm_object *dm_cache_next(const struct dm_cache *c, const struct dm_object *o)
{
    const struct dm_map_node *node = NULL;
    if (o)
        node = (const struct dm_map_node *)(const void *)((const char *)o -
                                                          offsetof(struct entry, obj));
    struct entry *e = (struct entry *)dm_map_next(&c->entries, node);
    return e ? &e->obj : NULL;
}

size_t dm_cache_count(const struct dm_cache *c)
{
    return c->entries.count;
}
