/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree -> JSON text; see json.h.
 *
 * Writers ask for room once per string or punctuation and fill it by hand: appending byte by byte
 * through buf_add() costs more than all other work in this file.
 */
#include "codec/json.h"

#include "codec/json_sort.h"
#include "codec/utf8.h"

#include <assert.h>

enum { ESCAPE_MAX = 6 }; /* the longest escape of one byte: "\u001f" */

/* Room for n bytes, or NULL after a failure, which is sticky in the buffer. */
static inline char *room(struct buf *to, size_t n)
{
    if (!to->failed && to->p && n < to->cap - to->n)
        return to->p + to->n;
    char *p;
    return buf_reserve(to, n, &p) < 0 ? NULL : p;
}

static inline void put(struct buf *to, const char *s, size_t n)
{
    char *p = room(to, n);
    if (!p)
        return;
    memcpy(p, s, n);
    buf_advance(to, n);
}

static inline void put_char(struct buf *to, char c)
{
    put(to, &c, 1);
}

/* ---- strings ---- */

/* The number of bytes from p on that need no escape. */
static inline size_t plain_run(const char *p, size_t n)
{
    size_t i = 0;
    for (;;) {
        while (n - i >= 8) {
            uint64_t match = swar_json_special(swar_load(p + i));
            if (match) {
                i += swar_first(match);
                break;
            }
            i += 8;
        }
        while (i < n && (uint8_t)p[i] >= 0x20 && (uint8_t)p[i] < 0x80 && p[i] != '"' &&
               p[i] != '\\')
            i++;
        if (i == n || (uint8_t)p[i] < 0x80)
            return i;
        uint32_t cp;
        size_t len = utf8_decode(p + i, n - i, &cp);
        if (len == 0 || cp == 0x2028 || cp == 0x2029)
            return i;
        i += len;
    }
}

static size_t put_unicode_escape(char *out, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    memcpy(out, "\\u", 2);
    for (int i = 0; i < 4; i++)
        out[2 + i] = hex[unit >> (12 - 4 * i) & 15];
    return 6;
}

/* Write the escaped form of the character at p; *ret_used is the number of bytes it has at p. */
static size_t put_escaped(char *out, const char *p, size_t n, size_t *ret_used)
{
    static const char short_forms[32] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'
    };
    uint8_t c = (uint8_t)*p;
    *ret_used = 1;
    if (c >= 0x80) {
        uint32_t cp = 0xfffd;
        size_t len = utf8_decode(p, n, &cp);
        *ret_used = len ? len : 1;
        return put_unicode_escape(out, cp);
    }
    if (c < 0x20 && !short_forms[c])
        return put_unicode_escape(out, c);
    out[0] = '\\';
    out[1] = c < 0x20 ? short_forms[c] : (char)c;
    return 2;
}

/* The rest of a string that needs escapes, without its quotes. */
static void put_escaping(struct buf *to, struct str s)
{
    size_t i = 0, used;
    char escape[ESCAPE_MAX];
    while (i < s.n && !to->failed) {
        size_t run = plain_run(s.p + i, s.n - i);
        put(to, s.p + i, run);
        i += run;
        if (i == s.n)
            break;
        put(to, escape, put_escaped(escape, s.p + i, s.n - i, &used));
        i += used;
    }
}

static inline void put_str(struct buf *to, struct str s)
{
    if (s.n == 0) {
        put(to, "\"\"", 2);
        return;
    }
    size_t run = plain_run(s.p, s.n);
    char *out = room(to, run + 2);
    if (!out)
        return;
    out[0] = '"';
    memcpy(out + 1, s.p, run);
    if (run == s.n) {
        out[1 + run] = '"';
        buf_advance(to, run + 2);
        return;
    }
    buf_advance(to, run + 1);
    put_escaping(to, str_slice(s, run, s.n));
    put_char(to, '"');
}

int json_write_str(struct buf *to, struct str s)
{
    put_str(to, s);
    return to->failed;
}

/* ---- values ---- */

static int compare_keys(const void *a, const void *b)
{
    return str_cmp((*(const struct json *const *)a)->key, (*(const struct json *const *)b)->key);
}

const struct json **json_sorted_members(const struct json *obj)
{
    const struct json **list = xnew_n(const struct json *, obj->n + 1);
    size_t n = 0;
    json_each (c, obj)
        list[n++] = c;
    assert(n == obj->n);
    qsort(list, n, sizeof *list, compare_keys);
    return list;
}

struct style {
    bool sorted;
    bool pretty;
    unsigned indent;
};

static void put_value(struct buf *to, const struct json *v, const struct style *style,
                      unsigned depth);

static void put_line(struct buf *to, const struct style *style, unsigned depth)
{
    if (!style->pretty)
        return;
    size_t n = (size_t)style->indent * depth;
    char *p = room(to, n + 1);
    if (!p)
        return;
    p[0] = '\n';
    memset(p + 1, ' ', n);
    buf_advance(to, n + 1);
}

static inline void put_child(struct buf *to, const struct json *child, bool is_member,
                             const struct style *style, unsigned depth)
{
    put_line(to, style, depth + 1);
    if (is_member) {
        put_str(to, child->key);
        put(to, ": ", style->pretty ? 2 : 1);
    }
    put_value(to, child, style, depth + 1);
}

static void put_container(struct buf *to, const struct json *v, const struct style *style,
                          unsigned depth)
{
    bool is_object = v->type == JSON_OBJECT;
    if (!v->first) {
        put(to, is_object ? "{}" : "[]", 2);
        return;
    }
    char separator = is_object ? '{' : '[';
    if (is_object && style->sorted) {
        scoped(free_scoped) const struct json **list = json_sorted_members(v);
        for (uint32_t i = 0; i < v->n; i++, separator = ',') {
            put_char(to, separator);
            put_child(to, list[i], true, style, depth);
        }
    } else {
        for (const struct json *c = v->first; c; c = c->next, separator = ',') {
            put_char(to, separator);
            put_child(to, c, is_object, style, depth);
        }
    }
    put_line(to, style, depth);
    put_char(to, is_object ? '}' : ']');
}

static void put_value(struct buf *to, const struct json *v, const struct style *style,
                      unsigned depth)
{
    switch (v->type) {
    case JSON_NULL:
        put(to, "null", 4);
        return;
    case JSON_FALSE:
        put(to, "false", 5);
        return;
    case JSON_TRUE:
        put(to, "true", 4);
        return;
    case JSON_NUMBER:
        put(to, v->s.p, v->s.n);
        return;
    case JSON_STRING:
        put_str(to, v->s);
        return;
    case JSON_ARRAY:
    case JSON_OBJECT:
        put_container(to, v, style, depth);
        return;
    }
}

static int write_styled(struct buf *to, const struct json *v, const struct style *style)
{
    put_value(to, v, style, 0);
    return to->failed;
}

int json_write(struct buf *to, const struct json *v)
{
    return write_styled(to, v, &(struct style){ 0 });
}

int json_write_sorted(struct buf *to, const struct json *v)
{
    return write_styled(to, v, &(struct style){ .sorted = true });
}

int json_write_pretty(struct buf *to, const struct json *v, unsigned indent)
{
    return write_styled(to, v, &(struct style){ .pretty = true, .indent = indent });
}
