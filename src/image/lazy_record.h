/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the files that the start of an image opens (image/start_list.h): the image is mounted as
 * for a lazy start, with all contents present, and the guardian requests each file when it is first
 * opened. For images whose layers the node store keeps as tars.
 */
#pragma once

#include "image/lazy_root.h"
#include "image/start_list.h"

struct lazy_record;

/*
 * Mount an image of the store at `target` (lazy_root_mount()) and record on a separate thread.
 * Errors: E_UNSUPPORTED, a layer is not kept as a tar; those of lazy_view_make() and
 * lazy_root_mount().
 */
int lazy_record_start(const struct stored *s, const char *state, const char *target,
                      const struct root_opts *opts, const char *program, struct lazy_record **ret,
                      struct err *err);
/* End the recording and return the files. *ret: given, start_list_fini(). */
void lazy_record_finish(struct lazy_record *r, struct start_list *ret);
/* After root_umount(). NULL is fine. */
void lazy_record_free(struct lazy_record *r);
