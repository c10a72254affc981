/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images a node store has, and removing those that were used longest ago: kubelet's garbage
 * collection of images. An image is all names of one manifest. It is used while a lease holds it;
 * its last use is the end of its last lease or its last pull. Pinned images stay.
 *
 * Blocking; any thread.
 */
#pragma once

#include "oci/store.h"

struct prune_image {
    struct oci_digest manifest;
    struct str *names;
    size_t n_names;
    uint64_t n_bytes; /* on disk, of its layers that are there, also those that others have */
    int64_t pulled_wall_s, used_wall_s;
    bool is_used, is_pinned;
};

/* All, in the arena, the one that was used longest ago first. Errors: E_CORRUPT, reading. */
int prune_list(struct oci_store *s, struct arena *a, struct prune_image **ret, size_t *ret_n,
               struct err *err);

struct prune_opts {
    uint64_t bytes;     /* enough; images go one after the other */
    uint64_t min_age_s; /* younger ones stay */
    int64_t now_wall_s;
};
struct pruned {
    size_t n_images;
    uint64_t n_bytes; /* with what had no name before */
};
/* *ret is set on success; n_bytes may be less than asked for. Errors: of prune_list(),
 * image_collect(). */
int prune_images(struct oci_store *s, const struct prune_opts *opts, struct pruned *ret,
                 struct err *err);
