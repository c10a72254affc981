/* SPDX-License-Identifier: Apache-2.0 */
/* Merged views for tests: of layers by hand, and of the real images of test/data/image-trees. */
#pragma once

#include "base/buf.h"
#include "base/sys.h"
#include "codec/decompress.h"
#include "oci/image.h"
#include "oci/tree.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>

enum { LAYERS_MAX = 8 };

struct merged {
    struct oci_tree tree;
    struct oci_layer *layers[LAYERS_MAX];
    uint64_t blob_sizes[LAYERS_MAX]; /* of real images */
    struct oci_digest digests[LAYERS_MAX];
    size_t n;
};

static inline void merged_init(struct merged *m, enum oci_symlink_parent how)
{
    *m = (struct merged){ 0 };
    oci_tree_init(&m->tree, how);
}

static inline int merged_add(struct merged *m, struct oci_layer *layer, struct err *err)
{
    m->layers[m->n++] = layer;
    return oci_tree_apply(&m->tree, layer, err);
}

static inline void merged_fini(struct merged *m)
{
    oci_tree_fini(&m->tree);
    for (size_t i = 0; i < m->n; i++)
        oci_layer_free(m->layers[i]);
}

/* ---- real images, file by file: test/data/image-trees ---- */

/* The next column of a row. */
static inline struct str column(struct str *row)
{
    struct str c;
    (void)str_cut(*row, '\t', &c, row);
    return c;
}

static inline uint64_t number(struct str s)
{
    uint64_t v;
    CHECK_OK(parse_u64(s, 0, UINT64_MAX, &v));
    return v;
}

static inline uint32_t octal(struct str s)
{
    uint32_t v = 0;
    for (size_t i = 2; i < s.n; i++)
        v = v * 8 + (uint32_t)(s.p[i] - '0');
    return v;
}

static inline void add_row(struct oci_layer *layer, struct str row)
{
    static const char types[] = { '0', '5', '2', '1', '3', '4', '6' }; /* by enum tar_type */
    char path[TAR_PATH_MAX], link[TAR_PATH_MAX];
    struct tar_entry e = { 0 };
    struct oci_entry *added;
    CHECK_OK(tar_normalize(column(&row), path, &e.path, NULL));
    const char *type = memchr(types, column(&row).p[0], sizeof types);
    CHECK(type);
    e.type = (enum tar_type)(type - types);
    e.mode = octal(column(&row));
    e.uid = (uint32_t)number(column(&row));
    e.gid = (uint32_t)number(column(&row));
    e.mtime_s = (int64_t)number(column(&row));
    e.size = number(column(&row));
    struct str target = column(&row); /* "-" except of links */
    e.link = e.type == TAR_SYMLINK || e.type == TAR_HARDLINK ? target : STR_NULL;
    if (e.type == TAR_HARDLINK)
        CHECK_OK(tar_normalize(e.link, link, &e.link, NULL));
    CHECK_OK(oci_layer_add(layer, &e, &added, NULL));
    layer->n_bytes +=
        TAR_BLOCK_BYTES + (e.size + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;
    if (added && e.type == TAR_FILE)
        CHECK(hex_parse(row, added->digest, sizeof added->digest));
}

static inline int add_text(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

/* "redis-old": its layers, merged. */
static inline void load_image(struct merged *m, const char *name)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, TEST_DATA "/image-trees/%s.tsv.zst", name);
    scoped(buf_fini_scoped) struct buf packed = BUF_INIT(1 << 20), text = BUF_INIT(8 << 20);
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(add_text, &text);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &packed, NULL));
    CHECK_OK(decompressor_add(d, buf_str(&packed), NULL));
    CHECK_OK(decompressor_end(d, NULL));
    struct str rest = buf_str(&text), row;
    struct oci_layer *layers[LAYERS_MAX];
    struct oci_digest digests[LAYERS_MAX] = { 0 };
    uint64_t sizes[LAYERS_MAX] = { 0 };
    size_t n = 0;
    while (rest.n) {
        (void)str_cut(rest, '\n', &row, &rest);
        if (!str_has_prefix(row, STR("#layer"))) {
            add_row(layers[n - 1], row);
            continue;
        }
        CHECK(n < LAYERS_MAX);
        (void)column(&row);
        (void)column(&row);
        CHECK_OK(oci_digest_parse(column(&row), &digests[n], NULL));
        sizes[n] = number(row);
        layers[n++] = xnew(struct oci_layer);
    }
    merged_init(m, OCI_SYMLINK_PARENT_REFUSE);
    memcpy(m->blob_sizes, sizes, sizeof sizes);
    memcpy(m->digests, digests, sizeof digests);
    for (size_t i = 0; i < n; i++)
        CHECK_OK(merged_add(m, layers[i], NULL));
    CHECK_INT(m->tree.n_missing, 0);
}
