/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a guest's API request (docs/guest-abi.md section 5): lines that end in LF, first
 * `METHOD TARGET`, then `name: value`.
 */
#pragma once

#include "codec/headers.h"
#include "operator/target.h"

enum {
    REQUEST_HEAD_MAX_BYTES = 16 << 10,
    REQUEST_HEAD_MAX_HEADERS = 64,
    REQUEST_TIMEOUT_MS = 30000, /* unless the header dormouse-timeout-ms says otherwise */
    REQUEST_TIMEOUT_MAX_MS = 300000
};

struct request_head {
    struct str method;
    struct target target;
    struct str origin; /* path and query as they are to be sent: with a fieldManager */
    /* Those that are passed on; "" (p NULL): not given. */
    struct str accept, content_type, if_match, if_none_match;
    uint64_t timeout_ms;
};

/*
 * field_manager: for writes that name none. Strings are borrowed from `text` or live in `a`.
 * Errors: E_LIMIT, E_INVALID, or what target_parse() says, with the reason.
 */
int request_head_parse(struct arena *a, struct str text, struct str field_manager,
                       struct request_head *ret, struct err *err);
