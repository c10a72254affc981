/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage collection by owner references.
 *
 * Whoever commits a write tells gc_written(); what may have become garbage goes into a queue and is
 * looked at with fresh reads. There is no graph of objects: dependents are found by the index of
 * owners.h. Two things wait in the queue:
 *
 *   a work   one object: compare its owners with what is there, then leave it, cut its references,
 *            or delete it. Up to GC_PARALLEL at a time, so that the store commits them together.
 *   a pass   many objects, one page at a time: the dependents of an owner that is gone or leaving,
 *            all owners (after a start), all objects (to build the index of an older store).
 *
 *            start ---> owner ---> pages ---> check ---> finalize ---> end
 *              |          |  (leaving)          |  blocked, or done      ^
 *              +----------+---> pages ----------+------------------------+
 *                 (others)
 *
 * The queue is bounded: what does not fit is found again by a pass over all owners. The same pass
 * follows a failure, after a pause that doubles; with nothing to do there is no timer.
 */
#pragma once

#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/inner.h"
#include "api/owners.h"

enum {
    GC_PARALLEL = 32,    /* works at a time */
    GC_PAGE_ROWS = 64,   /* dependents taken from the index at a time */
    GC_QUEUE_MAX = 512,  /* works and passes that wait */
    GC_ATTEMPTS = 16,    /* of a work that loses against other writers */
    GC_CYCLE_ROWS = 500, /* leaving objects that are looked at for a circle of owners */
    GC_STRAY_ROWS = 64 /* namespaces in which an owner is looked for that is not where it must be */
};

#define REGISTRY    "/registry/"
#define NAMESPACES  "/registry/namespaces/"
#define BUILT_KEY   "/owned.built" /* there with this value: the indices cover all objects */
#define BUILT_VALUE "2" /* 1: that of owners (owners.h), and not that of nodes (placed.h) */

enum pass_kind { PASS_ABSENT, PASS_LEAVING, PASS_SCAN, PASS_BUILD };
enum pass_at { PASS_START, PASS_OWNER, PASS_PAGES, PASS_CHECK, PASS_FINALIZE, PASS_END };

struct pass {
    struct list node;
    struct gc *gc;
    enum pass_kind kind;
    enum pass_at at;
    char *subject; /* the owner's uid (ABSENT) or key (LEAVING) */
    bool certain;  /* ABSENT: the owner was seen to go */
    bool fresh;    /* LEAVING: look at all dependents, not only whether one still blocks */
    bool orphan, waiting, more, failed;
    bool left_out; /* BUILD: an object is damaged, so the indices cannot cover it */
    unsigned rounds;
    char *uid;
    struct buf prefix, after;
    size_t n_out; /* works of this pass that are queued or run */
};

enum gc_work_kind { WORK_CHECK, WORK_ORPHAN, WORK_INDEX };
enum gc_verdict { OWNER_SOLID, OWNER_DANGLING, OWNER_WAITING, OWNER_NOT_ALLOWED, OWNER_ASK };

struct gc_work {
    struct list node;
    struct gc *gc;
    struct pass *pass; /* whose, or NULL */
    enum gc_work_kind kind;
    char *key;
    unsigned attempt;
    struct arena arena; /* of one attempt */
    struct json *obj;
    uint64_t rev;
    const struct kube_resource *res;
    struct json *ref;   /* the owner that is being looked at */
    struct json *solid; /* references that stay */
    size_t n_dangling, n_waiting;
    struct json *not_allowed;
    struct json *leaving; /* keys, while a circle is looked for */
    /* owners that were not found, and the namespaces where they may be instead */
    struct json *strays, *stray, *spaces, *space;
};

struct gc {
    struct api *api;
    struct list works, passes; /* that wait */
    struct map known;          /* "o<key>", "a<uid>", "l<key>": waits already */
    size_t n_waiting, n_running;
    struct pass *active;
    uint64_t built_rev; /* of the marker; 0: there is none */
    bool reading_marker, stopped;
    bool overflown;            /* something did not fit the queue */
    bool failed;               /* something went wrong */
    bool unresolved;           /* an owner is of a kind that nobody knows */
    controller_ready_cb ready; /* until it has been called */
    void *ready_arg;
    struct retry retry;
    struct defer turn;
};

static inline bool take_flag(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

/* ---- the queue (gc.c): takes what does not wait already, as long as there is room ----
 */

/* flag: of an ABSENT pass that it is certain, of a LEAVING one that it is fresh. */
void gc_queue_pass(struct gc *gc, enum pass_kind kind, struct str subject, bool flag);
void gc_queue_work(struct gc *gc, struct pass *pass, enum gc_work_kind kind, struct str key);
void gc_queue_forget(struct gc *gc, char kind, const char *what);
void gc_failed(struct gc *gc, const char *what, const char *key);
/* Look at the queue on the next turn. */
void gc_kick(struct gc *gc);
void gc_tell_ready(struct gc *gc, int r, const struct err *err);

/* ---- objects and resources (gc_work.c) ---- */

/* Some served version of the kind; NULL: none. */
const struct kube_resource *gc_find_kind(const struct api *api, struct str api_version,
                                         struct str kind);
const struct kube_resource *gc_resource_of(const struct api *api, const struct json *obj);
/* Where an owner must lie: in the dependent's namespace, or in none. */
struct str gc_owner_key(struct arena *a, const struct kube_resource *res,
                        const struct json *dependent, const struct json *ref);
struct str gc_path_of(struct arena *a, const struct kube_resource *res, const struct json *obj);

/* Begin with one that is on the queue; it releases itself. */
void gc_work_start(struct gc_work *w);
/* Go on until something has to be waited for (gc_pass.c). */
void gc_pass_run(struct pass *p);
