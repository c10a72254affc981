/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON parser; what it accepts survives every writer, and no getter trips over it. The cursor
 * over JSON text takes the same values.
 */
#include "fuzz.h"

#include "codec/json.h"
#include "codec/json_scan.h"

#include <errno.h>

enum { ARENA_MAX = 16 << 20 };

static void check_rewrite(struct arena *a, const struct json *v,
                          int (*write)(struct buf *, const struct json *))
{
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT), again = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *back;
    FUZZ_CHECK(write(&text, v) == 0);
    FUZZ_CHECK(json_parse(a, buf_str(&text), NULL, &back, NULL) == 0);
    FUZZ_CHECK(json_equal(v, back) && json_equal(back, v));
    FUZZ_CHECK(write(&again, back) == 0);
    FUZZ_CHECK(str_eq(buf_str(&text), buf_str(&again)));
    buf_fini(&text);
    buf_fini(&again);
}

static int write_pretty(struct buf *to, const struct json *v)
{
    return json_write_pretty(to, v, 1);
}

static void check_number(struct arena *a, const struct json *v)
{
    int64_t i, i_again;
    double f, f_again;
    if (json_int(v, &i) == 0) {
        struct json *same = json_new_int(a, i);
        FUZZ_CHECK(json_equal(v, same));
        FUZZ_CHECK(json_int(same, &i_again) == 0 && i == i_again);
    }
    if (json_float(v, &f) == 0) {
        FUZZ_CHECK(json_float(json_new_float(a, f), &f_again) == 0);
        FUZZ_CHECK(memcmp(&f, &f_again, sizeof f) == 0);
    }
}

/* The tree is well-formed: counts, links, UTF-8, no key twice. */
static void check_tree(struct arena *a, const struct json *v)
{
    uint32_t n = 0;
    const struct json *last = NULL;
    if (v->type == JSON_NUMBER)
        check_number(a, v);
    if (v->type == JSON_STRING)
        FUZZ_CHECK(str_is_utf8(v->s));
    json_each (c, v) {
        FUZZ_CHECK(str_is_utf8(c->key));
        if (v->type == JSON_OBJECT && n < 50)
            FUZZ_CHECK(json_get(v, c->key) == c);
        check_tree(a, c);
        last = c;
        n++;
    }
    if (v->type >= JSON_ARRAY)
        FUZZ_CHECK(v->n == n && json_last(v) == last);
}

/* The cursor takes the value that the parser takes (`v`; NULL: none), and nothing behind it. */
static void check_cursor(struct arena *a, struct str text, const struct json *v)
{
    struct json_scan s = json_scan_init(text);
    struct str value;
    struct json *same;
    bool ok = json_scan_value(&s, &value);
    FUZZ_CHECK(s.p >= text.p && s.p <= s.end);
    FUZZ_CHECK(!ok || (value.n > 0 && value.p >= text.p && value.p + value.n == s.p));
    if (!v)
        return;
    FUZZ_CHECK(ok && json_parse(a, value, NULL, &same, NULL) == 0 && json_equal(v, same));
    FUZZ_CHECK(json_scan_peek(&s) == 0 && s.p == s.end);
}

static void ignore_path(void *arg, struct str path)
{
    ++*(size_t *)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = ARENA_MAX }, rest = { 0 }, small = { .max_bytes = 512 };
    struct str text = str_n(data, n);
    struct json *v, *w;
    size_t n_duplicates = 0;
    struct err err = { 0 };
    struct json_parse_opts opts = { .on_duplicate = ignore_path, .arg = &n_duplicates };
    int r = json_parse(&a, text, &opts, &v, &err);
    FUZZ_CHECK(r == 0 || ((r == E_PARSE || r == -EMSGSIZE) && err.text[0]));
    check_cursor(&rest, text, r == 0 ? v : NULL);
    if (r == 0) {
        check_tree(&rest, v);
        check_rewrite(&rest, v, json_write);
        check_rewrite(&rest, v, json_write_sorted);
        check_rewrite(&rest, v, write_pretty);
        FUZZ_CHECK(json_equal(v, json_clone(&rest, v)));
    }
    /* Under a tight limit the answer is the same or "too large". */
    int s = json_parse(&small, text, NULL, &w, NULL);
    FUZZ_CHECK(s == r || s == -EMSGSIZE);
    opts.max_depth = 3;
    (void)json_parse(&a, text, &opts, &w, NULL);
    arena_fini(&small);
    arena_fini(&rest);
    arena_fini(&a);
    return 0;
}
