/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes have each image. Upstream: the cache's imageStates. */
#include "sched/cache/internal.h"

#include <assert.h>

static void image_add(struct sched_cache *c, const struct sched_image *image)
{
    struct cache_image_state *s = map_get(&c->images, intern_str(image->name));
    if (!s) {
        s = xnew(struct cache_image_state);
        *s = (struct cache_image_state){ .name = intern_ref(image->name), .size = image->size };
        (void)map_put(&c->images, intern_str(s->name), s);
    }
    s->nodes++;
    assert(s->nodes > 0);
}

static void image_free(struct sched_cache *c, struct cache_image_state *s)
{
    intern_unref(c->words, s->name);
    free(s);
}

static void image_remove(struct sched_cache *c, const struct sched_image *image)
{
    struct cache_image_state *s = map_get(&c->images, intern_str(image->name));
    assert(s && s->nodes > 0);
    if (--s->nodes > 0)
        return;
    (void)map_del(&c->images, intern_str(s->name));
    image_free(c, s);
}

/* Nodes report their images with every heartbeat, and the list rarely changes. */
static bool is_same(const struct sched_node *a, const struct sched_node *b)
{
    return a && b && a->n_images == b->n_images &&
           (a->n_images == 0 ||
            memcmp(a->images, b->images, a->n_images * sizeof(*a->images)) == 0);
}

void images_change(struct sched_cache *c, const struct sched_node *before,
                   const struct sched_node *after)
{
    if (is_same(before, after))
        return;
    for (uint32_t i = 0; before && i < before->n_images; i++)
        image_remove(c, &before->images[i]);
    for (uint32_t i = 0; after && i < after->n_images; i++)
        image_add(c, &after->images[i]);
}

uint32_t sched_cache_image_nodes(const struct sched_cache *c, const struct intern *image,
                                 int64_t *ret_size)
{
    const struct cache_image_state *s = map_get(&c->images, intern_str(image));
    if (!s)
        return 0;
    if (ret_size)
        *ret_size = s->size;
    return s->nodes;
}

void images_fini(struct sched_cache *c)
{
    map_each (m, &c->images)
        image_free(c, m->value);
    map_fini(&c->images);
}
