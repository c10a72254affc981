/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of starts, as a registry gives them. */
#include "fuzz.h"

#include "image/start_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct start_list l, back;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    int r = start_list_read(str_n(data, n), &l, &err);
    FUZZ_CHECK(r == 0 || err.text[0]);
    if (r < 0)
        return 0;
    FUZZ_CHECK(start_list_write(&l, &text) >= 0);
    FUZZ_CHECK(start_list_read(buf_str(&text), &back, NULL) == 0 && back.files.n == l.files.n);
    start_list_fini(&l);
    start_list_fini(&back);
    return 0;
}
