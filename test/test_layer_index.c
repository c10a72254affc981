/* SPDX-License-Identifier: Apache-2.0 */
/* oci/layer_index: what is written reads back equal; damaged and forged indexes are refused. */
#include "image_tree_kit.h"
#include "oci/layer_index.h"
#include "tar_kit.h"

enum { INDEX_MAX = 64 << 20, SUM_BYTES = 8, HEADER_BYTES = 8 + 16 + SHA256_BYTES + 32 };

static void check_equal(const struct oci_layer *a, const struct oci_layer *b)
{
    CHECK_INT(a->entries.n, b->entries.n);
    CHECK_INT(a->whiteouts.n, b->whiteouts.n);
    CHECK_INT(a->n_bytes, b->n_bytes);
    CHECK_INT(a->n_dropped, b->n_dropped);
    CHECK(memcmp(a->diff_id, b->diff_id, sizeof a->diff_id) == 0);
    for (size_t i = 0; i < a->entries.n; i++) {
        const struct oci_entry *x = &a->entries.p[i], *y = &b->entries.p[i];
        CHECK(str_eq(x->path, y->path) && str_eq(x->link, y->link));
        CHECK(x->size == y->size && x->mtime_s == y->mtime_s && x->mtime_ns == y->mtime_ns);
        CHECK_INT(x->data_offset, y->data_offset);
        CHECK(x->uid == y->uid && x->gid == y->gid && x->mode == y->mode && x->type == y->type);
        CHECK(x->device_major == y->device_major && x->device_minor == y->device_minor);
        CHECK(x->is_sparse == y->is_sparse && x->n_xattrs == y->n_xattrs);
        for (size_t k = 0; k < x->n_xattrs; k++)
            CHECK(str_eq(x->xattrs[k].name, y->xattrs[k].name) &&
                  str_eq(x->xattrs[k].value, y->xattrs[k].value));
        CHECK(memcmp(x->digest, y->digest, sizeof x->digest) == 0);
    }
    for (size_t i = 0; i < a->whiteouts.n; i++) {
        CHECK(str_eq(a->whiteouts.p[i].path, b->whiteouts.p[i].path));
        CHECK_INT(a->whiteouts.p[i].is_opaque, b->whiteouts.p[i].is_opaque);
    }
}

static struct oci_layer *layer_of(struct tar_kit *k)
{
    scoped(oci_layer_reader_free_scoped) struct oci_layer_reader *r = oci_layer_reader_new();
    struct oci_layer *layer;
    kit_end(k);
    CHECK_OK(oci_layer_reader_add(r, buf_str(&k->out), NULL));
    CHECK_OK(oci_layer_reader_end(r, &layer, NULL));
    buf_fini(&k->out);
    return layer;
}

/* Everything that an entry can be. */
static struct oci_layer *rich_layer(void)
{
    static const char *const records[] = { "SCHILY.xattr.user.b=2", "SCHILY.xattr.security.a=1",
                                           "mtime=1700000000.123456789" };
    static const char *const sparse[] = { "GNU.sparse.size=100000", "GNU.sparse.map=0,0" };
    struct tar_kit k = { BUF_INIT(1 << 20) };
    char device[TAR_BLOCK_BYTES];
    kit_dir(&k, "./");
    kit_dir(&k, "usr/");
    kit_dir(&k, "usr/bin/");
    kit_file(&k, "usr/bin/zz", "last by name, first in the archive");
    kit_pax(&k, records, ARRAY_LEN(records));
    kit_file(&k, "usr/bin/ping", "ping");
    kit_link(&k, "usr/bin/hard", '1', "usr/bin/ping");
    kit_link(&k, "bin", '2', "../usr/bin//.");
    kit_header(device, "dev/null", '3', 0);
    kit_octal(device + 329, 8, 1);
    kit_octal(device + 337, 8, 3);
    kit_add_block(&k, device);
    kit_pax(&k, sparse, ARRAY_LEN(sparse));
    kit_file(&k, "hole", "");
    kit_file(&k, "twice", "old");
    kit_file(&k, "twice", "new!");
    kit_file(&k, "empty", "");
    kit_file(&k, "etc/.wh.motd", "");
    kit_file(&k, "var/.wh..wh..opq", "");
    kit_file(&k, ".wh..wh..opq", "");
    kit_file(&k, ".wh..wh.plnk", "");
    return layer_of(&k);
}

static void write_index(const struct oci_layer *layer, struct buf *to)
{
    struct err err = { 0 };
    if (oci_layer_index_write(layer, to, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
}

/* As a confined process gives it. */
static int read_flat(struct str index, struct oci_layer **ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf flat = BUF_INIT(INDEX_MAX);
    int r = oci_layer_index_flatten(index, &flat, err);
    return r < 0 ? r : oci_layer_index_read_flat(buf_str(&flat), ret, err);
}

static void check_round_trip(const struct oci_layer *layer)
{
    scoped(oci_layer_free_scoped) struct oci_layer *flat = NULL;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(INDEX_MAX), again = BUF_INIT(INDEX_MAX);
    scoped(oci_layer_free_scoped) struct oci_layer *back = NULL;
    struct err err = { 0 };
    write_index(layer, &b);
    if (oci_layer_index_read(buf_str(&b), &back, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    check_equal(layer, back);
    write_index(back, &again);
    CHECK(str_eq(buf_str(&b), buf_str(&again)));
    CHECK_OK(read_flat(buf_str(&b), &flat, &err));
    check_equal(layer, flat);
}

TEST(an_index_reads_back_as_the_layer_that_was_written)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = rich_layer();
    CHECK_INT(layer->entries.n, 12);
    CHECK_INT(layer->whiteouts.n, 3);
    CHECK_INT(layer->n_dropped, 1);
    check_round_trip(layer);
    struct tar_kit k = { BUF_INIT(1 << 20) };
    scoped(oci_layer_free_scoped) struct oci_layer *none = layer_of(&k);
    check_round_trip(none);
}

static struct oci_layer *random_layer(size_t n)
{
    struct tar_kit k = { BUF_INIT(8 << 20) };
    for (size_t i = 0; i < n; i++) {
        char name[64], content[900];
        size_t size = (size_t)test_random_below(sizeof content);
        memset(content, 'c', sizeof content);
        content[size] = 0;
        (void)snprintf(name, sizeof name, "d%u/%s%u", (unsigned)test_random_below(5),
                       test_random_below(9) ? "f" : ".wh.w", (unsigned)test_random_below(40));
        kit_file(&k, name, content);
    }
    return layer_of(&k);
}

TEST(random_layers_read_back_equal)
{
    for (size_t i = 0; i < 50; i++) {
        scoped(oci_layer_free_scoped) struct oci_layer *layer =
            random_layer((size_t)test_random_below(200));
        check_round_trip(layer);
    }
}

TEST(every_changed_byte_and_every_cut_is_noticed)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = rich_layer(), *back = NULL;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(INDEX_MAX);
    struct err err = { 0 };
    write_index(layer, &b);
    for (size_t i = 0; i < b.n; i++) {
        b.p[i] ^= 0x10;
        CHECK(oci_layer_index_read(buf_str(&b), &back, &err) < 0);
        b.p[i] ^= 0x10;
        CHECK(oci_layer_index_read(str_n(b.p, i), &back, &err) < 0);
    }
}

TEST(a_flat_index_that_a_process_forged_is_refused)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = rich_layer(), *back = NULL;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(INDEX_MAX), flat = BUF_INIT(INDEX_MAX);
    struct err err = { 0 };
    write_index(layer, &b);
    CHECK_OK(oci_layer_index_flatten(buf_str(&b), &flat, &err));
    CHECK_ERR(oci_layer_index_read_flat(buf_str(&b), &back, &err), E_CORRUPT); /* one is not the */
    CHECK_ERR(oci_layer_index_read(buf_str(&flat), &back, &err), E_CORRUPT);   /* other */
    for (size_t i = 0; i < flat.n; i++) {
        flat.p[i] ^= 0x10;
        CHECK(oci_layer_index_read_flat(buf_str(&flat), &back, &err) < 0);
        flat.p[i] ^= 0x10;
        CHECK(oci_layer_index_read_flat(str_n(flat.p, i), &back, &err) < 0);
    }
    /* With a right checksum: of the body, what it says it has, and what lies there. */
    for (size_t at = HEADER_BYTES - 16; at < HEADER_BYTES; at += 8) {
        flat.p[at]--;
        uint64_t sum = oci_layer_index_sum(str_n(flat.p, flat.n - SUM_BYTES));
        for (size_t i = 0; i < SUM_BYTES; i++)
            flat.p[flat.n - SUM_BYTES + i] = (char)(sum >> (8 * i));
        CHECK_ERR(oci_layer_index_read_flat(buf_str(&flat), &back, &err), E_CORRUPT);
        flat.p[at]++;
    }
}

/* The index of a layer with one entry changed by hand, with a right checksum. */
static int read_forged(void (*change)(struct oci_layer *layer), struct err *err)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = rich_layer(), *back = NULL;
    scoped(oci_layer_free_scoped) struct oci_layer *flat = NULL;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(INDEX_MAX);
    change(layer);
    write_index(layer, &b);
    int r = oci_layer_index_read(buf_str(&b), &back, err);
    CHECK_INT(read_flat(buf_str(&b), &flat, err), r);
    return r;
}

static void climb(struct oci_layer *l)
{
    l->entries.p[3].path = STR("usr/../../etc/shadow");
}
static void absolute(struct oci_layer *l)
{
    l->entries.p[3].path = STR("/etc/shadow");
}
static void whiteout_entry(struct oci_layer *l)
{
    l->entries.p[3].path = STR("usr/.wh.x");
}
static void link_out(struct oci_layer *l)
{
    l->entries.p[5].link = STR("../../etc/shadow");
}
static void steer(struct oci_layer *l)
{
    ((struct tar_xattr *)l->entries.p[4].xattrs)[0].name = STR("trusted.overlay.redirect");
}
static void unsorted_attributes(struct oci_layer *l)
{
    ((struct tar_xattr *)l->entries.p[4].xattrs)[0].name = STR("z");
}
static void outside(struct oci_layer *l)
{
    l->entries.p[3].data_offset = l->n_bytes - 3;
}
static void wide_mode(struct oci_layer *l)
{
    l->entries.p[3].mode = 010644;
}
static void sized_directory(struct oci_layer *l)
{
    l->entries.p[1].size = 5;
}
static void whiteout_of_nothing(struct oci_layer *l)
{
    l->whiteouts.p[0].path = STR("");
}
static void nothing(struct oci_layer *l)
{
    (void)l;
}

TEST(an_index_that_no_layer_can_have_is_refused_though_its_checksum_is_right)
{
    static void (*const changes[])(struct oci_layer *) = {
        climb,           absolute,
        whiteout_entry,  link_out,
        steer,           unsorted_attributes,
        outside,         wide_mode,
        sized_directory, whiteout_of_nothing,
    };
    struct err err = { 0 };
    CHECK_OK(read_forged(nothing, &err));
    for (size_t i = 0; i < ARRAY_LEN(changes); i++)
        CHECK_ERR(read_forged(changes[i], &err), E_CORRUPT);
}

static void put_le(char *at, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (char)(v >> (8 * i));
}

TEST(counts_that_would_cost_memory_are_refused_before_any_is_taken)
{
    scoped(oci_layer_free_scoped) struct oci_layer *layer = rich_layer(), *back = NULL;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(INDEX_MAX);
    struct err err = { 0 };
    write_index(layer, &b);
    static const struct {
        size_t at, n;
        uint64_t v;
        int code;
    } lies[] = {
        { 8, 4, 2, E_VERSION },
        { 12, 4, UINT32_MAX, E_LIMIT },
        { 12, 4, 1 << 23, E_LIMIT }, /* of memory */
        { 12, 4, 1 << 20, E_CORRUPT },
        { 16, 4, UINT32_MAX, E_LIMIT },
        { 20, 4, UINT32_MAX, E_LIMIT },
        { HEADER_BYTES - 16, 8, UINT64_MAX, E_LIMIT },
        { HEADER_BYTES - 16, 8, (uint64_t)2 << 30, E_LIMIT },
        { HEADER_BYTES - 16, 8, 128 << 20, E_CORRUPT },
        { HEADER_BYTES - 8, 8, UINT64_MAX, E_CORRUPT },
    };
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        char was[8];
        memcpy(was, b.p + lies[i].at, lies[i].n);
        put_le(b.p + lies[i].at, lies[i].v, lies[i].n);
        put_le(b.p + b.n - SUM_BYTES, oci_layer_index_sum(str_n(b.p, b.n - SUM_BYTES)), 8);
        CHECK_ERR(oci_layer_index_read(buf_str(&b), &back, &err), lies[i].code);
        memcpy(b.p + lies[i].at, was, lies[i].n);
    }
}

/* Offsets as a tar would have them; the recorded trees have none. */
static void lay_out(struct oci_layer *layer)
{
    uint64_t at = 0;
    for (size_t i = 0; i < layer->entries.n; i++) {
        struct oci_entry *e = &layer->entries.p[i];
        e->data_offset = at + TAR_BLOCK_BYTES;
        at = e->data_offset + (e->size + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;
    }
    layer->n_bytes = at;
}

TEST(the_index_of_a_real_image_takes_less_than_33_bytes_an_entry)
{
    struct merged m;
    size_t bytes = 0, entries = 0;
    load_image(&m, "redis-new");
    for (size_t i = 0; i < m.n; i++) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(INDEX_MAX);
        lay_out(m.layers[i]);
        check_round_trip(m.layers[i]);
        write_index(m.layers[i], &b);
        bytes += b.n;
        entries += m.layers[i]->entries.n + m.layers[i]->whiteouts.n;
    }
    printf("# %zu bytes for %zu entries\n", bytes, entries);
    CHECK(bytes < 33 * entries);
    merged_fini(&m);
}

TEST_MAIN
