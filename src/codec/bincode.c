/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of the published operator ABIs; see bincode.h. */
#include "codec/bincode.h"

#include <assert.h>
#include <errno.h>

/* A reader that keeps the first error; later ones are consequences. */
struct in {
    struct rd rd;
    struct err *err;
    int status;
};

static int complain(struct in *in, int code, const char *what)
{
    if (in->status == 0)
        in->status = err_set(in->err, code, "%s", what);
    return in->status;
}

static void complain_about(struct in *in, int code, const char *field, const char *what)
{
    if (in->status == 0)
        in->status = err_set(in->err, code, "%s is %s", field, what);
}

static struct in in_init(struct str bytes, struct err *err)
{
    return (struct in){ .rd = rd_init(bytes.p, bytes.n), .err = err };
}

static int in_status(struct in *in)
{
    return rd_ok(&in->rd) ? in->status : complain(in, E_PARSE, "truncated");
}

static struct str read_bytes(struct in *in)
{
    return rd_str(&in->rd, rd_le64(&in->rd));
}

static struct str read_string(struct in *in, size_t max, const char *name)
{
    struct str s = read_bytes(in);
    if (s.n > max)
        complain_about(in, E_LIMIT, name, "too long");
    else if (!str_is_utf8(s))
        complain_about(in, E_PARSE, name, "not UTF-8");
    return s;
}

static bool read_flag(struct in *in)
{
    uint8_t v = rd_u8(&in->rd);
    if (v > 1)
        (void)complain(in, E_PARSE, "a bool or an option's tag is neither 0 nor 1");
    return v == 1;
}

static struct str read_option(struct in *in, const char *name)
{
    if (!read_flag(in))
        return STR_NULL;
    return read_string(in, BINCODE_MAX_STRING_BYTES, name);
}

static void read_header_values(struct in *in, struct str name, struct headers *ret)
{
    uint64_t n = rd_le64(&in->rd);
    for (uint64_t i = 0; i < n && in_status(in) == 0; i++) {
        struct str value = read_bytes(in);
        if (!rd_ok(&in->rd))
            return;
        int r = headers_add(ret, name, value);
        if (r < 0)
            (void)complain(in, r == -EINVAL ? E_PARSE : E_LIMIT,
                           r == -EINVAL ? "header with bytes that HTTP does not allow"
                                        : "too many headers");
    }
}

/* Each iteration consumes 16 bytes at least or fails, so a false count ends with the input. */
static void read_headers(struct in *in, struct headers *ret)
{
    uint64_t n = rd_le64(&in->rd);
    for (uint64_t i = 0; i < n && in_status(in) == 0; i++) {
        struct str name = read_bytes(in);
        if (rd_ok(&in->rd) && !headers_is_token(name))
            (void)complain(in, E_PARSE, "header name is not a token");
        read_header_values(in, name, ret);
    }
}

static bool is_uri(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '#')
            return false;
    return true;
}

/* The part of a URI that an HTTP/1.1 request line carries; NULL without a path. */
static struct str origin_form(struct str uri)
{
    static const struct str schemes[] = { { "http://", 7 }, { "https://", 8 } };
    for (size_t i = 0; i < 2; i++) {
        if (!str_ieq(str_slice(uri, 0, schemes[i].n), schemes[i]))
            continue;
        struct str rest = str_slice(uri, schemes[i].n, uri.n);
        ptrdiff_t slash = str_find_char(rest, '/'), query = str_find_char(rest, '?');
        if (slash < 0 && query < 0)
            return STR("/");
        if (slash < 0 || (query >= 0 && query < slash))
            return STR_NULL;
        return str_slice(rest, (size_t)slash, rest.n);
    }
    return uri.n && uri.p[0] == '/' ? uri : STR_NULL;
}

int bincode_request_decode(struct str bytes, struct bincode_request *ret, struct err *err)
{
    struct in in = in_init(bytes, err);
    struct bincode_request req = { 0 };
    req.method = read_string(&in, BINCODE_MAX_METHOD_BYTES, "method");
    req.uri = read_string(&in, BINCODE_MAX_URI_BYTES, "uri");
    read_headers(&in, &req.headers);
    req.body = read_bytes(&in);
    req.target = origin_form(req.uri);
    int r = in_status(&in);
    if (r == 0 && !headers_is_token(req.method))
        r = complain(&in, E_PARSE, "method is not a token");
    if (r == 0 && (!is_uri(req.uri) || !req.target.p))
        r = complain(&in, E_PARSE,
                     "uri is neither in origin form nor in absolute form with a path");
    if (r < 0) {
        bincode_request_fini(&req);
        return err_ctx(err, r, "HttpRequest");
    }
    *ret = req;
    return 0;
}

void bincode_request_fini(struct bincode_request *r)
{
    headers_fini(&r->headers);
}

static int decode_response(struct str bytes, bool with_body, struct bincode_response *ret,
                           struct err *err)
{
    struct in in = in_init(bytes, err);
    struct bincode_response res = { .status = rd_le16(&in.rd) };
    read_headers(&in, &res.headers);
    res.body = with_body ? read_bytes(&in) : STR("");
    int r = in_status(&in);
    if (r == 0 && (res.status < 100 || res.status > 999))
        r = complain(&in, E_PARSE, "status is not between 100 and 999");
    if (r < 0) {
        bincode_response_fini(&res);
        return err_ctx(err, r, with_body ? "HttpResponse" : "HttpResponseMeta");
    }
    *ret = res;
    return 0;
}

int bincode_response_decode(struct str bytes, struct bincode_response *ret, struct err *err)
{
    return decode_response(bytes, true, ret, err);
}

int bincode_response_meta_decode(struct str bytes, struct bincode_response *ret, struct err *err)
{
    return decode_response(bytes, false, ret, err);
}

void bincode_response_fini(struct bincode_response *r)
{
    headers_fini(&r->headers);
}

int bincode_watch_decode(struct str bytes, struct bincode_watch *ret, struct err *err)
{
    enum { MAX = BINCODE_MAX_STRING_BYTES };
    struct in in = in_init(bytes, err);
    struct bincode_watch w;
    w.api_version = read_string(&in, MAX, "api_version");
    w.group = read_string(&in, MAX, "group");
    w.kind = read_string(&in, MAX, "kind");
    w.version = read_string(&in, MAX, "version");
    w.ns = read_option(&in, "namespace");
    w.resource_version = read_string(&in, MAX, "resource_version");
    w.field_selector = read_option(&in, "field_selector");
    w.include_uninitialized = read_flag(&in);
    w.label_selector = read_option(&in, "label_selector");
    w.allow_bookmarks = read_flag(&in);
    int r = in_status(&in);
    if (r < 0)
        return err_ctx(err, r, "WatchRequest");
    *ret = w;
    return 0;
}

/* ---- encoding ---- */

static void put_bytes(struct buf *to, struct str s)
{
    buf_add_le64(to, s.n);
    buf_add_str(to, s);
}

static void put_option(struct buf *to, struct str s)
{
    buf_add_u8(to, s.p != NULL);
    if (s.p)
        put_bytes(to, s);
}

/* The first entry with the name of entry i; names are stored in lower case. */
static size_t first_of_name(const struct headers *h, size_t i)
{
    size_t first = 0;
    while (!str_eq(headers_name(h, first), headers_name(h, i)))
        first++;
    return first;
}

static void put_headers(struct buf *to, const struct headers *h)
{
    uint64_t n_values[HEADERS_MAX] = { 0 }, n_names = 0;
    size_t first[HEADERS_MAX];
    assert(h->n <= HEADERS_MAX);
    for (size_t i = 0; i < h->n; i++) {
        first[i] = first_of_name(h, i);
        n_values[first[i]]++;
        n_names += first[i] == i;
    }
    buf_add_le64(to, n_names);
    for (size_t i = 0; i < h->n; i++) {
        if (first[i] != i)
            continue;
        put_bytes(to, headers_name(h, i));
        buf_add_le64(to, n_values[i]);
        for (size_t k = i; k < h->n; k++)
            if (first[k] == i)
                put_bytes(to, headers_value(h, k));
    }
}

int bincode_request_encode(struct buf *to, const struct bincode_request *r)
{
    put_bytes(to, r->method);
    put_bytes(to, r->uri);
    put_headers(to, &r->headers);
    put_bytes(to, r->body);
    return to->failed;
}

int bincode_response_meta_encode(struct buf *to, const struct bincode_response *r)
{
    assert(r->status >= 100 && r->status <= 999);
    buf_add_le16(to, (uint16_t)r->status);
    put_headers(to, &r->headers);
    return to->failed;
}

int bincode_response_encode(struct buf *to, const struct bincode_response *r)
{
    (void)bincode_response_meta_encode(to, r);
    put_bytes(to, r->body);
    return to->failed;
}

int bincode_watch_encode(struct buf *to, const struct bincode_watch *w)
{
    put_bytes(to, w->api_version);
    put_bytes(to, w->group);
    put_bytes(to, w->kind);
    put_bytes(to, w->version);
    put_option(to, w->ns);
    put_bytes(to, w->resource_version);
    put_option(to, w->field_selector);
    buf_add_u8(to, w->include_uninitialized);
    put_option(to, w->label_selector);
    buf_add_u8(to, w->allow_bookmarks);
    return to->failed;
}
