/* SPDX-License-Identifier: Apache-2.0 */
/* Compression against zlib's own reading of it. */
#include "base/mem.h"
#include "codec/gzip.h"
#include "test.h"

#include <zlib.h>

static struct buf unpack(struct str packed)
{
    static char piece[4096];
    struct buf out = BUF_INIT(64 << 20);
    z_stream z = { 0 };
    CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
    z.next_in = (Bytef *)packed.p;
    z.avail_in = (uInt)packed.n;
    int code = Z_OK;
    while (code == Z_OK) {
        z.next_out = (Bytef *)piece;
        z.avail_out = sizeof piece;
        code = inflate(&z, Z_NO_FLUSH);
        CHECK_OK(buf_add(&out, piece, sizeof piece - z.avail_out));
    }
    CHECK_INT(code, Z_STREAM_END);
    CHECK_INT(z.avail_in, 0);
    CHECK(inflateEnd(&z) == Z_OK);
    return out;
}

TEST(what_is_packed_in_pieces_unpacks)
{
    scoped(buf_fini_scoped) struct buf in = BUF_INIT(64 << 20);
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(64 << 20);
    struct gzip *g = gzip_new();
    CHECK(g);
    for (int i = 0; i < 200; i++) {
        size_t n = (size_t)(test_random() % 30000), before = in.n;
        bool noise = i % 7 == 0;
        for (size_t j = 0; j < n; j++)
            CHECK_OK(buf_add_char(&in, noise ? (char)test_random() : "{\"kind\":\"Pod\"}"[j % 14]));
        CHECK_OK(gzip_add(g, str_slice(buf_str(&in), before, in.n), false, &out));
    }
    CHECK_OK(gzip_add(g, STR(""), true, &out));
    CHECK(out.n < in.n / 2);
    scoped(buf_fini_scoped) struct buf back = unpack(buf_str(&out));
    CHECK(str_eq(buf_str(&back), buf_str(&in)));
    gzip_free(g);
}

TEST(nothing_at_all_is_a_valid_stream)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(4096 << 4);
    struct gzip *g = gzip_new();
    CHECK_OK(gzip_add(g, STR(""), true, &out));
    scoped(buf_fini_scoped) struct buf back = unpack(buf_str(&out));
    CHECK_INT(back.n, 0);
    gzip_free(g);
    gzip_free(NULL);
}

TEST(a_full_buffer_is_an_error)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(4096);
    struct gzip *g = gzip_new();
    CHECK(gzip_add(g, STR("x"), true, &out) < 0);
    gzip_free(g);
}

TEST_MAIN
