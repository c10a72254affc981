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

#include "codec/json.h"
#include "oci/pull.h"

/* Annotations: the digest of the original, and that of the form's own configuration. Programs that
 * build FROM an image copy its annotations, but the configuration is another one. */
#define OCI_REFACTORED_SOURCE "image.dormouse.dev/source"
#define OCI_REFACTORED_CONFIG "image.dormouse.dev/config"
/* When the newest image of the group was made, whose layers the form shares: the latest counts. */
#define OCI_REFACTORED_NEWEST "image.dormouse.dev/newest"

enum { OCI_REFACTORED_TRIES = 4 }; /* of what is attached */

/* Of which image a manifest says to be the refactored form; false: of none. Pure. */
bool oci_refactored_source(const struct json *manifest, struct oci_digest *ret);

/* Turns all of it off for a process, where it is neither empty nor "0". */
#define OCI_REFACTORED_OFF "DORMOUSE_IMAGE_ORIGINAL"

/* May the image that the reference names be taken in another form? That of a tag in a registry,
 * unless the environment says no. */
bool oci_refactored_may(struct str reference);

/*
 * What an index of referrers lists as refactored forms of `original`, at most OCI_REFACTORED_TRIES
 * in the order in which to try them: by the time of their group, the latest first, and of equal or
 * unknown times the last listed. Nothing of it is checked. Pure. Errors: E_PARSE.
 */
int oci_refactored_list(struct str index, const struct oci_digest *original,
                        struct oci_digest ret[OCI_REFACTORED_TRIES], size_t *ret_n,
                        struct err *err);

/*
 * The first of them that is what it says; its documents live in `a`. Errors: -ENOENT, there is
 * none; those of the origin.
 */
int oci_refactored_find(struct arena *a, const struct oci_origin *origin,
                        const struct oci_image *original, struct oci_image *ret, struct err *err);

/* Is `image` linked to `original` as above? Pure. Errors: E_INVALID, with what differs; E_PARSE. */
int oci_refactored_check(const struct oci_image *image, const struct oci_image *original,
                         struct err *err);
