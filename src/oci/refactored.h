/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refactored form of an image: another image with the same content in other layers, which is
 * attached to it in its registry (`dormouse image refactor --mode side`). Blocking.
 *
 * Its link is checked: subject and annotation name the original, and the configuration says the
 * same except for layers and history, so that no other program, user or environment comes with it.
 * That the files are the same is the word of those who push to the repository, who are believed
 * for what a tag names as well; an image that is named by its digest stays what it is.
 */
#pragma once

#include "oci/pull.h"

#define OCI_REFACTORED_SOURCE "image.dormouse.dev/source" /* annotation: digest of the original */

enum { OCI_REFACTORED_TRIES = 4 }; /* of what is attached, the last first */

/* Does the reference name a tag in a registry, whose image may be taken in another form? */
bool oci_refactored_may(struct str reference);

/*
 * The last one that is attached to `original`; its documents live in `a`. Errors: -ENOENT, none is
 * attached that is what it says; those of the origin.
 */
int oci_refactored_find(struct arena *a, const struct oci_origin *origin,
                        const struct oci_image *original, struct oci_image *ret, struct err *err);

/* Is `image` linked to `original` as above? Pure. Errors: E_INVALID, with what differs; E_PARSE. */
int oci_refactored_check(const struct oci_image *image, const struct oci_image *original,
                         struct err *err);
