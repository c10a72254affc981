/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes and metrics on a TCP port, for the supervisor of the process:
 *
 *     GET /healthz   200 while the loop turns
 *     GET /readyz    200 once the process can do its work, before that 503 with the reason
 *     GET /metrics   Prometheus text; no authentication
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

struct node_health;

struct health_opts {
    struct loop *loop;
    const char *host;
    uint16_t port; /* 0: any free one */
    /* NULL: ready; else text that says what is missing. */
    const char *(*not_ready)(void *arg);
    void (*metrics)(void *arg, struct buf *to);
    void *arg;
};

int health_start(const struct health_opts *opts, struct node_health **ret, struct err *err);
uint16_t health_port(const struct node_health *h);
/* done() runs on a later turn. */
void health_close(struct node_health *h, void (*done)(void *arg), void *arg);
