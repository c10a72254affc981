/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshotter (image/snapshotter.h) as containerd's proxy plugins call it: gRPC on a Unix socket
 * of mode 0600 (containerd.services.snapshots.v1.Snapshots). A call of Prepare for a layer that the
 * node store has waits until it is written as a directory; for one that it can get, until it is
 * pulled. What fails there is left to containerd, which fetches and unpacks the layer itself.
 *
 * One loop; calls run on the loop's worker threads. Layers, pulls, and calls that read or remove a
 * tree of files run on threads of their own, so that none of them holds up other calls. Calls that
 * need the same layer or image share one. A list is sent in parts, as fast as the client takes
 * them.
 */
#pragma once

#include "image/snapshot_call.h"
#include "io/loop.h"
#include "oci/remote.h"

enum {
    SNAPSHOT_SERVER_CALLS_MAX = 512, /* at once, waiting ones included: UNAVAILABLE beyond */
    SNAPSHOT_SERVER_CONNECTIONS_MAX = 64,
    SNAPSHOT_SERVER_WORKS_MAX = 4, /* layers at once, and pulls at once; further ones wait */
    SNAPSHOT_SERVER_WALKS_MAX = 4, /* trees read at once, and trees removed; further ones wait */
    SNAPSHOT_SERVER_UPSTREAMS_MAX = 16,
    SNAPSHOT_SERVER_TRIES_MAX = 3,       /* of a call: pull, unpack, answer */
    SNAPSHOT_SERVER_AGAIN_MS = 60000,    /* an image that was pulled is not pulled again before */
    SNAPSHOT_SERVER_REMEMBERED_MAX = 256 /* images of which that is known */
};

/* Labels in which the client names the image of a layer, for pulling it. */
#define SNAPSHOT_SERVER_IMAGE_LABEL "containerd.io/snapshot/cri.image-ref"

struct snapshot_server_opts {
    struct loop *loop;
    const char *socket;              /* path */
    struct snapshotter *snapshotter; /* kept until done() */
    /*
     * Hosts of registries that images may be pulled from, copied; none: no pulls. Labels come from
     * containerd, which may pass on text from the manifest of an image.
     */
    const char *const *upstreams;
    size_t n_upstreams;
    struct oci_store *store;         /* of the snapshotter, a writer; with upstreams; kept */
    struct oci_remote_opts registry; /* how they are reached; texts are kept; its login is ignored:
                                      * pulls are anonymous, since their layers are public */
};

struct snapshot_server;
/* Errors: of listening. */
int snapshot_server_start(const struct snapshot_server_opts *opts, struct snapshot_server **ret,
                          struct err *err);
/* Take no more calls, finish those that run up to grace_ms, end pulls; done() when all is released.
 */
void snapshot_server_close(struct snapshot_server *s, uint64_t grace_ms, void (*done)(void *arg),
                           void *arg);
