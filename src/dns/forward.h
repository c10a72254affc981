/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about names outside of the cluster: to the servers that are given, else to those of the
 * machine's resolv.conf, which is read again when it has changed; names of stub zones to the
 * servers of these. Answers are cached. Equal questions wait for one answer.
 *
 * A server of our own is never asked. While no question waits, no timer is armed.
 *
 * Loop thread only.
 */
#pragma once

#include "dns/cache.h"
#include "io/loop.h"

enum {
    DNS_FORWARD_SERVERS_MAX = 3, /* of a zone, as in resolv.conf; further ones are left out */
    DNS_FORWARD_STUBS_MAX = 16,
    DNS_FORWARD_CALLS_MAX = 256,   /* questions that other servers are asked at a time */
    DNS_FORWARD_WAITERS_MAX = 1024 /* that wait for them */
};

struct dns_servers {
    struct sockaddr_storage at[DNS_FORWARD_SERVERS_MAX];
    size_t n;
};

/* Add "10.0.0.1", "10.0.0.1:5353", "fd00::1" or "[fd00::1]:53". Errors: E_INVALID, E_LIMIT. */
int dns_servers_add(struct dns_servers *s, struct str text, struct err *err);

struct dns_stub {
    struct dns_name zone;
    struct dns_servers servers;
};
/* Read "ZONE=ADDR[,ADDR...]". Errors: E_INVALID, E_LIMIT. */
int dns_stub_parse(struct str text, struct dns_stub *ret, struct err *err);

struct dns_forward_opts {
    struct loop *loop;
    struct dns_servers servers;   /* none: those of resolv_conf */
    const char *resolv_conf;      /* kept; NULL: /etc/resolv.conf */
    const struct dns_stub *stubs; /* kept */
    size_t n_stubs;
    const struct address *own; /* kept; servers with one of these addresses and the port are left
                                  out */
    size_t n_own;
    uint16_t own_port;
};

struct dns_forward_answer {
    enum dns_rcode rcode;
    struct str message; /* for struct dns_reply; "": none */
    uint32_t age_s;
};

struct dns_waiter {
    struct list node;
    /* Once, from the loop, or when the forwarder ends. The answer is borrowed. */
    void (*done)(struct dns_waiter *w, const struct dns_forward_answer *answer);
};

struct dns_forward;

struct dns_forward *dns_forward_new(const struct dns_forward_opts *opts);
/* Those who wait get DNS_SERVFAIL. */
void dns_forward_free(struct dns_forward *f);
/*
 * 1: *ret is the answer, from the cache. 0: w->done() will run; w is kept until then. Errors:
 * E_LIMIT: too many questions wait. E_UNSUPPORTED: there is no server to ask. Those of sockets.
 */
int dns_forward_ask(struct dns_forward *f, const struct dns_question *q, struct dns_waiter *w,
                    struct dns_forward_answer *ret);
/* Questions that other servers are asked now. */
size_t dns_forward_calls(const struct dns_forward *f);
