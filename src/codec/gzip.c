/* SPDX-License-Identifier: Apache-2.0 */
/* Gzip on zlib; see gzip.h. */
#include "codec/gzip.h"

#include "base/err.h"
#include "base/mem.h"
#include "codec/decompress.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <zlib.h>

enum { LEVEL = 1, WINDOW_BITS = 15, GZIP_FRAMING = 16, MEMORY_LEVEL = 8, PIECE_BYTES = 16 << 10 };

struct gzip {
    z_stream z;
};

struct gzip *gzip_new(void)
{
    struct gzip *g = xnew(struct gzip);
    if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_FRAMING, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return g;
    free(g);
    return NULL;
}

void gzip_free(struct gzip *g)
{
    if (!g)
        return;
    (void)deflateEnd(&g->z);
    free(g);
}

int gzip_add(struct gzip *g, struct str bytes, bool end, struct buf *out)
{
    assert(bytes.n <= UINT_MAX);
    g->z.next_in = (Bytef *)bytes.p;
    g->z.avail_in = (uInt)bytes.n;
    for (;;) {
        char *room;
        int r = buf_reserve(out, PIECE_BYTES, &room);
        if (r < 0)
            return r;
        g->z.next_out = (Bytef *)room;
        g->z.avail_out = PIECE_BYTES;
        int code = deflate(&g->z, end ? Z_FINISH : Z_NO_FLUSH);
        buf_advance(out, PIECE_BYTES - g->z.avail_out);
        if (code == Z_STREAM_END || (!end && g->z.avail_in == 0 && g->z.avail_out))
            return 0;
        assert(code == Z_OK || code == Z_BUF_ERROR);
    }
}

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    return buf_add_str(arg, bytes);
}

int gunzip(struct str bytes, struct buf *out)
{
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(add_to_buf, out);
    if (!str_has_prefix(bytes, STR("\x1f\x8b")))
        return E_PARSE;
    int r = decompressor_add(d, bytes, NULL);
    return r < 0 ? r : decompressor_end(d, NULL);
}
