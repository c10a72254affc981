/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the store, its lock, its paths, and files that appear whole or not at all. */
#include "oci/store_int.h"

#include "base/buf.h"
#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOCK_POLL_US = 20000,
    LOCK_MAX_BYTES = 24, /* of the lock: the id of a process, the words below, and blanks */
};
#define SERVICE_WORD "service"
#define CONTROL_WORD "control"

static const char *const dirs[] = { "meta",  "meta/documents", "meta/index", "layers",
                                    "blobs", "refs",           "images",     "leases",
                                    "tmp",   "trash",          "objects" };

/* ---- paths ---- */

struct store_path store_path_of(const char *dir, const struct oci_digest *d, const char *file)
{
    struct store_path path;
    char hex[STORE_HEX_SIZE];
    hex_format(d->bytes, sizeof d->bytes, hex);
    (void)snprintf(path.p, sizeof path.p, "%s/%s%s%s", dir, hex, file ? "/" : "", file ? file : "");
    return path;
}

bool store_digest_of_name(const char *name, struct oci_digest *ret)
{
    return hex_parse(str_of(name), ret->bytes, sizeof ret->bytes);
}

char *store_tmp_name(const struct oci_store *s)
{
    char id[37];
    sys_uuid(id);
    return xasprintf("tmp/%s/%s", s->boot, id);
}

char *oci_store_tmp(struct oci_store *s)
{
    scoped(free_scoped) char *name = store_tmp_name(s);
    return xasprintf("%s/%s", s->root, name);
}

int store_must_write(const struct oci_store *s, struct err *err)
{
    return s->opts.is_reader ? err_set(err, -EROFS, "the store is open for reading") : 0;
}

/* ---- files ---- */

int store_sync_dir(struct oci_store *s, const char *dir, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(s->fd, dir, O_RDONLY | O_DIRECTORY, 0);
    int r = fd < 0 ? fd : sys_fsync(fd);
    return r < 0 ? err_sys(err, r, "sync '%s'", dir) : 0;
}

int store_sync_layers(struct oci_store *s, struct err *err)
{
    return store_sync_dir(s, "layers", err);
}

static int sync_parent(struct oci_store *s, const char *name, struct err *err)
{
    const char *slash = strrchr(name, '/');
    scoped(free_scoped) char *dir = xstrndup(name, (size_t)(slash - name));
    return store_sync_dir(s, dir, err);
}

static int write_file(struct oci_store *s, const char *name, struct str content, bool is_synced)
{
    scoped(fd_scoped) int fd =
        sys_openat(s->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, STORE_FILE_MODE);
    int r = fd < 0 ? fd : sys_write_all(fd, content.p, content.n);
    return r < 0 || !is_synced ? r : sys_fsync(fd);
}

static int put_file(struct oci_store *s, const char *name, struct str content, bool is_synced,
                    struct err *err)
{
    scoped(free_scoped) char *tmp = store_tmp_name(s);
    int r = write_file(s, tmp, content, is_synced);
    (void)pthread_mutex_lock(&s->mutex); /* store_trash_same() looks at the name before */
    r = r < 0 ? r : sys_renameat(s->fd, tmp, s->fd, name);
    (void)pthread_mutex_unlock(&s->mutex);
    if (r < 0) {
        (void)unlinkat(s->fd, tmp, 0);
        return err_sys(err, r, "write '%s'", name);
    }
    return is_synced ? sync_parent(s, name, err) : 0;
}

int store_put_file(struct oci_store *s, const char *name, struct str content, struct err *err)
{
    return put_file(s, name, content, true, err);
}

int store_put_new(struct oci_store *s, const char *name, struct str content, struct err *err)
{
    return put_file(s, name, content, !s->opts.is_not_durable, err);
}

int store_each(const struct oci_store *s, const char *dir,
               int (*each)(void *arg, const char *name, struct err *err), void *arg,
               struct err *err)
{
    int fd = sys_openat(s->fd, dir, O_RDONLY | O_DIRECTORY, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        int r = fd < 0 ? fd : -errno;
        fd_scoped(&fd);
        return err_sys(err, r, "open '%s'", dir);
    }
    int r = 0;
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(d);
        if (!e) {
            r = errno ? err_sys(err, -errno, "read '%s'", dir) : 0;
            break;
        }
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        r = each(arg, e->d_name, err);
        if (r < 0)
            break;
    }
    (void)closedir(d);
    return r;
}

/* ---- the trash ---- */

int store_trash(struct oci_store *s, const char *name, struct err *err)
{
    char id[37];
    sys_uuid(id);
    scoped(free_scoped) char *to = xasprintf("trash/%s", id);
    int r = sys_renameat(s->fd, name, s->fd, to);
    return r < 0 ? err_sys(err, r, "remove '%s'", name) : 0;
}

int store_file_of(const struct oci_store *s, const char *name, struct store_file *ret)
{
    struct stat st;
    struct store_file file = { 0 };
    if (fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        file = (struct store_file){ st.st_ino, (uint64_t)st.st_size, st.st_mtim };
    else if (errno != ENOENT)
        return -errno;
    *ret = file;
    return 0;
}

bool store_file_same(const struct store_file *a, const struct store_file *b)
{
    return a->inode == b->inode && a->size == b->size && a->written.tv_sec == b->written.tv_sec &&
           a->written.tv_nsec == b->written.tv_nsec;
}

int store_trash_same(struct oci_store *s, const char *name, const struct store_file *file,
                     struct err *err)
{
    struct store_file is;
    (void)pthread_mutex_lock(&s->mutex);
    int r = store_file_of(s, name, &is);
    bool is_same = r >= 0 && is.inode && store_file_same(&is, file);
    r = r < 0 ? err_sys(err, r, "look at '%s'", name) : is_same ? store_trash(s, name, err) : 0;
    (void)pthread_mutex_unlock(&s->mutex);
    return r < 0 ? r : is_same;
}

int store_trash_unheld(struct oci_store *s, const char *name, const struct oci_digest *d,
                       uint64_t n_references, struct err *err)
{
    int r;
    (void)pthread_mutex_lock(&s->mutex);
    if (map_has(&s->holds, store_key(d)))
        r = err_set(err, -EBUSY, "'%s' is in use", name);
    else if (n_references != STORE_ANY_REFERENCES && n_references != s->n_references)
        r = err_set(err, -EAGAIN, "'%s' may be in use", name);
    else
        r = store_trash(s, name, err);
    (void)pthread_mutex_unlock(&s->mutex);
    return r;
}

int oci_store_discard(struct oci_store *s, const char *path, struct err *err)
{
    size_t n = strlen(s->root);
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    if (strncmp(path, s->root, n) != 0 || path[n] != '/')
        return err_set(err, E_INVALID, "'%s' is not of the store", path);
    return store_trash(s, path + n + 1, err);
}

/* A layer may leave the store while its directories are mounted in it (image/stored_layers). What
 * is open there stays usable; nothing of ours is left in the mount to be swept. */
static int end_mounts(int dir_fd, const char *name)
{
    scoped(free_scoped) char *path = xasprintf("/proc/self/fd/%d/%s", dir_fd, name);
    struct statx x;
    while (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &x) == 0 &&
           (x.stx_attributes & STATX_ATTR_MOUNT_ROOT))
        if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
            return -errno;
    return 0;
}

/*
 * Delete `name` with everything below it, at most *left files. 1: there is more. Several threads
 * may sweep at once: files that were removed in the meantime are no error.
 */
static int sweep(int dir_fd, const char *name, size_t *left)
{
    if (*left == 0)
        return 1;
    int r = sys_unlinkat(dir_fd, name, 0);
    if (r >= 0 || r == -ENOENT) {
        --*left;
        return 0;
    }
    if (r != -EISDIR && r != -EPERM)
        return r;
    r = end_mounts(dir_fd, name);
    if (r < 0)
        return r;
    int fd = sys_openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        r = fd < 0 ? fd : -errno;
        fd_scoped(&fd);
        return r == -ENOENT ? 0 : r;
    }
    (void)fchmod(fd, 0700); /* trees of layers have directories without write permission */
    r = 0;
    for (const struct dirent *e; r == 0 && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = sweep(fd, e->d_name, left);
    (void)closedir(d);
    if (r != 0)
        return r;
    if (*left == 0)
        return 1;
    --*left;
    r = sys_unlinkat(dir_fd, name, AT_REMOVEDIR);
    return r == -ENOENT ? 0 : r;
}

struct store_sweep {
    struct oci_store *s;
    size_t left;
    bool has_more;
};

static int sweep_one(void *arg, const char *name, struct err *err)
{
    struct store_sweep *w = arg;
    if (w->has_more)
        return 0;
    scoped(free_scoped) char *path = xasprintf("trash/%s", name);
    int r = sweep(w->s->fd, path, &w->left);
    w->has_more = r == 1;
    return r < 0 ? err_sys(err, r, "remove '%s'", path) : 0;
}

int oci_store_sweep(struct oci_store *s, size_t n, struct err *err)
{
    struct store_sweep w = { s, n, false };
    int r = store_must_write(s, err);
    r = r < 0 ? r : store_each(s, "trash", sweep_one, &w, err);
    return r < 0 ? r : w.has_more;
}

/* ---- opening ---- */

static int make_dirs(struct oci_store *s, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        int r = sys_mkdirat(s->fd, dirs[i], 0700);
        if (r < 0 && r != -EEXIST)
            return err_sys(err, r, "make '%s'", dirs[i]);
        any |= r >= 0;
    }
    /* What is synced below a directory counts for nothing while the directory itself may be lost.
     */
    int r = any ? sys_fsync(s->fd) : 0;
    if (r < 0)
        return err_sys(err, r, "sync '%s'", s->root);
    scoped(free_scoped) char *tmp = xasprintf("tmp/%s", s->boot);
    r = sys_mkdirat(s->fd, tmp, 0700);
    return r < 0 && r != -EEXIST ? err_sys(err, r, "make '%s'", tmp) : 0;
}

static struct oci_store_holder read_holder(int root_fd)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(LOCK_MAX_BYTES);
    struct oci_store_holder h = { 0 };
    (void)sys_read_file(root_fd, "lock", &b, NULL);
    struct str rest = str_trim(buf_str(&b)), word = rest;
    (void)str_cut(rest, ' ', &word, &rest);
    if (parse_u64(word, 1, INT32_MAX, &h.pid) < 0)
        h.pid = 0;
    while (rest.n) {
        (void)str_cut(rest, ' ', &word, &rest);
        h.is_service |= str_is(word, SERVICE_WORD);
        h.has_control |= str_is(word, CONTROL_WORD);
    }
    return h;
}

void oci_store_holder(const char *root, struct oci_store_holder *ret)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, root, O_RDONLY | O_DIRECTORY, 0);
    *ret = fd < 0 ? (struct oci_store_holder){ 0 } : read_holder(fd);
}

/* For what a hasty writer does not wait. */
static bool will_stay(int root_fd)
{
    struct oci_store_holder h = read_holder(root_fd);
    return h.is_service || h.has_control;
}

static int busy(const struct oci_store *s, struct err *err)
{
    struct oci_store_holder h = read_holder(s->fd);
    const char *stays = h.is_service ? ", as long as it runs" : "";
    if (h.pid == 0)
        return err_set(err, -EBUSY, "another process writes the store '%s'", s->root);
    return err_set(err, -EBUSY, "process %llu writes the store '%s'%s", (unsigned long long)h.pid,
                   s->root, stays);
}

/* As long as the previous one, which it replaces in one write: a concurrent reader gets either. */
static int write_holder(const struct oci_store *s, int fd, struct err *err)
{
    char id[LOCK_MAX_BYTES], text[LOCK_MAX_BYTES + 1];
    (void)snprintf(id, sizeof id, "%d%s%s", getpid(), s->opts.is_service ? " " SERVICE_WORD : "",
                   s->opts.has_control ? " " CONTROL_WORD : "");
    (void)snprintf(text, sizeof text, "%-*s\n", LOCK_MAX_BYTES - 1, id);
    int r = sys_pwrite_all(fd, text, LOCK_MAX_BYTES, 0);
    r = r < 0 ? r : sys_ftruncate(fd, LOCK_MAX_BYTES);
    return r < 0 ? err_sys(err, r, "write '%s/lock'", s->root) : 0;
}

static int take_lock(struct oci_store *s, struct err *err)
{
    uint64_t until = clock_mono_ms() + s->opts.lock_ms;
    scoped(fd_scoped) int fd =
        sys_openat(s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, STORE_FILE_MODE);
    if (fd < 0)
        return err_sys(err, fd, "open '%s/lock'", s->root);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(err, -errno, "lock '%s/lock'", s->root);
        if (clock_mono_ms() >= until || (s->opts.is_hasty && will_stay(s->fd)))
            return busy(s, err);
        (void)usleep(LOCK_POLL_US);
    }
    int r = write_holder(s, fd, err);
    if (r < 0)
        return r;
    s->lock_fd = take_fd(&fd);
    return 0;
}

/* Without /proc it is not known. A temporary error must not count as unknown: data of this boot
 * would be treated as that of another one. */
static int read_boot_id(struct oci_store *s, struct err *err)
{
    struct err why = { 0 };
    int r = boot_id_read(s->boot, &why);
    if (r == -ENOENT)
        (void)snprintf(s->boot, sizeof s->boot, "unknown");
    else if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    return 0;
}

/* Files of an earlier writer: those of this boot keep their partial blobs, to be continued. */
static int discard_own(void *arg, const char *name, struct err *err)
{
    struct oci_store *s = arg;
    if (str_has_suffix(str_of(name), STR(".part")))
        return 0;
    scoped(free_scoped) char *path = xasprintf("tmp/%s/%s", s->boot, name);
    return store_trash(s, path, err);
}

static int discard_boot(void *arg, const char *name, struct err *err)
{
    struct oci_store *s = arg;
    if (strcmp(name, s->boot) == 0)
        return 0;
    scoped(free_scoped) char *path = xasprintf("tmp/%s", name);
    return store_trash(s, path, err);
}

/* 1: it has this format; 0: there is no version. */
static int read_version(const struct oci_store *s, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(32);
    struct err why = { 0 };
    int r = sys_read_file(s->fd, "version", &b, &why);
    if (r == -ENOENT)
        return 0;
    if (r < 0 && r != -EMSGSIZE && r != -EISDIR)
        return err_set(err, r, "the store '%s': %s", s->root, err_text(&why));
    if (r >= 0 && str_is(str_trim(buf_str(&b)), "1"))
        return 1;
    return err_set(err, E_VERSION, "the store '%s' has a format that this program does not know",
                   s->root);
}

/* What may stand beside no version: that of a new file system, and what a process leaves that was
 * stopped while it made a store. The version is durable before the first directory is made. */
static bool is_of_beginning(const struct oci_store *s, const char *name)
{
    struct stat st;
    if (strcmp(name, "lock") == 0)
        return fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
               st.st_size <= LOCK_MAX_BYTES;
    return strcmp(name, "lost+found") == 0 || (str_has_prefix(str_of(name), STR(".version.")) &&
                                               str_has_suffix(str_of(name), STR(".tmp")));
}

static int check_name(void *arg, const char *name, struct err *err)
{
    const struct oci_store *s = arg;
    if (is_of_beginning(s, name) || read_version(s, NULL) == 1) /* made by another one meanwhile */
        return 0;
    return err_set(err, E_INVALID, "'%s' is no store of images, and not empty: it has a '%s'",
                   s->root, name);
}

/* An opening removes the content of tmp/ and trash/; other directories may have these names, too.
 */
static int check_is_ours(struct oci_store *s, struct err *err)
{
    int r = read_version(s, err);
    r = r != 0 ? r : store_each(s, ".", check_name, s, err);
    return r == 0 && s->opts.must_exist && read_version(s, NULL) != 1
               ? err_set(err, -ENOENT, "'%s' is no store of images", s->root)
               : r;
}

static int put_version(struct oci_store *s, struct err *err)
{
    int r = read_version(s, err);
    return r != 0 ? r : sys_write_file_atomic(s->fd, "version", STR("1\n"), STORE_FILE_MODE, err);
}

static int open_writer(struct oci_store *s, struct err *err)
{
    scoped(free_scoped) char *tmp = xasprintf("tmp/%s", s->boot);
    int r = check_is_ours(s, err);
    r = r < 0 ? r : take_lock(s, err);
    s->has_stale_objects = true; /* an earlier process may have left some */
    r = r < 0 ? r : put_version(s, err);
    r = r < 0 ? r : make_dirs(s, err);
    r = r < 0 ? r : store_each(s, "tmp", discard_boot, s, err);
    r = r < 0 ? r : store_each(s, tmp, discard_own, s, err);
    r = r < 0 ? r : store_unsynced_open(s, err);
    return r < 0 ? r : store_count_used(s, err);
}

/* A writer removes what may be damaged. */
static int mend(const struct oci_store *s, struct err *err)
{
    struct oci_store *writer = NULL;
    struct oci_store_opts opts = { .root = s->root, .must_exist = true };
    int r = oci_store_open(&opts, &writer, err);
    oci_store_close(writer);
    return r < 0 ? err_ctx(err, r, "the machine stopped while the store was written without syncs")
                 : 0;
}

static int open_reader(struct oci_store *s, struct err *err)
{
    int r = read_version(s, err);
    if (r == 0)
        return err_set(err, -ENOENT, "'%s' is no store of images", s->root);
    if (r >= 0 && store_unsynced_is_stale(s))
        r = mend(s, err);
    if (r < 0)
        return r;
    struct stat st;
    if (fstatat(s->fd, "refs", &st, 0) < 0)
        return err_sys(err, -errno, "'%s' is no store of images", s->root);
    return 0;
}

int oci_store_open(const struct oci_store_opts *opts, struct oci_store **ret, struct err *err)
{
    scoped(oci_store_close_scoped) struct oci_store *s = xnew(struct oci_store);
    int r;
    s->opts = *opts;
    s->opts.root = NULL;
    s->opts.cache = NULL; /* not before it is open: the caller releases it */
    s->fd = s->lock_fd = -1;
    s->n_named = 1;
    s->root = xstrdup(opts->root);
    (void)pthread_mutex_init(&s->names, NULL);
    (void)pthread_mutex_init(&s->mutex, NULL);
    (void)pthread_cond_init(&s->imported, NULL);
    (void)pthread_rwlock_init(&s->objects, NULL);
    (void)pthread_mutex_init(&s->blobs.mutex, NULL);
    if ((r = read_boot_id(s, err)) < 0)
        return r;
    if (!opts->is_reader && !opts->must_exist && (r = sys_mkdir_all(s->root, 0700, err)) < 0)
        return r;
    s->fd = sys_openat(AT_FDCWD, s->root, O_RDONLY | O_DIRECTORY, 0);
    if (s->fd < 0)
        return err_sys(err, s->fd, "open the store '%s'", s->root);
    r = opts->is_reader ? open_reader(s, err) : open_writer(s, err);
    if (r >= 0 && opts->cache && !opts->is_reader) {
        r = opts->cache->open(opts->cache_arg, s, err);
        s->opts.cache = r < 0 ? NULL : opts->cache;
    }
    if (r < 0)
        return r;
    *ret = take_ptr(&s);
    return 0;
}

const char *oci_store_boot(const struct oci_store *s)
{
    return s->boot;
}

const char *oci_store_root(const struct oci_store *s)
{
    return s->root;
}

void *oci_store_cache(const struct oci_store *s, const struct oci_store_cache_ops *ops)
{
    return s->opts.cache == ops ? s->opts.cache_arg : NULL;
}

uint64_t oci_store_quota(const struct oci_store *s)
{
    return s->opts.quota_bytes;
}

void oci_store_close(struct oci_store *s)
{
    if (!s)
        return;
    if (s->opts.cache)
        s->opts.cache->close(s->opts.cache_arg);
    map_each (e, &s->holds)
        free(e->value);
    map_fini(&s->holds);
    store_blobs_fini(s);
    store_unsynced_fini(s);
    fd_scoped(&s->fd);
    fd_scoped(&s->lock_fd);
    (void)pthread_mutex_destroy(&s->names);
    (void)pthread_mutex_destroy(&s->mutex);
    (void)pthread_cond_destroy(&s->imported);
    (void)pthread_rwlock_destroy(&s->objects);
    free(s->root);
    free(s);
}

enum oci_store_form oci_store_form(const struct oci_store *s)
{
    return s->opts.form;
}
