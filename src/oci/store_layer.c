/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that are in the store: finding, reading, attaching, removing. */
#include "oci/store_int.h"

#include "base/buf.h"
#include "codec/decompress.h"
#include "oci/layer_index.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOB_NOTE_MAX = 128 };
#define INDEX_MAX ((size_t)2 << 30)

bool oci_store_layer_has(struct oci_store *s, const struct oci_digest *diff_id)
{
    struct stat st;
    struct store_path path = store_path_of("layers", diff_id, NULL);
    return fstatat(s->fd, path.p, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* "sha256:<hex> <bytes>". Errors: -ENOENT, no blob is kept; E_CORRUPT; what reading gives. */
static int read_blob_note(struct oci_store *s, const struct oci_digest *diff_id,
                          struct store_layer_files *f, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BLOB_NOTE_MAX);
    struct store_path path = store_path_of("layers", diff_id, "blob");
    struct str digest, size;
    int r = sys_read_file(s->fd, path.p, &b, err);
    if (r < 0 && r != -EMSGSIZE)
        return r;
    if (r < 0 || !str_cut(str_trim(buf_str(&b)), ' ', &digest, &size) ||
        oci_digest_parse(digest, &f->blob, NULL) < 0 ||
        parse_u64(size, 0, INT64_MAX, &f->blob_bytes) < 0)
        return err_set(err, E_CORRUPT, "'%s' is damaged", path.p);
    return 0;
}

/* Where its names are still there a quota evicted it, or a check removed it. */
static int not_here(const struct oci_digest *diff_id, struct err *err)
{
    char hex[STORE_HEX_SIZE];
    hex_format(diff_id->bytes, sizeof diff_id->bytes, hex);
    return err_set(err, -ENOENT, "layer '%.12s' is not in the store any more; pull the image again",
                   hex);
}

/* 1: it is a file, whose status is in *ret; 0: there is none. */
static int stat_file(struct oci_store *s, const char *path, struct stat *ret, struct err *err)
{
    if (fstatat(s->fd, path, ret, AT_SYMLINK_NOFOLLOW) == 0)
        return S_ISREG(ret->st_mode);
    return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(err, -errno, "look at '%s'", path);
}

static int stat_tar(struct oci_store *s, const struct oci_digest *diff_id,
                    struct store_layer_files *f, struct err *err)
{
    struct stat st;
    int r = stat_file(s, store_path_of("layers", diff_id, "data.tar").p, &st, err);
    f->has_tar = r == 1;
    f->tar_bytes = r == 1 ? (uint64_t)st.st_size : 0;
    return r;
}

static int stat_skeleton(struct oci_store *s, const struct oci_digest *diff_id,
                         struct store_layer_files *f, struct err *err)
{
    struct stat st;
    struct err why = { 0 };
    int r = stat_file(s, store_path_of("layers", diff_id, "skeleton").p, &st, err);
    if (r <= 0)
        return r;
    f->has_skeleton = true;
    r = store_skeleton_stat(s, diff_id, &f->object_bytes, &why);
    if (r == -ENOENT) /* dropped meanwhile */
        f->has_skeleton = false;
    else if (store_is_system(r)) /* a damaged one counts for nothing */
        return err_set(err, r, "%s", err_text(&why));
    return 0;
}

static int stat_blob(struct oci_store *s, const struct oci_digest *diff_id,
                     struct store_layer_files *f, struct err *err)
{
    struct stat st;
    struct err why = { 0 };
    int r = read_blob_note(s, diff_id, f, &why);
    if (r == -ENOENT)
        return 0;
    if (r < 0 && r != E_CORRUPT)
        return err_set(err, r, "%s", err_text(&why));
    if (r >= 0 && (r = stat_file(s, store_path_of("blobs", &f->blob, NULL).p, &st, err)) < 0)
        return r;
    f->has_blob = r == 1;
    f->lost_blob = !f->has_blob;
    f->blob_bytes = f->has_blob ? (uint64_t)st.st_size : 0;
    return 0;
}

int store_layer_stat(struct oci_store *s, const struct oci_digest *diff_id,
                     struct store_layer_files *ret, struct err *err)
{
    struct store_layer_files f = { 0 };
    struct stat st;
    struct store_path dir = store_path_of("layers", diff_id, NULL);
    if (fstatat(s->fd, dir.p, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? not_here(diff_id, err)
                               : err_sys(err, -errno, "layer '%s'", dir.p + strlen("layers/"));
    f.used_wall_s = st.st_mtim.tv_sec;
    int r = stat_tar(s, diff_id, &f, err);
    r = r < 0 ? r : stat_skeleton(s, diff_id, &f, err);
    r = r < 0 ? r : stat_blob(s, diff_id, &f, err);
    if (r < 0)
        return r;
    *ret = f;
    if (!f.has_tar && !f.has_blob && !f.has_skeleton)
        return err_set(err, E_CORRUPT, "layer '%s' has neither tar nor blob nor files",
                       dir.p + strlen("layers/"));
    return 0;
}

void oci_store_layer_touch(struct oci_store *s, const struct oci_digest *diff_id)
{
    struct store_path path = store_path_of("layers", diff_id, NULL);
    if (!s->opts.is_reader)
        (void)utimensat(s->fd, path.p, NULL, AT_SYMLINK_NOFOLLOW);
    if (s->opts.cache)
        s->opts.cache->use(s->opts.cache_arg, diff_id, 0);
}

/* ---- reading ---- */

int oci_store_layer_fd(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    struct store_path path = store_path_of("layers", diff_id, "data.tar");
    int fd = sys_openat(s->fd, path.p, O_RDONLY | O_NOFOLLOW, 0);
    if (fd == -ENOENT && oci_store_layer_has(s, diff_id))
        return err_set(err, -ENODATA, "of layer '%.12s' no uncompressed tar is kept",
                       path.p + strlen("layers/"));
    if (fd == -ENOENT)
        return not_here(diff_id, err);
    return fd < 0 ? err_sys(err, fd, "open '%s'", path.p) : fd;
}

char *oci_store_layer_path(struct oci_store *s, const struct oci_digest *diff_id, const char *file)
{
    return xasprintf("%s/%s", s->root, store_path_of("layers", diff_id, file).p);
}

int store_read_fd(int fd, oci_store_sink sink, void *arg, struct err *err)
{
    scoped(free_scoped) char *piece = mem_try(STORE_PIECE_BYTES);
    if (!piece)
        return err_set(err, -ENOMEM, "read");
    for (uint64_t at = 0;;) {
        ssize_t n = sys_pread_full(fd, piece, STORE_PIECE_BYTES, at);
        if (n < 0)
            return err_sys(err, (int)n, "read");
        if (n == 0)
            return 0;
        int r = sink(arg, str_n(piece, (size_t)n), err);
        if (r < 0)
            return r;
        at += (uint64_t)n;
    }
}

static int add_to_decompressor(void *arg, struct str bytes, struct err *err)
{
    return decompressor_add(arg, bytes, err);
}

static int read_blob(struct oci_store *s, const struct oci_digest *diff_id, oci_store_sink sink,
                     void *arg, struct err *err)
{
    struct oci_digest blob;
    uint64_t size;
    int r = oci_store_layer_blob(s, diff_id, &blob, &size, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd = oci_store_blob_fd(s, &blob, err);
    if (fd < 0)
        return fd;
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(sink, arg);
    r = store_read_fd(fd, add_to_decompressor, d, err);
    return r < 0 ? r : decompressor_end(d, err);
}

int oci_store_layer_read(struct oci_store *s, const struct oci_digest *diff_id, oci_store_sink sink,
                         void *arg, struct err *err)
{
    struct err why = { 0 };
    struct store_path skeleton = store_path_of("layers", diff_id, "skeleton");
    scoped(fd_scoped) int fd = oci_store_layer_fd(s, diff_id, &why);
    if (fd == -ENODATA && faccessat(s->fd, skeleton.p, F_OK, 0) == 0)
        return store_read_objects(s, diff_id, sink, arg, err);
    if (fd == -ENODATA)
        return read_blob(s, diff_id, sink, arg, err);
    if (fd < 0)
        return err_set(err, fd, "%s", err_text(&why));
    return store_read_fd(fd, sink, arg, err);
}

int oci_store_layer_index(struct oci_store *s, const struct oci_digest *diff_id,
                          struct oci_layer **ret, struct err *err)
{
    struct store_path path = store_path_of("meta/index", diff_id, NULL);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(INDEX_MAX);
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    int r = sys_read_file(s->fd, path.p, &b, err);
    r = r < 0 ? r : oci_layer_index_read(buf_str(&b), &layer, err);
    if (r >= 0 && memcmp(layer->diff_id, diff_id->bytes, sizeof layer->diff_id) != 0)
        r = err_set(err, E_CORRUPT, "layer index: it is one of another layer");
    if (r < 0)
        return err_ctx(err, r, "layer '%.12s'", path.p + strlen("meta/index/"));
    *ret = take_ptr(&layer);
    return 0;
}

int oci_store_layer_blob(struct oci_store *s, const struct oci_digest *diff_id,
                         struct oci_digest *ret_digest, uint64_t *ret_size, struct err *err)
{
    struct store_layer_files f;
    int r = store_layer_stat(s, diff_id, &f, err);
    if (r < 0)
        return r;
    if (!f.has_blob)
        return err_set(err, -ENOENT, "no compressed blob of the layer is kept");
    *ret_digest = f.blob;
    *ret_size = f.blob_bytes;
    return 0;
}

int oci_store_blob_fd(struct oci_store *s, const struct oci_digest *blob, struct err *err)
{
    struct store_path path = store_path_of("blobs", blob, NULL);
    int fd = sys_openat(s->fd, path.p, O_RDONLY | O_NOFOLLOW, 0);
    return fd < 0 ? err_sys(err, fd, "open '%s'", path.p) : fd;
}

/* ---- changing ---- */

int oci_store_layer_attach(struct oci_store *s, const struct oci_digest *diff_id, const char *path,
                           const char *file, struct err *err)
{
    struct stat st;
    struct store_path dir = store_path_of("layers", diff_id, NULL);
    struct store_path to = store_path_of("layers", diff_id, file);
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    if (fstatat(s->fd, to.p, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return err_set(err, -EEXIST, "the layer has '%s' already", file);
    r = sys_renameat(AT_FDCWD, path, s->fd, to.p);
    if (r < 0)
        return err_sys(err, r, "attach '%s' to '%s'", path, dir.p);
    return store_sync_dir(s, dir.p, err);
}

int store_layer_see(struct oci_store *s, const struct oci_digest *diff_id,
                    struct store_layer_seen *ret)
{
    struct store_layer_files f = { 0 };
    struct store_layer_seen seen = { 0 };
    int r = store_file_of(s, store_path_of("layers", diff_id, "data.tar").p, &seen.tar);
    r = r < 0 ? r
              : store_file_of(s, store_path_of("layers", diff_id, "skeleton").p, &seen.skeleton);
    r = r < 0 ? r : store_file_of(s, store_path_of("layers", diff_id, "blob").p, &seen.note);
    if (r >= 0 && seen.note.inode) {
        r = read_blob_note(s, diff_id, &f, NULL);
        r = r == -ENOENT || r == E_CORRUPT ? 0
            : r < 0                        ? r
                    : store_file_of(s, store_path_of("blobs", &f.blob, NULL).p, &seen.blob);
    }
    if (r >= 0)
        *ret = seen;
    return r;
}

bool store_layer_seen_same(const struct store_layer_seen *a, const struct store_layer_seen *b)
{
    return store_file_same(&a->tar, &b->tar) && store_file_same(&a->skeleton, &b->skeleton) &&
           store_file_same(&a->note, &b->note) && store_file_same(&a->blob, &b->blob);
}

static bool is_seen(struct oci_store *s, const struct oci_digest *diff_id,
                    const struct store_layer_seen *seen)
{
    struct store_layer_seen is;
    return store_layer_see(s, diff_id, &is) >= 0 && store_layer_seen_same(&is, seen);
}

/* It was imported again since: the blob belongs to that import, or to gc. */
static int drop_blob(struct oci_store *s, const struct store_layer_files *f, struct err *err)
{
    if (!f->has_blob)
        return 0;
    struct store_path path = store_path_of("blobs", &f->blob, NULL);
    int r = store_trash_unheld(s, path.p, &f->blob, STORE_ANY_REFERENCES, err);
    return r == -EBUSY ? 0 : r;
}

static void note_dropped(struct oci_store *s, const struct store_layer_files *f, uint64_t n_bytes)
{
    store_drop_used(s, n_bytes);
    (void)pthread_mutex_lock(&s->mutex);
    s->has_stale_objects |= f->has_skeleton;
    (void)pthread_mutex_unlock(&s->mutex);
}

int store_layer_drop(struct oci_store *s, const struct oci_digest *diff_id, uint64_t n_references,
                     struct err *err)
{
    struct store_layer_files f = { 0 };
    int r = store_layer_stat(s, diff_id, &f, err);
    if (r < 0 && r != E_CORRUPT)
        return r;
    struct store_path path = store_path_of("layers", diff_id, NULL);
    r = store_trash_unheld(s, path.p, diff_id, n_references, err);
    if (r < 0)
        return r;
    note_dropped(s, &f, store_layer_bytes(&f));
    return drop_blob(s, &f, err);
}

/* What changes a layer holds it: neither the hold nor the files can change before the rename. */
static int trash_seen(struct oci_store *s, const struct oci_digest *diff_id, const char *path,
                      const struct store_layer_seen *seen, struct err *err)
{
    int r = 0;
    (void)pthread_mutex_lock(&s->mutex);
    bool has_them = is_seen(s, diff_id, seen);
    if (map_has(&s->holds, store_key(diff_id)))
        r = err_set(err, -EBUSY, "'%s' is in use", path);
    else if (has_them)
        r = store_trash(s, path, err);
    bool is_gone = r >= 0 && has_them;
    (void)pthread_mutex_unlock(&s->mutex);
    return r < 0 ? r : is_gone;
}

int store_layer_drop_seen(struct oci_store *s, const struct oci_digest *diff_id,
                          const struct store_layer_seen *seen, struct err *err)
{
    struct store_layer_files f = { 0 };
    struct err why = { 0 };
    int r = store_layer_stat(s, diff_id, &f, &why);
    if (r == -ENOENT)
        return 0;
    if (r < 0 && r != E_CORRUPT)
        return err_set(err, r, "%s", err_text(&why));
    r = trash_seen(s, diff_id, store_path_of("layers", diff_id, NULL).p, seen, err);
    if (r <= 0)
        return r;
    note_dropped(s, &f, store_layer_bytes(&f));
    r = drop_blob(s, &f, err);
    return r < 0 ? r : 1;
}

int store_skeleton_drop_seen(struct oci_store *s, const struct oci_digest *diff_id,
                             const struct store_layer_seen *seen, struct err *err)
{
    struct store_layer_files f = { 0 };
    struct err why = { 0 };
    int r = store_layer_stat(s, diff_id, &f, &why);
    if (r < 0)
        return r == -ENOENT ? 0 : err_set(err, r, "%s", err_text(&why));
    r = trash_seen(s, diff_id, store_path_of("layers", diff_id, "skeleton").p, seen, err);
    if (r > 0)
        note_dropped(s, &f, f.object_bytes);
    return r;
}

static int remove_layer(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    struct store_marks m = { 0 };
    int r = store_marks_find(s, &m, err);
    if (r >= 0 && store_mark_of(&m, diff_id).is_pinned)
        r = err_set(err, -EBUSY, "the layer is in use");
    r = r < 0 ? r : store_layer_drop(s, diff_id, m.n_references, err);
    store_marks_fini(&m);
    return r;
}

int oci_store_layer_remove(struct oci_store *s, const struct oci_digest *diff_id, struct err *err)
{
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    do
        r = remove_layer(s, diff_id, err);
    while (r == -EAGAIN);
    return r;
}

/* ---- all of them ---- */

struct store_layer_listing {
    struct oci_store *s;
    VEC(struct oci_store_layer) all;
    const struct store_marks *marks;
};

static int list_layer(void *arg, const char *name, struct err *err)
{
    struct store_layer_listing *l = arg;
    struct store_layer_files f = { 0 };
    struct oci_store_layer layer = { 0 };
    (void)err;
    if (!store_digest_of_name(name, &layer.diff_id) ||
        store_layer_stat(l->s, &layer.diff_id, &f, NULL) == -ENOENT)
        return 0;
    layer.n_bytes = store_layer_bytes(&f);
    layer.used_wall_s = f.used_wall_s;
    layer.has_blob = f.has_blob;
    if (l->marks) {
        struct store_mark mark = store_mark_of(l->marks, &layer.diff_id);
        layer.n_images = mark.n_images;
        layer.is_pinned = mark.is_pinned;
    }
    vec_push(&l->all, layer);
    return 0;
}

static int by_use(const void *a, const void *b)
{
    const struct oci_store_layer *x = a, *y = b;
    if (x->used_wall_s != y->used_wall_s)
        return (x->used_wall_s > y->used_wall_s) - (x->used_wall_s < y->used_wall_s);
    return memcmp(x->diff_id.bytes, y->diff_id.bytes, sizeof x->diff_id.bytes);
}

/* marks: NULL or what refers to them. */
static int list_layers(struct oci_store *s, const struct store_marks *marks,
                       struct oci_store_layer **ret, size_t *ret_n, struct err *err)
{
    struct store_layer_listing l = { .s = s, .marks = marks };
    int r = store_each(s, "layers", list_layer, &l, err);
    if (r < 0) {
        vec_fini(&l.all);
        return r;
    }
    if (l.all.n)
        qsort(l.all.p, l.all.n, sizeof *l.all.p, by_use);
    *ret = l.all.p;
    *ret_n = l.all.n;
    return 0;
}

int oci_store_layers(struct oci_store *s, struct oci_store_layer **ret, size_t *ret_n,
                     struct err *err)
{
    struct store_marks m = { 0 };
    int r = store_marks_find(s, &m, err);
    r = r < 0 ? r : list_layers(s, &m, ret, ret_n, err);
    store_marks_fini(&m);
    return r;
}

int oci_store_layers_alone(struct oci_store *s, struct oci_store_layer **ret, size_t *ret_n,
                           struct err *err)
{
    return list_layers(s, NULL, ret, ret_n, err);
}

int store_count_used(struct oci_store *s, struct err *err)
{
    struct store_layer_listing l = { .s = s };
    int r = store_each(s, "layers", list_layer, &l, err);
    s->used_bytes = 0;
    for (size_t i = 0; i < l.all.n; i++)
        s->used_bytes += l.all.p[i].n_bytes;
    vec_fini(&l.all);
    return r;
}

struct store_layer_usage {
    struct oci_store *s;
    struct oci_store_usage *to;
};

static int use_layer(void *arg, const char *name, struct err *err)
{
    struct store_layer_usage *u = arg;
    struct oci_digest d;
    struct store_layer_files f = { 0 };
    (void)err;
    if (!store_digest_of_name(name, &d) || store_layer_stat(u->s, &d, &f, NULL) < 0)
        return 0;
    u->to->n_layers++;
    u->to->layer_bytes += f.tar_bytes + f.object_bytes;
    u->to->blob_bytes += f.blob_bytes;
    return 0;
}

void oci_store_usage(struct oci_store *s, struct oci_store_usage *ret)
{
    *ret = (struct oci_store_usage){ .quota_bytes = s->opts.quota_bytes };
    (void)store_each(s, "layers", use_layer, &(struct store_layer_usage){ s, ret }, NULL);
}
