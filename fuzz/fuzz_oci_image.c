/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of images: indexes, manifests, configurations. */
#include "fuzz.h"

#include "oci/image.h"

enum { ARENA_MAX = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = ARENA_MAX };
    struct str text = str_n(data, n);
    struct err err = { 0 };
    enum oci_document kind;
    struct oci_index index;
    struct oci_manifest manifest;
    struct oci_config config;
    struct oci_platform here = oci_platform_here();
    int r = oci_document_kind(&a, text, &kind, &err);
    FUZZ_CHECK(r == 0 || err.text[0]);
    if (oci_index_parse(&a, text, &index, NULL) == 0) {
        const struct oci_descriptor *d = oci_index_select(&index, &here);
        FUZZ_CHECK(index.n <= OCI_MANIFESTS_MAX);
        FUZZ_CHECK(!d || (d >= index.manifests && d < index.manifests + index.n));
    }
    if (oci_manifest_parse(&a, text, &manifest, NULL) == 0)
        FUZZ_CHECK(manifest.n_layers <= OCI_LAYERS_MAX);
    if (oci_config_parse(&a, text, &config, NULL) == 0)
        for (size_t i = 0; i < config.n_diff_ids; i++) {
            char shown[OCI_DIGEST_TEXT_SIZE];
            struct oci_digest again;
            oci_digest_format(&config.diff_ids[i], shown);
            FUZZ_CHECK(oci_digest_parse(str_of(shown), &again, NULL) == 0);
            FUZZ_CHECK(oci_digest_equal(&again, &config.diff_ids[i]));
        }
    arena_fini(&a);
    return 0;
}
