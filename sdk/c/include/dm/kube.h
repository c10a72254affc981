/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators: what they watch, what they remember of it, when they reconcile, and what they may ask.
 *
 * An operator is level-based. A cache follows the objects of one resource and keeps, for each, only
 * the bytes that the operator chose to keep; a change of those bytes puts a key into the
 * controller's queue; reconcile() compares what should be with what is, one request at a time, and
 * says how it ended. The whole thing sleeps in between: nothing here polls, resyncs or sets a timer
 * while all is well.
 */
#pragma once

#include "dm/http.h"
#include "dm/json.h"
#include "dm/mem.h"
#include "dm/object.h"
#include "dm/queue.h"
#include "dm/text.h"

/* ---- caches: list, then watch, for ever ---- */

#define DM_LIST_PAGE 250 /* objects per page of a list: bounds what a first list takes */

enum dm_change { DM_ADDED, DM_MODIFIED, DM_DELETED };

struct dm_watch {
    const struct dm_resource *res;
    const char *ns;             /* NULL: all namespaces */
    const char *label_selector; /* NULL: all objects */
    const char *field_selector;
    /*
     * Append what is worth keeping of an object. NULL: nothing, and every event counts as a change.
     * With it, events that alter nothing kept are not reported.
     */
    void (*keep)(struct dm_json obj, struct dm_text *out);
    /*
     * ns ("" for cluster-scoped objects) and name are borrowed. Runs for every object of the first
     * list as well. The cache already shows the new state, and for DM_DELETED still the old one.
     */
    void (*changed)(void *arg, enum dm_change change, const char *ns, const char *name);
    void *arg;
};

struct dm_cache;

/* Everything `w` points to is kept. A cache lives as long as the operator. */
struct dm_cache *dm_cache_start(const struct dm_watch *w);
bool dm_cache_synced(const struct dm_cache *c); /* the first list has come in completely */

struct dm_object {
    const char *ns, *name;
    struct dm_str kept;
};
/* Borrowed until the next event; NULL when there is no such object. */
const struct dm_object *dm_cache_get(const struct dm_cache *c, const char *ns, const char *name);
/* The object after `o`, the first one after NULL; in no order. */
const struct dm_object *dm_cache_next(const struct dm_cache *c, const struct dm_object *o);
size_t dm_cache_count(const struct dm_cache *c);

/* ---- controllers ---- */

struct dm_work;
struct dm_controller;

struct dm_control {
    const char *name; /* for the log and as field manager */
    void (*reconcile)(struct dm_work *w);
    void *user;
    unsigned workers;              /* keys reconciled at the same time; 0 means 1 */
    struct dm_queue_limits limits; /* zeroed: DM_QUEUE_LIMITS */
};

struct dm_controller *dm_control(const struct dm_control *config);
/* No reconcile before this cache has synced. */
void dm_control_needs(struct dm_controller *ctl, const struct dm_cache *c);
void dm_enqueue(struct dm_controller *ctl, const char *ns, const char *name);
/* dm_watch.changed for the usual case, with the controller as arg: enqueue the object's own key. */
void dm_enqueue_changed(void *ctl, enum dm_change change, const char *ns, const char *name);

/* ---- one reconcile ---- */

struct dm_work {
    const char *ns, *name; /* the key */
    uint32_t failures;     /* in a row, before this run */
    struct dm_arena arena; /* lives until the work has ended */
    void *user;            /* of the controller */
    void *state;           /* for the operator; NULL at first; usually from the arena */
    struct dm_controller *ctl;
};

/* The work ends with exactly one of these. */
void dm_done(struct dm_work *w);
void dm_again_after(struct dm_work *w, uint64_t after_ms); /* not a failure */
void dm_fail(struct dm_work *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct dm_reply {
    int status;          /* HTTP; 0 when there was no answer */
    struct dm_json body; /* borrowed until the step returns; no value when it was not JSON */
    bool unchanged;      /* dm_upsert() had nothing to write */
};
static inline bool dm_ok(const struct dm_reply *r)
{
    return r->status >= 200 && r->status < 300;
}
/* Fail the work with what the API said, "get configmaps 'x': 403 Forbidden: ...". */
void dm_fail_reply(struct dm_work *w, const struct dm_reply *r);

/*
 * Each verb starts one request and calls `step` with the answer. A step starts the next verb or
 * ends the work. ns is NULL or "" for cluster-scoped objects. All arguments are copied.
 */
typedef void (*dm_step)(struct dm_work *w, const struct dm_reply *r);

#define DM_MERGE_PATCH "application/merge-patch+json"
#define DM_JSON_PATCH  "application/json-patch+json"

void dm_get(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
            dm_step step);
/* query: NULL or, for instance, "labelSelector=a%3Db&limit=10", already encoded. */
void dm_list(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *query,
             dm_step step);
void dm_create(struct dm_work *w, const struct dm_resource *res, const char *ns, struct dm_str body,
               dm_step step);
/* sub: NULL or a subresource such as "status". */
void dm_replace(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
                const char *sub, struct dm_str body, dm_step step);
void dm_patch(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
              const char *sub, const char *patch_type, struct dm_str body, dm_step step);
/* uid: NULL, or delete only this very object. Absent objects answer 404. */
void dm_delete(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
               const char *uid, dm_step step);

/*
 * Read, decide, write; again from the start when somebody else wrote in between, up to
 * DM_CONFLICTS_MAX times.
 *
 * mutate: gets the object, or no value when there is none, and writes the complete new object into
 *         `out`. May run several times.
 * step:   gets the answer to the write; to the read, with `unchanged`, after DM_KEEP.
 */
#define DM_CONFLICTS_MAX 5
enum dm_verdict { DM_KEEP, DM_WRITE };
typedef enum dm_verdict (*dm_mutate)(struct dm_work *w, struct dm_json old, struct dm_text *out);
void dm_upsert(struct dm_work *w, const struct dm_resource *res, const char *ns, const char *name,
               const char *sub, dm_mutate mutate, dm_step step);

/* ---- pieces of objects, the rest is in dm/object.h ---- */

/* Add or remove one finalizer, with the object's resourceVersion as a condition. */
void dm_set_finalizer(struct dm_work *w, const struct dm_resource *res, struct dm_json obj,
                      const char *finalizer, bool present, dm_step step);

/*
 * Post an Event about obj and forget it. Nothing is sent when the budget of DM_EVENT_BURST events,
 * refilled by one every DM_EVENT_REFILL_MS, is used up.
 */
#define DM_EVENT_BURST     25
#define DM_EVENT_REFILL_MS 60000
void dm_event(struct dm_controller *ctl, const struct dm_resource *res, struct dm_json obj,
              bool warning, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
