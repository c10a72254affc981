/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt of a probe: a request, connection or command, its deadline and its outcome.
 *
 * Each method is a struct probe_method_ops with a part of the attempt's memory. Loop thread only.
 */
#pragma once

#include "agent/probe/probe.h"
#include "base/err.h"
#include "base/list.h"

struct tls_ctx;

/* What attempts share. */
struct probe_env {
    struct loop *loop;
    const struct probe_exec *exec;
    const char *user_agent;
    struct tls_ctx *tls;                    /* made by the first https probe */
    size_t n_attempts;                      /* whose memory is not free yet */
    void (*on_none)(struct probe_env *env); /* n_attempts has become 0 */
};

struct prober_attempt;

/* done() exactly once, on a later turn, unless it was cancelled; message is borrowed. */
typedef void (*probe_done_cb)(void *arg, enum probe_outcome outcome, struct str message);

/* spec and address are kept until done() or the cancellation. */
struct prober_attempt *prober_attempt_start(struct probe_env *env, const struct probe_spec *spec,
                                            struct str address, void *container, probe_done_cb done,
                                            void *arg);
/* done() does not run. The memory is freed later. */
void prober_attempt_cancel(struct prober_attempt *a);

/* ---- for the methods ---- */

struct probe_method_ops {
    /* Starts; a failure is reported by prober_attempt_end(). */
    void (*start)(struct prober_attempt *a);
    /* The attempt is over: end what is under way. Once that has happened: prober_attempt_unref().
     */
    void (*stop)(struct prober_attempt *a);
    const char *timeout_text; /* of the message after the deadline, with the seconds as %u */
};

extern const struct probe_method_ops probe_http_ops, probe_tcp_ops, probe_grpc_ops, probe_exec_ops;

struct prober_attempt {
    struct probe_env *env;
    const struct probe_spec *spec;
    struct str address;
    void *container;
    const struct probe_method_ops *ops;
    struct timer deadline;
    struct defer turn; /* reports */
    unsigned refs;     /* of the owner's report, and of what the method has under way */
    bool is_over;
    bool was_cancelled;
    enum probe_outcome outcome;
    char *message; /* NULL: "" */
    size_t message_n;
    probe_done_cb done;
    void *arg;
    void *method; /* the method's record */
};

/* The first call counts, later ones have no effect. The text is copied, at most PROBE_MESSAGE_MAX
 * bytes. Calls ops->stop(). */
void prober_attempt_end(struct prober_attempt *a, enum probe_outcome outcome, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void prober_attempt_end_str(struct prober_attempt *a, enum probe_outcome outcome,
                            struct str message);
void prober_attempt_ref(struct prober_attempt *a);
void prober_attempt_unref(struct prober_attempt *a);
