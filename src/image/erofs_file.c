/* SPDX-License-Identifier: Apache-2.0 */
#include "image/erofs_file.h"

#include "base/sum.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/erofs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const char MAGIC[8] = { 'D', 'M', 'E', 'R', 'O', 'F', 'S', '1' };

static uint64_t sum_of(struct str image)
{
    return sum64(image, EROFS_BLOCK_BYTES);
}

int erofs_file_write(struct oci_store *store, struct str image, char **ret, struct err *err)
{
    static const char zeros[EROFS_BLOCK_BYTES];
    scoped(free_scoped) char *tmp = oci_store_tmp(store);
    scoped(buf_fini_scoped) struct buf end = BUF_INIT(EROFS_BLOCK_BYTES);
    (void)buf_add(&end, MAGIC, sizeof MAGIC);
    (void)buf_add_le64(&end, sum_of(image));
    (void)buf_add(&end, zeros, EROFS_BLOCK_BYTES - end.n);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, tmp, O_WRONLY | O_CREAT | O_EXCL, 0600);
    int r = fd < 0 ? fd : sys_write_all(fd, image.p, image.n);
    r = r < 0 ? r : sys_write_all(fd, end.p, end.n);
    r = r < 0 ? r : sys_fsync(fd);
    if (r < 0) {
        (void)sys_unlinkat(AT_FDCWD, tmp, 0);
        return err_sys(err, r, "write '%s'", tmp);
    }
    *ret = take_ptr(&tmp);
    return 0;
}

int erofs_file_check(const char *path, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT((size_t)EROFS_IMAGE_MAX + EROFS_BLOCK_BYTES);
    int r = sys_read_file(AT_FDCWD, path, &b, err);
    if (r < 0)
        return r == -EMSGSIZE ? err_set(err, E_CORRUPT, "it is too long") : r;
    size_t n = b.n < EROFS_BLOCK_BYTES ? 0 : b.n - EROFS_BLOCK_BYTES;
    struct rd end = rd_init(b.p + n, b.n - n);
    struct str magic = rd_str(&end, sizeof MAGIC);
    uint64_t sum = rd_le64(&end);
    if (!rd_ok(&end) || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0 || sum != sum_of(str_n(b.p, n)))
        return err_set(err, E_CORRUPT, "its checksum is wrong");
    return 0;
}

/* ---- all of them ---- */

struct checking {
    struct oci_store *store;
    bool remove;
    void (*on_damage)(void *arg, const char *path, const char *why);
    void *arg;
    struct erofs_file_found found;
};

static int check_one(struct checking *c, const char *name, struct err *err)
{
    struct err why = { 0 };
    scoped(free_scoped) char *path = xasprintf("%s/%s", oci_store_root(c->store), name);
    int r = erofs_file_check(path, &why);
    if (r == -ENOENT) /* removed meanwhile */
        return 0;
    if (r < 0 && r != E_CORRUPT)
        return err_set(err, r, "%s", err_text(&why));
    c->found.n++;
    if (r >= 0)
        return 0;
    c->found.n_damaged++;
    c->on_damage(c->arg, name, err_text(&why));
    r = c->remove ? sys_unlinkat(AT_FDCWD, path, 0) : 0;
    return r < 0 && r != -ENOENT ? err_sys(err, r, "remove '%s'", path) : 0;
}

static int check_dir(struct checking *c, const char *dir, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", oci_store_root(c->store), dir);
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    int r = fd < 0 ? fd : tree_names_read(fd, &names, err);
    if (r < 0)
        return r == -ENOENT || r == -ENOTDIR ? 0 : err_sys(err, r, "read '%s'", path);
    for (size_t i = 0; i < names.all.n && r >= 0; i++) {
        scoped(free_scoped) char *name = xasprintf("%s/%s", dir, names.all.p[i]);
        /* Files of version 1 have no checksum. */
        if (str_has_suffix(str_of(name), STR(".erofs")) &&
            !str_has_suffix(str_of(name), STR("-1.erofs")))
            r = check_one(c, name, err);
    }
    return r;
}

int erofs_file_check_all(struct oci_store *store, bool remove,
                         void (*on_damage)(void *arg, const char *path, const char *why), void *arg,
                         struct erofs_file_found *ret, struct err *err)
{
    static const char *const dirs[] = { "images", "layers" };
    struct checking c = { store, remove, on_damage, arg, { 0 } };
    int r = 0;
    for (size_t d = 0; d < ARRAY_LEN(dirs) && r >= 0; d++) {
        scoped(free_scoped) char *path = xasprintf("%s/%s", oci_store_root(store), dirs[d]);
        scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
        scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
        r = fd < 0 ? err_sys(err, fd, "open '%s'", path) : tree_names_read(fd, &names, err);
        for (size_t i = 0; i < names.all.n && r >= 0; i++) {
            scoped(free_scoped) char *dir = xasprintf("%s/%s", dirs[d], names.all.p[i]);
            r = check_dir(&c, dir, err);
        }
    }
    if (r >= 0)
        *ret = c.found;
    return r;
}
