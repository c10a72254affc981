/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parser of one HTTP/1.1 message (RFC 9112). No socket, no callback: the caller feeds bytes and
 * gets the next event. Internal to io/.
 *
 * llhttp tokenises, strictly. This file adds the limits, and the rules that keep two parsers of one
 * connection from disagreeing about where a message ends (request smuggling): no folded lines, no
 * Content-Length with Transfer-Encoding, no transfer coding except a single "chunked", no repeated
 * Host.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "codec/headers.h"

#include <llhttp.h>

enum {
    HTTP_CHUNK_EXT_MAX_BYTES = 16 << 10 /* chunk extensions of one message; they are ignored */
};

enum http_event {
    HTTP_EVENT_MORE, /* everything is consumed, the message is not complete */
    HTTP_EVENT_HEAD, /* the fields of struct http_parse are set */
    HTTP_EVENT_BODY, /* `chunk` is a piece of the body, borrowed from the input */
    HTTP_EVENT_END   /* the message is complete; the rest of the input belongs to the next one */
};

/*
 *     LINE --name of the first field--> FIELDS --end of the head--> BODY --> ENDED
 *
 * A head without fields leads from LINE to BODY. Trailer fields belong to BODY.
 */
enum http_parse_at {
    HTTP_PARSE_LINE,
    HTTP_PARSE_FIELDS,
    HTTP_PARSE_BODY, /* the head is complete; a message without body stays until the next feed */
    HTTP_PARSE_ENDED
} __attribute__((packed));

/* Where in a field the parser is, to notice folded lines. */
enum http_parse_field {
    HTTP_FIELD_NAME,       /* in the name, or before the value */
    HTTP_FIELD_LINE_ENDED, /* before the value, after a line end */
    HTTP_FIELD_VALUE
} __attribute__((packed));

struct http_parse {
    struct str chunk;
    size_t name_n;
    uint64_t content_length; /* UINT64_MAX: chunked, or until the connection ends */
    size_t head_bytes, ext_bytes;
    const char *input, *input_end, *name_end, *value_end; /* to notice folded lines */
    enum http_parse_at at;
    enum http_parse_field field_at;
    char before[2];       /* the last bytes of earlier inputs */
    bool to_head_request; /* the response to a HEAD: no body, whatever the fields say */
    bool may_upgrade;     /* a response: 101 is allowed */
    bool upgrade;         /* a request without body asks for it; a response accepts it */
    bool has_body, until_eof, keep_alive, expect_continue; /* what the head says */
    int status;        /* of a response. After a failure of a request: the status to respond with */
    const char *error; /* after a failure: the reason, static */
    llhttp_t ll;       /* http_parse_reset() does not zero from here on */
    struct buf target; /* of a request, as sent; origin form or "*" */
    struct buf field;  /* name and value being read */
    struct headers headers;
    struct headers trailers; /* complete with HTTP_EVENT_END */
};

/*
 * Idle parsers have no buffers: each thread keeps spare ones. reset() takes some, rest() gives them
 * back and zeroes p.
 */
void http_parse_rest(struct http_parse *p);
void http_parse_trim(void); /* free the spare buffers */
/* Prepare for a message; p may be zero-initialised. Keeps the allocations of an earlier message. */
void http_parse_reset(struct http_parse *p, llhttp_type_t type);
void http_parse_fini(struct http_parse *p);
/*
 * Parse until the next event. *ret_used: bytes consumed, always set.
 * Returns enum http_event, or -E_PARSE / -E_LIMIT with p->error and p->status set; then only
 * reset() is allowed.
 */
int http_parse_feed(struct http_parse *p, const char *data, size_t n, size_t *ret_used);
/* The stream has ended. HTTP_EVENT_END if this ends the message properly, else E_EOF. */
int http_parse_eof(struct http_parse *p);
struct str http_parse_method(const struct http_parse *p);
