/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the control plane holds in memory and loses with its process: functions with their
 * revisions, sandboxes, and the sessions of gateways and workers. It drives autoscaling and
 * placement, and uses neither disk nor API.
 *
 *     FOLLOWS --plane_lead(term)--> LEADS --plane_follow(leader)--> FOLLOWS
 *
 * Functions are known in both states. Streams are kept only while it leads: a follower answers them
 * with a redirect, and a deposed leader ends all streams and drops every sandbox.
 *
 *     sandbox: CREATING -> READY -> DRAINING -> DELETING -> gone
 *                  `--------`---------`----------^         (and gone from every state)
 *
 * Orders and endpoint updates are collected during a turn of the loop and sent at its end, one
 * message for each peer. Loop thread only; callbacks never run inside calls made on the plane,
 * except on_resolve.
 */
#pragma once

#include "base/buf.h"
#include "fn/fn.pb-c.h"
#include "fn/function.h"
#include "fn/stream.h"
#include "place/evict.h"
#include "place/place.h"

struct plane;

enum {
    PLANE_FUNCTIONS_MAX = 100000,
    PLANE_SANDBOXES_MAX = 1 << 20,
    PLANE_WORKERS_MAX = 10000,
    PLANE_GATEWAYS_MAX = 64,
    PLANE_NAME_MAX = 253,       /* of workers and gateways, and of addresses */
    PLANE_LEASE_MS = 1500,      /* of gateways and workers in other processes */
    PLANE_HOLD_MS = 1000,       /* for a stream whose hello arrives between two leaders */
    PLANE_HELLO_MS = 5000,      /* until a new stream has sent its hello */
    PLANE_RETRY_FIRST_MS = 50,  /* after a failed creation; doubles, */
    PLANE_RETRY_MAX_MS = 5000,  /* up to this */
    PLANE_PERMANENT_MS = 10000, /* after a permanent failure */
    PLANE_CRASH_MS = 10000,  /* a sandbox that ends before this age counts as a failed creation */
    PLANE_DRAIN_MS = 30000,  /* at least; longer if requests may take longer */
    PLANE_ENV_MS = 10000,    /* how long values read from Secrets and ConfigMaps are used */
    PLANE_RESTING_MAX = 256, /* revisions without sandboxes that workers know, for each worker */
    PLANE_ENDPOINTS_MAX = 8192, /* changes in one update */
    PLANE_PART_BYTES = 1 << 20  /* of functions in one message */
};

struct plane_created { /* for traces */
    struct str namespace, name;
    uint64_t sandbox;
    uint32_t revision;
    bool ok;
    uint64_t decided_us;                          /* from the decision to the worker's answer */
    const Dormouse__Fn__V1__Breakdown *breakdown; /* NULL: none was reported */
};

struct plane_ops { /* all given */
    /* The ready revision, or the reason why none is ready, has changed. */
    void (*on_change)(void *arg, uint32_t function);
    /*
     * The environment of a revision is needed for its sandboxes: call plane_set_env(). Runs inside
     * calls.
     */
    void (*on_resolve)(void *arg, uint32_t function, uint32_t revision);
    /* A message had a higher term than ours. */
    void (*on_deposed)(void *arg);
    void (*on_created)(void *arg, const struct plane_created *c);
    /*
     * With plane_opts.persists: a sandbox is ready, and gateways are notified after
     * plane_persisted(); or (is_gone) it no longer exists. Runs inside calls. NULL without.
     */
    void (*on_persist)(void *arg, uint32_t function, uint64_t sandbox, bool is_gone);
    /*
     * Is this a listener of the control plane or of its API on this machine? No worker or gateway
     * of another process may name one. Runs inside calls. NULL: none are known.
     */
    bool (*is_ours)(void *arg, struct str host, uint16_t port);
};

struct plane_opts {
    struct loop *loop;
    const char *name;  /* of this control plane; kept */
    uint64_t lease_ms; /* 0: PLANE_LEASE_MS */
    struct place_options place;
    enum place_eviction eviction;
    /*
     * What workers and gateways of other processes may name besides the address of their
     * connection: networks ("10.0.0.0/8"), addresses and host names. Kept.
     */
    const char *const *worker_networks;
    size_t n_worker_networks;
    const char
        *containers; /* network of the containers of workers on this machine; NULL: none; kept */
    bool has_tls;    /* gateways check the certificate of what answers at a worker's address */
    bool persists; /* every sandbox is written down before it is used: to measure what that costs */
    const struct plane_ops *ops;
    void *arg;
};

struct plane *plane_new(const struct plane_opts *opts);
/* Ends all streams. */
void plane_free(struct plane *p);

void plane_lead(struct plane *p, uint64_t term);
/* leader: address where the leader accepts streams, "" if it is not known; copied. */
void plane_follow(struct plane *p, const char *leader);
/*
 * It follows, and will soon lead or know the leader: hold streams, for PLANE_HOLD_MS at most,
 * instead of redirecting them.
 */
void plane_expect(struct plane *p);
bool plane_leads(const struct plane *p);
uint64_t plane_term(const struct plane *p);

/* Taken. is_local: the peer is in this process and needs no lease. */
void plane_accept_gateway(struct plane *p, struct fn_stream *s, bool is_local);
void plane_accept_worker(struct plane *p, struct fn_stream *s, bool is_local);

void plane_persisted(struct plane *p, uint64_t sandbox);

/* ---- functions ---- */

struct plane_revision {
    uint32_t number;
    struct str template; /* JSON */
    /* It had ready sandboxes, or no other revision was ready before it. */
    bool is_ready;
};
struct plane_function {
    struct str uid, namespace, name;
    uint64_t generation;
    int64_t created_s; /* wall clock; of two functions that want a route the older has it */
    const struct fn_spec *spec;
    struct str spec_json; /* for gateways: without env and secrets */
    /* Ascending; those that traffic may reach. The last is the spec's own. */
    const struct plane_revision *revisions;
    size_t n_revisions;
};
/*
 * New or changed (the same uid). Returns its number. Errors: E_LIMIT; E_INVALID a template that
 * cannot be read.
 */
int plane_set_function(struct plane *p, const struct plane_function *f, struct err *err);
/* Its sandboxes go. */
void plane_drop_function(struct plane *p, uint32_t function);

struct plane_env {
    struct fn_name_value *vars;
    size_t n_vars;
    struct fn_name_value *files; /* path, content */
    size_t n_files;
    struct str *auths; /* files of credentials for registries */
    size_t n_auths;
    struct str tenant; /* the owner of its images: namespace and its uid; "": there are none */
};
/*
 * Copied. r < 0: it could not be read, err has the reason; values read before stay in use. A failed
 * revision is tried again immediately if its environment differs.
 */
void plane_set_env(struct plane *p, uint32_t function, uint32_t revision,
                   const struct plane_env *env, int r, const struct err *err);
/* The latest revision's missing module is available now: retry failed creations at once. */
void plane_try_again(struct plane *p, uint32_t function);
struct plane_view {
    uint32_t latest;                    /* newest */
    uint32_t latest_ready;              /* newest ready one; 0: none is ready */
    uint32_t ready, creating, draining; /* sandboxes of all revisions */
    uint32_t running, queued;           /* requests, as reported last */
    /* Why the latest revision or, once that is ready, one with traffic gets no sandboxes; NULL: no
     * obstacle */
    const char *reason, *message;
    bool is_permanent;
    /* The latest revision, which has no sandbox before that has ended. */
    bool is_compiling, is_pulling;
};
/* Is the revision in use: may traffic reach it, or do sandboxes of it exist? */
bool plane_has_revision(const struct plane *p, uint32_t function, uint32_t revision);
bool plane_view(const struct plane *p, uint32_t function, struct plane_view *ret);

/* ---- namespaces ---- */

struct plane_policy {
    uint32_t sandboxes;           /* UINT32_MAX: any number */
    uint64_t memory;              /* UINT64_MAX: any amount */
    uint32_t requests_per_second; /* 0: any number */
    bool require_token;
    const uint8_t (*tokens)[32]; /* SHA-256 of each */
    size_t n_tokens;
};
/* Copied; NULL: it has none any more. */
void plane_set_policy(struct plane *p, struct str namespace, const struct plane_policy *policy);

/* ---- status ---- */

struct plane_counts {
    uint32_t functions, workers, gateways, awake; /* awake: revisions with a timer */
    uint32_t ready, creating, draining;
    uint64_t created, failed, died, deleted, orphans, refused; /* ever */
    uint64_t endpoints_version;
};
void plane_count(const struct plane *p, struct plane_counts *ret);
/* Abort unless the books are consistent. For tests; checks everything. */
void plane_check(const struct plane *p);
/* Prometheus text. */
void plane_metrics(const struct plane *p, struct buf *to);
/* JSON: workers and gateways. */
void plane_json(const struct plane *p, struct buf *to);
