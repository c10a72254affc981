/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse-runner: started by dormouse with a socket as descriptor 3 (wasm/proto.h), ends when that
 * socket does.
 *
 * The argument is the core to stay on, or "any". The first runner shares main's core: a message
 * there and back costs a few microseconds on one core and ten times as much across two.
 */
#include "runner/hibernate.h"
#include "runner/sandbox.h"

#include "base/clock.h"
#include "base/log.h"
#include "wasm/engine_config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- limiting CPU time: epochs advance by the process's own CPU clock, so that an idle or waiting
 * runner is never woken and a busy machine shortens nobody's time ---- */

static wasm_engine_t *ticking;

static void on_tick(int signo)
{
    wasmtime_engine_increment_epoch(ticking);
}

static int start_ticks(wasm_engine_t *engine, struct err *err)
{
    ticking = engine;
    struct sigaction sa = { .sa_handler = on_tick, .sa_flags = SA_RESTART | SA_ONSTACK };
    struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
    const struct timespec tick = { .tv_nsec = RUNNER_TICK_MS * 1000000 };
    const struct itimerspec every = { .it_interval = tick, .it_value = tick };
    timer_t timer;
    if (sigaction(SIGRTMIN, &sa, NULL) < 0 ||
        timer_create(CLOCK_PROCESS_CPUTIME_ID, &ev, &timer) < 0 ||
        timer_settime(timer, 0, &every, NULL) < 0)
        return err_sys(err, -errno, "start the CPU clock");
    return 0;
}

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

/* A module that cannot be loaded stays with its error, for whoever is started from it. */
static int on_module(struct runner *r, struct proto_in *in, struct err *err)
{
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
    r->modules[p.id] = m;
    return 0;
}

static int on_forget(struct runner *r, struct proto_in *in, struct err *err)
{
    struct proto_slot p;
    int status = proto_get_slot(in->body, &p, err);
    if (status < 0)
        return status;
    struct run_module *m = p.slot < r->n_modules ? r->modules[p.slot] : NULL;
    if (!m || m->n_instances)
        return err_set(err, E_INVALID, "FORGET of a module that is not there or in use");
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
    r->dissolved_bytes += 16 << 10;
    instance_free(in);
    r->slots.p[slot] = NULL;
}

static int on_drop(struct runner *r, struct proto_in *in, struct err *err)
{
    struct proto_slot p;
    int status = proto_get_slot(in->body, &p, err);
    if (status < 0)
        return status;
    if (p.slot < r->slots.n)
        drop_instance(r, p.slot); /* may have ended by itself meanwhile */
    return 0;
}

static uint32_t us_since(uint64_t start_ns)
{
    uint64_t us = (clock_mono_ns() - start_ns) / 1000;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

/* START and WAKE; afterwards the slot has an instance. */
static int make_instance(struct runner *r, const struct proto_run *run, int *swap_fd,
                         struct proto_answer *a, struct err *err)
{
    uint64_t start = clock_mono_ns();
    struct instance *in;
    int status = instance_new(r, run, &in, err);
    if (status < 0)
        return status;
    r->slots.p[run->slot] = in;
    if (*swap_fd >= 0)
        in->swap_fd = take_fd(swap_fd);
    if (run->flags & RUN_WAKE) {
        status = hibernate_restore(in, run, err);
        a->resume_us = us_since(start);
    }
    return status;
}

/* All that happens inside the guest. */
static int activate(struct runner *r, struct instance *in, const struct proto_run *run,
                    struct proto_answer *a, struct err *err)
{
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
    int status = hibernate_save(in, run->flags, saved, err);
    bool keep = !in->module->is_dissolvable;
    if (status == 0 && keep)
        status = hibernate_page_out(in, err);
    if (status < 0) {
        a->flags |= ANSWER_SUSPEND_FAILED;
        a->code = status;
        return;
    }
    a->flags |= ANSWER_SUSPENDED | (keep ? ANSWER_KEPT : 0);
    a->memory_pages = saved->memory_pages;
    a->dirty_pages = saved->dirty_pages;
    a->swap_bytes = saved->swap_bytes;
    a->globals = str_n(saved->globals, saved->n_globals);
    instance_flush_lines(in);
    if (!keep)
        drop_instance(r, run->slot);
    r->dissolved_bytes +=
        (size_t)saved->dirty_pages * 64; /* what the engine keeps beside the memory */
    a->suspend_us = us_since(start);
}

static int take_order(struct runner *r, struct proto_in *msg, struct proto_run *run,
                      struct err *err)
{
    int status = proto_get_run(msg->body, run, err);
    if (status < 0)
        return status;
    bool makes = (run->flags & (RUN_START | RUN_WAKE)) != 0;
    if (run->slot >= RUNNER_SLOTS_MAX ||
        (run->flags & (RUN_START | RUN_WAKE)) == (RUN_START | RUN_WAKE))
        return err_set(err, E_INVALID, "RUN with wrong values");
    while (r->slots.n <= run->slot)
        vec_push(&r->slots, NULL);
    struct instance *in = r->slots.p[run->slot];
    if (makes ? in != NULL : !in || in->guest != run->guest)
        return err_set(err, E_INVALID, "RUN for the wrong slot");
    return 0;
}

static void reset_outcome(struct outcome *o)
{
    buf_reset(&o->ops);
    buf_reset(&o->logs);
    o->n_ops = o->n_logs = o->logs_left_out = 0;
}

static int send_answer(struct runner *r, struct proto_answer *a, const struct err *why,
                       struct buf *out, struct err *err)
{
    const struct outcome *o = &r->outcome;
    a->text = str_of(why->text);
    a->n_ops = o->n_ops;
    a->n_logs = o->n_logs;
    a->logs_left_out = o->logs_left_out;
    proto_begin(out);
    proto_put_answer(out, a, buf_str(&o->logs), buf_str(&o->ops));
    return proto_send(RUNNER_SOCKET, out, -1, err);
}

static int on_run(struct runner *r, struct proto_in *msg, struct buf *out, struct err *err)
{
    static struct proto_run run;
    static struct hibernated saved;
    int status = take_order(r, msg, &run, err);
    if (status < 0)
        return status;
    struct proto_answer a = { .slot = run.slot,
                              .incarnation = run.incarnation,
                              .guest = run.guest,
                              .seq = run.seq,
                              .next_id = run.next_id,
                              .clock_offset_ns = run.clock_offset_ns };
    struct outcome *o = &r->outcome;
    reset_outcome(o);

    struct err why = { 0 };
    if (run.flags & (RUN_START | RUN_WAKE))
        status = make_instance(r, &run, &msg->fd, &a, &why);
    struct instance *in = r->slots.p[run.slot];
    if (in && msg->fd >= 0 && in->swap_fd < 0)
        in->swap_fd = take_fd(&msg->fd);
    if (status == 0)
        status = activate(r, in, &run, &a, &why);
    if (in) {
        a.next_id = in->next_id > a.next_id ? in->next_id : a.next_id;
        a.clock_offset_ns = in->clock_offset_ns;
    }
    if (status < 0) {
        a.flags = ANSWER_TRAPPED;
        a.code = status;
        if (in)
            instance_flush_lines(in);
        drop_instance(r, run.slot);
        return send_answer(r, &a, &why, out, err);
    }
    a.flags = ANSWER_DONE;
    a.memory_pages = (uint32_t)wasmtime_memory_size(in->cx, &in->memory);
    a.dirty_pages = in->dirty_pages;
    if ((run.flags & RUN_SUSPEND) && o->n_ops) {
        a.flags |= ANSWER_MORE;
        status = send_answer(r, &a, &why, out, err);
        if (status < 0)
            return status;
        reset_outcome(o);
        a.flags = 0;
        a.activations = 0;
    }
    if (run.flags & RUN_SUSPEND)
        suspend(r, in, &run, &saved, &a, &why);
    if (!(a.flags & ANSWER_SUSPENDED)) {
        count_dirty(in, &run);
        a.dirty_pages = in->dirty_pages;
    }
    return send_answer(r, &a, &why, out, err);
}

/* ---- the process ---- */

/* The next order; when there is none yet, first give back memory that is not needed. */
static int next_order(struct runner *r, struct proto_in *msg, struct err *err)
{
    if (r->dissolved_bytes < RUNNER_TRIM_BYTES)
        return proto_recv(RUNNER_SOCKET, 0, msg, err);
    int status = proto_recv(RUNNER_SOCKET, MSG_DONTWAIT, msg, err);
    if (status != -EAGAIN)
        return status;
    (void)malloc_trim(0);
    r->dissolved_bytes = 0;
    return proto_recv(RUNNER_SOCKET, 0, msg, err);
}

static int serve(struct runner *r, struct err *err)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(PROTO_FRAME_BYTES + PROTO_BODY_MAX);
    proto_begin(&out);
    proto_put_hello(&out, &(struct proto_hello){ PROTO_VERSION, STR(DM_ENGINE_VERSION) });
    int status = proto_send(RUNNER_SOCKET, &out, -1, err);
    struct proto_in msg = PROTO_IN_INIT;
    while (status >= 0) {
        status = next_order(r, &msg, err);
        if (status < 0)
            break;
        switch (msg.kind) {
        case PROTO_MODULE:
            status = on_module(r, &msg, err);
            break;
        case PROTO_FORGET:
            status = on_forget(r, &msg, err);
            break;
        case PROTO_RUN:
            status = on_run(r, &msg, &out, err);
            break;
        case PROTO_DROP:
            status = on_drop(r, &msg, err);
            break;
        case PROTO_HELLO:
        case PROTO_ANSWER:
            status = err_set(err, E_INVALID, "message for the other side");
            break;
        }
    }
    proto_in_fini(&msg);
    return status == E_EOF ? 0 : status;
}

/* A core that is not ours (cpuset) is no reason to fail. */
static void stay_on_core(const char *core_text, bool is_shared)
{
    uint64_t core;
    if (parse_u64(str_of(core_text), 0, CPU_SETSIZE - 1, &core) == 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)core, &set);
        (void)sched_setaffinity(0, sizeof set, &set);
    }
    /* On main's core it begins when main rests, which is at once. Elsewhere it must be able to
     * preempt whoever is there: as a batch process it would wait for several milliseconds. */
    const struct sched_param param = { 0 };
    if (is_shared)
        (void)sched_setscheduler(0, SCHED_BATCH, &param);
}

static int set_up(struct runner *r, struct err *err)
{
    (void)mallopt(M_ARENA_MAX, 1);
    int status = sandbox_prepare(err);
    if (status < 0)
        return status;
    r->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (r->pagemap_fd < 0)
        return err_sys(err, -errno, "open /proc/self/pagemap");
    r->has_pagemap_scan = hibernate_has_scan(r->pagemap_fd);
    buf_init(&r->outcome.ops, PROTO_OPS_BYTES_MAX + PROTO_OPS_MAX * 32);
    buf_init(&r->outcome.logs, PROTO_LOGS_BYTES_MAX + 16);
    status = engine_new(NULL, &r->engine, err);
    for (unsigned i = 0; i < GUEST_ABI_COUNT && status == 0; i++) {
        r->linkers[i] = wasmtime_linker_new(r->engine);
        status = abi_define(r->linkers[i], (enum guest_abi)i, err);
    }
    if (status == 0)
        status = start_ticks(r->engine, err);
    return status < 0 ? status : sandbox_enter(err);
}

int main(int argc, char **argv)
{
    int type;
    socklen_t n = sizeof type;
    if (argc != 3 || getsockopt(RUNNER_SOCKET, SOL_SOCKET, SO_TYPE, &type, &n) < 0 ||
        type != SOCK_SEQPACKET) {
        (void)fprintf(stderr, "dormouse-runner is started by dormouse; it is of no use by hand\n");
        return 2;
    }
    static struct runner runner;
    struct err err = { 0 };
    stay_on_core(argv[1], strcmp(argv[2], "shared") == 0);
    int status = set_up(&runner, &err);
    if (status >= 0)
        status = serve(&runner, &err);
    if (status < 0)
        log_error("runner ends", "reason=\"%s\"", err_text(&err));
    return status < 0;
}
