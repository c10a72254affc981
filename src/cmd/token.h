/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands for bootstrap tokens have in common. Blocking. */
#pragma once

#include "cmd/kube_client.h"

#define TOKEN_SECRETS "/api/v1/namespaces/kube-system/secrets"

struct token_args {
    const char *kubeconfig, *context, *data_dir, *output;
};
#define TOKEN_OUTPUT_OPT(args)                                                                     \
    {                                                                                              \
        "output", 'o', "FORMAT", "text or json (text)", CMD_STRING, &(args).output, 0, 0           \
    }

/* Whether --output is json. Prints what is wrong; a cmd_exit, or 0. */
int token_wants_json(const struct token_args *args, bool *ret);
/* The client of the cluster. Prints what is wrong; a cmd_exit, or 0. */
int token_open(const struct token_args *args, struct kube_client **ret);
/*
 * The token of this Secret: token, expires (absent: never), usages, description, groups. NULL: the
 * Secret holds none that the server accepts, whether expired or not.
 */
struct json *token_json(struct arena *a, const struct json *secret);
