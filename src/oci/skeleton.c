/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/skeleton.h"

#include "base/map.h"
#include "base/sum.h"
#include "codec/decompress.h"

#include <errno.h>
#include <zstd.h>

enum {
    PART_BYTES = OCI_SKELETON_PART_BYTES,
    SUM_BYTES = 8,
    LEVEL = 3, /* headers of a tar: 9 takes four times as long and saves a tenth */
    PIECE_BYTES = 256 << 10,
};

static const char MAGIC[8] = { 'D', 'M', 'S', 'K', 'E', 'L', 'E', 'T' };

uint64_t oci_skeleton_sum(struct str bytes)
{
    return sum64(bytes, OCI_SKELETON_VERSION);
}

/* ---- writing ---- */

bool oci_skeleton_has(const struct oci_entry *e)
{
    return e->type == TAR_FILE && e->size > 0 && !e->is_sparse;
}

struct skeleton_writing {
    oci_skeleton_tar tar;
    void *arg;
    ZSTD_CCtx *zstd;
    char *in, *out;
    struct buf *to;
};

static int pack(struct skeleton_writing *w, size_t n, ZSTD_EndDirective how, struct err *err)
{
    ZSTD_inBuffer in = { w->in, n, 0 };
    for (;;) {
        ZSTD_outBuffer out = { w->out, PIECE_BYTES, 0 };
        size_t left = ZSTD_compressStream2(w->zstd, &out, &in, how);
        if (ZSTD_isError(left))
            return err_set(err, -ENOMEM, "skeleton: %s", ZSTD_getErrorName(left));
        int r = buf_add(w->to, w->out, out.pos);
        if (r < 0)
            return err_sys(err, r, "skeleton");
        if (how == ZSTD_e_end ? left == 0 : in.pos == in.size)
            return 0;
    }
}

/* The bytes of the tar from one place to another. */
static int pack_range(struct skeleton_writing *w, uint64_t from, uint64_t to, struct err *err)
{
    while (from < to) {
        size_t n = (size_t)MIN(to - from, (uint64_t)PIECE_BYTES);
        ssize_t got = w->tar(w->arg, w->in, n, from);
        if (got < 0)
            return err_sys(err, (int)got, "read the tar");
        if ((size_t)got < n)
            return err_set(err, E_PARSE, "skeleton: the tar is shorter than its entries say");
        int r = pack(w, n, ZSTD_e_continue, err);
        if (r < 0)
            return r;
        from += n;
    }
    return 0;
}

static int pack_frame(struct skeleton_writing *w, const struct oci_layer *layer, struct err *err)
{
    uint64_t at = 0;
    int r = 0;
    for (size_t i = 0; i < layer->entries.n && r >= 0; i++) {
        const struct oci_entry *e = &layer->entries.p[i];
        if (!oci_skeleton_has(e))
            continue;
        r = pack_range(w, at, e->data_offset, err);
        at = e->data_offset + e->size;
    }
    r = r < 0 ? r : pack_range(w, at, layer->n_bytes, err);
    return r < 0 ? r : pack(w, 0, ZSTD_e_end, err);
}

/* Count parts and bytes; the parts have to follow each other. */
static int measure(const struct oci_layer *layer, uint32_t *ret_n, uint64_t *ret_bytes,
                   struct err *err)
{
    struct map seen = { .borrows_keys = true };
    uint64_t at = 0, bytes = 0, end;
    uint32_t n = 0;
    int r = 0;
    for (size_t i = 0; i < layer->entries.n && r >= 0; i++) {
        const struct oci_entry *e = &layer->entries.p[i];
        if (!oci_skeleton_has(e))
            continue;
        if (e->data_offset < at || __builtin_add_overflow(e->data_offset, e->size, &end) ||
            end > layer->n_bytes)
            r = err_set(err, E_PARSE, "skeleton: the entries do not follow each other");
        at = r < 0 ? at : end;
        n++;
        if (!map_put(&seen, str_n(e->digest, sizeof e->digest), (void *)e))
            bytes += e->size;
    }
    map_fini(&seen);
    *ret_n = n;
    *ret_bytes = bytes;
    return r;
}

static void add_parts(struct buf *to, const struct oci_layer *layer)
{
    for (size_t i = 0; i < layer->entries.n; i++) {
        const struct oci_entry *e = &layer->entries.p[i];
        if (!oci_skeleton_has(e))
            continue;
        (void)buf_add_le64(to, e->data_offset);
        (void)buf_add_le64(to, e->size);
        (void)buf_add(to, e->digest, sizeof e->digest);
    }
}

int oci_skeleton_pack(const struct oci_layer *layer, oci_skeleton_tar tar, void *arg, int level,
                      struct buf *to, struct err *err)
{
    struct skeleton_writing w = {
        tar, arg, ZSTD_createCCtx(), mem_try(PIECE_BYTES), mem_try(PIECE_BYTES), to
    };
    int r = w.zstd && w.in && w.out ? 0 : err_set(err, -ENOMEM, "skeleton");
    if (r >= 0)
        (void)ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_compressionLevel, level);
    r = r < 0 ? r : pack_frame(&w, layer, err);
    (void)ZSTD_freeCCtx(w.zstd);
    free(w.in);
    free(w.out);
    return r;
}

int oci_skeleton_write(const struct oci_layer *layer, oci_skeleton_tar tar, void *arg,
                       struct buf *to, struct err *err)
{
    uint32_t n;
    uint64_t bytes;
    size_t start = to->n;
    int r = measure(layer, &n, &bytes, err);
    if (r < 0)
        return r;
    (void)buf_add(to, MAGIC, sizeof MAGIC);
    (void)buf_add_le32(to, OCI_SKELETON_VERSION);
    (void)buf_add_le32(to, n);
    (void)buf_add_le64(to, layer->n_bytes);
    (void)buf_add_le64(to, bytes);
    add_parts(to, layer);
    r = oci_skeleton_pack(layer, tar, arg, LEVEL, to, err);
    if (r >= 0 && buf_ok(to))
        (void)buf_add_le64(to, oci_skeleton_sum(str_n(to->p + start, to->n - start)));
    return r < 0 || buf_ok(to) ? r : err_sys(err, to->failed, "skeleton");
}

/* ---- reading ---- */

static int damaged(struct err *err, const char *what)
{
    return err_set(err, E_CORRUPT, "skeleton: %s", what);
}

static int read_header(struct rd *r, struct oci_skeleton *k, struct err *err)
{
    struct str magic = rd_str(r, sizeof MAGIC);
    uint32_t version = rd_le32(r);
    if (!rd_ok(r) || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0)
        return damaged(err, "wrong magic number");
    if (version != OCI_SKELETON_VERSION)
        return err_set(err, E_VERSION, "skeleton of version %u", version);
    k->n_parts = rd_le32(r);
    k->tar_bytes = rd_le64(r);
    k->content_bytes = rd_le64(r);
    return rd_ok(r) ? 0 : damaged(err, "it is cut short");
}

int oci_skeleton_read_header(struct str bytes, uint64_t *ret_tar_bytes, uint64_t *ret_content_bytes,
                             struct err *err)
{
    struct rd rd = rd_init(bytes.p, bytes.n);
    struct oci_skeleton k = { 0 };
    int r = read_header(&rd, &k, err);
    if (r < 0)
        return r;
    *ret_tar_bytes = k.tar_bytes;
    *ret_content_bytes = k.content_bytes;
    return 0;
}

struct oci_skeleton_part oci_skeleton_part(const struct oci_skeleton *k, size_t i)
{
    const char *at = k->parts.p + i * PART_BYTES;
    struct rd r = rd_init(at, PART_BYTES);
    struct oci_skeleton_part part = { .digest = (const uint8_t *)at + 16 };
    part.offset = rd_le64(&r);
    part.size = rd_le64(&r);
    return part;
}

static int check_parts(const struct oci_skeleton *k, struct err *err)
{
    uint64_t at = 0, sum = 0;
    for (size_t i = 0; i < k->n_parts; i++) {
        struct oci_skeleton_part p = oci_skeleton_part(k, i);
        if (p.offset < at || p.size == 0 || __builtin_add_overflow(p.offset, p.size, &at) ||
            at > k->tar_bytes)
            return damaged(err, "its parts do not follow each other");
        sum += p.size;
    }
    return k->content_bytes > sum ? damaged(err, "its counts do not add up") : 0;
}

uint64_t oci_skeleton_frame_bytes(const struct oci_skeleton *k)
{
    uint64_t n = k->tar_bytes;
    for (size_t i = 0; i < k->n_parts; i++)
        n -= oci_skeleton_part(k, i).size;
    return n;
}

int oci_skeleton_of(const struct oci_layer *layer, struct str frame, struct buf *parts,
                    struct oci_skeleton *ret, struct err *err)
{
    uint32_t n;
    struct oci_skeleton k = { .tar_bytes = layer->n_bytes, .frame = frame };
    size_t start = parts->n;
    int r = measure(layer, &n, &k.content_bytes, err);
    if (r < 0)
        return r;
    add_parts(parts, layer);
    if (!buf_ok(parts))
        return err_sys(err, parts->failed, "skeleton");
    k.n_parts = n;
    k.parts = str_slice(buf_str(parts), start, parts->n);
    *ret = k;
    return 0;
}

int oci_skeleton_read(struct str bytes, struct oci_skeleton *ret, struct err *err)
{
    struct oci_skeleton k = { 0 };
    struct rd rd = rd_init(bytes.p, bytes.n);
    int r = read_header(&rd, &k, err);
    if (r < 0)
        return r;
    uint64_t n = OCI_SKELETON_HEADER_BYTES + (uint64_t)k.n_parts * PART_BYTES;
    if (n > bytes.n || bytes.n - n < SUM_BYTES)
        return damaged(err, "it is cut short");
    struct rd sum = rd_init(bytes.p + bytes.n - SUM_BYTES, SUM_BYTES);
    if (rd_le64(&sum) != oci_skeleton_sum(str_slice(bytes, 0, bytes.n - SUM_BYTES)))
        return damaged(err, "its checksum is wrong");
    k.parts = str_slice(bytes, OCI_SKELETON_HEADER_BYTES, (size_t)n);
    k.frame = str_slice(bytes, (size_t)n, bytes.n - SUM_BYTES);
    r = check_parts(&k, err);
    if (r >= 0)
        *ret = k;
    return r;
}

struct skeleton_unpacking {
    oci_skeleton_sink sink;
    void *arg;
    bool is_refused; /* by the sink */
};

static int on_unpacked(void *arg, struct str bytes, struct err *err)
{
    struct skeleton_unpacking *u = arg;
    int r = u->sink(u->arg, bytes, err);
    u->is_refused |= r < 0;
    return r;
}

int oci_skeleton_of_parts(struct str parts, uint64_t tar_bytes, struct str others,
                          struct oci_skeleton *ret, struct err *err)
{
    const struct oci_skeleton k = { .tar_bytes = tar_bytes,
                                    .n_parts = parts.n / PART_BYTES,
                                    .parts = parts,
                                    .frame = others,
                                    .is_unpacked = true };
    int r = check_parts(&k, err);
    if (r >= 0 && oci_skeleton_frame_bytes(&k) != others.n)
        r = damaged(err, "its parts and the other bytes are not the tar");
    if (r < 0)
        return err_ctx(err, E_PARSE, "table of a layer");
    *ret = k;
    return 0;
}

int oci_skeleton_unpack(const struct oci_skeleton *k, oci_skeleton_sink sink, void *arg,
                        struct err *err)
{
    if (k->is_unpacked)
        return sink(arg, k->frame, err);
    struct skeleton_unpacking u = { sink, arg, false };
    scoped(decompressor_free_scoped) struct decompressor *d = decompressor_new(on_unpacked, &u);
    int r = decompressor_add(d, k->frame, err);
    r = r < 0 ? r : decompressor_end(d, err);
    return r == E_PARSE && !u.is_refused ? err_ctx(err, E_CORRUPT, "skeleton") : r;
}

/* ---- the tar again ---- */

struct skeleton_making {
    const struct oci_skeleton *k;
    oci_skeleton_content content;
    void *content_arg;
    oci_skeleton_sink sink;
    void *sink_arg;
    uint64_t at;   /* of the tar */
    size_t i;      /* the next part */
    uint64_t left; /* of the content that is being given */
};

static int give(struct skeleton_making *m, struct str bytes, struct err *err)
{
    m->at += bytes.n;
    return m->sink(m->sink_arg, bytes, err);
}

static int on_content(void *arg, struct str bytes, struct err *err)
{
    struct skeleton_making *m = arg;
    if (bytes.n > m->left)
        return damaged(err, "a content has more bytes than its part");
    m->left -= bytes.n;
    return give(m, bytes, err);
}

/* The parts that begin here. */
static int give_parts(struct skeleton_making *m, struct err *err)
{
    for (; m->i < m->k->n_parts; m->i++) {
        struct oci_skeleton_part p = oci_skeleton_part(m->k, m->i);
        if (p.offset != m->at)
            return 0;
        m->left = p.size;
        int r = m->content(m->content_arg, &p, on_content, m, err);
        if (r < 0)
            return r;
        if (m->left)
            return damaged(err, "a content has fewer bytes than its part");
    }
    return 0;
}

static int on_frame(void *arg, struct str bytes, struct err *err)
{
    struct skeleton_making *m = arg;
    while (bytes.n) {
        int r = give_parts(m, err);
        if (r < 0)
            return r;
        uint64_t next =
            m->i < m->k->n_parts ? oci_skeleton_part(m->k, m->i).offset : m->k->tar_bytes;
        size_t n = (size_t)MIN(next - m->at, (uint64_t)bytes.n);
        if (n == 0)
            return damaged(err, "its frame is too long");
        r = give(m, str_slice(bytes, 0, n), err);
        if (r < 0)
            return r;
        bytes = str_slice(bytes, n, bytes.n);
    }
    return 0;
}

int oci_skeleton_make_tar(const struct oci_skeleton *k, oci_skeleton_content content,
                          void *content_arg, oci_skeleton_sink sink, void *sink_arg,
                          struct err *err)
{
    struct skeleton_making m = {
        .k = k, .content = content, .content_arg = content_arg, .sink = sink, .sink_arg = sink_arg
    };
    int r = oci_skeleton_unpack(k, on_frame, &m, err);
    r = r < 0 ? r : give_parts(&m, err);
    if (r >= 0 && (m.at != k->tar_bytes || m.i != k->n_parts))
        return damaged(err, "its frame is too short");
    return r;
}
