/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the examples of FIPS 180-4, and hexadecimal text. */
#include "test.h"

#include "codec/digest.h"

static void check_sum(struct str s, const char *want)
{
    uint8_t sum[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    sha256_of(s, sum);
    hex_format(sum, sizeof sum, hex);
    CHECK_STR(str_of(hex), want);
}

TEST(known_sums)
{
    check_sum(STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sum(STR("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sum(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(a_sum_in_pieces_is_the_same_and_the_hash_starts_anew)
{
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    uint8_t sum[SHA256_BYTES], want[SHA256_BYTES];
    sha256_of(STR("abc"), want);
    for (int i = 0; i < 2; i++) {
        sha256_add(h, "a", 1);
        sha256_add(h, "bc", 2);
        sha256_end(h, sum);
        CHECK(memcmp(sum, want, sizeof sum) == 0);
    }
}

TEST(hexadecimal_text_is_exact)
{
    uint8_t bytes[2];
    CHECK(hex_parse(STR("0aFf"), bytes, 2));
    CHECK(bytes[0] == 0x0a && bytes[1] == 0xff);
    CHECK(!hex_parse(STR("0aF"), bytes, 2));
    CHECK(!hex_parse(STR("0aFf0"), bytes, 2));
    CHECK(!hex_parse(STR("0aFg"), bytes, 2));
    CHECK(!hex_parse(STR(" aFf"), bytes, 2));
}

TEST_MAIN
