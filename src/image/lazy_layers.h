/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a lazy start: all files are here, so the layers are made of them and put into the
 * node store, and those that nothing has proven yet are compared with what the image is
 * (image/lazy_proof.h). A store that cannot be written to delays the former alone.
 *
 * Blocking; one thread.
 */
#pragma once

#include "image/lazy_prover.h"
#include "oci/source.h"

enum {
    LAZY_LAYERS_AGAIN_MS =
        500, /* after what may pass: another writer, a full disk; doubled up to */
    LAZY_LAYERS_AGAIN_MAX_MS = 60 * 1000,
};

struct lazy_layers_opts {
    const char *store;
    const struct oci_image *image;
    struct str name;   /* that it gets there; empty: none */
    const char *state; /* of its mount, which gets a lease on it; NULL: none. A server that has the
                          store gets the image handed over there (image/handed.h) */
    const atomic_bool *stop; /* ends waiting for that server; NULL: nothing does */
    const struct lazy_trees *trees;
    const struct lazy_view *view;
    const struct start_list *first; /* NULL: none was recorded */
    struct lazy_fetch *fetch;
    struct lazy_prover *prover; /* what it has proven is not proven again without the store */
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
    void (*on_failure)(void *arg,
                       const char *why); /* of the store; it is tried again. NULL: none */
    void *arg;
};

/*
 * Returns when the image is in the store, or cannot be put there. Errors: E_DIGEST, the registry's
 * data of the layers is wrong; -ECANCELED, lazy_fetch_free() or lazy_prover_finish(), and no wrong
 * data was found before; all others: the image is not in the store, and the text says if it was not
 * compared either.
 */
int lazy_layers_keep(const struct lazy_layers_opts *o, struct err *err);

/* Compare the registry's data of layers that the store already has. Errors: E_DIGEST. */
int lazy_layers_check(struct oci_store *s, const struct lazy_trees *trees, struct err *err);
