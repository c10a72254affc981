/* SPDX-License-Identifier: Apache-2.0 */
/* An image of the node store as a source: what oci/source.c needs of it. */
#pragma once

#include "oci/source.h"

struct source_store;

/* Reads the store in `root`. Errors: those of oci_store_open(), oci_store_image_find(). */
int source_store_open(struct str root, struct str name, struct source_store **ret, struct err *err);
void source_store_free(struct source_store *s);
DEFINE_SCOPED(source_store, source_store_free)
/*
 * With the blobs of all layers in the store the image is the one that was pulled. Otherwise layers
 * are uncompressed tars, described by their DiffIDs, and the image has no manifest_text. Texts live
 * in the source.
 */
int source_store_image(struct source_store *s, struct oci_image *ret, struct err *err);
/* A layer or the configuration, not compared. Several threads at once. */
int source_store_blob(struct source_store *s, const struct oci_digest *d, oci_blob_sink sink,
                      void *arg, struct err *err);
bool source_store_has_no_blobs(const struct source_store *s);
