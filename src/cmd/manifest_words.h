/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes part of the YAML of a manifest as it is. */
#pragma once

#include <stdbool.h>

/* Lower-case letters, digits and the characters of `also`, at least one: names, images. */
bool manifest_is_plain(const char *s, const char *also);
/* The characters of a reference of an image beside those. */
#define MANIFEST_IMAGE "-._/:@ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define MANIFEST_NO_IMAGE                                                                          \
    "--image is needed: which image has the programs? './dev image NAME:TAG' in the sources "      \
    "makes one"
