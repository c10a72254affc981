/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/pull_members.h"

#include "codec/stored.h"
#include "oci/layer_tree.h"
#include "oci/table.h"

#include <errno.h>

enum {
    WORTH_PERCENT = 90,
    ZEROS_BYTES = 64 << 10
}; /* of the blob: more is not worth the requests */

struct pull_members_member {
    uint64_t from, raw_end; /* in the blob; in the tar */
    bool is_here;           /* else it is fetched */
};

struct pull_members_making {
    const struct oci_pull_members *how;
    struct oci_pull_members_result *result;
    struct buf flat;
    struct oci_table_tree tree;
    uint64_t held;                       /* memory of both, of how->tables */
    struct pull_members_member *members; /* one more than there are: the end */
    size_t n;
    struct oci_import *import;
    size_t next;      /* the first member whose end was not received, */
    size_t n_fetched; /* and the first one that is not fetched yet */
    uint64_t at;      /* of the tar */
    char *piece;      /* STORED_MAX_BYTES */
};

/* ---- what is known of the layer ---- */

static int get_tree(struct pull_members_making *m, struct str bytes, struct err *err)
{
    const struct oci_table table = { .kind = OCI_TABLE_TREE, .bytes = bytes };
    m->flat = BUF_INIT(OCI_TABLE_FLAT_MAX);
    int r = oci_table_read(m->how->tables, &table, &m->flat, &m->held, err);
    r = r < 0 ? r : oci_table_tree(buf_str(&m->flat), &m->tree, err);
    if (r < 0)
        return r;
    if (memcmp(m->tree.diff_id, m->how->import.diff_id.bytes, SHA256_BYTES) != 0)
        return err_set(err, E_PARSE, "the tree manifest is one of other layers");
    uint64_t max = oci_import_max_tar_bytes(m->how->import.max_tar_bytes, m->how->blob->size);
    m->result->n_tar_bytes = m->tree.skeleton.tar_bytes;
    return m->result->n_tar_bytes <= max
               ? 0
               : err_set(err, E_LIMIT, "the layer has more than %llu bytes",
                         (unsigned long long)max);
}

static int get_members(struct pull_members_making *m, const struct oci_layer_tree *t,
                       struct err *err)
{
    uint64_t packed = 0, raw = 0;
    if (t->packed != m->how->blob->size || t->raw != m->tree.skeleton.tar_bytes)
        return err_set(err, E_PARSE, "the tree is one of another blob");
    m->n = t->n_members;
    m->members = mem_try((m->n + 1) * sizeof *m->members);
    if (!m->members)
        return err_set(err, -ENOMEM, "members of a layer");
    for (size_t i = 0; i < m->n; i++) {
        struct oci_member one = oci_layer_tree_member(t, i);
        raw += one.raw;
        m->members[i] = (struct pull_members_member){ .from = packed, .raw_end = raw };
        packed += one.packed;
    }
    m->members[m->n] = (struct pull_members_member){ .from = packed, .raw_end = raw };
    return 0;
}

/* ---- what is fetched ---- */

static bool has_file(struct pull_members_making *m, size_t i, struct oci_content *ret)
{
    struct oci_digest d;
    memcpy(d.bytes, m->tree.files[i].digest, sizeof d.bytes);
    return oci_contents_find(m->how->contents, &d, m->tree.files[i].size, ret);
}

/* Members that have a byte of a file which the store lacks are fetched. Both are in the order of
 * the tar. */
static void find_local(struct pull_members_making *m)
{
    struct oci_content found;
    size_t k = 0;
    for (size_t i = 0; i < m->n; i++)
        m->members[i].is_here = true;
    for (size_t i = 0; i < m->tree.skeleton.n_parts; i++) {
        struct oci_skeleton_part p = oci_skeleton_part(&m->tree.skeleton, i);
        if (has_file(m, i, &found))
            continue;
        while (k < m->n && m->members[k].raw_end <= p.offset)
            k++;
        for (size_t j = k; j < m->n && (j == k || m->members[j - 1].raw_end < p.offset + p.size);
             j++)
            m->members[j].is_here = false;
    }
}

static size_t run_end(const struct pull_members_making *m, size_t i)
{
    bool is_here = m->members[i].is_here;
    while (i < m->n && m->members[i].is_here == is_here)
        i++;
    return i;
}

/* Fetch runs of members that are here, but short. Returns how many ranges are left. */
static size_t drop_short_runs(struct pull_members_making *m, uint64_t least)
{
    size_t n = 0;
    for (size_t i = 0, end; i < m->n; i = end) {
        end = run_end(m, i);
        if (m->members[i].is_here && m->members[end].from - m->members[i].from < least)
            for (size_t k = i; k < end; k++)
                m->members[k].is_here = false;
    }
    for (size_t i = 0; i < m->n; i = run_end(m, i))
        n += !m->members[i].is_here;
    return n;
}

static int choose(struct pull_members_making *m, struct err *err)
{
    uint64_t need = 0, least = OCI_PULL_MEMBERS_SKIP_BYTES;
    while (drop_short_runs(m, least) > OCI_PULL_MEMBERS_RANGES_MAX)
        least *= 2;
    for (size_t i = 0; i < m->n; i++)
        if (!m->members[i].is_here)
            need += m->members[i + 1].from - m->members[i].from;
    if (need > m->how->blob->size / 100 * WORTH_PERCENT)
        return err_set(err, E_UNSUPPORTED, "the store has too few files of the layer");
    return 0;
}

/* ---- the stream ---- */

static int add_to_import(void *arg, struct str bytes, struct err *err)
{
    struct pull_members_making *m = arg;
    return oci_import_add(m->import, bytes, err);
}

static int fetch_run(struct pull_members_making *m, struct err *err)
{
    const struct oci_origin *o = m->how->origin;
    size_t end = run_end(m, m->next);
    uint64_t from = m->members[m->next].from, to = m->members[end].from;
    int r = o->parts->range(o->arg, m->how->blob, from, to, add_to_import, m, err);
    m->result->n_bytes += r < 0 ? 0 : to - from;
    m->n_fetched = end;
    return r;
}

static int add_stored(struct pull_members_making *m, struct str bytes, struct err *err)
{
    scoped(buf_fini_scoped) struct buf frame = BUF_INIT(STORED_MAX_BYTES + 64);
    int r = 0;
    while (r >= 0 && bytes.n) {
        struct str part = str_slice(bytes, 0, STORED_MAX_BYTES);
        buf_reset(&frame);
        (void)stored_gzip(&frame, part);
        r = add_to_import(m, buf_str(&frame), err);
        bytes = str_slice(bytes, part.n, bytes.n);
    }
    return r;
}

/* The next bytes of the tar, of which those of fetched members are not what they will be. */
static int on_tar(void *arg, struct str bytes, struct err *err)
{
    struct pull_members_making *m = arg;
    int r = 0;
    while (r >= 0 && bytes.n) {
        while (m->next < m->n && m->members[m->next].raw_end == m->at)
            m->next++;
        if (m->next == m->n)
            return err_set(err, E_CORRUPT, "the members end before the tar does");
        const struct pull_members_member *one = &m->members[m->next];
        struct str part = str_slice(bytes, 0, (size_t)MIN(one->raw_end - m->at, (uint64_t)bytes.n));
        if (one->is_here)
            r = add_stored(m, part, err);
        else if (m->next >= m->n_fetched)
            r = fetch_run(m, err);
        m->at += part.n;
        bytes = str_slice(bytes, part.n, bytes.n);
    }
    return r;
}

static int give_zeros(struct pull_members_making *m, uint64_t n, oci_skeleton_sink sink, void *arg,
                      struct err *err)
{
    int r = 0;
    memset(m->piece, 0, ZEROS_BYTES);
    for (uint64_t part; r >= 0 && n; n -= part) {
        part = MIN(n, (uint64_t)ZEROS_BYTES);
        r = sink(arg, str_n(m->piece, (size_t)part), err);
    }
    return r;
}

/* Whether a part is entirely in members that are fetched. It is the next one of the tar. */
static bool is_fetched(const struct pull_members_making *m, const struct oci_skeleton_part *p)
{
    size_t i = m->next;
    while (i < m->n && m->members[i].raw_end <= p->offset)
        i++;
    for (; i < m->n; i++) {
        if (m->members[i].is_here)
            return false;
        if (m->members[i].raw_end >= p->offset + p->size)
            return true;
    }
    return false;
}

static int give_content(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                        void *sink_arg, struct err *err)
{
    struct pull_members_making *m = arg;
    struct oci_digest d;
    struct oci_content found;
    int r = 0;
    memcpy(d.bytes, p->digest, sizeof d.bytes);
    if (!oci_contents_find(m->how->contents, &d, p->size, &found))
        return is_fetched(m, p) ? give_zeros(m, p->size, sink, sink_arg, err)
                                : err_set(err, -ENOENT, "a file left the store meanwhile");
    for (uint64_t done = 0, n; r >= 0 && done < p->size; done += n) {
        n = MIN(p->size - done, (uint64_t)STORED_MAX_BYTES);
        r = oci_contents_read(m->how->contents, &found, m->piece, (size_t)n, done, err);
        r = r < 0 ? r : sink(sink_arg, str_n(m->piece, (size_t)n), err);
    }
    return r;
}

static int import(struct pull_members_making *m, struct err *err)
{
    struct oci_import_opts opts = m->how->import;
    scoped(oci_import_free_scoped) struct oci_import *im = NULL;
    opts.has_no_blob = true;
    opts.is_resumable = false;
    opts.blob = opts.diff_id;
    opts.max_tar_bytes = MAX(m->result->n_tar_bytes, (uint64_t)1);
    opts.blob_size = UINT64_MAX; /* of the stream: its tar is bounded */
    int r = oci_import_new(m->how->s, &opts, &im, err);
    m->import = im;
    r = r < 0 ? r : oci_skeleton_make_tar(&m->tree.skeleton, give_content, m, on_tar, m, err);
    return r < 0 ? r : oci_import_commit(im, err);
}

/* r, or -EIO: it is a file here that is wrong. */
static int explain_import(struct pull_members_making *m, int r, struct err *err)
{
    struct oci_content found;
    for (size_t i = 0; r < 0 && i < m->tree.skeleton.n_parts; i++)
        if (has_file(m, i, &found))
            r = oci_contents_explain_error(m->how->contents, &found, r, err);
    return r;
}

int oci_pull_members(const struct oci_pull_members *how, struct oci_pull_members_result *ret,
                     struct err *err)
{
    struct pull_members_making m = { .how = how, .result = ret };
    struct oci_layer_tree t;
    *ret = (struct oci_pull_members_result){ 0 };
    int r = oci_layer_tree_read(how->tree, &t, err);
    r = r < 0 ? r : get_tree(&m, t.tree, err);
    r = r < 0 ? r : get_members(&m, &t, err);
    if (r >= 0) {
        m.piece = xalloc(MAX((size_t)STORED_MAX_BYTES, (size_t)ZEROS_BYTES));
        find_local(&m);
        r = choose(&m, err);
    }
    r = r < 0 ? r : explain_import(&m, import(&m, err), err);
    free(m.piece);
    free(m.members);
    oci_table_tree_fini(&m.tree);
    buf_fini(&m.flat);
    oci_table_give_back(how->tables, m.held);
    return r;
}
