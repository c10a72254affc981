/* SPDX-License-Identifier: Apache-2.0 */
/* The registry as an object: hosts, connections; and the requests that the API is made of. */
#include "oci/registry_int.h"

#include "base/sys.h"
#include "io/address.h"
#include "io/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

enum { HTTPS_PORT = 443 };

/* ---- hosts ---- */

/* "localhost" and its addresses: plain HTTP, as containerd has it. */
static bool is_loopback(const char *host)
{
    return address_is_loopback_text(host);
}

static int parse_host(struct oci_registry *reg, const char *host, bool plain, struct err *err)
{
    /* Docker Hub's API is not where its references say. */
    const char *name = strcmp(host, "docker.io") == 0 ? "registry-1.docker.io" : host;
    scoped(free_scoped) char *url = xasprintf("https://%s/", name);
    int r = fetch_url_parse(url, NULL, &reg->base, err);
    if (r < 0)
        return r;
    bool states_port = name[0] == '[' ? strstr(name, "]:") != NULL : strchr(name, ':') != NULL;
    bool is_local = is_loopback(reg->base.host) && reg->opts.ca_pem.n == 0 &&
                    !(states_port && reg->base.port == HTTPS_PORT);
    reg->base.tls = !plain && !is_local;
    if (!reg->base.tls && !states_port)
        reg->base.port = 80;
    return 0;
}

bool registry_same_origin(const struct fetch_url *a, const struct fetch_url *b)
{
    return a->tls == b->tls && a->port == b->port && str_ieq(str_of(a->host), str_of(b->host));
}

static bool is_public(const struct oci_registry *reg, const struct sockaddr *addr)
{
    return reg->opts.is_public ? reg->opts.is_public(addr) : address_is_public(addr);
}

/* One public address makes the registry public for good: a name may have addresses of both kinds,
 * and others the next time. */
static bool may_connect(void *arg, const struct sockaddr *addr)
{
    struct registry_origin *o = arg;
    const struct oci_registry_opts *opts = &o->reg->opts;
    bool is_base = o == &o->reg->origins[0];
    if (opts->may_connect && !opts->may_connect(opts->arg, addr))
        return false;
    if (is_base && is_public(o->reg, addr))
        o->reg->is_public = true;
    return opts->allows_private || !o->reg->is_public || is_public(o->reg, addr);
}

/* An address in numbers, in any form that getaddrinfo() takes for one ("2130706433", "127.1");
 * false: a name, which is for the proxy to find. */
static bool read_address(const char *host, struct sockaddr_storage *ret)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    char text[INET6_ADDRSTRLEN];
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(host, "%"), host); /* no zone */
    if (inet_aton(host, &v4.sin_addr)) {
        memcpy(ret, &v4, sizeof v4);
        return true;
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(ret, &v6, sizeof v6);
        return true;
    }
    return false;
}

/* may_connect() for a host that a proxy reaches. The registry's own check runs first. */
static int check_by_proxy(struct oci_registry *reg, const struct fetch_url *url, struct err *err)
{
    const struct oci_registry_opts *opts = &reg->opts;
    struct sockaddr_storage at = { 0 };
    const struct sockaddr *addr = (const struct sockaddr *)&at;
    bool is_address = read_address(url->host, &at);
    bool is_private = is_address && !is_public(reg, addr);
    bool is_denied = is_address && opts->may_connect && !opts->may_connect(opts->arg, addr);
    if (reg->n_origins == 0)
        reg->is_public = !is_private;
    if (!is_denied && (!is_private || !reg->is_public || opts->allows_private))
        return 0;
    return err_set(err, -EACCES, "'%s' is at no address that may be connected to",
                   REGISTRY_HOST(url));
}

static int new_client(struct oci_registry *reg, const struct fetch_url *url,
                      struct registry_origin *ret, struct err *err)
{
    const char *proxy = is_loopback(url->host) ? NULL : fetch_url_proxy(url);
    struct fetch_proxy via = { 0 };
    int r = proxy ? check_by_proxy(reg, url, err) : 0;
    if (r < 0)
        return r;
    r = proxy ? fetch_proxy_parse(proxy, &via, err) : 0;
    if (r < 0)
        return err_ctx(err, r, "proxy of the environment");
    struct http_client_opts opts = {
        .host = proxy && !url->tls ? via.host : url->host,
        .port = proxy && !url->tls ? via.port : url->port,
        .proxy_host = proxy && url->tls ? via.host : NULL,
        .proxy_port = via.port,
        .proxy_authorization = via.authorization,
        .tls = url->tls ? reg->tls : NULL,
        .may_connect = proxy ? NULL : may_connect,
        .may_connect_arg = ret,
    };
    r = http_client_new(reg->opts.loop, &opts, &ret->client, err);
    ret->by_proxy = proxy && !url->tls;
    if (r >= 0 && ret->by_proxy)
        ret->proxy_authorization = take_ptr(&via.authorization);
    fetch_proxy_fini(&via);
    return r;
}

int registry_origin_find(struct oci_registry *reg, const struct fetch_url *url,
                         struct registry_origin **ret, struct err *err)
{
    scoped(free_scoped) char *name =
        xasprintf("%s://%s:%u", url->tls ? "https" : "http", url->host, (unsigned)url->port);
    for (size_t i = 0; i < reg->n_origins; i++)
        if (strcmp(reg->origins[i].name, name) == 0) {
            *ret = &reg->origins[i];
            return 0;
        }
    if (reg->n_origins == OCI_REGISTRY_ORIGINS_MAX)
        return err_set(err, E_LIMIT, "the registry sends us to more than %d hosts",
                       OCI_REGISTRY_ORIGINS_MAX);
    struct registry_origin *o = &reg->origins[reg->n_origins];
    o->reg = reg;
    int r = new_client(reg, url, o, err);
    if (r < 0)
        return r;
    o->name = take_ptr(&name);
    reg->n_origins++;
    *ret = o;
    return 0;
}

/* ---- the object ---- */

int oci_registry_new(const struct oci_registry_opts *opts, struct oci_registry **ret,
                     struct err *err)
{
    struct oci_registry *reg = xnew(struct oci_registry);
    reg->opts = *opts;
    reg->opts.login = (struct oci_login){ 0 };
    reg->opts.host = xstrdup(opts->host);
    reg->opts.ca_pem = (struct str){ str_dup(opts->ca_pem), opts->ca_pem.n };
    oci_login_copy(&reg->opts.login, &opts->login);
    if (!reg->opts.attempts)
        reg->opts.attempts = OCI_REGISTRY_ATTEMPTS;
    if (!reg->opts.stall_ms)
        reg->opts.stall_ms = OCI_REGISTRY_STALL_MS;
    if (!reg->opts.backoff_ms)
        reg->opts.backoff_ms = OCI_REGISTRY_BACKOFF_MS;
    reg->rng.state = sys_random_u64();
    list_init(&reg->requests);
    int r = parse_host(reg, opts->host, opts->plain_http, err);
    r = r < 0 ? r : tls_ctx_new_client(opts->ca_pem, STR(""), STR(""), false, &reg->tls, err);
    if (r >= 0 && opts->ca_pem.n)
        tls_ctx_trust_system(reg->tls);
    if (r < 0) {
        registry_free(reg);
        return r;
    }
    *ret = reg;
    return 0;
}

void registry_free(struct oci_registry *reg)
{
    for (size_t i = 0; i < reg->n_origins; i++) {
        http_client_close(reg->origins[i].client);
        free(reg->origins[i].name);
        free(reg->origins[i].proxy_authorization);
    }
    registry_auth_fini(reg);
    fetch_url_fini(&reg->base);
    tls_ctx_free(reg->tls);
    oci_login_fini(&reg->opts.login);
    free((char *)reg->opts.host);
    free((char *)reg->opts.ca_pem.p);
    free(reg);
}

void oci_registry_close(struct oci_registry *reg)
{
    reg->closing = true;
    list_each (n, &reg->requests)
        oci_request_cancel(container_of(n, struct oci_request, node));
    if (list_is_empty(&reg->requests))
        registry_free(reg);
}

/* ---- the API ---- */

char *oci_registry_scope(const char *repository, bool pushes)
{
    return xasprintf("repository:%s:pull%s", repository, pushes ? ",push" : "");
}

int oci_registry_manifest(struct oci_registry *reg, const char *repository, const char *tag,
                          const struct oci_digest *digest, const char *scope, oci_request_cb cb,
                          void *arg, struct oci_request **ret, struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct headers h = { 0 };
    if (digest)
        oci_digest_format(digest, text);
    scoped(free_scoped) char *target =
        xasprintf("/v2/%s/manifests/%s", repository, digest ? text : tag);
    (void)headers_addc(&h, "accept",
                       "application/vnd.oci.image.index.v1+json, "
                       "application/vnd.oci.image.manifest.v1+json, "
                       "application/vnd.docker.distribution.manifest.list.v2+json, "
                       "application/vnd.docker.distribution.manifest.v2+json");
    struct oci_request_opts opts = {
        .method = "GET", .target = target, .scope = scope, .headers = &h, .cb = cb, .arg = arg
    };
    int r = oci_request_start(reg, &opts, ret, err);
    headers_fini(&h);
    return r;
}

static char *blob_target(const char *repository, const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    return xasprintf("/v2/%s/blobs/%s", repository, text);
}

int oci_registry_blob(struct oci_registry *reg, const char *repository,
                      const struct oci_descriptor *d, uint64_t from, const char *scope,
                      oci_blob_sink sink, void *sink_arg, oci_request_cb cb, void *arg,
                      struct oci_request **ret, struct err *err)
{
    scoped(free_scoped) char *target = blob_target(repository, &d->digest);
    struct oci_request_opts opts = { .method = "GET",
                                     .target = target,
                                     .scope = scope,
                                     .sink = sink,
                                     .sink_arg = sink_arg,
                                     .from = from,
                                     .size = d->size,
                                     .cb = cb,
                                     .arg = arg };
    return oci_request_start(reg, &opts, ret, err);
}

int oci_registry_has_blob(struct oci_registry *reg, const char *repository,
                          const struct oci_digest *d, const char *scope, oci_request_cb cb,
                          void *arg, struct oci_request **ret, struct err *err)
{
    scoped(free_scoped) char *target = blob_target(repository, d);
    struct oci_request_opts opts = {
        .method = "HEAD", .target = target, .scope = scope, .passes = { 404 }, .cb = cb, .arg = arg
    };
    return oci_request_start(reg, &opts, ret, err);
}

int oci_registry_put_manifest(struct oci_registry *reg, const char *repository, const char *name,
                              struct str media_type, struct str text, const char *scope,
                              oci_request_cb cb, void *arg, struct oci_request **ret,
                              struct err *err)
{
    struct headers h = { 0 };
    scoped(free_scoped) char *target = xasprintf("/v2/%s/manifests/%s", repository, name);
    int r = headers_add(&h, STR("content-type"), media_type);
    if (r < 0)
        return err_set(err, E_PARSE, "the media type of the manifest is none");
    struct oci_request_opts opts = { .method = "PUT",
                                     .target = target,
                                     .scope = scope,
                                     .headers = &h,
                                     .body = text,
                                     .cb = cb,
                                     .arg = arg };
    r = oci_request_start(reg, &opts, ret, err);
    headers_fini(&h);
    return r;
}
