/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes trees as protobuf; see proto.h. */
#include "kube/model/proto.h"

#include "base/clock.h"
#include "codec/base64.h"
#include "kube/model/builtin.h"
#include "kube/model/proto_inner.h"

#include <assert.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ values */

static void encode_message(struct arena *a, const struct schema *s, const struct json *v,
                           struct buf *to);

static bool is_set(const struct json *v)
{
    return v && v->type != JSON_NULL;
}

/* The content of a message that has JSON text as its bytes. */
static void put_raw(struct buf *to, const struct json *v)
{
    if (!is_set(v))
        return;
    size_t at = wire_begin(to, 1);
    (void)json_write(to, v);
    wire_end(to, at);
}

static void put_base64(struct buf *to, uint32_t number, struct str text)
{
    size_t at = wire_begin(to, number);
    (void)base64_decode(to, text, BASE64_LENIENT);
    wire_end(to, at);
}

/* Nanoseconds of a duration in Go's format ("1h2m3.5s"), as far as it is well-formed. */
static int64_t duration_ns(struct str s)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "ns", 1 },  { "us", 1e3 }, { "\xc2\xb5s", 1e3 }, { "ms", 1e6 },
                  { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 } };
    bool negative = str_has_prefix(s, STR("-"));
    int64_t total = 0;
    if (negative || str_has_prefix(s, STR("+")))
        s = str_slice(s, 1, s.n);
    while (s.n) {
        double v = 0, scale = 0;
        size_t i = 0, unit = 0;
        for (; i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '.'); i++) {
            if (s.p[i] == '.')
                scale = 1;
            else if (scale > 0)
                v += (s.p[i] - '0') * (scale /= 10);
            else
                v = v * 10 + (s.p[i] - '0');
        }
        s = str_slice(s, i, s.n);
        for (i = 0; i < s.n && s.p[i] != '.' && (s.p[i] < '0' || s.p[i] > '9');)
            i++;
        while (unit < ARRAY_LEN(units) && !str_is(str_slice(s, 0, i), units[unit].name))
            unit++;
        if (unit == ARRAY_LEN(units) || v > 9e18 / units[unit].ns)
            break;
        total += (int64_t)(v * units[unit].ns + 0.5);
        s = str_slice(s, i, s.n);
    }
    return negative ? -total : total;
}

static void put_time(struct buf *to, const struct json *v, bool micro)
{
    int64_t us;
    if (!is_set(v) || rfc3339_parse(json_str(v), &us) < 0)
        return; /* Go's zero time has no fields */
    int64_t fraction = (us % 1000000 + 1000000) % 1000000;
    wire_put_number(to, 1, (us - fraction) / 1000000);
    wire_put_number(to, 2, micro ? fraction * 1000 : 0);
}

static void put_int_or_string(struct buf *to, const struct json *v)
{
    bool is_string = v && v->type == JSON_STRING;
    wire_put_number(to, 1, is_string);
    wire_put_number(to, 2, is_string ? 0 : json_int_or(v, 0));
    wire_put_bytes(to, 3, json_str(v));
}

static void put_double(struct buf *to, uint32_t number, const struct json *v)
{
    double d = 0;
    uint64_t bits;
    (void)json_float(v, &d);
    memcpy(&bits, &d, sizeof bits);
    wire_put_varint(to, (uint64_t)number << 3 | WIRE_FIXED64);
    (void)buf_add_le64(to, bits);
}

/* A union of an object of `items` and another value. */
static void put_union(struct arena *a, const struct schema *s, const struct json *v, struct buf *to)
{
    bool is_object = v && v->type == JSON_OBJECT;
    uint32_t number = s->flags & SCHEMA_OR_BOOL ? 2 : 1;
    if (s->flags & SCHEMA_OR_BOOL)
        wire_put_number(to, 1, is_object || json_bool(v));
    if (is_object)
        proto_encode_field(a, number, s->items, v, to);
    if (!json_is(v, JSON_ARRAY))
        return;
    json_each (item, v) {
        if (s->flags & SCHEMA_OR_ARRAY)
            proto_encode_field(a, 2, s->items, item, to);
        else
            wire_put_bytes(to, 2, json_str(item));
    }
}

/* The content of the message of a type that is encoded as one; v may be NULL. */
static void encode_content(struct arena *a, const struct schema *s, const struct json *v,
                           struct buf *to)
{
    switch ((enum schema_type)s->type) {
    case SCHEMA_OBJECT:
        encode_message(a, s, v, to);
        return;
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        put_time(to, v, s->type == SCHEMA_MICRO_TIME);
        return;
    case SCHEMA_DURATION:
        wire_put_number(to, 1, duration_ns(json_str(v)));
        return;
    case SCHEMA_QUANTITY:
        wire_put_bytes(to, 1, json_is(v, JSON_STRING) || json_is(v, JSON_NUMBER) ? v->s : STR("0"));
        return;
    case SCHEMA_INT_OR_STRING:
        put_int_or_string(to, v);
        return;
    case SCHEMA_ANY:
        if (s->flags & (SCHEMA_OR_ARRAY | SCHEMA_OR_BOOL | SCHEMA_OR_STRINGS))
            put_union(a, s, v, to);
        else
            put_raw(to, v);
        return;
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        put_raw(to, v);
        return;
    case SCHEMA_ARRAY: /* a named list type, as the value of a map */
        json_each (item, v)
            (void)proto_encode_field(a, 1, s->items, item, to);
        return;
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_BYTES:
    case SCHEMA_MAP:
        break;
    }
    assert(false); /* not encoded as messages */
}

int proto_encode_field(struct arena *a, uint32_t number, const struct schema *s,
                       const struct json *v, struct buf *to)
{
    switch ((enum schema_type)s->type) {
    case SCHEMA_STRING:
        wire_put_bytes(to, number, json_str(v));
        break;
    case SCHEMA_BYTES:
        put_base64(to, number, json_str(v));
        break;
    case SCHEMA_BOOL:
        wire_put_number(to, number, json_bool(v));
        break;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        wire_put_number(to, number, json_int_or(v, 0));
        break;
    case SCHEMA_NUMBER:
        put_double(to, number, v);
        break;
    case SCHEMA_ANY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_QUANTITY:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_ARRAY: {
        size_t at = wire_begin(to, number);
        encode_content(a, s, v, to);
        wire_end(to, at);
        break;
    }
    }
    return to->failed;
}

/* ------------------------------------------------------------------ members */

static int by_key(const void *a, const void *b)
{
    const struct json *const *x = a, *const *y = b;
    return str_cmp((*x)->key, (*y)->key);
}

static bool is_sorted(const struct json *map)
{
    json_each (m, map)
        if (m->next && str_cmp(m->key, m->next->key) > 0)
            return false;
    return true;
}

static void put_entry(struct arena *a, uint32_t number, const struct schema *value,
                      const struct json *m, struct buf *to)
{
    size_t at = wire_begin(to, number);
    wire_put_bytes(to, 1, m->key);
    if (value->type != SCHEMA_BYTES || is_set(m))
        (void)proto_encode_field(a, 2, value, m, to);
    wire_end(to, at);
}

/* Maps are encoded sorted by key. */
static void put_map(struct arena *a, uint32_t number, const struct schema *s,
                    const struct json *map, struct buf *to)
{
    if (!json_is(map, JSON_OBJECT))
        return;
    if (is_sorted(map)) {
        json_each (m, map)
            put_entry(a, number, s->items, m, to);
        return;
    }
    const struct json **order = arena_new_n(a, const struct json *, map->n);
    size_t n = 0;
    json_each (m, map)
        order[n++] = m;
    qsort(order, n, sizeof(const struct json *), by_key);
    for (size_t i = 0; i < n; i++)
        put_entry(a, number, s->items, order[i], to);
}

void proto_encode_member(struct arena *a, const struct schema_field *f, const struct json *v,
                         struct buf *to)
{
    const struct schema *s = f->schema;
    if (s->type == SCHEMA_MAP) {
        put_map(a, f->proto, s, v, to);
        return;
    }
    if (s->type == SCHEMA_ARRAY) {
        if (!json_is(v, JSON_ARRAY))
            return;
        json_each (item, v)
            (void)proto_encode_field(a, f->proto, s->items, item, to);
        return;
    }
    if (is_set(v) || !proto_may_lack(f))
        (void)proto_encode_field(a, f->proto, s, v, to);
}

static size_t outer_depth(uint16_t outer)
{
    return outer == 0 ? 0 : outer < 256 ? 1 : 2;
}

void proto_enter(struct proto_embedded *e, uint16_t outer, struct buf *to)
{
    if (outer == e->outer)
        return;
    size_t depth = outer_depth(outer), keep = 0;
    assert(depth <= ARRAY_LEN(e->from) && e->n <= ARRAY_LEN(e->from));
    if (e->n && depth && (outer & 0xff) == (e->outer & 0xff))
        keep = 1;
    while (e->n > keep)
        wire_end(to, e->from[--e->n]);
    for (; e->n < depth; e->n++)
        e->from[e->n] = wire_begin(to, e->n == 0 ? outer & 0xff : outer >> 8);
    e->outer = outer;
}

/*
 * Finds the member of each field. Both are mostly in the same order, so the search for a member
 * begins after the field of the previous one.
 */
static void match_members(const struct schema_field *fields, size_t n, const struct json *v,
                          const struct json **ret)
{
    size_t at = 0;
    memset(ret, 0, n * sizeof *ret);
    if (!json_is(v, JSON_OBJECT))
        return;
    json_each (m, v) {
        size_t left = n;
        while (left && !str_eq(fields[at].name, m->key)) {
            at = at + 1 < n ? at + 1 : 0;
            left--;
        }
        if (left)
            ret[at] = m;
    }
}

static void encode_message(struct arena *a, const struct schema *s, const struct json *v,
                           struct buf *to)
{
    size_t n;
    const struct schema_field *fields = schema_fields(s, &n);
    const uint8_t *order = builtin_field_order(s);
    const struct json *members[BUILTIN_NO_FIELD];
    struct proto_embedded e = { 0 };
    assert(order && n < BUILTIN_NO_FIELD);
    match_members(fields, n, v, members);
    for (size_t i = 0; i < n && order[i] != BUILTIN_NO_FIELD; i++) {
        const struct schema_field *f = &fields[order[i]];
        proto_enter(&e, f->proto_outer, to);
        proto_encode_member(a, f, members[order[i]], to);
    }
    proto_enter(&e, 0, to);
}

/* ------------------------------------------------------------------ whole messages */

int proto_encode(struct arena *a, const struct schema *s, const struct json *v, struct buf *to)
{
    encode_message(a, s, v, to);
    return to->failed;
}

void proto_put_type(struct str api_version, struct str kind, struct buf *to)
{
    (void)buf_add(to, "k8s", 4);
    size_t at = wire_begin(to, 1);
    wire_put_bytes(to, 1, api_version);
    wire_put_bytes(to, 2, kind);
    wire_end(to, at);
}

void proto_begin_envelope(struct str api_version, struct str kind, uint64_t raw_n, struct buf *to)
{
    proto_put_type(api_version, kind, to);
    wire_put_varint(to, 2 << 3 | WIRE_BYTES);
    wire_put_varint(to, raw_n);
}

int proto_end_envelope(struct buf *to)
{
    wire_put_bytes(to, 3, STR(""));
    wire_put_bytes(to, 4, STR(""));
    return to->failed;
}

int proto_encode_object(struct arena *a, const struct schema *s, const struct json *v,
                        struct buf *to)
{
    proto_put_type(json_get_str(v, "apiVersion"), json_get_str(v, "kind"), to);
    size_t at = wire_begin(to, 2);
    encode_message(a, s, v, to);
    wire_end(to, at);
    return proto_end_envelope(to);
}

struct proto_frame proto_begin_event(const char *type, struct buf *to)
{
    struct proto_frame f = { .start = to->n };
    (void)buf_add(to, "\0\0\0", 4);
    wire_put_bytes(to, 1, str_of(type));
    f.object = wire_begin(to, 2);
    f.raw = wire_begin(to, 1);
    return f;
}

int proto_end_event(struct proto_frame f, struct buf *to)
{
    assert(f.start < f.object && f.object < f.raw);
    wire_end(to, f.raw);
    wire_end(to, f.object);
    if (!buf_ok(to))
        return to->failed;
    size_t n = to->n - f.start - 4;
    for (size_t i = 0; i < 4; i++)
        to->p[f.start + i] = (char)(n >> (24 - 8 * i));
    return 0;
}

int proto_encode_event(struct arena *a, const char *type, const struct schema *s,
                       const struct json *v, struct buf *to)
{
    struct proto_frame f = proto_begin_event(type, to);
    (void)proto_encode_object(a, s, v, to);
    return proto_end_event(f, to);
}
