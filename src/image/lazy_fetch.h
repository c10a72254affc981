/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches the files of an image that starts lazily from a registry that supplies files by digest
 * (oci/file_parcel.h): first files that are opened, then files that a start opens
 * (image/start_list.h), then the rest. Each content is compared with its digest before the guardian
 * is notified. Received contents are in one unnamed file, which is deleted with its last user.
 *
 * Contents that the store has from other images are compared likewise, and fetched if they differ.
 * A file that is missing or wrong does not delay other files: after a damaged answer the files are
 * requested again in halves. A request that is rejected as a whole says nothing about single files:
 * all wait, and the next request has half as many.
 *
 * Uses its own threads, with signals blocked. Failures are retried with increasing back-off.
 */
#pragma once

#include "image/lazy_guard.h"
#include "image/start_list.h"
#include "oci/contents.h"
#include "oci/skeleton.h"

#include <stdatomic.h>

enum {
    LAZY_FETCH_BATCH_BYTES = 8 << 20, /* of a request, unless one file has more */
    LAZY_FETCH_BATCH_FILES = 4096,
    LAZY_FETCH_URGENT_BYTES = 1 << 20, /* of one for opened files; a small file waits for no more */
    LAZY_FETCH_URGENT_THREADS = 3,     /* this many large files block the files that are opened */
    LAZY_FETCH_START_TRIES = 4,        /* requests for the files of the start, then it fails */
    LAZY_FETCH_REFUSED_TRIES = 3,      /* failed requests after which a file is refused for good */
    LAZY_FETCH_ASK_MS = 250,           /* between two calls of may_go_on() */
    LAZY_FETCH_AGAIN_MS = 500,         /* after the first failure; doubled up to */
    LAZY_FETCH_AGAIN_MAX_MS = 30 * 1000,
    LAZY_FETCH_URGENT_MAX_MS = 2 * 1000, /* if an open waits */
};

struct lazy_fetch;

struct lazy_fetch_opts {
    const struct lazy_view *view;      /* kept, as all of these */
    const struct oci_digest *diff_ids; /* of its layers */
    struct lazy_guard *guard;
    const struct start_list *first;
    struct oci_contents *contents; /* of the store; NULL: none */
    uint64_t max_file_bytes;       /* that `parcel` can supply; 0: OCI_PARCEL_BYTES_MAX */
    const char *spool_dir;         /* the file system for received contents */
    /*
     * The answer to a request for files, appended to `to`. 1 + LAZY_FETCH_URGENT_THREADS threads
     * at once; ends early when *stop is set.
     */
    int (*parcel)(void *arg, struct str request, struct buf *to, struct err *err);
    atomic_bool *stop;
    /* Called from any of its threads; NULL: none. on_progress: there may be more. on_all:
     * everything is present (once). on_failure: an attempt failed. on_refused: a file is refused
     * for good (once per file); it is still retried, unless it is too large to be fetched, and the
     * store's copy differs. on_no_answer: the guardian has ended, so no file can be opened (once).
     */
    void (*on_progress)(void *arg, uint64_t done_bytes, uint64_t all_bytes);
    void (*on_all)(void *arg, struct lazy_fetch *f);
    void (*on_failure)(void *arg, const char *why);
    void (*on_refused)(void *arg, const char *why);
    void (*on_no_answer)(void *arg);
    /* Called from the background thread, before each request for files that the start does not
     * need: whether to fetch them here; if not, it asks again later. NULL: always. */
    bool (*may_go_on)(void *arg, struct lazy_fetch *f);
    void *arg;
};

/* Errors: E_UNSUPPORTED, a file is too large to be fetched alone; of threads and files. */
int lazy_fetch_start(const struct lazy_fetch_opts *opts, struct lazy_fetch **ret, struct err *err);
/* Wait until the files of the start are present. Errors: of fetching them; -EPIPE, the guardian has
 * ended. */
int lazy_fetch_wait(struct lazy_fetch *f, struct err *err);
/* The position of a file (index of the view), if it is present: a borrowed descriptor, and an
 * offset. Errors: -ENOENT. */
int lazy_fetch_place(struct lazy_fetch *f, uint32_t file, uint64_t *ret_at);
/* Pass the content of a part of a layer to `sink`; f: a struct lazy_fetch. Errors: -ENOENT, it is
 * not present; -ECANCELED, lazy_fetch_is_over(); of reading it; those of `sink`. */
int lazy_fetch_content(void *f, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                       void *sink_arg, struct err *err);
/* Add contents of the store; c: kept until lazy_fetch_free(). Errors: of the guardian. */
int lazy_fetch_use(struct lazy_fetch *f, struct oci_contents *c, struct err *err);
/* lazy_fetch_free() has begun. Any thread. */
bool lazy_fetch_is_over(const struct lazy_fetch *f);
/* Wait this long, or until lazy_fetch_is_over(); for on_all(). */
void lazy_fetch_pause(struct lazy_fetch *f, uint64_t ms);
/* Sets *stop, and waits for its threads. The guardian gets no further files. NULL is fine. */
void lazy_fetch_free(struct lazy_fetch *f);
