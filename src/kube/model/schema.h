/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct schema: the fields of a kind and their types. One description serves decoding, defaulting,
 * pruning, validation, patches, apply, protobuf, OpenAPI and tables.
 *
 * Built-in kinds are expanded on demand from compact constant tables (builtin.h) and live as long
 * as the process; those of CustomResourceDefinitions are made by schema_from_openapi() in an arena
 * of their owner. A schema is immutable for its users. Main loop only: expansion is lazy and
 * unlocked.
 *
 * Read fields through schema_fields() and schema_field(), which expand them.
 */
#pragma once

#include "kube/model/field.h"

/* name, OpenAPI type ("" for any), format */
#define SCHEMA_TYPES(X)                                                                            \
    X(SCHEMA_ANY, "", "") /* any value, kept unchanged */                                          \
    X(SCHEMA_STRING, "string", "")                                                                 \
    X(SCHEMA_BOOL, "boolean", "")                                                                  \
    X(SCHEMA_INT32, "integer", "int32")                                                            \
    X(SCHEMA_INT64, "integer", "int64")                                                            \
    X(SCHEMA_NUMBER, "number", "double")                                                           \
    X(SCHEMA_BYTES, "string", "byte")     /* base64 in JSON */                                     \
    X(SCHEMA_TIME, "string", "date-time") /* metav1.Time */                                        \
    X(SCHEMA_MICRO_TIME, "string", "date-time")                                                    \
    X(SCHEMA_DURATION, "string", "") /* metav1.Duration */                                         \
    X(SCHEMA_QUANTITY, "string", "") /* resource.Quantity: string or number */                     \
    X(SCHEMA_INT_OR_STRING, "string", "int-or-string")                                             \
    X(SCHEMA_RAW, "object", "")    /* runtime.RawExtension, any JSON in JSON fields */             \
    X(SCHEMA_FIELDS, "object", "") /* metav1.FieldsV1 */                                           \
    X(SCHEMA_OBJECT, "object", "")                                                                 \
    X(SCHEMA_MAP, "object", "") /* string keys, values as `items` */                               \
    X(SCHEMA_ARRAY, "array", "")

enum schema_type {
#define SCHEMA_TYPE_ENUM(name, type, format) name,
    SCHEMA_TYPES(SCHEMA_TYPE_ENUM)
#undef SCHEMA_TYPE_ENUM
};

enum schema_list_type { SCHEMA_LIST_ATOMIC, SCHEMA_LIST_SET, SCHEMA_LIST_MAP };

enum schema_flag {
    SCHEMA_NULLABLE = 1 << 0,
    SCHEMA_PRESERVE_UNKNOWN = 1 << 1, /* x-kubernetes-preserve-unknown-fields */
    SCHEMA_EMBEDDED = 1 << 2,         /* x-kubernetes-embedded-resource */
    SCHEMA_ATOMIC_MAP = 1 << 3,       /* x-kubernetes-map-type: atomic */
    SCHEMA_PATCH_MERGE = 1 << 4,      /* patch strategy merge, key in `patch_key` */
    SCHEMA_PATCH_RETAIN_KEYS = 1 << 5,
    SCHEMA_PATCH_REPLACE = 1 << 6,
    SCHEMA_BUILTIN = 1 << 7, /* decoded by upstream into a Go struct: see schema_normalize() */
    /*
     * SCHEMA_ANY that is either an object of `items` or another value; protobuf distinguishes them.
     */
    SCHEMA_OR_ARRAY = 1 << 8,
    SCHEMA_OR_BOOL = 1 << 9,
    SCHEMA_OR_STRINGS = 1 << 10,
    SCHEMA_ATOMIC_LIST = 1 << 11, /* declared atomic explicitly, which is the default for a list */
    SCHEMA_RULED = 1 << 12        /* it or a part of it has x-kubernetes-validations */
};

struct schema;

enum schema_field_flag {
    FIELD_IS_REQUIRED = 1 << 0,
    FIELD_OMIT_EMPTY = 1 << 1, /* Go's omitempty: absent when empty; without it always written */
    FIELD_POINTER = 1 << 2,    /* pointer in Go: absent and zero differ */
    FIELD_OMIT_ZERO = 1 << 3   /* Go's omitzero: a struct that is absent when all of it is zero */
};

struct schema_field {
    struct str name;
    const struct schema *schema;
    uint16_t proto; /* field number, 0: none */
    /*
     * In protobuf the field lies in embedded messages of these numbers: the outer in the low byte,
     * the inner in the high byte; 0: in the parent itself.
     */
    uint16_t proto_outer;
    uint16_t flags; /* enum schema_field_flag */
};

enum { SCHEMA_NO_LIMIT = -1 };

/* Value rules; only allocated where there are any. Limits are SCHEMA_NO_LIMIT when unset. */
struct schema_rules {
    bool has_minimum, has_maximum, exclusive_minimum, exclusive_maximum, has_multiple_of,
        unique_items;
    double minimum, maximum, multiple_of;
    int64_t min_length, max_length, min_items, max_items, min_properties, max_properties;
    struct str pattern;
    struct schema_regex *regex;     /* compiled pattern */
    struct str format;              /* as written in a CRD */
    const struct json *enum_values; /* array or NULL */
    const struct json
        *required; /* array of names or NULL; declared fields have FIELD_IS_REQUIRED too */
    const struct schema *const *all_of, *const *any_of, *const *one_of;
    size_t n_all_of, n_any_of, n_one_of;
    const struct schema *not_schema;
    const struct json *cel; /* x-kubernetes-validations: kube/cel/cel_rules.h */
};

struct schema {
    uint8_t type;      /* enum schema_type */
    uint8_t list_type; /* enum schema_list_type */
    uint16_t flags;    /* enum schema_flag */
    uint16_t n_list_keys;
    uint16_t builtin;  /* 1 + index of the built-in type that `fields` come from; 0: none */
    uint32_t n_fields; /* once expanded */
    struct schema_field *fields; /* in document order; use schema_fields() */
    const struct schema *items;  /* of an array or map */
    const struct str *list_keys; /* SCHEMA_LIST_MAP */
    struct str patch_key;
    struct str description;
    const struct json *def;           /* default value or NULL; shared, clone before use */
    const struct schema_rules *rules; /* or NULL */
    const struct json *source; /* CRD: the OpenAPI v3 object this came from; NULL for built-in */
};

/*
 * Room for n fields of s, which become s->fields; the caller fills them, sets s->n_fields, and
 * calls schema_fields_done(), which indexes them when they are many.
 */
struct schema_field *schema_fields_new(struct arena *a, struct schema *s, size_t n);
void schema_fields_done(struct schema *s);
/* Fields of an object (none for other types). Expands built-in types; borrowed from the schema. */
const struct schema_field *schema_fields(const struct schema *s, size_t *ret_n);
const struct schema_field *schema_field(const struct schema *s, struct str name);
const char *schema_type_name(const struct schema *s); /* "string", "integer", ...; "" for any */
const char *schema_type_format(const struct schema *s);
/* Walk one step: member of an object or value of a map; NULL where the schema has nothing. */
const struct schema *schema_child(const struct schema *s, struct str key);

enum { SCHEMA_MAX_DEPTH = 256, SCHEMA_MAX_NODES = 100000 };
/*
 * Build a schema from the openAPIV3Schema of a CustomResourceDefinition, checking that it is
 * structural. Violations are reported at `at` with upstream's texts. `spec` must live as long as
 * the arena. stored: the stored definition, or NULL; a pattern that it contains anywhere is not
 * reported. Returns 0, or E_INVALID with *errs filled; *ret is set and usable in either case: an
 * invalid part allows any value, and a pattern that RE2 does not support matches as in PCRE2, or
 * never.
 */
int schema_from_openapi(struct arena *a, const struct json *spec, const struct json *stored,
                        const struct fpath *at, struct field_errors *errs,
                        const struct schema **ret);
/* Release what the arena does not own (compiled patterns). Never call it for built-in schemas. */
void schema_release(const struct schema *s);

/* ---- walkers; `v` is changed in place, new nodes come from `a` ---- */

/* Called with the path of an unknown field. */
typedef void (*schema_unknown_fn)(void *arg, struct str path);

/*
 * Drop fields that the schema does not have, calling `unknown` (may be NULL) for each. metadata,
 * apiVersion and kind at the root and in embedded resources are known.
 */
void schema_prune(const struct schema *s, struct json *v, bool is_root, schema_unknown_fn unknown,
                  void *arg);
/*
 * Fill in defaults at all depths; they are cloned. Nulls of non-nullable fields with a default are
 * replaced. Stops when the arena is full (arena_is_full()): a short text may have many defaults.
 */
void schema_default(struct arena *a, const struct schema *s, struct json *v);
/* Likewise for the result of an apply, whose other nulls stay, for validation to refuse. */
void schema_default_applied(struct arena *a, const struct schema *s, struct json *v);
/*
 * For built-in kinds: has the effect of decoding into upstream's Go struct and encoding again.
 * Checks types, reports and drops unknown fields, drops empty omitempty members and nulls, writes
 * members that are never omitted, in the struct's order. Errors: E_INVALID with Go's words ("json:
 * cannot unmarshal ..."). type: name of the root's type for those words.
 */
int schema_normalize(struct arena *a, const struct schema *s, struct json *v, const char *type,
                     schema_unknown_fn unknown, void *arg, struct err *err);
/*
 * Validate types, value rules and list types, reporting below `at`. old: the value before an update
 * or NULL; parts that did not change are not reported ("ratcheting"). Spends from the work of
 * errs->a, or BUDGET_MAX_STEPS where that has none: 8 steps for each check of a value against a
 * schema, 1 for each comparison with a value of an enum or a value before the update, and those of
 * patterns. Returns 0, or E_LIMIT: the work is used up, and errs is incomplete.
 */
int schema_validate(const struct schema *s, const struct json *v, const struct json *old,
                    const struct fpath *at, struct field_errors *errs);
/*
 * x equals y, except for the order of the elements of list maps at any depth. s: of both, may be
 * NULL. budget: NULL for BUDGET_MAX_STEPS; returns false once it is used up.
 */
bool schema_same(struct arena *scratch, const struct schema *s, const struct json *x,
                 const struct json *y, struct budget *budget);
/* The identity of an element of a list map, as text in the arena. */
struct str schema_list_key(struct arena *a, const struct schema *s, const struct json *item);
/*
 * The first match from byte `from` on, as RE2 finds it: 1, or 0: none. from: 0, or the end of an
 * earlier match in the same string. *ret_steps: the cost of backtracking; 0 if small, else exact
 * within a factor of 16. E_LIMIT: it would take more than REGEX_STEPS_MAX steps or 4 MiB.
 */
enum { REGEX_STEPS_MAX = 200000 }; /* some 7 ms */
int schema_regex_find(const struct schema_regex *re, struct str s, size_t from, size_t *ret_at,
                      size_t *ret_end, unsigned *ret_steps);
/*
 * Errors: E_INVALID with RE2's reason, also for nested repetitions of more than 1,000 in total;
 * E_LIMIT: longer than 16 KiB. *ret given, schema_regex_free().
 */
int schema_regex_new(struct str pattern, struct schema_regex **ret, struct err *err);
/* For a pattern that is stored already: accepts whatever PCRE2 compiles, within 16 KiB. */
int schema_regex_new_stored(struct str pattern, struct schema_regex **ret, struct err *err);
void schema_regex_free(struct schema_regex *re);
