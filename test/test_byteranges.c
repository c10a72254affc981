/* SPDX-License-Identifier: Apache-2.0 */
/* Answers with several ranges: what is written is read back, in pieces of any size. */
#include "codec/byteranges.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

enum { SIZE = 5000, PARTS_MAX = 20 };

static char whole[SIZE];

struct seen {
    uint64_t from[PARTS_MAX], to[PARTS_MAX];
    size_t n;
    struct buf bytes;
    int fails; /* of the n-th part */
};

static int on_part(void *arg, uint64_t from, uint64_t to, struct err *err)
{
    struct seen *s = arg;
    CHECK(s->n < PARTS_MAX);
    s->from[s->n] = from;
    s->to[s->n++] = to;
    return s->fails && (size_t)s->fails == s->n ? err_set(err, -EIO, "it fails") : 0;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct seen *s = arg;
    (void)err;
    return buf_add_str(&s->bytes, bytes);
}

static const struct byteranges_ops ops = { on_part, on_data };

static int read_by(struct str body, size_t piece, struct seen *s, struct err *err)
{
    struct byteranges b;
    CHECK_OK(
        byteranges_init(&b, STR("Multipart/ByteRanges; boundary=\"a b\""), SIZE, &ops, s, err));
    for (size_t at = 0; at < body.n; at += piece) {
        int r = byteranges_add(&b, str_slice(body, at, MIN(at + piece, body.n)), err);
        if (r < 0)
            return r;
    }
    return byteranges_end(&b, err);
}

static int read_text(const char *text)
{
    struct seen s = { .bytes = BUF_INIT(SIZE) };
    struct err err = { 0 };
    int r = read_by(str_of(text), 7, &s, &err);
    buf_fini(&s.bytes);
    return r;
}

TEST(what_is_written_is_read_back_in_pieces_of_any_size)
{
    static const uint64_t ranges[][2] = { { 0, 1 }, { 7, 1007 }, { 1500, 1501 }, { 4000, SIZE } };
    struct buf body = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20);
    for (size_t i = 0; i < SIZE; i++)
        whole[i] = i % 61 == 0 ? '\n' : i % 59 == 0 ? '-' : (char)(i * 31);
    memcpy(whole + 100, "\r\n--a b--\r\n", 12); /* in a part it ends nothing */
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        struct str bytes = str_n(whole + ranges[i][0], (size_t)(ranges[i][1] - ranges[i][0]));
        byteranges_add_head(&body, "a b", "application/octet-stream", ranges[i][0], ranges[i][1],
                            SIZE);
        CHECK_OK(buf_add_str(&body, bytes));
        CHECK_OK(buf_add_str(&want, bytes));
    }
    byteranges_add_end(&body, "a b");
    for (size_t piece = 1; piece < 200; piece++) {
        struct seen s = { .bytes = BUF_INIT(SIZE * 2) };
        struct err err = { 0 };
        CHECK_OK(read_by(buf_str(&body), piece, &s, &err));
        CHECK_INT(s.n, ARRAY_LEN(ranges));
        for (size_t i = 0; i < s.n; i++)
            CHECK(s.from[i] == ranges[i][0] && s.to[i] == ranges[i][1]);
        CHECK(str_eq(buf_str(&s.bytes), buf_str(&want)));
        buf_fini(&s.bytes);
    }
    for (size_t n = 0; n + 2 < body.n; n += 13) { /* without its end it is cut short */
        struct seen s = { .bytes = BUF_INIT(SIZE * 2) };
        if (n < body.n - strlen("--\r\n"))
            CHECK_ERR(read_by(str_n(body.p, n), 64, &s, NULL), E_PARSE);
        buf_fini(&s.bytes);
    }
    buf_fini(&body);
    buf_fini(&want);
}

TEST(bodies_that_say_something_else_are_refused)
{
    static const struct {
        const char *text;
        int r;
    } cases[] = {
        { "--a b\nContent-Range: bytes 0-1/5000\n\nxy\n--a b--", 0 }, /* without returns */
        { "hello\r\n\r\n--a b\r\ncontent-range:bytes 0-1/*\r\n\r\nxy\r\n--a b--\r\nand more", 0 },
        { "--a b--", 0 },
        { "", E_PARSE },
        { "--a b\r\nContent-Range: bytes 0-1/4999\r\n\r\nxy\r\n--a b--", E_PARSE },
        { "--a b\r\nContent-Range: bytes 4999-5000/5000\r\n\r\nxy\r\n--a b--", E_PARSE },
        { "--a b\r\nContent-Range: bytes 1-0/5000\r\n\r\nxy\r\n--a b--", E_PARSE },
        { "--a b\r\nContent-Range: bytes */5000\r\n\r\nxy\r\n--a b--", E_PARSE },
        { "--a b\r\nContent-Range: bytes 0-1/5000\r\nContent-Range: bytes "
          "0-1/5000\r\n\r\nxy\r\n--a b--",
          E_PARSE },
        { "--a b\r\nContent-Type: text/plain\r\n\r\nxy\r\n--a b--", E_PARSE },
        { "--a b\r\nno field\r\n\r\nxy\r\n--a b--", E_PARSE },
        { "--a b\r\nContent-Range: bytes 0-1/5000\r\n\r\nxyz\r\n--a b--", E_PARSE },
        { "--a b\r\nContent-Range: bytes 0-9/5000\r\n\r\nxy\r\n--a b--", E_PARSE },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int r = read_text(cases[i].text);
        if (r != cases[i].r)
            TEST_FAIL("case %zu: %d", i, r);
    }
}

TEST(lines_and_fields_are_bounded)
{
    struct buf b = BUF_INIT(1 << 20);
    CHECK_OK(buf_add_cstr(&b, "--a b\r\n"));
    for (size_t i = 0; i < BYTERANGES_LINES_MAX + 1; i++)
        CHECK_OK(buf_add_cstr(&b, "x: y\r\n"));
    CHECK_INT(read_text(buf_cstr(&b)), E_LIMIT);
    buf_reset(&b);
    for (size_t i = 0; i < BYTERANGES_LINE_MAX + 1; i++)
        CHECK_OK(buf_add_char(&b, 'x'));
    CHECK_INT(read_text(buf_cstr(&b)), E_LIMIT);
    buf_fini(&b);
}

TEST(an_op_that_fails_ends_the_reading)
{
    struct seen s = { .fails = 2, .bytes = BUF_INIT(SIZE) };
    struct err err = { 0 };
    struct str body = STR("--a b\r\nContent-Range: bytes 0-1/5000\r\n\r\nxy\r\n"
                          "--a b\r\nContent-Range: bytes 5-6/5000\r\n\r\nzz\r\n--a b--");
    CHECK_ERR(read_by(body, 3, &s, &err), -EIO);
    CHECK(str_is(buf_str(&s.bytes), "xy"));
    buf_fini(&s.bytes);
}

TEST(other_types_are_no_such_answers)
{
    struct byteranges b;
    static const char *const types[] = { "", "text/plain", "multipart/mixed; boundary=x",
                                         "multipart/byteranges",
                                         "multipart/byteranges; boundary=\"\"" };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        CHECK_ERR(byteranges_init(&b, str_of(types[i]), 1, &ops, NULL, NULL), E_UNSUPPORTED);
    char text[200] = "multipart/byteranges; boundary=";
    memset(text + strlen(text), 'x', BYTERANGES_BOUNDARY_MAX + 1);
    CHECK_ERR(byteranges_init(&b, str_of(text), 1, &ops, NULL, NULL), E_UNSUPPORTED);
    text[strlen(text) - 1] = '\0';
    CHECK_OK(byteranges_init(&b, str_of(text), 1, &ops, NULL, NULL));
}

TEST_MAIN
