/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/ws.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

static void add_frame(struct buf *to, unsigned first, struct str payload)
{
    static const uint8_t mask[4] = { 0x11, 0xa2, 0x33, 0xf4 };
    struct ws_head h = ws_frame_head(WS_TEXT, payload.n);
    h.bytes[0] = (char)first;
    h.bytes[1] = (char)(h.bytes[1] | 0x80);
    (void)buf_add(to, h.bytes, h.n);
    (void)buf_add(to, mask, sizeof mask);
    for (size_t i = 0; i < payload.n; i++)
        (void)buf_add_u8(to, (uint8_t)payload.p[i] ^ mask[i % 4]);
}

/* The events as text, bytes given in pieces: "b[abc]", "t<...>", "P[..]"; '+': it is not the end.
 */
static int read_all(struct str bytes, size_t piece, struct buf *to)
{
    struct ws_reader r = { 0 };
    struct ws_event ev;
    char room[7];
    int got = 0;
    while (bytes.n && got >= 0) {
        struct str in = str_slice(bytes, 0, piece);
        bytes = str_slice(bytes, in.n, bytes.n);
        while ((got = ws_read(&r, &in, room, sizeof room, &ev)) > 0) {
            if (ev.begins)
                (void)buf_add_char(to, "?tb?????CPO"[ev.op]);
            (void)buf_add_str(to, ev.data);
            (void)buf_add_cstr(to, ev.ends ? "." : "");
        }
    }
    return got;
}

static void check_reads(const char *want, struct str bytes)
{
    for (size_t piece = 1; piece <= bytes.n; piece++) {
        struct buf got = BUF_INIT(1 << 20);
        CHECK_OK(read_all(bytes, piece, &got));
        CHECK_STR(buf_str(&got), want);
        buf_fini(&got);
    }
}

TEST(frames_are_read_however_they_are_cut)
{
    struct buf b = BUF_INIT(1 << 20);
    add_frame(&b, 0x82, STR("hello, world"));
    add_frame(&b, 0x01, STR("ab"));
    add_frame(&b, 0x89, STR("ping"));
    add_frame(&b, 0x00, STR(""));
    add_frame(&b, 0x80, STR("cd"));
    add_frame(&b, 0x82, STR(""));
    add_frame(&b, 0x88, STR("\x03\xe8"));
    check_reads("bhello, world.tabPping.cd.b.C\x03\xe8.", buf_str(&b));
    buf_fini(&b);
}

TEST(lengths_of_every_form_are_read)
{
    static const size_t sizes[] = { 125, 126, 127, 65535, 65536, 100000 };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct buf b = BUF_INIT(1 << 20), got = BUF_INIT(1 << 20), payload = BUF_INIT(1 << 20);
        for (size_t n = 0; n < sizes[i]; n++)
            (void)buf_add_u8(&payload, (uint8_t)('a' + n % 23));
        add_frame(&b, 0x82, buf_str(&payload));
        CHECK_OK(read_all(buf_str(&b), 4096, &got));
        CHECK_INT(got.n, sizes[i] + 2);
        CHECK(str_eq(str_slice(buf_str(&got), 1, got.n - 1), buf_str(&payload)));
        buf_fini(&b);
        buf_fini(&got);
        buf_fini(&payload);
    }
}

TEST(frames_that_break_the_protocol_are_refused)
{
    static const struct {
        const char *bytes;
        size_t n;
    } bad[] = {
        { "\x82\x00", 2 },                            /* no mask */
        { "\xc2\x80", 2 },                            /* a reserved bit */
        { "\x83\x80", 2 },                            /* an unknown opcode */
        { "\x8b\x80", 2 },                            /* and of a control frame */
        { "\x09\x80", 2 },                            /* a control frame in pieces */
        { "\x89\xfe", 2 },                            /* a long control frame */
        { "\x80\x80", 2 },                            /* a continuation of nothing */
        { "\x02\x80\0\0\0\0\x82\x80", 8 },            /* a message in a message */
        { "\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0", 14 }, /* 2^63 bytes */
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct buf got = BUF_INIT(1 << 20);
        CHECK_ERR(read_all(str_n(bad[i].bytes, bad[i].n), 100, &got), E_PARSE);
        buf_fini(&got);
    }
}

TEST(the_accept_field_is_that_of_the_rfc)
{
    char accept[WS_ACCEPT_SIZE];
    CHECK_OK(ws_accept(STR("dGhlIHNhbXBsZSBub25jZQ=="), accept));
    CHECK_STR(str_of(accept), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK_ERR(ws_accept(STR("short"), accept), -EINVAL);
}

TEST(a_close_frame_has_its_status)
{
    struct ws_head h = ws_close_frame(WS_CLOSE_NORMAL);
    CHECK(str_eq(str_n(h.bytes, h.n), str_n("\x88\x02\x03\xe8", 4)));
}

TEST_MAIN
