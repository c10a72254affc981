/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_parse.h"

#include "codec/decompress.h"
#include "oci/hash_beside.h"
#include "oci/table.h"

#include <assert.h>

struct layer_parser {
    const struct layer_ops *ops;
    void *arg;
    uint64_t max_bytes;
    struct decompressor *decompressor;
    struct tar_reader *tar;
    struct sha256 *diff_id;     /* NULL: the ops get the tar and hash it */
    struct hash_beside *beside; /* computes it instead */
    struct oci_layer *one;      /* the entry that is read: names become whiteouts there */
    bool has_content;           /* of the last entry, for the ops */
    uint64_t n_content;
    struct layer_facts facts;
};

static int on_entry(void *arg, const struct tar_entry *e, struct err *err)
{
    struct layer_parser *p = arg;
    struct oci_entry *added;
    arena_reset(&p->one->text);
    p->one->entries.n = p->one->whiteouts.n = 0;
    p->has_content = false;
    if (e->size > OCI_LAYER_CONTENT_MAX - p->n_content)
        return err_set(err, E_LIMIT, "the files of a layer are larger than %llu bytes",
                       (unsigned long long)OCI_LAYER_CONTENT_MAX);
    p->n_content += e->size;
    int r = oci_layer_add(p->one, e, &added, err);
    if (r < 0)
        return r;
    p->facts.n_dropped = p->one->n_dropped;
    if (p->one->entries.n + p->one->whiteouts.n == 0)
        return 0;
    if (++p->facts.n_entries > OCI_LAYER_ENTRIES_MAX)
        return err_set(err, E_LIMIT, "a layer has more than %d entries", OCI_LAYER_ENTRIES_MAX);
    if (!added)
        return p->ops->whiteout(p->arg, &p->one->whiteouts.p[0], err);
    p->has_content = added->type == TAR_FILE && (added->is_sparse || !p->ops->raw);
    return p->ops->entry(p->arg, added, err);
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct layer_parser *p = arg;
    return p->has_content ? p->ops->data(p->arg, bytes, err) : 0;
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    struct layer_parser *p = arg;
    return p->has_content ? p->ops->hole(p->arg, n_bytes, err) : 0;
}

static int on_tar(void *arg, struct str bytes, struct err *err)
{
    struct layer_parser *p = arg;
    p->facts.n_bytes += bytes.n;
    if (p->facts.n_bytes > p->max_bytes)
        return err_set(err, E_LIMIT, "the layer has more than %llu bytes when decompressed",
                       (unsigned long long)p->max_bytes);
    if (p->beside)
        hash_beside_add(p->beside, bytes.p, bytes.n);
    else if (p->diff_id)
        sha256_add(p->diff_id, bytes.p, bytes.n);
    int r = p->ops->raw ? p->ops->raw(p->arg, bytes, err) : 0;
    return r < 0 ? r : tar_reader_add(p->tar, bytes, err);
}

struct layer_parser *layer_parser_new(const struct layer_ops *ops, void *arg, uint64_t max_bytes)
{
    static const struct tar_ops tar_ops = { .entry = on_entry, .data = on_data, .hole = on_hole };
    struct layer_parser *p = xnew(struct layer_parser);
    p->ops = ops;
    p->arg = arg;
    p->max_bytes = max_bytes;
    p->decompressor = decompressor_new(on_tar, p);
    p->tar = tar_reader_new(&tar_ops, p);
    p->diff_id = ops->raw ? NULL : sha256_new();
    p->one = xnew(struct oci_layer);
    return p;
}

void layer_parser_free(struct layer_parser *p)
{
    if (!p)
        return;
    decompressor_free(p->decompressor);
    tar_reader_free(p->tar);
    sha256_free(p->diff_id);
    hash_beside_free(p->beside);
    oci_layer_free(p->one);
    free(p);
}

void layer_parser_hash_beside(struct layer_parser *p)
{
    assert(p->facts.n_bytes == 0 && !p->beside);
    p->beside = p->diff_id ? hash_beside_new() : NULL;
}

int layer_parser_add(struct layer_parser *p, struct str bytes, struct err *err)
{
    return decompressor_add(p->decompressor, bytes, err);
}

int layer_parser_end(struct layer_parser *p, struct layer_facts *ret, struct err *err)
{
    int r = decompressor_end(p->decompressor, err);
    r = r < 0 ? r : tar_reader_end(p->tar, err);
    if (r < 0)
        return r;
    if (p->beside)
        hash_beside_end(p->beside, p->facts.diff_id);
    else if (p->diff_id)
        sha256_end(p->diff_id, p->facts.diff_id);
    *ret = p->facts;
    return 0;
}

/* ---- in this process ---- */

static int here_start(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                      void **ret, struct err *err)
{
    (void)arg;
    (void)err;
    *ret = layer_parser_new(ops, ops_arg, max_bytes);
    return 0;
}

static int here_add(void *reading, struct str bytes, struct err *err)
{
    return layer_parser_add(reading, bytes, err);
}

static int here_end(void *reading, struct layer_facts *ret, struct err *err)
{
    return layer_parser_end(reading, ret, err);
}

static void here_free(void *reading)
{
    layer_parser_free(reading);
}

static int here_table(void *arg, void **process, const struct oci_table *t, const atomic_bool *stop,
                      struct buf *to, struct err *err)
{
    (void)arg, (void)process, (void)stop;
    return oci_table_flatten(t, to, err);
}

static void here_end_tables(void *process)
{
    (void)process;
}

const struct layer_reading_ops layer_parse_here = {
    .start = here_start,
    .add = here_add,
    .end = here_end,
    .free = here_free,
    .table = here_table,
    .end_tables = here_end_tables,
};
