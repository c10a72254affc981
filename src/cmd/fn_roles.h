/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that run roles of functions, and the struct that they fill. */
#pragma once

#include "cmd/cmd.h"
#include "node/functions.h"

enum { FN_ADDRESS_MAX = 256 };

struct fn_role_args {
    const char *tls_cert, *tls_key, *tls_ca;
    const char *name, *token_file, *trace_dir, *placement, *eviction;
    const char *gateway, *gateway_advertise, *cert, *key, *domain;
    const char *control, *control_advertise, *worker, *worker_advertise;
    struct cmd_list control_planes, labels, bundles, image_registries, worker_networks;
    const char *subnet, *image_store;
    uint64_t simulate, cpu, memory, lease_ms, peer_lease_ms;
    bool is_alone; /* a process of one role: its address is that of --listen */
    bool persist_sandboxes, private_urls, unlimited_containers;
    char gateway_host[FN_ADDRESS_MAX], control_host[FN_ADDRESS_MAX], worker_host[FN_ADDRESS_MAX];
};
extern struct fn_role_args fn_role;

/* All of the above into `to`; a cmd_exit when something is wrong, else 0. */
int fn_role_options(struct functions_opts *to);

#define FN_COMMON_OPTS                                                                             \
    { "name",     0,                                                                               \
      "NAME",     "of this node; kept in DIR/worker.json (host name and a number)",                \
      CMD_STRING, &fn_role.name,                                                                   \
      0,          0 },                                                                             \
        { "token-file",                                                                            \
          0,                                                                                       \
          "FILE",                                                                                  \
          "holds the token that roles in different processes present to each other; needed "       \
          "beyond loopback",                                                                       \
          CMD_STRING,                                                                              \
          &fn_role.token_file,                                                                     \
          0,                                                                                       \
          0 },                                                                                     \
        { "tls-cert", 0,                                                                           \
          "FILE",     "roles speak TLS to each other: certificate of this process",                \
          CMD_STRING, &fn_role.tls_cert,                                                           \
          0,          0 },                                                                         \
        { "tls-key", 0, "FILE", "and its key", CMD_STRING, &fn_role.tls_key, 0, 0 },               \
        { "tls-ca",   0,                                                                           \
          "FILE",     "and the authority that signs the certificates of the others",               \
          CMD_STRING, &fn_role.tls_ca,                                                             \
          0,          0 },                                                                         \
    {                                                                                              \
        "trace-dir", 0, "DIR", "write cold_start_trace.csv and proxy_trace.csv there (nowhere)",   \
            CMD_STRING, &fn_role.trace_dir, 0, 0                                                   \
    }

#define FN_CONTROL_OPTS                                                                            \
    { "persist-sandboxes",                                                                         \
      0,                                                                                           \
      NULL,                                                                                        \
      "write each to the API before it is used (to measure)",                                      \
      CMD_FLAG,                                                                                    \
      &fn_role.persist_sandboxes,                                                                  \
      0,                                                                                           \
      0 },                                                                                         \
        { "placement",                                                                             \
          0,                                                                                       \
          "POLICY",                                                                                \
          "warm-first, kubernetes, power-of-d, image-locality, hermod, ch-rlu, round-robin or "    \
          "random "                                                                                \
          "(warm-first)",                                                                          \
          CMD_STRING,                                                                              \
          &fn_role.placement,                                                                      \
          0,                                                                                       \
          0 },                                                                                     \
        { "eviction", 0,                                                                           \
          "POLICY",   "which sandbox goes first: idlest or random (idlest)",                       \
          CMD_STRING, &fn_role.eviction,                                                           \
          0,          0 },                                                                         \
        { "worker-network",                                                                        \
          0,                                                                                       \
          "NETWORK",                                                                               \
          "10.0.0.0/8, an address or a host name that workers and gateways may have beside the "   \
          "address that they connect from; repeatable (none)",                                     \
          CMD_LIST,                                                                                \
          &fn_role.worker_networks,                                                                \
          0,                                                                                       \
          0 },                                                                                     \
    {                                                                                              \
        "peer-lease", 0, "TIME",                                                                   \
            "a gateway or worker that is silent for this long counts as dead (1500ms)",            \
            CMD_DURATION, &fn_role.peer_lease_ms, 0, 0                                             \
    }

#define FN_GATEWAY_OPTS                                                                            \
    { "gateway-cert",                                                                              \
      0,                                                                                           \
      "FILE",                                                                                      \
      "serve functions by HTTPS with this certificate (HTTP)",                                     \
      CMD_STRING,                                                                                  \
      &fn_role.cert,                                                                               \
      0,                                                                                           \
      0 },                                                                                         \
        { "gateway-key", 0, "FILE", "and its key", CMD_STRING, &fn_role.key, 0, 0 },               \
        { "domain",   0,                                                                           \
          "NAME",     "functions are NAME.NAMESPACE.DOMAIN, too (fn.local)",                       \
          CMD_STRING, &fn_role.domain,                                                             \
          0,          0 },                                                                         \
    {                                                                                              \
        "private-callbacks", 0, NULL,                                                              \
            "callbacks of asynchronous calls may go to private addresses", CMD_FLAG,               \
            &fn_role.private_urls, 0, 0                                                            \
    }

#define FN_WORKER_OPTS                                                                             \
    { "bundles", 0,                                                                                \
      "DIR",     "Functions may name OCI bundles below it; repeatable (none)",                     \
      CMD_LIST,  &fn_role.bundles,                                                                 \
      0,         0 },                                                                              \
        { "image-registry",                                                                        \
          0,                                                                                       \
          "HOST[:PORT]",                                                                           \
          "Functions may be images of it; .SUFFIX, or * for any at a public address; "             \
          "repeatable (none)",                                                                     \
          CMD_LIST,                                                                                \
          &fn_role.image_registries,                                                               \
          0,                                                                                       \
          0 },                                                                                     \
        { "image-store",        0, "DIR", "of images (images in the data directory)", CMD_STRING,  \
          &fn_role.image_store, 0, 0 },                                                            \
        { "subnet",                                                                                \
          0,                                                                                       \
          "A.B.0.0/16",                                                                            \
          "addresses of containers (10.213.0.0/16)",                                               \
          CMD_STRING,                                                                              \
          &fn_role.subnet,                                                                         \
          0,                                                                                       \
          0 },                                                                                     \
        { "unlimited-containers",                                                                  \
          0,                                                                                       \
          NULL,                                                                                    \
          "run containers also where control groups cannot limit them",                            \
          CMD_FLAG,                                                                                \
          &fn_role.unlimited_containers,                                                           \
          0,                                                                                       \
          0 },                                                                                     \
        { "cpu",   0,                                                                              \
          "MILLI", "CPU that sandboxes may reserve, in thousandths (all)",                         \
          CMD_U64, &fn_role.cpu,                                                                   \
          0,       100000000 },                                                                    \
        { "memory", 0, "SIZE", "and memory (all)", CMD_SIZE, &fn_role.memory, 0, 0 },              \
    {                                                                                              \
        "label", 0, "KEY=VALUE", "of this node, for node selectors; repeatable", CMD_LIST,         \
            &fn_role.labels, 0, 0                                                                  \
    }
