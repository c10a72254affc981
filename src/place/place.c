/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which node gets a new sandbox; see place.h.
 *
 * A policy feeds nodes to consider(), which filters and scores them and keeps the best, ties by
 * reservoir sampling. Policies differ in which nodes they feed, in what order, and in the score.
 */
#include "place/place.h"

#include "base/buf.h"
#include "base/vec.h"
#include "place/evict.h"

#include <assert.h>
#include <errno.h>

enum {
    RING_POINTS = 3,
    CHAIN = 4,
    BOUND_MILLI = 1000,
    IMAGE_BONUS = 25,        /* of warm-first, in points of a score */
    DRAWS = 16,              /* draws of random before it looks at all nodes */
    AVOID_PENALTY = 1 << 24, /* larger than every score */
    FULLNESS_MAX = 1 << 20,
    CLASS_SCORE = 1000, /* above every difference inside a class */
};
/* Standard deviation of the noise that ch-rlu adds to a cached load, in cores per core. */
#define RLU_DEVIATION 0.1

struct ring_point {
    uint64_t hash;
    uint32_t node;
};

struct place {
    struct place_books *books;
    struct place_options options;
    struct rng rng;
    uint32_t cursor; /* round-robin: the node after the last */
    VEC(struct ring_point) ring;
    uint64_t ring_generation;
    double popular_gap_ms; /* functions that are called more often are popular; 0: no function is */
    double lambda;         /* calls per second of the average function */
};

/* ---- names ---- */

static const char *const policies[] = {
#define PLACE_POLICY_ROW(id, policy_name, policy_doc) [id] = policy_name,
    PLACE_POLICIES(PLACE_POLICY_ROW)
#undef PLACE_POLICY_ROW
};

enum place_policy place_policy_of(struct str name)
{
    size_t i = 0;
    while (i < PLACE_POLICY_COUNT && !str_is(name, policies[i]))
        i++;
    return (enum place_policy)i;
}

const char *place_policy_name(enum place_policy policy)
{
    return policy < PLACE_POLICY_COUNT ? policies[policy] : "";
}

/* ---- the object ---- */

struct place *place_new(struct place_books *books, const struct place_options *options)
{
    assert(options->policy < PLACE_POLICY_COUNT);
    struct place *p = xnew(struct place);
    p->books = books;
    p->options = *options;
    p->rng = rng_fork(options->seed, options->policy, 0);
    if (!p->options.ring_points)
        p->options.ring_points = RING_POINTS;
    p->options.ring_points = MIN(p->options.ring_points, PLACE_RING_POINTS_MAX);
    if (!p->options.chain)
        p->options.chain = CHAIN;
    if (!p->options.bound_milli)
        p->options.bound_milli = BOUND_MILLI;
    p->options.d = MIN(p->options.d, PLACE_SAMPLE_MAX);
    return p;
}

void place_free(struct place *p)
{
    if (!p)
        return;
    vec_fini(&p->ring);
    free(p);
}

/* ---- the best node so far ---- */

struct best {
    bool found;
    uint32_t node;
    int64_t score;
    uint32_t n_ties;
    uint32_t n_fits;
};

typedef int64_t (*score_fn)(const struct place *p, const struct place_request *rq, uint32_t index,
                            const struct place_node *node);

static bool is_avoided(const struct place_request *rq, uint32_t node)
{
    for (uint32_t i = 0; i < rq->n_avoid; i++)
        if (rq->avoid[i] == node)
            return true;
    return false;
}

/* A node was found, and it is not one where the creation just failed. */
static bool is_good(const struct best *best)
{
    return best->found && best->score > -AVOID_PENALTY / 2;
}

static bool fits(const struct place *p, const struct place_request *rq, uint32_t node)
{
    const struct place_node *n = place_node(p->books, node);
    return n && place_filter(n, &rq->need, rq->constraints) == PLACE_FITS;
}

/*
 * Of nodes with equal scores the k-th replaces the best with probability 1/k, so each is equally
 * likely.
 */
static void consider(struct place *p, const struct place_request *rq, uint32_t node, score_fn score,
                     struct best *best)
{
    if (!fits(p, rq, node))
        return;
    int64_t s = score(p, rq, node, place_node(p->books, node));
    if (is_avoided(rq, node))
        s -= AVOID_PENALTY;
    best->n_fits++;
    if (best->found && s < best->score)
        return;
    bool is_tie = best->found && s == best->score;
    best->n_ties = is_tie ? best->n_ties + 1 : 1;
    if (is_tie && rng_below(&p->rng, best->n_ties) != 0)
        return;
    best->found = true;
    best->node = node;
    best->score = s;
}

static void consider_all(struct place *p, const struct place_request *rq, score_fn score,
                         struct best *best)
{
    uint32_t n = place_n_candidates(p->books);
    for (uint32_t i = 0; i < n; i++)
        consider(p, rq, place_candidate(p->books, i), score, best);
}

/*
 * After no drawn node fitted: start at a random candidate and go on until as many fit as are drawn.
 */
static void consider_until(struct place *p, const struct place_request *rq, score_fn score,
                           struct best *best)
{
    uint32_t n = place_n_candidates(p->books), from = rng_below(&p->rng, n);
    for (uint32_t i = 0; i < n && (best->n_fits < PLACE_SAMPLE || !is_good(best)); i++)
        consider(p, rq, place_candidate(p->books, (from + i) % n), score, best);
}

static void consider_drawn(struct place *p, const struct place_request *rq, uint32_t d,
                           score_fn score, struct best *best)
{
    uint32_t n = place_n_candidates(p->books);
    for (uint32_t i = 0; i < d; i++)
        consider(p, rq, place_candidate(p->books, rng_below(&p->rng, n)), score, best);
}

/* All candidates if there are few, else a sample. */
static void consider_some(struct place *p, const struct place_request *rq, score_fn score,
                          struct best *best)
{
    if (place_n_candidates(p->books) <= PLACE_SAMPLE_ABOVE) {
        consider_all(p, rq, score, best);
        return;
    }
    consider_drawn(p, rq, PLACE_SAMPLE, score, best);
    if (!is_good(best))
        consider_until(p, rq, score, best);
}

/* Nodes of a tally: at most PLACE_SAMPLE of them, drawn if there are more. */
static void consider_tally(struct place *p, const struct place_request *rq,
                           const struct place_tally *t, score_fn score, struct best *best)
{
    if (!t)
        return;
    bool few = t->n <= PLACE_SAMPLE;
    for (uint32_t i = 0; i < MIN(t->n, PLACE_SAMPLE); i++)
        consider(p, rq, t->p[few ? i : rng_below(&p->rng, t->n)].node, score, best);
}

/* ---- scores ---- */

/* CPU and memory, including the request. */
enum { N_SHARES = 2 };
static void with_request(const struct place_node *node, const struct place_request *rq,
                         struct place_share ret[N_SHARES])
{
    static const enum place_resource counted[N_SHARES] = { PLACE_CPU_MILLI, PLACE_MEMORY_BYTES };
    for (size_t i = 0; i < N_SHARES; i++) {
        enum place_resource r = counted[i];
        ret[i] = (struct place_share){ node->capacity.at[r], node->used.at[r] + rq->need.at[r], 1 };
    }
}

/*
 * Below 50 MiB, weighted by the spread, an image scores 0; from 1000 MiB on it has the full score.
 */
static int score_image(const struct place *p, const struct place_request *rq, uint32_t index)
{
    static const int64_t mib = 1 << 20;
    if (place_tally_of(rq->image, index) == 0)
        return 0;
    int64_t weight = place_image_weight((int64_t)MIN(rq->image_bytes, (uint64_t)INT64_MAX),
                                        rq->image->n, place_n_nodes(p->books));
    return place_score_images(weight, 50 * mib, 1000 * mib);
}

static int64_t score_any(const struct place *p, const struct place_request *rq, uint32_t index,
                         const struct place_node *node)
{
    return 0;
}

static int64_t score_least(const struct place *p, const struct place_request *rq, uint32_t index,
                           const struct place_node *node)
{
    struct place_share shares[N_SHARES];
    with_request(node, rq, shares);
    return place_score_least_allocated(shares, N_SHARES);
}

static int64_t score_kubernetes(const struct place *p, const struct place_request *rq,
                                uint32_t index, const struct place_node *node)
{
    struct place_share shares[N_SHARES];
    with_request(node, rq, shares);
    int64_t sum =
        place_score_least_allocated(shares, N_SHARES) + place_score_balanced(shares, N_SHARES);
    if (rq->image && !p->options.no_image_locality)
        sum += score_image(p, rq, index);
    return sum;
}

/*
 * Hermod: how full the node is, in thousandths of its capacity; the load that a node reports may
 * exceed it.
 */
static int64_t fullness(const struct place *p, const struct place_node *node)
{
    int64_t cores = MAX(node->capacity.at[PLACE_CPU_MILLI], 1);
    if (!p->options.reported_load)
        return (int64_t)place_reserved_share(node);
    return MIN(node->load_milli, FULLNESS_MAX / 1000 * cores) * 1000 / cores;
}

static bool has_free_core(const struct place *p, const struct place_node *node)
{
    return node->class != PLACE_FULL && (!p->options.reported_load || fullness(p, node) < 1000);
}

/* While cores are free: busy and warm, busy, empty and warm, empty; the fuller the better. */
static int64_t score_pack(const struct place *p, const struct place_request *rq, uint32_t index,
                          const struct place_node *node)
{
    if (!has_free_core(p, node))
        return -fullness(p, node) * 2 + (place_tally_of(rq->warm, index) > 0) - 8 * CLASS_SCORE;
    int64_t rank = (node->class == PLACE_BUSY ? 2 : 0) + (place_tally_of(rq->warm, index) > 0);
    return rank * CLASS_SCORE + MIN(fullness(p, node), CLASS_SCORE - 1);
}

/* ---- the policies ---- */

static void choose_kubernetes(struct place *p, const struct place_request *rq, struct best *best)
{
    /* In a large cluster the drawn nodes would seldom hold the image. */
    if (!p->options.no_image_locality && place_n_candidates(p->books) > PLACE_SAMPLE_ABOVE)
        consider_tally(p, rq, rq->image, score_kubernetes, best);
    consider_some(p, rq, score_kubernetes, best);
}

static void choose_image_locality(struct place *p, const struct place_request *rq,
                                  struct best *best)
{
    consider_tally(p, rq, rq->image, score_least, best);
    if (!is_good(best))
        consider_some(p, rq, score_least, best);
}

/* A bonus and no filter, so that many sandboxes of one function still spread. */
static int64_t score_warm(const struct place *p, const struct place_request *rq, uint32_t index,
                          const struct place_node *node)
{
    return score_kubernetes(p, rq, index, node) +
           (place_tally_of(rq->image, index) > 0 ? IMAGE_BONUS : 0);
}

static void choose_warm_first(struct place *p, const struct place_request *rq, struct best *best)
{
    consider_tally(p, rq, rq->warm, score_warm, best);
    if (is_good(best))
        return;
    if (place_n_candidates(p->books) > PLACE_SAMPLE_ABOVE)
        consider_tally(p, rq, rq->image, score_warm, best);
    consider_some(p, rq, score_warm, best);
}

static void choose_power_of_d(struct place *p, const struct place_request *rq, struct best *best)
{
    uint32_t n = place_n_candidates(p->books);
    uint32_t d = p->options.d ? p->options.d : n > PLACE_SAMPLE_ABOVE ? PLACE_SAMPLE : 2;
    if (n <= d) {
        consider_all(p, rq, score_least, best);
        return;
    }
    consider_drawn(p, rq, d, score_least, best);
    if (!is_good(best))
        consider_until(p, rq, score_least, best);
}

/* Uses the lists of the classes, so that the few busy nodes are found among thousands. */
static void choose_hermod(struct place *p, const struct place_request *rq, struct best *best)
{
    if (place_n_candidates(p->books) <= PLACE_SAMPLE_ABOVE) {
        consider_all(p, rq, score_pack, best);
        return;
    }
    consider_tally(p, rq, rq->warm, score_pack, best);
    for (int class = PLACE_BUSY; class >= PLACE_EMPTY; class --) {
        uint32_t n = place_n_class(p->books, (enum place_class) class);
        for (uint32_t i = 0; i < MIN(n, PLACE_SAMPLE); i++)
            consider(p, rq,
                     place_class_member(p->books, (enum place_class) class,
                                        n <= PLACE_SAMPLE ? i : rng_below(&p->rng, n)),
                     score_pack, best);
    }
    if (!is_good(best))
        consider_until(p, rq, score_pack, best);
}

static void choose_random(struct place *p, const struct place_request *rq, struct best *best)
{
    uint32_t n = place_n_candidates(p->books);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t node = place_candidate(p->books, rng_below(&p->rng, n));
        if (is_avoided(rq, node) || !fits(p, rq, node))
            continue;
        *best = (struct best){ .found = true, .node = node };
        return;
    }
    consider_all(p, rq, score_any, best);
}

static void choose_round_robin(struct place *p, const struct place_request *rq, struct best *best)
{
    uint32_t end = place_end(p->books);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < end; i++) {
            uint32_t node = (p->cursor + i) % end;
            if ((pass == 0 && is_avoided(rq, node)) || !fits(p, rq, node))
                continue;
            p->cursor = node + 1;
            *best = (struct best){ .found = true, .node = node };
            return;
        }
    }
}

/* ---- ch-rlu ---- */

static int by_hash(const void *a, const void *b)
{
    const struct ring_point *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void ring_build(struct place *p)
{
    if (p->ring_generation == place_generation(p->books))
        return;
    p->ring_generation = place_generation(p->books);
    p->ring.n = 0;
    for (uint32_t i = 0; i < place_n_candidates(p->books); i++) {
        uint32_t node = place_candidate(p->books, i);
        for (uint32_t k = 0; k < p->options.ring_points; k++) {
            struct rng at = rng_fork(place_node(p->books, node)->key, k, 0);
            vec_push(&p->ring, ((struct ring_point){ .hash = rng_next(&at), .node = node }));
        }
    }
    if (p->ring.n)
        qsort(p->ring.p, p->ring.n, sizeof *p->ring.p, by_hash);
}

/* The first point at or after a hash; the ring wraps around. */
static size_t ring_find(const struct place *p, uint64_t hash)
{
    size_t low = 0, high = p->ring.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->ring.p[mid].hash < hash)
            low = mid + 1;
        else
            high = mid;
    }
    return low == p->ring.n ? 0 : low;
}

/*
 * Is there room below the bound for a popular function? Its load is assumed until the next report.
 */
static bool takes_popular(struct place *p, uint32_t node)
{
    const struct place_node *n = place_node(p->books, node);
    double cores = (double)MAX(n->capacity.at[PLACE_CPU_MILLI], 1) / 1000;
    double noise = rng_normal(&p->rng, p->lambda / cores, RLU_DEVIATION);
    double load = (double)n->load_milli / 1000 / cores;
    if ((load + noise) * 1000 > (double)p->options.bound_milli)
        return false;
    int64_t assumed = n->load_milli + (int64_t)(noise * cores * 1000);
    place_node_set_load(p->books, node, MAX(assumed, 0));
    return true;
}

static void choose_ch_rlu(struct place *p, const struct place_request *rq, struct best *best)
{
    ring_build(p);
    struct rng hash = { rq->key };
    size_t first = ring_find(p, rng_next(&hash));
    bool popular = rq->mean_gap_ms > 0 && rq->mean_gap_ms <= p->popular_gap_ms;
    /* The chain, then the rest of the ring if no node of the chain has room. */
    for (size_t i = 0; i < p->ring.n; i++) {
        uint32_t node = p->ring.p[(first + i) % p->ring.n].node;
        if (i >= p->options.chain && best->found && !is_avoided(rq, best->node))
            return;
        if (!fits(p, rq, node) || (is_avoided(rq, node) && best->found))
            continue;
        bool better = !best->found || is_avoided(rq, best->node);
        if (better)
            *best = (struct best){ .found = true, .node = node }; /* home */
        if (is_avoided(rq, node))
            continue;
        if (!popular)
            return;
        if (i < p->options.chain && takes_popular(p, node)) {
            best->node = node;
            return;
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void place_set_popularity(struct place *p, double *gaps_ms, size_t n, uint32_t percent)
{
    size_t n_popular = n * MIN(percent, 100) / 100;
    double sum = 0;
    if (n)
        qsort(gaps_ms, n, sizeof *gaps_ms, by_value);
    for (size_t i = 0; i < n; i++)
        sum += gaps_ms[i];
    p->popular_gap_ms = n_popular ? gaps_ms[n_popular - 1] : 0;
    p->lambda = sum > 0 ? (double)n * 1000 / sum : 0;
}

/* ---- deciding ---- */

static void (*const choosers[PLACE_POLICY_COUNT])(struct place *p, const struct place_request *rq,
                                                  struct best *best) = {
    [PLACE_WARM_FIRST] = choose_warm_first,   [PLACE_KUBERNETES] = choose_kubernetes,
    [PLACE_POWER_OF_D] = choose_power_of_d,   [PLACE_IMAGE_LOCALITY] = choose_image_locality,
    [PLACE_HERMOD] = choose_hermod,           [PLACE_CH_RLU] = choose_ch_rlu,
    [PLACE_ROUND_ROBIN] = choose_round_robin, [PLACE_RANDOM] = choose_random,
};

static int explain(const struct place *p, const struct place_request *rq, struct err *err)
{
    uint32_t counts[PLACE_VERDICTS] = { 0 }, n = place_n_nodes(p->books);
    if (!err)
        return -ENOSPC;
    for (uint32_t i = 0; i < place_end(p->books); i++) {
        const struct place_node *node = place_node(p->books, i);
        if (node)
            counts[place_filter(node, &rq->need, rq->constraints)]++;
    }
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(512);
    for (size_t v = PLACE_FITS + 1; v < PLACE_VERDICTS; v++)
        if (counts[v])
            (void)buf_printf(&why, "%s%u %s", why.n ? ", " : "", counts[v],
                             place_verdict_text((enum place_verdict)v));
    return err_set(err, -ENOSPC, "none of %u nodes fits: %s", n, buf_cstr(&why));
}

int place_choose(struct place *p, const struct place_request *rq, struct place_choice *ret,
                 struct err *err)
{
    struct best best = { 0 };
    if (place_n_nodes(p->books) == 0)
        return err_set(err, -ENODEV, "there is no node");
    if (place_n_candidates(p->books) == 0)
        return err_set(err, -ENODEV, "none of %u nodes is schedulable", place_n_nodes(p->books));
    choosers[p->options.policy](p, rq, &best);
    if (!best.found)
        return explain(p, rq, err);
    *ret = (struct place_choice){
        .node = best.node,
        .epoch = place_node(p->books, best.node)->epoch,
        .is_warm = place_tally_of(rq->warm, best.node) > 0,
        .has_image = place_tally_of(rq->image, best.node) > 0,
        .score = (int)best.score,
    };
    return 0;
}

int place_decide(struct place *p, const struct place_request *rq, struct place_choice *ret,
                 struct err *err)
{
    int r = place_choose(p, rq, ret, err);
    if (r < 0)
        return r;
    place_reserve(p->books, ret->node, &rq->need);
    return 0;
}
