/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a Kubernetes request travels: in process to the embedded API server, or by HTTP to any
 * cluster. Code that needs objects holds a struct transport and cannot tell which one it is.
 *
 * Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"
#include "io/exchange.h"

/*
 * The user that a request is made for. In process the server takes it as authenticated. By HTTP, an
 * identity with a token is sent as that token alone, without the transport's own certificate; an
 * identity without a token becomes impersonation headers, unless user is empty (then the
 * transport's own credentials apply).
 */
struct kube_extra {
    struct str key;
    const struct str *values;
    size_t n;
};
struct kube_identity {
    struct str user;
    const struct str *groups;
    size_t n_groups;
    struct str uid; /* "" for most */
    const struct kube_extra *extra;
    size_t n_extra;
    struct str token; /* a bearer token of this user; "" for most */
};

struct watch_event;

struct kube_request {
    const struct kube_identity *identity; /* NULL: the transport's own */
    struct str method;
    struct str target;             /* path and query */
    const struct headers *headers; /* NULL: none; no host, authorization or length */
    struct str body;               /* all borrowed for the call of transport_start() */
    uint64_t timeout_ms;           /* to the response head; 0: 30000 */
    /*
     * For a JSON watch: an event, in place of its line through on_data(), from a source that knows
     * the event's head without parsing: the API server of this process. Lines may still arrive
     * through on_data() between events, such as those that a pause has held back. It has its own
     * arg, so that decorators pass it on as it is. NULL: lines only.
     */
    void (*on_event)(void *arg, const struct watch_event *ev);
    void *event_arg;
};

struct transport {
    int (*start)(struct transport *t, const struct kube_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err);
};

/*
 * Start a request: an exchange (io/exchange.h) whose body is complete, so that exchange_write()
 * and exchange_end_body() do not apply. on_data() receives decoded bytes.
 */
static inline int transport_start(struct transport *t, const struct kube_request *req,
                                  const struct exchange_events *events, void *arg,
                                  struct exchange **ret, struct err *err)
{
    return t->start(t, req, events, arg, ret, err);
}
