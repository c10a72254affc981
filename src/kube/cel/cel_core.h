/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of an expression with its macros expanded, as upstream's checker sees it, and what the
 * checker and the estimator determine about each node. Shared by cel_check.c and cel_cost.c.
 *
 * A node may have several parents (the target of optMap() does): it is visited once.
 */
#pragma once

#include "kube/cel/cel_int.h"
#include "kube/cel/cel_static.h"

enum core_kind { CORE_LITERAL, CORE_NAME, CORE_SELECT, CORE_CALL, CORE_LIST, CORE_MAP, CORE_LOOP };

/* Classes of functions that differ in how the cost of a call is estimated. */
enum cel_signature_kind {
    SIGNATURE_PLAIN,
    SIGNATURE_ADD_LIST,
    SIGNATURE_ADD_TEXT,
    SIGNATURE_CIDR_IP,
    SIGNATURE_COMPARE_TEXT,
    SIGNATURE_COND,
    SIGNATURE_CONTAINS,
    SIGNATURE_CONTAINS_TEXT,
    SIGNATURE_EQUALS,
    SIGNATURE_FORMAT,
    SIGNATURE_FROM_BYTES,
    SIGNATURE_INDEX_LIST,
    SIGNATURE_INDEX_MAP,
    SIGNATURE_IN_LIST,
    SIGNATURE_LOGICAL,
    SIGNATURE_MATCHES,
    SIGNATURE_PREFIX,
    SIGNATURE_QUOTE,
    SIGNATURE_REVERSE,
    SIGNATURE_SETS,
    SIGNATURE_SETS_EQUIVALENT,
    SIGNATURE_TO_BYTES
};

/*
 * One overload of a function. Types are letters: b bool, i int, u uint, d double, s string, y
 * bytes, D duration, T timestamp, * anything; L list, M map, O optional and Y type, each followed
 * by its parameters; digits are type parameters; I address, C CIDR, Q quantity, S version, U URL, F
 * format, Z authorizer, P, G, R its checks of paths, groups and resources, N its decision.
 */
struct cel_signature {
    const char *name, *args, *result;
    bool member;
    uint8_t kind; /* enum cel_signature_kind */
};

/* All overloads of that name, as an array; NULL: no such function. */
const struct cel_signature *cel_signatures(struct str name, size_t *ret_n);

struct cel_size {
    uint64_t min, max;
};

/* Size estimates of the elements of a list or map. */
struct cel_entry {
    bool known, is_list;
    struct cel_size key, value;
};

struct core;
/*
 * Origin of a value: a path of `n` steps, which are names of fields, and @items, @keys, @values.
 * Paths share their arrays as slices of Go do, so a step appended to one path may replace a step of
 * another. Upstream's estimates depend on that.
 */
struct cel_steps {
    struct str *steps;
    uint32_t n, cap;
};

struct core_loop {
    struct core *range, *init, *cond, *step, *result;
    struct str var, var2, accu; /* var2 "": one variable */
    bool bind;                  /* names a value, and does not iterate */
};

struct core {
    uint8_t kind; /* enum core_kind */
    bool test;    /* CORE_SELECT: has() */
    bool checked, judged, costed;
    uint32_t at; /* offset in the text */
    uint32_t n;
    struct str name;     /* of a variable, field or function */
    struct core *target; /* of a select or method */
    struct core **args;  /* of a call or list; key, value, key, value ... of a map */
    const uint8_t *is_optional;
    const struct cel_value *value;
    struct core_loop *loop;
    /* set by the checker */
    const struct cel_static *type;
    const struct cel_signature *signatures; /* overloads of that function, and those that fit */
    uint32_t fitting;
    /* set by the estimator */
    uint64_t cost_min, cost_max;
    bool has_size;
    struct cel_size size;
    struct cel_entry entry;
    struct cel_steps path;
};

struct cel_checked {
    struct core *root;
    const struct cel_static **bound; /* by CEL_KIND_PARAM's id; NULL: anything */
    size_t n_bound;
    uint64_t steps; /* of merging types: CEL_CHECK_STEPS at most */
};

/* The type with all bound type parameters substituted; unbound ones become anything. */
const struct cel_static *cel_static_final(struct arena *a, struct cel_checked *c,
                                          const struct cel_static *t);
