/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create, update and patch. (delete.c has the other writing verbs.)
 *
 *     [line] -> options -> body -> [read current] -> shape -> [namespace] -> transaction -> reply
 *                                       ^                                        |
 *                                       +------------- conflict: retry ----------+
 *
 * Writes of one object queue in its line (line.h), so that each of them reads the result of the
 * previous one. Controllers, deletecollection and other servers on the same store do not queue
 * there and may still write first: then a write that names a resourceVersion fails, and any other
 * is computed again from the newer object, a bounded number of times.
 */
#include "api/write_impl.h"

#include "api/encode.h"
#include "api/filter.h"
#include "api/negotiate.h"
#include "api/owners.h"
#include "api/part.h"
#include "api/permission.h"
#include "api/unattended.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "kube/model/builtin.h"

#include <assert.h>
#include <errno.h>

enum {
    WRITE_MAX_ATTEMPTS = 16, /* of an update or patch without resourceVersion */
    NAME_MAX_ATTEMPTS = 8    /* of a generated name */
};

/* ------------------------------------------------------------------ the steps of an attempt */

static struct object_env env_of(struct request *rq)
{
    char uid[37];
    sys_uuid(uid);
    return (struct object_env){ .now_s = clock_wall_ms() / 1000,
                                .uid = str_copy_arena(&rq->arena, str_of(uid)),
                                .random = sys_random_u64(),
                                .namespace = rq->res->namespaced ? rq->route.ns : STR("") };
}

/* An update or apply of an absent object creates it only if the client may create it. */
static struct json *may_create(struct request *rq)
{
    const struct api *api = rq->api;
    if (rq->route.verb == KUBE_CREATE || !api->authorize)
        return NULL;
    struct api_attributes at = permission_attributes(rq);
    at.verb = STR("create");
    scoped(buf_fini_scoped) struct buf reason = BUF_INIT(BUF_MAX_DEFAULT);
    if (api->authorize(api->authorize_arg, &at, &reason))
        return NULL;
    return permission_forbidden(&rq->arena, &at, buf_str(&reason));
}

/* The client's input: the body of an action, else the object. */
static struct json *take(struct api_write *w)
{
    struct request *rq = w->rq;
    if (w->action) {
        w->ad.obj = w->input;
        return NULL;
    }
    if (w->ad.old)
        return w->form ? w->form->take(w) : write_take_object(w);
    struct json *no = may_create(rq);
    if (!no)
        no = write_take_new(w);
    if (no)
        return no;
    w->ad.name = meta_name(w->ad.obj);
    uint64_t rev;
    if (parse_u64(meta_resource_version(w->ad.obj), 1, UINT64_MAX, &rev) == 0)
        return status_new(&rq->arena, 500, "",
                          STR("resourceVersion should not be set on objects to be created"));
    return NULL;
}

/* Set the server's fields. */
static struct json *prepare(struct api_write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct json *no = NULL;
    if (w->action)
        return w->action->shape(rq, w->input, w->ad.old, &w->ad.obj);
    if (w->form && w->form->as_taken)
        return NULL;
    struct object_env env = env_of(rq);
    if (w->ad.old)
        (void)object_prepare_update(a, rq->res, w->ad.part, w->ad.obj, w->ad.old, &env,
                                    rq->route.name, &no);
    else
        (void)object_prepare_create(a, rq->res, w->ad.obj, &env, &no);
    w->ad.name = meta_name(w->ad.obj);
    return no;
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

/* Whether a deletion can be completed: the grace period is over, and no finalizer is left. */
static bool is_removed(const struct kube_resource *res, const struct json *obj)
{
    return meta_is_deleting(obj) && write_is_finished(res, obj) &&
           json_int_or(json_path(obj, "metadata", "deletionGracePeriodSeconds", NULL), 0) == 0;
}

/*
 * Whether a controller of this server releases an object that is being deleted. Then the rest of
 * the object may be invalid: it may have been stored under other rules or past the API, and must
 * not stay for ever.
 */
static bool is_release(const struct api_write *w)
{
    const struct request *rq = w->rq;
    return rq->in_process && str_is(rq->identity.user, API_CONTROLLER_USER) &&
           meta_is_deleting(w->ad.old);
}

static struct json *validate_update(struct api_write *w)
{
    struct request *rq = w->rq;
    if (is_release(w))
        return NULL;
    struct object_warnings *warnings = arena_new(&rq->arena, struct object_warnings);
    struct json *status = NULL;
    warnings->a = &rq->arena;
    (void)object_validate_update(&rq->arena, rq->res, w->ad.part, w->ad.obj, w->ad.old, warnings,
                                 &status);
    for (size_t i = 0; i < warnings->n; i++)
        reply_warn(rq, warnings->text[i]);
    return status;
}

static struct json *validate(struct api_write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct json *no = NULL;
    if (!w->ad.old)
        (void)object_validate(a, rq->res, OBJECT_WHOLE, w->ad.obj, NULL, &no);
    else if (!w->action && !(w->form && w->form->as_taken))
        no = validate_update(w);
    w->ad.removes = w->ad.old && !w->action && is_removed(rq->res, w->ad.obj);
    w->success = w->ad.old ? 200 : 201;
    if (!w->ad.old)
        w->key = key_object(a, rq->res, rq->route.ns, w->ad.name);
    return no;
}

/* A step of the core, and the point of the chain that follows it. */
static const struct {
    struct json *(*core)(struct api_write *w);
    enum admission_point then;
} steps[] = {
    { NULL, ADMISSION_READ },          { take, ADMISSION_TAKEN },  { prepare, ADMISSION_PREPARED },
    { validate, ADMISSION_VALIDATED }, { NULL, ADMISSION_SHAPED },
};

static void store_object(struct api_write *w);

/* Run the steps of an attempt until one waits. */
static void run_steps(struct api_write *w)
{
    struct arena *a = &w->rq->arena;
    struct json *no = NULL;
    assert(w->step <= ARRAY_LEN(steps) && !w->ad.waiting);
    while (!no && w->step < ARRAY_LEN(steps)) {
        size_t at = w->step++;
        no = steps[at].core ? steps[at].core(w) : NULL;
        if (!no && !admission_run(&w->ad, steps[at].then, &no))
            return;
        if (!no && arena_is_full(a))
            no = status_too_much_work(a);
    }
    if (no)
        reply_status(w->rq, no);
    else
        store_object(w);
}

static void on_admitted(struct admission *ad, struct json *no)
{
    struct api_write *w = container_of(ad, struct api_write, ad);
    if (!no && arena_is_full(&w->rq->arena))
        no = status_too_much_work(&w->rq->arena);
    if (no)
        reply_status(w->rq, no);
    else
        run_steps(w);
}

/* old: the stored object; NULL: it is to be created. */
static void begin_steps(struct api_write *w, enum admission_op op, struct json *old)
{
    assert(w->first.write); /* first_attempt() */
    assert((op == ADMISSION_CREATE) == !old && (op == ADMISSION_ACTION) == (w->action != NULL));
    w->ad.op = op;
    w->ad.old = old;
    w->ad.obj = NULL;
    w->ad.name = old ? w->rq->route.name : meta_name(w->input);
    w->ad.done = on_admitted;
    w->step = 0;
    admission_begin(&w->ad);
    run_steps(w);
}

/* Encode the object for the store, in the storage version. */
static int to_stored(struct api_write *w, struct err *err)
{
    int r = encode_for_storage(&w->rq->arena, w->rq->res, w->ad.obj, &w->value);
    return r < 0 ? err_set(err, E_LIMIT, "the object is larger than %d bytes",
                           (int)WRITE_VALUE_MAX_BYTES)
                 : 0;
}

/* ------------------------------------------------------------------ the line */

static void on_line_run(struct line_place *p)
{
    struct request *rq = container_of(p, struct request, line);
    rq->on_turn(rq->on_turn_arg);
}

static void on_line_refuse(struct line_place *p)
{
    struct request *rq = container_of(p, struct request, line);
    reply_status(rq, status_timeout(&rq->arena, STR("other writes of the object took too long")));
}

enum line_answer write_queue(struct request *rq, struct str key, void (*run)(void *arg), void *arg)
{
    rq->on_turn = run;
    rq->on_turn_arg = arg;
    rq->line.run = on_line_run;
    rq->line.refuse = on_line_refuse;
    return line_enter(&rq->api->lines, &rq->line, key);
}

enum line_answer write_in_turn(struct request *rq, struct str key, void (*run)(void *rq))
{
    enum line_answer answer = write_queue(rq, key, run, rq);
    if (answer == LINE_FULL)
        reply_status(rq, status_too_many_requests(&rq->arena, 1));
    return answer;
}

/* ------------------------------------------------------------------ reply */

void write_reply_object(struct request *rq, int code, struct str value, uint64_t rev)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    struct err err = { 0 };
    struct encode_stored st = { .value = value, .rev = rev, .is_current = true };
    int r = encode_answer(rq, st, &out, &err);
    if (r < 0)
        reply_err(rq, r, &err);
    else
        reply_bytes(rq, code, negotiate_content_type(&rq->rep, false), buf_str(&out));
}

static void say_warning(void *rq, struct str text)
{
    reply_warn(rq, text);
}

/* Answer with the written object, or with a Status for an action. */
static void reply_written(struct api_write *w, uint64_t rev)
{
    const struct kube_strategy *strategy = w->rq->res->strategy;
    if (strategy->warn && !w->action && !w->rq->sub)
        strategy->warn(&w->rq->arena, w->ad.obj, w->ad.old, say_warning, w->rq);
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
static void look_up(struct api_write *w, store_get_cb done)
{
    struct request *rq = w->rq;
    struct err err = { 0 };
    request_busy(rq);
    int r = store_get(rq->api->store, w->key, 0, done, w, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

/* The body is decoded; memory that is allocated from now on belongs to an attempt. */
static void first_attempt(struct api_write *w)
{
    struct request *rq = w->rq;
    assert(!w->first.write && !w->ad.old && w->ad.attempt == 0);
    struct api_write *as_it_was = arena_new(&rq->arena, struct api_write);
    *as_it_was = *w;
    w->first = (struct write_attempt){ .write = as_it_was,
                                       .last_warning = rq->last_warning,
                                       .warning_runes = rq->warning_runes,
                                       .mark = arena_mark(&rq->arena) };
}

/*
 * Conflict: drop the attempt with its warnings and everything it has read, and start again.
 * Otherwise sixteen attempts at a large object would need sixteen times its memory.
 */
static void begin_again(struct api_write *w)
{
    struct request *rq = w->rq;
    struct api_write again = *w->first.write;
    again.value = w->value;
    again.first = w->first;
    again.ad.attempt = w->ad.attempt;
    bool update = w->ad.old;
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
        begin_steps(w, ADMISSION_CREATE, NULL);
}

static void on_existing(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                        const struct err *err)
{
    struct api_write *w = arg;
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    struct json *was = NULL;
    (void)rev;
    (void)err;
    if (request_idle(rq))
        return;
    struct json *no =
        status_already_exists(a, rq->route.group, rq->route.resource, meta_name(w->ad.obj));
    bool leaving = r >= 0 && kv &&
                   json_parse(a, str_copy_arena(a, kv->value), NULL, &was, NULL) >= 0 &&
                   meta_is_deleting(was);
    if (leaving)
        json_set_str(a, no, "message",
                     str_of(arena_printf(a, "object is being deleted: " STR_FMT,
                                         STR_ARG(status_message(no)))));
    reply_status(rq, no);
}

/* The name is taken; the answer tells if the existing object is being deleted. */
static void refuse_existing(struct api_write *w)
{
    struct request *rq = w->rq;
    struct err err = { 0 };
    request_busy(rq);
    int r = store_get(rq->api->store, w->key, 0, on_existing, w, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

static void create_lost(struct api_write *w)
{
    struct request *rq = w->rq;
    struct arena *a = &rq->arena;
    bool generated =
        json_path(w->input, "metadata", "generateName", NULL) && meta_name(w->input).n == 0;
    unsigned max = w->patch_type == PATCH_APPLY ? WRITE_MAX_ATTEMPTS
                   : generated                  ? NAME_MAX_ATTEMPTS
                                                : 0;
    if (w->ad.attempt + 1 < max) {
        w->ad.attempt++;
        begin_again(w);
    } else if (generated) {
        reply_status(rq, status_generate_name_conflict(a, rq->route.group, rq->route.resource,
                                                       meta_name(w->ad.obj)));
    } else {
        refuse_existing(w);
    }
}

static void update_lost(struct api_write *w)
{
    struct request *rq = w->rq;
    bool conditional = w->patch_type == PATCH_NONE && meta_resource_version(w->input).n > 0;
    if (!conditional && ++w->ad.attempt < WRITE_MAX_ATTEMPTS)
        begin_again(w);
    else
        reply_status(
            rq, status_modified(&rq->arena, rq->route.group, rq->route.resource, rq->route.name));
}

/* A stage's comparison failed: the stage decides whether to retry. */
static void on_stage_lost(struct admission *ad, struct json *no)
{
    struct api_write *w = container_of(ad, struct api_write, ad);
    if (no)
        reply_status(w->rq, no);
    else
        begin_again(w);
}

static void stage_lost(struct api_write *w, size_t failed_op)
{
    struct json *no = NULL;
    w->ad.attempt++;
    w->ad.done = on_stage_lost;
    if (admission_lost(&w->ad, failed_op, &no))
        on_stage_lost(&w->ad, no);
}

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct api_write *w = arg;
    struct request *rq = w->rq;
    if (res->r >= 0)
        api_written(rq->api,
                    &(struct written){ .res = rq->res,
                                       .key = w->key,
                                       .name = meta_name(w->ad.obj),
                                       .old = w->ad.old,
                                       .obj = w->ad.removes ? NULL : w->ad.obj,
                                       .value = w->ad.removes ? STR("") : buf_str(&w->value),
                                       .counted = w->ad.counted,
                                       .rev = res->rev });
    if (request_idle(rq))
        return;
    if (res->r == E_CONFLICT && admission_owns(&w->ad, res->failed_op))
        stage_lost(w, res->failed_op);
    else if (res->r == E_CONFLICT && !w->ad.old)
        create_lost(w);
    else if (res->r == E_CONFLICT)
        update_lost(w);
    else if (res->r < 0)
        reply_store_err(rq, res->r, 0, err);
    else
        reply_written(w, res->rev);
}

static void commit(struct api_write *w)
{
    struct request *rq = w->rq;
    struct store_op ops[STORE_TXN_MAX_OPS];
    size_t n = 0;
    struct err err = { 0 };
    const struct json *left = w->ad.removes ? NULL : w->ad.obj;
    assert(w->step == ARRAY_LEN(steps) && w->key.n && (!w->ad.old || w->old_rev));
    int r = admission_writes(&w->ad, true, ops, &n, &err);
    assert(n <
           STORE_TXN_MAX_OPS - OWNERS_OPS_MAX - PLACED_OPS_MAX); /* owners_ops(), placed_ops() */
    ops[n++] = (struct store_op){ .kind = left ? STORE_PUT : STORE_DELETE,
                                  .key = w->key,
                                  .value = left ? buf_str(&w->value) : STR(""),
                                  .cmp = w->ad.old ? STORE_MOD_REV : STORE_ABSENT,
                                  .cmp_rev = w->old_rev };
    if (r >= 0)
        r = owners_ops(&rq->arena, w->key, w->ad.old, left, ops, &n, &err);
    placed_ops(&rq->arena, w->key, w->ad.old, left, ops, &n);
    if (r >= 0)
        r = admission_writes(&w->ad, false, ops, &n, &err);
    if (r < 0) {
        reply_err(rq, r, &err);
        return;
    }
    assert(n <= ARRAY_LEN(ops));
    rq->budget = BUDGET_INIT; /* for the answer, or for the next attempt */
    request_busy(rq);
    r = store_txn(rq->api->store, ops, n, on_txn, w, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

static void on_dry_run(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                       const struct err *err)
{
    struct api_write *w = arg;
    struct request *rq = w->rq;
    (void)rev;
    if (request_idle(rq))
        return;
    if (r < 0)
        reply_store_err(rq, r, 0, err);
    else if (kv && !w->ad.old)
        create_lost(w);
    else
        reply_written(w, w->old_rev);
}

/* The object is final: write it, unless nothing has changed. */
static void store_object(struct api_write *w)
{
    struct request *rq = w->rq;
    struct err err = { 0 };
    if (w->ad.old && !w->action && !w->ad.removes && object_same(w->ad.old, w->ad.obj) &&
        managed_same(w->ad.old, w->ad.obj)) {
        write_reply_object(rq, 200, w->old_value, w->old_rev);
        return;
    }
    int r = to_stored(w, &err);
    if (r < 0 && w->patch_type != PATCH_APPLY) { /* as upstream: drop the managed fields */
        managed_store(&rq->arena, w->ad.obj, NULL);
        err = (struct err){ 0 };
        r = to_stored(w, &err);
    }
    if (r < 0)
        reply_err(rq, r, &err);
    else if (w->ad.dry_run)
        look_up(w, on_dry_run); /* is the name free? */
    else
        commit(w);
}

/* ------------------------------------------------------------------ the current object */

static void on_current(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                       const struct err *err)
{
    struct api_write *w = arg;
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
        if (create)
            begin_steps(w, ADMISSION_CREATE, NULL);
        else
            reply_status(rq, reply_not_found(rq));
        return;
    }
    w->old_value = str_copy_arena(&rq->arena, kv->value);
    w->old_rev = kv->mod_rev;
    struct encode_stored st = filter_stored(rq->api, rq->res, kv);
    st.value = w->old_value;
    struct json *old = NULL;
    r = encode_read_stored(&rq->arena, rq->res, st, &old, &why);
    if (r < 0)
        reply_err(rq, r, &why);
    else
        begin_steps(w, w->action ? ADMISSION_ACTION : ADMISSION_UPDATE, old);
}

/* ------------------------------------------------------------------ verbs */

static void on_gone(struct request *rq)
{
    struct api_write *w = rq->work;
    buf_fini(&w->value);
}

/* The schema of the body: of the resource, or of the subresource's own kind. */
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

/* Parse options and body; NULL if an answer was sent. */
static struct api_write *write_begin(struct request *rq, enum patch_type patch_type,
                                     const struct write_action *action)
{
    struct api_write *w = arena_new(&rq->arena, struct api_write);
    *w = (struct api_write){ .rq = rq,
                             .ad = { .rq = rq },
                             .action = action,
                             .form = write_form_of(rq),
                             .warnings = { .a = &rq->arena },
                             .value = BUF_INIT(WRITE_VALUE_MAX_BYTES) };
    rq->work = w;
    rq->on_gone = on_gone;
    w->ad.part = object_part_of(rq->sub ? rq->sub->name : STR(""));
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
    w->ad.input = w->input;
    w->ad.dry_run = w->opts.dry_run;
    if (!no)
        return w;
    reply_status(rq, no);
    return NULL;
}

static struct json *decode_input(struct api_write *w)
{
    struct request *rq = w->rq;
    struct json *status = NULL;
    if (object_decode_tree(&rq->arena, rq->res, w->input, w->opts.fv, &w->warnings, &status) < 0)
        return status;
    if (arena_is_full(&rq->arena))
        return status_too_much_work(&rq->arena);
    return write_tell_warnings(w, w->input);
}

void write_create(struct request *rq)
{
    struct api_write *w = write_begin(rq, PATCH_NONE, NULL);
    if (!w)
        return;
    const struct json *no = decode_input(w);
    if (no) {
        reply_status(rq, no);
        return;
    }
    first_attempt(w);
    begin_steps(w, ADMISSION_CREATE, NULL);
}

static void update_in_turn(void *arg)
{
    struct request *rq = arg;
    struct api_write *w = write_begin(rq, PATCH_NONE, NULL);
    if (!w)
        return;
    const struct json *no = w->form && w->form->has_own_body ? NULL : decode_input(w);
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
    struct str key = key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name);
    if (write_in_turn(rq, key, update_in_turn) == LINE_RUN)
        update_in_turn(rq);
}

static void patch_in_turn(void *arg)
{
    struct request *rq = arg;
    struct api_write *w = write_begin(rq, write_patch_type(rq), NULL);
    if (!w)
        return;
    w->key = key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name);
    first_attempt(w);
    look_up(w, on_current);
}

void write_patch(struct request *rq)
{
    enum patch_type type = write_patch_type(rq);
    if (type == PATCH_NONE || (type == PATCH_STRATEGIC && rq->res->crd)) {
        reply_status(rq, write_unsupported_patch(rq));
        return;
    }
    struct str key = key_object(&rq->arena, rq->res, rq->route.ns, rq->route.name);
    if (write_in_turn(rq, key, patch_in_turn) == LINE_RUN)
        patch_in_turn(rq);
}

/* The body of an action, decoded as its type; NULL, or the Status to answer. */
static struct json *decode_action(struct api_write *w)
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

static void action_in_turn(void *arg)
{
    struct request *rq = arg;
    first_attempt(rq->work);
    look_up(rq->work, on_current);
}

void write_action(struct request *rq, const struct write_action *action)
{
    struct api_write *w = write_begin(rq, PATCH_NONE, action);
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
    if (write_in_turn(rq, w->key, action_in_turn) == LINE_RUN)
        action_in_turn(rq);
}
