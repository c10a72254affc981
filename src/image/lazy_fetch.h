/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Getting the files of an image that has started, or is to start, lazily: from the registry that
 * gives files by their digests (oci/file_parcel.h), what is opened first, then what a start opens
 * (image/start_list.h), then the rest. Each content is compared with its digest before the guardian
 * hears of it. What came lies in one file without a name, which ends with its last user.
 *
 * What the store has of files of other images is compared likewise, and fetched if it is something
 * else. A file that does not come, or is another one, keeps no other file back: an answer that is
 * damaged is asked for again in halves. A request that is refused as a whole says nothing of single
 * files: all wait, and the next one asks for half as much.
 *
 * Threads of its own, in which signals are blocked. What fails is tried again, later and later.
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
    LAZY_FETCH_URGENT_BYTES =
        1 << 20,                   /* of one for what is opened; a small file waits for no more */
    LAZY_FETCH_URGENT_THREADS = 3, /* so many large files keep what is opened from coming */
    LAZY_FETCH_START_TRIES = 4,    /* requests for the files of the start, then it fails */
    LAZY_FETCH_REFUSED_TRIES = 3,  /* that did not bring a file: then it is refused for good */
    LAZY_FETCH_ASK_MS = 250,       /* may_go_on() */
    LAZY_FETCH_AGAIN_MS = 500,     /* after the first failure; doubled up to */
    LAZY_FETCH_AGAIN_MAX_MS = 30 * 1000,
    LAZY_FETCH_URGENT_MAX_MS = 2 * 1000, /* where something waits in an open */
};

struct lazy_fetch;

struct lazy_fetch_opts {
    const struct lazy_view *view;      /* kept, as all of these */
    const struct oci_digest *diff_ids; /* of its layers */
    struct lazy_guard *guard;
    const struct start_list *first;
    struct oci_contents *contents; /* what is here already; NULL: nothing */
    uint64_t max_file_bytes;       /* that `parcel` can give; 0: OCI_PARCEL_BYTES_MAX */
    const char *spool_dir;         /* in whose file system what comes is kept */
    /*
     * The answer to a request for files, appended to `to`. 1 + LAZY_FETCH_URGENT_THREADS threads
     * at once; ends early when *stop is set.
     */
    int (*parcel)(void *arg, struct str request, struct buf *to, struct err *err);
    atomic_bool *stop;
    /* By any of its threads: more may be here; all is here (once); it was tried and failed; a file
     * is refused for good (once for each), though it is tried on, unless it is too large to be
     * fetched, and what the store has of it is something else; the guardian has ended, so
     * nothing can be opened any more (once). NULL: none. */
    void (*on_progress)(void *arg, uint64_t done_bytes, uint64_t all_bytes);
    void (*on_all)(void *arg, struct lazy_fetch *f);
    void (*on_failure)(void *arg, const char *why);
    void (*on_refused)(void *arg, const char *why);
    void (*on_deaf)(void *arg);
    /* By the thread of the background, before each request for more than the start has: whether it
     * is to be fetched here; if not, it asks again. NULL: always. */
    bool (*may_go_on)(void *arg, struct lazy_fetch *f);
    void *arg;
};

/* Errors: E_UNSUPPORTED, a file is too large to be fetched alone; of threads and files. */
int lazy_fetch_start(const struct lazy_fetch_opts *opts, struct lazy_fetch **ret, struct err *err);
/* Until the files of the start are here. Errors: of fetching them; -EPIPE, the guardian has ended.
 */
int lazy_fetch_wait(struct lazy_fetch *f, struct err *err);
/* Where a file (index of the view) lies, once it is here: a borrowed descriptor, and an offset.
 * Errors: -ENOENT. */
int lazy_fetch_place(struct lazy_fetch *f, uint32_t file, uint64_t *ret_at);
/* The content of a part of a layer to `sink`; f: a struct lazy_fetch. Errors: -ENOENT, it is not
 * here; -ECANCELED, lazy_fetch_is_over(); of reading it; those of `sink`. */
int lazy_fetch_content(void *f, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                       void *sink_arg, struct err *err);
/* More is here by now; c: kept until lazy_fetch_free(). Errors: of the guardian. */
int lazy_fetch_use(struct lazy_fetch *f, struct oci_contents *c, struct err *err);
/* lazy_fetch_free() has begun. Any thread. */
bool lazy_fetch_is_over(const struct lazy_fetch *f);
/* Wait so long, or until then; for on_all(). */
void lazy_fetch_pause(struct lazy_fetch *f, uint64_t ms);
/* Sets *stop, and waits for its threads. The guardian gets no more. NULL is fine. */
void lazy_fetch_free(struct lazy_fetch *f);
