/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP/1.1 message (RFC 9112), bytes in, events out. No socket, no callback: the caller feeds
 * what it has and is told the next thing that happened. Internal to io/.
 *
 * llhttp tokenises, strictly; here are the limits and the rules that keep two parsers of one
 * connection from disagreeing about where a message ends (request smuggling): no folded lines, no
 * Content-Length beside Transfer-Encoding, no transfer coding but a single "chunked", no repeated
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
    HTTP_EVENT_MORE, /* everything is consumed, the message goes on */
    HTTP_EVENT_HEAD, /* the fields of struct http_parse are set */
    HTTP_EVENT_BODY, /* `chunk` is a piece of the body, borrowed from the input */
    HTTP_EVENT_END   /* the message is complete; the rest of the input belongs to the next one */
};

struct http_parse {
    struct str chunk;
    size_t name_n;
    uint64_t content_length; /* UINT64_MAX: chunked, or until the connection ends */
    size_t head_bytes, ext_bytes;
    const char *input, *input_end, *name_end, *value_end; /* to notice folded lines */
    bool in_value, line_ended;
    bool has_fields;      /* the first of them has begun */
    char before[2];       /* the last bytes of earlier inputs */
    bool to_head_request; /* a response to HEAD: no body whatever the fields say */
    bool may_upgrade;     /* a response: 101 is fine */
    bool upgrade;         /* a request offers it and has no body; a response accepts it */
    bool head_done, has_body, until_eof, keep_alive, expect_continue;
    bool ended;
    int status;        /* response: its status. After a failure of a request: what to answer */
    const char *error; /* after a failure: what is wrong, static */
    llhttp_t ll;       /* from here on not zeroed for another message: see http_parse_reset() */
    struct buf target; /* of a request, as sent; origin form or "*" */
    struct buf field;  /* name and value being read */
    struct headers headers;
    struct headers trailers; /* complete with HTTP_EVENT_END */
};

/*
 * Buffers of parsers that rest, of this thread: reset() takes some, rest() gives them back, and p
 * is zeroed.
 */
void http_parse_rest(struct http_parse *p);
void http_parse_trim(void); /* release them */
/* Ready for a message; zero-initialised memory is fine. Keeps allocations of a former message. */
void http_parse_reset(struct http_parse *p, llhttp_type_t type);
void http_parse_fini(struct http_parse *p);
/*
 * Parse until the next event. *ret_used: bytes consumed, always set.
 * Returns enum http_event, or -E_PARSE / -E_LIMIT with p->error and p->status set; then only reset.
 */
int http_parse_feed(struct http_parse *p, const char *data, size_t n, size_t *ret_used);
/* The stream ended. HTTP_EVENT_END if that is how this message ends, else E_EOF. */
int http_parse_eof(struct http_parse *p);
struct str http_parse_method(const struct http_parse *p);
