/* SPDX-License-Identifier: Apache-2.0 */
/* Deployment manifests: what is read is written the same way again; tokens of strangers hold never.
 */
#include "fuzz.h"

#include "image/bdm.h"

static void round_trip(struct arena *a, const struct image_bdm *b)
{
    struct image_bdm again;
    struct err err;
    scoped(buf_fini_scoped) struct buf one = BUF_INIT(64 << 20);
    scoped(buf_fini_scoped) struct buf two = BUF_INIT(64 << 20);
    image_bdm_write(b, STR(""), &one);
    FUZZ_CHECK(buf_ok(&one));
    if (one.n > IMAGE_BDM_MAX_BYTES)
        return;
    FUZZ_CHECK(image_bdm_parse(a, buf_str(&one), &again, &err) >= 0);
    image_bdm_write(&again, STR(""), &two);
    FUZZ_CHECK(str_eq(buf_str(&one), buf_str(&two)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct image_bdm b;
    struct err err = { 0 };
    struct str text = str_n(data, n);
    struct image_bdm_grant g = { .deploy = STR("d"), .source = STR("s"), .node = STR("n") };
    int r = image_bdm_parse(&a, text, &b, &err);
    FUZZ_CHECK(r >= 0 || err.code == r);
    if (r >= 0)
        round_trip(&a, &b);
    FUZZ_CHECK(
        image_bdm_token_check(STR("0123456789abcdef0123456789abcdef"), &g, text, 1000, NULL) < 0);
    arena_fini(&a);
    return 0;
}
