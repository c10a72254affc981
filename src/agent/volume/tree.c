/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks hold one open directory a level. Users can make trees deeper than any number of
 * descriptors: removal moves directories that lie too deep to the top of the tree and removes them
 * from there; other walks stop at the limit.
 */
#include "agent/volume/tree.h"

#include "base/mem.h"
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    /* Directories that are open at the same time. */
    REMOVE_DEPTH_MAX = 64,
    WALK_DEPTH_MAX = 512,
    OPEN_TRIES_MAX = 64 /* a rename during the look-up makes the kernel ask for another try */
};

/* ---------------------------------------------------------------- opening */

static int open_resolved(int dir_fd, const char *path, int flags, uint64_t resolve)
{
    const struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve };
    int fd = -1;
    for (int i = 0; i < OPEN_TRIES_MAX; i++) {
        fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd < 0 ? -errno : fd;
}

int volume_tree_open(int dir_fd, const char *path, int flags)
{
    return open_resolved(dir_fd, path, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
}

int volume_tree_open_child(int dir_fd, const char *name)
{
    return open_resolved(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                         RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

/* Another process may have made it meanwhile, which is fine. */
static int make_child(int parent_fd, const char *name, mode_t mode)
{
    if (mkdirat(parent_fd, name, mode & 0777) < 0)
        return errno == EEXIST ? 0 : -errno;
    scoped(fd_scoped) int fd = volume_tree_open_child(parent_fd, name);
    if (fd < 0)
        return fd;
    return fchmod(fd, mode) < 0 ? -errno : 0;
}

int volume_tree_make(int dir_fd, const char *path, mode_t mode)
{
    scoped(free_scoped) char *whole = xstrdup(path);
    scoped(fd_scoped) int parent = volume_tree_open(dir_fd, ".", O_PATH | O_DIRECTORY);
    for (char *name = whole; *name && parent >= 0;) {
        char *end = name + strcspn(name, "/"), *next = end + strspn(end, "/"), was = *end;
        *end = '\0';
        int r = 0, fd = volume_tree_open(dir_fd, whole, O_PATH | O_DIRECTORY);
        if (fd == -ENOENT) {
            r = make_child(parent, name, mode);
            fd = r < 0 ? r : volume_tree_open(dir_fd, whole, O_PATH | O_DIRECTORY);
        }
        *end = was;
        (void)close(parent);
        parent = fd;
        name = next;
    }
    return parent < 0 ? parent : 0;
}

/* ---------------------------------------------------------------- walking */

/* Entries of one directory; owns a descriptor of its own. */
static DIR *open_dir(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        (void)close(fd);
    return dir;
}

/* The next entry, "." and ".." left out; NULL: no more, or errno. */
static const struct dirent *next_entry(DIR *dir)
{
    const struct dirent *e;
    errno = 0;
    while ((e = readdir(dir)) && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0))
        ;
    return e;
}

/* ---------------------------------------------------------------- removal */

struct tree_removal {
    int top_fd;        /* the directory that is removed; -1: not open yet */
    unsigned n_lifted; /* directories moved to the top because they lay too deep */
    int r;             /* the first problem */
    char name[256];    /* where it was */
};

static void note(struct tree_removal *m, int r, const char *name)
{
    if (r >= 0 || r == -ENOENT || m->r < 0)
        return;
    m->r = r;
    (void)snprintf(m->name, sizeof m->name, "%s", name);
}

static void remove_entries(struct tree_removal *m, int dir_fd, unsigned depth);

/* A name that users cannot have taken in advance is not needed: the next one is tried. */
static int lift(struct tree_removal *m, int dir_fd, const char *name)
{
    for (unsigned i = 0; i < 1000; i++) {
        char to[40];
        (void)snprintf(to, sizeof to, ".removed-%u", m->n_lifted++);
        if (renameat2(dir_fd, name, m->top_fd, to, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    return -errno;
}

static void remove_dir(struct tree_removal *m, int dir_fd, const char *name, unsigned depth)
{
    if (depth >= REMOVE_DEPTH_MAX) {
        note(m, lift(m, dir_fd, name), name);
        return;
    }
    scoped(fd_scoped) int fd = volume_tree_open_child(dir_fd, name);
    if (fd < 0) {
        note(m, fd, name);
        return;
    }
    remove_entries(m, fd, depth + 1);
    int r = sys_unlinkat(dir_fd, name, AT_REMOVEDIR);
    note(m, r, name); /* after an earlier problem below it changes nothing */
}

static void remove_entry(struct tree_removal *m, int dir_fd, const char *name, unsigned depth)
{
    int r = sys_unlinkat(dir_fd, name, 0);
    if (r == -EISDIR || r == -EPERM) /* unlink(2) of a directory */
        remove_dir(m, dir_fd, name, depth);
    else
        note(m, r, name);
}

static void remove_entries(struct tree_removal *m, int dir_fd, unsigned depth)
{
    const struct dirent *e;
    DIR *dir = open_dir(dir_fd);
    if (!dir) {
        note(m, -errno, ".");
        return;
    }
    while ((e = next_entry(dir)))
        remove_entry(m, dir_fd, e->d_name, depth);
    (void)closedir(dir);
}

/* Lifting adds entries to the top that the walk may have passed already. */
static void remove_all_entries(struct tree_removal *m)
{
    unsigned before;
    do {
        before = m->n_lifted;
        remove_entries(m, m->top_fd, 1);
    } while (m->n_lifted > before && m->r == 0);
}

int volume_tree_remove(int dir_fd, const char *name, struct err *err)
{
    struct tree_removal m = { .top_fd = -1 };
    int r = sys_unlinkat(dir_fd, name, 0);
    if (r == 0 || r == -ENOENT)
        return 0;
    if (r != -EISDIR && r != -EPERM)
        return err_sys(err, r, "remove '%s'", name);
    scoped(fd_scoped) int top = volume_tree_open_child(dir_fd, name);
    if (top < 0)
        return top == -ENOENT ? 0 : err_sys(err, top, "open '%s'", name);
    m.top_fd = top;
    remove_all_entries(&m);
    if (m.r < 0)
        return err_sys(err, m.r, "remove '%s' in '%s'", m.name, name);
    r = sys_unlinkat(dir_fd, name, AT_REMOVEDIR);
    return r < 0 && r != -ENOENT ? err_sys(err, r, "remove '%s'", name) : 0;
}

/* ---------------------------------------------------------------- measuring */

enum { LINKED_MAX = 1 << 20 }; /* files with several links that are remembered */

/* Device and inode of files with several links: open addressing, a power of two of slots. */
struct linked {
    struct linked_file {
        uint64_t dev, ino; /* ino 0: free */
    } * p;
    size_t n, cap;
};

static struct linked_file *linked_slot(const struct linked *l, uint64_t dev, uint64_t ino)
{
    uint64_t at = (ino ^ (dev << 32)) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(at >> 20) & (l->cap - 1);
    while (l->p[i].ino && (l->p[i].ino != ino || l->p[i].dev != dev))
        i = (i + 1) & (l->cap - 1);
    return &l->p[i];
}

static void linked_grow(struct linked *l)
{
    struct linked old = *l;
    l->cap = old.cap ? old.cap * 2 : 256;
    l->p = xnew_n(struct linked_file, l->cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.p[i].ino)
            *linked_slot(l, old.p[i].dev, old.p[i].ino) = old.p[i];
    free(old.p);
}

/* false: it was there already. */
static bool linked_add(struct linked *l, const struct stat *st)
{
    if (l->n >= LINKED_MAX || !st->st_ino)
        return true;
    if (l->n * 2 >= l->cap)
        linked_grow(l);
    struct linked_file *slot = linked_slot(l, st->st_dev, st->st_ino);
    if (slot->ino)
        return false;
    *slot = (struct linked_file){ st->st_dev, st->st_ino };
    l->n++;
    return true;
}

struct measure {
    struct volume_tree_size *size;
    uint64_t max_inodes;
    struct linked linked;
};

static void count(struct measure *m, const struct stat *st)
{
    if (!S_ISDIR(st->st_mode) && st->st_nlink > 1 && !linked_add(&m->linked, st))
        return;
    m->size->bytes += (uint64_t)st->st_blocks * 512;
    m->size->inodes++;
    m->size->is_cut = m->size->is_cut || m->size->inodes >= m->max_inodes;
}

static void measure_entries(struct measure *m, int dir_fd, unsigned depth);

static void measure_entry(struct measure *m, int dir_fd, const char *name, unsigned depth)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* it vanished */
    if (!S_ISDIR(st.st_mode)) {
        count(m, &st);
        return;
    }
    scoped(fd_scoped) int fd = volume_tree_open_child(dir_fd, name);
    if (fd < 0)
        return; /* vanished, or another mount */
    count(m, &st);
    if (depth >= WALK_DEPTH_MAX)
        m->size->is_cut = true;
    else
        measure_entries(m, fd, depth + 1);
}

static void measure_entries(struct measure *m, int dir_fd, unsigned depth)
{
    const struct dirent *e;
    DIR *dir = open_dir(dir_fd);
    while (dir && m->size->inodes < m->max_inodes && (e = next_entry(dir)))
        measure_entry(m, dir_fd, e->d_name, depth);
    if (dir)
        (void)closedir(dir);
}

void volume_tree_measure(int dir_fd, uint64_t max_inodes, struct volume_tree_size *size)
{
    struct measure m = { .size = size, .max_inodes = max_inodes };
    struct stat st;
    if (fstat(dir_fd, &st) == 0)
        count(&m, &st);
    measure_entries(&m, dir_fd, 1);
    free(m.linked.p);
}

/* ---------------------------------------------------------------- ownership */

mode_t volume_ownership_mode(const struct volume_ownership *o, mode_t mode)
{
    mode_t of_group = o->is_read_only ? 0440 : 0660;
    return (mode & 07777) | of_group | (S_ISDIR(mode) ? 02110u : 0u);
}

bool volume_tree_is_owned(int dir_fd, const struct volume_ownership *o)
{
    struct stat st;
    return fstat(dir_fd, &st) == 0 && st.st_gid == o->gid &&
           (st.st_mode & 07777) == volume_ownership_mode(o, st.st_mode);
}

/* fd: may be opened with O_PATH, which fchmod(2) refuses. */
static int own_fd(int fd, const struct stat *st, const struct volume_ownership *o)
{
    char path[40];
    if (st->st_gid != o->gid && fchownat(fd, "", (uid_t)-1, o->gid, AT_EMPTY_PATH) < 0)
        return -errno;
    if (S_ISLNK(st->st_mode))
        return 0;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return chmod(path, volume_ownership_mode(o, st->st_mode)) < 0 ? -errno : 0;
}

int volume_tree_own(int dir_fd, const struct volume_ownership *o)
{
    struct stat st;
    if (fstat(dir_fd, &st) < 0)
        return -errno;
    return own_fd(dir_fd, &st, o);
}

struct owning {
    const struct volume_ownership *o;
    int r; /* the first problem */
    char name[256];
};

static void note_owning(struct owning *w, int r, const char *name)
{
    if (r >= 0 || r == -ENOENT || w->r < 0)
        return;
    w->r = r;
    (void)snprintf(w->name, sizeof w->name, "%s", name);
}

static void own_entries(struct owning *w, int dir_fd, unsigned depth);

static int own_entry(struct owning *w, int dir_fd, const char *name, unsigned depth)
{
    struct stat st;
    scoped(fd_scoped) int fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return own_fd(fd, &st, w->o);
    scoped(fd_scoped) int child = volume_tree_open_child(dir_fd, name);
    if (child == -EXDEV)
        return 0; /* another mount is not of this volume */
    if (child < 0)
        return child;
    if (depth >= WALK_DEPTH_MAX)
        return -ELOOP;
    own_entries(w, child, depth + 1);
    return volume_tree_own(child, w->o);
}

static void own_entries(struct owning *w, int dir_fd, unsigned depth)
{
    const struct dirent *e;
    DIR *dir = open_dir(dir_fd);
    if (!dir) {
        note_owning(w, -errno, ".");
        return;
    }
    while ((e = next_entry(dir)))
        note_owning(w, own_entry(w, dir_fd, e->d_name, depth), e->d_name);
    (void)closedir(dir);
}

int volume_tree_own_all(int dir_fd, const struct volume_ownership *o, struct err *err)
{
    struct owning w = { .o = o };
    own_entries(&w, dir_fd, 1);
    note_owning(&w, volume_tree_own(dir_fd, o), ".");
    return w.r < 0 ? err_sys(err, w.r, "change the group of '%s'", w.name) : 0;
}
