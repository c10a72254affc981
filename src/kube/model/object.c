/* SPDX-License-Identifier: Apache-2.0 */
/* Whole objects; see object.h. */
#include "kube/model/object.h"

enum object_part object_part_of(struct str subresource)
{
    static const char *const names[] = { [OBJECT_STATUS] = "status",
                                         [OBJECT_EPHEMERAL_CONTAINERS] = "ephemeralcontainers",
                                         [OBJECT_RESIZE] = "resize" };
    for (size_t i = OBJECT_STATUS; i < ARRAY_LEN(names); i++)
        if (str_is(subresource, names[i]))
            return (enum object_part)i;
    /* of a CertificateSigningRequest: part of its status */
    return str_is(subresource, "approval") ? OBJECT_STATUS : OBJECT_WHOLE;
}

void object_convert(struct arena *a, struct json *obj, const struct kube_resource *from,
                    const struct kube_resource *to)
{
    if (from == to)
        return;
    if (from->strategy->convert)
        from->strategy->convert(a, obj, from, to);
    json_set_str(a, obj, "apiVersion", kube_api_version(a, to));
    json_set_str(a, obj, "kind", to->kind);
}

struct json *object_partial_metadata(struct arena *a, const struct json *obj)
{
    struct json *out = json_new_object(a);
    const struct json *meta = json_getc(obj, "metadata");
    json_set_str(a, out, "kind", STR("PartialObjectMetadata"));
    json_set_str(a, out, "apiVersion", STR("meta.k8s.io/v1"));
    json_setc(a, out, "metadata", meta ? json_clone(a, meta) : json_new_object(a));
    return out;
}

static bool same_members(const struct json *a, const struct json *b, bool skip_versions)
{
    size_t na = 0, nb = 0;
    json_each (m, b) {
        nb += !(skip_versions &&
                (str_is(m->key, "resourceVersion") || str_is(m->key, "managedFields")));
    }
    json_each (m, a) {
        if (skip_versions && (str_is(m->key, "resourceVersion") || str_is(m->key, "managedFields")))
            continue;
        const struct json *other = json_get(b, m->key);
        if (!other)
            return false;
        if (!skip_versions && str_is(m->key, "metadata") ? !same_members(m, other, true)
                                                         : !json_equal(m, other))
            return false;
        na++;
    }
    return na == nb;
}

bool object_same(const struct json *a, const struct json *b)
{
    return same_members(a, b, false);
}
