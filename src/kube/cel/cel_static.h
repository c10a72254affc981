/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static analysis of an expression: its types, and its maximal cost.
 *
 * A declaration (struct cel_decl) describes how expressions see a schema: the type, and the maximal
 * number of elements or bytes of a value. cel_check() determines the type of each node by the rules
 * of upstream's checker and reports every error in upstream's words; cel_cost() estimates the worst
 * case on upstream's scale. Both take time in proportion to the expression.
 *
 * Everything lives in the arena in which it was made.
 */
#pragma once

#include "kube/cel/cel.h"

enum cel_kind {
    CEL_KIND_ERROR,
    CEL_KIND_DYN,
    CEL_KIND_NULL,
    CEL_KIND_BOOL,
    CEL_KIND_INT,
    CEL_KIND_UINT,
    CEL_KIND_DOUBLE,
    CEL_KIND_STRING,
    CEL_KIND_BYTES,
    CEL_KIND_DURATION,
    CEL_KIND_TIMESTAMP,
    CEL_KIND_TYPE, /* type of params[0], or of anything */
    CEL_KIND_LIST,
    CEL_KIND_MAP,
    CEL_KIND_OPAQUE, /* optional_type, net.IP, net.CIDR */
    CEL_KIND_OBJECT, /* of a declaration, or one of Kubernetes' own types */
    CEL_KIND_PARAM   /* type parameter, bound while checking */
};

struct cel_decl;

/* A type. Objects with declarations have the same type if their declaration is the same. */
struct cel_static {
    uint8_t kind;                       /* enum cel_kind */
    uint8_t n;                          /* params */
    bool open;                          /* contains a CEL_KIND_PARAM */
    uint32_t id;                        /* CEL_KIND_PARAM */
    const char *name;                   /* opaque types, objects without a declaration */
    const struct cel_static *params[2]; /* of a list, map, type, optional */
    const struct cel_decl *decl;        /* of an object */
};

struct cel_decl_field {
    struct str name; /* as expressions write it */
    const struct cel_decl *decl;
};

/* Filled on demand: read it through the functions below. */
struct cel_decl {
    struct arena *a; /* for parts that are filled in later */
    const struct cel_static *type;
    const struct schema *schema; /* NULL: made from `given` */
    const struct cel_decl_field *given;
    size_t n_given;
    const char *name;          /* of the whole type, where `up` is NULL */
    const struct cel_decl *up; /* the declaration that this is a part of */
    struct str part;           /* "spec", "@idx", "@elem" */
    bool is_resource;          /* has apiVersion, kind and metadata, whatever the schema has */
    uint64_t max_elements, min_bytes;
    struct cel_decl *items;        /* of a list or map */
    struct cel_decl **fields;      /* in the schema's order; NULL: not made yet */
    const struct schema *metadata; /* of a resource; NULL: only name and generateName */
    struct cel_decl *meta[3];      /* of a resource: apiVersion, kind, metadata */
};

/*
 * Declaration for a schema; NULL: expressions cannot see any of it. name: of the type. The arena,
 * the schema and the name are kept as long as the declaration.
 */
struct cel_decl *cel_decl_new(struct arena *a, const struct schema *s, bool is_resource,
                              const char *name);
/*
 * Likewise for a custom resource, with this type as its metadata instead of the part that rules
 * see.
 */
struct cel_decl *cel_decl_resource(struct arena *a, const struct schema *s,
                                   const struct schema *metadata, const char *name);
/* An object with these fields, which are kept and may be filled later. */
struct cel_decl *cel_decl_object(struct arena *a, const char *name,
                                 const struct cel_decl_field *fields, size_t n);
struct cel_decl *cel_decl_of(struct arena *a, const struct cel_static *type);
/* NULL: no such field. name: as expressions write it. */
const struct cel_decl *cel_decl_field(const struct cel_decl *d, struct str name);
/* Likewise by the name in the schema. NULL also where expressions cannot write the name. */
const struct cel_decl *cel_decl_part(const struct cel_decl *d, struct str name);
/* How many values of this type fit into the largest request. */
uint64_t cel_decl_cardinality(const struct cel_decl *d);

/* A variable that expressions can use. */
struct cel_name {
    struct str name;
    const struct cel_static *type;
    const struct cel_name *next;
};

extern const struct cel_static cel_static_dyn, cel_static_bool, cel_static_int, cel_static_string,
    cel_static_timestamp, cel_static_authorizer, cel_static_request_resource;
const struct cel_static *cel_static_optional(struct arena *a, const struct cel_static *of);
const struct cel_static *cel_static_list(struct arena *a, const struct cel_static *of);
const struct cel_static *cel_static_map(struct arena *a, const struct cel_static *of);
/* As upstream prints it: "list(string)". In the arena. */
const char *cel_static_text(struct arena *a, const struct cel_static *t);

enum {
    CEL_CHECK_ERRORS = 100,  /* errors reported for one expression */
    CEL_CHECK_STEPS = 500000 /* of one check, because types can grow with each use of a variable */
};

struct cel_checked; /* an expression with its types */

/*
 * Errors: E_INVALID, and *ret_flaw has all errors, each with a line and a mark, in the order of
 * their positions. Else *ret is set, and *ret_type to the type of the whole expression.
 */
int cel_check(struct arena *a, const struct cel_expr *e, struct str text,
              const struct cel_name *names, struct cel_checked **ret,
              const struct cel_static **ret_type, struct cel_flaw *ret_flaw);
/*
 * The maximal cost of an evaluation; UINT64_MAX: unbounded. root: the declarations of the
 * variables, which bound the lengths of strings and lists. Call it once for each checked
 * expression.
 */
uint64_t cel_cost(struct arena *a, struct cel_checked *c, const struct cel_decl *root);
