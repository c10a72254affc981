/* SPDX-License-Identifier: Apache-2.0 */
/* References to images and challenges of registries; a line each. */
#include "fuzz.h"

#include "oci/challenge.h"
#include "oci/reference.h"

static void check_reference(struct str line)
{
    struct oci_reference ref, again;
    struct err err = { 0 };
    struct buf text = BUF_INIT(1024);
    int r = oci_reference_parse(line, &ref, &err);
    if (r < 0) {
        FUZZ_CHECK((r == E_PARSE || r == E_UNSUPPORTED) && err.text[0]);
        return;
    }
    oci_reference_format(&ref, &text);
    FUZZ_CHECK(buf_ok(&text));
    FUZZ_CHECK(oci_reference_parse(buf_str(&text), &again, &err) == 0);
    FUZZ_CHECK(memcmp(&ref, &again, sizeof ref) == 0);
    buf_fini(&text);
}

static void check_challenge(struct str line)
{
    struct arena a = { 0 };
    struct headers h = { 0 };
    struct oci_challenge c;
    if (headers_add(&h, STR("www-authenticate"), line) == 0) {
        oci_challenge_parse(&a, &h, &c);
        FUZZ_CHECK(c.scheme != OCI_CHALLENGE_BEARER || c.realm.n);
    }
    headers_fini(&h);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str rest = str_n(data, n), line;
    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        check_reference(line);
        check_challenge(line);
    }
    return 0;
}
