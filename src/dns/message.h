/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages (RFC 1035, EDNS0 of RFC 6891), by ldns: questions of clients, answers to them,
 * questions to other servers and their answers. Pure.
 *
 * What a peer sends is checked by its header before ldns parses it, so that a message costs a
 * bounded amount of memory and time: docs/internals/dns.md has the figures.
 */
#pragma once

#include "base/buf.h"
#include "base/random.h"
#include "dns/zone.h"

enum {
    DNS_UDP_MIN = 512,  /* bytes of an answer by UDP that every client takes */
    DNS_UDP_MAX = 1232, /* that we send or take at most: it is not fragmented */
    DNS_TCP_MAX = 65535,
    DNS_QUERY_MAX = 4096,               /* bytes of a question */
    DNS_UPSTREAM_MAX = 16 << 10,        /* bytes of another server's answer by TCP */
    DNS_UPSTREAM_RECORDS_MAX = 512,     /* in it */
    DNS_UPSTREAM_TTL_MAX_S = 3600,      /* for which it is kept */
    DNS_UPSTREAM_NEGATIVE_MAX_S = 1800, /* likewise, if it says what there is not */
    DNS_HEADER = 12,                    /* bytes */
    DNS_CLASS_IN = 1
};

enum dns_rcode {
    DNS_NOERROR = 0,
    DNS_FORMERR = 1,
    DNS_SERVFAIL = 2,
    DNS_NXDOMAIN = 3,
    DNS_NOTIMP = 4,
    DNS_REFUSED = 5,
    DNS_BADVERS = 16
};

/* ---- clients ---- */

struct dns_query {
    uint16_t id, type, udp_max; /* udp_max: bytes of an answer by UDP */
    uint8_t opcode;
    bool wants_recursion, has_edns, has_question;
    enum dns_rcode refusal; /* DNS_NOERROR: it is to be answered */
    struct dns_name name;
    char asked[DNS_NAME_MAX]; /* the name with the letters of the client */
};

/*
 * Read a question. false: it is none, and gets no answer. One that is malformed, or that this
 * server does not answer, is read as far as the answer needs it, with `refusal`.
 */
bool dns_query_read(struct str message, struct dns_query *ret);

/* What an answer consists of. Records of `zone` come first, then those of `upstream`. */
struct dns_reply {
    enum dns_rcode rcode;
    const struct dns_answer *zone; /* NULL: none */
    struct str upstream;           /* as dns_upstream_read() gave it; "": none */
    uint32_t age_s;                /* by which the TTLs of upstream are less now */
    struct rng *order;             /* of addresses; NULL: as they are */
};

/*
 * Append the answer, max_bytes at most; what does not fit is marked as truncated and left out.
 * Errors: -EMSGSIZE: not even the question fits (max_bytes is at least DNS_UDP_MIN: never).
 */
int dns_reply_write(const struct dns_query *q, const struct dns_reply *reply, size_t max_bytes,
                    struct buf *to);

/* ---- other servers ---- */

struct dns_question {
    struct str name; /* in the form of messages, in lower case */
    uint16_t type;
};

/* Append a question to another server. */
int dns_upstream_ask(const struct dns_question *q, uint16_t id, struct buf *to);

struct dns_upstream_answer {
    enum dns_rcode rcode;
    bool is_truncated;
    uint32_t ttl_s; /* for which it may be kept; 0: not at all */
};

/*
 * Read the answer to a question and append it in the form that dns_reply_write() takes. Errors:
 * E_PARSE: it is not an answer to this question, and may be a forged one: the real one may still
 * come. E_LIMIT: it is too large.
 */
int dns_upstream_read(struct str message, const struct dns_question *q, uint16_t id, struct buf *to,
                      struct dns_upstream_answer *ret);
