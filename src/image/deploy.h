/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deployment on its node: fetches the layers of a BDM (image/bdm.h) into the node store, several
 * at once, then sets the name of the image. Only blobs (enc "gzip"); peers are asked at the url of
 * their source, or push (mode "push").
 *
 * Runs on its own threads; the functions are for the loop. The image gets its name only when all
 * of it is stored; a deployment that fails leaves complete layers.
 *
 * A prefetch BDM only fetches layers, one at a time, with a limited rate, and evicts no layer that
 * images use (layer_cache_prefetches()).
 */
#pragma once

#include "image/bdm.h"
#include "io/loop.h"
#include "io/tls.h"
#include "oci/remote.h"
#include "oci/store.h"

enum {
    IMAGE_DEPLOY_THREADS = 4, /* layers at once */
    IMAGE_DEPLOY_BAD_PEERS_MAX = 16,
};

struct image_deploy;
struct image_inbox;
struct provide_site;

struct image_deploy_opts {
    struct loop *loop;
    struct oci_store *store;       /* a writer; kept until on_end() */
    struct oci_remote_opts remote; /* how registries are reached; texts are kept */
    /* Which registries there may be, and how they are reached, instead; NULL: any; kept. */
    const struct provide_site *site;
    uint64_t prefetch_bps; /* maximum rate of a prefetch BDM, bytes per second */
    struct tls_ctx *tls;   /* for peers by https; NULL: the roots of the system */
    /* Whether the peer is excluded as long as there is another source; NULL: none is. */
    bool (*is_out)(void *arg, struct str node);
    /* Once, from the loop; image_deploy_free() may follow. */
    void (*on_end)(void *arg, struct image_deploy *d, int r);
    void *arg;
};

/*
 * text: a BDM, copied. Errors: those of image_bdm_parse(); E_INVALID, the ranges of a layer do not
 * cover it, or have no source; E_UNSUPPORTED, other encodings; E_DENIED, a registry that the site
 * does not allow.
 */
int image_deploy_start(const struct image_deploy_opts *opts, struct str text,
                       struct image_deploy **ret, struct err *err);
/* Ask it to end early. */
void image_deploy_stop(struct image_deploy *d);
/* After on_end(). */
void image_deploy_free(struct image_deploy *d);

struct str image_deploy_id(const struct image_deploy *d);        /* borrowed */
struct str image_deploy_reference(const struct image_deploy *d); /* borrowed */
/* Receives the pushes of peers; borrowed. NULL: there are none. */
struct image_inbox *image_deploy_inbox(const struct image_deploy *d);
bool image_deploy_is_prefetch(const struct image_deploy *d);
bool image_deploy_has_ended(const struct image_deploy *d);
/* DiffIDs of the layers whose first source is a registry, at most `max`; their number. */
size_t image_deploy_from_registry(const struct image_deploy *d, struct oci_digest *ret, size_t max);
/* After on_end(): received bytes and times. */
struct image_deploy_measured {
    uint64_t peer_bytes, registry_bytes, fetch_ms;
    uint64_t import_bytes, import_ms; /* import_ms: of all threads together */
};
void image_deploy_measured(const struct image_deploy *d, struct image_deploy_measured *ret);
/* Peers that sent wrong bytes, borrowed; their number. */
size_t image_deploy_bad_peers(struct image_deploy *d, struct str ret[IMAGE_DEPLOY_BAD_PEERS_MAX]);
/*
 * {"deploy", "state": "running"|"done"|"failed", "layers", "layersDone", "layersPresent",
 *  "peerBytes", "pushedBytes" (of those), "registryBytes", "liars": [NODE], "error"}
 */
void image_deploy_status(struct image_deploy *d, struct buf *to);
/* Why it failed; code 0: it has not. */
void image_deploy_error(struct image_deploy *d, struct err *ret);
