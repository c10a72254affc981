/* SPDX-License-Identifier: Apache-2.0 */
/* LimitRanges and ResourceQuotas. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

/* Generated from text/quotas.txt. */
#include "kube/rules/quotas_rules.h"

/* ---- LimitRanges ---- */

enum limit { LIMIT_MAX, LIMIT_MIN, LIMIT_DEFAULT, LIMIT_REQUEST, LIMIT_RATIO, LIMIT_N };
static const char *const limit_names[LIMIT_N] = { "max", "min", "default", "defaultRequest",
                                                  "maxLimitRequestRatio" };

/* The limits of one resource. */
struct quota_limits {
    struct str name;
    const struct json *v[LIMIT_N];
    struct quantity q[LIMIT_N];
    struct quota_limits *next;
};

static void limit_type(const struct validate_value *s, struct map *types)
{
    struct str type = value_text(s);
    struct meta_problems p = meta_check_qualified_name(type);
    report_problems(s, type, p);
    if (!p.n && str_find_char(type, '/') < 0 && !validate_enum_has(&enum_limit_type_standard, type))
        report_invalid_text(s, "must be a standard limit type or fully qualified");
    if (map_put(types, type, types))
        report_duplicate_str(s, type);
}

/*
 * Every pod of the namespace is compared with each of them, by name; upstream has no bound. A
 * server has tens of resources.
 */
enum { LIMIT_NAMES_MAX = 256 };

/* One of the lists; its limits are put into `by_name`, a new resource at the end of the chain. */
static void limit_list(const struct validate_value *s, enum limit which, enum resource_use use,
                       struct map *by_name, struct quota_limits ***end)
{
    MEMBER(list, s, limit_names[which]);
    if (value_count(&list) > LIMIT_NAMES_MAX) {
        report_too_many(&list, LIMIT_NAMES_MAX);
        return;
    }
    json_each (m, list.v) {
        struct validate_value at = value_key(&list, m);
        struct quota_limits *l = map_get(by_name, m->key);
        resource_name(&at, m->key, use);
        if (!l) {
            l = arena_new(s->errs->a, struct quota_limits);
            l->name = m->key;
            (void)map_put(by_name, m->key, l);
            **end = l;
            *end = &l->next;
        }
        l->v[which] = value_quantity(&at, &l->q[which]) ? m : NULL;
    }
}

static void say_limit(const struct validate_value *s, const struct quota_limits *l,
                      enum limit where, enum limit shown, const char *detail)
{
    MEMBER(list, s, limit_names[where]);
    const struct json named = { .key = l->name };
    struct validate_value at = value_key(&list, &named);
    report_invalid_str(&at, json_str(l->v[shown]), detail);
}

/* In each pair the first must not exceed the second. */
static void limits_in_order(const struct validate_value *s, const struct quota_limits *l)
{
    static const struct {
        enum limit low, high, where, shown;
        const char *low_words, *high_words;
    } pairs[] = {
        { LIMIT_MIN, LIMIT_MAX, LIMIT_MIN, LIMIT_MIN, "min value", "max value" },
        { LIMIT_MIN, LIMIT_REQUEST, LIMIT_REQUEST, LIMIT_REQUEST, "min value",
          "default request value" },
        { LIMIT_REQUEST, LIMIT_MAX, LIMIT_REQUEST, LIMIT_REQUEST, "default request value",
          "max value" },
        { LIMIT_REQUEST, LIMIT_DEFAULT, LIMIT_REQUEST, LIMIT_REQUEST, "default request value",
          "default limit value" },
        { LIMIT_MIN, LIMIT_DEFAULT, LIMIT_DEFAULT, LIMIT_MIN, "min value", "default value" },
        { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_DEFAULT, LIMIT_MAX, "default value", "max value" },
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        enum limit low = pairs[i].low, high = pairs[i].high;
        if (l->v[low] && l->v[high] && quantity_cmp(l->q[low], l->q[high]) > 0)
            say_limit(s, l, pairs[i].where, pairs[i].shown,
                      report_text(s, "%s " STR_FMT " is greater than %s " STR_FMT,
                                  pairs[i].low_words, STR_ARG(json_str(l->v[low])),
                                  pairs[i].high_words, STR_ARG(json_str(l->v[high]))));
    }
}

static void limit_ratio(const struct validate_value *s, const struct quota_limits *l)
{
    struct str ratio = json_str(l->v[LIMIT_RATIO]);
    const struct quantity one = { .nano = 1000000000 };
    if (!l->v[LIMIT_RATIO])
        return;
    if (quantity_cmp(l->q[LIMIT_RATIO], one) < 0)
        say_limit(s, l, LIMIT_RATIO, LIMIT_RATIO,
                  report_text(s, "ratio " STR_FMT " is less than 1", STR_ARG(ratio)));
    if (!l->v[LIMIT_MIN] || !l->v[LIMIT_MAX])
        return;
    double most = (double)l->q[LIMIT_MAX].nano / (double)l->q[LIMIT_MIN].nano;
    if ((double)l->q[LIMIT_RATIO].nano / 1e9 > most)
        say_limit(
            s, l, LIMIT_RATIO, LIMIT_RATIO,
            report_text(s, "ratio " STR_FMT " is greater than max/min = %f", STR_ARG(ratio), most));
}

static void limits_agree(const struct validate_value *s, const struct quota_limits *l)
{
    limits_in_order(s, l);
    limit_ratio(s, l);
    if (!resource_may_overcommit(l->name) && l->v[LIMIT_DEFAULT] && l->v[LIMIT_REQUEST] &&
        quantity_cmp(l->q[LIMIT_DEFAULT], l->q[LIMIT_REQUEST]) != 0)
        say_limit(s, l, LIMIT_REQUEST, LIMIT_REQUEST,
                  report_text(s,
                              "default value " STR_FMT
                              " must equal to defaultRequest value " STR_FMT " in " STR_FMT,
                              STR_ARG(json_str(l->v[LIMIT_DEFAULT])),
                              STR_ARG(json_str(l->v[LIMIT_REQUEST])), STR_ARG(l->name)));
}

static void no_defaults(const struct validate_value *s)
{
    for (enum limit i = LIMIT_DEFAULT; i <= LIMIT_REQUEST; i++) {
        MEMBER(list, s, limit_names[i]);
        if (value_count(&list))
            report_forbidden(&list, "may not be specified when `type` is 'Pod'");
    }
}

static void limit_item(const struct validate_value *s, struct map *types)
{
    struct map by_name = { 0 };
    struct quota_limits *first = NULL, **end = &first;
    MEMBER(type, s, "type");
    struct validate_value odd = value_named(s, "limits", NULL);
    bool is_pod = value_is(&type, "Pod");
    enum resource_use use =
        is_pod || value_is(&type, "Container") ? RESOURCE_CONTAINER : RESOURCE_ANY;
    limit_type(&type, types);
    limit_list(s, LIMIT_MAX, use, &by_name, &end);
    limit_list(s, LIMIT_MIN, use, &by_name, &end);
    if (is_pod) {
        no_defaults(s);
    } else {
        limit_list(s, LIMIT_DEFAULT, use, &by_name, &end);
        limit_list(s, LIMIT_REQUEST, use, &by_name, &end);
    }
    if (value_is(&type, "PersistentVolumeClaim") && !json_path(s->v, "min", "storage", NULL) &&
        !json_path(s->v, "max", "storage", NULL))
        report_required(&odd,
                        "either minimum or maximum storage value is required, but neither was "
                        "provided");
    limit_list(s, LIMIT_RATIO, use, &by_name, &end);
    for (const struct quota_limits *l = first; l; l = l->next)
        limits_agree(s, l);
    map_fini(&by_name);
}

void validate_limit_range(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct map types = { 0 };
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(limits, &spec, "limits");
    value_each (item, i, &limits)
        limit_item(&item, &types);
    map_fini(&types);
}

/* ---- ResourceQuotas ---- */

static void amounts(const struct validate_value *up, const char *name)
{
    MEMBER(list, up, name);
    json_each (m, list.v) {
        struct validate_value at = value_key(&list, m);
        resource_name(&at, m->key, RESOURCE_QUOTA);
        resource_value(&at, m->key);
    }
}

/* The scope applies to the counted resource. */
static bool scope_fits(struct str scope, struct str resource)
{
    bool of_pods =
        str_is(resource, "pods") || validate_enum_has(&enum_scope_fits_compute, resource);
    bool known = of_pods || validate_enum_has(&enum_scope_fits_standard, resource) ||
                 str_has_prefix(resource, STR("hugepages-")) ||
                 str_has_prefix(resource, STR("requests.hugepages-"));
    if (!known || !validate_enum_has(&enum_scopes, scope))
        return true;
    if (str_is(scope, "BestEffort"))
        return str_is(resource, "pods");
    if (str_is(scope, "VolumeAttributesClass"))
        return validate_enum_has(&enum_scope_fits_storage, resource);
    return of_pods;
}

static void scope_of_resources(const struct validate_value *at, const struct json *shown,
                               struct str scope, const struct json *hard)
{
    json_each (m, hard)
        if (!scope_fits(scope, m->key))
            report_invalid_value(at, shown, "unsupported scope applied to resource");
}

static void conflicting(const struct validate_value *at, const struct map *seen,
                        const struct json *shown)
{
    static const char *const pairs[][2] = { { "BestEffort", "NotBestEffort" },
                                            { "Terminating", "NotTerminating" } };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (map_has(seen, str_of(pairs[i][0])) && map_has(seen, str_of(pairs[i][1])))
            report_invalid_value(at, shown, "conflicting scopes");
}

/* Repeated scopes are ignored, since there may be many. */
static void quota_scopes(const struct validate_value *spec, const struct json *hard)
{
    struct map seen = { 0 };
    MEMBER(list, spec, "scopes");
    json_each (scope, list.v) {
        if (map_put(&seen, json_str(scope), &seen))
            continue;
        if (!validate_enum_has(&enum_scopes, json_str(scope)))
            report_invalid(&list, "unsupported scope");
        scope_of_resources(&list, list.v, json_str(scope), hard);
    }
    conflicting(&list, &seen, list.v);
    map_fini(&seen);
}

static void scope_requirement(const struct validate_value *at, const struct json *e)
{
    struct validate_value op = value_named(at, "operator", json_getc(e, "operator"));
    struct validate_value values = value_named(at, "values", json_getc(e, "values"));
    if (validate_enum_has(&enum_scope_requirement_only_exist, json_get_str(e, "scopeName")) &&
        !value_is(&op, "Exists"))
        report_invalid_text(&op,
                            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                            "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                            "ResourceQuotaScopeNotBestEffort or "
                            "ResourceQuotaScopeCrossNamespacePodAffinity");
    if (value_is(&op, "In") || value_is(&op, "NotIn")) {
        validate_required(&values,
                          "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                          "selector");
    } else if (!value_is(&op, "Exists") && !value_is(&op, "DoesNotExist")) {
        report_invalid_text(&op, "not a valid selector operator");
    } else if (value_count(&values)) {
        report_invalid(&values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for "
                                "scope selector");
    }
}

static void scope_selector(const struct validate_value *spec, const struct json *hard)
{
    struct map seen = { 0 };
    MEMBER(selector, spec, "scopeSelector");
    MEMBER(list, &selector, "matchExpressions");
    struct validate_value name = value_named(&list, "scopeName", NULL);
    json_each (e, list.v) {
        struct str scope = json_get_str(e, "scopeName");
        if (!validate_enum_has(&enum_scopes, scope))
            report_invalid_str(&name, scope, "unsupported scope");
        if (!map_has(&seen, scope))
            scope_of_resources(&list, selector.v, scope, hard);
        scope_requirement(&list, e);
        (void)map_put(&seen, scope, e);
    }
    conflicting(&list, &seen, json_getc(spec->v, "scopes"));
    map_fini(&seen);
}

static bool same_set(const struct json *a, const struct json *b)
{
    struct map first = { 0 }, second = { 0 };
    bool same = true;
    json_each (v, a)
        (void)map_put(&first, json_str(v), v);
    json_each (v, b) {
        (void)map_put(&second, json_str(v), v);
        same = same && map_has(&first, json_str(v));
    }
    same = same && first.n == second.n;
    map_fini(&first);
    map_fini(&second);
    return same;
}

void validate_resource_quota(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    MEMBER(list, &spec, "scopes");
    const struct json *hard = json_getc(spec.v, "hard");
    bool of_status = old && !value_same(status.v, json_getc(old, "status"));
    if (!of_status) {
        amounts(&spec, "hard");
        quota_scopes(&spec, hard);
        scope_selector(&spec, hard);
    }
    if (!old || of_status) {
        amounts(&status, "hard");
        amounts(&status, "used");
    }
    if (old && !same_set(list.v, json_path(old, "spec", "scopes", NULL)))
        report_invalid(&list, "field is immutable");
}
