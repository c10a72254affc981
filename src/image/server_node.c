/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server as a node of a cluster. Every request shows a token made with the key of the cluster:
 * one of an orchestrator (image_server_grant()), or the one of a BDM for a layer.
 */
#include "image/server_int.h"

#include "base/clock.h"
#include "base/log.h"
#include "codec/json.h"
#include "codec/url.h"
#include "image/deploy.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

enum { BODY_MAX = OCI_DOCUMENT_MAX, REPORT_MAX = 64 << 20 };
_Static_assert((int)BODY_MAX >= (int)IMAGE_BDM_MAX_BYTES, "a BDM is no larger than a document");

struct node_deploy {
    struct list node;
    struct image_server *s;
    struct image_deploy *d;
    uint64_t ended_ms; /* once it has */
};

struct node_strikes {
    unsigned n;
    uint64_t out_until_ms;
};

enum posting_kind { POSTING_BDM, POSTING_META, POSTING_CACHE, POSTING_NEWS };

/* A request whose body is being read, or whose answer a job makes. */
struct posting {
    struct list node;
    struct image_server *s;
    struct http_exchange *x; /* NULL: the client has disconnected */
    enum posting_kind kind;
    struct oci_digest digest; /* of the body, from the token */
    struct buf body, answer;
    uint64_t seq; /* of CACHE: when it was asked for */
    struct image_server_news news;
    struct job job;
    bool is_working;
    int r;
    struct err err;
};

/* ---- tokens ---- */

struct image_bdm_grant image_server_grant(const char *what, const char *node,
                                          const struct oci_digest *digest)
{
    return (struct image_bdm_grant){
        .deploy = str_of(what), .source = STR(""), .node = str_of(node), .blob = *digest
    };
}

bool image_server_is_field(struct str s)
{
    return s.n > 0 && s.n <= IMAGE_BDM_NAME_MAX && !memchr(s.p, '\n', s.n);
}

/* The bearer token of a request; empty: none. */
static struct str shown_token(const struct http_request *req)
{
    struct str shown = headers_get(req->headers, "authorization");
    bool is_bearer = shown.n > 7 && str_ieq(str_slice(shown, 0, 7), STR("bearer "));
    return is_bearer ? str_slice(shown, 7, shown.n) : STR("");
}

bool image_server_holds(const struct image_server *s, const struct image_bdm_grant *g,
                        const struct http_request *req)
{
    struct str token = shown_token(req);
    return image_bdm_token_check(str_of(s->cluster_key), g, token, clock_wall_ms() / 1000, NULL) >=
           0;
}

static void reply_json(struct http_exchange *x, int status, struct str text)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "application/json");
    http_reply(x, status, &h, text);
    headers_fini(&h);
}

void image_server_deny(struct http_exchange *x)
{
    image_server_reply_error(x, 403, "DENIED", "the token is not for this, or its time is over");
}

/* ---- deployments ---- */

static bool is_out(void *arg, struct str node)
{
    struct image_server *s = arg;
    const struct node_strikes *k = map_get(&s->strikes, node);
    return k && k->out_until_ms > clock_mono_ms();
}

static void strike(struct image_server *s, struct str node)
{
    struct node_strikes *k = map_get(&s->strikes, node);
    if (!k) {
        k = xnew(struct node_strikes);
        (void)map_put(&s->strikes, node, k);
    }
    log_warn("a peer sent wrong bytes", "node=" STR_FMT " times=%u", STR_ARG(node), k->n + 1);
    if (++k->n < IMAGE_SERVER_STRIKES)
        return;
    k->n = 0;
    k->out_until_ms = clock_mono_ms() + IMAGE_SERVER_OUT_MS;
}

static void drop_deploy(struct node_deploy *k)
{
    list_remove(&k->node);
    assert(k->s->n_deploys > 0);
    k->s->n_deploys--;
    image_deploy_free(k->d);
    free(k);
}

/* Of the ended ones those that ended last are kept. */
static void drop_old(struct image_server *s)
{
    list_each_safe (node, &s->deploys) {
        struct node_deploy *k = list_entry(node, struct node_deploy, node);
        if (s->n_deploys <= IMAGE_SERVER_DEPLOYS_KEPT)
            return;
        if (image_deploy_has_ended(k->d))
            drop_deploy(k);
    }
}

static void measure(struct image_server *s, struct image_deploy *d)
{
    struct image_deploy_measured m;
    struct node_state_rates *r = &s->rates;
    int64_t wall_s = clock_wall_ms() / 1000;
    image_deploy_measured(d, &m);
    node_state_measure(r, &r->downlink_bps, m.peer_bytes + m.registry_bytes, m.fetch_ms, wall_s);
    if (m.peer_bytes == 0)
        node_state_measure(r, &r->registry_bps, m.registry_bytes, m.fetch_ms, wall_s);
    node_state_measure(r, &r->unpack_bps, m.import_bytes, m.import_ms, wall_s);
}

static struct node_deploy *find_deploy(struct image_server *s, struct str id)
{
    list_each (node, &s->deploys) {
        struct node_deploy *k = list_entry(node, struct node_deploy, node);
        if (str_eq(image_deploy_id(k->d), id))
            return k;
    }
    return NULL;
}

struct image_inbox *image_server_inbox(struct image_server *s, struct str deploy)
{
    struct node_deploy *k = find_deploy(s, deploy);
    return k ? image_deploy_inbox(k->d) : NULL;
}

static void log_deployed(struct image_deploy *d, int r)
{
    struct err why;
    char image[LOG_QUOTE_MAX], reason[LOG_QUOTE_MAX];
    (void)log_quote(image, image_deploy_reference(d));
    image_deploy_error(d, &why);
    if (image_deploy_is_prefetch(d))
        log_debug("layers prefetched", "deploy=" STR_FMT " r=%d", STR_ARG(image_deploy_id(d)), r);
    else if (r >= 0)
        log_info("image deployed", "deploy=" STR_FMT " image=\"%s\"", STR_ARG(image_deploy_id(d)),
                 image);
    else
        log_warn("image not deployed", "deploy=" STR_FMT " image=\"%s\" reason=\"%s\"",
                 STR_ARG(image_deploy_id(d)), image, log_quote(reason, str_of(err_text(&why))));
}

static void on_deployed(void *arg, struct image_deploy *d, int r)
{
    struct image_server *s = arg;
    struct str liars[IMAGE_DEPLOY_BAD_PEERS_MAX];
    size_t n = image_deploy_bad_peers(d, liars);
    struct node_deploy *k = find_deploy(s, image_deploy_id(d));
    for (size_t i = 0; i < n; i++)
        strike(s, liars[i]);
    list_remove(&k->node);
    list_push_back(&s->deploys, &k->node);
    k->ended_ms = loop_now_ms(s->loop);
    if (!image_deploy_is_prefetch(d)) /* which is held back */
        measure(s, d);
    image_server_state_changed(s);
    s->seq++;
    assert(s->n_deploying > 0 && s->n_deploying <= s->n_deploys);
    s->n_deploying--;
    log_deployed(d, r);
    if (!image_deploy_is_prefetch(d))
        image_server_await_ended(s, image_deploy_reference(d));
    drop_old(s);
    image_server_finish_close(s);
}

void image_server_each_prefetch(struct image_server *s, void (*f)(struct image_deploy *d))
{
    list_each (node, &s->deploys) {
        struct image_deploy *d = list_entry(node, struct node_deploy, node)->d;
        if (image_deploy_is_prefetch(d) && !image_deploy_has_ended(d))
            f(d);
    }
}

size_t image_server_incoming(struct image_server *s, struct oci_digest *ret, size_t max)
{
    size_t n = 0;
    list_each (node, &s->deploys) {
        struct image_deploy *d = list_entry(node, struct node_deploy, node)->d;
        if (!image_deploy_is_prefetch(d) && !image_deploy_has_ended(d))
            n += image_deploy_from_registry(d, ret + n, max - n);
    }
    return n;
}

bool image_server_deploys(const struct image_server *s, const struct oci_reference *ref,
                          uint64_t *ret_ended_ms)
{
    uint64_t ended_ms = UINT64_MAX;
    list_each (node, &s->deploys) {
        struct node_deploy *k = list_entry(node, struct node_deploy, node);
        struct oci_reference other;
        if (image_deploy_is_prefetch(k->d) ||
            oci_reference_parse(image_deploy_reference(k->d), &other, NULL) < 0 ||
            !oci_reference_equal(ref, &other))
            continue;
        if (!image_deploy_has_ended(k->d))
            return true;
        ended_ms = MIN(ended_ms, loop_now_ms(s->loop) - k->ended_ms);
    }
    *ret_ended_ms = ended_ms;
    return false;
}

static void reply_deploy(struct http_exchange *x, int status, struct node_deploy *k)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    image_deploy_status(k->d, &text);
    reply_json(x, status, buf_str(&text));
}

/* Those that it names are measured later. */
static void note_peers(struct image_server *s, const struct image_bdm *b)
{
    struct oci_reference ref;
    for (size_t i = 0; i < b->n_tasks; i++)
        for (uint32_t k = 0; k <= b->tasks[i].n_alternatives; k++) {
            const struct image_bdm_source *from =
                k ? &b->tasks[i].alternatives[k - 1] : &b->tasks[i].source;
            if (!from->is_registry)
                image_server_probe_peer(s, from->name, from->url);
            else if (oci_reference_parse(b->reference, &ref, NULL) >= 0)
                image_server_probe_registry(s, ref.host);
        }
}

static int start_deploy(struct image_server *s, struct str text, struct node_deploy **ret,
                        struct err *err)
{
    const struct image_deploy_opts o = { .loop = s->loop,
                                         .store = s->opts.store,
                                         .remote = s->opts.registry,
                                         .site = s->opts.site,
                                         .prefetch_bps = image_server_prefetch_bps(s),
                                         .tls = s->opts.peers,
                                         .is_out = is_out,
                                         .on_end = on_deployed,
                                         .arg = s };
    struct image_deploy *d;
    int r = image_deploy_start(&o, text, &d, err);
    if (r < 0)
        return r;
    if (!image_deploy_is_prefetch(d)) {
        image_server_prefetch_stop(s);
        image_server_state_deploying(s);
    }
    struct node_deploy *k = xnew(struct node_deploy);
    *k = (struct node_deploy){ .s = s, .d = d };
    list_push_back(&s->deploys, &k->node);
    s->n_deploys++;
    s->n_deploying++;
    if (!image_deploy_is_prefetch(d))
        image_server_await_begun(s, image_deploy_reference(d));
    *ret = k;
    return 0;
}

/* Of a deployment on another node, which this one is to send layers to. */
static void take_task(struct posting *p, const struct image_bdm *b)
{
    size_t n;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    int r = image_server_outbox_accept(p->s, b, &n, &err);
    if (r == -EAGAIN) {
        image_server_reply_error(p->x, 503, "TOOMANYREQUESTS", err_text(&err));
    } else if (r < 0) {
        image_server_reply_error(p->x, 400, "BDM_INVALID", err_text(&err));
    } else {
        json_set_str(&a, v, "deploy", b->deploy);
        json_set_str(&a, v, "state", STR("sending"));
        json_set_int(&a, v, "tasks", (int64_t)n);
        (void)json_write(&text, v);
        reply_json(p->x, r ? 202 : 200, buf_str(&text));
    }
    arena_fini(&a);
}

/* The same BDM again is answered with how far it is. */
static void take_bdm(struct posting *p)
{
    struct image_server *s = p->s;
    struct image_bdm b;
    struct node_deploy *k;
    struct err err = { 0 };
    struct oci_digest digest;
    struct arena a = { 0 };
    sha256_of(buf_str(&p->body), digest.bytes);
    if (!oci_digest_equal(&digest, &p->digest)) {
        image_server_reply_error(p->x, 400, "DIGEST_INVALID", "the body has another digest");
        return;
    }
    int r = image_bdm_parse(&a, buf_str(&p->body), &b, &err);
    if (r >= 0 && !str_is(b.node, s->node)) {
        take_task(p, &b);
        arena_fini(&a);
        return;
    }
    k = r >= 0 ? find_deploy(s, b.deploy) : NULL;
    if (r >= 0 && !k && b.is_prefetch)
        r = image_server_prefetch_check(s, &b, &err);
    if (r >= 0 && !k)
        note_peers(s, &b);
    arena_fini(&a);
    if (k) {
        reply_deploy(p->x, 200, k);
        return;
    }
    if (r >= 0 &&
        (image_closing_has_begun(&s->closing) || s->n_deploying >= IMAGE_SERVER_DEPLOYS_MAX)) {
        image_server_reply_error(p->x, 503, "TOOMANYREQUESTS", "too many deployments at once");
        return;
    }
    bool is_unwanted = r == E_DENIED;
    r = r < 0 ? r : start_deploy(s, buf_str(&p->body), &k, &err);
    if (is_unwanted)
        image_server_reply_error(p->x, 409, "PREFETCH_REFUSED", err_text(&err));
    else if (r < 0)
        image_server_reply_error(p->x, 400, "BDM_INVALID", err_text(&err));
    else
        reply_deploy(p->x, 202, k);
}

/* ---- jobs: documents and the report ---- */

static void posting_free(struct posting *p)
{
    struct image_server *s = p->s;
    list_remove(&p->node);
    buf_fini(&p->body);
    buf_fini(&p->answer);
    assert(s->n_postings > 0);
    s->n_postings--;
    free(p);
    image_server_finish_close(s);
}

/* {"node", "boot", "seq", "full": true, "layers": [...], "cap", "used", "pinned", "up_slots"} */
static int write_report(struct posting *p, struct err *err)
{
    struct image_server *s = p->s;
    struct arena a = { 0 };
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    size_t n = 0;
    uint64_t used = 0, pinned = 0;
    char text[OCI_DIGEST_TEXT_SIZE];
    int r = oci_store_layers(s->opts.store, &all, &n, err);
    if (r < 0)
        return r;
    struct json *v = json_new_object(&a), *layers = json_new_array(&a);
    for (size_t i = 0; i < n; i++) {
        struct oci_digest blob;
        uint64_t size = 0;
        struct json *l = json_new_object(&a);
        oci_digest_format(&all[i].diff_id, text);
        json_set_str(&a, l, "diff", str_of(text));
        if (oci_store_layer_blob(s->opts.store, &all[i].diff_id, &blob, &size, NULL) >= 0) {
            oci_digest_format(&blob, text);
            json_set_str(&a, l, "blob", str_of(text));
            json_set_int(&a, l, "size", (int64_t)size);
        }
        json_add(layers, l);
        used += all[i].n_bytes;
        pinned += all[i].is_pinned ? all[i].n_bytes : 0;
    }
    struct oci_store_usage usage;
    oci_store_usage(s->opts.store, &usage);
    json_set_str(&a, v, "node", str_of(s->node));
    json_set_str(&a, v, "boot", str_of(s->boot));
    json_set_int(&a, v, "seq", (int64_t)p->seq);
    json_set_bool(&a, v, "full", true);
    json_setc(&a, v, "layers", layers);
    json_set_int(&a, v, "cap", (int64_t)usage.quota_bytes);
    json_set_int(&a, v, "used", (int64_t)used);
    json_set_int(&a, v, "pinned", (int64_t)pinned);
    json_set_int(&a, v, "up_slots", IMAGE_SERVER_UPLOADS);
    r = json_write(&p->answer, v);
    arena_fini(&a);
    return r < 0 ? err_set(err, r, "the report is too large") : 0;
}

static void work(struct job *j)
{
    struct posting *p = container_of(j, struct posting, job);
    if (p->kind == POSTING_NEWS)
        p->r = image_server_news_read(p->s, buf_str(&p->body), &p->news, &p->err);
    else if (p->kind == POSTING_META)
        p->r = oci_store_document_put(p->s->opts.store, &p->digest, buf_str(&p->body), &p->err);
    else
        p->r = write_report(p, &p->err);
}

static void reply_news(struct posting *p, int r)
{
    char text[64];
    if (r < 0) {
        image_server_reply_error(p->x, 400, "NEWS_INVALID", err_text(&p->err));
        return;
    }
    (void)snprintf(text, sizeof text, "{\"image\":\"%s\",\"dead\":%zu}",
                   image_server_news_apply(p->s, &p->news), p->news.n_dead);
    reply_json(p->x, 200, str_of(text));
}

static void on_worked(struct job *j, int r)
{
    struct posting *p = container_of(j, struct posting, job);
    p->is_working = false;
    if (!p->x) {
        posting_free(p);
        return;
    }
    r = r < 0 ? r : p->r;
    if (p->kind == POSTING_NEWS) {
        reply_news(p, r);
        return;
    }
    if (r == E_DIGEST || r == E_LIMIT)
        image_server_reply_error(p->x, 400, "DIGEST_INVALID", err_text(&p->err));
    else if (r < 0)
        image_server_reply_error(p->x, 500, "UNKNOWN", "the store failed");
    else if (p->kind == POSTING_META)
        http_reply(p->x, 201, NULL, STR(""));
    else
        reply_json(p->x, 200, buf_str(&p->answer));
}

static void start_job(struct posting *p)
{
    p->seq = p->s->seq;
    p->job = (struct job){ .work = work, .done = on_worked };
    p->is_working = job_start(p->s->loop, &p->job) >= 0;
    if (!p->is_working)
        image_server_reply_error(p->x, 503, "TOOMANYREQUESTS", "try again");
}

/* ---- bodies ---- */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct posting *p = http_exchange_data(x);
    (void)buf_add_str(&p->body, chunk);
}

static bool is_of_digest(const struct posting *p)
{
    struct oci_digest digest;
    sha256_of(buf_str(&p->body), digest.bytes);
    return oci_digest_equal(&digest, &p->digest);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct posting *p = http_exchange_data(x);
    (void)x;
    if (r < 0)
        return;
    if (p->kind == POSTING_BDM)
        take_bdm(p);
    else if (p->kind == POSTING_NEWS && !is_of_digest(p))
        image_server_reply_error(p->x, 400, "DIGEST_INVALID", "the body has another digest");
    else
        start_job(p);
}

static void on_posting_gone(struct http_exchange *x, int r)
{
    struct posting *p = http_exchange_data(x);
    (void)r;
    p->x = NULL;
    if (!p->is_working)
        posting_free(p);
}

/* NULL: there are too many, and the request is answered. */
static struct posting *new_posting(struct image_server *s, struct http_exchange *x,
                                   enum posting_kind kind, const struct oci_digest *digest)
{
    static const struct http_exchange_ops ops = { .on_body = on_body,
                                                  .on_body_end = on_body_end,
                                                  .on_gone = on_posting_gone };
    if (s->n_postings >= IMAGE_SERVER_POSTINGS_MAX) {
        image_server_reply_error(x, 503, "TOOMANYREQUESTS", "too many requests at once");
        return NULL;
    }
    struct posting *p = xnew(struct posting);
    *p = (struct posting){ .s = s,
                           .x = x,
                           .kind = kind,
                           .digest = *digest,
                           .body = BUF_INIT(BODY_MAX),
                           .answer = BUF_INIT(REPORT_MAX) };
    list_push_back(&s->postings, &p->node);
    s->n_postings++;
    http_exchange_set(x, &ops, p);
    return p;
}

/* ---- requests ---- */

/* A layer for another node: for the token of a BDM alone. */
static void give_layer(struct image_server *s, struct http_exchange *x,
                       const struct http_request *req, const struct url_target *t,
                       const struct oci_digest *blob)
{
    struct mirror_request q = { .kind = MIRROR_BLOB, .digest = *blob, .is_entitled = true };
    const struct image_bdm_grant g = { .deploy = url_query_get(t, "deploy"),
                                       .source = str_of(s->node),
                                       .node = url_query_get(t, "node"),
                                       .blob = *blob };
    if (!image_server_is_field(g.deploy) || !image_server_is_field(g.node) ||
        !image_server_holds(s, &g, req))
        image_server_deny(x);
    else if (image_closing_has_begun(&s->closing) || s->n_uploads >= IMAGE_SERVER_UPLOADS)
        image_server_reply_error(x, 503, "TOOMANYREQUESTS", "every upload slot is taken");
    else
        image_server_serve(s, x, req, &q, true);
}

/* The token is for the digest of the body: a stranger's body is not read. */
static void take_body(struct image_server *s, struct http_exchange *x,
                      const struct http_request *req, enum posting_kind kind,
                      const struct oci_digest *digest)
{
    struct image_bdm_grant g = image_server_grant(kind == POSTING_BDM    ? "bdm"
                                                  : kind == POSTING_NEWS ? "replaced"
                                                                         : "meta",
                                                  s->node, digest);
    if (!image_server_holds(s, &g, req))
        image_server_deny(x);
    else if (new_posting(s, x, kind, digest))
        http_read_body(x, BODY_MAX);
}

static void reply_deploy_status(struct image_server *s, struct http_exchange *x,
                                const struct http_request *req, struct str id)
{
    static const struct oci_digest none;
    scoped(free_scoped) char *what = str_dup(id);
    struct image_bdm_grant g = image_server_grant(what, s->node, &none);
    struct node_deploy *k = find_deploy(s, id);
    if (!image_server_is_field(id) || !image_server_holds(s, &g, req))
        image_server_deny(x);
    else if (!k)
        image_server_reply_error(x, 404, "UNKNOWN", "there is no such deployment here");
    else
        reply_deploy(x, 200, k);
}

static void reply_cache(struct image_server *s, struct http_exchange *x,
                        const struct http_request *req)
{
    static const struct oci_digest none;
    struct image_bdm_grant g = image_server_grant("cache", s->node, &none);
    if (!image_server_holds(s, &g, req)) {
        image_server_deny(x);
        return;
    }
    struct posting *p = new_posting(s, x, POSTING_CACHE, &none);
    if (p)
        start_job(p);
}

static bool route(struct image_server *s, struct http_exchange *x, const struct http_request *req,
                  const struct url_target *t)
{
    struct oci_digest digest;
    struct str what = t->n_segments > 1 ? t->segments[1] : STR("");
    struct str last = t->n_segments == 3 ? t->segments[2] : STR("");
    bool is_get = str_is(req->method, "GET"),
         has_digest = oci_digest_parse(last, &digest, NULL) >= 0;
    if (t->n_segments == 2 && str_is(what, "probe") && s->prober &&
        (is_get || str_is(req->method, "POST"))) {
        if (image_server_is_field(url_query_get(t, "node")))
            image_server_probe_answer(s, x, req, t);
        else
            image_server_deny(x);
    } else if (t->n_segments == 2 && str_is(what, "bdm") && str_is(req->method, "POST")) {
        if (oci_digest_parse(url_query_get(t, "digest"), &digest, NULL) >= 0)
            take_body(s, x, req, POSTING_BDM, &digest);
        else
            image_server_reply_error(x, 400, "DIGEST_INVALID",
                                     "the query does not say which digest the body has");
    } else if (str_is(what, "images") && str_is(last, "replaced") && str_is(req->method, "POST")) {
        if (oci_digest_parse(url_query_get(t, "digest"), &digest, NULL) >= 0)
            take_body(s, x, req, POSTING_NEWS, &digest);
        else
            image_server_reply_error(x, 400, "DIGEST_INVALID",
                                     "the query does not say which digest the body has");
    } else if (t->n_segments == 2 && str_is(what, "cache") && is_get) {
        reply_cache(s, x, req);
    } else if (str_is(what, "deploys") && last.n && is_get) {
        reply_deploy_status(s, x, req, last);
    } else if (str_is(what, "layers") && has_digest && is_get) {
        give_layer(s, x, req, t, &digest);
    } else if (str_is(what, "layers") && has_digest && str_is(req->method, "PUT")) {
        image_server_accept_push(s, x, req, t, &digest);
    } else if (str_is(what, "meta") && has_digest && str_is(req->method, "PUT")) {
        take_body(s, x, req, POSTING_META, &digest);
    } else {
        return false;
    }
    return true;
}

bool image_server_node_request(struct image_server *s, struct http_exchange *x,
                               const struct http_request *req)
{
    struct arena a = { .max_bytes = 256 << 10 };
    bool is_ours = false;
    if (str_has_prefix(req->target, STR("/v1/"))) {
        struct url_target *t = arena_new(&a, struct url_target);
        is_ours = url_parse(&a, req->target, t, NULL) >= 0 && route(s, x, req, t);
    }
    arena_fini(&a);
    return is_ours;
}

void image_server_node_close(struct image_server *s)
{
    image_server_await_close(s);
    list_each (node, &s->deploys)
        image_deploy_stop(list_entry(node, struct node_deploy, node)->d);
    image_server_outbox_close(s);
}

void image_server_node_fini(struct image_server *s)
{
    list_each_safe (node, &s->deploys)
        drop_deploy(list_entry(node, struct node_deploy, node));
    map_each (e, &s->strikes)
        free(e->value);
    map_fini(&s->strikes);
    tls_ctx_free(s->push_tls);
    free(s->node);
    free(s->cluster_key);
}
