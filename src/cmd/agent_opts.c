/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a node; see agent_opts.h. */
#include "cmd/agent_opts.h"

const char *cmd_agent_name;
struct cmd_list cmd_agent_addresses, cmd_agent_labels, cmd_agent_taints;
uint64_t cmd_agent_max_pods;

void cmd_take_agent_opts(struct agent_node_opts *to)
{
    to->node_name = cmd_agent_name;
    to->addresses = cmd_agent_addresses.at;
    to->n_addresses = cmd_agent_addresses.n;
    to->labels = cmd_agent_labels.at;
    to->n_labels = cmd_agent_labels.n;
    to->taints = cmd_agent_taints.at;
    to->n_taints = cmd_agent_taints.n;
    to->max_pods = (uint32_t)cmd_agent_max_pods;
}
