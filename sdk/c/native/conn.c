/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_SILENT_MS 60000 /* a peer that answers no probe for so long is gone */

static char last_why[200];

const char *conn_why(void)
{
    return last_why;
}

static void note_errno(const char *what, int code)
{
    (void)snprintf(last_why, sizeof(last_why), "%s: %s", what, strerrordesc_np(code));
}

static void note_tls(const SSL *ssl)
{
    long verified = SSL_get_verify_result(ssl);
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    if (verified != X509_V_OK)
        reason = X509_verify_cert_error_string(verified);
    (void)snprintf(last_why, sizeof(last_why), "TLS: %s", reason ? reason : "connection broken");
}

static bool add_authorities(SSL_CTX *ctx, const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert;
    bool any = false;
    while (bio && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        any |= X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert) == 1;
        X509_free(cert);
    }
    BIO_free(bio);
    ERR_clear_error(); /* the end of the list */
    return any;
}

static bool use_identity(SSL_CTX *ctx, const char *cert_pem, const char *key_pem)
{
    BIO *cert_bio = BIO_new_mem_buf(cert_pem, -1), *key_bio = BIO_new_mem_buf(key_pem, -1);
    X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
    bool ok = cert && key && SSL_CTX_use_certificate(ctx, cert) == 1 &&
              SSL_CTX_use_PrivateKey(ctx, key) == 1;
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_bio);
    BIO_free(key_bio);
    return ok;
}

SSL_CTX *conn_context(const struct cluster *c, char *why, size_t why_size)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    const char *wrong = NULL;
    if (!ctx)
        wrong = "TLS cannot be initialised";
    else if (!SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION))
        wrong = "TLS 1.2 is not available";
    else if (c->ca_pem && !add_authorities(ctx, c->ca_pem))
        wrong = "the certificate authority is not a PEM certificate";
    else if (!c->ca_pem && !SSL_CTX_set_default_verify_paths(ctx))
        wrong = "the system's certificate authorities cannot be loaded";
    else if (c->cert_pem && c->key_pem && !use_identity(ctx, c->cert_pem, c->key_pem))
        wrong = "the client certificate or its key cannot be used";
    if (wrong) {
        (void)snprintf(why, why_size, "%s", wrong);
        SSL_CTX_free(ctx);
        return NULL;
    }
    SSL_CTX_set_verify(ctx, c->skip_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    return ctx;
}

static int open_socket(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int on = 1, silent_ms = PEER_SILENT_MS;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms, sizeof(silent_ms));
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS) {
        note_errno("connect", errno);
        (void)close(fd);
        return -1;
    }
    return fd;
}

static bool is_address(const char *host)
{
    unsigned char a[16];
    return inet_pton(AF_INET, host, a) == 1 || inet_pton(AF_INET6, host, a) == 1;
}

static SSL *open_tls(SSL_CTX *ctx, int fd, const char *host)
{
    SSL *ssl = SSL_new(ctx);
    if (!ssl)
        return NULL;
    bool named = is_address(host)
                     ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
                     : SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
    if (!named || SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_connect_state(ssl);
    return ssl;
}

int conn_open(struct conn *c, const struct cluster *to, SSL_CTX *ctx)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
    *c = (struct conn){ .fd = -1 };
    int r = getaddrinfo(to->host, to->port, &hints, &list);
    if (r != 0) {
        (void)snprintf(last_why, sizeof(last_why), "look up '%s': %s", to->host, gai_strerror(r));
        return -1;
    }
    for (const struct addrinfo *a = list; a && c->fd < 0; a = a->ai_next)
        c->fd = open_socket(a);
    freeaddrinfo(list);
    if (c->fd < 0)
        return -1;
    c->connecting = c->wants_write = true;
    if (ctx) {
        c->handshaking = true;
        c->ssl = open_tls(ctx, c->fd, to->host);
        if (!c->ssl) {
            conn_close(c);
            return -1;
        }
    }
    return 0;
}

void conn_close(struct conn *c)
{
    SSL_free(c->ssl);
    if (c->fd >= 0)
        (void)close(c->fd);
    *c = (struct conn){ .fd = -1 };
}

/* What an SSL call that did not succeed means here. */
static long tls_result(struct conn *c, int r)
{
    int why = SSL_get_error(c->ssl, r);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
        note_tls(c->ssl);
    ERR_clear_error();
    if (why == SSL_ERROR_WANT_WRITE)
        c->wants_write = true;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return 0;
    return why == SSL_ERROR_ZERO_RETURN ? -2 : -1;
}

/* 1: ready for data, 0: not yet, -1: never. */
static long get_ready(struct conn *c)
{
    if (c->connecting) {
        int failed = 0;
        socklen_t n = sizeof(failed);
        if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &failed, &n) < 0 || failed) {
            note_errno("connect", failed);
            return -1;
        }
        c->connecting = c->wants_write = false;
    }
    if (c->handshaking) {
        c->wants_write = false;
        int r = SSL_do_handshake(c->ssl);
        if (r != 1)
            return tls_result(c, r) == 0 ? 0 : -1;
        c->handshaking = false;
    }
    return 1;
}

long conn_write(struct conn *c, const char *p, size_t n)
{
    long ready = get_ready(c);
    if (ready <= 0)
        return ready;
    c->wants_write = false;
    if (c->ssl) {
        size_t done = 0;
        int r = SSL_write_ex(c->ssl, p, n, &done);
        return r == 1 ? (long)done : tls_result(c, r);
    }
    ssize_t r = send(c->fd, p, n, MSG_NOSIGNAL);
    if (r >= 0)
        return r;
    c->wants_write = errno == EAGAIN;
    note_errno("send", errno);
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

long conn_read(struct conn *c, char *p, size_t n)
{
    long ready = get_ready(c);
    if (ready <= 0)
        return ready;
    if (c->ssl) {
        size_t done = 0;
        int r = SSL_read_ex(c->ssl, p, n, &done);
        return r == 1 ? (long)done : tls_result(c, r);
    }
    ssize_t r = recv(c->fd, p, n, 0);
    if (r > 0)
        return r;
    note_errno("receive", r == 0 ? ECONNRESET : errno);
    if (r == 0)
        return -2;
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
}
