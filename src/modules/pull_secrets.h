/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registry credentials in Secrets that objects of the same namespace name in their
 * spec.imagePullSecrets: type kubernetes.io/dockerconfigjson, a configuration of oci/credentials.h.
 * Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "codec/json.h"

#define PULL_SECRET_TYPE "kubernetes.io/dockerconfigjson"
#define PULL_SECRET_KEY  ".dockerconfigjson"

enum {
    PULL_SECRETS_MAX = 8,           /* names that one object may list */
    PULL_SECRET_MAX_BYTES = 1 << 20 /* of a configuration */
};

/*
 * The configuration in a Secret, in the arena. type, data: of the object; name: for the error text.
 * Errors: E_INVALID: another type, no such key, or invalid base64.
 */
int pull_secret_text(struct arena *a, struct str name, struct str type, const struct json *data,
                     struct str *ret, struct err *err);

struct pull_secrets;
/*
 * Runs once. r 0: the configurations, in the order of the names, borrowed for the call. Errors:
 * -ENOENT (the Secret does not exist), E_INVALID, E_DENIED (this process may not read it), -EIO.
 */
typedef void (*pull_secrets_cb)(void *arg, int r, const struct str *texts, size_t n,
                                const struct err *err);
/*
 * Read Secrets of one namespace with the transport's own identity. names: at least one, separated
 * by blanks; the first PULL_SECRETS_MAX are used. transport: kept; NULL: E_UNSUPPORTED. Never calls
 * back before it has returned.
 */
int pull_secrets_read(struct transport *transport, const char *namespace, const char *names,
                      pull_secrets_cb cb, void *arg, struct pull_secrets **ret, struct err *err);
/* No callback runs afterwards. NULL is fine. */
void pull_secrets_cancel(struct pull_secrets *p);
