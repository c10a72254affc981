/* SPDX-License-Identifier: Apache-2.0 */
/* Roles and their bindings. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

/* Generated from text/rbac.txt. */
#include "kube/rules/rbac_rules.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

static void rule(const struct validate_value *s, bool namespaced)
{
    MEMBER(verbs, s, "verbs");
    MEMBER(urls, s, "nonResourceURLs");
    MEMBER(groups, s, "apiGroups");
    MEMBER(resources, s, "resources");
    MEMBER(names, s, "resourceNames");
    validate_required(&verbs, "verbs must contain at least one value");
    if (value_count(&urls) == 0) {
        VALIDATE_MEMBERS(s, rules_rule_of_resources);
        return;
    }
    if (namespaced)
        report_invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
    if (value_count(&groups) || value_count(&resources) || value_count(&names))
        report_invalid(&urls, "rules cannot apply to both regular resources and non-resource URLs");
}

static void rules(const struct validate_value *root, bool namespaced)
{
    MEMBER(list, root, "rules");
    value_each (r, i, &list)
        rule(&r, namespaced);
}

void validate_role(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    rules(&root, true);
}

static void aggregated(const struct validate_value *s, const void *unused)
{
    validate_label_selector(s, NULL);
    if (selector_fit(s->errs->a, s->v, NULL) == SELECTOR_BROKEN)
        report_invalid_value(s, NULL, "invalid label selector.");
}

void validate_cluster_role(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    static const struct validate_each selector = { aggregated, NULL };
    struct validate_value root = value_root(obj, errs);
    MEMBER(aggregation, &root, "aggregationRule");
    MEMBER(selectors, &aggregation, "clusterRoleSelectors");
    rules(&root, false);
    if (aggregation.v)
        validate_required(
            &selectors, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    validate_each(&selectors, &selector);
}

static void subject(const struct validate_value *s, bool namespaced)
{
    MEMBER(kind, s, "kind");
    MEMBER(name, s, "name");
    MEMBER(api_group, s, "apiGroup");
    MEMBER(ns, s, "namespace");
    validate_required(&name, NULL);
    if (value_is(&kind, "ServiceAccount")) {
        validate_subdomain_if_set(&name, NULL);
        if (value_text(&api_group).n)
            report_not_supported(&api_group, &enum_subject_no_group);
        if (!namespaced)
            validate_required(&ns, NULL);
    } else if (validate_enum_has(&enum_subject_kinds, value_text(&kind))) {
        validate_enum_strict(&api_group, &enum_subject_group);
    } else {
        report_not_supported(&kind, &enum_subject_kinds);
    }
}

static void binding(const struct json *obj, const struct json *old, bool namespaced,
                    struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(role, &root, "roleRef");
    MEMBER(api_group, &role, "apiGroup");
    MEMBER(kind, &role, "kind");
    MEMBER(name, &role, "name");
    MEMBER(subjects, &root, "subjects");
    validate_enum_strict(&api_group, &enum_binding_group);
    validate_enum_strict(&kind, namespaced ? &enum_binding_kinds : &enum_binding_cluster_kinds);
    validate_required_path_segment(&name, NULL);
    value_each (s, i, &subjects)
        subject(&s, namespaced);
    if (old && !value_same(role.v, json_getc(old, "roleRef")))
        report_invalid_value(
            &role,
            value_go_struct(errs->a, role.v,
                            "APIGroup=apiGroup/\"\" Kind=kind/\"\" Name=name/\"\""),
            "cannot change roleRef");
}

void validate_role_binding(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    binding(obj, old, true, errs);
}

void validate_cluster_role_binding(const struct json *obj, const struct json *old,
                                   struct field_errors *errs)
{
    binding(obj, old, false, errs);
}
