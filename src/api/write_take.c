/* SPDX-License-Identifier: Apache-2.0 */
/* From a body or a patch to the object that the client wants; see write_impl.h. */
#include "api/write_impl.h"

#include "api/owners.h"
#include "base/clock.h"
#include "kube/model/apply.h"
#include "kube/model/field.h"
#include "kube/model/patch.h"

/* Send warnings of decoding to the client once, even if there are several attempts. */
struct json *write_tell_warnings(struct api_write *w, struct json *obj)
{
    struct request *rq = w->rq;
    struct str twice = owners_dedup(&rq->arena, obj);
    if (twice.n && !w->warned)
        reply_warn(rq, twice);
    if (w->opts.fv == FIELD_VALIDATION_STRICT)
        return object_strict_status(&rq->arena, rq->res, &w->warnings);
    if (w->opts.fv == FIELD_VALIDATION_WARN && !w->warned)
        for (size_t i = 0; i < w->warnings.n; i++)
            reply_warn(rq, w->warnings.text[i]);
    w->warned = true;
    return NULL;
}

/* Another version of the kind, for field managers that used it. */
static const struct kube_resource *find_version(void *arg, struct str api_version)
{
    const struct request *rq = arg;
    struct str group, version;
    if (!str_cut(api_version, '/', &group, &version)) {
        version = api_version;
        group = STR("");
    }
    return kube_registry_find_kind(&rq->api->reg, group, version, rq->res->kind);
}

struct managed_writer write_manager(struct api_write *w)
{
    struct request *rq = w->rq;
    return (struct managed_writer){ .res = rq->res,
                                    .manager = w->opts.manager,
                                    .subresource = rq->sub ? rq->sub->name : STR(""),
                                    .now_s = clock_wall_ms() / 1000,
                                    .version = find_version,
                                    .version_arg = rq };
}

/* Apply the configuration to `live` and decode the result like any body. */
static struct json *apply_input(struct api_write *w, const struct json *live)
{
    struct request *rq = w->rq;
    struct json *status = NULL;
    struct managed_writer writer = write_manager(w);
    if (apply_config(&rq->arena, &writer, live, w->input, w->opts.force, &w->ad.obj, &status) < 0)
        return status;
    if (object_decode_applied(&rq->arena, rq->res, w->ad.obj, &status) < 0)
        return status;
    if (w->opts.fv == FIELD_VALIDATION_STRICT && w->warnings.n)
        return status_bad_request(
            &rq->arena, str_of(arena_printf(&rq->arena, "error strict decoding YAML: " STR_FMT,
                                            STR_ARG(w->warnings.text[0]))));
    return write_tell_warnings(w, NULL);
}

static struct json *check_applied_name(struct api_write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct str name = meta_name(w->ad.obj), uid = meta_uid(w->ad.obj);
    if (uid.n)
        return status_conflict(
            a, rq->route.group, rq->route.resource, rq->route.name,
            arena_printf(a,
                         "uid mismatch: the provided object specified uid " STR_FMT
                         ", and no existing object was found",
                         STR_ARG(uid)));
    if (name.n == 0)
        return status_bad_request(
            a, str_of(arena_printf(a,
                                   "the name of the object (" STR_FMT
                                   " based on URL) was undeterminable: name must be provided",
                                   STR_ARG(rq->route.name))));
    if (!str_eq(name, rq->route.name))
        return status_bad_request(
            a, str_of(arena_printf(a,
                                   "the name of the object (" STR_FMT
                                   ") does not match the name on the URL (" STR_FMT ")",
                                   STR_ARG(name), STR_ARG(rq->route.name))));
    return NULL;
}

/* The new object with its field managers. */
struct json *write_take_new(struct api_write *w)
{
    struct request *rq = w->rq;
    struct json *empty = managed_empty(&rq->arena, rq->res);
    if (w->patch_type == PATCH_APPLY) {
        struct json *no = apply_input(w, empty);
        if (no)
            return no;
        (void)json_del(meta_of(&rq->arena, w->ad.obj), STR("resourceVersion")); /* new object */
        return check_applied_name(w);
    }
    struct managed_writer writer = write_manager(w);
    w->ad.obj = json_copy(&rq->arena, w->input);
    object_wipe_system_fields(w->ad.obj);
    managed_update(&rq->arena, &writer, empty, w->ad.obj);
    return NULL;
}

/* The body, or the patched document, in place of `from`: the object, or its scale. */
struct json *write_take_input(struct api_write *w, const struct json *from, struct json **ret)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct err err = { 0 };
    bool whole = w->patch_type == PATCH_NONE || w->patch_type == PATCH_APPLY;
    int r = -EINVAL;
    /* Both are large: a copy would be too much, even more so with the result of a patch. */
    if (a->total_bytes > (size_t)API_ARENA_MAX_BYTES / 4 * (whole ? 3 : 2))
        return status_too_much_work(a);
    struct json *doc = json_copy(a, whole ? w->input : from);
    switch (w->patch_type) {
    case PATCH_JSON:
        r = patch_json(a, doc, w->input, ret, &err);
        break;
    case PATCH_MERGE:
        r = patch_merge(a, doc, w->input, ret, &err);
        break;
    case PATCH_STRATEGIC:
        r = patch_strategic(a, rq->res->schema, doc, w->input, ret, &err);
        break;
    case PATCH_NONE:
    case PATCH_APPLY:
        *ret = doc;
        return NULL;
    }
    if (r >= 0 && arena_is_full(a))
        return status_too_much_work(a);
    return r < 0 ? write_patch_status(a, w->patch_type, r, &err) : NULL;
}

/* The object with its members in the order in which upstream writes them. */
static const struct json *in_order(struct api_write *w, const struct json *obj)
{
    struct arena *a = &w->rq->arena;
    struct json *copy = json_clone(a, obj);
    if (w->rq->res->schema->flags & SCHEMA_BUILTIN)
        (void)schema_normalize(a, w->rq->res->schema, copy, "", NULL, NULL, NULL);
    return copy;
}

/*
 * Report errors in a patched object against the patch. Like upstream, print the result, with keys
 * sorted in every object that the patch touched.
 */
static struct str shown_patch(void *arg)
{
    struct api_write *w = arg;
    struct arena *a = &w->rq->arena;
    struct json *result;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    if (w->patch_type == PATCH_STRATEGIC) {
        field_go_print(&text, w->input, false);
    } else if (!write_take_input(w, in_order(w, w->ad.old), &result)) {
        patch_sort_touched(a, result, w->input);
        (void)json_write(&text, result);
    }
    return str_copy_arena(a, buf_str(&text));
}

/* Decode the patched object like any body. */
static struct json *decode_patched(struct api_write *w)
{
    struct request *rq = w->rq;
    struct json *status = NULL;
    w->warnings.n = w->n_warnings;
    if (object_decode_patched(&rq->arena, rq->res, w->ad.obj, w->opts.fv, &w->warnings, shown_patch,
                              w, w->patch_type == PATCH_STRATEGIC, &status) < 0)
        return status;
    return write_tell_warnings(w, w->ad.obj);
}

/* sent: the tree that carries the client's resourceVersion. */
struct json *write_check_revision(struct api_write *w, const struct json *sent)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct str given = meta_resource_version(sent);
    uint64_t rev;
    if (given.n == 0 || str_is(given, "0")) {
        if (rq->res->strategy->unconditional_update || w->patch_type != PATCH_NONE ||
            (w->form && w->form->has_own_body))
            return NULL;
        bool crd = rq->res->crd;
        struct field_errors errs = field_errors_init(a);
        struct fpath meta = fpath_child(NULL, STR("metadata")),
                     at = fpath_child(&meta, STR("resourceVersion"));
        struct json zero = { .type = JSON_NUMBER, .s = crd ? STR("0") : STR("0x0") };
        field_error(&errs, FIELD_INVALID, &at, &zero, "must be specified for an update");
        return status_invalid(a, rq->res->group, crd ? rq->res->plural : rq->res->kind,
                              rq->route.name, &errs);
    }
    if (parse_u64(given, 0, UINT64_MAX, &rev) < 0) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
        (void)buf_add_cstr(&text, "strconv.ParseUint: parsing ");
        field_go_quote(&text, given);
        (void)buf_add_cstr(&text, ": invalid syntax");
        return status_new(a, 500, "", str_copy_arena(a, buf_str(&text)));
    }
    if (rev != w->old_rev)
        return status_modified(a, rq->route.group, rq->route.resource, rq->route.name);
    return NULL;
}

/* Upstream's storage key of a kind, which its message shows when a uid does not match. */
static const char *upstream_key(struct arena *a, const struct request *rq)
{
    static const char *const odd[][2] = { { "nodes", "minions" },
                                          { "services", "services/specs" },
                                          { "endpoints", "services/endpoints" },
                                          { "ingresses", "ingress" },
                                          { "replicationcontrollers", "controllers" } };
    const struct kube_resource *res = rq->res;
    const char *at = str_dup_arena(a, res->plural), *ns = rq->route.ns.n ? "/" : "";
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (!res->crd && strcmp(at, odd[i][0]) == 0)
            at = odd[i][1];
    bool by_group = res->crd || str_is(res->group, "apiextensions.k8s.io") ||
                    str_is(res->group, "apiregistration.k8s.io");
    return arena_printf(a, "/" STR_FMT "%s%s%s" STR_FMT "/" STR_FMT,
                        STR_ARG(by_group ? res->group : STR("")), by_group ? "/" : "", at, ns,
                        STR_ARG(rq->route.ns), STR_ARG(rq->route.name));
}

/* The uid in an update is a precondition; a patch that changes it fails validation. */
static struct json *check_uid(struct api_write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct str uid = meta_uid(w->ad.obj);
    if (w->patch_type != PATCH_NONE || uid.n == 0 || str_eq(uid, meta_uid(w->ad.old)))
        return NULL;
    return status_conflict(
        a, rq->route.group, rq->route.resource, rq->route.name,
        arena_printf(a,
                     "StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "
                     "AdditionalErrorMsg: Precondition failed: UID in precondition: " STR_FMT
                     ", UID in object meta: " STR_FMT,
                     upstream_key(a, rq), STR_ARG(uid), STR_ARG(meta_uid(w->ad.old))));
}

/* The object as the client wants it, with its field managers. */
struct json *write_take_object(struct api_write *w)
{
    struct json *no;
    if (w->patch_type == PATCH_APPLY) {
        no = apply_input(w, w->ad.old);
        return no ? no : write_check_revision(w, w->ad.obj);
    }
    no = write_take_input(w, w->ad.old, &w->ad.obj);
    if (!no && w->patch_type != PATCH_NONE)
        no = decode_patched(w);
    if (!no)
        no = check_uid(w);
    if (!no)
        no = write_check_revision(w, w->ad.obj);
    if (no)
        return no;
    struct managed_writer writer = write_manager(w);
    managed_update(&w->rq->arena, &writer, w->ad.old, w->ad.obj);
    return NULL;
}
