/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built-in kinds: schemas expanded from constant tables, which the build generates from the files
 * in types/ (tools/pack-types.c). rules/rules.h lists the resources that are served.
 *
 * The tables have no pointers, so they cost no relocated pages; a type takes memory only from its
 * first use on, and then for the life of the process.
 */
#pragma once

#include "kube/model/resource.h"

/* Schema of a kind ("", "v1", "ConfigMap"); NULL if the tables have none. */
const struct schema *builtin_schema(struct str group, struct str version, struct str kind);
/* Schema of any type by its OpenAPI name ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"). */
const struct schema *builtin_type(const char *name);
/* OpenAPI name of the type of a schema node; "" when it is not a built-in type. */
struct str builtin_type_name(const struct schema *s);
/* Go's name of the type: "v1.ObjectMeta". */
struct str builtin_go_name(const struct schema *s);

/*
 * The order of an expanded object's fields in protobuf: as many numbers as it has fields, or fewer,
 * the rest then being BUILTIN_NO_FIELD. NULL when it is not a built-in type.
 */
enum { BUILTIN_NO_FIELD = 255 };
const uint8_t *builtin_field_order(const struct schema *s);
