/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container's log, and what a client sees of it: the first two bytes choose the query and the
 * pieces. However it is cut, the output is the same, and never more than the limit or the log.
 */
#include "fuzz.h"

#include "agent/log/podlog_filter.h"
#include "base/mem.h"

static void run(const struct podlog_query *q, struct str bytes, size_t piece, struct buf *to)
{
    struct podlog_filter f;
    struct buf held = BUF_INIT(2 * PODLOG_LINE_MAX_BYTES + (4 << 20));
    podlog_filter_init(&f, q);
    for (size_t at = 0; at < bytes.n; at += piece) {
        struct str in = str_slice(bytes, at, piece > bytes.n - at ? bytes.n : at + piece);
        (void)buf_add_str(&held, in);
        size_t used = podlog_filter_run(&f, buf_str(&held), false, to);
        FUZZ_CHECK(used <= held.n);
        buf_consume(&held, used);
        FUZZ_CHECK(held.n < PODLOG_LINE_MAX_BYTES);
        if (piece > bytes.n - at)
            break;
    }
    (void)podlog_filter_run(&f, buf_str(&held), true, to);
    buf_fini(&held);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf whole = BUF_INIT(BUF_MAX_DEFAULT), cut = BUF_INIT(BUF_MAX_DEFAULT);
    if (n < 2)
        return 0;
    const struct podlog_query q = { .timestamps = data[0] & 1,
                                    .no_stdout = data[0] & 2,
                                    .no_stderr = data[0] & 4,
                                    .has_since = data[0] & 8,
                                    .since_us = 1767323045000000,
                                    .has_limit = data[0] & 16,
                                    .limit_bytes = data[0] };
    struct str bytes = str_n(data + 2, n - 2);
    run(&q, bytes, SIZE_MAX, &whole);
    run(&q, bytes, (size_t)data[1] + 1, &cut);
    FUZZ_CHECK(str_eq(buf_str(&whole), buf_str(&cut)) || bytes.n >= PODLOG_LINE_MAX_BYTES);
    FUZZ_CHECK(!q.has_limit || whole.n <= q.limit_bytes);
    FUZZ_CHECK(whole.n <= bytes.n + 1); /* the last line may lack its end */
    buf_fini(&whole);
    buf_fini(&cut);
    return 0;
}
