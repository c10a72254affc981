/* SPDX-License-Identifier: Apache-2.0 */
/* modules/pull_secrets: credentials out of Secrets, what is wrong with them, and which ones an
 * Operator names. */
#include "modules/pull_secrets.h"

#include "base/buf.h"
#include "fake_transport.h"
#include "operator/host/object_spec.h"
#include "test.h"

#include <errno.h>

#define CONFIG "eyJhdXRocyI6e319" /* {"auths":{}} */

static int read_text(const char *secret, struct str *ret, struct arena *a, struct err *err)
{
    struct json *v;
    CHECK_OK(json_parse(a, str_of(secret), NULL, &v, NULL));
    return pull_secret_text(a, STR("pull"), json_get_str(v, "type"), json_getc(v, "data"), ret,
                            err);
}

TEST(a_secret_holds_a_configuration)
{
    struct arena a = { 0 };
    struct str text;
    CHECK_OK(read_text("{\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\"."
                       "dockerconfigjson\":\"" CONFIG "\"}}",
                       &text, &a, NULL));
    CHECK_STR(text, "{\"auths\":{}}");
    arena_fini(&a);
}

TEST(other_secrets_are_refused_by_name)
{
    static const struct {
        const char *secret, *why;
    } cases[] = {
        { "{\"type\":\"Opaque\",\"data\":{\".dockerconfigjson\":\"" CONFIG "\"}}",
          "Secret 'pull' is not of type kubernetes.io/dockerconfigjson" },
        { "{\"data\":{}}", "is not of type" },
        { "{\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\"x\":\"" CONFIG "\"}}",
          "Secret 'pull' has no '.dockerconfigjson'" },
        { "{\"type\":\"kubernetes.io/dockerconfigjson\"}", "has no" },
        { "{\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\".dockerconfigjson\":\"!\"}}",
          "is no base64" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct str text;
        CHECK_ERR(read_text(cases[i].secret, &text, &a, &err), E_INVALID);
        CHECK(strstr(err_text(&err), cases[i].why));
        arena_fini(&a);
    }
}

struct reported {
    unsigned n;
    int r;
    struct buf texts;
    struct err err;
};

static void on_reported(void *arg, int r, const struct str *texts, size_t n, const struct err *err)
{
    struct reported *t = arg;
    t->n++;
    t->r = r;
    t->err = *err;
    for (size_t i = 0; r >= 0 && i < n; i++)
        (void)buf_add_str(&t->texts, texts[i]);
}

static void answer(struct fake *f, size_t i, int status, const char *data)
{
    scoped(free_scoped) char *body =
        xasprintf("{\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\".dockerconfigjson\":"
                  "\"%s\"}}",
                  data);
    fake_head(&f->call[i], status);
    fake_data(&f->call[i], body);
    fake_end(&f->call[i], 0);
}

TEST(secrets_of_one_namespace_come_in_their_order)
{
    struct fake f;
    struct reported t = { .texts = BUF_INIT(1000) };
    struct pull_secrets *p;
    fake_init(&f);
    CHECK_OK(pull_secrets_read(&f.base, "ns", "one  two", on_reported, &t, &p, NULL));
    CHECK(f.n == 2 && t.n == 0);
    CHECK_STR(str_of(f.call[0].target), "/api/v1/namespaces/ns/secrets/one");
    CHECK_STR(str_of(f.call[1].target), "/api/v1/namespaces/ns/secrets/two");
    answer(&f, 1, 200, "Mg==");
    CHECK(t.n == 0);
    answer(&f, 0, 200, "MQ==");
    CHECK(t.n == 1);
    CHECK_OK(t.r);
    CHECK_STR(buf_str(&t.texts), "12");
    buf_fini(&t.texts);
    fake_fini(&f);
}

TEST(a_secret_that_is_missing_or_denied_is_told_when_all_have_answered)
{
    static const struct {
        int status, r;
        const char *why;
    } cases[] = { { 404, -ENOENT, "there is no Secret 'one'" },
                  { 403, E_DENIED, "this process may not read the Secret 'one'" },
                  { 500, -EIO, "Secret 'one'" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fake f;
        struct reported t = { 0 };
        struct pull_secrets *p;
        fake_init(&f);
        CHECK_OK(pull_secrets_read(&f.base, "ns", "one two", on_reported, &t, &p, NULL));
        answer(&f, 0, cases[i].status, "MQ==");
        CHECK(t.n == 0);
        answer(&f, 1, 200, "MQ==");
        CHECK(t.n == 1 && t.r == cases[i].r);
        CHECK(strstr(err_text(&t.err), cases[i].why));
        fake_fini(&f);
    }
}

TEST(cancelled_nothing_is_told)
{
    struct fake f;
    struct reported t = { 0 };
    struct pull_secrets *p;
    fake_init(&f);
    CHECK_OK(pull_secrets_read(&f.base, "ns", "one", on_reported, &t, &p, NULL));
    pull_secrets_cancel(p);
    pull_secrets_cancel(NULL);
    CHECK(f.call[0].cancelled);
    fake_settle(&f);
    CHECK(t.n == 0);
    fake_fini(&f);
}

TEST(without_a_cluster_there_are_none)
{
    struct pull_secrets *p;
    CHECK_ERR(pull_secrets_read(NULL, "ns", "one", on_reported, NULL, &p, NULL), E_UNSUPPORTED);
}

/* ---- those of an Operator ---- */

#define SECRET "{\"name\":\"a\"}"

static int read_operator(const char *secrets, struct arena *a, struct operator_spec *ret,
                         struct err *err)
{
    struct json *object;
    struct object_spec_opts opts = { 0 };
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"ring\",\"uid\":\"1\"},\"spec\":{"
                  "\"module\":{"
                  "\"url\":\"oci://registry.example/team/ring:v1\",\"sha256\":\"%064d\"},"
                  "\"imagePullSecrets\":%s}}",
                  0, secrets);
    CHECK_OK(json_parse(a, str_copy_arena(a, str_of(text)), NULL, &object, NULL));
    return object_spec_read(a, object, &opts, ret, err);
}

TEST(an_operator_names_secrets_of_its_namespace)
{
    struct arena a = { 0 };
    struct operator_spec spec;
    CHECK_OK(read_operator("[{\"name\":\"one\"},{\"name\":\"two.b\"}]", &a, &spec, NULL));
    CHECK_STR(str_of(spec.origin.pull_secrets), "one two.b");
    CHECK_STR(str_of(spec.origin.namespace), "ns");
    CHECK(!spec.origin.uses_login);
    CHECK_OK(read_operator("[]", &a, &spec, NULL));
    CHECK(!spec.origin.pull_secrets);
    arena_fini(&a);
}

/* Names become paths of the API. */
TEST(an_operator_names_nothing_but_secrets)
{
    static const char *const wrong[] = {
        "[{\"name\":\"../configmaps/a\"}]",
        "[{\"name\":\"a?watch=true\"}]",
        "[{\"name\":\"a b\"}]",
        "[{\"name\":\"\"}]",
        "[{}]",
        "[" SECRET "," SECRET "," SECRET "," SECRET "," SECRET "," SECRET "," SECRET "," SECRET
        "," SECRET "]",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct arena a = { 0 };
        struct operator_spec spec;
        struct err err = { 0 };
        CHECK_ERR(read_operator(wrong[i], &a, &spec, &err), E_INVALID);
        CHECK(strstr(err_text(&err), "spec.imagePullSecrets"));
        arena_fini(&a);
    }
}

TEST_MAIN
