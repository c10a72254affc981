/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts an image lazily, from a registry that supplies files by digest ("image serve") and has a
 * list of the files that its start opens: mounts it, fetches the files of the list, and leaves the
 * rest to threads while it runs. Each layer is verified as soon as its files are present
 * (image/lazy_prover.h); when all are present, they are put into the node store
 * (image/lazy_layers.h).
 *
 *     start list, tree manifests -> view -> mount -> files of the list -> (runs) -> all files ->
 *     store
 *
 * Until a layer is verified, the names, attributes and digests of its files are those in the tree
 * manifests of the registry, which are not trusted: the manifest of an image only proves whole
 * layers. Wrong data is detected when the tar of a layer is rebuilt, and on_mismatch() is called;
 * for a layer that the store has, it is detected before the start.
 */
#pragma once

#include "image/lazy_fetch.h"
#include "image/lazy_root.h"

enum {
    /* The start that fetches the rest of an image for others gives that turn back when so many
     * requests have failed, or one after this time, since it last got a file. */
    LAZY_IMAGE_TURN_FAILURES = 3,
    LAZY_IMAGE_TURN_MS = 30 * 1000,
};

struct lazy_image_opts {
    struct oci_source *source; /* kept, and so is the image */
    const struct oci_image *image;
    const char *store;    /* the node store's directory; kept */
    struct str reference; /* shown to users (image/lazy_status.h) */
    struct str name;      /* of the image in the store, once it is there; empty: none. Kept */
    const char *state, *target;
    const struct root_opts *root; /* not kept */
    uint64_t open_ms;             /* as in struct lazy_guard_opts */
    uint64_t prove_ms; /* after the start: on_late() if there are layers that nothing has compared
                          with the image; 0: never */
    uint64_t wait_ms;  /* for another process that writes the store */
    uint64_t max_tar_bytes;
    bool needs_no_list;  /* without one, files are fetched when they are opened */
    const char *program; /* of the guardian; NULL: this one */
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
    /* By threads: */
    void (*on_progress)(void *arg, uint64_t done_bytes, uint64_t all_bytes);
    void (*on_failure)(
        void *arg, const char *why); /* it is tried again. Not twice in a row for the same reason */
    void (*on_refused)(void *arg, const char *why);  /* a file will not come, by all that is known:
                                                        its layers stay unproven. NULL: none */
    void (*on_stored)(void *arg, const char *error); /* NULL: the image is in the store; else it is
                                                        not, and runs on */
    void (*on_no_answer)(void *arg);                 /* as in struct lazy_fetch_opts */
    void (*on_mismatch)(void *arg, const char *why); /* its container must end now */
    void (*on_late)(void *arg, const char *why);     /* prove_ms are over: likewise. At most one of
                                                        the last two is called, once */
    /* Asked by a thread, several times a second while it says no: whether to fetch files that
     * nothing has opened and the start does not need. NULL: always. */
    bool (*may_fetch_rest)(void *arg);
    /* Asked by any thread from lazy_image_finish() on; true: compare no more. NULL: never. */
    bool (*must_end)(void *arg);
    void *arg;
};

struct lazy_image;

/*
 * Errors: E_UNSUPPORTED, the source does not supply single files, or the image or the kernel does
 * not support lazy starts; -ENOENT, no start of it was recorded (not with needs_no_list); E_DIGEST,
 * the registry's data of a layer that the store has is wrong; E_LIMIT, E_PARSE, those of the
 * registry, of lazy_trees_add(), lazy_root_mount(), lazy_fetch_start(). On error nothing is
 * mounted.
 */
int lazy_image_start(const struct lazy_image_opts *opts, struct lazy_image **ret, struct err *err);
/* lazy_guard_missing() and lazy_guard_pid() of its guardian. */
uint32_t lazy_image_missing(const struct lazy_image *l);
int lazy_image_guard_pid(const struct lazy_image *l);
/* The container has ended: compare the layers whose files are here; on_mismatch() as before.
 * Returns how many were not compared, and 0 after on_mismatch() and on_late(). Before
 * lazy_image_stop(). */
size_t lazy_image_finish(struct lazy_image *l);
/* No more is fetched. Before root_umount(). */
void lazy_image_stop(struct lazy_image *l);
/* After on_stored(), instead of lazy_image_finish(): end the threads and free all that is not the
 * mount, which its guardian goes on serving. Not within a callback. */
void lazy_image_rest(struct lazy_image *l);
/* After root_umount(). NULL is fine. */
void lazy_image_free(struct lazy_image *l);
