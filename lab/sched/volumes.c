/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what volume controllers do after the scheduler's decision: binds a volume to the claim that
 * it names, and provisions a volume for a claim with a selected node (or with a class that binds
 * immediately).
 */
#include "lab/sched/internal.h"

static struct str spec_str(const struct json *o, const char *key)
{
    return json_str(json_path(o, "spec", key, NULL));
}

static void annotate(struct arena *a, struct json *o, const char *key)
{
    json_set_str(a, json_obj(a, json_obj(a, o, "metadata"), "annotations"), key, STR("yes"));
}

static void set_phase(struct arena *a, struct json *o)
{
    json_set_str(a, json_obj(a, o, "status"), "phase", STR("Bound"));
}

static void bind_claim(struct simulation *s, struct simulation_object *claim, struct str volume)
{
    struct arena fresh = { .block_bytes = 1024 };
    struct json *tree = json_clone(&fresh, claim->json);
    json_set_str(&fresh, json_obj(&fresh, tree, "spec"), "volumeName", volume);
    annotate(&fresh, tree, "pv.kubernetes.io/bind-completed");
    annotate(&fresh, tree, "pv.kubernetes.io/bound-by-controller");
    set_phase(&fresh, tree);
    simulation_replace(s, claim, &fresh, tree);
}

static void set_claim_ref(struct arena *a, struct json *volume, const struct json *claim)
{
    static const char *const keys[] = { "namespace", "name", "uid" };
    struct json *ref = json_obj(a, json_obj(a, volume, "spec"), "claimRef");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        json_set_str(a, ref, keys[i], json_str(json_path(claim, "metadata", keys[i], NULL)));
}

/* Binds a volume to the claim that the scheduler has written into it. */
static void bind_volume(struct simulation *s, struct simulation_object *volume)
{
    const struct json *ref = json_path(volume->json, "spec", "claimRef", NULL);
    struct simulation_object *claim =
        simulation_get(s, SCHED_PVC, json_get_str(ref, "namespace"), json_get_str(ref, "name"));
    if (!claim || spec_str(claim->json, "volumeName").n)
        return;
    struct arena fresh = { .block_bytes = 1024 };
    struct json *tree = json_clone(&fresh, volume->json);
    set_claim_ref(&fresh, tree, claim->json);
    set_phase(&fresh, tree);
    simulation_replace(s, volume, &fresh, tree);
    bind_claim(s, claim, json_str(json_path(volume->json, "metadata", "name", NULL)));
}

/* Is a volume provisioned for the claim now? Else later, or by hand. */
static bool is_provisioned(const struct simulation *s, const struct json *claim)
{
    const struct simulation_object *class =
        simulation_get(s, SCHED_STORAGE_CLASS, STR(""), spec_str(claim, "storageClassName"));
    const struct json *o = class ? class->json : NULL;
    bool waits = str_is(json_get_str(o, "volumeBindingMode"), "WaitForFirstConsumer");
    const struct json *selected = json_getc(json_path(claim, "metadata", "annotations", NULL),
                                            "volume.kubernetes.io/selected-node");
    return o && !str_is(json_get_str(o, "provisioner"), "kubernetes.io/no-provisioner") &&
           (!waits || selected);
}

static void provision(struct simulation *s, struct simulation_object *claim)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    const struct json *meta = json_getc(claim->json, "metadata");
    struct json *volume = json_new_object(&a), *spec = json_obj(&a, volume, "spec");
    const struct json *request = json_path(claim->json, "spec", "resources", "requests", NULL);
    const struct json *modes = json_path(claim->json, "spec", "accessModes", NULL);
    struct str name = str_of(arena_printf(&a, "pvc-" STR_FMT "-" STR_FMT,
                                          STR_ARG(json_get_str(meta, "namespace")),
                                          STR_ARG(json_get_str(meta, "name"))));
    struct str class = spec_str(claim->json, "storageClassName");
    const struct simulation_object *of = simulation_get(s, SCHED_STORAGE_CLASS, STR(""), class);
    json_set_str(&a, json_obj(&a, volume, "metadata"), "name", name);
    json_set_str(&a, spec, "storageClassName", class);
    if (request)
        json_setc(&a, spec, "capacity", json_clone(&a, request));
    if (modes)
        json_setc(&a, spec, "accessModes", json_clone(&a, modes));
    struct json *csi = json_obj(&a, spec, "csi");
    json_set_str(&a, csi, "driver", json_get_str(of->json, "provisioner"));
    json_set_str(&a, csi, "volumeHandle", name);
    set_claim_ref(&a, volume, claim->json);
    set_phase(&a, volume);
    struct simulation_object *made;
    if (simulation_store(s, SCHED_PV, volume, &made, &err) == 0)
        bind_claim(s, claim, name);
    arena_fini(&a);
}

void simulation_volumes(struct simulation *s, struct simulation_object *o)
{
    if (o->kind == SCHED_PV)
        bind_volume(s, o);
    else if (!spec_str(o->json, "volumeName").n && is_provisioned(s, o->json))
        provision(s, o);
}
