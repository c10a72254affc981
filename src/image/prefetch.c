/* SPDX-License-Identifier: Apache-2.0 */
/* What a cache should fetch before it is asked for; see prefetch.h. */
#include "image/prefetch.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>

struct prefetch_count { /* a sum of 2^-(age / half-life) */
    double sum;
    uint64_t at_ms;
};
struct image_demand {
    uint32_t n_layers, n_zones;
    struct prefetch_count counts[];
};

struct image_demand *image_demand_new(uint32_t n_layers, uint32_t n_zones)
{
    size_t n, bytes;
    if (size_mul(n_layers, n_zones, &n) || size_mul(n, sizeof(struct prefetch_count), &bytes))
        abort();
    struct image_demand *d = xalloc(sizeof *d + bytes);
    d->n_layers = n_layers;
    d->n_zones = n_zones;
    return d;
}

void image_demand_free(struct image_demand *d)
{
    free(d);
}

static double decayed(const struct prefetch_count *c, uint64_t now_ms)
{
    return c->sum > 0 ? c->sum * exp2(-(double)(now_ms - c->at_ms) / IMAGE_PREFETCH_HALF_LIFE_MS)
                      : 0;
}

void image_demand_add(struct image_demand *d, uint32_t zone, uint32_t layer, uint64_t now_ms)
{
    assert(zone < d->n_zones && layer < d->n_layers);
    struct prefetch_count *c = &d->counts[(size_t)zone * d->n_layers + layer];
    c->sum = decayed(c, now_ms) + 1;
    c->at_ms = now_ms;
}

void image_demand_forget(struct image_demand *d, uint32_t zone, uint32_t layer)
{
    assert(zone < d->n_zones && layer < d->n_layers);
    d->counts[(size_t)zone * d->n_layers + layer] = (struct prefetch_count){ 0 };
}

/* Requests at a constant rate sum up to rate * half-life / ln 2. */
double image_demand_rate(const struct image_demand *d, uint32_t zone, uint32_t layer,
                         uint64_t now_ms)
{
    static const double hours = IMAGE_PREFETCH_HALF_LIFE_MS / 3600000.0 / 0.6931471805599453;
    assert(zone < d->n_zones && layer < d->n_layers);
    return decayed(&d->counts[(size_t)zone * d->n_layers + layer], now_ms) / hours;
}

static int by_density(const void *a, const void *b)
{
    const struct image_prefetch_layer *x = a, *y = b;
    double m = image_prefetch_density(x), n = image_prefetch_density(y);
    return m != n ? (m < n) - (m > n) : (x->layer > y->layer) - (x->layer < y->layer);
}

size_t image_prefetch_choose(struct image_prefetch_layer *layers, size_t n, uint64_t budget)
{
    size_t chosen = 0;
    if (n)
        qsort(layers, n, sizeof *layers, by_density);
    for (size_t i = 0; i < n; i++) {
        struct image_prefetch_layer l = layers[i];
        if (l.size > budget || l.saving <= 0)
            continue;
        budget -= l.size;
        layers[i] = layers[chosen];
        layers[chosen++] = l;
    }
    return chosen;
}

bool image_prefetch_is_on(struct image_prefetch_review *j, uint64_t now_ms, uint64_t used,
                          uint64_t wasted)
{
    if (now_ms < j->since_ms + IMAGE_PREFETCH_JUDGE_MS)
        return !j->is_off;
    uint64_t good = used - j->used, bad = wasted - j->wasted;
    j->is_off =
        bad > 0 && (double)good * 100 < (double)IMAGE_PREFETCH_USE_PERCENT * (double)(good + bad);
    j->since_ms = now_ms;
    j->used = used;
    j->wasted = wasted;
    return !j->is_off;
}
