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
/* "name: value\r\n" for all fields but those that say how the message is framed: we write these. */
void http_add_fields(struct buf *to, const struct headers *headers);
/* A token of RFC 9110 section 5.6.2 */
bool http_is_token(struct str s);
