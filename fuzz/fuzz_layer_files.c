/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree manifests, and requests and answers about files: what is read lies in its bounds, and a tree
 * manifest gives as many bytes as its layer has. Likewise deltas of layers, the manifests that
 * attach them, and indexes of referrers. The first byte chooses; trees are taken as they
 * are, and with the checksum that they should have.
 */
#include "fuzz.h"

#include "oci/delta_artifact.h"
#include "oci/file_parcel.h"
#include "oci/tree_manifest.h"

enum { TREE_MAX = 64 << 20, SUM_BYTES = 8, UNPACKED_MAX = 4 << 20, MADE_MAX = 64 << 20 };

static int count(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    *(uint64_t *)arg += bytes.n;
    return 0;
}

static int give(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                void *sink_arg, struct err *err)
{
    (void)arg;
    return sink(sink_arg, str_n("", (size_t)p->size), err); /* only counted */
}

static void read_tree(struct str bytes)
{
    struct oci_tree_manifest m;
    if (oci_tree_manifest_read(bytes, &m, NULL) < 0)
        return;
    for (size_t i = 0; i < m.n; i++) {
        uint64_t n = 0;
        int r = oci_skeleton_make_tar(&m.layers[i].skeleton, give, NULL, count, &n, NULL);
        FUZZ_CHECK(r < 0 ? n <= m.layers[i].layer->n_bytes : n == m.layers[i].layer->n_bytes);
    }
    oci_tree_manifest_fini(&m);
}

static void read_tree_with_sum(struct str bytes)
{
    struct buf b = BUF_INIT(TREE_MAX);
    struct str summed = str_slice(bytes, 0, bytes.n < SUM_BYTES ? 0 : bytes.n - SUM_BYTES);
    (void)buf_add_str(&b, summed);
    (void)buf_add_le64(&b, oci_tree_manifest_sum(summed));
    read_tree(buf_str(&b));
    buf_fini(&b);
}

static void read_request(struct str bytes)
{
    struct arena a = { 0 };
    struct oci_parcel_request q;
    struct buf again = BUF_INIT(OCI_PARCEL_REQUEST_MAX);
    if (oci_parcel_request_read(&a, bytes, &q, NULL) >= 0) {
        FUZZ_CHECK(oci_parcel_request_write(&q, &again, NULL) == 0);
        FUZZ_CHECK(str_eq(buf_str(&again), bytes));
    }
    buf_fini(&again);
    arena_fini(&a);
}

static void read_answer(struct str bytes)
{
    struct oci_parcel p;
    if (oci_parcel_read(bytes, &p, NULL) < 0)
        return;
    for (size_t i = 0; i < p.n_files; i++)
        FUZZ_CHECK(p.has_file[i] <= 1);
    if (p.n_bytes > UNPACKED_MAX)
        return;
    char *to = malloc((size_t)p.n_bytes + 1);
    FUZZ_CHECK(to);
    (void)oci_parcel_unpack(&p, STR("a base that both ends have"), to, NULL);
    free(to);
}

static void read_delta(struct str bytes)
{
    struct oci_layer_delta *d = malloc(sizeof *d);
    struct buf again = BUF_INIT(TREE_MAX);
    FUZZ_CHECK(d);
    if (oci_layer_delta_read(bytes, d, NULL) >= 0) {
        FUZZ_CHECK(oci_layer_delta_write(d, &again, NULL) == 0);
        FUZZ_CHECK(str_eq(buf_str(&again), bytes));
    }
    buf_fini(&again);
    free(d);
}

static void read_documents(struct str text)
{
    struct arena a = { 0 };
    struct oci_delta_artifact artifact;
    struct oci_delta_referrer *all;
    size_t n;
    if (oci_delta_artifact_read(&a, text, &artifact, NULL) >= 0)
        for (size_t i = 0; i < artifact.n_layers; i++)
            FUZZ_CHECK(artifact.layers[i].blob.size > 0);
    if (oci_delta_referrers(&a, text, &all, &n, NULL) >= 0)
        for (size_t i = 0; i < n; i++)
            FUZZ_CHECK((all[i].n_from > 0) == !all[i].is_trees && all[i].n_from <= OCI_LAYERS_MAX);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str in = str_n(data + 1, size - 1);
    switch (data[0] % 5) {
    case 0:
        read_tree(in);
        read_tree_with_sum(in);
        break;
    case 1:
        read_request(in);
        break;
    case 2:
        read_answer(in);
        break;
    case 3:
        read_delta(in);
        break;
    default:
        read_documents(in);
        break;
    }
    return 0;
}
