/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the gateway share. Each file moves one part of struct gateway:
 *
 *     directory.c     functions, pools, sandboxes; applies orders of the control plane
 *     request.c       requests of clients
 *     submit.c        requests from inside the process
 *     calls.c         the life of a request
 *     upstream.c      requests over HTTP: struct invoker over an http_client
 *     uplink.c        the stream to the control plane
 *     load_report.c   reports of load to the control plane
 *     stats.c         Prometheus, proxy_trace.csv
 *     gateway.c       start, stop, the listener
 *
 * An idle function is a struct gateway_function and two map entries. Its spec is a text, shared by
 * all functions with the same text. The first request allocates what else is needed (a pool); it is
 * freed with the last sandbox.
 */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "base/map.h"
#include "base/sm.h"
#include "base/token_bucket.h"
#include "base/vec.h"
#include "fn/fn.pb-c.h"
#include "fn/gateway/balance.h"
#include "fn/gateway/fields.h"
#include "fn/gateway/gateway.h"
#include "fn/gateway/members.h"
#include "fn/gateway/queue.h"
#include "fn/gateway/route.h"
#include "fn/gateway/split.h"
#include "io/tls.h"

enum {
    GATEWAY_EAGER_BYTES =
        16 << 10, /* a body of known length up to this is read before the request queues */
    GATEWAY_KEEP_BYTES = 64 << 10, /* of other bodies, kept for a second attempt */
    GATEWAY_IDLE_CALLS = 64,       /* records of calls that are kept for the next ones */
    /*
     * A client that shut its sending side has left, as for other proxies; but `nc -N` gets a quick
     * answer.
     */
    GATEWAY_HALF_CLOSED_MS = 250,
    GATEWAY_DOUBT_MS = 3000,   /* for workers and gateways to reach a new leader */
    GATEWAY_REFUSALS_MAX = 64, /* connections refused to one request before it fails */
    GATEWAY_SUSPECT_MS = 2000, /* a gateway that refused a connection owns nothing for this time */
    GATEWAY_REPORT_QUEUED_MS = 20,      /* between reports while requests wait for a sandbox */
    GATEWAY_REPORT_MS = 400,            /* while requests run */
    GATEWAY_REPORT_LOADS = 4096,        /* in one message */
    GATEWAY_TICK_MIN_MS = 5,            /* between two scans for overdue calls */
    GATEWAY_SUBMIT_BODY_BYTES = 1 << 20 /* of a request from inside that still waits */
};

/* The text of a spec, and its parsed form while a pool uses it. */
struct gateway_spec {
    unsigned refs;   /* functions */
    unsigned awake;  /* pools */
    struct str text; /* key in gateway.specs */
    struct arena arena;
    struct fn_spec *parsed; /* NULL: not read, or not readable */
    bool is_bad;
    struct list node; /* in gateway.parsed, while parsed */
};

struct gateway_stats; /* stats.c: made by the first request */

/* Why sandboxes of a revision cannot be made, as reported by the control plane. */
struct gateway_failure {
    struct gateway_failure *next;
    uint32_t revision;
    bool is_permanent;
    char *reason, *message;
};

/* What a namespace demands of calls. */
struct gateway_policy {
    bool require_token, is_confirmed;
    uint8_t (*tokens)[32]; /* SHA-256 */
    size_t n_tokens;
    uint32_t per_second;      /* 0: any number */
    struct token_bucket rate; /* holds one second, in us */
};

struct gateway_function {
    uint32_t number; /* of the control plane, in its term; 0: not confirmed yet */
    uint32_t latest; /* revision */
    struct str key;  /* "namespace/name", in gateway.functions */
    int64_t created_s;
    struct gateway_spec *spec;
    struct gateway_pool *pools;
    struct gateway_stats *stats;
    struct gateway_failure *failures;
    uint32_t *revisions; /* that exist, n_revisions */
    uint16_t n_revisions;
    uint16_t namespace_n;
    uint16_t owner; /* in members, as of owner_epoch */
    uint8_t n_own_routes;
    bool is_confirmed; /* by the control plane that leads now */
    struct split split;
    uint64_t owner_epoch;
};

/* A revision that is in use: sandboxes, waiting and running requests. */
struct gateway_pool {
    struct gateway_pool *next;   /* of the function */
    struct gateway_function *fn; /* NULL: deleted */
    struct gateway_spec *spec;   /* the function's; NULL then */
    uint32_t revision;
    uint32_t n_calls; /* that reference it */
    uint32_t n_sandboxes;
    uint32_t running, queued; /* requests in sandboxes, and waiting for one */
    struct balance balance;
    struct queue queue;
    bool is_handing; /* gateway_pool_hand_off() runs */
    /* For the next report (load_report.c). */
    struct list active, urgent;
    uint64_t since_us;
    uint64_t concurrency_us, duration_us;
    uint32_t arrived, finished;
    bool was_queued; /* in the last report */
};

struct gateway_sandbox {
    struct balance_place place;
    uint64_t id;
    struct gateway_pool *pool;
    struct invoker *invoker;
    struct upstream *upstream; /* NULL: in this process */
    struct list of_upstream;
    uint64_t idle_us; /* since when; while place.running is 0 */
    bool is_listed;   /* by the control plane */
    bool is_draining;
    bool is_ejected; /* it refused a connection */
    bool is_doubted; /* a new leader has not named it, but may not know of it yet */
};

struct upstream; /* upstream.c */

enum call_at {                 /* drawn in calls.c */
               CALL_NEW,       /* without a place: not in a queue, and no attempt runs */
               CALL_BUFFERING, /* a small body is being read */
               CALL_QUEUED,    /* waits for a sandbox */
               CALL_RUNNING,   /* an attempt runs, its answer has not begun */
               CALL_ANSWERING, /* the head of the answer has been sent */
               CALL_TUNNEL,    /* upgraded: raw bytes in both directions */
               CALL_OVER
};

enum call_body_at {
    CALL_BODY_NONE,
    CALL_BODY_UNREAD,  /* with the client */
    CALL_BODY_READING, /* also of a tunnel, or written by gateway_write() */
    CALL_BODY_PAUSED,  /* the sandbox or the copy has no room */
    CALL_BODY_WHOLE
};

/* What the client asked for; does not change once the call has been made. */
struct call_origin {
    struct str method, target, peer_address;
    struct str prefix; /* of the target, removed for the sandbox */
    const struct headers *headers;
    struct fields fields;
    struct arena *arena; /* owns the above for a request from inside the process */
    char call_id[FIELDS_CALL_ID_BYTES];
    bool wants_upgrade : 1, is_http2 : 1, is_forwarded : 1, is_tls : 1;
};

struct call_revision { /* its limits are those of the function's spec; 0: none */
    uint32_t number;
    uint32_t queue_ms, request_ms, idle_ms;
    uint64_t body_max, answer_max;
};

struct call_body {   /* of the request */
    struct buf kept; /* the copy for a second attempt */
    uint64_t bytes;  /* UINT64_MAX: not known */
    enum call_body_at at : 8;
    bool is_partial; /* bytes are missing from the copy: no second attempt */
};

struct call_attempt {
    uint64_t deadline_ms; /* UINT64_MAX: none */
    uint64_t moved_ms;    /* when bytes were last moved in either direction */
    uint64_t last_sandbox;
    int status;        /* of the answer; 0: it has not begun */
    uint8_t n_refused; /* connections, of all attempts */
    bool is_retried : 1;
    bool is_cold : 1;   /* the function had no sandbox at all when the call was placed */
    bool is_lost : 1;   /* the control plane says that its sandbox or its gateway is gone */
    bool is_paused : 1; /* the client takes no more of the answer; the sandbox is paused */
};

struct call_answer {
    struct headers fields; /* until it has begun: the fields sent to the sandbox */
    uint64_t left;         /* UINT64_MAX: not known */
    uint64_t seen;
};

struct call_times { /* for statistics and traces; found and offered only where a trace is written */
    uint64_t arrived_us, found_us, queued_us, offered_us, started_us, head_us;
};

struct call_end { /* of a request from inside the process that failed; reported on a later turn */
    struct defer later;
    int code;
    const char *reason;
};

struct gateway_call {
    struct gateway *g;
    struct list live; /* in gateway.live */
    struct sm sm;     /* enum call_at */
    /* Where the answer goes: to a client, or to a caller in this process. */
    struct http_exchange *x; /* NULL: it has left, or there was none */
    struct exchange inside;  /* of gateway_submit(); events NULL: the request is a client's */
    bool is_inside_paused;   /* its caller takes no data now; holds for every attempt */
    /* Where the request goes. */
    char function_key[2 * FN_NAME_MAX + 2];
    struct call_revision revision;
    struct gateway_pool *pool; /* NULL: forwarded */
    struct gateway_sandbox
        *sandbox;          /* one of its places is taken; NULL: no attempt, or forwarded */
    struct upstream *peer; /* the gateway that it is forwarded to */
    struct invoker *invoker;
    struct exchange *invocation; /* NULL: no attempt runs */
    struct call_origin from;
    struct call_body body;
    struct queue_item waiting; /* in pool.queue, in CALL_QUEUED */
    struct call_attempt attempt;
    struct call_answer answer;
    struct call_times times;
    struct call_end end;
};

struct gateway_listener {
    void (*fn)(void *arg, struct str namespace, struct str name, const struct fn_spec *spec);
    void *arg;
};

enum { STATS_COLD_BOUNDS = 19 };
struct gateway_times { /* in us */
    HISTOGRAM_FIELDS(uint32_t, STATS_COLD_BOUNDS);
};

/* What the control plane has sent (directory.c). */
struct gateway_directory {
    struct map functions;    /* by "namespace/name" */
    struct map numbers;      /* functions by the bytes of their number */
    struct map hosts, paths; /* of specs, to functions */
    size_t longest_path;     /* in `paths`, ever */
    bool has_rivals;         /* two functions want the same host or path */
    struct defer rivals;     /* a host or a path was released: search its next owner */
    struct map specs;        /* by text */
    struct list parsed;      /* specs */
    struct defer trim;       /* drop parsed specs that no pool uses */
    struct map sandboxes;    /* by the bytes of their id */
    struct map upstreams;    /* by address and protocol */
    struct map policies;     /* by namespace */
    VEC(struct gateway_listener) listeners;
    uint64_t endpoints_version;
    bool has_endpoints; /* this stream has sent a snapshot */
    /* A new leader was welcomed. Its snapshot may lack what has not connected to it yet. */
    bool is_new_leader;
    struct {
        bool functions, endpoints, policies;
    } is_all; /* this welcome names all of them: what it does not name is removed at its end */
    struct timer doubt;
    struct members members;
    uint64_t members_seen; /* counts changes, for function.owner_epoch */
    struct timer trust;    /* suspicions against members end */
};

struct gateway_calls { /* calls.c */
    struct list live;
    size_t n_live;
    VEC(struct gateway_call *) idle; /* records for the next calls */
    struct timer tick;               /* the earliest deadline */
};

enum uplink_at { UPLINK_DOWN, UPLINK_ASKING, UPLINK_SYNCING, UPLINK_SYNCED, UPLINK_CLOSED };

struct gateway_uplink { /* uplink.c */
    struct sm sm;       /* enum uplink_at */
    struct fn_stream *stream;
    struct timer redial, heartbeat, welcome_by;
    uint64_t term; /* the highest seen */
    uint64_t lease_ms;
    uint64_t seq;
    uint32_t backoff_ms;
    unsigned n_redirects;
    char redirect[264];
    struct log_rate refused_rate;
    bool was_synced; /* ever */
};

struct gateway_load {           /* load_report.c */
    struct list active, urgent; /* pools */
    VEC(uint64_t) broken;
    VEC(uint64_t) drained;
    struct defer report_soon;
    struct timer report_later;
    uint64_t report_all_ms; /* when all active pools are due */
    bool is_first_report;   /* of this stream: what it does not name has no load */
    uint32_t n_queued, n_running;
};

struct gateway_counters { /* stats.c */
    struct gateway_times cold_start, queue_wait, first_byte;
    uint64_t n_unknown, n_forwarded, n_retries, n_ejected, n_aborted, n_refused_terms;
};

enum gateway_at {
    GATEWAY_SERVING,
    GATEWAY_LEAVING,  /* gateway_stop() was called, the server drains */
    GATEWAY_DRAINED,  /* the server has closed; calls from inside the process end */
    GATEWAY_RELEASING /* no call is left: released on the next turn */
};

struct gateway_stop { /* gateway.c */
    struct timer cut;
    struct defer later;
    void (*done)(void *arg);
    void *arg;
};

struct gateway {
    struct loop *loop;
    struct sm sm;             /* enum gateway_at */
    struct gateway_opts opts; /* its strings belong to the gateway */
    char *name, *domain, *local_worker, *worker_token, *address;
    struct http_server *server;
    struct rng random;
    uint64_t call_seed, n_calls_ever;
    struct gateway_directory dir;
    struct gateway_calls calls;
    struct gateway_uplink uplink;
    struct gateway_load load;
    struct gateway_counters stats;
    struct gateway_trace *trace; /* NULL: none is written */
    struct gateway_stop stop;
    void (*on_members)(void *arg);
    void *on_members_arg;
};

static inline bool gateway_is_leaving(const struct gateway *g)
{
    return g->sm.at != GATEWAY_SERVING;
}

/* The control plane has welcomed this gateway, and the stream is still there. */
static inline bool uplink_is_welcome(const struct gateway *g)
{
    return g->uplink.sm.at == UPLINK_SYNCING || g->uplink.sm.at == UPLINK_SYNCED;
}

/* ---- directory.c ---- */
void directory_init(struct gateway *g);
void directory_fini(struct gateway *g);
struct gateway_function *directory_find(const struct gateway *g, struct str namespace,
                                        struct str name);
/* By the hosts and paths of specs. host: clean. */
struct gateway_function *directory_find_host(const struct gateway *g, struct str host);
struct gateway_function *directory_find_path(const struct gateway *g, struct str target);
static inline struct str function_namespace(const struct gateway_function *f)
{
    return str_n(f->key.p, f->namespace_n);
}
static inline struct str function_name(const struct gateway_function *f)
{
    return str_n(f->key.p + f->namespace_n + 1, f->key.n - f->namespace_n - 1u);
}
/*
 * NULL: the spec is invalid. Valid until the caller returns to the loop, or while the function has
 * a pool.
 */
const struct fn_spec *gateway_function_spec(struct gateway *g, struct gateway_function *f);
bool gateway_function_has(const struct gateway_function *f, uint32_t revision);
const struct gateway_failure *gateway_function_failure(const struct gateway_function *f,
                                                       uint32_t revision);
/* NULL: none. */
struct gateway_policy *directory_policy(const struct gateway *g, struct str namespace);
struct gateway_pool *gateway_pool_get(struct gateway *g, struct gateway_function *f,
                                      uint32_t revision);
void gateway_pool_unref(struct gateway *g, struct gateway_pool *p); /* of a call */
void gateway_pool_rest(struct gateway *g,
                       struct gateway_pool *p); /* nothing is left to report; may free it */
/*
 * Stop new requests to it and report it. If its address refuses connections, all sandboxes there
 * are ejected.
 */
void gateway_sandbox_eject(struct gateway *g, struct gateway_sandbox *s);
/* A request has left it. */
void gateway_sandbox_left(struct gateway *g, struct gateway_sandbox *s);
/*
 * A new leader begins. Sandboxes and gateways that it does not name are kept until they had time to
 * connect to it.
 */
void directory_doubt(struct gateway *g);
/* One order of the control plane. E_CONFLICT: the endpoints are at another version. */
int directory_apply(struct gateway *g, const Dormouse__Fn__V1__GatewayOrder *o, struct err *err);
/* Does this gateway own it? Otherwise the member that does. */
bool directory_owns(struct gateway *g, struct gateway_function *f, size_t *ret_member);

/* ---- calls.c ---- */
void calls_init(struct gateway *g);
void calls_fini(struct gateway *g);
/* No call is left: free the records that were kept for reuse. */
void calls_trim(struct gateway *g);
void gateway_on_request(struct http_exchange *x, const struct http_request *req, void *arg);
/* Waiting requests go to sandboxes with room. */
void gateway_pool_hand_off(struct gateway *g, struct gateway_pool *p);
/* Its function is deleted: answer all waiting requests. */
void gateway_pool_refuse_all(struct gateway *g, struct gateway_pool *p);
/* Its sandboxes cannot be made: what waits is answered. */
void gateway_pool_fail_waiting(struct gateway *g, struct gateway_pool *p,
                               const struct gateway_failure *why);
/* What runs in this sandbox has failed. */
void calls_lose_sandbox(struct gateway *g, struct gateway_sandbox *s);
/* Whatever has not ended is cut. */
void calls_cut(struct gateway *g);
/*
 * Members have changed: forward waiting requests that another gateway owns now, and fail those that
 * were forwarded to a gateway that is lost.
 */
void calls_reroute(struct gateway *g);

/* ---- upstream.c ---- */
struct upstream_opts {
    const char *address; /* host:port or unix:PATH */
    enum fn_protocol protocol;
    bool by_worker; /* the worker's listener: worker/worker_http.h */
    bool is_gateway;
};
/* Shared: one for each address and protocol. E_INVALID the address. */
int upstream_ref(struct gateway *g, const struct upstream_opts *o, struct upstream **ret,
                 struct err *err);
void upstream_unref(struct upstream *u);
/* invoke_request.headers has the field host. */
struct invoker *upstream_invoker(struct upstream *u);
/* Connections to gateways that are no members any more end. */
void upstreams_follow_members(struct gateway *g);
struct str upstream_address(const struct upstream *u);
/*
 * In on_end(-ECONNREFUSED): nothing listens at the address, so all its sandboxes are unreachable.
 */
bool upstream_is_refusing(const struct upstream *u);
bool upstream_is_member(const struct upstream *u);
struct list *upstream_sandboxes(struct upstream *u); /* sandbox.of_upstream */

/* ---- uplink.c ---- */
void uplink_start(struct gateway *g);
void uplink_stop(struct gateway *g);
void uplink_send(struct gateway *g, const Dormouse__Fn__V1__GatewayReport *r);
/* The stream is of no use any more: dial again. */
void uplink_drop(struct gateway *g, const char *why);

/* ---- load_report.c ---- */
void load_init(struct gateway *g);
void load_fini(struct gateway *g);
/* So many more requests of the pool run, and wait. */
void load_changed(struct gateway *g, struct gateway_pool *p, int running, int queued);
/* A report at the end of this turn. */
void load_report_soon(struct gateway *g);
void load_report_all(struct gateway *g); /* after a welcome */
void load_forget(struct gateway *g, struct gateway_pool *p);

/* ---- stats.c ---- */
enum { STATS_CLIENT_GONE = 499 };
void stats_answered(struct gateway *g, struct gateway_call *c, int status, uint64_t now_us);
void stats_free(struct gateway_function *f);
/* Add the counters of deleted revisions to those of revision 0 (00000). */
void stats_fold(struct gateway_function *f);
int gateway_trace_start(struct gateway *g, const char *dir, struct err *err);
void gateway_trace_call(struct gateway *g, const struct gateway_call *c, uint64_t now_us);
void gateway_trace_stop(struct gateway *g);

/* ---- gateway.c ---- */
void gateway_check_stopped(struct gateway *g);
void gateway_on_trust(struct timer *t);

static inline uint64_t gateway_now_us(void)
{
    return clock_mono_ns() / 1000;
}
