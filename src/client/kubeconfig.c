/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfig files and service accounts; see kubeconfig.h. */
#include "client/kubeconfig.h"

#include "base/buf.h"
#include "base/sys.h"
#include "codec/base64.h"
#include "codec/yaml.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

struct kubeconfig_reading {
    const char *path;
    struct arena arena;
    struct yaml_marks marks;
    struct json *root;
};

void kubeconfig_free(struct kubeconfig *c)
{
    if (!c)
        return;
    char *owned[] = { c->server,    c->ca_pem,          c->client_cert_pem, c->client_key_pem,
                      c->token,     c->token_file,      c->username,        c->password,
                      c->namespace, c->tls_server_name, c->impersonate_user };
    for (size_t i = 0; i < ARRAY_LEN(owned); i++)
        free(owned[i]);
    free(c);
}

/* NULL for an absent or empty string. */
static char *take_string(const struct json *obj, const char *key)
{
    struct str s = json_get_str(obj, key);
    return s.n ? str_dup(s) : NULL;
}

/* A file name of the config, relative to the directory of the config. */
static char *resolve(const char *config, struct str name)
{
    const char *slash = strrchr(config, '/');
    if (name.p[0] == '/' || !slash)
        return str_dup(name);
    return xasprintf("%.*s/" STR_FMT, (int)(slash - config), config, STR_ARG(name));
}

/* `key`-data as base64, or `key` as a file name; *ret NULL when there is neither. */
static int take_pem(struct kubeconfig_reading *in, const struct json *obj, const char *key,
                    char **ret, struct err *err)
{
    scoped(free_scoped) char *data_key = xasprintf("%s-data", key);
    struct json *data = json_getc(obj, data_key);
    struct str name = json_get_str(obj, key);
    struct buf b = BUF_INIT(KUBECONFIG_MAX_BYTES);
    size_t n;
    int r = 0;
    if (data && json_str(data).n) {
        if (base64_decode(&b, json_str(data), BASE64_LENIENT) < 0)
            r = yaml_err(err, E_PARSE, &in->marks, data, "'%s' is not base64", data_key);
    } else if (name.n) {
        scoped(free_scoped) char *path = resolve(in->path, name);
        r = sys_read_file(AT_FDCWD, path, &b, err);
        if (r < 0)
            r = err_ctx(err, r, "'%s'", key);
    } else {
        return 0;
    }
    if (r < 0)
        buf_fini(&b);
    else
        *ret = buf_take(&b, &n);
    return r;
}

/* Finds an entry of a named list (clusters, users, contexts) by name; returns its inner object. */
static int find_named(struct kubeconfig_reading *in, const char *list, const char *inner,
                      struct str name, struct json **ret, struct err *err)
{
    json_each (item, json_getc(in->root, list)) {
        if (!str_eq(json_get_str(item, "name"), name))
            continue;
        *ret = json_getc(item, inner);
        if (json_is(*ret, JSON_OBJECT))
            return 0;
        return yaml_err(err, E_INVALID, &in->marks, item, "'" STR_FMT "' in '%s' has no '%s'",
                        STR_ARG(name), list, inner);
    }
    return err_set(err, E_INVALID, "there is no '" STR_FMT "' in '%s'", STR_ARG(name), list);
}

/* Keys that change the destination or the credentials of requests must not be ignored silently. */
static int refuse_keys(struct kubeconfig_reading *in, const struct json *obj,
                       const char *const *keys, struct err *err)
{
    for (size_t i = 0; keys[i]; i++) {
        struct json *v = json_getc(obj, keys[i]);
        if (v && v->type != JSON_NULL)
            return yaml_err(err, E_UNSUPPORTED, &in->marks, v, "'%s' is not supported", keys[i]);
    }
    return 0;
}

static int read_user(struct kubeconfig_reading *in, const struct json *user, struct kubeconfig *c,
                     struct err *err)
{
    static const char *const plugins[] = { "exec", "auth-provider" };
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        struct json *plugin = json_getc(user, plugins[i]);
        if (plugin)
            return yaml_err(err, E_UNSUPPORTED, &in->marks, plugin,
                            "credential plug-ins ('%s') are not run; use a token, a token file or "
                            "a client certificate",
                            plugins[i]);
    }
    static const char *const others[] = { "as-groups", "as-uid", "as-user-extra", NULL };
    int r = refuse_keys(in, user, others, err);
    if (r >= 0)
        r = take_pem(in, user, "client-certificate", &c->client_cert_pem, err);
    if (r >= 0)
        r = take_pem(in, user, "client-key", &c->client_key_pem, err);
    if (r < 0)
        return r;
    struct str file = json_get_str(user, "tokenFile");
    c->token = take_string(user, "token");
    if (file.n)
        c->token_file = resolve(in->path, file);
    c->username = take_string(user, "username");
    c->password = take_string(user, "password");
    c->impersonate_user = take_string(user, "as");
    if (!c->client_cert_pem != !c->client_key_pem)
        return yaml_err(err, E_INVALID, &in->marks, user,
                        "client-certificate and client-key belong together");
    return 0;
}

static int read_cluster(struct kubeconfig_reading *in, const struct json *cluster,
                        struct kubeconfig *c, struct err *err)
{
    static const char *const others[] = { "proxy-url", NULL };
    int r = refuse_keys(in, cluster, others, err);
    if (r < 0)
        return r;
    c->server = take_string(cluster, "server");
    c->tls_server_name = take_string(cluster, "tls-server-name");
    c->insecure = json_bool(json_getc(cluster, "insecure-skip-tls-verify"));
    if (!c->server)
        return yaml_err(err, E_INVALID, &in->marks, cluster, "the cluster has no 'server'");
    return take_pem(in, cluster, "certificate-authority", &c->ca_pem, err);
}

static int read_config(struct kubeconfig_reading *in, const char *context, struct kubeconfig *c,
                       struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(KUBECONFIG_MAX_BYTES);
    struct yaml_opts opts = { .marks = &in->marks };
    struct json *ctx, *cluster, *user;
    int r = sys_read_file(AT_FDCWD, in->path, &text, err);
    if (r >= 0)
        r = yaml_parse(&in->arena, buf_str(&text), &opts, &in->root, err);
    if (r < 0)
        return r;
    struct str name = context ? str_of(context) : json_get_str(in->root, "current-context");
    if (name.n == 0)
        return err_set(err, E_INVALID, "no current-context, and none was named");
    r = find_named(in, "contexts", "context", name, &ctx, err);
    if (r >= 0)
        r = find_named(in, "clusters", "cluster", json_get_str(ctx, "cluster"), &cluster, err);
    if (r >= 0)
        r = read_cluster(in, cluster, c, err);
    if (r < 0)
        return r;
    c->namespace = take_string(ctx, "namespace");
    if (json_get_str(ctx, "user").n == 0)
        return 0;
    r = find_named(in, "users", "user", json_get_str(ctx, "user"), &user, err);
    return r < 0 ? r : read_user(in, user, c, err);
}

static int load_file(const char *path, const char *context, struct kubeconfig **ret,
                     struct err *err)
{
    struct kubeconfig_reading in = { .path = path };
    scoped(kubeconfig_free_scoped) struct kubeconfig *c = xnew(struct kubeconfig);
    int r = read_config(&in, context, c, err);
    yaml_marks_fini(&in.marks);
    arena_fini(&in.arena);
    if (r < 0)
        return err_ctx(err, r, "kubeconfig '%s'", path);
    *ret = take_ptr(&c);
    return 0;
}

/* The service account that Kubernetes mounts into every pod. */
static int load_service_account(struct kubeconfig **ret, struct err *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    scoped(kubeconfig_free_scoped) struct kubeconfig *c = xnew(struct kubeconfig);
    struct buf ca = BUF_INIT(KUBECONFIG_MAX_BYTES), ns = BUF_INIT(4096);
    size_t n;
    c->server = xasprintf(strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
                          port ? port : "443");
    const char *other = getenv("DORMOUSE_SERVICE_ACCOUNT"), *dir = other ? other : SERVICE_ACCOUNT;
    scoped(free_scoped) char *ca_file = xasprintf("%s/ca.crt", dir);
    scoped(free_scoped) char *ns_file = xasprintf("%s/namespace", dir);
    c->token_file = xasprintf("%s/token", dir);
    int r = sys_read_file(AT_FDCWD, ca_file, &ca, err);
    if (r >= 0)
        r = sys_read_file(AT_FDCWD, ns_file, &ns, err);
    c->ca_pem = buf_take(&ca, &n);
    c->namespace = buf_take(&ns, &n);
    if (r < 0)
        return err_ctx(err, r, "the pod's service account");
    *ret = take_ptr(&c);
    return 0;
}

/* The first file of a ':' list that exists; NULL if none does. */
static char *first_existing(const char *list)
{
    struct str rest = str_of(list), one;
    while (rest.n) {
        (void)str_cut(rest, ':', &one, &rest);
        scoped(free_scoped) char *path = str_dup(one);
        if (one.n && access(path, R_OK) == 0)
            return take_ptr(&path);
    }
    return NULL;
}

int kubeconfig_load(const char *path, const char *context, struct kubeconfig **ret, struct err *err)
{
    const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
    if (path)
        return load_file(path, context, ret, err);
    scoped(free_scoped) char *found = list && list[0] ? first_existing(list) : NULL;
    if (list && list[0] && !found)
        return err_set(err, -ENOENT, "none of the files in KUBECONFIG ('%s') can be read", list);
    if (!found && home) {
        scoped(free_scoped) char *usual = xasprintf("%s/.kube/config", home);
        if (access(usual, R_OK) == 0)
            found = take_ptr(&usual);
    }
    if (found)
        return load_file(found, context, ret, err);
    if (getenv("KUBERNETES_SERVICE_HOST"))
        return load_service_account(ret, err);
    return err_set(
        err, -ENOENT,
        "no cluster: there is no --kubeconfig, KUBECONFIG is not set, ~/.kube/config does not "
        "exist, and this is not a pod");
}

/* A line "    KEY: VALUE", unless the value is NULL. A JSON string is valid YAML. */
static void put_text(struct buf *to, const char *key, const char *value)
{
    if (!value)
        return;
    (void)buf_printf(to, "    %s: ", key);
    (void)json_write_str(to, str_of(value));
    (void)buf_add_char(to, '\n');
}

static void put_pem(struct buf *to, const char *key, const char *pem)
{
    if (!pem)
        return;
    (void)buf_printf(to, "    %s: ", key);
    (void)base64_encode(to, str_of(pem), BASE64_STD);
    (void)buf_add_char(to, '\n');
}

int kubeconfig_write(const struct kubeconfig *c, struct str user, struct buf *to)
{
    assert(!c->insecure && !c->token_file && !c->username && !c->impersonate_user);
    (void)buf_printf(to,
                     "apiVersion: v1\n"
                     "kind: Config\n"
                     "clusters:\n"
                     "- name: dormouse\n"
                     "  cluster:\n"
                     "    server: %s\n",
                     c->server);
    put_pem(to, "certificate-authority-data", c->ca_pem);
    put_text(to, "tls-server-name", c->tls_server_name);
    (void)buf_add_cstr(to, "users:\n- name: ");
    (void)json_write_str(to, user);
    (void)buf_add_cstr(to, "\n  user:\n");
    put_text(to, "token", c->token); /* digits alone would be a number in YAML */
    put_pem(to, "client-certificate-data", c->client_cert_pem);
    put_pem(to, "client-key-data", c->client_key_pem);
    (void)buf_add_cstr(to, "contexts:\n"
                           "- name: dormouse\n"
                           "  context:\n"
                           "    cluster: dormouse\n"
                           "    user: ");
    (void)json_write_str(to, user);
    (void)buf_add_cstr(to, "\ncurrent-context: dormouse\n");
    return buf_ok(to) ? 0 : -EMSGSIZE;
}
