/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that the start of an image opens, in order. The list is recorded once; it names the
 * files that a lazy start needs first (image/lazy_fetch.h). Text:
 *
 *     dormouse start 1
 *     <SHA-256 of the content of a file, hexadecimal>
 *     ...
 *
 * In a node store it is the file "start" of images/<digest of the configuration>/, which gc removes
 * with the last image that has the configuration. A manifest of the same layers in another form
 * has the same configuration. Reading and writing text is pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "oci/store.h"

enum {
    START_LIST_FILES_MAX = 64000, /* so that registries give the text as a document */
    START_LIST_BYTES_MAX = 64 + START_LIST_FILES_MAX * SHA256_HEX_SIZE,
};
_Static_assert((int)START_LIST_BYTES_MAX <= (int)OCI_DOCUMENT_MAX, "what image serve gives");

struct start_list {
    VEC(struct oci_digest) files; /* distinct */
};
void start_list_fini(struct start_list *l);

/* Past START_LIST_FILES_MAX files are left out. */
int start_list_write(const struct start_list *l, struct buf *to);
/* *ret: given, start_list_fini(). Errors: E_PARSE, E_VERSION, E_LIMIT. */
int start_list_read(struct str text, struct start_list *ret, struct err *err);

/* Keep that of an image of the store, which is open for writing. Errors: of writing. */
int start_list_put(struct oci_store *s, const struct oci_digest *config, const struct start_list *l,
                   struct err *err);
/* Its text, appended to `to`. Errors: -ENOENT, none was recorded; of reading. */
int start_list_get(struct oci_store *s, const struct oci_digest *config, struct buf *to,
                   struct err *err);
