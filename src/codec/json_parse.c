/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON text -> tree; see json.h.
 *
 * One pass without recursion: the builder's levels hold the containers that are open.
 */
#include "codec/json_builder.h"
#include "codec/json_scan.h"

#include <assert.h>
#include <errno.h>

struct json_parser {
    struct json_builder builder;
    const char *start, *p, *end;
    struct err *err;
};

/* ---- failing ---- */

/* As Go's encoding/json quotes it: a byte that is not ASCII is shown as the character with its
 * number. */
static void quote_byte(unsigned char c, char out[8])
{
    static const char from[] = "\a\b\f\n\r\t\v\\'", to[] = "abfnrtv\\'";
    const char *escape = c ? strchr(from, c) : NULL;
    if (escape)
        (void)snprintf(out, 8, "\\%c", to[escape - from]);
    else if (c >= 0x20 && c < 0x7f)
        (void)snprintf(out, 8, "%c", c);
    else if (c < 0x80)
        (void)snprintf(out, 8, "\\x%02x", c);
    else if (c <= 0xa0 || c == 0xad)
        (void)snprintf(out, 8, "\\u%04x", c);
    else
        (void)snprintf(out, 8, "%c%c", (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)));
}

static int fail_at(struct json_parser *ps, const char *at, const char *what)
{
    size_t offset = (size_t)(at - ps->start);
    if (at >= ps->end)
        return err_set(ps->err, E_PARSE, "offset %zu: unexpected end of JSON input", offset);
    char shown[8];
    quote_byte((unsigned char)*at, shown);
    return err_set(ps->err, E_PARSE, "offset %zu: invalid character '%s' %s", offset, shown, what);
}

static int fail_memory(struct json_parser *ps)
{
    return err_set(ps->err, -EMSGSIZE, "offset %zu: JSON document too large",
                   (size_t)(ps->p - ps->start));
}

/* ---- strings ---- */

static inline bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Four hexadecimal digits that string_end() has checked. */
static uint32_t hex4(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t d = (uint32_t)(uint8_t)p[i];
        v = v << 4 | (d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
    }
    return v;
}

/* As json_scan_plain(), and over well-formed UTF-8. */
static inline const char *skip_text(const char *p, const char *end)
{
    for (;;) {
        p = json_scan_plain(p, end);
        if (p == end || (uint8_t)*p < 0x80)
            return p;
        size_t len = utf8_decode(p, (size_t)(end - p), NULL);
        if (len == 0)
            return p;
        p += len;
    }
}

/* Check the rest of a string from p on; *ret is its closing quote, *ret_bad the malformed bytes. */
static int string_end(struct json_parser *ps, const char *p, const char **ret, size_t *ret_bad)
{
    size_t bad = 0;
    for (;;) {
        p = skip_text(p, ps->end);
        if (p == ps->end)
            return fail_at(ps, p, "in string literal");
        if (*p == '"')
            break;
        if ((uint8_t)*p < 0x20)
            return fail_at(ps, p, "in string literal");
        if (*p != '\\') {
            bad++;
            p++;
            continue;
        }
        if (++p == ps->end || !memchr("\"\\/bfnrtu", *p, 9))
            return fail_at(ps, p, "in string escape code");
        if (*p++ != 'u')
            continue;
        for (int i = 0; i < 4; i++, p++)
            if (p == ps->end || !is_hex(*p))
                return fail_at(ps, p, "in \\u hexadecimal character escape");
    }
    *ret = p;
    *ret_bad = bad;
    return 0;
}

/* Decode the escape at *pp (after the backslash), which string_end() has checked. */
static char *unescape(const char **pp, const char *end, char *out)
{
    const char *p = *pp;
    char c = *p++;
    if (c != 'u') {
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        const char *at = strchr(from, c);
        *out++ = at ? to[at - from] : c;
        *pp = p;
        return out;
    }
    uint32_t cp = hex4(p);
    p += 4;
    if (cp >= 0xd800 && cp <= 0xdfff) {
        uint32_t low = cp < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : 0;
        if (low >= 0xdc00 && low <= 0xdfff) {
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        } else {
            cp = 0xfffd;
        }
    }
    *pp = p;
    return out + utf8_encode(out, cp);
}

/* The string from `start` (after its quote), of which everything before `at` is plain. */
static int string_decode(struct json_parser *ps, const char *start, const char *at, struct str *ret)
{
    const char *close = NULL;
    size_t bad = 0, bytes;
    int r = string_end(ps, at, &close, &bad);
    if (r < 0)
        return r;
    /* An escape is never shorter than its decoded character; a malformed byte becomes three. */
    if (size_mul(bad, 2, &bytes) || size_add(bytes, (size_t)(close - start), &bytes))
        return fail_memory(ps);
    char *text = arena_try(ps->builder.arena, bytes);
    if (!text)
        return fail_memory(ps);
    char *out = text;
    const char *p = start;
    for (;;) {
        const char *stop = skip_text(p, close);
        memcpy(out, p, (size_t)(stop - p));
        out += stop - p;
        p = stop;
        if (p == close)
            break;
        if (*p == '\\') {
            p++;
            out = unescape(&p, close, out);
        } else {
            memcpy(out, UTF8_REPLACEMENT, 3);
            out += 3;
            p++;
        }
    }
    assert((size_t)(out - text) <= bytes);
    *ret = (struct str){ text, (size_t)(out - text) };
    ps->p = close + 1;
    return 0;
}

/* At the opening quote; leaves ps->p after the closing one. */
static inline int parse_string(struct json_parser *ps, struct str *ret)
{
    const char *start = ps->p + 1;
    const char *stop = skip_text(start, ps->end);
    if (stop == ps->end || *stop != '"')
        return string_decode(ps, start, stop, ret);
    *ret = (struct str){ start, (size_t)(stop - start) };
    ps->p = stop + 1;
    return 0;
}

/* ---- scalars ---- */

static inline bool is_digit(const struct json_parser *ps, const char *p)
{
    return p < ps->end && (uint8_t)(*p - '0') < 10;
}

static inline const char *skip_digits(const struct json_parser *ps, const char *p)
{
    while (is_digit(ps, p))
        p++;
    return p;
}

static inline int parse_number(struct json_parser *ps, struct str *ret)
{
    const char *p = ps->p;
    if (*p == '-')
        p++;
    if (!is_digit(ps, p))
        return fail_at(ps, p, "in numeric literal");
    p = *p == '0' ? p + 1 : skip_digits(ps, p);
    if (p < ps->end && *p == '.') {
        if (!is_digit(ps, ++p))
            return fail_at(ps, p, "after decimal point in numeric literal");
        p = skip_digits(ps, p);
    }
    if (p < ps->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < ps->end && (*p == '+' || *p == '-'))
            p++;
        if (!is_digit(ps, p))
            return fail_at(ps, p, "in exponent of numeric literal");
        p = skip_digits(ps, p);
    }
    *ret = (struct str){ ps->p, (size_t)(p - ps->p) };
    ps->p = p;
    return 0;
}

static int parse_word(struct json_parser *ps, struct str word)
{
    for (size_t i = 0; i < word.n; i++, ps->p++)
        if (ps->p == ps->end || *ps->p != word.p[i]) {
            char what[48];
            (void)snprintf(what, sizeof what, "in literal " STR_FMT " (expecting '%c')",
                           STR_ARG(word), word.p[i]);
            return fail_at(ps, ps->p, what);
        }
    return 0;
}

/* ---- structure ---- */

static inline void skip_blanks(struct json_parser *ps)
{
    const char *p = ps->p;
    while (p < ps->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    ps->p = p;
}

static int open_container(struct json_parser *ps, struct json *node)
{
    if (!json_builder_open(&ps->builder, node))
        return fail_at(ps, ps->p, "exceeded max depth");
    ps->p++;
    return 0;
}

static int close_container(struct json_parser *ps)
{
    ps->p++;
    return json_builder_close(&ps->builder) < 0 ? fail_memory(ps) : 0;
}

/* The value at ps->p into node; a container is only opened. */
static int parse_value(struct json_parser *ps, struct json *node)
{
    if (ps->p == ps->end)
        return fail_at(ps, ps->p, "");
    switch (*ps->p) {
    case '{':
        node->type = JSON_OBJECT;
        return open_container(ps, node);
    case '[':
        node->type = JSON_ARRAY;
        return open_container(ps, node);
    case '"':
        node->type = JSON_STRING;
        return parse_string(ps, &node->s);
    case 't':
        node->type = JSON_TRUE;
        return parse_word(ps, STR("true"));
    case 'f':
        node->type = JSON_FALSE;
        return parse_word(ps, STR("false"));
    case 'n':
        node->type = JSON_NULL;
        return parse_word(ps, STR("null"));
    case '-':
    case '0' ... '9':
        node->type = JSON_NUMBER;
        return parse_number(ps, &node->s);
    default:
        return fail_at(ps, ps->p, "looking for beginning of value");
    }
}

static int parse_key(struct json_parser *ps, struct json_level *top, struct json *node)
{
    if (ps->p == ps->end || *ps->p != '"')
        return fail_at(ps, ps->p, "looking for beginning of object key string");
    int r = parse_string(ps, &node->key);
    if (r < 0)
        return r;
    json_builder_key(top, node->key);
    skip_blanks(ps);
    if (ps->p == ps->end || *ps->p != ':')
        return fail_at(ps, ps->p, "after object key");
    ps->p++;
    skip_blanks(ps);
    return 0;
}

/* Append a new child to the open container and parse it. */
static int parse_child(struct json_parser *ps, struct json_level *top)
{
    struct json *node = json_builder_node(&ps->builder);
    if (!node)
        return fail_memory(ps);
    if (top->node->type == JSON_OBJECT) {
        int r = parse_key(ps, top, node);
        if (r < 0)
            return r;
    }
    json_builder_add(top, node);
    return parse_value(ps, node);
}

/* One step in the innermost open container: its end, or its next child. */
static int parse_step(struct json_parser *ps)
{
    struct json_level *top = json_builder_top(&ps->builder);
    bool is_object = top->node->type == JSON_OBJECT;
    skip_blanks(ps);
    if (ps->p < ps->end && *ps->p == (is_object ? '}' : ']'))
        return close_container(ps);
    if (top->node->n > 0) {
        if (ps->p == ps->end || *ps->p != ',')
            return fail_at(ps, ps->p,
                           is_object ? "after object key:value pair" : "after array element");
        ps->p++;
        skip_blanks(ps);
    }
    return parse_child(ps, top);
}

static int parse_document(struct json_parser *ps, struct json **ret)
{
    struct json *root = json_builder_node(&ps->builder);
    if (!root)
        return fail_memory(ps);
    skip_blanks(ps);
    int r = parse_value(ps, root);
    while (r >= 0 && ps->builder.depth > 0)
        r = parse_step(ps);
    if (r < 0)
        return r;
    skip_blanks(ps);
    if (ps->p != ps->end)
        return fail_at(ps, ps->p, "after top-level value");
    *ret = root;
    return 0;
}

int json_parse(struct arena *a, struct str text, const struct json_parse_opts *opts,
               struct json **ret, struct err *err)
{
    if (text.n > UINT32_MAX)
        return err_set(err, -EMSGSIZE, "JSON document too large");
    (void)arena_spend(a, text.n / 4, "decoding JSON"); /* the arena counts the nodes */
    struct json_parser ps; /* set field by field: clearing all levels costs more than parsing */
    json_builder_init(&ps.builder, a, opts ? opts->max_depth : 0, text.n / 16);
    if (opts) {
        ps.builder.on_duplicate = opts->on_duplicate;
        ps.builder.arg = opts->arg;
    }
    ps.start = ps.p = text.p ? text.p : "";
    ps.end = ps.start + text.n;
    ps.err = err;
    return parse_document(&ps, ret);
}
