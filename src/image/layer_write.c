/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_write.h"

#include "base/sys.h"
#include "codec/pieces.h"
#include "codec/tar_write.h"
#include "oci/tar_split.h"

#include <errno.h>

enum {
    HEADER_MAX_BYTES = 4 << 20,
    /* In eStargz smaller contents share their member with the header that follows, as
     * stargz-snapshotter writes all: a range for so few bytes is not worth asking for. */
    MEMBER_MIN_BYTES = 2 << 10,
    TAIL_MAX_BYTES = 2 * (256 << 20) + 4096, /* of zstd:chunked: table and tar-split */
};

static const uint8_t landmark = OCI_ESTARGZ_LANDMARK;

struct layer_writer {
    const struct image_spool *spool;
    int fd;
    struct pieces *pieces;
    struct sha256 *diff_id, *digest;
    struct buf header;
    struct map names; /* inode -> the item with its first name */
    struct image_layer_blob *blob;
    struct oci_toc *table;            /* NULL: the blob has none */
    struct oci_tar_split *split;      /* of zstd:chunked; else NULL */
    VEC(struct oci_toc_chunk) chunks; /* of the file that is being written */
    struct sha256 *chunk;             /* of the last of them, */
    bool is_in_chunk;                 /* which is not full */
    struct arena names_memory;        /* of the name of an entry */
    VEC(struct oci_member) members;
};

void image_layer_blob_fini(struct image_layer_blob *b)
{
    free(b->members);
    *b = (struct image_layer_blob){ 0 };
}

/* A gzip member ends with the number of bytes that it has when it is inflated. */
static void note_member(struct layer_writer *w, struct str bytes)
{
    struct rd size = rd_init(bytes.p + bytes.n - 4, 4);
    struct oci_member one = { .packed = (uint32_t)bytes.n, .raw = rd_le32(&size) };
    vec_push(&w->members, one);
}

static int on_compressed(void *arg, struct str bytes, struct err *err)
{
    struct layer_writer *w = arg;
    if (w->blob->kind != IMAGE_LAYER_ZSTD_CHUNKED)
        note_member(w, bytes);
    sha256_add(w->digest, bytes.p, bytes.n);
    w->blob->size += bytes.n;
    int r = sys_write_all(w->fd, bytes.p, bytes.n);
    return r < 0 ? err_sys(err, r, "write a layer") : 0;
}

static int add_to_tar(void *arg, struct str bytes, struct err *err)
{
    struct layer_writer *w = arg;
    sha256_add(w->diff_id, bytes.p, bytes.n);
    w->blob->tar_size += bytes.n;
    return pieces_add(w->pieces, bytes, err);
}

/* Write the bytes that are gathered in w->header. */
static int flush_header(struct layer_writer *w, struct err *err)
{
    if (w->split)
        oci_tar_split_bytes(w->split, buf_str(&w->header));
    int r = add_to_tar(w, buf_str(&w->header), err);
    buf_reset(&w->header);
    return r;
}

/* Its entry in the tar; the first name of an inode is remembered. */
static struct tar_entry entry_of(struct layer_writer *w, const struct image_item *item)
{
    const struct oci_entry *e = item->entry;
    struct tar_entry t = {
        .type = (enum tar_type)item->type,
        .path = item->path,
        .link = item->link,
        .mode = e ? e->mode : 0755,
        .uid = e ? e->uid : 0,
        .gid = e ? e->gid : 0,
        .mtime_s = item->mtime_s,
        .mtime_ns = item->mtime_ns,
        .xattrs = e ? e->xattrs : NULL,
        .n_xattrs = e ? e->n_xattrs : 0,
    };
    const struct image_item *first = NULL;
    if (item->inode) {
        struct str key = str_n(&item->inode, sizeof item->inode);
        first = map_get(&w->names, key);
        if (!first)
            (void)map_put(&w->names, key, (void *)item);
    }
    if (first) {
        t.type = TAR_HARDLINK;
        t.link = first->path;
    }
    if (e && e->type != item->type) { /* a symbolic link in the place of a file */
        t.mode = 0777;
        t.n_xattrs = 0;
    }
    if (t.type == TAR_FILE && e)
        t.size = e->size;
    if (t.type == TAR_CHAR_DEVICE || t.type == TAR_BLOCK_DEVICE) {
        t.device_major = e->device_major;
        t.device_minor = e->device_minor;
    }
    return t;
}

/* ---- contents ---- */

static void begin_chunk(struct layer_writer *w, uint64_t at)
{
    struct oci_toc_chunk c = { .offset = w->blob->size, .at = at };
    w->is_in_chunk = true;
    vec_push(&w->chunks, c);
}

static void end_chunk(struct layer_writer *w)
{
    struct oci_toc_chunk *last = &w->chunks.p[w->chunks.n - 1];
    sha256_end(w->chunk, last->digest.bytes);
    w->is_in_chunk = false;
}

/* Chunks are members: each begins where the one before is full. */
static int add_content(void *arg, struct str bytes, struct err *err)
{
    struct layer_writer *w = arg;
    int r = 0;
    while (r >= 0 && w->table && bytes.n) {
        if (!w->is_in_chunk)
            begin_chunk(w, w->chunks.n * (uint64_t)PIECE_BYTES);
        struct oci_toc_chunk *c = &w->chunks.p[w->chunks.n - 1];
        size_t n = (size_t)MIN(PIECE_BYTES - c->n, (uint64_t)bytes.n);
        struct str part = str_slice(bytes, 0, n);
        sha256_add(w->chunk, part.p, part.n);
        if (w->split)
            oci_tar_split_content(w->split, part);
        c->n += n;
        bytes = str_slice(bytes, n, bytes.n);
        if (c->n == PIECE_BYTES)
            end_chunk(w);
        r = add_to_tar(w, part, err);
    }
    return r < 0 || w->table ? r : add_to_tar(w, bytes, err);
}

/* Write the content of the entry, from a spool or from memory. */
struct layer_write_content {
    const struct image_item *item;
    struct str bytes; /* without an item */
};

static int give_content(struct layer_writer *w, const struct layer_write_content *c,
                        struct err *err)
{
    return c->item ? image_spool_read(w->spool, c->item->entry, add_content, w, err)
                   : add_content(w, c->bytes, err);
}

static int add_row(struct layer_writer *w, const struct tar_entry *t,
                   const struct layer_write_content *c, uint64_t end_offset, struct err *err)
{
    struct oci_digest file;
    if (!w->table)
        return 0;
    if (w->is_in_chunk)
        end_chunk(w);
    if (c->item && t->size)
        memcpy(file.bytes, c->item->entry->digest, sizeof file.bytes);
    else
        sha256_of(c->bytes, file.bytes);
    bool has_digest = t->type == TAR_FILE && (t->size || w->blob->kind == IMAGE_LAYER_ESTARGZ);
    int r = oci_toc_add(w->table, t, has_digest ? &file : NULL, w->chunks.p, w->chunks.n,
                        end_offset, err);
    if (w->split)
        oci_tar_split_entry(w->split, oci_toc_name(&w->names_memory, t), t->size);
    arena_reset(&w->names_memory);
    w->chunks.n = 0;
    return r;
}

static int add_entry(struct layer_writer *w, const struct tar_entry *t,
                     const struct layer_write_content *c, struct err *err)
{
    uint64_t least = w->split ? 1 : MEMBER_MIN_BYTES;
    bool is_apart = w->table && t->size >= least;
    int r = tar_write_header(&w->header, t, err);
    r = r < 0 ? r : flush_header(w, err);
    if (r >= 0 && w->table && t->size)
        r = pieces_cut(w->pieces, err);
    if (r >= 0 && t->size)
        r = give_content(w, c, err);
    if (r >= 0 && is_apart)
        r = pieces_cut(w->pieces, err);
    r = r < 0 ? r : add_row(w, t, c, is_apart ? w->blob->size : 0, err);
    (void)tar_write_padding(&w->header, t->size);
    return r < 0 ? r : flush_header(w, err);
}

static int add_item(struct layer_writer *w, const struct image_item *item, struct err *err)
{
    struct tar_entry t = entry_of(w, item);
    const struct layer_write_content c = { .item = item };
    w->blob->n_files += t.type != TAR_DIR;
    int r = add_entry(w, &t, &c, err);
    return r < 0 ? err_ctx(err, r, "'" STR_FMT "'", STR_ARG(str_slice(item->path, 0, 100))) : 0;
}

/* ---- what eStargz has beside the entries ---- */

static int add_landmark(struct layer_writer *w, bool is_prefetched, struct err *err)
{
    const struct tar_entry t = { .path = is_prefetched ? STR(OCI_ESTARGZ_PREFETCH_NAME)
                                                       : STR(OCI_ESTARGZ_NO_PREFETCH_NAME),
                                 .mode = 0444,
                                 .size = sizeof landmark };
    const struct layer_write_content c = { .bytes = str_n(&landmark, sizeof landmark) };
    return w->blob->kind == IMAGE_LAYER_ESTARGZ ? add_entry(w, &t, &c, err) : 0;
}

/* The last entry of the tar, which the table does not list. */
static int add_table(struct layer_writer *w, uint64_t *ret_offset, struct err *err)
{
    struct str json;
    int r = oci_toc_end(w->table, NULL, &json, err);
    r = r < 0 ? r : pieces_cut(w->pieces, err);
    if (r < 0)
        return r;
    const struct tar_entry t = { .path = STR(OCI_ESTARGZ_TABLE_NAME),
                                 .mode = 0444,
                                 .size = json.n };
    *ret_offset = w->blob->size;
    sha256_of(json, w->blob->table.bytes);
    r = tar_write_header(&w->header, &t, err);
    r = r < 0 ? r : flush_header(w, err);
    r = r < 0 ? r : add_to_tar(w, json, err);
    (void)tar_write_padding(&w->header, json.n);
    return r;
}

static int add_footer(struct layer_writer *w, uint64_t table_offset, struct err *err)
{
    scoped(buf_fini_scoped) struct buf footer = BUF_INIT(OCI_ESTARGZ_FOOTER_BYTES);
    (void)oci_estargz_write_footer(&footer, table_offset);
    return on_compressed(w, buf_str(&footer), err);
}

/* ---- the data after the tar in zstd:chunked ---- */

static int add_tail(struct layer_writer *w, struct err *err)
{
    struct str split, json;
    struct oci_digest digest;
    uint64_t n_split;
    scoped(buf_fini_scoped) struct buf tail = BUF_INIT(TAIL_MAX_BYTES);
    int r = oci_tar_split_end(w->split, &split, &n_split, err);
    if (r < 0)
        return r;
    sha256_of(split, digest.bytes);
    r = oci_toc_end(w->table, &digest, &json, err);
    r = r < 0 ? r
              : oci_zstd_chunked_write_tail(json, split, n_split, w->blob->size, &tail,
                                            &w->blob->tail, err);
    return r < 0 ? r : on_compressed(w, buf_str(&tail), err);
}

/* ---- all of it ---- */

static int write_all(struct layer_writer *w, const struct image_item *items, size_t n,
                     size_t n_first, struct err *err)
{
    uint64_t table_offset = 0;
    bool is_estargz = w->blob->kind == IMAGE_LAYER_ESTARGZ;
    if (!w->pieces || (w->blob->kind == IMAGE_LAYER_ZSTD_CHUNKED && !w->split))
        return err_set(err, -ENOMEM, "compress a layer");
    int r = 0;
    for (size_t i = 0; r >= 0 && i <= n; i++) {
        if (i == n_first)
            r = add_landmark(w, n_first > 0, err);
        if (r >= 0 && i < n)
            r = add_item(w, &items[i], err);
    }
    if (r >= 0 && is_estargz)
        r = add_table(w, &table_offset, err);
    (void)tar_write_end(&w->header);
    r = r < 0 ? r : flush_header(w, err);
    r = r < 0 ? r : pieces_end(w->pieces, err);
    if (r >= 0 && w->split)
        r = add_tail(w, err);
    return r < 0 || !is_estargz ? r : add_footer(w, table_offset, err);
}

static int by_path(const void *x, const void *y)
{
    const struct image_item *a = x, *b = y;
    return str_cmp(a->path, b->path);
}

/* Names of eStargz are the layer's own, also where the source was eStargz. Returns how many stay.
 */
static size_t leave_own_names(struct image_item *items, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!oci_estargz_is_own_name(items[i].path))
            items[kept++] = items[i];
    return kept;
}

static bool is_of_start(const struct image_item *item, const struct map *start)
{
    return start && item->type == TAR_FILE && item->entry && item->entry->size &&
           map_has(start, str_n(item->entry->digest, SHA256_BYTES));
}

/* What the start opens comes first, and before that the directories above it; else the order stays.
 * Returns how many they are. */
static size_t put_start_first(struct image_item *items, size_t n, const struct map *start)
{
    struct map first = { .borrows_keys = true }; /* paths */
    size_t n_first = 0, n_rest = 0;
    for (size_t i = 0; i < n; i++) {
        struct str path = items[i].path;
        if (!is_of_start(&items[i], start))
            continue;
        (void)map_put(&first, path, items);
        for (size_t at = path.n; at-- > 0;)
            if (path.p[at] == '/' && map_put(&first, str_slice(path, 0, at), items))
                break;
    }
    scoped(free_scoped) struct image_item *rest = xnew_n(struct image_item, n + 1);
    for (size_t i = 0; i < n; i++)
        if (first.n && (items[i].path.n == 0 || map_has(&first, items[i].path)))
            items[n_first++] = items[i];
        else
            rest[n_rest++] = items[i];
    for (size_t i = 0; i < n_rest; i++)
        items[n_first + i] = rest[i];
    map_fini(&first);
    return n_first;
}

int image_layer_write(struct image_item *items, size_t n, const struct image_spool *spool,
                      const struct image_layer_form *form, int fd, struct image_layer_blob *ret,
                      struct err *err)
{
    bool is_estargz = form->kind == IMAGE_LAYER_ESTARGZ;
    bool is_zstd = form->kind == IMAGE_LAYER_ZSTD_CHUNKED;
    struct image_layer_blob blob = { .kind = form->kind };
    struct oci_toc table;
    struct layer_writer w = {
        .spool = spool,
        .fd = fd,
        .diff_id = sha256_new(),
        .digest = sha256_new(),
        .chunk = sha256_new(),
        .header = BUF_INIT(HEADER_MAX_BYTES),
        .blob = &blob,
    };
    size_t n_first = 0;
    oci_toc_init(&table, is_zstd ? OCI_TOC_ZSTD_CHUNKED : OCI_TOC_ESTARGZ);
    w.table = is_estargz || is_zstd ? &table : NULL;
    w.split = is_zstd ? oci_tar_split_new() : NULL;
    w.pieces = pieces_new(is_zstd ? PIECES_ZSTD : PIECES_GZIP, on_compressed, &w);
    n = is_estargz ? leave_own_names(items, n) : n;
    qsort(items, n, sizeof *items, by_path);
    if (is_estargz)
        n_first = put_start_first(items, n, form->start);
    int r = write_all(&w, items, n, n_first, err);
    sha256_end(w.diff_id, blob.diff_id.bytes);
    sha256_end(w.digest, blob.digest.bytes);
    pieces_free(w.pieces);
    oci_tar_split_free(w.split);
    arena_fini(&w.names_memory);
    sha256_free(w.diff_id);
    sha256_free(w.digest);
    sha256_free(w.chunk);
    vec_fini(&w.chunks);
    oci_toc_fini(&table);
    buf_fini(&w.header);
    map_fini(&w.names);
    blob.members = w.members.p;
    blob.n_members = w.members.n;
    if (r >= 0)
        *ret = blob;
    else
        image_layer_blob_fini(&blob);
    return r;
}
