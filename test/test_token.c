/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Web Tokens and what reads foreign words about identity: token files, impersonation. */
#include "api/auth/authn.h"
#include "api/auth/tokens.h"
#include "api/bootstrap_token.h"
#include "base/clock.h"
#include "codec/base64.h"
#include "codec/jwt.h"
#include "test.h"

/* RFC 7515, appendix A.3 */
static const char es256_pem[] = "-----BEGIN PUBLIC KEY-----\n"
                                "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
                                "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
                                "-----END PUBLIC KEY-----\n";
static const char es256_token[] =
    "eyJhbGciOiJFUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    "fQ."
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

/* made by the openssl command */
static const char rs256_pem[] = "-----BEGIN PUBLIC KEY-----\n"
                                "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwD7sFu+0Fm3hdH3O0Ufj\n"
                                "v/kFv8+WRe2wdX8SmjYzS06E6NIqo+uHjp8FjbnirqGm/Pi+fycaUJ+negf2Fldd\n"
                                "QSD0n86lGdY7++bosa0hCc4cJMsk7t6eTKfDlsQU3gnsmsBQbjLbLoWC3RQmL62M\n"
                                "vYrVLpP7JGqjF5hYxitBg5QqKSoHxLuVD6YQRrOLf7ayZp04+kWex3SJCVs24r4u\n"
                                "8QS743NqUdkbIpHFWQLl08pN1UXWf/Qw4kKOx7PeyUvUJTDqbOni27ClGxUVVahd\n"
                                "ygu89276M7Hk58T+0iD6CnqHn2f23O/GzPEhYx6VOmaRWEcyRM+WicilLKuUpnGk\n"
                                "bwIDAQAB\n"
                                "-----END PUBLIC KEY-----\n";
static const char rs256_token[] =
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJtZSIsIm4iOjF9.cJRJtu0YSBfh72MXk_RfM3G6T80F8Vx7th9nhhR39e"
    "jydRUogAAk1omSJqr2AshPkQLCUEm5MUdh6oXsZg3N8p-1hxKl3sCRR-hTLhUAOsIswu-BJMoxa9s7XwQCD1Cqo2"
    "Rr4-wMJyLviifqwn3nsQiebEfcnpB9ClQxIS6OHk15wUR0opt6_Ov16KcLqwy0PvYVhsORl93N_2MHNq5zK6bTCj"
    "w9PALZb-8JlmtWhNbFo9Svfk36uz1Lsdb9ljtYWJkG0204nwDogBKRPWzAINrdGk4CFZxeT6VP5np5Kl2LlDRKKw"
    "DS23obdGH75MPbmtMnj6FarSshygSYRiNtog";

static struct jwt_key *read_key(const char *pem)
{
    struct jwt_key *k = NULL;
    struct err err = { 0 };
    CHECK_OK(jwt_key_read(str_of(pem), &k, &err));
    return k;
}

static bool verifies(const struct jwt_key *k, const char *token)
{
    struct arena a = { 0 };
    struct jwt t;
    bool ok = jwt_parse(&a, str_of(token), &t, NULL) >= 0 && jwt_verify(k, &t);
    arena_fini(&a);
    return ok;
}

TEST(known_tokens_verify_and_changed_ones_do_not)
{
    static const struct {
        const char *pem, *token, *alg;
    } cases[] = { { es256_pem, es256_token, "ES256" }, { rs256_pem, rs256_token, "RS256" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jwt_key *k = read_key(cases[i].pem);
        CHECK_STR(str_of(jwt_key_alg(k)), cases[i].alg);
        CHECK(verifies(k, cases[i].token));
        char *copy = xstrdup(cases[i].token);
        for (size_t at = 0, n = strlen(copy); at < n; at += 7) {
            char was = copy[at];
            copy[at] = was == 'A' ? 'B' : 'A';
            if (verifies(k, copy))
                TEST_FAIL("%s with another character %zu verifies", cases[i].alg, at);
            copy[at] = was;
        }
        CHECK(verifies(k, copy));
        free(copy);
        jwt_key_free(k);
    }
    struct jwt_key *es = read_key(es256_pem), *rs = read_key(rs256_pem);
    CHECK(!verifies(es, rs256_token));
    CHECK(!verifies(rs, es256_token));
    jwt_key_free(es);
    jwt_key_free(rs);
}

TEST(a_new_key_signs_and_is_read_back)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct jwt_key *k, *again, *public;
    struct buf pem = BUF_INIT(1 << 16), token = BUF_INIT(1 << 16);
    struct jwt t;
    CHECK_OK(jwt_key_make(&k, &err));
    CHECK_OK(jwt_key_write(k, &pem, &err));
    CHECK_OK(jwt_key_read(buf_str(&pem), &again, &err));
    CHECK_STR(jwt_key_id(k), str_dup_arena(&a, jwt_key_id(again)));
    CHECK_INT(jwt_key_id(k).n, 43);
    struct json *claims = json_new_object(&a);
    json_set_str(&a, claims, "sub", STR("me"));
    CHECK_OK(jwt_sign(k, claims, &token, &err));
    CHECK_OK(jwt_parse(&a, buf_str(&token), &t, &err));
    CHECK(jwt_verify(again, &t));
    CHECK_STR(json_get_str(t.header, "kid"), str_dup_arena(&a, jwt_key_id(k)));
    CHECK_STR(json_get_str(t.claims, "sub"), "me");
    struct json *jwk = jwt_key_jwk(&a, k);
    CHECK_INT(json_get_str(jwk, "x").n, 43);
    CHECK_INT(json_get_str(jwk, "y").n, 43);
    public = read_key(es256_pem);
    CHECK_ERR(jwt_sign(public, claims, &token, &err), E_UNSUPPORTED);
    CHECK_ERR(jwt_key_write(public, &pem, &err), E_UNSUPPORTED);
    CHECK_ERR(jwt_key_read(STR("nonsense"), &public, &err), E_INVALID);
    jwt_key_free(public);
    jwt_key_free(again);
    jwt_key_free(k);
    buf_fini(&pem);
    buf_fini(&token);
    arena_fini(&a);
}

TEST(what_is_no_token_is_refused)
{
    static const char *const bad[] = {
        "",
        ".",
        "..",
        "a.b",
        "a.b.c",
        "e30.e30",
        "e30.e30.e30.e30",
        "W10.e30.",
        "e30.W10.",
        "e30=.e30.",
        "e3 0.e30.",
        "eyJhIjo.e30.",
        "bnVsbA.e30.",
    };
    struct arena a = { 0 };
    struct jwt t;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(jwt_parse(&a, str_of(bad[i]), &t, NULL) < 0);
    CHECK_OK(jwt_parse(&a, STR("e30.e30."), &t, NULL)); /* {}.{}. parses, and no key takes it */
    struct jwt_key *k = read_key(es256_pem);
    CHECK(!jwt_verify(k, &t));
    jwt_key_free(k);
    char *large = xalloc(JWT_MAX_BYTES + 2);
    memset(large, 'e', JWT_MAX_BYTES + 1);
    CHECK_ERR(jwt_parse(&a, str_n(large, JWT_MAX_BYTES + 1), &t, NULL), E_LIMIT);
    free(large);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ token files */

static int check_file(const char *text, const char *token, struct token_check *c, struct arena *a,
                      struct err *err)
{
    struct tokens *t = NULL;
    int r = tokens_new(&(struct tokens_opts){ .file = str_of(text), .admin = STR("root-token") },
                       &t, err);
    if (r < 0)
        return r;
    *c = (struct token_check){ .tokens = t, .a = a, .token = str_of(token) };
    CHECK(token_check(c));
    struct kube_identity id = identity_copy(a, &c->identity);
    c->identity = id;
    tokens_free(t);
    return c->good;
}

TEST(a_token_file_names_users)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct token_check c;
    static const char file[] = "one,tom,77,\"devs,ops\"\r\n\n"
                               "\"tw\"\"o\",\"a,b\",u\n"
                               "three,x,,single";
    CHECK_INT(check_file(file, "one", &c, &a, &err), 1);
    CHECK_STR(c.identity.user, "tom");
    CHECK_STR(c.identity.uid, "77");
    CHECK_INT(c.identity.n_groups, 3);
    CHECK_STR(c.identity.groups[1], "ops");
    CHECK_STR(c.identity.groups[2], "system:authenticated");
    CHECK_INT(check_file(file, "tw\"o", &c, &a, &err), 1);
    CHECK_STR(c.identity.user, "a,b");
    CHECK_INT(check_file(file, "three", &c, &a, &err), 1);
    CHECK_STR(c.identity.groups[0], "single");
    CHECK_INT(check_file(file, "root-token", &c, &a, &err), 1);
    CHECK_STR(c.identity.user, "admin");
    CHECK_INT(check_file(file, "four", &c, &a, &err), 0);
    CHECK_INT(check_file(file, "", &c, &a, &err), 0);
    static const char *const bad[] = { "a,b", "a", ",b,c", "a,,c", "\"a,b,c", "\"a\"x,b,c" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_ERR(check_file(bad[i], "a", &c, &a, &err), E_PARSE);
    CHECK(str_find(str_of(err.text), STR("line 1 of the token file")) >= 0);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ impersonation */

TEST(impersonation_headers_are_collected)
{
    struct arena a = { 0 };
    struct headers h = { 0 };
    CHECK(impersonate_parse(&a, &h) == NULL);
    CHECK_OK(headers_addc(&h, "accept", "x"));
    CHECK(impersonate_parse(&a, &h) == NULL);
    CHECK_OK(headers_addc(&h, "Impersonate-User", "jane"));
    CHECK_OK(headers_addc(&h, "Impersonate-Group", "a"));
    CHECK_OK(headers_addc(&h, "Impersonate-Extra-Scopes", "x"));
    CHECK_OK(headers_addc(&h, "Impersonate-Group", "b"));
    CHECK_OK(headers_addc(&h, "Impersonate-Extra-acme.com%2Fproject", "p"));
    CHECK_OK(headers_addc(&h, "Impersonate-Extra-scopes", "y"));
    CHECK_OK(headers_addc(&h, "Impersonate-Extra-bad%zz", "z"));
    CHECK_OK(headers_addc(&h, "Impersonate-Uid", "9"));
    const struct impersonation *im = impersonate_parse(&a, &h);
    CHECK_STR(im->user, "jane");
    CHECK_STR(im->uid, "9");
    CHECK_INT(im->n_groups, 2);
    CHECK_STR(im->groups[1], "b");
    CHECK_INT(im->n_extra, 3);
    CHECK_STR(im->extra[0].key, "scopes");
    CHECK_INT(im->extra[0].n, 2);
    CHECK_STR(im->extra[0].values[1], "y");
    CHECK_STR(im->extra[1].key, "acme.com/project");
    CHECK_STR(im->extra[2].key, "bad%zz");
    headers_fini(&h);
    arena_fini(&a);
}

TEST(impersonation_has_limits)
{
    struct arena a = { 0 };
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "Impersonate-User", "jane"));
    for (int i = 0; i <= AUTHN_EXTRAS_MAX; i++)
        CHECK_OK(headers_addc(&h, "Impersonate-Extra-a", "x"));
    CHECK(impersonate_parse(&a, &h)->too_many);
    headers_reset(&h);
    char *name = xalloc(AUTHN_NAME_MAX_BYTES + 2);
    memset(name, 'n', AUTHN_NAME_MAX_BYTES + 1);
    CHECK_OK(headers_addc(&h, "Impersonate-User", name));
    CHECK(impersonate_parse(&a, &h)->too_many);
    free(name);
    headers_fini(&h);
    arena_fini(&a);
}

TEST(users_of_accounts_are_told_apart)
{
    struct str ns, name;
    CHECK(identity_split_account(STR("system:serviceaccount:a:b.c"), &ns, &name));
    CHECK_STR(ns, "a");
    CHECK_STR(name, "b.c");
    static const char *const others[] = { "jane",
                                          "system:serviceaccount:a",
                                          "system:serviceaccount::b",
                                          "system:serviceaccount:a:b:c",
                                          "system:serviceaccount:A:b",
                                          "system:serviceaccount:a:" };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK(!identity_split_account(str_of(others[i]), &ns, &name));
}

/* ------------------------------------------------------------------ bootstrap tokens */

#define TOKEN "abc123.0123456789abcdef"

TEST(bootstrap_tokens_have_one_form)
{
    struct str id, secret;
    static const char *const bad[] = { "",
                                       ".",
                                       "abc123",
                                       "abc123.",
                                       "abc12.0123456789abcdef",
                                       "abc1234.0123456789abcdef",
                                       "ABC123.0123456789abcdef",
                                       "abc123.0123456789abcde",
                                       "abc123.0123456789abcdef0",
                                       "abc123.0123456789abcde-",
                                       "abc123.0123456789abcdef ",
                                       "abc123.01234567.9abcdef" };
    CHECK(bootstrap_token_split(STR(TOKEN), &id, &secret));
    CHECK_STR(id, "abc123");
    CHECK_STR(secret, "0123456789abcdef");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (bootstrap_token_split(str_of(bad[i]), &id, &secret))
            TEST_FAIL("'%s' is taken for a token", bad[i]);
}

/* groups: NULL or the value of auth-extra-groups. Returns the reason of a refusal. */
static const char *check_groups(struct arena *a, const char *groups, struct kube_identity *ret)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *v;
    static const char text[] =
        "{\"type\":\"bootstrap.kubernetes.io/token\",\"data\":{\"token-id\":\"YWJjMTIz\","
        "\"token-secret\":\"MDEyMzQ1Njc4OWFiY2RlZg==\","
        "\"usage-bootstrap-authentication\":\"dHJ1ZQ==\"}}";
    CHECK_OK(json_parse(a, str_of(text), NULL, &v, NULL));
    if (groups) {
        (void)base64_encode(&b, str_of(groups), BASE64_STD);
        json_set_str(a, json_obj(a, v, "data"), "auth-extra-groups", buf_str(&b));
    }
    CHECK_INT(bootstrap_token_expires_s(v), INT64_MAX);
    return bootstrap_token_check(v, STR(TOKEN), 0, a, ret);
}

TEST(groups_of_bootstrap_tokens_are_bounded)
{
    enum { REST = 256 }; /* characters after the prefix: the most that upstream takes */
    static const char prefix[] = "system:bootstrappers:";
    struct arena a = { 0 };
    struct kube_identity id;
    scoped(buf_fini_scoped) struct buf many = BUF_INIT(BUF_MAX_DEFAULT);
    char longest[sizeof prefix + REST + 1];
    memcpy(longest, prefix, sizeof prefix - 1);
    memset(longest + sizeof prefix - 1, 'x', REST + 1);
    longest[sizeof prefix - 1 + REST] = '\0';
    CHECK(!check_groups(&a, longest, &id));
    CHECK_INT(id.n_groups, 3);
    longest[sizeof prefix - 1 + REST] = 'x';
    longest[sizeof prefix + REST] = '\0';
    CHECK(check_groups(&a, longest, &id));

    CHECK(!check_groups(&a, NULL, &id));
    CHECK_INT(id.n_groups, 2);
    CHECK_STR(id.user, "system:bootstrap:abc123");
    CHECK(!check_groups(&a, "system:bootstrappers:a,system:bootstrappers:a", &id));
    CHECK_INT(id.n_groups, 3); /* once */
    static const char *const bad[] = { "system:masters", "system:bootstrappers:A",
                                       "system:bootstrappers:a:", "system:bootstrappers:a, b",
                                       ",system:bootstrappers:a" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (!check_groups(&a, bad[i], &id))
            TEST_FAIL("'%s' is taken", bad[i]);
    for (size_t i = 0; i < BOOTSTRAP_TOKEN_GROUPS_MAX; i++)
        (void)buf_printf(&many, "%s%s%zu", i ? "," : "", prefix, i);
    CHECK(!check_groups(&a, buf_cstr(&many), &id));
    CHECK_INT(id.n_groups, BOOTSTRAP_TOKEN_GROUPS_MAX + 2);
    (void)buf_printf(&many, ",%smore", prefix);
    CHECK(check_groups(&a, buf_cstr(&many), &id));
    arena_fini(&a);
}

TEST_MAIN
