/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets, limits and requests by UDP; see server.h. */
#include "dns/server.h"

#include "base/log.h"
#include "dns/server_impl.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    SERVER_BACKLOG = 128,
    SERVER_PORT_TRIES = 16, /* for a port that is free for both, if any will do */
    SERVER_US = 1000000
};

/* ---------------------------------------------------------------- limits */

static bool is_client(const struct dns_server *s, const struct address *a)
{
    for (size_t i = 0; i < s->n_sockets; i++) {
        if (address_equal(&s->sockets[i].ip, a))
            return true;
    }
    for (size_t i = 0; i < s->n_clients; i++) {
        if (address_net_has(&s->clients[i], a))
            return true;
    }
    return false;
}

static void on_pause_end(struct timer *t);

static void pause_reading(struct dns_server *s)
{
    if (timer_is_armed(&s->pause) || s->is_closing)
        return;
    for (size_t i = 0; i < s->n_sockets; i++)
        (void)uv_udp_recv_stop(&s->sockets[i].udp);
    timer_start(s->loop, &s->pause, DNS_SERVER_PAUSE_MS, on_pause_end);
}

bool dns_server_admits(struct dns_server *s, const struct address *client)
{
    uint64_t now_us = loop_now_ms(s->loop) * 1000;
    struct str key = str_n(client->bytes, sizeof client->bytes);
    s->admitted = (unsigned)(str_hash(key, s->seed) % SERVER_BUCKETS);
    struct token_bucket *own = &s->buckets[s->admitted];
    bool is_admitted = is_client(s, client) && s->counts.n_requests < DNS_SERVER_REQUESTS_MAX &&
                       s->n_waiting[s->admitted] < DNS_SERVER_CLIENT_REQUESTS_MAX &&
                       token_bucket_take(own, SERVER_US / 5, SERVER_US / s->client_rate, now_us);
    /* What is dropped costs as well. */
    if (!token_bucket_take(&s->all, SERVER_US / 10, SERVER_US / DNS_SERVER_RATE, now_us)) {
        pause_reading(s);
        is_admitted = false;
    }
    s->counts.n_dropped += !is_admitted;
    return is_admitted;
}

/* ---------------------------------------------------------------- requests */

const struct dns_query *dns_request_query(const struct dns_request *rq)
{
    return &rq->query;
}

struct arena *dns_request_arena(struct dns_request *rq)
{
    return &rq->arena;
}

void dns_request_set(struct dns_request *rq, void *data)
{
    rq->data = data;
}

void *dns_request_data(const struct dns_request *rq)
{
    return rq->data;
}

static void free_request(struct dns_request *rq)
{
    rq->server->counts.n_requests--;
    rq->server->n_waiting[rq->bucket]--;
    list_remove(&rq->node);
    arena_fini(&rq->arena);
    free(rq);
}

/* What the socket does not take at once is lost, as with any datagram. */
static void send_datagram(struct dns_request *rq)
{
    struct dns_server *s = rq->server;
    uv_buf_t bytes = uv_buf_init(s->out.p, (unsigned)s->out.n);
    (void)uv_udp_try_send(&rq->socket->udp, &bytes, 1, (const struct sockaddr *)&rq->peer);
}

void dns_request_answer(struct dns_request *rq, const struct dns_reply *reply)
{
    struct dns_server *s = rq->server;
    size_t max = rq->conn ? DNS_TCP_MAX : rq->query.udp_max;
    buf_reset(&s->out);
    if ((rq->conn || rq->socket) && dns_reply_write(&rq->query, reply, max, &s->out) == 0) {
        s->counts.n_answered++;
        if (rq->conn)
            dns_server_conn_answer(rq->conn, rq);
        else
            send_datagram(rq);
    }
    free_request(rq);
}

bool dns_server_take(struct dns_server *s, struct server_socket *socket, struct server_conn *conn,
                     const struct sockaddr *peer, struct str message)
{
    struct dns_request *rq = xnew(struct dns_request);
    rq->server = s;
    rq->socket = socket;
    rq->conn = conn;
    rq->bucket = s->admitted;
    s->counts.n_requests++;
    s->n_waiting[rq->bucket]++;
    if (!dns_query_read(message, &rq->query)) {
        s->counts.n_dropped++;
        free_request(rq);
        return false;
    }
    if (peer)
        memcpy(&rq->peer, peer,
               peer->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                          : sizeof(struct sockaddr_in6));
    if (conn)
        dns_server_conn_add(conn, rq);
    if (rq->query.refusal == DNS_NOERROR)
        s->ask(s->arg, rq);
    else
        dns_request_answer(rq, &(struct dns_reply){ .rcode = rq->query.refusal });
    return true;
}

/* ---------------------------------------------------------------- UDP */

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct server_socket *socket = h->data;
    *buf = uv_buf_init(socket->server->in, sizeof socket->server->in);
}

static void on_datagram(uv_udp_t *h, ssize_t n, const uv_buf_t *buf, const struct sockaddr *from,
                        unsigned flags)
{
    struct server_socket *socket = h->data;
    struct address client;
    if (n <= 0 || !from || flags & UV_UDP_PARTIAL || !address_of_socket(from, &client) ||
        !dns_server_admits(socket->server, &client))
        return;
    (void)dns_server_take(socket->server, socket, NULL, from, str_n(buf->base, (size_t)n));
}

static void read_sockets(struct dns_server *s)
{
    for (size_t i = 0; i < s->n_sockets; i++)
        (void)uv_udp_recv_start(&s->sockets[i].udp, on_alloc, on_datagram);
}

static void on_pause_end(struct timer *t)
{
    read_sockets(container_of(t, struct dns_server, pause));
}

/* ---------------------------------------------------------------- start and end */

static socklen_t socket_address(const struct address *ip, uint16_t port,
                                struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (void *)ret;
    struct sockaddr_in6 *v6 = (void *)ret;
    memset(ret, 0, sizeof *ret);
    if (address_is_v4(ip)) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        memcpy(&v4->sin_addr, ip->bytes + 12, 4);
        return sizeof *v4;
    }
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    memcpy(&v6->sin6_addr, ip->bytes, 16);
    return sizeof *v6;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in6 name; /* the port is where struct sockaddr_in has it */
    socklen_t n = sizeof name;
    return getsockname(fd, (struct sockaddr *)&name, &n) < 0 ? 0 : ntohs(name.sin6_port);
}

/* The address of a gateway comes with the first network of a pod: the socket does not wait. */
static int open_socket(int type, const struct address *ip, uint16_t port, int *ret, struct err *err)
{
    struct sockaddr_storage name;
    socklen_t n = socket_address(ip, port, &name);
    const int on = 1;
    scoped(fd_scoped) int fd = socket(name.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(err, -errno, "socket");
    if (type == SOCK_STREAM)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&name, n) < 0) {
        char text[ADDRESS_TEXT_BYTES];
        address_format(ip, text);
        return err_sys(err, -errno, "listen on %s port %u", text, port);
    }
    *ret = take_fd(&fd);
    return 0;
}

static void on_socket_closed(uv_handle_t *h)
{
    struct server_socket *socket = h->data;
    dns_server_part_closed(socket->server);
}

/* Both sockets of an address; libuv owns them. */
static int open_sockets(struct dns_server *s, const struct address *ip, struct err *err)
{
    scoped(fd_scoped) int udp = -1, tcp = -1;
    int r = open_socket(SOCK_DGRAM, ip, s->port, &udp, err);
    uint16_t port = r < 0 ? 0 : port_of(udp);
    r = r < 0 ? r : open_socket(SOCK_STREAM, ip, port, &tcp, err);
    if (r < 0)
        return r;
    struct server_socket *socket = &s->sockets[s->n_sockets++];
    *socket = (struct server_socket){ .server = s, .ip = *ip };
    s->port = port;
    s->n_open += 2;
    (void)uv_udp_init(&s->loop->uv, &socket->udp);
    (void)uv_tcp_init(&s->loop->uv, &socket->tcp);
    socket->udp.data = socket->tcp.data = socket;
    r = uv_udp_open(&socket->udp, udp);
    if (r == 0)
        (void)take_fd(&udp);
    r = r < 0 ? r : uv_tcp_open(&socket->tcp, tcp);
    if (r == 0)
        (void)take_fd(&tcp);
    r = r < 0 ? r
              : uv_listen((uv_stream_t *)&socket->tcp, SERVER_BACKLOG, dns_server_on_connection);
    return r < 0 ? err_sys(err, r, "listen for DNS") : 0;
}

/* If any port will do, one that is taken by TCP is not the end. */
static int open_all(struct dns_server *s, const struct dns_server_opts *opts, struct err *err)
{
    int r = 0;
    for (int tries = 0; tries < SERVER_PORT_TRIES; tries++) {
        s->port = opts->port;
        r = open_sockets(s, &opts->ips[0], err);
        if (r != -EADDRINUSE || opts->port)
            break;
    }
    for (size_t i = 1; r == 0 && i < opts->n_ips; i++)
        r = open_sockets(s, &opts->ips[i], err);
    return r;
}

static void no_done(void *arg)
{
}

int dns_server_start(const struct dns_server_opts *opts, struct dns_server **ret, struct err *err)
{
    if (opts->n_ips == 0 || opts->n_ips > DNS_SERVER_IPS_MAX)
        return err_set(err, E_LIMIT, "DNS needs one or two addresses");
    struct dns_server *s = xnew(struct dns_server);
    s->loop = opts->loop;
    s->ask = opts->ask;
    s->arg = opts->arg;
    s->client_rate = opts->client_rate ? opts->client_rate : DNS_SERVER_CLIENT_RATE;
    s->out = BUF_INIT(DNS_TCP_MAX);
    s->n_open = 1;
    list_init(&s->conns);
    dns_server_set_clients(s, opts->clients, opts->n_clients);
    (void)getrandom(&s->seed, sizeof s->seed, 0);
    int r = open_all(s, opts, err);
    if (r < 0) {
        dns_server_close(s, no_done, NULL);
        return r;
    }
    read_sockets(s);
    *ret = s;
    return 0;
}

void dns_server_set_clients(struct dns_server *s, const struct address_net *clients, size_t n)
{
    s->n_clients = MIN(n, (size_t)DNS_SERVER_CLIENTS_MAX);
    for (size_t i = 0; i < s->n_clients; i++)
        s->clients[i] = clients[i];
}

uint16_t dns_server_port(const struct dns_server *s)
{
    return s->port;
}

struct dns_server_counts dns_server_counts(const struct dns_server *s)
{
    return s->counts;
}

void dns_server_part_closed(struct dns_server *s)
{
    if (--s->n_open > 0)
        return;
    void (*done)(void *) = s->done;
    void *arg = s->done_arg;
    buf_fini(&s->out);
    free(s);
    done(arg);
}

static void on_last_part(struct defer *d)
{
    dns_server_part_closed(container_of(d, struct dns_server, end));
}

void dns_server_close(struct dns_server *s, void (*done)(void *arg), void *arg)
{
    s->is_closing = true;
    s->done = done;
    s->done_arg = arg;
    timer_stop(s->loop, &s->pause);
    for (size_t i = 0; i < s->n_sockets; i++) {
        uv_close((uv_handle_t *)&s->sockets[i].udp, on_socket_closed);
        uv_close((uv_handle_t *)&s->sockets[i].tcp, on_socket_closed);
    }
    dns_server_close_conns(s);
    assert(s->counts.n_requests == 0);
    defer_start(s->loop, &s->end, on_last_part);
}
