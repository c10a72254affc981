/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP server: listener, limits, idle connections, shutdown; see http.h. The first bytes of a
 * connection, or ALPN, decide its protocol, which http1_server.c or http2_server.c then handles
 * through struct conn_kind.
 */
#include "io/http_server_int.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    LINGER_MS = 2000,             /* for the peer to read the end of the output before the close */
    LINGER_MAX_BYTES = 256 << 10, /* of input that is discarded meanwhile */
    BACKLOG = 1024
};

static const struct sm_state server_table[] = {
    [HTTP_SERVER_OPEN] = { "open", EDGE(HTTP_SERVER_DRAINING) | EDGE(HTTP_SERVER_CLOSING) },
    [HTTP_SERVER_DRAINING] = { "draining", EDGE(HTTP_SERVER_CLOSING) },
    [HTTP_SERVER_CLOSING] = { "closing", 0 },
};

static void move(struct http_server *srv, enum http_server_at to)
{
    assert(sm_is_edge(server_table, srv->at, to));
    srv->at = to;
}

/* ------------------------------------------------------------------ which HTTP */

/*
 * With TLS, ALPN tells the protocol. In clear text HTTP/2 begins with its preface (prior knowledge,
 * RFC 9113 section 3.3), of which three bytes are enough, because no method begins with them. They
 * are consumed one by one and replayed, so that nothing has to be held.
 */
static const char preface[] = "PRI";
enum { PREFACE_BYTES = sizeof preface - 1 };

static void decide(struct conn *c, const struct conn_kind *kind)
{
    assert(c->at == CONN_NEW);
    c->at = CONN_SPEAKING;
    timer_stop(c->srv->loop, &c->linger);
    c->kind = kind;
    kind->open(c);
}

static bool alpn_is_h2(SSL *ssl)
{
    const unsigned char *name;
    unsigned n;
    SSL_get0_alpn_selected(ssl, &name, &n);
    return str_is(str_n((const char *)name, n), "h2");
}

/* Returns the bytes consumed while the protocol is undecided. */
static size_t sniff(struct conn *c, const char *p, size_t n)
{
    size_t used = 0;
    if (c->s.ssl || !c->srv->http2) {
        decide(c, c->s.ssl && alpn_is_h2(c->s.ssl) ? &http2_kind : &http1_kind);
        return 0;
    }
    while (used < n && c->n_sniffed < PREFACE_BYTES && p[used] == preface[c->n_sniffed]) {
        c->n_sniffed++;
        used++;
    }
    if (used == n && c->n_sniffed < PREFACE_BYTES)
        return used;
    decide(c, c->n_sniffed == PREFACE_BYTES ? &http2_kind : &http1_kind);
    size_t again = c->n_sniffed;
    if (again && c->kind->data(c, preface, again) != again)
        stream_close(&c->s);
    return used;
}

/* ------------------------------------------------------------------ from the stream */

static size_t on_data(struct stream *s, const char *p, size_t n)
{
    struct conn *c = container_of(s, struct conn, s);
    if (c->at == CONN_LINGERING) {
        c->lingered += n;
        if (c->lingered > LINGER_MAX_BYTES)
            stream_close(s);
        return n;
    }
    size_t used = c->at == CONN_NEW ? sniff(c, p, n) : 0;
    if (stream_is_closing(s) || (used == n && n))
        return n;
    return used + c->kind->data(c, p + used, n - used);
}

static void on_eof(struct stream *s)
{
    struct conn *c = container_of(s, struct conn, s);
    if (c->at == CONN_LINGERING)
        stream_close(s);
    else
        c->kind->eof(c);
}

/* ------------------------------------------------------------------ the end of a connection */

/* The peer did not read the end of the output; or, before any byte, nothing arrived: perhaps a
 * connection that was opened in advance. */
static void on_linger(struct timer *t)
{
    stream_close(&container_of(t, struct conn, linger)->s);
}

/*
 * Everything was written: end our direction, and read until the peer ends its own, because closing
 * with unread bytes makes the kernel discard output that the peer has not read yet (RFC 9112
 * section 9.6).
 */
void http_conn_retire(struct conn *c)
{
    if (c->at == CONN_LINGERING || stream_is_closing(&c->s))
        return;
    if (stream_is_at_eof(&c->s)) {
        stream_close(&c->s);
        return;
    }
    assert(c->at == CONN_SPEAKING);
    c->at = CONN_LINGERING;
    c->s.read_max = 0;
    stream_finish(&c->s);
    stream_resume(&c->s);
    timer_start(c->srv->loop, &c->linger, LINGER_MS, on_linger);
}

/* ------------------------------------------------------------------ connections */

static void on_idle_timer(struct timer *t);

/* One timer for all idle connections, rounded up, so that many of them end in one wake-up. */
static void arm_idle_timer(struct http_server *srv)
{
    if (timer_is_armed(&srv->idle_timer) || list_is_empty(&srv->idle))
        return;
    uint64_t due = list_first(&srv->idle, struct conn, node)->idle_since + srv->keepalive_ms;
    uint64_t now = loop_now_ms(srv->loop), wait = due > now ? due - now : 0;
    timer_start(srv->loop, &srv->idle_timer, wait + srv->keepalive_ms / 3, on_idle_timer);
}

static void on_idle_timer(struct timer *t)
{
    struct http_server *srv = container_of(t, struct http_server, idle_timer);
    uint64_t now = loop_now_ms(srv->loop);
    list_each_safe (node, &srv->idle) {
        struct conn *c = list_entry(node, struct conn, node);
        if (c->idle_since + srv->keepalive_ms > now)
            break;
        c->kind->expire(c);
    }
    http1_trim_spares(srv, false);
    arm_idle_timer(srv);
}

void http_conn_rest(struct conn *c)
{
    struct http_server *srv = c->srv;
    assert(c->at == CONN_SPEAKING);
    c->idle_since = loop_now_ms(srv->loop);
    list_remove(&c->node);
    list_push_back(&srv->idle, &c->node);
    arm_idle_timer(srv);
}

void http_conn_busy(struct conn *c)
{
    list_remove(&c->node);
    list_push_back(&c->srv->busy, &c->node);
}

static void on_settled(struct stream *s)
{
    struct conn *c = container_of(s, struct conn, s);
    if (c->at != CONN_LINGERING)
        c->kind->settled(c);
}

static void on_error(struct stream *s, int r, const struct err *err)
{
    struct conn *c = container_of(s, struct conn, s);
    log_debug("connection lost", "peer=%s reason=\"%s\"", c->peer, err_text(err));
    c->kind->lost(c, r == -EPIPE ? -ECONNRESET : r);
    stream_close(s);
}

/* ------------------------------------------------------------------ handshakes */

static void leave_shaking(struct conn *c)
{
    if (list_is_linked(&c->shake)) {
        assert(c->srv->n_shaking > 0);
        c->srv->n_shaking--;
    }
    list_remove(&c->shake);
}

/* The oldest unfinished handshake is cut in favour of new ones. */
static void on_hello(struct stream *s)
{
    struct conn *c = container_of(s, struct conn, s);
    struct http_server *srv = c->srv;
    list_push_back(&srv->shaking, &c->shake);
    if (srv->n_shaking++ < HTTP_HANDSHAKES_MAX)
        return;
    struct conn *oldest = list_first(&srv->shaking, struct conn, shake);
    leave_shaking(oldest);
    if (oldest->s.at == STREAM_OPENING)
        stream_close(&oldest->s);
}

/* ------------------------------------------------------------------ the life of a connection */

static void accept_one(struct http_server *srv);
static void server_check_done(struct http_server *srv);

static void on_conn_closed(struct stream *s)
{
    struct conn *c = container_of(s, struct conn, s);
    struct http_server *srv = c->srv;
    c->kind->lost(c, -ECANCELED);
    c->kind->release(c);
    timer_stop(srv->loop, &c->linger);
    leave_shaking(c);
    list_remove(&c->node);
    free(c);
    assert(srv->n_conns > 0);
    srv->n_conns--;
    crowd_is(&srv->crowd, srv->n_conns);
    if (list_is_empty(&srv->idle))
        timer_stop(srv->loop, &srv->idle_timer);
    if (srv->at == HTTP_SERVER_CLOSING)
        server_check_done(srv);
    else if (srv->accept_waits && srv->at == HTTP_SERVER_OPEN)
        accept_one(srv);
}

static const struct stream_ops conn_ops = {
    .on_hello = on_hello,
    .on_data = on_data,
    .on_eof = on_eof,
    .on_settled = on_settled,
    .on_error = on_error,
    .on_closed = on_conn_closed,
};

static void set_peer(struct conn *c)
{
    struct sockaddr_storage addr;
    int n = sizeof addr;
    char ip[INET6_ADDRSTRLEN];
    if (c->s.is_pipe || uv_tcp_getpeername(&c->s.uv.tcp, (struct sockaddr *)&addr, &n) < 0 ||
        uv_ip_name((struct sockaddr *)&addr, ip, sizeof ip) < 0) {
        (void)snprintf(c->peer, sizeof c->peer, "%s", c->s.is_pipe ? "unix" : "unknown");
        return;
    }
    bool v6 = addr.ss_family == AF_INET6;
    uint16_t port =
        v6 ? ((struct sockaddr_in6 *)&addr)->sin6_port : ((struct sockaddr_in *)&addr)->sin_port;
    (void)snprintf(c->peer, sizeof c->peer, v6 ? "[%s]:%u" : "%s:%u", ip, ntohs(port));
}

static void accept_one(struct http_server *srv)
{
    assert(srv->at == HTTP_SERVER_OPEN && srv->n_conns <= srv->connections_max);
    if (srv->n_conns >= srv->connections_max) {
        /*
         * The new connection waits in the kernel's queue until another one has closed; the longest
         * idle one is closed first.
         */
        srv->accept_waits = true;
        if (!list_is_empty(&srv->idle))
            stream_close(&list_first(&srv->idle, struct conn, node)->s);
        return;
    }
    srv->accept_waits = false;
    if (srv->on_accept)
        srv->on_accept(srv->arg);
    struct conn *c = xnew(struct conn);
    c->srv = srv;
    c->kind = &http1_kind; /* for connections that end before their first byte */
    srv->n_conns++;
    crowd_is(&srv->crowd, srv->n_conns);
    list_push_back(&srv->busy, &c->node);
    struct err err = { 0 };
    int r = stream_accept(&c->s, srv->loop, &srv->listener.stream, srv->is_pipe, srv->tls,
                          &conn_ops, &err);
    if (r < 0) {
        uint64_t skipped;
        if (log_rate_ok(&srv->accept_errors, 10000, &skipped))
            log_warn("cannot accept a connection", "reason=\"%s\" skipped=%llu", err_text(&err),
                     (unsigned long long)skipped);
        return;
    }
    c->s.stall_ms = srv->write_stall_ms;
    set_peer(c);
    timer_start(srv->loop, &c->linger, srv->head_timeout_ms, on_linger);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct http_server *srv = listener->data;
    if (status == 0 && srv->at == HTTP_SERVER_OPEN)
        accept_one(srv);
}

/* ------------------------------------------------------------------ server */

static void server_free(struct http_server *srv)
{
    http1_trim_spares(srv, true);
    free(srv->unix_path);
    if (srv->dir_fd >= 0)
        (void)close(srv->dir_fd);
    free(srv);
}

static void server_check_done(struct http_server *srv)
{
    if (srv->at != HTTP_SERVER_CLOSING || srv->listening || srv->n_conns)
        return;
    assert(list_is_empty(&srv->idle) && list_is_empty(&srv->busy));
    assert(list_is_empty(&srv->shaking) && srv->n_shaking == 0);
    timer_stop(srv->loop, &srv->drain);
    timer_stop(srv->loop, &srv->grace);
    void (*done)(void *) = srv->done;
    void *arg = srv->done_arg;
    server_free(srv);
    if (done)
        done(arg);
}

static void on_listener_closed(uv_handle_t *h)
{
    struct http_server *srv = h->data;
    srv->listening = false;
    server_check_done(srv);
}

/* On Linux accepted sockets inherit these: no system call per connection. */
static void set_options(struct http_server *srv, const struct http_server_opts *opts)
{
    uv_os_fd_t fd;
    int on = 1, idle_s = 60;
    if (uv_fileno(&srv->listener.handle, &fd) < 0)
        return;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    if (opts->user_timeout_ms)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &opts->user_timeout_ms,
                         sizeof opts->user_timeout_ms);
}

/* The socket is created here, because libuv would create its own when it binds. */
static int open_shared(struct http_server *srv, int family)
{
    int on = 1;
    scoped(fd_scoped) int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0)
        return -errno;
    int r = uv_tcp_open(&srv->listener.tcp, fd);
    if (r == 0)
        (void)take_fd(&fd);
    return r;
}

static int listen_tcp(struct http_server *srv, const struct http_server_opts *opts, struct err *err)
{
    const char *host = opts->host;
    uint16_t port = opts->port;
    struct sockaddr_storage addr;
    if (!host || strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    int r = uv_ip4_addr(host, port, (struct sockaddr_in *)&addr);
    if (r < 0)
        r = uv_ip6_addr(host, port, (struct sockaddr_in6 *)&addr);
    if (r < 0)
        return err_set(err, -EINVAL, "'%s' is not an IP address", host);
    if (opts->reuse_port)
        r = open_shared(srv, addr.ss_family);
    if (r == 0)
        r = uv_tcp_bind(&srv->listener.tcp, (struct sockaddr *)&addr, 0);
    if (r == 0)
        set_options(srv, opts);
    if (r == 0)
        r = uv_listen(&srv->listener.stream, BACKLOG, on_connection);
    if (r < 0)
        return err_sys(err, r, "listen on %s port %u", host, port);
    return 0;
}

/* Whether the socket file was left by a killed process, so that connections to it are refused. */
static bool is_dead_socket(const char *path)
{
    struct stat st;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return false;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    scoped(fd_scoped) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof addr) < 0 &&
           errno == ECONNREFUSED;
}

/* libuv reports EACCES for a missing directory. */
static int bind_error(int r, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (r != -EACCES || !slash || slash == path)
        return r;
    scoped(free_scoped) char *dir = xstrndup(path, (size_t)(slash - path));
    return access(dir, F_OK) < 0 && errno == ENOENT ? -ENOENT : r;
}

static int listen_unix(struct http_server *srv, const char *path, struct err *err)
{
    char address[STREAM_UNIX_PATH_SIZE];
    int r = stream_unix_path(path, address, &srv->dir_fd, err);
    if (r < 0)
        return r;
    if (is_dead_socket(address))
        (void)unlink(path);
    mode_t old = umask(0177); /* the file never exists with another mode than 0600 */
    r = uv_pipe_bind(&srv->listener.pipe, address);
    (void)umask(old);
    if (r == 0) {
        srv->unix_path = xstrdup(path);
        r = uv_listen(&srv->listener.stream, BACKLOG, on_connection);
    }
    return r < 0 ? err_sys(err, bind_error(r, path), "listen on '%s'", path) : 0;
}

int http_server_start(struct loop *loop, const struct http_server_opts *opts,
                      struct http_server **ret, struct err *err)
{
    struct http_server *srv = xnew(struct http_server);
    *srv = (struct http_server){
        .loop = loop,
        .is_pipe = opts->unix_path != NULL,
        .dir_fd = -1,
        .tls = opts->tls,
        .http2 = opts->http2,
        .on_request = opts->on_request,
        .on_accept = opts->on_accept,
        .arg = opts->arg,
        .head_timeout_ms = opts->head_timeout_ms ? opts->head_timeout_ms : HTTP_HEAD_TIMEOUT_MS,
        .body_idle_ms = opts->body_idle_ms ? opts->body_idle_ms : HTTP_BODY_IDLE_TIMEOUT_MS,
        .keepalive_ms = opts->keepalive_ms ? opts->keepalive_ms : HTTP_KEEPALIVE_MS,
        .write_stall_ms = opts->write_stall_ms ? opts->write_stall_ms : HTTP_WRITE_STALL_MS,
        .half_closed_ms = opts->half_closed_ms ? opts->half_closed_ms : HTTP_HALF_CLOSED_MS,
        .ping_ms = opts->ping_ms,
        .drain_idle_ms = opts->drain_idle_ms,
        .connections_max = opts->max_connections ? opts->max_connections : HTTP_CONNECTIONS_MAX,
    };
    list_init(&srv->idle);
    list_init(&srv->busy);
    list_init(&srv->shaking);
    list_init(&srv->spares);
    if (srv->is_pipe)
        (void)uv_pipe_init(&loop->uv, &srv->listener.pipe, 0);
    else
        (void)uv_tcp_init(&loop->uv, &srv->listener.tcp);
    srv->listener.handle.data = srv;
    srv->listening = true;
    int r = srv->is_pipe ? listen_unix(srv, opts->unix_path, err) : listen_tcp(srv, opts, err);
    if (r < 0) {
        move(srv, HTTP_SERVER_CLOSING);
        uv_close(&srv->listener.handle, on_listener_closed);
        return r;
    }
    if (srv->tls && srv->http2)
        tls_ctx_offer_h2(srv->tls);
    *ret = srv;
    return 0;
}

uint16_t http_server_port(const struct http_server *srv)
{
    struct sockaddr_storage addr;
    int n = sizeof addr;
    if (srv->is_pipe || uv_tcp_getsockname(&srv->listener.tcp, (struct sockaddr *)&addr, &n) < 0)
        return 0;
    return ntohs(addr.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&addr)->sin6_port
                                            : ((struct sockaddr_in *)&addr)->sin_port);
}

size_t http_server_connections(const struct http_server *srv)
{
    return srv->n_conns;
}

static void cut_all(struct list *conns)
{
    list_each_safe (node, conns) {
        struct conn *c = list_entry(node, struct conn, node);
        if (c->at == CONN_LINGERING)
            stream_close(&c->s);
        else
            c->kind->cut(c);
    }
}

/* kind: only connections of this kind; NULL: all. */
static void finish_all(struct http_server *srv, const struct conn_kind *kind)
{
    struct list *const lists[] = { &srv->idle, &srv->busy };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        list_each_safe (node, lists[i]) {
            struct conn *c = list_entry(node, struct conn, node);
            if (c->at != CONN_LINGERING && (!kind || c->kind == kind))
                c->kind->finish(c);
        }
}

static void on_drain(struct timer *t)
{
    finish_all(container_of(t, struct http_server, drain), &http1_kind);
}

static void on_grace_over(struct timer *t)
{
    struct http_server *srv = container_of(t, struct http_server, grace);
    cut_all(&srv->busy);
    cut_all(&srv->idle);    /* connections that did not take their last bytes */
    server_check_done(srv); /* there may be nothing to cut */
}

void http_server_drain(struct http_server *srv)
{
    if (srv->at != HTTP_SERVER_OPEN)
        return;
    move(srv, HTTP_SERVER_DRAINING);
    if (srv->unix_path)
        (void)unlink(srv->unix_path);
    uv_close(&srv->listener.handle, on_listener_closed);
    finish_all(srv, srv->drain_idle_ms ? &http2_kind : NULL);
    if (srv->drain_idle_ms)
        timer_start(srv->loop, &srv->drain, srv->drain_idle_ms, on_drain);
}

void http_server_close(struct http_server *srv, uint64_t grace_ms, void (*done)(void *arg),
                       void *arg)
{
    bool waits = srv->at == HTTP_SERVER_DRAINING && !srv->listening && !srv->n_conns;
    http_server_drain(srv);
    move(srv, HTTP_SERVER_CLOSING); /* once; done() cannot run before */
    srv->done = done;
    srv->done_arg = arg;
    timer_stop(srv->loop, &srv->idle_timer);
    if (waits) /* the listener was closed already: the timer calls done() */
        timer_start(srv->loop, &srv->grace, 0, on_grace_over);
    else if (grace_ms == 0)
        on_grace_over(&srv->grace);
    else
        timer_start(srv->loop, &srv->grace, grace_ms, on_grace_over);
}
