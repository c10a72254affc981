/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers with several ranges: whatever comes, a part lies within the whole and has as many bytes
 * as it says, and the pieces in which the body arrives change nothing. The first byte says how
 * large these are.
 */
#include "fuzz.h"

#include "codec/byteranges.h"

enum { SIZE = 1000 };

struct seen {
    uint64_t left, n_parts, n_bytes, sum;
};

static int on_part(void *arg, uint64_t from, uint64_t to, struct err *err)
{
    struct seen *s = arg;
    (void)err;
    FUZZ_CHECK(from < to && to <= SIZE && s->left == 0);
    s->left = to - from;
    s->n_parts++;
    s->sum = s->sum * 31 + from;
    return 0;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct seen *s = arg;
    (void)err;
    FUZZ_CHECK(bytes.n > 0 && bytes.n <= s->left);
    s->left -= bytes.n;
    s->n_bytes += bytes.n;
    for (size_t i = 0; i < bytes.n; i++)
        s->sum = s->sum * 31 + (uint8_t)bytes.p[i];
    return 0;
}

static int read_by(struct str body, size_t piece, struct seen *ret)
{
    static const struct byteranges_ops ops = { on_part, on_data };
    struct byteranges b;
    struct seen seen = { 0 };
    FUZZ_CHECK(
        byteranges_init(&b, STR("multipart/byteranges; boundary=b"), SIZE, &ops, &seen, NULL) == 0);
    int r = 0;
    while (body.n && r >= 0) {
        size_t n = piece < body.n ? piece : body.n;
        r = byteranges_add(&b, str_slice(body, 0, n), NULL);
        body = str_slice(body, n, body.n);
    }
    r = r < 0 ? r : byteranges_end(&b, NULL);
    *ret = seen;
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct byteranges b;
    struct seen whole, pieces;
    if (size == 0)
        return 0;
    struct str in = str_n(data + 1, size - 1);
    int r = read_by(in, in.n, &whole), again = read_by(in, 1 + data[0] % 32, &pieces);
    FUZZ_CHECK(r == again);
    if (r >= 0) {
        FUZZ_CHECK(whole.n_parts == pieces.n_parts && whole.n_bytes == pieces.n_bytes);
        FUZZ_CHECK(whole.sum == pieces.sum);
    }
    if (byteranges_init(&b, in, SIZE, NULL, NULL, NULL) >= 0)
        FUZZ_CHECK(b.n_boundary > 2 && b.n_boundary <= BYTERANGES_BOUNDARY_MAX + 2);
    return 0;
}
