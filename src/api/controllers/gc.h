/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage collection by owner references.
 *
 * The commit path calls gc_written() for each write; keys that may have become garbage are queued
 * and checked with fresh reads. There is no graph of objects: the index of owners.h finds
 * dependents. The queue holds two types of jobs:
 *
 *   work   one object: compare its owners with those that exist, then leave it, remove its
 *          references, or delete it. Up to GC_PARALLEL at a time, so that the store commits them
 *          together.
 *   pass   many objects, one page at a time: the dependents of an owner that is gone or leaving,
 *          all owners (after a start), all objects (to build the index of an older store).
 *
 *            start ---> owner ---> pages <---> check ---> finalize ---> end
 *              |          |          ^           ^           |  ^
 *              |          +----------|-----------+           +--+ conflict
 *              +---------------------+
 *
 * Only a pass for an owner that is leaving has the states owner and finalize; it skips the pages if
 * it only has to check. Each state except start also leads to end: done, failed, or stopped.
 *
 * The queue is bounded: a pass over all owners finds what did not fit. The same pass follows a
 * failure, after a backoff; an idle collector has no timer.
 */
#pragma once

#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/inner.h"
#include "api/owners.h"

enum {
    GC_PARALLEL = 32,    /* works that run at a time */
    GC_PAGE_ROWS = 64,   /* dependents taken from the index at a time */
    GC_QUEUE_MAX = 512,  /* queued works and passes */
    GC_ATTEMPTS = 16,    /* of a work that conflicts with other writers */
    GC_CYCLE_ROWS = 500, /* leaving objects that are searched for a cycle of owners */
    GC_STRAY_ROWS = 64 /* namespaces that are searched for an owner that is not where it must be */
};

#define REGISTRY    "/registry/"
#define NAMESPACES  "/registry/namespaces/"
#define BUILT_KEY   "/owned.built" /* present with this value: the indices cover all objects */
#define BUILT_VALUE "2" /* 1: only the index of owners (owners.h), not that of nodes (placed.h) */

enum pass_kind { PASS_ABSENT, PASS_LEAVING, PASS_SCAN, PASS_BUILD };
enum pass_at { PASS_START, PASS_OWNER, PASS_PAGES, PASS_CHECK, PASS_FINALIZE, PASS_END };

struct pass {
    struct list node;
    struct gc *gc;
    enum pass_kind kind;
    enum pass_at at; /* changed by gc_pass_move() */
    char *subject;   /* the owner's uid (ABSENT) or key (LEAVING) */
    bool certain;    /* ABSENT: the owner's deletion was observed */
    bool fresh;      /* LEAVING: check all dependents, not only whether one still blocks */
    bool waiting;    /* a store operation or a request of the pass is outstanding */
    bool orphan, more, failed;
    bool left_out; /* BUILD: an object is damaged, so the indices do not cover it */
    unsigned rounds;
    char *uid;
    struct buf prefix, after;
    size_t n_out; /* works of this pass that are queued or running */
};

enum gc_work_kind { WORK_CHECK, WORK_ORPHAN, WORK_INDEX };
enum gc_verdict { OWNER_SOLID, OWNER_DANGLING, OWNER_WAITING, OWNER_NOT_ALLOWED, OWNER_ASK };

struct gc_work {
    struct list node;
    struct gc *gc;
    struct pass *pass; /* the pass that queued it, or NULL */
    enum gc_work_kind kind;
    char *key;
    unsigned attempt;
    struct arena arena; /* of one attempt */
    struct json *obj;
    uint64_t rev;
    const struct kube_resource *res;
    struct json *ref;   /* the owner being checked */
    struct json *solid; /* references to keep */
    size_t n_dangling, n_waiting;
    struct json *not_allowed;
    struct json *leaving; /* keys, during a search for a cycle */
    /* owners that were not found, and the namespaces where they may be instead */
    struct json *strays, *stray, *spaces, *space;
};

struct gc {
    struct api *api;
    struct list works, passes; /* queued */
    struct map known;          /* "o<key>", "a<uid>", "l<key>": already queued */
    size_t n_running;          /* works, and requests of the active pass */
    struct pass *active;
    uint64_t built_rev; /* revision of the marker; 0: no marker */
    bool reading_marker, stopped;
    bool overflown;            /* the queue was full: something was dropped */
    bool failed;               /* an operation failed */
    bool unresolved;           /* an owner's kind is unknown */
    controller_ready_cb ready; /* NULL once it was called */
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

/* ---- the queue (gc.c): adds jobs that are not queued yet, while there is room ---- */

/* flag: ABSENT: the deletion is certain; LEAVING: the pass is fresh. */
void gc_queue_pass(struct gc *gc, enum pass_kind kind, struct str subject, bool flag);
void gc_queue_work(struct gc *gc, struct pass *pass, enum gc_work_kind kind, struct str key);
void gc_queue_forget(struct gc *gc, char kind, const char *what);
void gc_failed(struct gc *gc, const char *what, const char *key);
/* Process the queue on the next turn. */
void gc_kick(struct gc *gc);
void gc_tell_ready(struct gc *gc, int r, const struct err *err);

/* ---- objects and resources (gc_work.c) ---- */

/* A served version of the kind; NULL: none. */
const struct kube_resource *gc_find_kind(const struct api *api, struct str api_version,
                                         struct str kind);
const struct kube_resource *gc_resource_of(const struct api *api, const struct json *obj);
/* The key where an owner must be: in the dependent's namespace, or cluster-scoped. */
struct str gc_owner_key(struct arena *a, const struct kube_resource *res,
                        const struct json *dependent, const struct json *ref);
struct str gc_path_of(struct arena *a, const struct kube_resource *res, const struct json *obj);

/* The only function that changes the state of a pass. */
void gc_pass_move(struct pass *p, enum pass_at to);
/* Start a queued work; it frees itself. */
void gc_work_start(struct gc_work *w);
/* Run until the pass has to wait (gc_pass.c). */
void gc_pass_run(struct pass *p);
