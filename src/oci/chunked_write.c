/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/chunked_write.h"

#include "base/clock.h"
#include "codec/base64.h"
#include "codec/json.h"

#include <errno.h>
#include <zstd.h>

enum {
    ZSTD_LEVEL = 9,
    SKIPPABLE_MAGIC = 0x184d2a50,
    SKIPPABLE_HEAD_BYTES = 8,
    ZSTD_FOOTER_BYTES = 64,
    TABLE_TYPE = 1, /* rows as those of eStargz */
    NS_MAX = 12,    /* a point and digits */
};

static const int64_t LAST_S = 253402300799;  /* of the year 9999 */
static const int64_t FIRST_S = -62135596800; /* of the year 1 */

bool oci_estargz_is_own_name(struct str path)
{
    return str_is(path, OCI_ESTARGZ_TABLE_NAME) || str_is(path, OCI_ESTARGZ_PREFETCH_NAME) ||
           str_is(path, OCI_ESTARGZ_NO_PREFETCH_NAME);
}

void oci_toc_init(struct oci_toc *t, enum oci_toc_kind kind)
{
    *t = (struct oci_toc){ .kind = kind, .json = BUF_INIT(OCI_TOC_WRITE_MAX) };
    (void)buf_add_cstr(&t->json, "{\"version\":1,\"entries\":[");
}

void oci_toc_fini(struct oci_toc *t)
{
    buf_fini(&t->json);
    arena_fini(&t->memory);
}

static const char *type_name(enum tar_type type)
{
    switch (type) {
    case TAR_FILE:
        return "reg";
    case TAR_DIR:
        return "dir";
    case TAR_SYMLINK:
        return "symlink";
    case TAR_HARDLINK:
        return "hardlink";
    case TAR_CHAR_DEVICE:
        return "char";
    case TAR_BLOCK_DEVICE:
        return "block";
    case TAR_FIFO:
        return "fifo";
    }
    return "";
}

static void set_number(struct arena *a, struct json *row, const char *key, uint64_t n)
{
    if (n)
        json_set_int(a, row, key, (int64_t)n);
}

static void set_digest(struct arena *a, struct json *row, const char *key,
                       const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    json_set_str(a, row, key, str_of(text));
}

static void set_xattrs(struct arena *a, struct json *row, const struct tar_entry *e)
{
    struct json *xattrs = e->n_xattrs ? json_obj(a, row, "xattrs") : NULL;
    for (size_t i = 0; i < e->n_xattrs; i++) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(2 * TAR_XATTRS_MAX);
        (void)base64_encode(&text, e->xattrs[i].value, BASE64_STD);
        json_set_str(a, xattrs, str_dup_arena(a, e->xattrs[i].name), buf_str(&text));
    }
}

struct str oci_toc_name(struct arena *a, const struct tar_entry *e)
{
    if (e->type != TAR_DIR)
        return e->path;
    return str_of(arena_printf(a, STR_FMT "/", STR_ARG(e->path.n ? e->path : STR("."))));
}

/* Of eStargz in seconds; then 1970 and what is before it are left out. */
static int set_time(struct arena *a, struct json *row, enum oci_toc_kind kind,
                    const struct tar_entry *e, struct err *err)
{
    char time[RFC3339_MAX], fraction[NS_MAX] = "";
    bool is_zstd = kind == OCI_TOC_ZSTD_CHUNKED;
    if (is_zstd && (e->mtime_s > LAST_S || e->mtime_s < FIRST_S))
        return err_set(err, E_UNSUPPORTED, "zstd:chunked has no such time");
    if (e->mtime_s > LAST_S || (e->mtime_s <= 0 && !is_zstd))
        return 0;
    rfc3339_format(e->mtime_s, time);
    if (is_zstd && e->mtime_ns)
        (void)snprintf(fraction, sizeof fraction, ".%09u", e->mtime_ns);
    struct str whole = str_of(time);
    json_set_str(a, row, "modtime",
                 str_of(arena_printf(a, STR_FMT "%sZ", STR_ARG(str_slice(whole, 0, whole.n - 1)),
                                     fraction)));
    return 0;
}

static struct json *row_of(struct arena *a, const struct tar_entry *e, struct str name)
{
    struct json *row = json_new_object(a);
    json_set_str(a, row, "name", name);
    json_set_str(a, row, "type", str_of(type_name(e->type)));
    set_number(a, row, "size", e->size);
    if (e->link.n)
        json_set_str(a, row, "linkName", e->link);
    set_number(a, row, "mode", e->mode);
    set_number(a, row, "uid", e->uid);
    set_number(a, row, "gid", e->gid);
    set_number(a, row, "devMajor", e->device_major);
    set_number(a, row, "devMinor", e->device_minor);
    set_xattrs(a, row, e);
    return row;
}

static void set_chunk(struct arena *a, struct json *row, const struct oci_toc_chunk *c,
                      bool has_size)
{
    set_number(a, row, "offset", c->offset);
    set_number(a, row, "chunkOffset", c->at);
    set_number(a, row, "chunkSize", has_size ? c->n : 0);
    set_digest(a, row, "chunkDigest", &c->digest);
}

static int add_row(struct oci_toc *t, const struct json *row, struct err *err)
{
    if (t->has_rows)
        (void)buf_add_cstr(&t->json, ",");
    t->has_rows = true;
    int r = json_write(&t->json, row);
    if (r == -EMSGSIZE)
        return err_set(err, E_LIMIT, "the table of contents has more than %d bytes",
                       OCI_TOC_WRITE_MAX);
    return r < 0 ? err_sys(err, r, "table of contents") : 0;
}

int oci_toc_add(struct oci_toc *t, const struct tar_entry *e, const struct oci_digest *file,
                const struct oci_toc_chunk *chunks, size_t n_chunks, uint64_t end_offset,
                struct err *err)
{
    struct arena *a = &t->memory;
    bool is_text = str_is_utf8(e->path) && str_is_utf8(e->link);
    bool is_last_sized = t->kind == OCI_TOC_ZSTD_CHUNKED && n_chunks > 1;
    for (size_t i = 0; i < e->n_xattrs; i++)
        is_text = is_text && str_is_utf8(e->xattrs[i].name);
    if (!is_text)
        return err_set(err, E_UNSUPPORTED, "the name is not UTF-8, which %s asks for",
                       t->kind == OCI_TOC_ESTARGZ ? "eStargz" : "zstd:chunked");
    struct str name = oci_toc_name(a, e);
    struct json *row = row_of(a, e, name);
    int r = set_time(a, row, t->kind, e, err);
    if (file)
        set_digest(a, row, "digest", file);
    if (n_chunks)
        set_chunk(a, row, &chunks[0], n_chunks > 1);
    set_number(a, row, "endOffset", end_offset);
    r = r < 0 ? r : add_row(t, row, err);
    for (size_t i = 1; r >= 0 && i < n_chunks; i++) {
        row = json_new_object(a);
        json_set_str(a, row, "name", name);
        json_set_str(a, row, "type", STR("chunk"));
        set_chunk(a, row, &chunks[i], i + 1 < n_chunks || is_last_sized);
        r = add_row(t, row, err);
    }
    arena_reset(a);
    return r;
}

int oci_toc_end(struct oci_toc *t, const struct oci_digest *split, struct str *ret, struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    int r = buf_add_cstr(&t->json, "]");
    if (split) {
        oci_digest_format(split, text);
        r = buf_printf(&t->json, ",\"tarSplitDigest\":\"%s\"", text);
    }
    r = r < 0 ? r : buf_add_cstr(&t->json, "}");
    if (r < 0)
        return err_sys(err, r, "table of contents");
    *ret = buf_str(&t->json);
    return 0;
}

/* ---- footers ---- */

/* An empty gzip member: no compression, an extra field, one last stored block. */
int oci_estargz_write_footer(struct buf *to, uint64_t table_offset)
{
    static const uint8_t head[] = { 0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 26, 0, 'S', 'G', 22, 0 };
    static const uint8_t rest[] = { 1, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0 };
    (void)buf_add(to, head, sizeof head);
    (void)buf_printf(to, "%016llxSTARGZ", (unsigned long long)table_offset);
    return buf_add(to, rest, sizeof rest);
}

static void add_skippable(struct buf *to, struct str bytes)
{
    (void)buf_add_le32(to, SKIPPABLE_MAGIC);
    (void)buf_add_le32(to, (uint32_t)bytes.n);
    (void)buf_add_str(to, bytes);
}

static void add_place(struct buf *to, const struct oci_chunked_place *p)
{
    (void)buf_add_le64(to, p->at);
    (void)buf_add_le64(to, p->n);
    (void)buf_add_le64(to, p->n_unpacked);
}

static void add_zstd_footer(struct buf *to, const struct oci_zstd_chunked_tail *tail)
{
    scoped(buf_fini_scoped) struct buf footer = BUF_INIT(ZSTD_FOOTER_BYTES);
    add_place(&footer, &tail->table);
    (void)buf_add_le64(&footer, TABLE_TYPE);
    add_place(&footer, &tail->split);
    (void)buf_add_cstr(&footer, "GNUlInUx");
    add_skippable(to, buf_str(&footer));
}

int oci_zstd_chunked_write_tail(struct str table, struct str split, uint64_t n_split, uint64_t at,
                                struct buf *to, struct oci_zstd_chunked_tail *ret, struct err *err)
{
    size_t room = ZSTD_compressBound(table.n);
    scoped(free_scoped) char *packed = mem_try(room);
    size_t n = packed ? ZSTD_compress(packed, room, table.p, table.n, ZSTD_LEVEL) : 0;
    if (n == 0 || ZSTD_isError(n))
        return err_set(err, -ENOMEM, "compress the table of contents");
    if (table.n > OCI_TOC_WRITE_MAX || split.n > UINT32_MAX)
        return err_set(err, E_LIMIT, "the table of contents is too large");
    uint64_t table_at = at + SKIPPABLE_HEAD_BYTES, split_at = table_at + n + SKIPPABLE_HEAD_BYTES;
    *ret = (struct oci_zstd_chunked_tail){
        .table = { .at = table_at, .n = n, .n_unpacked = table.n },
        .split = { .at = split_at, .n = split.n, .n_unpacked = n_split },
    };
    sha256_of(str_n(packed, n), ret->digest.bytes);
    add_skippable(to, str_n(packed, n));
    add_skippable(to, split);
    add_zstd_footer(to, ret);
    return to->failed ? err_sys(err, to->failed, "table of contents") : 0;
}
