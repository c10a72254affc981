/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a response with several ranges, multipart/byteranges (RFC 9110 section 14.6): an
 * incremental reader, and functions that write one.
 *
 *     --BOUNDARY CRLF  fields, one of them Content-Range: bytes FROM-LAST/SIZE  CRLF CRLF
 *     bytes CRLF  --BOUNDARY ...  --BOUNDARY--
 *
 * The Content-Range of a part gives its length, so its bytes are not searched for the boundary.
 * Nothing allocates; one thread at a time.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum {
    BYTERANGES_BOUNDARY_MAX = 70, /* RFC 2046 section 5.1.1 */
    BYTERANGES_LINE_MAX = 1024,
    BYTERANGES_LINES_MAX = 32, /* of the fields of a part, and before the first one */
    /* Overhead of a part beside its bytes, with room for other writers than this one. */
    BYTERANGES_OVERHEAD_MAX = 1024,
};

struct byteranges_ops {
    /* Bytes [from, to) follow. A negative code ends the reading, as one of data() does. */
    int (*part)(void *arg, uint64_t from, uint64_t to, struct err *err);
    int (*data)(void *arg, struct str bytes, struct err *err);
};

enum byteranges_at { BYTERANGES_BOUNDARY, BYTERANGES_FIELDS, BYTERANGES_DATA, BYTERANGES_END };

struct byteranges {
    const struct byteranges_ops *ops;
    void *arg;
    uint64_t size; /* of the whole */
    enum byteranges_at at;
    char boundary[BYTERANGES_BOUNDARY_MAX + 3]; /* with its "--" */
    size_t n_boundary;
    char line[BYTERANGES_LINE_MAX];
    size_t n_line, n_lines;
    bool has_range; /* of the part whose fields are read */
    uint64_t from, to, left;
};

/*
 * content_type: of the response; the boundary is copied. size: of the representation; a part with
 * another size is refused. ops, arg: kept. Errors: E_UNSUPPORTED: not multipart/byteranges.
 */
int byteranges_init(struct byteranges *b, struct str content_type, uint64_t size,
                    const struct byteranges_ops *ops, void *arg, struct err *err);
/* Read the next bytes of the body. Errors: E_PARSE, E_LIMIT, what an op returned. */
int byteranges_add(struct byteranges *b, struct str bytes, struct err *err);
/* The body is complete. Errors: E_PARSE: it is truncated. */
int byteranges_end(const struct byteranges *b, struct err *err);

/* "bytes 5-9/10" or "bytes 5-9/<star>" (RFC 9110 section 14.4): [5, 10) of 10. false: malformed, or
 * of another size than `size`. */
bool byteranges_content_range(struct str text, uint64_t size, uint64_t *ret_from, uint64_t *ret_to);

/* Append the head of a part with the bytes [from, to), and the end of the body. */
void byteranges_add_head(struct buf *b, const char *boundary, const char *media_type, uint64_t from,
                         uint64_t to, uint64_t size);
void byteranges_add_end(struct buf *b, const char *boundary);
