/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/pieces.h"

#include <assert.h>
#include <errno.h>
#include <libdeflate.h>
#include <zstd.h>

enum { GZIP_LEVEL = 6, ZSTD_LEVEL = 9 };

struct pieces {
    pieces_sink sink;
    void *arg;
    struct libdeflate_compressor *gzip; /* one of them */
    ZSTD_CCtx *zstd;
    char *in, *out;
    size_t n, out_max;
    bool has_any;
};

struct pieces *pieces_new(enum pieces_how how, pieces_sink sink, void *arg)
{
    scoped(pieces_free_scoped) struct pieces *g = xnew(struct pieces);
    g->sink = sink;
    g->arg = arg;
    if (how == PIECES_ZSTD)
        g->zstd = ZSTD_createCCtx();
    else
        g->gzip = libdeflate_alloc_compressor(GZIP_LEVEL);
    if (!g->gzip && !g->zstd)
        return NULL;
    g->out_max = g->zstd ? ZSTD_compressBound(PIECE_BYTES)
                         : libdeflate_gzip_compress_bound(g->gzip, PIECE_BYTES);
    g->in = mem_try(PIECE_BYTES);
    g->out = mem_try(g->out_max);
    return g->in && g->out ? take_ptr(&g) : NULL;
}

void pieces_free(struct pieces *g)
{
    if (!g)
        return;
    if (g->gzip)
        libdeflate_free_compressor(g->gzip);
    (void)ZSTD_freeCCtx(g->zstd);
    free(g->in);
    free(g->out);
    free(g);
}

/* libdeflate writes no name, no time and the operating system 255. 0: no memory. */
static size_t compress(struct pieces *g)
{
    if (g->gzip)
        return libdeflate_gzip_compress(g->gzip, g->in, g->n, g->out, g->out_max);
    size_t n = ZSTD_compressCCtx(g->zstd, g->out, g->out_max, g->in, g->n, ZSTD_LEVEL);
    return ZSTD_isError(n) ? 0 : n;
}

static int flush(struct pieces *g, struct err *err)
{
    size_t n = compress(g);
    assert(n > 0 || g->zstd); /* the buffer has the size that the library requires */
    g->n = 0;
    g->has_any = true;
    return n ? g->sink(g->arg, str_n(g->out, n), err) : err_set(err, -ENOMEM, "compress");
}

int pieces_add(struct pieces *g, struct str bytes, struct err *err)
{
    while (bytes.n) {
        size_t n = MIN(bytes.n, PIECE_BYTES - g->n);
        memcpy(g->in + g->n, bytes.p, n);
        g->n += n;
        bytes = str_slice(bytes, n, bytes.n);
        int r = g->n == PIECE_BYTES ? flush(g, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

int pieces_cut(struct pieces *g, struct err *err)
{
    return g->n ? flush(g, err) : 0;
}

int pieces_end(struct pieces *g, struct err *err)
{
    return g->n || !g->has_any ? flush(g, err) : 0;
}
