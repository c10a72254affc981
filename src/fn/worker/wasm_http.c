/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers of Wasm functions; see wasm_http.h. */
#include "fn/worker/wasm_http.h"

#include "base/version.h"
#include "wasm/abi.h"

#include <errno.h>

/* ---- requests ---- */

static void put_line(struct buf *to, const char *name, struct str value)
{
    (void)buf_add_cstr(to, name);
    (void)buf_add_cstr(to, ": ");
    (void)buf_add_str(to, value);
    (void)buf_add_char(to, '\n');
}

static bool has_length(const struct invoke_request *r)
{
    return r->has_body && r->body_bytes != UINT64_MAX;
}

void wasm_put_head(struct buf *to, const struct invoke_request *r)
{
    put_line(to, ":method", r->method);
    put_line(to, ":target", r->target);
    put_line(to, ":authority", r->authority);
    put_line(to, ":scheme", r->is_tls ? STR("https") : STR("http"));
    put_line(to, ":peer", r->peer);
    put_line(to, ":call-id", r->call_id);
    if (has_length(r))
        (void)buf_printf(to, "content-length: %llu\n", (unsigned long long)r->body_bytes);
    for (size_t i = 0; i < r->headers->n; i++) {
        (void)buf_add_str(to, headers_name(r->headers, i));
        (void)buf_add_cstr(to, ": ");
        (void)buf_add_str(to, headers_value(r->headers, i));
        (void)buf_add_char(to, '\n');
    }
}

struct variables {
    struct buf *to;
    uint32_t n;
};

static void put_var(struct variables *v, const char *name, struct str value)
{
    (void)buf_add_cstr(v->to, name);
    (void)buf_add_char(v->to, '=');
    (void)buf_add_str(v->to, value);
    (void)buf_add_char(v->to, 0);
    v->n++;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-encoding undone; an encoded NUL, which no variable can hold, stays as it is. */
static void put_decoded(struct buf *to, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        int high = s.p[i] == '%' && i + 2 < s.n ? hex(s.p[i + 1]) : -1;
        int low = high >= 0 ? hex(s.p[i + 2]) : -1;
        bool is_encoded = low >= 0 && (high || low);
        (void)buf_add_char(to, is_encoded ? (char)(high * 16 + low) : s.p[i]);
        i += is_encoded ? 2 : 0;
    }
}

static void put_path(struct variables *v, const struct invoke_request *r)
{
    struct str path, query;
    (void)str_cut(r->target, '?', &path, &query);
    (void)buf_add_cstr(v->to, "PATH_INFO=");
    put_decoded(v->to, path);
    (void)buf_add_char(v->to, 0);
    v->n++;
    put_var(v, "QUERY_STRING", query);
    put_var(v, "SCRIPT_NAME", r->script_name);
}

/* "host:port", "[::1]:port", or without a port. */
static void cut_port(struct str address, struct str *host, struct str *port)
{
    size_t at = address.n;
    while (at && address.p[at - 1] != ':' && address.p[at - 1] != ']')
        at--;
    bool has_port = at && address.p[at - 1] == ':';
    *host = has_port ? str_slice(address, 0, at - 1) : address;
    *port = has_port ? str_slice(address, at, address.n) : STR("");
    if (host->n >= 2 && host->p[0] == '[' && host->p[host->n - 1] == ']')
        *host = str_slice(*host, 1, host->n - 1);
}

static bool is_in(struct str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, list[i]))
            return true;
    return false;
}

static char to_variable(char c)
{
    if (c >= 'a' && c <= 'z')
        return (char)(c - 'a' + 'A');
    return c == '-' ? '_' : c;
}

/*
 * Each field once, with all its values. Left out are names with an underscore, which could be
 * mistaken for a field with a hyphen that the gateway sets, credentials, and `Proxy`, which
 * programs take for a setting.
 */
static void put_fields(struct variables *v, const struct headers *h)
{
    static const char *const left_out[] = { "authorization", "proxy-authorization", "proxy",
                                            "content-type", "content-length" };
    for (size_t i = 0; i < h->n; i++) {
        struct str name = headers_name(h, i);
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !str_eq(headers_name(h, k), name);
        if (!is_first || str_find_char(name, '_') >= 0 ||
            is_in(name, left_out, ARRAY_LEN(left_out)))
            continue;
        (void)buf_add_cstr(v->to, "HTTP_");
        for (size_t k = 0; k < name.n; k++)
            (void)buf_add_char(v->to, to_variable(name.p[k]));
        (void)buf_add_char(v->to, '=');
        (void)buf_add_str(v->to, headers_value(h, i));
        for (size_t k = i + 1; k < h->n; k++) {
            if (!str_eq(headers_name(h, k), name))
                continue;
            (void)buf_add_cstr(v->to, str_is(name, "cookie") ? "; " : ", ");
            (void)buf_add_str(v->to, headers_value(h, k));
        }
        (void)buf_add_char(v->to, 0);
        v->n++;
    }
}

uint32_t wasm_put_cgi(struct buf *to, const struct invoke_request *r)
{
    struct variables v = { .to = to };
    struct str host, port;
    put_var(&v, "GATEWAY_INTERFACE", STR("CGI/1.1"));
    put_var(&v, "SERVER_PROTOCOL", STR("HTTP/1.1"));
    put_var(&v, "SERVER_SOFTWARE", str_of(version_product()));
    cut_port(r->authority, &host, &port);
    put_var(&v, "SERVER_NAME", host);
    put_var(&v, "SERVER_PORT", port.n ? port : r->is_tls ? STR("443") : STR("80"));
    put_var(&v, "REQUEST_METHOD", r->method);
    put_var(&v, "REQUEST_URI", r->target);
    put_path(&v, r);
    cut_port(r->peer, &host, &port);
    put_var(&v, "REMOTE_ADDR", host);
    put_var(&v, "REMOTE_PORT", port);
    if (r->is_tls)
        put_var(&v, "HTTPS", STR("on"));
    struct str type = headers_get(r->headers, "content-type");
    if (type.p)
        put_var(&v, "CONTENT_TYPE", type);
    if (has_length(r)) {
        (void)buf_printf(to, "CONTENT_LENGTH=%llu", (unsigned long long)r->body_bytes);
        (void)buf_add_char(to, 0);
        v.n++;
    }
    put_var(&v, "X_CALL_ID", r->call_id);
    put_var(&v, "HTTP_HOST", r->authority);
    put_fields(&v, r->headers);
    return v.n;
}

/* ---- answers ---- */

static bool is_about_connection(struct str name)
{
    static const char *const names[] = { "connection", "keep-alive",        "proxy-connection",
                                         "te",         "transfer-encoding", "upgrade" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_ieq(name, str_of(names[i])))
            return true;
    return false;
}

static int add_line(struct str line, struct headers *ret)
{
    struct str name, value;
    if (!str_cut(line, ':', &name, &value) || !headers_is_token(name))
        return E_PARSE;
    if (is_about_connection(name))
        return 0;
    int r = headers_add(ret, name, str_trim(value));
    return r == -EINVAL ? E_PARSE : r;
}

int wasm_read_fields(struct str lines, struct headers *ret)
{
    struct str line, rest;
    for (unsigned n = 0; lines.n; n++) {
        if (!str_cut(lines, '\n', &line, &rest))
            return E_PARSE;
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        int r = n < WASM_FIELDS_MAX ? add_line(line, ret) : -EMSGSIZE;
        if (r < 0)
            return r;
        lines = rest;
    }
    return 0;
}

/* "404 Not Found", "200" */
static int read_status(struct str text, int *ret)
{
    uint64_t status;
    struct str number, reason;
    (void)str_cut(str_trim(text), ' ', &number, &reason);
    if (number.n != 3 || parse_u64(number, 200, 599, &status) < 0)
        return E_PARSE;
    *ret = (int)status;
    return 0;
}

/* RFC 3875 section 6.3. */
static int finish_head(struct buf *held, int *ret_status, struct headers *ret)
{
    int r = wasm_read_fields(buf_str(held), ret);
    if (r < 0)
        return r;
    struct str status = headers_get(ret, "status"), location = headers_get(ret, "location");
    if (!status.p && !location.p && !headers_get(ret, "content-type").p)
        return E_PARSE;
    *ret_status = location.p ? 302 : 200;
    if (status.p)
        r = read_status(status, ret_status);
    headers_del(ret, STR("status"));
    return r < 0 ? r : 1;
}

int wasm_read_cgi_head(struct buf *held, struct str piece, int *ret_status, struct headers *ret,
                       struct str *rest)
{
    while (piece.n) {
        ptrdiff_t end = str_find_char(piece, '\n');
        size_t n = end < 0 ? piece.n : (size_t)end + 1;
        bool begins = held->n == 0 || held->p[held->n - 1] == '\n';
        bool had_cr = held->n && held->p[held->n - 1] == '\r' &&
                      (held->n == 1 || held->p[held->n - 2] == '\n');
        struct str line = str_slice(piece, 0, n);
        piece = str_slice(piece, n, piece.n);
        if ((begins && (str_is(line, "\n") || str_is(line, "\r\n"))) ||
            (had_cr && str_is(line, "\n"))) {
            held->n -= had_cr;
            *rest = piece;
            return finish_head(held, ret_status, ret);
        }
        if (held->n + n > GUEST_FN_HEAD_MAX)
            return -EMSGSIZE;
        int r = buf_add_str(held, line);
        if (r < 0)
            return r;
    }
    return 0;
}

int wasm_content_length(const struct headers *h, uint64_t *ret)
{
    struct str value = headers_get(h, "content-length");
    *ret = UINT64_MAX;
    if (!value.p)
        return 0;
    for (size_t i = 0, n = 0; i < h->n; i++)
        if (str_is(headers_name(h, i), "content-length") && ++n > 1)
            return E_PARSE;
    return parse_u64(value, 0, UINT64_MAX - 1, ret) < 0 ? E_PARSE : 0;
}
