/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     UDP --an answer--> OVER
 *      |                  ^
 *      `--truncated,      |
 *         forged ones--> TCP
 *
 * Each state ends by done(), by a deadline or by dns_attempt_cancel(). The memory goes with the
 * last handle.
 */
#include "dns/attempt.h"

#include "base/sm.h"
#include "io/stream.h"

#include <errno.h>
#include <sys/random.h>

enum dns_attempt_at { ATTEMPT_UDP, ATTEMPT_TCP, ATTEMPT_OVER };

static const struct sm_state attempt_table[] = {
    [ATTEMPT_UDP] = { "udp", EDGE(ATTEMPT_TCP) | EDGE(ATTEMPT_OVER) },
    [ATTEMPT_TCP] = { "tcp", EDGE(ATTEMPT_OVER) },
    [ATTEMPT_OVER] = { "over", 0 },
};

struct dns_attempt {
    struct dns_attempt_opts opts;
    struct sockaddr_storage server;
    struct sm sm;
    uint16_t id;
    unsigned n_forged;
    unsigned n_open; /* handles */
    uv_udp_t udp;
    struct stream tcp;
    struct timer timer;
    struct buf in, answer; /* in: by TCP */
};

/* ---------------------------------------------------------------- end */

static void part_closed(struct dns_attempt *a)
{
    if (--a->n_open > 0)
        return;
    buf_fini(&a->in);
    buf_fini(&a->answer);
    free(a);
}

static void on_udp_closed(uv_handle_t *h)
{
    part_closed(h->data);
}

static void close_udp(struct dns_attempt *a)
{
    if (!uv_is_closing((uv_handle_t *)&a->udp))
        uv_close((uv_handle_t *)&a->udp, on_udp_closed);
}

static void end_attempt(struct dns_attempt *a)
{
    timer_stop(a->opts.loop, &a->timer);
    close_udp(a);
    if (a->sm.at == ATTEMPT_TCP)
        stream_close(&a->tcp);
    sm_move(&a->sm, ATTEMPT_OVER);
}

static void finish(struct dns_attempt *a, int r, const struct dns_upstream_answer *answer)
{
    end_attempt(a);
    a->opts.done(a->opts.arg, r, buf_str(&a->answer), answer);
}

static void on_attempt_late(struct timer *t)
{
    finish(container_of(t, struct dns_attempt, timer), -ETIMEDOUT, NULL);
}

void dns_attempt_cancel(struct dns_attempt *a)
{
    end_attempt(a);
}

/* ---------------------------------------------------------------- TCP */

enum { ATTEMPT_LENGTH = 2 };

static void on_tcp_open(struct stream *s)
{
    struct dns_attempt *a = container_of(s, struct dns_attempt, tcp);
    struct buf out = BUF_INIT(DNS_UDP_MIN);
    (void)dns_upstream_ask(&a->opts.question, a->id, &out);
    const char length[ATTEMPT_LENGTH] = { (char)(out.n >> 8), (char)out.n };
    stream_write(s, str_n(length, sizeof length));
    stream_write(s, buf_str(&out));
    buf_fini(&out);
}

static void take_stream(struct dns_attempt *a)
{
    struct dns_upstream_answer answer;
    const uint8_t *p = (const uint8_t *)a->in.p;
    if (a->in.n < ATTEMPT_LENGTH)
        return;
    size_t n = (size_t)p[0] << 8 | p[1];
    if (n > DNS_UPSTREAM_MAX) {
        finish(a, E_LIMIT, NULL);
        return;
    }
    if (a->in.n < ATTEMPT_LENGTH + n)
        return;
    int r = dns_upstream_read(str_n(p + ATTEMPT_LENGTH, n), &a->opts.question, a->id, &a->answer,
                              &answer);
    finish(a, r, r < 0 ? NULL : &answer);
}

static size_t on_tcp_data(struct stream *s, const char *p, size_t n)
{
    struct dns_attempt *a = container_of(s, struct dns_attempt, tcp);
    if (buf_add(&a->in, p, n) < 0)
        finish(a, E_LIMIT, NULL);
    else
        take_stream(a);
    return n;
}

static void on_tcp_eof(struct stream *s)
{
    finish(container_of(s, struct dns_attempt, tcp), E_EOF, NULL);
}

static void on_tcp_error(struct stream *s, int r, const struct err *err)
{
    finish(container_of(s, struct dns_attempt, tcp), r, NULL);
}

static void on_tcp_settled(struct stream *s)
{
}

static void on_tcp_closed(struct stream *s)
{
    part_closed(container_of(s, struct dns_attempt, tcp));
}

static const struct stream_ops tcp_ops = {
    .on_open = on_tcp_open,
    .on_data = on_tcp_data,
    .on_eof = on_tcp_eof,
    .on_settled = on_tcp_settled,
    .on_error = on_tcp_error,
    .on_closed = on_tcp_closed,
};

static void ask_by_tcp(struct dns_attempt *a)
{
    close_udp(a);
    buf_reset(&a->answer);
    sm_move(&a->sm, ATTEMPT_TCP);
    a->n_open++;
    timer_start(a->opts.loop, &a->timer, DNS_ATTEMPT_MS, on_attempt_late);
    int r = stream_connect_tcp(&a->tcp, a->opts.loop, (const struct sockaddr *)&a->server, NULL,
                               NULL, &tcp_ops, NULL);
    if (r < 0)
        finish(a, r, NULL);
    else
        a->tcp.read_max = DNS_QUERY_MAX;
}

/* ---------------------------------------------------------------- UDP */

static void on_udp_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    const struct dns_attempt *a = h->data;
    *buf = uv_buf_init(loop_scratch(a->opts.loop), DNS_QUERY_MAX);
}

static void on_udp_answer(uv_udp_t *h, ssize_t n, const uv_buf_t *buf, const struct sockaddr *from,
                          unsigned flags)
{
    struct dns_attempt *a = h->data;
    struct dns_upstream_answer answer;
    if (n < 0) {
        finish(a, (int)n, NULL);
        return;
    }
    if (!from)
        return;
    int r = dns_upstream_read(str_n(buf->base, (size_t)n), &a->opts.question, a->id, &a->answer,
                              &answer);
    if (r == E_PARSE && ++a->n_forged < DNS_ATTEMPT_FORGED_MAX)
        buf_reset(&a->answer);
    else if (r < 0 || answer.is_truncated || flags & UV_UDP_PARTIAL)
        ask_by_tcp(a);
    else
        finish(a, 0, &answer);
}

/* Connected: the kernel passes on what comes from the server alone, and says when nobody listens.
 * It chooses a random port. */
static int ask_by_udp(struct dns_attempt *a)
{
    struct buf out = BUF_INIT(DNS_UDP_MIN);
    int r = uv_udp_connect(&a->udp, (const struct sockaddr *)&a->server);
    r = r < 0 ? r : dns_upstream_ask(&a->opts.question, a->id, &out);
    uv_buf_t bytes = uv_buf_init(out.p, (unsigned)out.n);
    r = r < 0 ? r : uv_udp_recv_start(&a->udp, on_udp_alloc, on_udp_answer);
    r = r < 0 ? r : uv_udp_try_send(&a->udp, &bytes, 1, NULL);
    buf_fini(&out);
    return r < 0 ? r : 0;
}

int dns_attempt_start(const struct dns_attempt_opts *opts, struct dns_attempt **ret)
{
    struct dns_attempt *a = xnew(struct dns_attempt);
    a->opts = *opts;
    a->in = BUF_INIT(ATTEMPT_LENGTH + DNS_UPSTREAM_MAX + DNS_QUERY_MAX);
    a->answer = BUF_INIT(DNS_TCP_MAX);
    a->n_open = 1;
    sm_init(&a->sm, attempt_table, ATTEMPT_UDP);
    memcpy(&a->server, opts->server,
           opts->server->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                              : sizeof(struct sockaddr_in6));
    (void)getrandom(&a->id, sizeof a->id, 0);
    (void)uv_udp_init(&opts->loop->uv, &a->udp);
    a->udp.data = a;
    int r = ask_by_udp(a);
    if (r < 0) {
        end_attempt(a);
        return r;
    }
    timer_start(opts->loop, &a->timer, DNS_ATTEMPT_MS, on_attempt_late);
    *ret = a;
    return 0;
}
