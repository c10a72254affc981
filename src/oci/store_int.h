/* SPDX-License-Identifier: Apache-2.0 */
/* Internals that the files of the node store share; oci/store.h is the contract. */
#pragma once

#include "base/boot.h"
#include "base/map.h"
#include "base/sys.h"
#include "oci/store.h"

#include <pthread.h>
#include <time.h>

enum {
    STORE_HEX_SIZE = SHA256_HEX_SIZE,
    STORE_FILE_MODE = 0600,
    STORE_PIECE_BYTES = 256 << 10,
    STORE_RESERVE_BYTES = 16 << 20, /* of the quota, at a time */
    STORE_RECORD_MAX = 8 << 10,     /* bytes of a record in refs/ */
};

struct oci_store {
    struct oci_store_opts opts;
    char *root;
    int fd;      /* of the root */
    int lock_fd; /* -1: a reader */
    char boot[BOOT_ID_BYTES];
    /* Held for reading from the check which objects are missing until a layer that names them is
     * visible; for writing while objects that no layer names are removed. */
    pthread_rwlock_t objects;
    pthread_mutex_t names;   /* while a name is put or removed, and read before that */
    pthread_mutex_t mutex;   /* of the fields below */
    pthread_cond_t imported; /* an import has ended */
    struct {
        pthread_mutex_t mutex;
        struct map of; /* digest of a blob -> struct oci_digest, the DiffID */
        bool is_made;
        struct timespec made_of; /* mtime of the directory of layers at that time */
    } blobs;
    struct store_unsynced *unsynced; /* of a writer that does not sync */
    uint64_t n_imports_ended;
    struct map holds;        /* digest -> struct store_hold */
    uint64_t n_references;   /* names and leases that were put: older marks are out of date */
    uint64_t used_bytes;     /* of layers and blobs */
    uint64_t reserved_bytes; /* of imports in flight */
    bool has_stale_objects;  /* there may be objects that no layer names */
    uint32_t n_naming;       /* threads that rename objects to their names now */
    /* Rounds of naming that have ended, and how many of them are synced. Initially one is not: a
     * process that was killed may have begun it. */
    uint64_t n_named, n_named_synced;
};

struct store_hold {
    uint32_t n;
    bool is_importing;
    const struct oci_import *import; /* the one that imports; NULL: none */
};

static inline struct str store_key(const struct oci_digest *d)
{
    return str_n(d->bytes, sizeof d->bytes);
}

/* "DIR/<hex>" in storage of the caller. */
struct store_path {
    char p[32 + STORE_HEX_SIZE + 32];
};
struct store_path store_path_of(const char *dir, const struct oci_digest *d, const char *file);
/* The digest in a file name; false: it is another name. */
bool store_digest_of_name(const char *name, struct oci_digest *ret);

/* 0, or -EROFS with a text. */
int store_must_write(const struct oci_store *s, struct err *err);
/* A path relative to the root for a new file in tmp. Given, free(). */
char *store_tmp_name(const struct oci_store *s);
/* Write, sync, rename, sync the directory; `name` is relative to the root. */
int store_put_file(struct oci_store *s, const char *name, struct str content, struct err *err);
int store_sync_dir(struct oci_store *s, const char *dir, struct err *err);
/* The same, but not synced if the store is not durable: for data that can be fetched again. */
int store_put_new(struct oci_store *s, const char *name, struct str content, struct err *err);
/* Sync the visible layers: before a file that refers to them is put. */
int store_sync_layers(struct oci_store *s, struct err *err);
/* Rename a file below the root to the trash. -ENOENT may come without a text. */
int store_trash(struct oci_store *s, const char *name, struct err *err);
#define STORE_ANY_REFERENCES UINT64_MAX
/*
 * As store_trash(), except if a hold is on `d`: -EBUSY; or if a name or lease was put since
 * n_references was read: -EAGAIN. Neither can change during the call.
 */
int store_trash_unheld(struct oci_store *s, const char *name, const struct oci_digest *d,
                       uint64_t n_references, struct err *err);
/* Call each() for each name in a directory of the root, except "." and ".."; a negative code ends
 * it. */
int store_each(const struct oci_store *s, const char *dir,
               int (*each)(void *arg, const char *name, struct err *err), void *arg,
               struct err *err);

/* ---- without syncs (store_unsynced.c) ---- */

/* For a writer that has the lock: continue where another one ended, or remove what may be damaged.
 */
int store_unsynced_open(struct oci_store *s, struct err *err);
void store_unsynced_fini(struct oci_store *s);
/* The machine crashed after a writer that did not sync: files may be damaged. */
bool store_unsynced_is_stale(const struct oci_store *s);
/* Whether an import of this layer must wait until it is on the disk. */
bool store_must_sync(struct oci_store *s, const struct oci_digest *diff_id);
/* Before a file that outlives a crash of the machine refers to visible layers. */
int store_sync_all(struct oci_store *s, struct err *err);

/*
 * Identifies the file under a name: another file that was renamed to the name later is different.
 * All zeros: no such file. New hard links and reads do not change it.
 */
struct store_file {
    uint64_t inode, size;
    struct timespec written;
};
/* *ret: of the file with this name, or zeros. Errors: those of fstatat() except -ENOENT. */
int store_file_of(const struct oci_store *s, const char *name, struct store_file *ret);
bool store_file_same(const struct store_file *a, const struct store_file *b);
/* As store_trash(), if it is still this file: 1. 0: it is another one, or there is none. */
int store_trash_same(struct oci_store *s, const char *name, const struct store_file *file,
                     struct err *err);
/* A code about the current state of the machine, such as -EIO or -EMFILE. It says nothing about the
 * content of a file. */
static inline bool store_is_system(int r)
{
    return r < 0 && r > E_CONFLICT;
}

/* ---- layers ---- */

struct store_layer_files {
    bool has_tar, has_blob, has_skeleton;
    bool lost_blob; /* its blob is missing */
    uint64_t tar_bytes, blob_bytes;
    uint64_t object_bytes; /* of the skeleton and its objects, including shared ones */
    int64_t used_wall_s;
    struct oci_digest blob;
};
static inline uint64_t store_layer_bytes(const struct store_layer_files *f)
{
    return f->tar_bytes + f->blob_bytes + f->object_bytes;
}
/* Errors: -ENOENT, no such layer; E_CORRUPT, it has neither tar nor blob nor skeleton (*ret is
 * set); -EIO and the like. */
int store_layer_stat(struct oci_store *s, const struct oci_digest *diff_id,
                     struct store_layer_files *ret, struct err *err);
int store_read_fd(int fd, oci_store_sink sink, void *arg, struct err *err);
/* Count what is on disk, after gc and eviction. */
int store_count_used(struct oci_store *s, struct err *err);
void store_drop_used(struct oci_store *s, uint64_t bytes);
/* Remove it even if it is referred to. -EBUSY, -EAGAIN: as store_trash_unheld(). */
int store_layer_drop(struct oci_store *s, const struct oci_digest *diff_id, uint64_t n_references,
                     struct err *err);
/* Identifies the files of a layer, to detect later whether they were replaced. */
struct store_layer_seen {
    struct store_file tar, skeleton, note, blob;
};
/* Errors: those of store_file_of(). */
int store_layer_see(struct oci_store *s, const struct oci_digest *diff_id,
                    struct store_layer_seen *ret);
bool store_layer_seen_same(const struct store_layer_seen *a, const struct store_layer_seen *b);
/* As store_layer_drop(), if it still has these files: 1. 0: it has others, or was removed. */
int store_layer_drop_seen(struct oci_store *s, const struct oci_digest *diff_id,
                          const struct store_layer_seen *seen, struct err *err);
/* Remove only its skeleton, if it still has these files and another copy of its content: likewise.
 */
int store_skeleton_drop_seen(struct oci_store *s, const struct oci_digest *diff_id,
                             const struct store_layer_seen *seen, struct err *err);

/* ---- the layer of a blob (store_blobs.c) ---- */

/* An import has added both. */
void store_blobs_add(struct oci_store *s, const struct oci_digest *blob,
                     const struct oci_digest *diff_id);
void store_blobs_fini(struct oci_store *s);

/* ---- references ---- */

struct store_mark {
    uint32_t n_images;
    bool is_kept, is_pinned;
};
struct store_marks {
    struct map by_digest; /* -> struct store_mark */
    uint64_t n_references;
    struct arena arena;
};
/*
 * What names, leases and holds refer to. Errors: E_CORRUPT, a reference cannot be read: then
 * nothing may be removed.
 */
int store_marks_find(struct oci_store *s, struct store_marks *m, struct err *err);
void store_marks_fini(struct store_marks *m);
struct store_mark store_mark_of(const struct store_marks *m, const struct oci_digest *d);
struct store_lease {
    struct str id;
    struct oci_digest manifest;
    bool is_over; /* of another boot */
};
typedef int (*store_lease_cb)(void *arg, const char *file, const struct store_lease *l,
                              struct err *err);
int store_each_lease(struct oci_store *s, struct arena *a, store_lease_cb each, void *arg,
                     struct err *err);
/* One lease, by its file. Errors: -ENOENT, E_CORRUPT, what `each` returned. */
int store_read_lease(struct oci_store *s, const char *file, struct arena *a, store_lease_cb each,
                     void *arg, struct err *err);
int store_read_image(struct oci_store *s, const char *file, struct arena *a,
                     struct oci_store_image *ret, struct err *err);
/* Reserve bytes of the quota, evicting layers if necessary. -ENOSPC. */
int store_reserve(struct oci_store *s, uint64_t bytes, struct err *err);
void store_unreserve(struct oci_store *s, uint64_t bytes);
/* Make room after the file system was full: evict layers, and remove the trash and objects that no
 * layer names, also if no layer can be evicted. -ENOSPC: there was nothing to remove. */
int store_make_room(struct oci_store *s, uint64_t bytes, struct err *err);

/* ---- objects: content that layers share (store_objects.c) ---- */

/* Whether its files can be kept as objects. */
bool store_objects_can_keep(const struct oci_layer *layer);
/*
 * Create the objects of the layer's files that are missing or have other bytes than the tar, and
 * the file `skeleton`, relative to the root. tar_fd: its tar, compared with its DiffID. is_synced:
 * both are on the disk afterwards. After a success the objects stay, and the caller must call
 * store_objects_kept() on this thread once the layer is visible or discarded. Errors: -ENOSPC,
 * those of oci_skeleton_write().
 */
int store_objects_keep(struct oci_store *s, const char *skeleton, const struct oci_layer *layer,
                       int tar_fd, bool is_synced, struct err *err);
void store_objects_kept(struct oci_store *s);
/* The tar of a layer that has a skeleton. */
int store_read_objects(struct oci_store *s, const struct oci_digest *diff_id, oci_store_sink sink,
                       void *arg, struct err *err);
/* The size of the layer on disk, with all of its objects. Errors: -ENOENT, it has no skeleton. */
int store_skeleton_stat(struct oci_store *s, const struct oci_digest *diff_id,
                        uint64_t *ret_disk_bytes, struct err *err);
/* The objects that the skeleton of a layer names, each once. Errors: -ENOENT, it has none;
 * E_CORRUPT. */
int store_each_object_of(struct oci_store *s, const struct oci_digest *diff_id,
                         int (*each)(void *arg, const uint8_t digest[SHA256_BYTES],
                                     const char *path, struct err *err),
                         void *arg, struct err *err);
int store_each_object(struct oci_store *s,
                      int (*each)(void *arg, const uint8_t digest[SHA256_BYTES], const char *path,
                                  struct err *err),
                      void *arg, struct err *err);
/* A damaged object. */
struct store_rotten {
    uint8_t digest[SHA256_BYTES];
    struct store_file file;
};
/*
 * Remove damaged objects, and before them what needs them: the skeletons of layers that also have a
 * tar or a blob, and other layers as a whole; on_layer() is called for each of these. Objects that
 * were replaced in the meantime stay, and so do objects that a held layer needs. *ret_n: how many
 * were removed. Errors: it is unknown which layers need them; all stay.
 */
int store_objects_drop(struct oci_store *s, const struct store_rotten *all, size_t n,
                       void (*on_layer)(void *arg, const char *name), void *arg, size_t *ret_n,
                       struct err *err);
/*
 * Remove the objects that no layer names; none if the objects of a damaged layer are unknown.
 * is_dry: count only, as if unreferenced layers had been removed.
 */
int store_objects_sweep(struct oci_store *s, bool is_dry, size_t *ret_n, uint64_t *ret_bytes,
                        struct err *err);
