/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an earlier process left undone: every stored object of one kind goes once more to the
 * controller that acts when such an object was written. One page of the store at a time.
 */
#pragma once

#include "api/controllers/controllers.h"

struct rescan_opts {
    struct str group, plural; /* of a built-in kind, version v1; texts are static */
    void (*written)(struct controllers *c, const struct written *w);
    /* Runs once, last, not before rescan_start() has returned. r: 0, or what reading gave. */
    void (*done)(struct controllers *c, int r);
};

/* `opts` is kept until done() has run. Ends early, with 0, while the server closes. Errors: what
 * the store says to the first page; then done() does not run. */
int rescan_start(struct controllers *c, const struct rescan_opts *opts);
