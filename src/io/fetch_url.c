/* SPDX-License-Identifier: Apache-2.0 */
#include "io/fetch_url.h"

#include "base/mem.h"
#include "base/str.h"
#include "codec/base64.h"
#include "codec/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fetch_url_fini(struct fetch_url *u)
{
    free(u->host);
    free(u->path);
    *u = (struct fetch_url){ 0 };
}

static bool is_clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    return true;
}

/* The bytes of the authority (RFC 3986 section 3.2) of an absolute URL; empty: there is none. */
static struct str authority_of(struct str url)
{
    for (size_t i = 0; i + 2 < url.n; i++) {
        if (memcmp(url.p + i, "://", 3) != 0)
            continue;
        size_t end = i + 3;
        while (end < url.n && !strchr("/?#", url.p[end]))
            end++;
        return str_slice(url, i + 3, end);
    }
    return STR("");
}

/* The length of the userinfo with its "@"; 0: none. A password may hold an unencoded "@". */
static size_t userinfo_n(struct str authority)
{
    size_t n = authority.n;
    while (n > 0 && authority.p[n - 1] != '@')
        n--;
    return n;
}

const char *fetch_url_host(const struct fetch_url *u, char out[FETCH_URL_HOST_MAX])
{
    bool is_v6 = strchr(u->host, ':') != NULL;
    int n = snprintf(out, FETCH_URL_HOST_MAX, "%s%.253s%s", is_v6 ? "[" : "", u->host,
                     is_v6 ? "]" : "");
    if (u->port != (u->tls ? 443 : 80))
        (void)snprintf(out + n, (size_t)(FETCH_URL_HOST_MAX - n), ":%u", (unsigned)u->port);
    return out;
}

const char *fetch_url_shown(const char *text)
{
    const char *at = strrchr(text, '@');
    return at ? at + 1 : text;
}

/* Fail with `what` and the URL, which is quoted without a possible password. */
static int refuse(struct err *err, const char *text, const char *what)
{
    const char *shown = fetch_url_shown(text);
    return err_set(err, E_INVALID, "'%s%.160s' %s", shown == text ? "" : "...@", shown, what);
}

static int parse_authority(struct str authority, struct fetch_url *ret)
{
    struct str host, port = STR("");
    uint64_t n = ret->tls ? 443 : 80;
    if (authority.n && authority.p[0] == '[') {
        if (!str_cut(str_slice(authority, 1, authority.n), ']', &host, &port))
            return E_INVALID;
        if (port.n && port.p[0] != ':')
            return E_INVALID;
        port = str_slice(port, MIN(port.n, (size_t)1), port.n);
    } else {
        (void)str_cut(authority, ':', &host, &port);
    }
    if (host.n == 0 || host.n > 253 || str_find_char(host, '@') >= 0 ||
        (port.n && parse_u64(port, 1, 65535, &n) < 0))
        return E_INVALID;
    ret->host = str_dup(host);
    ret->port = (uint16_t)n;
    return 0;
}

int fetch_url_parse(const char *text, const struct fetch_url *base, struct fetch_url *ret,
                    struct err *err)
{
    struct str s = str_of(text), rest, fragment;
    *ret = (struct fetch_url){ 0 };
    (void)str_cut(s, '#', &s, &fragment);
    bool http = str_has_prefix(s, STR("http://"));
    ret->tls = str_has_prefix(s, STR("https://"));
    if (!is_clean(s) || (!http && !ret->tls && !(base && s.n && s.p[0] == '/')))
        return refuse(err, text, "is no http:// or https:// URL");
    if (!http && !ret->tls && !str_has_prefix(s, STR("//"))) { /* a path of the same server */
        ret->tls = base->tls;
        ret->host = xstrdup(base->host);
        ret->port = base->port;
        ret->path = str_dup(s);
        return 0;
    }
    if (!http && !ret->tls)
        ret->tls = base->tls;
    rest = str_slice(s, (size_t)str_find_char(s, '/') + 2, s.n);
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?')
        n++;
    if (parse_authority(str_slice(rest, 0, n), ret) < 0) {
        fetch_url_fini(ret);
        return refuse(err, text, "has no valid host and port");
    }
    rest = str_slice(rest, n, rest.n);
    ret->path = xasprintf("%s" STR_FMT, rest.n && rest.p[0] == '/' ? "" : "/", STR_ARG(rest));
    return 0;
}

/* One entry of a no_proxy list: "*", a name, ".suffix", either with ":port". */
static bool matches(struct str entry, struct str host, uint16_t port)
{
    struct str name = entry, number;
    uint64_t n;
    if (str_is(entry, "*"))
        return true;
    if (str_cut(entry, ':', &name, &number) && (parse_u64(number, 1, 65535, &n) < 0 || n != port))
        return false;
    if (name.n > 1 && name.p[0] == '.')
        name = str_slice(name, 1, name.n);
    if (name.n == 0 || name.n > host.n)
        return false;
    struct str end = str_slice(host, host.n - name.n, host.n);
    return str_ieq(end, name) && (end.n == host.n || host.p[host.n - end.n - 1] == '.');
}

bool fetch_url_no_proxy(const char *list, const char *host, uint16_t port)
{
    struct str rest = str_of(list ? list : ""), one;
    while (rest.n) {
        (void)str_cut(rest, ',', &one, &rest);
        if (matches(str_trim(one), str_of(host), port))
            return true;
    }
    return false;
}

/* In a CGI program HTTP_PROXY comes from a header of the request, so it is not read there. */
const char *fetch_url_proxy(const struct fetch_url *u)
{
    const char *no = getenv("no_proxy"), *proxy = getenv(u->tls ? "https_proxy" : "http_proxy");
    if (!no)
        no = getenv("NO_PROXY");
    if (!proxy && u->tls)
        proxy = getenv("HTTPS_PROXY");
    if (!proxy && !u->tls && !getenv("REQUEST_METHOD"))
        proxy = getenv("HTTP_PROXY");
    return proxy && proxy[0] && !fetch_url_no_proxy(no, u->host, u->port) ? proxy : NULL;
}

void fetch_proxy_fini(struct fetch_proxy *proxy)
{
    free(proxy->host);
    free(proxy->authorization);
    *proxy = (struct fetch_proxy){ 0 };
}

enum { LOGIN_MAX_BYTES = 4096 };

/* The Basic credentials of "user:password", percent-encoded. A missing password is empty. NULL: bad
 * encoding. */
static char *basic_authorization(struct str userinfo)
{
    struct arena a = { 0 };
    struct buf plain = BUF_INIT(LOGIN_MAX_BYTES), text = BUF_INIT(2 * LOGIN_MAX_BYTES);
    struct str decoded;
    char *ret = NULL;
    if (url_decode(&a, userinfo, false, &decoded) >= 0) {
        (void)buf_add_str(&plain, decoded);
        if (str_find_char(userinfo, ':') < 0)
            (void)buf_add_str(&plain, STR(":"));
        (void)buf_add_str(&text, STR("Basic "));
        (void)base64_encode(&text, buf_str(&plain), BASE64_STD);
        if (buf_ok(&plain) && buf_ok(&text))
            ret = str_dup(buf_str(&text));
    }
    buf_fini(&plain);
    buf_fini(&text);
    arena_fini(&a);
    return ret;
}

int fetch_proxy_parse(const char *text, struct fetch_proxy *ret, struct err *err)
{
    struct str authority = authority_of(str_of(text));
    size_t n = userinfo_n(authority);
    struct fetch_url url;
    *ret = (struct fetch_proxy){ 0 };
    scoped(free_scoped) char *bare =
        n ? xasprintf("%.*s%s", (int)(authority.p - text), text, authority.p + n) : xstrdup(text);
    char *authorization = n ? basic_authorization(str_slice(authority, 0, n - 1)) : NULL;
    /* An "@" after the authority: the text before it is not a host but a password with "/". */
    bool is_cut = authority.n && strchr(authority.p + authority.n, '@');
    if ((n && !authorization) || is_cut || fetch_url_parse(bare, NULL, &url, NULL) < 0) {
        free(authorization);
        return refuse(
            err, text,
            "is no proxy of the form http://[user[:password]@]host[:port], percent-encoded");
    }
    *ret = (struct fetch_proxy){ .host = take_ptr(&url.host),
                                 .port = url.port,
                                 .authorization = authorization };
    int r = url.tls ? err_set(err, E_UNSUPPORTED, "a proxy that is itself reached by https") : 0;
    fetch_url_fini(&url);
    if (r < 0)
        fetch_proxy_fini(ret);
    return r;
}
