/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that a Pod or a PersistentVolume refers to, as upstream counts them for the rights of
 * a node. Pure; the objects need not be valid. Names are borrowed from the object unless said
 * otherwise.
 */
#pragma once

#include "codec/json.h"

enum pod_reference {
    POD_ACCOUNT = 'a',        /* from spec.serviceAccountName */
    POD_CONFIG_MAP = 'c',     /* from volumes and environments */
    POD_CLAIM = 'p',          /* PersistentVolumeClaims, those of ephemeral volumes included */
    POD_RESOURCE_CLAIM = 'r', /* those that exist: spec.resourceClaims, with the names in status */
    POD_SECRET = 's'          /* from volumes, environments and image pulls */
};

/*
 * Call fn for each reference; all are in the namespace of the pod. A reference made several times
 * is reported several times. Empty names are left out. Composed names live in the arena.
 */
typedef void (*pod_reference_fn)(void *arg, enum pod_reference what, struct str name);
void kind_pod_references(struct arena *a, const struct json *pod, pod_reference_fn fn, void *arg);

/* A mirror pod: a node made it to represent a static pod that it runs. */
bool kind_pod_is_mirror(const struct json *pod);
/* Name of the claim for an ephemeral volume: "<pod>-<volume>", in the arena. */
struct str kind_pod_ephemeral_claim(struct arena *a, const struct json *pod,
                                    const struct json *volume);

/*
 * A resource that the pod depends on, in upstream's words: "secrets (via projected volumes)"; NULL:
 * none. *ret_unknown: set to upstream's error if the pod has a volume of an unknown type; then the
 * result is NULL. Lives in the arena.
 */
const char *kind_pod_api_reference(struct arena *a, const struct json *pod,
                                   const char **ret_unknown);

/* Call fn for each Secret that a node reads to mount the volume. */
typedef void (*volume_secret_fn)(void *arg, struct str ns, struct str name);
void kind_volume_secrets(const struct json *volume, volume_secret_fn fn, void *arg);

/*
 * The CSI driver of a PersistentVolume's spec or of an entry of a pod's spec.volumes, also for
 * types that upstream migrates to a driver. "": none.
 */
struct str kind_volume_csi_driver(const struct json *source);
