/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What placement and predictions use besides reservations: the nodes that have a module, how often
 * each function is called, the plans of all functions. There are no timers here: a decision that
 * needs data about all functions updates it when it is old.
 */
#include "base/vec.h"
#include "fn/control/plane_impl.h"

enum {
    POPULAR_EVERY_MS = 5000,
    POPULAR_PERCENT = 15,
    LEVEL_EVERY_MS = 15 * 60000,
};

/* The next revision of all functions, after (i, k); NULL at the end. */
static struct control_plane_revision *next_revision(const struct plane *p, size_t *i, uint32_t *k)
{
    for (; *i < p->functions.n; (*i)++, *k = 0)
        if (p->functions.p[*i] && *k < p->functions.p[*i]->n_revisions)
            return p->functions.p[*i]->revisions[(*k)++];
    return NULL;
}

static void study_popularity(struct plane *p)
{
    uint64_t now = loop_now_ms(p->loop);
    if (p->opts.place.policy != PLACE_CH_RLU ||
        (p->popular_at_ms && now - p->popular_at_ms < POPULAR_EVERY_MS))
        return;
    p->popular_at_ms = now;
    VEC(double) gaps = { 0 };
    size_t i = 0;
    uint32_t k = 0;
    for (struct control_plane_revision *rev; (rev = next_revision(p, &i, &k));)
        if (rev->scale.gap_ms > 0)
            vec_push(&gaps, (double)rev->scale.gap_ms);
    place_set_popularity(p->place, gaps.p, gaps.n, POPULAR_PERCENT);
    vec_fini(&gaps);
}

int plane_revision_place(struct control_plane_revision *rev, const uint32_t *avoid,
                         uint32_t n_avoid, struct place_choice *ret, struct err *err)
{
    struct place_constraints constraints = { .selector = rev->config->selector,
                                             .n_selector = rev->config->n_selector };
    struct place_request rq = { .need = rev->config->need,
                                .constraints = &constraints,
                                .key = str_hash(str_of(rev->f->uid), 0),
                                .mean_gap_ms = (double)rev->scale.gap_ms,
                                .image = &rev->held,
                                .avoid = avoid,
                                .n_avoid = n_avoid };
    study_popularity(rev->p);
    return place_decide(rev->p->place, &rq, ret, err);
}

void plane_revision_held_by(struct control_plane_revision *rev, uint32_t node)
{
    if (!place_tally_of(&rev->held, node))
        place_tally_add(&rev->held, node, 1);
}

void plane_forget_node(struct plane *p, uint32_t node)
{
    size_t i = 0;
    uint32_t k = 0;
    for (struct control_plane_revision *rev; (rev = next_revision(p, &i, &k));)
        place_tally_forget(&rev->held, node);
}

void plane_revision_level(struct control_plane_revision *rev)
{
    struct plane *p = rev->p;
    uint64_t now = loop_now_ms(p->loop);
    if (rev->config->scale.policy != SCALE_ESCARGOT ||
        (p->level_at_ms && now - p->level_at_ms < LEVEL_EVERY_MS))
        return;
    p->level_at_ms = now;
    VEC(struct scale *) all = { 0 };
    size_t i = 0;
    uint32_t k = 0;
    for (struct control_plane_revision *other; (other = next_revision(p, &i, &k));)
        vec_push(&all, &other->scale);
    scale_level(all.p, all.n, now);
    vec_fini(&all);
}
