/* SPDX-License-Identifier: Apache-2.0 */
/* Controllers of pods; the contract is in workload.h. */
#include "sched/object/workload.h"

static int workload_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                         struct err *err)
{
    struct sched_workload *l = (struct sched_workload *)o;
    const struct json *selector = json_path(json, "spec", "selector", NULL);
    int r = 0;

    if (o->kind != SCHED_REPLICATION_CONTROLLER)
        r = sched_selector_read(w, selector, &l->selector, err);
    else if (json_is(selector, JSON_OBJECT))
        r = sched_selector_read_map(w, selector, &l->selector, err);
    return r < 0 ? err_ctx(err, r, "spec.selector") : 0;
}

static void workload_fini(struct intern_table *w, struct sched_object *o)
{
    sched_selector_fini(w, &((struct sched_workload *)o)->selector);
}

const struct sched_kind_ops sched_workload_ops = {
    .size = sizeof(struct sched_workload),
    .read = workload_read,
    .fini = workload_fini,
};
