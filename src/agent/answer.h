/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent's HTTP interface (agent/server/server.h) needs to know of pods: logs, commands,
 * ports, statistics.
 */
#pragma once

#include "agent/server/server.h"

/* Their argument is the struct agent. */
extern const struct agent_server_ops agent_answer_ops;

/* answer_exec.c */
int agent_answer_command(void *arg, const struct agent_ref *ref,
                         const struct agent_command *command,
                         const struct stream_program_ops **ret_ops, void **ret_arg,
                         struct err *err);
/* answer_ports.c */
int agent_answer_forward(void *arg, const struct agent_ref *ref,
                         const struct stream_port_ops **ret_ops, void **ret_arg, struct err *err);
/* answer_stats.c */
int agent_answer_stats(void *arg, agent_stats_cb done, void *done_arg, struct err *err);

struct agent;
struct agent_pod;
struct agent_container;
/* NULL: none. */
struct agent_pod *agent_answer_find(struct agent *a, const struct agent_ref *ref);
