/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions of built-in types and fields, for OpenAPI and `kubectl explain`.
 *
 * They are written in descriptions/ and packed by tools/pack-descriptions.c, which reads the same
 * tables of types, into one block of compressed text (builtin_docs_packed). Unused, it is only
 * clean pages of the program; while a document is made, the text is unpacked into its arena.
 *
 * The text has one line for each type and each of its fields, in the order of the tables, then one
 * for each enum schema_type, which is not empty for those in BUILTIN_LEAVES.
 */
#pragma once

#include "kube/model/schema.h"

/* Types that are one value in a format of their own: schema type, its OpenAPI name. */
#define BUILTIN_LEAVES(X)                                                                          \
    X(SCHEMA_TIME, "io.k8s.apimachinery.pkg.apis.meta.v1.Time")                                    \
    X(SCHEMA_MICRO_TIME, "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime")                         \
    X(SCHEMA_DURATION, "io.k8s.apimachinery.pkg.apis.meta.v1.Duration")                            \
    X(SCHEMA_FIELDS, "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1")                              \
    X(SCHEMA_QUANTITY, "io.k8s.apimachinery.pkg.api.resource.Quantity")                            \
    X(SCHEMA_INT_OR_STRING, "io.k8s.apimachinery.pkg.util.intstr.IntOrString")                     \
    X(SCHEMA_RAW, "io.k8s.apimachinery.pkg.runtime.RawExtension")

enum {
#define BUILTIN_LEAF_COUNT(type, format, openapi) +1
    BUILTIN_DOCS_TAIL = 0 SCHEMA_TYPES(BUILTIN_LEAF_COUNT)
#undef BUILTIN_LEAF_COUNT
};

struct builtin_docs;

/* Unpacks the text; the result and its texts are borrowed from the arena. */
const struct builtin_docs *builtin_docs_new(struct arena *a);
/* These return "" where there is no description. */
struct str builtin_doc_type(const struct builtin_docs *docs, const struct schema *s);
/* field: number of the field in schema_fields(s) */
struct str builtin_doc_field(const struct builtin_docs *docs, const struct schema *s, size_t field);
struct str builtin_doc_leaf(const struct builtin_docs *docs, enum schema_type type);
/* Changes when the texts change; costs nothing. */
struct str builtin_docs_tag(void);

/* Generated. */
extern const unsigned char builtin_docs_packed[];
extern const uint32_t builtin_docs_packed_bytes, builtin_docs_bytes;
