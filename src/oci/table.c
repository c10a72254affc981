/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/table.h"

#include "oci/layer_index.h"
#include "oci/tree_manifest.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    CHUNK_BYTES = 5 * 8 + SHA256_BYTES,
    CHUNK_COST = 4 * CHUNK_BYTES, /* flat, read, and what a pull notes of it */
    SKIPPABLE_HEAD_BYTES = 8,     /* of the frame of zstd in which the table is */
};

/* ---- what is asked ---- */

void oci_table_write_head(const struct oci_table *t, struct buf *to)
{
    (void)buf_add_le64(to, (uint64_t)t->kind);
    (void)buf_add_le64(to, t->place.at);
    (void)buf_add_le64(to, t->place.n);
    (void)buf_add_le64(to, t->place.n_unpacked);
    (void)buf_add_le64(to, t->size);
    (void)buf_add(to, t->digest.bytes, sizeof t->digest.bytes);
}

int oci_table_read_head(struct str head, struct oci_table *ret, struct err *err)
{
    struct rd r = rd_init(head.p, head.n);
    struct oci_table t = { 0 };
    uint64_t kind = rd_le64(&r);
    t.place.at = rd_le64(&r);
    t.place.n = rd_le64(&r);
    t.place.n_unpacked = rd_le64(&r);
    t.size = rd_le64(&r);
    struct str digest = rd_str(&r, SHA256_BYTES);
    if (!rd_ok(&r) || kind >= OCI_TABLE_KINDS)
        return err_set(err, E_PARSE, "not the head of a table");
    t.kind = (enum oci_table_kind)kind;
    memcpy(t.digest.bytes, digest.p, SHA256_BYTES);
    *ret = t;
    return 0;
}

/* ---- flat forms ---- */

static int end_flat(struct buf *to, struct err *err)
{
    return buf_ok(to) ? 0 : err_sys(err, to->failed, "table of a layer");
}

static int flatten_chunks(const struct oci_chunks *c, struct buf *to, struct err *err)
{
    (void)buf_add_le64(to, c->parts.n);
    for (size_t i = 0; i < c->parts.n; i++) {
        const struct oci_chunk *p = &c->parts.p[i];
        (void)buf_add_le64(to, p->from);
        (void)buf_add_le64(to, p->to);
        (void)buf_add_le64(to, p->at);
        (void)buf_add_le64(to, p->n);
        (void)buf_add_le64(to, p->file_size);
        (void)buf_add(to, p->file.bytes, sizeof p->file.bytes);
    }
    return end_flat(to, err);
}

static int check_digest(const struct oci_table *t, struct str json, struct err *err)
{
    struct oci_digest found;
    sha256_of(json, found.bytes);
    return oci_digest_equal(&found, &t->digest)
               ? 0
               : err_set(err, E_DIGEST, "the table of contents is not what its digest says");
}

static int flatten_toc(const struct oci_table *t, struct buf *to, struct err *err)
{
    bool is_estargz = t->kind == OCI_TABLE_ESTARGZ;
    struct oci_chunks chunks = { 0 };
    scoped(buf_fini_scoped) struct buf json = BUF_INIT(OCI_CHUNKED_TABLE_MAX + 1);
    int r = is_estargz ? oci_estargz_table(t->bytes, &json, err)
                       : oci_zstd_chunked_table(t->bytes, &t->place, &json, err);
    if (r >= 0 && is_estargz)
        r = check_digest(t, buf_str(&json), err);
    if (r >= 0)
        r = is_estargz ? oci_estargz_parts(buf_str(&json), &t->place, t->size, &chunks, err)
                       : oci_zstd_chunked_parts(buf_str(&json), &t->place, &chunks, err);
    r = r < 0 ? r : flatten_chunks(&chunks, to, err);
    oci_chunks_fini(&chunks);
    return r;
}

struct oci_table_adding {
    struct buf *to;
    uint64_t left; /* what the layer has: the frame of a stranger may unpack to more */
};

static int add_to_flat(void *arg, struct str bytes, struct err *err)
{
    struct oci_table_adding *a = arg;
    if (bytes.n > a->left)
        return err_set(err, E_CORRUPT, "tree manifest: a skeleton has another size");
    a->left -= bytes.n;
    int r = buf_add_str(a->to, bytes);
    return r < 0 ? err_sys(err, r, "table of a layer") : 0;
}

static int add_rest(const struct oci_skeleton *k, struct buf *to, struct err *err)
{
    struct oci_table_adding a = { to, oci_skeleton_frame_bytes(k) };
    int r = oci_skeleton_unpack(k, add_to_flat, &a, err);
    return r < 0 || a.left == 0
               ? r
               : err_set(err, E_CORRUPT, "tree manifest: a skeleton has another size");
}

static int flatten_layer(const struct oci_tree_layer *l, struct buf *to, struct err *err)
{
    (void)buf_add(to, l->layer->diff_id, SHA256_BYTES);
    (void)buf_add_le64(to, l->skeleton.tar_bytes);
    (void)buf_add_le64(to, l->skeleton.n_parts);
    (void)buf_add_str(to, l->skeleton.parts);
    vec_each (e, &l->layer->entries)
        if (oci_skeleton_has(e))
            (void)buf_add_le16(to, (uint16_t)e->path.n);
    vec_each (e, &l->layer->entries)
        if (oci_skeleton_has(e))
            (void)buf_add_str(to, e->path);
    int r = add_rest(&l->skeleton, to, err);
    return r < 0 ? r : end_flat(to, err);
}

static int flatten_tree(const struct oci_table *t, struct buf *to, struct err *err)
{
    struct oci_tree_manifest m;
    int r = oci_tree_manifest_read(t->bytes, &m, err);
    if (r < 0)
        return r;
    r = m.n == 1 ? flatten_layer(&m.layers[0], to, err)
                 : err_set(err, E_PARSE, "the tree manifest has no layer");
    oci_tree_manifest_fini(&m);
    return r;
}

static int flatten_index(const struct oci_table *t, struct buf *to, struct err *err)
{
    struct str index;
    int r = oci_tree_manifest_index(t->bytes, &index, err);
    return r < 0 ? r : oci_layer_index_flatten(index, to, err);
}

int oci_table_flatten(const struct oci_table *t, struct buf *to, struct err *err)
{
    switch (t->kind) {
    case OCI_TABLE_TREE:
        return flatten_tree(t, to, err);
    case OCI_TABLE_LAYER:
        return flatten_index(t, to, err);
    case OCI_TABLE_ESTARGZ:
    case OCI_TABLE_ZSTD_CHUNKED:
        break;
    }
    return flatten_toc(t, to, err);
}

/* ---- the process that reads them ---- */

struct oci_table_reader {
    const struct layer_reading_ops *ops;
    void *arg, *process;
    pthread_mutex_t mutex; /* of the process */
    _Atomic uint64_t held; /* memory of tables */
    const atomic_bool *stop;
    atomic_bool has_stalled;
};

struct oci_table_reader *oci_table_reader_new(const struct layer_reading_ops *ops, void *arg,
                                              const atomic_bool *stop)
{
    struct oci_table_reader *r = xnew(struct oci_table_reader);
    r->ops = ops ? ops : &layer_parse_here;
    r->arg = arg;
    r->stop = stop;
    (void)pthread_mutex_init(&r->mutex, NULL);
    return r;
}

void oci_table_reader_free(struct oci_table_reader *r)
{
    if (!r)
        return;
    r->ops->end_tables(r->process);
    (void)pthread_mutex_destroy(&r->mutex);
    free(r);
}

bool oci_table_reader_has_stalled(const struct oci_table_reader *r)
{
    return atomic_load(&r->has_stalled);
}

/* In memory, with what is made of it. */
static uint64_t cost_of(const struct oci_table *t, struct str flat)
{
    if (t->kind == OCI_TABLE_LAYER)
        return flat.n;
    if (t->kind != OCI_TABLE_TREE)
        return flat.n / CHUNK_BYTES * CHUNK_COST;
    struct rd r = rd_init(flat.p, flat.n);
    (void)rd_str(&r, SHA256_BYTES);
    (void)rd_le64(&r);
    uint64_t n = rd_le64(&r), n_max = flat.n / OCI_SKELETON_PART_BYTES;
    return flat.n + MIN(n, n_max) * sizeof(struct oci_table_file);
}

static int read_within(struct oci_table_reader *r, const struct oci_table *t, struct buf *to,
                       uint64_t *ret_held, struct err *err)
{
    size_t before = to->n;
    uint64_t left = OCI_TABLES_HELD_MAX - atomic_load(&r->held), cost = 0;
    if (r->stop && atomic_load(r->stop)) /* set while another table was read, perhaps */
        return err_set(err, -ECANCELED, "reading a table was canceled");
    if (oci_table_reader_has_stalled(r))
        return err_set(err, E_UNSUPPORTED, "the reader of tables has stalled");
    to->max = MIN(to->max, before + (size_t)left);
    int status = r->ops->table(r->arg, &r->process, t, r->stop, to, err);
    if (status == -ETIMEDOUT)
        atomic_store(&r->has_stalled, true);
    if (status >= 0)
        cost = cost_of(t, str_slice(buf_str(to), before, to->n));
    if (to->failed == -EMSGSIZE || cost > left)
        return err_set(err, -ENOMEM, "the tables of the layers take too much memory");
    if (status < 0)
        return status;
    (void)atomic_fetch_add(&r->held, cost);
    *ret_held = cost;
    return 0;
}

int oci_table_read(struct oci_table_reader *r, const struct oci_table *t, struct buf *to,
                   uint64_t *ret_held, struct err *err)
{
    (void)pthread_mutex_lock(&r->mutex);
    int status = read_within(r, t, to, ret_held, err);
    (void)pthread_mutex_unlock(&r->mutex);
    return status;
}

void oci_table_give_back(struct oci_table_reader *r, uint64_t held)
{
    if (held == 0)
        return;
    uint64_t before = atomic_fetch_sub(&r->held, held);
    assert(before >= held);
}

/* ---- reading the flat forms ---- */

static int bad(struct err *err, const char *what)
{
    return err_set(err, E_PARSE, "table of a layer: %s", what);
}

int oci_table_chunks(const struct oci_table *t, struct str flat, struct oci_chunks *ret,
                     struct err *err)
{
    struct rd r = rd_init(flat.p, flat.n);
    struct oci_chunks c = { 0 };
    uint64_t n = rd_le64(&r), at = 0;
    uint64_t end = t->kind == OCI_TABLE_ESTARGZ
                       ? t->size
                       : t->place.at - MIN(t->place.at, (uint64_t)SKIPPABLE_HEAD_BYTES);
    if (n > OCI_CHUNKED_PARTS_MAX)
        return err_set(err, E_LIMIT, "table of a layer: more than %d parts", OCI_CHUNKED_PARTS_MAX);
    if (!rd_ok(&r) || rd_left(&r) != n * CHUNK_BYTES)
        return bad(err, "it has another length");
    c.parts.p = mem_try((size_t)(n + 1) * sizeof *c.parts.p);
    if (!c.parts.p)
        return err_set(err, -ENOMEM, "table of a layer");
    c.parts.cap = (size_t)n + 1;
    int status = 0;
    for (uint64_t i = 0; i < n && status >= 0; i++) {
        struct oci_chunk p = { 0 };
        p.from = rd_le64(&r);
        p.to = rd_le64(&r);
        p.at = rd_le64(&r);
        p.n = rd_le64(&r);
        p.file_size = rd_le64(&r);
        memcpy(p.file.bytes, rd_str(&r, SHA256_BYTES).p, SHA256_BYTES);
        if (p.from != at || p.to <= p.from || p.to > end)
            status = bad(err, "its parts do not follow each other");
        else if (p.at > p.file_size || p.n > p.file_size - p.at)
            status = bad(err, "a part is not in its file");
        at = p.to;
        vec_push(&c.parts, p);
    }
    if (status >= 0 && at != end)
        status = bad(err, "its parts do not cover the blob");
    if (status < 0)
        oci_chunks_fini(&c);
    else
        *ret = c;
    return status;
}

void oci_table_tree_fini(struct oci_table_tree *t)
{
    free(t->files);
    *t = (struct oci_table_tree){ 0 };
}

int oci_table_tree(struct str flat, struct oci_table_tree *ret, struct err *err)
{
    struct rd r = rd_init(flat.p, flat.n);
    struct oci_table_tree t = { 0 };
    struct str diff_id = rd_str(&r, SHA256_BYTES);
    uint64_t tar_bytes = rd_le64(&r), n = rd_le64(&r);
    if (rd_ok(&r) && n > OCI_TABLE_FILES_MAX)
        return err_set(err, E_LIMIT, "table of a layer: more than %zu files",
                       (size_t)OCI_TABLE_FILES_MAX);
    if (!rd_ok(&r) || n > rd_left(&r) / OCI_SKELETON_PART_BYTES)
        return bad(err, "it is cut short");
    struct str parts = rd_str(&r, n * OCI_SKELETON_PART_BYTES);
    struct str lengths = rd_str(&r, n * 2);
    if (!rd_ok(&r))
        return bad(err, "it is cut short");
    t.files = mem_try(((size_t)n + 1) * sizeof *t.files);
    if (!t.files)
        return err_set(err, -ENOMEM, "table of a layer");
    struct rd length = rd_init(lengths.p, lengths.n);
    for (uint64_t i = 0; i < n; i++)
        t.files[i].path = rd_str(&r, rd_le16(&length));
    memcpy(t.diff_id, diff_id.p, SHA256_BYTES);
    int status = rd_ok(&r) ? oci_skeleton_of_parts(parts, tar_bytes,
                                                   str_slice(flat, flat.n - rd_left(&r), flat.n),
                                                   &t.skeleton, err)
                           : bad(err, "it is cut short");
    for (size_t i = 0; status >= 0 && i < t.skeleton.n_parts; i++) {
        struct oci_skeleton_part p = oci_skeleton_part(&t.skeleton, i);
        t.files[i].size = p.size;
        memcpy(t.files[i].digest, p.digest, SHA256_BYTES);
    }
    if (status < 0)
        oci_table_tree_fini(&t);
    else
        *ret = t;
    return status;
}

int oci_table_layer(struct str flat, struct oci_layer **ret, struct err *err)
{
    int r = oci_layer_index_read_flat(flat, ret, err);
    return r == E_CORRUPT || r == E_VERSION ? err_ctx(err, E_PARSE, "table of a layer") : r;
}
