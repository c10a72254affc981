/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is outstanding at the host, and timers.
 *
 * A delay cannot be taken back and wakes the guest when it ends, so all timers share as few delays
 * as possible: one is started only when the earliest timer comes before every delay under way.
 */
#include "dm/host.h"

#include "dm/mem.h"

#define N_CHAINS 8u

static struct dm_op *chains[N_CHAINS]; /* by id; few operations are under way at a time */

void dm_op_add(struct dm_op *op, uint64_t id)
{
    struct dm_op **chain = &chains[id % N_CHAINS];
    op->id = id;
    op->status = 0;
    op->next = *chain;
    *chain = op;
}

static struct dm_op **find(uint64_t id)
{
    struct dm_op **p = &chains[id % N_CHAINS];
    while (*p && (*p)->id != id)
        p = &(*p)->next;
    return p;
}

#define UNDECODED                                                                                  \
    600 /* a status of its own, so that a head which made no sense still counts as one */

bool dm_lacks_head(uint64_t id)
{
    const struct dm_op *op = *find(id);
    return op && !op->status;
}

void dm_on_head(uint64_t id, int status)
{
    struct dm_op *op = *find(id);
    if (!op)
        return;
    op->status = status ? status : UNDECODED;
    op->fn(op, DM_OP_HEAD, NULL, 0);
}

void dm_on_data(uint64_t id, const char *p, size_t n)
{
    struct dm_op *op = *find(id);
    if (op)
        op->fn(op, DM_OP_DATA, p, n);
}

void dm_on_end(uint64_t id, const char *p, size_t n)
{
    struct dm_op **at = find(id), *op = *at;
    if (!op)
        return;
    *at = op->next;
    op->fn(op, DM_OP_END, p, n);
}

/* ---- unary requests ---- */

struct call {
    struct dm_op op;
    dm_reply_cb cb;
    void *arg;
};

static void on_call(struct dm_op *op, enum dm_op_event ev, const char *p, size_t n)
{
    if (ev != DM_OP_END)
        return;
    struct call call = *(struct call *)op;
    dm_free(op);
    call.cb(call.arg, call.op.status, p ? p : "", p ? n : 0);
}

void dm_http(const struct dm_request *r, dm_reply_cb cb, void *arg)
{
    struct call *c = dm_zalloc(sizeof(*c));
    c->op.fn = on_call;
    c->cb = cb;
    c->arg = arg;
    dm_op_add(&c->op, dm_host_request(r, false));
}

/* ---- timers ---- */

struct delay {
    struct dm_op op;
    struct delay *next;
    uint64_t due_ms;
};

static struct dm_timer *timers; /* earliest first */
static struct delay *delays;    /* under way */
static uint64_t time_floor_ms;  /* a delay that has ended proves that this much time has passed */

uint64_t dm_now_ms(void)
{
    uint64_t now = dm_host_now_ms();
    return now > time_floor_ms ? now : time_floor_ms;
}

void dm_timer_clear(struct dm_timer *t)
{
    if (!t->is_set)
        return;
    struct dm_timer **p = &timers;
    while (*p != t)
        p = &(*p)->next;
    *p = t->next;
    t->is_set = false;
}

void dm_timer_set(struct dm_timer *t, uint64_t after_ms, void (*fn)(void *arg), void *arg)
{
    dm_timer_clear(t);
    *t =
        (struct dm_timer){ .due_ms = dm_now_ms() + after_ms, .fn = fn, .arg = arg, .is_set = true };
    struct dm_timer **p = &timers;
    while (*p && (*p)->due_ms <= t->due_ms)
        p = &(*p)->next;
    t->next = *p;
    *p = t;
}

static bool run_timers(void)
{
    if (!timers)
        return false;
    uint64_t now = dm_now_ms();
    bool ran = false;
    while (timers && timers->due_ms <= now) {
        struct dm_timer *t = timers;
        timers = t->next;
        t->is_set = false;
        t->fn(t->arg);
        ran = true;
    }
    return ran;
}

static void on_delay(struct dm_op *op, enum dm_op_event ev, const char *p, size_t n)
{
    (void)ev, (void)p, (void)n;
    struct delay *d = (struct delay *)op, **at = &delays;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    if (d->due_ms > time_floor_ms)
        time_floor_ms = d->due_ms;
    dm_free(d);
}

static void arm(void)
{
    if (!timers)
        return;
    for (const struct delay *d = delays; d; d = d->next)
        if (d->due_ms <= timers->due_ms)
            return;
    uint64_t now = dm_now_ms();
    struct delay *d = dm_zalloc(sizeof(*d));
    d->op.fn = on_delay;
    d->due_ms = timers->due_ms;
    d->next = delays;
    delays = d;
    dm_op_add(&d->op, dm_host_delay(d->due_ms > now ? d->due_ms - now : 0));
}

/* ---- after every event ---- */

#define ROUNDS_MAX                                                                                 \
    1000 /* a timer that sets itself to 0 ms must not keep the guest running for ever */

static struct dm_settler *settlers;

void dm_settler_add(struct dm_settler *s)
{
    s->next = settlers;
    settlers = s;
}

void dm_settle(void)
{
    bool busy = true;
    for (int round = 0; busy && round < ROUNDS_MAX; round++) {
        busy = run_timers();
        for (struct dm_settler *s = settlers; s; s = s->next)
            busy |= s->fn(s->arg);
    }
    arm();
}

int dm_start(void)
{
    int r = dm_main();
    dm_settle();
    return r;
}
