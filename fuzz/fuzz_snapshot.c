/* SPDX-License-Identifier: Apache-2.0 */
/* Records of guests in swap files. The input is the start of a header; its sum is put right, since
 * no mutation would find it. What decodes must encode to the same fields. */
#include "fuzz.h"

#include "wasm/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static uint8_t header[SNAPSHOT_HEADER_BYTES], again[SNAPSHOT_HEADER_BYTES];
    struct snapshot s, t;
    if (n > sizeof header)
        return 0;
    memset(header, 0, sizeof header);
    memcpy(header, data, n);
    if (snapshot_decode(header, &s) == 0)
        FUZZ_CHECK(s.globals_n <= sizeof s.globals);
    for (size_t at = n; at + 8 <= sizeof header && at < n + 16; at++) {
        memcpy(header, data, n);
        uint64_t sum = snapshot_sum(header, at);
        for (unsigned i = 0; i < 8; i++)
            header[at + i] = (uint8_t)(sum >> (8 * i));
        if (snapshot_decode(header, &s) < 0)
            continue;
        snapshot_encode(&s, again);
        FUZZ_CHECK(snapshot_decode(again, &t) == 0);
        FUZZ_CHECK(s.memory_pages == t.memory_pages && s.globals_n == t.globals_n &&
                   s.sums_sum == t.sums_sum && s.clock_offset_ns == t.clock_offset_ns);
    }
    return 0;
}
