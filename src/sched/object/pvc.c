/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/pvc.h"

#include "sched/object/keep.h"

static int pvc_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                    struct err *err)
{
    struct sched_pvc *pvc = (struct sched_pvc *)o;
    const struct json *metadata = json_getc(json, "metadata"), *spec = json_getc(json, "spec");
    pvc->class = intern_get(w, sched_storage_class_name(json));
    int r = sched_quantity_read(json_path(spec, "resources", "requests", "storage", NULL),
                                "spec.resources.requests.storage", &pvc->has_request, &pvc->request,
                                err);
    if (r >= 0)
        r = sched_access_modes_read(json_getc(spec, "accessModes"), "spec.accessModes",
                                    &pvc->access_modes, err);
    if (r < 0)
        return r;
    const struct json *selector = json_getc(spec, "selector");
    pvc->has_selector = json_is(selector, JSON_OBJECT);
    if (pvc->has_selector && sched_selector_read(w, selector, &pvc->selector, NULL) < 0) {
        pvc->has_bad_selector = true;
        pvc->selector = (struct sched_selector){ .nothing = true };
    }
    pvc->is_block = str_is(json_get_str(spec, "volumeMode"), "Block");
    pvc->is_lost = str_is(json_str(json_path(json, "status", "phase", NULL)), "Lost");
    pvc->is_terminating = json_is(json_getc(metadata, "deletionTimestamp"), JSON_STRING);
    const struct json *annotations = json_getc(metadata, "annotations");
    pvc->has_annotations = json_is(annotations, JSON_OBJECT) && annotations->n > 0;
    pvc->has_bind_completed = json_getc(annotations, "pv.kubernetes.io/bind-completed") != NULL;
    const struct json *selected = json_getc(annotations, "volume.kubernetes.io/selected-node");
    pvc->has_selected_node = selected != NULL;
    pvc->selected_node = sched_keep(json_str(selected));
    pvc->volume_name = sched_keep(json_get_str(spec, "volumeName"));
    pvc->attributes_class = sched_keep(json_get_str(spec, "volumeAttributesClassName"));
    json_each (owner, json_getc(metadata, "ownerReferences")) {
        if (json_bool(json_getc(owner, "controller"))) {
            pvc->controller_uid = sched_keep(json_get_str(owner, "uid"));
            break;
        }
    }
    return 0;
}

static void pvc_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_pvc *pvc = (struct sched_pvc *)o;
    intern_unref(w, pvc->class);
    sched_selector_fini(w, &pvc->selector);
    sched_drop(pvc->selected_node);
    sched_drop(pvc->volume_name);
    sched_drop(pvc->attributes_class);
    sched_drop(pvc->controller_uid);
}

const struct sched_kind_ops sched_pvc_ops = {
    .size = sizeof(struct sched_pvc),
    .read = pvc_read,
    .fini = pvc_fini,
};
