/* SPDX-License-Identifier: Apache-2.0 */
/* rbac.authorization.k8s.io: Roles, ClusterRoles and their bindings. */
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/validate/validate.h"

#define GROUP "rbac.authorization.k8s.io"

static void binding_set_defaults(struct arena *a, struct json *obj)
{
    kind_default_str(a, json_getc(obj, "roleRef"), "apiGroup", GROUP);
    json_each (subject, json_getc(obj, "subjects")) {
        struct str kind = json_get_str(subject, "kind");
        if (str_is(kind, "User") || str_is(kind, "Group"))
            kind_default_str(a, subject, "apiGroup", GROUP);
    }
}

static struct json *cell_role(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *ref = json_getc(obj, "roleRef");
    (void)now_s;
    return json_new_cstr(a, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(json_get_str(ref, "kind")),
                                         STR_ARG(json_get_str(ref, "name"))));
}

/* "a, b": the subjects of one kind; service accounts with their namespace. */
static struct json *subjects(struct arena *a, const struct json *obj, const char *kind)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    bool accounts = strcmp(kind, "ServiceAccount") == 0;
    json_each (s, json_getc(obj, "subjects")) {
        struct str ns = json_get_str(s, "namespace");
        if (!str_is(json_get_str(s, "kind"), kind))
            continue;
        if (b.n)
            (void)buf_add_cstr(&b, ", ");
        if (accounts && ns.n) {
            (void)buf_add_str(&b, ns);
            (void)buf_add_char(&b, '/');
        }
        (void)buf_add_str(&b, json_get_str(s, "name"));
    }
    return json_new_str(a, buf_str(&b));
}

static struct json *cell_users(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return subjects(a, obj, "User");
}

static struct json *cell_groups(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return subjects(a, obj, "Group");
}

static struct json *cell_accounts(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return subjects(a, obj, "ServiceAccount");
}

static const struct kube_column role_columns[] = { COLUMN_NAME, COLUMN_CREATED };

static const struct kube_column binding_columns[] = {
    COLUMN_NAME,
    COLUMN("Role", "string", "Kind and name of the role that is granted.", 0, cell_role),
    COLUMN_AGE,
    COLUMN("Users", "string", "Users who are granted the role.", 1, cell_users),
    COLUMN("Groups", "string", "Groups that are granted the role.", 1, cell_groups),
    COLUMN("ServiceAccounts", "string", "Service accounts that are granted the role.", 1,
           cell_accounts),
};

/* All of them can be created with PUT; the name is any valid path segment. */
#define STRATEGY                                                                                   \
    .name_rule = KUBE_NAME_PATH_SEGMENT, .unconditional_update = true, .create_on_update = true

static const struct kube_strategy role_strategy = { .validate = validate_role, STRATEGY };
static const struct kube_strategy cluster_role_strategy = { .validate = validate_cluster_role,
                                                            STRATEGY };
static const struct kube_strategy binding_strategy = { .set_defaults = binding_set_defaults,
                                                       .validate = validate_role_binding,
                                                       STRATEGY };
static const struct kube_strategy cluster_binding_strategy = {
    .set_defaults = binding_set_defaults, .validate = validate_cluster_role_binding, STRATEGY
};

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "ClusterRole", "clusterroles", "clusterrole"), .verbs = KUBE_VERBS_ALL,
      .strategy = &cluster_role_strategy, COLUMNS(role_columns) },
    { NAMES(GROUP, "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding"),
      .verbs = KUBE_VERBS_ALL, .strategy = &cluster_binding_strategy, COLUMNS(binding_columns) },
    { NAMES(GROUP, "v1", "Role", "roles", "role"), .namespaced = true, .verbs = KUBE_VERBS_ALL,
      .strategy = &role_strategy, COLUMNS(role_columns) },
    { NAMES(GROUP, "v1", "RoleBinding", "rolebindings", "rolebinding"), .namespaced = true,
      .verbs = KUBE_VERBS_ALL, .strategy = &binding_strategy, COLUMNS(binding_columns) },
};

const struct kind_list kinds_rbac = { rows, ARRAY_LEN(rows) };
