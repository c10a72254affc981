/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of a SPDY client. The first byte says how large the pieces are. However the bytes are cut,
 * the events are the same, and no header block is larger than the bounds.
 */
#include "fuzz.h"

#include "agent/stream/spdy.h"
#include "base/mem.h"

static void describe(const struct spdy_event *ev, struct buf *to)
{
    FUZZ_CHECK(ev->stream <= SPDY_ID_MAX);
    FUZZ_CHECK(!ev->headers || ev->headers->n <= SPDY_HEADERS_MAX);
    if (ev->kind != SPDY_DATA) /* pieces of which are joined */
        (void)buf_printf(to, "<%d %u %u", ev->kind, ev->stream, ev->value);
    for (size_t i = 0; ev->headers && i < ev->headers->n; i++) {
        (void)buf_add_str(to, headers_name(ev->headers, i));
        (void)buf_add_str(to, headers_value(ev->headers, i));
    }
    (void)buf_add_str(to, ev->data);
    if (ev->is_last)
        (void)buf_printf(to, "%u.", ev->stream);
}

static int run(struct str bytes, size_t piece, struct buf *to)
{
    struct spdy_reader r;
    struct spdy_event ev;
    int got = 0;
    spdy_reader_init(&r);
    while (bytes.n && got >= 0) {
        struct str in = str_slice(bytes, 0, piece);
        bytes = str_slice(bytes, in.n, bytes.n);
        while ((got = spdy_read(&r, &in, &ev, NULL)) > 0)
            describe(&ev, to);
        FUZZ_CHECK(got < 0 || in.n == 0);
    }
    spdy_reader_fini(&r);
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf whole = BUF_INIT(BUF_MAX_DEFAULT), cut = BUF_INIT(BUF_MAX_DEFAULT);
    if (n == 0)
        return 0;
    struct str bytes = str_n(data + 1, n - 1);
    int r = run(bytes, SIZE_MAX, &whole);
    FUZZ_CHECK(run(bytes, data[0] % 32 + 1, &cut) == r);
    FUZZ_CHECK(str_eq(buf_str(&whole), buf_str(&cut)));
    buf_fini(&whole);
    buf_fini(&cut);
    return 0;
}
