/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors of labels and nodes, and what places pods: affinity, tolerations, spreading. */
#include "kube/rules/validate/check.h"

#include "kube/model/selector.h"

/* ---- label selectors ---- */

/* What both kinds of requirements say about operators that take values or none. */
static bool operator_with_values(const struct spot *requirement)
{
    MEMBER(op, requirement, "operator");
    MEMBER(values, requirement, "values");
    if (spot_is(&op, "In") || spot_is(&op, "NotIn")) {
        if (spot_count(&values) == 0)
            say_required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (spot_is(&op, "Exists") || spot_is(&op, "DoesNotExist")) {
        if (spot_count(&values) > 0)
            say_forbidden(&values,
                          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        return false;
    }
    return true;
}

static void label_values(const struct spot *values)
{
    spot_each (value, i, values)
        say_problems(&value, spot_text(&value), meta_check_label_value(spot_text(&value)));
}

static void label_requirement(const struct spot *s, const void *unused)
{
    MEMBER(op, s, "operator");
    MEMBER(key, s, "key");
    MEMBER(values, s, "values");
    if (!operator_with_values(s))
        say_invalid_text(&op, "not a valid selector operator");
    must_qualified_name(&key, NULL);
    label_values(&values);
}

void label_selector(const struct spot *s, const void *unused)
{
    static const struct each requirements = { label_requirement, NULL };
    static const struct member_check members[] = { { "matchLabels", labels, NULL },
                                                   { "matchExpressions", each, &requirements } };
    if (s->v)
        CHECK_MEMBERS(s, members);
}

struct json *shown_selector(struct arena *a, const struct json *selector)
{
    if (!json_is(selector, JSON_OBJECT))
        return json_new_null(a);
    struct json *shown = json_clone(a, selector);
    if (json_getc(shown, "matchLabels"))
        json_setc(a, shown, "matchLabels", sorted_map(a, json_getc(selector, "matchLabels")));
    return shown;
}

/* Only the labels that the selector asks for: a pod may have very many. */
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

static void node_requirement(const struct spot *s, const void *lenient)
{
    MEMBER(op, s, "operator");
    MEMBER(key, s, "key");
    MEMBER(values, s, "values");
    if (spot_is(&op, "Gt") || spot_is(&op, "Lt")) {
        if (spot_count(&values) != 1)
            say_required(&values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else if (!operator_with_values(s)) {
        say_invalid_text(&op, "not a valid selector operator");
    }
    must_qualified_name(&key, NULL);
    if (!lenient)
        label_values(&values);
}

static void node_field_requirement(const struct spot *s, const void *unused)
{
    MEMBER(op, s, "operator");
    MEMBER(key, s, "key");
    MEMBER(values, s, "values");
    if (!spot_is(&op, "In") && !spot_is(&op, "NotIn"))
        say_invalid_text(&op, "not a valid selector operator");
    else if (spot_count(&values) != 1)
        say_required(&values,
                     "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                     "selector");
    if (!spot_is(&key, "metadata.name"))
        say_invalid_text(&key, "not a valid field selector key");
    else
        spot_each (value, i, &values)
            must_subdomain(&value, NULL);
}

/* lenient: values of expressions need not be label values. */
static void node_term(const struct spot *s, const void *lenient)
{
    struct each expressions = { node_requirement, lenient };
    struct each fields = { node_field_requirement, NULL };
    MEMBER(match_expressions, s, "matchExpressions");
    MEMBER(match_fields, s, "matchFields");
    each(&match_expressions, &expressions);
    each(&match_fields, &fields);
}

void node_selector(const struct spot *s, const void *unused)
{
    static const struct each terms = { node_term, NULL };
    MEMBER(list, s, "nodeSelectorTerms");
    if (!s->v)
        return;
    if (spot_count(&list) == 0)
        say_required(&list, "must have at least one node selector term");
    each(&list, &terms);
}

/* ---- affinity ---- */

static void weight(const struct spot *s)
{
    MEMBER(w, s, "weight");
    if (spot_number(&w) <= 0 || spot_number(&w) > 100)
        say_invalid_number(&w, "must be in the range 1-100");
}

static void preferred_node_term(const struct spot *s, const void *unused)
{
    static const char lenient[] = "lenient";
    MEMBER(preference, s, "preference");
    weight(s);
    node_term(&preference, lenient);
}

static void namespaces(const struct spot *s, const void *unused)
{
    json_each (name, s->v)
        say_problems(s, json_str(name), meta_check_dns1123_label(json_str(name)));
}

static void label_keys(const struct spot *keys, const struct spot *selector)
{
    if (spot_count(keys) == 0)
        return;
    if (!selector->v) {
        say_forbidden(keys, "must not be specified when labelSelector is not set");
        return;
    }
    spot_each (key, i, keys)
        must_qualified_name(&key, NULL);
}

static void put_all(struct map *set, const struct json *strings)
{
    json_each (s, strings)
        (void)map_put(set, json_str(s), s);
}

/* matchLabelKeys end up in the selector: keys that were there before are an error. */
static void keys_in_selector_twice(const struct spot *term, const struct spot *keys,
                                   const struct spot *selector)
{
    struct map wanted = { 0 }, seen = { 0 };
    size_t index = 0;
    json_each (key, keys->v) /* the value is the index, from 1 */
        (void)map_put(&wanted, json_str(key), (void *)(uintptr_t)++index);
    json_each (l, json_getc(selector->v, "matchLabels"))
        (void)map_put(&seen, l->key, l);
    json_each (e, json_getc(selector->v, "matchExpressions")) {
        struct str key = json_get_str(e, "key");
        uintptr_t at = (uintptr_t)map_get(&wanted, key);
        if (at && map_has(&seen, key)) {
            struct spot odd = spot_item(term, e, at - 1);
            say_invalid_str(&odd, key, "exists in both matchLabelKeys and labelSelector");
        }
        (void)map_put(&seen, key, e);
    }
    map_fini(&wanted);
    map_fini(&seen);
}

static void affinity_label_keys(const struct spot *term)
{
    MEMBER(selector, term, "labelSelector");
    MEMBER(match, term, "matchLabelKeys");
    MEMBER(mismatch, term, "mismatchLabelKeys");
    label_keys(&match, &selector);
    label_keys(&mismatch, &selector);
    if (spot_count(&match) && selector.v)
        keys_in_selector_twice(term, &match, &selector);
    struct map others = { 0 };
    put_all(&others, mismatch.v);
    spot_each (key, i, &match)
        if (map_has(&others, spot_text(&key)))
            say_invalid_text(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
    map_fini(&others);
}

static void pod_term(const struct spot *s, const void *unused)
{
    static const struct member_check selectors[] = {
        { "labelSelector", label_selector, NULL }, { "namespaceSelector", label_selector, NULL }
    };
    MEMBER(key, s, "topologyKey");
    struct spot names = spot_named(s, "namespace", json_getc(s->v, "namespaces"));
    CHECK_MEMBERS(s, selectors);
    namespaces(&names, NULL);
    affinity_label_keys(s);
    need(&key, "can not be empty");
    must_qualified_name(&key, NULL);
}

static void weighted_pod_term(const struct spot *s, const void *unused)
{
    MEMBER(term, s, "podAffinityTerm");
    weight(s);
    pod_term(&term, NULL);
}

#define REQUIRED_RULES  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED_RULES "preferredDuringSchedulingIgnoredDuringExecution"

static void node_affinity(const struct spot *s, const void *unused)
{
    static const struct each preferred = { preferred_node_term, NULL };
    static const struct member_check members[] = { { REQUIRED_RULES, node_selector, NULL },
                                                   { PREFERRED_RULES, each, &preferred } };
    CHECK_MEMBERS(s, members);
}

static void pod_affinity(const struct spot *s, const void *unused)
{
    static const struct each required = { pod_term, NULL }, preferred = { weighted_pod_term, NULL };
    static const struct member_check members[] = { { REQUIRED_RULES, each, &required },
                                                   { PREFERRED_RULES, each, &preferred } };
    CHECK_MEMBERS(s, members);
}

void affinity(const struct spot *s, const void *unused)
{
    static const struct member_check members[] = { { "nodeAffinity", node_affinity, NULL },
                                                   { "podAffinity", pod_affinity, NULL },
                                                   { "podAntiAffinity", pod_affinity, NULL } };
    CHECK_MEMBERS(s, members);
}

/* ---- taints and tolerations ---- */

void taint_effect(const struct spot *s, bool may_be_empty)
{
    WORDS(effects, WORD("NoSchedule"), WORD("PreferNoSchedule"), WORD("NoExecute"));
    if (spot_text(s).n == 0 && !may_be_empty)
        say_required(s, "");
    else
        one_of_strictly(s, &effects);
}

static void toleration(const struct spot *s, const void *unused)
{
    WORDS(operators, WORD("Equal"), WORD("Exists"));
    MEMBER(key, s, "key");
    MEMBER(op, s, "operator");
    MEMBER(effect, s, "effect");
    struct str value = member_text(s, "value");
    a_qualified_name(&key, NULL);
    if (spot_text(&key).n == 0 && !spot_is(&op, "Exists"))
        say_invalid_text(&op, "operator must be Exists when `key` is empty, which means \"match "
                              "all values and all keys\"");
    if (member_set(s, "tolerationSeconds") && !spot_is(&effect, "NoExecute"))
        say_invalid_text(&effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    struct meta_problems p = meta_check_label_value(value);
    if (spot_text(&op).n && !words_has(&operators, spot_text(&op)))
        say_unsupported(&op, &operators);
    else if (!spot_is(&op, "Exists") && p.n)
        say_invalid_str(&op, value,
                        p.n > 1 ? say_text(s, "%s;%s", p.text[0], p.text[1]) : p.text[0]);
    else if (spot_is(&op, "Exists") && value.n)
        say_invalid_str(&op, value, "value must be empty when `operator` is 'Exists'");
    if (spot_text(&effect).n)
        taint_effect(&effect, true);
}

void tolerations(const struct spot *s, const void *unused)
{
    static const struct each items = { toleration, NULL };
    each(s, &items);
}

/* ---- topology ---- */

static void min_domains(const struct spot *s, struct str action)
{
    if (!s->v)
        return;
    if (spot_number(s) <= 0)
        say_invalid(s, "must be greater than zero");
    if (!str_is(action, "DoNotSchedule"))
        say_invalid(
            s,
            say_text(s, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " STR_FMT,
                     STR_ARG(action)));
}

/* later: constraints behind this one by key and action. */
static void spread_constraint(const struct spot *s, bool comes_again)
{
    WORDS(actions, WORD("DoNotSchedule"), WORD("ScheduleAnyway"));
    WORDS(policies, WORD("Honor"), WORD("Ignore"));
    MEMBER(skew, s, "maxSkew");
    MEMBER(key, s, "topologyKey");
    MEMBER(action, s, "whenUnsatisfiable");
    MEMBER(domains, s, "minDomains");
    MEMBER(affinity_policy, s, "nodeAffinityPolicy");
    MEMBER(taints_policy, s, "nodeTaintsPolicy");
    MEMBER(keys, s, "matchLabelKeys");
    MEMBER(selector, s, "labelSelector");
    if (spot_number(&skew) <= 0)
        say_invalid_number(&skew, "must be greater than zero");
    need(&key, "can not be empty");
    one_of_strictly(&action, &actions);
    if (comes_again) {
        struct spot pair = spot_named(s, "{topologyKey, whenUnsatisfiable}", NULL);
        say_duplicate_str(&pair,
                          str_of(say_text(s, "{" STR_FMT ", " STR_FMT "}", STR_ARG(spot_text(&key)),
                                          STR_ARG(spot_text(&action)))));
    }
    min_domains(&domains, spot_text(&action));
    one_of_or_none(&affinity_policy, &policies);
    one_of_or_none(&taints_policy, &policies);
    label_keys(&keys, &selector);
    if (spot_count(&keys) && selector.v)
        keys_in_selector_twice(s, &keys, &selector);
    label_selector(&selector, NULL);
}

static struct str spread_id(struct arena *a, const struct json *c)
{
    return str_of(arena_printf(a, STR_FMT "\n" STR_FMT, STR_ARG(json_get_str(c, "topologyKey")),
                               STR_ARG(json_get_str(c, "whenUnsatisfiable"))));
}

void topology_spread(const struct spot *s, const void *unused)
{
    struct map last = { 0 }; /* the last constraint of each key and action */
    json_each (c, s->v)
        (void)map_put(&last, spread_id(s->errs->a, c), c);
    spot_each (c, i, s)
        spread_constraint(&c, map_get(&last, spread_id(s->errs->a, c.v)) != c.v);
    map_fini(&last);
}
