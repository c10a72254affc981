/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pulling an image into the node store: documents, then the missing layers, several at once, then
 * the name. A pull that fails or is killed leaves complete layers, which the next pull uses, and no
 * name.
 */
#pragma once

#include "oci/source.h"
#include "oci/store.h"

#include <stdatomic.h>

enum { OCI_PULL_THREADS_MAX = 16 };

/*
 * What an origin may supply besides whole blobs. Blocking calls, several threads at once, after
 * image(). Errors: those of the origin; E_UNSUPPORTED or -ENOENT: not supplied.
 */
struct oci_origin_parts {
    bool (*has_files)(void *arg); /* it announces the next two */
    /* The tree manifest (oci/tree_manifest.h) of this layer, appended to `to`. */
    int (*tree)(void *arg, const struct oci_digest *diff_id, struct buf *to, struct err *err);
    /* The answer to a request for files (oci/file_parcel.h), appended to `to`. */
    int (*parcel)(void *arg, struct str request, struct buf *to, struct err *err);
    /* Bytes [from, to) of a blob, not compared with its digest. */
    int (*range)(void *arg, const struct oci_descriptor *d, uint64_t from, uint64_t to,
                 oci_blob_sink sink, void *sink_arg, struct err *err);
    /* Several of them in one request (oci/remote.h); NULL: not supported. */
    int (*ranges)(void *arg, const struct oci_descriptor *d, const struct oci_range *ranges,
                  size_t n, oci_ranges_sink sink, void *sink_arg, struct err *err);
    /* The index of the artifacts of a manifest, and a manifest, appended to `to`. */
    int (*referrers)(void *arg, const struct oci_digest *subject, struct buf *to, struct err *err);
    int (*manifest)(void *arg, const struct oci_digest *digest, struct buf *to, struct err *err);
};

/* The source of an image. Blocking calls. */
struct oci_origin {
    /* The image for this platform; documents are owned by the origin. Errors: those of
     * oci_source_image(). */
    int (*image)(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                 struct err *err);
    /*
     * The bytes of a blob from `offset` on. Several threads at once, after image(). The origin need
     * not compare digests. Errors: those of the sink, and its own.
     */
    int (*blob)(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                void *sink_arg, struct err *err);
    void *arg;         /* of all of these */
    bool is_remote;    /* keep the received part of a blob for the next attempt */
    bool may_be_other; /* the image may be pulled in a refactored form (oci/refactored.h) */
    bool has_no_blobs; /* descriptors name layers by DiffID, as in docker-archive */
    const struct oci_origin_parts *parts; /* NULL: none */
};

/*
 * The origin for a reference (oci/source.h). registry: how registries are reached, NULL: the
 * defaults; its texts are kept until oci_origin_close(). Errors: those of oci_source_open_with().
 */
int oci_origin_open(struct str reference, const struct oci_remote_opts *registry,
                    struct oci_origin *ret, struct err *err);
/* Zeroed is fine. */
void oci_origin_close(struct oci_origin *origin);

enum oci_pull_state {
    OCI_PULL_WAITING,
    OCI_PULL_RUNNING,
    OCI_PULL_PRESENT, /* the store already had it */
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
    /* The name in the store; empty: none, and gc removes the image unless the caller leases it
     * before the store is closed. */
    struct str name;
    struct oci_platform platform;
    bool demands_platform; /* also of an image for a single platform: else -ENOENT */
    unsigned threads;      /* 0: one for each processor */
    /* How long to wait for another pull that has begun a layer of this image, up to four times as
     * long if it is about to end; then the layer is fetched concurrently. 0: the time that its size
     * takes on a slow line. */
    uint64_t wait_ms;
    uint64_t max_tar_bytes; /* of each layer, as in struct oci_import_opts */
    /* What inflates and parses layers, as in struct oci_import_opts: commands use a confined
     * process. */
    const struct layer_reading_ops *reading;
    void *reading_arg;
    /* Set by another thread to end the pull with -ECANCELED soon, once the origin returns bytes or
     * ends; NULL: never. */
    const atomic_bool *stop;
    bool is_pinned; /* false: as the name was before */
    /* The form of the store was requested by the user: layers of the store in another form are
     * completed; what is kept stays, but tars become objects (OCI_STORE_CAS). false: they stay as
     * they are. */
    bool has_form;
    /* Fetch and keep the blobs of layers that the store has without blob, whatever its form; their
     * other data stays as it is, unless has_form. */
    bool needs_blobs;
    /* Read each layer from its first byte, and keep no partial blob after a failure: another pull
     * that continued with it might not have access to it. */
    bool is_whole;
    /* If a refactored form is attached to the image (oci/refactored.h), and the origin allows it,
     * pull that form, unless the store has all layers of the image, or would have to fetch less
     * than half as many bytes of it. The index of several platforms is then not kept. If the origin
     * does not supply all of it, the image itself is pulled. */
    bool prefers_refactored;
    /* Fetch layers only as blobs. Else, if the store keeps tars, make them from files of the store
     * and files that the origin supplies by digest (oci/pull_files.h), or from deltas that are
     * attached to the image (oci/pull_deltas.h). */
    bool is_by_blobs;
    /* Layers whose files may be used for others. From the requests the origin learns which of these
     * files the store has, and the digests and DiffIDs of older versions. NULL: all layers. */
    oci_layer_filter may_show;
    /*
     * NULL: none. Called from any thread, one at a time: when the state of a layer changed, and
     * while bytes are received, at most every 256 KiB of a layer, and with the last bytes of its
     * blob. changed: NULL at the beginning.
     */
    void (*on_progress)(void *arg, const struct oci_pull_layer *layers, size_t n,
                        const struct oci_pull_layer *changed);
    /* Before the first document and layer are put, and after the last one before the name is put.
     * A negative code ends the pull. NULL: none. */
    int (*on_image)(void *arg, const struct oci_image *image, struct err *err);
    int (*on_layers)(void *arg, const struct oci_pull_layer *layers, size_t n, struct err *err);
    /* The layer could not be made from parts: its blob is fetched. From any thread, one at a time.
     * NULL: none. */
    void (*on_fallback)(void *arg, const struct oci_pull_layer *layer, const char *why);
    /* The blob was wrong, and is requested once more. As on_fallback. */
    void (*on_again)(void *arg, const struct oci_pull_layer *layer, const char *why);
    /* A layer is not kept in the requested form (has_form). As on_fallback. */
    void (*on_other_form)(void *arg, const struct oci_pull_layer *layer, const char *why);
    /* The refactored form is incomplete or wrong: the image itself is pulled, from on_image() on.
     * NULL: none. */
    void (*on_original)(void *arg, const char *why);
    void *arg; /* of these seven */
};

struct oci_pull_result {
    struct oci_digest manifest;
    bool is_refactored;         /* with prefers_refactored; then `original` is set */
    struct oci_digest original; /* the manifest of the name */
    size_t n_layers, n_present; /* distinct layers; those that were present before */
    uint64_t n_bytes;           /* compressed bytes that were read */
    size_t n_by_files;          /* layers that were made from files */
    uint64_t n_blob_bytes;      /* of the blobs of those layers, which were not read */
    uint64_t n_tar_bytes;       /* of the layers that were read */
};

/* Errors: those of the origin, of oci_import_commit(), of oci_store_image_put(), and with has_form
 * of oci_store_layer_share() and oci_store_layer_keep_tar(). */
int oci_pull(struct oci_store *s, const struct oci_pull_opts *opts, struct oci_pull_result *ret,
             struct err *err);
