/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree -> YAML; see yaml.h.
 *
 * This does not use libyaml's emitter, which needs the tree as events, folds lines, and does not
 * choose quotes better: that depends on how readers resolve plain scalars (yaml_scalar.h).
 */
#include "codec/json_sort.h"
#include "codec/utf8.h"
#include "codec/yaml.h"
#include "codec/yaml_scalar.h"

#include <assert.h>

enum {
    STEP = 2,             /* blanks per level */
    SIMPLE_KEY_MAX = 1000 /* readers look for the ':' of a simple key within 1024 characters */
};

struct yaml_writer {
    struct buf *to;
    bool sorted;
};

/* ---- scalars ---- */

enum yaml_write_content {
    CONTENT_PRINTABLE = 1, /* only characters that need no escape, and line feeds */
    CONTENT_ONE_LINE = 2,  /* no line feed */
};

static bool is_printable(uint32_t cp)
{
    if (cp < 0x20 || cp == 0x7f || cp == 0x85 || cp == 0x2028 || cp == 0x2029)
        return cp == '\n';
    return cp < 0x7f || (cp >= 0xa0 && cp != 0xfeff && cp != 0xfffe && cp != 0xffff);
}

static unsigned content_of(struct str s)
{
    unsigned content = CONTENT_PRINTABLE | CONTENT_ONE_LINE;
    uint32_t cp;
    for (size_t i = 0, n; i < s.n; i += n) {
        n = utf8_decode(s.p + i, s.n - i, &cp);
        if (n == 0 || !is_printable(cp))
            return 0;
        if (cp == '\n')
            content &= ~(unsigned)CONTENT_ONE_LINE;
    }
    return content;
}

/* Whether other readers could read s as a time or a base-60 number. */
static bool is_time_like(struct str s)
{
    bool has_colon = false, only_digits = true;
    for (size_t i = 0; i < s.n; i++) {
        has_colon |= s.p[i] == ':';
        only_digits &= (s.p[i] >= '0' && s.p[i] <= ':') || s.p[i] == '_' || s.p[i] == '.' ||
                       (i == 0 && (s.p[i] == '-' || s.p[i] == '+'));
    }
    bool is_date = s.n >= 8 && s.p[4] == '-' && s.p[5] >= '0' && s.p[5] <= '9';
    for (size_t i = 0; is_date && i < 4; i++)
        is_date = s.p[i] >= '0' && s.p[i] <= '9';
    return is_date || (has_colon && only_digits);
}

static bool means_string(struct str s)
{
    return yaml_resolve(s).kind == YAML_STR && !is_time_like(s) && !str_is(s, "<<") &&
           !str_is(s, "=");
}

/* Whether s, printable and on one line, reads back unchanged without quotes. */
static bool is_plain(struct str s)
{
    if (s.n == 0 || s.p[0] == ' ' || s.p[s.n - 1] == ' ' || s.p[s.n - 1] == ':')
        return false;
    if (strchr("#,[]{}&*!|>'\"%@`", s.p[0]))
        return false;
    if (strchr("-?:", s.p[0]) && (s.n == 1 || s.p[1] == ' '))
        return false;
    if (str_has_prefix(s, STR("---")) || str_has_prefix(s, STR("...")))
        return false;
    return str_find(s, STR(": ")) < 0 && str_find(s, STR(" #")) < 0;
}

static void put_blanks(struct buf *to, size_t n)
{
    static const char blanks[] = "                                ";
    while (n > 0) {
        size_t some = MIN(n, sizeof blanks - 1);
        buf_add(to, blanks, some);
        n -= some;
    }
}

static void put_single_quoted(struct buf *to, struct str s)
{
    struct str part;
    buf_add_char(to, '\'');
    while (str_cut(s, '\'', &part, &s)) {
        buf_add_str(to, part);
        buf_add_cstr(to, "''");
    }
    buf_add_str(to, part);
    buf_add_char(to, '\'');
}

static void put_double_quoted(struct buf *to, struct str s)
{
    static const char from[] = "\"\\\b\f\n\r\t", as[] = "\"\\bfnrt";
    uint32_t cp;
    buf_add_char(to, '"');
    for (size_t i = 0, n; i < s.n; i += n) {
        n = utf8_decode(s.p + i, s.n - i, &cp);
        const char *at = n == 1 && cp ? strchr(from, (int)cp) : NULL;
        if (n == 0) {
            buf_add_cstr(to, "\\uFFFD");
            n = 1;
        } else if (at) {
            buf_add_char(to, '\\');
            buf_add_char(to, as[at - from]);
        } else if (!is_printable(cp)) {
            buf_printf(to, "\\u%04X", cp); /* all of them are below 0x10000 */
        } else {
            buf_add(to, s.p + i, n);
        }
    }
    buf_add_char(to, '"');
}

static void put_on_one_line(struct buf *to, struct str s)
{
    if (content_of(s) != (CONTENT_PRINTABLE | CONTENT_ONE_LINE) || !means_string(s))
        put_double_quoted(to, s);
    else if (!is_plain(s))
        put_single_quoted(to, s);
    else
        buf_add_str(to, s);
}

/* Readers take the indentation from the first line that is not empty. */
static bool fits_literal(struct str s)
{
    return content_of(s) == CONTENT_PRINTABLE && s.p[0] != ' ' && s.p[0] != '\n';
}

static void put_literal(struct buf *to, struct str s, size_t indent)
{
    bool ends_line = s.p[s.n - 1] == '\n';
    buf_add_cstr(to, !ends_line ? "|-" : s.p[s.n - 2] == '\n' ? "|+" : "|");
    struct str line, rest = str_slice(s, 0, s.n - ends_line);
    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        buf_add_char(to, '\n');
        if (line.n)
            put_blanks(to, indent);
        buf_add_str(to, line);
    }
}

/* Write a scalar or an empty container, without the line feed after it. indent: of a literal
 * block. */
static void put_scalar(struct buf *to, const struct json *v, size_t indent)
{
    switch (v->type) {
    case JSON_NULL:
        buf_add_cstr(to, "null");
        return;
    case JSON_FALSE:
        buf_add_cstr(to, "false");
        return;
    case JSON_TRUE:
        buf_add_cstr(to, "true");
        return;
    case JSON_NUMBER:
        buf_add_str(to, v->s);
        return;
    case JSON_STRING:
        if (fits_literal(v->s))
            put_literal(to, v->s, indent);
        else
            put_on_one_line(to, v->s);
        return;
    case JSON_ARRAY:
        buf_add_cstr(to, "[]");
        return;
    case JSON_OBJECT:
        buf_add_cstr(to, "{}");
        return;
    }
}

/* ---- blocks ---- */

static void put_mapping(struct yaml_writer *w, const struct json *v, size_t indent, bool started);
static void put_sequence(struct yaml_writer *w, const struct json *v, size_t indent, bool started);

static void put_key(struct buf *to, struct str key, size_t indent)
{
    size_t before = to->n;
    put_on_one_line(to, key);
    if (to->n - before <= SIMPLE_KEY_MAX || to->failed) {
        buf_add_char(to, ':');
        return;
    }
    to->n = before;
    buf_add_cstr(to, "? ");
    put_on_one_line(to, key);
    buf_add_char(to, '\n');
    put_blanks(to, indent);
    buf_add_char(to, ':');
}

static void put_member(struct yaml_writer *w, const struct json *v, size_t indent)
{
    put_key(w->to, v->key, indent);
    if (json_first(v)) {
        buf_add_char(w->to, '\n');
        if (v->type == JSON_OBJECT)
            put_mapping(w, v, indent + STEP, false);
        else
            put_sequence(w, v, indent, false);
        return;
    }
    buf_add_char(w->to, ' ');
    put_scalar(w->to, v, indent + STEP);
    buf_add_char(w->to, '\n');
}

/* started: the line already holds the indentation of the first member. */
static void put_mapping(struct yaml_writer *w, const struct json *v, size_t indent, bool started)
{
    scoped(free_scoped) const struct json **list = w->sorted ? json_sorted_members(v) : NULL;
    const struct json *c = v->first;
    for (uint32_t i = 0; i < v->n; i++, c = c->next) {
        if (i > 0 || !started)
            put_blanks(w->to, indent);
        put_member(w, list ? list[i] : c, indent);
    }
}

static void put_sequence(struct yaml_writer *w, const struct json *v, size_t indent, bool started)
{
    json_each (c, v) {
        if (c != v->first || !started)
            put_blanks(w->to, indent);
        buf_add_cstr(w->to, "- ");
        if (!json_first(c)) {
            put_scalar(w->to, c, indent + STEP);
            buf_add_char(w->to, '\n');
        } else if (c->type == JSON_OBJECT) {
            put_mapping(w, c, indent + STEP, true);
        } else {
            put_sequence(w, c, indent + STEP, true);
        }
    }
}

int yaml_write(struct buf *to, const struct json *v, bool sorted)
{
    struct yaml_writer w = { .to = to, .sorted = sorted };
    if (!json_first(v)) {
        put_scalar(to, v, STEP);
        buf_add_char(to, '\n');
    } else if (v->type == JSON_OBJECT) {
        put_mapping(&w, v, 0, false);
    } else {
        put_sequence(&w, v, 0, false);
    }
    return to->failed;
}
