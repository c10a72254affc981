/* SPDX-License-Identifier: Apache-2.0 */
/* Scale; see scale.h. The paths are validated to be simple: ".spec.replicas". */
#include "api/scale.h"

#include "kube/model/meta.h"
#include "kube/model/selector.h"

static const struct json *at_path(const struct json *obj, struct str path)
{
    struct str name;
    while (obj && path.n) {
        (void)str_cut(path, '.', &name, &path);
        if (name.n)
            obj = json_get(obj, name);
    }
    return obj;
}

static void copy(struct arena *a, struct json *to, const char *key, const struct json *v)
{
    if (v)
        json_setc(a, to, key, json_clone(a, v));
}

/* Text of a selector: a string already, a LabelSelector, or a map of labels. */
static struct json *selector_text_of(struct arena *a, const struct json *v)
{
    struct selector s;
    if (!json_is(v, JSON_OBJECT))
        return v ? json_clone(a, v) : NULL;
    bool full = json_getc(v, "matchLabels") || json_getc(v, "matchExpressions") || v->n == 0;
    struct json *whole = json_new_object(a);
    json_setc(a, whole, "matchLabels", json_clone(a, v));
    if (selector_from_object(a, full ? v : whole, &s, NULL) < 0)
        return NULL;
    return json_new_str(a, selector_text(a, &s));
}

struct json *scale_of(struct arena *a, const struct kube_resource *res, const struct json *obj)
{
    static const char *const kept[] = { "name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp" };
    struct json *scale = json_new_object(a);
    json_set_str(a, scale, "kind", STR("Scale"));
    json_set_str(a, scale, "apiVersion", STR("autoscaling/v1"));
    struct json *meta = json_obj(a, scale, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        copy(a, meta, kept[i], json_getc(json_getc(obj, "metadata"), kept[i]));
    int64_t want = json_int_or(at_path(obj, res->scale_spec_path), 0);
    int64_t have = json_int_or(at_path(obj, res->scale_status_path), 0);
    struct json *spec = json_obj(a, scale, "spec"), *status = json_obj(a, scale, "status");
    if (want)
        json_set_int(a, spec, "replicas", want);
    json_set_int(a, status, "replicas", have);
    if (res->scale_selector_path.n)
        copy(a, status, "selector", selector_text_of(a, at_path(obj, res->scale_selector_path)));
    return scale;
}

int scale_apply(struct arena *a, const struct kube_resource *res, struct json *obj,
                const struct json *scale, struct err *err)
{
    int64_t replicas = 0;
    const struct json *v = json_path(scale, "spec", "replicas", NULL);
    if (v && json_int(v, &replicas) == 0 && replicas < 0)
        return err_set(err, E_INVALID, "must be greater than or equal to 0");
    if (v && (json_int(v, &replicas) < 0 || replicas < 0 || replicas > INT32_MAX))
        return err_set(err, E_INVALID, "should be a non-negative integer");
    struct str path = res->scale_spec_path, name;
    while (path.n) {
        (void)str_cut(path, '.', &name, &path);
        if (name.n == 0)
            continue;
        const char *key = str_dup_arena(a, name);
        if (path.n)
            obj = json_obj(a, obj, key);
        else
            json_set_int(a, obj, key, replicas);
    }
    return 0;
}
