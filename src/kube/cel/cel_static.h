/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of an expression before it is evaluated: its types, and what it may cost at most.
 *
 * A declaration (struct cel_decl) says what expressions see of a schema: the type, and how many
 * elements or bytes a value can have. cel_check() finds the type of each part of an expression by
 * the rules of upstream's checker and tells every mistake in its words; cel_cost() estimates the
 * worst case by upstream's scale. Both take time in proportion to the expression.
 *
 * Everything lives in the arena it was made in.
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
    CEL_KIND_TYPE, /* of params[0], or of anything */
    CEL_KIND_LIST,
    CEL_KIND_MAP,
    CEL_KIND_OPAQUE, /* optional_type, net.IP, net.CIDR */
    CEL_KIND_OBJECT, /* of a declaration, or one of Kubernetes' own */
    CEL_KIND_PARAM   /* found out while checking */
};

struct cel_decl;

/* A type. Objects with declarations are the same type if the declaration is the same. */
struct cel_static {
    uint8_t kind;                       /* enum cel_kind */
    uint8_t n;                          /* params */
    bool open;                          /* a CEL_KIND_PARAM is in it */
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
    struct arena *a; /* for what is filled later */
    const struct cel_static *type;
    const struct schema *schema; /* NULL: it was made from `given` */
    const struct cel_decl_field *given;
    size_t n_given;
    const char *name;          /* of the whole, where `up` is NULL */
    const struct cel_decl *up; /* what it is a part of */
    struct str part;           /* "spec", "@idx", "@elem" */
    bool is_resource;          /* has apiVersion, kind and metadata, whatever the schema says */
    uint64_t max_elements, min_bytes;
    struct cel_decl *items;        /* of a list or map */
    struct cel_decl **fields;      /* by the schema's order; NULL: not looked at yet */
    const struct schema *metadata; /* of a resource; NULL: its name and generateName alone */
    struct cel_decl *meta[3];      /* of a resource: apiVersion, kind, metadata */
};

/*
 * What expressions see of the schema; NULL: nothing. name: of the type. Kept as long as the
 * declaration: the arena, the schema, the name.
 */
struct cel_decl *cel_decl_new(struct arena *a, const struct schema *s, bool is_resource,
                              const char *name);
/* The same of a custom resource whose metadata is this type and not what rules see of it. */
struct cel_decl *cel_decl_resource(struct arena *a, const struct schema *s,
                                   const struct schema *metadata, const char *name);
/* An object with these fields, kept; they may be filled later. */
struct cel_decl *cel_decl_object(struct arena *a, const char *name,
                                 const struct cel_decl_field *fields, size_t n);
struct cel_decl *cel_decl_of(struct arena *a, const struct cel_static *type);
/* NULL: it has no such field. name: as expressions write it. */
const struct cel_decl *cel_decl_field(const struct cel_decl *d, struct str name);
/* The same by the name in the schema. NULL also where expressions cannot write the name. */
const struct cel_decl *cel_decl_part(const struct cel_decl *d, struct str name);
/* How many times a value like this one fits into the largest request. */
uint64_t cel_decl_cardinality(const struct cel_decl *d);

/* A name that expressions can use. */
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
    CEL_CHECK_ERRORS = 100,  /* mistakes that are told of one expression */
    CEL_CHECK_STEPS = 500000 /* of one check: types can grow with each use of a variable */
};

struct cel_checked; /* an expression with its types */

/*
 * Errors: E_INVALID, and *ret_flaw has all mistakes, a line and a mark for each, in the order of
 * their places. Else *ret is set, and *ret_type to the type of the whole.
 */
int cel_check(struct arena *a, const struct cel_expr *e, struct str text,
              const struct cel_name *names, struct cel_checked **ret,
              const struct cel_static **ret_type, struct cel_flaw *ret_flaw);
/*
 * The most that an evaluation can cost, UINT64_MAX: no bound. root: what the names stand for, which
 * says how long texts and lists in it can be. A checked expression is estimated once.
 */
uint64_t cel_cost(struct arena *a, struct cel_checked *c, const struct cel_decl *root);
