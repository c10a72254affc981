/* SPDX-License-Identifier: Apache-2.0 */
/* Events, of core and of events.k8s.io: one stored form, two API versions. */
#include "kube/model/meta.h"
#include "kube/model/table.h"
#include "kube/rules/kinds/kinds.h"

/* Names of the same fields in core/v1 and in events.k8s.io. */
static const char *const event_names[][2] = {
    { "involvedObject", "regarding" },
    { "message", "note" },
    { "source", "deprecatedSource" },
    { "firstTimestamp", "deprecatedFirstTimestamp" },
    { "lastTimestamp", "deprecatedLastTimestamp" },
    { "count", "deprecatedCount" },
    { "reportingComponent", "reportingController" },
};

static const struct json *event_get(const struct json *obj, const char *core_name)
{
    for (size_t i = 0; i < ARRAY_LEN(event_names); i++)
        if (strcmp(event_names[i][0], core_name) == 0 && json_getc(obj, event_names[i][1]))
            return json_getc(obj, event_names[i][1]);
    return json_getc(obj, core_name);
}

static void event_convert(struct arena *a, struct json *obj, const struct kube_resource *from,
                          const struct kube_resource *to)
{
    (void)from;
    int target = to->group.n ? 1 : 0;
    for (size_t i = 0; i < ARRAY_LEN(event_names); i++) {
        struct json *v = json_getc(obj, event_names[i][!target]);
        if (v)
            v->key = str_of(event_names[i][target]);
    }
    /*
     * Puts the fields into the order of the other struct; there are no unknown fields or wrong
     * types.
     */
    (void)schema_normalize(a, to->schema, obj, "Event", NULL, NULL, NULL);
}

/* needed: the field must not be empty. */
static void check_length(const struct json *v, const char *name, size_t max, bool needed,
                         struct field_errors *errs)
{
    struct fpath at = fpath_child(NULL, str_of(name));
    if (needed && json_str(v).n == 0)
        field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    if (json_str(v).n > max)
        field_error_str(errs, FIELD_INVALID, &at, STR(""), "can have at most %zu characters", max);
}

/* Fields that an event of the newer API requires. */
static void check_newer(const struct json *obj, bool is_core, struct field_errors *errs)
{
    const char *name = is_core ? "reportingComponent" : "reportingController";
    const struct json *controller = event_get(obj, "reportingComponent");
    struct fpath at = fpath_child(NULL, str_of(name));
    if (json_str(controller).n == 0)
        field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    struct meta_problems p = meta_check_qualified_name(json_str(controller));
    for (size_t i = 0; i < p.n; i++)
        field_error_str(errs, FIELD_INVALID, &at, json_str(controller), "%s", p.text[i]);
    check_length(json_getc(obj, "reportingInstance"), "reportingInstance", 128, true, errs);
    check_length(json_getc(obj, "action"), "action", 128, true, errs);
    check_length(json_getc(obj, "reason"), "reason", 128, true, errs);
    check_length(event_get(obj, "message"), "message", 1024, false, errs);
}

/* Fields that events.k8s.io has only for events written through the core API. */
static void check_unset(const struct json *obj, struct field_errors *errs)
{
    static const char *const names[] = { "firstTimestamp", "lastTimestamp", "count", "source" };
    const struct json *series = json_getc(obj, "series"), *count = json_getc(series, "count");
    struct fpath count_at = fpath_child(NULL, STR("series.count")),
                 time_at = fpath_child(NULL, STR("series.lastObservedTime"));
    if (json_is(series, JSON_OBJECT) && json_int_or(count, 0) < 2)
        field_error_str(errs, FIELD_INVALID, &count_at, STR(""), "should be at least 2");
    if (json_is(series, JSON_OBJECT) && json_get_str(series, "lastObservedTime").n == 0)
        field_error(errs, FIELD_REQUIRED, &time_at, NULL, "%s", "");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct json *v = event_get(obj, names[i]);
        struct fpath at = fpath_child(NULL, str_of(names[i]));
        bool set = json_str(v).n || json_int_or(v, 0) || json_get_str(v, "component").n ||
                   json_get_str(v, "host").n;
        if (set)
            field_error_str(errs, FIELD_INVALID, &at, STR(""), "needs to be unset");
    }
}

/* Upstream's errors name the fields of core/v1, whichever version was sent. */
static void event_validate(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    bool is_core = json_getc(obj, "involvedObject") != NULL;
    struct fpath up = fpath_child(NULL, STR("involvedObject"));
    struct fpath at = fpath_child(&up, STR("namespace"));
    struct fpath time_at = fpath_child(NULL, STR("eventTime")),
                 type_at = fpath_child(NULL, STR("type"));
    struct str ns = json_get_str(event_get(obj, "involvedObject"), "namespace");
    struct str own = meta_namespace(obj), type = json_get_str(obj, "type");
    bool has_time = json_get_str(obj, "eventTime").n > 0;
    bool fits =
        ns.n ? has_time || str_eq(ns, own)
             : own.n == 0 || str_is(own, "default") || (has_time && str_is(own, "kube-system"));
    if (!fits)
        field_error_str(errs, FIELD_INVALID, &at, ns, "does not match event.namespace");
    if (has_time)
        check_newer(obj, is_core, errs);
    if (is_core)
        return;
    if (!has_time)
        field_error(errs, FIELD_REQUIRED, &time_at, NULL, "%s", "");
    if (!str_is(type, "Normal") && !str_is(type, "Warning"))
        field_error_str(errs, FIELD_INVALID, &type_at, STR(""), "has invalid value: " STR_FMT,
                        STR_ARG(type));
    if (!old)
        check_unset(obj, errs);
}

static struct str event_time(const struct json *obj, const char *name)
{
    return json_str(event_get(obj, name));
}

static struct str event_first_seen(const struct json *obj)
{
    struct str t = event_time(obj, "firstTimestamp");
    return t.n ? t : json_get_str(obj, "eventTime");
}

static struct json *cell_event_last_seen(struct arena *a, const struct json *obj, int64_t now_s)
{
    struct str t = json_str(json_path(obj, "series", "lastObservedTime", NULL));
    if (t.n == 0)
        t = event_time(obj, "lastTimestamp");
    if (t.n == 0)
        t = event_first_seen(obj);
    return json_new_str(a, table_age(a, t, now_s));
}

static struct json *cell_event_first_seen(struct arena *a, const struct json *obj, int64_t now_s)
{
    return json_new_str(a, table_age(a, event_first_seen(obj), now_s));
}

static struct json *cell_event_type(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(obj, "type"));
}

static struct json *cell_event_reason(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(obj, "reason"));
}

static struct json *cell_event_object(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *about = event_get(obj, "involvedObject");
    struct str kind = str_lower_arena(a, json_get_str(about, "kind"));
    struct str name = json_get_str(about, "name");
    (void)now_s;
    if (name.n == 0)
        return json_new_str(a, kind);
    return json_new_cstr(a, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(name)));
}

static struct json *cell_event_subobject(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(event_get(obj, "involvedObject"), "fieldPath"));
}

static struct json *cell_event_source(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *source = event_get(obj, "source");
    struct str component = json_get_str(source, "component"), host = json_get_str(source, "host");
    (void)now_s;
    if (component.n == 0) {
        component = json_str(event_get(obj, "reportingComponent"));
        host = json_get_str(obj, "reportingInstance");
    }
    if (host.n == 0)
        return json_new_str(a, component);
    return json_new_cstr(a,
                         arena_printf(a, STR_FMT ", " STR_FMT, STR_ARG(component), STR_ARG(host)));
}

static struct json *cell_event_message(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, str_trim(json_str(event_get(obj, "message"))));
}

static struct json *cell_event_count(struct arena *a, const struct json *obj, int64_t now_s)
{
    int64_t n = json_int_or(json_path(obj, "series", "count", NULL), 0);
    (void)now_s;
    if (n == 0)
        n = json_int_or(event_get(obj, "count"), 0);
    return json_new_int(a, n ? n : 1);
}

static const struct kube_column event_columns[] = {
    COLUMN("Last Seen", "string", "Time since it was last observed.", 0, cell_event_last_seen),
    COLUMN("Type", "string", "Normal or Warning.", 0, cell_event_type),
    COLUMN("Reason", "string", "Short word for what happened.", 0, cell_event_reason),
    COLUMN("Object", "string", "What it happened to.", 0, cell_event_object),
    COLUMN("Subobject", "string", "Part of the object that is meant.", 1, cell_event_subobject),
    COLUMN("Source", "string", "Who reported it.", 1, cell_event_source),
    COLUMN("Message", "string", "What happened, in words.", 0, cell_event_message),
    COLUMN("First Seen", "string", "Time since it was first observed.", 1, cell_event_first_seen),
    COLUMN("Count", "string", "How often it was observed.", 1, cell_event_count),
    { .name = S("Name"),
      .type = S("string"),
      .format = S("name"),
      .description = S("Name of the event object."),
      .priority = 1,
      .cell = kind_cell_name },
};

/* Upstream does not check the names of core events, for old clients. */
static const struct kube_strategy core_event_strategy = { .name_rule = KUBE_NAME_PATH_SEGMENT,
                                                          .validate = event_validate,
                                                          .meta_last = true,
                                                          .unconditional_update = true,
                                                          .create_on_update = true,
                                                          .gc_policy = KUBE_GC_NONE,
                                                          .convert = event_convert };
static const struct kube_strategy event_strategy = { .validate = event_validate,
                                                     .unconditional_update = true,
                                                     .create_on_update = true,
                                                     .gc_policy = KUBE_GC_NONE,
                                                     .convert = event_convert };

static struct kube_resource rows[] = {
    { .version = S("v1"),
      .kind = S("Event"),
      .list_kind = S("EventList"),
      .plural = S("events"),
      .singular = S("event"),
      SHORT(S("ev")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &core_event_strategy,
      COLUMNS(event_columns),
      SELECT(S("involvedObject.kind"), S("involvedObject.namespace"), S("involvedObject.name"),
             S("involvedObject.uid"), S("involvedObject.apiVersion"),
             S("involvedObject.resourceVersion"), S("involvedObject.fieldPath"), S("reason"),
             S("reportingComponent"), S("source"), S("type")) },
    { .group = S("events.k8s.io"),
      .version = S("v1"),
      .kind = S("Event"),
      .list_kind = S("EventList"),
      .plural = S("events"),
      .singular = S("event"),
      SHORT(S("ev")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .storage = &rows[0],
      .strategy = &event_strategy,
      COLUMNS(event_columns),
      SELECT(S("regarding.kind"), S("regarding.namespace"), S("regarding.name"), S("regarding.uid"),
             S("regarding.apiVersion"), S("regarding.resourceVersion"), S("regarding.fieldPath"),
             S("reason"), S("reportingController"), S("type")) }
};

const struct kind_list kinds_events = { rows, ARRAY_LEN(rows) };
