/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of a PID namespace that the containers of a pod share
 * (shareProcessNamespace): a container of its own with a program of a few pages (pause/first.c),
 * which the containers join. When it ends, the kernel ends all processes of the pod; it is started
 * again, and containers by their policies.
 *
 *     NONE -> STARTING -> RUNNING -> ENDING -> (freed)
 *                ^           |
 *                `- BROKEN <-'      after a pause
 *
 * Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct agent;
struct arena;
struct agent_pause;
struct agent_pod;
struct container;
struct container_left;

/* Its program's file, once for all pods. */
int agent_pause_set_up(const struct agent *a, struct err *err);
/* If the pod needs it and does not have it. agent_prepare_look() follows when it runs. */
void agent_pause_start(struct agent_pod *p);
/* The pod has it, or needs none. */
bool agent_pause_is_ready(const struct agent_pod *p);
/* "/proc/PID/ns/pid"; in the arena; NULL: none runs. */
const char *agent_pause_path(const struct agent_pod *p, struct arena *a);
/* End it; true: agent_prepare_part_removed() follows. */
bool agent_pause_stop(struct agent_pod *p);
/* The process ends; it stays. */
void agent_pause_leave(struct agent_pod *p);
void agent_pause_leave_unclaimed(struct agent *a);

/* ---- of an earlier process ---- */

struct agent_pause *agent_pause_find(struct agent *a, struct container *c,
                                     const struct container_left *left);
/* That of the pod, if there is one; it runs on. */
void agent_pause_claim(struct agent_pod *p);
/* End those that no pod has claimed. */
void agent_pause_drop_unclaimed(struct agent *a);
