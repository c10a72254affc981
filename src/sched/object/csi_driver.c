/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/csi_driver.h"

static int csi_driver_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                           struct err *err)
{
    ((struct sched_csi_driver *)o)->tracks_capacity =
        json_bool(json_path(json, "spec", "storageCapacity", NULL));
    return 0;
}

static void csi_driver_fini(struct intern_table *w, struct sched_object *o)
{
}

const struct sched_kind_ops sched_csi_driver_ops = {
    .size = sizeof(struct sched_csi_driver),
    .read = csi_driver_read,
    .fini = csi_driver_fini,
};
