/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery documents; see discovery.h. */
#include "kube/model/discovery.h"

#include "codec/base64.h"
#include "codec/digest.h"

#include <stdlib.h>

/* Verbs as upstream lists them: sorted by name, which is the order of their bits. */
static struct json *verbs_json(struct arena *a, unsigned verbs)
{
    struct json *list = json_new_array(a);
    for (unsigned bit = 1; bit <= KUBE_WATCH; bit <<= 1)
        if (verbs & bit)
            json_add(list, json_new_cstr(a, kube_verb_name((enum kube_verb)bit)));
    return list;
}

/* The order of verbs for custom resources. */
static struct json *custom_verbs_json(struct arena *a)
{
    static const char *const verbs[] = { "delete", "deletecollection", "get",    "list",
                                         "patch",  "create",           "update", "watch" };
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        json_add(list, json_new_cstr(a, verbs[i]));
    return list;
}

static struct json *strings_json(struct arena *a, const struct str *s, size_t n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < n; i++)
        json_add(list, json_new_str(a, s[i]));
    return list;
}

static struct json *document(struct arena *a, const char *kind, struct str api_version)
{
    struct json *o = json_new_object(a);
    json_set_str(a, o, "kind", str_of(kind));
    if (api_version.n)
        json_set_str(a, o, "apiVersion", api_version);
    return o;
}

/* ---- walking the sorted registry ---- */

/* First index at or after `i` with another group (or version). */
static size_t end_of_group(const struct kube_registry *reg, size_t i)
{
    size_t j = i;
    while (j < reg->n && str_eq(reg->all[j]->group, reg->all[i]->group))
        j++;
    return j;
}

static size_t end_of_version(const struct kube_registry *reg, size_t i)
{
    size_t j = i;
    while (j < reg->n && str_eq(reg->all[j]->group, reg->all[i]->group) &&
           str_eq(reg->all[j]->version, reg->all[i]->version))
        j++;
    return j;
}

/* ---- the older form ---- */

struct json *discovery_api_versions(struct arena *a, struct str server_address)
{
    struct json *o = document(a, "APIVersions", STR("")), *list = json_new_array(a);
    struct json *cidrs = json_new_array(a), *cidr = json_new_object(a);
    json_add(list, json_new_cstr(a, "v1"));
    json_setc(a, o, "versions", list);
    json_set_str(a, cidr, "clientCIDR", STR("0.0.0.0/0"));
    json_set_str(a, cidr, "serverAddress", server_address);
    json_add(cidrs, cidr);
    json_setc(a, o, "serverAddressByClientCIDRs", cidrs);
    return o;
}

static struct json *version_json(struct arena *a, const struct kube_resource *r)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "groupVersion", kube_api_version(a, r));
    json_set_str(a, v, "version", r->version);
    return v;
}

/* Group of the resources [from, to). */
static void fill_group(struct arena *a, struct json *g, const struct kube_registry *reg,
                       size_t from, size_t to)
{
    struct json *versions = json_new_array(a);
    json_set_str(a, g, "name", reg->all[from]->group);
    for (size_t i = from; i < to; i = end_of_version(reg, i))
        json_add(versions, version_json(a, reg->all[i]));
    json_setc(a, g, "versions", versions);
    json_setc(a, g, "preferredVersion", version_json(a, reg->all[from]));
}

struct json *discovery_groups(struct arena *a, const struct kube_registry *reg)
{
    struct json *o = document(a, "APIGroupList", STR("v1")), *groups = json_new_array(a);
    for (size_t i = 0, end; i < reg->n; i = end) {
        end = end_of_group(reg, i);
        if (reg->all[i]->group.n == 0)
            continue;
        struct json *g = json_new_object(a);
        fill_group(a, g, reg, i, end);
        json_add(groups, g);
    }
    json_setc(a, o, "groups", groups);
    return o;
}

struct json *discovery_group(struct arena *a, const struct kube_registry *reg, struct str group)
{
    for (size_t i = 0; i < reg->n && group.n; i++) {
        if (!str_eq(reg->all[i]->group, group))
            continue;
        struct json *o = document(a, "APIGroup", STR("v1"));
        fill_group(a, o, reg, i, end_of_group(reg, i));
        return o;
    }
    return NULL;
}

/* Upstream's hash: clients compare it to detect a change of the storage version. */
static struct str storage_hash(struct arena *a, const struct kube_resource *r)
{
    const struct kube_resource *s = r->storage ? r->storage : r;
    const char *text = arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(s->group),
                                    STR_ARG(s->version), STR_ARG(s->kind));
    uint8_t hash[SHA256_BYTES];
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64);
    sha256_of(str_of(text), hash);
    (void)base64_encode(&b, str_n((const char *)hash, 8), BASE64_STD);
    return str_copy_arena(a, buf_str(&b));
}

static int by_name(const void *x, const void *y)
{
    const struct kube_subresource *const *a = x, *const *b = y;
    return str_cmp((*a)->name, (*b)->name);
}

static const struct kube_subresource **sorted_subresources(struct arena *a,
                                                           const struct kube_resource *r)
{
    const struct kube_subresource **list =
        arena_new_n(a, const struct kube_subresource *, MAX(r->n_subresources, 1));
    for (size_t i = 0; i < r->n_subresources; i++)
        list[i] = &r->subresources[i];
    if (!r->crd) /* a definition's keep their order: status, scale */
        qsort(list, r->n_subresources, sizeof *list, by_name);
    return list;
}

static struct json *resource_json(struct arena *a, const struct kube_resource *r)
{
    struct json *o = json_new_object(a);
    json_set_str(a, o, "name", r->plural);
    json_set_str(a, o, "singularName", r->singular);
    json_set_bool(a, o, "namespaced", r->namespaced);
    json_set_str(a, o, "kind", r->kind);
    json_setc(a, o, "verbs", r->crd ? custom_verbs_json(a) : verbs_json(a, r->verbs));
    if (r->n_short_names)
        json_setc(a, o, "shortNames", strings_json(a, r->short_names, r->n_short_names));
    if (r->n_categories)
        json_setc(a, o, "categories", strings_json(a, r->categories, r->n_categories));
    if ((r->verbs & KUBE_GET) && (r->verbs & KUBE_CREATE)) /* else nothing is stored */
        json_set_str(a, o, "storageVersionHash", storage_hash(a, r));
    return o;
}

static struct json *subresource_json(struct arena *a, const struct kube_resource *r,
                                     const struct kube_subresource *s)
{
    struct json *o = json_new_object(a);
    json_set_str(
        a, o, "name",
        str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(r->plural), STR_ARG(s->name))));
    json_set_str(a, o, "singularName", STR(""));
    json_set_bool(a, o, "namespaced", r->namespaced);
    if (!str_eq(s->group, r->group) || !str_eq(s->version, r->version)) {
        json_set_str(a, o, "group", s->group);
        json_set_str(a, o, "version", s->version);
    }
    json_set_str(a, o, "kind", s->kind);
    json_setc(a, o, "verbs", verbs_json(a, s->verbs));
    return o;
}

struct json *discovery_resources(struct arena *a, const struct kube_registry *reg, struct str group,
                                 struct str version)
{
    if (!kube_registry_has_version(reg, group, version))
        return NULL;
    struct json *o = document(a, "APIResourceList", group.n ? STR("v1") : STR(""));
    struct json *list = json_new_array(a);
    bool named = false;
    kube_registry_each(at, reg)
    {
        const struct kube_resource *r = *at;
        if (!str_eq(r->group, group) || !str_eq(r->version, version))
            continue;
        if (!named)
            json_set_str(a, o, "groupVersion", kube_api_version(a, r));
        named = true;
        json_add(list, resource_json(a, r));
        const struct kube_subresource **subs = sorted_subresources(a, r);
        for (size_t i = 0; i < r->n_subresources; i++)
            json_add(list, subresource_json(a, r, subs[i]));
    }
    json_setc(a, o, "resources", list);
    return o;
}

/* ---- the aggregated form ---- */

/* Group and version of a built-in kind are left out when they equal those of its resource. */
static struct json *kind_json(struct arena *a, const struct kube_resource *r, struct str group,
                              struct str version, struct str kind)
{
    struct json *o = json_new_object(a);
    bool own = !r->crd && str_eq(group, r->group) && str_eq(version, r->version);
    json_set_str(a, o, "group", own ? STR("") : group);
    json_set_str(a, o, "version", own ? STR("") : version);
    json_set_str(a, o, "kind", kind);
    return o;
}

static struct json *aggregated_resource(struct arena *a, const struct kube_resource *r)
{
    struct json *o = json_new_object(a);
    json_set_str(a, o, "resource", r->plural);
    json_setc(a, o, "responseKind", kind_json(a, r, r->group, r->version, r->kind));
    json_set_str(a, o, "scope", r->namespaced ? STR("Namespaced") : STR("Cluster"));
    json_set_str(a, o, "singularResource", r->singular);
    json_setc(a, o, "verbs", r->crd ? custom_verbs_json(a) : verbs_json(a, r->verbs));
    if (r->n_short_names)
        json_setc(a, o, "shortNames", strings_json(a, r->short_names, r->n_short_names));
    if (r->n_categories)
        json_setc(a, o, "categories", strings_json(a, r->categories, r->n_categories));
    if (r->n_subresources == 0)
        return o;
    struct json *subs = json_new_array(a);
    const struct kube_subresource **sorted = sorted_subresources(a, r);
    for (size_t i = 0; i < r->n_subresources; i++) {
        const struct kube_subresource *s = sorted[i];
        struct json *sub = json_new_object(a);
        json_set_str(a, sub, "subresource", s->name);
        json_setc(a, sub, "responseKind", kind_json(a, r, s->group, s->version, s->kind));
        json_setc(a, sub, "verbs", verbs_json(a, s->verbs));
        json_add(subs, sub);
    }
    json_setc(a, o, "subresources", subs);
    return o;
}

static struct json *aggregated_version(struct arena *a, const struct kube_registry *reg,
                                       size_t from, size_t to)
{
    struct json *v = json_new_object(a), *list = json_new_array(a);
    json_set_str(a, v, "version", reg->all[from]->version);
    for (size_t i = from; i < to; i++)
        json_add(list, aggregated_resource(a, reg->all[i]));
    json_setc(a, v, "resources", list);
    json_set_str(a, v, "freshness", STR("Current"));
    return v;
}

struct json *discovery_aggregated(struct arena *a, const struct kube_registry *reg, bool core,
                                  struct str version)
{
    const char *api = arena_printf(a, "apidiscovery.k8s.io/" STR_FMT, STR_ARG(version));
    struct json *o = document(a, "APIGroupDiscoveryList", str_of(api)), *items = json_new_array(a);
    json_setc(a, o, "metadata", json_new_object(a));
    for (size_t i = 0, end; i < reg->n; i = end) {
        end = end_of_group(reg, i);
        if ((reg->all[i]->group.n == 0) != core)
            continue;
        struct json *g = json_new_object(a), *meta = json_obj(a, g, "metadata");
        struct json *versions = json_new_array(a);
        if (reg->all[i]->group.n)
            json_set_str(a, meta, "name", reg->all[i]->group);
        for (size_t v = i, v_end; v < end; v = v_end) {
            v_end = end_of_version(reg, v);
            json_add(versions, aggregated_version(a, reg, v, v_end));
        }
        json_setc(a, g, "versions", versions);
        json_add(items, g);
    }
    json_setc(a, o, "items", items);
    return o;
}
