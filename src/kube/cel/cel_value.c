/* SPDX-License-Identifier: Apache-2.0 */
/* Values: conversion from JSON, equality, order, members. */
#include "kube/cel/cel_int.h"

#include "base/clock.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct cel_value cel_bool(bool b)
{
    return (struct cel_value){ .type = CEL_BOOL, .b = b };
}

struct cel_value cel_int(int64_t i)
{
    return (struct cel_value){ .type = CEL_INT, .i = i };
}

struct cel_value cel_double(double d)
{
    return (struct cel_value){ .type = CEL_DOUBLE, .d = d };
}

struct cel_value cel_string(struct str s)
{
    return (struct cel_value){ .type = CEL_STRING, .s = s };
}

struct cel_value cel_list(const struct cel_value *p, size_t n)
{
    return (struct cel_value){ .type = CEL_LIST, .n = (uint32_t)n, .list = p };
}

struct cel_value cel_optional(struct arena *a, const struct cel_value *held)
{
    struct cel_value *copy = NULL;
    if (held) {
        copy = arena_new(a, struct cel_value);
        *copy = *held;
    }
    return (struct cel_value){ .type = CEL_OPTIONAL, .held = copy };
}

const char *cel_type_name(enum cel_type t)
{
    static const char *const names[] = {
#define CEL_TYPE_TEXT(name, text) [name] = text,
        CEL_TYPES(CEL_TYPE_TEXT)
#undef CEL_TYPE_TEXT
            [CEL_JSON] = "dyn"
    };
    assert((size_t)t < ARRAY_LEN(names));
    return names[t];
}

int cel_error(struct cel_run *run, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    run->err = (struct err){ 0 };
    return err_set(&run->err, E_INVALID, "%s", text);
}

int cel_no_overload(struct cel_run *run)
{
    return cel_error(run, "no such overload");
}

int cel_push(struct cel_run *run, struct cel_items *to, struct cel_value v)
{
    if (to->n == to->cap) {
        size_t cap = to->cap ? to->cap * 2 : 8;
        struct cel_value *p;
        int r = cel_take(run, cap, sizeof *p, (void **)&p);
        if (r < 0)
            return r;
        if (to->n)
            memcpy(p, to->p, to->n * sizeof *p);
        to->p = p;
        to->cap = cap;
    }
    assert(to->n < to->cap);
    to->p[to->n++] = v;
    return 0;
}

int cel_spend(struct cel_run *run, uint64_t cost)
{
    run->cost += cost;
    if (run->cost <= run->cost_max)
        return 0;
    run->err = (struct err){ 0 };
    return err_set(&run->err, E_LIMIT, "operation cancelled: actual cost limit exceeded");
}

bool cel_is_spent(const struct cel_run *run)
{
    return run->cost > run->cost_max;
}

int cel_take(struct cel_run *run, size_t n, size_t size, void **ret)
{
    size_t bytes;
    if (size_mul(n, size, &bytes) || bytes > CEL_MEMORY_MAX ||
        run->a->total_bytes > CEL_MEMORY_MAX - bytes)
        return cel_spend(run, run->cost_max + 1);
    *ret = arena_alloc(run->a, bytes);
    return 0;
}

/* ------------------------------------------------------------------ JSON */

struct cel_value cel_from_json(const struct json *v, const struct schema *s)
{
    if (!v)
        return (struct cel_value){ .type = CEL_NULL };
    return (struct cel_value){ .type = CEL_JSON, .schema = s, .json = v };
}

static const char *format_of(const struct schema *s)
{
    static const char *const formats[] = { "byte", "date", "date-time", "datetime", "duration" };
    if (s && (s->type == SCHEMA_TIME || s->type == SCHEMA_MICRO_TIME))
        return "date-time";
    if (s && s->type == SCHEMA_DURATION)
        return "duration";
    if (s && s->type == SCHEMA_BYTES)
        return "byte";
    for (size_t i = 0; s && s->rules && i < ARRAY_LEN(formats); i++)
        if (str_is(s->rules->format, formats[i]))
            return formats[i];
    return "";
}

static bool parse_time(struct str s, struct cel_value *ret)
{
    int64_t us;
    char whole[RFC3339_MAX];
    bool date = s.n == 10;
    (void)snprintf(whole, sizeof whole, STR_FMT "T00:00:00Z", STR_ARG(str_slice(s, 0, 10)));
    if (rfc3339_parse(date ? str_of(whole) : s, &us) < 0)
        return false;
    int64_t at_s = us / 1000000 - (us % 1000000 < 0);
    *ret = (struct cel_value){ .type = CEL_TIMESTAMP,
                               .time = { at_s, (uint32_t)(us - at_s * 1000000) * 1000 } };
    return true;
}

/* Converted by the schema's format, if the string has that format. */
static struct cel_value of_string(struct cel_run *run, struct str s, const struct schema *schema)
{
    const char *format = format_of(schema);
    struct cel_value v = cel_string(s);
    if (strcmp(format, "byte") == 0) {
        struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
        if (base64_decode(&b, s, BASE64_LENIENT) == 0)
            v = (struct cel_value){ .type = CEL_BYTES, .s = str_copy_arena(run->a, buf_str(&b)) };
        buf_fini(&b);
    } else if (strcmp(format, "duration") == 0) {
        struct cel_value arg = v, made;
        if (cel_call(run, STR("duration"), false, &arg, 1, &made) >= 0)
            v = made;
    } else if (format[0]) {
        (void)parse_time(s, &v);
    }
    return v;
}

static struct cel_value of_number(const struct json *v, const struct schema *s)
{
    int64_t i;
    double d = 0;
    bool real = s && s->type == SCHEMA_NUMBER;
    if (!real && json_int(v, &i) == 0)
        return cel_int(i);
    (void)json_float(v, &d);
    return cel_double(d);
}

static struct cel_value of_array(struct cel_run *run, const struct json *v, const struct schema *s)
{
    struct cel_value *all = arena_new_n(run->a, struct cel_value, v->n + 1);
    const struct schema *items = s && s->type == SCHEMA_ARRAY ? s->items : NULL;
    size_t n = 0;
    json_each (x, v)
        all[n++] = cel_from_json(x, items);
    struct cel_value ret = cel_list(all, n);
    ret.schema = s;
    ret.list_type = s && s->type == SCHEMA_ARRAY ? s->list_type : SCHEMA_LIST_ATOMIC;
    return ret;
}

/* metadata, apiVersion and kind exist whether the definition declares them or not. */
static const struct schema *field_schema(const struct schema *s, struct str name)
{
    if (!s || s->type == SCHEMA_ANY)
        return NULL;
    return schema_child(s, name);
}

static struct cel_value of_object(struct cel_run *run, const struct json *v, const struct schema *s)
{
    struct cel_pair *all = arena_new_n(run->a, struct cel_pair, v->n + 1);
    size_t n = 0;
    json_each (m, v)
        all[n++] =
            (struct cel_pair){ cel_string(m->key), cel_from_json(m, field_schema(s, m->key)) };
    return (struct cel_value){ .type = CEL_MAP, .n = (uint32_t)n, .schema = s, .pairs = all };
}

struct cel_value cel_resolve(struct cel_run *run, struct cel_value v)
{
    if (v.type != CEL_JSON)
        return v;
    const struct json *j = v.json;
    switch (j->type) {
    case JSON_NULL:
        return (struct cel_value){ .type = CEL_NULL };
    case JSON_TRUE:
    case JSON_FALSE:
        return cel_bool(j->type == JSON_TRUE);
    case JSON_NUMBER:
        return of_number(j, v.schema);
    case JSON_STRING:
        return of_string(run, json_str(j), v.schema);
    case JSON_ARRAY:
        run->cost += j->n / 2;
        return of_array(run, j, v.schema);
    case JSON_OBJECT:
        run->cost += j->n / 2;
        return of_object(run, j, v.schema);
    }
    return v;
}

struct str cel_unescape(struct arena *a, struct str name)
{
    static const struct {
        const char *escaped, *plain;
    } parts[] = {
        { "__underscores__", "__" }, { "__dot__", "." }, { "__dash__", "-" }, { "__slash__", "/" }
    };
    if (name.n < 5 || str_find(name, STR("__")) < 0)
        return name;
    static const char *const words[] = { "true",     "false",     "null",     "in",   "as",
                                         "break",    "const",     "continue", "else", "for",
                                         "function", "if",        "import",   "let",  "loop",
                                         "package",  "namespace", "return",   "var",  "void",
                                         "while" };
    if (str_has_prefix(name, STR("__")) && str_has_suffix(name, STR("__")))
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (str_is(str_slice(name, 2, name.n - 2), words[i]))
                return str_of(words[i]);
    char *out = arena_alloc(a, name.n + 1);
    size_t n = 0;
    for (size_t at = 0; at < name.n;) {
        struct str rest = str_slice(name, at, name.n);
        const char *plain = NULL;
        for (size_t i = 0; i < ARRAY_LEN(parts) && !plain; i++) {
            if (!str_has_prefix(rest, str_of(parts[i].escaped)))
                continue;
            plain = parts[i].plain;
            at += strlen(parts[i].escaped);
        }
        if (!plain) {
            out[n++] = name.p[at++];
            continue;
        }
        memcpy(out + n, plain, strlen(plain));
        n += strlen(plain);
    }
    return (struct str){ out, n };
}

size_t cel_runes(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* ------------------------------------------------------------------ equality and order */

static bool is_number(const struct cel_value *v)
{
    return v->type == CEL_INT || v->type == CEL_UINT || v->type == CEL_DOUBLE;
}

/* Numbers of any type. false: not ordered (NaN). */
static bool compare_numbers(const struct cel_value *x, const struct cel_value *y, int *ret)
{
    if (x->type == CEL_DOUBLE || y->type == CEL_DOUBLE) {
        double p = x->type == CEL_DOUBLE ? x->d : x->type == CEL_INT ? (double)x->i : (double)x->u;
        double q = y->type == CEL_DOUBLE ? y->d : y->type == CEL_INT ? (double)y->i : (double)y->u;
        *ret = p < q ? -1 : p > q;
        return !isnan(p) && !isnan(q);
    }
    __int128 p = x->type == CEL_INT ? (__int128)x->i : (__int128)x->u;
    __int128 q = y->type == CEL_INT ? (__int128)y->i : (__int128)y->u;
    *ret = p < q ? -1 : p > q;
    return true;
}

static bool same_elements(struct cel_run *run, const struct cel_value *x, const struct cel_value *y)
{
    for (size_t i = 0; i < x->n; i++) {
        bool found = false;
        for (size_t k = 0; k < y->n && !found; k++)
            found = cel_equal(run, x->list[i], y->list[k]);
        if (!found)
            return false;
    }
    return true;
}

static bool equal_lists(struct cel_run *run, const struct cel_value *x, const struct cel_value *y)
{
    if (x->n != y->n)
        return false;
    if (x->list_type != SCHEMA_LIST_ATOMIC && y->list_type != SCHEMA_LIST_ATOMIC)
        return same_elements(run, x, y) && same_elements(run, y, x);
    for (size_t i = 0; i < x->n; i++)
        if (!cel_equal(run, x->list[i], y->list[i]))
            return false;
    return true;
}

static bool equal_maps(struct cel_run *run, const struct cel_value *x, const struct cel_value *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        const struct cel_value *other = cel_find(run, *y, x->pairs[i].key);
        if (!other || !cel_equal(run, x->pairs[i].value, *other))
            return false;
    }
    return true;
}

bool cel_equal(struct cel_run *run, struct cel_value x, struct cel_value y)
{
    int order;
    if (++run->cost > run->cost_max) /* the caller stops at its next step */
        return false;
    x = cel_resolve(run, x);
    y = cel_resolve(run, y);
    if (is_number(&x) && is_number(&y))
        return compare_numbers(&x, &y, &order) && order == 0;
    if (x.type != y.type)
        return false;
    switch ((enum cel_type)x.type) {
    case CEL_NULL:
        return true;
    case CEL_LIST:
        return equal_lists(run, &x, &y);
    case CEL_MAP:
        return equal_maps(run, &x, &y);
    case CEL_TYPE:
        return x.i == y.i;
    case CEL_OPTIONAL:
        return x.held && y.held ? cel_equal(run, *x.held, *y.held) : x.held == y.held;
    case CEL_URL:
    case CEL_FORMAT:
        return str_eq(x.s, y.s);
    case CEL_IP:
    case CEL_CIDR:
        return memcmp(x.address, y.address, sizeof *x.address) == 0;
    case CEL_BOOL:
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_DURATION:
    case CEL_TIMESTAMP:
    case CEL_QUANTITY:
    case CEL_SEMVER:
        return cel_compare(run, x, y, &order) && order == 0;
    case CEL_ACCESS:
    case CEL_JSON:
        break;
    }
    return false;
}

bool cel_compare(struct cel_run *run, struct cel_value x, struct cel_value y, int *ret)
{
    x = cel_resolve(run, x);
    y = cel_resolve(run, y);
    if (is_number(&x) && is_number(&y))
        return compare_numbers(&x, &y, ret);
    if (x.type != y.type)
        return false;
    switch ((enum cel_type)x.type) {
    case CEL_BOOL:
        *ret = (int)x.b - (int)y.b;
        return true;
    case CEL_STRING:
    case CEL_BYTES:
        run->cost += MIN(x.s.n, y.s.n) / 10;
        *ret = str_cmp(x.s, y.s);
        return true;
    case CEL_DURATION:
        *ret = x.i < y.i ? -1 : x.i > y.i;
        return true;
    case CEL_TIMESTAMP:
        *ret = x.time.at_s < y.time.at_s ? -1
               : x.time.at_s > y.time.at_s
                   ? 1
                   : (x.time.nano > y.time.nano) - (x.time.nano < y.time.nano);
        return true;
    case CEL_QUANTITY:
        *ret = quantity_cmp(*x.quantity, *y.quantity);
        return true;
    case CEL_SEMVER:
        *ret = cel_compare_semver(x.semver, y.semver);
        return true;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
    case CEL_NULL:
    case CEL_LIST:
    case CEL_MAP:
    case CEL_TYPE:
    case CEL_OPTIONAL:
    case CEL_URL:
    case CEL_IP:
    case CEL_CIDR:
    case CEL_FORMAT:
    case CEL_ACCESS:
    case CEL_JSON:
        break;
    }
    return false;
}

const struct cel_value *cel_find(struct cel_run *run, struct cel_value map, struct cel_value key)
{
    run->cost += map.n / 100;
    for (size_t i = 0; i < map.n; i++) {
        const struct cel_value *k = &map.pairs[i].key;
        bool same = k->type == CEL_STRING && key.type == CEL_STRING ? str_eq(k->s, key.s)
                                                                    : cel_equal(run, *k, key);
        if (same)
            return &map.pairs[i].value;
    }
    return NULL;
}
