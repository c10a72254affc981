/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Picks up what an earlier process left undone: passes every stored object of one kind to the
 * controller function that handles writes of that kind. One page of the store at a time.
 */
#pragma once

#include "api/controllers/controllers.h"

struct rescan_opts {
    struct str group, plural; /* of a built-in kind, version v1; static strings */
    void (*written)(struct controllers *c, const struct written *w);
    /* Runs once, last, not before rescan_start() has returned. r: 0, or the error of a read. */
    void (*done)(struct controllers *c, int r);
};

/*
 * `opts` is kept until done() has run. Ends early, with 0, while the server closes. Errors: those
 * of the read of the first page; then done() does not run.
 */
int rescan_start(struct controllers *c, const struct rescan_opts *opts);
