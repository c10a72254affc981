/* SPDX-License-Identifier: Apache-2.0 */
/* scheduling.k8s.io: PriorityClasses; node.k8s.io: RuntimeClasses. */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"

static const char immutable_text[] = "field is immutable";

static void priority_set_defaults(struct arena *a, struct json *obj)
{
    kind_default_str(a, obj, "preemptionPolicy", "PreemptLowerPriority");
}

/* The generation stays 1, because the fields that it counts cannot change. */
static void priority_prepare_create(struct arena *a, struct json *obj)
{
    json_set_int(a, meta_of(a, obj), "generation", 1);
}

enum { USER_PRIORITY_MAX = 1000000000 };

static void priority_validate(const struct json *obj, const struct json *old,
                              struct field_errors *errs)
{
    struct fpath value_at = fpath_child(NULL, STR("value"));
    struct fpath policy_at = fpath_child(NULL, STR("preemptionPolicy"));
    struct fpath meta_at = fpath_child(NULL, STR("metadata"));
    struct fpath name_at = fpath_child(&meta_at, STR("name"));
    int64_t value = json_int_or(json_getc(obj, "value"), 0);
    struct str name = meta_name(obj), policy = json_get_str(obj, "preemptionPolicy");
    static const struct str policies[] = { { "PreemptLowerPriority", 20 }, { "Never", 5 } };
    bool known = str_is(name, "system-node-critical") || str_is(name, "system-cluster-critical");
    if (old) {
        if (value != json_int_or(json_getc(old, "value"), 0))
            field_error(errs, FIELD_FORBIDDEN, &value_at, NULL, "may not be changed in an update.");
        if (!str_eq(policy, json_get_str(old, "preemptionPolicy")))
            field_error_str(errs, FIELD_INVALID, &policy_at, policy, "%s", immutable_text);
        return;
    }
    if (str_has_prefix(name, STR("system-")) && !known)
        field_error(errs, FIELD_FORBIDDEN, &name_at, NULL,
                    "priority class names with 'system-' prefix are reserved for system use only. "
                    "error: " STR_FMT " is not a known system priority class",
                    STR_ARG(name));
    else if (!known && value > USER_PRIORITY_MAX)
        field_error(errs, FIELD_FORBIDDEN, &value_at, NULL,
                    "maximum allowed value of a user defined priority is %d", USER_PRIORITY_MAX);
    if (!str_eq(policy, policies[0]) && !str_eq(policy, policies[1]))
        field_error_enum(errs, &policy_at, json_getc(obj, "preemptionPolicy"), policies,
                         ARRAY_LEN(policies));
}

static struct json *cell_value(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_int(a, json_int_or(json_getc(obj, "value"), 0));
}

static struct json *cell_global(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_bool(a, json_bool(json_getc(obj, "globalDefault")));
}

CELL(cell_preemption, "", "preemptionPolicy")

static const struct kube_column priority_columns[] = {
    COLUMN_NAME,
    COLUMN("Value", "integer", "The priority that pods of the class have.", 0, cell_value),
    COLUMN("Global-Default", "boolean", "Whether pods without a class belong to it.", 0,
           cell_global),
    COLUMN_AGE,
    COLUMN("PreemptionPolicy", "string", "Whether pods of the class drive others out.", 0,
           cell_preemption),
};

static const struct kube_strategy priority_strategy = { .set_defaults = priority_set_defaults,
                                                        .prepare_create = priority_prepare_create,
                                                        .validate = priority_validate,
                                                        .unconditional_update = true };

static void runtime_validate(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    struct fpath at = fpath_child(NULL, STR("handler"));
    struct str handler = json_get_str(obj, "handler");
    if (old && !str_eq(handler, json_get_str(old, "handler")))
        field_error_str(errs, FIELD_INVALID, &at, handler, "%s", immutable_text);
    struct meta_problems p = meta_check_dns1123_label(handler);
    if (handler.n == 0) {
        field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
        return;
    }
    for (size_t i = 0; i < p.n; i++)
        field_error_str(errs, FIELD_INVALID, &at, handler, "%s", p.text[i]);
}

CELL(cell_handler, "", "handler")

static const struct kube_column runtime_columns[] = {
    COLUMN_NAME,
    COLUMN("Handler", "string", "What the node's runtime calls the configuration.", 0,
           cell_handler),
    COLUMN_AGE,
};

static const struct kube_strategy runtime_strategy = { .validate = runtime_validate };

static struct kube_resource rows[] = {
    { NAMES("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass"),
      SHORT(S("pc")), .verbs = KUBE_VERBS_ALL, .strategy = &priority_strategy,
      COLUMNS(priority_columns) },
    { NAMES("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "runtimeclass"),
      .verbs = KUBE_VERBS_ALL, .strategy = &runtime_strategy, COLUMNS(runtime_columns) },
};

const struct kind_list kinds_scheduling = { rows, ARRAY_LEN(rows) };
