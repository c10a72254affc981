/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private directory for temporary files of a run: below TMPDIR, or /var/tmp since it may be
 * large. image_scratch_free() removes it; the directory of a killed run is removed by the next run.
 * Any thread, one at a time.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

struct image_scratch;

/* Errors: of the file system. */
int image_scratch_new(struct image_scratch **ret, struct err *err);
/* With all that is in it. NULL is fine. */
void image_scratch_free(struct image_scratch *s);
DEFINE_SCOPED(image_scratch, image_scratch_free)
/* Its path. Borrowed. */
const char *image_scratch_path(const struct image_scratch *s);
