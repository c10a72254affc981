/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of the server: each message has its length in front (RFC 1035, section 4.2.2). */
#include "dns/server_impl.h"

enum { CONN_READ = 4096, CONN_LENGTH = 2 };

struct server_conn {
    struct stream s;
    struct list node, requests;
    struct dns_server *server;
    struct address client;
    struct buf in; /* questions that are not read yet, the last one incomplete */
    size_t n_requests;
    struct timer idle;
    bool is_reading_in; /* questions of `in` are being answered */
};

static struct server_conn *conn_of(struct stream *s)
{
    return container_of(s, struct server_conn, s);
}

/* ---------------------------------------------------------------- end */

static void close_conn(struct server_conn *c)
{
    list_each_safe (node, &c->requests) {
        struct dns_request *rq = list_entry(node, struct dns_request, node);
        rq->conn = NULL;
        list_remove(&rq->node);
    }
    timer_stop(c->server->loop, &c->idle);
    stream_close(&c->s);
}

static void on_conn_closed(struct stream *s)
{
    struct server_conn *c = conn_of(s);
    struct dns_server *server = c->server;
    list_remove(&c->node);
    server->counts.n_conns--;
    buf_fini(&c->in);
    free(c);
    dns_server_part_closed(server);
}

static void on_conn_error(struct stream *s, int r, const struct err *err)
{
    close_conn(conn_of(s));
}

/* A client that has sent its questions may still wait for the answers. */
static void close_if_done(struct server_conn *c)
{
    if (stream_is_at_eof(&c->s) && c->n_requests == 0 && stream_pending(&c->s) == 0)
        close_conn(c);
}

static void on_conn_eof(struct stream *s)
{
    close_if_done(conn_of(s));
}

static void on_idle(struct timer *t)
{
    close_conn(container_of(t, struct server_conn, idle));
}

/* ---------------------------------------------------------------- questions */

static bool is_full(const struct server_conn *c)
{
    return c->n_requests >= DNS_SERVER_CONN_REQUESTS_MAX ||
           stream_pending(&c->s) > DNS_SERVER_CONN_OUT_MAX;
}

/* The next whole question of `in`. -1: the client breaks the limits; 0: it is not whole. */
static int next_message(const struct server_conn *c, struct str *ret)
{
    const uint8_t *p = (const uint8_t *)c->in.p;
    if (c->in.n < CONN_LENGTH)
        return 0;
    size_t n = (size_t)p[0] << 8 | p[1];
    if (n < DNS_HEADER || n > DNS_QUERY_MAX)
        return -1;
    *ret = str_n(p + CONN_LENGTH, n);
    return c->in.n >= CONN_LENGTH + n;
}

static void read_in(struct server_conn *c)
{
    struct str message;
    int r = 0;
    if (c->is_reading_in)
        return; /* an answer was given at once */
    c->is_reading_in = true;
    while (!stream_is_over(&c->s) && !is_full(c) && (r = next_message(c, &message)) > 0) {
        timer_start(c->server->loop, &c->idle, DNS_SERVER_IDLE_MS, on_idle);
        if (!dns_server_admits(c->server, &c->client) ||
            !dns_server_take(c->server, NULL, c, NULL, message))
            r = -1;
        if (r < 0)
            break;
        buf_consume(&c->in, CONN_LENGTH + message.n);
    }
    c->is_reading_in = false;
    if (r < 0 && !stream_is_over(&c->s))
        close_conn(c);
    else if (!stream_is_over(&c->s) && !is_full(c))
        stream_resume(&c->s);
}

static size_t on_conn_data(struct stream *s, const char *p, size_t n)
{
    struct server_conn *c = conn_of(s);
    if (buf_add(&c->in, p, n) < 0) {
        close_conn(c);
        return n;
    }
    stream_pause(s);
    read_in(c);
    return n;
}

static void on_conn_settled(struct stream *s)
{
    struct server_conn *c = conn_of(s);
    if (stream_is_over(s))
        return;
    read_in(c);
    if (!stream_is_over(s))
        close_if_done(c);
}

void dns_server_conn_add(struct server_conn *c, struct dns_request *rq)
{
    list_push_back(&c->requests, &rq->node);
    c->n_requests++;
}

void dns_server_conn_answer(struct server_conn *c, struct dns_request *rq)
{
    struct buf *out = &c->server->out;
    const char length[CONN_LENGTH] = { (char)(out->n >> 8), (char)out->n };
    stream_write(&c->s, str_n(length, sizeof length));
    stream_write(&c->s, buf_str(out));
    c->n_requests--;
    list_remove(&rq->node);
    stream_kick(&c->s);
}

/* ---------------------------------------------------------------- connections */

static const struct stream_ops conn_ops = {
    .on_data = on_conn_data,
    .on_eof = on_conn_eof,
    .on_settled = on_conn_settled,
    .on_error = on_conn_error,
    .on_closed = on_conn_closed,
};

static size_t conns_of(const struct dns_server *s, const struct address *client)
{
    size_t n = 0;
    list_each (node, &s->conns)
        n += address_equal(&list_entry(node, struct server_conn, node)->client, client);
    return n;
}

static bool find_client(struct server_conn *c)
{
    struct sockaddr_storage name;
    int n = sizeof name;
    return uv_tcp_getpeername(&c->s.uv.tcp, (struct sockaddr *)&name, &n) == 0 &&
           address_of_socket((struct sockaddr *)&name, &c->client);
}

void dns_server_on_connection(uv_stream_t *listener, int status)
{
    struct server_socket *socket = listener->data;
    struct dns_server *server = socket->server;
    struct err err = { 0 };
    if (status < 0 || server->is_closing)
        return;
    struct server_conn *c = xnew(struct server_conn);
    c->server = server;
    c->in = BUF_INIT(CONN_READ + CONN_LENGTH + DNS_QUERY_MAX);
    list_init(&c->requests);
    server->n_open++;
    server->counts.n_conns++;
    if (stream_accept(&c->s, server->loop, listener, false, NULL, &conn_ops, &err) < 0) {
        list_push_back(&server->conns, &c->node);
        return;
    }
    c->s.read_max = CONN_READ;
    bool is_taken = find_client(c) && server->counts.n_conns <= DNS_SERVER_CONNS_MAX &&
                    conns_of(server, &c->client) < DNS_SERVER_CLIENT_CONNS_MAX &&
                    dns_server_admits(server, &c->client);
    list_push_back(&server->conns, &c->node);
    if (is_taken)
        timer_start(server->loop, &c->idle, DNS_SERVER_IDLE_MS, on_idle);
    else
        close_conn(c);
}

void dns_server_close_conns(struct dns_server *s)
{
    list_each_safe (node, &s->conns)
        close_conn(list_entry(node, struct server_conn, node));
}
