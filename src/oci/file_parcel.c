/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/file_parcel.h"

#include "codec/decompress.h"

#include <errno.h>
#include <zstd.h>

enum {
    /* Of bases and files together. With a long prefix, higher levels take six times as long, and
     * what they make is no smaller. */
    LEVEL_SMALL = 12,
    LEVEL_LARGE = 9,
    SMALL_BYTES = 64 << 20,
    WINDOW_LOG_MIN = 17,
    WINDOW_LOG_MAX = 28, /* bases and files of a parcel are within it */
};
_Static_assert(2 * (uint64_t)OCI_PARCEL_BYTES_MAX <= (uint64_t)1 << WINDOW_LOG_MAX,
               "the window reaches the first byte of the bases");

static const char REQUEST[8] = { 'D', 'M', 'F', 'I', 'L', 'E', 'R', 'Q' };
static const char ANSWER[8] = { 'D', 'M', 'F', 'I', 'L', 'E', 'A', 'N' };

static int wrong(struct err *err, const char *what)
{
    return err_set(err, E_PARSE, "parcel of files: %s", what);
}

static int check_counts(uint64_t n_layers, uint64_t n_bases, uint64_t n_files, struct err *err)
{
    if (n_layers > OCI_PARCEL_LAYERS_MAX || n_bases > OCI_PARCEL_FILES_MAX ||
        n_files > OCI_PARCEL_FILES_MAX)
        return err_set(err, E_LIMIT, "parcel of files: too many at once");
    return 0;
}

static int read_head(struct rd *r, const char magic[8], struct err *err)
{
    struct str found = rd_str(r, 8);
    uint32_t version = rd_le32(r);
    if (!rd_ok(r) || memcmp(found.p, magic, 8) != 0)
        return wrong(err, "wrong magic number");
    return version == OCI_PARCEL_VERSION
               ? 0
               : err_set(err, E_VERSION, "parcel of files of version %u", version);
}

/* ---- requests ---- */

static void add_digests(struct buf *to, const struct oci_digest *d, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)buf_add(to, d[i].bytes, SHA256_BYTES);
}

int oci_parcel_request_write(const struct oci_parcel_request *q, struct buf *to, struct err *err)
{
    int r = check_counts(q->n_layers, q->n_bases, q->n_files, err);
    if (r < 0)
        return r;
    (void)buf_add(to, REQUEST, sizeof REQUEST);
    (void)buf_add_le32(to, OCI_PARCEL_VERSION);
    (void)buf_add_le32(to, (uint32_t)q->n_layers);
    (void)buf_add_le32(to, (uint32_t)q->n_bases);
    (void)buf_add_le32(to, (uint32_t)q->n_files);
    add_digests(to, q->layers, q->n_layers);
    add_digests(to, q->bases, q->n_bases);
    add_digests(to, q->files, q->n_files);
    return buf_ok(to) ? 0 : err_sys(err, to->failed, "parcel of files");
}

static const struct oci_digest *read_digests(struct rd *r, struct arena *a, size_t n)
{
    struct oci_digest *all = arena_new_n(a, struct oci_digest, n + 1);
    struct str bytes = rd_str(r, (uint64_t)n * SHA256_BYTES);
    if (rd_ok(r) && bytes.n)
        memcpy(all, bytes.p, bytes.n);
    return all;
}

int oci_parcel_request_read(struct arena *a, struct str bytes, struct oci_parcel_request *ret,
                            struct err *err)
{
    struct rd rd = rd_init(bytes.p, bytes.n);
    int r = read_head(&rd, REQUEST, err);
    if (r < 0)
        return r;
    struct oci_parcel_request q = { .n_layers = rd_le32(&rd) };
    q.n_bases = rd_le32(&rd);
    q.n_files = rd_le32(&rd);
    if (!rd_ok(&rd))
        return wrong(err, "it is cut short");
    r = check_counts(q.n_layers, q.n_bases, q.n_files, err);
    if (r < 0)
        return r;
    if (rd_left(&rd) != (q.n_layers + q.n_bases + q.n_files) * SHA256_BYTES)
        return wrong(err, "it has another length");
    q.layers = read_digests(&rd, a, q.n_layers);
    q.bases = read_digests(&rd, a, q.n_bases);
    q.files = read_digests(&rd, a, q.n_files);
    *ret = q;
    return 0;
}

/* ---- answers ---- */

static int window_log(uint64_t n)
{
    int log = WINDOW_LOG_MIN;
    while (log < WINDOW_LOG_MAX && ((uint64_t)1 << log) < n)
        log++;
    return log;
}

static size_t compress(ZSTD_CCtx *c, struct str bases, struct str files, char *to, size_t room)
{
    uint64_t n = (uint64_t)bases.n + files.n;
    bool is_small = n <= SMALL_BYTES;
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, is_small ? LEVEL_SMALL : LEVEL_LARGE);
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log(n));
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_enableLongDistanceMatching, !is_small);
    size_t r = bases.n ? ZSTD_CCtx_refPrefix(c, bases.p, bases.n) : 0;
    return ZSTD_isError(r) ? r : ZSTD_compress2(c, to, room, files.p, files.n);
}

int oci_parcel_write(const struct oci_parcel *p, struct str bases, struct str files, struct buf *to,
                     struct err *err)
{
    char *room;
    size_t most = ZSTD_compressBound(files.n);
    (void)buf_add(to, ANSWER, sizeof ANSWER);
    (void)buf_add_le32(to, OCI_PARCEL_VERSION);
    (void)buf_add_le32(to, (uint32_t)p->n_bases);
    (void)buf_add_le32(to, (uint32_t)p->n_files);
    (void)buf_add(to, p->has_base, p->n_bases);
    (void)buf_add(to, p->has_file, p->n_files);
    (void)buf_add_le64(to, files.n);
    int r = buf_ok(to) ? buf_reserve(to, most, &room) : to->failed;
    if (r < 0)
        return err_sys(err, r, "parcel of files");
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t n = c ? compress(c, bases, files, room, most) : 0;
    ZSTD_freeCCtx(c);
    if (!c || ZSTD_isError(n))
        return err_set(err, -ENOMEM, "parcel of files: %s", c ? ZSTD_getErrorName(n) : "no memory");
    buf_advance(to, n);
    return 0;
}

static bool are_flags(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((uint8_t)s.p[i] > 1)
            return false;
    return true;
}

int oci_parcel_read(struct str bytes, struct oci_parcel *ret, struct err *err)
{
    struct rd rd = rd_init(bytes.p, bytes.n);
    int r = read_head(&rd, ANSWER, err);
    if (r < 0)
        return r;
    struct oci_parcel p = { .n_bases = rd_le32(&rd) };
    p.n_files = rd_le32(&rd);
    r = check_counts(0, p.n_bases, p.n_files, err);
    if (r < 0)
        return r;
    struct str has_base = rd_str(&rd, p.n_bases), has_file = rd_str(&rd, p.n_files);
    p.n_bytes = rd_le64(&rd);
    p.packed = rd_str(&rd, rd_left(&rd));
    if (!rd_ok(&rd) || !are_flags(has_base) || !are_flags(has_file))
        return wrong(err, "it is cut short, or damaged");
    if (p.n_bytes > OCI_PARCEL_BYTES_MAX)
        return err_set(err, E_LIMIT, "parcel of files: its files are too large");
    p.has_base = (const uint8_t *)has_base.p;
    p.has_file = (const uint8_t *)has_file.p;
    *ret = p;
    return 0;
}

int oci_parcel_unpack(const struct oci_parcel *p, struct str bases, char *ret, struct err *err)
{
    if (ZSTD_getFrameContentSize(p->packed.p, p->packed.n) != p->n_bytes ||
        ZSTD_findFrameCompressedSize(p->packed.p, p->packed.n) != p->packed.n)
        return wrong(err, "its files have another size");
    ZSTD_DCtx *d = ZSTD_createDCtx();
    if (!d)
        return err_set(err, -ENOMEM, "parcel of files");
    size_t r = bases.n ? ZSTD_DCtx_refPrefix(d, bases.p, bases.n) : 0;
    if (!ZSTD_isError(r))
        r = ZSTD_decompressDCtx(d, ret, (size_t)p->n_bytes, p->packed.p, p->packed.n);
    ZSTD_freeDCtx(d);
    if (ZSTD_isError(r) && decompress_zstd_code(r) == -ENOMEM)
        return err_set(err, -ENOMEM, "parcel of files");
    return ZSTD_isError(r) || r != p->n_bytes ? wrong(err, "its files do not unpack") : 0;
}
