/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces; the contract is in namespace.h. */
#include "sched/object/namespace.h"

static int namespace_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                          struct err *err)
{
    struct sched_namespace *n = (struct sched_namespace *)o;

    n->name = intern_get(w, o->name);
    int r = sched_labels_read(w, json_path(json, "metadata", "labels", NULL), &n->labels, err);
    return r < 0 ? err_ctx(err, r, "metadata.labels") : 0;
}

static void namespace_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_namespace *n = (struct sched_namespace *)o;

    sched_labels_fini(w, &n->labels);
    intern_unref(w, n->name);
}

const struct sched_kind_ops sched_namespace_ops = {
    .size = sizeof(struct sched_namespace),
    .read = namespace_read,
    .fini = namespace_fini,
};
