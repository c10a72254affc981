/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading tables of contents of layers (oci/table.h) in a separate process, confined like the one
 * that reads layers (image/layer_child.h): it gets tables on its standard input and writes their
 * flat forms to a pipe. This process only reads those, as untrusted input.
 *
 *     table   u64 bytes that follow; the head of the table (OCI_TABLE_HEAD_BYTES), its bytes
 *     answer  u32, the code of the reading with its sign changed; u64 bytes that follow: of code 0
 *             the flat form, else the text of the error, after which it ends
 *
 * Starting one takes longer than most tables do, so a pull keeps it for its next layers: a table
 * that takes over the process can falsify those, which their DiffIDs reveal. It outlives the thread
 * that started it; it ends with its input, or with its processor time if this process is killed.
 */
#pragma once

#include "image/layer_child.h"
#include "oci/table.h"

/* The second argument of such a child. */
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
/* Validate the error of the child: a code that reading tables can have, and text that can be shown.
 */
int table_child_error(uint32_t code, struct str text, struct err *err);
