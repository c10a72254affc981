/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node store: images, their documents and their layers, in a directory.
 *
 *     <root>/lock                       held by the process that writes
 *            control                    where it takes jobs of others (image/store_control.h)
 *            version                    of this format; without it the directory is no store
 *            meta/documents/<hex>       manifests, configurations and indexes, by digest
 *            meta/index/<DiffID>        what a layer holds (oci/layer_index.h)
 *            layers/<DiffID>/data.tar   the uncompressed tar; not with OCI_STORE_GZ
 *                            blob       digest and size of the compressed blob, where it is kept
 *                            skeleton   with OCI_STORE_CAS: the tar without the content of its
 * files
 *                            ...        what others attach: "fs", "meta.erofs"
 *            blobs/<hex>                compressed layers, where they are kept
 *            objects/ab/<hex>           content of files by its digest, with OCI_STORE_CAS
 *            refs/<hex>                 a name and what it stands for; <hex> is the name's SHA-256
 *            images/<manifest>/         what is derived from an image; others fill it
 *            links/<boot id>/           files of mounts (image/linked_dir.h)
 *            leases/<hex>               uses of images that outlast a process
 *            tenants/<DiffID>/          whose credentials brought it (image/layer_rights.h)
 *            starts/                    lazy starts that run (image/lazy_status.h)
 *            unsynced                   while layers may not be on the disk yet (is_not_durable)
 *            tmp/<boot id>/             in flight; what another boot left goes to the trash
 *            trash/                     renamed away, deleted slowly
 *
 * Whatever has its final name is complete: it was synced, compared with its digest, and renamed to
 * that name. A layer directory appears after its index and blob, the name of an image after all
 * of its layers and documents. What is present in the directories is the truth; no journal has to
 * be read. After a crash at any point the next opening finds a consistent store.
 *
 * One process writes, others may read meanwhile. What a reader has open stays readable; what it
 * looked up may be gone (-ENOENT) when it opens it.
 *
 * All functions block on files: for commands and worker threads. A store may be used by several
 * threads. Digests of layers are DiffIDs everywhere, never ChainIDs.
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

/* What is kept of a layer. */
enum oci_store_form {
    OCI_STORE_RAW,  /* the uncompressed tar */
    OCI_STORE_GZ,   /* the blob as it came: small, inflated for every use */
    OCI_STORE_BOTH, /* both: for engines that pull from here by the digest of the blob */
    /* The content of each file once for all layers, and the rest of the tar, which is made again
     * where it is read. A layer with sparse files is kept as with OCI_STORE_RAW. */
    OCI_STORE_CAS,
};

/*
 * What decides which layers leave when there is no room (image/layer_cache.h). Called by any
 * thread, without a lock of the store held.
 */
struct oci_store_cache_ops {
    /* The store was opened for writing and may be used. Errors end the opening; close() is not
     * called then. */
    int (*open)(void *arg, struct oci_store *s, struct err *err);
    /* An import of a layer that is not here begins. */
    void (*expect)(void *arg, const struct oci_digest *diff_id);
    /* A layer that is here is used: n_bytes 0. Or it came, and takes so many bytes on disk. */
    void (*use)(void *arg, const struct oci_digest *diff_id, uint64_t n_bytes);
    /*
     * An import needs so many bytes more than the quota leaves, or the file system is full: remove
     * layers by oci_store_layer_remove(). Errors: -ENOSPC, nothing more can go.
     */
    int (*make_room)(void *arg, uint64_t need_bytes, struct err *err);
    void (*close)(void *arg); /* releases it */
};

struct oci_store_opts {
    const char *root; /* made when missing, except for readers */
    bool is_reader;   /* take no lock, change nothing */
    bool must_exist;  /* make none: -ENOENT, for a writer as well */
    /*
     * Of a writer: imports, documents and names do not wait for the disk, for machines whose images
     * can be fetched again. When the machine stops, the next opening removes the layers that came
     * since everything was last on the disk: since another writer opened the store without this, or
     * one with it a minute after the one before. Leases that outlive the boot sync everything.
     */
    bool is_not_durable;
    bool is_as_before; /* is_not_durable if the writer before was: of one that imports nothing */
    uint64_t lock_ms;  /* how long to wait for another writer */
    bool is_service;   /* a writer that stays: others are told so */
    bool has_control;  /* a writer that will take jobs of others: they are told so */
    bool is_hasty;     /* lock_ms does not count for these two */
    enum oci_store_form form;
    uint64_t quota_bytes;                    /* of layers and blobs; 0: none */
    const struct oci_store_cache_ops *cache; /* of a writer; NULL: layers are never evicted */
    void *cache_arg;                         /* taken by an opening that succeeds */
};

/*
 * A writer makes a store of a directory that is missing or empty (of "lost+found" it has no
 * opinion), and of one where another was stopped while it did so. The file `version` is the mark of
 * a store, and there before anything else of it but the lock.
 *
 * After a stop of the machine without syncs a reader has to be a writer first.
 *
 * *ret: given, oci_store_close(). Errors: -EBUSY, another process writes (the text has its id
 * and whether it stays);
 * -ENOENT for a reader; E_INVALID, the directory has files of others and was not changed;
 * E_VERSION, a newer program made it; what opening files gives.
 */
int oci_store_open(const struct oci_store_opts *opts, struct oci_store **ret, struct err *err);

/* What the process that holds the lock, or held it last, wrote to it. */
struct oci_store_holder {
    uint64_t pid; /* 0: not known */
    bool is_service, has_control;
};
void oci_store_holder(const char *root, struct oci_store_holder *ret);

/* NULL is fine. No import may be left. */
void oci_store_close(struct oci_store *s);
DEFINE_SCOPED(oci_store, oci_store_close)
/* As it was opened. Borrowed until oci_store_close(). */
const char *oci_store_root(const struct oci_store *s);
const char *oci_store_boot(const struct oci_store *s); /* id of this start of the machine */
/* The cache_arg of a store that was opened with these ops; NULL: it was not. */
void *oci_store_cache(const struct oci_store *s, const struct oci_store_cache_ops *ops);
uint64_t oci_store_quota(const struct oci_store *s); /* 0: none */
enum oci_store_form oci_store_form(const struct oci_store *s);
typedef bool (*oci_layer_filter)(struct oci_store *s, const struct oci_digest *diff_id);

/* ---- layers ---- */

struct oci_store_layer {
    struct oci_digest diff_id;
    uint64_t n_bytes;    /* on disk: tar and blob, or objects, also those that others share */
    int64_t used_wall_s; /* last put or oci_store_layer_touch() */
    uint32_t n_images;   /* names of images that have it */
    bool is_pinned;      /* by a pinned image, a lease or a hold: must stay */
    bool has_blob;       /* as the registry has it: others can have it from here */
};

bool oci_store_layer_has(struct oci_store *s, const struct oci_digest *diff_id);
/* Sorted by use, the least recent first. *ret: given, free(). The number or a negative code. */
int oci_store_layers(struct oci_store *s, struct oci_store_layer **ret, size_t *ret_n,
                     struct err *err);
/* The same without n_images and is_pinned, so that damaged names do not matter. */
int oci_store_layers_alone(struct oci_store *s, struct oci_store_layer **ret, size_t *ret_n,
                           struct err *err);
/* Note that a deployment uses it now. */
void oci_store_layer_touch(struct oci_store *s, const struct oci_digest *diff_id);
/* The same of each layer of an image that is here. */
void oci_store_image_touch(struct oci_store *s, const struct oci_config *config);
/*
 * An open descriptor of the uncompressed tar. Errors: -ENOENT no such layer; -ENODATA only the
 * blob is kept, or objects (oci_store_layer_read() then).
 */
int oci_store_layer_fd(struct oci_store *s, const struct oci_digest *diff_id, struct err *err);
/* The path of a file of a layer, whether or not it is there: file "data.tar", "fs". Given, free().
 */
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
 * The compressed blob that is kept of it: digest, size, and an open descriptor. Errors: -ENOENT,
 * no blob is kept.
 */
int oci_store_layer_blob(struct oci_store *s, const struct oci_digest *diff_id,
                         struct oci_digest *ret_digest, uint64_t *ret_size, struct err *err);
/* The layer whose blob this is. Looks into no layer but that one. Errors: -ENOENT, no layer has it;
 * -EIO, -EMFILE and the like: that cannot be found out now. */
int oci_store_layer_of_blob(struct oci_store *s, const struct oci_digest *blob,
                            struct oci_digest *ret_diff_id, struct err *err);
/* An open descriptor of a blob by its own digest; -ENOENT. */
int oci_store_blob_fd(struct oci_store *s, const struct oci_digest *blob, struct err *err);
/*
 * Give `path`, made below oci_store_tmp(), to the layer as its `file` ("fs", "meta.erofs"). It is
 * renamed; the caller synced it. Errors: -ENOENT no such layer; -EEXIST.
 */
int oci_store_layer_attach(struct oci_store *s, const struct oci_digest *diff_id, const char *path,
                           const char *file, struct err *err);
/*
 * Remove a layer with its blob; its index stays until gc. Images that have it are incomplete
 * afterwards, and pulled again where they are used. Errors: -ENOENT; -EBUSY, it is pinned.
 */
int oci_store_layer_remove(struct oci_store *s, const struct oci_digest *diff_id, struct err *err);

/* ---- objects: the content of files, once for all layers ---- */

/*
 * Keep a layer that is here in another form as with OCI_STORE_CAS; a blob that is kept stays.
 * Nothing if it is so already. Errors: -ENOENT; E_UNSUPPORTED, it has sparse files; -ENOSPC,
 * E_CORRUPT.
 */
int oci_store_layer_share(struct oci_store *s, const struct oci_digest *diff_id, struct err *err);
/*
 * Keep the uncompressed tar of a layer that is here in another form; what is kept beside it stays.
 * Nothing if it is there. Errors: -ENOENT; -ENOSPC; E_CORRUPT, also where the tar is not what the
 * DiffID says.
 */
int oci_store_layer_keep_tar(struct oci_store *s, const struct oci_digest *diff_id,
                             struct err *err);
/* The files of the layer are objects, and nothing else has its content. */
bool oci_store_layer_is_shared(struct oci_store *s, const struct oci_digest *diff_id);
/* An open descriptor of the directory of all objects: "ab/<hex>" is the content with this SHA-256.
 */
int oci_store_objects_fd(struct oci_store *s, struct err *err);
/* One of them; -ENOENT. It is NOT verified. */
int oci_store_object_fd(struct oci_store *s, const uint8_t digest[SHA256_BYTES], struct err *err);
/* Whether it is there with this size. */
bool oci_store_object_has(struct oci_store *s, const uint8_t digest[SHA256_BYTES], uint64_t size);
/*
 * Append the frame of a layer's skeleton (oci/skeleton.h): the one that is kept, or made from its
 * tar, packed at `level`. layer: its index. Errors: -ENOENT; -ENODATA only the blob is kept;
 * E_LIMIT, unpacked it has more than max_bytes; E_CORRUPT, E_PARSE; those of `to`.
 */
int oci_store_layer_frame(struct oci_store *s, const struct oci_digest *diff_id,
                          const struct oci_layer *layer, uint64_t max_bytes, int level,
                          struct buf *to, struct err *err);

/* ---- the tar of a layer, at any place ---- */

struct oci_store_tar;

/*
 * Of a layer that is kept as its tar or as objects. *ret: given, oci_store_tar_unref(); what is
 * open stays readable, but objects that leave the store are missing (E_CORRUPT). Not verified.
 * Errors: -ENOENT; -ENODATA only the blob is kept; E_CORRUPT.
 */
int oci_store_tar_open(struct oci_store *s, const struct oci_digest *diff_id,
                       struct oci_store_tar **ret, struct err *err);
/* Shared by the requests of clients that want the same layer. NULL is fine for unref. */
struct oci_store_tar *oci_store_tar_ref(struct oci_store_tar *t);
void oci_store_tar_unref(struct oci_store_tar *t);
uint64_t oci_store_tar_size(const struct oci_store_tar *t);
/* Up to n bytes, fewer only at its end. Several threads at once. */
ssize_t oci_store_tar_read(const struct oci_store_tar *t, char *to, size_t n, uint64_t offset,
                           struct err *err);
/* Its size alone. Errors: likewise. */
int oci_store_tar_bytes(struct oci_store *s, const struct oci_digest *diff_id, uint64_t *ret,
                        struct err *err);

/* ---- importing a layer: blob -> digest, inflate, DiffID, tar, index, in one pass ---- */

struct oci_import;

struct oci_import_opts {
    struct oci_digest diff_id; /* that the configuration promises */
    struct oci_digest blob;    /* digest of the compressed blob */
    uint64_t blob_size;        /* bytes */
    /*
     * The blob has no name of its own, as in docker-archive: blob and blob_size are not compared,
     * and the tar is kept, whatever the form of the store.
     */
    bool has_no_blob;
    /* The layer is here without its blob, which is kept as well, whatever the form of the store. */
    bool is_for_blob;
    uint64_t max_tar_bytes; /* of the uncompressed tar; 0: 100 times the blob, 16 MiB at least */
    uint64_t until_ms;      /* clock_mono_ms(): wait so long for another thread; 0: for ever */
    /* After until_ms import it as well, from the start; else -ETIMEDOUT. Not yet while the other
     * one is about to end: at the rate it had within as long again, three times at most. */
    bool may_be_beside;
    /* Set by another thread: oci_import_new() waits no longer, -ECANCELED; NULL: never. */
    const atomic_bool *stop;
    bool is_resumable; /* keep what arrived when it fails; oci_import_offset() goes on there */
    /* What inflates and parses (oci/layer_parse.h), NULL: layer_parse_here; reading_arg: its arg.
     */
    const struct layer_reading_ops *reading;
    void *reading_arg;
    /* The uncompressed tar as it streams, before any digest was compared; NULL: none. By the thread
     * that writes the tar; no more after commit or free. */
    oci_store_sink tee;
    void *tee_arg;
};

/*
 * *ret: given, oci_import_free(). One thread at a time for each; any number at once; waits while
 * another thread imports the same layer or blob. Both are held until then. Errors: -EEXIST, the
 * store has the layer, or with is_for_blob a blob of it; -ENOENT, is_for_blob and no such layer;
 * -ETIMEDOUT, the other thread has not ended by until_ms (the import of one that drips in keeps
 * nobody from a layer that is small enough to be fetched twice); what passing an earlier attempt's
 * bytes on gives.
 */
int oci_import_new(struct oci_store *s, const struct oci_import_opts *opts, struct oci_import **ret,
                   struct err *err);
/* The most bytes that the tar of a layer may have, as its max_tar_bytes and blob_size say. */
uint64_t oci_import_max_tar_bytes(uint64_t max_bytes, uint64_t blob_size);
/* Bytes of the blob that an earlier attempt left here: oci_import_add() goes on behind them. */
uint64_t oci_import_offset(const struct oci_import *im);
/*
 * The next bytes of the blob. Errors: E_PARSE (no tar, damaged compression), E_LIMIT (more than
 * blob_size; the uncompressed tar or its index is too large), -ENOSPC, what the tee returned; those
 * of the content may come with later bytes, or at the commit. After an error only
 * oci_import_free().
 */
int oci_import_add(struct oci_import *im, struct str bytes, struct err *err);
/*
 * The blob is complete: compare, sync, and make the layer visible. If the machine stops, the layer
 * is there whole or not at all; it is there for good once a name or a lease that refers to it was
 * put. Errors: E_DIGEST (the blob or the DiffID; nothing is kept then), E_PARSE, -ENOSPC.
 */
int oci_import_commit(struct oci_import *im, struct err *err);
/* Without a commit nothing is visible. NULL is fine. */
void oci_import_free(struct oci_import *im);
DEFINE_SCOPED(oci_import, oci_import_free)

/* ---- documents ---- */

/* Put a document whose bytes have this digest. Errors: E_DIGEST, E_LIMIT. */
int oci_store_document_put(struct oci_store *s, const struct oci_digest *d, struct str text,
                           struct err *err);
bool oci_store_document_has(struct oci_store *s, const struct oci_digest *d);
/* Into the arena, compared with its digest. Errors: -ENOENT, E_CORRUPT. */
int oci_store_document(struct oci_store *s, const struct oci_digest *d, struct arena *a,
                       struct str *ret, struct err *err);

/* ---- images: names and what they stand for ---- */

struct oci_store_image {
    struct str name; /* as its user writes it; opaque here, printable, no blanks */
    struct oci_digest manifest;
    struct oci_digest index; /* from which the manifest was chosen; zeroed: none */
    struct str platform;     /* "linux/amd64" */
    int64_t pulled_wall_s;
    bool is_pinned; /* its layers are never evicted */
};

/*
 * Set a name, durably (but for is_not_durable), replacing what it stood for. Manifest,
 * configuration and all layers have to be there: -ENOENT otherwise. Errors: E_INVALID for a name
 * that is none, E_LIMIT.
 */
int oci_store_image_put(struct oci_store *s, const struct oci_store_image *image, struct err *err);
/* The same; but a name that is pinned stays so. */
int oci_store_image_move(struct oci_store *s, const struct oci_store_image *image, struct err *err);
/* Pin what a name stands for, or no longer. Errors: -ENOENT, E_CORRUPT, as oci_store_image_put().
 */
int oci_store_image_pin(struct oci_store *s, struct str name, bool is_pinned, struct err *err);
/* The same, as long as the name stands for `manifest`. Errors: E_CONFLICT, it does not. */
int oci_store_image_pin_if(struct oci_store *s, struct str name, const struct oci_digest *manifest,
                           bool is_pinned, struct err *err);
/* By its exact name. Texts live in the arena. Errors: -ENOENT, E_CORRUPT. */
int oci_store_image_get(struct oci_store *s, struct str name, struct arena *a,
                        struct oci_store_image *ret, struct err *err);
/*
 * By what a person types: the name, the name with ":latest", the name as oci/reference.h completes
 * it, or 12 digits or more of the manifest's digest. Errors: -ENOENT, E_INVALID (several match).
 */
int oci_store_image_find(struct oci_store *s, struct str word, struct arena *a,
                         struct oci_store_image *ret, struct err *err);
/* All, sorted by name; damaged ones are left out and counted. In the arena. */
int oci_store_images(struct oci_store *s, struct arena *a, struct oci_store_image **ret,
                     size_t *ret_n, size_t *ret_damaged, struct err *err);
/* Remove the name; gc removes the rest. Errors: -ENOENT. */
int oci_store_image_remove(struct oci_store *s, struct str name, struct err *err);
/* The same, as long as the name stands for `manifest`. Errors: E_CONFLICT, it does not; E_CORRUPT.
 */
int oci_store_image_remove_if(struct oci_store *s, struct str name,
                              const struct oci_digest *manifest, struct err *err);
/* Manifest and configuration of an image, in the arena. Errors: -ENOENT, E_CORRUPT, E_PARSE. */
int oci_store_image_load(struct oci_store *s, const struct oci_digest *manifest, struct arena *a,
                         struct oci_manifest *ret_manifest, struct oci_config *ret_config,
                         struct err *err);
/* How many of its layers are not there. Errors: those of oci_store_image_load(). */
int oci_store_image_missing(struct oci_store *s, const struct oci_digest *manifest, size_t *ret,
                            struct err *err);
/* images/<manifest>/, whether or not it is there: what is derived from the image. Given, free(). */
char *oci_store_image_path(struct oci_store *s, const struct oci_digest *manifest);
/* The same, made if it is missing. -EROFS of a reader. */
int oci_store_image_dir(struct oci_store *s, const struct oci_digest *manifest, char **ret,
                        struct err *err);

/* ---- holds and leases ---- */

/*
 * While this process uses a layer or document (a deployment in flight, an upload): gc and eviction
 * leave it. Counted.
 */
void oci_store_hold(struct oci_store *s, const struct oci_digest *d);
void oci_store_release(struct oci_store *s, const struct oci_digest *d);
/*
 * A use of an image that outlasts this process, such as a mount or a container: its documents and
 * layers stay until the lease is dropped. of_boot: it ends when the machine starts again. The same
 * id again replaces. Errors: -ENOENT, the image is not whole.
 */
int oci_store_lease(struct oci_store *s, struct str id, const struct oci_digest *manifest,
                    bool of_boot, struct err *err);
int oci_store_lease_drop(struct oci_store *s, struct str id, struct err *err); /* -ENOENT */
/* Run each() for every lease that has not ended, until it returns a negative code. Errors: that
 * code, E_CORRUPT, E_LIMIT. */
int oci_store_lease_each(struct oci_store *s,
                         int (*each)(void *arg, struct str id, struct err *err), void *arg,
                         struct err *err);

/* ---- keeping order ---- */

/* A path below tmp/<boot id>/ that no one else has; not made. Given, free(). */
char *oci_store_tmp(struct oci_store *s);
/* Move a file or tree of this store (a path) to the trash. */
int oci_store_discard(struct oci_store *s, const char *path, struct err *err);
/*
 * Delete at most n files from the trash: unpacked trees go slowly, since ext4 reuses inodes badly
 * right after many deletions. Returns 1 when more is left, 0, or a negative code.
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
    OCI_STORE_DAMAGED_OBJECT, /* with it every layer that names it */
    OCI_STORE_DAMAGED_INDEX,  /* made again from the tar */
    OCI_STORE_DAMAGED_DOCUMENT,
    OCI_STORE_DAMAGED_NAME,
    OCI_STORE_INCOMPLETE_IMAGE, /* layers are missing: evicted, or removed as damaged */
};

/* "layer", "file": for people. */
const char *oci_store_damage_word(enum oci_store_damage_kind kind);

struct oci_store_check_opts {
    bool remove;             /* move damaged things to the trash, make indexes again */
    uint64_t bytes_per_s;    /* 0: as fast as it goes; a scrub uses 5 MB/s */
    const atomic_bool *stop; /* ends early when set by another thread; NULL: never */
    void (*on_damage)(void *arg, enum oci_store_damage_kind kind, const char *what,
                      const char *why);
    /* It could not be read now (-EIO, -EMFILE), whatever it holds; it stays. NULL: not of interest.
     */
    void (*on_unread)(void *arg, enum oci_store_damage_kind kind, const char *what,
                      const char *why);
    void *arg;
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
};

struct oci_store_check_result {
    size_t n_layers, n_documents, n_images, n_objects; /* looked at */
    size_t n_damaged, n_incomplete, n_repaired;
    size_t n_removed; /* things; with a damaged file also the layers that need it */
    size_t n_unread;  /* could not be read here and now, whatever they hold */
    uint64_t n_bytes; /* read */
};
/*
 * Read everything and compare it with its digests. Damaged is what was read and is not what its
 * digest says, or is missing; what cannot be read is counted as such and stays. Imports, evictions
 * and gc may run beside it: what they change meanwhile is no damage, and what they brought stays.
 * What is held is not removed; a file that layers share stays with the last one of them that is
 * held. *ret is also set where something could not be read (n_unread); the error is that of the
 * first one, once all else has been looked at.
 */
int oci_store_check(struct oci_store *s, const struct oci_store_check_opts *opts,
                    struct oci_store_check_result *ret, struct err *err);
/*
 * The same of one layer: its objects, tar, blob and index. One that is not here is no error; one
 * that is held is not removed. *ret: as above, also where this fails.
 */
int oci_store_check_layer(struct oci_store *s, const struct oci_store_check_opts *opts,
                          const struct oci_digest *diff_id, struct oci_store_check_result *ret,
                          struct err *err);
