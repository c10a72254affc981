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
     * As whom to watch: asked for each subscription, some of which come late. *ret stays NULL: as
     * the host; else it lies in *space, its texts borrowed until the loop runs on. An error: not
     * now.
     */
    int (*who)(void *arg, struct identity_who *space, const struct kube_identity **ret,
               struct err *err);
    /* May it list and watch `path`, a collection? E_DENIED: no; else as for who(). */
    int (*may)(void *arg, struct str path, struct err *err);
    struct dispatch_operator *dispatch; /* kept; has been told of the controllers */
    /* The state of a watch has changed; on a later turn than interests_start(). */
    void (*on_change)(void *arg);
    void *arg;
};

/* Errors: E_LIMIT, those of the cache. */
int interests_start(const struct interests_opts *opts, struct interests **ret, struct err *err);
/* NULL is fine. */
void interests_free(struct interests *cs);

/* For dispatch_ops.refill. */
bool interests_refill(struct interests *cs, unsigned controller, bool anew, size_t room);
/*
 * Every key that is known, at once, with low priority: before these watches end and others take
 * their place, so that what is deleted in between is not missed.
 */
void interests_queue_all(struct interests *cs);
/* All primaries of all controllers, whatever their predicates say. */
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
    const char *why; /* "" unless something is wrong */
};
/* i: its place in the declaration. */
void interests_watch_view(const struct interests *cs, size_t i, struct watch_view *ret);
/* Are the watches of `caches` as far as they will come without others' help? */
bool interests_caches_settled(const struct interests *cs);
/* Can every controller work? */
bool interests_synced(const struct interests *cs);

/* Where a watch is read: a subscription for each of its namespaces, in their order; 0: none yet. */
size_t interests_subs(const struct interests *cs, size_t watch, struct object_sub **ret,
                      size_t max);
/* The one that has objects of `namespace`; NULL: none. */
struct object_sub *interests_sub(const struct interests *cs, size_t watch, struct str namespace);
