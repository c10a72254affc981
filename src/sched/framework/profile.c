/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds profiles from configurations. In upstream's order, so that of several mistakes the same
 * one is reported: plugins are created, then the sets of the extension points are checked, then
 * multiPoint.
 */
#include "sched/framework/profile.h"

static const char *const point_names[] = {
#define POINT_NAME(id, fn, name) [SCHED_AT_##id] = (name),
    SCHED_POINTS(POINT_NAME)
#undef POINT_NAME
};

const char *sched_point_name(enum sched_point point)
{
    return point_names[point];
}

/* The order in which upstream checks the points. */
static const enum sched_point check_order[] = {
    SCHED_AT_PRE_FILTER, SCHED_AT_FILTER, SCHED_AT_POST_FILTER, SCHED_AT_RESERVE,
    SCHED_AT_PRE_SCORE,  SCHED_AT_SCORE,  SCHED_AT_PRE_BIND,    SCHED_AT_BIND,
    SCHED_AT_POST_BIND,  SCHED_AT_PERMIT, SCHED_AT_PRE_ENQUEUE, SCHED_AT_QUEUE_SORT,
};
_Static_assert(ARRAY_LEN(check_order) == SCHED_POINT_COUNT, "each point once");

static bool has_point(const struct sched_plugin_ops *ops, enum sched_point point)
{
    if (point == SCHED_AT_RESERVE && ops->unreserve)
        return true;
    switch (point) {
#define HAS_POINT(id, fn, name)                                                                    \
    case SCHED_AT_##id:                                                                            \
        return ops->fn != NULL;
        SCHED_POINTS(HAS_POINT)
#undef HAS_POINT
    case SCHED_POINT_COUNT:
        break;
    }
    return false;
}

static struct sched_plugin *plugin_of(const struct sched_profile *p, struct str name)
{
    for (unsigned i = 0; i < p->n_plugins; i++)
        if (str_eq(p->plugins[i]->name, name))
            return p->plugins[i];
    return NULL;
}

/* ---- creating plugins ---- */

static const struct sched_event_reg *no_events(struct sched_plugin *p, size_t *ret_n)
{
    static const struct sched_event_reg none;
    *ret_n = 0;
    return &none;
}

/* Names under which core itself refuses pods; upstream's, since metrics show them. */
static const struct sched_plugin_ops extender_ops = { .name = SCHED_EXTENDER_PLUGIN };
static const struct sched_plugin_ops claims_ops = { .name = SCHED_CLAIMS_PLUGIN,
                                                    .events = no_events };

static int add_plugin(struct sched_profile *p, const struct sched_plugin_ops *ops, struct str name,
                      const struct json *args, char **names, struct err *err)
{
    if (p->n_plugins == SCHED_PLUGINS_MAX)
        return err_set(err, E_LIMIT, "a profile has at most %d plugins", SCHED_PLUGINS_MAX);
    memcpy(*names, name.p, name.n);
    struct sched_plugin_env env = {
        .framework = &p->framework,
        .name = str_n(*names, name.n),
        .args = args,
        .position = p->n_plugins,
        .ops = ops,
    };
    struct sched_plugin *made = NULL;
    if (ops->create) {
        int r = ops->create(&env, &made, err);
        if (r < 0)
            return err_ctx(err, r, "initializing plugin \"" STR_FMT "\"", STR_ARG(name));
    } else {
        made = xnew(struct sched_plugin);
    }
    made->ops = ops;
    made->name = env.name;
    made->position = env.position;
    made->framework = env.framework;
    p->plugins[p->n_plugins++] = made;
    *names += name.n + 1;
    return 0;
}

static int make_plugin(struct sched_profile *p, const struct sched_config_profile *config,
                       size_t index, const struct sched_foreign *foreign, struct str name,
                       char **names, struct err *err)
{
    if (plugin_of(p, name))
        return 0;
    const struct sched_plugin_ops *ops = sched_native_plugin(name);
    if (!ops && foreign)
        ops = foreign->find(foreign->arg, index, name);
    if (!ops)
        return 0; /* the check of the points reports where it is named */
    const struct json *args = NULL;
    for (size_t i = 0; i < config->n_args; i++)
        if (str_eq(config->args[i].name, name))
            args = config->args[i].args;
    return add_plugin(p, ops, name, args, names, err);
}

static int make_plugins(struct sched_profile *p, const struct sched_config_profile *config,
                        size_t index, const struct sched_foreign *foreign, struct err *err)
{
    size_t bytes =
        config->scheduler_name.n + 1 + sizeof(SCHED_EXTENDER_PLUGIN) + sizeof(SCHED_CLAIMS_PLUGIN);
    for (size_t i = 0; i < ARRAY_LEN(check_order); i++)
        for (size_t j = 0; j < config->at[i].n; j++)
            bytes += config->at[i].p[j].name.n + 1;
    for (size_t j = 0; j < config->multi_point.n; j++)
        bytes += config->multi_point.p[j].name.n + 1;
    char *names = p->strings = xalloc(bytes);
    if (config->scheduler_name.n > 0)
        memcpy(names, config->scheduler_name.p, config->scheduler_name.n);
    p->scheduler_name = str_n(names, config->scheduler_name.n);
    names += config->scheduler_name.n + 1;
    p->framework.scheduler_name = p->scheduler_name;

    for (size_t i = 0; i < config->multi_point.n; i++) {
        int r = make_plugin(p, config, index, foreign, config->multi_point.p[i].name, &names, err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < ARRAY_LEN(check_order); i++) {
        const struct sched_config_set *set = &config->at[check_order[i]];
        for (size_t j = 0; j < set->n; j++) {
            int r = make_plugin(p, config, index, foreign, set->p[j].name, &names, err);
            if (r < 0)
                return r;
        }
    }
    int r = add_plugin(p, &claims_ops, STR(SCHED_CLAIMS_PLUGIN), NULL, &names, err);
    if (r < 0)
        return r;
    p->claims = p->plugins[p->n_plugins - 1];
    if (!p->framework.extenders)
        return 0;
    return add_plugin(p, &extender_ops, STR(SCHED_EXTENDER_PLUGIN), NULL, &names, err);
}

/* ---- checks, and the lists ---- */

static bool set_has(const struct sched_config_set *set, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(set->p[i].name, name))
            return true;
    return false;
}

static int check_point(const struct sched_profile *p, const struct sched_config_profile *config,
                       enum sched_point point, struct err *err)
{
    const struct sched_config_set *set = &config->at[point];
    const char *type = point_names[point];
    for (size_t i = 0; i < set->n; i++) {
        struct str name = set->p[i].name;
        if (!set->p[i].is_explicit)
            continue;
        const struct sched_plugin *plugin = plugin_of(p, name);
        if (!plugin)
            return err_set(err, E_INVALID, "%sPlugin \"" STR_FMT "\" does not exist", type,
                           STR_ARG(name));
        if (!has_point(plugin->ops, point))
            return err_set(err, E_INVALID, "plugin \"" STR_FMT "\" does not extend %sPlugin plugin",
                           STR_ARG(name), type);
        if (set_has(set, i, name))
            return err_set(err, E_INVALID,
                           "plugin \"" STR_FMT "\" already registered as \"%sPlugin\"",
                           STR_ARG(name), type);
    }
    return 0;
}

static int check_multi_point(const struct sched_profile *p,
                             const struct sched_config_profile *config, struct err *err)
{
    const struct sched_config_set *set = &config->multi_point;
    for (size_t i = 0; i < set->n; i++) {
        struct str name = set->p[i].name;
        const struct sched_plugin *plugin = plugin_of(p, name);
        if (!plugin)
            return err_set(err, E_INVALID, "%sPlugin \"" STR_FMT "\" does not exist",
                           point_names[check_order[0]], STR_ARG(name));
        if (!set_has(set, i, name))
            continue;
        for (size_t j = 0; j < ARRAY_LEN(check_order); j++)
            if (has_point(plugin->ops, check_order[j]))
                return err_set(err, E_INVALID,
                               "plugin \"" STR_FMT "\" already registered as \"%sPlugin\"",
                               STR_ARG(name), point_names[check_order[j]]);
    }
    return 0;
}

static void fill_point(struct sched_profile *p, const struct sched_config_profile *config,
                       enum sched_point point)
{
    const struct sched_config_set *set = &config->at[point];
    for (size_t i = 0; i < set->n; i++) {
        struct sched_plugin *plugin = plugin_of(p, set->p[i].name);
        if (!has_point(plugin->ops, point) || set_has(set, i, set->p[i].name))
            continue;
        p->at[point][p->n_at[point]++] = plugin;
        if (point == SCHED_AT_SCORE)
            p->weight[plugin->position] = set->p[i].weight > 0 ? set->p[i].weight : 1;
    }
}

/* Also with a negative weight, unless it is the last one: upstream's sum wraps. */
static bool weights_overflow(const struct sched_profile *p,
                             const struct sched_config_profile *config)
{
    const struct sched_config_set *set = &config->at[SCHED_AT_SCORE];
    int64_t total = 0;
    for (size_t i = 0; i < set->n; i++) {
        int64_t most = (int64_t)set->p[i].weight * SCHED_SCORE_MAX;
        if (!has_point(plugin_of(p, set->p[i].name)->ops, SCHED_AT_SCORE))
            continue;
        if (total < 0 || most > INT64_MAX - total)
            return true;
        total += most;
    }
    return false;
}

static int check_and_fill(struct sched_profile *p, const struct sched_config_profile *config,
                          struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < ARRAY_LEN(check_order) && r >= 0; i++)
        r = check_point(p, config, check_order[i], err);
    if (r >= 0)
        r = check_multi_point(p, config, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(check_order); i++)
        fill_point(p, config, check_order[i]);
    if (p->n_at[SCHED_AT_QUEUE_SORT] != 1)
        return err_set(err, E_INVALID,
                       "only one queue sort plugin required for profile with scheduler name "
                       "\"" STR_FMT "\", but got %u",
                       STR_ARG(p->scheduler_name), p->n_at[SCHED_AT_QUEUE_SORT]);
    if (p->n_at[SCHED_AT_BIND] == 0)
        return err_set(err, E_INVALID,
                       "at least one bind plugin is needed for profile with scheduler name "
                       "\"" STR_FMT "\"",
                       STR_ARG(p->scheduler_name));
    if (weights_overflow(p, config))
        return err_set(err, E_INVALID,
                       "score plugins: total score of Score plugins could overflow");
    return 0;
}

int sched_profile_init(struct sched_profile *p, const struct sched_config_profile *config,
                       size_t index, const struct sched_foreign *foreign, struct err *err)
{
    p->framework.profile = p;
    p->percentage = config->percentage > 0 ? (uint32_t)config->percentage : 0;
    int r = make_plugins(p, config, index, foreign, err);
    if (r >= 0)
        r = check_and_fill(p, config, err);
    if (r >= 0)
        return 0;
    r = err_ctx(err, r, "creating profile for scheduler name " STR_FMT,
                STR_ARG(config->scheduler_name));
    sched_profile_fini(p);
    return r;
}

void sched_profile_fini(struct sched_profile *p)
{
    while (p->n_plugins > 0) {
        struct sched_plugin *plugin = p->plugins[--p->n_plugins];
        if (plugin->ops->destroy)
            plugin->ops->destroy(plugin);
        else
            free(plugin);
    }
    free(p->strings);
    *p = (struct sched_profile){ 0 };
}
