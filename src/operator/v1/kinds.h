/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the resources of kinds, including kinds that are defined later: one instance for the whole
 * host.
 *
 * A kind is looked up by discovery. While a query waits for a missing kind, the cluster's
 * CustomResourceDefinitions are watched (only their facts), and each change repeats the waiting
 * queries. A slow timer repeats them too, for kinds of aggregated APIs and where definitions may
 * not be watched. While no query waits there is neither watch nor timer.
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
    KINDS_SETTLE_MS = 50,        /* delay after the first of a burst of changed definitions */
    KINDS_RETRY_FIRST_MS = 1000, /* first retry, since discovery may lag; doubles to */
    KINDS_RETRY_MAX_MS = 300000
};

struct kinds;
struct kinds *kinds_new(struct loop *loop, struct discovery *discovery, struct object_cache *cache);
/* No query may be waiting. NULL is fine. */
void kinds_free(struct kinds *k);

struct kind_lookup;
struct kind_query {
    struct list node;               /* zeroed */
    struct kind_lookup *lookup;     /* zeroed */
    struct str group_version, kind; /* kept */
    void (*on_found)(struct kind_query *q, const struct discovery_kind *kind);
    void (*on_missing)(struct kind_query *q, const struct err *err);
    bool is_reported; /* on_missing() was called */
};
/* q: kept until on_found() is called or kinds_cancel(). */
void kinds_ask(struct kinds *k, struct kind_query *q);
/*
 * As kinds_ask(), for a kind whose resource has disappeared: not asked at once, since discovery may
 * not have noticed yet.
 */
void kinds_ask_later(struct kinds *k, struct kind_query *q);
void kinds_cancel(struct kinds *k, struct kind_query *q);
