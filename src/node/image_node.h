/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image server (image/server.h) of a node, beside its agent on one store: other nodes get
 * layers from it, the cluster's scheduler has it fetch images by plans, and the NodeImageState says
 * what it holds. It has the store open as its writer: it pulls images of pods (node/images.h), and
 * runs the jobs of commands (image/store_control.h).
 *
 *     OPENING --the store is open--> OPEN --there is a certificate--> SERVING
 *        \------------------------------\--------------------------------\--> CLOSING
 *
 * Another process may have the store: then it is opened once that process has ended, and pods get
 * their images meanwhile without plans.
 *
 * Loop thread only; the store is opened and closed on other threads.
 */
#pragma once

#include "image/provide.h"
#include "image/server.h"

struct image_node;
struct image_node_wait;

enum {
    IMAGE_NODE_LOCK_MS = 2000,  /* one attempt to open the store */
    IMAGE_NODE_AGAIN_MS = 1000, /* until the next one */
    IMAGE_NODE_PLAN_MS = 3000,  /* that the plan of a pod which was announced may take to come */
    IMAGE_NODE_GRACE_MS = 1000, /* for requests of other nodes at the end */
};

struct image_node_opts { /* texts are kept */
    struct loop *loop;
    const char *node_name;
    const char *store;                    /* directory */
    struct transport *transport;          /* kept */
    const struct kube_identity *identity; /* kept; NULL: the transport's own */
    struct str cluster_key;               /* copied */
    struct str ca_pem;                    /* of the certificates of nodes */
    const char *listen_host;
    uint16_t listen_port;            /* 0: any free one */
    bool listens_elsewhere;          /* at any free port if that one is taken */
    const char *address;             /* of this node, for others */
    const struct provide_site *site; /* registries; kept */
    uint64_t quota_bytes;            /* of the store; 0: none */
    uint64_t probe_ms;               /* as in image/server.h */
    bool prefetches;
};

struct image_node *image_node_start(const struct image_node_opts *opts);
/* The node's serving certificate, at first and each time that it is renewed. */
void image_node_set_cert(struct image_node *n, struct str cert_pem, struct str key_pem);
/* Nothing waits any more (image_node_await()). */
void image_node_close(struct image_node *n, void (*done)(void *arg), void *arg);
/* 0: it does not serve. */
uint16_t image_node_port(const struct image_node *n);
/* Layers were added to the store, or removed. */
void image_node_changed(struct image_node *n);

/* ---- jobs on the store (image/store_job.h) ---- */

enum { IMAGE_NODE_JOBS_MAX = 8 }; /* at a time, each on a thread of its own */

struct image_node_job_call { /* given by the caller; kept until on_done() */
    /* As struct store_job_watch has it; v is valid until the return. NULL: not of interest. */
    void (*on_event)(struct image_node_job_call *c, const struct json *v);
    /* Once, never within image_node_do(). result: borrowed; NULL with an error. */
    void (*on_done)(struct image_node_job_call *c, int r, struct json *result, struct arena *a,
                    const struct err *err);
};
/* The store is open, and there is room for one more job. */
bool image_node_can_do(const struct image_node *n);
/* job: copied. Only after image_node_can_do(). */
void image_node_do(struct image_node *n, const struct json *job, struct image_node_job_call *c);
/* Pulls end soon, with -ECANCELED. */
void image_node_stop_jobs(struct image_node *n);

/* ---- plans ---- */

/*
 * Wait for the plan that was announced for a pod's image: until it has been carried out, or none
 * has come within IMAGE_NODE_PLAN_MS. is_always: also where the store has the image. tenant:
 * as in image/provide.h. done() runs once, never within the call. NULL: there is nothing to wait
 * for, and done() does not run.
 */
struct image_node_wait *image_node_await(struct image_node *n, struct str reference,
                                         struct str tenant, bool is_always, void (*done)(void *arg),
                                         void *arg);
/* done() does not run any more. */
void image_node_await_cancel(struct image_node_wait *w);
