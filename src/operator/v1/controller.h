/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watches of one operator's declaration: subscriptions at the shared cache, whose events become
 * keys in the operator's queues.
 *
 *     cache event -> predicate -> mapping -> dispatch_add()
 *     first list, resync, lost keys -> walk over the primaries -> dispatch_add() with low priority
 *
 * One watch:
 *
 *     FINDING -> WAITING (no such kind) -> FINDING -> SYNCING -> SYNCED -> (kind gone) WAITING
 *                                                        |         ^
 *                                                        v         |
 *                                   FORBIDDEN, LIMITED, UNAVAILABLE: as the cache says
 *
 * A controller is held back until each of its watches has been synced. One whose kind vanishes
 * later is not: its objects are gone, and their keys are worked off. One that is forbidden later
 * is: what is not seen must not be taken for deleted.
 *
 * First lists and resyncs are walks: in the order of keys, some at a time as the queue empties, so
 * that a hundred operators on 50,000 objects do not queue five million keys. They take along what
 * the predicate lets pass as if it had just been made.
 */
#pragma once

#include "operator/v1/declaration.h"
#include "operator/v1/dispatch.h"
#include "operator/v1/kinds.h"

struct controllers;

/* Shared by the operators of a host; kept. */
struct controllers_env {
    struct loop *loop;
    struct object_cache *cache;
    struct kinds *kinds;
};

struct controllers_opts {
    const struct controllers_env *env;
    const struct declaration *declaration; /* kept */
    const struct kube_identity *identity;  /* borrowed for the call; NULL: the host's own */
    struct dispatch_operator *dispatch;    /* kept; has been told of the controllers */
    /* The state of a watch has changed; on a later turn than controllers_start(). */
    void (*on_change)(void *arg);
    void *arg;
};

/* Errors: E_LIMIT, those of the cache. */
int controllers_start(const struct controllers_opts *opts, struct controllers **ret,
                      struct err *err);
/* NULL is fine. */
void controllers_free(struct controllers *cs);

/* For dispatch_ops.refill. */
bool controllers_refill(struct controllers *cs, unsigned controller, bool anew, size_t room);
/*
 * Every key that is known, at once, with low priority: before these watches end and others take
 * their place, so that what is deleted in between is not missed.
 */
void controllers_queue_all(struct controllers *cs);
/* All primaries of all controllers, whatever their predicates say. */
void controllers_reconcile_all(struct controllers *cs, enum work_reason reason);

enum watch_state {
    WATCH_FINDING,
    WATCH_WAITING,
    WATCH_SYNCING,
    WATCH_SYNCED,
    WATCH_FORBIDDEN,
    WATCH_LIMITED,
    WATCH_UNAVAILABLE
};
const char *watch_state_name(enum watch_state state); /* "Synced", "WaitingForKind", ... */

struct watch_view {
    enum watch_state state;
    bool was_synced;
    const char *why; /* "" unless something is wrong */
};
/* i: its place in the declaration. */
void controllers_watch_view(const struct controllers *cs, size_t i, struct watch_view *ret);
/* Are the watches of `caches` as far as they will come without others' help? */
bool controllers_caches_settled(const struct controllers *cs);
/* Can every controller work? */
bool controllers_synced(const struct controllers *cs);

/* Where a watch is read: a subscription for each of its namespaces, in their order; 0: none yet. */
size_t controllers_subs(const struct controllers *cs, size_t watch, struct object_sub **ret,
                        size_t max);
/* The one that has objects of `namespace`; NULL: none. */
struct object_sub *controllers_sub(const struct controllers *cs, size_t watch,
                                   struct str namespace);
