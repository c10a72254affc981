/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP/1.1 response parser of native operators. */
#include "response.h"
#include "test.h"

#include <errno.h>

struct seen {
    int status, n_heads;
    struct dm_text body;
};

static void on_head(void *arg, int status)
{
    struct seen *s = arg;
    s->status = status;
    s->n_heads++;
}

static void on_data(void *arg, const char *p, size_t n)
{
    dm_text_put(&((struct seen *)arg)->body, p, n);
}

static const struct response_ops ops = { on_head, on_data };

/* Feed in pieces of `piece` bytes; the bytes taken, or a code. */
static long feed(struct response *r, const char *text, size_t piece, struct seen *s)
{
    size_t n = strlen(text), at = 0;
    while (at < n && r->at != RESPONSE_DONE) {
        long used = response_feed(r, text + at, piece < n - at ? piece : n - at, &ops, s);
        if (used < 0)
            return used;
        at += (size_t)used;
    }
    return (long)at;
}

static void check(const char *text, int status, const char *body, long used)
{
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        struct response r = { 0 };
        struct seen s = { 0 };
        CHECK_INT(feed(&r, text, piece, &s), used);
        CHECK(response_closed(&r));
        CHECK_INT(s.status, status);
        CHECK_INT(s.n_heads, 1);
        CHECK_STR(((struct str){ s.body.p ? s.body.p : "", s.body.n }), body);
        dm_text_fini(&s.body);
        response_reset(&r);
    }
}

TEST(responses_arrive_in_any_pieces)
{
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", 43);
    check("HTTP/1.1 200 OK\r\ntransfer-encoding: "
          "chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nt: v\r\n\r\n",
          200, "abc0123456789", 85);
    check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404\ncontent-length:0\n\n", 404, "", 56);
    check("HTTP/1.0 500 x\r\n\r\nuntil the end", 500, "until the end", 31);
    check("HTTP/1.1 204 No Content\r\n\r\n", 204, "", 27);
}

TEST(what_follows_a_response_is_not_taken)
{
    struct response r = { 0 };
    struct seen s = { 0 };
    CHECK_INT(response_feed(&r, "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\naHTTP", 43, &ops, &s),
              39);
    CHECK(r.at == RESPONSE_DONE);
    dm_text_fini(&s.body);
}

TEST(a_response_that_is_cut_off_is_not_complete)
{
    static const char *const cut[] = {
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\n", ""
    };
    for (size_t i = 0; i < 4; i++) {
        struct response r = { 0 };
        struct seen s = { 0 };
        CHECK_OK(feed(&r, cut[i], 1000, &s));
        CHECK(!response_closed(&r));
        response_reset(&r);
        dm_text_fini(&s.body);
    }
}

TEST(responses_that_are_none_are_refused)
{
    static const char *const bad[] = {
        "HTTP/2 200\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 099 x\r\n",
        "hello\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct response r = { 0 };
        struct seen s = { 0 };
        if (feed(&r, bad[i], 7, &s) != -EBADMSG)
            TEST_FAIL("accepted: %s", bad[i]);
        response_reset(&r);
        dm_text_fini(&s.body);
    }
}

TEST(a_head_without_end_is_refused)
{
    struct response r = { 0 };
    struct seen s = { 0 };
    long used = feed(&r, "HTTP/1.1 200 OK\r\n", 100, &s);
    for (int i = 0; used >= 0 && i < 100000; i++)
        used = feed(&r, "name: value\r\n", 100, &s);
    CHECK_ERR(used, -EBADMSG);
    response_reset(&r);
}

TEST_MAIN
