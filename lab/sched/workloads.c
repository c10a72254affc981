/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what controllers do for new workloads: a Deployment gets a ReplicaSet; ReplicaSets,
 * StatefulSets and Jobs get pods; a StatefulSet also gets claims for them. A workload with a uid
 * exists already, and so do its pods.
 */
#include "lab/sched/internal.h"

static const struct json *template_of(const struct json *workload)
{
    return json_path(workload, "spec", "template", NULL);
}

static struct str meta_str(const struct json *o, const char *key)
{
    return json_str(json_path(o, "metadata", key, NULL));
}

static struct json *object_of(struct arena *a, const char *version, const char *kind,
                              struct str namespace, struct str name)
{
    struct json *o = json_new_object(a);
    json_set_str(a, o, "apiVersion", str_of(version));
    json_set_str(a, o, "kind", str_of(kind));
    struct json *meta = json_obj(a, o, "metadata");
    json_set_str(a, meta, "namespace", namespace);
    json_set_str(a, meta, "name", name);
    return o;
}

static void copy_member(struct arena *a, struct json *to, const struct json *from, const char *key)
{
    if (json_getc(from, key))
        json_setc(a, to, key, json_clone(a, json_getc(from, key)));
}

static void set_owner(struct arena *a, struct json *pod, const struct json *owner)
{
    struct json *list = json_new_array(a), *ref = json_new_object(a);
    json_set_str(a, ref, "apiVersion", json_get_str(owner, "apiVersion"));
    json_set_str(a, ref, "kind", json_get_str(owner, "kind"));
    json_set_str(a, ref, "name", meta_str(owner, "name"));
    json_set_str(a, ref, "uid", meta_str(owner, "uid"));
    json_set_bool(a, ref, "controller", true);
    json_add(list, ref);
    json_setc(a, json_obj(a, pod, "metadata"), "ownerReferences", list);
}

/*
 * Adds a claim for each of a StatefulSet's templates; the pod mounts it under the template's name.
 */
static int add_claims(struct simulation *s, struct arena *a, const struct json *owner,
                      struct json *pod, struct err *err)
{
    struct json *spec = json_obj(a, pod, "spec"), *volumes = json_getc(spec, "volumes");
    int r = 0;
    json_each (t, json_path(owner, "spec", "volumeClaimTemplates", NULL)) {
        struct str of = meta_str(t, "name");
        struct str name = str_of(
            arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(of), STR_ARG(meta_str(pod, "name"))));
        struct json *claim =
            object_of(a, "v1", "PersistentVolumeClaim", meta_str(owner, "namespace"), name);
        copy_member(a, claim, t, "spec");
        if (!simulation_get(s, SCHED_PVC, meta_str(owner, "namespace"), name))
            r = r < 0 ? r : simulation_add(s, claim, err);
        if (!json_is(volumes, JSON_ARRAY)) {
            volumes = json_new_array(a);
            json_setc(a, spec, "volumes", volumes);
        }
        struct json *volume = json_new_object(a);
        json_set_str(a, volume, "name", of);
        json_set_str(a, json_obj(a, volume, "persistentVolumeClaim"), "claimName", name);
        json_add(volumes, volume);
    }
    return r;
}

static int add_pod(struct simulation *s, const struct json *owner, int64_t i, struct err *err)
{
    struct arena a = { 0 };
    const struct json *template = template_of(owner), *meta = json_getc(template, "metadata");
    struct str name =
        str_of(arena_printf(&a, STR_FMT "-%lld", STR_ARG(meta_str(owner, "name")), (long long)i));
    struct json *pod = object_of(&a, "v1", "Pod", meta_str(owner, "namespace"), name);
    copy_member(&a, json_obj(&a, pod, "metadata"), meta, "labels");
    copy_member(&a, json_obj(&a, pod, "metadata"), meta, "annotations");
    copy_member(&a, pod, template, "spec");
    set_owner(&a, pod, owner);
    int r = add_claims(s, &a, owner, pod, err);
    r = r < 0 ? r : simulation_add(s, pod, err);
    arena_fini(&a);
    return r;
}

static int64_t count_of(const struct json *workload)
{
    const struct json *spec = json_getc(workload, "spec");
    if (!str_is(json_get_str(workload, "kind"), "Job"))
        return json_int_or(json_getc(spec, "replicas"), 1);
    int64_t n = json_int_or(json_getc(spec, "parallelism"), 1);
    return MIN(n, json_int_or(json_getc(spec, "completions"), n));
}

static int add_replica_set(struct simulation *s, const struct json *deployment, struct err *err)
{
    struct arena a = { 0 };
    static const char *const keys[] = { "replicas", "selector", "template" };
    struct json *set = object_of(&a, "apps/v1", "ReplicaSet", meta_str(deployment, "namespace"),
                                 meta_str(deployment, "name"));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        copy_member(&a, json_obj(&a, set, "spec"), json_getc(deployment, "spec"), keys[i]);
    int r = simulation_add(s, set, err);
    arena_fini(&a);
    return r;
}

bool simulation_is_workload(const struct json *o)
{
    static const char *const kinds[][2] = { { "apps/v1", "Deployment" },
                                            { "apps/v1", "ReplicaSet" },
                                            { "apps/v1", "StatefulSet" },
                                            { "batch/v1", "Job" } };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(json_get_str(o, "apiVersion"), kinds[i][0]) &&
            str_is(json_get_str(o, "kind"), kinds[i][1]))
            return true;
    return false;
}

int simulation_expand(struct simulation *s, const struct json *workload, struct err *err)
{
    int64_t n = count_of(workload);
    if (n > SIMULATION_OBJECTS_MAX)
        return err_set(err, E_LIMIT, "more than %d pods", SIMULATION_OBJECTS_MAX);
    if (str_is(json_get_str(workload, "kind"), "Deployment"))
        return add_replica_set(s, workload, err);
    int r = 0;
    for (int64_t i = 0; i < n && r >= 0; i++)
        r = add_pod(s, workload, i, err);
    return r;
}
