/* SPDX-License-Identifier: Apache-2.0 */
/* An image of the node store as a source, for oci/source.c. */
#pragma once

#include "oci/source.h"

struct source_store;

/* Reads the store in `root`. Errors: those of oci_store_open(), oci_store_image_find(). */
int source_store_open(struct str root, struct str name, struct source_store **ret, struct err *err);
void source_store_free(struct source_store *s);
DEFINE_SCOPED(source_store, source_store_free)
/*
 * If the store has the blobs of all layers, the image is the one that was pulled. Otherwise its
 * layers are uncompressed tars, described by their DiffIDs, and it has no manifest_text. Texts are
 * owned by the source.
 */
int source_store_image(struct source_store *s, struct oci_image *ret, struct err *err);
/* Read a layer or the configuration; the digest is not compared. Any number of threads. */
int source_store_blob(struct source_store *s, const struct oci_digest *d, oci_blob_sink sink,
                      void *arg, struct err *err);
bool source_store_has_no_blobs(const struct source_store *s);
