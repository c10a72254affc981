/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/pull_files.h"

#include "base/map.h"
#include "oci/file_parcel.h"
#include "oci/layer_delta.h"
#include "oci/store_int.h"
#include "oci/table.h"
#include "oci/tree_manifest.h"

#include <errno.h>
#include <fcntl.h>

enum {
    BATCH_BYTES = 16 << 20, /* of files, and of bases, of a request; more only for a single file */
    BASE_RATIO_MAX = 4,     /* a base of so many times the size of the file is not worth reading */
    BASE_FREE_BYTES = 1 << 20,
    READ_BYTES = 256 << 10,
};

/* A file that was received. */
struct arrived {
    uint64_t at; /* in the temporary file */
};

struct pull_files_making {
    const struct oci_pull_files *how;
    struct oci_pull_files_result *result;
    struct buf flat; /* the tree manifest of the layer, read in a confined process */
    struct oci_table_tree tree;
    uint64_t held;                 /* memory of both, of how->tables */
    struct oci_layer_delta *delta; /* NULL: the origin is asked */
    bool asks_only;
    struct map wanted;  /* digests of files that are asked for -> their entries */
    struct map arrived; /* digest -> struct arrived */
    struct arena memory;
    int fd; /* temporary: the received files */
    uint64_t n_spooled;
    char *piece;
};

/* What one request asks for. */
struct pull_files_batch {
    VEC(struct oci_digest) layers, bases, files;
    VEC(struct oci_content) places; /* of the bases */
    VEC(const struct oci_table_file *) entries;
    uint64_t n_base_bytes, n_bytes;
};

static struct str key_of(const uint8_t digest[SHA256_BYTES])
{
    return str_n(digest, SHA256_BYTES);
}

static struct oci_digest digest_of(const struct oci_table_file *e)
{
    struct oci_digest d;
    memcpy(d.bytes, e->digest, sizeof d.bytes);
    return d;
}

/* ---- the tree ---- */

static int fetch_tree(struct pull_files_making *m, struct buf *to, struct err *err)
{
    const struct oci_origin *o = m->how->origin;
    int r = o->parts->tree(o->arg, &m->how->import.diff_id, to, err);
    m->result->n_bytes += to->n;
    return r == -EMSGSIZE ? err_set(err, E_UNSUPPORTED, "the tree manifest is larger than the blob")
                          : r;
}

static int read_tree(struct pull_files_making *m, struct str text, struct err *err)
{
    const struct oci_table table = { .kind = OCI_TABLE_TREE, .bytes = text };
    m->flat = BUF_INIT(OCI_TABLE_FLAT_MAX);
    int r = m->how->tables ? oci_table_read(m->how->tables, &table, &m->flat, &m->held, err)
                           : oci_table_flatten(&table, &m->flat, err);
    return r < 0 ? r : oci_table_tree(buf_str(&m->flat), &m->tree, err);
}

static int get_tree(struct pull_files_making *m, struct err *err)
{
    uint64_t most =
        MIN(m->how->blob_size, (uint64_t)OCI_TREE_MANIFEST_MAX); /* else the blob is less */
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)most);
    int r = m->delta ? 0 : fetch_tree(m, &text, err);
    r = r < 0 ? r : read_tree(m, m->delta ? m->delta->tree : buf_str(&text), err);
    if (r < 0)
        return r;
    if (memcmp(m->tree.diff_id, m->how->import.diff_id.bytes, SHA256_BYTES) != 0)
        return err_set(err, E_PARSE, "the tree manifest is one of other layers");
    m->result->n_tar_bytes = m->tree.skeleton.tar_bytes;
    uint64_t max = oci_import_max_tar_bytes(m->how->import.max_tar_bytes, m->how->blob_size);
    if (m->result->n_tar_bytes > max)
        return err_set(err, E_LIMIT, "the layer has more than %llu bytes", (unsigned long long)max);
    return 0;
}

/* ---- parcels ---- */

static void batch_fini(struct pull_files_batch *b)
{
    vec_fini(&b->layers);
    vec_fini(&b->bases);
    vec_fini(&b->files);
    vec_fini(&b->places);
    vec_fini(&b->entries);
    *b = (struct pull_files_batch){ 0 };
}

static bool has_digest(const struct oci_digest *all, size_t n, const struct oci_digest *d)
{
    for (size_t i = 0; i < n; i++)
        if (oci_digest_equal(&all[i], d))
            return true;
    return false;
}

static void add_base(struct pull_files_batch *b, const struct oci_content *base)
{
    vec_push(&b->bases, base->digest);
    vec_push(&b->places, *base);
    b->n_base_bytes += base->size;
    if (!has_digest(b->layers.p, b->layers.n, &base->layer))
        vec_push(&b->layers, base->layer);
}

static int read_bases(const struct pull_files_making *m, const struct pull_files_batch *b,
                      const uint8_t *has_base, char *to, size_t *ret_n, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < b->places.n; i++) {
        const struct oci_content *c = &b->places.p[i];
        if (!has_base[i])
            continue;
        int r = oci_contents_read(m->how->contents, c, to + n, (size_t)c->size, 0, err);
        if (r < 0)
            return r;
        n += (size_t)c->size;
    }
    *ret_n = n;
    return 0;
}

/* Compare with its digest, and keep. */
static int take_file(struct pull_files_making *m, const struct oci_table_file *e, const char *p,
                     struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    if (map_has(&m->arrived, key_of(e->digest))) /* else what is kept has no bound */
        return err_set(err, E_PARSE, "a file of the layer comes twice");
    sha256_of(str_n(p, (size_t)e->size), digest);
    if (memcmp(digest, e->digest, sizeof digest) != 0)
        return err_set(err, E_DIGEST, "a file is not what its digest says");
    int r = sys_pwrite_all(m->fd, p, (size_t)e->size, m->n_spooled);
    if (r < 0)
        return err_sys(err, r, "write to the store");
    struct arrived *a = arena_new(&m->memory, struct arrived);
    *a = (struct arrived){ m->n_spooled };
    (void)map_put(&m->arrived, key_of(e->digest), a);
    m->n_spooled += e->size;
    return 0;
}

/* r, or -EIO: it is not the parcel that is wrong, but a base of it here. */
static int explain_parcel(struct pull_files_making *m, const struct pull_files_batch *b,
                          const uint8_t *has_base, int r, struct err *err)
{
    for (size_t i = 0; r < 0 && i < b->places.n; i++)
        if (has_base[i])
            r = oci_contents_explain_error(m->how->contents, &b->places.p[i], r, err);
    return r;
}

/* Likewise of the layer that was made. */
static int explain_import(struct pull_files_making *m, int r, struct err *err)
{
    for (size_t i = 0; r < 0 && i < m->tree.skeleton.n_parts; i++) {
        const struct oci_table_file *e = &m->tree.files[i];
        struct oci_digest d = digest_of(e);
        struct oci_content found;
        if (!map_has(&m->arrived, key_of(e->digest)) &&
            oci_contents_find(m->how->contents, &d, e->size, &found))
            r = oci_contents_explain_error(m->how->contents, &found, r, err);
    }
    return r;
}

static int take_parcel(struct pull_files_making *m, const struct pull_files_batch *b,
                       struct str answer, struct err *err)
{
    struct oci_parcel p;
    size_t n_bases = 0;
    int r = oci_parcel_read(answer, &p, err);
    if (r < 0)
        return r;
    if (p.n_bases != b->bases.n || p.n_files != b->files.n || p.n_bytes != b->n_bytes)
        return err_set(err, E_UNSUPPORTED, "the registry does not have all files of the layer");
    scoped(free_scoped) char *bases = mem_try((size_t)b->n_base_bytes + 1);
    scoped(free_scoped) char *files = mem_try((size_t)b->n_bytes + 1);
    if (!bases || !files)
        return err_set(err, -ENOMEM, "files of a layer");
    r = read_bases(m, b, p.has_base, bases, &n_bases, err);
    r = r < 0 ? r : oci_parcel_unpack(&p, str_n(bases, n_bases), files, err);
    uint64_t at = 0;
    for (size_t i = 0; r >= 0 && i < b->entries.n; i++) {
        r = take_file(m, b->entries.p[i], files + at, err);
        at += b->entries.p[i]->size;
    }
    return explain_parcel(m, b, p.has_base, r, err);
}

static int fetch(struct pull_files_making *m, struct pull_files_batch *b, struct err *err)
{
    const struct oci_origin *o = m->how->origin;
    scoped(buf_fini_scoped) struct buf request = BUF_INIT(OCI_PARCEL_REQUEST_MAX);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(OCI_PARCEL_ANSWER_MAX);
    const struct oci_parcel_request q = {
        .layers = b->layers.p,
        .bases = b->bases.p,
        .files = b->files.p,
        .n_layers = b->layers.n,
        .n_bases = b->bases.n,
        .n_files = b->files.n,
    };
    if (b->files.n == 0)
        return 0;
    int r = oci_parcel_request_write(&q, &request, err);
    r = r < 0 ? r : o->parts->parcel(o->arg, buf_str(&request), &answer, err);
    m->result->n_bytes += request.n + answer.n;
    return r < 0 ? r : take_parcel(m, b, buf_str(&answer), err);
}

static void batch_start(struct pull_files_making *m, struct pull_files_batch *b)
{
    batch_fini(b);
    vec_push(&b->layers, m->how->import.diff_id);
}

/* An older version of the file, if there is one that is worth it. */
static bool find_base(struct pull_files_making *m, const struct oci_table_file *e,
                      struct oci_content *ret)
{
    return oci_contents_like(m->how->contents, e->path, ret) &&
           ret->size <= e->size * BASE_RATIO_MAX + BASE_FREE_BYTES &&
           ret->size <= OCI_PARCEL_BYTES_MAX;
}

static int add_to_batch(struct pull_files_making *m, struct pull_files_batch *b,
                        const struct oci_table_file *e, struct err *err)
{
    struct oci_content base;
    bool has_base = find_base(m, e, &base) && !has_digest(b->bases.p, b->bases.n, &base.digest);
    uint64_t n_base = has_base ? base.size : 0;
    bool is_full = b->n_bytes + e->size > BATCH_BYTES || b->n_base_bytes + n_base > BATCH_BYTES ||
                   b->files.n == OCI_PARCEL_FILES_MAX || b->layers.n == OCI_PARCEL_LAYERS_MAX;
    if (b->files.n && is_full) {
        int r = fetch(m, b, err);
        if (r < 0)
            return r;
        batch_start(m, b);
    }
    if (has_base)
        add_base(b, &base);
    vec_push(&b->files, digest_of(e));
    vec_push(&b->entries, e);
    b->n_bytes += e->size;
    return 0;
}

/* The files that the store lacks; *ret_bases: bytes of older versions of them. */
static int find_missing(struct pull_files_making *m, uint64_t *ret_bases, struct err *err)
{
    for (size_t i = 0; i < m->tree.skeleton.n_parts; i++) {
        const struct oci_table_file *e = &m->tree.files[i];
        struct oci_digest d = digest_of(e);
        struct oci_content found;
        if (oci_contents_find(m->how->contents, &d, e->size, &found)) {
            m->result->n_reused += e->size;
            continue;
        }
        if (e->size > OCI_PARCEL_BYTES_MAX)
            return err_set(err, E_UNSUPPORTED, "a file of the layer is too large for a parcel");
        if (!map_put(&m->wanted, key_of(e->digest), (void *)e) && find_base(m, e, &found))
            *ret_bases += MIN(found.size, e->size);
    }
    return 0;
}

static int fetch_missing(struct pull_files_making *m, struct err *err)
{
    struct pull_files_batch b = { 0 };
    int r = 0;
    batch_start(m, &b);
    for (size_t i = 0; r >= 0 && i < m->tree.skeleton.n_parts; i++) {
        const struct oci_table_file *e = &m->tree.files[i];
        if (map_get(&m->wanted, key_of(e->digest)) == e) /* each content once */
            r = add_to_batch(m, &b, e, err);
    }
    r = r < 0 ? r : fetch(m, &b, err);
    batch_fini(&b);
    return r;
}

/* ---- parcels that were made in advance ---- */

/* The batch that a request asked for. all: digest -> entry, of all files of the layer. */
static int read_batch(struct pull_files_making *m, const struct map *all,
                      const struct oci_parcel_request *q, const struct oci_parcel *p,
                      struct pull_files_batch *b, struct err *err)
{
    if (p->n_bases != q->n_bases || p->n_files != q->n_files)
        return err_set(err, E_PARSE, "delta of a layer: request and answer do not fit");
    for (size_t i = 0; i < q->n_files; i++) {
        const struct oci_table_file *e = map_get(all, key_of(q->files[i].bytes));
        if (!e || e->size > OCI_PARCEL_BYTES_MAX)
            return err_set(err, E_PARSE, "delta of a layer: a file is not of the layer");
        vec_push(&b->files, q->files[i]);
        vec_push(&b->entries, e);
        b->n_bytes += e->size;
    }
    for (size_t i = 0; i < q->n_bases; i++) {
        struct oci_content base = { .fd = -1 };
        if (p->has_base[i] && !oci_contents_get(m->how->contents, &q->bases[i], &base))
            return err_set(err, E_UNSUPPORTED, "the store lacks a file of the older version");
        if (base.size > OCI_PARCEL_BYTES_MAX - b->n_base_bytes)
            return err_set(err, E_LIMIT, "delta of a layer: the bases are too large");
        vec_push(&b->bases, q->bases[i]);
        vec_push(&b->places, base);
        b->n_base_bytes += base.size;
    }
    return 0;
}

static int take_made(struct pull_files_making *m, const struct map *all, struct str request,
                     struct str answer, struct err *err)
{
    struct arena a = { .max_bytes = 2 * OCI_PARCEL_REQUEST_MAX };
    struct oci_parcel_request q;
    struct oci_parcel p;
    struct pull_files_batch b = { 0 };
    int r = oci_parcel_request_read(&a, request, &q, err);
    r = r < 0 ? r : oci_parcel_read(answer, &p, err);
    r = r < 0 ? r : read_batch(m, all, &q, &p, &b, err);
    r = r < 0 ? r : take_parcel(m, &b, answer, err);
    batch_fini(&b);
    arena_fini(&a);
    return r;
}

static int take_delta(struct pull_files_making *m, struct err *err)
{
    struct map all = { .borrows_keys = true };
    int r = 0;
    for (size_t i = 0; i < m->tree.skeleton.n_parts; i++) {
        const struct oci_table_file *e = &m->tree.files[i];
        (void)map_put(&all, key_of(e->digest), (void *)e);
    }
    for (size_t i = 0; r >= 0 && i < m->delta->n; i++)
        r = take_made(m, &all, m->delta->parcels[i].request, m->delta->parcels[i].answer, err);
    for (size_t i = 0; r >= 0 && i < m->tree.skeleton.n_parts; i++) {
        struct str key = key_of(m->tree.files[i].digest);
        if (map_has(&m->wanted, key) && !map_has(&m->arrived, key))
            r = err_set(err, E_UNSUPPORTED, "the delta lacks a file that the store lacks, too");
    }
    map_fini(&all);
    return r;
}

/* ---- the tar ---- */

/* From the store, or received (from: NULL), at `at` of the temporary file. */
static int copy_file(struct pull_files_making *m, const struct oci_content *from, uint64_t at,
                     uint64_t size, oci_skeleton_sink sink, void *arg, struct err *err)
{
    int r = 0;
    for (uint64_t done = 0, n; r >= 0 && done < size; done += n) {
        n = MIN(size - done, (uint64_t)READ_BYTES);
        if (from)
            r = oci_contents_read(m->how->contents, from, m->piece, (size_t)n, done, err);
        else if ((uint64_t)sys_pread_full(m->fd, m->piece, (size_t)n, at + done) != n)
            r = err_set(err, -EIO, "read the files that came");
        r = r < 0 ? r : sink(arg, str_n(m->piece, (size_t)n), err);
    }
    return r;
}

static int give_content(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                        void *sink_arg, struct err *err)
{
    struct pull_files_making *m = arg;
    struct oci_digest d;
    struct oci_content found;
    const struct arrived *a = map_get(&m->arrived, key_of(p->digest));
    if (a)
        return copy_file(m, NULL, a->at, p->size, sink, sink_arg, err);
    memcpy(d.bytes, p->digest, sizeof d.bytes);
    if (!oci_contents_find(m->how->contents, &d, p->size, &found))
        return err_set(err, -ENOENT, "a file left the store meanwhile");
    return copy_file(m, &found, 0, p->size, sink, sink_arg, err);
}

static int add_to_import(void *arg, struct str bytes, struct err *err)
{
    return oci_import_add(arg, bytes, err);
}

static int import(struct pull_files_making *m, struct err *err)
{
    struct oci_import_opts opts = m->how->import;
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    opts.has_no_blob = true;
    opts.is_resumable = false;
    opts.blob = opts.diff_id;
    opts.blob_size = m->result->n_tar_bytes;
    /* What is added is the tar. If it begins as a compressed stream does, the import inflates it.
     */
    opts.max_tar_bytes = MAX(m->result->n_tar_bytes, (uint64_t)1);
    int r = oci_import_new(m->how->s, &opts, &im, err);
    r = r < 0 ? r
              : oci_skeleton_make_tar(&m->tree.skeleton, give_content, m, add_to_import, im, err);
    return r < 0 ? r : oci_import_commit(im, err);
}

/* ---- the whole ---- */

static int make(struct pull_files_making *m, struct err *err)
{
    uint64_t n_bases = 0;
    int r = get_tree(m, err);
    r = r < 0 ? r : find_missing(m, &n_bases, err);
    if (r < 0)
        return r;
    if (m->result->n_reused == 0 && n_bases == 0 && m->tree.skeleton.n_parts)
        return err_set(err, E_UNSUPPORTED, "the store has no file of the layer");
    m->fd = sys_openat(m->how->s->fd, ".", O_TMPFILE | O_RDWR, STORE_FILE_MODE);
    if (m->fd < 0)
        return err_sys(err, m->fd, "temporary file in the store");
    r = m->delta ? take_delta(m, err) : fetch_missing(m, err);
    return r < 0 || m->asks_only ? r : explain_import(m, import(m, err), err);
}

static int run(const struct oci_pull_files *how, bool asks_only, struct oci_pull_files_result *ret,
               struct err *err)
{
    int r = 0;
    struct pull_files_making m = {
        .how = how, .result = ret, .asks_only = asks_only, .fd = -1, .piece = xalloc(READ_BYTES)
    };
    *ret = (struct oci_pull_files_result){ 0 };
    if (how->delta.n) {
        m.delta = xnew(struct oci_layer_delta);
        r = oci_layer_delta_read(how->delta, m.delta, err);
        ret->n_bytes = how->delta.n;
    }
    r = r < 0 ? r : make(&m, err);
    free(m.delta);
    oci_table_tree_fini(&m.tree);
    buf_fini(&m.flat);
    oci_table_give_back(how->tables, m.held);
    map_fini(&m.wanted);
    map_fini(&m.arrived);
    arena_fini(&m.memory);
    free(m.piece);
    fd_scoped(&m.fd);
    return r;
}

int oci_pull_files(const struct oci_pull_files *how, struct oci_pull_files_result *ret,
                   struct err *err)
{
    return run(how, false, ret, err);
}

int oci_pull_files_ask(const struct oci_pull_files *how, struct oci_pull_files_result *ret,
                       struct err *err)
{
    return run(how, true, ret, err);
}
