/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/volume/mount.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    MOUNTINFO_MAX = 64 << 20,
    TURNS_MAX = 16 /* times that the table of mounts is read, while others add mounts */
};

bool volume_mount_is_root(int fd)
{
    struct statx st;
    return statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st) == 0 &&
           (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

bool volume_mount_is_tmpfs(int fd)
{
    struct statfs st;
    return fstatfs(fd, &st) == 0 && st.f_type == TMPFS_MAGIC;
}

/* ---------------------------------------------------------------- making */

int volume_mount_tmpfs(const char *path, uint64_t size_bytes, mode_t mode, int64_t gid,
                       struct err *err)
{
    scoped(buf_fini_scoped) struct buf options = BUF_INIT(256);
    (void)buf_printf(&options, "mode=%o", mode);
    if (size_bytes)
        (void)buf_printf(&options, ",size=%" PRIu64, size_bytes);
    if (gid >= 0)
        (void)buf_printf(&options, ",gid=%" PRIi64, gid);
    size_t n = options.n;
    (void)buf_add_cstr(&options, ",noswap");
    for (int turn = 0; turn < 2; turn++) {
        if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, buf_cstr(&options)) == 0)
            return 0;
        options.p[n] = '\0'; /* "noswap" is known since Linux 6.4 */
    }
    return err_sys(err, -errno, "mount a tmpfs at '%s'", path);
}

int volume_mount_bind(int fd, const char *path, struct err *err)
{
    scoped(fd_scoped) int tree =
        open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
    if (tree < 0)
        return err_sys(err, -errno, "copy the mount for '%s'", path);
    if (move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return err_sys(err, -errno, "bind to '%s'", path);
    return 0;
}

/* ---------------------------------------------------------------- ending */

int volume_mount_end(const char *path, struct err *err)
{
    int r = umount2(path, UMOUNT_NOFOLLOW) < 0 ? -errno : 0;
    if (r == -EBUSY)
        r = umount2(path, UMOUNT_NOFOLLOW | MNT_DETACH) < 0 ? -errno : 0;
    return r < 0 ? err_sys(err, r, "unmount '%s'", path) : 0;
}

/* Blank, tab, line feed and backslash are written as three octal digits. */
static char *unescape(struct str s)
{
    char *out = xstrndup(s.p, s.n), *to = out;
    for (const char *at = out; *at; to++) {
        bool is_escape = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
                         at[2] <= '7' && at[3] >= '0' && at[3] <= '7';
        *to = *at;
        if (is_escape)
            *to = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
        at += is_escape ? 4 : 1;
    }
    *to = '\0';
    return out;
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* The fifth word of a line of mountinfo (proc_pid_mountinfo(5)). */
static struct str mount_point(struct str line)
{
    struct str word = STR_NULL;
    for (int i = 0; i < 5; i++)
        (void)str_cut(line, ' ', &word, &line);
    return word;
}

typedef VEC(char *) path_list;

static void free_list(path_list *l)
{
    vec_each (path, l)
        free(*path);
    vec_fini(l);
}

/* In the order of the table: a mount comes after the one that it lies on. */
static int list_mounts(const char *dir, path_list *to, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(MOUNTINFO_MAX);
    int r = sys_read_file(AT_FDCWD, "/proc/self/mountinfo", &text, err);
    struct str rest = buf_str(&text), line;
    while (r >= 0 && rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        char *path = unescape(mount_point(line));
        if (is_below(path, dir))
            vec_push(to, path);
        else
            free(path);
    }
    return r < 0 ? r : 0;
}

/* Returns the number of mounts that were there. */
static int end_once(const char *path, struct err *err)
{
    path_list mounts = { 0 };
    int r = list_mounts(path, &mounts, err), n = (int)mounts.n;
    int first = r;
    for (size_t i = mounts.n; i > 0 && r >= 0; i--) {
        int one = volume_mount_end(mounts.p[i - 1], first < 0 ? NULL : err);
        first = first < 0 ? first : one;
    }
    free_list(&mounts);
    return first < 0 ? first : n;
}

/* A link at `path` is not followed: the table has real paths, and no mount lies below a link. */
int volume_mount_end_below(const char *path, struct err *err)
{
    int r = 1;
    for (int turn = 0; turn < TURNS_MAX && r > 0; turn++)
        r = end_once(path, err);
    return r > 0 ? err_set(err, -EBUSY, "mounts keep appearing below '%s'", path) : r;
}
