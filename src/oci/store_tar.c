/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random access to the tar of a layer whose files are objects. The other bytes of the tar are in an
 * unnamed file, made from the skeleton:
 *
 *     for each part 56 bytes (struct store_tar_row), then the other bytes of the tar, one after the
 *     other
 *
 * so that an open tar costs a descriptor and no memory, however many files the layer has.
 */
#include "oci/store_int.h"

#include "oci/skeleton.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

struct store_tar_row {
    uint64_t offset, size; /* in the tar */
    uint64_t others;       /* how many bytes of the tar before it are not in files */
    uint8_t digest[SHA256_BYTES];
};

struct oci_store_tar {
    atomic_uint refs;
    struct oci_store *s;
    int fd; /* of the rows and the other bytes; with has_tar of the tar */
    bool has_tar;
    size_t n_rows;
    uint64_t n_bytes;
};

/* ---- opening ---- */

struct spooling {
    int fd;
    uint64_t at, left;
};

static int add_to_spool(void *arg, struct str bytes, struct err *err)
{
    struct spooling *p = arg;
    if (bytes.n > p->left)
        return err_set(err, E_CORRUPT, "skeleton: its frame is too long");
    int r = sys_pwrite_all(p->fd, bytes.p, bytes.n, p->at);
    p->at += bytes.n;
    p->left -= bytes.n;
    return r < 0 ? err_sys(err, r, "temporary file") : 0;
}

static int write_rows(struct oci_store_tar *t, const struct oci_skeleton *k, struct err *err)
{
    uint64_t content = 0;
    scoped(buf_fini_scoped) struct buf rows = BUF_INIT(OCI_SKELETON_MAX * (size_t)2);
    for (size_t i = 0; i < k->n_parts; i++) {
        struct oci_skeleton_part p = oci_skeleton_part(k, i);
        struct store_tar_row row = { .offset = p.offset,
                                     .size = p.size,
                                     .others = p.offset - content };
        memcpy(row.digest, p.digest, sizeof row.digest);
        (void)buf_add(&rows, &row, sizeof row);
        content += p.size;
    }
    int r = buf_ok(&rows) ? sys_pwrite_all(t->fd, rows.p, rows.n, 0) : rows.failed;
    return r < 0 ? err_sys(err, r, "temporary file") : 0;
}

/* In the store's file system; a file without a name changes nothing of the store. */
static int new_file(const struct oci_store *s)
{
    int fd = sys_openat(s->fd, ".", O_TMPFILE | O_RDWR, STORE_FILE_MODE);
    return fd < 0 ? sys_memfd("tar") : fd; /* it is mounted read-only */
}

static int open_objects(struct oci_store_tar *t, const struct oci_digest *diff_id, struct err *err)
{
    struct oci_skeleton k;
    struct store_path path = store_path_of("layers", diff_id, "skeleton");
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_SKELETON_MAX);
    int r = sys_read_file(t->s->fd, path.p, &b, err);
    if (r == -ENOENT)
        return err_set(err, -ENODATA, "of the layer only its blob is kept");
    r = r < 0 ? r : oci_skeleton_read(buf_str(&b), &k, err);
    if (r < 0)
        return r;
    t->fd = new_file(t->s);
    if (t->fd < 0)
        return err_sys(err, t->fd, "temporary file");
    t->n_rows = k.n_parts;
    t->n_bytes = k.tar_bytes;
    r = write_rows(t, &k, err);
    struct spooling p = { t->fd, k.n_parts * sizeof(struct store_tar_row),
                          oci_skeleton_frame_bytes(&k) };
    r = r < 0 ? r : oci_skeleton_unpack(&k, add_to_spool, &p, err);
    return r >= 0 && p.left ? err_set(err, E_CORRUPT, "skeleton: its frame is too short") : r;
}

static void tar_free(struct oci_store_tar *t)
{
    fd_scoped(&t->fd);
    free(t);
}

int oci_store_tar_open(struct oci_store *s, const struct oci_digest *diff_id,
                       struct oci_store_tar **ret, struct err *err)
{
    struct stat st;
    struct err why = { 0 };
    struct oci_store_tar *t = xnew(struct oci_store_tar);
    atomic_init(&t->refs, 1);
    t->s = s;
    t->fd = oci_store_layer_fd(s, diff_id, &why);
    t->has_tar = t->fd >= 0;
    int r = t->has_tar || t->fd == -ENODATA ? 0 : err_set(err, t->fd, "%s", err_text(&why));
    if (r >= 0 && t->has_tar)
        r = fstat(t->fd, &st) < 0 ? err_sys(err, -errno, "tar of a layer") : 0;
    if (r >= 0 && t->has_tar)
        t->n_bytes = (uint64_t)st.st_size;
    else if (r >= 0)
        r = open_objects(t, diff_id, err);
    if (r < 0)
        tar_free(t);
    else
        *ret = t;
    return r < 0 ? r : 0;
}

int oci_store_tar_bytes(struct oci_store *s, const struct oci_digest *diff_id, uint64_t *ret,
                        struct err *err)
{
    char head[OCI_SKELETON_HEADER_BYTES];
    uint64_t content;
    struct stat st;
    struct err why = { 0 };
    struct store_path path = store_path_of("layers", diff_id, "skeleton");
    scoped(fd_scoped) int tar = oci_store_layer_fd(s, diff_id, &why);
    if (tar >= 0) {
        if (fstat(tar, &st) < 0)
            return err_sys(err, -errno, "tar of a layer");
        *ret = (uint64_t)st.st_size;
        return 0;
    }
    scoped(fd_scoped) int fd =
        tar == -ENODATA ? sys_openat(s->fd, path.p, O_RDONLY | O_NOFOLLOW, 0) : tar;
    if (fd < 0)
        return err_set(err, tar, "%s", err_text(&why));
    ssize_t n = sys_pread_full(fd, head, sizeof head, 0);
    return n < 0 ? err_sys(err, (int)n, "read '%s'", path.p)
                 : oci_skeleton_read_header(str_n(head, (size_t)n), ret, &content, err);
}

struct oci_store_tar *oci_store_tar_ref(struct oci_store_tar *t)
{
    atomic_fetch_add(&t->refs, 1);
    return t;
}

void oci_store_tar_unref(struct oci_store_tar *t)
{
    if (t && atomic_fetch_sub(&t->refs, 1) == 1)
        tar_free(t);
}

uint64_t oci_store_tar_size(const struct oci_store_tar *t)
{
    return t->n_bytes;
}

/* ---- reading ---- */

static int read_row(const struct oci_store_tar *t, size_t i, struct store_tar_row *ret)
{
    ssize_t n = sys_pread_full(t->fd, ret, sizeof *ret, i * sizeof *ret);
    return n < 0 ? (int)n : (size_t)n < sizeof *ret ? -EIO : 0;
}

/* The first part that ends after the offset; n_rows: none does. */
static int find_row(const struct oci_store_tar *t, uint64_t offset, size_t *ret)
{
    size_t from = 0, to = t->n_rows;
    while (from < to) {
        struct store_tar_row row;
        size_t middle = from + (to - from) / 2;
        int r = read_row(t, middle, &row);
        if (r < 0)
            return r;
        if (row.offset + row.size > offset)
            to = middle;
        else
            from = middle + 1;
    }
    *ret = from;
    return 0;
}

static int read_object(const struct oci_store_tar *t, const struct store_tar_row *row, char *to,
                       size_t n, uint64_t at, struct err *err)
{
    scoped(fd_scoped) int fd = oci_store_object_fd(t->s, row->digest, err);
    if (fd < 0)
        return fd == -ENOENT ? err_ctx(err, E_CORRUPT, "a file of the layer is missing") : fd;
    ssize_t got = sys_pread_full(fd, to, n, at);
    if (got < 0)
        return err_sys(err, (int)got, "read a file of the layer");
    return (size_t)got == n ? 0 : err_set(err, E_CORRUPT, "a file of the layer is cut short");
}

/* n bytes that are in no file, of which `before` come before those of the offset. */
static int read_others(const struct oci_store_tar *t, char *to, size_t n, uint64_t before,
                       struct err *err)
{
    ssize_t got = sys_pread_full(t->fd, to, n, t->n_rows * sizeof(struct store_tar_row) + before);
    if (got < 0)
        return err_sys(err, (int)got, "read the tar of a layer");
    return (size_t)got == n ? 0 : err_set(err, -EIO, "the tar of a layer is cut short");
}

/* Of the part or gap that is at the offset, at most n bytes. How many. */
static ssize_t read_piece(const struct oci_store_tar *t, size_t i, char *to, size_t n,
                          uint64_t offset, struct err *err)
{
    /* After the last part all the rest is in no file. */
    struct store_tar_row row = { .offset = t->n_bytes, .others = 0 }, last = { .offset = 0 };
    int r = i < t->n_rows ? read_row(t, i, &row) : 0;
    if (r >= 0 && i == t->n_rows && i > 0)
        r = read_row(t, i - 1, &last);
    if (r < 0)
        return err_sys(err, r, "read the tar of a layer");
    if (offset >= row.offset) {
        n = (size_t)MIN((uint64_t)n, row.offset + row.size - offset);
        r = read_object(t, &row, to, n, offset - row.offset, err);
        return r < 0 ? r : (ssize_t)n;
    }
    uint64_t before = i < t->n_rows ? row.others - (row.offset - offset)
                                    : last.others + (offset - last.offset - last.size);
    n = (size_t)MIN((uint64_t)n, row.offset - offset);
    r = read_others(t, to, n, before, err);
    return r < 0 ? r : (ssize_t)n;
}

ssize_t oci_store_tar_read(const struct oci_store_tar *t, char *to, size_t n, uint64_t offset,
                           struct err *err)
{
    size_t i = 0, done = 0;
    n = offset >= t->n_bytes ? 0 : (size_t)MIN((uint64_t)n, t->n_bytes - offset);
    if (t->has_tar)
        return sys_pread_full(t->fd, to, n, offset);
    int r = find_row(t, offset, &i);
    if (r < 0)
        return err_sys(err, r, "read the tar of a layer");
    while (done < n) {
        ssize_t got = read_piece(t, i, to + done, n - done, offset + done, err);
        if (got < 0)
            return got;
        done += (size_t)got;
        struct store_tar_row row;
        if (i < t->n_rows && (r = read_row(t, i, &row)) < 0)
            return err_sys(err, r, "read the tar of a layer");
        i += i < t->n_rows && offset + done >= row.offset + row.size;
    }
    return (ssize_t)done;
}
