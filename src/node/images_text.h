/* SPDX-License-Identifier: Apache-2.0 */
/* What node/images.c asks the process for that pulls images, as JSON. Pure. */
#pragma once

#include "codec/json.h"
#include "image/provide_child.h"
#include "node/images.h"

enum { IMAGES_TEXT_MAX = PROVIDE_LINE_MAX - 64 /* bytes of a request; the rest is around it */ };

/* A request for an image. Given, free(). NULL: it is too long. */
char *images_text_get(const struct images_opts *o, const char *lease,
                      const struct container_image_want *want);
