/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of tables; see row.h. */
#include "kube/rules/kinds/row.h"

#include "kube/model/meta.h"
#include "kube/model/selector.h"
#include "kube/model/table.h"

#include <stdarg.h>
#include <stdio.h>

enum { CELL_MAX_BYTES = 64 * 1024 };

void row_str(struct kind_row *r, struct str s)
{
    json_add(r->cells, json_new_str(r->a, s));
}

void row_or(struct kind_row *r, struct str s, const char *otherwise)
{
    row_str(r, s.n ? s : str_of(otherwise));
}

void row_int(struct kind_row *r, int64_t v)
{
    json_add(r->cells, json_new_int(r->a, v));
}

void row_printf(struct kind_row *r, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    row_str(r, str_of(text));
}

void row_name(struct kind_row *r)
{
    row_str(r, meta_name(r->obj));
}

void row_since(struct kind_row *r, struct str rfc3339)
{
    row_str(r, table_age(r->a, rfc3339, r->now_s));
}

void row_age(struct kind_row *r)
{
    row_since(r, row_text(r->obj, "metadata.creationTimestamp"));
}

static void row_joined(struct kind_row *r, const struct json *list, const char *member)
{
    struct buf b = BUF_INIT(CELL_MAX_BYTES);
    json_each (v, list) {
        if (v != list->first)
            (void)buf_add_char(&b, ',');
        (void)buf_add_str(&b, json_get_str(v, member));
    }
    row_str(r, buf_str(&b));
    buf_fini(&b);
}

void row_containers(struct kind_row *r, const struct json *pod_spec)
{
    row_joined(r, json_getc(pod_spec, "containers"), "name");
    row_joined(r, json_getc(pod_spec, "containers"), "image");
}

/* The first key after `after` in order. */
static const struct json *next_label(const struct json *labels, const struct json *after)
{
    const struct json *best = NULL;
    json_each (l, labels)
        if ((!after || str_cmp(l->key, after->key) > 0) &&
            (!best || str_cmp(l->key, best->key) < 0))
            best = l;
    return best;
}

void row_labels(struct kind_row *r, const struct json *labels)
{
    struct buf b = BUF_INIT(CELL_MAX_BYTES);
    for (const struct json *l = next_label(labels, NULL); l; l = next_label(labels, l))
        (void)buf_printf(&b, "%s" STR_FMT "=" STR_FMT, b.n ? "," : "", STR_ARG(l->key),
                         STR_ARG(json_str(l)));
    row_or(r, buf_str(&b), "<none>");
    buf_fini(&b);
}

void row_selector(struct kind_row *r, const struct json *selector, const char *when_empty)
{
    struct selector s;
    if (selector && selector_from_object(r->a, selector, &s, NULL) < 0)
        row_str(r, STR("<error>"));
    else
        row_or(r, selector && !s.nothing ? selector_text(r->a, &s) : STR(""), when_empty);
}

static const struct json *at_path(const struct json *obj, const char *path)
{
    struct str rest = str_of(path), name;
    while (obj && rest.n) {
        (void)str_cut(rest, '.', &name, &rest);
        obj = json_get(obj, name);
    }
    return obj;
}

int64_t row_num(const struct json *obj, const char *path)
{
    return json_int_or(at_path(obj, path), 0);
}

int64_t row_count(const struct json *list)
{
    return json_is(list, JSON_ARRAY) || json_is(list, JSON_OBJECT) ? list->n : 0;
}

struct str row_text(const struct json *obj, const char *path)
{
    return json_str(at_path(obj, path));
}

bool row_condition(const struct json *conditions, const char *type)
{
    json_each (c, conditions)
        if (str_is(json_get_str(c, "type"), type))
            return str_is(json_get_str(c, "status"), "True");
    return false;
}
