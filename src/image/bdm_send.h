/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a deployment manifest to its node: first the known documents of the image, then the BDM
 * (both with tokens of the cluster's key), then requests for the status until the deployment has
 * ended. When it has begun, the nodes that must push layers get a BDM of their own; the layers of
 * pushers that cannot be notified are pulled. Loop thread only.
 */
#pragma once

#include "image/bdm_plan.h"
#include "io/loop.h"
#include "io/tls.h"

#include <sys/socket.h>

enum {
    IMAGE_BDM_SEND_ANSWER_MS = 15000, /* of each request */
    IMAGE_BDM_SEND_PUSHERS_MAX = 64,  /* nodes that are notified; other tasks are pulled */
    IMAGE_BDM_SEND_REST_MS = 10000,   /* after the deadline; then the node must have ended */
    IMAGE_BDM_KEY_MAX_BYTES = 4096,
};

/* The cluster's key from a file, without the white space at its end. Errors: of the file;
 * E_INVALID, it is not text, or too short. */
int image_bdm_key_read(const char *path, struct buf *to, struct err *err);

struct image_bdm_send;

struct image_bdm_send_opts {
    struct loop *loop;
    struct image_bdm_plan plan; /* borrowed for the call; `deploy` is filled in */
    struct tls_ctx *tls;        /* of nodes with https, kept until the end or cancel; NULL: those
                                 * are refused */
    /* As in struct http_client_opts, kept likewise; NULL: any address. */
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *may_connect_arg;
    uint64_t poll_ms; /* between two status requests */
    /* Documents whose text the plan lacks; borrowed for the call, may be empty. For a missing one
     * the node asks the registry. */
    struct str manifest_text, config_text;
    /*
     * Called once, unless cancelled; `s` is freed afterwards. r 1: deployed; 0: the node reports a
     * failure, and outcome (its answer, borrowed) has the reason. Else outcome is NULL: E_DENIED,
     * the node rejects the token; -EACCES, may_connect() allowed no address; -EAGAIN, it is
     * overloaded; -ETIMEDOUT; -EPROTO, another answer; of the connection.
     */
    void (*on_end)(void *arg, int r, const struct json *outcome, const struct err *err);
    void *arg;
};
/* Whether the node of the plan, or one that must push to it, has a url with https. Pure. */
bool image_bdm_send_wants_tls(const struct image_bdm_plan *plan);
/* Errors: those of image_bdm_plan(); E_LIMIT, the BDM is too large; E_INVALID, the node's url. */
int image_bdm_send_start(const struct image_bdm_send_opts *opts, struct image_bdm_send **ret,
                         struct err *err);
/* The deployment continues. Not from on_end. NULL is fine. */
void image_bdm_send_cancel(struct image_bdm_send *s);
