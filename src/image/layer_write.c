/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_write.h"

#include "base/map.h"
#include "base/sys.h"
#include "codec/gzip_members.h"
#include "codec/tar_write.h"

#include <errno.h>

enum { HEADER_MAX_BYTES = 4 << 20 };

struct layer_writer {
    const struct image_spool *spool;
    int fd;
    struct gzip_members *gzip;
    struct sha256 *diff_id, *digest;
    struct buf header;
    struct map names; /* inode -> the item with its first name */
    struct image_layer_blob *blob;
};

static int on_compressed(void *arg, struct str bytes, struct err *err)
{
    struct layer_writer *w = arg;
    sha256_add(w->digest, bytes.p, bytes.n);
    w->blob->size += bytes.n;
    int r = sys_write_all(w->fd, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "write a layer") : 0;
}

static int add_to_tar(void *arg, struct str bytes, struct err *err)
{
    struct layer_writer *w = arg;
    sha256_add(w->diff_id, bytes.p, bytes.n);
    w->blob->tar_size += bytes.n;
    return gzip_members_add(w->gzip, bytes, err);
}

/* What is gathered in w->header. */
static int flush_header(struct layer_writer *w, struct err *err)
{
    int r = add_to_tar(w, buf_str(&w->header), err);
    buf_reset(&w->header);
    return r;
}

/* Its entry in the tar; the first name of an inode is remembered. */
static struct tar_entry entry_of(struct layer_writer *w, const struct image_item *item)
{
    const struct oci_entry *e = item->entry;
    struct tar_entry t = {
        .type = (enum tar_type)item->type,
        .path = item->path,
        .link = item->link,
        .mode = e ? e->mode : 0755,
        .uid = e ? e->uid : 0,
        .gid = e ? e->gid : 0,
        .mtime_s = item->mtime_s,
        .mtime_ns = item->mtime_ns,
        .xattrs = e ? e->xattrs : NULL,
        .n_xattrs = e ? e->n_xattrs : 0,
    };
    const struct image_item *first = NULL;
    if (item->inode) {
        struct str key = str_n(&item->inode, sizeof item->inode);
        first = map_get(&w->names, key);
        if (!first)
            (void)map_put(&w->names, key, (void *)item);
    }
    if (first) {
        t.type = TAR_HARDLINK;
        t.link = first->path;
    }
    if (e && e->type != item->type) { /* a symbolic link in the place of a file */
        t.mode = 0777;
        t.n_xattrs = 0;
    }
    if (t.type == TAR_FILE && e)
        t.size = e->size;
    if (t.type == TAR_CHAR_DEVICE || t.type == TAR_BLOCK_DEVICE) {
        t.device_major = e->device_major;
        t.device_minor = e->device_minor;
    }
    return t;
}

static int add_item(struct layer_writer *w, const struct image_item *item, struct err *err)
{
    struct tar_entry t = entry_of(w, item);
    int r = tar_write_header(&w->header, &t, err);
    r = r < 0 ? r : flush_header(w, err);
    w->blob->n_files += t.type != TAR_DIR;
    if (r < 0 || t.size == 0)
        return r;
    r = image_spool_read(w->spool, item->entry, add_to_tar, w, err);
    (void)tar_write_padding(&w->header, t.size);
    return r < 0 ? r : flush_header(w, err);
}

static int write_all(struct layer_writer *w, const struct image_item *items, size_t n,
                     struct err *err)
{
    if (!w->gzip)
        return err_set(err, -ENOMEM, "compress a layer");
    for (size_t i = 0; i < n; i++) {
        int r = add_item(w, &items[i], err);
        if (r < 0)
            return err_ctx(err, r, "'" STR_FMT "'", STR_ARG(str_slice(items[i].path, 0, 100)));
    }
    (void)tar_write_end(&w->header);
    int r = flush_header(w, err);
    return r < 0 ? r : gzip_members_end(w->gzip, err);
}

static int by_path(const void *x, const void *y)
{
    const struct image_item *a = x, *b = y;
    return str_cmp(a->path, b->path);
}

int image_layer_write(struct image_item *items, size_t n, const struct image_spool *spool, int fd,
                      struct image_layer_blob *ret, struct err *err)
{
    struct image_layer_blob blob = { 0 };
    struct layer_writer w = {
        .spool = spool,
        .fd = fd,
        .diff_id = sha256_new(),
        .digest = sha256_new(),
        .header = BUF_INIT(HEADER_MAX_BYTES),
        .blob = &blob,
    };
    w.gzip = gzip_members_new(on_compressed, &w);
    qsort(items, n, sizeof *items, by_path);
    int r = write_all(&w, items, n, err);
    sha256_end(w.diff_id, blob.diff_id.bytes);
    sha256_end(w.digest, blob.digest.bytes);
    gzip_members_free(w.gzip);
    sha256_free(w.diff_id);
    sha256_free(w.digest);
    buf_fini(&w.header);
    map_fini(&w.names);
    if (r >= 0)
        *ret = blob;
    return r;
}
