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

struct check {
    struct oci_store *s;
    const struct oci_store_check_opts *opts;
    struct oci_store_check_result result;
    uint64_t all_bytes, started_ns;
    struct arena arena;
    int unread; /* why the first layer that nothing is known of could not be read */
    struct err unread_err;
    VEC(char *) names; /* of the directory that is looked through, since it changes meanwhile */
};

static void damaged(struct check *c, enum oci_store_damage_kind kind, const char *what,
                    const char *why)
{
    if (kind == OCI_STORE_INCOMPLETE_IMAGE)
        c->result.n_incomplete++;
    else
        c->result.n_damaged++;
    if (c->opts->on_damage)
        c->opts->on_damage(c->opts->arg, kind, what, why);
}

/* Move what is damaged away, if that is wanted. */
static int drop(struct check *c, const char *name, struct err *err)
{
    if (!c->opts->remove)
        return 0;
    int r = store_trash(c->s, name, err);
    return r == -ENOENT ? 0 : r;
}

/* Count bytes that were read; wait when they came too fast. */
static int pace(struct check *c, size_t n, struct err *err)
{
    c->result.n_bytes += n;
    if (c->opts->on_progress)
        c->opts->on_progress(c->opts->arg, c->result.n_bytes, c->all_bytes);
    for (;;) {
        if (c->opts->stop && __atomic_load_n(c->opts->stop, __ATOMIC_RELAXED))
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
    struct check *c = arg;
    (void)err;
    vec_push(&c->names, xstrdup(name));
    return 0;
}

/* Each name that a directory has now. */
static int each_noted(struct check *c, const char *dir,
                      int (*f)(struct check *c, const char *name, struct err *err), struct err *err)
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

static int check_document(struct check *c, const char *name, struct err *err)
{
    struct oci_digest d;
    struct str text;
    struct arena a = { 0 };
    struct err why = { 0 };
    if (!store_digest_of_name(name, &d))
        return 0;
    c->result.n_documents++;
    int r = oci_store_document(c->s, &d, &a, &text, &why);
    arena_fini(&a);
    if (r >= 0 || r == -ENOENT)
        return r < 0 ? 0 : pace(c, text.n, err);
    damaged(c, OCI_STORE_DAMAGED_DOCUMENT, name, err_text(&why));
    return drop(c, store_path_of("meta/documents", &d, NULL).p, err);
}

/* ---- layers ---- */

struct reading {
    struct check *c;
    const struct layer_reading_ops *how; /* NULL: a blob, which is only hashed */
    void *reading;
    struct sha256 *hash;
    bool is_stopped;
};

static int on_read(void *arg, struct str bytes, struct err *err)
{
    struct reading *x = arg;
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

/* What is kept of it, as it lies there: of a layer without a tar the reader inflates the blob. */
static int read_stored(struct check *c, const struct oci_digest *d,
                       const struct store_layer_files *f, struct reading *x, struct err *why)
{
    if (has_tar(f))
        return oci_store_layer_read(c->s, d, on_read, x, why);
    scoped(fd_scoped) int fd = oci_store_blob_fd(c->s, &f->blob, why);
    return fd < 0 ? fd : store_read_fd(fd, on_read, x, why);
}

/* 0, E_CORRUPT and the like with the reason, -ECANCELED. *is_read: set where the reader had all of
 * it, whatever it is. */
static int read_layer(struct check *c, const struct oci_digest *d,
                      const struct store_layer_files *f, struct oci_layer **ret, bool *is_read,
                      struct err *why)
{
    struct layer_facts facts;
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    scoped(layer_gather_free_scoped) struct layer_gather *g = layer_gather_new();
    struct reading x = { .c = c, .how = c->opts->reading ? c->opts->reading : &layer_parse_here };
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
static int end_hash(struct reading *x, int r, const struct oci_digest *d, struct err *why)
{
    uint8_t digest[SHA256_BYTES];
    sha256_end(x->hash, digest);
    sha256_free(x->hash);
    if (r >= 0 && memcmp(digest, d->bytes, sizeof digest) != 0)
        r = err_set(why, E_CORRUPT, "its content is not what its digest says");
    return r;
}

static int read_blob(struct check *c, const struct oci_digest *d, struct err *why)
{
    scoped(fd_scoped) int fd = oci_store_blob_fd(c->s, d, why);
    if (fd < 0)
        return fd;
    struct reading x = { .c = c, .hash = sha256_new() };
    return end_hash(&x, store_read_fd(fd, on_read, &x, why), d, why);
}

/* Of this machine at this moment: it says nothing of what is read. */
static bool is_passing(int r)
{
    return r == -EAGAIN || r == -ENOMEM || r == -EMFILE || r == -ENFILE || r == -ETIMEDOUT ||
           r == E_TRAP;
}

static int hash_object(struct check *c, const uint8_t digest[SHA256_BYTES], struct err *why)
{
    struct oci_digest d;
    memcpy(d.bytes, digest, sizeof d.bytes);
    scoped(fd_scoped) int fd = oci_store_object_fd(c->s, digest, why);
    if (fd < 0)
        return fd;
    struct reading x = { .c = c, .hash = sha256_new() };
    return end_hash(&x, store_read_fd(fd, on_read, &x, why), &d, why);
}

/* Before the layers: one without it is damaged, too. */
static int check_object(void *arg, const uint8_t digest[SHA256_BYTES], const char *path,
                        struct err *err)
{
    struct check *c = arg;
    struct err why = { 0 };
    int r = hash_object(c, digest, &why);
    if (r == -ENOENT) /* removed meanwhile */
        return 0;
    if (r == -ECANCELED || is_passing(r))
        return err_set(err, r, "%s", err_text(&why));
    c->result.n_objects++;
    if (r >= 0)
        return 0;
    damaged(c, OCI_STORE_DAMAGED_OBJECT, strrchr(path, '/') + 1, err_text(&why));
    return drop(c, path, err);
}

/* The bytes of its tar, or of its blob, alone, which no one parses. */
static int hash_layer(struct check *c, const struct oci_digest *d,
                      const struct store_layer_files *f)
{
    if (!has_tar(f))
        return read_blob(c, &f->blob, NULL);
    struct reading x = { .c = c, .hash = sha256_new() };
    return end_hash(&x, oci_store_layer_read(c->s, d, on_read, &x, NULL), d, NULL);
}

/* Whether the index that is kept says what the tar says; written anew where it does not. */
static int check_index(struct check *c, const char *name, const struct oci_digest *d,
                       const struct oci_layer *layer, struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *kept = NULL;
    scoped(buf_fini_scoped) struct buf want = BUF_INIT(INDEX_MAX), have = BUF_INIT(INDEX_MAX);
    struct err why = { 0 };
    int r = oci_layer_index_write(layer, &want, err);
    if (r < 0)
        return r;
    /* Written by this program again: another release of zstd packs differently. */
    int is_bad = oci_store_layer_index(c->s, d, &kept, &why);
    is_bad = is_bad < 0 ? is_bad : oci_layer_index_write(kept, &have, &why);
    if (is_bad >= 0 && str_eq(buf_str(&want), buf_str(&have)))
        return 0;
    damaged(c, OCI_STORE_DAMAGED_INDEX, name,
            is_bad < 0 ? err_text(&why) : "it is not what the layer holds");
    if (!c->opts->remove)
        return 0;
    c->result.n_repaired++;
    return store_put_file(c->s, store_path_of("meta/index", d, NULL).p, buf_str(&want), err);
}

static int drop_layer(struct check *c, const struct oci_digest *d, struct err *err)
{
    if (!c->opts->remove)
        return 0;
    struct err why = { 0 };
    int r = store_layer_drop(c->s, d, STORE_ANY_REFERENCES, &why);
    if (r == -ENOENT || r == -EBUSY) /* gone; or a deployment of this process has it now */
        return 0;
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

/*
 * r, or why a layer that could not be read is not damaged: where its bytes are those of its DiffID,
 * or of the blob that had this DiffID when it came, it was the reader that failed, which could not
 * start or was ended.
 */
static int judge_failure(struct check *c, const struct oci_digest *d,
                         const struct store_layer_files *f, int r, struct err *why)
{
    if (r == -ECANCELED || is_passing(r))
        return r;
    int hashed = hash_layer(c, d, f);
    if (hashed >= 0)
        return err_ctx(why, E_TRAP, "its content is right, but its reader failed");
    return hashed == -ECANCELED || is_passing(hashed) ? err_sys(why, hashed, "read") : r;
}

static int check_layer(struct check *c, const char *name, struct err *err)
{
    struct oci_digest d;
    struct store_layer_files f = { 0 };
    struct err why = { 0 };
    bool is_read = false;
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    if (!store_digest_of_name(name, &d))
        return 0;
    int r = store_layer_stat(c->s, &d, &f, &why);
    if (r == -ENOENT)
        return 0;
    c->result.n_layers++;
    r = r < 0 ? r : read_layer(c, &d, &f, &layer, &is_read, &why);
    if (r < 0 && !oci_store_layer_has(c->s, &d))
        return 0;                            /* removed meanwhile */
    if (r < 0 && !(is_read && !has_tar(&f))) /* of a blob the reader's DiffID is all there is */
        r = judge_failure(c, &d, &f, r, &why);
    enum oci_store_damage_kind kind = OCI_STORE_DAMAGED_LAYER;
    if (r >= 0 && (f.has_blob || f.lost_blob)) {
        r = f.has_blob ? read_blob(c, &f.blob, &why) : err_set(&why, E_CORRUPT, "its blob is lost");
        kind = OCI_STORE_DAMAGED_BLOB;
    }
    if (r == -ECANCELED)
        return err_set(err, r, "check");
    if (is_passing(r)) { /* the others may be readable */
        if (c->result.n_unread++ == 0)
            c->unread = err_set(&c->unread_err, r, "layer %s: %s", name, err_text(&why));
        return 0;
    }
    if (r >= 0)
        return check_index(c, name, &d, layer, err);
    damaged(c, kind, name, err_text(&why));
    return drop_layer(c, &d, err);
}

/* ---- names and leases ---- */

static int check_name(struct check *c, const char *file, struct err *err)
{
    struct oci_store_image image;
    struct err why = { 0 };
    size_t n_missing = 0;
    scoped(free_scoped) char *path = xasprintf("refs/%s", file);
    int r = store_read_image(c->s, file, &c->arena, &image, &why);
    if (r == -ENOENT)
        return 0;
    c->result.n_images++;
    if (r < 0) {
        damaged(c, OCI_STORE_DAMAGED_NAME, file, err_text(&why));
        return drop(c, path, err);
    }
    scoped(free_scoped) char *name = str_dup(image.name);
    r = oci_store_image_missing(c->s, &image.manifest, &n_missing, &why);
    if (r < 0) {
        damaged(c, OCI_STORE_DAMAGED_NAME, name, err_text(&why));
        return drop(c, path, err);
    }
    if (n_missing) {
        scoped(free_scoped) char *text =
            xasprintf("%zu of its layers %s missing", n_missing, n_missing == 1 ? "is" : "are");
        damaged(c, OCI_STORE_INCOMPLETE_IMAGE, name, text);
    }
    return 0;
}

static int lease_is_fine(void *arg, const char *file, const struct store_lease *l, struct err *err)
{
    struct check *c = arg;
    size_t n_missing;
    (void)file;
    int r = l->is_over ? 0 : oci_store_image_missing(c->s, &l->manifest, &n_missing, err);
    return r == -ENOENT ? E_CORRUPT : r; /* its documents are gone, the lease is not */
}

static int check_lease(struct check *c, const char *file, struct err *err)
{
    struct err why = { 0 };
    scoped(free_scoped) char *path = xasprintf("leases/%s", file);
    int r = store_read_lease(c->s, file, &c->arena, lease_is_fine, c, &why);
    if (r >= 0 || r == -ENOENT)
        return 0;
    damaged(c, OCI_STORE_DAMAGED_NAME, path, err_text(&why));
    return drop(c, path, err);
}

const char *oci_store_damage_word(enum oci_store_damage_kind kind)
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
    struct check c = { .s = s, .opts = opts, .started_ns = clock_mono_ns() };
    int r = opts->remove ? store_must_write(s, err) : 0;
    if (r < 0)
        return r;
    hex_format(diff_id->bytes, SHA256_BYTES, name);
    r = store_each_object_of(s, diff_id, check_object, &c, &why);
    if (r == -ENOENT || r == E_CORRUPT) /* of another form, or it is said of the layer */
        r = 0;
    r = r < 0 ? err_set(err, r, "%s", err_text(&why)) : check_layer(&c, name, err);
    *ret = c.result;
    if (r < 0)
        return r;
    return c.unread < 0 ? err_set(err, c.unread, "%s", err_text(&c.unread_err)) : 0;
}

int oci_store_check(struct oci_store *s, const struct oci_store_check_opts *opts,
                    struct oci_store_check_result *ret, struct err *err)
{
    struct oci_store_usage u;
    struct check c = { .s = s, .opts = opts, .started_ns = clock_mono_ns() };
    int r = opts->remove ? store_must_write(s, err) : 0;
    if (r < 0)
        return r;
    oci_store_usage(s, &u);
    c.all_bytes = u.layer_bytes + u.blob_bytes;
    r = each_noted(&c, "meta/documents", check_document, err);
    r = r < 0 ? r : store_each_object(s, check_object, &c, err);
    r = r < 0 ? r : each_noted(&c, "layers", check_layer, err);
    r = r < 0 ? r : each_noted(&c, "refs", check_name, err);
    r = r < 0 ? r : each_noted(&c, "leases", check_lease, err);
    vec_fini(&c.names);
    arena_fini(&c.arena);
    if (r < 0)
        return r;
    *ret = c.result;
    return c.unread < 0 ? err_set(err, c.unread, "%s", err_text(&c.unread_err)) : 0;
}
