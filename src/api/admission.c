/* SPDX-License-Identifier: Apache-2.0 */
/* The admission chain; see admission.h. */
#include "api/admission.h"

#include <assert.h>

void admission_register(struct admission_chain *c, const struct admission_stage *stage, void *self)
{
    assert(stage->apply ? stage->point > ADMISSION_READ : stage->point == ADMISSION_READ);
    assert(!stage->lost || stage->writes);
    for (int op = 0; op < ADMISSION_OPS; op++) {
        struct admission_row *rows = c->rows[op];
        if (!(stage->ops & ADMISSION_ON(op)))
            continue;
        assert(c->n[op] < ADMISSION_STAGES_MAX);
        size_t i = c->n[op]++;
        for (; i > 0 && rows[i - 1].stage->point > stage->point; i--)
            rows[i] = rows[i - 1];
        rows[i] = (struct admission_row){ stage, self };
    }
}

/* ------------------------------------------------------------------ one attempt */

void admission_begin(struct admission *ad)
{
    const struct admission_chain *c = ad->rq->api->chain;
    struct arena *a = &ad->rq->arena;
    assert(!ad->waiting);
    ad->rows = c->rows[ad->op];
    ad->n_rows = c->n[ad->op];
    ad->slots = arena_new_n(a, struct admission_slot, ad->n_rows + 1);
    ad->at = 0;
    ad->doing = ADMISSION_READING;
    ad->counted = false;
    for (size_t i = 0; i < ad->n_rows; i++) {
        const struct admission_stage *s = ad->rows[i].stage;
        bool wanted = !s->wanted || s->wanted(ad->rows[i].self, ad);
        ad->slots[i] = (struct admission_slot){ .wanted = wanted };
        if (wanted && s->state_bytes)
            ad->slots[i].state = arena_alloc(a, s->state_bytes);
    }
}

/* All stages read before the first of them is applied. */
static bool run_reads(struct admission *ad, struct json **no)
{
    assert(ad->doing == ADMISSION_READING && ad->n_rows <= ADMISSION_STAGES_MAX);
    while (ad->at < ad->n_rows) {
        const struct admission_row *row = &ad->rows[ad->at];
        const struct admission_slot *slot = &ad->slots[ad->at++];
        if (!slot->wanted || !row->stage->read)
            continue;
        *no = row->stage->read(row->self, ad, slot->state);
        if (*no || ad->waiting)
            return false;
    }
    ad->doing = ADMISSION_APPLYING;
    ad->at = 0;
    return true;
}

/* Run stages until one refuses, which sets *no, or waits. */
static void run_stages(struct admission *ad, struct json **no)
{
    *no = NULL;
    if (ad->doing == ADMISSION_READING && !run_reads(ad, no))
        return;
    while (ad->at < ad->n_rows && ad->rows[ad->at].stage->point <= ad->through) {
        const struct admission_row *row = &ad->rows[ad->at];
        const struct admission_slot *slot = &ad->slots[ad->at++];
        if (!slot->wanted || !row->stage->apply)
            continue;
        *no = row->stage->apply(row->self, ad, slot->state);
        if (*no || ad->waiting)
            return;
    }
}

bool admission_run(struct admission *ad, enum admission_point through, struct json **no)
{
    assert(!ad->waiting && ad->doing != ADMISSION_LOSING);
    assert(ad->doing == ADMISSION_READING || through >= ad->through); /* points do not repeat */
    ad->through = through;
    run_stages(ad, no);
    assert(!*no || !ad->waiting);
    return !ad->waiting;
}

void admission_continue(struct admission *ad, struct json *no)
{
    assert(ad->waiting);
    ad->waiting = false;
    if (!no && ad->doing != ADMISSION_LOSING)
        run_stages(ad, &no);
    if (!ad->waiting)
        ad->done(ad, no);
}

/* ------------------------------------------------------------------ the transaction */

int admission_writes(struct admission *ad, bool first, struct store_op *ops, size_t *n,
                     struct err *err)
{
    for (size_t i = 0; i < ad->n_rows; i++) {
        const struct admission_row *row = &ad->rows[i];
        struct admission_slot *slot = &ad->slots[i];
        if (!slot->wanted || !row->stage->writes || row->stage->writes_first != first)
            continue;
        size_t before = *n;
        int r = row->stage->writes(row->self, ad, slot->state, ops, n, err);
        if (r < 0)
            return r;
        assert(before <= *n && *n <= STORE_TXN_MAX_OPS);
        _Static_assert(STORE_TXN_MAX_OPS <= UINT8_MAX, "first_op and n_ops are bytes");
        slot->first_op = (uint8_t)before;
        slot->n_ops = (uint8_t)(*n - before);
    }
    return 0;
}

/* The row that owns an operation; n_rows: none. */
static size_t row_of(const struct admission *ad, size_t op)
{
    size_t i = 0;
    while (i < ad->n_rows && !(op >= ad->slots[i].first_op &&
                               op < (size_t)ad->slots[i].first_op + ad->slots[i].n_ops))
        i++;
    return i;
}

bool admission_owns(const struct admission *ad, size_t failed_op)
{
    size_t i = row_of(ad, failed_op);
    return i < ad->n_rows && ad->rows[i].stage->lost;
}

bool admission_lost(struct admission *ad, size_t failed_op, struct json **no)
{
    size_t i = row_of(ad, failed_op);
    assert(i < ad->n_rows && !ad->waiting);
    const struct admission_row *row = &ad->rows[i];
    ad->doing = ADMISSION_LOSING;
    *no = row->stage->lost(row->self, ad, ad->slots[i].state, failed_op - ad->slots[i].first_op);
    assert(!*no || !ad->waiting);
    return !ad->waiting;
}

/* ------------------------------------------------------------------ reads of stages */

struct admission_reading {
    struct admission *ad;
    struct json **ret; /* one object */
    struct str prefix, after;
    admission_take_fn take; /* a list */
    void *arg;
};

static struct json *parse(struct admission *ad, const struct store_kv *kv)
{
    struct arena *a = &ad->rq->arena;
    struct json *v;
    return json_parse(a, str_copy_arena(a, kv->value), NULL, &v, NULL) < 0 ? NULL : v;
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    const struct admission_reading *rd = arg;
    struct admission *ad = rd->ad;
    (void)rev;
    if (request_idle(ad->rq))
        return;
    if (r >= 0)
        *rd->ret = kv ? parse(ad, kv) : NULL;
    admission_continue(ad, r < 0 ? api_error(ad->rq, r, err) : NULL);
}

/* r: the result of the call that started the read. */
static struct json *started(struct admission *ad, int r, const struct err *err)
{
    if (r < 0) {
        assert(ad->rq->busy > 0);
        ad->rq->busy--; /* no callback will run */
        return api_error(ad->rq, r, err);
    }
    admission_wait(ad);
    return NULL;
}

struct json *admission_get(struct admission *ad, struct str key, struct json **ret)
{
    struct request *rq = ad->rq;
    struct admission_reading *rd = arena_new(&rq->arena, struct admission_reading);
    struct err err = { 0 };
    *rd = (struct admission_reading){ .ad = ad, .ret = ret };
    request_busy(rq);
    return started(ad, store_get(rq->api->store, key, 0, on_object, rd, &err), &err);
}

/* The object is too large for one request, or does not parse. */
static struct json *unreadable(struct admission *ad, struct str key)
{
    struct request *rq = ad->rq;
    struct err err = { 0 };
    bool full = arena_is_full(&rq->arena);
    int r = err_set(&err, full ? E_LIMIT : E_CORRUPT, "'" STR_FMT "' %s", STR_ARG(key),
                    full ? "and others like it are too much to look at for one request"
                         : "cannot be read");
    return api_error(rq, r, &err);
}

static struct json *read_page(struct admission_reading *rd);

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct admission_reading *rd = arg;
    struct admission *ad = rd->ad;
    struct json *no = NULL;
    bool more = r >= 0 && page->more;
    if (request_idle(ad->rq))
        return;
    if (r < 0)
        no = api_error(ad->rq, r, err);
    for (size_t i = 0; r >= 0 && i < page->n; i++) {
        struct json *v = parse(ad, &page->kv[i]);
        if (!v) {
            no = unreadable(ad, page->kv[i].key);
            break;
        }
        if (!rd->take(rd->arg, &page->kv[i], v)) {
            more = false;
            break;
        }
    }
    if (!no && more) {
        rd->after = str_copy_arena(&ad->rq->arena, page->kv[page->n - 1].key);
        no = read_page(rd);
        if (!no)
            return;
    }
    admission_continue(ad, no);
}

static struct json *read_page(struct admission_reading *rd)
{
    struct request *rq = rd->ad->rq;
    struct err err = { 0 };
    const struct store_range range = { .prefix = rd->prefix, .after = rd->after };
    request_busy(rq);
    return started(rd->ad, store_range(rq->api->store, &range, on_page, rd, &err), &err);
}

struct json *admission_list(struct admission *ad, struct str prefix, admission_take_fn take,
                            void *arg)
{
    struct admission_reading *rd = arena_new(&ad->rq->arena, struct admission_reading);
    *rd = (struct admission_reading){ .ad = ad, .prefix = prefix, .take = take, .arg = arg };
    return read_page(rd);
}

/* ------------------------------------------------------------------ messages */

struct json *admission_forbid(const struct admission *ad, const char *why)
{
    const struct request *rq = ad->rq;
    struct str name = meta_name(ad->obj ? ad->obj : ad->old);
    if (name.n == 0)
        name = json_str(json_path(ad->obj, "metadata", "generateName", NULL));
    return status_forbidden(&ad->rq->arena, rq->route.group, rq->route.resource,
                            name.n ? name : STR("Unknown"), str_of(why));
}

bool admission_is_core(const struct admission *ad, const char *plural)
{
    const struct kube_resource *res = ad->rq->res;
    return res->group.n == 0 && str_is(res->plural, plural);
}
