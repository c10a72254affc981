/* SPDX-License-Identifier: Apache-2.0 */
/* Runner processes; see runner_pool.h. */
#include "guest/runner_pool.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sibling.h"
#include "base/sm.h"
#include "base/vec.h"
#include "guest/memory_group.h"
#include "wasm/confine.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RUNNER_SOCKET_FD = 3,
    SOCKET_BUFFER = 1 << 20,
    MESSAGES_PER_TURN = 64,
    HEAR_OUT_MAX = 1024 /* messages: two answers per command, HELLO, and NOTES */
};

enum runner_state { RUNNER_STARTING, RUNNER_SERVING, RUNNER_CLOSING };
static const struct sm_state runner_table[] = {
    [RUNNER_STARTING] = { "starting", EDGE(RUNNER_SERVING) | EDGE(RUNNER_CLOSING) },
    [RUNNER_SERVING] = { "serving", EDGE(RUNNER_CLOSING) },
    [RUNNER_CLOSING] = { "closing", 0 },
};

/* Compiled code that a runner has loaded. */
struct pool_module {
    struct module *module; /* a reference */
    uint32_t id, generation;
    unsigned n_tenants;
    bool is_old;      /* better code exists: unload this with its last tenant */
    struct list idle; /* on the runner's list while it has no tenant, longest idle first */
};

/*
 * A command without an answer: on the runner's list of turns, oldest first, or parked. tenant NULL:
 * the command was dropped. If it was not parked at that time, it may still park before the runner
 * reads the drop message, which then is its last turn: `marker`, later on the list, holds the place
 * of that turn.
 */
struct pool_command {
    struct list node;
    struct tenant *tenant;
    uint64_t seq, guest;
    uint32_t slot;
    bool has_more; /* the first of two answers has arrived */
    bool is_parked, has_parked;
    uint64_t limit_ms;
    struct pool_command *marker; /* never first on the list: it follows its command */
};

/* A message that the socket has not accepted yet. */
struct pool_unsent {
    struct list node;
    struct buf message;
    int fd;
};

struct pool_runner {
    struct runner_pool *pool;
    struct runner_class *class;
    struct list node; /* of the pool */
    struct sm sm;
    unsigned core;
    int pid, sock, pidfd;
    uv_poll_t sock_poll, pid_poll;
    bool is_writing;
    enum runner_share share;
    unsigned n_handles;
    struct list tenants, commands, parked, unsent, idle_modules;
    unsigned n_tenants, n_commands, n_parked, n_idle_modules; /* n_commands: without markers */
    struct map modules;                                       /* sha256 -> pool_module */
    VEC(uint32_t) free_slots, free_module_ids;
    uint32_t n_slots, n_module_ids;
    uint64_t seq, progress_ms; /* progress_ms: when the oldest command became the oldest */
    uint64_t deep_since_ms;    /* since when RUNNER_COMMANDS_DEEP commands wait; 0: fewer do */
    struct timer linger;
};

/* The runners, limits and counts of one kind of tenants. */
struct runner_class {
    struct runner_pool *pool;
    struct list node; /* of the pool */
    const struct runner_class_ops *ops;
    void *arg;
    struct runner_class_opts opts;
    unsigned n_runners, n_commands, start_failures;
    uint64_t starts, losses;
    struct timer backoff; /* armed while no runner may be started */
    struct defer room;
    struct defer closing; /* for pool_close_class() without any runner */
    void (*done)(void *arg);
    void *done_arg;
};

struct runner_pool {
    struct loop *loop;
    char *runner_path;
    struct list classes, runners;
    unsigned n_commands;
    uint32_t confined; /* struct confine_report, of the runners */
    bool is_confined_known;
    struct timer watchdog; /* armed while commands are in flight */
    struct buf message;    /* the message being encoded */
    struct proto_in in;    /* the message being received */
};

static void runner_lost(struct pool_runner *r, const struct err *why);
static void hear_out(struct pool_runner *r);

/* ---- process ---- */

/* The n-th core that this process may use, counted from the one on which it runs. */
static unsigned core_for(unsigned n)
{
    cpu_set_t set;
    int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof set, &set) < 0)
        return UINT32_MAX;
    unsigned count = (unsigned)CPU_COUNT(&set), core = (unsigned)here;
    for (n %= count ? count : 1; n; n--)
        do
            core = (core + 1) % CPU_SETSIZE;
        while (!CPU_ISSET(core, &set));
    return core;
}

static unsigned core_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}

static void class_free(struct runner_class *c)
{
    void (*done)(void *arg) = c->done;
    void *arg = c->done_arg;
    assert(c->n_runners == 0 && c->n_commands == 0);
    defer_cancel(&c->closing);
    list_remove(&c->node);
    free(c);
    done(arg);
}

static void on_room(struct defer *d)
{
    struct runner_class *c = container_of(d, struct runner_class, room);
    c->ops->on_room(c->arg);
}

/* pool_place() or pool_can_send() may now give another result. */
static void tell_room(struct runner_class *c)
{
    if (!c->done)
        defer_start(c->pool->loop, &c->room, on_room);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct pool_runner *r = handle->data;
    if (--r->n_handles > 0)
        return;
    struct runner_class *c = r->class;
    assert(r->sm.at == RUNNER_CLOSING && r->n_tenants == 0 && r->n_commands == 0);
    assert(r->n_parked == 0 && c->n_runners > 0);
    list_remove(&r->node);
    c->n_runners--;
    timer_stop(r->pool->loop, &r->linger);
    (void)close(r->pidfd);
    vec_fini(&r->free_slots);
    vec_fini(&r->free_module_ids);
    free(r);
    tell_room(c);
    if (c->done && c->n_runners == 0)
        class_free(c);
}

static void on_process_end(uv_poll_t *poll, int status, int events)
{
    struct pool_runner *r = poll->data;
    int wait_status;
    int pid = waitpid(r->pid, &wait_status, WNOHANG);
    if (pid == 0)
        return;
    if (pid != r->pid)
        wait_status = 0; /* another part of the process reaped it */
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) != SIGKILL)
        log_error("runner crashed", "pid=%d signal=%d", r->pid, WTERMSIG(wait_status));
    else
        log_debug("runner ended", "pid=%d status=%d", r->pid, wait_status);
    r->pid = 0;
    hear_out(r);
    if (r->sm.at != RUNNER_CLOSING) {
        struct err why = { 0 };
        (void)err_set(&why, E_EOF, "the runner process ended");
        runner_lost(r, &why);
    }
    uv_close((uv_handle_t *)&r->pid_poll, on_handle_closed);
}

/* how: "shared" with the main process, the runner's "own" core, or "slow". */
static int spawn(const char *path, unsigned core, const char *how, int sock, struct err *err)
{
    char core_text[16] = "any";
    if (core != UINT32_MAX)
        (void)snprintf(core_text, sizeof core_text, "%u", core);
    char how_text[16];
    (void)snprintf(how_text, sizeof how_text, "%s", how);
    char program[] = "dormouse-runner";
    char *argv[] = { program, core_text, how_text, NULL };
    /* Otherwise the C library keeps 40 MiB of stacks of ended threads. */
    char tunables[] = "GLIBC_TUNABLES=glibc.pthread.stack_cache_size=4194304";
    char *envp[] = { tunables, NULL };
    /*
     * Its output goes to our stderr, so that a reader of our stdout does not wait for the runner.
     */
    const int fds[] = { memory_group_stdin(), STDERR_FILENO, STDERR_FILENO, sock };
    _Static_assert(RUNNER_SOCKET_FD == 3, "its place in fds");
    const struct confine_child child = {
        .path = path, .argv = argv, .envp = envp, .fds = fds, .n_fds = ARRAY_LEN(fds)
    };
    return confine_spawn(&child, err);
}

static void on_socket(uv_poll_t *poll, int status, int events);

static int watch(struct pool_runner *r, struct err *err)
{
    struct runner_pool *p = r->pool;
    r->sock_poll.data = r->pid_poll.data = r;
    int status = uv_poll_init(&p->loop->uv, &r->sock_poll, r->sock);
    if (status < 0)
        return err_sys(err, status, "watch a runner");
    r->n_handles++;
    status = uv_poll_init(&p->loop->uv, &r->pid_poll, r->pidfd);
    if (status < 0)
        return err_sys(err, status, "watch a runner");
    r->n_handles++;
    status = uv_poll_start(&r->sock_poll, UV_READABLE, on_socket);
    if (status == 0)
        status = uv_poll_start(&r->pid_poll, UV_READABLE, on_process_end);
    return status < 0 ? err_sys(err, status, "watch a runner") : 0;
}

static int socket_pair(int *ret_ours, int *ret_theirs, struct err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(err, -errno, "make a socket for a runner");
    const int size = SOCKET_BUFFER;
    for (int i = 0; i < 2; i++)
        (void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    (void)fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *ret_ours = pair[0];
    *ret_theirs = pair[1];
    return 0;
}

static unsigned count_of(const struct runner_class *c, enum runner_share share)
{
    unsigned n = 0;
    list_each (node, &c->pool->runners) {
        const struct pool_runner *r = list_entry(node, struct pool_runner, node);
        n += r->class == c && r->share == share && r->sm.at != RUNNER_CLOSING;
    }
    return n;
}

/*
 * A core without a runner for quick guests, if there is one: the main process may have moved since
 * it started that runner.
 */
static unsigned core_for_slow(const struct runner_pool *p)
{
    unsigned n = core_count();
    for (unsigned i = 1; i <= n; i++) {
        unsigned core = core_for(i);
        bool is_taken = false;
        list_each (node, &p->runners) {
            const struct pool_runner *r = list_entry(node, struct pool_runner, node);
            is_taken |= r->share == RUNNER_SHARED && r->core == core;
        }
        if (!is_taken)
            return core;
    }
    return core_for(1);
}

static int runner_start(struct runner_class *c, enum runner_share share, struct pool_runner **ret,
                        struct err *err)
{
    struct runner_pool *p = c->pool;
    scoped(fd_scoped) int ours = -1;
    scoped(fd_scoped) int theirs = -1;
    int status = socket_pair(&ours, &theirs, err);
    if (status < 0)
        return status;
    unsigned n = share == RUNNER_SHARED ? count_of(c, share) : MAX(c->n_runners, 1);
    unsigned core = share == RUNNER_SLOW ? core_for_slow(p) : core_for(n);
    const char *how = share == RUNNER_SLOW ? "slow" : n == 0 ? "shared" : "own";
    int pid = spawn(p->runner_path, core, how, theirs, err);
    if (pid == -EAGAIN) /* callers take this for "wait for a runner": none would come */
        return err_set(err, -ENOMEM, "start a runner: no more processes are allowed");
    if (pid < 0)
        return pid;
    scoped(fd_scoped) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) { /* for example, out of descriptors */
        status = err_sys(err, -errno, "watch a runner");
        (void)confine_signal(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return status;
    }
    struct pool_runner *r = xnew(struct pool_runner);
    r->pool = p;
    r->class = c;
    r->core = core;
    r->pid = pid;
    r->sock = take_fd(&ours);
    r->pidfd = take_fd(&pidfd);
    r->share = share;
    sm_init(&r->sm, runner_table, RUNNER_STARTING);
    list_init(&r->tenants);
    list_init(&r->commands);
    list_init(&r->parked);
    list_init(&r->unsent);
    list_init(&r->idle_modules);
    list_push_back(&p->runners, &r->node);
    c->n_runners++;
    c->starts++;
    status = watch(r, err);
    assert(status == 0); /* both are open and can be polled */
    log_debug("runner started", "pid=%d core=%u", pid, core);
    *ret = r;
    return 0;
}

/* ---- messages out ---- */

static void set_events(struct pool_runner *r, bool is_writing)
{
    if (r->is_writing == is_writing)
        return;
    r->is_writing = is_writing;
    (void)uv_poll_start(&r->sock_poll, UV_READABLE | (is_writing ? UV_WRITABLE : 0), on_socket);
}

/*
 * Send the pool's message buffer with `fd` (taken). A failed send shows as the end of the socket.
 */
static void send_message(struct pool_runner *r, int fd)
{
    scoped(fd_scoped) int owned = fd;
    struct buf *b = &r->pool->message;
    if (list_is_empty(&r->unsent)) {
        struct err err = { 0 };
        int status = proto_send(r->sock, b, owned, &err);
        if (status >= 0)
            return;
        if (status != -EAGAIN) {
            log_error("cannot send to a runner", "pid=%d reason=\"%s\"", r->pid, err_text(&err));
            (void)shutdown(r->sock, SHUT_RDWR);
            return;
        }
    }
    struct pool_unsent *u = xnew(struct pool_unsent);
    u->message = *b;
    u->fd = take_fd(&owned);
    *b = BUF_INIT(PROTO_FRAME_BYTES + PROTO_BODY_MAX);
    list_push_back(&r->unsent, &u->node);
    set_events(r, true);
}

static void unsent_free(struct pool_unsent *u)
{
    list_remove(&u->node);
    buf_fini(&u->message);
    fd_scoped(&u->fd);
    free(u);
}

static void send_unsent(struct pool_runner *r)
{
    while (!list_is_empty(&r->unsent)) {
        struct pool_unsent *u = list_first(&r->unsent, struct pool_unsent, node);
        int status = proto_send(r->sock, &u->message, u->fd, NULL);
        if (status == -EAGAIN)
            return;
        if (status < 0)
            (void)shutdown(r->sock, SHUT_RDWR);
        unsent_free(u);
    }
    set_events(r, false);
}

/* ---- modules ---- */

static struct str module_key(const struct module *m)
{
    return str_n(m->sha256, sizeof m->sha256);
}

static void forget_module(struct pool_runner *r, struct pool_module *pm, bool tell)
{
    assert(pm->n_tenants == 0 && r->n_idle_modules > 0);
    if (!pm->is_old)
        (void)map_del(&r->modules, module_key(pm->module));
    list_remove(&pm->idle);
    r->n_idle_modules--;
    if (tell) {
        proto_begin(&r->pool->message);
        proto_put_slot(&r->pool->message, PROTO_FORGET, pm->id);
        send_message(r, -1);
        vec_push(&r->free_module_ids, pm->id);
    }
    module_unref(pm->module);
    free(pm);
}

static void rest_module(struct pool_runner *r, struct pool_module *pm)
{
    if (pm->is_old)
        list_push_front(&r->idle_modules, &pm->idle);
    else
        list_push_back(&r->idle_modules, &pm->idle);
    r->n_idle_modules++;
}

/*
 * Unload idle modules above the limit, and all idle ones with old code, which are never requested.
 */
static void trim_modules(struct pool_runner *r)
{
    while (r->n_idle_modules > 0) {
        struct pool_module *pm = list_first(&r->idle_modules, struct pool_module, idle);
        if (r->n_idle_modules <= RUNNER_MODULES_IDLE_MAX && !pm->is_old)
            return;
        forget_module(r, pm, true);
    }
}

/* Its tenants keep the code with which they started. */
static void retire_module(struct pool_runner *r, struct pool_module *pm)
{
    (void)map_del(&r->modules, module_key(pm->module));
    pm->is_old = true;
    if (pm->n_tenants == 0)
        forget_module(r, pm, true);
}

static int load_module(struct pool_runner *r, struct module *m, struct pool_module **ret,
                       struct err *err)
{
    struct pool_module *pm = map_get(&r->modules, module_key(m));
    if (pm && pm->generation == m->generation) {
        *ret = pm;
        return 0;
    }
    int fd = module_open(m, err);
    if (fd < 0)
        return fd;
    if (pm)
        retire_module(r, pm);
    pm = xnew(struct pool_module);
    pm->module = module_ref(m);
    pm->generation = m->generation;
    pm->id =
        r->free_module_ids.n ? r->free_module_ids.p[--r->free_module_ids.n] : r->n_module_ids++;
    (void)map_put(&r->modules, module_key(m), pm);
    rest_module(r, pm);
    const struct module_info *info = m->info;
    proto_begin(&r->pool->message);
    proto_put_module(&r->pool->message,
                     &(struct proto_module){ .id = pm->id,
                                             .has_memory = info->has_memory,
                                             .has_start = info->has_start,
                                             .is_dissolvable = info->is_dissolvable,
                                             .image_lo = info->image_lo,
                                             .image_hi = info->image_hi,
                                             .globals = info->globals });
    send_message(r, fd);
    *ret = pm;
    return 0;
}

/* ---- tenants ---- */

/* Whether there is room for one more command. */
static bool has_turns(const struct pool_runner *r, bool may_park)
{
    return r->n_commands < RUNNER_COMMANDS_MAX &&
           (!may_park || r->n_commands + r->n_parked < r->class->opts.parked_max);
}

static bool has_room(const struct pool_runner *r, bool may_park)
{
    return r->sm.at != RUNNER_CLOSING && has_turns(r, may_park) &&
           r->n_tenants < RUNNER_TENANTS_MAX;
}

/* More work than it keeps up with, for longer than a moment. */
static bool is_deep(const struct pool_runner *r)
{
    return r->deep_since_ms && clock_mono_ms() - r->deep_since_ms >= RUNNER_DEEP_MS;
}

/* Use the first runner while it keeps up; later runners take the work that queues there. */
static struct pool_runner *choose(struct runner_class *c, enum runner_share share, bool may_park)
{
    struct pool_runner *best = NULL;
    list_each (node, &c->pool->runners) {
        struct pool_runner *r = list_entry(node, struct pool_runner, node);
        if (r->class != c || r->share != share || !has_room(r, may_park))
            continue;
        if (!is_deep(r))
            return r;
        if (!best || r->n_commands < best->n_commands)
            best = r;
    }
    return best;
}

static bool may_start(const struct runner_class *c, enum runner_share share)
{
    switch (share) {
    case RUNNER_SHARED:
        return count_of(c, share) < c->opts.max_runners;
    case RUNNER_SLOW:
        return count_of(c, share) == 0;
    case RUNNER_ALONE:
        return c->n_runners <= c->opts.max_runners + 1;
    }
    return false;
}

static int find_runner(struct runner_class *c, enum runner_share share, bool may_park,
                       struct pool_runner **ret, struct err *err)
{
    struct pool_runner *r = share == RUNNER_ALONE ? NULL : choose(c, share, may_park);
    bool start = (!r || is_deep(r)) && may_start(c, share);
    if (start && !timer_is_armed(&c->backoff)) {
        int status = runner_start(c, share, &r, err);
        if (status < 0 && !r)
            return status;
    }
    if (!r)
        return err_set(err, -EAGAIN, "no runner has room");
    *ret = r;
    return 0;
}

static void settle(struct tenant *t, struct pool_runner *r, struct pool_module *pm)
{
    assert(!t->runner && !t->module && !list_is_linked(&t->node));
    assert(pm->n_tenants > 0 || r->n_idle_modules > 0);
    if (pm->n_tenants++ == 0) {
        list_remove(&pm->idle);
        r->n_idle_modules--;
    }
    t->runner = r;
    t->module = pm;
    t->sent = NULL;
    t->slot = r->free_slots.n ? r->free_slots.p[--r->free_slots.n] : r->n_slots++;
    list_push_back(&r->tenants, &t->node);
    r->n_tenants++;
    timer_stop(r->pool->loop, &r->linger);
}

static void on_linger(struct timer *timer);

int pool_place(struct runner_class *c, struct tenant *t, struct module *m, enum runner_share share,
               struct err *err)
{
    struct pool_runner *r = NULL;
    struct pool_module *pm;
    assert(!t->runner && !c->done);
    int status = find_runner(c, share, t->may_park, &r, err);
    if (status < 0)
        return status;
    status = load_module(r, m, &pm, err);
    if (status < 0) {
        if (r->n_tenants == 0 && r->sm.at != RUNNER_CLOSING) /* it was started for this tenant */
            timer_start(c->pool->loop, &r->linger, share == RUNNER_ALONE ? 0 : RUNNER_LINGER_MS,
                        on_linger);
        return status;
    }
    settle(t, r, pm);
    return 0;
}

int pool_place_beside(struct tenant *t, const struct tenant *of, struct err *err)
{
    assert(!t->runner && of->runner);
    if (of->runner->n_tenants >= RUNNER_TENANTS_MAX)
        return err_set(err, -EAGAIN, "its runner has no room");
    settle(t, of->runner, of->module);
    return 0;
}

bool pool_is_outdated(const struct tenant *t)
{
    return t->runner && t->module->generation != t->module->module->generation;
}

unsigned pool_depth(const struct tenant *t)
{
    return t->runner->n_commands;
}

bool pool_is_deep(const struct tenant *t)
{
    return is_deep(t->runner);
}

static void on_linger(struct timer *timer)
{
    struct pool_runner *r = container_of(timer, struct pool_runner, linger);
    if (r->n_tenants == 0 && r->n_commands == 0) {
        struct err why = { 0 };
        runner_lost(r, &why); /* an ordinary end, without tenants */
    }
}

static void leave(struct tenant *t)
{
    struct pool_runner *r = t->runner;
    struct pool_module *pm = t->module;
    assert(r->n_tenants > 0 && pm->n_tenants > 0 && list_is_linked(&t->node));
    list_remove(&t->node);
    r->n_tenants--;
    if (--pm->n_tenants == 0)
        rest_module(r, pm);
    t->runner = NULL;
    t->module = NULL;
    t->sent = NULL;
}

static void rest(struct pool_runner *r)
{
    if (r->sm.at == RUNNER_CLOSING)
        return;
    trim_modules(r);
    if (r->n_tenants == 0)
        timer_start(r->pool->loop, &r->linger, RUNNER_LINGER_MS, on_linger);
}

static void on_watchdog(struct timer *timer);

/* n: turns that have ended or are lost. The watchdog is stopped with the last command. */
static void remove_commands(struct pool_runner *r, unsigned n)
{
    struct runner_pool *p = r->pool;
    assert(r->n_commands >= n && r->class->n_commands >= n && p->n_commands >= n);
    r->n_commands -= n;
    r->class->n_commands -= n;
    p->n_commands -= n;
    if (r->n_commands < RUNNER_COMMANDS_DEEP)
        r->deep_since_ms = 0;
    if (p->n_commands == 0)
        timer_stop(p->loop, &p->watchdog);
}

/* Append a turn. */
static void add_turn(struct pool_runner *r, struct pool_command *c)
{
    struct runner_pool *p = r->pool;
    list_push_back(&r->commands, &c->node);
    p->n_commands++;
    r->class->n_commands++;
    if (r->n_commands++ == 0)
        r->progress_ms = clock_mono_ms();
    if (r->n_commands == RUNNER_COMMANDS_DEEP && !r->deep_since_ms)
        r->deep_since_ms = clock_mono_ms();
    if (!timer_is_armed(&p->watchdog))
        timer_start(p->loop, &p->watchdog, RUNNER_SILENT_MS, on_watchdog);
}

static void unpark(struct pool_runner *r, struct pool_command *c)
{
    assert(c->is_parked && r->n_parked > 0);
    list_remove(&c->node);
    r->n_parked--;
    c->is_parked = false;
    add_turn(r, c);
}

/*
 * The drop message was sent. For a parked command it is the last turn; for another command only if
 * the command parks before the runner reads it.
 */
static void drop_command(struct pool_runner *r, struct pool_command *c)
{
    assert(c->tenant && !c->marker);
    c->tenant = NULL;
    if (c->is_parked) {
        unpark(r, c);
        return;
    }
    c->marker = xnew(struct pool_command);
    list_push_back(&r->commands, &c->marker->node);
}

static void remove_marker(struct pool_command *c)
{
    if (c->marker)
        list_remove(&c->marker->node);
    free(c->marker);
    c->marker = NULL;
}

bool pool_is_parked(const struct tenant *t)
{
    return t->sent && t->sent->is_parked;
}

void pool_reply(struct tenant *t, uint64_t call, int64_t value, struct str bytes)
{
    struct pool_runner *r = t->runner;
    struct pool_command *c = t->sent;
    assert(pool_is_parked(t));
    if (r->sm.at != RUNNER_CLOSING) {
        proto_begin(&r->pool->message);
        proto_put_reply(
            &r->pool->message,
            &(struct proto_reply){
                .slot = c->slot, .guest = c->guest, .id = call, .value = value, .bytes = bytes });
        send_message(r, -1);
    }
    unpark(r, c);
}

void pool_release(struct tenant *t)
{
    struct pool_runner *r = t->runner;
    assert(r && !t->sent);
    vec_push(&r->free_slots, t->slot);
    leave(t);
    rest(r);
}

void pool_drop(struct tenant *t)
{
    struct pool_runner *r = t->runner;
    if (!r)
        return;
    if (r->sm.at != RUNNER_CLOSING) {
        proto_begin(&r->pool->message);
        proto_put_slot(&r->pool->message, PROTO_DROP, t->slot);
        send_message(r, -1);
    }
    if (t->sent)
        drop_command(r, t->sent); /* the slot is free when the answer has arrived */
    else
        vec_push(&r->free_slots, t->slot);
    leave(t);
    rest(r);
    tell_room(r->class);
}

void pool_mingle(struct tenant *t)
{
    if (t->runner && t->runner->share == RUNNER_ALONE)
        t->runner->share = RUNNER_SHARED;
}

bool pool_has_others(const struct tenant *t)
{
    return t->runner && t->runner->n_tenants > 1;
}

bool pool_is_slow(const struct tenant *t)
{
    return t->runner && t->runner->share == RUNNER_SLOW;
}

bool pool_can_send(const struct tenant *t)
{
    return t->runner && !t->sent && has_turns(t->runner, t->may_park);
}

void pool_send(struct tenant *t, struct proto_run *run, int fd, uint64_t limit_ms)
{
    struct pool_runner *r = t->runner;
    struct runner_pool *p = r->pool;
    assert(pool_can_send(t));
    struct pool_command *c = xnew(struct pool_command);
    c->tenant = t;
    c->seq = ++r->seq;
    c->slot = t->slot;
    c->guest = run->guest;
    c->limit_ms = limit_ms;
    t->sent = c;
    run->seq = c->seq;
    run->slot = t->slot;
    run->module = t->module->id;
    proto_begin(&p->message);
    proto_put_run(&p->message, run);
    send_message(r, fd);
    add_turn(r, c);
}

/* ---- answers ---- */

/* The command whose turn it is; NULL: the message is about another one. */
static struct pool_command *turn_of(const struct pool_runner *r, uint64_t seq, uint32_t slot,
                                    uint64_t guest)
{
    if (list_is_empty(&r->commands))
        return NULL;
    struct pool_command *c = list_first(&r->commands, struct pool_command, node);
    assert(c->seq > 0 && !c->is_parked); /* no marker */
    return c->seq == seq && c->slot == slot && c->guest == guest ? c : NULL;
}

/* The user rejected the message: the command counts as the running one. */
static void put_back(struct pool_runner *r, struct pool_command *c)
{
    list_remove(&c->node);
    list_push_front(&r->commands, &c->node);
    r->n_commands++;
    r->class->n_commands++;
    r->pool->n_commands++;
}

static int on_call(struct pool_runner *r, struct str body, bool is_call, struct err *err)
{
    struct proto_call call;
    int status = proto_get_call(body, &call, err);
    if (status < 0)
        return status;
    struct pool_command *c = turn_of(r, call.seq, call.slot, call.guest);
    if (!c || c->has_more)
        return err_set(err, E_INVALID, "a call out of turn");
    struct tenant *t = c->tenant;
    r->progress_ms = clock_mono_ms();
    if (!is_call)
        return t ? r->class->ops->on_call(t, &call, false, err) : 0;
    if (!t && !c->marker) /* its drop is under way, and ends the command */
        return err_set(err, E_INVALID, "a second call of a command that was dropped");
    list_remove(&c->node);
    if (!t) { /* the pending drop is its next turn */
        list_insert_before(&c->marker->node, &c->node);
        remove_marker(c);
        return 0;
    }
    remove_commands(r, 1);
    assert(t->sent == c && !c->is_parked);
    c->is_parked = c->has_parked = true;
    list_push_back(&r->parked, &c->node);
    r->n_parked++;
    status = r->class->ops->on_call(t, &call, true, err);
    if (status < 0) {
        r->n_parked--;
        c->is_parked = false;
        put_back(r, c);
    }
    return status;
}

static int on_answer(struct pool_runner *r, struct str body, struct err *err)
{
    struct proto_answer a;
    int status = proto_get_answer(body, &a, err);
    if (status < 0)
        return status;
    struct pool_command *c = turn_of(r, a.seq, a.slot, a.guest);
    if (!c)
        return err_set(err, E_INVALID, "an answer out of turn");
    struct tenant *t = c->tenant;
    bool more = (a.flags & ANSWER_MORE) != 0;
    r->progress_ms = clock_mono_ms();
    if (more) {
        if (c->has_more)
            return err_set(err, E_INVALID, "more than two answers to a command");
        c->has_more = true;
        return t ? r->class->ops->on_answer(t, &a, err) : 0;
    }
    list_remove(&c->node);
    remove_commands(r, 1);
    if (t) {
        assert(t->sent == c && t->runner == r);
        t->sent = NULL;
        status = r->class->ops->on_answer(t, &a, err);
        if (status < 0) {
            t->sent = c;
            put_back(r, c);
            return status;
        }
    } else {
        vec_push(&r->free_slots, a.slot);
        rest(r);
    }
    remove_marker(c);
    free(c);
    return 0;
}

/* The same for all runners of a process, so it is logged once. */
static void note_confinement(struct runner_pool *p, const struct proto_hello *hello)
{
    const uint32_t all = (1u << CONFINE_PART_COUNT) - 1;
    char missing[128] = "";
    size_t n = 0;
    if (p->is_confined_known)
        return;
    p->confined = hello->in_force & all;
    p->is_confined_known = true;
    for (unsigned i = 0; i < CONFINE_PART_COUNT; i++)
        if (!(p->confined & 1u << i))
            n += (size_t)snprintf(missing + n, sizeof missing - n, "%s%s", n ? "," : "",
                                  confine_word((enum confine_part)i));
    if (n)
        log_info("runners lack a part of their confinement here", "missing=%s reason=\"%s\"",
                 missing, err_strerror(-(int)MIN(hello->refused, 4095u)));
}

static int on_hello(struct pool_runner *r, struct str body, struct err *err)
{
    struct proto_hello hello;
    int status = proto_get_hello(body, &hello, err);
    if (status < 0)
        return status;
    if (r->sm.at != RUNNER_STARTING || hello.version != PROTO_VERSION)
        return err_set(err, E_VERSION, "the runner is of another version of dormouse");
    sm_move(&r->sm, RUNNER_SERVING);
    r->class->start_failures = 0;
    note_confinement(r->pool, &hello);
    return 0;
}

static int dispatch(struct pool_runner *r, const struct proto_in *in, struct err *err)
{
    switch (in->kind) {
    case PROTO_HELLO:
        return on_hello(r, in->body, err);
    case PROTO_ANSWER:
        if (r->sm.at == RUNNER_SERVING)
            return on_answer(r, in->body, err);
        return err_set(err, E_INVALID, "an answer before HELLO");
    case PROTO_CALL:
    case PROTO_NOTES:
        if (r->sm.at == RUNNER_SERVING)
            return on_call(r, in->body, in->kind == PROTO_CALL, err);
        return err_set(err, E_INVALID, "a call before HELLO");
    case PROTO_REPLY:
    case PROTO_MODULE:
    case PROTO_FORGET:
    case PROTO_RUN:
    case PROTO_DROP:
        break;
    }
    return err_set(err, E_INVALID, "an order from a runner");
}

/* Process up to `max` received messages. Returns how many; may end the runner. */
static int receive(struct pool_runner *r, int max)
{
    struct runner_pool *p = r->pool;
    struct err err = { 0 };
    int n = 0, status = 0;
    for (; status >= 0 && n < max && r->sm.at != RUNNER_CLOSING; n++) {
        status = proto_recv(r->sock, 0, &p->in, &err);
        if (status >= 0 && p->in.fd >= 0)
            status = err_set(&err, E_INVALID, "an uninvited descriptor");
        if (status >= 0)
            status = dispatch(r, &p->in, &err);
        if (status >= 0 && r->n_commands == 0) {
            n++;
            break; /* nothing more to read */
        }
    }
    if (status >= 0)
        return n;
    n--; /* the last read was not a message */
    if (status != -EAGAIN && r->sm.at != RUNNER_CLOSING) {
        if (status != E_EOF)
            log_error("runner sends nonsense, ending it", "pid=%d reason=\"%s\"", r->pid,
                      err_text(&err));
        runner_lost(r, &err);
    }
    return n;
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct pool_runner *r = poll->data;
    if (events & UV_WRITABLE)
        send_unsent(r);
    if (receive(r, MESSAGES_PER_TURN) > 0 && r->sm.at != RUNNER_CLOSING)
        tell_room(r->class);
}

/*
 * Before a runner is given up, process what it has already sent: its answers count, and they show
 * which command it was executing. A command that had begun must not be taken for one that had not,
 * since its swap file may be half written.
 */
static void hear_out(struct pool_runner *r)
{
    if (r->sm.at != RUNNER_CLOSING)
        (void)receive(r, HEAR_OUT_MAX);
}

/* ---- the end ---- */

static void on_backoff(struct timer *timer)
{
    struct runner_class *c = container_of(timer, struct runner_class, backoff);
    c->ops->on_room(c->arg);
}

/* A runner that ended before HELLO would probably fail again at once. */
static void count_start_failure(struct runner_class *c)
{
    unsigned n = c->start_failures++;
    log_error("runner did not come up", "path=\"%s\" failures=%u", c->pool->runner_path, n + 1);
    timer_start(c->pool->loop, &c->backoff,
                backoff_wait(RUNNER_START_BACKOFF_MS, RUNNER_START_BACKOFF_MS << 6, n), on_backoff);
}

static void tell_tenants(struct pool_runner *r, bool was_starting, const struct err *why)
{
    struct runner_class *c = r->class;
    struct tenant *running = NULL;
    if (!list_is_empty(&r->commands))
        running = list_first(&r->commands, struct pool_command, node)->tenant;
    while (!list_is_empty(&r->tenants)) {
        struct tenant *t = list_first(&r->tenants, struct tenant, node);
        enum tenant_lost how = was_starting          ? LOST_AT_START
                               : t == running        ? LOST_RUNNING
                               : !t->sent            ? LOST_RESTING
                               : t->sent->has_parked ? LOST_PARKED
                                                     : LOST_WAITING;
        if (t->sent)
            t->sent->tenant = NULL;
        leave(t);
        if (!c->done)
            c->ops->on_lost(t, how, why);
    }
}

/*
 * End a runner, for any reason: kill it and notify its tenants. Freed when it is reaped.
 */
static void runner_lost(struct pool_runner *r, const struct err *why)
{
    struct runner_pool *p = r->pool;
    struct runner_class *c = r->class;
    bool was_starting = r->sm.at == RUNNER_STARTING, had_tenants = r->n_tenants > 0;
    assert(r->sm.at != RUNNER_CLOSING);
    sm_move(&r->sm, RUNNER_CLOSING);
    timer_stop(p->loop, &r->linger);
    if (r->pid > 0)
        (void)confine_signal(r->pid, SIGKILL); /* it holds nothing that could be lost */
    if (had_tenants || r->n_commands)
        c->losses++;
    if (was_starting && why->code && !c->done)
        count_start_failure(c);
    tell_tenants(r, was_starting, why);
    assert(list_is_empty(&r->tenants) && r->n_tenants == 0);
    while (!list_is_empty(&r->commands))
        free(list_entry(list_pop_front(&r->commands), struct pool_command, node));
    while (!list_is_empty(&r->parked))
        free(list_entry(list_pop_front(&r->parked), struct pool_command, node));
    while (!list_is_empty(&r->unsent))
        unsent_free(list_first(&r->unsent, struct pool_unsent, node));
    while (!list_is_empty(&r->idle_modules))
        forget_module(r, list_first(&r->idle_modules, struct pool_module, idle), false);
    map_fini(&r->modules);
    r->n_parked = 0;
    remove_commands(r, r->n_commands);
    uv_close((uv_handle_t *)&r->sock_poll, on_handle_closed);
    (void)close(r->sock); /* the runner's end, if still open */
    r->sock = -1;
    tell_room(c);
}

/* A runner that is silent for longer than its command may take is hanging. */
static bool is_late(const struct pool_runner *r, uint64_t now)
{
    if (r->n_commands == 0)
        return false;
    const struct pool_command *c = list_first(&r->commands, struct pool_command, node);
    return now > r->progress_ms + c->limit_ms + RUNNER_SILENT_MS;
}

static void on_watchdog(struct timer *timer)
{
    struct runner_pool *p = container_of(timer, struct runner_pool, watchdog);
    uint64_t now = clock_mono_ms();
    bool busy = false;
    list_each_safe (node, &p->runners) {
        struct pool_runner *r = list_entry(node, struct pool_runner, node);
        if (is_late(r, now))
            hear_out(r); /* our own process may be the late one */
        if (r->n_commands == 0)
            continue;
        if (is_late(r, now)) {
            struct err why = { 0 };
            (void)err_set(&why, -ETIMEDOUT, "the runner does not answer");
            log_error("runner hangs, ending it", "pid=%d", r->pid);
            runner_lost(r, &why);
        } else {
            busy = true;
        }
    }
    if (busy)
        timer_start(p->loop, timer, RUNNER_SILENT_MS, on_watchdog);
}

/* ---- the pool ---- */

struct runner_pool *pool_new(struct loop *loop, const char *runner_path)
{
    struct runner_pool *p = xnew(struct runner_pool);
    memory_group_ref();
    p->loop = loop;
    p->runner_path = runner_path ? xstrdup(runner_path)
                                 : sibling_find("dormouse-runner", "DORMOUSE_RUNNER");
    list_init(&p->classes);
    list_init(&p->runners);
    buf_init(&p->message, PROTO_FRAME_BYTES + PROTO_BODY_MAX);
    p->in = PROTO_IN_INIT;
    return p;
}

void pool_free(struct runner_pool *p)
{
    if (!p)
        return;
    assert(list_is_empty(&p->classes) && list_is_empty(&p->runners) && p->n_commands == 0);
    timer_stop(p->loop, &p->watchdog);
    buf_fini(&p->message);
    proto_in_fini(&p->in);
    memory_group_unref();
    free(p->runner_path);
    free(p);
}

const char *pool_runner_path(const struct runner_pool *p)
{
    return p->runner_path;
}

struct runner_class *pool_open_class(struct runner_pool *p, const struct runner_class_opts *opts,
                                     const struct runner_class_ops *ops, void *arg)
{
    struct runner_class *c = xnew(struct runner_class);
    c->pool = p;
    c->opts = *opts;
    if (c->opts.max_runners == 0)
        c->opts.max_runners = core_count();
    if (c->opts.parked_max == 0)
        c->opts.parked_max = RUNNER_PARKED_MAX;
    c->ops = ops;
    c->arg = arg;
    list_push_back(&p->classes, &c->node);
    return c;
}

static void on_closing(struct defer *d)
{
    class_free(container_of(d, struct runner_class, closing));
}

void pool_close_class(struct runner_class *c, void (*done)(void *arg), void *arg)
{
    struct runner_pool *p = c->pool;
    assert(!c->done);
    c->done = done;
    c->done_arg = arg;
    timer_stop(p->loop, &c->backoff);
    defer_cancel(&c->room);
    list_each_safe (node, &p->runners) {
        struct pool_runner *r = list_entry(node, struct pool_runner, node);
        struct err why = { 0 };
        if (r->class == c && r->sm.at != RUNNER_CLOSING)
            runner_lost(r, &why);
    }
    if (c->n_runners == 0)
        defer_start(p->loop, &c->closing, on_closing);
}

void pool_get_stats(const struct runner_class *c, struct runner_class_stats *ret)
{
    *ret = (struct runner_class_stats){ .commands = c->n_commands,
                                        .starts = c->starts,
                                        .confined = c->pool->confined,
                                        .losses = c->losses };
    list_each (node, &c->pool->runners) {
        const struct pool_runner *r = list_entry(node, struct pool_runner, node);
        ret->runners += r->class == c && r->sm.at != RUNNER_CLOSING;
    }
}

size_t pool_pids(const struct runner_class *c, int *ret, size_t max)
{
    size_t n = 0;
    list_each (node, &c->pool->runners) {
        const struct pool_runner *r = list_entry(node, struct pool_runner, node);
        if (r->class == c && r->sm.at != RUNNER_CLOSING && n < max)
            ret[n++] = r->pid;
    }
    return n;
}
