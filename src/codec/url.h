/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request targets and query strings (RFC 3986 sections 2.1, 3.3, 3.4; the query as HTML forms write
 * it, with '+' for a blank, as Go's net/url reads it).
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum { URL_MAX_SEGMENTS = 32, URL_MAX_PAIRS = 128 };

struct url_pair {
    struct str name, value; /* decoded */
};

struct url_target {
    struct str raw_path, raw_query;        /* as received; raw_query without '?' */
    struct str segments[URL_MAX_SEGMENTS]; /* decoded path segments; empty ones are left out */
    size_t n_segments;
    bool trailing_slash;
    struct url_pair pairs[URL_MAX_PAIRS]; /* in order; pairs without a name are left out */
    size_t n_pairs;
};

/*
 * Split a target: origin form, or absolute form, whose scheme and authority are ignored. Strings
 * are borrowed from `text` or live in `a`. E_INVALID: no path, bad escapes, a "." or ".." segment,
 * a decoded
 * '/' or NUL in a segment; E_LIMIT: more segments or pairs than the bounds.
 */
int url_parse(struct arena *a, struct str text, struct url_target *ret, struct err *err);
/* First value of that name; {NULL, 0} when absent, "" when without value. */
struct str url_query_get(const struct url_target *t, const char *name);
/* true: present and neither "0" nor "false" (case-insensitive), as upstream reads booleans in
 * queries. */
bool url_query_bool(const struct url_target *t, const char *name);

/* Decode escapes; E_INVALID: a bad one. plus: '+' is a blank. *ret borrows `s` if there is nothing
 * to decode. */
int url_decode(struct arena *a, struct str s, bool plus, struct str *ret);
/* Append s, escaping all except the unreserved characters of RFC 3986. */
int url_encode(struct buf *to, struct str s);
