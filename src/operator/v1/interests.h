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
 * A controller is held until each of its watches has been synced. A watch whose kind is removed
 * later does not hold it: the objects are deleted, and their keys are processed. A watch that is
 * forbidden later does hold it: objects that are no longer visible must not be taken for deleted.
 *
 * First lists and resyncs are walks in the order of keys, a few at a time as the queue empties, so
 * that a hundred operators on 50,000 objects do not queue five million keys. They add the objects
 * that the predicate passes as if they had just been created.
 */
#pragma once

#include "operator/identity.h"
#include "operator/v1/declaration.h"
#include "operator/v1/dispatch.h"
#include "operator/v1/kinds.h"

struct interests;

/* Shared by the operators of a host; kept. */
struct interests_env {
    struct loop *loop;
    struct object_cache *cache;
    struct kinds *kinds;
};

struct interests_opts {
    const struct interests_env *env;
    const struct declaration *declaration; /* kept */
    /*
     * The identity of watches: called for each subscription, some of which are made late. *ret
     * stays NULL: the host's identity; else it points to *space, its texts borrowed until control
     * returns to the loop. An error: not available now.
     */
    int (*who)(void *arg, struct identity_who *space, const struct kube_identity **ret,
               struct err *err);
    /*
     * Whether it may list and watch `path`, a collection. E_DENIED: no; other errors as of who().
     */
    int (*may)(void *arg, struct str path, struct err *err);
    struct dispatch_operator *dispatch; /* kept; already knows the controllers */
    /* The state of a watch has changed; never runs inside interests_start(). */
    void (*on_change)(void *arg);
    void *arg;
};

/* Errors: E_LIMIT, those of the cache. */
int interests_start(const struct interests_opts *opts, struct interests **ret, struct err *err);
/* NULL is fine. */
void interests_free(struct interests *cs);

/* For dispatch_ops.refill. */
bool interests_refill(struct interests *cs, unsigned controller, bool is_new, size_t room);
/*
 * Queue every known key at once, with low priority: called before these watches end and others
 * replace them, so that deletions in between are not missed.
 */
void interests_queue_all(struct interests *cs);
/* Queue all primaries of all controllers, regardless of predicates. */
void interests_reconcile_all(struct interests *cs, enum work_reason reason);

enum watch_state {
    WATCH_FINDING,
    WATCH_WAITING,
    WATCH_SYNCING,
    WATCH_SYNCED,
    WATCH_FORBIDDEN,
    WATCH_LIMITED,
    WATCH_UNAVAILABLE
};
const char *v1_watch_state_name(enum watch_state state); /* "Synced", "WaitingForKind", ... */

struct watch_view {
    enum watch_state state;
    bool was_synced;
    const char *why; /* "" unless there is a problem */
};
/* i: index in the declaration. */
void interests_watch_view(const struct interests *cs, size_t i, struct watch_view *ret);
/* Whether the watches of `caches` have reached a state that only others can change. */
bool interests_caches_settled(const struct interests *cs);
/* Whether every controller can work. */
bool interests_synced(const struct interests *cs);

/*
 * The subscriptions in which a watch is read: one for each of its namespaces, in their order; 0:
 * none yet.
 */
size_t interests_subs(const struct interests *cs, size_t watch, struct object_sub **ret,
                      size_t max);
/* The subscription that contains objects of `namespace`; NULL: none. */
struct object_sub *interests_sub(const struct interests *cs, size_t watch, struct str namespace);
