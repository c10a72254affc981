/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pulling an image into the node store: documents, then the layers that are not there, several at
 * once, then the name. A pull that fails or is killed leaves whole layers, which the next one
 * finds, and no name.
 */
#pragma once

#include "oci/source.h"
#include "oci/store.h"

#include <stdatomic.h>

enum { OCI_PULL_THREADS_MAX = 16 };

/*
 * What an origin may give besides whole blobs. Blocking calls, several threads at once, after
 * image(). Errors: those of the origin; E_UNSUPPORTED or -ENOENT: it does not.
 */
struct oci_origin_parts {
    bool (*has_files)(void *arg); /* it says that it has the next two */
    /* The tree manifest (oci/tree_manifest.h) of the layer alone, appended to `to`. */
    int (*tree)(void *arg, const struct oci_digest *diff_id, struct buf *to, struct err *err);
    /* The answer to a request for files (oci/file_parcel.h), appended to `to`. */
    int (*parcel)(void *arg, struct str request, struct buf *to, struct err *err);
    /* Bytes [from, to) of a blob, not compared with its digest. */
    int (*range)(void *arg, const struct oci_descriptor *d, uint64_t from, uint64_t to,
                 oci_blob_sink sink, void *sink_arg, struct err *err);
    /* Several of them in one request (oci/remote.h), NULL: it is never asked for. */
    int (*ranges)(void *arg, const struct oci_descriptor *d, const struct oci_range *ranges,
                  size_t n, oci_ranges_sink sink, void *sink_arg, struct err *err);
    /* The index of what is attached to a manifest, and a manifest, appended to `to`. */
    int (*referrers)(void *arg, const struct oci_digest *subject, struct buf *to, struct err *err);
    int (*manifest)(void *arg, const struct oci_digest *digest, struct buf *to, struct err *err);
};

/* Where an image comes from. Blocking calls. */
struct oci_origin {
    /* The image for this platform; documents live in the origin. Errors: those of
     * oci_source_image(). */
    int (*image)(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                 struct err *err);
    /*
     * The bytes of a blob from `offset` on. Several threads at once, after image(). The origin need
     * not compare digests. Errors: what the sink returned, and its own.
     */
    int (*blob)(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                void *sink_arg, struct err *err);
    void *arg;         /* of all of these */
    bool is_remote;    /* keep what arrived of a blob, for the next attempt */
    bool may_be_other; /* what it names may be taken in a refactored form (oci/refactored.h) */
    bool has_no_blobs; /* descriptors name layers by DiffID, as in docker-archive */
    const struct oci_origin_parts *parts; /* NULL: none */
};

/*
 * What a reference names (oci/source.h) as an origin. registry: how registries are reached, NULL:
 * the defaults; its texts are kept until oci_origin_close(). Errors: those of
 * oci_source_open_with().
 */
int oci_origin_open(struct str reference, const struct oci_remote_opts *registry,
                    struct oci_origin *ret, struct err *err);
/* Zeroed is fine. */
void oci_origin_close(struct oci_origin *origin);

enum oci_pull_state {
    OCI_PULL_WAITING,
    OCI_PULL_RUNNING,
    OCI_PULL_PRESENT, /* the store had it */
    OCI_PULL_DONE,    /* it was read, or its blob that the store did not have */
    OCI_PULL_FAILED
};

struct oci_pull_layer {
    struct oci_digest diff_id;
    struct oci_descriptor blob;
    uint64_t done_bytes; /* of blob.size */
    enum oci_pull_state state;
};

struct oci_pull_opts {
    struct oci_origin origin;
    /* Under which the store keeps it; empty: none, and gc removes it unless the caller leases it
     * before the store is closed. */
    struct str name;
    struct oci_platform platform;
    bool demands_platform; /* also of an image that is for one alone: else -ENOENT */
    unsigned threads;      /* 0: one for each processor */
    /* For another pull that has begun with a layer of this image, and up to four times that where
     * it is about to end; then the layer is fetched beside it. 0: what its size takes on a slow
     * line. */
    uint64_t wait_ms;
    uint64_t max_tar_bytes; /* of each layer, as in struct oci_import_opts */
    /* What inflates and parses layers, as in struct oci_import_opts: commands give a confined
     * process. */
    const struct layer_reading_ops *reading;
    void *reading_arg;
    /* The pull ends with -ECANCELED soon after another thread has set it, if the origin gives bytes
     * or ends; NULL: never. */
    const atomic_bool *stop;
    bool is_pinned; /* else it is what the name was before */
    /* The form of the store was asked for: of layers that are here in another one, what is missing
     * is made or fetched; what is kept stays, but tars become files (OCI_STORE_CAS). Else they stay
     * as they are. */
    bool has_form;
    /* Of layers that are here without their blob it is fetched and kept, whatever the form of the
     * store; what else is kept of them stays as it is, unless has_form. */
    bool needs_blobs;
    /* Each layer from its first byte, and what came of one that fails is not left for another pull:
     * whoever goes on with it has not been given it. */
    bool is_whole;
    /* Where a refactored form is attached to the image (oci/refactored.h), and the origin may be
     * taken in another form, take that instead, unless the store has all layers of the image, or
     * misses less than half as many bytes of it. The index of several platforms is then not kept.
     * Where the origin does not give all of it, the image itself is pulled. */
    bool prefers_refactored;
    /* Layers only as their blobs; else, where the store keeps tars, from the files that it has and
     * those that the origin gives by their digests (oci/pull_files.h), if it does, or deltas that
     * are attached to the image (oci/pull_deltas.h). */
    bool is_by_blobs;
    /* Layers from whose files others are made. The origin learns of these files which ones the
     * store has, by what is not asked for, and of older versions their digests and DiffIDs. NULL:
     * all layers. */
    oci_layer_filter may_show;
    /*
     * NULL: none. Called from any thread, one at a time: when the state of a layer changed, and
     * while bytes arrive, at most every 256 KiB of a layer, and with the last of its blob. changed:
     * NULL at the beginning.
     */
    void (*on_progress)(void *arg, const struct oci_pull_layer *layers, size_t n,
                        const struct oci_pull_layer *changed);
    /* Before the first document and layer are put, and after the last one before the image gets its
     * name. A negative code is the end of the pull. NULL: none. */
    int (*on_image)(void *arg, const struct oci_image *image, struct err *err);
    int (*on_layers)(void *arg, const struct oci_pull_layer *layers, size_t n, struct err *err);
    /* The layer was to be made from parts, and could not: its blob is fetched. From any thread, one
     * at a time. NULL: none. */
    void (*on_fallback)(void *arg, const struct oci_pull_layer *layer, const char *why);
    /* The blob was not what it should be, and is asked for once more. As on_fallback. */
    void (*on_again)(void *arg, const struct oci_pull_layer *layer, const char *why);
    /* A layer is not kept in the form that was asked for (has_form). As on_fallback. */
    void (*on_other_form)(void *arg, const struct oci_pull_layer *layer, const char *why);
    /* The origin does not have all of the refactored form, or something else: the image itself is
     * pulled, from on_image() on. NULL: none. */
    void (*on_original)(void *arg, const char *why);
    void *arg; /* of these seven */
};

struct oci_pull_result {
    struct oci_digest manifest;
    bool is_refactored;         /* with prefers_refactored; and then */
    struct oci_digest original; /* the manifest that the name says */
    size_t n_layers, n_present; /* distinct ones; there before */
    uint64_t n_bytes;           /* compressed, that were read */
    size_t n_by_files;          /* layers that were made from files */
    uint64_t n_blob_bytes;      /* of their blobs, which were not read */
    uint64_t n_tar_bytes;       /* of the layers that were read */
};

/* Errors: those of the origin, of oci_import_commit(), of oci_store_image_put(), and with has_form
 * of oci_store_layer_share() and oci_store_layer_keep_tar(). */
int oci_pull(struct oci_store *s, const struct oci_pull_opts *opts, struct oci_pull_result *ret,
             struct err *err);
