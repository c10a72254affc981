/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshots of a containerd snapshotter: their state (image/snapshot_state.h) and the
 * directories that containerd mounts. A layer of the node store (oci/store.h) is written as a
 * directory once, by its DiffID, and is the committed snapshot that containerd asks for; then
 * containerd does not fetch it.
 *
 *     <root>/lock             held by the process that has it open
 *            journal          image/snapshot_journal.h
 *            dirs/<N>/fs      files of a snapshot or of a layer
 *                    /work    for overlayfs
 *            tmp/<hex>/       a layer that is being written
 *            trash/<hex>/     being removed
 *
 * This module mounts nothing: containerd, and the runtime, mount what they get from it. So a
 * process that is killed leaves no mount, only directories without a name in the journal, which the
 * next opening removes. Changes are synced before the answer.
 *
 * Blocking calls. Any thread, several at once.
 */
#pragma once

#include "image/snapshot_state.h"
#include "oci/store.h"

/* Committed snapshots that are layers: "dormouse/<hex>/<chain ID>". */
#define SNAPSHOTTER_NAME_PREFIX "dormouse/"

struct snapshotter;

struct snapshotter_opts {
    const char *root;        /* made if it is missing, mode 0700; others' files: E_INVALID */
    struct oci_store *store; /* where layers are looked for, kept; NULL: nowhere */
    const char *program;     /* as in struct layer_read_opts */
    bool is_not_durable;     /* layers are not synced before they are used */
};

/*
 * *ret: given, snapshotter_close(). Errors: -EBUSY, another process has it; E_CORRUPT, the journal
 * is damaged, or missing while there are directories; of the file system.
 */
int snapshotter_open(const struct snapshotter_opts *opts, struct snapshotter **ret,
                     struct err *err);
/* NULL is fine. No call may be running. */
void snapshotter_close(struct snapshotter *s);
DEFINE_SCOPED(snapshotter, snapshotter_close)

enum { SNAPSHOTTER_OPTIONS = 4 };
/* As mount(8) takes it. */
struct snapshotter_mount {
    const char *type; /* "bind", "overlay" */
    char *source;
    char *options[SNAPSHOTTER_OPTIONS];
    size_t n_options;
};
void snapshotter_mount_fini(struct snapshotter_mount *m);

struct snapshotter_request {
    struct str key, parent;
    enum snapshot_kind kind; /* SNAPSHOT_ACTIVE or SNAPSHOT_VIEW */
    const struct snapshot_label *labels;
    size_t n_labels;
    /* Not a layer of the store, whatever the labels say. */
    bool is_plain;
};

enum snapshotter_answer {
    SNAPSHOTTER_MADE,        /* *ret is what to mount */
    SNAPSHOTTER_WANTS_LAYER, /* the store has it: snapshotter_unpack(*ret_layer), then again */
    SNAPSHOTTER_WANTS_BYTES, /* a layer by its chain ID, which the store does not have */
    /* Of snapshot_call_run() alone: */
    SNAPSHOTTER_WANTS_WALK, /* a tree of any size must be read or removed: call it with may_walk */
    SNAPSHOTTER_MORE,       /* the answer is a part of it: again for the next one */
};

/*
 * Make a snapshot to write to, or to read. With the label SNAPSHOT_REF_LABEL: if that committed
 * snapshot can be had without containerd's help, it is there afterwards and the error is -EEXIST.
 * *ret is given with SNAPSHOTTER_MADE. Errors: those of snapshot_journal_do().
 */
int snapshotter_prepare(struct snapshotter *s, const struct snapshotter_request *req,
                        struct snapshotter_mount *ret, struct oci_digest *ret_layer,
                        struct err *err);
/*
 * Write a layer of the store as a directory, unless it is there. It stays until
 * snapshotter_unpin(). Errors: E_PARSE, it has a hard link to a file of a lower layer; those of
 * layer_read(), of struct layer_dir, of snapshot_journal_do().
 */
int snapshotter_unpack(struct snapshotter *s, const struct oci_digest *diff_id, struct err *err);
/* After an unpack that succeeded. */
void snapshotter_unpin(struct snapshotter *s, const struct oci_digest *diff_id);

/* *ret: given. Errors: -ENOENT; -EBUSY, it is committed. */
int snapshotter_mounts(struct snapshotter *s, struct str key, struct snapshotter_mount *ret,
                       struct err *err);
int snapshotter_commit(struct snapshotter *s, struct str name, struct str key,
                       const struct snapshot_label *labels, size_t n_labels, struct err *err);
/* Its files are removed before it returns, where no other snapshot has them. */
int snapshotter_remove(struct snapshotter *s, struct str key, struct err *err);
/* Texts are copied into the arena. */
int snapshotter_stat(struct snapshotter *s, struct str key, struct arena *a,
                     struct snapshot_info *ret, struct err *err);
/*
 * Change labels. paths: "labels.KEY" for one, where an empty value removes it; "labels", or none:
 * all of them. Errors: E_INVALID, other paths; -ENOENT.
 */
int snapshotter_label(struct snapshotter *s, struct str key, const struct snapshot_label *labels,
                      size_t n_labels, const struct str *paths, size_t n_paths, struct arena *a,
                      struct snapshot_info *ret, struct err *err);
/* Of a committed one what it had when it was committed; of others what it takes now. */
int snapshotter_usage(struct snapshotter *s, struct str key, uint64_t *ret_bytes,
                      uint64_t *ret_inodes, struct err *err);
/* As snapshot_state_each(): layers, then snapshots, parents first. fn() must not call others of
 * these, and returns a negative code to stop. */
int snapshotter_each(struct snapshotter *s, int (*fn)(void *arg, const struct snapshot_event *e),
                     void *arg);
/*
 * As snapshot_state_after(), for lists in pieces: a snapshot that is there all the while, under one
 * name, is in one of them.
 */
int snapshotter_after(struct snapshotter *s, struct str after, size_t max,
                      int (*fn)(void *arg, const struct snapshot_event *e), void *arg,
                      size_t *ret_n);
/* Remove layers that no snapshot uses. What could not be removed from trash/ is by the next
 * snapshotter_open(). */
int snapshotter_cleanup(struct snapshotter *s, struct err *err);
size_t snapshotter_count(struct snapshotter *s);
