/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in C: a module that answers HTTP requests (docs/function-abi.md, "Reactor").
 *
 *     #include <dormouse_http.h>
 *
 *     int dh_handle(const struct dh_request *r)
 *     {
 *         dh_respond(200, "content-type: text/plain\n");
 *         dh_puts("hello\n");
 *         return 0;
 *     }
 *
 *     sdk/c/dm-cc http -o hello.wasm hello.c
 *
 * Memory is as after dh_init() for every request, unless the function asks for `reuse`: static
 * variables need no tidying up, and what one request allocates need not be freed. Calls that can
 * fail return a negative enum dh_error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dh_error {
    DH_INVALID = -1,   /* not allowed now, or not well-formed */
    DH_NOT_FOUND = -2, /* there is no such secret */
    DH_TOO_LARGE = -5,
    DH_TIMEOUT = -7,
    DH_GONE = -10, /* the client is */
    DH_NO_MEMORY = -100
};

/* Borrowed bytes; p is NULL where there is nothing. */
struct dh_str {
    const char *p;
    size_t n;
};
bool dh_is(struct dh_str s, const char *text);

struct dh_request {
    struct dh_str method, target, authority, scheme, peer, call_id;
    struct dh_str path, query; /* of the target, as sent; query without '?' */
    struct dh_str fields;      /* lines "name: value" */
};

/* ---- what the function defines ---- */

/* 0: done. Anything else: the request has failed, 502. */
int dh_handle(const struct dh_request *r);
/* Once for the module, before any request; may be left out. Not 0: there will be no instance. */
int dh_init(void);

/* ---- the request ---- */

/* The first one of this name, which is in lower case. */
struct dh_str dh_field(const struct dh_request *r, const char *name);
/* A part of the body, as it comes: the number of bytes, 0 at its end. */
int dh_read(void *to, size_t n);
/* All of it, at most `max` bytes (DH_TOO_LARGE); memory of malloc(), with a NUL behind. */
int dh_read_all(size_t max, struct dh_str *ret);
/* The value of a parameter of the query, decoded; memory of malloc(). p NULL: it is not there. */
struct dh_str dh_query(const struct dh_request *r, const char *name);

/* ---- the answer: once respond, then the rest ---- */

/* fields: lines "name: value\n", or "". */
int dh_respond(int status, const char *fields);
int dh_write(const void *p, size_t n);
int dh_puts(const char *text);
int dh_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What was written leaves now. */
int dh_flush(void);
int dh_trailers(const char *fields);

/* ---- at any time ---- */

/* The secret file of this path; memory of malloc(), with a NUL behind. */
int dh_secret(const char *path, struct dh_str *ret);
enum dh_level { DH_DEBUG, DH_INFO, DH_WARN, DH_ERROR };
void dh_log(enum dh_level level, const char *text);
void dh_logf(enum dh_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
