/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing objects with the expectations of a test; see test_match.h. */
#include "lab/cmd/test_match.h"

#include "base/clock.h"

enum { SHOWN_MAX = 200 };

static void add_value(struct buf *to, const struct json *v)
{
    struct buf text = BUF_INIT(1 << 20);
    if (v)
        (void)json_write(&text, v);
    else
        (void)buf_add_cstr(&text, "not there");
    (void)buf_add_str(to, str_slice(buf_str(&text), 0, SHOWN_MAX));
    if (text.n > SHOWN_MAX)
        (void)buf_add_cstr(to, "...");
    buf_fini(&text);
}

static bool differ(const struct buf *path, const struct json *wanted, const struct json *got,
                   struct buf *why)
{
    (void)buf_printf(why, STR_FMT " is ", STR_ARG(path->n ? buf_str(path) : STR("it")));
    add_value(why, got);
    (void)buf_add_cstr(why, ", expected ");
    add_value(why, wanted);
    return false;
}

static bool match(const struct json *wanted, const struct json *got, struct buf *path,
                  struct buf *why);

static bool match_object(const struct json *wanted, const struct json *got, struct buf *path,
                         struct buf *why)
{
    size_t n = path->n;
    json_each (w, wanted) {
        (void)buf_printf(path, "." STR_FMT, STR_ARG(w->key));
        if (!match(w, json_get(got, w->key), path, why))
            return false;
        path->n = n;
    }
    return true;
}

static bool match_list(const struct json *wanted, const struct json *got, struct buf *path,
                       struct buf *why)
{
    size_t n = path->n, i = 0;
    const struct json *g = json_first(got);
    json_each (w, wanted) {
        (void)buf_printf(path, "[%zu]", i++);
        if (!match(w, g, path, why))
            return false;
        path->n = n;
        g = g ? g->next : NULL;
    }
    return !g || differ(path, wanted, got, why);
}

static bool match(const struct json *wanted, const struct json *got, struct buf *path,
                  struct buf *why)
{
    if (json_is(wanted, JSON_STRING) && str_is(json_str(wanted), "*"))
        return got || differ(path, wanted, got, why);
    if (json_is(wanted, JSON_NULL))
        return !got || json_is(got, JSON_NULL) || differ(path, wanted, got, why);
    if (json_is(wanted, JSON_OBJECT) && json_is(got, JSON_OBJECT))
        return match_object(wanted, got, path, why);
    if (json_is(wanted, JSON_ARRAY) && json_is(got, JSON_ARRAY))
        return match_list(wanted, got, path, why);
    return (got && json_equal(wanted, got)) || differ(path, wanted, got, why);
}

bool test_match(const struct json *wanted, const struct json *got, struct buf *why)
{
    struct buf path = BUF_INIT(64 << 10);
    bool same = match(wanted, got, &path, why);
    buf_fini(&path);
    return same;
}

static bool varies(const struct json *member)
{
    static const char *const names[] = { "uid", "resourceVersion", "managedFields" };
    int64_t ignored;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(member->key, names[i]))
            return true;
    return json_is(member, JSON_STRING) && rfc3339_parse(json_str(member), &ignored) == 0;
}

void test_normalize(struct arena *a, struct json *v)
{
    json_each (child, v) {
        if (varies(child))
            json_replace(child, json_new_cstr(a, "*"));
        else
            test_normalize(a, child);
    }
}
