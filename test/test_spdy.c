/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/stream/spdy.h"

#include "base/mem.h"
#include "spdy_client.h"

/* ------------------------------------------------------------------ reading */

static void describe(const struct spdy_event *ev, struct buf *to)
{
    static const char *const kinds[] = { "open", "data",   "reset", "setting",
                                         "ping", "goaway", "window" };
    if (ev->kind != SPDY_DATA || ev->is_last)
        (void)buf_printf(to, " %s", kinds[ev->kind]);
    if (ev->stream && (ev->kind != SPDY_DATA || ev->is_last))
        (void)buf_printf(to, " %u", ev->stream);
    for (size_t i = 0; ev->headers && i < ev->headers->n; i++)
        (void)buf_printf(to, " " STR_FMT "=" STR_FMT, STR_ARG(headers_name(ev->headers, i)),
                         STR_ARG(headers_value(ev->headers, i)));
    if (ev->value)
        (void)buf_printf(to, " %u", ev->value);
    (void)buf_add_str(to, ev->data);
    if (ev->is_last)
        (void)buf_add_cstr(to, ".");
}

static int read_all(struct str bytes, size_t piece, struct buf *to)
{
    struct spdy_reader r;
    struct spdy_event ev;
    struct err err = { 0 };
    int got = 0;
    spdy_reader_init(&r);
    while (bytes.n && got >= 0) {
        struct str in = str_slice(bytes, 0, piece);
        bytes = str_slice(bytes, in.n, bytes.n);
        while ((got = spdy_read(&r, &in, &ev, &err)) > 0)
            describe(&ev, to);
    }
    CHECK_INT(got, err.code);
    spdy_reader_fini(&r);
    return got;
}

static void check_reads(struct str bytes, const char *want)
{
    for (size_t piece = 1; piece <= bytes.n; piece++) {
        struct buf got = BUF_INIT(1 << 20);
        CHECK_OK(read_all(bytes, piece, &got));
        CHECK_STR(buf_str(&got), want);
        buf_fini(&got);
    }
}

static void check_refused(struct str bytes, int code)
{
    struct buf got = BUF_INIT(1 << 20);
    CHECK_ERR(read_all(bytes, SIZE_MAX, &got), code);
    buf_fini(&got);
}

TEST(the_dictionary_is_that_of_the_specification)
{
    uLong sum = adler32(adler32(0, NULL, 0), (const Bytef *)spdy_headers_dictionary,
                        SPDY_HEADERS_DICTIONARY_BYTES);
    CHECK_INT(sum, 0xe3c6a7c2);
    CHECK_INT(sizeof spdy_headers_dictionary, SPDY_HEADERS_DICTIONARY_BYTES + 1);
}

TEST(frames_are_read_however_they_are_cut)
{
    static const char *const out[] = { "streamtype", "stdout", NULL };
    static const char *const in[] = { "streamtype", "stdin", "port", "80", NULL };
    struct spdy_client c;
    spdy_client_init(&c);
    spdy_client_open(&c, 1, 0, out);
    spdy_client_open(&c, 3, 1, in);
    spdy_client_data(&c, 1, STR("hello"), false);
    spdy_client_data(&c, 1, STR(""), true);
    spdy_client_add_control(&c.out, 3, 0, str_n("\0\0\0\3\0\0\0\5", 8));
    spdy_client_add_control(&c.out, 4, 0, str_n("\0\0\0\2\1\0\0\4\0\0\0\7\0\0\0\7\0\1\0\0", 20));
    spdy_client_add_control(&c.out, 99, 0, STR("unknown"));
    spdy_client_add_control(&c.out, 6, 0, str_n("\0\0\0\7", 4));
    spdy_client_add_control(&c.out, 9, 0, str_n("\0\0\0\1\0\0\1\0", 8));
    spdy_client_add_control(&c.out, 7, 0, str_n("\0\0\0\0\0\0\0\0", 8));
    check_reads(buf_str(&c.out), " open 1 streamtype=stdout open 3 streamtype=stdin port=80.hello "
                                 "data 1. reset 3 setting 65536 ping 7 window 1 256 goaway");
    spdy_client_fini(&c);
}

TEST(of_several_values_the_first_counts)
{
    struct spdy_client c;
    struct buf text = BUF_INIT(1000), payload = BUF_INIT(1000);
    spdy_client_init(&c);
    spdy_client_add32(&text, 1);
    spdy_client_add_text(&text, STR("streamtype"));
    spdy_client_add_text(&text, str_n("data\0error", 10));
    (void)buf_add(&payload, "\0\0\0\1\0\0\0\0\0\0", 10);
    spdy_client_compress_block(&c, buf_str(&text), &payload);
    spdy_client_add_control(&c.out, 1, 0, buf_str(&payload));
    check_reads(buf_str(&c.out), " open 1 streamtype=data");
    spdy_client_fini(&c);
    buf_fini(&text);
    buf_fini(&payload);
}

TEST(header_blocks_are_bounded)
{
    struct spdy_client c;
    struct buf big = BUF_INIT(8 << 20), payload = BUF_INIT(8 << 20);
    spdy_client_init(&c);
    spdy_client_add32(&big, 1); /* a megabyte of zeroes is a few bytes compressed */
    spdy_client_add_text(&big, STR("a"));
    spdy_client_add32(&big, 1 << 20);
    for (size_t i = 0; i < 1 << 20; i++)
        (void)buf_add_char(&big, '0');
    (void)buf_add(&payload, "\0\0\0\1\0\0\0\0\0\0", 10);
    spdy_client_compress_block(&c, buf_str(&big), &payload);
    CHECK(payload.n < SPDY_BLOCK_MAX_BYTES);
    spdy_client_add_control(&c.out, 1, 0, buf_str(&payload));
    check_refused(buf_str(&c.out), E_LIMIT);
    spdy_client_fini(&c);

    buf_reset(&big); /* compressed too large */
    spdy_client_add_control(&big, 1, 0, str_slice(buf_str(&payload), 0, 0));
    big.p[5] = 0x10;
    check_refused(buf_str(&big), E_LIMIT);
    buf_fini(&big);
    buf_fini(&payload);
}

TEST(many_fields_are_refused)
{
    const char *pairs[2 * (SPDY_HEADERS_MAX + 1) + 1] = { NULL };
    struct spdy_client c;
    spdy_client_init(&c);
    for (size_t i = 0; i < 2 * (SPDY_HEADERS_MAX + 1); i++)
        pairs[i] = "a";
    spdy_client_open(&c, 1, 0, pairs);
    check_refused(buf_str(&c.out), E_LIMIT);
    spdy_client_fini(&c);
}

TEST(malformed_frames_are_refused)
{
    static const struct {
        unsigned type;
        const char *bytes;
        size_t n;
    } bad[] = {
        { 1, "\0\0\0\0\0\0\0\0\0\0", 10 },
        { 1, "\0\0\0\1", 4 },
        { 1, "\0\0\0\1\0\0\0\0\0\0garbage", 17 },
        { 3, "\0\0\0\1", 4 },
        { 4, "\0\0\0\1", 4 },
        { 4, "\xff\xff\xff\xff", 4 },
        { 4, "\0\0\0\1\0\0\0\7\xff\xff\xff\xff", 12 },
        { 6, "\0\0\0\1\0", 5 },
        { 9, "\0\0\0\1\0\0\0\0", 8 },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct buf b = BUF_INIT(1000);
        spdy_client_add_control(&b, bad[i].type, 0, str_n(bad[i].bytes, bad[i].n));
        check_refused(buf_str(&b), E_PARSE);
        buf_fini(&b);
    }
    check_refused(str_n("\x80\x02\0\1\0\0\0\0", 8), E_PARSE); /* SPDY/2 */
}

TEST(our_frames_are_read_by_our_reader)
{
    struct buf b = BUF_INIT(1000);
    spdy_add_reset(&b, 7, SPDY_CANCEL);
    spdy_add_ping(&b, 2);
    spdy_add_window(&b, 0, 500);
    spdy_add_goaway(&b, 7, SPDY_GOODBYE_OK);
    check_reads(buf_str(&b), " reset 7 ping 2 window 500 goaway");
    buf_fini(&b);
}

TEST(our_header_blocks_are_empty_ones)
{
    struct spdy_inflater *z = spdy_headers_new();
    struct headers h = { 0 };
    struct err err = { 0 };
    CHECK_OK(spdy_headers_read(z, spdy_headers_empty(true), &h, &err));
    CHECK_OK(spdy_headers_read(z, spdy_headers_empty(false), &h, &err));
    CHECK_OK(spdy_headers_read(z, spdy_headers_empty(false), &h, &err));
    CHECK_INT(h.n, 0);
    headers_fini(&h);
    spdy_headers_free(z);
}

TEST_MAIN
