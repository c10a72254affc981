/* SPDX-License-Identifier: Apache-2.0 */
/* Finds references, and removes what is not referenced. */
#include "oci/store_int.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* ---- holds ---- */

void oci_store_hold(struct oci_store *s, const struct oci_digest *d)
{
    (void)pthread_mutex_lock(&s->mutex);
    struct store_hold *h = map_get(&s->holds, store_key(d));
    if (!h) {
        h = xnew(struct store_hold);
        (void)map_put(&s->holds, store_key(d), h);
    }
    h->n++;
    (void)pthread_mutex_unlock(&s->mutex);
}

void oci_store_release(struct oci_store *s, const struct oci_digest *d)
{
    (void)pthread_mutex_lock(&s->mutex);
    struct store_hold *h = map_get(&s->holds, store_key(d));
    assert(h && h->n > 0);
    if (--h->n == 0)
        free(map_del(&s->holds, store_key(d)));
    (void)pthread_mutex_unlock(&s->mutex);
}

/* ---- marks ---- */

static struct store_mark *mark_of(struct store_marks *m, const struct oci_digest *d)
{
    struct store_mark *mark = map_get(&m->by_digest, store_key(d));
    if (!mark) {
        mark = arena_new(&m->arena, struct store_mark);
        (void)map_put(&m->by_digest, store_key(d), mark);
    }
    mark->is_kept = true;
    return mark;
}

struct store_mark store_mark_of(const struct store_marks *m, const struct oci_digest *d)
{
    const struct store_mark *mark = map_get(&m->by_digest, store_key(d));
    return mark ? *mark : (struct store_mark){ 0 };
}

void store_marks_fini(struct store_marks *m)
{
    map_fini(&m->by_digest);
    arena_fini(&m->arena);
}

/* Mark an image's documents and layers. */
static int mark_image(struct oci_store *s, struct store_marks *m, const struct oci_digest *manifest,
                      bool is_name, bool is_pinned, struct err *err)
{
    struct arena a = { 0 };
    struct oci_manifest doc;
    struct oci_config config;
    int r = oci_store_image_load(s, manifest, &a, &doc, &config, err);
    if (r >= 0) {
        (void)mark_of(m, manifest);
        (void)mark_of(m, &doc.config.digest);
        for (size_t i = 0; i < config.n_diff_ids; i++) {
            struct store_mark *mark = mark_of(m, &config.diff_ids[i]);
            mark->n_images += is_name;
            mark->is_pinned |= is_pinned;
        }
    }
    arena_fini(&a);
    return r;
}

struct marking {
    struct oci_store *s;
    struct store_marks *m;
    struct arena a;
};

static int mark_name(void *arg, const char *file, struct err *err)
{
    struct marking *k = arg;
    struct oci_store_image image;
    static const struct oci_digest none;
    int r = store_read_image(k->s, file, &k->a, &image, err);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    if (!oci_digest_equal(&image.index, &none))
        (void)mark_of(k->m, &image.index);
    r = mark_image(k->s, k->m, &image.manifest, true, image.is_pinned, err);
    return r < 0 ? err_ctx(err, r == -ENOENT ? E_CORRUPT : r, "image '" STR_FMT "'",
                           STR_ARG(image.name))
                 : 0;
}

static int mark_lease(void *arg, const char *file, const struct store_lease *l, struct err *err)
{
    struct marking *k = arg;
    (void)file;
    if (l->is_over)
        return 0;
    int r = mark_image(k->s, k->m, &l->manifest, false, true, err);
    return r < 0 ? err_ctx(err, r == -ENOENT ? E_CORRUPT : r, "lease '" STR_FMT "'", STR_ARG(l->id))
                 : 0;
}

int store_marks_find(struct oci_store *s, struct store_marks *m, struct err *err)
{
    struct marking k = { .s = s, .m = m };
    (void)pthread_mutex_lock(&s->mutex);
    m->n_references = s->n_references;
    (void)pthread_mutex_unlock(&s->mutex);
    int r = store_each(s, "refs", mark_name, &k, err);
    r = r < 0 ? r : store_each_lease(s, &k.a, mark_lease, &k, err);
    arena_fini(&k.a);
    if (r < 0)
        return err_ctx(err, r, "what refers to layers cannot be read; run 'dormouse image check'");
    (void)pthread_mutex_lock(&s->mutex);
    map_each (e, &s->holds) {
        struct oci_digest d;
        memcpy(d.bytes, e->key.p, sizeof d.bytes);
        mark_of(m, &d)->is_pinned = true;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return 0;
}

/* ---- the quota ---- */

void store_drop_used(struct oci_store *s, uint64_t bytes)
{
    (void)pthread_mutex_lock(&s->mutex);
    s->used_bytes -= MIN(bytes, s->used_bytes);
    (void)pthread_mutex_unlock(&s->mutex);
}

void store_unreserve(struct oci_store *s, uint64_t bytes)
{
    (void)pthread_mutex_lock(&s->mutex);
    assert(s->reserved_bytes >= bytes);
    s->reserved_bytes -= bytes;
    (void)pthread_mutex_unlock(&s->mutex);
}

static uint64_t missing_room(struct oci_store *s, uint64_t bytes)
{
    (void)pthread_mutex_lock(&s->mutex);
    uint64_t want = s->used_bytes + s->reserved_bytes + bytes;
    bool fits = s->opts.quota_bytes == 0 || want <= s->opts.quota_bytes;
    if (fits)
        s->reserved_bytes += bytes;
    (void)pthread_mutex_unlock(&s->mutex);
    return fits ? 0 : want - s->opts.quota_bytes;
}

static void note_stale(struct oci_store *s)
{
    (void)pthread_mutex_lock(&s->mutex);
    s->has_stale_objects = true;
    (void)pthread_mutex_unlock(&s->mutex);
}

/* Remove the objects that no layer names, if there may be some. Returns how many went. */
static int sweep_stale(struct oci_store *s, struct err *err)
{
    size_t n = 0;
    uint64_t n_bytes;
    (void)pthread_mutex_lock(&s->mutex);
    bool is_stale = s->has_stale_objects;
    s->has_stale_objects = false;
    (void)pthread_mutex_unlock(&s->mutex);
    int r = is_stale ? store_objects_sweep(s, false, &n, &n_bytes, err) : 0;
    if (r < 0)
        note_stale(s);
    return r < 0 ? r : n > 0;
}

static int evict(struct oci_store *s, uint64_t bytes, struct err *err)
{
    return s->opts.cache ? s->opts.cache->make_room(s->opts.cache_arg, bytes, err)
                         : err_set(err, -ENOSPC, "nothing decides which layers leave the store");
}

static int count_one(void *arg, const char *name, struct err *err)
{
    (void)name, (void)err;
    ++*(size_t *)arg;
    return 0;
}

int store_make_room(struct oci_store *s, uint64_t bytes, struct err *err)
{
    struct err why = { 0 };
    size_t n_trash = 0;
    int evicted = evict(s, bytes, &why);
    if (evicted < 0 && evicted != -ENOSPC)
        return err_set(err, evicted, "%s", err_text(&why));
    /* Also where no layer can go: what is left of others takes room. */
    int swept = sweep_stale(s, err);
    int r = swept < 0 ? swept : store_each(s, "trash", count_one, &n_trash, err);
    r = r < 0 ? r : oci_store_sweep(s, SIZE_MAX, err);
    if (r >= 0 && evicted < 0 && !swept && !n_trash)
        return err_set(err, evicted, "%s", err_text(&why));
    return r < 0 ? r : 0;
}

int store_reserve(struct oci_store *s, uint64_t bytes, struct err *err)
{
    for (;;) {
        uint64_t need = missing_room(s, bytes);
        if (need == 0)
            return 0;
        int r = evict(s, need, err); /* objects and trash count for no quota */
        r = r < 0 ? r : sweep_stale(s, err);
        r = r < 0 ? r : oci_store_sweep(s, SIZE_MAX, err);
        if (r < 0)
            return err_ctx(err, r, "the quota of %llu bytes is used up",
                           (unsigned long long)s->opts.quota_bytes);
    }
}

/* ---- gc ---- */

/* Files to remove; they are counted after their removal. */
struct noted {
    char *path;
    size_t *count;
    uint64_t n_bytes;
    uint64_t object_bytes; /* of them: removed with the objects, if no other layer has them */
};

struct store_gc {
    struct oci_store *s;
    struct store_marks marks;
    struct arena a;
    struct oci_store_gc *to;
    bool is_dry;
    VEC(struct noted) noted; /* of the directory that is looked through: removed after it */
};

static void note(struct store_gc *g, const char *dir, const char *name, size_t *count)
{
    vec_push(&g->noted, ((struct noted){ .path = xasprintf("%s/%s", dir, name), .count = count }));
}

/* Whether a file of this name has to stay; other names than digests are not ours to remove. */
static bool must_stay(const struct store_gc *g, const char *name)
{
    struct oci_digest d;
    return !store_digest_of_name(name, &d) || store_mark_of(&g->marks, &d).is_kept;
}

static int gc_layer(void *arg, const char *name, struct err *err)
{
    struct store_gc *g = arg;
    struct oci_digest d;
    struct store_layer_files f = { 0 };
    (void)err;
    if (must_stay(g, name) || !store_digest_of_name(name, &d))
        return 0;
    (void)store_layer_stat(g->s, &d, &f, NULL);
    vec_push(&g->noted, ((struct noted){ xasprintf("layers/%s", name), &g->to->n_layers,
                                         store_layer_bytes(&f), f.object_bytes }));
    return 0;
}

/* Of a layer that is there after all others were dropped; one may be held only since the marks. */
static int mark_blob(void *arg, const char *name, struct err *err)
{
    struct store_gc *g = arg;
    struct oci_digest d;
    struct store_layer_files f = { 0 };
    if (!store_digest_of_name(name, &d) || (g->is_dry && !must_stay(g, name)))
        return 0;
    int r = store_layer_stat(g->s, &d, &f, err);
    if (f.has_blob)
        (void)mark_of(&g->marks, &f.blob);
    return r == -ENOENT || r == E_CORRUPT ? 0 : r; /* removed since; or a check reports it */
}

static int gc_blob(void *arg, const char *name, struct err *err)
{
    struct store_gc *g = arg;
    (void)err;
    if (!must_stay(g, name))
        note(g, "blobs", name, &g->to->n_blobs);
    return 0;
}

static int gc_index(void *arg, const char *name, struct err *err)
{
    struct store_gc *g = arg;
    (void)err;
    if (!must_stay(g, name))
        note(g, "meta/index", name, &g->to->n_indexes);
    return 0;
}

static int gc_document(void *arg, const char *name, struct err *err)
{
    struct store_gc *g = arg;
    (void)err;
    if (!must_stay(g, name))
        note(g, "meta/documents", name, &g->to->n_documents);
    return 0;
}

static int gc_image_dir(void *arg, const char *name, struct err *err)
{
    struct store_gc *g = arg;
    (void)err;
    if (!must_stay(g, name))
        note(g, "images", name, NULL);
    return 0;
}

static int gc_lease(void *arg, const char *file, const struct store_lease *l, struct err *err)
{
    struct store_gc *g = arg;
    (void)err;
    if (l->is_over)
        note(g, "leases", file, NULL);
    return 0;
}

static int gc_partial(void *arg, const char *name, struct err *err)
{
    struct store_gc *g = arg;
    scoped(free_scoped) char *dir = xasprintf("tmp/%s", g->s->boot);
    struct str hex;
    struct str suffix;
    (void)err;
    (void)str_cut(str_of(name), '.', &hex, &suffix);
    scoped(free_scoped) char *digest = str_dup(hex);
    if (str_is(suffix, "part") && !must_stay(g, digest))
        note(g, dir, name, NULL);
    return 0;
}

/* 1: it is in the trash; 0: it is held since it was noted, and stays, or another thread removed it.
 */
static int drop_one(struct store_gc *g, const struct noted *n, struct err *err)
{
    struct oci_digest d;
    scoped(free_scoped) char *name = xstrdup(strrchr(n->path, '/') + 1);
    name[strcspn(name, ".")] = 0;
    if (!store_digest_of_name(name, &d))
        return 0;
    int r = store_trash_unheld(g->s, n->path, &d, g->marks.n_references, err);
    if (r == -EBUSY || r == -ENOENT)
        return 0;
    if (r >= 0)
        store_drop_used(g->s, n->n_bytes);
    return r < 0 ? r : 1;
}

static void noted_fini(struct store_gc *g)
{
    for (size_t i = 0; i < g->noted.n; i++)
        free(g->noted.p[i].path);
    g->noted.n = 0;
}

/* Move what was noted to the trash. */
static int drop_noted(struct store_gc *g, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < g->noted.n && r >= 0; i++) {
        const struct noted *n = &g->noted.p[i];
        r = g->is_dry ? 1 : drop_one(g, n, err);
        if (r == 1 && n->count) {
            ++*n->count;
            g->to->n_bytes += n->n_bytes - n->object_bytes;
        }
    }
    noted_fini(g);
    return r < 0 ? r : 0;
}

static int collect_objects(struct store_gc *g, struct err *err)
{
    size_t n;
    uint64_t n_bytes;
    int r = store_objects_sweep(g->s, g->is_dry, &n, &n_bytes, err);
    if (r >= 0) {
        g->to->n_objects += n;
        g->to->n_bytes += n_bytes;
    }
    return r;
}

/*
 * Layers first, then what only they need. A crash in between leaves things without a layer, which
 * the next gc finds.
 */
static int collect(struct store_gc *g, struct err *err)
{
    static const struct {
        const char *dir;
        int (*each)(void *arg, const char *name, struct err *err);
    } steps[] = {
        { "layers", gc_layer },     { "layers", mark_blob },    { "blobs", gc_blob },
        { "images", gc_image_dir }, { "meta/index", gc_index }, { "meta/documents", gc_document },
    };
    int r = store_each_lease(g->s, &g->a, gc_lease, g, err);
    r = r < 0 ? r : drop_noted(g, err);
    for (size_t i = 0; i < ARRAY_LEN(steps) && r >= 0; i++) {
        r = store_each(g->s, steps[i].dir, steps[i].each, g, err);
        r = r < 0 ? r : drop_noted(g, err);
    }
    scoped(free_scoped) char *tmp = xasprintf("tmp/%s", g->s->boot);
    r = r < 0 ? r : store_each(g->s, tmp, gc_partial, g, err);
    r = r < 0 ? r : drop_noted(g, err);
    return r < 0 ? r : collect_objects(g, err);
}

static int gc_once(struct oci_store *s, bool is_dry, struct oci_store_gc *found, struct err *err)
{
    struct store_gc g = { .s = s, .to = found, .is_dry = is_dry };
    int r = store_marks_find(s, &g.marks, err);
    r = r < 0 ? r : collect(&g, err);
    noted_fini(&g);
    vec_fini(&g.noted);
    store_marks_fini(&g.marks);
    arena_fini(&g.a);
    return r;
}

int oci_store_gc(struct oci_store *s, bool is_dry, struct oci_store_gc *ret, struct err *err)
{
    struct oci_store_gc all = { 0 };
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    do { /* again when names were put meanwhile */
        r = gc_once(s, is_dry, &all, err);
    } while (r == -EAGAIN);
    if (r < 0)
        return r;
    *ret = all;
    return 0;
}
