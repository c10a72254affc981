/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that run operators, and the struct that they fill. */
#pragma once

#include "cmd/cmd.h"
#include "node/server.h"

/* Holds the defaults; .guests of struct server_opts. */
extern struct guest_host_opts cmd_host;

/* --operator-identity */
extern const char *cmd_identity;

extern struct cmd_list cmd_module_hosts; /* --module-host */

struct cmd_registries {
    struct cmd_list plain; /* --plain-http-registry */
    const char *ca;        /* --registry-ca */
};
extern struct cmd_registries cmd_registries;

/* What they say, checked: a cmd_exit when something is wrong, else 0. */
int cmd_take_host_opts(struct server_opts *to);

/* The part of it for commands that run no operators. */
int cmd_take_module_site(struct server_opts *to);
/* How registries are reached, on any host. Its texts are those of the arguments. */
struct module_site cmd_registry_site(void);
/* Likewise; for images of containers, which come from these registries. */
struct image_supply_opts cmd_image_opts(const char *store, const struct cmd_list *hosts);

extern uint64_t cmd_plugin_check_ms;
#define CMD_PLUGIN_CHECK_OPT(option)                                                               \
    {                                                                                              \
        option, 0, "TIME",                                                                         \
            "how often a registry is asked whether the tag of a plugin has moved; 0s: only with "  \
            "SIGHUP (5m)",                                                                         \
            CMD_DURATION, &cmd_plugin_check_ms, 0, 0                                               \
    }
/* Plans for the images of pods (node/scheduling.h). */
extern struct scheduling_plans cmd_plans;
extern struct cmd_list cmd_node_networks;
extern bool cmd_sends_plans;
#define CMD_PLAN_OPTS                                                                              \
    { "send-plans",                                                                                \
      0,                                                                                           \
      NULL,                                                                                        \
      "have nodes fetch the images of pods that are bound to them, from other nodes and "          \
      "registries, as planned here",                                                               \
      CMD_FLAG,                                                                                    \
      &cmd_sends_plans,                                                                            \
      0,                                                                                           \
      0 },                                                                                         \
        { "cluster-key-file",                                                                      \
          0,                                                                                       \
          "FILE",                                                                                  \
          "with --send-plans: the key that all nodes share",                                       \
          CMD_STRING,                                                                              \
          &cmd_plans.key_file,                                                                     \
          0,                                                                                       \
          0 },                                                                                     \
        { "peer-ca",  0,                                                                           \
          "FILE",     "with --send-plans: trust these certificates (PEM) of nodes (the system's)", \
          CMD_STRING, &cmd_plans.peer_ca,                                                          \
          0,          0 },                                                                         \
        { "node-network",                                                                          \
          0,                                                                                       \
          "NETWORK",                                                                               \
          "with --send-plans: nodes have addresses here alone (10.0.0.0/8); repeatable (any but "  \
          "loopback)",                                                                             \
          CMD_LIST,                                                                                \
          &cmd_node_networks,                                                                      \
          0,                                                                                       \
          0 },                                                                                     \
        { "plan-deadline",                                                                         \
          0,                                                                                       \
          "DURATION",                                                                              \
          "with --send-plans: a node gives up an image after that (60s)",                          \
          CMD_DURATION,                                                                            \
          &cmd_plans.deadline_ms,                                                                  \
          0,                                                                                       \
          0 },                                                                                     \
        { "plan-push",                                                                             \
          0,                                                                                       \
          NULL,                                                                                    \
          "with --send-plans: nodes push what they have to the one that needs it, unasked",        \
          CMD_FLAG,                                                                                \
          &cmd_plans.is_push,                                                                      \
          0,                                                                                       \
          0 },                                                                                     \
    {                                                                                              \
        "plan-prefetch", 0, "DURATION",                                                            \
            "with --send-plans: every so long send idle nodes layers that pods ask for often "     \
            "(never)",                                                                             \
            CMD_DURATION, &cmd_plans.prefetch_ms, 0, 0                                             \
    }
/* sends: plans are sent by another option. A cmd_exit; 0: they are taken, and empty if no plans are
 * sent. */
int cmd_take_plan_opts(bool sends, struct scheduling_plans *ret);

#define CMD_REGISTRY_OPTS                                                                          \
    { "plain-http-registry",                                                                       \
      0,                                                                                           \
      "HOST[:PORT]",                                                                               \
      "is spoken to without TLS, as loopback is; repeatable (none)",                               \
      CMD_LIST,                                                                                    \
      &cmd_registries.plain,                                                                       \
      0,                                                                                           \
      0 },                                                                                         \
    {                                                                                              \
        "registry-ca", 0, "FILE", "certificates trusted for registries besides the system's",      \
            CMD_STRING, &cmd_registries.ca, 0, 0                                                   \
    }
#define CMD_MODULE_SITE_OPTS                                                                       \
    { "module-host",                                                                               \
      0,                                                                                           \
      "HOST[:PORT]",                                                                               \
      "modules by URL may come from here alone: a name, .suffix or address, wherever it "          \
      "is; * any at a public address; repeatable (*)",                                             \
      CMD_LIST,                                                                                    \
      &cmd_module_hosts,                                                                           \
      0,                                                                                           \
      0 },                                                                                         \
        CMD_REGISTRY_OPTS
#define CMD_HOST_OPTS                                                                              \
    CMD_MODULE_SITE_OPTS,                                                                          \
        { "idle",                                                                                  \
          0,                                                                                       \
          "TIME",                                                                                  \
          "an operator without work for this long falls asleep (1s)",                              \
          CMD_DURATION,                                                                            \
          &cmd_host.idle_ms,                                                                       \
          0,                                                                                       \
          0 },                                                                                     \
        { "swap-quota",                                                                            \
          0,                                                                                       \
          "SIZE",                                                                                  \
          "disk for sleeping operators (1Gi)",                                                     \
          CMD_SIZE,                                                                                \
          &cmd_host.swap_quota_bytes,                                                              \
          0,                                                                                       \
          0 },                                                                                     \
        { "sleep-always",                                                                          \
          0,                                                                                       \
          NULL,                                                                                    \
          "put an operator to sleep after every activation (to measure)",                          \
          CMD_FLAG,                                                                                \
          &cmd_host.sleep_always,                                                                  \
          0,                                                                                       \
          0 },                                                                                     \
        { "operator-identity",                                                                     \
          0,                                                                                       \
          "HOW",                                                                                   \
          "operators act as their service accounts: account (in process, else by tokens), "        \
          "impersonate, or host: with all rights of this process (account)",                       \
          CMD_STRING,                                                                              \
          &cmd_identity,                                                                           \
          0,                                                                                       \
          0 },                                                                                     \
    {                                                                                              \
        "sleep-never", 0, NULL, "keep every operator awake (to measure)", CMD_FLAG,                \
            &cmd_host.sleep_never, 0, 0                                                            \
    }
