/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ConfigMap kube-public/cluster-info, from which a machine that has nothing but a bootstrap
 * token learns whom to trust: a kubeconfig with the server's address and CA, and for each token
 * that may sign a signature of it by the token's secret (upstream's controller bootstrapsigner).
 *
 *     idle -> reading the ConfigMap -> reading the tokens -> writing -> idle
 *
 * A round follows each write of the ConfigMap or of a token. The ConfigMap is created with the
 * first token that may sign. Nothing is kept between rounds.
 */
#include "api/bootstrap_token.h"
#include "api/controllers/controllers.h"
#include "api/inner.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "codec/jws.h"

#include <assert.h>

#define MAP_NAMESPACE "kube-public"
#define MAP_NAME      "cluster-info"
#define MAPS          "/api/v1/namespaces/" MAP_NAMESPACE "/configmaps"
#define TOKENS_PREFIX "/registry/secrets/" BOOTSTRAP_TOKEN_NAMESPACE "/" BOOTSTRAP_TOKEN_PREFIX
#define SIGNATURE     "jws-kubeconfig-"

enum { CLUSTER_INFO_TOKENS_MAX = 256 /* that sign; the first ones by their names */ };

enum cluster_info_at { INFO_IDLE, INFO_READING_MAP, INFO_READING_TOKENS, INFO_WRITING };

static const struct sm_state info_table[] = {
    [INFO_IDLE] = { "idle", EDGE(INFO_READING_MAP) },
    [INFO_READING_MAP] = { "reading the ConfigMap", EDGE(INFO_READING_TOKENS) | EDGE(INFO_IDLE) },
    [INFO_READING_TOKENS] = { "reading the tokens", EDGE(INFO_WRITING) | EDGE(INFO_IDLE) },
    [INFO_WRITING] = { "writing", EDGE(INFO_IDLE) },
};

struct cluster_info {
    struct api *api;
    char *kubeconfig; /* NULL: not known yet, nothing is published */
    struct sm sm;
    struct arena arena;    /* of one round */
    struct json *map;      /* NULL: it does not exist */
    struct json *wanted;   /* its data, as it has to be */
    bool is_dirty, failed; /* a write since the round began; an operation of the round failed */
    bool is_stopped;
    struct retry retry;
    struct defer turn;
};

static void kick(struct cluster_info *c);

/* ------------------------------------------------------------------ a round */

static void on_retry(struct timer *t)
{
    struct cluster_info *c = container_of(t, struct cluster_info, retry.timer);
    c->is_dirty = true;
    kick(c);
}

static void round_end(struct cluster_info *c, bool ok)
{
    sm_move(&c->sm, INFO_IDLE);
    c->map = c->wanted = NULL;
    arena_fini(&c->arena);
    if (ok)
        retry_settle(&c->retry);
    else if (!c->is_stopped)
        retry_arm(c->api->loop, &c->retry, on_retry);
    if (c->is_dirty && !c->is_stopped)
        kick(c);
    api_part_idle(c->api);
}

static void on_written(void *arg, int r, struct str body)
{
    struct cluster_info *c = arg;
    (void)body;
    if (r == 409) /* written meanwhile */
        c->is_dirty = true;
    else if (r != 200 && r != 201 && !c->is_stopped)
        log_warn("how nodes join is not published, trying again", "answer=%d", r);
    round_end(c, r == 200 || r == 201 || r == 409);
}

static void write_map(struct cluster_info *c)
{
    struct arena *a = &c->arena;
    struct json *map = c->map ? c->map : json_new_object(a);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(API_BODY_MAX_BYTES);
    sm_move(&c->sm, INFO_WRITING);
    json_set_str(a, json_obj(a, map, "metadata"), "name", STR(MAP_NAME));
    json_setc(a, map, "data", c->wanted);
    (void)json_write(&body, map);
    const struct inner_request req = { .method = c->map ? "PUT" : "POST",
                                       .target = c->map ? STR(MAPS "/" MAP_NAME) : STR(MAPS),
                                       .content_type = "application/json",
                                       .body = buf_str(&body),
                                       .only_status = true };
    if (inner_call(c->api, &req, on_written, c) < 0)
        round_end(c, false);
}

/* Sign with the token, if it may. */
static void add_signature(struct cluster_info *c, const struct json *secret)
{
    struct arena *a = &c->arena;
    struct str id = bootstrap_token_value(secret, "token-id", a),
               word = bootstrap_token_value(secret, "token-secret", a), parts[2];
    struct str token = str_of(arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(id), STR_ARG(word)));
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(JWS_HEADER_MAX_BYTES);
    if (!bootstrap_token_split(token, &parts[0], &parts[1]) ||
        !str_is(json_get_str(secret, "type"), BOOTSTRAP_TOKEN_TYPE) ||
        !str_is(meta_name(secret), arena_printf(a, BOOTSTRAP_TOKEN_PREFIX STR_FMT, STR_ARG(id))) ||
        meta_is_deleting(secret) ||
        !str_is(bootstrap_token_value(secret, "usage-bootstrap-signing", a), "true") ||
        bootstrap_token_expires_s(secret) <= clock_wall_ms() / 1000 ||
        jws_sign(str_of(c->kubeconfig), id, word, &text) < 0)
        return;
    json_set_str(a, c->wanted, arena_printf(a, SIGNATURE STR_FMT, STR_ARG(id)), buf_str(&text));
}

static void on_tokens(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct cluster_info *c = arg;
    if (r < 0 || c->is_stopped) {
        if (r < 0)
            log_warn("bootstrap tokens were not read, trying again", "error=\"%s\"", err_text(err));
        round_end(c, r >= 0);
        return;
    }
    for (size_t i = 0; i < page->n; i++) {
        struct json *secret;
        struct str value = str_copy_arena(&c->arena, page->kv[i].value);
        if (json_parse(&c->arena, value, NULL, &secret, NULL) >= 0)
            add_signature(c, secret);
    }
    if (page->more)
        log_warn("not all bootstrap tokens sign how nodes join", "limit=%d",
                 CLUSTER_INFO_TOKENS_MAX);
    bool is_needed = c->map || c->wanted->n > 1;
    if (is_needed && (!c->map || !json_equal(json_getc(c->map, "data"), c->wanted)))
        write_map(c);
    else
        round_end(c, true);
}

/* What has to stand in the ConfigMap; members that we do not know stay. */
static void begin_data(struct cluster_info *c)
{
    struct arena *a = &c->arena;
    c->wanted = json_new_object(a);
    json_set_str(a, c->wanted, "kubeconfig", str_of(c->kubeconfig));
    json_each (v, json_getc(c->map, "data"))
        if (!str_has_prefix(v->key, STR(SIGNATURE)) && !str_is(v->key, "kubeconfig"))
            json_set(a, c->wanted, v->key, json_clone(a, v));
}

static void on_map(void *arg, int r, struct str body)
{
    struct cluster_info *c = arg;
    const struct store_range range = { .prefix = STR(TOKENS_PREFIX),
                                       .limit = CLUSTER_INFO_TOKENS_MAX,
                                       .skip_damaged = true };
    bool ok = r == 404 || (r == 200 && json_parse(&c->arena, str_copy_arena(&c->arena, body), NULL,
                                                  &c->map, NULL) >= 0);
    if (!ok || c->is_stopped) {
        round_end(c, ok);
        return;
    }
    begin_data(c);
    sm_move(&c->sm, INFO_READING_TOKENS);
    if (store_range(c->api->store, &range, on_tokens, c, NULL) < 0)
        round_end(c, false);
}

static void on_turn(struct defer *d)
{
    struct cluster_info *c = container_of(d, struct cluster_info, turn);
    const struct inner_request req = { .method = "GET", .target = STR(MAPS "/" MAP_NAME) };
    if (c->is_stopped) {
        api_part_idle(c->api);
        return;
    }
    if (c->sm.at != INFO_IDLE || !c->is_dirty || !c->kubeconfig)
        return;
    c->is_dirty = false;
    sm_move(&c->sm, INFO_READING_MAP);
    if (inner_call(c->api, &req, on_map, c) < 0)
        round_end(c, false);
}

static void kick(struct cluster_info *c)
{
    defer_start(c->api->loop, &c->turn, on_turn);
}

/* ------------------------------------------------------------------ lifecycle */

void cluster_info_written(struct cluster_info *c, const struct written *w)
{
    if (!c || c->is_stopped || w->res->group.n)
        return;
    const struct json *obj = w->obj ? w->obj : w->old;
    if (!str_has_prefix(w->key, STR(TOKENS_PREFIX)) &&
        (!str_is(w->res->plural, "configmaps") || !str_is(w->name, MAP_NAME) ||
         !str_is(meta_namespace(obj), MAP_NAMESPACE)))
        return;
    c->is_dirty = true;
    kick(c);
}

struct cluster_info *cluster_info_start(struct api *api)
{
    struct cluster_info *c = xnew(struct cluster_info);
    c->api = api;
    sm_init(&c->sm, info_table, INFO_IDLE);
    return c;
}

void cluster_info_set(struct cluster_info *c, struct str kubeconfig)
{
    if (!c || c->is_stopped)
        return;
    free(c->kubeconfig);
    c->kubeconfig = str_dup(kubeconfig);
    c->is_dirty = true;
    kick(c);
}

void cluster_info_stop(struct cluster_info *c)
{
    if (!c)
        return;
    c->is_stopped = true;
    timer_stop(c->api->loop, &c->retry.timer);
    kick(c);
}

bool cluster_info_is_busy(const struct cluster_info *c)
{
    return c && c->sm.at != INFO_IDLE;
}

void cluster_info_free(struct cluster_info *c)
{
    if (!c)
        return;
    assert(!cluster_info_is_busy(c));
    defer_cancel(&c->turn);
    free(c->kubeconfig);
    arena_fini(&c->arena);
    free(c);
}
