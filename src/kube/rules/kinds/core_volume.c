/* SPDX-License-Identifier: Apache-2.0 */
/* PersistentVolumes and PersistentVolumeClaims. */
#include "base/clock.h"
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

#define CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"

static void set_phase(struct arena *a, struct json *obj)
{
    json_set_str(a, json_obj(a, obj, "status"), "phase", STR("Pending"));
}

static void volume_prepare_create(struct arena *a, struct json *pv)
{
    const struct json *now = json_path(pv, "metadata", "creationTimestamp", NULL);
    set_phase(a, pv);
    if (now)
        json_setc(a, json_obj(a, pv, "status"), "lastPhaseTransitionTime", json_clone(a, now));
}

/* Sets the time of a changed phase, unless the client set one. */
static void volume_prepare_status(struct arena *a, struct json *pv, const struct json *old)
{
    struct json *status = json_obj(a, pv, "status");
    const struct json *was = json_getc(old, "status");
    struct str time = json_get_str(status, "lastPhaseTransitionTime");
    struct str time_was = json_get_str(was, "lastPhaseTransitionTime");
    bool is_same = str_eq(json_get_str(status, "phase"), json_get_str(was, "phase"));
    if (is_same && time.n == 0 && time_was.n > 0)
        json_set_str(a, status, "lastPhaseTransitionTime", time_was);
    if (is_same || (time.n > 0 && !str_eq(time, time_was)))
        return;
    char now[RFC3339_MAX];
    rfc3339_format(clock_wall_ms() / 1000, now);
    json_set_str(a, status, "lastPhaseTransitionTime", str_of(now));
}

static void row_modes(struct kind_row *r, const struct json *modes)
{
    static const char *const names[][2] = { { "ReadWriteOnce", "RWO" },
                                            { "ReadOnlyMany", "ROX" },
                                            { "ReadWriteMany", "RWX" },
                                            { "ReadWriteOncePod", "RWOP" } };
    struct buf b = BUF_INIT(256);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool has = false;
        json_each (m, modes)
            has = has || str_is(json_str(m), names[i][0]);
        if (has)
            (void)buf_printf(&b, "%s%s", b.n ? "," : "", names[i][1]);
    }
    row_str(r, buf_str(&b));
    buf_fini(&b);
}

/* The class was an annotation before it became a field. */
static void row_class(struct kind_row *r)
{
    struct str old = json_str(json_path(r->obj, "metadata", "annotations", CLASS_ANNOTATION, NULL));
    row_str(r, old.n ? old : row_text(r->obj, "spec.storageClassName"));
}

static void row_phase(struct kind_row *r)
{
    row_str(r, meta_is_deleting(r->obj) ? STR("Terminating") : row_text(r->obj, "status.phase"));
}

static void row_mode(struct kind_row *r)
{
    row_or(r, row_text(r->obj, "spec.volumeMode"), "<unset>");
}

/* ------------------------------------------------------------------ PersistentVolume */

static void volume_cells(struct arena *a, const struct json *pv, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, pv, now_s };
    const struct json *claim = json_path(pv, "spec", "claimRef", NULL);
    row_name(&r);
    row_or(&r, row_text(pv, "spec.capacity.storage"), "0");
    row_modes(&r, json_path(pv, "spec", "accessModes", NULL));
    row_str(&r, row_text(pv, "spec.persistentVolumeReclaimPolicy"));
    row_phase(&r);
    if (claim)
        row_printf(&r, STR_FMT "/" STR_FMT, STR_ARG(json_get_str(claim, "namespace")),
                   STR_ARG(json_get_str(claim, "name")));
    else
        row_str(&r, STR(""));
    row_class(&r);
    row_or(&r, row_text(pv, "spec.volumeAttributesClassName"), "<unset>");
    row_str(&r, row_text(pv, "status.reason"));
    row_age(&r);
    row_mode(&r);
}

static const struct kube_column volume_columns[] = {
    COLUMN_NAME,
    COLUMN("Capacity", "string", "How much it holds.", 0, NULL),
    COLUMN("Access Modes", "string", "How it can be mounted.", 0, NULL),
    COLUMN("Reclaim Policy", "string", "What becomes of it when it is released.", 0, NULL),
    COLUMN("Status", "string", "Whether it is bound, available or released.", 0, NULL),
    COLUMN("Claim", "string", "The claim that it is bound to.", 0, NULL),
    COLUMN("StorageClass", "string", "Its class.", 0, NULL),
    COLUMN("VolumeAttributesClass", "string", "Class of its attributes.", 0, NULL),
    COLUMN("Reason", "string", "Why it failed.", 0, NULL),
    COLUMN_AGE,
    COLUMN("VolumeMode", "string", "A file system or a raw device.", 1, NULL),
};

/* ------------------------------------------------------------------ PersistentVolumeClaim */

/* dataSource allows only claims and snapshots; other kinds in it are dropped. */
static bool fills_from(const struct json *source)
{
    struct str group = json_get_str(source, "apiGroup"), kind = json_get_str(source, "kind");
    return (str_is(kind, "PersistentVolumeClaim") && group.n == 0) ||
           (str_is(kind, "VolumeSnapshot") && str_is(group, "snapshot.storage.k8s.io"));
}

/* Keeps dataSource and dataSourceRef consistent. */
static void claim_sources(struct arena *a, struct json *spec, const struct json *old)
{
    if (!json_path(old, "spec", "dataSource", NULL) && !json_getc(spec, "dataSourceRef") &&
        !fills_from(json_getc(spec, "dataSource")))
        (void)json_del(spec, STR("dataSource"));
    const struct json *source = json_getc(spec, "dataSource"),
                      *ref = json_getc(spec, "dataSourceRef");
    if (source && !ref) {
        json_setc(a, spec, "dataSourceRef", json_clone(a, source));
    } else if (ref && !source && json_get_str(ref, "namespace").n == 0) {
        struct json *copy = json_clone(a, ref);
        (void)json_del(copy, STR("namespace"));
        json_setc(a, spec, "dataSource", copy);
    }
}

static void claim_prepare_create(struct arena *a, struct json *pvc)
{
    set_phase(a, pvc);
    claim_sources(a, json_obj(a, pvc, "spec"), NULL);
}

static void claim_prepare_update(struct arena *a, struct json *pvc, const struct json *old)
{
    claim_sources(a, json_obj(a, pvc, "spec"), old);
}

static void claim_cells(struct arena *a, const struct json *pvc, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, pvc, now_s };
    struct str volume = row_text(pvc, "spec.volumeName");
    row_name(&r);
    row_phase(&r);
    row_str(&r, volume);
    if (volume.n) {
        row_or(&r, row_text(pvc, "status.capacity.storage"), "0");
        row_modes(&r, json_path(pvc, "status", "accessModes", NULL));
    } else {
        row_str(&r, STR(""));
        row_str(&r, STR(""));
    }
    row_class(&r);
    row_or(&r, row_text(pvc, "spec.volumeAttributesClassName"), "<unset>");
    row_age(&r);
    row_mode(&r);
}

static const struct kube_column claim_columns[] = {
    COLUMN_NAME,
    COLUMN("Status", "string", "Whether it is bound.", 0, NULL),
    COLUMN("Volume", "string", "The volume that it is bound to.", 0, NULL),
    COLUMN("Capacity", "string", "How much the volume holds.", 0, NULL),
    COLUMN("Access Modes", "string", "How the volume can be mounted.", 0, NULL),
    COLUMN("StorageClass", "string", "The class it asks for.", 0, NULL),
    COLUMN("VolumeAttributesClass", "string", "Class of the volume's attributes.", 0, NULL),
    COLUMN_AGE,
    COLUMN("VolumeMode", "string", "A file system or a raw device.", 1, NULL),
};

/* ------------------------------------------------------------------ rows */

static const struct kube_subresource volume_subresources[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("PersistentVolume") },
};
static const struct kube_subresource claim_subresources[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("PersistentVolumeClaim") },
};

static const struct kube_strategy volume_strategy = { .validate = validate_persistent_volume,
                                                      .prepare_create = volume_prepare_create,
                                                      .prepare_status = volume_prepare_status,
                                                      .returns_deleted = true,
                                                      .unconditional_update = true };
static const struct kube_strategy claim_strategy = { .validate = validate_persistent_volume_claim,
                                                     .prepare_create = claim_prepare_create,
                                                     .prepare_update = claim_prepare_update,
                                                     .returns_deleted = true,
                                                     .unconditional_update = true };

static struct kube_resource rows[] = {
    { .version = S("v1"),
      .kind = S("PersistentVolume"),
      .list_kind = S("PersistentVolumeList"),
      .plural = S("persistentvolumes"),
      .singular = S("persistentvolume"),
      SHORT(S("pv")),
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(volume_subresources),
      .strategy = &volume_strategy,
      COLUMNS(volume_columns),
      .cells = volume_cells },
    { .version = S("v1"),
      .kind = S("PersistentVolumeClaim"),
      .list_kind = S("PersistentVolumeClaimList"),
      .plural = S("persistentvolumeclaims"),
      .singular = S("persistentvolumeclaim"),
      SHORT(S("pvc")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(claim_subresources),
      .strategy = &claim_strategy,
      COLUMNS(claim_columns),
      .cells = claim_cells },
};

const struct kind_list kinds_core_volume = { rows, ARRAY_LEN(rows) };
