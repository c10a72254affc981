/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/decompress.h"

#include "codec/inflate_fast.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    MAGIC_BYTES = 4,
    WINDOW_BITS = 15,
    GZIP_FRAMING = 16,
    FAST_PIECES = 4, /* of output per step: ISA-L copies its window once per step */
};

enum format { FORMAT_UNKNOWN, FORMAT_RAW, FORMAT_GZIP, FORMAT_ZSTD };

struct decompressor {
    decompress_sink sink;
    void *arg;
    enum format format;
    char magic[MAGIC_BYTES]; /* the first bytes, while the format is unknown */
    size_t n_magic;
    bool is_open; /* within a member or frame */
    z_stream z;
    struct inflate_fast *fast; /* instead of z */
    char *fast_out;            /* FAST_PIECES * DECOMPRESS_PIECE_BYTES */
    ZSTD_DStream *zstd;
    char out[DECOMPRESS_PIECE_BYTES];
};

struct decompressor *decompressor_new(decompress_sink sink, void *arg)
{
    struct decompressor *d = xnew(struct decompressor);
    d->sink = sink;
    d->arg = arg;
    return d;
}

void decompressor_free(struct decompressor *d)
{
    if (!d)
        return;
    if (d->format == FORMAT_GZIP && !d->fast)
        (void)inflateEnd(&d->z);
    inflate_fast_free(d->fast);
    free(d->fast_out);
    (void)ZSTD_freeDStream(d->zstd);
    free(d);
}

/* Pass the bytes to the sink, at most DECOMPRESS_PIECE_BYTES per call. */
static int give(struct decompressor *d, struct str bytes, struct err *err)
{
    while (bytes.n) {
        size_t n = MIN(bytes.n, (size_t)DECOMPRESS_PIECE_BYTES);
        int r = d->sink(d->arg, str_slice(bytes, 0, n), err);
        if (r < 0)
            return r;
        bytes = str_slice(bytes, n, bytes.n);
    }
    return 0;
}

static int add_gzip_fast(struct decompressor *d, struct str in, struct err *err)
{
    const size_t room = FAST_PIECES * DECOMPRESS_PIECE_BYTES;
    size_t n = 0;
    do {
        int over = inflate_fast_step(d->fast, &in, d->fast_out, room, &n);
        if (over < 0)
            return err_set(err, over, "gzip: damaged data");
        int r = give(d, str_n(d->fast_out, n), err);
        if (r < 0)
            return r;
        d->is_open = over == 0;
    } while (in.n || (d->is_open && n == room));
    return 0;
}

static int add_gzip(struct decompressor *d, struct str in, struct err *err)
{
    assert(in.n && in.n <= UINT_MAX);
    if (d->fast)
        return add_gzip_fast(d, in, err);
    d->z.next_in = (Bytef *)in.p;
    d->z.avail_in = (uInt)in.n;
    do {
        if (!d->is_open)
            (void)inflateReset(&d->z); /* the next member */
        d->z.next_out = (Bytef *)d->out;
        d->z.avail_out = sizeof d->out;
        int code = inflate(&d->z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return err_set(err, code == Z_MEM_ERROR ? -ENOMEM : E_PARSE, "gzip: %s",
                           d->z.msg ? d->z.msg : "damaged data");
        size_t n = sizeof d->out - d->z.avail_out;
        int r = n ? d->sink(d->arg, str_n(d->out, n), err) : 0;
        if (r < 0)
            return r;
        d->is_open = code != Z_STREAM_END;
    } while (d->z.avail_in || (d->is_open && d->z.avail_out == 0));
    return 0;
}

int decompress_zstd_code(size_t result)
{
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? -ENOMEM : E_PARSE;
}

static int add_zstd(struct decompressor *d, struct str bytes, struct err *err)
{
    ZSTD_inBuffer in = { bytes.p, bytes.n, 0 };
    for (;;) {
        ZSTD_outBuffer out = { d->out, sizeof d->out, 0 };
        size_t left = ZSTD_decompressStream(d->zstd, &out, &in);
        if (ZSTD_isError(left))
            return err_set(err, decompress_zstd_code(left), "zstd: %s", ZSTD_getErrorName(left));
        d->is_open = left != 0;
        int r = out.pos ? d->sink(d->arg, str_n(d->out, out.pos), err) : 0;
        if (r < 0)
            return r;
        /* After the end of a frame another call would begin a next frame, which may not exist. */
        if (in.pos == in.size && (out.pos < out.size || left == 0))
            return 0;
    }
}

static int begin(struct decompressor *d, struct err *err)
{
    static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
    static const uint8_t skippable[] = { 0x2a, 0x4d, 0x18 }; /* after 0x50 to 0x5f */
    const char *m = d->magic;
    bool is_skippable = d->n_magic == MAGIC_BYTES && ((uint8_t)m[0] & 0xf0) == 0x50 &&
                        memcmp(m + 1, skippable, sizeof skippable) == 0;
    if (d->n_magic >= sizeof gzip && memcmp(m, gzip, sizeof gzip) == 0) {
        d->fast = inflate_fast_new();
        d->fast_out = d->fast ? mem_try(FAST_PIECES * DECOMPRESS_PIECE_BYTES) : NULL;
        d->format = FORMAT_GZIP;
        if (d->fast ? !d->fast_out : inflateInit2(&d->z, WINDOW_BITS + GZIP_FRAMING) != Z_OK)
            return err_set(err, -ENOMEM, "gzip");
        return 0;
    }
    if ((d->n_magic == MAGIC_BYTES && memcmp(m, zstd, sizeof zstd) == 0) || is_skippable) {
        d->zstd = ZSTD_createDStream();
        if (!d->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax,
                                                            DECOMPRESS_ZSTD_WINDOW_LOG_MAX)))
            return err_set(err, -ENOMEM, "zstd");
        d->format = FORMAT_ZSTD;
        return 0;
    }
    d->format = FORMAT_RAW;
    return 0;
}

static int pass(struct decompressor *d, struct str bytes, struct err *err)
{
    if (bytes.n == 0)
        return 0;
    if (d->format == FORMAT_GZIP)
        return add_gzip(d, bytes, err);
    if (d->format == FORMAT_ZSTD)
        return add_zstd(d, bytes, err);
    return give(d, bytes, err);
}

static int start(struct decompressor *d, struct err *err)
{
    int r = begin(d, err);
    return r < 0 ? r : pass(d, str_n(d->magic, d->n_magic), err);
}

int decompressor_add(struct decompressor *d, struct str bytes, struct err *err)
{
    if (d->format == FORMAT_UNKNOWN) {
        size_t n = MIN(bytes.n, MAGIC_BYTES - d->n_magic);
        memcpy(d->magic + d->n_magic, bytes.p, n);
        d->n_magic += n;
        bytes = str_slice(bytes, n, bytes.n);
        if (d->n_magic < MAGIC_BYTES)
            return 0;
        int r = start(d, err);
        if (r < 0)
            return r;
    }
    return pass(d, bytes, err);
}

int decompressor_end(struct decompressor *d, struct err *err)
{
    int r = d->format == FORMAT_UNKNOWN ? start(d, err) : 0;
    if (r < 0)
        return r;
    return d->is_open ? err_set(err, E_PARSE, "the compressed data is cut short") : 0;
}
