/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A certificate of a node, requested from the cluster and renewed: that of its client, or that of
 * its server.
 *
 *     RESTING --none yet, or 70 to 90 % of its time are over--> POSTING the request
 *             --> WAITING until it is signed --> on_cert() --> RESTING
 *
 * Each certificate has a key of its own, P-256, which never leaves the machine. Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

enum {
    NODE_CERT_WAIT_MS =
        15 * 60000, /* for a signature; then the request is made again, as kubelet */
    NODE_CERT_NAMES_MAX = 8,
    NODE_CERT_MAX_BYTES = 256 << 10, /* of a certificate chain */
    /* The longest time of the timer: the wall clock, which decides, may be set meanwhile. */
    NODE_CERT_LOOK_MS = 6 * 3600000
};

enum node_cert_use { NODE_CERT_CLIENT, NODE_CERT_SERVER };

struct node_cert;

struct node_cert_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    const struct kube_identity *identity; /* copied; NULL: the transport's own */
    enum node_cert_use use;
    const char *node_name;    /* copied */
    const char *const *names; /* of a server: DNS names and addresses; copied */
    size_t n_names;
    uint32_t valid_s; /* asked for; 0: as long as the cluster gives it */
    /* What there is, PEM; copied. A certificate for another node, or for a server with other names,
     * or without its key, counts as none. Empty: none. */
    struct str cert_pem, key_pem;
    /* There is a new one; borrowed. */
    void (*on_cert)(void *arg, struct str cert_pem, struct str key_pem);
    /* The cluster has refused: denied, or without the right to ask. It is asked again later, unless
     * the callback stops it. NULL: it is logged. */
    void (*on_refused)(void *arg, int r, const struct err *err);
    void *arg;
};

void node_cert_start(const struct node_cert_opts *opts, struct node_cert **ret);
/* At once; also from a callback, whose arguments stay valid. NULL is fine. */
void node_cert_stop(struct node_cert *c);
/* Whether there is a certificate that is valid now. */
bool node_cert_is_valid(const struct node_cert *c);
