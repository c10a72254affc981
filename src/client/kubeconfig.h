/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of a cluster and our credentials for it: one context of a kubeconfig file, or the
 * service account that Kubernetes mounts into a pod.
 *
 * Credential plug-ins (user.exec, auth-provider), proxies, and impersonation of anything beyond a
 * user name are refused with a clear error.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

enum { KUBECONFIG_MAX_BYTES = 4 << 20 };

/* All owned; NULL where absent. PEM texts, not file names. */
struct kubeconfig {
    char *server; /* "https://127.0.0.1:6443" */
    char *ca_pem;
    char *client_cert_pem, *client_key_pem;
    char *token, *token_file; /* token_file is read again regularly */
    char *username, *password;
    char *namespace; /* of the context */
    char *tls_server_name;
    char *impersonate_user;
    bool insecure;
};

/*
 * path NULL: $KUBECONFIG (the first file of the list that exists), else ~/.kube/config, else the
 * pod's service account (its directory, or $DORMOUSE_SERVICE_ACCOUNT). context NULL:
 * current-context. Relative file names in the file are relative to its directory. Errors: -ENOENT
 * with the places that were searched; E_PARSE with the line; E_INVALID: a context, cluster or user
 * that the file does not define.
 */
int kubeconfig_load(const char *path, const char *context, struct kubeconfig **ret,
                    struct err *err);
void kubeconfig_free(struct kubeconfig *c);
DEFINE_SCOPED(kubeconfig, kubeconfig_free)

/*
 * Append a kubeconfig in YAML with one cluster, one user and the context "dormouse". It has server,
 * ca_pem and tls_server_name, and the token or the client certificate with its key: `c` has no
 * other credentials, and is not insecure. `user` is the name of the user's entry. -EMSGSIZE: it
 * does not fit into `to`.
 */
int kubeconfig_write(const struct kubeconfig *c, struct str user, struct buf *to);
