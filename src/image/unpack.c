/* SPDX-License-Identifier: Apache-2.0 */
#include "image/unpack.h"

#include "base/sys.h"
#include "base/tree_remove.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the stage ---- */

enum { STAGE_TURNS_MAX = 100 };

static const struct str STAGE_MARK = { ".dormouse-unpack.", 17 };

/* "a/b/" -> "a", "b" */
static int split(const char *path, char **ret_parent, char **ret_name, struct err *err)
{
    struct str all = str_of(path);
    while (all.n > 1 && all.p[all.n - 1] == '/')
        all.n--;
    size_t at = all.n;
    while (at && all.p[at - 1] != '/')
        at--;
    struct str name = str_slice(all, at, all.n);
    if (name.n == 0 || name.n > TAR_NAME_MAX || str_is(name, ".") || str_is(name, ".."))
        return err_set(err, -EINVAL, "'%s' does not name a new directory", path);
    *ret_parent = at == 0 ? xstrdup(".") : at == 1 ? xstrdup("/") : xstrndup(path, at - 1);
    *ret_name = str_dup(name);
    return 0;
}

static int make_dir(int at, const char *name, int *ret, struct err *err)
{
    if (mkdirat(at, name, 0700) < 0)
        return err_sys(err, -errno, "make '%s'", name);
    *ret = sys_openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (*ret < 0)
        return err_sys(err, *ret, "open '%s'", name);
    /* Not the group of the parent, if that would hand it on. */
    return fchmod(*ret, 0700) < 0 ? err_sys(err, -errno, "set the mode of '%s'", name) : 0;
}

static int check_is_free(const struct unpack_stage *s, const char *path, struct err *err)
{
    struct stat st;
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    if (fstatat(s->parent_fd, s->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : err_sys(err, -errno, "'%s'", path);
    scoped(fd_scoped) int fd =
        sys_openat(s->parent_fd, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd >= 0 && tree_names_read(fd, &names, NULL) >= 0 && names.all.n == 0)
        return 0;
    return err_set(err, -EEXIST, "'%s' exists and is no empty directory", path);
}

/* Empty it by its descriptor: if other users can write to the parent, the name may refer to another
 * directory by now. */
static void remove_temporary(struct unpack_stage *s)
{
    if (s->fd < 0 || tree_remove_children(s->fd, NULL) >= 0)
        (void)unlinkat(s->parent_fd, s->temporary, AT_REMOVEDIR);
    fd_scoped(&s->root);
    fd_scoped(&s->gone);
    fd_scoped(&s->fd);
    s->root = s->gone = s->fd = -1;
    free(s->temporary);
    s->temporary = NULL;
}

static int make_temporary(struct unpack_stage *s, struct err *err)
{
    s->temporary = xasprintf("%s%016llx", STAGE_MARK.p, (unsigned long long)sys_random_u64());
    int r = make_dir(s->parent_fd, s->temporary, &s->fd, err);
    if (r >= 0 && flock(s->fd, LOCK_EX | LOCK_NB) < 0)
        r = err_sys(err, -errno, "lock '%s'", s->temporary);
    r = r < 0 ? r : make_dir(s->fd, "root", &s->root, err);
    return r < 0 ? r : make_dir(s->fd, "gone", &s->gone, err);
}

static int prepare(struct unpack_stage *s, const char *path, struct err *err)
{
    int r = split(path, &s->parent, &s->name, err);
    if (r < 0)
        return r;
    s->parent_fd = sys_openat(AT_FDCWD, s->parent, O_RDONLY | O_DIRECTORY, 0);
    if (s->parent_fd < 0)
        return err_sys(err, s->parent_fd, "open '%s'", s->parent);
    r = check_is_free(s, path, err);
    if (r < 0)
        return r;
    tree_remove_stale(s->parent_fd, STAGE_MARK);
    for (unsigned turn = 1;; turn++) {
        struct err why = { 0 };
        r = make_temporary(s, &why);
        /* Another process took it for a stale one before it was locked. */
        bool is_taken = r == -EWOULDBLOCK || r == -ENOENT;
        if (r < 0 && (!is_taken || turn == STAGE_TURNS_MAX) && err)
            *err = why;
        if (!is_taken || turn == STAGE_TURNS_MAX)
            return r;
        remove_temporary(s);
    }
}

int unpack_stage_init(struct unpack_stage *s, const char *path, struct err *err)
{
    *s = (struct unpack_stage){ .parent_fd = -1, .fd = -1, .root = -1, .gone = -1 };
    int r = prepare(s, path, err);
    if (r < 0)
        unpack_stage_fini(s);
    return r;
}

int unpack_stage_commit(struct unpack_stage *s, bool is_durable, struct err *err)
{
    if (is_durable && syncfs(s->root) < 0)
        return err_sys(err, -errno, "write '%s' to the disk", s->name);
    if (renameat(s->fd, "root", s->parent_fd, s->name) < 0)
        return err_sys(err, -errno, "rename to '%s'", s->name);
    return is_durable && fsync(s->parent_fd) < 0 ? err_sys(err, -errno, "sync '%s'", s->parent) : 0;
}

void unpack_stage_fini(struct unpack_stage *s)
{
    if (s->temporary)
        remove_temporary(s);
    fd_scoped(&s->parent_fd);
    free(s->parent);
    free(s->name);
    free(s->temporary);
    *s = (struct unpack_stage){ .parent_fd = -1, .fd = -1, .root = -1, .gone = -1 };
}

/* ---- layers ---- */

struct unpack_feed {
    const struct unpack_from *from;
    size_t i;
};

static int feed_blob(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    struct unpack_feed *f = arg;
    const struct oci_image *image = f->from->image;
    if (f->from->store)
        return oci_store_layer_read(f->from->store, &image->config.diff_ids[f->i], sink, sink_arg,
                                    err);
    return oci_source_blob(f->from->source, &image->manifest.layers[f->i], sink, sink_arg, err);
}

/* A small layer may compress well; a large one with a higher ratio is an attempt to fill the disk.
 */
static uint64_t max_bytes(const struct oci_descriptor *blob, const struct unpack_opts *opts)
{
    uint64_t n;
    if (opts->max_bytes)
        return opts->max_bytes;
    if (__builtin_mul_overflow(blob->size, (uint64_t)UNPACK_RATIO_MAX, &n))
        return UINT64_MAX;
    return MAX(n, UNPACK_BYTES_MIN);
}

int unpack_layer(const struct unpack_from *from, size_t i, const struct unpack_opts *opts,
                 const struct layer_ops *ops, void *arg, struct err *err)
{
    struct layer_facts facts;
    const struct oci_image *image = from->image;
    struct unpack_feed feed = { from, i };
    const struct layer_read_opts read = { opts->program,
                                          max_bytes(&image->manifest.layers[i], opts) };
    int r = layer_read(&read, feed_blob, &feed, ops, arg, &facts, err);
    if (r < 0)
        return err_ctx(err, r, "layer %zu", i);
    if (!ops->raw && memcmp(facts.diff_id, image->config.diff_ids[i].bytes, SHA256_BYTES) != 0)
        return err_set(err, E_DIGEST, "layer %zu is not what its DiffID says", i);
    return 0;
}

/* Add a hint to an error that is due to missing privileges. */
static int not_root(const struct unpack_opts *opts, int r, struct err *err)
{
    if (r == -EPERM && geteuid() != 0 && !opts->dir.is_rootless)
        return err_ctx(err, r, "not root (--rootless leaves owners and devices out)");
    return r;
}

/* ---- one layer over the other ---- */

/*
 * Two threads unpack alternate layers. Files are written in the order of the layers, by the thread
 * whose turn it is; in the meantime the child of the next layer has started and inflates until its
 * pipe is full.
 */
struct turns {
    const struct unpack_from *from;
    const struct unpack_opts *opts;
    struct layer_dir *dir; /* of the thread whose turn it is */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t n_taken; /* layers that a thread has taken */
    size_t at;      /* the layer whose turn it is */
    int r;          /* of the lowest layer that failed */
    struct err err;
};

struct unpack_turn {
    struct turns *of;
    size_t i;
    bool has_come;
};

/* Wait until the layers below are written. */
static int await_turn(struct unpack_turn *turn, struct err *err)
{
    struct turns *t = turn->of;
    if (turn->has_come)
        return 0;
    (void)pthread_mutex_lock(&t->mutex);
    while (t->at != turn->i && t->r >= 0)
        (void)pthread_cond_wait(&t->changed, &t->mutex);
    turn->has_come = t->r >= 0;
    (void)pthread_mutex_unlock(&t->mutex);
    return turn->has_come ? 0 : err_set(err, -ECANCELED, "a lower layer failed");
}

static int turn_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    int r = await_turn(arg, err);
    return r < 0 ? r : layer_dir_ops.entry(((struct unpack_turn *)arg)->of->dir, e, err);
}

static int turn_data(void *arg, struct str bytes, struct err *err)
{
    return layer_dir_ops.data(((struct unpack_turn *)arg)->of->dir, bytes, err);
}

static int turn_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    return layer_dir_ops.hole(((struct unpack_turn *)arg)->of->dir, n_bytes, err);
}

static int turn_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    int r = await_turn(arg, err);
    return r < 0 ? r : layer_dir_ops.whiteout(((struct unpack_turn *)arg)->of->dir, w, err);
}

static const struct layer_ops turn_ops = {
    .entry = turn_entry,
    .data = turn_data,
    .hole = turn_hole,
    .whiteout = turn_whiteout,
};

/* The next turn, or the end of all. A layer that fails before its turn waits for it: of several the
 * lowest one's error counts. */
static void end_turn(struct unpack_turn *turn, int r, const struct err *err)
{
    struct turns *t = turn->of;
    if (await_turn(turn, NULL) < 0)
        return;
    (void)pthread_mutex_lock(&t->mutex);
    t->at++;
    t->r = r;
    if (r < 0)
        t->err = *err;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->mutex);
}

static void write_in_turn(struct turns *t, size_t i)
{
    struct err err = { 0 };
    struct unpack_turn turn = { .of = t, .i = i };
    int r = unpack_layer(t->from, i, t->opts, &turn_ops, &turn, &err);
    r = r < 0 ? r : await_turn(&turn, &err); /* a layer without entries */
    r = r < 0 ? r : layer_dir_end_layer(t->dir, &err);
    end_turn(&turn, r, &err);
}

static void *turns_main(void *arg)
{
    struct turns *t = arg;
    for (;;) {
        (void)pthread_mutex_lock(&t->mutex);
        bool has_next = t->r >= 0 && t->n_taken < t->from->image->manifest.n_layers;
        size_t i = has_next ? t->n_taken++ : 0;
        (void)pthread_mutex_unlock(&t->mutex);
        if (!has_next)
            return NULL;
        write_in_turn(t, i);
    }
}

/* Without a second thread no layer is read ahead. */
static int write_layers(const struct unpack_from *from, const struct unpack_opts *opts,
                        struct layer_dir *dir, struct err *err)
{
    pthread_t other;
    struct turns t = { .from = from, .opts = opts, .dir = dir };
    (void)pthread_mutex_init(&t.mutex, NULL);
    (void)pthread_cond_init(&t.changed, NULL);
    bool has_other =
        from->image->manifest.n_layers > 1 && pthread_create(&other, NULL, turns_main, &t) == 0;
    (void)turns_main(&t);
    if (has_other)
        (void)pthread_join(other, NULL);
    (void)pthread_cond_destroy(&t.changed);
    (void)pthread_mutex_destroy(&t.mutex);
    return t.r < 0 ? err_set(err, t.r, "%s", err_text(&t.err)) : 0;
}

int unpack_into(const struct unpack_from *from, int root_fd, int gone_fd,
                const struct unpack_opts *opts, struct layer_dir_counts *ret, struct err *err)
{
    struct layer_dir_opts how = opts->dir;
    how.form = LAYER_DIR_MERGED;
    scoped(layer_dir_free_scoped) struct layer_dir *dir = layer_dir_new(root_fd, gone_fd, &how);
    int r = write_layers(from, opts, dir, err);
    r = r < 0 ? r : layer_dir_finish(dir, err);
    if (r < 0)
        return not_root(opts, r, err);
    *ret = *layer_dir_get_counts(dir);
    return 0;
}

int unpack_image(const struct unpack_from *from, const char *path, const struct unpack_opts *opts,
                 struct layer_dir_counts *ret, struct err *err)
{
    struct unpack_stage stage;
    struct layer_dir_counts counts;
    int r = unpack_stage_init(&stage, path, err);
    if (r < 0)
        return r;
    r = unpack_into(from, stage.root, stage.gone, opts, &counts, err);
    r = r < 0 ? r : unpack_stage_commit(&stage, !opts->is_not_durable, err);
    unpack_stage_fini(&stage);
    if (r >= 0)
        *ret = counts;
    return r;
}

/* ---- several layers at once ---- */

struct layer_result {
    int r;
    struct err err;
    struct layer_dir_counts counts;
};

struct layers_work {
    const struct unpack_from *from;
    const struct unpack_stage *stage;
    const struct unpack_opts *opts;
    size_t *order; /* of layers, the largest first */
    size_t n;
    _Atomic size_t n_begun;
    _Atomic bool is_failed; /* no further layer has to begin */
    struct layer_result *results;
};

/* What a layer removes is independent of the other layers. */
static int unpack_one(const struct layers_work *w, size_t i, struct layer_dir_counts *ret,
                      struct err *err)
{
    char name[24];
    scoped(fd_scoped) int root = -1, gone = -1;
    (void)snprintf(name, sizeof name, "%zu", i);
    int r = make_dir(w->stage->root, name, &root, err);
    r = r < 0 ? r : make_dir(w->stage->gone, name, &gone, err);
    if (r < 0)
        return r;
    scoped(layer_dir_free_scoped) struct layer_dir *dir = layer_dir_new(root, gone, &w->opts->dir);
    r = unpack_layer(w->from, i, w->opts, &layer_dir_ops, dir, err);
    r = r < 0 ? r : layer_dir_end_layer(dir, err);
    r = r < 0 ? r : layer_dir_finish(dir, err);
    *ret = *layer_dir_get_counts(dir);
    return r;
}

static void *layers_main(void *arg)
{
    struct layers_work *w = arg;
    size_t at;
    while (!atomic_load(&w->is_failed) && (at = atomic_fetch_add(&w->n_begun, 1)) < w->n) {
        struct layer_result *result = &w->results[w->order[at]];
        result->r = unpack_one(w, w->order[at], &result->counts, &result->err);
        if (result->r < 0)
            atomic_store(&w->is_failed, true);
    }
    return NULL;
}

static int larger_first(const void *a, const void *b, void *arg)
{
    const struct oci_descriptor *layers = arg;
    const size_t *x = a, *y = b;
    if (layers[*x].size != layers[*y].size)
        return layers[*x].size < layers[*y].size ? 1 : -1;
    return *x < *y ? -1 : *x > *y;
}

/* This thread works, too; fewer threads than wanted take longer. */
static void run_layers(struct layers_work *w)
{
    pthread_t threads[UNPACK_LAYERS_AT_ONCE];
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = MIN(w->n, (size_t)UNPACK_LAYERS_AT_ONCE), n = 0;
    most = MIN(most, (size_t)MAX(n_cpus, 1L));
    while (n + 1 < most && pthread_create(&threads[n], NULL, layers_main, w) == 0)
        n++;
    (void)layers_main(w);
    while (n)
        (void)pthread_join(threads[--n], NULL);
}

/* The error of the lowest layer that has one; else the sum. */
static int sum_layers(const struct layers_work *w, struct layer_dir_counts *sum, struct err *err)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct layer_result *one = &w->results[i];
        if (one->r < 0)
            return err_set(err, one->r, "%s", err_text(&one->err));
        sum->entries += one->counts.entries;
        sum->bytes += one->counts.bytes;
        sum->devices += one->counts.devices;
        sum->xattrs += one->counts.xattrs;
    }
    return 0;
}

int unpack_layers(const struct unpack_from *from, const char *path, const struct unpack_opts *opts,
                  struct layer_dir_counts *ret, struct err *err)
{
    struct unpack_stage stage;
    struct layer_dir_counts sum = { 0 };
    size_t n = from->image->manifest.n_layers;
    scoped(free_scoped) size_t *order = xnew_n(size_t, n);
    scoped(free_scoped) struct layer_result *results = xnew_n(struct layer_result, n);
    struct layers_work work = { from, &stage, opts, order, n, 0, false, results };
    int r = unpack_stage_init(&stage, path, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, larger_first, (void *)from->image->manifest.layers);
    run_layers(&work);
    r = sum_layers(&work, &sum, err);
    r = r < 0 ? not_root(opts, r, err) : unpack_stage_commit(&stage, !opts->is_not_durable, err);
    unpack_stage_fini(&stage);
    if (r >= 0)
        *ret = sum;
    return r;
}
