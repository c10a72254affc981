/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_layers.h"

#include "base/clock.h"
#include "base/sys.h"
#include "image/layer_cache.h"
#include "image/lazy_proof.h"
#include "image/root.h"

#include <errno.h>

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

/* Errors: -EEXIST; of this one no code says that the registry was wrong. */
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

static int keep_layer(const struct lazy_layers_opts *o, struct oci_store *s, size_t i,
                      struct err *err)
{
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

static int put_documents(const struct oci_image *image, struct oci_store *s, struct err *err)
{
    int r = oci_store_document_put(s, &image->manifest.config.digest, image->config_text, err);
    if (r >= 0 && image->index_text.n)
        r = oci_store_document_put(s, &image->index, image->index_text, err);
    return r < 0 ? r : oci_store_document_put(s, &image->digest, image->manifest_text, err);
}

/* As a pull does. */
static int put_name(const struct lazy_layers_opts *o, struct oci_store *s, struct err *err)
{
    struct arena a = { 0 };
    struct oci_store_image old;
    const struct oci_platform *of = &o->image->config.platform;
    struct oci_store_image image = {
        .name = o->name,
        .manifest = o->image->digest,
        .platform = str_of(arena_printf(&a, STR_FMT "/" STR_FMT "%s" STR_FMT, STR_ARG(of->os),
                                        STR_ARG(of->architecture), of->variant.n ? "/" : "",
                                        STR_ARG(of->variant))),
        .pulled_wall_s = (int64_t)clock_wall_ms() / 1000,
    };
    if (o->image->index_text.n)
        image.index = o->image->index;
    image.is_pinned = oci_store_image_get(s, o->name, &a, &old, NULL) >= 0 && old.is_pinned;
    int r = oci_store_image_put(s, &image, err);
    arena_fini(&a);
    return r;
}

/* While the layers come, none of them makes room for another one, and no gc takes them. */
static void hold_all(const struct lazy_layers_opts *o, struct oci_store *s,
                     void (*f)(struct oci_store *s, const struct oci_digest *d))
{
    f(s, &o->image->digest);
    f(s, &o->image->manifest.config.digest);
    for (size_t i = 0; i < o->trees->n; i++)
        f(s, &o->trees->diff_ids[i]);
}

static int keep_in(const struct lazy_layers_opts *o, struct oci_store *s, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < o->trees->n && r >= 0; i++)
        r = lazy_trees_is_first(o->trees, i) ? keep_layer(o, s, i, err) : 0;
    r = r < 0 ? r : put_documents(o->image, s, err);
    r = r < 0 ? r : start_list_put(s, &o->image->manifest.config.digest, o->first, err);
    if (r >= 0 && o->name.n)
        r = put_name(o, s, err);
    return r < 0 || !o->state ? r : root_lease(s, &o->image->digest, o->state, err);
}

static int keep(const struct lazy_layers_opts *o, struct err *err)
{
    scoped(oci_store_close_scoped) struct oci_store *s = NULL;
    const struct oci_store_opts opts = { .root = o->store, .lock_ms = STORE_MS };
    struct err why = { 0 };
    int r = layer_cache_open_store(&opts, IMAGE_CACHE_ARC, &s, &why);
    if (r >= 0) {
        hold_all(o, s, oci_store_hold);
        r = keep_in(o, s, &why);
        hold_all(o, s, oci_store_release);
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
    lazy_prover_take(o->prover);
    for (int told = 0;;) {
        struct err why = { 0 };
        int r = keep(o, &why);
        if (r >= 0)
            return 0;
        bool is_over = lazy_fetch_is_over(o->fetch) || lazy_prover_is_finishing(o->prover);
        if (is_over && r != E_DIGEST) /* the end hides no lie */
            return err_set(err, -ECANCELED, "it ends");
        if (r == E_DIGEST || !may_pass(r))
            return err_set(err, r, "%s%s", err_text(&why),
                           r == E_DIGEST || lazy_prover_missing(o->prover) == 0
                               ? ""
                               : "; nor could what it showed be compared with the image");
        if (r != told && o->on_failure)
            o->on_failure(o->arg, err_text(&why));
        told = r;
        lazy_fetch_pause(o->fetch, again_ms);
        again_ms = MIN(again_ms * 2, (uint64_t)LAZY_LAYERS_AGAIN_MAX_MS);
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
