/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between operators of the two published guest ABIs and their host: bincode 1 with its
 * default settings (little endian, every length a u64, trailing bytes tolerated) of
 *
 *     HttpRequest      = method:String uri:String headers:HeaderMap body:Bytes
 *     HttpResponse     = status:u16 headers:HeaderMap body:Bytes
 *     HttpResponseMeta = status:u16 headers:HeaderMap
 *     WatchRequest     = api_version:String group:String kind:String version:String
 *                        namespace:Option<String> resource_version:String
 *                        field_selector:Option<String> include_uninitialized:bool
 *                        label_selector:Option<String> allow_bookmarks:bool
 *     HeaderMap        = one (name:String, values:[Bytes]) for each distinct name
 *
 * Decoders take any bytes: counts are never used to allocate, and results are checked as far as an
 * HTTP client relies on them. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "codec/headers.h"

enum {
    BINCODE_MAX_METHOD_BYTES = 32,
    BINCODE_MAX_URI_BYTES = 16 << 10,    /* HTTP servers commonly accept half of this */
    BINCODE_MAX_STRING_BYTES = 16 << 10, /* each string of a WatchRequest */
};

struct bincode_request {
    struct str method;      /* a token */
    struct str uri;         /* as sent; visible ASCII, no fragment */
    struct str target;      /* its origin form ("/path?query"); not encoded */
    struct headers headers; /* owned */
    struct str body;
};

struct bincode_response {
    unsigned status; /* 100 to 999 */
    struct headers headers;
    struct str body; /* empty in an HttpResponseMeta */
};

struct bincode_watch {
    struct str api_version, group, kind, version;
    struct str ns;               /* p is NULL: all namespaces */
    struct str resource_version; /* "": from the present on */
    struct str field_selector;   /* p is NULL: none */
    struct str label_selector;   /* p is NULL: none */
    bool include_uninitialized;  /* always false in what guests send */
    bool allow_bookmarks;
};

/*
 * Strings are borrowed from `bytes`; release with the _fini() function, also safe on a zeroed
 * struct. Errors: E_PARSE (truncated, wrong tag, not UTF-8, not a token, a URI without a path, bad
 * header or status), E_LIMIT (a bound above or one of struct headers).
 */
int bincode_request_decode(struct str bytes, struct bincode_request *ret, struct err *err);
void bincode_request_fini(struct bincode_request *r);
int bincode_response_decode(struct str bytes, struct bincode_response *ret, struct err *err);
int bincode_response_meta_decode(struct str bytes, struct bincode_response *ret, struct err *err);
void bincode_response_fini(struct bincode_response *r);
/* Nothing to release. */
int bincode_watch_decode(struct str bytes, struct bincode_watch *ret, struct err *err);

/* Append to `to`; failure is sticky there. */
int bincode_request_encode(struct buf *to, const struct bincode_request *r);
int bincode_response_encode(struct buf *to, const struct bincode_response *r);
int bincode_response_meta_encode(struct buf *to, const struct bincode_response *r);
int bincode_watch_encode(struct buf *to, const struct bincode_watch *w);
