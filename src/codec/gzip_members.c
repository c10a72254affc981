/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/gzip_members.h"

#include <assert.h>
#include <libdeflate.h>

enum { LEVEL = 6 };

struct gzip_members {
    gzip_members_sink sink;
    void *arg;
    struct libdeflate_compressor *compressor;
    char *in, *out;
    size_t n, out_max;
    bool has_any;
};

struct gzip_members *gzip_members_new(gzip_members_sink sink, void *arg)
{
    scoped(gzip_members_free_scoped) struct gzip_members *g = xnew(struct gzip_members);
    g->sink = sink;
    g->arg = arg;
    g->compressor = libdeflate_alloc_compressor(LEVEL);
    if (!g->compressor)
        return NULL;
    g->out_max = libdeflate_gzip_compress_bound(g->compressor, GZIP_MEMBER_BYTES);
    g->in = mem_try(GZIP_MEMBER_BYTES);
    g->out = mem_try(g->out_max);
    return g->in && g->out ? take_ptr(&g) : NULL;
}

void gzip_members_free(struct gzip_members *g)
{
    if (!g)
        return;
    libdeflate_free_compressor(g->compressor);
    free(g->in);
    free(g->out);
    free(g);
}

/* libdeflate writes no name, no time and the operating system 255. */
static int flush(struct gzip_members *g, struct err *err)
{
    size_t n = libdeflate_gzip_compress(g->compressor, g->in, g->n, g->out, g->out_max);
    assert(n > 0); /* the room is what the library asks for */
    g->n = 0;
    g->has_any = true;
    return g->sink(g->arg, str_n(g->out, n), err);
}

int gzip_members_add(struct gzip_members *g, struct str bytes, struct err *err)
{
    while (bytes.n) {
        size_t n = MIN(bytes.n, GZIP_MEMBER_BYTES - g->n);
        memcpy(g->in + g->n, bytes.p, n);
        g->n += n;
        bytes = str_slice(bytes, n, bytes.n);
        int r = g->n == GZIP_MEMBER_BYTES ? flush(g, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

int gzip_members_cut(struct gzip_members *g, struct err *err)
{
    return g->n ? flush(g, err) : 0;
}

int gzip_members_end(struct gzip_members *g, struct err *err)
{
    return g->n || !g->has_any ? flush(g, err) : 0;
}
