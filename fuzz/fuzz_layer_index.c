/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexes of layers: what is read has normalised paths in bounds, and is the same after it was
 * written and read again. The input is taken as it is, and with the checksum that it should have.
 */
#include "fuzz.h"

#include "oci/layer_index.h"

enum { INDEX_MAX = 64 << 20, SUM_BYTES = 8 };

static void check_same(const struct oci_layer *a, const struct oci_layer *b)
{
    FUZZ_CHECK(a->entries.n == b->entries.n && a->whiteouts.n == b->whiteouts.n);
    FUZZ_CHECK(memcmp(a->diff_id, b->diff_id, sizeof a->diff_id) == 0);
    for (size_t i = 0; i < a->entries.n; i++) {
        const struct oci_entry *x = &a->entries.p[i], *y = &b->entries.p[i];
        FUZZ_CHECK(str_eq(x->path, y->path) && str_eq(x->link, y->link));
        FUZZ_CHECK(x->size == y->size && x->data_offset == y->data_offset && x->type == y->type);
        FUZZ_CHECK(x->n_xattrs == y->n_xattrs && x->mtime_s == y->mtime_s);
        FUZZ_CHECK(memcmp(x->digest, y->digest, sizeof x->digest) == 0);
    }
}

/* What a confined process gives, which a hostile index may have taken over. */
static void read_flat(struct str flat)
{
    struct oci_layer *layer;
    if (oci_layer_index_read_flat(flat, &layer, NULL) < 0)
        return;
    for (size_t i = 0; i < layer->entries.n; i++) {
        const struct oci_entry *e = &layer->entries.p[i];
        FUZZ_CHECK(oci_layer_is_entry_path(e->path) && e->data_offset <= layer->n_bytes);
    }
    oci_layer_free(layer);
}

static void read_index(struct str bytes)
{
    struct oci_layer *layer, *again;
    if (oci_layer_index_read(bytes, &layer, NULL) < 0)
        return;
    for (size_t i = 0; i < layer->entries.n; i++) {
        char room[TAR_PATH_MAX];
        struct str path;
        FUZZ_CHECK(tar_normalize(layer->entries.p[i].path, room, &path, NULL) == 0);
        FUZZ_CHECK(str_eq(path, layer->entries.p[i].path));
    }
    struct buf b = BUF_INIT(INDEX_MAX);
    FUZZ_CHECK(oci_layer_index_write(layer, &b, NULL) == 0);
    FUZZ_CHECK(oci_layer_index_read(buf_str(&b), &again, NULL) == 0);
    check_same(layer, again);
    oci_layer_free(again);
    struct buf flat = BUF_INIT(INDEX_MAX);
    FUZZ_CHECK(oci_layer_index_flatten(bytes, &flat, NULL) == 0);
    FUZZ_CHECK(oci_layer_index_read_flat(buf_str(&flat), &again, NULL) == 0);
    check_same(layer, again);
    buf_fini(&flat);
    buf_fini(&b);
    oci_layer_free(layer);
    oci_layer_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = str_n(data, size);
    read_index(in);
    read_flat(in);
    if (size < SUM_BYTES)
        return 0;
    struct buf b = BUF_INIT(INDEX_MAX);
    struct str summed = str_slice(in, 0, size - SUM_BYTES);
    (void)buf_add_str(&b, summed);
    (void)buf_add_le64(&b, oci_layer_index_sum(summed));
    read_index(buf_str(&b));
    read_flat(buf_str(&b));
    buf_fini(&b);
    return 0;
}
