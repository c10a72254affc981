/* SPDX-License-Identifier: Apache-2.0 */
/* Users; see identity.h. */
#include "api/identity.h"

#include "kube/model/meta.h"

#define SA_PREFIX "system:serviceaccount:"

static struct str *copy_list(struct arena *a, const struct str *from, size_t n)
{
    struct str *to = arena_new_n(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        to[i] = str_copy_arena(a, from[i]);
    return to;
}

struct kube_identity identity_copy(struct arena *a, const struct kube_identity *id)
{
    struct kube_extra *extra = arena_new_n(a, struct kube_extra, id->n_extra + 1);
    for (size_t i = 0; i < id->n_extra; i++)
        extra[i] = (struct kube_extra){ .key = str_copy_arena(a, id->extra[i].key),
                                        .values = copy_list(a, id->extra[i].values, id->extra[i].n),
                                        .n = id->extra[i].n };
    return (struct kube_identity){ .user = str_copy_arena(a, id->user),
                                   .groups = copy_list(a, id->groups, id->n_groups),
                                   .n_groups = id->n_groups,
                                   .uid = str_copy_arena(a, id->uid),
                                   .extra = extra,
                                   .n_extra = id->n_extra };
}

bool identity_has_group(const struct kube_identity *id, const char *group)
{
    for (size_t i = 0; i < id->n_groups; i++)
        if (str_is(id->groups[i], group))
            return true;
    return false;
}

static struct json *list_to_json(struct arena *a, const struct str *list, size_t n)
{
    struct json *v = json_new_array(a);
    for (size_t i = 0; i < n; i++)
        json_add(v, json_new_str(a, list[i]));
    return v;
}

struct json *identity_to_json(struct arena *a, const struct kube_identity *id)
{
    struct json *v = json_new_object(a);
    if (id->user.n)
        json_set_str(a, v, "username", id->user);
    if (id->uid.n)
        json_set_str(a, v, "uid", id->uid);
    if (id->n_groups)
        json_setc(a, v, "groups", list_to_json(a, id->groups, id->n_groups));
    for (size_t i = 0; i < id->n_extra; i++)
        json_set(a, json_obj(a, v, "extra"), id->extra[i].key,
                 list_to_json(a, id->extra[i].values, id->extra[i].n));
    return v;
}

static struct str *list_from_json(struct arena *a, const struct json *v, size_t *ret_n)
{
    *ret_n = 0;
    if (!json_is(v, JSON_ARRAY))
        return NULL;
    struct str *list = arena_new_n(a, struct str, v->n + 1);
    json_each (one, v)
        list[(*ret_n)++] = json_str(one);
    return list;
}

struct kube_identity identity_from_json(struct arena *a, const struct json *v, const char *name)
{
    struct kube_identity id = { .user = json_get_str(v, name), .uid = json_get_str(v, "uid") };
    const struct json *extra = json_getc(v, "extra");
    id.groups = list_from_json(a, json_getc(v, "groups"), &id.n_groups);
    if (!json_is(extra, JSON_OBJECT))
        return id;
    struct kube_extra *all = arena_new_n(a, struct kube_extra, extra->n + 1);
    json_each (one, extra) {
        struct kube_extra *to = &all[id.n_extra++];
        to->key = one->key;
        to->values = list_from_json(a, one, &to->n);
    }
    id.extra = all;
    return id;
}

bool identity_split_account(struct str user, struct str *ret_ns, struct str *ret_name)
{
    struct str rest = str_slice(user, strlen(SA_PREFIX), user.n), ns, name;
    if (!str_has_prefix(user, STR(SA_PREFIX)) || !str_cut(rest, ':', &ns, &name) ||
        str_find_char(name, ':') >= 0 || meta_check_dns1123_label(ns).n ||
        meta_check_dns1123_subdomain(name).n)
        return false;
    *ret_ns = ns;
    *ret_name = name;
    return true;
}

bool identity_is_node(const struct kube_identity *who, struct str *ret)
{
    if (!str_has_prefix(who->user, STR("system:node:")))
        return false;
    *ret = str_slice(who->user, sizeof "system:node:" - 1, who->user.n);
    for (size_t i = 0; i < who->n_groups; i++)
        if (str_is(who->groups[i], "system:nodes"))
            return true;
    return false;
}

struct str identity_of_secret(const struct json *secret)
{
    if (!str_is(json_get_str(secret, "type"), "kubernetes.io/service-account-token"))
        return STR("");
    return json_str(
        json_path(secret, "metadata", "annotations", "kubernetes.io/service-account.name", NULL));
}
