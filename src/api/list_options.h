/* SPDX-License-Identifier: Apache-2.0 */
/* The query of a list or watch: metav1.ListOptions without the selectors (filter.h). Pure. */
#pragma once

#include "api/core.h"

enum list_match { MATCH_UNSET, MATCH_EXACT, MATCH_NOT_OLDER };

struct list_options {
    uint64_t rev; /* 0 also if absent */
    bool has_rev;
    enum list_match match;
    uint64_t limit; /* 0: no limit */
    struct str token;
    bool bookmarks;
    bool sends_initial; /* watch: starts with the existing objects */
    uint64_t timeout_s;
    bool has_timeout;
};

/* NULL, or the Status to answer. As upstream, a watch from "" or "0" is a streaming list. */
struct json *list_options_parse(struct request *rq, bool watch, struct list_options *ret);
/* resourceVersion only, for a get. */
struct json *list_options_rev(struct request *rq, uint64_t *ret);

/*
 * Continue tokens: the position at which a list continues. start: the part after the collection's
 * prefix; rev -1: continue at the newest revision.
 */
void list_token_write(struct buf *to, struct str start, int64_t rev);
/*
 * `start` may be anything except empty, since a client can tamper with tokens. NULL, or the Status.
 */
struct json *list_token_read(struct request *rq, struct str token, struct str *ret_start,
                             int64_t *ret_rev);
