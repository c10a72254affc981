/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a struct oci_layer from the events of a layer with its raw tar (oci/layer_parse.h). The
 * DiffID and the digests of the files are computed here, from the bytes of the tar: the parser may
 * be a process that a hostile layer has taken over, and every image that names a DiffID uses the
 * layer. The positions of entries in the tar are checked; that the headers in the tar match the
 * events is not. One thread at a time. Pure: no I/O.
 */
#pragma once

#include "oci/layer_parse.h"

struct layer_gather;

struct layer_gather *layer_gather_new(void);
void layer_gather_free(struct layer_gather *g);
DEFINE_SCOPED(layer_gather, layer_gather_free)

/*
 * Also pass on the content of the files, in the order of the archive: `sink` gets the next bytes of
 * the content of `e`, holes as zeros; after the last ones it is called with no bytes, when the
 * digest of `e` is known. Files without content are skipped. `arg` is kept until
 * layer_gather_free(). NULL: not wanted.
 */
typedef int (*oci_content_sink)(void *arg, const struct oci_entry *e, struct str bytes,
                                struct err *err);
void layer_gather_content(struct layer_gather *g, oci_content_sink sink, void *arg);

/* arg is the struct layer_gather. Pieces of the tar have at most LAYER_GATHER_PIECE bytes. Errors:
 * E_LIMIT; E_PARSE, the events contradict each other; what the sink returned. */
enum { LAYER_GATHER_PIECE = 64 << 10 };
extern const struct layer_ops layer_gather_ops;

/* After the last event. *ret: given, oci_layer_free(). E_PARSE: a file is incomplete. */
int layer_gather_end(struct layer_gather *g, const struct layer_facts *facts,
                     struct oci_layer **ret, struct err *err);
