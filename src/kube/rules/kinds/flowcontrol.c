/* SPDX-License-Identifier: Apache-2.0 */
/* flowcontrol.apiserver.k8s.io: FlowSchemas and PriorityLevelConfigurations. */
#include "kube/rules/kinds/kinds.h"

#define GROUP "flowcontrol.apiserver.k8s.io"

static void default_if_zero(struct arena *a, struct json *obj, const char *key, int64_t value)
{
    if (json_is(obj, JSON_OBJECT) && json_int_or(json_getc(obj, key), 0) == 0)
        json_set_int(a, obj, key, value);
}

static void schema_set_defaults(struct arena *a, struct json *obj)
{
    default_if_zero(a, json_getc(obj, "spec"), "matchingPrecedence", 1000);
}

static void level_set_defaults(struct arena *a, struct json *obj)
{
    struct json *exempt = json_path(obj, "spec", "exempt", NULL);
    struct json *limited = json_path(obj, "spec", "limited", NULL);
    struct json *queuing = json_path(limited, "limitResponse", "queuing", NULL);
    kind_default_int(a, exempt, "nominalConcurrencyShares", 0);
    kind_default_int(a, exempt, "lendablePercent", 0);
    kind_default_int(a, limited, "nominalConcurrencyShares", 30);
    kind_default_int(a, limited, "lendablePercent", 0);
    default_if_zero(a, queuing, "handSize", 8);
    default_if_zero(a, queuing, "queues", 64);
    default_if_zero(a, queuing, "queueLengthLimit", 50);
}

/* ---- validation of the required fields ---- */

static void require_level(const struct json *obj, struct field_errors *errs)
{
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath level = fpath_child(&up, STR("priorityLevelConfiguration"));
    struct fpath at = fpath_child(&level, STR("name"));
    if (json_str(json_path(obj, "spec", "priorityLevelConfiguration", "name", NULL)).n == 0)
        field_error(errs, FIELD_REQUIRED, &at, NULL, "must reference a priority level");
}

static void flow_schema_validate(const struct json *obj, const struct json *old,
                                 struct field_errors *errs)
{
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath at = fpath_child(&up, STR("matchingPrecedence"));
    const struct json *precedence = json_path(obj, "spec", "matchingPrecedence", NULL);
    int64_t n = json_int_or(precedence, 1);
    (void)old;
    if (n <= 0)
        field_error(errs, FIELD_INVALID, &at, precedence, "must be a positive value");
    if (n > 10000)
        field_error(errs, FIELD_INVALID, &at, precedence, "must not be greater than 10000");
    require_level(obj, errs);
}

static void level_validate(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    static const struct str types[] = { { "Exempt", 6 }, { "Limited", 7 } };
    struct fpath up = fpath_child(NULL, STR("spec")), at = fpath_child(&up, STR("type"));
    const struct json *type = json_path(obj, "spec", "type", NULL);
    struct fpath limited = fpath_child(&up, STR("limited"));
    (void)old;
    if (json_str(type).n == 0)
        field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    else if (!str_eq(json_str(type), types[0]) && !str_eq(json_str(type), types[1]))
        field_error_enum(errs, &at, type, types, ARRAY_LEN(types));
    else if (str_eq(json_str(type), types[1]) && !json_path(obj, "spec", "limited", NULL))
        field_error(errs, FIELD_REQUIRED, &limited, NULL, "must not be empty when type is Limited");
}

/* ---- columns ---- */

CELL(cell_level, "", "spec", "priorityLevelConfiguration", "name")
CELL(cell_precedence, "0", "spec", "matchingPrecedence")
CELL(cell_distinguisher, "<none>", "spec", "distinguisherMethod", "type")

static struct json *cell_missing(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    json_each (c, json_path(obj, "status", "conditions", NULL)) {
        if (str_is(json_get_str(c, "type"), "Dangling"))
            return json_new_str(a, json_get_str(c, "status"));
    }
    return json_new_cstr(a, "?");
}

static const struct kube_column schema_columns[] = {
    COLUMN_NAME,
    COLUMN("PriorityLevel", "string", "Level that requests which match belong to.", 0, cell_level),
    COLUMN("MatchingPrecedence", "string", "Schemas with lower numbers are tried first.", 0,
           cell_precedence),
    COLUMN("DistinguisherMethod", "string", "What makes flows of requests.", 0, cell_distinguisher),
    COLUMN_AGE,
    COLUMN("MissingPL", "string", "Whether the level does not exist.", 0, cell_missing),
};

CELL(cell_type, "", "spec", "type")
CELL(cell_shares, "<none>", "spec", "limited", "nominalConcurrencyShares")
CELL(cell_queues, "<none>", "spec", "limited", "limitResponse", "queuing", "queues")
CELL(cell_hand, "<none>", "spec", "limited", "limitResponse", "queuing", "handSize")
CELL(cell_length, "<none>", "spec", "limited", "limitResponse", "queuing", "queueLengthLimit")

static const struct kube_column level_columns[] = {
    COLUMN_NAME,
    COLUMN("Type", "string", "Exempt or Limited.", 0, cell_type),
    COLUMN("NominalConcurrencyShares", "string", "Weight of the level.", 0, cell_shares),
    COLUMN("Queues", "string", "Number of queues.", 0, cell_queues),
    COLUMN("HandSize", "string", "Queues that one flow may use.", 0, cell_hand),
    COLUMN("QueueLengthLimit", "string", "Requests that may wait in one queue.", 0, cell_length),
    COLUMN_AGE,
};

/* ---- rows ---- */

static const struct kube_subresource schema_subresources[] = { SUBRESOURCE_STATUS(GROUP,
                                                                                  "FlowSchema") };
static const struct kube_subresource level_subresources[] = {
    SUBRESOURCE_STATUS(GROUP, "PriorityLevelConfiguration"),
};

static const struct kube_strategy schema_strategy = { .set_defaults = schema_set_defaults,
                                                      .prepare_create = kind_reset_status,
                                                      .has_generation = true,
                                                      .validate = flow_schema_validate,
                                                      .fixed_meta_in_status = true };
static const struct kube_strategy level_strategy = { .set_defaults = level_set_defaults,
                                                     .prepare_create = kind_reset_status,
                                                     .has_generation = true,
                                                     .validate = level_validate,
                                                     .fixed_meta_in_status = true };

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "FlowSchema", "flowschemas", "flowschema"), .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(schema_subresources), .strategy = &schema_strategy, COLUMNS(schema_columns) },
    { NAMES(GROUP, "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations",
            "prioritylevelconfiguration"),
      .verbs = KUBE_VERBS_ALL, SUBRESOURCES(level_subresources), .strategy = &level_strategy,
      COLUMNS(level_columns) },
};

const struct kind_list kinds_flowcontrol = { rows, ARRAY_LEN(rows) };
