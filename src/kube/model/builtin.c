/* SPDX-License-Identifier: Apache-2.0 */
/* Expands built-in schemas from tables to struct schema, on demand; see builtin.h. */
#include "kube/model/builtin.h"

#include "kube/model/builtin_tables.h"

#include <assert.h>

/*
 * Everything expanded so far. It lives as long as the process: types are few, shared by all kinds,
 * and schemas are handed out without references.
 */
static struct {
    struct arena a;
    struct schema **nodes;        /* by node row */
    struct schema **types;        /* object schemas by type row */
    struct schema_field **fields; /* by type row */
} cache;

static void cache_init(void)
{
    if (cache.nodes)
        return;
    cache.nodes = arena_new_n(&cache.a, struct schema *, builtin_n_nodes);
    cache.types = arena_new_n(&cache.a, struct schema *, builtin_n_types);
    cache.fields = arena_new_n(&cache.a, struct schema_field *, builtin_n_types);
}

static struct str text_at(uint32_t offset)
{
    return str_of(builtin_strings + offset);
}

static struct str *list_at(uint16_t at, uint16_t *ret_n)
{
    uint32_t n = builtin_lists[at];
    *ret_n = (uint16_t)n;
    if (n == 0)
        return NULL;
    struct str *out = arena_new_n(&cache.a, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        out[i] = text_at(builtin_lists[at + 1 + i]);
    return out;
}

static const struct schema_rules *enum_rules(uint16_t at)
{
    uint16_t n;
    const struct str *values = list_at(at, &n);
    if (n == 0)
        return NULL;
    struct schema_rules *rules = arena_new(&cache.a, struct schema_rules);
    rules->min_length = rules->max_length = SCHEMA_NO_LIMIT;
    rules->min_items = rules->max_items = SCHEMA_NO_LIMIT;
    rules->min_properties = rules->max_properties = SCHEMA_NO_LIMIT;
    struct json *list = json_new_array(&cache.a);
    for (uint16_t i = 0; i < n; i++)
        json_add(list, json_new_str(&cache.a, values[i]));
    rules->enum_values = list;
    return rules;
}

static const struct json *default_at(uint32_t offset)
{
    if (offset == 0)
        return NULL;
    struct json *v;
    int r = json_parse(&cache.a, text_at(offset), NULL, &v, NULL);
    assert(r == 0); /* the generator has checked it */
    return v;
}

static const struct schema *node_at(uint16_t i)
{
    assert(i < builtin_n_nodes);
    if (cache.nodes[i])
        return cache.nodes[i];
    const struct builtin_node_row *row = &builtin_nodes[i];
    struct schema *s = arena_new(&cache.a, struct schema);
    cache.nodes[i] = s;
    s->type = row->type;
    s->list_type = row->list_type;
    s->flags = row->flags | SCHEMA_BUILTIN;
    if (row->type == SCHEMA_OBJECT)
        s->builtin = row->ref;
    else if (row->ref)
        s->items = node_at((uint16_t)(row->ref - 1));
    s->list_keys = list_at(row->list_keys, &s->n_list_keys);
    s->rules = enum_rules(row->enum_values);
    s->patch_key = text_at(row->patch_key);
    s->def = default_at(row->def);
    return s;
}

struct schema_field *builtin_expand(uint16_t type, uint32_t *ret_n)
{
    cache_init();
    assert(type < builtin_n_types);
    const struct builtin_type_row *t = &builtin_types[type];
    *ret_n = t->n_fields;
    if (cache.fields[type])
        return cache.fields[type];
    struct schema_field *fields = arena_new_n(&cache.a, struct schema_field, MAX(t->n_fields, 1));
    cache.fields[type] = fields;
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct builtin_field_row *row = &builtin_fields[t->first_field + i];
        fields[i] = (struct schema_field){ .name = text_at(row->name),
                                           .schema = node_at(row->node),
                                           .proto = row->proto,
                                           .proto_outer = row->proto_outer,
                                           .flags = row->flags };
    }
    return fields;
}

static const struct schema *type_schema(uint16_t type)
{
    cache_init();
    if (!cache.types[type]) {
        struct schema *s = arena_new(&cache.a, struct schema);
        s->type = SCHEMA_OBJECT;
        s->flags = SCHEMA_BUILTIN;
        s->builtin = (uint16_t)(type + 1);
        cache.types[type] = s;
    }
    return cache.types[type];
}

const struct schema *builtin_schema(struct str group, struct str version, struct str kind)
{
    for (uint16_t i = 0; i < builtin_n_kinds; i++) {
        const struct builtin_kind_row *k = &builtin_kinds[i];
        if (str_eq(text_at(k->kind), kind) && str_eq(text_at(k->group), group) &&
            str_eq(text_at(k->version), version))
            return type_schema(k->type);
    }
    return NULL;
}

const struct schema *builtin_type(const char *name)
{
    for (uint16_t i = 0; i < builtin_n_types; i++)
        if (strcmp(builtin_strings + builtin_types[i].name, name) == 0)
            return type_schema(i);
    return NULL;
}

struct str builtin_type_name(const struct schema *s)
{
    return s->builtin ? text_at(builtin_types[s->builtin - 1].name) : STR("");
}

struct str builtin_go_name(const struct schema *s)
{
    return s->builtin ? text_at(builtin_types[s->builtin - 1].go_name) : STR("");
}

const uint8_t *builtin_field_order(const struct schema *s)
{
    return s->builtin ? builtin_proto_order + builtin_types[s->builtin - 1].first_field : NULL;
}
