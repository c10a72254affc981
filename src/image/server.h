/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of an image store: a read-only registry (OCI distribution-spec 1.1, "Pull") over HTTP,
 * so that unmodified clients pull what this node has. Blobs are sent from files in pieces, never
 * held as a whole. What the store lacks it may fetch from registries that were named
 * (pull-through); requests for the same image share one pull and wait for the part that they need.
 *
 * As a node of a cluster it also speaks (paths and tokens: docs/internals/image-transfer.md)
 *
 *     POST /v1/bdm?digest=<digest>  a deployment to carry out
 *     PUT  /v1/meta/<digest>        a document of an image
 *     POST /v1/images/replaced?digest=<digest>   news of an image (image/news.h)
 *     GET  /v1/deploys/<UUID>       how far it is
 *     GET  /v1/cache                what is here
 *     GET  /v1/layers/<digest>?deploy=UUID&node=NAME   a layer for another node
 *     PUT  /v1/layers/<digest>?deploy=UUID&node=NAME&off=N   that node pushes a layer
 *     GET  /v1/probe?node=NAME[&bytes=N], POST         another node measures the way to this one
 *
 * One loop; files are read by the loop's worker threads, pulls run on threads of their own.
 */
#pragma once

#include "base/list.h"
#include "client/transport.h"
#include "image/bdm.h"
#include "image/mirror_store.h"
#include "io/http.h"
#include "io/loop.h"
#include "oci/reference.h"
#include "oci/remote.h"

enum {
    IMAGE_SERVER_REQUESTS_MAX = 512, /* at once, waiting ones included: 503 beyond */
    IMAGE_SERVER_CONNECTIONS_MAX = 1024,
    IMAGE_SERVER_PIECE_BYTES = 128 << 10, /* of a blob in memory, for each request */
    IMAGE_SERVER_UPSTREAMS_MAX = 16,
    IMAGE_SERVER_PULLS_MAX = 4,          /* at once; further ones wait */
    IMAGE_SERVER_PULLS_WAITING_MAX = 64, /* 503 beyond */
    IMAGE_SERVER_POSTINGS_MAX = 32,      /* bodies of 4 MiB, reports: 503 beyond */
    /* Trees and parcels of files that are made at once, each of which takes up to three times
     * OCI_PARCEL_BYTES_MAX. Further requests wait, since in a rollout many nodes ask at once and
     * mostly for the same: 503 beyond. */
    IMAGE_SERVER_PACKING_MAX = 2,
    IMAGE_SERVER_PACKING_WAITING_MAX = 64,
    IMAGE_SERVER_ASKING_MAX = 32, /* requests for files, of 1 MiB, being received: 503 beyond */
    IMAGE_SERVER_ANSWERS_BYTES_MAX = 512 << 20, /* that are sent: no more are made beyond */
    IMAGE_SERVER_UPLOADS = 3, /* to other nodes, at once: 503 beyond, they ask again */
    IMAGE_SERVER_PREFETCH_BPS = 100000000 / 8, /* a link that was not measured, bytes per second */
    IMAGE_SERVER_DEPLOYS_MAX = 16,             /* at once: 503 beyond */
    IMAGE_SERVER_DEPLOYS_KEPT = 64,            /* ended ones whose outcome can be asked for */
    IMAGE_SERVER_PARCELS_MAX = 1024,           /* ranges to push to other nodes: 503 beyond */
    IMAGE_SERVER_STRIKES = 3, /* wrong bytes so often, and a peer is not asked for a while */
    IMAGE_SERVER_OUT_MS = 10 * 60 * 1000,
    IMAGE_SERVER_TAG_MS = 60000, /* a tag is compared with the registry's after that */
    /* The NodeImageState: after a change, between two writings at least, without a change. */
    IMAGE_SERVER_STATE_QUIET_MS = 200,
    IMAGE_SERVER_STATE_INCOMING_MS = 1000, /* a deployment that takes this long is reported */
    IMAGE_SERVER_STATE_GAP_MS = 2000,
    IMAGE_SERVER_STATE_BEAT_MS = 20000,
    /* Other nodes that are measured; between two rounds at least; bytes for all that measure this
     * one, in so long. */
    IMAGE_SERVER_PEERS_MAX = 16,
    IMAGE_SERVER_PROBE_GAP_MS = 10000,
    IMAGE_SERVER_PROBE_WINDOW_MS = 60000,
    IMAGE_SERVER_PROBE_BYTES = 8 << 20,
};

struct provide_site;

struct image_server_opts {
    struct loop *loop;
    const char *host; /* as http_server_opts */
    uint16_t port;
    struct tls_ctx *tls;     /* kept until done(); NULL: plain */
    struct oci_store *store; /* kept until done(); a writer with upstreams */
    /*
     * What clients show, as a bearer token or as a password with any user; copied. NULL: nothing is
     * asked of them.
     */
    const char *token;
    /*
     * Hosts of registries, "docker.io", "127.0.0.1:5000", that missing images are pulled from. A
     * request without `ns` means the first of them, unless its name begins with another. Copied.
     */
    const char *const *upstreams;
    size_t n_upstreams;
    struct oci_remote_opts registry; /* how they are reached; texts are kept */
    /* Registries that a BDM may name, and how they are reached (image/provide.h); NULL: any, by
     * `registry`; kept. */
    const struct provide_site *site;
    struct oci_platform platform; /* of images for several; texts are kept */
    /*
     * As a node of a cluster: its name, and the key that all nodes share, IMAGE_BDM_KEY_MIN_BYTES
     * at least; copied. Then BDMs are carried out, and other nodes get layers for their tokens.
     * NULL: no node. The store has to be a writer.
     */
    const char *node, *cluster_key;
    struct tls_ctx *peers; /* for other nodes by https, kept; NULL: the roots of the system */
    /*
     * As a node: its NodeImageState is written there, with the transport's own credentials; kept
     * until done(). NULL: nowhere. url: where others reach this server, for that state; copied.
     */
    struct transport *api;
    const struct kube_identity *identity; /* instead of those credentials, kept; NULL: none */
    const char *url;
    const char *url_host; /* url NULL: the host in it, instead of `host`; copied */
    /*
     * With api: other nodes whose round trips are measured, besides those that BDMs name, and the
     * registry that was used last, at first the first of upstreams; copied.
     * probe_ms: every so long; 0: only after something happened here (a deployment, pull, upload).
     */
    const char *const *peer_names, *const *peer_urls;
    size_t n_peers;
    uint64_t probe_ms;
    /*
     * As a node, with a quota and upstreams or not: BDMs that are prefetches are carried out while
     * nothing else is, within IMAGE_PREFETCH_BUDGET_PERCENT of the quota. Else they are refused.
     */
    bool prefetches;
    uint64_t scrub_bytes_per_day; /* that are read to find what has rotted; 0: none */
};

/*
 * The grant of a token (image/bdm.h) that an orchestrator shows to `node`: `what` is "bdm", "meta",
 * "cache", "replaced" or the UUID of a deployment; digest: of the body (zeroed without one).
 */
struct image_bdm_grant image_server_grant(const char *what, const char *node,
                                          const struct oci_digest *digest);

struct image_server;

/*
 * A user of an image that waits for deployments of it, so that it does not pull what a plan brings.
 * The caller's memory; zeroed before the start.
 */
struct image_server_await {
    struct list node; /* of the server, until done() is due */
    struct loop *loop;
    struct timer timer;
    struct oci_reference ref;
    /* Once, never within a call: no deployment of the image is under way any more, or none has
     * begun in time, or the server is closing. */
    void (*done)(struct image_server_await *w);
};
/* A deployment that has ended within this time counts as the one that is waited for. */
enum { IMAGE_SERVER_AWAIT_RECENT_MS = 15000 };

/* begin_ms: how long a deployment may take to begin. Errors: those of oci_reference_parse(). */
int image_server_await(struct image_server *s, struct image_server_await *w, struct str reference,
                       uint64_t begin_ms, struct err *err);
/* done() does not run any more. */
void image_server_await_cancel(struct image_server_await *w);

/* Something other than the server has added layers to the store, or removed some. */
void image_server_store_changed(struct image_server *s);

/* Errors: of listening. */
int image_server_start(const struct image_server_opts *opts, struct image_server **ret,
                       struct err *err);
uint16_t image_server_port(const struct image_server *s);
/*
 * Accept no more, finish what runs up to grace_ms, then cut; done() when all is released. Pulls
 * under way are waited for.
 */
void image_server_close(struct image_server *s, uint64_t grace_ms, void (*done)(void *arg),
                        void *arg);
