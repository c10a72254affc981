/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of images: whatever the bytes, paths are normalised, and pieces of any size give the same.
 */
#include "fuzz.h"

#include "codec/decompress.h"
#include "oci/tree.h"

enum { CONTENT_MAX = 1 << 20 };

static void check_path(struct str path)
{
    char room[TAR_PATH_MAX];
    struct str again;
    FUZZ_CHECK(tar_normalize(path, room, &again, NULL) == 0);
    FUZZ_CHECK(str_eq(path, again));
}

struct intake {
    struct oci_layer_reader *reader;
    uint64_t left;
};

static int add(void *arg, struct str bytes, struct err *err)
{
    struct intake *b = arg;
    if (bytes.n > b->left)
        return err_set(err, E_LIMIT, "more than a fuzzer reads");
    b->left -= bytes.n;
    return oci_layer_reader_add(b->reader, bytes, err);
}

static struct oci_layer *read_layer(struct str in, size_t piece)
{
    struct intake b = { oci_layer_reader_new(), CONTENT_MAX };
    struct decompressor *d = decompressor_new(add, &b);
    struct oci_layer *layer = NULL;
    int r = 0;
    for (size_t at = 0; at < in.n && r >= 0; at += piece)
        r = decompressor_add(d, str_slice(in, at, at + piece), NULL);
    r = r < 0 ? r : decompressor_end(d, NULL);
    if (r >= 0)
        (void)oci_layer_reader_end(b.reader, &layer, NULL);
    decompressor_free(d);
    oci_layer_reader_free(b.reader);
    return layer;
}

/* A hole is hashed, so files that are nearly nothing but holes take long: not what is looked for.
 */
static bool has_large_holes(const struct oci_layer *layer)
{
    for (size_t i = 0; i < layer->entries.n; i++)
        if (layer->entries.p[i].size > CONTENT_MAX)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = str_n(data, size);
    struct oci_layer *layer = read_layer(in, in.n ? in.n : 1), *again;
    if (!layer || has_large_holes(layer)) {
        oci_layer_free(layer);
        return 0;
    }
    again = read_layer(in, 7);
    FUZZ_CHECK(again && again->entries.n == layer->entries.n);
    FUZZ_CHECK(memcmp(again->diff_id, layer->diff_id, sizeof layer->diff_id) == 0);
    for (size_t i = 0; i < layer->entries.n; i++) {
        check_path(layer->entries.p[i].path);
        FUZZ_CHECK(str_eq(layer->entries.p[i].path, again->entries.p[i].path));
    }
    for (size_t i = 0; i < layer->whiteouts.n; i++)
        check_path(layer->whiteouts.p[i].path);
    struct oci_tree t;
    oci_tree_init(&t, OCI_SYMLINK_PARENT_FOLLOW);
    if (oci_tree_apply(&t, layer, NULL) >= 0 && oci_tree_apply(&t, again, NULL) >= 0) {
        struct oci_node **nodes;
        size_t n = oci_tree_sorted(&t, &nodes);
        for (size_t i = 1; i < n; i++)
            FUZZ_CHECK(nodes[i]->parent && oci_node_is_dir(nodes[i]->parent));
        free(nodes);
    }
    oci_tree_fini(&t);
    oci_layer_free(layer);
    oci_layer_free(again);
    return 0;
}
