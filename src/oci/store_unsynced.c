/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pulls that do not wait for the disk (oci_store_opts.is_not_durable). The file `unsynced` exists
 * in the root while visible files may not be on the disk:
 *
 *     <boot id>\n
 *     <DiffID>\n ...    layers that were synced before
 *
 * It is synced itself before the first import. As long as the machine runs everything is
 * consistent, so the next writer that opens the store in the same boot continues, or syncs the file
 * system and removes the mark. In another boot the mark means that the machine crashed: layers that
 * it does not list are removed, and damaged documents, names and leases. The list stays valid: a
 * listed layer that is removed and imported again is synced.
 */
#include "oci/store_int.h"

#include "base/buf.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MARK_MAX_BYTES = 64 << 20,
    /* The kernel has written by then what was dirty, so that syncing the rest costs little. */
    MARK_AGES_S = 60,
};
#define MARK         "unsynced"
#define UNKNOWN_BOOT "unknown"

struct store_names {
    VEC(char *) list;
};

struct store_unsynced {
    struct map synced; /* layers of the mark, by their hex names */
};

static void free_unsynced(struct store_unsynced *u)
{
    if (!u)
        return;
    map_fini(&u->synced);
    free(u);
}

void store_unsynced_fini(struct oci_store *s)
{
    free_unsynced(take_ptr(&s->unsynced));
}

bool store_must_sync(struct oci_store *s, const struct oci_digest *diff_id)
{
    char hex[STORE_HEX_SIZE];
    if (!s->opts.is_not_durable)
        return true;
    hex_format(diff_id->bytes, sizeof diff_id->bytes, hex);
    (void)pthread_mutex_lock(&s->mutex);
    bool is_listed = map_has(&s->unsynced->synced, str_of(hex));
    (void)pthread_mutex_unlock(&s->mutex);
    return is_listed;
}

/* ---- the mark ---- */

/* 1: of this boot; 0: of another one, or unreadable; -ENOENT: there is none. */
static int read_mark(const struct oci_store *s, struct buf *to, struct err *err)
{
    struct str boot, rest;
    struct err why = { 0 };
    int r = sys_read_file(s->fd, MARK, to, &why);
    if (r == -ENOENT)
        return r;
    if (r < 0)
        return err_set(err, r, "the store '%s': %s", s->root, err_text(&why));
    return str_cut(buf_str(to), '\n', &boot, &rest) && str_is(boot, s->boot) &&
           !str_is(boot, UNKNOWN_BOOT);
}

static void take_list(struct store_unsynced *u, struct str text)
{
    struct str line, rest = text;
    (void)str_cut(rest, '\n', &line, &rest); /* the boot */
    while (rest.n && str_cut(rest, '\n', &line, &rest)) {
        struct oci_digest d;
        scoped(free_scoped) char *hex = str_dup(line);
        if (store_digest_of_name(hex, &d))
            (void)map_put(&u->synced, line, u);
    }
}

static int add_line(void *arg, const char *name, struct err *err)
{
    struct oci_digest d;
    (void)err;
    return store_digest_of_name(name, &d) ? buf_printf(arg, "%s\n", name) : 0;
}

/* The listed layers are synced before the mark is written. has_unsynced: not only names may be
 * unsynced. */
static int put_mark(struct oci_store *s, bool has_unsynced, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(MARK_MAX_BYTES);
    (void)buf_printf(&text, "%s\n", s->boot);
    int r = store_each(s, "layers", add_line, &text, err);
    if (r < 0 || !buf_ok(&text))
        return r < 0 ? r : err_set(err, E_LIMIT, "the store has too many layers");
    if (has_unsynced && syncfs(s->fd) < 0)
        return err_sys(err, -errno, "sync the store '%s'", s->root);
    r = has_unsynced ? 0 : store_sync_layers(s, err);
    r = r < 0 ? r : sys_write_file_atomic(s->fd, MARK, buf_str(&text), STORE_FILE_MODE, err);
    if (r < 0)
        return r;
    struct store_unsynced *now = xnew(struct store_unsynced), *before;
    take_list(now, buf_str(&text));
    (void)pthread_mutex_lock(&s->mutex);
    before = s->unsynced;
    s->unsynced = now;
    (void)pthread_mutex_unlock(&s->mutex);
    free_unsynced(before);
    return 0;
}

static int remove_mark(struct oci_store *s, struct err *err)
{
    int r = syncfs(s->fd) < 0 ? -errno : sys_unlinkat(s->fd, MARK, 0);
    r = r < 0 ? r : sys_fsync(s->fd);
    if (r < 0)
        return err_sys(err, r, "sync the store '%s'", s->root);
    store_unsynced_fini(s);
    return 0;
}

static bool is_old(const struct oci_store *s)
{
    struct stat st;
    return fstatat(s->fd, MARK, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
           st.st_mtime + MARK_AGES_S < time(NULL) || st.st_mtime > time(NULL);
}

int store_sync_all(struct oci_store *s, struct err *err)
{
    return put_mark(s, true, err);
}

/* ---- after the machine has stopped ---- */

static int note_name(void *arg, const char *name, struct err *err)
{
    struct store_names *names = arg;
    struct oci_digest d;
    (void)err;
    if (store_digest_of_name(name, &d))
        vec_push(&names->list, xstrdup(name));
    return 0;
}

static int drop(struct oci_store *s, const char *dir, const char *name, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", dir, name);
    int r = store_trash(s, path, err);
    return r == -ENOENT ? 0 : r;
}

struct store_unsynced_recovery {
    struct oci_store *s;
    struct store_unsynced *u;
    struct map blobs; /* of the layers that stay, by their hex names */
    struct arena arena;
};

/*
 * The functions below decide whether a name stays: 1: it stays; 0: it is damaged, or nothing needs
 * it; a negative code: a temporary error of the machine. Then the mark stays, and the next opening
 * retries.
 */
static int is_readable(int r)
{
    return r >= 0 ? 1 : r != -ENOENT && store_is_system(r) ? r : 0;
}

static int stays_layer(struct store_unsynced_recovery *v, const char *name,
                       const struct oci_digest *d, struct err *err)
{
    struct store_layer_files f = { 0 };
    char hex[STORE_HEX_SIZE];
    if (!map_has(&v->u->synced, str_of(name)))
        return 0;
    int r = is_readable(store_layer_stat(v->s, d, &f, err));
    if (r == 1 && f.has_blob) {
        hex_format(f.blob.bytes, sizeof f.blob.bytes, hex);
        (void)map_put(&v->blobs, str_of(hex), v);
    }
    return r < 0 ? r : 1; /* a damaged one is the check's */
}

static int stays_index(struct store_unsynced_recovery *v, const char *name,
                       const struct oci_digest *d, struct err *err)
{
    struct store_file file;
    struct store_path layer = store_path_of("layers", d, NULL);
    (void)name;
    int r = store_file_of(v->s, layer.p, &file);
    return r < 0 ? err_sys(err, r, "look at '%s'", layer.p) : file.inode != 0;
}

static int stays_blob(struct store_unsynced_recovery *v, const char *name,
                      const struct oci_digest *d, struct err *err)
{
    (void)d, (void)err;
    return map_has(&v->blobs, str_of(name));
}

static int stays_document(struct store_unsynced_recovery *v, const char *name,
                          const struct oci_digest *d, struct err *err)
{
    struct str text;
    (void)name;
    return is_readable(oci_store_document(v->s, d, &v->arena, &text, err));
}

static int stays_ref(struct store_unsynced_recovery *v, const char *name,
                     const struct oci_digest *d, struct err *err)
{
    struct oci_store_image image;
    struct oci_manifest manifest;
    struct oci_config config;
    (void)d;
    int r = store_read_image(v->s, name, &v->arena, &image, err);
    r = r < 0 ? r : oci_store_image_load(v->s, &image.manifest, &v->arena, &manifest, &config, err);
    return is_readable(r);
}

/* One that is over refers to nothing. */
static int load_leased(void *arg, const char *file, const struct store_lease *l, struct err *err)
{
    struct store_unsynced_recovery *v = arg;
    struct oci_manifest manifest;
    struct oci_config config;
    (void)file;
    return l->is_over
               ? 0
               : oci_store_image_load(v->s, &l->manifest, &v->arena, &manifest, &config, err);
}

/* Nothing could be collected while what a lease refers to is not known. */
static int stays_lease(struct store_unsynced_recovery *v, const char *name,
                       const struct oci_digest *d, struct err *err)
{
    (void)d;
    return is_readable(store_read_lease(v->s, name, &v->arena, load_leased, v, err));
}

struct recovery_step {
    const char *dir;
    int (*stays)(struct store_unsynced_recovery *v, const char *name, const struct oci_digest *d,
                 struct err *err);
};

static int drop_damaged(struct store_unsynced_recovery *v, const struct recovery_step *step,
                        const char *name, struct err *err)
{
    struct oci_digest d;
    struct err why = { 0 };
    if (!store_digest_of_name(name, &d))
        return 0;
    arena_reset(&v->arena);
    int r = step->stays(v, name, &d, &why);
    if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    return r == 1 ? 0 : drop(v->s, step->dir, name, err);
}

static int recover(struct oci_store *s, struct str mark, struct err *err)
{
    static const struct recovery_step steps[] = {
        { "layers", stays_layer }, { "meta/index", stays_index },
        { "blobs", stays_blob },   { "meta/documents", stays_document },
        { "refs", stays_ref },     { "leases", stays_lease },
    };
    struct store_unsynced_recovery v = { .s = s, .u = xnew(struct store_unsynced) };
    int r = 0;
    take_list(v.u, mark);
    for (size_t i = 0; i < ARRAY_LEN(steps) && r >= 0; i++) {
        struct store_names names = { 0 };
        r = store_each(s, steps[i].dir, note_name, &names, err);
        vec_each (name, &names.list) {
            r = r < 0 ? r : drop_damaged(&v, &steps[i], *name, err);
            free(*name);
        }
        vec_fini(&names.list);
    }
    size_t n;
    uint64_t n_bytes;
    r = r < 0 ? r : store_objects_sweep(s, false, &n, &n_bytes, err);
    map_fini(&v.blobs);
    arena_fini(&v.arena);
    free_unsynced(v.u);
    return r < 0 ? err_ctx(err, r, "remove what may be damaged after the machine stopped") : 0;
}

/* ---- opening ---- */

int store_unsynced_open(struct oci_store *s, struct err *err)
{
    scoped(buf_fini_scoped) struct buf mark = BUF_INIT(MARK_MAX_BYTES);
    int r = read_mark(s, &mark, err);
    bool is_there = r != -ENOENT;
    if (r < 0 && is_there)
        return r;
    if (r == 0 && (r = recover(s, buf_str(&mark), err)) < 0)
        return r;
    if (s->opts.is_as_before)
        s->opts.is_not_durable = r == 1;
    s->opts.is_not_durable &= strcmp(s->boot, UNKNOWN_BOOT) != 0;
    if (!s->opts.is_not_durable)
        return is_there ? remove_mark(s, err) : 0;
    if (r == 1 && (s->opts.is_as_before || !is_old(s))) {
        s->unsynced = xnew(struct store_unsynced);
        take_list(s->unsynced, buf_str(&mark));
        return 0;
    }
    return put_mark(s, is_there, err);
}

bool store_unsynced_is_stale(const struct oci_store *s)
{
    scoped(buf_fini_scoped) struct buf mark = BUF_INIT(MARK_MAX_BYTES);
    int r = read_mark(s, &mark, NULL);
    return r != 1 && r != -ENOENT;
}
