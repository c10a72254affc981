/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps kinds to resource names by the cluster's discovery, and caches the results. G1 guests name
 * kinds, the API needs plurals, and deriving one from the other fails for too many kinds
 * (NetworkPolicy, Endpoints).
 *
 * Concurrent queries for a group version share one request. A kind that was not found is looked up
 * again by the next query, since CRDs are added and removed. Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "client/transport.h"
#include "io/loop.h"

enum { DISCOVERY_MAX_BYTES = 2 << 20, DISCOVERY_MAX_GROUPS = 1024 };

struct discovery;

/* transport is kept. */
struct discovery *discovery_new(struct loop *loop, struct transport *transport);
/* Pending callbacks run from here with -ECANCELED. NULL is fine. */
void discovery_free(struct discovery *d);

/* A kind's name in paths, and the scope of its objects. */
struct discovery_kind {
    struct str plural;
    bool namespaced;
};

/*
 * kind: borrowed until the callback returns; set when r is 0. -ENOENT: no such kind or group; other
 * codes: the cluster could not be asked. Never runs before discovery_ask() has returned.
 */
typedef void (*discovery_cb)(void *arg, int r, const struct discovery_kind *kind,
                             const struct err *err);
void discovery_ask(struct discovery *d, struct str group_version, struct str kind, discovery_cb cb,
                   void *arg);
/* Discard the cached result for this group version: the next query asks the cluster again. */
void discovery_forget(struct discovery *d, struct str group_version);
