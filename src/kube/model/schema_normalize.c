/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built-in kinds as upstream sees them: has the effect of decoding JSON into a Go struct and
 * encoding it again.
 *
 * Go's types decide what is written: members marked omitempty are left out when they are empty
 * (zero, false, "", no elements; a struct never is), pointers when nil; everything else is always
 * written, as zero if need be, in the order of the struct. Clients depend on this, so it is the
 * same here.
 */
#include "kube/model/schema.h"

#include "base/clock.h"
#include "kube/model/builtin.h"
#include "kube/model/quantity.h"

#include <math.h>

struct norm {
    struct arena *a;
    schema_unknown_fn unknown;
    void *arg;
    struct err *err;
};

static int norm_value(struct norm *n, const struct schema *s, struct json *v, const char *owner,
                      const struct fpath *at);

/* ---- names in Go's words ---- */

static const char *go_type(struct arena *a, const struct schema *s)
{
    switch ((enum schema_type)s->type) {
    case SCHEMA_STRING:
        return "string";
    case SCHEMA_BOOL:
        return "bool";
    case SCHEMA_INT32:
        return "int32";
    case SCHEMA_INT64:
        return "int64";
    case SCHEMA_NUMBER:
        return "float64";
    case SCHEMA_BYTES:
        return "[]uint8";
    case SCHEMA_TIME:
        return "v1.Time";
    case SCHEMA_MICRO_TIME:
        return "v1.MicroTime";
    case SCHEMA_DURATION:
        return "v1.Duration";
    case SCHEMA_QUANTITY:
        return "resource.Quantity";
    case SCHEMA_INT_OR_STRING:
        return "intstr.IntOrString";
    case SCHEMA_RAW:
        return "runtime.RawExtension";
    case SCHEMA_FIELDS:
        return "v1.FieldsV1";
    case SCHEMA_OBJECT:
        return str_dup_arena(a, builtin_go_name(s));
    case SCHEMA_MAP:
        return arena_printf(a, "map[string]%s", go_type(a, s->items));
    case SCHEMA_ARRAY:
        return arena_printf(a, "[]%s", go_type(a, s->items));
    case SCHEMA_ANY:
        return "interface {}";
    }
    return "";
}

/* Go's messages name fields without indexes and keys. */
static const char *field_stack(struct norm *n, const struct fpath *at)
{
    const struct fpath *chain[FPATH_MAX_DEPTH];
    size_t depth = 0;
    for (; at && depth < FPATH_MAX_DEPTH; at = at->up)
        if (at->kind == FPATH_CHILD)
            chain[depth++] = at;
    struct buf b = BUF_INIT(4096);
    while (depth > 0) {
        (void)buf_add_str(&b, chain[--depth]->name);
        if (depth)
            (void)buf_add_char(&b, '.');
    }
    char *text = str_dup_arena(n->a, buf_str(&b));
    buf_fini(&b);
    return text;
}

/* owner: the struct that has the field, NULL at the root. */
static int mismatch(struct norm *n, const struct schema *s, const struct json *v, const char *owner,
                    const struct fpath *at, const char *got)
{
    const char *want = go_type(n->a, s);
    if (!at)
        return err_set(n->err, E_INVALID, "json: cannot unmarshal %s into Go value of type %s", got,
                       want);
    const char *dot = strrchr(owner, '.');
    return err_set(n->err, E_INVALID,
                   "json: cannot unmarshal %s into Go struct field %s.%s of type %s", got,
                   dot ? dot + 1 : owner, field_stack(n, at), want);
}

/* ---- scalars ---- */

static int norm_integer(struct norm *n, const struct schema *s, const struct json *v,
                        const char *owner, const struct fpath *at)
{
    int64_t i;
    int r = json_int(v, &i);
    if (v->type != JSON_NUMBER)
        return mismatch(n, s, v, owner, at, field_go_kind(v));
    bool plain = str_find_char(v->s, '.') < 0 && str_find_char(v->s, 'e') < 0 &&
                 str_find_char(v->s, 'E') < 0; /* Go does not accept 1.0 or 1e2 as an integer */
    if (r < 0 || !plain || (s->type == SCHEMA_INT32 && (i < INT32_MIN || i > INT32_MAX)))
        return mismatch(n, s, v, owner, at, arena_printf(n->a, "number " STR_FMT, STR_ARG(v->s)));
    return 0;
}

static bool is_base64_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

/* Offset of the first byte that is invalid in standard base64, -1 if it is well-formed. */
static ptrdiff_t base64_flaw(struct str s)
{
    size_t digits = 0, pad = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n' || s.p[i] == '\r')
            continue;
        if (s.p[i] == '=' && (digits + pad) % 4 >= 2) {
            pad++;
            continue;
        }
        if (pad || !is_base64_char(s.p[i]))
            return (ptrdiff_t)i;
        digits++;
    }
    return (digits + pad) % 4 ? (ptrdiff_t)s.n : -1;
}

/* Line breaks are allowed in base64; Go writes it without them. */
static void drop_line_breaks(struct norm *n, struct json *v)
{
    if (str_find_char(v->s, '\n') < 0 && str_find_char(v->s, '\r') < 0)
        return;
    char *out = arena_alloc(n->a, v->s.n);
    size_t at = 0;
    for (size_t i = 0; i < v->s.n; i++)
        if (v->s.p[i] != '\n' && v->s.p[i] != '\r')
            out[at++] = v->s.p[i];
    v->s = str_n(out, at);
}

static int norm_bytes(struct norm *n, const struct schema *s, struct json *v, const char *owner,
                      const struct fpath *at)
{
    if (v->type != JSON_STRING)
        return mismatch(n, s, v, owner, at, field_go_kind(v));
    ptrdiff_t flaw = base64_flaw(v->s);
    if (flaw >= 0)
        return err_set(n->err, E_INVALID, "illegal base64 data at input byte %td", flaw);
    drop_line_breaks(n, v);
    return 0;
}

/* Go requires six digits after the seconds. */
static bool has_micros(struct str s)
{
    size_t n = sizeof "2006-01-02T15:04:05" - 1;
    if (s.n < n + 8 || s.p[n] != '.')
        return false;
    for (size_t i = n + 1; i <= n + 6; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.p[n + 7] < '0' || s.p[n + 7] > '9';
}

static int norm_time(struct norm *n, const struct schema *s, struct json *v, const char *owner,
                     const struct fpath *at)
{
    int64_t us;
    if (v->type != JSON_STRING)
        return err_set(n->err, E_INVALID, "json: cannot unmarshal %s into Go value of type string",
                       field_go_kind(v));
    bool micro = s->type == SCHEMA_MICRO_TIME;
    if (rfc3339_parse(v->s, &us) < 0)
        return err_set(n->err, E_INVALID,
                       "parsing time \"" STR_FMT
                       "\" as \"2006-01-02T15:04:05%sZ07:00\": cannot parse "
                       "\"" STR_FMT "\" as \"2006\"",
                       STR_ARG(v->s), micro ? ".000000" : "", STR_ARG(v->s));
    if (micro && !has_micros(v->s))
        return err_set(n->err, E_INVALID,
                       "parsing time \"" STR_FMT
                       "\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"" STR_FMT
                       "\" as \".000000\"",
                       STR_ARG(v->s), STR_ARG(str_slice(v->s, 19, v->s.n)));
    char text[RFC3339_MAX];
    if (micro)
        rfc3339_format_us(us, text);
    else
        rfc3339_format(us >= 0 ? us / 1000000 : -((-us + 999999) / 1000000), text);
    v->s = str_copy_arena(n->a, str_of(text));
    return 0;
}

static int norm_quantity(struct norm *n, struct json *v)
{
    struct quantity q;
    if (v->type != JSON_STRING && v->type != JSON_NUMBER)
        return err_set(n->err, E_INVALID, "json: cannot unmarshal %s into Go value of type string",
                       field_go_kind(v));
    int r = quantity_parse(v->s, &q, n->err);
    if (r < 0)
        return r;
    v->type = JSON_STRING;
    v->s = quantity_text(n->a, q);
    return 0;
}

static int norm_int_or_string(struct norm *n, const struct json *v)
{
    int64_t i;
    if (v->type == JSON_STRING)
        return 0;
    if (v->type != JSON_NUMBER)
        return err_set(n->err, E_INVALID, "json: cannot unmarshal %s into Go value of type int32",
                       field_go_kind(v));
    if (json_int(v, &i) < 0 || i < INT32_MIN || i > INT32_MAX)
        return err_set(n->err, E_INVALID,
                       "json: cannot unmarshal number " STR_FMT " into Go value of type int32",
                       STR_ARG(v->s));
    return 0;
}

/* ---- structs ---- */

/* The value that Go writes for an unset field; NULL: none. */
static struct json *zero_value(struct arena *a, const struct schema_field *f)
{
    if (f->flags & (FIELD_POINTER | FIELD_OMIT_ZERO))
        return f->flags & (FIELD_OMIT_EMPTY | FIELD_OMIT_ZERO) ? NULL : json_new_null(a);
    if (f->schema->type == SCHEMA_OBJECT)
        return json_new_object(a);
    bool omit = f->flags & FIELD_OMIT_EMPTY;
    switch ((enum schema_type)f->schema->type) {
    case SCHEMA_STRING:
        return omit ? NULL : json_new_cstr(a, "");
    case SCHEMA_BOOL:
        return omit ? NULL : json_new_bool(a, false);
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
        return omit ? NULL : json_new_int(a, 0);
    /* Structs with their own encoding: omitempty does not apply to them. */
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return json_new_null(a);
    case SCHEMA_RAW:
        return json_new_null(a);
    case SCHEMA_DURATION:
        return json_new_cstr(a, "0s");
    case SCHEMA_QUANTITY:
        return json_new_cstr(a, "0");
    case SCHEMA_INT_OR_STRING:
        return json_new_int(a, 0);
    case SCHEMA_OBJECT:
    case SCHEMA_ANY:
    case SCHEMA_BYTES:
    case SCHEMA_FIELDS:
    case SCHEMA_MAP:
    case SCHEMA_ARRAY:
        return omit ? NULL : json_new_null(a);
    }
    return NULL;
}

static bool is_go_empty(const struct schema_field *f, const struct json *v)
{
    if (v->type == JSON_NULL)
        return true;
    if (f->flags & FIELD_POINTER)
        return false;
    double d;
    switch ((enum schema_type)f->schema->type) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES:
        return v->s.n == 0;
    case SCHEMA_BOOL:
        return v->type == JSON_FALSE;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
        return json_float(v, &d) == 0 && fpclassify(d) == FP_ZERO;
    case SCHEMA_MAP:
    case SCHEMA_ARRAY:
        return v->n == 0;
    case SCHEMA_OBJECT:
        return (f->flags & FIELD_OMIT_ZERO) && v->n == 0;
    case SCHEMA_ANY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_QUANTITY:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        return false;
    }
    return false;
}

static void report_unknown(struct norm *n, const struct schema *s, const struct json *v,
                           const struct fpath *at)
{
    json_each (m, v) {
        if (schema_field(s, m->key))
            continue;
        struct fpath child = fpath_child(at, m->key);
        struct buf b = BUF_INIT(16 * 1024);
        fpath_write(&b, &child);
        n->unknown(n->arg, buf_str(&b));
        buf_fini(&b);
    }
}

static int norm_object(struct norm *n, const struct schema *s, struct json *v, const char *owner,
                       const struct fpath *at)
{
    if (v->type != JSON_OBJECT)
        return mismatch(n, s, v, owner, at, field_go_kind(v));
    if (n->unknown)
        report_unknown(n, s, v, at);
    const char *self = str_dup_arena(n->a, builtin_go_name(s));
    struct json ordered = { .type = JSON_OBJECT };
    size_t n_fields;
    const struct schema_field *f = schema_fields(s, &n_fields);
    for (size_t i = 0; i < n_fields; i++) {
        struct fpath child = fpath_child(at, f[i].name);
        struct json *m = json_get(v, f[i].name);
        if (m)
            (void)json_remove(v, m);
        bool given = m && m->type != JSON_NULL;
        if (!given)
            m = zero_value(n->a, &f[i]);
        if (!m)
            continue;
        if (m->type != JSON_NULL) {
            int r = norm_value(n, f[i].schema, m, self, &child);
            if (r < 0)
                return r;
        }
        bool omit = f[i].flags & (FIELD_OMIT_EMPTY | FIELD_OMIT_ZERO);
        if (given && omit && is_go_empty(&f[i], m))
            continue;
        json_add_member(&ordered, f[i].name, m);
    }
    json_replace(v, &ordered);
    return 0;
}

static int norm_array(struct norm *n, const struct schema *s, struct json *v, const char *owner,
                      const struct fpath *at)
{
    if (v->type != JSON_ARRAY)
        return mismatch(n, s, v, owner, at, field_go_kind(v));
    size_t i = 0;
    json_each (item, v) {
        struct fpath child = fpath_index(at, i++);
        /* A null element becomes the zero value of its type; for a struct an empty object. */
        if (item->type == JSON_NULL && s->items->type == SCHEMA_OBJECT)
            json_replace(item, json_new_object(n->a));
        else if (item->type == JSON_NULL && s->items->type == SCHEMA_STRING)
            json_replace(item, json_new_cstr(n->a, ""));
        if (item->type == JSON_NULL)
            continue;
        int r = norm_value(n, s->items, item, owner, &child);
        if (r < 0)
            return r;
    }
    return 0;
}

static int norm_map(struct norm *n, const struct schema *s, struct json *v, const char *owner,
                    const struct fpath *at)
{
    if (v->type != JSON_OBJECT)
        return mismatch(n, s, v, owner, at, field_go_kind(v));
    json_each (m, v) {
        struct fpath child = fpath_key(at, m->key);
        if (m->type == JSON_NULL && s->items->type == SCHEMA_STRING) {
            m->type = JSON_STRING;
            m->s = STR("");
        } else if (m->type != JSON_NULL) {
            int r = norm_value(n, s->items, m, owner, &child);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int norm_value(struct norm *n, const struct schema *s, struct json *v, const char *owner,
                      const struct fpath *at)
{
    switch ((enum schema_type)s->type) {
    case SCHEMA_ANY:
        if (s->items && v->type == JSON_OBJECT)
            return norm_object(n, s->items, v, owner, at);
        return s->flags & SCHEMA_OR_ARRAY && v->type == JSON_ARRAY ? norm_array(n, s, v, owner, at)
                                                                   : 0;
    case SCHEMA_STRING:
        return v->type == JSON_STRING ? 0 : mismatch(n, s, v, owner, at, field_go_kind(v));
    case SCHEMA_BOOL:
        return json_is_bool(v) ? 0 : mismatch(n, s, v, owner, at, field_go_kind(v));
    case SCHEMA_NUMBER:
        return v->type == JSON_NUMBER ? 0 : mismatch(n, s, v, owner, at, field_go_kind(v));
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return norm_integer(n, s, v, owner, at);
    case SCHEMA_BYTES:
        return norm_bytes(n, s, v, owner, at);
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return norm_time(n, s, v, owner, at);
    case SCHEMA_DURATION:
        return v->type == JSON_STRING ? 0 : mismatch(n, s, v, owner, at, field_go_kind(v));
    case SCHEMA_QUANTITY:
        return norm_quantity(n, v);
    case SCHEMA_INT_OR_STRING:
        return norm_int_or_string(n, v);
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        return 0;
    case SCHEMA_OBJECT:
        return norm_object(n, s, v, owner, at);
    case SCHEMA_MAP:
        return norm_map(n, s, v, owner, at);
    case SCHEMA_ARRAY:
        return norm_array(n, s, v, owner, at);
    }
    return 0;
}

int schema_normalize(struct arena *a, const struct schema *s, struct json *v, const char *type,
                     schema_unknown_fn unknown, void *arg, struct err *err)
{
    struct norm n = { .a = a, .unknown = unknown, .arg = arg, .err = err };
    return norm_value(&n, s, v, type, NULL);
}
