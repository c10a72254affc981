/* SPDX-License-Identifier: Apache-2.0 */
/* HorizontalPodAutoscalers (as v2) and PodDisruptionBudgets. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <inttypes.h>

/* ---- metrics ---- */

/* Scaling and metrics are of kinds: their group is asked for, the core group has none to scale. */
enum api_version { ANY_VERSION, ANY_GROUP, NAMED_GROUP };

static void api_version(const struct spot *s, enum api_version rule)
{
    struct str group, version, text = spot_text(s);
    bool has_group = str_cut(text, '/', &group, &version);
    if (rule == ANY_VERSION)
        return;
    if (has_group && str_find_char(version, '/') >= 0)
        say_invalid_text(s, say_text(s, "unexpected GroupVersion string: " STR_FMT, STR_ARG(text)));
    else if (rule == NAMED_GROUP && !(has_group && group.n))
        say_invalid_text(s, "apiVersion must specify API group");
}

static void reference(const struct spot *s, enum api_version rule)
{
    static const struct member_check members[] = { { "kind", need_path_segment, NULL },
                                                   { "name", need_path_segment, NULL } };
    MEMBER(version, s, "apiVersion");
    CHECK_MEMBERS(s, members);
    api_version(&version, rule);
}

/* References that were there before stay as they are. */
static enum api_version target_rule(const struct spot *target, const struct json *old)
{
    const struct json *was = json_path(old, "spec", "scaleTargetRef", NULL);
    if (was && str_eq(member_text(target, "kind"), json_get_str(was, "kind")) &&
        str_eq(member_text(target, "apiVersion"), json_get_str(was, "apiVersion")))
        return ANY_VERSION;
    return str_is(member_text(target, "kind"), "ReplicationController") ? ANY_GROUP : NAMED_GROUP;
}

static void metric_name(const struct spot *source)
{
    MEMBER(metric, source, "metric");
    MEMBER(name, &metric, "name");
    need(&name, "must specify a metric name");
    if (spot_text(&name).n)
        say_problems(&name, spot_text(&name), meta_check_path_segment(spot_text(&name)));
}

static void positive(const struct spot *s)
{
    struct quantity q;
    if (spot_quantity(s, &q) && q.nano <= 0)
        say_invalid_text(s, "must be positive");
}

static void metric_target(const struct spot *s)
{
    MEMBER(type, s, "type");
    MEMBER(value, s, "value");
    MEMBER(average, s, "averageValue");
    MEMBER(utilization, s, "averageUtilization");
    need(&type, "must specify a metric target type");
    if (!spot_is(&type, "Utilization") && !spot_is(&type, "Value") &&
        !spot_is(&type, "AverageValue"))
        say_invalid_text(&type, "must be either Utilization, Value, or AverageValue");
    positive(&value);
    positive(&average);
    if (utilization.v && spot_number(&utilization) < 1)
        say_invalid(&utilization, "must be greater than 0");
}

static void object_metric(const struct spot *s)
{
    MEMBER(object, s, "describedObject");
    MEMBER(target, s, "target");
    MEMBER(average, &target, "averageValue");
    reference(&object, ANY_GROUP);
    metric_name(s);
    metric_target(&target);
    if (!member_set(&target, "value") && !average.v)
        say_required(&average, "must set either a target value or averageValue");
}

static void external_metric(const struct spot *s)
{
    MEMBER(target, s, "target");
    MEMBER(value, &target, "value");
    MEMBER(average, &target, "averageValue");
    metric_name(s);
    metric_target(&target);
    if (!value.v && !average.v)
        say_required(&average, "must set either a target value for metric or a per-pod target");
    if (value.v && average.v)
        say_forbidden(&value, "may not set both a target value for metric and a per-pod target");
}

static void pods_metric(const struct spot *s)
{
    MEMBER(target, s, "target");
    MEMBER(average, &target, "averageValue");
    metric_name(s);
    metric_target(&target);
    need(&average, "must specify a positive target averageValue");
}

static void resource_target(const struct spot *s)
{
    MEMBER(target, s, "target");
    MEMBER(average, &target, "averageValue");
    MEMBER(utilization, &target, "averageUtilization");
    metric_target(&target);
    if (!utilization.v && !average.v)
        say_required(&utilization, "must set either a target raw value or a target utilization");
    if (utilization.v && average.v)
        say_forbidden(&average, "may not set both a target raw value and a target utilization");
}

static void resource_metric(const struct spot *s)
{
    MEMBER(name, s, "name");
    need(&name, "must specify a resource name");
    resource_target(s);
}

static void container_metric(const struct spot *s)
{
    MEMBER(name, s, "name");
    MEMBER(container, s, "container");
    need(&name, "must specify a resource name");
    if (spot_text(&name).n)
        resource_name(&name, spot_text(&name), RESOURCE_CONTAINER);
    need(&container, "must specify a container");
    a_label(&container, NULL);
    resource_target(s);
}

static void metric(const struct spot *s)
{
    WORDS(types, WORD("ContainerResource"), WORD("External"), WORD("Object"), WORD("Pods"),
          WORD("Resource"));
    static const struct {
        const char *type, *name;
        void (*check)(const struct spot *s);
    } sources[] = { { "Object", "object", object_metric },
                    { "External", "external", external_metric },
                    { "Pods", "pods", pods_metric },
                    { "Resource", "resource", resource_metric },
                    { "ContainerResource", "containerResource", container_metric } };
    MEMBER(type, s, "type");
    size_t n = 0;
    need(&type, "must specify a metric source type");
    one_of_strictly(&type, &types);
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        MEMBER(source, s, sources[i].name);
        if (source.v && n++ == 0)
            sources[i].check(&source);
    }
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        MEMBER(source, s, sources[i].name);
        if (!source.v && spot_is(&type, sources[i].type))
            say_required(&source, "must populate information for the given metric source");
    }
    if (!words_has(&types, spot_text(&type)))
        say_unsupported(&type, &types);
    for (size_t i = 0; i < ARRAY_LEN(sources) && n != 1; i++) {
        MEMBER(source, s, sources[i].name);
        if (source.v && !spot_is(&type, sources[i].type))
            say_forbidden(&source, "must populate the given metric source only");
    }
}

/* ---- behaviour ---- */

static void scaling_policy(const struct spot *s, const void *unused)
{
    enum { PERIOD_MAX_S = 1800 };
    WORDS(types, WORD("Percent"), WORD("Pods"));
    MEMBER(type, s, "type");
    MEMBER(value, s, "value");
    MEMBER(period, s, "periodSeconds");
    one_of_strictly(&type, &types);
    if (spot_number(&value) <= 0)
        say_invalid_number(&value, "must be greater than zero");
    if (spot_number(&period) <= 0)
        say_invalid_number(&period, "must be greater than zero");
    if (spot_number(&period) > PERIOD_MAX_S)
        say_invalid(&period, "must be less than or equal to 1800");
}

static void scaling_rules(const struct spot *s, const void *unused)
{
    enum { WINDOW_MAX_S = 3600 };
    WORDS(selects, WORD("Disabled"), WORD("Max"), WORD("Min"));
    static const struct each policy = { scaling_policy, NULL };
    MEMBER(window, s, "stabilizationWindowSeconds");
    MEMBER(select, s, "selectPolicy");
    MEMBER(policies, s, "policies");
    MEMBER(tolerance, s, "tolerance");
    struct quantity q;
    if (!s->v)
        return;
    if (spot_number(&window) < 0)
        say_invalid(&window, "must be greater than or equal to zero");
    if (spot_number(&window) > WINDOW_MAX_S)
        say_invalid(&window, "must be less than or equal to 3600");
    one_of_or_none(&select, &selects);
    need(&policies, "must specify at least one Policy");
    each(&policies, &policy);
    if (spot_quantity(&tolerance, &q) && q.nano < 0)
        say_invalid_text(&tolerance, "must be greater than or equal to 0");
}

static void autoscaler_spec(const struct spot *spec, const struct json *old, int64_t least)
{
    static const struct member_check directions[] = { { "scaleUp", scaling_rules, NULL },
                                                      { "scaleDown", scaling_rules, NULL } };
    MEMBER(min, spec, "minReplicas");
    MEMBER(max, spec, "maxReplicas");
    MEMBER(target, spec, "scaleTargetRef");
    MEMBER(metrics, spec, "metrics");
    MEMBER(behavior, spec, "behavior");
    bool beyond_resources = false;
    if (min.v && spot_number(&min) < least)
        say_invalid(&min, say_text(spec, "must be greater than or equal to %" PRId64, least));
    if (spot_number(&max) == 0)
        say_required(&max, "must be set and greater than 0");
    else if (spot_number(&max) < 0)
        say_invalid_number(&max, "must be greater than or equal to 1");
    if (min.v && spot_number(&max) < spot_number(&min))
        say_invalid_number(&max, "must be greater than or equal to `minReplicas`");
    reference(&target, target_rule(&target, old));
    spot_each (m, i, &metrics) {
        struct str type = member_text(&m, "type");
        metric(&m);
        beyond_resources = beyond_resources || str_is(type, "Object") || str_is(type, "External");
    }
    if (min.v && spot_number(&min) == 0 && !beyond_resources)
        say_forbidden(&metrics, "must specify at least one Object or External metric to support "
                                "scaling to zero replicas");
    CHECK_MEMBERS(&behavior, directions);
}

void validate_autoscaler(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const char *const counters[] = { "currentReplicas", "desiredReplicas" };
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    const struct json *before = json_path(old, "spec", "minReplicas", NULL);
    bool was_zero = json_is(before, JSON_NUMBER) && json_int_or(before, 1) == 0;
    if (old && !json_same(status.v, json_getc(old, "status"))) {
        status_counters(&status, counters, ARRAY_LEN(counters));
        return;
    }
    autoscaler_spec(&spec, old, was_zero ? 0 : 1);
}

/* ---- PodDisruptionBudgets ---- */

static void budget_status(const struct spot *status)
{
    static const char *const counters[] = { "disruptionsAllowed", "currentHealthy",
                                            "desiredHealthy", "expectedPods" };
    status_counters(status, counters, ARRAY_LEN(counters));
}

void validate_budget(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    WORDS(policies, WORD("AlwaysAllow"), WORD("IfHealthyBudget"));
    static const char layout[] =
        "MinAvailable=minAvailable/null Selector=selector/null MaxUnavailable=maxUnavailable/null "
        "UnhealthyPodEvictionPolicy=unhealthyPodEvictionPolicy/null";
    static const char *const amounts[] = { "minAvailable", "maxUnavailable" };
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    MEMBER(selector, &spec, "selector");
    MEMBER(policy, &spec, "unhealthyPodEvictionPolicy");
    if (old && !json_same(status.v, json_getc(old, "status"))) {
        budget_status(&status);
        return;
    }
    if (member_set(&spec, "minAvailable") && member_set(&spec, "maxUnavailable"))
        say_invalid_value(&spec, go_struct(errs->a, spec.v, layout),
                          "minAvailable and maxUnavailable cannot be both set");
    for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
        MEMBER(m, &spec, amounts[i]);
        int_or_percent(&m);
        at_most_100_percent(&m);
    }
    label_selector(&selector, NULL);
    one_of_or_none(&policy, &policies);
}
