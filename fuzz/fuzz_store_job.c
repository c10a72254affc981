/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of other processes: what is read is written the same way again. */
#include "fuzz.h"

#include "base/buf.h"
#include "codec/json.h"
#include "image/store_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *v;
    struct store_job job, again;
    scoped(buf_fini_scoped) struct buf one = BUF_INIT(64 << 20);
    scoped(buf_fini_scoped) struct buf two = BUF_INIT(64 << 20);
    if (json_parse(&a, str_n(data, n), NULL, &v, NULL) >= 0) {
        int r = store_job_read(v, &a, &job, &err);
        FUZZ_CHECK(r >= 0 || err.code == r);
        if (r >= 0) {
            v = store_job_write(&job, &a);
            FUZZ_CHECK(json_write(&one, v) >= 0);
            FUZZ_CHECK(store_job_read(v, &a, &again, NULL) >= 0);
            FUZZ_CHECK(json_write(&two, store_job_write(&again, &a)) >= 0);
            FUZZ_CHECK(str_eq(buf_str(&one), buf_str(&two)));
        }
    }
    arena_fini(&a);
    return 0;
}
