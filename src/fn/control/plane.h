/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the control plane holds in memory and loses with its process: functions with their
 * revisions, sandboxes, and the sessions of gateways and workers. Autoscaling and placement are
 * driven from here; nothing here touches a disk or the API.
 *
 *     FOLLOWS --plane_lead(term)--> LEADS --plane_follow(leader)--> FOLLOWS
 *
 * Functions are known in both states. Streams are only kept while it leads: a follower answers them
 * with a redirect, and one that is deposed ends them all and forgets every sandbox.
 *
 *     sandbox: CREATING -> READY -> DRAINING -> DELETING -> gone
 *                   `--------`---------`----------^         (and gone from every state)
 *
 * Orders and endpoint updates are gathered during a turn of the loop and leave at its end, one
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
    PLANE_HOLD_MS = 1000,       /* a stream that says hello between two leaders */
    PLANE_HELLO_MS = 5000,      /* until a new stream has said who it is */
    PLANE_RETRY_FIRST_MS = 50,  /* after a failed creation; doubles, */
    PLANE_RETRY_MAX_MS = 5000,  /* up to this */
    PLANE_PERMANENT_MS = 10000, /* after a permanent failure */
    PLANE_CRASH_MS = 10000,     /* who dies younger than this counts as a failed creation */
    PLANE_DRAIN_MS = 30000,     /* at least; longer if requests may take longer */
    PLANE_ENV_MS = 10000,       /* what was read from Secrets and ConfigMaps holds so long */
    PLANE_RESTING_MAX = 256,    /* revisions without sandboxes that workers know, for each worker */
    PLANE_ENDPOINTS_MAX = 8192, /* changes in one update */
    PLANE_PART_BYTES = 1 << 20  /* of functions in one message */
};

struct plane_created { /* for traces */
    struct str namespace, name;
    uint64_t sandbox;
    uint32_t revision;
    bool ok;
    uint64_t decided_us;                          /* from the decision to the worker's answer */
    const Dormouse__Fn__V1__Breakdown *breakdown; /* NULL: none was told */
};

struct plane_ops { /* all given */
    /* The ready revision, or what stands in its way, has changed. */
    void (*on_change)(void *arg, uint32_t function);
    /*
     * Sandboxes of a revision need what its Secrets and ConfigMaps say: plane_set_env() is due.
     * Runs inside calls.
     */
    void (*on_resolve)(void *arg, uint32_t function, uint32_t revision);
    /* Somebody has seen a higher term than ours. */
    void (*on_deposed)(void *arg);
    void (*on_created)(void *arg, const struct plane_created *c);
    /*
     * With plane_opts.persists: a sandbox is ready, and plane_persisted() is due before gateways
     * hear of it; or (is_gone) it is no more. Runs inside calls. NULL without.
     */
    void (*on_persist)(void *arg, uint32_t function, uint64_t sandbox, bool is_gone);
    /*
     * A listener of the control plane itself, or of its API, on this machine, which no worker or
     * gateway of another process may name. Runs inside calls. NULL: none are known.
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
     * What workers and gateways of other processes may name beside the address that they dial
     * from: networks ("10.0.0.0/8"), addresses and host names. Kept.
     */
    const char *const *worker_networks;
    size_t n_worker_networks;
    const char *containers; /* network of those of workers on this machine; NULL: none; kept */
    bool has_tls;  /* gateways check the certificate of what answers at a worker's address */
    bool persists; /* every sandbox is written down before it is used: to measure what that costs */
    const struct plane_ops *ops;
    void *arg;
};

struct plane *plane_new(const struct plane_opts *opts);
/* Ends all streams. */
void plane_free(struct plane *p);

void plane_lead(struct plane *p, uint64_t term);
/* leader: address where the leader takes streams, "" if it is not known; copied. */
void plane_follow(struct plane *p, const char *leader);
/*
 * It follows, and is about to lead, or to hear who does: streams are held, for PLANE_HOLD_MS at
 * most, and not sent away.
 */
void plane_expect(struct plane *p);
bool plane_leads(const struct plane *p);
uint64_t plane_term(const struct plane *p);

/* Taken. is_local: the peer lives in this process, and no lease is needed. */
void plane_accept_gateway(struct plane *p, struct fn_stream *s, bool is_local);
void plane_accept_worker(struct plane *p, struct fn_stream *s, bool is_local);

void plane_persisted(struct plane *p, uint64_t sandbox);

/* ---- functions ---- */

struct plane_revision {
    uint32_t number;
    struct str template; /* JSON */
    /* It had sandboxes that were ready, or no other was ready before it. */
    bool is_ready;
};
struct plane_function {
    struct str uid, namespace, name;
    uint64_t generation;
    int64_t created_s; /* wall clock; of two that want a route the older has it */
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
    struct str tenant; /* whose they are: namespace and its uid; "": there are none */
};
/*
 * Copied. r < 0: it could not be had, err says why; what is known from before serves then. A
 * revision that failed is tried again at once with an environment that differs.
 */
void plane_set_env(struct plane *p, uint32_t function, uint32_t revision,
                   const struct plane_env *env, int r, const struct err *err);
/* The latest revision's missing module is available now: retry failed creations at once. */
void plane_try_again(struct plane *p, uint32_t function);
struct plane_view {
    uint32_t latest;                    /* newest */
    uint32_t latest_ready;              /* newest that is ready; 0: none is */
    uint32_t ready, creating, draining; /* sandboxes of all revisions */
    uint32_t running, queued;           /* requests, as told last */
    /* Why the latest revision or, once that is ready, one with traffic gets no sandboxes; NULL: no
     * obstacle */
    const char *reason, *message;
    bool is_permanent;
    /* The latest revision, which has no sandbox before that has ended. */
    bool is_compiling, is_pulling;
};
/* It is held: traffic may reach it, or sandboxes of it exist. */
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
/* Copied; NULL: none any more. */
void plane_set_policy(struct plane *p, struct str namespace, const struct plane_policy *policy);

/* ---- what it tells ---- */

struct plane_counts {
    uint32_t functions, workers, gateways, awake; /* awake: revisions with a timer */
    uint32_t ready, creating, draining;
    uint64_t created, failed, died, deleted, orphans, refused; /* ever */
    uint64_t endpoints_version;
};
void plane_count(const struct plane *p, struct plane_counts *ret);
/* Aborts unless the books agree with each other. For tests; looks at everything. */
void plane_check(const struct plane *p);
/* Prometheus text. */
void plane_metrics(const struct plane *p, struct buf *to);
/* JSON: workers and gateways. */
void plane_json(const struct plane *p, struct buf *to);
