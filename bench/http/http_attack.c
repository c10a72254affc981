/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http-attack: many connections that do the server no good, over loopback, and what they cost it.
 *
 * Opens --count connections of one --kind to a TLS server whose process is --pid, holds them, and
 * asks on another connection whether the server still answers. One JSON object on stdout: bytes of
 * the server's memory (PSS) for each connection, how many were refused or ended by the server, and
 * how long the last question took. Bounded: it ends by itself, and its connections with it.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COUNT_MAX = 20000, ANSWER_MAX_BYTES = 64 << 10 };

enum kind {
    SILENT,
    HALF_HELLO,
    SHAKEN,
    IDLE_H1,
    IDLE_H2,
    HALF_HEAD,
    HALF_BODY,
    UNREAD_H1,
    UNREAD_H2
};

static const char *const kinds[] = {
    [SILENT] = "silent",                                    /* connected, no byte */
    [HALF_HELLO] = "half-hello",                            /* five bytes of a TLS hello */
    [SHAKEN] = "shaken",                                    /* a handshake, no request */
    [IDLE_H1] = "idle-h1",                                  /* one request answered, then nothing */
    [IDLE_H2] = "idle-h2",       [HALF_HEAD] = "half-head", /* a head that does not end */
    [HALF_BODY] = "half-body",                              /* a body that does not come */
    [UNREAD_H1] = "unread-h1", /* --target is asked for and never read */
    [UNREAD_H2] = "unread-h2", /* the same with a hundred streams */
};

static struct options {
    enum kind kind;
    unsigned count, hold_ms;
    uint16_t port;
    int pid;
    const char *token, *target;
} opts = { .count = 100, .target = "/version" };

struct conn {
    int fd;
    SSL *ssl;
};

static SSL_CTX *ctx;

static uint64_t pss_kib(void)
{
    char path[64], line[256];
    uint64_t kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", opts.pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        struct str s = str_of(line);
        if (!str_has_prefix(s, STR("Pss:")))
            continue;
        s = str_trim(str_slice(s, 4, s.n));
        (void)str_cut(s, ' ', &s, &(struct str){ 0 });
        (void)parse_u64(s, 0, UINT64_MAX, &kib);
    }
    if (f)
        (void)fclose(f);
    return kib;
}

static bool dial(struct conn *c, bool tls, const char *alpn)
{
    struct sockaddr_in addr = { .sin_family = AF_INET,
                                .sin_port = htons(opts.port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { .tv_sec = 10 };
    *c = (struct conn){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    if (c->fd < 0)
        return false;
    (void)setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(c->fd, (struct sockaddr *)&addr, sizeof addr) < 0)
        return false;
    if (!tls)
        return true;
    c->ssl = SSL_new(ctx);
    (void)SSL_set_fd(c->ssl, c->fd);
    (void)SSL_set_alpn_protos(c->ssl, (const unsigned char *)alpn, (unsigned)strlen(alpn));
    return SSL_connect(c->ssl) == 1;
}

static void hang_up(struct conn *c)
{
    SSL_free(c->ssl);
    if (c->fd >= 0)
        (void)close(c->fd);
    *c = (struct conn){ .fd = -1 };
}

static bool say(struct conn *c, struct str s)
{
    return SSL_write(c->ssl, s.p, (int)s.n) == (int)s.n;
}

static void add_head(struct buf *b, const char *method, const char *target)
{
    (void)buf_printf(b, "%s %s HTTP/1.1\r\nhost: x\r\nauthorization: Bearer %s\r\n", method, target,
                     opts.token);
}

static void add_frame(struct buf *b, uint8_t type, uint8_t flags, uint32_t id, struct str payload)
{
    uint32_t n = htonl((uint32_t)payload.n << 8 | type), be = htonl(id);
    (void)buf_add(b, &n, 4);
    (void)buf_add_u8(b, flags);
    (void)buf_add(b, &be, 4);
    (void)buf_add_str(b, payload);
}

static void add_field(struct buf *b, const char *name, const char *value)
{
    (void)buf_add_u8(b, 0);
    (void)buf_add_u8(b, (uint8_t)strlen(name));
    (void)buf_add_cstr(b, name);
    (void)buf_add_u8(b, (uint8_t)strlen(value));
    (void)buf_add_cstr(b, value);
}

static void add_h2_request(struct buf *b, uint32_t id, const char *target)
{
    scoped(buf_fini_scoped) struct buf fields = BUF_INIT(4096), bearer = BUF_INIT(4096);
    (void)buf_printf(&bearer, "Bearer %s", opts.token);
    add_field(&fields, ":method", "GET");
    add_field(&fields, ":scheme", "https");
    add_field(&fields, ":path", target);
    add_field(&fields, ":authority", "x");
    add_field(&fields, "authorization", buf_cstr(&bearer));
    add_frame(b, 1, 5, id, buf_str(&fields));
}

/* Until the server has answered something; then it holds what such a connection costs. */
static bool hear(struct conn *c, bool h2)
{
    char answer[ANSWER_MAX_BYTES];
    for (int i = 0; i < 20; i++) {
        int n = SSL_read(c->ssl, answer, sizeof answer);
        if (n <= 0)
            return false;
        if (!h2)
            return n > 12 && memcmp(answer, "HTTP/1.1 200", 12) == 0;
        for (int at = 0; at + 9 <= n;) { /* a DATA frame that ends the stream */
            int len =
                (uint8_t)answer[at] << 16 | (uint8_t)answer[at + 1] << 8 | (uint8_t)answer[at + 2];
            if (answer[at + 3] == 0 && (answer[at + 4] & 1))
                return true;
            at += 9 + len;
        }
    }
    return false;
}

static bool open_one(struct conn *c)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    bool h2 = opts.kind == IDLE_H2 || opts.kind == UNREAD_H2;
    if (!dial(c, opts.kind > HALF_HELLO, h2 ? "\2h2" : "\10http/1.1"))
        return false;
    if (h2) {
        (void)buf_add_cstr(&b, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        add_frame(&b, 4, 0, 0, STR(""));
    }
    switch (opts.kind) {
    case SILENT:
    case SHAKEN:
        return true;
    case HALF_HELLO:
        return write(c->fd, "\x16\x03\x01\x02\x00", 5) == 5;
    case IDLE_H1:
        add_head(&b, "GET", opts.target);
        (void)buf_add_cstr(&b, "\r\n");
        return say(c, buf_str(&b)) && hear(c, false);
    case IDLE_H2:
        add_h2_request(&b, 1, opts.target);
        return say(c, buf_str(&b)) && hear(c, true);
    case HALF_HEAD:
        add_head(&b, "GET", opts.target);
        return say(c, buf_str(&b));
    case HALF_BODY:
        add_head(&b, "POST", "/api/v1/namespaces/default/configmaps");
        (void)buf_add_cstr(&b,
                           "content-type: application/json\r\ncontent-length: 3000000\r\n\r\n{");
        return say(c, buf_str(&b));
    case UNREAD_H1:
        add_head(&b, "GET", opts.target);
        (void)buf_add_cstr(&b, "\r\n");
        return say(c, buf_str(&b));
    case UNREAD_H2:
        for (uint32_t i = 0; i < 100; i++)
            add_h2_request(&b, 2 * i + 1, opts.target);
        return say(c, buf_str(&b));
    }
    return false;
}

/* Milliseconds until /readyz was answered on a new connection; negative: it was not. */
static double ask_readyz(void)
{
    struct conn c;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    uint64_t begin = clock_mono_ns();
    add_head(&b, "GET", "/readyz");
    (void)buf_add_cstr(&b, "\r\n");
    bool ok = dial(&c, true, "\10http/1.1") && say(&c, buf_str(&b)) && hear(&c, false);
    hang_up(&c);
    return ok ? (double)(clock_mono_ns() - begin) / 1e6 : -1;
}

static bool is_ended(const struct conn *c)
{
    char byte;
    ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN);
}

static int parse(int argc, char **argv)
{
    static const struct option options[] = {
        { "kind", required_argument, NULL, 'k' },  { "count", required_argument, NULL, 'c' },
        { "port", required_argument, NULL, 'p' },  { "pid", required_argument, NULL, 'i' },
        { "token", required_argument, NULL, 't' }, { "target", required_argument, NULL, 'u' },
        { "hold", required_argument, NULL, 'h' },  { 0 },
    };
    int o;
    bool known = false;
    while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        uint64_t n = 0;
        if (strchr("cpih", o) && parse_u64(str_of(optarg), 1, 1000000, &n) < 0)
            return -EINVAL;
        for (size_t i = 0; o == 'k' && i < ARRAY_LEN(kinds); i++)
            if (strcmp(optarg, kinds[i]) == 0) {
                opts.kind = (enum kind)i;
                known = true;
            }
        if (o == 'c')
            opts.count = (unsigned)MIN(n, (uint64_t)COUNT_MAX);
        else if (o == 'p')
            opts.port = (uint16_t)n;
        else if (o == 'i')
            opts.pid = (int)n;
        else if (o == 'h')
            opts.hold_ms = (unsigned)n;
        else if (o == 't')
            opts.token = optarg;
        else if (o == 'u')
            opts.target = optarg;
        else if (o != 'k')
            return -EINVAL;
    }
    return known && opts.port && opts.pid && opts.token && strlen(opts.token) < 120 ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
    if (parse(argc, argv) < 0) {
        (void)fprintf(stderr, "usage: http-attack --kind KIND --count N --port PORT --pid PID "
                              "--token TOKEN [--target PATH] [--hold MS]\n");
        return 2;
    }
    ctx = SSL_CTX_new(TLS_client_method());
    struct conn *conns = xnew_n(struct conn, opts.count);
    unsigned opened = 0, ended = 0;
    uint64_t before = pss_kib(), begin = clock_mono_ms(), most = 0;
    for (unsigned i = 0; i < opts.count; i++)
        opened += open_one(&conns[i]);
    double ready_ms = ask_readyz(), slowest = ready_ms;
    uint64_t took = clock_mono_ms() - begin;
    most = pss_kib();
    for (uint64_t end = clock_mono_ms() + opts.hold_ms; clock_mono_ms() < end;) {
        (void)poll(NULL, 0, 200);
        ready_ms = ask_readyz();
        slowest = ready_ms < 0 ? ready_ms : MAX(slowest, ready_ms);
        most = MAX(most, pss_kib());
        if (ready_ms < 0)
            break;
    }
    for (unsigned i = 0; i < opts.count; i++) {
        ended += conns[i].fd >= 0 && is_ended(&conns[i]);
        hang_up(&conns[i]);
    }
    uint64_t cost = most > before ? (most - before) * 1024 : 0;
    (void)printf("{\"kind\": \"%s\", \"count\": %u, \"opened\": %u, \"ended_by_server\": %u, "
                 "\"seconds\": %.1f, \"bytes_per_connection\": %llu, \"pss_mib\": %.1f, "
                 "\"readyz_ms\": %.1f}\n",
                 kinds[opts.kind], opts.count, opened, ended, (double)took / 1000,
                 (unsigned long long)(cost / opts.count), (double)most / 1024, slowest);
    free(conns);
    SSL_CTX_free(ctx);
    return ready_ms < 0;
}
