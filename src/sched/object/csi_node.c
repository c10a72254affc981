/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/object/csi_node.h"

#include "sched/object/keep.h"

static int read_driver(struct intern_table *w, const struct json *json,
                       struct sched_csi_node_driver *ret, struct err *err)
{
    const struct json *count = json_path(json, "allocatable", "count", NULL);
    int64_t limit = 0;
    if (json_is(count, JSON_NUMBER) &&
        (json_int(count, &limit) < 0 || limit < 0 || limit > INT32_MAX))
        return err_set(err, E_INVALID, "spec.drivers.allocatable.count: out of range");
    *ret = (struct sched_csi_node_driver){
        .name = intern_get(w, json_get_str(json, "name")),
        .has_limit = json_is(count, JSON_NUMBER),
        .limit = (int32_t)limit,
    };
    return 0;
}

static int csi_node_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                         struct err *err)
{
    struct sched_csi_node *n = (struct sched_csi_node *)o;
    struct str text =
        json_str(sched_annotation(json, "storage.alpha.kubernetes.io/migrated-plugins"));
    n->migrated_text = sched_keep(text);
    while (text.n > 0) {
        struct str plugin;
        (void)str_cut(text, ',', &plugin, &text);
        enum sched_in_tree tree = sched_in_tree_of(plugin);
        if (tree)
            n->migrated |= 1u << tree;
    }
    const struct json *drivers = json_path(json, "spec", "drivers", NULL);
    if (!json_is(drivers, JSON_ARRAY) || drivers->n == 0)
        return 0;
    n->drivers = xnew_n(struct sched_csi_node_driver, drivers->n);
    json_each (driver, drivers) {
        int r = read_driver(w, driver, &n->drivers[n->n_drivers], err);
        if (r < 0)
            return r;
        n->has_limits = n->has_limits || n->drivers[n->n_drivers].has_limit;
        n->n_drivers++;
    }
    return 0;
}

static void csi_node_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_csi_node *n = (struct sched_csi_node *)o;
    for (uint32_t i = 0; i < n->n_drivers; i++)
        intern_unref(w, n->drivers[i].name);
    free(n->drivers);
    sched_drop(n->migrated_text);
}

const struct sched_kind_ops sched_csi_node_ops = {
    .size = sizeof(struct sched_csi_node),
    .read = csi_node_read,
    .fini = csi_node_fini,
};

const struct sched_csi_node_driver *sched_csi_node_driver(const struct sched_csi_node *n,
                                                          const struct intern *name)
{
    for (uint32_t i = 0; n && i < n->n_drivers; i++) {
        if (n->drivers[i].name == name)
            return &n->drivers[i];
    }
    return NULL;
}
