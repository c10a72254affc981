/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' own functions: quantities, URLs, addresses, sets, formats, and optionals. */
#include "kube/cel/cel_int.h"

#include "base/buf.h"
#include "base/clock.h"
#include "codec/base64.h"
#include "codec/url.h"
#include "kube/model/meta.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>

static bool is_text(const struct cel_value *v)
{
    return v->type == CEL_STRING;
}

/* ------------------------------------------------------------------ quantities */

static struct cel_value of_quantity(struct cel_run *run, struct quantity q)
{
    struct quantity *kept = arena_new(run->a, struct quantity);
    *kept = q;
    return (struct cel_value){ .type = CEL_QUANTITY, .quantity = kept };
}

static int fn_quantity(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    struct quantity q;
    struct err err = { 0 };
    if (!is_text(v))
        return cel_no_overload(run);
    if (quantity_parse(v->s, &q, &err) < 0)
        return cel_error(run, "%s", err_text(&err));
    *ret = of_quantity(run, q);
    return 0;
}

static int fn_is_quantity(struct cel_run *run, const struct cel_value *v, size_t n,
                          struct cel_value *ret)
{
    struct quantity q;
    if (!is_text(v))
        return cel_no_overload(run);
    *ret = cel_bool(quantity_parse(v->s, &q, NULL) >= 0);
    return 0;
}

/* Quantities, or versions. */
static int compare_quantities(struct cel_run *run, const struct cel_value *v, int *ret)
{
    bool comparable = v[0].type == CEL_QUANTITY || v[0].type == CEL_SEMVER;
    return comparable && cel_compare(run, v[0], v[1], ret) ? 0 : cel_no_overload(run);
}

static int fn_greater(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    int order = 0, r = compare_quantities(run, v, &order);
    *ret = cel_bool(order > 0);
    return r;
}

static int fn_less(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    int order = 0, r = compare_quantities(run, v, &order);
    *ret = cel_bool(order < 0);
    return r;
}

static int fn_compare(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    int order = 0, r = compare_quantities(run, v, &order);
    *ret = cel_int((order > 0) - (order < 0));
    return r;
}

static int fn_sign(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type != CEL_QUANTITY)
        return cel_no_overload(run);
    *ret = cel_int((v->quantity->nano > 0) - (v->quantity->nano < 0));
    return 0;
}

static bool whole(const struct quantity *q, int64_t *ret)
{
    const __int128 one = 1000000000;
    __int128 value = q->nano / one;
    *ret = (int64_t)value;
    return q->nano % one == 0 && value <= INT64_MAX && value >= INT64_MIN;
}

static int fn_as_integer(struct cel_run *run, const struct cel_value *v, size_t n,
                         struct cel_value *ret)
{
    int64_t i;
    if (v->type != CEL_QUANTITY)
        return cel_no_overload(run);
    if (!whole(v->quantity, &i))
        return cel_error(run, "cannot convert value to integer");
    *ret = cel_int(i);
    return 0;
}

static int fn_is_integer(struct cel_run *run, const struct cel_value *v, size_t n,
                         struct cel_value *ret)
{
    int64_t i;
    if (v->type != CEL_QUANTITY)
        return cel_no_overload(run);
    *ret = cel_bool(whole(v->quantity, &i));
    return 0;
}

static int fn_as_float(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    if (v->type != CEL_QUANTITY)
        return cel_no_overload(run);
    *ret = cel_double((double)v->quantity->nano / 1e9);
    return 0;
}

static int add_quantities(struct cel_run *run, const struct cel_value *v, int sign,
                          struct cel_value *ret)
{
    __int128 other;
    struct quantity q;
    if (v[0].type != CEL_QUANTITY || (v[1].type != CEL_QUANTITY && v[1].type != CEL_INT))
        return cel_no_overload(run);
    q = *v[0].quantity;
    other = v[1].type == CEL_INT ? (__int128)v[1].i * 1000000000 : v[1].quantity->nano;
    if (__builtin_add_overflow(q.nano, sign * other, &q.nano))
        return cel_error(run, "quantity overflow");
    *ret = of_quantity(run, q);
    return 0;
}

static int fn_add(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    return add_quantities(run, v, 1, ret);
}

static int fn_sub(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    return add_quantities(run, v, -1, ret);
}

/* ------------------------------------------------------------------ versions */

static bool is_number(struct str s, uint64_t *ret)
{
    bool leading_zero = s.n > 1 && s.p[0] == '0';
    return s.n > 0 && !leading_zero && parse_u64(s, 0, UINT64_MAX, ret) >= 0;
}

/*
 * "rc.1": letters, digits and dashes between dots; numbers in a pre-release have no leading zeros.
 */
static bool are_identifiers(struct str s, bool pre)
{
    while (s.n) {
        struct str part;
        bool digits = true, more = str_cut(s, '.', &part, &s);
        for (size_t i = 0; i < part.n; i++) {
            char c = part.p[i], lower = (char)(c | 0x20);
            bool digit = c >= '0' && c <= '9';
            if (!digit && c != '-' && (lower < 'a' || lower > 'z'))
                return false;
            digits = digits && digit;
        }
        if (part.n == 0 || (pre && digits && part.n > 1 && part.p[0] == '0') || (more && s.n == 0))
            return false;
    }
    return true;
}

/* lenient: "v1.2" is read as 1.2.0. */
static bool parse_semver(struct str s, bool lenient, struct cel_semver *ret)
{
    struct str build, part;
    *ret = (struct cel_semver){ .pre = STR("") };
    if (lenient && str_has_prefix(s, STR("v")))
        s = str_slice(s, 1, s.n);
    if (str_cut(s, '+', &s, &build) && (build.n == 0 || !are_identifiers(build, false)))
        return false;
    if (str_cut(s, '-', &s, &ret->pre) && (ret->pre.n == 0 || !are_identifiers(ret->pre, true)))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (s.n == 0 && lenient && i > 0)
            return true;
        bool more = str_cut(s, '.', &part, &s);
        while (lenient && part.n > 1 && part.p[0] == '0')
            part = str_slice(part, 1, part.n);
        if (!is_number(part, &ret->parts[i]) || (more && (i == 2 || s.n == 0)))
            return false;
    }
    return s.n == 0;
}

/* Numbers are less than words; with an equal prefix, fewer identifiers are less. */
static int compare_pre(struct str x, struct str y)
{
    if (x.n == 0 || y.n == 0)
        return (x.n == 0) - (y.n == 0);
    while (x.n && y.n) {
        struct str p, q;
        uint64_t i = 0, k = 0;
        (void)str_cut(x, '.', &p, &x);
        (void)str_cut(y, '.', &q, &y);
        bool pn = is_number(p, &i), qn = is_number(q, &k);
        int order = pn && qn ? (i > k) - (i < k) : pn != qn ? (pn ? -1 : 1) : str_cmp(p, q);
        if (order)
            return order;
    }
    return (x.n > 0) - (y.n > 0);
}

int cel_compare_semver(const struct cel_semver *x, const struct cel_semver *y)
{
    for (size_t i = 0; i < 3; i++)
        if (x->parts[i] != y->parts[i])
            return x->parts[i] < y->parts[i] ? -1 : 1;
    int order = compare_pre(x->pre, y->pre);
    return (order > 0) - (order < 0);
}

static int take_semver(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_semver *ret, bool *ret_is)
{
    if (!is_text(v) || (n == 2 && v[1].type != CEL_BOOL))
        return cel_no_overload(run);
    *ret_is = parse_semver(v->s, n == 2 && v[1].b, ret);
    return 0;
}

static int fn_semver(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    struct cel_semver *kept = arena_new(run->a, struct cel_semver);
    bool is = false;
    int r = take_semver(run, v, n, kept, &is);
    if (r >= 0 && !is)
        r = cel_error(run, "invalid semantic version \"" STR_FMT "\"", STR_ARG(v->s));
    *ret = (struct cel_value){ .type = CEL_SEMVER, .semver = kept };
    return r;
}

static int fn_is_semver(struct cel_run *run, const struct cel_value *v, size_t n,
                        struct cel_value *ret)
{
    struct cel_semver ignored;
    bool is = false;
    int r = take_semver(run, v, n, &ignored, &is);
    *ret = cel_bool(is);
    return r;
}

#define SEMVER_PARTS(X) X(0, "major", fn_major) X(1, "minor", fn_minor) X(2, "patch", fn_patch)
#define SEMVER_FUNCTION(part, name, fn)                                                            \
    static int fn(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret) \
    {                                                                                              \
        if (v->type != CEL_SEMVER)                                                                 \
            return cel_no_overload(run);                                                           \
        *ret = cel_int((int64_t)MIN(v->semver->parts[part], (uint64_t)INT64_MAX));                 \
        return 0;                                                                                  \
    }
SEMVER_PARTS(SEMVER_FUNCTION)

/* ------------------------------------------------------------------ URLs */

struct url_parts {
    struct str scheme, host, hostname, port, path, query;
};

static bool is_scheme(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = (char)(s.p[i] | 0x20);
        bool letter = c >= 'a' && c <= 'z';
        bool other =
            (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '+' || s.p[i] == '-' || s.p[i] == '.';
        if (!letter && (i == 0 || !other))
            return false;
    }
    return s.n > 0;
}

static bool split_host(struct url_parts *u)
{
    struct str rest;
    uint64_t port;
    if (u->host.n && u->host.p[0] == '[') {
        struct str inner = str_slice(u->host, 1, u->host.n);
        if (!str_cut(inner, ']', &u->hostname, &rest) || (rest.n && rest.p[0] != ':'))
            return false;
        u->port = str_slice(rest, 1, rest.n);
    } else {
        (void)str_cut(u->host, ':', &u->hostname, &u->port);
    }
    return u->port.n == 0 || parse_u64(u->port, 0, UINT32_MAX, &port) >= 0;
}

/* An absolute URI or an absolute path, as the target of a request may be. */
static bool parse_url(struct str s, struct url_parts *ret)
{
    struct url_parts u = { .path = s };
    struct str rest;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    if (s.n == 0)
        return false;
    if (s.p[0] != '/') {
        if (!str_cut(s, ':', &u.scheme, &rest) || !is_scheme(u.scheme))
            return false;
        if (rest.n == 0 || rest.p[0] != '/')
            return false;
        u.path = rest;
        if (str_has_prefix(rest, STR("//"))) {
            size_t end = 2;
            while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?')
                end++;
            u.host = str_slice(rest, 2, end);
            u.path = str_slice(rest, end, rest.n);
            struct str user;
            if (str_find_char(u.host, '@') >= 0)
                (void)str_cut(u.host, '@', &user, &u.host);
        }
    }
    (void)str_cut(u.path, '?', &u.path, &u.query);
    *ret = u;
    return split_host(ret);
}

static int fn_url(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct url_parts u;
    if (!is_text(v))
        return cel_no_overload(run);
    if (!parse_url(v->s, &u))
        return cel_error(run,
                         "URL parse error during conversion from string: parse \"" STR_FMT
                         "\": invalid URI for request",
                         STR_ARG(v->s));
    *ret = *v;
    ret->type = CEL_URL;
    return 0;
}

static int fn_is_url(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    struct url_parts u;
    if (!is_text(v))
        return cel_no_overload(run);
    *ret = cel_bool(parse_url(v->s, &u));
    return 0;
}

#define URL_PARTS(X)                                                                               \
    X(scheme, "getScheme", fn_scheme)                                                              \
    X(host, "getHost", fn_host)                                                                    \
    X(hostname, "getHostname", fn_hostname)                                                        \
    X(port, "getPort", fn_port)                                                                    \
    X(path, "getEscapedPath", fn_path)
#define URL_FUNCTION(part, name, fn)                                                               \
    static int fn(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret) \
    {                                                                                              \
        struct url_parts u = { 0 };                                                                \
        if (v->type != CEL_URL)                                                                    \
            return cel_no_overload(run);                                                           \
        (void)parse_url(v->s, &u);                                                                 \
        *ret = cel_string(u.part.n ? u.part : STR(""));                                            \
        return 0;                                                                                  \
    }
URL_PARTS(URL_FUNCTION)

/* One value of a query, and the index of its name. */
struct query_value {
    uint32_t name;
    struct str text;
};

/* Collects the names as keys of the map; at first their lists have a length but no values. */
static int read_query(struct cel_run *run, struct str query, struct cel_value *map,
                      struct cel_pair *names, struct query_value *values, size_t *ret_n)
{
    size_t n = 0;
    while (query.n) {
        struct str pair, name, value, key, text;
        (void)str_cut(query, '&', &pair, &query);
        (void)str_cut(pair, '=', &name, &value);
        if (pair.n == 0 || url_decode(run->a, name, true, &key) < 0 ||
            url_decode(run->a, value, true, &text) < 0)
            continue;
        const struct cel_value *list = cel_find(run, *map, cel_string(key));
        uint32_t at =
            list ? (uint32_t)(container_of(list, struct cel_pair, value) - names) : map->n;
        if (!list)
            names[map->n++] = (struct cel_pair){ cel_string(key), cel_list(NULL, 0) };
        names[at].value.n++;
        values[n++] = (struct query_value){ at, text };
        int r = cel_spend(run, 1);
        if (r < 0)
            return r;
    }
    *ret_n = n;
    return 0;
}

/* {name: [value, ...]} */
static int fn_query(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct url_parts u = { 0 };
    if (v->type != CEL_URL)
        return cel_no_overload(run);
    (void)parse_url(v->s, &u);
    size_t most = 1, n_values = 0;
    for (size_t i = 0; i < u.query.n; i++)
        most += u.query.p[i] == '&';
    struct cel_pair *names;
    struct query_value *values;
    struct cel_value *lists;
    int r = cel_take(run, most, sizeof *names, (void **)&names);
    if (r >= 0)
        r = cel_take(run, most, sizeof *values, (void **)&values);
    if (r >= 0)
        r = cel_take(run, most, sizeof *lists, (void **)&lists);
    struct cel_value map = { .type = CEL_MAP };
    if (r >= 0) {
        map.pairs = names;
        r = read_query(run, u.query, &map, names, values, &n_values);
    }
    if (r < 0)
        return r;
    for (size_t i = 0; i < map.n; i++) {
        struct cel_value *list = &names[i].value;
        list->list = lists;
        lists += list->n;
        list->n = 0;
    }
    for (size_t i = 0; i < n_values; i++) {
        struct cel_value *list = &names[values[i].name].value;
        ((struct cel_value *)(uintptr_t)list->list)[list->n++] = cel_string(values[i].text);
    }
    *ret = map;
    return 0;
}

/* ------------------------------------------------------------------ addresses */

/* Like upstream, without zones, IPv4-mapped IPv6, or leading zeros. */
static bool parse_address(struct str s, struct cel_address *ret)
{
    char text[64];
    *ret = (struct cel_address){ 0 };
    if (s.n == 0 || s.n >= sizeof text || memchr(s.p, 0, s.n))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    bool v6 = str_find_char(s, ':') >= 0;
    ret->n_bytes = v6 ? 16 : 4;
    ret->prefix = v6 ? 128 : 32;
    if (inet_pton(v6 ? AF_INET6 : AF_INET, text, ret->bytes) != 1)
        return false;
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    return !v6 || memcmp(ret->bytes, mapped, sizeof mapped) != 0;
}

static bool parse_cidr(struct str s, struct cel_address *ret)
{
    struct str ip, length;
    uint64_t n;
    if (!str_cut(s, '/', &ip, &length) || !parse_address(ip, ret) ||
        parse_u64(length, 0, ret->n_bytes * 8u, &n) < 0 || (length.n > 1 && length.p[0] == '0'))
        return false;
    ret->prefix = (uint8_t)n;
    return true;
}

bool cel_print_address(struct buf *to, const struct cel_value *v)
{
    char text[INET6_ADDRSTRLEN];
    const struct cel_address *x = v->address;
    (void)inet_ntop(x->n_bytes == 16 ? AF_INET6 : AF_INET, x->bytes, text, sizeof text);
    (void)buf_add_cstr(to, text);
    if (v->type == CEL_CIDR)
        (void)buf_printf(to, "/%u", x->prefix);
    return true;
}

static struct cel_value of_address(struct cel_run *run, enum cel_type type, struct cel_address x)
{
    struct cel_address *kept = arena_new(run->a, struct cel_address);
    *kept = x;
    return (struct cel_value){ .type = (uint8_t)type, .address = kept };
}

static int fn_ip(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct cel_address x;
    if (v->type == CEL_CIDR) { /* c.ip() */
        x = *v->address;
        x.prefix = (uint8_t)(x.n_bytes * 8);
        *ret = of_address(run, CEL_IP, x);
        return 0;
    }
    if (!is_text(v))
        return cel_no_overload(run);
    if (!parse_address(v->s, &x))
        return cel_error(run,
                         "IP Address \"" STR_FMT "\" parse error during conversion from string",
                         STR_ARG(v->s));
    *ret = of_address(run, CEL_IP, x);
    return 0;
}

static int fn_is_ip(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct cel_address x;
    if (!is_text(v))
        return cel_no_overload(run);
    *ret = cel_bool(parse_address(v->s, &x));
    return 0;
}

static int fn_is_canonical(struct cel_run *run, const struct cel_value *v, size_t n,
                           struct cel_value *ret)
{
    struct cel_value ip;
    int r = fn_ip(run, v, n, &ip);
    if (r < 0)
        return r;
    struct buf b = BUF_INIT(128);
    (void)cel_print_address(&b, &ip);
    *ret = cel_bool(str_eq(buf_str(&b), v->s));
    buf_fini(&b);
    return 0;
}

static int fn_cidr(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct cel_address x;
    if (!is_text(v))
        return cel_no_overload(run);
    if (!parse_cidr(v->s, &x))
        return cel_error(
            run, "network address parse error during conversion from string: \"" STR_FMT "\"",
            STR_ARG(v->s));
    *ret = of_address(run, CEL_CIDR, x);
    return 0;
}

static int fn_is_cidr(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    struct cel_address x;
    if (!is_text(v))
        return cel_no_overload(run);
    *ret = cel_bool(parse_cidr(v->s, &x));
    return 0;
}

static int fn_family(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    if (v->type != CEL_IP)
        return cel_no_overload(run);
    *ret = cel_int(v->address->n_bytes == 16 ? 6 : 4);
    return 0;
}

static bool is_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static bool is_loopback(const struct cel_address *x)
{
    return x->n_bytes == 4 ? x->bytes[0] == 127 : is_zero(x->bytes, 15) && x->bytes[15] == 1;
}

static bool is_multicast(const struct cel_address *x)
{
    return x->n_bytes == 4 ? (x->bytes[0] & 0xf0) == 0xe0 : x->bytes[0] == 0xff;
}

static bool is_local_multicast(const struct cel_address *x)
{
    static const uint8_t v4[] = { 224, 0, 0 };
    return x->n_bytes == 4 ? memcmp(x->bytes, v4, 3) == 0
                           : x->bytes[0] == 0xff && (x->bytes[1] & 0x0f) == 2;
}

static bool is_local_unicast(const struct cel_address *x)
{
    return x->n_bytes == 4 ? x->bytes[0] == 169 && x->bytes[1] == 254
                           : x->bytes[0] == 0xfe && (x->bytes[1] & 0xc0) == 0x80;
}

static bool is_unspecified(const struct cel_address *x)
{
    return is_zero(x->bytes, x->n_bytes);
}

static bool is_global_unicast(const struct cel_address *x)
{
    static const uint8_t broadcast[] = { 255, 255, 255, 255 };
    return !(x->n_bytes == 4 && memcmp(x->bytes, broadcast, 4) == 0) && !is_unspecified(x) &&
           !is_loopback(x) && !is_multicast(x) && !is_local_unicast(x);
}

#define IP_QUESTIONS(X)                                                                            \
    X(is_unspecified, "isUnspecified", fn_unspecified)                                             \
    X(is_loopback, "isLoopback", fn_loopback)                                                      \
    X(is_local_multicast, "isLinkLocalMulticast", fn_local_multicast)                              \
    X(is_local_unicast, "isLinkLocalUnicast", fn_local_unicast)                                    \
    X(is_global_unicast, "isGlobalUnicast", fn_global_unicast)
#define IP_FUNCTION(question, name, fn)                                                            \
    static int fn(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret) \
    {                                                                                              \
        if (v->type != CEL_IP)                                                                     \
            return cel_no_overload(run);                                                           \
        *ret = cel_bool(question(v->address));                                                     \
        return 0;                                                                                  \
    }
IP_QUESTIONS(IP_FUNCTION)

static void mask(struct cel_address *x, unsigned prefix)
{
    for (unsigned i = 0; i < x->n_bytes; i++) {
        unsigned bits = prefix > i * 8 ? MIN(prefix - i * 8, 8u) : 0;
        x->bytes[i] = (uint8_t)(x->bytes[i] & (0xff00 >> bits));
    }
}

/* `inner` may be a string. */
static int contains_address(struct cel_run *run, const struct cel_value *v, enum cel_type type,
                            struct cel_value *ret)
{
    struct cel_value inner = v[1];
    int r = 0;
    if (is_text(&inner))
        r = type == CEL_IP ? fn_ip(run, &v[1], 1, &inner) : fn_cidr(run, &v[1], 1, &inner);
    if (r < 0)
        return r;
    if (v[0].type != CEL_CIDR || inner.type != type)
        return cel_no_overload(run);
    struct cel_address net = *v[0].address, x = *inner.address;
    bool narrower = x.prefix >= net.prefix && x.n_bytes == net.n_bytes;
    mask(&x, net.prefix);
    mask(&net, net.prefix);
    *ret = cel_bool(narrower && memcmp(x.bytes, net.bytes, net.n_bytes) == 0);
    return 0;
}

static int fn_contains_ip(struct cel_run *run, const struct cel_value *v, size_t n,
                          struct cel_value *ret)
{
    return contains_address(run, v, CEL_IP, ret);
}

static int fn_contains_cidr(struct cel_run *run, const struct cel_value *v, size_t n,
                            struct cel_value *ret)
{
    return contains_address(run, v, CEL_CIDR, ret);
}

static int fn_masked(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    if (v->type != CEL_CIDR)
        return cel_no_overload(run);
    struct cel_address x = *v->address;
    mask(&x, x.prefix);
    *ret = of_address(run, CEL_CIDR, x);
    return 0;
}

static int fn_prefix_length(struct cel_run *run, const struct cel_value *v, size_t n,
                            struct cel_value *ret)
{
    if (v->type != CEL_CIDR)
        return cel_no_overload(run);
    *ret = cel_int(v->address->prefix);
    return 0;
}

/* ------------------------------------------------------------------ sets */

static bool has(struct cel_run *run, const struct cel_value *list, struct cel_value x)
{
    for (size_t i = 0; i < list->n; i++)
        if (cel_equal(run, list->list[i], x))
            return true;
    return false;
}

static bool has_all(struct cel_run *run, const struct cel_value *list, const struct cel_value *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (!has(run, list, all->list[i]))
            return false;
    return true;
}

static int check_lists(struct cel_run *run, const struct cel_value *v)
{
    return v[0].type == CEL_LIST && v[1].type == CEL_LIST ? 0 : cel_no_overload(run);
}

static int fn_set_contains(struct cel_run *run, const struct cel_value *v, size_t n,
                           struct cel_value *ret)
{
    int r = check_lists(run, v);
    *ret = cel_bool(r >= 0 && has_all(run, &v[0], &v[1]));
    return r < 0 ? r : cel_spend(run, 0);
}

static int fn_set_equivalent(struct cel_run *run, const struct cel_value *v, size_t n,
                             struct cel_value *ret)
{
    int r = check_lists(run, v);
    *ret = cel_bool(r >= 0 && has_all(run, &v[0], &v[1]) && has_all(run, &v[1], &v[0]));
    return r < 0 ? r : cel_spend(run, 0);
}

static int fn_set_intersects(struct cel_run *run, const struct cel_value *v, size_t n,
                             struct cel_value *ret)
{
    int r = check_lists(run, v);
    *ret = cel_bool(false);
    for (size_t i = 0; r >= 0 && i < v[1].n && !ret->b; i++)
        ret->b = has(run, &v[0], v[1].list[i]);
    return r < 0 ? r : cel_spend(run, 0);
}

/* ------------------------------------------------------------------ formats */

static struct meta_problems one_problem(bool bad, const char *text)
{
    struct meta_problems p = { 0 };
    if (bad) {
        p.n = 1;
        p.text[0] = text;
    }
    return p;
}

static bool is_uuid(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = (char)(s.p[i] | 0x20);
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (dash ? s.p[i] != '-' : !hex)
            return false;
    }
    return s.n == 36;
}

static bool is_base64(struct str s)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    bool ok = base64_decode(&b, s, BASE64_STD) == 0;
    buf_fini(&b);
    return ok;
}

static bool is_moment(struct str s, bool date)
{
    int64_t us;
    char whole_text[40];
    if (date && s.n != 10)
        return false;
    (void)snprintf(whole_text, sizeof whole_text, STR_FMT "T00:00:00Z",
                   STR_ARG(str_slice(s, 0, 10)));
    return rfc3339_parse(date ? str_of(whole_text) : s, &us) >= 0;
}

#define FORMATS(X)                                                                                 \
    X("dns1123Label", meta_check_dns1123_label(s))                                                 \
    X("dns1123Subdomain", meta_check_dns1123_subdomain(s))                                         \
    X("dns1035Label", meta_check_dns1035_label(s))                                                 \
    X("qualifiedName", meta_check_qualified_name(s))                                               \
    X("labelValue", meta_check_label_value(s))                                                     \
    X("dns1123LabelPrefix", meta_check_dns1123_label(without_dash(a, s)))                          \
    X("dns1123SubdomainPrefix", meta_check_dns1123_subdomain(without_dash(a, s)))                  \
    X("dns1035LabelPrefix", meta_check_dns1035_label(without_dash(a, s)))                          \
    X("uri", one_problem(!parse_url(s, &(struct url_parts){ 0 }), "invalid uri"))                  \
    X("uuid", one_problem(!is_uuid(s), "does not match the UUID format"))                          \
    X("byte", one_problem(!is_base64(s), "invalid base64"))                                        \
    X("date", one_problem(!is_moment(s, true), "invalid date"))                                    \
    X("datetime", one_problem(!is_moment(s, false), "invalid datetime"))

static struct str without_dash(struct arena *a, struct str s)
{
    if (!str_has_suffix(s, STR("-")) || s.n < 2)
        return s;
    return str_of(arena_printf(a, STR_FMT "a", STR_ARG(str_slice(s, 0, s.n - 1))));
}

static bool check_format(struct arena *a, struct str name, struct str s, struct meta_problems *ret)
{
#define FORMAT_CHECK(text, expr)                                                                   \
    if (str_is(name, text)) {                                                                      \
        *ret = expr;                                                                               \
        return true;                                                                               \
    }
    FORMATS(FORMAT_CHECK)
#undef FORMAT_CHECK
    return false;
}

static int fn_named(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct meta_problems ignored;
    if (!is_text(v))
        return cel_no_overload(run);
    struct cel_value format = { .type = CEL_FORMAT, .s = v->s };
    *ret = cel_optional(run->a, check_format(run->a, v->s, STR(""), &ignored) ? &format : NULL);
    return 0;
}

/* An optional: empty when the value has the format, else the errors. */
static int fn_validate(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    struct meta_problems p = { 0 };
    if (v[0].type != CEL_FORMAT || !is_text(&v[1]))
        return cel_no_overload(run);
    (void)check_format(run->a, v[0].s, v[1].s, &p);
    struct cel_value *all = arena_new_n(run->a, struct cel_value, p.n + 1);
    for (size_t i = 0; i < p.n; i++)
        all[i] = cel_string(str_copy_arena(run->a, str_of(p.text[i])));
    struct cel_value list = cel_list(all, p.n);
    *ret = cel_optional(run->a, p.n ? &list : NULL);
    return cel_spend(run, v[1].s.n / 10);
}

/* ------------------------------------------------------------------ optionals */

static int fn_of(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    *ret = cel_optional(run->a, v);
    return 0;
}

static int fn_none(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    *ret = cel_optional(run->a, NULL);
    return 0;
}

static int fn_of_non_zero(struct cel_run *run, const struct cel_value *v, size_t n,
                          struct cel_value *ret)
{
    bool zero = v->type == CEL_NULL || (v->type == CEL_BOOL && !v->b) ||
                (v->type == CEL_INT && v->i == 0) || (v->type == CEL_UINT && v->u == 0) ||
                (v->type == CEL_DOUBLE && fpclassify(v->d) == FP_ZERO) ||
                ((v->type == CEL_STRING || v->type == CEL_BYTES) && v->s.n == 0) ||
                ((v->type == CEL_LIST || v->type == CEL_MAP) && v->n == 0);
    *ret = cel_optional(run->a, zero ? NULL : v);
    return 0;
}

static int fn_has_value(struct cel_run *run, const struct cel_value *v, size_t n,
                        struct cel_value *ret)
{
    if (v->type != CEL_OPTIONAL)
        return cel_no_overload(run);
    *ret = cel_bool(v->held != NULL);
    return 0;
}

static int fn_value(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type != CEL_OPTIONAL)
        return cel_no_overload(run);
    if (!v->held)
        return cel_error(run, "optional.none() dereference");
    *ret = cel_resolve(run, *v->held);
    return 0;
}

static int fn_or(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v[0].type != CEL_OPTIONAL || v[1].type != CEL_OPTIONAL)
        return cel_no_overload(run);
    *ret = v[0].held ? v[0] : v[1];
    return 0;
}

static int fn_or_value(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    if (v->type != CEL_OPTIONAL)
        return cel_no_overload(run);
    *ret = v[0].held ? cel_resolve(run, *v[0].held) : v[1];
    return 0;
}

/* ------------------------------------------------------------------ table of functions */

enum { FUNCTION = CEL_FUNCTION, METHOD = CEL_METHOD };

static const struct cel_function functions[] = {
    { "quantity", FUNCTION, 1, 1, fn_quantity },
    { "isQuantity", FUNCTION, 1, 1, fn_is_quantity },
    { "isGreaterThan", METHOD, 2, 2, fn_greater },
    { "isLessThan", METHOD, 2, 2, fn_less },
    { "compareTo", METHOD, 2, 2, fn_compare },
    { "sign", METHOD, 1, 1, fn_sign },
    { "asInteger", METHOD, 1, 1, fn_as_integer },
    { "isInteger", METHOD, 1, 1, fn_is_integer },
    { "asApproximateFloat", METHOD, 1, 1, fn_as_float },
    { "add", METHOD, 2, 2, fn_add },
    { "sub", METHOD, 2, 2, fn_sub },
    { "semver", FUNCTION, 1, 2, fn_semver },
    { "isSemver", FUNCTION, 1, 2, fn_is_semver },
#define SEMVER_ROW(part, name, fn) { name, METHOD, 1, 1, fn },
    SEMVER_PARTS(SEMVER_ROW)
#undef SEMVER_ROW
        { "url", FUNCTION, 1, 1, fn_url },
    { "isURL", FUNCTION, 1, 1, fn_is_url },
#define URL_ROW(part, name, fn) { name, METHOD, 1, 1, fn },
    URL_PARTS(URL_ROW)
#undef URL_ROW
        { "getQuery", METHOD, 1, 1, fn_query },
    { "ip", FUNCTION | METHOD, 1, 1, fn_ip },
    { "isIP", FUNCTION, 1, 1, fn_is_ip },
    { "ip.isCanonical", FUNCTION, 1, 1, fn_is_canonical },
    { "cidr", FUNCTION, 1, 1, fn_cidr },
    { "isCIDR", FUNCTION, 1, 1, fn_is_cidr },
    { "family", METHOD, 1, 1, fn_family },
#define IP_ROW(question, name, fn) { name, METHOD, 1, 1, fn },
    IP_QUESTIONS(IP_ROW)
#undef IP_ROW
        { "containsIP", METHOD, 2, 2, fn_contains_ip },
    { "containsCIDR", METHOD, 2, 2, fn_contains_cidr },
    { "masked", METHOD, 1, 1, fn_masked },
    { "prefixLength", METHOD, 1, 1, fn_prefix_length },
    { "sets.contains", FUNCTION, 2, 2, fn_set_contains },
    { "sets.equivalent", FUNCTION, 2, 2, fn_set_equivalent },
    { "sets.intersects", FUNCTION, 2, 2, fn_set_intersects },
    { "format.named", FUNCTION, 1, 1, fn_named },
    { "validate", METHOD, 2, 2, fn_validate },
    { "optional.of", FUNCTION, 1, 1, fn_of },
    { "optional.none", FUNCTION, 0, 0, fn_none },
    { "optional.ofNonZeroValue", FUNCTION, 1, 1, fn_of_non_zero },
    { "hasValue", METHOD, 1, 1, fn_has_value },
    { "value", METHOD, 1, 1, fn_value },
    { "or", METHOD, 2, 2, fn_or },
    { "orValue", METHOD, 2, 2, fn_or_value },
};

/* format.uuid() and similar functions. */
static bool is_format_function(struct str name, struct str *ret_format)
{
    struct meta_problems ignored;
    struct arena a = { 0 };
    if (!str_has_prefix(name, STR("format.")))
        return false;
    *ret_format = str_slice(name, 7, name.n);
    bool known = check_format(&a, *ret_format, STR(""), &ignored);
    arena_fini(&a);
    return known;
}

int cel_call_library(struct cel_run *run, struct str name, bool method,
                     const struct cel_value *args, size_t n, struct cel_value *ret)
{
    struct str format;
    int r = cel_call_of(functions, ARRAY_LEN(functions), run, name, method, args, n, ret);
    if (r != E_UNSUPPORTED || method || n || !is_format_function(name, &format))
        return r;
    *ret = (struct cel_value){ .type = CEL_FORMAT, .s = format };
    return 0;
}
