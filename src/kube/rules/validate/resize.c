/* SPDX-License-Identifier: Apache-2.0 */
/* Allowed changes when a running pod is resized: amounts of cpu and memory. */
#include "kube/rules/kinds/pods.h"
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

static const char *const lists[] = { "requests", "limits" };

static size_t count(const struct json *v)
{
    return json_is(v, JSON_OBJECT) ? v->n : 0;
}

/* A name in the old list is missing in the new one. */
static bool is_removed(const struct json *now, const struct json *old)
{
    struct map names = { 0 };
    bool removed = count(old) > count(now);
    json_each (m, now)
        (void)map_put(&names, m->key, m);
    json_each (m, old)
        removed = removed || !map_has(&names, m->key);
    map_fini(&names);
    return removed;
}

static bool is_free(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory");
}

static struct json *fixed_amounts(struct arena *a, const struct json *list)
{
    struct json *some = json_new_object(a);
    json_each (m, list)
        if (!is_free(m->key))
            json_add_member(some, m->key, json_clone(a, m));
    return some;
}

static bool only_free_amounts_differ(struct arena *a, const struct json *now,
                                     const struct json *old)
{
    bool same = true;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        same = same && json_equal(fixed_amounts(a, json_getc(now, lists[i])),
                                  fixed_amounts(a, json_getc(old, lists[i])));
    return same;
}

static void removals(const struct validate_value *resources, const struct json *old,
                     const char *what)
{
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        MEMBER(list, resources, lists[i]);
        if (is_removed(list.v, json_getc(old, lists[i])))
            report_forbidden(&list, report_text(&list, "%s %s cannot be removed", what, lists[i]));
    }
}

static bool has_amounts(const struct json *resources)
{
    return count(json_getc(resources, "requests")) + count(json_getc(resources, "limits")) > 0;
}

static void of_pod(const struct validate_value *spec, const struct json *old_spec)
{
    MEMBER(now, spec, "resources");
    const struct json *old = json_getc(old_spec, "resources");
    if (!has_amounts(now.v) && !has_amounts(old))
        return;
    if (old && !now.v) {
        report_forbidden(&now, "pod-level resources cannot be removed");
        return;
    }
    if (old)
        removals(&now, old, "pod-level resource");
    if (!only_free_amounts_differ(spec->errs->a, now.v, old) ||
        !value_same(json_getc(now.v, "claims"), json_getc(old, "claims")))
        report_forbidden(spec, "only cpu and memory resources are mutable at pod-level");
}

/* Requires the same containers in the same order. */
static bool same_containers(const struct validate_value *spec, const char *name,
                            const struct json *old_spec)
{
    MEMBER(list, spec, name);
    const struct json *old = json_getc(old_spec, name), *was = json_first(old);
    bool same = true;
    if (value_count(&list) != (json_is(old, JSON_ARRAY) ? old->n : 0)) {
        report_forbidden(&list,
                         report_text(&list, "%s may not be added or removed on resize", name));
        return false;
    }
    value_each (c, i, &list) {
        MEMBER(at, &c, "name");
        if (!str_eq(value_text(&at), json_get_str(was, "name"))) {
            report_forbidden(
                &at, report_text(&at, "%s may not be renamed or reordered on resize", name));
            same = false;
        }
        was = was->next;
    }
    return same;
}

static void amounts_stay(const struct validate_value *spec, const char *name,
                         const struct json *old_spec)
{
    MEMBER(list, spec, name);
    const struct json *was = json_first(json_getc(old_spec, name));
    value_each (c, i, &list) {
        MEMBER(resources, &c, "resources");
        removals(&resources, json_getc(was, "resources"), "resource");
        was = was->next;
    }
}

/* More than allowed changes; resources with claims may not change at all. */
static bool changes_more(struct arena *a, const struct json *now, const struct json *old)
{
    const struct json *resources = json_getc(old, "resources");
    return !only_free_amounts_differ(a, json_getc(now, "resources"), resources) ||
           json_getc(resources, "claims") ||
           !value_same(json_getc(now, "resizePolicy"), json_getc(old, "resizePolicy"));
}

static bool restarts(const struct json *container)
{
    json_each (policy, json_getc(container, "resizePolicy"))
        if (str_is(json_get_str(policy, "restartPolicy"), "RestartContainer"))
            return true;
    return false;
}

static void only_free_amounts(const struct validate_value *spec, const struct json *old_spec)
{
    MEMBER(containers, spec, "containers");
    MEMBER(init, spec, "initContainers");
    const struct json *was = json_first(json_getc(old_spec, "containers"));
    value_each (c, i, &containers) {
        if (changes_more(spec->errs->a, c.v, was))
            report_forbidden(spec, "only cpu and memory resources are mutable");
        was = was->next;
    }
    was = json_first(json_getc(old_spec, "initContainers"));
    value_each (c, i, &init) {
        if (changes_more(spec->errs->a, c.v, was))
            report_forbidden(&c, "only cpu and memory resources for init or sidecar containers are "
                                 "mutable");
        if (!value_same(json_getc(c.v, "resources"), json_getc(was, "resources")) &&
            !str_is(value_member_text(&c, "restartPolicy"), "Always") && restarts(c.v))
            report_forbidden(&c, "non-sidecar init containers with a resize policy of "
                                 "RestartContainer cannot be resized");
        was = was->next;
    }
}

/* A kubelet that can resize reports the resources of running containers. */
static bool can_resize(const struct json *pod)
{
    json_each (c, json_path(pod, "status", "containerStatuses", NULL))
        if (json_path(c, "state", "running", NULL))
            return json_getc(c, "resources") != NULL;
    return true;
}

void validate_pod_resize(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs), whole = value_named(&root, "[]", NULL);
    MEMBER(spec, &root, "spec");
    const struct json *old_spec = json_getc(old, "spec");
    const struct json *qos = json_path(old, "status", "qosClass", NULL);
    if (json_path(old, "metadata", "annotations", MIRROR_POD, NULL)) {
        report_forbidden(&whole, "static pods cannot be resized");
        return;
    }
    if (str_is(json_str(json_path(old_spec, "os", "name", NULL)), "windows")) {
        report_forbidden(&whole, "windows pods cannot be resized");
        return;
    }
    pod_validate_whole(&root);
    if (qos && !str_is(json_str(qos), kind_pod_qos_class(obj)))
        report_invalid_value(&spec, qos, "Pod QOS Class may not change as a result of resizing");
    if (!can_resize(old))
        report_forbidden(&spec, "Pod running on node without support for resize");
    of_pod(&spec, old_spec);
    bool same = same_containers(&spec, "containers", old_spec);
    if (!same_containers(&spec, "initContainers", old_spec) || !same)
        return;
    amounts_stay(&spec, "initContainers", old_spec);
    amounts_stay(&spec, "containers", old_spec);
    only_free_amounts(&spec, old_spec);
}
