/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps pods running: ReplicationControllers and the kinds of apps. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <errno.h>

/* ---- numbers or percentages ---- */

void int_or_percent(const struct spot *s)
{
    if (json_is(s->v, JSON_STRING)) {
        struct meta_problems p = check_percent(spot_text(s));
        for (size_t i = 0; i < p.n; i++)
            say_invalid(s, p.text[i]);
    } else {
        not_negative(s, NULL);
    }
}

/* Its number; of a string that is no percentage, the number it spells. */
static uint64_t amount(const struct spot *s)
{
    struct str text = spot_text(s);
    uint64_t n = 0;
    if (!json_is(s->v, JSON_STRING))
        return (uint64_t)spot_number(s);
    if (str_has_suffix(text, STR("%")))
        text = str_slice(text, 0, text.n - 1);
    return parse_u64(text, 0, UINT64_MAX, &n) == -ERANGE ? UINT64_MAX : n;
}

void at_most_100_percent(const struct spot *s)
{
    if (json_is(s->v, JSON_STRING) && check_percent(spot_text(s)).n == 0 && amount(s) > 100)
        say_invalid(s, "must not be greater than 100%");
}

/* ---- selectors and templates ---- */

/* What cannot be in the template of something that runs for ever. */
static void runs_for_ever(const struct spot *template, const char *kind)
{
    WORDS(always, WORD("Always"));
    MEMBER(spec, template, "spec");
    MEMBER(policy, &spec, "restartPolicy");
    MEMBER(deadline, &spec, "activeDeadlineSeconds");
    one_of_strictly(&policy, &always);
    if (deadline.v)
        say_forbidden(&deadline,
                      say_text(template, "activeDeadlineSeconds in %s is not Supported", kind));
}

static void labels_miss(const struct spot *template)
{
    MEMBER(metadata, template, "metadata");
    MEMBER(own, &metadata, "labels");
    say_invalid_value(&own, sorted_map(template->errs->a, own.v),
                      "`selector` does not match template `labels`");
}

static enum selector_fit template_fits(const struct spot *selector, const struct spot *template)
{
    return selector_fit(template->errs->a, selector->v,
                        json_path(template->v, "metadata", "labels", NULL));
}

static bool is_empty_selector(const struct spot *s)
{
    MEMBER(by_label, s, "matchLabels");
    MEMBER(expressions, s, "matchExpressions");
    return s->v && spot_count(&by_label) + spot_count(&expressions) == 0;
}

static void needed_selector(const struct spot *s, const char *if_empty)
{
    if (!s->v)
        say_required(s, "");
    label_selector(s, NULL);
    if (is_empty_selector(s))
        say_invalid_value(s, shown_selector(s->errs->a, s->v), if_empty);
}

static void immutable_selector(const struct spot *spec, const struct json *old)
{
    MEMBER(s, spec, "selector");
    if (old && !json_same(s.v, json_path(old, "spec", "selector", NULL)))
        say_invalid_value(&s, shown_selector(spec->errs->a, s.v), "field is immutable");
}

static bool is_status_update(const struct json *obj, const struct json *old)
{
    return old && !json_same(json_getc(obj, "status"), json_getc(old, "status"));
}

#define TOO_MANY  "cannot be greater than status.replicas"
#define NOT_READY "cannot be greater than readyReplicas"

/* ---- Deployments ---- */

static void rolling_update(const struct spot *s)
{
    MEMBER(unavailable, s, "maxUnavailable");
    MEMBER(surge, s, "maxSurge");
    int_or_percent(&unavailable);
    int_or_percent(&surge);
    if (amount(&unavailable) == 0 && amount(&surge) == 0)
        say_invalid_number(&unavailable, "may not be 0 when `maxSurge` is 0");
    at_most_100_percent(&unavailable);
}

static void deployment_strategy(const struct spot *s, const void *unused)
{
    WORDS(types, WORD("Recreate"), WORD("RollingUpdate"));
    MEMBER(rolling, s, "rollingUpdate");
    struct str type = member_text(s, "type");
    if (str_is(type, "Recreate")) {
        if (rolling.v)
            say_forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
    } else if (!str_is(type, "RollingUpdate")) {
        struct spot shown = *s;
        shown.v = go_struct(s->errs->a, s->v, "Type=type/\"\" RollingUpdate=rollingUpdate/null");
        say_unsupported(&shown, &types);
    } else if (rolling.v) {
        rolling_update(&rolling);
    } else {
        say_required(&rolling, "this should be defaulted and never be nil");
    }
}

static void progress_deadline(const struct spot *spec)
{
    MEMBER(deadline, spec, "progressDeadlineSeconds");
    not_negative(&deadline, NULL);
    if (deadline.v && spot_number(&deadline) <= member_number(spec, "minReadySeconds"))
        say_invalid(&deadline, "must be greater than minReadySeconds");
}

static void selector_and_template(const struct spot *spec)
{
    MEMBER(selector, spec, "selector");
    MEMBER(template, spec, "template");
    needed_selector(&selector, "empty selector is invalid for deployment");
    enum selector_fit fit = template_fits(&selector, &template);
    if (fit == SELECTOR_BROKEN) {
        say_invalid_value(&selector, shown_selector(spec->errs->a, selector.v),
                          "invalid label selector");
        return;
    }
    if (fit == SELECTOR_MISSES)
        labels_miss(&template);
    pod_template(&template);
    runs_for_ever(&template, "ReplicaSet");
}

static void deployment_status(const struct spot *root, const struct json *old)
{
    static const char *const counters[] = { "observedGeneration", "replicas",
                                            "updatedReplicas",    "readyReplicas",
                                            "availableReplicas",  "unavailableReplicas",
                                            "collisionCount" };
    MEMBER(status, root, "status");
    status_counters(&status, counters, ARRAY_LEN(counters));
    not_above(&status, "updatedReplicas", "replicas", TOO_MANY);
    not_above(&status, "readyReplicas", "replicas", TOO_MANY);
    not_above(&status, "availableReplicas", "replicas", TOO_MANY);
    not_above(&status, "availableReplicas", "readyReplicas", NOT_READY);
    not_decremented(&status, json_getc(old, "status"), "collisionCount");
}

void validate_deployment(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const struct member_check rest[] = { { "strategy", deployment_strategy, NULL },
                                                { "minReadySeconds", not_negative, NULL },
                                                { "revisionHistoryLimit", not_negative, NULL } };
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(replicas, &spec, "replicas");
    if (is_status_update(obj, old)) {
        deployment_status(&root, old);
        return;
    }
    not_negative(&replicas, NULL);
    selector_and_template(&spec);
    CHECK_MEMBERS(&spec, rest);
    progress_deadline(&spec);
    immutable_selector(&spec, old);
}

/* ---- ReplicaSets and ReplicationControllers ---- */

static void replica_status(const struct spot *root)
{
    static const char *const counters[] = { "replicas", "fullyLabeledReplicas", "readyReplicas",
                                            "availableReplicas", "observedGeneration" };
    MEMBER(status, root, "status");
    status_counters(&status, counters, ARRAY_LEN(counters));
    not_above(&status, "fullyLabeledReplicas", "replicas", TOO_MANY);
    not_above(&status, "readyReplicas", "replicas", TOO_MANY);
    not_above(&status, "availableReplicas", "replicas", TOO_MANY);
    not_above(&status, "availableReplicas", "readyReplicas", NOT_READY);
}

void validate_replica_set(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const struct member_check counts[] = { { "replicas", not_negative, NULL },
                                                  { "minReadySeconds", not_negative, NULL } };
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    if (is_status_update(obj, old)) {
        replica_status(&root);
        return;
    }
    CHECK_MEMBERS(&spec, counts);
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
    static const struct member_check counts[] = { { "minReadySeconds", not_negative, NULL },
                                                  { "selector", need, NULL },
                                                  { "replicas", not_negative, NULL } };
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(template, &spec, "template");
    if (is_status_update(obj, old)) {
        replica_status(&root);
        return;
    }
    CHECK_MEMBERS(&spec, counts);
    if (!template.v) {
        say_required(&template, "");
        return;
    }
    if (!map_fits(json_getc(spec.v, "selector"), json_path(template.v, "metadata", "labels", NULL)))
        labels_miss(&template);
    pod_template(&template);
    runs_for_ever(&template, "ReplicationController");
}

/* ---- DaemonSets ---- */

static void daemon_rolling_update(const struct spot *s)
{
    MEMBER(unavailable, s, "maxUnavailable");
    MEMBER(surge, s, "maxSurge");
    int_or_percent(&unavailable);
    int_or_percent(&surge);
    at_most_100_percent(&unavailable);
    at_most_100_percent(&surge);
    if (amount(&unavailable) && amount(&surge))
        say_invalid(&surge, "may not be set when maxUnavailable is non-zero");
    else if (!amount(&unavailable) && !amount(&surge))
        say_required(&unavailable, "cannot be 0 when maxSurge is 0");
}

static void daemon_strategy(const struct spot *s)
{
    WORDS(types, WORD("RollingUpdate"), WORD("OnDelete"));
    MEMBER(rolling, s, "rollingUpdate");
    struct str type = member_text(s, "type");
    if (str_is(type, "RollingUpdate")) {
        need(&rolling, NULL);
        if (spot_count(&rolling))
            daemon_rolling_update(&rolling);
    } else if (!str_is(type, "OnDelete")) {
        struct spot shown = *s;
        shown.v = go_struct(s->errs->a, s->v, "Type=type/\"\" RollingUpdate=rollingUpdate/null");
        say_unsupported(&shown, &types);
    }
}

static void daemon_status(const struct spot *root, const struct json *old)
{
    static const char *const counters[] = { "currentNumberScheduled", "numberMisscheduled",
                                            "desiredNumberScheduled", "numberReady",
                                            "observedGeneration",     "updatedNumberScheduled",
                                            "numberAvailable",        "numberUnavailable",
                                            "collisionCount" };
    MEMBER(status, root, "status");
    status_counters(&status, counters, ARRAY_LEN(counters));
    not_decremented(&status, json_getc(old, "status"), "collisionCount");
}

void validate_daemon_set(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
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
    label_selector(&selector, NULL);
    if (template_fits(&selector, &template) == SELECTOR_MISSES)
        labels_miss(&template);
    if (is_empty_selector(&selector))
        say_invalid_value(&selector, shown_selector(errs->a, selector.v),
                          "empty selector is invalid for daemonset");
    pod_template(&template);
    runs_for_ever(&template, "DaemonSet");
    not_negative(&ready, NULL);
    daemon_strategy(&strategy);
    not_negative(&history, NULL);
    immutable_selector(&spec, old);
}

/* ---- StatefulSets ---- */

static void partition(const struct spot *s)
{
    MEMBER(from, s, "partition");
    MEMBER(unavailable, s, "maxUnavailable");
    not_negative(&from, NULL);
    if (!unavailable.v)
        return;
    int_or_percent(&unavailable);
    if (amount(&unavailable) == 0)
        say_invalid(&unavailable, "cannot be 0");
    at_most_100_percent(&unavailable);
}

static void stateful_strategy(const struct spot *s, const void *unused)
{
    MEMBER(rolling, s, "rollingUpdate");
    struct str type = member_text(s, "type");
    if (type.n == 0) {
        say_required(s, "");
    } else if (str_is(type, "OnDelete")) {
        if (rolling.v)
            say_invalid_value(&rolling,
                              go_struct(s->errs->a, rolling.v,
                                        "Partition=partition/0 MaxUnavailable=maxUnavailable/null"),
                              "only allowed for updateStrategy 'RollingUpdate'");
    } else if (str_is(type, "RollingUpdate")) {
        if (rolling.v)
            partition(&rolling);
    } else {
        say_invalid_value(
            s, go_struct(s->errs->a, s->v, "Type=type/\"\" RollingUpdate=rollingUpdate/null"),
            "must be 'RollingUpdate' or 'OnDelete'");
    }
}

static void management_policy(const struct spot *s, const void *unused)
{
    need(s, NULL);
    if (spot_text(s).n && !spot_is(s, "OrderedReady") && !spot_is(s, "Parallel"))
        say_invalid_text(s, "must be 'OrderedReady' or 'Parallel'");
}

static void retention_policy(const struct spot *s, const void *unused)
{
    WORDS(policies, WORD("Retain"), WORD("Delete"));
    static const struct member_check members[] = { { "whenDeleted", one_of_strictly, &policies },
                                                   { "whenScaled", one_of_strictly, &policies } };
    if (s->v)
        CHECK_MEMBERS(s, members);
}

/* The claims' volumes are the pods' as well, and come before those of the template. */
static struct json *with_claims(struct arena *a, const struct spot *spec,
                                const struct spot *template)
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

static const struct json *metadata_of(const struct spot *template, const char *member)
{
    return json_path(template->v, "metadata", member, NULL);
}

/* Their metadata is said twice. */
static void stateful_template(const struct spot *spec)
{
    MEMBER(selector, spec, "selector");
    MEMBER(template, spec, "template");
    enum selector_fit fit = template_fits(&selector, &template);
    if (fit == SELECTOR_BROKEN) {
        say_invalid_value(&selector, shown_selector(spec->errs->a, selector.v), "");
    } else {
        if (fit == SELECTOR_MISSES)
            labels_miss(&template);
        struct spot whole = template;
        whole.v = with_claims(spec->errs->a, spec, &template);
        pod_template(&whole);
        struct spot labelled = spot_named(&template, "labels", metadata_of(&template, "labels"));
        struct spot noted =
            spot_named(&template, "annotations", metadata_of(&template, "annotations"));
        MEMBER(pod, &template, "spec");
        labels(&labelled, NULL);
        annotations(&noted, NULL);
        pod_annotations(&noted, &pod);
    }
    runs_for_ever(&template, "StatefulSet");
}

/* What may change of a StatefulSet. */
static void stateful_update(const struct spot *spec, const struct json *old)
{
    WORDS(free_members, WORD("replicas"), WORD("template"), WORD("updateStrategy"),
          WORD("minReadySeconds"), WORD("ordinals"), WORD("revisionHistoryLimit"),
          WORD("persistentVolumeClaimRetentionPolicy"));
    bool same = true;
    json_each (m, spec->v)
        same = same && (words_has(&free_members, m->key) || json_same(m, json_get(old, m->key)));
    json_each (m, old)
        same =
            same && (words_has(&free_members, m->key) || json_same(json_get(spec->v, m->key), m));
    if (!same)
        say_forbidden(spec, "updates to statefulset spec for fields other than 'replicas', "
                            "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                            "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                            "forbidden");
}

static void stateful_status(const struct spot *root, const struct json *old)
{
    static const char *const counters[] = { "replicas",          "readyReplicas",
                                            "currentReplicas",   "updatedReplicas",
                                            "availableReplicas", "observedGeneration",
                                            "collisionCount" };
    MEMBER(status, root, "status");
    status_counters(&status, counters, ARRAY_LEN(counters));
    not_above(&status, "readyReplicas", "replicas", TOO_MANY);
    not_above(&status, "currentReplicas", "replicas", TOO_MANY);
    not_above(&status, "updatedReplicas", "replicas", TOO_MANY);
    not_above(&status, "availableReplicas", "replicas", TOO_MANY);
    not_above(&status, "availableReplicas", "readyReplicas",
              "cannot be greater than status.readyReplicas");
    not_decremented(&status, json_getc(old, "status"), "collisionCount");
}

void validate_stateful_set(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    static const struct member_check first[] = {
        { "podManagementPolicy", management_policy, NULL },
        { "updateStrategy", stateful_strategy, NULL },
        { "persistentVolumeClaimRetentionPolicy", retention_policy, NULL },
    };
    static const struct member_check second[] = {
        { "replicas", not_negative, NULL },
        { "minReadySeconds", not_negative, NULL },
    };
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(selector, &spec, "selector");
    MEMBER(service, &spec, "serviceName");
    MEMBER(claims, &spec, "volumeClaimTemplates");
    struct spot start =
        spot_named(&spec, "ordinals.start", json_path(spec.v, "ordinals", "start", NULL));
    if (is_status_update(obj, old)) {
        stateful_status(&root, old);
        return;
    }
    CHECK_MEMBERS(&spec, first);
    if (!old)
        spot_each (c, i, &claims) {
            MEMBER(of, &c, "spec");
            claim_spec(&of);
        }
    CHECK_MEMBERS(&spec, second);
    not_negative(&start, NULL);
    needed_selector(&selector, "empty selector is invalid for statefulset");
    if (!old)
        a_label(&service, NULL);
    stateful_template(&spec);
    if (old)
        stateful_update(&spec, json_getc(old, "spec"));
}

/* ---- ControllerRevisions ---- */

void validate_controller_revision(const struct json *obj, const struct json *old,
                                  struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(data, &root, "data");
    MEMBER(revision, &root, "revision");
    if (!data.v)
        say_required(&data, "data is mandatory");
    not_negative(&revision, NULL);
    if (old)
        immutable(&data, json_getc(old, "data"));
}
