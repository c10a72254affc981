/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the server's own controllers make through its in-process transport. */
#pragma once

#include "api/core.h"

/* r < 0: an error, body is "". Else r is the HTTP status. body: borrowed. */
typedef void (*inner_cb)(void *arg, int r, struct str body);

struct inner_request {
    const char *method;
    struct str target;
    const char *content_type; /* NULL: none */
    const char *accept;       /* NULL: JSON */
    struct str body;
    bool only_status; /* the body of the answer is dropped; the callback gets "" */
};

/* The callback runs once, from the loop. Fails, without a callback, while the server closes. */
int inner_call(struct api *api, const struct inner_request *req, inner_cb cb, void *arg);

/* "/api/v1/namespaces/NS/PLURAL/NAME" and the like; ns and name may be "". In the arena. */
struct str inner_path(struct arena *a, const struct kube_resource *res, struct str ns,
                      struct str name);
