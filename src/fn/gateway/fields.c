/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields; see fields.h. Runs for every field of every message: most are excluded by their length.
 */
#include "fn/gateway/fields.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>

enum fields_kind {
    PLAIN,
    HOP, /* never passed on */
    HOST,
    LENGTH,
    TE,
    UPGRADE,
    CONNECTION,
    OURS, /* x-dormouse-* */
    TAG,
    FORWARDED_BY,
    FOR,
    OVERRIDDEN, /* x-forwarded-proto, -host, -prefix */
    FORWARDED,
    TRACE,
    CALL_ID,
    CONTENT_TYPE,
    PREFER,
    ASYNC,
    AUTHORIZATION
};

static enum fields_kind kind_of(struct str name)
{
    if (name.n >= 11 && memcmp(name.p, "x-dormouse-", 11) == 0) {
        if (str_is(name, "x-dormouse-tag"))
            return TAG;
        return str_is(name, "x-dormouse-forwarded-by") ? FORWARDED_BY : OURS;
    }
    switch (name.n) {
    case 2:
        return str_is(name, "te") ? TE : PLAIN;
    case 4:
        return str_is(name, "host") ? HOST : PLAIN;
    case 6:
        if (str_is(name, "expect"))
            return HOP;
        return str_is(name, "prefer") ? PREFER : PLAIN;
    case 7:
        if (str_is(name, "trailer"))
            return HOP;
        return str_is(name, "upgrade") ? UPGRADE : PLAIN;
    case 9:
        if (str_is(name, "forwarded"))
            return FORWARDED;
        return str_is(name, "x-call-id") ? CALL_ID : PLAIN;
    case 10:
        if (str_is(name, "keep-alive"))
            return HOP;
        return str_is(name, "connection") ? CONNECTION : PLAIN;
    case 11:
        return str_is(name, "traceparent") ? TRACE : PLAIN;
    case 12:
        return str_is(name, "content-type") ? CONTENT_TYPE : PLAIN;
    case 13:
        return str_is(name, "authorization") ? AUTHORIZATION : PLAIN;
    case 14:
        return str_is(name, "content-length") ? LENGTH : PLAIN;
    case 15:
        return str_is(name, "x-forwarded-for") ? FOR : PLAIN;
    case 16:
        if (str_is(name, "proxy-connection"))
            return HOP;
        return str_is(name, "x-forwarded-host") ? OVERRIDDEN : PLAIN;
    case 17:
        if (str_is(name, "transfer-encoding"))
            return HOP;
        return str_is(name, "x-forwarded-proto") ? OVERRIDDEN : PLAIN;
    case 18:
        if (str_is(name, "proxy-authenticate"))
            return HOP;
        return str_is(name, "x-forwarded-prefix") ? OVERRIDDEN : PLAIN;
    case 19:
        return str_is(name, "proxy-authorization") ? HOP : PLAIN;
    case 21:
        return str_is(name, "x-amz-invocation-type") ? ASYNC : PLAIN;
    case 22:
        return str_is(name, "x-faas-invocation-type") ? ASYNC : PLAIN;
    default:
        return PLAIN;
    }
}

/* Has a comma-separated list this token, parameters aside? */
static bool has_token(struct str list, struct str token)
{
    for (bool more = true; more;) {
        struct str item, word;
        more = str_cut(list, ',', &item, &list);
        (void)str_cut(item, ';', &word, &item);
        if (str_ieq(str_trim(word), token))
            return true;
    }
    return false;
}

/* Does a field `connection` name this one? */
static bool is_named(const struct headers *h, struct str name)
{
    for (size_t i = 0; i < h->n; i++)
        if (str_is(headers_name(h, i), "connection") && has_token(headers_value(h, i), name))
            return true;
    return false;
}

static bool names_fields(struct str connection)
{
    static const char *const usual[] = { "close", "keep-alive", "upgrade", "te", "" };
    for (bool more = true; more;) {
        struct str item;
        more = str_cut(connection, ',', &item, &connection);
        bool known = false;
        for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
            known = known || str_ieq(str_trim(item), str_of(usual[i]));
        if (!known)
            return true;
    }
    return false;
}

static bool is_grpc(struct str type)
{
    return str_has_prefix(type, STR("application/grpc")) &&
           (type.n == 16 || type.p[16] == '+' || type.p[16] == ';');
}

void fields_scan(const struct headers *h, struct fields *ret)
{
    *ret = (struct fields){ 0 };
    for (size_t i = 0; i < h->n; i++) {
        struct str value = headers_value(h, i);
        switch (kind_of(headers_name(h, i))) {
        case PLAIN:
        case HOP:
        case LENGTH:
        case UPGRADE:
        case OURS:
        case OVERRIDDEN:
            break;
        case HOST:
            ret->host = value;
            break;
        case TE:
            ret->te_trailers = has_token(value, STR("trailers"));
            break;
        case CONNECTION:
            ret->names_connection = ret->names_connection || names_fields(value);
            break;
        case TAG:
            ret->tag = value;
            break;
        case FORWARDED_BY:
            ret->forwarded_by = value;
            break;
        case FOR:
            ret->for_ = value;
            break;
        case FORWARDED:
            ret->forwarded = value;
            break;
        case TRACE:
            ret->trace = ret->trace.p ? STR("") : value; /* two of them count as none */
            break;
        case CALL_ID:
            ret->call_id = value;
            break;
        case CONTENT_TYPE:
            ret->is_grpc = is_grpc(value);
            break;
        case PREFER:
            ret->is_async = ret->is_async || has_token(value, STR("respond-async"));
            break;
        case ASYNC:
            ret->is_async =
                ret->is_async || str_ieq(value, STR("async")) || str_ieq(value, STR("event"));
            break;
        case AUTHORIZATION:
            ret->authorization = value;
            break;
        }
    }
}

/* "address:port" or "[address]:port" without the port and the brackets. */
static struct str address_of(struct str peer)
{
    size_t n = peer.n;
    while (n && peer.p[n - 1] != ':')
        n--;
    struct str a = n ? str_slice(peer, 0, n - 1) : peer;
    if (a.n > 1 && a.p[0] == '[' && a.p[a.n - 1] == ']')
        a = str_slice(a, 1, a.n - 1);
    return a;
}

/* Builds a value. Used for every request, so it avoids printf formats. */
struct value {
    char p[1024];
    size_t n;
};

static void put(struct value *v, struct str s)
{
    size_t n = MIN(s.n, sizeof v->p - v->n);
    if (n)
        memcpy(v->p + v->n, s.p, n);
    v->n += n;
}

/* "FORMER, NEW". A former list that is too long to be genuine is dropped. */
static int add_list(struct headers *to, const char *name, struct str former, struct str item)
{
    struct value v;
    v.n = 0;
    if (former.n && former.n <= sizeof v.p / 2) {
        put(&v, former);
        put(&v, STR(", "));
    }
    put(&v, item);
    return headers_add(to, str_of(name), str_n(v.p, v.n));
}

static struct str forwarded(struct value *v, struct str address, struct str host, struct str scheme)
{
    bool is_v6 = str_find_char(address, ':') >= 0, quote = false;
    for (size_t i = 0; i < host.n; i++)
        quote = quote || host.p[i] == ':';
    put(v, is_v6 ? STR("for=\"[") : STR("for="));
    put(v, address);
    put(v, is_v6 ? STR("]\"") : STR(""));
    if (host.n) {
        put(v, quote ? STR(";host=\"") : STR(";host="));
        put(v, host);
        put(v, quote ? STR("\"") : STR(""));
    }
    put(v, STR(";proto="));
    put(v, scheme);
    return str_n(v->p, v->n);
}

static int add_origin(struct headers *to, const struct fields *f, const struct fields_add *add)
{
    struct str address = address_of(add->peer), scheme = add->is_tls ? STR("https") : STR("http");
    struct str host = f->host.n <= 255 ? f->host : STR("");
    struct value element;
    element.n = 0;
    address = str_slice(address, 0, MIN(address.n, (size_t)64));
    int r = add_list(to, "x-forwarded-for", f->for_, address);
    if (r == 0)
        r = headers_add(to, STR("x-forwarded-proto"), scheme);
    if (r == 0 && host.n)
        r = headers_add(to, STR("x-forwarded-host"), host);
    if (str_find_char(host, '"') >= 0 || str_find_char(host, '\\') >= 0)
        host.n = 0;
    return r < 0 ? r
                 : add_list(to, "forwarded", f->forwarded,
                            forwarded(&element, address, host, scheme));
}

static bool goes_on(enum fields_kind k, const struct fields_add *add)
{
    switch (k) {
    case PLAIN:
    case CONTENT_TYPE:
    case PREFER:
    case ASYNC:
    case AUTHORIZATION:
        return true;
    case TRACE:
        return !add->trace;
    case UPGRADE:
        return add->upgrade;
    case FOR:
    case OVERRIDDEN:
    case FORWARDED:
    case CALL_ID:
        return add->is_trusted;
    case HOST:
        return add->add_host;
    case HOP:
    case LENGTH:
    case TE:
    case CONNECTION:
    case OURS:
    case TAG:
    case FORWARDED_BY:
        return false;
    }
    return false;
}

static int copy(struct headers *to, const struct headers *h, const struct fields *f,
                const struct fields_add *add)
{
    for (size_t i = 0; i < h->n; i++) {
        struct str name = headers_name(h, i);
        enum fields_kind k = kind_of(name);
        if (!goes_on(k, add) || (f->names_connection && k != HOST && is_named(h, name)))
            continue;
        int r = headers_add(to, name, headers_value(h, i));
        if (r < 0)
            return r;
    }
    int r = f->te_trailers ? headers_add(to, STR("te"), STR("trailers")) : 0;
    if (r == 0 && add->trace)
        r = headers_add(to, STR("traceparent"), str_of(add->trace));
    if (r == 0 && add->call_id.n && !(add->is_trusted && f->call_id.n))
        r = headers_add(to, STR("x-call-id"), add->call_id);
    return r < 0 || add->is_trusted ? r : add_origin(to, f, add);
}

int fields_for_sandbox(struct headers *to, const struct headers *h, const struct fields *f,
                       const struct fields_add *add)
{
    int r = copy(to, h, f, add);
    if (r == 0 && add->prefix.n)
        r = headers_set(to, STR("x-forwarded-prefix"), add->prefix);
    return r;
}

int fields_for_gateway(struct headers *to, const struct headers *h, const struct fields *f,
                       const struct fields_add *add)
{
    int r = copy(to, h, f, add);
    if (r == 0 && f->tag.n)
        r = headers_add(to, STR("x-dormouse-tag"), f->tag);
    return r;
}

int fields_for_client(struct headers *to, const struct headers *h, bool upgrade, bool by_gateway,
                      uint64_t *ret_length)
{
    *ret_length = UINT64_MAX;
    struct str connection = headers_get(h, "connection");
    bool names = connection.n && names_fields(connection);
    for (size_t i = 0; i < h->n; i++) {
        struct str name = headers_name(h, i), value = headers_value(h, i);
        enum fields_kind k = kind_of(name);
        if (k == LENGTH) {
            if (parse_u64(value, 0, UINT64_MAX - 1, ret_length) < 0)
                return -EINVAL;
            continue;
        }
        if (k == HOP && str_is(name, "trailer"))
            k = PLAIN; /* names the trailer fields, which are passed on */
        if (k == HOP || k == CONNECTION || (k == UPGRADE && !upgrade) || k == TE)
            continue;
        if ((k == OURS || k == TAG || k == FORWARDED_BY) && !by_gateway)
            continue; /* a function must not set the gateway's own fields */
        if (names && is_named(h, name))
            continue;
        int r = headers_add(to, name, value);
        if (r < 0)
            return r;
    }
    return 0;
}

int fields_trailers(struct headers *to, const struct headers *trailers, bool by_gateway)
{
    for (size_t i = 0; i < trailers->n; i++) {
        enum fields_kind k = kind_of(headers_name(trailers, i));
        if (k != PLAIN && !(k == OURS && by_gateway))
            continue;
        int r = headers_add(to, headers_name(trailers, i), headers_value(trailers, i));
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
            return false;
    return true;
}

static bool is_zero(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '0')
            return false;
    return true;
}

/* VERSION "-" TRACE "-" SPAN "-" FLAGS; later versions may append more. */
bool fields_is_trace(struct str s)
{
    if (s.n < FIELDS_TRACE_BYTES - 1 || s.p[2] != '-' || s.p[35] != '-' || s.p[52] != '-')
        return false;
    struct str version = str_slice(s, 0, 2), id = str_slice(s, 3, 35), span = str_slice(s, 36, 52);
    bool is_known = str_is(version, "00");
    return is_hex(version) && !str_is(version, "ff") && is_hex(id) && !is_zero(id) &&
           is_hex(span) && !is_zero(span) && is_hex(str_slice(s, 53, 55)) &&
           (s.n == FIELDS_TRACE_BYTES - 1 || (!is_known && s.p[55] == '-'));
}

void fields_hex(char to[16], uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 15; i >= 0; i--, v >>= 4)
        to[i] = digits[v & 15];
}

void fields_make_trace(struct rng *random, char to[FIELDS_TRACE_BYTES])
{
    memcpy(to, "00-", 3);
    fields_hex(to + 3, rng_next(random));
    fields_hex(to + 19, rng_next(random) | 1);
    to[35] = '-';
    fields_hex(to + 36, rng_next(random) | 1);
    memcpy(to + 52, "-00", 4);
}
