/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admissionregistration.k8s.io: webhooks and policies. Validating policies are evaluated
 * (api/admit/policies.c); webhooks and mutating policies are only stored.
 */
#include "kube/cel/cel_policy.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/validate/validate.h"

#define GROUP "admissionregistration.k8s.io"

/* ---- defaults ---- */

static void default_scope(struct arena *a, struct json *rules)
{
    json_each (rule, rules)
        kind_default_str(a, rule, "scope", "*");
}

static void default_matching(struct arena *a, struct json *match)
{
    kind_default_str(a, match, "matchPolicy", "Equivalent");
    kind_default_object(a, match, "namespaceSelector");
    kind_default_object(a, match, "objectSelector");
}

static void validating_set_defaults(struct arena *a, struct json *obj)
{
    json_each (hook, json_getc(obj, "webhooks")) {
        kind_default_str(a, hook, "failurePolicy", "Fail");
        default_matching(a, hook);
        kind_default_int(a, hook, "timeoutSeconds", 10);
        kind_default_int(a, json_path(hook, "clientConfig", "service", NULL), "port", 443);
        default_scope(a, json_getc(hook, "rules"));
    }
}

static void mutating_set_defaults(struct arena *a, struct json *obj)
{
    validating_set_defaults(a, obj);
    json_each (hook, json_getc(obj, "webhooks"))
        kind_default_str(a, hook, "reinvocationPolicy", "Never");
}

static void default_match_resources(struct arena *a, struct json *match)
{
    if (!match)
        return;
    default_matching(a, match);
    default_scope(a, json_getc(match, "resourceRules"));
    default_scope(a, json_getc(match, "excludeResourceRules"));
}

static void policy_set_defaults(struct arena *a, struct json *obj)
{
    struct json *spec = json_getc(obj, "spec");
    kind_default_str(a, spec, "failurePolicy", "Fail");
    default_match_resources(a, json_getc(spec, "matchConstraints"));
}

static void binding_set_defaults(struct arena *a, struct json *obj)
{
    struct json *spec = json_getc(obj, "spec");
    kind_default_str(a, json_getc(spec, "paramRef"), "parameterNotFoundAction", "Deny");
    default_match_resources(a, json_getc(spec, "matchResources"));
}

/* ---- columns ---- */

static struct json *cell_webhooks(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_count(a, obj, "webhooks");
}

static struct json *cell_validations(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_count(a, json_getc(obj, "spec"), "validations");
}

static struct json *cell_mutations(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_count(a, json_getc(obj, "spec"), "mutations");
}

static struct json *cell_param_kind(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *p = json_path(obj, "spec", "paramKind", NULL);
    (void)now_s;
    if (!p)
        return json_new_cstr(a, "<unset>");
    return json_new_cstr(a, arena_printf(a, STR_FMT "/" STR_FMT,
                                         STR_ARG(json_get_str(p, "apiVersion")),
                                         STR_ARG(json_get_str(p, "kind"))));
}

CELL(cell_policy_name, "", "spec", "policyName")

static struct json *cell_param_ref(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *ref = json_path(obj, "spec", "paramRef", NULL);
    struct str ns = json_get_str(ref, "namespace"), name = json_get_str(ref, "name");
    (void)now_s;
    if (name.n)
        return json_new_cstr(
            a, arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(ns), ns.n ? "/" : "", STR_ARG(name)));
    const struct json *selector = json_getc(ref, "selector");
    return selector ? kind_cell_selector(a, selector) : json_new_cstr(a, "<unset>");
}

static const struct kube_column webhook_columns[] = {
    COLUMN_NAME,
    COLUMN("Webhooks", "integer", "Number of webhooks.", 0, cell_webhooks),
    COLUMN_AGE,
};

static const struct kube_column validating_policy_columns[] = {
    COLUMN_NAME,
    COLUMN("Validations", "integer", "Number of rules.", 0, cell_validations),
    COLUMN("ParamKind", "string", "Kind of the objects that carry parameters.", 0, cell_param_kind),
    COLUMN_AGE,
};

static const struct kube_column mutating_policy_columns[] = {
    COLUMN_NAME,
    COLUMN("Mutations", "integer", "Number of mutations.", 0, cell_mutations),
    COLUMN("ParamKind", "string", "Kind of the objects that carry parameters.", 0, cell_param_kind),
    COLUMN_AGE,
};

static const struct kube_column binding_columns[] = {
    COLUMN_NAME,
    COLUMN("PolicyName", "string", "The policy that is put into force.", 0, cell_policy_name),
    COLUMN("ParamRef", "string", "Object with its parameters.", 0, cell_param_ref),
    COLUMN_AGE,
};

/* ---- validation of the required fields ---- */

static void validating_policy_validate(const struct json *obj, const struct json *old,
                                       struct field_errors *errs)
{
    const char *text = "validations or auditAnnotations must contain at least one item";
    const struct json *spec = json_getc(obj, "spec");
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath match = fpath_child(&up, STR("matchConstraints"));
    struct fpath validations = fpath_child(&up, STR("validations"));
    struct fpath annotations = fpath_child(&up, STR("auditAnnotations"));
    cel_policy_validate_expressions(obj, old, errs);
    if (!json_getc(spec, "matchConstraints"))
        field_error(errs, FIELD_REQUIRED, &match, NULL, "%s", "");
    if (json_first(json_getc(spec, "validations")) ||
        json_first(json_getc(spec, "auditAnnotations")))
        return;
    field_error(errs, FIELD_REQUIRED, &validations, NULL, "%s", text);
    field_error(errs, FIELD_REQUIRED, &annotations, NULL, "%s", text);
}

static void binding_validate(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath policy = fpath_child(&up, STR("policyName"));
    struct fpath actions = fpath_child(&up, STR("validationActions"));
    (void)old;
    if (json_get_str(spec, "policyName").n == 0)
        field_error(errs, FIELD_REQUIRED, &policy, NULL, "%s", "");
    if (str_is(json_get_str(obj, "kind"), "ValidatingAdmissionPolicyBinding") &&
        !json_first(json_getc(spec, "validationActions")))
        field_error(errs, FIELD_REQUIRED, &actions, NULL,
                    "at least one validation action is required");
}

/* Warns the client that such an object protects nothing. */
static void say_without_effect(struct arena *a, const struct json *obj, const struct json *old,
                               void (*say)(void *arg, struct str text), void *arg)
{
    (void)old;
    say(arg, str_of(arena_printf(a,
                                 "this " STR_FMT " is stored without effect: dormouse calls no "
                                 "admission webhooks and evaluates no mutating policies",
                                 STR_ARG(json_get_str(obj, "kind")))));
}

/* ---- rows ---- */

static const struct kube_subresource policy_subresources[] = {
    SUBRESOURCE_STATUS(GROUP, "ValidatingAdmissionPolicy"),
};

static const struct kube_strategy mutating_strategy = { .validate = validate_webhooks,
                                                        .set_defaults = mutating_set_defaults,
                                                        .warn = say_without_effect,
                                                        .has_generation = true };
static const struct kube_strategy validating_strategy = { .validate = validate_webhooks,
                                                          .set_defaults = validating_set_defaults,
                                                          .warn = say_without_effect,
                                                          .has_generation = true };
static const struct kube_strategy validating_policy_strategy = {
    .set_defaults = policy_set_defaults,
    .prepare_create = kind_reset_status,
    .has_generation = true,
    .validate = validating_policy_validate,
    .fixed_meta_in_status = true
};
static const struct kube_strategy mutating_policy_strategy = { .set_defaults = policy_set_defaults,
                                                               .warn = say_without_effect,
                                                               .has_generation = true };
static const struct kube_strategy binding_strategy = { .set_defaults = binding_set_defaults,
                                                       .validate = binding_validate,
                                                       .has_generation = true };

static const struct kube_strategy mutating_binding_strategy = { .set_defaults =
                                                                    binding_set_defaults,
                                                                .validate = binding_validate,
                                                                .warn = say_without_effect,
                                                                .has_generation = true };

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies",
            "mutatingadmissionpolicy"),
      CATEGORY(S("api-extensions")), .verbs = KUBE_VERBS_ALL, .strategy = &mutating_policy_strategy,
      COLUMNS(mutating_policy_columns) },
    { NAMES(GROUP, "v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings",
            "mutatingadmissionpolicybinding"),
      CATEGORY(S("api-extensions")), .verbs = KUBE_VERBS_ALL,
      .strategy = &mutating_binding_strategy, COLUMNS(binding_columns) },
    { NAMES(GROUP, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
            "mutatingwebhookconfiguration"),
      CATEGORY(S("api-extensions")), .verbs = KUBE_VERBS_ALL, .strategy = &mutating_strategy,
      COLUMNS(webhook_columns) },
    { NAMES(GROUP, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies",
            "validatingadmissionpolicy"),
      CATEGORY(S("api-extensions")), .verbs = KUBE_VERBS_ALL, SUBRESOURCES(policy_subresources),
      .strategy = &validating_policy_strategy, COLUMNS(validating_policy_columns) },
    { NAMES(GROUP, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings",
            "validatingadmissionpolicybinding"),
      CATEGORY(S("api-extensions")), .verbs = KUBE_VERBS_ALL, .strategy = &binding_strategy,
      COLUMNS(binding_columns) },
    { NAMES(GROUP, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
            "validatingwebhookconfiguration"),
      CATEGORY(S("api-extensions")), .verbs = KUBE_VERBS_ALL, .strategy = &validating_strategy,
      COLUMNS(webhook_columns) },
};

const struct kind_list kinds_admissionregistration = { rows, ARRAY_LEN(rows) };
