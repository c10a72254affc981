/* SPDX-License-Identifier: Apache-2.0 */
/* Options of lists and watches; see list_options.h. */
#include "api/list_options.h"

#include "codec/base64.h"

/* ------------------------------------------------------------------ numbers */

static const char *quoted(struct request *rq, struct str s)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 * 1024);
    field_go_quote(&b, s);
    return str_dup_arena(&rq->arena, buf_str(&b));
}

/* Go's error text. */
static const char *number_error(struct request *rq, const char *function, struct str s)
{
    size_t digits = str_has_prefix(s, STR("-")) ? 1 : 0;
    bool is_number = s.n > digits;
    for (size_t i = digits; i < s.n; i++)
        is_number = is_number && s.p[i] >= '0' && s.p[i] <= '9';
    return arena_printf(&rq->arena, "strconv.%s: parsing %s: %s", function, quoted(rq, s),
                        is_number && (digits == 0 || strcmp(function, "ParseInt") == 0)
                            ? "value out of range"
                            : "invalid syntax");
}

/* Negative values count as 0. *ret_has: the parameter was given. */
static struct json *parse_number(struct request *rq, const char *name, uint64_t *ret, bool *ret_has)
{
    struct str s = url_query_get(rq->route.url, name);
    int64_t v = 0;
    *ret_has = s.p != NULL;
    if (s.p && parse_i64(s, INT64_MIN, INT64_MAX, &v) < 0)
        return status_bad_request(&rq->arena, str_of(number_error(rq, "ParseInt", s)));
    *ret = v > 0 ? (uint64_t)v : 0;
    return NULL;
}

static struct json *parse_rev(struct request *rq, bool watch, uint64_t *ret, bool *ret_has)
{
    struct arena *a = &rq->arena;
    struct str s = route_query(&rq->route, "resourceVersion");
    *ret = 0;
    *ret_has = s.n > 0;
    if (s.n == 0 || parse_u64(s, 0, UINT64_MAX, ret) >= 0)
        return NULL;
    struct field_errors errs = field_errors_init(a);
    struct fpath at = fpath_child(NULL, STR("resourceVersion"));
    field_error_str(&errs, FIELD_INVALID, &at, s, "%s", number_error(rq, "ParseUint", s));
    struct str text = field_errors_text(&errs);
    if (watch) /* upstream reports it from its storage layer */
        return status_new(a, 500, "", text);
    return status_bad_request(
        a, str_of(arena_printf(a, "invalid resource version: " STR_FMT, STR_ARG(text))));
}

struct json *list_options_rev(struct request *rq, uint64_t *ret)
{
    bool has;
    return parse_rev(rq, false, ret, &has);
}

/* ------------------------------------------------------------------ combinations */

static void forbid(struct field_errors *errs, const char *field, const char *text)
{
    struct fpath at = fpath_child(NULL, str_of(field));
    field_error(errs, FIELD_FORBIDDEN, &at, NULL, "%s", text);
}

static const struct str matches[] = { { "Exact", 5 }, { "NotOlderThan", 12 }, { "", 0 } };

static void check_list(struct request *rq, struct str match, const struct list_options *o,
                       struct field_errors *errs)
{
    static const char field[] = "resourceVersionMatch";
    struct str rev = route_query(&rq->route, "resourceVersion");
    struct fpath at = fpath_child(NULL, STR("resourceVersionMatch"));
    if (match.n && rev.n == 0)
        forbid(errs, field, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (match.n && o->token.n)
        forbid(errs, field, "resourceVersionMatch is forbidden when continue is provided");
    if (match.n && !str_eq(match, matches[0]) && !str_eq(match, matches[1]))
        field_error_enum(errs, &at, json_new_str(&rq->arena, match), matches, ARRAY_LEN(matches));
    if (str_eq(match, matches[0]) && str_is(rev, "0"))
        forbid(errs, field,
               "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    if (url_query_get(rq->route.url, "sendInitialEvents").p)
        forbid(errs, "sendInitialEvents", "sendInitialEvents is forbidden for list");
}

static void check_watch(struct request *rq, struct str match, const struct list_options *o,
                        struct field_errors *errs)
{
    static const char field[] = "resourceVersionMatch";
    bool initial = url_query_get(rq->route.url, "sendInitialEvents").p != NULL;
    struct str rev = route_query(&rq->route, "resourceVersion");
    if (!initial && match.n == 0 && (rev.n == 0 || str_is(rev, "0"))) {
        initial = true; /* as upstream interprets such a watch */
        match = matches[1];
    }
    bool fits = str_eq(match, matches[1]);
    struct fpath at = fpath_child(NULL, STR("resourceVersionMatch"));
    if (initial && !fits)
        forbid(errs, field,
               "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (match.n && !initial)
        forbid(errs, field,
               "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (match.n && !fits)
        field_error_enum(errs, &at, json_new_str(&rq->arena, match), &matches[1], 1);
    if (match.n && o->token.n)
        forbid(errs, field, "resourceVersionMatch is forbidden when continue is provided");
}

struct json *list_options_parse(struct request *rq, bool watch, struct list_options *ret)
{
    const struct url_target *url = rq->route.url;
    struct str match = route_query(&rq->route, "resourceVersionMatch");
    struct list_options o = { .token = route_query(&rq->route, "continue"),
                              .bookmarks = url_query_bool(url, "allowWatchBookmarks") };
    struct field_errors errs = field_errors_init(&rq->arena);
    bool has_limit;
    struct json *no = parse_number(rq, "limit", &o.limit, &has_limit);
    if (!no)
        no = parse_number(rq, "timeoutSeconds", &o.timeout_s, &o.has_timeout);
    if (no)
        return no;
    if (watch)
        check_watch(rq, match, &o, &errs);
    else
        check_list(rq, match, &o, &errs);
    if (errs.n)
        return status_invalid(&rq->arena, STR("meta.k8s.io"), STR("ListOptions"), STR(""), &errs);
    no = parse_rev(rq, watch, &o.rev, &o.has_rev);
    if (no)
        return no;
    o.match = match.n == 0                ? MATCH_UNSET
              : str_eq(match, matches[0]) ? MATCH_EXACT
                                          : MATCH_NOT_OLDER;
    bool says = url_query_get(url, "sendInitialEvents").p != NULL;
    o.sends_initial = watch && (says ? url_query_bool(url, "sendInitialEvents") : o.rev == 0);
    *ret = o;
    return NULL;
}

/* ------------------------------------------------------------------ continue tokens */

void list_token_write(struct buf *to, struct str start, int64_t rev)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STORE_KEY_MAX_BYTES * 8);
    (void)buf_printf(&text, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":", (long long)rev);
    (void)json_write_str(&text, start);
    (void)buf_add_char(&text, '}');
    (void)base64_encode(to, buf_str(&text), BASE64_URL);
}

static struct json *bad_token(struct request *rq, const char *why)
{
    return status_bad_request(
        &rq->arena, str_of(arena_printf(
                        &rq->arena, "invalid continue token: continue key is not valid%s", why)));
}

/* The parser's text without the position. */
static struct str json_reason(const struct err *err)
{
    struct str where, why;
    return str_cut(str_of(err_text(err)), ' ', &where, &why) && str_cut(why, ' ', &where, &why)
               ? why
               : str_of(err_text(err));
}

struct json *list_token_read(struct request *rq, struct str token, struct str *ret_start,
                             int64_t *ret_rev)
{
    struct arena *a = &rq->arena;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STORE_KEY_MAX_BYTES * 8);
    struct err err = { 0 };
    struct json *v;
    if (base64_decode(&text, token, BASE64_URL) < 0)
        return bad_token(rq, ": illegal base64 data");
    if (json_parse(a, str_copy_arena(a, buf_str(&text)), NULL, &v, &err) < 0)
        return bad_token(rq, arena_printf(a, ": " STR_FMT, STR_ARG(json_reason(&err))));
    struct str version = json_get_str(v, "v"), start = json_get_str(v, "start");
    int64_t rev = json_int_or(json_getc(v, "rv"), 0);
    if (!str_is(version, "meta.k8s.io/v1"))
        return bad_token(
            rq, arena_printf(a, ": server does not recognize this encoded version " STR_FMT,
                             STR_ARG(version)));
    if (rev == 0)
        return bad_token(rq, ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
    if (start.n == 0)
        return bad_token(rq, ": encoded start key empty (version meta.k8s.io/v1)");
    if (start.n > STORE_KEY_MAX_BYTES)
        return bad_token(rq, "");
    *ret_start = start;
    *ret_rev = rev < 0 ? -1 : rev;
    return NULL;
}
