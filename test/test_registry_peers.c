/* SPDX-License-Identifier: Apache-2.0 */
/* oci/registry: registries that send us elsewhere, or send hardly anything. Time is virtual. */
#include "test.h"

#include "io/http.h"
#include "oci/remote.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

enum { PUBLIC, INSIDE, SERVERS, PIECE_BYTES = 30 << 10, TURNS_MAX = 1000000 };

static struct {
    struct loop loop;
    struct http_server *servers[SERVERS];
    char location[128]; /* of a redirect, or of the token service; empty: a body is sent slowly */
    bool asks_token, is_refusing;
    struct http_exchange *body; /* of the answer that is sent slowly */
    size_t step; /* bytes that an answer has more than the one before; 0: it is sent slowly */
    unsigned n_seen[SERVERS], n_closed;
    uint64_t n_got;
    bool is_done;
    int r;
    struct err err;
} t;

/* 127.0.0.1 stands for an address of the internet, 127.0.0.2 for one inside. */
static bool first_is_public(const struct sockaddr *addr)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)addr;
    return addr->sa_family == AF_INET && ntohl(v4->sin_addr.s_addr) == 0x7f000001;
}

static bool none_is_public(const struct sockaddr *addr)
{
    (void)addr;
    return false;
}

/* ---- the servers ---- */

static void reply(struct http_exchange *x, int status, const char *name, const char *value)
{
    struct headers h = { 0 };
    if (name)
        CHECK_OK(headers_addc(&h, name, value));
    http_reply(x, status, &h, STR("{\"token\":\"t\"}"));
    headers_fini(&h);
}

static void on_body_gone(struct http_exchange *x, int r)
{
    (void)r;
    if (t.body == x)
        t.body = NULL;
}

static char pieces[1000];

static void on_public(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops ops = { .on_gone = on_body_gone };
    char challenge[192];
    (void)req;
    (void)arg;
    t.n_seen[PUBLIC]++;
    (void)snprintf(challenge, sizeof challenge, "Bearer realm=\"%s\",service=s", t.location);
    if (t.step) {
        http_reply(x, 200, NULL, str_n(pieces, MIN(t.n_seen[PUBLIC] * t.step, sizeof pieces)));
    } else if (t.asks_token) {
        reply(x, 401, "www-authenticate", challenge);
    } else if (t.location[0]) {
        reply(x, 307, "location", t.location);
    } else {
        t.body = x;
        http_exchange_set(x, &ops, NULL);
        http_respond(x, 200, NULL, HTTP_CHUNKED);
    }
}

static void on_inside(struct http_exchange *x, const struct http_request *req, void *arg)
{
    (void)req;
    (void)arg;
    t.n_seen[INSIDE]++;
    reply(x, t.is_refusing ? 403 : 200, NULL, NULL);
}

static void on_server_closed(void *arg)
{
    (void)arg;
    t.n_closed++;
}

static void turn_until(const bool *done)
{
    for (int i = 0; !*done; i++) {
        CHECK(i < TURNS_MAX);
        (void)loop_turn(&t.loop, false);
    }
}

static void begin(const char *path)
{
    static const char *const hosts[] = { "127.0.0.1", "127.0.0.2" };
    memset(&t, 0, sizeof t);
    CHECK_OK(loop_init(&t.loop, NULL));
    for (int i = 0; i < SERVERS; i++) {
        struct http_server_opts o = { .host = hosts[i],
                                      .on_request = i == PUBLIC ? on_public : on_inside };
        CHECK_OK(http_server_start(&t.loop, &o, &t.servers[i], NULL));
    }
    if (path)
        (void)snprintf(t.location, sizeof t.location, "http://127.0.0.2:%u%s",
                       (unsigned)http_server_port(t.servers[INSIDE]), path);
}

static void end(struct oci_registry *reg)
{
    oci_registry_close(reg);
    for (int i = 0; i < SERVERS; i++)
        http_server_close(t.servers[i], 0, on_server_closed, NULL);
    loop_run(&t.loop);
    CHECK_INT(t.n_closed, SERVERS);
    loop_fini(&t.loop);
}

/* ---- the client ---- */

static struct oci_registry *open_registry(struct oci_registry_opts o)
{
    char host[32];
    struct oci_registry *reg;
    (void)snprintf(host, sizeof host, "127.0.0.1:%u",
                   (unsigned)http_server_port(t.servers[PUBLIC]));
    o.loop = &t.loop;
    o.host = host;
    o.attempts = o.attempts ? o.attempts : 1;
    CHECK_OK(oci_registry_new(&o, &reg, NULL));
    return reg;
}

static void on_answer(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    (void)arg;
    (void)answer;
    t.is_done = true;
    t.r = r;
    t.err = *err;
}

static int on_bytes(void *arg, struct str bytes, struct err *err)
{
    (void)arg;
    (void)err;
    t.n_got += bytes.n;
    return 0;
}

static void ask(struct oci_registry *reg, uint64_t size)
{
    struct oci_request *q;
    struct oci_request_opts o = { .method = "GET",
                                  .target = "/v2/a/blobs/x",
                                  .scope = "repository:a:pull",
                                  .sink = size ? on_bytes : NULL,
                                  .size = size,
                                  .cb = on_answer };
    CHECK_OK(oci_request_start(reg, &o, &q, NULL));
}

/* ---- where it may send us ---- */

static void check_sent(bool by_token, struct oci_registry_opts opts, bool is_allowed)
{
    begin(by_token ? "/token" : "/blob");
    t.asks_token = by_token;
    struct oci_registry *reg = open_registry(opts);
    ask(reg, 0);
    turn_until(&t.is_done);
    CHECK_INT(t.n_seen[INSIDE] > 0, is_allowed);
    if (!is_allowed) {
        CHECK_INT(t.r, -EACCES);
        CHECK(strstr(err_text(&t.err), "private address (--allow-private)"));
    }
    end(reg);
}

TEST(a_public_registry_does_not_redirect_inside)
{
    check_sent(false, (struct oci_registry_opts){ .is_public = first_is_public }, false);
}

TEST(a_public_registry_does_not_have_tokens_fetched_inside)
{
    check_sent(true, (struct oci_registry_opts){ .is_public = first_is_public }, false);
}

TEST(it_may_where_that_is_allowed)
{
    const struct oci_registry_opts allowed = { .is_public = first_is_public,
                                               .allows_private = true };
    check_sent(false, allowed, true);
    check_sent(true, allowed, true);
}

TEST(a_registry_inside_may_send_us_inside)
{
    check_sent(false, (struct oci_registry_opts){ .is_public = none_is_public }, true);
    check_sent(true, (struct oci_registry_opts){ 0 }, true); /* loopback is not public */
}

TEST(what_a_signed_address_holds_is_in_no_message)
{
    begin("/blob?signature=secret");
    t.is_refusing = true;
    struct oci_registry *reg = open_registry((struct oci_registry_opts){ 0 });
    ask(reg, 0);
    turn_until(&t.is_done);
    CHECK_INT(t.r, E_DENIED);
    CHECK(strstr(err_text(&t.err), "/blob") && !strstr(err_text(&t.err), "secret"));
    end(reg);
}

/* ---- behind a proxy, which is the public server ---- */

static bool nowhere(void *arg, const struct sockaddr *addr)
{
    (void)arg;
    (void)addr;
    return false;
}

/* The location: of a redirect, NULL: none. Returns how the request ended. */
static int ask_by_proxy(const char *host, const char *location,
                        bool (*may_connect)(void *arg, const struct sockaddr *addr))
{
    char proxy[64];
    struct oci_registry *reg;
    begin(NULL);
    if (location)
        (void)snprintf(t.location, sizeof t.location, "%s", location);
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u",
                   (unsigned)http_server_port(t.servers[PUBLIC]));
    CHECK_OK(setenv("http_proxy", proxy, 1));
    const struct oci_registry_opts o = {
        .loop = &t.loop, .host = host, .plain_http = true, .attempts = 1, .may_connect = may_connect
    };
    CHECK_OK(oci_registry_new(&o, &reg, NULL));
    ask(reg, 0);
    turn_until(&t.is_done);
    CHECK_OK(unsetenv("http_proxy"));
    end(reg);
    return t.r;
}

TEST(behind_a_proxy_addresses_in_numbers_are_refused_in_any_form)
{
    static const char *const hosts[] = { "10.0.0.1",   "2130706433", "127.1",
                                         "0x7f000001", "0177.0.0.1", "[fe80::1%25eth0]" };
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        char url[64];
        (void)snprintf(url, sizeof url, "http://%s:5000/blob", hosts[i]);
        CHECK_INT(ask_by_proxy("registry.example", url, NULL), -EACCES);
        CHECK_INT(t.n_seen[PUBLIC], 1);
    }
}

TEST(behind_a_proxy_the_caller_decides_on_addresses_in_numbers)
{
    CHECK_INT(ask_by_proxy("10.0.0.1:5000", NULL, nowhere), -EACCES);
    CHECK_INT(t.n_seen[PUBLIC], 0);
}

/* ---- what the callers of oci/remote ask for ---- */

TEST(a_client_of_the_same_options_has_the_same_bounds)
{
    char host[32];
    struct oci_registry *reg;
    struct oci_reference ref;
    struct oci_login none = { 0 };
    begin(NULL);
    (void)snprintf(host, sizeof host, "127.0.0.1:%u/a:b",
                   (unsigned)http_server_port(t.servers[PUBLIC]));
    CHECK_OK(oci_reference_parse(str_of(host), &ref, NULL));
    const struct oci_remote_opts o = {
        .login = &none, .attempts = 1, .may_connect = nowhere, .no_address = "--option names it"
    };
    CHECK_OK(oci_remote_registry(&ref, &o, &t.loop, &reg, NULL));
    ask(reg, 0);
    turn_until(&t.is_done);
    CHECK_INT(t.r, -EACCES);
    CHECK(strstr(err_text(&t.err), "at no address that the options allow (--option names it)"));
    CHECK_INT(t.n_seen[PUBLIC], 0);
    end(reg);
}

/* ---- answers that break off ---- */

static void ask_by_pieces(size_t step)
{
    begin(NULL);
    t.step = step;
    struct oci_registry *reg =
        open_registry((struct oci_registry_opts){ .attempts = 3, .backoff_ms = 1 });
    ask(reg, sizeof pieces);
    turn_until(&t.is_done);
    end(reg);
}

TEST(a_blob_that_comes_a_little_at_a_time_is_whole_in_the_end)
{
    ask_by_pieces(sizeof pieces / 10);
    CHECK_OK(t.r);
    CHECK_INT(t.n_got, sizeof pieces);
    CHECK_INT(t.n_seen[PUBLIC], 10);
}

TEST(one_that_comes_byte_by_byte_is_given_up)
{
    ask_by_pieces(1);
    CHECK_INT(t.r, E_DIGEST);
    CHECK_INT(t.n_seen[PUBLIC], 3 * OCI_REGISTRY_SHORT_ATTEMPTS + 2);
    CHECK(strstr(err_text(&t.err), "after 14 attempts"));
}

/* ---- how fast it has to be ---- */

/* Send `n` bytes every `step_ms` until the request is over. Returns how many. */
static uint64_t drip(size_t n, uint64_t step_ms)
{
    static char piece[PIECE_BYTES];
    uint64_t sent = 0;
    for (int i = 0; !t.body; i++) {
        CHECK(i < TURNS_MAX);
        (void)loop_turn(&t.loop, false);
    }
    while (!t.is_done && sent < 10 * PIECE_BYTES) {
        CHECK(t.body);
        (void)http_write(t.body, str_n(piece, n));
        sent += n;
        for (int i = 0; t.n_got < sent && !t.is_done; i++) {
            CHECK(i < TURNS_MAX);
            (void)loop_turn(&t.loop, false);
        }
        loop_skip(&t.loop, step_ms);
    }
    return sent;
}

TEST(a_registry_that_sends_a_byte_now_and_then_is_left)
{
    begin(NULL);
    struct oci_registry *reg = open_registry((struct oci_registry_opts){ 0 });
    ask(reg, 1 << 20);
    CHECK(drip(1, 20000) <= 5); /* a minute, and not the 30 s of silence */
    turn_until(&t.is_done);
    CHECK_INT(t.r, -ETIMEDOUT);
    CHECK(strstr(err_text(&t.err), "sends fewer than 60 KiB in 60 s"));
    end(reg);
}

TEST(documents_are_no_exception)
{
    begin(NULL);
    struct oci_registry *reg = open_registry((struct oci_registry_opts){ 0 });
    ask(reg, 0);
    for (int i = 0; !t.is_done; i++) { /* nothing says how many bytes have arrived */
        CHECK(i < TURNS_MAX);
        if (t.body && i % 100 == 0) {
            (void)http_write(t.body, STR(" "));
            loop_skip(&t.loop, 1000);
        }
        (void)loop_turn(&t.loop, false);
    }
    CHECK_INT(t.r, -ETIMEDOUT);
    CHECK(strstr(err_text(&t.err), "sends fewer than"));
    end(reg);
}

TEST(a_slow_line_is_waited_for)
{
    begin(NULL);
    struct oci_registry *reg = open_registry((struct oci_registry_opts){ 0 });
    ask(reg, 10 * PIECE_BYTES);
    CHECK_INT(drip(PIECE_BYTES, 25000), 10 * PIECE_BYTES); /* 1.2 KiB/s for four minutes */
    http_end(t.body);
    turn_until(&t.is_done);
    CHECK_OK(t.r);
    CHECK_INT(t.n_got, 10 * PIECE_BYTES);
    end(reg);
}

TEST_MAIN
