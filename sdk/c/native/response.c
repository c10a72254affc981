/* SPDX-License-Identifier: Apache-2.0 */
#include "response.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

void response_reset(struct response *r)
{
    dm_text_fini(&r->line);
    *r = (struct response){ 0 };
}

static bool has_prefix(struct dm_str s, const char *prefix)
{
    return s.n >= strlen(prefix) && memcmp(s.p, prefix, strlen(prefix)) == 0;
}

static bool is_named(struct dm_str name, const char *want)
{
    return name.n == strlen(want) && strncasecmp(name.p, want, name.n) == 0;
}

static struct dm_str trim(struct dm_str s)
{
    while (s.n && (*s.p == ' ' || *s.p == '\t'))
        s.p++, s.n--;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

static int status_line(struct response *r, struct dm_str line)
{
    int64_t status;
    if (!has_prefix(line, "HTTP/1.") || line.n < 12 || line.p[8] != ' ' ||
        (line.n > 12 && line.p[12] != ' ') ||
        !dm_parse_i64((struct dm_str){ line.p + 9, 3 }, &status) || status < 100)
        return -EBADMSG;
    r->status = (int)status;
    r->close = line.p[7] == '0';
    r->at = RESPONSE_HEADER;
    return 0;
}

static int header(struct response *r, struct dm_str line)
{
    const char *colon = memchr(line.p, ':', line.n);
    if (!colon || colon == line.p)
        return -EBADMSG;
    struct dm_str name = { line.p, (size_t)(colon - line.p) };
    struct dm_str value = trim((struct dm_str){ colon + 1, line.n - name.n - 1 });
    int64_t length;
    if (is_named(name, "content-length")) {
        if (!dm_parse_i64(value, &length) || length < 0 ||
            (r->has_length && r->left != (uint64_t)length))
            return -EBADMSG;
        r->has_length = true;
        r->left = (uint64_t)length;
    } else if (is_named(name, "transfer-encoding")) {
        if (!is_named(value, "chunked"))
            return -EBADMSG;
        r->chunked = true;
    } else if (is_named(name, "connection") && is_named(value, "close")) {
        r->close = true;
    }
    return 0;
}

static void head_ends(struct response *r, const struct response_ops *ops, void *arg)
{
    if (r->status < 200) { /* the real one follows */
        response_reset(r);
        return;
    }
    if (r->status == 204 || r->status == 304)
        r->at = RESPONSE_DONE;
    else if (r->chunked)
        r->at = RESPONSE_CHUNK_SIZE;
    else if (r->has_length)
        r->at = r->left ? RESPONSE_FIXED : RESPONSE_DONE;
    else
        r->at = RESPONSE_UNTIL_CLOSE;
    ops->head(arg, r->status);
}

static int chunk_size(struct response *r, struct dm_str line)
{
    uint64_t size = 0;
    size_t i = 0;
    for (; i < line.n && line.p[i] != ';' && line.p[i] != ' '; i++) {
        const char *digits = "0123456789abcdef";
        const char *d = line.p[i] ? strchr(digits, line.p[i] | 0x20) : NULL;
        if (!d || i == 15)
            return -EBADMSG;
        size = size << 4 | (uint64_t)(d - digits);
    }
    if (i == 0)
        return -EBADMSG;
    r->left = size;
    r->at = size ? RESPONSE_CHUNK : RESPONSE_TRAILER;
    return 0;
}

static int take_line(struct response *r, struct dm_str line, const struct response_ops *ops,
                     void *arg)
{
    switch (r->at) {
    case RESPONSE_STATUS:
        return status_line(r, line);
    case RESPONSE_HEADER:
        if (line.n)
            return header(r, line);
        head_ends(r, ops, arg);
        return 0;
    case RESPONSE_CHUNK_SIZE:
        return chunk_size(r, line);
    case RESPONSE_CHUNK_END:
        r->at = RESPONSE_CHUNK_SIZE;
        return line.n ? -EBADMSG : 0;
    case RESPONSE_TRAILER:
        if (!line.n)
            r->at = RESPONSE_DONE;
        return 0;
    case RESPONSE_FIXED:
    case RESPONSE_CHUNK:
    case RESPONSE_UNTIL_CLOSE:
    case RESPONSE_DONE:
        break;
    }
    return -EBADMSG;
}

/* Body bytes that lie before us; 0 where lines are expected. */
static size_t body_bytes(const struct response *r, size_t n)
{
    if (r->at == RESPONSE_UNTIL_CLOSE)
        return n;
    if (r->at == RESPONSE_FIXED || r->at == RESPONSE_CHUNK)
        return r->left < n ? (size_t)r->left : n;
    return 0;
}

static void take_body(struct response *r, const char *p, size_t n, const struct response_ops *ops,
                      void *arg)
{
    if (r->at != RESPONSE_UNTIL_CLOSE) {
        r->left -= n;
        if (!r->left)
            r->at = r->at == RESPONSE_FIXED ? RESPONSE_DONE : RESPONSE_CHUNK_END;
    }
    ops->data(arg, p, n);
}

long response_feed(struct response *r, const char *p, size_t n, const struct response_ops *ops,
                   void *arg)
{
    size_t at = 0;
    while (at < n && r->at != RESPONSE_DONE) {
        size_t body = body_bytes(r, n - at);
        if (body) {
            take_body(r, p + at, body, ops, arg);
            at += body;
            continue;
        }
        const char *end = memchr(p + at, '\n', n - at);
        size_t piece = end ? (size_t)(end - p) - at : n - at;
        r->head_bytes += piece;
        if (r->line.n + piece > RESPONSE_LINE_MAX ||
            (r->at <= RESPONSE_HEADER && r->head_bytes > RESPONSE_HEAD_MAX))
            return -EBADMSG;
        dm_text_put(&r->line, p + at, piece);
        at += piece + (end ? 1 : 0);
        if (!end)
            break;
        struct dm_text line = r->line;
        r->line = (struct dm_text){ 0 };
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        int rc = take_line(r, dm_text_view(&line), ops, arg);
        dm_text_fini(&line);
        if (rc < 0)
            return rc;
    }
    return (long)at;
}

bool response_closed(struct response *r)
{
    if (r->at == RESPONSE_UNTIL_CLOSE)
        r->at = RESPONSE_DONE;
    return r->at == RESPONSE_DONE;
}
