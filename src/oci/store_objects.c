/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files by the digests of their content, which layers share:
 *
 *     objects/ab/<hex>             content whose SHA-256 is <hex>, which begins with "ab"
 *     layers/<DiffID>/skeleton     the rest of the tar of a layer (oci/skeleton.h)
 *
 * An object gets its name when it is complete and synced, and its name is synced before any
 * skeleton that refers to it gets its own name, whichever thread created it. Objects that no
 * skeleton names are removed by oci_store_gc(), and when the quota needs space. Objects are
 * read-only to all: mounts show them with the attributes of each image.
 */
#include "oci/store_int.h"

#include "base/buf.h"
#include "oci/skeleton.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OBJECT_MODE = 0444 };

struct object_path {
    char p[sizeof "objects/ab/" + STORE_HEX_SIZE];
};

static struct object_path object_path(const uint8_t digest[SHA256_BYTES])
{
    struct object_path path;
    char hex[STORE_HEX_SIZE];
    hex_format(digest, SHA256_BYTES, hex);
    (void)snprintf(path.p, sizeof path.p, "objects/%.2s/%s", hex, hex);
    return path;
}

int oci_store_object_fd(struct oci_store *s, const uint8_t digest[SHA256_BYTES], struct err *err)
{
    struct object_path path = object_path(digest);
    int fd = sys_openat(s->fd, path.p, O_RDONLY | O_NOFOLLOW, 0);
    return fd < 0 ? err_sys(err, fd, "open '%s'", path.p) : fd;
}

bool oci_store_object_has(struct oci_store *s, const uint8_t digest[SHA256_BYTES], uint64_t size)
{
    struct stat st;
    struct object_path path = object_path(digest);
    return fstatat(s->fd, path.p, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == size;
}

int oci_store_objects_fd(struct oci_store *s, struct err *err)
{
    int fd = sys_openat(s->fd, "objects", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    return fd < 0 ? err_sys(err, fd, "open 'objects'") : fd;
}

/* ---- the tar of a layer, made again ---- */

static int read_skeleton(struct oci_store *s, const struct oci_digest *diff_id, struct buf *to,
                         struct oci_skeleton *ret, struct err *err)
{
    struct store_path path = store_path_of("layers", diff_id, "skeleton");
    int r = sys_read_file(s->fd, path.p, to, err);
    if (r == -EMSGSIZE)
        return err_set(err, E_CORRUPT, "'%s' is damaged", path.p);
    return r < 0 ? r : oci_skeleton_read(buf_str(to), ret, err);
}

static int give_object(void *arg, const struct oci_skeleton_part *part, oci_skeleton_sink sink,
                       void *sink_arg, struct err *err)
{
    scoped(fd_scoped) int fd = oci_store_object_fd(arg, part->digest, err);
    if (fd == -ENOENT)
        return err_ctx(err, E_CORRUPT, "a file of the layer is missing");
    return fd < 0 ? fd : store_read_fd(fd, sink, sink_arg, err);
}

int store_read_objects(struct oci_store *s, const struct oci_digest *diff_id, oci_store_sink sink,
                       void *arg, struct err *err)
{
    struct oci_skeleton k;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_SKELETON_MAX);
    int r = read_skeleton(s, diff_id, &b, &k, err);
    return r < 0 ? r : oci_skeleton_make_tar(&k, give_object, s, sink, arg, err);
}

int store_skeleton_stat(struct oci_store *s, const struct oci_digest *diff_id,
                        uint64_t *ret_disk_bytes, struct err *err)
{
    char head[OCI_SKELETON_HEADER_BYTES];
    uint64_t tar, content;
    struct stat st;
    struct store_path path = store_path_of("layers", diff_id, "skeleton");
    scoped(fd_scoped) int fd = sys_openat(s->fd, path.p, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    ssize_t n = sys_pread_full(fd, head, sizeof head, 0);
    if (n < 0 || fstat(fd, &st) < 0)
        return err_sys(err, n < 0 ? (int)n : -errno, "read '%s'", path.p);
    int r = oci_skeleton_read_header(str_n(head, (size_t)n), &tar, &content, err);
    if (r >= 0 && __builtin_add_overflow(content, (uint64_t)st.st_size, ret_disk_bytes))
        r = err_set(err, E_CORRUPT, "'%s' is damaged", path.p);
    return r < 0 ? r : 0;
}

/* ---- taking the files of a layer out of its tar ---- */

static int write_object(int dir, const char *name, const struct oci_entry *e, int tar_fd,
                        char *piece)
{
    scoped(fd_scoped) int fd =
        sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, OBJECT_MODE);
    if (fd < 0)
        return fd == -EEXIST ? 0 : fd; /* the layer has the content twice */
    for (uint64_t at = 0; at < e->size;) {
        size_t want = (size_t)MIN(e->size - at, (uint64_t)STORE_PIECE_BYTES);
        ssize_t n = sys_pread_full(tar_fd, piece, want, e->data_offset + at);
        int r = n < 0 ? (int)n : (size_t)n < want ? -EIO : sys_pwrite_all(fd, piece, want, at);
        if (r < 0)
            return r;
        at += want;
    }
    return 0;
}

static int add_to_hash(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    sha256_add(arg, bytes.p, bytes.n);
    return 0;
}

/* Whether the object has the bytes of the file in the tar, which are right; a code: that could not
 * be found out. piece: room for STORE_PIECE_BYTES. */
static int is_right(struct oci_store *s, const struct oci_entry *e, int tar_fd, char *piece)
{
    enum { HALF = STORE_PIECE_BYTES / 2 };
    scoped(fd_scoped) int fd = oci_store_object_fd(s, e->digest, NULL);
    if (fd < 0)
        return fd;
    for (uint64_t at = 0; at < e->size; at += HALF) {
        size_t want = (size_t)MIN(e->size - at, (uint64_t)HALF);
        ssize_t n = sys_pread_full(fd, piece, want, at);
        ssize_t n_tar = n < 0 ? n : sys_pread_full(tar_fd, piece + HALF, want, e->data_offset + at);
        if (n_tar < 0)
            return (int)n_tar;
        if ((size_t)n < want || n != n_tar || memcmp(piece, piece + HALF, want) != 0)
            return false;
    }
    return true;
}

/* How the objects of a layer are made. */
struct keeping {
    bool again;     /* one that is there is read: then a damaged one is replaced */
    bool is_synced; /* they and the skeleton are on the disk before they are used */
};

/* One that is there is good, or with `again` is read: one that is damaged, or that the disk does
 * not give, is replaced. A layer that was synced may have that one: then the new one is, too. */
static int must_write(struct oci_store *s, const struct oci_entry *e, int tar_fd,
                      struct keeping *how, char *piece)
{
    if (!oci_store_object_has(s, e->digest, e->size))
        return true;
    int r = how->again ? is_right(s, e, tar_fd, piece) : true;
    if (r < 0 && r != -ENOENT && r != -EIO)
        return r;
    how->is_synced |= r != true;
    return r != true;
}

/* Those that no other layer brought, under their hex names. */
static int write_new(struct oci_store *s, int dir, const struct oci_layer *layer, int tar_fd,
                     struct keeping *how, size_t *ret_n)
{
    scoped(free_scoped) char *piece = mem_try(STORE_PIECE_BYTES);
    int r = piece ? 0 : -ENOMEM;
    for (size_t i = 0; i < layer->entries.n && r >= 0; i++) {
        const struct oci_entry *e = &layer->entries.p[i];
        if (e->type != TAR_FILE || e->size == 0 || e->is_sparse)
            continue;
        struct object_path path = object_path(e->digest);
        r = must_write(s, e, tar_fd, how, piece);
        if (r <= 0)
            continue;
        r = write_object(dir, strrchr(path.p, '/') + 1, e, tar_fd, piece);
        *ret_n += r >= 0;
    }
    return r;
}

static int name_one(struct oci_store *s, int dir, const char *name)
{
    struct oci_digest d;
    if (!store_digest_of_name(name, &d))
        return 0;
    struct object_path path = object_path(d.bytes);
    int r = sys_renameat(dir, name, s->fd, path.p);
    if (r != -ENOENT)
        return r;
    *strrchr(path.p, '/') = 0;
    r = sys_mkdirat(s->fd, path.p, 0700);
    path = object_path(d.bytes);
    return r < 0 && r != -EEXIST ? r : sys_renameat(dir, name, s->fd, path.p);
}

static int name_new(struct oci_store *s, int dir, const struct oci_layer *layer)
{
    int r = 0;
    for (size_t i = 0; i < layer->entries.n && r >= 0; i++) {
        const struct oci_entry *e = &layer->entries.p[i];
        char hex[STORE_HEX_SIZE];
        if (e->type != TAR_FILE || e->size == 0 || e->is_sparse)
            continue;
        hex_format(e->digest, SHA256_BYTES, hex);
        if (faccessat(dir, hex, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            r = name_one(s, dir, hex);
    }
    return r;
}

static int name_round(struct oci_store *s, int dir, const struct oci_layer *layer)
{
    (void)pthread_mutex_lock(&s->mutex);
    s->n_naming++;
    (void)pthread_mutex_unlock(&s->mutex);
    int r = name_new(s, dir, layer);
    (void)pthread_mutex_lock(&s->mutex);
    assert(s->n_naming > 0 && s->n_named_synced <= s->n_named);
    s->n_naming--;
    s->n_named++;
    (void)pthread_mutex_unlock(&s->mutex);
    return r;
}

/* All names that were seen before stay afterwards, also those that another thread gave. */
static int sync_names(struct oci_store *s)
{
    (void)pthread_mutex_lock(&s->mutex);
    uint64_t n = s->n_named;
    bool is_synced = s->n_naming == 0 && s->n_named_synced == n && !s->opts.is_not_durable;
    (void)pthread_mutex_unlock(&s->mutex);
    if (is_synced)
        return 0;
    if (syncfs(s->fd) < 0)
        return -errno;
    (void)pthread_mutex_lock(&s->mutex);
    s->n_named_synced = MAX(s->n_named_synced, n);
    (void)pthread_mutex_unlock(&s->mutex);
    return 0;
}

/* Write, sync, name, sync. One syncfs() costs less than fsync() of thousands of files. */
static int add_objects(struct oci_store *s, const char *tmp, const struct oci_layer *layer,
                       int tar_fd, struct keeping how, struct err *err)
{
    size_t n = 0;
    scoped(fd_scoped) int dir = sys_openat(s->fd, tmp, O_RDONLY | O_DIRECTORY, 0);
    int r = dir < 0 ? dir : write_new(s, dir, layer, tar_fd, &how, &n);
    if (r >= 0 && n && how.is_synced && syncfs(dir) < 0)
        r = -errno;
    r = r < 0 || !n ? r : name_round(s, dir, layer);
    r = r < 0 || !how.is_synced ? r : sync_names(s);
    return r < 0 ? err_sys(err, r, "write the files of the layer") : 0;
}

static ssize_t read_tar(void *arg, void *p, size_t n, uint64_t offset)
{
    return sys_pread_full(*(const int *)arg, p, n, offset);
}

static int add_kept_frame(struct oci_store *s, const struct oci_digest *diff_id,
                          const struct oci_layer *layer, uint64_t max_bytes, struct buf *to,
                          struct err *err)
{
    struct oci_skeleton k;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_SKELETON_MAX);
    int r = read_skeleton(s, diff_id, &b, &k, err);
    if (r == -ENOENT)
        return err_set(err, -ENODATA, "of the layer only its blob is kept");
    if (r < 0)
        return r;
    if (k.tar_bytes != layer->n_bytes)
        return err_set(err, E_CORRUPT, "the skeleton of the layer is that of another one");
    if (oci_skeleton_frame_bytes(&k) > max_bytes)
        return err_set(err, E_LIMIT, "the skeleton of the layer is too large");
    r = buf_add_str(to, k.frame);
    return r < 0 ? err_sys(err, r, "skeleton") : 0;
}

int oci_store_layer_frame(struct oci_store *s, const struct oci_digest *diff_id,
                          const struct oci_layer *layer, uint64_t max_bytes, int level,
                          struct buf *to, struct err *err)
{
    struct oci_skeleton k;
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf parts = BUF_INIT(OCI_SKELETON_MAX);
    scoped(fd_scoped) int fd = oci_store_layer_fd(s, diff_id, &why);
    if (fd == -ENODATA)
        return add_kept_frame(s, diff_id, layer, max_bytes, to, err);
    if (fd < 0)
        return err_set(err, fd, "%s", err_text(&why));
    int r = oci_skeleton_of(layer, STR(""), &parts, &k, err);
    if (r >= 0 && oci_skeleton_frame_bytes(&k) > max_bytes)
        return err_set(err, E_LIMIT, "the skeleton of the layer is too large");
    return r < 0 ? r : oci_skeleton_pack(layer, read_tar, &fd, level, to, err);
}

static int put_skeleton(struct oci_store *s, const char *name, const struct oci_layer *layer,
                        int tar_fd, bool is_synced, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_SKELETON_MAX);
    int r = oci_skeleton_write(layer, read_tar, &tar_fd, &b, err);
    if (r < 0)
        return r;
    return is_synced ? store_put_file(s, name, buf_str(&b), err)
                     : store_put_new(s, name, buf_str(&b), err);
}

static int keep_in(struct oci_store *s, const char *tmp, const char *skeleton,
                   const struct oci_layer *layer, int tar_fd, struct keeping how, struct err *err)
{
    int r = sys_mkdirat(s->fd, tmp, 0700);
    if (r < 0)
        return err_sys(err, r, "make '%s'", tmp);
    r = add_objects(s, tmp, layer, tar_fd, how, err);
    r = r < 0 ? r : put_skeleton(s, skeleton, layer, tar_fd, how.is_synced, err);
    if (unlinkat(s->fd, tmp, AT_REMOVEDIR) < 0) /* what a failure left in it */
        (void)store_trash(s, tmp, NULL);
    return r;
}

static int keep_objects(struct oci_store *s, const char *skeleton, const struct oci_layer *layer,
                        int tar_fd, struct keeping how, struct err *err)
{
    for (bool is_again = false;; is_again = true) {
        scoped(free_scoped) char *tmp = store_tmp_name(s);
        struct err why = { 0 };
        (void)pthread_rwlock_rdlock(&s->objects);
        int r = keep_in(s, tmp, skeleton, layer, tar_fd, how, &why);
        if (r >= 0)
            return 0;
        (void)pthread_rwlock_unlock(&s->objects);
        if (r == -ENOSPC && !is_again && store_make_room(s, layer->n_bytes, NULL) >= 0)
            continue;
        return err_set(err, r, "%s", err_text(&why));
    }
}

int store_objects_keep(struct oci_store *s, const char *skeleton, const struct oci_layer *layer,
                       int tar_fd, bool is_synced, struct err *err)
{
    /* Nothing reads its tar again before it leaves: what is known has to be right now. */
    struct keeping how = { .again = true, .is_synced = is_synced };
    return keep_objects(s, skeleton, layer, tar_fd, how, err);
}

void store_objects_kept(struct oci_store *s)
{
    (void)pthread_rwlock_unlock(&s->objects);
}

bool store_objects_can_keep(const struct oci_layer *layer)
{
    for (size_t i = 0; i < layer->entries.n; i++)
        if (layer->entries.p[i].is_sparse)
            return false;
    return true;
}

/* ---- a layer that is here in another form ---- */

static int add_to_file(void *arg, struct str bytes, struct err *err)
{
    int r = sys_write_all(*(const int *)arg, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "write to the store") : 0;
}

/* Its tar: the one that is kept, or inflated from its blob into a file without a name. */
static int open_tar(struct oci_store *s, const struct oci_digest *diff_id, bool has_tar,
                    struct err *err)
{
    if (has_tar)
        return oci_store_layer_fd(s, diff_id, err);
    scoped(free_scoped) char *tmp = store_tmp_name(s);
    scoped(fd_scoped) int fd =
        sys_openat(s->fd, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, STORE_FILE_MODE);
    if (fd < 0)
        return err_sys(err, fd, "make '%s'", tmp);
    (void)unlinkat(s->fd, tmp, 0);
    int r = oci_store_layer_read(s, diff_id, add_to_file, &fd, err);
    return r < 0 ? r : take_fd(&fd);
}

static int check_digest(const struct oci_digest *diff_id, struct sha256 *hash, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    sha256_end(hash, digest);
    return memcmp(digest, diff_id->bytes, sizeof digest) == 0
               ? 0
               : err_set(err, E_CORRUPT,
                         "the layer is not what its DiffID says; run 'dormouse image check'");
}

/* What was good when it was imported may have rotted since. */
static int check_tar(const struct oci_digest *diff_id, int tar_fd, struct err *err)
{
    scoped(sha256_free_scoped) struct sha256 *hash = sha256_new();
    int r = store_read_fd(tar_fd, add_to_hash, hash, err);
    return r < 0 ? r : check_digest(diff_id, hash, err);
}

/* The tar that skeleton and objects make. */
static int check_objects(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    scoped(sha256_free_scoped) struct sha256 *hash = sha256_new();
    int r = store_read_objects(s, diff_id, add_to_hash, hash, err);
    return r < 0 ? r : check_digest(diff_id, hash, err);
}

/* again: what is there of its files is not trusted, and the skeleton is replaced. After a success
 * store_objects_kept() has to follow. */
static int keep_layer(struct oci_store *s, const struct oci_digest *diff_id,
                      const struct store_layer_files *f, bool again, struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    struct store_path skeleton = store_path_of("layers", diff_id, "skeleton");
    uint64_t n = 0;
    int r = oci_store_layer_index(s, diff_id, &layer, err);
    if (r < 0)
        return r;
    if (!store_objects_can_keep(layer))
        return err_set(err, E_UNSUPPORTED, "the layer has sparse files");
    scoped(fd_scoped) int tar = open_tar(s, diff_id, f->has_tar, err);
    r = tar < 0 ? tar : check_tar(diff_id, tar, err);
    r = r < 0 ? r : keep_objects(s, skeleton.p, layer, tar, (struct keeping){ again, true }, err);
    if (r < 0)
        return r;
    r = store_skeleton_stat(s, diff_id, &n, err);
    (void)pthread_mutex_lock(&s->mutex);
    s->used_bytes += n;
    (void)pthread_mutex_unlock(&s->mutex);
    store_drop_used(s, f->object_bytes); /* of the one that was replaced */
    if (r < 0)
        store_objects_kept(s);
    return r;
}

/* The tar may leave once the rest makes the same one: an object that another layer brought may have
 * rotted since, and so may the skeleton of an earlier time. */
static int drop_tar(struct oci_store *s, const struct oci_digest *diff_id,
                    const struct store_layer_files *f, struct err *err)
{
    struct store_path tar = store_path_of("layers", diff_id, "data.tar");
    int r = check_objects(s, diff_id, err);
    r = r < 0 ? r : store_trash(s, tar.p, err);
    if (r >= 0)
        store_drop_used(s, f->tar_bytes);
    return r;
}

static int share_layer(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    for (bool again = false;; again = true) {
        struct store_layer_files f;
        struct err why = { 0 };
        int r = store_layer_stat(s, diff_id, &f, err);
        if (r < 0)
            return r;
        if (f.has_skeleton && !again)
            (void)pthread_rwlock_rdlock(&s->objects);
        else if ((r = keep_layer(s, diff_id, &f, again, err)) < 0)
            return r;
        r = f.has_tar ? drop_tar(s, diff_id, &f, &why) : 0;
        store_objects_kept(s);
        if (again || (r != E_CORRUPT && r != E_PARSE && r != -ENOENT))
            return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
    }
}

int oci_store_layer_share(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    oci_store_hold(s, diff_id);
    r = share_layer(s, diff_id, err);
    oci_store_release(s, diff_id);
    return r;
}

/* Write it beside, compare it, and give it its name. */
static int write_tar(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    scoped(free_scoped) char *tmp = store_tmp_name(s);
    struct store_path dir = store_path_of("layers", diff_id, NULL);
    struct store_path tar = store_path_of("layers", diff_id, "data.tar");
    scoped(fd_scoped) int fd =
        sys_openat(s->fd, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, STORE_FILE_MODE);
    if (fd < 0)
        return err_sys(err, fd, "make '%s'", tmp);
    int r = oci_store_layer_read(s, diff_id, add_to_file, &fd, err);
    r = r < 0 ? r : check_tar(diff_id, fd, err);
    if (r >= 0) {
        r = sys_fsync(fd);
        r = r < 0 ? r : sys_renameat(s->fd, tmp, s->fd, tar.p);
        r = r < 0 ? err_sys(err, r, "write '%s'", tar.p) : 0;
    }
    if (r < 0)
        (void)unlinkat(s->fd, tmp, 0);
    return r < 0 ? r : store_sync_dir(s, dir.p, err);
}

static int keep_tar(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    struct store_layer_files f;
    int r = store_layer_stat(s, diff_id, &f, err);
    if (r < 0 || f.has_tar)
        return r;
    r = oci_store_layer_index(s, diff_id, &layer, err);
    r = r < 0 ? r : store_reserve(s, layer->n_bytes, err);
    if (r < 0)
        return r;
    struct err why = { 0 };
    r = write_tar(s, diff_id, &why);
    if (r == -ENOSPC && store_make_room(s, layer->n_bytes, NULL) >= 0)
        r = write_tar(s, diff_id, err);
    else if (r < 0)
        r = err_set(err, r, "%s", err_text(&why));
    store_unreserve(s, layer->n_bytes);
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&s->mutex);
    s->used_bytes += layer->n_bytes;
    (void)pthread_mutex_unlock(&s->mutex);
    return 0;
}

int oci_store_layer_keep_tar(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    oci_store_hold(s, diff_id);
    r = keep_tar(s, diff_id, err);
    oci_store_release(s, diff_id);
    return r;
}

bool oci_store_layer_is_shared(struct oci_store *s, const struct oci_digest *diff_id)
{
    struct store_layer_files f;
    return store_layer_stat(s, diff_id, &f, NULL) >= 0 && f.has_skeleton && !f.has_tar;
}

/* ---- each of them ---- */

struct each_object {
    struct oci_store *s;
    int (*each)(void *arg, const uint8_t digest[SHA256_BYTES], const char *path, struct err *err);
    void *arg;
};

static int each_in_dir(void *arg, const char *name, struct err *err)
{
    struct each_object *x = arg;
    struct oci_digest d;
    if (!store_digest_of_name(name, &d))
        return 0;
    struct object_path path = object_path(d.bytes);
    return x->each(x->arg, d.bytes, path.p, err);
}

static int each_dir(void *arg, const char *name, struct err *err)
{
    struct each_object *x = arg;
    scoped(free_scoped) char *dir = xasprintf("objects/%s", name);
    return strlen(name) == 2 ? store_each(x->s, dir, each_in_dir, x, err) : 0;
}

int store_each_object(struct oci_store *s,
                      int (*each)(void *arg, const uint8_t digest[SHA256_BYTES], const char *path,
                                  struct err *err),
                      void *arg, struct err *err)
{
    struct each_object x = { s, each, arg };
    if (faccessat(s->fd, "objects", F_OK, 0) < 0)
        return 0; /* of a reader: the store never had any */
    return store_each(s, "objects", each_dir, &x, err);
}

int store_each_object_of(struct oci_store *s, const struct oci_digest *diff_id,
                         int (*each)(void *arg, const uint8_t digest[SHA256_BYTES],
                                     const char *path, struct err *err),
                         void *arg, struct err *err)
{
    struct oci_skeleton k;
    struct map seen = { .borrows_keys = true };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_SKELETON_MAX);
    int r = read_skeleton(s, diff_id, &b, &k, err);
    for (size_t i = 0; r >= 0 && i < k.n_parts; i++) {
        const uint8_t *digest = oci_skeleton_part(&k, i).digest;
        struct object_path path = object_path(digest);
        if (!map_put(&seen, str_n(digest, SHA256_BYTES), s))
            r = each(arg, digest, path.p, err);
    }
    map_fini(&seen);
    return r;
}

/* ---- removing what is damaged ---- */

struct dropping {
    struct oci_store *s;
    struct map rotten; /* digest -> struct store_rotten */
    VEC(struct oci_digest) layers;
    void (*on_layer)(void *arg, const char *name);
    void *arg;
};

static int note_layer(void *arg, const char *name, struct err *err)
{
    struct dropping *x = arg;
    struct oci_digest d;
    (void)err;
    if (store_digest_of_name(name, &d))
        vec_push(&x->layers, d);
    return 0;
}

static void note_rotten(struct dropping *x, const struct store_rotten *one)
{
    struct store_file is = { 0 };
    if (store_file_of(x->s, object_path(one->digest).p, &is) >= 0 && is.inode &&
        store_file_same(&is, &one->file)) /* else it was replaced */
        (void)map_put(&x->rotten, str_n(one->digest, SHA256_BYTES), (void *)(uintptr_t)one);
}

static bool needs_rotten(const struct dropping *x, const struct oci_skeleton *k)
{
    for (size_t i = 0; i < k->n_parts; i++)
        if (map_has(&x->rotten, str_n(oci_skeleton_part(k, i).digest, SHA256_BYTES)))
            return true;
    return false;
}

static void keep_rotten(struct dropping *x, const struct oci_skeleton *k)
{
    for (size_t i = 0; i < k->n_parts; i++)
        (void)map_del(&x->rotten, str_n(oci_skeleton_part(k, i).digest, SHA256_BYTES));
}

/* 1: it needs the objects no more; 0: it stays as it is. */
static int drop_needing(struct dropping *x, const struct oci_digest *d, struct err *err)
{
    struct store_layer_files f = { 0 };
    struct store_layer_seen seen;
    char name[STORE_HEX_SIZE];
    int r = store_layer_see(x->s, d, &seen);
    r = r < 0 ? err_sys(err, r, "look at a layer") : store_layer_stat(x->s, d, &f, err);
    if (r == -ENOENT)
        return 1;
    if (r < 0)
        return r;
    if (f.has_tar || f.has_blob) {
        r = store_skeleton_drop_seen(x->s, d, &seen, err);
    } else {
        r = store_layer_drop_seen(x->s, d, &seen, err);
        hex_format(d->bytes, SHA256_BYTES, name);
        if (r == 1)
            x->on_layer(x->arg, name);
    }
    return r == -EBUSY ? 0 : r;
}

static int look_for_rotten(struct dropping *x, const struct oci_digest *d, struct err *err)
{
    struct oci_skeleton k;
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_SKELETON_MAX);
    int r = read_skeleton(x->s, d, &b, &k, &why);
    if (r == -ENOENT || r == E_CORRUPT) /* of another form; or it is damaged itself */
        return 0;
    if (r >= 0 && needs_rotten(x, &k)) {
        r = drop_needing(x, d, &why);
        if (r == 0)
            keep_rotten(x, &k);
    }
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

static int drop_rotten(struct dropping *x, const struct store_rotten *all, size_t n, size_t *ret_n,
                       struct err *err)
{
    size_t n_gone = 0;
    for (size_t i = 0; i < n; i++)
        note_rotten(x, &all[i]);
    int r = store_each(x->s, "layers", note_layer, x, err);
    for (size_t i = 0; i < x->layers.n && r >= 0; i++)
        r = look_for_rotten(x, &x->layers.p[i], err);
    for (size_t i = 0; i < n && r >= 0; i++)
        if (map_has(&x->rotten, str_n(all[i].digest, SHA256_BYTES))) {
            r = store_trash(x->s, object_path(all[i].digest).p, err);
            n_gone += r >= 0;
        }
    if (r >= 0)
        *ret_n = n_gone;
    return r;
}

int store_objects_drop(struct oci_store *s, const struct store_rotten *all, size_t n,
                       void (*on_layer)(void *arg, const char *name), void *arg, size_t *ret_n,
                       struct err *err)
{
    struct dropping x = { .s = s, .on_layer = on_layer, .arg = arg };
    x.rotten.borrows_keys = true;
    (void)pthread_rwlock_wrlock(&s->objects);
    int r = drop_rotten(&x, all, n, ret_n, err);
    (void)pthread_rwlock_unlock(&s->objects);
    map_fini(&x.rotten);
    vec_fini(&x.layers);
    return r;
}

/* ---- removing what no layer has ---- */

struct store_objects_sweeping {
    struct oci_store *s;
    struct map used; /* digest -> itself */
    struct arena memory;
    VEC(struct object_path) gone;
    uint64_t n_bytes;
    bool is_dry;    /* count only, and only layers that are kept have objects */
    bool is_unsure; /* the files of a layer are not known: nothing is removed */
    const struct store_marks *marks;
};

static void use_object(struct store_objects_sweeping *w, const uint8_t digest[SHA256_BYTES])
{
    struct str key = str_n(digest, SHA256_BYTES);
    if (map_has(&w->used, key))
        return;
    key = str_copy_arena(&w->memory, key);
    (void)map_put(&w->used, key, (void *)key.p);
}

/* By its index: if the skeleton is damaged or missing, a mount may still show its files. */
static int use_index(struct store_objects_sweeping *w, const struct oci_digest *d, struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    struct err why = { 0 };
    int r = oci_store_layer_index(w->s, d, &layer, &why);
    if (r == -ENOENT || (r < 0 && !store_is_system(r))) {
        w->is_unsure = true;
        return 0;
    }
    if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    for (size_t i = 0; i < layer->entries.n; i++)
        if (layer->entries.p[i].type == TAR_FILE)
            use_object(w, layer->entries.p[i].digest);
    return 0;
}

static int use_layer(void *arg, const char *name, struct err *err)
{
    struct store_objects_sweeping *w = arg;
    struct oci_digest d;
    struct oci_skeleton k;
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_SKELETON_MAX);
    if (!store_digest_of_name(name, &d) || (w->is_dry && !store_mark_of(w->marks, &d).is_kept))
        return 0;
    int r = read_skeleton(w->s, &d, &b, &k, &why);
    if (r == -ENOENT) /* of another form */
        return 0;
    if (store_is_system(r))
        return err_set(err, r, "%s", err_text(&why));
    if (r < 0) /* damaged, possibly in its version */
        return use_index(w, &d, err);
    for (size_t i = 0; i < k.n_parts; i++)
        use_object(w, oci_skeleton_part(&k, i).digest);
    return 0;
}

/* A layer that was dropped as damaged while it is mounted. */
static int use_lost(void *arg, const char *name, struct err *err)
{
    struct store_objects_sweeping *w = arg;
    struct oci_digest d;
    if (!store_digest_of_name(name, &d) || !store_mark_of(w->marks, &d).is_pinned ||
        oci_store_layer_has(w->s, &d))
        return 0;
    return use_index(w, &d, err);
}

static int look_at(void *arg, const uint8_t digest[SHA256_BYTES], const char *path, struct err *err)
{
    struct store_objects_sweeping *w = arg;
    struct stat st;
    (void)err;
    if (map_has(&w->used, str_n(digest, SHA256_BYTES)))
        return 0;
    if (fstatat(w->s->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        w->n_bytes += (uint64_t)st.st_size;
    vec_push(&w->gone, object_path(digest));
    return 0;
}

static int sweep_objects(struct store_objects_sweeping *w, struct err *err)
{
    struct oci_store *s = w->s;
    int r = store_each(s, "layers", use_layer, w, err);
    r = r < 0 ? r : store_each(s, "meta/index", use_lost, w, err);
    r = r < 0 || w->is_unsure ? r : store_each_object(s, look_at, w, err);
    for (size_t i = 0; i < w->gone.n && r >= 0 && !w->is_dry; i++) {
        r = sys_unlinkat(s->fd, w->gone.p[i].p, 0);
        r = r < 0 && r != -ENOENT ? err_sys(err, r, "remove '%s'", w->gone.p[i].p) : 0;
    }
    return r;
}

static int sweep_marked(struct oci_store *s, const struct store_marks *marks, bool is_dry,
                        size_t *ret_n, uint64_t *ret_bytes, struct err *err)
{
    struct store_objects_sweeping w = { .s = s, .is_dry = is_dry, .marks = marks };
    w.used.borrows_keys = true;
    (void)pthread_rwlock_wrlock(&s->objects);
    int r = sweep_objects(&w, err);
    (void)pthread_rwlock_unlock(&s->objects);
    if (r >= 0) {
        *ret_n = w.gone.n;
        *ret_bytes = w.n_bytes;
    }
    map_fini(&w.used);
    arena_fini(&w.memory);
    vec_fini(&w.gone);
    return r;
}

int store_objects_sweep(struct oci_store *s, bool is_dry, size_t *ret_n, uint64_t *ret_bytes,
                        struct err *err)
{
    struct store_marks marks = { 0 };
    int r = store_marks_find(s, &marks, err);
    r = r < 0 ? r : sweep_marked(s, &marks, is_dry, ret_n, ret_bytes, err);
    store_marks_fini(&marks);
    return r;
}
