/* SPDX-License-Identifier: Apache-2.0 */
/* Priority and fairness; see flow.h. */
#include "api/flow.h"

#include <assert.h>

/* ------------------------------------------------------------------ the table */

enum { SHARES = 245 }; /* of all levels */

static const struct {
    const char *name;
    uint8_t shares;
    uint8_t lends_percent; /* of its seats, while it does not need them */
    bool queues;
} levels[FLOW_LEVELS] = {
    [FLOW_EXEMPT] = { "exempt", 0, 0, false },
    [FLOW_LEADER_ELECTION] = { "leader-election", 10, 0, true },
    [FLOW_NODE_HIGH] = { "node-high", 40, 25, true },
    [FLOW_SYSTEM] = { "system", 30, 33, true },
    [FLOW_WORKLOAD_HIGH] = { "workload-high", 40, 50, true },
    [FLOW_WORKLOAD_LOW] = { "workload-low", 100, 90, true },
    [FLOW_GLOBAL_DEFAULT] = { "global-default", 20, 50, true },
    [FLOW_CATCH_ALL] = { "catch-all", 5, 0, false },
};

enum by { BY_NOTHING, BY_USER, BY_NAMESPACE };
enum flow_what { ANYTHING, PROBES, LEASES_RW, NODES_AND_LEASES };

/* The first match decides: upstream's FlowSchemas in their order of precedence. */
static const struct {
    const char *name;
    enum flow_level level;
    enum by by;
    enum flow_what what;
    const char *group; /* NULL: by user */
    const char *user[2];
} schemas[FLOW_SCHEMAS] = {
    { "exempt", FLOW_EXEMPT, BY_NOTHING, ANYTHING, "system:masters", { 0 } },
    { "probes", FLOW_EXEMPT, BY_NOTHING, PROBES, "", { 0 } },
    { "system-leader-election",
      FLOW_LEADER_ELECTION,
      BY_USER,
      LEASES_RW,
      "system:serviceaccounts:kube-system",
      { "system:kube-controller-manager", "system:kube-scheduler" } },
    { "workload-leader-election",
      FLOW_LEADER_ELECTION,
      BY_USER,
      LEASES_RW,
      "system:serviceaccounts",
      { 0 } },
    { "system-node-high", FLOW_NODE_HIGH, BY_USER, NODES_AND_LEASES, "system:nodes", { 0 } },
    { "system-nodes", FLOW_SYSTEM, BY_USER, ANYTHING, "system:nodes", { 0 } },
    { "kube-controller-manager",
      FLOW_WORKLOAD_HIGH,
      BY_NAMESPACE,
      ANYTHING,
      NULL,
      { "system:kube-controller-manager" } },
    { "kube-scheduler",
      FLOW_WORKLOAD_HIGH,
      BY_NAMESPACE,
      ANYTHING,
      NULL,
      { "system:kube-scheduler" } },
    { "kube-system-service-accounts",
      FLOW_WORKLOAD_HIGH,
      BY_NAMESPACE,
      ANYTHING,
      "system:serviceaccounts:kube-system",
      { 0 } },
    { "service-accounts", FLOW_WORKLOAD_LOW, BY_USER, ANYTHING, "system:serviceaccounts", { 0 } },
    { "global-default",
      FLOW_GLOBAL_DEFAULT,
      BY_USER,
      ANYTHING,
      "system:authenticated",
      { "system:anonymous" } },
    { "catch-all", FLOW_CATCH_ALL, BY_USER, ANYTHING, "", { 0 } },
};

static const char *const reasons[FLOW_REASONS] = { "queue-full", "concurrency-limit", "time-out" };

const char *flow_schema_name(const struct flow_ticket *t)
{
    assert(t->schema > 0 && t->schema <= FLOW_SCHEMAS);
    return schemas[t->schema - 1].name;
}

static unsigned nominal(enum flow_level l)
{
    return (FLOW_SEATS * (unsigned)levels[l].shares + SHARES - 1) / SHARES;
}

/* Seats that the level never lends. */
static unsigned kept(enum flow_level l)
{
    return nominal(l) - nominal(l) * levels[l].lends_percent / 100;
}

/* ------------------------------------------------------------------ which schema */

static bool is_one_of(struct str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, names[i]))
            return true;
    return false;
}

static bool is_in_group(const struct flow_question *q, const char *group)
{
    for (size_t i = 0; i < q->n_groups; i++)
        if (str_is(q->groups[i], group))
            return true;
    return false;
}

static bool is_about(const struct flow_question *q, enum flow_what what)
{
    static const char *const probes[] = { "/healthz", "/readyz", "/livez" };
    static const char *const rw[] = { "get", "create", "update" };
    bool lease = str_is(q->group, "coordination.k8s.io") && str_is(q->resource, "leases");
    switch (what) {
    case ANYTHING:
        return true;
    case PROBES:
        return !q->resource.n && is_one_of(q->path, probes, ARRAY_LEN(probes));
    case LEASES_RW:
        return lease && is_one_of(q->verb, rw, ARRAY_LEN(rw));
    case NODES_AND_LEASES:
        return lease || (q->group.n == 0 && str_is(q->resource, "nodes") &&
                         (q->subresource.n == 0 || str_is(q->subresource, "status")));
    }
    return false;
}

static size_t schema_of(const struct flow_question *q)
{
    for (size_t i = 0; i < FLOW_SCHEMAS; i++) {
        const char *group = schemas[i].group;
        bool who = group && (!*group || is_in_group(q, group));
        for (size_t k = 0; k < ARRAY_LEN(schemas[i].user) && schemas[i].user[k]; k++)
            who = who || str_is(q->user, schemas[i].user[k]);
        if (who && is_about(q, schemas[i].what))
            return i;
    }
    return FLOW_SCHEMAS - 1;
}

/* ------------------------------------------------------------------ flows */

struct flow {
    enum flow_level level;
    unsigned in_use, n_queue; /* seats in use, requests waiting */
    struct list queue;        /* struct flow_ticket.node */
    struct list node;         /* in its level's list, while requests wait */
    size_t key_n;
    char key[]; /* may contain NUL, as the user in a certificate may */
};

static struct flow *flow_of(struct flows *f, size_t schema, const struct flow_question *q)
{
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(4096);
    (void)buf_printf(&key, "%zu/", schema);
    if (schemas[schema].by == BY_USER)
        (void)buf_add_str(&key, str_slice(q->user, 0, 1024));
    else if (schemas[schema].by == BY_NAMESPACE)
        (void)buf_add_str(&key, str_slice(q->ns, 0, 1024));
    struct flow *flow = map_get(&f->known, buf_str(&key));
    if (flow)
        return flow;
    flow = xalloc(sizeof *flow + key.n);
    memcpy(flow->key, buf_cstr(&key), key.n);
    flow->key_n = key.n;
    flow->level = schemas[schema].level;
    list_init(&flow->queue);
    (void)map_put(&f->known, buf_str(&key), flow);
    return flow;
}

static void drop_if_unused(struct flows *f, struct flow *flow)
{
    if (flow->in_use || flow->n_queue)
        return;
    assert(list_is_empty(&flow->queue) && !list_is_linked(&flow->node));
    const struct flow *was = map_del(&f->known, str_n(flow->key, flow->key_n));
    assert(was == flow);
    free(flow);
}

/* ------------------------------------------------------------------ seats */

/*
 * Whether the level may take a seat: one of its own, or one left over after all other levels have
 * their guaranteed seats.
 */
static bool has_seat(const struct flows *f, enum flow_level l)
{
    unsigned taken = f->in_use;
    if (f->level[l].in_use < nominal(l))
        return true;
    for (enum flow_level other = 0; other < FLOW_LEVELS; other++)
        if (other != l && f->level[other].in_use < kept(other))
            taken += kept(other) - f->level[other].in_use;
    return taken < FLOW_SEATS;
}

static void sit(struct flows *f, struct flow_ticket *t)
{
    assert(t->schema > 0 && !t->waiting && t->seats > 0);
    size_t schema = t->schema - 1u;
    enum flow_level l = schemas[schema].level;
    assert((l == FLOW_EXEMPT) == !t->flow);
    f->schema[schema].executing++;
    f->schema[schema].dispatched++;
    f->schema[schema].seats += t->seats;
    f->level[l].in_use += t->seats;
    if (!t->flow)
        return;
    t->flow->in_use += t->seats;
    f->in_use += t->seats;
    assert(f->in_use >= f->level[l].in_use && f->level[l].in_use >= t->flow->in_use);
}

static void leave_queue(struct flows *f, struct flow_ticket *t)
{
    struct flow *flow = t->flow;
    assert(t->waiting && list_is_linked(&t->node) && list_is_linked(&t->age));
    assert(flow->n_queue > 0 && f->level[flow->level].waiting >= flow->n_queue);
    assert(f->schema[t->schema - 1].waiting > 0);
    list_remove(&t->node);
    list_remove(&t->age);
    t->waiting = false;
    flow->n_queue--;
    f->level[flow->level].waiting--;
    f->schema[t->schema - 1].waiting--;
    assert((flow->n_queue == 0) == list_is_empty(&flow->queue));
    if (flow->n_queue == 0)
        list_remove(&flow->node);
    if (list_is_empty(&f->waiting))
        timer_stop(f->loop, &f->timer);
}

/* Remove the ticket from its queue; refuse() is called later. */
static void give_up(struct flows *f, struct flow_ticket *t, enum flow_reason why)
{
    struct flow *flow = t->flow;
    leave_queue(f, t);
    f->schema[t->schema - 1].refused[why]++;
    *t = (struct flow_ticket){ 0 };
    drop_if_unused(f, flow);
}

/* ------------------------------------------------------------------ waiting */

static void on_wait_timer(struct timer *timer);

static void arm_timer(struct flows *f)
{
    if (list_is_empty(&f->waiting) || timer_is_armed(&f->timer))
        return;
    uint64_t due = list_first(&f->waiting, struct flow_ticket, age)->since_ms + FLOW_WAIT_MAX_MS;
    uint64_t now = loop_now_ms(f->loop);
    timer_start(f->loop, &f->timer, due > now ? due - now : 0, on_wait_timer);
}

static void on_wait_timer(struct timer *timer)
{
    struct flows *f = container_of(timer, struct flows, timer);
    uint64_t now = loop_now_ms(f->loop);
    while (!list_is_empty(&f->waiting)) {
        struct flow_ticket *t = list_first(&f->waiting, struct flow_ticket, age);
        if (t->since_ms + FLOW_WAIT_MAX_MS > now)
            break;
        give_up(f, t, FLOW_TIME_OUT);
        f->refuse(t);
    }
    arm_timer(f);
}

/* The flow of the level that holds the fewest seats; on a tie the one that has waited longest. */
static struct flow *poorest(struct flows *f, enum flow_level l)
{
    struct flow *best = NULL;
    list_each (node, &f->level[l].flows) {
        struct flow *flow = list_entry(node, struct flow, node);
        if (!best || flow->in_use < best->in_use)
            best = flow;
    }
    return best;
}

static void on_turn(struct defer *d);

static void dispatch(struct flows *f, enum flow_level l)
{
    for (unsigned n = 0; n < LOOP_DEFER_PER_TURN && f->level[l].waiting && has_seat(f, l); n++) {
        struct flow *flow = poorest(f, l);
        assert(flow && flow->level == l); /* as many requests wait as the level counts */
        struct flow_ticket *t = list_first(&flow->queue, struct flow_ticket, node);
        leave_queue(f, t);
        if (flow->n_queue) { /* to the end of the list */
            list_remove(&flow->node);
            list_push_back(&f->level[l].flows, &flow->node);
        }
        sit(f, t);
        f->run(t);
    }
    if (f->level[l].waiting && has_seat(f, l))
        defer_start(f->loop, &f->turn, on_turn);
}

static void on_turn(struct defer *d)
{
    struct flows *f = container_of(d, struct flows, turn);
    for (struct list *node; (node = list_pop_front(&f->refused));)
        f->refuse(list_entry(node, struct flow_ticket, node));
    for (enum flow_level l = 0; l < FLOW_LEVELS; l++)
        dispatch(f, l);
}

/*
 * A new request of a short queue displaces the last one of the longest queue, which is refused on
 * the next turn.
 */
static bool make_room(struct flows *f, const struct flow *flow)
{
    enum flow_level l = flow->level;
    struct flow *longest = NULL;
    if (f->level[l].waiting < FLOW_LEVEL_QUEUE_MAX)
        return true;
    list_each (node, &f->level[l].flows) {
        struct flow *other = list_entry(node, struct flow, node);
        if (!longest || other->n_queue > longest->n_queue)
            longest = other;
    }
    assert(longest && longest->n_queue > 0);
    if (longest->n_queue <= flow->n_queue + 1)
        return false;
    struct flow_ticket *last = list_entry(longest->queue.prev, struct flow_ticket, node);
    give_up(f, last, FLOW_QUEUE_FULL);
    list_push_back(&f->refused, &last->node);
    defer_start(f->loop, &f->turn, on_turn);
    return true;
}

static enum flow_answer refuse_now(struct flows *f, struct flow_ticket *t, enum flow_reason why)
{
    struct flow *flow = t->flow;
    f->schema[t->schema - 1].refused[why]++;
    *t = (struct flow_ticket){ 0 };
    drop_if_unused(f, flow);
    return FLOW_REFUSED;
}

static enum flow_answer wait(struct flows *f, struct flow_ticket *t)
{
    struct flow *flow = t->flow;
    assert(!t->waiting && !list_is_linked(&t->node) && !list_is_linked(&t->age));
    if (!levels[flow->level].queues)
        return refuse_now(f, t, FLOW_NO_SEAT);
    if (flow->n_queue >= FLOW_QUEUE_MAX || !make_room(f, flow))
        return refuse_now(f, t, FLOW_QUEUE_FULL);
    t->waiting = true;
    t->since_ms = loop_now_ms(f->loop);
    list_push_back(&flow->queue, &t->node);
    list_push_back(&f->waiting, &t->age);
    if (flow->n_queue++ == 0)
        list_push_back(&f->level[flow->level].flows, &flow->node);
    f->level[flow->level].waiting++;
    f->schema[t->schema - 1].waiting++;
    arm_timer(f);
    return FLOW_WAIT;
}

/* ------------------------------------------------------------------ interface */

void flows_init(struct flows *f, struct loop *loop, void (*run)(struct flow_ticket *t),
                void (*refuse)(struct flow_ticket *t))
{
    *f = (struct flows){ .loop = loop, .run = run, .refuse = refuse };
    list_init(&f->waiting);
    list_init(&f->refused);
    for (size_t i = 0; i < FLOW_LEVELS; i++)
        list_init(&f->level[i].flows);
}

void flows_fini(struct flows *f)
{
    assert(f->known.n == 0 && f->in_use == 0);
    assert(list_is_empty(&f->waiting) && list_is_empty(&f->refused));
    timer_stop(f->loop, &f->timer);
    defer_cancel(&f->turn);
    map_fini(&f->known);
}

/* The cost of a request. Upstream uses the number of objects, which is not tracked here. */
static uint8_t seats_of(const struct flow_question *q)
{
    return q->resource.n && (str_is(q->verb, "list") || str_is(q->verb, "watch")) ? FLOW_LIST_SEATS
                                                                                  : 1;
}

enum flow_answer flow_enter(struct flows *f, struct flow_ticket *t, const struct flow_question *q)
{
    assert(!t->schema && !t->flow && !list_is_linked(&t->node));
    size_t schema = schema_of(q);
    enum flow_level l = schemas[schema].level;
    t->schema = (uint8_t)(schema + 1);
    t->seats = seats_of(q);
    if (l != FLOW_EXEMPT) {
        t->flow = flow_of(f, schema, q);
        if (f->level[l].waiting || !has_seat(f, l))
            return wait(f, t);
    }
    sit(f, t);
    return FLOW_RUN;
}

void flow_leave(struct flows *f, struct flow_ticket *t)
{
    if (!t->schema) {
        list_remove(&t->node); /* it may be in the list of refused tickets */
        return;
    }
    struct flow *flow = t->flow;
    size_t schema = t->schema - 1u;
    if (t->waiting) {
        leave_queue(f, t);
    } else {
        enum flow_level l = schemas[schema].level;
        assert(f->schema[schema].executing > 0 && f->schema[schema].seats >= t->seats);
        assert(f->level[l].in_use >= t->seats);
        f->schema[schema].executing--;
        f->schema[schema].seats -= t->seats;
        f->level[l].in_use -= t->seats;
        if (flow) {
            assert(flow->in_use >= t->seats && f->in_use >= t->seats);
            flow->in_use -= t->seats;
            f->in_use -= t->seats;
            if (!list_is_empty(&f->waiting))
                defer_start(f->loop, &f->turn, on_turn);
        }
    }
    *t = (struct flow_ticket){ 0 };
    if (flow)
        drop_if_unused(f, flow);
}

/* ------------------------------------------------------------------ metrics */

static void write_head(struct buf *to, const char *name, const char *type, const char *help)
{
    (void)buf_printf(to, "# HELP apiserver_flowcontrol_%s %s\n# TYPE apiserver_flowcontrol_%s %s\n",
                     name, help, name, type);
}

static void write_schema(struct buf *to, const char *name, size_t i, const char *reason, uint64_t v)
{
    (void)buf_printf(
        to, "apiserver_flowcontrol_%s{flow_schema=\"%s\",priority_level=\"%s\"%s%s%s} %llu\n", name,
        schemas[i].name, levels[schemas[i].level].name, reason ? ",reason=\"" : "",
        reason ? reason : "", reason ? "\"" : "", (unsigned long long)v);
}

static uint64_t value_of(const struct flows *f, size_t schema, size_t kind)
{
    const uint64_t values[] = { f->schema[schema].executing, f->schema[schema].waiting,
                                f->schema[schema].seats, f->schema[schema].dispatched };
    return values[kind];
}

void flow_metrics(const struct flows *f, struct buf *to)
{
    static const struct {
        const char *name, *type, *help;
    } kinds[] = {
        { "current_executing_requests", "gauge", "Requests that run, watches while they begin." },
        { "current_inqueue_requests", "gauge", "Requests that wait in queues." },
        { "current_executing_seats", "gauge", "Seats that they take; a list takes several." },
        { "dispatched_requests_total", "counter", "Requests that were let run." },
    };
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        write_head(to, kinds[k].name, kinds[k].type, kinds[k].help);
        for (size_t i = 0; i < FLOW_SCHEMAS; i++)
            write_schema(to, kinds[k].name, i, NULL, value_of(f, i, k));
    }
    write_head(to, "rejected_requests_total", "counter", "Requests that were refused.");
    for (size_t i = 0; i < FLOW_SCHEMAS; i++)
        for (size_t why = 0; why < FLOW_REASONS; why++)
            if (f->schema[i].refused[why])
                write_schema(to, "rejected_requests_total", i, reasons[why],
                             f->schema[i].refused[why]);
    write_head(to, "nominal_limit_seats", "gauge", "Seats of a level of its own.");
    for (enum flow_level l = 0; l < FLOW_LEVELS; l++)
        (void)buf_printf(to,
                         "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"%s\"} %u\n",
                         levels[l].name, nominal(l));
}
