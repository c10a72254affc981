/* SPDX-License-Identifier: Apache-2.0 */
/* api/node_cidrs: ranges of pods' addresses, against a naive twin. */
#include "api/node_cidrs.h"

#include "base/mem.h"
#include "test.h"

static struct node_cidrs parse(const char *text)
{
    struct node_cidrs c;
    struct err err = { 0 };
    if (node_cidrs_parse(str_of(text), &c, &err) < 0)
        TEST_FAIL("%s", err.text);
    return c;
}

TEST(a_range_has_a_piece_for_each_node)
{
    char text[NODE_CIDRS_CHARS];
    struct node_cidrs c = parse("10.244.0.0/16,fd00:10:244::/56");
    CHECK_INT(c.n, 2);
    CHECK_INT(c.range[0].n_pieces, 256);
    CHECK_INT(c.range[1].n_pieces, 256);
    node_cidrs_piece(&c.range[0], 0, text);
    CHECK_STR(str_of(text), "10.244.0.0/24");
    node_cidrs_piece(&c.range[0], 255, text);
    CHECK_STR(str_of(text), "10.244.255.0/24");
    node_cidrs_piece(&c.range[1], 3, text);
    CHECK_STR(str_of(text), "fd00:10:244:3::/64");
    c = parse("10.64.0.0/12");
    CHECK_INT(c.range[0].n_pieces, 4096);
    node_cidrs_piece(&c.range[0], 4095, text);
    CHECK_STR(str_of(text), "10.79.255.0/24");
    c = parse("10.1.2.0/24");
    CHECK_INT(c.range[0].n_pieces, 1);
    node_cidrs_piece(&c.range[0], 0, text);
    CHECK_STR(str_of(text), "10.1.2.0/24");
}

TEST(ranges_are_written_as_they_were_read)
{
    static const char *const texts[] = { "10.244.0.0/16", "10.244.0.0/16,fd00:10:244::/56",
                                         "fd00:ffff:ffff:ff00::/56,192.168.128.0/24" };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        char text[NODE_CIDRS_RANGES_MAX * NODE_CIDRS_CHARS];
        struct node_cidrs c = parse(texts[i]);
        node_cidrs_text(&c, text);
        CHECK_STR(str_of(text), texts[i]);
    }
}

TEST(what_is_no_range_is_refused)
{
    static const char *const bad[] = {
        "",
        "10.0.0.0",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.1/16",
        "10.0.0/8",
        "10.0.0.0/25",
        "10.0.0.0/7",
        "fd00::/65",
        "fd00::/47",
        "fd00::1/56",
        "a/16",
        "10.0.0.0/16,",
        "10.0.0.0/16,10.1.0.0/16",
        "10.0.0.0/16,fd00::/56,fd01::/56",
        "10.0.0.0/16 ",
        "none",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct node_cidrs c;
        struct err err = { 0 };
        if (node_cidrs_parse(str_of(bad[i]), &c, &err) != E_INVALID)
            TEST_FAIL("'%s' was taken", bad[i]);
        CHECK(err.text[0]);
    }
}

TEST(pieces_that_a_cidr_overlaps_are_found)
{
    uint32_t first, last;
    struct node_cidrs c = parse("10.244.0.0/16");
    const struct node_cidr_range *r = &c.range[0];
    CHECK(node_cidrs_find(r, STR("10.244.7.0/24"), &first, &last));
    CHECK(first == 7 && last == 7);
    CHECK(node_cidrs_find(r, STR("10.244.7.128/25"), &first, &last)); /* smaller than a piece */
    CHECK(first == 7 && last == 7);
    CHECK(node_cidrs_find(r, STR("10.244.8.0/22"), &first, &last));
    CHECK(first == 8 && last == 11);
    CHECK(node_cidrs_find(r, STR("10.0.0.0/8"), &first, &last)); /* all of it */
    CHECK(first == 0 && last == 255);
    CHECK(!node_cidrs_find(r, STR("10.245.0.0/24"), &first, &last));
    CHECK(!node_cidrs_find(r, STR("fd00::/64"), &first, &last));
    CHECK(!node_cidrs_find(r, STR("x"), &first, &last));
}

TEST(each_piece_is_found_again_and_no_other)
{
    static const char *const ranges[] = { "10.244.0.0/16", "192.168.0.0/20", "fd00:1::/52" };
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        struct node_cidrs c = parse(ranges[i]);
        for (uint32_t k = 0; k < c.range[0].n_pieces; k++) {
            char text[NODE_CIDRS_CHARS];
            uint32_t first, last;
            node_cidrs_piece(&c.range[0], k, text);
            CHECK(node_cidrs_find(&c.range[0], str_of(text), &first, &last));
            CHECK(first == k && last == k);
        }
    }
}

TEST_MAIN
