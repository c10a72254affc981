/* SPDX-License-Identifier: Apache-2.0 */
/* Filters and scores; see score.h. */
#include "place/score.h"

#include "base/mem.h"

#include <math.h>

const char *place_verdict_text(enum place_verdict v)
{
    switch (v) {
    case PLACE_FITS:
        return "fits";
    case PLACE_NO_CPU:
        return "too little CPU";
    case PLACE_NO_MEMORY:
        return "too little memory";
    case PLACE_NO_STORAGE:
        return "too little storage";
    case PLACE_NO_SANDBOXES:
        return "too many sandboxes";
    case PLACE_NO_EXTENDED:
        return "too little of an extended resource";
    case PLACE_NO_LABEL:
        return "other labels than selected";
    case PLACE_TAINTED:
        return "a taint that is not tolerated";
    case PLACE_UNSCHEDULABLE:
        return "not schedulable";
    case PLACE_VERDICTS:
        break;
    }
    return "";
}

/* ---- filters ---- */

enum place_verdict place_fit_resources(const struct place_amounts *capacity,
                                       const struct place_amounts *used,
                                       const struct place_amounts *need)
{
    for (size_t i = 0; i < PLACE_RESOURCES; i++) {
        if (!place_lacks(capacity->at[i], used->at[i], need->at[i]))
            continue;
        return i < PLACE_FIRST_EXTENDED ? (enum place_verdict)(PLACE_NO_CPU + i)
                                        : PLACE_NO_EXTENDED;
    }
    return PLACE_FITS;
}
_Static_assert(PLACE_NO_CPU + PLACE_SANDBOXES == (int)PLACE_NO_SANDBOXES &&
                   PLACE_NO_CPU + PLACE_MEMORY_BYTES == (int)PLACE_NO_MEMORY,
               "verdicts stand in the order of the resources");

static bool has_label(const struct place_node *node, struct place_label want)
{
    for (uint16_t i = 0; i < node->n_labels; i++)
        if (node->labels[i].key == want.key)
            return node->labels[i].value == want.value;
    return false;
}

bool place_match_selector(const struct place_node *node, const struct place_label *selector,
                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!has_label(node, selector[i]))
            return false;
    return true;
}

static bool tolerates(const struct place_toleration *t, const struct place_taint *taint)
{
    if (!t->all_effects && t->effect != taint->effect)
        return false;
    if (t->exists && t->key == 0)
        return true;
    return t->key == taint->key && (t->exists || t->value == taint->value);
}

bool place_tolerates(const struct place_node *node, const struct place_toleration *tolerations,
                     size_t n)
{
    for (uint16_t i = 0; i < node->n_taints; i++) {
        if (node->taints[i].effect == PLACE_PREFER_NO_SCHEDULE)
            continue;
        size_t by = 0;
        while (by < n && !tolerates(&tolerations[by], &node->taints[i]))
            by++;
        if (by == n)
            return false;
    }
    return true;
}

enum place_verdict place_filter(const struct place_node *node, const struct place_amounts *need,
                                const struct place_constraints *c)
{
    if (!node->schedulable)
        return PLACE_UNSCHEDULABLE;
    if (c && !place_match_selector(node, c->selector, c->n_selector))
        return PLACE_NO_LABEL;
    if (node->n_taints &&
        !place_tolerates(node, c ? c->tolerations : NULL, c ? c->n_tolerations : 0))
        return PLACE_TAINTED;
    return place_fit_resources(&node->capacity, &node->used, need);
}

/* ---- scores ---- */

/* part * 100 / whole, 0 <= part <= whole */
static int64_t percent(int64_t part, int64_t whole)
{
    int64_t scaled;
    if (!__builtin_mul_overflow(part, (int64_t)PLACE_SCORE_MAX, &scaled))
        return scaled / whole;
    return (int64_t)((__int128)part * PLACE_SCORE_MAX / whole);
}

int place_score_least_allocated(const struct place_share *s, size_t n)
{
    int64_t sum = 0, weights = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].capacity <= 0)
            continue;
        weights += s[i].weight;
        if (s[i].used <= s[i].capacity)
            sum += percent(s[i].capacity - s[i].used, s[i].capacity) * s[i].weight;
    }
    return weights ? (int)(sum / weights) : 0;
}

int place_score_most_allocated(const struct place_share *s, size_t n)
{
    int64_t sum = 0, weights = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].capacity <= 0)
            continue;
        weights += s[i].weight;
        sum += percent(MIN(s[i].used, s[i].capacity), s[i].capacity) * s[i].weight;
    }
    return weights ? (int)(sum / weights) : 0;
}

int64_t place_shape_at(const struct place_shape_point *shape, size_t n, int64_t utilization)
{
    size_t i = 0;
    while (i < n && utilization > shape[i].utilization)
        i++;
    if (i == 0 || i == n)
        return n ? shape[i ? n - 1 : 0].score : 0;
    const struct place_shape_point *a = &shape[i - 1], *b = &shape[i];
    return a->score + (b->score - a->score) * (utilization - a->utilization) /
                          (b->utilization - a->utilization);
}

int place_score_shape(const struct place_share *s, size_t n, const struct place_shape_point *shape,
                      size_t n_points)
{
    int64_t sum = 0, weights = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].capacity <= 0)
            continue;
        int64_t in_use = percent(MIN(s[i].used, s[i].capacity), s[i].capacity);
        int64_t score = place_shape_at(shape, n_points, in_use);
        if (score <= 0)
            continue;
        weights += s[i].weight;
        sum += score * s[i].weight;
    }
    return weights ? (int)round((double)sum / (double)weights) : 0;
}

int place_score_balanced(const struct place_share *s, size_t n)
{
    double fraction[PLACE_BALANCE_MAX], sum = 0, deviation = 0;
    size_t have = 0;
    for (size_t i = 0; i < n && have < PLACE_BALANCE_MAX; i++) {
        if (s[i].capacity <= 0)
            continue;
        double f = (double)s[i].used / (double)s[i].capacity;
        fraction[have] = f > 1 ? 1 : f;
        sum += fraction[have++];
    }
    if (have == 2) { /* as kube-scheduler: exact for the usual case */
        deviation = fabs((fraction[0] - fraction[1]) / 2);
    } else if (have > 2) {
        double mean = sum / (double)have;
        for (size_t i = 0; i < have; i++)
            deviation += (fraction[i] - mean) * (fraction[i] - mean);
        deviation = sqrt(deviation / (double)have);
    }
    return (int)((1 - deviation) * PLACE_SCORE_MAX);
}

int place_score_images(int64_t sum_bytes, int64_t low_bytes, int64_t high_bytes)
{
    int64_t sum = MIN(MAX(sum_bytes, low_bytes), high_bytes);
    return high_bytes > low_bytes ? (int)percent(sum - low_bytes, high_bytes - low_bytes) : 0;
}
