/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of requests; see request_head.h. */
#include "operator/v1/request_head.h"

#include "base/buf.h"
#include "codec/url.h"

static bool is_printable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return false;
    return true;
}

static int read_header(struct request_head *h, struct str name, struct str value, struct err *err)
{
    const struct {
        const char *name;
        struct str *to;
    } kept[] = { { "accept", &h->accept },
                 { "content-type", &h->content_type },
                 { "if-match", &h->if_match },
                 { "if-none-match", &h->if_none_match } };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (str_ieq(name, str_of(kept[i].name)))
            *kept[i].to = value;
    if (str_ieq(name, STR("dormouse-timeout-ms")) &&
        parse_u64(value, 1, REQUEST_TIMEOUT_MAX_MS, &h->timeout_ms) < 0)
        return err_set(err, E_INVALID, "header 'dormouse-timeout-ms' must be from 1 to %d",
                       REQUEST_TIMEOUT_MAX_MS);
    return 0;
}

static int read_headers(struct request_head *h, struct str text, struct err *err)
{
    struct str line, name, value;
    for (size_t n = 1; text.n; n++) {
        (void)str_cut(text, '\n', &line, &text);
        if (line.n == 0)
            continue;
        if (n > REQUEST_HEAD_MAX_HEADERS)
            return err_set(err, E_LIMIT, "the head has more than %d headers",
                           REQUEST_HEAD_MAX_HEADERS);
        if (!str_cut(line, ':', &name, &value) || !headers_is_token(name) || !is_printable(value))
            return err_set(err, E_INVALID, "line %zu of the head is no header", n + 1);
        int r = read_header(h, name, str_trim(value), err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_method(struct str s)
{
    return str_is(s, "GET") || str_is(s, "POST") || str_is(s, "PUT") || str_is(s, "PATCH") ||
           str_is(s, "DELETE");
}

static bool is_served(struct str path)
{
    struct str first, rest;
    (void)str_cut(str_slice(path, 1, path.n), '/', &first, &rest);
    return str_is(first, "api") || str_is(first, "apis") || str_is(first, "openapi") ||
           (str_is(first, "version") && rest.n == 0);
}

static bool is_write(const struct target *t)
{
    return t->is_resource &&
           (t->verb == KUBE_CREATE || t->verb == KUBE_UPDATE || t->verb == KUBE_PATCH);
}

static int add_field_manager(struct arena *a, struct request_head *h, struct str name,
                             const struct url_target *u, struct err *err)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    if (u->n_pairs == URL_MAX_PAIRS)
        return err_set(err, E_LIMIT, "more than %d query parameters", URL_MAX_PAIRS - 1);
    (void)buf_add_str(&b, h->origin);
    (void)buf_printf(&b, "%cfieldManager=", u->raw_query.n > 0 ? '&' : '?');
    (void)url_encode(&b, str_slice(name, 0, 128)); /* upstream's limit */
    h->origin = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return 0;
}

int request_head_parse(struct arena *a, struct str text, struct str field_manager,
                       struct request_head *ret, struct err *err)
{
    struct request_head h = { .timeout_ms = REQUEST_TIMEOUT_MS };
    struct str line, target;
    if (text.n > REQUEST_HEAD_MAX_BYTES)
        return err_set(err, E_LIMIT, "the head is larger than %d bytes", REQUEST_HEAD_MAX_BYTES);
    (void)str_cut(text, '\n', &line, &text);
    if (!str_cut(line, ' ', &h.method, &target) || !is_method(h.method))
        return err_set(err, E_INVALID,
                       "the head must begin with GET, POST, PUT, PATCH or DELETE and a blank");
    if (!target.n || target.p[0] != '/' || str_find_char(target, ' ') >= 0 || !is_printable(target))
        return err_set(err, E_INVALID, "the target must be a path, with a query if need be");
    int r = target_parse(a, h.method, target, &h.target, err);
    if (r < 0)
        return r;
    if (!is_served(h.target.path))
        return err_set(err, E_INVALID,
                       "the path must begin with /api, /apis or /openapi, or be /version");
    if (h.target.verb == KUBE_WATCH || h.target.is_old_watch || h.target.watch)
        return err_set(err, E_INVALID, "a request cannot watch: declare a watch");
    struct url_target *u = arena_new(a, struct url_target);
    r = url_parse(a, target, u, err);
    if (r < 0)
        return r;
    if (url_query_bool(u, "follow"))
        return err_set(err, E_INVALID, "a request cannot follow: its answer must have an end");
    h.origin = h.target.origin;
    if (is_write(&h.target) && !url_query_get(u, "fieldManager").n && field_manager.n)
        r = add_field_manager(a, &h, field_manager, u, err);
    if (r >= 0)
        r = read_headers(&h, text, err);
    if (r >= 0)
        *ret = h;
    return r;
}
