/* SPDX-License-Identifier: Apache-2.0 */
/* storage.k8s.io: classes of volumes, drivers, attachments; storagemigration.k8s.io. */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/validate/validate.h"

#define GROUP "storage.k8s.io"

/* ---- StorageClass ---- */

static void class_set_defaults(struct arena *a, struct json *obj)
{
    kind_default_str(a, obj, "reclaimPolicy", "Delete");
    kind_default_str(a, obj, "volumeBindingMode", "Immediate");
}

static struct json *cell_class_name(struct arena *a, const struct json *obj, int64_t now_s)
{
    static const char *const marks[] = { "storageclass.kubernetes.io/is-default-class",
                                         "storageclass.beta.kubernetes.io/is-default-class" };
    const struct json *notes = json_path(obj, "metadata", "annotations", NULL);
    bool is_default = false;
    (void)now_s;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        is_default = is_default || str_is(json_get_str(notes, marks[i]), "true");
    return json_new_cstr(
        a, arena_printf(a, STR_FMT "%s", STR_ARG(meta_name(obj)), is_default ? " (default)" : ""));
}

CELL(cell_provisioner, "", "provisioner")
CELL(cell_reclaim, "Delete", "reclaimPolicy")
CELL(cell_binding_mode, "Immediate", "volumeBindingMode")

static struct json *cell_expansion(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_bool(a, json_bool(json_getc(obj, "allowVolumeExpansion")));
}

static const struct kube_column class_columns[] = {
    { .name = S("Name"),
      .type = S("string"),
      .format = S("name"),
      .description = S("Name of the class."),
      .cell = cell_class_name },
    COLUMN("Provisioner", "string", "Who makes volumes of the class.", 0, cell_provisioner),
    COLUMN("ReclaimPolicy", "string", "What happens to a volume that is released.", 0,
           cell_reclaim),
    COLUMN("VolumeBindingMode", "string", "When a claim gets its volume.", 0, cell_binding_mode),
    COLUMN("AllowVolumeExpansion", "string", "Whether volumes may grow.", 0, cell_expansion),
    COLUMN_AGE,
};

static const struct kube_strategy class_strategy = { .validate = validate_storage_class,
                                                     .set_defaults = class_set_defaults,
                                                     .unconditional_update = true,
                                                     .returns_deleted = true };

/* ---- VolumeAttributesClass ---- */

static const char immutable_text[] = "field is immutable";

CELL(cell_driver_name, "", "driverName")

static const struct kube_column attributes_columns[] = {
    COLUMN_NAME,
    COLUMN("DriverName", "string", "Driver that understands the parameters.", 0, cell_driver_name),
    COLUMN_AGE,
};

static void attributes_validate(const struct json *obj, const struct json *old,
                                struct field_errors *errs)
{
    struct fpath driver = fpath_child(NULL, STR("driverName"));
    struct fpath parameters = fpath_child(NULL, STR("parameters"));
    const struct json *now = json_getc(obj, "parameters"), *was = json_getc(old, "parameters");
    if (json_get_str(obj, "driverName").n == 0)
        field_error(errs, FIELD_REQUIRED, &driver, NULL, "%s", "");
    if (!json_first(now))
        field_error(errs, FIELD_REQUIRED, &parameters, NULL,
                    "must contain at least one key/value pair");
    if (!old)
        return;
    if (!str_eq(json_get_str(obj, "driverName"), json_get_str(old, "driverName")))
        field_error(errs, FIELD_INVALID, &driver, json_getc(obj, "driverName"), "%s",
                    immutable_text);
    if (now && was && !json_equal(now, was))
        field_error(errs, FIELD_INVALID, &parameters, now, "%s", immutable_text);
}

static const struct kube_strategy attributes_strategy = { .validate = attributes_validate,
                                                          .unconditional_update = true,
                                                          .returns_deleted = true };

/* ---- VolumeAttachment ---- */

CELL(cell_attacher, "", "spec", "attacher")
CELL(cell_volume, "", "spec", "source", "persistentVolumeName")
CELL(cell_node, "", "spec", "nodeName")

static struct json *cell_attached(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_bool(a, json_bool(json_path(obj, "status", "attached", NULL)));
}

static const struct kube_column attachment_columns[] = {
    COLUMN_NAME,
    { .name = S("Attacher"),
      .type = S("string"),
      .format = S("name"),
      .description = S("Driver that attaches the volume."),
      .cell = cell_attacher },
    COLUMN("PV", "string", "The volume.", 0, cell_volume),
    COLUMN("Node", "string", "Where it is attached.", 0, cell_node),
    COLUMN("Attached", "boolean", "Whether it is attached now.", 0, cell_attached),
    COLUMN_AGE,
};

static const struct kube_subresource attachment_subresources[] = {
    SUBRESOURCE_STATUS(GROUP, "VolumeAttachment"),
};

static void attachment_validate(const struct json *obj, const struct json *old,
                                struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec"), *source = json_getc(spec, "source");
    struct fpath up = fpath_child(NULL, STR("spec")), attacher = fpath_child(&up, STR("attacher"));
    struct fpath source_at = fpath_child(&up, STR("source")),
                 node_at = fpath_child(&up, STR("nodeName"));
    struct str node = json_get_str(spec, "nodeName");
    struct meta_problems p = meta_check_dns1123_subdomain(node);
    bool has_volume = json_getc(source, "persistentVolumeName") != NULL;
    bool has_spec = json_getc(source, "inlineVolumeSpec") != NULL;
    if (json_get_str(spec, "attacher").n == 0)
        field_error(errs, FIELD_REQUIRED, &attacher, NULL, "%s", "");
    if (!has_volume && !has_spec)
        field_error(errs, FIELD_REQUIRED, &source_at, NULL,
                    "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    if (has_volume && has_spec)
        field_error(errs, FIELD_INVALID, &source_at, source,
                    "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    for (size_t i = 0; i < p.n; i++)
        field_error_str(errs, FIELD_INVALID, &node_at, node, "%s", p.text[i]);
    const struct json *was = json_getc(old, "spec");
    if (old && spec && was && !json_equal(spec, was))
        field_error(errs, FIELD_INVALID, &up, spec, "%s", immutable_text);
}

static const struct kube_strategy attachment_strategy = { .prepare_create = kind_reset_status,
                                                          .validate = attachment_validate,
                                                          .fixed_meta_in_status = true,
                                                          .returns_deleted = true };

/* ---- CSIDriver ---- */

static void driver_set_defaults(struct arena *a, struct json *obj)
{
    struct json *spec = json_getc(obj, "spec");
    kind_default_bool(a, spec, "attachRequired", true);
    kind_default_bool(a, spec, "podInfoOnMount", false);
    kind_default_bool(a, spec, "storageCapacity", false);
    kind_default_bool(a, spec, "requiresRepublish", false);
    kind_default_bool(a, spec, "seLinuxMount", false);
    kind_default_str(a, spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if (!spec || json_first(json_getc(spec, "volumeLifecycleModes")))
        return;
    struct json *modes = json_new_array(a);
    json_add(modes, json_new_cstr(a, "Persistent"));
    json_setc(a, spec, "volumeLifecycleModes", modes);
}

/* Drivers are created without a generation; only later changes count. */
static void driver_prepare_update(struct arena *a, struct json *obj, const struct json *old)
{
    const struct json *spec = json_getc(obj, "spec"), *was = json_getc(old, "spec");
    int64_t n = json_int_or(json_path(old, "metadata", "generation", NULL), 0);
    if (spec && was && !json_equal(spec, was))
        json_set_int(a, meta_of(a, obj), "generation", n + 1);
}

CELL(cell_attach, "true", "spec", "attachRequired")
CELL(cell_pod_info, "false", "spec", "podInfoOnMount")
CELL(cell_has_capacity, "false", "spec", "storageCapacity")
CELL(cell_republish, "false", "spec", "requiresRepublish")

static struct json *cell_tokens(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *list = json_path(obj, "spec", "tokenRequests", NULL);
    struct json *audiences = json_new_array(a);
    (void)now_s;
    json_each (request, list)
        json_add(audiences, json_new_str(a, json_get_str(request, "audience")));
    return kind_cell_join(a, audiences, list ? "" : "<unset>");
}

static struct json *cell_modes(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_join(a, json_path(obj, "spec", "volumeLifecycleModes", NULL), "<none>");
}

static const struct kube_column driver_columns[] = {
    COLUMN_NAME,
    COLUMN("AttachRequired", "boolean", "Whether volumes have to be attached first.", 0,
           cell_attach),
    COLUMN("PodInfoOnMount", "boolean", "Whether the driver wants to know the pod.", 0,
           cell_pod_info),
    COLUMN("StorageCapacity", "boolean", "Whether the driver tells its capacity.", 0,
           cell_has_capacity),
    COLUMN("TokenRequests", "string", "Audiences of tokens that the driver gets.", 0, cell_tokens),
    COLUMN("RequiresRepublish", "boolean", "Whether volumes are published again and again.", 0,
           cell_republish),
    COLUMN("Modes", "string", "Kinds of volumes that the driver has.", 0, cell_modes),
    COLUMN_AGE,
};

static const struct kube_strategy driver_strategy = { .validate = validate_csi_driver,
                                                      .set_defaults = driver_set_defaults,
                                                      .prepare_update = driver_prepare_update,
                                                      .returns_deleted = true };

/* ---- CSINode, CSIStorageCapacity ---- */

static struct json *cell_drivers(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_count(a, json_getc(obj, "spec"), "drivers");
}

static const struct kube_column node_columns[] = {
    COLUMN_NAME,
    COLUMN("Drivers", "integer", "Number of drivers on the node.", 0, cell_drivers),
    COLUMN_AGE,
};

static const struct kube_column capacity_columns[] = { COLUMN_NAME, COLUMN_CREATED };

static const struct kube_strategy node_strategy = { .validate = validate_csi_node,
                                                    .returns_deleted = true };
static const struct kube_strategy capacity_strategy = { .validate = validate_csi_capacity };

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "CSIDriver", "csidrivers", "csidriver"), .verbs = KUBE_VERBS_ALL,
      .strategy = &driver_strategy, COLUMNS(driver_columns) },
    { NAMES(GROUP, "v1", "CSINode", "csinodes", "csinode"), .verbs = KUBE_VERBS_ALL,
      .strategy = &node_strategy, COLUMNS(node_columns) },
    { NAMES(GROUP, "v1", "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity"),
      .namespaced = true, .verbs = KUBE_VERBS_ALL, .strategy = &capacity_strategy,
      COLUMNS(capacity_columns) },
    { NAMES(GROUP, "v1", "StorageClass", "storageclasses", "storageclass"), SHORT(S("sc")),
      .verbs = KUBE_VERBS_ALL, .strategy = &class_strategy, COLUMNS(class_columns) },
    { NAMES(GROUP, "v1", "VolumeAttachment", "volumeattachments", "volumeattachment"),
      .verbs = KUBE_VERBS_ALL, SUBRESOURCES(attachment_subresources),
      .strategy = &attachment_strategy, COLUMNS(attachment_columns) },
    { NAMES(GROUP, "v1", "VolumeAttributesClass", "volumeattributesclasses",
            "volumeattributesclass"),
      SHORT(S("vac")), .verbs = KUBE_VERBS_ALL, .strategy = &attributes_strategy,
      COLUMNS(attributes_columns) },
};

const struct kind_list kinds_storage = { rows, ARRAY_LEN(rows) };
