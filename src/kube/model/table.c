/* SPDX-License-Identifier: Apache-2.0 */
/* Tables; see table.h. */
#include "kube/model/table.h"

#include "base/clock.h"
#include "kube/model/jsonpath.h"
#include "kube/model/meta.h"
#include "kube/model/object.h"

#include <errno.h>
#include <inttypes.h>

int table_include_parse(struct str s, enum table_include *ret)
{
    if (s.n == 0 || str_is(s, "Metadata"))
        *ret = TABLE_INCLUDE_METADATA;
    else if (str_is(s, "None"))
        *ret = TABLE_INCLUDE_NONE;
    else if (str_is(s, "Object"))
        *ret = TABLE_INCLUDE_OBJECT;
    else
        return -EINVAL;
    return 0;
}

/* ---- ages ---- */

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, YEAR = 365 };

/* "<big>", followed by "<small>" unless zero. */
static struct str two_units(struct arena *a, int64_t big, char big_unit, int64_t small,
                            char small_unit)
{
    if (small == 0)
        return str_of(arena_printf(a, "%" PRId64 "%c", big, big_unit));
    return str_of(arena_printf(a, "%" PRId64 "%c%" PRId64 "%c", big, big_unit, small, small_unit));
}

struct str table_duration(struct arena *a, int64_t s)
{
    /* Tolerate a clock that is slightly behind. */
    if (s < -1)
        return STR("<invalid>");
    if (s < 0)
        return STR("0s");
    if (s < 2 * MINUTE)
        return two_units(a, s, 's', 0, 0);
    if (s < 10 * MINUTE)
        return two_units(a, s / MINUTE, 'm', s % MINUTE, 's');
    if (s < 3 * HOUR)
        return two_units(a, s / MINUTE, 'm', 0, 0);
    int64_t hours = s / HOUR;
    if (hours < 8)
        return two_units(a, hours, 'h', s / MINUTE % 60, 'm');
    if (hours < 48)
        return two_units(a, hours, 'h', 0, 0);
    if (hours < 24 * 8)
        return two_units(a, hours / 24, 'd', hours % 24, 'h');
    if (hours < (int64_t)24 * YEAR * 2)
        return two_units(a, hours / 24, 'd', 0, 0);
    if (hours < (int64_t)24 * YEAR * 8)
        return two_units(a, hours / 24 / YEAR, 'y', hours / 24 % YEAR, 'd');
    return two_units(a, hours / 24 / YEAR, 'y', 0, 0);
}

struct str table_age(struct arena *a, struct str rfc3339, int64_t now_s)
{
    int64_t us;
    if (rfc3339.n == 0 || rfc3339_parse(rfc3339, &us) < 0)
        return STR("<unknown>");
    return table_duration(a, now_s - us / 1000000);
}

/* ---- default columns ---- */

static struct json *cell_name(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, meta_name(obj));
}

static struct json *cell_age(struct arena *a, const struct json *obj, int64_t now_s)
{
    struct str created = json_str(json_path(obj, "metadata", "creationTimestamp", NULL));
    return json_new_str(a, table_age(a, created, now_s));
}

const struct kube_column table_default_columns[] = {
    { .name = { "Name", 4 },
      .type = { "string", 6 },
      .format = { "name", 4 },
      .description = { "Name of the object, unique among its kind in its namespace.", 59 },
      .cell = cell_name },
    { .name = { "Age", 3 },
      .type = { "string", 6 },
      .description = { "Time since the object was created.", 34 },
      .cell = cell_age },
};
const size_t table_n_default_columns = ARRAY_LEN(table_default_columns);

/* ---- cells of custom resources ---- */

static struct json *cell_text(struct arena *a, const struct json *v)
{
    if (v->type == JSON_STRING)
        return json_new_str(a, v->s);
    struct buf b = BUF_INIT(64 * 1024);
    (void)json_write(&b, v);
    struct json *out = json_new_str(a, buf_str(&b));
    buf_fini(&b);
    return out;
}

/* A value of the column's type, null if it has another type: upstream's cellForJSONValue. */
static struct json *cell_typed(struct arena *a, const struct kube_column *c, const struct json *v,
                               int64_t now_s)
{
    int64_t i;
    double d;
    if (str_is(c->type, "integer"))
        return json_float(v, &d) == 0 ? json_new_int(a, json_int(v, &i) == 0 ? i : (int64_t)d)
                                      : json_new_null(a);
    if (str_is(c->type, "number"))
        return json_float(v, &d) == 0 ? json_new_float(a, d) : json_new_null(a);
    if (str_is(c->type, "boolean"))
        return json_is_bool(v) ? json_new_bool(a, json_bool(v)) : json_new_null(a);
    if (str_is(c->type, "date")) {
        int64_t us;
        if (v->type != JSON_STRING)
            return json_new_null(a);
        if (rfc3339_parse(v->s, &us) < 0)
            return json_new_cstr(a, "<invalid>");
        return json_new_str(a, table_duration(a, now_s - us / 1000000));
    }
    return json_new_null(a);
}

static struct json *cell_by_path(struct arena *a, const struct kube_column *c,
                                 const struct json *obj, int64_t now_s)
{
    /* Only the first of several results is shown, as upstream does. */
    const struct json *found[1];
    struct jsonpath *path;
    if (jsonpath_parse(a, c->json_path, &path, NULL) < 0)
        return json_new_null(a);
    if (jsonpath_find(path, obj, found, 1, a->budget) == 0 || found[0]->type == JSON_NULL)
        return json_new_null(a);
    return str_is(c->type, "string") ? cell_text(a, found[0]) : cell_typed(a, c, found[0], now_s);
}

/* ---- tables ---- */

static const struct kube_column *columns_of(const struct kube_resource *res, size_t *ret_n)
{
    *ret_n = res->n_columns ? res->n_columns : table_n_default_columns;
    return res->n_columns ? res->columns : table_default_columns;
}

static struct json *definitions(struct arena *a, const struct kube_resource *res)
{
    struct json *list = json_new_array(a);
    size_t n;
    const struct kube_column *c = columns_of(res, &n);
    for (size_t i = 0; i < n; i++) {
        struct json *d = json_new_object(a);
        json_set_str(a, d, "name", c[i].name);
        json_set_str(a, d, "type", c[i].type);
        json_set_str(a, d, "format", c[i].format);
        json_set_str(a, d, "description", c[i].description);
        json_set_int(a, d, "priority", c[i].priority);
        json_add(list, d);
    }
    return list;
}

struct json *table_new(struct arena *a, const struct kube_resource *res, struct str version,
                       bool columns, const struct json *list_meta)
{
    struct json *t = json_new_object(a);
    json_set_str(a, t, "kind", STR("Table"));
    json_set_str(a, t, "apiVersion",
                 str_of(arena_printf(a, "meta.k8s.io/" STR_FMT, STR_ARG(version))));
    json_setc(a, t, "metadata", list_meta ? json_clone(a, list_meta) : json_new_object(a));
    json_setc(a, t, "columnDefinitions", columns ? definitions(a, res) : json_new_null(a));
    json_setc(a, t, "rows", json_new_array(a));
    return t;
}

void table_add_row(struct arena *a, struct json *table, const struct kube_resource *res,
                   const struct json *obj, enum table_include include, struct str version,
                   int64_t now_s)
{
    struct json *row = json_new_object(a), *cells = json_new_array(a);
    size_t n;
    const struct kube_column *c = columns_of(res, &n);
    if (res->cells)
        res->cells(a, obj, now_s, cells);
    for (size_t i = 0; i < n && !res->cells; i++)
        json_add(cells, c[i].cell ? c[i].cell(a, obj, now_s) : cell_by_path(a, &c[i], obj, now_s));
    json_setc(a, row, "cells", cells);
    switch (include) {
    case TABLE_INCLUDE_NONE:
        json_setc(a, row, "object", json_new_null(a));
        break;
    case TABLE_INCLUDE_METADATA: {
        struct json *partial = object_partial_metadata(a, obj);
        json_set_str(a, partial, "apiVersion",
                     str_of(arena_printf(a, "meta.k8s.io/" STR_FMT, STR_ARG(version))));
        json_setc(a, row, "object", partial);
        break;
    }
    case TABLE_INCLUDE_OBJECT:
        json_setc(a, row, "object", json_clone(a, obj));
        break;
    }
    json_add(json_getc(table, "rows"), row);
}
