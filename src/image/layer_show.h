/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that the tenant of a pull may have the layers that the store already has
 * (image/layer_rights.h): their bytes are read from the origin again, and must match the DiffIDs.
 * For the callbacks on_image and on_layers of oci_pull(). Blocking; one thread.
 */
#pragma once

#include "oci/pull.h"

#include <stdatomic.h>

struct layer_show {
    /* Set by the caller, kept until layer_show_fini(). */
    struct oci_store *s;
    const char *reference; /* as oci_origin_open() takes it */
    const struct oci_remote_opts *registry;
    struct oci_platform platform;
    struct str tenant;       /* as in image/layer_rights.h */
    const atomic_bool *stop; /* set by another thread to end soon; NULL: never */
    /* Internal. */
    struct oci_image image;
    struct oci_source *source; /* NULL: no layer had to be shown */
};

/* The image that is pulled (the last call counts); its documents are valid until
 * layer_show_layers(). */
void layer_show_image(struct layer_show *p, const struct oci_image *image);
/* Prove the layers that were in the store and are private to other tenants. Errors: -EAGAIN, the
 * image is not the one that was pulled; those of oci_source_layer(), -ECANCELED. */
int layer_show_layers(struct layer_show *p, const struct oci_pull_layer *layers, size_t n,
                      struct err *err);
void layer_show_fini(struct layer_show *p);
