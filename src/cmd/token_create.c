/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse token create: a bootstrap token, with which nodes join, and the rights for that. */
#include "cmd/token.h"

#include "api/bootstrap_token.h"
#include "base/clock.h"
#include "base/sys.h"
#include "codec/base64.h"
#include "codec/digest.h"
#include "codec/yaml.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_GROUP "system:bootstrappers:dormouse:nodes"
#define RBAC          "rbac.authorization.k8s.io"

enum {
    TOKEN_CHARS = BOOTSTRAP_TOKEN_ID_CHARS + 1 + BOOTSTRAP_TOKEN_SECRET_CHARS,
    DESCRIPTION_MAX_BYTES = 1024,
    TTL_MAX_H = 87600,
    TEXT_MAX_BYTES = 2 * KUBECONFIG_MAX_BYTES /* base64 of what a kubeconfig may refer to */
};

static struct token_args args;
static const char *description, *server;
static struct cmd_list groups;
_Static_assert(ARRAY_LEN(groups.at) <= BOOTSTRAP_TOKEN_GROUPS_MAX, "the server takes all of them");
static uint64_t ttl_ms = UINT64_C(24) * 3600 * 1000;
static bool prints_kubeconfig, prints_command;

static const struct cmd_opt create_opts[] = {
    KUBE_CLIENT_OPTS(args),
    { "ttl", 0, "TIME", "how long the token is valid (24h); 0: it does not expire", CMD_DURATION,
      &ttl_ms, 0, 0 },
    { "group", 0, "NAME", "a group that the token's user is in; repeatable (" DEFAULT_GROUP ")",
      CMD_LIST, &groups, 0, 0 },
    { "description", 0, "TEXT", "what the token is for", CMD_STRING, &description, 0, 0 },
    { "print-kubeconfig", 0, NULL, "print a bootstrap kubeconfig, not only the token", CMD_FLAG,
      &prints_kubeconfig, 0, 0 },
    { "print-join-command", 0, NULL, "print the command for a machine that joins", CMD_FLAG,
      &prints_command, 0, 0 },
    { "server", 0, "URL", "address of the API in these two (the one of the cluster's kubeconfig)",
      CMD_STRING, &server, 0, 0 },
    TOKEN_OUTPUT_OPT(args),
    { .name = NULL },
};

static const struct cmd_opt *token_create_opts(void)
{
    return create_opts;
}

/* Each character is equally probable: the bytes beyond a multiple of the alphabet are dropped. */
static void make_token(char to[TOKEN_CHARS + 1])
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    const unsigned letters = sizeof alphabet - 1;
    uint8_t byte;
    for (size_t i = 0; i < TOKEN_CHARS;) {
        sys_random(&byte, 1);
        if (byte < 256 - 256 % letters)
            to[i++] = alphabet[byte % letters];
    }
    to[BOOTSTRAP_TOKEN_ID_CHARS] = '.';
    to[TOKEN_CHARS] = '\0';
}

/* Messages do not quote the token. A cmd_exit, or 0. */
static int check_words(size_t n, char **argv)
{
    struct str id, secret;
    if (n > 1)
        return cmd_failf(CMD_USAGE, "'dormouse token create' takes one token");
    if (n == 1 && !bootstrap_token_split(str_of(argv[0]), &id, &secret))
        return cmd_failf(CMD_USAGE, "the token does not have the form ID.SECRET, "
                                    "[a-z0-9]{6}.[a-z0-9]{16}");
    if (ttl_ms && (ttl_ms < 1000 || ttl_ms > TTL_MAX_H * UINT64_C(3600000)))
        return cmd_failf(CMD_USAGE, "--ttl is 0 or from 1s to %dh", TTL_MAX_H);
    for (size_t i = 0; i < groups.n; i++)
        if (!bootstrap_token_is_group(str_of(groups.at[i])))
            return cmd_failf(CMD_USAGE,
                             "--group: '%s' does not have the form "
                             "system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]",
                             groups.at[i]);
    if (description && strlen(description) > DESCRIPTION_MAX_BYTES)
        return cmd_failf(CMD_USAGE, "--description is longer than %d bytes", DESCRIPTION_MAX_BYTES);
    if (prints_kubeconfig && prints_command)
        return cmd_failf(CMD_USAGE,
                         "--print-kubeconfig and --print-join-command exclude each other");
    if (server && !prints_kubeconfig && !prints_command)
        return cmd_failf(CMD_USAGE, "--server is for --print-kubeconfig and --print-join-command");
    if (server && ((!str_has_prefix(str_of(server), STR("https://")) &&
                    !str_has_prefix(str_of(server), STR("http://"))) ||
                   strpbrk(server, " \t\r\n#\"'")))
        return cmd_failf(CMD_USAGE, "--server: '%s' is not the URL of an API", server);
    return 0;
}

/* The kubeconfig in use, as the source of another one. A cmd_exit, or 0. */
static int load_config(struct kubeconfig **ret)
{
    struct err err = { 0 };
    if (kube_client_config(args.kubeconfig, args.context, args.data_dir, ret, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    if ((*ret)->insecure)
        return cmd_failf(CMD_FAILED, "the cluster's kubeconfig does not verify the server, and has "
                                     "no authority for a node to do so");
    return 0;
}

/* ---------------------------------------------------------------- rights to join */

static struct json *binding_json(struct arena *a, const char *name, const char *role,
                                 const char *group)
{
    struct json *v = json_new_object(a), *subjects = json_new_array(a),
                *subject = json_new_object(a);
    json_set_str(a, v, "apiVersion", STR(RBAC "/v1"));
    json_set_str(a, v, "kind", STR("ClusterRoleBinding"));
    json_set_str(a, json_obj(a, v, "metadata"), "name", str_of(name));
    json_set_str(a, json_obj(a, v, "roleRef"), "apiGroup", STR(RBAC));
    json_set_str(a, json_obj(a, v, "roleRef"), "kind", STR("ClusterRole"));
    json_set_str(a, json_obj(a, v, "roleRef"), "name", str_of(role));
    json_set_str(a, subject, "apiGroup", STR(RBAC));
    json_set_str(a, subject, "kind", STR("Group"));
    json_set_str(a, subject, "name", str_of(group));
    json_add(subjects, subject);
    json_setc(a, v, "subjects", subjects);
    return v;
}

static int post(struct kube_client *c, struct arena *a, const char *target,
                const struct json *object, struct kube_answer *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(BUF_MAX_DEFAULT);
    if (json_write(&body, object) < 0)
        return err_set(err, -EMSGSIZE, "the object is too large");
    return kube_client_ask(c, a, "POST", target, "application/json", buf_str(&body), ret, err);
}

static bool has_default_group(void)
{
    bool has = groups.n == 0;
    for (size_t i = 0; i < groups.n; i++)
        has = has || strcmp(groups.at[i], DEFAULT_GROUP) == 0;
    return has;
}

/* A binding that exists stays as it is: the administrator may have removed its subjects. */
static int make_bindings(struct kube_client *c, struct arena *a, struct err *err)
{
#define CSR_ROLE "system:certificates.k8s.io:certificatesigningrequests:"
    static const struct {
        const char *name, *role, *group;
    } bindings[] = {
        { "dormouse:node-bootstrapper", "system:node-bootstrapper", DEFAULT_GROUP },
        { "dormouse:node-autoapprove-bootstrap", CSR_ROLE "nodeclient", DEFAULT_GROUP },
        { "dormouse:node-autoapprove-certificate-rotation", CSR_ROLE "selfnodeclient",
          "system:nodes" },
    };
#undef CSR_ROLE
    for (size_t i = 0; i < ARRAY_LEN(bindings); i++) {
        struct kube_answer answer;
        int r = post(c, a, "/apis/" RBAC "/v1/clusterrolebindings",
                     binding_json(a, bindings[i].name, bindings[i].role, bindings[i].group),
                     &answer, err);
        if (r < 0 && r != E_CONFLICT)
            return err_ctx(err, r, "make sure that nodes may join");
        if (r >= 0)
            (void)fprintf(stderr, "clusterrolebinding %s: created\n", bindings[i].name);
    }
    return 0;
}

/*
 * Whoever can reach the server may read how to trust it: a machine that joins has no credentials
 * yet, and checks what it reads with its token. A node may get a serving certificate for its own
 * address without a person. Objects that exist stay as they are.
 */
static int make_rights(struct kube_client *c, struct arena *a, struct err *err)
{
#define INFO    "dormouse:cluster-info"
#define SERVING "dormouse:node-autoapprove-serving"
#define API     "/apis/" RBAC "/v1/"
#define PUBLIC  API "namespaces/kube-public/"
#define RULE(group, resource, more, verb)                                                          \
    "\"rules\":[{\"apiGroups\":[\"" group "\"],\"resources\":[\"" resource "\"]," more             \
    "\"verbs\":[\"" verb "\"]}]"
#define BINDING(role, name, kind, subject)                                                         \
    "\"roleRef\":{\"apiGroup\":\"" RBAC "\",\"kind\":\"" role "\",\"name\":\"" name                \
    "\"},\"subjects\":[{\"apiGroup\":\"" RBAC "\",\"kind\":\"" kind "\",\"name\":\"" subject       \
    "\"}]"
#define OBJECT(name, rest) "{\"metadata\":{\"name\":\"" name "\"}," rest "}"
    static const struct {
        const char *target, *object;
    } objects[] = {
        { PUBLIC "roles",
          OBJECT(INFO, RULE("", "configmaps", "\"resourceNames\":[\"cluster-info\"],", "get")) },
        { PUBLIC "rolebindings", OBJECT(INFO, BINDING("Role", INFO, "User", "system:anonymous")) },
        { API "clusterroles",
          OBJECT(SERVING, RULE("certificates.k8s.io", "certificatesigningrequests/selfnodeserver",
                               "", "create")) },
        { API "clusterrolebindings",
          OBJECT(SERVING, BINDING("ClusterRole", SERVING, "Group", "system:nodes")) },
    };
#undef OBJECT
#undef BINDING
#undef RULE
#undef PUBLIC
#undef API
#undef SERVING
#undef INFO
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct kube_answer answer;
        struct json *object;
        int r = json_parse(a, str_of(objects[i].object), NULL, &object, err);
        assert(r == 0);
        r = post(c, a, objects[i].target, object, &answer, err);
        if (r < 0 && r != E_CONFLICT)
            return err_ctx(err, r, "make sure that nodes may join");
    }
    return 0;
}

/* ---------------------------------------------------------------- the token */

static void put_value(struct arena *a, struct json *data, const char *key, struct str value)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)base64_encode(&text, value, BASE64_STD);
    json_set_str(a, data, key, buf_str(&text));
}

static struct json *secret_json(struct arena *a, const char *token)
{
    struct str id, word;
    bool is_token = bootstrap_token_split(str_of(token), &id, &word);
    assert(is_token);
    scoped(buf_fini_scoped) struct buf list = BUF_INIT(BUF_MAX_DEFAULT);
    char expires[RFC3339_MAX];
    struct json *v = json_new_object(a), *data = json_obj(a, v, "data");
    const char *name = arena_printf(a, BOOTSTRAP_TOKEN_PREFIX STR_FMT, STR_ARG(id));
    for (size_t i = 0; i < groups.n; i++)
        (void)buf_printf(&list, "%s%s", i ? "," : "", groups.at[i]);
    json_set_str(a, v, "apiVersion", STR("v1"));
    json_set_str(a, v, "kind", STR("Secret"));
    json_set_str(a, v, "type", STR(BOOTSTRAP_TOKEN_TYPE));
    json_set_str(a, json_obj(a, v, "metadata"), "name", str_of(name));
    put_value(a, data, "token-id", id);
    put_value(a, data, "token-secret", word);
    if (ttl_ms) {
        rfc3339_format((clock_wall_ms() + (int64_t)ttl_ms) / 1000, expires);
        put_value(a, data, "expiration", str_of(expires));
    }
    put_value(a, data, "usage-bootstrap-authentication", STR("true"));
    put_value(a, data, "usage-bootstrap-signing", STR("true"));
    put_value(a, data, "auth-extra-groups", groups.n ? buf_str(&list) : STR(DEFAULT_GROUP));
    if (description && *description)
        put_value(a, data, "description", str_of(description));
    return v;
}

static int create(struct kube_client *c, struct arena *a, const struct json *secret,
                  struct err *err)
{
    struct kube_answer answer;
    int r = has_default_group() ? make_bindings(c, a, err) : 0;
    if (r >= 0)
        r = make_rights(c, a, err);
    if (r < 0)
        return r;
    r = post(c, a, TOKEN_SECRETS, secret, &answer, err);
    if (r == E_CONFLICT)
        return err_set(err, r, "a token with the ID '" STR_FMT "' exists already",
                       STR_ARG(bootstrap_token_value(secret, "token-id", a)));
    return r;
}

static int add_join_command(const struct kubeconfig *of_cluster, const char *token, struct buf *to,
                            struct err *err)
{
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    if (!of_cluster->ca_pem || !x509_key_hash(str_of(of_cluster->ca_pem), hash))
        return err_set(err, E_INVALID, "the cluster's kubeconfig has no certificate authority");
    hex_format(hash, sizeof hash, hex);
    return buf_printf(to, "dormouse join %s --token %s --ca-hash sha256:%s\n",
                      server ? server : of_cluster->server, token, hex);
}

/* The token alone, or, with the kubeconfig of the cluster, one with which a kubelet requests its
 * certificate, or the command that joins. */
static int print(struct arena *a, const char *token, const struct json *secret,
                 const struct kubeconfig *of_cluster, bool as_json, struct err *err)
{
    scoped(buf_fini_scoped) struct buf plain = BUF_INIT(TEXT_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf json = BUF_INIT(TEXT_MAX_BYTES);
    struct json *v = NULL;
    int r = 0;
    if (prints_command) {
        r = add_join_command(of_cluster, token, &plain, err);
        if (r < 0)
            return r;
    } else if (of_cluster) {
        const struct kubeconfig config = { .server = server ? (char *)server : of_cluster->server,
                                           .ca_pem = of_cluster->ca_pem,
                                           .tls_server_name = of_cluster->tls_server_name,
                                           .token = (char *)token };
        (void)kubeconfig_write(&config, STR("tls-bootstrap-token-user"), &plain);
    } else {
        (void)buf_printf(&plain, "%s\n", token);
    }
    if (as_json) {
        r = prints_kubeconfig ? yaml_parse(a, buf_str(&plain), NULL, &v, err) : 0;
        if (r < 0)
            return r;
        (void)json_write_pretty(&json, prints_kubeconfig ? v : token_json(a, secret), 2);
        (void)buf_add_char(&json, '\n');
    }
    const struct buf *text = as_json ? &json : &plain;
    if (!buf_ok(text))
        return err_set(err, -EMSGSIZE, "the kubeconfig is too large");
    r = sys_write_all(STDOUT_FILENO, text->p, text->n);
    return r < 0 ? err_sys(err, r, "write the token") : 0;
}

static int run_create(int argc, char **argv)
{
    size_t n;
    bool as_json;
    char made[TOKEN_CHARS + 1];
    struct err err = { 0 };
    struct arena a = { 0 };
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    int r = cmd_parse(&cmd_token_create, create_opts, argc, argv, (size_t)argc, &n);
    if (r)
        return r - 1;
    if ((r = check_words(n, argv)) != 0 || (r = token_wants_json(&args, &as_json)) != 0 ||
        ((prints_kubeconfig || prints_command) && (r = load_config(&config)) != 0) ||
        (r = token_open(&args, &c)) != 0)
        return r;
    make_token(made);
    const char *token = n ? argv[0] : made;
    const struct json *secret = secret_json(&a, token);
    int e = create(c, &a, secret, &err);
    if (e < 0)
        r = cmd_fail_request(e, &err);
    else if (print(&a, token, secret, config, as_json, &err) < 0)
        r = cmd_fail(CMD_FAILED, &err);
    arena_fini(&a);
    return r;
}

const struct cmd cmd_token_create = {
    .name = "token create",
    .args = "[TOKEN]",
    .doc = "make a bootstrap token, with which nodes join",
    .help =
        "Prints the token, ID.SECRET: random, or the given one. A node that shows it may request\n"
        "its certificate, and the server approves and signs that. The bindings that allow this to\n"
        "the default group, and the renewal to nodes, are created if they do not exist:\n"
        "dormouse:node-bootstrapper, dormouse:node-autoapprove-bootstrap and\n"
        "dormouse:node-autoapprove-certificate-rotation. Other groups need other bindings.\n"
        "\n"
        "With --print-join-command it prints the command that makes a machine a node; with\n"
        "--print-kubeconfig what a kubelet takes as --bootstrap-kubeconfig.\n"
        "\n"
        "  dormouse token create --ttl 2h --description 'nodes of hall 3'\n"
        "  dormouse token create --print-kubeconfig --server https://10.0.0.1:6443 > join.conf\n",
    .run = run_create,
    .opts = token_create_opts,
};
