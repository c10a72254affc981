/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of definitions: where they are evaluated, and how violations are reported. See cel_rules.h.
 */
#include "kube/cel/cel_rules.h"

#include "base/buf.h"
#include "base/map.h"
#include "codec/json.h"
#include "kube/cel/cel_static.h"

enum { MESSAGE_MAX_BYTES = 5 << 10 }; /* limit of a messageExpression's result */

#define SELF     STR("self")
#define OLD_SELF STR("oldSelf")

static const struct json *rules_of(const struct schema *s)
{
    return s->rules ? s->rules->cel : NULL;
}

/* Upstream's OpenAPI type, which messages show in place of the value. */
static const char *type_text(const struct schema *s)
{
    return schema_type_name(s);
}

static bool is_large(const struct schema *s)
{
    return s->type == SCHEMA_OBJECT || s->type == SCHEMA_MAP || s->type == SCHEMA_ARRAY;
}

static struct str trimmed(const struct json *rule, const char *key)
{
    return str_trim(json_get_str(rule, key));
}

/* ------------------------------------------------------------------ evaluation */

/* A part of the object, and the same part before the update. */
struct cel_rules_part {
    const struct json *value, *old;       /* old: NULL when absent or not matched */
    const struct json *above, *above_old; /* the nearest enclosing part that can be matched */
};

struct cel_rules_walk {
    struct field_errors *errs;
    struct arena a; /* of one rule */
    uint64_t left;  /* of the budget */
    bool ended;
};

struct cel_rules_rule {
    const struct json *json;
    const struct schema *schema;
    const struct fpath *at;
    const struct cel_rules_part *part;
    bool uses_old, optional;
};

/* The path of the whole object as upstream prints it. */
static const struct fpath nil_path = { .kind = FPATH_CHILD, .name = { "<nil>", 5 } };

static void complain(struct field_errors *to, const struct cel_rules_rule *r, const char *what)
{
    field_error_str(to, FIELD_INVALID, r->at ? r->at : &nil_path, str_of(type_text(r->schema)),
                    "%s", what);
}

/* The rule's name in messages about it: its text. */
static const char *name_of(struct cel_rules_walk *w, const struct cel_rules_rule *r)
{
    struct str text = trimmed(r->json, "message");
    return str_dup_arena(&w->a, text.n ? text : trimmed(r->json, "rule"));
}

static bool is_unchanged(struct cel_rules_walk *w, const struct cel_rules_rule *r)
{
    const struct cel_rules_part *p = r->part;
    return p->old ? schema_same(&w->a, r->schema, p->value, p->old, w->a.budget)
                  : p->above_old && json_equal(p->above, p->above_old);
}

/* The rule's own path in Go's format: ".a.b" and "['a']". */
static struct str field_path(struct arena *a, struct str path)
{
    char *out = arena_alloc(a, path.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i];
        if (c == '[' && n)
            out[n++] = '.';
        else if (c == '.' && n == 0)
            continue;
        else if (c != '[' && c != ']' && c != '\'')
            out[n++] = c;
    }
    return (struct str){ out, n };
}

static void tell(struct field_errors *errs, const struct cel_rules_rule *r, struct str detail)
{
    struct arena *a = errs->a;
    struct str path = trimmed(r->json, "fieldPath"), reason = json_get_str(r->json, "reason");
    const char *text = str_dup_arena(a, detail);
    struct fpath below = fpath_child(r->at, field_path(a, path));
    const struct fpath *at = path.n ? &below : r->at ? r->at : &nil_path;
    const struct json *value = is_large(r->schema) ? NULL : r->part->value;
    if (str_is(reason, "FieldValueForbidden"))
        field_error(errs, FIELD_FORBIDDEN, at, NULL, "%s", text);
    else if (str_is(reason, "FieldValueRequired"))
        field_error(errs, FIELD_REQUIRED, at, NULL, "%s", text);
    else if (str_is(reason, "FieldValueDuplicate"))
        field_error(errs, FIELD_DUPLICATE, at, value, "%s", "");
    else
        field_error(errs, FIELD_INVALID, at, value, "%s", text);
}

/* false: the budget is used up. */
static bool spend(struct cel_rules_walk *w, const struct cel_run *run)
{
    w->left -= MIN(run->cost, w->left);
    return w->left > 0;
}

static void end_of_budget(struct cel_rules_walk *w, const struct cel_rules_rule *r)
{
    complain(w->errs, r,
             "validation failed due to running out of cost budget, no further validation rules "
             "will be run");
    w->ended = true;
}

/* The list for violations: those of an unchanged part are excused. NULL: not kept. */
static struct field_errors *errors_for(struct cel_rules_walk *w, const struct cel_rules_rule *r)
{
    return !r->uses_old && is_unchanged(w, r) ? w->errs->excused : w->errs;
}

/* For an unchanged part, a rule that fails to evaluate is a warning. */
static void complain_of_change(struct cel_rules_walk *w, const struct cel_rules_rule *r,
                               const char *what)
{
    struct field_errors *to = errors_for(w, r);
    if (to)
        complain(to, r, what);
}

static void failed(struct cel_rules_walk *w, const struct cel_rules_rule *r, int code,
                   const struct err *err)
{
    const char *what = err_text(err), *name = name_of(w, r);
    if (code == E_LIMIT) {
        complain(w->errs, r,
                 arena_printf(&w->a,
                              "'%s': no further validation rules will be run due to call cost "
                              "exceeds limit for rule: %s",
                              what, name));
        w->ended = true;
    } else if (str_has_prefix(str_of(what), STR("no such overload"))) {
        complain_of_change(
            w, r,
            arena_printf(&w->a,
                         "'%s': call arguments did not match a supported operator, function "
                         "or macro signature for rule: %s",
                         what, name));
    } else {
        complain_of_change(w, r, arena_printf(&w->a, "%s evaluating rule: %s", what, name));
    }
}

/* The result of the rule's messageExpression; "": no usable message. */
static struct str message_of(struct cel_rules_walk *w, const struct cel_rules_rule *r,
                             const struct cel_var *vars)
{
    struct str text = trimmed(r->json, "messageExpression");
    const struct cel_expr *e;
    struct cel_flaw flaw;
    struct cel_value v;
    struct cel_run run = { .a = &w->a, .cost_max = MIN((uint64_t)CEL_COST_MAX, w->left) };
    if (text.n == 0 || cel_parse(&w->a, text, &e, &flaw) < 0)
        return STR("");
    int code = cel_eval(&run, e, vars, &v);
    if (!spend(w, &run) || code < 0 || v.type != CEL_STRING)
        return STR("");
    struct str message = str_trim(v.s);
    return message.n <= MESSAGE_MAX_BYTES && str_find_char(message, '\n') < 0 ? message : STR("");
}

static void evaluate(struct cel_rules_walk *w, struct cel_rules_rule *r, const struct cel_expr *e)
{
    const struct cel_rules_part *p = r->part;
    struct cel_value old = cel_from_json(p->old, r->schema), v;
    if (r->optional)
        old = cel_optional(&w->a, p->old ? &old : NULL);
    const struct cel_var was = { OLD_SELF, old, NULL };
    const struct cel_var self = { SELF, cel_from_json(p->value, r->schema),
                                  p->old || r->optional ? &was : NULL };
    struct cel_run run = { .a = &w->a, .cost_max = MIN((uint64_t)CEL_COST_MAX, w->left) };
    int code = cel_eval(&run, e, &self, &v);
    if (!spend(w, &run)) {
        end_of_budget(w, r);
    } else if (code < 0) {
        failed(w, r, code, &run.err);
    } else if (v.type != CEL_BOOL) {
        complain_of_change(w, r, "cel expression must evaluate to a bool");
    } else if (!v.b) {
        struct field_errors *to = errors_for(w, r);
        if (!to)
            return;
        struct str detail = message_of(w, r, &self);
        if (detail.n == 0)
            detail = trimmed(r->json, "message");
        if (detail.n == 0)
            detail = str_of(
                arena_printf(&w->a, "failed rule: " STR_FMT, STR_ARG(trimmed(r->json, "rule"))));
        tell(to, r, detail);
    }
}

static void apply_rule(struct cel_rules_walk *w, struct cel_rules_rule *r)
{
    const struct cel_expr *e;
    struct cel_flaw flaw;
    struct str text = json_get_str(r->json, "rule");
    arena_reset(&w->a);
    if (str_trim(text).n == 0)
        return;
    if (cel_parse(&w->a, text, &e, &flaw) < 0) {
        complain_of_change(
            w, r, arena_printf(&w->a, "rule compile error: compilation failed: %s", flaw.text));
        return;
    }
    r->uses_old = cel_uses(e, OLD_SELF);
    r->optional = json_bool(json_getc(r->json, "optionalOldSelf"));
    if (!r->uses_old || r->part->old || r->optional)
        evaluate(w, r, e);
}

static void walk(struct cel_rules_walk *w, const struct schema *s, const struct cel_rules_part *p,
                 const struct fpath *at);

/* The keys of an element of a list map, which identify it across an update. */
static struct str identity(struct arena *a, const struct schema *s, const struct json *item)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    for (size_t i = 0; i < s->n_list_keys; i++) {
        const struct json *key = json_get(item, s->list_keys[i]);
        if (key)
            (void)json_write(&b, key);
        (void)buf_add_char(&b, ',');
    }
    struct str text = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static void walk_items(struct cel_rules_walk *w, const struct schema *s,
                       const struct cel_rules_part *p, const struct fpath *at)
{
    size_t i = 0;
    bool is_map = s->list_type == SCHEMA_LIST_MAP && p->old;
    struct map before = { .borrows_keys = true };
    struct arena keys = { 0 };
    if (s->type != SCHEMA_ARRAY || !s->items || !(s->items->flags & SCHEMA_RULED))
        return;
    json_each (item, is_map ? p->old : NULL) {
        struct str text = identity(&keys, s, item);
        if (!map_get(&before, text))
            (void)map_put(&before, text, (void *)item);
    }
    json_each (item, p->value) {
        struct fpath child = fpath_index(at, i++);
        struct cel_rules_part below = { .value = item,
                                        .old = before.n ? map_get(&before, identity(&keys, s, item))
                                                        : NULL,
                                        .above = p->old ? p->value : p->above,
                                        .above_old = p->old ? p->old : p->above_old };
        walk(w, s->items, &below, &child);
    }
    map_fini(&before);
    arena_fini(&keys);
}

static void walk_members(struct cel_rules_walk *w, const struct schema *s,
                         const struct cel_rules_part *p, const struct fpath *at)
{
    json_each (m, p->value) {
        const struct schema *sub = schema_child(s, m->key);
        struct fpath child =
            s->type == SCHEMA_MAP ? fpath_key(at, m->key) : fpath_child(at, m->key);
        struct cel_rules_part below = { .value = m,
                                        .old = json_get(p->old, m->key),
                                        .above = p->old ? p->value : p->above,
                                        .above_old = p->old ? p->old : p->above_old };
        if (sub)
            walk(w, sub, &below, &child);
    }
}

static void walk(struct cel_rules_walk *w, const struct schema *s, const struct cel_rules_part *p,
                 const struct fpath *at)
{
    if (p->value->type == JSON_NULL || w->ended || !(s->flags & SCHEMA_RULED))
        return;
    json_each (x, rules_of(s)) {
        struct cel_rules_rule r = { .json = x, .schema = s, .at = at, .part = p };
        if (!w->ended)
            apply_rule(w, &r);
    }
    if (p->value->type == JSON_OBJECT)
        walk_members(w, s, p, at);
    else if (p->value->type == JSON_ARRAY)
        walk_items(w, s, p, at);
}

static bool is_blocked(const struct field_errors *errs)
{
    for (const struct field_error *e = errs->first; e; e = e->next)
        if (e->type == FIELD_NOT_SUPPORTED || e->type == FIELD_REQUIRED ||
            e->type == FIELD_TOO_LONG || e->type == FIELD_TOO_MANY || e->type == FIELD_TYPE_INVALID)
            return true;
    return false;
}

void cel_validate(const struct schema *s, const struct json *obj, const struct json *old,
                  struct field_errors *errs)
{
    struct cel_rules_walk w = { .errs = errs,
                                .a = { .budget = errs->a->budget },
                                .left = CEL_BUDGET };
    const struct cel_rules_part whole = { .value = obj, .old = old };
    if (!is_blocked(errs))
        walk(&w, s, &whole, NULL);
    else if (s->flags & SCHEMA_RULED)
        field_error(errs, FIELD_INVALID, &nil_path, json_new_null(errs->a),
                    "some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation");
    arena_fini(&w.a);
}

/* ------------------------------------------------------------------ definitions */

/* A rule that takes a large part of the total cost. */
struct dear {
    struct str path;
    uint64_t cost;
};

enum { DEAR_MAX = 4 };

struct survey {
    struct field_errors *errs;
    const struct json *stored;
    struct arena decls;
    struct arena a; /* of one rule */
    uint64_t total;
    struct dear dear[DEAR_MAX]; /* most expensive first */
    size_t n_dear;
};

/* A part of the schema. */
struct cel_rules_place {
    const struct schema *schema;
    const struct fpath *at, *loose; /* loose: outermost list without matched items */
    const struct cel_decl *decl;    /* NULL: not made yet */
    bool is_resource;               /* the whole object, or an embedded resource */
    bool bounded;
    uint64_t times; /* maximal occurrences in an object, if bounded */
};

/* The stored definition has this text under this key anywhere. */
static bool is_stored(const struct json *v, const char *key, struct str text)
{
    if (!v || v->type < JSON_ARRAY)
        return false;
    if (v->type == JSON_OBJECT && str_eq(json_get_str(v, key), text))
        return true;
    json_each (m, v)
        if (is_stored(m, key, text))
            return true;
    return false;
}

/* A rule as upstream prints it: its internal struct. */
static struct json *shown(struct arena *a, const struct json *rule)
{
    static const char *const texts[][2] = { { "Rule", "rule" },
                                            { "Message", "message" },
                                            { "MessageExpression", "messageExpression" } };
    struct json *v = json_new_object(a);
    const struct json *reason = json_getc(rule, "reason"),
                      *optional = json_getc(rule, "optionalOldSelf");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        json_set_str(a, v, texts[i][0], json_get_str(rule, texts[i][1]));
    json_setc(a, v, "Reason", reason ? json_clone(a, reason) : json_new_null(a));
    json_set_str(a, v, "FieldPath", json_get_str(rule, "fieldPath"));
    json_setc(a, v, "OptionalOldSelf", optional ? json_clone(a, optional) : json_new_null(a));
    return v;
}

/* "1.2x", in upstream's format. */
static const char *factor_of(struct arena *a, uint64_t cost, uint64_t limit)
{
    double factor = (double)cost / (double)limit;
    if (factor > 100)
        return "more than 100x";
    return arena_printf(a, factor < 1.5 ? "%fx" : "%.1fx", factor);
}

static void too_dear(struct survey *y, const struct fpath *at, const char *what, uint64_t cost,
                     uint64_t limit)
{
    field_error(y->errs, FIELD_FORBIDDEN, at, NULL,
                "%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, "
                "maxProperties, and maxLength where arrays, maps, and strings are declared)",
                what, factor_of(y->errs->a, cost, limit));
}

static void count_cost(struct survey *y, const struct fpath *at, uint64_t cost)
{
    size_t i;
    if (__builtin_add_overflow(y->total, cost, &y->total))
        y->total = UINT64_MAX;
    if (cost < CEL_DEFINITION_COST_MAX / 100)
        return;
    for (i = y->n_dear; i > 0 && y->dear[i - 1].cost < cost; i--)
        if (i < DEAR_MAX)
            y->dear[i] = y->dear[i - 1];
    if (i == DEAR_MAX)
        return;
    y->dear[i] = (struct dear){ fpath_text(y->errs->a, at), cost };
    y->n_dear = MIN(y->n_dear + 1, (size_t)DEAR_MAX);
}

static void estimated(struct survey *y, const struct fpath *at, const char *what, uint64_t cost)
{
    if (cost > CEL_RULE_COST_MAX)
        too_dear(y, at, what, cost, CEL_RULE_COST_MAX);
    count_cost(y, at, cost);
}

static uint64_t times(uint64_t x, uint64_t y)
{
    uint64_t r;
    return __builtin_mul_overflow(x, y, &r) ? UINT64_MAX : r;
}

/* Parse, check and estimate one of a rule's expressions; *ret_uses_old: it reads oldSelf. */
static void check_expression(struct survey *y, const struct cel_rules_place *p,
                             const struct json *rule, const char *key, const struct fpath *at,
                             bool *ret_uses_old)
{
    bool is_rule = strcmp(key, "rule") == 0;
    struct str text = json_get_str(rule, key);
    struct fpath here = fpath_child(at, str_of(key));
    struct cel_flaw flaw = { 0 };
    const struct cel_expr *e;
    struct cel_checked *checked;
    const struct cel_static *type, *old = p->decl->type;
    arena_reset(&y->a);
    if (json_bool(json_getc(rule, "optionalOldSelf")))
        old = cel_static_optional(&y->a, old);
    const struct cel_name was = { OLD_SELF, old, NULL };
    const struct cel_name self = { SELF, p->decl->type, &was };
    const char *what = is_rule ? "compilation failed: " : "messageExpression compilation failed: ";
    int r = cel_parse(&y->a, text, &e, &flaw);
    if (r >= 0) {
        *ret_uses_old = cel_uses(e, OLD_SELF);
        r = cel_check(&y->a, e, text, &self, &checked, &type, &flaw);
    }
    if (r >= 0 && type->kind != (is_rule ? CEL_KIND_BOOL : CEL_KIND_STRING)) {
        r = E_INVALID;
        what = "";
        flaw.text = is_rule ? "cel expression must evaluate to a bool"
                            : "messageExpression must evaluate to a string";
    }
    if (r < 0) {
        if (!is_stored(y->stored, key, text))
            field_error(y->errs, FIELD_INVALID, &here, shown(y->errs->a, rule), "%s%s", what,
                        str_dup_arena(y->errs->a, str_of(flaw.text)));
        return;
    }
    uint64_t cost = cel_cost(&y->a, checked, p->decl);
    if (is_rule)
        cost = times(cost, p->bounded ? p->times : cel_decl_cardinality(p->decl));
    estimated(y, &here, is_rule ? "estimated rule cost" : "estimated messageExpression cost", cost);
}

static void check_texts(struct survey *y, const struct json *rule, const struct fpath *at)
{
    static const char *const reasons[] = { "FieldValueDuplicate", "FieldValueForbidden",
                                           "FieldValueInvalid", "FieldValueRequired" };
    struct str names[ARRAY_LEN(reasons)];
    struct fpath message = fpath_child(at, STR("message")), text = fpath_child(at, STR("rule"));
    struct fpath expression = fpath_child(at, STR("messageExpression"));
    struct fpath reason_at = fpath_child(at, STR("reason"));
    const struct json *message_value = json_getc(rule, "message"),
                      *reason = json_getc(rule, "reason");
    bool known = !reason;
    if (trimmed(rule, "rule").n == 0)
        field_error(y->errs, FIELD_REQUIRED, &text, NULL, "rule is not specified");
    else if (json_str(message_value).n && trimmed(rule, "message").n == 0)
        field_error(y->errs, FIELD_INVALID, &message, message_value,
                    "must be non-empty if specified");
    else if (str_find_char(trimmed(rule, "message"), '\n') >= 0)
        field_error(y->errs, FIELD_INVALID, &message, message_value,
                    "must not contain line breaks");
    else if (str_find_char(trimmed(rule, "rule"), '\n') >= 0 && trimmed(rule, "message").n == 0)
        field_error(y->errs, FIELD_REQUIRED, &message, NULL,
                    "message must be specified if rule contains line breaks");
    if (json_get_str(rule, "messageExpression").n && trimmed(rule, "messageExpression").n == 0)
        field_error(y->errs, FIELD_REQUIRED, &expression, NULL,
                    "messageExpression must be non-empty if specified");
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        names[i] = str_of(reasons[i]);
        known = known || str_eq(json_str(reason), names[i]);
    }
    if (!known)
        field_error_enum(y->errs, &reason_at, reason, names, ARRAY_LEN(names));
}

static void check_rule(struct survey *y, const struct cel_rules_place *p, const struct json *rule,
                       const struct fpath *at)
{
    struct arena *a = y->errs->a;
    bool uses_old = false, ignored;
    size_t n = y->errs->n;
    check_expression(y, p, rule, "rule", at, &uses_old);
    if (y->errs->n == n && json_get_str(rule, "messageExpression").n)
        check_expression(y, p, rule, "messageExpression", at, &ignored);
    struct fpath text = fpath_child(at, STR("rule")),
                 optional = fpath_child(at, STR("optionalOldSelf"));
    const struct json *wanted = json_getc(rule, "optionalOldSelf");
    if (uses_old && p->loose)
        field_error(y->errs, FIELD_INVALID, &text, json_getc(rule, "rule"),
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within "
                    "%s",
                    str_dup_arena(a, fpath_text(a, p->loose)));
    else if (!uses_old && y->errs->n == n && wanted && wanted->type != JSON_NULL)
        field_error(y->errs, FIELD_INVALID, &optional, wanted,
                    "may not be set if oldSelf is not used in rule");
}

/*
 * Checks the rules of a part of the schema and of the parts below. Returns whether they are
 * complete; expressions are checked only if they are.
 */
static bool survey(struct survey *y, const struct cel_rules_place *p);

static bool survey_part(struct survey *y, const struct cel_rules_place *up, const struct schema *s,
                        const struct fpath *at, const struct cel_decl *decl)
{
    const struct schema_rules *r = up->schema->rules;
    bool array = up->schema->type == SCHEMA_ARRAY, many = array || up->schema->type == SCHEMA_MAP;
    int64_t most = !many ? 1 : !r ? SCHEMA_NO_LIMIT : array ? r->max_items : r->max_properties;
    struct cel_rules_place p = { .schema = s,
                                 .at = at,
                                 .loose = up->loose,
                                 .decl = decl,
                                 .is_resource = s->flags & SCHEMA_EMBEDDED,
                                 .bounded = up->bounded && most != SCHEMA_NO_LIMIT };
    if (array && up->schema->list_type != SCHEMA_LIST_MAP && !up->loose)
        p.loose = up->at;
    if (p.bounded)
        p.times = times(up->times, (uint64_t)MAX(most, (int64_t)0));
    return survey(y, &p);
}

static bool survey_parts(struct survey *y, const struct cel_rules_place *p)
{
    const struct schema *s = p->schema;
    bool complete = true;
    size_t n;
    struct fpath props = fpath_child(p->at, STR("properties"));
    struct fpath items =
        fpath_child(p->at, s->type == SCHEMA_ARRAY ? STR("items") : STR("additionalProperties"));
    const struct schema_field *fields = schema_fields(s, &n);
    for (size_t k = 0; k < n; k++) {
        struct fpath here = fpath_key(&props, fields[k].name);
        const struct cel_decl *decl = p->decl ? cel_decl_part(p->decl, fields[k].name) : NULL;
        complete = survey_part(y, p, fields[k].schema, &here, decl) && complete;
    }
    if (s->items)
        complete = survey_part(y, p, s->items, &items, p->decl ? p->decl->items : NULL) && complete;
    return complete;
}

static bool survey(struct survey *y, const struct cel_rules_place *place)
{
    struct cel_rules_place p = *place;
    struct fpath list = fpath_child(p.at, STR("x-kubernetes-validations"));
    const struct json *rules = rules_of(p.schema);
    size_t i = 0;
    if (!(p.schema->flags & SCHEMA_RULED))
        return true;
    if (json_first(rules) && !p.decl)
        p.decl = cel_decl_new(&y->decls, p.schema, p.is_resource, "selfType");
    bool complete = survey_parts(y, &p);
    size_t n = y->errs->n;
    json_each (rule, rules) {
        struct fpath here = fpath_index(&list, i++);
        check_texts(y, rule, &here);
    }
    complete = complete && y->errs->n == n;
    i = 0;
    json_each (rule, rules) {
        struct fpath here = fpath_index(&list, i++);
        if (complete && p.decl)
            check_rule(y, &p, rule, &here);
    }
    if (complete && json_first(rules) && !p.decl)
        field_error(y->errs, FIELD_INTERNAL, &list, NULL,
                    "internal error: failed to construct type information for "
                    "x-kubernetes-validations rules: unable to convert structural schema to CEL "
                    "declarations");
    return complete;
}

void cel_validate_rules(const struct schema *s, const struct json *stored, const struct fpath *at,
                        struct field_errors *errs)
{
    struct survey y = { .errs = errs, .stored = stored };
    const struct cel_rules_place whole = {
        .schema = s, .at = at, .is_resource = true, .bounded = true, .times = 1
    };
    (void)survey(&y, &whole);
    for (size_t i = 0; i < y.n_dear && y.total > CEL_DEFINITION_COST_MAX; i++) {
        struct fpath here = fpath_child(NULL, y.dear[i].path);
        field_error(errs, FIELD_FORBIDDEN, &here, NULL,
                    "contributed to estimated rule cost total exceeding cost limit for entire "
                    "OpenAPIv3 schema");
    }
    if (y.total > CEL_DEFINITION_COST_MAX)
        too_dear(&y, at,
                 "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
                 y.total, CEL_DEFINITION_COST_MAX);
    arena_fini(&y.decls);
    arena_fini(&y.a);
}
