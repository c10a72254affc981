/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/pull_chunks.h"

#include "base/map.h"
#include "base/sys.h"
#include "codec/stored.h"
#include "oci/table.h"

#include <errno.h>

enum { WORTH_PERCENT = 90 }; /* of the blob: fetching more of it is not worth the requests */

/* Of a part: whether the store has the file, and where. */
struct pull_chunks_local {
    bool is_here; /* else it is fetched */
    struct oci_content file;
};

struct pull_chunks_making {
    const struct oci_pull_chunks *how;
    struct oci_pull_chunks_result *result;
    bool is_estargz;
    struct oci_chunked_place place;
    struct buf packed; /* the table as in the blob, of eStargz followed by the footer */
    struct oci_chunks chunks;
    struct pull_chunks_local *local; /* of each part */
    uint64_t held;                   /* memory of both, of how->tables */
    struct oci_import *import;
    bool asks_many;    /* several ranges in a request */
    unsigned n_breaks; /* of connections during these requests */
    int import_r;      /* why the import has ended */
    size_t next;       /* the first part that the import does not have yet, */
    uint64_t at; /* and the next byte of the blob, where its run has begun to come; 0: not yet */
};

enum { BREAKS_MAX = 2 }; /* of one layer, and then range by range */

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

static int fetch(struct pull_chunks_making *m, uint64_t from, uint64_t to, oci_blob_sink sink,
                 void *arg, struct err *err)
{
    const struct oci_origin *o = m->how->origin;
    int r = o->parts->range(o->arg, m->how->blob, from, to, sink, arg, err);
    m->result->n_bytes += r < 0 ? 0 : to - from;
    return r;
}

static int read_table(struct pull_chunks_making *m, struct oci_table *t, struct err *err)
{
    scoped(buf_fini_scoped) struct buf flat = BUF_INIT(OCI_TABLE_FLAT_MAX);
    t->place = m->place;
    t->size = m->how->blob->size;
    t->bytes = buf_str(&m->packed);
    int r = oci_table_read(m->how->tables, t, &flat, &m->held, err);
    return r < 0 ? r : oci_table_chunks(t, buf_str(&flat), &m->chunks, err);
}

static int get_estargz(struct pull_chunks_making *m, struct err *err)
{
    const struct oci_descriptor *d = m->how->blob;
    struct oci_table t = { .kind = OCI_TABLE_ESTARGZ };
    scoped(buf_fini_scoped) struct buf footer = BUF_INIT(OCI_ESTARGZ_FOOTER_BYTES);
    if (d->size <= OCI_ESTARGZ_FOOTER_BYTES)
        return err_set(err, E_PARSE, "the blob is too short for a table of contents");
    int r = oci_digest_parse(d->estargz_digest, &t.digest, err);
    if (r >= 0)
        r = fetch(m, d->size - OCI_ESTARGZ_FOOTER_BYTES, d->size, add_to_buf, &footer, err);
    r = r < 0 ? r : oci_estargz_footer(buf_str(&footer), d->size, &m->place, err);
    r = r < 0 ? r : fetch(m, m->place.at, m->place.at + m->place.n, add_to_buf, &m->packed, err);
    r = r < 0 ? r : read_table(m, &t, err);
    return r < 0 ? r : add_to_buf(&m->packed, buf_str(&footer), err);
}

static int get_zstd(struct pull_chunks_making *m, struct err *err)
{
    const struct oci_descriptor *d = m->how->blob;
    struct oci_table t = { .kind = OCI_TABLE_ZSTD_CHUNKED };
    struct oci_digest found;
    int r = oci_digest_parse(d->zstd_chunked_digest, &t.digest, err);
    r = r < 0 ? r : oci_zstd_chunked_position(d->zstd_chunked_position, d->size, &m->place, err);
    r = r < 0 ? r : fetch(m, m->place.at, m->place.at + m->place.n, add_to_buf, &m->packed, err);
    if (r < 0)
        return r;
    sha256_of(buf_str(&m->packed),
              found.bytes); /* of what is packed, so that it is compared here */
    if (!oci_digest_equal(&found, &t.digest))
        return err_set(err, E_DIGEST, "the table of contents is not what its digest says");
    return read_table(m, &t, err);
}

/* ---- what is fetched ---- */

static int find_local(struct pull_chunks_making *m, struct err *err)
{
    m->local = mem_try((m->chunks.parts.n + 1) * sizeof *m->local);
    if (!m->local)
        return err_set(err, -ENOMEM, "parts of a layer");
    for (size_t i = 0; i < m->chunks.parts.n; i++) {
        const struct oci_chunk *c = &m->chunks.parts.p[i];
        struct pull_chunks_local found = { 0 };
        found.is_here =
            c->n > 0 && oci_contents_find(m->how->contents, &c->file, c->file_size, &found.file);
        m->local[i] = found;
    }
    return 0;
}

/* Where the run of parts ends that begins at `i` and are all here, or all not. */
static size_t run_end(const struct pull_chunks_making *m, size_t i)
{
    bool is_here = m->local[i].is_here;
    while (i < m->chunks.parts.n && m->local[i].is_here == is_here)
        i++;
    return i;
}

static uint64_t run_bytes(const struct pull_chunks_making *m, size_t i, size_t end)
{
    return m->chunks.parts.p[end - 1].to - m->chunks.parts.p[i].from;
}

/* Fetch runs of parts that are here, but short. Returns how many ranges are left. */
static size_t drop_short_runs(struct pull_chunks_making *m, uint64_t least)
{
    size_t n = 0;
    for (size_t i = m->next, end; i < m->chunks.parts.n; i = end) {
        end = run_end(m, i);
        if (m->local[i].is_here && run_bytes(m, i, end) < least)
            for (size_t k = i; k < end; k++)
                m->local[k].is_here = false;
    }
    for (size_t i = m->next; i < m->chunks.parts.n; i = run_end(m, i))
        n += !m->local[i].is_here;
    return n;
}

/* What is fetched of the parts that are left. Returns how many ranges. */
static size_t drop_what_is_not_worth_it(struct pull_chunks_making *m)
{
    uint64_t least = m->asks_many ? OCI_PULL_SKIP_MANY_BYTES : OCI_PULL_SKIP_BYTES;
    size_t most = m->asks_many ? OCI_PULL_RANGES_MANY_MAX : OCI_PULL_RANGES_MAX, n;
    while ((n = drop_short_runs(m, least)) > most)
        least *= 2;
    return n;
}

static int choose(struct pull_chunks_making *m, struct err *err)
{
    uint64_t need = 0;
    if (drop_what_is_not_worth_it(m) < 2)
        m->asks_many = false;
    for (size_t i = 0; i < m->chunks.parts.n; i++)
        if (!m->local[i].is_here)
            need += m->chunks.parts.p[i].to - m->chunks.parts.p[i].from;
    if (need > m->how->blob->size / 100 * WORTH_PERCENT)
        return err_set(err, E_UNSUPPORTED, "the store has too few files of the layer");
    return 0;
}

/* ---- the stream ---- */

static int add_to_import(void *arg, struct str bytes, struct err *err)
{
    struct pull_chunks_making *m = arg;
    int r = oci_import_add(m->import, bytes, err);
    m->import_r = MIN(r, 0);
    return r;
}

static int give_local(struct pull_chunks_making *m, size_t i, struct err *err)
{
    const struct oci_chunk *c = &m->chunks.parts.p[i];
    scoped(free_scoped) char *piece = xalloc(STORED_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf frame = BUF_INIT(STORED_MAX_BYTES + 64);
    int r = 0;
    for (uint64_t done = 0, n; r >= 0 && done < c->n; done += n) {
        n = MIN(c->n - done, (uint64_t)STORED_MAX_BYTES);
        r = oci_contents_read(m->how->contents, &m->local[i].file, piece, (size_t)n, c->at + done,
                              err);
        if (r < 0)
            return r;
        buf_reset(&frame);
        (void)(m->is_estargz ? stored_gzip(&frame, str_n(piece, (size_t)n))
                             : stored_zstd(&frame, str_n(piece, (size_t)n)));
        r = add_to_import(m, buf_str(&frame), err);
    }
    return r;
}

/* Of eStargz the table is an entry of the tar as well; it was fetched already. */
static uint64_t fetched_end(const struct pull_chunks_making *m, uint64_t to)
{
    return m->is_estargz ? MIN(to, m->place.at) : to;
}

static int give_table(struct pull_chunks_making *m, uint64_t from, uint64_t to, struct err *err)
{
    if (from >= to)
        return 0;
    uint64_t at = MAX(from, m->place.at) - m->place.at;
    return add_to_import(m, str_slice(buf_str(&m->packed), (size_t)at, m->packed.n), err);
}

/* Where the run of parts that are fetched begins, without what has come of it. */
static uint64_t run_start(const struct pull_chunks_making *m, size_t i)
{
    return i == m->next && m->at ? m->at : m->chunks.parts.p[i].from;
}

static int give_run(struct pull_chunks_making *m, struct err *err)
{
    size_t end = run_end(m, m->next);
    uint64_t from = run_start(m, m->next), to = m->chunks.parts.p[end - 1].to;
    uint64_t data_end = fetched_end(m, to);
    int r = from < data_end ? fetch(m, from, data_end, add_to_import, m, err) : 0;
    r = r < 0 ? r : give_table(m, MAX(from, data_end), to, err);
    m->next = end;
    m->at = 0;
    return r;
}

/* The parts that are here, up to the next one that is fetched. */
static int give_here(struct pull_chunks_making *m, struct err *err)
{
    int r = 0;
    for (; r >= 0 && m->next < m->chunks.parts.n && m->local[m->next].is_here; m->next++)
        r = give_local(m, m->next, err);
    return r;
}

/* ---- several ranges in one request ---- */

struct pull_chunks_asked {
    struct pull_chunks_making *m;
    struct oci_range ranges[OCI_RANGES_MAX];
    size_t ends[OCI_RANGES_MAX]; /* of their runs */
    size_t n, i;                 /* i: the one that is awaited */
};

static void ask_for_runs(struct pull_chunks_asked *a)
{
    struct pull_chunks_making *m = a->m;
    for (size_t i = m->next, end; i < m->chunks.parts.n && a->n < OCI_RANGES_MAX; i = end) {
        end = run_end(m, i);
        struct oci_range g = { run_start(m, i), fetched_end(m, m->chunks.parts.p[end - 1].to) };
        if (m->local[i].is_here)
            continue;
        if (g.from >= g.to)
            return; /* the table alone is left */
        a->ranges[a->n] = g;
        a->ends[a->n++] = end;
    }
}

/* A range has come: what follows it is given up to the next one. */
static int end_range(struct pull_chunks_asked *a, struct err *err)
{
    struct pull_chunks_making *m = a->m;
    size_t end = a->ends[a->i];
    int r = give_table(m, a->ranges[a->i].to, m->chunks.parts.p[end - 1].to, err);
    a->i++;
    m->next = end;
    m->at = 0;
    return r < 0 ? r : give_here(m, err);
}

static int on_ranges(void *arg, uint64_t at, struct str bytes, struct err *err)
{
    struct pull_chunks_asked *a = arg;
    struct pull_chunks_making *m = a->m;
    int r = 0;
    m->result->n_bytes += bytes.n;
    while (bytes.n && a->i < a->n && r >= 0) {
        uint64_t want = run_start(m, m->next);
        if (at > want)
            return err_set(err, -EPROTO, "the ranges are not those that were asked for");
        size_t skip = (size_t)MIN(want - at, (uint64_t)bytes.n); /* of a gap between ranges */
        size_t n = (size_t)MIN(a->ranges[a->i].to - want, (uint64_t)(bytes.n - skip));
        if (n) {
            r = add_to_import(m, str_slice(bytes, skip, skip + n), err);
            m->at = want + n;
        }
        if (r >= 0 && m->at == a->ranges[a->i].to)
            r = end_range(a, err);
        at += skip + n;
        bytes = str_slice(bytes, skip + n, bytes.n);
    }
    return r;
}

/* An error of the connection, which does not show whether the origin supports several ranges. */
static bool is_break(int r)
{
    return r == -ECONNRESET || r == -EPIPE || r == -ETIMEDOUT || r == E_EOF || r == -EAGAIN;
}

/*
 * The next runs in one request. Where the origin does something else than was asked for, what is
 * left is fetched range by range; after a broken connection it is asked for as before, a few times.
 * Errors: of the import, of reading the store.
 */
static int give_many(struct pull_chunks_making *m, struct err *err)
{
    const struct oci_origin *o = m->how->origin;
    struct pull_chunks_asked *a = xnew(struct pull_chunks_asked);
    struct err why = { 0 };
    a->m = m;
    ask_for_runs(a);
    bool is_one = a->n < 2;
    int r = is_one ? give_run(m, err)
                   : o->parts->ranges(o->arg, m->how->blob, a->ranges, a->n, on_ranges, a, &why);
    bool is_short = !is_one && a->i < a->n;
    free(a);
    if (is_one)
        return r;
    if (m->import_r < 0)
        return err_set(err, r < 0 ? r : m->import_r, "%s", err_text(&why));
    if (!is_short || (is_break(r) && ++m->n_breaks <= BREAKS_MAX))
        return 0;
    m->asks_many = false;
    if (!is_break(r))
        atomic_store(m->how->knows_one_range, true);
    if (m->next == 0 && m->at == 0)
        return choose(m, err);
    (void)drop_what_is_not_worth_it(m);
    return 0;
}

static int give_all(struct pull_chunks_making *m, struct err *err)
{
    int r = 0;
    while (r >= 0 && m->next < m->chunks.parts.n) {
        if (m->local[m->next].is_here)
            r = give_here(m, err);
        else
            r = m->asks_many ? give_many(m, err) : give_run(m, err);
    }
    return r;
}

static int count_tar(void *arg, struct str bytes, struct err *err)
{
    struct pull_chunks_making *m = arg;
    (void)err;
    m->result->n_tar_bytes += bytes.n;
    return 0;
}

static int import(struct pull_chunks_making *m, struct err *err)
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

/* r, or -EIO: it is a file here that is wrong. Each of those that were given is read once: a table
 * can name a large one for many small chunks. */
static int explain_import(struct pull_chunks_making *m, int r, struct err *err)
{
    struct map judged = { .borrows_keys = true };
    for (size_t i = 0; r < 0 && i < MIN(m->next + 1, m->chunks.parts.n); i++) {
        struct pull_chunks_local *l = &m->local[i];
        struct str key = str_n(l->file.digest.bytes, SHA256_BYTES);
        if (!l->is_here || map_has(&judged, key))
            continue;
        (void)map_put(&judged, key, l);
        r = oci_contents_explain_error(m->how->contents, &l->file, r, err);
    }
    map_fini(&judged);
    return r;
}

int oci_pull_chunks(const struct oci_pull_chunks *how, struct oci_pull_chunks_result *ret,
                    struct err *err)
{
    struct pull_chunks_making m = {
        .how = how,
        .result = ret,
        /* zstd:chunked of stargz-snapshotter has both kinds of annotations. */
        .is_estargz = !is_zstd_chunked(how->blob),
        .asks_many = how->origin->parts->ranges && !atomic_load(how->knows_one_range),
        .packed = BUF_INIT(OCI_CHUNKED_TABLE_MAX + OCI_ESTARGZ_FOOTER_BYTES)
    };
    *ret = (struct oci_pull_chunks_result){ 0 };
    int r = m.is_estargz ? get_estargz(&m, err) : get_zstd(&m, err);
    r = r < 0 ? r : find_local(&m, err);
    r = r < 0 ? r : choose(&m, err);
    r = r < 0 ? r : explain_import(&m, import(&m, err), err);
    oci_chunks_fini(&m.chunks);
    free(m.local);
    buf_fini(&m.packed);
    oci_table_give_back(how->tables, m.held);
    return r;
}
