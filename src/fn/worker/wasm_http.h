/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and answers in the forms that Wasm functions see (docs/function-abi.md): CGI variables,
 * the head of a reactor's request, the heads of answers. Pure.
 */
#pragma once

#include "base/buf.h"
#include "fn/invoke.h"

enum { WASM_FIELDS_MAX = 200 /* of an answer's head */ };

/* The head of a request as request_head() returns it. Check buf_ok() for failure. */
void wasm_put_head(struct buf *to, const struct invoke_request *r);
/* The variables of CGI, NAME=VALUE and NUL each, and how many there are. */
uint32_t wasm_put_cgi(struct buf *to, const struct invoke_request *r);

/*
 * Lines "name: value" into *ret; fields of the connection are left out.
 * Errors: E_PARSE; -EMSGSIZE over WASM_FIELDS_MAX or HEADERS_MAX_BYTES.
 */
int wasm_read_fields(struct str lines, struct headers *ret);

/*
 * Read a piece of what a command prints, until its head is complete. held: keeps the incomplete
 * head between calls, at most GUEST_FN_HEAD_MAX bytes.
 *
 * Returns 1: complete; *rest is the part of `piece` that follows the head. 0: more is needed.
 * Errors: E_PARSE, -EMSGSIZE.
 */
int wasm_read_cgi_head(struct buf *held, struct str piece, int *ret_status, struct headers *ret,
                       struct str *rest);
/* The content-length of an answer; UINT64_MAX: none. E_PARSE: several, or not a number. */
int wasm_content_length(const struct headers *h, uint64_t *ret);
