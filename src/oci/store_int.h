/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the node store share; oci/store.h is the contract. */
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
    STORE_RECORD_MAX = 8 << 10,     /* bytes of a name's record */
};

struct oci_store {
    struct oci_store_opts opts;
    char *root;
    int fd;      /* of the root */
    int lock_fd; /* -1: a reader */
    char boot[BOOT_ID_BYTES];
    /* Held for reading from before it is known which objects are missing until a layer that names
     * them is visible; for writing while those that no layer names are removed. */
    pthread_rwlock_t objects;
    pthread_mutex_t names;   /* while a name is put or removed, and read before that */
    pthread_mutex_t mutex;   /* of what follows */
    pthread_cond_t imported; /* an import has ended */
    struct {
        pthread_mutex_t mutex;
        struct map of; /* digest of a blob -> struct oci_digest, the DiffID */
        bool is_made;
        struct timespec made_of; /* the time of the directory of layers then */
    } blobs;
    struct store_unsynced *unsynced; /* of a writer that does not sync */
    uint64_t n_imports_ended;
    struct map holds;        /* digest -> struct store_hold */
    uint64_t n_references;   /* names and leases that were put: marks from before are too old */
    uint64_t used_bytes;     /* of layers and blobs */
    uint64_t reserved_bytes; /* of imports in flight */
    bool has_stale_objects;  /* perhaps some that no layer names */
    uint32_t n_naming;       /* threads that give objects their names */
    /* Rounds of that which are over, and of them those whose names are synced. At the beginning one
     * is not: a process that was killed may have begun it. */
    uint64_t n_named, n_named_synced;
};

struct store_hold {
    uint32_t n;
    bool is_importing;
    const struct oci_import *import; /* that does; NULL: none */
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
/* The digest that a file is named by; false: it has another name. */
bool store_digest_of_name(const char *name, struct oci_digest *ret);

/* 0, or -EROFS with a text. */
int store_must_write(const struct oci_store *s, struct err *err);
/* A path relative to the root for something new in tmp. Given, free(). */
char *store_tmp_name(const struct oci_store *s);
/* Write, sync, rename, sync the directory; `name` is relative to the root. */
int store_put_file(struct oci_store *s, const char *name, struct str content, struct err *err);
int store_sync_dir(struct oci_store *s, const char *dir, struct err *err);
/* The same without syncing where the store is not durable: for what can be fetched again. */
int store_put_new(struct oci_store *s, const char *name, struct str content, struct err *err);
/* Make the layers that are visible stay so: before something that refers to them is put. */
int store_sync_layers(struct oci_store *s, struct err *err);
/* Rename something below the root to the trash. -ENOENT without a text is possible. */
int store_trash(struct oci_store *s, const char *name, struct err *err);
#define STORE_ANY_REFERENCES UINT64_MAX
/*
 * As store_trash(), unless a hold is on `d`: -EBUSY; or a name or lease was put since there were
 * n_references: -EAGAIN. Neither can happen meanwhile.
 */
int store_trash_unheld(struct oci_store *s, const char *name, const struct oci_digest *d,
                       uint64_t n_references, struct err *err);
/* Each name in a directory of the root, "." and ".." not; a negative code of `each` ends it. */
int store_each(const struct oci_store *s, const char *dir,
               int (*each)(void *arg, const char *name, struct err *err), void *arg,
               struct err *err);

/* ---- without syncs (store_unsynced.c) ---- */

/* Of a writer that has the lock: go on where another left, or remove what may be damaged. */
int store_unsynced_open(struct oci_store *s, struct err *err);
void store_unsynced_fini(struct oci_store *s);
/* The machine stopped since a writer that did not sync: what is there may be damaged. */
bool store_unsynced_is_stale(const struct oci_store *s);
/* An import of this layer waits until it is on the disk. */
bool store_must_sync(struct oci_store *s, const struct oci_digest *diff_id);
/* Before something that outlives the machine's stop refers to what is visible. */
int store_sync_all(struct oci_store *s, struct err *err);

/*
 * Which file has a name: another one that was renamed to it since is not the same. All zeros: no
 * file has it. Links to it and reading change nothing.
 */
struct store_file {
    uint64_t inode, size;
    struct timespec written;
};
/* *ret: of the file of this name, or zeros. Errors: those of fstatat() but -ENOENT. */
int store_file_of(const struct oci_store *s, const char *name, struct store_file *ret);
bool store_file_same(const struct store_file *a, const struct store_file *b);
/* As store_trash(), if it is this file; 1: it was; 0: it is another one, or there is none. */
int store_trash_same(struct oci_store *s, const char *name, const struct store_file *file,
                     struct err *err);
/* A code of the machine at this moment, such as -EIO or -EMFILE: it says nothing of what a file
 * holds. */
static inline bool store_is_system(int r)
{
    return r < 0 && r > E_CONFLICT;
}

/* ---- layers ---- */

struct store_layer_files {
    bool has_tar, has_blob, has_skeleton;
    bool lost_blob; /* it should have one */
    uint64_t tar_bytes, blob_bytes;
    uint64_t object_bytes; /* of the skeleton and its objects, also those that others have */
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
/* What is on disk, as gc and eviction left it. */
int store_count_used(struct oci_store *s, struct err *err);
void store_drop_used(struct oci_store *s, uint64_t bytes);
/* Remove, whoever refers to it. -EBUSY, -EAGAIN: as store_trash_unheld(). */
int store_layer_drop(struct oci_store *s, const struct oci_digest *diff_id, uint64_t n_references,
                     struct err *err);
/* The files that a layer has, to know later whether it still has them. */
struct store_layer_seen {
    struct store_file tar, skeleton, note, blob;
};
/* Errors: those of store_file_of(). */
int store_layer_see(struct oci_store *s, const struct oci_digest *diff_id,
                    struct store_layer_seen *ret);
bool store_layer_seen_same(const struct store_layer_seen *a, const struct store_layer_seen *b);
/* As store_layer_drop(), if it still has these files: 1; 0: it has others, or is gone. */
int store_layer_drop_seen(struct oci_store *s, const struct oci_digest *diff_id,
                          const struct store_layer_seen *seen, struct err *err);
/* Its skeleton alone, if it still has these files, where something else has its content: likewise.
 */
int store_skeleton_drop_seen(struct oci_store *s, const struct oci_digest *diff_id,
                             const struct store_layer_seen *seen, struct err *err);

/* ---- which layer a blob is of (store_blobs.c) ---- */

/* An import has brought both. */
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
 * What names, leases and holds refer to. Errors: E_CORRUPT, what refers cannot be read: then
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
/* One, by its file. Errors: -ENOENT, E_CORRUPT, what `each` returned. */
int store_read_lease(struct oci_store *s, const char *file, struct arena *a, store_lease_cb each,
                     void *arg, struct err *err);
int store_read_image(struct oci_store *s, const char *file, struct arena *a,
                     struct oci_store_image *ret, struct err *err);
/* Take bytes of the quota, removing layers where that is needed. -ENOSPC. */
int store_reserve(struct oci_store *s, uint64_t bytes, struct err *err);
void store_unreserve(struct oci_store *s, uint64_t bytes);
/* Ask for room after the file system had none: evict layers, and remove objects that no layer names
 * and the trash, also where no layer can go. -ENOSPC: there was nothing. */
int store_make_room(struct oci_store *s, uint64_t bytes, struct err *err);

/* ---- objects: content that layers share (store_objects.c) ---- */

/* Whether its files can be objects. */
bool store_objects_can_keep(const struct oci_layer *layer);
/*
 * Make those of the layer's files that are missing, or are there with other bytes than the tar has,
 * and the file `skeleton`, relative to the root. tar_fd: its tar, compared with its DiffID.
 * is_synced: both are on the disk afterwards. After a success the objects stay, and
 * store_objects_kept() has to follow on this thread once the layer is visible, or is given up.
 * Errors: -ENOSPC, those of oci_skeleton_write().
 */
int store_objects_keep(struct oci_store *s, const char *skeleton, const struct oci_layer *layer,
                       int tar_fd, bool is_synced, struct err *err);
void store_objects_kept(struct oci_store *s);
/* The tar of a layer that has a skeleton. */
int store_read_objects(struct oci_store *s, const struct oci_digest *diff_id, oci_store_sink sink,
                       void *arg, struct err *err);
/* What the layer takes on disk, with all of its objects. Errors: -ENOENT, it has no skeleton. */
int store_skeleton_stat(struct oci_store *s, const struct oci_digest *diff_id,
                        uint64_t *ret_disk_bytes, struct err *err);
/* Those that the skeleton of a layer names, each once. Errors: -ENOENT, it has none; E_CORRUPT. */
int store_each_object_of(struct oci_store *s, const struct oci_digest *diff_id,
                         int (*each)(void *arg, const uint8_t digest[SHA256_BYTES],
                                     const char *path, struct err *err),
                         void *arg, struct err *err);
int store_each_object(struct oci_store *s,
                      int (*each)(void *arg, const uint8_t digest[SHA256_BYTES], const char *path,
                                  struct err *err),
                      void *arg, struct err *err);
/* A file of objects that is damaged. */
struct store_rotten {
    uint8_t digest[SHA256_BYTES];
    struct store_file file;
};
/*
 * Remove damaged objects, and before them what needs them: the skeletons of layers that have a tar
 * or a blob as well, and other layers as a whole, for each of which on_layer() is called. Those
 * that have been replaced meanwhile stay, and those that a held layer needs. *ret_n: how many
 * went. Errors: it is not known what needs them, and all stay.
 */
int store_objects_drop(struct oci_store *s, const struct store_rotten *all, size_t n,
                       void (*on_layer)(void *arg, const char *name), void *arg, size_t *ret_n,
                       struct err *err);
/*
 * Remove those that no layer names; none while it is not known what a damaged layer names.
 * is_dry: count only, as if layers that nothing refers to were gone.
 */
int store_objects_sweep(struct oci_store *s, bool is_dry, size_t *ret_n, uint64_t *ret_bytes,
                        struct err *err);
