/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of an expression with its macros written out, as upstream's checker sees it, and what
 * is found out about each part. Shared by cel_check.c and cel_cost.c.
 *
 * A part may stand in several places (the target of optMap() does): it is looked at once.
 */
#pragma once

#include "kube/cel/cel_int.h"
#include "kube/cel/cel_static.h"

enum core_kind { CORE_LITERAL, CORE_NAME, CORE_SELECT, CORE_CALL, CORE_LIST, CORE_MAP, CORE_LOOP };

/* What matters for the cost of a call. */
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
 * One way of calling a function. Types are letters: b bool, i int, u uint, d double, s string,
 * y bytes, D duration, T timestamp, * anything, L list, M map, O optional and Y type of what
 * follows, digits what is found out; I address, C CIDR, Q quantity, S version, U URL, F format,
 * Z authorizer, P, G, R its checks of paths, groups and resources, N its decision.
 */
struct cel_signature {
    const char *name, *args, *result;
    bool member;
    uint8_t kind; /* enum cel_signature_kind */
};

/* All of that name, one behind the other; NULL: there is none. */
const struct cel_signature *cel_signatures(struct str name, size_t *ret_n);

struct cel_size {
    uint64_t min, max;
};

/* What is known of the elements of a list or map. */
struct cel_entry {
    bool known, is_list;
    struct cel_size key, value;
};

struct core;
/*
 * Where a value comes from: names of fields, and @items, @keys, @values, of a path of `n` steps.
 * Paths share their arrays as slices of Go do, and a step appended to one may replace a step of
 * another. Upstream's estimates depend on that.
 */
struct cel_steps {
    struct str *steps;
    uint32_t n, cap;
};

struct core_loop {
    struct core *range, *init, *cond, *step, *result;
    struct str var, var2, accu; /* var2 "": one variable */
    bool bind;                  /* it names a value, and runs nothing */
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
    /* found by the checker */
    const struct cel_static *type;
    const struct cel_signature *signatures; /* of that function, and which of them fit */
    uint32_t fitting;
    /* found by the estimator */
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
    uint64_t steps; /* of putting types together: CEL_CHECK_STEPS at most */
};

/* With what was found out put in; what was not can be anything. */
const struct cel_static *cel_static_final(struct arena *a, struct cel_checked *c,
                                          const struct cel_static *t);
