/* SPDX-License-Identifier: Apache-2.0 */
/* Names and amounts of resources: requests and limits, capacities, quotas. */
#include "kube/rules/validate/check.h"

/* Generated from text/resources.txt. */
#include "kube/rules/resources_rules.h"

static bool is_huge_pages(struct str name)
{
    return str_has_prefix(name, STR("hugepages-"));
}

static bool is_quota_huge_pages(struct str name)
{
    return is_huge_pages(name) || str_has_prefix(name, STR("requests.hugepages-"));
}

bool resource_is_native(struct str name)
{
    return str_find_char(name, '/') < 0 || str_find(name, STR("kubernetes.io/")) >= 0;
}

bool resource_may_overcommit(struct str name)
{
    return resource_is_native(name) && !is_huge_pages(name);
}

/* The name must also be qualified with the prefix "requests.", which quotas use. */
static bool is_extended_resource(struct str name)
{
    char in_quota[512];
    if (resource_is_native(name) || str_has_prefix(name, STR("requests.")) ||
        name.n > sizeof in_quota - 9)
        return false;
    memcpy(in_quota, "requests.", 9);
    memcpy(in_quota + 9, name.p, name.n);
    return meta_check_qualified_name(str_n(in_quota, name.n + 9)).n == 0;
}

/* ---- names ---- */

/* false: an error is reported already, others would repeat it. */
static bool known_name(const struct validate_value *s, struct str name)
{
    struct meta_problems p = meta_check_qualified_name(name);
    bool known = str_find_char(name, '/') >= 0 || str_is(name, "storage") ||
                 validate_enum_has(&enum_quota_resources, name) || is_quota_huge_pages(name);
    report_problems(s, name, p);
    if (!p.n && !known)
        report_invalid_str(s, name, "must be a standard resource type or fully qualified");
    return !p.n && known;
}

static void container_name(const struct validate_value *s, struct str name)
{
    if (str_find_char(name, '/') < 0) {
        if (!validate_enum_has(&enum_container_resources, name) && !is_huge_pages(name))
            report_invalid_str(s, name, "must be a standard resource for containers");
    } else if (!resource_is_native(name) && !is_extended_resource(name)) {
        report_invalid_str(s, name, "doesn't follow extended resource name standard");
    }
}

static void pod_name(const struct validate_value *s, struct str name)
{
    if (!str_is(name, "cpu") && !str_is(name, "memory") && !is_huge_pages(name))
        field_error_enum(s->errs, value_path(s), json_new_str(s->errs->a, name),
                         enum_pod_resources.p, enum_pod_resources.n);
}

void resource_name(const struct validate_value *s, struct str name, enum resource_use use)
{
    bool known = known_name(s, name);
    switch (use) {
    case RESOURCE_CONTAINER:
        container_name(s, name);
        break;
    case RESOURCE_POD:
        if (known)
            pod_name(s, name);
        break;
    case RESOURCE_QUOTA:
        if (str_find_char(name, '/') < 0 && !validate_enum_has(&enum_quota_resources, name) &&
            !is_quota_huge_pages(name))
            report_invalid_str(s, name, "must be a standard resource for quota");
        break;
    case RESOURCE_ANY:
        break;
    }
}

/* ---- amounts ---- */

void resource_value(const struct validate_value *s, struct str name)
{
    struct quantity q;
    if (!value_quantity(s, &q))
        return;
    if (q.nano < 0)
        report_invalid_text(s, "must be greater than or equal to 0");
    if ((validate_enum_has(&enum_integer_resources, name) || is_extended_resource(name)) &&
        quantity_milli(q) % 1000 != 0)
        report_invalid_text(s, "must be an integer");
}

static void huge_pages_value(const struct validate_value *s, struct str name)
{
    struct quantity q, page;
    struct str size = str_slice(name, sizeof "hugepages-" - 1, name.n);
    if (!is_huge_pages(name) || !value_quantity(s, &q))
        return;
    if (quantity_parse(size, &page, NULL) < 0 || page.nano <= 0 ||
        quantity_milli(page) % 1000 != 0 || quantity_value(q) % quantity_value(page) != 0)
        report_invalid_text(s,
                            report_text(s, STR_FMT " is not positive integer multiple of " STR_FMT,
                                        STR_ARG(value_text(s)), STR_ARG(name)));
}

struct resources_seen {
    bool huge_pages, cpu_or_memory;
};

static void one_resource(const struct validate_value *s, struct str name, enum resource_use use,
                         struct resources_seen *seen)
{
    resource_name(s, name, use);
    resource_value(s, name);
    seen->huge_pages = seen->huge_pages || is_huge_pages(name);
    seen->cpu_or_memory = seen->cpu_or_memory || str_is(name, "cpu") || str_is(name, "memory");
}

/* s: the requested amount; requests, limits: the lists, for their paths. */
static void request_within_limit(const struct validate_value *s,
                                 const struct validate_value *requests,
                                 const struct validate_value *limits, const struct json *limit,
                                 struct str name)
{
    struct quantity asked, most;
    if (!limit) {
        if (!resource_may_overcommit(name))
            report_required(limits, "Limit must be set for non overcommitable resources");
        return;
    }
    if (!value_quantity(s, &asked) || quantity_parse(json_str(limit), &most, NULL) < 0)
        return;
    int order = quantity_cmp(asked, most);
    if (order != 0 && !resource_may_overcommit(name))
        report_invalid_str(requests, value_text(s),
                           report_text(s, "must be equal to " STR_FMT " limit of " STR_FMT,
                                       STR_ARG(name), STR_ARG(json_str(limit))));
    else if (order > 0)
        report_invalid_str(
            requests, value_text(s),
            report_text(s, "must be less than or equal to " STR_FMT " limit of " STR_FMT,
                        STR_ARG(name), STR_ARG(json_str(limit))));
}

void resource_limits(const struct validate_value *list, enum resource_use use)
{
    struct resources_seen seen = { 0 };
    json_each (m, list->v) {
        struct validate_value s = value_key(list, m);
        one_resource(&s, m->key, use, &seen);
        huge_pages_value(&s, m->key);
    }
}

static const char *claim_names(struct arena *a, const struct map *claims)
{
    struct json *names = json_new_object(a);
    map_each (e, claims)
        json_set(a, names, e->key, json_new_null(a));
    struct buf b = BUF_INIT(16 * 1024);
    json_each (n, value_sorted_map(a, names)) {
        (void)buf_add_cstr(&b, b.n ? ", " : "");
        (void)buf_add_str(&b, n->key);
    }
    char *text = str_dup_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static void claim(const struct validate_value *s, struct map *used, const struct map *claims)
{
    MEMBER(request, s, "request");
    struct str name = value_member_text(s, "name"), whole = name;
    if (name.n == 0) {
        report_required(s, "");
        return;
    }
    if (map_has(used, name)) {
        report_duplicate_str(s, name);
    } else {
        validate_label_if_set(&request, NULL);
        if (value_text(&request).n)
            whole = str_of(
                report_text(s, STR_FMT "/" STR_FMT, STR_ARG(name), STR_ARG(value_text(&request))));
        /* The key "name/" is set if any request of the claim was named. */
        struct str any = str_of(report_text(s, STR_FMT "/", STR_ARG(name)));
        if (map_has(used, whole))
            report_duplicate_str(s, whole);
        else if (value_text(&request).n == 0 && map_has(used, any))
            report_duplicate_str(s, name);
        (void)map_put(used, whole, used);
        if (value_text(&request).n)
            (void)map_put(used, any, used);
    }
    if (!map_has(claims, name))
        field_error_str(s->errs, FIELD_NOT_FOUND, value_path(s), name,
                        "must be one of the names in pod.spec.resourceClaims%s%s",
                        claims->n ? ": " : " which is empty",
                        claims->n ? claim_names(s->errs->a, claims) : "");
}

void resource_requirements(const struct validate_value *s, enum resource_use use,
                           const struct map *claims)
{
    MEMBER(limits, s, "limits");
    MEMBER(requests, s, "requests");
    MEMBER(claim_list, s, "claims");
    struct resources_seen seen = { 0 };
    struct map by_name = { 0 }, used = { 0 };
    json_each (m, limits.v) {
        struct validate_value at = value_key(&limits, m);
        one_resource(&at, m->key, use, &seen);
        huge_pages_value(&at, m->key);
        (void)map_put(&by_name, m->key, m);
    }
    json_each (m, requests.v) {
        struct validate_value at = value_key(&requests, m);
        one_resource(&at, m->key, use, &seen);
        request_within_limit(&at, &requests, &limits, map_get(&by_name, m->key), m->key);
        huge_pages_value(&at, m->key);
    }
    if (seen.huge_pages && !seen.cpu_or_memory)
        report_forbidden(s, "HugePages require cpu or memory");
    if (claims)
        value_each (c, i, &claim_list)
            claim(&c, &used, claims);
    map_fini(&by_name);
    map_fini(&used);
}
