/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of one container; see probe.h.
 *
 *     GATED (startup has not succeeded) -> WAITING (timer) -> QUEUED (slot) -> RUNNING -> WAITING
 *                                                                                 |
 *                                                                                 +-----> OVER
 */
#include "agent/probe/probe_tally.h"
#include "agent/probe/prober.h"
#include "base/mem.h"
#include "base/sm.h"

#include <assert.h>

enum probe_at { PROBE_GATED, PROBE_WAITING, PROBE_QUEUED, PROBE_RUNNING, PROBE_OVER };

static const struct sm_state probe_table[] = {
    [PROBE_GATED] = { "gated", EDGE(PROBE_WAITING) | EDGE(PROBE_OVER) },
    [PROBE_WAITING] = { "waiting", EDGE(PROBE_QUEUED) | EDGE(PROBE_OVER) },
    [PROBE_QUEUED] = { "queued", EDGE(PROBE_RUNNING) | EDGE(PROBE_OVER) },
    [PROBE_RUNNING] = { "running", EDGE(PROBE_WAITING) | EDGE(PROBE_QUEUED) | EDGE(PROBE_OVER) },
    [PROBE_OVER] = { "over", 0 },
};

struct container_probe {
    struct container_probes *of;
    struct probe_spec spec; /* its strings belong to the arena of the container */
    struct probe_rules rules;
    struct probe_tally tally;
    struct sm sm;
    struct timer timer;
    struct prober_slot slot;
    struct prober_attempt *attempt;
    uint64_t due_ms;
    unsigned tries; /* attempts that could not be made, in a row */
};

struct container_probes {
    struct probers *p;
    struct arena arena;
    struct container_probe *probes[PROBE_KINDS];
    struct str address;
    void *container;
    uint64_t started_ms;
    bool is_adopted, was_ready;
    bool is_started;
    void (*on_result)(void *arg, const struct probe_report *report);
    void *arg;
};

static void wait_until(struct container_probe *pr, uint64_t due_ms);

/* ---------------------------------------------------------------- attempts */

static void end_probe(struct container_probe *pr)
{
    struct probers *p = pr->of->p;
    if (pr->sm.at == PROBE_OVER)
        return;
    sm_move(&pr->sm, PROBE_OVER);
    timer_stop(p->env.loop, &pr->timer);
    if (pr->attempt)
        prober_attempt_cancel(take_ptr(&pr->attempt));
    prober_release(p, &pr->slot);
}

static uint64_t first_due(const struct container_probe *pr)
{
    const struct container_probes *c = pr->of;
    uint64_t now = loop_now_ms(c->p->env.loop);
    uint64_t due = MAX(c->started_ms + (uint64_t)pr->spec.initial_delay_s * 1000, now);
    if (c->is_adopted)
        due += (uint64_t)(rng_unit(&c->p->random) * (double)pr->rules.period_ms);
    return due;
}

static void open_gate(struct container_probes *c)
{
    c->is_started = true;
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        struct container_probe *pr = c->probes[kind];
        if (pr && pr->sm.at == PROBE_GATED)
            wait_until(pr, first_due(pr));
    }
}

static bool has_failed(const struct container_probe *pr)
{
    return pr->tally.is_over && !pr->tally.value;
}

/* May free everything. */
static void report(struct container_probe *pr, enum probe_outcome outcome, bool has_changed,
                   struct str message)
{
    struct container_probes *c = pr->of;
    bool is_bad = outcome == PROBE_FAILURE || outcome == PROBE_UNKNOWN;
    uint64_t now = loop_now_ms(c->p->env.loop);
    if (outcome == PROBE_SUCCESS && !has_changed)
        return;
    if (is_bad && !has_changed && !has_failed(pr) &&
        !probe_tally_reports(&pr->tally, &pr->rules, now))
        return;
    c->on_result(c->arg, &(struct probe_report){ .kind = pr->rules.kind,
                                                 .outcome = outcome,
                                                 .has_changed = has_changed,
                                                 .value = pr->tally.value,
                                                 .must_end = has_failed(pr),
                                                 .grace_s = pr->spec.grace_s,
                                                 .message = message });
}

static void run(struct prober_slot *s);

/* It could not be made: at once again, then at the next period. */
static bool tries_again(struct container_probe *pr, enum probe_outcome outcome)
{
    if (outcome != PROBE_UNKNOWN || ++pr->tries >= PROBE_TRIES) {
        pr->tries = 0;
        return false;
    }
    sm_move(&pr->sm, PROBE_QUEUED);
    prober_request(pr->of->p, &pr->slot, run);
    return true;
}

static void on_attempt(void *arg, enum probe_outcome outcome, struct str message)
{
    struct container_probe *pr = arg;
    struct container_probes *c = pr->of;
    assert(pr->sm.at == PROBE_RUNNING);
    pr->attempt = NULL;
    prober_release(c->p, &pr->slot);
    if (tries_again(pr, outcome))
        return;
    bool has_changed = probe_tally_add(&pr->tally, &pr->rules, outcome);
    if (pr->tally.is_over)
        sm_move(&pr->sm, PROBE_OVER);
    else
        wait_until(pr,
                   probe_next_ms(&pr->tally, &pr->rules, pr->due_ms, loop_now_ms(c->p->env.loop)));
    if (has_failed(pr)) /* the container is about to end */
        for (int kind = 0; kind < PROBE_KINDS; kind++)
            if (kind != PROBE_READINESS && c->probes[kind])
                end_probe(c->probes[kind]);
    if (pr->rules.kind == PROBE_STARTUP && pr->tally.value)
        open_gate(c);
    report(pr, outcome, has_changed, message);
}

static void run(struct prober_slot *s)
{
    struct container_probe *pr = container_of(s, struct container_probe, slot);
    struct container_probes *c = pr->of;
    sm_move(&pr->sm, PROBE_RUNNING);
    pr->attempt =
        prober_attempt_start(&c->p->env, &pr->spec, c->address, c->container, on_attempt, pr);
}

static void on_due(struct timer *t)
{
    struct container_probe *pr = container_of(t, struct container_probe, timer);
    sm_move(&pr->sm, PROBE_QUEUED);
    prober_request(pr->of->p, &pr->slot, run);
}

static void wait_until(struct container_probe *pr, uint64_t due_ms)
{
    struct loop *loop = pr->of->p->env.loop;
    uint64_t now = loop_now_ms(loop);
    sm_move(&pr->sm, PROBE_WAITING);
    pr->due_ms = due_ms;
    timer_start(loop, &pr->timer, due_ms > now ? due_ms - now : 0, on_due);
}

/* ---------------------------------------------------------------- a container */

void probe_spec_copy(struct arena *a, const struct probe_spec *from, struct probe_spec *to)
{
    *to = *from;
    struct str *command = arena_new_n(a, struct str, from->n_command);
    struct probe_header *headers = arena_new_n(a, struct probe_header, from->n_headers);
    for (size_t i = 0; i < from->n_command; i++)
        command[i] = str_copy_arena(a, from->command[i]);
    for (size_t i = 0; i < from->n_headers; i++)
        headers[i] = (struct probe_header){ str_copy_arena(a, from->headers[i].name),
                                            str_copy_arena(a, from->headers[i].value) };
    to->command = command;
    to->headers = headers;
    to->host = str_copy_arena(a, from->host);
    to->path = str_copy_arena(a, from->path);
    to->service = str_copy_arena(a, from->service);
}

static void add_probe(struct container_probes *c, enum probe_kind kind,
                      const struct probe_spec *spec)
{
    struct container_probe *pr = arena_new(&c->arena, struct container_probe);
    assert(spec->period_s && spec->timeout_s && spec->success_threshold && spec->failure_threshold);
    pr->of = c;
    probe_spec_copy(&c->arena, spec, &pr->spec);
    pr->spec.n_headers = MIN(spec->n_headers, (size_t)PROBE_HEADERS_MAX);
    pr->rules = (struct probe_rules){ .kind = kind,
                                      .success_threshold = spec->success_threshold,
                                      .failure_threshold = spec->failure_threshold,
                                      .period_ms = (uint64_t)spec->period_s * 1000,
                                      .is_cheap = spec->method != PROBE_EXEC };
    probe_tally_init(&pr->tally, kind);
    if (kind == PROBE_READINESS && c->is_adopted && c->was_ready)
        pr->tally.value = pr->tally.was_true = true;
    sm_init(&pr->sm, probe_table, PROBE_GATED);
    c->probes[kind] = pr;
}

struct container_probes *container_probes_start(struct probers *p,
                                                const struct container_probes_opts *o)
{
    struct container_probes *c = xnew(struct container_probes);
    p->n_containers++;
    c->arena.block_bytes = 1024;
    c->p = p;
    c->address = str_copy_arena(&c->arena, o->address);
    c->container = o->container;
    c->started_ms = o->started_ms;
    c->is_adopted = o->is_adopted;
    c->was_ready = o->was_ready;
    c->on_result = o->on_result;
    c->arg = o->arg;
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        if (o->specs[kind])
            add_probe(c, (enum probe_kind)kind, o->specs[kind]);
    struct container_probe *startup = c->probes[PROBE_STARTUP];
    if (startup && o->is_adopted && o->was_started) {
        startup->tally.value = startup->tally.is_over = true;
        sm_move(&startup->sm, PROBE_OVER);
        startup = NULL;
    }
    if (startup)
        wait_until(startup, first_due(startup));
    else
        open_gate(c);
    return c;
}

void container_probes_close(struct container_probes *c)
{
    struct probers *p = c->p;
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        if (c->probes[kind])
            end_probe(c->probes[kind]);
    assert(p->n_containers > 0);
    p->n_containers--;
    arena_fini(&c->arena);
    free(c);
}

void container_probes_end_liveness(struct container_probes *c)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        if (kind != PROBE_READINESS && c->probes[kind])
            end_probe(c->probes[kind]);
}

bool container_probes_is_started(const struct container_probes *c)
{
    return c->is_started;
}

bool container_probes_is_ready(const struct container_probes *c)
{
    const struct container_probe *readiness = c->probes[PROBE_READINESS];
    return c->is_started && (!readiness || readiness->tally.value);
}
