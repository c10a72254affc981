/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: where they wait, how they are sent, messages of runners about them; see template.h. */
#include "guest/template_impl.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>

enum { LOOKS_MAX = 64 }; /* lines without room in a row, before a pump gives up */

static const struct sm_state job_table[] = {
    [GUEST_JOB_IDLE] = { "idle",
                         EDGE(GUEST_JOB_HELD) | EDGE(GUEST_JOB_WAITING) | EDGE(GUEST_JOB_SENT) },
    [GUEST_JOB_HELD] = { "held", EDGE(GUEST_JOB_WAITING) | EDGE(GUEST_JOB_IDLE) },
    [GUEST_JOB_WAITING] = { "waiting",
                            EDGE(GUEST_JOB_SENT) | EDGE(GUEST_JOB_HELD) | EDGE(GUEST_JOB_IDLE) },
    [GUEST_JOB_SENT] = { "sent",
                         EDGE(GUEST_JOB_RUNNING) | EDGE(GUEST_JOB_WAITING) | EDGE(GUEST_JOB_IDLE) },
    [GUEST_JOB_RUNNING] = { "running", EDGE(GUEST_JOB_IDLE) },
};

static bool has_seat(enum guest_job_state state)
{
    return state == GUEST_JOB_SENT || state == GUEST_JOB_RUNNING;
}

static bool is_in_line(enum guest_job_state state)
{
    return state == GUEST_JOB_HELD || state == GUEST_JOB_WAITING;
}

/* The only place that changes the state. */
static void move(struct guest_job *j, enum guest_job_state to)
{
    struct guest_templates *all = j->program->all;
    assert(job_table[j->state].next & EDGE(to));
    assert(has_seat(to) == (j->seat != NULL));
    assert(is_in_line(to) == list_is_linked(&j->node));
    all->n_running += (unsigned)has_seat(to) - (unsigned)has_seat(j->state);
    all->n_waiting += (unsigned)is_in_line(to) - (unsigned)is_in_line(j->state);
    j->state = to;
    if (to == GUEST_JOB_IDLE)
        j->program = NULL;
}

/* ---- lines ---- */

/* The job stays HELD or WAITING until move(). */
static void take_out_of_line(struct guest_job *j)
{
    struct guest_program *p = j->program;
    assert(is_in_line(j->state));
    list_remove(&j->node);
    if (j->state == GUEST_JOB_HELD)
        return;
    assert(p->n_waiting > 0);
    p->n_waiting--;
    if (list_is_empty(&p->waiting))
        list_remove(&p->line);
}

static void line_up(struct guest_job *j, bool is_first)
{
    struct guest_program *p = j->program;
    if (is_first)
        list_push_front(&p->waiting, &j->node);
    else
        list_push_back(&p->waiting, &j->node);
    if (!list_is_linked(&p->line))
        list_push_back(&p->all->lines, &p->line);
    p->n_waiting++;
    move(j, GUEST_JOB_WAITING);
}

static void send_job(struct guest_job *j, struct guest_seat *seat)
{
    static struct proto_run run; /* static because it is large; filled for each command */
    assert(!seat->job && seat->turn == GUEST_TURN_NONE);
    j->seat = seat;
    seat->job = j;
    seat->next_id = 0;
    move(j, GUEST_JOB_SENT);
    j->program->all->ops->fill_job(j, &run);
    run.guest = seat->serial;
    run.template_slot = seat->template->seat.tenant.slot;
    run.skipped_ms = clock_skipped_ms();
    pool_send(&seat->tenant, &run, -1, run.activation_ms);
}

static void hold(struct guest_job *j)
{
    struct guest_program *p = j->program;
    list_push_back(&p->held, &j->node);
    move(j, GUEST_JOB_HELD);
    if (!guest_program_has_template(p) && !list_is_linked(&p->node))
        guest_program_need_template(p); /* it was idle for long, or its runner has ended */
}

/* -EAGAIN: no room; the job is as before. Otherwise it was sent or is held. */
static int try_send(struct guest_job *j)
{
    struct guest_seat *seat;
    int r = guest_seat_get(j->program, &seat);
    if (r == -EAGAIN)
        return r;
    if (j->state == GUEST_JOB_WAITING)
        take_out_of_line(j);
    if (r == 0) {
        send_job(j, seat);
        return 0;
    }
    assert(r == -ENOENT);
    hold(j);
    return 0;
}

/*
 * Start one job of each line in turn. A line whose runner has no room does not stop the others: it
 * moves to the end.
 */
void guest_job_pump(struct guest_templates *all)
{
    const struct guest_program *first_stuck = NULL;
    for (unsigned n_stuck = 0; !list_is_empty(&all->lines) && n_stuck < LOOKS_MAX;) {
        struct guest_program *p = list_first(&all->lines, struct guest_program, line);
        assert(!list_is_empty(&p->waiting));
        if (p == first_stuck)
            return;
        bool is_stuck = try_send(list_first(&p->waiting, struct guest_job, node)) == -EAGAIN;
        if (list_is_linked(&p->line)) {
            list_remove(&p->line);
            list_push_back(&all->lines, &p->line);
        }
        n_stuck = is_stuck ? n_stuck + 1 : 0;
        first_stuck = !is_stuck ? NULL : first_stuck ? first_stuck : p;
    }
}

static void on_pump(struct defer *d)
{
    guest_job_pump(container_of(d, struct guest_templates, pump));
}

void guest_program_release_held(struct guest_program *p)
{
    while (!list_is_empty(&p->held)) {
        struct guest_job *j = list_first(&p->held, struct guest_job, node);
        take_out_of_line(j);
        line_up(j, false);
    }
    guest_job_pump(p->all);
}

struct guest_job *guest_program_first_held(const struct guest_program *p)
{
    return list_is_empty(&p->held) ? NULL : list_first(&p->held, struct guest_job, node);
}

bool guest_program_is_full(const struct guest_program *p)
{
    return p->all->n_waiting >= GUEST_JOBS_WAITING_MAX ||
           p->n_waiting >= GUEST_JOBS_WAITING_MAX / 2;
}

void guest_job_start(struct guest_job *j, struct guest_program *p)
{
    struct guest_templates *all = p->all;
    assert(j->state == GUEST_JOB_IDLE && !p->is_stopped);
    j->program = p;
    j->cpu_us = 0;
    if (list_is_empty(&all->lines)) {
        if (try_send(j) == -EAGAIN)
            line_up(j, false);
        return;
    }
    line_up(j, false); /* others were first */
    defer_start(all->loop, &all->pump, on_pump);
}

/* Its seat is the caller's now. */
static struct guest_seat *detach(struct guest_job *j)
{
    struct guest_seat *seat = j->seat;
    assert(seat && seat->job == j);
    j->seat = NULL;
    seat->job = NULL;
    move(j, GUEST_JOB_IDLE);
    return seat;
}

void guest_job_leave(struct guest_job *j)
{
    struct guest_program *p = j->program;
    if (is_in_line(j->state)) {
        take_out_of_line(j);
        move(j, GUEST_JOB_IDLE);
    } else if (has_seat(j->state)) {
        guest_seat_drop(detach(j));
        if (j->cpu_us)
            guest_program_note_cost(p, j->cpu_us);
    }
}

/* ---- messages of runners ---- */

static struct guest_seat *seat_of(struct tenant *t)
{
    return container_of(t, struct guest_seat, tenant);
}

/* Something of it was done: it cannot be sent again. */
static void note_begun(struct guest_job *j, uint32_t cpu_us)
{
    if (j->state == GUEST_JOB_SENT)
        move(j, GUEST_JOB_RUNNING);
    assert(j->state == GUEST_JOB_RUNNING);
    j->cpu_us += cpu_us;
}

static int on_answer(struct tenant *t, const struct proto_answer *a, struct err *err)
{
    struct guest_seat *seat = seat_of(t);
    struct guest_program *p = seat->program;
    struct guest_templates *all = p->all;
    struct guest_job *j = seat->job;
    int r = all->ops->check(seat, a->n_notes, a->notes, true, NULL, err);
    if (r < 0)
        return r;
    if (a->n_ops || a->n_logs || (a->flags != ANSWER_DONE && a->flags != ANSWER_TRAPPED))
        return err_set(err, E_INVALID, "an answer that no guest of a template gives");
    if (!j) {
        (void)all->ops->on_notes(seat, a->n_notes, a->notes, a->logs_left_out);
        return guest_template_on_answer(seat, a, err);
    }
    note_begun(j, a->cpu_us);
    all->cpu_us += j->cpu_us;
    guest_seat_put(detach(j));
    guest_program_note_cost(p, j->cpu_us);
    all->ops->on_answer(j, a);
    return 0;
}

static void on_slice(struct guest_seat *seat)
{
    struct guest_job *j = seat->job;
    if (!j) {
        guest_seat_reply(seat, 0, STR(""));
        return;
    }
    guest_turn_wait(seat);
    guest_program_note_slice(j->program, j->cpu_us);
}

static int on_call(struct tenant *t, const struct proto_call *c, bool is_call, struct err *err)
{
    struct guest_seat *seat = seat_of(t);
    const struct guest_template_ops *ops = seat->program->all->ops;
    bool is_slice = is_call && c->kind == (uint32_t)PROTO_CALL_SLICE;
    const struct proto_call *call = is_call && !is_slice ? c : NULL;
    if (is_call && c->id != seat->next_id)
        return err_set(err, E_INVALID, "a call out of order");
    int r = ops->check(seat, c->n_notes, c->notes, false, call, err);
    if (r < 0)
        return r;
    if (is_call) {
        seat->next_id++;
        seat->call_id = c->id;
    }
    if (seat->job)
        note_begun(seat->job, c->cpu_us);
    if (call)
        guest_turn_end(seat);
    if (!ops->on_notes(seat, c->n_notes, c->notes, c->logs_left_out))
        return 0;
    if (is_slice)
        on_slice(seat);
    else
        ops->on_call(seat, call);
    return 0;
}

static void on_lost(struct tenant *t, enum tenant_lost how, const struct err *why)
{
    struct guest_seat *seat = seat_of(t);
    struct guest_job *j = seat->job;
    if (guest_seat_is_template(seat)) {
        guest_template_on_lost(seat, how, why);
        return;
    }
    bool is_begun = !j || j->state != GUEST_JOB_SENT || !pool_is_unbegun(how);
    if (!is_begun) { /* to the front of the line */
        j->seat = NULL;
        seat->job = NULL;
        line_up(j, true);
    } else if (j) {
        (void)detach(j);
    }
    const struct guest_template_ops *ops = seat->program->all->ops;
    guest_seat_lost(seat);
    if (j && is_begun)
        ops->on_lost(j, why);
}

static void on_room(void *arg)
{
    struct guest_templates *all = arg;
    struct list wanted;
    list_move_all(&all->wanted, &wanted);
    while (!list_is_empty(&wanted))
        guest_program_need_template(
            list_entry(list_pop_front(&wanted), struct guest_program, node));
    guest_job_pump(all);
}

const struct runner_class_ops guest_template_class_ops = {
    .on_answer = on_answer, .on_call = on_call, .on_lost = on_lost, .on_room = on_room
};

void guest_seat_reply(struct guest_seat *seat, int64_t value, struct str bytes)
{
    pool_reply(&seat->tenant, seat->call_id, value, bytes);
}
