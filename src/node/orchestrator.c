/* SPDX-License-Identifier: Apache-2.0 */
/* Sends plans for bound pods to their nodes; see orchestrator.h. */
#include "node/orchestrator.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "client/reflector.h"
#include "image/bdm_send.h"
#include "image/plan_why.h"
#include "node/image_states.h"
#include "node/plan_book.h"
#include "node/plan_events.h"
#include "node/prefetcher.h"
#include "sched/object/node_image_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { COMPLAIN_MS = 10000, JOINED_MAX = 64, TEXT_MAX_BYTES = 64 << 10, URL_SHOWN_BYTES = 200 };

enum plan_at {
    PLAN_ASK,   /* waits for the layers of the image */
    PLAN_WAIT,  /* waits for its turn, and for the nodes' states */
    PLAN_SEND,  /* sent to the node, which is working on it */
    PLAN_PAUSE, /* waits before the next attempt */
    PLAN_DONE,  /* the node has the image; remembered for a while */
};

/* A transfer of a plan under way. */
struct planned_task {
    struct oci_digest diff;
    int64_t size;
    char *from; /* source node; NULL: the registry */
    uint64_t begin_ms, end_ms;
};

/* A plan to deploy an image to a node. */
struct orchestrator_image_plan {
    struct list node; /* of o->plans[at] */
    struct orchestrator *o;
    enum plan_at at;
    char *key;                                /* node and image */
    char *to, *image, *namespace, *pod, *uid; /* to: node; pod: the first, "" with is_prefetch */
    char *zone;
    size_t n_zone;
    bool is_prefetch;
    bool may_be_private; /* every pod so far has pull secrets */
    unsigned n_pods;     /* pods that wait for it and were not counted yet */
    VEC(char *) joined;  /* further pods, "namespace/name", at most JOINED_MAX; until it is sent */
    char *text;          /* JSON of what was sent; NULL: nothing yet */
    struct arena arena;  /* of `made_of` */
    struct oci_lookup_image made_of;
    struct image_bdm_send *send;
    char *url; /* of the node, at the time of sending */
    struct planned_task *tasks;
    size_t n_tasks;
    unsigned tries;
    uint64_t since_ms; /* when it entered the state `at` */
    struct timer timer;
};

struct orchestrator {
    struct orchestrator_opts opts;
    char *key, *ca;
    struct tls_ctx *tls; /* NULL: nothing was sent to a node with https yet */
    struct reflector *reflector;
    struct image_states *states;
    bool is_synced;
    size_t n_nodes;                   /* with a state, as opts.on_nodes knows it */
    struct list plans[PLAN_DONE + 1]; /* by enum plan_at */
    size_t n[PLAN_DONE + 1];
    size_t n_prefetches; /* of those that were sent */
    struct map by_key;
    struct prefetcher *prefetcher; /* NULL: none */
    struct timer prefetch;         /* armed while pods often need some layer */
    char *last;                    /* the node that last got a prefetch; NULL: none */
    struct plan_book *book;
    struct plan_events *events;
    struct log_rate unreadable, full;
    struct orchestrator_stats stats;
};

/* ---- plans ---- */

static void set_at(struct orchestrator_image_plan *p, enum plan_at at)
{
    struct orchestrator *o = p->o;
    list_remove(&p->node);
    o->n[p->at]--;
    o->n[at]++;
    p->at = at;
    p->since_ms = loop_now_ms(o->opts.loop);
    list_push_back(&o->plans[at], &p->node);
}

static void drop_tasks(struct orchestrator_image_plan *p)
{
    for (size_t i = 0; i < p->n_tasks; i++)
        free(p->tasks[i].from);
    free(take_ptr(&p->tasks));
    p->n_tasks = 0;
}

static void plan_free(struct orchestrator_image_plan *p)
{
    struct orchestrator *o = p->o;
    list_remove(&p->node);
    o->n[p->at]--;
    o->n_prefetches -= p->is_prefetch;
    map_del(&o->by_key, str_of(p->key));
    timer_stop(o->opts.loop, &p->timer);
    image_bdm_send_cancel(p->send);
    drop_tasks(p);
    vec_each (pod, &p->joined)
        free(*pod);
    vec_fini(&p->joined);
    free(p->text);
    arena_fini(&p->arena);
    free(p->key);
    free(p->to);
    free(p->image);
    free(p->namespace);
    free(p->pod);
    free(p->uid);
    free(p->zone);
    free(p->url);
    free(p);
}

/* ---- Events ---- */

static void write_event(struct orchestrator_image_plan *p, const char *type, const char *reason,
                        struct str note)
{
    const struct plan_event_about about = { .namespace = str_of(p->namespace),
                                            .pod = str_of(p->pod),
                                            .uid = str_of(p->uid) };
    plan_events_write(p->o->events, &about, type, reason, note);
}

static void write_failure(struct orchestrator_image_plan *p, const struct err *err)
{
    char note[PLAN_EVENTS_NOTE_BYTES];
    (void)snprintf(note, sizeof note, "Image %s was not brought to %s by a plan: %s", p->image,
                   p->to, err_text(err));
    write_event(p, "Warning", "ImagePlanFailed", str_of(note));
}

/* The node pulls the image as without a plan. */
static void plan_failed(struct orchestrator_image_plan *p, const struct err *err)
{
    char why[LOG_QUOTE_MAX], image[LOG_QUOTE_MAX];
    p->o->stats.failed++;
    log_warn("an image was not brought to its node by a plan",
             "pod=%s/%s node=%s image=\"%s\" reason=\"%s\"", p->namespace, p->pod, p->to,
             log_quote(image, str_of(p->image)), log_quote(why, str_of(err_text(err))));
    write_failure(p, err);
    plan_free(p);
}

/* ---- one plan ---- */

static int find_node(const struct image_cluster_file *f, struct str name)
{
    size_t from = 0, to = f->o.n_nodes; /* sorted by name */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int c = str_cmp(f->node_names[middle], name);
        if (c == 0)
            return (int)middle;
        if (c < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return -1;
}

static int find_layer(const struct image_cluster_file *f, const struct oci_digest *diff)
{
    for (size_t i = 0; i < f->o.n_layers; i++)
        if (oci_digest_equal(&f->blobs[i].diff, diff))
            return (int)i;
    return -1;
}

struct flights {
    struct image_orchestrate_flight *p;
    size_t n;
    uint64_t now_ms;
};

static void add_flights_of(const struct orchestrator_image_plan *p,
                           const struct image_cluster_file *f, struct image_orchestrate_node *nodes,
                           struct flights *to)
{
    int at = find_node(f, str_of(p->to));
    bool is_source = at >= 0 && f->node_urls[at].n > 0; /* otherwise it was refused meanwhile */
    for (size_t i = 0; i < p->n_tasks && is_source; i++) {
        const struct planned_task *t = &p->tasks[i];
        int layer = find_layer(f, &t->diff);
        int from = t->from ? find_node(f, str_of(t->from)) : PLACE_BREAK_REGISTRY;
        uint64_t left = t->end_ms > to->now_ms ? t->end_ms - to->now_ms : 0;
        if (t->from && from < 0)
            continue;
        if (t->from)
            nodes[from].queued_bytes +=
                (int64_t)((double)t->size * (double)left /
                          (double)MAX(t->end_ms - t->begin_ms, (uint64_t)1));
        if (layer >= 0)
            to->p[to->n++] = (struct image_orchestrate_flight){
                .layer = (uint32_t)layer, .to = (uint32_t)at, .from = from, .left_ms = (int64_t)left
            };
    }
}

static bool has_flight(const struct flights *f, const struct image_orchestrate_flight *like)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->p[i].layer == like->layer && f->p[i].to == like->to)
            return true;
    return false;
}

/*
 * Add what other plans have under way: transfers of this image's layers, and bytes that nodes have
 * to send. A layer that has just arrived at a node counts as a transfer that takes no more time,
 * since the node may not have reported it yet. Transfers of plans of other schedulers come from the
 * reports (image_states_describe()).
 */
static void add_flights(const struct orchestrator *o, struct arena *a, struct image_cluster_file *f)
{
    static const enum plan_at states[] = { PLAN_SEND, PLAN_DONE };
    struct image_orchestrate_node *nodes = (struct image_orchestrate_node *)f->o.nodes;
    struct flights to = { .now_ms = loop_now_ms(o->opts.loop) };
    size_t max = 0;
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        list_each (node, &o->plans[states[i]])
            max += list_entry(node, struct orchestrator_image_plan, node)->n_tasks;
    max += f->o.n_flights;
    to.p = arena_new_n(a, struct image_orchestrate_flight, max + 1);
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        list_each (node, &o->plans[states[i]])
            add_flights_of(list_entry(node, struct orchestrator_image_plan, node), f, nodes, &to);
    for (size_t i = 0; i < f->o.n_flights; i++)
        if (!has_flight(&to, &f->o.flights[i]))
            to.p[to.n++] = f->o.flights[i];
    f->o.flights = to.p;
    f->o.n_flights = to.n;
}

static void log_tasks(const struct orchestrator_image_plan *p, const struct image_tasks *tasks)
{
    size_t n[] = { [IMAGE_TASK_REGISTRY] = 0, [IMAGE_TASK_JOIN] = 0 };
    for (size_t i = 0; i < tasks->all.n; i++)
        n[tasks->all.p[i].kind]++;
    log_debug("a plan is sent",
              "node=%s image=%s registry=%zu peer=%zu after=%zu join=%zu seconds=%.3f", p->to,
              p->image, n[IMAGE_TASK_REGISTRY], n[IMAGE_TASK_PEER], n[IMAGE_TASK_AFTER],
              n[IMAGE_TASK_JOIN], tasks->seconds);
}

static void keep_tasks(struct orchestrator_image_plan *p, const struct image_cluster_file *f,
                       const struct image_tasks *tasks)
{
    uint64_t now = loop_now_ms(p->o->opts.loop);
    drop_tasks(p);
    p->tasks = xnew_n(struct planned_task, tasks->all.n);
    for (size_t i = 0; i < tasks->all.n; i++) {
        const struct image_task *t = &tasks->all.p[i];
        if (t->kind == IMAGE_TASK_JOIN) /* counted for the plan whose transfer it joins */
            continue;
        p->tasks[p->n_tasks++] = (struct planned_task){
            .diff = f->blobs[t->layer].diff,
            .size = t->to - t->from,
            .from = t->source == PLACE_BREAK_REGISTRY ? NULL : str_dup(f->node_names[t->source]),
            .begin_ms = now,
            .end_ms = now + (uint64_t)MAX(t->expect_ms, (int64_t)0),
        };
    }
}

/* ---- for people ---- */

static void note_pod(struct orchestrator_image_plan *p, struct str namespace, struct str pod)
{
    if (p->text)
        plan_book_add(p->o->book, namespace, pod, str_of(p->text));
    else if (p->joined.n < JOINED_MAX)
        vec_push(&p->joined, xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(pod)));
}

/* In the book, and as an Event of the first pod. */
static void tell_plan(struct orchestrator_image_plan *p, const struct image_cluster_file *f,
                      const struct image_tasks *tasks)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf note = BUF_INIT(TEXT_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf sources = BUF_INIT(TEXT_MAX_BYTES);
    struct json *v = image_plan_json(f, tasks, &a);
    size_t n;
    json_set_str(&a, v, "image", str_of(p->image));
    (void)json_write(&text, v);
    arena_fini(&a);
    if (p->is_prefetch || !buf_ok(&text))
        return;
    free(p->text);
    p->text = buf_take(&text, &n);
    note_pod(p, str_of(p->namespace), str_of(p->pod));
    vec_each (pod, &p->joined) {
        struct str namespace, name;
        (void)str_cut(str_of(*pod), '/', &namespace, &name);
        note_pod(p, namespace, name);
        free(*pod);
    }
    p->joined.n = 0;
    if (tasks->all.n == 0 || p->tries > 0)
        return;
    image_plan_summary(f, tasks, &sources);
    (void)buf_printf(&note, "Image %s for %s: %s; %.1f s expected", p->image, p->to,
                     buf_cstr(&sources), tasks->seconds);
    write_event(p, "Normal", "ImagePlanned", buf_str(&note));
}

void orchestrator_explain(const struct orchestrator *o, struct str namespace, struct str pod,
                          struct buf *to)
{
    plan_book_write(o->book, namespace, pod, to);
}

static void run_waiting(struct orchestrator *o);

static void on_pause_over(struct timer *t)
{
    struct orchestrator_image_plan *p = container_of(t, struct orchestrator_image_plan, timer);
    struct orchestrator *o = p->o;
    set_at(p, PLAN_WAIT);
    run_waiting(o);
}

/* The layers that the node holds do not count either: a plan would send other nodes there. */
static void refuse(struct orchestrator *o, struct str node, struct str url)
{
    char quoted[LOG_QUOTE_MAX];
    if (image_states_refuse(o->states, node))
        log_warn("a node is where no plans are sent (--node-network), it gets none",
                 "node=" STR_FMT " url=\"%s\"", STR_ARG(node),
                 log_quote(quoted, str_slice(url, 0, URL_SHOWN_BYTES)));
}

/* The node pulls the image as without a plan; an Event of the pod says why. */
static void plan_skipped(struct orchestrator_image_plan *p)
{
    struct err why = { 0 };
    p->o->stats.skipped++;
    if (image_states_is_refused(p->o->states, str_of(p->to))) {
        (void)err_set(&why, -EACCES,
                      "the node is where the scheduler sends no plans (--node-network)");
        write_failure(p, &why);
    }
    plan_free(p);
}

/* The address of a host name is only known when connecting. */
static void refuse_sent(struct orchestrator_image_plan *p)
{
    struct str url;
    (void)image_states_reported_ms(p->o->states, str_of(p->to), &url);
    if (str_is(url, p->url))
        refuse(p->o, str_of(p->to), url);
}

static bool is_worth_another_try(int r)
{
    return r != E_DENIED && r != E_INVALID && r != E_LIMIT && r != -EPROTO;
}

/* A node that is busy, or accepts no prefetches, says so. */
static void on_prefetch_sent(void *arg, int r, const struct json *outcome, const struct err *err)
{
    struct orchestrator_image_plan *p = arg;
    struct orchestrator *o = p->o;
    char why[LOG_QUOTE_MAX];
    p->send = NULL;
    if (r == -EACCES)
        refuse_sent(p);
    o->stats.prefetched += r > 0;
    o->stats.unwanted += r <= 0;
    log_debug("layers sent ahead", "node=%s image=%s r=%d reason=\"%s\"", p->to, p->image, r,
              log_quote(why, outcome ? json_get_str(outcome, "error") : str_of(err_text(err))));
    plan_free(p);
    run_waiting(o); /* plans of pods may have waited for its place */
}

static void on_sent(void *arg, int r, const struct json *outcome, const struct err *err)
{
    struct orchestrator_image_plan *p = arg;
    struct orchestrator *o = p->o;
    struct err why = { 0 };
    p->send = NULL;
    if (r <= 0)
        drop_tasks(p);
    if (r > 0 && p->n_tasks == 0) { /* the node had every layer; it has the name of the image now */
        o->stats.present++;
        set_at(p, PLAN_DONE);
    } else if (r > 0) {
        o->stats.done++;
        for (size_t i = 0; i < p->n_tasks; i++)
            p->tasks[i].end_ms = MIN(p->tasks[i].end_ms, loop_now_ms(o->opts.loop));
        log_info("an image was brought to its node by a plan",
                 "node=%s image=%s peer_bytes=%" PRId64 " registry_bytes=%" PRId64, p->to, p->image,
                 json_int_or(json_getc(outcome, "peerBytes"), 0),
                 json_int_or(json_getc(outcome, "registryBytes"), 0));
        set_at(p, PLAN_DONE);
    } else if (r == -EACCES) {
        refuse_sent(p);
        plan_skipped(p);
    } else if (r < 0 && is_worth_another_try(r) && ++p->tries < ORCHESTRATOR_TRIES) {
        set_at(p, PLAN_PAUSE);
        timer_start(o->opts.loop, &p->timer, ORCHESTRATOR_PAUSE_MS << (p->tries - 1),
                    on_pause_over);
    } else {
        if (r == 0)
            (void)err_set(&why, -EIO, STR_FMT, STR_ARG(json_get_str(outcome, "error")));
        plan_failed(p, r == 0 ? &why : err);
    }
    run_waiting(o);
}

static int send_tasks(struct orchestrator_image_plan *p, const struct image_cluster_file *f,
                      const struct image_tasks *tasks, struct err *err)
{
    struct orchestrator *o = p->o;
    struct image_bdm_send_opts so = { .loop = o->opts.loop,
                                      .plan = { .file = f,
                                                .tasks = tasks,
                                                .key = str_of(o->key),
                                                .deadline_ms = o->opts.deadline_ms,
                                                .is_prefetch = p->is_prefetch,
                                                .is_push = o->opts.is_push,
                                                .wall_s = clock_wall_ms() / 1000 },
                                      .may_connect = node_networks_may_connect,
                                      .may_connect_arg = &o->opts.networks,
                                      .poll_ms = ORCHESTRATOR_POLL_MS,
                                      .on_end = p->is_prefetch ? on_prefetch_sent : on_sent,
                                      .arg = p };
    int r = 0;
    if (!o->tls && image_bdm_send_wants_tls(&so.plan))
        r = tls_ctx_new_client(str_of(o->ca), STR(""), STR(""), false, &o->tls, err);
    if (r < 0)
        return r;
    so.tls = o->tls;
    free(p->url);
    p->url = str_dup(f->node_urls[f->o.node]);
    return image_bdm_send_start(&so, &p->send, err);
}

/* Whether the node has reported recently, and with a url to which a plan can be sent. */
static bool can_be_sent(const struct orchestrator *o, struct str node, int64_t wall_ms)
{
    struct str url;
    int64_t reported_ms = image_states_reported_ms(o->states, node, &url);
    return reported_ms && url.n && image_states_is_fresh(reported_ms, wall_ms);
}

/* May free p. */
static void plan_send(struct orchestrator_image_plan *p)
{
    struct orchestrator *o = p->o;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct image_cluster_file f;
    struct image_tasks tasks = { 0 };
    int64_t wall_ms = clock_wall_ms();
    if (!can_be_sent(o, str_of(p->to), wall_ms)) {
        plan_skipped(p);
        return;
    }
    int r = image_states_describe(o->states, str_of(p->image), &p->made_of, wall_ms, &a, &f, &err);
    if (r >= 0) {
        add_flights(o, &a, &f);
        image_cluster_file_deploy_on(&f, (uint32_t)find_node(&f, str_of(p->to)));
        r = image_orchestrate(&f.o, &tasks)
                ? 0
                : err_set(&err, -ENOENT, "a layer can come from nowhere");
    }
    if (r < 0) {
        plan_failed(p, &err);
    } else if ((r = send_tasks(p, &f, &tasks, &err)) < 0) {
        plan_failed(p, &err);
    } else {
        log_tasks(p, &tasks);
        tell_plan(p, &f, &tasks);
        keep_tasks(p, &f, &tasks);
        set_at(p, PLAN_SEND);
    }
    image_tasks_fini(&tasks);
    arena_fini(&a);
}

static bool has_room(const struct orchestrator *o, const char *to)
{
    size_t n = 0;
    list_each (node, &o->plans[PLAN_SEND])
        n += strcmp(list_entry(node, struct orchestrator_image_plan, node)->to, to) == 0;
    return n < ORCHESTRATOR_NODE_MAX;
}

/* The first waiting plan that may be sent; NULL: none. */
static struct orchestrator_image_plan *next_waiting(const struct orchestrator *o)
{
    if (!o->is_synced || o->n[PLAN_SEND] >= ORCHESTRATOR_RUNNING_MAX)
        return NULL;
    list_each (node, &o->plans[PLAN_WAIT]) {
        struct orchestrator_image_plan *p = list_entry(node, struct orchestrator_image_plan, node);
        if (has_room(o, p->to))
            return p;
    }
    return NULL;
}

static void run_waiting(struct orchestrator *o)
{
    struct orchestrator_image_plan *p;
    while ((p = next_waiting(o)))
        plan_send(p);
}

/* ---- prefetches ---- */

static void on_prefetch(struct timer *t);

static void arm_prefetch(struct orchestrator *o)
{
    if (o->prefetcher && !timer_is_armed(&o->prefetch))
        timer_start(o->opts.loop, &o->prefetch, o->opts.prefetch_ms, on_prefetch);
}

static void count_pods(struct orchestrator_image_plan *p)
{
    struct orchestrator *o = p->o;
    for (; o->prefetcher && p->n_pods; p->n_pods--)
        prefetcher_note(o->prefetcher, str_n(p->zone, p->n_zone), str_of(p->to), str_of(p->image),
                        &p->made_of, loop_now_ms(o->opts.loop));
    arm_prefetch(o);
}

static struct orchestrator_image_plan *plan_new(struct orchestrator *o, char *key, struct str node,
                                                struct str image)
{
    struct orchestrator_image_plan *p = xnew(struct orchestrator_image_plan);
    p->o = o;
    p->key = key;
    p->to = str_dup(node);
    p->image = str_dup(image);
    (void)map_put(&o->by_key, str_of(p->key), p);
    list_push_back(&o->plans[PLAN_ASK], &p->node);
    o->n[PLAN_ASK]++;
    return p;
}

/* true: a prefetch was sent. */
static bool prefetch_to(struct orchestrator *o, struct str node, int64_t wall_ms)
{
    struct arena a = { 0 };
    struct str reference;
    struct oci_lookup_image image;
    struct image_cluster_file f;
    struct image_tasks tasks = { 0 };
    struct err err = { 0 };
    struct orchestrator_image_plan *p = NULL;
    scoped(free_scoped) char *key = xasprintf(STR_FMT "\n", STR_ARG(node)); /* no image */
    bool ok = !map_get(&o->by_key, str_of(key)) &&
              prefetcher_choose(o->prefetcher, o->states, node, &a, &reference, &image) &&
              image_states_describe(o->states, reference, &image, wall_ms, &a, &f, &err) >= 0;
    if (ok) {
        add_flights(o, &a, &f);
        image_cluster_file_deploy_on(&f, (uint32_t)find_node(&f, node));
        ok = image_orchestrate(&f.o, &tasks) && tasks.all.n > 0;
    }
    if (ok) {
        p = plan_new(o, take_ptr(&key), node, reference);
        p->is_prefetch = true;
        o->n_prefetches++;
        p->namespace = xstrdup("");
        p->pod = xstrdup("");
        p->uid = xstrdup("");
        ok = send_tasks(p, &f, &tasks, &err) >= 0;
        if (ok)
            set_at(p, PLAN_SEND);
        else
            plan_free(p);
    }
    image_tasks_fini(&tasks);
    arena_fini(&a);
    return ok;
}

static bool is_told_something(const struct orchestrator *o, struct str node)
{
    static const enum plan_at states[] = { PLAN_ASK, PLAN_WAIT, PLAN_SEND, PLAN_PAUSE };
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        list_each (at, &o->plans[states[i]])
            if (str_is(node, list_entry(at, struct orchestrator_image_plan, node)->to))
                return true;
    return false;
}

struct idle {
    const struct orchestrator *o;
    VEC(char *) names;
};

static void add_idle(void *arg, const struct sched_node_image_state *s)
{
    struct idle *idle = arg;
    if (s->upload_slots >= IMAGE_ORCHESTRATE_SLOTS && !is_told_something(idle->o, s->o.name))
        vec_push(&idle->names, str_dup(s->o.name));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_room_for_prefetch(const struct orchestrator *o)
{
    return list_is_empty(&o->plans[PLAN_WAIT]) && o->n[PLAN_SEND] < ORCHESTRATOR_RUNNING_MAX &&
           o->n_prefetches < ORCHESTRATOR_PREFETCHES_MAX;
}

/* Send to idle nodes, starting after the last one that got a prefetch. */
static void prefetch_round(struct orchestrator *o, int64_t wall_ms)
{
    struct idle idle = { .o = o };
    size_t told = 0, first = 0;
    image_states_each_fresh(o->states, wall_ms, add_idle, &idle);
    if (idle.names.n)
        qsort(idle.names.p, idle.names.n, sizeof *idle.names.p, by_text);
    while (first < idle.names.n && o->last && strcmp(idle.names.p[first], o->last) <= 0)
        first++;
    for (size_t i = 0; i < idle.names.n && told < ORCHESTRATOR_PREFETCH_NODES; i++) {
        char *name = idle.names.p[(first + i) % idle.names.n];
        if (!has_room_for_prefetch(o) || !can_be_sent(o, str_of(name), wall_ms) ||
            !prefetch_to(o, str_of(name), wall_ms))
            continue;
        told++;
        free(o->last);
        o->last = xstrdup(name);
    }
    vec_each (name, &idle.names)
        free(*name);
    vec_fini(&idle.names);
}

static void on_prefetch(struct timer *t)
{
    struct orchestrator *o = container_of(t, struct orchestrator, prefetch);
    int64_t wall_ms = clock_wall_ms();
    if (!o->is_synced) {
        arm_prefetch(o);
        return;
    }
    if (!prefetcher_look(o->prefetcher, o->states, loop_now_ms(o->opts.loop), wall_ms))
        return; /* wait for the next pod */
    prefetch_round(o, wall_ms);
    arm_prefetch(o);
}

/* ---- layers of images ---- */

static void on_image(void *arg, int r, const struct oci_lookup_image *image, const struct err *err)
{
    struct orchestrator_image_plan *p = arg;
    struct orchestrator *o = p->o;
    if (r == -ECANCELED) {
        plan_free(p);
        return;
    }
    if (p->may_be_private && (r == E_DENIED || r == -ENOENT)) {
        log_debug("an image that is not public gets no plan", "node=%s image=%s", p->to, p->image);
        o->stats.skipped++;
        plan_free(p);
        return;
    }
    if (r < 0) {
        plan_failed(p, err);
        return;
    }
    struct oci_lookup_layer *layers = arena_new_n(&p->arena, struct oci_lookup_layer, image->n + 1);
    memcpy(layers, image->layers, image->n * sizeof *layers);
    p->made_of = *image;
    p->made_of.layers = layers;
    p->made_of.manifest_text = str_copy_arena(&p->arena, image->manifest_text);
    p->made_of.config_text = str_copy_arena(&p->arena, image->config_text);
    count_pods(p);
    set_at(p, PLAN_WAIT);
    run_waiting(o);
}

/* ---- nodes' states ---- */

static void tell_nodes(struct orchestrator *o)
{
    size_t n = image_states_count(o->states);
    if (n != o->n_nodes && o->opts.on_nodes)
        o->opts.on_nodes(o->opts.arg, n);
    o->n_nodes = n;
}

static void on_state(void *arg, const struct json *object)
{
    struct orchestrator *o = arg;
    struct err err = { 0 };
    uint64_t skipped;
    char why[LOG_QUOTE_MAX];
    struct str name = json_get_str(json_getc(object, "metadata"), "name"), url;
    int r = image_states_put(o->states, object, &err);
    if (r < 0 && log_rate_ok(&o->unreadable, COMPLAIN_MS, &skipped))
        log_warn("a NodeImageState cannot be read, ignoring",
                 "name=" STR_FMT " reason=\"%s\" skipped=%" PRIu64, STR_ARG(name),
                 log_quote(why, str_of(err_text(&err))), skipped);
    if (r >= 0 && image_states_reported_ms(o->states, name, &url) && url.n &&
        !node_networks_may_have(&o->opts.networks, url))
        refuse(o, name, url);
    tell_nodes(o);
}

static void on_state_deleted(void *arg, struct str namespace, struct str name)
{
    struct orchestrator *o = arg;
    (void)namespace;
    image_states_del(o->states, name);
    tell_nodes(o);
}

static void on_synced(void *arg)
{
    struct orchestrator *o = arg;
    o->is_synced = true;
    run_waiting(o);
}

/* Watch from the first pod on, so that a process without pods has no watch. */
static void start_watching(struct orchestrator *o)
{
    static const struct reflector_ops ops = { .on_object = on_state,
                                              .on_deleted = on_state_deleted,
                                              .on_synced = on_synced };
    const struct reflector_opts ro = { .loop = o->opts.loop,
                                       .transport = o->opts.transport,
                                       .hub = o->opts.hub,
                                       .identity = o->opts.identity,
                                       .key = { .group_version = STR("dormouse.dev/v1alpha1"),
                                                .plural = STR("nodeimagestates"),
                                                .identity = o->opts.identity },
                                       .ops = &ops,
                                       .arg = o };
    struct err err = { 0 };
    if (!o->reflector && reflector_start(&ro, &o->reflector, &err) < 0)
        log_warn("NodeImageStates cannot be watched", "reason=\"%s\"", err_text(&err));
}

void orchestrator_watch(struct orchestrator *o)
{
    start_watching(o);
}

/* ---- pods ---- */

static void drop_old(struct orchestrator *o)
{
    uint64_t now = loop_now_ms(o->opts.loop);
    struct err err = { 0 };
    list_each_safe (node, &o->plans[PLAN_DONE]) {
        struct orchestrator_image_plan *p = list_entry(node, struct orchestrator_image_plan, node);
        if (now - p->since_ms < ORCHESTRATOR_RECENT_MS)
            break;
        plan_free(p);
    }
    (void)err_set(&err, -ETIMEDOUT, "the nodes' NodeImageStates are not known");
    while (!o->is_synced && !list_is_empty(&o->plans[PLAN_WAIT])) {
        struct orchestrator_image_plan *p =
            list_first(&o->plans[PLAN_WAIT], struct orchestrator_image_plan, node);
        if (now - p->since_ms < ORCHESTRATOR_STATES_MS)
            return;
        plan_failed(p, &err);
    }
}

static void add_plan(struct orchestrator *o, const struct sched_bound *b, struct str image)
{
    struct err err = { 0 };
    uint64_t skipped;
    scoped(free_scoped) char *key =
        xasprintf(STR_FMT "\n" STR_FMT, STR_ARG(b->node), STR_ARG(image));
    struct orchestrator_image_plan *p = map_get(&o->by_key, str_of(key));
    if (p) {
        o->stats.joined++;
        p->n_pods++;
        p->may_be_private &= b->secrets.n > 0;
        note_pod(p, b->namespace, b->name);
        if (p->at != PLAN_ASK)
            count_pods(p);
        return;
    }
    if (o->by_key.n == ORCHESTRATOR_PLANS_MAX) {
        o->stats.dropped++;
        if (log_rate_ok(&o->full, COMPLAIN_MS, &skipped))
            log_warn("too many images wait for a plan, pods get none", "limit=%d",
                     ORCHESTRATOR_PLANS_MAX);
        return;
    }
    p = plan_new(o, take_ptr(&key), b->node, image);
    p->zone = str_dup(b->zone);
    p->n_zone = b->zone.n;
    p->may_be_private = b->secrets.n > 0;
    p->n_pods = 1;
    p->namespace = str_dup(b->namespace);
    p->pod = str_dup(b->name);
    p->uid = str_dup(b->uid);
    if (o->opts.ask(o->opts.arg, image, on_image, p, &err) < 0)
        plan_failed(p, &err);
}

void orchestrator_bound(struct orchestrator *o, const struct sched_bound *b)
{
    struct str rest = b->images, image;
    struct oci_platform here = oci_platform_here();
    drop_old(o);
    /* Registries are asked for the images of this machine's platform. */
    if (b->architecture.n && !str_eq(b->architecture, here.architecture)) {
        o->stats.skipped++;
        return;
    }
    start_watching(o);
    if (o->is_synced && !can_be_sent(o, b->node, clock_wall_ms())) {
        o->stats.skipped++;
        return;
    }
    while (rest.n) {
        (void)str_cut(rest, '\n', &image, &rest);
        if (image.n)
            add_plan(o, b, image);
    }
}

/* ---- start and end ---- */

struct orchestrator *orchestrator_new(const struct orchestrator_opts *opts)
{
    struct orchestrator *o = xnew(struct orchestrator);
    o->opts = *opts;
    o->key = str_dup(opts->key);
    o->ca = str_dup(opts->ca_pem);
    if (!o->opts.deadline_ms)
        o->opts.deadline_ms = ORCHESTRATOR_DEADLINE_MS;
    o->states = image_states_new();
    o->book = plan_book_new();
    o->events = plan_events_new(opts->transport, opts->identity);
    o->prefetcher = opts->prefetch_ms ? prefetcher_new() : NULL;
    o->by_key.borrows_keys = true;
    for (size_t i = 0; i < ARRAY_LEN(o->plans); i++)
        list_init(&o->plans[i]);
    return o;
}

void orchestrator_close(struct orchestrator *o)
{
    if (!o)
        return;
    assert(list_is_empty(&o->plans[PLAN_ASK]));
    plan_events_free(o->events);
    if (o->reflector)
        reflector_close(o->reflector);
    for (size_t i = 0; i < ARRAY_LEN(o->plans); i++)
        while (!list_is_empty(&o->plans[i]))
            plan_free(list_first(&o->plans[i], struct orchestrator_image_plan, node));
    map_fini(&o->by_key);
    image_states_free(o->states);
    plan_book_free(o->book);
    timer_stop(o->opts.loop, &o->prefetch);
    prefetcher_free(o->prefetcher);
    free(o->last);
    tls_ctx_free(o->tls);
    free(o->key);
    free(o->ca);
    free(o);
}

void orchestrator_stats(const struct orchestrator *o, struct orchestrator_stats *ret)
{
    *ret = o->stats;
    ret->waiting = o->n[PLAN_ASK] + o->n[PLAN_WAIT] + o->n[PLAN_PAUSE];
    ret->running = o->n[PLAN_SEND];
}

void orchestrator_metrics(const struct orchestrator *o, struct buf *to)
{
    struct orchestrator_stats n;
    orchestrator_stats(o, &n);
    const struct {
        const char *name;
        uint64_t n;
    } outcomes[] = { { "done", n.done },       { "failed", n.failed }, { "present", n.present },
                     { "skipped", n.skipped }, { "joined", n.joined }, { "dropped", n.dropped } };
    (void)buf_add_cstr(to, "# HELP dormouse_image_plans_total Images of pods that were bound, by "
                           "what became of their plans.\n"
                           "# TYPE dormouse_image_plans_total counter\n");
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        (void)buf_printf(to, "dormouse_image_plans_total{outcome=\"%s\"} %" PRIu64 "\n",
                         outcomes[i].name, outcomes[i].n);
    if (o->prefetcher)
        (void)buf_printf(to,
                         "# HELP dormouse_image_prefetch_plans_total Layers sent ahead to idle "
                         "nodes: taken to the end, or not.\n"
                         "# TYPE dormouse_image_prefetch_plans_total counter\n"
                         "dormouse_image_prefetch_plans_total{outcome=\"done\"} %" PRIu64 "\n"
                         "dormouse_image_prefetch_plans_total{outcome=\"refused\"} %" PRIu64 "\n",
                         n.prefetched, n.unwanted);
    (void)buf_printf(to,
                     "# HELP dormouse_image_plans_running Plans that nodes carry out.\n"
                     "# TYPE dormouse_image_plans_running gauge\n"
                     "dormouse_image_plans_running %zu\n"
                     "# HELP dormouse_image_plans_waiting Plans that wait.\n"
                     "# TYPE dormouse_image_plans_waiting gauge\n"
                     "dormouse_image_plans_waiting %zu\n",
                     n.running, n.waiting);
}
