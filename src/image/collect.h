/* SPDX-License-Identifier: Apache-2.0 */
/* Removes from a node store what no image, lease or hold refers to, with all that is derived from
 * it. Blocking; several threads at once on one store wait for each other. */
#pragma once

#include "image/layer_cache.h"

struct image_collected {
    struct oci_store_gc store;
    size_t n_roots;                   /* root file systems (image/provide.h) */
    struct layer_cache_summary cache; /* of the layers that stay */
};

/* is_dry: count only. Errors: those of oci_store_gc(), oci_store_sweep(), provide_sweep(). */
int image_collect(struct oci_store *s, bool is_dry, struct image_collected *ret, struct err *err);
