/* SPDX-License-Identifier: Apache-2.0 */
/* Ask a cluster's API from a command: one request after the other, blocking. */
#pragma once

#include "base/buf.h"
#include "client/kubeconfig.h"
#include "cmd/cmd.h"
#include "codec/json.h"

/* Which cluster: rows of a command's table of options, for kube_client_open(). */
#define KUBE_CLIENT_OPTS(args)                                                                     \
    { "kubeconfig",                                                                                \
      0,                                                                                           \
      "FILE",                                                                                      \
      "the cluster (that of the data directory, $KUBECONFIG)",                                     \
      CMD_STRING,                                                                                  \
      &(args).kubeconfig,                                                                          \
      0,                                                                                           \
      0 },                                                                                         \
        { "context", 0, "NAME", "context of the kubeconfig", CMD_STRING, &(args).context, 0, 0 },  \
    {                                                                                              \
        "data-dir", 0, "DIR",                                                                      \
            "data directory of a server on this machine " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING, \
            &(args).data_dir, 0, 0                                                                 \
    }

struct kube_client;

enum { KUBE_CLIENT_TIMEOUT_MS = 30000, KUBE_CLIENT_ANSWER_MAX_BYTES = 64 << 20 };

/*
 * Which cluster a command means. kubeconfig NULL: the file in data_dir; data_dir NULL as well: as
 * kubeconfig_load(), but without $KUBECONFIG the file in the default data directory if there is
 * one. Errors: of kubeconfig_load() and http_transport_new().
 */
int kube_client_config(const char *kubeconfig, const char *context, const char *data_dir,
                       struct kubeconfig **ret, struct err *err);
int kube_client_open(const char *kubeconfig, const char *context, const char *data_dir,
                     struct kube_client **ret, struct err *err);
/* NULL is fine. */
void kube_client_close(struct kube_client *c);
DEFINE_SCOPED(kube_client, kube_client_close)
/* Of the context; "default" where it has none. */
const char *kube_client_namespace(const struct kube_client *c);
/* The client calls the server of this data directory, using the kubeconfig there. */
bool kube_client_is_of(const struct kube_client *c, const char *data_dir);

struct kube_answer {
    int status;
    struct json *body; /* in the arena; NULL: it is no JSON */
};
/*
 * content_type: of the body; NULL: there is none. Errors: -ENOENT for 404, E_CONFLICT for 409,
 * E_DENIED for 401 and 403, E_INVALID for other answers of 400 and more, with the server's message;
 * those of the connection.
 */
int kube_client_ask(struct kube_client *c, struct arena *a, const char *method, const char *target,
                    const char *content_type, struct str body, struct kube_answer *ret,
                    struct err *err);
