/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deployment manifest to the node that it is for: what is known of the image's documents, then
 * the BDM (both with tokens of the cluster's key), then questions how far the node is until it has
 * ended. When it has begun, the nodes that are to push layers at it get a BDM of their own; those
 * that cannot be told are asked by it for what they have. Loop thread only.
 */
#pragma once

#include "image/bdm_plan.h"
#include "io/loop.h"
#include "io/tls.h"

#include <sys/socket.h>

enum {
    IMAGE_BDM_SEND_ANSWER_MS = 15000, /* of each request */
    IMAGE_BDM_SEND_PUSHERS_MAX = 64,  /* nodes that are told; others' tasks are pulled */
    IMAGE_BDM_SEND_REST_MS = 10000,   /* beyond the deadline; then the node must have ended */
    IMAGE_BDM_KEY_MAX_BYTES = 4096,
};

/* The cluster's key from a file, without the white space at its end. Errors: of the file; E_INVALID
 * where it is no text, or too short. */
int image_bdm_key_read(const char *path, struct buf *to, struct err *err);

struct image_bdm_send;

struct image_bdm_send_opts {
    struct loop *loop;
    struct image_bdm_plan plan; /* for the call alone; `deploy` is filled in */
    struct tls_ctx *tls;        /* of nodes with https, kept until the end or cancel; NULL: those
                                 * are refused */
    /* As in struct http_client_opts, kept likewise; NULL: any address. */
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *may_connect_arg;
    uint64_t poll_ms; /* between two questions */
    /* Where the plan has no text of a document; borrowed for the call, may be empty. Without one
     * the node asks the registry. */
    struct str manifest_text, config_text;
    /*
     * Once, unless cancelled; `s` is gone afterwards. r 1: deployed; 0: the node says that it
     * failed, and outcome (its answer, borrowed) why. Else outcome is NULL: E_DENIED, the node does
     * not take the token; -EACCES, may_connect() allowed no address; -EAGAIN, it has too much to
     * do; -ETIMEDOUT; -EPROTO, another answer; of the connection.
     */
    void (*on_end)(void *arg, int r, const struct json *outcome, const struct err *err);
    void *arg;
};
/* The node of the plan, or one that is to push at it, is at a url with https. Pure. */
bool image_bdm_send_wants_tls(const struct image_bdm_plan *plan);
/* Errors: those of image_bdm_plan(); E_LIMIT, the BDM is too large; E_INVALID, the node's url. */
int image_bdm_send_start(const struct image_bdm_send_opts *opts, struct image_bdm_send **ret,
                         struct err *err);
/* The deployment goes on. Not from on_end. NULL is fine. */
void image_bdm_send_cancel(struct image_bdm_send *s);
