/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and field errors; see field.h. */
#include "kube/model/field.h"

#include "base/map.h"
#include "codec/json_sort.h"

#include <assert.h>
#include <stdarg.h>

static const struct {
    const char *reason, *words;
} field_error_words[] = {
#define FIELD_ERROR_ROW(name, reason, words) [name] = { reason, words },
    FIELD_ERROR_TYPES(FIELD_ERROR_ROW)
#undef FIELD_ERROR_ROW
};

enum { FIELD_TEXT_MAX_BYTES = 64 * 1024 };

const char *field_error_reason(enum field_error_type type)
{
    assert((size_t)type < ARRAY_LEN(field_error_words));
    return field_error_words[type].reason;
}

/* Moves the bytes of b into the arena; b is released. */
static struct str take_text(struct arena *a, struct buf *b)
{
    struct str s = str_copy_arena(a, buf_str(b));
    buf_fini(b);
    return s;
}

void field_go_quote(struct buf *to, struct str s)
{
    (void)buf_add_char(to, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        switch (c) {
        case '"':
        case '\\':
            (void)buf_add_char(to, '\\');
            (void)buf_add_char(to, (char)c);
            break;
        case '\n':
            (void)buf_add_cstr(to, "\\n");
            break;
        case '\r':
            (void)buf_add_cstr(to, "\\r");
            break;
        case '\t':
            (void)buf_add_cstr(to, "\\t");
            break;
        case '\a':
            (void)buf_add_cstr(to, "\\a");
            break;
        case '\b':
            (void)buf_add_cstr(to, "\\b");
            break;
        case '\f':
            (void)buf_add_cstr(to, "\\f");
            break;
        case '\v':
            (void)buf_add_cstr(to, "\\v");
            break;
        default:
            if (c < ' ' || c == 0x7f)
                (void)buf_printf(to, "\\x%02x", c);
            else
                (void)buf_add_char(to, (char)c);
        }
    }
    (void)buf_add_char(to, '"');
}

const char *field_go_kind(const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        return "null";
    case JSON_FALSE:
    case JSON_TRUE:
        return "bool";
    case JSON_NUMBER:
        return "number";
    case JSON_STRING:
        return "string";
    case JSON_ARRAY:
        return "array";
    case JSON_OBJECT:
        return "object";
    }
    return "";
}

void field_go_print(struct buf *to, const struct json *v, bool sharp)
{
    const char *before = "";
    switch (v->type) {
    case JSON_NULL:
        (void)buf_add_cstr(to, "<nil>");
        return;
    case JSON_FALSE:
    case JSON_TRUE:
    case JSON_NUMBER:
        (void)json_write(to, v);
        return;
    case JSON_STRING:
        if (sharp)
            field_go_quote(to, v->s);
        else
            (void)buf_add_str(to, v->s);
        return;
    case JSON_ARRAY:
        (void)buf_add_cstr(to, sharp ? "[]interface {}{" : "[");
        json_each (item, v) {
            (void)buf_add_cstr(to, before);
            field_go_print(to, item, sharp);
            before = sharp ? ", " : " ";
        }
        (void)buf_add_char(to, sharp ? '}' : ']');
        return;
    case JSON_OBJECT:
        break;
    }
    scoped(free_scoped) const struct json **members = json_sorted_members(v);
    (void)buf_add_cstr(to, sharp ? "map[string]interface {}{" : "map[");
    for (uint32_t i = 0; i < v->n; i++) {
        (void)buf_add_cstr(to, before);
        if (sharp)
            field_go_quote(to, members[i]->key);
        else
            (void)buf_add_str(to, members[i]->key);
        (void)buf_add_char(to, ':');
        field_go_print(to, members[i], sharp);
        before = sharp ? ", " : " ";
    }
    (void)buf_add_char(to, sharp ? '}' : ']');
}

static bool shows_value(enum field_error_type type)
{
    switch (type) {
    case FIELD_REQUIRED:
    case FIELD_FORBIDDEN:
    case FIELD_TOO_LONG:
    case FIELD_INTERNAL:
        return false;
    case FIELD_INVALID:
    case FIELD_TYPE_INVALID:
    case FIELD_NOT_SUPPORTED:
    case FIELD_DUPLICATE:
    case FIELD_NOT_FOUND:
    case FIELD_TOO_MANY:
        return true;
    }
    return false;
}

static void add_value(struct buf *to, const struct json *value)
{
    if (value->type == JSON_STRING)
        field_go_quote(to, value->s);
    else
        (void)json_write(to, value);
}

/* Errors that are only counted get no text: there may be as many of them as values. */
static bool is_only_counted(struct field_errors *errs)
{
    if (errs->is_quiet)
        errs->n++;
    else if (field_errors_full(errs))
        errs->n_dropped++;
    else
        return false;
    return true;
}

static void append(struct field_errors *errs, enum field_error_type type, const struct fpath *at,
                   struct buf *body)
{
    struct field_error *e = arena_new(errs->a, struct field_error);
    e->type = type;
    e->field = fpath_text(errs->a, at);
    e->body = take_text(errs->a, body);
    if (errs->last)
        errs->last->next = e;
    else
        errs->first = e;
    errs->last = e;
    errs->n++;
    errs->n_bytes += e->body.n;
}

__attribute__((format(printf, 2, 0))) static void add_detail(struct buf *to, const char *fmt,
                                                             va_list ap)
{
    size_t before = to->n;
    (void)buf_add_cstr(to, ": ");
    (void)buf_vprintf(to, fmt, ap);
    if (buf_ok(to) && to->n == before + 2) { /* no colon when the detail is empty */
        to->n = before;
        to->p[before] = 0;
    }
}

void field_error(struct field_errors *errs, enum field_error_type type, const struct fpath *at,
                 const struct json *value, const char *fmt, ...)
{
    if (is_only_counted(errs))
        return;
    struct buf b = BUF_INIT(FIELD_TEXT_MAX_BYTES);
    (void)buf_add_cstr(&b, field_error_words[type].words);
    if (shows_value(type) && value) {
        (void)buf_add_cstr(&b, ": ");
        add_value(&b, value);
    }
    va_list ap;
    va_start(ap, fmt);
    add_detail(&b, fmt, ap);
    va_end(ap);
    append(errs, type, at, &b);
}

void field_error_str(struct field_errors *errs, enum field_error_type type, const struct fpath *at,
                     struct str value, const char *fmt, ...)
{
    if (is_only_counted(errs))
        return;
    struct buf b = BUF_INIT(FIELD_TEXT_MAX_BYTES);
    (void)buf_add_cstr(&b, field_error_words[type].words);
    if (shows_value(type)) {
        (void)buf_add_cstr(&b, ": ");
        field_go_quote(&b, value);
    }
    va_list ap;
    va_start(ap, fmt);
    add_detail(&b, fmt, ap);
    va_end(ap);
    append(errs, type, at, &b);
}

void field_error_enum(struct field_errors *errs, const struct fpath *at, const struct json *value,
                      const struct str *supported, size_t n)
{
    if (is_only_counted(errs))
        return;
    struct buf b = BUF_INIT(FIELD_TEXT_MAX_BYTES);
    (void)buf_add_cstr(&b, field_error_words[FIELD_NOT_SUPPORTED].words);
    (void)buf_add_cstr(&b, ": ");
    if (value)
        add_value(&b, value);
    else
        (void)buf_add_cstr(&b, "\"\"");
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_cstr(&b, i ? ", " : ": supported values: ");
        field_go_quote(&b, supported[i]);
    }
    append(errs, FIELD_NOT_SUPPORTED, at, &b);
}

void field_error_again(struct field_errors *errs, const struct field_error *e,
                       const struct fpath *at)
{
    if (is_only_counted(errs))
        return;
    struct buf b = BUF_INIT(FIELD_TEXT_MAX_BYTES);
    (void)buf_add_str(&b, e->body);
    append(errs, e->type, at, &b);
}

struct str field_errors_text(const struct field_errors *errs)
{
    struct buf b = BUF_INIT(FIELD_TEXT_MAX_BYTES * 4);
    struct buf all = BUF_INIT(FIELD_TEXT_MAX_BYTES * 4), key = BUF_INIT(BUF_MAX_DEFAULT);
    struct map seen = { 0 };
    for (const struct field_error *e = errs->first; e; e = e->next) {
        buf_reset(&key);
        (void)buf_add_str(&key, e->field);
        (void)buf_add_cstr(&key, ": ");
        (void)buf_add_str(&key, e->body);
        if (map_put(&seen, buf_str(&key), (void *)e))
            continue;
        if (seen.n > 1)
            (void)buf_add_cstr(&b, ", ");
        (void)buf_add_str(&b, buf_str(&key));
    }
    if (seen.n > 1)
        (void)buf_add_char(&all, '[');
    (void)buf_add_str(&all, buf_str(&b));
    if (seen.n > 1)
        (void)buf_add_char(&all, ']');
    map_fini(&seen);
    buf_fini(&b);
    buf_fini(&key);
    return take_text(errs->a, &all);
}
