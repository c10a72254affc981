/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to the API server, plain or TLS, non-blocking. Owned by client.c. */
#pragma once

#include "cluster.h"
#include "dm/text.h"

#include <openssl/ssl.h>
#include <stdbool.h>

struct conn {
    int fd;
    SSL *ssl;        /* NULL: plain */
    bool connecting; /* TCP */
    bool handshaking;
    bool wants_write; /* what to poll for beside reading */
};

/* Returns NULL when the cluster's certificates are of no use (the reason goes to `why`). */
SSL_CTX *conn_context(const struct cluster *c, char *why, size_t why_size);

/* Why the last call of conn_open(), conn_write() or conn_read() failed, for a person. */
const char *conn_why(void);

/* Begin to connect. ctx is NULL for plain connections. -1 on failure. */
int conn_open(struct conn *c, const struct cluster *to, SSL_CTX *ctx);
void conn_close(struct conn *c);

/* Bytes moved; 0 for "not now"; -1 when the connection is broken; conn_read: -2 when the peer
 * closed it. */
long conn_write(struct conn *c, const char *p, size_t n);
long conn_read(struct conn *c, char *p, size_t n);
