/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `authorizer` of policies: checks the rights of the user, or of a ServiceAccount.
 *
 *     authorizer -.path(p)-> check -.check(verb)-> decision -.allowed()-> bool
 *         |      -.group(g)-> group -.resource(r)-> check, with .namespace(), .name(), ...
 *         +-.serviceAccount(ns, name)-> authorizer
 */
#include "kube/cel/cel_int.h"

enum { CHECK_COST = 350000 }; /* upstream's cost */

static struct cel_value of_access(struct cel_run *run, struct cel_access x)
{
    struct cel_access *kept = arena_new(run->a, struct cel_access);
    *kept = x;
    return (struct cel_value){ .type = CEL_ACCESS, .access = kept };
}

struct cel_value cel_authorizer(struct arena *a, const struct cel_authorizer *by)
{
    struct cel_access *x = arena_new(a, struct cel_access);
    *x = (struct cel_access){ .kind = ACCESS_AUTHORIZER, .by = by };
    return (struct cel_value){ .type = CEL_ACCESS, .access = x };
}

/* Copies the value v[0], which must be of that kind; the arguments after it must be strings. */
static int take(struct cel_run *run, const struct cel_value *v, size_t n, enum cel_access_kind kind,
                struct cel_access *ret)
{
    if (v->type != CEL_ACCESS || v->access->kind != kind)
        return cel_no_overload(run);
    for (size_t i = 1; i < n; i++)
        if (v[i].type != CEL_STRING)
            return cel_no_overload(run);
    *ret = *v->access;
    return 0;
}

#define QUESTIONS(X)                                                                               \
    X(fn_path, ACCESS_AUTHORIZER, path, ACCESS_PATH)                                               \
    X(fn_group, ACCESS_AUTHORIZER, group, ACCESS_GROUP)                                            \
    X(fn_resource, ACCESS_GROUP, resource, ACCESS_RESOURCE)                                        \
    X(fn_subresource, ACCESS_RESOURCE, subresource, ACCESS_RESOURCE)                               \
    X(fn_namespace, ACCESS_RESOURCE, ns, ACCESS_RESOURCE)                                          \
    X(fn_name, ACCESS_RESOURCE, name, ACCESS_RESOURCE)                                             \
    X(fn_selector, ACCESS_RESOURCE, selector, ACCESS_RESOURCE)
#define QUESTION(fn, from, member, to)                                                             \
    static int fn(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret) \
    {                                                                                              \
        struct cel_access x;                                                                       \
        int r = take(run, v, n, from, &x);                                                         \
        if (r < 0)                                                                                 \
            return r;                                                                              \
        x.member = v[1].s;                                                                         \
        x.kind = to;                                                                               \
        *ret = of_access(run, x);                                                                  \
        return 0;                                                                                  \
    }
QUESTIONS(QUESTION)

static int fn_account(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    struct cel_access x;
    int r = take(run, v, n, ACCESS_AUTHORIZER, &x);
    if (r < 0)
        return r;
    x.account_ns = v[1].s;
    x.account = v[2].s;
    *ret = of_access(run, x);
    return 0;
}

static int fn_check(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct cel_access x;
    bool path = v->type == CEL_ACCESS && v->access->kind == ACCESS_PATH;
    int r = take(run, v, n, path ? ACCESS_PATH : ACCESS_RESOURCE, &x);
    if (r >= 0)
        r = cel_spend(run, CHECK_COST);
    if (r < 0)
        return r;
    x.kind = ACCESS_DECISION;
    x.allowed = x.by->allows(x.by->arg, &x, path, v[1].s);
    *ret = of_access(run, x);
    return 0;
}

static int fn_allowed(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    struct cel_access x;
    int r = take(run, v, n, ACCESS_DECISION, &x);
    *ret = cel_bool(r >= 0 && x.allowed);
    return r;
}

/* Decisions made here are never errors, and have no reason. */
static int fn_errored(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    struct cel_access x;
    *ret = cel_bool(false);
    return take(run, v, n, ACCESS_DECISION, &x);
}

static int fn_reason(struct cel_run *run, const struct cel_value *v, size_t n,
                     struct cel_value *ret)
{
    struct cel_access x;
    *ret = cel_string(STR(""));
    return take(run, v, n, ACCESS_DECISION, &x);
}

static const struct cel_function functions[] = {
    { "path", CEL_METHOD, 2, 2, fn_path },
    { "group", CEL_METHOD, 2, 2, fn_group },
    { "serviceAccount", CEL_METHOD, 3, 3, fn_account },
    { "resource", CEL_METHOD, 2, 2, fn_resource },
    { "subresource", CEL_METHOD, 2, 2, fn_subresource },
    { "namespace", CEL_METHOD, 2, 2, fn_namespace },
    { "name", CEL_METHOD, 2, 2, fn_name },
    { "fieldSelector", CEL_METHOD, 2, 2, fn_selector },
    { "labelSelector", CEL_METHOD, 2, 2, fn_selector },
    { "check", CEL_METHOD, 2, 2, fn_check },
    { "allowed", CEL_METHOD, 1, 1, fn_allowed },
    { "errored", CEL_METHOD, 1, 1, fn_errored },
    { "error", CEL_METHOD, 1, 1, fn_reason },
    { "reason", CEL_METHOD, 1, 1, fn_reason },
};

int cel_call_access(struct cel_run *run, struct str name, bool method, const struct cel_value *args,
                    size_t n, struct cel_value *ret)
{
    return cel_call_of(functions, ARRAY_LEN(functions), run, name, method, args, n, ret);
}
