/* SPDX-License-Identifier: Apache-2.0 */
/* apiregistration.k8s.io: APIServices. Those with a service are stored, not proxied. */
#include "codec/base64.h"
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"

#define GROUP "apiregistration.k8s.io"
#define NOT_FORWARDED                                                                              \
    "dormouse forwards no requests to services, and serves the group and version itself or not"

static void service_set_defaults(struct arena *a, struct json *obj)
{
    kind_default_int(a, json_path(obj, "spec", "service", NULL), "port", 443);
}

static bool has_service(const struct json *obj)
{
    return json_is(json_path(obj, "spec", "service", NULL), JSON_OBJECT);
}

/*
 * An APIService that this server answers itself is available at once; one that would have to be
 * forwarded never is.
 */
static void service_prepare_create(struct arena *a, struct json *obj)
{
    kind_reset_status(a, obj);
    bool local = !has_service(obj);
    struct json *conditions = json_new_array(a), *available = json_new_object(a);
    json_set_str(a, available, "type", STR("Available"));
    json_set_str(a, available, "status", local ? STR("True") : STR("False"));
    json_set_str(a, available, "lastTransitionTime",
                 json_str(json_path(obj, "metadata", "creationTimestamp", NULL)));
    json_set_str(a, available, "reason", local ? STR("Local") : STR("NotForwarded"));
    json_set_str(a, available, "message",
                 local ? STR("Local APIServices are always available") : STR(NOT_FORWARDED));
    json_add(conditions, available);
    json_setc(a, json_obj(a, obj, "status"), "conditions", conditions);
}

/* Warns a client that installs an aggregated API that it is not served. */
static void service_warn(struct arena *a, const struct json *obj, const struct json *old,
                         void (*say)(void *arg, struct str text), void *arg)
{
    (void)a;
    (void)old;
    if (has_service(obj))
        say(arg, STR("this APIService is stored without effect: " NOT_FORWARDED));
}

static void service_validate_name(const struct json *obj, struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    struct fpath meta = fpath_child(NULL, STR("metadata")), at = fpath_child(&meta, STR("name"));
    const char *want =
        arena_printf(errs->a, STR_FMT "." STR_FMT, STR_ARG(json_get_str(spec, "version")),
                     STR_ARG(json_get_str(spec, "group")));
    if (!str_is(meta_name(obj), want))
        field_error_str(errs, FIELD_INVALID, &at, meta_name(obj),
                        "must be `spec.version+\".\"+spec.group`: \"%s\"", want);
}

static void check_local(const struct json *spec, const struct fpath *up, struct field_errors *errs)
{
    struct fpath bundle_at = fpath_child(up, STR("caBundle")),
                 insecure_at = fpath_child(up, STR("insecureSkipTLSVerify"));
    scoped(buf_fini_scoped) struct buf bundle = BUF_INIT(BUF_MAX_DEFAULT);
    (void)base64_decode(&bundle, json_get_str(spec, "caBundle"), BASE64_LENIENT);
    if (json_get_str(spec, "caBundle").n)
        field_error_str(errs, FIELD_INVALID, &bundle_at,
                        str_of(arena_printf(errs->a, "%zu bytes", bundle.n)),
                        "local APIServices may not have a caBundle");
    if (json_bool(json_getc(spec, "insecureSkipTLSVerify")))
        field_error(errs, FIELD_INVALID, &insecure_at, json_getc(spec, "insecureSkipTLSVerify"),
                    "local APIServices may not have insecureSkipTLSVerify");
}

static void check_service(const struct json *spec, const struct fpath *up,
                          struct field_errors *errs)
{
    const struct json *service = json_getc(spec, "service");
    struct fpath at = fpath_child(up, STR("service")), ns_at = fpath_child(&at, STR("namespace")),
                 name_at = fpath_child(&at, STR("name")), port_at = fpath_child(&at, STR("port")),
                 insecure_at = fpath_child(up, STR("insecureSkipTLSVerify"));
    int64_t port = json_int_or(json_getc(service, "port"), 0);
    if (json_get_str(service, "namespace").n == 0)
        field_error(errs, FIELD_REQUIRED, &ns_at, NULL, "%s", "");
    if (json_get_str(service, "name").n == 0)
        field_error(errs, FIELD_REQUIRED, &name_at, NULL, "%s", "");
    if (port < 1 || port > 65535)
        field_error(errs, FIELD_INVALID, &port_at, json_new_int(errs->a, port),
                    "port is not valid: must be between 1 and 65535, inclusive");
    if (json_bool(json_getc(spec, "insecureSkipTLSVerify")) && json_get_str(spec, "caBundle").n)
        field_error(errs, FIELD_INVALID, &insecure_at, json_getc(spec, "insecureSkipTLSVerify"),
                    "may not be true if caBundle is present");
}

static void service_validate(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    struct str group = json_get_str(spec, "group"), version = json_get_str(spec, "version");
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath group_min = fpath_child(&up, STR("groupPriorityMinimum"));
    struct fpath version_prio = fpath_child(&up, STR("versionPriority"));
    int64_t minimum = json_int_or(json_getc(spec, "groupPriorityMinimum"), 0);
    int64_t priority = json_int_or(json_getc(spec, "versionPriority"), 0);
    (void)old;
    struct fpath group_at = fpath_child(&up, STR("group")),
                 version_at = fpath_child(&up, STR("version"));
    struct meta_problems bad_group = meta_check_dns1123_subdomain(group);
    struct meta_problems bad_version = meta_check_dns1035_label(version);
    if (group.n == 0 && !str_is(version, "v1"))
        field_error(errs, FIELD_REQUIRED, &group_at, NULL,
                    "only v1 may have an empty group and it better be legacy kube");
    for (size_t i = 0; group.n && i < bad_group.n; i++)
        field_error_str(errs, FIELD_INVALID, &group_at, group, "%s", bad_group.text[i]);
    for (size_t i = 0; i < bad_version.n; i++)
        field_error_str(errs, FIELD_INVALID, &version_at, version, "%s", bad_version.text[i]);
    if (minimum <= 0 || minimum > 20000)
        field_error(errs, FIELD_INVALID, &group_min, json_new_int(errs->a, minimum),
                    "must be positive and less than 20000");
    if (priority <= 0 || priority > 1000)
        field_error(errs, FIELD_INVALID, &version_prio, json_new_int(errs->a, priority),
                    "must be positive and less than 1000");
    if (has_service(obj))
        check_service(spec, &up, errs);
    else
        check_local(spec, &up, errs);
}

static struct json *cell_service(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *s = json_path(obj, "spec", "service", NULL);
    (void)now_s;
    if (!json_is(s, JSON_OBJECT))
        return json_new_cstr(a, "Local");
    return json_new_cstr(a,
                         arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(json_get_str(s, "namespace")),
                                      STR_ARG(json_get_str(s, "name"))));
}

static struct json *cell_available(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    json_each (c, json_path(obj, "status", "conditions", NULL)) {
        struct str status = json_get_str(c, "status"), reason = json_get_str(c, "reason");
        if (!str_is(json_get_str(c, "type"), "Available"))
            continue;
        if (str_is(status, "True") || reason.n == 0)
            return json_new_str(a, status);
        return json_new_cstr(
            a, arena_printf(a, STR_FMT " (" STR_FMT ")", STR_ARG(status), STR_ARG(reason)));
    }
    return json_new_cstr(a, "Unknown");
}

static const struct kube_column service_columns[] = {
    COLUMN_NAME,
    COLUMN("Service", "string", "Who serves the group and version.", 0, cell_service),
    COLUMN("Available", "string", "Whether it can be reached.", 0, cell_available),
    COLUMN_AGE,
};

static const struct kube_subresource service_subresources[] = { SUBRESOURCE_STATUS(GROUP,
                                                                                   "APIService") };

static const struct kube_strategy service_strategy = { .set_defaults = service_set_defaults,
                                                       .validate_name = service_validate_name,
                                                       .prepare_create = service_prepare_create,
                                                       .validate = service_validate,
                                                       .warn = service_warn,
                                                       .name_rule = KUBE_NAME_PATH_SEGMENT };

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "APIService", "apiservices", "apiservice"), CATEGORY(S("api-extensions")),
      .verbs = KUBE_VERBS_ALL, SUBRESOURCES(service_subresources), .strategy = &service_strategy,
      COLUMNS(service_columns) },
};

const struct kind_list kinds_apiregistration = { rows, ARRAY_LEN(rows) };
