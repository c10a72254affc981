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
    struct str origin; /* path and query to send: with a fieldManager */
    /* Headers that are passed on; "" (p NULL): absent. */
    struct str accept, content_type, if_match, if_none_match;
    uint64_t timeout_ms;
};

/*
 * field_manager: for writes that name none. Strings are borrowed from `text` or live in `a`.
 * Errors: E_LIMIT, E_INVALID, those of target_parse(), with the reason.
 */
int request_head_parse(struct arena *a, struct str text, struct str field_manager,
                       struct request_head *ret, struct err *err);
