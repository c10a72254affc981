/* SPDX-License-Identifier: Apache-2.0 */
/* Names of log files; see podlog_path.h. */
#include "agent/log/podlog_path.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/gzip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 255, PIECE_BYTES = 64 << 10, DIR_MODE = 0755, FILE_MODE = 0640 };

char *podlog_path_pod(const char *root, const struct podlog_name *n)
{
    return xasprintf("%s/pods/" STR_FMT "_" STR_FMT "_" STR_FMT, root, STR_ARG(n->ns),
                     STR_ARG(n->pod), STR_ARG(n->uid));
}

char *podlog_path_file(const char *root, const struct podlog_name *n)
{
    scoped(free_scoped) char *pod = podlog_path_pod(root, n);
    return xasprintf("%s/" STR_FMT "/%u.log", pod, STR_ARG(n->container), n->restart);
}

char *podlog_path_link(const char *root, const struct podlog_name *n, struct str id)
{
    scoped(free_scoped) char *base =
        xasprintf(STR_FMT "_" STR_FMT "_" STR_FMT "-" STR_FMT, STR_ARG(n->pod), STR_ARG(n->ns),
                  STR_ARG(n->container), STR_ARG(id));
    return xasprintf("%s/containers/%.*s.log", root, NAME_MAX_BYTES - (int)sizeof ".log" + 1, base);
}

int podlog_path_make_link(const char *root, const struct podlog_name *name, struct str id,
                          struct err *err)
{
    scoped(free_scoped) char *dir = xasprintf("%s/containers", root);
    scoped(free_scoped) char *to = podlog_path_file(root, name);
    scoped(free_scoped) char *link = podlog_path_link(root, name, id);
    int r = sys_mkdir_all(dir, DIR_MODE, err);
    if (r < 0)
        return r;
    if (unlink(link) < 0 && errno != ENOENT)
        return err_sys(err, -errno, "remove '%s'", link);
    return symlink(to, link) < 0 ? err_sys(err, -errno, "link '%s'", link) : 0;
}

/* ------------------------------------------------------------------ directories */

struct podlog_names {
    char **p;
    size_t n, cap;
};

static void names_fini(struct podlog_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->p[i]);
    free(names->p);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names that begin with `prefix`, sorted. */
static int list_names(int fd, const char *prefix, struct podlog_names *ret, struct err *err)
{
    int dir_fd = sys_openat(fd, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *d = dir_fd < 0 ? NULL : fdopendir(dir_fd);
    const struct dirent *e;
    if (!d)
        return err_sys(err, -errno, "read the directory");
    while ((e = readdir(d)) != NULL)
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && strcmp(e->d_name, ".") != 0 &&
            strcmp(e->d_name, "..") != 0)
            vec_push(ret, xstrdup(e->d_name));
    (void)closedir(d);
    if (ret->n)
        qsort(ret->p, ret->n, sizeof ret->p[0], by_name);
    return 0;
}

/* The directory of a file, and its name there. */
static int open_parent(const char *file, const char **ret_name, struct err *err)
{
    const char *slash = strrchr(file, '/');
    scoped(free_scoped) char *dir =
        slash ? xstrndup(file, (size_t)(slash - file) + 1) : xstrdup(".");
    int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", dir);
    *ret_name = slash ? slash + 1 : file;
    return fd;
}

int podlog_path_sweep_links(const char *root, struct err *err)
{
    struct podlog_names names = { 0 };
    scoped(free_scoped) char *dir = xasprintf("%s/containers", root);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd == -ENOENT ? 0 : err_sys(err, fd, "open '%s'", dir);
    int r = list_names(fd, "", &names, err), n = 0;
    for (size_t i = 0; r >= 0 && i < names.n; i++) {
        struct stat st;
        bool is_link =
            fstatat(fd, names.p[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        if (is_link && fstatat(fd, names.p[i], &st, 0) < 0 && errno == ENOENT)
            n += sys_unlinkat(fd, names.p[i], 0) >= 0;
    }
    names_fini(&names);
    return r < 0 ? r : n;
}

static int remove_all(int fd, const struct podlog_names *names, struct err *err)
{
    int first = 0;
    for (size_t i = 0; i < names->n; i++) {
        int r = sys_unlinkat(fd, names->p[i], 0);
        if (r < 0 && r != -ENOENT && first == 0)
            first = err_sys(err, r, "remove '%s'", names->p[i]);
    }
    return first;
}

int podlog_path_remove(const char *file, struct err *err)
{
    struct podlog_names names = { 0 };
    const char *name;
    scoped(fd_scoped) int fd = open_parent(file, &name, err);
    if (fd == -ENOENT)
        return 0;
    if (fd < 0)
        return fd;
    scoped(free_scoped) char *rotated = xasprintf("%s.", name);
    int r = list_names(fd, rotated, &names, err);
    vec_push(&names, xstrdup(name));
    int removed = remove_all(fd, &names, err);
    names_fini(&names);
    return r < 0 ? r : removed;
}

/* ------------------------------------------------------------------ compression */

static int compress_into(int in, int out)
{
    char piece[PIECE_BYTES];
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4 * PIECE_BYTES);
    struct gzip *g = gzip_new();
    ssize_t n = 1;
    int r = g ? 0 : -ENOMEM;
    for (uint64_t at = 0; r >= 0 && n > 0; at += (uint64_t)n) {
        n = sys_pread_full(in, piece, sizeof piece, at);
        r = n < 0 ? (int)n : gzip_add(g, str_n(piece, (size_t)n), n == 0, &b);
        if (r >= 0)
            r = sys_write_all(out, b.p, b.n);
        buf_reset(&b);
    }
    gzip_free(g);
    return r;
}

static int compress_file(int dir, const char *name, struct err *err)
{
    scoped(free_scoped) char *tmp = xasprintf("%s.tmp", name);
    scoped(free_scoped) char *to = xasprintf("%s.gz", name);
    scoped(fd_scoped) int in = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW, 0);
    if (in < 0)
        return err_sys(err, in, "open '%s'", name);
    scoped(fd_scoped) int out =
        sys_openat(dir, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, FILE_MODE);
    int r = out < 0 ? out : compress_into(in, out);
    if (r >= 0)
        r = sys_renameat(dir, tmp, dir, to);
    if (r < 0) {
        (void)sys_unlinkat(dir, tmp, 0);
        return err_sys(err, r, "compress '%s'", name);
    }
    return sys_unlinkat(dir, name, 0);
}

static bool has_suffix(const char *name, const char *suffix)
{
    return str_has_suffix(str_of(name), str_of(suffix));
}

int podlog_path_tidy(const char *file, unsigned keep, bool compresses, struct err *err)
{
    struct podlog_names all = { 0 }, old = { 0 };
    const char *name;
    scoped(fd_scoped) int fd = open_parent(file, &name, err);
    if (fd < 0)
        return fd;
    scoped(free_scoped) char *prefix = xasprintf("%s.", name);
    int r = list_names(fd, prefix, &all, err), first = r;
    size_t n_rotated = 0;
    for (size_t i = 0; i < all.n; i++)
        n_rotated += !has_suffix(all.p[i], ".tmp");
    for (size_t i = 0, seen = 0; i < all.n; i++) {
        bool is_rest = has_suffix(all.p[i], ".tmp");
        if (is_rest || seen + keep < n_rotated)
            vec_push(&old, xstrdup(all.p[i]));
        else if (compresses && seen + 1 < n_rotated && !has_suffix(all.p[i], ".gz") && first >= 0)
            first = compress_file(fd, all.p[i], err);
        seen += !is_rest;
    }
    r = remove_all(fd, &old, first < 0 ? NULL : err);
    names_fini(&all);
    names_fini(&old);
    return first < 0 ? first : r;
}

/* "20260102-030405" */
static int64_t parse_stamp(struct str s)
{
    char text[RFC3339_MAX];
    int64_t wall_us = 0;
    if (s.n < 15)
        return 0;
    (void)snprintf(text, sizeof text, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", s.p, s.p + 4, s.p + 6,
                   s.p + 9, s.p + 11, s.p + 13);
    return rfc3339_parse(str_of(text), &wall_us) < 0 ? 0 : wall_us / 1000000;
}

int64_t podlog_path_last_rotation(const char *file)
{
    struct podlog_names names = { 0 };
    const char *name;
    scoped(fd_scoped) int fd = open_parent(file, &name, NULL);
    if (fd < 0)
        return 0;
    scoped(free_scoped) char *prefix = xasprintf("%s.", name);
    int64_t last_s = 0;
    if (list_names(fd, prefix, &names, NULL) >= 0 && names.n > 0)
        last_s = parse_stamp(str_of(names.p[names.n - 1] + strlen(prefix)));
    names_fini(&names);
    return last_s;
}
