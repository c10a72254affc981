/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmark's baseline without isolation: NR_OPERATORS ring operators in one process. Operator
 * i copies from <NAMESPACE_PREFIX>i to <NAMESPACE_PREFIX>((i+1) mod N); the paper's comb forgets
 * the modulo, so that its last operator fails and retries for ever, which ours does not repeat.
 */
#include "dm/kube.h"
#include "ring.h"

int dm_main(void)
{
    const char *prefix = dm_env("NAMESPACE_PREFIX", "ring");
    int64_t n = 0;
    if (!dm_parse_i64(dm_str(dm_env("NR_OPERATORS", "")), &n) || n < 1 || n > 100000) {
        dm_log(DM_ERROR, "NR_OPERATORS must be a number from 1 to 100000");
        return 2;
    }
    for (int64_t i = 0; i < n; i++) {
        struct dm_text in = { 0 }, out = { 0 };
        dm_textf(&in, "%s%lld", prefix, (long long)i);
        dm_textf(&out, "%s%lld", prefix, (long long)((i + 1) % n));
        ring_hold_memory(dm_env("HEAP_MEM_SIZE", "0"));
        ring_start(in.p, out.p); /* which keeps both */
    }
    return 0;
}
