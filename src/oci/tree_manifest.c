/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tree_manifest.h"

#include "base/sum.h"
#include "oci/layer_index.h"

enum { SUM_BYTES = 8, LENGTHS_BYTES = 16 };

static const char MAGIC[8] = { 'D', 'M', 'T', 'R', 'E', 'E', 'M', 'F' };

uint64_t oci_tree_manifest_sum(struct str bytes)
{
    return sum64(bytes, OCI_TREE_MANIFEST_VERSION);
}

static int damaged(struct err *err, const char *what)
{
    return err_set(err, E_CORRUPT, "tree manifest: %s", what);
}

static int too_many(struct err *err)
{
    return err_set(err, E_LIMIT, "tree manifest: more than %d layers", OCI_TREE_LAYERS_MAX);
}

static void layer_fini(struct oci_tree_layer *l)
{
    oci_layer_free(l->layer);
    buf_fini(&l->parts);
}

/* The skeleton of l->layer with this frame. */
static int set_skeleton(struct oci_tree_layer *l, struct str frame, struct err *err)
{
    l->parts = BUF_INIT(OCI_SKELETON_MAX);
    int r = oci_skeleton_of(l->layer, frame, &l->parts, &l->skeleton, err);
    if (r < 0)
        return err_ctx(err, r == E_PARSE ? E_CORRUPT : r, "tree manifest");
    return oci_skeleton_frame_bytes(&l->skeleton) > OCI_TREE_SKELETON_MAX
               ? err_set(err, E_LIMIT, "tree manifest: the skeleton of a layer is too large")
               : 0;
}

/* ---- writing ---- */

/* Its index and frame are appended to `body`, their lengths to `lengths`. */
static int write_layer(const struct oci_tree_source *from, struct buf *lengths, struct buf *body,
                       struct err *err)
{
    /* The layer is only read: the struct is that of the reader. */
    struct oci_tree_layer l = { .layer = (struct oci_layer *)from->layer };
    size_t start = body->n;
    int r = set_skeleton(&l, from->frame, err);
    r = r < 0 ? r : oci_layer_index_write(from->layer, body, err);
    (void)buf_add_le64(lengths, body->n - start);
    (void)buf_add_le64(lengths, from->frame.n);
    buf_fini(&l.parts);
    if (r >= 0 && buf_add_str(body, from->frame) < 0)
        r = err_sys(err, body->failed, "tree manifest");
    return r;
}

int oci_tree_manifest_write(const struct oci_tree_source *layers, size_t n, struct buf *to,
                            struct err *err)
{
    scoped(buf_fini_scoped) struct buf lengths = BUF_INIT(OCI_TREE_LAYERS_MAX * LENGTHS_BYTES);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(OCI_TREE_MANIFEST_MAX);
    size_t start = to->n;
    if (n > OCI_TREE_LAYERS_MAX)
        return too_many(err);
    for (size_t i = 0; i < n; i++) {
        int r = write_layer(&layers[i], &lengths, &body, err);
        if (r < 0)
            return r;
    }
    (void)buf_add(to, MAGIC, sizeof MAGIC);
    (void)buf_add_le32(to, OCI_TREE_MANIFEST_VERSION);
    (void)buf_add_le32(to, (uint32_t)n);
    (void)buf_add_str(to, buf_str(&lengths));
    (void)buf_add_str(to, buf_str(&body));
    if (buf_ok(to) && buf_ok(&lengths))
        (void)buf_add_le64(to, oci_tree_manifest_sum(str_n(to->p + start, to->n - start)));
    int r = lengths.failed ? lengths.failed : to->failed;
    return r < 0 ? err_sys(err, r, "tree manifest") : 0;
}

/* ---- reading ---- */

static int read_layer(struct oci_tree_layer *l, struct str index, struct str frame, struct err *err)
{
    int r = oci_layer_index_read(index, &l->layer, err);
    return r < 0 ? err_ctx(err, r, "tree manifest") : set_skeleton(l, frame, err);
}

/* *ret: at the first index; *ret_lengths: at those of the first layer. */
static int open_manifest(struct str bytes, struct rd *ret, struct rd *ret_lengths, uint32_t *ret_n,
                         struct err *err)
{
    struct rd r = rd_init(bytes.p, bytes.n);
    struct str magic = rd_str(&r, sizeof MAGIC);
    uint32_t version = rd_le32(&r), n = rd_le32(&r);
    if (!rd_ok(&r) || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0)
        return damaged(err, "wrong magic number");
    if (version != OCI_TREE_MANIFEST_VERSION)
        return err_set(err, E_VERSION, "tree manifest of version %u", version);
    if (n > OCI_TREE_LAYERS_MAX)
        return too_many(err);
    if (bytes.n < SUM_BYTES)
        return damaged(err, "it is cut short");
    struct str summed = str_slice(bytes, 0, bytes.n - SUM_BYTES);
    struct rd sum = rd_init(bytes.p + summed.n, SUM_BYTES);
    if (rd_le64(&sum) != oci_tree_manifest_sum(summed))
        return damaged(err, "its checksum is wrong");
    struct str table = rd_str(&r, (uint64_t)n * LENGTHS_BYTES);
    *ret_lengths = rd_init(table.p, table.n);
    *ret = r;
    *ret_n = n;
    return 0;
}

/* Of the next layer. */
static int next_parts(struct rd *r, struct rd *lengths, struct str *ret_index,
                      struct str *ret_frame, struct err *err)
{
    uint64_t n_index = rd_le64(lengths), n_packed = rd_le64(lengths);
    *ret_index = rd_str(r, n_index);
    *ret_frame = rd_str(r, n_packed);
    return rd_ok(r) && rd_ok(lengths) ? 0 : damaged(err, "it is cut short");
}

int oci_tree_manifest_read(struct str bytes, struct oci_tree_manifest *ret, struct err *err)
{
    struct rd r, lengths;
    uint32_t n;
    int status = open_manifest(bytes, &r, &lengths, &n, err);
    if (status < 0)
        return status;
    struct oci_tree_manifest m = { xnew_n(struct oci_tree_layer, (size_t)n + 1), n };
    for (size_t i = 0; status >= 0 && i < n; i++) {
        struct str index, frame;
        status = next_parts(&r, &lengths, &index, &frame, err);
        status = status < 0 ? status : read_layer(&m.layers[i], index, frame, err);
    }
    if (status >= 0 && (!rd_ok(&r) || rd_left(&r) != SUM_BYTES))
        status = damaged(err, "it has another length");
    if (status < 0)
        oci_tree_manifest_fini(&m);
    else
        *ret = m;
    return status;
}

int oci_tree_manifest_index(struct str bytes, struct str *ret, struct err *err)
{
    struct rd r, lengths;
    struct str frame;
    uint32_t n;
    int status = open_manifest(bytes, &r, &lengths, &n, err);
    if (status >= 0 && n == 0)
        return err_set(err, E_PARSE, "the tree manifest has no layer");
    return status < 0 ? status : next_parts(&r, &lengths, ret, &frame, err);
}

void oci_tree_manifest_fini(struct oci_tree_manifest *m)
{
    for (size_t i = 0; i < m->n; i++)
        layer_fini(&m->layers[i]);
    free(m->layers);
    *m = (struct oci_tree_manifest){ 0 };
}
