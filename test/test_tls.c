/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS: certificates, verification and its error texts, HTTP over it, and OpenSSL itself as a
 * foreign peer (on a thread with blocking sockets).
 */
#include "io/http.h"
#include "io/tls.h"

#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <sys/socket.h>

static struct loop loop;
static struct timer guard;

static void on_guard(struct timer *t)
{
    TEST_FAIL("waited in vain");
}

#define WAIT_FOR(cond)                                                                             \
    do {                                                                                           \
        timer_start(&loop, &guard, 60000, on_guard);                                               \
        while (!(cond))                                                                            \
            (void)loop_turn(&loop, true);                                                          \
        timer_stop(&loop, &guard);                                                                 \
    } while (0)

/* ------------------------------------------------------------------ certificates */

struct pair {
    struct buf cert, key;
};

static struct pair ca, other_ca;

static void pair_fini(struct pair *p)
{
    buf_fini(&p->cert);
    buf_fini(&p->key);
}

static void make_cas(void)
{
    struct err err = { 0 };
    struct pair *all[] = { &ca, &other_ca };
    for (int i = 0; i < 2; i++) {
        all[i]->cert = all[i]->key = BUF_INIT(1 << 16);
        CHECK_OK(x509_make_ca(i ? "other CA" : "test CA", &all[i]->cert, &all[i]->key, &err));
    }
}

static void free_cas(void)
{
    pair_fini(&ca);
    pair_fini(&other_ca);
}

static struct pair make_cert(const struct pair *by, const char *const *names, size_t n,
                             unsigned days)
{
    struct err err = { 0 };
    struct pair p = { BUF_INIT(1 << 16), BUF_INIT(1 << 16) };
    if (x509_make_server(buf_str(&by->cert), buf_str(&by->key), "server", names, n, days, &p.cert,
                         &p.key, &err) < 0)
        TEST_FAIL("%s", err.text);
    return p;
}

static const char *const local_names[] = { "127.0.0.1", "localhost", "::1",
                                           "dormouse.default.svc" };

TEST(certificates_say_how_long_they_last)
{
    make_cas();
    int64_t left;
    struct err err = { 0 };
    CHECK_OK(x509_seconds_left(buf_str(&ca.cert), &left, &err));
    CHECK(left > 3649LL * 86400 && left <= 3650LL * 86400);
    struct pair p = make_cert(&ca, local_names, ARRAY_LEN(local_names), 30);
    CHECK_OK(x509_seconds_left(buf_str(&p.cert), &left, &err));
    CHECK(left > 29 * 86400 && left <= 30 * 86400);
    pair_fini(&p);
    p = make_cert(&ca, local_names, 1, 0);
    CHECK_OK(x509_seconds_left(buf_str(&p.cert), &left, &err));
    CHECK(left <= 0);
    pair_fini(&p);
    CHECK_ERR(x509_seconds_left(STR("nonsense"), &left, &err), E_TLS);
    CHECK(str_has_prefix(str_of(err.text), STR("read certificate: TLS: ")));
    free_cas();
}

TEST(wrong_material_is_a_clear_error)
{
    make_cas();
    struct err err = { 0 };
    struct tls_ctx *ctx;
    struct pair p = make_cert(&ca, local_names, 1, 1), q = make_cert(&ca, local_names, 1, 1);
    CHECK_ERR(tls_ctx_new_server(STR("x"), buf_str(&p.key), STR(""), &ctx, &err), E_TLS);
    CHECK(str_has_prefix(str_of(err.text), STR("read certificate: ")));
    CHECK_ERR(tls_ctx_new_server(buf_str(&p.cert), STR("x"), STR(""), &ctx, &err), E_TLS);
    CHECK(str_has_prefix(str_of(err.text), STR("read private key: ")));
    CHECK_ERR(tls_ctx_new_server(buf_str(&p.cert), buf_str(&q.key), STR(""), &ctx, &err), E_TLS);
    CHECK_STR(str_of(err.text), "read private key: TLS: key values mismatch");
    CHECK_ERR(tls_ctx_new_client(STR("x"), STR(""), STR(""), false, &ctx, &err), E_TLS);
    CHECK(str_has_prefix(str_of(err.text), STR("read CA certificates: ")));
    struct buf mixed = BUF_INIT(1 << 16);
    CHECK_ERR(x509_make_server(buf_str(&ca.cert), buf_str(&other_ca.key), "x", local_names, 1, 1,
                               &mixed, &mixed, &err),
              E_TLS);
    CHECK_STR(str_of(err.text), "load the CA: certificate and key do not belong together");
    pair_fini(&p);
    pair_fini(&q);
    free_cas();
}

/* ------------------------------------------------------------------ HTTP over TLS */

static struct http_server *server;
static struct tls_ctx *server_tls;
static uint16_t port;
static struct buf received;
static int gone_r;
static unsigned gones, requests;

static void on_body(struct http_exchange *x, struct str chunk)
{
    CHECK_OK(buf_add_str(&received, chunk));
}

static void on_body_end(struct http_exchange *x, int r)
{
    if (r == 0)
        http_reply(x, 200, NULL, buf_str(&received));
}

static void on_gone(struct http_exchange *x, int r)
{
    gones++;
    gone_r = r;
}

static const struct http_exchange_ops server_ops = { on_body, on_body_end, NULL, on_gone };

/* "CN=... O=... O=...", or what is wrong; "" without a certificate. */
static char peer[512];

static void note_peer(struct http_exchange *x)
{
    struct arena a = { 0 };
    struct tls_peer p;
    peer[0] = '\0';
    if (http_exchange_peer(x, &a, &p)) {
        int n = snprintf(peer, sizeof peer, "%s%sCN=" STR_FMT, p.why ? p.why : "",
                         p.why ? ": " : "", STR_ARG(p.common_name));
        for (size_t i = 0; i < p.n_orgs; i++)
            n += snprintf(peer + n, sizeof peer - (size_t)n, " O=" STR_FMT, STR_ARG(p.orgs[i]));
    }
    arena_fini(&a);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    requests++;
    note_peer(x);
    buf_fini(&received);
    received = BUF_INIT(64 << 20);
    http_exchange_set(x, &server_ops, NULL);
    if (str_is(req->target, "/hold"))
        return;
    http_read_body(x, 64 << 20);
}

static void setup_with(const struct pair *cert, struct str client_ca)
{
    struct err err = { 0 };
    gones = requests = 0;
    CHECK_OK(loop_init(&loop, &err));
    if (cert && tls_ctx_new_server(buf_str(&cert->cert), buf_str(&cert->key), client_ca,
                                   &server_tls, &err) < 0)
        TEST_FAIL("%s", err.text);
    struct http_server_opts opts = {
        .host = "127.0.0.1",
        .tls = cert ? server_tls : NULL,
        .on_request = on_request,
    };
    CHECK_OK(http_server_start(&loop, &opts, &server, &err));
    port = http_server_port(server);
}

static bool server_done;
static void on_server_done(void *arg)
{
    server_done = true;
}

static void teardown(void)
{
    server_done = false;
    http_server_close(server, 0, on_server_done, NULL);
    WAIT_FOR(server_done);
    loop_run(&loop);
    loop_fini(&loop);
    tls_ctx_free(server_tls);
    server_tls = NULL;
    buf_fini(&received);
}

struct reply {
    int status, r;
    unsigned ends;
    struct buf body;
    struct err err;
    struct exchange *call;
    bool pause_each;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct reply *r = arg;
    r->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct reply *r = arg;
    CHECK_OK(buf_add_str(&r->body, chunk));
    if (r->pause_each)
        exchange_pause(r->call);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct reply *reply = arg;
    reply->ends++;
    reply->r = r;
    if (err)
        reply->err = *err;
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static struct http_client *client_new(struct tls_ctx *tls, const char *name)
{
    struct err err = { 0 };
    struct http_client *c;
    struct http_client_opts opts = {
        .host = "127.0.0.1", .port = port, .tls = tls, .server_name = name
    };
    CHECK_OK(http_client_new(&loop, &opts, &c, &err));
    return c;
}

static void start(struct http_client *c, struct str body, struct reply *reply)
{
    struct err err = { 0 };
    reply->body = BUF_INIT(64 << 20);
    struct http_call_opts opts = { .method = STR("POST"),
                                   .target = STR("/"),
                                   .body = body,
                                   .events = &call_events,
                                   .arg = reply };
    CHECK_OK(http_call_start(c, &opts, &reply->call, &err));
}

/* One POST of "hi" with these credentials; its outcome. */
static struct reply talk(struct str ca_pem, const struct pair *cert, const char *name,
                         bool insecure)
{
    struct err err = { 0 };
    struct tls_ctx *tls;
    struct str none = STR("");
    if (tls_ctx_new_client(ca_pem, cert ? buf_str(&cert->cert) : none,
                           cert ? buf_str(&cert->key) : none, insecure, &tls, &err) < 0)
        TEST_FAIL("%s", err.text);
    struct http_client *c = client_new(tls, name);
    struct reply reply = { 0 };
    start(c, STR("hi"), &reply);
    WAIT_FOR(reply.ends);
    http_client_close(c);
    tls_ctx_free(tls); /* the connections hold what they need */
    if (reply.r == 0)
        CHECK_STR(buf_str(&reply.body), "hi");
    buf_fini(&reply.body);
    return reply;
}

#define CHECK_FAILS(reply_expr, code, mention)                                                     \
    do {                                                                                           \
        struct reply reply_ = (reply_expr);                                                        \
        CHECK_ERR(reply_.r, code);                                                                 \
        if (!strstr(reply_.err.text, mention))                                                     \
            TEST_FAIL("'%s' does not mention '%s'", reply_.err.text, mention);                     \
    } while (0)

TEST(a_server_is_verified_by_authority_name_and_date)
{
    make_cas();
    struct pair cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1);
    setup_with(&cert, STR(""));
    for (size_t i = 0; i < ARRAY_LEN(local_names); i++)
        CHECK_INT(talk(buf_str(&ca.cert), NULL, local_names[i], false).r, 0);
    CHECK_INT(talk(buf_str(&ca.cert), NULL, NULL, false).r, 0); /* the host stands for the name */
    requests = 0;
    CHECK_FAILS(talk(buf_str(&other_ca.cert), NULL, NULL, false), E_TLS,
                "certificate refused: unable to get local issuer certificate");
    CHECK_FAILS(talk(buf_str(&ca.cert), NULL, "elsewhere", false), E_TLS,
                "certificate refused: hostname mismatch");
    CHECK_FAILS(talk(buf_str(&ca.cert), NULL, "127.0.0.2", false), E_TLS,
                "certificate refused: IP address mismatch");
    CHECK_FAILS(talk(STR(""), NULL, NULL, false), E_TLS, "certificate refused");
    CHECK_INT(requests, 0);
    CHECK_INT(talk(STR(""), NULL, "elsewhere", true).r, 0); /* insecure */
    teardown();
    pair_fini(&cert);

    cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 0);
    setup_with(&cert, STR(""));
    CHECK_FAILS(talk(buf_str(&ca.cert), NULL, NULL, false), E_TLS,
                "certificate refused: certificate has expired");
    teardown();
    pair_fini(&cert);
    free_cas();
}

TEST(plain_and_tls_do_not_mix)
{
    make_cas();
    struct pair cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1);
    setup_with(&cert, STR(""));
    struct http_client *c = client_new(NULL, NULL);
    struct reply reply = { 0 };
    start(c, STR("hi"), &reply);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.status, 400); /* in the only words such a client understands */
    buf_fini(&reply.body);
    http_client_close(c);
    CHECK_INT(requests, 0);
    teardown();
    setup_with(NULL, STR(""));
    CHECK_FAILS(talk(buf_str(&ca.cert), NULL, NULL, false), E_TLS, "TLS: wrong version number");
    CHECK_INT(requests, 0);
    teardown();
    pair_fini(&cert);
    free_cas();
}

static struct pair make_user(const struct pair *by, const char *name, const struct str *groups,
                             size_t n, uint64_t valid_s)
{
    struct err err = { 0 };
    struct pair p = { BUF_INIT(1 << 16), BUF_INIT(1 << 16) };
    const struct x509_user user = { .name = str_of(name), .groups = groups, .n_groups = n };
    if (x509_make_client(buf_str(&by->cert), buf_str(&by->key), &user, valid_s, &p.cert, &p.key,
                         &err) < 0)
        TEST_FAIL("%s", err.text);
    return p;
}

TEST(client_certificates_are_optional_and_the_handler_is_told_who_it_is)
{
    make_cas();
    static const struct str groups[] = { { "devs", 4 }, { "system:masters", 14 } };
    static const char long_name[] =
        "system:serviceaccount:a-namespace-with-a-name-of-many-characters:and-an-account-like-it";
    struct pair cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1);
    setup_with(&cert, buf_str(&other_ca.cert));
    CHECK_INT(talk(buf_str(&ca.cert), NULL, NULL, false).r, 0);
    CHECK_STR(str_of(peer), "");
    struct pair user = make_user(&other_ca, long_name, groups, 2, 60);
    CHECK_INT(talk(buf_str(&ca.cert), &user, NULL, false).r, 0);
    char want[256];
    (void)snprintf(want, sizeof want, "CN=%s O=devs O=system:masters", long_name);
    CHECK_STR(str_of(peer), want);
    pair_fini(&user);

    /* the handshake passes, but nobody is taken for what a bad certificate says */
    user = make_user(&ca, "jane", groups, 2, 60);
    CHECK_INT(talk(buf_str(&ca.cert), &user, NULL, false).r, 0);
    CHECK(str_has_suffix(str_of(peer), STR("CN=jane O=devs O=system:masters")) &&
          !str_has_prefix(str_of(peer), STR("CN=")));
    pair_fini(&user);
    user = make_user(&other_ca, "jane", groups, 2, 0);
    CHECK_INT(talk(buf_str(&ca.cert), &user, NULL, false).r, 0);
    CHECK(str_find(str_of(peer), STR("expired: CN=jane")) > 0);
    pair_fini(&user);
    user = make_cert(&other_ca, local_names, 1, 1); /* of a server */
    CHECK_INT(talk(buf_str(&ca.cert), &user, NULL, false).r, 0);
    CHECK(str_has_prefix(str_of(peer), STR("unsuitable certificate purpose: ")) ||
          str_has_prefix(str_of(peer), STR("unsupported certificate purpose: ")));
    pair_fini(&user);
    teardown();
    pair_fini(&cert);
    free_cas();
}

TEST(a_renewed_certificate_is_used_by_new_connections)
{
    make_cas();
    struct err err = { 0 };
    struct pair old = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1),
                renewed = make_cert(&other_ca, local_names, ARRAY_LEN(local_names), 1);
    setup_with(&old, STR(""));
    CHECK_ERR(tls_ctx_set_server_cert(server_tls, buf_str(&old.cert), buf_str(&renewed.key), &err),
              E_TLS);
    CHECK_INT(talk(buf_str(&ca.cert), NULL, NULL, false).r, 0);
    CHECK_OK(
        tls_ctx_set_server_cert(server_tls, buf_str(&renewed.cert), buf_str(&renewed.key), &err));
    CHECK_INT(talk(buf_str(&other_ca.cert), NULL, NULL, false).r, 0);
    CHECK_ERR(talk(buf_str(&ca.cert), NULL, NULL, false).r, E_TLS);
    teardown();
    pair_fini(&old);
    pair_fini(&renewed);
    free_cas();
}

TEST(large_bodies_go_both_ways_with_pauses)
{
    make_cas();
    struct err err = { 0 };
    struct pair cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1);
    setup_with(&cert, STR(""));
    struct tls_ctx *tls;
    CHECK_OK(tls_ctx_new_client(buf_str(&ca.cert), STR(""), STR(""), false, &tls, &err));
    struct http_client *c = client_new(tls, NULL);
    struct buf b = BUF_INIT(64 << 20);
    for (uint64_t i = 0; b.n < 9 << 20; i++)
        CHECK_OK(buf_add_le64(&b, i * 0x9e3779b97f4a7c15ULL));
    for (int pausing = 0; pausing < 2; pausing++) {
        struct reply reply = { .pause_each = pausing };
        start(c, buf_str(&b), &reply);
        timer_start(&loop, &guard, 60000, on_guard);
        while (!reply.ends) {
            if (pausing)
                exchange_resume(reply.call);
            (void)loop_turn(&loop, true);
        }
        timer_stop(&loop, &guard);
        CHECK_INT(reply.r, 0);
        CHECK(str_eq(buf_str(&reply.body), buf_str(&b)));
        buf_fini(&reply.body);
    }
    buf_fini(&b);
    http_client_close(c);
    tls_ctx_free(tls);
    teardown();
    pair_fini(&cert);
    free_cas();
}

/* ------------------------------------------------------------------ a foreign peer */

/* What a thread does with a blocking connection; the loop runs meanwhile. */
struct foreign {
    struct post post;
    int (*run)(struct foreign *f);
    int fd; /* of a server: listening */
    const char *alpn;
    int max_version;
    int outcome;
    char text[256];
    bool done;
    const struct pair *cert;
};

static void on_foreign_done(struct post *p)
{
    container_of(p, struct foreign, post)->done = true;
}

static void *foreign_main(void *arg)
{
    struct foreign *f = arg;
    f->outcome = f->run(f);
    f->post.run = on_foreign_done;
    loop_post(&loop, &f->post);
    return NULL;
}

static void foreign_run(struct foreign *f)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, foreign_main, f), 0);
    WAIT_FOR(f->done);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

static int connect_local(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in addr = { .sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CHECK_OK(connect(fd, (struct sockaddr *)&addr, sizeof addr));
    return fd;
}

/* Handshake, one request, half of the connection's end; 1 if all went well. */
static int foreign_client(struct foreign *f)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    if (f->alpn)
        (void)SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)f->alpn,
                                      (unsigned)strlen(f->alpn));
    if (f->max_version)
        (void)SSL_CTX_set_max_proto_version(ctx, f->max_version);
    SSL *ssl = SSL_new(ctx);
    int fd = connect_local(), ok = SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) == 1;
    if (ok) {
        const unsigned char *chosen;
        unsigned n;
        SSL_get0_alpn_selected(ssl, &chosen, &n);
        static const char request[] = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        ok = SSL_write(ssl, request, sizeof request - 1) > 0;
        int got = ok ? SSL_read(ssl, f->text, sizeof f->text - 1) : 0;
        ok = got > 12 && (!f->alpn || (n == 8 && memcmp(chosen, "http/1.1", 8) == 0));
        /* the server's close_notify, then its end */
        char rest[100];
        ok = ok && SSL_read(ssl, rest, sizeof rest) <= 0 &&
             SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN;
    }
    ERR_clear_error();
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    (void)close(fd);
    return ok;
}

TEST(openssl_clients_are_served_and_old_or_foreign_protocols_refused)
{
    make_cas();
    struct pair cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1);
    setup_with(&cert, STR(""));
    static const struct {
        const char *alpn;
        int max_version, outcome;
    } cases[] = {
        { NULL, 0, 1 },     { NULL, TLS1_2_VERSION, 1 }, { "\x02h2\x08http/1.1", 0, 1 },
        { "\x02h2", 0, 0 }, { NULL, TLS1_1_VERSION, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct foreign f = { .run = foreign_client,
                             .alpn = cases[i].alpn,
                             .max_version = cases[i].max_version };
        foreign_run(&f);
        CHECK_INT(f.outcome, cases[i].outcome);
        if (f.outcome)
            CHECK(str_has_prefix(str_of(f.text), STR("HTTP/1.1 200 OK\r\n")));
    }
    teardown();
    pair_fini(&cert);
    free_cas();
}

/* Begins a request and goes away without a word. */
static int foreign_deserter(struct foreign *f)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(ctx);
    int fd = connect_local(), ok = SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) == 1;
    static const char request[] = "GET /hold HTTP/1.1\r\nhost: a\r\n\r\n";
    ok = ok && SSL_write(ssl, request, sizeof request - 1) > 0;
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    (void)close(fd);
    return ok;
}

TEST(a_tls_peer_that_goes_is_noticed)
{
    make_cas();
    struct pair cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1);
    setup_with(&cert, STR(""));
    struct foreign f = { .run = foreign_deserter };
    foreign_run(&f);
    CHECK_INT(f.outcome, 1);
    WAIT_FOR(gones == 1);
    CHECK_ERR(gone_r, -ECONNRESET);
    teardown();
    pair_fini(&cert);
    free_cas();
}

static int use_pem(SSL_CTX *ctx, const struct pair *p)
{
    BIO *cert = BIO_new_mem_buf(p->cert.p, (int)p->cert.n),
        *key = BIO_new_mem_buf(p->key.p, (int)p->key.n);
    X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    int ok = SSL_CTX_use_certificate(ctx, x) == 1 && SSL_CTX_use_PrivateKey(ctx, k) == 1;
    X509_free(x);
    EVP_PKEY_free(k);
    BIO_free(cert);
    BIO_free(key);
    return ok;
}

/* A server whose response ends with the connection, which is cut without close_notify. */
static int foreign_truncator(struct foreign *f)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    int ok = use_pem(ctx, f->cert);
    int fd = accept(f->fd, NULL, NULL);
    SSL *ssl = SSL_new(ctx);
    char request[1000];
    static const char reply[] = "HTTP/1.0 200 OK\r\n\r\npart of it";
    ok = ok && fd >= 0 && SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1 &&
         SSL_read(ssl, request, sizeof request) > 0 && SSL_write(ssl, reply, sizeof reply - 1) > 0;
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    (void)close(fd);
    return ok;
}

TEST(a_response_cut_off_is_not_taken_for_complete)
{
    make_cas();
    struct err err = { 0 };
    struct pair cert = make_cert(&ca, local_names, ARRAY_LEN(local_names), 1);
    CHECK_OK(loop_init(&loop, &err));
    struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof addr;
    struct foreign f = { .run = foreign_truncator, .cert = &cert };
    f.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(bind(f.fd, (struct sockaddr *)&addr, sizeof addr));
    CHECK_OK(listen(f.fd, 4));
    CHECK_OK(getsockname(f.fd, (struct sockaddr *)&addr, &n));
    port = ntohs(addr.sin_port);
    struct tls_ctx *tls;
    CHECK_OK(tls_ctx_new_client(buf_str(&ca.cert), STR(""), STR(""), false, &tls, &err));
    struct http_client *c = client_new(tls, NULL);
    struct reply reply = { 0 };
    start(c, STR("hi"), &reply);
    foreign_run(&f);
    WAIT_FOR(reply.ends);
    CHECK_INT(f.outcome, 1);
    CHECK_ERR(reply.r, -ECONNRESET);
    CHECK_STR(buf_str(&reply.body), "part of it");
    buf_fini(&reply.body);
    http_client_close(c);
    tls_ctx_free(tls);
    loop_run(&loop);
    loop_fini(&loop);
    CHECK_OK(close(f.fd));
    pair_fini(&cert);
    free_cas();
}

TEST_MAIN
