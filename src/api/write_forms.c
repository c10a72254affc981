/* SPDX-License-Identifier: Apache-2.0 */
/* Subresources whose body is not the object that they change: scale and finalize. */
#include "api/write_impl.h"

#include "api/scale.h"
#include "kube/model/apply.h"
#include "kube/model/builtin.h"

/* ------------------------------------------------------------------ scale */

/* The resource as which the body of a scale is decoded. */
static const struct kube_resource *scale_resource(void)
{
    static const struct kube_strategy strategy = { .unconditional_update = true };
    static struct kube_resource res = { .group = { "autoscaling", 11 },
                                        .version = { "v1", 2 },
                                        .kind = { "Scale", 5 },
                                        .plural = { "scales", 6 },
                                        .strategy = &strategy };
    if (!res.schema)
        res.schema = builtin_schema(res.group, res.version, res.kind);
    return &res;
}

/*
 * The requested Scale with the field managers of its replicas. old: the current one, with its own.
 */
static struct json *take_scale(struct api_write *w, const struct json *old, struct json **ret)
{
    struct arena *a = &w->rq->arena;
    struct json *no = NULL;
    struct managed_writer writer = write_manager(w);
    writer.res = NULL;
    if (w->patch_type == PATCH_APPLY) {
        if (apply_config(a, &writer, old, w->input, w->opts.force, ret, &no) >= 0)
            (void)object_decode_tree(a, scale_resource(), *ret, FIELD_VALIDATION_IGNORE, NULL, &no);
        return no;
    }
    no = write_take_input(w, old, ret);
    if (no)
        return no;
    w->warnings.n = w->n_warnings;
    if (object_decode_tree(a, scale_resource(), *ret, w->opts.fv, &w->warnings, &no) >= 0)
        no = write_tell_warnings(w, *ret);
    if (!no)
        managed_update(a, &writer, old, *ret);
    return no;
}

static struct json *take_scale_of_object(struct api_write *w)
{
    struct arena *a = &w->rq->arena;
    struct json *scale, *old = scale_of(a, w->rq->res, w->ad.old);
    struct err err = { 0 };
    struct managed_writer writer = write_manager(w);
    const struct json *owners = json_path(w->ad.old, "metadata", "managedFields", NULL);
    managed_store(a, old, apply_to_scale(a, &writer, owners));
    struct json *no = take_scale(w, old, &scale);
    if (!no)
        no = write_check_revision(w, scale);
    if (no)
        return no;
    w->ad.obj = json_clone(a, w->ad.old);
    if (scale_apply(a, w->rq->res, w->ad.obj, scale, &err) < 0) {
        struct field_errors errs = field_errors_init(a);
        struct fpath spec = fpath_child(NULL, STR("spec")),
                     at = fpath_child(&spec, STR("replicas"));
        field_error(&errs, FIELD_INVALID, &at, json_path(scale, "spec", "replicas", NULL), "%s",
                    err_text(&err));
        return status_invalid(a, STR("autoscaling"), STR("Scale"), w->rq->route.name, &errs);
    }
    managed_store(
        a, w->ad.obj,
        apply_from_scale(a, &writer, owners, json_path(scale, "metadata", "managedFields", NULL)));
    return NULL;
}

/* ------------------------------------------------------------------ finalize */

/* spec.finalizers is all that the finalize subresource writes. */
static struct json *take_finalizers(struct api_write *w)
{
    struct arena *a = &w->rq->arena;
    struct json *no = write_take_object(w);
    if (no)
        return no;
    const struct json *list = json_path(w->ad.obj, "spec", "finalizers", NULL);
    struct json *obj = json_clone(a, w->ad.old),
                *managed = json_path(w->ad.obj, "metadata", "managedFields", NULL);
    json_setc(a, json_obj(a, obj, "spec"), "finalizers",
              list ? json_clone(a, list) : json_new_array(a));
    managed_store(a, obj, managed ? json_clone(a, managed) : NULL);
    w->ad.obj = obj;
    return NULL;
}

static const struct write_form forms[] = {
    { .subresource = "scale", .take = take_scale_of_object, .has_own_body = true },
    { .subresource = "finalize", .take = take_finalizers, .as_taken = true },
};

const struct write_form *write_form_of(const struct request *rq)
{
    for (size_t i = 0; rq->sub && i < ARRAY_LEN(forms); i++)
        if (str_is(rq->sub->name, forms[i].subresource))
            return &forms[i];
    return NULL;
}
