/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind to resource name, asked of the cluster's discovery and remembered: G1 guests name kinds, the
 * API names plurals, and guessing one from the other is wrong for too many (NetworkPolicy,
 * Endpoints).
 *
 * One request for each group version however many ask; what is not found is asked again the next
 * time, since CRDs come and go. Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "client/transport.h"
#include "io/loop.h"

enum { DISCOVERY_MAX_BYTES = 2 << 20, DISCOVERY_MAX_GROUPS = 1024 };

struct discovery;

/* transport is kept. */
struct discovery *discovery_new(struct loop *loop, struct transport *transport);
/* Waiting callers get -ECANCELED, from here. NULL is fine. */
void discovery_free(struct discovery *d);

/* What a kind is called in paths, and where its objects live. */
struct discovery_kind {
    struct str plural;
    bool namespaced;
};

/*
 * kind: borrowed until the callback returns; set when r is 0. -ENOENT: no such kind or group;
 * other codes: the cluster could not be asked. Never before discovery_ask() has returned.
 */
typedef void (*discovery_cb)(void *arg, int r, const struct discovery_kind *kind,
                             const struct err *err);
void discovery_ask(struct discovery *d, struct str group_version, struct str kind, discovery_cb cb,
                   void *arg);
/* What is known of this group version may be wrong: ask the next time. */
void discovery_forget(struct discovery *d, struct str group_version);
