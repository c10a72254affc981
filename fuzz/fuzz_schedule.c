/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules, durations and times of the cleaner: what users write into its objects. */
#include "schedule.h"

#include "fuzz.h"

#include <string.h>

#define YEAR_10000_S 253402300800ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* On the heap and without a NUL behind it, so that reading too far is seen. */
    char *copy = malloc(n ? n : 1);
    if (n)
        memcpy(copy, data, n);
    struct dm_str text = { copy, n };
    struct schedule s;
    const char *why = NULL;
    uint64_t v;
    if (schedule_parse(text, &s, &why)) {
        uint64_t next = schedule_next(&s, 1700000000);
        FUZZ_CHECK(next == 0 || next > 1700000000);
        FUZZ_CHECK(next == 0 || s.every_s || next % 60 == 0);
        FUZZ_CHECK(next == 0 || schedule_next(&s, next) > next || schedule_next(&s, next) == 0);
    } else {
        FUZZ_CHECK(why != NULL);
    }
    if (duration_parse(text, &v))
        FUZZ_CHECK(v <= 100ull * 365 * 86400);
    if (dm_parse_time(text, &v) && v / 1000000 < YEAR_10000_S) {
        uint64_t again = 0; /* what it says is what is read back */
        struct dm_text t = { 0 };
        dm_text_time(&t, v, true);
        FUZZ_CHECK(dm_parse_time(dm_text_view(&t), &again) && again == v);
        dm_text_fini(&t);
    }
    free(copy);
    return 0;
}
