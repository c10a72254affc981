/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_tar.h"

#include "base/sys.h"

#include <errno.h>
#include <unistd.h>

struct layer_tar {
    int tar, sparse;
    struct oci_layer *layer;
    struct sha256 *diff_id;
    uint64_t n_sparse; /* bytes of the second file that files take */
    uint64_t at;       /* in it */
};

struct layer_tar *layer_tar_new(int tar_fd, int sparse_fd)
{
    struct layer_tar *t = xnew(struct layer_tar);
    t->tar = tar_fd;
    t->sparse = sparse_fd;
    t->layer = xnew(struct oci_layer);
    t->layer->text.block_bytes = 64 << 10;
    t->diff_id = sha256_new();
    return t;
}

void layer_tar_free(struct layer_tar *t)
{
    if (!t)
        return;
    oci_layer_free(t->layer);
    sha256_free(t->diff_id);
    free(t);
}

static int on_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    struct layer_tar *t = arg;
    struct oci_entry *own;
    int r = oci_layer_add_entry(t->layer, e, &own, err);
    if (r < 0 || !e->is_sparse)
        return r;
    own->data_offset = t->at = t->n_sparse;
    t->n_sparse += e->size + -e->size % TAR_BLOCK_BYTES;
    return 0;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct layer_tar *t = arg;
    int r = sys_pwrite_all(t->sparse, bytes.p, bytes.n, t->at);
    t->at += bytes.n;
    return r < 0 ? err_sys(err, r, "write a sparse file") : 0;
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    struct layer_tar *t = arg;
    (void)err;
    t->at += n_bytes;
    return 0;
}

static int on_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    return oci_layer_add_whiteout(((struct layer_tar *)arg)->layer, w, err);
}

static int on_raw(void *arg, struct str bytes, struct err *err)
{
    struct layer_tar *t = arg;
    int r = sys_write_all(t->tar, bytes.p, bytes.n);
    sha256_add(t->diff_id, bytes.p, bytes.n);
    t->layer->n_bytes += bytes.n;
    return r < 0 ? err_sys(err, r, "write the tar of a layer") : 0;
}

const struct layer_ops layer_tar_ops = {
    .entry = on_entry,
    .data = on_data,
    .hole = on_hole,
    .whiteout = on_whiteout,
    .raw = on_raw,
};

int layer_tar_end(struct layer_tar *t, struct layer_tar_result *ret, struct err *err)
{
    struct layer_tar_result own = { .sparse_bytes = t->n_sparse };
    /* Readers take whole blocks; a tar has them by its format, where its end was not cut off. */
    own.tar_bytes = t->layer->n_bytes + -t->layer->n_bytes % TAR_BLOCK_BYTES;
    int r = own.tar_bytes > t->layer->n_bytes ? sys_ftruncate(t->tar, own.tar_bytes) : 0;
    r = r < 0 || t->n_sparse == 0 ? r : sys_ftruncate(t->sparse, t->n_sparse);
    if (r < 0)
        return err_sys(err, r, "write the tar of a layer");
    sha256_end(t->diff_id, t->layer->diff_id);
    own.layer = take_ptr(&t->layer);
    *ret = own;
    return 0;
}
