/* SPDX-License-Identifier: Apache-2.0 */
/* Stores an image whose layers are available locally, without a pull. */
#pragma once

#include "image/start_list.h"
#include "oci/source.h"

struct keep_opts {
    const struct oci_image *image;
    struct str name;                /* in the store; empty: none */
    const struct start_list *first; /* files that its start opens; NULL: not known */
    /* Put a layer there, by its index; called for the first of equal ones. */
    int (*layer)(void *arg, struct oci_store *s, size_t i, struct err *err);
    void *arg;
};

/*
 * Put layers, documents, list and name, in this order; none of them is evicted during the call. The
 * store must be a writer. Blocks. Errors: those of layer(), of writing the store.
 */
int keep_image(struct oci_store *s, const struct keep_opts *o, struct err *err);
