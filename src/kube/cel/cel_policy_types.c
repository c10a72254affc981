/* SPDX-License-Identifier: Apache-2.0 */
/* Type checking of the expressions of policies; see cel_policy.h. */
#include "kube/cel/cel_policy.h"

#include "base/buf.h"
#include "codec/json.h"
#include "kube/cel/cel_static.h"
#include "kube/model/builtin.h"

#include <assert.h>

/* ------------------------------------------------------------------ variables */

/* The variables of a policy while it is checked: each sees only the earlier ones. */
struct names {
    struct arena *a;
    const struct cel_name *with_access, *without; /* with and without `authorizer` */
    const struct cel_name *stateless;             /* with `authorizer`, without `variables` */
    struct cel_decl *variables;
    struct cel_decl_field *fields; /* of `variables` */
};

static const struct cel_decl *simple(struct arena *a, const struct cel_static *type)
{
    return cel_decl_of(a, type);
}

struct given {
    const char *name;
    const struct cel_static *type;
    const struct cel_decl *decl; /* instead of type */
};

static struct cel_decl *object(struct arena *a, const char *name, const struct given *fields,
                               size_t n)
{
    struct cel_decl_field *f = arena_new_n(a, struct cel_decl_field, n);
    for (size_t i = 0; i < n; i++)
        f[i] =
            (struct cel_decl_field){ str_of(fields[i].name),
                                     fields[i].decl ? fields[i].decl : simple(a, fields[i].type) };
    return cel_decl_object(a, name, f, n);
}

#define OBJECT(a, name, ...)                                                                       \
    object(a, name, (const struct given[]){ __VA_ARGS__ },                                         \
           sizeof((const struct given[]){ __VA_ARGS__ }) / sizeof(struct given))

static const struct cel_decl *request_decl(struct arena *a)
{
    const struct cel_static *text = &cel_static_string, *texts = cel_static_list(a, text);
    const struct cel_decl *kind = OBJECT(a, "kubernetes.GroupVersionKind", { "group", text, NULL },
                                         { "version", text, NULL }, { "kind", text, NULL });
    const struct cel_decl *resource =
        OBJECT(a, "kubernetes.GroupVersionResource", { "group", text, NULL },
               { "version", text, NULL }, { "resource", text, NULL });
    const struct cel_decl *user =
        OBJECT(a, "kubernetes.UserInfo", { "username", text, NULL }, { "uid", text, NULL },
               { "groups", texts, NULL }, { "extra", cel_static_map(a, texts), NULL });
    return OBJECT(a, "kubernetes.AdmissionRequest", { "kind", NULL, kind },
                  { "resource", NULL, resource }, { "subResource", text, NULL },
                  { "requestKind", NULL, kind }, { "requestResource", NULL, resource },
                  { "requestSubResource", text, NULL }, { "name", text, NULL },
                  { "namespace", text, NULL }, { "operation", text, NULL },
                  { "userInfo", NULL, user }, { "dryRun", &cel_static_bool, NULL },
                  { "options", &cel_static_dyn, NULL });
}

static const struct cel_decl *namespace_decl(struct arena *a)
{
    const struct cel_static *text = &cel_static_string, *texts = cel_static_list(a, text),
                            *map = cel_static_map(a, text), *time = &cel_static_timestamp;
    const struct cel_decl *condition = OBJECT(
        a, "kubernetes.NamespaceCondition", { "status", text, NULL }, { "type", text, NULL },
        { "lastTransitionTime", time, NULL }, { "message", text, NULL }, { "reason", text, NULL });
    const struct cel_decl *status = OBJECT(
        a, "kubernetes.NamespaceStatus",
        { "conditions", cel_static_list(a, condition->type), NULL }, { "phase", text, NULL });
    const struct cel_decl *spec =
        OBJECT(a, "kubernetes.NamespaceSpec", { "finalizers", texts, NULL });
    const struct cel_decl *meta = OBJECT(
        a, "kubernetes.NamespaceMetadata", { "name", text, NULL }, { "generateName", text, NULL },
        { "namespace", text, NULL }, { "labels", map, NULL }, { "annotations", map, NULL },
        { "UID", text, NULL }, { "creationTimestamp", time, NULL },
        { "deletionGracePeriodSeconds", &cel_static_int, NULL },
        { "deletionTimestamp", time, NULL }, { "generation", &cel_static_int, NULL },
        { "resourceVersion", text, NULL }, { "finalizers", texts, NULL });
    return OBJECT(a, "kubernetes.Namespace", { "metadata", NULL, meta }, { "spec", NULL, spec },
                  { "status", NULL, status });
}

static const struct cel_name *add(struct arena *a, const char *name, const struct cel_static *type,
                                  const struct cel_name *next)
{
    struct cel_name *n = arena_new(a, struct cel_name);
    *n = (struct cel_name){ str_of(name), type, next };
    return n;
}

/*
 * object: the type of the objects, NULL where it is unknown. params: NULL: the policy has none.
 * of_request: authorizer.requestResource is available too.
 */
static struct names names_of(struct arena *a, const struct json *policy,
                             const struct cel_static *object_type, const struct cel_static *params,
                             bool of_request)
{
    const struct json *list = json_path(policy, "spec", "variables", NULL);
    struct names names = { .a = a };
    const struct cel_static *type = object_type ? object_type : &cel_static_dyn;
    names.fields = arena_new_n(a, struct cel_decl_field, list ? list->n + 1 : 1);
    names.variables = cel_decl_object(a, "kubernetes.variables", names.fields, 0);
    const struct cel_name *n = add(a, "object", type, NULL);
    n = add(a, "oldObject", type, n);
    n = add(a, "request", request_decl(a)->type, n);
    n = add(a, "namespaceObject", namespace_decl(a)->type, n);
    if (params)
        n = add(a, "params", params, n);
    names.stateless = add(a, "authorizer", &cel_static_authorizer, n);
    if (of_request)
        names.stateless =
            add(a, "authorizer.requestResource", &cel_static_request_resource, names.stateless);
    if (list && list->first) {
        names.without = add(a, "variables", names.variables->type, n);
        names.with_access = add(a, "variables", names.variables->type, names.stateless);
    } else {
        names.without = n;
        names.with_access = names.stateless;
    }
    return names;
}

/*
 * The type that later expressions see for a variable: lists and maps of simple types keep theirs.
 */
static const struct cel_static *kept_type(struct arena *a, const struct cel_static *t)
{
    switch ((enum cel_kind)t->kind) {
    case CEL_KIND_LIST:
        return cel_static_list(a, kept_type(a, t->params[0]));
    case CEL_KIND_MAP:
        if (t->params[0]->kind == CEL_KIND_STRING)
            return cel_static_map(a, kept_type(a, t->params[1]));
        return t;
    case CEL_KIND_NULL:
    case CEL_KIND_BOOL:
    case CEL_KIND_INT:
    case CEL_KIND_UINT:
    case CEL_KIND_DOUBLE:
    case CEL_KIND_STRING:
    case CEL_KIND_BYTES:
    case CEL_KIND_DURATION:
    case CEL_KIND_TIMESTAMP:
        return t;
    case CEL_KIND_ERROR:
    case CEL_KIND_DYN:
    case CEL_KIND_TYPE:
    case CEL_KIND_OPAQUE:
    case CEL_KIND_OBJECT:
    case CEL_KIND_PARAM:
        break;
    }
    return &cel_static_dyn;
}

static void define(struct names *names, struct str name, const struct cel_static *type)
{
    size_t i = names->variables->n_given;
    names->fields[i] =
        (struct cel_decl_field){ name, simple(names->a,
                                              type ? kept_type(names->a, type) : &cel_static_dyn) };
    names->variables->n_given = i + 1;
}

/* ------------------------------------------------------------------ definitions */

/* Limit of memory: each variable keeps its types for the expressions after it. */
enum { VARIABLES_MAX_BYTES = 32 << 20 };

static bool is_stored(const struct json *v, struct str text)
{
    if (v && v->type == JSON_STRING)
        return str_eq(json_str(v), text);
    if (!v || v->type < JSON_ARRAY)
        return false;
    json_each (m, v)
        if (is_stored(m, text))
            return true;
    return false;
}

enum result { RESULT_ANY, RESULT_BOOL, RESULT_TEXT, RESULT_TEXT_OR_NULL };

/* NULL: the type is suitable. */
static const char *unfit(struct arena *a, enum result wanted, const struct cel_static *t)
{
    static const char *const words[] = { [RESULT_ANY] = "",
                                         [RESULT_BOOL] = "bool",
                                         [RESULT_TEXT] = "string",
                                         [RESULT_TEXT_OR_NULL] = "one of [string null_type]" };
    bool fits = wanted == RESULT_ANY || (wanted == RESULT_BOOL && t->kind == CEL_KIND_BOOL) ||
                (wanted >= RESULT_TEXT && t->kind == CEL_KIND_STRING) ||
                (wanted == RESULT_TEXT_OR_NULL && t->kind == CEL_KIND_NULL);
    const char *got = t->kind == CEL_KIND_NULL        ? "null_type"
                      : t->kind == CEL_KIND_DURATION  ? "google.protobuf.Duration"
                      : t->kind == CEL_KIND_TIMESTAMP ? "google.protobuf.Timestamp"
                                                      : cel_static_text(a, t);
    return fits ? NULL : arena_printf(a, "must evaluate to %s but got %s", words[wanted], got);
}

/* NULL: the expression is valid, and *ret_type is its type. */
static const char *compile(struct arena *a, struct str text, const struct cel_name *names,
                           enum result wanted, const char *prefix,
                           const struct cel_static **ret_type)
{
    const struct cel_expr *tree;
    struct cel_checked *checked;
    struct cel_flaw flaw = { 0 };
    int r = cel_parse(a, text, &tree, &flaw);
    if (r >= 0)
        r = cel_check(a, tree, text, names, &checked, ret_type, &flaw);
    return r < 0 ? arena_printf(a, "%s%s", prefix, flaw.text) : unfit(a, wanted, *ret_type);
}

/* An expression of a definition. *ret_type: NULL when it cannot be used. */
static void check_expression(struct arena *a, const struct json *item, const char *member,
                             enum result wanted, const struct fpath *at,
                             const struct cel_name *names, const struct json *stored,
                             const struct cel_static **ret_type, struct field_errors *errs)
{
    struct fpath here = fpath_child(at, str_of(member));
    const struct json *text = json_getc(item, member);
    *ret_type = NULL;
    if (str_trim(json_str(text)).n == 0)
        return;
    const struct cel_static *type;
    const char *why = compile(a, json_str(text), names, wanted, "compilation failed: ", &type);
    if (!why)
        *ret_type = type;
    else if (!is_stored(stored, json_str(text)))
        field_error(errs, FIELD_INVALID, &here, text, "%s", str_dup_arena(errs->a, str_of(why)));
}

void cel_policy_validate_expressions(const struct json *policy, const struct json *stored,
                                     struct field_errors *errs)
{
    const struct json *spec = json_getc(policy, "spec"), *was = json_getc(stored, "spec");
    bool has_params = json_is(json_getc(spec, "paramKind"), JSON_OBJECT);
    struct arena a = { 0 }, once = { 0 };
    struct names names = names_of(&a, policy, NULL, has_params ? &cel_static_dyn : NULL, true);
    const struct cel_static *type;
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath conditions = fpath_child(&up, STR("matchConditions")),
                 variables = fpath_child(&up, STR("variables")),
                 validations = fpath_child(&up, STR("validations")),
                 annotations = fpath_child(&up, STR("auditAnnotations"));
    size_t i = 0;
    json_each (x, json_getc(spec, "matchConditions")) {
        struct fpath at = fpath_index(&conditions, i++);
        arena_reset(&once);
        check_expression(&once, x, "expression", RESULT_BOOL, &at, names.stateless, was, &type,
                         errs);
    }
    i = 0;
    json_each (x, json_getc(spec, "variables")) {
        struct fpath at = fpath_index(&variables, i++);
        if (field_errors_full(errs))
            break;
        if (a.total_bytes > VARIABLES_MAX_BYTES) {
            field_error(errs, FIELD_FORBIDDEN, &at, NULL,
                        "checking this and further variables takes more memory than one request "
                        "may");
            break;
        }
        check_expression(&a, x, "expression", RESULT_ANY, &at, names.with_access, was, &type, errs);
        define(&names, json_get_str(x, "name"), type);
    }
    i = 0;
    json_each (x, json_getc(spec, "validations")) {
        struct fpath at = fpath_index(&validations, i++);
        arena_reset(&once);
        check_expression(&once, x, "expression", RESULT_BOOL, &at, names.with_access, was, &type,
                         errs);
        check_expression(&once, x, "messageExpression", RESULT_TEXT, &at, names.without, was, &type,
                         errs);
    }
    i = 0;
    json_each (x, json_getc(spec, "auditAnnotations")) {
        struct fpath at = fpath_index(&annotations, i++);
        arena_reset(&once);
        check_expression(&once, x, "valueExpression", RESULT_TEXT_OR_NULL, &at, names.with_access,
                         was, &type, errs);
    }
    arena_fini(&once);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ status.typeChecking */

/*
 * Appends the errors of one expression, checked with the objects of each type. Nothing: it is
 * valid.
 */
static void warn(struct arena *a, struct buf *to, struct str text, const struct names *names,
                 const struct policy_type *types, size_t n)
{
    const struct cel_static *ignored;
    struct arena once = { 0 };
    for (size_t i = 0; i < n; i++) {
        arena_reset(&once);
        const char *why = compile(&once, text, names[i].with_access, RESULT_ANY, "", &ignored);
        if (why)
            (void)buf_printf(to, "%s" STR_FMT "/" STR_FMT ", Kind=" STR_FMT ": %s\n",
                             to->n ? "\n" : "", STR_ARG(types[i].group), STR_ARG(types[i].version),
                             STR_ARG(types[i].kind), why);
    }
    arena_fini(&once);
}

static size_t expression_bytes(const struct json *list)
{
    size_t n = 0;
    json_each (x, list)
        n += json_get_str(x, "expression").n + json_get_str(x, "messageExpression").n;
    return n;
}

static const struct cel_decl *resource_decl(struct arena *a, const struct schema *s,
                                            const char *name)
{
    const struct schema *meta = builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    bool is_builtin = s->flags & SCHEMA_BUILTIN;
    return is_builtin ? cel_decl_new(a, s, true, name) : cel_decl_resource(a, s, meta, name);
}

struct json *cel_policy_type_warnings(struct arena *a, const struct json *policy,
                                      const struct policy_type *types, size_t n,
                                      const struct schema *params)
{
    const struct json *spec = json_getc(policy, "spec");
    const struct json *validations = json_getc(spec, "validations"),
                      *variables = json_getc(spec, "variables");
    bool has_params = json_is(json_getc(spec, "paramKind"), JSON_OBJECT);
    struct json *warnings = json_new_array(a);
    struct names names[POLICY_TYPES_MAX];
    struct buf text = BUF_INIT(1 << 20);
    size_t bytes = expression_bytes(validations) + expression_bytes(variables);
    if (n == 0 || bytes * n > POLICY_TYPE_CHECK_BYTES)
        return warnings;
    assert(n <= POLICY_TYPES_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct cel_decl *object = resource_decl(a, types[i].schema, "object"),
                              *of_params = params ? resource_decl(a, params, "params") : NULL;
        const struct cel_static *type;
        names[i] = names_of(a, policy, object ? object->type : NULL,
                            of_params    ? of_params->type
                            : has_params ? &cel_static_dyn
                                         : NULL,
                            false);
        json_each (v, variables) {
            bool fits = !compile(a, json_get_str(v, "expression"), names[i].with_access, RESULT_ANY,
                                 "", &type);
            define(&names[i], json_get_str(v, "name"), fits ? type : NULL);
        }
    }
    size_t at = 0;
    json_each (v, validations) {
        static const char *const members[] = { "expression", "messageExpression" };
        for (size_t k = 0; k < ARRAY_LEN(members); k++) {
            struct str expression = json_get_str(v, members[k]);
            buf_reset(&text);
            if (k == 0 || expression.n)
                warn(a, &text, expression, names, types, n);
            if (text.n == 0)
                continue;
            struct json *w = json_new_object(a);
            json_set_str(a, w, "fieldRef",
                         str_of(arena_printf(a, "spec.validations[%zu].%s", at, members[k])));
            json_set_str(a, w, "warning", str_copy_arena(a, buf_str(&text)));
            json_add(warnings, w);
        }
        at++;
    }
    buf_fini(&text);
    return warnings;
}
