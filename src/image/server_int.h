/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the image server share: server.c (requests, answers), server_pull.c
 * (pull-through). */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "codec/url.h"
#include "image/closing.h"
#include "image/node_state.h"
#include "image/prefetch.h"
#include "image/server.h"

struct image_deploy;
struct image_inbox;
struct image_pull;

struct image_server {
    struct image_server_opts opts;
    struct loop *loop;
    struct http_server *http;
    struct mirror *mirror;
    char *token;
    char *upstreams[IMAGE_SERVER_UPSTREAMS_MAX];
    struct list requests; /* struct image_server_serving */
    size_t n_requests;
    struct list pulls; /* struct image_pull: running and waiting */
    size_t n_pulls, n_running;
    struct map checked;       /* name with a tag -> when it was compared with the registry's */
    struct timer sweep;       /* armed while the mirror holds files open */
    char *node, *cluster_key; /* NULL: no node */
    char boot[37];            /* of this process */
    uint64_t seq;             /* of changes of the store */
    struct list deploys;      /* struct node_deploy, those that ended last at the end */
    size_t n_deploys, n_deploying;
    struct list awaiting;       /* struct image_server_await */
    struct list boxes, parcels; /* struct outbox_box, struct server_outbox_parcel: to be pushed */
    size_t n_boxes, n_parcels;
    uint64_t n_pushed, n_unpushed; /* parcels that were sent; that were given up */
    struct tls_ctx *push_tls;      /* made where opts.peers is NULL and a node has https */
    struct map strikes;            /* name of a node -> struct node_strikes */
    struct list postings;          /* struct posting */
    size_t n_uploads, n_postings, n_packing, n_asking;
    struct list packing; /* struct image_server_serving: those that wait for it */
    size_t n_packing_waiting;
    uint64_t n_answer_bytes; /* of trees and files that are being sent */
    char *url;
    struct node_state_rates rates;
    struct image_server_state *state;   /* NULL: it is not written */
    struct image_server_prober *prober; /* NULL: nothing is probed */
    struct image_prefetch_review judge;
    uint64_t n_prefetches, n_prefetches_refused;
    struct scrub *scrub; /* NULL: nothing is looked through */
    uint64_t n_served, n_bytes, n_missing, n_pulled, n_failed;
    struct image_closing closing;
};

/*
 * The turn of a request for trees or files, whose answer is packed. Clients that send slowly have
 * no turn, and few answers are packed at once.
 *
 *     NONE --> RECEIVING --whole--> QUEUED --> PACKING --answer--> OVER
 */
enum image_server_turn {
    IMAGE_SERVER_TURN_NONE,
    IMAGE_SERVER_TURN_RECEIVING, /* its body; counted in n_asking */
    IMAGE_SERVER_TURN_QUEUED,    /* counted in n_packing_waiting */
    IMAGE_SERVER_TURN_PACKING,   /* counted in n_packing */
    IMAGE_SERVER_TURN_OVER,
};

/*
 * A request until its answer is complete. A job runs in FINDING, FINDING_AGAIN and READING.
 *
 *     NEW            --> FINDING
 *     FINDING        --> DECIDING; FINDING_AGAIN when there is news of the pull
 *     FINDING_AGAIN  --> DECIDING
 *     DECIDING       --> FINDING (again, or by another name), WAITING, READING, FULL
 *     WAITING        --> FINDING
 *     READING        --> DECIDING
 *     FULL           --> READING
 *     all except WAITING and FINDING_AGAIN --> ANSWERED
 */
enum image_server_serving_at {
    IMAGE_SERVER_SERVING_NEW, /* its body arrives, or it waits for its turn to be packed */
    IMAGE_SERVER_SERVING_FINDING,
    IMAGE_SERVER_SERVING_FINDING_AGAIN, /* the same; another lookup follows */
    IMAGE_SERVER_SERVING_DECIDING,      /* the job has ended; left in the same turn of the loop */
    IMAGE_SERVER_SERVING_WAITING,       /* for a pull */
    IMAGE_SERVER_SERVING_READING,       /* the next piece of the answer */
    IMAGE_SERVER_SERVING_FULL,          /* the client takes no more just now */
    IMAGE_SERVER_SERVING_ANSWERED       /* completely, or the answer was cut */
};

/* Pulls that a request has waited for, or has begun to. */
enum image_server_serving_pulls {
    IMAGE_SERVER_PULLS_NONE,
    IMAGE_SERVER_PULLS_OTHER, /* of another tag, for a manifest by digest; its own may follow */
    IMAGE_SERVER_PULLS_OWN
};

struct image_server_serving {
    struct list node;
    struct image_server *s;
    struct http_exchange *x; /* NULL: the client has disconnected */
    struct mirror_request q;
    bool is_head, accepts_index;
    struct sm turn;      /* enum image_server_turn */
    struct list packing; /* of the server, while it is QUEUED */
    uint64_t n_answer;   /* its bytes */
    struct buf body;     /* of a request for files */
    bool is_upload;      /* to another node, which showed a token for it */
    char *range, *if_range, *if_none_match;
    struct job job;
    struct sm sm;            /* enum image_server_serving_at */
    struct sm pulls;         /* enum image_server_serving_pulls */
    struct image_pull *pull; /* that it waits for; NULL: none */
    struct list waiting;     /* of the pull */
    int r;                   /* of the job */
    int pull_r;              /* of the pull that it waited for, if that failed */
    struct err err;
    struct mirror_found found;
    bool is_held; /* the layer of what is found; it is not evicted meanwhile */
    struct oci_digest held;
    uint64_t at, to;               /* of the blob */
    struct mirror_ranges *several; /* NULL: that is all of it */
    size_t range_i;                /* the one that is sent */
    char boundary[37];
    uint64_t from, started_ms; /* of what is sent of it */
    char *piece;
    size_t piece_n;
};

/* The only function that changes the state. */
void image_server_serving_move(struct image_server_serving *g, enum image_server_serving_at to);
void image_server_find(struct image_server_serving *g);
/* Answer with an error in the words of registries. */
void image_server_refuse(struct image_server_serving *g, int status, const char *code,
                         const char *message);
void image_server_finish_close(struct image_server *s);

/* q: what is asked for. */
void image_server_serve(struct image_server *s, struct http_exchange *x,
                        const struct http_request *req, const struct mirror_request *q,
                        bool is_upload);
void image_server_reply_error(struct http_exchange *x, int status, const char *code,
                              const char *message);
void image_server_reply_metrics(struct image_server *s, struct http_exchange *x);

/* ---- as a node ---- */

/* Whether it was a request to the node; it is answered then, or will be. */
bool image_server_node_request(struct image_server *s, struct http_exchange *x,
                               const struct http_request *req);
void image_server_node_close(struct image_server *s);
void image_server_node_fini(struct image_server *s);

/* ---- users of images that wait for deployments ---- */

/* A deployment of the image: it runs, or it has ended `ended_ms` ago. UINT64_MAX: there is none. */
bool image_server_deploys(const struct image_server *s, const struct oci_reference *ref,
                          uint64_t *ret_ended_ms);
/* A deployment of the image has begun; has ended. */
void image_server_await_begun(struct image_server *s, struct str reference);
void image_server_await_ended(struct image_server *s, struct str reference);
void image_server_await_close(struct image_server *s);

/* DiffIDs of what deployments fetch from registries, `max` at most and perhaps some twice; their
 * number. */
size_t image_server_incoming(struct image_server *s, struct oci_digest *ret, size_t max);

/* A node's token, shown with the request. */
bool image_server_holds(const struct image_server *s, const struct image_bdm_grant *g,
                        const struct http_request *req);

/* A text that may be a field of what is signed. */
bool image_server_is_field(struct str s);
void image_server_deny(struct http_exchange *x);
/* What peers push at that deployment; NULL: nothing, or there is none. */
struct image_inbox *image_server_inbox(struct image_server *s, struct str deploy);

/* ---- layers that are pushed ---- */

/* PUT /v1/layers: another node brings a layer. */
void image_server_accept_push(struct image_server *s, struct http_exchange *x,
                              const struct http_request *req, const struct url_target *t,
                              const struct oci_digest *blob);
/*
 * A BDM for another node, to which this one must push layers. 1: it begins; 0: it is already in
 * progress. *ret_n: ranges that remain. Errors: E_INVALID, it has no task for this node; -EAGAIN;
 * of the url.
 */
int image_server_outbox_accept(struct image_server *s, const struct image_bdm *b, size_t *ret_n,
                               struct err *err);
/* A slot may be free. */
void image_server_outbox_next(struct image_server *s);
void image_server_outbox_close(struct image_server *s);

/* ---- layers that were not requested yet ---- */

/* Whether it takes this prefetch now; else E_DENIED and why. */
int image_server_prefetch_check(struct image_server *s, const struct image_bdm *b, struct err *err);
/* How fast they may come, bytes per second. */
uint64_t image_server_prefetch_bps(const struct image_server *s);
/* Those that are under way. */
void image_server_each_prefetch(struct image_server *s, void (*f)(struct image_deploy *d));
/* Something else begins: those that are under way end. */
void image_server_prefetch_stop(struct image_server *s);

/* ---- news of images ---- */

struct image_server_news {
    struct oci_reference ref;
    bool is_here, is_old; /* the store has the image; as it was */
    size_t n_dead;        /* layers that leave first now */
};
/* What they say, and what the store has of it; by a worker thread. Errors: of
 * image_replaced_parse().
 */
int image_server_news_read(struct image_server *s, struct str text, struct image_server_news *ret,
                           struct err *err);
/* Returns the outcome: "absent", "current", "noted", "pulling"; static storage. */
const char *image_server_news_apply(struct image_server *s, const struct image_server_news *n);
/* The tag is compared with the registry's at the next request; with `pulls` the image is pulled
 * now, if its registry is one that may be asked. Whether it is. */
bool image_server_replaced(struct image_server *s, const struct oci_reference *ref, bool pulls);

/* ---- round trips and rates to other nodes and the registry ---- */

void image_server_probe_start(struct image_server *s);
/* Another node, and where it is. */
void image_server_probe_peer(struct image_server *s, struct str name, struct str url);
/* The host of a registry that something comes from. */
void image_server_probe_registry(struct image_server *s, const char *host);
/* Something has happened here. */
void image_server_probe_soon(struct image_server *s);
void image_server_probe_answer(struct image_server *s, struct http_exchange *x,
                               const struct http_request *req, const struct url_target *t);
void image_server_probe_close(struct image_server *s);
void image_server_probe_fini(struct image_server *s);

/* ---- the NodeImageState ---- */

void image_server_state_start(struct image_server *s);
void image_server_state_arm(struct image_server *s, uint64_t after_ms);
/* The store has other layers than before. */
void image_server_state_changed(struct image_server *s);
/* The network was measured, and nothing else happened. */
void image_server_state_measured(struct image_server *s);
/* A deployment has begun; it is reported if it takes IMAGE_SERVER_STATE_INCOMING_MS. */
void image_server_state_deploying(struct image_server *s);
bool image_server_state_is_busy(const struct image_server *s);
void image_server_state_close(struct image_server *s);
void image_server_state_fini(struct image_server *s);

/* ---- pull-through ---- */

/*
 * Whether the request must wait for a pull: the store lacks what it requests, or its tag must be
 * compared with the registry's. If so, image_server_find() runs again after the pull. r: the result
 * of the lookup. Errors of starting a pull are answered at once: true as well.
 */
bool image_server_pull(struct image_server_serving *g, int r);
/* The request waits no more. */
void image_server_unwait(struct image_server_serving *g);
/* No further pulls; those that wait end. */
void image_server_pulls_close(struct image_server *s);
