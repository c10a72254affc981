/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that describe the content of a layer and come from an untrusted source: tree manifests
 * (oci/tree_manifest.h), and the tables of contents of eStargz and zstd:chunked (oci/chunked.h).
 * They are compressed and have complex grammars, so a confined process parses them (struct
 * layer_reading_ops). It returns flat records of fixed size, little-endian, which this process
 * validates as untrusted input, too:
 *
 *     chunks  u64 how many; 72 bytes each: u64 from, to, at, n, file_size, 32 SHA-256 of the file
 *     tree    32 DiffID, u64 bytes of the tar, u64 files; 48 bytes each, as the parts of a skeleton
 *             (oci/skeleton.h); u16 each: bytes of the path; the paths; the bytes of the tar that
 *             are in no file
 *     layer   the flat form of the index of a tree manifest (oci/layer_index.h)
 *
 * Pure; any thread.
 */
#pragma once

#include "oci/chunked.h"
#include "oci/layer_parse.h"
#include "oci/skeleton.h"

/* OCI_TABLE_LAYER: also of a tree manifest; its other bytes are ignored. */
enum oci_table_kind { OCI_TABLE_TREE, OCI_TABLE_ESTARGZ, OCI_TABLE_ZSTD_CHUNKED, OCI_TABLE_LAYER };
enum {
    OCI_TABLE_KINDS = 4,
    OCI_TABLE_HEAD_BYTES = 5 * 8 + SHA256_BYTES, /* what precedes the bytes for the child */
    OCI_TABLE_FLAT_MAX = 512 << 20,
    /* Of all tables of a pull that are held at once, with the data made from them. */
    OCI_TABLES_HELD_MAX = 512 << 20,
    /* A layer in memory cannot hold more. */
    OCI_TABLE_FILES_MAX = OCI_LAYER_MEMORY_MAX / sizeof(struct oci_entry),
};

struct oci_table {
    enum oci_table_kind kind;
    struct oci_chunked_place place; /* of chunks: where the table is in the blob, */
    uint64_t size;                  /* and the size of that */
    struct oci_digest digest;       /* that the JSON of eStargz must have */
    struct str bytes;
};

/* Append the flat form of a table, in this process. Errors: E_PARSE, E_CORRUPT, E_VERSION, E_LIMIT,
 * E_DIGEST, -ENOMEM; then some of it may have been appended. */
int oci_table_flatten(const struct oci_table *t, struct buf *to, struct err *err);

/*
 * Reads the tables of a pull, one at a time, with a process that it keeps for the next table, and
 * limits the memory that they take. Any thread. ops, arg: kept; NULL: this process parses them.
 * stop: kept; reading ends with -ECANCELED soon after it is set; NULL: never.
 */
struct oci_table_reader;
struct oci_table_reader *oci_table_reader_new(const struct layer_reading_ops *ops, void *arg,
                                              const atomic_bool *stop);
void oci_table_reader_free(struct oci_table_reader *r);
/* A table took too long while others were waiting: it reads no further tables. */
bool oci_table_reader_has_stalled(const struct oci_table_reader *r);
/*
 * Append the flat form of a table to `to`, whose `max` may be lowered. *ret_held: given,
 * oci_table_give_back(), after the table and the data made from it were freed. Errors: those of
 * layer_reading_ops.table(); -ENOMEM, also if the held tables would exceed OCI_TABLES_HELD_MAX;
 * E_UNSUPPORTED, it has stalled.
 */
int oci_table_read(struct oci_table_reader *r, const struct oci_table *t, struct buf *to,
                   uint64_t *ret_held, struct err *err);
/* held may be 0; then r may be NULL. */
void oci_table_give_back(struct oci_table_reader *r, uint64_t held);

/* Write and read the head of a table, OCI_TABLE_HEAD_BYTES. Errors: E_PARSE. */
void oci_table_write_head(const struct oci_table *t, struct buf *to);
int oci_table_read_head(struct str head, struct oci_table *ret, struct err *err);

/*
 * Chunks from their flat form: they cover the blob of t->size bytes in order, up to the table.
 * *ret: given, oci_chunks_fini(). Errors: E_PARSE, E_LIMIT, -ENOMEM.
 */
int oci_table_chunks(const struct oci_table *t, struct str flat, struct oci_chunks *ret,
                     struct err *err);

struct oci_table_file {
    struct str path;
    uint64_t size;
    uint8_t digest[SHA256_BYTES];
};
struct oci_table_tree {
    uint8_t diff_id[SHA256_BYTES];
    struct oci_skeleton skeleton;
    struct oci_table_file *files; /* one for each part of the skeleton */
};
/* *ret: a view of `flat`; given, oci_table_tree_fini(). Errors: E_PARSE, E_LIMIT, -ENOMEM. */
int oci_table_tree(struct str flat, struct oci_table_tree *ret, struct err *err);
void oci_table_tree_fini(struct oci_table_tree *t);
/* The layer of such a table, according to its index. *ret: given, oci_layer_free(). Errors:
 * E_PARSE, E_LIMIT, -ENOMEM. */
int oci_table_layer(struct str flat, struct oci_layer **ret, struct err *err);
