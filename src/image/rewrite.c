/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out a plan: blobs, documents, proof, publication. */
#include "base/clock.h"
#include "base/sys.h"
#include "image/documents.h"
#include "image/items.h"
#include "image/proof.h"
#include "image/second_reader.h"
#include "oci/layout.h"

#include <errno.h>
#include <stdio.h>

enum { PLANNER_VERSION = 1, NAME_SIZE = 7 + 2 * SHA256_BYTES + 1, REFERENCE_SIZE = 24 };

struct rewriter {
    struct image_refactoring *r;
    const struct image_spool *spool;
    struct oci_layout *layout;
    struct oci_layout_manifest *manifests;
    uint64_t n_numbers; /* of new blobs */
    struct image_group again;
    uint64_t *n_times;
};

/* ---- layers ---- */

static int write_layer(struct rewriter *w, size_t number, struct image_items *items,
                       struct image_layer_blob *ret, struct err *err)
{
    scoped(fd_scoped) int fd = oci_layout_blob_new(w->layout, number, err);
    int r = fd < 0 ? fd
                   : image_layer_write(items->all.p, items->all.n, w->spool, &w->r->opts->form, fd,
                                       ret, err);
    r = r < 0 ? r : oci_layout_blob_done(w->layout, number, fd, &ret->digest, err);
    image_items_fini(items);
    return r;
}

/* Layer `i`: the shared ones of the plan, then the top layers of the images. */
static int layer_work(void *arg, size_t i, struct err *err)
{
    struct rewriter *w = arg;
    struct image_refactoring *r = w->r;
    struct image_items items;
    if (i < r->plan.n_layers) {
        image_items_shared(r, i, &items);
        return write_layer(w, i, &items, &r->layers[i], err);
    }
    size_t image = i - r->plan.n_layers;
    if (r->images[image].is_kept)
        return 0;
    image_items_top(r, image, &items);
    return write_layer(w, i, &items, &r->images[image].top, err);
}

/* ---- unchanged images ---- */

/* Archives of Docker have no manifest to keep, and the store may not have the blobs. */
static bool can_be_copied(const struct image_member *m)
{
    return m->image.manifest_text.n > 0 && !oci_source_names_layers_by_diff_id(m->source);
}

struct copying {
    int fd;
};

static int on_copied(void *arg, struct str bytes, struct err *err)
{
    const struct copying *c = arg;
    int r = sys_write_all(c->fd, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "copy a blob") : 0;
}

static int copy_blob(struct rewriter *w, size_t image, const struct oci_descriptor *d,
                     struct err *err)
{
    uint64_t number = w->n_numbers++;
    scoped(fd_scoped) int fd = oci_layout_blob_new(w->layout, number, err);
    struct copying c = { fd };
    int r = fd < 0 ? fd : oci_source_blob(w->r->group.members[image].source, d, on_copied, &c, err);
    return r < 0 ? r : oci_layout_blob_done(w->layout, number, fd, &d->digest, err);
}

/* Its layers are there. */
static int copy_documents(struct rewriter *w, size_t image, struct err *err)
{
    const struct oci_image *source = &w->r->group.members[image].image;
    struct oci_digest config;
    int r = oci_layout_document(w->layout, source->manifest_text, &w->r->images[image].digest, err);
    w->r->images[image].manifest_size = source->manifest_text.n;
    return r < 0 ? r : oci_layout_document(w->layout, source->config_text, &config, err);
}

static int copy_image(struct rewriter *w, size_t image, struct err *err)
{
    const struct oci_image *source = &w->r->group.members[image].image;
    int r = copy_documents(w, image, err);
    for (size_t i = 0; r >= 0 && i < source->manifest.n_layers; i++)
        r = copy_blob(w, image, &source->manifest.layers[i], err);
    return r;
}

/* ---- documents ---- */

static size_t layers_of(const struct image_refactoring *r, size_t image,
                        struct image_document_layer ret[IMAGE_LAYERS_HARD])
{
    size_t n = 0;
    for (size_t i = 0; i < r->plan.n_layers; i++)
        if (image_set_has(r->plan.layers[i].set, image))
            ret[n++] = (struct image_document_layer){ &r->layers[i], r->plan.layers[i].n_sharers };
    ret[n++] = (struct image_document_layer){ &r->images[image].top, 1 };
    return n;
}

static bool has_blob(const struct image_document_layer *layers, size_t n,
                     const struct oci_digest *blob)
{
    for (size_t i = 0; i < n; i++)
        if (oci_digest_equal(&layers[i].blob->digest, blob))
            return true;
    return false;
}

/* Does the source have the layers already that the plan gives it, in whatever order? Layers of a
 * plan are disjoint. */
static bool is_as_planned(const struct image_refactoring *r, size_t image)
{
    const struct image_member *m = &r->group.members[image];
    struct image_document_layer layers[IMAGE_LAYERS_HARD];
    size_t n = layers_of(r, image, layers);
    bool is_same = can_be_copied(m) && m->image.manifest.n_layers == n;
    for (size_t i = 0; is_same && i < n; i++)
        is_same = has_blob(layers, n, &m->image.manifest.layers[i].digest);
    return is_same;
}

/* When the newest image of the group was made; empty: not known. */
static struct str newest_of(const struct image_group *g)
{
    int64_t us, newest_us = INT64_MIN;
    struct str newest = STR("");
    for (size_t i = 0; i < g->n; i++) {
        struct str created = g->members[i].image.config.created;
        if (rfc3339_parse(created, &us) < 0 || us <= newest_us)
            continue;
        newest_us = us;
        newest = created;
    }
    return newest;
}

static const char *layers_note(enum image_layer_kind kind)
{
    return kind == IMAGE_LAYER_ESTARGZ        ? " layers=estargz"
           : kind == IMAGE_LAYER_ZSTD_CHUNKED ? " layers=zstd-chunked"
                                              : "";
}

static int write_documents(struct rewriter *w, size_t image, struct err *err)
{
    struct image_refactoring *r = w->r;
    const struct image_member *m = &r->group.members[image];
    struct image_document_layer layers[IMAGE_LAYERS_HARD];
    char plan[200];
    struct oci_digest config_digest;
    size_t n = layers_of(r, image, layers);
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(OCI_DOCUMENT_MAX);
    scoped(buf_fini_scoped) struct buf manifest = BUF_INIT(OCI_DOCUMENT_MAX);
    (void)snprintf(plan, sizeof plan,
                   "version=%d layer-threshold=%llu max-layers=%u mtime=%s link=%s%s",
                   PLANNER_VERSION, (unsigned long long)r->opts->layer_threshold,
                   r->opts->max_layers, r->opts->atoms.is_exact ? "exact" : "canonical",
                   r->opts->atoms.is_linked ? "symlink" : "none", layers_note(r->opts->form.kind));
    int status = image_config_rewrite(m->image.config_text, layers, n, &config, err);
    status =
        status < 0 ? status : oci_layout_document(w->layout, buf_str(&config), &config_digest, err);
    status = status < 0 ? status
                        : image_manifest_write(&m->image, &config_digest, config.n, layers, n,
                                               str_of(plan), newest_of(&r->group), &manifest, err);
    r->images[image].manifest_size = manifest.n;
    return status < 0
               ? status
               : oci_layout_document(w->layout, buf_str(&manifest), &r->images[image].digest, err);
}

/* ---- proof ---- */

static int prove_work(void *arg, size_t i, struct err *err)
{
    struct rewriter *w = arg;
    if (w->r->images[i].is_kept)
        return 0;
    return image_proof(w->r, i, &w->again.members[i].tree, &w->n_times[i], err);
}

/* A new layer and the blob that holds it. */
struct rewrite_written {
    const struct oci_digest *blob;
    const struct oci_layer *layer;
};

struct second_reading {
    const char *directory;
    VEC(struct rewrite_written) all;
};

static int read_twice(void *arg, size_t i, struct err *err)
{
    const struct second_reading *s = arg;
    return second_reader_check(s->directory, s->all.p[i].blob, s->all.p[i].layer, err);
}

/* Read each distinct new layer again, with another reader. */
static int prove_twice(struct rewriter *w, struct err *err)
{
    struct image_refactoring *r = w->r;
    struct second_reading s = { .directory = oci_layout_staging(w->layout) };
    struct map seen = { 0 };
    for (size_t i = 0; r->opts->is_read_twice && i < r->group.n; i++) {
        const struct image_member *m = &w->again.members[i];
        for (size_t k = 0; !r->images[i].is_kept && k < m->image.manifest.n_layers; k++) {
            struct rewrite_written one = { &m->image.manifest.layers[k].digest, m->layers[k] };
            if (!map_put(&seen, str_n(one.blob->bytes, sizeof one.blob->bytes), (void *)m))
                vec_push(&s.all, one);
        }
    }
    int status = image_work(s.all.n, r->opts->n_threads, read_twice, &s, err);
    r->second_reader = r->opts->is_read_twice ? second_reader_name() : NULL;
    vec_fini(&s.all);
    map_fini(&seen);
    return status;
}

/* Read the result back as any other reader does, and compare it. */
static int prove(struct rewriter *w, struct err *err)
{
    struct image_refactoring *r = w->r;
    struct arena a = { 0 };
    size_t n = r->group.n;
    const char **references = arena_new_n(&a, const char *, n);
    struct image_group_opts opts = { .platform = r->opts->platform,
                                     .n_threads = r->opts->n_threads };
    for (size_t i = 0; i < n; i++) {
        w->manifests[i].name = str_of(arena_printf(&a, "%zu", i));
        references[i] = arena_printf(&a, "oci:%s:%zu", oci_layout_staging(w->layout), i);
    }
    w->n_times = arena_new_n(&a, uint64_t, n);
    int status = oci_layout_stage(w->layout, w->manifests, n, err);
    status = status < 0 ? status : image_group_read(references, n, &opts, &w->again, err);
    status = status < 0 ? err_ctx(err, status, "read back") : status;
    status = status < 0 ? status : image_work(n, r->opts->n_threads, prove_work, w, err);
    status = status < 0 ? status : prove_twice(w, err);
    for (size_t i = 0; i < n; i++)
        r->n_changed_times += w->n_times[i];
    image_group_fini(&w->again);
    arena_fini(&a);
    return status;
}

/* ---- names ---- */

static bool is_taken(const struct rewriter *w, struct str name)
{
    const struct oci_index *index = oci_layout_index(w->layout);
    for (size_t i = 0; i < index->n; i++)
        if (str_eq(index->manifests[i].ref_name, name))
            return true;
    return false;
}

static void name_manifests(struct rewriter *w, const char *const *names)
{
    struct image_refactoring *r = w->r;
    for (size_t i = 0; i < r->group.n; i++) {
        struct str name = str_of(names[i]);
        if (r->opts->is_beside && is_taken(w, name)) {
            char hex[2 * SHA256_BYTES + 1];
            hex_format(r->group.members[i].image.digest.bytes, SHA256_BYTES, hex);
            name = str_of(arena_printf(&r->memory, "sha256-%s", hex));
        }
        w->manifests[i].name = name;
    }
}

/* ---- all of it ---- */

static uint64_t count_once(struct map *seen, const struct oci_digest *d, uint64_t size)
{
    return map_put(seen, str_n(d->bytes, sizeof d->bytes), (void *)d) ? 0 : size;
}

static void count_stored(struct image_refactoring *r)
{
    struct map seen = { 0 };
    for (size_t i = 0; i < r->plan.n_layers; i++)
        r->stored += count_once(&seen, &r->layers[i].digest, r->layers[i].size);
    for (size_t i = 0; i < r->group.n; i++) {
        const struct oci_manifest *m = &r->group.members[i].image.manifest;
        if (!r->images[i].is_kept)
            r->stored += count_once(&seen, &r->images[i].top.digest, r->images[i].top.size);
        for (size_t k = 0; r->images[i].is_kept && k < m->n_layers; k++)
            r->stored += count_once(&seen, &m->layers[k].digest, m->layers[k].size);
    }
    map_fini(&seen);
}

static int write_image(struct rewriter *w, size_t image, struct err *err)
{
    struct image_refactoring_image *i = &w->r->images[image];
    if (i->is_kept)
        return copy_image(w, image, err);
    i->is_kept = is_as_planned(w->r, image);
    return i->is_kept ? copy_documents(w, image, err) : write_documents(w, image, err);
}

static int write_images(struct rewriter *w, struct err *err)
{
    struct image_refactoring *r = w->r;
    int status = image_work(r->plan.n_layers + r->group.n, r->opts->n_threads, layer_work, w, err);
    for (size_t i = 0; status >= 0 && i < r->group.n; i++) {
        status = write_image(w, i, err);
        if (status < 0)
            return err_ctx(err, status, "image '%s'", r->group.members[i].reference);
        w->manifests[i] = (struct oci_layout_manifest){
            .digest = r->images[i].digest,
            .size = r->images[i].manifest_size,
            .platform = r->group.members[i].image.config.platform,
        };
    }
    return status;
}

static int check_linked(const struct image_refactoring *r, struct err *err)
{
    for (size_t i = 0; r->opts->atoms.is_linked && i < r->group.n; i++)
        if (oci_tree_find(&r->group.members[i].tree, STR(IMAGE_LINKED_DIR)))
            return err_set(err, E_INVALID,
                           "image '%s' has a '/" IMAGE_LINKED_DIR "': its files are links already",
                           r->group.members[i].reference);
    return 0;
}

/* Instead of those that were estimated. */
static void set_sizes(struct image_refactoring *r)
{
    uint64_t *sizes = arena_new_n(&r->memory, uint64_t, r->plan.n_layers);
    for (size_t i = 0; i < r->plan.n_layers; i++)
        sizes[i] = r->layers[i].size;
    image_plan_set_sizes(&r->plan, sizes);
}

/* Write and prove: everything is in the staging directory. */
static int stage(struct rewriter *w, struct err *err)
{
    struct image_refactoring *r = w->r;
    w->n_numbers = r->plan.n_layers + r->group.n;
    w->manifests = arena_new_n(&r->memory, struct oci_layout_manifest, r->group.n);
    r->layers = arena_new_n(&r->memory, struct image_layer_blob, r->plan.n_layers);
    r->images = arena_new_n(&r->memory, struct image_refactoring_image, r->group.n);
    for (size_t i = 0; i < r->group.n; i++)
        r->images[i].is_kept = r->plan.images[i].n_shared == 0 &&
                               r->opts->form.kind == IMAGE_LAYER_GZIP &&
                               can_be_copied(&r->group.members[i]);
    int status = check_linked(r, err);
    status = status < 0 ? status : write_images(w, err);
    status = status < 0 ? status : prove(w, err);
    if (status >= 0) {
        count_stored(r);
        set_sizes(r);
    }
    return status;
}

int image_refactor_stage(struct image_refactoring *r, const struct image_spool *spool,
                         struct oci_layout *layout, struct err *err)
{
    struct rewriter w = { .r = r, .spool = spool, .layout = layout };
    return stage(&w, err);
}

int image_refactor_write(struct image_refactoring *r, const struct image_spool *spool,
                         struct oci_layout *layout, const char *const *names, struct err *err)
{
    struct rewriter w = { .r = r, .spool = spool, .layout = layout };
    int status = stage(&w, err);
    if (status < 0)
        return status;
    name_manifests(&w, names);
    return oci_layout_publish(layout, w.manifests, r->group.n, err);
}
