/* SPDX-License-Identifier: Apache-2.0 */
/* The text of messages that both sides write. Internal to io/. */
#pragma once

#include "base/buf.h"
#include "codec/headers.h"

enum { HTTP_DATE_BYTES = 29 };
/* RFC 9110 section 5.6.7, "Sun, 06 Nov 1994 08:49:37 GMT"; formatted once a second per thread. */
struct str http_date(void);
/* Reason phrase, "" for statuses without a common one. */
struct str http_reason(int status);
/*
 * Fields that speak of a connection of HTTP/1.1 or frame a message: nobody passes them on, and we
 * write our own. The name in lower case, as struct headers has it.
 */
bool http_is_framing(struct str name);
/* What may follow a body: fields that neither frame nor route. */
bool http_is_trailer(struct str name);
/* "HTTP/1.1 200 OK\r\n" */
void http_add_status(struct buf *to, int status);
/* "date: ...\r\n" */
void http_add_date(struct buf *to);
/* Room for a head with these fields at once, instead of growing into it. */
void http_reserve_head(struct buf *to, const struct headers *headers);
/* "name: value\r\n" */
void http_add_field(struct buf *to, struct str name, struct str value);
/* The same for all fields but those that frame. */
void http_add_fields(struct buf *to, const struct headers *headers);
void http_add_trailers(struct buf *to, const struct headers *trailers);
/* A token of RFC 9110 section 5.6.2 */
bool http_is_token(struct str s);
