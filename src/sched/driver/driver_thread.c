/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's thread: reads messages, runs cycles, starts threads for lanes, and hands its
 * requests to the loop once per round. It blocks while it has no work; the next timer of the core
 * limits that wait.
 */
#include "sched/driver/driver_impl.h"

#include "base/clock.h"
#include "base/log.h"
#include "kube/model/meta.h"
#include "sched/explain/explain.h"

#include <errno.h>

void driver_call_free(struct driver_call *c)
{
    free(c->method);
    free(c->target);
    free(c->body);
    buf_fini(&c->answer);
    free(c);
}

void driver_question_free(struct driver_question *q)
{
    free(q->namespace);
    free(q->name);
    buf_fini(&q->text);
    free(q);
}

void driver_send(struct sched_driver *d, struct driver_message *m)
{
    driver_assert_loop(d);
    uv_mutex_lock(&d->lock);
    driver_inbox_put(&d->inbox, m);
    bool waits = d->thread_waits;
    d->thread_waits = false;
    uv_mutex_unlock(&d->lock);
    if (waits)
        uv_cond_signal(&d->wake);
}

/* ---- to the loop ---- */

void driver_unlock_and_post(struct sched_driver *d)
{
    bool is_first = !d->posted;
    assert(d->outbox.n_bound <= DRIVER_BOUND_MAX);
    d->posted = true;
    uv_mutex_unlock(&d->lock);
    if (!is_first)
        return;
    d->post.run = driver_on_post;
    loop_post(d->loop, &d->post);
}

static void on_api_call(struct sched_api *api, const struct sched_api_request *rq,
                        sched_api_done done, void *arg)
{
    struct sched_driver *d = container_of(api, struct sched_driver, api);
    struct driver_call *c = xnew(struct driver_call);
    c->d = d;
    c->is_image = rq->is_image;
    c->method = rq->method ? xstrdup(rq->method) : NULL;
    c->target = str_dup(rq->target);
    c->body = str_dup(rq->body);
    c->n_body = rq->body.n;
    c->patch_type = rq->patch_type; /* all callers pass constants */
    c->done = done;
    c->arg = arg;
    buf_init(&c->answer, DRIVER_ANSWER_MAX_BYTES);
    uv_mutex_lock(&d->lock);
    list_push_back(&d->outbox.calls, &c->node);
    driver_unlock_and_post(d);
}

static struct str architecture_of(const struct sched_node *node)
{
    for (uint32_t i = 0; node && i < node->labels.n; i++)
        if (str_is(intern_str(node->labels.p[i].key), "kubernetes.io/arch"))
            return intern_str(node->labels.p[i].value);
    return STR("");
}

/* Appends a text to the others. */
static struct str append(char **at, struct str text)
{
    struct str copy = str_n(*at, text.n);
    memcpy(*at, text.p, text.n);
    *at += text.n;
    return copy;
}

static void on_bound(void *arg, const struct sched_pod *pod, struct str name,
                     const struct sched_node *node)
{
    struct sched_driver *d = arg;
    struct str secrets = pod->pull_secrets ? intern_str(pod->pull_secrets) : STR("");
    struct str architecture = architecture_of(node);
    struct str zone = node && node->zone ? intern_str(node->zone) : STR("");
    scoped(buf_fini_scoped) struct buf images = BUF_INIT(BUF_MAX_DEFAULT);
    for (uint32_t i = 0; i < pod->n_images; i++)
        (void)buf_printf(&images, STR_FMT "\n", STR_ARG(intern_str(pod->images[i])));
    struct bound_pod *p = xalloc(sizeof *p + pod->o.namespace.n + pod->o.name.n + pod->o.uid.n +
                                 name.n + zone.n + architecture.n + images.n + secrets.n);
    char *at = p->texts;
    p->b = (struct sched_bound){ .namespace = append(&at, pod->o.namespace),
                                 .name = append(&at, pod->o.name),
                                 .uid = append(&at, pod->o.uid),
                                 .node = append(&at, name),
                                 .zone = append(&at, zone),
                                 .architecture = append(&at, architecture),
                                 .images = append(&at, buf_str(&images)),
                                 .secrets = append(&at, secrets) };
    uv_mutex_lock(&d->lock);
    if (d->outbox.n_bound == DRIVER_BOUND_MAX) {
        uv_mutex_unlock(&d->lock);
        free(p);
        return;
    }
    d->outbox.n_bound++;
    list_push_back(&d->outbox.bound, &p->node);
    driver_unlock_and_post(d);
}

/* ---- objects ---- */

struct driver_thread_reader {
    struct sched_driver *d;
    uint64_t now_ms;
    struct arena arena;
    /* Names known before the list under way, by kind; NULL: no list. */
    struct map *before[SCHED_KIND_COUNT];
    uint64_t complained_ms;
    size_t unreadable;
    /* Kinds being listed again, since guests see more of them than was kept; until then no pod is
     * tried. One bit each. */
    uint32_t rereads;
    bool has_all;       /* the first lists of all kinds */
    uint64_t rested_ns; /* the end of the last round */
};

static struct str object_key(struct driver_thread_reader *r, struct str namespace, struct str name)
{
    return str_of(arena_printf(&r->arena, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name)));
}

/* At most one log line a minute. */
static void complain(struct driver_thread_reader *r, enum sched_kind kind, const struct json *meta,
                     const struct err *err)
{
    enum { COMPLAIN_MS = 60000 };
    r->unreadable++;
    if (r->complained_ms && r->now_ms - r->complained_ms < COMPLAIN_MS)
        return;
    log_warn("object cannot be read, ignoring", "kind=%s name=" STR_FMT "/" STR_FMT " n=%zu: %s",
             sched_kind_plural(kind), STR_ARG(json_get_str(meta, "namespace")),
             STR_ARG(json_get_str(meta, "name")), r->unreadable, err_text(err));
    r->complained_ms = r->now_ms;
    r->unreadable = 0;
}

static void put_object(struct driver_thread_reader *r, enum sched_kind kind,
                       const struct json *object)
{
    struct err err = { 0 };
    const struct json *meta = json_getc(object, "metadata");
    if (r->before[kind])
        map_del(r->before[kind],
                object_key(r, json_get_str(meta, "namespace"), json_get_str(meta, "name")));
    if (sched_put(r->d->s, kind, object, r->now_ms, &err) < 0)
        complain(r, kind, meta, &err);
}

static void read_page(struct driver_thread_reader *r, const struct driver_message *m)
{
    struct json *list;
    if (json_parse(&r->arena, str_n(m->text, m->n_text), NULL, &list, NULL) >= 0) {
        json_each (item, json_getc(list, "items")) {
            meta_name_item(&r->arena, list, item);
            put_object(r, m->kind, item);
        }
    }
    arena_reset(&r->arena);
}

static void read_line(struct driver_thread_reader *r, const struct driver_message *m)
{
    struct json *event;
    if (json_parse(&r->arena, str_n(m->text, m->n_text), NULL, &event, NULL) >= 0) {
        const struct json *object = json_getc(event, "object");
        const struct json *meta = json_getc(object, "metadata");
        if (str_is(json_get_str(event, "type"), "DELETED"))
            sched_del(r->d->s, m->kind, json_get_str(meta, "namespace"), json_get_str(meta, "name"),
                      r->now_ms);
        else
            put_object(r, m->kind, object);
    }
    arena_reset(&r->arena);
}

static void note_name(void *arg, struct str namespace, struct str name)
{
    struct map *names = arg;
    char *key = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    (void)map_put(names, str_of(key), names);
    free(key);
}

static void list_forget(struct driver_thread_reader *r, enum sched_kind kind)
{
    if (!r->before[kind])
        return;
    map_fini(r->before[kind]);
    free(take_ptr(&r->before[kind]));
}

static void list_begins(struct driver_thread_reader *r, enum sched_kind kind)
{
    list_forget(r, kind);
    r->before[kind] = xnew(struct map);
    sched_each_name(r->d->s, kind, note_name, r->before[kind]);
}

/* Removes the objects that the list did not contain. */
static void list_ends(struct driver_thread_reader *r, enum sched_kind kind)
{
    if (!r->before[kind])
        return;
    map_each (e, r->before[kind]) {
        struct str namespace, name;
        (void)str_cut(e->key, '/', &namespace, &name);
        sched_del(r->d->s, kind, namespace, name, r->now_ms);
    }
    list_forget(r, kind);
}

/* ---- questions ---- */

static void explain_pod(struct sched_asked *asked)
{
    struct driver_question *q = container_of(asked, struct driver_question, asked);
    struct sched_driver *d = q->d;
    scoped(explain_free_scoped) struct explain *e = explain_new();
    do {
        q->err = (struct err){ 0 };
        q->r = sched_explain(d->s, str_of(q->namespace), str_of(q->name), clock_mono_ms(),
                             &explain_observer, e, &q->err);
        /* -EAGAIN: after a reload the pod belongs to another lane. */
        if (q->r == -EAGAIN &&
            sched_ask(d->s, str_of(q->namespace), str_of(q->name), asked) == SCHED_ASK_LATER)
            return;
    } while (q->r == -EAGAIN);
    if (q->r >= 0)
        explain_write(e, &q->text);
    uv_mutex_lock(&d->lock);
    list_push_back(&d->outbox.questions, &q->node);
    driver_unlock_and_post(d);
}

static void reload_plugins(struct driver_thread_reader *reader, struct reload *r)
{
    struct sched_driver *d = reader->d;
    const struct sched_foreign *foreign = r->plugins ? wplugins_foreign(r->plugins) : NULL;
    struct sched_extenders *extenders = NULL;
    bool kept_json = sched_keeps_json(d->s), keeps_json = r->config->n_extenders > 0;
    bool encoded = d->foreign && d->foreign->encode, encodes = foreign && foreign->encode;
    r->r = sched_extenders_new(r->config->extenders, r->config->n_extenders, &extenders, &r->err);
    if (r->r >= 0)
        r->r = sched_reload(d->s, r->config, foreign, keeps_json, &r->err);
    if (r->r >= 0) {
        d->config = r->config;
        d->foreign = foreign;
        sched_extenders_replace(d->extenders, take_ptr(&extenders));
        r->rereads = (keeps_json && !kept_json) || (encodes && !encoded);
    }
    if (r->rereads) {
        reader->rereads = UINT32_C(1) << SCHED_POD | UINT32_C(1) << SCHED_NODE;
        sched_unsynced(d->s);
    }
    sched_extenders_free(extenders);
    uv_mutex_lock(&d->lock);
    d->outbox.reload = r;
    driver_unlock_and_post(d);
}

/* ---- messages ---- */

/* Returns false after the last message. */
static bool handle(struct driver_thread_reader *r, struct driver_message *m)
{
    struct sched_driver *d = r->d;
    switch (m->type) {
    case MESSAGE_LIST_BEGIN:
        list_begins(r, m->kind);
        break;
    case MESSAGE_PAGE:
        read_page(r, m);
        break;
    case MESSAGE_LIST_END:
        list_ends(r, m->kind);
        if (m->flag && r->rereads && !(r->rereads &= ~(UINT32_C(1) << m->kind)) && r->has_all)
            sched_synced(d->s);
        break;
    case MESSAGE_LINE:
        read_line(r, m);
        break;
    case MESSAGE_SYNCED:
        r->has_all = true;
        if (!r->rereads)
            sched_synced(d->s);
        break;
    case MESSAGE_ANSWER:
        m->call->done(m->call->arg, m->call->r, m->call->status, buf_str(&m->call->answer),
                      &m->call->err);
        driver_call_free(m->call);
        break;
    case MESSAGE_LEAD:
        sched_lead(d->s, m->flag);
        break;
    case MESSAGE_EXPLAIN:
        m->question->asked.run = explain_pod;
        if (sched_ask(d->s, str_of(m->question->namespace), str_of(m->question->name),
                      &m->question->asked) == SCHED_ASK_NOW)
            explain_pod(&m->question->asked);
        break;
    case MESSAGE_RELOAD:
        reload_plugins(r, m->reload);
        break;
    case MESSAGE_STOP:
        sched_lead(d->s, false);
        return false;
    }
    return true;
}

static struct driver_message *next_message(struct driver_thread_reader *r, struct list *messages)
{
    return driver_inbox_next(&r->d->inbox, messages, sched_lane_is_full(r->d->s));
}

/* ---- lanes ---- */

struct lane_thread {
    struct list node;
    struct sched_driver *d;
    struct sched_lane *lane;
    uv_thread_t thread;
};

/* Makes the scheduler's thread check its timers, and lanes with work. */
static void poke(struct sched_driver *d)
{
    uv_mutex_lock(&d->lock);
    bool waits = d->thread_waits;
    assert(!waits || !d->is_poked);
    d->is_poked = true;
    d->thread_waits = false;
    uv_mutex_unlock(&d->lock);
    if (waits)
        uv_cond_signal(&d->wake);
}

static void run_lane(void *arg)
{
    struct lane_thread *t = arg;
    struct sched_driver *d = t->d;
    turn_take(&d->turn);
    while (sched_lane_run(t->lane)) {
        turn_give(&d->turn);
        poke(d);
        turn_take(&d->turn);
    }
    list_push_back(&d->ended, &t->node);
    turn_give(&d->turn);
    poke(d);
}

/* The turn is the caller's. */
static void start_lanes(struct sched_driver *d)
{
    struct sched_lane *l;
    while (d->n_lanes < DRIVER_LANES_MAX && (l = sched_lane_next(d->s))) {
        struct lane_thread *t = xnew(struct lane_thread);
        uv_thread_options_t opts = { .flags = UV_THREAD_HAS_STACK_SIZE,
                                     .stack_size = DRIVER_STACK_BYTES };
        t->d = d;
        t->lane = l;
        if (uv_thread_create_ex(&t->thread, &opts, run_lane, t) == 0) {
            d->n_lanes++;
            continue;
        }
        free(t);
        log_warn("no thread for a profile with plugins, it runs on the scheduler's", "");
        while (sched_lane_run(l))
            ;
        sched_resume(d->s);
    }
}

/* The turn is the caller's. */
static void join_lanes(struct sched_driver *d)
{
    while (!list_is_empty(&d->ended)) {
        struct lane_thread *t = list_entry(list_pop_front(&d->ended), struct lane_thread, node);
        assert(d->n_lanes > 0 && t->d == d);
        (void)uv_thread_join(&t->thread);
        free(t);
        d->n_lanes--;
    }
}

/* Interrupts guest calls until every lane has ended. */
static void end_lanes(struct sched_driver *d)
{
    enum { LOOK_MS = 10 };
    for (;;) {
        turn_take(&d->turn);
        sched_resume(d->s);
        join_lanes(d);
        unsigned left = d->n_lanes;
        assert(left <= DRIVER_LANES_MAX);
        turn_give(&d->turn);
        if (left == 0)
            return;
        wplugin_host_interrupt(d->plugin_host);
        uv_mutex_lock(&d->lock);
        if (!d->is_poked) {
            d->thread_waits = true;
            (void)uv_cond_timedwait(&d->wake, &d->lock, (uint64_t)LOOK_MS * 1000000);
        }
        d->is_poked = d->thread_waits = false;
        uv_mutex_unlock(&d->lock);
    }
}

static void leave_turn(void *arg)
{
    struct sched_driver *d = arg;
    turn_lend(&d->turn);
}

static bool enter_turn(void *arg)
{
    struct sched_driver *d = arg;
    return turn_reclaim(&d->turn);
}

static uint64_t lane_now_ms(void *arg)
{
    return clock_mono_ms();
}

static const struct sched_lanes lanes = { .leave = leave_turn,
                                          .enter = enter_turn,
                                          .now_ms = lane_now_ms };

/* ---- the thread ---- */

/*
 * Called with the lock held. While lanes run, waits a moment without a signal so that messages and
 * jobs of lanes accumulate: a round takes the turn, and the lane waits for it each time. A lane
 * finishes several jobs for each pod, and the API sends several messages for each.
 */
static void let_gather(struct driver_thread_reader *r, uint64_t due_ms)
{
    struct sched_driver *d = r->d;
    uint64_t until_ns = r->rested_ns + (uint64_t)DRIVER_GATHER_MS * 1000000;
    uint64_t now_ns;
    if (d->n_lanes == 0)
        return;
    while ((now_ns = clock_mono_ns()) < until_ns && clock_mono_ms() < due_ms)
        (void)uv_cond_timedwait(&d->wake, &d->lock, until_ns - now_ns);
}

/* Takes the waiting messages; blocks until there is one, or until `due_ms`. */
static void take_inbox(struct driver_thread_reader *r, struct list *to, uint64_t due_ms)
{
    struct sched_driver *d = r->d;
    uv_mutex_lock(&d->lock);
    assert(!d->thread_waits);
    let_gather(r, due_ms);
    while (list_is_empty(&d->inbox.waiting) && !d->is_poked) {
        uint64_t now = clock_mono_ms();
        if (now >= due_ms)
            break;
        d->thread_waits = true;
        if (due_ms == UINT64_MAX)
            uv_cond_wait(&d->wake, &d->lock);
        else
            (void)uv_cond_timedwait(&d->wake, &d->lock, (due_ms - now) * 1000000);
        d->thread_waits = false;
    }
    driver_inbox_take(&d->inbox, to);
    d->is_poked = false;
    if (!d->outbox.drained &&
        list_is_empty(&d->inbox.held)) { /* something was dropped: now there is room to list it */
        d->outbox.drained = true;
        driver_unlock_and_post(d);
    } else {
        uv_mutex_unlock(&d->lock);
    }
}

static void publish_state(struct sched_driver *d)
{
    struct sched_stats stats;
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    sched_stats(d->s, &stats);
    uv_mutex_lock(&d->lock);
    d->stats = stats;
    bool wants = d->wants_metrics;
    d->wants_metrics = false;
    uv_mutex_unlock(&d->lock);
    if (!wants)
        return;
    sched_metrics(d->s, &text);
    uv_mutex_lock(&d->lock);
    buf_fini(&d->metrics);
    d->metrics = text;
    uv_mutex_unlock(&d->lock);
}

/*
 * Handles messages, then runs some cycles. Returns the time of the next round; false in *goes_on:
 * the end.
 */
static uint64_t run_round(struct driver_thread_reader *r, struct list *messages, bool *goes_on)
{
    struct sched_driver *d = r->d;
    turn_take(&d->turn);
    sched_resume(d->s);
    join_lanes(d);
    r->now_ms = clock_mono_ms();
    for (struct driver_message *m = next_message(r, messages); m; m = next_message(r, messages)) {
        if (!handle(r, m))
            *goes_on = false;
        free(m);
    }
    r->now_ms = clock_mono_ms();
    uint64_t due_ms = sched_tick(d->s, r->now_ms);
    unsigned steps = 0;
    uint64_t until_ms = r->now_ms + DRIVER_ROUND_MS;
    bool is_more;
    do {
        is_more = sched_step(d->s, clock_mono_ms());
        steps += is_more;
    } while (is_more && steps < DRIVER_STEPS && clock_mono_ms() < until_ms &&
             !(d->n_lanes > 0 && turn_is_wanted(&d->turn)));
    if (is_more)
        due_ms = 0;
    else if (steps > 0)
        due_ms = sched_tick(d->s, clock_mono_ms());
    start_lanes(d);
    publish_state(d);
    turn_give(&d->turn);
    r->rested_ns = clock_mono_ns();
    return due_ms;
}

/* Delivers answers to bindings under way, for a while. */
static void wind_down(struct driver_thread_reader *r)
{
    uint64_t until = clock_mono_ms() + DRIVER_STOP_MS;
    for (;;) {
        struct sched_stats stats;
        struct list messages;
        bool goes_on = true;
        turn_take(&r->d->turn); /* lanes still run */
        sched_stats(r->d->s, &stats);
        turn_give(&r->d->turn);
        if (stats.binding == 0 || clock_mono_ms() >= until)
            return;
        take_inbox(r, &messages, until);
        (void)run_round(r, &messages, &goes_on);
    }
}

static int make_scheduler(struct sched_driver *d, struct err *err)
{
    const struct sched_config *c = d->config;
    int r = sched_extenders_new(c->extenders, c->n_extenders, &d->extenders, err);
    if (r < 0)
        return r;
    struct sched_opts opts = {
        .config = c,
        .api = &d->api,
        .foreign = d->foreign,
        .extenders = &sched_extenders_ops,
        .extenders_arg = d->extenders,
        .seed = d->opts.seed,
        .keeps_json = c->n_extenders > 0,
        .finds_layers = d->opts.registries != NULL,
        .on_bound = d->opts.on_bound ? on_bound : NULL,
        .on_bound_arg = d,
        .announces_plans = d->opts.on_bound != NULL,
        .lanes = &lanes,
        .lanes_arg = d,
    };
    d->api.call = on_api_call;
    return sched_new(&opts, &d->s, err);
}

static void run_thread(void *arg)
{
    struct sched_driver *d = arg;
    struct driver_thread_reader r = { .d = d, .now_ms = clock_mono_ms() };
    struct err err = { 0 };
    turn_take(&d->turn);
    int code = make_scheduler(d, &err);
    turn_give(&d->turn);
    uv_mutex_lock(&d->lock);
    d->outbox.started = true;
    d->outbox.start_r = code;
    d->outbox.start_err = err;
    driver_unlock_and_post(d);
    bool goes_on = code >= 0;
    uint64_t due_ms = UINT64_MAX;
    while (goes_on) {
        struct list messages;
        take_inbox(&r, &messages, due_ms);
        due_ms = run_round(&r, &messages, &goes_on);
    }
    if (code >= 0)
        wind_down(&r);
    if (code >= 0)
        end_lanes(d);
    turn_take(&d->turn);
    assert(d->n_lanes == 0 && list_is_empty(&d->ended));
    if (d->foreign) /* else each Unreserve could take the whole time limit of a call */
        wplugin_host_interrupt(d->plugin_host);
    sched_free(take_ptr(&d->s));
    sched_extenders_free(take_ptr(&d->extenders));
    turn_give(&d->turn);
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        list_forget(&r, (enum sched_kind)k);
    arena_fini(&r.arena);
    uv_mutex_lock(&d->lock);
    d->outbox.has_ended = true;
    driver_unlock_and_post(d);
}

int driver_thread_start(struct sched_driver *d, struct err *err)
{
    uv_thread_options_t opts = { .flags = UV_THREAD_HAS_STACK_SIZE,
                                 .stack_size = DRIVER_STACK_BYTES };
    assert(d->sm.at == DRIVER_STARTING && !d->has_thread);
    int r = uv_thread_create_ex(&d->thread, &opts, run_thread, d);
    if (r < 0)
        return err_sys(err, r, "start the scheduler's thread");
    d->has_thread = true;
    loop_hold(d->loop); /* until the thread has ended */
    return 0;
}

void driver_thread_join(struct sched_driver *d)
{
    assert(d->has_thread);
    (void)uv_thread_join(&d->thread);
    d->has_thread = false;
    loop_release(d->loop);
}
