/* SPDX-License-Identifier: Apache-2.0 */
/* What 'dormouse image refactor' says on its standard output: tables for a person, or JSON. */
#pragma once

#include "image/publish.h"
#include "image/update.h"

/*
 * A plan, or what came of it: what was not written is estimated, and it says why it would not be
 * carried out. image_names: of the images, in their order. published: where they are now, in
 * registries; NULL: in a layout, or nowhere.
 */
void image_refactor_print(const struct image_refactoring *r, const char *const *image_names,
                          bool is_json, const struct image_published *published);
/* A new version in the layers of an older one. */
void image_refactor_print_update(const struct image_update *u, const char *name, bool is_json);
