/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete and deletecollection.
 *
 * A kind with a grace period (Pods) gets a deletionTimestamp in the future. A second deletion may
 * shorten the period, and the component that ends the object deletes it with grace period 0.
 *
 * Other objects are removed at once if they have no finalizers; otherwise they get a
 * deletionTimestamp and are removed by the update that removes the last finalizer (write.c). Both
 * verbs use `struct removal`, the deletion of one object. deletecollection runs the removals of one
 * page in parallel, so that the store commits them together, and answers with the deleted objects,
 * if that is not too long.
 *
 * Finalizers decide what happens to an object's dependents (propagation.h); the garbage collector
 * (gc.c) acts on them.
 */
#include "api/write.h"

#include "api/admission.h"
#include "api/encode.h"
#include "api/filter.h"
#include "api/negotiate.h"
#include "api/owners.h"
#include "api/part.h"
#include "api/propagation.h"
#include "api/unsafe_delete.h"
#include "base/clock.h"
#include "kube/model/builtin.h"
#include "kube/model/crd.h"
#include "kube/rules/crd_status.h"

#include <assert.h>
#include <errno.h>

enum {
    REMOVAL_MAX_ATTEMPTS = 16,
    SWEEP_ANSWER_MAX_BYTES = 4 << 20 /* objects listed in the answer to a deletecollection */
};

#define DELETE_OPTIONS "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"

struct delete_options {
    struct str uid, rev; /* preconditions; "": unset */
    struct propagation propagation;
    bool dry_run, has_grace;
    bool is_unsafe;  /* delete the object even though it cannot be read */
    int64_t grace_s; /* requested by the client */
};

/* The outcome of one removal. */
enum removed { REMOVED_GONE, REMOVED_MARKED, REMOVED_ABSENT, REMOVED_REFUSED };

struct removal {
    struct request *rq;
    struct admission ad;
    const struct delete_options *opts;
    struct str key, name;
    struct json *obj; /* as it was, or after marking as it is now; in the request's version */
    struct json *old; /* before the removal */
    struct str value; /* stored bytes: the last ones, or the marked ones */
    struct str found; /* stored bytes as read */
    uint64_t found_rev;
    struct buf marked;
    int64_t left_s;              /* grace period */
    uint64_t rev;                /* of value */
    struct json *status;         /* REMOVED_REFUSED */
    int store_r;                 /* error of the store, else 0 */
    const struct err *store_err; /* its text; NULL: none */
    void (*done)(struct removal *rm, enum removed how);
    void *arg;
};

/* ------------------------------------------------------------------ options */

/* As upstream: a negative period means 1 second. */
static void take_grace(struct delete_options *opts, const struct json *v)
{
    opts->has_grace = json_int(v, &opts->grace_s) == 0;
    if (opts->has_grace && opts->grace_s < 0)
        opts->grace_s = 1;
}

static struct json *parse_query_grace(struct request *rq, struct delete_options *ret)
{
    struct arena *a = &rq->arena;
    struct str text = route_query(&rq->route, "gracePeriodSeconds");
    int64_t v;
    if (text.n == 0)
        return NULL;
    if (parse_i64(text, INT64_MIN, INT64_MAX, &v) < 0)
        return status_bad_request(
            a, str_of(arena_printf(a, "strconv.ParseInt: parsing \"" STR_FMT "\": invalid syntax",
                                   STR_ARG(text))));
    take_grace(ret, json_new_int(a, v));
    return NULL;
}

static struct json *check_dry_run(struct request *rq, const struct json *list)
{
    static const struct str all[] = { { "All", 3 } };
    struct field_errors errs = field_errors_init(&rq->arena);
    struct fpath at = fpath_child(NULL, STR("dryRun"));
    json_each (v, list) {
        if (str_is(json_str(v), "All"))
            continue;
        field_error_enum(&errs, &at, list, all, 1);
        return status_invalid(&rq->arena, STR("meta.k8s.io"), STR("DeleteOptions"), STR(""), &errs);
    }
    return NULL;
}

static struct json *parse_delete_options(struct request *rq, struct delete_options *ret)
{
    struct arena *a = &rq->arena;
    struct write_options opts;
    struct json *no = write_parse_options(rq, &opts), *body = NULL;
    *ret = (struct delete_options){ .dry_run = opts.dry_run, .uid = STR(""), .rev = STR("") };
    if (!no && rq->body.n == 0) {
        no = parse_query_grace(rq, ret);
        ret->uid = route_query(&rq->route, "uid");
        ret->rev = route_query(&rq->route, "resourceVersion");
    }
    if (!no && rq->body.n == 0) {
        ret->is_unsafe = unsafe_delete_wanted(rq, NULL);
        no = propagation_parse(rq, NULL, &ret->propagation);
        if (!no && ret->is_unsafe)
            no = unsafe_delete_check(rq, ret->dry_run, NULL);
        return no;
    }
    if (no)
        return no;
    no = write_parse_body(rq, builtin_type(DELETE_OPTIONS), NULL, &body);
    if (no)
        return no;
    if (!json_is(body, JSON_OBJECT))
        return status_bad_request(a, STR("the body of a delete must be DeleteOptions"));
    struct str kind = json_get_str(body, "kind");
    if (kind.n && !str_is(kind, "DeleteOptions"))
        return status_bad_request(
            a, str_of(arena_printf(a, "no kind \"" STR_FMT "\" is accepted in the body of a delete",
                                   STR_ARG(kind))));
    const struct json *pre = json_getc(body, "preconditions"), *dry = json_getc(body, "dryRun");
    no = check_dry_run(rq, dry);
    if (no)
        return no;
    ret->uid = json_get_str(pre, "uid");
    ret->rev = json_get_str(pre, "resourceVersion");
    ret->dry_run = ret->dry_run || (json_is(dry, JSON_ARRAY) && dry->n > 0);
    take_grace(ret, json_getc(body, "gracePeriodSeconds"));
    ret->is_unsafe = unsafe_delete_wanted(rq, body);
    no = propagation_parse(rq, body, &ret->propagation);
    return no || !ret->is_unsafe ? no : unsafe_delete_check(rq, ret->dry_run, body);
}

/* ------------------------------------------------------------------ one object */

static bool is_namespace(const struct kube_resource *res)
{
    return res->group.n == 0 && str_is(res->plural, "namespaces");
}

static struct json *check_preconditions(const struct removal *rm)
{
    struct request *rq = rm->rq;
    struct arena *a = &rq->arena;
    struct str uid = meta_uid(rm->obj), rev = meta_resource_version(rm->obj);
    const char *why = NULL;
    const struct kube_resource *as = rq->res->crd ? rq->res : rq->res->storage;
    bool own_way = is_namespace(rq->res) || api_is_definition(rq->res);
    if (own_way && rm->opts->uid.n && !str_eq(rm->opts->uid, uid)) /* they check it themselves */
        return status_conflict(a, as->group, as->plural, rm->name,
                               arena_printf(a,
                                            "Precondition failed: UID in precondition: " STR_FMT
                                            ", UID in object meta: " STR_FMT,
                                            STR_ARG(rm->opts->uid), STR_ARG(uid)));
    if (rm->opts->uid.n && !str_eq(rm->opts->uid, uid))
        why = arena_printf(a,
                           "the UID in the precondition (" STR_FMT
                           ") does not match the UID in record (" STR_FMT
                           "). The object might have been deleted and then recreated",
                           STR_ARG(rm->opts->uid), STR_ARG(uid));
    else if (rm->opts->rev.n && !str_eq(rm->opts->rev, rev))
        why = arena_printf(a,
                           "the ResourceVersion in the precondition (" STR_FMT
                           ") does not match the ResourceVersion in record (" STR_FMT
                           "). The object might have been modified",
                           STR_ARG(rm->opts->rev), STR_ARG(rev));
    /* Here upstream shows the kind instead of the resource. */
    return why ? status_conflict(a, as->group, as->kind, rm->name, why) : NULL;
}

/* Set up the deletion of kinds that need work before they are removed. */
static void begin_deletion(struct removal *rm, const char *now)
{
    struct arena *a = &rm->rq->arena;
    const struct kube_resource *res = rm->rq->res;
    struct json *meta = meta_of(a, rm->obj);
    if (res->strategy->has_spec_finalizers)
        json_set_str(a, json_obj(a, rm->obj, "status"), "phase", STR("Terminating"));
    if (!api_is_definition(res))
        return;
    struct json *list = json_getc(meta, "finalizers");
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, meta, "finalizers", list);
    }
    json_add(list, json_new_cstr(a, CRD_FINALIZER));
    (void)crd_set_condition(
        a, rm->obj, "Terminating", true, "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        str_of(now));
}

/* Grace period of an object under deletion. */
static int64_t grace_of(const struct json *obj)
{
    return json_int_or(json_path(obj, "metadata", "deletionGracePeriodSeconds", NULL), 0);
}

/* Mark the object as being deleted, or shorten the period of one that is marked. */
static void mark(struct removal *rm)
{
    struct arena *a = &rm->rq->arena;
    char now[RFC3339_MAX], end[RFC3339_MAX];
    struct json *meta = meta_of(a, rm->obj);
    int64_t now_s = clock_wall_ms() / 1000, begun_us = now_s * 1000000;
    int64_t generation = json_int_or(json_getc(meta, "generation"), 0);
    bool again = meta_is_deleting(rm->obj);
    if (again && rfc3339_parse(json_get_str(meta, "deletionTimestamp"), &begun_us) == 0)
        begun_us -= grace_of(rm->obj) * 1000000;
    rfc3339_format(now_s, now);
    rfc3339_format(begun_us / 1000000 + rm->left_s, end);
    json_set_str(a, meta, "deletionTimestamp", str_of(end));
    bool own_way = is_namespace(rm->rq->res) ||
                   api_is_definition(rm->rq->res); /* which set the fields themselves */
    if (!own_way)
        json_set_int(a, meta, "deletionGracePeriodSeconds", rm->left_s);
    if (generation > 0 && !again && !own_way)
        json_set_int(a, meta, "generation", generation + 1);
    if (!again)
        begin_deletion(rm, now);
}

static int encode_marked(struct removal *rm, struct err *err)
{
    struct request *rq = rm->rq;
    struct arena *a = &rq->arena;
    int r = encode_for_storage(a, rq->res, rm->obj, &rm->marked);
    return r < 0 ? err_set(err, E_LIMIT, "the object is too large") : 0;
}

static void removal_read(struct removal *rm);

static void refuse(struct removal *rm, struct json *status)
{
    assert(status && !rm->store_r);
    rm->status = status;
    rm->done(rm, REMOVED_REFUSED);
}

static void store_failed(struct removal *rm, int r, const struct err *err)
{
    if (err && err->code) {
        struct err *own = arena_new(&rm->rq->arena, struct err);
        *own = *err;
        rm->store_err = own;
    }
    assert(r < 0 && !rm->status);
    rm->store_r = r;
    rm->done(rm, REMOVED_REFUSED);
}

static void on_removed(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct removal *rm = arg;
    struct request *rq = rm->rq;
    bool marked = rm->marked.n > 0;
    if (res->r >= 0)
        api_written(rq->api, &(struct written){ .res = rq->res,
                                                .key = rm->key,
                                                .name = rm->name,
                                                .old = rm->old,
                                                .obj = marked ? rm->obj : NULL,
                                                .value = buf_str(&rm->marked),
                                                .rev = res->rev });
    if (request_idle(rq))
        return;
    if (res->r == E_CONFLICT && ++rm->ad.attempt < REMOVAL_MAX_ATTEMPTS) {
        removal_read(rm);
    } else if (res->r == E_CONFLICT) {
        refuse(rm, status_modified(&rq->arena, rq->route.group, rq->route.resource, rm->name));
    } else if (res->r < 0) {
        store_failed(rm, res->r, err);
    } else {
        rm->rev = res->rev;
        if (marked)
            rm->value = buf_str(&rm->marked);
        rm->done(rm, marked ? REMOVED_MARKED : REMOVED_GONE);
    }
}

static void removal_commit(struct removal *rm)
{
    struct request *rq = rm->rq;
    bool marked = rm->marked.n > 0;
    struct store_op ops[STORE_TXN_MAX_OPS];
    struct err err = { 0 };
    size_t n = 1;
    ops[0] = (struct store_op){ .kind = marked ? STORE_PUT : STORE_DELETE,
                                .key = rm->key,
                                .value = buf_str(&rm->marked),
                                .cmp = STORE_MOD_REV,
                                .cmp_rev = rm->rev };
    if (rm->opts->dry_run) {
        if (marked)
            rm->value = buf_str(&rm->marked);
        rm->done(rm, marked ? REMOVED_MARKED : REMOVED_GONE);
        return;
    }
    const struct json *left = marked ? rm->obj : NULL;
    int r = owners_ops(&rq->arena, rm->key, rm->old, left, ops, &n, &err);
    placed_ops(&rq->arena, rm->key, rm->old, left, ops, &n);
    if (r >= 0 && !marked)
        r = admission_writes(&rm->ad, false, ops, &n, &err);
    if (r < 0) {
        refuse(rm, status_from_err(&rq->arena, r, &err));
        return;
    }
    assert(n <= ARRAY_LEN(ops));
    request_busy(rq);
    r = store_txn(rq->api->store, ops, n, on_removed, rm, &err);
    if (r < 0 && !request_idle(rq))
        store_failed(rm, r, &err);
}

/* The grace period in seconds. shorter: less than the current one. */
static int64_t time_left(const struct removal *rm, bool *ret_shorter)
{
    const struct kube_strategy *strategy = rm->rq->res->strategy;
    const struct delete_options *opts = rm->opts;
    *ret_shorter = false;
    if (!strategy->grace_s)
        return 0;
    if (!meta_is_deleting(rm->obj))
        return strategy->grace_s(rm->obj, opts->has_grace ? &opts->grace_s : NULL);
    int64_t given_s = grace_of(rm->obj);
    *ret_shorter = opts->has_grace && opts->grace_s < given_s;
    return *ret_shorter ? opts->grace_s : given_s;
}

static void on_admitted(struct admission *ad, struct json *no)
{
    struct removal *rm = container_of(ad, struct removal, ad);
    struct request *rq = rm->rq;
    struct err err = { 0 };
    if (!no && arena_is_full(&rq->arena)) /* a policy may not have been evaluated */
        no = status_too_much_work(&rq->arena);
    if (no) {
        refuse(rm, no);
        return;
    }
    buf_reset(&rm->marked);
    bool deleting = meta_is_deleting(rm->obj), shorter = false;
    rm->left_s = time_left(rm, &shorter);
    rm->old = json_clone(&rq->arena, rm->obj);
    bool changed = propagation_apply(&rq->arena, rq->res, rm->obj, &rm->opts->propagation);
    bool at_once = rm->left_s == 0 && write_is_finished(rq->res, rm->obj) &&
                   (!api_is_definition(rq->res) || deleting);
    if (!at_once && deleting && !shorter && !changed) {
        rm->done(rm, REMOVED_MARKED);
        return;
    }
    bool graceful = rq->res->strategy->grace_s;
    if ((!at_once || graceful) && (!deleting || shorter))
        mark(rm);
    if ((!at_once || graceful) && encode_marked(rm, &err) < 0) {
        refuse(rm, status_from_err(&rq->arena, err.code, &err));
        return;
    }
    if (at_once && graceful) { /* shown with the deletionTimestamp, which is not stored */
        rm->value = str_copy_arena(&rq->arena, buf_str(&rm->marked));
        buf_reset(&rm->marked);
    }
    removal_commit(rm);
}

/* rm->obj, value and rev are current: decide and write. */
static void removal_decide(struct removal *rm)
{
    struct json *no = check_preconditions(rm);
    if (no) {
        refuse(rm, no);
        return;
    }
    rm->ad = (struct admission){ .rq = rm->rq,
                                 .op = ADMISSION_DELETE,
                                 .dry_run = rm->opts->dry_run,
                                 .name = rm->name,
                                 .old = rm->obj,
                                 .removes = true,
                                 .attempt = rm->ad.attempt,
                                 .done = on_admitted };
    admission_begin(&rm->ad);
    if (admission_run(&rm->ad, ADMISSION_SHAPED, &no))
        on_admitted(&rm->ad, no);
}

static void on_damaged_removed(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct removal *rm = arg;
    struct request *rq = rm->rq;
    if (res->r >= 0) {
        log_warn("an object that cannot be read was deleted", "key=" STR_FMT " user=" STR_FMT,
                 STR_ARG(rm->key), STR_ARG(rq->identity.user));
        api_lost(rq->api, rq->res, rq->route.ns, rm->name, rm->key, res->rev);
    }
    if (request_idle(rq))
        return;
    if (res->r == E_CONFLICT)
        refuse(rm,
               unsafe_delete_refuse(rq, rq->route.group, rq->route.resource, rm->name,
                                    "is exclusively used to delete corrupt object(s), try again by "
                                    "removing this option"));
    else if (res->r < 0)
        store_failed(rm, res->r, err);
    else
        rm->done(rm, REMOVED_GONE);
}

/*
 * Finalizers, preconditions, policies and claims of addresses are skipped: they need the content
 * that cannot be read. Watches end, so that clients list again, which is how most controllers
 * notice the deletion. Only the store knows whether the object is damaged: a read may be answered
 * from memory.
 */
static void remove_damaged(struct removal *rm)
{
    struct request *rq = rm->rq;
    struct err err = { 0 };
    const struct store_op op = { .kind = STORE_DELETE_DAMAGED, .key = rm->key };
    request_busy(rq);
    int r = store_txn(rq->api->store, &op, 1, on_damaged_removed, rm, &err);
    if (r < 0 && !request_idle(rq))
        store_failed(rm, r, &err);
}

static int removal_take(struct removal *rm, const struct store_kv *kv, struct err *err)
{
    struct request *rq = rm->rq;
    struct encode_stored st = filter_stored(rq->api, rq->res, kv);
    st.as_it_is = rq->in_process;
    st.value = rm->value = str_copy_arena(&rq->arena, kv->value);
    rm->rev = kv->mod_rev;
    rm->found = rm->value;
    rm->found_rev = rm->rev;
    return encode_read_stored(&rq->arena, rq->res, st, &rm->obj, err);
}

static void on_read(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct removal *rm = arg;
    (void)rev;
    struct err why = { 0 };
    if (request_idle(rm->rq))
        return;
    if (r >= 0 && kv) {
        r = removal_take(rm, kv, &why);
        err = &why;
    }
    if (r < 0)
        store_failed(rm, r, err);
    else if (!kv)
        rm->done(rm, REMOVED_ABSENT);
    else
        removal_decide(rm);
}

static void removal_read(struct removal *rm)
{
    request_busy(rm->rq);
    struct err err = { 0 };
    int r = store_get(rm->rq->api->store, rm->key, 0, on_read, rm, &err);
    if (r < 0 && !request_idle(rm->rq))
        store_failed(rm, r, &err);
}

/* ------------------------------------------------------------------ delete */

static void on_deleted(struct removal *rm, enum removed how)
{
    struct request *rq = rm->rq;
    switch (how) {
    case REMOVED_ABSENT:
        reply_status(rq, reply_not_found(rq));
        return;
    case REMOVED_REFUSED:
        if (rm->store_r < 0)
            reply_store_err(rq, rm->store_r, 0, rm->store_err);
        else
            reply_status(rq, rm->status);
        return;
    case REMOVED_MARKED:
        write_reply_object(rq, rm->opts->propagation.not_orphaned ? 202 : 200, rm->value, rm->rev);
        return;
    case REMOVED_GONE:
        if (!rm->obj) /* the object could not be read */
            reply_json(rq, 200,
                       status_deleted(&rq->arena, STR(""), rq->res->kind, rm->name, STR("")));
        else if (rq->res->strategy->returns_deleted)
            write_reply_object(rq, 200, rm->value, rm->rev);
        else
            reply_json(rq, 200,
                       status_deleted(&rq->arena, rq->route.group, rq->route.resource, rm->name,
                                      meta_uid(rm->obj)));
        return;
    }
}

static void on_delete_gone(struct request *rq)
{
    struct removal *rm = rq->work;
    buf_fini(&rm->marked);
}

static void delete_in_turn(void *arg)
{
    struct request *rq = arg;
    struct removal *rm = rq->work;
    if (rm->opts->is_unsafe)
        remove_damaged(rm);
    else
        removal_read(rm);
}

void delete_object(struct request *rq)
{
    struct arena *a = &rq->arena;
    struct delete_options *opts = arena_new(a, struct delete_options);
    const struct json *no = parse_delete_options(rq, opts);
    if (!no && opts->is_unsafe)
        no = unsafe_delete_may(rq);
    if (no) {
        reply_status(rq, no);
        return;
    }
    struct removal *rm = arena_new(a, struct removal);
    *rm = (struct removal){ .rq = rq,
                            .opts = opts,
                            .key = key_object(a, rq->res, rq->route.ns, rq->route.name),
                            .name = rq->route.name,
                            .marked = BUF_INIT(WRITE_VALUE_MAX_BYTES),
                            .done = on_deleted };
    rq->work = rm;
    rq->on_gone = on_delete_gone;
    propagation_warn(rq, &opts->propagation);
    if (write_in_turn(rq, rm->key, delete_in_turn) == LINE_RUN)
        delete_in_turn(rq);
}

/* ------------------------------------------------------------------ deletecollection */

struct delete_sweep {
    struct request *rq;
    struct delete_options opts;
    struct filter filter;
    struct str range_prefix;
    struct buf after;
    uint64_t at_rev;
    struct arena scratch;
    struct proto_transcoder transcoder;
    struct arena kept; /* the request's own arena while a page's arena replaces it */
    bool in_page;
    struct removal *removals;
    size_t n, running;
    bool more;
    struct json *no; /* first refusal */
    int store_r;
    struct err store_err;
    uint64_t n_items;
    struct buf items; /* of the answer */
    bool too_long;    /* the answer exceeds its limit: items are dropped */
};

static void sweep_next(struct delete_sweep *s);

static void sweep_finish(struct delete_sweep *s)
{
    struct request *rq = s->rq;
    if (s->store_r < 0) {
        reply_store_err(rq, s->store_r, 0, s->store_err.code ? &s->store_err : NULL);
        return;
    }
    if (s->no) {
        reply_status(rq, s->no);
        return;
    }
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    arena_reset(&s->scratch);
    int r = s->too_long ? 0
                        : encode_list(&s->scratch, rq->res, &rq->rep,
                                      &(struct list_meta){ .rev = store_revision(rq->api->store) },
                                      buf_str(&s->items), &out);
    if (r < 0 || s->too_long) /* success, but the answer is too long */
        reply_json(
            rq, 200,
            status_deleted(&rq->arena, rq->route.group, rq->route.resource, STR(""), STR("")));
    else
        reply_bytes(rq, 200, negotiate_content_type(&rq->rep, false), buf_str(&out));
}

/* A collection may need more memory than one request may use: each page has an arena of its own. */
static void page_begin(struct delete_sweep *s)
{
    s->kept = s->rq->arena;
    s->rq->arena = (struct arena){ .max_bytes = s->kept.max_bytes, .budget = s->kept.budget };
    s->in_page = true;
}

static void page_end(struct delete_sweep *s)
{
    struct arena *a = &s->rq->arena, page = *a;
    for (size_t i = 0; i < s->n; i++)
        buf_fini(&s->removals[i].marked);
    s->n = 0;
    s->removals = NULL;
    if (!s->in_page)
        return;
    *a = s->kept;
    s->in_page = false;
    if (s->no)
        s->no = json_clone(a, s->no);
    arena_fini(&page);
}

static void sweep_page_done(struct delete_sweep *s)
{
    page_end(s);
    if (s->more && !s->no && s->store_r >= 0)
        sweep_next(s);
    else
        sweep_finish(s);
}

static void tell_item(struct delete_sweep *s, const struct removal *rm)
{
    struct encode_stored st = {
        .value = rm->found, .rev = rm->found_rev, .is_current = true, .as_it_is = true
    };
    if (s->too_long)
        return;
    arena_reset(&s->scratch);
    int r = encode_list_item(&s->scratch, &s->transcoder, s->rq->res, &s->rq->rep, st,
                             clock_wall_ms() / 1000, s->n_items++ == 0, &s->items, NULL);
    s->too_long = r < 0 || !buf_ok(&s->items);
    if (s->too_long)
        buf_fini(&s->items);
}

static void on_swept(struct removal *rm, enum removed how)
{
    struct delete_sweep *s = rm->arg;
    if (how == REMOVED_REFUSED && rm->store_r < 0) {
        s->store_r = rm->store_r;
        s->store_err = rm->store_err ? *rm->store_err : (struct err){ 0 };
    } else if (how == REMOVED_REFUSED && !s->no) {
        s->no = rm->status;
    } else if (how != REMOVED_ABSENT && how != REMOVED_REFUSED) {
        tell_item(s, rm);
    }
    assert(s->running > 0);
    if (--s->running == 0)
        sweep_page_done(s);
}

static void add_removal(struct delete_sweep *s, struct removal *rm, const struct store_kv *kv)
{
    struct arena *a = &s->rq->arena;
    struct str ns, name;
    *rm = (struct removal){ .rq = s->rq,
                            .opts = &s->opts,
                            .key = str_copy_arena(a, kv->key),
                            .marked = BUF_INIT(WRITE_VALUE_MAX_BYTES),
                            .done = on_swept,
                            .arg = s };
    key_split(s->rq->res, s->filter.prefix, rm->key, &ns, &name);
    rm->name = name;
}

static void on_sweep_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct delete_sweep *s = arg;
    struct request *rq = s->rq;
    if (request_idle(rq))
        return;
    if (r < 0) {
        reply_store_err(rq, r, s->at_rev, err);
        return;
    }
    s->at_rev = page->rev;
    s->more = page->more;
    if (page->n) {
        buf_reset(&s->after);
        (void)buf_add_str(&s->after, page->kv[page->n - 1].key);
    }
    request_allow_page(rq, page);
    page_begin(s);
    s->removals = arena_new_n(&rq->arena, struct removal, page->n + 1);
    for (size_t i = 0; i < page->n; i++) {
        arena_reset(&s->scratch);
        if (filter_matches_key(&s->filter, page->kv[i].key) &&
            filter_matches_value(&s->filter, &s->scratch,
                                 filter_stored(rq->api, rq->res, &page->kv[i])))
            add_removal(s, &s->removals[s->n++], &page->kv[i]);
    }
    if (budget_is_over(&rq->budget)) {
        page_end(s);
        reply_status(rq, status_too_much_work(&rq->arena));
        return;
    }
    if (s->n == 0) {
        sweep_page_done(s);
        return;
    }
    s->running = s->n;
    for (size_t i = 0, n = s->n; i < n; i++)
        removal_read(&s->removals[i]);
}

static void sweep_next(struct delete_sweep *s)
{
    struct request *rq = s->rq;
    struct err err = { 0 };
    struct store_range range = { .prefix = s->range_prefix, .after = buf_str(&s->after) };
    filter_narrow(&s->filter, rq, &range);
    request_busy(rq);
    int r = store_range(rq->api->store, &range, on_sweep_page, s, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

static void on_sweep_gone(struct request *rq)
{
    struct delete_sweep *s = rq->work;
    page_end(s);
    buf_fini(&s->after);
    buf_fini(&s->items);
    arena_fini(&s->scratch);
    proto_transcoder_fini(&s->transcoder);
}

void delete_collection(struct request *rq)
{
    struct delete_sweep *s = arena_new(&rq->arena, struct delete_sweep);
    *s = (struct delete_sweep){ .rq = rq,
                                .after = BUF_INIT(STORE_KEY_MAX_BYTES),
                                .items = BUF_INIT(SWEEP_ANSWER_MAX_BYTES),
                                .scratch = { .budget = &rq->budget },
                                .transcoder = PROTO_TRANSCODER_INIT };
    rq->work = s;
    rq->on_gone = on_sweep_gone;
    const struct json *no = parse_delete_options(rq, &s->opts);
    if (!no && s->opts.is_unsafe)
        no = unsafe_delete_refuse(
            rq, STR("meta.k8s.io"), STR("DeleteOptions"), STR(""),
            "is not allowed with DELETECOLLECTION, try again after removing the option");
    if (!no)
        no = filter_parse(rq, &s->filter);
    if (no) {
        reply_status(rq, no);
        return;
    }
    s->range_prefix = key_prefix_ns(&rq->arena, rq->res, s->filter.ns);
    sweep_next(s);
}
