/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to extenders: sent together, waited for together. */
#pragma once

#include "io/http.h"
#include "sched/extender/extender.h"

struct extender_link; /* one extender's address, and connections to it */
/* config: kept. */
int extender_link_new(struct loop *loop, const struct sched_config_extender *config,
                      struct extender_link **ret, struct err *err);
/* Its connections are closed by the next turns of the loop. */
void extender_link_free(struct extender_link *link);

struct extender_post {
    /* Given. */
    struct extender_link *link;
    struct str verb;
    struct buf body;
    bool repeats; /* once more where the connection broke off before an answer */
    /* Afterwards: 0, and the answer of a server that said 200; or negative, and why. */
    int r;
    struct buf answer;
    struct err err;
    /* While it runs. */
    struct http_call *call;
    struct timer timer;
    int status;
    bool has_head, ended, is_late, is_too_large;
};
/* Returns when all have ended. */
void extender_post_all(struct loop *loop, struct extender_post *posts, size_t n);
