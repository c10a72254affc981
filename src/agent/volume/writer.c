/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/volume/writer.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sys.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_BYTES_MAX = 255,
    LINK_MAX = 128, /* of "..data" */
    DIR_TRIES_MAX = 16,
};
static const char data_link[] = "..data", new_data_link[] = "..data_tmp";

/* ---------------------------------------------------------------- paths */

static int check_name(struct str path, struct str name, bool is_first, struct err *err)
{
    if (str_is(name, ".."))
        return err_set(err, E_INVALID, "invalid path: must not contain '..': " STR_FMT,
                       STR_ARG(path));
    if (is_first && str_has_prefix(name, STR("..")))
        return err_set(err, E_INVALID, "invalid path: must not start with '..': " STR_FMT,
                       STR_ARG(path));
    if (name.n > NAME_BYTES_MAX)
        return err_set(err, E_INVALID,
                       "invalid path: filenames must be less than or equal to %d characters",
                       NAME_BYTES_MAX);
    return 0;
}

static int check_whole(struct str path, struct err *err)
{
    if (!path.n)
        return err_set(err, E_INVALID, "invalid path: must not be empty: \"\"");
    if (path.p[0] == '/')
        return err_set(err, E_INVALID, "invalid path: must be relative path: " STR_FMT,
                       STR_ARG(path));
    if (path.n > VOLUME_PATH_MAX)
        return err_set(err, E_INVALID, "invalid path: must be less than or equal to %d characters",
                       VOLUME_PATH_MAX);
    if (memchr(path.p, 0, path.n))
        return err_set(err, E_INVALID, "invalid path: must not contain a NUL byte");
    return 0;
}

int volume_path_clean(struct arena *a, struct str path, struct str *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf clean = BUF_INIT(VOLUME_PATH_MAX + 1);
    struct str rest = path, name;
    int r = check_whole(path, err);
    for (bool more = true; r >= 0 && more;) {
        more = str_cut(rest, '/', &name, &rest);
        if (!name.n || str_is(name, "."))
            continue;
        r = check_name(path, name, clean.n == 0, err);
        (void)buf_add_cstr(&clean, clean.n ? "/" : "");
        (void)buf_add_str(&clean, name);
    }
    if (r < 0)
        return r;
    if (!clean.n)
        return err_set(err, E_INVALID, "invalid path: must name a file: " STR_FMT, STR_ARG(path));
    *ret = str_copy_arena(a, buf_str(&clean));
    return 0;
}

/* ---------------------------------------------------------------- what is there */

struct volume_writer {
    int dir_fd;
    const struct volume_payload *payload;
    char old[LINK_MAX];  /* name of the present directory of files; empty: none */
    char name[LINK_MAX]; /* of the new one */
    int data_fd;
    struct err *err;
};

/* "..data" must name a directory beside it. */
static int read_link(struct volume_writer *w)
{
    ssize_t n = readlinkat(w->dir_fd, data_link, w->old, sizeof w->old - 1);
    if (n < 0)
        n = 0;
    w->old[n] = '\0';
    if (strncmp(w->old, "..", 2) != 0 || strchr(w->old, '/') || strcmp(w->old, "..") == 0)
        w->old[0] = '\0';
    return 0;
}

/* Ownership and permissions that a file gets. */
static void attributes(const struct volume_writer *w, const struct volume_file *f, mode_t *ret_mode,
                       uid_t *ret_uid, gid_t *ret_gid)
{
    const struct volume_ownership *o = w->payload->ownership;
    mode_t mode = (f->mode & 0777) | S_IFREG;
    *ret_mode = (o ? volume_ownership_mode(o, mode) : mode) & 07777;
    *ret_uid = f->uid >= 0 ? (uid_t)f->uid : geteuid();
    *ret_gid = o ? o->gid : getegid();
}

static bool is_same_file(const struct volume_writer *w, int data_fd, const struct volume_file *f)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(f->bytes.n + 1);
    scoped(free_scoped) char *path = str_dup(f->path);
    struct stat st;
    mode_t mode;
    uid_t uid;
    gid_t gid;
    attributes(w, f, &mode, &uid, &gid);
    scoped(fd_scoped) int fd = volume_tree_open(data_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size != f->bytes.n || (st.st_mode & 07777) != mode || st.st_uid != uid ||
        st.st_gid != gid)
        return false;
    char *to;
    if (buf_reserve(&bytes, f->bytes.n, &to) < 0 ||
        sys_pread_full(fd, to, f->bytes.n, 0) != (ssize_t)f->bytes.n)
        return false;
    return f->bytes.n == 0 || memcmp(to, f->bytes.p, f->bytes.n) == 0;
}

/* Regular files below a directory of files; it has as many levels as the paths of the payload. */
static size_t count_files(int dir_fd)
{
    size_t n = 0;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        scoped(fd_scoped) int child = volume_tree_open_child(dir_fd, e->d_name);
        n += child < 0 ? 1 : count_files(child);
    }
    if (dir)
        (void)closedir(dir);
    return n;
}

static struct str first_name(struct str path)
{
    struct str head, tail;
    (void)str_cut(path, '/', &head, &tail);
    return head;
}

/* A program with the capability may have removed a visible link. */
static bool has_link(const struct volume_writer *w, struct str name)
{
    char path[NAME_BYTES_MAX + 1], target[NAME_BYTES_MAX + 16], want[NAME_BYTES_MAX + 16];
    (void)snprintf(path, sizeof path, STR_FMT, STR_ARG(name));
    (void)snprintf(want, sizeof want, "%s/" STR_FMT, data_link, STR_ARG(name));
    ssize_t n = readlinkat(w->dir_fd, path, target, sizeof target - 1);
    return n > 0 && str_eq(str_n(target, (size_t)n), str_of(want));
}

static bool is_current(const struct volume_writer *w)
{
    const struct volume_payload *p = w->payload;
    if (!w->old[0])
        return false;
    scoped(fd_scoped) int fd = volume_tree_open_child(w->dir_fd, w->old);
    if (fd < 0 || count_files(fd) != p->n)
        return false;
    for (size_t i = 0; i < p->n; i++) {
        if (!has_link(w, first_name(p->files[i].path)) || !is_same_file(w, fd, &p->files[i]))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- the new directory */

static int own(const struct volume_writer *w, int fd)
{
    return w->payload->ownership ? volume_tree_own(fd, w->payload->ownership) : 0;
}

static int make_dir(struct volume_writer *w)
{
    int r = -EEXIST;
    for (int i = 0; i < DIR_TRIES_MAX && r == -EEXIST; i++) {
        int64_t now_us = clock_wall_us();
        time_t s = (time_t)(now_us / 1000000);
        struct tm tm;
        char time_text[32];
        (void)gmtime_r(&s, &tm);
        (void)strftime(time_text, sizeof time_text, "%Y_%m_%d_%H_%M_%S", &tm);
        (void)snprintf(w->name, sizeof w->name, "..%s.%u", time_text,
                       (unsigned)(sys_random_u64() % 4000000000u));
        r = sys_mkdirat(w->dir_fd, w->name, 0755);
    }
    if (r < 0)
        return err_sys(w->err, r, "make '%s'", w->name);
    w->data_fd = volume_tree_open_child(w->dir_fd, w->name);
    if (w->data_fd < 0)
        return err_sys(w->err, w->data_fd, "open '%s'", w->name);
    if (fchmod(w->data_fd, 0755) < 0)
        return err_sys(w->err, -errno, "change the mode of '%s'", w->name);
    r = own(w, w->data_fd);
    return r < 0 ? err_sys(w->err, r, "change the group of '%s'", w->name) : 0;
}

/* Directories on the way to a file, each with the ownership of the volume. */
static int make_parents(struct volume_writer *w, char *path)
{
    for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        int r = volume_tree_make(w->data_fd, path, 0755);
        if (r >= 0) {
            scoped(fd_scoped) int fd = volume_tree_open(w->data_fd, path, O_PATH | O_DIRECTORY);
            r = fd < 0 ? fd : own(w, fd);
        }
        *at = '/';
        if (r < 0)
            return err_sys(w->err, r, "make the directory of '%s'", path);
    }
    return 0;
}

static int write_file(struct volume_writer *w, const struct volume_file *f)
{
    scoped(free_scoped) char *path = str_dup(f->path);
    mode_t mode;
    uid_t uid;
    gid_t gid;
    int r = make_parents(w, path);
    if (r < 0)
        return r;
    attributes(w, f, &mode, &uid, &gid);
    scoped(fd_scoped) int fd =
        sys_openat(w->data_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    r = fd < 0 ? fd : sys_write_all(fd, f->bytes.p, f->bytes.n);
    if (r >= 0 && (uid != geteuid() || gid != getegid()) && fchown(fd, uid, gid) < 0)
        r = -errno;
    if (r >= 0 && fchmod(fd, mode) < 0)
        r = -errno;
    return r < 0 ? err_sys(w->err, r, "write '%s'", path) : 0;
}

static int write_files(struct volume_writer *w)
{
    int r = make_dir(w);
    for (size_t i = 0; i < w->payload->n && r >= 0; i++)
        r = write_file(w, &w->payload->files[i]);
    return r;
}

/* ---------------------------------------------------------------- visible links */

static int make_links(struct volume_writer *w)
{
    for (size_t i = 0; i < w->payload->n; i++) {
        struct str name = first_name(w->payload->files[i].path);
        if (has_link(w, name))
            continue;
        char path[NAME_BYTES_MAX + 1], target[NAME_BYTES_MAX + 16];
        (void)snprintf(path, sizeof path, STR_FMT, STR_ARG(name));
        (void)snprintf(target, sizeof target, "%s/" STR_FMT, data_link, STR_ARG(name));
        int r = volume_tree_remove(w->dir_fd, path, w->err);
        if (r >= 0 && symlinkat(target, w->dir_fd, path) < 0)
            r = err_sys(w->err, -errno, "link '%s'", path);
        if (r < 0)
            return r;
    }
    return 0;
}

static int exchange(struct volume_writer *w)
{
    (void)unlinkat(w->dir_fd, new_data_link, 0);
    if (symlinkat(w->name, w->dir_fd, new_data_link) < 0)
        return err_sys(w->err, -errno, "link '%s'", new_data_link);
    int r = sys_renameat(w->dir_fd, new_data_link, w->dir_fd, data_link);
    return r < 0 ? err_sys(w->err, r, "rename '%s'", new_data_link) : 0;
}

/* Whatever does not belong to the present files: former links and directories. */
static void remove_rest(struct volume_writer *w, const char *keep)
{
    struct map names = { 0 };
    for (size_t i = 0; i < w->payload->n; i++)
        (void)map_put(&names, first_name(w->payload->files[i].path), w);
    (void)map_put(&names, str_of(keep), w);
    (void)map_put(&names, STR("..data"), w);
    int fd = openat(w->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !map_has(&names, str_of(e->d_name)))
            (void)volume_tree_remove(w->dir_fd, e->d_name, NULL);
    }
    if (dir)
        (void)closedir(dir);
    map_fini(&names);
}

/* ---------------------------------------------------------------- all of it */

static int replace(struct volume_writer *w)
{
    int r = write_files(w);
    if (r >= 0)
        r = make_links(w);
    if (r >= 0)
        r = exchange(w);
    if (r < 0 && w->name[0])
        (void)volume_tree_remove(w->dir_fd, w->name, NULL);
    else if (r >= 0)
        remove_rest(w, w->name);
    return r;
}

int volume_writer_write(int dir_fd, const struct volume_payload *payload, struct err *err)
{
    struct volume_writer w = { .dir_fd = dir_fd, .payload = payload, .data_fd = -1, .err = err };
    int r = read_link(&w);
    if (r >= 0 && is_current(&w)) {
        remove_rest(&w, w.old);
        return 0;
    }
    if (r >= 0)
        r = replace(&w);
    if (w.data_fd >= 0)
        (void)close(w.data_fd);
    return r < 0 ? r : 1;
}
