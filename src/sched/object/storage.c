/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/storage.h"

int sched_access_modes_read(const struct json *modes, const char *path, unsigned *ret,
                            struct err *err)
{
    static const char *const names[] = { "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
                                         "ReadWriteOncePod" };
    unsigned bits = 0;
    json_each (mode, modes) {
        size_t i = 0;
        while (i < ARRAY_LEN(names) && !str_is(json_str(mode), names[i]))
            i++;
        if (i == ARRAY_LEN(names))
            return err_set(err, E_INVALID, "%s: '" STR_FMT "' is no access mode", path,
                           STR_ARG(json_str(mode)));
        bits |= 1u << i;
    }
    *ret = bits;
    return 0;
}

const struct json *sched_annotation(const struct json *object, const char *key)
{
    return json_getc(json_path(object, "metadata", "annotations", NULL), key);
}

struct str sched_storage_class_name(const struct json *object)
{
    const struct json *beta = sched_annotation(object, "volume.beta.kubernetes.io/storage-class");
    return beta ? json_str(beta) : json_str(json_path(object, "spec", "storageClassName", NULL));
}

int sched_quantity_read(const struct json *q, const char *path, bool *ret_has, struct quantity *ret,
                        struct err *err)
{
    if (!q || q->type == JSON_NULL) {
        *ret_has = false;
        *ret = (struct quantity){ 0 };
        return 0;
    }
    struct quantity value;
    if (q->type != JSON_STRING && q->type != JSON_NUMBER)
        return err_set(err, E_INVALID, "%s: not a quantity", path);
    int r = quantity_parse(q->s, &value, err);
    if (r < 0)
        return err_ctx(err, E_INVALID, "%s", path);
    *ret_has = true;
    *ret = value;
    return 0;
}

const struct sched_in_tree_kind sched_in_tree_kinds[SCHED_IN_TREE_COUNT] = {
#define SCHED_IN_TREE_ROW(id, field, plugin, driver, zone, on)                                     \
    [SCHED_IN_TREE_##id] = { field, plugin, driver, zone, on },
    SCHED_IN_TREE(SCHED_IN_TREE_ROW)
#undef SCHED_IN_TREE_ROW
};

enum sched_in_tree sched_in_tree_of(struct str plugin)
{
    for (int i = SCHED_IN_TREE_NONE + 1; i < SCHED_IN_TREE_COUNT; i++) {
        if (str_is(plugin, sched_in_tree_kinds[i].plugin))
            return (enum sched_in_tree)i;
    }
    return SCHED_IN_TREE_NONE;
}

/* "vol-1", "aws:///vol-1" and "aws://zone/vol-1" name the same volume. */
static int aws_handle(struct str id, struct buf *out, struct err *err)
{
    struct str prefix = STR("aws://"), volume = id;
    if (str_has_prefix(id, prefix)) {
        volume = str_slice(id, prefix.n, id.n);
        ptrdiff_t slash = str_find_char(volume, '/');
        volume = slash < 0 ? STR("") : str_slice(volume, (size_t)slash, volume.n);
        while (str_has_prefix(volume, STR("/")))
            volume = str_slice(volume, 1, volume.n);
        while (str_has_suffix(volume, STR("/")))
            volume.n--;
        if (!str_has_prefix(volume, STR("vol-")) || str_find_char(volume, '/') >= 0)
            return err_set(err, E_INVALID,
                           "failed to translate Kubernetes ID to EBS Volume ID Invalid format for "
                           "AWS volume (" STR_FMT ")",
                           STR_ARG(id));
    }
    return buf_add_str(out, volume);
}

/* "us-central1" for "us-central1-a"; "" if the zone has another form. */
static struct str gce_region(struct str zone)
{
    ptrdiff_t first = str_find_char(zone, '-');
    if (first < 0)
        return STR("");
    struct str rest = str_slice(zone, (size_t)first + 1, zone.n);
    ptrdiff_t second = str_find_char(rest, '-');
    if (second < 0 || str_find_char(str_slice(rest, (size_t)second + 1, rest.n), '-') >= 0)
        return STR("");
    return str_slice(zone, 0, (size_t)(first + 1 + second));
}

static int gce_regional(struct str id, struct str zones, struct buf *out, struct err *err)
{
    struct str region = STR("");
    bool has_more = true;
    while (has_more) {
        ptrdiff_t at = str_find(zones, STR("__"));
        struct str zone = at < 0 ? zones : str_slice(zones, 0, (size_t)at);
        struct str of_zone = gce_region(zone);
        if (of_zone.n == 0)
            return err_set(err, E_INVALID,
                           "failed to get region from zones: zone in unexpected format, expected: "
                           "{locale}-{region}-{zone}, got: " STR_FMT,
                           STR_ARG(zone));
        if (region.n > 0 && !str_eq(region, of_zone))
            return err_set(err, E_INVALID,
                           "failed to get region from zones: multiple or no regions gotten from "
                           "zones, got: map[" STR_FMT ":{} " STR_FMT ":{}]",
                           STR_ARG(region), STR_ARG(of_zone));
        region = of_zone;
        has_more = at >= 0;
        if (has_more)
            zones = str_slice(zones, (size_t)at + 2, zones.n);
    }
    return buf_printf(out, "projects/UNSPECIFIED/regions/" STR_FMT "/disks/" STR_FMT,
                      STR_ARG(region), STR_ARG(id));
}

int sched_in_tree_handle(enum sched_in_tree tree, struct str id, struct str zones, struct str kind,
                         struct buf *out, struct err *err)
{
    switch (tree) {
    case SCHED_IN_TREE_AWS:
        return aws_handle(id, out, err);
    case SCHED_IN_TREE_GCE:
        if (str_find(zones, STR("__")) >= 0)
            return gce_regional(id, zones, out, err);
        return buf_printf(out, "projects/UNSPECIFIED/zones/" STR_FMT "/disks/" STR_FMT,
                          STR_ARG(zones.n > 0 ? zones : STR("UNSPECIFIED")), STR_ARG(id));
    case SCHED_IN_TREE_AZURE_DISK:
        if (kind.n > 0 && !str_ieq(kind, STR("Managed")))
            return err_set(err, E_INVALID, "kind(" STR_FMT ") is not supported in csi migration",
                           STR_ARG(kind));
        return buf_add_str(out, id);
    case SCHED_IN_TREE_CINDER:
    case SCHED_IN_TREE_PORTWORX:
        return buf_add_str(out, id);
    case SCHED_IN_TREE_AZURE_FILE:
    case SCHED_IN_TREE_VSPHERE:
    case SCHED_IN_TREE_NONE:
    case SCHED_IN_TREE_COUNT:
        break;
    }
    return err_set(err, E_INVALID, "not migrated");
}
