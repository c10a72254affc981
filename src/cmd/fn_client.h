/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands for users of functions have in common. Blocking. */
#pragma once

#include "base/buf.h"
#include "cmd/kube_client.h"
#include "codec/headers.h"

#define FN_FUNCTIONS "/apis/dormouse.dev/v1alpha1/namespaces/%s/functions"

/* Where the cluster and the function are; the first rows of a command's table of options. */
struct fn_args {
    const char *kubeconfig, *context, *data_dir, *in_namespace, *gateway, *output;
};
#define FN_ARGS_OPTS(args)                                                                         \
    KUBE_CLIENT_OPTS(args),                                                                        \
    {                                                                                              \
        "namespace", 'n', "NS", "of the function (that of the context, default)", CMD_STRING,      \
            &(args).in_namespace, 0, 0                                                             \
    }
#define FN_GATEWAY_OPT(args)                                                                       \
    {                                                                                              \
        "gateway", 0, "HOST:PORT",                                                                 \
            "where functions are called ($DORMOUSE_GATEWAY, that of the function's status, or of " \
            "the server of --data-dir)",                                                           \
            CMD_STRING, &(args).gateway, 0, 0                                                      \
    }

/* A DNS label. */
bool fn_is_name(const char *s);
/* The client of the cluster, and the namespace. Prints what is wrong; a cmd_exit, or 0. */
int fn_open(const struct fn_args *args, struct kube_client **ret, const char **ret_namespace);

/*
 * "HOST:PORT" of the gateway where a function is called: the one given, $DORMOUSE_GATEWAY, the one
 * that the Function's status names, or with --data-dir or without `c` that of the server on this
 * machine. Given; NULL and err: none is known, or (E_INVALID) there is no such function.
 */
char *fn_gateway(const struct fn_args *args, struct kube_client *c, const char *namespace,
                 const char *name, struct err *err);

struct fn_request {
    const char *gateway, *namespace, *name;
    struct str method, path; /* path and query, of the function: "/..." */
    const struct headers *headers;
    struct str body;
    uint64_t timeout_ms; /* to the head of the answer */
    int silent_status;   /* the body of an answer with this status is dropped; 0: none is */
};
/*
 * Call a function; the answer's body goes to `fd` as it comes. Fields of the answer are given, and
 * kept by the caller. Errors: those of the connection. Returns the status.
 */
int fn_call(const struct fn_request *q, int fd, struct headers *ret, struct err *err);
