/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/pull_chunks.h"

#include "base/sys.h"
#include "codec/stored.h"
#include "oci/chunked.h"

#include <errno.h>

enum { WORTH_PERCENT = 90 }; /* of the blob: fetching more of it is not worth the requests */

struct making {
    const struct oci_pull_chunks *how;
    struct oci_pull_chunks_result *result;
    bool is_estargz;
    struct oci_chunked_place place;
    struct buf packed; /* the table as it is in the blob, of eStargz with the footer behind it */
    struct oci_chunks chunks;
    VEC(struct oci_content) local; /* of each part; fd -1: it is fetched */
    struct oci_import *import;
};

static bool is_zstd_chunked(const struct oci_descriptor *blob)
{
    return blob->zstd_chunked_position.n && blob->zstd_chunked_digest.n;
}

bool oci_pull_chunks_may(const struct oci_descriptor *blob)
{
    return blob->estargz_digest.n || is_zstd_chunked(blob);
}

/* ---- the table ---- */

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    int r = buf_add_str(arg, bytes);
    return r < 0 ? err_sys(err, r, "table of contents") : 0;
}

static int fetch(struct making *m, uint64_t from, uint64_t to, oci_blob_sink sink, void *arg,
                 struct err *err)
{
    const struct oci_origin *o = m->how->origin;
    int r = o->parts->range(o->arg, m->how->blob, from, to, sink, arg, err);
    m->result->n_bytes += r < 0 ? 0 : to - from;
    return r;
}

static int check_digest(struct str bytes, struct str wanted, struct err *err)
{
    struct oci_digest found, want;
    int r = oci_digest_parse(wanted, &want, err);
    if (r < 0)
        return r;
    sha256_of(bytes, found.bytes);
    return oci_digest_equal(&found, &want)
               ? 0
               : err_set(err, E_DIGEST, "the table of contents is not what its digest says");
}

static int get_estargz(struct making *m, struct err *err)
{
    const struct oci_descriptor *d = m->how->blob;
    scoped(buf_fini_scoped) struct buf footer = BUF_INIT(OCI_ESTARGZ_FOOTER_BYTES);
    scoped(buf_fini_scoped) struct buf table = BUF_INIT(OCI_CHUNKED_TABLE_MAX);
    if (d->size <= OCI_ESTARGZ_FOOTER_BYTES)
        return err_set(err, E_PARSE, "the blob is too short for a table of contents");
    int r = fetch(m, d->size - OCI_ESTARGZ_FOOTER_BYTES, d->size, add_to_buf, &footer, err);
    r = r < 0 ? r : oci_estargz_footer(buf_str(&footer), d->size, &m->place, err);
    r = r < 0 ? r : fetch(m, m->place.at, m->place.at + m->place.n, add_to_buf, &m->packed, err);
    r = r < 0 ? r : oci_estargz_table(buf_str(&m->packed), &table, err);
    r = r < 0 ? r : check_digest(buf_str(&table), d->estargz_digest, err);
    r = r < 0 ? r : oci_estargz_parts(buf_str(&table), &m->place, d->size, &m->chunks, err);
    return r < 0 ? r : add_to_buf(&m->packed, buf_str(&footer), err);
}

static int get_zstd(struct making *m, struct err *err)
{
    const struct oci_descriptor *d = m->how->blob;
    scoped(buf_fini_scoped) struct buf table = BUF_INIT(OCI_CHUNKED_TABLE_MAX + 1);
    int r = oci_zstd_chunked_position(d->zstd_chunked_position, d->size, &m->place, err);
    r = r < 0 ? r : fetch(m, m->place.at, m->place.at + m->place.n, add_to_buf, &m->packed, err);
    r = r < 0 ? r : check_digest(buf_str(&m->packed), d->zstd_chunked_digest, err);
    r = r < 0 ? r : oci_zstd_chunked_table(buf_str(&m->packed), &m->place, &table, err);
    return r < 0 ? r : oci_zstd_chunked_parts(buf_str(&table), &m->place, &m->chunks, err);
}

/* ---- what is fetched ---- */

static void find_local(struct making *m)
{
    for (size_t i = 0; i < m->chunks.parts.n; i++) {
        const struct oci_chunk *c = &m->chunks.parts.p[i];
        struct oci_content found;
        if (c->n == 0 || !oci_contents_find(m->how->contents, &c->file, c->file_size, &found))
            found = (struct oci_content){ .fd = -1 };
        vec_push(&m->local, found);
    }
}

/* Where the run of parts ends that begins at `i` and are all here, or all not. */
static size_t run_end(const struct making *m, size_t i)
{
    bool is_local = m->local.p[i].fd >= 0;
    while (i < m->chunks.parts.n && (m->local.p[i].fd >= 0) == is_local)
        i++;
    return i;
}

static uint64_t run_bytes(const struct making *m, size_t i, size_t end)
{
    return m->chunks.parts.p[end - 1].to - m->chunks.parts.p[i].from;
}

/* Fetch runs of parts that are here, but short. Returns how many ranges are left. */
static size_t drop_short_runs(struct making *m, uint64_t least)
{
    size_t n = 0;
    for (size_t i = 0, end; i < m->chunks.parts.n; i = end) {
        end = run_end(m, i);
        if (m->local.p[i].fd >= 0 && run_bytes(m, i, end) < least)
            for (size_t k = i; k < end; k++)
                m->local.p[k].fd = -1;
    }
    for (size_t i = 0; i < m->chunks.parts.n; i = run_end(m, i))
        n += m->local.p[i].fd < 0;
    return n;
}

static int choose(struct making *m, struct err *err)
{
    uint64_t need = 0, least = OCI_PULL_SKIP_BYTES;
    find_local(m);
    while (drop_short_runs(m, least) > OCI_PULL_RANGES_MAX)
        least *= 2;
    for (size_t i = 0; i < m->chunks.parts.n; i++)
        if (m->local.p[i].fd < 0)
            need += m->chunks.parts.p[i].to - m->chunks.parts.p[i].from;
    if (need > m->how->blob->size / 100 * WORTH_PERCENT)
        return err_set(err, E_UNSUPPORTED, "the store has too few files of the layer");
    return 0;
}

/* ---- the stream ---- */

static int add_to_import(void *arg, struct str bytes, struct err *err)
{
    return oci_import_add(((struct making *)arg)->import, bytes, err);
}

static int give_local(struct making *m, size_t i, struct err *err)
{
    const struct oci_chunk *c = &m->chunks.parts.p[i];
    const struct oci_content *at = &m->local.p[i];
    scoped(free_scoped) char *piece = xalloc(STORED_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf frame = BUF_INIT(STORED_MAX_BYTES + 64);
    int r = 0;
    for (uint64_t done = 0, n; r >= 0 && done < c->n; done += n) {
        n = MIN(c->n - done, (uint64_t)STORED_MAX_BYTES);
        ssize_t got = sys_pread_full(at->fd, piece, (size_t)n, at->at + c->at + done);
        if (got < 0)
            return err_sys(err, (int)got, "read a file of the store");
        if ((uint64_t)got < n)
            return err_set(err, E_CORRUPT, "a layer of the store is shorter than its index says");
        buf_reset(&frame);
        (void)(m->is_estargz ? stored_gzip(&frame, str_n(piece, (size_t)n))
                             : stored_zstd(&frame, str_n(piece, (size_t)n)));
        r = add_to_import(m, buf_str(&frame), err);
    }
    return r;
}

/* Of eStargz the table is an entry of the tar as well; it was fetched already. */
static int give_fetched(struct making *m, uint64_t from, uint64_t to, struct err *err)
{
    uint64_t data_end = m->is_estargz ? MIN(to, m->place.at) : to;
    int r = from < data_end ? fetch(m, from, data_end, add_to_import, m, err) : 0;
    if (r < 0 || data_end == to)
        return r;
    uint64_t at = MAX(from, m->place.at) - m->place.at;
    return add_to_import(m, str_slice(buf_str(&m->packed), (size_t)at, m->packed.n), err);
}

static int give_all(struct making *m, struct err *err)
{
    int r = 0;
    for (size_t i = 0, end; r >= 0 && i < m->chunks.parts.n; i = end) {
        end = run_end(m, i);
        if (m->local.p[i].fd < 0)
            r = give_fetched(m, m->chunks.parts.p[i].from, m->chunks.parts.p[end - 1].to, err);
        for (size_t k = i; r >= 0 && k < end && m->local.p[i].fd >= 0; k++)
            r = give_local(m, k, err);
    }
    return r;
}

static int count_tar(void *arg, struct str bytes, struct err *err)
{
    struct making *m = arg;
    (void)err;
    m->result->n_tar_bytes += bytes.n;
    return 0;
}

static int import(struct making *m, struct err *err)
{
    struct oci_import_opts opts = m->how->import;
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    opts.has_no_blob = true;
    opts.is_resumable = false;
    opts.blob = opts.diff_id;
    opts.max_tar_bytes = oci_import_max_tar_bytes(opts.max_tar_bytes, m->how->blob->size);
    opts.blob_size = UINT64_MAX; /* of the stream: its tar is bounded */
    opts.tee = count_tar;
    opts.tee_arg = m;
    int r = oci_import_new(m->how->s, &opts, &im, err);
    m->import = im;
    r = r < 0 ? r : give_all(m, err);
    return r < 0 ? r : oci_import_commit(im, err);
}

int oci_pull_chunks(const struct oci_pull_chunks *how, struct oci_pull_chunks_result *ret,
                    struct err *err)
{
    struct making m = { .how = how,
                        .result = ret,
                        /* zstd:chunked of stargz-snapshotter has both kinds of annotations. */
                        .is_estargz = !is_zstd_chunked(how->blob),
                        .packed = BUF_INIT(OCI_CHUNKED_TABLE_MAX + OCI_ESTARGZ_FOOTER_BYTES) };
    *ret = (struct oci_pull_chunks_result){ 0 };
    int r = m.is_estargz ? get_estargz(&m, err) : get_zstd(&m, err);
    r = r < 0 ? r : choose(&m, err);
    r = r < 0 ? r : import(&m, err);
    oci_chunks_fini(&m.chunks);
    vec_fini(&m.local);
    buf_fini(&m.packed);
    return r;
}
