/* SPDX-License-Identifier: Apache-2.0 */
/* What 'dormouse image refactor' says on its standard output: tables for a person, or JSON. */
#pragma once

#include "image/update.h"

/*
 * A plan, or what came of it. image_names: of the images, in their order. is_dry: and why it would
 * not be carried out.
 */
void image_refactor_print(const struct image_refactoring *r, const char *const *image_names,
                          bool is_json, bool is_dry);
/* A new version in the layers of an older one. */
void image_refactor_print_update(const struct image_update *u, const char *name, bool is_json);
