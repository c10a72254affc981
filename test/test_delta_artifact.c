/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest that attaches deltas to an image, and indexes of referrers, which others write. */
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
    const struct oci_delta_artifact d = { from, 2, layers, 2 };
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

TEST_MAIN
