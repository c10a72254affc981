/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts; see prober_attempt.h. */
#include "agent/probe/prober_attempt.h"

#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>

static const struct probe_method_ops *const methods[] = { [PROBE_EXEC] = &probe_exec_ops,
                                                          [PROBE_HTTP] = &probe_http_ops,
                                                          [PROBE_TCP] = &probe_tcp_ops,
                                                          [PROBE_GRPC] = &probe_grpc_ops };

void prober_attempt_ref(struct prober_attempt *a)
{
    a->refs++;
}

void prober_attempt_unref(struct prober_attempt *a)
{
    struct probe_env *env = a->env;
    assert(a->refs > 0);
    if (--a->refs > 0)
        return;
    assert(!timer_is_armed(&a->deadline) && a->is_over);
    free(a->message);
    free(a);
    assert(env->n_attempts > 0);
    if (--env->n_attempts == 0 && env->on_none)
        env->on_none(env);
}

static void on_report(struct defer *d)
{
    struct prober_attempt *a = container_of(d, struct prober_attempt, turn);
    if (!a->was_cancelled)
        a->done(a->arg, a->outcome, str_n(a->message ? a->message : "", a->message_n));
    prober_attempt_unref(a);
}

/* The method holds references of its own, so `a` is valid after stop(). */
static void finish(struct prober_attempt *a)
{
    a->is_over = true;
    timer_stop(a->env->loop, &a->deadline);
    defer_start(a->env->loop, &a->turn, on_report);
    a->ops->stop(a);
}

void prober_attempt_end_str(struct prober_attempt *a, enum probe_outcome outcome,
                            struct str message)
{
    if (a->is_over)
        return;
    a->outcome = outcome;
    a->message_n = MIN(message.n, (size_t)PROBE_MESSAGE_MAX);
    a->message = xstrndup(message.p ? message.p : "", a->message_n);
    finish(a);
}

void prober_attempt_end(struct prober_attempt *a, enum probe_outcome outcome, const char *fmt, ...)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(2 * PROBE_MESSAGE_MAX + 1024);
    va_list ap;
    va_start(ap, fmt);
    (void)buf_vprintf(&text, fmt, ap);
    va_end(ap);
    prober_attempt_end_str(a, outcome, buf_str(&text));
}

static void on_deadline(struct timer *t)
{
    struct prober_attempt *a = container_of(t, struct prober_attempt, deadline);
    prober_attempt_end(a, PROBE_FAILURE, "%s within %us", a->ops->timeout_text, a->spec->timeout_s);
}

struct prober_attempt *prober_attempt_start(struct probe_env *env, const struct probe_spec *spec,
                                            struct str address, void *container, probe_done_cb done,
                                            void *arg)
{
    struct prober_attempt *a = xnew(struct prober_attempt);
    *a = (struct prober_attempt){ .env = env,
                                  .spec = spec,
                                  .address = address,
                                  .container = container,
                                  .ops = methods[spec->method],
                                  .refs = 1,
                                  .done = done,
                                  .arg = arg };
    env->n_attempts++;
    timer_start(env->loop, &a->deadline, (uint64_t)spec->timeout_s * 1000, on_deadline);
    a->ops->start(a);
    return a;
}

void prober_attempt_cancel(struct prober_attempt *a)
{
    a->was_cancelled = true;
    if (!a->is_over)
        finish(a);
}
