/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_layers.h"

#include "base/backoff.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/handed.h"
#include "image/layer_cache.h"
#include "image/lazy_proof.h"
#include "image/root.h"
#include "image/store_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { STORE_MS = 200 };

/* ---- the store ---- */

static int compare_stored(struct oci_store *s, const struct lazy_trees *trees, size_t i,
                          struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *is = NULL;
    int r = oci_store_layer_index(s, &trees->diff_ids[i], &is, err);
    r = r < 0 ? r : lazy_proof_same(lazy_trees_get(trees, i)->layer, is, err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : 0;
}

static int add_to_import(void *arg, struct str bytes, struct err *err)
{
    return oci_import_add(arg, bytes, err);
}

static int give_content(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                        void *sink_arg, struct err *err)
{
    const struct lazy_layers_opts *o = arg;
    if (lazy_prover_is_finishing(o->prover))
        return err_set(err, -ECANCELED, "it ends");
    return lazy_fetch_content(o->fetch, p, sink, sink_arg, err);
}

/* Errors: -EEXIST. No error of this function means that the registry was wrong. */
static int import(const struct lazy_layers_opts *o, struct oci_store *s, size_t i, struct err *err)
{
    const struct oci_layer *layer = lazy_trees_get(o->trees, i)->layer;
    struct lazy_tar tar = { 0 };
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    const struct oci_import_opts opts = {
        .diff_id = o->image->config.diff_ids[i],
        .blob = o->image->config.diff_ids[i],
        .blob_size = layer->n_bytes,
        .has_no_blob = true,
        .max_tar_bytes = MAX(layer->n_bytes, (uint64_t)1),
        .reading = o->reading,
        .reading_arg = o->reading_arg,
    };
    int r = oci_import_new(s, &opts, &im, err);
    r = r < 0 ? r : lazy_trees_tar(o->trees, i, &tar, err);
    r = r < 0 ? r
              : oci_skeleton_make_tar(&tar.skeleton, give_content, (void *)(uintptr_t)o,
                                      add_to_import, im, err);
    lazy_tar_fini(&tar);
    r = r < 0 ? r : oci_import_commit(im, err);
    return r == E_DIGEST ? -EIO : r;
}

static int keep_layer(void *arg, struct oci_store *s, size_t i, struct err *err)
{
    const struct lazy_layers_opts *o = arg;
    struct err why = { 0 };
    int r = import(o, s, i, &why);
    if (r >= 0 || r == -EEXIST) {
        why = (struct err){ 0 };
        r = compare_stored(s, o->trees, i, &why);
        if (r >= 0)
            lazy_prover_set(o->prover, i);
    }
    if (r < 0 && r != E_DIGEST && lazy_prover_prove(o->prover, o->fetch, i, err) == E_DIGEST)
        return E_DIGEST;
    return r < 0 ? err_set(err, r, "layer %zu: %s", i, err_text(&why)) : 0;
}

static int keep_here(const struct lazy_layers_opts *o, struct oci_store *s, struct err *err)
{
    const struct keep_opts how = { .image = o->image,
                                   .name = o->name,
                                   .first = o->first,
                                   .layer = keep_layer,
                                   .arg = (void *)(uintptr_t)o };
    int r = keep_image(s, &how, err);
    return r < 0 || !o->state ? r : root_lease(s, &o->image->digest, o->state, err);
}

/* ---- beside a server ---- */

static int add_to_file(void *arg, struct str bytes, struct err *err)
{
    int r = sys_write_all(*(int *)arg, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "write the tar of a layer") : 0;
}

static int write_tar(const struct lazy_layers_opts *o, size_t i, int dir, struct err *err)
{
    struct lazy_tar tar;
    scoped(fd_scoped) int fd = handed_new_tar(dir, &o->trees->diff_ids[i], err);
    int r = fd < 0 ? fd : lazy_trees_tar(o->trees, i, &tar, err);
    if (r < 0)
        return r == E_DIGEST ? -EIO : r; /* it was proven: the child that unpacks it fails now */
    r = oci_skeleton_make_tar(&tar.skeleton, give_content, (void *)(uintptr_t)o, add_to_file, &fd,
                              err);
    lazy_tar_fini(&tar);
    return r;
}

static int write_handed(const struct lazy_layers_opts *o, int dir, struct err *err)
{
    scoped(oci_store_close_scoped) struct oci_store *reader = NULL;
    const struct oci_store_opts reads = { .root = o->store, .is_reader = true };
    bool has_reader = oci_store_open(&reads, &reader, NULL) >= 0;
    int r = handed_write(dir, o->image, o->first, err);
    for (size_t i = 0; i < o->trees->n && r >= 0; i++)
        if (lazy_trees_is_first(o->trees, i) &&
            !(has_reader && oci_store_layer_has(reader, &o->trees->diff_ids[i])))
            r = write_tar(o, i, dir, err);
    return r;
}

static int ask(const struct lazy_layers_opts *o, const char *dir, struct err *err)
{
    struct arena a = { 0 };
    struct json *ignored;
    scoped(free_scoped) char *lease = NULL;
    int r = root_lease_as(o->store, o->state, &lease, err);
    if (r < 0)
        return r;
    const struct store_job job = {
        .kind = STORE_JOB_KEEP, .name = o->name, .from = str_of(dir), .lease = str_of(lease)
    };
    r = store_ask_until(o->store, &job, STORE_ASK_TAKEN_MS, o->stop, &a, &ignored, err);
    arena_fini(&a);
    if (r == -ECANCELED && !lazy_fetch_is_over(o->fetch)) /* that process ends */
        r = STORE_ASKED_LOST;
    if (r >= 0 && r != STORE_ASKED_DONE)
        return err_set(err, -EBUSY, "the process that has the store open does not answer");
    return r < 0 ? r : 0;
}

/* The layers are on the disk twice until that process has stored them. */
static int hand_over(const struct lazy_layers_opts *o, struct err *err)
{
    static const char name[] = "handed";
    scoped(free_scoped) char *state = realpath(o->state, NULL);
    scoped(fd_scoped) int parent =
        state ? sys_openat(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0) : -errno;
    scoped(free_scoped) char *path = xasprintf("%s/%s", state ? state : "", name);
    if (parent < 0)
        return err_sys(err, parent, "open '%s'", o->state);
    if (lazy_prover_prove_all(o->prover, o->fetch, err) == E_DIGEST)
        return E_DIGEST;
    if (lazy_prover_missing(o->prover))
        return err_set(err, -EAGAIN, "its layers cannot be compared with the image now");
    (void)tree_remove(parent, name, NULL);
    int r = sys_mkdirat(parent, name, 0700);
    scoped(fd_scoped) int dir =
        r < 0 ? r : sys_openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (dir < 0)
        return err_sys(err, dir, "make '%s'", path);
    r = write_handed(o, dir, err);
    r = r < 0 ? r : ask(o, path, err);
    (void)tree_remove(parent, name, NULL);
    return r == E_DIGEST ? -EIO : r; /* the layers are proven */
}

static bool has_server(const struct lazy_layers_opts *o)
{
    struct oci_store_holder holder;
    oci_store_holder(o->store, &holder);
    return o->state && holder.has_control;
}

static int keep(const struct lazy_layers_opts *o, struct err *err)
{
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    const struct oci_store_opts opts = { .root = o->store, .lock_ms = STORE_MS };
    struct err why = { 0 };
    int r = layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &s, &why);
    if (r >= 0) {
        r = keep_here(o, s, &why);
    } else if (r == -EBUSY && has_server(o)) {
        why = (struct err){ 0 };
        r = hand_over(o, &why);
    }
    if (r < 0 && r != E_DIGEST &&
        lazy_prover_prove_all(o->prover, o->fetch, err) < 0) /* those that were not reached */
        return E_DIGEST;
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

/* ---- until it is done ---- */

static bool may_pass(int r)
{
    return r == -EBUSY || r == -ENOSPC || r == -EDQUOT || r == -ENOMEM || r == -EAGAIN ||
           r == -EMFILE || r == -ENFILE || r == -ETIMEDOUT || r == -ENOENT || r == E_TRAP;
}

int lazy_layers_keep(const struct lazy_layers_opts *o, struct err *err)
{
    uint64_t again_ms = LAZY_LAYERS_AGAIN_MS;
    lazy_prover_take_over(o->prover);
    for (int last = 0;;) {
        struct err why = { 0 };
        int r = keep(o, &why);
        if (r >= 0)
            return 0;
        bool is_over = lazy_fetch_is_over(o->fetch) || lazy_prover_is_finishing(o->prover);
        if (is_over && r != E_DIGEST) /* wrong data is reported even at the end */
            return err_set(err, -ECANCELED, "it ends");
        if (r == E_DIGEST || !may_pass(r))
            return err_set(err, r, "%s%s", err_text(&why),
                           r == E_DIGEST || lazy_prover_missing(o->prover) == 0
                               ? ""
                               : "; nor could what it showed be compared with the image");
        if (r != last && o->on_failure)
            o->on_failure(o->arg, err_text(&why));
        last = r;
        lazy_fetch_pause(o->fetch, again_ms);
        again_ms = backoff_next(again_ms, LAZY_LAYERS_AGAIN_MS, LAZY_LAYERS_AGAIN_MAX_MS);
    }
}

int lazy_layers_check(struct oci_store *s, const struct lazy_trees *trees, struct err *err)
{
    for (size_t i = 0; i < trees->n; i++) {
        struct err why = { 0 };
        if (lazy_trees_is_first(trees, i) && oci_store_layer_has(s, &trees->diff_ids[i]) &&
            compare_stored(s, trees, i, &why) == E_DIGEST)
            return err_set(err, E_DIGEST, "%s", err_text(&why));
    }
    return 0;
}
