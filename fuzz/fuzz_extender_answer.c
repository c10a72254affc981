/* SPDX-License-Identifier: Apache-2.0 */
/* What extenders of the scheduler answer: the first byte chooses to which question. */
#include "fuzz.h"

#include "sched/extender/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    struct arena a = { .max_bytes = 16 << 20 };
    struct str text = str_n(data + 1, n - 1), error;
    struct err err = { 0 };
    struct extender_filtered filtered;
    struct extender_score *scores;
    struct extender_victims *victims;
    size_t count;
    int r = 0;
    switch (data[0] % 5) {
    case 0:
    case 1:
        r = extender_read_filtered(&a, text, data[0] & 1, &filtered, &err);
        for (size_t i = 0; r >= 0 && i < filtered.n_nodes; i++)
            FUZZ_CHECK(filtered.nodes[i].n <= 3 * n); /* a byte may become U+FFFD */
        break;
    case 2:
        r = extender_read_scores(&a, text, &scores, &count, &err);
        FUZZ_CHECK(r < 0 || count <= n);
        break;
    case 3:
        r = extender_read_victims(&a, text, &victims, &count, &err);
        for (size_t i = 0; r >= 0 && i < count; i++)
            FUZZ_CHECK(victims[i].n_uids <= n);
        break;
    case 4:
        r = extender_read_bound(&a, text, &error, &err);
        break;
    }
    FUZZ_CHECK(r >= 0 || err.text[0]);
    arena_fini(&a);
    return 0;
}
