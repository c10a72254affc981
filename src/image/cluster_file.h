/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that describes an image, the nodes of a cluster and the current transfers, for planning
 * transfers without a cluster (`dormouse image plan`):
 *
 *     {"layers": [{"name": "base", "bytes": 30000000, "urgent": true}],
 *      "registryMbit": 100, "downlinkMbit": 1000, "unpackMBPerSecond": 100,
 *      "registryRttMilliseconds": 50, "peerRttMilliseconds": 15,
 *      "nodes": [{"name": "n1", "layers": ["base"], "uplinkMbit": 500, "freeSlots": 3,
 *                 "silentSeconds": 2, "queuedBytes": 0}],
 *      "transfers": [{"layer": "base", "to": "n1", "from": "n2", "leftMilliseconds": 800}]}
 *
 * To send the plan, the file also needs
 *
 *     "image": {"reference": "redis:7", "manifest": DIGEST, "config": DIGEST},
 *     of each layer "digest" and "diffID", of nodes "url" ("https://10.0.0.2:5000")
 *
 * and may have "tarBytes" of layers.
 *
 * Defaults: uplinkMbit 0 (unknown: not a source), freeSlots 3, the other numbers 0 (registryMbit:
 * no registry; downlinkMbit: no limit; unpackMBPerSecond: takes no time), "from" the registry.
 * Unknown members are refused: a misspelt one would change the plan unnoticed.
 */
#pragma once

#include "codec/json.h"
#include "image/orchestrate.h"
#include "oci/image.h"

enum {
    IMAGE_CLUSTER_FILE_MAX_BYTES = 16 << 20,
    IMAGE_CLUSTER_NODES_MAX = 10000,
    IMAGE_CLUSTER_TRANSFERS_MAX = 100000,
};

struct image_cluster_blob {
    bool is_known;
    struct oci_digest blob, diff;
    uint64_t tar_bytes; /* 0: not stated */
};

/* Of a node of a deployment, as in struct image_orchestrate. */
struct image_cluster_rates {
    int64_t registry_bps, downlink_bps, unpack_bytes_per_second;
    int64_t registry_rtt_us, peer_rtt_us;
};

struct image_cluster_file {
    struct image_orchestrate o;              /* `node` is 0 */
    const struct image_cluster_rates *rates; /* of nodes; NULL: all have those in `o` */
    const struct str *layer_names, *node_names;
    bool has_image;
    struct str reference;
    struct oci_digest manifest, config;
    struct str manifest_text, config_text;  /* empty: not known */
    const struct image_cluster_blob *blobs; /* of layers */
    const struct str *node_urls;            /* empty: not stated */
};
/* Everything is in the arena or in `text`. Errors: E_PARSE, E_INVALID with the path, E_LIMIT. */
int image_cluster_file_read(struct arena *a, struct str text, struct image_cluster_file *ret,
                            struct err *err);
/* Set file->o for a deployment on this node. */
void image_cluster_file_deploy_on(struct image_cluster_file *file, uint32_t node);
