/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt of one call:
 *
 *     READ -> CALL -> STORE -> end          READ -> end     its row is another one by now
 *       \______________/                     CALL -> end     the function is full: later
 *
 * READ takes the request from the disk, CALL sends it, STORE writes what followed: one transaction
 * that removes the call from those that wait and leaves its result, or its next time. It compares
 * the row's revision, so that a cancel which was first wins. Until it is committed the call counts
 * as running; after a crash before that it runs again.
 */
#include "fn/async/async_int.h"

#include "base/backoff.h"
#include "base/log.h"
#include "base/sm.h"

#include <errno.h>

enum { STORE_RETRY_FIRST_MS = 100, STORE_RETRY_MAX_MS = 5000, DEADLINE_SLACK_MS = 10000 };

enum run_at { RUN_READ, RUN_CALL, RUN_STORE };
static const struct sm_state run_states[] = {
    [RUN_READ] = { "read", EDGE(RUN_CALL) | EDGE(RUN_STORE) },
    [RUN_CALL] = { "call", EDGE(RUN_STORE) },
    [RUN_STORE] = { "store", 0 },
};

/* Why the attempt is ended early; a later one in this list overrides an earlier one. */
enum run_stop {
    RUN_GOES_ON,
    RUN_TOO_LARGE, /* the answer */
    RUN_CANCELED,
    RUN_CUT /* the process stops: nothing is written, the call stays pending */
};

struct async_run {
    struct async *a;
    struct sm at;
    char lane[ASYNC_LANE_MAX];
    struct due due;
    char id[ASYNC_ID_TEXT];
    struct buf row, pieces;  /* the record as it was read, and its body if that lies apart */
    struct async_record rec; /* points into them */
    uint64_t rev;
    size_t counted_bytes; /* in async.running_bytes */
    enum run_stop stop;

    struct exchange *call; /* of the gateway */
    struct url_post *post; /* or to a URL */
    int status;
    struct headers answer;
    struct buf body;
    bool is_late; /* the function did not end in time */

    /* what STORE writes */
    struct async_batch batch;
    enum async_state state;
    uint64_t wall_expires_ms;
    bool is_retry, has_callback, has_dead_letter;
    struct timer retry;
    uint64_t retry_ms;
};

/* ------------------------------------------------------------------ end */

static void count_bytes(struct async_run *run, size_t n)
{
    run->counted_bytes += n;
    run->a->running_bytes += n;
}

/* again: the call stays on disk as it is and returns to the lane, which is held for hold_ms. */
static void run_end(struct async_run *run, bool again, uint64_t hold_ms)
{
    struct async *a = run->a;
    struct lane *l = map_get(&a->lanes.by_key, str_of(run->lane));
    assert(l && l->running > 0); /* a lane that runs calls exists */
    assert(!run->call && !run->post && a->running_bytes >= run->counted_bytes);
    if (run->is_late)
        lane_late(&a->lanes, l);
    else if (!again)
        lane_good(&a->lanes, l);
    if (again) {
        lane_add(&a->lanes, l, &run->due);
        if (hold_ms)
            lane_hold(&a->lanes, l, async_wall_ms(run->a) + hold_ms);
    }
    lane_done(&a->lanes, l);
    (void)map_del(&a->runs, str_of(run->id));
    a->running_bytes -= run->counted_bytes;
    timer_stop(a->loop, &run->retry);
    batch_fini(&run->batch);
    buf_fini(&run->row);
    buf_fini(&run->pieces);
    buf_fini(&run->body);
    headers_fini(&run->answer);
    free(run);
    async_pump(a);
    async_check_closed(a);
}

/*
 * The function has no room: wait until another running call ends; if none runs, for a fixed time.
 */
static void run_end_busy(struct async_run *run)
{
    struct lane *l = map_get(&run->a->lanes.by_key, str_of(run->lane));
    bool others = l->running > 1;
    if (others)
        lane_full(&run->a->lanes, l);
    run_end(run, true, others ? 0 : ASYNC_BUSY_RETRY_MS);
}

/* ------------------------------------------------------------------ store */

static void store_start(struct async_run *run);

static void note_end(struct async_run *run)
{
    struct async_stats *s = &run->a->stats;
    s->callbacks += run->has_callback;
    s->dead_letters += run->has_dead_letter;
    switch (run->state) {
    case ASYNC_PENDING:
        s->retries++;
        break;
    case ASYNC_SUCCEEDED:
        s->succeeded++;
        break;
    case ASYNC_FAILED:
        s->failed++;
        break;
    case ASYNC_EXPIRED:
        s->expired++;
        break;
    case ASYNC_CANCELED:
        s->canceled++;
        break;
    }
}

static void on_retry(struct timer *t)
{
    store_start(container_of(t, struct async_run, retry));
}

static void on_stored(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct async_run *run = arg;
    struct async *a = run->a;
    if (run->stop == RUN_CUT || res->r == E_CONFLICT) { /* canceled since: that result stands */
        run_end(run, false, 0);
        return;
    }
    if (res->r < 0) { /* the answer is kept in memory until it can be stored */
        log_warn("result cannot be stored, trying again", "call=%s err=\"%s\"", run->id,
                 err_text(err));
        run->retry_ms = backoff_next(run->retry_ms, STORE_RETRY_FIRST_MS, STORE_RETRY_MAX_MS);
        timer_start(a->loop, &run->retry, run->retry_ms, on_retry);
        return;
    }
    note_end(run);
    for (size_t i = 0; i < run->batch.n_added; i++)
        async_added(a, str_of(run->batch.added[i].lane), &run->batch.added[i].due);
    if (!run->is_retry)
        async_finished(a, run->wall_expires_ms);
    run_end(run, false, 0);
}

static void store_start(struct async_run *run)
{
    struct err err = { 0 };
    assert(run->at.at == RUN_STORE && run->batch.n > 0 && !run->call && !run->post);
    int r = store_txn(run->a->store, run->batch.ops, run->batch.n, on_stored, run, &err);
    if (r < 0)
        on_stored(run, &(struct store_txn_result){ .r = r }, &err);
}

/* ------------------------------------------------------------------ result */

static const struct fn_async *policy_of(const struct async_run *run)
{
    if (run->rec.url.n)
        return &async_url_policy;
    const struct fn_spec *spec =
        run->a->functions.ops->spec(run->a->functions.arg, run->rec.namespace, run->rec.name);
    return spec ? &spec->async : &async_default_policy;
}

static void add_again(struct async_run *run, const struct async_verdict *v, const char *reason)
{
    struct async_batch *b = &run->batch;
    struct async_record r = run->rec;
    struct async_key k;
    r.status = v->status;
    r.reason = str_of(reason);
    r.wall_due_ms = v->wall_due_ms;
    if (r.n_pieces)
        r.body = STR("");
    async_key_call(&k, &run->due.id);
    batch_put_rev(b, &k, batch_record(b, &r), run->rev);
    async_key_due(&k, str_of(run->lane), run->due.wall_ms, &run->due.id);
    batch_delete(b, &k);
    async_key_due(&k, str_of(run->lane), r.wall_due_ms, &run->due.id);
    batch_put(b, &k, STR(""));
    memcpy(b->added[0].lane, run->lane, sizeof run->lane);
    b->added[0].due = (struct due){ r.wall_due_ms, run->due.id };
    b->n_added = 1;
    run->is_retry = true;
}

/* Fields of the answer that describe its connection do not belong to the result. */
static void keep_answer(struct headers *to, const struct headers *from)
{
    static const char *const dropped[] = { "connection",        "keep-alive",
                                           "transfer-encoding", "trailer",
                                           "proxy-connection",  "content-length",
                                           "upgrade",           "date" };
    for (size_t i = 0; i < from->n; i++) {
        bool drop = false;
        for (size_t k = 0; k < ARRAY_LEN(dropped) && !drop; k++)
            drop = str_is(headers_name(from, i), dropped[k]);
        if (!drop)
            (void)headers_add(to, headers_name(from, i), headers_value(from, i));
    }
}

/* The fields of a callback or a dead letter. */
static void add_delivery(struct async_run *run, struct async_record *r,
                         const struct headers *fields, struct str body,
                         const struct async_record *result)
{
    char number[24];
    struct headers h = { 0 };
    struct buf name, text;
    struct str type = headers_get(fields, "content-type");
    if (type.p)
        (void)headers_add(&h, STR("content-type"), type);
    buf_init(&name, 2 * FN_NAME_MAX + 2);
    (void)buf_printf(&name, STR_FMT "/" STR_FMT, STR_ARG(run->rec.namespace),
                     STR_ARG(run->rec.name));
    (void)snprintf(number, sizeof number, "%u", result->status);
    (void)headers_addc(&h, "x-faas-call-status", number);
    (void)headers_addc(&h, "x-function-status", number);
    (void)snprintf(number, sizeof number, "%u", result->attempts);
    (void)headers_addc(&h, "x-faas-call-attempts", number);
    (void)headers_add(&h, STR("x-faas-call-state"), str_of(async_state_name(result->state)));
    if (result->reason.n)
        (void)headers_add(&h, STR("x-faas-call-reason"), result->reason);
    (void)headers_addc(&h, "x-faas-parent-call-id", run->id);
    (void)headers_add(&h, STR("x-faas-function"), buf_str(&name));
    (void)headers_add(&h, STR("x-function-name"), run->rec.name);
    buf_init(&text, HEADERS_MAX_BYTES * 2);
    async_fields_write(&text, &h);
    r->parent = str_of(run->id);
    r->fields = buf_str(&text);
    if (!r->method.n)
        r->method = STR("POST");
    struct async_id id = async_id_new(run->a->owner);
    batch_call(&run->batch, run->a->owner, &id, r, body, async_wall_ms(run->a));
    buf_fini(&text);
    buf_fini(&name);
    headers_fini(&h);
}

static void add_callback(struct async_run *run, const struct headers *fields,
                         const struct async_record *result)
{
    struct async_record r = { .namespace = run->rec.namespace,
                              .name = run->rec.name,
                              .url = run->rec.callback };
    add_delivery(run, &r, fields, buf_str(&run->body), result);
    run->has_callback = true;
}

static uint64_t hops_of(const struct headers *h)
{
    uint64_t n = 0;
    (void)parse_u64(headers_get(h, ASYNC_HOPS_FIELD), 0, ASYNC_EVENT_HOPS_MAX, &n);
    return n;
}

/* The answer to an event, if it is one: published with the result. */
static void add_event(struct async_run *run, const struct headers *fields, enum async_state state)
{
    struct str form = STR("application/cloudevents");
    struct str type = headers_get(fields, "content-type");
    bool is_event = headers_get(fields, "ce-specversion").p || str_has_prefix(type, form);
    if (state != ASYNC_SUCCEEDED || !is_event)
        return;
    struct headers asked = { 0 }, h = { 0 };
    struct buf text;
    char number[24];
    (void)async_fields_read(run->rec.fields, &asked, NULL);
    uint64_t hops = hops_of(&asked) + 1;
    headers_fini(&asked);
    if (hops > ASYNC_EVENT_HOPS_MAX) {
        log_warn("event dropped: answers to events form a loop", "function=" STR_FMT "/" STR_FMT,
                 STR_ARG(run->rec.namespace), STR_ARG(run->rec.name));
        return;
    }
    for (size_t i = 0; i < fields->n; i++)
        if (str_has_prefix(headers_name(fields, i), STR("ce-")))
            (void)headers_add(&h, headers_name(fields, i), headers_value(fields, i));
    if (type.p)
        (void)headers_add(&h, STR("content-type"), type);
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)hops);
    (void)headers_addc(&h, ASYNC_HOPS_FIELD, number);
    buf_init(&text, HEADERS_MAX_BYTES * 2);
    async_fields_write(&text, &h);
    struct async_record r = { .namespace = run->rec.namespace,
                              .name = run->rec.name,
                              .url = STR(ASYNC_TO_EVENTS),
                              .parent = str_of(run->id),
                              .method = STR("POST"),
                              .fields = buf_str(&text) };
    struct async_id id = async_id_new(run->a->owner);
    batch_call(&run->batch, run->a->owner, &id, &r, buf_str(&run->body), async_wall_ms(run->a));
    buf_fini(&text);
    headers_fini(&h);
}

/* In its own namespace any function, elsewhere those that a stranger may call. */
static bool may_call(const struct async_run *run, struct str namespace, struct str name)
{
    const struct async_functions *f = &run->a->functions;
    if (name.n == 0 || name.n > FN_NAME_MAX || namespace.n == 0 || namespace.n > FN_NAME_MAX)
        return false;
    if (str_eq(namespace, run->rec.namespace) || f->ops->is_open(f->arg, namespace, name))
        return true;
    log_warn("dead letter dropped: the namespace requires a token",
             "function=" STR_FMT "/" STR_FMT " to=" STR_FMT "/" STR_FMT,
             STR_ARG(run->rec.namespace), STR_ARG(run->rec.name), STR_ARG(namespace),
             STR_ARG(name));
    return false;
}

/* Send the request to the dead letter target: a function, else a URL. */
static void add_dead_letter(struct async_run *run, const struct fn_async *policy,
                            const struct async_record *result)
{
    char host[ASYNC_HOST_MAX];
    struct headers fields = { 0 };
    struct async_record r = { .namespace = run->rec.namespace, .name = run->rec.name };
    if (policy->dead_letter_function.n) {
        r.method = run->rec.method;
        r.target = run->rec.target;
        if (!str_cut(policy->dead_letter_function, '/', &r.namespace, &r.name)) {
            r.namespace = run->rec.namespace;
            r.name = policy->dead_letter_function;
        }
        run->has_dead_letter = may_call(run, r.namespace, r.name);
    } else if (policy->dead_letter_url.n) {
        r.url = policy->dead_letter_url;
        run->has_dead_letter = async_url_check(r.url, host, NULL) >= 0;
    }
    if (!run->has_dead_letter)
        return;
    (void)async_fields_read(run->rec.fields, &fields, NULL);
    add_delivery(run, &r, &fields, run->rec.n_pieces ? buf_str(&run->pieces) : run->rec.body,
                 result);
    headers_fini(&fields);
}

static void add_result(struct async_run *run, enum async_state state, const struct async_verdict *v,
                       const char *reason)
{
    const struct fn_async *policy = policy_of(run);
    struct headers kept = { 0 };
    struct buf fields;
    bool keeps_answer = run->status > 0 && run->status == v->status && run->rec.url.n == 0;
    if (keeps_answer)
        keep_answer(&kept, &run->answer);
    else
        buf_reset(&run->body);
    buf_init(&fields, HEADERS_MAX_BYTES * 2);
    async_fields_write(&fields, &kept);
    struct async_record result = run->rec;
    result.state = state;
    result.status = v->status;
    result.reason = str_of(reason);
    run->wall_expires_ms =
        batch_result(&run->batch, &run->due.id, &run->rec, run->rev, str_of(run->lane), state,
                     v->status, result.reason, buf_str(&fields), buf_str(&run->body),
                     policy->result_ttl_ms, async_wall_ms(run->a));
    bool notifies = run->rec.parent.n == 0 && state != ASYNC_CANCELED;
    if (notifies && str_is(run->rec.callback, ASYNC_TO_EVENTS))
        add_event(run, &kept, state);
    else if (notifies && run->rec.callback.n)
        add_callback(run, &kept, &result);
    if (notifies && v->is_dead)
        add_dead_letter(run, policy, &result);
    buf_fini(&fields);
    headers_fini(&kept);
}

/* The attempt has ended (or could not begin: was_tried false). */
static void run_decide(struct async_run *run, const struct async_outcome *o, bool was_tried)
{
    struct async *a = run->a;
    const struct fn_async *policy = policy_of(run);
    if (was_tried)
        run->rec.attempts++;
    struct async_verdict v = async_decide(policy, o, run->rec.attempts, run->rec.wall_created_ms,
                                          async_wall_ms(run->a), &a->rng);
    const char *reason = o->reason;
    if (run->stop == RUN_CANCELED) {
        v = (struct async_verdict){ .state = ASYNC_CANCELED };
        reason = "Canceled";
    } else if (!was_tried && !o->is_final) {
        v.state = ASYNC_EXPIRED;
    }
    run->state = v.state;
    sm_move(&run->at, RUN_STORE);
    if (v.state == ASYNC_PENDING)
        add_again(run, &v, reason);
    else
        add_result(run, v.state, &v, reason);
    store_start(run);
}

/* ------------------------------------------------------------------ call */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct async_run *run = arg;
    run->status = status;
    (void)headers_copy(&run->answer, headers);
}

static void on_data(void *arg, struct str chunk)
{
    struct async_run *run = arg;
    if (run->stop != RUN_GOES_ON)
        return;
    if (buf_add_str(&run->body, chunk) >= 0) {
        count_bytes(run, chunk.n);
        return;
    }
    run->stop = RUN_TOO_LARGE;
    exchange_cancel(run->call);
}

static void on_call_end(void *arg, int r, const struct err *err)
{
    struct async_run *run = arg;
    const char *reason = exchange_reason(run->call);
    run->call = NULL;
    run->is_late = r == -ETIMEDOUT;
    if (run->stop == RUN_CUT) {
        run_end(run, false, 0);
        return;
    }
    if (r < 0 && run->a->sm.at >= ASYNC_DRAINING) {
        run_end(run, true, 0);
        return;
    }
    if (r == -EBUSY && run->status == 0 && run->stop < RUN_CANCELED) { /* not the call's fault */
        run_end_busy(run);
        return;
    }
    struct async_outcome o = { .status = run->status, .r = r, .reason = r < 0 ? reason : "" };
    if (r < 0 && (!reason || !*reason))
        o.reason = "ConnectionBroken";
    if (run->stop == RUN_TOO_LARGE)
        o = (struct async_outcome){ .r = E_LIMIT, .reason = "ResultTooLarge", .is_final = true };
    run_decide(run, &o, true);
}

static const struct exchange_events function_events = { .on_head = on_head,
                                                        .on_data = on_data,
                                                        .on_end = on_call_end };

static void on_posted(void *arg, int r, int status, const char *reason, const struct err *err)
{
    struct async_run *run = arg;
    run->post = NULL;
    struct async_outcome o = { .status = r < 0 ? 0 : status,
                               .r = r,
                               .reason = reason,
                               .is_final = r == E_DENIED || r == E_INVALID };
    run_decide(run, &o, true);
}

static void on_published(void *arg, int r, const struct err *err)
{
    struct async_run *run = arg;
    if (run->stop == RUN_CUT) {
        run_end(run, false, 0);
        return;
    }
    struct async_outcome o = { .status = r < 0 ? 0 : 202,
                               .r = r,
                               .reason = r < 0 ? "NotPublished" : "",
                               .is_final = r == E_INVALID || r == E_PARSE };
    run_decide(run, &o, true);
}

static int call_events(struct async_run *run, const struct headers *h, struct str body,
                       struct err *err)
{
    struct async_events *e = &run->a->events;
    if (!e->publish)
        return err_set(err, -EBUSY, "there is no consumer of events");
    return e->publish(e->arg, run->rec.namespace, h, body, on_published, run, err);
}

static int call_url(struct async_run *run, const struct headers *h, struct str body,
                    struct err *err)
{
    return url_post_start(run->a, run->rec.url, h, body, on_posted, run, &run->post, err);
}

static int call_function(struct async_run *run, const struct headers *h, struct str body,
                         struct err *err)
{
    struct async_functions *f = &run->a->functions;
    const struct fn_spec *spec = f->ops->spec(f->arg, run->rec.namespace, run->rec.name);
    struct invoke_request req = {
        .method = run->rec.method,
        .target = run->rec.target,
        .headers = h,
        .has_body = body.n > 0,
        .body_bytes = body.n,
        .body = body,
        .body_is_whole = true,
        .call_id = str_of(run->id),
    };
    if (spec) /* one that never ends would never be tried again */
        req.deadline_ms =
            loop_now_ms(run->a->loop) + spec->queue_ms + spec->request_ms + DEADLINE_SLACK_MS;
    return f->ops->submit(f->arg, run->rec.namespace, run->rec.name, &req, &function_events, run,
                          &run->call, err);
}

static void run_call(struct async_run *run)
{
    struct err err = { 0 };
    struct headers h = { 0 };
    char number[16];
    int r = async_fields_read(run->rec.fields, &h, &err);
    struct str body = run->rec.n_pieces ? buf_str(&run->pieces) : run->rec.body;
    count_bytes(run, body.n);
    (void)snprintf(number, sizeof number, "%u", run->rec.attempts + 1);
    (void)headers_addc(&h, "x-call-id", run->id);
    (void)headers_addc(&h, "x-faas-attempt", number);
    sm_move(&run->at, RUN_CALL);
    if (r >= 0 && str_is(run->rec.url, ASYNC_TO_EVENTS))
        r = call_events(run, &h, body, &err);
    else if (r >= 0)
        r = run->rec.url.n ? call_url(run, &h, body, &err) : call_function(run, &h, body, &err);
    headers_fini(&h);
    if (r >= 0)
        return;
    if (r == -EBUSY) {
        run_end_busy(run);
        return;
    }
    struct async_outcome o = { .r = r,
                               .reason = r == -ENOENT ? "UnknownFunction" : "CannotBegin",
                               .is_final = r == -ENOENT || r == E_INVALID || r == E_PARSE ||
                                           r == E_CORRUPT };
    run_decide(run, &o, true);
}

/* ------------------------------------------------------------------ read */

/* The request is complete. */
static void run_ready(struct async_run *run)
{
    if (run->a->sm.at >= ASYNC_DRAINING && run->stop < RUN_CANCELED) {
        run_end(run, true, 0);
        return;
    }
    const struct fn_async *policy = policy_of(run);
    bool is_old = async_is_too_old(policy, run->rec.wall_created_ms, async_wall_ms(run->a));
    if (run->stop == RUN_CANCELED || is_old) {
        struct async_outcome o = { .r = -ETIMEDOUT, .reason = "TooOld" };
        run_decide(run, &o, false);
        return;
    }
    run_call(run);
}

static void read_failed(struct async_run *run, const struct err *err)
{
    log_error("call cannot be read, trying again", "call=%s err=\"%s\"", run->id, err_text(err));
    run_end(run, true, ASYNC_BUSY_RETRY_MS);
}

static void on_pieces(void *arg, int r, const struct store_page *page, const struct err *err);

static void read_pieces(struct async_run *run, struct str after)
{
    struct async_key k;
    struct err err = { 0 };
    async_key_pieces(&k, 'b', &run->due.id);
    struct store_range range = { .prefix = async_key_str(&k), .after = after };
    if (store_range(run->a->store, &range, on_pieces, run, &err) < 0)
        read_failed(run, &err);
}

static void on_pieces(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct async_run *run = arg;
    if (run->stop == RUN_CUT) {
        run_end(run, false, 0);
        return;
    }
    for (size_t i = 0; r >= 0 && i < page->n; i++)
        r = buf_add_str(&run->pieces, page->kv[i].value);
    if (r < 0) {
        read_failed(run, err);
        return;
    }
    if (page->more) {
        struct str last = page->kv[page->n - 1].key;
        struct async_key after = { .n = MIN(last.n, sizeof after.p) };
        memcpy(after.p, last.p, after.n);
        read_pieces(run, async_key_str(&after));
        return;
    }
    if (run->pieces.n !=
        run->rec.body_bytes) { /* canceled between the two reads, which deletes the pieces */
        run_end(run, false, 0);
        return;
    }
    run_ready(run);
}

/* A row that cannot be decoded must not be retried for ever. */
static void drop_row(struct async_run *run, const struct err *err)
{
    log_error("call cannot be decoded, giving up", "call=%s err=\"%s\"", run->id, err_text(err));
    struct async_key k;
    async_key_due(&k, str_of(run->lane), run->due.wall_ms, &run->due.id);
    batch_delete(&run->batch, &k);
    run->state = ASYNC_FAILED;
    run->is_retry = true; /* leaves no result */
    sm_move(&run->at, RUN_STORE);
    store_start(run);
}

static void on_row(void *arg, int r, const struct store_kv *kv, uint64_t rev, const struct err *err)
{
    struct async_run *run = arg;
    struct err text = { 0 };
    if (run->stop == RUN_CUT) {
        run_end(run, false, 0);
        return;
    }
    if (r < 0) {
        read_failed(run, err);
        return;
    }
    if (!kv || buf_add_str(&run->row, kv->value) < 0) {
        run_end(run, false, 0);
        return;
    }
    run->rev = kv->mod_rev;
    r = async_record_read(buf_str(&run->row), &run->rec, &text);
    if (r < 0)
        drop_row(run, &text);
    else if (run->rec.state != ASYNC_PENDING || run->rec.wall_due_ms != run->due.wall_ms)
        run_end(run, false, 0); /* canceled, or at another time */
    else if (run->rec.n_pieces)
        read_pieces(run, STR(""));
    else
        run_ready(run);
}

/* ------------------------------------------------------------------ interface */

void run_start(struct async *a, struct lane *l, const struct due *d)
{
    char id[ASYNC_ID_TEXT];
    async_id_text(&d->id, id);
    if (map_has(&a->runs, str_of(id))) { /* added twice while a page was read */
        lane_done(&a->lanes, l);
        return;
    }
    struct async_run *run = xnew(struct async_run);
    run->a = a;
    run->due = *d;
    assert(l->running > 0 && l->key.n < sizeof run->lane);
    memcpy(run->lane, l->key.p, l->key.n);
    memcpy(run->id, id, sizeof id);
    sm_init(&run->at, run_states, RUN_READ);
    buf_init(&run->row, STORE_VALUE_MAX_BYTES);
    buf_init(&run->pieces, ASYNC_BODY_MAX);
    buf_init(&run->body, ASYNC_RESULT_MAX);
    (void)map_put(&a->runs, str_of(id), run);
    struct async_key k;
    struct err err = { 0 };
    async_key_call(&k, &d->id);
    if (store_get(a->store, async_key_str(&k), 0, on_row, run, &err) < 0)
        read_failed(run, &err);
}

void run_cancel(struct async_run *run)
{
    if (run->stop >= RUN_CANCELED || run->at.at == RUN_STORE)
        return;
    run->stop = RUN_CANCELED;
    if (run->call)
        exchange_cancel(run->call);
    if (run->post) {
        url_post_cancel(take_ptr(&run->post));
        struct async_outcome o = { .r = -ECANCELED, .reason = "Canceled" };
        run_decide(run, &o, true);
    }
}

void run_cut(struct async_run *run)
{
    run->stop = RUN_CUT;
    if (run->call)
        exchange_cancel(run->call);
    if (run->post || timer_is_armed(&run->retry)) {
        url_post_cancel(take_ptr(&run->post));
        run_end(run, false, 0);
    }
}
