/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of programs in runners, and the seats beside them; see template.h. */
#include "guest/template_impl.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

static const struct sm_state template_table[] = {
    [GUEST_TEMPLATE_MAKING] = { "making",
                                EDGE(GUEST_TEMPLATE_READY) | EDGE(GUEST_TEMPLATE_RETIRED) },
    [GUEST_TEMPLATE_READY] = { "ready", EDGE(GUEST_TEMPLATE_RETIRED) },
    [GUEST_TEMPLATE_RETIRED] = { "retired", 0 },
};

/* ---- life ---- */

static void on_tidy(struct timer *timer);

static void schedule_tidy(struct guest_templates *all)
{
    if (!list_is_empty(&all->wide) && !timer_is_armed(&all->tidy))
        timer_start(all->loop, &all->tidy, GUEST_TEMPLATE_TIDY_MS, on_tidy);
}

static void count_templates(struct guest_program *p, int more)
{
    struct guest_templates *all = p->all;
    assert(more > 0 || (p->n_templates > 0 && all->n_templates > 0));
    p->n_templates += (unsigned)more;
    all->n_templates += (unsigned)more;
    bool is_wide = p->n_templates > 1;
    if (is_wide && !list_is_linked(&p->wide))
        list_push_back(&all->wide, &p->wide);
    else if (!is_wide)
        list_remove(&p->wide);
    schedule_tidy(all);
}

static void template_free(struct guest_template *t)
{
    assert(t->n_seats == 0 && t->n_busy == 0 && t->n_free == 0);
    assert(!t->share && t->n_computing == 0 && list_is_empty(&t->sliced));
    assert(!list_is_linked(&t->used));
    list_remove(&t->node);
    count_templates(t->program, -1);
    pool_drop(&t->seat.tenant);
    free(t);
}

/* Its place in the runner is free, or lost. */
static void seat_free(struct guest_seat *seat)
{
    struct guest_template *t = seat->template;
    assert(!seat->tenant.runner && seat->turn == GUEST_TURN_NONE && t->n_seats > 0);
    list_remove(&seat->node);
    t->n_seats--;
    assert(t->n_seats == t->n_busy + t->n_free);
    free(seat);
}

static void drop_free_seat(struct guest_seat *seat)
{
    assert(!seat->job && seat->template->n_free > 0);
    seat->template->n_free--;
    pool_drop(&seat->tenant);
    seat_free(seat);
}

static void free_if_done(struct guest_template *t)
{
    if (t->sm.at != GUEST_TEMPLATE_RETIRED || t->n_busy)
        return;
    while (!list_is_empty(&t->free))
        drop_free_seat(list_first(&t->free, struct guest_seat, node));
    template_free(t);
}

static bool takes_jobs(const struct guest_template *t)
{
    return t->sm.at != GUEST_TEMPLATE_RETIRED;
}

/* It gets no jobs any more, and is freed with the last one. */
static void retire(struct guest_template *t)
{
    if (t->sm.at == GUEST_TEMPLATE_RETIRED)
        return;
    assert(t->sm.at == GUEST_TEMPLATE_READY || t->n_seats == 0);
    sm_move(&t->sm, GUEST_TEMPLATE_RETIRED);
    list_remove(&t->used);
    free_if_done(t);
}

static void retire_all(struct guest_program *p)
{
    list_each_safe (node, &p->templates)
        retire(list_entry(node, struct guest_template, node));
}

bool guest_program_has_template(const struct guest_program *p)
{
    list_each (node, &p->templates)
        if (takes_jobs(list_entry(node, struct guest_template, node)))
            return true;
    return false;
}

/*
 * Retire the idle template that was used longest ago, in any runner or in this one. Its program
 * makes another one for its next job.
 */
static bool make_room(struct guest_templates *all, const struct pool_runner *where)
{
    list_each (node, &all->ready) {
        struct guest_template *t = list_entry(node, struct guest_template, used);
        if (t->n_busy || (where && t->seat.tenant.runner != where))
            continue;
        retire(t);
        return true;
    }
    return false;
}

/* ---- making ---- */

static void send_template(struct guest_template *t)
{
    static struct proto_run run; /* static because it is large; filled for each command */
    struct guest_program *p = t->program;
    struct buf setup = BUF_INIT(PROTO_SETUP_MAX);
    p->all->ops->fill_template(p, &run, &setup);
    run.flags = RUN_START | RUN_TEMPLATE;
    run.guest = t->seat.serial;
    run.skipped_ms = clock_skipped_ms();
    run.setup = buf_ok(&setup) ? buf_str(&setup) : PROTO_NO_SETUP;
    pool_send(&t->seat.tenant, &run, -1, run.activation_ms);
    buf_fini(&setup);
}

static bool has_template_there(const struct guest_program *p, const struct guest_template *t)
{
    list_each (node, &p->templates) {
        const struct guest_template *other = list_entry(node, struct guest_template, node);
        if (takes_jobs(other) && other->generation == t->generation &&
            other->seat.tenant.runner == t->seat.tenant.runner)
            return true;
    }
    return false;
}

/* Make another template in a runner that has none. -EAGAIN: there is none with room. */
static int template_new(struct guest_program *p, struct err *err)
{
    struct guest_templates *all = p->all;
    struct guest_template *t = xnew(struct guest_template);
    assert(p->module && !p->is_stopped && !all->done);
    sm_init(&t->sm, template_table, GUEST_TEMPLATE_MAKING);
    t->program = t->seat.program = p;
    t->seat.template = t;
    t->seat.serial = ++all->serial;
    t->seat.tenant.may_park = true;
    t->is_slow = p->is_slow;
    t->generation = p->module->generation;
    t->used_ms = loop_now_ms(all->loop);
    list_init(&t->free);
    list_init(&t->sliced);
    if (all->n_templates >= all->templates_max)
        (void)make_room(all, NULL);
    enum runner_share share = t->is_slow ? RUNNER_SLOW : RUNNER_SHARED;
    int r = pool_place(all->runners, &t->seat.tenant, p->module, share, err);
    if (r == -EAGAIN && make_room(all, NULL))
        r = pool_place(all->runners, &t->seat.tenant, p->module, share, err);
    if (r == 0 && (has_template_there(p, t) || !pool_can_send(&t->seat.tenant))) {
        pool_release(&t->seat.tenant);
        r = err_set(err, -EAGAIN, "no runner has room");
    }
    if (r < 0) {
        free(t);
        return r;
    }
    list_push_back(&p->templates, &t->node);
    count_templates(p, 1);
    send_template(t);
    return 0;
}

/* The second attempt for programs whose template could not be made: its failure is reported. */
static void on_failing(struct defer *d)
{
    struct guest_templates *all = container_of(d, struct guest_templates, report);
    struct list failing;
    list_move_all(&all->failing, &failing);
    while (!list_is_empty(&failing)) {
        struct guest_program *p = list_entry(list_pop_front(&failing), struct guest_program, node);
        struct err err = { 0 };
        int r = template_new(p, &err);
        if (r == -EAGAIN)
            list_push_back(&all->wanted, &p->node);
        else if (r == E_EXPIRED)
            all->ops->on_code_lost(p);
        else if (r < 0)
            all->ops->on_failed(p, &err);
    }
}

void guest_program_need_template(struct guest_program *p)
{
    struct guest_templates *all = p->all;
    int r = template_new(p, NULL);
    list_remove(&p->node);
    if (r == -EAGAIN) {
        list_push_back(&all->wanted, &p->node);
    } else if (r < 0) {
        list_push_back(&all->failing, &p->node);
        defer_start(all->loop, &all->report, on_failing);
    }
}

/* Once its successor can take over. */
static void retire_others(struct guest_program *p, const struct guest_template *t)
{
    list_each_safe (node, &p->templates) {
        struct guest_template *other = list_entry(node, struct guest_template, node);
        if (other != t && (other->is_slow != t->is_slow || other->generation != t->generation))
            retire(other);
    }
}

int guest_template_on_answer(struct guest_seat *seat, const struct proto_answer *a, struct err *err)
{
    struct guest_template *t = seat->template;
    struct guest_program *p = t->program;
    assert(t->sm.at == GUEST_TEMPLATE_MAKING);
    if (a->flags == ANSWER_DONE) {
        sm_move(&t->sm, GUEST_TEMPLATE_READY);
        list_push_back(&p->all->ready, &t->used);
        retire_others(p, t);
        p->all->ops->on_ready(p);
        guest_program_release_held(p);
        return 0;
    }
    if (a->flags != ANSWER_TRAPPED || a->code >= 0)
        return err_set(err, E_INVALID, "an answer without a result");
    struct err why = { 0 };
    (void)err_set(&why, a->code, "initialisation: " STR_FMT, STR_ARG(a->text));
    pool_release(&seat->tenant);
    retire(t);
    p->all->ops->on_failed(p, &why);
    return 0;
}

void guest_template_on_lost(struct guest_seat *seat, enum tenant_lost how, const struct err *why)
{
    struct guest_template *t = seat->template;
    struct guest_program *p = t->program;
    if (t->sm.at == GUEST_TEMPLATE_RETIRED) {
        free_if_done(t);
        return;
    }
    bool was_making = t->sm.at == GUEST_TEMPLATE_MAKING;
    retire(t);
    struct err err = { 0 };
    if (was_making && how == LOST_RUNNING) {
        (void)err_set(&err, E_TRAP, "initialisation: %s", err_text(why));
        p->all->ops->on_failed(p, &err);
    } else {
        guest_program_need_template(p);
    }
}

/* ---- seats ---- */

/* The template for the next job: the first one as long as its runner keeps up. */
static struct guest_template *choose(const struct guest_program *p, bool *ret_any)
{
    struct guest_template *best = NULL;
    *ret_any = false;
    list_each (node, &p->templates) {
        struct guest_template *t = list_entry(node, struct guest_template, node);
        if (t->sm.at != GUEST_TEMPLATE_READY)
            continue;
        *ret_any = true;
        if (!pool_can_send(&t->seat.tenant))
            continue;
        unsigned depth = pool_depth(&t->seat.tenant);
        if (depth < RUNNER_COMMANDS_DEEP)
            return t;
        if (!best || depth < pool_depth(&best->seat.tenant))
            best = t;
    }
    return best;
}

/* The runners that it has do not keep up: make a further template, if there can be one. */
static void grow(struct guest_program *p)
{
    uint64_t now = loop_now_ms(p->all->loop);
    if (p->n_templates >= p->all->max_runners || p->is_slow ||
        now - p->grow_ms < GUEST_TEMPLATE_GROW_MS || list_is_empty(&p->templates))
        return;
    p->grow_ms = now;
    const struct guest_template *first = list_first(&p->templates, struct guest_template, node);
    if (first->sm.at == GUEST_TEMPLATE_READY && pool_is_deep(&first->seat.tenant))
        (void)template_new(p, NULL);
}

/* The module was optimized. The old template takes jobs until the new one is ready. */
static void renew(struct guest_program *p)
{
    uint64_t now = loop_now_ms(p->all->loop);
    uint32_t generation = p->module->generation;
    if (now - p->grow_ms < GUEST_TEMPLATE_GROW_MS || generation == p->lost_generation)
        return;
    list_each (node, &p->templates)
        if (list_entry(node, struct guest_template, node)->generation == generation)
            return;
    p->grow_ms = now;
    /* Its code was removed meanwhile. The old template works, and its successor compiles the module
     * again. */
    if (template_new(p, NULL) == E_EXPIRED)
        p->lost_generation = generation;
}

static int seat_new(struct guest_template *t, struct guest_seat **ret)
{
    struct guest_seat *seat = xnew(struct guest_seat);
    seat->tenant.may_park = true;
    int r = pool_place_beside(&seat->tenant, &t->seat.tenant, NULL);
    if (r == -EAGAIN && make_room(t->program->all, t->seat.tenant.runner))
        r = pool_place_beside(&seat->tenant, &t->seat.tenant, NULL);
    if (r < 0) {
        free(seat);
        return r;
    }
    seat->template = t;
    seat->program = t->program;
    seat->serial = ++t->program->all->serial;
    t->n_seats++;
    *ret = seat;
    return 0;
}

static int seat_of(struct guest_template *t, struct guest_seat **ret)
{
    if (list_is_empty(&t->free))
        return seat_new(t, ret);
    *ret = list_entry(list_pop_front(&t->free), struct guest_seat, node);
    t->n_free--;
    return 0;
}

int guest_seat_get(struct guest_program *p, struct guest_seat **ret)
{
    bool any;
    struct guest_template *t = choose(p, &any);
    if (!any)
        return -ENOENT;
    if (t)
        list_remove(&t->used); /* so that it is not retired for another template */
    if (t && t->generation != p->module->generation)
        renew(p);
    if (!t || pool_depth(&t->seat.tenant) >= RUNNER_COMMANDS_DEEP)
        grow(p);
    if (!t)
        return -EAGAIN;
    int r = seat_of(t, ret);
    list_push_back(&p->all->ready, &t->used);
    if (r < 0)
        return r;
    t->n_busy++;
    t->used_ms = loop_now_ms(p->all->loop);
    assert(t->n_seats == t->n_busy + t->n_free && !(*ret)->job);
    return 0;
}

void guest_seat_put(struct guest_seat *seat)
{
    struct guest_template *t = seat->template;
    assert(!seat->job && t->n_busy > 0);
    guest_turn_end(seat);
    t->n_busy--;
    list_push_front(&t->free, &seat->node);
    if (++t->n_free > GUEST_SEATS_FREE)
        drop_free_seat(list_entry(t->free.prev, struct guest_seat, node));
    free_if_done(t);
}

void guest_seat_drop(struct guest_seat *seat)
{
    struct guest_template *t = seat->template;
    assert(!seat->job && t->n_busy > 0);
    guest_turn_end(seat);
    t->n_busy--;
    pool_drop(&seat->tenant);
    seat_free(seat);
    free_if_done(t);
}

void guest_seat_lost(struct guest_seat *seat)
{
    struct guest_template *t = seat->template;
    assert(!seat->job && !seat->tenant.runner);
    guest_turn_lost(seat);
    if (list_is_linked(&seat->node))
        t->n_free--;
    else
        t->n_busy--;
    seat_free(seat);
    free_if_done(t);
}

/* ---- slow programs ---- */

/*
 * Move to the quick or the slow runners, unless it is there or the last move was recent. The old
 * templates take jobs until the new one is ready.
 */
static void move(struct guest_program *p, bool is_slow)
{
    uint64_t now = loop_now_ms(p->all->loop);
    if (is_slow == p->is_slow || p->is_stopped || now - p->grow_ms < GUEST_TEMPLATE_GROW_MS)
        return;
    p->grow_ms = now;
    p->is_slow = is_slow;
    if (template_new(p, NULL) < 0)
        p->is_slow = !is_slow;
}

static uint32_t average(const struct guest_program *p, uint64_t cpu_us)
{
    return (uint32_t)((7 * (uint64_t)p->cost_us + MIN(cpu_us, (uint64_t)1 << 28)) / 8);
}

void guest_program_note_cost(struct guest_program *p, uint64_t cpu_us)
{
    p->cost_us = average(p, cpu_us);
    move(p, p->cost_us > (p->is_slow ? GUEST_PROGRAM_QUICK_US : (uint32_t)RUNNER_SLOW_US));
}

void guest_program_note_slice(struct guest_program *p, uint64_t cpu_us)
{
    if (p->is_slow || cpu_us < GUEST_PROGRAM_LONG_US || p->all->n_templates <= p->n_templates)
        return;
    p->cost_us = MAX(p->cost_us, average(p, cpu_us)); /* the job may run for long */
    move(p, true);
}

/* ---- a further runner that is not needed any more ---- */

static void tidy_program(struct guest_program *p, uint64_t now)
{
    list_each_safe (node, &p->templates) {
        struct guest_template *t = list_entry(node, struct guest_template, node);
        bool is_first = p->templates.next == node;
        if (!is_first && t->sm.at == GUEST_TEMPLATE_READY &&
            now - t->used_ms >= GUEST_TEMPLATE_TIDY_MS)
            retire(t);
    }
}

static void on_tidy(struct timer *timer)
{
    struct guest_templates *all = container_of(timer, struct guest_templates, tidy);
    uint64_t now = loop_now_ms(all->loop);
    list_each_safe (node, &all->wide)
        tidy_program(list_entry(node, struct guest_program, wide), now);
    schedule_tidy(all);
}

/* ---- programs ---- */

void guest_program_init(struct guest_program *p, struct guest_templates *all)
{
    *p = (struct guest_program){ .all = all, .is_stopped = true };
    list_init(&p->templates);
    list_init(&p->held);
    list_init(&p->waiting);
}

void guest_program_set_module(struct guest_program *p, struct module *m)
{
    retire_all(p);
    p->module = m;
}

void guest_program_start(struct guest_program *p)
{
    assert(p->module);
    p->is_stopped = false;
    guest_program_need_template(p);
}

void guest_program_stop(struct guest_program *p)
{
    p->is_stopped = true;
    list_remove(&p->node);
    retire_all(p);
}

/* ---- all of them ---- */

struct guest_templates *guest_templates_new(const struct guest_templates_opts *opts,
                                            const struct guest_template_ops *ops)
{
    struct guest_templates *all = xnew(struct guest_templates);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    all->loop = opts->loop;
    all->ops = ops;
    all->max_runners = opts->max_runners ? opts->max_runners : (unsigned)MAX(cores, 1L);
    all->templates_max = opts->templates_max ? opts->templates_max : (unsigned)GUEST_TEMPLATES_MAX;
    list_init(&all->ready);
    list_init(&all->wanted);
    list_init(&all->failing);
    list_init(&all->wide);
    list_init(&all->lines);
    list_init(&all->shares);
    const struct runner_class_opts class_opts = { .max_runners = opts->max_runners,
                                                  .parked_max = GUEST_JOBS_PARKED_MAX };
    all->runners = pool_open_class(opts->runners, &class_opts, &guest_template_class_ops, all);
    return all;
}

static void on_closed(void *arg)
{
    struct guest_templates *all = arg;
    void (*done)(void *arg) = all->done;
    void *done_arg = all->done_arg;
    free(all);
    done(done_arg);
}

void guest_templates_close(struct guest_templates *all, void (*done)(void *arg), void *arg)
{
    assert(!all->done && all->n_templates == 0 && all->n_waiting == 0 && all->n_running == 0);
    assert(list_is_empty(&all->ready) && list_is_empty(&all->wanted));
    assert(list_is_empty(&all->failing));
    assert(list_is_empty(&all->lines) && list_is_empty(&all->shares));
    all->done = done;
    all->done_arg = arg;
    defer_cancel(&all->pump);
    defer_cancel(&all->report);
    timer_stop(all->loop, &all->tidy);
    pool_close_class(all->runners, on_closed, all);
}

void guest_templates_get_stats(const struct guest_templates *all, struct guest_templates_stats *ret)
{
    *ret = (struct guest_templates_stats){ .running = all->n_running,
                                           .waiting = all->n_waiting,
                                           .cpu_us = all->cpu_us };
    pool_get_stats(all->runners, &ret->pool);
}

size_t guest_templates_pids(const struct guest_templates *all, int *ret, size_t max)
{
    return pool_pids(all->runners, ret, max);
}
