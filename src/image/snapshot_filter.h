/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of containerd's lists, as its package `filters` defines them, for snapshots:
 *
 *     filter   = selector *( "," selector )          all of them hold
 *     selector = field [ ("==" | "!=") value ]       without an operator: it is there
 *     field    = part *( "." part )                  name, parent, kind, labels.KEY
 *     value    = 1*( letter, digit, "-_/.:@*" ... ) / Go string in double quotes
 *
 * A part may be quoted: labels."containerd.io/snapshot.ref". Regular expressions (~=) are not
 * supported. Pure; any thread.
 */
#pragma once

#include "image/snapshot_state.h"

enum {
    SNAPSHOT_FILTERS_MAX = 32,
    SNAPSHOT_SELECTORS_MAX = 16, /* of a filter */
};

struct snapshot_filter;

/* *ret: given, snapshot_filter_free(); no filter is one that all match. Errors: E_PARSE;
 * E_UNSUPPORTED; E_LIMIT. */
int snapshot_filter_new(const struct str *texts, size_t n, struct snapshot_filter **ret,
                        struct err *err);
void snapshot_filter_free(struct snapshot_filter *f);
DEFINE_SCOPED(snapshot_filter, snapshot_filter_free)
/* One of the filters holds. */
bool snapshot_filter_matches(const struct snapshot_filter *f, const struct snapshot_event *e);
