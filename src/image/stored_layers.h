/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting an image of the node store layer by layer: an EROFS image of each, which all images with
 * that layer mount once and so share in memory, is a lower directory of an overlay. In the store:
 *
 *     layers/<DiffID>/lower-2.erofs, lower-2-cas.erofs    its directories; of one whose files are
 *                                                         objects the second
 *     layers/<DiffID>/mnt                                 where it is mounted
 *     layers/<DiffID>/uses-<boot>/<use>                   by which mounts; the last one unmounts it
 *     images/<manifest>/dirs-2.erofs                      on top: directories whose attributes are
 *                                                         those of a lower layer
 *
 * Whiteouts are devices 0/0, directories that hide lower ones have an attribute. Blocking calls, by
 * the process that writes the store, which ends the mount of a layer that leaves the store
 * (oci_store_sweep()); images that are mounted keep what they show.
 */
#pragma once

#include "image/stored.h"

enum { STORED_LAYERS_MAX = 400 }; /* overlayfs takes 500 */

/*
 * Write what is missing of the EROFS images. Errors: those of stored_prepare(); E_UNSUPPORTED, a
 * stack of the layers would show something else than the image, which stored_mount() can show: a
 * layer has a hard link to a file of a lower one, hides something that is not there, or hides all
 * that is below it; links are followed.
 */
int stored_layers_prepare(const struct stored *s, struct err *err);

struct stored_layers {
    int *fds; /* the lower directories, top first */
    size_t n;
};
/* After stored_layers_prepare(): mount the layers that are not, for `use` (a file name), and the
 * directories on top of them at `top`. *ret: given, stored_layers_fini(). */
int stored_layers_mount(const struct stored *s, const char *use, const char *top,
                        struct stored_layers *ret, struct err *err);
void stored_layers_fini(struct stored_layers *l);
/* The use is over; of layers that have no other one the mounts end. The overlay is unmounted. */
void stored_layers_release(struct oci_store *store, const struct oci_digest *diff_ids, size_t n,
                           const char *use);

/* Whether to mount an image layer by layer: it takes less memory where images share layers, and
 * lookups of names that are not there take longer. */
bool stored_layers_are_better(uint64_t memory_bytes, bool has_shared_layer);
