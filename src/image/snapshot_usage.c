/* SPDX-License-Identifier: Apache-2.0 */
/* A container writes the tree while it is read: names are read a few at a time, and none is trusted
 * to be there, or to be what it was, a moment later. */
#include "image/snapshot_usage.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 512, NAMES_BYTES = 4096 };

struct usage_level {
    int fd;
    char *names; /* NAMES_BYTES, of struct dirent64 */
    size_t at, n;
};

struct usage_walk {
    VEC(struct usage_level) levels;
    struct map seen; /* inodes with several names */
    dev_t dev;
    uint64_t n_bytes, n_inodes;
};

static void leave(struct usage_walk *w)
{
    struct usage_level *l = &w->levels.p[--w->levels.n];
    (void)close(l->fd);
    free(l->names);
}

static void walk_fini(struct usage_walk *w)
{
    while (w->levels.n)
        leave(w);
    vec_fini(&w->levels);
    map_fini(&w->seen);
}

/* fd: taken. */
static void enter(struct usage_walk *w, int fd)
{
    struct usage_level l = { .fd = fd, .names = xalloc(NAMES_BYTES) };
    vec_push(&w->levels, l);
}

/* Whether the inode was counted before: only those with several names are remembered. */
static bool is_seen(struct usage_walk *w, const struct stat *st)
{
    ino_t ino = st->st_ino;
    struct str key = str_n(&ino, sizeof ino);
    if (st->st_nlink < 2 || S_ISDIR(st->st_mode))
        return false;
    if (w->seen.n >= SNAPSHOT_USAGE_LINKS_MAX)
        return map_has(&w->seen, key);
    return map_put(&w->seen, key, w) != NULL;
}

static void count(struct usage_walk *w, const struct stat *st)
{
    if (is_seen(w, st))
        return;
    w->n_bytes += (uint64_t)st->st_blocks * BLOCK_BYTES;
    w->n_inodes++;
}

static bool is_gone(int r)
{
    return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -ESTALE;
}

/* One name in the uppermost directory of the stack. */
static int count_name(struct usage_walk *w, const char *name, struct err *err)
{
    struct stat st;
    int dir = w->levels.p[w->levels.n - 1].fd;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return is_gone(-errno) ? 0 : err_sys(err, -errno, "read '%s'", name);
    if (st.st_dev != w->dev)
        return 0;
    count(w, &st);
    if (!S_ISDIR(st.st_mode))
        return 0;
    if (w->levels.n > SNAPSHOT_USAGE_DEPTH_MAX)
        return err_set(err, E_LIMIT, "a tree of more than %d directories below one another",
                       SNAPSHOT_USAGE_DEPTH_MAX);
    int fd = sys_openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return is_gone(fd) ? 0 : err_sys(err, fd, "open '%s'", name);
    enter(w, fd);
    return 0;
}

/* The next name, or more names, or back to the parent. */
static int step(struct usage_walk *w, struct err *err)
{
    struct usage_level *l = &w->levels.p[w->levels.n - 1];
    if (l->at < l->n) {
        const struct dirent64 *e = (const struct dirent64 *)(l->names + l->at);
        l->at += e->d_reclen;
        return count_name(w, e->d_name, err); /* l may have moved */
    }
    ssize_t n = getdents64(l->fd, l->names, NAMES_BYTES);
    if (n < 0 && !is_gone(-errno))
        return err_sys(err, -errno, "read a directory");
    l->at = 0;
    l->n = n > 0 ? (size_t)n : 0;
    if (n <= 0)
        leave(w);
    return 0;
}

int snapshot_usage(const char *path, uint64_t *ret_bytes, uint64_t *ret_inodes, struct err *err)
{
    struct usage_walk w = { 0 };
    struct stat st;
    int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return err_sys(err, fd, "read '%s'", path);
    if (fstat(fd, &st) < 0) {
        int r = err_sys(err, -errno, "read '%s'", path);
        (void)close(fd);
        return r;
    }
    w.dev = st.st_dev;
    count(&w, &st);
    enter(&w, fd);
    int r = 0;
    while (r >= 0 && w.levels.n)
        r = step(&w, err);
    if (r >= 0) {
        *ret_bytes = w.n_bytes;
        *ret_inodes = w.n_inodes;
    }
    walk_fini(&w);
    return r < 0 ? err_ctx(err, r, "'%s'", path) : 0;
}
