/* SPDX-License-Identifier: Apache-2.0 */
/* Admission webhooks: the requests that they match, and their addresses. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

/* Generated from text/webhooks.txt. */
#include "kube/rules/webhooks_rules.h"

static bool has_star(const struct json *list)
{
    json_each (s, list)
        if (str_is(json_str(s), "*"))
            return true;
    return false;
}

/* "*" matches all: it must be the only entry. */
static void alone_if_star(const struct validate_value *list, const char *others)
{
    if (value_count(list) > 1 && has_star(list->v))
        report_invalid(list,
                       report_text(list, "if '*' is present, must not specify other %s", others));
}

/* A resource with its subresource, which an earlier entry with "*" must not include. */
static void subresource(const struct validate_value *s, struct map *stars)
{
    struct arena *a = s->errs->a;
    struct str resource, sub, text = value_text(s);
    (void)str_cut(text, '/', &resource, &sub);
    struct str all_of = str_of(arena_printf(a, STR_FMT "/*", STR_ARG(resource)));
    struct str any = str_of(arena_printf(a, "*/" STR_FMT, STR_ARG(sub)));
    if (map_has(stars, all_of))
        report_invalid_text(s,
                            report_text(s, "if '" STR_FMT "' is present, must not specify " STR_FMT,
                                        STR_ARG(all_of), STR_ARG(text)));
    if (map_has(stars, any))
        report_invalid_text(s,
                            report_text(s, "if '" STR_FMT "' is present, must not specify " STR_FMT,
                                        STR_ARG(any), STR_ARG(text)));
    /* the two keys cannot collide: they begin or end differently */
    if (str_is(sub, "*"))
        (void)map_put(stars, all_of, stars);
    if (str_is(resource, "*"))
        (void)map_put(stars, any, stars);
}

static void resources(const struct validate_value *list)
{
    struct map stars = { 0 };
    bool has_all = false, has_one_star = false, has_plain = false;
    validate_required(list, NULL);
    value_each (s, i, list) {
        if (value_text(&s).n == 0) {
            report_required(&s, "");
            continue;
        }
        has_all = has_all || value_is(&s, "*/*");
        has_one_star = has_one_star || value_is(&s, "*");
        if (str_find_char(value_text(&s), '/') < 0)
            has_plain = !value_is(&s, "*"); /* upstream checks only the last entry */
        else
            subresource(&s, &stars);
    }
    map_fini(&stars);
    if (value_count(list) > 1 && has_all)
        report_invalid(list, "if '*/*' is present, must not specify other resources");
    if (has_one_star && has_plain)
        report_invalid(list, "if '*' is present, must not specify other resources without "
                             "subresources");
}

static void rule(const struct validate_value *s)
{
    MEMBER(operations, s, "operations");
    MEMBER(groups, s, "apiGroups");
    MEMBER(versions, s, "apiVersions");
    MEMBER(names, s, "resources");
    MEMBER(scope, s, "scope");
    validate_required(&operations, NULL);
    alone_if_star(&operations, "operations");
    value_each (o, i, &operations)
        validate_enum_strict(&o, &enum_rule_operations_known);
    validate_required(&groups, NULL);
    alone_if_star(&groups, "API groups");
    validate_required(&versions, NULL);
    alone_if_star(&versions, "API versions");
    value_each (v, i, &versions)
        validate_required(&v, NULL);
    resources(&names);
    validate_enum_if_set(&scope, &enum_rule_scopes);
}

/* ---- addresses ---- */

#define URL_FORM "; desired format: https://host[/path]"

static void webhook_url(const struct validate_value *s)
{
    struct str text = value_text(s), scheme = STR(""), rest = text, tail, host, user;
    ptrdiff_t colon = str_find_char(text, ':');
    if (colon > 0) {
        scheme = str_lower_arena(s->errs->a, str_slice(text, 0, (size_t)colon));
        rest = str_slice(text, (size_t)colon + 1, text.n);
    }
    struct str fragment = STR(""), query = STR("");
    (void)str_cut(rest, '#', &rest, &fragment);
    (void)str_cut(rest, '?', &rest, &query);
    host = STR("");
    if (str_has_prefix(rest, STR("//")))
        (void)str_cut(str_slice(rest, 2, rest.n), '/', &host, &tail);
    bool has_user = str_cut(host, '@', &user, &tail);
    if (has_user)
        host = tail;
    if (!str_is(scheme, "https"))
        report_invalid_str(s, scheme, "'https' is the only allowed URL scheme" URL_FORM);
    if (host.n == 0)
        report_invalid_str(s, host, "host must be specified" URL_FORM);
    if (has_user)
        report_invalid_str(s, user, "user information is not permitted in the URL");
    if (fragment.n)
        report_invalid_str(s, fragment, "fragments are not permitted in the URL");
    if (query.n)
        report_invalid_str(s, query, "query parameters are not permitted in the URL");
}

static void service_path(const struct validate_value *s)
{
    struct str path = value_text(s), step;
    if (path.n == 0 || str_is(path, "/"))
        return;
    if (str_is(path, "//")) {
        report_invalid_text(s, "segment[0] may not be empty");
        return;
    }
    if (path.p[0] != '/')
        report_invalid_text(s, "must start with a '/'");
    struct str rest = str_slice(path, 1, path.n);
    if (str_has_suffix(rest, STR("/")))
        rest = str_slice(rest, 0, rest.n - 1);
    bool more = true;
    for (size_t i = 0; more; i++) {
        more = str_cut(rest, '/', &step, &rest);
        struct meta_problems p = meta_check_dns1123_subdomain(step);
        if (step.n == 0)
            report_invalid_text(s, report_text(s, "segment[%zu] may not be empty", i));
        for (size_t k = 0; step.n && k < p.n; k++)
            report_invalid_text(s, report_text(s, "segment[%zu]: %s", i, p.text[k]));
    }
}

static void webhook_service(const struct validate_value *s)
{
    MEMBER(name, s, "name");
    MEMBER(ns, s, "namespace");
    MEMBER(port, s, "port");
    MEMBER(path, s, "path");
    /* Upstream confuses the two. */
    struct validate_value odd_name = name, odd_ns = ns;
    odd_name.v = ns.v;
    odd_ns.v = name.v;
    validate_required(&odd_name, NULL);
    validate_required(&odd_ns, NULL);
    if (value_number(&port) < 1 || value_number(&port) > 65535)
        report_invalid_number(&port, "port is not valid: must be between 1 and 65535, inclusive");
    if (path.v)
        service_path(&path);
}

static void client(const struct validate_value *s)
{
    MEMBER(url, s, "url");
    MEMBER(service, s, "service");
    if (!url.v == !service.v)
        report_required(s, "exactly one of url or service is required");
    else if (url.v)
        webhook_url(&url);
    else
        webhook_service(&service);
}

/* ---- hooks ---- */

static void qualified_hook_name(const struct validate_value *s)
{
    struct str name = value_text(s);
    size_t dots = 0;
    if (name.n == 0) {
        report_required(s, "");
        return;
    }
    struct meta_problems p = meta_check_dns1123_subdomain(name);
    if (p.n) {
        report_problems(s, name, p);
        return;
    }
    for (size_t i = 0; i < name.n; i++)
        dots += name.p[i] == '.';
    if (dots < 2)
        report_invalid_text(s, "should be a domain with at least three segments separated by dots");
}

static bool is_review_version(struct str v)
{
    return str_is(v, "v1") || str_is(v, "v1beta1");
}

static void review_versions(const struct validate_value *list)
{
    struct map seen = { 0 };
    bool known = false;
    if (value_count(list) == 0) {
        report_required(list, "must specify one of v1, v1beta1");
        return;
    }
    value_each (v, i, list) {
        if (map_put(&seen, value_text(&v), &seen)) {
            report_invalid_text(&v, "duplicate version");
            continue;
        }
        report_problems(&v, value_text(&v), meta_check_dns1035_label(value_text(&v)));
        known = known || is_review_version(value_text(&v));
    }
    map_fini(&seen);
    if (!known)
        report_invalid(list, "must include at least one of v1, v1beta1");
}

static void match_conditions(const struct validate_value *list)
{
    enum { CONDITIONS_MAX = 64 };
    struct map names = { 0 };
    if (value_count(list) > CONDITIONS_MAX)
        report_too_many(list, CONDITIONS_MAX);
    value_each (c, i, list) {
        MEMBER(expression, &c, "expression");
        MEMBER(name, &c, "name");
        validate_required(&expression, NULL);
        if (value_text(&name).n == 0)
            report_required(&name, "");
        else
            validate_qualified_name(&name, NULL);
        if (value_text(&name).n && map_put(&names, value_text(&name), &names))
            report_duplicate_str(&name, value_text(&name));
    }
    map_fini(&names);
}

static void webhook(const struct validate_value *s)
{
    MEMBER(name, s, "name");
    MEMBER(rules, s, "rules");
    MEMBER(effects, s, "sideEffects");
    MEMBER(timeout, s, "timeoutSeconds");
    MEMBER(config, s, "clientConfig");
    MEMBER(conditions, s, "matchConditions");
    qualified_hook_name(&name);
    value_each (r, i, &rules)
        rule(&r);
    VALIDATE_MEMBERS(s, rules_webhook_policies);
    if (effects.v)
        validate_enum_strict(&effects, &enum_webhook_harmless);
    else
        report_required(&effects, "must specify one of None, NoneOnDryRun");
    if (timeout.v && (value_number(&timeout) > 30 || value_number(&timeout) < 1))
        report_invalid(&timeout, "the timeout value must be between 1 and 30 seconds");
    VALIDATE_MEMBERS(s, rules_webhook_selectors);
    client(&config);
    match_conditions(&conditions);
}

void validate_webhooks(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct map names = { 0 };
    struct validate_value root = value_root(obj, errs);
    MEMBER(hooks, &root, "webhooks");
    (void)old;
    value_each (hook, i, &hooks) {
        MEMBER(name, &hook, "name");
        MEMBER(versions, &hook, "admissionReviewVersions");
        webhook(&hook);
        review_versions(&versions);
        if (value_text(&name).n && map_put(&names, value_text(&name), &names))
            report_duplicate_str(&name, value_text(&name));
    }
    map_fini(&names);
}
