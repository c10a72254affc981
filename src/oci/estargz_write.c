/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/estargz_write.h"

#include "base/clock.h"
#include "codec/base64.h"
#include "codec/json.h"

#include <errno.h>

static const int64_t LAST_S = 253402300799; /* of the year 9999 */

bool oci_estargz_is_own_name(struct str path)
{
    return str_is(path, OCI_ESTARGZ_TABLE_NAME) || str_is(path, OCI_ESTARGZ_PREFETCH_NAME) ||
           str_is(path, OCI_ESTARGZ_NO_PREFETCH_NAME);
}

void oci_estargz_table_init(struct oci_estargz_table *t)
{
    *t = (struct oci_estargz_table){ .json = BUF_INIT(OCI_ESTARGZ_WRITE_MAX) };
    (void)buf_add_cstr(&t->json, "{\"version\":1,\"entries\":[");
}

void oci_estargz_table_fini(struct oci_estargz_table *t)
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

static struct str name_of(struct arena *a, const struct tar_entry *e)
{
    if (e->type != TAR_DIR)
        return e->path;
    return str_of(arena_printf(a, STR_FMT "/", STR_ARG(e->path.n ? e->path : STR("."))));
}

static struct json *row_of(struct arena *a, const struct tar_entry *e, struct str name)
{
    struct json *row = json_new_object(a);
    json_set_str(a, row, "name", name);
    json_set_str(a, row, "type", str_of(type_name(e->type)));
    set_number(a, row, "size", e->size);
    if (e->mtime_s > 0 && e->mtime_s <= LAST_S) {
        char time[RFC3339_MAX];
        rfc3339_format(e->mtime_s, time);
        json_set_str(a, row, "modtime", str_of(time));
    }
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

static void set_chunk(struct arena *a, struct json *row, const struct oci_estargz_chunk *c,
                      bool is_last)
{
    set_number(a, row, "offset", c->offset);
    set_number(a, row, "chunkOffset", c->at);
    set_number(a, row, "chunkSize", is_last ? 0 : c->n);
    set_digest(a, row, "chunkDigest", &c->digest);
}

static int add_row(struct oci_estargz_table *t, const struct json *row, struct err *err)
{
    if (t->has_rows)
        (void)buf_add_cstr(&t->json, ",");
    t->has_rows = true;
    int r = json_write(&t->json, row);
    if (r == -EMSGSIZE)
        return err_set(err, E_LIMIT, "the table of contents has more than %d bytes",
                       OCI_ESTARGZ_WRITE_MAX);
    return r < 0 ? err_sys(err, r, "table of contents") : 0;
}

int oci_estargz_table_add(struct oci_estargz_table *t, const struct tar_entry *e,
                          const struct oci_digest *file, const struct oci_estargz_chunk *chunks,
                          size_t n_chunks, uint64_t end_offset, struct err *err)
{
    struct arena *a = &t->memory;
    bool is_text = str_is_utf8(e->path) && str_is_utf8(e->link);
    for (size_t i = 0; i < e->n_xattrs; i++)
        is_text = is_text && str_is_utf8(e->xattrs[i].name);
    if (!is_text)
        return err_set(err, E_UNSUPPORTED, "the name is not UTF-8, which eStargz asks for");
    struct str name = name_of(a, e);
    struct json *row = row_of(a, e, name);
    if (file)
        set_digest(a, row, "digest", file);
    if (n_chunks)
        set_chunk(a, row, &chunks[0], n_chunks == 1);
    set_number(a, row, "endOffset", end_offset);
    int r = add_row(t, row, err);
    for (size_t i = 1; r >= 0 && i < n_chunks; i++) {
        row = json_new_object(a);
        json_set_str(a, row, "name", name);
        json_set_str(a, row, "type", STR("chunk"));
        set_chunk(a, row, &chunks[i], i + 1 == n_chunks);
        r = add_row(t, row, err);
    }
    arena_reset(a);
    return r;
}

int oci_estargz_table_end(struct oci_estargz_table *t, struct str *ret, struct err *err)
{
    int r = buf_add_cstr(&t->json, "]}");
    if (r < 0)
        return err_sys(err, r, "table of contents");
    *ret = buf_str(&t->json);
    return 0;
}

/* An empty gzip member: no compression, an extra field, one last stored block. */
int oci_estargz_write_footer(struct buf *to, uint64_t table_offset)
{
    static const uint8_t head[] = { 0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 26, 0, 'S', 'G', 22, 0 };
    static const uint8_t rest[] = { 1, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0 };
    (void)buf_add(to, head, sizeof head);
    (void)buf_printf(to, "%016llxSTARGZ", (unsigned long long)table_offset);
    return buf_add(to, rest, sizeof rest);
}
