/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/chunked.h"

#include "base/buf.h"
#include "codec/decompress.h"
#include "codec/json.h"
#include "codec/tar.h"

#include <errno.h>
#include <zstd.h>

enum {
    GZIP_HEAD_BYTES = 12, /* with the length of the extra field */
    EXTRA_BYTES = 26,
    HEX_DIGITS = 16,
    SKIPPABLE_HEAD_BYTES = 8,
    ZSTD_KIND = 1, /* of the table: that of CRFS */
    TABLE_MEMORY_MAX = 256 << 20,
};

static int check_place(const struct oci_chunked_place *p, uint64_t size, struct err *err)
{
    if (p->at > size || p->n > size - p->at || p->n == 0)
        return err_set(err, E_PARSE, "the table of contents is not in the blob");
    if (p->n > OCI_CHUNKED_TABLE_MAX || p->n_unpacked > OCI_CHUNKED_TABLE_MAX)
        return err_set(err, E_LIMIT, "the table of contents has more than %d bytes",
                       OCI_CHUNKED_TABLE_MAX);
    return 0;
}

/* ---- footers ---- */

static bool parse_hex(struct str s, uint64_t *ret)
{
    uint8_t bytes[HEX_DIGITS / 2];
    uint64_t v = 0;
    if (!hex_parse(s, bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        v = v << 8 | bytes[i];
    *ret = v;
    return true;
}

/* An empty gzip member whose extra field is "SG", u16 22, 16 digits, "STARGZ". */
int oci_estargz_footer(struct str footer, uint64_t size, struct oci_chunked_place *ret,
                       struct err *err)
{
    static const uint8_t magic[] = { 0x1f, 0x8b, 8, 4 };
    struct oci_chunked_place p = { 0 };
    struct rd r = rd_init(footer.p, footer.n);
    struct str head = rd_str(&r, sizeof magic);
    (void)rd_str(&r, GZIP_HEAD_BYTES - sizeof magic - 2);
    uint16_t n_extra = rd_le16(&r);
    struct str id = rd_str(&r, 2);
    uint16_t n_field = rd_le16(&r);
    struct str digits = rd_str(&r, HEX_DIGITS), word = rd_str(&r, 6);
    if (footer.n != OCI_ESTARGZ_FOOTER_BYTES || !rd_ok(&r) ||
        memcmp(head.p, magic, sizeof magic) != 0 || n_extra != EXTRA_BYTES || !str_is(id, "SG") ||
        n_field != EXTRA_BYTES - 4 || !str_is(word, "STARGZ") || !parse_hex(digits, &p.at))
        return err_set(err, E_PARSE, "the blob has no footer with a table of contents");
    if (size < OCI_ESTARGZ_FOOTER_BYTES || p.at > size - OCI_ESTARGZ_FOOTER_BYTES)
        return err_set(err, E_PARSE, "the table of contents is not in the blob");
    p.n = size - OCI_ESTARGZ_FOOTER_BYTES - p.at;
    int s = check_place(&p, size, err);
    if (s >= 0)
        *ret = p;
    return s;
}

int oci_zstd_chunked_position(struct str text, uint64_t size, struct oci_chunked_place *ret,
                              struct err *err)
{
    struct oci_chunked_place p;
    struct str at, packed, unpacked, rest = text;
    uint64_t kind;
    (void)str_cut(rest, ':', &at, &rest);
    (void)str_cut(rest, ':', &packed, &rest);
    (void)str_cut(rest, ':', &unpacked, &rest);
    if (parse_u64(at, 0, UINT64_MAX, &p.at) < 0 || parse_u64(packed, 0, UINT64_MAX, &p.n) < 0 ||
        parse_u64(unpacked, 0, UINT64_MAX, &p.n_unpacked) < 0 ||
        parse_u64(rest, 0, UINT64_MAX, &kind) < 0)
        return err_set(err, E_PARSE, "'" STR_FMT "' is no position of a table of contents",
                       STR_ARG(str_slice(text, 0, 80)));
    if (kind != ZSTD_KIND)
        return err_set(err, E_UNSUPPORTED, "a table of contents of kind %llu",
                       (unsigned long long)kind);
    int r = check_place(&p, size, err);
    if (r >= 0)
        *ret = p;
    return r;
}

/* ---- tables ---- */

struct tar_table {
    struct tar_reader *tar;
    struct buf *to;
    bool is_table, was_found;
    uint64_t n; /* bytes of the tar */
};

static int on_entry(void *arg, const struct tar_entry *e, struct err *err)
{
    struct tar_table *t = arg;
    t->is_table = e->type == TAR_FILE && str_is(e->path, "stargz.index.json") && !t->was_found;
    t->was_found = t->was_found || t->is_table;
    return t->is_table && e->size > OCI_CHUNKED_TABLE_MAX
               ? err_set(err, E_LIMIT, "the table of contents is too large")
               : 0;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct tar_table *t = arg;
    int r = t->is_table ? buf_add_str(t->to, bytes) : 0;
    return r < 0 ? err_sys(err, r, "table of contents") : 0;
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    (void)arg, (void)n_bytes;
    return err_set(err, E_PARSE, "the table of contents is a sparse file");
}

static int add_to_tar(void *arg, struct str bytes, struct err *err)
{
    struct tar_table *t = arg;
    t->n += bytes.n;
    if (t->n > 2 * (uint64_t)OCI_CHUNKED_TABLE_MAX)
        return err_set(err, E_LIMIT, "it is too large");
    return tar_reader_add(t->tar, bytes, err);
}

int oci_estargz_table(struct str packed, struct buf *to, struct err *err)
{
    static const struct tar_ops ops = { .entry = on_entry, .data = on_data, .hole = on_hole };
    struct tar_table t = { .to = to };
    scoped(tar_reader_free_scoped) struct tar_reader *tar = tar_reader_new(&ops, &t);
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(add_to_tar, &t);
    t.tar = tar;
    int r = decompressor_add(d, packed, err);
    r = r < 0 ? r : decompressor_end(d, err);
    r = r < 0 ? r : tar_reader_end(tar, err);
    if (r < 0)
        return err_ctx(err, r, "table of contents");
    return t.was_found ? 0
                       : err_set(err, E_PARSE, "the blob has no table of contents at its place");
}

int oci_zstd_chunked_table(struct str packed, const struct oci_chunked_place *place, struct buf *to,
                           struct err *err)
{
    char *room;
    if (place->n_unpacked > OCI_CHUNKED_TABLE_MAX)
        return err_set(err, E_LIMIT, "the table of contents is too large");
    int r = buf_reserve(to, (size_t)place->n_unpacked + 1, &room);
    if (r < 0)
        return err_sys(err, r, "table of contents");
    size_t n = ZSTD_decompress(room, (size_t)place->n_unpacked, packed.p, packed.n);
    if (ZSTD_isError(n) || n != place->n_unpacked)
        return err_set(err, E_PARSE, "the table of contents does not unpack");
    buf_advance(to, n);
    return 0;
}

/* ---- parts ---- */

/* An entry of a table that has content. */
struct chunked_row {
    uint64_t offset;
    uint64_t at, n; /* of the file; n 0: up to its end */
};

static uint64_t number(const struct json *v, const char *key, bool *ok)
{
    const struct json *member = json_getc(v, key);
    int64_t n = 0;
    if (member && (json_int(member, &n) < 0 || n < 0))
        *ok = false;
    return (uint64_t)n;
}

static int bad_table(struct err *err, const char *what)
{
    return err_set(err, E_PARSE, "table of contents: %s", what);
}

struct chunked_reading {
    struct oci_chunks *to;
    uint64_t end;   /* of the part before */
    uint64_t limit; /* where data ends */
    /* The file whose chunks follow. */
    bool has_file;
    struct oci_digest file;
    uint64_t file_size, file_end; /* file_end 0: the table does not say where its bytes end */
    struct str name;
    VEC(struct chunked_row) rows; /* chunks of the file */
};

static int add_part(struct chunked_reading *r, const struct oci_chunk *c, struct err *err)
{
    if (c->from == c->to)
        return 0;
    if (r->to->parts.n >= OCI_CHUNKED_PARTS_MAX)
        return err_set(err, E_LIMIT, "table of contents: more than %d parts",
                       OCI_CHUNKED_PARTS_MAX);
    vec_push(&r->to->parts, *c);
    r->end = c->to;
    return 0;
}

/* What is between the last part and `to`. */
static int add_gap(struct chunked_reading *r, uint64_t to, struct err *err)
{
    if (to < r->end || to > r->limit)
        return bad_table(err, "files do not lie one after the other");
    return add_part(r, &(struct oci_chunk){ .from = r->end, .to = to }, err);
}

/*
 * The chunks of the file. `next`: where the next file begins, and so where the last chunk ends
 * unless the table says so: then what follows the chunk shares its member or frame.
 */
static int end_file(struct chunked_reading *r, uint64_t next, struct err *err)
{
    int s = 0;
    size_t n = r->rows.n;
    uint64_t end = r->file_end ? r->file_end : next;
    for (size_t i = 0; s >= 0 && i < n; i++) {
        const struct chunked_row *row = &r->rows.p[i];
        uint64_t to = i + 1 < n ? r->rows.p[i + 1].offset : end;
        uint64_t next_at = i + 1 < n ? r->rows.p[i + 1].at : r->file_size;
        s = add_gap(r, row->offset, err);
        if (s >= 0 && (to <= row->offset || to > r->limit || next_at <= row->at ||
                       next_at > r->file_size || (row->n && row->n != next_at - row->at)))
            s = bad_table(err, "the chunks of a file do not follow each other");
        struct oci_chunk c = { .from = row->offset, .to = to };
        if (r->has_file && (i + 1 < n || r->file_end)) {
            c.at = row->at;
            c.n = next_at - row->at;
            c.file = r->file;
            c.file_size = r->file_size;
        }
        s = s < 0 ? s : add_part(r, &c, err);
    }
    r->rows.n = 0;
    return s;
}

static int add_row(struct chunked_reading *r, const struct json *v, struct err *err)
{
    bool ok = true;
    struct chunked_row row = { .offset = number(v, "offset", &ok),
                               .at = number(v, "chunkOffset", &ok) };
    row.n = number(v, "chunkSize", &ok);
    if (json_getc(v, "innerOffset"))
        return err_set(err, E_UNSUPPORTED, "table of contents: several files in one chunk");
    if (!ok || row.offset > r->limit || row.offset < r->end || row.at > r->file_size)
        return bad_table(err, "a chunk is at another offset");
    if (row.n > r->file_size - row.at)
        return bad_table(err, "a chunk is larger than its file");
    if (r->rows.n && row.offset <= r->rows.p[r->rows.n - 1].offset)
        return bad_table(err, "the chunks of a file do not follow each other");
    vec_push(&r->rows, row);
    return 0;
}

static int begin_file(struct chunked_reading *r, const struct json *v, struct err *err)
{
    bool ok = true;
    uint64_t size = number(v, "size", &ok), offset = number(v, "offset", &ok);
    uint64_t end = number(v, "endOffset", &ok);
    if (!ok)
        return bad_table(err, "a number is none");
    if (size == 0 || offset == 0) /* no content; nothing begins at the first byte, a header does */
        return 0;
    int s = end_file(r, offset, err);
    if (s < 0)
        return s;
    r->name = json_get_str(v, "name");
    r->file_size = size;
    r->file_end = end;
    r->has_file = oci_digest_parse(json_get_str(v, "digest"), &r->file, NULL) >= 0;
    return add_row(r, v, err);
}

static int add_chunk(struct chunked_reading *r, const struct json *v, struct err *err)
{
    if (r->rows.n == 0 || !str_eq(json_get_str(v, "name"), r->name))
        return bad_table(err, "a chunk belongs to no file");
    return add_row(r, v, err);
}

static int read_entries(struct chunked_reading *r, struct str table, struct err *err)
{
    struct arena a = { .max_bytes = TABLE_MEMORY_MAX };
    struct json *doc;
    int s = table.n > OCI_CHUNKED_TABLE_MAX
                ? err_set(err, E_LIMIT, "the table of contents is too large")
                : json_parse(&a, table, NULL, &doc, err);
    if (s >= 0 && json_int_or(json_getc(doc, "version"), 0) != 1)
        s = err_set(err, E_UNSUPPORTED, "a table of contents of another version");
    if (s >= 0)
        json_each (v, json_getc(doc, "entries")) {
            struct str type = json_get_str(v, "type");
            if (str_is(type, "reg"))
                s = begin_file(r, v, err);
            else if (str_is(type, "chunk"))
                s = add_chunk(r, v, err);
            if (s < 0)
                break;
        }
    if (s >= 0 && r->rows.n)
        s = end_file(r, r->limit, err);
    arena_fini(&a);
    return s < 0 ? s : 0;
}

static int read_parts(struct chunked_reading *r, struct str table, uint64_t size, struct err *err)
{
    int s = read_entries(r, table, err);
    s = s < 0 ? s : add_gap(r, r->limit, err);
    r->limit = size;
    s = s < 0 ? s : add_gap(r, size, err);
    vec_fini(&r->rows);
    if (s < 0)
        oci_chunks_fini(r->to);
    return s;
}

int oci_estargz_parts(struct str table, const struct oci_chunked_place *place, uint64_t size,
                      struct oci_chunks *ret, struct err *err)
{
    struct chunked_reading r = { .to = ret, .limit = place->at };
    *ret = (struct oci_chunks){ 0 };
    return read_parts(&r, table, size, err);
}

int oci_zstd_chunked_parts(struct str table, const struct oci_chunked_place *place,
                           struct oci_chunks *ret, struct err *err)
{
    /* The head of its skippable frame precedes the table. */
    uint64_t limit = place->at < SKIPPABLE_HEAD_BYTES ? 0 : place->at - SKIPPABLE_HEAD_BYTES;
    struct chunked_reading r = { .to = ret, .limit = limit };
    *ret = (struct oci_chunks){ 0 };
    return read_parts(&r, table, limit, err);
}

void oci_chunks_fini(struct oci_chunks *c)
{
    vec_fini(&c->parts);
}
