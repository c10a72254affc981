/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the plane share: plane.c (functions, leading), plane_scale.c (autoscaling,
 * placement, the life of sandboxes), plane_worker.c and plane_gateway.c (sessions and messages),
 * plane_session.c (streams and leases).
 */
#pragma once

#include "base/crowd.h"
#include "base/histogram.h"
#include "base/list.h"
#include "base/map.h"
#include "base/sm.h"
#include "base/vec.h"
#include "fn/control/plane.h"
#include "fn/control/table.h"
#include "fn/fn.pb-c.h"
#include "fn/scale/scale.h"

typedef VEC(uint64_t) ids;
typedef VEC(uint32_t) numbers;

/* What many revisions share: interned. */
struct plane_config {
    uint32_t refs;
    struct str key; /* of the plane's map */
    struct scale_config scale;
    struct place_amounts need;
    struct place_label *selector; /* the last: that of the runtime */
    uint32_t n_selector;
    enum fn_runtime runtime;
    uint32_t grace_ms, drain_ms;
};

/* What one gateway reported of a revision last. */
struct plane_share {
    struct plane_gateway *gateway;
    uint32_t running, queued;
    uint64_t at_ms;
};

/* A revision that is in use: load, back-off. */
struct plane_active {
    struct control_plane_revision *rev;
    struct timer tick, retry;
    VEC(struct plane_share) shares;
    uint32_t running, queued; /* of all shares */
    unsigned failures;        /* consecutive failed creations */
    uint64_t retry_at_ms;     /* no creation before */
    bool waits_env;
    uint32_t avoid[4]; /* nodes where it failed */
    uint32_t n_avoid;
    ids idle;            /* in the last report */
    struct list pending; /* waits for room on a worker */
};

/*
 * May traffic go to a revision?
 *
 *     UNREADY --no other revision is--> ASSUMED --its initial sandboxes are ready--> READY
 *        |                                 `--they cannot be made--> UNREADY           |
 *        `--initial sandboxes are ready, or it needs none--> READY                     |
 *             ^------- its first sandbox cannot be made -------------------------------'
 */
enum plane_readiness { PLANE_UNREADY, PLANE_ASSUMED, PLANE_READY };

/* What the first sandbox of a revision waits for at its worker. */
enum plane_preparing { PLANE_PREPARED, PLANE_COMPILING, PLANE_PULLING };

struct control_plane_revision {
    struct plane *p;
    struct control_plane_function *f;
    uint32_t number;
    uint32_t template_n;
    char *template;
    struct plane_config *config;
    struct scale scale;
    struct place_tally held;     /* nodes that have made a sandbox of it, and so have its module */
    struct list resting;         /* on the plane's list while it has no sandboxes any more */
    struct plane_active *active; /* NULL: at rest */
    uint32_t first;              /* slot of a sandbox */
    uint32_t ready, creating, draining;
    enum plane_readiness readiness : 8;
    enum plane_preparing preparing : 8;
    bool reachable, wants_env;
    bool is_proven;         /* a sandbox of it was ready */
    bool is_permanent;      /* of `reason`: no creation helps until the definition changes */
    char *reason, *message; /* what prevents sandboxes; NULL: nothing */
    struct env *env;
    uint64_t env_at_ms;
};

struct control_plane_function {
    uint32_t number;
    uint32_t spec_n;
    uint64_t generation;
    int64_t created_s;
    char *uid, *name; /* one block with spec */
    char *spec;
    struct plane_namespace *ns;
    struct control_plane_revision **revisions; /* ascending */
    uint32_t n_revisions;
    uint32_t latest, latest_ready;
    uint32_t *traffic, n_traffic; /* revisions that the rules name; 0: the latest ready one */
    bool dirty;                   /* an update for gateways is due */
    bool dropped;                 /* removed as soon as its last sandbox is gone */
};

struct plane_namespace {
    struct str name; /* key of the plane's map */
    uint32_t functions;
    uint32_t sandboxes;
    uint64_t memory;
    bool has_policy, dirty;
    struct plane_policy policy; /* limits; tokens owned */
};

/* Numbers that a worker knows: open addressing; 0 is no number. */
struct number_set {
    uint64_t *at;
    uint32_t n, cap;
};

/* A gateway or a worker, and the stream that it has now. */
struct plane_peer {
    struct plane *p;
    struct fn_stream *stream; /* NULL: it broke, and the lease still runs */
    bool is_local;
    uint64_t heard_ms, incarnation;
    char *name, *address;
    char from[FN_PEER_MAX]; /* the machine of the other end; "": this process */
};

struct plane_worker {
    struct plane_peer peer;
    uint16_t index; /* in plane.workers; its node in the books has the same */
    uint32_t node, epoch;
    struct str host; /* of its address */
    uint32_t n_sandboxes;
    bool dirty, is_leaving;
    struct number_set known; /* revisions: function << 32 | revision */
    ids creates;
    VEC(Dormouse__Fn__V1__Delete) deletes;
    VEC(Dormouse__Fn__V1__Adopt) adopts;
    numbers gone, resting;
    VEC(char *) deleted; /* namespace/name of functions that it was ordered to forget */
    uint64_t memory_used;
    uint32_t cpu_used, running;
};

struct plane_gateway {
    struct plane_peer peer;
    uint32_t bit;               /* of plane.gateways and of what is drained */
    bool is_welcome;            /* has its snapshot: gets updates */
    bool is_leaving;            /* finishes what it has: no member any more */
    uint64_t endpoints_version; /* in its last report */
};

/* A stream whose hello has not arrived. */
struct plane_caller {
    struct plane *p;
    struct fn_stream *stream;
    struct list node;
    struct timer timer;
    bool is_local, is_worker;
    struct buf hello; /* held until there is a leader */
};

/* A draining sandbox. */
struct plane_drain {
    uint64_t id, owed; /* gateways that have not reported it empty */
    uint64_t due_ms;
};

struct plane_failure {
    uint32_t function, revision;
};

enum { PLANE_BOUNDS = 14 };
struct plane_start_times { /* in us */
    HISTOGRAM_FIELDS(uint64_t, PLANE_BOUNDS);
};
extern const struct histogram_kind plane_start_kind;

struct plane {
    struct plane_opts opts;
    struct loop *loop;
    uint64_t lease_ms;
    bool leads;
    bool expects; /* no leader is known */
    uint64_t term;
    uint32_t next_sandbox;
    char *leader;

    VEC(struct control_plane_function *) functions; /* by number; [0] is none */
    struct map by_uid, namespaces, configs;
    uint32_t n_functions, n_awake;

    struct sandbox_table table;
    struct crowd crowd; /* of sandboxes */
    struct place_books *books;
    struct place *place;
    uint64_t popular_at_ms, level_at_ms; /* plane_place.c looked at all functions last */
    struct rng rng;
    struct list pending; /* struct plane_active */
    /* Revisions that had sandboxes, least recently used first: workers still know them. */
    struct list resting;
    uint32_t n_resting;

    VEC(struct plane_worker *) workers; /* by index; holes */
    struct map workers_by_name;
    uint32_t n_workers;
    struct plane_gateway *gateways[PLANE_GATEWAYS_MAX];
    uint32_t n_gateways;
    struct list callers;

    uint64_t version, members_epoch;
    uint8_t secret[32]; /* of this term; gateways authenticate to each other with it */
    /* For all gateways, at the end of this turn. */
    struct defer retry_pending;
    ids adds, drains, removes;
    numbers changed, gone;
    VEC(struct plane_failure) failures;
    bool members_changed, policies_changed;
    VEC(uint16_t) dirty_workers;
    struct defer flush;

    VEC(struct plane_drain) draining;
    struct timer drain_timer, lease_timer;
    uint64_t lease_due_ms; /* of lease_timer */

    uint64_t created, failed, died, deleted, orphans, refused;
    struct plane_start_times start[9]; /* by phase; the last: whole, from the decision */
};

/* ---- plane.c ---- */
struct control_plane_function *plane_function(const struct plane *p, uint32_t number);
struct control_plane_revision *plane_revision_of(const struct plane *p, uint32_t function,
                                                 uint32_t revision);
/* A revision of it has become ready, or turned out not to be. */
void plane_update_ready(struct control_plane_function *f);
void plane_revision_move(struct control_plane_revision *rev, enum plane_readiness to);
/* Drop revisions that nothing needs, and a dropped function without sandboxes. May free both. */
void plane_tidy(struct plane *p, struct control_plane_function *f);
void plane_changed(struct plane *p, struct control_plane_function *f); /* send it to gateways */
void plane_send_later(struct plane *p);
void plane_notify_change(
    struct control_plane_revision *rev); /* on_change, if the world may see a difference */

/* ---- plane_scale.c ---- */
void plane_revision_begin(struct control_plane_revision *rev);
/* Reachability or configuration has changed. */
void plane_revision_recount(struct control_plane_revision *rev);
void plane_revision_rest(struct control_plane_revision *rev); /* frees timers and load */
void plane_revision_load(struct control_plane_revision *rev, struct plane_gateway *g,
                         const Dormouse__Fn__V1__FunctionLoad *m);
/* The gateway's share of every load is zero, or (keep) becomes zero unless it reports again. */
void plane_drop_shares(struct plane *p, struct plane_gateway *g);
void plane_revision_env(struct control_plane_revision *rev);
/* Clear the back-off and the errors of earlier attempts. */
void plane_revision_try_again(struct control_plane_revision *rev);
void plane_retry_pending(struct plane *p);
/* The worker reported it ready. */
void plane_sandbox_ready(struct plane *p, uint32_t slot, const Dormouse__Fn__V1__Created *m);
void plane_sandbox_failed(struct plane *p, uint32_t slot, const Dormouse__Fn__V1__Created *m);
/* It is being created; its module is being compiled. */
void plane_sandbox_compiling(struct plane *p, uint32_t slot);
void plane_sandbox_pulling(struct plane *p, uint32_t slot);
/* It no longer exists, whatever its state was; recreate it if it is still needed. */
void plane_sandbox_gone(struct plane *p, uint32_t slot, const char *reason);
/* Order its worker to delete it; update endpoints. */
void plane_sandbox_delete(struct plane *p, uint32_t slot);
/* Remove it from its worker: drain and delete it, and create another elsewhere if needed. */
void plane_sandbox_withdraw(struct plane *p, uint32_t slot);
void plane_sandbox_drained(struct plane *p, uint64_t id, struct plane_gateway *g);
/* Treat all drains of this gateway as complete. */
void plane_forget_drains(struct plane *p, struct plane_gateway *g);
/* Add a sandbox that a worker reported. TABLE_NONE: the table is full. */
uint32_t plane_sandbox_recover(struct control_plane_revision *rev, struct plane_worker *w,
                               uint64_t id, bool is_ready);
void plane_sandbox_set_address(struct plane *p, uint32_t slot, const char *address, bool by_worker);
void plane_sandbox_add_address(const struct plane *p, uint32_t slot, struct buf *to);
bool plane_has_room(const struct plane *p);

/* ---- plane_place.c ---- */
/* Choose and reserve a place for one more sandbox; as place_decide(). */
int plane_revision_place(struct control_plane_revision *rev, const uint32_t *avoid,
                         uint32_t n_avoid, struct place_choice *ret, struct err *err);
void plane_revision_held_by(struct control_plane_revision *rev, uint32_t node);
/* The node is removed: no module is there any more. */
void plane_forget_node(struct plane *p, uint32_t node);
/* Before a decision of escargot: now and then what all functions have planned is levelled. */
void plane_revision_level(struct control_plane_revision *rev);

/* ---- plane_worker.c ---- */
void plane_order_create(struct plane_worker *w, uint64_t id);
void plane_order_delete(struct plane_worker *w, uint64_t id, uint32_t grace_ms);
/*
 * Its definition has changed: send it again before the next creation. is_last: the function is
 * removed with it.
 */
void plane_unlearn(struct plane *p, uint32_t function, uint32_t revision, bool is_last);
/*
 * The function has been deleted: notify the workers that made sandboxes of the revision and were
 * ordered to forget it.
 */
void plane_notify_deleted(struct control_plane_revision *rev);
/* wake: the revision has its first sandbox. rest: its last one is gone; workers may be ordered to
 * forget the revision later. */
void plane_wake_revision(struct control_plane_revision *rev);
void plane_rest_revision(struct control_plane_revision *rev);
/* The worker does not need the revision. After its last one the worker must forget the function. */
void plane_unlearn_at(struct plane_worker *w, struct control_plane_revision *rev);
void plane_flush_workers(struct plane *p);
void plane_worker_hello(struct plane_caller *g, const Dormouse__Fn__V1__WorkerReport *m);
void plane_worker_lost(struct plane_worker *w); /* its lease is over */
/* End all of them without a message. */
void plane_end_workers(struct plane *p);
int plane_env_new(const struct plane_env *env, struct env **ret);
bool plane_env_equal(const struct env *a, const struct env *b);
void plane_env_free(struct env *env);

/* ---- plane_address.c ---- */
/* May this address be used for the worker or gateway that calls? E_DENIED: the reason. */
int plane_check_caller(const struct plane_caller *caller, const char *address, struct err *err);
/* May this be the address of a sandbox of the worker? E_DENIED. */
int plane_check_endpoint(const struct plane_worker *w, const char *address, bool by_worker,
                         struct err *err);

/* ---- plane_gateway.c ---- */
void plane_gateway_hello(struct plane_caller *g, const Dormouse__Fn__V1__GatewayReport *m);
void plane_gateway_lost(struct plane_gateway *g);
void plane_flush_gateways(struct plane *p);
void plane_end_gateways(struct plane *p);

/* ---- plane_session.c ---- */
void plane_end_callers(struct plane *p);
/* For held streams: this one leads, or another does. */
void plane_welcome_callers(struct plane *p);
void plane_redirect_callers(struct plane *p);
void plane_caller_free(struct plane_caller *g); /* without its stream */
/* The peer has seen a later leader: redirect it and find the present leader. false: continue. */
bool plane_caller_is_late(struct plane_caller *g, uint64_t highest_term);
/* Tell the caller why its hello is refused, and end its stream. Takes the caller. */
void plane_caller_refuse(struct plane_caller *g, const char *name, uint64_t incarnation,
                         const struct err *err);
/* The caller is this peer: its stream replaces the one before. Takes the caller; then set the
 * stream's callbacks. E_EXPIRED: a newer process has connected, and the caller is not taken. */
int plane_peer_connect(struct plane_peer *peer, struct plane_caller *g, uint64_t incarnation,
                       struct err *err);
void plane_peer_heard(struct plane_peer *peer);
/* The stream has ended or is of no use; the lease decides what becomes of the peer. */
void plane_peer_broke(struct plane_peer *peer);
void plane_watch_leases(struct plane *p);
