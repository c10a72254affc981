/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refactored images into registries. Shared layers first, each uploaded once and mounted into the
 * other repositories, then top layers, configurations, manifests, and the tags last: a run that
 * ends early leaves blobs and manifests that no tag names, which the registry's garbage collection
 * removes.
 *
 * Each manifest is attached to its source (subject; distribution-spec 1.1, "Pushing Manifests with
 * Subject"), by the referrers API or the tag "sha256-HEX" where a registry has none. Replacing
 * moves the tag as well, if it still names what was read. Registries have no conditional PUT: a
 * tag that moves between the question and the PUT is overwritten. That is one round trip; for an
 * image that nothing is shared with, copied into a repository that it is not from, the copy.
 *
 * Blocking; one thread.
 */
#pragma once

#include "image/refactor.h"
#include "oci/layout.h"
#include "oci/push.h"

struct image_publish_opts {
    const struct oci_remote_opts *registry; /* NULL: as the defaults say */
    /* All images go into this repository (its tag counts for nothing); NULL: each into the one it
     * was read from. */
    const struct oci_reference *into;
    const char *const *tags; /* of each image, with `into` and is_replacing */
    bool is_replacing;
    /* A tag that names an index for several platforms stays, and its image is attached to its
     * source alone; else that is an error. */
    bool keeps_indexes;
    /* Of a pair (image/update.h): the second image alone is published, and the layers below its
     * last one are those of the first, mounted or copied from where that was read if the repository
     * does not have them. */
    bool is_update;
    void (*news)(void *arg, const struct oci_push_news *news); /* NULL: none */
    void *arg;
};

struct image_published_image {
    const char *repository; /* "HOST/NAME"; lives in the refactoring */
    const char *tag;        /* that names it now; NULL: none was moved */
    bool is_left;           /* it stays as it is, where it is: nothing was to do */
};

struct image_published {
    struct image_published_image *images; /* one for each of the group; in the refactoring */
    size_t n_uploaded, n_mounted, n_existed;
    uint64_t n_bytes; /* uploaded */
};

/*
 * After image_refactor_stage() with this layout. Errors: E_INVALID (an image that is not from a
 * registry, or has no tag to replace), E_CONFLICT (a tag has moved meanwhile; it is left as it is,
 * as are those after it), E_UNSUPPORTED (the tag names an index for several platforms, of which one
 * would be left), those of oci/remote.h.
 */
int image_refactor_publish(struct image_refactoring *r, const struct oci_layout *layout,
                           const struct image_publish_opts *opts, struct image_published *ret,
                           struct err *err);
/* The same questions without an answer, before anything is written: can each image be published?
 * Errors: E_INVALID, E_CONFLICT, E_UNSUPPORTED, those of oci/remote.h. */
int image_refactor_check_targets(struct image_refactoring *r, const struct image_publish_opts *opts,
                                 struct err *err);
