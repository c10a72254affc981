/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flat tables from a process that a hostile table took over: parts follow each other within the
 * blob, files lie in the tar, and messages can be shown. The first byte chooses.
 */
#include "fuzz.h"

#include "image/table_child.h"

enum { BLOB_BYTES = 4096 };

static void read_chunks(struct str flat, enum oci_table_kind kind)
{
    struct oci_chunks c;
    const struct oci_table t = { .kind = kind,
                                 .size = BLOB_BYTES,
                                 .place = { BLOB_BYTES / 2, 100, 0 } };
    uint64_t at = 0;
    if (oci_table_chunks(&t, flat, &c, NULL) < 0)
        return;
    for (size_t i = 0; i < c.parts.n; i++) {
        const struct oci_chunk *p = &c.parts.p[i];
        FUZZ_CHECK(p->from == at && p->to > p->from && p->to <= BLOB_BYTES);
        FUZZ_CHECK(p->at <= p->file_size && p->n <= p->file_size - p->at);
        at = p->to;
    }
    FUZZ_CHECK(at == (kind == OCI_TABLE_ESTARGZ ? BLOB_BYTES : BLOB_BYTES / 2 - 8));
    oci_chunks_fini(&c);
}

static int count(void *arg, struct str bytes, struct err *err)
{
    (void)err;
    *(uint64_t *)arg += bytes.n;
    return 0;
}

/* As many bytes as the part has are not at hand. */
static int give(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                void *sink_arg, struct err *err)
{
    static const char zeros[4096];
    int r = 0;
    (void)arg;
    for (uint64_t n = p->size; n && r >= 0; n -= n < sizeof zeros ? n : sizeof zeros)
        r = sink(sink_arg, str_n(zeros, n < sizeof zeros ? (size_t)n : sizeof zeros), err);
    return r;
}

static void read_tree(struct str flat)
{
    struct oci_table_tree t;
    uint64_t n = 0;
    if (oci_table_tree(flat, &t, NULL) < 0)
        return;
    for (size_t i = 0; i < t.skeleton.n_parts; i++)
        FUZZ_CHECK(t.files[i].size > 0 && t.files[i].path.n <= flat.n);
    if (t.skeleton.tar_bytes < 1 << 20) {
        FUZZ_CHECK(oci_skeleton_make_tar(&t.skeleton, give, NULL, count, &n, NULL) == 0);
        FUZZ_CHECK(n == t.skeleton.tar_bytes);
    }
    oci_table_tree_fini(&t);
}

static void read_answer(struct str answer)
{
    struct err err = { 0 };
    uint32_t code;
    size_t n;
    if (table_child_head(str_slice(answer, 0, TABLE_CHILD_HEAD_BYTES), &code, &n, &err) < 0)
        return;
    FUZZ_CHECK(n <= OCI_TABLE_FLAT_MAX);
    if (code == 0)
        return;
    FUZZ_CHECK(n <= 256);
    FUZZ_CHECK(table_child_error(code, str_slice(answer, TABLE_CHILD_HEAD_BYTES, answer.n), &err) <
               0);
    for (const char *p = err_text(&err); *p; p++)
        FUZZ_CHECK(*p >= ' ' && *p <= '~');
}

static void read_head(struct str head)
{
    struct oci_table t;
    struct buf again = BUF_INIT(OCI_TABLE_HEAD_BYTES);
    if (oci_table_read_head(head, &t, NULL) >= 0) {
        oci_table_write_head(&t, &again);
        FUZZ_CHECK(str_eq(buf_str(&again), str_slice(head, 0, OCI_TABLE_HEAD_BYTES)));
    }
    buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str in = str_n(data + 1, size - 1);
    switch (data[0] % 5) {
    case 0:
        read_chunks(in, OCI_TABLE_ESTARGZ);
        break;
    case 1:
        read_chunks(in, OCI_TABLE_ZSTD_CHUNKED);
        break;
    case 2:
        read_tree(in);
        break;
    case 3:
        read_answer(in);
        break;
    default:
        read_head(in);
        break;
    }
    return 0;
}
