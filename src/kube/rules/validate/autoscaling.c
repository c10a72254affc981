/* SPDX-License-Identifier: Apache-2.0 */
/* HorizontalPodAutoscalers (as v2) and PodDisruptionBudgets. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <inttypes.h>

/* Generated from text/autoscaling.txt. */
#include "kube/rules/autoscaling_rules.h"

/* ---- metrics ---- */

/*
 * How a reference's apiVersion is checked: scale targets and metrics name a kind by its group, and
 * the core group has no scalable kinds.
 */
enum api_version { ANY_VERSION, ANY_GROUP, NAMED_GROUP };

static void api_version(const struct validate_value *s, enum api_version rule)
{
    struct str group, version, text = value_text(s);
    bool has_group = str_cut(text, '/', &group, &version);
    if (rule == ANY_VERSION)
        return;
    if (has_group && str_find_char(version, '/') >= 0)
        report_invalid_text(
            s, report_text(s, "unexpected GroupVersion string: " STR_FMT, STR_ARG(text)));
    else if (rule == NAMED_GROUP && !(has_group && group.n))
        report_invalid_text(s, "apiVersion must specify API group");
}

static void reference(const struct validate_value *s, enum api_version rule)
{
    MEMBER(version, s, "apiVersion");
    VALIDATE_MEMBERS(s, rules_reference);
    api_version(&version, rule);
}

/* References that do not change are not checked. */
static enum api_version target_rule(const struct validate_value *target, const struct json *old)
{
    const struct json *was = json_path(old, "spec", "scaleTargetRef", NULL);
    if (was && str_eq(value_member_text(target, "kind"), json_get_str(was, "kind")) &&
        str_eq(value_member_text(target, "apiVersion"), json_get_str(was, "apiVersion")))
        return ANY_VERSION;
    return str_is(value_member_text(target, "kind"), "ReplicationController") ? ANY_GROUP
                                                                              : NAMED_GROUP;
}

static void metric_name(const struct validate_value *source)
{
    MEMBER(metric, source, "metric");
    MEMBER(name, &metric, "name");
    validate_required(&name, "must specify a metric name");
    if (value_text(&name).n)
        report_problems(&name, value_text(&name), meta_check_path_segment(value_text(&name)));
}

static void positive(const struct validate_value *s)
{
    struct quantity q;
    if (value_quantity(s, &q) && q.nano <= 0)
        report_invalid_text(s, "must be positive");
}

static void metric_target(const struct validate_value *s)
{
    MEMBER(type, s, "type");
    MEMBER(value, s, "value");
    MEMBER(average, s, "averageValue");
    MEMBER(utilization, s, "averageUtilization");
    validate_required(&type, "must specify a metric target type");
    if (!value_is(&type, "Utilization") && !value_is(&type, "Value") &&
        !value_is(&type, "AverageValue"))
        report_invalid_text(&type, "must be either Utilization, Value, or AverageValue");
    positive(&value);
    positive(&average);
    if (utilization.v && value_number(&utilization) < 1)
        report_invalid(&utilization, "must be greater than 0");
}

static void object_metric(const struct validate_value *s)
{
    MEMBER(object, s, "describedObject");
    MEMBER(target, s, "target");
    MEMBER(average, &target, "averageValue");
    reference(&object, ANY_GROUP);
    metric_name(s);
    metric_target(&target);
    if (!value_has(&target, "value") && !average.v)
        report_required(&average, "must set either a target value or averageValue");
}

static void external_metric(const struct validate_value *s)
{
    MEMBER(target, s, "target");
    MEMBER(value, &target, "value");
    MEMBER(average, &target, "averageValue");
    metric_name(s);
    metric_target(&target);
    if (!value.v && !average.v)
        report_required(&average, "must set either a target value for metric or a per-pod target");
    if (value.v && average.v)
        report_forbidden(&value, "may not set both a target value for metric and a per-pod target");
}

static void pods_metric(const struct validate_value *s)
{
    MEMBER(target, s, "target");
    MEMBER(average, &target, "averageValue");
    metric_name(s);
    metric_target(&target);
    validate_required(&average, "must specify a positive target averageValue");
}

static void resource_target(const struct validate_value *s)
{
    MEMBER(target, s, "target");
    MEMBER(average, &target, "averageValue");
    MEMBER(utilization, &target, "averageUtilization");
    metric_target(&target);
    if (!utilization.v && !average.v)
        report_required(&utilization, "must set either a target raw value or a target utilization");
    if (utilization.v && average.v)
        report_forbidden(&average, "may not set both a target raw value and a target utilization");
}

static void resource_metric(const struct validate_value *s)
{
    MEMBER(name, s, "name");
    validate_required(&name, "must specify a resource name");
    resource_target(s);
}

static void container_metric(const struct validate_value *s)
{
    MEMBER(name, s, "name");
    MEMBER(container, s, "container");
    validate_required(&name, "must specify a resource name");
    if (value_text(&name).n)
        resource_name(&name, value_text(&name), RESOURCE_CONTAINER);
    validate_required(&container, "must specify a container");
    validate_label_if_set(&container, NULL);
    resource_target(s);
}

static void metric(const struct validate_value *s)
{
    static const struct {
        const char *type, *name;
        void (*check)(const struct validate_value *s);
    } sources[] = { { "Object", "object", object_metric },
                    { "External", "external", external_metric },
                    { "Pods", "pods", pods_metric },
                    { "Resource", "resource", resource_metric },
                    { "ContainerResource", "containerResource", container_metric } };
    MEMBER(type, s, "type");
    size_t n = 0;
    validate_required(&type, "must specify a metric source type");
    validate_enum_strict(&type, &enum_metric_types);
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        MEMBER(source, s, sources[i].name);
        if (source.v && n++ == 0)
            sources[i].check(&source);
    }
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        MEMBER(source, s, sources[i].name);
        if (!source.v && value_is(&type, sources[i].type))
            report_required(&source, "must populate information for the given metric source");
    }
    if (!validate_enum_has(&enum_metric_types, value_text(&type)))
        report_not_supported(&type, &enum_metric_types);
    for (size_t i = 0; i < ARRAY_LEN(sources) && n != 1; i++) {
        MEMBER(source, s, sources[i].name);
        if (source.v && !value_is(&type, sources[i].type))
            report_forbidden(&source, "must populate the given metric source only");
    }
}

/* ---- behaviour ---- */

static void scaling_policy(const struct validate_value *s, const void *unused)
{
    enum { PERIOD_MAX_S = 1800 };
    MEMBER(type, s, "type");
    MEMBER(value, s, "value");
    MEMBER(period, s, "periodSeconds");
    validate_enum_strict(&type, &enum_scaling_policy_types);
    if (value_number(&value) <= 0)
        report_invalid_number(&value, "must be greater than zero");
    if (value_number(&period) <= 0)
        report_invalid_number(&period, "must be greater than zero");
    if (value_number(&period) > PERIOD_MAX_S)
        report_invalid(&period, "must be less than or equal to 1800");
}

static void scaling_rules(const struct validate_value *s, const void *unused)
{
    enum { WINDOW_MAX_S = 3600 };
    static const struct validate_each policy = { scaling_policy, NULL };
    MEMBER(window, s, "stabilizationWindowSeconds");
    MEMBER(select, s, "selectPolicy");
    MEMBER(policies, s, "policies");
    MEMBER(tolerance, s, "tolerance");
    struct quantity q;
    if (!s->v)
        return;
    if (value_number(&window) < 0)
        report_invalid(&window, "must be greater than or equal to zero");
    if (value_number(&window) > WINDOW_MAX_S)
        report_invalid(&window, "must be less than or equal to 3600");
    validate_enum_if_set(&select, &enum_scaling_rules_selects);
    validate_required(&policies, "must specify at least one Policy");
    validate_each(&policies, &policy);
    if (value_quantity(&tolerance, &q) && q.nano < 0)
        report_invalid_text(&tolerance, "must be greater than or equal to 0");
}

static void autoscaler_spec(const struct validate_value *spec, const struct json *old,
                            int64_t least)
{
    MEMBER(min, spec, "minReplicas");
    MEMBER(max, spec, "maxReplicas");
    MEMBER(target, spec, "scaleTargetRef");
    MEMBER(metrics, spec, "metrics");
    MEMBER(behavior, spec, "behavior");
    bool beyond_resources = false;
    if (min.v && value_number(&min) < least)
        report_invalid(&min, report_text(spec, "must be greater than or equal to %" PRId64, least));
    if (value_number(&max) == 0)
        report_required(&max, "must be set and greater than 0");
    else if (value_number(&max) < 0)
        report_invalid_number(&max, "must be greater than or equal to 1");
    if (min.v && value_number(&max) < value_number(&min))
        report_invalid_number(&max, "must be greater than or equal to `minReplicas`");
    reference(&target, target_rule(&target, old));
    value_each (m, i, &metrics) {
        struct str type = value_member_text(&m, "type");
        metric(&m);
        beyond_resources = beyond_resources || str_is(type, "Object") || str_is(type, "External");
    }
    if (min.v && value_number(&min) == 0 && !beyond_resources)
        report_forbidden(&metrics, "must specify at least one Object or External metric to support "
                                   "scaling to zero replicas");
    VALIDATE_MEMBERS(&behavior, rules_autoscaler_spec_directions);
}

void validate_autoscaler(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const char *const counters[] = { "currentReplicas", "desiredReplicas" };
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    const struct json *before = json_path(old, "spec", "minReplicas", NULL);
    bool was_zero = json_is(before, JSON_NUMBER) && json_int_or(before, 1) == 0;
    if (old && !value_same(status.v, json_getc(old, "status"))) {
        validate_status_counters(&status, counters, ARRAY_LEN(counters));
        return;
    }
    autoscaler_spec(&spec, old, was_zero ? 0 : 1);
}

/* ---- PodDisruptionBudgets ---- */

static void budget_status(const struct validate_value *status)
{
    static const char *const counters[] = { "disruptionsAllowed", "currentHealthy",
                                            "desiredHealthy", "expectedPods" };
    validate_status_counters(status, counters, ARRAY_LEN(counters));
}

void validate_budget(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const char layout[] =
        "MinAvailable=minAvailable/null Selector=selector/null MaxUnavailable=maxUnavailable/null "
        "UnhealthyPodEvictionPolicy=unhealthyPodEvictionPolicy/null";
    static const char *const amounts[] = { "minAvailable", "maxUnavailable" };
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    MEMBER(selector, &spec, "selector");
    MEMBER(policy, &spec, "unhealthyPodEvictionPolicy");
    if (old && !value_same(status.v, json_getc(old, "status"))) {
        budget_status(&status);
        return;
    }
    if (value_has(&spec, "minAvailable") && value_has(&spec, "maxUnavailable"))
        report_invalid_value(&spec, value_go_struct(errs->a, spec.v, layout),
                             "minAvailable and maxUnavailable cannot be both set");
    for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
        MEMBER(m, &spec, amounts[i]);
        validate_int_or_percent(&m);
        validate_at_most_100_percent(&m);
    }
    validate_label_selector(&selector, NULL);
    validate_enum_if_set(&policy, &enum_budget_policies);
}
