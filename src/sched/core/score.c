/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the best of the nodes that fit. Upstream: prioritizeNodes, RunScorePlugins. */
#include "sched/core/search.h"

static bool score_failed(struct search *f, const char *what, struct str plugin,
                         const struct sched_status *s)
{
    f->error = sched_status(&f->a->arena, SCHED_ERROR, "%s \"" STR_FMT "\" failed with: " STR_FMT,
                            what, STR_ARG(plugin), STR_ARG(sched_status_message(&f->a->arena, s)));
    return false;
}

static void tell_scores(struct search *f, const struct sched_plugin *p, int32_t weight)
{
    if (!f->observer || !f->observer->scored)
        return;
    struct sched_view *v = f->a->view;
    for (size_t i = 0; i < f->n_feasible; i++)
        v->scratch.weighted[i] = v->scratch.scores[i] * weight;
    f->observer->scored(f->observer_arg, f->a->pod, p->name, v->scratch.feasible, f->n_feasible,
                        v->scratch.weighted);
}

static bool score_by(struct search *f, struct sched_plugin *p)
{
    struct sched_view *v = f->a->view;
    struct sched_cycle *cycle = &f->a->cycle;
    const struct sched_node_info *const *nodes = v->scratch.feasible;
    size_t n = f->n_feasible;
    int64_t *scores = v->scratch.scores, *sums = v->scratch.sums;
    memset(scores, 0, n * sizeof(*scores));
    const struct sched_status *status = p->ops->score(p, cycle, nodes, n, scores);
    if (sched_code(status) != SCHED_SUCCESS)
        return score_failed(f, "running Score plugins: plugin", p->name, status);
    if (p->ops->normalize) {
        status = p->ops->normalize(p, cycle, nodes, n, scores);
        if (sched_code(status) != SCHED_SUCCESS)
            return score_failed(f, "running Normalize on Score plugins: plugin", p->name, status);
    }
    int32_t weight = f->a->profile->weight[p->position];
    for (size_t i = 0; i < n; i++) {
        if (scores[i] < 0 || scores[i] > SCHED_SCORE_MAX) {
            f->error = sched_status(
                &f->a->arena, SCHED_ERROR,
                "applying score defaultWeights on Score plugins: plugin \"" STR_FMT
                "\" returns an invalid score %lld, it should in the range of [0, %d] after "
                "normalizing",
                STR_ARG(p->name), (long long)scores[i], SCHED_SCORE_MAX);
            return false;
        }
        sums[i] += scores[i] * weight;
    }
    tell_scores(f, p, weight);
    return true;
}

static bool run_pre_score(struct search *f)
{
    const struct sched_profile *profile = f->a->profile;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_SCORE]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_PRE_SCORE][i];
        const struct sched_status *s =
            p->ops->pre_score(p, &f->a->cycle, f->a->view->scratch.feasible, f->n_feasible);
        if (sched_code(s) == SCHED_SKIP) {
            f->a->cycle.skip_score |= UINT64_C(1) << p->position;
        } else if (sched_code(s) != SCHED_SUCCESS) {
            f->error = sched_status(
                &f->a->arena, SCHED_ERROR, "running PreScore plugin \"" STR_FMT "\": " STR_FMT,
                STR_ARG(p->name), STR_ARG(sched_status_message(&f->a->arena, s)));
            return false;
        }
    }
    return true;
}

bool sched_search_score(struct search *f)
{
    struct sched_view *v = f->a->view;
    const struct sched_profile *profile = f->a->profile;
    const struct sched_framework *fw = &profile->framework;
    memset(v->scratch.sums, 0, f->n_feasible * sizeof(*v->scratch.sums));
    if (profile->n_at[SCHED_AT_SCORE] == 0 && !fw->extenders)
        return true;
    bool ok = run_pre_score(f);
    sched_metrics_point(f->a, SCHED_AT_PRE_SCORE, sched_code(f->error));
    for (unsigned i = 0; ok && i < profile->n_at[SCHED_AT_SCORE]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_SCORE][i];
        if (!(f->a->cycle.skip_score & UINT64_C(1) << p->position))
            ok = score_by(f, p);
    }
    sched_metrics_point(f->a, SCHED_AT_SCORE, sched_code(f->error));
    if (ok && fw->extenders)
        fw->extenders->prioritize(fw->extenders_arg, &f->a->cycle, v->scratch.feasible,
                                  f->n_feasible, v->scratch.sums);
    return ok;
}

static struct sched_plugin *tie_breaker(const struct sched_profile *profile)
{
    for (unsigned i = 0; i < profile->n_plugins; i++)
        if (profile->plugins[i]->ops->tie)
            return profile->plugins[i];
    return NULL;
}

const struct sched_node_info *sched_search_best(const struct search *f)
{
    struct sched_view *v = f->a->view;
    const int64_t *sums = v->scratch.sums;
    const struct sched_node_info *const *nodes = v->scratch.feasible;
    struct sched_plugin *by = tie_breaker(f->a->profile);
    size_t best = 0;
    uint32_t n_best = 1;
    for (size_t i = 1; i < f->n_feasible; i++) {
        if (sums[i] > sums[best]) {
            best = i;
            n_best = 1;
        } else if (sums[i] == sums[best] && by) {
            if (by->ops->tie(by, &f->a->cycle, nodes[i], nodes[best]) < 0)
                best = i;
        } else if (sums[i] == sums[best] && rng_below(&f->s->rng, ++n_best) == 0) {
            best = i;
        }
    }
    return nodes[best];
}
