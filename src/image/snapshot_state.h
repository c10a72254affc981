/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a snapshotter of containerd knows: snapshots with their names, parents, kinds and labels,
 * and the numbered directories that hold their files. A committed snapshot holds what its writer
 * left, or is a layer that is known by its DiffID; snapshots of one layer share its directory.
 *
 * Pure: it changes by events, which a journal repeats (image/snapshot_journal.h). One thread at a
 * time.
 */
#pragma once

#include "base/buf.h"
#include "oci/image.h"

enum {
    SNAPSHOT_NAME_MAX = 1024, /* bytes; containerd's are "NAMESPACE/NUMBER/KEY" */
    SNAPSHOT_LABELS_MAX = 64,
    SNAPSHOT_LABEL_MAX = 4096,        /* bytes of a label's key and value, as containerd has it */
    SNAPSHOT_LABELS_BYTES = 32 << 10, /* of one snapshot */
    SNAPSHOT_DEPTH_MAX = 256,         /* of parents above one another; overlayfs takes 500 */
    SNAPSHOT_COUNT_MAX = 65536,
    SNAPSHOT_EVENT_MAX = 64 << 10, /* bytes of an encoded event */
};
#define SNAPSHOT_STATE_BYTES ((uint64_t)128 << 20) /* of all events that make the state */

/* The chain ID of the snapshot to make, by which containerd finds it. */
#define SNAPSHOT_REF_LABEL "containerd.io/snapshot.ref"

enum snapshot_kind { SNAPSHOT_VIEW = 1, SNAPSHOT_ACTIVE = 2, SNAPSHOT_COMMITTED = 3 };

struct snapshot_label {
    struct str key, value;
};

struct snapshot_info {
    struct str name, parent; /* parent: empty, none */
    enum snapshot_kind kind;
    uint64_t dir; /* number of its directory; a view has one as well, empty */
    bool is_layer;
    struct oci_digest diff_id; /* of a layer */
    int64_t created_wall_us, updated_wall_us;
    uint64_t n_bytes, n_inodes; /* of a committed one */
    const struct snapshot_label *labels;
    size_t n_labels;
};

struct snapshot_layer {
    uint64_t dir;
    uint64_t n_bytes, n_inodes;
    /* It has directories for which it has no entry: their attributes are those of a lower layer, so
     * it can only be the lowest one. */
    bool is_base;
    uint32_t n_snapshots; /* that use it */
};

enum snapshot_op {
    SNAPSHOT_ADD = 1, /* name, parent, kind, dir, labels; a committed one has a layer's diff_id */
    SNAPSHOT_COMMIT,  /* key, an active one, becomes name; labels replace its own; size */
    SNAPSHOT_REMOVE,  /* name */
    SNAPSHOT_LABEL,   /* name, labels replace its own */
    SNAPSHOT_LAYER,   /* diff_id, dir, size, is_base: there is such a directory */
    SNAPSHOT_UNLAYER, /* diff_id, which no snapshot uses */
};

struct snapshot_event {
    enum snapshot_op op;
    struct str name, key, parent;
    enum snapshot_kind kind;
    uint64_t dir;
    struct oci_digest diff_id;
    bool is_layer, is_base;
    int64_t wall_us, created_wall_us; /* created: 0, the same */
    uint64_t n_bytes, n_inodes;
    const struct snapshot_label *labels;
    size_t n_labels;
};

struct snapshot_state;

struct snapshot_state *snapshot_state_new(void);
void snapshot_state_free(struct snapshot_state *s);
DEFINE_SCOPED(snapshot_state, snapshot_state_free)

/*
 * Whether it can happen now. Errors: E_INVALID (a name or label that is none, a parent that is not
 * committed), -ENOENT, -EEXIST, -EBUSY (it has children, or is of another kind than it must be),
 * E_LIMIT.
 */
int snapshot_state_check(const struct snapshot_state *s, const struct snapshot_event *e,
                         struct err *err);
/* After a check that returned 0. */
void snapshot_state_apply(struct snapshot_state *s, const struct snapshot_event *e);

/* *ret: borrowed until the next event. -ENOENT. */
int snapshot_state_get(const struct snapshot_state *s, struct str name, struct snapshot_info *ret,
                       struct err *err);
/* A committed snapshot with that parent whose label SNAPSHOT_REF_LABEL is `ref`. */
bool snapshot_state_find(const struct snapshot_state *s, struct str parent, struct str ref,
                         struct snapshot_info *ret);
bool snapshot_state_layer(const struct snapshot_state *s, const struct oci_digest *diff_id,
                          struct snapshot_layer *ret);
/* The first layer for which fn() returns true. NULL: none. Borrowed until the next event. */
const struct oci_digest *snapshot_state_find_layer(const struct snapshot_state *s,
                                                   bool (*fn)(void *arg,
                                                              const struct oci_digest *diff_id),
                                                   void *arg);
/* Is the directory of that number a snapshot's or a layer's? */
bool snapshot_state_has_dir(const struct snapshot_state *s, uint64_t dir);
/*
 * The directories of the parents of a snapshot, the uppermost first, each once: of a layer that is
 * there twice the upper one hides all of the lower. At most SNAPSHOT_DEPTH_MAX. -ENOENT.
 */
int snapshot_state_lowers(const struct snapshot_state *s, struct str name,
                          uint64_t ret[SNAPSHOT_DEPTH_MAX], size_t *ret_n);
size_t snapshot_state_count(const struct snapshot_state *s);
uint64_t snapshot_state_highest_dir(const struct snapshot_state *s); /* 0: none yet */

/*
 * The events that make the same state, in an order in which they can happen. fn() returns a
 * negative code to stop. The event is borrowed for the call.
 */
int snapshot_state_each(const struct snapshot_state *s,
                        int (*fn)(void *arg, const struct snapshot_event *e), void *arg);

/*
 * Pass the snapshots whose names come after `after` (empty: all) as the events that make them, in
 * ascending order, at most `max`. fn() returns 0 to continue; any other result is returned. *ret_n:
 * the number of them, also if fn() stopped before.
 */
int snapshot_state_after(const struct snapshot_state *s, struct str after, size_t max,
                         int (*fn)(void *arg, const struct snapshot_event *e), void *arg,
                         size_t *ret_n);

/* Names: UTF-8 without control characters, 1 to SNAPSHOT_NAME_MAX bytes. */
bool snapshot_is_name(struct str name);
/* The chain ID of a layer over that of its parents, NULL: the lowest (OCI image-spec, config.md).
 */
void snapshot_chain_id(const struct oci_digest *parent, const struct oci_digest *diff_id,
                       struct oci_digest *ret);

/* ---- events as bytes ---- */

/* Append it. Only what snapshot_state_check() let through has to fit into SNAPSHOT_EVENT_MAX. */
void snapshot_event_encode(const struct snapshot_event *e, struct buf *to);
/* Texts point into `bytes`; labels are in the arena. E_PARSE. */
int snapshot_event_decode(struct arena *a, struct str bytes, struct snapshot_event *ret,
                          struct err *err);
