/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that make a cluster, beside where it is and where it listens. */
#pragma once

#include "cmd/cmd.h"
#include "node/server.h"

extern const char *cmd_token_file, *cmd_sa_issuer, *cmd_pod_cidr;
extern uint64_t cmd_event_ttl_ms; /* 0: not given */
extern int cmd_anonymous_auth;    /* -1: not given */
extern struct cmd_list cmd_tls_names;

/* Check the options and copy them to `to`. Returns a cmd_exit if one is invalid, else 0. */
int cmd_take_cluster_opts(struct server_opts *to);

#define CMD_CLUSTER_OPTS                                                                           \
    { "tls-san",                                                                                   \
      0,                                                                                           \
      "NAME|ADDR",                                                                                 \
      "the API's certificate is good for this name or address too; repeatable (this machine's "    \
      "name and the address listened on, with 0.0.0.0 all of its addresses)",                      \
      CMD_LIST,                                                                                    \
      &cmd_tls_names,                                                                              \
      0,                                                                                           \
      0 },                                                                                         \
        { "token-auth-file",                                                                       \
          0,                                                                                       \
          "FILE",                                                                                  \
          "further bearer tokens, one a line: token,user,uid,\"group1,group2\"",                   \
          CMD_STRING,                                                                              \
          &cmd_token_file,                                                                         \
          0,                                                                                       \
          0 },                                                                                     \
        { "service-account-issuer",                                                                \
          0,                                                                                       \
          "URL",                                                                                   \
          "who issues the tokens of service accounts (https://kubernetes.default.svc)",            \
          CMD_STRING,                                                                              \
          &cmd_sa_issuer,                                                                          \
          0,                                                                                       \
          0 },                                                                                     \
        { "pod-cidr",                                                                              \
          0,                                                                                       \
          "CIDR[,CIDR]",                                                                           \
          "addresses of pods, a /24 (IPv6: a /64) for each node; none: nodes get theirs from "     \
          "another controller (up: 10.244.0.0/16, api: none)",                                     \
          CMD_STRING,                                                                              \
          &cmd_pod_cidr,                                                                           \
          0,                                                                                       \
          0 },                                                                                     \
        { "anonymous-auth",                                                                        \
          0,                                                                                       \
          NULL,                                                                                    \
          "a request without credentials is system:anonymous, which may read /version and the "    \
          "server's health; =false: it gets 401",                                                  \
          CMD_BOOL,                                                                                \
          &cmd_anonymous_auth,                                                                     \
          0,                                                                                       \
          0 },                                                                                     \
    {                                                                                              \
        "event-ttl", 0, "TIME", "how long Events are kept (1h)", CMD_DURATION, &cmd_event_ttl_ms,  \
            0, 0                                                                                   \
    }
