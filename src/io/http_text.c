/* SPDX-License-Identifier: Apache-2.0 */
/* Dates, reason phrases, fields; see http_text.h. */
#include "io/http_text.h"

#include "base/clock.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>

struct str http_date(void)
{
    static const char days[] = "ThuFriSatSunMonTueWed"; /* from 1970-01-01 */
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static _Thread_local int64_t at = -1;
    static _Thread_local char text[HTTP_DATE_BYTES + 1];
    int64_t now = clock_wall_ms() / 1000;
    if (now != at) {
        char iso[RFC3339_MAX]; /* "2026-01-02T03:04:05Z" */
        rfc3339_format(now, iso);
        size_t day = (size_t)(now / 86400 % 7) * 3;
        size_t month = (size_t)((iso[5] - '0') * 10 + (iso[6] - '0') - 1) * 3;
        (void)snprintf(text, sizeof text, "%.3s, %.2s %.3s %.4s %.8s GMT", days + day, iso + 8,
                       months + month, iso, iso + 11);
        at = now;
    }
    return str_n(text, HTTP_DATE_BYTES);
}

struct str http_reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {
        { 100, "Continue" },
        { 101, "Switching Protocols" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 206, "Partial Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 303, "See Other" },
        { 304, "Not Modified" },
        { 307, "Temporary Redirect" },
        { 308, "Permanent Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 411, "Length Required" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 416, "Range Not Satisfiable" },
        { 417, "Expectation Failed" },
        { 422, "Unprocessable Content" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
    };
    if (status == 200)
        return STR("OK");
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return str_of(reasons[i].text);
    return STR("");
}

void http_add_status(struct buf *to, int status)
{
    struct str reason = http_reason(status);
    char *at;
    if (buf_reserve(to, 15 + reason.n, &at) < 0)
        return;
    assert(status >= 100 && status <= 999);
    const char digits[] = { (char)('0' + status / 100), (char)('0' + status / 10 % 10),
                            (char)('0' + status % 10), ' ' };
    memcpy(at, "HTTP/1.1 ", 9);
    memcpy(at + 9, digits, sizeof digits);
    if (reason.n)
        memcpy(at + 13, reason.p, reason.n);
    memcpy(at + 13 + reason.n, "\r\n", 2);
    buf_advance(to, 15 + reason.n);
}

void http_add_date(struct buf *to)
{
    (void)buf_add(to, "date: ", 6);
    (void)buf_add_str(to, http_date());
    (void)buf_add(to, "\r\n", 2);
}

void http_reserve_head(struct buf *to, const struct headers *headers)
{
    enum { OWN_BYTES = 240, SEPARATORS = 4 };
    char *at;
    size_t theirs = headers ? headers->used + headers->n * SEPARATORS : 0;
    (void)buf_reserve(to, OWN_BYTES + theirs, &at);
}

/* Called for each field of each message: the length alone rules out most. */
bool http_is_framing(struct str name)
{
    switch (name.n) {
    case 10:
        return str_is(name, "connection") || str_is(name, "keep-alive");
    case 14:
        return str_is(name, "content-length");
    case 16:
        return str_is(name, "proxy-connection");
    case 17:
        return str_is(name, "transfer-encoding");
    default:
        return false;
    }
}

bool http_is_trailer(struct str name)
{
    static const char *const others[] = { "host", "te", "trailer", "upgrade" };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_ieq(name, str_of(others[i])))
            return false;
    char lower[20];
    for (size_t i = 0; i < name.n && i < sizeof lower; i++)
        lower[i] = (char)(name.p[i] | ('A' <= name.p[i] && name.p[i] <= 'Z' ? 0x20 : 0));
    return name.n > sizeof lower || !http_is_framing(str_n(lower, name.n));
}

static char *put(char *at, struct str s)
{
    if (s.n)
        memcpy(at, s.p, s.n);
    return at + s.n;
}

void http_add_field(struct buf *to, struct str name, struct str value)
{
    char *start;
    if (buf_reserve(to, name.n + value.n + 4, &start) < 0)
        return;
    char *at = put(put(put(put(start, name), STR(": ")), value), STR("\r\n"));
    buf_advance(to, (size_t)(at - start));
}

void http_add_fields(struct buf *to, const struct headers *headers)
{
    for (size_t i = 0; headers && i < headers->n; i++) {
        struct str name = headers_name(headers, i);
        if (!http_is_framing(name))
            http_add_field(to, name, headers_value(headers, i));
    }
}

void http_add_trailers(struct buf *to, const struct headers *trailers)
{
    for (size_t i = 0; trailers && i < trailers->n; i++)
        if (http_is_trailer(headers_name(trailers, i)))
            http_add_field(to, headers_name(trailers, i), headers_value(trailers, i));
}

bool http_is_token(struct str s)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alnum && (!c || !memchr(marks, c, sizeof marks - 1)))
            return false;
    }
    return s.n > 0;
}
