/* SPDX-License-Identifier: Apache-2.0 */
/* Text of messages that both server and client write. Internal to io/. */
#pragma once

#include "base/buf.h"
#include "codec/headers.h"

enum { HTTP_DATE_BYTES = 29 };
/* RFC 9110 section 5.6.7, "Sun, 06 Nov 1994 08:49:37 GMT"; formatted once a second per thread. */
struct str http_date(void);
/* Reason phrase, "" for statuses without a common one. */
struct str http_reason(int status);
/*
 * Fields that describe an HTTP/1.1 connection or frame a message: never passed on, this module
 * writes its own. name: in lower case, as in struct headers.
 */
bool http_is_framing(struct str name);
/* Whether a field may be a trailer: it neither frames nor routes. */
bool http_is_trailer(struct str name);
/* "HTTP/1.1 200 OK\r\n" */
void http_add_status(struct buf *to, int status);
/* "date: ...\r\n" */
void http_add_date(struct buf *to);
/* Reserve room for a head with these fields in one step. */
void http_reserve_head(struct buf *to, const struct headers *headers);
/* "name: value\r\n" */
void http_add_field(struct buf *to, struct str name, struct str value);
/* The same for all fields except those that frame. */
void http_add_fields(struct buf *to, const struct headers *headers);
void http_add_trailers(struct buf *to, const struct headers *trailers);
/* A token of RFC 9110 section 5.6.2 */
bool http_is_token(struct str s);
