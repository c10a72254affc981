/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autoscaling: HorizontalPodAutoscalers. Stored as v2; v1 has only a target for the CPU and carries
 * everything else in annotations, so that conversions in both directions lose nothing.
 */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

#define NOTE "autoscaling.alpha.kubernetes.io/"

enum { ANNOTATION_MAX_BYTES = 256 * 1024 };

/* ------------------------------------------------------------------ v1 and v2 */

static void note_put(struct arena *a, struct json *obj, const char *key, const struct json *v)
{
    struct buf b = BUF_INIT(ANNOTATION_MAX_BYTES);
    (void)json_write(&b, v);
    if (buf_ok(&b))
        json_set_str(a, json_obj(a, meta_of(a, obj), "annotations"), key, buf_str(&b));
    buf_fini(&b);
}

/* Take an annotation out of the object; NULL when absent or not JSON. */
static struct json *note_take(struct arena *a, struct json *obj, const char *key)
{
    struct json *notes = json_path(obj, "metadata", "annotations", NULL), *v;
    struct str text = json_get_str(notes, key);
    if (!json_getc(notes, key))
        return NULL;
    int r = json_parse(a, text, NULL, &v, NULL);
    (void)json_del(notes, str_of(key));
    if (notes->n == 0)
        (void)json_del(meta_of(a, obj), STR("annotations"));
    return r < 0 ? NULL : v;
}

enum { DEFAULT_CPU_PERCENT = 80 };

/* The one metric that v1 has a field for. member: "target" of a spec, "current" of a status. */
static bool is_cpu(const struct json *metric, const char *member, const char *value)
{
    const struct json *res = json_getc(metric, "resource");
    return str_is(json_get_str(metric, "type"), "Resource") &&
           str_is(json_get_str(res, "name"), "cpu") && json_path(res, member, value, NULL);
}

/* Move the CPU metric of `list` into a number; what is left becomes an annotation. */
static void metrics_to_v1(struct arena *a, struct json *obj, struct json *from, const char *list,
                          const char *member, const char *field, const char *note)
{
    struct json *metrics = json_getc(from, list), *others = json_new_array(a);
    const struct json *cpu = NULL;
    json_each (m, metrics) {
        if (!cpu && is_cpu(m, member, "averageUtilization"))
            cpu = m;
        else
            json_add(others, json_clone(a, m));
    }
    if (cpu)
        json_setc(a, from, field,
                  json_clone(a, json_path(cpu, "resource", member, "averageUtilization", NULL)));
    if (others->n)
        note_put(a, obj, note, others);
    (void)json_del(from, str_of(list));
}

static void metrics_from_v1(struct arena *a, struct json *obj, struct json *to, const char *list,
                            const char *member, const char *field, const char *note)
{
    struct json *all = json_new_array(a), *others = note_take(a, obj, note);
    const struct json *cpu = json_getc(to, field);
    if (cpu) {
        struct json *m = json_new_object(a), *res, *value;
        json_set_str(a, m, "type", STR("Resource"));
        res = json_obj(a, m, "resource");
        json_set_str(a, res, "name", STR("cpu"));
        value = json_obj(a, res, member);
        if (str_is(str_of(member), "target"))
            json_set_str(a, value, "type", STR("Utilization"));
        json_setc(a, value, "averageUtilization", json_clone(a, cpu));
        json_add(all, m);
        (void)json_del(to, str_of(field));
    }
    json_each (m, others)
        json_add(all, json_clone(a, m));
    if (all->n)
        json_setc(a, to, list, all);
}

static void to_v1(struct arena *a, struct json *obj)
{
    struct json *spec = json_obj(a, obj, "spec"), *status = json_obj(a, obj, "status");
    metrics_to_v1(a, obj, spec, "metrics", "target", "targetCPUUtilizationPercentage",
                  NOTE "metrics");
    metrics_to_v1(a, obj, status, "currentMetrics", "current", "currentCPUUtilizationPercentage",
                  NOTE "current-metrics");
    if (json_getc(spec, "behavior"))
        note_put(a, obj, NOTE "behavior", json_getc(spec, "behavior"));
    if (json_getc(status, "conditions"))
        note_put(a, obj, NOTE "conditions", json_getc(status, "conditions"));
    (void)json_del(spec, STR("behavior"));
    (void)json_del(status, STR("conditions"));
}

static void from_v1(struct arena *a, struct json *obj)
{
    struct json *spec = json_obj(a, obj, "spec"), *status = json_obj(a, obj, "status"), *v;
    metrics_from_v1(a, obj, spec, "metrics", "target", "targetCPUUtilizationPercentage",
                    NOTE "metrics");
    if (!json_getc(spec, "metrics")) { /* no metric requested: use v2's default */
        json_set_int(a, spec, "targetCPUUtilizationPercentage", DEFAULT_CPU_PERCENT);
        metrics_from_v1(a, obj, spec, "metrics", "target", "targetCPUUtilizationPercentage",
                        NOTE "metrics");
    }
    metrics_from_v1(a, obj, status, "currentMetrics", "current", "currentCPUUtilizationPercentage",
                    NOTE "current-metrics");
    if ((v = note_take(a, obj, NOTE "behavior")))
        json_setc(a, spec, "behavior", v);
    if ((v = note_take(a, obj, NOTE "conditions")))
        json_setc(a, status, "conditions", v);
}

static void hpa_convert(struct arena *a, struct json *obj, const struct kube_resource *from,
                        const struct kube_resource *to)
{
    (void)from;
    bool to_old = str_is(to->version, "v1");
    if (to_old)
        to_v1(a, obj);
    else
        from_v1(a, obj);
    (void)schema_normalize(a, to->schema, obj, "HorizontalPodAutoscaler", NULL, NULL, NULL);
}

/* ------------------------------------------------------------------ columns */

enum { TARGETS_SHOWN = 2 };

static struct str member_of(const struct json *metric)
{
    static const char *const names[][2] = { { "Resource", "resource" },
                                            { "ContainerResource", "containerResource" },
                                            { "Pods", "pods" },
                                            { "Object", "object" },
                                            { "External", "external" } };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(json_get_str(metric, "type"), names[i][0]))
            return str_of(names[i][1]);
    return STR("");
}

static void add_value(struct buf *b, const struct json *from, bool average, bool percent)
{
    if (percent && json_getc(from, "averageUtilization"))
        (void)buf_printf(b, "%lld%%", (long long)row_num(from, "averageUtilization"));
    else if (!percent && json_getc(from, average ? "averageValue" : "value"))
        (void)buf_add_str(b, json_get_str(from, average ? "averageValue" : "value"));
    else
        (void)buf_add_cstr(b, "<unknown>");
}

/* "cpu: 12%/80%", "3/5 (avg)" */
static void add_target(struct buf *b, const struct json *spec, const struct json *status)
{
    struct str member = member_of(spec);
    const struct json *source = json_get(spec, member), *target = json_getc(source, "target");
    const struct json *current = json_getc(json_get(status, member), "current");
    bool resource = str_has_suffix(member, STR("esource"));
    bool average = json_getc(target, "averageValue") != NULL;
    if (member.n == 0) {
        (void)buf_add_cstr(b, "<unknown type>");
        return;
    }
    if (resource)
        (void)buf_printf(b, STR_FMT ": ", STR_ARG(json_get_str(source, "name")));
    add_value(b, current, average, resource && !average);
    (void)buf_add_char(b, '/');
    if (resource && !average && !json_getc(target, "averageUtilization"))
        (void)buf_add_cstr(b, "<auto>");
    else
        add_value(b, target, average, resource && !average);
    if (average && (str_is(member, "external") || str_is(member, "object")))
        (void)buf_add_cstr(b, " (avg)");
}

static void row_targets(struct kind_row *r)
{
    const struct json *specs = json_path(r->obj, "spec", "metrics", NULL);
    const struct json *now = json_first(json_path(r->obj, "status", "currentMetrics", NULL));
    struct buf b = BUF_INIT(16 * 1024);
    int64_t n = 0;
    json_each (m, specs) {
        if (n < TARGETS_SHOWN) {
            if (n)
                (void)buf_add_cstr(&b, ", ");
            add_target(&b, m, now);
        }
        now = now ? now->next : NULL;
        n++;
    }
    if (n > TARGETS_SHOWN)
        (void)buf_printf(&b, " + %lld more...", (long long)n - TARGETS_SHOWN);
    row_or(r, buf_str(&b), "<none>");
    buf_fini(&b);
}

static void hpa_cells(struct arena *a, const struct json *obj, int64_t now_s, struct json *cells)
{
    struct json *v2 = json_clone(a, obj);
    if (str_is(json_get_str(obj, "apiVersion"), "autoscaling/v1"))
        from_v1(a, v2);
    struct kind_row r = { a, cells, v2, now_s };
    const struct json *min = json_path(v2, "spec", "minReplicas", NULL);
    row_name(&r);
    row_printf(&r, STR_FMT "/" STR_FMT, STR_ARG(row_text(v2, "spec.scaleTargetRef.kind")),
               STR_ARG(row_text(v2, "spec.scaleTargetRef.name")));
    row_targets(&r);
    if (min)
        row_printf(&r, "%lld", (long long)json_int_or(min, 0));
    else
        row_str(&r, STR("<unset>"));
    row_int(&r, row_num(v2, "spec.maxReplicas"));
    row_int(&r, row_num(v2, "status.currentReplicas"));
    row_age(&r);
}

static const struct kube_column hpa_columns[] = {
    COLUMN_NAME,
    COLUMN("Reference", "string", "What is scaled.", 0, NULL),
    COLUMN("Targets", "string", "Metrics, as they are and as they should be.", 0, NULL),
    COLUMN("MinPods", "string", "Lower limit of pods.", 0, NULL),
    COLUMN("MaxPods", "string", "Upper limit of pods.", 0, NULL),
    COLUMN("Replicas", "string", "Pods that there are.", 0, NULL),
    COLUMN_AGE,
};

/* ------------------------------------------------------------------ rows */

static const struct kube_subresource v2_subs[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .group = S("autoscaling"),
      .version = S("v2"),
      .kind = S("HorizontalPodAutoscaler") },
};
static const struct kube_subresource v1_subs[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .group = S("autoscaling"),
      .version = S("v1"),
      .kind = S("HorizontalPodAutoscaler") },
};

static const struct kube_strategy hpa_strategy = { .validate = validate_autoscaler,
                                                   .convert = hpa_convert,
                                                   .unconditional_update = true };

static struct kube_resource rows[] = {
    { .group = S("autoscaling"),
      .version = S("v2"),
      .kind = S("HorizontalPodAutoscaler"),
      .list_kind = S("HorizontalPodAutoscalerList"),
      .plural = S("horizontalpodautoscalers"),
      .singular = S("horizontalpodautoscaler"),
      SHORT(S("hpa")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(v2_subs),
      .strategy = &hpa_strategy,
      COLUMNS(hpa_columns),
      .cells = hpa_cells },
    { .group = S("autoscaling"),
      .version = S("v1"),
      .kind = S("HorizontalPodAutoscaler"),
      .list_kind = S("HorizontalPodAutoscalerList"),
      .plural = S("horizontalpodautoscalers"),
      .singular = S("horizontalpodautoscaler"),
      SHORT(S("hpa")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(v1_subs),
      .storage = &rows[0],
      .strategy = &hpa_strategy,
      COLUMNS(hpa_columns),
      .cells = hpa_cells },
};

const struct kind_list kinds_autoscaling = { rows, ARRAY_LEN(rows) };
