/* SPDX-License-Identifier: Apache-2.0 */
/* Request targets and query strings; see url.h. */
#include "codec/url.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int url_decode(struct arena *a, struct str s, bool plus, struct str *ret)
{
    if (str_find_char(s, '%') < 0 && (!plus || str_find_char(s, '+') < 0)) {
        *ret = s;
        return 0;
    }
    char *out = arena_try(a, s.n + 1);
    if (!out)
        return E_LIMIT;
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '%') {
            out[n++] = plus && s.p[i] == '+' ? ' ' : s.p[i];
            continue;
        }
        if (s.n - i < 3 || hex_digit(s.p[i + 1]) < 0 || hex_digit(s.p[i + 2]) < 0)
            return E_INVALID;
        out[n++] = (char)(hex_digit(s.p[i + 1]) * 16 + hex_digit(s.p[i + 2]));
        i += 2;
    }
    *ret = str_n(out, n);
    return 0;
}

int url_encode(struct buf *to, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        if (plain)
            (void)buf_add_char(to, (char)c);
        else
            (void)buf_printf(to, "%%%02X", c);
    }
    return to->failed;
}

/* Path and query of an absolute form; the text itself in origin form. */
static struct str without_authority(struct str text)
{
    ptrdiff_t scheme = str_find(text, STR("://")), slash = str_find_char(text, '/');
    if (scheme < 0 || slash < scheme)
        return text;
    struct str rest = str_slice(text, (size_t)scheme + 3, text.n);
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] == '/' || rest.p[i] == '?')
            return str_slice(rest, i, rest.n);
    return STR("/");
}

static int parse_path(struct arena *a, struct str path, struct url_target *t, struct err *err)
{
    if (path.n == 0 || path.p[0] != '/')
        return err_set(err, E_INVALID, "request target does not begin with '/'");
    t->trailing_slash = path.n > 1 && path.p[path.n - 1] == '/';
    struct str rest = path, raw, segment;
    while (rest.n) {
        (void)str_cut(rest, '/', &raw, &rest);
        if (raw.n == 0)
            continue;
        int r = url_decode(a, raw, false, &segment);
        if (r < 0)
            return err_set(err, r, "bad escape in path segment '" STR_FMT "'", STR_ARG(raw));
        if (str_is(segment, ".") || str_is(segment, "..") || str_find_char(segment, '/') >= 0 ||
            str_find_char(segment, '\0') >= 0)
            return err_set(err, E_INVALID, "path segment '" STR_FMT "' is not allowed",
                           STR_ARG(raw));
        if (t->n_segments == URL_MAX_SEGMENTS)
            return err_set(err, E_LIMIT, "more than %d path segments", URL_MAX_SEGMENTS);
        t->segments[t->n_segments++] = segment;
    }
    return 0;
}

static int parse_query(struct arena *a, struct str query, struct url_target *t, struct err *err)
{
    struct str rest = query, pair, name, value;
    while (rest.n) {
        (void)str_cut(rest, '&', &pair, &rest);
        (void)str_cut(pair, '=', &name, &value);
        if (name.n == 0)
            continue;
        if (t->n_pairs == URL_MAX_PAIRS)
            return err_set(err, E_LIMIT, "more than %d query parameters", URL_MAX_PAIRS);
        struct url_pair *p = &t->pairs[t->n_pairs];
        if (url_decode(a, name, true, &p->name) < 0 || url_decode(a, value, true, &p->value) < 0)
            return err_set(err, E_INVALID, "bad escape in query parameter '" STR_FMT "'",
                           STR_ARG(name));
        t->n_pairs++;
    }
    return 0;
}

int url_parse(struct arena *a, struct str text, struct url_target *ret, struct err *err)
{
    *ret = (struct url_target){ 0 };
    if (text.n == 0 || text.p[0] == '?' || text.p[0] == '#') /* after an authority this means "/" */
        return err_set(err, E_INVALID, "request target without a path");
    struct str origin = without_authority(text);
    (void)str_cut(origin, '#', &origin, &(struct str){ 0 });
    (void)str_cut(origin, '?', &ret->raw_path, &ret->raw_query);
    int r = parse_path(a, ret->raw_path.n ? ret->raw_path : STR("/"), ret, err);
    return r < 0 ? r : parse_query(a, ret->raw_query, ret, err);
}

struct str url_query_get(const struct url_target *t, const char *name)
{
    for (size_t i = 0; i < t->n_pairs; i++)
        if (str_is(t->pairs[i].name, name))
            return t->pairs[i].value.p ? t->pairs[i].value : STR("");
    return STR_NULL;
}

bool url_query_bool(const struct url_target *t, const char *name)
{
    struct str v = url_query_get(t, name);
    return v.p && !str_is(v, "0") && !str_ieq(v, STR("false"));
}
