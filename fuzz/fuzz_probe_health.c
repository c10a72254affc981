/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of gRPC's health service. */
#include "fuzz.h"

#include "agent/probe/probe_health.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint64_t status;
    struct buf b = BUF_INIT(4096);
    (void)probe_health_read(str_n(data, n), &status);
    probe_health_write(str_n(data, n), &b);
    if (buf_ok(&b)) /* its field 1 is not a number: it is skipped */
        FUZZ_CHECK(probe_health_read(buf_str(&b), &status) && status == 0);
    buf_fini(&b);
    return 0;
}
