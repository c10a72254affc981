/* SPDX-License-Identifier: Apache-2.0 */
/* Matching and evaluation of policies; see cel_policy.h. */
#include "kube/cel/cel_policy.h"

#include "codec/json.h"
#include "kube/model/meta.h"
#include "kube/model/selector.h"

/* ------------------------------------------------------------------ matching */

static bool has_text(const struct json *list, struct str s)
{
    json_each (x, list)
        if (str_is(json_str(x), "*") || str_eq(json_str(x), s))
            return true;
    return false;
}

/*
 * Entries are "pods", "pods/status", all subresources of pods, the status of all resources; "*" is
 * every resource without subresources.
 */
static bool is_about_resource(const struct json *list, struct str resource, struct str sub)
{
    json_each (x, list) {
        struct str name, part;
        bool has_part = str_cut(json_str(x), '/', &name, &part);
        bool same = str_is(name, "*") || str_eq(name, resource);
        if (same && (has_part ? str_is(part, "*") || (sub.n && str_eq(part, sub)) : sub.n == 0))
            return true;
    }
    return false;
}

static bool rule_matches(const struct json *rule, bool any_version, const struct policy_request *rq)
{
    const struct json *names = json_getc(rule, "resourceNames");
    struct str scope = json_get_str(rule, "scope");
    bool wrong_scope = (str_is(scope, "Namespaced") && !rq->res->namespaced) ||
                       (str_is(scope, "Cluster") && rq->res->namespaced);
    return !wrong_scope && has_text(json_getc(rule, "operations"), str_of(rq->operation)) &&
           has_text(json_getc(rule, "apiGroups"), rq->res->group) &&
           (any_version || has_text(json_getc(rule, "apiVersions"), rq->res->version)) &&
           is_about_resource(json_getc(rule, "resources"), rq->res->plural, rq->subresource) &&
           (!json_first(names) || has_text(names, rq->name));
}

static bool any_rule(const struct json *rules, bool any_version, const struct policy_request *rq)
{
    json_each (rule, rules)
        if (rule_matches(rule, any_version, rq))
            return true;
    return false;
}

static bool selects(struct arena *a, const struct json *selector, const struct json *obj)
{
    struct selector s;
    if (!obj || selector_from_object(a, selector, &s, NULL) < 0)
        return false;
    return selector_matches_labels(&s, json_path(obj, "metadata", "labels", NULL));
}

static bool is_empty(const struct json *selector)
{
    return !selector || (!json_first(json_getc(selector, "matchLabels")) &&
                         !json_first(json_getc(selector, "matchExpressions")));
}

static bool is_namespace(const struct kube_resource *res)
{
    return res->group.n == 0 && str_is(res->plural, "namespaces");
}

bool cel_policy_matches(struct arena *a, const struct json *match, const struct policy_request *rq)
{
    const struct json *rules = json_getc(match, "resourceRules");
    const struct json *objects = json_getc(match, "objectSelector");
    const struct json *spaces = json_getc(match, "namespaceSelector");
    bool any_version = !str_is(json_get_str(match, "matchPolicy"), "Exact");
    const struct json *space =
        is_namespace(rq->res) ? (rq->object ? rq->object : rq->old) : rq->space;
    if (!match)
        return true;
    if (json_first(rules) && !any_rule(rules, any_version, rq))
        return false;
    if (any_rule(json_getc(match, "excludeResourceRules"), any_version, rq))
        return false;
    if (!is_empty(objects) && !selects(a, objects, rq->object) && !selects(a, objects, rq->old))
        return false;
    return is_empty(spaces) || !space || selects(a, spaces, space);
}

/* ------------------------------------------------------------------ evaluation */

static struct json *group_version(struct arena *a, const struct policy_request *rq,
                                  const char *last, struct str name)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "group", rq->res->group);
    json_set_str(a, v, "version", rq->res->version);
    json_set_str(a, v, last, name);
    return v;
}

static struct json *request_of(struct arena *a, const struct policy_request *rq)
{
    struct json *v = json_new_object(a);
    json_setc(a, v, "kind", group_version(a, rq, "kind", rq->res->kind));
    json_setc(a, v, "resource", group_version(a, rq, "resource", rq->res->plural));
    json_set_str(a, v, "subResource", rq->subresource);
    json_setc(a, v, "requestKind", group_version(a, rq, "kind", rq->res->kind));
    json_setc(a, v, "requestResource", group_version(a, rq, "resource", rq->res->plural));
    json_set_str(a, v, "requestSubResource", rq->subresource);
    json_set_str(a, v, "name", rq->name);
    json_set_str(a, v, "namespace", rq->ns);
    json_set_str(a, v, "operation", str_of(rq->operation));
    json_setc(a, v, "userInfo", rq->user ? json_clone(a, rq->user) : json_new_object(a));
    json_setc(a, v, "dryRun", json_new_bool(a, rq->dry_run));
    if (rq->options)
        json_setc(a, v, "options", json_clone(a, rq->options));
    return v;
}

/* A copy of a Namespace with the parts that expressions see. */
static struct json *space_of(struct arena *a, const struct json *space)
{
    static const char *const parts[] = { "apiVersion", "kind", "metadata", "spec", "status" };
    struct json *v = json_new_object(a);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (json_getc(space, parts[i]))
            json_setc(a, v, parts[i], json_clone(a, json_getc(space, parts[i])));
    (void)json_del(json_getc(v, "metadata"), STR("managedFields"));
    return v;
}

enum { OBJECT, OLD_OBJECT, REQUEST, NAMESPACE, VARIABLES, AUTHORIZER, PARAMS, N_VARS };

struct cel_policy_scope {
    struct cel_var vars[N_VARS];
    const struct cel_var *first;
    struct cel_pair *pairs; /* of `variables` */
};

/* params: the policy has parameters. */
static void scope_init(struct cel_policy_scope *s, bool params)
{
    static const char *const names[] = {
        [OBJECT] = "object",        [OLD_OBJECT] = "oldObject",
        [REQUEST] = "request",      [NAMESPACE] = "namespaceObject",
        [VARIABLES] = "variables",  [PARAMS] = "params",
        [AUTHORIZER] = "authorizer"
    };
    size_t n = params ? N_VARS : PARAMS;
    *s = (struct cel_policy_scope){ .first = NULL };
    for (size_t i = 0; i < n; i++) {
        s->vars[i] = (struct cel_var){ .name = str_of(names[i]), .next = s->first };
        s->first = &s->vars[i];
    }
    s->vars[VARIABLES].value = (struct cel_value){ .type = CEL_MAP };
}

struct evaluation {
    struct arena *a;
    struct cel_policy_scope scope;
    uint64_t left; /* cost that is left */
    const char *error;
};

/* r < 0: e->error has the reason. */
static int evaluate(struct evaluation *e, struct str text, struct cel_value *ret)
{
    const struct cel_expr *tree;
    struct cel_flaw flaw;
    struct cel_run run = { .a = e->a, .cost_max = MIN((uint64_t)CEL_COST_MAX, e->left) };
    e->error = "";
    if (cel_parse(e->a, text, &tree, &flaw) < 0) {
        e->error = arena_printf(e->a, "compilation error: compilation failed: %s", flaw.text);
        return E_PARSE;
    }
    int r = e->left ? cel_eval(&run, tree, e->scope.first, ret) : E_LIMIT;
    e->left -= MIN(run.cost, e->left);
    if (e->left == 0) {
        e->error = "validation failed due to running out of cost budget, no further validation "
                   "rules will be run";
        return E_LIMIT;
    }
    if (r < 0)
        e->error = arena_printf(e->a, "expression '" STR_FMT "' resulted in error: %s",
                                STR_ARG(text), err_text(&run.err));
    return r;
}

/* A variable that cannot be evaluated is left out: expressions that read it fail. */
static void add_variables(struct evaluation *e, const struct json *list)
{
    struct cel_value *all = &e->scope.vars[VARIABLES].value;
    e->scope.pairs = arena_new_n(e->a, struct cel_pair, list ? list->n + 1 : 1);
    all->pairs = e->scope.pairs;
    json_each (v, list) {
        struct cel_pair *p = &e->scope.pairs[all->n];
        p->key = cel_from_json(json_getc(v, "name"), NULL);
        if (evaluate(e, json_get_str(v, "expression"), &p->value) >= 0)
            all->n++;
    }
}

static bool is_true(const struct cel_value *v)
{
    return v->type == CEL_BOOL && v->b;
}

bool cel_policy_fails_closed(const struct json *policy)
{
    return !str_is(json_str(json_path(policy, "spec", "failurePolicy", NULL)), "Ignore");
}

/* 1: all conditions are met; 0: one is not met, whatever errors others have; < 0: e->error. */
static int conditions_met(struct evaluation *e, const struct json *list)
{
    const char *error = NULL;
    json_each (c, list) {
        struct cel_value v = { 0 };
        int r = evaluate(e, json_get_str(c, "expression"), &v);
        if (r >= 0 && !is_true(&v))
            return 0;
        if (r < 0)
            error = e->error;
    }
    if (!error)
        return 1;
    e->error = error;
    return E_INVALID;
}

static struct str message_of(struct evaluation *e, const struct json *validation)
{
    struct cel_value v = { 0 };
    struct str expression = json_get_str(validation, "messageExpression"), message = STR("");
    if (expression.n && evaluate(e, expression, &v) >= 0 && v.type == CEL_STRING)
        message = str_trim(v.s);
    if (message.n > 5 << 10 || str_find_char(message, '\n') >= 0)
        message = STR("");
    if (message.n == 0)
        message = str_trim(json_get_str(validation, "message"));
    if (message.n)
        return message;
    return str_of(arena_printf(e->a, "failed expression: " STR_FMT,
                               STR_ARG(str_trim(json_get_str(validation, "expression")))));
}

void cel_policy_evaluate(struct arena *a, const struct json *policy,
                         const struct policy_request *rq, const struct json *params,
                         policy_denied_fn denied, void *arg)
{
    const struct json *spec = json_getc(policy, "spec");
    struct evaluation e = { .a = a, .left = POLICY_COST_MAX };
    bool closed = cel_policy_fails_closed(policy);
    scope_init(&e.scope, json_is(json_getc(spec, "paramKind"), JSON_OBJECT));
    struct cel_var *vars = e.scope.vars;
    vars[OBJECT].value = cel_from_json(rq->object, rq->res->schema);
    vars[OLD_OBJECT].value = cel_from_json(rq->old, rq->res->schema);
    vars[REQUEST].value = cel_from_json(request_of(a, rq), NULL);
    vars[NAMESPACE].value = cel_from_json(rq->space ? space_of(a, rq->space) : NULL, NULL);
    vars[AUTHORIZER].value = cel_authorizer(a, rq->authorizer);
    vars[PARAMS].value = cel_from_json(params, NULL);
    int met = conditions_met(&e, json_getc(spec, "matchConditions"));
    if (met < 0 && closed)
        denied(arg, str_of(e.error), STR(""));
    if (met <= 0)
        return;
    add_variables(&e, json_getc(spec, "variables"));
    json_each (v, json_getc(spec, "validations")) {
        struct cel_value result = { 0 };
        int r = evaluate(&e, json_get_str(v, "expression"), &result);
        if (r < 0 && closed)
            denied(arg, str_of(e.error), STR(""));
        else if (r >= 0 && !is_true(&result))
            denied(arg, message_of(&e, v), json_get_str(v, "reason"));
    }
}
