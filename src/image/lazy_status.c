/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_status.h"

#include "base/buf.h"
#include "base/sys.h"
#include "base/tree_remove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#define MARK "lazy-"
#define TURN "turn-"

enum { LINE_MAX_BYTES = 2 * 21 + SHA256_HEX_SIZE + LAZY_STATUS_REFERENCE_MAX + 2 };

struct lazy_status {
    char *path;
    int fd;
    struct lazy_status_row row; /* its reference is its own */
};

static char *dir_of(const struct oci_store *s)
{
    return xasprintf("%s/starts", oci_store_root(s));
}

/* ---- reading ---- */

static bool parse(struct str line, struct lazy_status_row *ret)
{
    struct str done, all, manifest, rest;
    return str_cut(line, ' ', &done, &rest) && str_cut(rest, ' ', &all, &rest) &&
           str_cut(rest, ' ', &manifest, &rest) && str_cut(rest, '\n', &ret->reference, &rest) &&
           parse_u64(done, 0, UINT64_MAX, &ret->done_bytes) >= 0 &&
           parse_u64(all, 0, UINT64_MAX, &ret->all_bytes) >= 0 &&
           hex_parse(manifest, ret->manifest.bytes, sizeof ret->manifest.bytes);
}

/* Its process lives. */
static bool is_locked(int fd)
{
    return flock(fd, LOCK_SH | LOCK_NB) < 0;
}

static bool read_row(int dir, const char *name, struct arena *a, struct lazy_status_row *ret)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(LINE_MAX_BYTES);
    scoped(fd_scoped) int fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0 || !is_locked(fd) || sys_read_file(dir, name, &text, NULL) < 0 ||
        !parse(buf_str(&text), ret))
        return false;
    ret->reference = str_copy_arena(a, ret->reference);
    return true;
}

int lazy_status_list(const struct oci_store *s, struct arena *a, struct lazy_status_row **ret,
                     size_t *ret_n, struct err *err)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(free_scoped) char *path = dir_of(s);
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    *ret = arena_new_n(a, struct lazy_status_row, LAZY_STATUS_ROWS_MAX);
    *ret_n = 0;
    if (dir == -ENOENT)
        return 0;
    int r = dir < 0 ? err_sys(err, dir, "open '%s'", path) : tree_names_read(dir, &names, err);
    for (size_t i = 0; r >= 0 && i < names.all.n && *ret_n < LAZY_STATUS_ROWS_MAX; i++)
        if (str_has_prefix(str_of(names.all.p[i]), STR(MARK)))
            *ret_n += read_row(dir, names.all.p[i], a, &(*ret)[*ret_n]);
    return r;
}

const char *lazy_status_text(const struct lazy_status_row *row, struct arena *a)
{
    if (row->done_bytes >= row->all_bytes)
        return "running";
    unsigned percent = (unsigned)((double)row->done_bytes * 100 / (double)row->all_bytes);
    return arena_printf(a, "running, hydrating %u %%", MIN(percent, 99u));
}

/* ---- writing ---- */

static void remove_stale(const char *path)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0 || tree_names_read(dir, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.all.n; i++) {
        const char *name = names.all.p[i];
        if (!str_has_prefix(str_of(name), STR(MARK)) && !str_has_prefix(str_of(name), STR(TURN)))
            continue;
        scoped(fd_scoped) int fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW, 0);
        if (fd >= 0 && !is_locked(fd))
            (void)sys_unlinkat(dir, name, 0);
    }
}

static int write_line(const struct lazy_status *t)
{
    char hex[SHA256_HEX_SIZE];
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    hex_format(t->row.manifest.bytes, SHA256_BYTES, hex);
    (void)buf_printf(&line, "%020llu %020llu %s " STR_FMT "\n",
                     (unsigned long long)t->row.done_bytes, (unsigned long long)t->row.all_bytes,
                     hex, STR_ARG(t->row.reference));
    return buf_ok(&line) ? sys_pwrite_all(t->fd, line.p, line.n, 0) : line.failed;
}

/* Readers must always find it locked: it gets its name only then. */
static int make(struct lazy_status *t, const char *dir, struct err *err)
{
    t->path = xasprintf("%s/" MARK "%016llx", dir, (unsigned long long)sys_random_u64());
    t->fd = sys_openat(AT_FDCWD, dir, O_RDWR | O_TMPFILE, 0600);
    int r = t->fd < 0 ? t->fd : flock(t->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : write_line(t);
    scoped(free_scoped) char *made = xasprintf("/proc/self/fd/%d", t->fd);
    if (r >= 0 && linkat(AT_FDCWD, made, AT_FDCWD, t->path, AT_SYMLINK_FOLLOW) < 0)
        r = -errno;
    return r < 0 ? err_sys(err, r, "make '%s'", t->path) : 0;
}

int lazy_status_new(const struct oci_store *s, const struct lazy_status_row *first,
                    struct lazy_status **ret, struct err *err)
{
    if (str_find_char(first->reference, '\n') >= 0 ||
        first->reference.n > LAZY_STATUS_REFERENCE_MAX)
        return err_set(err, E_INVALID, "no reference");
    scoped(free_scoped) char *dir = dir_of(s);
    int r = sys_mkdir_all(dir, 0700, err);
    if (r < 0)
        return r;
    remove_stale(dir);
    struct lazy_status *t = xnew(struct lazy_status);
    t->row = *first;
    t->row.reference = str_of(str_dup(first->reference));
    r = make(t, dir, err);
    if (r < 0) {
        lazy_status_free(t);
        return r;
    }
    *ret = t;
    return 0;
}

void lazy_status_set(struct lazy_status *t, uint64_t done_bytes)
{
    t->row.done_bytes = done_bytes;
    (void)write_line(t);
}

void lazy_status_free(struct lazy_status *t)
{
    if (!t)
        return;
    if (t->path)
        (void)sys_unlinkat(AT_FDCWD, t->path, 0);
    fd_scoped(&t->fd);
    free((char *)(uintptr_t)t->row.reference.p);
    free(t->path);
    free(t);
}

/* ---- turns ---- */

static char *turn_of(const struct oci_store *s, const struct oci_digest *manifest)
{
    char hex[SHA256_HEX_SIZE];
    scoped(free_scoped) char *dir = dir_of(s);
    hex_format(manifest->bytes, sizeof manifest->bytes, hex);
    return xasprintf("%s/" TURN "%s", dir, hex);
}

/* If the file is removed at the same time, two starts hold the lock: both fetch, which is harmless.
 */
int lazy_status_acquire(const struct oci_store *s, const struct oci_digest *manifest)
{
    scoped(free_scoped) char *path = turn_of(s, manifest);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CREAT | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fd;
    return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : take_fd(&fd);
}

void lazy_status_release(const struct oci_store *s, const struct oci_digest *manifest, int turn)
{
    scoped(free_scoped) char *path = turn_of(s, manifest);
    if (turn >= 0)
        (void)sys_unlinkat(AT_FDCWD, path, 0);
    fd_scoped(&turn);
}
