/* SPDX-License-Identifier: Apache-2.0 */
/* Swap files of guests; see swap.h. */
#include "guest/swap.h"

#include "base/mem.h"
#include "base/sys.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".swap"

#define KEPT    ".snap" /* has a record */
#define REMOVED "removed"
#define LEFT    "left"

enum { SWEEPER_STACK_BYTES = 128 << 10 };

struct sweeper {
    int fd; /* DIR/removed */
    pthread_t thread;
    bool has_thread; /* to be joined */
    _Atomic bool is_stopped;
    pthread_mutex_t lock; /* of the two below */
    bool is_running, has_work;
};

/* ---------------------------------------------------------------- the thread */

static void sweep(struct sweeper *w)
{
    int fd = openat(w->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        fd_scoped(&fd);
        return;
    }
    for (struct dirent *e = readdir(dir); e && !w->is_stopped; e = readdir(dir))
        if (e->d_name[0] != '.')
            (void)unlinkat(w->fd, e->d_name, 0);
    (void)closedir(dir);
}

/* Empty the directory until no new file has been added meanwhile. */
static void *sweep_all(void *arg)
{
    struct sweeper *w = arg;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        bool more = w->has_work && !w->is_stopped;
        w->has_work = false;
        w->is_running = more;
        pthread_mutex_unlock(&w->lock);
        if (!more)
            return NULL;
        sweep(w);
    }
}

static void join_sweeper(struct sweeper *w)
{
    if (w->has_thread)
        (void)pthread_join(w->thread, NULL);
    w->has_thread = false;
}

/* Without a thread (no memory for one) the files stay until the next call or the next process. */
static void start_sweeper(struct sweeper *w)
{
    pthread_attr_t attr;
    pthread_mutex_lock(&w->lock);
    w->has_work = true;
    bool is_running = w->is_running;
    pthread_mutex_unlock(&w->lock);
    if (is_running)
        return;
    join_sweeper(w);
    if (pthread_attr_init(&attr) != 0)
        return;
    (void)pthread_attr_setstacksize(&attr, SWEEPER_STACK_BYTES);
    w->is_running = true;
    w->has_thread = pthread_create(&w->thread, &attr, sweep_all, w) == 0;
    if (!w->has_thread)
        w->is_running = false;
    (void)pthread_attr_destroy(&attr);
}

/* ---------------------------------------------------------------- the directory */

static void remove_from(struct swap *s, int dir_fd, const char *name)
{
    char to[24];
    (void)snprintf(to, sizeof to, "%016llx", (unsigned long long)sys_random_u64());
    if (renameat(dir_fd, name, s->sweeper->fd, to) == 0)
        start_sweeper(s->sweeper);
    else
        (void)unlinkat(dir_fd, name, 0);
}

/* The file's name without the serial number of the previous process. */
static bool left_name(const char *name, char out[SWAP_NAME_MAX])
{
    const char *end = strrchr(name, '-');
    if (!end)
        return false;
    (void)snprintf(out, SWAP_NAME_MAX, "%.*s", (int)(end - name), name);
    return true;
}

static void put_aside(struct swap *s, const char *name)
{
    char to[SWAP_NAME_MAX];
    if (!left_name(name, to) || renameat(s->dir_fd, name, s->left_fd, to) < 0)
        swap_remove(s, name);
}

static uint64_t blocks_of(int dir_fd, const char *name)
{
    struct stat st;
    bool is_file = fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
    return is_file ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Disk blocks used by the files of a directory. */
static uint64_t blocks_in(int dir_fd)
{
    uint64_t bytes = 0;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        bytes += blocks_of(dir_fd, e->d_name);
    if (dir)
        (void)closedir(dir);
    else
        fd_scoped(&fd);
    return bytes;
}

static bool is_empty(int dir_fd)
{
    bool found = false;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && !found; e = readdir(dir))
        found = e->d_name[0] != '.';
    if (dir)
        (void)closedir(dir);
    else
        fd_scoped(&fd);
    return !found;
}

/* Move swap files of an earlier process to DIR/left if they have a record, else to DIR/removed. */
static void sort_old(struct swap *s)
{
    bool found = !is_empty(s->sweeper->fd); /* files that the previous process did not get to */
    int fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (str_has_suffix(str_of(e->d_name), STR(SUFFIX)))
            swap_remove(s, e->d_name);
        else if (str_has_suffix(str_of(e->d_name), STR(KEPT)))
            put_aside(s, e->d_name);
    }
    if (dir)
        (void)closedir(dir);
    if (found)
        start_sweeper(s->sweeper);
    s->has_left = !is_empty(s->left_fd);
    s->left_bytes = blocks_in(s->left_fd);
}

int swap_claim(struct swap *s, const char *name)
{
    char from[SWAP_NAME_MAX];
    if (!s->has_left || !left_name(name, from))
        return -ENOENT;
    uint64_t bytes = blocks_of(s->left_fd, from);
    if (renameat(s->left_fd, from, s->dir_fd, name) < 0)
        return -errno;
    s->left_bytes -= MIN(bytes, s->left_bytes);
    return sys_openat(s->dir_fd, name, O_RDWR | O_NOFOLLOW, 0);
}

void swap_drop_left(struct swap *s)
{
    int fd = openat(s->left_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        if (e->d_name[0] != '.')
            remove_from(s, s->left_fd, e->d_name);
    if (dir)
        (void)closedir(dir);
    s->has_left = false;
    s->left_bytes = 0;
}

int swap_init(struct swap *s, const char *dir, struct err *err)
{
    scoped(free_scoped) char *removed = xasprintf("%s/" REMOVED, dir);
    int r = sys_mkdir_all(dir, 0700, err);
    if (r >= 0)
        r = sys_mkdir_all(removed, 0700, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", dir);
    int removed_fd = sys_openat(fd, REMOVED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (removed_fd < 0)
        return err_sys(err, removed_fd, "open '%s'", removed);
    scoped(free_scoped) char *left = xasprintf("%s/" LEFT, dir);
    r = sys_mkdir_all(left, 0700, err);
    int left_fd = r < 0 ? r : sys_openat(fd, LEFT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (left_fd < 0) {
        (void)close(removed_fd);
        return err_sys(err, left_fd, "open '%s'", left);
    }
    s->left_fd = left_fd;
    s->dir_fd = take_fd(&fd);
    s->sweeper = xnew(struct sweeper);
    s->sweeper->fd = removed_fd;
    (void)pthread_mutex_init(&s->sweeper->lock, NULL);
    sort_old(s);
    return 0;
}

void swap_fini(struct swap *s)
{
    struct sweeper *w = s->sweeper;
    if (w) {
        w->is_stopped = true;
        join_sweeper(w);
        (void)pthread_mutex_destroy(&w->lock);
        fd_scoped(&w->fd);
        free(w);
    }
    fd_scoped(&s->dir_fd);
    fd_scoped(&s->left_fd);
    s->dir_fd = s->left_fd = -1;
    s->sweeper = NULL;
}

void swap_name(char out[SWAP_NAME_MAX], const char *uid, uint64_t generation,
               const char *module_hash, uint64_t serial, bool has_record)
{
    int n = snprintf(out, SWAP_NAME_MAX, "%.150s-%llu-%.16s-%llu%s", uid,
                     (unsigned long long)generation, module_hash, (unsigned long long)serial,
                     has_record ? KEPT : SUFFIX);
    for (int i = 0; i < n && out[i]; i++)
        if (!isalnum((unsigned char)out[i]) && out[i] != '-' && (out[i] != '.' || i == 0))
            out[i] = '_';
}

int swap_create(struct swap *s, const char *name, uint64_t size_bytes, struct err *err)
{
    (void)unlinkat(s->dir_fd, name, 0);
    scoped(fd_scoped) int fd = sys_openat(s->dir_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return err_sys(err, fd, "create swap file '%s'", name);
    int r = sys_ftruncate(fd, size_bytes);
    if (r < 0) {
        (void)unlinkat(s->dir_fd, name, 0);
        return err_sys(err, r, "set the size of swap file '%s'", name);
    }
    return take_fd(&fd);
}

int swap_open(struct swap *s, const char *name, struct err *err)
{
    int fd = sys_openat(s->dir_fd, name, O_RDWR, 0);
    return fd < 0 ? err_sys(err, fd, "open swap file '%s'", name) : fd;
}

void swap_remove(struct swap *s, const char *name)
{
    remove_from(s, s->dir_fd, name);
}
