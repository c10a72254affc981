/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of the generated tables. Strings are offsets into builtin_strings (0 is ""), everything
 * else is an index, so the tables need no relocation and their pages stay clean and shared.
 */
#pragma once

#include "kube/model/schema.h"

struct builtin_field_row {
    uint32_t name;
    uint16_t node;
    uint16_t proto;
    uint16_t proto_outer;
    uint16_t flags;
};
struct builtin_type_row {
    uint32_t name, go_name;
    uint16_t first_field, n_fields;
};
struct builtin_node_row {
    uint8_t type, list_type;
    uint16_t flags;
    uint16_t ref;       /* 1 + type of an object, 1 + node of items; 0: none */
    uint16_t list_keys; /* into builtin_lists */
    uint16_t enum_values;
    uint32_t patch_key;
    uint32_t def; /* JSON text */
};
struct builtin_kind_row {
    uint32_t group, version, kind;
    uint16_t type;
};

extern const char
    builtin_api_version[]; /* of the k8s.io/api module they were made from: "v0.36.3" */
extern const struct builtin_field_row builtin_fields[];
extern const uint8_t builtin_proto_order[]; /* parallel to builtin_fields; see the generated file */
extern const struct builtin_type_row builtin_types[];
extern const uint16_t builtin_n_types;
extern const uint32_t builtin_lists[];
extern const struct builtin_node_row builtin_nodes[];
extern const uint16_t builtin_n_nodes;
extern const struct builtin_kind_row builtin_kinds[];
extern const uint16_t builtin_n_kinds;
extern const char builtin_strings[];

/* Fields of built-in type number `type`, expanded on first use and kept; *ret_n their number. */
struct schema_field *builtin_expand(uint16_t type, uint32_t *ret_n);
