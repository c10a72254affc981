/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of the files of many layers, each distinct one once, in unnamed temporary files: a
 * compressed layer can only be read from its beginning, and new layers have other files in another
 * order. Costs disk for the distinct contents, uncompressed (holes stay holes), and memory for some
 * 100 bytes of each.
 *
 * A lane belongs to one thread; looking up and reading are for any thread once all lanes are done.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "oci/layer.h"

struct image_spool;
struct image_spool_lane;

/* `directory`: for the files, with enough space. Errors: of opening files. */
int image_spool_new(const char *directory, struct image_spool **ret, struct err *err);
void image_spool_free(struct image_spool *s); /* the lanes, too */
DEFINE_SCOPED(image_spool, image_spool_free)

/* For one thread until image_spool_release(); owned by the spool. Errors: what opening gives. Any
 * thread. */
int image_spool_acquire(struct image_spool *s, struct image_spool_lane **ret, struct err *err);
void image_spool_release(struct image_spool_lane *lane);
/* An oci_content_sink; `arg` is the lane. Errors: what writing gives. */
int image_spool_content(void *arg, const struct oci_entry *e, struct str bytes, struct err *err);

typedef int (*image_spool_sink)(void *arg, struct str bytes, struct err *err);
/* The content of a file of these bytes. Errors: -ENOENT, what reading gives, the sink's. */
int image_spool_read(const struct image_spool *s, const struct oci_entry *e, image_spool_sink sink,
                     void *arg, struct err *err);
