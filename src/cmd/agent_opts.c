/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a node; see agent_opts.h. */
#include "cmd/agent_opts.h"

#include <string.h>

static char listen_host[256], image_host[256];

const char *cmd_agent_name, *cmd_agent_log_dir, *cmd_agent_listen, *cmd_agent_images,
    *cmd_agent_manifest_dir;
uint64_t cmd_agent_image_quota, cmd_agent_image_probe_ms;
uint64_t cmd_agent_gc_high = AGENT_GC_HIGH_PERCENT, cmd_agent_gc_low = AGENT_GC_LOW_PERCENT,
         cmd_agent_gc_age_ms = AGENT_GC_MIN_AGE_MS;
struct cmd_list cmd_agent_addresses, cmd_agent_labels, cmd_agent_taints, cmd_agent_sysctls;
struct cmd_list cmd_agent_dns, cmd_agent_dns_upstreams, cmd_agent_dns_stubs;
uint64_t cmd_agent_max_pods;
bool cmd_agent_no_service_proxy;

static int take_image_opts(struct agent_node_opts *to, bool any_port)
{
    struct err err = { 0 };
    to->image_quota_bytes = cmd_agent_image_quota;
    to->image_probe_ms = cmd_agent_image_probe_ms;
    to->image_host = "0.0.0.0";
    to->image_port = any_port ? 0 : AGENT_NODE_IMAGE_PORT;
    to->image_listens_elsewhere = !cmd_agent_images;
    to->shares_no_images = cmd_agent_images && strcmp(cmd_agent_images, "none") == 0;
    if (!cmd_agent_images || to->shares_no_images)
        return CMD_OK;
    to->image_host = image_host;
    return cmd_parse_listen(cmd_agent_images, image_host, sizeof image_host, &to->image_port,
                            &err) < 0
               ? cmd_fail(CMD_USAGE, &err)
               : CMD_OK;
}

static int take_gc_opts(struct agent_node_opts *to)
{
    struct err err = { 0 };
    to->gc = (struct agent_gc){ .high_percent = (unsigned)cmd_agent_gc_high,
                                .low_percent = (unsigned)cmd_agent_gc_low,
                                .min_age_ms = cmd_agent_gc_age_ms };
    if (cmd_agent_gc_low < cmd_agent_gc_high)
        return CMD_OK;
    (void)err_set(&err, E_INVALID,
                  "--image-gc-low-threshold %u is not below --image-gc-high-threshold %u",
                  to->gc.low_percent, to->gc.high_percent);
    return cmd_fail(CMD_USAGE, &err);
}

int cmd_take_agent_opts(struct agent_node_opts *to, bool any_port)
{
    struct err err = { 0 };
    to->node_name = cmd_agent_name;
    to->log_dir = cmd_agent_log_dir;
    to->manifest_dir = cmd_agent_manifest_dir;
    to->addresses = cmd_agent_addresses.at;
    to->n_addresses = cmd_agent_addresses.n;
    to->labels = cmd_agent_labels.at;
    to->n_labels = cmd_agent_labels.n;
    to->taints = cmd_agent_taints.at;
    to->n_taints = cmd_agent_taints.n;
    to->max_pods = (uint32_t)cmd_agent_max_pods;
    to->sysctls = cmd_agent_sysctls.at;
    to->n_sysctls = cmd_agent_sysctls.n;
    to->no_service_proxy = cmd_agent_no_service_proxy;
    to->dns = (struct agent_dns_opts){ .servers = cmd_agent_dns.at,
                                       .n_servers = cmd_agent_dns.n,
                                       .upstreams = cmd_agent_dns_upstreams.at,
                                       .n_upstreams = cmd_agent_dns_upstreams.n,
                                       .stubs = cmd_agent_dns_stubs.at,
                                       .n_stubs = cmd_agent_dns_stubs.n };
    to->listen_port = any_port ? 0 : PODS_LISTEN_PORT;
    to->listens_elsewhere = !cmd_agent_listen;
    int r = take_gc_opts(to);
    r = r ? r : take_image_opts(to, any_port);
    if (r || !cmd_agent_listen)
        return r;
    to->listen_host = listen_host;
    return cmd_parse_listen(cmd_agent_listen, listen_host, sizeof listen_host, &to->listen_port,
                            &err) < 0
               ? cmd_fail(CMD_USAGE, &err)
               : CMD_OK;
}
