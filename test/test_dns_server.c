/* SPDX-License-Identifier: Apache-2.0 */
/* dns/resolver with its server and forwarder, over loopback, against servers that the tests play.
 */
#include "dns/resolver.h"

#include "dns/attempt.h"
#include "dns_kit.h"
#include "temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TURNS_MAX = 2000000, PORT_TRIES = 100 };

static struct loop loop;
static struct dns_zone *zone;
static struct dns_resolver *resolver;
static bool is_closed;

static struct address loopback(void)
{
    struct address a;
    CHECK(address_parse(STR("127.0.0.1"), &a));
    return a;
}

static struct sockaddr_in at_port(unsigned port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static unsigned port_of(int fd)
{
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    CHECK_OK(getsockname(fd, (struct sockaddr *)&a, &n));
    return ntohs(a.sin_port);
}

static int open_socket(int type, const char *ip)
{
    struct sockaddr_in a = at_port(0);
    int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(inet_pton(AF_INET, ip, &a.sin_addr) == 1);
    CHECK_OK(bind(fd, (struct sockaddr *)&a, sizeof a));
    if (type == SOCK_STREAM)
        CHECK_OK(listen(fd, 8));
    return fd;
}

static void start(struct dns_resolver_opts *opts)
{
    struct err err = { 0 };
    struct address ip = loopback();
    CHECK_OK(loop_init(&loop, &err));
    CHECK_OK(dns_zone_new(STR("cluster.local"), &zone, &err));
    dns_kit_put(zone, dns_zone_put_service,
                "{\"metadata\":{\"namespace\":\"app\",\"name\":\"web\"},"
                "\"spec\":{\"clusterIP\":\"10.96.0.7\"}}");
    dns_kit_put(zone, dns_zone_put_service,
                "{\"metadata\":{\"namespace\":\"app\",\"name\":\"far\"},\"spec\":"
                "{\"type\":\"ExternalName\",\"externalName\":\"WWW.example.com\"}}");
    dns_zone_services_synced(zone);
    dns_zone_slices_synced(zone);
    opts->loop = &loop;
    opts->zone = zone;
    opts->ips = &ip;
    opts->n_ips = 1;
    CHECK_OK(dns_resolver_start(opts, &resolver, &err));
}

static void on_closed(void *arg)
{
    is_closed = true;
}

static void stop(void)
{
    is_closed = false;
    dns_resolver_close(resolver, on_closed, NULL);
    CHECK(!is_closed);
    loop_run(&loop);
    CHECK(is_closed);
    dns_zone_free(zone);
    loop_fini(&loop);
}

/* Start with this server for names of others. */
static void start_with(const char *text)
{
    struct address_net loopback_net;
    CHECK(address_net_parse(STR("127.0.0.0/8"), &loopback_net));
    struct dns_resolver_opts opts = { .clients = &loopback_net, .n_clients = text ? 1 : 0 };
    if (text)
        CHECK_OK(dns_servers_add(&opts.servers, str_of(text), NULL));
    start(&opts);
}

static unsigned port(void)
{
    return dns_server_port(dns_resolver_server(resolver));
}

/* ---------------------------------------------------------------- sockets of the test */

/* What has come, after turns of the loop. -1: nothing yet, after as many turns. */
static ssize_t receive(int fd, char *to, size_t size, struct sockaddr_in *from)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        socklen_t n_from = sizeof *from;
        ssize_t n = recvfrom(fd, to, size, 0, (struct sockaddr *)from, from ? &n_from : NULL);
        if (n >= 0 || errno != EAGAIN)
            return n;
        (void)loop_turn(&loop, false);
    }
    TEST_FAIL("nothing has come");
}

static void send_query(int fd, unsigned id, const char *name, unsigned type)
{
    struct buf b = BUF_INIT(512);
    struct sockaddr_in to = at_port(port());
    dns_kit_query(&b, id, name, type, 1232);
    CHECK(sendto(fd, b.p, b.n, 0, (struct sockaddr *)&to, sizeof to) == (ssize_t)b.n);
    buf_fini(&b);
}

static char answer_bytes[DNS_TCP_MAX];

static struct str receive_answer(int fd)
{
    return str_n(answer_bytes, (size_t)receive(fd, answer_bytes, sizeof answer_bytes, NULL));
}

static struct str ask(int fd, unsigned id, const char *name)
{
    send_query(fd, id, name, DNS_A);
    struct str answer = receive_answer(fd);
    CHECK_INT(dns_kit_id(answer), id);
    return answer;
}

/* The last byte of the last record, with EDNS behind it. */
static unsigned last_of(struct str answer)
{
    return (uint8_t)answer.p[answer.n - 12];
}

/* A question that came to a server of the test. */
struct asked {
    struct sockaddr_in from;
    unsigned id;
};

static struct asked next_asked(int server)
{
    char bytes[512];
    struct asked got;
    ssize_t n = receive(server, bytes, sizeof bytes, &got.from);
    got.id = dns_kit_id(str_n(bytes, (size_t)n));
    return got;
}

static void send_answer(int fd, const struct asked *to, unsigned id, const char *name,
                        unsigned ttl_s, unsigned last)
{
    struct buf b = BUF_INIT(512);
    dns_kit_address_answer(&b, id, name, ttl_s, last);
    CHECK_OK(sendto(fd, b.p, b.n, 0, (const struct sockaddr *)&to->from, sizeof to->from));
    buf_fini(&b);
}

static const char *text_of(int server)
{
    static char text[32];
    (void)snprintf(text, sizeof text, "127.0.0.1:%u", port_of(server));
    return text;
}

/* ---------------------------------------------------------------- the cluster's names */

TEST(services_have_addresses)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1");
    start_with(NULL);
    struct str got = ask(fd, 1, "web.app.svc.cluster.local");
    CHECK(dns_kit_rcode(got) == DNS_NOERROR && dns_kit_answers(got) == 1 && last_of(got) == 7);
    got = ask(fd, 2, "none.app.svc.cluster.local");
    CHECK(dns_kit_rcode(got) == DNS_NXDOMAIN && dns_kit_answers(got) == 0);
    CHECK(loop_next_timer_ms(&loop) == UINT64_MAX);
    stop();
    (void)close(fd);
}

TEST(malformed_messages_are_answered_or_dropped_and_the_next_one_is_served)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1");
    start_with(NULL);
    struct sockaddr_in to = at_port(port());
    char bytes[600];
    for (int i = 0; i < 500; i++) {
        size_t n = test_random_below(sizeof bytes);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (char)test_random();
        CHECK_OK(sendto(fd, bytes, n, 0, (struct sockaddr *)&to, sizeof to));
        (void)loop_turn(&loop, false);
    }
    while (recv(fd, bytes, sizeof bytes, 0) >= 0 || loop_turn(&loop, false) ||
           dns_resolver_calls(resolver)) {
        if (errno == EAGAIN && dns_resolver_calls(resolver) == 0)
            break;
    }
    send_query(fd, 1, "web.app.svc.cluster.local", DNS_A);
    struct str got;
    do
        got = receive_answer(fd);
    while (dns_kit_id(got) != 1 || dns_kit_answers(got) != 1);
    stop();
    (void)close(fd);
}

TEST(other_networks_are_not_answered)
{
    int other = open_socket(SOCK_DGRAM, "127.0.0.2"), fd = open_socket(SOCK_DGRAM, "127.0.0.1");
    struct address_net net;
    start_with(NULL);
    send_query(other, 1, "web.app.svc.cluster.local", DNS_A);
    (void)ask(fd, 2, "web.app.svc.cluster.local"); /* the first one was read before it */
    CHECK_INT(dns_server_counts(dns_resolver_server(resolver)).n_dropped, 1);
    CHECK(address_net_parse(STR("127.0.0.0/30"), &net));
    dns_server_set_clients(dns_resolver_server(resolver), &net, 1);
    CHECK_INT(dns_kit_answers(ask(other, 3, "web.app.svc.cluster.local")), 1);
    stop();
    (void)close(fd);
    (void)close(other);
}

static uint64_t all_of(const struct dns_server *server)
{
    struct dns_server_counts c = dns_server_counts(server);
    return c.n_answered + c.n_dropped;
}

TEST(a_client_that_asks_too_fast_is_not_answered_for_a_while)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1"), other = open_socket(SOCK_DGRAM, "127.0.0.2");
    struct address_net net;
    struct dns_resolver_opts opts = { .client_rate = 10, .clients = &net, .n_clients = 1 };
    CHECK(address_net_parse(STR("127.0.0.0/8"), &net));
    start(&opts);
    struct dns_server *server = dns_resolver_server(resolver);
    for (int i = 0; i < 100; i++)
        send_query(fd, 1, "web.app.svc.cluster.local", DNS_A);
    for (int i = 0; i < TURNS_MAX && all_of(server) < 100; i++)
        (void)loop_turn(&loop, false);
    CHECK(all_of(server) == 100 && dns_server_counts(server).n_dropped >= 90);
    CHECK_INT(dns_kit_answers(ask(other, 2, "web.app.svc.cluster.local")), 1);
    loop_skip(&loop, 1000);
    while (recv(fd, answer_bytes, sizeof answer_bytes, 0) >= 0)
        ;
    CHECK_INT(dns_kit_answers(ask(fd, 3, "web.app.svc.cluster.local")), 1);
    stop();
    (void)close(fd);
    (void)close(other);
}

/* ---------------------------------------------------------------- TCP */

static int connect_tcp(void)
{
    struct sockaddr_in to = at_port(port());
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(connect(fd, (struct sockaddr *)&to, sizeof to));
    CHECK_OK(fcntl(fd, F_SETFL, O_NONBLOCK));
    return fd;
}

static void add_tcp_query(struct buf *to, unsigned id, const char *name)
{
    struct buf b = BUF_INIT(512);
    dns_kit_query(&b, id, name, DNS_A, 0);
    dns_kit_u16(to, (unsigned)b.n);
    (void)buf_add_str(to, buf_str(&b));
    buf_fini(&b);
}

static void receive_all(int fd, char *to, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = receive(fd, to + at, n - at, NULL);
        CHECK(got > 0);
        at += (size_t)got;
    }
}

static unsigned receive_tcp(int fd)
{
    uint8_t length[2];
    receive_all(fd, (char *)length, 2);
    size_t n = (size_t)length[0] << 8 | length[1];
    receive_all(fd, answer_bytes, n);
    return dns_kit_id(str_n(answer_bytes, n));
}

TEST(a_connection_may_have_many_questions_in_any_pieces)
{
    struct buf b = BUF_INIT(1 << 20);
    start_with(NULL);
    int fd = connect_tcp();
    for (unsigned i = 0; i < 100; i++)
        add_tcp_query(&b, i, "web.app.svc.cluster.local");
    for (size_t at = 0; at < b.n;) {
        size_t n = test_random_below(200) + 1;
        n = MIN(n, b.n - at);
        CHECK(write(fd, b.p + at, n) == (ssize_t)n);
        at += n;
        (void)loop_turn(&loop, false);
    }
    for (unsigned i = 0; i < 100; i++)
        CHECK_INT(receive_tcp(fd), i);
    CHECK_OK(shutdown(fd, SHUT_WR));
    CHECK_INT(receive(fd, answer_bytes, 1, NULL), 0);
    for (int i = 0; i < TURNS_MAX && loop_next_timer_ms(&loop) != UINT64_MAX; i++)
        (void)loop_turn(&loop, false);
    CHECK_INT(dns_server_counts(dns_resolver_server(resolver)).n_conns, 0);
    CHECK(loop_next_timer_ms(&loop) == UINT64_MAX);
    stop();
    buf_fini(&b);
    (void)close(fd);
}

TEST(a_client_may_end_its_direction_before_the_answers)
{
    struct buf b = BUF_INIT(1 << 20);
    int server = open_socket(SOCK_DGRAM, "127.0.0.1");
    start_with(text_of(server));
    int fd = connect_tcp();
    for (unsigned i = 0; i < 40; i++)
        add_tcp_query(&b, i, "www.example.com");
    CHECK(write(fd, b.p, b.n) == (ssize_t)b.n);
    CHECK_OK(shutdown(fd, SHUT_WR));
    struct asked q = next_asked(server);
    CHECK_INT(dns_server_counts(dns_resolver_server(resolver)).n_requests,
              DNS_SERVER_CONN_REQUESTS_MAX);
    send_answer(server, &q, q.id, "www.example.com", 60, 5);
    for (unsigned i = 0; i < 40; i++)
        (void)receive_tcp(fd);
    CHECK_INT(receive(fd, answer_bytes, 1, NULL), 0);
    stop();
    buf_fini(&b);
    (void)close(fd);
    (void)close(server);
}

TEST(connections_are_bounded_and_end_when_idle_or_malformed)
{
    int fds[DNS_SERVER_CLIENT_CONNS_MAX + 1];
    start_with(NULL);
    for (int i = 0; i < DNS_SERVER_CLIENT_CONNS_MAX; i++) {
        fds[i] = connect_tcp();
        struct buf b = BUF_INIT(512);
        add_tcp_query(&b, 1, "web.app.svc.cluster.local");
        CHECK(write(fds[i], b.p, b.n) == (ssize_t)b.n);
        CHECK_INT(receive_tcp(fds[i]), 1);
        buf_fini(&b);
    }
    fds[DNS_SERVER_CLIENT_CONNS_MAX] = connect_tcp();
    CHECK(receive(fds[DNS_SERVER_CLIENT_CONNS_MAX], answer_bytes, 1, NULL) <= 0);
    CHECK(write(fds[0], "\xff\xff", 2) == 2);
    CHECK(receive(fds[0], answer_bytes, 1, NULL) <= 0);
    loop_skip(&loop, DNS_SERVER_IDLE_MS);
    for (int i = 1; i < DNS_SERVER_CLIENT_CONNS_MAX; i++)
        CHECK(receive(fds[i], answer_bytes, 1, NULL) <= 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        (void)close(fds[i]);
    stop();
}

/* ---------------------------------------------------------------- other names */

TEST(other_names_are_asked_for_once_until_their_ttl_ends)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1"), server = open_socket(SOCK_DGRAM, "127.0.0.1");
    start_with(text_of(server));
    send_query(fd, 1, "www.example.com", DNS_A);
    struct asked q = next_asked(server);
    send_query(fd, 2, "WWW.example.com", DNS_A); /* waits for the same answer */
    while (dns_server_counts(dns_resolver_server(resolver)).n_requests < 2)
        (void)loop_turn(&loop, false);
    CHECK_INT(dns_resolver_calls(resolver), 1);
    send_answer(server, &q, q.id, "www.example.com", 60, 5);
    CHECK_INT(last_of(receive_answer(fd)), 5);
    CHECK_INT(last_of(receive_answer(fd)), 5);
    loop_skip(&loop, 59000);
    CHECK_INT(last_of(ask(fd, 3, "www.example.com")), 5);
    struct str got = ask(fd, 4, "far.app.svc.cluster.local"); /* an alias of it */
    CHECK(dns_kit_answers(got) == 2 && last_of(got) == 5);
    CHECK(loop_next_timer_ms(&loop) == UINT64_MAX);
    loop_skip(&loop, 2000);
    send_query(fd, 5, "www.example.com", DNS_A);
    q = next_asked(server);
    send_answer(server, &q, q.id, "www.example.com", 60, 6);
    CHECK_INT(last_of(receive_answer(fd)), 6);
    stop();
    (void)close(fd);
    (void)close(server);
}

TEST(forged_answers_are_ignored)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1"), server = open_socket(SOCK_DGRAM, "127.0.0.1");
    int stranger = open_socket(SOCK_DGRAM, "127.0.0.2");
    start_with(text_of(server));
    send_query(fd, 1, "www.example.com", DNS_A);
    struct asked q = next_asked(server);
    send_answer(stranger, &q, q.id, "www.example.com", 60, 66);   /* of another server */
    send_answer(server, &q, q.id + 1, "www.example.com", 60, 66); /* another id */
    send_answer(server, &q, q.id, "www.example.org", 60, 66);     /* another question */
    CHECK(sendto(server, "garbage", 7, 0, (struct sockaddr *)&q.from, sizeof q.from) == 7);
    send_answer(server, &q, q.id, "www.example.com", 60, 5);
    CHECK_INT(last_of(receive_answer(fd)), 5);
    CHECK_INT(last_of(ask(fd, 2, "www.example.com")), 5);
    stop();
    (void)close(fd);
    (void)close(server);
    (void)close(stranger);
}

/* A server for both: TCP on the port of UDP, which another program may have. */
static int open_both(int *udp)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        *udp = open_socket(SOCK_DGRAM, "127.0.0.1");
        struct sockaddr_in a = at_port(port_of(*udp));
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 8) == 0)
            return fd;
        (void)close(fd);
        (void)close(*udp);
    }
    TEST_FAIL("no port is free for UDP and TCP");
}

static void answer_by_tcp(int listener, const char *name, unsigned last)
{
    struct buf b = BUF_INIT(512), out = BUF_INIT(600);
    char question[512];
    int fd = -1;
    for (int i = 0; i < TURNS_MAX && fd < 0; i++) {
        fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            (void)loop_turn(&loop, false);
    }
    ssize_t n = receive(fd, question, sizeof question, NULL);
    CHECK(n > DNS_HEADER + 2);
    dns_kit_address_answer(&b, dns_kit_id(str_n(question + 2, (size_t)n - 2)), name, 60, last);
    dns_kit_u16(&out, (unsigned)b.n);
    (void)buf_add_str(&out, buf_str(&b));
    CHECK(write(fd, out.p, out.n) == (ssize_t)out.n);
    buf_fini(&b);
    buf_fini(&out);
    CHECK(receive(fd, question, 1, NULL) <= 0); /* the connection ends after the answer */
    (void)close(fd);
}

TEST(a_truncated_answer_and_many_forged_ones_make_tcp_ask)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1"), server = -1;
    int tcp = open_both(&server);
    struct buf b = BUF_INIT(512);
    start_with(text_of(server));
    send_query(fd, 1, "big.example.com", DNS_A);
    struct asked q = next_asked(server);
    dns_kit_header(&b, q.id, 0x8380, 0, 0, 0);
    dns_kit_name(&b, "big.example.com");
    (void)buf_add(&b, "\0\1\0\1", 4);
    CHECK_OK(sendto(server, b.p, b.n, 0, (struct sockaddr *)&q.from, sizeof q.from));
    answer_by_tcp(tcp, "big.example.com", 77);
    CHECK_INT(last_of(receive_answer(fd)), 77);
    send_query(fd, 2, "forged.example.com", DNS_A);
    q = next_asked(server);
    for (unsigned i = 0; i < DNS_ATTEMPT_FORGED_MAX; i++)
        send_answer(server, &q, q.id + 1 + i, "forged.example.com", 60, 66);
    answer_by_tcp(tcp, "forged.example.com", 78);
    CHECK_INT(last_of(receive_answer(fd)), 78);
    stop();
    buf_fini(&b);
    (void)close(tcp);
    (void)close(fd);
    (void)close(server);
}

TEST(the_next_server_is_asked_when_one_does_not_answer_and_then_first)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1"), dead = open_socket(SOCK_DGRAM, "127.0.0.1");
    int mute = open_socket(SOCK_DGRAM, "127.0.0.1"), good = open_socket(SOCK_DGRAM, "127.0.0.1");
    struct dns_resolver_opts opts = { 0 };
    CHECK_OK(dns_servers_add(&opts.servers, str_of(text_of(dead)), NULL));
    CHECK_OK(dns_servers_add(&opts.servers, str_of(text_of(mute)), NULL));
    CHECK_OK(dns_servers_add(&opts.servers, str_of(text_of(good)), NULL));
    CHECK_ERR(dns_servers_add(&opts.servers, STR("10.0.0.1"), NULL), E_LIMIT);
    (void)close(dead);
    start(&opts);
    send_query(fd, 1, "www.example.com", DNS_A);
    (void)next_asked(mute);
    loop_skip(&loop, DNS_ATTEMPT_MS);
    struct asked q = next_asked(good);
    send_answer(good, &q, q.id, "www.example.com", 60, 5);
    CHECK_INT(last_of(receive_answer(fd)), 5);
    send_query(fd, 2, "ftp.example.com", DNS_A);
    q = next_asked(good);
    send_answer(good, &q, q.id, "ftp.example.com", 60, 6);
    CHECK_INT(last_of(receive_answer(fd)), 6);
    stop();
    (void)close(fd);
    (void)close(mute);
    (void)close(good);
}

TEST(beyond_the_limit_of_outstanding_questions_the_answer_is_a_failure)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1"), mute = open_socket(SOCK_DGRAM, "127.0.0.1");
    static const char *const addresses[] = { "127.0.0.11", "127.0.0.12", "127.0.0.13",
                                             "127.0.0.14" };
    int fds[ARRAY_LEN(addresses)];
    char name[64];
    start_with(text_of(mute));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = open_socket(SOCK_DGRAM, addresses[i]);
    for (unsigned i = 0; i < DNS_FORWARD_CALLS_MAX; i++) {
        (void)snprintf(name, sizeof name, "n%u.example.com", i);
        send_query(fds[i % ARRAY_LEN(fds)], i, name, DNS_A);
        while (dns_resolver_calls(resolver) <= i)
            (void)loop_turn(&loop, false);
    }
    CHECK_INT(dns_kit_rcode(ask(fd, 9999, "one.more.example.com")), DNS_SERVFAIL);
    CHECK_INT(dns_kit_answers(ask(fd, 9998, "web.app.svc.cluster.local")), 1);
    stop(); /* with all of them waiting */
    CHECK_INT(dns_kit_rcode(str_n(answer_bytes, (size_t)recv(fds[0], answer_bytes, 512, 0))),
              DNS_SERVFAIL);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        (void)close(fds[i]);
    (void)close(fd);
    (void)close(mute);
}

TEST(one_client_cannot_have_all_outstanding_questions)
{
    int greedy = open_socket(SOCK_DGRAM, "127.0.0.11"), fd = open_socket(SOCK_DGRAM, "127.0.0.1"),
        mute = open_socket(SOCK_DGRAM, "127.0.0.1");
    char name[64];
    start_with(text_of(mute));
    for (unsigned i = 0; i < DNS_SERVER_CLIENT_REQUESTS_MAX + 1; i++) {
        (void)snprintf(name, sizeof name, "n%u.example.com", i);
        send_query(greedy, i, name, DNS_A);
        while (i < DNS_SERVER_CLIENT_REQUESTS_MAX && dns_resolver_calls(resolver) <= i)
            (void)loop_turn(&loop, false);
    }
    /* Datagrams of a socket are read in their order, so the last one was looked at. */
    CHECK_INT(dns_kit_answers(ask(fd, 9998, "web.app.svc.cluster.local")), 1);
    CHECK_INT(dns_resolver_calls(resolver), DNS_SERVER_CLIENT_REQUESTS_MAX);
    stop();
    (void)close(greedy);
    (void)close(fd);
    (void)close(mute);
}

static void write_conf(const char *path, const char *text, time_t changed)
{
    struct timespec times[2] = { { .tv_sec = changed }, { .tv_sec = changed } };
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) > 0 && fclose(f) == 0);
    CHECK_OK(utimensat(AT_FDCWD, path, times, 0));
}

static void no_answer(struct dns_waiter *w, const struct dns_forward_answer *answer)
{
    CHECK_INT(answer->rcode, DNS_SERVFAIL);
}

TEST(resolv_conf_is_read_again_when_it_changes_and_our_own_address_is_never_asked)
{
    char dir[TEMP_DIR_BYTES];
    CHECK(temp_dir_make("dns", dir));
    scoped(free_scoped) char *path = xasprintf("%s/resolv.conf", dir);
    struct address own = loopback();
    struct dns_forward_answer answer;
    struct dns_waiter w = { .done = no_answer };
    const struct dns_question q = { STR("\1a\0"), DNS_A };
    CHECK_OK(loop_init(&loop, NULL));
    struct dns_forward *f = dns_forward_new(&(struct dns_forward_opts){
        .loop = &loop, .resolv_conf = path, .own = &own, .n_own = 1, .own_port = 53 });
    CHECK_ERR(dns_forward_ask(f, &q, &w, &answer), E_UNSUPPORTED);
    write_conf(path, "# a comment\nnameserver 127.0.0.1\nsearch x\n", 1000);
    CHECK_ERR(dns_forward_ask(f, &q, &w, &answer), E_UNSUPPORTED);
    write_conf(path, "nameserver\t127.0.0.53 ; another one\n", 1000);
    CHECK_ERR(dns_forward_ask(f, &q, &w, &answer), E_UNSUPPORTED); /* as it was */
    write_conf(path, "nameserver\t127.0.0.53 ; another one\n", 2000);
    CHECK_INT(dns_forward_ask(f, &q, &w, &answer), 0);
    CHECK_INT(dns_forward_calls(f), 1);
    dns_forward_free(f);
    loop_run(&loop);
    loop_fini(&loop);
    temp_dir_remove(dir);
}

TEST(names_of_a_stub_zone_go_to_its_servers)
{
    int fd = open_socket(SOCK_DGRAM, "127.0.0.1"), stub = open_socket(SOCK_DGRAM, "127.0.0.1");
    struct dns_stub stubs[2];
    scoped(free_scoped) char *text = xasprintf("Corp.example=%s", text_of(stub));
    CHECK_OK(dns_stub_parse(str_of(text), &stubs[0], NULL));
    CHECK_OK(dns_stub_parse(STR("example=127.0.0.1:1"), &stubs[1], NULL));
    CHECK_ERR(dns_stub_parse(STR("corp.example"), &stubs[1], NULL), E_INVALID);
    CHECK_OK(dns_stub_parse(STR("example=127.0.0.1:1"), &stubs[1], NULL));
    struct dns_resolver_opts opts = { .stubs = stubs, .n_stubs = 2 };
    start(&opts);
    send_query(fd, 1, "a.corp.Example", DNS_A);
    struct asked q = next_asked(stub);
    send_answer(stub, &q, q.id, "a.corp.example", 60, 5);
    CHECK_INT(last_of(receive_answer(fd)), 5);
    stop();
    (void)close(fd);
    (void)close(stub);
}

TEST(the_cache_is_bounded)
{
    struct dns_cache c = { 0 };
    struct dns_cached got;
    char name[DNS_NAME_MAX], message[1000] = { 0 };
    struct dns_upstream_answer answer = { .ttl_s = 60 };
    for (int i = 0; i < DNS_CACHE_ENTRIES_MAX + 10; i++) {
        int n = snprintf(name, sizeof name, "%c%05d", 5, i);
        dns_cache_put(&c, &(struct dns_question){ str_n(name, (size_t)n + 1), DNS_A }, 0,
                      str_n(message, i % 2 ? sizeof message : 10), &answer);
        CHECK(c.bytes <= DNS_CACHE_BYTES_MAX && c.by_question.n <= DNS_CACHE_ENTRIES_MAX);
    }
    int n = snprintf(name, sizeof name, "%c%05d", 5, DNS_CACHE_ENTRIES_MAX);
    const struct dns_question last = { str_n(name, (size_t)n + 1), DNS_A };
    CHECK(dns_cache_get(&c, &last, 59999, &got) && got.age_s == 59);
    CHECK(!dns_cache_get(&c, &(struct dns_question){ last.name, DNS_AAAA }, 1, &got));
    CHECK(!dns_cache_get(&c, &last, 60000, &got));
    dns_cache_fini(&c);
}

TEST_MAIN
