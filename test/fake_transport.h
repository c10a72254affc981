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
    struct exchange x;
    char *method, *target, *body;
    char *user, *token; /* of its identity; "" without one */
    void (*on_event)(void *arg, const struct watch_event *ev);
    void *event_arg;
    bool ended, cancelled, paused;
};

struct fake {
    struct transport base;
    struct fake_call call[FAKE_CALLS_MAX];
    size_t n;
    int refuse; /* a negative code: the next start fails with it */
};

static struct fake_call *fake_of(struct exchange *x)
{
    return container_of(x, struct fake_call, x);
}

static void fake_pause(struct exchange *x)
{
    fake_of(x)->paused = true;
}

static void fake_resume(struct exchange *x)
{
    fake_of(x)->paused = false;
}

static void fake_cancel(struct exchange *x)
{
    fake_of(x)->cancelled = true;
}

static const struct exchange_ops fake_ops = { .pause = fake_pause,
                                              .resume = fake_resume,
                                              .cancel = fake_cancel };

static int fake_start(struct transport *t, const struct kube_request *req,
                      const struct exchange_events *events, void *arg, struct exchange **ret,
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
    *c = (struct fake_call){ .x = { &fake_ops, events, arg, NULL },
                             .method = str_dup(req->method),
                             .target = str_dup(req->target),
                             .body = str_dup(req->body),
                             .user = str_dup(req->identity ? req->identity->user : STR("")),
                             .token = str_dup(req->identity ? req->identity->token : STR("")),
                             .on_event = req->on_event,
                             .event_arg = req->event_arg };
    *ret = &c->x;
    return 0;
}

static inline void fake_init(struct fake *f)
{
    *f = (struct fake){ .base = { fake_start } };
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
    exchange_report_head(&c->x, status, &h);
    headers_fini(&h);
}

static inline void fake_data(struct fake_call *c, const char *text)
{
    exchange_report_data(&c->x, str_of(text));
}

static inline void fake_end(struct fake_call *c, int r)
{
    struct err err = { 0 };
    if (r < 0)
        (void)err_set(&err, r, "fake failure");
    c->ended = true;
    exchange_report_end(&c->x, r, &err);
}

/* End what was cancelled. */
static inline void fake_settle(struct fake *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->call[i].cancelled && !f->call[i].ended)
            fake_end(&f->call[i], -ECANCELED);
}
