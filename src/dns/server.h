/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DNS server's sockets: UDP and TCP (RFC 7766, several questions at a time on a connection) on
 * one port of some addresses. It reads questions and writes answers; who owns it finds them.
 *
 * Only listed networks are answered, at a limited rate each and in total; beyond the latter it
 * stops reading for a moment, and the kernel drops what its buffer does not hold. While there are
 * no connections, no timer is armed.
 *
 * Loop thread only.
 */
#pragma once

#include "dns/message.h"
#include "io/loop.h"

enum {
    DNS_SERVER_IPS_MAX = 2,
    DNS_SERVER_CLIENTS_MAX = 8,           /* networks */
    DNS_SERVER_RATE = 50000,              /* questions a second; a tenth of them at once */
    DNS_SERVER_CLIENT_RATE = 10000,       /* likewise, of one address; a fifth of them at once */
    DNS_SERVER_PAUSE_MS = 5,              /* without reading, once the rate is reached */
    DNS_SERVER_REQUESTS_MAX = 2048,       /* without an answer yet; further questions are dropped */
    DNS_SERVER_CLIENT_REQUESTS_MAX = 128, /* likewise, of one address */
    DNS_SERVER_CONNS_MAX = 128,           /* by TCP; further ones are closed */
    DNS_SERVER_CLIENT_CONNS_MAX = 16,     /* of one address */
    DNS_SERVER_CONN_REQUESTS_MAX = 16,    /* without an answer, of a connection; it is not read
                                             meanwhile */
    DNS_SERVER_CONN_OUT_MAX = 128 << 10,  /* bytes that the client has not taken; likewise */
    DNS_SERVER_IDLE_MS = 10000 /* a connection without a whole question for so long is closed */
};

struct dns_server;
struct dns_request;

struct dns_server_opts {
    struct loop *loop;
    const struct address *ips; /* copied; they need not be there yet */
    size_t n_ips;
    uint16_t port;                     /* 0: any */
    const struct address_net *clients; /* copied; besides the ips themselves */
    size_t n_clients;
    uint32_t client_rate; /* 0: DNS_SERVER_CLIENT_RATE */
    /* A question, whose answer may be given at once. Its refusal is DNS_NOERROR. */
    void (*ask)(void *arg, struct dns_request *rq);
    void *arg;
};

/* Errors: E_LIMIT; those of sockets, -EADDRINUSE: another server has the port. */
int dns_server_start(const struct dns_server_opts *opts, struct dns_server **ret, struct err *err);
void dns_server_set_clients(struct dns_server *s, const struct address_net *clients, size_t n);
uint16_t dns_server_port(const struct dns_server *s);
/* All requests have an answer. done: once, on a later turn. */
void dns_server_close(struct dns_server *s, void (*done)(void *arg), void *arg);

struct dns_server_counts {
    uint64_t n_answered, n_dropped; /* questions; dropped: beyond limits, or of other networks */
    size_t n_requests, n_conns;
};
struct dns_server_counts dns_server_counts(const struct dns_server *s);

/* Borrowed until the answer. */
const struct dns_query *dns_request_query(const struct dns_request *rq);
struct arena *dns_request_arena(struct dns_request *rq);
/* For who answers. */
void dns_request_set(struct dns_request *rq, void *data);
void *dns_request_data(const struct dns_request *rq);
/* Send the answer, and free the request. Once for each. */
void dns_request_answer(struct dns_request *rq, const struct dns_reply *reply);
