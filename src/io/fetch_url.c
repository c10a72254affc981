/* SPDX-License-Identifier: Apache-2.0 */
#include "io/fetch_url.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

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
        return err_set(err, E_INVALID, "'%.160s' is no http:// or https:// URL", text);
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
        return err_set(err, E_INVALID, "'%.160s' has no valid host and port", text);
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

/* A CGI program gets HTTP_PROXY from a field of its request: not read where there is one. */
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
