/* SPDX-License-Identifier: Apache-2.0 */
/* Allowed changes of an existing pod, and of its status. */
#include "kube/rules/validate/check.h"

/* Generated from text/pod_update.txt. */
#include "kube/rules/pod_update_rules.h"

/* ---- annotations ---- */

static bool is_fixed_annotation(struct str key)
{
    return str_is(key, MIRROR_POD) || str_has_prefix(key, STR(APP_ARMOR_PREFIX));
}

static const char *fixed_annotation_name(struct str key, bool update)
{
    if (str_is(key, MIRROR_POD))
        return update ? "may not remove or update mirror pod annotation"
                      : "may not add mirror pod annotation";
    return update ? "may not remove or update AppArmor annotations"
                  : "may not add AppArmor annotations";
}

static void fixed_annotations(const struct validate_value *s, const struct json *old)
{
    struct map now = { 0 }, before = { 0 };
    json_each (an, s->v)
        if (is_fixed_annotation(an->key))
            (void)map_put(&now, an->key, an);
    json_each (an, old) {
        if (!is_fixed_annotation(an->key))
            continue;
        struct validate_value at = value_key(s, an);
        if (!value_same(map_get(&now, an->key), an))
            report_forbidden(&at, fixed_annotation_name(an->key, true));
        (void)map_put(&before, an->key, an);
    }
    json_each (an, s->v) {
        struct validate_value at = value_key(s, an);
        if (is_fixed_annotation(an->key) && !map_has(&before, an->key))
            report_forbidden(&at, fixed_annotation_name(an->key, false));
    }
    map_fini(&now);
    map_fini(&before);
}

/* ---- containers and tolerations ---- */

/* false: the lists differ in length, further checks are pointless. */
static bool container_images(const struct validate_value *spec, const char *name,
                             const struct json *old)
{
    MEMBER(list, spec, name);
    const struct json *before = json_getc(old, name);
    if (value_count(&list) != (json_is(before, JSON_ARRAY) ? before->n : 0)) {
        report_forbidden(&list, "pod updates may not add or remove containers");
        return false;
    }
    value_each (c, i, &list) {
        MEMBER(image, &c, "image");
        validate_required(&image, NULL);
        validate_image_without_blanks(&c);
    }
    return true;
}

/* A deadline may be set or shortened. false: stop. */
static bool deadline_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(deadline, spec, "activeDeadlineSeconds");
    const struct json *before = json_getc(old, "activeDeadlineSeconds");
    int64_t now = value_number(&deadline);
    if (deadline.v && (now < 0 || now > INT32_MAX)) {
        report_invalid(&deadline, "must be between 0 and 2147483647, inclusive");
        return false;
    }
    if (deadline.v && json_is(before, JSON_NUMBER) && json_int_or(before, 0) < now) {
        report_invalid(&deadline, "must be less than or equal to previous value");
        return false;
    }
    if (!deadline.v && json_is(before, JSON_NUMBER))
        report_invalid(&deadline, "must not update from a positive integer to nil value");
    return true;
}

/* A toleration without tolerationSeconds, as text. */
static struct str toleration_id(struct arena *a, const struct json *t)
{
    static const char *const members[] = { "key", "operator", "value", "effect" };
    struct json *id = json_new_array(a);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_add(id, json_new_str(a, json_get_str(t, members[i])));
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write(&b, id);
    struct str text = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static void tolerations_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(list, spec, "tolerations");
    struct map now = { 0 };
    bool kept = true;
    json_each (t, list.v)
        (void)map_put(&now, toleration_id(spec->errs->a, t), t);
    json_each (t, json_getc(old, "tolerations"))
        kept = kept && map_has(&now, toleration_id(spec->errs->a, t));
    map_fini(&now);
    if (kept)
        validate_tolerations(&list, NULL);
    else
        report_forbidden(&list,
                         "existing toleration can not be modified except its tolerationSeconds");
}

static void gates_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(list, spec, "schedulingGates");
    struct map before = { 0 };
    json_each (gate, json_getc(old, "schedulingGates"))
        (void)map_put(&before, json_get_str(gate, "name"), gate);
    value_each (gate, i, &list) {
        MEMBER(name, &gate, "name");
        if (!map_has(&before, value_text(&name)))
            report_forbidden(&name,
                             report_text(&name,
                                         "only deletion is allowed, but found new scheduling gate "
                                         "'" STR_FMT "'",
                                         STR_ARG(value_text(&name))));
    }
    map_fini(&before);
}

static void take(struct arena *a, struct json *to, const struct json *from, const char *name)
{
    const struct json *v = json_getc(from, name);
    if (v)
        json_setc(a, to, name, json_clone(a, v));
    else
        (void)json_del(to, str_of(name));
}

static void take_images(struct arena *a, struct json *to, const struct json *from, const char *list)
{
    const struct json *old = json_first(json_getc(from, list));
    json_each (c, json_getc(to, list)) {
        if (old)
            take(a, c, old, "image");
        old = old ? old->next : NULL;
    }
}

/* ---- placement of pods with scheduling gates may change ---- */

static bool only_adds(const struct json *now, const struct json *old)
{
    const struct json *n = json_first(now);
    json_each (o, old) {
        if (!n || !json_equal(n, o))
            return false;
        n = n->next;
    }
    return true;
}

static bool term_only_adds(const struct json *now, const struct json *old)
{
    const struct json *expressions = json_getc(old, "matchExpressions");
    const struct json *fields = json_getc(old, "matchFields");
    if (!json_first(expressions) && !json_first(fields))
        return !json_first(json_getc(now, "matchExpressions")) &&
               !json_first(json_getc(now, "matchFields"));
    return only_adds(json_getc(now, "matchExpressions"), expressions) &&
           only_adds(json_getc(now, "matchFields"), fields);
}

#define NODE_AFFINITY "affinity", "nodeAffinity"
#define REQUIRED      "requiredDuringSchedulingIgnoredDuringExecution"

static void gated_affinity(const struct validate_value *spec, const struct json *old)
{
    MEMBER(place, spec, "affinity");
    MEMBER(node, &place, "nodeAffinity");
    MEMBER(required, &node, REQUIRED);
    MEMBER(terms, &required, "nodeSelectorTerms");
    const struct json *before = json_path(old, NODE_AFFINITY, REQUIRED, "nodeSelectorTerms", NULL);
    size_t n_before = json_is(before, JSON_ARRAY) ? before->n : 0;
    if (n_before == 0)
        return;
    if (n_before != value_count(&terms)) {
        report_invalid(&terms,
                       "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
        return;
    }
    const struct json *o = before->first;
    value_each (term, i, &terms) {
        if (!term_only_adds(term.v, o))
            report_invalid(&term, "only additions are allowed (no mutations or deletions)");
        o = o->next;
    }
}

static bool selector_only_adds(const struct json *now, const struct json *old)
{
    struct map members = { 0 };
    bool kept = true;
    json_each (m, now)
        (void)map_put(&members, m->key, m);
    json_each (m, old)
        kept = kept && value_same(map_get(&members, m->key), m);
    map_fini(&members);
    return kept;
}

/* Copies the members that may change from the old spec into `same`. */
static void gated_update(const struct validate_value *spec, const struct json *old,
                         struct json *same)
{
    struct arena *a = spec->errs->a;
    MEMBER(selector, spec, "nodeSelector");
    if (!value_same(selector.v, json_getc(old, "nodeSelector"))) {
        if (!selector_only_adds(selector.v, json_getc(old, "nodeSelector")))
            report_invalid_value(&selector, value_sorted_map(a, selector.v),
                                 "only additions to spec.nodeSelector are allowed (no mutations or "
                                 "deletions)");
        take(a, same, old, "nodeSelector");
    }
    const struct json *before = json_path(old, NODE_AFFINITY, NULL);
    if (value_same(json_path(spec->v, NODE_AFFINITY, NULL), before))
        return;
    gated_affinity(spec, old);
    struct json *affinity_now = json_getc(same, "affinity");
    if (before)
        json_setc(a, json_obj(a, same, "affinity"), "nodeAffinity", json_clone(a, before));
    else if (affinity_now)
        (void)json_del(affinity_now, STR("nodeAffinity"));
    if (affinity_now && affinity_now->n == 0 && !json_getc(old, "affinity"))
        (void)json_del(same, STR("affinity"));
}

/* ---- the rest may not change ---- */

static void spec_update(const struct validate_value *spec, const struct json *old)
{
    struct arena *a = spec->errs->a;
    struct json *same = json_clone(a, spec->v);
    const struct json *grace = json_getc(old, "terminationGracePeriodSeconds");
    take_images(a, same, old, "containers");
    take_images(a, same, old, "initContainers");
    take(a, same, old, "activeDeadlineSeconds");
    take(a, same, old, "schedulingGates");
    take(a, same, old, "tolerations");
    if (json_int_or(grace, 0) < 0 &&
        value_member_number(spec, "terminationGracePeriodSeconds") == 1)
        take(a, same, old, "terminationGracePeriodSeconds");
    if (json_first(json_getc(old, "schedulingGates")))
        gated_update(spec, old, same);
    if (!json_equal(same, old))
        report_forbidden(
            spec, report_text(spec,
                              "pod updates may not change fields other than "
                              "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                              "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                              "existing tolerations),`spec.terminationGracePeriodSeconds` (allow "
                              "it to be set to 1 if it was previously negative)\n%s",
                              internal_diff(a, old, same, "PodSpec")));
}

void pod_update(const struct validate_value *root, const struct json *old)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(annotated, &metadata, "annotations");
    MEMBER(spec, root, "spec");
    const struct json *old_spec = json_getc(old, "spec");
    fixed_annotations(&annotated, json_path(old, "metadata", "annotations", NULL));
    if (!container_images(&spec, "containers", old_spec) ||
        !container_images(&spec, "initContainers", old_spec) || !deadline_update(&spec, old_spec))
        return;
    tolerations_update(&spec, old_spec);
    gates_update(&spec, old_spec);
    if (!value_same(spec.v, old_spec))
        spec_update(&spec, old_spec);
}

/* ---- status ---- */

static bool rule_restarts(const struct json *rule, int64_t exit_code)
{
    const struct json *codes = json_getc(rule, "exitCodes");
    bool is_listed = false;
    json_each (v, json_getc(codes, "values"))
        is_listed |= json_int_or(v, -1) == exit_code;
    return codes && str_is(json_get_str(rule, "action"), "Restart") &&
           is_listed == str_is(json_get_str(codes, "operator"), "In");
}

/* By its own policy and rules, which take the place of the pod's. containers: of the spec. */
static bool may_restart(const struct json *containers, struct str name, const char *pod_policy,
                        int64_t exit_code)
{
    struct str policy = str_of(pod_policy);
    json_each (c, containers) {
        if (!str_eq(json_get_str(c, "name"), name))
            continue;
        json_each (rule, json_getc(c, "restartPolicyRules"))
            if (rule_restarts(rule, exit_code))
                return true;
        if (json_get_str(c, "restartPolicy").n)
            policy = json_get_str(c, "restartPolicy");
    }
    return str_is(policy, "Always") || (str_is(policy, "OnFailure") && exit_code != 0);
}

static void state_transitions(const struct validate_value *list, const struct json *old,
                              const char *policy, const struct json *containers)
{
    struct map running = { 0 }; /* names of containers that are not terminated now */
    size_t i = 0;
    if (strcmp(policy, "Always") == 0)
        return;
    json_each (s, list->v)
        if (!json_is(json_path(s, "state", "terminated", NULL), JSON_OBJECT))
            (void)map_put(&running, json_get_str(s, "name"), s);
    json_each (s, old) {
        struct validate_value item = value_item(list, s, i++), state = value_member(&item, "state");
        const struct json *end = json_getc(state.v, "terminated");
        struct str name = json_get_str(s, "name");
        if (!json_is(end, JSON_OBJECT) ||
            may_restart(containers, name, policy, json_int_or(json_getc(end, "exitCode"), 0)))
            continue;
        if (map_has(&running, name))
            report_forbidden(&state, "may not be transitioned to non-terminated state");
    }
    map_fini(&running);
}

static struct json *shown_addresses(const struct validate_value *list)
{
    struct json *all = json_new_array(list->errs->a);
    json_each (item, list->v)
        json_add(all, value_go_struct(list->errs->a, item, "IP=ip/\"\""));
    return all;
}

static void status_addresses(const struct validate_value *list)
{
    struct map seen = { 0 };
    value_each (item, i, list) {
        struct validate_value at = item;
        at.v = json_getc(item.v, "ip");
        validate_ip(&at, NULL);
        if (map_put(&seen, value_text(&at), &seen))
            report_duplicate(&item);
    }
    map_fini(&seen);
    if (value_count(list) > 1 &&
        (value_count(list) > 2 || !validate_is_dual_stack(list->v, "ip", false)))
        report_invalid_value(list, shown_addresses(list),
                             "may specify no more than one IP for each IP family");
}

static void host_addresses(const struct validate_value *status)
{
    MEMBER(list, status, "hostIPs");
    const struct json *first = json_first(list.v);
    if (first && !str_eq(json_get_str(first, "ip"), value_member_text(status, "hostIP"))) {
        struct validate_value item = value_item(&list, first, 0), ip = value_member(&item, "ip");
        report_invalid_text(&ip, "must be equal to `hostIP`");
    }
    status_addresses(&list);
}

static void conditions(const struct validate_value *list)
{
    value_each (c, i, list) {
        MEMBER(seen, &c, "observedGeneration");
        struct validate_value type = value_named(&c, "Type", json_getc(c.v, "type"));
        if (value_number(&seen) < 0)
            report_invalid(&seen, "must be a non-negative integer");
        if (!validate_enum_has(&enum_conditions_of_system, value_text(&type)))
            validate_qualified_name(&type, NULL);
    }
}

void pod_status_update(const struct validate_value *root, const struct json *old)
{
    MEMBER(status, root, "status");
    MEMBER(regular, &status, "containerStatuses");
    MEMBER(init, &status, "initContainerStatuses");
    MEMBER(ephemeral, &status, "ephemeralContainerStatuses");
    MEMBER(listed, &status, "conditions");
    MEMBER(pod_ips, &status, "podIPs");
    MEMBER(qos, &status, "qosClass");
    MEMBER(nominated, &status, "nominatedNodeName");
    const struct json *before = json_getc(old, "status"), *spec = json_getc(old, "spec");
    char *policy = str_dup_arena(root->errs->a, json_get_str(spec, "restartPolicy"));
    conditions(&listed);
    if (!value_same(nominated.v, json_getc(before, "nominatedNodeName")))
        validate_subdomain_if_set(&nominated, NULL);
    if (!str_eq(value_text(&qos), json_get_str(before, "qosClass")))
        report_invalid_text(&qos, "field is immutable");
    state_transitions(&regular, json_getc(before, "containerStatuses"), policy,
                      json_getc(spec, "containers"));
    state_transitions(&init, json_getc(before, "initContainerStatuses"), policy,
                      json_getc(spec, "initContainers"));
    state_transitions(&ephemeral, json_getc(before, "ephemeralContainerStatuses"), "Never", NULL);
    status_addresses(&pod_ips);
    host_addresses(&status);
}
