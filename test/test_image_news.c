/* SPDX-License-Identifier: Apache-2.0 */
/* News of images: what is read of them, and what is refused. */
#include "image/news.h"
#include "test.h"

#define AA "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static int parse(struct arena *a, const char *text, struct image_replaced *ret)
{
    return image_replaced_parse(a, str_of(text), ret, NULL);
}

TEST(news_name_an_image_what_it_was_and_is_and_what_is_dead)
{
    struct arena a = { 0 };
    struct image_replaced n;
    CHECK_OK(parse(&a,
                   "{\"name\":\"docker://redis:7\",\"old\":\"" AA "\",\"new\":\"" AA
                   "\",\"dead\":[\"" AA "\"]}",
                   &n));
    CHECK_STR(str_of(n.ref.host), "docker.io");
    CHECK_STR(str_of(n.ref.repository), "library/redis");
    CHECK_STR(str_of(n.ref.tag), "7");
    CHECK(n.has_old && n.has_new && n.new.bytes[0] == 0xaa);
    CHECK_INT(n.n_dead, 1);
    CHECK_OK(parse(&a, "{\"name\":\"redis\",\"old\":\"" AA "\",\"new\":\"\"}", &n));
    CHECK(!n.has_new && n.n_dead == 0);
    arena_fini(&a);
}

TEST(what_is_no_news_is_refused)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"name\":\"a b\"}",
        "{\"name\":\"redis\",\"new\":\"sha256:12\"}",
        "{\"name\":\"redis\",\"dead\":{}}",
        "{\"name\":\"redis\",\"dead\":[1]}",
    };
    struct arena a = { 0 };
    struct image_replaced n;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK(parse(&a, wrong[i], &n) < 0);
    scoped(buf_fini_scoped) struct buf many = BUF_INIT(IMAGE_NEWS_MAX_BYTES);
    (void)buf_add_cstr(&many, "{\"name\":\"redis\",\"dead\":[");
    for (size_t i = 0; i <= IMAGE_NEWS_DEAD_MAX; i++)
        (void)buf_printf(&many, "%s\"" AA "\"", i ? "," : "");
    (void)buf_add_cstr(&many, "]}");
    CHECK_ERR(image_replaced_parse(&a, buf_str(&many), &n, NULL), E_LIMIT);
    arena_fini(&a);
}

TEST_MAIN
