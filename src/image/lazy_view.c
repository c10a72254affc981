/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_view.h"

#include "base/map.h"
#include "image/erofs.h"

#include <string.h>

struct lazy_view_collecting {
    VEC(struct lazy_file) files; /* in the order of the layers */
    struct map seen;             /* digest -> its index + 1 */
    uint64_t n_bytes;
};

static int collect_file(struct lazy_view_collecting *c, const struct oci_entry *e, uint32_t layer,
                        struct err *err)
{
    struct str key = str_n(e->digest, SHA256_BYTES);
    if (e->is_sparse)
        return err_set(err, E_UNSUPPORTED,
                       "layer %u has sparse files, which are not fetched one by one", layer);
    const void *found = map_get(&c->seen, key);
    if (found)
        return c->files.p[(uintptr_t)found - 1].size == e->size
                   ? 0
                   : err_set(err, E_PARSE, "layer %u: a content has two sizes", layer);
    if (c->files.n == LAZY_FILES_MAX)
        return err_set(err, E_LIMIT, "the image has more than %d files", LAZY_FILES_MAX);
    if (__builtin_add_overflow(c->n_bytes, e->size, &c->n_bytes))
        return err_set(err, E_LIMIT, "the files of the image are too large");
    struct lazy_file f = { .size = e->size, .at = e->data_offset, .layer = layer };
    memcpy(f.digest, e->digest, sizeof f.digest);
    vec_push(&c->files, f);
    (void)map_put(&c->seen, key, (void *)(uintptr_t)c->files.n);
    return 0;
}

static int collect(struct oci_layer *const *layers, size_t n, struct lazy_view_collecting *c,
                   struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < layers[i]->entries.n && r >= 0; k++) {
            const struct oci_entry *e = &layers[i]->entries.p[k];
            if (e->type == TAR_FILE && e->size)
                r = collect_file(c, e, (uint32_t)i, err);
        }
    return r;
}

static int write_erofs(struct oci_layer *const *layers, size_t n, enum oci_symlink_parent how,
                       const uint8_t uuid[16], struct buf *to, struct err *err)
{
    struct oci_tree tree;
    struct erofs_counts counts;
    scoped(free_scoped) struct erofs_layer *with = xnew_n(struct erofs_layer, n + 1);
    struct erofs_image image = { .tree = &tree, .layers = with, .n_layers = n };
    int r = 0;
    memcpy(image.uuid, uuid, sizeof image.uuid);
    oci_tree_init(&tree, how);
    for (size_t i = 0; i < n && r >= 0; i++) {
        with[i] = (struct erofs_layer){ .layer = layers[i], .has_objects = true };
        r = oci_tree_apply(&tree, layers[i], err);
        r = r < 0 ? err_ctx(err, r, "layer %zu", i) : 0;
    }
    r = r < 0 ? r : erofs_write(&image, to, &counts, err);
    oci_tree_fini(&tree);
    return r;
}

struct lazy_view_place {
    const struct lazy_file *file;
    uint32_t at;
};

static int by_digest(const void *a, const void *b)
{
    const struct lazy_view_place *x = a, *y = b;
    return memcmp(x->file->digest, y->file->digest, SHA256_BYTES);
}

static void sort(const struct lazy_view_collecting *c, struct lazy_view *v)
{
    v->n = c->files.n;
    v->n_bytes = c->n_bytes;
    v->files = xnew_n(struct lazy_file, v->n + 1);
    v->in_order = xnew_n(uint32_t, v->n + 1);
    scoped(free_scoped) struct lazy_view_place *places = xnew_n(struct lazy_view_place, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
        places[i] = (struct lazy_view_place){ &c->files.p[i], (uint32_t)i };
    if (v->n)
        qsort(places, v->n, sizeof *places, by_digest);
    for (size_t i = 0; i < v->n; i++) {
        v->files[i] = *places[i].file;
        v->in_order[places[i].at] = (uint32_t)i;
    }
}

int lazy_view_make(struct oci_layer *const *layers, size_t n, enum oci_symlink_parent how,
                   const uint8_t uuid[16], struct lazy_view *ret, struct err *err)
{
    struct lazy_view_collecting c = { .seen.borrows_keys = true };
    struct lazy_view v = { .erofs = BUF_INIT(EROFS_IMAGE_MAX) };
    int r = collect(layers, n, &c, err);
    r = r < 0 ? r : write_erofs(layers, n, how, uuid, &v.erofs, err);
    if (r >= 0)
        sort(&c, &v);
    vec_fini(&c.files);
    map_fini(&c.seen);
    if (r < 0) {
        lazy_view_fini(&v);
        return r;
    }
    *ret = v;
    return 0;
}

void lazy_view_fini(struct lazy_view *v)
{
    buf_fini(&v->erofs);
    free(v->files);
    free(v->in_order);
    *v = (struct lazy_view){ 0 };
}

ptrdiff_t lazy_view_find(const struct lazy_view *v, const uint8_t digest[SHA256_BYTES])
{
    for (size_t lo = 0, hi = v->n; lo < hi;) {
        size_t at = lo + (hi - lo) / 2;
        int c = memcmp(v->files[at].digest, digest, SHA256_BYTES);
        if (c == 0)
            return (ptrdiff_t)at;
        if (c < 0)
            lo = at + 1;
        else
            hi = at;
    }
    return -1;
}
