/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that a Pod or a PersistentVolume refers to, as upstream counts them for the rights of
 * a node. Pure; the objects need not be valid. Names are borrowed from the object unless said
 * otherwise.
 */
#pragma once

#include "codec/json.h"

enum pod_reference {
    POD_ACCOUNT = 'a',        /* spec.serviceAccountName */
    POD_CONFIG_MAP = 'c',     /* of volumes and environments */
    POD_CLAIM = 'p',          /* PersistentVolumeClaims, those of ephemeral volumes included */
    POD_RESOURCE_CLAIM = 'r', /* those that exist: spec.resourceClaims, with the names in status */
    POD_SECRET = 's'          /* of volumes, environments and image pulls */
};

/*
 * Call fn for each reference; all are in the namespace of the pod. One that is made several times
 * is reported several times. A name that the pod leaves empty is left out. Composed names live in
 * the arena.
 */
typedef void (*pod_reference_fn)(void *arg, enum pod_reference what, struct str name);
void kind_pod_references(struct arena *a, const struct json *pod, pod_reference_fn fn, void *arg);

/* Made by a node to show a pod that it runs by a local file. */
bool kind_pod_is_mirror(const struct json *pod);
/* The claim that an ephemeral volume stands for: "<pod>-<volume>", in the arena. */
struct str kind_pod_ephemeral_claim(struct arena *a, const struct json *pod,
                                    const struct json *volume);

/*
 * The resource that a pod cannot be run without, in upstream's words: "secrets (via projected
 * volumes)"; NULL: it needs none. *ret_unknown: set to upstream's error if the pod has a volume of
 * an unknown type; then the result is NULL. Lives in the arena.
 */
const char *kind_pod_api_reference(struct arena *a, const struct json *pod,
                                   const char **ret_unknown);

/* Call fn for each Secret that a node reads to mount the volume. */
typedef void (*volume_secret_fn)(void *arg, struct str ns, struct str name);
void kind_volume_secrets(const struct json *volume, volume_secret_fn fn, void *arg);

/*
 * The CSI driver of a PersistentVolume's spec or of an entry of a pod's spec.volumes, also of types
 * that upstream hands over to a driver. "": none.
 */
struct str kind_volume_csi_driver(const struct json *source);
