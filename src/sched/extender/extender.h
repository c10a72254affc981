/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extenders: servers that filter and score nodes, change a preemption, or bind pods, as the
 * configuration names them (k8s.io/kube-scheduler/extender/v1, JSON over HTTP or HTTPS).
 *
 * Who calls waits for the answer, at most the extender's httpTimeout: the scheduler's thread turns
 * a loop of its own meanwhile. Everything here belongs to that thread: made, used and freed there.
 * Pods and nodes have kept their JSON (sched_opts.keeps_json).
 */
#pragma once

#include "sched/config/config.h"
#include "sched/framework/framework.h"

enum {
    EXTENDER_ANSWER_MAX_BYTES = 64 << 20, /* a list of 5,000 whole nodes is far below */
    EXTENDER_TIMEOUT_MS = 5000,           /* where the configuration has none */
};

struct sched_extenders;
/*
 * configs: kept. Extenders that may be ignored come after the others, else in their order. Without
 * one nothing is opened.
 * Errors: E_INVALID (a URL that is none), what the files of TLS say.
 */
int sched_extenders_new(const struct sched_config_extender *configs, size_t n,
                        struct sched_extenders **ret, struct err *err);
void sched_extenders_free(struct sched_extenders *x);
/* x becomes those of `next`, which is gone afterwards: another configuration. */
void sched_extenders_replace(struct sched_extenders *x, struct sched_extenders *next);
DEFINE_SCOPED(sched_extenders, sched_extenders_free)

/*
 * arg: struct sched_extenders. A bind() that no extender has done, because all that would have may
 * be ignored, is SCHED_SKIP. Preemption: at most the nodes it was given come back.
 */
extern const struct sched_extender_ops sched_extenders_ops;
