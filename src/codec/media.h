/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Media types and the Accept header (RFC 9110 sections 8.3.1 and 12.5.1). Nothing allocates;
 * strings are borrowed from the text. Any thread.
 */
#pragma once

#include "base/str.h"

enum { MEDIA_MAX_RANGES = 32, MEDIA_MAX_PARAMS = 8 };

struct media_param {
    struct str name, value; /* value without its quotes */
};

struct media_type {
    struct str type, subtype; /* "*" in ranges of an Accept header; compare with str_ieq() */
    struct media_param params[MEDIA_MAX_PARAMS];
    size_t n_params;
    unsigned q_milli; /* 0 (not acceptable) to 1000; q is not among the parameters */
};

/*
 * One media type, as in Content-Type. E_PARSE: not type "/" subtype with parameters (also a quoted
 * value with a backslash, which clients do not send); E_LIMIT: too many parameters.
 */
int media_parse(struct str text, struct media_type *ret);
/* Case-insensitive name; {NULL, 0} when absent. */
struct str media_param(const struct media_type *m, const char *name);
/* Whether type and subtype match; "*" in the range matches all. Parameters are not compared. */
bool media_matches(const struct media_type *range, const char *type, const char *subtype);
bool media_is(const struct media_type *m, const char *type_and_subtype);

struct media_accept {
    struct media_type at[MEDIA_MAX_RANGES];
    size_t n;
};

/*
 * The ranges of an Accept header, preferred first: by q, then "type/subtype" before "type/<any>"
 * before "<any>/<any>", then as written. Malformed ranges are left out and a malformed q counts as
 * 1, as in Kubernetes. An empty header gives no ranges, which callers treat as "any". E_LIMIT: more
 * than MEDIA_MAX_RANGES, or a range with too many parameters.
 */
int media_parse_accept(struct str text, struct media_accept *ret);
/*
 * The index of the offer ("application/json") that the client prefers: the one with the highest q
 * by its most specific matching range; among equals the one whose range comes first, then the one
 * offered first. No ranges: 0. -1: none is acceptable. Parameters are not compared.
 */
int media_choose(const struct media_accept *accept, const char *const *offers, size_t n);
