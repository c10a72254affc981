/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of nodes on demand; see usage_reader.h. */
#include "api/usage/usage_reader.h"

#include "api/kubelet.h"
#include "api/part.h"
#include "api/subresources.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/sm.h"
#include "io/http.h"
#include "io/tls.h"

enum reading_at { READING_IDLE, READING_QUEUED, READING_ADDRESS, READING_TEXT, READING_PAUSE };

static const struct sm_state reading_table[] = {
    [READING_IDLE] = { "idle", EDGE(READING_QUEUED) },
    [READING_QUEUED] = { "queued", EDGE(READING_ADDRESS) | EDGE(READING_IDLE) },
    [READING_ADDRESS] = { "address", EDGE(READING_TEXT) | EDGE(READING_IDLE) },
    [READING_TEXT] = { "text", EDGE(READING_PAUSE) | EDGE(READING_IDLE) },
    [READING_PAUSE] = { "pause", EDGE(READING_QUEUED) | EDGE(READING_IDLE) },
};

struct usage_reading { /* of one node */
    struct usage_reader *reader;
    struct sm sm;
    struct list queued; /* reader->queue */
    struct usage_node *usage;
    bool has_failed;    /* the last time */
    unsigned n_pauses;  /* of this question */
    bool is_late;       /* the agent has not answered in time */
    uint64_t tried_ms;  /* when the last reading ended; 0: never */
    struct timer timer; /* the pause, or the deadline of the agent */
    struct http_client *client;
    struct tls_ctx *tls;
    struct exchange *call;
    int status;
    struct buf text;
    char name[];
};

struct usage_question {
    struct list node; /* reader->questions */
    struct map open;  /* names of nodes that are being read */
    void (*ready)(void *arg);
    void *arg;
};

struct usage_reader {
    struct api *api;
    struct map nodes;      /* name -> struct usage_reading */
    struct list queue;     /* struct usage_reading.queued */
    struct list questions; /* struct usage_question */
    size_t n_reading;
    struct timer forget; /* armed while anything is known */
    struct defer turn;   /* answers questions about nothing that has to be read */
    bool is_stopped;
};

static void read_next(struct usage_reader *r);

/* ------------------------------------------------------------------ questions */

static void answer(struct usage_question *q)
{
    list_remove(&q->node);
    map_fini(&q->open);
    q->ready(q->arg);
    free(q);
}

static void on_turn(struct defer *d)
{
    struct usage_reader *r = container_of(d, struct usage_reader, turn);
    struct list done;
    list_init(&done);
    list_each_safe (node, &r->questions) {
        struct usage_question *q = list_entry(node, struct usage_question, node);
        if (q->open.n > 0)
            continue;
        list_remove(&q->node);
        list_push_back(&done, &q->node);
    }
    while (!list_is_empty(&done))
        answer(list_first(&done, struct usage_question, node));
    if (r->is_stopped)
        api_part_idle(r->api);
}

static void settle_questions(struct usage_reader *r, const struct usage_reading *g)
{
    list_each (node, &r->questions)
        (void)map_del(&list_entry(node, struct usage_question, node)->open, str_of(g->name));
    defer_start(r->api->loop, &r->turn, on_turn);
}

/* ------------------------------------------------------------------ one node */

static bool holds_slot(const struct usage_reading *g)
{
    return g->sm.at == READING_ADDRESS || g->sm.at == READING_TEXT;
}

/* The last reading of this question. */
static void reading_end(struct usage_reading *g, bool has_failed)
{
    struct usage_reader *r = g->reader;
    r->n_reading -= holds_slot(g);
    sm_move(&g->sm, READING_IDLE);
    g->has_failed = has_failed;
    g->n_pauses = 0;
    g->tried_ms = loop_now_ms(r->api->loop);
    timer_stop(r->api->loop, &g->timer);
    list_remove(&g->queued);
    settle_questions(r, g);
    read_next(r);
}

static void enqueue(struct usage_reading *g)
{
    sm_move(&g->sm, READING_QUEUED);
    list_push_back(&g->reader->queue, &g->queued);
    read_next(g->reader);
}

static void on_pause(struct timer *t)
{
    struct usage_reading *g = container_of(t, struct usage_reading, timer);
    enqueue(g);
}

static void taken(struct usage_reading *g)
{
    struct usage_reader *r = g->reader;
    if (!g->usage)
        g->usage = usage_new();
    usage_take(g->usage, buf_str(&g->text), clock_wall_ms());
    if (g->n_pauses == USAGE_PAUSES_MAX || r->is_stopped || usage_is_complete(g->usage)) {
        reading_end(g, false);
        return;
    }
    r->n_reading--;
    sm_move(&g->sm, READING_PAUSE);
    timer_start(r->api->loop, &g->timer,
                backoff_wait(USAGE_PAUSE_MS, USAGE_FRESH_MS, g->n_pauses++), on_pause);
    read_next(r);
}

/* ------------------------------------------------------------------ its agent */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct usage_reading *g = arg;
    (void)headers;
    g->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct usage_reading *g = arg;
    if (buf_add_str(&g->text, chunk) < 0)
        exchange_cancel(g->call);
}

static void end_call(struct usage_reading *g)
{
    g->call = NULL;
    timer_stop(g->reader->api->loop, &g->timer);
    if (g->client)
        http_client_close(g->client);
    tls_ctx_free(g->tls);
    g->client = NULL;
    g->tls = NULL;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct usage_reading *g = arg;
    const char *why = r < 0 ? err_text(err) : "the agent refused";
    end_call(g);
    if (r >= 0 && g->status == 200 && buf_ok(&g->text)) {
        taken(g);
    } else {
        if (!g->reader->is_stopped)
            log_info("what a node uses was not read", "node=%s status=%d error=\"%s\"", g->name,
                     g->status, g->is_late ? "no answer in time" : why);
        reading_end(g, true);
    }
    buf_fini(&g->text);
}

static void on_deadline(struct timer *t)
{
    struct usage_reading *g = container_of(t, struct usage_reading, timer);
    g->is_late = true;
    exchange_cancel(g->call);
}

static int call_agent(struct usage_reading *g, const struct json *node, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct api *api = g->reader->api;
    scoped(free_scoped) char *host = str_dup(streams_node_address(node));
    const struct http_client_opts opts = { .host = host,
                                           .port = streams_node_port(node),
                                           .tls = g->tls };
    const struct http_call_opts call = {
        .method = STR("GET"), .target = STR("/metrics/resource"), .events = &events, .arg = g
    };
    if (!*host)
        return err_set(err, -ENOENT, "it has no address");
    int r = http_client_new(api->loop, &opts, &g->client, err);
    return r < 0 ? r : http_call_start(g->client, &call, &g->call, err);
}

static void ask_agent(struct usage_reading *g, const struct json *node)
{
    struct api *api = g->reader->api;
    struct err err = { 0 };
    sm_move(&g->sm, READING_TEXT);
    g->status = 0;
    g->is_late = false;
    g->text = BUF_INIT(USAGE_TEXT_MAX_BYTES);
    int r = kubelet_tls(api, KUBELET_VERIFIED, &g->tls, &err);
    if (r >= 0)
        r = call_agent(g, node, &err);
    if (r >= 0) {
        timer_start(api->loop, &g->timer, USAGE_READ_TIMEOUT_MS, on_deadline);
        return;
    }
    log_info("what a node uses was not read", "node=%s error=\"%s\"", g->name, err_text(&err));
    end_call(g);
    reading_end(g, true);
}

static void on_node(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct usage_reading *g = arg;
    struct arena arena = { 0 };
    struct json *node = NULL;
    (void)rev;
    (void)err;
    if (r < 0 || !kv || g->reader->is_stopped || !kubelet_is_reachable(g->reader->api) ||
        json_parse(&arena, kv->value, NULL, &node, NULL) < 0)
        reading_end(g, true);
    else
        ask_agent(g, node);
    arena_fini(&arena);
}

/* Begin with the node that waits longest, while there are slots. */
static void read_next(struct usage_reader *r)
{
    while (r->n_reading < USAGE_READS_MAX && !list_is_empty(&r->queue) && !r->is_stopped) {
        struct usage_reading *g =
            container_of(list_pop_front(&r->queue), struct usage_reading, queued);
        scoped(free_scoped) char *key = xasprintf("/registry/nodes/%s", g->name);
        sm_move(&g->sm, READING_ADDRESS);
        r->n_reading++;
        if (store_get(r->api->store, str_of(key), 0, on_node, g, NULL) < 0)
            reading_end(g, true);
    }
}

/* ------------------------------------------------------------------ what is known */

static bool is_fresh(const struct usage_reading *g, uint64_t now_ms)
{
    return g->tried_ms && now_ms - g->tried_ms < USAGE_FRESH_MS;
}

const struct usage_node *usage_reader_get(const struct usage_reader *r, struct str node)
{
    const struct usage_reading *g = map_get(&r->nodes, node);
    return g && !g->has_failed ? g->usage : NULL;
}

static void on_forget(struct timer *t)
{
    struct usage_reader *r = container_of(t, struct usage_reader, forget);
    uint64_t now_ms = loop_now_ms(r->api->loop);
    struct map left = { 0 };
    map_each (e, &r->nodes) {
        struct usage_reading *g = e->value;
        if (g->sm.at != READING_IDLE || now_ms - g->tried_ms < USAGE_KEEP_MS) {
            (void)map_put(&left, e->key, g);
            continue;
        }
        usage_free(g->usage);
        free(g);
    }
    map_fini(&r->nodes);
    r->nodes = left;
    if (left.n > 0)
        timer_start(r->api->loop, &r->forget, USAGE_KEEP_MS, on_forget);
}

/* NULL: there are too many. */
static struct usage_reading *reading_of(struct usage_reader *r, struct str name)
{
    struct usage_reading *g = map_get(&r->nodes, name);
    if (g || r->nodes.n >= USAGE_NODES_MAX)
        return g;
    g = xalloc(sizeof *g + name.n + 1);
    *g = (struct usage_reading){ .reader = r };
    memcpy(g->name, name.p, name.n);
    g->name[name.n] = '\0';
    sm_init(&g->sm, reading_table, READING_IDLE);
    (void)map_put(&r->nodes, name, g);
    return g;
}

/* ------------------------------------------------------------------ asking */

void usage_reader_ask(struct usage_reader *r, const struct str *nodes, size_t n,
                      void (*ready)(void *arg), void *arg)
{
    struct usage_question *q = xnew(struct usage_question);
    uint64_t now_ms = loop_now_ms(r->api->loop);
    *q = (struct usage_question){ .ready = ready, .arg = arg };
    list_push_back(&r->questions, &q->node);
    for (size_t i = 0; i < n && !r->is_stopped; i++) {
        struct usage_reading *g = reading_of(r, nodes[i]);
        if (!g || (g->sm.at == READING_IDLE && is_fresh(g, now_ms)))
            continue;
        (void)map_put(&q->open, nodes[i], g);
        if (g->sm.at == READING_IDLE)
            enqueue(g);
    }
    if (n > 0 && !timer_is_armed(&r->forget) && !r->is_stopped)
        timer_start(r->api->loop, &r->forget, USAGE_KEEP_MS, on_forget);
    defer_start(r->api->loop, &r->turn, on_turn);
}

/* ------------------------------------------------------------------ lifecycle */

struct usage_reader *usage_reader_new(struct api *api)
{
    struct usage_reader *r = xnew(struct usage_reader);
    *r = (struct usage_reader){ .api = api };
    list_init(&r->queue);
    list_init(&r->questions);
    return r;
}

void usage_reader_stop(struct usage_reader *r)
{
    r->is_stopped = true;
    timer_stop(r->api->loop, &r->forget);
    map_each (e, &r->nodes) {
        struct usage_reading *g = e->value;
        if (g->sm.at == READING_QUEUED || g->sm.at == READING_PAUSE)
            reading_end(g, true);
        else if (g->call)
            exchange_cancel(g->call);
    }
    defer_start(r->api->loop, &r->turn, on_turn);
}

bool usage_reader_is_busy(const struct usage_reader *r)
{
    return r->n_reading > 0 || !list_is_empty(&r->questions);
}

void usage_reader_free(struct usage_reader *r)
{
    if (!r)
        return;
    assert(!usage_reader_is_busy(r));
    timer_stop(r->api->loop, &r->forget);
    defer_cancel(&r->turn);
    map_each (e, &r->nodes) {
        struct usage_reading *g = e->value;
        usage_free(g->usage);
        free(g);
    }
    map_fini(&r->nodes);
    free(r);
}
