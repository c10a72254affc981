/* SPDX-License-Identifier: Apache-2.0 */
/* Reading everything again: at full speed for a command, slowly for a scrub. */
#include "oci/store_int.h"

#include "base/buf.h"
#include "base/clock.h"
#include "oci/layer_gather.h"
#include "oci/layer_index.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define INDEX_MAX ((size_t)2 << 30)

enum { LOOKS_MAX = 3 }; /* at what is changed while it is looked at */

/* The result of a look; 0: nothing, or it was reported already. */
enum {
    DAMAGED = 1,
    CHANGED = 2, /* it is another one than it was before the look */
};

struct oci_store_check {
    struct oci_store *s;
    const struct oci_store_check_opts *opts;
    struct oci_store_check_result result;
    uint64_t started_ns;
    struct arena arena;
    int unread; /* why the first thing that nothing is known of could not be read */
    struct err unread_err;
    VEC(char *) names; /* of the directory that is looked through, since it changes meanwhile */
    VEC(struct store_rotten) rotten;
};

static void damaged(struct oci_store_check *c, enum oci_store_damage_kind kind, const char *what,
                    const char *why)
{
    if (kind == OCI_STORE_INCOMPLETE_IMAGE)
        c->result.n_incomplete++;
    else
        c->result.n_damaged++;
    if (c->opts->on_damage)
        c->opts->on_damage(c->opts->arg, kind, what, why);
}

/* A temporary error of the machine, or of the reader: it is no evidence of damage. */
static bool is_passing(int r)
{
    return store_is_system(r) || r == E_TRAP;
}

/* 0, or -ECANCELED: the check is to end. */
static int unread(struct oci_store_check *c, enum oci_store_damage_kind kind, const char *what,
                  int r, const struct err *why, struct err *err)
{
    if (r == -ECANCELED)
        return err_set(err, r, "check");
    if (c->opts->on_unread)
        c->opts->on_unread(c->opts->arg, kind, what, err_text(why));
    if (c->result.n_unread++ == 0)
        c->unread = err_set(&c->unread_err, r, "%s %s: %s", oci_store_damage_name(kind), what,
                            err_text(why));
    return 0;
}

/* A file could not be read, or not as it should be. DAMAGED: it is that which was there before. */
static int check_file(struct oci_store_check *c, enum oci_store_damage_kind kind, const char *path,
                      const char *what, const struct store_file *before, int r,
                      const struct err *why, struct err *err)
{
    struct store_file now;
    int seen = store_file_of(c->s, path, &now);
    if (seen >= 0 && !store_file_same(&now, before))
        return CHANGED;
    if (is_passing(r) || r == -ECANCELED)
        return unread(c, kind, what, r, why, err);
    damaged(c, kind, what, err_text(why));
    return DAMAGED;
}

/* Move what is damaged away, if that is wanted, and if it is what was looked at. */
static int drop(struct oci_store_check *c, const char *name, const struct store_file *file,
                struct err *err)
{
    int r = c->opts->remove ? store_trash_same(c->s, name, file, err) : 0;
    c->result.n_removed += r > 0;
    return r < 0 ? r : 0;
}

typedef int (*look_cb)(struct oci_store_check *c, const char *name, struct err *err);

/* Until nothing changes meanwhile: a pull may bring it again, a gc take it away. */
static int look(struct oci_store_check *c, look_cb f, const char *name, struct err *err)
{
    int r = CHANGED;
    for (int i = 0; i < LOOKS_MAX && r == CHANGED; i++)
        r = f(c, name, err);
    return r < 0 ? r : 0;
}

/* Count bytes that were read; wait if they were read faster than the limit. */
static int pace(struct oci_store_check *c, size_t n, struct err *err)
{
    c->result.n_bytes += n;
    for (;;) {
        if (c->opts->stop && atomic_load(c->opts->stop))
            return err_set(err, -ECANCELED, "check");
        if (c->opts->bytes_per_s == 0)
            return 0;
        uint64_t passed_us = (clock_mono_ns() - c->started_ns) / 1000;
        uint64_t due_us =
            (uint64_t)((double)c->result.n_bytes * 1e6 / (double)c->opts->bytes_per_s);
        if (passed_us >= due_us)
            return 0;
        (void)usleep((useconds_t)MIN(due_us - passed_us, (uint64_t)100000));
    }
}

static int note_name(void *arg, const char *name, struct err *err)
{
    struct oci_store_check *c = arg;
    (void)err;
    vec_push(&c->names, xstrdup(name));
    return 0;
}

/* Each name that a directory has now. */
static int each_noted(struct oci_store_check *c, const char *dir,
                      int (*f)(struct oci_store_check *c, const char *name, struct err *err),
                      struct err *err)
{
    int r = store_each(c->s, dir, note_name, c, err);
    for (size_t i = 0; i < c->names.n; i++) {
        if (r >= 0)
            r = f(c, c->names.p[i], err);
        free(c->names.p[i]);
    }
    c->names.n = 0;
    return r;
}

/* ---- documents ---- */

static int look_at_document(struct oci_store_check *c, const char *name, struct err *err)
{
    struct oci_digest d;
    struct store_file file;
    struct str text;
    struct arena a = { 0 };
    struct err why = { 0 };
    (void)store_digest_of_name(name, &d);
    struct store_path path = store_path_of("meta/documents", &d, NULL);
    int r = store_file_of(c->s, path.p, &file);
    r = r < 0 ? err_sys(&why, r, "look at it") : oci_store_document(c->s, &d, &a, &text, &why);
    arena_fini(&a);
    if (r >= 0 || r == -ENOENT)
        return r < 0 ? 0 : pace(c, text.n, err);
    r = check_file(c, OCI_STORE_DAMAGED_DOCUMENT, path.p, name, &file, r, &why, err);
    return r == DAMAGED ? drop(c, path.p, &file, err) : r;
}

static int check_document(struct oci_store_check *c, const char *name, struct err *err)
{
    struct oci_digest d;
    if (!store_digest_of_name(name, &d))
        return 0;
    c->result.n_documents++;
    return look(c, look_at_document, name, err);
}

/* ---- layers ---- */

struct store_check_reading {
    struct oci_store_check *c;
    const struct layer_reading_ops *how; /* NULL: a blob, which is only hashed */
    void *reading;
    struct sha256 *hash;
    bool is_stopped;
};

static int on_read(void *arg, struct str bytes, struct err *err)
{
    struct store_check_reading *x = arg;
    int r = pace(x->c, bytes.n, err);
    x->is_stopped = r < 0;
    if (r >= 0 && x->hash)
        sha256_add(x->hash, bytes.p, bytes.n);
    return r < 0 || !x->how ? r : x->how->add(x->reading, bytes, err);
}

/* Its tar is there, or is made of objects without inflating anything. */
static bool has_tar(const struct store_layer_files *f)
{
    return f->has_tar || f->has_skeleton;
}

/* Its data in the stored form: for a layer without a tar the reader inflates the blob. */
static int read_stored(struct oci_store_check *c, const struct oci_digest *d,
                       const struct store_layer_files *f, struct store_check_reading *x,
                       struct err *why)
{
    if (has_tar(f))
        return oci_store_layer_read(c->s, d, on_read, x, why);
    scoped(fd_scoped) int fd = oci_store_blob_fd(c->s, &f->blob, why);
    return fd < 0 ? fd : store_read_fd(fd, on_read, x, why);
}

/* 0, E_CORRUPT and the like with the reason, -ECANCELED. *is_read: set where the reader had all of
 * it, whatever it is. */
static int read_layer(struct oci_store_check *c, const struct oci_digest *d,
                      const struct store_layer_files *f, struct oci_layer **ret, bool *is_read,
                      struct err *why)
{
    struct layer_facts facts;
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    scoped(layer_gather_free_scoped) struct layer_gather *g = layer_gather_new();
    struct store_check_reading x = { .c = c,
                                     .how =
                                         c->opts->reading ? c->opts->reading : &layer_parse_here };
    int r = x.how->start(c->opts->reading_arg, UINT64_MAX, &layer_gather_ops, g, &x.reading, why);
    if (r < 0)
        return r;
    r = read_stored(c, d, f, &x, why);
    r = r < 0 ? r : x.how->end(x.reading, &facts, why);
    x.how->free(x.reading);
    r = r < 0 ? r : layer_gather_end(g, &facts, &layer, why);
    if (r < 0)
        return r;
    *is_read = true;
    if (memcmp(layer->diff_id, d->bytes, SHA256_BYTES) != 0)
        return err_set(why, E_CORRUPT, "its content is not what its DiffID says");
    *ret = take_ptr(&layer);
    return 0;
}

/* r: of the reading; frees the hash. */
static int end_hash(struct store_check_reading *x, int r, const struct oci_digest *d,
                    struct err *why)
{
    uint8_t digest[SHA256_BYTES];
    sha256_end(x->hash, digest);
    sha256_free(x->hash);
    if (r >= 0 && memcmp(digest, d->bytes, sizeof digest) != 0)
        r = err_set(why, E_CORRUPT, "its content is not what its digest says");
    return r;
}

static int read_blob(struct oci_store_check *c, const struct oci_digest *d, struct err *why)
{
    scoped(fd_scoped) int fd = oci_store_blob_fd(c->s, d, why);
    if (fd < 0)
        return fd;
    struct store_check_reading x = { .c = c, .hash = sha256_new() };
    return end_hash(&x, store_read_fd(fd, on_read, &x, why), d, why);
}

static int hash_object(struct oci_store_check *c, const uint8_t digest[SHA256_BYTES],
                       struct err *why)
{
    struct oci_digest d;
    memcpy(d.bytes, digest, sizeof d.bytes);
    scoped(fd_scoped) int fd = oci_store_object_fd(c->s, digest, why);
    if (fd < 0)
        return fd;
    struct store_check_reading x = { .c = c, .hash = sha256_new() };
    return end_hash(&x, store_read_fd(fd, on_read, &x, why), &d, why);
}

static int look_at_object(struct oci_store_check *c, const char *path, struct err *err)
{
    struct oci_digest d;
    struct err why = { 0 };
    struct store_rotten one = { 0 };
    const char *name = strrchr(path, '/') + 1;
    (void)store_digest_of_name(name, &d);
    int r = store_file_of(c->s, path, &one.file);
    r = r < 0 ? err_sys(&why, r, "look at it") : hash_object(c, d.bytes, &why);
    if (r == -ENOENT || r >= 0) /* removed meanwhile; or it is right */
        return 0;
    r = check_file(c, OCI_STORE_DAMAGED_OBJECT, path, name, &one.file, r, &why, err);
    if (r != DAMAGED)
        return r;
    memcpy(one.digest, d.bytes, sizeof one.digest);
    vec_push(&c->rotten, one);
    return 0;
}

/* Before the layers: one without it is damaged, too. */
static int check_object(void *arg, const uint8_t digest[SHA256_BYTES], const char *path,
                        struct err *err)
{
    struct oci_store_check *c = arg;
    (void)digest;
    c->result.n_objects++;
    return look(c, look_at_object, path, err);
}

static void on_needing(void *arg, const char *name)
{
    struct oci_store_check *c = arg;
    damaged(c, OCI_STORE_DAMAGED_LAYER, name, "a file of it is damaged");
    c->result.n_removed++;
}

/* The layers that need them with them: none is to be here that cannot be read. */
static int drop_rotten(struct oci_store_check *c, struct err *err)
{
    size_t n = 0;
    char name[STORE_HEX_SIZE];
    struct err why = { 0 };
    if (!c->opts->remove || c->rotten.n == 0)
        return 0;
    int r = store_objects_drop(c->s, c->rotten.p, c->rotten.n, on_needing, c, &n, &why);
    c->result.n_removed += n;
    hex_format(c->rotten.p[0].digest, SHA256_BYTES, name);
    if (is_passing(r))
        return unread(c, OCI_STORE_DAMAGED_OBJECT, name, r, &why, err);
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

/* Only the bytes of its tar, or of its blob, which are not parsed. */
static int hash_layer(struct oci_store_check *c, const struct oci_digest *d,
                      const struct store_layer_files *f, struct err *why)
{
    if (!has_tar(f))
        return read_blob(c, &f->blob, why);
    struct store_check_reading x = { .c = c, .hash = sha256_new() };
    return end_hash(&x, oci_store_layer_read(c->s, d, on_read, &x, why), d, why);
}

/* A layer as it is before a look. */
struct looking {
    const char *name;
    struct oci_digest d;
    struct store_layer_files f;
    struct store_layer_seen seen;
};

/* Whether it has other files now, or was removed. */
static bool has_changed(struct oci_store_check *c, const struct looking *k)
{
    struct store_layer_seen now;
    return store_layer_see(c->s, &k->d, &now) >= 0 && !store_layer_seen_same(&now, &k->seen);
}

/* Whether the stored index matches the tar; it is rewritten if not. */
static int check_index(struct oci_store_check *c, const struct looking *k,
                       const struct oci_layer *layer, struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *kept = NULL;
    scoped(buf_fini_scoped) struct buf want = BUF_INIT(INDEX_MAX), have = BUF_INIT(INDEX_MAX);
    struct err why = { 0 };
    int r = oci_layer_index_write(layer, &want, err);
    if (r < 0)
        return r;
    /* Written by this program again: another release of zstd packs differently. */
    int is_bad = oci_store_layer_index(c->s, &k->d, &kept, &why);
    is_bad = is_bad < 0 ? is_bad : oci_layer_index_write(kept, &have, &why);
    if (is_bad >= 0 && str_eq(buf_str(&want), buf_str(&have)))
        return 0;
    if (has_changed(c, k)) /* gc may have removed it with the layer */
        return CHANGED;
    if (is_bad != -ENOENT && is_passing(is_bad))
        return unread(c, OCI_STORE_DAMAGED_INDEX, k->name, is_bad, &why, err);
    damaged(c, OCI_STORE_DAMAGED_INDEX, k->name,
            is_bad < 0 ? err_text(&why) : "it is not what the layer holds");
    if (!c->opts->remove)
        return 0;
    r = store_put_file(c->s, store_path_of("meta/index", &k->d, NULL).p, buf_str(&want), err);
    c->result.n_repaired += r >= 0;
    return r;
}

/* 1: it was dropped; 0: it is held, and stays, or was not to be removed. */
static int drop_skeleton(struct oci_store_check *c, const struct looking *k, struct err *err)
{
    struct err why = { 0 };
    if (!c->opts->remove)
        return 0;
    int r = store_skeleton_drop_seen(c->s, &k->d, &k->seen, &why);
    c->result.n_removed += r == 1;
    return r == -EBUSY ? 0 : r < 0 ? err_set(err, r, "%s", err_text(&why)) : r;
}

static int drop_layer(struct oci_store_check *c, const struct looking *k, struct err *err)
{
    struct err why = { 0 };
    if (!c->opts->remove)
        return 0;
    int r = store_layer_drop_seen(c->s, &k->d, &k->seen, &why);
    c->result.n_removed += r == 1;
    /* -EBUSY: a deployment of this process has it now. */
    return r < 0 && r != -EBUSY ? err_set(err, r, "%s", err_text(&why)) : 0;
}

static int ignore_object(void *arg, const uint8_t digest[SHA256_BYTES], const char *path,
                         struct err *err)
{
    (void)arg, (void)digest, (void)path, (void)err;
    return 0;
}

/* Beside a tar nothing reads the skeleton until the tar leaves. */
static int check_skeleton(struct oci_store_check *c, const struct looking *k, struct err *err)
{
    struct err why = { 0 };
    if (!k->f.has_tar || !k->f.has_skeleton)
        return 0;
    int r = store_each_object_of(c->s, &k->d, ignore_object, NULL, &why);
    if (r >= 0)
        return 0;
    if (has_changed(c, k))
        return CHANGED;
    if (is_passing(r))
        return unread(c, OCI_STORE_DAMAGED_INDEX, k->name, r, &why, err);
    damaged(c, OCI_STORE_DAMAGED_INDEX, k->name, err_text(&why));
    r = drop_skeleton(c, k, err);
    return r < 0 ? r : 0;
}

/*
 * r, or the reason why a layer that could not be read is not damaged: if its bytes match its
 * DiffID, or the blob that had this DiffID when it was imported, the reader failed, which could not
 * start or was killed; if the bytes cannot be read either, the state is unknown.
 */
static int classify_failure(struct oci_store_check *c, const struct looking *k, int r,
                            struct err *why)
{
    struct err hash_why = { 0 };
    if (r == -ECANCELED)
        return r;
    int hashed = hash_layer(c, &k->d, &k->f, &hash_why);
    if (hashed >= 0)
        return err_ctx(why, E_TRAP, "its content is right, but its reader failed");
    return is_passing(hashed) || is_passing(r) ? err_set(why, hashed, "%s", err_text(&hash_why))
                                               : r;
}

/* Read all that is kept of it. *ret: what its tar holds. */
static int read_all(struct oci_store_check *c, const struct looking *k, struct oci_layer **ret,
                    enum oci_store_damage_kind *kind, struct err *why)
{
    bool is_read = false;
    int r = read_layer(c, &k->d, &k->f, ret, &is_read, why);
    if (r < 0 && !(is_read && !has_tar(&k->f))) /* of a blob the reader's DiffID is all there is */
        r = classify_failure(c, k, r, why);
    if (r < 0 || (!k->f.has_blob && !k->f.lost_blob))
        return r;
    *kind = OCI_STORE_DAMAGED_BLOB;
    return k->f.has_blob ? read_blob(c, &k->f.blob, why)
                         : err_set(why, E_CORRUPT, "its blob is lost");
}

static int classify_layer(struct oci_store_check *c, const struct looking *k,
                          enum oci_store_damage_kind kind, int r, const struct err *why,
                          struct err *err)
{
    if (has_changed(c, k))
        return CHANGED;
    if (is_passing(r) || r == -ECANCELED) /* the others may be readable */
        return unread(c, kind, k->name, r, why, err);
    damaged(c, kind, k->name, err_text(why));
    bool is_files = kind == OCI_STORE_DAMAGED_LAYER && k->f.has_skeleton && !k->f.has_tar;
    if (!is_files || !k->f.has_blob)
        return drop_layer(c, k, err);
    r = drop_skeleton(c, k, err); /* the blob may be right */
    return r == 1 ? CHANGED : r;
}

static int look_at_layer(struct oci_store_check *c, const char *name, struct err *err)
{
    struct err why = { 0 };
    struct looking k = { .name = name };
    enum oci_store_damage_kind kind = OCI_STORE_DAMAGED_LAYER;
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    (void)store_digest_of_name(name, &k.d);
    int r = store_layer_see(c->s, &k.d, &k.seen);
    r = r < 0 ? err_sys(&why, r, "look at it") : store_layer_stat(c->s, &k.d, &k.f, &why);
    if (r == -ENOENT)
        return 0;
    r = r < 0 ? r : read_all(c, &k, &layer, &kind, &why);
    if (r < 0)
        return classify_layer(c, &k, kind, r, &why, err);
    r = check_skeleton(c, &k, err);
    return r != 0 ? r : check_index(c, &k, layer, err);
}

static int check_layer(struct oci_store_check *c, const char *name, struct err *err)
{
    struct oci_digest d;
    if (!store_digest_of_name(name, &d) || !oci_store_layer_has(c->s, &d))
        return 0;
    c->result.n_layers++;
    return look(c, look_at_layer, name, err);
}

/* ---- names and leases ---- */

static int look_at_name(struct oci_store_check *c, const char *file, struct err *err)
{
    struct oci_store_image image;
    struct store_file seen;
    struct err why = { 0 };
    size_t n_missing = 0;
    scoped(free_scoped) char *path = xasprintf("refs/%s", file), *name = NULL;
    int r = store_file_of(c->s, path, &seen);
    r = r < 0 ? err_sys(&why, r, "look at it")
              : store_read_image(c->s, file, &c->arena, &image, &why);
    if (r == -ENOENT)
        return 0;
    if (r >= 0) {
        name = str_dup(image.name);
        r = oci_store_image_missing(c->s, &image.manifest, &n_missing, &why);
        r = r == -ENOENT ? E_CORRUPT : r; /* its documents are lost, the name is not */
    }
    if (r < 0) {
        r = check_file(c, OCI_STORE_DAMAGED_NAME, path, name ? name : file, &seen, r, &why, err);
        return r == DAMAGED ? drop(c, path, &seen, err) : r;
    }
    if (n_missing) {
        scoped(free_scoped) char *text =
            xasprintf("%zu of its layers %s missing", n_missing, n_missing == 1 ? "is" : "are");
        damaged(c, OCI_STORE_INCOMPLETE_IMAGE, name, text);
    }
    return 0;
}

static int check_name(struct oci_store_check *c, const char *file, struct err *err)
{
    c->result.n_images++;
    return look(c, look_at_name, file, err);
}

static int lease_is_fine(void *arg, const char *file, const struct store_lease *l, struct err *err)
{
    struct oci_store_check *c = arg;
    size_t n_missing;
    (void)file;
    int r = l->is_over ? 0 : oci_store_image_missing(c->s, &l->manifest, &n_missing, err);
    return r == -ENOENT ? E_CORRUPT : r; /* its documents are lost, the lease is not */
}

static int look_at_lease(struct oci_store_check *c, const char *file, struct err *err)
{
    struct store_file seen;
    struct err why = { 0 };
    scoped(free_scoped) char *path = xasprintf("leases/%s", file);
    int r = store_file_of(c->s, path, &seen);
    r = r < 0 ? err_sys(&why, r, "look at it")
              : store_read_lease(c->s, file, &c->arena, lease_is_fine, c, &why);
    if (r >= 0 || r == -ENOENT)
        return 0;
    r = check_file(c, OCI_STORE_DAMAGED_NAME, path, path, &seen, r, &why, err);
    return r == DAMAGED ? drop(c, path, &seen, err) : r;
}

static int check_lease(struct oci_store_check *c, const char *file, struct err *err)
{
    return look(c, look_at_lease, file, err);
}

const char *oci_store_damage_name(enum oci_store_damage_kind kind)
{
    static const char *const words[] = {
        [OCI_STORE_DAMAGED_LAYER] = "layer", [OCI_STORE_DAMAGED_BLOB] = "blob",
        [OCI_STORE_DAMAGED_INDEX] = "index", [OCI_STORE_DAMAGED_DOCUMENT] = "document",
        [OCI_STORE_DAMAGED_NAME] = "name",   [OCI_STORE_INCOMPLETE_IMAGE] = "incomplete",
        [OCI_STORE_DAMAGED_OBJECT] = "file",
    };
    return words[kind];
}

int oci_store_check_layer(struct oci_store *s, const struct oci_store_check_opts *opts,
                          const struct oci_digest *diff_id, struct oci_store_check_result *ret,
                          struct err *err)
{
    char name[STORE_HEX_SIZE];
    struct err why = { 0 };
    struct oci_store_check c = { .s = s, .opts = opts, .started_ns = clock_mono_ns() };
    int r = opts->remove ? store_must_write(s, err) : 0;
    if (r < 0)
        return r;
    hex_format(diff_id->bytes, SHA256_BYTES, name);
    r = store_each_object_of(s, diff_id, check_object, &c, &why);
    if (r == -ENOENT || r == E_CORRUPT) /* of another form, or reported for the layer */
        r = 0;
    r = is_passing(r) ? unread(&c, OCI_STORE_DAMAGED_LAYER, name, r, &why, err)
        : r < 0       ? err_set(err, r, "%s", err_text(&why))
                      : drop_rotten(&c, err);
    r = r < 0 ? r : check_layer(&c, name, err);
    vec_fini(&c.rotten);
    *ret = c.result;
    if (r < 0)
        return r;
    return c.unread < 0 ? err_set(err, c.unread, "%s", err_text(&c.unread_err)) : 0;
}

int oci_store_check(struct oci_store *s, const struct oci_store_check_opts *opts,
                    struct oci_store_check_result *ret, struct err *err)
{
    struct oci_store_check c = { .s = s, .opts = opts, .started_ns = clock_mono_ns() };
    int r = opts->remove ? store_must_write(s, err) : 0;
    if (r < 0)
        return r;
    r = each_noted(&c, "meta/documents", check_document, err);
    r = r < 0 ? r : store_each_object(s, check_object, &c, err);
    r = r < 0 ? r : drop_rotten(&c, err);
    r = r < 0 ? r : each_noted(&c, "layers", check_layer, err);
    r = r < 0 ? r : each_noted(&c, "refs", check_name, err);
    r = r < 0 ? r : each_noted(&c, "leases", check_lease, err);
    vec_fini(&c.rotten);
    vec_fini(&c.names);
    arena_fini(&c.arena);
    if (r < 0)
        return r;
    *ret = c.result;
    return c.unread < 0 ? err_set(err, c.unread, "%s", err_text(&c.unread_err)) : 0;
}
