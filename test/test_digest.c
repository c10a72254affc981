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

/* RFC 4231, test cases 1, 2 and 6. */
TEST(known_authentication_codes)
{
    char long_key[131];
    struct {
        struct str key, text;
        const char *want;
    } t[] = {
        { STR("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"),
          STR("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
        { STR("Jefe"), STR("what do ya want for nothing?"),
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
        { str_n(memset(long_key, 0xaa, sizeof long_key), sizeof long_key),
          STR("Test Using Larger Than Block-Size Key - Hash Key First"),
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        uint8_t mac[SHA256_BYTES];
        char hex[SHA256_HEX_SIZE];
        sha256_hmac(t[i].key, t[i].text, mac);
        hex_format(mac, sizeof mac, hex);
        CHECK_STR(str_of(hex), t[i].want);
    }
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
