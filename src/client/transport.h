/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a Kubernetes request travels: in process to the embedded API server, or by HTTP to any
 * cluster. Code that needs objects holds a struct transport and cannot tell which one it is.
 *
 * Loop thread only. Callbacks never run before transport_start() has returned.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"

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

struct kube_request {
    const struct kube_identity *identity; /* NULL: the transport's own */
    struct str method;
    struct str target;             /* path and query */
    const struct headers *headers; /* NULL: none; no host, authorization or length */
    struct str body;               /* all borrowed for the call of transport_start() */
    uint64_t timeout_ms;           /* to the response head; 0: 30000 */
};

struct kube_call; /* valid until on_end has returned */
struct watch_event;

/* Only on_event may be NULL. */
struct kube_call_ops {
    void (*on_head)(void *arg, int status, const struct headers *headers); /* at most once */
    void (*on_data)(void *arg, struct str chunk);                          /* decoded bytes */
    /*
     * An event of a JSON watch, in place of its line through on_data(), from a source that knows
     * the event's head without parsing: the API server of this process. Lines may still arrive
     * through on_data() between events, such as those that a pause has held back. NULL: lines only.
     */
    void (*on_event)(void *arg, const struct watch_event *ev);
    void (*on_end)(void *arg, int r, const struct err *err); /* exactly once; 0: complete */
};

struct transport {
    const struct transport_ops *ops;
};

struct transport_ops {
    int (*start)(struct transport *t, const struct kube_request *req,
                 const struct kube_call_ops *ops, void *arg, struct kube_call **ret,
                 struct err *err);
    void (*pause)(struct transport *t, struct kube_call *call); /* back-pressure, honoured soon */
    void (*resume)(struct transport *t, struct kube_call *call);
    void (*cancel)(struct transport *t,
                   struct kube_call *call); /* on_end(-ECANCELED) still comes */
};

static inline int transport_start(struct transport *t, const struct kube_request *req,
                                  const struct kube_call_ops *ops, void *arg,
                                  struct kube_call **ret, struct err *err)
{
    return t->ops->start(t, req, ops, arg, ret, err);
}
static inline void transport_pause(struct transport *t, struct kube_call *call)
{
    t->ops->pause(t, call);
}
static inline void transport_resume(struct transport *t, struct kube_call *call)
{
    t->ops->resume(t, call);
}
static inline void transport_cancel(struct transport *t, struct kube_call *call)
{
    t->ops->cancel(t, call);
}
