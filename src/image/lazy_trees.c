/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_trees.h"

#include "oci/table.h"

#include <assert.h>
#include <errno.h>

void lazy_trees_init(struct lazy_trees *t, const struct oci_digest *diff_ids, size_t n,
                     const struct layer_reading_ops *reading, void *reading_arg,
                     const atomic_bool *stop)
{
    *t = (struct lazy_trees){ .n = n,
                              .diff_ids = diff_ids,
                              .all = xnew_n(struct lazy_tree, n + 1),
                              .of = xnew_n(size_t, n + 1),
                              .text_left = LAZY_TREES_MAX,
                              .memory_left = LAZY_TREES_MEMORY_MAX,
                              .reading = reading,
                              .reading_arg = reading_arg,
                              .stop = stop };
    for (size_t i = 0; i < n; i++)
        while (!oci_digest_equal(&diff_ids[t->of[i]], &diff_ids[i]))
            t->of[i]++;
}

void lazy_trees_end(struct lazy_trees *t)
{
    oci_table_reader_free(take_ptr(&t->reader));
}

void lazy_trees_fini(struct lazy_trees *t)
{
    for (size_t i = 0; i < t->n; i++) {
        oci_layer_free(t->all[i].layer);
        buf_fini(&t->all[i].parts);
        buf_fini(&t->all[i].text);
    }
    lazy_trees_end(t);
    free(t->all);
    free(t->of);
    *t = (struct lazy_trees){ 0 };
}

bool lazy_trees_is_first(const struct lazy_trees *t, size_t i)
{
    return t->of[i] == i;
}

const struct lazy_tree *lazy_trees_get(const struct lazy_trees *t, size_t i)
{
    return &t->all[t->of[i]];
}

/* ---- adding ---- */

static uint64_t memory_of(const struct lazy_tree *tree)
{
    const struct oci_layer *l = tree->layer;
    return l->entries.n * sizeof *l->entries.p + l->whiteouts.n * sizeof *l->whiteouts.p +
           l->text.total_bytes + tree->parts.n;
}

static int check(struct lazy_trees *t, size_t i, uint64_t max_tar_bytes, struct err *err)
{
    const struct lazy_tree *tree = &t->all[i];
    uint64_t memory = memory_of(tree);
    if (memory > t->memory_left)
        return err_set(err, E_LIMIT, "the tree manifests take more than %d MiB of memory",
                       LAZY_TREES_MEMORY_MAX >> 20);
    assert(memory <= t->memory_left);
    t->memory_left -= memory;
    if (memcmp(tree->layer->diff_id, t->diff_ids[i].bytes, SHA256_BYTES) != 0)
        return err_set(err, E_PARSE, "the tree manifest of layer %zu is one of others", i);
    if (tree->layer->n_bytes > max_tar_bytes)
        return err_set(err, E_LIMIT, "layer %zu has more than %llu bytes", i,
                       (unsigned long long)max_tar_bytes);
    return 0;
}

static int read_layer(struct lazy_trees *t, struct lazy_tree *tree, struct err *err)
{
    scoped(buf_fini_scoped) struct buf flat = BUF_INIT(OCI_TABLE_FLAT_MAX);
    const struct oci_table table = { .kind = OCI_TABLE_LAYER, .bytes = buf_str(&tree->text) };
    uint64_t held = 0; /* this one alone */
    if (!t->reader)
        t->reader = oci_table_reader_new(t->reading, t->reading_arg, t->stop);
    int r = oci_table_read(t->reader, &table, &flat, &held, err);
    oci_table_give_back(t->reader, held);
    r = r < 0 ? r : oci_table_layer(buf_str(&flat), &tree->layer, err);
    tree->parts = BUF_INIT(OCI_SKELETON_MAX);
    return r < 0 ? r : oci_skeleton_of(tree->layer, STR(""), &tree->parts, &tree->skeleton, err);
}

int lazy_trees_add(struct lazy_trees *t, size_t i, struct buf *text, uint64_t max_tar_bytes,
                   struct err *err)
{
    struct lazy_tree *tree = &t->all[i];
    tree->text = *text;
    *text = (struct buf){ 0 };
    if (tree->text.n > t->text_left)
        return err_set(err, E_LIMIT, "the tree manifests have more than %d MiB",
                       LAZY_TREES_MAX >> 20);
    assert(tree->text.n <= t->text_left);
    t->text_left -= tree->text.n;
    int r = read_layer(t, tree, err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : check(t, i, max_tar_bytes, err);
}

/* ---- the rest of the tars ---- */

void lazy_tar_fini(struct lazy_tar *t)
{
    buf_fini(&t->flat);
    *t = (struct lazy_tar){ 0 };
}

static bool is_of_tree(int r)
{
    return r == E_CORRUPT || r == E_PARSE || r == E_LIMIT || r == E_VERSION;
}

/* The parts are those from which the view was made; the records of the process are not used. */
static int read_tar(const struct lazy_trees *t, const struct lazy_tree *tree, struct lazy_tar *to,
                    struct err *err)
{
    const struct oci_table table = { .kind = OCI_TABLE_TREE, .bytes = buf_str(&tree->text) };
    struct oci_table_tree received;
    uint64_t held = 0;
    struct oci_table_reader *reader = oci_table_reader_new(t->reading, t->reading_arg, t->stop);
    int r = oci_table_read(reader, &table, &to->flat, &held, err);
    oci_table_give_back(reader, held);
    oci_table_reader_free(reader);
    r = r < 0 ? r : oci_table_tree(buf_str(&to->flat), &received, err);
    if (r < 0)
        return r;
    struct str others = received.skeleton.frame;
    oci_table_tree_fini(&received);
    return oci_skeleton_of_parts(tree->skeleton.parts, tree->skeleton.tar_bytes, others,
                                 &to->skeleton, err);
}

int lazy_trees_tar(const struct lazy_trees *t, size_t i, struct lazy_tar *ret, struct err *err)
{
    struct lazy_tar tar = { .flat = BUF_INIT(OCI_TABLE_FLAT_MAX) };
    int r = read_tar(t, lazy_trees_get(t, i), &tar, err);
    if (r >= 0) {
        *ret = tar;
        return 0;
    }
    lazy_tar_fini(&tar);
    return is_of_tree(r) ? err_ctx(err, E_DIGEST, "no layer can be made of what the registry gave")
                         : r;
}
