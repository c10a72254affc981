/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static pods (Kubernetes, "Create static Pods"): run from files of a directory, without the API
 * server. For each the node makes a mirror, a Pod in the API that shows its status; a mirror that
 * is deleted is made again, and one whose file is gone is deleted.
 */
#pragma once

#include "base/err.h"
#include "codec/json.h"

struct agent;
struct agent_pod;
struct pod_spec;

/* Errors: the directory cannot be watched. */
int agent_mirror_start(struct agent *a, const char *dir, struct err *err);
/* done: agent_part_stopped() for one of agent.n_stopping. */
void agent_mirror_stop(struct agent *a);

/* A Pod of the API that is a mirror was seen, or is gone. */
void agent_mirror_seen(struct agent *a, const struct pod_spec *mirror);
void agent_mirror_deleted(struct agent *a, struct str namespace, struct str name);
/* The pod has no mirror: ask for one. agent_report() follows. */
void agent_mirror_make(struct agent_pod *p);
/* The Node is known: those of all static pods that have none. */
void agent_mirror_make_all(struct agent *a);
/* It was deleted: another one is made a moment later. */
void agent_mirror_lost(struct agent_pod *p);
/* The pod is gone: delete its mirror. */
void agent_mirror_drop(struct agent_pod *p);
