/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extenders: servers that filter and score nodes, change a preemption, or bind pods, as configured
 * (k8s.io/kube-scheduler/extender/v1, JSON over HTTP or HTTPS).
 *
 * A call blocks until the extender has answered, at most for its httpTimeout; meanwhile the
 * scheduler's thread runs a loop of its own. Everything here belongs to that thread: created, used
 * and freed there. Pods and nodes must have kept their JSON (sched_opts.keeps_json).
 */
#pragma once

#include "sched/config/config.h"
#include "sched/framework/framework.h"

enum {
    EXTENDER_ANSWER_MAX_BYTES = 64 << 20, /* far above a list of 5,000 whole nodes */
    EXTENDER_TIMEOUT_MS = 5000,           /* if the configuration has none */
};

struct sched_extenders;
/*
 * configs: kept. Ignorable extenders come after the others; otherwise their order stays. With n ==
 * 0 nothing is opened.
 *
 * Errors: E_INVALID (an invalid URL), errors from reading the TLS files.
 */
int sched_extenders_new(const struct sched_config_extender *configs, size_t n,
                        struct sched_extenders **ret, struct err *err);
void sched_extenders_free(struct sched_extenders *x);
/* Replaces the extenders in x with those of `next`, which is freed: a new configuration. */
void sched_extenders_replace(struct sched_extenders *x, struct sched_extenders *next);
DEFINE_SCOPED(sched_extenders, sched_extenders_free)

/*
 * arg: struct sched_extenders. bind() returns SCHED_SKIP if all extenders that would bind failed
 * and are ignorable. Preemption: returns at most the nodes that were given.
 */
extern const struct sched_extender_ops sched_extenders_ops;
