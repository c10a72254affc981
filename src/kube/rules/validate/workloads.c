/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads: ReplicationControllers and the kinds of apps. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <errno.h>

/* Generated from text/workloads.txt. */
#include "kube/rules/workloads_rules.h"

/* ---- numbers or percentages ---- */

void validate_int_or_percent(const struct validate_value *s)
{
    if (json_is(s->v, JSON_STRING)) {
        struct meta_problems p = names_check_percent(value_text(s));
        for (size_t i = 0; i < p.n; i++)
            report_invalid(s, p.text[i]);
    } else {
        validate_nonnegative(s, NULL);
    }
}

/* Its number; of a string that is not a percentage, the number that it contains. */
static uint64_t amount(const struct validate_value *s)
{
    struct str text = value_text(s);
    uint64_t n = 0;
    if (!json_is(s->v, JSON_STRING))
        return (uint64_t)value_number(s);
    if (str_has_suffix(text, STR("%")))
        text = str_slice(text, 0, text.n - 1);
    return parse_u64(text, 0, UINT64_MAX, &n) == -ERANGE ? UINT64_MAX : n;
}

void validate_at_most_100_percent(const struct validate_value *s)
{
    if (json_is(s->v, JSON_STRING) && names_check_percent(value_text(s)).n == 0 && amount(s) > 100)
        report_invalid(s, "must not be greater than 100%");
}

/* ---- selectors and templates ---- */

/* Members not allowed in the template of a workload that runs forever. */
static void runs_for_ever(const struct validate_value *template, const char *kind)
{
    MEMBER(spec, template, "spec");
    MEMBER(policy, &spec, "restartPolicy");
    MEMBER(deadline, &spec, "activeDeadlineSeconds");
    validate_enum_strict(&policy, &enum_runs_for_ever_always);
    if (deadline.v)
        report_forbidden(
            &deadline, report_text(template, "activeDeadlineSeconds in %s is not Supported", kind));
}

static void labels_miss(const struct validate_value *template)
{
    MEMBER(metadata, template, "metadata");
    MEMBER(own, &metadata, "labels");
    report_invalid_value(&own, value_sorted_map(template->errs->a, own.v),
                         "`selector` does not match template `labels`");
}

static enum selector_fit template_fits(const struct validate_value *selector,
                                       const struct validate_value *template)
{
    return selector_fit(template->errs->a, selector->v,
                        json_path(template->v, "metadata", "labels", NULL));
}

static bool is_empty_selector(const struct validate_value *s)
{
    MEMBER(by_label, s, "matchLabels");
    MEMBER(expressions, s, "matchExpressions");
    return s->v && value_count(&by_label) + value_count(&expressions) == 0;
}

static void needed_selector(const struct validate_value *s, const char *if_empty)
{
    if (!s->v)
        report_required(s, "");
    validate_label_selector(s, NULL);
    if (is_empty_selector(s))
        report_invalid_value(s, selector_shown(s->errs->a, s->v), if_empty);
}

static void immutable_selector(const struct validate_value *spec, const struct json *old)
{
    MEMBER(s, spec, "selector");
    if (old && !value_same(s.v, json_path(old, "spec", "selector", NULL)))
        report_invalid_value(&s, selector_shown(spec->errs->a, s.v), "field is immutable");
}

static bool is_status_update(const struct json *obj, const struct json *old)
{
    return old && !value_same(json_getc(obj, "status"), json_getc(old, "status"));
}

#define TOO_MANY  "cannot be greater than status.replicas"
#define NOT_READY "cannot be greater than readyReplicas"

/* ---- Deployments ---- */

static void rolling_update(const struct validate_value *s)
{
    MEMBER(unavailable, s, "maxUnavailable");
    MEMBER(surge, s, "maxSurge");
    validate_int_or_percent(&unavailable);
    validate_int_or_percent(&surge);
    if (amount(&unavailable) == 0 && amount(&surge) == 0)
        report_invalid_number(&unavailable, "may not be 0 when `maxSurge` is 0");
    validate_at_most_100_percent(&unavailable);
}

static void deployment_strategy(const struct validate_value *s, const void *unused)
{
    MEMBER(rolling, s, "rollingUpdate");
    struct str type = value_member_text(s, "type");
    if (str_is(type, "Recreate")) {
        if (rolling.v)
            report_forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
    } else if (!str_is(type, "RollingUpdate")) {
        struct validate_value shown = *s;
        shown.v =
            value_go_struct(s->errs->a, s->v, "Type=type/\"\" RollingUpdate=rollingUpdate/null");
        report_not_supported(&shown, &enum_deployment_strategy_types);
    } else if (rolling.v) {
        rolling_update(&rolling);
    } else {
        report_required(&rolling, "this should be defaulted and never be nil");
    }
}

static void progress_deadline(const struct validate_value *spec)
{
    MEMBER(deadline, spec, "progressDeadlineSeconds");
    validate_nonnegative(&deadline, NULL);
    if (deadline.v && value_number(&deadline) <= value_member_number(spec, "minReadySeconds"))
        report_invalid(&deadline, "must be greater than minReadySeconds");
}

static void selector_and_template(const struct validate_value *spec)
{
    MEMBER(selector, spec, "selector");
    MEMBER(template, spec, "template");
    needed_selector(&selector, "empty selector is invalid for deployment");
    enum selector_fit fit = template_fits(&selector, &template);
    if (fit == SELECTOR_BROKEN) {
        report_invalid_value(&selector, selector_shown(spec->errs->a, selector.v),
                             "invalid label selector");
        return;
    }
    if (fit == SELECTOR_MISSES)
        labels_miss(&template);
    pod_template(&template);
    runs_for_ever(&template, "ReplicaSet");
}

static void deployment_status(const struct validate_value *root, const struct json *old)
{
    static const char *const counters[] = { "observedGeneration", "replicas",
                                            "updatedReplicas",    "readyReplicas",
                                            "availableReplicas",  "unavailableReplicas",
                                            "collisionCount" };
    MEMBER(status, root, "status");
    validate_status_counters(&status, counters, ARRAY_LEN(counters));
    validate_not_above(&status, "updatedReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "readyReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "availableReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "availableReplicas", "readyReplicas", NOT_READY);
    validate_not_decremented(&status, json_getc(old, "status"), "collisionCount");
}

void validate_deployment(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(replicas, &spec, "replicas");
    if (is_status_update(obj, old)) {
        deployment_status(&root, old);
        return;
    }
    validate_nonnegative(&replicas, NULL);
    selector_and_template(&spec);
    VALIDATE_MEMBERS(&spec, rules_deployment_rest);
    progress_deadline(&spec);
    immutable_selector(&spec, old);
}

/* ---- ReplicaSets and ReplicationControllers ---- */

static void replica_status(const struct validate_value *root)
{
    static const char *const counters[] = { "replicas", "fullyLabeledReplicas", "readyReplicas",
                                            "availableReplicas", "observedGeneration" };
    MEMBER(status, root, "status");
    validate_status_counters(&status, counters, ARRAY_LEN(counters));
    validate_not_above(&status, "fullyLabeledReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "readyReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "availableReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "availableReplicas", "readyReplicas", NOT_READY);
}

void validate_replica_set(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    if (is_status_update(obj, old)) {
        replica_status(&root);
        return;
    }
    VALIDATE_MEMBERS(&spec, rules_replica_set_counts);
    selector_and_template(&spec);
    immutable_selector(&spec, old);
}

static bool map_fits(const struct json *selector, const struct json *labels)
{
    struct map have = { 0 };
    bool fits = true;
    json_each (l, labels)
        (void)map_put(&have, l->key, l);
    json_each (l, selector) {
        const struct json *same = map_get(&have, l->key);
        fits = fits && same && str_eq(json_str(same), json_str(l));
    }
    map_fini(&have);
    return fits;
}

void validate_replication_controller(const struct json *obj, const struct json *old,
                                     struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(template, &spec, "template");
    if (is_status_update(obj, old)) {
        replica_status(&root);
        return;
    }
    VALIDATE_MEMBERS(&spec, rules_replication_controller_counts);
    if (!template.v) {
        report_required(&template, "");
        return;
    }
    if (!map_fits(json_getc(spec.v, "selector"), json_path(template.v, "metadata", "labels", NULL)))
        labels_miss(&template);
    pod_template(&template);
    runs_for_ever(&template, "ReplicationController");
}

/* ---- DaemonSets ---- */

static void daemon_rolling_update(const struct validate_value *s)
{
    MEMBER(unavailable, s, "maxUnavailable");
    MEMBER(surge, s, "maxSurge");
    validate_int_or_percent(&unavailable);
    validate_int_or_percent(&surge);
    validate_at_most_100_percent(&unavailable);
    validate_at_most_100_percent(&surge);
    if (amount(&unavailable) && amount(&surge))
        report_invalid(&surge, "may not be set when maxUnavailable is non-zero");
    else if (!amount(&unavailable) && !amount(&surge))
        report_required(&unavailable, "cannot be 0 when maxSurge is 0");
}

static void daemon_strategy(const struct validate_value *s)
{
    MEMBER(rolling, s, "rollingUpdate");
    struct str type = value_member_text(s, "type");
    if (str_is(type, "RollingUpdate")) {
        validate_required(&rolling, NULL);
        if (value_count(&rolling))
            daemon_rolling_update(&rolling);
    } else if (!str_is(type, "OnDelete")) {
        struct validate_value shown = *s;
        shown.v =
            value_go_struct(s->errs->a, s->v, "Type=type/\"\" RollingUpdate=rollingUpdate/null");
        report_not_supported(&shown, &enum_daemon_strategy_types);
    }
}

static void daemon_status(const struct validate_value *root, const struct json *old)
{
    static const char *const counters[] = { "currentNumberScheduled", "numberMisscheduled",
                                            "desiredNumberScheduled", "numberReady",
                                            "observedGeneration",     "updatedNumberScheduled",
                                            "numberAvailable",        "numberUnavailable",
                                            "collisionCount" };
    MEMBER(status, root, "status");
    validate_status_counters(&status, counters, ARRAY_LEN(counters));
    validate_not_decremented(&status, json_getc(old, "status"), "collisionCount");
}

void validate_daemon_set(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(selector, &spec, "selector");
    MEMBER(template, &spec, "template");
    MEMBER(ready, &spec, "minReadySeconds");
    MEMBER(strategy, &spec, "updateStrategy");
    MEMBER(history, &spec, "revisionHistoryLimit");
    if (is_status_update(obj, old)) {
        daemon_status(&root, old);
        return;
    }
    validate_label_selector(&selector, NULL);
    if (template_fits(&selector, &template) == SELECTOR_MISSES)
        labels_miss(&template);
    if (is_empty_selector(&selector))
        report_invalid_value(&selector, selector_shown(errs->a, selector.v),
                             "empty selector is invalid for daemonset");
    pod_template(&template);
    runs_for_ever(&template, "DaemonSet");
    validate_nonnegative(&ready, NULL);
    daemon_strategy(&strategy);
    validate_nonnegative(&history, NULL);
    immutable_selector(&spec, old);
}

/* ---- StatefulSets ---- */

static void partition(const struct validate_value *s)
{
    MEMBER(from, s, "partition");
    MEMBER(unavailable, s, "maxUnavailable");
    validate_nonnegative(&from, NULL);
    if (!unavailable.v)
        return;
    validate_int_or_percent(&unavailable);
    if (amount(&unavailable) == 0)
        report_invalid(&unavailable, "cannot be 0");
    validate_at_most_100_percent(&unavailable);
}

static void stateful_strategy(const struct validate_value *s, const void *unused)
{
    MEMBER(rolling, s, "rollingUpdate");
    struct str type = value_member_text(s, "type");
    if (type.n == 0) {
        report_required(s, "");
    } else if (str_is(type, "OnDelete")) {
        if (rolling.v)
            report_invalid_value(
                &rolling,
                value_go_struct(s->errs->a, rolling.v,
                                "Partition=partition/0 MaxUnavailable=maxUnavailable/null"),
                "only allowed for updateStrategy 'RollingUpdate'");
    } else if (str_is(type, "RollingUpdate")) {
        if (rolling.v)
            partition(&rolling);
    } else {
        report_invalid_value(
            s, value_go_struct(s->errs->a, s->v, "Type=type/\"\" RollingUpdate=rollingUpdate/null"),
            "must be 'RollingUpdate' or 'OnDelete'");
    }
}

static void management_policy(const struct validate_value *s, const void *unused)
{
    validate_required(s, NULL);
    if (value_text(s).n && !value_is(s, "OrderedReady") && !value_is(s, "Parallel"))
        report_invalid_text(s, "must be 'OrderedReady' or 'Parallel'");
}

static void retention_policy(const struct validate_value *s, const void *unused)
{
    if (s->v)
        VALIDATE_MEMBERS(s, rules_retention_policy);
}

/* The claims' volumes, which the pods have too, followed by those of the template. */
static struct json *with_claims(struct arena *a, const struct validate_value *spec,
                                const struct validate_value *template)
{
    struct json *copy = json_clone(a, template->v), *pod = json_obj(a, copy, "spec");
    struct json *volumes = json_new_array(a);
    struct map claimed = { 0 };
    json_each (claim, json_getc(spec->v, "volumeClaimTemplates")) {
        struct str name = json_str(json_path(claim, "metadata", "name", NULL));
        struct json *volume = json_new_object(a), *source = json_new_object(a);
        json_set_str(a, source, "claimName", name);
        json_set_str(a, volume, "name", name);
        json_setc(a, volume, "persistentVolumeClaim", source);
        if (!map_put(&claimed, name, volume))
            json_add(volumes, volume);
    }
    json_each (v, json_path(template->v, "spec", "volumes", NULL))
        if (!map_has(&claimed, json_get_str(v, "name")))
            json_add(volumes, json_clone(a, v));
    json_setc(a, pod, "volumes", volumes);
    map_fini(&claimed);
    return copy;
}

static const struct json *metadata_of(const struct validate_value *template, const char *member)
{
    return json_path(template->v, "metadata", member, NULL);
}

/* Upstream reports their metadata twice. */
static void stateful_template(const struct validate_value *spec)
{
    MEMBER(selector, spec, "selector");
    MEMBER(template, spec, "template");
    enum selector_fit fit = template_fits(&selector, &template);
    if (fit == SELECTOR_BROKEN) {
        report_invalid_value(&selector, selector_shown(spec->errs->a, selector.v), "");
    } else {
        if (fit == SELECTOR_MISSES)
            labels_miss(&template);
        struct validate_value whole = template;
        whole.v = with_claims(spec->errs->a, spec, &template);
        pod_template(&whole);
        struct validate_value labelled =
            value_named(&template, "labels", metadata_of(&template, "labels"));
        struct validate_value noted =
            value_named(&template, "annotations", metadata_of(&template, "annotations"));
        MEMBER(pod, &template, "spec");
        validate_labels(&labelled, NULL);
        validate_annotations(&noted, NULL);
        pod_annotations(&noted, &pod);
    }
    runs_for_ever(&template, "StatefulSet");
}

/* Fields of a StatefulSet that may change. */
static void stateful_update(const struct validate_value *spec, const struct json *old)
{
    bool same = true;
    json_each (m, spec->v)
        same = same && (validate_enum_has(&enum_stateful_update_free_members, m->key) ||
                        value_same(m, json_get(old, m->key)));
    json_each (m, old)
        same = same && (validate_enum_has(&enum_stateful_update_free_members, m->key) ||
                        value_same(json_get(spec->v, m->key), m));
    if (!same)
        report_forbidden(spec, "updates to statefulset spec for fields other than 'replicas', "
                               "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                               "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                               "forbidden");
}

static void stateful_status(const struct validate_value *root, const struct json *old)
{
    static const char *const counters[] = { "replicas",          "readyReplicas",
                                            "currentReplicas",   "updatedReplicas",
                                            "availableReplicas", "observedGeneration",
                                            "collisionCount" };
    MEMBER(status, root, "status");
    validate_status_counters(&status, counters, ARRAY_LEN(counters));
    validate_not_above(&status, "readyReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "currentReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "updatedReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "availableReplicas", "replicas", TOO_MANY);
    validate_not_above(&status, "availableReplicas", "readyReplicas",
                       "cannot be greater than status.readyReplicas");
    validate_not_decremented(&status, json_getc(old, "status"), "collisionCount");
}

void validate_stateful_set(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(selector, &spec, "selector");
    MEMBER(service, &spec, "serviceName");
    MEMBER(claims, &spec, "volumeClaimTemplates");
    struct validate_value start =
        value_named(&spec, "ordinals.start", json_path(spec.v, "ordinals", "start", NULL));
    if (is_status_update(obj, old)) {
        stateful_status(&root, old);
        return;
    }
    VALIDATE_MEMBERS(&spec, rules_stateful_set_first);
    if (!old)
        value_each (c, i, &claims) {
            MEMBER(of, &c, "spec");
            validate_claim_spec(&of);
        }
    VALIDATE_MEMBERS(&spec, rules_stateful_set_second);
    validate_nonnegative(&start, NULL);
    needed_selector(&selector, "empty selector is invalid for statefulset");
    if (!old)
        validate_label_if_set(&service, NULL);
    stateful_template(&spec);
    if (old)
        stateful_update(&spec, json_getc(old, "spec"));
}

/* ---- ControllerRevisions ---- */

void validate_controller_revision(const struct json *obj, const struct json *old,
                                  struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(data, &root, "data");
    MEMBER(revision, &root, "revision");
    if (!data.v)
        report_required(&data, "data is mandatory");
    validate_nonnegative(&revision, NULL);
    if (old)
        validate_immutable(&data, json_getc(old, "data"));
}
