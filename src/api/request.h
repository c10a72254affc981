/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request from its head to the last byte of its answer. Internal to src/api.
 *
 * The core neither knows sockets nor who asks: an adapter (listen.c for HTTP, local.c for the
 * transport inside the process) makes the request, feeds it the body, and takes the answer through
 * a `struct sink_ops`. The steps in between run in the order in which core.c lists them.
 *
 *     adapter                        core
 *     request_new()
 *     request_start()     ---->      authenticate, route, authorize; then read_body() or run
 *     request_body()...   ---->
 *     request_body_end()  ---->      decode, admit, verb, store
 *                         <----      head(), write()..., end() or abort()
 *     request_writable()  ---->      (after write() said full)
 *     request_gone()      ---->      the memory goes once no store operation is outstanding
 */
#pragma once

#include "api/flow.h"
#include "api/line.h"
#include "api/route.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "client/transport.h"
#include "codec/headers.h"
#include "codec/json.h"

struct api;
struct impersonation;
struct request;
struct kube_resource;
struct tls_peer;
struct watch_event;
struct websocket;

enum {
    API_BODY_MAX_BYTES = 3 << 20,     /* as upstream; 413 beyond */
    API_BODIES_MAX_BYTES = 64 << 20,  /* bodies of all requests in flight; 429 beyond */
    API_LARGE_BODY_BYTES = 256 << 10, /* of those with more, one is worked on in a turn */
    API_INFLIGHT_MAX = 1024,          /* requests that are not watches; 429 beyond */
    API_UNSENT_MAX_BYTES = 64 << 20,  /* answers that clients do not read; see request_unsent() */
    API_LISTS_KEPT_MAX_BYTES = 32 << 20, /* items of lists in protobuf that were encoded to measure
                                            them, of all such lists; see read.c */
    API_ARENA_MAX_BYTES = 64 << 20, /* what one request may take while it is worked on; then 413 */
    /*
     * Its CPU time is BUDGET_MAX_STEPS (base/budget.h); 413 beyond. What is read page by page may
     * take longer as there is more of it, but not longer for what the client asks of each object: a
     * page allows so many steps more.
     */
    API_WORK_PER_BYTE = 2,
    API_WORK_PER_OBJECT = 256,
    API_WORK_OF_POLICIES = 1 << 14 /* more for each object of a deleted collection, with policies */
};

struct sink_ops {
    /* body_n: exact length, or HTTP_CHUNKED. Once, before write() and end(). */
    void (*head)(struct request *rq, int status, const struct headers *headers, uint64_t body_n);
    bool (*write)(struct request *rq, struct str chunk); /* false: wait for request_writable() */
    /*
     * write() of an event of a watch in JSON: its line ends in the newline behind ev->line. NULL:
     * the sink takes bytes only.
     */
    bool (*event)(struct request *rq, const struct watch_event *ev);
    size_t (*pending)(const struct request *rq);
    void (*end)(struct request *rq);
    void (*abort)(struct request *rq); /* cut: the client must not take the answer for complete */
    void (*read_body)(struct request *rq, uint64_t max_bytes);
};

/* How the answer is written; negotiated from Accept. */
enum rep_kind {
    REP_OBJECT,
    REP_TABLE,
    REP_PARTIAL,
    REP_PARTIAL_LIST, /* as the client says it; REP_PARTIAL once the request has been checked */
    REP_AGGREGATED    /* APIGroupDiscoveryList */
};
enum rep_format { FORMAT_JSON, FORMAT_YAML, FORMAT_PROTOBUF };
struct rep {
    enum rep_kind kind;
    enum rep_format format;
    bool v1beta1; /* Table and PartialObjectMetadata of meta.k8s.io/v1beta1; v2beta1 of discovery */
    uint8_t include; /* Table: enum table_include */
    bool pretty;
};

struct warning {
    struct str text;
    struct warning *next;
};

struct request {
    struct api *api;
    const struct sink_ops *sink;
    void *sink_data;
    struct list node; /* api->requests */
    struct arena arena;
    struct budget budget; /* what it may still do; of its arenas */
    uint64_t start_ns;
    unsigned busy; /* store operations outstanding */
    bool gone, head_sent, ended;
    bool in_process; /* trusted identity, not counted against API_INFLIGHT_MAX */
    bool counted;    /* in api->n_inflight */
    size_t body_counted;
    struct flow_ticket place;
    struct line_place line;    /* of the object that a write is about */
    size_t unsent;             /* bytes of the answer that wait for the client */
    struct list behind;        /* api->unsent, while there are too many to go on */
    struct list large;         /* api->large, between its body and its turn */
    struct websocket *socket;  /* asked for; the events of a watch go there */
    struct compress *compress; /* while the answer is compressed; stands before the sink */

    /* what came in; strings live in the arena */
    struct str method, target;
    struct str accept, accept_encoding, content_type, authorization, user_agent, if_none_match,
        audit_id, peer;
    const struct tls_peer *cert;             /* what the client showed; NULL: no certificate */
    const struct impersonation *wants_to_be; /* NULL: itself */
    struct buf body;
    struct kube_identity identity;
    const struct str
        *token_keys; /* objects that the token depends on, by their keys in the store */
    size_t n_token_keys;
    bool related;  /* the user is a node, and the object was found to concern it */
    uint8_t step;  /* of the head's steps: the next one */
    bool has_body; /* as request_start() was told */
    bool waiting;  /* a step has started something; request_continue() follows */

    struct route route;
    const struct kube_resource *res;    /* a reference; NULL for other paths */
    const struct kube_subresource *sub; /* of res, or NULL */
    struct rep rep;
    struct warning *warnings, *last_warning; /* for the answer's head; see reply_warn() */
    size_t warning_runes;                    /* of them, as far as each may be shown */
    struct headers extra; /* fields of the answer beside the usual ones: warning, etag, ... */
    bool no_page;         /* the path is nobody's: the 404 is no Status but a line of text */
    int status;           /* HTTP status that was sent, for the log and the metrics */

    /* the verb's own continuation */
    void *work;
    void (*on_turn)(void *arg); /* called when its turn in the line comes */
    void *on_turn_arg;
    void (*on_writable)(struct request *rq);
    void (*on_gone)(
        struct request *rq); /* release what `work` holds; no store callback is outstanding */
};

/* The request belongs to the core from now on; the adapter says request_gone() exactly once. */
struct request *request_new(struct api *api, const struct sink_ops *sink, void *sink_data);
/*
 * Head is complete: method, target and the header strings are set. has_body: request_body() and
 * request_body_end() follow if the core calls sink->read_body().
 */
void request_start(struct request *rq, bool has_body);
/* The step that set `waiting` has its result; NULL, or the Status to answer. */
void request_continue(struct request *rq, const struct json *no);
/* -EMSGSIZE: stop reading, an answer is under way. */
int request_body(struct request *rq, struct str chunk);
/* r: 0, or why the body did not come. */
void request_body_end(struct request *rq, int r);
void request_writable(struct request *rq);
void request_gone(struct request *rq);
/*
 * So many bytes of the answer wait, and the client reads too slowly for more; 0: it has caught up.
 * When all that wait are more than API_UNSENT_MAX_BYTES, who has not caught up for the longest time
 * is cut.
 */
void request_unsent(struct request *rq, size_t bytes);

/* A store operation is under way: the request stays until request_idle(). */
static inline void request_busy(struct request *rq)
{
    rq->busy++;
}
/* From the operation's callback; true: nobody waits any more and the request is released: return.
 */
bool request_idle(struct request *rq);
