/* SPDX-License-Identifier: Apache-2.0 */
/* Gzip by ISA-L, where it is there, and by zlib: what both accept, both read alike. */
#include "fuzz.h"

#include "base/buf.h"
#include "codec/decompress.h"
#include "codec/inflate_fast.h"

#include <zlib.h>

enum { OUT_MAX = 4 << 20 };

static int add(void *arg, struct str bytes, struct err *err)
{
    FUZZ_CHECK(bytes.n <= DECOMPRESS_PIECE_BYTES);
    return buf_add(arg, bytes.p, bytes.n);
}

/* By zlib alone. False: it is damaged, cut short or too large. */
static bool by_zlib(const uint8_t *data, size_t n, struct buf *to)
{
    z_stream z = { .next_in = (Bytef *)data, .avail_in = (uInt)n };
    int code = inflateInit2(&z, 31);
    while (code == Z_OK || (code == Z_STREAM_END && z.avail_in)) {
        char room[4096];
        if (code == Z_STREAM_END)
            (void)inflateReset(&z);
        z.next_out = (Bytef *)room;
        z.avail_out = sizeof room;
        code = inflate(&z, Z_NO_FLUSH);
        if (buf_add(to, room, sizeof room - z.avail_out) < 0)
            break;
    }
    (void)inflateEnd(&z);
    return code == Z_STREAM_END && buf_ok(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char magic[] = "\x1f\x8b\x08";
    struct str text = str_n(data, n);
    struct buf ours = BUF_INIT(OUT_MAX), zlibs = BUF_INIT(OUT_MAX);
    (void)inflate_fast_load();
    struct decompressor *d = decompressor_new(add, &ours);
    size_t first = n ? data[n - 1] % (n + 1) : 0; /* in two pieces */
    int r = decompressor_add(d, str_slice(text, 0, first), NULL);
    r = r < 0 ? r : decompressor_add(d, str_slice(text, first, n), NULL);
    r = r < 0 ? r : decompressor_end(d, NULL);
    if (r >= 0 && str_has_prefix(text, str_of(magic)) && by_zlib(data, n, &zlibs))
        FUZZ_CHECK(str_eq(buf_str(&ours), buf_str(&zlibs)));
    decompressor_free(d);
    buf_fini(&ours);
    buf_fini(&zlibs);
    return 0;
}
