/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/plugins/volumes.h"

#include "sched/object/csi_node.h"

const struct sched_pvc *sched_find_pvc(const struct sched_framework *f, struct str namespace,
                                       struct str name)
{
    return sched_cache_get(f->cache, SCHED_PVC, namespace, name);
}

const struct sched_pv *sched_find_pv(const struct sched_framework *f, struct str name)
{
    return sched_cache_get(f->cache, SCHED_PV, STR(""), name);
}

const struct sched_storage_class *sched_find_class(const struct sched_framework *f, struct str name)
{
    return sched_cache_get(f->cache, SCHED_STORAGE_CLASS, STR(""), name);
}

bool sched_pod_uses_claim(const struct sched_pod *pod, const struct sched_object *claim,
                          bool or_ephemeral)
{
    if (!str_eq(pod->o.namespace, claim->namespace))
        return false;
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct sched_volume *v = &pod->volumes[i];
        if ((v->source == SCHED_VOLUME_CLAIM ||
             (or_ephemeral && v->source == SCHED_VOLUME_EPHEMERAL)) &&
            str_eq(v->claim, claim->name))
            return true;
    }
    return false;
}

const struct sched_status *sched_check_ephemeral(struct arena *a, enum sched_code code,
                                                 const struct sched_pod *pod,
                                                 const struct sched_pvc *pvc)
{
    if (pvc->controller_uid.n > 0 && str_eq(pvc->controller_uid, pod->o.uid))
        return NULL;
    return sched_status(a, code,
                        "PVC " STR_FMT "/" STR_FMT " was not created for pod " STR_FMT "/" STR_FMT
                        " (pod is not owner)",
                        STR_ARG(pvc->o.namespace), STR_ARG(pvc->o.name), STR_ARG(pod->o.namespace),
                        STR_ARG(pod->o.name));
}

enum sched_in_tree sched_volume_in_tree(const struct sched_volume *v)
{
    switch (v->source) {
    case SCHED_VOLUME_GCE_DISK:
        return SCHED_IN_TREE_GCE;
    case SCHED_VOLUME_AWS_DISK:
        return SCHED_IN_TREE_AWS;
    case SCHED_VOLUME_AZURE_DISK:
        return SCHED_IN_TREE_AZURE_DISK;
    case SCHED_VOLUME_CINDER:
        return SCHED_IN_TREE_CINDER;
    case SCHED_VOLUME_PORTWORX:
        return SCHED_IN_TREE_PORTWORX;
    case SCHED_VOLUME_OTHER:
    case SCHED_VOLUME_CLAIM:
    case SCHED_VOLUME_EPHEMERAL:
    case SCHED_VOLUME_ISCSI:
    case SCHED_VOLUME_RBD:
        break;
    }
    return SCHED_IN_TREE_NONE;
}

bool sched_is_migrated(const struct sched_framework *f, const struct sched_pv *pv,
                       const struct sched_node *node)
{
    if (pv->in_tree == SCHED_IN_TREE_NONE)
        return false;
    const struct sched_csi_node *n =
        sched_cache_get(f->cache, SCHED_CSI_NODE, STR(""), node->o.name);
    return sched_csi_node_has_migrated(n, pv->in_tree);
}
