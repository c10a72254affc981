/* SPDX-License-Identifier: Apache-2.0 */
/* client/watch_event: the head of a line against the tree of it, trees on demand, lines in chunks.
 */
#include "client/watch_event.h"

#include "codec/json.h"
#include "test.h"

#include <errno.h>

static int scan(struct arena *a, const char *line, struct watch_event *ret)
{
    return watch_event_scan(a, str_of(line), ret, NULL);
}

TEST(the_head_of_an_event_is_read_wherever_it_stands_in_the_line)
{
    static const char *const lines[] = {
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
        "\"namespace\":\"ns\",\"resourceVersion\":\"7\"},\"spec\":{\"metadata\":{\"name\":\"x\"}}}"
        "}",
        " {\"object\" : {\"spec\":[{}, {\"name\":\"no\"}] , \"metadata\" : { \"labels\":{"
        "\"name\":\"b\"},\"resourceVersion\": \"7\", \"namespace\":\"n\\u0073\",\"name\":\"a\" }},"
        " \"more\":1,\"type\":\"MODIFIED\"} ",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct arena a = { 0 };
        struct watch_event ev;
        CHECK_OK(scan(&a, lines[i], &ev));
        CHECK_INT(ev.type, WATCH_EVENT_MODIFIED);
        CHECK_STR(ev.namespace, "ns");
        CHECK_STR(ev.name, "a");
        CHECK_INT(ev.rv, 7);
        CHECK(ev.object.p[0] == '{' && ev.object.p[ev.object.n - 1] == '}');
        CHECK(ev.tree == NULL);
        arena_fini(&a);
    }
}

TEST(a_bookmark_says_whether_the_initial_state_is_complete_and_an_error_has_its_code)
{
    struct arena a = { 0 };
    struct watch_event ev;
    CHECK_OK(scan(&a,
                  "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\","
                  "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}",
                  &ev));
    CHECK(ev.type == WATCH_EVENT_BOOKMARK && ev.ends_initial);
    CHECK_INT(ev.rv, 9);
    CHECK_OK(scan(&a, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}", &ev));
    CHECK(!ev.ends_initial && ev.rv == 0 && ev.name.n == 0);
    CHECK_OK(scan(&a, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}", &ev));
    CHECK(ev.type == WATCH_EVENT_ERROR);
    CHECK_INT(ev.code, 410);
    arena_fini(&a);
}

TEST(a_line_that_is_no_event_is_refused)
{
    static const char *const lines[] = {
        "",
        "[]",
        "{}",
        "{\"type\":\"ADDED\"}",
        "{\"type\":\"ADDED\",\"object\":[]}",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}",
        "{\"type\":\"ADDED\",\"object\":{}} {}",
        "{\"type\":\"RENAMED\",\"object\":{}}",
        "{\"type\":7,\"object\":{}}",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct arena a = { 0 };
        struct watch_event ev = { .rv = 77 };
        CHECK_ERR(scan(&a, lines[i], &ev), E_PARSE);
        CHECK_INT(ev.rv, 77); /* nothing was written */
        arena_fini(&a);
    }
}

/* Members in random order, with text that looks like structure. */
static void write_random(struct buf *to, char *name, uint64_t *rv)
{
    static const char *const extra[] = { "\"a\":[1,2,{\"metadata\":{}}]", "\"b\":\"}]\\\"{\"",
                                         "\"c\":{\"name\":\"no\",\"namespace\":{}}", "\"d\":null",
                                         "\"e\":-1.5e3" };
    *rv = 1 + test_random() % 1000000;
    (void)snprintf(name, 16, "n%u", (unsigned)(test_random() % 1000));
    scoped(buf_fini_scoped) struct buf meta = BUF_INIT(65536), object = BUF_INIT(65536);
    const char *comma = "";
    for (unsigned i = 0, at = (unsigned)(test_random() % 4); i < 6; i++, comma = ",") {
        if (i == at)
            buf_printf(&meta, "%s\"name\":\"%s\"", comma, name);
        else if (i == at + 1)
            buf_printf(&meta, "%s\"resourceVersion\":\"%" PRIu64 "\"", comma, *rv);
        else
            buf_printf(&meta, "%s%s", comma, extra[test_random() % ARRAY_LEN(extra)]);
    }
    comma = "";
    for (unsigned i = 0, at = (unsigned)(test_random() % 4); i < 4; i++, comma = ",") {
        if (i == at)
            buf_printf(&object, "%s\"metadata\":{%s}", comma, buf_cstr(&meta));
        else
            buf_printf(&object, "%s%s", comma, extra[test_random() % ARRAY_LEN(extra)]);
    }
    if (test_random() % 2)
        buf_printf(to, "{\"type\":\"ADDED\",\"object\":{%s}}", buf_cstr(&object));
    else
        buf_printf(to, "{\"object\":{%s},\"type\":\"ADDED\"}", buf_cstr(&object));
}

TEST(the_scanned_head_is_what_a_tree_of_the_line_says)
{
    for (int i = 0; i < 2000; i++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf line = BUF_INIT(1 << 20);
        char name[16];
        uint64_t rv;
        struct watch_tree tree = { 0 };
        struct watch_event ev;
        write_random(&line, name, &rv);
        CHECK_OK(watch_event_scan(&a, buf_str(&line), &ev, NULL));
        CHECK_STR(ev.name, name);
        CHECK_INT(ev.rv, rv);
        ev.tree = &tree;
        CHECK_STR(json_str(json_path(watch_event_object(&ev), "metadata", "name", NULL)), name);
        watch_tree_fini(&tree);
        arena_fini(&a);
    }
}

TEST(the_tree_is_made_once_by_the_first_that_looks_and_not_before)
{
    struct arena a = { 0 };
    struct watch_tree tree = { 0 };
    struct watch_event ev, other;
    CHECK_OK(scan(&a, "{\"type\":\"ADDED\",\"object\":{\"spec\":{\"x\":1}}}", &ev));
    ev.tree = &tree;
    CHECK(!tree.is_read);
    const struct json *object = watch_event_object(&ev);
    CHECK(object && json_path(object, "spec", "x", NULL));
    other = ev; /* as another subscriber gets it */
    CHECK(watch_event_object(&other) == object);
    watch_tree_fini(&tree);
    CHECK_OK(scan(&a, "{\"type\":\"ADDED\",\"object\":{\"a\":tru}}", &ev));
    ev.tree = &tree;
    CHECK(watch_event_object(&ev) == NULL);
    CHECK(watch_event_object(&ev) == NULL);
    watch_tree_fini(&tree);
    arena_fini(&a);
}

TEST(a_page_says_its_revision_and_where_the_next_one_begins)
{
    struct arena a = { 0 };
    struct watch_page page;
    CHECK_OK(watch_page_scan(&a,
                             STR("{\"kind\":\"PodList\",\"items\":[{\"metadata\":{"
                                 "\"resourceVersion\":\"3\",\"continue\":\"no\"}}],\"metadata\":{"
                                 "\"remainingItemCount\":7,\"continue\":\"a\\u0062\","
                                 "\"resourceVersion\":\"12\"}}\n"),
                             &page, NULL));
    CHECK_INT(page.rv, 12);
    CHECK_STR(page.continue_token, "ab");
    CHECK_OK(watch_page_scan(&a, STR("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":null}"),
                             &page, NULL));
    CHECK(page.rv == 1 && page.continue_token.n == 0);
    CHECK_ERR(watch_page_scan(&a, STR("{\"items\":[]}"), &page, NULL), E_PARSE);
    CHECK_ERR(watch_page_scan(&a, STR("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":["),
                              &page, NULL),
              E_PARSE);
    CHECK_ERR(watch_page_scan(&a, STR("{\"metadata\":{\"resourceVersion\":\"x\"}}"), &page, NULL),
              E_PARSE);
    arena_fini(&a);
}

TEST(lines_come_out_whole_however_the_chunks_are_cut)
{
    static const char text[] = "one\n\n  two \r\n\nthree\nfour";
    static const char *const lines[] = { "one", "two", "three" };
    for (size_t step = 1; step <= sizeof text; step++) {
        struct watch_lines l;
        size_t n = 0;
        watch_lines_init(&l);
        for (size_t at = 0; at < sizeof text - 1; at += step) {
            struct str rest = str_slice(str_of(text), at, at + step), line;
            int r;
            while ((r = watch_lines_next(&l, &rest, &line)) > 0) {
                CHECK(n < ARRAY_LEN(lines));
                CHECK_STR(line, lines[n]);
                n++;
            }
            CHECK_OK(r);
        }
        CHECK_INT(n, 3);
        watch_lines_reset(&l);
    }
}

TEST(a_line_over_the_limit_is_refused)
{
    struct watch_lines l;
    size_t n = WATCH_LINE_MAX_BYTES;
    scoped(free_scoped) char *big = xalloc(n);
    struct str rest = str_n(big, n), line;
    memset(big, 'x', n);
    watch_lines_init(&l);
    CHECK_INT(watch_lines_next(&l, &rest, &line), 0);
    rest = STR("x\n");
    CHECK_INT(watch_lines_next(&l, &rest, &line), -EMSGSIZE);
    watch_lines_reset(&l);
}

TEST_MAIN
