/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer of a blob. The note of each layer has the reverse relation
 * (layers/<DiffID>/blob). The table is made from the notes at the first lookup. An entry is valid
 * only while its note has the same blob. Only a writer imports layers, so it adds its own; a reader
 * makes the table again if it does not find a blob and the directory of the layers has changed.
 */
#include "oci/store_int.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

enum { TICK_NS = 20 * 1000 * 1000 }; /* two changes within it may have one time */

static void put(struct map *to, const struct oci_digest *blob, const struct oci_digest *diff_id)
{
    struct oci_digest *of = xnew(struct oci_digest);
    *of = *diff_id;
    free(map_put(to, store_key(blob), of));
}

static void table_clear(struct oci_store *s)
{
    map_each (e, &s->blobs.of)
        free(e->value);
    map_fini(&s->blobs.of);
    s->blobs.of = (struct map){ 0 };
}

void store_blobs_fini(struct oci_store *s)
{
    table_clear(s);
    (void)pthread_mutex_destroy(&s->blobs.mutex);
}

struct store_blobs_making {
    struct oci_store *s;
    struct map of;
    int r; /* a layer could not be looked at */
    struct err err;
};

static int note_layer(void *arg, const char *name, struct err *err)
{
    struct store_blobs_making *m = arg;
    struct oci_digest d;
    struct store_layer_files f = { 0 };
    struct err why = { 0 };
    (void)err;
    if (!store_digest_of_name(name, &d))
        return 0;
    int r = store_layer_stat(m->s, &d, &f, &why);
    if (r >= 0 && f.has_blob)
        put(&m->of, &f.blob, &d);
    if (store_is_system(r) && r != -ENOENT) /* else it was removed since, or a check reports it */
        m->r = err_set(&m->err, r, "%s", err_text(&why));
    return 0;
}

/* Whether the table may lack a layer that is here. */
static bool is_old(struct oci_store *s)
{
    struct stat st;
    struct timespec now;
    if (!s->blobs.is_made)
        return true;
    if (!s->opts.is_reader || fstatat(s->fd, "layers", &st, 0) < 0)
        return false;
    bool is_same = st.st_mtim.tv_sec == s->blobs.made_of.tv_sec &&
                   st.st_mtim.tv_nsec == s->blobs.made_of.tv_nsec;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t age_ns =
        (now.tv_sec - st.st_mtim.tv_sec) * (int64_t)1000000000 + (now.tv_nsec - st.st_mtim.tv_nsec);
    return !is_same || (age_ns >= 0 && age_ns < TICK_NS);
}

/* With the mutex of the table held. Where a layer cannot be looked at now, the others are found and
 * the table is made again when the next one misses a blob. */
static int make(struct oci_store *s, struct err *err)
{
    struct stat st;
    struct store_blobs_making m = { .s = s };
    if (fstatat(s->fd, "layers", &st, 0) < 0)
        return err_sys(err, -errno, "look at the layers");
    int r = store_each(s, "layers", note_layer, &m, err);
    if (r >= 0 && m.r >= 0)
        table_clear(s);
    map_each (e, &m.of)
        free(map_put(&s->blobs.of, e->key, e->value));
    map_fini(&m.of);
    if (r < 0 || m.r < 0)
        return r < 0 ? r : err_set(err, m.r, "%s", err_text(&m.err));
    s->blobs.made_of = st.st_mtim;
    s->blobs.is_made = true;
    return 0;
}

void store_blobs_add(struct oci_store *s, const struct oci_digest *blob,
                     const struct oci_digest *diff_id)
{
    (void)pthread_mutex_lock(&s->blobs.mutex);
    if (s->blobs.is_made)
        put(&s->blobs.of, blob, diff_id);
    (void)pthread_mutex_unlock(&s->blobs.mutex);
}

/* With the mutex held. Removes an entry whose layer no longer has this blob. -ENOENT: there is
 * none. */
static int find(struct oci_store *s, const struct oci_digest *blob, struct oci_digest *ret,
                struct err *err)
{
    struct oci_digest kept;
    uint64_t size;
    const struct oci_digest *of = map_get(&s->blobs.of, store_key(blob));
    if (!of)
        return -ENOENT;
    int r = oci_store_layer_blob(s, of, &kept, &size, err);
    if (store_is_system(r) && r != -ENOENT)
        return r;
    if (r >= 0 && oci_digest_equal(&kept, blob)) {
        *ret = *of;
        return 0;
    }
    free(map_del(&s->blobs.of, store_key(blob)));
    return -ENOENT;
}

int oci_store_layer_of_blob(struct oci_store *s, const struct oci_digest *blob,
                            struct oci_digest *ret_diff_id, struct err *err)
{
    struct err why = { 0 };
    (void)pthread_mutex_lock(&s->blobs.mutex);
    int r = find(s, blob, ret_diff_id, &why);
    if (r == -ENOENT && is_old(s)) {
        int made = make(s, &why);
        r = find(s, blob, ret_diff_id, &why);
        r = r == -ENOENT && made < 0 ? made : r;
    }
    (void)pthread_mutex_unlock(&s->blobs.mutex);
    if (r == -ENOENT)
        return err_set(err, r, "no layer of the store has this blob");
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}
