/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BDM, the BREAK deployment manifest: the instructions of the master for the nodes of a deployment.
 * JSON, one document for each receiver; the node of the deployment gets all tasks, a peer only its
 * own. docs/internals/image.md describes the layout.
 *
 * A token allows one source to send one blob of one deployment to one node until it expires. It is
 * an HMAC-SHA256 with a key that the nodes of a cluster share, so that only they can push data to a
 * node. The received data is always compared with its digest.
 *
 * Pure; parsed strings live in the arena or in the text. Any thread.
 */
#pragma once

#include "codec/json.h"
#include "oci/image.h"

enum {
    IMAGE_BDM_VERSION = 1,
    IMAGE_BDM_MAX_BYTES = 4 << 20,
    IMAGE_BDM_TASKS_MAX = 1024,
    IMAGE_BDM_ALTERNATIVES_MAX = 3,
    IMAGE_BDM_NAME_MAX = 255,  /* of a node and of a repository */
    IMAGE_BDM_TEXT_MAX = 2048, /* of a reference and of a URL */
    IMAGE_BDM_DEADLINE_MAX_MS = 24 * 3600 * 1000,
    IMAGE_BDM_KEY_MIN_BYTES = 32,
    IMAGE_BDM_SLACK_S = 300, /* maximum difference between clocks of nodes */
};
#define IMAGE_BDM_SIZE_MAX ((uint64_t)1 << 50)

enum image_bdm_encoding {
    IMAGE_BDM_GZIP, /* the blob as in the registry */
    IMAGE_BDM_ZSTD, /* of the DiffID; only between nodes */
    IMAGE_BDM_RAW,  /* the same, not compressed */
    IMAGE_BDM_ENCODINGS
};

struct image_bdm_source {
    bool is_registry;
    struct str name;  /* of the node; of the repository in the registry */
    struct str token; /* a peer's; empty: none */
    struct str url;   /* of a peer, http or https; empty: it cannot be asked */
};

struct image_bdm_task {
    uint32_t id; /* of the document, from 1 */
    struct oci_digest blob, diff;
    uint64_t size, raw_size;
    enum image_bdm_encoding encoding;
    uint64_t from, to; /* of `size` bytes, or of `raw_size` if the encoding is raw */
    uint32_t priority; /* 0 first */
    uint64_t expect_ms;
    /* The source must fetch the layer itself first; it may be asked after that. */
    bool is_after;
    bool is_push; /* the source, a peer, sends it to the node of the deployment without request */
    struct image_bdm_source source;
    struct image_bdm_source alternatives[IMAGE_BDM_ALTERNATIVES_MAX]; /* in order */
    uint32_t n_alternatives;
};

struct image_bdm {
    struct str deploy; /* UUID, lower case */
    uint64_t epoch;    /* of the master's view of caches */
    struct str reference;
    struct oci_digest manifest, config;
    struct str node, url; /* of the deployment; url: http or https */
    uint64_t deadline_ms; /* from now */
    bool is_prefetch;     /* the layers were not requested yet; the image gets no name */
    struct image_bdm_task *tasks;
    size_t n_tasks;
};

/*
 * Append the document. receiver: a node that only gets the tasks that it must push, without
 * alternatives; empty: all tasks.
 */
void image_bdm_write(const struct image_bdm *b, struct str receiver, struct buf *to);
/*
 * Read one. All values are within the limits above and consistent: ranges are in their layers, task
 * ids are unique. Unknown members are ignored. Tokens are not checked.
 * Errors: E_PARSE, E_INVALID what and where, E_VERSION, E_LIMIT.
 */
int image_bdm_parse(struct arena *a, struct str text, struct image_bdm *ret, struct err *err);

/* ---- tokens ---- */

struct image_bdm_grant {
    struct str deploy, source, node; /* source: the peer; node: of the deployment */
    struct oci_digest blob;
};
enum { IMAGE_BDM_TOKEN_SIZE = 96 }; /* with its NUL */

/* key: at least IMAGE_BDM_KEY_MIN_BYTES. The token is valid from wall_s until wall_s + seconds. */
void image_bdm_token(struct str key, const struct image_bdm_grant *g, int64_t wall_s,
                     uint32_t seconds, char ret[IMAGE_BDM_TOKEN_SIZE]);
/*
 * E_DENIED: it was made with another key or for another grant, it has expired, or it becomes valid
 * more than IMAGE_BDM_SLACK_S from now.
 */
int image_bdm_token_check(struct str key, const struct image_bdm_grant *g, struct str token,
                          int64_t wall_s, struct err *err);
