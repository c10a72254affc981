/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that make a cluster; see cluster_opts.h. */
#include "cmd/cluster_opts.h"

#include "api/datadir.h"

const char *cmd_token_file, *cmd_sa_issuer, *cmd_pod_cidr;
uint64_t cmd_event_ttl_ms;
int cmd_anonymous_auth = -1;
struct cmd_list cmd_tls_names;
_Static_assert(sizeof cmd_tls_names.at / sizeof cmd_tls_names.at[0] <= DATADIR_EXTRA_NAMES_MAX,
               "a certificate takes as many names as may be given");

int cmd_take_cluster_opts(struct server_opts *to)
{
    struct err err = { 0 };
    for (size_t i = 0; i < cmd_tls_names.n; i++)
        if (datadir_check_name(cmd_tls_names.at[i], &err) < 0)
            return cmd_failf(CMD_USAGE, "--tls-san: %s", err_text(&err));
    if (cmd_pod_cidr && strcmp(cmd_pod_cidr, "none") != 0 &&
        node_cidrs_parse(str_of(cmd_pod_cidr), &to->node_cidrs, &err) < 0)
        return cmd_failf(CMD_USAGE, "--pod-cidr: %s", err_text(&err));
    to->token_file = cmd_token_file;
    to->sa_issuer = cmd_sa_issuer;
    to->event_ttl_ms = cmd_event_ttl_ms;
    to->no_anonymous = cmd_anonymous_auth == 0;
    to->tls_names = cmd_tls_names.at;
    to->n_tls_names = cmd_tls_names.n;
    cmd_commit(&to->commit, &to->commit_date);
    return 0;
}
