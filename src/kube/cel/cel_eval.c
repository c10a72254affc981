/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the tree of an expression: operators, members, loops. See cel.h. */
#include "kube/cel/cel_int.h"

#include <assert.h>
#include <errno.h>

static int eval(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                struct cel_value *ret);

static const struct cel_var *find_var(const struct cel_var *vars, struct str name)
{
    while (vars && !str_eq(vars->name, name))
        vars = vars->next;
    return vars;
}

/* First words of functions with dotted names. */
static bool is_namespace(struct str name)
{
    static const char *const names[] = { "optional", "sets",    "ip",   "cidr",
                                         "format",   "strings", "lists" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool find_type(struct str name, enum cel_type *ret)
{
    for (int t = 0; t < CEL_JSON; t++) {
        if (!str_is(name, cel_type_name((enum cel_type)t)))
            continue;
        *ret = (enum cel_type)t;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ members */

static int get_field(struct cel_run *run, struct cel_value of, struct str name,
                     const struct cel_value **ret)
{
    of = cel_resolve(run, of);
    if (of.type == CEL_ACCESS && of.access->kind == ACCESS_AUTHORIZER && of.access->by->request &&
        str_is(name, "requestResource")) {
        struct cel_value *v = arena_new(run->a, struct cel_value);
        *v = (struct cel_value){ .type = CEL_ACCESS, .access = of.access->by->request };
        *ret = v;
        return 0;
    }
    if (of.type == CEL_OPTIONAL) {
        *ret = NULL;
        return of.held ? get_field(run, *of.held, name, ret) : 0;
    }
    if (of.type != CEL_MAP)
        return cel_no_overload(run);
    *ret = cel_find(run, of, cel_string(name));
    if (*ret || !of.schema || of.schema->type != SCHEMA_OBJECT)
        return 0;
    *ret = cel_find(run, of, cel_string(cel_unescape(run->a, name)));
    return 0;
}

static int eval_field(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                      struct cel_value *ret)
{
    struct cel_value of;
    const struct cel_value *field;
    int r = eval(run, e->args[0], vars, &of);
    if (r >= 0)
        r = get_field(run, of, e->name, &field);
    if (r < 0)
        return r;
    if (e->op == CEL_OP_HAS) {
        *ret = cel_bool(field != NULL);
        return 0;
    }
    if (e->op == CEL_OP_MAYBE || of.type == CEL_OPTIONAL) {
        *ret = cel_optional(run->a, field);
        return 0;
    }
    if (!field)
        return cel_error(run, "no such key: " STR_FMT, STR_ARG(e->name));
    *ret = cel_resolve(run, *field);
    return 0;
}

static int list_at(struct cel_run *run, struct cel_value list, struct cel_value at,
                   const struct cel_value **ret)
{
    int64_t i = at.i;
    *ret = NULL;
    if (at.type == CEL_UINT)
        i = at.u > INT64_MAX ? INT64_MAX : (int64_t)at.u;
    else if (at.type == CEL_DOUBLE && at.d >= 0 && at.d < 4e9 && at.d == (double)(int64_t)at.d)
        i = (int64_t)at.d;
    else if (at.type != CEL_INT)
        return cel_no_overload(run);
    if (i < 0 || i >= (int64_t)list.n)
        return 0;
    *ret = &list.list[i];
    return 0;
}

static int eval_index(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                      struct cel_value *ret)
{
    struct cel_value of, at;
    const struct cel_value *found = NULL;
    int r = eval(run, e->args[0], vars, &of);
    if (r >= 0)
        r = eval(run, e->args[1], vars, &at);
    if (r < 0)
        return r;
    bool maybe = e->op == CEL_OP_MAYBE_AT || of.type == CEL_OPTIONAL;
    if (of.type == CEL_OPTIONAL && of.held)
        of = cel_resolve(run, *of.held);
    if (of.type == CEL_LIST)
        r = list_at(run, of, at, &found);
    else if (of.type == CEL_MAP)
        found = cel_find(run, of, at);
    else if (of.type != CEL_OPTIONAL)
        r = cel_no_overload(run);
    if (r < 0)
        return r;
    if (maybe) {
        *ret = cel_optional(run->a, found);
        return 0;
    }
    if (!found && of.type == CEL_LIST)
        return cel_error(run, "index out of bounds: %lld", (long long)at.i);
    if (!found && at.type == CEL_STRING)
        return cel_error(run, "no such key: " STR_FMT, STR_ARG(at.s));
    if (!found)
        return cel_error(run, "no such key: %lld", (long long)at.i);
    *ret = cel_resolve(run, *found);
    return 0;
}

/* ------------------------------------------------------------------ logic */

/* If one side decides the result, an error of the other side is ignored. */
static int eval_logic(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                      struct cel_value *ret)
{
    bool decides = e->op == CEL_OP_OR;
    struct cel_value x = { 0 }, y = { 0 };
    int r = eval(run, e->args[0], vars, &x);
    if (r == E_LIMIT)
        return r;
    if (r >= 0 && x.type == CEL_BOOL && x.b == decides) {
        *ret = x;
        return 0;
    }
    struct err first = run->err;
    int k = eval(run, e->args[1], vars, &y);
    if (k == E_LIMIT)
        return k;
    if (k >= 0 && y.type == CEL_BOOL && y.b == decides) {
        *ret = y;
        return 0;
    }
    if (r < 0) {
        run->err = first;
        return r;
    }
    if (k < 0)
        return k;
    if (x.type != CEL_BOOL || y.type != CEL_BOOL)
        return cel_no_overload(run);
    *ret = y;
    return 0;
}

static int eval_cond(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                     struct cel_value *ret)
{
    struct cel_value c;
    int r = eval(run, e->args[0], vars, &c);
    if (r < 0)
        return r;
    if (c.type != CEL_BOOL)
        return cel_no_overload(run);
    return eval(run, e->args[c.b ? 1 : 2], vars, ret);
}

static int contains(struct cel_run *run, struct cel_value x, struct cel_value in, bool *ret)
{
    if (in.type == CEL_MAP) {
        *ret = cel_find(run, in, x) != NULL;
        return 0;
    }
    if (in.type != CEL_LIST)
        return cel_no_overload(run);
    *ret = false;
    for (size_t i = 0; i < in.n && !*ret; i++)
        *ret = cel_equal(run, x, in.list[i]);
    return cel_spend(run, 0);
}

static int eval_binary(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                       struct cel_value *ret)
{
    struct cel_value x, y;
    int order = 0;
    bool found = false;
    int r = eval(run, e->args[0], vars, &x);
    if (r >= 0)
        r = eval(run, e->args[1], vars, &y);
    if (r < 0)
        return r;
    switch ((enum cel_op)e->op) {
    case CEL_OP_EQ:
    case CEL_OP_NE:
        *ret = cel_bool(cel_equal(run, x, y) == (e->op == CEL_OP_EQ));
        return cel_spend(run, 0);
    case CEL_OP_LT:
    case CEL_OP_LE:
    case CEL_OP_GT:
    case CEL_OP_GE: {
        bool nan = (x.type == CEL_DOUBLE && x.d != x.d) || (y.type == CEL_DOUBLE && y.d != y.d);
        if (!cel_compare(run, x, y, &order) && !nan)
            return cel_no_overload(run);
        *ret = cel_bool(!nan && (e->op == CEL_OP_LT   ? order < 0
                                 : e->op == CEL_OP_LE ? order <= 0
                                 : e->op == CEL_OP_GT ? order > 0
                                                      : order >= 0));
        return cel_spend(run, 0);
    }
    case CEL_OP_IN:
        r = contains(run, x, y, &found);
        *ret = cel_bool(found);
        return r;
    default:
        return cel_arithmetic(run, (enum cel_op)e->op, x, y, ret);
    }
}

static int eval_unary(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                      struct cel_value *ret)
{
    struct cel_value x;
    int r = eval(run, e->args[0], vars, &x);
    if (r < 0)
        return r;
    if (e->op == CEL_OP_NOT && x.type == CEL_BOOL) {
        *ret = cel_bool(!x.b);
        return 0;
    }
    if (e->op == CEL_OP_NEG && x.type == CEL_DOUBLE) {
        *ret = cel_double(-x.d);
        return 0;
    }
    if (e->op == CEL_OP_NEG && (x.type == CEL_INT || x.type == CEL_DURATION)) {
        *ret = x;
        return __builtin_sub_overflow((int64_t)0, x.i, &ret->i) ? cel_error(run, "integer overflow")
                                                                : 0;
    }
    return cel_no_overload(run);
}

/* ------------------------------------------------------------------ literals */

/* Unwraps an element written with '?'; 0: it has no value. */
static int take_optional(struct cel_run *run, struct cel_value *v)
{
    if (v->type != CEL_OPTIONAL)
        return cel_no_overload(run);
    if (!v->held)
        return 0;
    *v = *v->held;
    return 1;
}

static int eval_list(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                     struct cel_value *ret)
{
    struct cel_value *all = arena_new_n(run->a, struct cel_value, e->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        int there = 1, r = eval(run, e->args[i], vars, &all[n]);
        if (r >= 0 && e->is_optional && e->is_optional[i])
            r = there = take_optional(run, &all[n]);
        if (r < 0)
            return r;
        n += (size_t)there;
    }
    *ret = cel_list(all, n);
    return 0;
}

static int eval_map(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                    struct cel_value *ret)
{
    struct cel_pair *all = arena_new_n(run->a, struct cel_pair, e->n / 2 + 1);
    struct cel_value map = { .type = CEL_MAP, .pairs = all };
    for (size_t i = 0; i + 1 < e->n; i += 2) {
        struct cel_pair *p = &all[map.n];
        int there = 1, r = eval(run, e->args[i], vars, &p->key);
        if (r >= 0)
            r = eval(run, e->args[i + 1], vars, &p->value);
        if (r >= 0 && e->is_optional && e->is_optional[i])
            r = there = take_optional(run, &p->value);
        if (r < 0)
            return r;
        if (cel_find(run, map, p->key))
            return cel_error(run, "Failed with repeated key");
        map.n += (uint32_t)there;
    }
    *ret = map;
    return 0;
}

/* ------------------------------------------------------------------ loops */

/* The range of a loop, and its result so far. */
struct loop_state {
    const struct cel_expr *e;
    struct cel_value range;
    struct cel_value *items; /* of a list */
    struct cel_pair *pairs;  /* of a map */
    size_t n;                /* results, or bodies that were true */
    bool done;
    struct cel_value result;
    int r; /* error of a body; a later body may still decide the result */
    struct err err;
};

static int eval_bool(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                     bool *ret)
{
    struct cel_value v;
    int r = eval(run, e, vars, &v);
    if (r >= 0 && v.type != CEL_BOOL)
        r = cel_no_overload(run);
    if (r >= 0)
        *ret = v.b;
    return r;
}

/* all and exists: like a chain of && or ||, in which a deciding body outweighs errors. */
static int step_quantor(struct cel_run *run, struct loop_state *s, const struct cel_var *vars)
{
    bool b = false, decides = s->e->loop == LOOP_EXISTS;
    int r = eval_bool(run, s->e->args[1], vars, &b);
    if (r == E_LIMIT)
        return r;
    if (r < 0 && s->r == 0) {
        s->r = r;
        s->err = run->err;
    }
    if (r >= 0 && b == decides) {
        s->done = true;
        s->r = 0;
        s->result = cel_bool(decides);
    }
    return 0;
}

static int add_entries(struct cel_run *run, struct loop_state *s, struct cel_value made)
{
    made = cel_resolve(run, made);
    if (made.type != CEL_MAP || made.n > 1)
        return cel_no_overload(run);
    if (made.n == 1)
        s->pairs[s->n++] = made.pairs[0];
    return 0;
}

/* filter and the macros that make a result from each element. */
static int step_maker(struct cel_run *run, struct loop_state *s, const struct cel_var *vars,
                      struct cel_value key, struct cel_value element)
{
    const struct cel_expr *e = s->e;
    bool wanted = true;
    struct cel_value made = element;
    bool has_filter = e->loop == LOOP_FILTER || e->loop == LOOP_EXISTS_ONE || e->n == 3;
    int r = has_filter ? eval_bool(run, e->args[1], vars, &wanted) : 0;
    if (r < 0 || !wanted)
        return r;
    if (e->loop != LOOP_FILTER && e->loop != LOOP_EXISTS_ONE)
        r = eval(run, e->args[e->n - 1], vars, &made);
    if (r < 0)
        return r;
    assert(s->n < s->range.n); /* one result of each element */
    if (e->loop == LOOP_ENTRIES)
        return add_entries(run, s, made);
    if (e->loop == LOOP_VALUES)
        s->pairs[s->n] = (struct cel_pair){ key, made };
    else if (e->loop != LOOP_EXISTS_ONE)
        s->items[s->n] = made;
    s->n++;
    return 0;
}

static int step(struct cel_run *run, struct loop_state *s, const struct cel_var *vars, size_t i)
{
    const struct cel_expr *e = s->e;
    bool map = s->range.type == CEL_MAP;
    struct cel_value key = map ? s->range.pairs[i].key : cel_int((int64_t)i);
    struct cel_value value = map ? s->range.pairs[i].value : s->range.list[i];
    bool two = e->name2.n > 0;
    struct cel_value element = map ? key : value;
    const struct cel_var second = { e->name2, cel_resolve(run, value), vars };
    const struct cel_var first = { e->name, two ? key : cel_resolve(run, element),
                                   two ? &second : vars };
    int r = cel_spend(run, 1);
    if (r < 0)
        return r;
    if (e->loop == LOOP_ALL || e->loop == LOOP_EXISTS)
        return step_quantor(run, s, &first);
    return step_maker(run, s, &first, key, two ? value : element);
}

static void finish(struct loop_state *s)
{
    switch ((enum cel_loop)s->e->loop) {
    case LOOP_ALL:
    case LOOP_EXISTS:
        s->result = cel_bool(s->e->loop == LOOP_ALL);
        return;
    case LOOP_EXISTS_ONE:
        s->result = cel_bool(s->n == 1);
        return;
    case LOOP_VALUES:
    case LOOP_ENTRIES:
        s->result = (struct cel_value){ .type = CEL_MAP, .n = (uint32_t)s->n, .pairs = s->pairs };
        return;
    case LOOP_FILTER:
    case LOOP_MAP:
    case LOOP_LIST:
        s->result = cel_list(s->items, s->n);
        return;
    case LOOP_OPT_MAP:
    case LOOP_OPT_FLAT_MAP:
        return;
    }
}

static int eval_optional_loop(struct cel_run *run, const struct cel_expr *e,
                              const struct cel_var *vars, struct cel_value of,
                              struct cel_value *ret)
{
    struct cel_value made;
    if (of.type != CEL_OPTIONAL)
        return cel_no_overload(run);
    if (!of.held) {
        *ret = of;
        return 0;
    }
    const struct cel_var var = { e->name, cel_resolve(run, *of.held), vars };
    int r = eval(run, e->args[1], &var, &made);
    if (r < 0)
        return r;
    if (e->loop == LOOP_OPT_FLAT_MAP && made.type != CEL_OPTIONAL)
        return cel_no_overload(run);
    *ret = e->loop == LOOP_OPT_MAP ? cel_optional(run->a, &made) : made;
    return 0;
}

static int eval_loop(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                     struct cel_value *ret)
{
    struct loop_state s = { .e = e };
    int r = eval(run, e->args[0], vars, &s.range);
    if (r < 0)
        return r;
    if (e->loop == LOOP_OPT_MAP || e->loop == LOOP_OPT_FLAT_MAP)
        return eval_optional_loop(run, e, vars, s.range, ret);
    if (s.range.type != CEL_LIST && s.range.type != CEL_MAP)
        return cel_no_overload(run);
    bool makes_map = e->loop == LOOP_VALUES || e->loop == LOOP_ENTRIES;
    bool makes_list = e->loop == LOOP_FILTER || e->loop == LOOP_MAP || e->loop == LOOP_LIST;
    if (makes_map)
        s.pairs = arena_new_n(run->a, struct cel_pair, s.range.n + 1);
    else if (makes_list)
        s.items = arena_new_n(run->a, struct cel_value, s.range.n + 1);
    for (size_t i = 0; i < s.range.n && !s.done && r >= 0; i++)
        r = step(run, &s, vars, i);
    if (r < 0)
        return r;
    if (s.r < 0) {
        run->err = s.err;
        return s.r;
    }
    if (!s.done)
        finish(&s);
    *ret = s.result;
    return 0;
}

/* ------------------------------------------------------------------ calls */

enum { ARGS_MAX = 16 };

static int eval_call(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                     struct cel_value *ret)
{
    struct cel_value args[ARGS_MAX];
    size_t from = 0;
    struct str name = e->name;
    bool method = e->op == CEL_OP_METHOD;
    if (e->n > ARGS_MAX)
        return cel_no_overload(run);
    assert(!method || e->n > 0);
    if (method && e->args[0]->op == CEL_OP_NAME && is_namespace(e->args[0]->name) &&
        !find_var(vars, e->args[0]->name)) {
        name = str_of(
            arena_printf(run->a, STR_FMT "." STR_FMT, STR_ARG(e->args[0]->name), STR_ARG(name)));
        method = false;
        from = 1;
    }
    for (size_t i = from; i < e->n; i++) {
        int r = eval(run, e->args[i], vars, &args[i - from]);
        if (r < 0)
            return r;
    }
    /* Arguments are evaluated eagerly; only `or` and `orValue` take one that they may not need. */
    int r = cel_call(run, name, method, args, e->n - from, ret);
    if (r == E_UNSUPPORTED)
        r = cel_call_library(run, name, method, args, e->n - from, ret);
    if (r == E_UNSUPPORTED)
        r = cel_call_lists(run, name, method, args, e->n - from, ret);
    if (r == E_UNSUPPORTED)
        r = cel_call_access(run, name, method, args, e->n - from, ret);
    return r == E_UNSUPPORTED ? cel_no_overload(run) : r;
}

static int eval_name(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                     struct cel_value *ret)
{
    const struct cel_var *v = find_var(vars, e->name);
    enum cel_type type;
    if (v) {
        *ret = cel_resolve(run, v->value);
        return 0;
    }
    if (find_type(e->name, &type)) {
        *ret = (struct cel_value){ .type = CEL_TYPE, .i = type };
        return 0;
    }
    return cel_error(run, "no such attribute(s): " STR_FMT, STR_ARG(e->name));
}

static int eval_any(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                    struct cel_value *ret)
{
    switch ((enum cel_op)e->op) {
    case CEL_OP_LITERAL:
        *ret = e->value;
        return 0;
    case CEL_OP_NAME:
        return eval_name(run, e, vars, ret);
    case CEL_OP_SELECT:
    case CEL_OP_HAS:
    case CEL_OP_MAYBE:
        return eval_field(run, e, vars, ret);
    case CEL_OP_INDEX:
    case CEL_OP_MAYBE_AT:
        return eval_index(run, e, vars, ret);
    case CEL_OP_CALL:
    case CEL_OP_METHOD:
        return eval_call(run, e, vars, ret);
    case CEL_OP_LIST:
        return eval_list(run, e, vars, ret);
    case CEL_OP_MAP:
        return eval_map(run, e, vars, ret);
    case CEL_OP_LOOP:
        return eval_loop(run, e, vars, ret);
    case CEL_OP_COND:
        return eval_cond(run, e, vars, ret);
    case CEL_OP_OR:
    case CEL_OP_AND:
        return eval_logic(run, e, vars, ret);
    case CEL_OP_NOT:
    case CEL_OP_NEG:
        return eval_unary(run, e, vars, ret);
    case CEL_OP_LT:
    case CEL_OP_LE:
    case CEL_OP_GT:
    case CEL_OP_GE:
    case CEL_OP_EQ:
    case CEL_OP_NE:
    case CEL_OP_IN:
    case CEL_OP_ADD:
    case CEL_OP_SUB:
    case CEL_OP_MUL:
    case CEL_OP_DIV:
    case CEL_OP_MOD:
        return eval_binary(run, e, vars, ret);
    }
    return cel_no_overload(run);
}

static int eval(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
                struct cel_value *ret)
{
    int r = e->op == CEL_OP_LITERAL ? 0 : cel_spend(run, 1);
    if (r >= 0)
        r = eval_any(run, e, vars, ret);
    if (r >= 0 && run->a->total_bytes > CEL_MEMORY_MAX)
        r = cel_spend(run, run->cost_max);
    return r;
}

int cel_eval(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
             struct cel_value *ret)
{
    struct cel_value v = { 0 };
    if (run->cost_max == 0)
        run->cost_max = CEL_COST_MAX;
    int r =
        budget_is_over(run->a->budget) ? cel_spend(run, run->cost_max + 1) : eval(run, e, vars, &v);
    (void)arena_spend(run->a, MIN(run->cost, run->cost_max) * CEL_STEPS_PER_COST,
                      "evaluating expressions");
    if (r >= 0)
        *ret = cel_resolve(run, v);
    return r;
}
