/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blobs with a table of contents: eStargz and zstd:chunked as their authors describe them, made
 * here. The parts cover the blob, each inflates on its own, and the chunks hold what the table
 * says.
 */
#include "codec/decompress.h"
#include "codec/gzip.h"
#include "codec/stored.h"
#include "oci/chunked.h"
#include "oci/chunked_write.h"
#include "oci/tar_split.h"
#include "tar_kit.h"

#include <zstd.h>

enum { BLOB_MAX = 4 << 20, CHUNK = 100000, FILES = 5 };

static const size_t sizes[FILES] = { 10, 250000, 0, 100000, 3000 };

struct made {
    struct buf tar, blob, table;
    struct oci_chunked_place place;
    struct oci_digest files[FILES];
    uint64_t begins[FILES]; /* of contents in the tar */
};

static char *content_of(size_t i)
{
    char *p = xalloc(sizes[i] + 1);
    uint32_t seed = (uint32_t)i + 1;
    for (size_t k = 0; k < sizes[i]; k++) {
        seed = seed * 1664525 + 1013904223;
        p[k] = (char)('a' + (seed >> 26));
    }
    return p;
}

/* Compressed on its own. */
static void add_packed(struct made *m, bool is_gzip, struct str bytes)
{
    if (bytes.n == 0)
        return;
    if (is_gzip) {
        struct gzip *g = gzip_new();
        CHECK_OK(gzip_add(g, bytes, true, &m->blob));
        gzip_free(g);
        return;
    }
    char *room;
    size_t most = ZSTD_compressBound(bytes.n);
    CHECK_OK(buf_reserve(&m->blob, most, &room));
    size_t n = ZSTD_compress(room, most, bytes.p, bytes.n, 3);
    CHECK(!ZSTD_isError(n));
    buf_advance(&m->blob, n);
}

static void add_skippable(struct buf *to, struct str bytes)
{
    CHECK_OK(buf_add(to, "\x50\x2a\x4d\x18", 4));
    CHECK_OK(buf_add_le32(to, (uint32_t)bytes.n));
    CHECK_OK(buf_add_str(to, bytes));
}

/* The rows of a file: the first is "reg", the others are "chunk". */
static void add_rows(struct made *m, bool is_gzip, size_t i, const char *name,
                     const uint64_t *offsets, size_t n_chunks, uint64_t end)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&m->files[i], digest);
    for (size_t k = 0; k < n_chunks || k == 0; k++) {
        CHECK_OK(buf_printf(&m->table, "%s{\"type\":\"%s\",\"name\":\"%s\"", i + k ? "," : "",
                            k ? "chunk" : "reg", name));
        if (k == 0)
            CHECK_OK(buf_printf(&m->table, ",\"size\":%zu,\"digest\":\"%s\"", sizes[i], digest));
        if (n_chunks)
            CHECK_OK(buf_printf(&m->table, ",\"offset\":%llu,\"chunkOffset\":%zu",
                                (unsigned long long)offsets[k], k * CHUNK));
        if (n_chunks > 1 && k + 1 < n_chunks)
            CHECK_OK(buf_printf(&m->table, ",\"chunkSize\":%d", CHUNK));
        if (!is_gzip && k == 0 && n_chunks)
            CHECK_OK(buf_printf(&m->table, ",\"endOffset\":%llu", (unsigned long long)end));
        CHECK_OK(buf_add_char(&m->table, '}'));
    }
}

/*
 * eStargz closes a member before each chunk, and not after the last chunk of a file; zstd:chunked
 * closes a frame there as well.
 */
static void make(struct made *m, bool is_gzip)
{
    struct tar_kit pending = { BUF_INIT(BLOB_MAX) };
    *m = (struct made){ .tar = BUF_INIT(BLOB_MAX),
                        .blob = BUF_INIT(BLOB_MAX),
                        .table = BUF_INIT(BLOB_MAX) };
    CHECK_OK(buf_add_cstr(&m->table, "{\"version\":1,\"entries\":["));
    for (size_t i = 0; i < FILES; i++) {
        char block[TAR_BLOCK_BYTES], name[16];
        uint64_t offsets[8];
        size_t n_chunks = 0;
        scoped(free_scoped) char *content = content_of(i);
        sha256_of(str_n(content, sizes[i]), m->files[i].bytes);
        (void)snprintf(name, sizeof name, "file%zu", i);
        kit_header(block, name, '0', sizes[i]);
        kit_add_block(&pending, block);
        CHECK_OK(buf_add(&m->tar, block, sizeof block));
        m->begins[i] = m->tar.n;
        for (size_t at = 0; at < sizes[i]; at += CHUNK) {
            size_t n = MIN(sizes[i] - at, (size_t)CHUNK);
            add_packed(m, is_gzip, buf_str(&pending.out));
            buf_reset(&pending.out);
            offsets[n_chunks++] = m->blob.n;
            if (is_gzip)
                CHECK_OK(buf_add(&pending.out, content + at, n));
            else
                add_packed(m, false, str_n(content + at, n));
        }
        add_rows(m, is_gzip, i, name, offsets, n_chunks, m->blob.n);
        size_t pad = -sizes[i] % TAR_BLOCK_BYTES;
        static const char zeros[TAR_BLOCK_BYTES];
        CHECK_OK(buf_add(&pending.out, zeros, pad));
        CHECK_OK(buf_add(&m->tar, content, sizes[i]));
        CHECK_OK(buf_add(&m->tar, zeros, pad));
    }
    CHECK_OK(buf_add_cstr(&m->table, "]}"));
    add_packed(m, is_gzip, buf_str(&pending.out));
    buf_fini(&pending.out);
}

static void end_estargz(struct made *m)
{
    struct tar_kit k = { BUF_INIT(BLOB_MAX) };
    m->place.at = m->blob.n;
    kit_file(&k, "stargz.index.json", buf_cstr(&m->table));
    kit_end(&k);
    add_packed(m, true, buf_str(&k.out));
    CHECK_OK(buf_add_str(&m->tar, buf_str(&k.out)));
    buf_fini(&k.out);
    m->place.n = m->blob.n - m->place.at;
    CHECK_OK(buf_add(&m->blob, "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x1a\0SG\x16\0", 16));
    CHECK_OK(buf_printf(&m->blob, "%016llxSTARGZ", (unsigned long long)m->place.at));
    CHECK_OK(buf_add(&m->blob, "\x01\0\0\xff\xff\0\0\0\0\0\0\0\0", 13));
}

static void end_zstd(struct made *m)
{
    struct made packed = { .blob = BUF_INIT(BLOB_MAX) };
    struct buf footer = BUF_INIT(128);
    add_packed(&packed, false, buf_str(&m->table));
    m->place = (struct oci_chunked_place){ m->blob.n + 8, packed.blob.n, m->table.n };
    add_skippable(&m->blob, buf_str(&packed.blob));
    CHECK_OK(buf_add_le64(&footer, m->place.at));
    CHECK_OK(buf_add_le64(&footer, m->place.n));
    CHECK_OK(buf_add_le64(&footer, m->place.n_unpacked));
    CHECK_OK(buf_add_le64(&footer, 1));
    for (size_t i = 0; i < 3; i++)
        CHECK_OK(buf_add_le64(&footer, 0));
    CHECK_OK(buf_add_cstr(&footer, "GNUlInUx"));
    add_skippable(&m->blob, buf_str(&footer));
    buf_fini(&packed.blob);
    buf_fini(&footer);
}

static void made_fini(struct made *m)
{
    buf_fini(&m->tar);
    buf_fini(&m->blob);
    buf_fini(&m->table);
}

/* ---- reading them ---- */

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

static void inflate(struct str bytes, struct buf *to)
{
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(add_to_buf, to);
    struct err err = { 0 };
    if (decompressor_add(d, bytes, &err) < 0 || decompressor_end(d, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
}

/* Inflate the parts, those with a file from the tar instead, and compare. */
static void check_parts(const struct made *m, const struct oci_chunks *c, bool is_gzip,
                        size_t n_expected)
{
    struct buf stream = BUF_INIT(BLOB_MAX), out = BUF_INIT(BLOB_MAX), piece = BUF_INIT(BLOB_MAX);
    uint64_t end = 0;
    size_t n_chunks = 0;
    for (size_t i = 0; i < c->parts.n; i++) {
        const struct oci_chunk *p = &c->parts.p[i];
        struct str bytes = str_slice(buf_str(&m->blob), (size_t)p->from, (size_t)p->to);
        CHECK_INT(p->from, end);
        CHECK(p->to > p->from && p->to <= m->blob.n);
        end = p->to;
        if (p->n == 0) {
            CHECK_OK(buf_add_str(&stream, bytes));
            continue;
        }
        size_t f = 0;
        while (!oci_digest_equal(&m->files[f], &p->file))
            f++;
        CHECK_INT(p->file_size, sizes[f]);
        struct str content = str_n(m->tar.p + m->begins[f] + p->at, (size_t)p->n);
        buf_reset(&piece);
        inflate(bytes, &piece);
        CHECK(str_eq(buf_str(&piece), content));
        for (size_t at = 0; at < content.n; at += STORED_MAX_BYTES) {
            struct str s = str_slice(content, at, at + STORED_MAX_BYTES);
            CHECK_OK(is_gzip ? stored_gzip(&stream, s) : stored_zstd(&stream, s));
        }
        n_chunks++;
    }
    CHECK_INT(n_chunks, n_expected);
    inflate(buf_str(&stream), &out);
    CHECK_INT(out.n, m->tar.n);
    CHECK(memcmp(out.p, m->tar.p, out.n) == 0);
    buf_fini(&stream);
    buf_fini(&out);
    buf_fini(&piece);
}

static struct str tail(const struct made *m, size_t n)
{
    return str_slice(buf_str(&m->blob), m->blob.n - n, m->blob.n);
}

TEST(estargz_gives_all_chunks_of_a_file_but_its_last)
{
    struct made m;
    struct oci_chunked_place place;
    struct oci_chunks c;
    struct buf table = BUF_INIT(OCI_CHUNKED_TABLE_MAX);
    make(&m, true);
    end_estargz(&m);
    CHECK_OK(oci_estargz_footer(tail(&m, OCI_ESTARGZ_FOOTER_BYTES), m.blob.n, &place, NULL));
    CHECK(place.at == m.place.at && place.n == m.place.n);
    CHECK_OK(oci_estargz_table(str_n(m.blob.p + place.at, (size_t)place.n), &table, NULL));
    CHECK(str_eq(buf_str(&table), buf_str(&m.table)));
    CHECK_OK(oci_estargz_parts(buf_str(&table), &place, m.blob.n, &c, NULL));
    check_parts(&m, &c, true, 2); /* of the file with three */
    CHECK_INT(c.parts.p[c.parts.n - 1].to, m.blob.n);
    oci_chunks_fini(&c);
    buf_fini(&table);
    made_fini(&m);
}

TEST(zstd_chunked_gives_each_chunk)
{
    struct made m;
    struct oci_chunked_place place;
    struct oci_chunks c;
    char text[100];
    struct buf table = BUF_INIT(OCI_CHUNKED_TABLE_MAX + 1);
    make(&m, false);
    end_zstd(&m);
    (void)snprintf(text, sizeof text, "%llu:%llu:%llu:1", (unsigned long long)m.place.at,
                   (unsigned long long)m.place.n, (unsigned long long)m.place.n_unpacked);
    CHECK_OK(oci_zstd_chunked_position(str_of(text), m.blob.n, &place, NULL));
    CHECK(memcmp(&place, &m.place, sizeof place) == 0);
    CHECK_OK(
        oci_zstd_chunked_table(str_n(m.blob.p + place.at, (size_t)place.n), &place, &table, NULL));
    CHECK_OK(oci_zstd_chunked_parts(buf_str(&table), &place, &c, NULL));
    check_parts(&m, &c, false, 3 + 1 + 1 + 1);
    oci_chunks_fini(&c);
    buf_fini(&table);
    made_fini(&m);
}

#define DIGEST "\"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""

/* stargz-snapshotter writes its zstd:chunked as it does eStargz, and says no ends. */
TEST(a_chunk_whose_end_is_not_stated_is_not_left_out)
{
    static const char table[] =
        "{\"version\":1,\"entries\":["
        "{\"type\":\"reg\",\"name\":\"a\",\"size\":20,\"digest\":" DIGEST
        ",\"offset\":10},{\"type\":\"chunk\",\"name\":\"a\",\"offset\":20,\"chunkOffset\":8},"
        "{\"type\":\"reg\",\"name\":\"b\",\"size\":9,\"digest\":" DIGEST ",\"offset\":40}]}";
    const struct oci_chunked_place place = { 100, 10, 10 };
    struct oci_chunks c;
    CHECK_OK(oci_zstd_chunked_parts(str_of(table), &place, &c, NULL));
    CHECK_INT(c.parts.n, 4);
    CHECK(c.parts.p[1].from == 10 && c.parts.p[1].to == 20 && c.parts.p[1].n == 8);
    CHECK(c.parts.p[2].to == 40 && c.parts.p[2].n == 0);
    CHECK(c.parts.p[3].to == 92 && c.parts.p[3].n == 0);
    oci_chunks_fini(&c);
}

TEST(footers_that_are_none_are_refused)
{
    struct made m;
    struct oci_chunked_place place;
    make(&m, true);
    end_estargz(&m);
    struct str footer = tail(&m, OCI_ESTARGZ_FOOTER_BYTES);
    char room[OCI_ESTARGZ_FOOTER_BYTES];
    static const size_t at[] = { 0, 3, 10, 12, 14, 16 + 16, 20 };
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        memcpy(room, footer.p, sizeof room);
        room[at[i]] = 'x';
        CHECK_ERR(oci_estargz_footer(str_n(room, sizeof room), m.blob.n, &place, NULL), E_PARSE);
    }
    CHECK_ERR(oci_estargz_footer(footer, m.place.at + 50, &place, NULL), E_PARSE);
    CHECK_ERR(oci_estargz_footer(str_slice(footer, 1, 51), m.blob.n, &place, NULL), E_PARSE);
    made_fini(&m);
    static const struct {
        const char *text;
        int code;
    } rows[] = {
        { "", E_PARSE },         { "1:2:3", E_PARSE },         { "1:2:3:4:5", E_PARSE },
        { "1:2:x:1", E_PARSE },  { "1:2:3:2", E_UNSUPPORTED }, { "999:2:3:1", E_PARSE },
        { "99:2:3:1", E_PARSE }, { "1:0:3:1", E_PARSE },       { "1:2:99999999:1", E_LIMIT }
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_ERR(oci_zstd_chunked_position(str_of(rows[i].text), 100, &place, NULL), rows[i].code);
}

#define TABLE(rows) "{\"version\":1,\"entries\":[" rows "]}"
#define FILE_AT(from, end)                                                                         \
    "{\"type\":\"reg\",\"name\":\"a\",\"size\":9,\"digest\":" DIGEST ",\"offset\":" from           \
    ",\"endOffset\":" end "}"

TEST(tables_that_contradict_themselves_are_refused)
{
    static const char *const wrong[] = {
        "[]",
        "{\"version\":2,\"entries\":[]}",
        TABLE(FILE_AT("10", "10")),                                      /* no bytes */
        TABLE(FILE_AT("10", "9")),                                       /* before its beginning */
        TABLE(FILE_AT("10", "93")),                                      /* in the table */
        TABLE(FILE_AT("-1", "20")),                                      /* no number */
        TABLE(FILE_AT("10", "30") "," FILE_AT("20", "40")),              /* one in the other */
        TABLE(FILE_AT("30", "40") "," FILE_AT("10", "20")),              /* backwards */
        TABLE("{\"type\":\"chunk\",\"name\":\"a\",\"offset\":1}"),       /* of no file */
        TABLE(FILE_AT("10", "30") ",{\"type\":\"chunk\",\"name\":\"b\"," /* of another */
                                  "\"offset\":20,\"chunkOffset\":5}"),
        TABLE(FILE_AT("10", "30") ",{\"type\":\"chunk\",\"name\":\"a\"," /* beyond the file */
                                  "\"offset\":20,\"chunkOffset\":9}"),
        TABLE(FILE_AT("10", "30") ",{\"type\":\"chunk\",\"name\":\"a\"," /* at the same bytes */
                                  "\"offset\":10,\"chunkOffset\":5}"),
        TABLE("{\"type\":\"reg\",\"name\":\"a\",\"size\":9,\"offset\":1,\"innerOffset\":3}"),
    };
    const struct oci_chunked_place place = { 100, 10, 10 };
    struct oci_chunks c;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (oci_zstd_chunked_parts(str_of(wrong[i]), &place, &c, NULL) >= 0)
            TEST_FAIL("taken: %s", wrong[i]);
    CHECK_OK(oci_zstd_chunked_parts(STR(TABLE(FILE_AT("10", "30"))), &place, &c, NULL));
    CHECK_INT(c.parts.n, 3);
    CHECK(c.parts.p[0].to == 10 && c.parts.p[1].n == 9 && c.parts.p[2].to == 92);
    oci_chunks_fini(&c);
}

/* ---- writing ---- */

static void add_row(struct oci_toc *t, const struct tar_entry *e,
                    const struct oci_toc_chunk *chunks, size_t n, uint64_t end)
{
    struct oci_digest file;
    memset(file.bytes, 7, sizeof file.bytes);
    CHECK_OK(oci_toc_add(t, e, e->type == TAR_FILE ? &file : NULL, chunks, n, end, NULL));
}

TEST(a_table_that_was_written_gives_all_chunks)
{
    static const struct oci_toc_chunk chunks[] = { { .offset = 100, .n = 4 << 20 },
                                                   { .offset = 900, .at = 4 << 20, .n = 10 } };
    struct oci_toc_chunk small = { .offset = 2000, .n = 5 };
    struct oci_toc t;
    struct oci_chunks c;
    struct oci_chunked_place place = { 5000, 100, 0 }, found;
    struct str json;
    struct buf footer = BUF_INIT(OCI_ESTARGZ_FOOTER_BYTES);
    const struct tar_xattr xattr = { STR("user.a"), STR("\xff") };
    oci_toc_init(&t, OCI_TOC_ESTARGZ);
    add_row(&t, &(struct tar_entry){ .type = TAR_DIR, .path = STR("") }, NULL, 0, 0);
    add_row(&t,
            &(struct tar_entry){ .path = STR("big"),
                                 .size = (4 << 20) + 10,
                                 .mode = 04755,
                                 .mtime_s = 1700000000,
                                 .xattrs = &xattr,
                                 .n_xattrs = 1 },
            chunks, 2, 1000);
    add_row(&t, &(struct tar_entry){ .path = STR("small"), .size = 5, .mtime_s = INT64_MAX },
            &small, 1, 0);
    add_row(&t, &(struct tar_entry){ .type = TAR_HARDLINK, .path = STR("l"), .link = STR("big") },
            NULL, 0, 0);
    CHECK_OK(oci_toc_end(&t, NULL, &json, NULL));
    CHECK(strstr(json.p, "{\"name\":\"./\",\"type\":\"dir\"}"));
    CHECK(strstr(json.p, "\"mode\":2541") && strstr(json.p, "\"user.a\":\"/w==\""));
    CHECK(strstr(json.p, "\"modtime\":\"2023-11-14T22:13:20Z\"") &&
          !strstr(json.p, "small\",\"type\":\"reg\",\"size\":5,\"modtime"));
    CHECK(strstr(json.p, "{\"name\":\"l\",\"type\":\"hardlink\",\"linkName\":\"big\"}"));
    CHECK_OK(oci_estargz_write_footer(&footer, place.at));
    CHECK_OK(oci_estargz_footer(buf_str(&footer), 5000 + 100 + footer.n, &found, NULL));
    CHECK(found.at == place.at && found.n == place.n);
    CHECK_OK(oci_estargz_parts(json, &place, 5000 + 100 + footer.n, &c, NULL));
    CHECK_INT(c.parts.n, 6);
    CHECK(c.parts.p[1].from == 100 && c.parts.p[1].to == 900 && c.parts.p[1].n == 4 << 20);
    CHECK(c.parts.p[2].to == 1000 && c.parts.p[2].at == 4 << 20 && c.parts.p[2].n == 10);
    CHECK(c.parts.p[4].from == 2000 && c.parts.p[4].n == 0); /* shares its member */
    oci_chunks_fini(&c);
    const struct tar_entry odd = { .path = STR("caf\xe9") };
    CHECK_ERR(oci_toc_add(&t, &odd, NULL, NULL, 0, 0, NULL), E_UNSUPPORTED);
    oci_toc_fini(&t);
    buf_fini(&footer);
}

static void check_time(const struct tar_entry *e, const char *want)
{
    struct oci_toc t;
    struct str json;
    oci_toc_init(&t, OCI_TOC_ZSTD_CHUNKED);
    int r = oci_toc_add(&t, e, NULL, NULL, 0, 0, NULL);
    if (want) {
        CHECK_OK(r);
        CHECK_OK(oci_toc_end(&t, NULL, &json, NULL));
        if (!strstr(json.p, want))
            TEST_FAIL("%s", json.p);
    } else {
        CHECK_ERR(r, E_UNSUPPORTED);
    }
    oci_toc_fini(&t);
}

TEST(a_table_of_zstd_chunked_has_the_times_of_the_tar)
{
    check_time(&(struct tar_entry){ .path = STR("f"), .mtime_s = 1700000000, .mtime_ns = 7 },
               "\"modtime\":\"2023-11-14T22:13:20.000000007Z\"");
    check_time(&(struct tar_entry){ .path = STR("f"), .mtime_s = -1 },
               "\"modtime\":\"1969-12-31T23:59:59Z\"");
    check_time(&(struct tar_entry){ .path = STR("f"), .mtime_s = 253402300800 }, NULL);
    check_time(&(struct tar_entry){ .path = STR("f"), .mtime_s = INT64_MIN }, NULL);
}

TEST(what_follows_a_zstd_chunked_layer_is_found_again)
{
    static const struct oci_toc_chunk chunks[] = { { .offset = 100, .n = 4 << 20 },
                                                   { .offset = 900, .at = 4 << 20, .n = 10 } };
    struct oci_toc t;
    struct oci_digest split, found;
    struct oci_chunks c;
    struct oci_zstd_chunked_tail tail;
    struct oci_chunked_place place;
    struct str json;
    char text[100];
    struct buf blob = BUF_INIT(1 << 20), table = BUF_INIT(1 << 20);
    memset(split.bytes, 9, sizeof split.bytes);
    oci_toc_init(&t, OCI_TOC_ZSTD_CHUNKED);
    add_row(&t, &(struct tar_entry){ .path = STR("big"), .size = (4 << 20) + 10 }, chunks, 2, 1000);
    CHECK_OK(oci_toc_end(&t, &split, &json, NULL));
    CHECK(strstr(json.p, "\"chunkSize\":10") &&
          strstr(json.p, "],\"tarSplitDigest\":\"sha256:0909"));
    CHECK_OK(oci_zstd_chunked_write_tail(json, STR("a frame"), 70, 2000, &blob, &tail, NULL));
    (void)snprintf(text, sizeof text, "%llu:%llu:%llu:1", (unsigned long long)tail.table.at,
                   (unsigned long long)tail.table.n, (unsigned long long)tail.table.n_unpacked);
    CHECK_OK(oci_zstd_chunked_position(str_of(text), 2000 + blob.n, &place, NULL));
    struct str packed =
        str_slice(buf_str(&blob), (size_t)place.at - 2000, (size_t)(place.at + place.n) - 2000);
    sha256_of(packed, found.bytes);
    CHECK(oci_digest_equal(&found, &tail.digest));
    CHECK_OK(oci_zstd_chunked_table(packed, &place, &table, NULL));
    CHECK(str_eq(buf_str(&table), json));
    CHECK_OK(oci_zstd_chunked_parts(json, &place, &c, NULL));
    CHECK_INT(c.parts.n, 4); /* before, two chunks, up to the table */
    CHECK(c.parts.p[2].to == 1000 && c.parts.p[2].at == 4 << 20 && c.parts.p[2].n == 10);
    CHECK(str_eq(
        str_slice(buf_str(&blob), (size_t)tail.split.at - 2000, (size_t)tail.split.at - 2000 + 7),
        STR("a frame")));
    CHECK_INT(tail.split.n_unpacked, 70);
    CHECK(str_has_suffix(buf_str(&blob), STR("GNUlInUx")));
    CHECK_INT(blob.n, tail.split.at + 7 + 8 + 64 - 2000);
    oci_chunks_fini(&c);
    oci_toc_fini(&t);
    buf_fini(&blob);
    buf_fini(&table);
}

/* ---- tar-split ---- */

static void inflate_split(struct oci_tar_split *s, struct buf *to)
{
    struct str frame;
    uint64_t n;
    CHECK_OK(oci_tar_split_end(s, &frame, &n, NULL));
    CHECK_OK(buf_reserve(to, (size_t)n + 1, &(char *){ NULL }));
    CHECK_INT(ZSTD_decompress(to->p, (size_t)n + 1, frame.p, frame.n), n);
    buf_advance(to, (size_t)n);
}

TEST(a_tar_split_has_all_of_a_tar_but_contents)
{
    struct buf lines = BUF_INIT(1 << 20);
    scoped(oci_tar_split_free_scoped) struct oci_tar_split *s = oci_tar_split_new();
    oci_tar_split_bytes(s, STR("head"));
    oci_tar_split_bytes(s, STR("er"));
    oci_tar_split_entry(s, STR("d/"), 0);
    oci_tar_split_bytes(s, STR("\x80"));
    oci_tar_split_content(s, STR("12345"));
    oci_tar_split_content(s, STR("6789"));
    oci_tar_split_entry(s, STR("d/\"f"), 9);
    oci_tar_split_bytes(s, STR("end"));
    inflate_split(s, &lines);
    CHECK_STR(buf_str(&lines),
              "{\"type\":2,\"payload\":\"aGVhZGVy\",\"position\":0}\n"
              "{\"type\":1,\"name\":\"d/\",\"payload\":null,\"position\":1}\n"
              "{\"type\":2,\"payload\":\"gA==\",\"position\":2}\n"
              "{\"type\":1,\"name\":\"d/\\\"f\",\"size\":9,"
              "\"payload\":\"uQlWx3WkEAE=\",\"position\":3}\n" /* of CRC catalogues */
              "{\"type\":2,\"payload\":\"ZW5k\",\"position\":4}\n");
    buf_fini(&lines);
}

TEST(a_tar_split_is_compressed_as_it_grows)
{
    enum { N = 20000 };
    char header[TAR_BLOCK_BYTES];
    struct buf lines = BUF_INIT(64 << 20);
    size_t n = 0;
    scoped(oci_tar_split_free_scoped) struct oci_tar_split *s = oci_tar_split_new();
    for (size_t i = 0; i < N; i++) {
        memset(header, (int)i, sizeof header);
        oci_tar_split_bytes(s, str_n(header, sizeof header));
        oci_tar_split_entry(s, STR("f"), 0);
    }
    inflate_split(s, &lines);
    for (const char *at = lines.p; (at = memchr(at, '\n', (size_t)(lines.p + lines.n - at))); at++)
        n++;
    CHECK_INT(n, 2 * N);
    CHECK(strstr(lines.p + lines.n - 60, "\"position\":39999}\n"));
    buf_fini(&lines);
}

TEST_MAIN
