/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse join: this machine becomes a node of a cluster. */
#include "base/mem.h"
#include "cmd/agent_opts.h"
#include "cmd/cmd.h"
#include "cmd/host_opts.h"
#include "node/server.h"

#include <stdlib.h>

static const char *data_dir, *token, *ca_file, *ca_hash;
static const char *cluster_key, *image_store;
static struct cmd_list image_registries;
static uint64_t cert_ms;

static const struct cmd_opt opts[] = {
    { "token", 0, "ID.SECRET",
      "a bootstrap token ('dormouse token create'; $DORMOUSE_JOIN_TOKEN); needed until the machine "
      "has joined",
      CMD_STRING, &token, 0, 0 },
    { "ca-hash", 0, "sha256:HEX", "the key that the cluster's CA must have (the token is proof)",
      CMD_STRING, &ca_hash, 0, 0 },
    { "ca-file", 0, "FILE", "the cluster's CA, instead of asking for it", CMD_STRING, &ca_file, 0,
      0 },
    { "data-dir", 0, "DIR", "credentials and what pods leave; a process each " CMD_DATA_DIR_DEFAULT,
      CMD_STRING, &data_dir, 0, 0 },
    CMD_SECTION("Node"),
    CMD_AGENT_OPTS(""),
    { "cluster-key-file", 0, "FILE",
      "the key with which nodes share images (that of the cluster, if 'up --share-images' made "
      "one)",
      CMD_STRING, &cluster_key, 0, 0 },
    { "certificate-lifetime", 0, "TIME",
      "asked for; renewed after 70 to 90 percent of it (as long as the cluster gives: a year)",
      CMD_DURATION, &cert_ms, 0, 0 },
    CMD_SECTION("Images"),
    { "image-registry", 0, "HOST[:PORT]",
      "images of pods may come from here alone: a name, .suffix or address, wherever it is; * any "
      "at a public address; repeatable (*)",
      CMD_LIST, &image_registries, 0, 0 },
    CMD_REGISTRY_OPTS,
    { "image-store", 0, "DIR", "of images ($DORMOUSE_IMAGE_STORE, or images in the data directory)",
      CMD_STRING, &image_store, 0, 0 },
    CMD_SECTION("Log"),
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *join_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_join, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n == 0)
        return cmd_failf(CMD_USAGE, "which cluster? 'dormouse join https://HOST:6443 --token T'");
    if ((r = cmd_setup_log()) != 0)
        return r;
    if (cert_ms && (cert_ms < 600000 || cert_ms / 1000 > INT32_MAX))
        return cmd_failf(CMD_USAGE, "--certificate-lifetime is from 10m on");
    scoped(free_scoped) char *dir = cmd_data_dir(data_dir);
    struct server_opts server = {
        .data_dir = dir,
        .join = { .server = argv[0],
                  .token = token ? token : getenv("DORMOUSE_JOIN_TOKEN"),
                  .ca_file = ca_file,
                  .ca_hash = ca_hash },
    };
    r = cmd_take_agent_opts(&server.agent, false);
    if (r)
        return r;
    server.images = cmd_image_opts(image_store, &image_registries);
    server.agent.cluster_key_file = cluster_key;
    server.agent.wanted = AGENT_NODE_YES;
    server.agent.cert_s = (uint32_t)(cert_ms / 1000);
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_join = {
    .name = "join",
    .args = "URL",
    .doc = "make this machine a node of a cluster",
    .help =
        "The token proves the cluster to the machine, and the machine to the cluster, which gives\n"
        "it a certificate. Later starts need neither the token nor its proofs. Prints\n"
        "'ready data-dir=... node=...' once the node is registered; SIGTERM ends it, and leaves "
        "the\n"
        "node in the cluster ('kubectl delete node NAME' removes it).\n"
        "\n"
        "  dormouse join https://10.0.0.1:6443 --token abcdef.0123456789abcdef\n"
        "  dormouse join https://10.0.0.1:6443       # every other time\n",
    .run = run,
    .opts = join_opts,
};
