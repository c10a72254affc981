/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.k8s.io: what nodes and pods use, as metrics-server serves it. Nothing is stored; the
 * server asks the agents of the nodes (src/api/usage).
 */
#include "kube/model/quantity.h"
#include "kube/rules/kinds/kinds.h"

static const struct kube_strategy metrics_strategy = { .is_measured = true };

static void add(struct quantity *sum, const struct json *usage, const char *resource)
{
    struct quantity q;
    if (quantity_parse(json_get_str(usage, resource), &q, NULL) < 0)
        return;
    sum->nano += q.nano;
    sum->format = q.format;
}

/* Of the node, or of all containers of the pod. */
static struct json *sum(struct arena *a, const struct json *obj, const char *resource)
{
    struct quantity all = { .format = QUANTITY_DECIMAL_SI };
    add(&all, json_getc(obj, "usage"), resource);
    json_each (c, json_getc(obj, "containers"))
        add(&all, json_getc(c, "usage"), resource);
    return json_new_str(a, quantity_text(a, all));
}

static struct json *cell_cpu(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return sum(a, obj, "cpu");
}

static struct json *cell_memory(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return sum(a, obj, "memory");
}

CELL(cell_window, NULL, "window")

#define COLUMN_OF(title, as, fn)                                                                   \
    {                                                                                              \
        .name = S(title), .type = S("string"), .format = S(as), .cell = (fn)                       \
    }
static const struct kube_column metrics_columns[] = {
    { .name = S("Name"),
      .type = S("string"),
      .format = S("name"),
      .description = S("Name of the resource"),
      .cell = kind_cell_name },
    COLUMN_OF("cpu", "quantity", cell_cpu),
    COLUMN_OF("memory", "quantity", cell_memory),
    COLUMN_OF("Window", "duration", cell_window),
};

/* The singular is empty, as metrics-server has it: the names belong to the kinds of the core. */
#define MEASURED(name, many)                                                                       \
    NAMES("metrics.k8s.io", "v1beta1", name, many, ""),                                            \
        .verbs = KUBE_GET | KUBE_LIST, .strategy = &metrics_strategy, COLUMNS(metrics_columns)

static struct kube_resource rows[] = {
    { MEASURED("NodeMetrics", "nodes") },
    { MEASURED("PodMetrics", "pods"), .namespaced = true },
};

const struct kind_list kinds_metrics = { rows, ARRAY_LEN(rows) };
