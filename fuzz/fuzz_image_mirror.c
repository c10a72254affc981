/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the registry mirror: a target, then a line feed and a range. */
#include "fuzz.h"

#include "image/mirror.h"

static void check_request(struct str target)
{
    struct mirror_request q;
    struct oci_reference ref;
    struct err err = { 0 };
    int r = mirror_request_parse(target, &q, &err);
    FUZZ_CHECK(r == 0 || (r < 0 && err.code == r));
    if (r < 0 || q.kind == MIRROR_ROOT)
        return;
    scoped(free_scoped) char *name = mirror_request_name(&q, q.tag);
    FUZZ_CHECK(!name || oci_reference_parse(str_of(name), &ref, NULL) >= 0);
    FUZZ_CHECK(!q.tag[0] || oci_reference_is_tag(str_of(q.tag)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str target, range;
    uint64_t from = 0, to = 0;
    (void)str_cut(str_n(data, n), '\n', &target, &range);
    check_request(target);
    if (mirror_range_of(range, STR(""), STR("\"e\""), 1000, &from, &to) == MIRROR_PART)
        FUZZ_CHECK(from < to && to <= 1000);
    (void)mirror_etag_matches(range, STR("\"e\""));
    return 0;
}
