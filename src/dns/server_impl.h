/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the server share: server.c has UDP and limits, server_tcp.c connections. */
#pragma once

#include "base/token_bucket.h"
#include "dns/server.h"
#include "io/stream.h"

enum { SERVER_BUCKETS = 256 };

/* One address. */
struct server_socket {
    struct dns_server *server;
    struct address ip;
    uv_udp_t udp;
    uv_tcp_t tcp;
};

struct dns_server {
    struct loop *loop;
    struct server_socket sockets[DNS_SERVER_IPS_MAX];
    size_t n_sockets;
    uint16_t port;
    struct address_net clients[DNS_SERVER_CLIENTS_MAX];
    size_t n_clients;
    uint32_t client_rate;
    void (*ask)(void *arg, struct dns_request *rq);
    void *arg;
    struct token_bucket all, buckets[SERVER_BUCKETS]; /* by the hash of an address */
    uint16_t n_waiting[SERVER_BUCKETS];               /* requests without an answer; likewise */
    unsigned admitted; /* bucket of the question that was admitted last */
    uint64_t seed;
    struct timer pause; /* armed: UDP is not read */
    struct list conns;
    struct dns_server_counts counts;
    unsigned n_open; /* handles, and connections */
    bool is_closing;
    struct defer end;
    void (*done)(void *arg);
    void *done_arg;
    struct buf out; /* an answer */
    char in[DNS_QUERY_MAX];
};

struct server_conn;

struct dns_request {
    struct list node; /* of its connection */
    struct dns_server *server;
    struct server_socket *socket; /* by UDP */
    struct server_conn *conn;     /* by TCP; both NULL: its connection has ended */
    struct sockaddr_storage peer;
    unsigned bucket; /* of its client */
    struct dns_query query;
    struct arena arena;
    void *data;
};

/* Whether this client is answered now; counts the question. */
bool dns_server_admits(struct dns_server *s, const struct address *client);
/* The question that was admitted just now. false: it was dropped. */
bool dns_server_take(struct dns_server *s, struct server_socket *socket, struct server_conn *conn,
                     const struct sockaddr *peer, struct str message);
/* A handle or connection is gone. */
void dns_server_part_closed(struct dns_server *s);

/* ---- server_tcp.c ---- */

void dns_server_on_connection(uv_stream_t *listener, int status);
void dns_server_close_conns(struct dns_server *s);
/* The request is answered with the bytes in server->out. */
void dns_server_conn_answer(struct server_conn *c, struct dns_request *rq);
void dns_server_conn_add(struct server_conn *c, struct dns_request *rq);
