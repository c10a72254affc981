/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of native plugins: defaults and validation. */
#include "base/mem.h"
#include "kube/model/meta.h"
#include "sched/config/internal.h"

/* ---- defaults ---- */

static void set_int(struct arena *a, struct json *obj, const char *key, int64_t v)
{
    if (!json_getc(obj, key))
        json_set_int(a, obj, key, v);
}

static void add_resource(struct arena *a, struct json *list, const char *name)
{
    struct json *item = json_new_object(a);
    json_set_str(a, item, "name", str_of(name));
    json_set_int(a, item, "weight", 1);
    json_add(list, item);
}

/* CPU and memory if no resource is named; a weight of 0 becomes 1. */
static void default_resources(struct arena *a, struct json *obj)
{
    struct json *list = json_getc(obj, "resources");
    if (!list || !list->n) {
        list = json_new_array(a);
        add_resource(a, list, "cpu");
        add_resource(a, list, "memory");
        json_setc(a, obj, "resources", list);
    }
    json_each (item, list)
        if (config_int(item, "weight") == 0)
            json_set_int(a, item, "weight", 1);
}

static void default_fit(struct arena *a, struct json *args)
{
    struct json *strategy = json_getc(args, "scoringStrategy");
    if (!strategy) {
        strategy = json_obj(a, args, "scoringStrategy");
        json_set_str(a, strategy, "type", STR("LeastAllocated"));
    }
    default_resources(a, strategy);
}

static void default_preemption(struct arena *a, struct json *args)
{
    set_int(a, args, "minCandidateNodesPercentage", 10);
    set_int(a, args, "minCandidateNodesAbsolute", 100);
}

static void default_pod_affinity(struct arena *a, struct json *args)
{
    set_int(a, args, "hardPodAffinityWeight", 1);
}

static void default_spread(struct arena *a, struct json *args)
{
    if (!json_get_str(args, "defaultingType").n)
        json_set_str(a, args, "defaultingType", STR("System"));
}

static void default_volume_binding(struct arena *a, struct json *args)
{
    set_int(a, args, "bindTimeoutSeconds", 600);
}

/* ---- validation ---- */

/* An absent number is reported as 0. */
static void bad_int(struct field_errors *errs, const struct fpath *up, const char *key, int64_t v,
                    const char *text)
{
    struct fpath at = fpath_child(up, str_of(key));
    field_error(errs, FIELD_INVALID, &at, json_new_int(errs->a, v), "%s", text);
}

static void bad_label(struct field_errors *errs, const struct fpath *at, struct str v)
{
    struct meta_problems found = meta_check_qualified_name(v);
    for (size_t i = 0; i < found.n; i++)
        field_error_str(errs, FIELD_INVALID, at, v, "%s", found.text[i]);
}

static void validate_preemption(const struct json *args, const struct fpath *at,
                                struct field_errors *errs)
{
    int64_t percentage = config_int(args, "minCandidateNodesPercentage");
    int64_t absolute = config_int(args, "minCandidateNodesAbsolute");
    if (percentage < 0 || percentage > 100)
        bad_int(errs, at, "minCandidateNodesPercentage", percentage, "not in valid range [0, 100]");
    if (absolute < 0)
        bad_int(errs, at, "minCandidateNodesAbsolute", absolute, "not in valid range [0, inf)");
    if (percentage || absolute)
        return;
    bad_int(errs, at, "minCandidateNodesPercentage", 0,
            "cannot be zero at the same time as minCandidateNodesAbsolute");
    bad_int(errs, at, "minCandidateNodesAbsolute", 0,
            "cannot be zero at the same time as minCandidateNodesPercentage");
}

static void validate_pod_affinity(const struct json *args, const struct fpath *at,
                                  struct field_errors *errs)
{
    int64_t w = config_int(args, "hardPodAffinityWeight");
    if (w < 0 || w > 100)
        bad_int(errs, at, "hardPodAffinityWeight", w, "not in valid range [0, 100]");
}

static void validate_defaulting(const struct json *args, const struct fpath *up,
                                struct field_errors *errs)
{
    static const struct str types[] = { { "System", 6 }, { "List", 4 } };
    struct fpath at = fpath_child(up, STR("defaultingType"));
    const struct json *type = json_getc(args, "defaultingType");
    struct str v = json_str(type);
    if (!str_eq(v, types[0]) && !str_eq(v, types[1]))
        field_error_enum(errs, &at, type, types, ARRAY_LEN(types));
    else if (str_eq(v, types[0]) && json_first(json_getc(args, "defaultConstraints")))
        field_error_str(errs, FIELD_INVALID, &at, v, "when .defaultConstraints are not empty");
}

static void validate_action(const struct json *c, const struct fpath *up, struct field_errors *errs)
{
    static const struct str actions[] = { { "DoNotSchedule", 13 }, { "ScheduleAnyway", 14 } };
    struct fpath at = fpath_child(up, STR("whenUnsatisfiable"));
    const struct json *action = json_getc(c, "whenUnsatisfiable");
    struct str v = json_str(action);
    if (!v.n)
        field_error(errs, FIELD_REQUIRED, &at, NULL, "can not be empty");
    else if (!str_eq(v, actions[0]) && !str_eq(v, actions[1]))
        field_error_enum(errs, &at, action, actions, ARRAY_LEN(actions));
}

static bool same_member(const struct json *a, const struct json *b, const char *key)
{
    return str_eq(json_get_str(a, key), json_get_str(b, key));
}

static void validate_not_repeated(const struct json *list, const struct json *c,
                                  const struct fpath *at, struct field_errors *errs)
{
    json_each (other, list) {
        if (other == c)
            return;
        if (!same_member(other, c, "topologyKey") || !same_member(other, c, "whenUnsatisfiable"))
            continue;
        struct str key = json_get_str(c, "topologyKey"),
                   action = json_get_str(c, "whenUnsatisfiable");
        field_error_str(errs, FIELD_DUPLICATE, at,
                        str_of(arena_printf(errs->a, "{" STR_FMT ", " STR_FMT "}", STR_ARG(key),
                                            STR_ARG(action))),
                        "");
        return;
    }
}

static void validate_constraint(const struct json *list, const struct json *c,
                                const struct fpath *at, struct field_errors *errs)
{
    struct fpath key = fpath_child(at, STR("topologyKey"));
    struct fpath selector = fpath_child(at, STR("labelSelector"));
    int64_t skew = config_int(c, "maxSkew");
    if (skew <= 0)
        bad_int(errs, at, "maxSkew", skew, "not in valid range (0, inf)");
    if (!json_get_str(c, "topologyKey").n)
        field_error(errs, FIELD_REQUIRED, &key, NULL, "can not be empty");
    else
        bad_label(errs, &key, json_get_str(c, "topologyKey"));
    validate_action(c, at, errs);
    if (json_getc(c, "labelSelector"))
        field_error(errs, FIELD_FORBIDDEN, &selector, NULL,
                    "constraint must not define a selector, as they deduced for each pod");
    validate_not_repeated(list, c, at, errs);
}

static void validate_spread(const struct json *args, const struct fpath *at,
                            struct field_errors *errs)
{
    const struct json *list = json_getc(args, "defaultConstraints");
    struct fpath up = fpath_child(at, STR("defaultConstraints"));
    size_t i = 0;
    validate_defaulting(args, at, errs);
    json_each (c, list) {
        struct fpath here = fpath_index(&up, i++);
        validate_constraint(list, c, &here, errs);
    }
}

static void validate_shape(const struct json *shape, const struct fpath *at,
                           struct field_errors *errs)
{
    size_t i = 0;
    if (!json_first(shape)) {
        field_error(errs, FIELD_REQUIRED, at, NULL, "at least one point must be specified");
        return;
    }
    for (const struct json *p = json_first(shape); p->next; p = p->next) {
        struct fpath here = fpath_index(at, ++i);
        int64_t v = config_int(p->next, "utilization");
        if (config_int(p, "utilization") < v)
            continue;
        bad_int(errs, &here, "utilization", v, "values must be sorted in increasing order");
        break;
    }
    i = 0;
    json_each (p, shape) {
        struct fpath here = fpath_index(at, i++);
        int64_t utilization = config_int(p, "utilization"), score = config_int(p, "score");
        if (utilization < 0 || utilization > 100)
            bad_int(errs, &here, "utilization", utilization, "not in valid range [0, 100]");
        if (score < 0 || score > 10)
            bad_int(errs, &here, "score", score, "not in valid range [0, 10]");
    }
}

static void validate_strategy(const struct json *strategy, const struct fpath *at,
                              struct field_errors *errs)
{
    static const struct str types[] = { { "LeastAllocated", 14 },
                                        { "MostAllocated", 13 },
                                        { "RequestedToCapacityRatio", 24 } };
    struct fpath type_at = fpath_child(at, STR("type")), up = fpath_child(at, STR("resources"));
    struct fpath ratio_at = fpath_child(at, STR("requestedToCapacityRatio"));
    struct fpath shape_at = fpath_child(&ratio_at, STR("shape"));
    const struct json *type = json_getc(strategy, "type");
    const struct json *ratio = json_getc(strategy, "requestedToCapacityRatio");
    struct str v = json_str(type);
    size_t i = 0;
    if (!str_eq(v, types[0]) && !str_eq(v, types[1]) && !str_eq(v, types[2]))
        field_error_enum(errs, &type_at, type, types, ARRAY_LEN(types));
    json_each (item, json_getc(strategy, "resources")) {
        struct fpath here = fpath_index(&up, i++);
        int64_t weight = config_int(item, "weight");
        if (weight <= 0 || weight > 100)
            bad_int(errs, &here, "weight", weight,
                    arena_printf(errs->a,
                                 "resource weight of " STR_FMT " not in valid range (0, 100]",
                                 STR_ARG(json_get_str(item, "name"))));
    }
    if (str_eq(v, types[2]) && !ratio)
        field_error(errs, FIELD_REQUIRED, &ratio_at, NULL,
                    "must be specified when type is RequestedToCapacityRatio");
    else if (str_eq(v, types[2]))
        validate_shape(json_getc(ratio, "shape"), &shape_at, errs);
    else if (ratio)
        field_error(errs, FIELD_FORBIDDEN, &ratio_at, NULL,
                    "must be nil when type is not RequestedToCapacityRatio");
}

static void validate_fit(const struct json *args, const struct fpath *at, struct field_errors *errs)
{
    struct fpath resources = fpath_child(at, STR("ignoredResources"));
    struct fpath groups = fpath_child(at, STR("ignoredResourceGroups"));
    struct fpath strategy = fpath_child(at, STR("scoringStrategy"));
    size_t i = 0;
    json_each (item, json_getc(args, "ignoredResources")) {
        struct fpath here = fpath_index(&resources, i++);
        bad_label(errs, &here, item->s);
    }
    i = 0;
    json_each (item, json_getc(args, "ignoredResourceGroups")) {
        struct fpath here = fpath_index(&groups, i++);
        if (str_find_char(item->s, '/') >= 0)
            field_error(errs, FIELD_INVALID, &here, item, "resource group name can't contain '/'");
        bad_label(errs, &here, item->s);
    }
    validate_strategy(json_getc(args, "scoringStrategy"), &strategy, errs);
}

static void validate_balanced(const struct json *args, const struct fpath *at,
                              struct field_errors *errs)
{
    const struct json *list = json_getc(args, "resources");
    struct fpath up = fpath_child(at, STR("resources"));
    size_t i = 0;
    json_each (item, list) {
        struct fpath here = fpath_index(&up, i++), name_at = fpath_child(&here, STR("name"));
        struct str name = json_get_str(item, "name");
        int64_t weight = config_int(item, "weight");
        for (const struct json *other = list->first; other != item; other = other->next) {
            if (!str_eq(json_get_str(other, "name"), name))
                continue;
            field_error_str(errs, FIELD_DUPLICATE, &name_at, name, "");
            break;
        }
        if (weight != 1)
            bad_int(errs, &here, "weight", weight, "must be 1");
    }
}

/* In the form in which upstream prints its internal type. */
static struct json *internal_shape(struct arena *a, const struct json *shape)
{
    struct json *ret = json_new_array(a);
    json_each (p, shape) {
        struct json *point = json_new_object(a);
        json_set_int(a, point, "Utilization", config_int(p, "utilization"));
        json_set_int(a, point, "Score", config_int(p, "score"));
        json_add(ret, point);
    }
    return ret;
}

static void validate_volume_binding(const struct json *args, const struct fpath *at,
                                    struct field_errors *errs)
{
    struct fpath shape_at = fpath_child(at, STR("shape"));
    const struct json *shape = json_getc(args, "shape");
    int64_t seconds = config_int(args, "bindTimeoutSeconds");
    if (seconds < 0)
        bad_int(errs, at, "bindTimeoutSeconds", seconds,
                "invalid BindTimeoutSeconds, should not be a negative value");
    if (shape)
        field_error(errs, FIELD_INVALID, &shape_at, internal_shape(errs->a, shape),
                    "unexpected field `shape`, remove it or turn on the feature gate "
                    "StorageCapacityScoring");
}

/* ---- node affinity ---- */

static void bad_values(struct field_errors *errs, const struct fpath *at, const struct json *values,
                       const char *text)
{
    field_error(errs, FIELD_INVALID, at, values ? values : json_new_null(errs->a), "%s", text);
}

static struct str joined(struct arena *a, const struct meta_problems *found)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    for (size_t i = 0; i < found->n; i++)
        (void)buf_printf(&b, "%s%s", i ? "; " : "", found->text[i]);
    return str_copy_arena(a, buf_str(&b));
}

static void validate_label_values(const struct json *req, const struct fpath *at,
                                  struct field_errors *errs)
{
    size_t i = 0;
    json_each (v, json_getc(req, "values")) {
        struct fpath item = fpath_index(at, i++);
        struct fpath here = fpath_key(&item, json_get_str(req, "key"));
        struct meta_problems found = meta_check_label_value(v->s);
        if (found.n)
            field_error(errs, FIELD_INVALID, &here, v, STR_FMT, STR_ARG(joined(errs->a, &found)));
    }
}

static void validate_numbers(const struct json *values, const struct fpath *at,
                             struct field_errors *errs)
{
    size_t i = 0;
    int64_t n;
    if (!values || values->n != 1)
        bad_values(errs, at, values, "for 'Gt', 'Lt' operators, exactly one value is required");
    json_each (v, values) {
        struct fpath here = fpath_index(at, i++);
        if (parse_i64(v->s, INT64_MIN, INT64_MAX, &n) < 0)
            field_error(errs, FIELD_INVALID, &here, v,
                        "for 'Gt', 'Lt' operators, the value must be an integer");
    }
}

static const struct str node_operators[] = { { "In", 2 },     { "NotIn", 5 },
                                             { "Exists", 6 }, { "DoesNotExist", 12 },
                                             { "Gt", 2 },     { "Lt", 2 } };

static void validate_expression(const struct json *req, const struct fpath *at,
                                struct field_errors *errs)
{
    struct fpath op_at = fpath_child(at, STR("operator")), key_at = fpath_child(at, STR("key"));
    struct fpath values_at = fpath_child(at, STR("values"));
    const struct json *op = json_getc(req, "operator"), *values = json_getc(req, "values");
    size_t which = 0;
    while (which < ARRAY_LEN(node_operators) && !str_eq(json_str(op), node_operators[which]))
        which++;
    if (which == ARRAY_LEN(node_operators)) {
        field_error_enum(errs, &op_at, op, node_operators, ARRAY_LEN(node_operators));
        return;
    }
    struct meta_problems found = meta_check_qualified_name(json_get_str(req, "key"));
    if (found.n)
        field_error_str(errs, FIELD_INVALID, &key_at, json_get_str(req, "key"), STR_FMT,
                        STR_ARG(joined(errs->a, &found)));
    if (which < 2 && !json_first(values))
        bad_values(errs, &values_at, values,
                   "for 'in', 'notin' operators, values set can't be empty");
    if ((which == 2 || which == 3) && json_first(values))
        bad_values(errs, &values_at, values,
                   "values set must be empty for exists and does not exist");
    if (which >= 4)
        validate_numbers(values, &values_at, errs);
    validate_label_values(req, &values_at, errs);
}

static void validate_field(const struct json *req, const struct fpath *at,
                           struct field_errors *errs)
{
    struct fpath op_at = fpath_child(at, STR("operator"));
    struct fpath values_at = fpath_child(at, STR("values"));
    const struct json *op = json_getc(req, "operator"), *values = json_getc(req, "values");
    if (!str_eq(json_str(op), node_operators[0]) && !str_eq(json_str(op), node_operators[1]))
        field_error_enum(errs, &op_at, op, node_operators, 2);
    else if (!values || values->n != 1)
        bad_values(errs, &values_at, values, "must have one element");
}

static void validate_term(const struct json *term, const struct fpath *at,
                          struct field_errors *errs)
{
    struct fpath expressions = fpath_child(at, STR("matchExpressions"));
    struct fpath fields = fpath_child(at, STR("matchFields"));
    size_t i = 0;
    json_each (req, json_getc(term, "matchExpressions")) {
        struct fpath here = fpath_index(&expressions, i++);
        validate_expression(req, &here, errs);
    }
    i = 0;
    json_each (req, json_getc(term, "matchFields")) {
        struct fpath here = fpath_index(&fields, i++);
        validate_field(req, &here, errs);
    }
}

static void validate_affinity(const struct json *args, const struct fpath *at,
                              struct field_errors *errs)
{
    static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
    static const char preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";
    const struct json *added = json_getc(args, "addedAffinity");
    struct fpath added_at = fpath_child(at, STR("addedAffinity"));
    struct fpath required_at = fpath_child(&added_at, str_of(required));
    struct fpath terms_at = fpath_child(&required_at, STR("nodeSelectorTerms"));
    struct fpath preferred_at = fpath_child(&added_at, str_of(preferred));
    size_t i = 0;
    json_each (term, json_path(added, required, "nodeSelectorTerms", NULL)) {
        struct fpath here = fpath_index(&terms_at, i++);
        validate_term(term, &here, errs);
    }
    i = 0;
    json_each (term, json_getc(added, preferred)) {
        struct fpath here = fpath_index(&preferred_at, i++);
        if (config_int(term, "weight") != 0)
            validate_term(json_getc(term, "preference"), &here, errs);
    }
}

/* ---- */

static const struct {
    const char *plugin;
    void (*fill)(struct arena *a, struct json *args); /* may be NULL */
    void (*validate)(const struct json *args, const struct fpath *at, struct field_errors *errs);
} rules[] = {
    { "DefaultPreemption", default_preemption, validate_preemption },
    { "InterPodAffinity", default_pod_affinity, validate_pod_affinity },
    { "NodeAffinity", NULL, validate_affinity },
    { "NodeResourcesBalancedAllocation", default_resources, validate_balanced },
    { "NodeResourcesFit", default_fit, validate_fit },
    { "PodTopologySpread", default_spread, validate_spread },
    { "VolumeBinding", default_volume_binding, validate_volume_binding },
};

void config_args_default(struct arena *a, struct str plugin, struct json *args)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (str_is(plugin, rules[i].plugin) && rules[i].fill)
            rules[i].fill(a, args);
}

void config_args_validate(struct str plugin, const struct json *args, const struct fpath *at,
                          struct field_errors *errs)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (str_is(plugin, rules[i].plugin))
            rules[i].validate(args, at, errs);
}
