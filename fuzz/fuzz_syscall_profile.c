/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of system calls that a user wrote: what is passed on is accepted again, unchanged. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/mem.h"
#include "container/syscall_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    scoped(buf_fini_scoped) struct buf once = BUF_INIT(4 << 20), twice = BUF_INIT(4 << 20);
    struct err err = { 0 };
    int r = container_syscall_profile_write(str_n(data, n), &once, &err);
    FUZZ_CHECK(r == 0 || (r < 0 && err.text[0]));
    if (r < 0)
        return 0;
    FUZZ_CHECK(container_syscall_profile_write(buf_str(&once), &twice, &err) == 0);
    FUZZ_CHECK(str_eq(buf_str(&once), buf_str(&twice)));
    return 0;
}
