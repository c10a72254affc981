/* SPDX-License-Identifier: Apache-2.0 */
/* The index of what is attached to an image, and manifests that say to be refactored forms. */
#include "fuzz.h"

#include "oci/refactored.h"

#define ORIGINAL "sha256:1111111111111111111111111111111111111111111111111111111111111111"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct str text = str_n(data, n);
    struct oci_image original = { .config_text = STR("{}") };
    struct oci_image image = { .manifest_text = text,
                               .config_text = STR("{}"),
                               .manifest.n_layers = 1,
                               .config.n_diff_ids = 1 };
    struct oci_digest at[OCI_REFACTORED_TRIES], source;
    struct arena a = { 0 };
    struct json *doc;
    size_t found;
    FUZZ_CHECK(oci_digest_parse(STR(ORIGINAL), &original.digest, NULL) >= 0);
    if (oci_refactored_list(text, &original.digest, at, &found, NULL) >= 0)
        FUZZ_CHECK(found <= OCI_REFACTORED_TRIES);
    if (oci_refactored_check(&image, &original, NULL) >= 0)
        FUZZ_CHECK(json_parse(&a, text, NULL, &doc, NULL) >= 0 &&
                   oci_refactored_source(doc, &source) &&
                   oci_digest_equal(&source, &original.digest));
    arena_fini(&a);
    return 0;
}
