/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 messages on llhttp; see http_parse.h. */
#include "io/http_parse.h"

#include "base/sm.h"
#include "io/http.h"
#include "io/http_text.h"

static struct http_parse *of(llhttp_t *ll)
{
    return container_of(ll, struct http_parse, ll);
}

static int refuse(struct http_parse *p, int status, const char *why)
{
    p->status = status;
    p->error = why;
    return HPE_USER;
}

static const struct sm_state parse_table[] = {
    [HTTP_PARSE_LINE] = { "line", EDGE(HTTP_PARSE_FIELDS) | EDGE(HTTP_PARSE_BODY) },
    [HTTP_PARSE_FIELDS] = { "fields", EDGE(HTTP_PARSE_BODY) },
    [HTTP_PARSE_BODY] = { "body", EDGE(HTTP_PARSE_ENDED) },
    [HTTP_PARSE_ENDED] = { "ended", 0 },
};

static void move(struct http_parse *p, enum http_parse_at to)
{
    assert(sm_is_edge(parse_table, p->at, to));
    p->at = to;
}

static bool has_head(const struct http_parse *p)
{
    return p->at >= HTTP_PARSE_BODY;
}

/* Each kept byte of the head counts, and 4 for the separators of a field. */
static int count_head(struct http_parse *p, size_t n)
{
    p->head_bytes += n;
    if (p->head_bytes > HTTP_HEAD_MAX_BYTES)
        return refuse(p, 431, "request head too large");
    return 0;
}

static int count_trailer(struct http_parse *p, size_t n)
{
    p->ext_bytes += n;
    if (p->ext_bytes > HTTP_TRAILERS_MAX_BYTES)
        return refuse(p, 431, "trailer fields too large");
    return 0;
}

/* ------------------------------------------------------------------ llhttp callbacks */

static int on_url(llhttp_t *ll, const char *at, size_t n)
{
    struct http_parse *p = of(ll);
    if (p->target.n + n > HTTP_URI_MAX_BYTES)
        return refuse(p, 414, "request target too long");
    if (buf_add(&p->target, at, n) < 0)
        return refuse(p, 500, "out of memory");
    return count_head(p, n);
}

/* The byte at distance `back` (at most two) before `at`, possibly of an earlier input. */
static char byte_before(const struct http_parse *p, const char *at, size_t back)
{
    size_t in_input = (size_t)(at - p->input);
    assert(back <= 2 && at >= p->input && at <= p->input_end);
    return back <= in_input ? at[-(ptrdiff_t)back] : p->before[2 + in_input - back];
}

static int on_name(llhttp_t *ll, const char *at, size_t n)
{
    struct http_parse *p = of(ll);
    p->name_end = at + n;
    /* llhttp accepts a line end without CR only here. */
    if (p->at == HTTP_PARSE_LINE && ll->type == HTTP_REQUEST && byte_before(p, at, 2) != '\r')
        return refuse(p, 400, "the request line ends without CR");
    if (p->at == HTTP_PARSE_LINE)
        move(p, HTTP_PARSE_FIELDS);
    if (buf_add(&p->field, at, n) < 0)
        return refuse(p, 431, "field name too long");
    return has_head(p) ? count_trailer(p, n) : count_head(p, n);
}

static int on_name_complete(llhttp_t *ll)
{
    struct http_parse *p = of(ll);
    p->name_n = p->field.n;
    p->field_at = HTTP_FIELD_NAME;
    return 0;
}

static bool has_newline(const char *from, const char *to)
{
    return to > from && memchr(from, '\n', (size_t)(to - from));
}

/*
 * Folded lines (RFC 9112 section 5.2), on which parsers disagree: a value that begins after a line
 * end, or whose pieces neither touch nor meet at the border of two inputs.
 */
static bool is_folded(struct http_parse *p, const char *at, size_t n)
{
    if (p->field_at != HTTP_FIELD_VALUE)
        return n > 0 && (p->field_at == HTTP_FIELD_LINE_ENDED ||
                         has_newline(p->name_end ? p->name_end : p->input, at));
    if (at == p->value_end)
        return false;
    return !(at == p->input && p->value_end == NULL);
}

/* The input is used up: keep what is needed about a value that continues or begins in the next
 * one. */
static void leave_input(struct http_parse *p)
{
    static const char nowhere;
    bool in_value = p->field_at == HTTP_FIELD_VALUE;
    if (!in_value && has_newline(p->name_end ? p->name_end : p->input, p->input_end))
        p->field_at = HTTP_FIELD_LINE_ENDED;
    else if (in_value && p->value_end)
        p->value_end = &nowhere; /* the next input may lie at the same address */
    p->name_end = NULL;
    size_t n = (size_t)(p->input_end - p->input);
    for (size_t i = 0; i < 2; i++)
        p->before[i] = n + i >= 2 ? p->input_end[(ptrdiff_t)i - 2] : p->before[i + n];
}

static int on_value(llhttp_t *ll, const char *at, size_t n)
{
    struct http_parse *p = of(ll);
    if (is_folded(p, at, n))
        return refuse(p, 400, "folded header line");
    p->field_at = HTTP_FIELD_VALUE;
    p->value_end = at + n == p->input_end ? NULL : at + n;
    if (buf_add(&p->field, at, n) < 0)
        return refuse(p, 431, "field value too long");
    return has_head(p) ? count_trailer(p, n) : count_head(p, n);
}

static int on_value_complete(llhttp_t *ll)
{
    struct http_parse *p = of(ll);
    p->field_at = HTTP_FIELD_NAME;
    struct str field = buf_str(&p->field), name = str_slice(field, 0, p->name_n);
    assert(p->name_n <= field.n);
    struct headers *to = has_head(p) ? &p->trailers : &p->headers;
    int r = 0;
    if (!has_head(p) || http_is_trailer(name))
        r = headers_add(to, name, str_slice(field, p->name_n, field.n));
    buf_reset(&p->field);
    if (r == -EMSGSIZE)
        return refuse(p, 431, "too many header fields");
    if (r < 0)
        return refuse(p, 400, "malformed header field");
    return has_head(p) ? count_trailer(p, 4) : count_head(p, 4);
}

static size_t count_name(const struct http_parse *p, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < p->headers.n; i++)
        n += str_is(headers_name(&p->headers, i), name);
    return n;
}

/* Turn the absolute form (RFC 9112 section 3.2.2) into origin form, and refuse targets that a
 * client must not send. */
static int check_target(struct http_parse *p)
{
    struct str t = buf_str(&p->target);
    if (str_has_prefix(t, STR("/")))
        return 0;
    if (str_is(t, "*"))
        return p->ll.method == HTTP_OPTIONS ? 0 : refuse(p, 400, "malformed request target");
    ptrdiff_t scheme = str_find(t, STR("://"));
    if (scheme < 0)
        return refuse(p, 400, "malformed request target");
    size_t skip = (size_t)scheme + 3;
    ptrdiff_t slash = str_find_char(str_slice(t, skip, t.n), '/');
    if (slash < 0)
        return refuse(p, 400, "malformed request target");
    /* Two different hosts: a proxy in front might use one and the handler the other. */
    struct str authority = str_slice(t, skip, skip + (size_t)slash);
    if (!str_ieq(authority, headers_get(&p->headers, "host")))
        return refuse(p, 400, "the request target and the host field name different hosts");
    buf_consume(&p->target, skip + (size_t)slash);
    return 0;
}

static int check_request(struct http_parse *p)
{
    if (p->ll.method == HTTP_CONNECT)
        return refuse(p, 501, "CONNECT is not supported");
    size_t hosts = count_name(p, "host");
    if (hosts > 1 || (hosts == 0 && p->ll.http_minor >= 1))
        return refuse(p, 400, "a request needs exactly one host field");
    struct str expect = headers_get(&p->headers, "expect");
    if (expect.p && p->ll.http_minor >= 1) {
        if (!str_ieq(expect, STR("100-continue")))
            return refuse(p, 417, "unknown expectation");
        p->expect_continue = p->has_body;
    }
    return check_target(p);
}

static int check_framing(struct http_parse *p)
{
    size_t codings = count_name(p, "transfer-encoding"), lengths = count_name(p, "content-length");
    if (lengths > 1)
        return refuse(p, 400, "repeated content-length");
    if (lengths && p->ll.content_length == UINT64_MAX) /* reserved for "unknown" */
        return refuse(p, 413, "content-length too large");
    if (codings == 0)
        return 0;
    if (lengths)
        return refuse(p, 400, "both content-length and transfer-encoding");
    if (p->ll.http_minor < 1)
        return refuse(p, 400, "transfer-encoding in HTTP/1.0");
    if (codings > 1 || !str_ieq(headers_get(&p->headers, "transfer-encoding"), STR("chunked")))
        return refuse(p, 501, "unknown transfer-encoding");
    return 0;
}

static void set_request_body(struct http_parse *p)
{
    bool chunked = p->ll.flags & F_CHUNKED;
    p->content_length = chunked ? UINT64_MAX : p->ll.content_length;
    p->has_body = p->content_length > 0;
}

static void set_response_body(struct http_parse *p)
{
    int status = p->ll.status_code;
    if (p->to_head_request || status < 200 || status == 204 || status == 304) {
        p->ll.flags |= F_SKIPBODY; /* read by llhttp_should_keep_alive() */
        return;
    }
    bool has_length = p->ll.flags & F_CONTENT_LENGTH;
    p->until_eof = llhttp_message_needs_eof(&p->ll);
    p->content_length = has_length ? p->ll.content_length : UINT64_MAX;
    p->has_body = p->content_length > 0;
}

static int on_headers_complete(llhttp_t *ll)
{
    struct http_parse *p = of(ll);
    if (ll->http_major != 1 || ll->http_minor > 1)
        return refuse(p, 505, "unsupported HTTP version");
    int r = check_framing(p);
    if (r)
        return r;
    if (ll->type == HTTP_REQUEST) {
        set_request_body(p);
        r = check_request(p);
        if (r)
            return r;
        p->upgrade = ll->upgrade && !p->has_body && ll->http_minor >= 1 &&
                     !headers_has_token(&p->headers, "upgrade", "h2c");
    } else {
        p->status = ll->status_code;
        p->upgrade = p->status == 101 && p->may_upgrade && ll->upgrade;
        if (p->status < 100 || p->status > 999 || (p->status == 101 && !p->upgrade))
            return refuse(p, 502, "unexpected status");
        set_response_body(p);
    }
    p->keep_alive = llhttp_should_keep_alive(ll);
    ll->upgrade = 0; /* an offer that a server may ignore (RFC 9110 section 7.8) */
    move(p, HTTP_PARSE_BODY);
    return HPE_PAUSED;
}

static int on_body(llhttp_t *ll, const char *at, size_t n)
{
    struct http_parse *p = of(ll);
    p->chunk = str_n(at, n);
    return n ? HPE_PAUSED : 0;
}

static int on_chunk_extension(llhttp_t *ll, const char *at, size_t n)
{
    struct http_parse *p = of(ll);
    p->ext_bytes += n;
    if (p->ext_bytes > HTTP_CHUNK_EXT_MAX_BYTES)
        return refuse(p, 400, "chunk extensions too large");
    return 0;
}

static int on_message_complete(llhttp_t *ll)
{
    move(of(ll), HTTP_PARSE_ENDED);
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_name,
    .on_header_field_complete = on_name_complete,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_chunk_extension_name = on_chunk_extension,
    .on_chunk_extension_value = on_chunk_extension,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* ------------------------------------------------------------------ interface */

enum { SPARES_MAX = 64, SPARE_MAX_BYTES = 2 << 10 };
static _Thread_local struct {
    struct buf field;
    struct headers headers;
} spares[SPARES_MAX];
static _Thread_local unsigned n_spares;

static void take_spare(struct http_parse *p)
{
    assert(n_spares > 0 && n_spares <= SPARES_MAX);
    n_spares--;
    buf_fini(&p->field);
    headers_fini(&p->headers);
    p->field = spares[n_spares].field;
    p->headers = spares[n_spares].headers;
}

void http_parse_trim(void)
{
    while (n_spares) {
        n_spares--;
        buf_fini(&spares[n_spares].field);
        headers_fini(&spares[n_spares].headers);
    }
}

void http_parse_rest(struct http_parse *p)
{
    if (n_spares < SPARES_MAX && p->headers.cap + p->field.cap <= SPARE_MAX_BYTES) {
        spares[n_spares].field = p->field;
        spares[n_spares].headers = p->headers;
        n_spares++;
        p->field.p = NULL;
        p->headers = (struct headers){ 0 };
    }
    http_parse_fini(p);
    *p = (struct http_parse){ 0 };
}

void http_parse_reset(struct http_parse *p, llhttp_type_t type)
{
    memset(p, 0, offsetof(struct http_parse, ll));
    if (!p->headers.block && n_spares)
        take_spare(p);
    buf_reset(&p->target);
    buf_reset(&p->field);
    headers_reset(&p->headers);
    headers_reset(&p->trailers);
    p->target.max = HTTP_URI_MAX_BYTES;
    p->field.max = HTTP_HEAD_MAX_BYTES;
    llhttp_init(&p->ll, type, &settings);
}

void http_parse_fini(struct http_parse *p)
{
    buf_fini(&p->target);
    buf_fini(&p->field);
    headers_fini(&p->headers);
    headers_fini(&p->trailers);
}

static int failed(struct http_parse *p, llhttp_errno_t code)
{
    if (!p->error) {
        p->error = llhttp_get_error_reason(&p->ll);
        p->status = code == HPE_INVALID_VERSION ? 505 : 400;
    }
    return p->status == 414 || p->status == 431 ? E_LIMIT : E_PARSE;
}

int http_parse_feed(struct http_parse *p, const char *data, size_t n, size_t *ret_used)
{
    *ret_used = 0;
    assert(!p->error && p->ll.settings); /* after a failure, reset() is next */
    if (p->at == HTTP_PARSE_BODY && !p->has_body)
        move(p, HTTP_PARSE_ENDED);
    if (p->at == HTTP_PARSE_ENDED)
        return HTTP_EVENT_END;
    p->input = data;
    p->input_end = data + n;
    p->name_end = NULL; /* events stop between fields only: no name is open across them */
    p->chunk = STR_NULL;
    bool had_head = has_head(p);
    llhttp_errno_t code = llhttp_execute(&p->ll, data, n);
    if (code == HPE_OK) {
        leave_input(p);
        *ret_used = n;
        return HTTP_EVENT_MORE;
    }
    if (code != HPE_PAUSED)
        return failed(p, code);
    *ret_used = (size_t)(llhttp_get_error_pos(&p->ll) - data);
    assert(*ret_used <= n && has_head(p));
    llhttp_resume(&p->ll);
    if (p->at == HTTP_PARSE_ENDED)
        return HTTP_EVENT_END;
    if (!had_head)
        return HTTP_EVENT_HEAD;
    return HTTP_EVENT_BODY;
}

int http_parse_eof(struct http_parse *p)
{
    if (has_head(p) && (p->at == HTTP_PARSE_ENDED || !p->has_body || p->until_eof))
        return HTTP_EVENT_END;
    return E_EOF;
}

struct str http_parse_method(const struct http_parse *p)
{
    return str_of(llhttp_method_name((llhttp_method_t)p->ll.method));
}
