/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a layer as a stream: compressed bytes in; entries, their content and whiteouts out, in the
 * order of the archive. Memory does not grow with the layer. Pure: no I/O. One thread at a time per
 * parser.
 */
#pragma once

#include "base/buf.h"
#include "oci/layer.h"

#include <stdatomic.h>

struct oci_table;

/*
 * The receiver of a layer. Each function returns 0 or a negative code, which ends the reading and
 * is returned by the reader. All arguments are borrowed for the call.
 */
struct layer_ops {
    /* Entries have no digest. */
    int (*entry)(void *arg, const struct oci_entry *e, struct err *err);
    /* The next bytes of the content of the last entry, a file; the bytes of a hole are zeros. */
    int (*data)(void *arg, struct str bytes, struct err *err);
    int (*hole)(void *arg, uint64_t n_bytes, struct err *err);
    int (*whiteout)(void *arg, const struct oci_whiteout *w, struct err *err);
    /*
     * The next bytes of the uncompressed tar, before the entries that end in them. If it is set,
     * only the content of sparse files follows in data() and hole(): that of others is at the
     * data_offset of its entry in the tar.
     */
    int (*raw)(void *arg, struct str bytes, struct err *err);
};

/* The results of the parser. */
struct layer_facts {
    uint8_t diff_id[SHA256_BYTES]; /* zeros if the ops get the raw tar, which they hash */
    uint64_t n_bytes;              /* of the tar */
    uint64_t n_entries;            /* with whiteouts */
    uint64_t n_dropped; /* entries and attributes that must not reach a root file system */
};

struct layer_parser;

/* ops, arg: kept. max_bytes: of the tar; more is E_LIMIT. */
struct layer_parser *layer_parser_new(const struct layer_ops *ops, void *arg, uint64_t max_bytes);
void layer_parser_free(struct layer_parser *p);
DEFINE_SCOPED(layer_parser, layer_parser_free)
/* Compute the DiffID on a separate thread, if it is computed here and a thread can be started; call
 * it before the first byte. */
void layer_parser_hash_beside(struct layer_parser *p);
/* The next bytes of the blob. Errors: those of decompressor_add(), tar_reader_add(),
 * oci_layer_add(), of the ops, E_LIMIT. After an error only layer_parser_free() may be called. */
int layer_parser_add(struct layer_parser *p, struct str bytes, struct err *err);
/* The blob is complete. */
int layer_parser_end(struct layer_parser *p, struct layer_facts *ret, struct err *err);

/* ---- the process that parses ---- */

/*
 * Parsing of a layer while another thread supplies its blob: in this process, or in a confined one
 * (image/layer_child.h). The ops of the layer may run on a thread of the implementation, one call
 * at a time, until end() or free() returns.
 */
struct layer_reading_ops {
    /* ops, ops_arg: kept. *ret: given, free(). max_bytes as in layer_parser_new(). */
    int (*start)(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                 void **ret, struct err *err);
    /* The next bytes of the blob. May return the error of earlier bytes. Errors: those of
     * layer_parser_add(), and of the process; after one only free(). */
    int (*add)(void *reading, struct str bytes, struct err *err);
    /* The blob is complete: wait until the ops have received all of it. Then only free(). */
    int (*end)(void *reading, struct layer_facts *ret, struct err *err);
    void (*free)(void *reading); /* NULL is fine */
    /*
     * Append the flat form of a table (oci/table.h); arg as of start(). Blocks. The caller must
     * validate it. *process: NULL at first; state that the implementation keeps for the next table,
     * one thread at a time, until end_tables(). stop: when it is set, waiting for the process ends
     * with -ECANCELED; NULL: never. Errors: those of oci_table_flatten(), and of the process; then
     * nothing was appended.
     */
    int (*table)(void *arg, void **process, const struct oci_table *t, const atomic_bool *stop,
                 struct buf *to, struct err *err);
    void (*end_tables)(void *process); /* NULL is fine */
};

/* In this process, on the thread of the caller; arg: NULL. */
extern const struct layer_reading_ops layer_parse_here;
