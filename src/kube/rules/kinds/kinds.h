/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in resources that are served, one file for each group or family of kinds: names,
 * strategies, columns, selectable fields. Behaviour common to all kinds comes from their schemas;
 * these files hold only the behaviour that upstream codes by hand. Internal to src/kube: others use
 * rules_register().
 *
 * A new kind is one row in the `rows` of its file; a new file is one line in KIND_LISTS.
 */
#pragma once

#include "kube/model/builtin.h"
#include "kube/rules/rules.h"

/* Schemas are filled in when the rows are registered, and `storage` too if a row leaves it out. */
struct kind_list {
    struct kube_resource *rows;
    size_t n;
};

#define KIND_LISTS(X)                                                                              \
    X(kinds_core_namespace)                                                                        \
    X(kinds_core_pod)                                                                              \
    X(kinds_core_service)                                                                          \
    X(kinds_core_node)                                                                             \
    X(kinds_core_volume)                                                                           \
    X(kinds_core_limits)                                                                           \
    X(kinds_apps)                                                                                  \
    X(kinds_batch)                                                                                 \
    X(kinds_autoscaling)                                                                           \
    X(kinds_policy)                                                                                \
    X(kinds_core_config)                                                                           \
    X(kinds_core_serviceaccount)                                                                   \
    X(kinds_events)                                                                                \
    X(kinds_coordination)                                                                          \
    X(kinds_apiextensions)                                                                         \
    X(kinds_admissionregistration)                                                                 \
    X(kinds_apiregistration)                                                                       \
    X(kinds_certificates)                                                                          \
    X(kinds_endpointslices)                                                                        \
    X(kinds_flowcontrol)                                                                           \
    X(kinds_metrics)                                                                               \
    X(kinds_networking)                                                                            \
    X(kinds_rbac)                                                                                  \
    X(kinds_resource_claims)                                                                       \
    X(kinds_scheduling)                                                                            \
    X(kinds_reviews)                                                                               \
    X(kinds_storage)

#define KIND_LIST_DECLARE(name) extern const struct kind_list name;
KIND_LISTS(KIND_LIST_DECLARE)
#undef KIND_LIST_DECLARE

/* ---- macros for rows ---- */

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

/* Names of a kind with the usual name of its list. */
#define NAMES(g, v, k, many, one)                                                                  \
    .group = S(g), .version = S(v), .kind = S(k), .list_kind = S(k "List"), .plural = S(many),     \
    .singular = S(one)
#define SUBRESOURCE(sub, v, g, k)                                                                  \
    {                                                                                              \
        .name = S(sub), .verbs = (v), .group = S(g), .version = S("v1"), .kind = S(k)              \
    }
#define SUBRESOURCE_STATUS(g, k) SUBRESOURCE("status", KUBE_GET | KUBE_PATCH | KUBE_UPDATE, g, k)

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
/* Number of members of the object or array `bag`, 0 when it is absent. */
struct json *kind_cell_count(struct arena *a, const struct json *obj, const char *bag);

/* ---- cells that show a value of the object ---- */

/* The scalar at a path of members; `otherwise` (may be NULL: "") where it is absent. */
struct json *kind_cell_at(struct arena *a, const struct json *v, const char *otherwise);
/* "a,b,c" of an array of strings; `otherwise` when there are none. */
struct json *kind_cell_join(struct arena *a, const struct json *list, const char *otherwise);
/* As metav1.FormatLabelSelector writes a selector: "a=b,c in (x,y)", "<none>". */
struct json *kind_cell_selector(struct arena *a, const struct json *selector);
/* creationTimestamp as text: the column of kinds without a printer upstream. */
struct json *kind_cell_created(struct arena *a, const struct json *obj, int64_t now_s);
#define COLUMN_CREATED                                                                             \
    COLUMN("Created At", "date", "When the object was created.", 0, kind_cell_created)

/* Defines a cell `name` that shows the scalar at a path. */
#define CELL(name, otherwise, ...)                                                                 \
    static struct json *name(struct arena *a, const struct json *obj, int64_t now_s)               \
    {                                                                                              \
        (void)now_s;                                                                               \
        return kind_cell_at(a, json_path(obj, __VA_ARGS__, NULL), otherwise);                      \
    }

/* ---- defaults: set a member that is absent, null or ""; nothing when obj is no object ---- */

void kind_default_str(struct arena *a, struct json *obj, const char *key, const char *value);
void kind_default_int(struct arena *a, struct json *obj, const char *key, int64_t value);
void kind_default_bool(struct arena *a, struct json *obj, const char *key, bool value);
void kind_default_object(struct arena *a, struct json *obj, const char *key);

/* ---- preparation ---- */

/* Resets the status of a new object to the form in which upstream's empty struct is written. */
void kind_reset_status(struct arena *a, struct json *obj);
/* Restore a member from the old object, also its absence. */
void kind_keep(struct arena *a, struct json *obj, const struct json *old, const char *key);
