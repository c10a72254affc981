/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BreakLayerLocality: prefers nodes that hold many bytes of a pod's layers, and filters nodes
 * without room for the rest. The counterpart for layers of upstream's ImageLocality.
 */
#include "sched/plugins/break_inputs.h"

#define NAME "BreakLayerLocality"

SCHED_REFUSAL(full, NAME, SCHED_UNRESOLVABLE,
              "node(s) had more than 90% of their image disk in use");
SCHED_REFUSAL(no_room, NAME, SCHED_UNRESOLVABLE,
              "node(s) had no room for the missing image layers");

struct locality {
    struct sched_plugin plugin;
    enum place_break_reading reading;
    bool k8s_thresholds; /* else 0 and the size of the images */
    double eta;
    struct break_images images;
    struct break_states states;
};
static struct locality *locality_of(struct sched_plugin *p)
{
    return container_of(p, struct locality, plugin);
}

static const struct break_layers *layers_of(struct sched_plugin *p, const struct sched_cycle *cycle)
{
    return break_layers_of(&locality_of(p)->states, &locality_of(p)->images, cycle);
}

/* ---- filter ---- */

static const struct sched_status *pre_enqueue(struct sched_plugin *p, struct arena *a,
                                              const struct sched_pod *pod)
{
    return break_images_gate(&locality_of(p)->images, p, pod);
}

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    sched_cycle_set_state(cycle, p, (void *)layers_of(p, cycle));
    return NULL;
}

static int64_t missing(const struct break_layers *l, const struct place_break_set *present)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < l->n; i++)
        bytes += place_break_in(present, i) ? 0 : l->unpacked[i];
    return bytes;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    const struct break_layers *l = sched_cycle_state(cycle, p);
    const struct sched_node_image_state *s =
        break_state(&locality_of(p)->states, cycle->framework->cache, node);
    struct place_break_set present;
    if (!s || s->disk_capacity == 0)
        return NULL;
    if (place_break_is_full(s->disk_capacity, s->disk_used))
        return &full;
    if (!l || l->n == 0)
        return NULL;
    break_present(&locality_of(p)->states, cycle, l, node, s, &present);
    bool fits = place_break_has_room(s->disk_capacity, s->disk_used,
                                     MAX(s->cache_used - s->cache_pinned, 0), missing(l, &present));
    return fits ? NULL : &no_room;
}

/* ---- score ---- */

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    static const int64_t mib = 1 << 20;
    struct locality *loc = locality_of(p);
    const struct break_layers *l = sched_cycle_state(cycle, p);
    if (!l) /* PreFilter is disabled */
        l = layers_of(p, cycle);
    int64_t low = loc->k8s_thresholds ? 23 * mib : 0;
    int64_t high = loc->k8s_thresholds ? 1000 * mib * MAX(cycle->pod->n_containers, 1) : l->total;
    double max = PLACE_BREAK_LAMBDA + loc->eta;
    for (size_t i = 0; i < n; i++) {
        const struct sched_node_image_state *s =
            break_state(&loc->states, cycle->framework->cache, nodes[i]);
        struct place_break_set present;
        int64_t bytes = 0;
        break_present(&loc->states, cycle, l, nodes[i], s, &present);
        for (uint32_t k = 0; k < l->n; k++)
            bytes += place_break_in(&present, k) ? l->size[k] : 0;
        double available = s ? place_break_available(loc->reading, s->cache_capacity, s->cache_used,
                                                     s->cache_pinned)
                             : 0;
        bool is_old = s && break_is_old(cycle->framework, s->reported_ms, BREAK_OLD_MS);
        ret[i] =
            break_points(place_break_hit(bytes, low, high) + loc->eta * available, max, is_old);
    }
    return NULL;
}

/* ---- events ---- */

static enum sched_hint on_state(struct sched_plugin *p, const struct sched_pod *pod,
                                const struct sched_event *event)
{
    const struct sched_object *o = event->after;
    if (!o || o->kind != SCHED_NODE_IMAGE_STATE)
        return SCHED_HINT_QUEUE;
    const struct sched_node_image_state *s = sched_node_image_state_of(o);
    return place_break_is_full(s->disk_capacity, s->disk_used) ? SCHED_HINT_SKIP : SCHED_HINT_QUEUE;
}

static enum sched_hint on_image(struct sched_plugin *p, const struct sched_pod *pod,
                                const struct sched_event *event)
{
    return break_images_hint(&locality_of(p)->images, p, pod);
}

SCHED_EVENTS(events,
             { SCHED_ON_NODE_IMAGE_STATE, SCHED_ADD | SCHED_UPDATE | SCHED_DELETE, on_state },
             { SCHED_ON_IMAGE_LAYERS, SCHED_UPDATE, on_image }, { SCHED_ON_NODE, SCHED_ADD, NULL })

/* ---- life ---- */

static int read_args(struct locality *loc, const struct json *args, struct err *err)
{
    int r = break_reading(args, false, &loc->reading, err);
    r = r < 0 ? r : break_images_read(args, &loc->images, err);
    if (r < 0)
        return r;
    struct str thresholds = json_get_str(args, "thresholds");
    loc->k8s_thresholds =
        thresholds.n > 0 ? str_is(thresholds, "k8s") : loc->reading == PLACE_BREAK_PAPER;
    if (thresholds.n > 0 && !loc->k8s_thresholds && !str_is(thresholds, "norm"))
        return err_set(err, E_INVALID,
                       "thresholds: Unsupported value: \"" STR_FMT
                       "\": supported values: \"k8s\", \"norm\"",
                       STR_ARG(thresholds));
    const struct json *eta = json_getc(args, "eta");
    loc->eta = 1;
    if (eta && (json_float(eta, &loc->eta) < 0 || loc->eta < 0 || loc->eta > PLACE_BREAK_LAMBDA))
        return err_set(err, E_INVALID, "eta: Invalid value: not in valid range [0, %d]",
                       (int)PLACE_BREAK_LAMBDA);
    return 0;
}

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct locality loc = { 0 };
    int r = read_args(&loc, env->args, err);
    if (r < 0)
        return r;
    struct locality *made = xnew(struct locality);
    *made = loc;
    break_states_init(&made->states, env->framework->words);
    *ret = &made->plugin;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    break_states_fini(&locality_of(p)->states);
    free(locality_of(p));
}

const struct sched_plugin_ops sched_break_layer_locality_ops = {
    .name = NAME,
    .create = create,
    .destroy = destroy,
    .events = events,
    .pre_enqueue = pre_enqueue,
    .pre_filter = pre_filter,
    .filter = filter,
    .score = score,
};
