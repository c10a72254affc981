/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the modules of plugins: from files, HTTP and HTTPS, and registries. Error texts for files
 * and HTTP are upstream's, which uses Go's HTTP client: it follows ten redirects and accepts only
 * status 200.
 */
#include "sched/wasm/internal.h"

#include "base/sys.h"
#include "codec/gzip.h"
#include "io/http.h"
#include "io/tls.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    FILE_SCHEME_BYTES = 7, /* "file://" */
    REDIRECTS_MAX = 10,
    FETCH_MS = 60000, /* until the head of the response; per redirect */
    URL_MAX_BYTES = 4096
};

struct wasm_source {
    struct wplugin_host *host;
    struct list node; /* on host->sources until it ends */
    struct defer defer;
    wsource_cb cb;
    void *arg;
    struct buf wasm, error;
    /* For HTTP. */
    char *url; /* the current one */
    unsigned n_redirects;
    struct http_client *client;
    struct tls_ctx *tls;
    struct exchange *call;
    int status;
    char *location;
    bool is_gzip;
    struct module_reference *reference; /* of a registry */
};

/* ---- the end ---- */

static void close_client(struct wasm_source *s)
{
    if (s->client)
        http_client_close(s->client);
    s->client = NULL;
    tls_ctx_free(s->tls);
    s->tls = NULL;
}

/* pin: for a registry, else NULL. */
static void tell(struct wasm_source *s, struct str wasm, const struct module_pin *pin)
{
    list_remove(&s->node);
    s->cb(s->arg, wasm, pin, buf_str(&s->error));
    close_client(s);
    free(s->url);
    free(s->location);
    buf_fini(&s->wasm);
    buf_fini(&s->error);
    free(s);
}

static void finish(struct wasm_source *s)
{
    tell(s, buf_str(&s->wasm), NULL);
}

static void on_finish(struct defer *d)
{
    finish(container_of(d, struct wasm_source, defer));
}

/* ---- registries ---- */

static void on_reference(void *arg, int r, const struct module_pin *pin, struct str module,
                         const struct err *err)
{
    struct wasm_source *s = arg;
    s->reference = NULL;
    if (r < 0)
        (void)buf_add_cstr(&s->error, err_text(err));
    tell(s, module, pin);
}

static void get_reference(struct wasm_source *s)
{
    struct err err = { 0 };
    if (module_reference_get(s->host->references, s->url, on_reference, s, &s->reference, &err) >=
        0)
        return;
    (void)buf_add_cstr(&s->error, err_text(&err));
    defer_start(s->host->loop, &s->defer, on_finish);
}

/* ---- files ---- */

/* Go's text: "no such file or directory". */
static void add_os_error(struct buf *to, const char *what, const char *path, int e)
{
    scoped(free_scoped) char *text = xstrdup(err_strerror(e));
    text[0] = (char)tolower((unsigned char)text[0]);
    (void)buf_printf(to, "%s %s: %s", what, path, text);
}

static void read_file(struct wasm_source *s, const char *path)
{
    enum { PIECE_BYTES = 64 << 10 };
    char *room;
    ssize_t n = 0;
    scoped(fd_scoped) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        add_os_error(&s->error, "open", path, -errno);
        return;
    }
    do {
        int r = buf_reserve(&s->wasm, PIECE_BYTES, &room);
        n = r < 0 ? -1 : read(fd, room, PIECE_BYTES);
        if (n < 0)
            add_os_error(&s->error, "read", path, r < 0 ? r : -errno);
        if (n > 0)
            buf_advance(&s->wasm, (size_t)n);
    } while (n > 0);
}

/* ---- URLs ---- */

struct http_url {
    bool is_tls;
    char *host; /* in the arena */
    uint16_t port;
    char *target;
};

static int bad_url(struct wasm_source *s, const char *url, const char *why)
{
    (void)buf_add_cstr(&s->error, "parse ");
    (void)buf_printf(&s->error, "\"%s\": %s", url, why);
    return E_PARSE;
}

static int read_host(struct wasm_source *s, struct arena *a, const char *url, struct str authority,
                     struct http_url *ret)
{
    struct str user, host, rest;
    uint64_t port;
    if (str_cut(authority, '@', &user, &rest))
        authority = rest;
    for (size_t i = 0; i < authority.n; i++)
        if ((unsigned char)authority.p[i] <= ' ' || strchr("\"<>\\^`{|}", authority.p[i]))
            return bad_url(
                s, url, arena_printf(a, "invalid character \"%c\" in host name", authority.p[i]));
    ptrdiff_t bracket = str_find_char(authority, ']');
    struct str after_host = str_slice(authority, bracket < 0 ? 0 : (size_t)bracket, authority.n);
    ptrdiff_t colon = str_find_char(after_host, ':');
    host =
        colon < 0 ? authority : str_slice(authority, 0, authority.n - after_host.n + (size_t)colon);
    ret->port = ret->is_tls ? 443 : 80;
    if (colon >= 0 && (size_t)colon + 1 < after_host.n) {
        if (parse_u64(str_slice(after_host, (size_t)colon + 1, after_host.n), 0, UINT16_MAX,
                      &port) < 0)
            return bad_url(
                s, url,
                arena_printf(a, "invalid port \"" STR_FMT "\" after host",
                             STR_ARG(str_slice(after_host, (size_t)colon, after_host.n))));
        ret->port = (uint16_t)port;
    }
    if (bracket >= 0)
        host = str_slice(host, 1, host.n - 1);
    ret->host = str_dup_arena(a, host);
    if (host.n)
        return 0;
    (void)buf_printf(&s->error, "Get \"%s\": http: no Host in request URL", url);
    return E_PARSE;
}

static int read_url(struct wasm_source *s, struct arena *a, const char *url, struct http_url *ret)
{
    struct str scheme, rest;
    (void)str_cut(str_of(url), ':', &scheme, &rest);
    ret->is_tls = str_is(scheme, "https");
    if (str_has_prefix(rest, STR("//")))
        rest = str_slice(rest, 2, rest.n);
    else
        rest = STR("");
    size_t n = 0;
    while (n < rest.n && !strchr("/?#", rest.p[n]))
        n++;
    int r = read_host(s, a, url, str_slice(rest, 0, n), ret);
    if (r < 0)
        return r;
    struct str path = str_slice(rest, n, rest.n), fragment;
    (void)str_cut(path, '#', &path, &fragment);
    ret->target =
        arena_printf(a, "%s" STR_FMT, path.n && path.p[0] == '/' ? "" : "/", STR_ARG(path));
    for (const char *p = ret->target; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return bad_url(s, url, "net/url: invalid control character in URL");
    return 0;
}

/* The target of a redirect; NULL: not followed. */
static char *resolve(const char *base, const char *location)
{
    struct str scheme, rest;
    if (strncmp(location, "http://", 7) == 0 || strncmp(location, "https://", 8) == 0)
        return xstrdup(location);
    (void)str_cut(str_of(base), ':', &scheme, &rest);
    if (strncmp(location, "//", 2) == 0)
        return xasprintf(STR_FMT ":%s", STR_ARG(scheme), location);
    if (location[0] != '/')
        return NULL;
    rest = str_slice(rest, 2, rest.n);
    size_t n = 0;
    while (n < rest.n && !strchr("/?#", rest.p[n]))
        n++;
    return xasprintf(STR_FMT "://" STR_FMT "%s", STR_ARG(scheme), STR_ARG(str_slice(rest, 0, n)),
                     location);
}

/* ---- HTTP ---- */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct wasm_source *s = arg;
    s->status = status;
    s->is_gzip = str_ieq(headers_get(headers, "content-encoding"), STR("gzip"));
    free(s->location);
    s->location = str_dup(headers_get(headers, "location"));
}

static void on_data(void *arg, struct str chunk)
{
    struct wasm_source *s = arg;
    if (s->status == 200)
        (void)buf_add_str(&s->wasm, chunk);
}

static void unpack(struct wasm_source *s)
{
    struct buf plain = BUF_INIT(MODULE_WASM_BYTES_MAX);
    if (gunzip(buf_str(&s->wasm), &plain) < 0) {
        (void)buf_add_cstr(&s->error, "gzip: invalid data");
        buf_fini(&plain);
        return;
    }
    buf_fini(&s->wasm);
    s->wasm = plain;
}

static void fetch(struct wasm_source *s);

static bool is_redirect(const struct wasm_source *s)
{
    return (s->status == 301 || s->status == 302 || s->status == 303 || s->status == 307 ||
            s->status == 308) &&
           s->location[0];
}

/* On a later turn: frees the client that has just answered. */
static void on_answer(struct defer *d)
{
    struct wasm_source *s = container_of(d, struct wasm_source, defer);
    close_client(s);
    if (s->error.n || !is_redirect(s)) {
        finish(s);
        return;
    }
    char *next = resolve(s->url, s->location);
    if (next && ++s->n_redirects <= REDIRECTS_MAX) {
        free(s->url);
        s->url = next;
        fetch(s);
        return;
    }
    (void)buf_printf(&s->error, "Get \"%s\": %s", s->location,
                     next ? "stopped after 10 redirects" : "unsupported redirect");
    free(next);
    finish(s);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct wasm_source *s = arg;
    s->call = NULL;
    if (r < 0)
        (void)buf_printf(&s->error, "Get \"%s\": %s", s->url, err_text(err));
    else if (!buf_ok(&s->wasm))
        (void)buf_printf(&s->error, "the module is larger than %zu MiB",
                         (size_t)(MODULE_WASM_BYTES_MAX >> 20));
    else if (!is_redirect(s) && s->status != 200)
        (void)buf_printf(&s->error, "received %d status code from \"%s\"", s->status, s->url);
    else if (s->status == 200 && s->is_gzip)
        unpack(s);
    defer_start(s->host->loop, &s->defer, on_answer);
}

static int start_call(struct wasm_source *s, const struct http_url *u, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    if (u->is_tls) {
        int r = tls_ctx_new_client(STR(""), STR(""), STR(""), false, &s->tls, err);
        if (r < 0)
            return r;
    }
    const struct http_client_opts client = {
        .host = u->host, .port = u->port, .tls = s->tls, .max_connections = 1
    };
    int r = http_client_new(s->host->loop, &client, &s->client, err);
    if (r < 0)
        return r;
    const struct http_call_opts opts = { .method = STR("GET"),
                                         .target = str_of(u->target),
                                         .head_timeout_ms = FETCH_MS,
                                         .events = &events,
                                         .arg = s };
    return http_call_start(s->client, &opts, &s->call, err);
}

static void fetch(struct wasm_source *s)
{
    struct arena a = { 0 };
    struct http_url u = { 0 };
    struct err err = { 0 };
    buf_reset(&s->wasm);
    int r = read_url(s, &a, s->url, &u);
    if (r == 0) {
        r = start_call(s, &u, &err);
        if (r < 0)
            (void)buf_printf(&s->error, "Get \"%s\": %s", s->url, err_text(&err));
    }
    arena_fini(&a);
    if (r < 0)
        defer_start(s->host->loop, &s->defer, on_finish);
}

/* ---- */

void wsource_get(struct wplugin_host *host, struct str url, wsource_cb cb, void *arg)
{
    struct wasm_source *s = xnew(struct wasm_source);
    struct str scheme, rest;
    s->host = host;
    s->cb = cb;
    s->arg = arg;
    s->wasm = BUF_INIT(MODULE_WASM_BYTES_MAX);
    s->error = BUF_INIT(16 << 10);
    s->url = str_dup(str_slice(url, 0, URL_MAX_BYTES));
    list_push_back(&host->sources, &s->node);
    bool has_scheme = str_cut(url, ':', &scheme, &rest);
    if (has_scheme && (str_is(scheme, "http") || str_is(scheme, "https"))) {
        fetch(s);
        return;
    }
    if (has_scheme && str_is(scheme, "oci") && host->references) {
        get_reference(s);
        return;
    }
    if (!has_scheme || (str_is(scheme, "file") && url.n < FILE_SCHEME_BYTES))
        (void)buf_printf(&s->error, "invalid URL: %s", s->url);
    else if (str_is(scheme, "file"))
        read_file(s, s->url + FILE_SCHEME_BYTES);
    else
        (void)buf_printf(&s->error, "unsupported URL scheme: " STR_FMT, STR_ARG(scheme));
    defer_start(host->loop, &s->defer, on_finish);
}

void wsource_end_all(struct wplugin_host *host)
{
    list_each (node, &host->sources) {
        struct wasm_source *s = list_entry(node, struct wasm_source, node);
        if (s->call) {
            exchange_cancel(s->call); /* its callback ends the source */
        } else if (s->reference) {
            module_reference_cancel(take_ptr(&s->reference));
            (void)buf_add_cstr(&s->error, "cancelled");
            defer_start(host->loop, &s->defer, on_finish);
        }
    }
}
