/* SPDX-License-Identifier: Apache-2.0 */
/* Webhooks of admission: which requests they see, where they are. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

static bool has_star(const struct json *list)
{
    json_each (s, list)
        if (str_is(json_str(s), "*"))
            return true;
    return false;
}

/* "*" stands for all: nothing may be beside it. */
static void alone_if_star(const struct spot *list, const char *others)
{
    if (spot_count(list) > 1 && has_star(list->v))
        say_invalid(list, say_text(list, "if '*' is present, must not specify other %s", others));
}

/* A resource with its subresource; what came before may have had all of one of them. */
static void subresource(const struct spot *s, struct map *stars)
{
    struct arena *a = s->errs->a;
    struct str resource, sub, text = spot_text(s);
    (void)str_cut(text, '/', &resource, &sub);
    struct str all_of = str_of(arena_printf(a, STR_FMT "/*", STR_ARG(resource)));
    struct str any = str_of(arena_printf(a, "*/" STR_FMT, STR_ARG(sub)));
    if (map_has(stars, all_of))
        say_invalid_text(s, say_text(s, "if '" STR_FMT "' is present, must not specify " STR_FMT,
                                     STR_ARG(all_of), STR_ARG(text)));
    if (map_has(stars, any))
        say_invalid_text(s, say_text(s, "if '" STR_FMT "' is present, must not specify " STR_FMT,
                                     STR_ARG(any), STR_ARG(text)));
    /* an entry may stand for both: they begin or end differently */
    if (str_is(sub, "*"))
        (void)map_put(stars, all_of, stars);
    if (str_is(resource, "*"))
        (void)map_put(stars, any, stars);
}

static void resources(const struct spot *list)
{
    struct map stars = { 0 };
    bool has_all = false, has_one_star = false, has_plain = false;
    need(list, NULL);
    spot_each (s, i, list) {
        if (spot_text(&s).n == 0) {
            say_required(&s, "");
            continue;
        }
        has_all = has_all || spot_is(&s, "*/*");
        has_one_star = has_one_star || spot_is(&s, "*");
        if (str_find_char(spot_text(&s), '/') < 0)
            has_plain = !spot_is(&s, "*"); /* upstream looks at the last */
        else
            subresource(&s, &stars);
    }
    map_fini(&stars);
    if (spot_count(list) > 1 && has_all)
        say_invalid(list, "if '*/*' is present, must not specify other resources");
    if (has_one_star && has_plain)
        say_invalid(list, "if '*' is present, must not specify other resources without "
                          "subresources");
}

static void rule(const struct spot *s)
{
    WORDS(operations_known, WORD("*"), WORD("CONNECT"), WORD("CREATE"), WORD("DELETE"),
          WORD("UPDATE"));
    WORDS(scopes, WORD("*"), WORD("Cluster"), WORD("Namespaced"));
    MEMBER(operations, s, "operations");
    MEMBER(groups, s, "apiGroups");
    MEMBER(versions, s, "apiVersions");
    MEMBER(names, s, "resources");
    MEMBER(scope, s, "scope");
    need(&operations, NULL);
    alone_if_star(&operations, "operations");
    spot_each (o, i, &operations)
        one_of_strictly(&o, &operations_known);
    need(&groups, NULL);
    alone_if_star(&groups, "API groups");
    need(&versions, NULL);
    alone_if_star(&versions, "API versions");
    spot_each (v, i, &versions)
        need(&v, NULL);
    resources(&names);
    one_of_or_none(&scope, &scopes);
}

/* ---- where they are ---- */

#define URL_FORM "; desired format: https://host[/path]"

static void webhook_url(const struct spot *s)
{
    struct str text = spot_text(s), scheme = STR(""), rest = text, tail, host, user;
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
        say_invalid_str(s, scheme, "'https' is the only allowed URL scheme" URL_FORM);
    if (host.n == 0)
        say_invalid_str(s, host, "host must be specified" URL_FORM);
    if (has_user)
        say_invalid_str(s, user, "user information is not permitted in the URL");
    if (fragment.n)
        say_invalid_str(s, fragment, "fragments are not permitted in the URL");
    if (query.n)
        say_invalid_str(s, query, "query parameters are not permitted in the URL");
}

static void service_path(const struct spot *s)
{
    struct str path = spot_text(s), step;
    if (path.n == 0 || str_is(path, "/"))
        return;
    if (str_is(path, "//")) {
        say_invalid_text(s, "segment[0] may not be empty");
        return;
    }
    if (path.p[0] != '/')
        say_invalid_text(s, "must start with a '/'");
    struct str rest = str_slice(path, 1, path.n);
    if (str_has_suffix(rest, STR("/")))
        rest = str_slice(rest, 0, rest.n - 1);
    bool more = true;
    for (size_t i = 0; more; i++) {
        more = str_cut(rest, '/', &step, &rest);
        struct meta_problems p = meta_check_dns1123_subdomain(step);
        if (step.n == 0)
            say_invalid_text(s, say_text(s, "segment[%zu] may not be empty", i));
        for (size_t k = 0; step.n && k < p.n; k++)
            say_invalid_text(s, say_text(s, "segment[%zu]: %s", i, p.text[k]));
    }
}

static void webhook_service(const struct spot *s)
{
    MEMBER(name, s, "name");
    MEMBER(ns, s, "namespace");
    MEMBER(port, s, "port");
    MEMBER(path, s, "path");
    /* Upstream mistakes one for the other. */
    struct spot odd_name = name, odd_ns = ns;
    odd_name.v = ns.v;
    odd_ns.v = name.v;
    need(&odd_name, NULL);
    need(&odd_ns, NULL);
    if (spot_number(&port) < 1 || spot_number(&port) > 65535)
        say_invalid_number(&port, "port is not valid: must be between 1 and 65535, inclusive");
    if (path.v)
        service_path(&path);
}

static void client(const struct spot *s)
{
    MEMBER(url, s, "url");
    MEMBER(service, s, "service");
    if (!url.v == !service.v)
        say_required(s, "exactly one of url or service is required");
    else if (url.v)
        webhook_url(&url);
    else
        webhook_service(&service);
}

/* ---- hooks ---- */

static void qualified_hook_name(const struct spot *s)
{
    struct str name = spot_text(s);
    size_t dots = 0;
    if (name.n == 0) {
        say_required(s, "");
        return;
    }
    struct meta_problems p = meta_check_dns1123_subdomain(name);
    if (p.n) {
        say_problems(s, name, p);
        return;
    }
    for (size_t i = 0; i < name.n; i++)
        dots += name.p[i] == '.';
    if (dots < 2)
        say_invalid_text(s, "should be a domain with at least three segments separated by dots");
}

static bool is_review_version(struct str v)
{
    return str_is(v, "v1") || str_is(v, "v1beta1");
}

static void review_versions(const struct spot *list)
{
    struct map seen = { 0 };
    bool known = false;
    if (spot_count(list) == 0) {
        say_required(list, "must specify one of v1, v1beta1");
        return;
    }
    spot_each (v, i, list) {
        if (map_put(&seen, spot_text(&v), &seen)) {
            say_invalid_text(&v, "duplicate version");
            continue;
        }
        say_problems(&v, spot_text(&v), meta_check_dns1035_label(spot_text(&v)));
        known = known || is_review_version(spot_text(&v));
    }
    map_fini(&seen);
    if (!known)
        say_invalid(list, "must include at least one of v1, v1beta1");
}

static void match_conditions(const struct spot *list)
{
    enum { CONDITIONS_MAX = 64 };
    struct map names = { 0 };
    if (spot_count(list) > CONDITIONS_MAX)
        say_too_many(list, CONDITIONS_MAX);
    spot_each (c, i, list) {
        MEMBER(expression, &c, "expression");
        MEMBER(name, &c, "name");
        need(&expression, NULL);
        if (spot_text(&name).n == 0)
            say_required(&name, "");
        else
            must_qualified_name(&name, NULL);
        if (spot_text(&name).n && map_put(&names, spot_text(&name), &names))
            say_duplicate_str(&name, spot_text(&name));
    }
    map_fini(&names);
}

static void webhook(const struct spot *s)
{
    WORDS(failure, WORD("Fail"), WORD("Ignore"));
    WORDS(matching, WORD("Equivalent"), WORD("Exact"));
    WORDS(harmless, WORD("None"), WORD("NoneOnDryRun"));
    WORDS(again, WORD("IfNeeded"), WORD("Never"));
    MEMBER(name, s, "name");
    MEMBER(rules, s, "rules");
    MEMBER(effects, s, "sideEffects");
    MEMBER(timeout, s, "timeoutSeconds");
    static const struct member_check policies[] = {
        { "failurePolicy", one_of_or_none, &failure },
        { "matchPolicy", one_of_or_none, &matching },
    };
    static const struct member_check selectors[] = {
        { "namespaceSelector", label_selector, NULL },
        { "objectSelector", label_selector, NULL },
        { "reinvocationPolicy", one_of_or_none, &again },
    };
    MEMBER(config, s, "clientConfig");
    MEMBER(conditions, s, "matchConditions");
    qualified_hook_name(&name);
    spot_each (r, i, &rules)
        rule(&r);
    CHECK_MEMBERS(s, policies);
    if (effects.v)
        one_of_strictly(&effects, &harmless);
    else
        say_required(&effects, "must specify one of None, NoneOnDryRun");
    if (timeout.v && (spot_number(&timeout) > 30 || spot_number(&timeout) < 1))
        say_invalid(&timeout, "the timeout value must be between 1 and 30 seconds");
    CHECK_MEMBERS(s, selectors);
    client(&config);
    match_conditions(&conditions);
}

void validate_webhooks(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct map names = { 0 };
    struct spot root = spot_root(obj, errs);
    MEMBER(hooks, &root, "webhooks");
    (void)old;
    spot_each (hook, i, &hooks) {
        MEMBER(name, &hook, "name");
        MEMBER(versions, &hook, "admissionReviewVersions");
        webhook(&hook);
        review_versions(&versions);
        if (spot_text(&name).n && map_put(&names, spot_text(&name), &names))
            say_duplicate_str(&name, spot_text(&name));
    }
    map_fini(&names);
}
