/* SPDX-License-Identifier: Apache-2.0 */
/* Two hashes in one pass, against libcrypto, with the processor's instructions and without. */
#include "test.h"

#include "base/buf.h"
#include "codec/sha256_pair.h"

enum { ROUNDS = 300, STEPS = 8, STEP_MAX = 700 };

static void add_random(struct buf *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)buf_add_char(to, (char)test_random_below(256));
}

static void check_end(struct sha256_pair *h, enum sha256_of_pair which, struct buf *all)
{
    uint8_t got[SHA256_BYTES], want[SHA256_BYTES];
    sha256_pair_end(h, which, got);
    sha256_of(buf_str(all), want);
    CHECK(memcmp(got, want, sizeof got) == 0);
    buf_reset(all);
}

/* Random bytes to one or both, whatever their alignment, with random ends. */
static void check_random(struct sha256_pair *h)
{
    struct buf all[2] = { BUF_INIT(1 << 20), BUF_INIT(1 << 20) };
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned step = 0; step < STEPS; step++) {
            struct buf bytes = BUF_INIT(STEP_MAX);
            uint64_t who = test_random_below(3);
            /* Often whole blocks, so that both stay aligned. */
            add_random(&bytes, who ? test_random_below(STEP_MAX) : 64 * test_random_below(10));
            if (who == 0)
                sha256_pair_add_both(h, bytes.p, bytes.n);
            else
                sha256_pair_add(h, who == 1 ? SHA256_FIRST : SHA256_SECOND, bytes.p, bytes.n);
            for (uint64_t i = 0; i < 2; i++)
                if (who == 0 || who == i + 1)
                    (void)buf_add_str(&all[i], buf_str(&bytes));
            buf_fini(&bytes);
        }
        uint64_t ended = test_random_below(3);
        if (ended != 1)
            check_end(h, SHA256_FIRST, &all[0]);
        if (ended != 0)
            check_end(h, SHA256_SECOND, &all[1]);
    }
    buf_fini(&all[0]), buf_fini(&all[1]);
}

TEST(a_pair_is_two_hashes)
{
    scoped(sha256_pair_free_scoped) struct sha256_pair *h = sha256_pair_new();
    check_random(h);
}

TEST(a_pair_without_instructions_is_two_hashes)
{
    scoped(sha256_pair_free_scoped) struct sha256_pair *h = sha256_pair_new_plain();
    check_random(h);
}

/* FIPS 180-4 pads in the same block up to 55 bytes and in the next one from 56 on. */
TEST(every_length_around_the_padding_is_right)
{
    scoped(sha256_pair_free_scoped) struct sha256_pair *h = sha256_pair_new();
    struct buf all = BUF_INIT(1 << 10), same = BUF_INIT(1 << 10);
    for (size_t n = 0; n <= 130; n++) {
        add_random(&all, n);
        (void)buf_add_str(&same, buf_str(&all));
        sha256_pair_add_both(h, all.p, all.n);
        check_end(h, SHA256_FIRST, &all);
        check_end(h, SHA256_SECOND, &same);
    }
    buf_fini(&all), buf_fini(&same);
}

TEST_MAIN
