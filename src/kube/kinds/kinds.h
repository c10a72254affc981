/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in resources that are served, one file for each group or family of kinds: names,
 * strategies, columns, selectable fields. What is the same for all kinds comes from their schemas;
 * in these files stands only what upstream does by hand. Internal to src/kube: others use
 * builtin_register().
 *
 * A new kind is one row in the `rows` of its file; a new file is one line in KIND_LISTS.
 */
#pragma once

#include "kube/builtin.h"

/* Schemas are filled in when the rows are registered, and `storage` where a row leaves it out. */
struct kind_list {
    struct kube_resource *rows;
    size_t n;
};

#define KIND_LISTS(X)                                                                              \
    X(kinds_core_namespace)                                                                        \
    X(kinds_core_config)                                                                           \
    X(kinds_core_serviceaccount)                                                                   \
    X(kinds_events)                                                                                \
    X(kinds_coordination)                                                                          \
    X(kinds_apiextensions)

#define KIND_LIST_DECLARE(name) extern const struct kind_list name;
KIND_LISTS(KIND_LIST_DECLARE)
#undef KIND_LIST_DECLARE

/* ---- words for rows ---- */

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#define STRS(...)                                                                                  \
    (const struct str[])                                                                           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define COUNT(...) (sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

#define SHORT(...)      .short_names = STRS(__VA_ARGS__), .n_short_names = COUNT(__VA_ARGS__)
#define CATEGORY(...)   .categories = STRS(__VA_ARGS__), .n_categories = COUNT(__VA_ARGS__)
#define COLUMNS(c)      .columns = (c), .n_columns = ARRAY_LEN(c)
#define SUBRESOURCES(s) .subresources = (s), .n_subresources = ARRAY_LEN(s)
#define SELECT(...)                                                                                \
    .selectable_fields = STRS(__VA_ARGS__), .n_selectable_fields = COUNT(__VA_ARGS__)

#define COLUMN(title, kind, text, prio, fn)                                                        \
    {                                                                                              \
        .name = S(title), .type = S(kind), .description = S(text), .priority = (prio),             \
        .cell = (fn)                                                                               \
    }
#define COLUMN_NAME                                                                                \
    {                                                                                              \
        .name = S("Name"), .type = S("string"), .format = S("name"),                               \
        .description = S("Name of the object, unique among its kind in its namespace."),           \
        .cell = kind_cell_name                                                                     \
    }
#define COLUMN_AGE COLUMN("Age", "string", "Time since the object was created.", 0, kind_cell_age)

/* ---- cells that many kinds have ---- */

struct json *kind_cell_name(struct arena *a, const struct json *obj, int64_t now_s);
struct json *kind_cell_age(struct arena *a, const struct json *obj, int64_t now_s);
/* Members of the object or array `bag`, 0 when it is absent. */
struct json *kind_cell_count(struct arena *a, const struct json *obj, const char *bag);
