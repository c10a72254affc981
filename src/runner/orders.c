/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out main's orders: modules, and the turns of guests; see orders.h. */
#include "runner/orders.h"

#include "runner/code.h"
#include "runner/function.h"
#include "runner/hibernate.h"
#include "runner/template.h"

#include "base/clock.h"
#include "wasm/engine_config.h"

#include <assert.h>
#include <errno.h>

/* ---- modules ---- */

static void module_free(struct run_module *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < GUEST_ABI_COUNT; i++)
        if (m->pre[i])
            wasmtime_instance_pre_delete(m->pre[i]);
    if (m->module)
        wasmtime_module_delete(m->module);
    free(m);
}

/* A module that cannot be loaded is kept with its error, for the guests that are started from
 * it. */
int order_module(struct runner_worker *w, struct err *err)
{
    struct runner *r = w->runner;
    const struct proto_in *in = &w->msg;
    struct proto_module p;
    int status = proto_get_module(in->body, &p, err);
    if (status < 0)
        return status;
    if (p.id >= RUNNER_SLOTS_MAX || in->fd < 0 || p.globals.n > MODULE_GLOBALS_MAX)
        return err_set(err, E_INVALID, "MODULE with wrong values");
    if (p.id >= r->n_modules) {
        size_t n = (p.id + 64) & ~(size_t)63;
        r->modules = xrealloc(r->modules, n * sizeof *r->modules);
        memset(r->modules + r->n_modules, 0, (n - r->n_modules) * sizeof *r->modules);
        r->n_modules = n;
    }
    if (r->modules[p.id])
        return err_set(err, E_INVALID, "MODULE with an id in use");
    struct run_module *m = xnew(struct run_module);
    m->has_memory = p.has_memory;
    m->has_start = p.has_start;
    m->is_dissolvable = p.is_dissolvable;
    m->image_lo = p.image_lo;
    m->image_hi = p.image_hi;
    if (p.globals.n)
        memcpy(m->globals, p.globals.p, p.globals.n);
    wasmtime_error_t *e = dm_engine_module_from_fd(r->engine, in->fd, &m->module);
    if (e)
        m->status = engine_err(&m->err, E_VERSION, e, "load the module");
    else
        code_loaded(m);
    r->modules[p.id] = m;
    return 0;
}

int order_forget(struct runner_worker *w, struct err *err)
{
    struct runner *r = w->runner;
    struct proto_slot p;
    int status = proto_get_slot(w->msg.body, &p, err);
    if (status < 0)
        return status;
    struct run_module *m = p.slot < r->n_modules ? r->modules[p.slot] : NULL;
    if (!m || m->n_instances)
        return err_set(err, E_INVALID, "FORGET of a module that is not there or in use");
    code_forget(r, m);
    module_free(m);
    r->modules[p.slot] = NULL;
    return 0;
}

/* ---- guests ---- */

static void drop_instance(struct runner *r, uint32_t slot)
{
    struct instance *in = r->slots.p[slot];
    if (!in)
        return;
    assert(!in->is_parked); /* a DROP of a parked guest is its own turn */
    r->slots.p[slot] = NULL;
    if (in->template) {
        template_give(in, false);
        return;
    }
    r->dissolved_bytes += 16 << 10;
    instance_free(in);
}

int order_drop(struct runner_worker *w, struct err *err)
{
    struct runner *r = w->runner;
    struct proto_slot p;
    int status = proto_get_slot(w->msg.body, &p, err);
    if (status < 0)
        return status;
    template_drop(r, p.slot);
    if (p.slot < r->slots.n)
        drop_instance(r, p.slot); /* the guest may have ended by itself */
    return 0;
}

static uint32_t us_since(uint64_t start_ns)
{
    uint64_t us = (clock_mono_ns() - start_ns) / 1000;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

/* Carry out START or WAKE; afterwards the slot has an instance. */
static int make_instance(struct runner_worker *w, struct proto_answer *a, struct err *err)
{
    struct runner *r = w->runner;
    const struct proto_run *run = &w->run;
    uint64_t start = clock_mono_ns();
    struct instance *in;
    int status = instance_new(r, run, &in, err);
    if (status < 0)
        return status;
    assert(!r->slots.p[run->slot]); /* take_order() */
    r->slots.p[run->slot] = in;
    if (w->order.fd >= 0)
        in->swap_fd = take_fd(&w->order.fd);
    if (run->flags & RUN_WAKE) {
        in->declared = V1_DECLARED;
        status = hibernate_restore(in, run, err);
        a->resume_us = us_since(start);
    }
    return status;
}

/* The part of a RUN that runs inside the guest. */
static int activate(struct instance *in, const struct proto_run *run, struct proto_answer *a,
                    struct err *err)
{
    in->log_debug = (run->flags & RUN_LOG_DEBUG) != 0;
    in->ops_room = run->ops_room;
    in->next_id = run->next_id;
    int status = 0;
    if (run->flags & RUN_START) {
        status = instance_start(in, err);
        a->activations += status == 0;
    }
    for (uint32_t i = 0; i < run->n_deliveries && status == 0; i++) {
        status = instance_deliver(in, &run->deliveries[i], err);
        a->activations += status == 0;
    }
    return status;
}

static void count_dirty(struct instance *in, const struct proto_run *run)
{
    uint64_t now = clock_mono_ms();
    if (in->dirty_at_ms && now - in->dirty_at_ms < RUNNER_COUNT_DIRTY_MS)
        return;
    int64_t n = hibernate_count_dirty(in, run->flags & RUN_PAGEMAP);
    if (n >= 0)
        in->dirty_pages = (uint32_t)n;
    in->dirty_at_ms = now;
}

static void suspend(struct runner *r, struct instance *in, const struct proto_run *run,
                    struct hibernated *saved, struct proto_answer *a, struct err *err)
{
    uint64_t start = clock_mono_ns();
    int status = hibernate_save(in, run, saved, err);
    bool keep = !in->module->is_dissolvable;
    if (status == 0 && keep)
        status = hibernate_page_out(in, err);
    if (status < 0) {
        a->flags |= ANSWER_SUSPEND_FAILED;
        a->code = status;
        a->swap_bytes = saved->swap_bytes;
        a->swap_needs_bytes = saved->needs_bytes;
        return;
    }
    a->flags |= ANSWER_SUSPENDED | (keep ? ANSWER_KEPT : 0);
    a->memory_pages = saved->memory_pages;
    a->dirty_pages = saved->dirty_pages;
    a->swap_bytes = saved->swap_bytes;
    a->swap_mtime_ns = saved->swap_mtime_ns;
    a->globals = str_n(saved->globals, saved->n_globals);
    instance_flush_lines(in);
    if (!keep)
        drop_instance(r, run->slot);
    r->dissolved_bytes +=
        (size_t)saved->dirty_pages * 64; /* memory of the engine beside the guest's */
    a->suspend_us = us_since(start);
}

/* Keep the order: it must outlive the messages that arrive while its guest is parked. */
static int take_order(struct runner_worker *w, struct err *err)
{
    struct runner *r = w->runner;
    struct proto_run *run = &w->run;
    const struct proto_in order = w->msg;
    w->msg = w->order;
    w->order = order;
    int status = proto_get_run(w->order.body, run, err);
    if (status < 0)
        return status;
    clock_skip(run->skipped_ms - clock_skipped_ms());
    bool makes = (run->flags & (RUN_START | RUN_WAKE)) != 0;
    if (run->slot >= RUNNER_SLOTS_MAX ||
        (run->flags & (RUN_START | RUN_WAKE)) == (RUN_START | RUN_WAKE))
        return err_set(err, E_INVALID, "RUN with wrong values");
    while (r->slots.n <= run->slot)
        vec_push(&r->slots, NULL);
    struct instance *in = r->slots.p[run->slot];
    bool has_template = run->slot < r->templates.n && r->templates.p[run->slot];
    bool may_make = abi_is_function(run->abi) && !makes;
    if (makes ? in || has_template
        : in  ? in->guest != run->guest || in->is_parked || in->abi != run->abi
              : !may_make || has_template)
        return err_set(err, E_INVALID, "RUN for the wrong slot");
    return 0;
}

int order_answer(struct runner_worker *w, struct proto_answer *a, const struct err *why,
                 struct err *err)
{
    const struct runner_outcome *o = &w->outcome;
    a->text = str_of(why->text);
    a->n_ops = o->n_ops;
    a->n_logs = o->n_logs;
    a->n_notes = o->n_notes;
    a->logs_left_out = o->logs_left_out;
    a->cpu_us = worker_take_cpu_us(w);
    proto_begin(&w->out);
    proto_put_answer(&w->out, a, buf_str(&o->logs), buf_str(&o->ops), buf_str(&o->notes));
    int status = proto_send(RUNNER_SOCKET, &w->out, -1, err);
    worker_outcome_reset(&w->outcome);
    return status;
}

int order_run(struct runner_worker *w, struct err *err)
{
    struct runner *r = w->runner;
    struct proto_run *run = &w->run;
    (void)worker_take_cpu_us(w);
    int status = take_order(w, err);
    if (status < 0)
        return status;
    if (abi_is_function(run->abi))
        return function_order(w, err);
    struct proto_answer a = { .slot = run->slot,
                              .incarnation = run->incarnation,
                              .guest = run->guest,
                              .seq = run->seq,
                              .next_id = run->next_id,
                              .clock_offset_ns = run->clock_offset_ns };
    struct err why = { 0 };
    if (run->flags & (RUN_START | RUN_WAKE))
        status = make_instance(w, &a, &why);
    struct instance *in = r->slots.p[run->slot];
    if (in) {
        code_used(r, in->module);
        in->worker = w;
        if (w->order.fd >= 0 && in->swap_fd < 0)
            in->swap_fd = take_fd(&w->order.fd);
    }
    if (status == 0)
        status = activate(in, run, &a, &why);
    if (in) {
        a.next_id = in->next_id > a.next_id ? in->next_id : a.next_id;
        a.clock_offset_ns = in->wasi.clock_offset_ns;
    }
    if (status < 0) {
        a.flags = ANSWER_TRAPPED;
        a.code = status;
        if (in)
            instance_flush_lines(in);
        drop_instance(r, run->slot);
        return order_answer(w, &a, &why, err);
    }
    assert(in && in->phase == INSTANCE_IDLE);
    a.flags = ANSWER_DONE;
    a.memory_pages = (uint32_t)wasmtime_memory_size(in->wasi.cx, &in->wasi.memory);
    a.dirty_pages = in->dirty_pages;
    if ((run->flags & RUN_SUSPEND) && (w->outcome.n_ops || w->outcome.n_notes)) {
        a.flags |= ANSWER_MORE;
        status = order_answer(w, &a, &why, err);
        if (status < 0)
            return status;
        a.flags = 0;
        a.activations = 0;
    }
    if (run->flags & RUN_SUSPEND)
        suspend(r, in, run, &w->saved, &a, &why);
    if (!(a.flags & ANSWER_SUSPENDED)) {
        count_dirty(in, run);
        a.dirty_pages = in->dirty_pages;
    }
    return order_answer(w, &a, &why, err);
}
