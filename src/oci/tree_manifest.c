/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tree_manifest.h"

#include "base/sum.h"
#include "base/sys.h"
#include "oci/layer_index.h"

#include <errno.h>
#include <zstd.h>

enum { SUM_BYTES = 8, LENGTHS_BYTES = 16, LEVEL = 12, PIECE_BYTES = 64 << 10 };

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

static bool has_piece(const struct oci_entry *e)
{
    return e->type == TAR_FILE && e->size > 0 && !e->is_sparse;
}

/* The pieces of l->layer, and the size that its skeleton has to have. */
static int find_pieces(struct oci_tree_layer *l, struct err *err)
{
    uint64_t end = 0, n_content = 0;
    vec_each (e, &l->layer->entries) {
        if (!has_piece(e))
            continue;
        if (e->data_offset < end || e->data_offset > l->layer->n_bytes ||
            e->size > l->layer->n_bytes - e->data_offset)
            return damaged(err, "a file does not lie in its tar");
        struct oci_tree_piece piece = { e, e->data_offset - n_content };
        vec_push(&l->pieces, piece);
        end = e->data_offset + e->size;
        n_content += e->size;
    }
    l->n_skeleton = l->layer->n_bytes - n_content;
    if (l->n_skeleton > OCI_TREE_SKELETON_MAX)
        return err_set(err, E_LIMIT, "tree manifest: the skeleton of a layer is too large");
    return 0;
}

static void layer_fini(struct oci_tree_layer *l, bool is_own)
{
    if (is_own)
        oci_layer_free(l->layer);
    vec_fini(&l->pieces);
    free(l->skeleton);
}

/* ---- writing ---- */

static int read_exactly(int fd, char *to, uint64_t n, uint64_t at, struct err *err)
{
    ssize_t got = sys_pread_full(fd, to, (size_t)n, at);
    if (got < 0)
        return err_sys(err, (int)got, "read the tar of a layer");
    return (uint64_t)got == n ? 0 : damaged(err, "the tar is shorter than its index says");
}

static int read_skeleton(struct oci_tree_layer *l, int tar_fd, struct err *err)
{
    uint64_t at = 0, n_content = 0;
    l->skeleton = mem_try((size_t)l->n_skeleton + 1);
    if (!l->skeleton)
        return err_set(err, -ENOMEM, "tree manifest");
    for (size_t i = 0; i <= l->pieces.n; i++) {
        const struct oci_tree_piece *p = i < l->pieces.n ? &l->pieces.p[i] : NULL;
        uint64_t to = p ? p->at : l->n_skeleton;
        int r = read_exactly(tar_fd, l->skeleton + at, to - at, at + n_content, err);
        if (r < 0)
            return r;
        n_content += p ? p->file->size : 0;
        at = to;
    }
    return 0;
}

static int pack(struct str raw, struct buf *to, size_t *ret_n, struct err *err)
{
    char *room;
    size_t most = ZSTD_compressBound(raw.n);
    int r = buf_reserve(to, most, &room);
    if (r < 0)
        return err_sys(err, r, "tree manifest");
    size_t n = ZSTD_compress(room, most, raw.p, raw.n, LEVEL);
    if (ZSTD_isError(n))
        return err_set(err, -ENOMEM, "tree manifest: %s", ZSTD_getErrorName(n));
    buf_advance(to, n);
    *ret_n = n;
    return 0;
}

/* Its index and skeleton are appended to `body`, their lengths to `lengths`. */
static int write_layer(const struct oci_layer *layer, int tar_fd, struct buf *lengths,
                       struct buf *body, struct err *err)
{
    /* The layer is only read: the struct is that of the reader. */
    struct oci_tree_layer l = { .layer = (struct oci_layer *)layer };
    size_t start = body->n, n_index, n_packed = 0;
    int r = find_pieces(&l, err);
    r = r < 0 ? r : read_skeleton(&l, tar_fd, err);
    r = r < 0 ? r : oci_layer_index_write(layer, body, err);
    n_index = body->n - start;
    r = r < 0 ? r : pack(str_n(l.skeleton, (size_t)l.n_skeleton), body, &n_packed, err);
    (void)buf_add_le64(lengths, n_index);
    (void)buf_add_le64(lengths, n_packed);
    layer_fini(&l, false);
    return r;
}

int oci_tree_manifest_write(const struct oci_layer *const *layers, const int *tar_fds, size_t n,
                            struct buf *to, struct err *err)
{
    scoped(buf_fini_scoped) struct buf lengths = BUF_INIT(OCI_TREE_LAYERS_MAX * LENGTHS_BYTES);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(OCI_TREE_MANIFEST_MAX);
    size_t start = to->n;
    if (n > OCI_TREE_LAYERS_MAX)
        return too_many(err);
    for (size_t i = 0; i < n; i++) {
        int r = write_layer(layers[i], tar_fds[i], &lengths, &body, err);
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

static int unpack_skeleton(struct oci_tree_layer *l, struct str packed, struct err *err)
{
    if (ZSTD_getFrameContentSize(packed.p, packed.n) != l->n_skeleton)
        return damaged(err, "a skeleton has another size");
    l->skeleton = mem_try((size_t)l->n_skeleton + 1);
    if (!l->skeleton)
        return err_set(err, -ENOMEM, "tree manifest");
    size_t n = ZSTD_decompress(l->skeleton, (size_t)l->n_skeleton, packed.p, packed.n);
    return ZSTD_isError(n) || n != l->n_skeleton ? damaged(err, "a skeleton does not unpack") : 0;
}

static int read_layer(struct oci_tree_layer *l, struct str index, struct str packed,
                      struct err *err)
{
    int r = oci_layer_index_read(index, &l->layer, err);
    if (r < 0)
        return err_ctx(err, r, "tree manifest");
    r = find_pieces(l, err);
    return r < 0 ? r : unpack_skeleton(l, packed, err);
}

int oci_tree_manifest_read(struct str bytes, struct oci_tree_manifest *ret, struct err *err)
{
    struct rd r = rd_init(bytes.p, bytes.n), lengths;
    struct str magic = rd_str(&r, sizeof MAGIC);
    uint32_t version = rd_le32(&r), n = rd_le32(&r);
    if (!rd_ok(&r) || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0)
        return damaged(err, "it is none");
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
    lengths = rd_init(table.p, table.n);
    struct oci_tree_manifest m = { xnew_n(struct oci_tree_layer, (size_t)n + 1), n };
    int status = 0;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        uint64_t n_index = rd_le64(&lengths), n_packed = rd_le64(&lengths);
        struct str index = rd_str(&r, n_index), packed = rd_str(&r, n_packed);
        status = rd_ok(&r) && rd_ok(&lengths) ? read_layer(&m.layers[i], index, packed, err)
                                              : damaged(err, "it is cut short");
    }
    if (status >= 0 && (!rd_ok(&r) || rd_left(&r) != SUM_BYTES))
        status = damaged(err, "it has another length");
    if (status < 0)
        oci_tree_manifest_fini(&m);
    else
        *ret = m;
    return status;
}

void oci_tree_manifest_fini(struct oci_tree_manifest *m)
{
    for (size_t i = 0; i < m->n; i++)
        layer_fini(&m->layers[i], true);
    free(m->layers);
    *m = (struct oci_tree_manifest){ 0 };
}

/* ---- the tar ---- */

static int give_skeleton(const struct oci_tree_layer *l, uint64_t from, uint64_t to,
                         oci_tree_sink sink, void *arg, struct err *err)
{
    int r = 0;
    for (uint64_t n; r >= 0 && from < to; from += n) {
        n = MIN(to - from, (uint64_t)PIECE_BYTES);
        r = sink(arg, str_n(l->skeleton + from, (size_t)n), err);
    }
    return r;
}

int oci_tree_layer_make(const struct oci_tree_layer *l, oci_tree_content content, void *content_arg,
                        oci_tree_sink sink, void *sink_arg, struct err *err)
{
    uint64_t at = 0;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < l->pieces.n; i++) {
        const struct oci_tree_piece *p = &l->pieces.p[i];
        r = give_skeleton(l, at, p->at, sink, sink_arg, err);
        r = r < 0 ? r : content(content_arg, p->file, sink, sink_arg, err);
        at = p->at;
    }
    return r < 0 ? r : give_skeleton(l, at, l->n_skeleton, sink, sink_arg, err);
}
