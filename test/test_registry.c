/* SPDX-License-Identifier: Apache-2.0 */
/* References, challenges and credentials: what of the registry client needs no registry. */
#include "test.h"

#include "oci/challenge.h"
#include "oci/credentials.h"
#include "oci/reference.h"

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* ---- references ---- */

TEST(references_are_completed_as_docker_does)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "redis", "docker.io/library/redis:latest" },
        { "redis:7", "docker.io/library/redis:7" },
        { "a/b", "docker.io/a/b:latest" },
        { "docker.io/redis", "docker.io/library/redis:latest" },
        { "index.docker.io/redis:7", "docker.io/library/redis:7" },
        { "docker.io/library/redis:7@" DIGEST, "docker.io/library/redis:7@" DIGEST },
        { "redis@" DIGEST, "docker.io/library/redis@" DIGEST },
        { "localhost/a", "localhost/a:latest" },
        { "localhost:5000/a/b:tag", "localhost:5000/a/b:tag" },
        { "127.0.0.1:5000/a", "127.0.0.1:5000/a:latest" },
        { "[::1]:5000/a", "[::1]:5000/a:latest" },
        { "Example.ORG/a__b/c---d:V_1.0-x", "Example.ORG/a__b/c---d:V_1.0-x" },
        { "redis:5000/x", "redis:5000/x:latest" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct oci_reference ref, again;
        struct err err = { 0 };
        struct buf text = BUF_INIT(1024);
        CHECK_OK(oci_reference_parse(str_of(cases[i].text), &ref, &err));
        oci_reference_format(&ref, &text);
        CHECK_STR(buf_str(&text), cases[i].want);
        CHECK_OK(oci_reference_parse(buf_str(&text), &again, &err));
        CHECK(memcmp(&ref, &again, sizeof ref) == 0);
        buf_fini(&text);
    }
}

TEST(references_that_name_the_same_are_equal)
{
#define DIGEST_A "@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        { "redis", "docker.io/library/redis:latest", true },
        { "redis:7", "redis:8", false },
        { "redis", "redis-x", false },
        { "h:1/redis", "h:2/redis", false },
        { "redis:7" DIGEST_A, "redis" DIGEST_A, true },
        { "redis:7" DIGEST_A, "redis:7", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct oci_reference a, b;
        CHECK_OK(oci_reference_parse(str_of(cases[i].a), &a, NULL));
        CHECK_OK(oci_reference_parse(str_of(cases[i].b), &b, NULL));
        CHECK(oci_reference_equal(&a, &b) == cases[i].equal);
        CHECK(oci_reference_equal(&b, &a) == cases[i].equal);
    }
}

TEST(what_is_no_reference_is_refused)
{
    static const char *const cases[] = {
        "",
        ":",
        "a:",
        "a@",
        "A",
        "a/B",
        "-a",
        "a-",
        "a..b",
        "a___b",
        "a.-b",
        "a-b:-c/d",
        "b/a-&:--h:t",
        "b/a-\"-h",
        "a//b",
        "/a",
        "a/",
        "a:.b",
        "a:b c",
        "a b",
        "ex ample.org/a",
        "example.org:0/a",
        "example.org:99999/a",
        "example..org/a",
        "-a.b/c",
        "[::1/a",
        "[x]/a",
        "[::1]x/a",
        "a@sha256:12",
        "docker.io/",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        ("a@b@" DIGEST),
        "http://example.org/a",
        "user@example.org/a",
    };
    struct oci_reference ref;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = { 0 };
        CHECK_ERR(oci_reference_parse(str_of(cases[i]), &ref, &err), E_PARSE);
        CHECK(err.text[0]);
    }
    CHECK_ERR(oci_reference_parse(STR("a@sha512:00"), &ref, NULL), E_UNSUPPORTED);
    CHECK_ERR(oci_reference_parse(str_n("a\0b", 3), &ref, NULL), E_PARSE);
}

TEST(references_are_bounded)
{
    char text[600];
    struct oci_reference ref;
    memset(text, 'a', sizeof text);
    CHECK_OK(oci_reference_parse(str_n(text, 255 - strlen("docker.io/library/")), &ref, NULL));
    CHECK_ERR(oci_reference_parse(str_n(text, 256 - strlen("docker.io/library/")), &ref, NULL),
              E_PARSE);
    text[1] = ':';
    CHECK_OK(oci_reference_parse(str_n(text, 2 + OCI_TAG_MAX), &ref, NULL));
    CHECK_ERR(oci_reference_parse(str_n(text, 3 + OCI_TAG_MAX), &ref, NULL), E_PARSE);
}

/* ---- challenges ---- */

static void parse_challenge(struct arena *a, const char *one, const char *two,
                            struct oci_challenge *ret)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "www-authenticate", one));
    if (two)
        CHECK_OK(headers_addc(&h, "www-authenticate", two));
    oci_challenge_parse(a, &h, ret);
    headers_fini(&h);
}

TEST(a_bearer_challenge_is_preferred)
{
    struct arena a = { 0 };
    struct oci_challenge c;
    parse_challenge(
        &a, "Bearer realm=\"https://a/t\\\"x\",service=s , scope=\"repository:a:pull,push\"", NULL,
        &c);
    CHECK_INT(c.scheme, OCI_CHALLENGE_BEARER);
    CHECK(str_is(c.realm, "https://a/t\"x") && str_is(c.service, "s"));
    CHECK(str_is(c.scope, "repository:a:pull,push"));
    parse_challenge(&a, "Basic realm=\"x\"", "bearer realm=y", &c);
    CHECK(c.scheme == OCI_CHALLENGE_BEARER && str_is(c.realm, "y"));
    parse_challenge(&a, "Negotiate YWJj, Basic realm=x, Bearer realm=z,error=\"e, Basic\"", NULL,
                    &c);
    CHECK(c.scheme == OCI_CHALLENGE_BEARER && str_is(c.realm, "z"));
    arena_fini(&a);
}

TEST(a_challenge_that_breaks_off_counts_up_to_there)
{
    struct arena a = { 0 };
    struct oci_challenge c;
    parse_challenge(&a, "Basic realm=\"x", NULL, &c);
    CHECK_INT(c.scheme, OCI_CHALLENGE_BASIC);
    parse_challenge(&a, "Bearer service=\"s\"", NULL, &c);
    CHECK_INT(c.scheme, OCI_CHALLENGE_NONE);
    parse_challenge(&a, "Bearer realm=", NULL, &c);
    CHECK_INT(c.scheme, OCI_CHALLENGE_NONE);
    parse_challenge(&a, "Digest nonce=1", NULL, &c);
    CHECK_INT(c.scheme, OCI_CHALLENGE_NONE);
    arena_fini(&a);
}

/* ---- credentials ---- */

static int read_login(const char *config, const char *reference, struct oci_login *ret,
                      char **ret_program)
{
    struct oci_reference ref;
    struct err err = { 0 };
    CHECK_OK(oci_reference_parse(str_of(reference), &ref, NULL));
    *ret = (struct oci_login){ 0 };
    *ret_program = NULL;
    return oci_login_read(str_of(config), &ref, ret, ret_program, &err);
}

/* The user for a reference; "": none. */
static void check_user(const char *config, const char *reference, const char *want)
{
    struct oci_login login;
    char *program;
    CHECK_OK(read_login(config, reference, &login, &program));
    CHECK_STR(str_of(login.user ? login.user : ""), want);
    CHECK(!program);
    oci_login_fini(&login);
}

/* "one:p", "two:p", "hub:p" */
static const char AUTHS[] =
    "{\"auths\": {\"example.org\": {\"auth\": \"b25lOnA=\"},"
    "\"example.org/a/b\": {\"auth\": \"dHdvOnA=\"},"
    "\"https://index.docker.io/v1/\": {\"auth\": \"aHViOnA=\"},"
    "\"http://old.org:80/v2/\": {\"username\": \"u\", \"password\": \"p\"}}}";

TEST(credentials_are_those_of_the_longest_key_that_fits)
{
    check_user(AUTHS, "example.org/a/c", "one");
    check_user(AUTHS, "example.org/a/b", "two");
    check_user(AUTHS, "example.org/a/b/c", "two");
    check_user(AUTHS, "example.org/a/bc", "one");
    check_user(AUTHS, "example.org:80/a/b", "");
    check_user(AUTHS, "an.example.org/a", "");
    check_user(AUTHS, "redis", "hub");
    check_user(AUTHS, "old.org:80/x", "u");
    check_user("{}", "redis", "");
}

TEST(a_password_may_have_colons)
{
    struct oci_login login;
    char *program;
    CHECK_OK(
        read_login("{\"auths\": {\"a.b\": {\"auth\": \"dTpwOnE=\"}}}", "a.b/c", &login, &program));
    CHECK_STR(str_of(login.password), "p:q");
    oci_login_fini(&login);
}

TEST(programs_are_named_for_a_host_or_for_all)
{
    static const char config[] = "{\"credHelpers\": {\"a.b\": \"one\"}, \"credsStore\": \"all\"}";
    struct oci_login login;
    char *program;
    CHECK_OK(read_login(config, "a.b/c", &login, &program));
    CHECK_STR(str_of(program), "one");
    free(program);
    CHECK_OK(read_login(config, "a.c/c", &login, &program));
    CHECK_STR(str_of(program), "all");
    free(program);
    CHECK_ERR(read_login("{\"credsStore\": \"../x\"}", "a.c/c", &login, &program), E_PARSE);
}

TEST(damaged_credentials_are_errors)
{
    static const char *const configs[] = {
        "",
        "[]",
        "{",
        "{\"auths\": {\"a.b\": {\"auth\": \"!\"}}}",
        "{\"auths\": {\"a.b\": {\"auth\": \"bm9jb2xvbg==\"}}}",
        "{\"auths\": {\"a.b\": {\"auth\": \"OnA=\"}}}",
    };
    struct oci_login login;
    char *program;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        CHECK_ERR(read_login(configs[i], "a.b/c", &login, &program), E_PARSE);
    check_user("{\"auths\": {\"a.b\": 7}}", "a.b/c", "");
}

TEST_MAIN
