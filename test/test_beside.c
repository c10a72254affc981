/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a stream on its own thread: the same bytes in order, errors, and ends at any point. */
#include "base/sys.h"
#include "oci/beside.h"
#include "test.h"

#include <errno.h>

struct sink {
    uint64_t n, fail_at; /* bytes; UINT64_MAX: never */
    uint64_t n_after;    /* calls after the failure */
    bool is_wrong, has_failed;
};

static int take(void *arg, struct str bytes, struct err *err)
{
    struct sink *s = arg;
    s->n_after += s->has_failed;
    for (size_t i = 0; i < bytes.n; i++, s->n++)
        s->is_wrong |= (uint8_t)bytes.p[i] != (uint8_t)(s->n * 31 >> 7);
    s->has_failed = s->n > s->fail_at;
    return s->has_failed ? err_set(err, -ENOSPC, "the sink is full") : 0;
}

/* Give n bytes in pieces of this size; the first error. */
static int give(struct beside *b, uint64_t n, size_t piece, struct err *err)
{
    char bytes[70000];
    for (uint64_t at = 0; at < n;) {
        size_t part = (size_t)MIN(n - at, (uint64_t)piece);
        for (size_t i = 0; i < part; i++)
            bytes[i] = (char)((at + i) * 31 >> 7);
        int r = beside_add(b, str_n(bytes, part), err);
        if (r < 0)
            return r;
        at += part;
    }
    return 0;
}

static struct beside *start(struct sink *s)
{
    struct beside *b;
    CHECK_OK(beside_new(take, s, &b, NULL));
    return b;
}

TEST(the_sink_has_all_bytes_in_order_at_the_end)
{
    const uint64_t block = BESIDE_BLOCK_BYTES;
    const uint64_t sizes[] = { 0, 1, block - 1, block, block + 1, 8 * block, 30 * block + 5 };
    const size_t pieces[] = { 700, 65536, 70000 };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t k = 0; k < ARRAY_LEN(pieces); k++) {
            struct sink s = { .fail_at = UINT64_MAX };
            struct beside *b = start(&s);
            CHECK_OK(give(b, sizes[i], pieces[k], NULL));
            CHECK_OK(beside_end(b, NULL));
            CHECK_INT(s.n, sizes[i]);
            CHECK(!s.is_wrong);
            beside_free(b);
        }
}

TEST(an_error_of_the_sink_reaches_the_giver_and_ends_it)
{
    for (uint64_t n = 1; n < 40; n += 6) {
        struct sink s = { .fail_at = n * BESIDE_BLOCK_BYTES / 2 };
        struct err err = { 0 };
        struct beside *b = start(&s);
        int r = give(b, (uint64_t)20 * BESIDE_BLOCK_BYTES, 65536, &err);
        r = r < 0 ? r : beside_end(b, &err);
        CHECK_INT(r, -ENOSPC);
        CHECK(strstr(err_text(&err), "the sink is full"));
        beside_free(b);
        CHECK_INT(s.n_after, 0);
    }
}

TEST(it_can_be_dropped_at_any_point)
{
    for (uint64_t n = 0; n < 20; n += 3) {
        struct sink s = { .fail_at = UINT64_MAX };
        struct beside *b = start(&s);
        CHECK_OK(give(b, n * BESIDE_BLOCK_BYTES + n, 65536, NULL));
        beside_free(b);
        CHECK(!s.is_wrong);
    }
    beside_free(NULL);
}

TEST_MAIN
