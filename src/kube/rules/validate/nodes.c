/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

/* Generated from text/nodes.txt. */
#include "kube/rules/nodes_rules.h"

#define TAINT_LAYOUT "Key=key/\"\" Value=value/\"\" Effect=effect/\"\" TimeAdded=timeAdded/null"

static void taint(const struct validate_value *s)
{
    MEMBER(key, s, "key");
    MEMBER(value, s, "value");
    MEMBER(effect, s, "effect");
    struct meta_problems p = meta_check_label_value(value_text(&value));
    validate_qualified_name(&key, NULL);
    if (p.n)
        report_invalid_text(&value,
                            p.n > 1 ? report_text(s, "%s;%s", p.text[0], p.text[1]) : p.text[0]);
    validate_taint_effect(&effect, false);
}

/* Upstream reports them below metadata. */
static void taints(const struct validate_value *metadata, const struct json *list)
{
    struct validate_value at = value_named(metadata, "taints", list);
    struct map seen = { 0 };
    value_each (t, i, &at) {
        taint(&t);
        struct str id =
            str_of(report_text(&t, STR_FMT "\n" STR_FMT, STR_ARG(value_member_text(&t, "effect")),
                               STR_ARG(value_member_text(&t, "key"))));
        if (map_put(&seen, id, &seen))
            field_error(t.errs, FIELD_DUPLICATE, value_path(&t),
                        value_go_struct(t.errs->a, t.v, TAINT_LAYOUT),
                        "taints must be unique by key and effect pair");
    }
    map_fini(&seen);
}

static void amounts(const struct validate_value *status, const char *name)
{
    MEMBER(list, status, name);
    json_each (m, list.v) {
        struct validate_value at = value_named(&list, str_dup_arena(list.errs->a, m->key), m);
        resource_value(&at, m->key);
    }
}

static void pod_cidrs(const struct validate_value *list)
{
    struct map seen = { 0 };
    value_each (cidr, i, list)
        validate_cidr(&cidr, value_text(&cidr));
    if (value_count(list) > 1 &&
        (value_count(list) > 2 || !validate_is_dual_stack(list->v, NULL, true)))
        report_invalid(list, "may specify no more than one CIDR for each IP family");
    value_each (cidr, i, list)
        if (map_put(&seen, value_text(&cidr), &seen) && value_count(list) > 1)
            report_duplicate_str(&cidr, value_text(&cidr));
    map_fini(&seen);
}

static void config_map_source(const struct validate_value *s)
{
    MEMBER(uid, s, "uid");
    MEMBER(version, s, "resourceVersion");
    MEMBER(key, s, "kubeletConfigKey");
    if (uid.v)
        report_forbidden(&uid, "uid must not be set in spec");
    if (version.v)
        report_forbidden(&version, "resourceVersion must not be set in spec");
    VALIDATE_MEMBERS(s, rules_config_map_source_must_name);
    if (value_text(&key).n)
        report_problems(&key, value_text(&key), meta_check_config_key(value_text(&key)));
}

static void config_source(const struct validate_value *s)
{
    MEMBER(map, s, "configMap");
    if (!s->v)
        return;
    if (map.v)
        config_map_source(&map);
    else
        report_invalid(s, "exactly one reference subfield must be non-nil");
}

static void addresses_once(const struct validate_value *status)
{
    struct map seen = { 0 };
    MEMBER(list, status, "addresses");
    value_each (address, i, &list) {
        struct str id = str_of(report_text(&address, STR_FMT "\n" STR_FMT,
                                           STR_ARG(value_member_text(&address, "type")),
                                           STR_ARG(value_member_text(&address, "address"))));
        struct validate_value shown = address;
        shown.v = value_go_struct(list.errs->a, address.v, "Type=type/\"\" Address=address/\"\"");
        if (map_put(&seen, id, &seen))
            report_duplicate(&shown);
    }
    map_fini(&seen);
}

#define ONCE(what) "node updates may not change " what " except from \"\" to valid"

static void node_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(cidrs, spec, "podCIDRs");
    MEMBER(provider, spec, "providerID");
    MEMBER(config, spec, "configSource");
    MEMBER(external, spec, "externalID");
    const struct json *before = json_getc(old, "podCIDRs");
    if (json_first(before)) {
        const struct json *now = json_first(cidrs.v);
        bool same_length = value_count(&cidrs) == before->n;
        if (!same_length)
            report_forbidden(&cidrs, ONCE("podCIDR"));
        for (const struct json *o = before->first; o && same_length; o = o->next, now = now->next)
            if (!str_eq(json_str(o), json_str(now)))
                report_forbidden(&cidrs, ONCE("podCIDR"));
    }
    if (json_get_str(old, "providerID").n &&
        !str_eq(json_get_str(old, "providerID"), value_text(&provider)))
        report_forbidden(&provider, ONCE("providerID"));
    config_source(&config);
    if (!str_eq(json_get_str(old, "externalID"), value_text(&external)))
        report_forbidden(&external, "may not be updated");
}

void validate_node(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(metadata, &root, "metadata");
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    MEMBER(cidrs, &spec, "podCIDRs");
    if (!old)
        taints(&metadata, json_getc(spec.v, "taints"));
    amounts(&status, "capacity");
    amounts(&status, "allocatable");
    if (!old) {
        pod_cidrs(&cidrs);
        return;
    }
    addresses_once(&status);
    node_update(&spec, json_getc(old, "spec"));
    taints(&metadata, json_getc(spec.v, "taints"));
}
