/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create, update and patch. (delete.c has the rest of the writing verbs.)
 *
 *     [line] -> options -> body -> [read current] -> shape -> [namespace] -> transaction -> reply
 *                                       ^                                        |
 *                                       +------- another write was faster -------+
 *
 * Writes of one object queue in its line (line.h), so that each of them reads the result of the one
 * before it. Controllers, the deletion of a collection and other servers on the same store do not
 * queue there and may still write first: then a write that names a resourceVersion fails, and one
 * that does not is computed again from the newer object, a bounded number of times.
 */
#include "api/write.h"

#include "api/admit/admit.h"
#include "api/admit/claims.h"
#include "api/admit/node_restriction.h"
#include "api/admit/policies.h"
#include "api/auth/authz.h"
#include "api/controllers/controllers.h"
#include "api/controllers/csr.h"
#include "api/encode.h"
#include "api/filter.h"
#include "api/negotiate.h"
#include "api/owners.h"
#include "api/scale.h"
#include "api/unattended.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "kube/model/apply.h"
#include "kube/model/builtin.h"
#include "kube/model/patch.h"

#include <errno.h>

enum {
    WRITE_MAX_ATTEMPTS = 16, /* of an update or patch without resourceVersion */
    NAME_MAX_ATTEMPTS = 8,   /* of a generated name */
    QUOTA_MAX_ATTEMPTS = 64  /* at counting a new object in a quota that others count in */
};

/* Where an attempt begins; the next one begins there again, with the memory of the first. */
struct attempt {
    struct arena_mark mark;
    const struct write *write; /* as it was */
    struct warning *last_warning;
    size_t warning_runes;
};

struct write {
    struct request *rq;
    struct write_options opts;
    struct object_warnings warnings;
    enum patch_type patch_type;
    enum object_part part;
    const struct write_action *action; /* or NULL */
    struct claims claims;
    size_t lost_claim;           /* operation that found another holder */
    struct admission *admission; /* NULL before it has been read, and where there is none */
    struct json *input;          /* the decoded body, or the patch; cloned for every attempt */
    struct str key, ns_key;
    struct attempt first;
    unsigned attempt;
    bool warned;
    size_t n_warnings; /* of `input`; what decoding adds comes after them */

    struct json *old; /* current object in the request's version; NULL: create */
    uint64_t old_rev;
    struct str old_value; /* stored bytes */
    uint64_t ns_rev;

    struct json *obj; /* what is being written, in the request's version */
    struct buf value; /* and as it will be stored */
    bool removes;     /* the update takes the last finalizer of a deleted object */
    int success;      /* 200 or 201 */
};

/* ------------------------------------------------------------------ shaping the object */

static struct object_env env_of(struct request *rq)
{
    char uid[37];
    sys_uuid(uid);
    return (struct object_env){ .now_s = clock_wall_ms() / 1000,
                                .uid = str_copy_arena(&rq->arena, str_of(uid)),
                                .random = sys_random_u64(),
                                .namespace = rq->res->namespaced ? rq->route.ns : STR("") };
}

static bool is_crd(const struct kube_resource *res)
{
    return str_is(res->group, "apiextensions.k8s.io") &&
           str_is(res->plural, "customresourcedefinitions");
}

/* Warnings of decoding go to the client once, however many attempts there are. */
static struct json *tell_warnings(struct write *w, struct json *obj)
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

/* Another version of the kind that is being written, for owners that used it. */
static const struct kube_resource *find_version(void *arg, struct str api_version)
{
    const struct request *rq = arg;
    struct str group, version;
    if (!str_cut(api_version, '/', &group, &version)) {
        version = api_version;
        group = STR("");
    }
    return registry_find_kind(&rq->api->reg, group, version, rq->res->kind);
}

static struct managed_writer writer_of(struct write *w)
{
    struct request *rq = w->rq;
    return (struct managed_writer){ .res = rq->res,
                                    .manager = w->opts.manager,
                                    .subresource = rq->sub ? rq->sub->name : STR(""),
                                    .now_s = clock_wall_ms() / 1000,
                                    .version = find_version,
                                    .version_arg = rq };
}

/* What the configuration makes of `live`, decoded like any body. */
static struct json *apply_input(struct write *w, const struct json *live)
{
    struct request *rq = w->rq;
    struct json *status = NULL;
    struct managed_writer writer = writer_of(w);
    if (apply_config(&rq->arena, &writer, live, w->input, w->opts.force, &w->obj, &status) < 0)
        return status;
    if (object_decode_applied(&rq->arena, rq->res, w->obj, &status) < 0)
        return status;
    if (w->opts.fv == FIELD_VALIDATION_STRICT && w->warnings.n)
        return status_bad_request(
            &rq->arena, str_of(arena_printf(&rq->arena, "error strict decoding YAML: " STR_FMT,
                                            STR_ARG(w->warnings.text[0]))));
    return tell_warnings(w, NULL);
}

static struct json *check_applied_name(struct write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct str name = meta_name(w->obj), uid = meta_uid(w->obj);
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

/* The new object with the owners of its fields. */
static struct json *take_new(struct write *w)
{
    struct request *rq = w->rq;
    struct json *empty = managed_empty(&rq->arena, rq->res);
    if (w->patch_type == PATCH_APPLY) {
        struct json *no = apply_input(w, empty);
        if (no)
            return no;
        (void)json_del(meta_of(&rq->arena, w->obj), STR("resourceVersion")); /* of nothing */
        return check_applied_name(w);
    }
    struct managed_writer writer = writer_of(w);
    w->obj = json_copy(&rq->arena, w->input);
    object_wipe_system_fields(w->obj);
    managed_update(&rq->arena, &writer, empty, w->obj);
    return NULL;
}

/* What is not there is made by an update or an apply only for those who may create it. */
static struct json *may_create(struct request *rq)
{
    const struct api *api = rq->api;
    if (rq->route.verb == KUBE_CREATE || !api->authorize)
        return NULL;
    struct api_attributes at = authz_attributes(rq);
    at.verb = STR("create");
    scoped(buf_fini_scoped) struct buf reason = BUF_INIT(BUF_MAX_DEFAULT);
    if (api->authorize(api->authorize_arg, &at, &reason))
        return NULL;
    return authz_forbidden(&rq->arena, &at, buf_str(&reason));
}

static struct json *shape_new(struct write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct object_env env = env_of(rq);
    struct json *status = may_create(rq);
    if (!status)
        status = take_new(w);
    if (status)
        return status;
    uint64_t rev;
    if (parse_u64(meta_resource_version(w->obj), 1, UINT64_MAX, &rev) == 0)
        return status_new(a, 500, "",
                          STR("resourceVersion should not be set on objects to be created"));
    status = admit_new(rq, w->admission, w->obj);
    if (!status)
        status = node_restrict_create(rq, w->obj, admission_node(w->admission));
    if (status)
        return status;
    if (object_prepare_create(a, rq->res, w->obj, &env, &status) < 0)
        return status;
    admit_named(rq, w->admission, w->obj);
    status = claims_choose(rq, &w->claims, w->obj, NULL);
    if (status)
        return status;
    if (object_validate(a, rq->res, OBJECT_WHOLE, w->obj, NULL, &status) < 0)
        return status;
    status = admit_quota(rq, w->admission, w->obj, NULL);
    if (status)
        return status;
    if (is_crd(rq->res))
        crds_prepare(rq->api->crds, a, w->obj);
    w->key = key_object(a, rq->res, rq->route.ns, meta_name(w->obj));
    w->success = 201;
    return NULL;
}

static bool is_scale(const struct request *rq)
{
    return rq->sub && str_is(rq->sub->name, "scale");
}

/* The body, or the patched document, in place of `from`: the object, or its scale. */
static struct json *take_input(struct write *w, const struct json *from, struct json **ret)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct err err = { 0 };
    bool whole = w->patch_type == PATCH_NONE || w->patch_type == PATCH_APPLY;
    int r = -EINVAL;
    /* Both are large: a copy would be too much, and more so what a patch makes of it. */
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

/* Members in the order in which upstream writes them. */
static const struct json *in_order(struct write *w, const struct json *obj)
{
    struct arena *a = &w->rq->arena;
    struct json *copy = json_clone(a, obj);
    if (w->rq->res->schema->flags & SCHEMA_BUILTIN)
        (void)schema_normalize(a, w->rq->res->schema, copy, "", NULL, NULL, NULL);
    return copy;
}

/*
 * What is wrong with the result of a patch is told of the patch, shown as upstream shows it: the
 * result, with the members sorted of what the patch went through.
 */
static struct str shown_patch(void *arg)
{
    struct write *w = arg;
    struct arena *a = &w->rq->arena;
    struct json *result;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    if (w->patch_type == PATCH_STRATEGIC) {
        go_print(&text, w->input, false);
    } else if (!take_input(w, in_order(w, w->old), &result)) {
        patch_sort_touched(a, result, w->input);
        (void)json_write(&text, result);
    }
    return str_copy_arena(a, buf_str(&text));
}

/* What a patch made of the object has to be decoded like any body. */
static struct json *decode_patched(struct write *w)
{
    struct request *rq = w->rq;
    struct json *status = NULL;
    w->warnings.n = w->n_warnings;
    if (object_decode_patched(&rq->arena, rq->res, w->obj, w->opts.fv, &w->warnings, shown_patch, w,
                              w->patch_type == PATCH_STRATEGIC, &status) < 0)
        return status;
    return tell_warnings(w, w->obj);
}

/* sent: what carries the client's resourceVersion. */
static struct json *check_revision(struct write *w, const struct json *sent)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct str given = meta_resource_version(sent);
    uint64_t rev;
    if (given.n == 0 || str_is(given, "0")) {
        if (rq->res->strategy->unconditional_update || w->patch_type != PATCH_NONE || is_scale(rq))
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
        go_quote(&text, given);
        (void)buf_add_cstr(&text, ": invalid syntax");
        return status_new(a, 500, "", str_copy_arena(a, buf_str(&text)));
    }
    if (rev != w->old_rev)
        return status_modified(a, rq->route.group, rq->route.resource, rq->route.name);
    return NULL;
}

/* spec.finalizers is all that the finalize subresource writes. */
static void shape_finalize(struct write *w)
{
    struct arena *a = &w->rq->arena;
    const struct json *list = json_path(w->obj, "spec", "finalizers", NULL);
    struct json *obj = json_clone(a, w->old),
                *managed = json_path(w->obj, "metadata", "managedFields", NULL);
    json_setc(a, json_obj(a, obj, "spec"), "finalizers",
              list ? json_clone(a, list) : json_new_array(a));
    managed_store(a, obj, managed ? json_clone(a, managed) : NULL);
    w->obj = obj;
}

/* What the body of a scale is decoded as. */
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

/* The Scale that is wanted, with the owners of its replicas. old: as it stands, with its own. */
static struct json *take_scale(struct write *w, const struct json *old, struct json **ret)
{
    struct arena *a = &w->rq->arena;
    struct json *no = NULL;
    struct managed_writer writer = writer_of(w);
    writer.res = NULL;
    if (w->patch_type == PATCH_APPLY) {
        if (apply_config(a, &writer, old, w->input, w->opts.force, ret, &no) >= 0)
            (void)object_decode_tree(a, scale_resource(), *ret, FIELD_VALIDATION_IGNORE, NULL, &no);
        return no;
    }
    no = take_input(w, old, ret);
    if (no)
        return no;
    w->warnings.n = w->n_warnings;
    if (object_decode_tree(a, scale_resource(), *ret, w->opts.fv, &w->warnings, &no) >= 0)
        no = tell_warnings(w, *ret);
    if (!no)
        managed_update(a, &writer, old, *ret);
    return no;
}

static struct json *shape_scale(struct write *w)
{
    struct arena *a = &w->rq->arena;
    struct json *scale, *old = scale_of(a, w->rq->res, w->old);
    struct err err = { 0 };
    struct managed_writer writer = writer_of(w);
    const struct json *owners = json_path(w->old, "metadata", "managedFields", NULL);
    managed_store(a, old, apply_to_scale(a, &writer, owners));
    struct json *no = take_scale(w, old, &scale);
    if (!no)
        no = check_revision(w, scale);
    if (no)
        return no;
    w->obj = json_clone(a, w->old);
    if (scale_apply(a, w->rq->res, w->obj, scale, &err) < 0) {
        struct field_errors errs = field_errors_init(a);
        struct fpath spec = fpath_child(NULL, STR("spec")),
                     at = fpath_child(&spec, STR("replicas"));
        field_error(&errs, FIELD_INVALID, &at, json_path(scale, "spec", "replicas", NULL), "%s",
                    err_text(&err));
        return status_invalid(a, STR("autoscaling"), STR("Scale"), w->rq->route.name, &errs);
    }
    managed_store(
        a, w->obj,
        apply_from_scale(a, &writer, owners, json_path(scale, "metadata", "managedFields", NULL)));
    return NULL;
}

static bool is_finalize(const struct request *rq)
{
    return rq->sub && str_is(rq->sub->name, "finalize");
}

static bool has_spec_finalizers(const struct kube_resource *res, const struct json *obj)
{
    const struct json *list = json_path(obj, "spec", "finalizers", NULL);
    return res->strategy->has_spec_finalizers && json_is(list, JSON_ARRAY) && list->n > 0;
}

bool write_is_finished(const struct kube_resource *res, const struct json *obj)
{
    return !meta_has_finalizers(obj) && !has_spec_finalizers(res, obj);
}

/* A deletion that waits for nothing more: its time is over, and no finalizer is left. */
static bool is_removed(const struct kube_resource *res, const struct json *obj)
{
    return meta_is_deleting(obj) && write_is_finished(res, obj) &&
           json_int_or(json_path(obj, "metadata", "deletionGracePeriodSeconds", NULL), 0) == 0;
}

/* Where upstream keeps objects of a kind, which it tells when a uid does not match. */
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

/* The uid that an update names is a precondition; a patch that changes it fails validation. */
static struct json *check_uid(struct write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct str uid = meta_uid(w->obj);
    if (w->patch_type != PATCH_NONE || uid.n == 0 || str_eq(uid, meta_uid(w->old)))
        return NULL;
    return status_conflict(
        a, rq->route.group, rq->route.resource, rq->route.name,
        arena_printf(a,
                     "StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "
                     "AdditionalErrorMsg: Precondition failed: UID in precondition: " STR_FMT
                     ", UID in object meta: " STR_FMT,
                     upstream_key(a, rq), STR_ARG(uid), STR_ARG(meta_uid(w->old))));
}

/* The object as the client wants it, with the owners of its fields. */
static struct json *take_update(struct write *w)
{
    struct json *no;
    if (w->patch_type == PATCH_APPLY) {
        no = apply_input(w, w->old);
        return no ? no : check_revision(w, w->obj);
    }
    no = take_input(w, w->old, &w->obj);
    if (!no && w->patch_type != PATCH_NONE)
        no = decode_patched(w);
    if (!no)
        no = check_uid(w);
    if (!no)
        no = check_revision(w, w->obj);
    if (no)
        return no;
    struct managed_writer writer = writer_of(w);
    managed_update(&w->rq->arena, &writer, w->old, w->obj);
    return NULL;
}

/*
 * A controller of this server lets go of an object that is being deleted. What is wrong with the
 * rest of it, since it was stored by other rules or past the API, must not keep it here for ever.
 */
static bool is_release(const struct write *w)
{
    const struct request *rq = w->rq;
    return rq->in_process && str_is(rq->identity.user, API_CONTROLLER_USER) &&
           meta_is_deleting(w->old);
}

static struct json *validate_update(struct write *w)
{
    struct request *rq = w->rq;
    if (is_release(w))
        return NULL;
    struct object_warnings *warnings = arena_new(&rq->arena, struct object_warnings);
    struct json *status = NULL;
    warnings->a = &rq->arena;
    (void)object_validate_update(&rq->arena, rq->res, w->part, w->obj, w->old, warnings, &status);
    for (size_t i = 0; i < warnings->n; i++)
        reply_warn(rq, warnings->text[i]);
    return status;
}

static struct json *shape_update(struct write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct object_env env = env_of(rq);
    struct json *status = NULL;
    if (w->action) {
        status = node_restrict_update(rq, w->input, w->old);
        return status ? status : w->action->shape(rq, w->input, w->old, &w->obj);
    }
    status = is_scale(rq) ? shape_scale(w) : take_update(w);
    if (!status)
        status = node_restrict_update(rq, w->obj, w->old);
    if (status)
        return status;
    if (!rq->sub && rq->res->group.n == 0 && str_is(rq->res->plural, "pods"))
        admit_tolerations(a, w->obj); /* those that a write has dropped */
    if (is_finalize(rq)) {
        shape_finalize(w);
    } else {
        if (object_prepare_update(a, rq->res, w->part, w->obj, w->old, &env, rq->route.name,
                                  &status) < 0)
            return status;
        csr_prepare_write(rq, w->obj, w->old);
        if (w->part == OBJECT_WHOLE)
            status = claims_choose(rq, &w->claims, w->obj, w->old);
        if (status)
            return status;
        status = validate_update(w);
        if (status)
            return status;
    }
    if (is_crd(rq->res))
        crds_prepare(rq->api->crds, a, w->obj);
    w->removes = is_removed(rq->res, w->obj);
    w->success = 200;
    return w->removes ? NULL : admit_quota(rq, w->admission, w->obj, w->old);
}

/* The bytes for the store, in the storage version. */
static int to_stored(struct write *w, struct err *err)
{
    int r = encode_for_storage(&w->rq->arena, w->rq->res, w->obj, &w->value);
    return r < 0 ? err_set(err, E_LIMIT, "the object is larger than %d bytes",
                           (int)WRITE_VALUE_MAX_BYTES)
                 : 0;
}

/* ------------------------------------------------------------------ one after the other */

static void on_line_run(struct line_place *p)
{
    struct request *rq = container_of(p, struct request, line);
    rq->on_turn(rq);
}

static void on_line_refuse(struct line_place *p)
{
    struct request *rq = container_of(p, struct request, line);
    reply_status(rq, status_timeout(&rq->arena, STR("other writes of the object took too long")));
}

void write_in_turn(struct request *rq, struct str key, void (*run)(struct request *rq))
{
    rq->on_turn = run;
    rq->line.run = on_line_run;
    rq->line.refuse = on_line_refuse;
    switch (line_enter(&rq->api->lines, &rq->line, key)) {
    case LINE_RUN:
        run(rq);
        return;
    case LINE_WAIT:
        return;
    case LINE_FULL:
        reply_status(rq, status_too_many_requests(&rq->arena, 1));
        return;
    }
}

/* ------------------------------------------------------------------ reply */

void write_reply_object(struct request *rq, int code, struct str value, uint64_t rev)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    struct err err = { 0 };
    struct stored st = { .value = value, .rev = rev, .is_current = true };
    int r = encode_answer(rq, st, &out, &err);
    if (r < 0)
        reply_err(rq, r, &err);
    else
        reply_bytes(rq, code, rep_content_type(&rq->rep, false), buf_str(&out));
}

static void say_warning(void *rq, struct str text)
{
    reply_warn(rq, text);
}

/* What has been written, or nothing if it was an action. */
static void reply_written(struct write *w, uint64_t rev)
{
    const struct kube_strategy *strategy = w->rq->res->strategy;
    if (strategy->warn && !w->action && !w->rq->sub)
        strategy->warn(&w->rq->arena, w->obj, w->old, say_warning, w->rq);
    if (w->success == 201)
        unattended_warn(w->rq);
    if (w->action)
        reply_status(w->rq, status_new(&w->rq->arena, 201, "", STR("")));
    else
        write_reply_object(w->rq, w->success, buf_str(&w->value), rev);
}

/* ------------------------------------------------------------------ transaction */

static void on_current(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                       const struct err *err);

/* Read what is stored under the key now. */
static void look_up(struct write *w, store_get_cb done)
{
    struct request *rq = w->rq;
    struct err err = { 0 };
    request_busy(rq);
    int r = store_get(rq->api->store, w->key, 0, done, w, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}
static void read_namespace(struct write *w);

/* The body is decoded; whatever the request takes from now on belongs to an attempt. */
static void first_attempt(struct write *w)
{
    struct request *rq = w->rq;
    struct write *as_it_was = arena_new(&rq->arena, struct write);
    *as_it_was = *w;
    w->first = (struct attempt){ .write = as_it_was,
                                 .last_warning = rq->last_warning,
                                 .warning_runes = rq->warning_runes,
                                 .mark = arena_mark(&rq->arena) };
}

/*
 * Another write was faster: forget the attempt with its warnings and what it has read, and begin
 * again. Otherwise sixteen attempts at a large object would need sixteen times its memory.
 */
static void begin_again(struct write *w)
{
    struct request *rq = w->rq;
    struct write again = *w->first.write;
    again.value = w->value;
    again.first = w->first;
    again.attempt = w->attempt;
    bool update = w->old;
    *w = again;
    rq->last_warning = w->first.last_warning;
    rq->warning_runes = w->first.warning_runes;
    if (rq->last_warning)
        rq->last_warning->next = NULL;
    else
        rq->warnings = NULL;
    arena_rewind(&rq->arena, &w->first.mark);
    if (update || w->patch_type == PATCH_APPLY)
        look_up(w, on_current);
    else
        read_namespace(w);
}

static void on_existing(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                        const struct err *err)
{
    struct write *w = arg;
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct json *was = NULL;
    (void)rev;
    (void)err;
    if (request_idle(rq))
        return;
    struct json *no =
        status_already_exists(a, rq->route.group, rq->route.resource, meta_name(w->obj));
    bool leaving = r >= 0 && kv &&
                   json_parse(a, str_copy_arena(a, kv->value), NULL, &was, NULL) >= 0 &&
                   meta_is_deleting(was);
    if (leaving)
        json_set_str(a, no, "message",
                     str_of(arena_printf(a, "object is being deleted: " STR_FMT,
                                         STR_ARG(status_message(no)))));
    reply_status(rq, no);
}

/* The name is taken; it is said when it will not be for long. */
static void refuse_existing(struct write *w)
{
    struct request *rq = w->rq;
    struct err err = { 0 };
    request_busy(rq);
    int r = store_get(rq->api->store, w->key, 0, on_existing, w, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

static void create_lost(struct write *w, size_t failed_op)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    bool ns_moved = w->ns_key.n && failed_op == 0;
    if (ns_moved)
        namespace_table_forget(&rq->api->namespace_table, rq->route.ns);
    bool generated =
        json_path(w->input, "metadata", "generateName", NULL) && meta_name(w->input).n == 0;
    unsigned max = ns_moved || w->patch_type == PATCH_APPLY ? WRITE_MAX_ATTEMPTS
                   : generated                              ? NAME_MAX_ATTEMPTS
                                                            : 0;
    if (w->attempt + 1 < max) {
        w->attempt++;
        begin_again(w);
    } else if (generated) {
        reply_status(rq, status_generate_name_conflict(a, rq->route.group, rq->route.resource,
                                                       meta_name(w->obj)));
    } else {
        refuse_existing(w);
    }
}

static void update_lost(struct write *w)
{
    struct request *rq = w->rq;
    bool conditional = w->patch_type == PATCH_NONE && meta_resource_version(w->input).n > 0;
    if (!conditional && ++w->attempt < WRITE_MAX_ATTEMPTS)
        begin_again(w);
    else
        reply_status(
            rq, status_modified(&rq->arena, rq->route.group, rq->route.resource, rq->route.name));
}

/* Another Service holds what was chosen: choose again, unless the client did. */
static void on_reclaimed(void *arg, bool is_free)
{
    struct write *w = arg;
    struct request *rq = w->rq;
    const struct json *no = is_free ? NULL : claims_refuse(rq, &w->claims, w->obj, w->lost_claim);
    if (!no && ++w->attempt >= CLAIMS_MAX_ATTEMPTS)
        no = status_internal(&rq->arena, STR("failed to allocate a serviceIP: range is full"));
    if (no)
        reply_status(rq, no);
    else
        begin_again(w);
}

static void claim_lost(struct write *w, size_t failed_op)
{
    w->lost_claim = failed_op;
    if (claims_reclaim(w->rq, &w->claims, failed_op, on_reclaimed, w) < 0)
        on_reclaimed(w, false);
}

/* A quota has been written meanwhile: see what is left of it now. */
static void admission_lost(struct write *w)
{
    struct request *rq = w->rq;
    if (++w->attempt < QUOTA_MAX_ATTEMPTS)
        begin_again(w);
    else
        reply_status(rq, status_modified(&rq->arena, rq->route.group, rq->route.resource,
                                         meta_name(w->obj)));
}

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct write *w = arg;
    struct request *rq = w->rq;
    if (res->r >= 0)
        controllers_written(rq->api,
                            &(struct written){ .res = rq->res,
                                               .key = w->key,
                                               .name = meta_name(w->obj),
                                               .old = w->old,
                                               .obj = w->removes ? NULL : w->obj,
                                               .value = w->removes ? STR("") : buf_str(&w->value),
                                               .counted = admit_counted(w->admission),
                                               .rev = res->rev });
    if (request_idle(rq))
        return;
    if (res->r == E_CONFLICT && admit_lost(w->admission, res->failed_op))
        admission_lost(w);
    else if (res->r == E_CONFLICT && claims_lost(&w->claims, res->failed_op))
        claim_lost(w, res->failed_op);
    else if (res->r == E_CONFLICT && !w->old)
        create_lost(w, res->failed_op);
    else if (res->r == E_CONFLICT)
        update_lost(w);
    else if (res->r < 0)
        reply_store_err(rq, res->r, 0, err);
    else
        reply_written(w, res->rev);
}

static void commit(struct write *w)
{
    struct request *rq = w->rq;
    struct store_op ops[STORE_TXN_MAX_OPS];
    size_t n = 0;
    if (w->ns_key.n)
        ops[n++] = (struct store_op){
            .kind = STORE_CHECK, .key = w->ns_key, .cmp = STORE_MOD_REV, .cmp_rev = w->ns_rev
        };
    ops[n++] = (struct store_op){ .kind = w->removes ? STORE_DELETE : STORE_PUT,
                                  .key = w->key,
                                  .value = w->removes ? STR("") : buf_str(&w->value),
                                  .cmp = w->old ? STORE_MOD_REV : STORE_ABSENT,
                                  .cmp_rev = w->old_rev };
    struct err err = { 0 };
    const struct json *left = w->removes ? NULL : w->obj;
    int r = owners_ops(&rq->arena, w->key, w->old, left, ops, &n, &err);
    placed_ops(&rq->arena, w->key, w->old, left, ops, &n);
    if (r >= 0)
        r = claims_ops(&rq->arena, &w->claims, rq->res, w->old, left, ops, &n, &err);
    if (r >= 0)
        r = admit_ops(rq, w->admission, ops, &n, &err);
    if (r < 0) {
        reply_err(rq, r, &err);
        return;
    }
    rq->budget = BUDGET_INIT; /* of the answer, or of the next attempt */
    request_busy(rq);
    r = store_txn(rq->api->store, ops, n, on_txn, w, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

static void on_dry_run(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                       const struct err *err)
{
    struct write *w = arg;
    struct request *rq = w->rq;
    (void)rev;
    if (request_idle(rq))
        return;
    if (r < 0)
        reply_store_err(rq, r, 0, err);
    else if (kv && !w->old)
        create_lost(w, w->ns_key.n ? 1 : 0);
    else
        reply_written(w, w->old_rev);
}

/* The object has its shape; no: why it is not written. */
static void on_admitted(void *arg, struct json *no)
{
    struct write *w = arg;
    struct request *rq = w->rq;
    struct err err = { 0 };
    if (!no && arena_is_full(&rq->arena))
        no = status_too_much_work(&rq->arena);
    if (no) {
        reply_status(rq, no);
        return;
    }
    if (w->old && !w->action && !w->removes && object_same(w->old, w->obj) &&
        managed_same(w->old, w->obj)) {
        write_reply_object(rq, 200, w->old_value, w->old_rev);
        return;
    }
    int r = to_stored(w, &err);
    if (r < 0 && w->patch_type != PATCH_APPLY) { /* as upstream: better untracked than refused */
        managed_store(&rq->arena, w->obj, NULL);
        err = (struct err){ 0 };
        r = to_stored(w, &err);
    }
    if (r < 0)
        reply_err(rq, r, &err);
    else if (w->opts.dry_run)
        look_up(w, on_dry_run); /* is the name free? */
    else
        commit(w);
}

static void shape_and_commit(struct write *w)
{
    struct request *rq = w->rq;
    struct json *no = w->old ? shape_update(w) : shape_new(w);
    if (!no && arena_is_full(&rq->arena))
        no = status_too_much_work(&rq->arena);
    if (!no)
        no = authz_check_write(rq, w->obj, w->old);
    if (!no)
        no = csr_check_write(rq, w->obj, w->old);
    if (no || w->action || !policies_wanted(rq)) {
        on_admitted(w, no);
        return;
    }
    const struct policy_target target = { .operation = w->old ? "UPDATE" : "CREATE",
                                          .name = meta_name(w->obj),
                                          .object = w->obj,
                                          .old = w->old,
                                          .dry_run = w->opts.dry_run };
    policies_check(rq, &target, on_admitted, w);
}

/* ------------------------------------------------------------------ reads before a write */

static struct json *check_namespace(struct write *w, const struct store_kv *kv)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct json *ns;
    if (!kv)
        return status_not_found(a, STR(""), STR("namespaces"), rq->route.ns);
    struct str value = str_copy_arena(a, kv->value);
    if (json_parse(a, value, NULL, &ns, NULL) < 0 || !meta_is_deleting(ns))
        return NULL;
    struct json *no =
        status_forbidden(a, rq->route.group, rq->route.resource, meta_name(w->input),
                         str_of(arena_printf(a,
                                             "unable to create new content in namespace " STR_FMT
                                             " because it is being terminated",
                                             STR_ARG(rq->route.ns))));
    struct json *cause = json_new_object(a), *causes = json_new_array(a);
    json_set_str(a, cause, "reason", STR("NamespaceTerminating"));
    json_set_str(a, cause, "message",
                 str_of(arena_printf(a, "namespace " STR_FMT " is being terminated",
                                     STR_ARG(rq->route.ns))));
    json_set_str(a, cause, "field", STR("metadata.namespace"));
    json_add(causes, cause);
    json_setc(a, json_obj(a, no, "details"), "causes", causes);
    return no;
}

static void on_admission(void *arg, int r, struct admission *admission)
{
    struct write *w = arg;
    w->admission = admission;
    if (r >= 0)
        shape_and_commit(w);
}

/* A request that creates an object counted by a quota also writes that quota. */
static struct str key_quotas(struct request *rq)
{
    return str_of(
        arena_printf(&rq->arena, "/registry/resourcequotas/" STR_FMT "/", STR_ARG(rq->route.ns)));
}

static void admit(struct request *rq)
{
    struct write *w = rq->work;
    if (!w->admission && admit_wanted(rq))
        admit_read(rq, w->input, on_admission, w);
    else
        shape_and_commit(w);
}

/* The namespace takes the object, as of w->ns_rev. */
static void enter_namespace(struct write *w)
{
    struct request *rq = w->rq;
    if (!rq->line.line && quotas_in(rq->api->quotas, rq->route.ns))
        write_in_turn(rq, key_quotas(rq), admit);
    else
        admit(rq);
}

static void on_namespace(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                         const struct err *err)
{
    struct write *w = arg;
    struct request *rq = w->rq;
    (void)rev;
    if (request_idle(rq))
        return;
    if (r < 0) {
        reply_store_err(rq, r, 0, err);
        return;
    }
    const struct json *no = check_namespace(w, kv);
    if (no) {
        reply_status(rq, no);
        return;
    }
    w->ns_rev = kv->mod_rev;
    namespace_table_put(&rq->api->namespace_table, rq->route.ns, w->ns_rev);
    enter_namespace(w);
}

/* A namespaced object is made only in a namespace that is there and stays for the transaction. */
static void read_namespace(struct write *w)
{
    struct request *rq = w->rq;
    struct err err = { 0 };
    if (!rq->res->namespaced) {
        shape_and_commit(w);
        return;
    }
    w->ns_key =
        str_of(arena_printf(&rq->arena, "/registry/namespaces/" STR_FMT, STR_ARG(rq->route.ns)));
    /* A dry run has no transaction that compares the revision. */
    w->ns_rev = w->opts.dry_run ? 0 : namespace_table_find(&rq->api->namespace_table, rq->route.ns);
    if (w->ns_rev) {
        enter_namespace(w);
        return;
    }
    request_busy(rq);
    int r = store_get(rq->api->store, w->ns_key, 0, on_namespace, w, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

static void on_current(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                       const struct err *err)
{
    struct write *w = arg;
    struct request *rq = w->rq;
    struct err why = { 0 };
    (void)rev;
    if (request_idle(rq))
        return;
    if (r < 0) {
        reply_store_err(rq, r, 0, err);
        return;
    }
    if (!kv) {
        bool put = rq->res->strategy->create_on_update && w->patch_type == PATCH_NONE &&
                   meta_resource_version(w->input).n == 0;
        bool create = !rq->sub && (put || w->patch_type == PATCH_APPLY);
        w->old = NULL;
        if (create)
            read_namespace(w);
        else
            reply_status(rq, reply_not_found(rq));
        return;
    }
    w->old_value = str_copy_arena(&rq->arena, kv->value);
    w->old_rev = kv->mod_rev;
    struct stored st = stored_of(rq->api, rq->res, kv);
    st.value = w->old_value;
    r = decode_stored(&rq->arena, rq->res, st, &w->old, &why);
    if (r < 0)
        reply_err(rq, r, &why);
    else if (!w->admission && !w->action && admit_update_wanted(rq))
        admit_read_quotas(rq, on_admission, w);
    else
        shape_and_commit(w);
}

/* ------------------------------------------------------------------ verbs */

static void on_gone(struct request *rq)
{
    struct write *w = rq->work;
    buf_fini(&w->value);
}

/* What the body is: an object of the resource, or of the subresource's own kind. */
static const struct schema *body_schema(const struct request *rq, const struct write_action *action)
{
    const struct kube_subresource *sub = rq->sub;
    const struct schema *own = NULL;
    if (action)
        return builtin_type(action->type);
    if (sub && !str_eq(sub->kind, rq->res->kind))
        own = builtin_schema(sub->group, sub->version, sub->kind);
    return own ? own : rq->res->schema;
}

/* Options and body; NULL when an answer has been sent. */
static struct write *write_begin(struct request *rq, enum patch_type patch_type,
                                 const struct write_action *action)
{
    struct write *w = arena_new(&rq->arena, struct write);
    *w = (struct write){ .rq = rq,
                         .action = action,
                         .warnings = { .a = &rq->arena },
                         .value = BUF_INIT(WRITE_VALUE_MAX_BYTES) };
    rq->work = w;
    rq->on_gone = on_gone;
    w->part = object_part_of(rq->sub ? rq->sub->name : STR(""));
    w->patch_type = patch_type;
    const struct schema *type = body_schema(rq, action);
    const struct json *no = write_parse_options(rq, &w->opts);
    if (!no)
        no = patch_type != PATCH_NONE
                 ? write_parse_patch(rq, patch_type, w->opts.fv, &w->warnings, &w->input)
                 : write_parse_body(rq, type, &w->warnings, &w->input);
    if (patch_type == PATCH_NONE && (type->flags & SCHEMA_BUILTIN) && write_body_is_json(rq))
        w->warnings.json = buf_str(&rq->body);
    w->n_warnings = w->warnings.n;
    if (!no)
        return w;
    reply_status(rq, no);
    return NULL;
}

static struct json *decode_input(struct write *w)
{
    struct request *rq = w->rq;
    struct json *status = NULL;
    if (object_decode_tree(&rq->arena, rq->res, w->input, w->opts.fv, &w->warnings, &status) < 0)
        return status;
    if (arena_is_full(&rq->arena))
        return status_too_much_work(&rq->arena);
    return tell_warnings(w, w->input);
}

void write_create(struct request *rq)
{
    struct write *w = write_begin(rq, PATCH_NONE, NULL);
    if (!w)
        return;
    const struct json *no = decode_input(w);
    if (!no && crds_is_terminating(rq->api->crds, rq->res))
        no = status_method_not_allowed(
            &rq->arena, rq->route.group, rq->route.resource,
            "create not allowed while custom resource definition is terminating");
    if (no) {
        reply_status(rq, no);
        return;
    }
    first_attempt(w);
    read_namespace(w);
}

static void update_in_turn(struct request *rq)
{
    struct write *w = write_begin(rq, PATCH_NONE, NULL);
    if (!w)
        return;
    const struct json *no = is_scale(rq) ? NULL : decode_input(w);
    if (no) {
        reply_status(rq, no);
        return;
    }
    w->key = key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name);
    first_attempt(w);
    look_up(w, on_current);
}

void write_update(struct request *rq)
{
    write_in_turn(rq, key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name),
                  update_in_turn);
}

static void patch_in_turn(struct request *rq)
{
    struct write *w = write_begin(rq, write_patch_type(rq), NULL);
    if (!w)
        return;
    w->key = key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name);
    first_attempt(w);
    look_up(w, on_current);
}

void write_patch(struct request *rq)
{
    enum patch_type type = write_patch_type(rq);
    if (type == PATCH_NONE || (type == PATCH_STRATEGIC && rq->res->crd))
        reply_status(rq, write_unsupported_patch(rq));
    else
        write_in_turn(rq, key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name),
                      patch_in_turn);
}

/* The body of an action, in the shape of its type; NULL, or the Status to answer. */
static struct json *decode_action(struct write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    const struct schema *s = builtin_type(w->action->type);
    struct err err = { 0 };
    const char *kind = str_dup_arena(a, builtin_go_name(s)), *dot = strchr(kind, '.');
    kind = dot ? dot + 1 : kind;
    struct str sent = json_get_str(w->input, "kind");
    if (sent.n && !str_is(sent, kind))
        return status_bad_request(a, str_of(arena_printf(a,
                                                         "kind in the data (" STR_FMT
                                                         ") does not match the expected kind (%s)",
                                                         STR_ARG(sent), kind)));
    if (schema_normalize(a, s, w->input, kind, NULL, NULL, &err) < 0)
        return status_bad_request(a, str_copy_arena(a, str_of(err_text(&err))));
    return NULL;
}

static void action_in_turn(struct request *rq)
{
    first_attempt(rq->work);
    look_up(rq->work, on_current);
}

void write_action(struct request *rq, const struct write_action *action)
{
    struct write *w = write_begin(rq, PATCH_NONE, action);
    if (!w)
        return;
    const struct json *no = decode_action(w);
    if (no) {
        reply_status(rq, no);
        return;
    }
    if (rq->route.name.n == 0) /* the older form names the object only in the body */
        rq->route.name = meta_name(w->input);
    w->key = key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name);
    write_in_turn(rq, w->key, action_in_turn);
}
