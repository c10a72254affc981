/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI in protobuf; see openapi_proto.h.
 *
 * The messages are rows of one table, which maps the members of an object to fields. The rows of
 * one message are adjacent, in the order of the field numbers.
 */
#include "kube/model/openapi_proto.h"

#include "base/mem.h"
#include "kube/model/proto_wire.h"

enum openapi_proto_message {
    INFO2,
    DOCUMENT2,
    PATH2,
    OPERATION2,
    BODY2,
    QUERY2,
    PLAIN2, /* a parameter in the path or in a header */
    RESPONSE2,
    SCHEMA2,
    INFO3,
    DOCUMENT3,
    COMPONENTS3,
    PATH3,
    OPERATION3,
    PARAMETER3,
    BODY3,
    MEDIA3,
    RESPONSE3,
    SCHEMA3,
    REFERENCE
};

enum openapi_proto_shape {
    IS_STRING,
    IS_BOOL,
    IS_INT,
    IS_DOUBLE,
    IS_STRINGS,
    IS_TYPE, /* a string wrapped in a message */
    IS_ANY,
    IS_ANYS,
    IS_MESSAGE,
    IS_MESSAGES,
    IS_WRAPPED,    /* a message as the first alternative of a union, the second is a reference */
    IS_WRAPPEDS,   /* a list of them */
    IS_ITEMS,      /* a wrapped message in a list type */
    IS_MAP,        /* named messages, in a message of their own */
    IS_OR_BOOL,    /* a message, or a bool: additionalProperties */
    IS_DEFAULT,    /* a number, a bool or a string */
    IS_PARAMETERS, /* of version 2, whose message depends on "in" */
    IS_EXTENSIONS  /* all members that begin with "x-" */
};

enum {
    REFS = 1 << 0, /* the message is one alternative of a union, the other is Reference */
    ONE = 1 << 1   /* the message is the only alternative of a union */
};

struct openapi_proto_row {
    uint8_t message, number, shape, of, union_; /* union_: of the values of maps and items */
    char name[27];
};

static const struct openapi_proto_row rows[] = {
    { INFO2, 1, IS_STRING, 0, 0, "title" },
    { INFO2, 2, IS_STRING, 0, 0, "version" },
    { INFO2, 3, IS_STRING, 0, 0, "description" },
    { INFO2, 7, IS_EXTENSIONS, 0, 0, "" },

    { DOCUMENT2, 1, IS_STRING, 0, 0, "swagger" },
    { DOCUMENT2, 2, IS_MESSAGE, INFO2, 0, "info" },
    { DOCUMENT2, 6, IS_STRINGS, 0, 0, "consumes" },
    { DOCUMENT2, 7, IS_STRINGS, 0, 0, "produces" },
    { DOCUMENT2, 8, IS_MAP, PATH2, 0, "paths" },
    { DOCUMENT2, 9, IS_MAP, SCHEMA2, 0, "definitions" },
    { DOCUMENT2, 16, IS_EXTENSIONS, 0, 0, "" },

    { PATH2, 2, IS_MESSAGE, OPERATION2, 0, "get" },
    { PATH2, 3, IS_MESSAGE, OPERATION2, 0, "put" },
    { PATH2, 4, IS_MESSAGE, OPERATION2, 0, "post" },
    { PATH2, 5, IS_MESSAGE, OPERATION2, 0, "delete" },
    { PATH2, 8, IS_MESSAGE, OPERATION2, 0, "patch" },
    { PATH2, 9, IS_PARAMETERS, 0, 0, "parameters" },
    { PATH2, 10, IS_EXTENSIONS, 0, 0, "" },

    { OPERATION2, 1, IS_STRINGS, 0, 0, "tags" },
    { OPERATION2, 3, IS_STRING, 0, 0, "description" },
    { OPERATION2, 5, IS_STRING, 0, 0, "operationId" },
    { OPERATION2, 6, IS_STRINGS, 0, 0, "produces" },
    { OPERATION2, 7, IS_STRINGS, 0, 0, "consumes" },
    { OPERATION2, 8, IS_PARAMETERS, 0, 0, "parameters" },
    { OPERATION2, 9, IS_MAP, RESPONSE2, ONE, "responses" },
    { OPERATION2, 10, IS_STRINGS, 0, 0, "schemes" },
    { OPERATION2, 13, IS_EXTENSIONS, 0, 0, "" },

    { BODY2, 1, IS_STRING, 0, 0, "description" },
    { BODY2, 2, IS_STRING, 0, 0, "name" },
    { BODY2, 3, IS_STRING, 0, 0, "in" },
    { BODY2, 4, IS_BOOL, 0, 0, "required" },
    { BODY2, 5, IS_MESSAGE, SCHEMA2, 0, "schema" },

    { QUERY2, 1, IS_BOOL, 0, 0, "required" },
    { QUERY2, 2, IS_STRING, 0, 0, "in" },
    { QUERY2, 3, IS_STRING, 0, 0, "description" },
    { QUERY2, 4, IS_STRING, 0, 0, "name" },
    { QUERY2, 6, IS_STRING, 0, 0, "type" },
    { QUERY2, 7, IS_STRING, 0, 0, "format" },
    { QUERY2, 20, IS_BOOL, 0, 0, "uniqueItems" },

    { PLAIN2, 1, IS_BOOL, 0, 0, "required" },
    { PLAIN2, 2, IS_STRING, 0, 0, "in" },
    { PLAIN2, 3, IS_STRING, 0, 0, "description" },
    { PLAIN2, 4, IS_STRING, 0, 0, "name" },
    { PLAIN2, 5, IS_STRING, 0, 0, "type" },
    { PLAIN2, 6, IS_STRING, 0, 0, "format" },
    { PLAIN2, 19, IS_BOOL, 0, 0, "uniqueItems" },

    { RESPONSE2, 1, IS_STRING, 0, 0, "description" },
    { RESPONSE2, 2, IS_WRAPPED, SCHEMA2, ONE, "schema" },

    { SCHEMA2, 1, IS_STRING, 0, 0, "$ref" },
    { SCHEMA2, 2, IS_STRING, 0, 0, "format" },
    { SCHEMA2, 3, IS_STRING, 0, 0, "title" },
    { SCHEMA2, 4, IS_STRING, 0, 0, "description" },
    { SCHEMA2, 5, IS_ANY, 0, 0, "default" },
    { SCHEMA2, 6, IS_DOUBLE, 0, 0, "multipleOf" },
    { SCHEMA2, 7, IS_DOUBLE, 0, 0, "maximum" },
    { SCHEMA2, 8, IS_BOOL, 0, 0, "exclusiveMaximum" },
    { SCHEMA2, 9, IS_DOUBLE, 0, 0, "minimum" },
    { SCHEMA2, 10, IS_BOOL, 0, 0, "exclusiveMinimum" },
    { SCHEMA2, 11, IS_INT, 0, 0, "maxLength" },
    { SCHEMA2, 12, IS_INT, 0, 0, "minLength" },
    { SCHEMA2, 13, IS_STRING, 0, 0, "pattern" },
    { SCHEMA2, 14, IS_INT, 0, 0, "maxItems" },
    { SCHEMA2, 15, IS_INT, 0, 0, "minItems" },
    { SCHEMA2, 16, IS_BOOL, 0, 0, "uniqueItems" },
    { SCHEMA2, 17, IS_INT, 0, 0, "maxProperties" },
    { SCHEMA2, 18, IS_INT, 0, 0, "minProperties" },
    { SCHEMA2, 19, IS_STRINGS, 0, 0, "required" },
    { SCHEMA2, 20, IS_ANYS, 0, 0, "enum" },
    { SCHEMA2, 21, IS_OR_BOOL, SCHEMA2, ONE, "additionalProperties" },
    { SCHEMA2, 22, IS_TYPE, 0, 0, "type" },
    { SCHEMA2, 23, IS_WRAPPED, SCHEMA2, ONE, "items" },
    { SCHEMA2, 24, IS_MESSAGES, SCHEMA2, 0, "allOf" },
    { SCHEMA2, 25, IS_MAP, SCHEMA2, 0, "properties" },
    { SCHEMA2, 27, IS_BOOL, 0, 0, "readOnly" },
    { SCHEMA2, 30, IS_ANY, 0, 0, "example" },
    { SCHEMA2, 31, IS_EXTENSIONS, 0, 0, "" },

    { INFO3, 1, IS_STRING, 0, 0, "title" },
    { INFO3, 2, IS_STRING, 0, 0, "description" },
    { INFO3, 6, IS_STRING, 0, 0, "version" },

    { DOCUMENT3, 1, IS_STRING, 0, 0, "openapi" },
    { DOCUMENT3, 2, IS_MESSAGE, INFO3, 0, "info" },
    { DOCUMENT3, 4, IS_MAP, PATH3, 0, "paths" },
    { DOCUMENT3, 5, IS_MESSAGE, COMPONENTS3, 0, "components" },

    { COMPONENTS3, 1, IS_MAP, SCHEMA3, REFS, "schemas" },

    { PATH3, 4, IS_MESSAGE, OPERATION3, 0, "get" },
    { PATH3, 5, IS_MESSAGE, OPERATION3, 0, "put" },
    { PATH3, 6, IS_MESSAGE, OPERATION3, 0, "post" },
    { PATH3, 7, IS_MESSAGE, OPERATION3, 0, "delete" },
    { PATH3, 10, IS_MESSAGE, OPERATION3, 0, "patch" },
    { PATH3, 13, IS_WRAPPEDS, PARAMETER3, REFS, "parameters" },
    { PATH3, 14, IS_EXTENSIONS, 0, 0, "" },

    { OPERATION3, 1, IS_STRINGS, 0, 0, "tags" },
    { OPERATION3, 3, IS_STRING, 0, 0, "description" },
    { OPERATION3, 5, IS_STRING, 0, 0, "operationId" },
    { OPERATION3, 6, IS_WRAPPEDS, PARAMETER3, REFS, "parameters" },
    { OPERATION3, 7, IS_WRAPPED, BODY3, REFS, "requestBody" },
    { OPERATION3, 8, IS_MAP, RESPONSE3, REFS, "responses" },
    { OPERATION3, 13, IS_EXTENSIONS, 0, 0, "" },

    { PARAMETER3, 1, IS_STRING, 0, 0, "name" },
    { PARAMETER3, 2, IS_STRING, 0, 0, "in" },
    { PARAMETER3, 3, IS_STRING, 0, 0, "description" },
    { PARAMETER3, 4, IS_BOOL, 0, 0, "required" },
    { PARAMETER3, 10, IS_WRAPPED, SCHEMA3, REFS, "schema" },

    { BODY3, 1, IS_STRING, 0, 0, "description" },
    { BODY3, 2, IS_MAP, MEDIA3, 0, "content" },
    { BODY3, 3, IS_BOOL, 0, 0, "required" },

    { MEDIA3, 1, IS_WRAPPED, SCHEMA3, REFS, "schema" },

    { RESPONSE3, 1, IS_STRING, 0, 0, "description" },
    { RESPONSE3, 3, IS_MAP, MEDIA3, 0, "content" },

    { SCHEMA3, 1, IS_BOOL, 0, 0, "nullable" },
    { SCHEMA3, 3, IS_BOOL, 0, 0, "readOnly" },
    { SCHEMA3, 7, IS_ANY, 0, 0, "example" },
    { SCHEMA3, 9, IS_STRING, 0, 0, "title" },
    { SCHEMA3, 10, IS_DOUBLE, 0, 0, "multipleOf" },
    { SCHEMA3, 11, IS_DOUBLE, 0, 0, "maximum" },
    { SCHEMA3, 12, IS_BOOL, 0, 0, "exclusiveMaximum" },
    { SCHEMA3, 13, IS_DOUBLE, 0, 0, "minimum" },
    { SCHEMA3, 14, IS_BOOL, 0, 0, "exclusiveMinimum" },
    { SCHEMA3, 15, IS_INT, 0, 0, "maxLength" },
    { SCHEMA3, 16, IS_INT, 0, 0, "minLength" },
    { SCHEMA3, 17, IS_STRING, 0, 0, "pattern" },
    { SCHEMA3, 18, IS_INT, 0, 0, "maxItems" },
    { SCHEMA3, 19, IS_INT, 0, 0, "minItems" },
    { SCHEMA3, 20, IS_BOOL, 0, 0, "uniqueItems" },
    { SCHEMA3, 21, IS_INT, 0, 0, "maxProperties" },
    { SCHEMA3, 22, IS_INT, 0, 0, "minProperties" },
    { SCHEMA3, 23, IS_STRINGS, 0, 0, "required" },
    { SCHEMA3, 24, IS_ANYS, 0, 0, "enum" },
    { SCHEMA3, 25, IS_STRING, 0, 0, "type" },
    { SCHEMA3, 26, IS_WRAPPEDS, SCHEMA3, REFS, "allOf" },
    { SCHEMA3, 27, IS_WRAPPEDS, SCHEMA3, REFS, "oneOf" },
    { SCHEMA3, 28, IS_WRAPPEDS, SCHEMA3, REFS, "anyOf" },
    { SCHEMA3, 29, IS_MESSAGE, SCHEMA3, 0, "not" },
    { SCHEMA3, 30, IS_ITEMS, SCHEMA3, REFS, "items" },
    { SCHEMA3, 31, IS_MAP, SCHEMA3, REFS, "properties" },
    { SCHEMA3, 32, IS_OR_BOOL, SCHEMA3, REFS, "additionalProperties" },
    { SCHEMA3, 33, IS_DEFAULT, 0, 0, "default" },
    { SCHEMA3, 34, IS_STRING, 0, 0, "description" },
    { SCHEMA3, 35, IS_STRING, 0, 0, "format" },
    { SCHEMA3, 36, IS_EXTENSIONS, 0, 0, "" },

    { REFERENCE, 1, IS_STRING, 0, 0, "$ref" },
    { REFERENCE, 3, IS_STRING, 0, 0, "description" },
};

static void put_message(struct buf *to, enum openapi_proto_message m, const struct json *v);

static void put_field(struct buf *to, uint32_t number, enum openapi_proto_message m,
                      const struct json *v)
{
    size_t at = wire_begin(to, number);
    put_message(to, m, v);
    wire_end(to, at);
}

/* Writes an alternative of a union: the message, or a Reference where that is possible. */
static void put_alternative(struct buf *to, enum openapi_proto_message m, unsigned union_,
                            const struct json *v)
{
    if (union_ == 0)
        put_message(to, m, v);
    else if ((union_ & REFS) && json_getc(v, "$ref"))
        put_field(to, 2, REFERENCE, v);
    else
        put_field(to, 1, m, v);
}

static void put_wrapped(struct buf *to, uint32_t number, const struct openapi_proto_row *row,
                        const struct json *v)
{
    size_t at = wire_begin(to, number);
    put_alternative(to, row->of, row->union_, v);
    wire_end(to, at);
}

static void put_double(struct buf *to, uint32_t number, double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    wire_put_varint(to, (uint64_t)number << 3 | WIRE_FIXED64);
    (void)buf_add_le64(to, bits);
}

/* Any: text that a YAML parser reads, such as JSON. */
static void put_any(struct buf *to, uint32_t number, const struct json *v)
{
    size_t at = wire_begin(to, number), text = wire_begin(to, 2);
    (void)json_write(to, v);
    wire_end(to, text);
    wire_end(to, at);
}

static bool is_extension(const struct json *m)
{
    return str_has_prefix(m->key, STR("x-"));
}

static void put_extensions(struct buf *to, uint32_t number, const struct json *v)
{
    json_each (m, v) {
        if (!is_extension(m))
            continue;
        size_t at = wire_begin(to, number);
        wire_put_bytes(to, 1, m->key);
        put_any(to, 2, m);
        wire_end(to, at);
    }
}

/* In paths of version 2 and responses of version 3, field 1 is another field. */
static uint32_t map_number(enum openapi_proto_message m)
{
    return m == PATH2 || m == RESPONSE3 ? 2 : 1;
}

static void put_map(struct buf *to, const struct openapi_proto_row *row, const struct json *v)
{
    json_each (m, v) {
        size_t at = wire_begin(to, map_number(row->of));
        wire_put_bytes(to, 1, m->key);
        put_wrapped(to, 2, row, m);
        wire_end(to, at);
    }
}

static void put_or_bool(struct buf *to, const struct openapi_proto_row *row, const struct json *v)
{
    if (json_is_bool(v))
        wire_put_number(to, 2, json_bool(v));
    else if (row->union_ & REFS)
        put_wrapped(to, 1, row, v);
    else
        put_field(to, 1, row->of, v);
}

static void put_default(struct buf *to, const struct json *v)
{
    double d;
    if (v->type == JSON_NUMBER && json_float(v, &d) == 0)
        put_double(to, 1, d);
    else if (json_is_bool(v))
        wire_put_number(to, 2, json_bool(v));
    else if (v->type == JSON_STRING)
        wire_put_bytes(to, 3, v->s);
}

/* ParametersItem{ 1: Parameter{ 1: body, or 2: NonBodyParameter{ one of four } } } */
static void put_parameter(struct buf *to, uint32_t number, const struct json *v)
{
    struct str in = json_get_str(v, "in");
    size_t item = wire_begin(to, number), parameter = wire_begin(to, 1);
    if (str_is(in, "body")) {
        put_field(to, 1, BODY2, v);
    } else {
        size_t other = wire_begin(to, 2);
        bool in_query = str_is(in, "query");
        put_field(to, in_query ? 3 : str_is(in, "path") ? 4 : 1, in_query ? QUERY2 : PLAIN2, v);
        wire_end(to, other);
    }
    wire_end(to, parameter);
    wire_end(to, item);
}

/* A value in a single field; zeroes are left out. */
static void put_scalar(struct buf *to, const struct openapi_proto_row *row, const struct json *v)
{
    double d = 0;
    size_t at;
    if (row->shape == IS_STRING && json_str(v).n)
        wire_put_bytes(to, row->number, json_str(v));
    else if (row->shape == IS_BOOL && json_bool(v))
        wire_put_number(to, row->number, 1);
    else if (row->shape == IS_INT && json_int_or(v, 0))
        wire_put_number(to, row->number, json_int_or(v, 0));
    else if (row->shape == IS_DOUBLE && json_float(v, &d) == 0 && (d < 0 || d > 0))
        put_double(to, row->number, d);
    else if (row->shape == IS_TYPE) {
        at = wire_begin(to, row->number);
        wire_put_bytes(to, 1, json_str(v));
        wire_end(to, at);
    }
}

/* Writes each element of a list as field `number`. */
static void put_list(struct buf *to, const struct openapi_proto_row *row, const struct json *list)
{
    json_each (v, list) {
        if (row->shape == IS_STRINGS)
            wire_put_bytes(to, row->number, json_str(v));
        else if (row->shape == IS_ANYS)
            put_any(to, row->number, v);
        else if (row->shape == IS_PARAMETERS)
            put_parameter(to, row->number, v);
        else if (row->shape == IS_WRAPPEDS)
            put_wrapped(to, row->number, row, v);
        else
            put_field(to, row->number, row->of, v);
    }
}

/* A message that wraps the value. */
static void put_around(struct buf *to, const struct openapi_proto_row *row, const struct json *v)
{
    size_t at = wire_begin(to, row->number);
    if (row->shape == IS_ITEMS)
        put_wrapped(to, 1, row, v);
    else if (row->shape == IS_MAP)
        put_map(to, row, v);
    else if (row->shape == IS_OR_BOOL)
        put_or_bool(to, row, v);
    else
        put_default(to, v);
    wire_end(to, at);
}

static void put_row(struct buf *to, const struct openapi_proto_row *row, const struct json *v)
{
    switch ((enum openapi_proto_shape)row->shape) {
    case IS_STRING:
    case IS_BOOL:
    case IS_INT:
    case IS_DOUBLE:
    case IS_TYPE:
        put_scalar(to, row, v);
        return;
    case IS_STRINGS:
    case IS_ANYS:
    case IS_MESSAGES:
    case IS_WRAPPEDS:
    case IS_PARAMETERS:
        put_list(to, row, v);
        return;
    case IS_ANY:
        put_any(to, row->number, v);
        return;
    case IS_MESSAGE:
        put_field(to, row->number, row->of, v);
        return;
    case IS_WRAPPED:
        put_wrapped(to, row->number, row, v);
        return;
    case IS_ITEMS:
    case IS_MAP:
    case IS_OR_BOOL:
    case IS_DEFAULT:
        put_around(to, row, v);
        return;
    case IS_EXTENSIONS:
        return;
    }
}

static void put_message(struct buf *to, enum openapi_proto_message m, const struct json *v)
{
    size_t i = 0;
    while (rows[i].message != m)
        i++;
    for (; i < ARRAY_LEN(rows) && rows[i].message == m; i++) {
        const struct openapi_proto_row *row = &rows[i];
        const struct json *member = row->name[0] ? json_getc(v, row->name) : NULL;
        if (row->shape == IS_EXTENSIONS)
            put_extensions(to, row->number, v);
        else if (member)
            put_row(to, row, member);
    }
}

int openapi_proto_v2(const struct json *document, struct buf *to)
{
    put_message(to, DOCUMENT2, document);
    return to->failed;
}

int openapi_proto_v3(const struct json *document, struct buf *to)
{
    put_message(to, DOCUMENT3, document);
    return to->failed;
}
