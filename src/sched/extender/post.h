/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to extenders: sent in parallel, waited for together. */
#pragma once

#include "io/http.h"
#include "sched/extender/extender.h"

struct extender_link; /* the address of one extender, and connections to it */
/* config: kept. */
int extender_link_new(struct loop *loop, const struct sched_config_extender *config,
                      struct extender_link **ret, struct err *err);
/* Its connections close in the next turns of the loop. */
void extender_link_free(struct extender_link *link);

struct extender_post {
    /* Set by the caller. */
    struct extender_link *link;
    struct str verb;
    struct buf body;
    bool repeats; /* retry if the connection broke before an answer */
    /* The result: 0 and the body of a 200 answer; or a negative code and err. */
    int r;
    struct buf answer;
    struct err err;
    /* Used while it runs. */
    struct exchange *call;
    struct timer timer;
    int status;
    bool has_head, ended, is_late, is_too_large;
};
/* Returns when all have ended. */
void extender_post_all(struct loop *loop, struct extender_post *posts, size_t n);
