/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared watches; see watch_hub.h and docs/internals/client.md.
 *
 * An upstream keeps a ring of events, numbered by sequence. A live subscription has no place in it:
 * an event finds its live subscriptions through the list of its namespace. A subscription that
 * joins late, or is paused, has a cursor (the next sequence number it wants) and is pumped along
 * the ring until it has caught up. The ring's low mark (floor_rv) is the version after which it is
 * complete. While all subscriptions are live and need no history, the ring stays empty and an event
 * is passed on without a copy.
 *
 *     upstream:      CONNECTING -> OPEN -> (ended) WAITING -> CONNECTING ...
 *                    any -> DEAD: refused, expired, or no subscription left
 *
 *     subscription:  OPENING -> BEHIND <-> LIVE
 *                    any -> ENDED: cancelled, expired, or the upstream is DEAD
 *
 * Callbacks may cancel any subscription, also the one that is called. Memory of an ended
 * subscription is freed from the loop (on_pump), when no callback runs.
 */
#include "client/watch_hub.h"

#include "base/backoff.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/slab.h"
#include "base/sm.h"
#include "base/sys.h"
#include "client/kube_identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    KEY_MAX_BYTES = 2048,
    PUMP_PER_TURN = 64,
    REFUSAL_MAX_BYTES = 64 << 10,
    STEADY_MS = 10000 /* a stream that lasted this long has ended normally: no back-off */
};

/* A watch event of type ERROR; all three are string literals. */
#define ERROR_STATUS(message, reason, code)                                                        \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"   \
    "\"status\":\"Failure\",\"message\":\"" message "\",\"reason\":\"" reason "\",\"code\":" code  \
    "}}"

/* An event in the ring. One block holds all its strings, the line first. */
struct past_event {
    struct watch_event ev;
    char *block;
};

/* Subscriptions of one namespace; "" is for those to all namespaces. */
struct watch_hub_topic {
    struct list subs;
    size_t n;
};

enum upstream_state { UP_CONNECTING, UP_OPEN, UP_WAITING, UP_DEAD };

static const struct sm_state upstream_table[] = {
    [UP_CONNECTING] = { "connecting", EDGE(UP_OPEN) | EDGE(UP_WAITING) | EDGE(UP_DEAD) },
    [UP_OPEN] = { "open", EDGE(UP_WAITING) | EDGE(UP_DEAD) },
    [UP_WAITING] = { "waiting", EDGE(UP_CONNECTING) | EDGE(UP_DEAD) },
    [UP_DEAD] = { "dead", 0 },
};

struct watch_hub_upstream {
    struct watch_hub *hub;
    char *key;    /* map key, "gv|plural|ns|labels|fields" */
    char *target; /* path and selectors, without resourceVersion */
    enum upstream_state state;
    struct exchange *call;   /* until its on_end */
    uint64_t last_rv;        /* newest version seen, from which a reconnect resumes */
    uint64_t floor_rv;       /* the ring holds every event after this version */
    struct past_event *ring; /* WATCH_HISTORY_MAX_EVENTS slots, allocated on the first event */
    uint64_t first_seq, next_seq;
    size_t bytes;
    struct watch_lines lines;
    struct buf refusal; /* body of a response other than 200 */
    int status;         /* of the response head */
    unsigned failures;
    uint64_t opened_ms;
    bool logged_lost;
    bool broken;     /* we cancelled the call because of malformed data */
    bool delivering; /* events are being delivered; freeing waits */
    struct timer retry;
    struct map topics; /* namespace -> struct watch_hub_topic; key "\1" for all */
    size_t n_subs;
    size_t n_following; /* live subscriptions with needs_no_history */
    bool metadata_only;
    struct arena strings;
    const struct kube_identity *identity; /* NULL: the hub's */
};

/* Counts the namespaced subscriptions to one resource, on narrow and wide watches. */
struct narrow {
    unsigned n_subs;
    bool only; /* the watch over all namespaces was forbidden */
};

enum sub_state { SUB_OPENING, SUB_BEHIND, SUB_LIVE, SUB_ENDED };

static const struct sm_state sub_table[] = {
    [SUB_OPENING] = { "opening", EDGE(SUB_BEHIND) | EDGE(SUB_ENDED) },
    [SUB_BEHIND] = { "behind", EDGE(SUB_LIVE) | EDGE(SUB_ENDED) },
    [SUB_LIVE] = { "live", EDGE(SUB_BEHIND) | EDGE(SUB_ENDED) },
    [SUB_ENDED] = { "ended", 0 },
};

struct watch_sub {
    struct watch_hub_upstream *up;
    struct narrow *narrow; /* the count that includes it; NULL: not namespaced, or not counted */
    struct watch_hub_topic *topic;
    struct list node;      /* in its topic */
    struct list pump_node; /* on the hub's pump: may run; ENDED: on the hub's graves */
    struct str namespace;  /* filter; owned by the topic's map key; "" none */
    uint64_t rv;           /* version the subscriber has seen */
    uint64_t cursor;       /* sequence number wanted next, unless LIVE */
    enum sub_state state;
    bool paused, bookmarks;
    bool expired; /* asked for a version older than the ring is complete from */
    const struct watch_sub_ops *ops;
    void *arg;
};

struct watch_hub {
    struct loop *loop;
    struct transport *transport;
    const struct kube_identity *identity;
    unsigned widen_at, max_upstreams;
    struct map upstreams;
    struct map narrow; /* "gv|plural|labels|fields" -> struct narrow; kept as long as the hub */
    struct list pump, graves;
    struct defer pump_defer;
    struct watch_hub_stats stats;
    size_t calls; /* upstream calls that have not ended */
    bool closing;
    struct defer close_defer;
    void (*closed)(void *arg);
    void *closed_arg;
};

static const char ALL_NAMESPACES[] = "\1";

static void connect_upstream(struct watch_hub_upstream *up);
static void on_pump(struct defer *d);

/* ---------------------------------------------------------------- subscribers */

static void schedule_pump(struct watch_sub *sub)
{
    struct watch_hub *hub = sub->up->hub;
    assert(sub->state != SUB_ENDED);
    if (!list_is_linked(&sub->pump_node))
        list_push_back(&hub->pump, &sub->pump_node);
    defer_start(hub->loop, &hub->pump_defer, on_pump);
}

/* The only place that changes the state of a subscription. */
static void set_state(struct watch_sub *sub, enum sub_state state)
{
    assert(sm_is_edge(sub_table, sub->state, state));
    if (sub->ops->needs_no_history)
        sub->up->n_following += (size_t)(state == SUB_LIVE) - (size_t)(sub->state == SUB_LIVE);
    sub->state = state;
    assert(sub->up->n_following <= sub->up->n_subs);
}

/* The only place that changes the state of an upstream. */
static void move_upstream(struct watch_hub_upstream *up, enum upstream_state to)
{
    assert(sm_is_edge(upstream_table, up->state, to));
    up->state = to;
}

/* No callback runs any more. */
static void end_sub(struct watch_sub *sub)
{
    struct watch_hub_upstream *up = sub->up;
    struct watch_hub *hub = up->hub;
    assert(list_is_linked(&sub->node) && sub->topic->n > 0);
    assert(up->n_subs > 0 && hub->stats.subscribers >= up->n_subs);
    assert(!sub->narrow || sub->narrow->n_subs > 0);
    set_state(sub, SUB_ENDED);
    list_remove(&sub->pump_node);
    list_push_back(&hub->graves, &sub->pump_node);
    list_remove(&sub->node);
    sub->topic->n--;
    if (sub->narrow)
        sub->narrow->n_subs--;
    up->n_subs--;
    hub->stats.subscribers--;
    /*
     * An upstream without subscriptions ends in the pump's turn, when no iteration over it is
     * running.
     */
    defer_start(hub->loop, &hub->pump_defer, on_pump);
}

static void free_ended(struct watch_hub *hub)
{
    struct list *node;
    while ((node = list_pop_front(&hub->graves)))
        slab_free(list_entry(node, struct watch_sub, pump_node));
}

/* The subscriber wants the event; a bookmark only if it asked for bookmarks. */
static bool wants(const struct watch_sub *sub, const struct watch_event *ev)
{
    if (ev->type == WATCH_EVENT_BOOKMARK)
        return sub->bookmarks && ev->rv > sub->rv;
    if (ev->rv && ev->rv <= sub->rv)
        return false;
    return sub->namespace.n == 0 || str_eq(sub->namespace, ev->namespace);
}

static void hand_out(struct watch_sub *sub, const struct watch_event *ev)
{
    assert(sub->state == SUB_LIVE || (sub->state == SUB_BEHIND && !sub->paused));
    if (ev->rv)
        sub->rv = ev->rv;
    sub->ops->on_event(sub->arg, ev);
}

/* Ends a subscription: an ERROR event, then on_end. */
static void tell_error(struct watch_sub *sub, struct str line, int code)
{
    struct watch_tree tree = { 0 };
    struct watch_event ev = {
        .type = WATCH_EVENT_ERROR, .code = code, .line = line, .tree = &tree
    };
    sub->ops->on_event(sub->arg, &ev);
    watch_tree_fini(&tree);
}

static void tell_end(struct watch_sub *sub)
{
    if (sub->state == SUB_ENDED)
        return;
    end_sub(sub);
    sub->ops->on_end(sub->arg);
}

static void expire_sub(struct watch_sub *sub)
{
    sub->up->hub->stats.expired++;
    tell_error(sub, STR(ERROR_STATUS("too old resource version", "Expired", "410")), 410);
}

static bool is_open(const struct watch_hub_upstream *up)
{
    /* After the first success a reconnect is invisible to subscriptions. */
    return up->state == UP_OPEN || (up->state != UP_DEAD && up->status == 200);
}

/* Move one subscription along the ring. */
static void pump_sub(struct watch_sub *sub)
{
    struct watch_hub_upstream *up = sub->up;
    if (sub->paused || up->state == UP_DEAD)
        return;
    if (sub->state == SUB_OPENING) {
        if (!is_open(up))
            return; /* on_open runs when the upstream is open */
        set_state(sub, SUB_BEHIND);
        sub->ops->on_open(sub->arg, 200, STR(""));
    }
    if (sub->state != SUB_BEHIND || sub->paused)
        return;
    assert(sub->cursor <= up->next_seq);
    if (sub->expired || sub->cursor < up->first_seq) {
        expire_sub(sub);
        tell_end(sub);
        return;
    }
    for (unsigned n = 0; sub->cursor < up->next_seq && n < PUMP_PER_TURN; n++) {
        struct watch_tree tree = { 0 };
        struct watch_event ev = up->ring[sub->cursor++ % WATCH_HISTORY_MAX_EVENTS].ev;
        ev.tree = &tree;
        if (wants(sub, &ev))
            hand_out(sub, &ev);
        watch_tree_fini(&tree);
        if (sub->state == SUB_ENDED || sub->paused)
            return;
    }
    if (sub->cursor == up->next_seq)
        set_state(sub, SUB_LIVE);
    else
        schedule_pump(sub);
}

static void free_topics(struct watch_hub_upstream *up)
{
    map_each (e, &up->topics)
        slab_free(e->value);
    map_fini(&up->topics);
}

static void free_upstream(struct watch_hub_upstream *up)
{
    assert(up->state == UP_DEAD && !up->call && up->n_subs == 0 && !up->delivering);
    assert(up->n_following == 0);
    timer_stop(up->hub->loop, &up->retry);
    for (uint64_t s = up->first_seq; s < up->next_seq; s++)
        free(up->ring[s % WATCH_HISTORY_MAX_EVENTS].block);
    up->hub->stats.history_events -= up->next_seq - up->first_seq;
    up->hub->stats.history_bytes -= up->bytes;
    up->hub->stats.upstreams--;
    free(up->ring);
    free_topics(up);
    watch_lines_reset(&up->lines);
    buf_fini(&up->refusal);
    arena_fini(&up->strings);
    free(up->target);
    free(up->key);
    free(up);
}

/* No subscription is left: end the upstream. Its memory is freed when its call has ended. */
static void drop_upstream(struct watch_hub_upstream *up)
{
    assert(map_get(&up->hub->upstreams, str_of(up->key)) == up);
    (void)map_del(&up->hub->upstreams, str_of(up->key));
    move_upstream(up, UP_DEAD);
    if (up->call)
        exchange_cancel(up->call);
    else
        free_upstream(up);
}

static void sweep(struct watch_hub *hub)
{
    struct watch_hub_upstream *idle[16];
    size_t n;
    do {
        n = 0;
        map_each (e, &hub->upstreams) {
            struct watch_hub_upstream *up = e->value;
            if (up->n_subs == 0 && !up->delivering && n < ARRAY_LEN(idle))
                idle[n++] = up;
        }
        for (size_t i = 0; i < n; i++)
            drop_upstream(idle[i]);
    } while (n == ARRAY_LEN(idle));
}

static void on_pump(struct defer *d)
{
    struct watch_hub *hub = container_of(d, struct watch_hub, pump_defer);
    struct list round;
    free_ended(hub);
    list_move_all(&hub->pump, &round);
    struct list *node;
    while ((node = list_pop_front(&round)))
        pump_sub(list_entry(node, struct watch_sub, pump_node));
    free_ended(hub);
    sweep(hub);
}

static void finish_close(struct defer *d)
{
    struct watch_hub *hub = container_of(d, struct watch_hub, close_defer);
    assert(hub->closing && hub->calls == 0 && hub->stats.subscribers == 0);
    assert(hub->stats.upstreams == 0 && hub->upstreams.n == 0);
    void (*closed)(void *) = hub->closed;
    void *arg = hub->closed_arg;
    defer_cancel(&hub->pump_defer);
    free_ended(hub);
    map_fini(&hub->upstreams);
    map_each (e, &hub->narrow)
        free(e->value);
    map_fini(&hub->narrow);
    free(hub);
    if (closed)
        closed(arg);
}

/* ---------------------------------------------------------------- ring */

static void forget_oldest(struct watch_hub_upstream *up)
{
    struct past_event *ev = &up->ring[up->first_seq % WATCH_HISTORY_MAX_EVENTS];
    assert(up->first_seq < up->next_seq && up->bytes >= ev->ev.line.n);
    up->floor_rv = MAX(up->floor_rv, ev->ev.rv);
    up->bytes -= ev->ev.line.n;
    up->hub->stats.history_bytes -= ev->ev.line.n;
    up->hub->stats.history_events--;
    free(ev->block);
    up->first_seq++;
}

static void remember(struct watch_hub_upstream *up, const struct watch_event *ev)
{
    size_t n = ev->line.n, n_namespace = ev->namespace.n, n_name = ev->name.n;
    if (!up->ring)
        up->ring = xnew_n(struct past_event, WATCH_HISTORY_MAX_EVENTS);
    while (up->next_seq - up->first_seq == WATCH_HISTORY_MAX_EVENTS ||
           (up->next_seq > up->first_seq && up->bytes + n > WATCH_HISTORY_MAX_BYTES))
        forget_oldest(up);
    assert(up->next_seq - up->first_seq < WATCH_HISTORY_MAX_EVENTS);
    struct past_event *past = &up->ring[up->next_seq++ % WATCH_HISTORY_MAX_EVENTS];
    char *block = xalloc(n + n_namespace + n_name + 1);
    memcpy(block, ev->line.p, n);
    if (n_namespace)
        memcpy(block + n, ev->namespace.p, n_namespace);
    if (n_name)
        memcpy(block + n + n_namespace, ev->name.p, n_name);
    *past = (struct past_event){ .ev = *ev, .block = block };
    past->ev.line = str_n(block, n);
    past->ev.object = str_n(block + (ev->object.p - ev->line.p), ev->object.n);
    past->ev.namespace = str_n(block + n, n_namespace);
    past->ev.name = str_n(block + n + n_namespace, n_name);
    past->ev.tree = NULL;
    up->bytes += n;
    up->hub->stats.history_bytes += n;
    up->hub->stats.history_events++;
}

/* No subscription holds a cursor: drop the history and restart the ring at slot 0. */
static void forget_all(struct watch_hub_upstream *up)
{
    assert(up->n_following == up->n_subs && !up->delivering);
    while (up->first_seq < up->next_seq)
        forget_oldest(up);
    assert(up->bytes == 0);
    up->first_seq = up->next_seq = 0;
}

/* Deliver to the live subscriptions of one topic. Those that pause meanwhile keep their cursor. */
static void distribute(struct watch_hub_upstream *up, struct str topic_name,
                       const struct watch_event *ev)
{
    struct watch_hub_topic *t = map_get(&up->topics, topic_name);
    assert(up->delivering);
    if (!t || t->n == 0)
        return;
    /* Callbacks may cancel any subscription, which removes it from the list that it is on. */
    struct list round;
    list_move_all(&t->subs, &round);
    struct list *node;
    while ((node = list_pop_front(&round))) {
        struct watch_sub *sub = list_entry(node, struct watch_sub, node);
        list_push_back(&t->subs, &sub->node);
        if (sub->state == SUB_LIVE && wants(sub, ev))
            hand_out(sub, ev);
    }
}

static void distribute_to_all(struct watch_hub_upstream *up, const struct watch_event *ev)
{
    bool is_bookmark = ev->type == WATCH_EVENT_BOOKMARK;
    distribute(up, STR("\1"), ev);
    if (ev->namespace.n && !is_bookmark)
        distribute(up, ev->namespace, ev);
    if (!is_bookmark)
        return;
    struct arena a = { 0 }; /* a callback may subscribe to another namespace */
    size_t n = 0;
    struct str *names = arena_new_n(&a, struct str, up->topics.n);
    map_each (e, &up->topics)
        if (!str_is(e->key, ALL_NAMESPACES))
            names[n++] = str_copy_arena(&a, e->key);
    for (size_t i = 0; i < n; i++)
        distribute(up, names[i], ev);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- upstream stream */

/*
 * The refusal concerns the watch over all namespaces, which was our choice: the subscriber lists
 * again, and its next subscription is to its own namespace.
 */
static bool was_widened(struct watch_sub *sub, int status)
{
    if (status != 403 || sub->namespace.n == 0 || !sub->narrow)
        return false;
    sub->narrow->only = true;
    return true;
}

/* End all subscriptions: with an ERROR event, or with the refusal if the watch was never open. */
static void end_all(struct watch_hub_upstream *up, int status, struct str body)
{
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(REFUSAL_MAX_BYTES + 256);
    body = str_trim(body);
    if (body.n && body.p[0] == '{')
        buf_printf(&line, "{\"type\":\"ERROR\",\"object\":" STR_FMT "}", STR_ARG(body));
    else
        buf_printf(&line, ERROR_STATUS("watch refused", "InternalError", "%d"), status);
    move_upstream(up, UP_DEAD);
    (void)map_del(&up->hub->upstreams, str_of(up->key));
    map_each (e, &up->topics) {
        struct watch_hub_topic *t = e->value;
        while (!list_is_empty(&t->subs)) {
            struct watch_sub *sub = list_first(&t->subs, struct watch_sub, node);
            bool expires = status == 410 || was_widened(sub, status);
            bool was_opening = sub->state == SUB_OPENING;
            if (was_opening)
                sub->ops->on_open(sub->arg, expires ? 200 : status, body);
            if (sub->state != SUB_ENDED && expires)
                expire_sub(sub);
            else if (sub->state != SUB_ENDED && !was_opening)
                tell_error(sub, buf_str(&line), status);
            tell_end(sub);
        }
    }
}

/* The data is malformed: reconnect, with back-off even if the next stream breaks at once. */
static void break_stream(struct watch_hub_upstream *up)
{
    assert(up->call && up->state != UP_DEAD);
    up->failures++;
    up->broken = true;
    exchange_cancel(up->call);
}

/* A server error: resume from the last version. A 410 is passed to the subscriptions. */
static void take_error(struct watch_hub_upstream *up, int code)
{
    if (code == 410) {
        exchange_cancel(up->call);
        end_all(up, 410, STR(""));
        return;
    }
    log_warn("watch: server ended it, reconnecting", "watch=%s code=%d", up->target,
             code ? code : 500);
    break_stream(up);
}

/* `from`: an event with its head known (in process) or scanned (HTTP). */
static void on_event(void *arg, const struct watch_event *from)
{
    struct watch_hub_upstream *up = arg;
    if (up->state == UP_DEAD || up->broken)
        return;
    assert(!up->delivering && up->call);
    if (from->type == WATCH_EVENT_ERROR) {
        take_error(up, from->code);
        return;
    }
    struct watch_tree tree = { 0 };
    struct watch_event ev = *from;
    ev.tree = &tree;
    up->failures = 0;
    up->hub->stats.events++;
    up->last_rv = MAX(up->last_rv, ev.rv);
    up->delivering = true;
    bool all_follow = up->n_following == up->n_subs && up->first_seq == up->next_seq;
    if (all_follow)
        up->floor_rv = MAX(up->floor_rv, ev.rv);
    else
        remember(up, &ev);
    distribute_to_all(up, &ev);
    up->delivering = false;
    watch_tree_fini(&tree);
    if (!all_follow && up->n_following == up->n_subs)
        forget_all(up);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct watch_hub_upstream *up = arg;
    if (up->state == UP_DEAD)
        return;
    up->status = status;
    watch_lines_reset(&up->lines);
    if (status != 200)
        return; /* the body has the reason; handled when the call ends */
    move_upstream(up, UP_OPEN);
    up->opened_ms = loop_now_ms(up->hub->loop);
    if (up->logged_lost)
        log_info("watch: connected again", "watch=%s", up->target);
    up->logged_lost = false;
    map_each (e, &up->topics) {
        struct watch_hub_topic *t = e->value;
        list_each (node, &t->subs) {
            struct watch_sub *sub = list_entry(node, struct watch_sub, node);
            if (sub->state == SUB_OPENING)
                schedule_pump(sub);
        }
    }
}

/* One line of the stream. */
static void take_line(struct watch_hub_upstream *up, struct str line)
{
    struct arena a = { .max_bytes = WATCH_LINE_MAX_BYTES };
    struct watch_event ev;
    struct err err = { 0 };
    if (watch_event_scan(&a, line, &ev, &err) >= 0) {
        on_event(up, &ev);
    } else {
        log_warn("watch: event does not parse, reconnecting", "watch=%s reason=\"%s\"", up->target,
                 err_text(&err));
        break_stream(up);
    }
    arena_fini(&a);
}

static void on_data(void *arg, struct str chunk)
{
    struct watch_hub_upstream *up = arg;
    struct str line;
    int r = 0;
    if (up->status != 200) {
        if (up->state != UP_DEAD && up->refusal.n + chunk.n <= REFUSAL_MAX_BYTES)
            (void)buf_add_str(&up->refusal, chunk);
        return;
    }
    while (up->state != UP_DEAD && !up->broken &&
           (r = watch_lines_next(&up->lines, &chunk, &line)) > 0)
        take_line(up, line);
    if (r < 0) {
        log_warn("watch: event too large, reconnecting", "watch=%s limit=%d", up->target,
                 WATCH_LINE_MAX_BYTES);
        break_stream(up);
    }
}

static void on_retry(struct timer *t)
{
    connect_upstream(container_of(t, struct watch_hub_upstream, retry));
}

/* answered: else the transport logs that the server does not answer. */
static void retry_later(struct watch_hub_upstream *up, bool answered, const char *why)
{
    uint64_t wait = 0;
    if (up->failures) {
        struct rng rng = { sys_random_u64() };
        wait = backoff_upper_half(
            &rng, backoff_wait(WATCH_RETRY_FIRST_MS, WATCH_RETRY_MAX_MS, up->failures - 1));
    }
    if (up->failures >= 3 && answered && !up->logged_lost) {
        up->logged_lost = true;
        log_warn("watch: cannot connect, retrying", "watch=%s reason=\"%s\"", up->target, why);
    }
    up->failures++;
    assert(!up->call && !timer_is_armed(&up->retry));
    move_upstream(up, UP_WAITING);
    up->hub->stats.reconnects++;
    timer_start(up->hub->loop, &up->retry, wait, on_retry);
}

/* Retrying does not help against such a refusal: pass it to the subscribers. */
static bool is_final(int status)
{
    return status >= 400 && status < 500 && status != 401 && status != 408 && status != 429;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct watch_hub_upstream *up = arg;
    struct watch_hub *hub = up->hub;
    assert(up->call && hub->calls > 0);
    up->call = NULL;
    hub->calls--;
    if (up->state == UP_DEAD) {
        free_upstream(up);
        if (hub->closing && hub->calls == 0)
            defer_start(hub->loop, &hub->close_defer, finish_close);
        return;
    }
    bool was_open = up->state == UP_OPEN; /* else the status may be that of the previous stream */
    bool answered = up->status != 0;
    int status = up->status;
    if (answered && is_final(status) && r == 0) {
        size_t n;
        scoped(free_scoped) char *body = buf_take(&up->refusal, &n);
        end_all(up, status, str_n(body, n));
        free_upstream(up);
        return;
    }
    if (status != 200)
        up->status = 0;
    else if (was_open && !up->broken && loop_now_ms(hub->loop) - up->opened_ms > STEADY_MS)
        up->failures = 0;
    up->broken = false;
    watch_lines_reset(&up->lines);
    buf_reset(&up->refusal);
    retry_later(up, was_open || (answered && status != 200) || r == 0,
                r < 0 && err ? err_text(err) : "stream ended");
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void connect_upstream(struct watch_hub_upstream *up)
{
    struct watch_hub *hub = up->hub;
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(KEY_MAX_BYTES * 4);
    buf_printf(&target, "%s&resourceVersion=%" PRIu64, up->target, up->last_rv);
    struct kube_request req = { .identity = up->identity ? up->identity : hub->identity,
                                .method = STR("GET"),
                                .target = buf_str(&target),
                                .on_event = on_event,
                                .event_arg = up };
    struct headers accept = { 0 };
    if (up->metadata_only) {
        (void)headers_addc(&accept, "accept", WATCH_METADATA_ACCEPT);
        req.headers = &accept;
    }
    struct err err = { 0 };
    bool stood = up->status == 200;
    assert(!up->call);
    if (up->state != UP_CONNECTING) /* the first time it is */
        move_upstream(up, UP_CONNECTING);
    int r = transport_start(hub->transport, &req, &call_events, up, &up->call, &err);
    headers_fini(&accept);
    if (r < 0) {
        retry_later(up, true, err_text(&err));
        return;
    }
    hub->calls++;
    if (!stood)
        up->status = 0;
}

/* ---------------------------------------------------------------- public */

int watch_hub_new(struct loop *loop, const struct watch_hub_opts *opts, struct watch_hub **ret,
                  struct err *err)
{
    struct watch_hub *hub = xnew(struct watch_hub);
    hub->loop = loop;
    hub->transport = opts->transport;
    hub->identity = opts->identity;
    hub->widen_at = opts->widen_at;
    hub->max_upstreams = opts->max_upstreams ? opts->max_upstreams : (unsigned)WATCH_UPSTREAMS_MAX;
    list_init(&hub->pump);
    list_init(&hub->graves);
    *ret = hub;
    return 0;
}

void watch_hub_close(struct watch_hub *hub, void (*done)(void *arg), void *arg)
{
    assert(hub->stats.subscribers == 0 && !hub->closing);
    hub->closing = true;
    hub->closed = done;
    hub->closed_arg = arg;
    sweep(hub);
    if (hub->calls == 0)
        defer_start(hub->loop, &hub->close_defer, finish_close);
}

static void add_query(struct buf *b, const char *name, struct str value)
{
    if (value.n == 0)
        return;
    buf_printf(b, "&%s=", name);
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~", c);
        if (plain && c)
            buf_add_char(b, (char)c);
        else
            buf_printf(b, "%%%02X", c);
    }
}

static char *make_target(const struct watch_key *key, struct str namespace)
{
    struct buf b = BUF_INIT(KEY_MAX_BYTES * 4);
    bool core = str_find_char(key->group_version, '/') < 0;
    buf_printf(&b, "/%s/" STR_FMT "/", core ? "api" : "apis", STR_ARG(key->group_version));
    if (namespace.n)
        buf_printf(&b, "namespaces/" STR_FMT "/", STR_ARG(namespace));
    buf_add_str(&b, key->plural);
    buf_add_cstr(&b, "?watch=true&allowWatchBookmarks=true");
    add_query(&b, "labelSelector", key->label_selector);
    add_query(&b, "fieldSelector", key->field_selector);
    size_t n;
    return buf_take(&b, &n);
}

static struct str key_user(const struct watch_key *key)
{
    return key->identity ? key->identity->user : STR("");
}

/* NULL: max_upstreams is reached. */
static struct watch_hub_upstream *open_upstream(struct watch_hub *hub, const struct watch_key *key,
                                                struct str namespace, uint64_t rv)
{
    char name[KEY_MAX_BYTES * 2];
    int n = snprintf(name, sizeof name,
                     STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT "|%s|" STR_FMT,
                     STR_ARG(key->group_version), STR_ARG(key->plural), STR_ARG(namespace),
                     STR_ARG(key->label_selector), STR_ARG(key->field_selector),
                     key->metadata_only ? "metadata" : "", STR_ARG(key_user(key)));
    struct watch_hub_upstream *up = map_get(&hub->upstreams, str_n(name, (size_t)n));
    if (up)
        return up;
    if (hub->stats.upstreams >= hub->max_upstreams)
        return NULL;
    up = xnew(struct watch_hub_upstream);
    up->hub = hub;
    up->key = xstrndup(name, (size_t)n);
    up->target = make_target(key, namespace);
    up->last_rv = up->floor_rv = rv;
    up->metadata_only = key->metadata_only;
    up->identity = kube_identity_copy(&up->strings, key->identity);
    watch_lines_init(&up->lines);
    buf_init(&up->refusal, REFUSAL_MAX_BYTES);
    (void)map_put(&hub->upstreams, str_of(up->key), up);
    hub->stats.upstreams++;
    connect_upstream(up);
    return up;
}

/* The count for this namespaced subscription; NULL: it is not counted. */
static struct narrow *find_narrow(struct watch_hub *hub, const struct watch_key *key)
{
    if (key->namespace.n == 0 || key->identity || hub->widen_at == 0 || hub->widen_at == UINT_MAX)
        return NULL;
    char text[KEY_MAX_BYTES * 2];
    int n =
        snprintf(text, sizeof text, STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT,
                 STR_ARG(key->group_version), STR_ARG(key->plural), STR_ARG(key->label_selector),
                 STR_ARG(key->field_selector), STR_ARG(key_user(key)));
    struct str name = str_n(text, (size_t)n);
    struct narrow *narrow = map_get(&hub->narrow, name);
    if (!narrow) {
        narrow = xnew(struct narrow);
        (void)map_put(&hub->narrow, name, narrow);
    }
    return narrow;
}

static bool use_wide(const struct watch_hub *hub, const struct watch_key *key,
                     const struct narrow *narrow)
{
    if (key->namespace.n == 0)
        return true;
    if (key->identity) /* this identity's rights to more are unknown */
        return false;
    if (hub->widen_at == 0)
        return true;
    return narrow && !narrow->only && narrow->n_subs >= hub->widen_at;
}

int watch_hub_subscribe(struct watch_hub *hub, const struct watch_key *key, uint64_t rv,
                        bool bookmarks, const struct watch_sub_ops *ops, void *arg,
                        struct watch_sub **ret, struct err *err)
{
    size_t total = key->group_version.n + key->plural.n + key->namespace.n + key->label_selector.n +
                   key->field_selector.n + key_user(key).n;
    if (key->group_version.n == 0 || key->plural.n == 0 || rv == 0)
        return err_set(err, -EINVAL, "watch without a resource or version");
    if (total > KEY_MAX_BYTES)
        return err_set(err, -E2BIG, "watch selectors are longer than %d bytes", KEY_MAX_BYTES);
    assert(!hub->closing);
    struct narrow *narrow = find_narrow(hub, key);
    bool wide = use_wide(hub, key, narrow);
    struct watch_hub_upstream *up = open_upstream(hub, key, wide ? STR("") : key->namespace, rv);
    if (!up)
        return err_set(err, E_LIMIT, "more than %u watches of different collections and selectors",
                       hub->max_upstreams);
    struct str topic_name = wide && key->namespace.n ? key->namespace : STR("\1");
    struct watch_hub_topic *topic = map_get(&up->topics, topic_name);
    if (!topic) {
        topic = slab_new(struct watch_hub_topic);
        list_init(&topic->subs);
        (void)map_put(&up->topics, topic_name, topic);
    }
    struct watch_sub *sub = slab_new(struct watch_sub);
    sub->up = up;
    sub->topic = topic;
    sub->narrow = narrow;
    sub->rv = rv;
    sub->bookmarks = bookmarks;
    sub->ops = ops;
    sub->arg = arg;
    if (wide && key->namespace.n)
        sub->namespace = map_find(&up->topics, key->namespace)->key;
    sub->cursor = up->first_seq;
    sub->expired = rv < up->floor_rv;
    list_push_back(&topic->subs, &sub->node);
    topic->n++;
    if (narrow)
        narrow->n_subs++;
    up->n_subs++;
    hub->stats.subscribers++;
    schedule_pump(sub);
    *ret = sub;
    return 0;
}

void watch_sub_pause(struct watch_sub *sub)
{
    if (sub->paused)
        return;
    assert(!sub->ops->needs_no_history);
    sub->paused = true;
    if (sub->state == SUB_LIVE) {
        set_state(sub, SUB_BEHIND);
        sub->cursor = sub->up->next_seq;
    }
}

void watch_sub_resume(struct watch_sub *sub)
{
    if (!sub->paused)
        return;
    sub->paused = false;
    schedule_pump(sub);
}

void watch_sub_cancel(struct watch_sub *sub)
{
    end_sub(sub);
}

void watch_hub_get_stats(const struct watch_hub *hub, struct watch_hub_stats *ret)
{
    *ret = hub->stats;
}
