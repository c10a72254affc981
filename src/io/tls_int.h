/* SPDX-License-Identifier: Apache-2.0 */
/* TLS contexts inside io/: one SSL per connection. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "io/tls.h"

#include <openssl/ssl.h>

/* A new connection state; given, SSL_free(). name (client only): for SNI and verification. */
int tls_ctx_ssl(struct tls_ctx *ctx, const char *name, SSL **ret, struct err *err);
/* Offer HTTP/2 as well on a client's connection; call before its handshake. */
void tls_ssl_offer_h2(SSL *ssl);
/*
 * E_TLS with the reason of the failed operation on ssl; empties OpenSSL's error queue. ssl may be
 * NULL.
 */
int tls_error(SSL *ssl, struct err *err);
/* The certificate that the peer of an accepted connection has sent; false: none. */
bool tls_peer_of(SSL *ssl, struct arena *a, struct tls_peer *ret);
/* CN and O of a name; "" where the value is not text. */
struct x509_subject tls_subject_of(const X509_NAME *name, struct arena *a);
