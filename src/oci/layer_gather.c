/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_gather.h"

#include "codec/sha256_pair.h"

#include <assert.h>

enum { ZEROS_BYTES = 64 << 10, TEXT_BLOCK_BYTES = 64 << 10 };
static const enum sha256_of_pair DIFF_ID = SHA256_FIRST, CONTENT = SHA256_SECOND;

struct layer_gather {
    struct oci_layer *layer;
    struct sha256_pair *hashes; /* DIFF_ID, CONTENT: nearly all of a tar is content */
    oci_content_sink sink;      /* or NULL */
    void *sink_arg;
    struct oci_entry *open; /* the file whose content is hashed; NULL: none */
    uint64_t left;          /* bytes of it */
    uint64_t n_content, n_holes;
    uint64_t content_end; /* in the tar: where the content of the files so far ends */
    char head[OCI_LAYER_PYC_HEAD];
    size_t n_head;
    /* The last piece of the tar: entries come after the piece in which their header ends, so their
     * content may begin in it. */
    size_t n_piece, n_hashed; /* bytes of it that the DiffID has */
    char piece[LAYER_GATHER_PIECE];
};

struct layer_gather *layer_gather_new(void)
{
    struct layer_gather *g = xnew(struct layer_gather);
    g->layer = xnew(struct oci_layer);
    g->layer->text.block_bytes = TEXT_BLOCK_BYTES;
    g->hashes = sha256_pair_new();
    return g;
}

void layer_gather_free(struct layer_gather *g)
{
    if (!g)
        return;
    oci_layer_free(g->layer);
    sha256_pair_free(g->hashes);
    free(g);
}

void layer_gather_content(struct layer_gather *g, oci_content_sink sink, void *arg)
{
    g->sink = sink;
    g->sink_arg = arg;
}

static int contradiction(const char *what, struct err *err)
{
    return err_set(err, E_PARSE, "the reader of the layer contradicts itself: %s", what);
}

/* ---- content ---- */

static int close_file(struct layer_gather *g, struct err *err)
{
    struct oci_entry *e = g->open;
    if (!e || g->left)
        return 0;
    sha256_pair_end(g->hashes, CONTENT, e->digest);
    e->records_time = str_has_suffix(e->path, STR(".pyc")) &&
                      oci_layer_pyc_records_time(str_n(g->head, g->n_head));
    g->n_head = 0;
    g->open = NULL;
    return e->size && g->sink ? g->sink(g->sink_arg, e, STR_NULL, err) : 0;
}

/* The next bytes of the open file, which are hashed; no more than it has. */
static int add_content(struct layer_gather *g, struct str bytes, struct err *err)
{
    assert(bytes.n <= g->left);
    g->left -= bytes.n;
    for (size_t i = 0; i < bytes.n && g->n_head < sizeof g->head; i++)
        g->head[g->n_head++] = bytes.p[i];
    int r = bytes.n && g->sink ? g->sink(g->sink_arg, g->open, bytes, err) : 0;
    return r < 0 ? r : close_file(g, err);
}

/* Give the DiffID the last piece up to `to`. */
static void hash_piece(struct layer_gather *g, size_t to)
{
    sha256_pair_add(g->hashes, DIFF_ID, g->piece + g->n_hashed, to - g->n_hashed);
    g->n_hashed = to;
}

/* What the last piece has of the open file, from `at` on in that piece, where the files before it
 * have ended. */
static int add_from_piece(struct layer_gather *g, size_t at, struct err *err)
{
    if (!g->open || g->open->is_sparse)
        return 0;
    size_t n = (size_t)MIN(g->left, (uint64_t)(g->n_piece - at));
    assert(at >= g->n_hashed);
    hash_piece(g, at);
    sha256_pair_add_both(g->hashes, g->piece + at, n);
    g->n_hashed += n;
    return add_content(g, str_n(g->piece + at, n), err);
}

static int on_raw(void *arg, struct str bytes, struct err *err)
{
    struct layer_gather *g = arg;
    if (bytes.n > sizeof g->piece)
        return contradiction("a piece is too large", err);
    hash_piece(g, g->n_piece);
    g->layer->n_bytes += bytes.n;
    memcpy(g->piece, bytes.p, bytes.n);
    g->n_piece = bytes.n;
    g->n_hashed = 0;
    return add_from_piece(g, 0, err);
}

/* Content of a sparse file. */
static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct layer_gather *g = arg;
    if (!g->open || !g->open->is_sparse || bytes.n > g->left)
        return contradiction("content of no file", err);
    sha256_pair_add(g->hashes, CONTENT, bytes.p, bytes.n);
    return add_content(g, bytes, err);
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    static const char zeros[ZEROS_BYTES];
    struct layer_gather *g = arg;
    if (n_bytes > OCI_LAYER_HOLES_MAX - g->n_holes)
        return err_set(err, E_LIMIT, "the holes of a layer's files are larger than %llu bytes",
                       (unsigned long long)OCI_LAYER_HOLES_MAX);
    g->n_holes += n_bytes;
    while (n_bytes) {
        size_t n = (size_t)MIN(n_bytes, (uint64_t)sizeof zeros);
        int r = on_data(g, str_n(zeros, n), err);
        if (r < 0)
            return r;
        n_bytes -= n;
    }
    return 0;
}

/* ---- entries ---- */

/* Its content begins in the last piece, after that of the file before. */
static bool is_in_piece(const struct layer_gather *g, const struct oci_entry *e)
{
    uint64_t end = g->layer->n_bytes, start = end - g->n_piece;
    return e->data_offset >= start && e->data_offset <= end && e->data_offset >= g->content_end;
}

static int on_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    struct layer_gather *g = arg;
    struct oci_entry *own;
    if (g->open)
        return contradiction("a file is incomplete", err);
    if (e->size > OCI_LAYER_CONTENT_MAX - g->n_content)
        return err_set(err, E_LIMIT, "the files of a layer are larger than %llu bytes",
                       (unsigned long long)OCI_LAYER_CONTENT_MAX);
    if (e->data_offset > g->layer->n_bytes || (!e->is_sparse && !is_in_piece(g, e)))
        return contradiction("a file is at another offset", err);
    g->n_content += e->size;
    int r = oci_layer_add_entry(g->layer, e, &own, err);
    if (r < 0 || own->type != TAR_FILE)
        return r;
    g->open = own;
    g->left = own->size;
    if (own->size == 0)
        return close_file(g, err);
    if (own->is_sparse)
        return 0;
    g->content_end = own->data_offset + own->size;
    return add_from_piece(g, (size_t)(own->data_offset - (g->layer->n_bytes - g->n_piece)), err);
}

static int on_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    struct layer_gather *g = arg;
    return g->open ? contradiction("a file is incomplete", err)
                   : oci_layer_add_whiteout(g->layer, w, err);
}

const struct layer_ops layer_gather_ops = {
    .entry = on_entry,
    .data = on_data,
    .hole = on_hole,
    .whiteout = on_whiteout,
    .raw = on_raw,
};

int layer_gather_end(struct layer_gather *g, const struct layer_facts *facts,
                     struct oci_layer **ret, struct err *err)
{
    if (g->open)
        return contradiction("a file is incomplete", err);
    hash_piece(g, g->n_piece);
    sha256_pair_end(g->hashes, DIFF_ID, g->layer->diff_id);
    g->layer->n_dropped = facts->n_dropped;
    *ret = take_ptr(&g->layer);
    return 0;
}
