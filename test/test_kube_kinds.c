/* SPDX-License-Identifier: Apache-2.0 */
/* kube/kinds: what the built-in kinds become when they are decoded, created, updated, shown. */
#include "test_kube.h"

#include "base/sys.h"

#include <fcntl.h>

/* "group/version/plural", group "" for core. */
static const struct kube_resource *served(struct arena *a, struct str path)
{
    struct str group, rest, version, plural;
    (void)str_cut(path, '/', &group, &rest);
    (void)str_cut(rest, '/', &version, &plural);
    return resource(str_dup_arena(a, group), str_dup_arena(a, version), str_dup_arena(a, plural));
}

static void decode_tree(struct arena *a, const struct kube_resource *res, struct json *obj)
{
    struct json *status = NULL;
    struct object_warnings w = { .a = a };
    if (object_decode_tree(a, res, obj, FIELD_VALIDATION_STRICT, &w, &status) < 0)
        TEST_FAIL(STR_FMT, STR_ARG(status_message(status)));
}

/* ------------------------------------------------------------------ defaults */

/* The next line of a file that is no comment; "" at its end. */
static struct str next_line(struct str *text)
{
    struct str line = STR("");
    while (text->n && (line.n == 0 || line.p[0] == '#'))
        (void)str_cut(*text, '\n', &line, text);
    return line;
}

static struct json *json_of(struct arena *a, struct str text)
{
    struct json *v;
    struct err err = { 0 };
    if (json_parse(a, text, NULL, &v, &err) < 0)
        TEST_FAIL(STR_FMT ": %s", STR_ARG(text), err_text(&err));
    return v;
}

static bool check_default(struct arena *a, struct str head, struct str in, struct str out)
{
    struct str path, member;
    (void)str_cut(head, ' ', &path, &member);
    const struct kube_resource *res = served(a, path);
    struct json *obj = json_new_object(a);
    json_set_str(a, json_obj(a, obj, "metadata"), "name", STR("x"));
    json_set(a, obj, member, json_of(a, in));
    decode_tree(a, res, obj);
    const struct json *got = json_get(obj, member);
    /* what has its defaults does not change any more */
    struct json *again = json_clone(a, obj);
    object_default(a, res, again);
    CHECK(json_equal(obj, again));
    if (got && json_equal(got, json_of(a, out)))
        return true;
    (void)fprintf(stderr, "# " STR_FMT " " STR_FMT "\n#  got " STR_FMT "\n# want " STR_FMT "\n",
                  STR_ARG(head), STR_ARG(in), STR_ARG(text_of(a, got)), STR_ARG(out));
    return false;
}

TEST(decoding_fills_in_what_upstream_fills_in)
{
    struct buf file = BUF_INIT(1 << 20);
    CHECK_OK(sys_read_file(AT_FDCWD, TEST_DATA "/kind_defaults.txt", &file, NULL));
    struct str text = buf_str(&file);
    bool all = true;
    size_t n = 0;
    while (text.n) {
        struct arena a = { 0 };
        struct str head = next_line(&text), in = next_line(&text), out = next_line(&text);
        all = (head.n == 0 || check_default(&a, head, in, out)) && all;
        n += head.n > 0;
        arena_fini(&a);
    }
    CHECK(all && n > 20);
    buf_fini(&file);
}

TEST_MAIN
