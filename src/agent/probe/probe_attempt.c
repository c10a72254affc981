/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts; see probe_attempt.h. */
#include "agent/probe/probe_attempt.h"

#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>

static const struct probe_method_ops *const methods[] = { [PROBE_EXEC] = &probe_exec_ops,
                                                          [PROBE_HTTP] = &probe_http_ops,
                                                          [PROBE_TCP] = &probe_tcp_ops,
                                                          [PROBE_GRPC] = &probe_grpc_ops };

void probe_attempt_ref(struct probe_attempt *a)
{
    a->refs++;
}

void probe_attempt_unref(struct probe_attempt *a)
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
    struct probe_attempt *a = container_of(d, struct probe_attempt, turn);
    if (!a->was_cancelled)
        a->done(a->arg, a->outcome, str_n(a->message ? a->message : "", a->message_n));
    probe_attempt_unref(a);
}

/* The method holds references of its own, so `a` is valid after stop(). */
static void finish(struct probe_attempt *a)
{
    a->is_over = true;
    timer_stop(a->env->loop, &a->deadline);
    defer_start(a->env->loop, &a->turn, on_report);
    a->ops->stop(a);
}

void probe_attempt_end_str(struct probe_attempt *a, enum probe_outcome outcome, struct str message)
{
    if (a->is_over)
        return;
    a->outcome = outcome;
    a->message_n = MIN(message.n, (size_t)PROBE_MESSAGE_MAX);
    a->message = xstrndup(message.p ? message.p : "", a->message_n);
    finish(a);
}

void probe_attempt_end(struct probe_attempt *a, enum probe_outcome outcome, const char *fmt, ...)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(2 * PROBE_MESSAGE_MAX + 1024);
    va_list ap;
    va_start(ap, fmt);
    (void)buf_vprintf(&text, fmt, ap);
    va_end(ap);
    probe_attempt_end_str(a, outcome, buf_str(&text));
}

static void on_deadline(struct timer *t)
{
    struct probe_attempt *a = container_of(t, struct probe_attempt, deadline);
    probe_attempt_end(a, PROBE_FAILURE, "%s within %us", a->ops->timeout_text, a->spec->timeout_s);
}

struct probe_attempt *probe_attempt_start(struct probe_env *env, const struct probe_spec *spec,
                                          struct str address, void *container, probe_done_cb done,
                                          void *arg)
{
    struct probe_attempt *a = xnew(struct probe_attempt);
    *a = (struct probe_attempt){ .env = env,
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

void probe_attempt_cancel(struct probe_attempt *a)
{
    a->was_cancelled = true;
    if (!a->is_over)
        finish(a);
}
