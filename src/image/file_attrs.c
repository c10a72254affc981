/* SPDX-License-Identifier: Apache-2.0 */
#include "image/file_attrs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PROC_PATH_SIZE = TAR_NAME_MAX + 40 };

static const struct str CAPABILITY = { "security.capability", 19 };

/* A failed setxattr(). What a file system or a kernel does not have cannot have an effect there;
 * labels of other security modules and user attributes of links and devices are among it. */
static int check_setxattr(int code, struct str name, uint64_t *n_left_out, struct err *err)
{
    bool is_refused = code == -EOPNOTSUPP || code == -EPERM || code == -EINVAL || code == -ERANGE;
    if (is_refused && !str_eq(name, CAPABILITY)) {
        (*n_left_out)++;
        return 0;
    }
    return err_sys(err, is_refused ? E_UNSUPPORTED : code, "set the attribute '" STR_FMT "'",
                   STR_ARG(name));
}

/* path: of the file, where fd is -1 */
static int set_xattrs(int fd, const char *path, const struct file_attrs *a, uint64_t *n_left_out,
                      struct err *err)
{
    for (size_t i = 0; i < a->n_xattrs; i++) {
        char name[TAR_NAME_MAX + 1];
        const struct tar_xattr *x = &a->xattrs[i];
        if (x->name.n > TAR_NAME_MAX) {
            (*n_left_out)++;
            continue;
        }
        memcpy(name, x->name.p, x->name.n);
        name[x->name.n] = 0;
        int r = fd >= 0 ? fsetxattr(fd, name, x->value.p, x->value.n, 0)
                        : lsetxattr(path, name, x->value.p, x->value.n, 0);
        r = r < 0 ? check_setxattr(-errno, x->name, n_left_out, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static void times_of(const struct file_attrs *a, struct timespec ret[2])
{
    ret[0] = ret[1] = a->mtime;
}

int file_attrs_set(int fd, const struct file_attrs *a, uint64_t *n_left_out, struct err *err)
{
    struct timespec times[2];
    times_of(a, times);
    if (!a->keeps_owner && fchown(fd, a->uid, a->gid) < 0)
        return err_sys(err, -errno, "set the owner to %u:%u", a->uid, a->gid);
    if (fchmod(fd, a->mode) < 0)
        return err_sys(err, -errno, "set the mode");
    int r = set_xattrs(fd, NULL, a, n_left_out, err);
    if (r < 0)
        return r;
    return futimens(fd, times) < 0 ? err_sys(err, -errno, "set the times") : 0;
}

int file_attrs_set_at(int dir_fd, const char *name, bool is_symlink, const struct file_attrs *a,
                      uint64_t *n_left_out, struct err *err)
{
    char path[PROC_PATH_SIZE];
    struct timespec times[2];
    times_of(a, times);
    if (!a->keeps_owner && fchownat(dir_fd, name, a->uid, a->gid, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, -errno, "set the owner to %u:%u", a->uid, a->gid);
    if (!is_symlink && fchmodat(dir_fd, name, a->mode, 0) < 0)
        return err_sys(err, -errno, "set the mode");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir_fd, name);
    int r = set_xattrs(-1, path, a, n_left_out, err);
    if (r < 0)
        return r;
    return utimensat(dir_fd, name, times, AT_SYMLINK_NOFOLLOW) < 0
               ? err_sys(err, -errno, "set the times")
               : 0;
}
