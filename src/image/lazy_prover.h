/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks which layers of a lazy start are proven (image/lazy_proof.h). A separate thread proves
 * each layer as soon as its files are present: a registry that withholds a file only prevents the
 * proof of the layers that have this file. A layer that stays unproven too long may end the start.
 *
 * All functions: any thread, unless they say otherwise.
 */
#pragma once

#include "image/lazy_fetch.h"
#include "image/lazy_trees.h"
#include "oci/layer_parse.h"

/* After a fault of this machine a layer is tried again, each time later; the others do not wait. */
enum { LAZY_PROVER_AGAIN_MS = 5000, LAZY_PROVER_AGAIN_MAX_MS = 5 * 60 * 1000 };

struct lazy_prover;

struct lazy_prover_opts {
    const struct lazy_trees *trees; /* kept, as all of these */
    const struct lazy_view *view;
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
    uint64_t within_ms; /* of lazy_prover_start(): then on_late() is called; 0: never */
    /* On the thread, once: the registry's data of a layer is wrong; there are layers that are not
     * proven. */
    void (*on_mismatch)(void *arg, const char *why);
    void (*on_late)(void *arg, const char *why);
    /* Asked now and then from lazy_prover_finish() on, by any thread; true: what is not proven yet
     * stays so. NULL: never. */
    bool (*must_end)(void *arg);
    void *arg;
};

struct lazy_prover *lazy_prover_new(const struct lazy_prover_opts *opts);
/* Start the thread, in which signals are blocked. f: until lazy_prover_stop(). */
int lazy_prover_start(struct lazy_prover *p, struct lazy_fetch *f, struct err *err);
/* More files are here. */
void lazy_prover_wake(struct lazy_prover *p);
/*
 * Prove a layer, the first of its kind, unless it is proven; one at a time. Errors: those of
 * lazy_proof_layer(), -ENOENT, not all of its files are here; -ECANCELED, the fetching is over.
 */
int lazy_prover_prove(struct lazy_prover *p, struct lazy_fetch *f, size_t layer, struct err *err);
/* Each of them. Errors: E_DIGEST; all others are left to the next time. */
int lazy_prover_prove_all(struct lazy_prover *p, struct lazy_fetch *f, struct err *err);
/* It was compared in another way. */
void lazy_prover_set(struct lazy_prover *p, size_t layer);
/* From now on only the caller proves. Waits for the current proof of the thread. */
void lazy_prover_take_over(struct lazy_prover *p);
/*
 * The container has ended: prove each layer whose files are here. From now on the caller proves,
 * and lazy_layers_keep() keeps nothing more. Errors: E_DIGEST; all others are those of
 * lazy_prover_missing().
 */
int lazy_prover_finish(struct lazy_prover *p, struct lazy_fetch *f, struct err *err);
bool lazy_prover_is_finishing(struct lazy_prover *p);
/* How many layers are not proven; equal ones count once. */
size_t lazy_prover_missing(struct lazy_prover *p);
/* Ends the thread, after the proof that it is at, which ends early when the fetching is over. NULL
 * is fine for both. */
void lazy_prover_stop(struct lazy_prover *p);
void lazy_prover_free(struct lazy_prover *p);
DEFINE_SCOPED(lazy_prover, lazy_prover_free)
