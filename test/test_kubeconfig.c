/* SPDX-License-Identifier: Apache-2.0 */
/* kube/kubeconfig: contexts, files and data, what is missing or refused. */
#include "client/kubeconfig.h"

#include "base/buf.h"
#include "base/sys.h"
#include "client/http_transport.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>

static char dir[64];

static void make_dir(void)
{
    (void)snprintf(dir, sizeof dir, "/tmp/dm-test-kubeconfig-XXXXXX");
    CHECK(mkdtemp(dir));
    (void)unsetenv("KUBECONFIG");
    (void)unsetenv("KUBERNETES_SERVICE_HOST");
    CHECK_INT(setenv("HOME", dir, 1), 0);
}

static void remove_dir(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    CHECK_INT(system(command), 0);
}

/* Returns its path, valid until the next call. */
static const char *write_file(const char *name, const char *text)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, str_of(text), 0600, NULL));
    return path;
}

static struct kubeconfig *load(const char *text, const char *context)
{
    struct kubeconfig *c;
    struct err err = { 0 };
    if (kubeconfig_load(write_file("config", text), context, &c, &err) < 0)
        TEST_FAIL("%s", err.text);
    return c;
}

static void check_refused(const char *text, const char *context, int code, const char *why)
{
    struct kubeconfig *c = NULL;
    struct err err = { 0 };
    CHECK_ERR(kubeconfig_load(write_file("config", text), context, &c, &err), code);
    CHECK(c == NULL);
    if (!strstr(err.text, why) || !strstr(err.text, "/config'"))
        TEST_FAIL("'%s' does not contain '%s' and the file", err.text, why);
}

#define CLUSTERS                                                                                   \
    "clusters:\n- name: one\n  cluster: {server: 'https://one:6443'}\n- name: two\n  cluster: "    \
    "{server: 'https://two:6443', "                                                                \
    "insecure-skip-tls-verify: true, tls-server-name: x}\n"
#define CONTEXTS                                                                                   \
    "contexts:\n- name: a\n  context: {cluster: one, user: u}\n- name: b\n  context: {cluster: "   \
    "two, user: v, namespace: space}\n"
#define USERS                                                                                      \
    "users:\n- name: u\n  user: {token: secret}\n- name: v\n  user: {username: me, password: "     \
    "pass, as: other}\n"

TEST(the_current_context_or_the_one_that_was_named)
{
    make_dir();
    struct kubeconfig *c = load("current-context: a\n" CLUSTERS CONTEXTS USERS, NULL);
    CHECK_STR(str_of(c->server), "https://one:6443");
    CHECK_STR(str_of(c->token), "secret");
    CHECK(!c->insecure && !c->namespace && !c->username && !c->ca_pem && !c->client_cert_pem);
    kubeconfig_free(c);
    c = load("current-context: a\n" CLUSTERS CONTEXTS USERS, "b");
    CHECK_STR(str_of(c->server), "https://two:6443");
    CHECK_STR(str_of(c->namespace), "space");
    CHECK_STR(str_of(c->username), "me");
    CHECK_STR(str_of(c->password), "pass");
    CHECK_STR(str_of(c->impersonate_user), "other");
    CHECK_STR(str_of(c->tls_server_name), "x");
    CHECK(c->insecure && !c->token);
    kubeconfig_free(c);
    remove_dir();
}

TEST(json_is_a_kubeconfig_too_and_a_context_needs_no_user)
{
    make_dir();
    struct kubeconfig *c =
        load("{\"current-context\":\"a\",\"clusters\":[{\"name\":\"one\",\"cluster\":{\"server\":"
             "\"http://h\"}}],"
             "\"contexts\":[{\"name\":\"a\",\"context\":{\"cluster\":\"one\"}}]}",
             NULL);
    CHECK_STR(str_of(c->server), "http://h");
    CHECK(!c->token);
    kubeconfig_free(c);
    remove_dir();
}

TEST(certificates_are_data_or_files_beside_the_config)
{
    make_dir();
    (void)write_file("ca.crt", "CA FILE");
    (void)write_file("key.pem", "KEY FILE");
    scoped(free_scoped) char *text =
        xasprintf("current-context: a\ncontexts:\n- {name: a, context: {cluster: c, user: u}}\n"
                  "clusters:\n- name: c\n  cluster: {server: 's', certificate-authority: ca.crt}\n"
                  "users:\n- name: u\n  user: {client-certificate-data: \"Q0VS\\nVA==\", "
                  "client-certificate: missing.crt, "
                  "client-key: %s/key.pem, tokenFile: token}\n",
                  dir);
    struct kubeconfig *c = load(text, NULL);
    CHECK_STR(str_of(c->ca_pem), "CA FILE");
    CHECK_STR(str_of(c->client_cert_pem), "CERT"); /* data goes before files */
    CHECK_STR(str_of(c->client_key_pem), "KEY FILE");
    CHECK(str_has_prefix(str_of(c->token_file), str_of(dir)) &&
          str_has_suffix(str_of(c->token_file), STR("/token")));
    kubeconfig_free(c);
    remove_dir();
}

TEST(a_written_kubeconfig_reads_back_equal)
{
    make_dir();
    /* server, CA, name in TLS, token, certificate, key; YAML reads a number or a comment in some of
     * them unless they are quoted */
    static const char *const rows[][6] = {
        { "https://[::1]:6443", "CA", NULL, "123456.0123456789123456", NULL, NULL },
        { "http://h", NULL, NULL, "#\"t", "CERT", "KEY" },
        { "https://h", NULL, "1.5", "1e5", NULL, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096), small = BUF_INIT(200);
        char *const *row = (char *const *)rows[i];
        const struct kubeconfig in = { .server = row[0],
                                       .ca_pem = row[1],
                                       .tls_server_name = row[2],
                                       .token = row[3],
                                       .client_cert_pem = row[4],
                                       .client_key_pem = row[5] };
        CHECK_OK(kubeconfig_write(&in, STR("system:node:\"n\""), &text));
        CHECK_ERR(kubeconfig_write(&in, STR("u"), &small), -EMSGSIZE);
        struct kubeconfig *c = load(buf_cstr(&text), NULL);
        const char *const got[] = { c->server, c->ca_pem,          c->tls_server_name,
                                    c->token,  c->client_cert_pem, c->client_key_pem };
        for (size_t k = 0; k < ARRAY_LEN(got); k++)
            CHECK(!got[k] == !row[k] && str_eq(str_of(got[k]), str_of(row[k])));
        CHECK(!c->insecure && !c->username && !c->token_file && !c->namespace);
        kubeconfig_free(c);
    }
    remove_dir();
}

TEST(what_is_missing_is_named)
{
    make_dir();
    check_refused("clusters: []\n", NULL, E_INVALID, "no current-context");
    check_refused("", NULL, E_INVALID, "no current-context");
    check_refused("current-context: z\n" CLUSTERS CONTEXTS USERS, NULL, E_INVALID,
                  "there is no 'z' in 'contexts'");
    check_refused("current-context: a\n" CLUSTERS CONTEXTS USERS, "y", E_INVALID,
                  "there is no 'y' in 'contexts'");
    check_refused("current-context: a\n" CONTEXTS USERS, NULL, E_INVALID,
                  "there is no 'one' in 'clusters'");
    check_refused("current-context: a\n" CLUSTERS CONTEXTS, NULL, E_INVALID,
                  "there is no 'u' in 'users'");
    check_refused("current-context: a\ncontexts:\n- name: a\n", NULL, E_INVALID,
                  "line 3, column 3: 'a' in 'contexts' has no 'context'");
    check_refused("current-context: a\n" CONTEXTS "clusters:\n- name: one\n  cluster: {}\n", NULL,
                  E_INVALID, "the cluster has no 'server'");
    check_refused("current-context: a\n" CLUSTERS CONTEXTS
                  "users:\n- name: u\n  user: {client-certificate-data: QQ==}\n",
                  NULL, E_INVALID, "belong together");
    check_refused(
        "current-context: a\n" CONTEXTS
        "clusters:\n- name: one\n  cluster: {server: s, certificate-authority: gone.crt}\n",
        NULL, -ENOENT, "gone.crt");
    remove_dir();
}

TEST(what_does_not_parse_is_named_with_its_line)
{
    make_dir();
    check_refused("current-context: [a\n", NULL, E_PARSE, "line 2");
    check_refused("current-context: a\n" CONTEXTS "clusters:\n- name: one\n  cluster:\n    server: "
                  "s\n    certificate-authority-data: '***'\n",
                  NULL, E_PARSE, "line 11, column 5: 'certificate-authority-data' is not base64");
    remove_dir();
}

TEST(what_we_cannot_do_is_refused_and_not_left_out)
{
    make_dir();
#define USER(text) "current-context: a\n" CLUSTERS CONTEXTS "users:\n- name: u\n  user: " text "\n"
    check_refused(USER("{exec: {command: aws}}"), NULL, E_UNSUPPORTED,
                  "credential plug-ins ('exec') are not run");
    check_refused(USER("{auth-provider: {name: gcp}}"), NULL, E_UNSUPPORTED,
                  "credential plug-ins ('auth-provider')");
    check_refused(USER("{token: t, as-groups: [admins]}"), NULL, E_UNSUPPORTED,
                  "'as-groups' is not supported");
    check_refused("current-context: a\n" CONTEXTS USERS
                  "clusters:\n- name: one\n  cluster: {server: s, proxy-url: 'http://p'}\n",
                  NULL, E_UNSUPPORTED, "'proxy-url' is not supported");
    remove_dir();
}

TEST(a_server_with_a_password_is_refused_without_showing_it)
{
    static const char *const bad[] = { "u:secret@h", "https://u:secret@h", "https://u:1/secret@h",
                                       "ftp://u:secret@h:1" };
    struct loop loop;
    CHECK_OK(loop_init(&loop, NULL));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = { 0 };
        struct http_transport *t;
        const struct kubeconfig c = { .server = (char *)bad[i] };
        CHECK_INT(http_transport_new(&loop, &c, &t, &err), E_INVALID);
        CHECK(strstr(err_text(&err), "'h") && !strstr(err_text(&err), "secret"));
    }
    loop_fini(&loop);
}

TEST(the_environment_names_files_of_which_the_first_that_is_there_counts)
{
    make_dir();
    struct kubeconfig *c = NULL;
    struct err err = { 0 };
    scoped(free_scoped) char *list = xasprintf("%s/none::%s/second:%s/third", dir, dir, dir);
    CHECK_INT(setenv("KUBECONFIG", list, 1), 0);
    CHECK_ERR(kubeconfig_load(NULL, NULL, &c, &err), -ENOENT);
    CHECK(strstr(err.text, "none of the files in KUBECONFIG"));
    (void)write_file("third", "current-context: b\n" CLUSTERS CONTEXTS USERS);
    CHECK_OK(kubeconfig_load(NULL, NULL, &c, &err));
    CHECK_STR(str_of(c->server), "https://two:6443");
    kubeconfig_free(c);
    (void)write_file("second", "current-context: a\n" CLUSTERS CONTEXTS USERS);
    CHECK_OK(kubeconfig_load(NULL, NULL, &c, &err));
    CHECK_STR(str_of(c->server), "https://one:6443");
    kubeconfig_free(c);
    CHECK_OK(kubeconfig_load(write_file("named", "current-context: b\n" CLUSTERS CONTEXTS USERS),
                             NULL, &c, &err));
    CHECK_STR(str_of(c->server), "https://two:6443"); /* a path goes before the environment */
    kubeconfig_free(c);
    remove_dir();
}

TEST(without_anything_the_home_directory_then_an_error_that_says_where_was_looked)
{
    make_dir();
    struct kubeconfig *c = NULL;
    struct err err = { 0 };
    CHECK_ERR(kubeconfig_load(NULL, NULL, &c, &err), -ENOENT);
    CHECK(strstr(err.text, "--kubeconfig") && strstr(err.text, "KUBECONFIG") &&
          strstr(err.text, "~/.kube/config"));
    scoped(free_scoped) char *kube = xasprintf("%s/.kube", dir);
    CHECK_OK(sys_mkdir_all(kube, 0700, NULL));
    (void)write_file(".kube/config", "current-context: a\n" CLUSTERS CONTEXTS USERS);
    CHECK_OK(kubeconfig_load(NULL, NULL, &c, &err));
    CHECK_STR(str_of(c->server), "https://one:6443");
    kubeconfig_free(c);
    CHECK_ERR(kubeconfig_load("/nonexistent/config", NULL, &c, &err), -ENOENT);
    CHECK(strstr(err.text, "'/nonexistent/config'"));
    remove_dir();
}

TEST_MAIN
