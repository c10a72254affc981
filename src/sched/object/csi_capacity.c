/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/csi_capacity.h"

static int csi_capacity_read(struct intern_table *w, struct sched_object *o,
                             const struct json *json, struct err *err)
{
    struct sched_csi_capacity *c = (struct sched_csi_capacity *)o;
    c->class = intern_get(w, json_get_str(json, "storageClassName"));
    struct quantity limit;
    int r = sched_quantity_read(json_getc(json, "maximumVolumeSize"), "maximumVolumeSize",
                                &c->has_limit, &limit, err);
    if (r >= 0 && !c->has_limit)
        r = sched_quantity_read(json_getc(json, "capacity"), "capacity", &c->has_limit, &limit,
                                err);
    if (r < 0)
        return r;
    c->limit = quantity_value(limit);
    if (sched_selector_read(w, json_getc(json, "nodeTopology"), &c->nodes, NULL) < 0)
        c->nodes = (struct sched_selector){ .nothing = true };
    return 0;
}

static void csi_capacity_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_csi_capacity *c = (struct sched_csi_capacity *)o;
    intern_unref(w, c->class);
    sched_selector_fini(w, &c->nodes);
}

const struct sched_kind_ops sched_csi_capacity_ops = {
    .size = sizeof(struct sched_csi_capacity),
    .read = csi_capacity_read,
    .fini = csi_capacity_fini,
};
