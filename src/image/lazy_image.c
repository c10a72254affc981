/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_image.h"

#include "base/clock.h"
#include "base/sys.h"
#include "image/layer_cache.h"
#include "image/layer_rights.h"
#include "image/lazy_status.h"
#include "oci/tree_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

struct lazy_image {
    struct lazy_image_opts opts;
    struct oci_tree_manifest *trees; /* of each layer; the first of equal ones alone */
    struct buf *texts;               /* of which the trees borrow */
    size_t *tree_of;                 /* layer -> index of trees */
    size_t n;
    struct lazy_view view;
    struct start_list first;
    struct oci_store *reader; /* NULL: there is no store yet */
    struct oci_contents *contents;
    struct lazy_guard *guard;
    struct lazy_fetch *fetch;
    atomic_bool stop;
    pthread_mutex_t mutex;      /* of the next */
    struct lazy_status *status; /* NULL: none could be made */
    uint64_t done_bytes;
};

/* ---- what the registry says of the image ---- */

static int get_remote(struct lazy_image *l, struct oci_remote **ret, struct err *err)
{
    int r = oci_source_remote_of_thread(l->opts.source, ret, err);
    if (r >= 0)
        oci_remote_until(*ret, 0, &l->stop);
    return r;
}

static int get_list(struct lazy_image *l, struct err *err)
{
    struct oci_remote *m;
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    if (!oci_source_remote(l->opts.source) ||
        !oci_remote_has_files(oci_source_remote(l->opts.source)))
        return err_set(err, E_UNSUPPORTED,
                       "a lazy start takes a source that gives single files: 'dormouse image "
                       "serve' of a store that keeps layers as tars");
    int r = get_remote(l, &m, err);
    r = r < 0 ? r : oci_remote_start(m, &l->opts.image->manifest.config.digest, &text, &why);
    if (r == -ENOENT)
        return err_set(err, r,
                       "no start of the image was recorded there: 'dormouse image run --record' "
                       "beside that 'image serve' does it");
    if (r < 0)
        return err_set(err, r, "list of the start: %s", err_text(&why));
    return start_list_read(buf_str(&text), &l->first, err);
}

static int get_tree(struct lazy_image *l, size_t i, uint64_t *left, struct err *err)
{
    struct oci_remote *m;
    struct buf *text = &l->texts[i];
    const struct oci_digest *id = &l->opts.image->config.diff_ids[i];
    struct oci_tree_manifest *tree = &l->trees[i];
    int r = get_remote(l, &m, err);
    *text = BUF_INIT((size_t)*left);
    r = r < 0 ? r : oci_remote_tree(m, id, text, err);
    if (r == -EMSGSIZE)
        return err_set(err, E_LIMIT, "the tree manifests have more than %d MiB",
                       LAZY_TREES_MAX >> 20);
    r = r < 0 ? r : oci_tree_manifest_read(buf_str(text), tree, err);
    *left -= text->n;
    if (r < 0)
        return err_ctx(err, r, "layer %zu", i);
    if (tree->n != 1 || memcmp(tree->layers[0].layer->diff_id, id->bytes, SHA256_BYTES) != 0)
        return err_set(err, E_PARSE, "the tree manifest of layer %zu is one of others", i);
    uint64_t max =
        oci_import_max_tar_bytes(l->opts.max_tar_bytes, l->opts.image->manifest.layers[i].size);
    if (tree->layers[0].layer->n_bytes > max)
        return err_set(err, E_LIMIT, "layer %zu has more than %llu bytes", i,
                       (unsigned long long)max);
    return 0;
}

static int get_trees(struct lazy_image *l, struct err *err)
{
    const struct oci_config *c = &l->opts.image->config;
    uint64_t left = LAZY_TREES_MAX;
    int r = 0;
    l->n = c->n_diff_ids;
    l->trees = xnew_n(struct oci_tree_manifest, l->n + 1);
    l->texts = xnew_n(struct buf, l->n + 1);
    l->tree_of = xnew_n(size_t, l->n + 1);
    for (size_t i = 0; i < l->n && r >= 0; i++) {
        size_t same = 0;
        while (!oci_digest_equal(&c->diff_ids[same], &c->diff_ids[i]))
            same++;
        l->tree_of[i] = same;
        r = same == i ? get_tree(l, i, &left, err) : 0;
    }
    return r;
}

static int make_view(struct lazy_image *l, struct err *err)
{
    scoped(free_scoped) struct oci_layer **layers = xnew_n(struct oci_layer *, l->n + 1);
    for (size_t i = 0; i < l->n; i++)
        layers[i] = l->trees[l->tree_of[i]].layers[0].layer;
    return lazy_view_make(layers, l->n, l->opts.root->unpack.dir.symlink_parent,
                          l->opts.image->digest.bytes, &l->view, err);
}

/* ---- files ---- */

static int get_parcel(void *arg, struct str request, struct buf *to, struct err *err)
{
    struct lazy_image *l = arg;
    struct oci_remote *m;
    int r = get_remote(l, &m, err);
    return r < 0 ? r : oci_remote_parcel(m, request, to, err);
}

static void tell_progress(void *arg, uint64_t done_bytes, uint64_t all_bytes)
{
    struct lazy_image *l = arg;
    (void)pthread_mutex_lock(&l->mutex);
    if (l->status && done_bytes > l->done_bytes)
        lazy_status_set(l->status, l->done_bytes = done_bytes);
    (void)pthread_mutex_unlock(&l->mutex);
    if (l->opts.on_progress)
        l->opts.on_progress(l->opts.arg, done_bytes, all_bytes);
}

static void tell_failure(void *arg, const char *why)
{
    const struct lazy_image *l = arg;
    if (l->opts.on_failure)
        l->opts.on_failure(l->opts.arg, why);
}

/* The store as a reader; one that is not there yet is made. */
static int open_store(struct lazy_image *l, struct err *err)
{
    struct err why = { 0 };
    scoped(oci_store_close_scoped) struct oci_store *made = NULL;
    struct oci_store_opts opts = { .root = l->opts.store, .is_reader = true };
    int r = oci_store_open(&opts, &l->reader, &why);
    if (r != -ENOENT)
        return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
    struct oci_store_opts writes = { .root = l->opts.store, .lock_ms = l->opts.wait_ms };
    r = layer_cache_open_store(&writes, IMAGE_CACHE_ARC, &made, err);
    return r < 0 ? r : oci_store_open(&opts, &l->reader, err);
}

/* Files of other images, which the registry then is not asked for. */
static int find_contents(struct lazy_image *l, struct err *err)
{
    const struct lazy_status_row row = { .all_bytes = l->view.n_bytes,
                                         .manifest = l->opts.image->digest,
                                         .reference = l->opts.reference };
    int r = open_store(l, err);
    if (r < 0)
        return r;
    if (oci_contents_new(l->reader, layer_rights_is_public, &l->contents, NULL) < 0)
        l->contents = NULL; /* all is fetched */
    if (lazy_status_new(l->reader, &row, &l->status, NULL) < 0)
        l->status = NULL; /* nobody sees it */
    return 0;
}

/* ---- the layers, when all files are here ---- */

enum { PIECE_BYTES = 256 << 10 };

struct storing {
    struct lazy_image *l;
    struct lazy_fetch *fetch;
    struct oci_store *s;
};

static int give_content(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                        void *sink_arg, struct err *err)
{
    struct storing *to = arg;
    struct lazy_image *l = to->l;
    uint64_t at = 0;
    ptrdiff_t file = lazy_view_find(&l->view, p->digest);
    int fd = file < 0 ? -ENOENT : lazy_fetch_place(to->fetch, (uint32_t)file, &at);
    scoped(free_scoped) char *piece = xalloc(PIECE_BYTES);
    if (fd < 0)
        return err_set(err, fd, "a file of the image is missing");
    for (uint64_t left = p->size, n; left; left -= n) {
        n = MIN(left, (uint64_t)PIECE_BYTES);
        ssize_t got = atomic_load(&l->stop) ? -ECANCELED : sys_pread_full(fd, piece, (size_t)n, at);
        if (got < 0)
            return err_sys(err, (int)got, "read a file that came");
        if ((uint64_t)got < n)
            return err_set(err, E_CORRUPT, "a file that came is shorter now");
        int r = sink(sink_arg, str_n(piece, (size_t)n), err);
        if (r < 0)
            return r;
        at += n;
    }
    return 0;
}

static int add_to_import(void *arg, struct str bytes, struct err *err)
{
    return oci_import_add(arg, bytes, err);
}

static int store_layer(struct storing *to, size_t i, struct err *err)
{
    struct lazy_image *l = to->l;
    const struct oci_tree_layer *tree = &l->trees[i].layers[0];
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    struct err why = { 0 };
    const struct oci_import_opts opts = {
        .diff_id = l->opts.image->config.diff_ids[i],
        .blob = l->opts.image->config.diff_ids[i],
        .blob_size = tree->layer->n_bytes,
        .has_no_blob = true,
        .max_tar_bytes = MAX(tree->layer->n_bytes, (uint64_t)1),
        .reading = l->opts.reading,
        .reading_arg = l->opts.reading_arg,
    };
    int r = oci_import_new(to->s, &opts, &im, &why);
    if (r == -EEXIST)
        return 0;
    r = r < 0 ? r
              : oci_skeleton_make_tar(&tree->skeleton, give_content, to, add_to_import, im, &why);
    r = r < 0 ? r : oci_import_commit(im, &why);
    return r < 0 ? err_set(err, r, "layer %zu: %s", i, err_text(&why)) : 0;
}

static int put_documents(struct lazy_image *l, struct oci_store *s, struct err *err)
{
    const struct oci_image *image = l->opts.image;
    int r = oci_store_document_put(s, &image->manifest.config.digest, image->config_text, err);
    if (r >= 0 && image->index_text.n)
        r = oci_store_document_put(s, &image->index, image->index_text, err);
    return r < 0 ? r : oci_store_document_put(s, &image->digest, image->manifest_text, err);
}

/* A container that ends meanwhile does not wait for whoever writes the store. */
static int wait_store(struct lazy_image *l, struct oci_store **ret, struct err *err)
{
    enum { TURN_MS = 200 };
    uint64_t until_ms = clock_mono_ms() + l->opts.wait_ms;
    for (;;) {
        struct err why = { 0 };
        struct oci_store_opts opts = { .root = l->opts.store, .lock_ms = TURN_MS };
        int r = layer_cache_open_store(&opts, IMAGE_CACHE_ARC, ret, &why);
        if (r >= 0)
            return r;
        if (r != -EBUSY || atomic_load(&l->stop) || clock_mono_ms() >= until_ms)
            return err_set(err, r, "%s", err_text(&why));
    }
}

static int store_image(struct lazy_image *l, struct lazy_fetch *fetch, struct err *err)
{
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    int r = wait_store(l, &s, err);
    struct storing to = { l, fetch, s };
    for (size_t i = 0; i < l->n && r >= 0; i++)
        r = l->tree_of[i] == i ? store_layer(&to, i, err) : 0;
    r = r < 0 ? r : put_documents(l, s, err);
    if (r >= 0)
        r = start_list_put(s, &l->opts.image->manifest.config.digest, &l->first, err);
    return r;
}

/* By the thread that fetched the last file. */
static void on_all(void *arg, struct lazy_fetch *fetch)
{
    struct lazy_image *l = arg;
    struct err err = { 0 };
    int r = store_image(l, fetch, &err);
    if (atomic_load(&l->stop))
        return;
    if (r == E_DIGEST || r == E_PARSE || r == E_LIMIT)
        l->opts.on_lie(l->opts.arg, err_text(&err));
    else if (l->opts.on_stored)
        l->opts.on_stored(l->opts.arg, r < 0 ? err_text(&err) : NULL);
}

/* ---- the whole ---- */

static int start_fetching(struct lazy_image *l, struct err *err)
{
    const struct lazy_fetch_opts opts = {
        .view = &l->view,
        .diff_ids = l->opts.image->config.diff_ids,
        .guard = l->guard,
        .first = &l->first,
        .contents = l->contents,
        .spool_dir = l->opts.state,
        .parcel = get_parcel,
        .stop = &l->stop,
        .on_progress = tell_progress,
        .on_all = on_all,
        .on_failure = tell_failure,
        .arg = l,
    };
    int r = lazy_fetch_start(&opts, &l->fetch, err);
    return r < 0 ? r : lazy_fetch_wait(l->fetch, err);
}

static int start(struct lazy_image *l, struct err *err)
{
    const struct lazy_guard_opts guard = { .open_ms = l->opts.open_ms, .program = l->opts.program };
    int r = get_list(l, err);
    r = r < 0 ? r : get_trees(l, err);
    r = r < 0 ? r : make_view(l, err);
    r = r < 0 ? r : find_contents(l, err);
    if (r < 0)
        return r;
    r = lazy_root_mount(&l->view, l->opts.state, l->opts.target, l->opts.root, &guard, &l->guard,
                        err);
    if (r < 0)
        return r;
    r = start_fetching(l, err);
    if (r < 0) {
        lazy_image_stop(l);
        (void)root_umount(l->opts.state, l->opts.target, 0, NULL);
    }
    return r;
}

int lazy_image_start(const struct lazy_image_opts *opts, struct lazy_image **ret, struct err *err)
{
    struct lazy_image *l = xnew(struct lazy_image);
    l->opts = *opts;
    (void)pthread_mutex_init(&l->mutex, NULL);
    int r = start(l, err);
    if (r < 0) {
        lazy_image_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

void lazy_image_stop(struct lazy_image *l)
{
    lazy_fetch_free(l->fetch);
    l->fetch = NULL;
}

void lazy_image_free(struct lazy_image *l)
{
    if (!l)
        return;
    lazy_image_stop(l);
    lazy_guard_free(l->guard);
    lazy_status_free(l->status);
    (void)pthread_mutex_destroy(&l->mutex);
    oci_contents_free(l->contents);
    oci_store_close(l->reader);
    for (size_t i = 0; i < l->n; i++) {
        oci_tree_manifest_fini(&l->trees[i]);
        buf_fini(&l->texts[i]);
    }
    free(l->trees);
    free(l->texts);
    free(l->tree_of);
    lazy_view_fini(&l->view);
    start_list_fini(&l->first);
    free(l);
}
