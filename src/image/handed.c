/* SPDX-License-Identifier: Apache-2.0 */
#include "image/handed.h"

#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { PIECE_BYTES = 256 << 10, TAR_NAME_BYTES = SHA256_HEX_SIZE + 4 };

static const char *tar_name(const struct oci_digest *diff_id, char *to)
{
    char hex[SHA256_HEX_SIZE];
    hex_format(diff_id->bytes, sizeof diff_id->bytes, hex);
    (void)snprintf(to, TAR_NAME_BYTES, "%s.tar", hex);
    return to;
}

/* ---- taking ---- */

static int open_regular(int dir_fd, const char *path, struct stat *ret, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd < 0 || fstat(fd, ret) < 0)
        return err_sys(err, fd < 0 ? fd : -errno, "open '%s'", path);
    if (!S_ISREG(ret->st_mode))
        return err_set(err, E_INVALID, "'%s' is no file", path);
    return take_fd(&fd);
}

int handed_read(int dir_fd, const char *path, struct buf *to, struct err *err)
{
    struct stat st;
    scoped(fd_scoped) int fd = open_regular(dir_fd, path, &st, err);
    if (fd < 0)
        return fd;
    scoped(free_scoped) char *self = xasprintf("/proc/self/fd/%d", fd);
    return sys_read_file(AT_FDCWD, self, to, err);
}

struct handed_taking {
    const struct handed_opts *o;
    int dir;
    const struct oci_image *image;
};

static int add_tar(const struct handed_taking *t, int fd, struct oci_import *im, struct err *err)
{
    scoped(free_scoped) char *piece = xalloc(PIECE_BYTES);
    for (uint64_t at = 0;; at += PIECE_BYTES) {
        if (t->o->stop && atomic_load(t->o->stop))
            return err_set(err, -ECANCELED, "it was canceled");
        ssize_t n = sys_pread_full(fd, piece, PIECE_BYTES, at);
        if (n < 0)
            return err_sys(err, (int)n, "read the tar of a layer");
        int r = n ? oci_import_add(im, str_n(piece, (size_t)n), err) : 0;
        if (r < 0 || n < PIECE_BYTES)
            return r;
    }
}

static int take_layer(void *arg, struct oci_store *s, size_t i, struct err *err)
{
    const struct handed_taking *t = arg;
    const struct oci_digest *diff_id = &t->image->config.diff_ids[i];
    char name[TAR_NAME_BYTES];
    struct stat st;
    struct err why = { 0 };
    if (oci_store_layer_has(s, diff_id))
        return 0;
    scoped(fd_scoped) int fd = open_regular(t->dir, tar_name(diff_id, name), &st, err);
    if (fd < 0)
        return fd;
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    const struct oci_import_opts opts = { .diff_id = *diff_id,
                                          .blob = *diff_id,
                                          .blob_size = (uint64_t)st.st_size,
                                          .has_no_blob = true,
                                          .max_tar_bytes = (uint64_t)MAX(st.st_size, (off_t)1),
                                          .reading = t->o->reading,
                                          .reading_arg = t->o->reading_arg };
    int r = oci_import_new(s, &opts, &im, &why);
    r = r < 0 ? r : add_tar(t, fd, im, &why);
    r = r < 0 ? r : oci_import_commit(im, &why);
    return r < 0 && r != -EEXIST ? err_set(err, r, "layer %zu: %s", i, err_text(&why)) : 0;
}

/* to: of the arena. *ret_digest: of the bytes that were read. */
static int read_document(int dir, const char *name, struct arena *a, struct str *ret,
                         struct oci_digest *ret_digest, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = handed_read(dir, name, &text, err);
    if (r < 0)
        return r;
    sha256_of(buf_str(&text), ret_digest->bytes);
    *ret = str_copy_arena(a, buf_str(&text));
    return 0;
}

static int read_image(int dir, struct arena *a, struct oci_image *ret, struct err *err)
{
    struct oci_digest config;
    struct err none = { 0 };
    int r = read_document(dir, "manifest", a, &ret->manifest_text, &ret->digest, err);
    r = r < 0 ? r : read_document(dir, "config", a, &ret->config_text, &config, err);
    r = r < 0 ? r : oci_manifest_parse(a, ret->manifest_text, &ret->manifest, err);
    r = r < 0 ? r : oci_config_parse(a, ret->config_text, &ret->config, err);
    if (r < 0)
        return r;
    if (!oci_digest_equal(&config, &ret->manifest.config.digest))
        return err_set(err, E_DIGEST, "the configuration is another one");
    if (ret->config.n_diff_ids != ret->manifest.n_layers)
        return err_set(err, E_PARSE, "the manifest has other layers than the configuration");
    r = read_document(dir, "index", a, &ret->index_text, &ret->index, &none);
    return r < 0 && r != -ENOENT ? err_set(err, r, "%s", err_text(&none)) : 0;
}

static int read_list(int dir, struct start_list *ret, bool *ret_has, struct err *err)
{
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    int r = handed_read(dir, "start", &text, &why);
    *ret_has = r >= 0;
    if (r == -ENOENT)
        return 0;
    return r < 0 ? err_set(err, r, "%s", err_text(&why))
                 : start_list_read(buf_str(&text), ret, err);
}

int handed_keep(struct oci_store *s, const char *dir, const struct handed_opts *o, struct err *err)
{
    struct arena a = { 0 };
    struct oci_image image = { 0 };
    struct start_list first = { 0 };
    bool has_list = false;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    struct handed_taking t = { .o = o, .dir = fd, .image = &image };
    struct keep_opts keep = { .image = &image, .name = o->name, .layer = take_layer, .arg = &t };
    int r = fd < 0 ? err_sys(err, fd, "open '%s'", dir) : read_image(fd, &a, &image, err);
    r = r < 0 ? r : read_list(fd, &first, &has_list, err);
    keep.first = has_list ? &first : NULL;
    r = r < 0 ? r : keep_image(s, &keep, err);
    if (r >= 0 && o->lease.n)
        r = oci_store_lease(s, o->lease, &image.digest, true, err);
    if (r >= 0 && o->lease.n && o->stop && atomic_load(o->stop)) {
        /* The sending process has ended, and may have dropped the lease before it was created. */
        (void)oci_store_lease_drop(s, o->lease, NULL);
        r = err_set(err, -ECANCELED, "it was canceled");
    }
    start_list_fini(&first);
    arena_fini(&a);
    return r;
}

/* ---- giving ---- */

static int write_text(int dir_fd, const char *name, struct str text, struct err *err)
{
    scoped(fd_scoped) int fd =
        sys_openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    int r = fd < 0 ? fd : sys_write_all(fd, text.p, text.n);
    return r < 0 ? err_sys(err, r, "write '%s'", name) : 0;
}

int handed_write(int dir_fd, const struct oci_image *image, const struct start_list *first,
                 struct err *err)
{
    scoped(buf_fini_scoped) struct buf list = BUF_INIT(START_LIST_BYTES_MAX);
    int r = first ? start_list_write(first, &list) : 0;
    if (r < 0)
        return err_sys(err, r, "list of the start");
    r = write_text(dir_fd, "manifest", image->manifest_text, err);
    r = r < 0 ? r : write_text(dir_fd, "config", image->config_text, err);
    if (r >= 0 && image->index_text.n)
        r = write_text(dir_fd, "index", image->index_text, err);
    return r < 0 || !first ? r : write_text(dir_fd, "start", buf_str(&list), err);
}

int handed_new_tar(int dir_fd, const struct oci_digest *diff_id, struct err *err)
{
    char name[TAR_NAME_BYTES];
    int fd =
        sys_openat(dir_fd, tar_name(diff_id, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    return fd < 0 ? err_sys(err, fd, "write '%s'", name) : fd;
}
