/* SPDX-License-Identifier: Apache-2.0 */
/* Putting an image into the node store whose layers are at hand, other than by a pull. */
#pragma once

#include "image/start_list.h"
#include "oci/source.h"

struct keep_opts {
    const struct oci_image *image;
    struct str name;                /* that it gets there; empty: none */
    const struct start_list *first; /* what its start opens */
    /* Put a layer there, by its index; called for the first of equal ones. */
    int (*layer)(void *arg, struct oci_store *s, size_t i, struct err *err);
    void *arg;
};

/*
 * Layers, documents, list and name, in this order. Nothing of it leaves the store meanwhile. The
 * store is a writer. Blocks. Errors: those of layer(), of writing the store.
 */
int keep_image(struct oci_store *s, const struct keep_opts *o, struct err *err);
