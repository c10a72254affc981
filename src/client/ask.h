/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends one request to the Kubernetes API and collects the whole answer. Loop thread only; the
 * callback never runs inside ask_start().
 */
#pragma once

#include "client/transport.h"
#include "codec/json.h"

enum { ASK_ANSWER_MAX_BYTES = 8 << 20 };

struct client_ask;
struct ask_request {
    const char *method;
    struct str target;
    const char *content_type; /* NULL: no body */
    struct str body;          /* all borrowed */
};
/*
 * status: HTTP status of the answer; 0: there was no answer, and err says why. body: the answer as
 * received. json: NULL unless the body is JSON. All borrowed.
 */
typedef void (*ask_cb)(void *arg, int status, struct str body, const struct json *json,
                       const struct err *err);

int ask_start(struct transport *t, const struct kube_identity *identity,
              const struct ask_request *rq, ask_cb cb, void *arg, struct client_ask **ret,
              struct err *err);
/* Cancels the request: the callback does not run any more. NULL is fine. */
void ask_cancel(struct client_ask *a);
