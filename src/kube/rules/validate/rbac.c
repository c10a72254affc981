/* SPDX-License-Identifier: Apache-2.0 */
/* Roles and their bindings. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

static void rule(const struct spot *s, bool namespaced)
{
    static const struct member_check of_resources[] = {
        { "apiGroups", need, "resource rules must supply at least one api group" },
        { "resources", need, "resource rules must supply at least one resource" },
    };
    MEMBER(verbs, s, "verbs");
    MEMBER(urls, s, "nonResourceURLs");
    MEMBER(groups, s, "apiGroups");
    MEMBER(resources, s, "resources");
    MEMBER(names, s, "resourceNames");
    need(&verbs, "verbs must contain at least one value");
    if (spot_count(&urls) == 0) {
        CHECK_MEMBERS(s, of_resources);
        return;
    }
    if (namespaced)
        say_invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
    if (spot_count(&groups) || spot_count(&resources) || spot_count(&names))
        say_invalid(&urls, "rules cannot apply to both regular resources and non-resource URLs");
}

static void rules(const struct spot *root, bool namespaced)
{
    MEMBER(list, root, "rules");
    spot_each (r, i, &list)
        rule(&r, namespaced);
}

void validate_role(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    rules(&root, true);
}

static void aggregated(const struct spot *s, const void *unused)
{
    label_selector(s, NULL);
    if (selector_fit(s->errs->a, s->v, NULL) == SELECTOR_BROKEN)
        say_invalid_value(s, NULL, "invalid label selector.");
}

void validate_cluster_role(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    static const struct each selector = { aggregated, NULL };
    struct spot root = spot_root(obj, errs);
    MEMBER(aggregation, &root, "aggregationRule");
    MEMBER(selectors, &aggregation, "clusterRoleSelectors");
    rules(&root, false);
    if (aggregation.v)
        need(&selectors, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    each(&selectors, &selector);
}

static void subject(const struct spot *s, bool namespaced)
{
    WORDS(kinds, WORD("ServiceAccount"), WORD("User"), WORD("Group"));
    WORDS(group, WORD(RBAC_GROUP));
    WORDS(no_group, WORD(""));
    MEMBER(kind, s, "kind");
    MEMBER(name, s, "name");
    MEMBER(api_group, s, "apiGroup");
    MEMBER(ns, s, "namespace");
    need(&name, NULL);
    if (spot_is(&kind, "ServiceAccount")) {
        a_subdomain(&name, NULL);
        if (spot_text(&api_group).n)
            say_unsupported(&api_group, &no_group);
        if (!namespaced)
            need(&ns, NULL);
    } else if (words_has(&kinds, spot_text(&kind))) {
        one_of_strictly(&api_group, &group);
    } else {
        say_unsupported(&kind, &kinds);
    }
}

static void binding(const struct json *obj, const struct json *old, bool namespaced,
                    struct field_errors *errs)
{
    WORDS(group, WORD(RBAC_GROUP));
    WORDS(kinds, WORD("Role"), WORD("ClusterRole"));
    WORDS(cluster_kinds, WORD("ClusterRole"));
    struct spot root = spot_root(obj, errs);
    MEMBER(role, &root, "roleRef");
    MEMBER(api_group, &role, "apiGroup");
    MEMBER(kind, &role, "kind");
    MEMBER(name, &role, "name");
    MEMBER(subjects, &root, "subjects");
    one_of_strictly(&api_group, &group);
    one_of_strictly(&kind, namespaced ? &kinds : &cluster_kinds);
    need_path_segment(&name, NULL);
    spot_each (s, i, &subjects)
        subject(&s, namespaced);
    if (old && !json_same(role.v, json_getc(old, "roleRef")))
        say_invalid_value(
            &role,
            go_struct(errs->a, role.v, "APIGroup=apiGroup/\"\" Kind=kind/\"\" Name=name/\"\""),
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
