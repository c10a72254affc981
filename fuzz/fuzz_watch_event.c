/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a watch: the scanned head is that of the tree wherever the line is valid JSON, and lines
 * come out of chunks as they went in.
 */
#include "fuzz.h"

#include "client/watch_event.h"
#include "codec/json.h"

static void check_head(struct arena *a, struct str line)
{
    struct watch_event ev;
    struct json *tree;
    bool is_event = watch_event_scan(a, line, &ev, NULL) >= 0;
    if (!is_event || json_parse(a, line, NULL, &tree, NULL) < 0)
        return;
    FUZZ_CHECK(ev.object.p >= line.p && ev.object.p + ev.object.n <= line.p + line.n);
    struct watch_tree on_demand = { 0 };
    ev.tree = &on_demand;
    FUZZ_CHECK(json_equal(watch_event_object(&ev), json_getc(tree, "object")));
    watch_tree_fini(&on_demand);
}

static void check_page(struct arena *a, struct str text)
{
    struct watch_page page;
    if (watch_page_scan(a, text, &page, NULL) >= 0)
        FUZZ_CHECK(page.rv > 0 && page.continue_token.n <= text.n);
}

static void check_lines(struct str text)
{
    struct watch_lines l;
    struct str line, rest;
    size_t n_whole = 0, n_cut = 0;
    watch_lines_init(&l);
    rest = text;
    while (watch_lines_next(&l, &rest, &line) > 0)
        n_whole += line.n + 1;
    watch_lines_reset(&l);
    for (size_t at = 0; at < text.n; at += 3) {
        rest = str_slice(text, at, at + 3);
        while (watch_lines_next(&l, &rest, &line) > 0)
            n_cut += line.n + 1;
    }
    FUZZ_CHECK(n_whole == n_cut);
    watch_lines_reset(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = 64 << 20 };
    struct str text = str_n((const char *)data, n);
    check_head(&a, text);
    check_page(&a, text);
    check_lines(text);
    arena_fini(&a);
    return 0;
}
