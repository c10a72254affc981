/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to struct sched_config: parse, check the envelope, check fields (decode.c) and the
 * arguments of native plugins, fill in defaults, validate, expand plugins over the points.
 * Positions refer to the text; a value from a default has the position of its parent.
 */
#include "sched/config/config.h"

#include "base/mem.h"
#include "sched/config/internal.h"

#include <errno.h>

struct config_reader {
    struct arena *a;
    struct yaml_marks marks;
    struct json *root;
    bool is_json;
    struct config_decoder decoder;
    struct buf *warnings;
    struct err *err;
    struct str repeated[CONFIG_MAX_STRICT]; /* paths */
    size_t n_repeated;
};

/* ---- positions ---- */

/* One step of "a.b[3]": advances *path. */
static const struct json *step(const struct json *v, struct str *path)
{
    if (path->n && path->p[0] == '.')
        *path = str_slice(*path, 1, path->n);
    if (path->n && path->p[0] == '[') {
        ptrdiff_t end = str_find_char(*path, ']');
        uint64_t i;
        if (end < 0 || parse_u64(str_slice(*path, 1, (size_t)end), 0, UINT32_MAX, &i) < 0)
            return NULL;
        *path = str_slice(*path, (size_t)end + 1, path->n);
        const struct json *item = v->type == JSON_ARRAY ? json_first(v) : NULL;
        while (item && i--)
            item = item->next;
        return item;
    }
    size_t n = 0;
    while (n < path->n && path->p[n] != '.' && path->p[n] != '[')
        n++;
    struct str key = str_slice(*path, 0, n);
    *path = str_slice(*path, n, path->n);
    return json_get(v, key);
}

/* The node at a path, or its last ancestor that occurs in the text. */
static const struct json *find(const struct config_reader *rd, struct str path)
{
    const struct json *v = rd->root, *last = NULL;
    while (v && path.n) {
        v = step(v, &path);
        if (v && yaml_find_mark(&rd->marks, v))
            last = v;
    }
    return last;
}

static int fail(struct config_reader *rd, const struct json *at, const char *text)
{
    return yaml_err(rd->err, E_INVALID, &rd->marks, at, "%s", text);
}

/* ---- text ---- */

static void on_duplicate(void *arg, struct str path)
{
    struct config_reader *rd = arg;
    if (rd->n_repeated < CONFIG_MAX_STRICT)
        rd->repeated[rd->n_repeated++] = str_copy_arena(rd->a, path);
}

static int parse(struct config_reader *rd, struct str text)
{
    struct yaml_opts yaml = {
        .on_duplicate = on_duplicate, .arg = rd, .first_only = true, .marks = &rd->marks
    };
    struct json_parse_opts json = { .on_duplicate = on_duplicate, .arg = rd };
    struct err why = { 0 };
    if (text.n > SCHED_CONFIG_MAX_BYTES)
        return err_set(rd->err, -EMSGSIZE, "the configuration is longer than %d bytes",
                       SCHED_CONFIG_MAX_BYTES);
    struct str head = str_trim(text);
    rd->is_json = head.n && head.p[0] == '{';
    int r = yaml_parse(rd->a, text, &yaml, &rd->root, rd->is_json ? &why : rd->err);
    if (r < 0 && rd->is_json) { /* JSON allows what YAML does not: tabs as indentation */
        yaml_marks_fini(&rd->marks);
        rd->n_repeated = 0;
        struct str kept = str_copy_arena(rd->a, text);
        if (json_parse(rd->a, kept, &json, &rd->root, NULL) == 0)
            return 0;
        return err_set(rd->err, r, "%s", err_text(&why)); /* it contains line and column */
    }
    return r;
}

/* ---- envelope ---- */

#define SCHEME "pkg/runtime/scheme.go:111" /* as upstream's binary prints */
#define META_STRUCT                                                                                \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "                           \
    "Kind string \"json:\\\"kind,omitempty\\\"\" }"

/* The apiVersion and kind of v; empty if absent. Errors: upstream's text after `prefix`. */
static int read_meta(struct config_reader *rd, const struct json *v, const char *prefix,
                     struct str *ret_version, struct str *ret_kind)
{
    static const char no_kind[] = "couldn't get version/kind; json parse error: json: cannot "
                                  "unmarshal";
    const struct json *version = json_getc(v, "apiVersion"), *kind = json_getc(v, "kind");
    struct str head, tail;
    if (v->type != JSON_OBJECT && v->type != JSON_NULL)
        return fail(rd, v,
                    arena_printf(rd->a, "%s%s %s into Go value of type " META_STRUCT, prefix,
                                 no_kind, field_go_kind(v)));
    const struct json *both[] = { version, kind };
    for (size_t i = 0; i < ARRAY_LEN(both); i++)
        if (both[i] && both[i]->type != JSON_STRING && both[i]->type != JSON_NULL)
            return fail(rd, both[i],
                        arena_printf(rd->a, "%s%s %s into Go struct field .%s of type string",
                                     prefix, no_kind, field_go_kind(both[i]),
                                     i ? "kind" : "apiVersion"));
    *ret_version = json_str(version);
    *ret_kind = json_str(kind);
    if (str_cut(*ret_version, '/', &head, &tail) && str_find_char(tail, '/') >= 0)
        return fail(rd, version,
                    arena_printf(rd->a, "%sunexpected GroupVersion string: " STR_FMT, prefix,
                                 STR_ARG(*ret_version)));
    return 0;
}

static char *not_registered(struct arena *a, struct str version, struct str kind)
{
    return arena_printf(a,
                        "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                        "\" in scheme \"" SCHEME "\"",
                        STR_ARG(kind), STR_ARG(version));
}

static bool is_args_kind(struct str kind)
{
    return str_has_suffix(kind, STR("Args")) && config_args_of(str_slice(kind, 0, kind.n - 4));
}

static int check_envelope(struct config_reader *rd, struct str text)
{
    struct str version, kind;
    const struct json *v = rd->root;
    int r = read_meta(rd, v, "", &version, &kind);
    if (r < 0)
        return r;
    if (!kind.n || !version.n)
        return fail(rd, NULL,
                    arena_printf(rd->a, "Object '%s' is missing in '" STR_FMT "'",
                                 kind.n ? "apiVersion" : "Kind", STR_ARG(str_trim(text))));
    bool is_ours = str_is(version, SCHED_CONFIG_VERSION);
    if (is_ours && is_args_kind(kind))
        return fail(
            rd, json_getc(v, "kind"),
            arena_printf(rd->a,
                         "couldn't decode as KubeSchedulerConfiguration, got " SCHED_CONFIG_VERSION
                         ", Kind=" STR_FMT,
                         STR_ARG(kind)));
    if (!is_ours || !str_is(kind, "KubeSchedulerConfiguration"))
        return fail(rd, json_getc(v, is_ours ? "kind" : "apiVersion"),
                    not_registered(rd->a, version, kind));
    return 0;
}

/* ---- fields ---- */

static bool is_in_args(struct str path)
{
    return str_has_prefix(path, STR("profiles[")) && str_find(path, STR("].args.")) >= 0;
}

static void add_repeated(struct config_reader *rd, struct buf *to, const struct json **ret_first)
{
    for (size_t i = 0; i < rd->n_repeated; i++) {
        struct str path = rd->repeated[i];
        size_t from = path.n;
        while (from > 0 && path.p[from - 1] != '.')
            from--;
        if (!*ret_first)
            *ret_first = find(rd, path);
        (void)buf_add_cstr(to, to->n ? ", " : "");
        if (rd->is_json && !is_in_args(path))
            (void)buf_printf(to, "duplicate field \"" STR_FMT "\"", STR_ARG(path));
        else
            (void)buf_printf(to, "key \"" STR_FMT "\" already set in map",
                             STR_ARG(str_slice(path, from, path.n)));
    }
}

static void add_strict(const struct config_decoder *d, struct buf *to,
                       const struct json **ret_first)
{
    for (size_t i = 0; i < d->n_strict; i++) {
        if (!*ret_first)
            *ret_first = d->strict[i].node;
        (void)buf_printf(to, "%s" STR_FMT, i ? ", " : "", STR_ARG(d->strict[i].text));
    }
    if (d->n_more)
        (void)buf_printf(to, ", and %zu more", d->n_more);
}

static struct config_decoder decoder_of(struct config_reader *rd)
{
    return (struct config_decoder){ .a = rd->a, .marks = &rd->marks, .is_sorted = !rd->is_json };
}

/* Decodes one plugin's arguments in one profile. strict: collects unknown fields. */
static int decode_args(struct config_reader *rd, struct json *config, size_t profile, size_t i,
                       struct buf *strict, const struct json **ret_first)
{
    struct str name = json_get_str(config, "name"), version, kind;
    const struct config_struct *fields = config_args_of(name);
    struct config_decoder d = decoder_of(rd);
    struct err err = { 0 };
    if (!fields)
        return 0;
    const char *prefix =
        arena_printf(rd->a, "decoding .profiles[%zu].pluginConfig[%zu]", profile, i);
    const char *decoding =
        arena_printf(rd->a, "%s: decoding args for plugin " STR_FMT ": ", prefix, STR_ARG(name));
    struct json *args = json_getc(config, "args");
    if (!args)
        args = json_obj(rd->a, config, "args");
    int r = read_meta(rd, args, decoding, &version, &kind);
    if (r < 0)
        return r;
    if (!kind.n)
        kind = str_of(fields->go);
    if (!version.n)
        version = STR(SCHED_CONFIG_VERSION);
    bool is_whole = str_is(kind, "KubeSchedulerConfiguration");
    if (!str_is(version, SCHED_CONFIG_VERSION) || (!is_args_kind(kind) && !is_whole))
        return fail(rd, args,
                    arena_printf(rd->a, "%s: decoding args for plugin " STR_FMT ": %s", prefix,
                                 STR_ARG(name), not_registered(rd->a, version, kind)));
    if (!str_is(kind, fields->go))
        return fail(rd, args,
                    arena_printf(rd->a,
                                 "%s: args for plugin " STR_FMT
                                 " were not of type %s." SCHED_CONFIG_GROUP ", got " STR_FMT
                                 "." SCHED_CONFIG_GROUP,
                                 prefix, STR_ARG(name), fields->go, STR_ARG(kind)));
    d.marks = NULL;
    r = config_decode(&d, fields, args, &err);
    if (r < 0)
        return fail(rd, args,
                    arena_printf(rd->a, "%s: decoding args for plugin " STR_FMT ": %s", prefix,
                                 STR_ARG(name), err_text(&err)));
    (void)json_del(args, STR("apiVersion"));
    (void)json_del(args, STR("kind"));
    if (!d.n_strict)
        return 0;
    (void)buf_printf(strict,
                     "%s%s: strict decoding error: decoding args for plugin " STR_FMT
                     ": strict decoding error: ",
                     strict->n ? ", " : "", prefix, STR_ARG(name));
    add_strict(&d, strict, ret_first);
    return 0;
}

static int decode(struct config_reader *rd)
{
    scoped(buf_fini_scoped) struct buf strict = BUF_INIT(64 << 10);
    const struct json *first = NULL;
    size_t profile = 0;
    struct config_decoder d = decoder_of(rd);
    int r = config_decode(&d, &config_root, rd->root, rd->err);
    if (r < 0)
        return r;
    add_strict(&d, &strict, &first);
    add_repeated(rd, &strict, &first);
    json_each (p, json_getc(rd->root, "profiles")) {
        size_t i = 0;
        json_each (c, json_getc(p, "pluginConfig")) {
            r = decode_args(rd, c, profile, i++, &strict, &first);
            if (r < 0)
                return r;
        }
        profile++;
    }
    if (!strict.n)
        return 0;
    return fail(rd, first, arena_printf(rd->a, "strict decoding error: %s", buf_cstr(&strict)));
}

/* ---- limits ---- */

static int check_list(struct config_reader *rd, const struct json *obj, const char *key,
                      uint32_t max)
{
    const struct json *list = json_getc(obj, key);
    if (!list || list->n <= max)
        return 0;
    return yaml_err(rd->err, E_LIMIT, &rd->marks, list, "%s: more than %u", key, max);
}

static int check_args(struct config_reader *rd, const struct json *v)
{
    if (v->type == JSON_ARRAY && v->n > SCHED_CONFIG_MAX_RESOURCES)
        return yaml_err(rd->err, E_LIMIT, &rd->marks, v, STR_FMT ": more than %d", STR_ARG(v->key),
                        SCHED_CONFIG_MAX_RESOURCES);
    json_each (c, v) {
        int r = check_args(rd, c);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_limits(struct config_reader *rd)
{
    int r = check_list(rd, rd->root, "profiles", SCHED_CONFIG_MAX_PROFILES);
    r = r < 0 ? r : check_list(rd, rd->root, "extenders", SCHED_CONFIG_MAX_EXTENDERS);
    json_each (e, json_getc(rd->root, "extenders"))
        r = r < 0 ? r : check_list(rd, e, "managedResources", SCHED_CONFIG_MAX_RESOURCES);
    json_each (p, json_getc(rd->root, "profiles")) {
        r = r < 0 ? r : check_list(rd, p, "pluginConfig", SCHED_CONFIG_MAX_PLUGINS);
        json_each (c, json_getc(p, "pluginConfig"))
            if (r == 0 && config_args_of(json_get_str(c, "name")))
                r = check_args(rd, json_getc(c, "args"));
    }
    return r;
}

/* ---- defaults ---- */

static void default_int(struct arena *a, struct json *obj, const char *key, int64_t v)
{
    if (!json_getc(obj, key))
        json_set_int(a, obj, key, v);
}

static void default_str(struct arena *a, struct json *obj, const char *key, const char *v)
{
    if (!json_get_str(obj, key).n)
        json_set_str(a, obj, key, str_of(v));
}

static void default_duration(struct arena *a, struct json *obj, const char *key, const char *v)
{
    if (config_ns(obj, key) == 0)
        json_set_str(a, obj, key, str_of(v));
}

static void default_profiles(struct arena *a, struct json *root)
{
    struct json *profiles = json_getc(root, "profiles");
    if (!profiles) {
        profiles = json_new_array(a);
        json_setc(a, root, "profiles", profiles);
    }
    if (!profiles->n)
        json_add(profiles, json_new_object(a));
    if (profiles->n == 1 && !json_getc(profiles->first, "schedulerName"))
        json_set_str(a, profiles->first, "schedulerName", STR("default-scheduler"));
    json_each (p, profiles)
        json_each (c, json_getc(p, "pluginConfig"))
            if (config_args_of(json_get_str(c, "name")))
                config_args_default(a, json_get_str(c, "name"), json_obj(a, c, "args"));
}

static void set_defaults(struct arena *a, struct json *root)
{
    struct json *leader = json_obj(a, root, "leaderElection");
    struct json *client = json_obj(a, root, "clientConnection");
    double qps = 0;
    default_int(a, root, "parallelism", 16);
    default_profiles(a, root);
    default_int(a, root, "percentageOfNodesToScore", 0);
    if (!json_getc(leader, "leaderElect"))
        json_set_bool(a, leader, "leaderElect", true);
    default_str(a, leader, "resourceLock", "leases");
    default_str(a, leader, "resourceNamespace", "kube-system");
    default_str(a, leader, "resourceName", "kube-scheduler");
    default_duration(a, leader, "leaseDuration", "15s");
    default_duration(a, leader, "renewDeadline", "10s");
    default_duration(a, leader, "retryPeriod", "2s");
    if (json_float(json_getc(client, "qps"), &qps) < 0 || qps == 0)
        json_set_int(a, client, "qps", 50);
    if (config_int(client, "burst") == 0)
        json_set_int(a, client, "burst", 100);
    default_int(a, root, "podInitialBackoffSeconds", 1);
    default_int(a, root, "podMaxBackoffSeconds", 10);
}

/* ---- warnings ---- */

static void warn_without_effect(struct config_reader *rd)
{
    static const char *const flags[] = { "enableProfiling", "enableContentionProfiling" };
    const struct json *client = json_getc(rd->root, "clientConnection");
    static const char *const media[] = { "acceptContentTypes", "contentType" };
    struct fpath up = fpath_child(NULL, STR("clientConnection")), at;
    at = fpath_child(NULL, STR("parallelism"));
    if (json_getc(rd->root, "parallelism"))
        config_warn(rd->warnings, &at, "has no effect: one thread looks at all nodes");
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        at = fpath_child(NULL, str_of(flags[i]));
        if (json_bool(json_getc(rd->root, flags[i])))
            config_warn(rd->warnings, &at, "has no effect: there are no Go profiles");
    }
    for (size_t i = 0; i < ARRAY_LEN(media); i++) {
        at = fpath_child(&up, str_of(media[i]));
        struct str v = json_get_str(client, media[i]);
        if (v.n && !str_is(v, "application/json"))
            config_warn(rd->warnings, &at, "has no effect: requests are JSON");
    }
    at = fpath_child(NULL, STR("delayCacheUntilActive"));
    if (json_bool(json_getc(rd->root, "delayCacheUntilActive")))
        config_warn(rd->warnings, &at,
                    "has no effect: a scheduler that does not lead keeps its cache");
}

static bool set_has(const struct sched_config_set *set, struct str name)
{
    for (size_t i = 0; i < set->n; i++)
        if (str_eq(set->p[i].name, name))
            return true;
    return false;
}

static bool is_enabled(const struct sched_config_profile *p, struct str name)
{
    for (size_t i = 0; i < SCHED_CONFIG_POINTS; i++)
        if (set_has(&p->at[i], name))
            return true;
    return set_has(&p->multi_point, name);
}

static void warn_of_args(struct config_reader *rd, const struct json *profile,
                         const struct sched_config_profile *p, const struct fpath *up)
{
    struct fpath list = fpath_child(up, STR("pluginConfig"));
    size_t i = 0;
    json_each (c, json_getc(profile, "pluginConfig")) {
        struct fpath at = fpath_index(&list, i++);
        struct str name = json_get_str(c, "name");
        const char *missing = config_missing_plugin(name);
        if (missing)
            config_warn(rd->warnings, &at, "arguments of " STR_FMT " have no effect: %s",
                        STR_ARG(name), missing);
        else if (!is_enabled(p, name))
            config_warn(rd->warnings, &at, "has no effect: " STR_FMT " is not enabled",
                        STR_ARG(name));
        else if (config_is_default_plugin(name) && !config_args_of(name))
            config_warn(rd->warnings, &at, "has no effect: " STR_FMT " takes no arguments",
                        STR_ARG(name));
    }
}

/* ---- the result ---- */

static void add_args(struct sched_config_profile *p, struct sched_config_args *args,
                     struct str name, const struct json *v)
{
    for (size_t i = 0; i < p->n_args; i++)
        if (str_eq(args[i].name, name))
            return;
    args[p->n_args++] = (struct sched_config_args){ name, v };
}

static void default_args(struct config_reader *rd, struct sched_config_profile *p,
                         struct sched_config_args *args, const struct sched_config_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        if (!config_args_of(set->p[i].name))
            continue;
        struct json *v = json_new_object(rd->a);
        config_args_default(rd->a, set->p[i].name, v);
        add_args(p, args, set->p[i].name, v);
    }
}

/* The configured arguments, and the defaults of native plugins that are enabled somewhere. */
static void fill_args(struct config_reader *rd, const struct json *profile,
                      struct sched_config_profile *p)
{
    const struct json *list = json_getc(profile, "pluginConfig");
    enum { NATIVE = 8 }; /* plugins with arguments; others occur at most once */
    struct sched_config_args *args =
        arena_new_n(rd->a, struct sched_config_args, (list ? list->n : 0) + NATIVE);
    p->args = args;
    json_each (c, list) {
        const struct json *v = json_getc(c, "args");
        if (!config_missing_plugin(json_get_str(c, "name")))
            add_args(p, args, json_get_str(c, "name"), json_is(v, JSON_NULL) ? NULL : v);
    }
    default_args(rd, p, args, &p->multi_point);
    for (size_t i = 0; i < SCHED_CONFIG_POINTS; i++)
        default_args(rd, p, args, &p->at[i]);
}

static int fill_profiles(struct config_reader *rd, struct sched_config *ret)
{
    const struct json *list = json_getc(rd->root, "profiles");
    struct sched_config_profile *p = arena_new_n(rd->a, struct sched_config_profile, list->n);
    struct fpath up = fpath_child(NULL, STR("profiles"));
    ret->profiles = p;
    json_each (profile, list) {
        struct fpath at = fpath_index(&up, ret->n_profiles++),
                     plugins = fpath_child(&at, STR("plugins"));
        const struct json *percentage = json_getc(profile, "percentageOfNodesToScore");
        p->scheduler_name = json_get_str(profile, "schedulerName");
        p->percentage = percentage ? (int32_t)json_int_or(percentage, 0) : ret->percentage;
        int r =
            config_expand(rd->a, json_getc(profile, "plugins"), &plugins, p, rd->warnings, rd->err);
        if (r < 0)
            return r;
        fill_args(rd, profile, p);
        warn_of_args(rd, profile, p++, &at);
    }
    return 0;
}

static void fill_extender(struct config_reader *rd, const struct json *e,
                          struct sched_config_extender *to)
{
    const struct json *tls = json_getc(e, "tlsConfig"), *list = json_getc(e, "managedResources");
    struct sched_config_managed *m =
        arena_new_n(rd->a, struct sched_config_managed, (list ? list->n : 0) + 1);
    int64_t ns = config_ns(e, "httpTimeout");
    *to = (struct sched_config_extender){
        .url_prefix = json_get_str(e, "urlPrefix"),
        .filter_verb = json_get_str(e, "filterVerb"),
        .preempt_verb = json_get_str(e, "preemptVerb"),
        .prioritize_verb = json_get_str(e, "prioritizeVerb"),
        .bind_verb = json_get_str(e, "bindVerb"),
        .weight = config_int(e, "weight"),
        .enable_https = json_bool(json_getc(e, "enableHTTPS")),
        .node_cache_capable = json_bool(json_getc(e, "nodeCacheCapable")),
        .is_ignorable = json_bool(json_getc(e, "ignorable")),
        .timeout_ms = ns <= 0 ? 5000 : MAX(1, (uint64_t)ns / 1000000),
        .server_name = json_get_str(tls, "serverName"),
        .cert_file = json_get_str(tls, "certFile"),
        .key_file = json_get_str(tls, "keyFile"),
        .ca_file = json_get_str(tls, "caFile"),
        .cert_data = json_get_str(tls, "certData"),
        .key_data = json_get_str(tls, "keyData"),
        .ca_data = json_get_str(tls, "caData"),
        .insecure = json_bool(json_getc(tls, "insecure")),
        .managed = m,
    };
    json_each (item, list)
        m[to->n_managed++] =
            (struct sched_config_managed){ json_get_str(item, "name"),
                                           json_bool(json_getc(item, "ignoredByScheduler")) };
}

/* Ignorable extenders are asked last. */
static void fill_extenders(struct config_reader *rd, struct sched_config *ret)
{
    const struct json *list = json_getc(rd->root, "extenders");
    struct sched_config_extender *to =
        arena_new_n(rd->a, struct sched_config_extender, (list ? list->n : 0) + 1);
    ret->extenders = to;
    for (int ignorable = 0; ignorable <= 1; ignorable++)
        json_each (e, list)
            if (json_bool(json_getc(e, "ignorable")) == ignorable)
                fill_extender(rd, e, &to[ret->n_extenders++]);
}

/*
 * Plugins ignore resources that only extenders manage: added to the arguments of NodeResourcesFit.
 */
static int ignore_resources(struct config_reader *rd, struct sched_config *ret)
{
    struct json *ignored = json_new_array(rd->a);
    for (size_t i = 0; i < ret->n_extenders; i++)
        for (size_t k = 0; k < ret->extenders[i].n_managed; k++)
            if (ret->extenders[i].managed[k].ignored_by_scheduler)
                json_add(ignored, json_new_str(rd->a, ret->extenders[i].managed[k].name));
    for (size_t i = 0; i < ret->n_profiles && ignored->n; i++) {
        const struct sched_config_profile *p = &ret->profiles[i];
        size_t at = 0;
        while (at < p->n_args && !str_is(p->args[at].name, "NodeResourcesFit"))
            at++;
        if (at == p->n_args)
            return err_set(rd->err, E_INVALID,
                           "couldn't build extenders: can't find "
                           "NodeResourcesFitArgs in plugin config");
        json_setc(rd->a, (struct json *)p->args[at].args, "ignoredResources",
                  json_clone(rd->a, ignored));
    }
    return 0;
}

static uint64_t ms_of(const struct json *obj, const char *key)
{
    int64_t ns = config_ns(obj, key);
    return ns <= 0 ? 0 : (uint64_t)ns / 1000000;
}

static int fill(struct config_reader *rd, struct sched_config *ret)
{
    const struct json *root = rd->root, *leader = json_getc(root, "leaderElection");
    const struct json *client = json_getc(root, "clientConnection");
    enum { SECONDS_MAX = INT32_MAX };
    ret->percentage = (int32_t)config_int(root, "percentageOfNodesToScore");
    ret->backoff_first_ms =
        (uint64_t)MIN(config_int(root, "podInitialBackoffSeconds"), SECONDS_MAX) * 1000;
    ret->backoff_max_ms =
        (uint64_t)MIN(config_int(root, "podMaxBackoffSeconds"), SECONDS_MAX) * 1000;
    ret->leader.on = json_bool(json_getc(leader, "leaderElect"));
    ret->leader.lease_ms = ms_of(leader, "leaseDuration");
    ret->leader.deadline_ms = ms_of(leader, "renewDeadline");
    ret->leader.retry_ms = ms_of(leader, "retryPeriod");
    ret->leader.name = json_get_str(leader, "resourceName");
    ret->leader.namespace = json_get_str(leader, "resourceNamespace");
    ret->kubeconfig = json_get_str(client, "kubeconfig");
    ret->burst = config_int(client, "burst");
    (void)json_float(json_getc(client, "qps"), &ret->qps);
    ret->limits_requests = yaml_find_mark(&rd->marks, json_getc(client, "qps")) != NULL;
    int r = fill_profiles(rd, ret);
    if (r < 0)
        return r;
    fill_extenders(rd, ret);
    return ignore_resources(rd, ret);
}

/* ---- */

static int read_all(struct config_reader *rd, struct str text, struct sched_config *ret)
{
    int r = parse(rd, text);
    r = r < 0 ? r : check_envelope(rd, text);
    if (r < 0)
        return r;
    const struct json *tree = json_clone(rd->a, rd->root);
    r = decode(rd);
    r = r < 0 ? r : check_limits(rd);
    if (r < 0)
        return r;
    warn_without_effect(rd);
    set_defaults(rd->a, rd->root);
    struct field_errors errs = field_errors_init(rd->a);
    config_validate(rd->a, rd->root, &errs);
    if (errs.n)
        return fail(rd, find(rd, errs.first->field),
                    str_dup_arena(rd->a, field_errors_text(&errs)));
    struct sched_config config = { .tree = tree };
    r = fill(rd, &config);
    if (r == 0)
        *ret = config;
    return r;
}

int sched_config_read(struct arena *a, struct str text, struct sched_config *ret,
                      struct buf *warnings, struct err *err)
{
    static const char defaults[] = "apiVersion: " SCHED_CONFIG_VERSION "\n"
                                   "kind: KubeSchedulerConfiguration\n";
    struct config_reader rd = { .a = a, .warnings = warnings, .err = err };
    int r = read_all(&rd, text.n ? text : str_of(defaults), ret);
    yaml_marks_fini(&rd.marks);
    return r;
}
