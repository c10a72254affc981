/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeResourcesFit: the pod's requests must fit into what is left on the node; nodes are scored by
 * the share in use (LeastAllocated, MostAllocated, RequestedToCapacityRatio).
 *
 * A refusal names every resource that is short. With pods, CPU, memory and ephemeral storage there
 * are 15 such lists, which are constants; a list with other resources is built once for a pod and
 * reused for the next node that is short of the same.
 */
#include "sched/plugins/resource_shares.h"

#define NAME "NodeResourcesFit"

enum { LACKS_PODS = 1, LACKS_CPU = 2, LACKS_MEMORY = 4, LACKS_EPHEMERAL = 8, LACKS_SCALAR = 16 };
enum { N_CORE = 4, SCALARS_REMEMBERED_MAX = 60 }; /* bits of a mask */

enum node_resources_fit_strategy { LEAST, MOST, RATIO };
struct fit {
    struct sched_plugin plugin;
    enum node_resources_fit_strategy strategy;
    struct sched_specs specs;
    struct place_shape_point *shape;
    uint32_t n_shape;
    struct str *ignored, *ignored_groups; /* owned */
    uint32_t n_ignored, n_ignored_groups;
};
static const struct fit *fit_of(const struct sched_plugin *p)
{
    return container_of(p, struct fit, plugin);
}

/* ---- refusals ---- */

#define TEXT(t)                                                                                    \
    {                                                                                              \
        t, sizeof(t) - 1                                                                           \
    }
#define PODS      TEXT("Too many pods")
#define CPU       TEXT("Insufficient cpu")
#define MEMORY    TEXT("Insufficient memory")
#define EPHEMERAL TEXT("Insufficient ephemeral-storage")

/* By mask of LACKS_*. */
static const struct str core_reasons[1 << N_CORE][N_CORE] = {
    { { NULL, 0 } },
    { PODS },
    { CPU },
    { PODS, CPU },
    { MEMORY },
    { PODS, MEMORY },
    { CPU, MEMORY },
    { PODS, CPU, MEMORY },
    { EPHEMERAL },
    { PODS, EPHEMERAL },
    { CPU, EPHEMERAL },
    { PODS, CPU, EPHEMERAL },
    { MEMORY, EPHEMERAL },
    { PODS, MEMORY, EPHEMERAL },
    { CPU, MEMORY, EPHEMERAL },
    { PODS, CPU, MEMORY, EPHEMERAL },
};
#define REFUSAL(mask, code_)                                                                       \
    {                                                                                              \
        .code = (code_), .reasons = core_reasons[mask],                                            \
        .n_reasons = (uint32_t)__builtin_popcount(mask), .plugin = TEXT(NAME)                      \
    }
#define REFUSALS(mask)                                                                             \
    {                                                                                              \
        REFUSAL(mask, SCHED_UNSCHEDULABLE), REFUSAL(mask, SCHED_UNRESOLVABLE)                      \
    }
/* By mask, and by whether an empty node would be too small. */
static const struct sched_status core_refusals[1 << N_CORE][2] = {
    REFUSALS(0),  REFUSALS(1),  REFUSALS(2),  REFUSALS(3), REFUSALS(4),  REFUSALS(5),
    REFUSALS(6),  REFUSALS(7),  REFUSALS(8),  REFUSALS(9), REFUSALS(10), REFUSALS(11),
    REFUSALS(12), REFUSALS(13), REFUSALS(14), REFUSALS(15)
};

/* ---- state: the requested scalars, by name ---- */

struct scalar_need {
    const struct intern *name;
    int64_t value;
    struct str reason;
};
struct node_resources_fit_refusal {
    uint64_t lacks; /* LACKS_*, and LACKS_SCALAR << i */
    bool never;
    struct sched_status status;
    struct node_resources_fit_refusal *next;
};
struct fit_state {
    struct arena *arena; /* of the cycle itself: forks share the state */
    struct scalar_need *p;
    uint32_t n;
    struct node_resources_fit_refusal *refusals;
};

static bool has_str(const struct str *p, uint32_t n, struct str s)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(p[i], s))
            return true;
    return false;
}

/*
 * Only extended resources can be ignored, because an extender or another scheduler manages them:
 * not those of kubernetes.io (hugepages-*, attachable-volumes-*, *.kubernetes.io/...).
 */
static bool is_extended(struct str name)
{
    return str_find_char(name, '/') >= 0 && str_find(name, STR("kubernetes.io/")) < 0 &&
           !str_has_prefix(name, STR("requests."));
}

static bool is_ignored(const struct fit *f, struct str name)
{
    struct str group, rest;
    if (f->n_ignored + f->n_ignored_groups == 0 || !is_extended(name))
        return false;
    (void)str_cut(name, '/', &group, &rest);
    return has_str(f->ignored, f->n_ignored, name) ||
           has_str(f->ignored_groups, f->n_ignored_groups, group);
}

static int by_name(const void *a, const void *b)
{
    const struct scalar_need *x = a, *y = b;
    return str_cmp(intern_str(x->name), intern_str(y->name));
}

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    const struct sched_amounts *need = &cycle->pod->requests;
    if (need->n_scalars == 0)
        return NULL;
    struct fit_state *s = arena_new(cycle->arena, struct fit_state);
    s->arena = cycle->arena;
    s->p = arena_new_n(cycle->arena, struct scalar_need, need->n_scalars);
    for (uint32_t i = 0; i < need->n_scalars; i++) {
        const struct sched_scalar *scalar = &need->scalars[i];
        struct str name = intern_str(scalar->name);
        if (scalar->value == 0 || is_ignored(fit_of(p), name))
            continue;
        char *reason = arena_printf(cycle->arena, "Insufficient " STR_FMT, STR_ARG(name));
        s->p[s->n++] = (struct scalar_need){ scalar->name, scalar->value, str_of(reason) };
    }
    if (s->n == 0)
        return NULL;
    qsort(s->p, s->n, sizeof *s->p, by_name);
    sched_cycle_set_state(cycle, p, s);
    return NULL;
}

/* ---- filter ---- */

static unsigned core_lacks(const struct sched_amounts *need, const struct sched_amounts *has,
                           const struct sched_amounts *used)
{
    return (place_lacks(has->milli_cpu, used->milli_cpu, need->milli_cpu) ? LACKS_CPU : 0) |
           (place_lacks(has->memory, used->memory, need->memory) ? LACKS_MEMORY : 0) |
           (place_lacks(has->ephemeral, used->ephemeral, need->ephemeral) ? LACKS_EPHEMERAL : 0);
}

static bool lacks_scalar(const struct scalar_need *need, const struct sched_node_info *node)
{
    return place_lacks(sched_amounts_scalar(&node->node->allocatable, need->name),
                       sched_amounts_scalar(&node->requested, need->name), need->value);
}

static const struct sched_status *refuse(struct fit_state *s, const struct sched_node_info *node,
                                         uint64_t lacks, bool never)
{
    struct node_resources_fit_refusal *r = s->n <= SCALARS_REMEMBERED_MAX ? s->refusals : NULL;
    while (r && (r->lacks != lacks || r->never != never))
        r = r->next;
    if (r)
        return &r->status;
    const struct sched_status *core = &core_refusals[lacks % LACKS_SCALAR][never];
    struct str *reasons = arena_new_n(s->arena, struct str, N_CORE + s->n);
    uint32_t n = core->n_reasons;
    memcpy(reasons, core->reasons, n * sizeof *reasons);
    for (uint32_t i = 0; i < s->n; i++)
        if (lacks_scalar(&s->p[i], node))
            reasons[n++] = s->p[i].reason;
    r = arena_new(s->arena, struct node_resources_fit_refusal);
    *r = (struct node_resources_fit_refusal){ lacks, never, *core, s->refusals };
    r->status.reasons = reasons;
    r->status.n_reasons = n;
    s->refusals = r;
    return &r->status;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    static const struct sched_amounts nothing = { 0 };
    const struct sched_amounts *need = &cycle->pod->requests, *has = &node->node->allocatable;
    uint64_t lacks = core_lacks(need, has, &node->requested);
    if ((int64_t)node->n_pods + 1 > node->node->allowed_pods)
        lacks |= LACKS_PODS;
    struct fit_state *s = sched_cycle_state(cycle, p);
    bool never = false;
    for (uint32_t i = 0; s && i < s->n; i++) {
        if (!lacks_scalar(&s->p[i], node))
            continue;
        lacks |= (uint64_t)LACKS_SCALAR << MIN(i, SCALARS_REMEMBERED_MAX - 1U);
        never |= s->p[i].value > sched_amounts_scalar(has, s->p[i].name);
    }
    if (lacks == 0)
        return NULL;
    never |= core_lacks(need, has, &nothing) != 0;
    return lacks < LACKS_SCALAR ? &core_refusals[lacks][never] : refuse(s, node, lacks, never);
}

/* ---- events ---- */

static bool fits_empty(const struct sched_pod *pod, const struct sched_node *node)
{
    static const struct sched_amounts nothing = { 0 };
    if (node->allowed_pods < 1 || core_lacks(&pod->requests, &node->allocatable, &nothing))
        return false;
    for (uint32_t i = 0; i < pod->requests.n_scalars; i++)
        if (pod->requests.scalars[i].value >
            sched_amounts_scalar(&node->allocatable, pod->requests.scalars[i].name))
            return false;
    return true;
}

/* Does `a` have more than `b` of a resource that `need` requests? */
static bool has_more(const struct sched_amounts *need, const struct sched_amounts *a,
                     const struct sched_amounts *b)
{
    if ((need->milli_cpu > 0 && a->milli_cpu > b->milli_cpu) ||
        (need->memory > 0 && a->memory > b->memory) ||
        (need->ephemeral > 0 && a->ephemeral > b->ephemeral))
        return true;
    for (uint32_t i = 0; i < need->n_scalars; i++) {
        const struct intern *name = need->scalars[i].name;
        if (need->scalars[i].value > 0 &&
            sched_amounts_scalar(a, name) > sched_amounts_scalar(b, name))
            return true;
    }
    return false;
}

static enum sched_hint on_node(struct sched_plugin *p, const struct sched_pod *pod,
                               const struct sched_event *event)
{
    const struct sched_node *before = sched_event_node(event->before);
    const struct sched_node *after = sched_event_node(event->after);
    if (!after)
        return SCHED_HINT_QUEUE;
    if (!fits_empty(pod, after))
        return SCHED_HINT_SKIP;
    bool helps = !before || after->allowed_pods > before->allowed_pods ||
                 has_more(&pod->requests, &after->allocatable, &before->allocatable);
    return helps ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

/* A pod was deleted, or requests less. */
static enum sched_hint on_pod(struct sched_plugin *p, const struct sched_pod *pod,
                              const struct sched_event *event)
{
    const struct sched_pod *before = sched_event_pod(event->before);
    const struct sched_pod *after = sched_event_pod(event->after);
    if (!before)
        return SCHED_HINT_QUEUE;
    if (!after) {
        bool held = before->node_name || !str_is_empty(before->nominated_node);
        return held ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
    }
    if (sched_is_same_pod(pod, after))
        return SCHED_HINT_QUEUE;
    bool frees = after->node_name && has_more(&pod->requests, &before->requests, &after->requests);
    return frees ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

SCHED_EVENTS(events, { SCHED_ON_POD, SCHED_DELETE | SCHED_UPDATE_POD_SCALE_DOWN, on_pod },
             { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_ALLOCATABLE, on_node })

/* ---- score ---- */

/* The cycle's state belongs to the filter; the requests are computed once for all nodes anyway. */
static const struct sched_status *pre_score(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n)
{
    return NULL;
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    const struct fit *f = fit_of(p);
    const int64_t *requests = sched_specs_requests(&f->specs, cycle->arena, cycle->pod, true);
    struct place_share shares[SCHED_SPECS_MAX];
    for (size_t i = 0; i < n; i++) {
        sched_specs_shares(&f->specs, requests, nodes[i], true, shares);
        for (uint32_t k = 0; k < f->specs.n; k++)
            shares[k].used += requests[k];
        switch (f->strategy) {
        case LEAST:
            ret[i] = place_score_least_allocated(shares, f->specs.n);
            break;
        case MOST:
            ret[i] = place_score_most_allocated(shares, f->specs.n);
            break;
        case RATIO:
            ret[i] = place_score_shape(shares, f->specs.n, f->shape, f->n_shape);
            break;
        }
    }
    return NULL;
}

/* ---- life ---- */

static void free_strs(struct str *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        free((char *)p[i].p);
    free(p);
}

static void destroy(struct sched_plugin *p)
{
    struct fit *f = container_of(p, struct fit, plugin);
    sched_specs_fini(p->framework->words, &f->specs);
    free_strs(f->ignored, f->n_ignored);
    free_strs(f->ignored_groups, f->n_ignored_groups);
    free(f->shape);
    free(f);
}

static void read_strs(const struct json *list, struct str **ret, uint32_t *ret_n)
{
    *ret = xnew_n(struct str, list ? list->n : 0);
    json_each (e, list) {
        struct str s = json_str(e);
        (*ret)[(*ret_n)++] = (struct str){ str_dup(s), s.n };
    }
}

/* In the configuration the scores of a shape are 0 to 10. */
enum { SHAPE_SCORE_MAX = 10 };

static int read_shape(struct fit *f, const struct json *shape, struct err *err)
{
    if (!json_is(shape, JSON_ARRAY) || shape->n == 0)
        return err_set(err, E_INVALID,
                       "scoringStrategy.requestedToCapacityRatio.shape: Required "
                       "value: at least one point must be specified");
    f->shape = xnew_n(struct place_shape_point, shape->n);
    json_each (e, shape) {
        int64_t utilization = json_int_or(json_getc(e, "utilization"), 0);
        int64_t points = json_int_or(json_getc(e, "score"), 0);
        if (utilization < 0 || utilization > PLACE_SCORE_MAX || points < 0 ||
            points > SHAPE_SCORE_MAX)
            return err_set(err, E_INVALID,
                           "scoringStrategy.requestedToCapacityRatio.shape[%u]: Invalid value: "
                           "utilization is not in 0 to %d, or score not in 0 to %d",
                           f->n_shape, PLACE_SCORE_MAX, SHAPE_SCORE_MAX);
        if (f->n_shape > 0 && utilization <= f->shape[f->n_shape - 1].utilization)
            return err_set(err, E_INVALID,
                           "scoringStrategy.requestedToCapacityRatio.shape[%u].utilization: "
                           "Invalid value: %lld: values must be sorted in increasing order",
                           f->n_shape, (long long)utilization);
        f->shape[f->n_shape++] =
            (struct place_shape_point){ utilization, points * (PLACE_SCORE_MAX / SHAPE_SCORE_MAX) };
    }
    return 0;
}

static int read_args(struct fit *f, const struct json *args, struct err *err)
{
    static const struct str strategies[] = { [LEAST] = TEXT("LeastAllocated"),
                                             [MOST] = TEXT("MostAllocated"),
                                             [RATIO] = TEXT("RequestedToCapacityRatio") };
    read_strs(json_getc(args, "ignoredResources"), &f->ignored, &f->n_ignored);
    read_strs(json_getc(args, "ignoredResourceGroups"), &f->ignored_groups, &f->n_ignored_groups);
    const struct json *how = json_getc(args, "scoringStrategy");
    int r =
        sched_specs_read(f->plugin.framework->words, json_getc(how, "resources"), &f->specs, err);
    if (r < 0)
        return err_ctx(err, r, "scoringStrategy.resources");
    struct str type = json_get_str(how, "type");
    size_t at = LEAST;
    while (how && at < ARRAY_LEN(strategies) && !str_eq(strategies[at], type))
        at++;
    if (at == ARRAY_LEN(strategies))
        return err_set(err, E_INVALID,
                       "scoringStrategy.type: Unsupported value: \"" STR_FMT
                       "\": supported values: \"LeastAllocated\", \"MostAllocated\", "
                       "\"RequestedToCapacityRatio\"",
                       STR_ARG(type));
    f->strategy = (enum node_resources_fit_strategy)at;
    if (f->strategy != RATIO)
        return 0;
    return read_shape(f, json_path(how, "requestedToCapacityRatio", "shape", NULL), err);
}

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct fit *f = xnew(struct fit);
    f->plugin.framework = env->framework;
    int r = read_args(f, env->args, err);
    if (r < 0) {
        destroy(&f->plugin);
        return r;
    }
    *ret = &f->plugin;
    return 0;
}

const struct sched_plugin_ops sched_node_resources_fit_ops = {
    .name = NAME,
    .create = create,
    .destroy = destroy,
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
    .pre_score = pre_score,
    .score = score,
};
