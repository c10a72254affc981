/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared watches: one upstream watch for each (collection, namespace, selectors) of the process,
 * however many subscribers there are.
 *
 * Renewals, reconnects with back-off, bookmarks and resume are invisible to subscribers. The key
 * does not contain the resourceVersion: a subscriber names the version that it has seen, and gets
 * exactly the later events, first from a bounded history, then live. A subscriber whose version is
 * older than the history gets one ERROR event 410 and the end of its stream, and must list again.
 *
 * Once `widen_at` single-namespace subscriptions to a resource exist, further ones are served by
 * filtering the watch over all namespaces (an object never changes its namespace, so the filter is
 * exact). If that watch is forbidden, they start again on watches of their own namespaces. Events
 * are indexed by namespace: an event costs work for its own subscribers only.
 *
 * Loop thread only. Callbacks never run inside watch_hub_subscribe().
 */
#pragma once

#include "base/err.h"
#include "client/transport.h"
#include "client/watch_event.h"
#include "io/loop.h"

struct watch_hub;
struct watch_sub;

enum {
    WATCH_HISTORY_MAX_EVENTS = 512,      /* kept for late subscribers, per upstream watch */
    WATCH_HISTORY_MAX_BYTES = 256 << 10, /* both bounds hold; at least the newest event is kept */
    WATCH_UPSTREAMS_MAX = 8192,          /* a limit, because subscribers choose selectors */
    WATCH_WIDEN_AFTER = 8,               /* a good widen_at where a watch costs a connection */
    WATCH_RETRY_FIRST_MS = 100,          /* reconnect; doubles with jitter */
    WATCH_RETRY_MAX_MS = 30000
};

#define WATCH_METADATA_ACCEPT "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

struct watch_hub_opts {
    struct transport *transport;          /* kept */
    const struct kube_identity *identity; /* kept; NULL: the transport's own */
    unsigned widen_at;                    /* 0: always watch all namespaces; UINT_MAX: never */
    unsigned
        max_upstreams; /* 0: WATCH_UPSTREAMS_MAX; less where each holds one of a few connections */
};

struct watch_key {
    struct str group_version; /* "v1" or "group/version" */
    struct str plural;
    struct str namespace;      /* "" for all namespaces or cluster-scoped */
    struct str label_selector; /* as in the query, decoded; "" none */
    struct str field_selector;
    bool metadata_only; /* objects as PartialObjectMetadata */
    /*
     * The identity that the watch runs as, keyed by its user; such a watch is never widened. NULL:
     * the hub's own.
     */
    const struct kube_identity *identity;
};

struct watch_sub_ops {
    /*
     * Once, first: 200 when the watch is established; else the status of the server's refusal (4xx,
     * 5xx) and its Status body, then on_end follows.
     */
    void (*on_open)(void *arg, int status, struct str body);
    /* Borrowed for the call. After an ERROR event (410 or a refusal) on_end follows. */
    void (*on_event)(void *arg, const struct watch_event *ev);
    void (*on_end)(void *arg); /* last call, not after watch_sub_cancel() */
    /*
     * The subscriber keeps up with events and never pauses; a watch that has only such subscribers
     * keeps no history and copies nothing.
     */
    bool needs_no_history;
};

int watch_hub_new(struct loop *loop, const struct watch_hub_opts *opts, struct watch_hub **ret,
                  struct err *err);
/*
 * All subscribers must be gone. The memory is freed when the last upstream call has ended; done may
 * be NULL.
 */
void watch_hub_close(struct watch_hub *hub, void (*done)(void *arg), void *arg);

/*
 * rv: the version already seen, > 0. Errors: -E2BIG: key over 2 KiB; -EINVAL: empty key; E_LIMIT:
 * max_upstreams.
 */
int watch_hub_subscribe(struct watch_hub *hub, const struct watch_key *key, uint64_t rv,
                        bool bookmarks, const struct watch_sub_ops *ops, void *arg,
                        struct watch_sub **ret, struct err *err);
/*
 * Hold events back; they wait in the history. A subscriber that falls out of the history gets a 410
 * when it resumes.
 */
void watch_sub_pause(struct watch_sub *sub);
void watch_sub_resume(struct watch_sub *sub);
/* No callback runs any more; sub is invalid. Allowed inside any callback. */
void watch_sub_cancel(struct watch_sub *sub);

struct watch_hub_stats {
    size_t upstreams, subscribers, history_events, history_bytes;
    uint64_t events, reconnects, expired;
};
void watch_hub_get_stats(const struct watch_hub *hub, struct watch_hub_stats *ret);
