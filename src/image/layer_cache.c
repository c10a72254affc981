/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers of a node store as a cache. The cache's lock is taken before the store's, never while
 * that is held. A layer is deleted first and removed from the lists after that: after a crash in
 * between, the next opening finds that the layer is missing.
 *
 * Layers in use are found in the names and manifests of the store. Making room reads all of them,
 * once and again for each evicted layer, and only holds `room` meanwhile, so that uses and uploads
 * continue.
 */
#include "image/layer_cache.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"
#include "image/cache_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

struct layer_cache {
    struct oci_store *store; /* NULL until it is open */
    enum image_cache_policy policy;
    int dir_fd;
    pthread_mutex_t room;  /* one makes room at a time; taken before the mutex */
    pthread_mutex_t mutex; /* of what follows */
    struct image_cache *cache;
    struct image_cache_journal *journal; /* NULL while it is read */
    bool has_failed;                     /* to write the journal, and this was logged */
    pthread_mutex_t summary_mutex;       /* of what follows; held for a moment only */
    struct layer_cache_summary summary;
};

/* What imports on this thread are; see layer_cache_prefetches(). */
static _Thread_local bool is_prefetching;

static void on_event(void *arg, const struct image_cache_event *e)
{
    struct layer_cache *c = arg;
    if (c->journal)
        image_cache_journal_note(c->journal, e, clock_wall_ms());
}

static void publish_summary(struct layer_cache *c)
{
    struct layer_cache_summary s = { .policy = c->policy,
                                     .capacity = oci_store_quota(c->store),
                                     .target = image_cache_target(c->cache),
                                     .stats = *image_cache_stats(c->cache) };
    for (int l = IMAGE_CACHE_T1; l < IMAGE_CACHE_LISTS; l++) {
        s.lists[l].n = image_cache_count(c->cache, (enum image_cache_list)l);
        s.lists[l].bytes = image_cache_bytes(c->cache, (enum image_cache_list)l);
    }
    (void)pthread_mutex_lock(&c->summary_mutex);
    c->summary = s;
    (void)pthread_mutex_unlock(&c->summary_mutex);
}

static void flush(struct layer_cache *c)
{
    struct err err = { 0 };
    char why[LOG_QUOTE_MAX];
    publish_summary(c);
    int r = image_cache_journal_flush(c->journal, c->cache, clock_wall_ms(), &err);
    if (r < 0 && !c->has_failed)
        log_warn("the journal of the layer cache is not written, going on", "reason=\"%s\"",
                 log_quote(why, str_of(err_text(&err))));
    c->has_failed = r < 0;
}

/* ---- layers on the disk ---- */

static void settle_with(struct image_cache *cache, const struct oci_store_layer *all, size_t n)
{
    struct image_cache_found *found = xnew_n(struct image_cache_found, n + 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(found[i].key, all[i].diff_id.bytes, SHA256_BYTES);
        found[i].size = all[i].n_bytes;
        found[i].mtime_s = all[i].used_wall_s;
    }
    image_cache_settle(cache, found, n);
    free(found);
}

/* Compare the lists with the directory. */
static int settle(struct image_cache *cache, struct oci_store *s, struct err *err)
{
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    size_t n = 0;
    int r = oci_store_layers_alone(s, &all, &n, err);
    if (r >= 0)
        settle_with(cache, all, n);
    return r;
}

static struct image_cache *new_cache(enum image_cache_policy policy, uint64_t quota,
                                     struct layer_cache *events_to)
{
    return image_cache_new(&(struct image_cache_options){
        .policy = policy,
        .capacity = quota ? MIN(quota, IMAGE_CACHE_SIZE_MAX) : IMAGE_CACHE_SIZE_MAX,
        .caller_evicts = true,
        .on_event = events_to ? on_event : NULL,
        .arg = events_to });
}

/* ---- events of the store ---- */

static int on_open(void *arg, struct oci_store *s, struct err *err)
{
    struct layer_cache *c = arg;
    enum image_cache_journal_state state;
    c->dir_fd = sys_openat(AT_FDCWD, oci_store_root(s), O_RDONLY | O_DIRECTORY, 0);
    if (c->dir_fd < 0)
        return err_sys(err, c->dir_fd, "open '%s'", oci_store_root(s));
    c->cache = new_cache(c->policy, oci_store_quota(s), c);
    int r = image_cache_journal_open(c->dir_fd, LAYER_CACHE_JOURNAL, c->cache, &c->journal, &state,
                                     err);
    r = r < 0 ? r : settle(c->cache, s, err);
    if (r < 0)
        return r;
    if (state == IMAGE_CACHE_JOURNAL_ABSENT && image_cache_used(c->cache) == 0) {
        image_cache_free(c->cache); /* no data is lost: a new store, whose target is 0 */
        c->cache = new_cache(c->policy, oci_store_quota(s), c);
    }
    if (state == IMAGE_CACHE_JOURNAL_DAMAGED)
        log_warn("the journal of the layer cache is damaged: layers count as used once", "store=%s",
                 oci_store_root(s));
    c->store = s;
    publish_summary(c);
    return 0;
}

static void on_expect(void *arg, const struct oci_digest *diff_id)
{
    struct layer_cache *c = arg;
    if (is_prefetching)
        return;
    (void)pthread_mutex_lock(&c->mutex);
    image_cache_expect(c->cache, diff_id->bytes);
    (void)pthread_mutex_unlock(&c->mutex);
}

static void on_use(void *arg, const struct oci_digest *diff_id, uint64_t n_bytes)
{
    struct layer_cache *c = arg;
    (void)pthread_mutex_lock(&c->mutex);
    if (is_prefetching) {
        if (n_bytes)
            (void)image_cache_prefetch(c->cache, diff_id->bytes, n_bytes, NULL, NULL);
        flush(c);
    } else if (n_bytes || image_cache_has(c->cache, diff_id->bytes)) {
        (void)image_cache_access(
            c->cache, &(struct image_cache_request){ .key = diff_id->bytes, .size = n_bytes });
        flush(c);
    }
    (void)pthread_mutex_unlock(&c->mutex);
}

/* Pins for the time in which room is made. */
struct cache_pins {
    struct image_cache *cache;
    VEC(struct oci_digest) all;
};

static void pin(struct cache_pins *p, const struct oci_digest *d)
{
    if (image_cache_pin(p->cache, d->bytes))
        vec_push(&p->all, *d);
}

static void unpin_all(struct cache_pins *p)
{
    vec_each (d, &p->all)
        image_cache_unpin(p->cache, d->bytes);
    vec_fini(&p->all);
}

/* Layers in use are pinned; layers that no image uses are dead. */
static void mark(struct cache_pins *p, const struct oci_store_layer *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct oci_digest *d = &all[i].diff_id;
        if (all[i].is_pinned)
            pin(p, d);
        else if (all[i].n_images == 0 && !image_cache_is_prefetched(p->cache, d->bytes) &&
                 image_cache_where(p->cache, d->bytes) != IMAGE_CACHE_DEAD)
            (void)image_cache_demote(p->cache, d->bytes);
    }
}

/* 1: that number of bytes was freed. 0: it stays, or was removed already. The mutex is released
 * meanwhile. */
static int remove_one(struct layer_cache *c, struct cache_pins *p, const struct oci_digest *d,
                      struct err *err)
{
    struct err why = { 0 };
    (void)pthread_mutex_unlock(&c->mutex);
    int r = oci_store_layer_remove(c->store, d, &why);
    (void)pthread_mutex_lock(&c->mutex);
    if (r == -EBUSY) { /* in use since it was looked at */
        pin(p, d);
        return 0;
    }
    if (r < 0 && r != -ENOENT)
        return err_set(err, r, "%s", err_text(&why));
    if (oci_store_layer_has(c->store, d)) /* it has come again: that use is noted, or will be */
        return r >= 0;
    if (r >= 0 && image_cache_has(c->cache, d->bytes))
        image_cache_evict(c->cache, d->bytes);
    else
        (void)image_cache_remove(c->cache, d->bytes);
    return r >= 0;
}

static int too_little(const struct layer_cache *c, uint64_t need, struct err *err)
{
    return err_set(err, -ENOSPC,
                   "the store's quota of %llu bytes has no room for %llu more: %llu are in use",
                   (unsigned long long)oci_store_quota(c->store), (unsigned long long)need,
                   (unsigned long long)image_cache_pinned(c->cache));
}

static int evict(struct layer_cache *c, struct cache_pins *p, uint64_t need, struct err *err)
{
    uint64_t freed = 0, size;
    struct oci_digest d;
    if (image_cache_used(c->cache) - image_cache_pinned(c->cache) < need)
        return too_little(c, need, err);
    while (freed < need && image_cache_next(c->cache, need - freed, d.bytes, &size)) {
        if (is_prefetching && image_cache_where(c->cache, d.bytes) != IMAGE_CACHE_DEAD)
            return too_little(c, need - freed, err);
        int r = remove_one(c, p, &d, err);
        if (r < 0)
            return r;
        freed += r ? size : 0;
    }
    return freed >= need ? 0 : too_little(c, need - freed, err);
}

static int on_make_room(void *arg, uint64_t need_bytes, struct err *err)
{
    struct layer_cache *c = arg;
    struct cache_pins p = { .cache = c->cache };
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    size_t n = 0;
    if (oci_store_quota(c->store) == 0)
        return err_set(err, -ENOSPC, "the store has no quota, so nothing is evicted");
    (void)pthread_mutex_lock(&c->room);
    int r = oci_store_layers(c->store, &all, &n, err);
    (void)pthread_mutex_lock(&c->mutex);
    if (r >= 0) {
        mark(&p, all, n); /* a removal detects uses since then */
        r = evict(c, &p, need_bytes, err);
    }
    unpin_all(&p);
    flush(c);
    (void)pthread_mutex_unlock(&c->mutex);
    (void)pthread_mutex_unlock(&c->room);
    return r;
}

static void cache_free(struct layer_cache *c)
{
    image_cache_journal_free(c->journal);
    image_cache_free(c->cache);
    fd_scoped(&c->dir_fd);
    (void)pthread_mutex_destroy(&c->room);
    (void)pthread_mutex_destroy(&c->mutex);
    (void)pthread_mutex_destroy(&c->summary_mutex);
    free(c);
}

static void on_close(void *arg)
{
    cache_free(arg);
}

static const struct oci_store_cache_ops cache_ops = {
    .open = on_open,
    .expect = on_expect,
    .use = on_use,
    .make_room = on_make_room,
    .close = on_close,
};

/* ---- for others ---- */

void layer_cache_prefetches(bool is_on)
{
    is_prefetching = is_on;
}

int layer_cache_open_store(const struct oci_store_opts *opts, enum image_cache_policy policy,
                           struct oci_store **ret, struct err *err)
{
    struct oci_store_opts with = *opts;
    with.cache = NULL;
    if (opts->is_reader)
        return oci_store_open(&with, ret, err);
    struct layer_cache *c = xnew(struct layer_cache);
    c->policy = policy;
    c->dir_fd = -1;
    (void)pthread_mutex_init(&c->room, NULL);
    (void)pthread_mutex_init(&c->mutex, NULL);
    (void)pthread_mutex_init(&c->summary_mutex, NULL);
    with.cache = &cache_ops;
    with.cache_arg = c;
    int r = oci_store_open(&with, ret, err);
    if (r < 0)
        cache_free(c);
    return r;
}

bool layer_cache_serve(struct oci_store *s, const struct oci_digest *digest, struct oci_digest *ret)
{
    struct layer_cache *c = oci_store_cache(s, &cache_ops);
    if (!c)
        return false;
    struct oci_digest d;
    if (oci_store_layer_of_blob(s, digest, &d, NULL) < 0)
        d = *digest;
    (void)pthread_mutex_lock(&c->mutex);
    bool found = image_cache_touch(c->cache, d.bytes);
    if (found) {
        oci_store_hold(s, &d);
        flush(c);
    }
    (void)pthread_mutex_unlock(&c->mutex);
    if (found)
        *ret = d;
    return found;
}

bool layer_cache_demote(struct oci_store *s, const struct oci_digest *digest)
{
    struct layer_cache *c = oci_store_cache(s, &cache_ops);
    struct oci_digest d;
    if (!c)
        return false;
    if (oci_store_layer_of_blob(s, digest, &d, NULL) < 0)
        d = *digest;
    (void)pthread_mutex_lock(&c->mutex);
    bool found = image_cache_demote(c->cache, d.bytes);
    if (found)
        flush(c);
    (void)pthread_mutex_unlock(&c->mutex);
    return found;
}

int layer_cache_settle(struct oci_store *s, struct err *err)
{
    struct layer_cache *c = oci_store_cache(s, &cache_ops);
    if (!c)
        return 0;
    (void)pthread_mutex_lock(&c->mutex);
    int r = settle(c->cache, s, err);
    flush(c);
    (void)pthread_mutex_unlock(&c->mutex);
    return r;
}

bool layer_cache_summary(struct oci_store *s, struct layer_cache_summary *ret)
{
    struct layer_cache *c = oci_store_cache(s, &cache_ops);
    if (!c)
        return false;
    (void)pthread_mutex_lock(&c->summary_mutex);
    *ret = c->summary;
    (void)pthread_mutex_unlock(&c->summary_mutex);
    return true;
}

/* ---- the order of eviction ---- */

/* What another process may be writing just now is read as it is. */
static int read_journal(struct oci_store *s, struct image_cache *cache, struct err *err)
{
    struct image_cache_journal *journal;
    enum image_cache_journal_state state;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, oci_store_root(s), O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", oci_store_root(s));
    int r = image_cache_journal_open(fd, LAYER_CACHE_JOURNAL, cache, &journal, &state, err);
    if (r >= 0)
        image_cache_journal_free(journal);
    return r;
}

static struct layer_cache_row row_of(const struct image_cache *cache,
                                     const struct oci_store_layer *l)
{
    return (struct layer_cache_row){ .diff_id = l->diff_id,
                                     .n_bytes = l->n_bytes,
                                     .list = image_cache_where(cache, l->diff_id.bytes),
                                     .n_images = l->n_images,
                                     .is_pinned = l->is_pinned };
}

/* Evict all of them, in a cache that is thrown away. */
static size_t order(struct image_cache *cache, const struct oci_store_layer *all, size_t n,
                    struct layer_cache_row *rows)
{
    struct cache_pins p = { .cache = cache };
    struct map by_id = { .borrows_keys = true };
    uint8_t key[SHA256_BYTES];
    uint64_t size;
    size_t at = 0;
    mark(&p, all, n);
    for (size_t i = 0; i < n; i++)
        (void)map_put(&by_id, str_n(all[i].diff_id.bytes, SHA256_BYTES), (void *)&all[i]);
    while (at < n && image_cache_next(cache, 1, key, &size)) {
        rows[at++] = row_of(cache, map_get(&by_id, str_n(key, sizeof key)));
        image_cache_evict(cache, key);
    }
    for (size_t i = 0; i < n && at < n; i++)
        if (all[i].is_pinned)
            rows[at++] = row_of(cache, &all[i]);
    unpin_all(&p);
    map_fini(&by_id);
    return at;
}

int layer_cache_list(struct oci_store *s, enum image_cache_policy policy,
                     struct layer_cache_row **ret, size_t *ret_n, struct err *err)
{
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    size_t n = 0;
    struct image_cache *cache = new_cache(policy, 0, NULL);
    int r = read_journal(s, cache, err);
    r = r < 0 ? r : oci_store_layers(s, &all, &n, err);
    if (r >= 0) {
        settle_with(cache, all, n); /* only with the layers that were listed */
        *ret = xnew_n(struct layer_cache_row, n + 1);
        *ret_n = order(cache, all, n, *ret);
    }
    image_cache_free(cache);
    return r < 0 ? r : 0;
}
