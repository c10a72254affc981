/* SPDX-License-Identifier: Apache-2.0 */
/* Operator objects, whatever their schema let through: what is accepted is within all limits. */
#include "fuzz.h"

#include "operator/host/object_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = 16 << 20 };
    struct object_spec_opts opts = { 0 }; /* no directory: files are not found */
    struct operator_spec spec = { 0 };
    struct json *object;
    struct err err = { 0 };
    if (json_parse(&a, str_n(data, n), NULL, &object, NULL) >= 0) {
        int r = object_spec_read(&a, object, &opts, &spec, &err);
        FUZZ_CHECK(r >= 0 || (err.code < 0 && err.text[0]));
        if (r >= 0) {
            FUZZ_CHECK(spec.origin.from != MODULE_FROM_FILE);
            FUZZ_CHECK(spec.origin.from != MODULE_FROM_URL || strlen(spec.origin.sha256) == 64);
            FUZZ_CHECK(spec.requests_per_second <= OPERATOR_RATE_MAX);
            FUZZ_CHECK(spec.cpu_share <= OPERATOR_CPU_SHARE_MAX);
            (void)operator_spec_check(&spec, &err);
            allow_free(spec.allow);
        }
    }
    arena_fini(&a);
    return 0;
}
