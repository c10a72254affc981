/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateway and sandboxes with an address: HTTP/1.1, HTTP/2, gRPC's shape, WebSockets, Unix
 * sockets, workers of other processes, other gateways. Sandboxes are servers on the same loop.
 */
#include "fn_gateway_rig.h"

#include "io/tls.h"

#include <netinet/in.h>
#include <sys/socket.h>

static struct gateway *gateways[3];
static struct plane planes[3];
static size_t n_gateways;
static struct http_client *client, *client2; /* of the first gateway: HTTP/1.1 and HTTP/2 */
static struct answer a;
static unsigned stops;

static void on_stopped(void *arg)
{
    stops++;
}

static struct http_client *connect_to(uint16_t port, bool http2)
{
    struct http_client *c;
    struct err err = { 0 };
    const struct http_client_opts opts = { .host = "127.0.0.1", .port = port, .http2 = http2 };
    CHECK_OK(http_client_new(&loop, &opts, &c, &err));
    return c;
}

static void begin_with(size_t n, struct gateway_opts opts)
{
    static const char *const names[] = { "g1", "g2", "g3" };
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    n_gateways = n;
    stops = 0;
    sandboxes = (struct rig_invoker){ .invoker = { rig_start } };
    for (size_t i = 0; i < n; i++) {
        planes[i] = (struct plane){ .dialer = { &plane_dialer_ops } };
        opts.loop = &loop;
        opts.name = names[i];
        opts.dialer = &planes[i].dialer;
        opts.local = &sandboxes.invoker;
        opts.local_worker = "w";
        CHECK_OK(gateway_start(&opts, &gateways[i], &err));
        WAIT_FOR(planes[i].hellos == 1);
    }
    client = connect_to(gateway_port(gateways[0]), false);
    client2 = connect_to(gateway_port(gateways[0]), true);
}

static void begin(void)
{
    begin_with(1, (struct gateway_opts){ 0 });
}

/* ---------------------------------------------------------------- servers in sandboxes */

static struct http_server *servers[4];
static size_t n_servers;
static unsigned server_requests[4];
static bool server_hangs;
static bool servers_gone;

static void on_server_gone(void *arg)
{
    servers_gone = true;
}

struct served {
    struct buf body;
    char fields[512], id[24];
    size_t server;
    bool upgraded, upgrades, trailers;
};

static void served_on_body(struct http_exchange *x, struct str chunk)
{
    struct served *s = http_exchange_data(x);
    if (s->upgraded)
        (void)http_write(x, chunk);
    else
        CHECK_OK(buf_add_str(&s->body, chunk));
}

static void served_on_body_end(struct http_exchange *x, int r)
{
    struct served *s = http_exchange_data(x);
    if (r < 0)
        return;
    if (s->upgraded) {
        http_end(x);
        return;
    }
    if (server_hangs)
        return;
    struct headers h = { 0 };
    char number[8];
    (void)snprintf(number, sizeof number, "%zu", s->server);
    (void)headers_addc(&h, "x-server", number);
    (void)headers_addc(&h, "x-saw", s->fields);
    (void)headers_addc(&h, "x-id", s->id);
    if (s->trailers) {
        http_respond(x, 200, &h, HTTP_CHUNKED);
        (void)http_write(x, buf_str(&s->body));
        headers_reset(&h);
        (void)headers_addc(&h, "grpc-status", "0");
        const struct headers *t = http_request_trailers(x);
        (void)headers_add(&h, STR("x-got"), t ? headers_get(t, "x-sum") : STR("nothing"));
        http_trailers(x, &h);
        http_end(x);
    } else {
        http_reply(x, 200, &h, buf_str(&s->body));
    }
    headers_fini(&h);
}

static void served_on_gone(struct http_exchange *x, int r)
{
    struct served *s = http_exchange_data(x);
    buf_fini(&s->body);
    free(s);
}

static const struct http_exchange_ops served_ops = { .on_body = served_on_body,
                                                     .on_body_end = served_on_body_end,
                                                     .on_gone = served_on_gone };

static void on_serve(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct served *s = xnew(struct served);
    s->server = (size_t)(uintptr_t)arg;
    s->body = BUF_INIT(64 << 20);
    s->trailers = headers_get(req->headers, "te").p != NULL;
    server_requests[s->server]++;
    static const char *const reported[] = { "host", "x-dormouse-sandbox", "x-dormouse-token",
                                            "x-forwarded-for", "x-dormouse-call-id" };
    size_t n = (size_t)snprintf(s->fields, sizeof s->fields, STR_FMT, STR_ARG(req->target));
    for (size_t i = 0; i < ARRAY_LEN(reported); i++) {
        struct str value = headers_get(req->headers, reported[i]);
        n += (size_t)snprintf(s->fields + n, sizeof s->fields - n, " " STR_FMT,
                              STR_ARG(value.p ? value : STR("-")));
    }
    (void)snprintf(s->id, sizeof s->id, STR_FMT, STR_ARG(headers_get(req->headers, "x-call-id")));
    http_exchange_set(x, &served_ops, s);
    struct str end = headers_get(req->headers, "x-end"), only = headers_get(req->headers, "x-only");
    if (end.p &&
        (!only.p ||
         str_eq(only, headers_get(req->headers,
                                  "x-dormouse-sandbox")))) { /* as a worker's listener tells of an
                                                                invocation that failed */
        struct headers h = { 0 };
        (void)headers_add(&h, STR("x-dormouse-error"), end);
        (void)headers_addc(&h, "x-dormouse-reason", "GuestTrapped");
        http_reply(x, 502, &h, STR("not for the client"));
        headers_fini(&h);
        return;
    }
    if (req->upgrade) {
        struct headers h = { 0 };
        (void)headers_add(&h, STR("upgrade"), headers_get(req->headers, "upgrade"));
        (void)headers_addc(&h, "sec-websocket-accept", "yes");
        s->upgraded = true;
        http_upgrade(x, &h);
        headers_fini(&h);
    }
    http_read_body(x, UINT64_MAX);
}

static char addresses[4][300];

static const char *serve(const char *unix_path)
{
    size_t i = n_servers++;
    struct err err = { 0 };
    server_requests[i] = 0;
    const struct http_server_opts opts = {
        .http2 = true, .unix_path = unix_path, .on_request = on_serve, .arg = (void *)(uintptr_t)i
    };
    CHECK_OK(http_server_start(&loop, &opts, &servers[i], &err));
    if (unix_path)
        (void)snprintf(addresses[i], sizeof addresses[i], "unix:%s", unix_path);
    else
        (void)snprintf(addresses[i], sizeof addresses[i], "127.0.0.1:%u",
                       http_server_port(servers[i]));
    return addresses[i];
}

static void stop_server(size_t i)
{
    servers_gone = false;
    http_server_close(servers[i], 0, on_server_gone, NULL);
    servers[i] = NULL;
    WAIT_FOR(servers_gone);
}

/* An address that nobody listens on. */
static const char *closed_port(void)
{
    static char text[32];
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t n = sizeof in;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(bind(fd, (struct sockaddr *)&in, sizeof in));
    CHECK_OK(getsockname(fd, (struct sockaddr *)&in, &n));
    (void)close(fd);
    (void)snprintf(text, sizeof text, "127.0.0.1:%u", ntohs(in.sin_port));
    return text;
}

static void finish(void)
{
    http_client_close(client);
    http_client_close(client2);
    for (size_t i = 0; i < n_gateways; i++)
        if (gateways[i])
            gateway_stop(gateways[i], 0, on_stopped, NULL);
        else
            stops++;
    WAIT_FOR(stops >= n_gateways);
    for (size_t i = 0; i < n_servers; i++)
        if (servers[i])
            stop_server(i);
    n_servers = 0;
    server_hangs = false;
    for (size_t i = 0; i < n_gateways; i++)
        plane_fini(&planes[i]);
    answer_reset(&a);
    loop_run(&loop);
    vec_fini(&sandboxes.running);
    loop_fini(&loop);
}

static void welcome(size_t gateway, const char *spec, const char *const *sandbox)
{
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "f", spec);
    order_endpoints(o, 0, 1, true);
    for (uint64_t i = 1; sandbox && *sandbox; i++)
        order_add(o, i, 1, *sandbox++);
    order_send(o, &planes[gateway]);
}

#define SANDBOXES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void get(void)
{
    request(client, &a, (struct http_call_opts){ .target = STR("/t") }, FIELDS("host", "f"));
    WAIT_FOR(a.ends);
}

/* ---------------------------------------------------------------- HTTP */

TEST(a_sandbox_with_an_address_sees_the_clients_host)
{
    begin();
    welcome(0, "", SANDBOXES(serve(NULL)));
    get();
    CHECK_INT(a.status, 200);
    CHECK_STR(headers_get(&a.headers, "x-saw"), "/t f - - 127.0.0.1 -");
    request(client, &a, (struct http_call_opts){ .method = STR("POST"), .body = STR("to and fro") },
            FIELDS("host", "f", "x-dormouse-sandbox", "evil"));
    WAIT_FOR(a.ends);
    CHECK_STR(buf_str(&a.body), "to and fro");
    CHECK_STR(headers_get(&a.headers, "x-saw"), "/ f - - 127.0.0.1 -");
    finish();
}

TEST(a_sandbox_may_listen_on_a_unix_socket)
{
    char path[64];
    begin();
    (void)snprintf(path, sizeof path, "/tmp/dormouse-test-%d.sock", getpid());
    welcome(0, "", SANDBOXES(serve(path)));
    get();
    CHECK_INT(a.status, 200);
    finish();
    (void)unlink(path);
}

TEST(large_bodies_pass_both_ways)
{
    begin();
    welcome(0, "", SANDBOXES(serve(NULL)));
    struct buf big = BUF_INIT(16 << 20);
    for (unsigned i = 0; i < 700000; i++)
        CHECK_OK(buf_printf(&big, "%u,", i));
    for (int http2 = 0; http2 < 2; http2++) {
        request(http2 ? client2 : client, &a,
                (struct http_call_opts){ .method = STR("PUT"), .body = buf_str(&big) },
                FIELDS("host", "f"));
        WAIT_FOR(a.ends);
        CHECK_INT(a.r, 0);
        CHECK_INT(a.body.n, big.n);
        CHECK(str_eq(buf_str(&a.body), buf_str(&big)));
    }
    buf_fini(&big);
    finish();
}

TEST(an_address_that_refuses_is_left_for_one_that_does_not)
{
    begin();
    const char *good = serve(NULL), *bad = closed_port();
    struct buf big = BUF_INIT(1 << 20);
    for (unsigned i = 0; i < 5000; i++)
        CHECK_OK(buf_printf(&big, "%u,", i)); /* is not read before a sandbox has room */
    /* The first that was added is the first that is taken. */
    welcome(0, "", SANDBOXES(bad, good));
    request(client, &a, (struct http_call_opts){ .method = STR("POST"), .body = buf_str(&big) },
            FIELDS("host", "f"));
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    CHECK_INT(a.body.n, big.n);
    WAIT_FOR(planes[0].broken.n == 1);
    CHECK_INT(planes[0].broken.p[0], 1);
    get();
    CHECK_INT(a.status, 200);
    buf_fini(&big);
    finish();
}

TEST(a_request_in_http2_reaches_a_sandbox_of_http2_with_trailers)
{
    begin();
    welcome(0, "\"protocol\":\"grpc\"", SANDBOXES(serve(NULL)));
    struct headers t = { 0 };
    CHECK_OK(headers_addc(&t, "x-sum", "7"));
    request(
        client2, &a,
        (struct http_call_opts){ .method = STR("POST"), .streams = true, .body_n = HTTP_CHUNKED },
        FIELDS("host", "f", "content-type", "application/grpc", "te", "trailers"));
    (void)exchange_write(a.call, STR("message"));
    exchange_end_body(a.call, &t);
    WAIT_FOR(a.ends);
    CHECK_INT(a.r, 0);
    CHECK_STR(buf_str(&a.body), "message");
    CHECK_STR(headers_get(&a.trailers, "grpc-status"), "0");
    CHECK_STR(headers_get(&a.trailers, "x-got"), "7");
    headers_fini(&t);
    finish();
}

TEST(a_websocket_is_a_tunnel)
{
    begin();
    welcome(0, "\"timeouts\":{\"requestMilliseconds\":2000}", SANDBOXES(serve(NULL)));
    request(client, &a, (struct http_call_opts){ .target = STR("/chat"), .upgrade = true },
            FIELDS("host", "f", "upgrade", "websocket", "sec-websocket-key", "k"));
    WAIT_FOR(a.status == 101);
    CHECK_STR(headers_get(&a.headers, "upgrade"), "websocket");
    CHECK_STR(headers_get(&a.headers, "sec-websocket-accept"), "yes");
    (void)exchange_write(a.call, STR("hello"));
    WAIT_FOR(a.body.n == 5);
    pass(10000); /* a tunnel may last longer than a request */
    (void)exchange_write(a.call, STR(" again"));
    WAIT_FOR(a.body.n == 11);
    exchange_end_body(a.call, NULL);
    WAIT_FOR(a.ends);
    CHECK_INT(a.r, 0);
    CHECK_STR(buf_str(&a.body), "hello again");
    finish();
}

TEST(a_worker_of_another_process_is_told_whose_request_it_is)
{
    begin_with(1, (struct gateway_opts){ .worker_token = "0123456789abcdef" });
    const char *address = serve(NULL);
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "f", "");
    order_endpoints(o, 0, 1, true);
    order_add(o, 77, 1, address);
    o->endpoint[0].by_worker = true;
    o->endpoint[0].worker = (char *)"elsewhere";
    order_send(o, &planes[0]);
    get();
    CHECK(str_has_prefix(headers_get(&a.headers, "x-saw"), STR("/t f 77 0123456789abcdef")));
    request(client, &a, (struct http_call_opts){ 0 }, FIELDS("host", "f", "x-end", "E_TRAP"));
    WAIT_FOR(a.ends);
    check_refused(&a, 502, "GuestTrapped");
    CHECK(str_find(buf_str(&a.body), STR("not for the client")) < 0);
    request(client, &a, (struct http_call_opts){ 0 }, FIELDS("host", "f", "x-end", "EBUSY"));
    WAIT_FOR(a.ends || planes[0].load[1].queued); /* tried again, and nobody else is there */
    finish();
}

/* ---------------------------------------------------------------- nonsense */

/* A listener that answers every connection with these bytes and closes it. */
static struct nonsense {
    uv_tcp_t tcp;
    const char *bytes;
    size_t n;
} nonsense;

static void on_nonsense_closed(uv_handle_t *h)
{
    free(h);
}

static void on_nonsense_sent(uv_write_t *w, int status)
{
    uv_stream_t *s = w->handle;
    free(w);
    if (!uv_is_closing((uv_handle_t *)s))
        uv_close((uv_handle_t *)s, on_nonsense_closed);
}

static void on_nonsense_alloc(uv_handle_t *h, size_t n, uv_buf_t *b)
{
    *b = uv_buf_init(loop_scratch(&loop), LOOP_SCRATCH_BYTES);
}

static void on_nonsense_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    (void)uv_read_stop(s);
    uv_write_t *w = xnew(uv_write_t);
    uv_buf_t out = uv_buf_init((char *)nonsense.bytes, (unsigned)nonsense.n);
    if (n <= 0 || uv_write(w, s, &out, 1, on_nonsense_sent) < 0) {
        free(w);
        if (!uv_is_closing((uv_handle_t *)s))
            uv_close((uv_handle_t *)s, on_nonsense_closed);
    }
}

static void on_nonsense(uv_stream_t *listener, int status)
{
    uv_tcp_t *c = xnew(uv_tcp_t);
    CHECK_OK(uv_tcp_init(&loop.uv, c));
    CHECK_OK(uv_accept(listener, (uv_stream_t *)c));
    CHECK_OK(uv_read_start((uv_stream_t *)c, on_nonsense_alloc, on_nonsense_read));
}

static const char *talk_nonsense(void)
{
    static char address[32];
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int n = sizeof in;
    CHECK_OK(uv_tcp_init(&loop.uv, &nonsense.tcp));
    CHECK_OK(uv_tcp_bind(&nonsense.tcp, (struct sockaddr *)&in, 0));
    CHECK_OK(uv_listen((uv_stream_t *)&nonsense.tcp, 128, on_nonsense));
    CHECK_OK(uv_tcp_getsockname(&nonsense.tcp, (struct sockaddr *)&in, &n));
    (void)snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(in.sin_port));
    return address;
}

TEST(a_worker_that_has_lost_one_sandbox_keeps_the_others)
{
    begin();
    const char *address = serve(NULL);
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "f", "");
    order_endpoints(o, 0, 1, true);
    for (uint64_t id = 1; id <= 3; id++) {
        order_add(o, id, 1, address);
        o->endpoint[id - 1].by_worker = true;
        o->endpoint[id - 1].worker = (char *)"elsewhere";
    }
    order_send(o, &planes[0]);
    request(client, &a, (struct http_call_opts){ .method = STR("POST") },
            FIELDS("host", "f", "x-end", "ECONNREFUSED", "x-only", "1"));
    WAIT_FOR(a.ends && planes[0].broken.n);
    CHECK_INT(a.status, 200);
    CHECK_INT(planes[0].broken.n, 1);
    CHECK_INT(planes[0].broken.p[0], 1);
    stop_server(0); /* the whole worker */
    request(client, &a, (struct http_call_opts){ .method = STR("POST") }, FIELDS("host", "f"));
    WAIT_FOR(planes[0].broken.n == 3);
    CHECK_INT(a.ends, 0); /* it waits for another one */
    finish();
}

TEST(a_sandbox_that_answers_nonsense_gives_502_and_nothing_worse)
{
    static char long_head[100000];
    static const char *const texts[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        "HTTP/1.1 999999 Odd\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nabc",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
        "\r\n\r\n\r\n\r\n",
        "",
    };
    begin();
    welcome(0, "", SANDBOXES(talk_nonsense()));
    memset(long_head, 'x', sizeof long_head);
    memcpy(long_head, "HTTP/1.1 200 OK\r\nx: ", 20);
    for (size_t i = 0; i <= ARRAY_LEN(texts); i++) {
        nonsense.bytes = i < ARRAY_LEN(texts) ? texts[i] : long_head;
        nonsense.n = i < ARRAY_LEN(texts) ? strlen(texts[i]) : sizeof long_head;
        request(client, &a, (struct http_call_opts){ .method = STR("POST") }, FIELDS("host", "f"));
        WAIT_FOR(a.ends);
        if (a.status != 502)
            TEST_FAIL("text %zu: %d", i, a.status);
    }
    for (int round = 0; round < 200; round++) {
        char bytes[64];
        nonsense.n = (size_t)test_random_below(sizeof bytes);
        for (size_t i = 0; i < nonsense.n; i++)
            bytes[i] = (char)test_random();
        nonsense.bytes = bytes;
        request(client, &a, (struct http_call_opts){ .method = STR("POST") }, FIELDS("host", "f"));
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 502);
    }
    CHECK_INT(planes[0].broken.n, 0);
    uv_close((uv_handle_t *)&nonsense.tcp, NULL);
    finish();
}

/* ---------------------------------------------------------------- several gateways */

static void welcome_all(const char *const *sandbox, const char *spec)
{
    char address[3][32];
    static const char *const names[] = { "g1", "g2", "g3" };
    for (size_t i = 0; i < n_gateways; i++)
        (void)snprintf(address[i], sizeof address[i], "127.0.0.1:%u", gateway_port(gateways[i]));
    for (size_t g = 0; g < n_gateways; g++) {
        struct order *o = order_new();
        order_welcome(o, 1);
        order_function(o, 1, "f", spec);
        order_function(o, 2, "g", spec);
        order_function(o, 3, "h", spec);
        order_function(o, 4, "k", spec);
        order_endpoints(o, 0, 1, true);
        for (uint32_t f = 1; f <= 4; f++)
            order_add(o, f, f, *sandbox);
        for (size_t i = 0; i < n_gateways; i++)
            order_member(o, names[i], address[i]);
        order_send(o, &planes[g]);
    }
}

static bool owns(size_t gateway, const char *name)
{
    return gateway_owns(gateways[gateway], STR("default"), str_of(name));
}

/* A function that the first gateway does not own. */
static const char *elsewhere(size_t *ret_owner)
{
    static const char *const names[] = { "f", "g", "h", "k" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t g = 1; g < n_gateways; g++)
            if (owns(g, names[i])) {
                *ret_owner = g;
                return names[i];
            }
    TEST_FAIL("the first gateway owns all");
    return NULL;
}

TEST(the_owner_serves_whoever_was_asked)
{
    begin_with(3, (struct gateway_opts){ 0 });
    welcome_all(SANDBOXES(serve(NULL)), "");
    size_t owner;
    const char *name = elsewhere(&owner);
    unsigned sum = 0;
    for (size_t g = 0; g < 3; g++)
        sum += owns(g, name);
    CHECK_INT(sum, 1);
    for (int http2 = 0; http2 < 2; http2++) {
        struct arena arena = { 0 };
        request(http2 ? client2 : client, &a,
                (struct http_call_opts){ .method = STR("POST"), .body = STR("far") },
                FIELDS("host", name));
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 200);
        CHECK_STR(buf_str(&a.body), "far");
        char want[64];
        (void)snprintf(want, sizeof want, "/ %s - - 127.0.0.1 -", name);
        CHECK_STR(headers_get(&a.headers, "x-saw"), want); /* the client's address, once */
        CHECK_STR(headers_get(&a.headers, "x-id"),
                  str_dup_arena(&arena, headers_get(&a.headers, "x-dormouse-call-id")));
        arena_fini(&arena);
    }
    uint32_t number = (uint32_t)(strchr("fghk", name[0]) - "fghk") + 1;
    WAIT_FOR(planes[owner].load[number].finished == 2); /* counted where it is owned, */
    CHECK_INT(planes[0].load[number].reported, 0);      /* and nowhere else */
    finish();
}

TEST(nobody_but_a_gateway_can_say_that_a_request_was_forwarded)
{
    begin_with(2, (struct gateway_opts){ 0 });
    welcome_all(SANDBOXES(serve(NULL)), "");
    size_t owner;
    const char *name = elsewhere(&owner);
    request(client, &a, (struct http_call_opts){ 0 },
            FIELDS("host", name, "x-dormouse-forwarded-by", "00"));
    WAIT_FOR(a.ends);
    check_refused(&a, 503, "NotOwner"); /* and so there are no loops */
    request(client, &a, (struct http_call_opts){ 0 },
            FIELDS("host", name, "x-dormouse-forwarded-by", "736563726574"));
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    finish();
}

TEST(a_gateway_that_died_is_stood_in_for)
{
    begin_with(2, (struct gateway_opts){ 0 });
    welcome_all(SANDBOXES(serve(NULL)), "");
    size_t owner;
    const char *name = elsewhere(&owner);
    gateway_stop(gateways[1], 0, on_stopped, NULL);
    WAIT_FOR(stops == 1);
    gateways[1] = NULL;
    stops = 0;
    request(client, &a, (struct http_call_opts){ .method = STR("POST"), .body = STR("x") },
            FIELDS("host", name));
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    CHECK(owns(0, name));
    finish();
}

TEST(a_forwarded_request_may_wait_where_it_is_owned)
{
    begin_with(2, (struct gateway_opts){ 0 });
    const char *server = serve(NULL);
    welcome_all(SANDBOXES(server), "\"timeouts\":{\"idleMilliseconds\":300}");
    size_t owner;
    const char *name = elsewhere(&owner);
    uint32_t number = (uint32_t)(strchr("fghk", name[0]) - "fghk") + 1;
    struct order *o = order_new();
    order_endpoints(o, 1, 2, false);
    o->ids[0] = number;
    o->endpoints.removes = o->ids;
    o->endpoints.n_removes = 1;
    order_send(o, &planes[owner]);
    request(client, &a, (struct http_call_opts){ 0 }, FIELDS("host", name));
    WAIT_FOR(planes[owner].load[number].queued == 1);
    pass(5000); /* no byte comes, and that is as it should be */
    CHECK_INT(a.ends, 0);
    o = order_new();
    order_endpoints(o, 2, 3, false);
    order_add(o, 9, number, server);
    order_send(o, &planes[owner]);
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    finish();
}

TEST(what_waits_follows_a_function_to_its_new_owner)
{
    begin_with(2, (struct gateway_opts){ 0 });
    size_t owner;
    const char *server = serve(NULL);
    welcome_all(SANDBOXES(server), "");
    const char *name = elsewhere(&owner);
    uint32_t number = (uint32_t)(strchr("fghk", name[0]) - "fghk") + 1;
    char address[2][32];
    for (size_t i = 0; i < 2; i++)
        (void)snprintf(address[i], sizeof address[i], "127.0.0.1:%u", gateway_port(gateways[i]));
    struct order *o = order_new(); /* the first is alone, and has no sandbox */
    order_member(o, "g1", address[0]);
    order_endpoints(o, 1, 2, false);
    o->ids[0] = number;
    o->endpoints.removes = o->ids;
    o->endpoints.n_removes = 1;
    order_send(o, &planes[0]);
    request(client, &a, (struct http_call_opts){ 0 }, FIELDS("host", name));
    WAIT_FOR(planes[0].load[number].queued == 1);
    o = order_new();
    order_member(o, "g1", address[0]);
    order_member(o, "g2", address[1]);
    order_send(o, &planes[0]);
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    WAIT_FOR(planes[0].load[number].queued == 0);
    finish();
}

TEST(what_was_forwarded_to_a_lost_gateway_is_answered)
{
    begin_with(2, (struct gateway_opts){ 0 });
    welcome_all(SANDBOXES(serve(NULL)), "");
    size_t owner;
    const char *name = elsewhere(&owner);
    char address[2][32];
    for (size_t i = 0; i < 2; i++)
        (void)snprintf(address[i], sizeof address[i], "127.0.0.1:%u", gateway_port(gateways[i]));
    for (int post = 0; post < 2; post++) {
        server_hangs = true;
        unsigned before = server_requests[0];
        request(client, &a, (struct http_call_opts){ .method = post ? STR("POST") : STR("GET") },
                FIELDS("host", name));
        WAIT_FOR(server_requests[0] == before + 1);
        struct order *o = order_new(); /* one that leaves goes on with what it has */
        order_member(o, "g1", address[0]);
        order_member(o, "g2", address[1]);
        o->member[1].is_leaving = true;
        order_send(o, &planes[0]);
        turns(10);
        CHECK_INT(a.ends, 0);
        CHECK(owns(0, name));
        server_hangs = false;
        o = order_new();
        order_member(o, "g1", address[0]);
        order_send(o, &planes[0]);
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, post ? 502 : 200); /* once, or as often as need be */
        o = order_new();
        order_member(o, "g1", address[0]);
        order_member(o, "g2", address[1]);
        order_send(o, &planes[0]);
    }
    finish();
}

TEST(gateways_that_a_new_leader_has_not_heard_of_stay_members_for_a_while)
{
    begin_with(2, (struct gateway_opts){ 0 });
    welcome_all(SANDBOXES(serve(NULL)), "");
    size_t owner;
    const char *name = elsewhere(&owner);
    server_hangs = true;
    request(client, &a, (struct http_call_opts){ .method = STR("POST") }, FIELDS("host", name));
    WAIT_FOR(server_requests[0] == 1);
    plane_hang_up(&planes[0]);
    WAIT_FOR(planes[0].hellos == 2);
    char address[32];
    (void)snprintf(address, sizeof address, "127.0.0.1:%u", gateway_port(gateways[0]));
    struct order *o = order_new();
    order_welcome(o, 2);
    order_function(o, 1, name, "");
    order_endpoints(o, 0, 1, true);
    order_member(o, "g1", address);
    order_send(o, &planes[0]);
    turns(10);
    CHECK_INT(a.ends, 0); /* what it answers is still awaited */
    CHECK(!owns(0, name));
    pass(3100);
    WAIT_FOR(a.ends); /* it did not come */
    CHECK_INT(a.status, 502);
    CHECK(owns(0, name));
    finish();
}

TEST(a_websocket_is_forwarded_too)
{
    begin_with(2, (struct gateway_opts){ 0 });
    welcome_all(SANDBOXES(serve(NULL)), "");
    size_t owner;
    const char *name = elsewhere(&owner);
    request(client, &a, (struct http_call_opts){ .upgrade = true },
            FIELDS("host", name, "upgrade", "websocket"));
    WAIT_FOR(a.status == 101);
    (void)exchange_write(a.call, STR("hello"));
    WAIT_FOR(a.body.n == 5);
    exchange_end_body(a.call, NULL);
    WAIT_FOR(a.ends);
    CHECK_INT(a.r, 0);
    finish();
}

/* ---------------------------------------------------------------- members at random */

enum { CROWD = 24 };
static struct answer crowd[CROWD];

/* Members as one of several views of the truth has them. */
static void say_members(size_t gateway, bool has_other, bool other_leaves)
{
    static char address[2][32];
    struct order *o = order_new();
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(address[i], sizeof address[i], "127.0.0.1:%u", gateway_port(gateways[i]));
        if (i == gateway || has_other)
            order_member(o, i ? "g2" : "g1", address[i]);
        if (i != gateway && has_other)
            o->member[o->members.n_gateways - 1].is_leaving = other_leaves;
    }
    order_send(o, &planes[gateway]);
}

static void new_leader(size_t gateway, uint64_t term)
{
    static const char *const names[] = { "f", "g", "h", "k" };
    plane_hang_up(&planes[gateway]);
    unsigned hellos = planes[gateway].hellos;
    WAIT_FOR(planes[gateway].hellos > hellos);
    struct order *o = order_new();
    order_welcome(o, term);
    for (uint32_t f = 0; f < 4; f++)
        order_function(o, f + 1, names[f], "");
    order_endpoints(o, 0, 1, true);
    for (uint32_t f = 0; f < 4; f++)
        order_add(o, f + 1, f + 1, addresses[0]);
    order_send(o, &planes[gateway]);
    say_members(gateway, test_random_below(2), false);
}

TEST(every_request_ends_whatever_the_gateways_think_of_each_other)
{
    static const char *const names[] = { "f", "g", "h", "k" };
    begin_with(2, (struct gateway_opts){ 0 });
    struct http_client *clients[2] = { client, connect_to(gateway_port(gateways[1]), true) };
    welcome_all(SANDBOXES(serve(NULL)), "\"concurrency\":{\"limit\":3}");
    uint64_t term = 1;
    unsigned good = 0, bad = 0;
    for (int step = 0; step < 600; step++) {
        struct answer *at = &crowd[test_random_below(CROWD)];
        size_t g = test_random_below(2);
        switch (test_random_below(24)) {
        case 0:
            say_members(g, test_random_below(2), test_random_below(2));
            break;
        case 1:
            if (test_random_below(4) == 0)
                new_leader(g, ++term);
            break;
        case 2:
            pass(test_random_below(1500));
            break;
        case 3:
            if (at->call)
                exchange_cancel(at->call);
            break;
        default:
            if (at->call)
                break;
            CHECK(at->ends <= 1);
            good += at->status == 200;
            bad += at->status >= 500;
            CHECK(at->status == 0 || at->status == 200 || at->status >= 500);
            request(
                clients[g], at,
                (struct http_call_opts){ .method = test_random_below(2) ? STR("GET") : STR("POST"),
                                         .body = STR("x") },
                FIELDS("host", names[test_random_below(4)]));
        }
        turns(1 + (int)test_random_below(4));
    }
    say_members(0, true, false);
    say_members(1, true, false);
    for (int i = 0; i < CROWD; i++) {
        WAIT_FOR(!crowd[i].call);
        answer_reset(&crowd[i]);
    }
    CHECK(good > 4 * bad);
    http_client_close(clients[1]);
    finish();
}

/* ---------------------------------------------------------------- TLS, traces */

static struct tls_ctx *server_tls, *client_tls;

static void make_tls(void)
{
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(1 << 16), ca_key = BUF_INIT(1 << 16);
    scoped(buf_fini_scoped) struct buf cert = BUF_INIT(1 << 16), key = BUF_INIT(1 << 16);
    struct err err = { 0 };
    const char *names[] = { "127.0.0.1" };
    CHECK_OK(x509_make_ca("test", &ca, &ca_key, &err));
    CHECK_OK(x509_make_server(buf_str(&ca), buf_str(&ca_key), "gateway", names, 1, 1, &cert, &key,
                              &err));
    CHECK_OK(tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR(""), &server_tls, &err));
    CHECK_OK(tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), false, &client_tls, &err));
}

static void use_tls(bool http2)
{
    struct err err = { 0 };
    http_client_close(client);
    const struct http_client_opts opts = {
        .host = "127.0.0.1", .port = gateway_port(gateways[0]), .tls = client_tls, .http2 = http2
    };
    CHECK_OK(http_client_new(&loop, &opts, &client, &err));
}

TEST(clients_may_come_by_tls)
{
    make_tls();
    begin_with(1, (struct gateway_opts){ .tls = server_tls });
    welcome(0, "", SANDBOXES(serve(NULL)));
    for (int http2 = 0; http2 < 2; http2++) {
        use_tls(http2);
        get();
        CHECK_INT(a.status, 200);
    }
    finish();
    tls_ctx_free(server_tls);
    tls_ctx_free(client_tls);
}

TEST(gateways_may_speak_tls_to_each_other)
{
    make_tls();
    begin_with(2, (struct gateway_opts){ .tls = server_tls, .gateway_tls = client_tls });
    welcome_all(SANDBOXES(serve(NULL)), "");
    size_t owner;
    const char *name = elsewhere(&owner);
    for (int http2 = 0; http2 < 2; http2++) {
        use_tls(http2);
        request(client, &a, (struct http_call_opts){ .method = STR("POST"), .body = STR("far") },
                FIELDS("host", name));
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 200);
        CHECK_STR(buf_str(&a.body), "far");
    }
    finish();
    tls_ctx_free(server_tls);
    tls_ctx_free(client_tls);
}

TEST(a_trace_has_a_row_for_each_request)
{
    char dir[] = "/tmp/dormouse-trace-XXXXXX", path[64], text[4096];
    CHECK(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/proxy_trace.csv", dir);
    begin_with(1, (struct gateway_opts){ .trace_dir = dir });
    welcome(0, "", SANDBOXES(serve(NULL)));
    for (int i = 0; i < 3; i++)
        get();
    finish();
    FILE *f = fopen(path, "re");
    CHECK(f);
    size_t n = fread(text, 1, sizeof text - 1, f), lines = 0;
    text[n] = 0;
    (void)fclose(f);
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    CHECK_INT(lines, 4);
    CHECK(str_has_prefix(str_of(text), STR("time,service_name,container_id,get_metadata,")));
    uint64_t parts[9], sum = 0;        /* get_metadata to other */
    char *row = strstr(text, ",f,1,"); /* the default namespace is not named */
    CHECK(row);
    struct str rest = str_of(row + strlen(",f,1,")), cell;
    for (int i = 0; i < 9; i++) {
        CHECK(str_cut(rest, i < 8 ? ',' : '\n', &cell, &rest));
        CHECK_OK(parse_u64(cell, 0, 60000000, &parts[i]));
        sum += parts[i];
    }
    CHECK(parts[1] == 0 && parts[2] == 0 && parts[4] == 0); /* the call did not wait */
    CHECK(sum > 0);
    (void)unlink(path);
    (void)rmdir(dir);
}

TEST_MAIN
