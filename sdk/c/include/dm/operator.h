/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators for ABI v1, written straight down.
 *
 * An operator is a table: which objects its controllers are about, and a reconcile() for each. The
 * host watches, caches, queues and retries; it calls reconcile() with one key at a time, and every
 * call below returns with its answer. Between two calls of reconcile() the module may sleep on disk
 * or be started anew, so what must be remembered stands in objects; static variables are a cache.
 *
 *     static struct dm_result reconcile(struct dm_request *r) { ... return dm_done(); }
 *     static const struct dm_controller controllers[] = {
 *         { .name = "hello", .reconcile = reconcile, .primary = { .res = &dm_configmaps } }, { 0 }
 *     };
 *     const struct dm_operator dm_operator = { .name = "hello", .controllers = controllers };
 *
 * Calls return 0 or a negative enum dm_code, and r->error then says more. Texts and JSON values
 * that they hand out, dm_scratch() and r->arena live until reconcile() returns. docs/guest-abi.md
 * says what the host makes of all this. dm/kube.h is the SDK of the older ABIs; an operator has one
 * of them.
 */
#pragma once

#include "dm/json.h"
#include "dm/mem.h"
#include "dm/object.h"
#include "dm/system.h"
#include "dm/text.h"

#include <stdbool.h>
#include <stdint.h>

struct dm_request;

/* ---- what the operator is: tables, usually const; each ends with a zeroed row ---- */

/* A predicate, JSON text put together from literals: DM_OR(DM_CHANGED("generation"),
 * DM_HAS("a=b")). */
#define DM_CHANGED(what)                                                                           \
    "{\"changed\":\"" what "\"}" /* generation, labels, annotations, resourceVersion */
#define DM_ON(event)     "{\"on\":[\"" event "\"]}" /* create, update, delete */
#define DM_HAS(selector) "{\"labels\":\"" selector "\"}"
#define DM_NOT(p)        "{\"not\":" p "}"
#define DM_AND(a, b)     "{\"and\":[" a "," b "]}"
#define DM_OR(a, b)      "{\"or\":[" a "," b "]}"
#define DM_SPEC_CHANGED  DM_CHANGED("generation")

/* Which primaries an object of `watches` is about. */
#define DM_MAP_OWNER               "{\"owner\":true}"
#define DM_MAP_FIELD(field)        "{\"field\":\"" field "\"}"
#define DM_MAP_FIELDS(field, ns)   "{\"field\":\"" field "\",\"namespaceField\":\"" ns "\"}"
#define DM_MAP_LABEL(key)          "{\"label\":\"" key "\"}"
#define DM_MAP_ANNOTATION(key)     "{\"annotation\":\"" key "\"}"
#define DM_MAP_INDEX(index, value) "{\"index\":\"" index "\",\"value\":\"" value "\"}"
#define DM_MAP_ALL                 "{\"all\":true}"
#define DM_MAP_ALL_IN_NAMESPACE    "{\"all\":true,\"sameNamespace\":true}"
#define DM_MAP_KEY(ns, name)       "{\"key\":{\"namespace\":\"" ns "\",\"name\":\"" name "\"}}"

/* One of field, label and owner. */
struct dm_index {
    const char *name;
    const char *field; /* ".spec.secretRef.name", ".spec.items[*].name" */
    const char *label;
    bool owner;
};

struct dm_watch {
    const struct dm_resource *res;
    const char *id;                /* names it in reads; NULL: the plural of res */
    const char *const *namespaces; /* NULL-terminated; NULL: all */
    const char *name;              /* only this object */
    const char *label_selector, *field_selector;
    bool metadata_only;
    bool any_owner;           /* in `owns`: owners that are not the controller count as well */
    const char *const *strip; /* fields not to be cached, NULL-terminated */
    const struct dm_index *indexes;
    const char *predicate; /* NULL: every change but that of resourceVersion alone */
    const char *map;       /* in `watches` */
};

/* What is to happen with the key. Made by the functions below. */
struct dm_result {
    int64_t value;
};

struct dm_controller {
    const char *name;
    struct dm_result (*reconcile)(struct dm_request *r);
    struct dm_watch primary;
    const struct dm_watch *owns, *watches;
    unsigned concurrency;                     /* keys at once, at most `instances`; 0: 1 */
    int resync_s;                             /* 0: 10 hours; negative: never */
    unsigned backoff_base_ms, backoff_max_ms; /* 0: 5 ms, 1,000 s */
    unsigned rate_per_s, rate_burst;          /* of retries; 0: 10, 100 */
    unsigned slack_percent;                   /* dm_again_after() may come later by that; 0: 5 */
    unsigned debounce_ms; /* a key waits so long after its first event; 0: not at all */
    void *user;
};

/* Found in a ConfigMap or a Secret. */
struct dm_config {
    const char *name;
    const char *config_map, *secret; /* one of them */
    const char *ns;                  /* NULL: the operator's own */
    bool optional;
    const char
        *on_change; /* "none" (also NULL), "reconcile" every primary, "activate": on_config() */
};

struct dm_metric {
    const char *name, *type, *help; /* type: "counter", "gauge", "histogram" */
    const char *const *labels;      /* NULL-terminated; NULL: none */
    const char *buckets;            /* of a histogram: "0.1,1,10" */
};

struct dm_operator {
    const char *name, *version;
    const struct dm_controller *controllers;
    const struct dm_watch *caches; /* read, but never a reason to run */
    const struct dm_config *configs;
    const struct dm_metric *metrics;
    unsigned instances; /* 0: 1 */
    bool stateless;     /* dropped instead of written to disk: there is nothing worth keeping */
    /* Runs before the tables are read, which may be filled here, from dm_env() for instance. NULL:
     * nothing to do. A negative value fails the start. */
    int (*setup)(void);
    struct dm_result (*on_config)(struct dm_request *r, const char *config);
};

/* Defined by the operator. */
extern const struct dm_operator dm_operator;

/* ---- errors ---- */

enum dm_code {
    DM_OK = 0,
    /* What the host says, and the answers of the API that mean the same. */
    DM_E_INVALID = -1,   /* also 400, 422 */
    DM_E_NOT_FOUND = -2, /* also 404 */
    DM_E_FORBIDDEN = -3, /* also 403 */
    DM_E_NOT_DECLARED = -4,
    DM_E_TOO_LARGE = -5,   /* also 413 */
    DM_E_LIMITED = -6,     /* also 429 */
    DM_E_TIMEOUT = -7,     /* also 408, 504: a write may have happened */
    DM_E_UNAVAILABLE = -8, /* also 503 */
    DM_E_EXPIRED = -9,     /* also 410 */
    DM_E_CANCELLED = -10,
    DM_E_NOT_SYNCED = -11,
    /* Answers of the API alone. */
    DM_E_CONFLICT = -100, /* 409: somebody else wrote in between, or a precondition does not hold */
    DM_E_EXISTS = -101,   /* 409 AlreadyExists */
    DM_E_REFUSED = -102,  /* any other 4xx */
    DM_E_SERVER = -103,   /* any other 5xx, or an answer that is none */
};

struct dm_error {
    int code;   /* enum dm_code, or a newer one of the host; 0: the last call succeeded */
    int status; /* of HTTP; 0: the error is the host's */
    const char *reason, *message; /* "Conflict", "AlreadyExists", ...; never NULL */
    unsigned retry_after_s;       /* 0: nobody said */
    struct dm_json causes; /* of details: an array of {"reason", "message", "field"}, or no value */
};

/* ---- one activation ---- */

enum dm_reason { /* why, since the last time; several may be set */
                 DM_REASON_INITIAL = 1 << 0,
                 DM_REASON_CREATE = 1 << 1,
                 DM_REASON_UPDATE = 1 << 2,
                 DM_REASON_DELETE = 1 << 3,
                 DM_REASON_OWNED = 1 << 4,
                 DM_REASON_MAPPED = 1 << 5,
                 DM_REASON_RESYNC = 1 << 6,
                 DM_REASON_REQUEUE = 1 << 7,
                 DM_REASON_RETRY = 1 << 8,
                 DM_REASON_ENQUEUE = 1 << 9,
                 DM_REASON_CONFIG = 1 << 10,
};

struct dm_request {
    const struct dm_controller *controller; /* NULL in on_config() */
    const char *ns, *name;                  /* the key; ns is "" for cluster-scoped primaries */
    unsigned reasons;                       /* of enum dm_reason; unknown ones are left out */
    unsigned attempt;                       /* failures in a row */
    /*
     * The primary as the cache has it; no value when there is none. The helpers that write to the
     * primary put the answer here.
     */
    struct dm_json object;
    struct dm_error error; /* of the last call */
    struct dm_arena arena; /* lives until reconcile() returns */
    struct dm_held *held;  /* the SDK's own: scratch texts, and what `error` points to */
    struct dm_arena errors;
};

/* Text for a body or a message, released after reconcile(). */
struct dm_text *dm_scratch(struct dm_request *r);

/* Done; the back-off is forgotten. */
struct dm_result dm_done(void);
/* Done, and once more after this time unless something happens before. after_ms 0 counts as 1. */
struct dm_result dm_again_after(uint64_t after_ms);
/* Failed, try again with back-off. The text is completed by r->error when that is set. */
struct dm_result dm_fail(struct dm_request *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Failed, and not again until something changes. */
struct dm_result dm_give_up(struct dm_request *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- the API, with the operator's own identity ---- */

struct dm_ref {
    const struct dm_resource *res;
    const char *ns, *name; /* ns: NULL or "" for cluster-scoped objects */
    const char *sub;       /* NULL, or "status", "scale", ... */
};
static inline struct dm_ref dm_ref(const struct dm_resource *res, const char *ns, const char *name)
{
    return (struct dm_ref){ res, ns, name, NULL };
}
struct dm_ref dm_self(const struct dm_request *r); /* the primary */
static inline struct dm_ref dm_sub(struct dm_ref ref, const char *sub)
{
    ref.sub = sub;
    return ref;
}

/* ret, here and below: NULL, or receives the answer's body on success. */
int dm_get(struct dm_request *r, struct dm_ref ref, struct dm_json *ret);
int dm_create(struct dm_request *r, struct dm_ref ref, struct dm_str body, struct dm_json *ret);
/* A resourceVersion in the body is the condition under which it is written. */
int dm_update(struct dm_request *r, struct dm_ref ref, struct dm_str body, struct dm_json *ret);

#define DM_PATCH_JSON      "application/json-patch+json"
#define DM_PATCH_MERGE     "application/merge-patch+json"
#define DM_PATCH_STRATEGIC "application/strategic-merge-patch+json"
int dm_patch(struct dm_request *r, struct dm_ref ref, const char *type, struct dm_str body,
             struct dm_json *ret);
/* Server-side apply; `force` takes fields over from other managers. */
int dm_apply(struct dm_request *r, struct dm_ref ref, struct dm_str body, bool force,
             struct dm_json *ret);

struct dm_delete {
    const char *uid, *resource_version; /* preconditions; NULL: none */
    const char *propagation;            /* "Background", "Foreground", "Orphan"; NULL: the kind's */
    int grace_s;                        /* 0: the kind's; negative: none */
    bool dry_run;
};
/* how: NULL for none of it. An object that is not there is DM_E_NOT_FOUND. */
int dm_delete(struct dm_request *r, struct dm_ref ref, const struct dm_delete *how);

struct dm_list {
    const struct dm_resource *res;
    const char *ns; /* NULL: all namespaces */
    const char *label_selector, *field_selector;
    unsigned limit;             /* objects per page; 0: 500 */
    const char *continue_token; /* of the page before */
    bool metadata_only;
};
/* One page. */
int dm_list(struct dm_request *r, const struct dm_list *l, struct dm_json *ret);
/*
 * All pages, one object at a time; a page's memory, and what fn() took, is released with the page,
 * so fn() leaves the primary alone. A non-zero value of fn() ends it and is returned.
 */
typedef int (*dm_each_fn)(struct dm_request *r, struct dm_json object, void *arg);
int dm_list_each(struct dm_request *r, const struct dm_list *l, dm_each_fn fn, void *arg);

/* Anything else. headers: NULL or lines that end in LF. content_type NULL: no body. */
struct dm_call {
    const char *method, *target, *headers, *content_type;
    struct dm_str body;
};
int dm_call(struct dm_request *r, const struct dm_call *c, struct dm_json *ret);

/* ---- the cache ---- */

/* watch: its id. ns, name as for the API. Sees own writes only with consistent reads. */
int dm_cache_get(struct dm_request *r, const char *watch, const char *ns, const char *name,
                 struct dm_json *ret);
int dm_cache_get_consistent(struct dm_request *r, const char *watch, const char *ns,
                            const char *name, struct dm_json *ret);

struct dm_query {
    const char *watch;
    const char *ns; /* NULL: all */
    const char *label_selector;
    const char *index, *value;
    const char *view; /* "metadata", "keys"; NULL: full */
    unsigned limit;
    const char *continue_token;
    bool consistent;
};
int dm_cache_list(struct dm_request *r, const struct dm_query *q, struct dm_json *ret);
int dm_cache_each(struct dm_request *r, const struct dm_query *q, dm_each_fn fn, void *arg);

/* A declared configuration: {"data": {...}, "binaryData": {...}, "resourceVersion": ...}. */
int dm_config(struct dm_request *r, const char *name, struct dm_json *ret);

/* ---- the primary ---- */

/* Add or remove a finalizer, unless that is so already. Updates r->object. */
int dm_set_finalizer(struct dm_request *r, const char *finalizer, bool present);
/*
 * The whole life of a finalizer, called before anything else is made. clean() returns 0 when
 * nothing is left, 1 when something is still going (an event of a watched object brings the key
 * back), or fails.
 *
 * Returns 0: the object is alive and has the finalizer; go on.
 *         1: it is being deleted and clean() has done its part, or there is no object. Return
 *            dm_done(), or dm_again_after() when clean() waits for what nothing watches.
 *  negative: a call failed, or clean() did; return dm_fail().
 */
int dm_finalize(struct dm_request *r, const char *finalizer, int (*clean)(struct dm_request *r));

/*
 * Write the primary's status: these members (JSON text without its braces, "\"ready\":2", or NULL),
 * observedGeneration, and one condition (or NULL). Others stay. Nothing is sent when the object in
 * r->object says all of it. c->generation 0: the object's. Updates r->object.
 */
int dm_set_status(struct dm_request *r, const char *members, const struct dm_condition *c);

/* ---- telling ---- */

enum dm_log_level { DM_LOG_DEBUG, DM_LOG_INFO, DM_LOG_WARN, DM_LOG_ERROR };
/*
 * A fixed text and what belongs to it: dm_info("copied", "from=%s bytes=%u", name, n), or "". The
 * names stand in the log as they are here; numbers stay numbers.
 */
void dm_log(enum dm_log_level level, const char *text, const char *pairs_fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define dm_debug(text, ...) dm_log(DM_LOG_DEBUG, text, __VA_ARGS__)
#define dm_info(text, ...)  dm_log(DM_LOG_INFO, text, __VA_ARGS__)
#define dm_warn(text, ...)  dm_log(DM_LOG_WARN, text, __VA_ARGS__)
#define dm_error(text, ...) dm_log(DM_LOG_ERROR, text, __VA_ARGS__)

/* An Event about an object: reason "Issued", action "Issue", and a sentence. */
enum dm_event_type { DM_NORMAL, DM_WARNING };
void dm_event(const struct dm_resource *res, struct dm_json object, enum dm_event_type type,
              const char *reason, const char *action, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* The metric's row in the table, the value, and as many labels as it has: dm_metric(0, 1,
 * "Secret"). */
#define dm_metric(index, value, ...)                                                               \
    dm_metric_labelled(index, value, (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })
void dm_metric_labelled(unsigned index, double value, const char *const *labels);

/* Have a key of this operator reconciled. priority: "low", "normal" (also NULL), "high". */
void dm_enqueue(const char *controller, const char *ns, const char *name, uint64_t after_ms,
                const char *priority);
