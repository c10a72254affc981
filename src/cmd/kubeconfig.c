/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse kubeconfig: a certificate and a kubeconfig for one more user of a data directory. */
#include "kube/kubeconfig.h"
#include "api/datadir.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "io/tls.h"

#include <errno.h>

static const char *data_dir, *user, *server, *out;
static struct cmd_list groups;
static uint64_t ttl_ms = UINT64_C(365) * 24 * 3600 * 1000;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "of the cluster " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING, &data_dir, 0,
      0 },
    { "user", 0, "NAME", "who is to be known by it (required)", CMD_STRING, &user, 0, 0 },
    { "group", 0, "NAME", "a group of that user; repeatable", CMD_LIST, &groups, 0, 0 },
    { "server", 0, "URL", "address of the API (the one in DIR/kubeconfig)", CMD_STRING, &server, 0,
      0 },
    { "ttl", 0, "TIME", "how long the certificate is good (8760h)", CMD_DURATION, &ttl_ms, 0, 0 },
    { "output", 'o', "FILE", "write it here, mode 0600 (standard output)", CMD_STRING, &out, 0, 0 },
    { 0 },
};

static const struct cmd_opt *kubeconfig_opts(void)
{
    return opts;
}

/* What the server wrote for the administrator says where it was last. Given, free(). */
static char *known_server(const char *dir)
{
    scoped(free_scoped) char *path = xasprintf("%s/kubeconfig", dir);
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    if (kubeconfig_load(path, NULL, &config, NULL) < 0)
        return NULL;
    return xstrdup(config->server);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct str names[ARRAY_LEN(groups.at)];
    scoped(datadir_free_scoped) struct datadir *d = NULL;
    int r = cmd_parse(&cmd_kubeconfig, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if (!user || !user[0])
        return cmd_failf(CMD_USAGE, "--user is required");
    if (ttl_ms < 60000 || ttl_ms / 1000 > UINT64_C(3650) * 24 * 3600)
        return cmd_failf(CMD_USAGE, "--ttl must be between 1m and 87600h");
    for (size_t i = 0; i < groups.n; i++)
        names[i] = str_of(groups.at[i]);
    const struct x509_user who = { .name = str_of(user), .groups = names, .n_groups = groups.n };
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    r = datadir_open_ca(dir, &d, &err);
    if (r == -ENOENT)
        return cmd_failf(CMD_FAILED,
                         "'%s' is no data directory of a server: start 'dormouse up' or 'dormouse "
                         "api' in it first, or name another with --data-dir",
                         dir);
    scoped(free_scoped) char *url = server ? xstrdup(server) : known_server(dir);
    if (r >= 0 && !url)
        return cmd_failf(CMD_USAGE, "where the server of '%s' listens is not known: give --server",
                         dir);
    if (r >= 0)
        r = datadir_write_user_kubeconfig(d, out, url, &who, ttl_ms / 1000, &err);
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_kubeconfig = {
    .name = "kubeconfig",
    .doc = "make a kubeconfig for one more user",
    .help = "Signs a client certificate with the cluster's authority: NAME becomes the user, and\n"
            "every --group a group. What they may do is for roles and bindings to say. The server\n"
            "need not run, and is not told: such a certificate is good until it ends.\n"
            "\n"
            "  dormouse kubeconfig --user jane --group devs -o jane.kubeconfig\n"
            "  kubectl create rolebinding jane --clusterrole=view --user=jane\n",
    .run = run,
    .opts = kubeconfig_opts,
};
