/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse-runner: started by dormouse with a socket as descriptor 3 (wasm/proto.h), ends when that
 * socket does.
 *
 * The arguments are the core to stay on, or "any", and "shared", "own" or "slow". The first runner
 * shares main's core: a message there and back costs a few microseconds on one core and ten times
 * as much across two. The one for slow guests gives way to all others.
 */
#include "runner/dirty.h"
#include "runner/sandbox.h"
#include "runner/worker.h"
#include "version.h" /* made by meson: what was built */

#include "base/log.h"
#include "wasm/engine_config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOW_NICE = 5 };

/* ---- limiting CPU time: epochs advance by the process's own CPU clock, so that an idle or waiting
 * runner is never woken and a busy machine shortens nobody's time ---- */

static wasm_engine_t *ticking;
static _Atomic uint64_t ticks;

/* On any thread: the others wait. */
static void on_tick(int signo, siginfo_t *info, void *context)
{
    for (int n = 1 + MAX(info->si_overrun, 0); n > 0; n--) {
        ticks++;
        wasmtime_engine_increment_epoch(ticking);
    }
}

uint64_t runner_ticks(void)
{
    return ticks;
}

static int start_ticks(wasm_engine_t *engine, struct err *err)
{
    ticking = engine;
    struct sigaction sa = { .sa_sigaction = on_tick,
                            .sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO };
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

/* ---- the process ---- */

/* A core that is not ours (cpuset) is no reason to fail. */
static void stay_on_core(const char *core_text, const char *how)
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
    if (strcmp(how, "own") != 0)
        (void)sched_setscheduler(0, SCHED_BATCH, &param);
    if (strcmp(how, "slow") == 0)
        (void)setpriority(PRIO_PROCESS, 0, SLOW_NICE);
}

static int set_up(struct runner *r, struct err *err)
{
    (void)mallopt(M_ARENA_MAX, 1);
    int status = sandbox_prepare(r, err);
    if (status < 0)
        return status;
    r->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (r->pagemap_fd < 0)
        return err_sys(err, -errno, "open /proc/self/pagemap");
    r->has_pagemap_scan = dirty_has_scan(r->pagemap_fd);
    status = engine_new(NULL, &r->engine, err);
    if (status == 0)
        status = start_ticks(r->engine, err);
    return status < 0 ? status : sandbox_enter(r, err);
}

int main(int argc, char **argv)
{
    int type;
    socklen_t n = sizeof type;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)printf("dormouse-runner %s\n", strrchr(DORMOUSE_BUILT, ' ') + 1);
        return 0;
    }
    if (argc != 3 || getsockopt(RUNNER_SOCKET, SOL_SOCKET, SO_TYPE, &type, &n) < 0 ||
        type != SOCK_SEQPACKET) {
        (void)fprintf(stderr, "dormouse-runner is started by dormouse; it is of no use by hand\n");
        return 2;
    }
    static struct runner runner;
    struct err err = { 0 };
    stay_on_core(argv[1], argv[2]);
    int status = set_up(&runner, &err);
    if (status >= 0)
        status = worker_serve(&runner, &err);
    if (status < 0)
        log_error("runner ends", "reason=\"%s\"", err_text(&err));
    return status < 0;
}
