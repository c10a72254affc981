/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport that a test plays by hand: requests are recorded, answers are what the test says.
 *
 *     struct fake f; fake_init(&f);   ... code under test starts calls on &f.base ...
 *     fake_head(&f.call[0], 200); fake_data(&f.call[0], "line\n"); fake_end(&f.call[0], 0);
 *
 * A cancelled call ends with -ECANCELED when the test calls fake_settle().
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "client/transport.h"

#include <errno.h>

enum { FAKE_CALLS_MAX = 256 };

struct fake_call {
    char *method, *target, *body;
    char *user, *token; /* of its identity; "" without one */
    const struct kube_call_ops *ops;
    void *arg;
    bool ended, cancelled, paused;
};

struct fake {
    struct transport base;
    struct fake_call call[FAKE_CALLS_MAX];
    size_t n;
    int refuse; /* a negative code: the next start fails with it */
};

static int fake_start(struct transport *t, const struct kube_request *req,
                      const struct kube_call_ops *ops, void *arg, struct kube_call **ret,
                      struct err *err)
{
    struct fake *f = container_of(t, struct fake, base);
    if (f->refuse < 0) {
        int r = f->refuse;
        f->refuse = 0;
        return err_set(err, r, "refused");
    }
    if (f->n == FAKE_CALLS_MAX)
        abort();
    struct fake_call *c = &f->call[f->n++];
    *c = (struct fake_call){ .method = str_dup(req->method),
                             .target = str_dup(req->target),
                             .body = str_dup(req->body),
                             .user = str_dup(req->identity ? req->identity->user : STR("")),
                             .token = str_dup(req->identity ? req->identity->token : STR("")),
                             .ops = ops,
                             .arg = arg };
    *ret = (struct kube_call *)c;
    return 0;
}

static void fake_pause(struct transport *t, struct kube_call *call)
{
    ((struct fake_call *)call)->paused = true;
}

static void fake_resume(struct transport *t, struct kube_call *call)
{
    ((struct fake_call *)call)->paused = false;
}

static void fake_cancel(struct transport *t, struct kube_call *call)
{
    ((struct fake_call *)call)->cancelled = true;
}

static const struct transport_ops fake_ops = {
    .start = fake_start, .pause = fake_pause, .resume = fake_resume, .cancel = fake_cancel
};

static inline void fake_init(struct fake *f)
{
    *f = (struct fake){ .base = { &fake_ops } };
}

static inline void fake_fini(struct fake *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->call[i].method);
        free(f->call[i].target);
        free(f->call[i].body);
        free(f->call[i].user);
        free(f->call[i].token);
    }
}

static inline void fake_head(struct fake_call *c, int status)
{
    struct headers h = { 0 };
    if (c->ops->on_head)
        c->ops->on_head(c->arg, status, &h);
    headers_fini(&h);
}

static inline void fake_data(struct fake_call *c, const char *text)
{
    if (c->ops->on_data)
        c->ops->on_data(c->arg, str_of(text));
}

static inline void fake_end(struct fake_call *c, int r)
{
    struct err err = { 0 };
    if (r < 0)
        (void)err_set(&err, r, "fake failure");
    c->ended = true;
    c->ops->on_end(c->arg, r, &err);
}

/* End what was cancelled. */
static inline void fake_settle(struct fake *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->call[i].cancelled && !f->call[i].ended)
            fake_end(&f->call[i], -ECANCELED);
}
