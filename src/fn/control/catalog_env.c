/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read from Secrets and ConfigMaps: environments and secret files of revisions, before the
 * plane makes sandboxes of them; tokens of FunctionPolicies, when a policy changes.
 */
#include "fn/control/catalog_impl.h"

#include "base/log.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"
#include "modules/pull_secrets.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- objects that are needed */

struct catalog_env_source {
    struct gather *g;
    bool is_secret, is_namespace, found; /* is_namespace: the one of the gather */
    struct str name;
    struct client_ask *ask;
    struct str type;   /* of a Secret; in the arena, as are */
    struct json *data; /* these */
    struct str uid;    /* of a namespace */
};

/* Several GETs, and then done. */
struct gather {
    struct catalog *c;
    struct arena arena;
    const char *namespace;
    VEC(struct catalog_env_source) sources;
    size_t left;
    bool starting;
    int r;
    struct err err;
    void (*done)(struct gather *g);
};

static struct catalog_env_source *add_source(struct gather *g, bool is_secret, struct str name)
{
    vec_each (s, &g->sources)
        if (!s->is_namespace && s->is_secret == is_secret && str_eq(s->name, name))
            return s;
    struct catalog_env_source fresh = { .g = g, .is_secret = is_secret, .name = name };
    vec_push(&g->sources, fresh);
    return &g->sources.p[g->sources.n - 1];
}

static void add_namespace(struct gather *g)
{
    vec_push(&g->sources, ((struct catalog_env_source){ .g = g, .is_namespace = true }));
}

static const struct catalog_env_source *find_namespace(struct gather *g)
{
    vec_each (s, &g->sources)
        if (s->is_namespace)
            return s;
    return NULL;
}

static const struct catalog_env_source *find_source(struct gather *g, bool is_secret,
                                                    struct str name)
{
    vec_each (s, &g->sources)
        if (!s->is_namespace && s->is_secret == is_secret && str_eq(s->name, name))
            return s;
    return NULL;
}

static void on_source(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct catalog_env_source *s = arg;
    struct gather *g = s->g;
    s->ask = NULL;
    if (status == 200) {
        s->found = true;
        s->type = str_copy_arena(&g->arena, json_get_str(json, "type"));
        const struct json *data = json_getc(json, "data"); /* both are optional */
        s->data = data ? json_clone(&g->arena, data) : NULL;
        s->uid = str_copy_arena(&g->arena, meta_uid(json));
    } else if (status != 404 && g->r >= 0) {
        g->r = status == 0 ? err_set(&g->err, -EIO, "%s", err_text(err))
                           : err_set(&g->err, E_DENIED, "the API answers %d", status);
    }
    if (--g->left == 0 && !g->starting)
        g->done(g);
}

/* done() runs later, or now if there is nothing to read. */
static void gather_start(struct gather *g)
{
    g->starting = true;
    vec_each (s, &g->sources) {
        struct ask_request rq = { .method = "GET" };
        rq.target =
            s->is_namespace
                ? str_of(arena_printf(&g->arena, "/api/v1/namespaces/%s", g->namespace))
                : str_of(arena_printf(&g->arena, "/api/v1/namespaces/%s/%s/" STR_FMT, g->namespace,
                                      s->is_secret ? "secrets" : "configmaps", STR_ARG(s->name)));
        int r = ask_start(g->c->opts.transport, g->c->opts.identity, &rq, on_source, s, &s->ask,
                          &g->err);
        if (r < 0)
            g->r = r;
        else
            g->left++;
    }
    g->starting = false;
    if (g->left == 0)
        g->done(g);
}

static void gather_fini(struct gather *g)
{
    vec_each (s, &g->sources)
        ask_cancel(s->ask);
    vec_fini(&g->sources);
    arena_fini(&g->arena);
}

/* A value of a Secret or ConfigMap; false: the key does not exist. */
static bool value_of(struct arena *a, const struct catalog_env_source *s, struct str key,
                     struct str *ret)
{
    const struct json *v = s ? json_get(s->data, key) : NULL;
    if (!json_is(v, JSON_STRING))
        return false;
    *ret = json_str(v);
    if (s->is_secret) {
        struct buf raw = BUF_INIT(2 << 20);
        bool ok = base64_decode(&raw, *ret, BASE64_LENIENT) >= 0;
        *ret = str_copy_arena(a, buf_str(&raw));
        buf_fini(&raw);
        return ok;
    }
    return true;
}

/* ---------------------------------------------------------------- environments */

struct resolve {
    struct gather g;
    struct list node;
    uint32_t function, revision;
    struct fn_template t;
};

static int missing(struct err *err, bool is_secret, struct str object, struct str key)
{
    return err_set(err, E_INVALID, "%s '" STR_FMT "' does not exist, or has no '" STR_FMT "'",
                   is_secret ? "Secret" : "ConfigMap", STR_ARG(object), STR_ARG(key));
}

static int fill_vars(struct resolve *rs, struct plane_env *env, struct err *err)
{
    struct arena *a = &rs->g.arena;
    env->vars = arena_new_n(a, struct fn_name_value, rs->t.n_env + 1);
    for (size_t i = 0; i < rs->t.n_env; i++) {
        const struct fn_env *e = &rs->t.env[i];
        struct str value = e->value;
        if (e->object.n &&
            !value_of(a, find_source(&rs->g, e->is_secret, e->object), e->key, &value)) {
            if (e->is_optional)
                continue;
            return missing(err, e->is_secret, e->object, e->key);
        }
        env->vars[env->n_vars++] = (struct fn_name_value){ e->name, value };
    }
    return 0;
}

static int fill_files(struct resolve *rs, struct plane_env *env, struct err *err)
{
    struct arena *a = &rs->g.arena;
    size_t n = 0;
    for (size_t i = 0; i < rs->t.n_secrets; i++) {
        const struct catalog_env_source *s = find_source(&rs->g, true, rs->t.secrets[i].secret);
        if (!s || !s->found)
            return missing(err, true, rs->t.secrets[i].secret, STR(""));
        n += s->data ? s->data->n : 0;
    }
    env->files = arena_new_n(a, struct fn_name_value, n + 1);
    for (size_t i = 0; i < rs->t.n_secrets; i++) {
        const struct catalog_env_source *s = find_source(&rs->g, true, rs->t.secrets[i].secret);
        json_each (v, s->data) {
            struct str content;
            if (!value_of(a, s, v->key, &content))
                continue;
            char *path = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(rs->t.secrets[i].path),
                                      STR_ARG(v->key));
            env->files[env->n_files++] = (struct fn_name_value){ str_of(path), content };
        }
    }
    return 0;
}

/*
 * The tenant whose images these credentials give. It contains the namespace's uid: a namespace that
 * was deleted and created again is a different tenant and must present credentials of its own.
 */
static int fill_tenant(struct resolve *rs, struct plane_env *env, struct err *err)
{
    const struct catalog_env_source *s = find_namespace(&rs->g);
    if (!s)
        return 0;
    if (!s->found || !s->uid.n)
        return err_set(err, E_INVALID, "namespace '%s' does not exist", rs->g.namespace);
    env->tenant =
        str_of(arena_printf(&rs->g.arena, "%s/" STR_FMT, rs->g.namespace, STR_ARG(s->uid)));
    return 0;
}

static int fill_auths(struct resolve *rs, struct plane_env *env, struct err *err)
{
    env->auths = arena_new_n(&rs->g.arena, struct str, rs->t.n_pull_secrets + 1);
    for (size_t i = 0; i < rs->t.n_pull_secrets; i++) {
        struct str name = rs->t.pull_secrets[i];
        const struct catalog_env_source *s = find_source(&rs->g, true, name);
        if (!s || !s->found)
            return missing(err, true, name, STR(PULL_SECRET_KEY));
        int r = pull_secret_text(&rs->g.arena, name, s->type, s->data, &env->auths[env->n_auths++],
                                 err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void on_resolved(struct gather *g)
{
    struct resolve *rs = container_of(g, struct resolve, g);
    struct plane_env env = { 0 };
    if (g->r >= 0)
        g->r = fill_vars(rs, &env, &g->err);
    if (g->r >= 0)
        g->r = fill_files(rs, &env, &g->err);
    if (g->r >= 0)
        g->r = fill_auths(rs, &env, &g->err);
    if (g->r >= 0)
        g->r = fill_tenant(rs, &env, &g->err);
    list_remove(&rs->node);
    plane_set_env(g->c->opts.plane, rs->function, rs->revision, &env, g->r, &g->err);
    gather_fini(g);
    free(rs);
}

void catalog_on_resolve(struct catalog *c, uint32_t function, uint32_t revision)
{
    struct catalog_entry *e = function < c->by_number.n ? c->by_number.p[function] : NULL;
    const struct known_revision *known = NULL;
    struct json *json;
    if (!e)
        e = c->being_set;
    if (!e)
        return;
    vec_each (r, &e->revisions)
        if (r->number == revision)
            known = r;
    if (!known)
        return;
    struct resolve *rs = xnew(struct resolve);
    rs->g.c = c;
    rs->g.done = on_resolved;
    rs->function = function;
    rs->revision = revision;
    struct arena *a = &rs->g.arena;
    struct str text = str_copy_arena(a, str_of(known->template));
    rs->g.namespace = str_dup_arena(a, str_of(e->namespace));
    list_push_back(&c->resolves, &rs->node);
    rs->g.r = json_parse(a, text, NULL, &json, &rs->g.err);
    if (rs->g.r >= 0)
        rs->g.r = fn_template_read(a, json, &rs->t, &rs->g.err);
    for (size_t i = 0; i < rs->t.n_env; i++)
        if (rs->t.env[i].object.n)
            (void)add_source(&rs->g, rs->t.env[i].is_secret, rs->t.env[i].object);
    for (size_t i = 0; i < rs->t.n_secrets; i++)
        (void)add_source(&rs->g, true, rs->t.secrets[i].secret);
    for (size_t i = 0; i < rs->t.n_pull_secrets; i++)
        (void)add_source(&rs->g, true, rs->t.pull_secrets[i]);
    if (rs->t.n_pull_secrets)
        add_namespace(&rs->g);
    gather_start(&rs->g);
}

/* ---------------------------------------------------------------- policies */

#define POLICY_NAME "default"

struct token_read {
    struct gather g;
    struct namespace_rule *rule;
};

static void drop_tokens(struct namespace_rule *rule)
{
    vec_each (t, &rule->tokens) {
        free(t->secret);
        free(t->key);
    }
    vec_fini(&rule->tokens);
}

static void drop_read(struct namespace_rule *rule)
{
    struct token_read *read = take_ptr(&rule->read);
    if (!read)
        return;
    gather_fini(&read->g);
    free(read);
}

static void free_rule(struct namespace_rule *rule)
{
    (void)map_del(&rule->c->rules, str_of(rule->namespace));
    drop_read(rule);
    timer_stop(rule->c->opts.loop, &rule->again);
    drop_tokens(rule);
    free(rule->namespace);
    free(rule);
}

static void on_again(struct timer *t);

/* With unreadable tokens every request is refused; if the API failed, read them again. */
static void on_tokens(struct gather *g)
{
    struct token_read *read = container_of(g, struct token_read, g);
    struct namespace_rule *rule = read->rule;
    uint8_t(*hashes)[32] = arena_alloc_n(&g->arena, sizeof *hashes, rule->tokens.n + 1);
    size_t n = 0;
    vec_each (t, &rule->tokens) {
        struct str token;
        if (value_of(&g->arena, find_source(g, true, str_of(t->secret)), str_of(t->key), &token))
            sha256_of(str_trim(token), hashes[n++]);
        else
            log_warn("token of a policy cannot be read",
                     "namespace=%s secret=%s key=%s reason=\"%s\"", rule->namespace, t->secret,
                     t->key, g->r < 0 ? err_text(&g->err) : "it is not there");
    }
    struct plane_policy policy = rule->policy;
    policy.tokens = (const uint8_t(*)[32])hashes;
    policy.n_tokens = n;
    plane_set_policy(rule->c->opts.plane, str_of(rule->namespace), &policy);
    if (g->r < 0)
        timer_start(rule->c->opts.loop, &rule->again, CATALOG_TOKENS_AGAIN_MS, on_again);
    drop_read(rule);
    catalog_check_synced(rule->c);
}

static void start_token_read(struct namespace_rule *rule)
{
    drop_read(rule);
    timer_stop(rule->c->opts.loop, &rule->again);
    struct token_read *read = xnew(struct token_read);
    rule->read = read;
    read->rule = rule;
    read->g.c = rule->c;
    read->g.namespace = rule->namespace;
    read->g.done = on_tokens;
    vec_each (t, &rule->tokens)
        (void)add_source(&read->g, true, str_of(t->secret));
    gather_start(&read->g);
}

static void on_again(struct timer *t)
{
    start_token_read(container_of(t, struct namespace_rule, again));
}

static void read_quota(const struct json *quota, struct namespace_rule *rule)
{
    struct quantity memory;
    const struct json *m = json_getc(quota, "memory");
    int64_t n = json_int_or(json_getc(quota, "functions"), UINT32_MAX);
    rule->functions = (uint32_t)MIN(MAX(n, (int64_t)0), (int64_t)UINT32_MAX);
    n = json_int_or(json_getc(quota, "sandboxes"), UINT32_MAX);
    rule->policy.sandboxes = (uint32_t)MIN(MAX(n, (int64_t)0), (int64_t)UINT32_MAX);
    n = json_int_or(json_getc(quota, "requestsPerSecond"), 0);
    rule->policy.requests_per_second = (uint32_t)MIN(MAX(n, (int64_t)0), (int64_t)UINT32_MAX);
    rule->policy.memory = UINT64_MAX;
    if (json_is(m, JSON_STRING) && quantity_parse(json_str(m), &memory, NULL) >= 0)
        rule->policy.memory = (uint64_t)MAX(quantity_value(memory), (int64_t)0);
    else if (json_int(m, &n) >= 0)
        rule->policy.memory = (uint64_t)MAX(n, (int64_t)0);
}

static void read_tokens(const struct json *spec, struct namespace_rule *rule)
{
    const struct json *wanted = json_getc(spec, "requireToken");
    drop_tokens(rule);
    json_each (t, json_getc(spec, "tokens")) {
        struct str key = json_get_str(t, "key");
        struct token_source source = { .secret = str_dup(json_get_str(t, "secretName")),
                                       .key = str_dup(key.n ? key : STR("token")) };
        vec_push(&rule->tokens, source);
    }
    rule->policy.require_token = wanted ? json_bool(wanted) : rule->tokens.n > 0;
}

static struct namespace_rule *need_rule(struct catalog *c, struct str namespace)
{
    struct namespace_rule *rule = map_get(&c->rules, namespace);
    if (rule)
        return rule;
    rule = xnew(struct namespace_rule);
    rule->c = c;
    rule->namespace = str_dup(namespace);
    (void)map_put(&c->rules, namespace, rule);
    return rule;
}

static void on_policy(void *arg, const struct json *object)
{
    struct catalog *c = arg;
    const struct json *spec = json_getc(object, "spec");
    if (!str_is(meta_name(object), POLICY_NAME)) {
        log_warn("only the FunctionPolicy '" POLICY_NAME "' of a namespace has an effect",
                 "policy=" STR_FMT "/" STR_FMT, STR_ARG(meta_namespace(object)),
                 STR_ARG(meta_name(object)));
        return;
    }
    struct namespace_rule *rule = need_rule(c, meta_namespace(object));
    rule->policy = (struct plane_policy){ 0 };
    read_quota(json_getc(spec, "quota"), rule);
    read_tokens(spec, rule);
    start_token_read(rule);
    catalog_retry_refused(c, meta_namespace(object));
}

static void on_policy_deleted(void *arg, struct str namespace, struct str name)
{
    struct catalog *c = arg;
    struct namespace_rule *rule = map_get(&c->rules, namespace);
    if (!rule || !str_is(name, POLICY_NAME))
        return;
    plane_set_policy(c->opts.plane, namespace, NULL);
    free_rule(rule);
    catalog_retry_refused(c, namespace);
    catalog_check_synced(c);
}

static void on_policies_synced(void *arg)
{
    struct catalog *c = arg;
    c->policies_synced = true;
    catalog_check_synced(c);
}

static const struct reflector_ops policy_ops = { .on_object = on_policy,
                                                 .on_deleted = on_policy_deleted,
                                                 .on_synced = on_policies_synced };

int catalog_follow_policies(struct catalog *c, struct err *err)
{
    struct reflector_opts opts = {
        .loop = c->opts.loop,
        .transport = c->opts.transport,
        .hub = c->opts.hub,
        .identity = c->opts.identity,
        .key = { .group_version = STR(FN_GROUP_VERSION),
                 .plural = STR("functionpolicies"),
                 .namespace = str_of(c->opts.namespace ? c->opts.namespace : "") },
        .ops = &policy_ops,
        .arg = c,
    };
    return reflector_start(&opts, &c->policies, err);
}

void catalog_close_env(struct catalog *c)
{
    struct map_entry *first;
    if (c->policies)
        reflector_close(c->policies);
    while ((first = map_next(&c->rules, NULL)))
        free_rule(first->value);
    map_fini(&c->rules);
    if (!c->resolves.next)
        return;
    for (struct list *node; (node = list_pop_front(&c->resolves));) {
        struct resolve *rs = list_entry(node, struct resolve, node);
        gather_fini(&rs->g);
        free(rs);
    }
}
