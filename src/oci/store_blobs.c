/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layer a blob is of. The note of each layer says it the other way round
 * (layers/<DiffID>/blob); the table is made from the notes when the first one asks, and an entry
 * counts only while its note says the same. Only a writer brings layers, so it adds its own; a
 * reader makes the table again when it misses a blob and the directory of the layers has changed.
 */
#include "oci/store_int.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

enum { TICK_NS = 20 * 1000 * 1000 }; /* two changes within it may have one time */

/* With the mutex of the table held. */
static void put(struct oci_store *s, const struct oci_digest *blob,
                const struct oci_digest *diff_id)
{
    struct oci_digest *of = xnew(struct oci_digest);
    *of = *diff_id;
    free(map_put(&s->blobs.of, store_key(blob), of));
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

static int note_layer(void *arg, const char *name, struct err *err)
{
    struct oci_store *s = arg;
    struct oci_digest d;
    struct store_layer_files f = { 0 };
    (void)err;
    if (store_digest_of_name(name, &d) && store_layer_stat(s, &d, &f, NULL) >= 0 && f.has_blob)
        put(s, &f.blob, &d);
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

static void make(struct oci_store *s)
{
    struct stat st;
    table_clear(s);
    if (fstatat(s->fd, "layers", &st, 0) == 0)
        s->blobs.made_of = st.st_mtim;
    (void)store_each(s, "layers", note_layer, s, NULL);
    s->blobs.is_made = true;
}

void store_blobs_add(struct oci_store *s, const struct oci_digest *blob,
                     const struct oci_digest *diff_id)
{
    (void)pthread_mutex_lock(&s->blobs.mutex);
    if (s->blobs.is_made)
        put(s, blob, diff_id);
    (void)pthread_mutex_unlock(&s->blobs.mutex);
}

/* An entry whose layer is still here with this blob; else it is forgotten. */
static bool find(struct oci_store *s, const struct oci_digest *blob, struct oci_digest *ret)
{
    struct oci_digest kept;
    uint64_t size;
    const struct oci_digest *of = map_get(&s->blobs.of, store_key(blob));
    if (!of)
        return false;
    bool is_here =
        oci_store_layer_blob(s, of, &kept, &size, NULL) >= 0 && oci_digest_equal(&kept, blob);
    if (is_here)
        *ret = *of;
    else
        free(map_del(&s->blobs.of, store_key(blob)));
    return is_here;
}

int oci_store_layer_of_blob(struct oci_store *s, const struct oci_digest *blob,
                            struct oci_digest *ret_diff_id)
{
    (void)pthread_mutex_lock(&s->blobs.mutex);
    bool found = find(s, blob, ret_diff_id);
    if (!found && is_old(s)) {
        make(s);
        found = find(s, blob, ret_diff_id);
    }
    (void)pthread_mutex_unlock(&s->blobs.mutex);
    return found ? 0 : -ENOENT;
}
