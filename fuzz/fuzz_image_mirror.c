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
    struct mirror_ranges g = { .n = 0 };
    (void)str_cut(str_n(data, n), '\n', &target, &range);
    check_request(target);
    if (mirror_ranges_of(range, STR(""), STR("\"e\""), 1000, &g) == MIRROR_PARTS) {
        FUZZ_CHECK(g.n > 0 && g.n <= MIRROR_RANGES_MAX);
        for (size_t i = 0; i < g.n; i++)
            FUZZ_CHECK(g.at[i].from < g.at[i].to && g.at[i].to <= 1000 &&
                       (i == 0 || g.at[i].from >= g.at[i - 1].to));
    }
    (void)mirror_etag_matches(range, STR("\"e\""));
    return 0;
}
