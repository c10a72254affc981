/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_trees.h"

void lazy_trees_init(struct lazy_trees *t, const struct oci_digest *diff_ids, size_t n)
{
    *t = (struct lazy_trees){ .n = n,
                              .diff_ids = diff_ids,
                              .all = xnew_n(struct oci_tree_manifest, n + 1),
                              .texts = xnew_n(struct buf, n + 1),
                              .of = xnew_n(size_t, n + 1),
                              .text_left = LAZY_TREES_MAX,
                              .memory_left = LAZY_TREES_MEMORY_MAX };
    for (size_t i = 0; i < n; i++)
        while (!oci_digest_equal(&diff_ids[t->of[i]], &diff_ids[i]))
            t->of[i]++;
}

void lazy_trees_fini(struct lazy_trees *t)
{
    for (size_t i = 0; i < t->n; i++) {
        oci_tree_manifest_fini(&t->all[i]);
        buf_fini(&t->texts[i]);
    }
    free(t->all);
    free(t->texts);
    free(t->of);
    *t = (struct lazy_trees){ 0 };
}

bool lazy_trees_is_first(const struct lazy_trees *t, size_t i)
{
    return t->of[i] == i;
}

static uint64_t memory_of(const struct oci_tree_manifest *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct oci_layer *l = m->layers[i].layer;
        n += l->entries.n * sizeof *l->entries.p + l->whiteouts.n * sizeof *l->whiteouts.p +
             l->text.total_bytes + m->layers[i].parts.n;
    }
    return n;
}

static int check(struct lazy_trees *t, size_t i, uint64_t max_tar_bytes, struct err *err)
{
    const struct oci_tree_manifest *m = &t->all[i];
    uint64_t memory = memory_of(m);
    if (memory > t->memory_left)
        return err_set(err, E_LIMIT, "the tree manifests take more than %d MiB of memory",
                       LAZY_TREES_MEMORY_MAX >> 20);
    t->memory_left -= memory;
    if (m->n != 1 || memcmp(m->layers[0].layer->diff_id, t->diff_ids[i].bytes, SHA256_BYTES) != 0)
        return err_set(err, E_PARSE, "the tree manifest of layer %zu is one of others", i);
    if (m->layers[0].layer->n_bytes > max_tar_bytes)
        return err_set(err, E_LIMIT, "layer %zu has more than %llu bytes", i,
                       (unsigned long long)max_tar_bytes);
    return 0;
}

int lazy_trees_add(struct lazy_trees *t, size_t i, struct buf *text, uint64_t max_tar_bytes,
                   struct err *err)
{
    t->texts[i] = *text;
    *text = (struct buf){ 0 };
    if (t->texts[i].n > t->text_left)
        return err_set(err, E_LIMIT, "the tree manifests have more than %d MiB",
                       LAZY_TREES_MAX >> 20);
    t->text_left -= t->texts[i].n;
    int r = oci_tree_manifest_read(buf_str(&t->texts[i]), &t->all[i], err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : check(t, i, max_tar_bytes, err);
}

const struct oci_tree_layer *lazy_trees_get(const struct lazy_trees *t, size_t i)
{
    return &t->all[t->of[i]].layers[0];
}
