/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree is flattened: each directory that a directory holds is moved to the top under a number,
 * until none holds another one.
 */
#include "base/tree_remove.h"

#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* READ_MAX: names of a directory that are held at once. */
enum { NAME_SIZE = 32, READ_MAX = 1 << 16 };

void tree_names_fini(struct tree_names *n)
{
    for (size_t i = 0; i < n->all.n; i++)
        free(n->all.p[i]);
    vec_fini(&n->all);
}

static inline void closedir_scoped(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

static int read_names(int dir_fd, size_t max, struct tree_names *ret, struct err *err)
{
    int fd = sys_openat(dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open a directory");
    scoped(closedir_scoped) DIR *dir = fdopendir(fd);
    if (!dir) {
        int r = err_sys(err, -errno, "read a directory");
        (void)close(fd);
        return r;
    }
    errno = 0;
    for (struct dirent *e; ret->all.n < max && (e = readdir(dir));) {
        struct str name = str_of(e->d_name);
        if (!str_is(name, ".") && !str_is(name, ".."))
            vec_push(&ret->all, str_dup(name));
        errno = 0;
    }
    return errno ? err_sys(err, -errno, "read a directory") : 0;
}

int tree_names_read(int dir_fd, struct tree_names *ret, struct err *err)
{
    return read_names(dir_fd, SIZE_MAX, ret, err);
}

int tree_remove_detach(int dir_fd, const char *name, int gone_fd, uint64_t *n_gone, struct err *err)
{
    char to[NAME_SIZE];
    /* Without privileges, moving a directory needs write permission on it. */
    (void)fchmodat(dir_fd, name, 0700, 0);
    for (;;) {
        (void)snprintf(to, sizeof to, ".%llu.gone", (unsigned long long)(*n_gone)++);
        if (renameat2(dir_fd, name, gone_fd, to, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EEXIST)
            return err_sys(err, -errno, "remove '%s'", name);
    }
}

/* The files of a directory are removed, and its directories come to the top. */
static int clear(int fd, int top, uint64_t *n_gone, struct err *err)
{
    size_t n = READ_MAX;
    while (n == READ_MAX) {
        scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
        int r = read_names(fd, READ_MAX, &names, err);
        for (size_t i = 0; i < names.all.n && r >= 0; i++)
            if (unlinkat(fd, names.all.p[i], 0) < 0)
                r = errno == EISDIR ? tree_remove_detach(fd, names.all.p[i], top, n_gone, err)
                                    : err_sys(err, -errno, "remove '%s'", names.all.p[i]);
        if (r < 0)
            return r;
        n = names.all.n;
    }
    return 0;
}

/* All files of a directory at the top; its directories come to the top. */
static int flatten(int top, const char *name, uint64_t *n_gone, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd == -EACCES && fchmodat(top, name, 0700, 0) == 0)
        fd = sys_openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", name);
    (void)fchmod(fd, 0700);
    int r = clear(fd, top, n_gone, err);
    if (r >= 0 && unlinkat(top, name, AT_REMOVEDIR) < 0)
        r = err_sys(err, -errno, "remove '%s'", name);
    return r;
}

int tree_remove_children(int dir_fd, struct err *err)
{
    uint64_t n_gone = 0;
    for (;;) {
        scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
        int r = read_names(dir_fd, READ_MAX, &names, err);
        if (r < 0 || names.all.n == 0)
            return r;
        for (size_t i = 0; i < names.all.n && r >= 0; i++)
            if (unlinkat(dir_fd, names.all.p[i], 0) < 0)
                r = errno == EISDIR ? flatten(dir_fd, names.all.p[i], &n_gone, err)
                                    : err_sys(err, -errno, "remove '%s'", names.all.p[i]);
        if (r < 0)
            return r;
    }
}

int tree_remove(int parent_fd, const char *name, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", name);
    int r = tree_remove_children(fd, err);
    if (r >= 0 && unlinkat(parent_fd, name, AT_REMOVEDIR) < 0)
        r = err_sys(err, -errno, "remove '%s'", name);
    return r;
}

/* ---- leftovers ---- */

/* Refuse a directory that another user has put there to have its mode changed. */
static bool is_own_dir(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 07777) == 0700;
}

void tree_remove_stale(int parent_fd, struct str mark)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    if (tree_names_read(parent_fd, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.all.n; i++) {
        if (!str_has_prefix(str_of(names.all.p[i]), mark))
            continue;
        scoped(fd_scoped) int fd =
            sys_openat(parent_fd, names.all.p[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        if (fd >= 0 && is_own_dir(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            tree_remove_children(fd, NULL) >= 0)
            (void)unlinkat(parent_fd, names.all.p[i], AT_REMOVEDIR);
    }
}
