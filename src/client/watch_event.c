/* SPDX-License-Identifier: Apache-2.0 */
/* See watch_event.h. One pass over the line, which descends into object and metadata on its way. */
#include "client/watch_event.h"

#include "codec/json_scan.h"

#include <assert.h>
#include <errno.h>

struct event_scan {
    struct json_scan s;
    struct arena *a;
    struct watch_event *ev;
    bool has_type, has_object;
    struct watch_page *page;
};

/* Decodes a string; other scalars give "", containers are skipped and give "" too. */
static bool scan_text(struct event_scan *c, struct str *ret)
{
    struct json v = { 0 };
    struct str skipped;
    *ret = STR("");
    if (json_scan_peek(&c->s) == '{' || json_scan_peek(&c->s) == '[')
        return json_scan_value(&c->s, &skipped);
    if (!json_scan_scalar(&c->s, c->a, &v))
        return false;
    *ret = json_str(&v);
    return true;
}

typedef bool (*member_fn)(struct event_scan *c, struct str key);

/* Anything but an object is skipped. */
static bool scan_members(struct event_scan *c, member_fn member)
{
    struct str skipped;
    if (json_scan_peek(&c->s) != '{')
        return json_scan_value(&c->s, &skipped);
    (void)json_scan_take(&c->s, '{');
    bool ok;
    for (bool first = true; json_scan_next(&c->s, '}', first, &ok); first = false) {
        struct str key;
        if (json_scan_peek(&c->s) != '"' || !scan_text(c, &key) || !json_scan_take(&c->s, ':') ||
            !member(c, key))
            return false;
    }
    return ok;
}

static bool scan_annotation(struct event_scan *c, struct str key)
{
    struct str text;
    if (!scan_text(c, &text))
        return false;
    if (str_is(key, "k8s.io/initial-events-end"))
        c->ev->ends_initial = str_is(text, "true");
    return true;
}

static bool scan_meta(struct event_scan *c, struct str key)
{
    struct str text;
    if (str_is(key, "annotations"))
        return scan_members(c, scan_annotation);
    if (!scan_text(c, &text))
        return false;
    if (str_is(key, "namespace"))
        c->ev->namespace = text;
    else if (str_is(key, "name"))
        c->ev->name = text;
    else if (str_is(key, "resourceVersion") && parse_u64(text, 1, UINT64_MAX, &c->ev->rv) < 0)
        c->ev->rv = 0;
    return true;
}

static bool scan_object(struct event_scan *c, struct str key)
{
    struct str skipped;
    if (str_is(key, "metadata"))
        return scan_members(c, scan_meta);
    if (!json_scan_value(&c->s, &skipped))
        return false;
    uint64_t code;
    if (str_is(key, "code") && parse_u64(str_trim(skipped), 0, 999, &code) >= 0)
        c->ev->code = (int)code;
    return true;
}

static bool read_type(struct event_scan *c, struct str word)
{
    static const char *const words[] = { [WATCH_EVENT_ADDED] = "ADDED",
                                         [WATCH_EVENT_MODIFIED] = "MODIFIED",
                                         [WATCH_EVENT_DELETED] = "DELETED",
                                         [WATCH_EVENT_BOOKMARK] = "BOOKMARK",
                                         [WATCH_EVENT_ERROR] = "ERROR" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(word, words[i])) {
            c->ev->type = (enum watch_event_type)i;
            return true;
        }
    return false;
}

static bool scan_event(struct event_scan *c, struct str key)
{
    struct str text;
    if (str_is(key, "type")) {
        c->has_type = scan_text(c, &text) && read_type(c, text);
        return c->has_type;
    }
    if (!str_is(key, "object"))
        return json_scan_value(&c->s, &text);
    c->has_object = json_scan_peek(&c->s) == '{';
    const char *from = c->s.p;
    if (!c->has_object || !scan_members(c, scan_object))
        return false;
    c->ev->object = str_n(from, (size_t)(c->s.p - from));
    return true;
}

int watch_event_scan(struct arena *a, struct str line, struct watch_event *ret, struct err *err)
{
    struct watch_event ev = { .line = line };
    struct event_scan c = { .s = json_scan_init(line), .a = a, .ev = &ev };
    bool ok = json_scan_peek(&c.s) == '{' && scan_members(&c, scan_event) &&
              json_scan_peek(&c.s) == 0 && c.s.p == c.s.end;
    if (!ok || !c.has_type || !c.has_object)
        return err_set(err, E_PARSE, "no event of a watch, at byte %zu", (size_t)(c.s.p - line.p));
    *ret = ev;
    return 0;
}

static bool scan_list_meta(struct event_scan *c, struct str key)
{
    struct str text;
    if (!scan_text(c, &text))
        return false;
    if (str_is(key, "resourceVersion"))
        return parse_u64(text, 1, UINT64_MAX, &c->page->rv) >= 0;
    if (str_is(key, "continue"))
        c->page->continue_token = text;
    return true;
}

static bool scan_list(struct event_scan *c, struct str key)
{
    struct str skipped;
    return str_is(key, "metadata") ? scan_members(c, scan_list_meta)
                                   : json_scan_value(&c->s, &skipped);
}

int watch_page_scan(struct arena *a, struct str page, struct watch_page *ret, struct err *err)
{
    struct watch_page p = { 0 };
    struct event_scan c = { .s = json_scan_init(page), .a = a, .page = &p };
    bool ok = json_scan_peek(&c.s) == '{' && scan_members(&c, scan_list) &&
              json_scan_peek(&c.s) == 0 && c.s.p == c.s.end;
    if (!ok || p.rv == 0)
        return err_set(err, E_PARSE, "no page of a list, at byte %zu", (size_t)(c.s.p - page.p));
    *ret = p;
    return 0;
}

/* ---------------------------------------------------------------- the tree */

const struct json *watch_event_object(const struct watch_event *ev)
{
    struct watch_tree *t = ev->tree;
    assert(t);
    if (!t->is_read) {
        t->is_read = true;
        t->arena.max_bytes = (size_t)WATCH_LINE_MAX_BYTES * 16;
        if (json_parse(&t->arena, ev->object, NULL, &t->object, NULL) < 0)
            t->object = NULL;
    }
    return t->object;
}

void watch_tree_fini(struct watch_tree *t)
{
    arena_fini(&t->arena);
    *t = (struct watch_tree){ 0 };
}

/* ---------------------------------------------------------------- lines */

void watch_lines_init(struct watch_lines *l)
{
    buf_init(&l->partial, WATCH_LINE_MAX_BYTES);
    l->handed_out = false;
}

void watch_lines_reset(struct watch_lines *l)
{
    buf_fini(&l->partial);
    watch_lines_init(l);
}

int watch_lines_next(struct watch_lines *l, struct str *rest, struct str *ret)
{
    if (l->handed_out)
        watch_lines_reset(l);
    while (str_find_char(*rest, '\n') >= 0) {
        struct str line;
        (void)str_cut(*rest, '\n', &line, rest);
        if (l->partial.n) {
            if (buf_add_str(&l->partial, line) < 0)
                return -EMSGSIZE;
            line = buf_str(&l->partial);
            l->handed_out = true;
        }
        *ret = str_trim(line);
        if (ret->n)
            return 1;
        if (l->handed_out)
            watch_lines_reset(l);
    }
    if (rest->n && buf_add_str(&l->partial, *rest) < 0)
        return -EMSGSIZE;
    *rest = STR("");
    return 0;
}
