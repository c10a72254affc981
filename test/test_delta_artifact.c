/* SPDX-License-Identifier: Apache-2.0 */
/* What attaches deltas and trees to an image, indexes of referrers, and trees of layers, which
 * others write. */
#include "oci/delta_artifact.h"
#include "test.h"

#define A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct oci_digest digest_of(const char *text)
{
    struct oci_digest d;
    CHECK_OK(oci_digest_parse(str_of(text), &d, NULL));
    return d;
}

TEST(an_artifact_names_its_layers_and_its_image)
{
    struct arena a = { 0 };
    struct oci_delta_artifact back;
    struct buf text = BUF_INIT(1 << 16);
    const struct oci_digest from[] = { digest_of(A), digest_of(B) };
    const struct oci_delta_blob layers[] = {
        { digest_of(A), { .digest = digest_of(B), .size = 7 } },
        { digest_of(B), { .digest = digest_of(A), .size = 1ull << 40 } },
    };
    const struct oci_delta_artifact d = {
        .from = from, .n_from = 2, .layers = layers, .n_layers = 2
    };
    const struct oci_image image = { .digest = digest_of(B), .manifest_text = STR("{ }") };
    CHECK_OK(oci_delta_artifact_write(&d, &image, &text, NULL));
    CHECK_OK(oci_delta_artifact_read(&a, buf_str(&text), &back, NULL));
    CHECK_INT(back.n_layers, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK(oci_digest_equal(&back.layers[i].of, &layers[i].of));
        CHECK(oci_digest_equal(&back.layers[i].blob.digest, &layers[i].blob.digest));
        CHECK_INT(back.layers[i].blob.size, layers[i].blob.size);
    }
    CHECK(strstr(buf_cstr(&text), "\"" OCI_DELTA_FROM "\":\"" A "," B "\""));
    CHECK(strstr(buf_cstr(&text), "\"subject\":{\"digest\":\"" B "\""));
    buf_fini(&text);
    arena_fini(&a);
}

#define LAYER(type, of, digest, size)                                                              \
    "{\"mediaType\":\"" type "\",\"digest\":\"" digest "\",\"size\":" size                         \
    ",\"annotations\":{\"" OCI_DELTA_OF "\":\"" of "\"}}"
#define ARTIFACT(layers)                                                                           \
    "{\"artifactType\":\"" OCI_DELTA_ARTIFACT_TYPE "\",\"layers\":[" layers "]}"

TEST(layers_that_are_no_deltas_are_left_out)
{
    struct arena a = { 0 };
    struct oci_delta_artifact d;
    CHECK_OK(oci_delta_artifact_read(
        &a,
        STR(ARTIFACT(
            LAYER("text/plain", A, B, "7") "," LAYER(OCI_LAYER_DELTA_TYPE, "x", B, "7") "," LAYER(
                OCI_LAYER_DELTA_TYPE, A, "x",
                "7") "," LAYER(OCI_LAYER_DELTA_TYPE, A, B,
                               "0") "," LAYER(OCI_LAYER_DELTA_TYPE, A, B,
                                              "-7") ",{},7," LAYER(OCI_LAYER_DELTA_TYPE, B, A,
                                                                   "9"))),
        &d, NULL));
    CHECK_INT(d.n_layers, 1);
    CHECK_INT(d.layers[0].blob.size, 9);
    CHECK_ERR(oci_delta_artifact_read(&a, STR("{\"layers\":[]}"), &d, NULL), E_PARSE);
    CHECK_ERR(oci_delta_artifact_read(&a, STR("{"), &d, NULL), E_PARSE);
    arena_fini(&a);
}

#define REFERRER(type, from)                                                                       \
    "{\"artifactType\":\"" type "\",\"digest\":\"" A "\",\"annotations\":{\"" OCI_DELTA_FROM       \
    "\":\"" from "\"}}"

TEST(of_an_index_of_referrers_only_deltas_are_taken)
{
    struct arena a = { 0 };
    struct oci_delta_referrer *all;
    size_t n;
    struct buf many = BUF_INIT(1 << 16);
    CHECK_OK(oci_delta_referrers(
        &a,
        STR("{\"manifests\":[" REFERRER("text/plain", A) "," REFERRER(
            OCI_DELTA_ARTIFACT_TYPE, "") "," REFERRER(OCI_DELTA_ARTIFACT_TYPE,
                                                      A ",x") "," REFERRER(OCI_DELTA_ARTIFACT_TYPE,
                                                                           A "," B) "]}"),
        &all, &n, NULL));
    CHECK_INT(n, 1);
    CHECK_INT(all[0].n_from, 2);
    CHECK_OK(buf_add_cstr(&many, "{\"manifests\":["));
    for (size_t i = 0; i <= OCI_DELTA_REFERRERS_MAX; i++)
        CHECK_OK(buf_printf(&many, "%s%s", i ? "," : "", REFERRER(OCI_DELTA_ARTIFACT_TYPE, A)));
    CHECK_OK(buf_add_cstr(&many, "]}"));
    CHECK_OK(oci_delta_referrers(&a, buf_str(&many), &all, &n, NULL));
    CHECK_INT(n, OCI_DELTA_REFERRERS_MAX);
    CHECK_OK(oci_delta_referrers(&a, STR("{}"), &all, &n, NULL));
    CHECK_INT(n, 0);
    CHECK_ERR(oci_delta_referrers(&a, STR("no index"), &all, &n, NULL), E_PARSE);
    buf_fini(&many);
    arena_fini(&a);
}

TEST(referrers_that_are_left_out_take_no_memory)
{
    enum { N = 10000 };
    struct arena a = { 0 };
    struct oci_delta_referrer *all;
    size_t n;
    struct buf many = BUF_INIT(4 << 20);
    CHECK_OK(buf_add_cstr(&many, "{\"manifests\":["));
    for (size_t i = 0; i < N; i++)
        CHECK_OK(buf_printf(&many, "%s%s", i ? "," : "",
                            REFERRER(OCI_DELTA_ARTIFACT_TYPE, "sha256:no digest")));
    CHECK_OK(buf_add_cstr(&many, "]}"));
    CHECK_OK(oci_delta_referrers(&a, buf_str(&many), &all, &n, NULL));
    CHECK_INT(n, 0);
    CHECK(a.total_bytes < 8 * many.n); /* the document as it was read */
    buf_fini(&many);
    arena_fini(&a);
}

/* ---- trees ---- */

TEST(an_artifact_of_trees_is_told_from_one_of_deltas)
{
    struct arena a = { 0 };
    struct oci_delta_artifact back;
    struct oci_delta_referrer *all;
    size_t n;
    struct buf text = BUF_INIT(1 << 16);
    const struct oci_delta_blob layer = { digest_of(A), { .digest = digest_of(B), .size = 7 } };
    const struct oci_delta_artifact d = { .is_trees = true, .layers = &layer, .n_layers = 1 };
    const struct oci_image image = { .digest = digest_of(B), .manifest_text = STR("{ }") };
    CHECK_OK(oci_delta_artifact_write(&d, &image, &text, NULL));
    CHECK(!strstr(buf_cstr(&text), OCI_DELTA_FROM) && strstr(buf_cstr(&text), OCI_TREE_OF));
    CHECK_OK(oci_delta_artifact_read(&a, buf_str(&text), &back, NULL));
    CHECK(back.is_trees && back.n_layers == 1 && back.layers[0].blob.size == 7);
    CHECK(oci_digest_equal(&back.layers[0].of, &layer.of));
    CHECK_OK(oci_delta_artifact_read(&a, STR(ARTIFACT(LAYER(OCI_LAYER_TREE_TYPE, A, B, "7"))),
                                     &back, NULL));
    CHECK_INT(back.n_layers, 0); /* a tree among deltas */
    CHECK_OK(oci_delta_referrers(
        &a,
        STR("{\"manifests\":[" REFERRER(OCI_TREES_ARTIFACT_TYPE,
                                        "") "," REFERRER(OCI_TREES_ARTIFACT_TYPE, A) "]}"),
        &all, &n, NULL));
    CHECK_INT(n, 2);
    for (size_t i = 0; i < n; i++)
        CHECK(all[i].is_trees && all[i].n_from == 0); /* the files of any layers do */
    buf_fini(&text);
    arena_fini(&a);
}

TEST(a_tree_of_a_layer_reads_back_and_its_members_are_bounded)
{
    static const struct oci_member members[] = { { 100, 4096 }, { 51, 0 }, { 7, 512 } };
    struct oci_layer_tree t;
    struct buf b = BUF_INIT(1 << 16), many = BUF_INIT(1 << 16);
    CHECK_OK(oci_layer_tree_write(members, 3, STR("the tree"), &b, NULL));
    CHECK_OK(oci_layer_tree_read(buf_str(&b), &t, NULL));
    CHECK(t.n_members == 3 && t.packed == 158 && t.raw == 4608 && str_is(t.tree, "the tree"));
    CHECK_INT(oci_layer_tree_member(&t, 2).raw, 512);
    for (size_t n = 0; n < b.n - strlen("the tree"); n++)
        CHECK_ERR(oci_layer_tree_read(str_n(b.p, n), &t, NULL), E_PARSE);
    CHECK_ERR(oci_layer_tree_write(members, OCI_MEMBERS_MAX + 1, STR(""), &many, NULL), E_LIMIT);
    CHECK_OK(buf_add_str(&many, STR("DMLTREE1")));
    CHECK_OK(buf_add_le64(&many, OCI_MEMBERS_MAX + 1));
    CHECK_ERR(oci_layer_tree_read(buf_str(&many), &t, NULL), E_LIMIT);
    b.p[16] = 0; /* a member without bytes in the blob */
    CHECK_ERR(oci_layer_tree_read(buf_str(&b), &t, NULL), E_PARSE);
    buf_fini(&b);
    buf_fini(&many);
}

TEST_MAIN
