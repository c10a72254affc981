/* SPDX-License-Identifier: Apache-2.0 */
/* A machine joins a cluster; see joining.h. */
#include "agent/registration/joining.h"

#include "agent/registration/cluster_trust.h"
#include "agent/registration/node_cert.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "client/ask.h"
#include "client/http_transport.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { RETRY_FIRST_MS = 200, RETRY_MAX_MS = 15000, CA_MAX_BYTES = 256 << 10 };

enum joining_at {
    AT_TRUST,       /* cluster-info is being read */
    AT_TRUSTED,     /* its transport is being closed */
    AT_CERTIFICATE, /* it is being requested */
    AT_OVER
};

struct joining {
    struct joining_opts opts;
    char *server, *token, *node_name, *path;
    bool has_hash;
    uint8_t hash[CLUSTER_TRUST_HASH_BYTES];
    enum joining_at at;
    char *ca_pem;
    struct http_transport *transport; /* of the step */
    struct client_ask *call;
    struct node_cert *cert;
    struct kubeconfig *config; /* the result */
    struct timer timer;
    struct defer turn;
    unsigned failures;
    struct rng rng;
    int r; /* the result */
    struct err err;
    bool is_stopping;
    void (*done)(void *arg);
    void *done_arg;
};

/* ---------------------------------------------------------------- the file */

int joining_write(const char *path, const struct kubeconfig *config, const char *node_name,
                  struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(KUBECONFIG_MAX_BYTES);
    scoped(free_scoped) char *user = xasprintf("system:node:%s", node_name);
    int r = kubeconfig_write(config, str_of(user), &text);
    if (r >= 0)
        r = sys_write_file_atomic(AT_FDCWD, path, buf_str(&text), 0600, err);
    return r < 0 ? err_ctx(err, r, "write '%s'", path) : 0;
}

static char *copy(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

/* Those of an earlier start. The server is the given one: it may have moved. */
static int load(const struct joining_opts *o, struct kubeconfig **ret, struct err *err)
{
    scoped(kubeconfig_free_scoped) struct kubeconfig *c = NULL;
    scoped(free_scoped) char *user = xasprintf("system:node:%s", o->node_name);
    int64_t from_s, until_s;
    if (access(o->path, F_OK) < 0)
        return -ENOENT;
    int r = kubeconfig_load(o->path, NULL, &c, err);
    if (r < 0)
        return r;
    struct str cert = str_of(c->client_cert_pem), key = str_of(c->client_key_pem);
    if (!c->ca_pem || x509_check_pair(cert, key, err) < 0 ||
        x509_validity(cert, &from_s, &until_s, err) < 0)
        return err_set(err, E_INVALID, "'%s' has no certificate", o->path);
    if (!x509_is_for(cert, str_of(user), NULL, 0))
        return err_set(err, -EEXIST, "'%s' is of another node than %s", o->path, o->node_name);
    if (until_s <= clock_wall_ms() / 1000)
        return err_set(err, -ESTALE, "the certificate in '%s' has expired", o->path);
    free(c->server);
    c->server = xstrdup(o->server);
    *ret = take_ptr(&c);
    return 0;
}

/* ---------------------------------------------------------------- the end */

static void on_result(struct defer *d)
{
    struct joining *j = container_of(d, struct joining, turn);
    j->opts.on_done(j->opts.arg, j->r, take_ptr(&j->config), &j->err);
}

/* The result is passed on in the next turn, when nothing of ours is on the stack. */
static void finish(struct joining *j, int r)
{
    j->at = AT_OVER;
    j->r = r;
    defer_start(j->opts.loop, &j->turn, on_result);
}

static void free_joining(void *arg)
{
    struct joining *j = arg;
    void (*done)(void *) = j->done;
    void *done_arg = j->done_arg;
    kubeconfig_free(j->config);
    free(j->server);
    if (j->token)
        explicit_bzero(j->token, strlen(j->token));
    free(j->token);
    free(j->node_name);
    free(j->path);
    free(j->ca_pem);
    free(j);
    done(done_arg);
}

static void on_stop_turn(struct defer *d)
{
    free_joining(container_of(d, struct joining, turn));
}

void joining_stop(struct joining *j, void (*done)(void *arg), void *arg)
{
    assert(!j->is_stopping);
    j->is_stopping = true;
    j->done = done;
    j->done_arg = arg;
    ask_cancel(take_ptr(&j->call));
    node_cert_stop(take_ptr(&j->cert));
    timer_stop(j->opts.loop, &j->timer);
    defer_cancel(&j->turn);
    if (j->at == AT_TRUSTED)
        return; /* its transport is being closed: on_untrusted_closed() goes on */
    if (j->transport)
        http_transport_close(take_ptr(&j->transport), free_joining, j);
    else
        defer_start(j->opts.loop, &j->turn, on_stop_turn);
}

/* ---------------------------------------------------------------- the certificate */

static void on_cert(void *arg, struct str cert_pem, struct str key_pem)
{
    struct joining *j = arg;
    struct kubeconfig *c = xnew(struct kubeconfig);
    node_cert_stop(take_ptr(&j->cert));
    c->server = xstrdup(j->server);
    c->ca_pem = xstrdup(j->ca_pem);
    c->client_cert_pem = str_dup(cert_pem);
    c->client_key_pem = str_dup(key_pem);
    j->config = c;
    int r = joining_write(j->path, c, j->node_name, &j->err);
    if (r < 0)
        kubeconfig_free(take_ptr(&j->config));
    else
        log_info("joined", "node=%s credentials=%s", j->node_name, j->path);
    finish(j, r);
}

/* A person has to act: the token is not valid any more, or the request was denied. */
static void on_refused(void *arg, int r, const struct err *err)
{
    struct joining *j = arg;
    node_cert_stop(take_ptr(&j->cert));
    j->err = *err;
    finish(j, err_ctx(&j->err, r, "request a certificate for node '%s'", j->node_name));
}

static void request(struct joining *j)
{
    const struct kubeconfig config = { .server = j->server,
                                       .ca_pem = j->ca_pem,
                                       .token = j->token };
    const struct node_cert_opts opts = { .loop = j->opts.loop,
                                         .use = NODE_CERT_CLIENT,
                                         .node_name = j->node_name,
                                         .valid_s = j->opts.valid_s,
                                         .on_cert = on_cert,
                                         .on_refused = on_refused,
                                         .arg = j };
    struct node_cert_opts with = opts;
    int r = http_transport_new(j->opts.loop, &config, &j->transport, &j->err);
    if (r < 0) {
        finish(j, r);
        return;
    }
    j->at = AT_CERTIFICATE;
    with.transport = http_transport_base(j->transport);
    node_cert_start(&with, &j->cert);
}

/* ---------------------------------------------------------------- trust */

static void ask_for_trust(struct joining *j);

static void on_untrusted_closed(void *arg)
{
    struct joining *j = arg;
    if (j->is_stopping)
        free_joining(j);
    else
        request(j);
}

static void on_trust_timer(struct timer *t)
{
    ask_for_trust(container_of(t, struct joining, timer));
}

static void ask_again(struct joining *j, const char *why)
{
    uint64_t wait = backoff_wait(RETRY_FIRST_MS, RETRY_MAX_MS, j->failures);
    if (j->failures++ == 0)
        log_warn("the cluster does not answer, trying again", "server=%s reason=\"%s\"", j->server,
                 why);
    timer_start(j->opts.loop, &j->timer, backoff_upper_half(&j->rng, wait), on_trust_timer);
}

static int take_trust(struct joining *j, int status, const struct json *map)
{
    struct arena a = { 0 };
    struct str ca;
    int r;
    if (status == 200) {
        r = cluster_trust_take(&a, map, str_of(j->token), j->has_hash ? j->hash : NULL, &ca,
                               &j->err);
        if (r >= 0)
            j->ca_pem = str_dup(ca);
    } else if (status == 404) {
        r = err_set(&j->err, -ENOENT,
                    "there is no bootstrap token in the cluster ('dormouse token create' makes "
                    "one)");
    } else {
        r = err_set(&j->err, -EACCES,
                    "the server does not show ConfigMap kube-public/cluster-info (answer %d): "
                    "'dormouse token create' allows that; or give the CA by --ca-file",
                    status);
    }
    arena_fini(&a);
    return r;
}

static void on_info(void *arg, int status, struct str body, const struct json *json,
                    const struct err *err)
{
    struct joining *j = arg;
    j->call = NULL;
    if (status == 0 || status == 429 || status >= 500) {
        ask_again(j, status ? "it has failed" : err_text(err));
        return;
    }
    int r = take_trust(j, status, json);
    if (r < 0) {
        finish(j, r);
        return;
    }
    j->at = AT_TRUSTED;
    http_transport_close(take_ptr(&j->transport), on_untrusted_closed, j);
}

static void ask_for_trust(struct joining *j)
{
    struct err err = { 0 };
    const struct ask_request rq = { .method = "GET", .target = STR(CLUSTER_TRUST_TARGET) };
    if (ask_start(http_transport_base(j->transport), NULL, &rq, on_info, j, &j->call, &err) < 0)
        ask_again(j, err_text(&err));
}

/* Nothing secret is sent over this connection. */
static int begin_trust(struct joining *j, struct err *err)
{
    const struct kubeconfig config = { .server = j->server, .insecure = true };
    int r = http_transport_new(j->opts.loop, &config, &j->transport, err);
    if (r >= 0)
        ask_for_trust(j);
    return r;
}

/* ---------------------------------------------------------------- start */

static int read_ca_file(struct joining *j, const char *path, struct err *err)
{
    size_t n;
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(CA_MAX_BYTES);
    int r = sys_read_file(AT_FDCWD, path, &pem, err);
    if (r < 0)
        return err_ctx(err, r, "--ca-file");
    if (j->has_hash && !x509_keys_have_hash(buf_str(&pem), j->hash))
        return err_set(err, E_INVALID, "the CA in '%s' has another key than --ca-hash names", path);
    j->ca_pem = buf_take(&pem, &n);
    return 0;
}

static int check(struct joining *j, const struct joining_opts *o, struct err *err)
{
    struct str id, secret;
    if (!str_has_prefix(str_of(o->server), STR("https://")))
        return err_set(err, E_INVALID, "the server '%s' is not an https:// URL", o->server);
    if (!cluster_trust_split(str_of(o->token), &id, &secret)) /* not quoted: it is a secret */
        return err_set(err, E_INVALID,
                       "the token does not have the form ID.SECRET, "
                       "[a-z0-9]{6}.[a-z0-9]{16}");
    j->has_hash = o->ca_hash != NULL;
    int r = o->ca_hash ? cluster_trust_read_hash(o->ca_hash, j->hash, err) : 0;
    if (r < 0)
        return err_ctx(err, r, "--ca-hash");
    return o->ca_file ? read_ca_file(j, o->ca_file, err) : 0;
}

static int begin(struct joining *j, const struct joining_opts *o, struct err *err)
{
    struct err why = { 0 };
    int r = load(o, &j->config, &why);
    if (r >= 0) {
        log_info("credentials of an earlier start", "node=%s file=%s", o->node_name, o->path);
        finish(j, 0);
        return 0;
    }
    if (!o->token && r == -ENOENT)
        return err_set(err, r,
                       "this machine has not joined yet: give a token (--token, from "
                       "'dormouse token create')");
    if (r == -EEXIST || !o->token)
        return err_set(err, r, "%s", err_text(&why));
    if (r != -ENOENT)
        log_warn("joining again", "reason=\"%s\"", err_text(&why));
    r = check(j, o, err);
    if (r >= 0 && !j->ca_pem)
        r = begin_trust(j, err);
    else if (r >= 0)
        request(j);
    return r;
}

int joining_start(const struct joining_opts *opts, struct joining **ret, struct err *err)
{
    struct joining *j = xnew(struct joining);
    j->opts = *opts;
    j->server = copy(opts->server);
    j->token = copy(opts->token);
    j->node_name = copy(opts->node_name);
    j->path = copy(opts->path);
    j->rng.state = sys_random_u64();
    int r = begin(j, opts, err);
    if (r < 0) {
        assert(!j->transport);
        free(j->server);
        free(j->token);
        free(j->node_name);
        free(j->path);
        free(j->ca_pem);
        free(j);
        return r;
    }
    *ret = j;
    return 0;
}
