/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the resources of kinds, those included that come later: one for the whole host.
 *
 * A kind is looked up by discovery. While somebody waits for one that is not there, the cluster's
 * CustomResourceDefinitions are watched (their facts alone), and each change makes those that wait
 * ask again; so does a timer, seldom, for kinds of aggregated APIs and where definitions may not be
 * watched. At rest, with nobody waiting, there is neither watch nor timer.
 *
 *     ask --> ASKING --> found: on_found(), once
 *               |  ^
 *        none   v  | a definition has changed, a time
 *             WAITING   (on_missing() at the first time)
 *
 * Loop thread only.
 */
#pragma once

#include "client/object_cache.h"
#include "operator/discovery.h"

enum {
    KINDS_SETTLE_MS = 50, /* after a change of definitions: the first of a burst waits so long */
    KINDS_RETRY_FIRST_MS = 1000, /* after a change, and at first: discovery may lag; doubles to */
    KINDS_RETRY_MAX_MS = 300000
};

struct kinds;
struct kinds *kinds_new(struct loop *loop, struct discovery *discovery, struct object_cache *cache);
/* Nobody may be waiting. NULL is fine. */
void kinds_free(struct kinds *k);

struct kind_lookup;
struct kind_query {
    struct list node;               /* zeroed */
    struct kind_lookup *lookup;     /* zeroed */
    struct str group_version, kind; /* kept */
    void (*on_found)(struct kind_query *q, const struct discovery_kind *kind);
    void (*on_missing)(struct kind_query *q, const struct err *err);
    bool is_told; /* on_missing() was called */
};
/* q: kept until on_found() is called or kinds_cancel(). */
void kinds_ask(struct kinds *k, struct kind_query *q);
/*
 * The same for a kind that was found and whose resource is gone: not to be asked for at once, since
 * discovery may not have noticed.
 */
void kinds_ask_later(struct kinds *k, struct kind_query *q);
void kinds_cancel(struct kinds *k, struct kind_query *q);
size_t kinds_n_waiting(const struct kinds *k);
