/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask the agent; see access.h. */
#include "agent/server/access.h"

#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "client/kube_identity.h"
#include "codec/digest.h"

#include <errno.h>

/* ------------------------------------------------------------------ answers that are kept */

struct access_cache {
    struct map by_key;
    struct list order; /* the oldest first */
};

struct access_entry {
    struct list node;
    char key[SHA256_BYTES];
    uint64_t until_ms;
    bool is_yes;
    struct arena arena; /* of a valid token: holds `who` */
    struct kube_identity *who;
};

struct agent_access {
    struct loop *loop;
    struct agent_reviewer *reviewer;
    char *node;
    struct access_cache tokens, decisions;
    size_t n_reviews;
};

static void cache_init(struct access_cache *c)
{
    *c = (struct access_cache){ .by_key = { .borrows_keys = true } };
    list_init(&c->order);
}

static void entry_drop(struct access_cache *c, struct access_entry *e)
{
    list_remove(&e->node);
    (void)map_del(&c->by_key, str_n(e->key, sizeof e->key));
    arena_fini(&e->arena);
    free(e);
}

static void cache_empty(struct access_cache *c)
{
    while (!list_is_empty(&c->order))
        entry_drop(c, list_first(&c->order, struct access_entry, node));
}

static struct access_entry *cache_find(struct access_cache *c, struct str key, uint64_t now_ms)
{
    struct access_entry *e = map_get(&c->by_key, key);
    if (e && e->until_ms <= now_ms) {
        entry_drop(c, e);
        return NULL;
    }
    return e;
}

static struct access_entry *cache_add(struct access_cache *c, struct str key, uint64_t until_ms,
                                      bool is_yes)
{
    struct access_entry *e = map_get(&c->by_key, key);
    if (e)
        entry_drop(c, e);
    if (c->by_key.n == AGENT_ACCESS_CACHED_MAX)
        entry_drop(c, list_first(&c->order, struct access_entry, node));
    e = xnew(struct access_entry);
    assert(key.n == sizeof e->key);
    *e = (struct access_entry){ .until_ms = until_ms, .is_yes = is_yes };
    memcpy(e->key, key.p, key.n);
    (void)map_put(&c->by_key, str_n(e->key, sizeof e->key), e);
    list_push_back(&c->order, &e->node);
    return e;
}

/* Tokens are not kept, only their hashes. */
static void hash_text(struct str text, char ret[SHA256_BYTES])
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(text, hash);
    memcpy(ret, hash, sizeof hash);
}

static void add_word(struct buf *to, struct str s)
{
    (void)buf_add_u64_dec(to, s.n); /* lengths keep words apart */
    (void)buf_add_char(to, ':');
    (void)buf_add_str(to, s);
}

static void hash_question(const struct kube_identity *who, struct str verb, struct str sub,
                          char ret[SHA256_BYTES])
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    add_word(&b, verb);
    add_word(&b, sub);
    add_word(&b, who->user);
    add_word(&b, who->uid);
    (void)buf_add_u64_dec(&b, who->n_groups);
    for (size_t i = 0; i < who->n_groups; i++)
        add_word(&b, who->groups[i]);
    for (size_t i = 0; i < who->n_extra; i++) {
        add_word(&b, who->extra[i].key);
        (void)buf_add_u64_dec(&b, who->extra[i].n);
        for (size_t k = 0; k < who->extra[i].n; k++)
            add_word(&b, who->extra[i].values[k]);
    }
    hash_text(buf_str(&b), ret);
}

/* ------------------------------------------------------------------ life */

struct agent_access *agent_access_new(struct loop *loop, struct agent_reviewer *reviewer,
                                      struct str node)
{
    struct agent_access *a = xnew(struct agent_access);
    *a = (struct agent_access){ .loop = loop, .reviewer = reviewer, .node = str_dup(node) };
    cache_init(&a->tokens);
    cache_init(&a->decisions);
    return a;
}

void agent_access_forget(struct agent_access *a)
{
    cache_empty(&a->tokens);
    cache_empty(&a->decisions);
}

size_t agent_access_cached(const struct agent_access *a)
{
    return a->tokens.by_key.n + a->decisions.by_key.n;
}

void agent_access_free(struct agent_access *a)
{
    if (!a)
        return;
    assert(a->n_reviews == 0);
    agent_access_forget(a);
    map_fini(&a->tokens.by_key);
    map_fini(&a->decisions.by_key);
    free(a->node);
    free(a);
}

/* ------------------------------------------------------------------ paths */

struct str agent_access_verb(struct str method)
{
    static const char *const verbs[][2] = { { "GET", "get" },     { "HEAD", "get" },
                                            { "POST", "create" }, { "PUT", "update" },
                                            { "PATCH", "patch" }, { "DELETE", "delete" } };
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_is(method, verbs[i][0]))
            return str_of(verbs[i][1]);
    return STR("");
}

size_t agent_access_subresources(struct str first, struct str ret[AGENT_ACCESS_ASKED_MAX])
{
    static const struct {
        const char *first, *sub;
        bool or_proxy; /* finer than nodes/proxy, which is enough as well */
    } rules[] = { { "pods", "pods", true },       { "runningpods", "pods", true },
                  { "healthz", "healthz", true }, { "configz", "configz", true },
                  { "stats", "stats", false },    { "metrics", "metrics", false },
                  { "logs", "log", false },       { "checkpoint", "checkpoint", false } };
    size_t n = 0;
    bool or_proxy = true;
    for (size_t i = 0; i < ARRAY_LEN(rules) && n == 0; i++) {
        if (!str_is(first, rules[i].first))
            continue;
        ret[n++] = str_of(rules[i].sub);
        or_proxy = rules[i].or_proxy;
    }
    if (or_proxy)
        ret[n++] = STR("proxy");
    return n;
}

/* ------------------------------------------------------------------ authorization */

static enum agent_verdict authorize(struct agent_check *c);

static void check_over(struct agent_check *c)
{
    c->review = NULL;
    assert(c->access->n_reviews > 0);
    c->access->n_reviews--;
}

static void settle(struct agent_check *c, enum agent_verdict v)
{
    if (v != AGENT_PENDING)
        c->done(c, v);
}

static void on_access(void *arg, int r, bool allowed, const struct err *err)
{
    struct agent_check *c = arg;
    struct agent_access *a = c->access;
    char key[SHA256_BYTES];
    check_over(c);
    if (r < 0) {
        log_warn("access review failed", "user=%.*s reason=\"%s\"", STR_ARG(c->who->user),
                 err_text(err));
        c->done(c, AGENT_UNKNOWN);
        return;
    }
    hash_question(c->who, c->verb, c->asked[c->at], key);
    (void)cache_add(&a->decisions, str_n(key, sizeof key),
                    loop_now_ms(a->loop) +
                        (allowed ? AGENT_ACCESS_ALLOWED_MS : AGENT_ACCESS_DENIED_MS),
                    allowed);
    settle(c, authorize(c));
}

static enum agent_verdict ask_access(struct agent_check *c)
{
    struct err err = { 0 };
    struct agent_access *a = c->access;
    const struct agent_attributes what = { .verb = c->verb,
                                           .subresource = c->asked[c->at],
                                           .node = str_of(a->node) };
    if (a->n_reviews == AGENT_ACCESS_REVIEWS_MAX)
        return AGENT_BUSY;
    if (a->reviewer->access(a->reviewer, c->who, &what, on_access, c, &c->review, &err) < 0)
        return AGENT_UNKNOWN;
    a->n_reviews++;
    return AGENT_PENDING;
}

static enum agent_verdict authorize(struct agent_check *c)
{
    char key[SHA256_BYTES];
    for (; c->at < c->n_asked; c->at++) {
        hash_question(c->who, c->verb, c->asked[c->at], key);
        const struct access_entry *e =
            cache_find(&c->access->decisions, str_n(key, sizeof key), loop_now_ms(c->access->loop));
        if (!e)
            return ask_access(c);
        if (e->is_yes)
            return AGENT_ALLOWED;
    }
    return AGENT_FORBIDDEN;
}

/* ------------------------------------------------------------------ authentication */

static const struct str masters = { "system:masters", sizeof "system:masters" - 1 };
static const struct str authenticated = { "system:authenticated",
                                          sizeof "system:authenticated" - 1 };

static enum agent_verdict check_certificate(struct agent_check *c, const struct tls_peer *peer)
{
    struct str *groups = arena_new_n(&c->arena, struct str, peer->n_orgs + 1);
    bool is_master = false;
    for (size_t i = 0; i < peer->n_orgs; i++) {
        groups[i] = str_copy_arena(&c->arena, peer->orgs[i]);
        is_master = is_master || str_eq(groups[i], masters);
    }
    groups[peer->n_orgs] = authenticated;
    c->who = arena_new(&c->arena, struct kube_identity);
    *c->who = (struct kube_identity){ .user = str_copy_arena(&c->arena, peer->common_name),
                                      .groups = groups,
                                      .n_groups = peer->n_orgs + 1 };
    return is_master ? AGENT_ALLOWED : authorize(c);
}

static void keep_token(struct agent_access *a, struct str token, const struct kube_identity *who)
{
    char key[SHA256_BYTES];
    hash_text(token, key);
    struct access_entry *e =
        cache_add(&a->tokens, str_n(key, sizeof key),
                  loop_now_ms(a->loop) + (who ? AGENT_ACCESS_TOKEN_MS : AGENT_ACCESS_BAD_TOKEN_MS),
                  who != NULL);
    e->who = kube_identity_copy(&e->arena, who);
}

static void on_token(void *arg, int r, const struct kube_identity *who, const struct err *err)
{
    struct agent_check *c = arg;
    check_over(c);
    if (r < 0) {
        log_warn("token review failed", "reason=\"%s\"", err_text(err));
        c->done(c, AGENT_UNAUTHORIZED);
        return;
    }
    keep_token(c->access, c->token, who);
    c->who = kube_identity_copy(&c->arena, who);
    settle(c, c->who ? authorize(c) : AGENT_UNAUTHORIZED);
}

static enum agent_verdict check_token(struct agent_check *c)
{
    struct err err = { 0 };
    char key[SHA256_BYTES];
    struct agent_access *a = c->access;
    hash_text(c->token, key);
    const struct access_entry *e =
        cache_find(&a->tokens, str_n(key, sizeof key), loop_now_ms(a->loop));
    if (e) {
        c->who = kube_identity_copy(&c->arena, e->who);
        return c->who ? authorize(c) : AGENT_UNAUTHORIZED;
    }
    if (a->n_reviews == AGENT_ACCESS_REVIEWS_MAX)
        return AGENT_BUSY;
    if (a->reviewer->token(a->reviewer, c->token, on_token, c, &c->review, &err) < 0)
        return AGENT_UNAUTHORIZED;
    a->n_reviews++;
    return AGENT_PENDING;
}

static struct str bearer_of(struct str authorization)
{
    struct str scheme, rest;
    if (!str_cut(str_trim(authorization), ' ', &scheme, &rest) || !str_ieq(scheme, STR("bearer")))
        return STR("");
    return str_trim(rest);
}

enum agent_verdict agent_check_start(struct agent_access *a, struct agent_check *c,
                                     const struct tls_peer *peer, struct str authorization)
{
    assert(c->done && c->n_asked > 0 && c->n_asked <= AGENT_ACCESS_ASKED_MAX && !c->access);
    c->access = a;
    if (peer && !peer->why && peer->common_name.n)
        return check_certificate(c, peer);
    struct str token = bearer_of(authorization);
    if (token.n == 0 || token.n > AGENT_ACCESS_TOKEN_MAX_BYTES)
        return AGENT_UNAUTHORIZED;
    c->token = str_copy_arena(&c->arena, token);
    return check_token(c);
}

void agent_check_fini(struct agent_check *c)
{
    if (c->review) {
        c->access->reviewer->cancel(c->access->reviewer, c->review);
        check_over(c);
    }
    arena_fini(&c->arena);
    c->who = NULL;
}
