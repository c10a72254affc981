/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules, and files of time zones ("TZif" at the beginning). */
#include "fuzz.h"

#include "base/cron.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *copy = malloc(n ? n : 1); /* without a NUL behind it */
    if (n)
        memcpy(copy, data, n);
    struct str text = { copy, n };
    struct zone *z = NULL;
    struct cron c;
    struct err err = { 0 };
    if (n > 4 && memcmp(copy, "TZif", 4) == 0) {
        if (zone_parse(text, &z, NULL) >= 0)
            for (int64_t s = -5000000000; s < 9000000000; s += 100000007) {
                int32_t offset = zone_offset(z, s);
                FUZZ_CHECK(offset >= -8 * 86400 && offset <= 8 * 86400);
            }
        zone_free(z);
    } else if (cron_parse(text, &c, &err) >= 0) {
        int64_t next = cron_next(&c, NULL, 1700000000);
        FUZZ_CHECK(next == 0 || next > 1700000000);
        FUZZ_CHECK(next == 0 || c.every_s || next % 60 == 0);
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    free(copy);
    return 0;
}
