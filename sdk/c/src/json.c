/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/json.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

/* ---- checking ---- */

struct scan {
    const char *p, *end;
    unsigned depth;
};

static void skip_space(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
}

static bool eat(struct scan *s, char c)
{
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool check_word(struct scan *s, const char *word, size_t n)
{
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool eat_digits(struct scan *s)
{
    const char *from = s->p;
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
        s->p++;
    return s->p > from;
}

static bool check_number(struct scan *s)
{
    (void)eat(s, '-');
    if (!eat(s, '0') && !eat_digits(s))
        return false;
    if (eat(s, '.') && !eat_digits(s))
        return false;
    if (eat(s, 'e') || eat(s, 'E')) {
        if (!eat(s, '+'))
            (void)eat(s, '-');
        return eat_digits(s);
    }
    return true;
}

static bool is_any(char c, struct dm_str of)
{
    return dm_find_char(of, c) < of.n;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool check_escape(struct scan *s)
{
    if (s->p == s->end)
        return false;
    char c = *s->p++;
    if (c != 'u')
        return is_any(c, DM_STR("\"\\/bfnrt"));
    for (int i = 0; i < 4; i++, s->p++)
        if (s->p == s->end || hex_value(*s->p) < 0)
            return false;
    return true;
}

static bool check_string(struct scan *s)
{
    if (!eat(s, '"'))
        return false;
    while (s->p < s->end) {
        unsigned char c = (unsigned char)*s->p++;
        if (c == '"')
            return true;
        if (c < 0x20 || (c == '\\' && !check_escape(s)))
            return false;
    }
    return false;
}

static bool check_value(struct scan *s);

static bool check_members(struct scan *s, bool object, char closing)
{
    s->p++;
    skip_space(s);
    if (eat(s, closing))
        return true;
    do {
        skip_space(s);
        if (object) {
            if (!check_string(s))
                return false;
            skip_space(s);
            if (!eat(s, ':'))
                return false;
            skip_space(s);
        }
        if (!check_value(s))
            return false;
        skip_space(s);
    } while (eat(s, ','));
    return eat(s, closing);
}

static bool check_value(struct scan *s)
{
    if (s->p == s->end || s->depth == DM_JSON_DEPTH_MAX)
        return false;
    s->depth++;
    bool ok;
    switch (*s->p) {
    case '{':
        ok = check_members(s, true, '}');
        break;
    case '[':
        ok = check_members(s, false, ']');
        break;
    case '"':
        ok = check_string(s);
        break;
    case 't':
        ok = check_word(s, "true", 4);
        break;
    case 'f':
        ok = check_word(s, "false", 5);
        break;
    case 'n':
        ok = check_word(s, "null", 4);
        break;
    default:
        ok = check_number(s);
        break;
    }
    s->depth--;
    return ok;
}

struct dm_json dm_json_parse(const char *p, size_t n)
{
    struct scan s = { .p = p, .end = p + n };
    skip_space(&s);
    const char *from = s.p;
    if (!check_value(&s))
        return (struct dm_json){ 0 };
    const char *to = s.p;
    skip_space(&s);
    return s.p == s.end ? (struct dm_json){ from, (size_t)(to - from) } : (struct dm_json){ 0 };
}

/* ---- reading checked text: no bounds can be missed, so these loops are short ---- */

static const char *past_space(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

static const char *past_string(const char *p)
{
    for (p++; *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p + 1;
}

/* `end` is only reached by a number that is the whole text. */
static const char *past_value(const char *p, const char *end)
{
    if (*p == '"')
        return past_string(p);
    if (*p != '{' && *p != '[') {
        while (p < end && !is_any(*p, DM_STR(",]} \n\r\t")))
            p++;
        return p;
    }
    unsigned depth = 0;
    do {
        if (*p == '"') {
            p = past_string(p);
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']')
            depth--;
        p++;
    } while (depth);
    return p;
}

enum dm_json_kind dm_json_kind(struct dm_json v)
{
    if (!v.p)
        return DM_JSON_NONE;
    switch (*v.p) {
    case '{':
        return DM_JSON_OBJECT;
    case '[':
        return DM_JSON_ARRAY;
    case '"':
        return DM_JSON_STRING;
    case 't':
    case 'f':
        return DM_JSON_BOOL;
    case 'n':
        return DM_JSON_NULL;
    default:
        return DM_JSON_NUMBER;
    }
}

bool dm_json_has(struct dm_json v)
{
    return v.p && *v.p != 'n';
}

struct dm_json_iter dm_json_iter(struct dm_json v)
{
    enum dm_json_kind kind = dm_json_kind(v);
    if (kind != DM_JSON_OBJECT && kind != DM_JSON_ARRAY)
        return (struct dm_json_iter){ 0 };
    return (struct dm_json_iter){ .at = v.p + 1,
                                  .end = v.p + v.n - 1,
                                  .object = kind == DM_JSON_OBJECT };
}

bool dm_json_next(struct dm_json_iter *it)
{
    if (!it->at)
        return false;
    const char *p = past_space(it->at);
    if (*p == ',')
        p = past_space(p + 1);
    if (p >= it->end)
        return false;
    if (it->object) {
        const char *e = past_string(p);
        it->key = (struct dm_json){ p, (size_t)(e - p) };
        p = past_space(past_space(e) + 1);
    }
    const char *e = past_value(p, it->end);
    it->value = (struct dm_json){ p, (size_t)(e - p) };
    it->at = e;
    return true;
}

struct dm_json dm_json_member(struct dm_json obj, const char *key)
{
    if (dm_json_kind(obj) != DM_JSON_OBJECT)
        return (struct dm_json){ 0 };
    for (struct dm_json_iter it = dm_json_iter(obj); dm_json_next(&it);)
        if (dm_json_is(it.key, key))
            return it.value;
    return (struct dm_json){ 0 };
}

static struct dm_json member_n(struct dm_json obj, struct dm_str key)
{
    if (dm_json_kind(obj) != DM_JSON_OBJECT)
        return (struct dm_json){ 0 };
    for (struct dm_json_iter it = dm_json_iter(obj); dm_json_next(&it);)
        if (dm_json_is_str(it.key, key))
            return it.value;
    return (struct dm_json){ 0 };
}

struct dm_json dm_json_at(struct dm_json v, const char *path)
{
    while (v.p) {
        size_t n = 0;
        while (path[n] && path[n] != '.')
            n++;
        v = member_n(v, (struct dm_str){ path, n });
        if (!path[n])
            break;
        path += n + 1;
    }
    return v;
}

static uint32_t read_hex4(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v = v << 4 | (uint32_t)hex_value(p[i]);
    return v;
}

static size_t encode_utf8(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* One character of a string: *p behind a backslash or at plain text; half a surrogate pair becomes
 * U+FFFD. */
static size_t decode_escape(const char **p, const char *end, char out[4])
{
    char c = *(*p)++;
    switch (c) {
    case 'b':
        out[0] = '\b';
        return 1;
    case 'f':
        out[0] = '\f';
        return 1;
    case 'n':
        out[0] = '\n';
        return 1;
    case 'r':
        out[0] = '\r';
        return 1;
    case 't':
        out[0] = '\t';
        return 1;
    case 'u':
        break;
    default:
        out[0] = c;
        return 1;
    }
    uint32_t u = read_hex4(*p);
    *p += 4;
    if (u < 0xd800 || u > 0xdfff)
        return encode_utf8(u, out);
    if (u < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        uint32_t low = read_hex4(*p + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *p += 6;
            return encode_utf8(0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00), out);
        }
    }
    return encode_utf8(0xfffd, out);
}

struct dm_str dm_json_plain(struct dm_json v)
{
    if (dm_json_kind(v) != DM_JSON_STRING)
        return (struct dm_str){ "", 0 };
    return (struct dm_str){ v.p + 1, v.n - 2 };
}

static bool has_escapes(struct dm_str s)
{
    return is_any('\\', s);
}

bool dm_json_is_str(struct dm_json v, struct dm_str text)
{
    if (dm_json_kind(v) != DM_JSON_STRING)
        return false;
    struct dm_str s = dm_json_plain(v);
    if (!has_escapes(s))
        return dm_str_eq(s, text);
    const char *p = s.p, *end = s.p + s.n;
    size_t at = 0;
    while (p < end) {
        char c[4] = { *p++ };
        size_t n = c[0] == '\\' ? decode_escape(&p, end, c) : 1;
        if (n > text.n - at || memcmp(text.p + at, c, n) != 0)
            return false;
        at += n;
    }
    return at == text.n;
}

bool dm_json_is(struct dm_json v, const char *text)
{
    return dm_json_is_str(v, dm_str(text));
}

void dm_json_decode(struct dm_json v, struct dm_text *out)
{
    struct dm_str s = dm_json_plain(v);
    const char *p = s.p, *end = s.p + s.n;
    while (p < end) {
        const char *plain = p;
        while (p < end && *p != '\\')
            p++;
        dm_text_put(out, plain, (size_t)(p - plain));
        if (p == end)
            break;
        char c[4];
        p++;
        size_t n = decode_escape(&p, end, c);
        dm_text_put(out, c, n);
    }
}

const char *dm_json_string(struct dm_json v, struct dm_arena *a)
{
    struct dm_str s = dm_json_plain(v);
    if (!has_escapes(s))
        return dm_arena_copy(a, s.p, s.n);
    struct dm_text t = { 0 };
    dm_json_decode(v, &t);
    const char *copy = dm_arena_copy(a, t.p ? t.p : "", t.n);
    dm_text_fini(&t);
    return copy;
}

static size_t count(struct dm_json v)
{
    size_t n = 0;
    for (struct dm_json_iter it = dm_json_iter(v); dm_json_next(&it);)
        n++;
    return n;
}

static bool same_string(struct dm_json a, struct dm_json b)
{
    if (!has_escapes(dm_json_plain(a)))
        return dm_json_is_str(b, dm_json_plain(a));
    struct dm_text t = { 0 };
    dm_json_decode(a, &t);
    bool same = dm_json_is_str(b, dm_text_view(&t));
    dm_text_fini(&t);
    return same;
}

static struct dm_json member_like(struct dm_json obj, struct dm_json key)
{
    for (struct dm_json_iter it = dm_json_iter(obj); dm_json_next(&it);)
        if (same_string(it.key, key))
            return it.value;
    return (struct dm_json){ 0 };
}

bool dm_json_equal(struct dm_json a, struct dm_json b)
{
    enum dm_json_kind kind = dm_json_kind(a);
    if (kind != dm_json_kind(b))
        return false;
    if (kind == DM_JSON_STRING)
        return same_string(a, b);
    if (kind != DM_JSON_OBJECT && kind != DM_JSON_ARRAY)
        return dm_str_eq((struct dm_str){ a.p, a.n }, (struct dm_str){ b.p, b.n });
    if (count(a) != count(b))
        return false;
    struct dm_json_iter in_b = dm_json_iter(b);
    for (struct dm_json_iter it = dm_json_iter(a); dm_json_next(&it);) {
        (void)dm_json_next(&in_b);
        bool same = kind == DM_JSON_ARRAY
                        ? dm_json_equal(it.value, in_b.value)
                        : dm_json_equal(member_like(a, it.key), member_like(b, it.key));
        if (!same)
            return false;
    }
    return true;
}

int64_t dm_json_int(struct dm_json v, int64_t otherwise)
{
    int64_t n;
    if (dm_json_kind(v) == DM_JSON_NUMBER && dm_parse_i64((struct dm_str){ v.p, v.n }, &n))
        return n;
    return otherwise;
}

bool dm_json_true(struct dm_json v)
{
    return v.p && *v.p == 't';
}

/* ---- writing ---- */

/* A value follows another one unless it opens the text or stands behind '{', '[', ':' or ','. */
static void separate(struct dm_text *t)
{
    if (t->n && !is_any(t->p[t->n - 1], DM_STR("{[:,")))
        dm_text_char(t, ',');
}

void dm_jw_open(struct dm_text *t, char bracket)
{
    separate(t);
    dm_text_char(t, bracket);
}

void dm_jw_close(struct dm_text *t, char bracket)
{
    dm_text_char(t, bracket);
}

static void put_escaped(struct dm_text *t, unsigned char c)
{
    static const char short_form[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (size_t i = 0; i + 1 < sizeof(short_form); i += 2) {
        if (short_form[i] == (char)c) {
            dm_text_char(t, '\\');
            dm_text_char(t, short_form[i + 1]);
            return;
        }
    }
    dm_textf(t, "\\u00%x%x", c >> 4, c & 15u);
}

static void put_quoted(struct dm_text *t, struct dm_str s)
{
    dm_text_char(t, '"');
    const char *p = s.p, *end = s.p + s.n;
    while (p < end) {
        const char *plain = p;
        while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
            p++;
        dm_text_put(t, plain, (size_t)(p - plain));
        if (p < end)
            put_escaped(t, (unsigned char)*p++);
    }
    dm_text_char(t, '"');
}

void dm_jw_text(struct dm_text *t, struct dm_str s)
{
    separate(t);
    put_quoted(t, s);
}

void dm_jw_str(struct dm_text *t, const char *s)
{
    dm_jw_text(t, dm_str(s));
}

void dm_jw_key(struct dm_text *t, const char *key)
{
    dm_jw_str(t, key);
    dm_text_char(t, ':');
}

void dm_jw_int(struct dm_text *t, int64_t v)
{
    separate(t);
    dm_textf(t, "%lld", (long long)v);
}

void dm_jw_bool(struct dm_text *t, bool v)
{
    separate(t);
    dm_text_str(t, v ? DM_STR("true") : DM_STR("false"));
}

void dm_jw_raw(struct dm_text *t, struct dm_json v)
{
    separate(t);
    dm_text_str(t, v.p ? (struct dm_str){ v.p, v.n } : DM_STR("null"));
}

static void put_value(struct dm_text *t, struct dm_json v)
{
    if (v.p)
        dm_text_put(t, v.p, v.n);
    else
        dm_text_put(t, "null", 4);
}

/* What a template has between two quotes, conversions and ends goes to dm_text_convert(). */
static void put_template(struct dm_text *t, struct dm_conversion *c)
{
    while (*c->at) {
        if (*c->at == '\'') {
            dm_text_char(t, '"');
            c->at++;
        } else if (strncmp(c->at, "%s", 2) == 0) {
            put_quoted(t, dm_str(va_arg(c->ap, const char *)));
            c->at += 2;
        } else if (strncmp(c->at, "%.*s", 4) == 0) {
            int n = va_arg(c->ap, int);
            put_quoted(t, (struct dm_str){ va_arg(c->ap, const char *), (size_t)n });
            c->at += 4;
        } else if (strncmp(c->at, "%p", 2) == 0) {
            put_value(t, *va_arg(c->ap, const struct dm_json *));
            c->at += 2;
        } else {
            dm_text_convert_one(t, c);
        }
    }
}

void dm_jsonf(struct dm_text *t, const char *fmt, ...)
{
    struct dm_conversion c;
    va_list ap;
    va_start(ap, fmt);
    dm_conversion_init(&c, fmt, ap);
    put_template(t, &c);
    dm_conversion_fini(&c);
    va_end(ap);
}

void dm_jw_kstr(struct dm_text *t, const char *key, const char *s)
{
    dm_jw_key(t, key);
    dm_jw_str(t, s);
}

void dm_jw_kint(struct dm_text *t, const char *key, int64_t v)
{
    dm_jw_key(t, key);
    dm_jw_int(t, v);
}

void dm_jw_kraw(struct dm_text *t, const char *key, struct dm_json v)
{
    dm_jw_key(t, key);
    dm_jw_raw(t, v);
}

/* ---- editing ---- */

/* Edits that lead through or to `key` at `depth`, as a bit set. */
static uint32_t edits_for(const struct dm_edit *edits, size_t n, uint32_t within, unsigned depth,
                          struct dm_json key)
{
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++)
        if ((within >> i & 1) && edits[i].path[depth] && dm_json_is(key, edits[i].path[depth]))
            found |= 1u << i;
    return found;
}

static int lowest(uint32_t set)
{
    return __builtin_ctz(set);
}

static void edit_object(struct dm_json obj, const struct dm_edit *edits, size_t n, uint32_t within,
                        unsigned depth, struct dm_text *out);

/* `set` holds the edits that name this member; the first decides whether it ends here. */
static void edit_member(const char *key, struct dm_json old, const struct dm_edit *edits, size_t n,
                        uint32_t set, unsigned depth, struct dm_text *out)
{
    const struct dm_edit *e = &edits[lowest(set)];
    bool is_leaf = !e->path[depth + 1];
    if (is_leaf && !e->json)
        return;
    if (!is_leaf && !old.p) {
        uint32_t makes = 0;
        for (size_t i = 0; i < n; i++)
            if ((set >> i & 1) && edits[i].json)
                makes |= 1u << i;
        if (!makes)
            return; /* nothing but removals from an object that is not there */
    }
    dm_jw_key(out, key);
    if (is_leaf)
        dm_jw_raw(out, (struct dm_json){ e->json, strlen(e->json) });
    else
        edit_object(old, edits, n, set, depth + 1, out);
}

static void edit_object(struct dm_json obj, const struct dm_edit *edits, size_t n, uint32_t within,
                        unsigned depth, struct dm_text *out)
{
    uint32_t todo = within;
    dm_jw_open(out, '{');
    for (struct dm_json_iter it = dm_json_iter(obj); dm_json_next(&it);) {
        if (!it.object)
            break;
        uint32_t set = edits_for(edits, n, within, depth, it.key);
        if (set) {
            edit_member(edits[lowest(set)].path[depth], it.value, edits, n, set, depth, out);
            todo &= ~set;
            continue;
        }
        dm_jw_raw(out, it.key);
        dm_text_char(out, ':');
        dm_jw_raw(out, it.value);
    }
    while (todo) {
        const char *key = edits[lowest(todo)].path[depth];
        uint32_t set = 0;
        for (size_t i = 0; i < n; i++)
            if ((todo >> i & 1) && strcmp(edits[i].path[depth], key) == 0)
                set |= 1u << i;
        edit_member(key, (struct dm_json){ 0 }, edits, n, set, depth, out);
        todo &= ~set;
    }
    dm_jw_close(out, '}');
}

void dm_json_edit(struct dm_json obj, const struct dm_edit *edits, size_t n_edits,
                  struct dm_text *out)
{
    if (n_edits > 31)
        abort();
    edit_object(obj, edits, n_edits, n_edits ? (1u << n_edits) - 1 : 0, 0, out);
}
