/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authentication. A registry names a token service in its 401; the service issues a token for a
 * scope, anonymously, to a user with a password (GET with Basic), or for a refresh token (POST, RFC
 * 6749 section 6). Tokens are kept until they expire. The requests to the service are ordinary
 * requests, with their own retries.
 */
#include "oci/registry_int.h"

#include "base/clock.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/url.h"

#include <errno.h>

enum {
    LOGINS_MAX = 2,       /* 401s in a row: an old token, and the new one */
    TOKEN_DEFAULT_S = 60, /* where the service does not say (Docker's token specification) */
    TOKEN_MAX_S = 86400,
};

struct registry_token {
    char *text;
    uint64_t until_ms; /* monotonic */
};

static void free_token(struct registry_token *t)
{
    if (!t)
        return;
    free(t->text);
    free(t);
}

void registry_auth_fini(struct oci_registry *reg)
{
    map_each (e, &reg->tokens)
        free_token(e->value);
    map_fini(&reg->tokens);
}

/* ---- what is known ---- */

static char *basic_of(const struct oci_login *login)
{
    scoped(free_scoped) char *pair = xasprintf("%s:%s", login->user, login->password);
    struct buf text = BUF_INIT(OCI_CREDENTIAL_MAX * 4);
    (void)buf_add_cstr(&text, "Basic ");
    (void)base64_encode(&text, str_of(pair), BASE64_STD);
    size_t n;
    return buf_take(&text, &n);
}

static struct registry_token *find_token(struct oci_registry *reg, const char *scope)
{
    struct registry_token *t = map_get(&reg->tokens, str_of(scope));
    return t && t->until_ms > clock_mono_ms() ? t : NULL;
}

void registry_auth_add(struct oci_request *q, struct headers *to)
{
    struct oci_registry *reg = q->reg;
    const struct registry_token *t = find_token(reg, q->scope);
    scoped(free_scoped) char *value = NULL;
    if (t)
        value = xasprintf("Bearer %s", t->text);
    else if (reg->scheme == OCI_CHALLENGE_BASIC && reg->opts.login.user)
        value = basic_of(&reg->opts.login);
    if (value)
        (void)headers_add(to, STR("authorization"), str_of(value));
}

static void drop_token(struct oci_registry *reg, const char *scope)
{
    free_token(map_del(&reg->tokens, str_of(scope)));
}

static void keep_token(struct oci_registry *reg, const char *scope, struct str text, uint64_t s)
{
    struct registry_token *t = xnew(struct registry_token);
    if (reg->tokens.n >= OCI_REGISTRY_TOKENS_MAX)
        registry_auth_fini(reg);
    t->text = str_dup(text);
    t->until_ms = clock_mono_ms() + s * 900; /* a tenth earlier than it expires */
    free_token(map_put(&reg->tokens, str_of(scope), t));
}

/* ---- the token service ---- */

static bool is_token_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
            return false;
    return s.n > 0 && s.n <= OCI_REGISTRY_TOKEN_MAX_BYTES;
}

static int read_token(struct oci_request *q, struct str body)
{
    struct arena a = { .max_bytes = 1 << 20 };
    struct json *doc;
    struct err why = { 0 };
    int r = json_parse(&a, body, NULL, &doc, &why);
    struct str token = r < 0 ? STR_NULL : json_get_str(doc, "token");
    if (r >= 0 && token.n == 0)
        token = json_get_str(doc, "access_token");
    if (is_token_text(token)) {
        int64_t s = json_int_or(json_getc(doc, "expires_in"), TOKEN_DEFAULT_S);
        s = MAX(MIN(s, (int64_t)TOKEN_MAX_S), (int64_t)TOKEN_DEFAULT_S);
        keep_token(q->reg, q->scope, token, (uint64_t)s);
        r = 0;
    } else {
        r = err_set(&q->err, E_PARSE, "the token service of %s gives no token%s%s",
                    REGISTRY_HOST(&q->reg->base), why.text[0] ? ": " : "", why.text);
    }
    arena_fini(&a);
    return r;
}

static void on_token(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct oci_request *q = arg;
    q->token_request = NULL;
    if (q->cancelled)
        r = -ECANCELED;
    else if (r < 0)
        r = err_set(&q->err, r, "token: %s", err_text(err));
    else
        r = read_token(q, answer->body);
    if (r < 0)
        registry_request_end(q, r);
    else
        registry_request_again(q);
}

/* "repository:a:pull" is in "repository:a:pull,push" */
static bool has_scope(struct str ours, struct str one)
{
    bool more = ours.n > 0;
    while (more) {
        struct str part;
        more = str_cut(ours, ' ', &part, &ours);
        if (str_has_prefix(part, one) && (part.n == one.n || part.p[one.n] == ','))
            return true;
    }
    return false;
}

static void add_param(struct buf *to, const char *name, struct str value)
{
    (void)buf_add_cstr(to, to->n ? "&" : "");
    (void)buf_add_cstr(to, name);
    (void)buf_add_char(to, '=');
    (void)url_encode(to, value);
}

/* Ours, and what the registry names beyond that. */
static void add_scopes(struct buf *to, const struct oci_request *q, struct str named)
{
    struct str ours = str_of(q->scope);
    for (unsigned pass = 0; pass < 2; pass++) {
        struct str rest = pass ? named : ours, part;
        while (rest.n) {
            (void)str_cut(rest, ' ', &part, &rest);
            if (part.n && (pass == 0 || !has_scope(ours, part)))
                add_param(to, "scope", part);
        }
    }
}

/* As a GET with the parameters in the query. */
static int ask_by_get(struct oci_request *q, const struct oci_challenge *c)
{
    struct headers h = { 0 };
    struct buf query = BUF_INIT(HTTP_URI_MAX_BYTES);
    const struct oci_login *login = &q->reg->opts.login;
    if (c->service.n)
        add_param(&query, "service", c->service);
    add_scopes(&query, q, c->scope);
    if (login->user) {
        scoped(free_scoped) char *basic = basic_of(login);
        add_param(&query, "account", str_of(login->user));
        (void)headers_add(&h, STR("authorization"), str_of(basic));
    }
    scoped(free_scoped) char *target =
        xasprintf(STR_FMT "%c%s", STR_ARG(c->realm), str_find_char(c->realm, '?') < 0 ? '?' : '&',
                  buf_cstr(&query));
    struct oci_request_opts opts = {
        .method = "GET", .target = target, .headers = &h, .cb = on_token, .arg = q
    };
    int r = buf_ok(&query) ? oci_request_start(q->reg, &opts, &q->token_request, &q->err)
                           : err_set(&q->err, E_LIMIT, "the challenge is too long");
    headers_fini(&h);
    buf_fini(&query);
    return r;
}

/* A refresh token for an access token. */
static int ask_by_post(struct oci_request *q, const struct oci_challenge *c)
{
    struct headers h = { 0 };
    struct buf *form = &q->token_body;
    scoped(free_scoped) char *target = str_dup(c->realm);
    buf_reset(form);
    add_param(form, "grant_type", STR("refresh_token"));
    add_param(form, "client_id", STR("dormouse"));
    add_param(form, "service", c->service);
    add_scopes(form, q, c->scope);
    add_param(form, "refresh_token", str_of(q->reg->opts.login.identity_token));
    (void)headers_addc(&h, "content-type", "application/x-www-form-urlencoded");
    struct oci_request_opts opts = { .method = "POST",
                                     .target = target,
                                     .headers = &h,
                                     .body = buf_str(form),
                                     .has_secret = true,
                                     .cb = on_token,
                                     .arg = q };
    int r = buf_ok(form) ? oci_request_start(q->reg, &opts, &q->token_request, &q->err)
                         : err_set(&q->err, E_LIMIT, "the challenge is too long");
    headers_fini(&h);
    return r;
}

/* ---- 401 ---- */

static int deny(struct oci_request *q)
{
    const struct oci_registry_opts *o = &q->reg->opts;
    if (!oci_login_is_empty(&o->login))
        return err_set(&q->err, E_DENIED,
                       "%s refuses %s %.*s (401): wrong credentials, or no rights there", o->host,
                       q->method, registry_path_n(q->first.path), q->first.path);
    return err_set(&q->err, E_DENIED,
                   "%s refuses %s %.*s (401); no credentials for it are known (%s)", o->host,
                   q->method, registry_path_n(q->first.path), q->first.path,
                   o->no_login ? o->no_login : "'docker login', $REGISTRY_AUTH_FILE");
}

static int demand(struct oci_request *q, const struct oci_challenge *c)
{
    struct oci_registry *reg = q->reg;
    bool had_token = find_token(reg, q->scope) != NULL;
    drop_token(reg, q->scope);
    if (c->scheme == OCI_CHALLENGE_NONE)
        return err_set(&q->err, E_UNSUPPORTED, "%s supports neither Basic nor Bearer credentials",
                       REGISTRY_HOST(&reg->base));
    if (++q->logins > LOGINS_MAX || (q->logins > 1 && !had_token))
        return deny(q);
    if (c->scheme == OCI_CHALLENGE_BASIC) {
        if (!reg->opts.login.user || q->logins > 1)
            return deny(q);
        reg->scheme = OCI_CHALLENGE_BASIC;
        registry_request_again(q);
        return 0;
    }
    reg->scheme = OCI_CHALLENGE_BEARER;
    int r = reg->opts.login.identity_token ? ask_by_post(q, c) : ask_by_get(q, c);
    if (r < 0)
        return err_ctx(&q->err, r, "token service");
    sm_move(&q->sm, REGISTRY_REQUEST_TOKEN);
    return 0;
}

void registry_auth_demand(struct oci_request *q)
{
    struct arena a = { 0 };
    struct oci_challenge c;
    oci_challenge_parse(&a, &q->answer, &c);
    int r = demand(q, &c);
    if (r < 0)
        registry_request_end(q, r);
    arena_fini(&a);
}
