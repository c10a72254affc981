/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that make this machine a node. */
#pragma once

#include "cmd/cmd.h"
#include "node/agent_node.h"

extern const char *cmd_agent_name, *cmd_agent_log_dir, *cmd_agent_listen, *cmd_agent_images,
    *cmd_agent_manifest_dir;
extern uint64_t cmd_agent_image_quota, cmd_agent_image_probe_ms;
extern uint64_t cmd_agent_gc_high, cmd_agent_gc_low, cmd_agent_gc_age_ms;
extern struct cmd_list cmd_agent_addresses, cmd_agent_labels, cmd_agent_taints;
extern struct cmd_list cmd_agent_sysctls;
extern bool cmd_agent_no_service_proxy;
extern struct cmd_list cmd_agent_dns, cmd_agent_dns_upstreams, cmd_agent_dns_stubs;
extern uint64_t cmd_agent_max_pods; /* 0: not given */

/* Copy the options to `to`. any_port: of the agent, if none was given. Returns a status of the
 * command; what is wrong with other options, the start says. */
int cmd_take_agent_opts(struct agent_node_opts *to, bool any_port);

/* prefix: of options that would mean something else in a command with other parts. */
#define CMD_AGENT_OPTS(prefix)                                                                       \
    {                                                                                                \
        "node-name",     0, "NAME", "name of the node (this machine's)", CMD_STRING,                 \
        &cmd_agent_name, 0, 0                                                                        \
    },                                                                                               \
        { "node-ip",                                                                                 \
          0,                                                                                         \
          "ADDR",                                                                                    \
          "its address; repeatable, one IPv4 and one IPv6 (the one that leads to the API server)",   \
          CMD_LIST,                                                                                  \
          &cmd_agent_addresses,                                                                      \
          0,                                                                                         \
          0 },                                                                                       \
        { prefix "label",                                                                            \
          0,                                                                                         \
          "KEY=VALUE",                                                                               \
          "a label of a node that is new; repeatable",                                               \
          CMD_LIST,                                                                                  \
          &cmd_agent_labels,                                                                         \
          0,                                                                                         \
          0 },                                                                                       \
        { prefix "taint",                                                                            \
          0,                                                                                         \
          "KEY=VALUE:EFFECT",                                                                        \
          "a taint of a node that is new: NoSchedule, PreferNoSchedule or NoExecute; repeatable",    \
          CMD_LIST,                                                                                  \
          &cmd_agent_taints,                                                                         \
          0,                                                                                         \
          0 },                                                                                       \
        { "allowed-unsafe-sysctls",                                                                  \
          0,                                                                                         \
          "NAME",                                                                                    \
          "sysctls that pods may set besides the safe ones; ends with * for all that begin so",      \
          CMD_LIST,                                                                                  \
          &cmd_agent_sysctls,                                                                        \
          0,                                                                                         \
          0 },                                                                                       \
        { "no-service-proxy",                                                                        \
          0,                                                                                         \
          NULL,                                                                                      \
          "another program (kube-proxy) makes the addresses of Services work",                       \
          CMD_FLAG,                                                                                  \
          &cmd_agent_no_service_proxy,                                                               \
          0,                                                                                         \
          0 },                                                                                       \
        { "cluster-dns",                                                                             \
          0,                                                                                         \
          "ADDR",                                                                                    \
          "DNS server of pods; repeatable; none: they have the machine's (a server of "              \
          "this node's agent, which knows the names of Services)",                                   \
          CMD_LIST,                                                                                  \
          &cmd_agent_dns,                                                                            \
          0,                                                                                         \
          0 },                                                                                       \
        { "dns-upstream",                                                                            \
          0,                                                                                         \
          "ADDR[:PORT]",                                                                             \
          "who that server asks for names outside of the cluster; repeatable (the "                  \
          "servers of /etc/resolv.conf)",                                                            \
          CMD_LIST,                                                                                  \
          &cmd_agent_dns_upstreams,                                                                  \
          0,                                                                                         \
          0 },                                                                                       \
        { "dns-stub",                                                                                \
          0,                                                                                         \
          "ZONE=ADDR[,ADDR]",                                                                        \
          "who it asks for names of this zone; repeatable",                                          \
          CMD_LIST,                                                                                  \
          &cmd_agent_dns_stubs,                                                                      \
          0,                                                                                         \
          0 },                                                                                       \
        { "max-pods", 0, "N", "pods that it takes (110)", CMD_U64, &cmd_agent_max_pods, 1, 100000 }, \
        { "agent-listen",                                                                            \
          0,                                                                                         \
          "HOST:PORT",                                                                               \
          "where kubectl logs, exec and so on reach the node (0.0.0.0:10250, or any port if "        \
          "that is taken)",                                                                          \
          CMD_STRING,                                                                                \
          &cmd_agent_listen,                                                                         \
          0,                                                                                         \
          0 },                                                                                       \
        { "image-listen",                                                                            \
          0,                                                                                         \
          "HOST:PORT",                                                                               \
          "where images are shared: where other nodes get layers from this one, and the "            \
          "scheduler sends its plans (0.0.0.0:7443, or any port if that is taken); none: it "        \
          "shares none",                                                                             \
          CMD_STRING,                                                                                \
          &cmd_agent_images,                                                                         \
          0,                                                                                         \
          0 },                                                                                       \
        { "image-quota",                                                                             \
          0,                                                                                         \
          "SIZE",                                                                                    \
          "where images are shared: layers that the node keeps (no limit)",                          \
          CMD_SIZE,                                                                                  \
          &cmd_agent_image_quota,                                                                    \
          0,                                                                                         \
          0 },                                                                                       \
        { "image-probe",                                                                             \
          0,                                                                                         \
          "DURATION",                                                                                \
          "where images are shared: interval of measurements of other nodes, 10s at least "          \
          "(only after activity on this node)",                                                      \
          CMD_DURATION,                                                                              \
          &cmd_agent_image_probe_ms,                                                                 \
          0,                                                                                         \
          0 },                                                                                       \
        { "image-gc-high-threshold",                                                                 \
          0,                                                                                         \
          "PERCENT",                                                                                 \
          "images that nothing uses are removed when the file system of the store is so full "       \
          "(85; "                                                                                    \
          "100: only where a disk is short)",                                                        \
          CMD_U64,                                                                                   \
          &cmd_agent_gc_high,                                                                        \
          1,                                                                                         \
          100 },                                                                                     \
        { "image-gc-low-threshold", 0, "PERCENT", "until it is so full (80)", CMD_U64,               \
          &cmd_agent_gc_low,        0, 100 },                                                        \
        { "minimum-image-ttl-duration",                                                              \
          0,                                                                                         \
          "DURATION",                                                                                \
          "an image stays at least so long after its pull (2m)",                                     \
          CMD_DURATION,                                                                              \
          &cmd_agent_gc_age_ms,                                                                      \
          0,                                                                                         \
          0 },                                                                                       \
        { "pod-log-dir",      0, "DIR", "what containers print (/var/log/pods)", CMD_STRING,         \
          &cmd_agent_log_dir, 0, 0 },                                                                \
    {                                                                                                \
        "pod-manifest-dir", 0, "DIR", "files of static pods (none)", CMD_STRING,                     \
            &cmd_agent_manifest_dir, 0, 0                                                            \
    }
