/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request from its head to the last byte of its answer. Internal to src/api.
 *
 * The core knows neither sockets nor protocols: an adapter (listen.c for HTTP, local.c for the
 * in-process transport) makes the request, feeds it the body, and takes the answer through a
 * `struct sink_ops`. The steps in between run in the order of the list in request.c.
 *
 *     adapter                        core
 *     request_new()
 *     request_start()     ---->      authenticate, route, authorize; then read_body() or run
 *     request_body()...   ---->
 *     request_body_end()  ---->      decode, admit, verb, store
 *                         <----      head(), write()..., end() or abort()
 *     request_writable()  ---->      (after write() said full)
 *     request_gone()      ---->      the memory is freed once no store operation is outstanding
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
struct store_page;
struct kube_resource;
struct tls_peer;
struct watch_event;
struct websocket;

enum {
    API_BODY_MAX_BYTES = 3 << 20,        /* as upstream; 413 beyond */
    API_BODIES_MAX_BYTES = 64 << 20,     /* bodies of all requests in flight; 429 beyond */
    API_LARGE_BODY_BYTES = 256 << 10,    /* larger bodies are processed one per turn */
    API_INFLIGHT_MAX = 1024,             /* requests that are not watches; 429 beyond */
    API_UNSENT_MAX_BYTES = 64 << 20,     /* answers not yet read by clients; see request_unsent() */
    API_LISTS_KEPT_MAX_BYTES = 32 << 20, /* of list items that were encoded as protobuf to measure
                                            them, over all lists; see read.c */
    API_ARENA_MAX_BYTES = 64 << 20,      /* memory of one request while it is processed; then 413 */
    /*
     * The CPU time of a request is limited to BUDGET_MAX_STEPS (base/budget.h); 413 beyond. A
     * request that reads page by page gets more steps with each page, so that its limit grows with
     * the amount of data but not with what the client asks for each object:
     */
    API_WORK_PER_BYTE = 2,
    API_WORK_PER_OBJECT = 256,
    API_WORK_OF_POLICIES = 1 << 14 /* extra steps per object of a deletecollection, with policies */
};

struct sink_ops {
    /* body_n: exact length, or HTTP_CHUNKED. Once, before write() and end(). */
    void (*head)(struct request *rq, int status, const struct headers *headers, uint64_t body_n);
    bool (*write)(struct request *rq, struct str chunk); /* false: wait for request_writable() */
    /*
     * Like write(), for one watch event in JSON: the line includes the newline that follows
     * ev->line. NULL: the sink takes bytes only.
     */
    bool (*event)(struct request *rq, const struct watch_event *ev);
    size_t (*pending)(const struct request *rq);
    void (*end)(struct request *rq);
    void (*abort)(struct request *rq); /* cut the connection: the client must not take the answer
                                          for complete */
    void (*read_body)(struct request *rq, uint64_t max_bytes);
    /*
     * Instead of head(), for a request with `protocol`: 101 with these fields. From then on write()
     * carries raw bytes, rq->on_bytes() gets the client's, and pause() and resume() hold them back.
     * NULL, all three, where requests have no `protocol`.
     */
    void (*upgrade)(struct request *rq, const struct headers *headers);
    void (*pause)(struct request *rq);
    void (*resume)(struct request *rq);
};

/* Representation of the answer, negotiated from Accept. */
enum rep_kind {
    REP_OBJECT,
    REP_TABLE,
    REP_PARTIAL,
    REP_PARTIAL_LIST, /* as the client wrote it; REP_PARTIAL once the request has been checked */
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

/*
 *     new ---> head <---> waiting        waiting: a step waits for the store or for a seat
 *               |  |
 *               |  +----> body           the body arrives, or a large one waits for its turn
 *               |           |
 *               +-----------+----> verb ----> answer ----> ended
 *
 * head, body and verb may answer. An answer has ended when its last byte was given to the sink, or
 * when it was cut. A watch whose client is gone ends without an answer. The client may leave in any
 * state (`gone`); the request then runs on until its outstanding store operations have called back.
 */
enum request_at {
    REQUEST_NEW,
    REQUEST_HEAD,
    REQUEST_WAITING, /* request_continue() follows */
    REQUEST_BODY,
    REQUEST_VERB,
    REQUEST_ANSWER,
    REQUEST_ENDED
};

struct request {
    struct api *api;
    const struct sink_ops *sink;
    void *sink_data;
    struct list node; /* api->requests */
    struct arena arena;
    struct budget budget; /* CPU budget; shared by the request's arenas */
    uint64_t start_ns;
    unsigned busy;      /* store operations outstanding */
    enum request_at at; /* changed by request_move() */
    bool gone;          /* the client */
    bool in_process;    /* trusted identity; not counted against API_INFLIGHT_MAX */
    bool counted;       /* in api->n_inflight */
    size_t body_counted;
    struct flow_ticket place;
    struct line_place line;   /* in the queue of the object that the request writes */
    size_t unsent;            /* bytes of the answer that wait for the client */
    struct list behind;       /* api->unsent, while the client reads too slowly */
    struct list large;        /* api->large, between the end of the body and its turn */
    struct websocket *socket; /* asked for by the client; carries watch events */
    /* Fields of a client that asks for another protocol; NULL: it does not. */
    const struct headers *protocol;
    struct headers protocol_fields; /* storage of `protocol` */
    struct headers proxy_fields;    /* of a request to a proxy: what it passes on */
    struct compress *compress;      /* while the answer is compressed; sits in front of the sink */

    /* the input; strings live in the arena */
    struct str method, target;
    struct str accept, accept_encoding, content_type, authorization, user_agent, if_none_match,
        audit_id, peer;
    const struct tls_peer *cert;             /* the client's certificate; NULL: none */
    const struct impersonation *wants_to_be; /* the impersonation asked for; NULL: none */
    struct buf body;
    struct kube_identity identity;
    const struct str *token_keys; /* keys of the store's objects that the token depends on */
    size_t n_token_keys;
    bool related;  /* the user is a node, and the object was found to concern it */
    uint8_t step;  /* index of the next step of the head */
    bool has_body; /* as passed to request_start() */

    struct route route;
    const struct kube_resource *res;    /* counted reference; NULL for non-resource paths */
    const struct kube_subresource *sub; /* of res, or NULL */
    struct rep rep;
    struct warning *warnings, *last_warning; /* headers of the answer; see reply_warn() */
    size_t warning_runes; /* length of the warnings, each as far as it may be shown */
    struct headers extra; /* further fields of the answer: warning, etag, ... */
    bool no_page;         /* no handler owns the path: the 404 is a line of text, not a Status */
    int status;           /* HTTP status sent, for the log and the metrics */

    /* continuation of the verb */
    void *work;
    void (*on_turn)(void *arg); /* runs when the request is first in its line */
    void *on_turn_arg;
    void (*on_writable)(struct request *rq);
    /* After reply_upgrade(): bytes of the client; end: there are no more, and `bytes` is empty. */
    void (*on_bytes)(struct request *rq, struct str bytes, bool end);
    void (*on_gone)(
        struct request *rq); /* release what `work` holds; no store callback is outstanding */
};

/* The core owns the request from now on; the adapter calls request_gone() exactly once. */
struct request *request_new(struct api *api, const struct sink_ops *sink, void *sink_data);
/*
 * The head is complete: method, target and the header strings are set. has_body: request_body() and
 * request_body_end() follow if the core calls sink->read_body().
 */
void request_start(struct request *rq, bool has_body);
/* The only function that changes the state. */
void request_move(struct request *rq, enum request_at to);
/*
 * The answer has ended: the caller gives the sink its last byte, or cuts it. No effect if the
 * answer was cut before; see request_unsent().
 */
void request_end(struct request *rq);
/* The head of the answer was sent. */
static inline bool request_is_answered(const struct request *rq)
{
    return rq->at >= REQUEST_ANSWER;
}
/* A step of the head has no result yet; request_continue() follows. */
static inline void request_wait(struct request *rq)
{
    request_move(rq, REQUEST_WAITING);
}
/* The step that called request_wait() has its result: NULL, or the Status to answer. */
void request_continue(struct request *rq, const struct json *no);
/* -EMSGSIZE: stop reading, an answer has been sent. */
int request_body(struct request *rq, struct str chunk);
/* r: 0, or why the body is incomplete. */
void request_body_end(struct request *rq, int r);
void request_writable(struct request *rq);
void request_gone(struct request *rq);
/*
 * This many bytes of the answer wait, and the client reads too slowly for more; 0: it has caught
 * up. When all waiting bytes exceed API_UNSENT_MAX_BYTES, the answer whose client has not caught up
 * for the longest time is cut.
 */
void request_unsent(struct request *rq, size_t bytes);

/* A store operation has started: the request stays until request_idle(). */
static inline void request_busy(struct request *rq)
{
    rq->busy++;
}
/*
 * Called from the operation's callback. true: the client is gone and the request was released;
 * return.
 */
bool request_idle(struct request *rq);

/*
 * The request has no end of its own (a watch that has started, a log): it releases its seat and no
 * longer counts as a request in flight.
 */
void request_settled(struct request *rq);

/* Before a page of a list is processed: add the page's allowance to the request's budget. */
void request_allow_page(struct request *rq, const struct store_page *page);

/* Callbacks of the request's place in flow control (flow.h): it may run now, or is refused. */
void request_on_flow_run(struct flow_ticket *t);
void request_on_flow_refuse(struct flow_ticket *t);
