/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes protobuf into trees; see proto.h. */
#include "kube/model/proto.h"

#include "base/clock.h"
#include "codec/base64.h"

#include <inttypes.h>

/* ------------------------------------------------------------------ wire format */

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct field_value {
    uint32_t number;
    enum wire wire;
    uint64_t u;       /* numbers */
    struct str bytes; /* WIRE_BYTES */
};

static uint64_t read_varint(struct rd *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = rd_u8(r);
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    r->failed = true;
    return 0;
}

/* Returns false at the end, or when r has failed. */
static bool next_field(struct rd *r, struct field_value *ret)
{
    if (rd_left(r) == 0)
        return false;
    uint64_t tag = read_varint(r);
    *ret = (struct field_value){ .number = (uint32_t)(tag >> 3), .wire = (enum wire)(tag & 7) };
    if (tag >> 3 == 0 || tag >> 32)
        r->failed = true;
    switch (tag & 7) {
    case WIRE_VARINT:
        ret->u = read_varint(r);
        break;
    case WIRE_FIXED64:
        ret->u = rd_le64(r);
        break;
    case WIRE_BYTES:
        ret->bytes = rd_str(r, read_varint(r));
        break;
    case WIRE_FIXED32:
        ret->u = rd_le32(r);
        break;
    default: /* groups were never used */
        r->failed = true;
        break;
    }
    return rd_ok(r);
}

/* The last field with this number; false: there is none, or the bytes are malformed. */
static bool find_field(struct str message, uint32_t number, struct field_value *ret)
{
    struct rd r = rd_init(message.p, message.n);
    struct field_value f;
    bool found = false;
    while (next_field(&r, &f)) {
        if (f.number != number)
            continue;
        *ret = f;
        found = true;
    }
    return found && rd_ok(&r);
}

static struct str bytes_at(struct str message, uint32_t number)
{
    struct field_value f;
    return find_field(message, number, &f) ? f.bytes : STR("");
}

static uint64_t number_at(struct str message, uint32_t number)
{
    struct field_value f;
    return find_field(message, number, &f) ? f.u : 0;
}

int proto_open(struct str body, struct proto_envelope *ret, struct err *err)
{
    static const struct str magic = { "k8s\0", 4 };
    if (!str_has_prefix(body, magic))
        return err_set(err, E_PARSE,
                       "provided data does not appear to be a protobuf message, expected prefix "
                       "[107 56 115 0]");
    struct str unknown = str_slice(body, magic.n, body.n), type = bytes_at(unknown, 1);
    struct rd r = rd_init(unknown.p, unknown.n);
    struct field_value f;
    while (next_field(&r, &f))
        ;
    if (!rd_ok(&r))
        return err_set(err, E_PARSE, "malformed protobuf message");
    struct str encoding = bytes_at(unknown, 3), content = bytes_at(unknown, 4);
    if (encoding.n || (content.n && !str_is(content, "application/vnd.kubernetes.protobuf")))
        return err_set(err, E_PARSE, "protobuf message in an encoding that is not understood");
    *ret = (struct proto_envelope){ .api_version = bytes_at(type, 1),
                                    .kind = bytes_at(type, 2),
                                    .raw = bytes_at(unknown, 2) };
    return 0;
}

/* ------------------------------------------------------------------ values */

struct decoder {
    struct arena *a;
    size_t n_nodes;
    struct err *err;
};

static int malformed(struct decoder *d)
{
    return err_set(d->err, E_PARSE, "malformed protobuf message");
}

static int decode_object(struct decoder *d, const struct schema *s, struct str raw, uint16_t outer,
                         struct json *obj, unsigned depth);

static struct json *time_value(struct arena *a, struct str message, bool micro)
{
    char text[RFC3339_MAX];
    int64_t seconds = (int64_t)number_at(message, 1), nanos = (int64_t)number_at(message, 2);
    if (message.n == 0) /* Go's zero time */
        return json_new_null(a);
    if (seconds < -62135596800 || seconds > 253402300799) /* years 1 to 9999 */
        seconds = 0;
    if (micro)
        rfc3339_format_us(seconds * 1000000 + nanos / 1000 % 1000000, text);
    else
        rfc3339_format(seconds, text);
    return json_new_cstr(a, text);
}

/* As Go's Duration.String(). */
static struct json *duration_value(struct arena *a, int64_t ns)
{
    bool negative = ns < 0;
    uint64_t u = negative ? 0 - (uint64_t)ns : (uint64_t)ns;
    const char *sign = negative ? "-" : "";
    if (u == 0)
        return json_new_cstr(a, "0s");
    uint64_t unit = u < 1000 ? 1 : u < 1000000 ? 1000 : u < 1000000000 ? 1000000 : 1000000000;
    uint64_t minutes = unit == 1000000000 ? u / unit / 60 : 0, left = u - minutes * 60 * 1000000000;
    char fraction[16] = "";
    if (left % unit) {
        int digits = unit == 1000 ? 3 : unit == 1000000 ? 6 : 9;
        int n = snprintf(fraction, sizeof fraction, ".%0*" PRIu64, digits, left % unit);
        while (n > 0 && fraction[n - 1] == '0')
            fraction[--n] = '\0';
    }
    const char *name = unit == 1 ? "ns" : unit == 1000 ? "\xc2\xb5s" : unit == 1000000 ? "ms" : "s";
    const char *text = arena_printf(a, "%" PRIu64 "%s%s", left / unit, fraction, name);
    if (minutes >= 60)
        text = arena_printf(a, "%" PRIu64 "h%" PRIu64 "m%s", minutes / 60, minutes % 60, text);
    else if (minutes)
        text = arena_printf(a, "%" PRIu64 "m%s", minutes, text);
    return json_new_cstr(a, arena_printf(a, "%s%s", sign, text));
}

static struct json *bytes_value(struct arena *a, struct str bytes)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)base64_encode(&b, bytes, BASE64_STD);
    return json_new_str(a, buf_str(&b));
}

/* JSON carried as bytes in field 1. */
static int raw_value(struct decoder *d, struct str message, struct json **ret)
{
    struct str text = bytes_at(message, 1);
    *ret = json_new_null(d->a);
    if (text.n == 0)
        return 0;
    int r = json_parse(d->a, text, &(struct json_parse_opts){ .max_depth = PROTO_MAX_DEPTH }, ret,
                       d->err);
    return r < 0 ? malformed(d) : 0;
}

static struct json *int_or_string_value(struct arena *a, struct str message)
{
    return number_at(message, 1) == 0 ? json_new_int(a, (int32_t)number_at(message, 2))
                                      : json_new_str(a, bytes_at(message, 3));
}

static struct json *double_value(struct arena *a, uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return __builtin_isfinite(v) ? json_new_float(a, v) : json_new_null(a);
}

static int decode_value(struct decoder *d, const struct schema *s, const struct field_value *f,
                        unsigned depth, struct json **ret);

/* A union of an object of `items` (field 1, or 2 when the other is a bool) and another value. */
static int union_value(struct decoder *d, const struct schema *s, struct str message,
                       unsigned depth, struct json **ret)
{
    bool or_bool = s->flags & SCHEMA_OR_BOOL;
    struct rd rd = rd_init(message.p, message.n);
    struct field_value f;
    struct json *object = NULL, *list = json_new_array(d->a);
    uint64_t allows = 0;
    while (next_field(&rd, &f)) {
        int r = 0;
        struct json *item;
        if (or_bool && f.number == 1) {
            allows = f.u;
        } else if (f.number == (or_bool ? 2 : 1) && f.wire == WIRE_BYTES) {
            r = decode_value(d, s->items, &f, depth + 1, &object);
        } else if (f.number == 2 && f.wire == WIRE_BYTES) {
            if (s->flags & SCHEMA_OR_STRINGS)
                item = json_new_str(d->a, f.bytes);
            else
                r = decode_value(d, s->items, &f, depth + 1, &item);
            if (r >= 0)
                json_add(list, item);
        }
        if (r < 0)
            return r;
    }
    if (list->n)
        *ret = list;
    else if (object)
        *ret = object;
    else
        *ret = or_bool ? json_new_bool(d->a, allows != 0) : json_new_null(d->a);
    return rd_ok(&rd) ? 0 : malformed(d);
}

/* A named list type (the value of a map) is encoded as a message with the list in field 1. */
static int decode_list_type(struct decoder *d, const struct schema *s, struct str message,
                            unsigned depth, struct json **ret)
{
    struct rd rd = rd_init(message.p, message.n);
    struct field_value f;
    *ret = json_new_array(d->a);
    while (next_field(&rd, &f)) {
        struct json *item;
        if (f.number != 1)
            continue;
        int r = decode_value(d, s->items, &f, depth + 1, &item);
        if (r < 0)
            return r;
        json_add(*ret, item);
    }
    return rd_ok(&rd) ? 0 : malformed(d);
}

static int decode_value(struct decoder *d, const struct schema *s, const struct field_value *f,
                        unsigned depth, struct json **ret)
{
    struct arena *a = d->a;
    if (++d->n_nodes > PROTO_MAX_NODES)
        return err_set(d->err, E_LIMIT, "more than %d values", PROTO_MAX_NODES);
    switch ((enum schema_type)s->type) {
    case SCHEMA_STRING:
        *ret = json_new_str(a, f->bytes);
        return 0;
    case SCHEMA_BOOL:
        *ret = json_new_bool(a, f->u != 0);
        return 0;
    case SCHEMA_INT32:
        *ret = json_new_int(a, (int32_t)f->u);
        return 0;
    case SCHEMA_INT64:
        *ret = json_new_int(a, (int64_t)f->u);
        return 0;
    case SCHEMA_NUMBER:
        *ret = double_value(a, f->u);
        return 0;
    case SCHEMA_BYTES:
        *ret = bytes_value(a, f->bytes);
        return 0;
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        *ret = time_value(a, f->bytes, s->type == SCHEMA_MICRO_TIME);
        return 0;
    case SCHEMA_DURATION:
        *ret = duration_value(a, (int64_t)number_at(f->bytes, 1));
        return 0;
    case SCHEMA_QUANTITY:
        *ret = json_new_str(a, bytes_at(f->bytes, 1));
        return 0;
    case SCHEMA_INT_OR_STRING:
        *ret = int_or_string_value(a, f->bytes);
        return 0;
    case SCHEMA_ANY:
        if (s->flags & (SCHEMA_OR_ARRAY | SCHEMA_OR_BOOL | SCHEMA_OR_STRINGS))
            return union_value(d, s, f->bytes, depth, ret);
        return raw_value(d, f->bytes, ret);
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        return raw_value(d, f->bytes, ret);
    case SCHEMA_OBJECT:
        *ret = json_new_object(a);
        return decode_object(d, s, f->bytes, 0, *ret, depth + 1);
    case SCHEMA_ARRAY:
        return decode_list_type(d, s, f->bytes, depth, ret);
    case SCHEMA_MAP:
        break;
    }
    return err_set(d->err, E_PARSE, "a map inside a list");
}

/* ------------------------------------------------------------------ members */

static int add_map_entry(struct decoder *d, const struct schema *s, struct str entry,
                         struct json *map, unsigned depth)
{
    struct field_value value = { .number = 2, .bytes = STR("") };
    struct str key = bytes_at(entry, 1);
    struct json *v;
    (void)find_field(entry, 2, &value);
    int r = decode_value(d, s->items, &value, depth, &v);
    if (r >= 0)
        json_set(d->a, map, key, v);
    return r;
}

/* Numbers of a list may be packed into one field. */
static int add_packed(struct decoder *d, const struct schema *item, struct str bytes,
                      struct json *list, unsigned depth)
{
    struct rd r = rd_init(bytes.p, bytes.n);
    while (rd_left(&r) > 0) {
        struct field_value f = { .u = item->type == SCHEMA_NUMBER ? rd_le64(&r) : read_varint(&r) };
        struct json *v;
        if (!rd_ok(&r))
            return malformed(d);
        int e = decode_value(d, item, &f, depth, &v);
        if (e < 0)
            return e;
        json_add(list, v);
    }
    return rd_ok(&r) ? 0 : malformed(d);
}

static bool is_number(const struct schema *s)
{
    return s->type == SCHEMA_BOOL || s->type == SCHEMA_INT32 || s->type == SCHEMA_INT64 ||
           s->type == SCHEMA_NUMBER;
}

static bool wire_fits(const struct schema *s, enum wire wire)
{
    if (s->type == SCHEMA_ARRAY && s->items)
        return wire == WIRE_BYTES || wire_fits(s->items, wire);
    if (s->type == SCHEMA_NUMBER)
        return wire == WIRE_FIXED64;
    return wire == (is_number(s) ? WIRE_VARINT : WIRE_BYTES);
}

static int add_member(struct decoder *d, const struct schema_field *field,
                      const struct field_value *f, struct json *obj, unsigned depth)
{
    const struct schema *s = field->schema;
    struct json *v = json_get(obj, field->name);
    if (!wire_fits(s, f->wire))
        return malformed(d);
    if (s->type == SCHEMA_MAP) {
        if (!v)
            json_set(d->a, obj, field->name, v = json_new_object(d->a));
        return add_map_entry(d, s, f->bytes, v, depth);
    }
    if (s->type == SCHEMA_ARRAY) {
        struct json *item;
        if (!v)
            json_set(d->a, obj, field->name, v = json_new_array(d->a));
        if (is_number(s->items) && f->wire == WIRE_BYTES)
            return add_packed(d, s->items, f->bytes, v, depth);
        int r = decode_value(d, s->items, f, depth, &item);
        if (r >= 0)
            json_add(v, item);
        return r;
    }
    int r = decode_value(d, s, f, depth, &v);
    if (r >= 0)
        json_set(d->a, obj, field->name, v);
    return r;
}

/*
 * Fields of Go's embedded structs are in a message of their own; in JSON they are members of the
 * same object.
 */
static bool has_embedded(const struct schema_field *fields, size_t n, uint16_t outer)
{
    for (size_t i = 0; i < n; i++)
        if (fields[i].proto_outer == outer ||
            (outer < 256 && (fields[i].proto_outer & 0xff) == outer))
            return true;
    return false;
}

static uint16_t nested_outer(uint16_t outer, uint32_t number)
{
    if (number > 255 || outer > 255)
        return 0;
    return (uint16_t)(outer ? outer | number << 8 : number);
}

/* outer: as in schema_field.proto_outer, of the message being read; 0: the object itself. */
static int decode_object(struct decoder *d, const struct schema *s, struct str raw, uint16_t outer,
                         struct json *obj, unsigned depth)
{
    size_t n;
    const struct schema_field *fields = schema_fields(s, &n);
    struct rd rd = rd_init(raw.p, raw.n);
    struct field_value f;
    if (depth > PROTO_MAX_DEPTH)
        return err_set(d->err, E_LIMIT, "nested deeper than %d", PROTO_MAX_DEPTH);
    while (next_field(&rd, &f)) {
        const struct schema_field *field = NULL;
        for (size_t i = 0; i < n && !field; i++)
            if (fields[i].proto == f.number && fields[i].proto_outer == outer)
                field = &fields[i];
        uint16_t inner = nested_outer(outer, f.number);
        int r = 0;
        if (field)
            r = add_member(d, field, &f, obj, depth);
        else if (inner && f.wire == WIRE_BYTES && has_embedded(fields, n, inner))
            r = decode_object(d, s, f.bytes, inner, obj, depth + 1);
        if (r < 0)
            return r;
    }
    return rd_ok(&rd) ? 0 : malformed(d);
}

int proto_decode(struct arena *a, const struct schema *s, struct str raw, struct json **ret,
                 struct err *err)
{
    struct decoder d = { .a = a, .err = err };
    struct json *obj = json_new_object(a);
    (void)arena_spend(a, raw.n / 4, "decoding protobuf");
    int r = decode_object(&d, s, raw, 0, obj, 0);
    if (r < 0)
        return r;
    *ret = obj;
    return 0;
}
