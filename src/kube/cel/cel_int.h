/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of an expression, and helpers shared by the parts of the evaluator. */
#pragma once

#include "kube/cel/cel.h"

#define CEL_OPS(X)                                                                                 \
    X(CEL_OP_LITERAL, "")                                                                          \
    X(CEL_OP_NAME, "")                                                                             \
    X(CEL_OP_SELECT, "")   /* args[0].name */                                                      \
    X(CEL_OP_HAS, "")      /* has(args[0].name) */                                                 \
    X(CEL_OP_MAYBE, "")    /* args[0].?name */                                                     \
    X(CEL_OP_INDEX, "")    /* args[0][args[1]] */                                                  \
    X(CEL_OP_MAYBE_AT, "") /* args[0][?args[1]] */                                                 \
    X(CEL_OP_CALL, "")     /* name(args) */                                                        \
    X(CEL_OP_METHOD, "")   /* args[0].name(args[1], ...) */                                        \
    X(CEL_OP_LIST, "")                                                                             \
    X(CEL_OP_MAP, "") /* args: key, value, key, value ... */                                       \
    X(CEL_OP_LOOP, "")                                                                             \
    X(CEL_OP_COND, "_?_:_")                                                                        \
    X(CEL_OP_OR, "_||_")                                                                           \
    X(CEL_OP_AND, "_&&_")                                                                          \
    X(CEL_OP_LT, "_<_")                                                                            \
    X(CEL_OP_LE, "_<=_")                                                                           \
    X(CEL_OP_GT, "_>_")                                                                            \
    X(CEL_OP_GE, "_>=_")                                                                           \
    X(CEL_OP_EQ, "_==_")                                                                           \
    X(CEL_OP_NE, "_!=_")                                                                           \
    X(CEL_OP_IN, "@in")                                                                            \
    X(CEL_OP_ADD, "_+_")                                                                           \
    X(CEL_OP_SUB, "_-_")                                                                           \
    X(CEL_OP_MUL, "_*_")                                                                           \
    X(CEL_OP_DIV, "_/_")                                                                           \
    X(CEL_OP_MOD, "_%_")                                                                           \
    X(CEL_OP_NOT, "!_")                                                                            \
    X(CEL_OP_NEG, "-_")

enum cel_op {
#define CEL_OP_ENUM(name, text) name,
    CEL_OPS(CEL_OP_ENUM)
#undef CEL_OP_ENUM
};

/*
 * Macros that loop. args: range, body[, second body]; the names of the variables are in `name` and
 * `name2`.
 */
#define CEL_LOOPS(X)                                                                               \
    X(LOOP_ALL, "all")                                                                             \
    X(LOOP_EXISTS, "exists")                                                                       \
    X(LOOP_EXISTS_ONE, "exists_one")                                                               \
    X(LOOP_FILTER, "filter")                                                                       \
    X(LOOP_MAP, "map") /* with two bodies the first is the filter */                               \
    X(LOOP_LIST, "transformList")                                                                  \
    X(LOOP_VALUES, "transformMap")                                                                 \
    X(LOOP_ENTRIES, "transformMapEntry")                                                           \
    X(LOOP_OPT_MAP, "optMap")                                                                      \
    X(LOOP_OPT_FLAT_MAP, "optFlatMap")

enum cel_loop {
#define CEL_LOOP_ENUM(name, text) name,
    CEL_LOOPS(CEL_LOOP_ENUM)
#undef CEL_LOOP_ENUM
};

struct cel_expr {
    uint8_t op;     /* enum cel_op */
    uint8_t loop;   /* enum cel_loop */
    uint16_t depth; /* of the subtree, this node included */
    uint32_t at;    /* offset in the text */
    uint32_t n;     /* args */
    const struct cel_expr **args;
    struct str name, name2;
    struct cel_value value;     /* of a literal */
    const uint8_t *is_optional; /* elements of a list or map written with '?'; NULL: none */
};

/* Sets *ret to "ERROR: <input>:1:6: WHAT" and the line with a mark below it. */
void cel_fail_at(struct arena *a, struct cel_flaw *ret, struct str text, size_t at, const char *fmt,
                 ...) __attribute__((format(printf, 5, 6)));

/* Values collected in the run's arena. */
struct cel_items {
    struct cel_value *p;
    size_t n, cap;
};
int cel_push(struct cel_run *run, struct cel_items *to, struct cel_value v); /* as cel_take() */
int cel_compare_semver(const struct cel_semver *x, const struct cel_semver *y);

/* ---- values (cel_value.c) ---- */

struct cel_value cel_bool(bool b);
struct cel_value cel_int(int64_t i);
struct cel_value cel_double(double d);
struct cel_value cel_string(struct str s);
struct cel_value cel_list(const struct cel_value *p, size_t n);
/* Converts a CEL_JSON value; returns other values as they are. Lists and maps: one level deep. */
struct cel_value cel_resolve(struct cel_run *run, struct cel_value v);
bool cel_equal(struct cel_run *run, struct cel_value x, struct cel_value y);
/* false: the values have no order. */
bool cel_compare(struct cel_run *run, struct cel_value x, struct cel_value y, int *ret);
/* The member of a map; NULL: not present. */
const struct cel_value *cel_find(struct cel_run *run, struct cel_value map, struct cel_value key);
/* A field's name as in the schema: "a__dash__b" is "a-b". */
struct str cel_unescape(struct arena *a, struct str name);
size_t cel_runes(struct str s);
/* Add to the run's cost; E_LIMIT beyond the maximum. */
int cel_spend(struct cel_run *run, uint64_t cost);
bool cel_is_spent(const struct cel_run *run); /* the next step will fail: stop early */
/*
 * Allocates n * size zeroed bytes, for values that an expression may make large. On E_LIMIT nothing
 * is allocated.
 */
int cel_take(struct cel_run *run, size_t n, size_t size, void **ret);
struct buf;
/* "10.0.0.0/8" */
bool cel_print_address(struct buf *to, const struct cel_value *v);
int cel_error(struct cel_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cel_no_overload(struct cel_run *run);

/* ---- functions (cel_functions.c, cel_library.c, cel_lists.c) ---- */

/* x.sortBy(e, key): called with x and the list of keys. */
#define CEL_SORT_BY "@sortByAssociatedKeys"
int cel_reverse_list(struct cel_run *run, const struct cel_value *list, struct cel_value *ret);

/* A row of the tables that the files above have. */
enum cel_how { CEL_FUNCTION = 1, CEL_METHOD = 2 };
struct cel_function {
    const char *name;
    uint8_t how, n_min, n_max; /* arguments, the target included */
    int (*fn)(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret);
};
/* args: for a method, the target first. E_UNSUPPORTED: no function of that name. */
int cel_call_of(const struct cel_function *rows, size_t n_rows, struct cel_run *run,
                struct str name, bool method, const struct cel_value *args, size_t n,
                struct cel_value *ret);
int cel_call(struct cel_run *run, struct str name, bool method, const struct cel_value *args,
             size_t n, struct cel_value *ret);
int cel_call_library(struct cel_run *run, struct str name, bool method,
                     const struct cel_value *args, size_t n, struct cel_value *ret);
int cel_call_lists(struct cel_run *run, struct str name, bool method, const struct cel_value *args,
                   size_t n, struct cel_value *ret);
int cel_call_access(struct cel_run *run, struct str name, bool method, const struct cel_value *args,
                    size_t n, struct cel_value *ret);
int cel_arithmetic(struct cel_run *run, enum cel_op op, struct cel_value x, struct cel_value y,
                   struct cel_value *ret);
