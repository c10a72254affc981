/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and paths; see route.h. */
#include "fn/gateway/route.h"

#include "base/mem.h"

bool route_is_label(struct str s)
{
    if (s.n == 0 || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    return true;
}

static bool is_port(struct str s)
{
    uint64_t port;
    return s.n == 0 || parse_u64(s, 0, UINT16_MAX, &port) == 0;
}

struct str route_clean_host(struct str host, char to[ROUTE_HOST_MAX + 1])
{
    struct str name = host, port;
    if (host.n && host.p[0] != '[' && str_cut(host, ':', &name, &port) && !is_port(port))
        return STR("");
    if (name.n && name.p[name.n - 1] == '.')
        name.n--;
    if (name.n > ROUTE_HOST_MAX)
        return STR("");
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        to[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    to[name.n] = 0;
    return str_n(to, name.n);
}

bool route_is_below(struct str host, struct str domain)
{
    return domain.n && host.n > domain.n + 1 && str_has_suffix(host, domain) &&
           host.p[host.n - domain.n - 1] == '.';
}

/* "NAME.DOMAIN" without ".DOMAIN". */
static struct str without_domain(struct str host, struct str domain)
{
    if (route_is_below(host, domain))
        host.n -= domain.n + 1;
    return host;
}

bool route_host(struct str host, struct str domain, struct gateway_route *ret)
{
    struct str part[3] = { 0 }, rest = without_domain(host, domain);
    size_t n = 0;
    for (bool more = rest.n > 0; more; n++) {
        if (n == 3)
            return false;
        more = str_cut(rest, '.', &part[n], &rest);
        if (!route_is_label(part[n]))
            return false;
    }
    switch (n) {
    case 1:
        *ret = (struct gateway_route){ STR("default"), part[0], STR("") };
        return true;
    case 2:
        *ret = (struct gateway_route){ part[1], part[0], STR("") };
        return true;
    case 3:
        *ret = (struct gateway_route){ part[2], part[1], part[0] };
        return true;
    default:
        return false;
    }
}

static struct str segment(struct str *rest)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] != '/' && rest->p[n] != '?')
        n++;
    struct str s = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->n);
    return s;
}

bool route_is_async(struct str target)
{
    return str_has_prefix(target, STR(ROUTE_ASYNC_PREFIX));
}

bool route_is_reserved(struct str path)
{
    static const char *const own[] = { "/fn", "/async-function", "/v1/async", "/v1/events" };
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct str s = str_of(own[i]);
        if (str_has_prefix(path, s) && (path.n == s.n || path.p[s.n] == '/'))
            return true;
    }
    return false;
}

/* "/async-function/NAME" or "/async-function/NAME.NAMESPACE" */
static bool async_path(struct str target, struct gateway_route *ret, size_t *ret_prefix_n)
{
    struct str rest = str_slice(target, sizeof ROUTE_ASYNC_PREFIX - 1, target.n), name, space;
    if (!str_cut(segment(&rest), '.', &name, &space))
        space = STR("default");
    if (!route_is_label(name) || !route_is_label(space))
        return false;
    *ret = (struct gateway_route){ space, name, STR("") };
    *ret_prefix_n = target.n - rest.n;
    return true;
}

bool route_path(struct str target, struct gateway_route *ret, size_t *ret_prefix_n)
{
    if (route_is_async(target))
        return async_path(target, ret, ret_prefix_n);
    if (!str_has_prefix(target, STR("/fn/")))
        return false;
    struct str rest = str_slice(target, 4, target.n), namespace = segment(&rest);
    if (rest.n == 0 || rest.p[0] != '/' || !route_is_label(namespace))
        return false;
    rest = str_slice(rest, 1, rest.n);
    struct str name = segment(&rest);
    if (!route_is_label(name))
        return false;
    *ret = (struct gateway_route){ namespace, name, STR("") };
    *ret_prefix_n = target.n - rest.n;
    return true;
}
