/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that make a cluster, beside where it is and where it listens. */
#pragma once

#include "cmd/cmd.h"

extern const char *cmd_token_file, *cmd_sa_issuer;
extern uint64_t cmd_event_ttl_ms; /* 0: not given */

#define CMD_CLUSTER_OPTS                                                                           \
    { "token-auth-file",                                                                           \
      0,                                                                                           \
      "FILE",                                                                                      \
      "further bearer tokens, one a line: token,user,uid,\"group1,group2\"",                       \
      CMD_STRING,                                                                                  \
      &cmd_token_file,                                                                             \
      0,                                                                                           \
      0 },                                                                                         \
        { "service-account-issuer",                                                                \
          0,                                                                                       \
          "URL",                                                                                   \
          "who issues the tokens of service accounts (https://kubernetes.default.svc)",            \
          CMD_STRING,                                                                              \
          &cmd_sa_issuer,                                                                          \
          0,                                                                                       \
          0 },                                                                                     \
    {                                                                                              \
        "event-ttl", 0, "TIME", "how long Events are kept (1h)", CMD_DURATION, &cmd_event_ttl_ms,  \
            0, 0                                                                                   \
    }
