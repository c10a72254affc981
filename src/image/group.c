/* SPDX-License-Identifier: Apache-2.0 */
#include "image/group.h"

#include "base/buf.h"
#include "base/sys.h"
#include "oci/layer_index.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_MAX_BYTES ((size_t)1 << 30)

/* ---- threads ---- */

struct crew {
    pthread_mutex_t lock; /* of next, status, err */
    size_t n, next;
    image_work_fn work;
    void *arg;
    int status;
    struct err err;
};

static void *crew_main(void *arg)
{
    struct crew *c = arg;
    for (;;) {
        struct err err = { 0 };
        (void)pthread_mutex_lock(&c->lock);
        size_t i = c->status < 0 ? c->n : c->next;
        c->next += i < c->n;
        (void)pthread_mutex_unlock(&c->lock);
        if (i >= c->n)
            return NULL;
        int r = c->work(c->arg, i, &err);
        (void)pthread_mutex_lock(&c->lock);
        if (r < 0 && c->status >= 0) {
            c->status = r;
            c->err = err;
        }
        (void)pthread_mutex_unlock(&c->lock);
    }
}

int image_work(size_t n, unsigned n_threads, image_work_fn work, void *arg, struct err *err)
{
    struct crew c = { .n = n, .work = work, .arg = arg };
    pthread_t threads[IMAGE_THREADS_MAX];
    size_t started = 0;
    long processors = n_threads ? (long)n_threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t want = MIN(n, (size_t)MAX(1, MIN(processors, (long)IMAGE_THREADS_MAX)));
    (void)pthread_mutex_init(&c.lock, NULL);
    while (started + 1 < want && pthread_create(&threads[started], NULL, crew_main, &c) == 0)
        started++;
    (void)crew_main(&c); /* this thread is one of them */
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_mutex_destroy(&c.lock);
    if (c.status < 0 && err)
        *err = c.err;
    return c.status;
}

/* ---- layers ---- */

/* A distinct layer; the thread that made it reads it. */
struct image_group_slot {
    struct oci_layer *layer;
};

struct image_group_reading {
    struct image_group *group;
    const struct image_group_opts *opts;
    size_t first;         /* of the images that are read now */
    pthread_mutex_t lock; /* of the group's map and memory */
};

static struct str diff_id_of(const struct image_member *m, size_t i)
{
    const struct oci_digest *d = &m->image.config.diff_ids[i];
    return str_n(d->bytes, sizeof d->bytes);
}

/* A slot of its own for a layer that no thread reads yet; NULL: another thread does. */
static struct image_group_slot *claim(struct image_group_reading *r, const struct image_member *m,
                                      size_t i)
{
    struct image_group_slot *slot = NULL;
    (void)pthread_mutex_lock(&r->lock);
    if (!map_has(&r->group->layers, diff_id_of(m, i))) {
        slot = arena_new(&r->group->memory, struct image_group_slot);
        (void)map_put(&r->group->layers, diff_id_of(m, i), slot);
    }
    (void)pthread_mutex_unlock(&r->lock);
    return slot;
}

/* ---- indexes ---- */

static char *index_path(const char *directory, struct str diff_id)
{
    char hex[SHA256_HEX_SIZE];
    hex_format((const uint8_t *)diff_id.p, SHA256_BYTES, hex);
    return xasprintf("%s/%s", directory, hex);
}

/* An index that is damaged or of another layer is as good as none. */
static bool find_index(const struct image_group_reading *r, struct str diff_id,
                       struct oci_layer **ret)
{
    scoped(free_scoped) char *path = index_path(r->opts->index_directory, diff_id);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(INDEX_MAX_BYTES);
    struct oci_layer *layer = NULL;
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0 ||
        oci_layer_index_read(buf_str(&text), &layer, NULL) < 0)
        return false;
    if (memcmp(layer->diff_id, diff_id.p, SHA256_BYTES) != 0) {
        oci_layer_free(layer);
        return false;
    }
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* mark it as used: old ones are removed */
    *ret = layer;
    return true;
}

static int keep_index(const struct image_group_reading *r, const struct oci_layer *layer,
                      struct err *err)
{
    struct str diff_id = str_n(layer->diff_id, SHA256_BYTES);
    scoped(free_scoped) char *path = index_path(r->opts->index_directory, diff_id);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(INDEX_MAX_BYTES);
    if (access(path, F_OK) == 0)
        return 0;
    int status = oci_layer_index_write(layer, &text, err);
    return status < 0 ? status : sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, err);
}

/* What is wrong with the image, in contrast to a registry or a machine that fails. A reader that
 * was killed had most often too much to do. */
static bool is_of_image(int r)
{
    return r == E_PARSE || r == E_DIGEST || r == E_LIMIT || r == E_UNSUPPORTED || r == E_INVALID ||
           r == -ENOENT || r == -ENOMEM;
}

/* Otherwise the next plan from indexes would have images whose content cannot be read. */
static void drop_index(const struct image_group_reading *r, struct str diff_id)
{
    scoped(free_scoped) char *path = index_path(r->opts->index_directory, diff_id);
    (void)unlink(path);
}

/* A layer that no other thread reads. */
static int read_layer(struct image_group_reading *r, struct image_member *m, size_t i,
                      struct image_spool_lane *lane, struct oci_layer **ret, struct err *err)
{
    const char *directory = r->opts->index_directory;
    if (directory && !lane && find_index(r, diff_id_of(m, i), ret))
        return 0;
    int status = oci_source_layer_content(m->source, &m->image, i,
                                          lane ? image_spool_content : NULL, lane, ret, err);
    if (status < 0 && directory && is_of_image(status))
        drop_index(r, diff_id_of(m, i));
    return status < 0 || !directory ? status : keep_index(r, *ret, err);
}

/* ---- members ---- */

static int read_layers(struct image_group_reading *r, struct image_member *m, struct err *err)
{
    struct image_spool_lane *lane = NULL;
    bool has_content = r->opts->spool && m >= r->group->members + r->opts->n_indexed;
    int status = has_content ? image_spool_acquire(r->opts->spool, &lane, err) : 0;
    for (size_t i = 0; status >= 0 && i < m->image.manifest.n_layers; i++) {
        struct image_group_slot *slot = claim(r, m, i);
        if (slot)
            status = read_layer(r, m, i, lane, &slot->layer, err);
    }
    if (lane)
        image_spool_release(lane);
    if (status == -ENOSPC) /* spool and indexes; where in the layer does not matter */
        return err_sys(err, status, "temporary file");
    return status;
}

static int read_member(void *arg, size_t at, struct err *err)
{
    struct image_group_reading *r = arg;
    size_t i = r->first + at;
    struct image_member *m = &r->group->members[i];
    int status = oci_source_open_with(str_of(m->reference), r->opts->registry, &m->source, err);
    if (status >= 0 && r->opts->reading)
        oci_source_read_by(m->source, r->opts->reading, NULL);
    status = status < 0 ? status : oci_source_image(m->source, r->opts->platform, &m->image, err);
    status = status < 0 ? status : read_layers(r, m, err);
    if (status < 0 && r->opts->unreadable && is_of_image(status)) {
        r->opts->unreadable[i] = *err;
        return 0;
    }
    return status < 0 ? err_ctx(err, status, "image '%s'", m->reference) : 0;
}

/* ---- merged views ---- */

static int merge_member(void *arg, size_t i, struct err *err)
{
    struct image_group_reading *r = arg;
    struct image_member *m = &r->group->members[i];
    struct err *unreadable = r->opts->unreadable ? &r->opts->unreadable[i] : NULL;
    size_t n = m->image.manifest.n_layers;
    if (unreadable && unreadable->code < 0)
        return 0;
    m->layers = xnew_n(struct oci_layer *, n);
    m->layer_sizes = xnew_n(uint64_t, n);
    oci_tree_init(&m->tree, r->opts->symlink_parent);
    for (size_t k = 0; k < n; k++) {
        const struct image_group_slot *slot = map_get(&r->group->layers, diff_id_of(m, k));
        if (!slot->layer && unreadable)
            return err_set(unreadable, E_PARSE, "layer %zu, which another image has as well", k), 0;
        m->layers[k] = slot->layer;
        /* Its own: of a layer that images have in several compressions, threads read any blob. */
        m->layer_sizes[k] = m->image.manifest.layers[k].size;
        int status = oci_tree_apply(&m->tree, slot->layer, err);
        if (status < 0 && unreadable && is_of_image(status)) {
            *unreadable = *err;
            return 0;
        }
        if (status < 0)
            return err_ctx(err, status, "image '%s': layer %zu", m->reference, k);
    }
    return 0;
}

int image_group_read(const char *const *references, size_t n, const struct image_group_opts *opts,
                     struct image_group *ret, struct err *err)
{
    struct image_group group = { .members = xnew_n(struct image_member, n), .n = n };
    struct image_group_reading r = { .group = &group, .opts = opts };
    for (size_t i = 0; i < n; i++)
        group.members[i].reference = references[i];
    (void)pthread_mutex_init(&r.lock, NULL);
    r.first = MIN(opts->n_indexed, n); /* layers that both have are read with their content */
    int status = image_work(n - r.first, opts->n_threads, read_member, &r, err);
    r.first = 0;
    if (status >= 0)
        status = image_work(MIN(opts->n_indexed, n), opts->n_threads, read_member, &r, err);
    status = status < 0 ? status : image_work(n, opts->n_threads, merge_member, &r, err);
    (void)pthread_mutex_destroy(&r.lock);
    for (size_t i = 0; status >= 0 && opts->unreadable && i < n; i++)
        if (opts->unreadable[i].code < 0)
            status = err_set(err, E_INVALID, "images that cannot be read");
    if (status < 0)
        image_group_fini(&group);
    *ret = group;
    return status;
}

void image_group_fini(struct image_group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        struct image_member *m = &g->members[i];
        oci_tree_fini(&m->tree);
        free(m->layers);
        free(m->layer_sizes);
        oci_source_free(m->source);
    }
    map_each (e, &g->layers)
        oci_layer_free(((struct image_group_slot *)e->value)->layer);
    map_fini(&g->layers);
    arena_fini(&g->memory);
    free(g->members);
    *g = (struct image_group){ 0 };
}
