/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Port forwarding: the server's side of one client, over a link, toward ports inside a pod's
 * network namespace. SPDY, plain or in a WebSocket: the client opens two streams for each
 * connection, data and error, with the same port and request id. Channels: two for each port of the
 * request, data 2i and error 2i+1, which begin with the port's number, little endian.
 *
 *     client's stream <--> link <--> pair <--> descriptor connected to the port
 */
#pragma once

#include "agent/stream/choose.h"
#include "io/http.h"

enum {
    STREAM_FORWARD_PORTS_MAX = 64,     /* of one request with channels */
    STREAM_FORWARD_CREATION_MS = 30000 /* from the first to the second stream of a connection */
};

/* fd: a connected socket, taken; negative: err says why there is none. */
typedef void (*stream_dialed_cb)(void *dial, int fd, const struct err *err);

struct stream_port_ops {
    /*
     * Connect to the port on the loopback address of the pod. done(dial, ...) runs exactly once, on
     * a later turn. Errors: done() is not called.
     */
    int (*dial)(void *arg, uint16_t port, stream_dialed_cb done, void *dial, struct err *err);
    /* The client has gone, and all dials are done; `arg` is not used again. May be NULL. */
    void (*close)(void *arg);
};

struct stream_forward_opts {
    struct loop *loop;
    struct http_exchange *x; /* taken */
    const struct stream_choice *choice;
    const uint16_t *ports; /* CHANNELS: of the request; copied */
    size_t n_ports;
    struct str pod, uid;  /* for the words of an error; copied */
    uint64_t creation_ms; /* 0: STREAM_FORWARD_CREATION_MS */
    uint64_t idle_ms;     /* 0: STREAM_LINK_IDLE_MS */
    size_t *count;        /* of open streams: risen by one until the client has gone; NULL: none */
    const struct stream_port_ops *ops;
    void *arg;
};

/* Answers 101. */
void stream_forward_serve(const struct stream_forward_opts *opts);

/*
 * The ports of a query, "port=80,443&port=8080". E_INVALID: the text of a refusal with status 400.
 * E_LIMIT: more than STREAM_FORWARD_PORTS_MAX.
 */
struct url_target;
int stream_forward_ports(const struct url_target *url, uint16_t ret[STREAM_FORWARD_PORTS_MAX],
                         size_t *ret_n, struct err *err);
