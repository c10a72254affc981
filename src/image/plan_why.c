/* SPDX-License-Identifier: Apache-2.0 */
#include "image/plan_why.h"

#include "codec/json.h"

struct str image_plan_source(const struct image_cluster_file *f, int source)
{
    return source == PLACE_BREAK_REGISTRY ? STR("registry") : f->node_names[source];
}

/* Holders of a layer, and those of them that cannot send. */
static const char *holders_text(const struct image_orchestrate *o, struct arena *a, uint32_t layer)
{
    unsigned n = 0, silent = 0, busy = 0, unknown = 0, unsendable = 0;
    for (uint32_t i = 0; i < o->n_nodes; i++) {
        const struct image_orchestrate_node *p = &o->nodes[i];
        if (i == o->node || !place_break_in(&p->holds, layer))
            continue;
        n++;
        if (p->silent_ms > IMAGE_ORCHESTRATE_FRESH_MS)
            silent++;
        else if (p->slots == 0)
            busy++;
        else if (p->uplink_bps == 0)
            unknown++;
        else if (place_break_in(&p->unsendable, layer))
            unsendable++;
    }
    if (n == 0)
        return "no node has it";
    const char *text = arena_printf(a, "%u node%s it", n, n == 1 ? " has" : "s have");
    if (silent)
        text = arena_printf(a, "%s, %u silent", text, silent);
    if (busy)
        text = arena_printf(a, "%s, %u without a free slot", text, busy);
    if (unsendable)
        text = arena_printf(a, "%s, %u as a tar alone", text, unsendable);
    return unknown ? arena_printf(a, "%s, %u of unknown rate", text, unknown) : text;
}

const char *image_plan_why(const struct image_orchestrate *o, const struct image_task *t,
                           struct arena *a)
{
    const char *holders = holders_text(o, a, t->layer);
    bool is_part = t->from > 0 || t->to < o->layers[t->layer].size;
    switch (t->kind) {
    case IMAGE_TASK_JOIN:
        return "on its way to this node already";
    case IMAGE_TASK_AFTER:
        return arena_printf(a, "%s; the source is fetching it", holders);
    case IMAGE_TASK_PEER:
        return arena_printf(a, "%s; %s", holders,
                            is_part ? "shared by two that are about as fast" : "there first");
    case IMAGE_TASK_REGISTRY:
        return t->n_alternatives ? arena_printf(a, "%s; the registry has it there first", holders)
                                 : arena_printf(a, "%s; none is a source", holders);
    }
    return "";
}

static struct json *task_json(const struct image_cluster_file *f, struct arena *a,
                              const struct image_task *t)
{
    struct json *v = json_new_object(a), *alternatives = json_new_array(a);
    json_set_int(a, v, "priority", t->priority);
    json_set_str(a, v, "layer", f->layer_names[t->layer]);
    json_set_int(a, v, "fromByte", t->from);
    json_set_int(a, v, "toByte", t->to);
    json_set_str(a, v, "how", str_of(image_task_kind_name(t->kind)));
    json_set_str(a, v, "source", image_plan_source(f, t->source));
    for (uint32_t i = 0; i < t->n_alternatives; i++)
        json_add(alternatives, json_new_str(a, image_plan_source(f, t->alternatives[i])));
    json_setc(a, v, "alternatives", alternatives);
    json_set_int(a, v, "expectMilliseconds", t->expect_ms);
    json_set_str(a, v, "why", str_of(image_plan_why(&f->o, t, a)));
    return v;
}

struct json *image_plan_json(const struct image_cluster_file *f, const struct image_tasks *tasks,
                             struct arena *a)
{
    struct json *v = json_new_object(a), *list = json_new_array(a);
    json_set_str(a, v, "node", f->node_names[f->o.node]);
    json_setc(a, v, "seconds", json_new_float(a, tasks->seconds));
    for (size_t i = 0; i < tasks->all.n; i++)
        json_add(list, task_json(f, a, &tasks->all.p[i]));
    json_setc(a, v, "transfers", list);
    return v;
}

static void add_source(const struct image_cluster_file *f, const struct image_tasks *tasks,
                       int source, struct buf *to)
{
    unsigned n = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < tasks->all.n; i++) {
        const struct image_task *t = &tasks->all.p[i];
        n += t->source == source;
        bytes += t->source == source ? t->to - t->from : 0;
    }
    (void)buf_printf(to, "%s%u transfer%s (%.1f MB) from %s" STR_FMT, to->n ? ", " : "", n,
                     n == 1 ? "" : "s", (double)bytes / 1e6,
                     source == PLACE_BREAK_REGISTRY ? "the " : "",
                     STR_ARG(image_plan_source(f, source)));
}

void image_plan_summary(const struct image_cluster_file *f, const struct image_tasks *tasks,
                        struct buf *to)
{
    for (size_t i = 0; i < tasks->all.n; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &= tasks->all.p[k].source != tasks->all.p[i].source;
        if (is_first)
            add_source(f, tasks, tasks->all.p[i].source, to);
    }
}
