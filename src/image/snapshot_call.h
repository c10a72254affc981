/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of containerd's gRPC service containerd.services.snapshots.v1.Snapshots as bytes: what
 * they ask, carried out on a snapshotter, and the answer (image/snapshot_wire.proto).
 *
 * Blocking calls where a snapshotter is given; any thread, one at a time for each call.
 */
#pragma once

#include "image/snapshot_filter.h"
#include "image/snapshotter.h"

enum {
    SNAPSHOT_CALL_MAX = 256 << 10, /* bytes of a request */
    SNAPSHOT_ANSWER_MAX = 1 << 20, /* bytes of the messages of an answer, or of one part of it */
    SNAPSHOT_LIST_BATCH = 100,     /* snapshots in a message of a list, at most; and */
    SNAPSHOT_LIST_BYTES =
        128 << 10,            /* with so many it ends; a part of a list, with twice as many */
    SNAPSHOT_LIST_PICK = 512, /* snapshots that are looked at with the lock held */
};

#define SNAPSHOT_METHODS(X)                                                                        \
    X(PREPARE, "Prepare")                                                                          \
    X(VIEW, "View")                                                                                \
    X(MOUNTS, "Mounts")                                                                            \
    X(COMMIT, "Commit")                                                                            \
    X(REMOVE, "Remove")                                                                            \
    X(STAT, "Stat")                                                                                \
    X(UPDATE, "Update")                                                                            \
    X(LIST, "List")                                                                                \
    X(USAGE, "Usage")                                                                              \
    X(CLEANUP, "Cleanup")

enum snapshot_method {
#define SNAPSHOT_METHOD(name, word) SNAPSHOT_CALL_##name,
    SNAPSHOT_METHODS(SNAPSHOT_METHOD)
#undef SNAPSHOT_METHOD
        SNAPSHOT_METHOD_COUNT
};

/* "/containerd.services.snapshots.v1.Snapshots/Prepare" */
const char *snapshot_call_path(enum snapshot_method method);

struct snapshot_call {
    enum snapshot_method method;
    struct arena memory; /* of the texts */
    struct str key, name, parent;
    struct snapshot_label *labels;
    size_t n_labels;
    struct str *paths; /* of an update */
    size_t n_paths;
    struct snapshot_filter *filter; /* of a list */
    struct buf after;               /* of a list: the last name of the part before */
    /* For snapshot_call_run(), false after reading: */
    bool is_plain; /* as in struct snapshotter_request */
    bool may_walk; /* it may take as long as a tree is large */
};

/* Errors: E_PARSE; E_INVALID, more labels, paths or filters than there may be; those of
 * snapshot_filter_new(). *ret: given, snapshot_call_fini(). */
int snapshot_call_read(enum snapshot_method method, struct str bytes, struct snapshot_call *ret,
                       struct err *err);
void snapshot_call_fini(struct snapshot_call *c);
/* The label of that key. false: it has none. */
bool snapshot_call_label(const struct snapshot_call *c, const char *key, struct str *ret);
/*
 * Carry it out. answer: with SNAPSHOTTER_MADE and SNAPSHOTTER_MORE gets the messages, each with its
 * length before it (u32, little-endian). Returns an enum snapshotter_answer; with
 * SNAPSHOTTER_WANTS_LAYER *ret_layer as snapshotter_prepare(). Errors: those of the snapshotter;
 * E_UNSUPPORTED, a commit with a parent.
 */
int snapshot_call_run(struct snapshotter *s, struct snapshot_call *c, struct buf *answer,
                      struct oci_digest *ret_layer, struct err *err);
