/* SPDX-License-Identifier: Apache-2.0 */
/* resource.k8s.io: claims of pods for devices. */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"

#define GROUP "resource.k8s.io"

/* ---- ResourceClaim, ResourceClaimTemplate ---- */

static void default_request(struct arena *a, struct json *request)
{
    if (!json_is(request, JSON_OBJECT))
        return;
    kind_default_str(a, request, "allocationMode", "ExactCount");
    bool counts = str_is(json_get_str(request, "allocationMode"), "ExactCount");
    if (counts && json_int_or(json_getc(request, "count"), 0) == 0)
        json_set_int(a, request, "count", 1);
}

static void default_claim_spec(struct arena *a, struct json *spec)
{
    json_each (request, json_path(spec, "devices", "requests", NULL)) {
        default_request(a, json_getc(request, "exactly"));
        json_each (sub, json_getc(request, "firstAvailable"))
            default_request(a, sub);
    }
}

static void claim_set_defaults(struct arena *a, struct json *obj)
{
    default_claim_spec(a, json_getc(obj, "spec"));
}

static void template_set_defaults(struct arena *a, struct json *obj)
{
    default_claim_spec(a, json_path(obj, "spec", "spec", NULL));
}

static struct json *cell_state(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *status = json_getc(obj, "status");
    bool deleted = meta_is_deleting(obj), allocated = json_getc(status, "allocation") != NULL;
    bool reserved = allocated && json_first(json_getc(status, "reservedFor"));
    (void)now_s;
    return json_new_cstr(a, arena_printf(a, "%s%s%s",
                                         deleted     ? "deleted"
                                         : allocated ? ""
                                                     : "pending",
                                         !allocated ? ""
                                         : deleted  ? ",allocated"
                                                    : "allocated",
                                         reserved ? ",reserved" : ""));
}

static const struct kube_column plain_columns[] = { COLUMN_NAME, COLUMN_AGE };

static const struct kube_column claim_columns[] = {
    COLUMN_NAME,
    COLUMN("State", "string", "Whether devices are allocated and reserved.", 0, cell_state),
    COLUMN_AGE,
};

static const struct kube_subresource claim_subresources[] = { SUBRESOURCE_STATUS(GROUP,
                                                                                 "ResourceClaim") };

/* ---- ResourceSlice ---- */

CELL(cell_node, "", "spec", "nodeName")
CELL(cell_driver, "", "spec", "driver")
CELL(cell_pool, "", "spec", "pool", "name")

static const struct kube_column slice_columns[] = {
    COLUMN_NAME,
    COLUMN("Node", "string", "Where the devices are.", 0, cell_node),
    COLUMN("Driver", "string", "Who manages them.", 0, cell_driver),
    COLUMN("Pool", "string", "What they belong to.", 0, cell_pool),
    COLUMN_AGE,
};

/* ---- rows ---- */

static const struct kube_strategy class_strategy = { .has_generation = true,
                                                     .unconditional_update = true };
static const struct kube_strategy claim_strategy = { .set_defaults = claim_set_defaults,
                                                     .prepare_create = kind_reset_status,
                                                     .unconditional_update = true };
static const struct kube_strategy template_strategy = { .set_defaults = template_set_defaults,
                                                        .unconditional_update = true };
static const struct kube_strategy slice_strategy = { .has_generation = true,
                                                     .unconditional_update = true };

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "DeviceClass", "deviceclasses", "deviceclass"), .verbs = KUBE_VERBS_ALL,
      .strategy = &class_strategy, COLUMNS(plain_columns) },
    { NAMES(GROUP, "v1", "ResourceClaim", "resourceclaims", "resourceclaim"), .namespaced = true,
      .verbs = KUBE_VERBS_ALL, SUBRESOURCES(claim_subresources), .strategy = &claim_strategy,
      COLUMNS(claim_columns) },
    { NAMES(GROUP, "v1", "ResourceClaimTemplate", "resourceclaimtemplates",
            "resourceclaimtemplate"),
      .namespaced = true, .verbs = KUBE_VERBS_ALL, .strategy = &template_strategy,
      COLUMNS(plain_columns) },
    { NAMES(GROUP, "v1", "ResourceSlice", "resourceslices", "resourceslice"),
      .verbs = KUBE_VERBS_ALL, .strategy = &slice_strategy, COLUMNS(slice_columns),
      SELECT(S("spec.driver"), S("spec.nodeName")) },
};

const struct kind_list kinds_resource_claims = { rows, ARRAY_LEN(rows) };
