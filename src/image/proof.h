/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof that a refactored image equals the original: the merged views have the same paths, types,
 * contents, rights, extended attributes, targets and groups of hard links. Times may differ as the
 * plan states; with linked content a file may have become a symbolic link to a file with the same
 * content and rights; and an image of eStargz layers has their tables and landmarks. Pure; one
 * thread at a time.
 */
#pragma once

#include "image/refactor.h"

/* `again`: the merged view of the new image number `image`. *ret_times: names with another time.
 * Errors: E_DIGEST with the first path that differs and how. */
int image_proof(const struct image_refactoring *r, size_t image, const struct oci_tree *again,
                uint64_t *ret_times, struct err *err);
