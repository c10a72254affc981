/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's server on its own: rotation of certificates, statistics that come late. The paths are
 * tested by behaviour/test_agent_server.py. */
#include "agent/server/server.h"

#include "io/http.h"
#include "test.h"

#include <errno.h>

/* ------------------------------------------------------------------ certificates */

struct authority {
    struct buf cert, key;
};

static void authority_init(struct authority *a, const char *name)
{
    struct err err = { 0 };
    a->cert = a->key = BUF_INIT(64 << 10);
    CHECK_OK(x509_make_ca(name, &a->cert, &a->key, &err));
}

static void authority_fini(struct authority *a)
{
    buf_fini(&a->cert);
    buf_fini(&a->key);
}

static void make_server_cert(const struct authority *a, struct authority *ret)
{
    static const char *const names[] = { "127.0.0.1" };
    struct err err = { 0 };
    ret->cert = ret->key = BUF_INIT(64 << 10);
    CHECK_OK(x509_make_server(buf_str(&a->cert), buf_str(&a->key), "node", names, 1, 1, &ret->cert,
                              &ret->key, &err));
}

static void make_client_cert(const struct authority *a, struct authority *ret)
{
    static const struct str group = { "system:masters", 14 };
    const struct x509_user user = { .name = STR("admin"), .groups = &group, .n_groups = 1 };
    struct err err = { 0 };
    ret->cert = ret->key = BUF_INIT(64 << 10);
    CHECK_OK(x509_make_client(buf_str(&a->cert), buf_str(&a->key), &user, 3600, &ret->cert,
                              &ret->key, &err));
}

/* ------------------------------------------------------------------ the rig */

struct rig {
    struct loop loop;
    struct authority ca, cert;
    struct agent_server *server;
    agent_stats_cb stats_done;
    void *stats_arg;
    bool is_closed;
};

static int on_stats(void *arg, agent_stats_cb done, void *done_arg, struct err *err)
{
    struct rig *r = arg;
    r->stats_done = done;
    r->stats_arg = done_arg;
    return 0;
}

static void on_pods(void *arg, bool running, struct buf *to)
{
    (void)buf_add_cstr(to, "{}");
}

static int no_token(struct agent_reviewer *r, struct str token, agent_token_cb done, void *arg,
                    struct agent_review **ret, struct err *err)
{
    return err_set(err, -EIO, "no reviews here");
}

static int no_access(struct agent_reviewer *r, const struct kube_identity *who,
                     const struct agent_attributes *what, agent_allowed_cb done, void *arg,
                     struct agent_review **ret, struct err *err)
{
    return err_set(err, -EIO, "no reviews here");
}

static void rig_init(struct rig *r)
{
    static const struct agent_server_ops ops = { .pods = on_pods, .stats = on_stats };
    static struct agent_reviewer reviewer = { .token = no_token, .access = no_access };
    struct err err = { 0 };
    memset(r, 0, sizeof *r);
    CHECK_OK(loop_init(&r->loop, &err));
    authority_init(&r->ca, "first");
    make_server_cert(&r->ca, &r->cert);
    const struct agent_server_opts opts = { .loop = &r->loop,
                                            .cert = buf_str(&r->cert.cert),
                                            .key = buf_str(&r->cert.key),
                                            .ca = buf_str(&r->ca.cert),
                                            .node = STR("n1"),
                                            .reviewer = &reviewer,
                                            .ops = &ops,
                                            .arg = r };
    CHECK_OK(agent_server_start(&opts, &r->server, &err));
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void close_server(struct rig *r)
{
    agent_server_close(r->server, 0, on_closed, &r->is_closed);
    while (!r->is_closed)
        (void)loop_turn(&r->loop, true);
}

static void rig_fini(struct rig *r)
{
    if (!r->is_closed)
        close_server(r);
    loop_run(&r->loop);
    loop_fini(&r->loop);
    authority_fini(&r->ca);
    authority_fini(&r->cert);
}

struct answer {
    struct http_client *client;
    struct tls_ctx *tls;
    struct exchange *x;
    int status, r;
    bool has_ended;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct answer *)arg)->status = status;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct answer *a = arg;
    a->has_ended = true;
    a->r = r;
}

static void ask(struct rig *r, struct answer *a, const struct authority *trusted,
                const struct authority *us, const char *target)
{
    static const struct exchange_events events = { .on_head = on_head, .on_end = on_end };
    struct err err = { 0 };
    *a = (struct answer){ 0 };
    CHECK_OK(tls_ctx_new_client(buf_str(&trusted->cert), buf_str(&us->cert), buf_str(&us->key),
                                false, &a->tls, &err));
    const struct http_client_opts opts = { .host = "127.0.0.1",
                                           .port = agent_server_port(r->server),
                                           .tls = a->tls };
    CHECK_OK(http_client_new(&r->loop, &opts, &a->client, &err));
    const struct http_call_opts call = {
        .method = STR("GET"), .target = str_of(target), .events = &events, .arg = a
    };
    CHECK_OK(http_call_start(a->client, &call, &a->x, &err));
}

static void finish(struct rig *r, struct answer *a)
{
    while (!a->has_ended)
        (void)loop_turn(&r->loop, true);
    http_client_close(a->client);
    tls_ctx_free(a->tls);
}

static int status_of(struct rig *r, const struct authority *trusted, const struct authority *us,
                     const char *target)
{
    struct answer a;
    ask(r, &a, trusted, us, target);
    finish(r, &a);
    return a.r < 0 ? a.r : a.status;
}

/* ------------------------------------------------------------------ tests */

TEST(certificates_are_replaced_while_it_serves)
{
    struct rig r;
    struct err err = { 0 };
    struct authority second, old_client, new_client, new_server;
    rig_init(&r);
    authority_init(&second, "second");
    make_client_cert(&r.ca, &old_client);
    make_client_cert(&second, &new_client);
    make_server_cert(&second, &new_server);
    CHECK_INT(status_of(&r, &r.ca, &old_client, "/pods"), 200);
    CHECK_INT(status_of(&r, &r.ca, &new_client, "/pods"), 401);
    CHECK_INT(status_of(&r, &second, &old_client, "/pods"), E_TLS);

    CHECK_ERR(agent_server_set_tls(r.server, STR("none"), STR("none"), STR(""), &err), E_TLS);
    CHECK_INT(status_of(&r, &r.ca, &old_client, "/pods"), 200);

    CHECK_OK(agent_server_set_tls(r.server, buf_str(&new_server.cert), buf_str(&new_server.key),
                                  STR(""), &err));
    CHECK_INT(status_of(&r, &second, &old_client, "/pods"), 200);
    CHECK_INT(status_of(&r, &second, &new_client, "/pods"), 401);

    CHECK_OK(agent_server_set_tls(r.server, buf_str(&new_server.cert), buf_str(&new_server.key),
                                  buf_str(&second.cert), &err));
    CHECK_INT(status_of(&r, &second, &new_client, "/pods"), 200);
    CHECK_INT(status_of(&r, &second, &old_client, "/pods"), 401);
    authority_fini(&second);
    authority_fini(&old_client);
    authority_fini(&new_client);
    authority_fini(&new_server);
    rig_fini(&r);
}

static void until_measured(struct rig *r)
{
    while (!r->stats_done)
        (void)loop_turn(&r->loop, true);
}

TEST(statistics_may_come_after_the_client_and_after_the_server)
{
    struct rig r;
    struct answer a;
    struct authority admin;
    struct agent_stats s;
    agent_stats_init(&s);
    rig_init(&r);
    make_client_cert(&r.ca, &admin);
    ask(&r, &a, &r.ca, &admin, "/stats/summary");
    until_measured(&r);
    r.stats_done(r.stats_arg, &s);
    finish(&r, &a);
    CHECK_INT(a.status, 200);

    r.stats_done = NULL;
    ask(&r, &a, &r.ca, &admin, "/stats/summary");
    until_measured(&r);
    r.stats_done(r.stats_arg, NULL);
    finish(&r, &a);
    CHECK_INT(a.status, 500);

    r.stats_done = NULL;
    ask(&r, &a, &r.ca, &admin, "/metrics/resource");
    until_measured(&r);
    exchange_cancel(a.x);
    finish(&r, &a);
    close_server(&r);
    r.stats_done(r.stats_arg, &s);
    authority_fini(&admin);
    rig_fini(&r);
}

TEST_MAIN
