/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces. */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"

static void namespace_set_defaults(struct arena *a, struct json *obj)
{
    if (meta_name(obj).n)
        json_set_str(a, json_obj(a, meta_of(a, obj), "labels"), "kubernetes.io/metadata.name",
                     meta_name(obj));
}

static void namespace_prepare_create(struct arena *a, struct json *obj)
{
    namespace_set_defaults(a, obj); /* the name may be generated only now */
    struct json *status = json_new_object(a), *spec = json_obj(a, obj, "spec");
    json_set_str(a, status, "phase", STR("Active"));
    json_setc(a, obj, "status", status);
    struct json *finalizers = json_getc(spec, "finalizers");
    if (!json_is(finalizers, JSON_ARRAY)) {
        finalizers = json_new_array(a);
        json_setc(a, spec, "finalizers", finalizers);
    }
    json_each (f, finalizers) {
        if (str_is(json_str(f), "kubernetes"))
            return;
    }
    json_add(finalizers, json_new_cstr(a, "kubernetes"));
}

static void namespace_prepare_update(struct arena *a, struct json *obj, const struct json *old)
{
    const struct json *finalizers = json_path(old, "spec", "finalizers", NULL);
    struct json *spec = json_obj(a, obj, "spec");
    if (finalizers)
        json_setc(a, spec, "finalizers", json_clone(a, finalizers));
    else
        (void)json_del(spec, STR("finalizers"));
}

static void namespace_validate(const struct json *obj, const struct json *old,
                               struct field_errors *errs)
{
    struct fpath spec = fpath_child(NULL, STR("spec")), status = fpath_child(NULL, STR("status"));
    struct fpath finalizers = fpath_child(&spec, STR("finalizers"));
    struct fpath phase_at = fpath_child(&status, STR("phase"));
    size_t i = 0;
    json_each (f, json_path(obj, "spec", "finalizers", NULL)) {
        struct fpath at = fpath_index(&finalizers, i++);
        struct meta_problems p = meta_check_qualified_name(json_str(f));
        for (size_t k = 0; k < p.n; k++)
            field_error_str(errs, FIELD_INVALID, &at, json_str(f), "%s", p.text[k]);
        if (!p.n && str_find_char(json_str(f), '/') < 0 && !str_is(json_str(f), "kubernetes"))
            field_error_str(errs, FIELD_INVALID, &at, json_str(f),
                            "name is neither a standard finalizer name nor is it fully qualified");
    }
    if (!old)
        return;
    const struct json *phase = json_path(obj, "status", "phase", NULL);
    bool deleting = meta_is_deleting(obj);
    if (phase && !str_is(json_str(phase), deleting ? "Terminating" : "Active"))
        field_error(errs, FIELD_INVALID, &phase_at, phase,
                    "may only be '%s' if `deletionTimestamp` is %s",
                    deleting ? "Terminating" : "Active", deleting ? "not empty" : "empty");
}

static struct json *cell_phase(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_str(json_path(obj, "status", "phase", NULL)));
}

static const struct kube_column namespace_columns[] = {
    COLUMN_NAME,
    COLUMN("Status", "string", "Active, or Terminating while its content is being deleted.", 0,
           cell_phase),
    COLUMN_AGE,
};

static const struct kube_subresource namespace_subresources[] = {
    { .name = S("finalize"), .verbs = KUBE_UPDATE, .version = S("v1"), .kind = S("Namespace") },
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("Namespace") },
};

static void namespace_warn(struct arena *a, const struct json *obj, const struct json *old,
                           void (*say)(void *arg, struct str text), void *arg)
{
    (void)a;
    (void)old;
    if (json_path(obj, "metadata", "labels", "pod-security.kubernetes.io/enforce", NULL))
        say(arg, STR("pod-security.kubernetes.io/enforce: dormouse does not enforce Pod Security "
                     "Standards"));
}

static const struct kube_strategy namespace_strategy = { .set_defaults = namespace_set_defaults,
                                                         .prepare_create = namespace_prepare_create,
                                                         .prepare_update = namespace_prepare_update,
                                                         .validate = namespace_validate,
                                                         .warn = namespace_warn,
                                                         .name_rule = KUBE_NAME_LABEL,
                                                         .unconditional_update = true,
                                                         .has_spec_finalizers = true };

static struct kube_resource rows[] = { { .version = S("v1"),
                                         .kind = S("Namespace"),
                                         .list_kind = S("NamespaceList"),
                                         .plural = S("namespaces"),
                                         .singular = S("namespace"),
                                         SHORT(S("ns")),
                                         .verbs = KUBE_VERBS_ALL & ~KUBE_DELETECOLLECTION,
                                         SUBRESOURCES(namespace_subresources),
                                         .strategy = &namespace_strategy,
                                         COLUMNS(namespace_columns),
                                         SELECT(S("name"), S("status.phase")) } };

const struct kind_list kinds_core_namespace = { rows, ARRAY_LEN(rows) };
