/* SPDX-License-Identifier: Apache-2.0 */
/* The query of a list or watch: metav1.ListOptions without the selectors (filter.h). Pure. */
#pragma once

#include "api/core.h"

enum list_match { MATCH_UNSET, MATCH_EXACT, MATCH_NOT_OLDER };

struct list_options {
    uint64_t rev; /* 0 also when it is not given */
    bool has_rev;
    enum list_match match;
    uint64_t limit; /* 0: none */
    struct str token;
    bool bookmarks;
    bool sends_initial; /* watch: begins with what there is */
    uint64_t timeout_s;
    bool has_timeout;
};

/* NULL, or the Status to answer. As upstream, a watch from "" or "0" is a streaming list. */
struct json *list_options_parse(struct request *rq, bool watch, struct list_options *ret);
/* Just resourceVersion, for a get. */
struct json *list_options_rev(struct request *rq, uint64_t *ret);

/*
 * Continue tokens: where a list goes on. start: what follows the collection's prefix; rev -1: go on
 * at the newest revision.
 */
void list_token_write(struct buf *to, struct str start, int64_t rev);
/* A client can tamper with tokens: `start` may be anything but empty. NULL, or the Status. */
struct json *list_token_read(struct request *rq, struct str token, struct str *ret_start,
                             int64_t *ret_rev);
