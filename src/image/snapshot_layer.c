/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of the node store as directories of a snapshotter; see snapshotter.h. */
#include "base/clock.h"
#include "base/sys.h"
#include "image/layer_child.h"
#include "image/layer_dir.h"
#include "image/layer_rights.h"
#include "image/snapshotter_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* ---- which layer ---- */

struct chain_search {
    const struct oci_digest *parent, *ref;
};

static bool makes(const struct chain_search *c, const struct oci_digest *diff_id)
{
    struct oci_digest chain;
    snapshot_chain_id(c->parent, diff_id, &chain);
    return oci_digest_equal(&chain, c->ref);
}

/* A layer that was pulled with a tenant's credentials is not public: a chain ID proves nothing. */
static bool may_use(struct snapshotter *s, const struct oci_digest *diff_id)
{
    return layer_rights_has(s->store, diff_id, STR(""));
}

bool snapshotter_find_stored(struct snapshotter *s, const struct oci_digest *parent,
                             const struct oci_digest *ref, struct oci_digest *ret)
{
    const struct chain_search c = { parent, ref };
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    size_t n = 0;
    if (!s->store)
        return false;
    if (!parent) {
        *ret = *ref;
        return oci_store_layer_has(s->store, ref) && may_use(s, ref);
    }
    if (oci_store_layers_alone(s->store, &all, &n, NULL) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (makes(&c, &all[i].diff_id)) {
            *ret = all[i].diff_id;
            return may_use(s, ret);
        }
    return false;
}

/* ---- writing it ---- */

struct layer_making {
    char name[17]; /* below tmp/ */
    int fd, root, gone;
};

static int make_open(int at, const char *name, int *ret, struct err *err)
{
    int r = sys_mkdirat(at, name, 0700);
    if (r < 0)
        return err_sys(err, r, "make '%s'", name);
    *ret = sys_openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    return *ret < 0 ? err_sys(err, *ret, "open '%s'", name) : 0;
}

static int making_init(struct snapshotter *s, struct layer_making *m, struct err *err)
{
    *m = (struct layer_making){ .fd = -1, .root = -1, .gone = -1 };
    (void)snprintf(m->name, sizeof m->name, "%016llx", (unsigned long long)sys_random_u64());
    int r = make_open(s->tmp_fd, m->name, &m->fd, err);
    r = r < 0 ? r : make_open(m->fd, "fs", &m->root, err);
    return r < 0 ? r : make_open(m->fd, "gone", &m->gone, err);
}

static void making_fini(struct layer_making *m)
{
    fd_scoped(&m->root);
    fd_scoped(&m->gone);
    fd_scoped(&m->fd);
}

struct layer_feeding {
    struct snapshotter *s;
    const struct oci_digest *diff_id;
};

static int feed(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    struct layer_feeding *f = arg;
    return oci_store_layer_read(f->s->store, f->diff_id, sink, sink_arg, err);
}

/* The store compared it during the import, and the child's result is compared again: data on a disk
 * may change over time. */
static int write_files(struct snapshotter *s, const struct oci_digest *diff_id,
                       const struct layer_making *m, struct layer_dir_counts *ret, struct err *err)
{
    struct layer_feeding f = { s, diff_id };
    struct layer_facts facts;
    const struct layer_dir_opts how = { .form = LAYER_DIR_OVERLAY,
                                        .symlink_parent = OCI_SYMLINK_PARENT_SHADOW };
    const struct layer_read_opts read = { s->program, OCI_LAYER_CONTENT_MAX };
    scoped(layer_dir_free_scoped) struct layer_dir *dir = layer_dir_new(m->root, m->gone, &how);
    int r = layer_read(&read, feed, &f, &layer_dir_ops, dir, &facts, err);
    if (r >= 0 && memcmp(facts.diff_id, diff_id->bytes, sizeof facts.diff_id) != 0)
        r = err_set(err, E_DIGEST, "the layer is not what its DiffID says");
    r = r < 0 ? r : layer_dir_end_layer(dir, err);
    r = r < 0 ? r : layer_dir_finish(dir, err);
    if (r >= 0)
        *ret = *layer_dir_get_counts(dir);
    if (r >= 0 && ret->xattrs)
        r = err_set(err, E_UNSUPPORTED, "the file system of '%s' does not keep its attributes",
                    s->root);
    return r;
}

static int finish(struct snapshotter *s, struct layer_making *m, struct err *err)
{
    int r = sys_unlinkat(m->fd, "gone", AT_REMOVEDIR);
    if (r < 0)
        return err_sys(err, r, "remove '%s/gone'", m->name);
    if (!s->is_not_durable && syncfs(m->fd) < 0)
        return err_sys(err, -errno, "write the layer to the disk");
    return 0;
}

static int name_it(struct snapshotter *s, const struct oci_digest *diff_id,
                   const struct layer_making *m, const struct layer_dir_counts *counts,
                   struct err *err)
{
    char name[SNAPSHOTTER_DIR_NAME];
    const struct snapshot_event e = { .op = SNAPSHOT_LAYER,
                                      .diff_id = *diff_id,
                                      .dir = snapshotter_next_dir(s),
                                      .n_bytes = counts->bytes,
                                      .n_inodes = counts->entries,
                                      .is_base = counts->implicit > 0,
                                      .wall_us = clock_wall_us() };
    snapshotter_dir_name(e.dir, name);
    int r = sys_renameat(s->tmp_fd, m->name, s->dirs_fd, name);
    if (r >= 0 && (r = sys_fsync(s->dirs_fd)) < 0)
        (void)sys_renameat(s->dirs_fd, name, s->tmp_fd, m->name);
    if (r < 0)
        return err_sys(err, r, "name the directory of a layer");
    r = snapshot_journal_do(s->journal, s->state, &e, err);
    if (r < 0)
        (void)sys_renameat(s->dirs_fd, name, s->tmp_fd, m->name);
    return r;
}

static void pin(struct snapshotter *s, const struct oci_digest *diff_id)
{
    struct str key = str_n(diff_id->bytes, sizeof diff_id->bytes);
    size_t *n = map_get(&s->pins, key);
    if (!n) {
        n = xnew(size_t);
        (void)map_put(&s->pins, key, n);
    }
    ++*n;
}

bool snapshotter_is_pinned(const struct snapshotter *s, const struct oci_digest *diff_id)
{
    return map_has(&s->pins, str_n(diff_id->bytes, sizeof diff_id->bytes));
}

void snapshotter_unpin(struct snapshotter *s, const struct oci_digest *diff_id)
{
    struct str key = str_n(diff_id->bytes, sizeof diff_id->bytes);
    (void)pthread_mutex_lock(&s->mutex);
    size_t *n = map_get(&s->pins, key);
    if (n && --*n == 0)
        free(map_del(&s->pins, key));
    (void)pthread_mutex_unlock(&s->mutex);
}

static bool pin_if_there(struct snapshotter *s, const struct oci_digest *diff_id)
{
    struct snapshot_layer layer;
    (void)pthread_mutex_lock(&s->mutex);
    bool is_there = snapshot_state_layer(s->state, diff_id, &layer);
    if (is_there)
        pin(s, diff_id);
    (void)pthread_mutex_unlock(&s->mutex);
    return is_there;
}

int snapshotter_unpack(struct snapshotter *s, const struct oci_digest *diff_id, struct err *err)
{
    struct layer_making m;
    struct layer_dir_counts counts = { 0 };
    struct snapshot_layer layer;
    char gone[17];
    if (pin_if_there(s, diff_id))
        return 0;
    if (!s->store)
        return err_set(err, -ENOENT, "there is no store of layers");
    oci_store_hold(s->store, diff_id); /* where this process evicts layers */
    int r = making_init(s, &m, err);
    r = r < 0 ? r : write_files(s, diff_id, &m, &counts, err);
    oci_store_release(s->store, diff_id);
    r = r < 0 ? r : finish(s, &m, err);
    making_fini(&m);
    (void)pthread_mutex_lock(&s->mutex);
    bool is_other =
        r >= 0 && snapshot_state_layer(s->state, diff_id, &layer); /* another thread's */
    if (r >= 0 && !is_other)
        r = name_it(s, diff_id, &m, &counts, err);
    if (r >= 0)
        pin(s, diff_id);
    (void)pthread_mutex_unlock(&s->mutex);
    if ((r < 0 || is_other) && snapshotter_discard(s, s->tmp_fd, m.name, gone, NULL) >= 0)
        snapshotter_empty(s, gone);
    return r;
}

/* ---- and removing it ---- */

int snapshotter_drop_layer(struct snapshotter *s, const struct oci_digest *diff_id, char ret[17],
                           struct err *err)
{
    struct snapshot_layer layer;
    char name[SNAPSHOTTER_DIR_NAME];
    const struct snapshot_event e = { .op = SNAPSHOT_UNLAYER,
                                      .diff_id = *diff_id,
                                      .wall_us = clock_wall_us() };
    ret[0] = '\0';
    if (!snapshot_state_layer(s->state, diff_id, &layer) || layer.n_snapshots ||
        snapshotter_is_pinned(s, diff_id))
        return 0;
    int r = snapshot_journal_do(s->journal, s->state, &e, err);
    if (r < 0)
        return r;
    snapshotter_dir_name(layer.dir, name);
    r = snapshotter_discard(s, s->dirs_fd, name, ret, err);
    return r == -ENOENT ? 0 : r; /* it was lost: nothing is left to remove */
}
