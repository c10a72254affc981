/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in the name of accounts; see identity_transport.h. Each such request gets
 * a gate of its own, since they are few.
 */
#include "operator/identity_transport.h"

#include "operator/gate.h"

struct identity_transport {
    struct transport base;
    struct loop *loop;
    struct transport *under;
    struct identities *ids;
    size_t calls;
    bool closed;
};

struct identity_transport_call {
    struct identity_transport *t;
    struct gate *gate; /* NULL: passes unchanged */
    struct kube_call *under;
    const struct kube_call_ops *ops;
    void *arg;
};

static struct transport *way(const struct identity_transport_call *c)
{
    return c->gate ? gate_transport(c->gate) : c->t->under;
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct identity_transport_call *c = arg;
    if (c->ops->on_head)
        c->ops->on_head(c->arg, status, headers);
}

static void on_data(void *arg, struct str chunk)
{
    struct identity_transport_call *c = arg;
    if (c->ops->on_data)
        c->ops->on_data(c->arg, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct identity_transport_call *c = arg;
    struct identity_transport *t = c->t;
    c->ops->on_end(c->arg, r, err);
    gate_free(c->gate);
    free(c);
    if (--t->calls == 0 && t->closed)
        free(t);
}

static const struct kube_call_ops call_ops = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end };

static int start(struct transport *base, const struct kube_request *req,
                 const struct kube_call_ops *ops, void *arg, struct kube_call **ret,
                 struct err *err)
{
    struct identity_transport *t = container_of(base, struct identity_transport, base);
    struct identity *id = req->identity && !req->identity->token.n
                              ? identities_find(t->ids, req->identity->user)
                              : NULL;
    struct kube_request as = *req;
    struct identity_transport_call *c = xnew(struct identity_transport_call);
    *c = (struct identity_transport_call){ .t = t, .ops = ops, .arg = arg };
    if (id) {
        struct gate_opts opts = { .loop = t->loop, .transport = t->under, .identity = id };
        c->gate = gate_new(&opts);
        as.identity = NULL;
    }
    int r = transport_start(way(c), &as, &call_ops, c, &c->under, err);
    if (r < 0) {
        gate_free(c->gate);
        free(c);
        return r;
    }
    t->calls++;
    *ret = (struct kube_call *)c;
    return 0;
}

static void pause_call(struct transport *base, struct kube_call *call)
{
    struct identity_transport_call *c = (struct identity_transport_call *)call;
    transport_pause(way(c), c->under);
}

static void resume_call(struct transport *base, struct kube_call *call)
{
    struct identity_transport_call *c = (struct identity_transport_call *)call;
    transport_resume(way(c), c->under);
}

static void cancel_call(struct transport *base, struct kube_call *call)
{
    struct identity_transport_call *c = (struct identity_transport_call *)call;
    transport_cancel(way(c), c->under);
}

static const struct transport_ops ops = {
    .start = start, .pause = pause_call, .resume = resume_call, .cancel = cancel_call
};

struct identity_transport *identity_transport_new(struct loop *loop, struct transport *under,
                                                  struct identities *ids)
{
    struct identity_transport *t = xnew(struct identity_transport);
    *t = (struct identity_transport){ .base = { &ops }, .loop = loop, .under = under, .ids = ids };
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
