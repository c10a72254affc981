/* SPDX-License-Identifier: Apache-2.0 */
/* oci/layer_gather: layers from events, compared with those of the reader of whole tars. */
#include "oci/layer_gather.h"

#include "base/buf.h"
#include "tar_kit.h"

#include <errno.h>

enum { BIG_BYTES = 3 * LAYER_GATHER_PIECE + 100, TAR_MAX = 1 << 20 };

static void make_tar(struct tar_kit *k)
{
    static const char *const attributes[] = { "SCHILY.xattr.user.a=1",
                                              "SCHILY.xattr.trusted.overlay.opaque=y" };
    static const char *const sparse[] = { "GNU.sparse.size=300000",
                                          "GNU.sparse.map=0,3,200000,2,300000,0" };
    scoped(free_scoped) char *big = xnew_n(char, BIG_BYTES + 1);
    memset(big, 'b', BIG_BYTES);
    kit_dir(k, "d/");
    kit_file(k, "d/empty", "");
    kit_file(k, "d/small", "small\n");
    kit_file(k, "d/big", big);
    kit_pax(k, attributes, ARRAY_LEN(attributes));
    kit_file(k, "d/attributes", "x");
    kit_file(k, "d/.wh.gone", "content of a whiteout");
    kit_file(k, "e/.wh..wh..opq", "");
    kit_file(k, ".wh..wh.plnk/1.2", "dropped");
    kit_pax(k, sparse, ARRAY_LEN(sparse));
    kit_file(k, "holes", "abcde");
    kit_link(k, "l", '2', "d/small");
    kit_link(k, "h", '1', "d/big");
    kit_file(k, "old.pyc", "\x03\xf3\r\nabcd");
    kit_file(k, "hashed.pyc", "\xa7\r\r\n\x03");
    kit_end(k);
}

static void check_same(const struct oci_layer *a, const struct oci_layer *b)
{
    CHECK(memcmp(a->diff_id, b->diff_id, sizeof a->diff_id) == 0);
    CHECK_INT(a->n_bytes, b->n_bytes);
    CHECK_INT(a->n_dropped, b->n_dropped);
    CHECK_INT(a->entries.n, b->entries.n);
    CHECK_INT(a->whiteouts.n, b->whiteouts.n);
    for (size_t i = 0; i < a->entries.n; i++) {
        const struct oci_entry *x = &a->entries.p[i], *y = &b->entries.p[i];
        CHECK(str_eq(x->path, y->path) && str_eq(x->link, y->link));
        CHECK_INT(x->data_offset, y->data_offset);
        CHECK_INT(x->size, y->size);
        CHECK_INT(x->n_xattrs, y->n_xattrs);
        CHECK_INT(x->records_time, y->records_time);
        CHECK(memcmp(x->digest, y->digest, sizeof x->digest) == 0);
    }
    for (size_t i = 0; i < a->whiteouts.n; i++)
        CHECK(str_eq(a->whiteouts.p[i].path, b->whiteouts.p[i].path) &&
              a->whiteouts.p[i].is_opaque == b->whiteouts.p[i].is_opaque);
}

TEST(a_layer_from_events_is_the_one_of_the_tar_however_its_bytes_arrive)
{
    static const size_t steps[] = { 1, 511, 4096, TAR_MAX };
    struct tar_kit k = { BUF_INIT(TAR_MAX) };
    struct oci_layer *want;
    make_tar(&k);
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
    CHECK_OK(oci_layer_reader_add(r, buf_str(&k.out), NULL));
    CHECK_OK(oci_layer_reader_end(r, &want, NULL));
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct err err = { 0 };
        struct oci_layer *got;
        struct layer_facts facts;
        void *reading;
        scoped(layer_gather_free_scoped) struct layer_gather *g = layer_gather_new();
        CHECK_OK(layer_parse_here.start(NULL, TAR_MAX, &layer_gather_ops, g, &reading, &err));
        for (size_t at = 0; at < k.out.n; at += steps[i])
            if (layer_parse_here.add(reading, str_slice(buf_str(&k.out), at, at + steps[i]), &err) <
                0)
                TEST_FAIL("%s", err_text(&err));
        CHECK_OK(layer_parse_here.end(reading, &facts, &err));
        CHECK_OK(layer_gather_end(g, &facts, &got, &err));
        layer_parse_here.free(reading);
        check_same(got, want);
        oci_layer_free(got);
    }
    oci_layer_free(want);
    buf_fini(&k.out);
}

struct contents {
    struct sha256 *hash;
    size_t n_files, fail_at;
};

static int on_content(void *arg, const struct oci_entry *e, struct str bytes, struct err *err)
{
    struct contents *c = arg;
    uint8_t digest[SHA256_BYTES];
    sha256_add(c->hash, bytes.p, bytes.n);
    if (bytes.n)
        return 0;
    sha256_end(c->hash, digest);
    CHECK(memcmp(digest, e->digest, sizeof digest) == 0);
    return ++c->n_files == c->fail_at ? err_set(err, -ENOSPC, "full") : 0;
}

TEST(content_comes_with_its_digest_at_the_end)
{
    struct tar_kit k = { BUF_INIT(TAR_MAX) };
    make_tar(&k);
    for (size_t fail_at = 0; fail_at < 2; fail_at++) {
        struct contents c = { .hash = sha256_new(), .fail_at = fail_at };
        struct layer_facts facts;
        scoped(layer_gather_free_scoped) struct layer_gather *g = layer_gather_new();
        scoped(layer_parser_free_scoped) struct layer_parser *p =
            layer_parser_new(&layer_gather_ops, g, TAR_MAX);
        layer_gather_content(g, on_content, &c);
        int r = layer_parser_add(p, buf_str(&k.out), NULL);
        r = r < 0 ? r : layer_parser_end(p, &facts, NULL);
        CHECK_ERR(r, fail_at ? -ENOSPC : 0);
        CHECK_INT(c.n_files, fail_at ? 1 : 6); /* whiteouts and dropped ones are none */
        sha256_free(c.hash);
    }
    buf_fini(&k.out);
}

/* ---- a reader of layers that a layer has taken over ---- */

static const struct oci_entry file = { .path = { "f", 1 }, .size = 10, .data_offset = 512 };

static struct layer_gather *with_piece(void)
{
    static char piece[1024];
    struct layer_gather *g = layer_gather_new();
    CHECK_OK(layer_gather_ops.raw(g, str_n(piece, sizeof piece), NULL));
    return g;
}

static int entry_at(struct layer_gather *g, uint64_t offset, uint64_t size)
{
    struct oci_entry e = file;
    e.data_offset = offset;
    e.size = size;
    return layer_gather_ops.entry(g, &e, NULL);
}

TEST(events_that_contradict_the_tar_are_refused)
{
    static const struct {
        uint64_t first, first_size, second;
    } lies[] = {
        { 1025, 10, 0 }, /* behind the piece */
        { UINT64_MAX, 10, 0 } /* far behind */,
        { 512, 513, 1024 }, /* another file before the content of the first was there */
        { 512, 100, 600 },  /* within the content of the first */
    };
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        scoped(layer_gather_free_scoped) struct layer_gather *g = with_piece();
        int r = entry_at(g, lies[i].first, lies[i].first_size);
        if (lies[i].second)
            CHECK_OK(r);
        CHECK_ERR(lies[i].second ? entry_at(g, lies[i].second, 1) : r, E_PARSE);
    }
}

TEST(content_that_belongs_to_no_file_or_is_missing_is_refused)
{
    static char large[LAYER_GATHER_PIECE + 1];
    struct oci_layer *layer;
    const struct layer_facts facts = { 0 };
    scoped(layer_gather_free_scoped) struct layer_gather *g = with_piece();
    CHECK_ERR(layer_gather_ops.data(g, STR("x"), NULL), E_PARSE);
    CHECK_ERR(layer_gather_ops.hole(g, 1, NULL), E_PARSE);
    CHECK_ERR(layer_gather_ops.raw(g, str_n(large, sizeof large), NULL), E_PARSE);
    CHECK_OK(entry_at(g, 1024, 5));
    CHECK_ERR(layer_gather_ops.data(g, STR("x"), NULL), E_PARSE); /* it is not sparse */
    CHECK_ERR(layer_gather_ops.whiteout(g, &(struct oci_whiteout){ STR("w"), false }, NULL),
              E_PARSE);
    CHECK_ERR(layer_gather_end(g, &facts, &layer, NULL), E_PARSE);
}

/* ---- memory ---- */

/* Directories: nothing is hashed. The reader of a tar gives the same to the same function. */
TEST(the_index_of_a_layer_of_countless_entries_has_a_bound)
{
    struct err err = { 0 };
    char name[32];
    int r = 0;
    size_t n = 0;
    struct oci_layer *layer = xnew(struct oci_layer);
    for (; r >= 0; n++) {
        struct oci_entry *ret;
        int bytes = snprintf(name, sizeof name, "directory/%zu", n);
        struct tar_entry e = { .type = TAR_DIR, .path = str_n(name, (size_t)bytes) };
        r = oci_layer_add(layer, &e, &ret, &err);
    }
    CHECK_INT(r, E_LIMIT);
    CHECK(strstr(err_text(&err), "256 MiB of memory"));
    CHECK(n > 1000000 && n < OCI_LAYER_ENTRIES_MAX);
    CHECK(layer->entries.n * sizeof *layer->entries.p + layer->text.total_bytes <=
          OCI_LAYER_MEMORY_MAX);
    oci_layer_free(layer);
}

TEST(whiteouts_and_attributes_count_as_entries_do)
{
    static char value[TAR_XATTRS_MAX - 8];
    struct err err = { 0 };
    const struct tar_xattr x = { STR("user.a"), str_n(value, sizeof value) };
    struct oci_layer *layer = xnew(struct oci_layer);
    int r = 0;
    size_t n = 0;
    for (struct oci_entry *ret; r >= 0; n++) {
        const struct tar_entry e = { .path = STR("f"), .xattrs = &x, .n_xattrs = 1 };
        r = oci_layer_add(layer, &e, &ret, &err);
    }
    CHECK_INT(r, E_LIMIT);
    CHECK(n <= 1 + OCI_LAYER_MEMORY_MAX / sizeof value);
    for (r = 0; r >= 0; n++)
        r = oci_layer_add_whiteout(layer, &(struct oci_whiteout){ STR("w"), false }, &err);
    CHECK_INT(r, E_LIMIT);
    CHECK(n < 10000);
    oci_layer_free(layer);
}

TEST_MAIN
