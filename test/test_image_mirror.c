/* SPDX-License-Identifier: Apache-2.0 */
/* What requests to the registry mirror ask for, and ranges of blobs. */
#include "base/buf.h"
#include "base/mem.h"
#include "image/mirror.h"
#include "test.h"

#include <errno.h>

#define AA "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct mirror_request parse(const char *target)
{
    struct mirror_request q;
    struct err err = { 0 };
    CHECK_OK(mirror_request_parse(str_of(target), &q, &err));
    return q;
}

TEST(a_request_names_a_repository_and_what_of_it)
{
    struct mirror_request q = parse("/v2/library/redis/manifests/7?ns=docker.io");
    CHECK_INT(q.kind, MIRROR_MANIFEST);
    CHECK_STR(str_of(q.repository), "library/redis");
    CHECK_STR(str_of(q.tag), "7");
    CHECK_STR(str_of(q.host), "docker.io");
    q = parse("/v2/a/manifests/" AA);
    CHECK(q.tag[0] == '\0' && q.digest.bytes[0] == 0xaa);
    CHECK_INT(parse("/v2/").kind, MIRROR_ROOT);
    CHECK_INT(parse("/v2").kind, MIRROR_ROOT);
    CHECK_INT(parse("/v2/a/b/c/d/blobs/" AA).kind, MIRROR_BLOB);
    CHECK_INT(parse("/v2/a/referrers/" AA).kind, MIRROR_REFERRERS);
    /* A repository may have any of these words in its name. */
    q = parse("/v2/manifests/blobs/tags/manifests/list");
    CHECK_STR(str_of(q.repository), "manifests/blobs/tags");
    q = parse("/v2/a/tags/list?n=5&last=v1");
    CHECK_INT(q.kind, MIRROR_TAGS);
    CHECK_INT(q.n, 5);
    CHECK_STR(str_of(q.last), "v1");
    q = parse("/v2/a/b/_dormouse/trees/" AA);
    CHECK_INT(q.kind, MIRROR_TREE);
    CHECK_STR(str_of(q.repository), "a/b");
    CHECK(q.digest.bytes[0] == 0xaa);
    q = parse("/v2/a/b/_dormouse/starts/" AA);
    CHECK_INT(q.kind, MIRROR_START);
    CHECK_STR(str_of(q.repository), "a/b");
    q = parse("/v2/a/b/_dormouse/files");
    CHECK_INT(q.kind, MIRROR_FILES);
    CHECK_STR(str_of(q.repository), "a/b");
    q = parse("/v2/a/b/_dormouse/files?ns=docker.io");
    CHECK_STR(str_of(q.host), "docker.io");
}

TEST(other_requests_are_refused)
{
    static const struct {
        const char *target;
        int code;
    } rows[] = {
        { "/", -ENOENT },
        { "/v1/a/manifests/b", -ENOENT },
        { "/v2/a", -ENOENT },
        { "/v2/manifests/b", -ENOENT },
        { "/v2/a/b/c", -ENOENT },
        { "/v2/_dormouse/files", -ENOENT },
        { "/v2/_dormouse/trees/" AA, -ENOENT },
        { "/v2/a/_dormouse/trees/b", E_PARSE },
        { "/v2/a/_dormouse/starts/b", E_PARSE },
        { "/v2/_dormouse/starts/" AA, -ENOENT },
        { "/v2/A/_dormouse/files", E_INVALID },
        { "/v2/A/manifests/b", E_INVALID },
        { "/v2/a/../manifests/b", E_INVALID },
        { "/v2/a%2fb/manifests/b", E_INVALID },
        { "/v2/a/manifests/-b", E_INVALID },
        { "/v2/a/manifests/sha512:00", E_UNSUPPORTED },
        { "/v2/a/blobs/b", E_PARSE },
        { "/v2/a/tags/list?n=x", E_INVALID },
        { "/v2/a/tags/list?last=/", E_INVALID },
        { "/v2/a/manifests/b?ns=docker.io/x", E_INVALID },
        { "/v2/a/manifests/b?ns=..", E_INVALID },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct mirror_request q;
        struct err err = { 0 };
        CHECK_INT(mirror_request_parse(str_of(rows[i].target), &q, &err), rows[i].code);
        CHECK_INT(err.code, rows[i].code);
    }
}

static void check_name(const char *target, const char *want, const char *repository)
{
    struct mirror_request q = parse(target);
    scoped(free_scoped) char *name = mirror_request_name(&q, q.tag);
    scoped(free_scoped) char *all = mirror_request_name(&q, "");
    CHECK(name && all);
    CHECK_STR(str_of(name), want);
    CHECK_STR(str_of(all), repository);
}

TEST(names_are_completed_as_references_are)
{
    check_name("/v2/redis/manifests/7", "docker.io/library/redis:7", "docker.io/library/redis");
    check_name("/v2/library/redis/manifests/7?ns=docker.io", "docker.io/library/redis:7",
               "docker.io/library/redis");
    check_name("/v2/ghcr.io/a/b/manifests/x", "ghcr.io/a/b:x", "ghcr.io/a/b");
    check_name("/v2/a/b/manifests/x?ns=localhost:5000", "localhost:5000/a/b:x",
               "localhost:5000/a/b");
    check_name("/v2/r.example:5000/b/manifests/x", "r.example:5000/b:x", "r.example:5000/b");
    check_name("/v2/a_1/b/manifests/x", "docker.io/a_1/b:x", "docker.io/a_1/b");
    check_name("/v2/r.example_5000/manifests/x?ns=ghcr.io", "ghcr.io/r.example_5000:x",
               "ghcr.io/r.example_5000");
}

TEST(a_port_in_a_path_may_be_written_as_containerd_names_directories_of_hosts)
{
    check_name("/v2/r.example_5000/a/b/manifests/x", "r.example:5000/a/b:x", "r.example:5000/a/b");
    check_name("/v2/r.example_5000_/a/manifests/x", "r.example:5000/a:x", "r.example:5000/a");
    check_name("/v2/localhost_80/a/manifests/x", "localhost:80/a:x", "localhost:80/a");
    check_name("/v2/r.example_5000_/a/manifests/x?ns=r.example:5000", "r.example:5000/a:x",
               "r.example:5000/a");
    check_name("/v2/r.example:5000/a/manifests/x?ns=r.example:5000", "r.example:5000/a:x",
               "r.example:5000/a");
    check_name("/v2/ghcr.io/a/manifests/x?ns=ghcr.io", "ghcr.io/a:x", "ghcr.io/a");
}

TEST(a_range_is_the_part_that_it_says)
{
    static const struct {
        const char *range, *if_range;
        enum mirror_range want;
        uint64_t from, to;
    } rows[] = {
        { "bytes=0-9", "", MIRROR_PARTS, 0, 10 },
        { "bytes=90-200", "", MIRROR_PARTS, 90, 100 },
        { "bytes=99-", "", MIRROR_PARTS, 99, 100 },
        { "bytes=-1", "", MIRROR_PARTS, 99, 100 },
        { "bytes=-1000", "", MIRROR_PARTS, 0, 100 },
        { "bytes=0-18446744073709551615", "", MIRROR_PARTS, 0, 100 },
        { "bytes=100-", "", MIRROR_NO_PART, 0, 0 },
        { "bytes=-0", "", MIRROR_NO_PART, 0, 0 },
        { "bytes=5-4", "", MIRROR_WHOLE, 0, 0 },
        { "bytes=0-3,3-6", "", MIRROR_WHOLE, 0, 0 },
        { "bytes=5-6,0-1", "", MIRROR_WHOLE, 0, 0 },
        { "bytes=5-6,x", "", MIRROR_WHOLE, 0, 0 },
        { "bytes=100-, 5-6 ,200-300", "", MIRROR_PARTS, 5, 7 },
        { "bytes=100-,200-300", "", MIRROR_NO_PART, 0, 0 },
        { "bytes=18446744073709551616-", "", MIRROR_WHOLE, 0, 0 },
        { "lines=0-1", "", MIRROR_WHOLE, 0, 0 },
        { "bytes", "", MIRROR_WHOLE, 0, 0 },
        { "bytes=-", "", MIRROR_WHOLE, 0, 0 },
        { "", "", MIRROR_WHOLE, 0, 0 },
        { "bytes=0-9", "\"e\"", MIRROR_PARTS, 0, 10 },
        { "bytes=0-9", "W/\"e\"", MIRROR_WHOLE, 0, 0 },
        { "bytes=0-9", "\"f\"", MIRROR_WHOLE, 0, 0 },
    };
    struct mirror_ranges g;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        g = (struct mirror_ranges){ .n = 0 };
        CHECK_INT(mirror_ranges_of(str_of(rows[i].range), str_of(rows[i].if_range), STR("\"e\""),
                                   100, &g),
                  rows[i].want);
        CHECK_INT(g.n, rows[i].want == MIRROR_PARTS);
        CHECK_INT(g.at[0].from, rows[i].from);
        CHECK_INT(g.at[0].to, rows[i].to);
    }
    CHECK_INT(mirror_ranges_of(STR("bytes=0-"), STR(""), STR("\"e\""), 0, &g), MIRROR_NO_PART);
    CHECK(mirror_etag_matches(STR("\"a\", W/\"e\""), STR("\"e\"")));
    CHECK(mirror_etag_matches(STR("*"), STR("\"e\"")));
    CHECK(!mirror_etag_matches(STR(""), STR("\"e\"")));
    CHECK(!mirror_etag_matches(STR("\"e"), STR("\"e\"")));
}

TEST(several_ranges_are_bounded)
{
    struct buf text = BUF_INIT(4096);
    struct mirror_ranges g = { .n = 0 };
    CHECK_OK(buf_add_cstr(&text, "bytes=0-0"));
    for (size_t i = 1; i < MIRROR_RANGES_MAX; i++)
        CHECK_OK(buf_printf(&text, ",%zu-%zu", i * 10, i * 10 + 4));
    CHECK_INT(mirror_ranges_of(buf_str(&text), STR(""), STR(""), 1000, &g), MIRROR_PARTS);
    CHECK_INT(g.n, MIRROR_RANGES_MAX);
    CHECK(g.at[1].from == 10 && g.at[1].to == 15 && g.at[63].from == 630 && g.at[63].to == 635);
    CHECK_OK(buf_add_cstr(&text, ",900-"));
    CHECK_INT(mirror_ranges_of(buf_str(&text), STR(""), STR(""), 1000, &g), MIRROR_WHOLE);
    buf_fini(&text);
}

TEST_MAIN
