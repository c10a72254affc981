/* SPDX-License-Identifier: Apache-2.0 */
/* Label and node selectors, and placement of pods: affinity, tolerations, spreading. */
#include "kube/rules/validate/check.h"

#include "kube/model/selector.h"

/* Generated from text/selectors.txt. */
#include "kube/rules/selectors_rules.h"

/* ---- label selectors ---- */

/* Rules that both kinds of requirements share, for operators with values or without. */
static bool operator_with_values(const struct validate_value *requirement)
{
    MEMBER(op, requirement, "operator");
    MEMBER(values, requirement, "values");
    if (value_is(&op, "In") || value_is(&op, "NotIn")) {
        if (value_count(&values) == 0)
            report_required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (value_is(&op, "Exists") || value_is(&op, "DoesNotExist")) {
        if (value_count(&values) > 0)
            report_forbidden(&values,
                             "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        return false;
    }
    return true;
}

static void label_values(const struct validate_value *values)
{
    value_each (value, i, values)
        report_problems(&value, value_text(&value), meta_check_label_value(value_text(&value)));
}

static void label_requirement(const struct validate_value *s, const void *unused)
{
    MEMBER(op, s, "operator");
    MEMBER(key, s, "key");
    MEMBER(values, s, "values");
    if (!operator_with_values(s))
        report_invalid_text(&op, "not a valid selector operator");
    validate_qualified_name(&key, NULL);
    label_values(&values);
}

void validate_label_selector(const struct validate_value *s, const void *unused)
{
    if (s->v)
        VALIDATE_MEMBERS(s, rules_label_selector);
}

struct json *selector_shown(struct arena *a, const struct json *selector)
{
    if (!json_is(selector, JSON_OBJECT))
        return json_new_null(a);
    struct json *shown = json_clone(a, selector);
    if (json_getc(shown, "matchLabels"))
        json_setc(a, shown, "matchLabels", value_sorted_map(a, json_getc(selector, "matchLabels")));
    return shown;
}

/* Only the labels that the selector uses: a pod may have very many. */
static struct json *labels_asked_for(struct arena *a, const struct selector *s,
                                     const struct json *labels)
{
    struct json *some = json_new_object(a);
    struct map asked = { 0 };
    for (size_t i = 0; i < s->n; i++)
        (void)map_put(&asked, s->reqs[i].key, &s->reqs[i]);
    json_each (l, labels)
        if (map_has(&asked, l->key))
            json_set(a, some, l->key, json_new_str(a, json_str(l)));
    map_fini(&asked);
    return some;
}

enum selector_fit selector_fit(struct arena *a, const struct json *selector,
                               const struct json *labels)
{
    struct selector s;
    if (selector_from_object(a, selector, &s, NULL) < 0)
        return SELECTOR_BROKEN;
    if (s.nothing)
        return SELECTOR_MISSES;
    return selector_matches_labels(&s, labels_asked_for(a, &s, labels)) ? SELECTOR_FITS
                                                                        : SELECTOR_MISSES;
}

/* ---- nodes ---- */

static void node_requirement(const struct validate_value *s, const void *lenient)
{
    MEMBER(op, s, "operator");
    MEMBER(key, s, "key");
    MEMBER(values, s, "values");
    if (value_is(&op, "Gt") || value_is(&op, "Lt")) {
        if (value_count(&values) != 1)
            report_required(&values,
                            "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else if (!operator_with_values(s)) {
        report_invalid_text(&op, "not a valid selector operator");
    }
    validate_qualified_name(&key, NULL);
    if (!lenient)
        label_values(&values);
}

static void node_field_requirement(const struct validate_value *s, const void *unused)
{
    MEMBER(op, s, "operator");
    MEMBER(key, s, "key");
    MEMBER(values, s, "values");
    if (!value_is(&op, "In") && !value_is(&op, "NotIn"))
        report_invalid_text(&op, "not a valid selector operator");
    else if (value_count(&values) != 1)
        report_required(&values,
                        "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                        "selector");
    if (!value_is(&key, "metadata.name"))
        report_invalid_text(&key, "not a valid field selector key");
    else
        value_each (value, i, &values)
            validate_subdomain(&value, NULL);
}

/* lenient: values of expressions need not be label values. */
static void node_term(const struct validate_value *s, const void *lenient)
{
    struct validate_each expressions = { node_requirement, lenient };
    struct validate_each fields = { node_field_requirement, NULL };
    MEMBER(match_expressions, s, "matchExpressions");
    MEMBER(match_fields, s, "matchFields");
    validate_each(&match_expressions, &expressions);
    validate_each(&match_fields, &fields);
}

void validate_node_selector(const struct validate_value *s, const void *unused)
{
    static const struct validate_each terms = { node_term, NULL };
    MEMBER(list, s, "nodeSelectorTerms");
    if (!s->v)
        return;
    if (value_count(&list) == 0)
        report_required(&list, "must have at least one node selector term");
    validate_each(&list, &terms);
}

/* ---- affinity ---- */

static void weight(const struct validate_value *s)
{
    MEMBER(w, s, "weight");
    if (value_number(&w) <= 0 || value_number(&w) > 100)
        report_invalid_number(&w, "must be in the range 1-100");
}

static void preferred_node_term(const struct validate_value *s, const void *unused)
{
    static const char lenient[] = "lenient";
    MEMBER(preference, s, "preference");
    weight(s);
    node_term(&preference, lenient);
}

static void namespaces(const struct validate_value *s, const void *unused)
{
    json_each (name, s->v)
        report_problems(s, json_str(name), meta_check_dns1123_label(json_str(name)));
}

static void label_keys(const struct validate_value *keys, const struct validate_value *selector)
{
    if (value_count(keys) == 0)
        return;
    if (!selector->v) {
        report_forbidden(keys, "must not be specified when labelSelector is not set");
        return;
    }
    value_each (key, i, keys)
        validate_qualified_name(&key, NULL);
}

static void put_all(struct map *set, const struct json *strings)
{
    json_each (s, strings)
        (void)map_put(set, json_str(s), s);
}

/* matchLabelKeys are merged into the selector: a key that it has already is an error. */
static void keys_in_selector_twice(const struct validate_value *term,
                                   const struct validate_value *keys,
                                   const struct validate_value *selector)
{
    struct map wanted = { 0 }, seen = { 0 };
    size_t index = 0;
    json_each (key, keys->v) /* value: index in the list, from 1 */
        (void)map_put(&wanted, json_str(key), (void *)(uintptr_t)++index);
    json_each (l, json_getc(selector->v, "matchLabels"))
        (void)map_put(&seen, l->key, l);
    json_each (e, json_getc(selector->v, "matchExpressions")) {
        struct str key = json_get_str(e, "key");
        uintptr_t at = (uintptr_t)map_get(&wanted, key);
        if (at && map_has(&seen, key)) {
            struct validate_value odd = value_item(term, e, at - 1);
            report_invalid_str(&odd, key, "exists in both matchLabelKeys and labelSelector");
        }
        (void)map_put(&seen, key, e);
    }
    map_fini(&wanted);
    map_fini(&seen);
}

static void affinity_label_keys(const struct validate_value *term)
{
    MEMBER(selector, term, "labelSelector");
    MEMBER(match, term, "matchLabelKeys");
    MEMBER(mismatch, term, "mismatchLabelKeys");
    label_keys(&match, &selector);
    label_keys(&mismatch, &selector);
    if (value_count(&match) && selector.v)
        keys_in_selector_twice(term, &match, &selector);
    struct map others = { 0 };
    put_all(&others, mismatch.v);
    value_each (key, i, &match)
        if (map_has(&others, value_text(&key)))
            report_invalid_text(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
    map_fini(&others);
}

static void pod_term(const struct validate_value *s, const void *unused)
{
    MEMBER(key, s, "topologyKey");
    struct validate_value names = value_named(s, "namespace", json_getc(s->v, "namespaces"));
    VALIDATE_MEMBERS(s, rules_pod_term_selectors);
    namespaces(&names, NULL);
    affinity_label_keys(s);
    validate_required(&key, "can not be empty");
    validate_qualified_name(&key, NULL);
}

static void weighted_pod_term(const struct validate_value *s, const void *unused)
{
    MEMBER(term, s, "podAffinityTerm");
    weight(s);
    pod_term(&term, NULL);
}

static void node_affinity(const struct validate_value *s, const void *unused)
{
    VALIDATE_MEMBERS(s, rules_node_affinity);
}

static void pod_affinity(const struct validate_value *s, const void *unused)
{
    VALIDATE_MEMBERS(s, rules_pod_affinity);
}

void validate_affinity(const struct validate_value *s, const void *unused)
{
    VALIDATE_MEMBERS(s, rules_affinity);
}

/* ---- taints and tolerations ---- */

void validate_taint_effect(const struct validate_value *s, bool may_be_empty)
{
    if (value_text(s).n == 0 && !may_be_empty)
        report_required(s, "");
    else
        validate_enum_strict(s, &enum_taint_effect_effects);
}

static void toleration(const struct validate_value *s, const void *unused)
{
    MEMBER(key, s, "key");
    MEMBER(op, s, "operator");
    MEMBER(effect, s, "effect");
    struct str value = value_member_text(s, "value");
    validate_qualified_name_if_set(&key, NULL);
    if (value_text(&key).n == 0 && !value_is(&op, "Exists"))
        report_invalid_text(&op, "operator must be Exists when `key` is empty, which means \"match "
                                 "all values and all keys\"");
    if (value_has(s, "tolerationSeconds") && !value_is(&effect, "NoExecute"))
        report_invalid_text(&effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    struct meta_problems p = meta_check_label_value(value);
    if (value_text(&op).n && !validate_enum_has(&enum_toleration_operators, value_text(&op)))
        report_not_supported(&op, &enum_toleration_operators);
    else if (!value_is(&op, "Exists") && p.n)
        report_invalid_str(&op, value,
                           p.n > 1 ? report_text(s, "%s;%s", p.text[0], p.text[1]) : p.text[0]);
    else if (value_is(&op, "Exists") && value.n)
        report_invalid_str(&op, value, "value must be empty when `operator` is 'Exists'");
    if (value_text(&effect).n)
        validate_taint_effect(&effect, true);
}

void validate_tolerations(const struct validate_value *s, const void *unused)
{
    static const struct validate_each items = { toleration, NULL };
    validate_each(s, &items);
}

/* ---- topology ---- */

static void min_domains(const struct validate_value *s, struct str action)
{
    if (!s->v)
        return;
    if (value_number(s) <= 0)
        report_invalid(s, "must be greater than zero");
    if (!str_is(action, "DoNotSchedule"))
        report_invalid(
            s, report_text(
                   s, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " STR_FMT,
                   STR_ARG(action)));
}

/* comes_again: a later constraint has the same key and action. */
static void spread_constraint(const struct validate_value *s, bool comes_again)
{
    MEMBER(skew, s, "maxSkew");
    MEMBER(key, s, "topologyKey");
    MEMBER(action, s, "whenUnsatisfiable");
    MEMBER(domains, s, "minDomains");
    MEMBER(affinity_policy, s, "nodeAffinityPolicy");
    MEMBER(taints_policy, s, "nodeTaintsPolicy");
    MEMBER(keys, s, "matchLabelKeys");
    MEMBER(selector, s, "labelSelector");
    if (value_number(&skew) <= 0)
        report_invalid_number(&skew, "must be greater than zero");
    validate_required(&key, "can not be empty");
    validate_enum_strict(&action, &enum_spread_constraint_actions);
    if (comes_again) {
        struct validate_value pair = value_named(s, "{topologyKey, whenUnsatisfiable}", NULL);
        report_duplicate_str(
            &pair, str_of(report_text(s, "{" STR_FMT ", " STR_FMT "}", STR_ARG(value_text(&key)),
                                      STR_ARG(value_text(&action)))));
    }
    min_domains(&domains, value_text(&action));
    validate_enum_if_set(&affinity_policy, &enum_spread_constraint_policies);
    validate_enum_if_set(&taints_policy, &enum_spread_constraint_policies);
    label_keys(&keys, &selector);
    if (value_count(&keys) && selector.v)
        keys_in_selector_twice(s, &keys, &selector);
    validate_label_selector(&selector, NULL);
}

static struct str spread_id(struct arena *a, const struct json *c)
{
    return str_of(arena_printf(a, STR_FMT "\n" STR_FMT, STR_ARG(json_get_str(c, "topologyKey")),
                               STR_ARG(json_get_str(c, "whenUnsatisfiable"))));
}

void validate_topology_spread(const struct validate_value *s, const void *unused)
{
    struct map last = { 0 }; /* index of the last constraint with each key and action */
    json_each (c, s->v)
        (void)map_put(&last, spread_id(s->errs->a, c), c);
    value_each (c, i, s)
        spread_constraint(&c, map_get(&last, spread_id(s->errs->a, c.v)) != c.v);
    map_fini(&last);
}
