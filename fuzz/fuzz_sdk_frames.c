/* SPDX-License-Identifier: Apache-2.0 */
/* The SDK's event splitter: the same events come out however the stream is cut. */
#include "dm/frames.h"
#include "fuzz.h"

static void note(void *arg, const char *p, size_t n)
{
    uint64_t *h = arg;
    FUZZ_CHECK(n >= 2 && p[0] == '{');
    *h = dm_hash(p, n, *h) + 1;
}

static bool feed(const char *p, size_t n, size_t piece, uint64_t *hash)
{
    struct dm_frames f = { 0 };
    bool ok = true;
    for (size_t at = 0; at < n && ok; at += piece)
        ok = dm_frames_feed(&f, p + at, piece < n - at ? piece : n - at, note, hash);
    dm_frames_reset(&f);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const size_t pieces[] = { 1, 3, 16 };
    uint64_t whole = 0;
    bool ok = feed((const char *)data, n, n ? n : 1, &whole);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        uint64_t cut = 0;
        FUZZ_CHECK(feed((const char *)data, n, pieces[i], &cut) == ok);
        FUZZ_CHECK(cut == whole);
    }
    return 0;
}
