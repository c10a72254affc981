/* SPDX-License-Identifier: Apache-2.0 */
/* codec/tar_write and codec/pieces: what is written reads back equal, and is always equal. */
#include "codec/decompress.h"
#include "codec/pieces.h"
#include "codec/tar_write.h"
#include "test.h"

#include <errno.h>

enum { LONG_MAX_BYTES = 600 };

/* The one entry of an archive, compared while it is there. */
struct expected {
    const struct tar_entry *want;
    size_t n_seen;
    uint64_t n_data;
};

static int on_entry(void *arg, const struct tar_entry *e, struct err *err)
{
    struct expected *x = arg;
    const struct tar_entry *w = x->want;
    (void)err;
    x->n_seen++;
    CHECK_INT(e->type, w->type);
    CHECK(str_eq(e->path, w->path));
    CHECK(str_eq(e->link, w->link));
    CHECK_INT(e->mode, w->mode);
    CHECK_INT(e->uid, w->uid);
    CHECK_INT(e->gid, w->gid);
    CHECK_INT(e->mtime_s, w->mtime_s);
    CHECK_INT(e->mtime_ns, w->mtime_ns);
    CHECK_INT(e->size, w->size);
    CHECK_INT(e->device_major, w->device_major);
    CHECK_INT(e->device_minor, w->device_minor);
    CHECK_INT(e->n_xattrs, w->n_xattrs);
    for (size_t i = 0; i < e->n_xattrs; i++)
        CHECK(str_eq(e->xattrs[i].name, w->xattrs[i].name) &&
              str_eq(e->xattrs[i].value, w->xattrs[i].value));
    CHECK_INT(e->data_offset % TAR_BLOCK_BYTES, 0);
    CHECK(!e->is_sparse);
    return 0;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct expected *x = arg;
    (void)err;
    x->n_data += bytes.n;
    return 0;
}

static int on_hole(void *arg, uint64_t n, struct err *err)
{
    (void)arg, (void)err;
    CHECK_INT(n, 0);
    return 0;
}

static void write_entry(struct buf *to, const struct tar_entry *e)
{
    char *room;
    CHECK_OK(tar_write_header(to, e, NULL));
    if (e->size <= 1 << 16) {
        CHECK_OK(buf_reserve(to, (size_t)e->size, &room));
        memset(room, 'x', (size_t)e->size);
        buf_advance(to, (size_t)e->size);
        CHECK_OK(tar_write_padding(to, e->size));
    }
}

static void check_round_trip(const struct tar_entry *e)
{
    static const struct tar_ops ops = { .entry = on_entry, .data = on_data, .hole = on_hole };
    scoped(buf_fini_scoped) struct buf tar = BUF_INIT(4 << 20), again = BUF_INIT(4 << 20);
    struct expected x = { .want = e };
    struct err err = { 0 };
    scoped(tar_reader_free_scoped) struct tar_reader *r = tar_reader_new(&ops, &x);
    write_entry(&tar, e);
    write_entry(&again, e);
    CHECK(str_eq(buf_str(&tar), buf_str(&again)));
    CHECK_INT(tar.n % TAR_BLOCK_BYTES, 0);
    bool is_whole = e->size <= 1 << 16;
    if (is_whole)
        CHECK_OK(tar_write_end(&tar));
    if (tar_reader_add(r, buf_str(&tar), &err) < 0)
        TEST_FAIL("%s", err.text);
    CHECK_INT(x.n_seen, 1);
    if (is_whole) {
        CHECK_OK(tar_reader_end(r, NULL));
        CHECK_INT(x.n_data, e->size);
    }
}

TEST(a_plain_file_is_one_block_of_ustar)
{
    scoped(buf_fini_scoped) struct buf tar = BUF_INIT(1 << 16);
    struct tar_entry e = { .type = TAR_FILE, .path = STR("etc/motd"), .mode = 0644, .mtime_s = 1 };
    CHECK_OK(tar_write_header(&tar, &e, NULL));
    CHECK_INT(tar.n, TAR_BLOCK_BYTES);
    CHECK(memcmp(tar.p, "etc/motd\0", 9) == 0);
    CHECK(memcmp(tar.p + 100, "0000644\0000000000\0000000000\00000000000000\00000000000001\0",
                 48) == 0);
    CHECK(memcmp(tar.p + 257, "ustar\00000", 8) == 0);
    CHECK(tar.p[154] == 0 && tar.p[155] == ' ');
    uint32_t sum = 0, output = 0;
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++)
        sum += i >= 148 && i < 156 ? ' ' : (uint8_t)tar.p[i];
    for (size_t i = 148; i < 154; i++)
        output = output * 8 + (uint32_t)(tar.p[i] - '0');
    CHECK_INT(output, sum);
    for (size_t i = 265; i < TAR_BLOCK_BYTES; i++)
        CHECK(tar.p[i] == 0 || (i >= 329 && i < 345));
}

TEST(every_type_reads_back)
{
    for (int type = TAR_FILE; type <= TAR_FIFO; type++) {
        struct tar_entry e = {
            .type = (enum tar_type)type, .path = STR("d/x"), .mode = 07755, .uid = 3, .gid = 4
        };
        if (type == TAR_SYMLINK || type == TAR_HARDLINK)
            e.link = STR("d/y");
        if (type == TAR_CHAR_DEVICE || type == TAR_BLOCK_DEVICE)
            e.device_major = 259, e.device_minor = 0xfffff;
        e.size = type == TAR_FILE ? 1000 : 0;
        check_round_trip(&e);
    }
    check_round_trip(&(struct tar_entry){ .type = TAR_DIR, .mode = 0755 }); /* the root */
}

TEST(numbers_that_ustar_cannot_hold_read_back)
{
    static const int64_t times[] = {
        0, 1, -1, -1000000000, 0777777777777 >> 3, (int64_t)1 << 40, INT64_MIN / 2
    };
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        for (uint32_t ns = 0; ns < 1000000000; ns = ns * 7 + 1) {
            struct tar_entry e = {
                .type = TAR_FILE, .path = STR("x"), .mtime_s = times[i], .mtime_ns = ns
            };
            check_round_trip(&e);
        }
    struct tar_entry e = { .type = TAR_FILE,
                           .path = STR("x"),
                           .uid = UINT32_MAX,
                           .gid = 1 << 21,
                           .size = (uint64_t)1 << 35 };
    check_round_trip(&e);
    e.size = ((uint64_t)1 << 33) - 1;
    check_round_trip(&e);
}

TEST(names_of_every_length_and_any_bytes_read_back)
{
    char path[LONG_MAX_BYTES], link[LONG_MAX_BYTES];
    for (size_t n = 90; n < LONG_MAX_BYTES; n++)
        for (size_t every = 20; every < 250; every = every * 3 + n % 7) {
            for (size_t i = 0; i < n; i++) {
                path[i] = i % every == every - 1 && i + 1 < n ? '/' : (char)(0x80 + (i * 7) % 0x7f);
                link[i] = (char)('a' + i % 26);
            }
            struct tar_entry e = {
                .type = TAR_SYMLINK, .path = str_n(path, n), .link = str_n(link, n), .mode = 0777
            };
            check_round_trip(&e);
            e = (struct tar_entry){ .type = TAR_DIR, .path = str_n(path, n), .mode = 0755 };
            check_round_trip(&e);
        }
}

TEST(extended_attributes_of_any_bytes_read_back)
{
    char value[300];
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (char)i;
    for (size_t n = 1; n < sizeof value; n++) {
        const struct tar_xattr x[] = { { STR("security.capability"), str_n(value, n) },
                                       { STR("user.a"), STR("b\n") } };
        struct tar_entry e = {
            .type = TAR_FILE, .path = STR("bin/ping"), .xattrs = x, .n_xattrs = 2, .size = n
        };
        check_round_trip(&e);
    }
}

TEST(what_the_format_cannot_hold_is_refused)
{
    scoped(buf_fini_scoped) struct buf tar = BUF_INIT(1 << 16);
    struct err err = { 0 };
    struct tar_entry e = { .type = TAR_CHAR_DEVICE, .path = STR("dev/x"), .device_minor = 1 << 21 };
    CHECK_ERR(tar_write_header(&tar, &e, &err), E_UNSUPPORTED);
    CHECK(str_find(str_of(err.text), STR("dev/x")) >= 0);
    const struct tar_xattr x = { STR("user.a=b"), STR("c") };
    e = (struct tar_entry){ .type = TAR_FILE, .path = STR("f"), .xattrs = &x, .n_xattrs = 1 };
    CHECK_ERR(tar_write_header(&tar, &e, NULL), E_UNSUPPORTED);
    CHECK_INT(tar.n, 0);
}

/* ---- compression ---- */

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

static void compress(enum pieces_how how, struct str bytes, size_t step, struct buf *to)
{
    scoped(pieces_free_scoped) struct pieces *g = pieces_new(how, add_to_buf, to);
    for (size_t at = 0; at < bytes.n; at += step)
        CHECK_OK(pieces_add(g, str_slice(bytes, at, at + step), NULL));
    CHECK_OK(pieces_end(g, NULL));
}

static void check_pieces(enum pieces_how how)
{
    static const size_t sizes[] = { 0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 9 << 20 };
    scoped(free_scoped) char *bytes = xalloc(9 << 20);
    for (size_t i = 0; i < 9 << 20; i += 8)
        bytes[i] = (char)test_random();
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        scoped(buf_fini_scoped) struct buf one = BUF_INIT(32 << 20), two = BUF_INIT(32 << 20),
                                           back = BUF_INIT(32 << 20);
        struct str all = str_n(bytes, sizes[i]);
        compress(how, all, MAX(sizes[i], (size_t)1), &one);
        compress(how, all, 65521, &two);
        CHECK(str_eq(buf_str(&one), buf_str(&two)));
        if (how == PIECES_GZIP) /* no name, no time, system 255 */
            CHECK(memcmp(one.p, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) == 0);
        else
            CHECK(memcmp(one.p, "\x28\xb5\x2f\xfd", 4) == 0);
        scoped(decompressor_free_scoped) struct decompressor *d =
            decompressor_new(add_to_buf, &back);
        CHECK_OK(decompressor_add(d, buf_str(&one), NULL));
        CHECK_OK(decompressor_end(d, NULL));
        CHECK(str_eq(buf_str(&back), all));
    }
}

TEST(pieces_do_not_depend_on_how_the_bytes_came_and_read_back)
{
    check_pieces(PIECES_GZIP);
    check_pieces(PIECES_ZSTD);
}

static void check_cuts(enum pieces_how how)
{
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(1 << 20), parts = BUF_INIT(1 << 20);
    struct pieces *g = pieces_new(how, add_to_buf, &whole);
    CHECK_OK(pieces_cut(g, NULL)); /* nothing is there */
    CHECK_INT(whole.n, 0);
    CHECK_OK(pieces_add(g, STR("one"), NULL));
    CHECK_OK(pieces_cut(g, NULL));
    CHECK_OK(pieces_cut(g, NULL));
    size_t first = whole.n;
    CHECK_OK(pieces_add(g, STR("two"), NULL));
    CHECK_OK(pieces_end(g, NULL));
    pieces_free(g);
    compress(how, STR("one"), 3, &parts);
    CHECK_INT(first, parts.n);
    compress(how, STR("two"), 3, &parts);
    CHECK(str_eq(buf_str(&whole), buf_str(&parts)));
}

TEST(pieces_end_where_they_are_cut)
{
    check_cuts(PIECES_GZIP);
    check_cuts(PIECES_ZSTD);
}

static int refuse(void *arg, struct str bytes, struct err *err)
{
    (void)arg, (void)bytes;
    return err_set(err, -ENOSPC, "full");
}

TEST(an_error_of_the_sink_ends_the_compression)
{
    scoped(pieces_free_scoped) struct pieces *g = pieces_new(PIECES_GZIP, refuse, NULL);
    CHECK_OK(pieces_add(g, STR("x"), NULL));
    CHECK_ERR(pieces_end(g, NULL), -ENOSPC);
}

TEST_MAIN
