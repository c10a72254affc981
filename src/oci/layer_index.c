/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and reading meet in `columns`: the body is one array after the other. */
#include "oci/layer_index.h"

#include "base/sum.h"
#include "codec/decompress.h"

#include <errno.h>
#include <zstd.h>

enum {
    HEADER_BYTES = 8 + 4 * 4 + SHA256_BYTES + 4 * 8,
    SUM_BYTES = 8,
    LEVEL = 9,
    SPARSE = 0x80,
    WHITEOUT_BYTES = 3, /* of the columns */
};
/* Columns take less than the entries and whiteouts in memory, the texts are in both. */
#define BODY_MAX ((uint64_t)OCI_LAYER_MEMORY_MAX)

enum { MAGIC_BYTES = 8 };
static const char MAGIC[MAGIC_BYTES] = { 'D', 'M', 'L', 'A', 'Y', 'I', 'D', 'X' };
static const char FLAT_MAGIC[MAGIC_BYTES] = { 'D', 'M', 'L', 'A', 'Y', 'F', 'L', 'T' };

enum layer_index_column {
    COL_TYPE,
    COL_MODE,
    COL_UID,
    COL_GID,
    COL_MTIME,
    COL_MTIME_NS,
    COL_SIZE,
    COL_MAJOR,
    COL_MINOR,
    COL_PLACE,
    COL_OFFSET,
    COL_PATH_SHARED,
    COL_PATH_REST,
    COL_LINK,
    COL_XATTRS,
    COLUMNS
};

static const uint8_t width[COLUMNS] = {
    [COL_TYPE] = 1,      [COL_MODE] = 2,     [COL_UID] = 4,    [COL_GID] = 4,
    [COL_MTIME] = 8,     [COL_MTIME_NS] = 4, [COL_SIZE] = 8,   [COL_MAJOR] = 4,
    [COL_MINOR] = 4,     [COL_PLACE] = 4,    [COL_OFFSET] = 8, [COL_PATH_SHARED] = 2,
    [COL_PATH_REST] = 2, [COL_LINK] = 2,     [COL_XATTRS] = 2,
};

static size_t entry_bytes(void)
{
    size_t n = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        n += width[i];
    return n;
}

static bool has_digest(const struct oci_entry *e)
{
    return e->type == TAR_FILE && e->size > 0;
}

/* Where the content of the entry that follows `e` in the archive probably begins. */
static uint64_t likely_offset(const struct oci_entry *e)
{
    uint64_t blocks = (e->size + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES;
    return e->data_offset + (blocks + 1) * TAR_BLOCK_BYTES;
}

static size_t shared_prefix(struct str a, struct str b)
{
    size_t n = 0, most = MIN(a.n, b.n);
    while (n < most && a.p[n] == b.p[n])
        n++;
    return n;
}

uint64_t oci_layer_index_sum(struct str bytes)
{
    return sum64(bytes, OCI_LAYER_INDEX_VERSION);
}

/* ---- writing ---- */

static int by_path(const void *a, const void *b)
{
    const struct oci_entry *x = *(const struct oci_entry *const *)a;
    const struct oci_entry *y = *(const struct oci_entry *const *)b;
    int c = str_cmp(x->path, y->path);
    return c ? c : (x > y) - (x < y); /* of the same path the earlier one in the archive first */
}

static const struct oci_entry **sort_entries(const struct oci_layer *layer)
{
    size_t n = layer->entries.n;
    const struct oci_entry **sorted = xnew_n(const struct oci_entry *, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &layer->entries.p[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_path);
    return sorted;
}

static uint64_t column_value(const struct oci_layer *layer, const struct oci_entry *e,
                             const struct oci_entry *before, enum layer_index_column c)
{
    const struct oci_entry *first = layer->entries.p;
    struct str shared = before ? before->path : STR_NULL;
    switch (c) {
    case COL_TYPE:
        return (uint64_t)e->type | (e->is_sparse ? SPARSE : 0u);
    case COL_MODE:
        return e->mode;
    case COL_UID:
        return e->uid;
    case COL_GID:
        return e->gid;
    case COL_MTIME:
        return (uint64_t)e->mtime_s;
    case COL_MTIME_NS:
        return e->mtime_ns;
    case COL_SIZE:
        return e->size;
    case COL_MAJOR:
        return e->device_major;
    case COL_MINOR:
        return e->device_minor;
    case COL_PLACE:
        return (uint64_t)(e - first) - (before ? (uint64_t)(before - first) + 1 : 0);
    case COL_OFFSET:
        return e->data_offset - (e == first ? 0 : likely_offset(e - 1));
    case COL_PATH_SHARED:
        return shared_prefix(e->path, shared);
    case COL_PATH_REST:
        return e->path.n - shared_prefix(e->path, shared);
    case COL_LINK:
        return e->link.n;
    case COL_XATTRS:
        return e->n_xattrs;
    case COLUMNS:
        break;
    }
    return 0;
}

static void add_number(struct buf *b, uint64_t v, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        (void)buf_add_u8(b, (uint8_t)(v >> (8 * i)));
}

static void add_column(struct buf *b, const struct oci_layer *layer,
                       const struct oci_entry **sorted, enum layer_index_column c)
{
    for (size_t i = 0; i < layer->entries.n; i++)
        add_number(b, column_value(layer, sorted[i], i ? sorted[i - 1] : NULL, c), width[c]);
}

static void add_texts(struct buf *b, const struct oci_entry *e, const struct oci_entry *before)
{
    size_t shared = before ? shared_prefix(e->path, before->path) : 0;
    (void)buf_add_str(b, str_slice(e->path, shared, e->path.n));
    (void)buf_add_str(b, e->link);
    for (uint32_t i = 0; i < e->n_xattrs; i++) {
        const struct tar_xattr *x = &e->xattrs[i];
        (void)buf_add_le32(b, (uint32_t)x->name.n);
        (void)buf_add_le32(b, (uint32_t)x->value.n);
        (void)buf_add_str(b, x->name);
        (void)buf_add_str(b, x->value);
    }
}

static void add_body(struct buf *b, const struct oci_layer *layer, const struct oci_entry **sorted)
{
    for (enum layer_index_column c = 0; c < COLUMNS; c++)
        add_column(b, layer, sorted, c);
    for (size_t i = 0; i < layer->whiteouts.n; i++)
        (void)buf_add_u8(b, layer->whiteouts.p[i].is_opaque);
    for (size_t i = 0; i < layer->whiteouts.n; i++)
        (void)buf_add_le16(b, (uint16_t)layer->whiteouts.p[i].path.n);
    for (size_t i = 0; i < layer->entries.n; i++)
        add_texts(b, sorted[i], i ? sorted[i - 1] : NULL);
    for (size_t i = 0; i < layer->whiteouts.n; i++)
        (void)buf_add_str(b, layer->whiteouts.p[i].path);
}

static int pack(struct str body, struct buf *to, size_t *ret_n, struct err *err)
{
    size_t most = ZSTD_compressBound(body.n);
    scoped(free_scoped) char *room = mem_try(most ? most : 1);
    if (!room)
        return err_set(err, -ENOMEM, "layer index");
    size_t n = ZSTD_compress(room, most, body.p, body.n, LEVEL);
    if (ZSTD_isError(n))
        return err_set(err, -ENOMEM, "layer index: %s", ZSTD_getErrorName(n));
    *ret_n = n;
    int r = buf_add(to, room, n);
    return r < 0 ? err_sys(err, r, "layer index") : 0;
}

static void add_header(struct buf *to, const struct oci_layer *layer, size_t n_digests,
                       uint64_t n_body, uint64_t n_packed)
{
    (void)buf_add(to, MAGIC, sizeof MAGIC);
    (void)buf_add_le32(to, OCI_LAYER_INDEX_VERSION);
    (void)buf_add_le32(to, (uint32_t)layer->entries.n);
    (void)buf_add_le32(to, (uint32_t)layer->whiteouts.n);
    (void)buf_add_le32(to, (uint32_t)n_digests);
    (void)buf_add(to, layer->diff_id, sizeof layer->diff_id);
    (void)buf_add_le64(to, layer->n_bytes);
    (void)buf_add_le64(to, layer->n_dropped);
    (void)buf_add_le64(to, n_body);
    (void)buf_add_le64(to, n_packed);
}

int oci_layer_index_write(const struct oci_layer *layer, struct buf *to, struct err *err)
{
    scoped(free_scoped) const struct oci_entry **sorted = sort_entries(layer);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(BODY_MAX);
    scoped(buf_fini_scoped) struct buf packed = BUF_INIT(BODY_MAX);
    size_t start = to->n, n_digests = 0, n_packed = 0;
    add_body(&body, layer, sorted);
    int r = buf_ok(&body) ? pack(buf_str(&body), &packed, &n_packed, err)
                          : err_sys(err, body.failed, "layer index");
    if (r < 0)
        return r;
    for (size_t i = 0; i < layer->entries.n; i++)
        n_digests += has_digest(sorted[i]);
    add_header(to, layer, n_digests, body.n, n_packed);
    (void)buf_add_str(to, buf_str(&packed));
    for (size_t i = 0; i < layer->entries.n; i++)
        if (has_digest(sorted[i]))
            (void)buf_add(to, sorted[i]->digest, SHA256_BYTES);
    if (buf_ok(to))
        (void)buf_add_le64(to, oci_layer_index_sum(str_n(to->p + start, to->n - start)));
    return buf_ok(to) ? 0 : err_sys(err, to->failed, "layer index");
}

/* ---- reading ---- */

struct layer_index_header {
    uint32_t n_entries, n_whiteouts, n_digests;
    uint8_t diff_id[SHA256_BYTES];
    uint64_t n_tar, n_dropped, n_body, n_packed;
};

static int damaged(struct err *err, const char *what)
{
    return err_set(err, E_CORRUPT, "layer index: %s", what);
}

static int read_header(struct rd *r, const char *magic, struct layer_index_header *h,
                       struct err *err)
{
    struct str found = rd_str(r, MAGIC_BYTES);
    uint32_t version = rd_le32(r);
    if (!rd_ok(r) || memcmp(found.p, magic, MAGIC_BYTES) != 0)
        return damaged(err, "wrong magic number");
    if (version != OCI_LAYER_INDEX_VERSION)
        return err_set(err, E_VERSION, "layer index of version %u", version);
    h->n_entries = rd_le32(r);
    h->n_whiteouts = rd_le32(r);
    h->n_digests = rd_le32(r);
    struct str id = rd_str(r, SHA256_BYTES);
    h->n_tar = rd_le64(r);
    h->n_dropped = rd_le64(r);
    h->n_body = rd_le64(r);
    h->n_packed = rd_le64(r);
    if (!rd_ok(r))
        return damaged(err, "it is cut short");
    memcpy(h->diff_id, id.p, sizeof h->diff_id);
    uint64_t n = (uint64_t)h->n_entries + h->n_whiteouts;
    if (n > OCI_LAYER_ENTRIES_MAX || h->n_digests > h->n_entries || h->n_body > BODY_MAX ||
        h->n_entries * sizeof(struct oci_entry) > OCI_LAYER_MEMORY_MAX)
        return err_set(err, E_LIMIT, "layer index: more than a layer may have");
    if (h->n_body < (uint64_t)h->n_entries * entry_bytes() + h->n_whiteouts * WHITEOUT_BYTES)
        return damaged(err, "its counts do not add up");
    return 0;
}

static int unpack(struct str packed, uint64_t n_body, char **ret, struct err *err)
{
    /* The frame contains its size; memory is allocated only if that is the expected one. */
    if (ZSTD_getFrameContentSize(packed.p, packed.n) != n_body)
        return damaged(err, "its body has another size");
    scoped(free_scoped) char *body = mem_try((size_t)n_body + 1);
    if (!body)
        return err_set(err, -ENOMEM, "layer index");
    size_t n = ZSTD_decompress(body, (size_t)n_body, packed.p, packed.n);
    if (ZSTD_isError(n) && decompress_zstd_code(n) == -ENOMEM)
        return err_set(err, -ENOMEM, "layer index");
    if (ZSTD_isError(n) || n != n_body)
        return damaged(err, "its body does not unpack");
    *ret = take_ptr(&body);
    return 0;
}

/* What is being read: the columns by position, the texts by a cursor. */
struct body {
    const uint8_t *columns[COLUMNS];
    size_t n;
    struct rd whiteouts, lengths, texts, digests;
};

static void open_body(struct body *b, const struct layer_index_header *h, const char *p)
{
    const uint8_t *at = (const uint8_t *)p;
    for (size_t c = 0; c < COLUMNS; c++) {
        b->columns[c] = at;
        at += (size_t)width[c] * h->n_entries;
    }
    b->n = h->n_entries;
    b->whiteouts = rd_init(at, h->n_whiteouts);
    b->lengths = rd_init(at + h->n_whiteouts, (size_t)2 * h->n_whiteouts);
    at += (size_t)WHITEOUT_BYTES * h->n_whiteouts;
    b->texts = rd_init(at, (size_t)h->n_body - (size_t)(at - (const uint8_t *)p));
}

static uint64_t value(const struct body *b, enum layer_index_column c, size_t i)
{
    uint64_t v = 0;
    for (size_t k = width[c]; k > 0; k--)
        v = v << 8 | b->columns[c][i * width[c] + k - 1];
    return v;
}

static char *text_room(struct oci_layer *layer, size_t n)
{
    return arena_try(&layer->text, n + 1);
}

static bool is_normal(struct str path)
{
    char room[TAR_PATH_MAX];
    struct str again;
    return tar_normalize(path, room, &again, NULL) == 0 && str_eq(path, again);
}

static int read_path(struct body *b, size_t i, struct str before, struct oci_layer *layer,
                     struct str *ret, struct err *err)
{
    size_t shared = (size_t)value(b, COL_PATH_SHARED, i);
    struct str rest = rd_str(&b->texts, value(b, COL_PATH_REST, i));
    if (!rd_ok(&b->texts) || shared > before.n)
        return damaged(err, "a path is cut short");
    char *p = text_room(layer, shared + rest.n);
    if (!p)
        return err_set(err, E_LIMIT, "layer index: too many names");
    if (shared)
        memcpy(p, before.p, shared);
    if (rest.n)
        memcpy(p + shared, rest.p, rest.n);
    *ret = str_n(p, shared + rest.n);
    if (!is_normal(*ret) || !oci_layer_is_entry_path(*ret))
        return damaged(err, "a path is none");
    if (i && str_cmp(before, *ret) > 0)
        return damaged(err, "its paths are not sorted");
    return 0;
}

static int copy_text(struct oci_layer *layer, struct str s, struct str *ret, struct err *err)
{
    char *p = text_room(layer, s.n);
    if (!p)
        return err_set(err, E_LIMIT, "layer index: too many names");
    if (s.n)
        memcpy(p, s.p, s.n);
    *ret = str_n(p, s.n);
    return 0;
}

static int read_link(struct body *b, size_t i, struct oci_layer *layer, struct oci_entry *e,
                     struct err *err)
{
    struct str link = rd_str(&b->texts, value(b, COL_LINK, i));
    bool has_link = e->type == TAR_SYMLINK || e->type == TAR_HARDLINK;
    if (!rd_ok(&b->texts) || (!has_link && link.n) || link.n > TAR_PATH_MAX)
        return damaged(err, "a link is none");
    if (memchr(link.n ? link.p : "x", '\0', link.n) ||
        (e->type == TAR_HARDLINK && !is_normal(link)))
        return damaged(err, "the target of a link is none");
    return copy_text(layer, link, &e->link, err);
}

static int read_xattrs(struct body *b, size_t i, struct oci_layer *layer, struct oci_entry *e,
                       struct err *err)
{
    size_t n = (size_t)value(b, COL_XATTRS, i), bytes = 0;
    if (n == 0)
        return 0;
    if (n > TAR_XATTR_COUNT_MAX)
        return damaged(err, "an entry has too many attributes");
    struct tar_xattr *x = arena_try(&layer->text, n * sizeof *x);
    if (!x)
        return err_set(err, E_LIMIT, "layer index: too many names");
    for (size_t k = 0; k < n; k++) {
        uint32_t n_name = rd_le32(&b->texts), n_value = rd_le32(&b->texts);
        struct str name = rd_str(&b->texts, n_name), v = rd_str(&b->texts, n_value);
        bytes += name.n + v.n;
        if (!rd_ok(&b->texts) || bytes > TAR_XATTRS_MAX || name.n == 0 ||
            memchr(name.p, '\0', name.n) || oci_layer_drops_xattr(name) ||
            (k && str_cmp(x[k - 1].name, name) >= 0))
            return damaged(err, "an attribute is none");
        int r = copy_text(layer, name, &x[k].name, err);
        r = r < 0 ? r : copy_text(layer, v, &x[k].value, err);
        if (r < 0)
            return r;
    }
    e->xattrs = x;
    e->n_xattrs = (uint32_t)n;
    return 0;
}

static int read_numbers(const struct body *b, size_t i, struct oci_entry *e, struct err *err)
{
    uint64_t type = value(b, COL_TYPE, i);
    *e = (struct oci_entry){
        .type = (uint8_t)(type & ~(uint64_t)SPARSE),
        .is_sparse = (type & SPARSE) != 0,
        .mode = (uint16_t)value(b, COL_MODE, i),
        .uid = (uint32_t)value(b, COL_UID, i),
        .gid = (uint32_t)value(b, COL_GID, i),
        .mtime_s = (int64_t)value(b, COL_MTIME, i),
        .mtime_ns = (uint32_t)value(b, COL_MTIME_NS, i),
        .size = value(b, COL_SIZE, i),
        .device_major = (uint32_t)value(b, COL_MAJOR, i),
        .device_minor = (uint32_t)value(b, COL_MINOR, i),
    };
    if (e->type > TAR_FIFO || (e->is_sparse && e->type != TAR_FILE) || e->mode > 07777 ||
        e->mtime_ns >= 1000000000 || (e->size && e->type != TAR_FILE) ||
        e->size > OCI_LAYER_CONTENT_MAX)
        return damaged(err, "an entry is none");
    return 0;
}

static int read_digest(struct body *b, struct oci_entry *e, struct err *err)
{
    if (e->type != TAR_FILE)
        return 0;
    if (e->size == 0) {
        sha256_of(STR(""), e->digest);
        return 0;
    }
    struct str d = rd_str(&b->digests, SHA256_BYTES);
    if (!rd_ok(&b->digests))
        return damaged(err, "digests are missing");
    memcpy(e->digest, d.p, SHA256_BYTES);
    return 0;
}

/* Read entry i, by path, to its place in the archive; seen: places that are taken. */
static int read_entry(struct body *b, size_t i, size_t *place, struct str *before, uint8_t *seen,
                      struct oci_layer *layer, struct err *err)
{
    size_t at = (uint32_t)(value(b, COL_PLACE, i) + (i ? *place + 1 : 0));
    if (at >= b->n || seen[at])
        return damaged(err, "two entries have one place");
    struct oci_entry *e = &layer->entries.p[at];
    seen[at] = 1;
    *place = at;
    int r = read_numbers(b, i, e, err);
    r = r < 0 ? r : read_path(b, i, *before, layer, &e->path, err);
    r = r < 0 ? r : read_link(b, i, layer, e, err);
    r = r < 0 ? r : read_xattrs(b, i, layer, e, err);
    r = r < 0 ? r : read_digest(b, e, err);
    if (r < 0)
        return r;
    e->data_offset = value(b, COL_OFFSET, i);
    *before = e->path;
    return 0;
}

static int read_entries(struct body *b, struct oci_layer *layer, struct err *err)
{
    scoped(free_scoped) uint8_t *seen = mem_try(b->n + 1);
    layer->entries.p = mem_try((b->n + 1) * sizeof *layer->entries.p);
    if (!seen || !layer->entries.p)
        return err_set(err, -ENOMEM, "layer index");
    memset(seen, 0, b->n + 1);
    layer->entries.cap = b->n + 1;
    struct str before = STR_NULL;
    size_t place = 0;
    for (size_t i = 0; i < b->n; i++) {
        int r = read_entry(b, i, &place, &before, seen, layer, err);
        if (r < 0)
            return r;
    }
    layer->entries.n = b->n;
    for (size_t i = 0; i < b->n; i++) {
        struct oci_entry *e = &layer->entries.p[i];
        e->data_offset += i ? likely_offset(e - 1) : 0;
        if (e->data_offset > layer->n_bytes ||
            (!e->is_sparse && e->size > layer->n_bytes - e->data_offset))
            return damaged(err, "content is outside the tar");
    }
    return 0;
}

static int read_whiteouts(struct body *b, size_t n, struct oci_layer *layer, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t is_opaque = rd_u8(&b->whiteouts);
        struct oci_whiteout w = { .is_opaque = is_opaque != 0 };
        struct str path = rd_str(&b->texts, rd_le16(&b->lengths));
        if (!rd_ok(&b->texts) || is_opaque > 1 || !is_normal(path) || (path.n == 0 && !is_opaque))
            return damaged(err, "a whiteout is none");
        int r = copy_text(layer, path, &w.path, err);
        if (r < 0)
            return r;
        vec_push(&layer->whiteouts, w);
    }
    if (rd_left(&b->texts) || rd_left(&b->digests))
        return damaged(err, "something follows it");
    return 0;
}

/* The parts of an index with this magic: its packed body, and its digests. */
static int open_index(struct str bytes, const char *magic, struct layer_index_header *h,
                      struct str *ret_body, struct str *ret_digests, struct err *err)
{
    if (bytes.n < HEADER_BYTES + SUM_BYTES)
        return damaged(err, "it is cut short");
    struct str summed = str_slice(bytes, 0, bytes.n - SUM_BYTES);
    struct rd r = rd_init(summed.p, summed.n);
    struct rd sum = rd_init(bytes.p + summed.n, SUM_BYTES);
    int status = read_header(&r, magic, h, err);
    if (status < 0)
        return status;
    if (rd_le64(&sum) != oci_layer_index_sum(summed))
        return damaged(err, "its checksum is wrong");
    *ret_body = rd_str(&r, h->n_packed);
    *ret_digests = rd_str(&r, (uint64_t)h->n_digests * SHA256_BYTES);
    return rd_ok(&r) && rd_left(&r) == 0 ? 0 : damaged(err, "its sizes do not add up");
}

/* body: h->n_body bytes. */
static int read_layer(const struct layer_index_header *h, const char *body, struct str digests,
                      struct oci_layer **ret, struct err *err)
{
    struct body b;
    b.digests = rd_init(digests.p, digests.n);
    open_body(&b, h, body);
    scoped(oci_layer_free_scoped) struct oci_layer *layer = xnew(struct oci_layer);
    memcpy(layer->diff_id, h->diff_id, sizeof layer->diff_id);
    layer->n_bytes = h->n_tar;
    layer->n_dropped = h->n_dropped;
    layer->text.max_bytes = OCI_LAYER_MEMORY_MAX;
    int status = read_entries(&b, layer, err);
    status = status < 0 ? status : read_whiteouts(&b, h->n_whiteouts, layer, err);
    if (status < 0)
        return status;
    *ret = take_ptr(&layer);
    return 0;
}

int oci_layer_index_read(struct str bytes, struct oci_layer **ret, struct err *err)
{
    struct layer_index_header h;
    struct str packed, digests;
    scoped(free_scoped) char *body = NULL;
    int r = open_index(bytes, MAGIC, &h, &packed, &digests, err);
    r = r < 0 ? r : unpack(packed, h.n_body, &body, err);
    return r < 0 ? r : read_layer(&h, body, digests, ret, err);
}

/* ---- with its body as it is ---- */

int oci_layer_index_flatten(struct str bytes, struct buf *to, struct err *err)
{
    struct layer_index_header h;
    struct str packed, digests;
    scoped(free_scoped) char *body = NULL;
    int r = open_index(bytes, MAGIC, &h, &packed, &digests, err);
    r = r < 0 ? r : unpack(packed, h.n_body, &body, err);
    if (r < 0)
        return r;
    size_t start = to->n;
    (void)buf_add(to, FLAT_MAGIC, MAGIC_BYTES);
    (void)buf_add_str(to, str_slice(bytes, MAGIC_BYTES, HEADER_BYTES - 8));
    (void)buf_add_le64(to, h.n_body);
    (void)buf_add(to, body, (size_t)h.n_body);
    (void)buf_add_str(to, digests);
    if (buf_ok(to))
        (void)buf_add_le64(to, oci_layer_index_sum(str_n(to->p + start, to->n - start)));
    return buf_ok(to) ? 0 : err_sys(err, to->failed, "layer index");
}

int oci_layer_index_read_flat(struct str bytes, struct oci_layer **ret, struct err *err)
{
    struct layer_index_header h;
    struct str body, digests;
    int r = open_index(bytes, FLAT_MAGIC, &h, &body, &digests, err);
    if (r >= 0 && body.n != h.n_body)
        r = damaged(err, "its body has another size");
    return r < 0 ? r : read_layer(&h, body.p, digests, ret, err);
}
