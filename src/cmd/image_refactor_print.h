/* SPDX-License-Identifier: Apache-2.0 */
/* What 'dormouse image refactor' says on its standard output: tables for a person, or JSON. */
#pragma once

#include "image/publish.h"
#include "image/update.h"

struct image_refactor_context {
    const char *const *image_names; /* of the images, in their order */
    const char *const *left_out;    /* references of those that could not be read */
    size_t n_left_out;
    const struct image_published *published; /* in registries; NULL: in a layout, or nowhere */
};

/* A plan, or its result: sizes that were not written are estimated, and it prints why the plan
 * would not be carried out. */
void image_refactor_print(const struct image_refactoring *r,
                          const struct image_refactor_context *context, bool is_json);
/* A new version in the layers of an older one. published: as above. */
void image_refactor_print_update(const struct image_update *u, const char *name,
                                 const struct image_published *published, bool is_json);
