/* SPDX-License-Identifier: Apache-2.0 */
/* The directories of a snapshotter, and the mounts that containerd gets; see snapshotter.h. */
#include "base/log.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/snapshotter_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

static int open_below(int at, const char *name, int *ret, struct err *err)
{
    int r = sys_mkdirat(at, name, 0700);
    if (r < 0 && r != -EEXIST)
        return err_sys(err, r, "make '%s'", name);
    *ret = sys_openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    return *ret < 0 ? err_sys(err, *ret, "open '%s'", name) : 0;
}

/* Options of mount(2) have no way to write these in a list of directories. */
static int check_path(const char *path, struct err *err)
{
    return strpbrk(path, ":,\\\n")
               ? err_set(err, E_INVALID, "'%s': no ':', ',' or '\\' in the path of the root", path)
               : 0;
}

static bool is_our_name(const char *name)
{
    static const char *const names[] = { "lock", "dirs", "tmp", "trash", "lost+found" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return str_has_prefix(str_of(name), STR("." SNAPSHOTTER_JOURNAL "."));
}

/* The content of tmp/ and trash/ is removed, but only in a directory of snapshots, or an empty one.
 * Other directories have these names, too, and a lock: that of the node store. */
static int check_is_ours(struct snapshotter *s, struct err *err)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    int r = tree_names_read(s->root_fd, &names, err);
    if (r < 0 || faccessat(s->root_fd, SNAPSHOTTER_JOURNAL, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return r; /* whether it is one of snapshots is seen when it is opened */
    for (size_t i = 0; i < names.all.n; i++)
        if (!is_our_name(names.all.p[i]))
            return err_set(err, E_INVALID, "'%s' is no directory of snapshots: it has a '%s'",
                           s->root, names.all.p[i]);
    return 0;
}

int snapshotter_open_dirs(struct snapshotter *s, const char *root, struct err *err)
{
    int r = sys_mkdir_all(root, 0700, err);
    if (r < 0)
        return r;
    s->root = realpath(root, NULL);
    if (!s->root)
        return err_sys(err, -errno, "'%s'", root);
    r = check_path(s->root, err);
    s->root_fd = r < 0 ? -1 : sys_openat(AT_FDCWD, s->root, O_RDONLY | O_DIRECTORY, 0);
    if (r < 0 || s->root_fd < 0)
        return r < 0 ? r : err_sys(err, s->root_fd, "open '%s'", s->root);
    r = check_is_ours(s, err);
    if (r < 0)
        return r;
    s->lock_fd = sys_openat(s->root_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (s->lock_fd < 0)
        return err_sys(err, s->lock_fd, "open '%s/lock'", s->root);
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, -EBUSY, "another process has the snapshots in '%s'", s->root)
                   : err_sys(err, -errno, "lock '%s/lock'", s->root);
    r = open_below(s->root_fd, "dirs", &s->dirs_fd, err);
    r = r < 0 ? r : open_below(s->root_fd, "tmp", &s->tmp_fd, err);
    return r < 0 ? r : open_below(s->root_fd, "trash", &s->trash_fd, err);
}

static bool has_names(int dir_fd)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    return tree_names_read(dir_fd, &names, NULL) < 0 || names.all.n > 0;
}

bool snapshotter_has_dirs(const struct snapshotter *s)
{
    return has_names(s->dirs_fd) || has_names(s->tmp_fd) || has_names(s->trash_fd);
}

static int discard_all(struct snapshotter *s, int from_fd, bool is_dirs, struct err *err)
{
    char gone[17];
    uint64_t dir;
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    int r = tree_names_read(from_fd, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++) {
        bool is_number = parse_u64(str_of(names.all.p[i]), 1, UINT64_MAX - 1, &dir) == 0;
        if (is_dirs && is_number && snapshot_state_has_dir(s->state, dir))
            continue;
        r = snapshotter_discard(s, from_fd, names.all.p[i], gone, err);
    }
    return r;
}

/* A directory that the journal names was synced before it; other file systems than ext4 may still
 * lose it, and containerd's mount fails then. */
static int check_is_there(void *arg, const struct snapshot_event *e)
{
    struct snapshotter *s = arg;
    char name[SNAPSHOTTER_DIR_NAME];
    struct stat st;
    snapshotter_dir_name(e->dir, name);
    if (fstatat(s->dirs_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        log_error("snapshot without its directory", "root=%s directory=%s", s->root, name);
    return 0;
}

int snapshotter_sort_dirs(struct snapshotter *s, struct err *err)
{
    if (fchmod(s->root_fd, 0700) < 0)
        return err_sys(err, -errno, "set the mode of '%s'", s->root);
    int r = discard_all(s, s->dirs_fd, true, err);
    r = r < 0 ? r : discard_all(s, s->tmp_fd, false, err);
    (void)snapshot_state_each(s->state, check_is_there, s);
    if (r >= 0 && tree_remove_children(s->trash_fd, NULL) < 0)
        log_warn("removed snapshots take room still", "root=%s", s->root);
    return r;
}

/* ---- one directory ---- */

void snapshotter_dir_name(uint64_t dir, char ret[SNAPSHOTTER_DIR_NAME])
{
    (void)snprintf(ret, SNAPSHOTTER_DIR_NAME, "%llu", (unsigned long long)dir);
}

uint64_t snapshotter_next_dir(struct snapshotter *s)
{
    s->last_dir = MAX(s->last_dir, snapshot_state_highest_dir(s->state)) + 1;
    return s->last_dir;
}

static int make_below(int at, const char *name, mode_t mode, struct err *err)
{
    int r = sys_mkdirat(at, name, mode);
    if (r >= 0 && fchmodat(at, name, mode, 0) < 0) /* whatever the umask is */
        r = -errno;
    return r < 0 ? err_sys(err, r, "make '%s'", name) : 0;
}

/* The root of a mount has the attributes of the uppermost directory. */
static int copy_attributes(struct snapshotter *s, int to_fd, uint64_t like, struct err *err)
{
    char name[SNAPSHOTTER_DIR_NAME + 4];
    struct stat st;
    (void)snprintf(name, sizeof name, "%llu/fs", (unsigned long long)like);
    if (fstatat(s->dirs_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, -errno, "'%s/dirs/%s'", s->root, name);
    if (fchownat(to_fd, "fs", st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
        fchmodat(to_fd, "fs", st.st_mode & 07777, 0) < 0)
        return err_sys(err, -errno, "set the attributes of a snapshot's directory");
    return 0;
}

int snapshotter_make_dir(struct snapshotter *s, uint64_t dir, uint64_t like, struct err *err)
{
    char name[SNAPSHOTTER_DIR_NAME], gone[17];
    snapshotter_dir_name(dir, name);
    int r = make_below(s->dirs_fd, name, 0700, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd = sys_openat(s->dirs_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    r = fd < 0 ? err_sys(err, fd, "open '%s'", name) : make_below(fd, "fs", 0755, err);
    r = r < 0 ? r : make_below(fd, "work", 0711, err);
    r = r < 0 || !like ? r : copy_attributes(s, fd, like, err);
    if (r >= 0 && ((r = sys_fsync(fd)) < 0 || (r = sys_fsync(s->dirs_fd)) < 0))
        r = err_sys(err, r, "sync '%s/dirs'", s->root);
    if (r < 0 && snapshotter_discard(s, s->dirs_fd, name, gone, NULL) >= 0)
        snapshotter_empty(s, gone);
    return r;
}

int snapshotter_discard(struct snapshotter *s, int from_fd, const char *name, char ret[17],
                        struct err *err)
{
    char to[17];
    (void)snprintf(to, sizeof to, "%016llx", (unsigned long long)sys_random_u64());
    int r = sys_renameat(from_fd, name, s->trash_fd, to);
    if (r < 0)
        return err_sys(err, r, "move '%s' to '%s/trash'", name, s->root);
    memcpy(ret, to, sizeof to);
    return 0;
}

void snapshotter_empty(struct snapshotter *s, const char *name)
{
    struct err err = { 0 };
    char text[LOG_QUOTE_MAX];
    struct stat st;
    if (fstatat(s->trash_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode))
        (void)sys_unlinkat(s->trash_fd, name, 0);
    else if (tree_remove(s->trash_fd, name, &err) < 0)
        log_warn("a removed snapshot takes room still", "root=%s reason=\"%s\"", s->root,
                 log_quote(text, str_of(err_text(&err))));
}

/* ---- mounts ---- */

void snapshotter_mount_fini(struct snapshotter_mount *m)
{
    free(m->source);
    for (size_t i = 0; i < m->n_options; i++)
        free(m->options[i]);
    *m = (struct snapshotter_mount){ 0 };
}

static void add_option(struct snapshotter_mount *m, char *option)
{
    m->options[m->n_options++] = option;
}

static char *path_of(const struct snapshotter *s, uint64_t dir, const char *what)
{
    return xasprintf("%s/dirs/%llu/%s", s->root, (unsigned long long)dir, what);
}

static void bind(struct snapshotter *s, uint64_t dir, bool is_read_only,
                 struct snapshotter_mount *ret)
{
    *ret = (struct snapshotter_mount){ .type = "bind", .source = path_of(s, dir, "fs") };
    add_option(ret, xstrdup(is_read_only ? "ro" : "rw"));
    add_option(ret, xstrdup("rbind"));
}

/* containerd splits lowerdir= itself where it is longer than the page that mount(2) takes: numbers
 * keep the names short. */
static char *lower_option(struct snapshotter *s, const uint64_t *lowers, size_t n)
{
    struct buf b = BUF_INIT(SNAPSHOT_DEPTH_MAX * (strlen(s->root) + 64));
    (void)buf_add_cstr(&b, "lowerdir=");
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&b, "%s%s/dirs/%llu/fs", i ? ":" : "", s->root,
                         (unsigned long long)lowers[i]);
    size_t n_bytes;
    return buf_take(&b, &n_bytes);
}

int snapshotter_describe(struct snapshotter *s, const struct snapshot_info *info,
                         struct snapshotter_mount *ret, struct err *err)
{
    uint64_t lowers[SNAPSHOT_DEPTH_MAX];
    size_t n;
    if (info->kind == SNAPSHOT_COMMITTED)
        return err_set(err, -EBUSY, "snapshot '" STR_FMT "' is committed", STR_ARG(info->name));
    int r = snapshot_state_lowers(s->state, info->name, lowers, &n);
    if (r < 0)
        return err_sys(err, r, "snapshot");
    if (n == 0) {
        bind(s, info->dir, info->kind == SNAPSHOT_VIEW, ret);
        return 0;
    }
    if (n == 1 && info->kind == SNAPSHOT_VIEW) {
        bind(s, lowers[0], true, ret);
        return 0;
    }
    *ret = (struct snapshotter_mount){ .type = "overlay", .source = xstrdup("overlay") };
    add_option(ret, xstrdup("index=off"));
    if (info->kind == SNAPSHOT_ACTIVE) {
        scoped(free_scoped) char *work = path_of(s, info->dir, "work");
        scoped(free_scoped) char *upper = path_of(s, info->dir, "fs");
        add_option(ret, xasprintf("workdir=%s", work));
        add_option(ret, xasprintf("upperdir=%s", upper));
    }
    add_option(ret, lower_option(s, lowers, n));
    return 0;
}
