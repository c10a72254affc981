/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event of 'dormouse image optimize' for an image whose tag has moved or was deleted: JSON,
 *
 *     {"name": "docker://docker.io/library/redis:7", "old": DIGEST, "new": DIGEST or "", "dead":
 * [DIGEST...]}
 *
 * `dead` are layers (their blobs) that no watched image has any more. Pure.
 */
#pragma once

#include "codec/json.h"
#include "oci/reference.h"

enum { IMAGE_NEWS_MAX_BYTES = 1 << 20, IMAGE_NEWS_DEAD_MAX = 8192 };

struct image_replaced {
    struct oci_reference ref;
    struct oci_digest old, new;
    bool has_old, has_new;
    const struct oci_digest *dead;
    size_t n_dead;
};
/* In the arena. Errors: E_PARSE, E_INVALID, E_LIMIT. */
int image_replaced_parse(struct arena *a, struct str text, struct image_replaced *ret,
                         struct err *err);
