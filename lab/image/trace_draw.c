/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing requests for images; see trace.h. */
#include "lab/image/trace.h"

#include "base/random.h"

#define DAY_MS 86400000.0
#define MB     1e6

enum { BASES = 10, RUNTIMES = 16, PART_IMAGES = 1, PART_RANKS = 2, PART_DAYS = 3 };

void image_trace_draw_default(struct image_trace_draw *d)
{
    *d = (struct image_trace_draw){ .seed = 42,
                                    .images = 200,
                                    .sites = 5,
                                    .days = 7,
                                    .requests_per_day = 400,
                                    .zipf = 1,
                                    .overlap = 0.6,
                                    .drift = 0.1,
                                    .burst = 0.05,
                                    .burst_mean = 5 };
}

/* ---- images ---- */

static double log_normal(struct rng *rng, double median, double sigma, double max)
{
    return fmin(median * exp(rng_normal(rng, 0, sigma)), max);
}

static void add_layer(struct image_trace *t, double bytes)
{
    struct image_trace_layer l = { .size = (uint64_t)fmax(bytes, 100) };
    uint64_t id = t->layers.n;
    sha256_of(str_n(&id, sizeof id), l.key);
    vec_push(&t->layers, l);
}

/* The minimum of two draws, so that some bases and runtimes are used more than others. */
static uint32_t draw_shared(struct rng *rng, uint32_t n)
{
    uint32_t a = rng_below(rng, n), b = rng_below(rng, n);
    return MIN(a, b);
}

/* Two versions of a family share base and runtime only, as official images do. */
static void draw_images(const struct image_trace_draw *d, struct image_trace *t)
{
    struct rng rng = rng_fork(d->seed, PART_IMAGES, 0);
    for (int i = 0; i < BASES; i++)
        add_layer(t, log_normal(&rng, 30 * MB, 0.5, 90 * MB));
    for (int i = 0; i < RUNTIMES; i++)
        add_layer(t, log_normal(&rng, 45 * MB, 0.8, 250 * MB));
    uint32_t base = 0, runtime = 0, own = 0;
    for (uint32_t i = 0; i < d->images; i++) {
        if (i % 2 == 0) {
            base = draw_shared(&rng, BASES);
            runtime = rng_unit(&rng) < 0.6 ? BASES + draw_shared(&rng, RUNTIMES) : UINT32_MAX;
            own = 2 + rng_below(&rng, 5);
        }
        struct image_trace_image image = { .first = (uint32_t)t->refs.n };
        vec_push(&t->refs, base);
        if (runtime != UINT32_MAX)
            vec_push(&t->refs, runtime);
        for (uint32_t k = 0; k < own; k++) {
            vec_push(&t->refs, (uint32_t)t->layers.n);
            add_layer(t, log_normal(&rng, 2.5 * MB, 1.6, 300 * MB));
            if (i % 2)
                t->layers.p[t->layers.n - 1].version_of = (uint32_t)t->layers.n - own;
        }
        image.n = (uint32_t)t->refs.n - image.first;
        vec_push(&t->images, image);
    }
}

/* ---- favourites ---- */

struct ranks {
    uint32_t *of_all;  /* rank -> image, over all sites */
    bool *is_common;   /* the rank has the same image at all sites */
    uint32_t *of_site; /* site * images + rank -> image */
    double *sum;       /* cumulative weights of ranks */
};

static void shuffle(struct rng *rng, uint32_t *at, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = rng_below(rng, i), v = at[i - 1];
        at[i - 1] = at[k];
        at[k] = v;
    }
}

/* Common ranks have the same image at all sites; each site shuffles the images of the others. */
static void rank_site(const struct image_trace_draw *d, struct ranks *r, uint32_t site)
{
    uint32_t n = 0, *own = xnew_n(uint32_t, d->images), *to = r->of_site + site * d->images;
    struct rng rng = rng_fork(d->seed, PART_RANKS, site + 1);
    for (uint32_t i = 0; i < d->images; i++)
        if (!r->is_common[i])
            own[n++] = r->of_all[i];
    shuffle(&rng, own, n);
    n = 0;
    for (uint32_t i = 0; i < d->images; i++)
        to[i] = r->is_common[i] ? r->of_all[i] : own[n++];
    free(own);
}

static void ranks_init(const struct image_trace_draw *d, struct ranks *r)
{
    struct rng rng = rng_fork(d->seed, PART_RANKS, 0);
    r->of_all = xnew_n(uint32_t, d->images);
    r->is_common = xnew_n(bool, d->images);
    r->of_site = xnew_n(uint32_t, (size_t)d->images * d->sites);
    r->sum = xnew_n(double, d->images);
    for (uint32_t i = 0; i < d->images; i++) {
        r->of_all[i] = i;
        /* Evenly spread, so that the first favourites overlap, too. */
        r->is_common[i] = floor((i + 1) * d->overlap) > floor(i * d->overlap);
        r->sum[i] = (i ? r->sum[i - 1] : 0) + pow(i + 1, -d->zipf);
    }
    shuffle(&rng, r->of_all, d->images);
}

static void ranks_fini(struct ranks *r)
{
    free(r->of_all);
    free(r->is_common);
    free(r->of_site);
    free(r->sum);
}

/* A part of the images swaps ranks with other images. */
static void drift(const struct image_trace_draw *d, struct ranks *r, uint32_t day)
{
    struct rng rng = rng_fork(d->seed, PART_DAYS, day);
    uint32_t swaps = day ? (uint32_t)(d->drift * d->images / 2 + 0.5) : 0;
    for (uint32_t i = 0; i < swaps; i++) {
        uint32_t a = rng_below(&rng, d->images), b = rng_below(&rng, d->images), v = r->of_all[a];
        r->of_all[a] = r->of_all[b];
        r->of_all[b] = v;
    }
    for (uint32_t site = 0; site < d->sites; site++)
        rank_site(d, r, site);
}

static uint32_t draw_rank(const struct image_trace_draw *d, const struct ranks *r, struct rng *rng)
{
    double at = rng_unit(rng) * r->sum[d->images - 1];
    uint32_t low = 0, high = d->images - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->sum[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- requests ---- */

static void draw_day(const struct image_trace_draw *d, const struct ranks *r, uint32_t day,
                     uint32_t site, struct image_trace *t)
{
    struct rng rng = rng_fork(d->seed, PART_DAYS + 1 + day, site);
    double mean = 1 + d->burst * d->burst_mean;
    double gap_ms = DAY_MS * mean / d->requests_per_day, from = day * DAY_MS;
    for (double at = gap_ms * rng_exponential(&rng); at < DAY_MS;
         at += gap_ms * rng_exponential(&rng)) {
        uint32_t image = r->of_site[site * d->images + draw_rank(d, r, &rng)], more = 0;
        if (rng_unit(&rng) < d->burst && d->burst_mean)
            more = (uint32_t)(rng_exponential(&rng) * d->burst_mean + 0.5);
        for (uint32_t i = 0; i <= more && t->requests.n < IMAGE_TRACE_REQUESTS_MAX; i++) {
            double after = i ? rng_unit(&rng) * IMAGE_TRACE_BURST_MS : 0;
            struct image_trace_request q = { (uint64_t)(from + at + after), image, site };
            vec_push(&t->requests, q);
        }
    }
}

static bool is_part(double v)
{
    return v >= 0 && v <= 1;
}

int image_trace_draw(const struct image_trace_draw *d, struct image_trace *ret, struct err *err)
{
    double requests = (double)d->requests_per_day * d->sites * d->days;
    if (d->images < 1 || d->images > IMAGE_TRACE_IMAGES_MAX || d->sites < 1 ||
        d->sites > IMAGE_TRACE_SITES_MAX || d->days < 1 || d->days > 3650 ||
        d->requests_per_day < 1 || 2 * requests > IMAGE_TRACE_REQUESTS_MAX)
        return err_set(err, E_INVALID, "too many or no images, sites, days or requests to draw");
    if (!(d->zipf >= 0 && d->zipf <= 10) || !is_part(d->overlap) || !is_part(d->drift) ||
        !is_part(d->burst) || d->burst_mean > 1000)
        return err_set(err, E_INVALID, "a parameter of the drawn trace is out of range");
    struct image_trace t = { .n_sites = d->sites };
    struct ranks r;
    draw_images(d, &t);
    ranks_init(d, &r);
    for (uint32_t day = 0; day < d->days; day++) {
        drift(d, &r, day);
        for (uint32_t site = 0; site < d->sites; site++)
            draw_day(d, &r, day, site, &t);
    }
    ranks_fini(&r);
    if (t.requests.n == 0) {
        image_trace_fini(&t);
        return err_set(err, E_INVALID, "no request was drawn");
    }
    image_trace_sort(&t);
    *ret = t;
    return 0;
}
