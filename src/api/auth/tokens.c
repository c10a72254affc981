/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bearer tokens; see tokens.h. A ServiceAccount token:
 *
 *     parse -> signature, dates, audience -> ACCOUNT -> [SECRET] -> [POD] -> [NODE] -> good
 *
 * Each name in capitals is an object of the store that must exist with the same uid. A bootstrap
 * token has the other form ID.SECRET, and is checked against its Secret each time.
 */
#include "api/auth/tokens.h"

#include "api/auth/auth.h"
#include "api/auth/authn.h"
#include "api/bootstrap_token.h"
#include "api/identity.h"
#include "api/part.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "codec/jwt.h"

#include <assert.h>
#include <errno.h>

#define LEGACY_ISSUER "kubernetes/serviceaccount"
#define LEGACY_CLAIM  "kubernetes.io/serviceaccount/"
#define EXTRA         "authentication.kubernetes.io/"

enum tokens_check_at { AT_ACCOUNT, AT_SECRET, AT_POD, AT_NODE, AT_GOOD };
enum { EXTRA_MAX = 5 };

_Static_assert((int)AT_GOOD == (int)TOKEN_OBJECTS_MAX, "each step reads one object at most");

/* A token that was valid at `checked_ms`; its signature need not be checked again. */
struct tokens_known {
    uint8_t digest[SHA256_BYTES];
    int64_t expires_s;
    uint64_t checked_ms, used;
    bool stale;     /* an object that it depends on was written since */
    struct arena a; /* holds the identity and the keys */
    struct kube_identity identity;
    struct str keys[TOKEN_OBJECTS_MAX];
    size_t n_keys;
};

struct tokens {
    struct api *api;
    struct arena a;
    uint8_t admin[SHA256_BYTES];
    bool has_admin;
    struct map file; /* digest -> struct kube_identity, in the arena */
    struct jwt_key *key;
    struct str issuer;
    struct tokens_known *known; /* TOKENS_CACHE_MAX entries, allocated for the first one */
    size_t n_known;
    uint64_t uses;
    uint64_t epoch; /* counts writes of objects that tokens may depend on */
};

/* ------------------------------------------------------------------ the token file */

/* Read one field of a CSV line; false: unterminated quote. */
static bool take_field(struct arena *a, struct str *line, struct str *ret)
{
    if (!str_has_prefix(*line, STR("\""))) {
        (void)str_cut(*line, ',', ret, line);
        return true;
    }
    char *out = arena_alloc(a, line->n);
    size_t n = 0;
    for (size_t i = 1; i < line->n; i++) {
        bool quote = line->p[i] == '"';
        if (quote && i + 1 < line->n && line->p[i + 1] == '"') {
            i++;
        } else if (quote) {
            *ret = str_n(out, n);
            *line = str_slice(*line, i + 1, line->n);
            bool more = line->n && line->p[0] == ',';
            bool end = line->n == 0;
            *line = str_slice(*line, more, line->n);
            return more || end;
        }
        out[n++] = line->p[i];
    }
    return false;
}

static const struct str *split_groups(struct arena *a, struct str text, size_t *ret_n)
{
    struct str *groups = arena_new_n(a, struct str, AUTHN_GROUPS_MAX + 1);
    *ret_n = 0;
    while (text.n && *ret_n < AUTHN_GROUPS_MAX) {
        struct str one;
        (void)str_cut(text, ',', &one, &text);
        groups[(*ret_n)++] = str_copy_arena(a, one);
    }
    groups[(*ret_n)++] = STR("system:authenticated");
    return groups;
}

static int take_line(struct tokens *t, struct str line, struct err *err)
{
    struct str fields[4] = { STR_NULL };
    size_t n = 0;
    uint8_t digest[SHA256_BYTES];
    while (line.n && n < ARRAY_LEN(fields))
        if (!take_field(&t->a, &line, &fields[n++]))
            return err_set(err, E_PARSE, "a quoted field does not end as it should");
    if (n < 3)
        return err_set(err, E_PARSE, "a line has at least token, user and uid");
    if (fields[0].n == 0 || fields[1].n == 0)
        return err_set(err, E_PARSE, "token and user may not be empty");
    struct kube_identity *id = arena_new(&t->a, struct kube_identity);
    id->user = str_copy_arena(&t->a, fields[1]);
    id->uid = str_copy_arena(&t->a, fields[2]);
    id->groups = split_groups(&t->a, fields[3], &id->n_groups);
    sha256_of(fields[0], digest);
    (void)map_put(&t->file, str_n(digest, sizeof digest), id);
    return 0;
}

static int read_file(struct tokens *t, struct str text, struct err *err)
{
    if (text.n > TOKENS_FILE_MAX_BYTES)
        return err_set(err, E_LIMIT, "the token file is larger than %d bytes",
                       TOKENS_FILE_MAX_BYTES);
    for (size_t number = 1; text.n; number++) {
        struct str line;
        (void)str_cut(text, '\n', &line, &text);
        line = str_trim(line);
        int r = line.n ? take_line(t, line, err) : 0;
        if (r < 0)
            return err_ctx(err, r, "line %zu of the token file", number);
    }
    return 0;
}

/* ------------------------------------------------------------------ lifecycle */

void tokens_free(struct tokens *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_known; i++)
        arena_fini(&t->known[i].a);
    free(t->known);
    jwt_key_free(t->key);
    map_fini(&t->file);
    arena_fini(&t->a);
    free(t);
}

DEFINE_SCOPED(tokens, tokens_free)

int tokens_new(const struct tokens_opts *opts, struct tokens **ret, struct err *err)
{
    scoped(tokens_free_scoped) struct tokens *t = xnew(struct tokens);
    t->api = opts->api;
    t->has_admin = opts->admin.n > 0;
    sha256_of(opts->admin, t->admin);
    t->issuer = str_copy_arena(&t->a, opts->issuer.n ? opts->issuer : STR(TOKEN_DEFAULT_ISSUER));
    int r = read_file(t, opts->file, err);
    if (r >= 0 && opts->sa_key.n)
        r = jwt_key_read(opts->sa_key, &t->key, err);
    if (r >= 0)
        *ret = take_ptr(&t);
    return r;
}

bool tokens_can_issue(const struct tokens *t)
{
    return t->key != NULL;
}

struct str tokens_issuer(const struct tokens *t)
{
    return t->issuer;
}

struct str tokens_alg(const struct tokens *t)
{
    assert(t->key);
    return str_of(jwt_key_alg(t->key));
}

struct json *tokens_jwks(struct arena *a, const struct tokens *t)
{
    struct json *v = json_new_object(a), *keys = json_new_array(a);
    if (t->key)
        json_add(keys, jwt_key_jwk(a, t->key));
    json_setc(a, v, "keys", keys);
    return v;
}

/* ------------------------------------------------------------------ cached tokens */

static struct tokens_known *find_known(struct tokens *t, const uint8_t *digest)
{
    for (size_t i = 0; i < t->n_known; i++)
        if (memcmp(t->known[i].digest, digest, SHA256_BYTES) == 0)
            return &t->known[i];
    return NULL;
}

static bool is_fresh(const struct tokens_known *k)
{
    return !k->stale && k->expires_s > clock_wall_ms() / 1000 &&
           clock_mono_ms() - k->checked_ms < TOKENS_RECHECK_MS;
}

static void remember(struct tokens *t, const struct token_check *c)
{
    struct tokens_known *k = find_known(t, c->digest);
    assert(c->epoch <= t->epoch && c->n_keys <= TOKEN_OBJECTS_MAX);
    assert(c->n_audiences == 0); /* a cached token is good for this server */
    if (c->epoch != t->epoch)
        return; /* objects may have been written since they were read */
    int64_t expires_s = json_int_or(json_getc(c->claims, "exp"), INT64_MAX);
    if (!t->known)
        t->known = xnew_n(struct tokens_known, TOKENS_CACHE_MAX);
    if (!k && t->n_known < TOKENS_CACHE_MAX)
        k = &t->known[t->n_known++];
    assert(k || t->n_known == TOKENS_CACHE_MAX);
    if (!k) {
        k = &t->known[0];
        for (size_t i = 1; i < TOKENS_CACHE_MAX; i++)
            if (t->known[i].used < k->used)
                k = &t->known[i];
    }
    arena_reset(&k->a);
    memcpy(k->digest, c->digest, SHA256_BYTES);
    k->expires_s = expires_s;
    k->checked_ms = clock_mono_ms();
    k->used = ++t->uses;
    k->stale = false;
    k->identity = identity_copy(&k->a, &c->identity);
    k->n_keys = c->n_keys;
    for (size_t i = 0; i < c->n_keys; i++)
        k->keys[i] = str_copy_arena(&k->a, c->keys[i]);
}

void tokens_written(struct tokens *t, const struct written *w)
{
    static const char *const plurals[] = { "pods", "secrets", "serviceaccounts", "nodes" };
    bool concerned = false;
    for (size_t i = 0; i < ARRAY_LEN(plurals); i++)
        concerned = concerned || str_is(w->res->plural, plurals[i]);
    if (!concerned || w->res->group.n)
        return;
    t->epoch++;
    for (size_t n = 0; n < t->n_known; n++) {
        struct tokens_known *k = &t->known[n];
        for (size_t i = 0; i < k->n_keys; i++)
            k->stale = k->stale || str_eq(k->keys[i], w->key);
    }
    if (w->value.n == 0)
        watch_revoke(t->api, w->key);
}

/* ------------------------------------------------------------------ results */

static bool finish(struct token_check *c, const char *why)
{
    c->good = why == NULL;
    c->why = why;
    return true;
}

/* The intersection of the required audiences with `has`. */
static bool take_audiences(struct token_check *c, const struct str *has, size_t n)
{
    const struct str *want = c->n_audiences ? c->audiences : &c->tokens->issuer;
    size_t n_want = c->n_audiences ? c->n_audiences : 1;
    struct str *both = arena_new_n(c->a, struct str, n_want);
    for (size_t i = 0; i < n_want; i++)
        for (size_t k = 0; k < n; k++)
            if (str_eq(want[i], has[k])) {
                both[c->n_good_for++] = has[k];
                break;
            }
    c->good_for = both;
    return c->n_good_for > 0;
}

static bool same_digest(const uint8_t *a, const uint8_t *b)
{
    unsigned diff = 0;
    for (size_t i = 0; i < SHA256_BYTES; i++)
        diff |= (unsigned)a[i] ^ b[i];
    return diff == 0;
}

/* Static tokens; their audience is this server. */
static bool check_plain(struct token_check *c)
{
    static const struct str groups[] = { { "system:masters", 14 }, { "system:authenticated", 20 } };
    static const struct kube_identity admin = { .user = { "admin", 5 },
                                                .groups = groups,
                                                .n_groups = ARRAY_LEN(groups) };
    const struct tokens *t = c->tokens;
    const struct kube_identity *id = NULL;
    if (t->has_admin && same_digest(c->digest, t->admin))
        id = &admin;
    else
        id = map_get(&t->file, str_n(c->digest, sizeof c->digest));
    if (!id)
        return false;
    c->identity = *id;
    return take_audiences(c, &t->issuer, 1) ? finish(c, NULL)
                                            : finish(c, "the token is not meant for this audience");
}

/* ------------------------------------------------------------------ tokens of ServiceAccounts */

static struct str claim(const struct token_check *c, const char *object, const char *member)
{
    return json_str(json_path(c->claims, "kubernetes.io", object, member, NULL));
}

static struct str legacy_claim(const struct token_check *c, const char *name)
{
    return json_get_str(c->claims, arena_printf(c->a, LEGACY_CLAIM "%s", name));
}

static struct str account_ns(const struct token_check *c)
{
    return c->legacy ? legacy_claim(c, "namespace")
                     : json_str(json_path(c->claims, "kubernetes.io", "namespace", NULL));
}

static struct str account_name(const struct token_check *c)
{
    return c->legacy ? legacy_claim(c, "service-account.name") : claim(c, "serviceaccount", "name");
}

static void add_list(struct buf *to, const struct str *list, size_t n)
{
    (void)buf_add_char(to, '[');
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_cstr(to, i ? " " : "");
        field_go_quote(to, list[i]);
    }
    (void)buf_add_char(to, ']');
}

static const char *audience_text(const struct token_check *c, const struct str *has, size_t n)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(JWT_MAX_BYTES * 4);
    const struct str *want = c->n_audiences ? c->audiences : &c->tokens->issuer;
    (void)buf_add_cstr(&b, "token audiences ");
    add_list(&b, has, n);
    (void)buf_add_cstr(&b, " is invalid for the target audiences ");
    add_list(&b, want, c->n_audiences ? c->n_audiences : 1);
    return str_dup_arena(c->a, buf_str(&b));
}

/* NULL: the claims are valid; the store has to be asked. */
static const char *check_claims(struct token_check *c)
{
    struct arena *a = c->a;
    struct str user = str_of(arena_printf(a, "system:serviceaccount:" STR_FMT ":" STR_FMT,
                                          STR_ARG(account_ns(c)), STR_ARG(account_name(c))));
    int64_t now_s = clock_wall_ms() / 1000;
    if (!str_eq(json_get_str(c->claims, "sub"), user) || account_name(c).n == 0)
        return "the token's subject is not its service account";
    if (c->legacy)
        return take_audiences(c, &c->tokens->issuer, 1) ? NULL : "token audiences do not match";
    if (json_int_or(json_getc(c->claims, "exp"), 0) + TOKEN_LEEWAY_S < now_s)
        return "service account token has expired";
    if (json_int_or(json_getc(c->claims, "nbf"), 0) - TOKEN_LEEWAY_S > now_s)
        return "service account token is not valid yet";
    const struct json *aud = json_getc(c->claims, "aud");
    struct str list[TOKEN_AUDIENCES_MAX];
    size_t n = 0;
    if (json_is(aud, JSON_STRING))
        list[n++] = aud->s;
    json_each (v, json_is(aud, JSON_ARRAY) ? aud : NULL)
        if (n < TOKEN_AUDIENCES_MAX)
            list[n++] = json_str(v);
    return take_audiences(c, list, n) ? NULL : audience_text(c, list, n);
}

static void add_extra(struct token_check *c, struct kube_extra *all, const char *key,
                      struct str value)
{
    if (value.n == 0)
        return;
    assert(c->identity.n_extra < EXTRA_MAX);
    struct str *one = arena_new(c->a, struct str);
    *one = value;
    all[c->identity.n_extra++] = (struct kube_extra){ .key = str_of(key), .values = one, .n = 1 };
}

static void set_identity(struct token_check *c)
{
    struct arena *a = c->a;
    struct str *groups = arena_new_n(a, struct str, 3);
    struct kube_extra *extra = arena_new_n(a, struct kube_extra, EXTRA_MAX);
    struct str jti = json_get_str(c->claims, "jti");
    groups[0] = STR("system:serviceaccounts");
    groups[1] = str_of(arena_printf(a, "system:serviceaccounts:" STR_FMT, STR_ARG(account_ns(c))));
    groups[2] = STR("system:authenticated");
    c->identity = (struct kube_identity){
        .user = json_get_str(c->claims, "sub"),
        .uid =
            c->legacy ? legacy_claim(c, "service-account.uid") : claim(c, "serviceaccount", "uid"),
        .groups = groups,
        .n_groups = 3,
        .extra = extra,
    };
    if (c->legacy)
        return;
    if (jti.n)
        add_extra(c, extra, EXTRA "credential-id",
                  str_of(arena_printf(a, "JTI=" STR_FMT, STR_ARG(jti))));
    add_extra(c, extra, EXTRA "node-name", claim(c, "node", "name"));
    add_extra(c, extra, EXTRA "node-uid", claim(c, "node", "uid"));
    add_extra(c, extra, EXTRA "pod-name", claim(c, "pod", "name"));
    add_extra(c, extra, EXTRA "pod-uid", claim(c, "pod", "uid"));
}

/* ---- the objects ---- */

struct str token_object_key(struct arena *a, const char *plural, struct str ns, struct str name)
{
    return str_of(arena_printf(a, "/registry/%s/" STR_FMT "%s" STR_FMT, plural, STR_ARG(ns),
                               ns.n ? "/" : "", STR_ARG(name)));
}

/* The key of the object that the token names for this step; "": none. */
static struct str object_key(const struct token_check *c)
{
    struct str ns = account_ns(c), name = STR("");
    switch ((enum tokens_check_at)c->at) {
    case AT_ACCOUNT:
        return token_object_key(c->a, "serviceaccounts", ns, account_name(c));
    case AT_SECRET:
        name = c->legacy ? legacy_claim(c, "secret.name") : claim(c, "secret", "name");
        return name.n ? token_object_key(c->a, "secrets", ns, name) : name;
    case AT_POD:
        name = claim(c, "pod", "name");
        return name.n ? token_object_key(c->a, "pods", ns, name) : name;
    case AT_NODE: /* a node named besides a pod is informational, not a binding */
        name = claim(c, "pod", "name").n ? STR("") : claim(c, "node", "name");
        return name.n ? token_object_key(c->a, "nodes", STR(""), name) : name;
    case AT_GOOD:
        break;
    }
    return name;
}

static struct str object_uid(const struct token_check *c)
{
    switch ((enum tokens_check_at)c->at) {
    case AT_ACCOUNT:
        return c->legacy ? legacy_claim(c, "service-account.uid")
                         : claim(c, "serviceaccount", "uid");
    case AT_SECRET:
        return claim(c, "secret", "uid");
    case AT_POD:
        return claim(c, "pod", "uid");
    case AT_NODE:
        return claim(c, "node", "uid");
    case AT_GOOD:
        break;
    }
    return STR("");
}

/* Deleted longer ago than the allowed clock difference. */
static bool is_long_deleted(const struct json *obj)
{
    int64_t at_us;
    struct str s = json_str(json_path(obj, "metadata", "deletionTimestamp", NULL));
    return s.n && (rfc3339_parse(s, &at_us) < 0 ||
                   at_us / 1000000 + TOKEN_LEEWAY_S < clock_wall_ms() / 1000);
}

/* A legacy token must be in its Secret, byte for byte. */
static bool secret_holds(const struct token_check *c, const struct json *obj)
{
    uint8_t digest[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(JWT_MAX_BYTES);
    struct str data = json_str(json_path(obj, "data", "token", NULL));
    if (!str_is(json_get_str(obj, "type"), "kubernetes.io/service-account-token") ||
        base64_decode(&b, data, BASE64_LENIENT) < 0)
        return false;
    sha256_of(buf_str(&b), digest);
    return same_digest(digest, c->digest);
}

static const char *judge_object(struct token_check *c, const struct store_kv *kv)
{
    struct json *obj;
    bool account = c->at == AT_ACCOUNT;
    const char *gone = account ? "the service account of the token does not exist"
                               : "service account token has been invalidated";
    if (!kv || json_parse(c->a, str_copy_arena(c->a, kv->value), NULL, &obj, NULL) < 0 ||
        is_long_deleted(obj))
        return gone;
    if (c->legacy && c->at == AT_SECRET)
        return secret_holds(c, obj) ? NULL : "service account token has been invalidated";
    if (!str_eq(meta_uid(obj), object_uid(c)))
        return account ? "service account UID does not match claim"
                       : "service account token has been invalidated";
    return NULL;
}

static bool read_objects(struct token_check *c);

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct token_check *c = arg;
    const char *why = NULL;
    (void)rev;
    assert(c->at < AT_GOOD && c->n_keys > 0);
    if (r < 0) {
        log_error("a token cannot be checked", "error=\"%s\"", err_text(err));
        why = "the store cannot be read";
    } else {
        why = judge_object(c, kv);
    }
    c->at++;
    if (why ? finish(c, why) : read_objects(c))
        c->done(c);
}

/* true: all objects were read, and the result is set. */
static bool read_objects(struct token_check *c)
{
    for (; c->at < AT_GOOD; c->at++) {
        struct str key = object_key(c);
        if (key.n == 0)
            continue;
        assert(c->n_keys < TOKEN_OBJECTS_MAX);
        c->keys[c->n_keys++] = key;
        if (store_get(c->tokens->api->store, key, 0, on_object, c, NULL) < 0)
            return finish(c, "the store cannot be read");
        return false;
    }
    set_identity(c);
    if (c->n_audiences == 0)
        remember(c->tokens, c);
    return finish(c, NULL);
}

static bool check_signed(struct token_check *c)
{
    struct tokens *t = c->tokens;
    struct jwt jwt;
    struct tokens_known *k = find_known(t, c->digest);
    if (k && c->n_audiences == 0 && is_fresh(k)) {
        k->used = ++t->uses;
        c->identity = identity_copy(c->a, &k->identity);
        c->n_keys = k->n_keys;
        for (size_t i = 0; i < k->n_keys; i++)
            c->keys[i] = str_copy_arena(c->a, k->keys[i]);
        (void)take_audiences(c, &t->issuer, 1);
        return finish(c, NULL);
    }
    if (!t->key || jwt_parse(c->a, c->token, &jwt, NULL) < 0)
        return true;
    struct str issuer = json_get_str(jwt.claims, "iss");
    c->claims = jwt.claims;
    c->legacy = str_is(issuer, LEGACY_ISSUER);
    if (!c->legacy && !str_eq(issuer, t->issuer))
        return true;
    if (!k && !jwt_verify(t->key, &jwt))
        return finish(c, "the token's signature is not valid");
    const char *why = check_claims(c);
    return why ? finish(c, why) : read_objects(c);
}

/* ------------------------------------------------------------------ bootstrap tokens */

static const char *judge_bootstrap(struct token_check *c, const struct store_kv *kv)
{
    struct json *secret;
    if (!kv || json_parse(c->a, str_copy_arena(c->a, kv->value), NULL, &secret, NULL) < 0)
        return "there is no such bootstrap token";
    const char *why = bootstrap_token_check(secret, c->token, (int64_t)clock_wall_ms() / 1000, c->a,
                                            &c->identity);
    if (!why && !take_audiences(c, &c->tokens->issuer, 1))
        why = "the token is not meant for this audience";
    return why;
}

static void on_bootstrap(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                         const struct err *err)
{
    struct token_check *c = arg;
    (void)rev;
    assert(c->n_keys == 1);
    if (r < 0)
        log_error("a bootstrap token cannot be checked", "error=\"%s\"", err_text(err));
    (void)finish(c, r < 0 ? "the store cannot be read" : judge_bootstrap(c, kv));
    c->done(c);
}

/* true: the result is set. */
static bool check_bootstrap(struct token_check *c, struct str id)
{
    struct str name = str_of(arena_printf(c->a, BOOTSTRAP_TOKEN_PREFIX STR_FMT, STR_ARG(id)));
    c->keys[c->n_keys++] = token_object_key(c->a, "secrets", STR(BOOTSTRAP_TOKEN_NAMESPACE), name);
    if (store_get(c->tokens->api->store, c->keys[0], 0, on_bootstrap, c, NULL) < 0)
        return finish(c, "the store cannot be read");
    return false;
}

bool token_check(struct token_check *c)
{
    struct str id, secret;
    assert(c->at == AT_ACCOUNT && c->n_keys == 0); /* a check is used once */
    c->good = false;
    if (c->token.n == 0 || c->token.n > JWT_MAX_BYTES)
        return true;
    sha256_of(c->token, c->digest);
    c->epoch = c->tokens->epoch;
    if (check_plain(c))
        return true;
    return bootstrap_token_split(c->token, &id, &secret) ? check_bootstrap(c, id) : check_signed(c);
}

/* ------------------------------------------------------------------ issuing */

static void set_ref(struct arena *a, struct json *up, const char *member, struct str name,
                    struct str uid)
{
    if (name.n == 0)
        return;
    struct json *ref = json_obj(a, up, member);
    json_set_str(a, ref, "name", name);
    json_set_str(a, ref, "uid", uid);
}

int token_issue(const struct tokens *t, const struct token_request *rq, struct buf *to,
                struct err *err)
{
    struct arena arena = { 0 }, *a = &arena;
    char jti[37];
    if (!t->key)
        return err_set(err, E_UNSUPPORTED, "there is no key to sign tokens with");
    sys_uuid(jti);
    struct json *v = json_new_object(a), *aud = json_new_array(a);
    for (size_t i = 0; i < rq->n_audiences; i++)
        json_add(aud, json_new_str(a, rq->audiences[i]));
    json_setc(a, v, "aud", aud);
    json_set_int(a, v, "exp", rq->now_s + rq->valid_s);
    json_set_int(a, v, "iat", rq->now_s);
    json_set_str(a, v, "iss", t->issuer);
    json_set_str(a, v, "jti", str_of(jti));
    struct json *kube = json_obj(a, v, "kubernetes.io");
    json_set_str(a, kube, "namespace", rq->ns);
    set_ref(a, kube, "node", rq->node, rq->node_uid);
    set_ref(a, kube, "pod", rq->pod, rq->pod_uid);
    set_ref(a, kube, "secret", rq->secret, rq->secret_uid);
    set_ref(a, kube, "serviceaccount", rq->account, rq->account_uid);
    if (rq->warn_after_s)
        json_set_int(a, kube, "warnafter", rq->now_s + rq->warn_after_s);
    json_set_int(a, v, "nbf", rq->now_s);
    json_set_str(a, v, "sub",
                 str_of(arena_printf(a, "system:serviceaccount:" STR_FMT ":" STR_FMT,
                                     STR_ARG(rq->ns), STR_ARG(rq->account))));
    int r = jwt_sign(t->key, v, to, err);
    arena_fini(a);
    return r;
}

/* ------------------------------------------------------------------ tokens in Secrets */

#define SECRET_UID "kubernetes.io/service-account.uid"

static void set_encoded(struct arena *a, struct json *data, const char *key, struct str value)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    if (value.n == 0 || json_getc(data, key))
        return;
    (void)base64_encode(&b, value, BASE64_STD);
    json_set_str(a, data, key, buf_str(&b));
}

static void set_legacy(struct arena *a, struct json *v, const char *name, struct str value)
{
    json_set_str(a, v, arena_printf(a, LEGACY_CLAIM "%s", name), value);
}

/*
 * Put token, ca.crt and namespace into the Secret's data, unless it is for an account with another
 * uid.
 */
static int secret_fill(const struct api *api, struct arena *a, struct json *secret,
                       const struct json *account, struct err *err)
{
    struct json *annotations = json_obj(a, json_obj(a, secret, "metadata"), "annotations");
    struct str name = meta_name(account), ns = meta_namespace(account), uid = meta_uid(account);
    struct str wanted = json_get_str(annotations, SECRET_UID);
    scoped(buf_fini_scoped) struct buf token = BUF_INIT(JWT_MAX_BYTES);
    if (!api->auth->tokens->key || (wanted.n && !str_eq(wanted, uid)))
        return 0;
    struct json *v = json_new_object(a), *data = json_obj(a, secret, "data");
    json_set_str(a, v, "iss", STR(LEGACY_ISSUER));
    set_legacy(a, v, "namespace", ns);
    set_legacy(a, v, "secret.name", meta_name(secret));
    set_legacy(a, v, "service-account.name", name);
    set_legacy(a, v, "service-account.uid", uid);
    json_set_str(a, v, "sub",
                 str_of(arena_printf(a, "system:serviceaccount:" STR_FMT ":" STR_FMT, STR_ARG(ns),
                                     STR_ARG(name))));
    int r = jwt_sign(api->auth->tokens->key, v, &token, err);
    if (r < 0)
        return r;
    json_set_str(a, annotations, SECRET_UID, uid);
    set_encoded(a, data, "token", buf_str(&token));
    set_encoded(a, data, "ca.crt", buf_str(&api->ca_cert));
    set_encoded(a, data, "namespace", ns);
    return 0;
}

struct secret_state {
    struct json *account;
};

static bool secret_wanted(void *self, const struct admission *ad)
{
    (void)self;
    return admission_is_core(ad, "secrets") && identity_of_secret(ad->input).n > 0;
}

static struct json *secret_read(void *self, struct admission *ad, void *state)
{
    struct secret_state *s = state;
    (void)self;
    return admission_get(ad,
                         token_object_key(&ad->rq->arena, "serviceaccounts", ad->rq->route.ns,
                                          identity_of_secret(ad->input)),
                         &s->account);
}

/* If the account does not exist, upstream accepts such a Secret without making a token. */
static struct json *secret_apply(void *self, struct admission *ad, void *state)
{
    const struct secret_state *s = state;
    struct err err = { 0 };
    (void)self;
    if (s->account && secret_fill(ad->rq->api, &ad->rq->arena, ad->obj, s->account, &err) < 0)
        log_error("no token was made for a secret", "error=\"%s\"", err_text(&err));
    return NULL;
}

static const struct admission_stage secret_tokens = { .name = "tokens in Secrets",
                                                      .point = ADMISSION_PREPARED,
                                                      .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                      .state_bytes = sizeof(struct secret_state),
                                                      .wanted = secret_wanted,
                                                      .read = secret_read,
                                                      .apply = secret_apply };

void tokens_register(struct admission_chain *c)
{
    admission_register(c, &secret_tokens, NULL);
}
