/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ImageLocality: prefers nodes that have a pod's images; large images, and images that many nodes
 * have, count more.
 */
#include "place/score.h"
#include "sched/plugins/native.h"

#define NAME "ImageLocality"

static const int64_t MIB = 1 << 20;

struct image_locality_wanted {
    const struct intern *image;
    int64_t weight; /* bytes, weighted by the share of nodes with it */
};

/* Leaves out images that no node has: they make no difference. */
static uint32_t find_wanted(struct sched_cycle *cycle, struct image_locality_wanted *ret)
{
    size_t n_nodes;
    (void)sched_cache_nodes(cycle->framework->cache, &n_nodes);
    uint32_t n = 0;
    for (uint32_t i = 0; i < cycle->pod->n_images; i++) {
        int64_t size = 0;
        const struct intern *image = cycle->pod->images[i];
        uint32_t holders = sched_cache_image_nodes(cycle->framework->cache, image, &size);
        if (holders > 0)
            ret[n++] =
                (struct image_locality_wanted){ image, place_image_weight(size, holders,
                                                                          (uint32_t)n_nodes) };
    }
    return n;
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    struct image_locality_wanted *wanted =
        arena_new_n(cycle->arena, struct image_locality_wanted, cycle->pod->n_images);
    uint32_t n_wanted = find_wanted(cycle, wanted);
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (uint32_t k = 0; k < n_wanted; k++)
            if (sched_node_has_image(nodes[i]->node, wanted[k].image))
                sum += wanted[k].weight;
        ret[i] =
            sum == 0 ? 0 : place_score_images(sum, 23 * MIB, 1000 * MIB * cycle->pod->n_containers);
    }
    return NULL;
}

const struct sched_plugin_ops sched_image_locality_ops = {
    .name = NAME,
    .score = score,
};
