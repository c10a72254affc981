/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#define TAINT_LAYOUT "Key=key/\"\" Value=value/\"\" Effect=effect/\"\" TimeAdded=timeAdded/null"

static void taint(const struct spot *s)
{
    MEMBER(key, s, "key");
    MEMBER(value, s, "value");
    MEMBER(effect, s, "effect");
    struct meta_problems p = meta_check_label_value(spot_text(&value));
    must_qualified_name(&key, NULL);
    if (p.n)
        say_invalid_text(&value, p.n > 1 ? say_text(s, "%s;%s", p.text[0], p.text[1]) : p.text[0]);
    taint_effect(&effect, false);
}

/* Upstream reports them below metadata. */
static void taints(const struct spot *metadata, const struct json *list)
{
    struct spot at = spot_named(metadata, "taints", list);
    struct map seen = { 0 };
    spot_each (t, i, &at) {
        taint(&t);
        struct str id =
            str_of(say_text(&t, STR_FMT "\n" STR_FMT, STR_ARG(member_text(&t, "effect")),
                            STR_ARG(member_text(&t, "key"))));
        if (map_put(&seen, id, &seen))
            field_error(t.errs, FIELD_DUPLICATE, spot_path(&t),
                        go_struct(t.errs->a, t.v, TAINT_LAYOUT),
                        "taints must be unique by key and effect pair");
    }
    map_fini(&seen);
}

static void amounts(const struct spot *status, const char *name)
{
    MEMBER(list, status, name);
    json_each (m, list.v) {
        struct spot at = spot_named(&list, str_dup_arena(list.errs->a, m->key), m);
        resource_value(&at, m->key);
    }
}

static void pod_cidrs(const struct spot *list)
{
    struct map seen = { 0 };
    spot_each (cidr, i, list)
        must_cidr(&cidr, spot_text(&cidr));
    if (spot_count(list) > 1 && (spot_count(list) > 2 || !is_dual_stack(list->v, NULL, true)))
        say_invalid(list, "may specify no more than one CIDR for each IP family");
    spot_each (cidr, i, list)
        if (map_put(&seen, spot_text(&cidr), &seen) && spot_count(list) > 1)
            say_duplicate_str(&cidr, spot_text(&cidr));
    map_fini(&seen);
}

static void config_map_source(const struct spot *s)
{
    static const struct member_check must_name[] = { { "namespace", need, "namespace must be set" },
                                                     { "namespace", a_label, NULL },
                                                     { "name", need, "name must be set" },
                                                     { "name", a_subdomain, NULL },
                                                     { "kubeletConfigKey", need,
                                                       "kubeletConfigKey must be set" } };
    MEMBER(uid, s, "uid");
    MEMBER(version, s, "resourceVersion");
    MEMBER(key, s, "kubeletConfigKey");
    if (uid.v)
        say_forbidden(&uid, "uid must not be set in spec");
    if (version.v)
        say_forbidden(&version, "resourceVersion must not be set in spec");
    CHECK_MEMBERS(s, must_name);
    if (spot_text(&key).n)
        say_problems(&key, spot_text(&key), meta_check_config_key(spot_text(&key)));
}

static void config_source(const struct spot *s)
{
    MEMBER(map, s, "configMap");
    if (!s->v)
        return;
    if (map.v)
        config_map_source(&map);
    else
        say_invalid(s, "exactly one reference subfield must be non-nil");
}

static void addresses_once(const struct spot *status)
{
    struct map seen = { 0 };
    MEMBER(list, status, "addresses");
    spot_each (address, i, &list) {
        struct str id =
            str_of(say_text(&address, STR_FMT "\n" STR_FMT, STR_ARG(member_text(&address, "type")),
                            STR_ARG(member_text(&address, "address"))));
        struct spot shown = address;
        shown.v = go_struct(list.errs->a, address.v, "Type=type/\"\" Address=address/\"\"");
        if (map_put(&seen, id, &seen))
            say_duplicate(&shown);
    }
    map_fini(&seen);
}

#define ONCE(what) "node updates may not change " what " except from \"\" to valid"

static void node_update(const struct spot *spec, const struct json *old)
{
    MEMBER(cidrs, spec, "podCIDRs");
    MEMBER(provider, spec, "providerID");
    MEMBER(config, spec, "configSource");
    MEMBER(external, spec, "externalID");
    const struct json *before = json_getc(old, "podCIDRs");
    if (json_first(before)) {
        const struct json *now = json_first(cidrs.v);
        bool same_length = spot_count(&cidrs) == before->n;
        if (!same_length)
            say_forbidden(&cidrs, ONCE("podCIDR"));
        for (const struct json *o = before->first; o && same_length; o = o->next, now = now->next)
            if (!str_eq(json_str(o), json_str(now)))
                say_forbidden(&cidrs, ONCE("podCIDR"));
    }
    if (json_get_str(old, "providerID").n &&
        !str_eq(json_get_str(old, "providerID"), spot_text(&provider)))
        say_forbidden(&provider, ONCE("providerID"));
    config_source(&config);
    if (!str_eq(json_get_str(old, "externalID"), spot_text(&external)))
        say_forbidden(&external, "may not be updated");
}

void validate_node(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
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
