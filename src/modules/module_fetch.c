/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads of modules; see module_fetch.h. Each hop of a redirect is a client of its own. */
#include "modules/module_fetch.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/version.h"
#include "codec/digest.h"
#include "io/address.h"
#include "io/http.h"
#include "io/tls.h"
#include "modules/module_artifact.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_SUFFIX ".part"

struct module_fetch {
    struct module_fetch_opts opts;
    char *sha256, *path, *part;
    module_fetch_cb cb;
    void *arg;
    struct fetch_url url;
    struct http_client *client;
    struct tls_ctx *tls;
    struct exchange *call;
    struct module_artifact *artifact; /* from a registry; NULL: ended, or HTTP(S) */
    struct timer idle;
    struct defer next; /* the next hop, or the end */
    struct sha256 *hash;
    char *location;   /* of a redirect */
    bool is_by_proxy; /* the responding server is a proxy, which gets the whole URL */
    unsigned redirects;
    uint64_t n;
    int fd, status;
    bool cancelled, ended;
    struct err err;
};

/* ---------------------------------------------------------------- the end */

static void free_fetch(struct module_fetch *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    if (f->part && !f->ended)
        (void)unlink(f->part);
    sha256_free(f->hash);
    fetch_url_fini(&f->url);
    tls_ctx_free(f->tls);
    free(f->location);
    free(f->sha256);
    free(f->path);
    free(f->part);
    free(f);
}

static void drop_client(struct module_fetch *f)
{
    timer_stop(f->opts.loop, &f->idle);
    if (f->client)
        http_client_close(take_ptr(&f->client));
    tls_ctx_free(take_ptr(&f->tls));
}

static void on_finish(struct defer *d)
{
    struct module_fetch *f = container_of(d, struct module_fetch, next);
    drop_client(f);
    f->cb(f->arg, f->err.code, &f->err);
    free_fetch(f);
}

static void finish(struct module_fetch *f, int r)
{
    f->err.code = r;
    defer_start(f->opts.loop, &f->next, on_finish);
}

/* All bytes have arrived: check the digest and sync the file. */
static void complete(struct module_fetch *f)
{
    uint8_t digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    sha256_end(f->hash, digest);
    hex_format(digest, sizeof digest, hex);
    if (strcasecmp(hex, f->sha256) != 0) {
        finish(f,
               err_set(&f->err, E_DIGEST, "the module has the digest %s, not %s", hex, f->sha256));
        return;
    }
    int r = sys_fsync(f->fd);
    if (r >= 0)
        r = sys_renameat(AT_FDCWD, f->part, AT_FDCWD, f->path);
    if (r < 0)
        r = err_sys(&f->err, r, "write '%s'", f->path);
    else
        f->ended = true;
    finish(f, r);
}

/* ---------------------------------------------------------------- one hop */

static int begin_hop(struct module_fetch *f);

static void on_hop(struct defer *d)
{
    struct module_fetch *f = container_of(d, struct module_fetch, next);
    drop_client(f);
    int r = begin_hop(f);
    if (r < 0)
        finish(f, r);
}

static void on_idle(struct timer *t)
{
    struct module_fetch *f = container_of(t, struct module_fetch, idle);
    (void)err_set(&f->err, -ETIMEDOUT, "no byte for %llu ms", (unsigned long long)f->opts.idle_ms);
    if (f->call)
        exchange_cancel(f->call);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct module_fetch *f = arg;
    struct str location = headers_get(headers, "location");
    f->status = status;
    if (status >= 300 && status < 400 && location.p)
        f->location = str_dup(location);
    timer_start(f->opts.loop, &f->idle, f->opts.idle_ms, on_idle);
}

static int write_bytes(struct module_fetch *f, struct str bytes, struct err *err)
{
    f->n += bytes.n;
    if (f->n > f->opts.max_bytes)
        return err_set(err, E_LIMIT, "the module is larger than %llu bytes",
                       (unsigned long long)f->opts.max_bytes);
    int r = sys_write_all(f->fd, bytes.p, bytes.n);
    if (r < 0)
        return err_sys(err, r, "write '%s'", f->part);
    sha256_add(f->hash, bytes.p, bytes.n);
    return 0;
}

static void on_data(void *arg, struct str chunk)
{
    struct module_fetch *f = arg;
    timer_start(f->opts.loop, &f->idle, f->opts.idle_ms, on_idle);
    if (f->cancelled || f->err.code || f->status != 200)
        return;
    if (write_bytes(f, chunk, &f->err) < 0)
        exchange_cancel(f->call);
}

static void follow(struct module_fetch *f)
{
    struct fetch_url to;
    scoped(free_scoped) char *location = take_ptr(&f->location);
    bool was_tls = f->url.tls;
    if (++f->redirects > f->opts.max_redirects) {
        finish(f, err_set(&f->err, E_LIMIT, "more than %u redirects", f->opts.max_redirects));
        return;
    }
    int r = fetch_url_parse(location, &f->url, &to, &f->err);
    if (r >= 0 && was_tls && !to.tls) {
        fetch_url_fini(&to);
        r = err_set(&f->err, E_DENIED, "the server redirects from https to http");
    }
    if (r < 0) {
        finish(f, r);
        return;
    }
    fetch_url_fini(&f->url);
    f->url = to;
    defer_start(f->opts.loop, &f->next, on_hop);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct module_fetch *f = arg;
    f->call = NULL;
    timer_stop(f->opts.loop, &f->idle);
    if (f->cancelled) {
        drop_client(f);
        free_fetch(f);
    } else if (f->err.code) {
        finish(f, f->err.code);
    } else if (r < 0) {
        if (err)
            f->err = *err;
        finish(f, r);
    } else if (f->location) {
        follow(f);
    } else if (f->status == 200) {
        complete(f);
    } else if (f->status == 407 && f->is_by_proxy) { /* for example, a proxy that refuses CONNECT */
        finish(f, err_set(&f->err, -ECONNREFUSED,
                          "the proxy answers 407: it wants a login, "
                          "http://USER:PASSWORD@HOST:PORT"));
    } else {
        bool says_no = f->status >= 400 && f->status < 500 && f->status != 408 && f->status != 429;
        finish(f, err_set(&f->err, says_no ? E_DENIED : -EIO, "the server answers %d", f->status));
    }
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static bool is_public(void *arg, const struct sockaddr *addr)
{
    return address_is_public(addr);
}

/*
 * With a proxy, a name passes here: the proxy resolves it, and may be at any address. Only an
 * address in the URL can be checked.
 */
static bool is_other_address(const char *host)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
        return !address_is_public((const struct sockaddr *)&v4);
    if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1)
        return !address_is_public((const struct sockaddr *)&v6);
    return false;
}

static int begin_hop(struct module_fetch *f)
{
    const char *proxy = fetch_url_proxy(&f->url);
    struct fetch_proxy via = { 0 };
    struct headers h = { 0 };
    const struct module_site *site = f->opts.site;
    enum module_host allowed = site->is_any_host
                                   ? MODULE_HOST_NAMED
                                   : module_hosts_find(&site->hosts, f->url.host, f->url.port);
    if (allowed == MODULE_HOST_DENIED ||
        (allowed == MODULE_HOST_PUBLIC && is_other_address(f->url.host)))
        return err_set(&f->err, f->redirects ? E_DENIED : -EPERM,
                       "modules may not come from '%.100s' port %u (--module-host)", f->url.host,
                       (unsigned)f->url.port);
    int r = proxy ? fetch_proxy_parse(proxy, &via, &f->err) : 0;
    if (r < 0)
        return err_ctx(&f->err, r, "proxy");
    if (f->url.tls)
        r = tls_ctx_new_client(STR(""), STR(""), STR(""), false, &f->tls, &f->err);
    struct http_client_opts client = { .host = proxy && !f->url.tls ? via.host : f->url.host,
                                       .port = proxy && !f->url.tls ? via.port : f->url.port,
                                       .proxy_host = proxy && f->url.tls ? via.host : NULL,
                                       .proxy_port = via.port,
                                       .proxy_authorization = via.authorization,
                                       .tls = f->tls,
                                       .max_connections = 1 };
    f->is_by_proxy = proxy && !f->url.tls;
    if (allowed == MODULE_HOST_PUBLIC && !proxy)
        client.may_connect = is_public;
    if (r >= 0)
        r = http_client_new(f->opts.loop, &client, &f->client, &f->err);
    scoped(free_scoped) char *target =
        f->is_by_proxy
            ? xasprintf("http://%s:%u%s", f->url.host, (unsigned)f->url.port, f->url.path)
            : xstrdup(f->url.path);
    if (f->is_by_proxy) {
        scoped(free_scoped) char *host = xasprintf("%s:%u", f->url.host, (unsigned)f->url.port);
        (void)headers_addc(&h, "host", host);
        if (via.authorization)
            (void)headers_addc(&h, "proxy-authorization", via.authorization);
    }
    (void)headers_addc(&h, "accept", "application/wasm, application/octet-stream, */*");
    (void)headers_addc(&h, "user-agent", version_product());
    struct http_call_opts call = { .method = STR("GET"),
                                   .target = str_of(target),
                                   .headers = &h,
                                   .head_timeout_ms = f->opts.idle_ms,
                                   .events = &call_events,
                                   .arg = f };
    f->status = 0;
    if (r >= 0)
        r = http_call_start(f->client, &call, &f->call, &f->err);
    headers_fini(&h);
    fetch_proxy_fini(&via);
    return r;
}

/* ---------------------------------------------------------------- from a registry */

static int on_artifact_bytes(void *arg, struct str bytes, struct err *err)
{
    return write_bytes(arg, bytes, err);
}

static void on_artifact_end(void *arg, int r, const struct err *err)
{
    struct module_fetch *f = arg;
    f->artifact = NULL;
    if (r >= 0) {
        complete(f);
        return;
    }
    f->err = *err;
    finish(f, r);
}

static int begin_artifact(struct module_fetch *f)
{
    const struct module_artifact_opts opts = { .loop = f->opts.loop,
                                               .url = f->opts.url,
                                               .sha256 = f->sha256,
                                               .max_bytes = f->opts.max_bytes,
                                               .idle_ms = f->opts.idle_ms,
                                               .site = f->opts.site,
                                               .login = f->opts.login,
                                               .on_bytes = on_artifact_bytes,
                                               .on_end = on_artifact_end,
                                               .arg = f };
    return module_artifact_start(&opts, &f->artifact, &f->err);
}

/* ---------------------------------------------------------------- public */

int module_url_check(const char *url, struct err *err)
{
    struct oci_reference ref;
    struct fetch_url parsed;
    if (module_artifact_is(url))
        return module_artifact_parse(url, &ref, err);
    int r = fetch_url_parse(url, NULL, &parsed, err);
    if (r >= 0)
        fetch_url_fini(&parsed);
    return r;
}

void module_fetch_tidy(const char *path)
{
    int64_t before_s = clock_wall_ms() / 1000 - MODULE_FETCH_PART_S;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (str_has_suffix(str_of(e->d_name), STR(PART_SUFFIX)) &&
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            st.st_mtime < before_s)
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        (void)closedir(dir);
}

int module_fetch_start(const struct module_fetch_opts *opts, module_fetch_cb cb, void *arg,
                       struct module_fetch **ret, struct err *err)
{
    struct module_fetch *f = xnew(struct module_fetch);
    f->opts = *opts;
    f->cb = cb;
    f->arg = arg;
    f->fd = -1;
    f->sha256 = xstrdup(opts->sha256);
    f->path = xstrdup(opts->path);
    f->hash = sha256_new();
    const bool is_artifact = module_artifact_is(opts->url);
    int r = is_artifact ? 0 : fetch_url_parse(opts->url, NULL, &f->url, err);
    if (r >= 0) {
        f->part =
            xasprintf("%s.%016llx" PART_SUFFIX, opts->path, (unsigned long long)sys_random_u64());
        f->fd = sys_openat(AT_FDCWD, f->part, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (f->fd < 0)
            r = err_sys(err, f->fd, "make '%s'", f->part);
    }
    if (r >= 0 && (r = is_artifact ? begin_artifact(f) : begin_hop(f)) < 0 && err)
        *err = f->err;
    if (r < 0) {
        drop_client(f);
        free_fetch(f);
        return r;
    }
    f->opts.login = NULL;
    *ret = f;
    return 0;
}

void module_fetch_cancel(struct module_fetch *f)
{
    f->cancelled = true;
    if (f->artifact)
        module_artifact_cancel(take_ptr(&f->artifact));
    defer_cancel(&f->next);
    timer_stop(f->opts.loop, &f->idle);
    if (f->call) { /* on_end() frees */
        exchange_cancel(f->call);
        return;
    }
    drop_client(f);
    free_fetch(f);
}
