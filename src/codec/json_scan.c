/* SPDX-License-Identifier: Apache-2.0 */
/* See json_scan.h. */
#include "codec/json_scan.h"

#include <string.h>

bool json_scan_next(struct json_scan *s, char close, bool first, bool *ret_ok)
{
    char c = json_scan_peek(s);
    *ret_ok = c == close || (c != 0 && first) || c == ',';
    if (c == close || !*ret_ok) {
        s->p += c == close;
        return false;
    }
    s->p += !first;
    return true;
}

bool json_scan_string(struct json_scan *s, struct str *ret, bool *ret_escaped)
{
    if (!json_scan_take(s, '"'))
        return false;
    const char *from = s->p, *p = from;
    *ret_escaped = false;
    for (;;) {
        p = json_scan_plain(p, s->end);
        if (p == s->end || (uint8_t)*p < 0x20)
            return false;
        if (*p == '"')
            break;
        bool escape = *p == '\\';
        *ret_escaped |= escape;
        if (s->end - p < 2)
            return false;
        p += escape ? 2 : 1;
    }
    *ret = (struct str){ from, (size_t)(p - from) };
    s->p = p + 1;
    return true;
}

/* Of a number or a word. */
static bool is_scalar_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
           c == 'E';
}

static bool skip_container(struct json_scan *s)
{
    struct str skipped;
    bool escaped;
    size_t depth = 0;
    do {
        switch (json_scan_peek(s)) {
        case 0:
            return false;
        case '"':
            if (!json_scan_string(s, &skipped, &escaped))
                return false;
            continue;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            depth--;
            break;
        default:
            break;
        }
        s->p++;
    } while (depth);
    return true;
}

bool json_scan_value(struct json_scan *s, struct str *ret)
{
    struct str text;
    bool escaped;
    char c = json_scan_peek(s);
    const char *from = s->p;
    if (c == '"') {
        if (!json_scan_string(s, &text, &escaped))
            return false;
    } else if (c == '{' || c == '[') {
        if (!skip_container(s))
            return false;
    } else {
        while (s->p < s->end && is_scalar_byte(*s->p))
            s->p++;
    }
    *ret = (struct str){ from, (size_t)(s->p - from) };
    return ret->n > 0;
}

static bool decode(struct arena *a, struct str quoted, struct json *v)
{
    struct json *parsed;
    if (json_parse(a, quoted, NULL, &parsed, NULL) < 0)
        return false;
    *v = *parsed;
    return true;
}

bool json_scan_scalar(struct json_scan *s, struct arena *a, struct json *v)
{
    struct str text;
    bool escaped;
    char c = json_scan_peek(s);
    *v = (struct json){ .type = JSON_STRING };
    if (c == '"') {
        const char *from = s->p;
        if (!json_scan_string(s, &v->s, &escaped))
            return false;
        return !escaped || decode(a, str_n(from, (size_t)(s->p - from)), v);
    }
    if (c == '{' || c == '[' || !json_scan_value(s, &text))
        return false;
    v->s = text;
    v->type = JSON_NUMBER;
    if (c == '-' || (c >= '0' && c <= '9'))
        return true;
    v->s = STR("");
    v->type = c == 't' ? JSON_TRUE : c == 'f' ? JSON_FALSE : JSON_NULL;
    return str_is(text, c == 't' ? "true" : c == 'f' ? "false" : "null");
}
