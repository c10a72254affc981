/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite file system for tests, on top of the ordinary one. It can
 *
 *   - make the n-th write or sync from now on fail, once or until told otherwise: a full or bad
 * disk;
 *   - keep, for every file of one directory, a second one that has only what was synced:
 * cut_power() gives the directory that a machine would find after losing power now, with a random
 * part of the writes that were not synced.
 *
 * Any thread; SQLite calls it from the writer's and from the loop's.
 */
#pragma once

#include "store_util.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>

enum fault_kind { FAULT_NONE, FAULT_WRITE, FAULT_SYNC };

struct pending_write {
    bool truncate;
    sqlite3_int64 at; /* or the size */
    char *p;
    size_t n;
};

struct fault_file {
    sqlite3_file base;
    sqlite3_file *real;
    struct list node; /* of those with a shadow */
    char name[64];
    int shadow_fd; /* -1: none */
    VEC(struct pending_write) pending;
};

static struct {
    sqlite3_vfs vfs, *real;
    pthread_mutex_t lock;
    enum fault_kind kind;
    unsigned nth, calls;
    bool sticky, fired;
    char watched[96], shadow[96]; /* directories; "" none */
    struct list files;
} fault = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* nth from 1; sticky: all later ones fail too. */
static inline void fault_arm(enum fault_kind kind, unsigned nth, bool sticky)
{
    (void)pthread_mutex_lock(&fault.lock);
    fault.kind = kind;
    fault.nth = nth;
    fault.calls = 0;
    fault.sticky = sticky;
    fault.fired = false;
    (void)pthread_mutex_unlock(&fault.lock);
}

/* Whether it has struck. */
static inline bool fault_disarm(void)
{
    (void)pthread_mutex_lock(&fault.lock);
    bool fired = fault.fired;
    fault.kind = FAULT_NONE;
    (void)pthread_mutex_unlock(&fault.lock);
    return fired;
}

static inline bool fault_strikes(enum fault_kind kind)
{
    if (fault.kind != kind)
        return false;
    fault.calls++;
    bool strikes = fault.sticky ? fault.calls >= fault.nth : fault.calls == fault.nth;
    fault.fired = fault.fired || strikes;
    return strikes;
}

static inline struct fault_file *fault_of(sqlite3_file *f)
{
    return (struct fault_file *)f;
}

static inline void fault_apply(int fd, const struct pending_write *w)
{
    if (w->truncate)
        CHECK_OK(sys_ftruncate(fd, (uint64_t)w->at));
    else
        CHECK_OK(sys_pwrite_all(fd, w->p, w->n, (uint64_t)w->at));
}

static inline void fault_forget(struct fault_file *f)
{
    vec_each (w, &f->pending)
        free(w->p);
    f->pending.n = 0;
}

static inline int fault_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
    struct fault_file *f = fault_of(file);
    (void)pthread_mutex_lock(&fault.lock);
    bool strikes = fault_strikes(FAULT_WRITE);
    if (!strikes && f->shadow_fd >= 0) {
        struct pending_write w = { .at = at, .p = xstrndup(p, (size_t)n), .n = (size_t)n };
        vec_push(&f->pending, w);
    }
    (void)pthread_mutex_unlock(&fault.lock);
    if (strikes)
        errno = ENOSPC; /* SQLite looks at it, as after a real call */
    return strikes ? SQLITE_FULL : f->real->pMethods->xWrite(f->real, p, n, at);
}

static inline int fault_sync(sqlite3_file *file, int flags)
{
    struct fault_file *f = fault_of(file);
    (void)pthread_mutex_lock(&fault.lock);
    bool strikes = fault_strikes(FAULT_SYNC);
    if (!strikes && f->shadow_fd >= 0) {
        vec_each (w, &f->pending)
            fault_apply(f->shadow_fd, w);
        fault_forget(f);
    }
    (void)pthread_mutex_unlock(&fault.lock);
    if (strikes)
        errno = EIO;
    return strikes ? SQLITE_IOERR_FSYNC : f->real->pMethods->xSync(f->real, flags);
}

static inline int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct fault_file *f = fault_of(file);
    (void)pthread_mutex_lock(&fault.lock);
    if (f->shadow_fd >= 0)
        vec_push(&f->pending, ((struct pending_write){ .truncate = true, .at = size }));
    (void)pthread_mutex_unlock(&fault.lock);
    return f->real->pMethods->xTruncate(f->real, size);
}

static inline int fault_close(sqlite3_file *file)
{
    struct fault_file *f = fault_of(file);
    (void)pthread_mutex_lock(&fault.lock);
    list_remove(&f->node);
    fault_forget(f);
    vec_fini(&f->pending);
    fd_scoped(&f->shadow_fd);
    (void)pthread_mutex_unlock(&fault.lock);
    return f->real->pMethods->xClose(f->real);
}

static inline int fault_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return fault_of(f)->real->pMethods->xRead(fault_of(f)->real, p, n, at);
}
static inline int fault_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    return fault_of(f)->real->pMethods->xFileSize(fault_of(f)->real, ret);
}
static inline int fault_lock(sqlite3_file *f, int level)
{
    return fault_of(f)->real->pMethods->xLock(fault_of(f)->real, level);
}
static inline int fault_unlock(sqlite3_file *f, int level)
{
    return fault_of(f)->real->pMethods->xUnlock(fault_of(f)->real, level);
}
static inline int fault_check_lock(sqlite3_file *f, int *ret)
{
    return fault_of(f)->real->pMethods->xCheckReservedLock(fault_of(f)->real, ret);
}
static inline int fault_control(sqlite3_file *f, int op, void *arg)
{
    return fault_of(f)->real->pMethods->xFileControl(fault_of(f)->real, op, arg);
}
static inline int fault_sector(sqlite3_file *f)
{
    return fault_of(f)->real->pMethods->xSectorSize(fault_of(f)->real);
}
static inline int fault_traits(sqlite3_file *f)
{
    return fault_of(f)->real->pMethods->xDeviceCharacteristics(fault_of(f)->real);
}
static inline int fault_shm_map(sqlite3_file *f, int region, int size, int extend,
                                void volatile **ret)
{
    return fault_of(f)->real->pMethods->xShmMap(fault_of(f)->real, region, size, extend, ret);
}
static inline int fault_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return fault_of(f)->real->pMethods->xShmLock(fault_of(f)->real, at, n, flags);
}
static inline void fault_shm_barrier(sqlite3_file *f)
{
    fault_of(f)->real->pMethods->xShmBarrier(fault_of(f)->real);
}
static inline int fault_shm_unmap(sqlite3_file *f, int remove)
{
    return fault_of(f)->real->pMethods->xShmUnmap(fault_of(f)->real, remove);
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_traits,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static inline void copy_file(const char *from, const char *to)
{
    struct buf content = BUF_INIT(BUF_MAX_DEFAULT);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_OK(fd);
    CHECK_OK(sys_read_file(AT_FDCWD, from, &content, NULL));
    CHECK_OK(sys_write_all(fd, content.p, content.n));
    buf_fini(&content);
}

/* What the file holds when it is opened counts as synced. */
static inline void fault_start_shadow(struct fault_file *f, const char *name)
{
    size_t n = strlen(fault.watched);
    if (!n || !name || strncmp(name, fault.watched, n) != 0 || name[n] != '/')
        return;
    (void)snprintf(f->name, sizeof f->name, "%s", name + n + 1);
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", fault.shadow, f->name);
    copy_file(name, path);
    f->shadow_fd = sys_openat(AT_FDCWD, path, O_RDWR, 0);
    CHECK_OK(f->shadow_fd);
    list_push_back(&fault.files, &f->node);
}

static inline int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                             int *ret_flags)
{
    struct fault_file *f = fault_of(file);
    *f = (struct fault_file){ .shadow_fd = -1 };
    f->real = (sqlite3_file *)(f + 1);
    int rc = fault.real->xOpen(fault.real, name, f->real, flags, ret_flags);
    if (rc != SQLITE_OK)
        return rc;
    f->base.pMethods = &fault_methods;
    (void)pthread_mutex_lock(&fault.lock);
    fault_start_shadow(f, name);
    (void)pthread_mutex_unlock(&fault.lock);
    return SQLITE_OK;
}

static inline void fault_install(void)
{
    if (fault.real)
        return;
    fault.real = sqlite3_vfs_find(NULL);
    fault.vfs = *fault.real;
    fault.vfs.zName = "fault";
    fault.vfs.szOsFile = (int)sizeof(struct fault_file) + fault.real->szOsFile;
    fault.vfs.xOpen = fault_open;
    list_init(&fault.files);
    CHECK(sqlite3_vfs_register(&fault.vfs, 1) == SQLITE_OK);
}

/* Files of this directory opened from now on have shadows in the other; "" ends it. */
static inline void fault_watch(const char *dir, const char *shadow_dir)
{
    (void)snprintf(fault.watched, sizeof fault.watched, "%s", dir);
    (void)snprintf(fault.shadow, sizeof fault.shadow, "%s", shadow_dir);
}

/* Copy what would be found after a power cut; of each write not synced all, a part, or nothing. */
static inline void cut_power(const char *to_dir)
{
    (void)pthread_mutex_lock(&fault.lock);
    list_each (node, &fault.files) {
        struct fault_file *f = list_entry(node, struct fault_file, node);
        char from[200], to[200];
        (void)snprintf(from, sizeof from, "%s/%s", fault.shadow, f->name);
        (void)snprintf(to, sizeof to, "%s/%s", to_dir, f->name);
        /* Two connections have the log open: the one that wrote to it comes last or is alone. */
        if (f->pending.n == 0 && access(to, F_OK) == 0)
            continue;
        copy_file(from, to);
        scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, to, O_RDWR, 0);
        CHECK_OK(fd);
        vec_each (w, &f->pending) {
            struct pending_write part = *w;
            switch (test_random_below(3)) {
            case 0:
                part.n = part.n / 512 * test_random_below(512) / 512 * 512;
                fault_apply(fd, &part);
                break;
            case 1:
                fault_apply(fd, w);
                break;
            default:
                break;
            }
        }
    }
    (void)pthread_mutex_unlock(&fault.lock);
}
