/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node store: images, their documents and their layers, in a directory.
 *
 *     <root>/lock                       held by the process that writes
 *            control                    socket: that process runs jobs of other processes
 *                                       (image/store_control.h)
 *            version                    of this format; a directory without it is not a store
 *            meta/documents/<hex>       manifests, configurations and indexes, by digest
 *            meta/index/<DiffID>        index of a layer (oci/layer_index.h)
 *            layers/<DiffID>/data.tar   the uncompressed tar; not with OCI_STORE_GZ
 *                            blob       digest and size of the compressed blob, if it is kept
 *                            skeleton   with OCI_STORE_CAS: the tar without the content of files
 *                            ...        attached files: "fs", "meta.erofs"
 *            blobs/<hex>                compressed layers, if they are kept
 *            objects/ab/<hex>           content of files by its digest, with OCI_STORE_CAS
 *            refs/<hex>                 a name and its image; <hex> is the SHA-256 of the name
 *            images/<manifest>/         data that other modules derive from an image
 *            links/<boot id>/           files of mounts (image/linked_dir.h)
 *            leases/<hex>               uses of images that outlast a process
 *            tenants/<DiffID>/          tenants whose credentials fetched it (image/layer_rights.h)
 *            starts/                    lazy starts that run (image/lazy_status.h)
 *            unsynced                   while layers may not be on the disk yet (is_not_durable)
 *            tmp/<boot id>/             in flight; files of another boot are moved to the trash
 *            trash/                     renamed to here, deleted slowly
 *
 * A file under its final name is complete: it was synced, compared with its digest, and renamed to
 * that name. A layer directory is created after its index and blob, the name of an image after all
 * its layers and documents. The directories are the truth; there is no journal to replay. After a
 * crash at any point the next opening finds a consistent store.
 *
 * One process writes; others may read at the same time. A file that a reader has open stays
 * readable; a file that it has only looked up may be gone (-ENOENT) when it opens it.
 *
 * All functions block on files: they are for commands and worker threads. Several threads may use a
 * store. Digests of layers are always DiffIDs, never ChainIDs.
 */
#pragma once

#include "base/buf.h"
#include "oci/image.h"
#include "oci/layer_parse.h"

#include <stdatomic.h>

enum {
    OCI_STORE_NAME_MAX = 512,     /* bytes of the name of an image */
    OCI_STORE_IMAGES_MAX = 65536, /* names */
    OCI_STORE_LEASES_MAX = 65536,
};

struct oci_store;

/* In which form a layer is kept. */
enum oci_store_form {
    OCI_STORE_RAW,  /* the uncompressed tar */
    OCI_STORE_GZ,   /* the blob as received: small, inflated for every use */
    OCI_STORE_BOTH, /* both: for engines that pull from this store by the digest of the blob */
    /* The content of each file once for all layers, and the rest of the tar, from which the tar is
     * rebuilt when it is read. A layer with sparse files is kept as with OCI_STORE_RAW. */
    OCI_STORE_CAS,
};

/*
 * Chooses the layers that are evicted when space runs out (image/layer_cache.h). Called from any
 * thread, without a lock of the store held.
 */
struct oci_store_cache_ops {
    /* The store was opened for writing and may be used. An error makes oci_store_open() fail;
     * close() is not called then. */
    int (*open)(void *arg, struct oci_store *s, struct err *err);
    /* An import of a layer that the store does not have begins. */
    void (*expect)(void *arg, const struct oci_digest *diff_id);
    /* n_bytes 0: a layer of the store is used. Else it was imported, and takes n_bytes on disk. */
    void (*use)(void *arg, const struct oci_digest *diff_id, uint64_t n_bytes);
    /*
     * An import needs need_bytes more than the quota allows, or the file system is full: remove
     * layers with oci_store_layer_remove(). Errors: -ENOSPC, no further layer can be removed.
     */
    int (*make_room)(void *arg, uint64_t need_bytes, struct err *err);
    void (*close)(void *arg); /* frees arg */
};

struct oci_store_opts {
    const char *root; /* created if it is missing, except by readers */
    bool is_reader;   /* take no lock, change nothing */
    bool must_exist;  /* do not create the store: -ENOENT, for a writer as well */
    /*
     * Of a writer: imports, documents and names do not wait for the disk; for machines whose images
     * can be fetched again. After a crash of the machine the next opening removes the layers that
     * were added since everything was last synced: since another writer opened the store without
     * this option, or a writer with it opened the store a minute after the previous one. Leases
     * that outlive the boot sync everything.
     */
    bool is_not_durable;
    bool is_as_before; /* is_not_durable if the previous writer was; for one that imports nothing */
    uint64_t lock_ms;  /* how long to wait for another writer */
    bool is_service;   /* recorded in the lock: a writer that runs permanently */
    bool has_control;  /* recorded in the lock: a writer that accepts jobs of other processes */
    bool is_hasty;     /* do not wait lock_ms for a writer of these two kinds */
    enum oci_store_form form;
    uint64_t quota_bytes;                    /* of layers and blobs; 0: none */
    const struct oci_store_cache_ops *cache; /* of a writer; NULL: layers are never evicted */
    void *cache_arg;                         /* taken by an opening that succeeds */
};

/*
 * A writer creates a store in a directory that is missing or empty ("lost+found" is ignored), and
 * completes a store whose creation was interrupted. The file `version` marks a directory as a
 * store; it is created before everything except the lock.
 *
 * After a crash of the machine without syncs, a writer must open the store before a reader can.
 *
 * *ret: given, oci_store_close(). Errors: -EBUSY, another process writes (the text has its pid and
 * whether it runs permanently); -ENOENT for a reader; E_INVALID, the directory has other files and
 * was not changed; E_VERSION, a newer program created the store; what opening files gives.
 */
int oci_store_open(const struct oci_store_opts *opts, struct oci_store **ret, struct err *err);

/* What the process that holds the lock, or held it last, recorded in it. */
struct oci_store_holder {
    uint64_t pid; /* 0: not known */
    bool is_service, has_control;
};
void oci_store_holder(const char *root, struct oci_store_holder *ret);

/* NULL is fine. All imports must have been freed. */
void oci_store_close(struct oci_store *s);
DEFINE_SCOPED(oci_store, oci_store_close)
/* Borrowed until oci_store_close(). */
const char *oci_store_root(const struct oci_store *s);
const char *oci_store_boot(const struct oci_store *s); /* id of the current boot */
/* The cache_arg of a store that was opened with these ops; NULL: it was opened with others. */
void *oci_store_cache(const struct oci_store *s, const struct oci_store_cache_ops *ops);
uint64_t oci_store_quota(const struct oci_store *s); /* 0: none */
enum oci_store_form oci_store_form(const struct oci_store *s);
typedef bool (*oci_layer_filter)(struct oci_store *s, const struct oci_digest *diff_id);

/* ---- layers ---- */

struct oci_store_layer {
    struct oci_digest diff_id;
    uint64_t n_bytes;    /* on disk: tar and blob, or objects, including shared ones */
    int64_t used_wall_s; /* last put or oci_store_layer_touch() */
    uint32_t n_images;   /* names of images that have it */
    bool is_pinned;      /* by a pinned image, a lease or a hold: it is not evicted */
    bool has_blob;       /* as in the registry: other nodes can fetch it from here */
};

bool oci_store_layer_has(struct oci_store *s, const struct oci_digest *diff_id);
/* Sorted by use, the least recent first. *ret: given, free(). The number or a negative code. */
int oci_store_layers(struct oci_store *s, struct oci_store_layer **ret, size_t *ret_n,
                     struct err *err);
/* The same without n_images and is_pinned; works with damaged names. */
int oci_store_layers_alone(struct oci_store *s, struct oci_store_layer **ret, size_t *ret_n,
                           struct err *err);
/* Record that a deployment uses it now. */
void oci_store_layer_touch(struct oci_store *s, const struct oci_digest *diff_id);
/* The same for each layer of an image that the store has. */
void oci_store_image_touch(struct oci_store *s, const struct oci_config *config);
/*
 * An open descriptor of the uncompressed tar. Errors: -ENOENT, no such layer; -ENODATA, only the
 * blob or objects are kept (use oci_store_layer_read()).
 */
int oci_store_layer_fd(struct oci_store *s, const struct oci_digest *diff_id, struct err *err);
/* The path of a file of a layer, "data.tar" or "fs", whether or not it exists. Given, free(). */
char *oci_store_layer_path(struct oci_store *s, const struct oci_digest *diff_id, const char *file);
/*
 * The uncompressed tar piece by piece, whatever form is kept. It is NOT verified again:
 * oci_store_check() does that. Errors: -ENOENT, E_CORRUPT, what the sink returned.
 */
typedef int (*oci_store_sink)(void *arg, struct str bytes, struct err *err);
int oci_store_layer_read(struct oci_store *s, const struct oci_digest *diff_id, oci_store_sink sink,
                         void *arg, struct err *err);
/* The layer's index. *ret: given, oci_layer_free(). Errors: -ENOENT, E_CORRUPT. */
int oci_store_layer_index(struct oci_store *s, const struct oci_digest *diff_id,
                          struct oci_layer **ret, struct err *err);
/*
 * The compressed blob of the layer: its digest, size, and an open descriptor. Errors: -ENOENT, no
 * blob is kept.
 */
int oci_store_layer_blob(struct oci_store *s, const struct oci_digest *diff_id,
                         struct oci_digest *ret_digest, uint64_t *ret_size, struct err *err);
/* The layer of this blob. Reads only that layer. Errors: -ENOENT, no layer has it; -EIO, -EMFILE
 * and the like: it cannot be determined now. */
int oci_store_layer_of_blob(struct oci_store *s, const struct oci_digest *blob,
                            struct oci_digest *ret_diff_id, struct err *err);
/* An open descriptor of a blob by its own digest; -ENOENT. */
int oci_store_blob_fd(struct oci_store *s, const struct oci_digest *blob, struct err *err);
/*
 * Move `path`, created below oci_store_tmp(), into the layer as its `file` ("fs", "meta.erofs"). It
 * is renamed; the caller has synced it. Errors: -ENOENT, no such layer; -EEXIST.
 */
int oci_store_layer_attach(struct oci_store *s, const struct oci_digest *diff_id, const char *path,
                           const char *file, struct err *err);
/*
 * Remove a layer with its blob; its index stays until gc. Images that have the layer are then
 * incomplete, and are pulled again when they are used. Errors: -ENOENT; -EBUSY, it is pinned.
 */
int oci_store_layer_remove(struct oci_store *s, const struct oci_digest *diff_id, struct err *err);

/* ---- objects: the content of files, stored once for all layers ---- */

/*
 * Convert a layer of the store to OCI_STORE_CAS; its blob, if any, is kept. No-op if it has this
 * form already. Errors: -ENOENT; E_UNSUPPORTED, it has sparse files; -ENOSPC, E_CORRUPT.
 */
int oci_store_layer_share(struct oci_store *s, const struct oci_digest *diff_id, struct err *err);
/*
 * Add the uncompressed tar to a layer of the store; its other forms are kept. No-op if it has the
 * tar. Errors: -ENOENT; -ENOSPC; E_CORRUPT, also if the tar does not match the DiffID.
 */
int oci_store_layer_keep_tar(struct oci_store *s, const struct oci_digest *diff_id,
                             struct err *err);
/* The files of the layer are objects, and it has no other copy of their content. */
bool oci_store_layer_is_shared(struct oci_store *s, const struct oci_digest *diff_id);
/* An open descriptor of the directory of all objects: "ab/<hex>" is the content with this SHA-256.
 */
int oci_store_objects_fd(struct oci_store *s, struct err *err);
/* Open one object; -ENOENT. It is NOT verified. */
int oci_store_object_fd(struct oci_store *s, const uint8_t digest[SHA256_BYTES], struct err *err);
/* Whether the object exists with this size. */
bool oci_store_object_has(struct oci_store *s, const uint8_t digest[SHA256_BYTES], uint64_t size);
/*
 * Append the frame of a layer's skeleton (oci/skeleton.h): the stored one, or one made from its
 * tar, packed at zstd level `level`. layer: its index. Errors: -ENOENT; -ENODATA, only the blob is
 * kept; E_LIMIT, it has more than max_bytes when unpacked; E_CORRUPT, E_PARSE; those of `to`.
 */
int oci_store_layer_frame(struct oci_store *s, const struct oci_digest *diff_id,
                          const struct oci_layer *layer, uint64_t max_bytes, int level,
                          struct buf *to, struct err *err);

/* ---- random access to the tar of a layer ---- */

struct oci_store_tar;

/*
 * Open a layer that is kept as its tar or as objects. *ret: given, oci_store_tar_unref(). Open
 * files stay readable, but objects that are removed from the store are missing (E_CORRUPT). Not
 * verified. Errors: -ENOENT; -ENODATA, only the blob is kept; E_CORRUPT.
 */
int oci_store_tar_open(struct oci_store *s, const struct oci_digest *diff_id,
                       struct oci_store_tar **ret, struct err *err);
/* Shared by the requests of clients that read the same layer. NULL is fine for unref. */
struct oci_store_tar *oci_store_tar_ref(struct oci_store_tar *t);
void oci_store_tar_unref(struct oci_store_tar *t);
uint64_t oci_store_tar_size(const struct oci_store_tar *t);
/* Read up to n bytes, fewer only at the end. Any number of threads. */
ssize_t oci_store_tar_read(const struct oci_store_tar *t, char *to, size_t n, uint64_t offset,
                           struct err *err);
/* Only the size of the tar. Errors: as of oci_store_tar_open(). */
int oci_store_tar_bytes(struct oci_store *s, const struct oci_digest *diff_id, uint64_t *ret,
                        struct err *err);

/* ---- importing a layer: blob -> digest, inflate, DiffID, tar, index, in one pass ---- */

struct oci_import;

struct oci_import_opts {
    struct oci_digest diff_id; /* from the configuration */
    struct oci_digest blob;    /* digest of the compressed blob */
    uint64_t blob_size;        /* bytes */
    /*
     * The blob has no digest of its own, as in docker-archive: blob and blob_size are not compared,
     * and the tar is kept in every form of the store.
     */
    bool has_no_blob;
    /* The store has the layer without its blob: add the blob, in every form of the store. */
    bool is_for_blob;
    uint64_t max_tar_bytes; /* of the uncompressed tar; 0: 100 times the blob, 16 MiB at least */
    uint64_t until_ms;      /* clock_mono_ms(): how long to wait for another thread; 0: no limit */
    /* After until_ms, import it concurrently from the start; else return -ETIMEDOUT. It waits
     * longer, up to three more times, if the other thread would end within as long again at its
     * current rate. */
    bool may_be_beside;
    /* Set by another thread: oci_import_new() stops waiting with -ECANCELED; NULL: never. */
    const atomic_bool *stop;
    bool is_resumable; /* keep the received bytes on failure; see oci_import_offset() */
    /* What inflates and parses (oci/layer_parse.h), NULL: layer_parse_here; reading_arg: its arg.
     */
    const struct layer_reading_ops *reading;
    void *reading_arg;
    /* Receives the uncompressed tar before any digest is compared; NULL: none. Called on the thread
     * that writes the tar; not after commit or free. */
    oci_store_sink tee;
    void *tee_arg;
};

/*
 * *ret: given, oci_import_free(). One thread at a time for each import, any number of imports at
 * once. Waits while another thread imports the same layer or blob. Both are held until
 * oci_import_free(). Errors: -EEXIST, the store has the layer, or with is_for_blob a blob of it;
 * -ENOENT, is_for_blob and no such layer; -ETIMEDOUT, the other thread has not ended by until_ms (a
 * slow import does not block a layer that is small enough to be fetched twice); the errors of
 * replaying the bytes of an earlier attempt.
 */
int oci_import_new(struct oci_store *s, const struct oci_import_opts *opts, struct oci_import **ret,
                   struct err *err);
/* The maximum size of the tar of a layer, from its max_tar_bytes and blob_size. */
uint64_t oci_import_max_tar_bytes(uint64_t max_bytes, uint64_t blob_size);
/* Bytes of the blob that an earlier attempt left here: oci_import_add() continues after them. */
uint64_t oci_import_offset(const struct oci_import *im);
/*
 * The next bytes of the blob. Errors: E_PARSE (not a tar, damaged compression), E_LIMIT (more than
 * blob_size; the uncompressed tar or its index is too large), -ENOSPC, what the tee returned.
 * Errors of the content may be returned with later bytes, or by the commit. After an error only
 * oci_import_free() may be called.
 */
int oci_import_add(struct oci_import *im, struct str bytes, struct err *err);
/*
 * The blob is complete: compare, sync, and make the layer visible. After a crash of the machine the
 * layer is present as a whole or not at all; it is permanent once a name or a lease that refers to
 * it was put. Errors: E_DIGEST (the blob or the DiffID; nothing is kept then), E_PARSE, -ENOSPC.
 */
int oci_import_commit(struct oci_import *im, struct err *err);
/* Discard the import unless it was committed. NULL is fine. */
void oci_import_free(struct oci_import *im);
DEFINE_SCOPED(oci_import, oci_import_free)

/* ---- documents ---- */

/* Put a document whose bytes have this digest. Errors: E_DIGEST, E_LIMIT. */
int oci_store_document_put(struct oci_store *s, const struct oci_digest *d, struct str text,
                           struct err *err);
bool oci_store_document_has(struct oci_store *s, const struct oci_digest *d);
/* Read into the arena, compared with its digest. Errors: -ENOENT, E_CORRUPT. */
int oci_store_document(struct oci_store *s, const struct oci_digest *d, struct arena *a,
                       struct str *ret, struct err *err);

/* ---- images: names and their manifests ---- */

struct oci_store_image {
    struct str name; /* as the user writes it; opaque to the store, printable, no blanks */
    struct oci_digest manifest;
    struct oci_digest index; /* from which the manifest was chosen; zeroed: none */
    struct str platform;     /* "linux/amd64" */
    int64_t pulled_wall_s;
    bool is_pinned; /* its layers are never evicted */
};

/*
 * Set a name, durably (except with is_not_durable), replacing its previous image. The manifest, the
 * configuration and all layers must be present: -ENOENT otherwise. Errors: E_INVALID, the name is
 * not valid; E_LIMIT.
 */
int oci_store_image_put(struct oci_store *s, const struct oci_store_image *image, struct err *err);
/* The same, but a pinned name stays pinned. */
int oci_store_image_move(struct oci_store *s, const struct oci_store_image *image, struct err *err);
/* Pin or unpin the image of a name. Errors: -ENOENT, E_CORRUPT, as oci_store_image_put(). */
int oci_store_image_pin(struct oci_store *s, struct str name, bool is_pinned, struct err *err);
/* The same, if the name refers to `manifest`. Errors: E_CONFLICT, it does not. */
int oci_store_image_pin_if(struct oci_store *s, struct str name, const struct oci_digest *manifest,
                           bool is_pinned, struct err *err);
/* Look up by the exact name. Texts are in the arena. Errors: -ENOENT, E_CORRUPT. */
int oci_store_image_get(struct oci_store *s, struct str name, struct arena *a,
                        struct oci_store_image *ret, struct err *err);
/*
 * Look up by user input: the name, the name with ":latest", the name as oci/reference.h completes
 * it, or 12 digits or more of the manifest's digest. Errors: -ENOENT, E_INVALID (several match).
 */
int oci_store_image_find(struct oci_store *s, struct str word, struct arena *a,
                         struct oci_store_image *ret, struct err *err);
/* All, sorted by name, in the arena; damaged ones are skipped and counted. */
int oci_store_images(struct oci_store *s, struct arena *a, struct oci_store_image **ret,
                     size_t *ret_n, size_t *ret_damaged, struct err *err);
/* Remove the name; gc removes the rest. Errors: -ENOENT. */
int oci_store_image_remove(struct oci_store *s, struct str name, struct err *err);
/* The same, if the name refers to `manifest`. Errors: E_CONFLICT, it does not; E_CORRUPT. */
int oci_store_image_remove_if(struct oci_store *s, struct str name,
                              const struct oci_digest *manifest, struct err *err);
/* Manifest and configuration of an image, in the arena. Errors: -ENOENT, E_CORRUPT, E_PARSE. */
int oci_store_image_load(struct oci_store *s, const struct oci_digest *manifest, struct arena *a,
                         struct oci_manifest *ret_manifest, struct oci_config *ret_config,
                         struct err *err);
/* The number of its layers that are missing. Errors: those of oci_store_image_load(). */
int oci_store_image_missing(struct oci_store *s, const struct oci_digest *manifest, size_t *ret,
                            struct err *err);
/* images/<manifest>/, the directory for derived data, whether or not it exists. Given, free(). */
char *oci_store_image_path(struct oci_store *s, const struct oci_digest *manifest);
/* The same; created if it is missing. -EROFS in a reader. */
int oci_store_image_dir(struct oci_store *s, const struct oci_digest *manifest, char **ret,
                        struct err *err);

/* ---- holds and leases ---- */

/*
 * Protect a layer or document from gc and eviction while this process uses it (a deployment in
 * flight, an upload). Counted.
 */
void oci_store_hold(struct oci_store *s, const struct oci_digest *d);
void oci_store_release(struct oci_store *s, const struct oci_digest *d);
/*
 * Record a use of an image that outlasts this process, such as a mount or a container: its
 * documents and layers stay until the lease is dropped. of_boot: the lease ends at the next boot.
 * A lease with an existing id replaces it. Errors: -ENOENT, the image is not complete.
 */
int oci_store_lease(struct oci_store *s, struct str id, const struct oci_digest *manifest,
                    bool of_boot, struct err *err);
int oci_store_lease_drop(struct oci_store *s, struct str id, struct err *err); /* -ENOENT */
/* Call each() for every lease that has not ended, until it returns a negative code. Errors: that
 * code, E_CORRUPT, E_LIMIT. */
int oci_store_lease_each(struct oci_store *s,
                         int (*each)(void *arg, struct str id, const struct oci_digest *manifest,
                                     struct err *err),
                         void *arg, struct err *err);

/* ---- maintenance ---- */

/* A unique path below tmp/<boot id>/; not created. Given, free(). */
char *oci_store_tmp(struct oci_store *s);
/* Move a file or tree of this store (a path) to the trash. */
int oci_store_discard(struct oci_store *s, const char *path, struct err *err);
/*
 * Delete at most n files from the trash. Unpacked trees are deleted slowly, since ext4 reuses
 * inodes badly right after many deletions. Returns 1 if there is more, 0, or a negative code.
 */
int oci_store_sweep(struct oci_store *s, size_t n, struct err *err);

struct oci_store_usage {
    uint64_t layer_bytes, blob_bytes, quota_bytes;
    size_t n_layers;
};
void oci_store_usage(struct oci_store *s, struct oci_store_usage *ret);

struct oci_store_gc {
    size_t n_layers, n_blobs, n_documents, n_indexes, n_objects; /* removed */
    uint64_t n_bytes;
};
/* Remove what no image, lease or hold refers to. is_dry: count only. */
int oci_store_gc(struct oci_store *s, bool is_dry, struct oci_store_gc *ret, struct err *err);

enum oci_store_damage_kind {
    OCI_STORE_DAMAGED_LAYER,
    OCI_STORE_DAMAGED_BLOB,
    OCI_STORE_DAMAGED_OBJECT, /* and with it every layer that names it */
    OCI_STORE_DAMAGED_INDEX,  /* rebuilt from the tar */
    OCI_STORE_DAMAGED_DOCUMENT,
    OCI_STORE_DAMAGED_NAME,
    OCI_STORE_INCOMPLETE_IMAGE, /* layers are missing: evicted, or removed as damaged */
};

/* "layer", "file": for users. */
const char *oci_store_damage_name(enum oci_store_damage_kind kind);

struct oci_store_check_opts {
    bool remove;             /* move damaged files to the trash, rebuild indexes */
    uint64_t bytes_per_s;    /* 0: no limit; a scrub uses 5 MB/s */
    const atomic_bool *stop; /* set by another thread to end early; NULL: never */
    void (*on_damage)(void *arg, enum oci_store_damage_kind kind, const char *what,
                      const char *why);
    /* It could not be read now (-EIO, -EMFILE); it stays. NULL: not reported. */
    void (*on_unread)(void *arg, enum oci_store_damage_kind kind, const char *what,
                      const char *why);
    void *arg;
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
};

struct oci_store_check_result {
    size_t n_layers, n_documents, n_images, n_objects; /* checked */
    size_t n_damaged, n_incomplete, n_repaired;
    size_t n_removed; /* with a damaged object also the layers that need it */
    size_t n_unread;  /* could not be read now */
    uint64_t n_bytes; /* read */
};
/*
 * Read everything and compare it with its digests. A file is damaged if it was read and does not
 * match its digest, or if it is missing; a file that cannot be read is counted separately and
 * stays. Imports, evictions and gc may run concurrently: their changes are not reported as damage,
 * and imported files stay. Held layers are not removed; a shared object stays as long as a held
 * layer needs it. *ret is also set if a file could not be read (n_unread); the error is then that
 * of the first one, returned after everything else was checked.
 */
int oci_store_check(struct oci_store *s, const struct oci_store_check_opts *opts,
                    struct oci_store_check_result *ret, struct err *err);
/*
 * Check one layer: its objects, tar, blob and index. A layer that the store does not have is no
 * error; a held layer is not removed. *ret: as above, also set on failure.
 */
int oci_store_check_layer(struct oci_store *s, const struct oci_store_check_opts *opts,
                          const struct oci_digest *diff_id, struct oci_store_check_result *ret,
                          struct err *err);
