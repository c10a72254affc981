/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC's own texts and frames: messages do not depend on how the bytes were cut, limits hold, and
 * what is written reads back. Input: one byte of piece size, then the bytes.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "io/grpc_int.h"

#include <string.h>

enum { MESSAGE_MAX = 300 };

/* Every message and how it ended, as one text. */
static struct buf read_all(struct str in, size_t piece)
{
    struct grpc_reader r;
    struct buf output = BUF_INIT(16 << 20);
    struct str message;
    int e = 0;
    grpc_reader_init(&r, MESSAGE_MAX);
    for (size_t at = 0; at < in.n && e >= 0; at += piece) {
        size_t n = MIN(piece, in.n - at);
        char *copy = xalloc(n); /* of its own, so that reading beyond it is seen */
        memcpy(copy, in.p + at, n);
        struct str part = str_n(copy, n);
        while ((e = grpc_reader_next(&r, &part, &message)) > 0) {
            FUZZ_CHECK(message.n <= MESSAGE_MAX);
            (void)buf_printf(&output, "<%zu ", message.n);
            (void)buf_add_str(&output, message);
            (void)buf_add_char(&output, '>');
        }
        FUZZ_CHECK(e < 0 || part.n == 0);
        FUZZ_CHECK(r.part.n <= MESSAGE_MAX + GRPC_PREFIX_BYTES);
        free(copy);
    }
    (void)buf_printf(&output, "%d %d", e, e >= 0 && grpc_reader_is_between(&r));
    grpc_reader_fini(&r);
    return output;
}

static void check_texts(struct str in)
{
    struct buf plain = BUF_INIT(1 << 20), coded = plain, again = plain;
    uint64_t ms;
    grpc_read_text(&plain, in);
    FUZZ_CHECK(plain.n <= GRPC_TEXT_MAX_BYTES && plain.n <= in.n);
    grpc_add_text(&coded, buf_str(&plain));
    for (size_t i = 0; i < coded.n; i++)
        FUZZ_CHECK(coded.p[i] >= 0x20 && coded.p[i] < 0x7f);
    grpc_read_text(&again, buf_str(&coded));
    FUZZ_CHECK(str_eq(buf_str(&plain), buf_str(&again)));
    if (grpc_parse_timeout(in, &ms) == 0)
        FUZZ_CHECK(in.n >= 2 && ms <= 99999999ULL * 3600000);
    (void)grpc_is_content_type(in);
    buf_fini(&plain);
    buf_fini(&coded);
    buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    struct str in = str_n(data + 1, n - 1);
    struct buf whole = read_all(in, in.n), pieces = read_all(in, (size_t)data[0] + 1);
    FUZZ_CHECK(str_eq(buf_str(&whole), buf_str(&pieces)));
    buf_fini(&whole);
    buf_fini(&pieces);
    check_texts(in);
    return 0;
}
