/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of KubeSchedulerConfiguration v1 as tables, and the check of a tree against them:
 * finds what upstream's strict decoder finds, with its text.
 */
#include "codec/base64.h"
#include "codec/json_sort.h"
#include "kube/model/duration.h"
#include "sched/config/internal.h"

/* clang-format off */
#define STRUCT(id, go_name, ...)                                                                   \
    static const struct config_field id##_fields[] = { __VA_ARGS__ };                              \
    static const struct config_struct id = { go_name, id##_fields, ARRAY_LEN(id##_fields) };
#define STRINGF(name)         { name, CONFIG_STRING, NULL, NULL }
#define NAMEDF(name, go)      { name, CONFIG_STRING, go, NULL }
#define BOOLF(name)           { name, CONFIG_BOOL, NULL, NULL }
#define INT32F(name)          { name, CONFIG_INT32, NULL, NULL }
#define INT64F(name)          { name, CONFIG_INT64, NULL, NULL }
#define DURATIONF(name)       { name, CONFIG_DURATION, NULL, NULL }
#define BYTESF(name)          { name, CONFIG_BYTES, NULL, NULL }
#define STRINGSF(name)        { name, CONFIG_STRINGS, NULL, NULL }
#define STRUCTF(name, go, of) { name, CONFIG_STRUCT, go, of }
#define LISTF(name, go, of)   { name, CONFIG_STRUCTS, go, of }
#define TYPE_META             STRINGF("apiVersion"), STRINGF("kind")

STRUCT(plugin, "Plugin", STRINGF("name"), INT32F("weight"))
STRUCT(plugin_set, "PluginSet",
       LISTF("enabled", "[]v1.Plugin", &plugin), LISTF("disabled", "[]v1.Plugin", &plugin))
#define SETF(name) STRUCTF(name, "v1.PluginSet", &plugin_set)
STRUCT(plugins, "Plugins",
       SETF("preEnqueue"), SETF("queueSort"), SETF("preFilter"), SETF("filter"),
       SETF("postFilter"), SETF("preScore"), SETF("score"), SETF("reserve"), SETF("permit"),
       SETF("preBind"), SETF("bind"), SETF("postBind"), SETF("multiPoint"),
       SETF("placementGenerate"), SETF("placementScore"))
STRUCT(plugin_config, "PluginConfig", STRINGF("name"), { "args", CONFIG_RAW, NULL, NULL })
STRUCT(profile, "KubeSchedulerProfile",
       STRINGF("schedulerName"), INT32F("percentageOfNodesToScore"),
       STRUCTF("plugins", "v1.Plugins", &plugins),
       LISTF("pluginConfig", "[]v1.PluginConfig", &plugin_config))
STRUCT(managed, "ExtenderManagedResource", STRINGF("name"), BOOLF("ignoredByScheduler"))
STRUCT(tls, "ExtenderTLSConfig",
       BOOLF("insecure"), STRINGF("serverName"), STRINGF("certFile"), STRINGF("keyFile"),
       STRINGF("caFile"), BYTESF("certData"), BYTESF("keyData"), BYTESF("caData"))
STRUCT(extender, "Extender",
       STRINGF("urlPrefix"), STRINGF("filterVerb"), STRINGF("preemptVerb"),
       STRINGF("prioritizeVerb"), INT64F("weight"), STRINGF("bindVerb"), BOOLF("enableHTTPS"),
       STRUCTF("tlsConfig", "v1.ExtenderTLSConfig", &tls), DURATIONF("httpTimeout"),
       BOOLF("nodeCacheCapable"),
       LISTF("managedResources", "[]v1.ExtenderManagedResource", &managed), BOOLF("ignorable"))
STRUCT(leader, "LeaderElectionConfiguration",
       BOOLF("leaderElect"), DURATIONF("leaseDuration"), DURATIONF("renewDeadline"),
       DURATIONF("retryPeriod"), STRINGF("resourceLock"), STRINGF("resourceName"),
       STRINGF("resourceNamespace"))
STRUCT(client, "ClientConnectionConfiguration",
       STRINGF("kubeconfig"), STRINGF("acceptContentTypes"), STRINGF("contentType"),
       { "qps", CONFIG_FLOAT32, NULL, NULL }, INT32F("burst"))
static const struct config_field root_fields[] = {
    TYPE_META,
    INT32F("parallelism"),
    STRUCTF("leaderElection", "v1alpha1.LeaderElectionConfiguration", &leader),
    STRUCTF("clientConnection", "v1alpha1.ClientConnectionConfiguration", &client),
    BOOLF("enableProfiling"), BOOLF("enableContentionProfiling"),
    INT32F("percentageOfNodesToScore"), INT64F("podInitialBackoffSeconds"),
    INT64F("podMaxBackoffSeconds"),
    LISTF("profiles", "[]v1.KubeSchedulerProfile", &profile),
    LISTF("extenders", "[]v1.Extender", &extender),
    BOOLF("delayCacheUntilActive"),
};
const struct config_struct config_root = {
    "KubeSchedulerConfiguration", root_fields, ARRAY_LEN(root_fields)
};

/* ---- arguments ---- */

STRUCT(preemption, "DefaultPreemptionArgs", TYPE_META,
       INT32F("minCandidateNodesPercentage"), INT32F("minCandidateNodesAbsolute"))
STRUCT(pod_affinity, "InterPodAffinityArgs", TYPE_META,
       INT32F("hardPodAffinityWeight"), BOOLF("ignorePreferredTermsOfExistingPods"))
STRUCT(point, "UtilizationShapePoint", INT32F("utilization"), INT32F("score"))
STRUCT(resource, "ResourceSpec", STRINGF("name"), INT64F("weight"))
STRUCT(ratio, "RequestedToCapacityRatioParam",
       LISTF("shape", "[]v1.UtilizationShapePoint", &point))
STRUCT(strategy, "ScoringStrategy",
       NAMEDF("type", "v1.ScoringStrategyType"), LISTF("resources", "[]v1.ResourceSpec", &resource),
       STRUCTF("requestedToCapacityRatio", "v1.RequestedToCapacityRatioParam", &ratio))
STRUCT(fit, "NodeResourcesFitArgs", TYPE_META,
       STRINGSF("ignoredResources"), STRINGSF("ignoredResourceGroups"),
       STRUCTF("scoringStrategy", "v1.ScoringStrategy", &strategy))
STRUCT(balanced, "NodeResourcesBalancedAllocationArgs", TYPE_META,
       LISTF("resources", "[]v1.ResourceSpec", &resource))
STRUCT(requirement, "LabelSelectorRequirement",
       STRINGF("key"), NAMEDF("operator", "v1.LabelSelectorOperator"), STRINGSF("values"))
STRUCT(selector, "LabelSelector",
       { "matchLabels", CONFIG_STRING_MAP, NULL, NULL },
       LISTF("matchExpressions", "[]v1.LabelSelectorRequirement", &requirement))
STRUCT(constraint, "TopologySpreadConstraint",
       INT32F("maxSkew"), STRINGF("topologyKey"),
       NAMEDF("whenUnsatisfiable", "v1.UnsatisfiableConstraintAction"),
       STRUCTF("labelSelector", "v1.LabelSelector", &selector), INT32F("minDomains"),
       NAMEDF("nodeAffinityPolicy", "v1.NodeInclusionPolicy"),
       NAMEDF("nodeTaintsPolicy", "v1.NodeInclusionPolicy"), STRINGSF("matchLabelKeys"))
STRUCT(spread, "PodTopologySpreadArgs", TYPE_META,
       LISTF("defaultConstraints", "[]v1.TopologySpreadConstraint", &constraint),
       NAMEDF("defaultingType", "v1.PodTopologySpreadConstraintsDefaulting"))
STRUCT(volume_binding, "VolumeBindingArgs", TYPE_META,
       INT64F("bindTimeoutSeconds"), LISTF("shape", "[]v1.UtilizationShapePoint", &point))
STRUCT(node_requirement, "NodeSelectorRequirement",
       STRINGF("key"), NAMEDF("operator", "v1.NodeSelectorOperator"), STRINGSF("values"))
STRUCT(term, "NodeSelectorTerm",
       LISTF("matchExpressions", "[]v1.NodeSelectorRequirement", &node_requirement),
       LISTF("matchFields", "[]v1.NodeSelectorRequirement", &node_requirement))
STRUCT(node_selector, "NodeSelector", LISTF("nodeSelectorTerms", "[]v1.NodeSelectorTerm", &term))
STRUCT(preferred, "PreferredSchedulingTerm",
       INT32F("weight"), STRUCTF("preference", "v1.NodeSelectorTerm", &term))
STRUCT(node_affinity, "NodeAffinity",
       STRUCTF("requiredDuringSchedulingIgnoredDuringExecution", "v1.NodeSelector", &node_selector),
       LISTF("preferredDuringSchedulingIgnoredDuringExecution", "[]v1.PreferredSchedulingTerm",
             &preferred))
STRUCT(affinity, "NodeAffinityArgs", TYPE_META,
       STRUCTF("addedAffinity", "v1.NodeAffinity", &node_affinity))
STRUCT(dynamic, "DynamicResourcesArgs", TYPE_META,
       DURATIONF("filterTimeout"), DURATIONF("bindingTimeout"))
/* clang-format on */

const struct config_struct *config_args_of(struct str name)
{
    static const struct config_struct *const all[] = { &preemption, &pod_affinity, &fit,
                                                       &balanced,   &spread,       &volume_binding,
                                                       &affinity,   &dynamic };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (str_eq(str_slice(str_of(all[i]->go), 0, strlen(all[i]->go) - strlen("Args")), name))
            return all[i];
    return NULL;
}

/* ---- checking ---- */

/* The decoder's position, for messages. */
struct decode_place {
    struct fpath path;
    const struct config_struct *in; /* the innermost struct */
};

static const char *go_type(const struct config_field *f)
{
    if (f->go)
        return f->go;
    switch (f->type) {
    case CONFIG_STRING:
    case CONFIG_DURATION: /* upstream decodes it into a string first */
        return "string";
    case CONFIG_BOOL:
        return "bool";
    case CONFIG_INT32:
        return "int32";
    case CONFIG_INT64:
        return "int64";
    case CONFIG_FLOAT32:
        return "float32";
    case CONFIG_BYTES:
        return "[]uint8";
    case CONFIG_STRINGS:
        return "[]string";
    case CONFIG_STRING_MAP:
        return "map[string]string";
    case CONFIG_RAW:
    case CONFIG_STRUCT:
    case CONFIG_STRUCTS:
        break;
    }
    return "";
}

/* "a.b", without the indexes. */
static void add_stack(struct buf *to, const struct fpath *at)
{
    if (!at)
        return;
    add_stack(to, at->up);
    if (at->kind != FPATH_CHILD)
        return;
    if (to->n)
        (void)buf_add_char(to, '.');
    (void)buf_add_str(to, at->name);
}

static int wrong_type(const struct config_decoder *d, const struct decode_place *at,
                      const struct json *v, const char *type, struct err *err)
{
    scoped(buf_fini_scoped) struct buf stack = BUF_INIT(4096);
    bool shows =
        v->type == JSON_NUMBER && (strcmp(type, "int32") == 0 || strcmp(type, "int64") == 0);
    add_stack(&stack, &at->path);
    return yaml_err(err, E_INVALID, d->marks, v,
                    "json: cannot unmarshal %s%s" STR_FMT " into Go struct field %s.%s of type %s",
                    field_go_kind(v), shows ? " " : "", STR_ARG(shows ? v->s : STR_NULL),
                    at->in->go, buf_cstr(&stack), type);
}

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

/* The error that Go reports first for a duration: a missing or unknown number or unit. */
static int check_duration(const struct config_decoder *d, const struct json *v, struct err *err)
{
    static const char *const units[] = {
        "ns", "us", "\xc2\xb5s", "\xce\xbcs", "ms", "s", "m", "h"
    };
    int64_t ns;
    if (duration_parse(v->s, &ns))
        return 0;
    size_t at = v->s.n && (v->s.p[0] == '-' || v->s.p[0] == '+');
    while (at < v->s.n && is_digit(v->s.p[at])) {
        while (at < v->s.n && is_digit(v->s.p[at]))
            at++;
        size_t from = at;
        while (at < v->s.n && !is_digit(v->s.p[at]))
            at++;
        struct str unit = str_slice(v->s, from, at);
        bool is_known = false;
        for (size_t i = 0; i < ARRAY_LEN(units); i++)
            is_known |= str_is(unit, units[i]);
        if (!unit.n)
            return yaml_err(err, E_INVALID, d->marks, v,
                            "time: missing unit in duration \"" STR_FMT "\"", STR_ARG(v->s));
        if (!is_known)
            return yaml_err(err, E_INVALID, d->marks, v,
                            "time: unknown unit \"" STR_FMT "\" in duration \"" STR_FMT "\"",
                            STR_ARG(unit), STR_ARG(v->s));
    }
    return yaml_err(err, E_INVALID, d->marks, v, "time: invalid duration \"" STR_FMT "\"",
                    STR_ARG(v->s));
}

static bool is_base64(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '\r' || c == '\n';
}

static int check_bytes(const struct config_decoder *d, struct json *v, struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(v->s.n + 4);
    size_t at = 0;
    if (base64_decode(&bytes, v->s, BASE64_LENIENT) < 0) {
        while (at < v->s.n && is_base64(v->s.p[at]))
            at++;
        return yaml_err(err, E_INVALID, d->marks, v, "illegal base64 data at input byte %zu", at);
    }
    v->s = str_copy_arena(d->a, buf_str(&bytes));
    return 0;
}

static int check_scalar(struct config_decoder *d, const struct config_field *f, struct json *v,
                        const struct decode_place *at, struct err *err)
{
    int64_t n = 0;
    bool ok = true;
    switch (f->type) {
    case CONFIG_BOOL:
        ok = json_is_bool(v);
        break;
    case CONFIG_INT32:
    case CONFIG_INT64:
        ok = v->type == JSON_NUMBER && json_int(v, &n) == 0 &&
             (f->type == CONFIG_INT64 || (n >= INT32_MIN && n <= INT32_MAX));
        break;
    case CONFIG_FLOAT32:
        ok = v->type == JSON_NUMBER;
        break;
    case CONFIG_RAW:
        break;
    case CONFIG_STRING:
    case CONFIG_DURATION:
    case CONFIG_BYTES:
    case CONFIG_STRUCT:
    case CONFIG_STRUCTS:
    case CONFIG_STRINGS:
    case CONFIG_STRING_MAP:
        ok = v->type == JSON_STRING;
        break;
    }
    if (!ok)
        return wrong_type(d, at, v, go_type(f), err);
    if (f->type == CONFIG_DURATION)
        return check_duration(d, v, err);
    return f->type == CONFIG_BYTES ? check_bytes(d, v, err) : 0;
}

static void unknown_field(struct config_decoder *d, const struct fpath *at, const struct json *v)
{
    if (d->n_strict == CONFIG_MAX_STRICT) {
        d->n_more++;
        return;
    }
    if (!d->strict)
        d->strict = arena_new_n(d->a, struct config_strict, CONFIG_MAX_STRICT);
    struct str path = fpath_text(d->a, at);
    d->strict[d->n_strict++] = (struct config_strict){
        str_of(arena_printf(d->a, "unknown field \"" STR_FMT "\"", STR_ARG(path))), v
    };
}

static int decode_struct(struct config_decoder *d, const struct config_struct *s, struct json *v,
                         const struct fpath *at, struct err *err);

/* Null elements are zero values. */
static void zero_null(struct json *v, enum json_type type)
{
    if (v->type != JSON_NULL)
        return;
    v->type = type;
    if (type == JSON_STRING)
        v->s = STR("");
    else
        (void)json_take_children(v);
}

static int decode_list(struct config_decoder *d, const struct config_field *f, struct json *v,
                       const struct decode_place *at, struct err *err)
{
    size_t i = 0;
    int r = 0;
    if (v->type != JSON_ARRAY)
        return wrong_type(d, at, v, go_type(f), err);
    json_each (item, v) {
        struct decode_place here = { fpath_index(&at->path, i++), at->in };
        zero_null(item, f->type == CONFIG_STRUCTS ? JSON_OBJECT : JSON_STRING);
        if (f->type == CONFIG_STRINGS)
            r = item->type == JSON_STRING ? 0 : wrong_type(d, at, item, "string", err);
        else if (item->type == JSON_OBJECT)
            r = decode_struct(d, f->of, item, &here.path, err);
        else
            r = wrong_type(d, at, item, go_type(f) + 2, err); /* after the "[]" */
        if (r < 0)
            return r;
    }
    return 0;
}

static int decode_map(struct config_decoder *d, const struct config_field *f, struct json *v,
                      const struct decode_place *at, struct err *err)
{
    if (v->type != JSON_OBJECT)
        return wrong_type(d, at, v, go_type(f), err);
    json_each (item, v) {
        zero_null(item, JSON_STRING);
        if (item->type != JSON_STRING)
            return wrong_type(d, at, item, "string", err);
    }
    return 0;
}

static int decode_value(struct config_decoder *d, const struct config_field *f, struct json *v,
                        const struct decode_place *at, struct err *err)
{
    switch (f->type) {
    case CONFIG_STRUCT:
        return v->type == JSON_OBJECT ? decode_struct(d, f->of, v, &at->path, err)
                                      : wrong_type(d, at, v, go_type(f), err);
    case CONFIG_STRUCTS:
    case CONFIG_STRINGS:
        return decode_list(d, f, v, at, err);
    case CONFIG_STRING_MAP:
        return decode_map(d, f, v, at, err);
    case CONFIG_STRING:
    case CONFIG_BOOL:
    case CONFIG_INT32:
    case CONFIG_INT64:
    case CONFIG_FLOAT32:
    case CONFIG_DURATION:
    case CONFIG_BYTES:
    case CONFIG_RAW:
        break;
    }
    return check_scalar(d, f, v, at, err);
}

static const struct config_field *find_field(const struct config_struct *s, struct str name)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_is(name, s->fields[i].name))
            return &s->fields[i];
    return NULL;
}

static const struct json **members(const struct json *obj, bool is_sorted)
{
    if (is_sorted)
        return json_sorted_members(obj);
    const struct json **list = xnew_n(const struct json *, obj->n + 1);
    size_t n = 0;
    json_each (c, obj)
        list[n++] = c;
    return list;
}

static int decode_struct(struct config_decoder *d, const struct config_struct *s, struct json *v,
                         const struct fpath *at, struct err *err)
{
    uint32_t n = v->n;
    scoped(free_scoped) const struct json **list = members(v, d->is_sorted);
    for (uint32_t i = 0; i < n; i++) {
        struct json *item = (struct json *)list[i];
        const struct config_field *f = find_field(s, item->key);
        struct decode_place here = { fpath_child(at, item->key), s };
        if (!f) {
            unknown_field(d, &here.path, item);
        } else if (item->type == JSON_NULL) {
            (void)json_remove(v, item);
        } else {
            int r = decode_value(d, f, item, &here, err);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

int config_decode(struct config_decoder *d, const struct config_struct *s, struct json *v,
                  struct err *err)
{
    return decode_struct(d, s, v, NULL, err);
}

int64_t config_int(const struct json *obj, const char *key)
{
    return json_int_or(json_getc(obj, key), 0);
}

int64_t config_ns(const struct json *obj, const char *key)
{
    int64_t ns = 0;
    (void)duration_parse(json_get_str(obj, key), &ns);
    return ns;
}
