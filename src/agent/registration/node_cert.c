/* SPDX-License-Identifier: Apache-2.0 */
/* A certificate of a node; see node_cert.h. */
#include "agent/registration/node_cert.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "base/sys.h"
#include "client/ask.h"
#include "client/kube_identity.h"
#include "codec/base64.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define CSRS "/apis/certificates.k8s.io/v1/certificatesigningrequests"

enum {
    RETRY_FIRST_MS = 200, /* after a failure of the way to the cluster */
    RETRY_MAX_MS = 15000,
    LOOK_FIRST_MS = 50, /* whether the request is signed */
    LOOK_MAX_MS = 60000,
    NEW_LEAST_MS = 60000, /* a new certificate is not renewed sooner: our clock may be wrong */
    REFUSED_FIRST_MS = 30000,
    REFUSED_MAX_MS = 900000,
    RENEW_FROM_PERCENT = 70,
    RENEW_TO_PERCENT = 90
};

enum node_cert_at { AT_RESTING, AT_POSTING, AT_WAITING };

static const struct sm_state at_table[] = {
    [AT_RESTING] = { "resting", EDGE(AT_POSTING) },
    [AT_POSTING] = { "posting", EDGE(AT_WAITING) | EDGE(AT_RESTING) },
    [AT_WAITING] = { "waiting", EDGE(AT_RESTING) },
};

struct node_cert {
    struct node_cert_opts opts;
    struct arena arena; /* of the options */
    const char *names[NODE_CERT_NAMES_MAX];
    char *user;
    struct sm at;
    struct client_ask *call;
    struct timer timer;
    struct buf key; /* of the request under way */
    char *target;   /* of that request */
    uint64_t posted_ms;
    unsigned looks, failures, refusals;
    struct rng rng;
    int64_t from_s, until_s; /* of the certificate; 0: none */
    double part;             /* of that time after which it is renewed */
};

static void post(struct node_cert *c);
static void look(struct node_cert *c);

/* ---------------------------------------------------------------- when */

static void on_timer(struct timer *t)
{
    struct node_cert *c = container_of(t, struct node_cert, timer);
    if (c->at.at == AT_WAITING)
        look(c);
    else
        post(c);
}

static void on_rest_over(struct timer *t);

/* Until the certificate is to be renewed; at least so long, whatever the clocks say. */
static void rest(struct node_cert *c, uint64_t least_ms)
{
    int64_t due_s = c->from_s + (int64_t)((double)(c->until_s - c->from_s) * c->part);
    int64_t left_s = due_s - clock_wall_ms() / 1000;
    uint64_t left_ms = left_s > 0 ? (uint64_t)left_s * 1000 : 0;
    left_ms = MAX(MIN(left_ms, (uint64_t)NODE_CERT_LOOK_MS), least_ms);
    timer_start(c->opts.loop, &c->timer, left_ms, on_rest_over);
}

static void on_rest_over(struct timer *t)
{
    struct node_cert *c = container_of(t, struct node_cert, timer);
    int64_t due_s = c->from_s + (int64_t)((double)(c->until_s - c->from_s) * c->part);
    if (clock_wall_ms() / 1000 >= due_s)
        post(c);
    else
        rest(c, 0);
}

static void again(struct node_cert *c, uint64_t wait_ms)
{
    timer_start(c->opts.loop, &c->timer, backoff_upper_half(&c->rng, wait_ms), on_timer);
}

/* The cluster could not be asked, or has failed. */
static void fail(struct node_cert *c, const char *why)
{
    if (c->failures == 0)
        log_warn("a certificate cannot be requested, trying again", "user=%s reason=\"%s\"",
                 c->user, why);
    again(c, backoff_wait(RETRY_FIRST_MS, RETRY_MAX_MS, c->failures++));
}

/* May end c. */
static void refuse(struct node_cert *c, int r, const char *why)
{
    struct err err = { 0 };
    (void)err_set(&err, r, "%s", why);
    if (c->at.at != AT_RESTING)
        sm_move(&c->at, AT_RESTING);
    again(c, backoff_wait(REFUSED_FIRST_MS, REFUSED_MAX_MS, c->refusals++));
    if (c->opts.on_refused)
        c->opts.on_refused(c->opts.arg, r, &err);
    else
        log_error("the cluster does not give a certificate, asking again later",
                  "user=%s reason=\"%s\"", c->user, why);
}

/* ---------------------------------------------------------------- what there is */

static bool is_usable(const struct node_cert *c, struct str cert, struct str key)
{
    return cert.n && key.n && x509_check_pair(cert, key, NULL) >= 0 &&
           x509_is_for(cert, str_of(c->user), c->names, c->opts.n_names);
}

static bool take(struct node_cert *c, struct str cert, struct str key)
{
    if (!is_usable(c, cert, key) || x509_validity(cert, &c->from_s, &c->until_s, NULL) < 0)
        return false;
    c->part =
        (RENEW_FROM_PERCENT + (RENEW_TO_PERCENT - RENEW_FROM_PERCENT) * rng_unit(&c->rng)) / 100;
    return true;
}

bool node_cert_is_valid(const struct node_cert *c)
{
    return c->until_s > clock_wall_ms() / 1000;
}

/* ---------------------------------------------------------------- waiting */

static void on_signed(struct node_cert *c, struct str text)
{
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(NODE_CERT_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf key = c->key;
    c->key = BUF_INIT(NODE_CERT_MAX_BYTES);
    if (base64_decode(&pem, text, BASE64_LENIENT) < 0 || !take(c, buf_str(&pem), buf_str(&key))) {
        refuse(c, E_INVALID, "the certificate is not the one that was requested");
        return;
    }
    sm_move(&c->at, AT_RESTING);
    c->failures = c->refusals = 0;
    log_info("certificate issued", "user=%s use=%s valid_s=%lld", c->user,
             c->opts.use == NODE_CERT_SERVER ? "server" : "client",
             (long long)(c->until_s - clock_wall_ms() / 1000));
    rest(c, NEW_LEAST_MS);
    c->opts.on_cert(c->opts.arg, buf_str(&pem), buf_str(&key));
}

static const struct json *condition(const struct json *csr, const char *type)
{
    json_each (v, json_path(csr, "status", "conditions", NULL))
        if (str_is(json_get_str(v, "type"), type))
            return v;
    return NULL;
}

static void on_csr(struct node_cert *c, const struct json *csr)
{
    const struct json *denied = condition(csr, "Denied"), *failed = condition(csr, "Failed");
    struct str cert = json_str(json_path(csr, "status", "certificate", NULL));
    uint64_t waited = loop_now_ms(c->opts.loop) - c->posted_ms;
    c->failures = 0;
    if (cert.n) {
        on_signed(c, cert);
    } else if (denied || failed) {
        struct str message = json_get_str(denied ? denied : failed, "message");
        scoped(free_scoped) char *why =
            xasprintf("the request was %s: " STR_FMT, denied ? "denied" : "not signed",
                      STR_ARG(str_slice(message, 0, 200)));
        refuse(c, -EPERM, why);
    } else if (waited > NODE_CERT_WAIT_MS) {
        refuse(c, -ETIMEDOUT, "the request was not approved in time");
    } else {
        if (c->looks == 6)
            log_info("waiting for the approval of a certificate", "user=%s request=%s", c->user,
                     strrchr(c->target, '/') + 1);
        again(c, backoff_wait(LOOK_FIRST_MS, LOOK_MAX_MS, c->looks++));
    }
}

static void on_looked(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct node_cert *c = arg;
    c->call = NULL;
    if (status == 200 && json)
        on_csr(c, json);
    else if (status == 404)
        refuse(c, -ENOENT, "the request was deleted");
    else
        fail(c, status ? "the cluster has failed" : err_text(err));
}

static void ask(struct node_cert *c, const char *method, const char *target, struct str body,
                ask_cb cb)
{
    struct err err = { 0 };
    const struct ask_request rq = { .method = method,
                                    .target = str_of(target),
                                    .content_type = body.n ? "application/json" : NULL,
                                    .body = body };
    assert(!c->call);
    if (ask_start(c->opts.transport, c->opts.identity, &rq, cb, c, &c->call, &err) < 0)
        fail(c, err_text(&err));
}

static void look(struct node_cert *c)
{
    ask(c, "GET", c->target, STR(""), on_looked);
}

/* ---------------------------------------------------------------- posting */

static void on_posted(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct node_cert *c = arg;
    struct str name = json_str(json_path(json, "metadata", "name", NULL));
    c->call = NULL;
    if (status == 201 && name.n) {
        free(c->target);
        c->target = xasprintf(CSRS "/" STR_FMT, STR_ARG(name));
        c->posted_ms = loop_now_ms(c->opts.loop);
        c->looks = c->failures = 0;
        sm_move(&c->at, AT_WAITING);
        again(c, LOOK_FIRST_MS);
    } else if (status == 401 || status == 403 || status == 422 || status == 400) {
        struct str message = json_get_str(json, "message");
        scoped(free_scoped) char *why =
            xasprintf("%d " STR_FMT, status, STR_ARG(str_slice(message, 0, 200)));
        refuse(c, -EACCES, why);
    } else {
        sm_move(&c->at, AT_RESTING);
        scoped(free_scoped) char *why =
            status ? xasprintf("answer %d", status) : xstrdup(err_text(err));
        fail(c, why);
    }
}

static void write_csr(const struct node_cert *c, struct str request, struct buf *to)
{
    struct arena a = { 0 };
    bool is_server = c->opts.use == NODE_CERT_SERVER;
    struct json *csr = json_new_object(&a), *spec = json_obj(&a, csr, "spec"),
                *usages = json_new_array(&a);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(NODE_CERT_MAX_BYTES);
    (void)base64_encode(&text, request, BASE64_STD);
    json_set_str(&a, csr, "apiVersion", STR("certificates.k8s.io/v1"));
    json_set_str(&a, csr, "kind", STR("CertificateSigningRequest"));
    json_set_str(&a, json_obj(&a, csr, "metadata"), "generateName", STR("csr-"));
    json_set_str(&a, spec, "request", buf_str(&text));
    json_set_str(&a, spec, "signerName",
                 is_server ? STR("kubernetes.io/kubelet-serving")
                           : STR("kubernetes.io/kube-apiserver-client-kubelet"));
    if (c->opts.valid_s)
        json_set_int(&a, spec, "expirationSeconds", c->opts.valid_s);
    json_add(usages, json_new_cstr(&a, "digital signature"));
    json_add(usages, json_new_cstr(&a, is_server ? "server auth" : "client auth"));
    json_setc(&a, spec, "usages", usages);
    (void)json_write(to, csr);
    arena_fini(&a);
}

static void post(struct node_cert *c)
{
    static const struct str group = { "system:nodes", 12 };
    const struct x509_user user = { str_of(c->user), &group, 1 };
    scoped(buf_fini_scoped) struct buf request = BUF_INIT(NODE_CERT_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(2 * NODE_CERT_MAX_BYTES);
    struct err err = { 0 };
    buf_reset(&c->key);
    if (x509_make_request(&user, c->names, c->opts.n_names, &request, &c->key, &err) < 0) {
        fail(c, err_text(&err));
        return;
    }
    sm_move(&c->at, AT_POSTING);
    write_csr(c, buf_str(&request), &body);
    ask(c, "POST", CSRS, buf_str(&body), on_posted);
    if (!c->call)
        sm_move(&c->at, AT_RESTING);
}

/* ---------------------------------------------------------------- life */

void node_cert_start(const struct node_cert_opts *opts, struct node_cert **ret)
{
    struct node_cert *c = xnew(struct node_cert);
    assert(opts->n_names <= NODE_CERT_NAMES_MAX && opts->on_cert);
    c->opts = *opts;
    c->opts.identity = kube_identity_copy(&c->arena, opts->identity);
    for (size_t i = 0; i < opts->n_names; i++)
        c->names[i] = str_dup_arena(&c->arena, str_of(opts->names[i]));
    c->user = xasprintf("system:node:%s", opts->node_name);
    c->key = BUF_INIT(NODE_CERT_MAX_BYTES);
    c->rng.state = sys_random_u64();
    sm_init(&c->at, at_table, AT_RESTING);
    if (take(c, opts->cert_pem, opts->key_pem))
        rest(c, 0);
    else
        timer_start(opts->loop, &c->timer, 0, on_timer);
    *ret = c;
}

void node_cert_stop(struct node_cert *c)
{
    if (!c)
        return;
    ask_cancel(c->call);
    timer_stop(c->opts.loop, &c->timer);
    if (c->key.p)
        explicit_bzero(c->key.p, c->key.n);
    buf_fini(&c->key);
    arena_fini(&c->arena);
    free(c->user);
    free(c->target);
    free(c);
}
