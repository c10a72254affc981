/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes requests over HTTP to any cluster: struct transport on the HTTP client, with the
 * credentials of a kubeconfig or of the pod's service account.
 *
 * An identity in a request becomes impersonation headers; without one the credentials speak. That
 * the cluster is gone, and that it is back, is logged once each.
 */
#pragma once

#include "client/kubeconfig.h"
#include "client/transport.h"
#include "io/loop.h"

struct http_transport;

enum {
    HTTP_TRANSPORT_CONNECTIONS = 256, /* without HTTP/2 each watch holds one; calls beyond wait */
    HTTP_TRANSPORT_TOKEN_REFRESH_MS =
        60000 /* a token file is read again when it was read longer ago */
};

/* config: copied. Errors: certificates or keys that do not load, a server URL that is none. */
int http_transport_new(struct loop *loop, const struct kubeconfig *config,
                       struct http_transport **ret, struct err *err);
struct transport *http_transport_base(struct http_transport *t);
/* Calls still running end with -ECANCELED; done() when they have. */
void http_transport_close(struct http_transport *t, void (*done)(void *arg), void *arg);
