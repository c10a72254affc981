/* SPDX-License-Identifier: Apache-2.0 */
/* What volumes and claims have in common, and in-tree volumes from before CSI. */
#pragma once

#include "kube/model/quantity.h"
#include "sched/object/match.h"

enum sched_access_mode { /* bits */
                         SCHED_READ_WRITE_ONCE = 1 << 0,
                         SCHED_READ_ONLY_MANY = 1 << 1,
                         SCHED_READ_WRITE_MANY = 1 << 2,
                         SCHED_READ_WRITE_ONCE_POD = 1 << 3,
};
/* An unknown mode is an error at `path`. */
int sched_access_modes_read(const struct json *modes, const char *path, unsigned *ret,
                            struct err *err);
/* metadata.annotations[key]; NULL if absent. */
const struct json *sched_annotation(const struct json *object, const char *key);
/*
 * The class from the beta annotation, else from `spec`'s storageClassName; "" if both are absent.
 */
struct str sched_storage_class_name(const struct json *object);
/* *ret_has: false if absent. Errors: E_INVALID with `path`. */
int sched_quantity_read(const struct json *q, const char *path, bool *ret_has, struct quantity *ret,
                        struct err *err);

/*
 * Kinds of volumes that were part of Kubernetes before CSI drivers replaced them: field in a
 * volume's source, name of the plugin, name of the driver, label with the zone on the driver's
 * nodes ("": none), and whether the scheduler counts and places them as the driver's. Upstream:
 * csi-translation-lib, and isCSIMigrationOn of the plugins.
 */
#define SCHED_IN_TREE(X)                                                                           \
    X(AWS, "awsElasticBlockStore", "kubernetes.io/aws-ebs", "ebs.csi.aws.com",                     \
      "topology.ebs.csi.aws.com/zone", true)                                                       \
    X(GCE, "gcePersistentDisk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io",                   \
      "topology.gke.io/zone", true)                                                                \
    X(AZURE_DISK, "azureDisk", "kubernetes.io/azure-disk", "disk.csi.azure.com", "", true)         \
    X(CINDER, "cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org",                        \
      "topology.cinder.csi.openstack.org/zone", true)                                              \
    X(PORTWORX, "portworxVolume", "kubernetes.io/portworx-volume", "pxd.portworx.com", "", true)   \
    X(AZURE_FILE, "azureFile", "kubernetes.io/azure-file", "file.csi.azure.com", "", false)        \
    X(VSPHERE, "vsphereVolume", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "", false)
enum sched_in_tree {
    SCHED_IN_TREE_NONE,
#define SCHED_IN_TREE_ENUM(id, field, plugin, driver, zone, on) SCHED_IN_TREE_##id,
    SCHED_IN_TREE(SCHED_IN_TREE_ENUM)
#undef SCHED_IN_TREE_ENUM
        SCHED_IN_TREE_COUNT
};
struct sched_in_tree_kind {
    const char *field, *plugin, *driver, *zone_key;
    bool is_migrated;
};
extern const struct sched_in_tree_kind sched_in_tree_kinds[SCHED_IN_TREE_COUNT];
/* By the name of the plugin; NONE if it is not one of these. */
enum sched_in_tree sched_in_tree_of(struct str plugin);
/*
 * The handle by which the driver identifies a volume that `id` names (disk name, volume id, URI).
 * zones: the zone label of the volume ("a__b"); "" for volumes in a pod. kind: Azure's. Errors:
 * E_INVALID with upstream's text.
 */
int sched_in_tree_handle(enum sched_in_tree tree, struct str id, struct str zones, struct str kind,
                         struct buf *out, struct err *err);
