/* SPDX-License-Identifier: Apache-2.0 */
/* BREAK's scores; see break.h. */
#include "place/break.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double lambda = PLACE_BREAK_LAMBDA;

double place_break_max(enum place_break_scorer s, enum place_break_reading reading)
{
    bool paper = reading == PLACE_BREAK_PAPER;
    switch (s) {
    case PLACE_BREAK_NETWORK:
        return paper ? 2 * lambda : lambda;
    case PLACE_BREAK_BALANCE: /* one fully used, the other two idle: 1 + 1 + 0/3 */
        return paper ? 2 * lambda * lambda : lambda;
    case PLACE_BREAK_LEAST:
        return paper ? 1.6 * lambda : lambda;
    case PLACE_BREAK_TIME:
        return lambda;
    }
    return lambda;
}

/* ---- network ---- */

/* How many of sorted[0..n) are smaller than v. */
static size_t n_below(const int64_t *sorted, size_t n, int64_t v)
{
    size_t from = 0, to = n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (sorted[middle] < v)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

void place_break_order_fini(struct place_break_order *o)
{
    free(o->sorted);
    *o = (struct place_break_order){ .largest_is_best = o->largest_is_best };
}

static int64_t sort_key(const struct place_break_order *o, int64_t value)
{
    return o->largest_is_best ? -value : value;
}

void place_break_order_put(struct place_break_order *o, int64_t value)
{
    if (value == 0)
        return;
    if (o->n == o->cap) {
        o->cap = MAX(2 * o->cap, (size_t)16);
        o->sorted = xrealloc(o->sorted, o->cap * sizeof *o->sorted);
    }
    size_t at = n_below(o->sorted, o->n, sort_key(o, value));
    memmove(o->sorted + at + 1, o->sorted + at, (o->n - at) * sizeof *o->sorted);
    o->sorted[at] = sort_key(o, value);
    o->n++;
}

void place_break_order_take(struct place_break_order *o, int64_t value)
{
    if (value == 0)
        return;
    size_t at = n_below(o->sorted, o->n, sort_key(o, value));
    assert(at < o->n && o->sorted[at] == sort_key(o, value));
    o->n--;
    memmove(o->sorted + at, o->sorted + at + 1, (o->n - at) * sizeof *o->sorted);
}

uint32_t place_break_rank(const struct place_break_order *o, size_t n_nodes, int64_t value)
{
    if (o->n == 0)
        return 1;
    int64_t median = o->sorted[(o->n - 1) / 2];
    int64_t key = value == 0 ? median : sort_key(o, value);
    size_t better = n_below(o->sorted, o->n, key);
    if (key > median && n_nodes > o->n)
        better += n_nodes - o->n; /* unknown values count as the median */
    return (uint32_t)better + 1;
}

double place_break_network(enum place_break_reading reading, size_t n, uint32_t bandwidth_rank,
                           uint32_t rtt_rank)
{
    double count = (double)n;
    double p = lambda / count * (2 * count - bandwidth_rank - rtt_rank + 2);
    return reading == PLACE_BREAK_PAPER ? p : p / 2;
}

/* ---- balance and least requested ---- */

double place_break_balance(enum place_break_reading reading, struct place_break_use use)
{
    double cpu_memory = fabs(use.cpu - use.memory), cpu_disk = fabs(use.cpu - use.disk);
    double memory_disk = fabs(use.memory - use.disk);
    if (reading == PLACE_BREAK_PAPER)
        return lambda * (cpu_memory + cpu_disk + memory_disk / 3) * lambda;
    double divisor = reading == PLACE_BREAK_INTENDED ? 3 : 2;
    return lambda - lambda * (cpu_memory + cpu_disk + memory_disk) / divisor;
}

double place_break_least(enum place_break_reading reading, struct place_break_use use)
{
    double p = ((1 - use.cpu) + (1 - use.memory) / 2 + (1 - use.disk) / 10) * lambda;
    return reading == PLACE_BREAK_PAPER ? p : p / 1.6;
}

/* ---- locality ---- */

double place_break_hit(int64_t bytes, int64_t low, int64_t high)
{
    if (high <= low)
        return bytes >= high ? lambda : 0;
    int64_t counted = MIN(MAX(bytes, low), high);
    return lambda * (double)(counted - low) / (double)(high - low);
}

double place_break_available(enum place_break_reading reading, int64_t capacity, int64_t used,
                             int64_t pinned)
{
    if (capacity <= 0)
        return 0;
    int64_t taken = reading == PLACE_BREAK_PAPER ? used : pinned;
    return (double)(capacity - MIN(MAX(taken, 0), capacity)) / (double)capacity;
}

bool place_break_has_room(int64_t capacity, int64_t used, int64_t reclaimable, int64_t missing)
{
    if (capacity <= 0 || missing <= 0)
        return true;
    double room = (double)capacity - (double)used + (double)MIN(reclaimable, used);
    return (double)missing * 1.1 <= room;
}

bool place_break_is_full(int64_t capacity, int64_t used)
{
    return capacity > 0 && (double)used > (double)capacity * 0.9;
}

/* ---- predicted deploy time ---- */

/* The sources of a layer: the peers, and the registry last. */
struct break_source {
    const struct place_break_peer *peer; /* NULL: registry */
    double bytes_per_second, queued, assigned;
    double first_byte_s;
};
struct break_plan {
    const struct place_break_deploy *d;
    struct break_source sources[PLACE_BREAK_PEERS_MAX + 1];
    size_t n;
    struct place_break_plan *parts; /* NULL: only the time is wanted */
};

static double rate_of(int64_t bps, int64_t downlink_bps)
{
    int64_t slower = downlink_bps > 0 ? MIN(bps, downlink_bps) : bps;
    return (double)slower / 8;
}

static double first_byte(int64_t rtt_us)
{
    enum { ROUND_TRIPS = 2 };
    return (double)MAX(rtt_us, (int64_t)0) * ROUND_TRIPS / 1e6;
}

/* Peers that are too slow compared with the registry are left out. */
static void list_sources(struct break_plan *plan)
{
    const struct place_break_deploy *d = plan->d;
    double least = MAX((double)d->registry_bps / 2, (double)PLACE_BREAK_PEER_BPS_MIN) / 8;
    for (size_t i = 0; i < d->n_peers && i < PLACE_BREAK_PEERS_MAX; i++) {
        double rate = rate_of(d->peers[i].uplink_bps, d->downlink_bps);
        if (rate >= least)
            plan->sources[plan->n++] =
                (struct break_source){ .peer = &d->peers[i],
                                       .bytes_per_second = rate,
                                       .queued = (double)d->peers[i].queued_bytes,
                                       .first_byte_s = first_byte(d->peer_rtt_us) };
    }
    if (d->registry_bps > 0)
        plan->sources[plan->n++] =
            (struct break_source){ .bytes_per_second = rate_of(d->registry_bps, d->downlink_bps),
                                   .first_byte_s = first_byte(d->registry_rtt_us) };
}

static double finish_of(const struct break_source *s, double bytes)
{
    return s->first_byte_s + (s->queued + s->assigned + bytes) / s->bytes_per_second;
}

/* The source that would deliver it first; `but` (or NULL) is left out; NULL: no source is left. */
static struct break_source *earliest(struct break_plan *plan, size_t layer, double bytes,
                                     bool peers_only, const struct break_source *but)
{
    struct break_source *best = NULL;
    for (size_t i = 0; i < plan->n; i++) {
        struct break_source *s = &plan->sources[i];
        bool has = s->peer ? place_break_in(&s->peer->holds, layer) : !peers_only;
        if (has && s != but && (!best || finish_of(s, bytes) < finish_of(best, bytes)))
            best = s;
    }
    return best;
}

static int number_of(const struct break_plan *plan, const struct break_source *s)
{
    return s->peer ? (int)(s->peer - plan->d->peers) : PLACE_BREAK_REGISTRY;
}

/* The next two peers, and the registry. */
static void add_alternatives(struct break_plan *plan, struct place_break_part *part,
                             const struct break_source *used, double bytes)
{
    const struct break_source *not_again[2] = { used, NULL };
    const struct break_source *registry = plan->n ? &plan->sources[plan->n - 1] : NULL;
    for (size_t k = 0; k < 2; k++) {
        const struct break_source *best = NULL;
        for (size_t i = 0; i < plan->n; i++) {
            const struct break_source *s = &plan->sources[i];
            if (s->peer && place_break_in(&s->peer->holds, part->layer) && s != not_again[0] &&
                s != not_again[1] && (!best || finish_of(s, bytes) < finish_of(best, bytes)))
                best = s;
        }
        if (!best)
            break;
        part->alternatives[part->n_alternatives++] = number_of(plan, best);
        not_again[1] = best;
    }
    if (registry && !registry->peer && registry != used)
        part->alternatives[part->n_alternatives++] = PLACE_BREAK_REGISTRY;
}

static void give(struct break_plan *plan, struct break_source *to, size_t layer, int64_t from,
                 int64_t end)
{
    to->assigned += (double)(end - from);
    if (!plan->parts)
        return;
    struct place_break_part *part = &plan->parts->parts[plan->parts->n++];
    *part = (struct place_break_part){ .layer = (uint32_t)layer,
                                       .from = from,
                                       .to = end,
                                       .source = number_of(plan, to),
                                       .finish_s = finish_of(to, 0) };
    add_alternatives(plan, part, to, (double)(end - from));
}

/* Returns false if no source has it. */
static bool assign(struct break_plan *plan, size_t layer)
{
    int64_t size = plan->d->sizes[layer];
    double bytes = (double)size;
    struct break_source *first = earliest(plan, layer, bytes, false, NULL), *second = NULL;
    if (!first)
        return false;
    if (first->peer && size > PLACE_BREAK_SPLIT_BYTES)
        second = earliest(plan, layer, bytes, true, first);
    if (second && finish_of(second, bytes) <= 1.5 * finish_of(first, bytes)) {
        give(plan, first, layer, 0, size / 2);
        give(plan, second, layer, size / 2, size);
    } else {
        give(plan, first, layer, 0, size);
    }
    return true;
}

/* Missing layers, largest first. */
static size_t list_missing(const struct place_break_deploy *d, size_t *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_layers; i++) {
        if (place_break_in(&d->present, i))
            continue;
        size_t at = n++;
        for (; at > 0 && d->sizes[ret[at - 1]] < d->sizes[i]; at--)
            ret[at] = ret[at - 1];
        ret[at] = i;
    }
    return n;
}

/* Seconds, HUGE_VAL if a layer has no source; ret: NULL, or gets the parts. */
static double assign_all(const struct place_break_deploy *d, struct place_break_plan *ret)
{
    size_t missing[PLACE_BREAK_LAYERS_MAX], n = list_missing(d, missing);
    struct break_plan plan = { .d = d, .parts = ret };
    double bytes = 0, seconds = 0;
    list_sources(&plan);
    for (size_t i = 0; i < n; i++) {
        if (!assign(&plan, missing[i]))
            return HUGE_VAL;
        bytes += (double)d->sizes[missing[i]];
    }
    for (size_t i = 0; i < plan.n; i++)
        if (plan.sources[i].assigned > 0)
            seconds = MAX(seconds, finish_of(&plan.sources[i], 0));
    if (d->downlink_bps > 0)
        seconds = MAX(seconds, bytes * 8 / (double)d->downlink_bps);
    if (n > 0 && d->unpack_bytes_per_second > 0) /* the smallest arrives last */
        seconds += (double)d->sizes[missing[n - 1]] / (double)d->unpack_bytes_per_second;
    return seconds;
}

double place_break_deploy_s(const struct place_break_deploy *d)
{
    return assign_all(d, NULL);
}

bool place_break_assign(const struct place_break_deploy *d, struct place_break_plan *ret)
{
    ret->n = 0;
    ret->seconds = assign_all(d, ret);
    return isfinite(ret->seconds);
}

double place_break_time(double seconds, double fastest, double slowest)
{
    if (!isfinite(seconds))
        return 0;
    return slowest > fastest ? lambda * (slowest - seconds) / (slowest - fastest) : lambda;
}
