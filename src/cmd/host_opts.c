/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that run operators; see host_opts.h. */
#include "cmd/host_opts.h"

#include "image/bdm.h"
#include "io/address.h"
#include "modules/module_hosts.h"

#include <string.h>

struct guest_host_opts cmd_host = { .idle_ms = 1000, .swap_quota_bytes = (uint64_t)1 << 30 };
const char *cmd_identity = "account";

struct cmd_list cmd_module_hosts;
struct cmd_registries cmd_registries;
uint64_t cmd_plugin_check_ms = 300000;
struct scheduling_plans cmd_plans;
struct cmd_list cmd_node_networks;
bool cmd_sends_plans;

static int take_identity(enum host_identity *ret)
{
    static const char *const names[] = { [HOST_IDENTITY_ACCOUNT] = "account",
                                         [HOST_IDENTITY_IMPERSONATE] = "impersonate",
                                         [HOST_IDENTITY_HOST] = "host" };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(cmd_identity, names[i]) == 0) {
            *ret = (enum host_identity)i;
            return 0;
        }
    return cmd_failf(CMD_USAGE, "--operator-identity is account, impersonate or host, not '%s'",
                     cmd_identity);
}

struct module_site cmd_registry_site(void)
{
    return (struct module_site){ .is_any_host = true,
                                 .ca_file = cmd_registries.ca,
                                 .plain_hosts = cmd_registries.plain.at,
                                 .n_plain_hosts = cmd_registries.plain.n };
}

struct image_supply_opts cmd_image_opts(const char *store, const struct cmd_list *hosts)
{
    return (struct image_supply_opts){ .store = store,
                                       .hosts = hosts->at,
                                       .n_hosts = hosts->n,
                                       .ca_file = cmd_registries.ca,
                                       .plain_hosts = cmd_registries.plain.at,
                                       .n_plain_hosts = cmd_registries.plain.n };
}

int cmd_take_plan_opts(bool sends, struct scheduling_plans *ret)
{
    const struct scheduling_plans *p = &cmd_plans;
    struct address_net net;
    sends |= cmd_sends_plans;
    if (!sends && (p->key_file || p->peer_ca || cmd_node_networks.n || p->deadline_ms ||
                   p->is_push || p->prefetch_ms))
        return cmd_failf(CMD_USAGE, "--cluster-key-file, --peer-ca, --node-network, "
                                    "--plan-deadline, --plan-push and --plan-prefetch go with "
                                    "--send-plans or --share-images");
    for (size_t i = 0; i < cmd_node_networks.n; i++)
        if (!address_net_parse(str_of(cmd_node_networks.at[i]), &net))
            return cmd_failf(CMD_USAGE, "--node-network: '%s' is no network or address",
                             cmd_node_networks.at[i]);
    if (cmd_sends_plans && !p->key_file)
        return cmd_failf(CMD_USAGE, "--send-plans needs --cluster-key-file");
    if (p->deadline_ms > IMAGE_BDM_DEADLINE_MAX_MS)
        return cmd_failf(CMD_USAGE, "--plan-deadline: a day at most");
    *ret = *p;
    ret->networks = (struct node_networks){ cmd_node_networks.at, cmd_node_networks.n };
    return 0;
}

int cmd_take_module_site(struct server_opts *to)
{
    struct err err = { 0 };
    to->module_site = cmd_registry_site();
    to->module_site.is_any_host = false;
    to->module_site.hosts = (struct module_hosts){ cmd_module_hosts.at, cmd_module_hosts.n };
    int r = module_hosts_check(&to->module_site.hosts, &err);
    return r < 0 ? cmd_fail(CMD_USAGE, &err) : 0;
}

int cmd_take_host_opts(struct server_opts *to)
{
    to->guests = cmd_host;
    int r = cmd_take_module_site(to);
    return r ? r : take_identity(&to->identity);
}
