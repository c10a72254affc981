/* SPDX-License-Identifier: Apache-2.0 */
/* Validates a configuration with its defaults; texts and paths are upstream's. */
#include "base/mem.h"
#include "kube/model/duration.h"
#include "kube/model/meta.h"
#include "sched/config/internal.h"

static void bad_int(struct field_errors *errs, const struct fpath *up, const char *key, int64_t v,
                    const char *text)
{
    struct fpath at = fpath_child(up, str_of(key));
    field_error(errs, FIELD_INVALID, &at, json_new_int(errs->a, v), "%s", text);
}

/* ---- leader election ---- */

static void bad_duration(struct field_errors *errs, const struct fpath *up, const char *key,
                         int64_t ns, const char *text)
{
    struct fpath at = fpath_child(up, str_of(key));
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64);
    duration_print(&b, ns);
    field_error_str(errs, FIELD_INVALID, &at, buf_str(&b), "%s", text);
}

static void validate_leader(const struct json *leader, struct field_errors *errs)
{
    static const char *const durations[] = { "leaseDuration", "renewDeadline", "retryPeriod" };
    struct fpath at = fpath_child(NULL, STR("leaderElection"));
    struct fpath lock = fpath_child(&at, STR("resourceLock"));
    if (!json_bool(json_getc(leader, "leaderElect")))
        return;
    for (size_t i = 0; i < ARRAY_LEN(durations); i++)
        if (config_ns(leader, durations[i]) <= 0)
            bad_duration(errs, &at, durations[i], config_ns(leader, durations[i]),
                         "must be greater than zero");
    int64_t deadline = config_ns(leader, "renewDeadline");
    if (config_ns(leader, "leaseDuration") <= deadline)
        bad_duration(errs, &at, "leaseDuration", deadline, "must be greater than `RenewDeadline`");
    if (!str_is(json_get_str(leader, "resourceLock"), "leases"))
        field_error(errs, FIELD_INVALID, &lock, json_getc(leader, "resourceLock"),
                    "resourceLock value must be \"leases\"");
}

/* ---- profiles ---- */

static void validate_percentage(const struct json *obj, const struct fpath *at,
                                struct field_errors *errs)
{
    int64_t v = config_int(obj, "percentageOfNodesToScore");
    if (v < 0 || v > 100)
        bad_int(errs, at, "percentageOfNodesToScore", v, "not in valid range [0-100]");
}

/* Plugins that upstream has removed. */
static bool is_removed(struct str name)
{
    static const char *const names[] = { "AzureDiskLimits", "CinderLimits", "EBSLimits",
                                         "GCEPDLimits" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static void removed(struct field_errors *errs, const struct fpath *at, struct str name)
{
    field_error_str(errs, FIELD_INVALID, at, name,
                    "was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
                    "\"" SCHED_CONFIG_VERSION "\")");
}

static void validate_plugins(const struct json *plugins, const struct fpath *up,
                             struct field_errors *errs)
{
    struct fpath at = fpath_child(up, STR("plugins"));
    for (const char *const *point = config_points; *point; point++) {
        struct fpath set = fpath_child(&at, str_of(*point));
        struct fpath enabled = fpath_child(&set, STR("enabled"));
        size_t i = 0;
        json_each (p, json_path(plugins, *point, "enabled", NULL)) {
            struct fpath here = fpath_index(&enabled, i++);
            if (is_removed(json_get_str(p, "name")))
                removed(errs, &here, json_get_str(p, "name"));
        }
    }
}

static void validate_plugin_config(const struct json *list, const struct fpath *up,
                                   struct field_errors *errs)
{
    struct fpath at = fpath_child(up, STR("pluginConfig"));
    size_t i = 0;
    json_each (c, list) {
        struct fpath here = fpath_index(&at, i++), args = fpath_child(&here, STR("args"));
        struct str name = json_get_str(c, "name");
        for (const struct json *other = list->first; other != c; other = other->next) {
            if (!str_eq(json_get_str(other, "name"), name))
                continue;
            field_error_str(errs, FIELD_DUPLICATE, &here, name, "");
            break;
        }
        if (is_removed(name))
            removed(errs, &here, name);
        else
            config_args_validate(name, json_getc(c, "args"), &args, errs);
    }
}

static void validate_profile(const struct json *profiles, const struct json *profile,
                             const struct fpath *at, struct field_errors *errs)
{
    struct fpath name_at = fpath_child(at, STR("schedulerName"));
    struct str name = json_get_str(profile, "schedulerName");
    size_t i = 0, same = SIZE_MAX;
    if (!name.n)
        field_error(errs, FIELD_REQUIRED, &name_at, NULL, "");
    validate_percentage(profile, at, errs);
    validate_plugins(json_getc(profile, "plugins"), at, errs);
    validate_plugin_config(json_getc(profile, "pluginConfig"), at, errs);
    for (const struct json *p = profiles->first; p != profile; p = p->next, i++)
        if (str_eq(json_get_str(p, "schedulerName"), name))
            same = i;
    if (same != SIZE_MAX)
        field_error_str(errs, FIELD_DUPLICATE, &name_at,
                        str_of(arena_printf(errs->a, "profiles[%zu].schedulerName", same)), "");
}

/* ---- all profiles have one queue ---- */

static const struct json *queue_sort(const struct json *profile)
{
    return json_path(profile, "plugins", "queueSort", NULL);
}

/* A list in the form in which upstream prints its internal type. */
static struct json *internal_list(struct arena *a, const struct json *list)
{
    if (!json_first(list))
        return json_new_null(a);
    struct json *ret = json_new_array(a);
    json_each (p, list) {
        struct json *item = json_new_object(a);
        json_set_str(a, item, "Name", json_get_str(p, "name"));
        json_set_int(a, item, "Weight", config_int(p, "weight"));
        json_add(ret, item);
    }
    return ret;
}

static struct json *internal_set(struct arena *a, const struct json *set)
{
    struct json *ret = json_new_object(a);
    json_setc(a, ret, "Enabled", internal_list(a, json_getc(set, "enabled")));
    json_setc(a, ret, "Disabled", internal_list(a, json_getc(set, "disabled")));
    return ret;
}

static const struct json *args_of(const struct json *profile, struct str plugin)
{
    json_each (c, json_getc(profile, "pluginConfig"))
        if (str_eq(json_get_str(c, "name"), plugin))
            return json_getc(c, "args");
    return NULL;
}

static bool same_args(const struct json *x, const struct json *y)
{
    return x && y ? json_equal(x, y) : x == y;
}

static void validate_queue(const struct json *profiles, const struct fpath *at,
                           struct field_errors *errs)
{
    const struct json *first = profiles->first;
    const struct json *enabled = json_getc(queue_sort(first), "enabled");
    const struct json *canon = internal_set(errs->a, queue_sort(first));
    struct str name = json_get_str(json_first(enabled), "name");
    const struct json *args = name.n ? args_of(first, name) : NULL;
    size_t i = 0;
    if (enabled && enabled->n > 1) {
        struct fpath profile = fpath_index(at, 0), plugins = fpath_child(&profile, STR("plugins"));
        struct fpath set = fpath_child(&plugins, STR("queueSort"));
        bad_int(errs, &set, "Enabled", enabled->n, "only one queue sort plugin can be enabled");
    }
    for (const struct json *p = first->next; p; p = p->next) {
        struct fpath profile = fpath_index(at, ++i),
                     plugins = fpath_child(&profile, STR("plugins"));
        struct fpath set_at = fpath_child(&plugins, STR("queueSort"));
        struct fpath config = fpath_child(&profile, STR("pluginConfig"));
        struct fpath args_at = fpath_child(&config, STR("args"));
        struct json *set = internal_set(errs->a, queue_sort(p));
        if (!json_equal(canon, set))
            field_error(errs, FIELD_INVALID, &set_at, set, "must be the same for all profiles");
        const struct json *other = name.n ? args_of(p, name) : NULL;
        if (other && !same_args(args, other))
            field_error(errs, FIELD_INVALID, &args_at, other,
                        "queueSort must be the same for all profiles");
    }
}

/* ---- extenders ---- */

static bool is_extended_resource(struct arena *a, struct str name)
{
    bool is_native = str_find_char(name, '/') < 0 || str_find(name, STR("kubernetes.io/")) >= 0;
    if (is_native || str_has_prefix(name, STR("requests.")))
        return false;
    struct str quota = str_of(arena_printf(a, "requests." STR_FMT, STR_ARG(name)));
    return meta_check_qualified_name(quota).n == 0;
}

static bool is_managed_before(const struct json *extenders, const struct json *resource)
{
    json_each (e, extenders) {
        json_each (m, json_getc(e, "managedResources")) {
            if (m == resource)
                return false;
            if (str_eq(json_get_str(m, "name"), json_get_str(resource, "name")))
                return true;
        }
    }
    return false;
}

static void validate_managed(const struct json *extenders, const struct json *resource,
                             const struct fpath *up, struct field_errors *errs)
{
    struct fpath at = fpath_child(up, STR("name"));
    struct str name = json_get_str(resource, "name");
    struct meta_problems found = meta_check_qualified_name(name);
    for (size_t i = 0; i < found.n; i++)
        field_error_str(errs, FIELD_INVALID, &at, name, "%s", found.text[i]);
    if (!found.n && !is_extended_resource(errs->a, name))
        field_error_str(errs, FIELD_INVALID, &at, name, "is an invalid extended resource name");
    if (is_managed_before(extenders, resource))
        field_error_str(errs, FIELD_INVALID, &at, name, "duplicate extender managed resource name");
}

static void validate_extenders(const struct json *extenders, struct field_errors *errs)
{
    struct fpath at = fpath_child(NULL, STR("extenders"));
    size_t i = 0, binders = 0;
    json_each (e, extenders) {
        struct fpath here = fpath_index(&at, i++);
        struct fpath managed = fpath_child(&here, STR("managedResources"));
        int64_t weight = config_int(e, "weight");
        size_t j = 0;
        if (json_get_str(e, "prioritizeVerb").n && weight <= 0)
            bad_int(errs, &here, "weight", weight, "must have a positive weight applied to it");
        binders += json_get_str(e, "bindVerb").n > 0;
        json_each (m, json_getc(e, "managedResources")) {
            struct fpath resource = fpath_index(&managed, j++);
            validate_managed(extenders, m, &resource, errs);
        }
    }
    if (binders > 1)
        field_error_str(
            errs, FIELD_INVALID, &at,
            str_of(arena_printf(errs->a, "found %zu extenders implementing bind", binders)),
            "only one extender can implement bind");
}

/* ---- */

void config_validate(struct arena *a, const struct json *root, struct field_errors *errs)
{
    const struct json *profiles = json_getc(root, "profiles");
    const struct json *client = json_getc(root, "clientConnection");
    struct fpath client_at = fpath_child(NULL, STR("clientConnection"));
    struct fpath profiles_at = fpath_child(NULL, STR("profiles"));
    int64_t first = config_int(root, "podInitialBackoffSeconds");
    int64_t max = config_int(root, "podMaxBackoffSeconds");
    size_t i = 0;
    if (config_int(client, "burst") < 0)
        bad_int(errs, &client_at, "burst", config_int(client, "burst"), "must be non-negative");
    validate_leader(json_getc(root, "leaderElection"), errs);
    if (config_int(root, "parallelism") <= 0)
        bad_int(errs, NULL, "parallelism", config_int(root, "parallelism"),
                "should be an integer value greater than zero");
    json_each (p, profiles) {
        struct fpath here = fpath_index(&profiles_at, i++);
        validate_profile(profiles, p, &here, errs);
    }
    validate_queue(profiles, &profiles_at, errs);
    validate_percentage(root, NULL, errs);
    if (first <= 0)
        bad_int(errs, NULL, "podInitialBackoffSeconds", first, "must be greater than 0");
    if (max < first)
        bad_int(errs, NULL, "podMaxBackoffSeconds", max,
                "must be greater than or equal to PodInitialBackoffSeconds");
    validate_extenders(json_getc(root, "extenders"), errs);
}
