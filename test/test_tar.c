/* SPDX-License-Identifier: Apache-2.0 */
/* codec/tar: dialects, limits, and what is refused. Each archive is read in pieces of every size.
 */
#include "tar_kit.h"

/* What was read, as one text: a line for each entry. */
struct seen {
    struct buf text;
    struct buf content;
};

static int on_entry(void *arg, const struct tar_entry *e, struct err *err)
{
    struct seen *s = arg;
    (void)err;
    CHECK_OK(buf_printf(&s->text, "%d '" STR_FMT "' -> '" STR_FMT "' %o %u:%u %lld.%09u %llu",
                        e->type, STR_ARG(e->path), STR_ARG(e->link), e->mode, e->uid, e->gid,
                        (long long)e->mtime_s, e->mtime_ns, (unsigned long long)e->size));
    if (e->type == TAR_CHAR_DEVICE)
        CHECK_OK(buf_printf(&s->text, " %u,%u", e->device_major, e->device_minor));
    for (size_t i = 0; i < e->n_xattrs; i++)
        CHECK_OK(buf_printf(&s->text, " " STR_FMT "=" STR_FMT, STR_ARG(e->xattrs[i].name),
                            STR_ARG(e->xattrs[i].value)));
    return buf_add_char(&s->text, '\n');
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct seen *s = arg;
    (void)err;
    return buf_add_str(&s->content, bytes);
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    struct seen *s = arg;
    (void)err;
    for (uint64_t i = 0; i < n_bytes; i++)
        CHECK_OK(buf_add_char(&s->content, '.'));
    return 0;
}

static const struct tar_ops ops = { .entry = on_entry, .data = on_data, .hole = on_hole };

static int read_in_pieces(struct str tar, size_t piece, struct seen *s, struct err *err)
{
    scoped(tar_reader_free_scoped) struct tar_reader *r = tar_reader_new(&ops, s);
    buf_init(&s->text, 1 << 20);
    buf_init(&s->content, 1 << 20);
    for (size_t at = 0; at < tar.n; at += piece) {
        int status = tar_reader_add(r, str_slice(tar, at, at + piece), err);
        if (status < 0)
            return status;
    }
    return tar_reader_end(r, err);
}

static void seen_fini(struct seen *s)
{
    buf_fini(&s->text);
    buf_fini(&s->content);
}

/* Pieces of many sizes give the same; *content may be NULL. */
static void check_reads(const struct tar_kit *k, const char *text, const char *content)
{
    static const size_t pieces[] = { 1, 7, 511, 512, 513, 4096, 1 << 20 };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        struct seen s;
        struct err err = { 0 };
        int r = read_in_pieces(buf_str(&k->out), pieces[i], &s, &err);
        if (r < 0)
            TEST_FAIL("pieces of %zu: %s", pieces[i], err_text(&err));
        CHECK_STR(buf_str(&s.text), text);
        if (content)
            CHECK_STR(buf_str(&s.content), content);
        seen_fini(&s);
    }
}

static void check_refuses(const struct tar_kit *k, int code, const char *word)
{
    static const size_t pieces[] = { 1, 513, 1 << 20 };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        struct seen s;
        struct err err = { 0 };
        CHECK_ERR(read_in_pieces(buf_str(&k->out), pieces[i], &s, &err), code);
        if (!strstr(err_text(&err), word))
            TEST_FAIL("'%s' does not say '%s'", err_text(&err), word);
        seen_fini(&s);
    }
}

static void kit_init(struct tar_kit *k)
{
    buf_init(&k->out, 8 << 20);
}

TEST(entries_of_all_types_come_with_their_attributes)
{
    struct tar_kit k;
    char block[TAR_BLOCK_BYTES];
    kit_init(&k);
    kit_dir(&k, "./");
    kit_dir(&k, "./etc/");
    kit_file(&k, "/etc//./passwd", "root\n");
    kit_link(&k, "etc/alias", '2', "../x/./y");
    kit_link(&k, "etc/same", '1', "./etc/passwd");
    kit_header(block, "dev/tty", '3', 0);
    kit_octal(block + 329, 8, 5);
    kit_octal(block + 337, 8, 1);
    kit_add_block(&k, block);
    kit_header(block, "run/pipe", '6', 0);
    kit_octal(block + 100, 8, 04755);
    kit_add_block(&k, block);
    kit_end(&k);
    check_reads(&k,
                "1 '' -> '' 755 1000:100 1700000000.000000000 0\n"
                "1 'etc' -> '' 755 1000:100 1700000000.000000000 0\n"
                "0 'etc/passwd' -> '' 644 1000:100 1700000000.000000000 5\n"
                "2 'etc/alias' -> '../x/./y' 644 1000:100 1700000000.000000000 0\n"
                "3 'etc/same' -> 'etc/passwd' 644 1000:100 1700000000.000000000 0\n"
                "4 'dev/tty' -> '' 644 1000:100 1700000000.000000000 0 5,1\n"
                "6 'run/pipe' -> '' 4755 1000:100 1700000000.000000000 0\n",
                "root\n");
    buf_fini(&k.out);
}

TEST(a_pax_header_overrides_the_block_for_one_entry)
{
    static const char *const records[] = { "path=very/long",
                                           "mtime=-1.25",
                                           "uid=4000000000",
                                           "SCHILY.xattr.user.b=two",
                                           "SCHILY.xattr.user.a=one",
                                           "LIBARCHIVE.xattr.user.%63=dGhyZWU",
                                           "comment=none",
                                           "SCHILY.xattr.user.b=2" };
    struct tar_kit k;
    kit_init(&k);
    kit_pax(&k, records, ARRAY_LEN(records));
    kit_file(&k, "short", "x");
    kit_file(&k, "next", "y");
    kit_end(&k);
    check_reads(&k,
                "0 'very/long' -> '' 644 4000000000:100 -2.750000000 1 user.a=one user.b=2 "
                "user.c=three\n"
                "0 'next' -> '' 644 1000:100 1700000000.000000000 1\n",
                "xy");
    buf_fini(&k.out);
}

TEST(gnu_long_names_prefixes_and_base_256_are_read)
{
    struct tar_kit k;
    char block[TAR_BLOCK_BYTES], name[181];
    memset(name, 'n', 180);
    name[180] = 0;
    kit_init(&k);
    kit_header(block, "././@LongLink", 'L', 181);
    kit_add_block(&k, block);
    kit_add_padded(&k, str_n(name, 181));
    kit_file(&k, "cut", "");
    kit_header(block, "name", '0', 0);
    memcpy(block + 345, "the/prefix", 10);
    kit_add_block(&k, block);
    kit_header(block, "big-id", '0', 0);
    memset(block + 108, 0, 8);
    memcpy(block + 108, "\x80\0\0\0\xff\xff\xff\xfe", 8);
    memset(block + 136, 0xff, 12); /* -1 */
    kit_add_block(&k, block);
    kit_header(block, "old/", 0, 0);
    memset(block + 257, 0, 255); /* v7 */
    kit_add_block(&k, block);
    kit_end(&k);
    scoped(buf_fini_scoped) struct buf want = BUF_INIT(4096);
    CHECK_OK(buf_printf(&want,
                        "0 '%s' -> '' 644 1000:100 1700000000.000000000 0\n"
                        "0 'the/prefix/name' -> '' 644 1000:100 1700000000.000000000 0\n"
                        "0 'big-id' -> '' 644 4294967294:100 -1.000000000 0\n"
                        "1 'old' -> '' 644 1000:100 1700000000.000000000 0\n",
                        name));
    check_reads(&k, buf_cstr(&want), "");
    buf_fini(&k.out);
}

TEST(sparse_files_of_every_format_have_their_holes)
{
    static const char *const v00[] = { "GNU.sparse.size=10",  "GNU.sparse.numblocks=2",
                                       "GNU.sparse.offset=2", "GNU.sparse.numbytes=3",
                                       "GNU.sparse.offset=8", "GNU.sparse.numbytes=1" };
    static const char *const v01[] = { "GNU.sparse.size=10", "GNU.sparse.name=real",
                                       "GNU.sparse.map=2,3,8,1" };
    static const char *const v10[] = { "GNU.sparse.major=1", "GNU.sparse.minor=0",
                                       "GNU.sparse.name=real", "GNU.sparse.realsize=10" };
    struct tar_kit k;
    char block[TAR_BLOCK_BYTES];
    kit_init(&k);
    kit_pax(&k, v00, ARRAY_LEN(v00));
    kit_file(&k, "a", "abcd");
    kit_pax(&k, v01, ARRAY_LEN(v01));
    kit_file(&k, "GNUSparseFile.0/b", "abcd");
    kit_pax(&k, v10, ARRAY_LEN(v10));
    kit_header(block, "GNUSparseFile.0/c", '0', 512 + 4);
    kit_add_block(&k, block);
    kit_add_padded(&k, STR("2\n2\n3\n8\n1\n"));
    kit_add_padded(&k, STR("abcd"));
    kit_header(block, "d", 'S', 4);
    memcpy(block + 257, "ustar  ", 8);
    kit_octal(block + 386, 12, 2);
    kit_octal(block + 398, 12, 3);
    kit_octal(block + 410, 12, 8);
    kit_octal(block + 422, 12, 1);
    kit_octal(block + 483, 12, 10);
    kit_add_block(&k, block);
    kit_add_padded(&k, STR("abcd"));
    kit_file(&k, "after", "!");
    kit_end(&k);
    check_reads(&k,
                "0 'a' -> '' 644 1000:100 1700000000.000000000 10\n"
                "0 'real' -> '' 644 1000:100 1700000000.000000000 10\n"
                "0 'real' -> '' 644 1000:100 1700000000.000000000 10\n"
                "0 'd' -> '' 644 1000:100 1700000000.000000000 10\n"
                "0 'after' -> '' 644 1000:100 1700000000.000000000 1\n",
                "..abc...d...abc...d...abc...d...abc...d.!");
    buf_fini(&k.out);
}

TEST(sparse_maps_that_do_not_add_up_are_refused)
{
    static const char *const maps[] = { "GNU.sparse.map=2,3,4,1",
                                        "GNU.sparse.map=0,5",
                                        "GNU.sparse.map=0,3",
                                        "GNU.sparse.map=9,4",
                                        "GNU.sparse.map=0",
                                        "GNU.sparse.map=4,2,0,2",
                                        "GNU.sparse.map=18446744073709551615,4" };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        const char *records[] = { "GNU.sparse.size=10", maps[i] };
        struct tar_kit k;
        kit_init(&k);
        kit_pax(&k, records, ARRAY_LEN(records));
        kit_file(&k, "a", "abcd");
        kit_end(&k);
        check_refuses(&k, E_PARSE, i == 0 ? "sparse" : "sparse map");
        buf_fini(&k.out);
    }
}

TEST(paths_that_leave_the_root_are_refused)
{
    static const char *const paths[] = { "../x", "a/../../x", "..", "/.." };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct tar_kit k;
        kit_init(&k);
        kit_file(&k, paths[i], "");
        check_refuses(&k, E_PARSE, "'..'");
        buf_fini(&k.out);
        kit_init(&k);
        kit_link(&k, "x", '1', paths[i]);
        check_refuses(&k, E_PARSE, "'..'");
        buf_fini(&k.out);
    }
}

/* umoci 0.4 writes such layers. */
TEST(padding_of_the_last_file_may_be_missing)
{
    struct tar_kit k;
    kit_init(&k);
    kit_file(&k, "a", "abc");
    size_t whole = k.out.n;
    for (size_t missing = 1; missing <= TAR_BLOCK_BYTES - 3; missing += 127) {
        struct seen s = { 0 };
        k.out.n = whole - missing;
        CHECK_OK(read_in_pieces(buf_str(&k.out), 100, &s, NULL));
        CHECK(str_is(buf_str(&s.content), "abc"));
        seen_fini(&s);
    }
    buf_fini(&k.out);
}

TEST(damaged_and_foreign_archives_are_refused)
{
    struct tar_kit k;
    char block[TAR_BLOCK_BYTES];
    kit_init(&k);
    kit_file(&k, "a", "abc");
    k.out.p[0] = 'b';
    check_refuses(&k, E_PARSE, "checksum");
    buf_fini(&k.out);

    kit_init(&k);
    kit_header(block, "a", 'V', 0);
    kit_add_block(&k, block);
    check_refuses(&k, E_UNSUPPORTED, "type 0x56");
    buf_fini(&k.out);

    kit_init(&k);
    kit_file(&k, "a", "abc");
    k.out.n -= TAR_BLOCK_BYTES - 2; /* two of three bytes */
    check_refuses(&k, E_PARSE, "ends within an entry");
    buf_fini(&k.out);

    kit_init(&k);
    CHECK_OK(buf_add(&k.out, (char[TAR_BLOCK_BYTES]){ 0 }, TAR_BLOCK_BYTES));
    kit_file(&k, "a", "abc");
    check_refuses(&k, E_PARSE, "zeros");
    buf_fini(&k.out);

    kit_init(&k);
    kit_header(block, "a", '0', 0);
    memset(block + 124, 0xff, 12); /* a size of -1 */
    kit_add_block(&k, block);
    check_refuses(&k, E_PARSE, "size");
    buf_fini(&k.out);
}

TEST(extended_headers_and_attributes_are_bounded)
{
    struct tar_kit k;
    char block[TAR_BLOCK_BYTES];
    kit_init(&k);
    kit_header(block, "pax", 'x', TAR_EXTENDED_MAX + 1);
    kit_add_block(&k, block);
    check_refuses(&k, E_LIMIT, "extended headers");
    buf_fini(&k.out);

    kit_init(&k);
    for (int i = 0; i < 2; i++) {
        kit_header(block, "global", 'g', TAR_EXTENDED_MAX / 2 + 1);
        kit_add_block(&k, block);
        scoped(free_scoped) char *body = xalloc(TAR_EXTENDED_MAX / 2 + 1);
        kit_add_padded(&k, str_n(body, TAR_EXTENDED_MAX / 2 + 1));
    }
    check_refuses(&k, E_LIMIT, "extended headers");
    buf_fini(&k.out);

    static char large[TAR_XATTRS_MAX + 64];
    memset(large, 'v', sizeof large - 1);
    memcpy(large, "SCHILY.xattr.user.a=", 20);
    const char *records[] = { large };
    kit_init(&k);
    kit_pax(&k, records, 1);
    check_refuses(&k, E_LIMIT, "extended attributes");
    buf_fini(&k.out);
}

TEST(what_follows_the_end_is_ignored)
{
    struct tar_kit k;
    kit_init(&k);
    kit_file(&k, "a", "abc");
    kit_end(&k);
    CHECK_OK(buf_add_cstr(&k.out, "anything at all"));
    check_reads(&k, "0 'a' -> '' 644 1000:100 1700000000.000000000 3\n", "abc");
    buf_fini(&k.out);
}

TEST(links_are_joined_within_the_root)
{
    static const struct {
        const char *dir, *target, *rest, *want;
    } cases[] = { { "usr", "lib", "x/y", "usr/lib/x/y" },
                  { "a/b", "../c", "", "a/c" },
                  { "a", "/etc/./ssl", "cert", "etc/ssl/cert" },
                  { "a", "../../../..", "x", "x" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char room[TAR_PATH_MAX];
        struct str got;
        CHECK_OK(tar_join_link(str_of(cases[i].dir), str_of(cases[i].target), str_of(cases[i].rest),
                               room, &got));
        CHECK_STR(got, cases[i].want);
    }
}

TEST_MAIN
