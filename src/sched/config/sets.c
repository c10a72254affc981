/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin sets: merges the defaults with what a profile enables and disables, and expands multiPoint
 * over the extension points. Upstream does the first when it reads defaults, the second when it
 * creates a framework.
 */
#include "base/mem.h"
#include "sched/config/internal.h"

const char *const config_points[SCHED_CONFIG_POINTS + 1] = {
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score",
    "reserve",    "permit",    "preBind",   "bind",   "postBind",   NULL
};
const char *const config_other_points[] = { "placementGenerate", "placementScore", NULL };

static const struct {
    const char *name;
    int32_t weight;
} defaults[] = {
    { "SchedulingGates", 0 },
    { "PrioritySort", 0 },
    { "NodeUnschedulable", 0 },
    { "NodeName", 0 },
    { "TaintToleration", 3 },
    { "NodeAffinity", 2 },
    { "NodePorts", 0 },
    { "NodeResourcesFit", 1 },
    { "VolumeRestrictions", 0 },
    { "NodeVolumeLimits", 0 },
    { "VolumeBinding", 0 },
    { "VolumeZone", 0 },
    { "PodTopologySpread", 2 },
    { "InterPodAffinity", 2 },
    { "DefaultPreemption", 0 },
    { "NodeResourcesBalancedAllocation", 1 },
    { "ImageLocality", 1 },
    { "DefaultBinder", 0 },
    { "NodeDeclaredFeatures", 0 },
};

bool config_is_default_plugin(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        if (str_is(name, defaults[i].name))
            return true;
    return false;
}

const char *config_missing_plugin(struct str name)
{
    static const struct {
        const char *name, *why;
    } missing[] = {
        { "DynamicResources", "resource claims are not supported" },
        { "GangScheduling", "groups of pods are not supported" },
        { "TopologyPlacementGenerator", "groups of pods are not supported" },
        { "PodGroupPodsCount", "groups of pods are not supported" },
    };
    for (size_t i = 0; i < ARRAY_LEN(missing); i++)
        if (str_is(name, missing[i].name))
            return missing[i].why;
    return NULL;
}

void config_warn(struct buf *warnings, const struct fpath *at, const char *fmt, ...)
{
    va_list ap;
    fpath_write(warnings, at);
    (void)buf_add_cstr(warnings, ": ");
    va_start(ap, fmt);
    (void)buf_vprintf(warnings, fmt, ap);
    va_end(ap);
    (void)buf_add_char(warnings, '\n');
}

/* ---- sets ---- */

struct sets_list {
    struct sched_config_plugin *p;
    size_t n;
};
struct set {
    struct sets_list enabled, disabled;
};

static bool has(const struct sets_list *l, struct str name)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->p[i].name, name))
            return true;
    return false;
}

static void add(struct sets_list *l, const struct sched_config_plugin *p)
{
    l->p[l->n] = *p;
    l->p[l->n].weight = p->weight ? p->weight : 1;
    l->n++;
}

static struct sets_list list_of(struct arena *a, size_t room)
{
    return (struct sets_list){ arena_new_n(a, struct sched_config_plugin, room + 1), 0 };
}

static int read_list(struct arena *a, const struct json *from, const struct fpath *at, bool enables,
                     struct sets_list *ret, struct buf *warnings, struct err *err)
{
    size_t i = 0;
    if (from && from->n > SCHED_CONFIG_MAX_PLUGINS)
        return err_set(err, E_LIMIT, STR_FMT ": more than %d plugins", STR_ARG(fpath_text(a, at)),
                       SCHED_CONFIG_MAX_PLUGINS);
    *ret = list_of(a, from ? from->n : 0);
    json_each (item, from) {
        struct fpath here = fpath_index(at, i++);
        struct sched_config_plugin p = { json_get_str(item, "name"),
                                         (int32_t)config_int(item, "weight"), true };
        const char *missing = config_missing_plugin(p.name);
        if (enables && missing)
            config_warn(warnings, &here, "plugin " STR_FMT " is left out: %s", STR_ARG(p.name),
                        missing);
        else
            add(ret, &p);
    }
    return 0;
}

static int read_set(struct arena *a, const struct json *plugins, const struct fpath *at,
                    const char *name, struct set *ret, struct buf *warnings, struct err *err)
{
    const struct json *set = json_getc(plugins, name);
    struct fpath here = fpath_child(at, str_of(name));
    struct fpath on = fpath_child(&here, STR("enabled")), off = fpath_child(&here, STR("disabled"));
    int r = read_list(a, json_getc(set, "enabled"), &on, true, &ret->enabled, warnings, err);
    return r < 0 ? r
                 : read_list(a, json_getc(set, "disabled"), &off, false, &ret->disabled, warnings,
                             err);
}

/* The last entry of that name: of duplicates, the last one replaces a default. */
static size_t find_last(const struct sets_list *l, struct str name)
{
    size_t i = l->n;
    while (i > 0 && !str_eq(l->p[i - 1].name, name))
        i--;
    return i ? i - 1 : SIZE_MAX;
}

/* The defaults that are not disabled, replaced if configured, then the additional plugins. */
static struct sets_list merge(struct arena *a, const struct set *custom)
{
    struct sets_list ret = list_of(a, ARRAY_LEN(defaults) + custom->enabled.n);
    bool *used = arena_new_n(a, bool, custom->enabled.n + 1);
    bool no_defaults = has(&custom->disabled, STR("*"));
    for (size_t i = 0; i < ARRAY_LEN(defaults) && !no_defaults; i++) {
        struct sched_config_plugin p = { str_of(defaults[i].name), defaults[i].weight, false };
        size_t instead = find_last(&custom->enabled, p.name);
        if (has(&custom->disabled, p.name))
            continue;
        if (instead != SIZE_MAX)
            used[instead] = true;
        add(&ret, instead == SIZE_MAX ? &p : &custom->enabled.p[instead]);
    }
    for (size_t i = 0; i < custom->enabled.n; i++)
        if (!used[i])
            add(&ret, &custom->enabled.p[i]);
    for (size_t i = 0; i < ret.n; i++)
        ret.p[i].is_explicit = false;
    return ret;
}

/* Is it a plugin of multiPoint that the point configures itself? */
static bool is_override(const struct set *point, const struct sets_list *multi, struct str name)
{
    return has(multi, name) && !has(&point->disabled, name);
}

/*
 * First the plugins of multiPoint that the point also names, in the point's order; then the rest of
 * multiPoint; then the rest of the point.
 */
static struct sets_list expand(struct arena *a, const struct set *point,
                               const struct sets_list *multi)
{
    struct sets_list ret = list_of(a, point->enabled.n + multi->n);
    if (multi->n == 0 || has(&point->disabled, STR("*")))
        return point->enabled;
    for (size_t i = 0; i < point->enabled.n; i++)
        if (is_override(point, multi, point->enabled.p[i].name))
            add(&ret, &point->enabled.p[i]);
    for (size_t i = 0; i < multi->n; i++)
        if (!has(&point->disabled, multi->p[i].name) && !has(&point->enabled, multi->p[i].name))
            add(&ret, &multi->p[i]);
    for (size_t i = 0; i < point->enabled.n; i++)
        if (!is_override(point, multi, point->enabled.p[i].name))
            add(&ret, &point->enabled.p[i]);
    return ret;
}

static void warn_of_other_points(const struct json *plugins, const struct fpath *at,
                                 struct buf *warnings)
{
    for (const char *const *p = config_other_points; *p; p++) {
        struct fpath here = fpath_child(at, str_of(*p));
        if (json_getc(plugins, *p))
            config_warn(warnings, &here, "has no effect: groups of pods are not supported");
    }
}

int config_expand(struct arena *a, const struct json *plugins, const struct fpath *at,
                  struct sched_config_profile *ret, struct buf *warnings, struct err *err)
{
    struct set custom;
    int r = read_set(a, plugins, at, "multiPoint", &custom, warnings, err);
    if (r < 0)
        return r;
    struct sets_list multi = merge(a, &custom);
    ret->multi_point = (struct sched_config_set){ multi.p, multi.n };
    for (size_t i = 0; i < SCHED_CONFIG_POINTS; i++) {
        struct set point;
        r = read_set(a, plugins, at, config_points[i], &point, warnings, err);
        if (r < 0)
            return r;
        struct sets_list all = expand(a, &point, &multi);
        ret->at[i] = (struct sched_config_set){ all.p, all.n };
    }
    warn_of_other_points(plugins, at, warnings);
    return 0;
}
