/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the file system of a lazy start: a byte each for what happens (bit 0: a request; else
 * what comes, fails, or time), then, of a request, its length and its bytes. */
#include "fuzz.h"

#include "image/lazy_fuse.h"

enum { FILES = 3 };

static void reply(void *arg, struct str head, struct str data)
{
    size_t *n = arg;
    FUZZ_CHECK(head.n == 16 && data.n <= LAZY_FUSE_READ_MAX);
    (*n)++;
}

static bool want(void *arg, uint32_t file)
{
    (void)arg;
    FUZZ_CHECK(file < FILES);
    return file != 1;
}

static int read_source(void *arg, uint32_t source, uint64_t at, void *to, size_t n)
{
    (void)arg;
    FUZZ_CHECK(source == 1 && at >= 100 && at - 100 + n <= 3000);
    memset(to, 'x', n);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct lazy_fuse_file files[FILES] = { { { 1 }, 10 }, { { 2 }, 3000 }, { { 3 }, 1 } };
    size_t n_replies = 0;
    uint64_t now_ms = 0;
    const struct lazy_fuse_ops ops = { reply, want, read_source, &n_replies };
    struct lazy_fuse *f = lazy_fuse_new(files, FILES, 100, &ops);
    for (size_t at = 0; at + 2 <= n;) {
        uint8_t what = data[at], value = data[at + 1];
        bool is_ready;
        at += 2;
        if (what & 1) {
            size_t len = MIN((size_t)value, n - at);
            (void)lazy_fuse_request(f, str_n(data + at, len), now_ms, &is_ready, NULL);
            at += len;
        } else if (what & 2) {
            lazy_fuse_have(f, value, 1, 100);
        } else if (what & 4) {
            lazy_fuse_fail(f, value, value);
        } else if (what & 8) {
            (void)lazy_fuse_sweep(f, now_ms += value);
        } else if (what == 0x10) {
            lazy_fuse_orphan(f);
        }
    }
    lazy_fuse_free(f);
    return 0;
}
