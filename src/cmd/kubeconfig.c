/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse kubeconfig: a certificate and a kubeconfig for one more user of a data directory. */
#include "client/kubeconfig.h"
#include "api/datadir.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "io/tls.h"
#include "kube/model/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { TEXT_MAX_BYTES = 1 << 20 };

static const char *data_dir, *user, *node, *server, *out;
static struct cmd_list groups;
static uint64_t ttl_ms = UINT64_C(365) * 24 * 3600 * 1000;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "of the cluster " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING, &data_dir, 0,
      0 },
    { "user", 0, "NAME", "who is to be known by it (required without --node)", CMD_STRING, &user, 0,
      0 },
    { "group", 0, "NAME", "a group of that user; repeatable", CMD_LIST, &groups, 0, 0 },
    { "node", 0, "NAME", "for the agent of this node: user system:node:NAME, group system:nodes",
      CMD_STRING, &node, 0, 0 },
    { "server", 0, "URL", "address of the API (the one in DIR/kubeconfig)", CMD_STRING, &server, 0,
      0 },
    { "ttl", 0, "TIME", "how long the certificate is good (8760h)", CMD_DURATION, &ttl_ms, 0, 0 },
    { "output", 'o', "FILE", "write it here, mode 0600; json or yaml: to standard output (yaml)",
      CMD_STRING, &out, 0, 0 },
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

/* In the form and at the place that --output names. */
static int put(struct str yaml, struct err *err)
{
    struct arena a = { 0 };
    struct json *v = NULL;
    scoped(buf_fini_scoped) struct buf json = BUF_INIT(TEXT_MAX_BYTES);
    bool is_json = out && strcmp(out, "json") == 0;
    int r = is_json ? yaml_parse(&a, yaml, NULL, &v, err) : 0;
    if (r >= 0 && is_json)
        r = json_write(&json, v) < 0 ? err_set(err, -EMSGSIZE, "it is too large")
                                     : buf_add_char(&json, '\n');
    arena_fini(&a);
    if (r < 0)
        return r;
    if (!out || is_json || strcmp(out, "yaml") == 0) {
        struct str text = is_json ? buf_str(&json) : yaml;
        r = sys_write_all(STDOUT_FILENO, text.p, text.n);
        return r < 0 ? err_sys(err, r, "write") : 0;
    }
    return sys_write_file_atomic(AT_FDCWD, out, yaml, 0600, err);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    struct str names[ARRAY_LEN(groups.at) + 1];
    scoped(datadir_free_scoped) struct datadir *d = NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX_BYTES);
    int r = cmd_parse(&cmd_kubeconfig, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if (node && (user || groups.n))
        return cmd_failf(CMD_USAGE, "--node says who the user is: leave out --user and --group");
    if (node && meta_check_dns1123_subdomain(str_of(node)).n)
        return cmd_failf(CMD_USAGE, "'%s' cannot be the name of a node: %s", node,
                         meta_check_dns1123_subdomain(str_of(node)).text[0]);
    if (!node && (!user || !user[0]))
        return cmd_failf(CMD_USAGE, "--user or --node is required");
    if (ttl_ms < 60000 || ttl_ms / 1000 > UINT64_C(3650) * 24 * 3600)
        return cmd_failf(CMD_USAGE, "--ttl must be between 1m and 87600h");
    for (size_t i = 0; i < groups.n; i++)
        names[i] = str_of(groups.at[i]);
    scoped(free_scoped) char *name = node ? xasprintf("system:node:%s", node) : xstrdup(user);
    names[groups.n] = STR("system:nodes");
    const struct x509_user who = { .name = str_of(name),
                                   .groups = names,
                                   .n_groups = node ? 1 : groups.n };
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
        r = datadir_user_kubeconfig(d, url, &who, ttl_ms / 1000, &text, &err);
    if (r >= 0 && (r = put(buf_str(&text), &err)) < 0)
        (void)err_ctx(&err, r, "write kubeconfig '%s'", out ? out : "-");
    return r < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_kubeconfig = {
    .name = "kubeconfig",
    .doc = "make a kubeconfig for one more user",
    .help =
        "Signs a client certificate with the cluster's authority: NAME becomes the user, and\n"
        "every --group a group. What they may do is for roles and bindings to say. With --node\n"
        "the user is a node, which may do what its agent needs: see its Node and the pods on it,\n"
        "report their state, and read what these pods refer to. The server need not run, and is\n"
        "not told: such a certificate is good until it ends.\n"
        "\n"
        "  dormouse kubeconfig --user jane --group devs -o jane.kubeconfig\n"
        "  dormouse kubeconfig --user jane -o json | jq -r .clusters[0].cluster.server\n"
        "  kubectl create rolebinding jane --clusterrole=view --user=jane\n"
        "  dormouse kubeconfig --node edge-7 -o edge-7.kubeconfig\n",
    .run = run,
    .opts = kubeconfig_opts,
};
