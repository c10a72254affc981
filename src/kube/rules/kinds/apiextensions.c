/* SPDX-License-Identifier: Apache-2.0 */
/* apiextensions.k8s.io: CustomResourceDefinitions; their rules are in kube/model/crd.h. */
#include "kube/model/crd.h"
#include "kube/rules/crd_validate.h"
#include "kube/rules/kinds/kinds.h"

static void crd_prepare_create(struct arena *a, struct json *obj)
{
    (void)json_del(obj, STR("status"));
    (void)json_obj(a, obj, "status");
}

static struct json *cell_created_at(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_str(json_path(obj, "metadata", "creationTimestamp", NULL)));
}

static const struct kube_column crd_columns[] = {
    COLUMN_NAME,
    COLUMN("Created At", "date", "When the object was created.", 0, cell_created_at),
};

static const struct kube_subresource crd_subresources[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .group = S("apiextensions.k8s.io"),
      .version = S("v1"),
      .kind = S("CustomResourceDefinition") },
};

static const struct kube_strategy crd_strategy = { .set_defaults = crd_default,
                                                   .prepare_create = crd_prepare_create,
                                                   .validate_name = crd_validate_name,
                                                   .validate = crd_validate,
                                                   .warn = crd_warn,
                                                   .has_generation = true,
                                                   .fixed_meta_in_status = true };

static struct kube_resource rows[] = { { .group = S("apiextensions.k8s.io"),
                                         .version = S("v1"),
                                         .kind = S("CustomResourceDefinition"),
                                         .list_kind = S("CustomResourceDefinitionList"),
                                         .plural = S("customresourcedefinitions"),
                                         .singular = S("customresourcedefinition"),
                                         SHORT(S("crd"), S("crds")),
                                         CATEGORY(S("api-extensions")),
                                         .verbs = KUBE_VERBS_ALL,
                                         SUBRESOURCES(crd_subresources),
                                         .strategy = &crd_strategy,
                                         COLUMNS(crd_columns) } };

const struct kind_list kinds_apiextensions = { rows, ARRAY_LEN(rows) };
