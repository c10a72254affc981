/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading tables of what is in a layer (oci/table.h) in a process of its own, confined as the one
 * that reads layers (image/layer_child.h): it gets tables on its standard input and writes their
 * flat forms to a pipe. Here only these are read, as foreign bytes.
 *
 *     table   u64 bytes that follow; the head of the table (OCI_TABLE_HEAD_BYTES), its bytes
 *     answer  u32, the code of the reading with its sign changed; u64 bytes that follow: of code 0
 *             the flat form, else the text of the error, after which it ends
 *
 * Starting one takes longer than most tables do, so a pull keeps it for its next layers: one that a
 * table took over can lie about those, which their DiffIDs show. It outlives the thread that
 * started it; the end of its input ends it, and its processor time, if this process is killed.
 */
#pragma once

#include "image/layer_child.h"
#include "oci/table.h"

/* The second word of the command line of such a child. */
#define TABLE_CHILD_WORD "table"

enum { TABLE_CHILD_HEAD_BYTES = 12 }; /* of an answer */

struct table_child;

/*
 * Append the flat form. program: as in struct layer_read_opts. *child: NULL, or of an earlier
 * table; afterwards the one for the next table, given, table_child_free(), or NULL. stop: ends the
 * waiting soon after it is set, with -ECANCELED; NULL: nothing does. Blocks; any
 * thread, one at a time; the process ignores SIGPIPE. Errors: those of oci_table_flatten(), E_PARSE
 * (the child ended as if the table had harmed it), -ETIMEDOUT, -ENOMEM (also: it was killed, as the
 * kernel does where memory or processor time is short), what starting it gives.
 */
int table_child_read(const char *program, struct table_child **child, const struct oci_table *t,
                     const atomic_bool *stop, struct buf *to, struct err *err);
/* Ends the process. NULL is fine. */
void table_child_free(struct table_child *c);

/* main() of the child, after its command line was read. */
int table_child_main(void);

/* ---- the answer of a child, for table_child_read() and its fuzzer ---- */

/* TABLE_CHILD_HEAD_BYTES. Errors: E_PARSE, it is shorter; E_LIMIT, more follows than may. */
int table_child_head(struct str head, uint32_t *ret_code, size_t *ret_n, struct err *err);
/* The error that the child says: a code that reading tables can have, and text that can be shown.
 */
int table_child_said(uint32_t code, struct str text, struct err *err);
