/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 messages of a connection: whatever the bytes are, the limits hold, and what is read does
 * not depend on how the bytes were cut into pieces (two readers that differ there can be played
 * against each other).
 *
 * Input: one byte of mode (bit 0: responses, bit 1: to HEAD requests, bit 2: that may upgrade), one
 * byte of piece size, the bytes.
 */
#include "fuzz.h"
#include "io/http.h"
#include "io/http_parse.h"
#include "io/http_text.h"

#include "base/mem.h"

#include <string.h>

/* What a reader made of the input, as text. */
struct reading {
    struct http_parse p;
    struct buf output;
    bool responses, to_head, may_upgrade, in_body, over;
};

static void say_head(struct reading *r)
{
    const struct http_parse *p = &r->p;
    if (r->responses) {
        (void)buf_printf(&r->output, "<%d", p->status);
    } else {
        FUZZ_CHECK(p->target.n <= HTTP_URI_MAX_BYTES && p->target.n > 0);
        (void)buf_printf(&r->output, "<%s ", http_parse_method(p).p);
        (void)buf_add_str(&r->output, buf_str(&p->target));
    }
    FUZZ_CHECK(p->headers.n <= HEADERS_MAX);
    size_t bytes = 0;
    for (size_t i = 0; i < p->headers.n; i++) {
        struct str name = headers_name(&p->headers, i), value = headers_value(&p->headers, i);
        bytes += name.n + value.n;
        FUZZ_CHECK(!memchr(value.p, '\n', value.n) && !memchr(value.p, '\r', value.n));
        (void)buf_printf(&r->output, "|%.*s:%.*s", STR_ARG(name), STR_ARG(value));
    }
    FUZZ_CHECK(bytes <= HTTP_HEAD_MAX_BYTES);
    FUZZ_CHECK(!p->upgrade || !p->has_body);
    FUZZ_CHECK(!r->responses || p->upgrade == (p->status == 101));
    (void)buf_printf(&r->output, "|%d%d%d%d>", p->has_body, p->keep_alive, p->until_eof,
                     p->upgrade);
}

static void say_trailers(struct reading *r)
{
    const struct headers *t = &r->p.trailers;
    size_t bytes = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct str name = headers_name(t, i), value = headers_value(t, i);
        bytes += name.n + value.n;
        FUZZ_CHECK(http_is_trailer(name) && !memchr(value.p, '\n', value.n));
        (void)buf_printf(&r->output, "|%.*s:%.*s", STR_ARG(name), STR_ARG(value));
    }
    FUZZ_CHECK(bytes <= HTTP_TRAILERS_MAX_BYTES);
}

/* One event; bytes used. */
static size_t read_once(struct reading *r, const char *at, size_t n)
{
    size_t used;
    int event = http_parse_feed(&r->p, at, n, &used);
    FUZZ_CHECK(used <= n);
    switch (event) {
    case HTTP_EVENT_MORE:
        FUZZ_CHECK(used == n);
        break;
    case HTTP_EVENT_HEAD:
        say_head(r);
        break;
    case HTTP_EVENT_BODY:
        FUZZ_CHECK(r->p.has_body && r->p.chunk.n > 0);
        FUZZ_CHECK(r->p.chunk.p >= at && r->p.chunk.p + r->p.chunk.n <= at + n);
        (void)buf_add_str(&r->output, r->p.chunk);
        break;
    case HTTP_EVENT_END:
        (void)buf_add_cstr(&r->output, "<end");
        say_trailers(r);
        (void)buf_add_cstr(&r->output, ">");
        r->over = !r->p.keep_alive;
        http_parse_reset(&r->p, r->responses ? HTTP_RESPONSE : HTTP_REQUEST);
        r->p.to_head_request = r->to_head;
        r->p.may_upgrade = r->may_upgrade;
        break;
    default:
        FUZZ_CHECK((event == E_PARSE || event == E_LIMIT) && r->p.error && r->p.status >= 400);
        (void)buf_printf(&r->output, "<error %d>", event);
        r->over = true;
    }
    return used;
}

static void read_piece(struct reading *r, const char *at, size_t n)
{
    /* A copy of its own, so that reading beyond it is seen. */
    char *copy = xalloc(n ? n : 1);
    memcpy(copy, at, n);
    size_t used = 0;
    bool before_end = true;
    while (!r->over && (used < n || before_end)) {
        size_t output = r->output.n;
        used += read_once(r, copy + used, n - used);
        before_end = r->output.n != output; /* an event may come without a byte */
        if (used == n && !before_end)
            break;
    }
    free(copy);
}

static struct buf read_all(const char *p, size_t n, uint8_t mode, size_t piece)
{
    struct reading r = { .output = BUF_INIT(16 << 20),
                         .responses = mode & 1,
                         .to_head = mode & 2,
                         .may_upgrade = mode & 4 };
    http_parse_reset(&r.p, r.responses ? HTTP_RESPONSE : HTTP_REQUEST);
    r.p.to_head_request = r.to_head;
    r.p.may_upgrade = r.may_upgrade;
    for (size_t at = 0; at < n && !r.over; at += piece)
        read_piece(&r, p + at, MIN(piece, n - at));
    if (!r.over)
        (void)buf_printf(&r.output, "<%s>",
                         http_parse_eof(&r.p) == HTTP_EVENT_END ? "ends" : "cut");
    http_parse_fini(&r.p);
    return r.output;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    struct buf whole = read_all(bytes, n - 2, data[0], n);
    struct buf pieces = read_all(bytes, n - 2, data[0], (size_t)data[1] + 1);
    FUZZ_CHECK(str_eq(buf_str(&whole), buf_str(&pieces)));
    buf_fini(&whole);
    buf_fini(&pieces);
    return 0;
}
