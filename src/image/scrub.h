/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches for damage in the node store of a long-running process: one layer after the other, as
 * `dormouse image check` does, with a daily budget of bytes. A thread of low priority reads, at
 * SCRUB_BYTES_PER_S or at the rate that the budget needs; the pause between two layers is the time
 * for the bytes of the first one. Damaged files are logged, and removed if this process is the
 * store's writer: their images are pulled again when they are used.
 *
 * The next process continues after the last checked layer: its DiffID is in the file "scrub" of a
 * store that is written.
 *
 * Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "oci/store.h"

enum {
    SCRUB_BYTES_PER_S = 5 << 20,
    SCRUB_GAP_MS = 50,                 /* at least, between two layers */
    SCRUB_FIRST_BYTES = 64 << 20,      /* the first check is after the time for these bytes, */
    SCRUB_FIRST_MS = 60 * 1000,        /* this at most */
    SCRUB_NOTHING_MS = 10 * 60 * 1000, /* until the next look into an empty store */
};

struct scrub_opts {
    struct loop *loop;
    struct oci_store *store;                 /* kept until done() */
    uint64_t bytes_per_day;                  /* 1 or more */
    bool may_remove;                         /* the store is a writer's */
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void (*on_removed)(void *arg);           /* something left the store; NULL: not of interest */
    void *arg;
};

struct scrub_stats {
    uint64_t n_layers, n_bytes, n_damaged, n_removed, n_failed; /* failed: could not be read */
};

struct scrub;
struct scrub *scrub_start(const struct scrub_opts *opts);
const struct scrub_stats *scrub_stats(const struct scrub *s);
/* The layer that is read is left; done() when no thread is left, never before this returned. */
void scrub_close(struct scrub *s, void (*done)(void *arg), void *arg);

/* How long after a layer of so many bytes the next one is looked at; pure. */
uint64_t scrub_gap_ms(uint64_t n_bytes, uint64_t bytes_per_day);
