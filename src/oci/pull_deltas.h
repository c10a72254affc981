/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deltas that are attached to an image in its registry (oci/layer_delta.h), if the store has the
 * older version for them, and trees of its layers (oci/layer_tree.h). Blocking.
 */
#pragma once

#include "oci/delta_artifact.h"
#include "oci/pull.h"

struct oci_deltas;

/*
 * Ask the origin once. *ret: given, oci_deltas_free(). Errors: those of the origin; E_UNSUPPORTED,
 * the store can use none of them.
 */
int oci_deltas_find(struct oci_store *s, const struct oci_origin *origin,
                    const struct oci_digest *manifest, struct oci_deltas **ret, struct err *err);
void oci_deltas_free(struct oci_deltas *d);
/* The delta of a layer; NULL: there is none. Any thread. */
const struct oci_descriptor *oci_deltas_get(const struct oci_deltas *d,
                                            const struct oci_digest *diff_id);
/* The tree of a layer; NULL: there is none. Any thread. */
const struct oci_descriptor *oci_deltas_tree(const struct oci_deltas *d,
                                             const struct oci_digest *diff_id);
/* The bytes of either, compared with its digest, appended to `to`. Any thread. Errors: those of the
 * origin; E_DIGEST. */
int oci_delta_fetch(const struct oci_origin *origin, const struct oci_descriptor *blob,
                    struct buf *to, struct err *err);
