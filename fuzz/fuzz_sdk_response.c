/* SPDX-License-Identifier: Apache-2.0 */
/* What native operators and guests make of answers: HTTP/1.1 text, and the ABI's encoded responses.
 */
#include "dm/wire.h"
#include "fuzz.h"
#include "response.h"

#include <string.h>

struct seen {
    int status;
    uint64_t bytes;
};

static void on_head(void *arg, int status)
{
    FUZZ_CHECK(status >= 200 && status <= 999);
    ((struct seen *)arg)->status = status;
}

static void on_data(void *arg, const char *p, size_t n)
{
    FUZZ_CHECK(n > 0);
    ((struct seen *)arg)->bytes += n;
}

static long feed(const char *p, size_t n, size_t piece, struct seen *s)
{
    static const struct response_ops ops = { on_head, on_data };
    struct response r = { 0 };
    long used = 0;
    for (size_t at = 0; at < n && used >= 0 && r.at != RESPONSE_DONE;
         at += (size_t)(used > 0 ? used : 0))
        used = response_feed(&r, p + at, piece < n - at ? piece : n - at, &ops, s);
    long end = used < 0 ? used : (long)r.at;
    response_reset(&r);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct seen whole = { 0 }, cut = { 0 };
    struct dm_str body = { 0 };
    long end = feed((const char *)data, n, n ? n : 1, &whole);
    FUZZ_CHECK(feed((const char *)data, n, 1, &cut) == end);
    FUZZ_CHECK(whole.status == cut.status && whole.bytes == cut.bytes);
    if (dm_wire_response((const char *)data, n, &body))
        FUZZ_CHECK(body.n <= n && (const uint8_t *)body.p >= data);
    return 0;
}
