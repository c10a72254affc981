/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes requests over HTTP to any cluster: struct transport on the HTTP client, with the
 * credentials of a kubeconfig or of the pod's service account.
 *
 * An identity in a request becomes impersonation headers; without one the transport's own
 * credentials apply. Losing the cluster and reaching it again are each logged once.
 */
#pragma once

#include "client/kubeconfig.h"
#include "client/transport.h"
#include "io/loop.h"

struct http_transport;

enum {
    HTTP_TRANSPORT_CONNECTIONS = 256, /* without HTTP/2 each watch holds one; further calls wait */
    HTTP_TRANSPORT_TOKEN_REFRESH_MS =
        60000, /* a token file that was read longer ago is read again */
    /* A server that does not acknowledge bytes for this long is lost (TCP_USER_TIMEOUT). */
    HTTP_TRANSPORT_USER_TIMEOUT_MS = 20000
};

/* config: copied. Errors: certificates or keys that do not load, an invalid server URL. */
int http_transport_new(struct loop *loop, const struct kubeconfig *config,
                       struct http_transport **ret, struct err *err);
struct transport *http_transport_base(struct http_transport *t);
/*
 * Use another client certificate for calls from now on; running calls keep the old one. The
 * transport must have one. Errors: E_TLS; then nothing has changed.
 */
int http_transport_set_cert(struct http_transport *t, struct str cert_pem, struct str key_pem,
                            struct err *err);
/* Running calls end with -ECANCELED; done() runs after the last of them. */
void http_transport_close(struct http_transport *t, void (*done)(void *arg), void *arg);
