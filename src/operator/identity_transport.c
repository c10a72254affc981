/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in the name of accounts; see identity_transport.h. Each such request gets
 * a client of its own, since they are few.
 */
#include "operator/identity_transport.h"

#include "operator/client.h"

struct identity_transport {
    struct transport base;
    struct loop *loop;
    struct transport *under;
    struct identities *ids;
    size_t calls;
    bool closed;
};

/* A request in the name of an account; its caller holds the exchange of the client. */
struct identity_transport_call {
    struct exchange_forward forward;
    struct identity_transport *t;
    struct operator_client *client;
};

static void on_end(void *arg, int r, const struct err *err)
{
    struct identity_transport_call *c = container_of(arg, struct identity_transport_call, forward);
    struct identity_transport *t = c->t;
    exchange_forward_end(arg, r, err);
    operator_client_free(c->client);
    free(c);
    if (--t->calls == 0 && t->closed)
        free(t);
}

static const struct exchange_events call_events = { .on_head = exchange_forward_head,
                                                    .on_data = exchange_forward_data,
                                                    .on_end = on_end };

static int start(struct transport *base, const struct kube_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    struct identity_transport *t = container_of(base, struct identity_transport, base);
    struct identity *id = req->identity && !req->identity->token.n
                              ? identities_find(t->ids, req->identity->user)
                              : NULL;
    if (!id)
        return transport_start(t->under, req, events, arg, ret, err);
    struct operator_client_opts opts = { .loop = t->loop, .transport = t->under, .identity = id };
    struct kube_request as = *req;
    as.identity = NULL;
    struct identity_transport_call *c = xnew(struct identity_transport_call);
    exchange_forward_init(&c->forward, NULL, events, arg);
    c->t = t;
    c->client = operator_client_new(&opts);
    int r = transport_start(operator_client_transport(c->client), &as, &call_events, &c->forward,
                            &c->forward.under, err);
    if (r < 0) {
        operator_client_free(c->client);
        free(c);
        return r;
    }
    t->calls++;
    *ret = c->forward.under;
    return 0;
}

struct identity_transport *identity_transport_new(struct loop *loop, struct transport *under,
                                                  struct identities *ids)
{
    struct identity_transport *t = xnew(struct identity_transport);
    *t = (struct identity_transport){ .base = { start }, .loop = loop, .under = under, .ids = ids };
    return t;
}

struct transport *identity_transport_base(struct identity_transport *t)
{
    return &t->base;
}

void identity_transport_close(struct identity_transport *t)
{
    if (!t)
        return;
    t->closed = true;
    if (t->calls == 0)
        free(t);
}
