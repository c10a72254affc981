/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of a WebSocket's client. The first byte says how large the pieces and the room are.
 * However the bytes are cut, the messages are the same.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "codec/ws.h"

static int run(struct str bytes, size_t piece, size_t n_room, struct buf *to)
{
    struct ws_reader r = { 0 };
    struct ws_event ev;
    char room[64];
    int got = 0;
    while (bytes.n && got >= 0) {
        struct str in = str_slice(bytes, 0, piece);
        bytes = str_slice(bytes, in.n, bytes.n);
        while ((got = ws_read(&r, &in, room, n_room, &ev)) > 0) {
            bool control = ev.op >= WS_CLOSE;
            FUZZ_CHECK(ev.op != WS_CONTINUE && ev.data.n <= (control ? 125 : n_room));
            FUZZ_CHECK(!control || (ev.begins && ev.ends));
            if (ev.begins)
                (void)buf_printf(to, "<%d:", ev.op);
            (void)buf_add_str(to, ev.data);
            if (ev.ends)
                (void)buf_add_char(to, '>');
        }
        FUZZ_CHECK(got < 0 || in.n == 0);
    }
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf whole = BUF_INIT(BUF_MAX_DEFAULT), cut = BUF_INIT(BUF_MAX_DEFAULT);
    if (n == 0)
        return 0;
    struct str bytes = str_n(data + 1, n - 1);
    int r = run(bytes, SIZE_MAX, 64, &whole);
    FUZZ_CHECK(run(bytes, data[0] % 16 + 1, data[0] / 16 + 1, &cut) == r);
    FUZZ_CHECK(str_eq(buf_str(&whole), buf_str(&cut)));
    buf_fini(&whole);
    buf_fini(&cut);
    return 0;
}
