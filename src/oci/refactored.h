/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refactored form of an image: another image with the same content in other layers, which is
 * attached to it in its registry (`dormouse image refactor --mode side`). Blocking.
 *
 * The link is checked: subject and annotation name the original, and the configuration is equal
 * except for layers and history, so that it cannot introduce another program, user or environment.
 * That the files are equal is not checked: users who may push to the repository are trusted with
 * it, as they are with tags. An image that is referenced by its digest is always pulled as it is.
 */
#pragma once

#include "codec/json.h"
#include "oci/pull.h"

/* Annotations: the digest of the original, and that of the form's own configuration. Builds FROM an
 * image copy its annotations, but have another configuration. */
#define OCI_REFACTORED_SOURCE "image.dormouse.dev/source"
#define OCI_REFACTORED_CONFIG "image.dormouse.dev/config"
/* Creation time of the newest image of the group that shares its layers; the latest form wins. */
#define OCI_REFACTORED_NEWEST "image.dormouse.dev/newest"

enum { OCI_REFACTORED_TRIES = 4 }; /* attached forms that are tried */

/* The image whose refactored form the manifest claims to be; false: none. Pure. */
bool oci_refactored_source(const struct json *manifest, struct oci_digest *ret);

/* Disables refactored forms for a process, unless it is empty or "0". */
#define OCI_REFACTORED_OFF "DORMOUSE_IMAGE_ORIGINAL"

/* Whether the image of the reference may be pulled in another form: a tag in a registry, unless the
 * environment disables it. */
bool oci_refactored_may(struct str reference);

/*
 * The refactored forms of `original` in an index of referrers, at most OCI_REFACTORED_TRIES in the
 * order in which to try them: by the time of their group, the latest first, and with equal or
 * unknown times the last listed first. They are not checked. Pure. Errors: E_PARSE.
 */
int oci_refactored_list(struct str index, const struct oci_digest *original,
                        struct oci_digest ret[OCI_REFACTORED_TRIES], size_t *ret_n,
                        struct err *err);

/*
 * The first of them that passes the check; its documents are in `a`. Errors: -ENOENT, there is
 * none; those of the origin.
 */
int oci_refactored_find(struct arena *a, const struct oci_origin *origin,
                        const struct oci_image *original, struct oci_image *ret, struct err *err);

/* Check the link of `image` to `original`. Pure. Errors: E_INVALID, with the difference; E_PARSE.
 */
int oci_refactored_check(const struct oci_image *image, const struct oci_image *original,
                         struct err *err);
